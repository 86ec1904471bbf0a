/*
 * api/figures.h - what a generation cost: usage, timings, metrics, row
 * (internal to api). Definitions: tandem.md section 8.
 */
#ifndef API_FIGURES_H
#define API_FIGURES_H

#include "api/run.h"
#include "json/write.h"

struct figures {
    int64_t prompt, cached, completion, reasoning; /* tokens */
    int64_t disk; /* of the cached ones */
    /* hundredths of a millisecond; ttft = queue + prefill exactly */
    int64_t queue_cms, prefill_cms, ttft_cms, decode_cms, total_cms;
};

/* Of everything that has ended; total up to now_us. */
void figures_of(struct figures *f, const struct exchange *x, int64_t now_us);
/* The members "usage", "timings" and "metrics" of an open object. */
void figures_usage(struct jw *w, const struct figures *f);
void figures_timings(struct jw *w, const struct figures *f);
/* Token and time columns. */
void figures_row(const struct figures *f, struct ledger_row *row);

/* Why a choice ended, as clients and the ledger see it: stop, tool_calls,
 * length, timeout, error; the ledger also abandoned, slow_client. */
const char *finish_of(const struct choice *c);

#endif
