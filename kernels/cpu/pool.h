/*
 * kernels/cpu/pool.h - a fixed team of threads that runs one function.
 *
 * pool_run(p, fn, arg) calls fn(arg, i, n) for each i in 0..n-1, each on
 * its own thread (0 on the caller's), and returns when all have finished.
 * What fn writes is visible to the caller afterwards. A function divides its
 * work by i and n alone, so the division is static.
 *
 * A thread without work looks for some for at most POOL_SPIN_US, then
 * sleeps; the caller does the same while it waits for the last one. With
 * more threads than this process has processors nobody spins at all.
 * Threads: one caller at a time. Fewer than 4 instances per process make
 * sense; each sleeps when idle.
 */
#ifndef KERNELS_CPU_POOL_H
#define KERNELS_CPU_POOL_H

#include "base/err.h"

#define POOL_MAX 256
#define POOL_SPIN_US 40

struct pool;

/*
 *   threads  1..POOL_MAX, the caller's included: 1 starts none
 * Errors: ST_NOMEM.
 */
enum st pool_new(struct pool **out, int threads, struct err *e) MUST_CHECK;
void pool_free(struct pool *p); /* NULL ok; not during pool_run */

void pool_run(struct pool *p, void (*fn)(void *arg, int i, int n), void *arg);

/* Items [*lo, *hi) of `count` that member i of n works on: contiguous, in
 * multiples of `unit`. */
void pool_share(int64_t count, int64_t unit, int i, int n, int64_t *lo,
                int64_t *hi);

#endif
