/*
 * What the clients of /v1/messages find in errors, headers and the list of
 * models: ErrorResponse, ModelInfo and Page of @anthropic-ai/sdk 1.14.0. And
 * their key, which comes in a header of its own.
 */
#include "api/error.h"
#include "api/who.h"
#include "t/lib/apit.h"

static const char *const messages = "/v1/messages";

/* `text`: in the message. */
static void is_error(const struct call *c, int status, const char *type,
                     const char *text, const char *what)
{
    struct arena a;
    const struct json *v = call_json(c, &a), *e = json_get(v, "error");
    const struct json *said = json_get(e, "message");
    char id[64], other[64];

    is_int(call_status(c), status, "%s: %d", what, status);
    ok(v && v->n == 3 && e && e->n == 2, "%s: an error and no more", what);
    ok(json_str_is(json_get(v, "type"), "error"), "%s: it says so", what);
    ok(json_str_is(json_get(e, "type"), type), "%s: %s", what, type);
    ok(said && said->type == JSON_STR && strstr(said->str.s, text),
       "%s: why", what);
    call_header(c, "request-id", id, sizeof(id));
    ok(json_str_is(json_get(v, "request_id"), id), "%s: its id", what);
    is_str(call_header(c, "X-Request-Id", other, sizeof(other)), id,
           "%s: which is ours", what);
    arena_release(&a);
}

static void errors(struct apit *t)
{
    const struct call_opts big = {.declared = (1 << 20) + 1};
    char h[64];
    struct call c;

    call_do(&c, t, messages, "{\"max_tokens\":");
    is_error(&c, 400, "invalid_request_error", "", "broken JSON");
    call_release(&c);
    call_do(&c, t, messages, NULL);
    is_error(&c, 405, "invalid_request_error", "POST", "GET");
    is_str(call_header(&c, "Allow", h, sizeof(h)), "POST, OPTIONS",
           "GET: Allow");
    call_release(&c);
    call_start(&c, t, "POST", messages, "{}", &big);
    is_error(&c, 413, "request_too_large", "1048576", "a large body");
    ok(c.x.body_unread, "a large body: left unread");
    call_release(&c);
    call_do(&c, t, "/v1/messages/batches", "{}");
    is_error(&c, 404, "not_found_error", "route", "what is not there");
    call_release(&c);
    call_start(&c, t, "GET", "/v1/files", NULL,
               &(struct call_opts){.version = "2023-06-01"});
    is_error(&c, 404, "not_found_error", "route",
             "what is nowhere, by the header");
    call_release(&c);
    call_start(&c, t, "POST", "/v1/chat/completions", "{}",
               &(struct call_opts){.version = "2023-06-01"});
    ok(strstr(call_body(&c), "\"param\":"), "chat keeps its own errors");
    call_release(&c);
}

/* Every status that a client may see. */
static void types(void)
{
    static const struct {
        enum st st;
        const char *type;
    } want[] = {
        {ST_INVALID, "invalid_request_error"},
        {ST_CONTEXT, "invalid_request_error"},
        {ST_LIMIT, "invalid_request_error"},
        {ST_UNSUPPORTED, "invalid_request_error"},
        {ST_METHOD, "invalid_request_error"},
        {ST_TOO_LARGE, "request_too_large"},
        {ST_AUTH, "authentication_error"},
        {ST_NOT_FOUND, "not_found_error"},
        {ST_NO_MODEL, "not_found_error"},
        {ST_RATE, "rate_limit_error"},
        {ST_QUEUED, "rate_limit_error"},
        {ST_BUSY, "overloaded_error"},
        {ST_DRAINING, "overloaded_error"},
        {ST_NOMEM, "overloaded_error"},
        {ST_IO, "api_error"},
        {ST_FORMAT, "api_error"},
        {ST_INTERNAL, "api_error"},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct buf out;
        char text[128];
        struct err e;

        err_set(&e, want[i].st, "a.b", "no");
        snprintf(text, sizeof(text),
                 "{\"type\":\"error\",\"error\":{\"type\":\"%s\","
                 "\"message\":\"%sno\"},\"request_id\":\"req-1\"}",
                 want[i].type,
                 api_error_of(want[i].st)->http < 500 ? "a.b: " : "");
        buf_init(&out, BUF_MESSAGE);
        api_error_messages_json(&out, &e, "req-1");
        buf_putc(&out, '\0');
        is_str(out.p, text, "%s", st_name(want[i].st));
        buf_release(&out);
    }
}

/* What the package's tool loop looks for; no other refusal has it. */
static void threads(void)
{
    struct buf out;
    struct err e;

    err_set(&e, ST_INVALID, "thread", "no");
    buf_init(&out, BUF_MESSAGE);
    api_error_messages_json(&out, &e, "req-1");
    buf_putc(&out, '\0');
    is_str(out.p,
           "{\"type\":\"error\",\"error\":{\"type\":"
           "\"invalid_request_error\",\"message\":\"thread: no\","
           "\"details\":{\"error_code\":\"thread_unsupported_request\"}},"
           "\"request_id\":\"req-1\"}",
           "a refused thread says so in the package's word");
    buf_release(&out);
}

static void tokens(void)
{
    static const struct {
        const char *bearer, *key, *token;
    } want[] = {
        {"", "pk-2", "pk-2"},
        {"", " pk-2 ", "pk-2"},
        {"Bearer pk-1", "pk-2", "pk-1"},
        {"Bearer ", "pk-2", "pk-2"},
        {"Basic pk-1", "pk-2", "pk-2"},
        {"", "", ""},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        const struct http_req req = {
            .authorization = {want[i].bearer, strlen(want[i].bearer)},
            .api_key = {want[i].key, strlen(want[i].key)},
        };

        ok(span_is(who_token(&req), want[i].token),
           "the token of '%s' and '%s'", want[i].bearer, want[i].key);
    }
}

static void is_model(const struct json *m, const char *what)
{
    static const char *const nulls[] = {"capabilities", "deprecated_at",
                                        "line", "retires_at"};

    ok(m && m->n == 11, "%s: every member of ModelInfo", what);
    ok(json_str_is(json_get(m, "id"), "demo") &&
           json_str_is(json_get(m, "display_name"), "demo") &&
           json_str_is(json_get(m, "type"), "model") &&
           json_str_is(json_get(m, "lifecycle"), "active"),
       "%s: its words", what);
    ok(json_str_is(json_get(m, "created_at"), "2023-11-14T22:13:20Z"),
       "%s: since when", what); /* 1700000000 */
    ok(json_int(json_get(m, "max_input_tokens")) == 256 &&
           json_int(json_get(m, "max_tokens")) == 256,
       "%s: its context", what);
    for (size_t i = 0; i < 4; i++)
        ok(json_get(m, nulls[i]) && json_get(m, nulls[i])->type == JSON_NULL,
           "%s: %s is null", what, nulls[i]);
}

static void models(struct apit *t)
{
    const struct call_opts with = {.version = "2023-06-01"};
    const struct json *v;
    struct arena a;
    struct call c;

    call_start(&c, t, "GET", "/v1/models?limit=1000", NULL, &with);
    v = call_json(&c, &a);
    ok(v && v->n == 4, "models: a Page");
    is_model(json_at(v, "data.0"), "models");
    ok(json_str_is(json_get(v, "first_id"), "demo") &&
           json_str_is(json_get(v, "last_id"), "demo"),
       "models: first and last");
    ok(json_get(v, "has_more") && json_get(v, "has_more")->type == JSON_BOOL &&
           !json_get(v, "has_more")->boolean,
       "models: there are no more");
    arena_release(&a);
    call_release(&c);
    call_start(&c, t, "GET", "/v1/models/demo", NULL, &with);
    is_model(call_json(&c, &a), "one model");
    arena_release(&a);
    call_release(&c);
    call_start(&c, t, "GET", "/v1/models/other", NULL, &with);
    is_error(&c, 404, "not_found_error", "model: ", "an unknown model");
    call_release(&c);
}

static void keys(struct apit *t)
{
    struct call_opts with = {.remote = true};
    char key[KEY_TEXT_MAX];
    struct db *db;
    struct call c;
    struct err e;

    call_start(&c, t, "POST", messages, "{}", &with);
    is_error(&c, 401, "authentication_error", "local", "no keys");
    call_release(&c);
    ok(!db_open(&db, t->db, DB_WRITE, &e) &&
           !keys_add(db, "k1", NULL, key, &e),
       "a key is made");
    db_close(db);
    keys_refresh(t->keys);
    call_start(&c, t, "POST", messages, "{}", &with);
    is_error(&c, 401, "authentication_error", "X-Api-Key: KEY", "no key");
    call_release(&c);
    with.api_key = "pk-wrong";
    call_start(&c, t, "POST", messages, "{}", &with);
    is_error(&c, 401, "authentication_error", "not known", "a wrong key");
    call_release(&c);
    with.api_key = key;
    call_start(&c, t, "GET", "/v1/models", NULL, &with);
    is_int(call_status(&c), 200, "the key in X-Api-Key, on any route");
    call_release(&c);
}

static void draining(struct apit *t)
{
    const struct call_opts with = {.api_key = "k", .version = "2023-06-01"};
    char h[32];
    struct call c;

    api_drain(t->api);
    call_start(&c, t, "POST", messages, "{}", &with);
    is_error(&c, 503, "overloaded_error", "down", "draining");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "30",
           "draining: when to come back");
    call_release(&c);
}

int main(void)
{
    const struct scripted_config gen = {.fail_after = -1, .context = 256};
    const char *why;
    struct apit t;

    types();
    threads();
    tokens();
    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    errors(&t);
    models(&t);
    keys(&t);
    apit_close(&t);
    apit_with(&gen, NULL, draining);
    return done();
}
