#include "fcgi/req.h"
#include "base/num.h"

/* What the parameters say beyond struct http_req. */
struct seen {
    struct span uri, document_uri, length, remote;
    bool edge, forwarded;
};

struct field {
    const char *name;
    struct span *to;
};

static bool is_forwarding(struct span name)
{
    static const char prefix[] = "HTTP_X_FORWARDED";

    return (name.n >= sizeof(prefix) - 1 &&
            memcmp(name.s, prefix, sizeof(prefix) - 1) == 0) ||
           span_is(name, "HTTP_X_REAL_IP") || span_is(name, "HTTP_FORWARDED") ||
           span_is(name, "HTTP_VIA");
}

static bool is_loopback(struct span addr)
{
    static const char v4[] = "127.", mapped[] = "::ffff:127.";

    return span_is(addr, "::1") ||
           (addr.n > 4 && memcmp(addr.s, v4, 4) == 0) ||
           (addr.n > 11 && memcmp(addr.s, mapped, 11) == 0);
}

/* Count first, copy afterwards: a refused request costs no arena. */
static enum st check_caps(const char *const *params, struct err *e)
{
    size_t bytes = 0;

    for (size_t i = 0; params[i]; i++) {
        size_t n = strlen(params[i]);

        if (i >= REQ_PARAMS_MAX || n > REQ_PARAM_BYTES - bytes)
            return err_set(e, ST_INVALID, "",
                           "The request's headers are over %d fields or "
                           "%u bytes.",
                           REQ_PARAMS_MAX, REQ_PARAM_BYTES);
        bytes += n;
    }
    return ST_OK;
}

static enum st take(struct arena *a, const struct field *fields, size_t n,
                    struct span name, struct span value, struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        char *copy;

        if (!span_is(name, fields[i].name))
            continue;
        copy = arena_dup(a, value.s, value.n);
        if (!copy)
            return err_set(e, ST_NOMEM, "", "no memory for the headers");
        *fields[i].to = (struct span){copy, value.n};
    }
    return ST_OK;
}

static void split_uri(struct http_req *r, struct span uri)
{
    const char *q = uri.n ? memchr(uri.s, '?', uri.n) : NULL;

    r->path = (struct span){uri.s, q ? (size_t)(q - uri.s) : uri.n};
    if (q)
        r->query = (struct span){q + 1, uri.n - r->path.n - 1};
}

static enum st finish(struct http_req *r, const struct seen *s, struct err *e)
{
    split_uri(r, s->uri.n ? s->uri : s->document_uri);
    if (!r->method.n || !r->path.n)
        return err_set(e, ST_INVALID, "",
                       "The web server sent no REQUEST_METHOD or REQUEST_URI; "
                       "see nginx/penstock.conf.");
    r->has_length = s->length.n > 0;
    if (r->has_length && !num_parse_u64(s->length.s, s->length.n, UINT64_MAX,
                                        &r->content_length))
        return err_set(e, ST_INVALID, "", "Content-Length is not a number.");
    r->local = s->edge && !s->forwarded && is_loopback(s->remote);
    return ST_OK;
}

enum st req_params(struct http_req *r, struct arena *a,
                   const char *const *params, struct err *e)
{
    struct seen s = {0};
    const struct field fields[] = {
        {"REQUEST_METHOD", &r->method},
        {"REQUEST_URI", &s.uri},
        {"DOCUMENT_URI", &s.document_uri},
        {"CONTENT_TYPE", &r->content_type},
        {"CONTENT_LENGTH", &s.length},
        {"REMOTE_ADDR", &s.remote},
        {"HTTP_AUTHORIZATION", &r->authorization},
        {"HTTP_X_API_KEY", &r->api_key},
        {"HTTP_ANTHROPIC_VERSION", &r->anthropic_version},
        {"HTTP_USER_AGENT", &r->user_agent},
        {"HTTP_REFERER", &r->referer},
        {"HTTP_X_PENSTOCK_CLIENT", &r->client},
        {"HTTP_ORIGIN", &r->origin},
        {"HTTP_ACCESS_CONTROL_REQUEST_HEADERS", &r->cors_headers},
    };
    enum st st = check_caps(params, e);

    for (size_t i = 0; !st && params[i]; i++) {
        const char *eq = strchr(params[i], '=');
        struct span name, value;

        if (!eq)
            continue;
        name = (struct span){params[i], (size_t)(eq - params[i])};
        value = (struct span){eq + 1, strlen(eq + 1)};
        st = take(a, fields, sizeof(fields) / sizeof(fields[0]), name, value,
                  e);
        s.edge |= span_is(name, "PENSTOCK_EDGE") && value.n;
        s.forwarded |= is_forwarding(name) && value.n;
    }
    return st ? st : finish(r, &s, e);
}

enum st req_body(struct http_req *r, struct buf *body, uint64_t cap,
                 const struct req_source *from, struct err *e)
{
    char chunk[8192];
    size_t n;

    if (r->has_length && r->content_length > cap)
        return err_set(e, ST_TOO_LARGE, "",
                       "The body has %llu bytes; at most %llu are accepted.",
                       (unsigned long long)r->content_length,
                       (unsigned long long)cap);
    buf_init(body, (size_t)cap);
    while ((n = from->read(from->arg, chunk, sizeof(chunk))) > 0) {
        if (n > cap - body->n)
            return err_set(e, ST_TOO_LARGE, "",
                           "The body has more than %llu bytes.",
                           (unsigned long long)cap);
        buf_add(body, chunk, n);
        if (body->failed)
            return err_set(e, ST_NOMEM, "", "no memory for the body");
    }
    if (!from->ended(from->arg) ||
        (r->has_length && body->n != r->content_length))
        return err_set(e, ST_INVALID, "",
                       "The body was cut off: %zu bytes arrived.", body->n);
    r->body = (struct text){body->p ? body->p : "", body->n};
    return ST_OK;
}
