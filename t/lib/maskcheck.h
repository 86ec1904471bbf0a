/*
 * t/lib/maskcheck.h - masks of random places of a grammar against walking
 * every id of the vocabulary with gram_bytes.
 */
#ifndef T_MASKCHECK_H
#define T_MASKCHECK_H

#include "gram/mask.h"

struct maskcheck {
    const struct gram_vocab *vocab;
    struct gram_pool *pool;
    const struct span *pieces; /* [n] */
    size_t n;
    uint64_t random;           /* state of xorshift64*, not 0 */
    bool deep;                 /* random texts go for calls in one another */
};

struct maskcheck_sum {
    size_t places, ids; /* looked at; allowed ids of those */
    size_t wrong;       /* ids about which mask and walk disagree; and marks,
                         * and the end */
    size_t deepest;     /* most frames of one way */
    size_t empty;       /* places where nothing may come, not even the end */
};

/* `places` places on random texts of the grammar. */
void maskcheck_walk(struct maskcheck *c, const struct grammar *g,
                    size_t places, struct maskcheck_sum *sum);
/* One place: adds to sum; `mask` [vocab->words] is what may come. */
void maskcheck_place(struct maskcheck *c, const struct grammar *g,
                     const struct gram_place *p, uint32_t *mask,
                     struct maskcheck_sum *sum);
uint64_t maskcheck_random(struct maskcheck *c);

#endif
