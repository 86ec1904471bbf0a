/*
 * acct/ledger.h - one row per request of any outcome, never any text.
 *
 * Opened at admission, closed at the end; both go through the db writer. A
 * row that is still open when the daemon starts belonged to a daemon that
 * died: it is closed as failed, so one daemon uses a file at a time. State
 * "failed" is status 500 and above or finish "error"; all else is "done".
 * Columns: docs/ledger.md, tandem.md 9.1. Threads: any.
 */
#ifndef ACCT_LEDGER_H
#define ACCT_LEDGER_H

#include "db/writer.h"

struct ledger_row {
    char request_id[40];     /* wire id: chatcmpl-... or req-... */
    int64_t ts_ms;           /* arrival */
    char model[129];         /* the served model's id, or "" when unknown */
    int64_t key_id;          /* 0: none */
    char client_id[16];      /* "k:" + 12 hex of SHA-256(token), or "anon" */
    char client_kind[16];    /* tandem.md 9.3 */
    char endpoint[16];       /* chat, completions, models, health, other */
    bool stream;
    int status;              /* HTTP status sent */
    char finish[16];         /* stop, length, abandoned, refused, error, ... */
    char error_type[32];     /* st_name of the failure, or "" */
    int64_t prompt_tokens, cached_tokens, completion_tokens,
        reasoning_tokens;    /* -1: null (refused before tokens existed) */
    int64_t queue_ms, prompt_ms, ttft_ms, decode_ms, total_ms; /* -1: null */
    int64_t max_tokens;      /* effective; -1: null */
    bool thinking;
    int64_t tool_calls;      /* -1: null */
    char cache_source[16];   /* none, prefix, session, ...; "": null */
};

void ledger_row_init(struct ledger_row *r); /* -1 and "" everywhere */

struct ledger; /* opaque */
/* w borrowed. Closes rows that a dead daemon left open (counted in *died). */
enum st ledger_open(struct ledger **out, struct db_writer *w, size_t *died,
                    struct err *e) MUST_CHECK;
void ledger_free(struct ledger *l); /* after db_writer_close */

/* Admission: row state "open". ST_BUSY when the writer's queue is full.
 * *ticket identifies the row for ledger_close (unique per process). */
enum st ledger_admit(struct ledger *l, const struct ledger_row *r,
                     uint64_t *ticket, struct err *e) MUST_CHECK;
/* The end of an admitted request, exactly once per ticket. `done` (may be
 * NULL) is called on the writer thread once the row is committed; it must
 * only signal. */
void ledger_close(struct ledger *l, uint64_t ticket,
                  const struct ledger_row *r, void (*done)(void *arg),
                  void *arg);
/* A request that never was admitted: one finished row. Never blocks. Finish
 * "" becomes "refused"; token counts are null. */
void ledger_refused(struct ledger *l, const struct ledger_row *r);

#endif
