/*
 * engine/packfile.h - the cache file of packed weights.
 *
 *   head   128 bytes: magic, version, what the weights were made of, layout,
 *          sums
 *   table  one entry of 96 bytes for each matrix, zeros up to 4096 bytes
 *   data   each matrix at a multiple of 4096, zeros between
 *
 * Nothing that a file says is believed: who opens one knows what head and
 * table must be (packfile_plan) and compares them byte by byte. Of the file's
 * own numbers only the two sums are looked at, and compared with what was
 * read. The sums find damage (disks, crashes, programs), not attacks: a file
 * is also refused when another user owns it or may write to it.
 *
 * A new one is written under a temporary name, PATH.tmp, and renamed when it
 * is whole. The temporary file is locked by who writes it; who finds it
 * locked waits, as long as it grows, for there is no use in packing twice.
 * One that a killed process left is taken over.
 * Threads: a plan belongs to one; sums use as many as they are told.
 */
#ifndef ENGINE_PACKFILE_H
#define ENGINE_PACKFILE_H

#include "base/mem.h"

#define PACKFILE_ALIGN 4096u

struct packfile_item { /* one matrix */
    struct span name;  /* borrowed; at most 64 bytes */
    uint32_t type;
    int32_t rows, cols;
    size_t bytes;      /* packed */
    size_t off;        /* in the data; packfile_plan fills it */
};

/* What the weights were made of: another file or another state of it differs
 * in one of these. */
struct packfile_source {
    uint64_t bytes, fingerprint, stamp, sample;
};

struct packfile { /* a plan */
    uint8_t *head;      /* [head_bytes]: head and table as they must be */
    size_t head_bytes;  /* multiple of PACKFILE_ALIGN */
    size_t data_bytes;  /* the same */
};

/*
 * Lay out `n` items. layout: at most 31 bytes.
 * Errors: ST_NOMEM, ST_LIMIT (sizes overflow, a name is too long).
 */
enum st packfile_plan(struct packfile *p, const char *layout,
                      const struct packfile_source *from,
                      struct packfile_item *items, size_t n, struct err *e)
    MUST_CHECK;
void packfile_release(struct packfile *p);

struct packfile_map { /* a file as memory */
    const uint8_t *data; /* [data_bytes]; NULL: none */
    void *map;
    size_t bytes;
};

/*
 * Map a file that is whole and the planned one, read-only.
 * Errors: ST_NOT_FOUND (none, or none that we may open), ST_IO (the system,
 * or whose file it is), ST_FORMAT (damaged, or made of something else); the
 * text says why.
 */
enum st packfile_open(const struct packfile *p, const char *path, int threads,
                      struct packfile_map *out, struct err *e) MUST_CHECK;
void packfile_unmap(struct packfile_map *m); /* an empty one is fine */

/* Called in order, once for each item: its packed bytes, valid until the next
 * call. */
typedef enum st packfile_fill(void *arg, size_t item, const uint8_t **bytes,
                              struct err *e);

/*
 * Make the file and map it. When another process has just made it, that one
 * is mapped and `fill` not called.
 * Errors: ST_IO, ST_BUSY (somebody else has stood still over it for half a
 * minute), those of fill. Nothing is left of a file that failed.
 */
enum st packfile_make(const struct packfile *p,
                      const struct packfile_item *items, size_t n,
                      const char *path, int threads, packfile_fill *fill,
                      void *arg, struct packfile_map *out, struct err *e)
    MUST_CHECK;

/* The sum of n bytes, n a multiple of 64, by as many threads. false: the
 * system could not read all of it. */
bool packfile_sum(const uint8_t *p, size_t n, int threads, uint64_t *out)
    MUST_CHECK;

#endif
