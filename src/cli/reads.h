/*
 * cli/reads.h - how fast do this machine's threads read memory?
 *
 * Several threads read one buffer, larger than caches, each its own part from
 * front to back, with the widest loads of the machine. What a decoder of
 * weights does is measured against this.
 */
#ifndef CLI_READS_H
#define CLI_READS_H

#include "base/err.h"

#define READS_MAX 64

struct reads { /* bytes per second, in the order of the runs */
    double speed[READS_MAX];
    size_t n;
};

/*
 * Add `runs` runs of `threads` threads, of some 50 ms each, as far as there
 * is room. The buffer lives for this call only.
 * Errors: ST_NOMEM, also for threads.
 */
enum st reads_add(struct reads *r, int threads, size_t runs, struct err *e)
    MUST_CHECK;

/* Of v[n], which is sorted by this; 0 for n = 0. */
double reads_median(double *v, size_t n);

#endif
