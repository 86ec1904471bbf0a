/*
 * t/lib/scripted.h - a struct gen that plays ids from a list (tests only).
 *
 * Same contract as the engine (gen/gen.h), but what it "generates" is known:
 * the ids that the job's guide forces, else the script, from its start for
 * every job (or from start_at), but for ids that the guide forbids: then the
 * lowest one that it allows comes instead (none: END_ERROR, ST_INVALID). One
 * thread; one wake per token; cancel, finish and deadline are looked at within
 * a millisecond, also while a job waits or is held.
 *
 * Log-probabilities, of a job that asks for K: the id's is -(id % 8 + 1) / 8,
 * and its K alternatives are itself and its K - 1 neighbours, lower ids where
 * there are K, each 1 less likely than the one before. As from the engine, a
 * forced id has 0 and no alternative but itself; the rest is {-1, -INFINITY}.
 */
#ifndef T_SCRIPTED_H
#define T_SCRIPTED_H

#include "gen/gen.h"

struct scripted_config {
    const int32_t *ids;     /* [n] the script, copied; n may be 0 */
    size_t n;
    bool loop;              /* start over at its end; else END_STOP there */
    int64_t per_token_us;   /* from one token to the next; 0: at once */
    int64_t prefill_us;     /* from the start of a job to its first token */
    int32_t fail_after;     /* END_ERROR after so many tokens; -1: never */
    enum st fail_as;        /* what it says then; ST_OK: ST_INTERNAL */
    int32_t parallel;       /* jobs that run together; 0: 4 */
    int32_t max_queue;      /* jobs that may wait */
    int32_t vocab, context; /* 0: 1 << 20 and 4096 */
    int32_t cached, disk;   /* what every END says of cached tokens */
    int64_t eta_us;         /* what everybody who waits is told, when it is
                             * submitted; 0: nothing */
    /* Where in the script a job starts (once, when it is submitted); NULL:
     * at 0. */
    size_t (*start_at)(const struct job *j);
    const char *token_log;  /* file for the time of each token, or NULL */
};

struct gen *scripted_new(const struct scripted_config *c);
/* While held nothing advances: no job starts, no token comes. Cancel, finish
 * and deadline still work. */
void scripted_hold(struct gen *g);
void scripted_release(struct gen *g);

#endif
