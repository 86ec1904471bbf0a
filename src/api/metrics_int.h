/*
 * api/metrics_int.h - the counts behind the page (internal to metrics.c and
 * metrics_page.c).
 */
#ifndef API_METRICS_INT_H
#define API_METRICS_INT_H

#include "api/metrics.h"
#include <pthread.h>
#include <stdatomic.h>

enum hist_id {
    HIST_TTFT, HIST_PER_TOKEN, HIST_E2E, HIST_QUEUE, HIST_PREFILL,
    HIST_DECODE_RATE, HIST_PREFILL_RATE, HIST_PROMPT, HIST_COMPLETION, HISTS
};

struct hist_kind {
    const char *name, *help;
    const double *edges; /* ascending, 0 ends them */
};
extern const struct hist_kind hist_kinds[HISTS];

#define EDGES_MAX 24
struct hist { /* n[i]: at most edges[i], and over edges[i - 1] */
    uint64_t n[EDGES_MAX + 1], count;
    double sum;
};

#define FINISHES 9
#define ROUTES 11
#define CODES 12
#define ST_WORDS (ST_INTERNAL + 1)
extern const char *const finish_words[FINISHES];
extern const char *const route_words[ROUTES];
extern const int code_words[CODES]; /* 0: any other */

struct counts {
    uint64_t finish[FINISHES];
    uint64_t refused[ST_WORDS], errors[ST_WORDS]; /* by cause */
    uint64_t prompt, cached, completion, reasoning; /* tokens */
    uint64_t rows;
    struct hist hists[HISTS];
};

struct metrics {
    pthread_mutex_t mu;
    struct counts c; /* guarded by mu */
    _Atomic uint64_t answers[ROUTES][CODES];
};

#endif
