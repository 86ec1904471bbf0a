/*
 * engine/penalty.h - logits that depend on what a sequence said before.
 *
 * History is the prompt and every id committed since, forced ones included.
 * With c the times that an id is in it, its logit l becomes, for c > 0,
 *
 *   l <- l / repetition when l >= 0, l * repetition when l < 0
 *   l <- l - c * frequency - presence
 *   l <- l + bias
 *
 * and for c = 0 only the last line counts. Each line in this order, in double
 * precision, rounded once per function: a row's result depends on that row,
 * its history and its request alone. A finite logit stays finite whatever
 * the values; one that is not finite is not touched, so that nothing here can
 * forbid an id or bring one back.
 *
 * Sources: repetition, Keskar et al. 2019 (CTRL, arXiv:1909.05858, section
 * 4.1), with the sign rule that everybody adopted (dividing a negative logit
 * would reward it). Presence and frequency, OpenAI's API reference:
 * mu[j] - c[j] * frequency - (c[j] > 0) * presence.
 *
 * Threads: made by the submitting thread, then the engine thread's alone;
 * add and apply allocate nothing. Cost: apply goes once over the distinct ids
 * of the history, bias over the biased ones; neither over the vocabulary.
 */
#ifndef ENGINE_PENALTY_H
#define ENGINE_PENALTY_H

#include "gen/gen.h"

struct penalty; /* how often each id of a history is in it */

/* Does anything here ask for counts? */
bool penalty_wanted(const struct sampling *p);

/*
 * The counts of ids[0..n), with room for `most` distinct ids in all: the rows
 * a sequence may have, or the vocabulary where that is smaller. Pages of
 * memory that no id has touched cost none. NULL when out of memory.
 */
struct penalty *penalty_new(const int32_t *ids, size_t n, size_t most)
    MUST_CHECK;
void penalty_free(struct penalty *p); /* NULL ok */

/* One more of this id, >= 0. */
void penalty_add(struct penalty *p, int32_t id);

/* Repetition, frequency, presence over logits[vocab]. */
void penalty_apply(const struct penalty *p, const struct sampling *how,
                   float *logits);
/* The biases, each once. */
void bias_apply(const struct bias *b, size_t n, float *logits);

#endif
