/*
 * t/fuzz/main.c - run a fuzz driver over files, without libFuzzer.
 *
 *   t/fuzz/NAME FILE...
 *
 * Ordinary builds link this, so that seeds and old crashes are tests; with
 * --enable-fuzz libFuzzer brings its own main.
 */
#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct buf b;
        struct err e;
        uint8_t *exact; /* so that a read past the end is seen */

        buf_init(&b, BUF_FILE);
        if (buf_read_file(&b, argv[i], &e)) {
            fprintf(stderr, "%s: %s\n", e.where, e.text);
            return 1;
        }
        exact = mem_zalloc(b.n);
        if (b.n)
            memcpy(exact, b.p, b.n);
        LLVMFuzzerTestOneInput(exact, b.n);
        free(exact);
        buf_release(&b);
    }
    return 0;
}
