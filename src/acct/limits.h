/*
 * acct/limits.h - how much one key may ask for.
 *
 * Four limits: requests per minute, tokens per minute, tokens per day (UTC),
 * requests at a time. Requests without a key (local ones) share one account
 * under the defaults, whatever token they carry.
 *
 * The minute is a token bucket: it holds the limit, starts full and refills
 * evenly, limit/60 a second. So a key may use its limit at once, gets it
 * back over a minute, and never passes the limit on average; in an unlucky
 * minute (a full bucket, then its refill) it may use twice as much. The
 * bucket is what the headers of OpenAI's API describe (platform.openai.com,
 * guide "Rate limits", section "Rate limits in headers", from memory):
 * x-ratelimit-limit-*, -remaining-* and -reset-*, the last being "the time
 * until the rate limit resets to its initial state", 1s or 6m0s: here, the
 * time until the bucket is full.
 *
 * A request is charged when it is admitted: one request, and the tokens that
 * it may take at most, prompt and max_tokens of all its choices (as OpenAI
 * counts them too). When it ends it pays what it used, and the rest comes
 * back. A request that was refused after all pays nothing.
 *
 * The day is what the ledger says of it (prompt and completion of the rows
 * that ended, read when the daemon starts, so that a restart forgives
 * nothing) and what runs. A request belongs to the day of its admission. A
 * request that a killed daemon left without counts counts nothing.
 *
 * Memory: one account of about 150 bytes for each key that was seen, at most
 * LIMITS_ACCOUNTS; accounts that are as new are dropped first, then the one
 * that was used longest ago. Threads: any; one short lock inside, nothing
 * waits and nothing is read from the database after limits_open. The caller
 * gives the time, so that tests have a clock of their own.
 */
#ifndef ACCT_LIMITS_H
#define ACCT_LIMITS_H

#include "base/err.h"

#define LIMIT_DEFAULT (-1) /* what the settings say for all keys */
#define LIMIT_NONE 0
#define LIMIT_MAX 10000000000 /* the largest limit; no request costs more */
#define LIMITS_ACCOUNTS 65536

struct limit_set {
    int64_t requests;   /* per minute */
    int64_t tokens;     /* per minute */
    int64_t tokens_day; /* per day, UTC */
    int64_t concurrent; /* requests (not choices) admitted and not ended */
};

struct limits_now {
    int64_t us;       /* mono_us */
    int64_t epoch_ms; /* for the day */
};

/* What a client is told. */
struct limits_state {
    struct limit_set limit; /* in force; LIMIT_NONE: none */
    struct limit_set left;  /* where there is one; never negative */
    int64_t requests_reset_ms, tokens_reset_ms; /* until all is back */
    int64_t day_reset_ms;
    /* Refused: when to come back, in whole seconds, at least 1: if the key
     * asks for nothing else until then, it is served (but where other
     * requests of the key must end before, nobody knows when: 5). 0: never,
     * the request is larger than a limit. */
    int64_t wait_s;
};

/* An admitted request. */
struct limits_ticket {
    bool open;
    int64_t key_id, day;
    int64_t tokens; /* reserved */
    bool requests_charged, tokens_charged; /* there was a limit */
};

struct limits; /* opaque */

/*
 * defaults  for keys that have none of their own; LIMIT_DEFAULT is none
 * path      the database whose ledger has today's use; NULL: nothing was used
 * Errors: those of db_open and db_step.
 */
enum st limits_open(struct limits **out, const char *path,
                    const struct limit_set *defaults, int64_t epoch_ms,
                    struct err *e) MUST_CHECK;
void limits_close(struct limits *l); /* NULL ok */

/*
 * Would a request be refused whatever it asks for? Charges nothing; so that
 * a key that is over its limit costs no parsing. `key_id` 0: no key.
 * Errors: ST_RATE, s->wait_s is set. s is filled in any case.
 */
enum st limits_look(struct limits *l, int64_t key_id,
                    const struct limit_set *set, struct limits_now now,
                    struct limits_state *s, struct err *e) MUST_CHECK;
/*
 * Admit a request that takes at most `tokens`. Of several limits that it is
 * over, the error names the one that lasts longest.
 * Errors: ST_RATE as above; ST_BUSY: LIMITS_ACCOUNTS keys are at work.
 */
enum st limits_take(struct limits *l, int64_t key_id,
                    const struct limit_set *set, int64_t tokens,
                    struct limits_now now, struct limits_ticket *t,
                    struct limits_state *s, struct err *e) MUST_CHECK;
/* It ended and used so many tokens. Closes the ticket; s is as after the
 * correction. Nothing happens when it is closed already. */
void limits_settle(struct limits *l, struct limits_ticket *t,
                   const struct limit_set *set, int64_t used,
                   struct limits_now now, struct limits_state *s);
/* It was not served after all: as if it had never been. */
void limits_undo(struct limits *l, struct limits_ticket *t,
                 const struct limit_set *set, struct limits_now now,
                 struct limits_state *s);

/* "0s", "120ms", "8.64s", "6m0s", "5h12m0s": as the headers write a time. */
void limits_duration(int64_t ms, char out[32]);

#endif
