/*
 * gen/gen.h - the one contract between callers and engines.
 *
 * A caller fills a struct job once, completely, and submits it; events come
 * back through the job's ring; cancel is one atomic store. The local engine
 * and (later) the hub's remote backend implement the same three calls, so no
 * caller can tell them apart.
 *
 * Ownership: job_new gives the caller one reference; gen_submit takes a
 * second for the backend, dropped after END. Whoever drops the last frees.
 * The fields of the request part are never written after submit.
 */
#ifndef GEN_GEN_H
#define GEN_GEN_H

#include "gen/guide.h"
#include "gen/ring.h"
#include <stdatomic.h>

struct sampling {
    float temperature; /* 0: greedy */
    int32_t top_k;     /* 0: off */
    float top_p;       /* (0, 1]; 1: off */
    float min_p;       /* [0, 1]; 0: off */
    /* Penalties on what is in the prompt or in the answer so far. Order and
     * formulas: engine/penalty.h. */
    float presence;    /* [-2, 2]; 0: off */
    float frequency;   /* [-2, 2]; 0: off */
    float repetition;  /* above 0; 0 and 1: off */
    uint64_t seed;     /* draws are keyed by (seed, choice, position) */
};

struct bias { /* is added to the logit of one id, after the penalties */
    int32_t id;
    float value; /* [-100, 100], not 0 */
};

enum job_class { JOB_NORMAL, JOB_BACKGROUND };

struct job {
    /* the request: complete and immutable after submit */
    int32_t *ids;            /* [n_ids] the prompt, owned by the job */
    size_t n_ids;
    int32_t *stop_ids;       /* [n_stop] end-of-generation ids, owned */
    size_t n_stop;
    struct sampling sampling;
    struct bias *bias;       /* [n_bias] distinct ids; owned; job_set_bias */
    size_t n_bias;
    int32_t max_tokens;      /* >= 1 */
    int32_t choice;          /* index among n choices */
    int32_t top_logprobs;    /* 0: none */
    enum job_class cls;
    uint64_t owner;          /* who asks: owners take turns in the queue */
    bool side;               /* small enough for the side lane: it may run
                              * beside `parallel` others */
    bool thinking;           /* for estimates of how much it will write */
    int64_t start_by_us;     /* mono_us; 0: none. Still waiting then:
                              * END_QUEUED */
    int64_t deadline_us;     /* mono_us; 0: none */
    struct guide *guide;     /* owned; NULL allows everything */

    /* what moves afterwards */
    struct ring *ring;       /* owned */
    _Atomic int cancelled;   /* gen_cancel; the backend looks at safe points */
    _Atomic int32_t finish;  /* gen_finish: > 0: keep that many tokens */
    _Atomic int refs;
};

/* Copies ids and stop_ids. NULL when out of memory. max_tokens 1..2^24. */
struct job *job_new(const int32_t *ids, size_t n_ids, const int32_t *stop_ids,
                    size_t n_stop, int32_t max_tokens, int32_t top_logprobs)
    MUST_CHECK;
/* Before submit: copies. ST_NOMEM. */
enum st job_set_bias(struct job *j, const struct bias *bias, size_t n,
                     struct err *e) MUST_CHECK;
void job_ref(struct job *j);
void job_unref(struct job *j); /* NULL ok */

struct gen_limits {
    int32_t context;    /* positions of one sequence */
    int32_t vocab;      /* ids are 0..vocab-1 */
    int32_t parallel;   /* sequences that run together */
    int32_t side;       /* and small ones beside them (struct job.side) */
    int32_t max_queue;  /* that may wait */
};

struct gen_cache { /* the prefix tree and what of it is on disk */
    size_t pages, shared_pages; /* of the tree; also used by a sequence */
    size_t nodes, nodes_on_disk;
    size_t states, state_bytes;
    uint64_t hits, misses;      /* requests that found a row, that did not */
    uint64_t rows_reused;       /* prompt rows not computed: found, copied or
                                 * read, those that another computed included */
    uint64_t rows_read;         /* of them, from disk */
    uint64_t rows_forwarded;    /* prompt rows computed */
    uint64_t evicted;           /* nodes */
    uint64_t disk_entries, disk_bytes, disk_max_bytes;
    uint64_t disk_writes, disk_reads, disk_misses, disk_removed,
        disk_failures;
};

struct gen_gate { /* the memory gate */
    uint64_t waits, refusals;
    uint64_t given_bytes[8];    /* by level, engine/gate.h */
};

struct gen_state { /* for /health and tests; a copy, never a lock held */
    int32_t running, waiting;
    int32_t prefilling, decoding, side_running; /* of those that run */
    double prefill_row_us, decode_token_us;     /* smoothed; 0: not known */
    struct gen_cache cache;
    struct gen_gate gate;
    uint64_t steps;          /* steps done since start */
    uint64_t rows;           /* rows of all steps */
    uint64_t decode_rows_max;/* most sequences that shared one decode step */
    uint64_t tokens_out;     /* committed tokens of all sequences */
    uint64_t sent_back;      /* sequences that lost their pages to older ones
                              * and computed their rows again */
    size_t kv_pages, kv_pages_used;
    int32_t kv_page;         /* positions of one; 0: the backend has none */
    size_t bytes_weights, bytes_kv, bytes_workspace;
};

struct gen;
struct gen_ops {
    /* Errors come back here, before the first byte: ST_BUSY (queue full),
     * ST_CONTEXT (prompt does not fit; where "" - the caller names the
     * field), ST_NOMEM, ST_INVALID (an id out of range), ST_DRAINING. */
    enum st (*submit)(struct gen *g, struct job *j, struct err *e);
    /* Make the backend look soon; the flag is already set. */
    void (*kick)(struct gen *g);
    void (*limits)(const struct gen *g, struct gen_limits *out);
    void (*state)(struct gen *g, struct gen_state *out);
    /* Short stable word for system_fingerprint: model, build, kernel set. */
    const char *(*fingerprint)(const struct gen *g);
    /* Cancel everything, stop the threads, free. */
    void (*free)(struct gen *g);
};

struct gen {
    const struct gen_ops *ops;
};

enum st gen_submit(struct gen *g, struct job *j, struct err *e) MUST_CHECK;
void gen_cancel(struct gen *g, struct job *j);
/* A stop string was found in the text above: end with END_STOP as if only
 * `keep` tokens (>= 1) had been generated. Without effect when it has ended
 * already: then END has the engine's reason and count. */
void gen_finish(struct gen *g, struct job *j, int32_t keep);
void gen_free(struct gen *g); /* NULL ok */

#endif
