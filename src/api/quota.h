/*
 * api/quota.h - a key's limits on the wire (internal to api).
 *
 * acct/limits.h decides; here is when it is asked, and what a client sees:
 * every answer of /v1/chat/completions and /v1/completions has, for each
 * limit of its key,
 *   x-ratelimit-limit-requests, -remaining-requests, -reset-requests
 *   x-ratelimit-limit-tokens, -remaining-tokens, -reset-tokens
 * as OpenAI's API, and in the same manner, which is ours,
 *   x-ratelimit-limit-tokens-day, -remaining-tokens-day, -reset-tokens-day
 *   x-ratelimit-limit-concurrent, -remaining-concurrent
 * A stream's are those of its admission, all it may take being reserved; a
 * JSON answer's are those after it paid what it used.
 *
 * A refusal is 429 with Retry-After; one that is larger than the limit has no
 * Retry-After. Where trying again within a minute is in vain it also has
 * x-should-retry: false, which the official clients obey (openai-node 7.59,
 * client.js, shouldRetry and retryRequest: a wait of more than 60 s is not
 * kept, they would try again at once).
 */
#ifndef API_QUOTA_H
#define API_QUOTA_H

#include "acct/limits.h"
#include "api/exchange.h"

/* Part of struct run; all zero: no limits are looked at. */
struct quota {
    bool on;                    /* set and state are known */
    bool refused;               /* state.wait_s says for how long */
    struct limit_set set;       /* the key's own */
    struct limits_state state;
    struct limits_ticket ticket;
};

/* Names for Access-Control-Expose-Headers. */
extern const char quota_names[];

/* The key is known, the body is not. Errors: ST_RATE. */
enum st quota_look(struct exchange *x, struct err *e) MUST_CHECK;
/* All jobs are made, none is submitted. Errors: ST_RATE, ST_BUSY. */
enum st quota_take(struct exchange *x, struct err *e) MUST_CHECK;
/* Every choice is over: pay what the ledger's row will say. Later calls do
 * nothing. */
void quota_settle(struct exchange *x, int64_t now_us);
/* Refused after all: pay nothing. */
void quota_undo(struct exchange *x);

/* Header lines of any answer. */
void quota_lines(const struct exchange *x, struct buf *out);
/* Those of a refusal; false: it was not for a limit. */
bool quota_retry_lines(const struct exchange *x, char *out, size_t cap);

#endif
