/*
 * text/merge.h - join neighbours, best pair first.
 *
 * The one algorithm of BPE (best = lowest merge rank) and SPM (best = highest
 * score): repeatedly the pair of least rank is joined, the leftmost of equal
 * ones first, until no pair can be. O(n log n) in symbols through a heap;
 * nothing recurses.
 */
#ifndef TEXT_MERGE_H
#define TEXT_MERGE_H

#include "base/mem.h"

#define MERGE_END UINT32_MAX
#define MERGE_SYMS_MAX (UINT32_MAX / 4)

struct merge_sym {
    uint32_t prev, next; /* indexes, MERGE_END at the ends */
    uint32_t pos, len;   /* bytes of the text; len 0 = joined into its left */
    int32_t id;          /* -1: not a token */
};

struct merge_cand; /* a pair in the heap */

/* Memory kept from word to word; zero-initialise. */
struct merge {
    struct merge_sym *sym;
    struct merge_cand *heap;
    size_t n, sym_cap, heap_n, heap_cap;
};

void merge_release(struct merge *m);
/* Empty it and make room for n symbols. ST_LIMIT, ST_NOMEM. */
enum st merge_begin(struct merge *m, size_t n, struct err *e) MUST_CHECK;
/* Append a symbol; at most as many as merge_begin was told. */
void merge_add(struct merge *m, size_t pos, size_t len, int32_t id);

/* May a and its right neighbour b be joined? Then rank and id of the result. */
typedef bool merge_rule(const void *arg, const struct merge_sym *a,
                        const struct merge_sym *b, uint32_t *rank,
                        int32_t *id);
/* Afterwards walk from sym[0] along `next`. Errors: ST_NOMEM. */
enum st merge_run(struct merge *m, merge_rule *rule, const void *arg,
                  struct err *e) MUST_CHECK;

#endif
