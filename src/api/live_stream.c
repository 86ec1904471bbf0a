/*
 * GET /v1/dashboard/live and /lanes. A stream of live events is an exchange
 * that is pumped by its timer alone: whoever is pumped first in a quarter of
 * a second makes the event, and every stream sends the same bytes.
 */
#include "api/answer.h"
#include "api/handlers.h"
#include "api/live.h"
#include "api/run.h"
#include "api/sse.h"
#include "api/who.h"
#include "base/thread.h"

#define LOOK_EVERY_US 250000
#define IDLE_EVERY_US 1000000
#define PING_EVERY_US 15000000
#define TICK_SLACK_US 20000 /* streams' timers are not quite at one time */
#define STREAM_HEAD "Cache-Control: no-cache\r\nX-Accel-Buffering: no\r\n"
#define ONE_LOOK "Cache-Control: no-store\r\n"

struct live_watch { /* one stream */
    uint64_t seq;     /* of the newest event it has; 0: none */
    int64_t ping_us;  /* when a line is due */
};

static void event(struct buf *out, struct api *a, const struct shot *s,
                  uint64_t seq, enum live_history history)
{
    buf_printf(out, "event: live\nid: %llu\ndata: ",
               (unsigned long long)seq);
    live_write(out, a, s, seq, history);
    buf_puts(out, "\n\n");
}

/* Make the next event when it is time: four a second while something runs,
 * and one at its end, else one. */
static void tick_locked(struct api *a, int64_t now_us)
{
    struct live *l = a->live;
    int64_t since = now_us - l->ticked_us;
    struct shot *s;

    if (l->ticked_us && since < LOOK_EVERY_US - TICK_SLACK_US)
        return;
    s = live_look(l, now_us);
    if (!l->ticked_us || s->in_flight || l->ticked_busy ||
        since >= IDLE_EVERY_US - TICK_SLACK_US) {
        l->seq++;
        l->ticked_us = now_us;
        l->ticked_busy = s->in_flight > 0;
        buf_clear(&l->tick);
        event(&l->tick, a, s, l->seq, LIVE_NO_HISTORY);
    }
    live_shot_free(s);
}

static void first_locked(struct api *a, struct live_watch *w, struct buf *out,
                         int64_t now_us)
{
    struct shot *s = live_look(a->live, now_us);

    event(out, a, s, a->live->seq, LIVE_HISTORY);
    w->seq = a->live->seq;
    live_shot_free(s);
}

static enum x_pump pump(struct exchange *x, struct buf *out, int64_t now_us)
{
    struct run *r = run_of(x);
    struct live_watch *w = r->watch;
    struct api *a = x->api;
    struct live *l = a->live;
    size_t before = out->n;
    bool last = atomic_load(&a->draining) && !atomic_load(&a->open);

    if (atomic_load(&x->gone))
        return X_FAILED;
    if (!r->head_sent) {
        r->head_sent = true;
        answer_head(x, out, 200, SSE_TYPE, -1, STREAM_HEAD);
    }
    pthread_mutex_lock(&l->tick_mu);
    if (!w->seq) {
        first_locked(a, w, out, now_us);
    } else {
        tick_locked(a, now_us);
        if (w->seq != l->seq)
            buf_add(out, l->tick.p, l->tick.n);
        w->seq = l->seq;
    }
    pthread_mutex_unlock(&l->tick_mu);
    if (out->n == before && now_us >= w->ping_us)
        buf_puts(out, ": ping\n\n");
    if (out->n != before)
        w->ping_us = now_us + PING_EVERY_US;
    r->pump_at_us = now_us + LOOK_EVERY_US;
    return last ? X_DONE : X_MORE;
}

static bool watch(struct exchange *x, struct err *e)
{
    struct live *l = x->api->live;
    struct run *r = run_of(x);
    bool room;

    pthread_mutex_lock(&l->tick_mu);
    room = l->watchers < LIVE_WATCHERS;
    if (room)
        l->watchers++;
    pthread_mutex_unlock(&l->tick_mu);
    if (!room) {
        err_set(e, ST_RATE, "", "%d streams of the live view are open; that "
                                "is all there may be", LIVE_WATCHERS);
        return false;
    }
    r->watch = mem_new(struct live_watch);
    r->pump = pump;
    x->status = 200;
    x->streaming = true;
    return true;
}

void live_unwatch(struct exchange *x, struct run *r)
{
    struct live *l = x->api->live;

    if (!r->watch)
        return;
    pthread_mutex_lock(&l->tick_mu);
    l->watchers--;
    pthread_mutex_unlock(&l->tick_mu);
    free(r->watch);
    r->watch = NULL;
}

/* --- handlers ------------------------------------------------------------ */

static bool has_pair(struct span query, const char *pair)
{
    while (query.n) {
        const char *and = memchr(query.s, '&', query.n);
        size_t n = and ? (size_t)(and - query.s) : query.n;

        if (span_is((struct span){query.s, n}, pair))
            return true;
        n += and ? 1 : 0;
        query.s += n;
        query.n -= n;
    }
    return false;
}

static void answer_json(struct exchange *x)
{
    struct err e;

    buf_putc(&x->body, '\n');
    if (!x->body.failed) {
        answer_body(x, 200, JSON_TYPE, ONE_LOOK);
        return;
    }
    err_set(&e, ST_INTERNAL, "", "the answer could not be written");
    answer_error(x, &e);
}

void handle_live(struct exchange *x)
{
    struct live *l = x->api->live;
    struct shot *s;
    uint64_t seq;
    struct err e;

    if (!who_sees_all(x)) {
        run_hide(x);
        return;
    }
    if (!has_pair(x->req.query, "follow=0") &&
        !span_is(x->req.method, "HEAD")) {
        if (!watch(x, &e))
            run_refuse(x, &e);
        return;
    }
    pthread_mutex_lock(&l->tick_mu);
    seq = l->seq;
    pthread_mutex_unlock(&l->tick_mu);
    s = live_look(l, mono_us());
    live_write(&x->body, x->api, s, seq, LIVE_NO_HISTORY);
    live_shot_free(s);
    answer_json(x);
}

void handle_lanes(struct exchange *x)
{
    struct shot *s;

    if (!who_sees_all(x)) {
        run_hide(x);
        return;
    }
    s = live_look(x->api->live, mono_us());
    live_write_lanes(&x->body, x->api, s);
    live_shot_free(s);
    answer_json(x);
}
