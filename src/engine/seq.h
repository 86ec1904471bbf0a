/*
 * engine/seq.h - one sequence: a job, its position, its pages, its guide.
 *
 * Ids are the prompt, then what was generated. `done` rows of them are in
 * the KV pages; the rest is pending. One pending row is decoding, more are a
 * prompt or forced ids; both are computed alike. The last pending row is the
 * one whose logits choose the next id.
 * Made by the submitting thread, then the engine thread's alone.
 */
#ifndef ENGINE_SEQ_H
#define ENGINE_SEQ_H

#include "engine/penalty.h"

#define SEQ_TOP_MAX 64 /* alternatives of one id; callers ask for up to 20 */
#define SEQ_READS 4    /* pages on their way from the disk at once */

enum seq_stage { /* of one that has a slot */
    SEQ_ENTER,   /* what rows are there? */
    SEQ_FOLLOW,  /* another one computes rows that are needed here */
    SEQ_READ,    /* rows are on disk, perhaps */
    SEQ_RUN,     /* gets rows in steps */
};

struct spool_read;

struct seq {
    struct seq *next, *prev; /* in the inbox or the queue */
    struct seq *gone;       /* next of those that left */
    bool began;             /* the queue's: it was sent back */
    struct job *job;        /* one reference */
    int32_t max_new;        /* job->max_tokens within the context */
    int32_t *units;         /* [n_ids + max_new] all ids so far; the prompt is
                             * there when it has a slot */
    int32_t *gen;           /* [max_new] generated ids: the end of units */
    int32_t n_gen;
    int32_t done;           /* rows in the KV pages */
    void *guide;            /* state of job->guide */
    struct penalty *penalty;/* counts of all ids; NULL: nobody asks */
    int32_t *pages;         /* [n_pages], a row of the engine's table, when
                             * it has a slot */
    int32_t n_pages;        /* 0 while it waits */
    int32_t kept;           /* of them, full ones that the tree has too */
    int32_t tail, tail_rows;/* page with rows behind `done`, to be copied (one
                             * reference), and rows with them; -1: none */
    int32_t slot;           /* row of the page table; -1 while it waits */
    enum seq_stage stage;
    struct seq *leader;     /* SEQ_FOLLOW: an older one; NULL: it left */
    int32_t follow;         /* rows that are taken from it */
    struct spool_read *read[SEQ_READS]; /* SEQ_READ: of the next pages */
    int32_t n_reads;
    int64_t read_us;        /* since when the first of them is awaited */
    int32_t waited;         /* plan.h */
    int32_t position;       /* last QUEUED position told; -1: none yet */
    int32_t step_rows;      /* in the step under way */
    int32_t step_out;       /* its row among the logits; -1: none */
    /* Of the prompt: rows that were there at some time, of those computed
     * here (from low to high, once) and read from disk for this one. */
    int32_t reached, computed, low, high, from_disk;
    bool ended;             /* leaves at the next safe point */
    struct end_info end;    /* valid when ended */
    bool news;              /* wake the consumer at the end of the step */
    int64_t submit_us, start_us, first_us, last_us; /* mono_us; 0: not yet */
};

/* Takes a reference to the job, whose ids are within the limits. NULL when
 * out of memory. */
struct seq *seq_new(struct job *j, const struct gen_limits *l) MUST_CHECK;
void seq_free(struct seq *s); /* NULL ok; the pages were given back */

/* Pages of this many rows. */
int32_t seq_pages(int32_t rows);
/* `done` is larger now: by rows computed here, or found. */
void seq_computed(struct seq *s, int32_t rows);
void seq_found(struct seq *s);

int32_t seq_rows(const struct seq *s);          /* all ids so far */
int32_t seq_pending(const struct seq *s);       /* rows not computed yet */

/* Append one id: counts, event, stop ids, guide, limit. May end the
 * sequence. */
void seq_commit(struct seq *s, int32_t id, int64_t now_us, float chosen,
                const struct logprob *top);
/* The same for what the guide forces now; false when it forces nothing. */
bool seq_commit_forced(struct seq *s, int64_t now_us, int32_t vocab);
/* Does the next id depend on logits? */
bool seq_wants_logits(const struct seq *s);

/* It is over, with this reason, its counts and times; nothing is told yet.
 * `err` for END_ERROR, else NULL. */
void seq_end(struct seq *s, enum end_reason why, const struct err *err);
/* Cancelled, finished, past its deadline, or past start_by and never begun?
 * Ends it then. */
bool seq_check(struct seq *s, int64_t now_us);

#endif
