/*
 * api/live.h - what runs now: one row per request under way, a few that
 * ended, and the last five minutes in seconds (internal to api).
 *
 * Rows are kept by those who know: a request enters when its jobs were
 * submitted, is brought up to date whenever it is pumped, and leaves when its
 * ledger row is closed. Whoever looks takes a copy (struct shot). Nothing here
 * holds text of a prompt or an answer, but for names of tools that are being
 * called: those are shown and never logged or stored.
 *
 * Threads: any; everything is under one small mutex, which is held for one
 * row, and for all of them while somebody looks. Under it only job rings are
 * looked at, never an engine. Times are mono_us. Payload: tandem.md 1.1.
 */
#ifndef API_LIVE_H
#define API_LIVE_H

#include "api/exchange.h"
#include "gen/gen.h"
#include <pthread.h>

#define LIVE_ROWS_MAX 64      /* rows that a look copies: those that run, then
                               * those that wait */
#define LIVE_RECENT 20        /* that ended; kept for LIVE_RECENT_US */
#define LIVE_RECENT_US (15 * 60 * 1000000ll)
#define LIVE_DONE_US 30000000 /* so long an ended one stays in the list */
#define LIVE_STEPS 16         /* changes of state that a row remembers */
#define LIVE_SECONDS 300      /* of history */
#define LIVE_WATCHERS 4       /* streams at a time */
#define LIVE_NAME 64          /* bytes of a tool's name that are shown */

/* A count that grows, as a rate over the last two seconds. */
#define LIVE_RATE 16
struct live_rate {
    int64_t at_us[LIVE_RATE], count[LIVE_RATE];
    uint32_t n; /* entries ever written */
};
void live_rate_add(struct live_rate *r, int64_t now_us, int64_t count);
double live_rate_of(const struct live_rate *r, int64_t now_us);

enum live_state {
    LIVE_QUEUED, LIVE_PREFILLING, LIVE_THINKING, LIVE_WRITING, LIVE_TOOL_CALL,
    LIVE_FINISHING, LIVE_DONE, LIVE_STATES
};
const char *live_state_name(enum live_state s);

struct live_step { /* a state began */
    int64_t at_us;
    enum live_state state;
};

struct live_tool { /* the newest call */
    int32_t index;         /* -1: none */
    char name[LIVE_NAME + 1];
    int64_t arg_bytes;
    int32_t calls_done;
};

/* How it ended; static words, NULL where there is nothing to say. */
struct live_stop {
    const char *reason, *detail;
    enum live_state state; /* in which it was then */
};

struct live_row {
    struct live_row *prev, *next;
    struct job *job;       /* its first; borrowed; NULL once it has left */

    char request_id[40], client_id[16], client_kind[16], endpoint[16];
    char finish[16], cache_source[16];
    const char *model;     /* the catalog's */
    const char *constrained; /* NULL, response_format, tools,
                              * structured_outputs, tool_choice */
    bool stream, thinking;
    double temperature;
    int64_t arrived_us, prompt_tokens, max_tokens;

    enum live_state state;
    struct live_step steps[LIVE_STEPS];
    uint32_t n_steps;      /* ever taken */

    int32_t place;         /* in the queue, from 0; -1: it started */
    int64_t starts_us;     /* when it will, as was last estimated; 0: not
                            * known */
    int32_t prefill_from, prefill_done, prefill_total; /* as a ring's view */
    int64_t started_us, prefill_us, first_us; /* 0: not yet; of the newest
                                               * prefill row */
    struct live_rate prefill_rate, token_rate;
    int64_t tokens, thinking_tokens, tool_tokens;
    struct live_tool tool;
    int64_t gone_us;       /* when its client was found gone; 0: there */

    /* once it has ended; -1: not known */
    int64_t ended_us;      /* 0: it has not */
    int status;
    int64_t cached_tokens, queue_ms, prompt_ms, ttft_ms, decode_ms, total_ms;
    enum think_closed closed;
    struct live_stop stop;
};

struct live_second { /* what one second brought */
    int64_t tokens, prefilled;
    int32_t running, waiting; /* at its end */
};

struct live_totals { /* since the start */
    uint64_t served, refused, errors, timeouts, abandoned;
};

struct live {
    pthread_mutex_t mu;    /* guards everything below */
    struct live_row *rows, *last; /* in order of arrival */
    int32_t in_state[LIVE_STATES];
    struct live_row recent[LIVE_RECENT];
    uint32_t n_recent;     /* ever */
    struct live_totals totals;
    struct live_rate tokens_rate, prefill_rate;
    int64_t tokens, prefilled; /* since the start */
    int64_t prefill_us;    /* of the newest prefill row; 0: none yet */
    int64_t changed_us;    /* when the first came or the last went */
    int64_t second;        /* whole seconds of mono time that are closed */
    struct live_second now, history[LIVE_SECONDS];
    uint32_t n_seconds;    /* ever closed */
    uint32_t completed[60]; /* by second modulo 60 */

    pthread_mutex_t tick_mu; /* guards the rest; taken before mu */
    uint64_t seq;
    int64_t ticked_us;
    bool ticked_busy;
    struct buf tick;       /* the newest event, as it goes to every stream */
    int watchers;
};

struct live *live_new(void);
void live_free(struct live *l);

/* --- those who know ------------------------------------------------------ */

/* The jobs were submitted: handler thread. */
void live_begin(struct exchange *x);
/* It was pumped. */
void live_update(struct exchange *x, int64_t now_us);
/* Its ledger row says how it ended; jobs and replies are still there. */
void live_leave(struct exchange *x, int64_t now_us);
/* It was refused, and never had a row here. */
void live_refused(struct exchange *x, enum st why, int64_t now_us);

/* --- those who look ------------------------------------------------------ */

struct shot { /* a copy; live_shot_free */
    int64_t now_us;
    struct live_row *rows; /* [n_rows], those that run first */
    size_t n_rows;
    struct live_row recent[LIVE_RECENT]; /* newest first */
    size_t n_recent;
    int32_t in_flight, queued, prefilling, decoding;
    uint32_t completed_1m;
    struct live_totals totals;
    double decode_tps, prefill_tps;
    int64_t prefill_us, changed_us;
    struct live_second history[LIVE_SECONDS]; /* oldest first */
    size_t n_seconds;
    int64_t second;        /* that the newest of them is */
};

struct shot *live_look(struct live *l, int64_t now_us);
void live_shot_free(struct shot *s);
void live_totals_of(struct live *l, struct live_totals *out);

/* --- the page ------------------------------------------------------------ */

/* The JSON object of tandem.md 1.1. */
enum live_history { LIVE_NO_HISTORY, LIVE_HISTORY };
void live_write(struct buf *out, struct api *a, const struct shot *s,
                uint64_t seq, enum live_history history);
/* Slots and queue; at most LIVE_ROWS_MAX of both together. */
void live_write_lanes(struct buf *out, struct api *a, const struct shot *s);

/* Words for people: no text of clients but a tool's name. */
void live_label(char *out, size_t cap, const struct live_row *r,
                const struct gen_limits *limits, const struct shot *s);
void live_sentence(char *out, size_t cap, const struct live_row *r);
/* 36864: "36,864". */
const char *live_number(char out[32], int64_t n);

/* The run of a watching stream is going: its place is free again. */
struct run;
void live_unwatch(struct exchange *x, struct run *r);

#endif
