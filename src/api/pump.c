/*
 * The life of a generation after its jobs were submitted: events become
 * bytes, one look at everything available per wake-up.
 */
#include "api/answer.h"
#include "api/figures.h"
#include "api/live.h"
#include "api/run.h"
#include "api/sse.h"
#include "api/stored.h"
#include "base/crypt.h"

#define TAKE 256 /* >= LOGPROBS_TAKE */
#define PREFILL_EVERY_US 1000000
#define STORED_WAIT_US 5000000
#define TOO_LONG "the answer is too long; ask for less, or for a stream"
#define LOOP_NOTICE "[The server ended this answer: it repeated itself.]"
#define STREAM_HEAD "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"

/* --- events in ----------------------------------------------------------- */

static void cancel_all(struct run *r)
{
    if (r->cancel_sent)
        return;
    r->cancel_sent = true;
    for (size_t i = 0; i < r->n_choices; i++)
        if (!r->choices[i].view.ended)
            gen_cancel(r->model->gen, r->choices[i].job);
}

static void fail(struct run *r, enum st st, const char *why)
{
    if (!r->failure.st)
        err_set(&r->failure, st, "", "%s", why);
    cancel_all(r);
}

static bool make_reply(struct run *r, struct choice *c)
{
    struct reply_config config = {
        .tok = r->model->tok,
        .format = r->format,
        .think_open = r->think_open,
        .tools = r->tools,
        .parallel_calls = r->parallel_calls,
        .stops = r->stops,
        .n_stops = r->n_stops,
        .stop_ids = c->job->stop_ids,
        .n_stop_ids = c->job->n_stop,
    };

    crypt_random(&config.id_seed, sizeof(config.id_seed));
    c->reply = reply_new(&config);
    if (!c->reply)
        fail(r, ST_NOMEM, "no memory for the reply");
    return c->reply != NULL;
}

/* What the reply gave goes where this client looks for it. */
static void pass_on(struct run *r, struct choice *c, enum pieces_when when)
{
    reason_feed(&c->reason, buf_text(&r->thought), buf_text(&r->said),
                reply_closed_reasoning(c->reply), &c->reasoning, &c->content);
    if (r->thought.failed || r->said.failed)
        c->content.failed = true;
    if (r->emit->ordered)
        pieces_note(&c->pieces, &c->reasoning, &c->content,
                    choice_calls(c), when);
    if (c->pieces.failed)
        c->content.failed = true;
    buf_clear(&r->thought);
    buf_clear(&r->said);
}

static void feed(struct run *r, struct choice *c, const int32_t *ids,
                 size_t n)
{
    struct logprobs *l = c->logprobs;
    bool over;

    for (size_t i = 0; i < n; i++) {
        c->fed++;
        if (!c->reply && !make_reply(r, c))
            return;
        if (reply_stopped(c->reply))
            continue; /* ids that were under way when the stop was found */
        if (l)
            logprobs_before(l, c->reply);
        over = reply_feed(c->reply, ids[i], &r->thought, &r->said);
        pass_on(r, c, PIECES_MORE);
        if (over && !c->view.ended)
            gen_finish(r->model->gen, c->job, reply_kept(c->reply));
        if (l)
            logprobs_after(l, c->reply, i, ids[i]);
    }
}

/* Before its first byte a failure still gets a status of its own. */
static bool said_all(const struct choice *c)
{
    return c->view.end.reason == END_STOP || c->view.end.reason == END_LENGTH;
}

/* The end of a reasoning brings its own blank line. */
static void add_notice(struct run *r, struct choice *c)
{
    if (!reason_open(&c->reason))
        buf_puts(&r->said, "\n\n");
    buf_puts(&r->said, LOOP_NOTICE);
    pass_on(r, c, PIECES_OVER);
}

static void end_reply(struct run *r, struct choice *c)
{
    bool looped = choice_looped(c);
    const struct calls *calls;

    if (c->reply) {
        reply_end(c->reply, c->view.end.reason == END_STOP && !looped,
                  &r->thought, &r->said);
        if (c->logprobs)
            logprobs_end(c->logprobs, c->reply);
        pass_on(r, c, PIECES_OVER);
        if (looped)
            add_notice(r, c);
    }
    calls = choice_calls(c);
    if (said_all(c) && (!calls || !calls->n))
        reason_end(&c->reason, &c->content);
    c->over = true;
}

/* Too many calls are dropped ones; too long ones are no answer, and neither
 * is one without a call that found no memory. */
static void check_size(struct run *r, const struct choice *c)
{
    const struct calls *calls = choice_calls(c);
    bool too_long = c->reasoning.failed || c->content.failed;

    for (size_t k = 0; calls && k < calls->n; k++)
        too_long = too_long || calls->p[k]->args.failed;
    if (too_long)
        fail(r, ST_LIMIT, TOO_LONG);
    else if (calls && calls->failed)
        fail(r, ST_NOMEM, "no memory for the reply");
}

/* Everything that this choice's ring holds. */
static void drain(struct run *r, struct choice *c)
{
    int32_t ids[TAKE];

    if (c->over)
        return;
    /* the view first: ids that are pushed after this look come with the next
     * wake, and behind an END there are none */
    ring_look(c->job->ring, &c->view);
    for (;;) {
        size_t n = c->logprobs
                       ? logprobs_take(c->logprobs, c->job->ring, ids)
                       : ring_take(c->job->ring, ids, NULL, NULL, NULL, TAKE);

        if (!n)
            break;
        r->token_seen = true;
        feed(r, c, ids, n);
    }
    if (c->view.ended)
        end_reply(r, c);
    if (c->view.end.reason == END_QUEUED)
        fail(r, ST_QUEUED, "the request waited for its turn as long as one "
                           "without a stream may; try again later, or with "
                           "a stream, which may wait longer");
    check_size(r, c);
}

static bool all_over(const struct run *r)
{
    for (size_t i = 0; i < r->n_choices; i++)
        if (!r->choices[i].over)
            return false;
    return true;
}

/* Did the time run out while everything still waited for its turn? */
static bool find_vain_wait(struct run *r, struct err *e)
{
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct choice *c = &r->choices[i];

        if (c->view.started || c->fed || c->view.end.reason != END_TIMEOUT)
            return false;
    }
    err_set(e, ST_QUEUED, "", "the request waited for its turn until its "
                              "time was up; try again later");
    r->failure = *e;
    return true;
}

/* --- bytes out ----------------------------------------------------------- */

static void stream_head(struct exchange *x, struct buf *out)
{
    struct run *r = run_of(x);

    if (r->head_sent)
        return;
    r->head_sent = true;
    x->status = 200;
    answer_head(x, out, 200, SSE_TYPE, -1, STREAM_HEAD);
    if (r->emit->begin)
        r->emit->begin(r, out);
}

/* The estimate was told some time ago: that much of it is over. */
static void waiting_line(const struct exchange *x, const struct ring_view *v,
                         struct buf *out, int64_t now_us)
{
    int64_t eta_us = v->queue_eta_us;

    if (eta_us >= 0) {
        eta_us -= now_us - v->queue_told_us;
        if (eta_us < 0)
            eta_us = 0;
    }
    sse_waiting(out, v->queue_position + 1, eta_us,
                now_us - x->req.arrived_us);
}

/* A comment line when one is due: it also keeps proxies from giving up. */
static void comment_line(struct exchange *x, struct buf *out, int64_t now_us)
{
    struct run *r = run_of(x);
    const struct api_config *c = &x->api->c;
    const struct ring_view *v = &r->choices[0].view;

    if (r->token_seen) {
        r->line_us = 0;
        return;
    }
    if (v->started && !r->prefill_seen) {
        r->prefill_seen = true;
        r->line_us = c->prefill_line_ms > 0
                         ? now_us + c->prefill_line_ms * 1000
                         : 0;
    }
    if (!r->line_us || now_us < r->line_us)
        return;
    stream_head(x, out);
    if (v->started) {
        sse_prefill(out, v->prefill_done, v->prefill_total);
        r->line_us = now_us + PREFILL_EVERY_US;
    } else {
        waiting_line(x, v, out, now_us);
        r->line_us = now_us + c->wait_line_ms * 1000;
    }
}

static enum x_pump over(struct exchange *x, enum x_pump how)
{
    struct run *r = run_of(x);

    r->phase = RUN_OVER;
    atomic_fetch_sub(&x->api->open, 1);
    run_stop_wakes(r);
    return how;
}

/* Nothing was sent yet: a proper HTTP error is still possible. */
static enum x_pump late_error(struct exchange *x, const struct err *e,
                              struct buf *out, int64_t now_us)
{
    quota_settle(x, now_us);
    answer_error(x, e);
    run_close(x, RUN_NO_NOTICE, now_us);
    buf_add(out, x->head.p, x->head.n);
    buf_add(out, x->body.p, x->body.n);
    return over(x, X_DONE);
}

/* The client left: the row gets the real counts, nobody gets bytes. */
static enum x_pump gone(struct exchange *x, int64_t now_us)
{
    struct run *r = run_of(x);

    cancel_all(r);
    r->line_us = 0; /* nobody is written to: no timer either */
    for (size_t i = 0; i < r->n_choices && !r->stored; i++) {
        if (!r->emit->ordered) { /* else pieces are places in them */
            buf_clear(&r->choices[i].reasoning);
            buf_clear(&r->choices[i].content);
        }
        logprobs_free(r->choices[i].logprobs);
        r->choices[i].logprobs = NULL;
    }
    if (!all_over(r))
        return X_MORE;
    if (!x->status)
        x->status = 499; /* as nginx writes it */
    run_close(x, RUN_NO_NOTICE, now_us);
    return over(x, X_FAILED);
}

static void committing(struct exchange *x, int64_t now_us)
{
    struct run *r = run_of(x);

    run_close(x, RUN_NOTICE, now_us);
    r->phase = RUN_COMMITTING;
    r->commit_by_us = now_us + x->api->c.ledger_wait_ms * 1000;
    /* who goes on from it must find it */
    if (r->stored && r->commit_by_us < now_us + STORED_WAIT_US)
        r->commit_by_us = now_us + STORED_WAIT_US;
}

static void stream_end(struct exchange *x, const struct err *e,
                       struct buf *out, int64_t now_us)
{
    struct run *r = run_of(x);
    struct figures f;

    figures_of(&f, x, now_us);
    stream_head(x, out);
    buf_clear(&x->body);
    r->emit->finish(r, &f, e, &x->body);
    committing(x, now_us);
}

/* The header of an answer that the pattern guard ended: "" for others. */
static void stop_header(const struct run *r, struct buf *out)
{
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct guide_note *note = &r->choices[i].view.end.note;

        if (!choice_looped(&r->choices[i]))
            continue;
        buf_printf(out, "X-Engine-Stop: pattern-stop(size=%d count=%d tok=[",
                   note->loop_size, note->loop_count);
        for (int k = 0; k < note->loop_size && k < GUIDE_LOOP_IDS; k++)
            buf_printf(out, k ? ",%d" : "%d", note->loop_ids[k]);
        buf_puts(out, "])\r\n");
        return;
    }
}

static enum x_pump answer_end(struct exchange *x, struct buf *out,
                              int64_t now_us)
{
    struct run *r = run_of(x);
    struct figures f;
    struct buf more;

    quota_settle(x, now_us); /* the head tells what is left */
    figures_of(&f, x, now_us);
    buf_clear(&x->body);
    r->emit->whole(r, &f, &x->body);
    buf_putc(&x->body, '\n');
    if (x->body.failed) {
        fail(r, ST_LIMIT, TOO_LONG);
        return late_error(x, &r->failure, out, now_us);
    }
    buf_init(&more, BUF_MESSAGE);
    stop_header(r, &more);
    answer_body(x, 200, JSON_TYPE, more.p);
    buf_release(&more);
    committing(x, now_us);
    return X_MORE;
}

static enum x_pump generating(struct exchange *x, struct buf *out,
                              int64_t now_us)
{
    struct run *r = run_of(x);
    struct err e = {0};
    bool wrong;

    for (size_t i = 0; i < r->n_choices; i++)
        drain(r, &r->choices[i]);
    live_update(x, now_us);
    if (atomic_load(&x->gone))
        return gone(x, now_us);
    if (stored_cancelled(r)) {
        r->cancelled = true;
        cancel_all(r);
    }
    if (r->stream) {
        for (size_t i = 0; i < r->n_choices; i++) {
            if (!r->emit->has_news(r, i))
                continue;
            stream_head(x, out);
            r->emit->news(r, i, out);
        }
        comment_line(x, out, now_us);
    }
    if (!all_over(r))
        return X_MORE;
    wrong = run_error(r, &e);
    if (!r->head_sent && (wrong || find_vain_wait(r, &e)))
        return late_error(x, &e, out, now_us);
    if (!r->stream)
        return answer_end(x, out, now_us);
    stream_end(x, wrong ? &e : NULL, out, now_us);
    return X_MORE;
}

/* The finish and what follows wait for the row, but not for long
 * (docs/decisions/0003-done-waits-for-the-row.md). */
static enum x_pump finishing(struct exchange *x, struct buf *out,
                             int64_t now_us)
{
    struct run *r = run_of(x);

    if (atomic_load(&x->gone))
        return over(x, X_FAILED);
    if (!run_committed(r) && now_us < r->commit_by_us)
        return X_MORE;
    if (!r->stream)
        buf_add(out, x->head.p, x->head.n);
    buf_add(out, x->body.p, x->body.n);
    if (x->body.failed)
        out->failed = true;
    return over(x, X_DONE);
}

void api_cut(struct exchange *x)
{
    struct run *r = run_of(x);

    if (r && r->phase == RUN_GENERATING)
        fail(r, ST_DRAINING, "the server is going down");
}

enum x_pump api_pump(struct exchange *x, struct buf *out, int64_t now_us)
{
    struct run *r = run_of(x);

    if (r->pump)
        return r->pump(x, out, now_us);
    if (r->phase == RUN_GENERATING) {
        enum x_pump p = generating(x, out, now_us);

        if (r->phase != RUN_COMMITTING)
            return p;
    }
    if (r->phase == RUN_COMMITTING)
        return finishing(x, out, now_us);
    return X_FAILED;
}

int64_t api_next_us(const struct exchange *x)
{
    const struct run *r = run_of(x);

    if (r->pump)
        return r->pump_at_us;
    if (r->phase == RUN_GENERATING)
        return r->line_us;
    return r->phase == RUN_COMMITTING ? r->commit_by_us : 0;
}
