/*
 * engine/plan.h - how many rows everybody gets in a step. Pure.
 *
 * The rule, in this order:
 *
 *   1. Who decodes gets the one row it has pending. Always.
 *   2. Who follows (another sequence computes the same rows first) gets none.
 *   3. Short prompts: whoever has at most PLAN_SHORT rows pending gets all of
 *      them, oldest first, while they fit in the larger of the slice and
 *      PLAN_SHORT. They are the side lane: no long prompt holds them up by
 *      more than the step under way.
 *   4. Long prompts always move: an eighth of the slice (at least 1 row) is
 *      kept for them from rule 3 and shared equally among them, oldest first;
 *      when there are more of them than rows, the next step begins with those
 *      that got none.
 *   5. What is left of the slice goes to the prompt that ends soonest. One
 *      that others follow counts as the shortest of them.
 *
 * So an admitted sequence with rows pending gets a row at least every
 * ceil(long prompts / (slice / 8)) steps (rule 4), or, if it is short, after
 * at most ceil(short ones before it * PLAN_SHORT / max(slice, PLAN_SHORT))
 * steps (rule 3); and a step has at most decoding + max(slice, PLAN_SHORT) +
 * slice / 8 rows, so that a prefill never holds decoding up by more than one
 * chunk. t/unit/engine_plan.c simulates both bounds.
 */
#ifndef ENGINE_PLAN_H
#define ENGINE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_SHORT 64

struct plan_seq { /* one admitted sequence, oldest first */
    int32_t pending;   /* rows not computed yet, 1 and up */
    bool decoding;     /* it has answered already, pending is 1 */
    bool follows;      /* waits for another's rows */
    int32_t soonest;   /* rows until somebody who waits for it can go on:
                        * pending, or less when it is followed */
    int32_t rows;      /* out: in this step */
};

struct plan { /* zero at the start */
    int32_t turn;      /* where rule 4 begins */
};

/* slice: 1 and up. Returns the rows of prompts. */
int32_t plan_rows(struct plan *p, struct plan_seq *s, int32_t n,
                  int32_t slice);

#endif
