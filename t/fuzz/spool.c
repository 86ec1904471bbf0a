/*
 * Files of the spool: of all bytes only those that were written for this key
 * are believed. The first byte says which key; the rest is the file. Seeds:
 * t/fuzz/seeds/spool, written by the spool for keys 0 and 8, and damaged.
 */
#include <string.h>

#include "kv/spool_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const int32_t units[20] = {1, 5, 9, 13, 17, -3, -3, 0x7fffffff};
    struct spool_key k = {"model cpu f16", SPOOL_PAGE, units, 8};
    struct spool_form f;
    size_t bytes = 70;

    if (!n)
        return 0;
    if (data[0] & 1)
        k.what = "another";
    if (data[0] & 2)
        k.kind = SPOOL_STATE;
    if (data[0] & 4)
        bytes = 128;
    k.n += data[0] >> 3 & 7;
    data++;
    n--;
    if (!spool_form_make(&f, &k, bytes))
        return 0;
    if (n == f.file_n && spool_form_is(&f, data, data + f.head_n)) {
        /* believed: then it is, byte by byte, what would be written, but for
         * the zeros behind the blob, which only the sum covers */
        spool_form_seal(&f, data + f.head_n);
        BUG_ON(bytes % SPOOL_ALIGN == 0 && memcmp(f.head, data, f.head_n));
        BUG_ON(memcmp(f.head + SPOOL_HEAD, data + SPOOL_HEAD,
                      f.head_n - SPOOL_HEAD));
    }
    spool_form_release(&f);
    return 0;
}
