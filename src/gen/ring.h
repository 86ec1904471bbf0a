/*
 * gen/ring.h - the events of a job, on their way up.
 *
 * One producer (a backend's thread), one consumer (the reply's pump). The
 * capacity is fixed when the job is made, from its output limit, so a slow
 * client never blocks an engine: a push cannot fail.
 * QUEUED and PREFILL overwrite each other (only the newest matters), tokens
 * queue, END comes last and once.
 */
#ifndef GEN_RING_H
#define GEN_RING_H

#include "gen/guide.h"
#include <pthread.h>

enum end_reason {
    END_NONE,
    END_STOP,      /* end token, guide, or a stop string found above */
    END_LENGTH,    /* max_tokens or context reached */
    END_CANCELLED, /* gen_cancel */
    END_TIMEOUT,   /* the job's deadline */
    END_QUEUED,    /* it had not started at its start_by_us */
    END_ERROR,     /* the backend failed; `err` says how */
};

struct logprob { /* one alternative */
    int32_t id;
    float logprob;
};

struct end_info {
    enum end_reason reason;
    struct err err;            /* END_ERROR only */
    int32_t prompt_tokens;
    int32_t cached_tokens;     /* of the prompt, not computed for this job */
    int32_t disk_tokens;       /* of the cached ones: read from disk */
    int32_t completion_tokens; /* every committed id, the end token included */
    int64_t queue_us;          /* submit to first prefill row */
    int64_t prefill_us;        /* first prefill row to first token */
    int64_t decode_us;         /* first to last token */
    struct guide_note note;    /* what the job's guide did over all ids it saw,
                                * also those that gen_finish took back */
};

struct ring_view { /* everything new since the last look */
    int32_t queue_position;           /* -1 when it is running */
    int64_t queue_eta_us;             /* until it starts, as of its telling;
                                       * -1: not known */
    int64_t queue_told_us;            /* mono_us of that */
    int32_t prefill_done, prefill_total;
    int32_t prefill_from;             /* what was done when it was first told:
                                       * rows that had been there before */
    bool started;                     /* prefill began */
    bool ended;
    struct end_info end;              /* valid when ended */
};

struct ring; /* opaque, inside struct job */

/*
 * max_tokens ids; top_n logprob alternatives per id (0: none, not even the
 * chosen one's). NULL when out of memory.
 * Reserves 12 bytes of address space per id, and 4 + 8 * top_n more with
 * log-probabilities (2.9 GB for 2^24 ids and 20 alternatives); only what is
 * pushed takes memory.
 */
struct ring *ring_new(size_t max_tokens, int top_n) MUST_CHECK;
void ring_free(struct ring *r);

/* --- producer ----------------------------------------------------------- */
/* eta_us: -1 where it is not known. Wakes nobody: waiting lines have timers. */
void ring_queued(struct ring *r, int32_t position, int64_t eta_us,
                 int64_t now_us);
void ring_prefill(struct ring *r, int32_t done, int32_t total);
/* at_us: mono_us of the step that emitted it (for latency measurements).
 * chosen and top[0..top_n) are read only when top_n of ring_new is > 0. */
void ring_token(struct ring *r, int32_t id, int64_t at_us, float chosen,
                const struct logprob *top);
void ring_end(struct ring *r, const struct end_info *end);
/* Wake the consumer, once per step however many tokens were pushed. */
void ring_wake(struct ring *r);

/* --- consumer ----------------------------------------------------------- */
/* Called by ring_wake from the producer's thread, outside every lock. It must
 * only signal (an eventfd, a queue). Set before submit. Called again with a
 * NULL wake, it returns when no call is running any more and none will come:
 * the argument may be freed then. Never from inside the callback. */
void ring_on_wake(struct ring *r, void (*wake)(void *arg), void *arg);
/* Ids not yet taken: copies up to cap of them, with their times and (when
 * asked for at ring_new) logprobs; any of the arrays but ids may be NULL.
 * top is [cap][top_n]. Returns how many. */
size_t ring_take(struct ring *r, int32_t *ids, int64_t *at_us, float *chosen,
                 struct logprob *top, size_t cap);
void ring_look(struct ring *r, struct ring_view *v);
/* Block until something new or `ms` passed (for callers without a loop). */
void ring_wait(struct ring *r, int64_t ms);

#endif
