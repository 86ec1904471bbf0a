#include "api/error.h"

static const struct api_error table[] = {
    [ST_OK] = {200, "OK", NULL, NULL, 0},
    [ST_USAGE] = {400, "Bad Request", "invalid_request_error", NULL, 0},
    [ST_INVALID] = {400, "Bad Request", "invalid_request_error", NULL, 0},
    [ST_CONTEXT] = {400, "Bad Request", "invalid_request_error",
                    "context_length_exceeded", 0},
    [ST_TOO_LARGE] = {413, "Content Too Large", "invalid_request_error",
                      "request_too_large", 0},
    [ST_AUTH] = {401, "Unauthorized", "authentication_error",
                 "invalid_api_key", 0},
    [ST_NOT_FOUND] = {404, "Not Found", "not_found_error", NULL, 0},
    [ST_NO_MODEL] = {404, "Not Found", "not_found_error", "model_not_found",
                     0},
    [ST_METHOD] = {405, "Method Not Allowed", "invalid_request_error",
                   "method_not_allowed", 0},
    [ST_RATE] = {429, "Too Many Requests", "rate_limit_error",
                 "rate_limit_exceeded", 10},
    [ST_QUEUED] = {429, "Too Many Requests", "rate_limit_error",
                   "queue_timeout", 10},
    [ST_BUSY] = {503, "Service Unavailable", "server_busy", NULL, 5},
    [ST_DRAINING] = {503, "Service Unavailable", "server_busy", NULL, 30},
    /* our caps on what a request may hold: nesting, nodes, bytes */
    [ST_LIMIT] = {400, "Bad Request", "invalid_request_error", NULL, 0},
    [ST_NOMEM] = {503, "Service Unavailable", "server_busy", NULL, 15},
    [ST_IO] = {500, "Internal Server Error", "server_error", NULL, 0},
    [ST_FORMAT] = {500, "Internal Server Error", "server_error", NULL, 0},
    [ST_UNSUPPORTED] = {400, "Bad Request", "invalid_request_error",
                        "unsupported_chat_format", 0},
    /* never seen by a client that is still there */
    [ST_CANCELLED] = {499, "Client Closed Request", "invalid_request_error",
                      NULL, 0},
    [ST_INTERNAL] = {500, "Internal Server Error", "server_error", NULL, 0},
};

const struct api_error *api_error_of(enum st st)
{
    if ((size_t)st >= sizeof(table) / sizeof(table[0]) || !table[st].http)
        return &table[ST_INTERNAL];
    return &table[st];
}

const char *http_reason(int status)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].http == status)
            return table[i].reason;
    BUG_ON(status != 204);
    return "No Content";
}

static void put_or_null(struct jw *w, const char *key, const char *s)
{
    if (s)
        jw_kstr(w, key, s);
    else
        jw_knull(w, key);
}

/* Above 499, `where` is a file or a tensor of ours, not a field. */
static bool has_field(const struct err *e)
{
    return api_error_of(e->st)->http < 500 && e->where[0];
}

void api_error_message(struct jw *w, const struct err *e)
{
    bool field = has_field(e);
    char text[sizeof(e->where) + sizeof(e->text) + 4];

    snprintf(text, sizeof(text), "%s%s%s", field ? e->where : "",
             field ? ": " : "",
             e->text[0] ? e->text : api_error_of(e->st)->reason);
    jw_kstr(w, "message", text);
}

void api_error_member(struct jw *w, const struct err *e)
{
    const struct api_error *a = api_error_of(e->st);

    jw_key(w, "error");
    jw_obj(w);
    api_error_message(w, e);
    jw_kstr(w, "type", a->type ? a->type : "server_error");
    put_or_null(w, "param", has_field(e) ? e->where : NULL);
    put_or_null(w, "code", a->code);
    jw_obj_end(w);
}

void api_error_json(struct buf *out, const struct err *e)
{
    struct jw *w = jw_new(out);

    jw_obj(w);
    api_error_member(w, e);
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
}

static const char *messages_type(const struct api_error *a)
{
    switch (a->http) {
    case 413:
        return "request_too_large";
    case 503:
        return "overloaded_error";
    case 500:
        return "api_error";
    }
    return a->type;
}

/* The package's own tool loop asks for a thread first, and goes on without one
 * where the refusal says so in its words (@anthropic-ai/sdk 1.14.0,
 * ThreadUnsupportedRequestErrorDetails). */
static void put_details(struct jw *w, const struct err *e)
{
    if (!has_field(e) || strcmp(e->where, "thread") != 0)
        return;
    jw_key(w, "details");
    jw_obj(w);
    jw_kstr(w, "error_code", "thread_unsupported_request");
    jw_obj_end(w);
}

void api_error_messages_json(struct buf *out, const struct err *e,
                             const char *request_id)
{
    struct jw *w = jw_new(out);

    jw_obj(w);
    jw_kstr(w, "type", "error");
    jw_key(w, "error");
    jw_obj(w);
    jw_kstr(w, "type", messages_type(api_error_of(e->st)));
    api_error_message(w, e);
    put_details(w, e);
    jw_obj_end(w);
    jw_kstr(w, "request_id", request_id);
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
}
