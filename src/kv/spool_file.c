#include "kv/spool_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sum.h"

#define FILE_VERSION 1u
#define HEX 32

struct head {
    char magic[8];
    uint32_t version, order; /* order: the number 1, as this machine has it */
    uint32_t kind, units;
    uint64_t blob_bytes;
    char what[SPOOL_WHAT];
    uint64_t sum; /* of the whole file, this field zero */
    uint64_t zero[7];
};
_Static_assert(sizeof(struct head) == SPOOL_HEAD, "the head is 192 bytes");

/* --- keys and names ------------------------------------------------------- */

bool spool_key_ok(const struct spool_key *k)
{
    size_t n = strnlen(k->what, SPOOL_WHAT);

    if (n >= SPOOL_WHAT || k->n < 1 || k->n > SPOOL_UNITS ||
        (k->kind != SPOOL_PAGE && k->kind != SPOOL_STATE))
        return false;
    for (size_t i = 0; i < n; i++)
        if (k->what[i] < 32 || k->what[i] > 126)
            return false;
    return true;
}

/* sum_step, where the compiler sees it: units are digested on the engine's
 * thread, all of a prompt for each of its pages. */
static inline uint64_t step(uint64_t h, uint64_t v)
{
    h ^= v;
    return (h << 29 | h >> 35) * 0x9e3779b97f4a7c15u;
}

/* Two sums over the same words, of unlike order. Written out: as a loop over
 * lanes it takes twice as long. */
static inline void digest_block(uint64_t h[8], const uint8_t *s)
{
    uint64_t v[4];

    memcpy(v, s, sizeof(v));
    h[0] = step(h[0], v[0]);
    h[1] = step(h[1], v[1]);
    h[2] = step(h[2], v[2]);
    h[3] = step(h[3], v[3]);
    h[4] = step(h[4], ~v[3]);
    h[5] = step(h[5], ~v[2]);
    h[6] = step(h[6], ~v[1]);
    h[7] = step(h[7], ~v[0]);
}

static void digest_bytes(uint64_t out[8], const void *p, size_t n)
{
    const uint8_t *s = p;
    uint8_t tail[32] = {0};
    uint64_t h[8];

    memcpy(h, out, sizeof(h));
    for (; n >= sizeof(tail); n -= sizeof(tail), s += sizeof(tail))
        digest_block(h, s);
    if (n) {
        memcpy(tail, s, n);
        digest_block(h, tail);
    }
    memcpy(out, h, sizeof(h));
}

static void digest_begin(uint64_t h[8], const struct spool_key *k)
{
    for (int i = 0; i < 8; i++)
        h[i] = 0x3c6ef372fe94f82bu + (uint64_t)i;
    digest_bytes(h, k->what, strnlen(k->what, SPOOL_WHAT));
}

/* Of the first n units, which h has taken in. */
static struct spool_digest digest_end(const uint64_t h[8],
                                      enum spool_kind kind, int32_t n)
{
    struct spool_digest d;

    d.v[0] = d.v[1] = (uint64_t)n << 8 | (uint64_t)kind;
    for (int i = 0; i < 4; i++) {
        d.v[0] = step(d.v[0], h[i] ^ h[i] >> 32);
        d.v[1] = step(d.v[1], h[4 + i] ^ h[4 + i] >> 32);
    }
    d.v[0] ^= d.v[0] >> 32;
    d.v[1] ^= d.v[1] >> 32;
    return d;
}

struct spool_digest spool_digest_of(const struct spool_key *k)
{
    uint64_t h[8];

    digest_begin(h, k);
    digest_bytes(h, k->units, (size_t)k->n * sizeof(*k->units));
    return digest_end(h, k->kind, k->n);
}

void spool_digests_of(const struct spool_key *k, int32_t step,
                      struct spool_digest *out)
{
    size_t bytes = (size_t)step * sizeof(*k->units);
    uint64_t h[8];

    BUG_ON(bytes % 32); /* no block has units of two steps */
    digest_begin(h, k);
    for (int32_t i = 0; i < k->n / step; i++) {
        digest_bytes(h, k->units + i * step, bytes);
        out[i] = digest_end(h, k->kind, (i + 1) * step);
    }
}

static const char *const suffix[] = {
    [SPOOL_NAME_ENTRY] = ".kv",
    [SPOOL_NAME_TMP] = ".tmp",
};

void spool_name_write(const struct spool_digest *d, enum spool_name kind,
                      char out[SPOOL_NAME_BYTES])
{
    snprintf(out, SPOOL_NAME_BYTES, "%016" PRIx64 "%016" PRIx64 "%s", d->v[0],
             d->v[1], suffix[kind]);
}

enum spool_name spool_name_parse(const char *name, struct spool_digest *d)
{
    *d = (struct spool_digest){{0, 0}};
    for (int i = 0; i < HEX; i++) {
        char c = name[i];
        uint64_t v;

        if (c >= '0' && c <= '9')
            v = (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = (uint64_t)(c - 'a' + 10);
        else /* the end of a short name too */
            return SPOOL_NAME_OTHER;
        d->v[i / 16] = d->v[i / 16] << 4 | v;
    }
    if (!strcmp(name + HEX, suffix[SPOOL_NAME_ENTRY]))
        return SPOOL_NAME_ENTRY;
    if (!strcmp(name + HEX, suffix[SPOOL_NAME_TMP]))
        return SPOOL_NAME_TMP;
    return SPOOL_NAME_OTHER;
}

/* --- bytes ---------------------------------------------------------------- */

static bool pad(size_t *out, size_t n)
{
    if (!mem_add(out, n, SPOOL_ALIGN - 1))
        return false;
    *out &= ~(size_t)(SPOOL_ALIGN - 1);
    return true;
}

bool spool_form_make(struct spool_form *f, const struct spool_key *k,
                     size_t bytes)
{
    struct head h = {.magic = "penspool", .version = FILE_VERSION, .order = 1};
    size_t units;

    *f = (struct spool_form){0};
    if (!spool_key_ok(k) || !bytes ||
        !pad(&units, (size_t)k->n * sizeof(*k->units)) ||
        !pad(&f->blob_padded, bytes) ||
        !mem_add(&f->head_n, sizeof(h), units) ||
        !mem_add(&f->file_n, f->head_n, f->blob_padded) ||
        f->file_n > (size_t)INT64_MAX)
        return false;
    f->head = mem_try(f->head_n);
    if (!f->head)
        return false;
    f->blob_n = bytes;
    h.kind = (uint32_t)k->kind;
    h.units = (uint32_t)k->n;
    h.blob_bytes = bytes;
    memcpy(h.what, k->what, strlen(k->what));
    memcpy(f->head, &h, sizeof(h));
    memcpy(f->head + sizeof(h), k->units, (size_t)k->n * sizeof(*k->units));
    return true;
}

void spool_form_release(struct spool_form *f)
{
    free(f->head);
    *f = (struct spool_form){0};
}

/* tail: the last 64 bytes of the file when blob_n is no multiple of that. */
static uint64_t sum_of(const struct spool_form *f, const uint8_t *head,
                       const uint8_t *blob, const uint8_t *tail)
{
    struct head h;
    uint64_t sum;

    memcpy(&h, head, sizeof(h));
    h.sum = 0;
    sum = sum64((const uint8_t *)&h, sizeof(h));
    sum = sum_step(sum, sum64(head + sizeof(h), f->head_n - sizeof(h)));
    sum = sum_step(sum, sum64(blob, f->blob_n & ~(size_t)(SPOOL_ALIGN - 1)));
    if (f->blob_n % SPOOL_ALIGN)
        sum = sum_step(sum, sum64(tail, SPOOL_ALIGN));
    return sum ^ sum >> 32;
}

void spool_form_seal(struct spool_form *f, const uint8_t *blob)
{
    size_t whole = f->blob_n & ~(size_t)(SPOOL_ALIGN - 1);
    uint8_t tail[SPOOL_ALIGN] = {0};
    struct head h;

    if (f->blob_n > whole)
        memcpy(tail, blob + whole, f->blob_n - whole);
    memcpy(&h, f->head, sizeof(h));
    h.sum = sum_of(f, f->head, blob, tail);
    memcpy(f->head, &h, sizeof(h));
}

bool spool_form_is(const struct spool_form *f, const uint8_t *head,
                   const uint8_t *blob)
{
    struct head want, got;

    memcpy(&want, f->head, sizeof(want));
    memcpy(&got, head, sizeof(got));
    want.sum = got.sum;
    return !memcmp(&want, &got, sizeof(got)) &&
           !memcmp(f->head + sizeof(got), head + sizeof(got),
                   f->head_n - sizeof(got)) &&
           got.sum == sum_of(f, head, blob,
                             blob + f->blob_padded - SPOOL_ALIGN);
}
