#include "api/quota.h"

#include "api/figures.h"
#include "api/run.h"
#include "base/thread.h"

#define RETRY_MAX_S 60 /* what clients wait for, see quota.h */

#define NAMES(what)                                                            \
    "x-ratelimit-limit-" what ", x-ratelimit-remaining-" what
#define NAMES_RESET(what) NAMES(what) ", x-ratelimit-reset-" what

const char quota_names[] = NAMES_RESET("requests") ", "
    NAMES_RESET("tokens") ", " NAMES_RESET("tokens-day") ", "
    NAMES("concurrent") ", x-should-retry";

static struct limits_now now_at(int64_t us)
{
    return (struct limits_now){.us = us, .epoch_ms = epoch_ms()};
}

enum st quota_look(struct exchange *x, struct err *e)
{
    struct run *r = run_of(x);
    struct quota *q = &r->quota;
    enum st st;

    if (!x->api->c.limits)
        return ST_OK;
    q->on = true;
    keys_limits(x->api->c.keys, r->row.key_id, &q->set);
    st = limits_look(x->api->c.limits, r->row.key_id, &q->set,
                     now_at(mono_us()), &q->state, e);
    q->refused = st == ST_RATE;
    return st;
}

enum st quota_take(struct exchange *x, struct err *e)
{
    struct run *r = run_of(x);
    struct quota *q = &r->quota;
    int64_t tokens = r->prompt_tokens;
    enum st st;

    if (!q->on)
        return ST_OK;
    for (size_t i = 0; i < r->n_choices; i++)
        tokens += r->choices[i].job->max_tokens;
    st = limits_take(x->api->c.limits, r->row.key_id, &q->set, tokens,
                     now_at(mono_us()), &q->ticket, &q->state, e);
    q->refused = st == ST_RATE;
    return st;
}

void quota_settle(struct exchange *x, int64_t now_us)
{
    struct quota *q = &run_of(x)->quota;
    struct figures f;

    if (!q->ticket.open)
        return;
    figures_of(&f, x, now_us);
    limits_settle(x->api->c.limits, &q->ticket, &q->set,
                  f.prompt + f.completion, now_at(now_us), &q->state);
}

void quota_undo(struct exchange *x)
{
    struct quota *q = &run_of(x)->quota;

    if (q->ticket.open)
        limits_undo(x->api->c.limits, &q->ticket, &q->set, now_at(mono_us()),
                    &q->state);
}

static void lines(struct buf *out, const char *what, int64_t limit,
                  int64_t left, int64_t reset_ms)
{
    char when[32];

    if (!limit)
        return;
    buf_printf(out,
               "x-ratelimit-limit-%s: %lld\r\n"
               "x-ratelimit-remaining-%s: %lld\r\n",
               what, (long long)limit, what, (long long)left);
    if (reset_ms < 0)
        return;
    limits_duration(reset_ms, when);
    buf_printf(out, "x-ratelimit-reset-%s: %s\r\n", what, when);
}

void quota_lines(const struct exchange *x, struct buf *out)
{
    const struct run *r = run_of(x);
    const struct limits_state *s = r ? &r->quota.state : NULL;

    if (!r || !r->quota.on)
        return;
    lines(out, "requests", s->limit.requests, s->left.requests,
          s->requests_reset_ms);
    lines(out, "tokens", s->limit.tokens, s->left.tokens, s->tokens_reset_ms);
    lines(out, "tokens-day", s->limit.tokens_day, s->left.tokens_day,
          s->day_reset_ms);
    lines(out, "concurrent", s->limit.concurrent, s->left.concurrent, -1);
}

bool quota_retry_lines(const struct exchange *x, char *out, size_t cap)
{
    const struct run *r = run_of(x);
    int64_t wait = r ? r->quota.state.wait_s : 0;
    size_t n = 0;

    if (!r || !r->quota.refused)
        return false;
    if (wait)
        n = (size_t)snprintf(out, cap, "Retry-After: %lld\r\n",
                             (long long)wait);
    if (!wait || wait > RETRY_MAX_S)
        snprintf(out + n, cap - n, "x-should-retry: false\r\n");
    return true;
}
