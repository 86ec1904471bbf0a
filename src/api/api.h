/*
 * api/api.h - what the wire means: the server's one context.
 *
 * Built by main, read-only afterwards except for the atomics inside. Borrows
 * everything; frees nothing of it.
 */
#ifndef API_API_H
#define API_API_H

#include "acct/keys.h"
#include "acct/ledger.h"
#include "acct/limits.h"
#include "acct/responses.h"
#include "gen/catalog.h"
#include "gen/memory.h"

struct api_config {
    const struct catalog *catalog;
    struct keys *keys;
    struct ledger *ledger;
    struct limits *limits;        /* NULL: no key has any */
    struct responses *responses;  /* NULL: there are none */
    int64_t responses_keep;       /* days; 0: no more are stored */
    struct db_writer *writer;     /* for /health; may be NULL */
    struct memory *memory;        /* NULL: nothing is counted or refused */
    uint64_t body_max;            /* bytes of a request body */
    int32_t default_max_tokens;
    int64_t request_timeout_ms;   /* 0: none */
    int64_t queue_timeout_ms;     /* of what is not streamed; 0: none */
    int64_t wait_line_ms;         /* 10,000: first and next waiting line */
    int64_t prefill_line_ms;      /* 5,000: first prefill line, then 1/s */
    int64_t ledger_wait_ms;       /* how long a finish waits for its row: 100 */
    bool think_default;           /* --thinking on|off */
    bool think_stall;             /* close reasoning that goes in circles */
    int32_t answer_reserve;       /* tokens kept for the answer; -1: auto, the
                                   * smaller of 2,048 and a quarter */
    const char *reasoning_format; /* "FORM" or "KIND=FORM,...", see
                                   * api/reason.h; NULL: REASON_MAP_DEFAULT */
    bool structured_off;          /* no answer is held to a form: 400 */
    bool usage_default;           /* usage in the finish chunk when not asked */
    int pattern_max, pattern_min, pattern_count; /* 0: no pattern guard */
    const char *cors_origin;      /* NULL: no CORS headers; else as in
                                   * api/cors.h, already checked */
};

struct api; /* opaque */
enum st api_new(struct api **out, const struct api_config *c, struct err *e)
    MUST_CHECK;
void api_free(struct api *a); /* after the db writer of its responses */
/* SIGTERM: new work is answered 503, /health says draining. */
void api_drain(struct api *a);
/* Exchanges that are streaming now. */
int api_open_count(const struct api *a);

#endif
