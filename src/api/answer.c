#include "api/answer.h"

#include "api/cors.h"
#include "api/error.h"
#include "api/run.h"

#define MORE_MAX 256
#define PREFLIGHT_NAMES                                                        \
    "authorization, x-api-key, anthropic-version, content-type"

void answer_head(const struct exchange *x, struct buf *out, int status,
                 const char *type, int64_t length, const char *more)
{
    buf_printf(out, "Status: %d %s\r\n", status, http_reason(status));
    /* also where no origin matched: caches must not mix the answers */
    if (cors_varies(x->api->c.cors_origin))
        buf_puts(out, "Vary: Origin\r\n");
    if (x->cors.n)
        buf_printf(out,
                   "Access-Control-Allow-Origin: %.*s\r\n"
                   "Access-Control-Expose-Headers: X-Request-Id, "
                   "request-id, Retry-After, X-Engine-Stop, X-Skipped-Tools, %s\r\n",
                   (int)x->cors.n, x->cors.s, quota_names);
    if (run_of(x))
        buf_printf(out, "X-Request-Id: %s\r\n", run_of(x)->row.request_id);
    if (run_of(x) && run_of(x)->style == STYLE_MESSAGES)
        buf_printf(out, "request-id: %s\r\n", run_of(x)->row.request_id);
    if (run_of(x) && run_of(x)->skipped[0])
        buf_printf(out, "X-Skipped-Tools: %s\r\n", run_of(x)->skipped);
    quota_lines(x, out);
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
    if (r && r->style == STYLE_MESSAGES)
        api_error_messages_json(&x->body, e, r->row.request_id);
    else
        api_error_json(&x->body, e);
    buf_putc(&x->body, '\n');
    if (e->st == ST_AUTH)
        snprintf(more, sizeof(more),
                 "WWW-Authenticate: Bearer realm=\"penstock\"\r\n");
    else if (e->st == ST_METHOD && r && r->route)
        snprintf(more, sizeof(more), "Allow: %s\r\n", r->route->allow);
    else if (!(e->st == ST_RATE &&
               quota_retry_lines(x, more, sizeof(more))) &&
             a->retry_after)
        snprintf(more, sizeof(more), "Retry-After: %d\r\n", a->retry_after);
    answer_body(x, a->http, JSON_TYPE, more);
}

void answer_options(struct exchange *x)
{
    const char *allow = run_of(x)->route->allow;
    struct span names = x->req.cors_headers;
    char more[MORE_MAX + CORS_HEADERS_MAX];
    int n = snprintf(more, sizeof(more), "Allow: %s\r\n", allow);

    if (!cors_names_ok(names))
        names = (struct span){PREFLIGHT_NAMES, sizeof(PREFLIGHT_NAMES) - 1};
    if (x->cors.n)
        snprintf(more + n, sizeof(more) - (size_t)n,
                 "Access-Control-Allow-Methods: %s\r\n"
                 "Access-Control-Allow-Headers: %.*s\r\n"
                 "Access-Control-Max-Age: 7200\r\n",
                 allow, (int)names.n, names.s);
    x->status = 204;
    buf_clear(&x->head);
    answer_head(x, &x->head, 204, NULL, -1, more);
}

void answer_written(struct exchange *x, struct jw *w, int status)
{
    const struct api_error *drain = api_error_of(ST_DRAINING);
    char more[32] = "";
    struct err e;

    if (status == drain->http)
        snprintf(more, sizeof(more), "Retry-After: %d\r\n",
                 drain->retry_after);
    if (jw_end(w)) {
        buf_putc(&x->body, '\n');
        answer_body(x, status, JSON_TYPE, more);
        return;
    }
    err_set(&e, ST_INTERNAL, "", "the answer could not be written");
    answer_error(x, &e);
}
