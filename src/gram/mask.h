/*
 * gram/mask.h - which ids may come next, for a whole vocabulary at once.
 *
 * An id may come when walking its bytes from the place never dies. The pool
 * keeps the masks it has made, under all of a place that can matter to one id
 * (counters far from their bounds are the same), for all grammars of one
 * vocabulary; the one that was used longest ago goes first.
 * Threads: a pool belongs to one thread (the engine's); gram_pool_figures may
 * be read by any.
 */
#ifndef GRAM_MASK_H
#define GRAM_MASK_H

#include "gram/machine.h"
#include "gram/vocab.h"

#define GRAM_MASKS_MAX 1024
#define GRAM_ENDS_MAX 64 /* further end ids of one grammar are not allowed */

struct gram_pool;

/* `v` outlives it. NULL when out of memory. */
struct gram_pool *gram_pool_new(const struct gram_vocab *v) MUST_CHECK;
void gram_pool_free(struct gram_pool *p); /* NULL ok */

/* Ids that stand for marks and for the end of the text, of one grammar. */
struct gram_ids {
    const int32_t *mark; /* [GX_MARKS] id of mark k; -1: none. NULL: no marks */
    const int32_t *end;  /* [n_end] allowed where the text may end */
    size_t n_end;
};

/*
 * Clears the bits of `mask` (n_vocab of them; ids from n_ids of the vocabulary
 * on are cleared too) that may not come at `place`. Marks and ends are looked
 * at by their ids alone, never by bytes. False when the scratch memory for it
 * could not be had: `mask` is then all clear.
 */
bool gram_mask_apply(struct gram_pool *p, const struct grammar *g,
                     const struct gram_place *place,
                     const struct gram_ids *ids, uint32_t *mask,
                     size_t n_vocab) MUST_CHECK;

struct gram_figures {
    uint64_t hits, misses; /* masks found, made */
    size_t masks, bytes;   /* kept now */
};
void gram_pool_figures(const struct gram_pool *p, struct gram_figures *out);
/* Forget masks to give back at least `bytes`, oldest first; what it gave. */
size_t gram_pool_shrink(struct gram_pool *p, size_t bytes);

#endif
