#include "api/exchange.h"

#include "api/answer.h"
#include "api/cors.h"
#include "api/hold.h"
#include "api/run.h"
#include "api/who.h"

#define HEAD_MAX 4096

void exchange_init(struct exchange *x, struct api *api, size_t max_arena)
{
    memset(x, 0, sizeof(*x));
    arena_init(&x->arena, max_arena);
    buf_init(&x->head, HEAD_MAX);
    buf_init(&x->body, BUF_ANSWER);
    x->api = api;
}

void exchange_release(struct exchange *x)
{
    struct run *r = run_of(x);

    if (r && (r->phase == RUN_GENERATING || r->phase == RUN_COMMITTING))
        atomic_fetch_sub(&x->api->open, 1);
    hold_drop_all(x);
    run_free(x);
    buf_release(&x->head);
    buf_release(&x->body);
    arena_release(&x->arena);
}

static bool has_unread_body(const struct http_req *req)
{
    if (req->has_length)
        return req->content_length > 0;
    return span_is(req->method, "POST");
}

/* Everything that can be decided without the body. */
static enum st check_head(struct exchange *x, struct run *r, struct err *e)
{
    const struct http_req *req = &x->req;
    const struct route *route = r->route;
    uint64_t cap = route->body_cap ? route->body_cap : x->api->c.body_max;

    if (route->auth == AUTH_KEY) {
        enum st st = who_check(x->api->c.keys, req, &r->row, e);

        if (st)
            return st;
    }
    if (route->counted && atomic_load(&x->api->draining))
        return err_set(e, ST_DRAINING, "", "the server is going down");
    if (route->counted) {
        enum st st = quota_look(x, e);

        if (st)
            return st;
    }
    if (req->has_length && req->content_length > cap)
        return err_set(e, ST_TOO_LARGE, "",
                       "the body has %llu bytes, at most %llu are accepted",
                       (unsigned long long)req->content_length,
                       (unsigned long long)cap);
    return hold_body(x, cap, e);
}

static struct run *begin(struct exchange *x, const struct route *route)
{
    x->cors = cors_match(x->api->c.cors_origin, x->req.origin);
    return run_begin(x, route);
}

void api_head(struct exchange *x, uint64_t *body_cap)
{
    const struct route *route;
    struct err e = {0};
    enum st st = route_find(&route, x->req.path, x->req.method, &e);
    struct run *r = begin(x, route);

    *body_cap = 0;
    if (!st && span_is(x->req.method, "OPTIONS")) {
        /* a preflight carries no key and needs none (case C42) */
        answer_options(x);
        return;
    }
    if (!st)
        st = check_head(x, r, &e);
    if (st) {
        run_refuse(x, &e);
        x->body_unread = has_unread_body(&x->req);
        return;
    }
    *body_cap = route->body_cap ? route->body_cap : x->api->c.body_max;
}

void api_body(struct exchange *x)
{
    if (!x->req.body.s)
        x->req.body = (struct text){"", 0};
    run_of(x)->route->handle(x);
    hold_drop_body(x);
}

void api_body_error(struct exchange *x, const struct err *e)
{
    if (!run_of(x)) /* the parameters were refused: api_head never ran */
        begin(x, NULL);
    run_refuse(x, e);
    x->body_unread = true;
}

static void gone(struct exchange *x, int why)
{
    int none = GONE_NOT;

    atomic_compare_exchange_strong(&x->gone, &none, why);
    if (x->wake)
        x->wake(x->wake_arg);
}

void api_gone(struct exchange *x)
{
    gone(x, GONE_LEFT);
}

void api_slow(struct exchange *x)
{
    gone(x, GONE_SLOW);
}
