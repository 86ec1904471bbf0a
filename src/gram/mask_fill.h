/*
 * gram/mask_fill.h - one mask, from scratch (internal to gram).
 *
 * The trie is walked in order, with the ways behind each byte of the current
 * branch kept by depth. Where it can, one way that stays in its rule is
 * followed through tables of its states; where any plain text may go on, only
 * the ids that are not plain are walked.
 */
#ifndef GRAM_MASK_FILL_H
#define GRAM_MASK_FILL_H

#include "gram/vocab.h"
#include "gram/walk.h"

/* What one mask is made of, beside its bits. */
struct mask_facts {
    uint32_t marks; /* bit k: mark k may come */
    bool ends;
};

struct fill;

struct fill *fill_new(const struct gram_vocab *v) MUST_CHECK; /* NULL: memory */
void fill_free(struct fill *f); /* NULL ok */
/*
 * bits[v->words] and *facts for a place that is not dead.
 *   range  [p->n_frames] becomes: for which counters all that is the same
 * False when there is no memory for it.
 */
bool fill_mask(struct fill *f, const struct grammar *g,
               const struct gram_place *p, uint32_t *bits,
               struct mask_facts *facts, struct walk_range *range) MUST_CHECK;

#endif
