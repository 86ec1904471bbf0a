#include "api/route.h"

#include "api/handlers.h"

#define GET_BODY_MAX 65536 /* a GET's body is read and ignored */

#define ON_GET "GET, HEAD, OPTIONS"
#define ON_POST "POST, OPTIONS"
#define ON_GET_DELETE "GET, HEAD, DELETE, OPTIONS"

static const struct route routes[] = {
    {"POST", "/v1/chat/completions", ON_POST, AUTH_KEY, 0, "chat", "chatcmpl-",
     true, handle_chat},
    {"POST", "/v1/completions", ON_POST, AUTH_KEY, 0, "completions", "cmpl-",
     true, handle_completion},
    {"POST", "/v1/responses", ON_POST, AUTH_KEY, 0, "responses", "resp_",
     true, handle_responses},
    {"POST", "/v1/responses/input_tokens", ON_POST, AUTH_KEY, 0,
     "count_tokens", "req-", false, handle_input_tokens},
    {"POST", "/v1/responses/*/cancel", ON_POST, AUTH_KEY, GET_BODY_MAX,
     "responses", "req-", false, handle_response_cancel},
    {"GET", "/v1/responses/*/input_items", ON_GET, AUTH_KEY, GET_BODY_MAX,
     "responses", "req-", false, handle_response_items},
    {"GET", "/v1/responses/*", ON_GET_DELETE, AUTH_KEY, GET_BODY_MAX,
     "responses", "req-", false, handle_response_get},
    {"DELETE", "/v1/responses/*", ON_GET_DELETE, AUTH_KEY, GET_BODY_MAX,
     "responses", "req-", false, handle_response_delete},
    {"POST", "/v1/messages", ON_POST, AUTH_KEY, 0, "messages", "msg_",
     true, handle_messages},
    {"POST", "/v1/messages/count_tokens", ON_POST, AUTH_KEY, 0,
     "count_tokens", "req-", false, handle_count_tokens},
    {"GET", "/v1/models", ON_GET, AUTH_KEY, GET_BODY_MAX, "models", "req-",
     false, handle_models},
    {"GET", "/v1/models/*", ON_GET, AUTH_KEY, GET_BODY_MAX, "models", "req-",
     false, handle_model},
    {"GET", "/health", ON_GET, AUTH_OPEN, GET_BODY_MAX, "health", "req-",
     false, handle_health},
    {"GET", "/healthz", ON_GET, AUTH_OPEN, GET_BODY_MAX, "health", "req-",
     false, handle_health},
    {"GET", "/v1/health", ON_GET, AUTH_OPEN, GET_BODY_MAX, "health", "req-",
     false, handle_health},
    {"GET", "/metrics", ON_GET, AUTH_OPEN, GET_BODY_MAX, "metrics", "req-",
     false, handle_metrics},
    {"GET", "/metrics/up", ON_GET, AUTH_OPEN, GET_BODY_MAX, "metrics", "req-",
     false, handle_up},
    {"GET", "/v1/cache/stats", ON_GET, AUTH_OPEN, GET_BODY_MAX, "cache",
     "req-", false, handle_cache_stats},
    {"GET", "/v1/dashboard/metrics", ON_GET, AUTH_OPEN, GET_BODY_MAX,
     "metrics", "req-", false, handle_metrics},
    {"GET", "/v1/dashboard/live", ON_GET, AUTH_OPEN, GET_BODY_MAX,
     "dashboard", "req-", false, handle_live},
    {"GET", "/v1/dashboard/lanes", ON_GET, AUTH_OPEN, GET_BODY_MAX,
     "dashboard", "req-", false, handle_lanes},
};

static struct span without_slashes(struct span path)
{
    while (path.n > 1 && path.s[path.n - 1] == '/')
        path.n--;
    return path;
}

/* The bytes before the star, and behind it; without one *tail is NULL. */
static size_t fixed_len(const char *pattern, const char **tail)
{
    const char *star = strchr(pattern, '*');

    *tail = star ? star + 1 : NULL;
    return star ? (size_t)(star - pattern) : strlen(pattern);
}

static bool matches(const struct route *r, struct span path)
{
    const char *tail;
    size_t head = fixed_len(r->path, &tail), n;

    if (!tail)
        return span_is(path, r->path);
    n = strlen(tail);
    return path.n > head + n && memcmp(path.s, r->path, head) == 0 &&
           memcmp(path.s + path.n - n, tail, n) == 0 &&
           (!n || !memchr(path.s + head, '/', path.n - head - n));
}

static bool takes(const struct route *r, struct span method)
{
    return span_is(method, r->method) || span_is(method, "OPTIONS") ||
           (span_is(method, "HEAD") && strcmp(r->method, "GET") == 0);
}

enum st route_find(const struct route **out, struct span path,
                   struct span method, struct err *e)
{
    const struct route *end = routes + sizeof(routes) / sizeof(routes[0]);
    const struct route *first = routes, *r;

    *out = NULL;
    path = without_slashes(path);
    while (first < end && !matches(first, path))
        first++;
    if (first == end)
        return err_set(e, ST_NOT_FOUND, "", "there is no such route");
    for (r = first; r < end && !strcmp(r->path, first->path); r++)
        if (takes(r, method)) {
            *out = r;
            return ST_OK;
        }
    *out = first;
    return err_set(e, ST_METHOD, "", "this route accepts %s", first->allow);
}

enum route_style route_style(const struct route *r,
                             const struct http_req *req)
{
    static const char messages[] = "/v1/messages";
    size_t n = sizeof(messages) - 1;

    if (req->path.n >= n && memcmp(req->path.s, messages, n) == 0)
        return STYLE_MESSAGES;
    return req->anthropic_version.n && !(r && r->counted) ? STYLE_MESSAGES
                                                          : STYLE_OPENAI;
}

struct span route_rest(const struct route *r, struct span path)
{
    const char *tail;
    size_t head = fixed_len(r->path, &tail);

    path = without_slashes(path);
    return (struct span){path.s + head, path.n - head - strlen(tail)};
}
