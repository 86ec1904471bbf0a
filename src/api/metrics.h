/*
 * api/metrics.h - counters and histograms of requests, and the page that
 * shows them with everything else (internal to api).
 *
 * Names: tandem.md 1.2 with the prefix penstock_. Format: Prometheus text
 * exposition 0.0.4. Threads: any; counts of requests are under one small
 * mutex, counts of answers are atomics. No label says who asked.
 */
#ifndef API_METRICS_H
#define API_METRICS_H

#include "api/figures.h"

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);

/* A request of a counted route ended: its ledger row as it was closed, and
 * its figures. */
void metrics_ended(struct metrics *m, const struct ledger_row *row,
                   const struct figures *f, enum st why);
/* One of a counted route was refused. */
void metrics_refused(struct metrics *m, enum st why);
/* An answer was given: route by its endpoint word, HTTP status. */
void metrics_answered(struct metrics *m, const char *endpoint, int status);

/* The whole page. */
void metrics_page(struct buf *out, struct api *a);

#endif
