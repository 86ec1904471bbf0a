#include "api/run.h"

#include "api/answer.h"
#include "api/error.h"
#include "api/figures.h"
#include "api/live.h"
#include "api/metrics.h"
#include "api/stored.h"
#include "api/who.h"
#include "base/log.h"
#include "base/thread.h"
#include "json/write.h"

struct run *run_of(const struct exchange *x)
{
    return x->state;
}

const struct calls *choice_calls(const struct choice *c)
{
    return c->reply ? reply_calls(c->reply) : NULL;
}

/* An answer that was complete before is none that went in circles. */
bool choice_looped(const struct choice *c)
{
    return c->view.end.reason == END_STOP && c->view.end.note.loop_count &&
           !(c->reply && reply_stopped(c->reply));
}

struct run *run_begin(struct exchange *x, const struct route *route)
{
    struct run *r = mem_new(struct run);
    struct ledger_row *row = &r->row;

    r->route = route;
    r->style = route_style(route, &x->req);
    buf_init(&r->thought, BUF_ANSWER);
    buf_init(&r->said, BUF_ANSWER);
    buf_init(&r->echo, BUF_ANSWER);
    ledger_row_init(row);
    api_new_id(x->api, route ? route->id_prefix : "req-", row->request_id);
    row->ts_ms = x->req.arrived_epoch_ms;
    snprintf(row->client_id, sizeof(row->client_id), "anon");
    snprintf(row->client_kind, sizeof(row->client_kind), "%s",
             who_kind(&x->req));
    snprintf(row->endpoint, sizeof(row->endpoint), "%s",
             route ? route->endpoint : "other");
    x->state = r;
    return r;
}

/* --- the row's notice ---------------------------------------------------- */

static struct notice *notice_new(void (*wake)(void *), void *arg)
{
    struct notice *n = mem_new(struct notice);

    pthread_mutex_init(&n->mu, NULL);
    n->refs = 1;
    n->wake = wake;
    n->wake_arg = arg;
    return n;
}

static void notice_unref(struct notice *n)
{
    int left;

    pthread_mutex_lock(&n->mu);
    left = --n->refs;
    pthread_mutex_unlock(&n->mu);
    if (left)
        return;
    pthread_mutex_destroy(&n->mu);
    free(n);
}

/* The exchange is going: nobody listens any more. */
static void notice_drop(struct notice *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->mu);
    n->wake = NULL;
    pthread_mutex_unlock(&n->mu);
    notice_unref(n);
}

/* On the database writer's thread, once: the row is committed. */
static void row_committed(void *arg)
{
    struct notice *n = arg;

    pthread_mutex_lock(&n->mu);
    n->committed = true;
    if (n->wake)
        n->wake(n->wake_arg);
    pthread_mutex_unlock(&n->mu);
    notice_unref(n);
}

bool run_committed(const struct run *r)
{
    bool yes;

    if (!r->notice)
        return true;
    pthread_mutex_lock(&r->notice->mu);
    yes = r->notice->committed;
    pthread_mutex_unlock(&r->notice->mu);
    return yes;
}

void run_await(struct exchange *x, void (**done)(void *arg), void **arg)
{
    struct run *r = run_of(x);

    BUG_ON(r->notice);
    r->notice = notice_new(x->wake, x->wake_arg);
    r->notice->refs = 2;
    *done = row_committed;
    *arg = r->notice;
}

void run_await_not(struct run *r)
{
    notice_unref(r->notice);
    notice_drop(r->notice);
    r->notice = NULL;
}

/* --- the ends ------------------------------------------------------------ */

/* What was read of calls: "", or the words for the log line. */
static const char *tools_word(const struct run *r, char *out, size_t cap)
{
    size_t parsed = 0, dropped = 0;

    for (size_t i = 0; i < r->n_choices; i++) {
        const struct calls *c = choice_calls(&r->choices[i]);

        parsed += c ? c->n : 0;
        dropped += c ? c->n - c->shown : 0;
    }
    out[0] = '\0';
    if (parsed)
        snprintf(out, cap, " tools=parsed:%zu,dropped:%zu", parsed, dropped);
    return out;
}

/* Who ended a reasoning, when it was not the model. */
static const char *think_word(const struct run *r)
{
    for (size_t i = 0; i < r->n_choices; i++)
        switch (r->choices[i].view.end.note.closed) {
        case CLOSED_BY_BUDGET:
            return " think=budget";
        case CLOSED_BY_STALL:
            return " think=stall";
        case THINK_NOT_CLOSED:
        case CLOSED_BY_MODEL:
            break;
        }
    return "";
}

static void log_request(const struct run *r)
{
    const struct ledger_row *row = &r->row;
    int64_t n = row->completion_tokens;
    char tools[64];
    double rate = n > 1 && row->decode_ms > 0
                      ? (double)(n - 1) * 1000 / (double)row->decode_ms
                      : 0;

    log_info("req",
             "id=%s %s=%s model=\"%s\" status=%d prompt=%lld completion=%lld "
             "finish=%s%s%s%s%s ms=%lld tok_s=%.1f client=%s kind=%s",
             row->request_id, row->stream ? "stream" : "json", row->endpoint,
             row->model, row->status,
             (long long)row->prompt_tokens, (long long)n, row->finish,
             row->error_type[0] ? " error=" : "", row->error_type,
             tools_word(r, tools, sizeof(tools)), think_word(r),
             (long long)row->total_ms, rate, row->client_id,
             row->client_kind);
}

void run_refuse(struct exchange *x, const struct err *e)
{
    struct run *r = run_of(x);
    struct ledger_row *row = &r->row;
    bool left = e->st == ST_CANCELLED;

    quota_undo(x);
    stored_undo(x);
    answer_error(x, e);
    row->status = x->status;
    row->total_ms = (mono_us() - x->req.arrived_us) / 1000;
    snprintf(row->finish, sizeof(row->finish), "%s",
             left ? "abandoned" : "refused");
    if (!left)
        snprintf(row->error_type, sizeof(row->error_type), "%s",
                 st_name(e->st));
    if (r->admitted)
        ledger_close(x->api->c.ledger, r->ticket, row, NULL, NULL);
    else
        ledger_refused(x->api->c.ledger, row);
    r->admitted = false;
    r->phase = RUN_OVER;
    live_refused(x, e->st, mono_us());
    if (r->route && r->route->counted)
        metrics_refused(x->api->metrics, e->st);
    log_request(r);
}

void run_hide(struct exchange *x)
{
    struct err e;

    err_set(&e, ST_NOT_FOUND, "", "there is no such route");
    run_refuse(x, &e);
}

static bool ended_well(const char *finish)
{
    return !strcmp(finish, "stop") || !strcmp(finish, "tool_calls");
}

/* The first choice that did not end well speaks for the request, else the
 * first that called. */
static const char *finish_of_run(const struct exchange *x)
{
    const struct run *r = run_of(x);
    const char *finish = "stop";

    switch (atomic_load(&x->gone)) {
    case GONE_LEFT:
        return "abandoned";
    case GONE_SLOW:
        return "slow_client";
    }
    if (r->failure.st)
        return r->failure.st == ST_QUEUED ? "timeout" : "error";
    if (run_cancelled(r))
        return "cancelled";
    for (size_t i = r->n_choices; i-- > 0;) {
        const char *f = finish_of(&r->choices[i]);

        if (!ended_well(f) || (ended_well(finish) && strcmp(f, "stop") != 0))
            finish = f;
    }
    return finish;
}

/* Calls in the answers; -1: there could be none. */
static int64_t calls_of_run(const struct run *r)
{
    int64_t n = 0;

    if (!r->tools)
        return -1;
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct calls *c = choice_calls(&r->choices[i]);

        n += c ? (int64_t)c->shown : 0;
    }
    return n;
}

bool run_cancelled(const struct run *r)
{
    if (!r->cancelled || r->failure.st)
        return false;
    for (size_t i = 0; i < r->n_choices; i++)
        if (r->choices[i].view.end.reason == END_CANCELLED)
            return true;
    return false;
}

/* "a, b" -> ["a","b"] */
void run_put_skipped(const struct run *r, struct jw *w)
{
    const char *s = r->skipped;

    if (!*s)
        return;
    jw_key(w, "skipped_tools");
    jw_arr(w);
    while (*s) {
        size_t n = strcspn(s, ",");

        jw_strn(w, s, n);
        s += n;
        s += strspn(s, ", ");
    }
    jw_arr_end(w);
}

bool run_error(const struct run *r, struct err *e)
{
    if (r->failure.st) {
        *e = r->failure;
        return true;
    }
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct choice *c = &r->choices[i];

        if (c->reply && reply_stopped(c->reply))
            continue; /* it was complete before */
        if (c->view.end.reason == END_ERROR) {
            *e = c->view.end.err;
            if (!e->st)
                e->st = ST_INTERNAL;
            /* an engine knows no fields: a constraint left it no token */
            if (e->st == ST_INVALID && !e->where[0] && r->constrained)
                snprintf(e->where, sizeof(e->where), "%s", r->constrained);
            return true;
        }
        if (c->view.end.reason == END_CANCELLED && !r->cancelled) {
            err_set(e, ST_DRAINING, "", "the server is going down");
            return true;
        }
    }
    return false;
}

void run_close(struct exchange *x, enum run_notice want, int64_t now_us)
{
    struct run *r = run_of(x);
    struct ledger_row *row = &r->row;
    struct figures f;
    struct err e = {0};

    quota_settle(x, now_us);
    figures_of(&f, x, now_us);
    figures_row(&f, row);
    row->tool_calls = calls_of_run(r);
    row->status = x->status;
    snprintf(row->finish, sizeof(row->finish), "%s", finish_of_run(x));
    if (strcmp(row->finish, "error") == 0 || r->failure.st == ST_QUEUED)
        snprintf(row->error_type, sizeof(row->error_type), "%s",
                 st_name(run_error(r, &e) ? e.st : ST_INTERNAL));
    stored_close(x, &f);
    if (r->admitted && want == RUN_NOTICE) {
        r->notice = notice_new(x->wake, x->wake_arg);
        r->notice->refs = 2;
        ledger_close(x->api->c.ledger, r->ticket, row, row_committed,
                     r->notice);
    } else if (r->admitted) {
        ledger_close(x->api->c.ledger, r->ticket, row, NULL, NULL);
    }
    r->admitted = false;
    live_leave(x, now_us);
    metrics_ended(x->api->metrics, row, &f, e.st);
    log_request(r);
}

void run_drop_choices(struct run *r)
{
    for (size_t i = 0; i < r->n_choices; i++) {
        struct choice *c = &r->choices[i];

        if (c->job) {
            /* waits for a wake under way: x may go afterwards */
            ring_on_wake(c->job->ring, NULL, NULL);
            if (!c->view.ended)
                gen_cancel(r->model->gen, c->job);
        }
        reply_free(c->reply);
        logprobs_free(c->logprobs);
        job_unref(c->job);
        buf_release(&c->reasoning);
        buf_release(&c->content);
        pieces_release(&c->pieces);
        free(c->sent);
    }
    free(r->choices);
    r->choices = NULL;
    r->n_choices = 0;
}

void run_stop_wakes(struct run *r)
{
    run_drop_choices(r);
    notice_drop(r->notice);
    r->notice = NULL;
}

void run_free(struct exchange *x)
{
    struct run *r = run_of(x);

    if (!r)
        return;
    if (r->admitted) {
        /* torn down in the middle: the process is going */
        int none = GONE_NOT;

        atomic_compare_exchange_strong(&x->gone, &none, GONE_LEFT);
        run_close(x, RUN_NO_NOTICE, mono_us());
    }
    run_stop_wakes(r);
    live_unwatch(x, r);
    metrics_answered(x->api->metrics, r->row.endpoint,
                     x->status ? x->status : 499);
    free(r->stops);
    buf_release(&r->thought);
    buf_release(&r->said);
    buf_release(&r->echo);
    tool_names_release(&r->names);
    free(r->wait);
    tools_free(r->tools);
    free(r);
    x->state = NULL;
}
