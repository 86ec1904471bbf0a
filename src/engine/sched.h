/*
 * engine/sched.h - the loop of the engine thread and what it owns.
 *
 * One turn:
 *
 *   safe point   inbox -> queue; ended, cancelled and late sequences leave:
 *                what they computed enters the prefix tree; those who wait
 *                enter, in the queue's order, while a slot and the pages of
 *                their prompts are free or can be evicted from the tree
 *   settle       who entered takes the rows that the tree has, waits for
 *                those that another one computes (plan.h 2), then for those
 *                that are on disk
 *   plan         how many rows everybody gets (plan.h); where pages run out
 *                and the tree has none left, the youngest sequence goes back
 *                to the head of the queue
 *   forward      all rows in one batch
 *   publish      sample, commit, full pages into the tree, one wake-up per job
 *
 * END is told last, when the slot and the pages are free and the state says
 * so: who saw END finds room. The thread sleeps when nobody has a row to
 * compute; kick, submit and the spool's thread wake it.
 *
 * The state of struct sched is the engine thread's but for the part under mu.
 */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "engine/eta.h"
#include "engine/forward.h"
#include "engine/gate.h"
#include "engine/identity.h"
#include "engine/plan.h"
#include "engine/queue.h"
#include "engine/sample.h"
#include "engine/seq.h"
#include "kv/spool.h"
#include "kv/tree.h"

#define SCHED_PARALLEL_MAX 256
#define SCHED_SIDE_MAX 16

struct sched {
    struct gen gen;           /* first: the two convert */

    /* constants after engine_open */
    struct kern *kern;
    struct model *model;
    struct forward *forward;
    struct sampler *sampler;
    struct gen_limits limits;
    int32_t slots;            /* parallel, then side slots */
    int32_t chunk;            /* most prompt rows of a step but for plan.h's
                               * own additions */
    int32_t max_pages;        /* of one sequence: stride of the table */
    size_t page_bytes;
    char fingerprint[IDENTITY_PRINT];
    char what[IDENTITY_WORDS]; /* the root's name, and the spool's */
    pthread_t thread;
    bool started;

    pthread_mutex_t mu;
    pthread_cond_t cond;
    struct seq *inbox, **inbox_tail; /* guarded by mu */
    int32_t inflight;         /* guarded by mu: submitted, not yet left */
    bool stopping;            /* guarded by mu */
    bool poked;               /* guarded by mu: a flag of a job changed, or
                               * the spool has news */
    struct gen_state state;   /* guarded by mu: the copy that others read */

    /* engine thread */
    struct queue *queue;
    bool look;                /* at the flags of those who wait */
    int64_t due_us;           /* or then; INT64_MAX: nobody has a limit */
    int64_t room_us;          /* the head lacks pages: look again then, or
                               * when somebody left */
    struct seq **running;     /* [slots] oldest first */
    int32_t n_running;
    bool *slot_used;          /* [slots] */
    struct plan_seq *shares;  /* [slots] */
    struct kv_pages *pages;
    struct kv_tree *tree;
    int32_t root;
    int32_t *table;           /* [slots][max_pages] */
    bool mixed;               /* somebody decodes in this step */
    int32_t slice[2];         /* prompt rows of a step now; [1]: mixed */
    int64_t decode_us;        /* what a step without prompt rows takes */
    int32_t *ids, *pos, *seq, *out; /* [rows of a step], out [slots] */
    float *logits;            /* [vocab] */
    uint32_t *mask;           /* one bit per id */
    struct logprob top[SEQ_TOP_MAX];
    struct seq *gone;         /* left, not told yet */
    struct gen_state live;    /* counters, copied to `state` each step */

    struct eta eta;
    struct eta_run *eta_run;  /* [slots] */
    struct eta_wait *eta_wait; /* [parallel + max_queue + side] */
    int64_t *eta_scratch;     /* [2 * slots] */
    int64_t told_us;          /* when everybody who waits was told last */
    bool news;                /* somebody waits that was told nothing yet */

    struct memory *memory;    /* NULL: nothing is counted or refused */
    struct gate gate;
    int64_t ask_us;           /* who waits at the gate asks no sooner */
    int32_t n_pages;          /* of all */
    bool *resident;           /* [n_pages] written to, and not given back */
    size_t n_resident;

    struct spool *spool;      /* NULL: none */
    size_t spool_queue;       /* bytes that may wait to be written */
    uint64_t spool_lost;      /* as the tree knows it (kv/spool.h) */
    int64_t spool_us;         /* nothing is read before: the disk hung */
    bool spill, spill_full;   /* pages to offer; not now */
    int32_t *units;           /* [context] of one node */
};

/* The thread's function; `arg` is the struct sched. Ends when `stopping` is
 * set, after every sequence got its END. */
void *sched_run(void *arg);
/* Look soon, from any thread. */
void sched_poke(struct sched *s);

#endif
