/*
 * engine/sched.h - the loop of the engine thread and what it owns.
 *
 * One turn:
 *
 *   safe point   inbox -> waiting; ended, cancelled and late sequences leave
 *                and give their pages back; waiting ones enter, in order,
 *                while a slot and the pages of their prompts are free
 *   plan         one row for every decoding sequence, and up to `slice` rows
 *                of prompts; where pages run out, the youngest sequence goes
 *                back to the head of the queue
 *   forward      all rows in one batch
 *   publish      sample, commit, one wake-up per job
 *
 * END is told last, when the slot and the pages are free and the state says
 * so: who saw END finds room. The thread sleeps only when it has no job at
 * all, so a flag of a job (cancelled, finish) needs no signal.
 *
 * The state of struct sched is the engine thread's but for the part under mu.
 */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/forward.h"
#include "engine/sample.h"
#include "engine/seq.h"

#define SCHED_PARALLEL_MAX 256

struct sched {
    struct gen gen;           /* first: the two convert */

    /* constants after engine_open */
    struct kern *kern;
    struct model *model;
    struct forward *forward;
    struct sampler *sampler;
    struct gen_limits limits;
    int32_t chunk;            /* most prompt rows of a step */
    int32_t max_pages;        /* of one sequence: stride of the table */
    char fingerprint[16];     /* "fp_" and 10 hexadecimal digits */
    pthread_t thread;
    bool started;

    pthread_mutex_t mu;
    pthread_cond_t cond;
    struct seq *inbox, **inbox_tail; /* guarded by mu */
    int32_t inflight;         /* guarded by mu: submitted, not yet left */
    bool stopping;            /* guarded by mu */
    struct gen_state state;   /* guarded by mu: the copy that others read */

    /* engine thread */
    struct seq *waiting;      /* in the order in which they will enter */
    int32_t n_waiting;
    struct seq **running;     /* [limits.parallel] oldest first */
    int32_t n_running;
    bool *slot_used;          /* [limits.parallel] */
    struct kv_pages *pages;
    int32_t *table;           /* [limits.parallel][max_pages] */
    bool mixed;               /* somebody decodes in this step */
    int32_t slice[2];         /* prompt rows of a step now; [1]: mixed */
    int64_t decode_us;        /* what a step without prompt rows takes */
    int32_t *ids, *pos, *seq, *out; /* [chunk + parallel], out [parallel] */
    float *logits;            /* [vocab] */
    uint32_t *mask;           /* one bit per id */
    struct logprob top[SEQ_TOP_MAX];
    struct seq *gone;         /* left, not told yet */
    struct gen_state live;    /* counters, copied to `state` each step */
};

/* The thread's function; `arg` is the struct sched. Ends when `stopping` is
 * set, after every sequence got its END. */
void *sched_run(void *arg);

#endif
