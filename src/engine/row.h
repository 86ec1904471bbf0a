/*
 * engine/row.h - a row of logits, made ready for the sampler.
 *
 * What may not come is -INFINITY here, and each block of ROW_BLOCK ids knows
 * its largest logit, so that most questions read block maxima instead of a
 * vocabulary. All arithmetic is in one fixed order: a result depends on the
 * row alone, on every machine.
 * Engine thread only.
 */
#ifndef ENGINE_ROW_H
#define ENGINE_ROW_H

#include "base/mem.h"

#define ROW_BLOCK 32 /* ids; the bits of one word of a mask */

struct row {
    int32_t n;        /* ids */
    int32_t n_blocks;
    float *l;         /* [n_blocks * ROW_BLOCK] the logit, or -INFINITY */
    float *max;       /* [n_blocks] the largest of each block */
    double *sum;      /* [n_blocks] of row_exp */
    int32_t best;     /* largest logit, lowest id of equals; -1: none */
};

/* Room for n >= 1 ids. False when out of memory; release it all the same. */
bool row_init(struct row *r, int32_t n) MUST_CHECK;
void row_release(struct row *r);

/*
 *   logits  [n]; what is not a finite number may not come
 *   mask    one bit per id, set: it may come; NULL: all may
 * False when no id may come; then nothing else may be asked.
 */
bool row_set(struct row *r, const float *logits, const uint32_t *mask)
    MUST_CHECK;

/*
 * r->sum: of exp(x), x = (l - largest) / temperature, over each block; returns
 * their sum. A term is right within 2^-22 * (1 - x) of itself, and 0 from
 * x = -87 on. temperature > 0; one under 1e-30 is taken for that.
 */
double row_exp(struct row *r, float temperature);
/* The terms of one block, as row_exp adds them up. */
void row_terms(const struct row *r, float temperature, int32_t block,
               float out[ROW_BLOCK]);

#endif
