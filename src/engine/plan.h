/*
 * engine/plan.h - how many rows everybody gets in a step. Pure.
 *
 * The rule, in this order:
 *
 *   1. Who decodes gets the one row it has pending. Always.
 *   2. Who follows (another sequence computes the same rows first, or they
 *      are being read) gets none.
 *   3. Short prompts: whoever has at most PLAN_SHORT rows pending gets all of
 *      them while the larger of the slice and PLAN_SHORT lasts (the last one
 *      perhaps a part). They are the side lane: no long prompt holds them up
 *      by more than the step under way.
 *   4. Long prompts always move: an eighth of the slice (at least 1 row) is
 *      theirs whatever rule 3 takes, shared equally; when there are more of
 *      them than rows, some get one row each.
 *   5. What is left of the slice goes to the prompt that ends soonest. One
 *      that others follow counts by the rows until the first of them can go
 *      on. Beside short prompts only a quarter of the slice is left: their
 *      step is a short one, so that with the step under way they wait less
 *      than two chunks.
 *
 * In 3 and 4 those come first that got nothing for most steps, then the
 * oldest. So a sequence with rows pending that does not follow goes without a
 * row for at most
 *
 *   rule 4   ceil(prompts / max(1, slice / 8)) - 1 steps, if it is long,
 *   rule 3   ceil(prompts * PLAN_SHORT / max(slice, PLAN_SHORT)) - 1 steps,
 *            if it is short,
 *
 * prompts: those that are there when it begins to go without, itself too. And
 * a step has at most decoding + max(slice, PLAN_SHORT) + max(1, slice / 8)
 * rows, so that a prefill never holds decoding up by more than one chunk.
 * t/unit/engine_plan.c simulates both bounds.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_SHORT 64

struct plan_seq { /* one admitted sequence, oldest first */
    int32_t pending;   /* rows not computed yet, 1 and up */
    bool decoding;     /* it has answered already, pending is 1 */
    bool follows;      /* waits for another's rows, or for the disk */
    int32_t soonest;   /* rows until it, or somebody who waits for it, can
                        * go on: pending, or less when it is followed */
    int32_t waited;    /* in, out: steps without a row; 0 at the start */
    int32_t rows;      /* out: in this step */
};

/* The most rows of prompts in a step. */
int32_t plan_most(int32_t slice);
/* slice: 1 and up. Returns the rows of prompts. */
int32_t plan_rows(struct plan_seq *s, int32_t n, int32_t slice);

#endif
