#include "api/answer.h"

#include "api/error.h"
#include "api/run.h"

#define MORE_MAX 256

/* Does the configuration let pages of this origin read our answers? */
static bool origin_allowed(const struct exchange *x)
{
    const char *allowed = x->api->c.cors_origin;

    return allowed && x->req.origin.n &&
           (strcmp(allowed, "*") == 0 || span_is(x->req.origin, allowed));
}

void answer_head(const struct exchange *x, struct buf *out, int status,
                 const char *type, int64_t length, const char *more)
{
    const char *allowed = x->api->c.cors_origin;

    buf_printf(out, "Status: %d %s\r\n", status, http_reason(status));
    /* The same head for every origin but ours: caches must not mix them. */
    if (allowed && strcmp(allowed, "*") != 0)
        buf_puts(out, "Vary: Origin\r\n");
    if (allowed)
        buf_printf(out,
                   "Access-Control-Allow-Origin: %s\r\n"
                   "Access-Control-Expose-Headers: X-Request-Id, "
                   "Retry-After\r\n",
                   allowed);
    if (run_of(x))
        buf_printf(out, "X-Request-Id: %s\r\n", run_of(x)->row.request_id);
    if (type)
        buf_printf(out, "Content-Type: %s\r\n", type);
    if (length >= 0)
        buf_printf(out, "Content-Length: %lld\r\n", (long long)length);
    if (more)
        buf_puts(out, more);
    buf_puts(out, "\r\n");
}

void answer_body(struct exchange *x, int status, const char *type,
                 const char *more)
{
    x->status = status;
    buf_clear(&x->head);
    answer_head(x, &x->head, status, type, (int64_t)x->body.n, more);
    if (span_is(x->req.method, "HEAD"))
        buf_clear(&x->body);
}

void answer_error(struct exchange *x, const struct err *e)
{
    const struct api_error *a = api_error_of(e->st);
    const struct run *r = run_of(x);
    char more[MORE_MAX] = "";

    buf_clear(&x->body);
    api_error_json(&x->body, e);
    buf_putc(&x->body, '\n');
    if (e->st == ST_AUTH)
        snprintf(more, sizeof(more),
                 "WWW-Authenticate: Bearer realm=\"penstock\"\r\n");
    else if (e->st == ST_METHOD && r && r->route)
        snprintf(more, sizeof(more), "Allow: %s\r\n", r->route->allow);
    else if (a->retry_after)
        snprintf(more, sizeof(more), "Retry-After: %d\r\n", a->retry_after);
    answer_body(x, a->http, JSON_TYPE, more);
}

void answer_options(struct exchange *x)
{
    const char *allow = run_of(x)->route->allow;
    char more[MORE_MAX];

    if (origin_allowed(x))
        snprintf(more, sizeof(more),
                 "Allow: %s, OPTIONS\r\n"
                 "Access-Control-Allow-Methods: %s, OPTIONS\r\n"
                 "Access-Control-Allow-Headers: authorization, content-type, *\r\n"
                 "Access-Control-Max-Age: 86400\r\n",
                 allow, allow);
    else
        snprintf(more, sizeof(more), "Allow: %s, OPTIONS\r\n", allow);
    x->status = 204;
    buf_clear(&x->head);
    answer_head(x, &x->head, 204, NULL, -1, more);
}
