#include "api/route.h"

#include "api/handlers.h"

#define GET_BODY_MAX 65536 /* a GET's body is read and ignored */

#define ON_GET "GET, HEAD, OPTIONS"
#define ON_POST "POST, OPTIONS"

static const struct route routes[] = {
    {"POST", "/v1/chat/completions", ON_POST, AUTH_KEY, 0, "chat", "chatcmpl-",
     true, handle_chat},
    {"POST", "/v1/completions", ON_POST, AUTH_KEY, 0, "completions", "cmpl-",
     true, handle_completion},
    {"POST", "/v1/responses", ON_POST, AUTH_KEY, 0, "responses", "resp_",
     true, handle_responses},
    {"POST", "/v1/responses/input_tokens", ON_POST, AUTH_KEY, 0,
     "count_tokens", "req-", false, handle_input_tokens},
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

/* Length of a pattern's fixed part; n itself when there is no star. */
static size_t fixed_len(const char *pattern)
{
    size_t n = strlen(pattern);

    return n && pattern[n - 1] == '*' ? n - 1 : n;
}

static bool matches(const struct route *r, struct span path)
{
    size_t n = fixed_len(r->path);

    if (r->path[n] == '*')
        return path.n > n && memcmp(path.s, r->path, n) == 0;
    return span_is(path, r->path);
}

enum st route_find(const struct route **out, struct span path,
                   struct span method, struct err *e)
{
    *out = NULL;
    path = without_slashes(path);
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        const struct route *r = &routes[i];

        if (!matches(r, path))
            continue;
        *out = r;
        if (span_is(method, r->method) || span_is(method, "OPTIONS") ||
            (span_is(method, "HEAD") && strcmp(r->method, "GET") == 0))
            return ST_OK;
        return err_set(e, ST_METHOD, "", "this route accepts %s", r->allow);
    }
    return err_set(e, ST_NOT_FOUND, "", "there is no such route");
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
    size_t n = fixed_len(r->path);

    path = without_slashes(path);
    return (struct span){path.s + n, path.n - n};
}
