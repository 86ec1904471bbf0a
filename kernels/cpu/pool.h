/*
 * kernels/cpu/pool.h - a team of threads that works off a queue of jobs.
 *
 * A job is a function over chunks 0 to chunks - 1. Jobs run one after the
 * other: a chunk sees what all chunks of the jobs before it wrote. Members
 * claim chunks as they come, so one that is slow does less; which member
 * does a chunk never shows in its result. The owner of the pool, member 0,
 * adds jobs and works in pool_wait; the others need it for nothing in
 * between, so a queue of jobs goes on while the owner has lost its processor.
 *
 * POOL_REDO is for jobs whose chunks can be computed twice: a chunk works
 * into memory of its member, then asks pool_commit and writes what it has
 * only if it was the first. A member that finds nothing else to do computes
 * a chunk anew that somebody claimed long ago, so a member that lost its
 * processor holds up nobody. Such a late member may still read what the job
 * read, while others change it, and finds at its commit that it was in vain:
 * everything a job refers to must live until pool_quiet. Where a tool would
 * take that for a mistake (ThreadSanitizer) nobody computes anything twice.
 *
 * A member without work looks for some for POOL_SPIN_US, then sleeps. With
 * more members than processors nobody spins or computes twice.
 * Threads: one owner at a time. Members are at most as many as POOL_MAX.
 */
#ifndef KERNELS_CPU_POOL_H
#define KERNELS_CPU_POOL_H

#include "base/err.h"

#define POOL_MAX 256
#define POOL_SPIN_US 60
#define POOL_CHUNKS 1024 /* of a POOL_REDO job at most */
#define POOL_ARGS 384    /* bytes of a job's arguments at most */

struct pool;

/* The chunk that a function is called for. */
struct pool_at {
    struct pool *pool;
    uint64_t job;  /* its number, from 1 on, never used again */
    int member;    /* who calls */
    int32_t chunk, chunks;
};

enum pool_kind {
    POOL_OWN, /* a chunk is computed once and writes in place */
    POOL_REDO
};

/* args is the member's own copy of what pool_add got. True when the chunk
 * is done: always for POOL_OWN, what pool_commit said for POOL_REDO. */
typedef bool pool_fn(const struct pool_at *at, const void *args);

/*
 *   threads  1..POOL_MAX, the owner's included: 1 starts none
 *   cpus     [n_cpus] member i runs on processor cpus[i] only; n_cpus 0: where
 *            the system likes. Borrowed for the call.
 * Errors: ST_NOMEM, ST_INVALID (a processor that may not be used).
 */
enum st pool_new(struct pool **out, int threads, const int *cpus, int n_cpus,
                 struct err *e) MUST_CHECK;
void pool_free(struct pool *p); /* NULL ok; waits as pool_quiet does */
int pool_members(const struct pool *p);
/* Is a chunk computed anew where its member is late? */
bool pool_redoes(const struct pool *p);

/* The calling thread is the owner from now on: it goes to its processor. */
void pool_own(struct pool *p);

/* Add a job. args [bytes] are copied. With one chunk nobody is woken for it.
 * The owner works itself while the queue is full. */
void pool_add(struct pool *p, enum pool_kind kind, pool_fn *fn,
              const void *args, size_t bytes, int32_t chunks);
/* Work until all jobs are done. */
void pool_wait(struct pool *p);
/* The same, and until no late member reads anything any more. */
void pool_quiet(struct pool *p);

/* In a POOL_REDO chunk, once, when the result is there: may it be written? */
bool pool_commit(const struct pool_at *at);
/* In a POOL_REDO chunk: is it in vain to go on? */
bool pool_late(const struct pool_at *at);

#endif
