/*
 * Routes, keys, limits, CORS, models and health: what is decided before (or
 * without) a generation.
 */
#include "api/context.h"
#include "api/cors.h"
#include "api/who.h"
#include "t/lib/apit.h"

static const char *const chat = "/v1/chat/completions";
static const char *const hello =
    "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

static void is_error(struct call *c, int status, const char *type,
                     const char *param, const char *code, const char *what)
{
    struct arena a;
    const struct json *v = call_json(c, &a), *e = json_get(v, "error");
    char id[64], row[64];

    is_int(call_status(c), status, "%s: %d", what, status);
    is_str(call_header(c, "X-Request-Id", id, sizeof(id)),
           row_get(c, "request_id", row, sizeof(row)),
           "%s: X-Request-Id names its row", what);
    ok(e && e->n == 4 && json_get(e, "message") && json_get(e, "param") &&
           json_get(e, "code"),
       "%s: the error object has its four keys", what);
    ok(json_str_is(json_get(e, "type"), type), "%s: type %s", what, type);
    if (param)
        ok(json_str_is(json_get(e, "param"), param), "%s: param %s", what,
           param);
    if (code)
        ok(json_str_is(json_get(e, "code"), code), "%s: code %s", what, code);
    arena_release(&a);
}

static void routes(struct apit *t)
{
    char h[128];
    struct call c;

    call_do(&c, t, "/v1/nothing", NULL);
    is_error(&c, 404, "not_found_error", NULL, NULL, "an unknown route");
    is_str(row_get(&c, "endpoint || ' ' || status || ' ' || finish_reason", h,
                   sizeof(h)),
           "other 404 refused", "it has a row");
    call_release(&c);

    call_start(&c, t, "GET", chat, NULL, NULL);
    is_error(&c, 405, "invalid_request_error", NULL, "method_not_allowed",
             "a wrong method");
    is_str(call_header(&c, "Allow", h, sizeof(h)), "POST, OPTIONS",
           "Allow says POST");
    call_release(&c);
    call_start(&c, t, "POST", "/v1/models", "{}", NULL);
    is_int(call_status(&c), 405, "POST to a list is 405");
    is_str(call_header(&c, "Allow", h, sizeof(h)), "GET, HEAD, OPTIONS",
           "Allow says GET, HEAD");
    ok(c.x.body_unread, "and its body is left unread");
    call_release(&c);
    call_start(&c, t, "OPTIONS", chat, NULL, NULL);
    is_int(call_status(&c), 204, "OPTIONS without a CORS origin");
    is_str(call_header(&c, "Access-Control-Allow-Methods", h, sizeof(h)), "",
           "is no preflight");
    call_release(&c);

    call_do(&c, t, "/v1/models/", NULL);
    is_int(call_status(&c), 200, "a trailing slash is ignored");
    call_release(&c);
    call_start(&c, t, "HEAD", chat, NULL, NULL);
    is_int(call_status(&c), 405, "HEAD of a route that takes POST");
    is_str(call_body(&c), "", "has no body either");
    call_release(&c);
    call_start(&c, t, "HEAD", "/v1/models", NULL, NULL);
    is_int(call_status(&c), 200, "HEAD follows GET");
    is_str(call_body(&c), "", "without a body");
    ok(strtol(call_header(&c, "Content-Length", h, sizeof(h)), NULL, 10) > 50,
       "with the length of GET");
    call_release(&c);
}

static void models(struct apit *t)
{
    struct call c;
    struct arena a;
    const struct json *v;

    call_do(&c, t, "/v1/models", NULL);
    v = call_json(&c, &a);
    ok(json_str_is(json_get(v, "object"), "list"), "models: a list");
    ok(json_str_is(json_at(v, "data.0.id"), "demo"), "models: the id");
    ok(json_str_is(json_at(v, "data.0.object"), "model"), "models: object");
    ok(json_str_is(json_at(v, "data.0.owned_by"), "penstock"),
       "models: owned_by");
    is_int(json_int(json_at(v, "data.0.created")), 1700000000,
           "models: created");
    is_int(json_int(json_at(v, "data.0.penstock.context")), 256,
           "models: the real shape");
    ok(json_str_is(json_at(v, "data.0.penstock.architecture"), "qwen3"),
       "models: the architecture");
    arena_release(&a);
    call_release(&c);

    call_do(&c, t, "/v1/models/d%65mo", NULL);
    v = call_json(&c, &a);
    ok(json_str_is(json_get(v, "id"), "demo"), "one model, %%XX decoded");
    arena_release(&a);
    call_release(&c);
    call_do(&c, t, "/v1/models/dem%6F", NULL);
    is_int(call_status(&c), 200, "the last character too");
    call_release(&c);
    call_do(&c, t, "/v1/models/gpt-9", NULL);
    is_error(&c, 404, "not_found_error", "model", "model_not_found",
             "an unknown model");
    call_release(&c);
    call_do(&c, t, chat, "{\"model\":\"\",\"messages\":[{\"role\":\"user\","
                         "\"content\":\"Hi\"}]}");
    is_int(call_status(&c), 200, "an empty name is the default model");
    call_release(&c);
    for (size_t i = 0; i < 3; i++) {
        static const char *const near[] = {"/v1/models/dem", "/v1/models/Demo",
                                           "/v1/models/demo2"};

        call_do(&c, t, near[i], NULL);
        is_int(call_status(&c), 404, "%s is another name", near[i]);
        call_release(&c);
    }
    call_do(&c, t, chat, "{\"model\":\"gpt-9\",\"messages\":[{\"role\":"
                         "\"user\",\"content\":\"Hi\"}]}");
    is_error(&c, 404, "not_found_error", "model", "model_not_found",
             "a chat with an unknown model");
    call_release(&c);
}

static void bodies(struct apit *t)
{
    struct call_opts big = {.declared = (1 << 20) + 1};
    struct err e;
    struct call c;

    big.declared--;
    call_start(&c, t, "POST", chat, hello, &big);
    call_finish(&c);
    is_int(call_status(&c), 200, "a declared length of exactly the cap");
    call_release(&c);
    for (int more = 0; more < 2; more++) {
        call_start(&c, t, "GET", "/v1/models", NULL,
                   &(struct call_opts){.declared = 65536u + (unsigned)more});
        is_int(call_status(&c), more ? 413 : 200,
               "a GET with a body of 64 KiB and %d bytes", more);
        call_release(&c);
    }
    big.declared++;
    call_start(&c, t, "POST", chat, hello, &big);
    is_error(&c, 413, "invalid_request_error", NULL, "request_too_large",
             "a declared length over the cap");
    ok(strncmp(c.out.p, "Status: 413 Content Too Large\r\n", 31) == 0,
       "413 has its reason");
    ok(c.x.body_unread, "its body is left unread");
    is_int(row_count(t, "status = 413 AND finish_reason = 'refused' AND "
                        "endpoint = 'chat'"), 1,
           "it has a row");
    call_release(&c);
    big.declared = 1 << 20;
    call_start(&c, t, "POST", chat, hello, &big);
    call_finish(&c);
    is_int(call_status(&c), 200, "the cap itself is none too many");
    call_release(&c);
    call_do(&c, t, chat, "{\"messages\":");
    is_error(&c, 400, "invalid_request_error", NULL, NULL, "broken JSON");
    call_release(&c);
    call_do(&c, t, chat, "{\"messages\":[]}");
    is_error(&c, 400, "invalid_request_error", "messages", NULL,
             "no messages");
    call_release(&c);

    call_start(&c, t, "POST", "/v1/none", NULL, NULL);
    call_release(&c);
    memset(&c, 0, sizeof(c));
    buf_init(&c.out, BUF_ANSWER);
    exchange_init(&c.x, t->api, 1 << 20);
    c.x.req.method = (struct span){"POST", 4};
    c.x.req.path = (struct span){chat, strlen(chat)};
    c.x.req.local = true;
    api_head(&c.x, &c.body_cap);
    is_int(c.body_cap, 1 << 20, "the cap of a body without a length");
    err_set(&e, ST_INVALID, "", "the body is shorter than declared");
    api_body_error(&c.x, &e);
    is_int(c.x.status, 400, "a short body is 400");
    exchange_release(&c.x);
    exchange_init(&c.x, t->api, 1 << 20);
    api_body_error(&c.x, &e);
    is_int(c.x.status, 400, "broken parameters are 400");
    exchange_release(&c.x);
    buf_release(&c.out);
}

static void keys(struct apit *t)
{
    struct call_opts remote = {.remote = true}, with = {.remote = true};
    struct call_opts big = {.remote = true, .declared = 1 << 30};
    char key[KEY_TEXT_MAX], h[128];
    struct db *db;
    struct call c;
    struct err e;

    call_start(&c, t, "GET", "/v1/models", NULL, &remote);
    is_error(&c, 401, "authentication_error", NULL, "invalid_api_key",
             "no keys, not local");
    is_str(call_header(&c, "WWW-Authenticate", h, sizeof(h)),
           "Bearer realm=\"penstock\"", "401 has WWW-Authenticate");
    call_release(&c);
    call_start(&c, t, "POST", chat, hello, &big);
    is_int(call_status(&c), 401, "nobody is told of limits before the key");
    call_release(&c);
    call_start(&c, t, "GET", "/v1/nothing", NULL, &remote);
    is_int(call_status(&c), 404, "where there is nothing no key is asked for");
    call_release(&c);
    call_start(&c, t, "GET", "/v1/models", NULL,
               &(struct call_opts){.key = "anything"});
    is_int(call_status(&c), 200, "no keys, local: any token is accepted");
    call_release(&c);

    ok(!db_open(&db, t->db, DB_WRITE, &e) &&
           !keys_add(db, "k1", NULL, key, &e),
       "a key is made");
    db_close(db);
    keys_refresh(t->keys);
    call_do(&c, t, "/v1/models", NULL);
    is_int(call_status(&c), 401, "a key exists: local requests need it too");
    call_release(&c);
    with.key = key;
    call_start(&c, t, "GET", "/v1/models", NULL, &with);
    is_int(call_status(&c), 200, "with the key: 200");
    call_release(&c);
    call_start(&c, t, "POST", chat, hello, &with);
    call_finish(&c);
    is_str(row_get(&c, "key_id", h, sizeof(h)), "1", "its row has the key");
    is_str(row_get(&c, "client_id LIKE 'k:____________'", h, sizeof(h)), "1",
           "and an id that is no key");
    call_release(&c);
    ok(!db_open(&db, t->db, DB_WRITE, &e) &&
           !keys_add(db, "k2", NULL, key, &e),
       "another key");
    db_close(db);
    keys_refresh(t->keys);
    call_start(&c, t, "POST", chat, hello, &with);
    call_finish(&c);
    is_str(row_get(&c, "key_id", h, sizeof(h)), "2", "has rows of its own");
    call_release(&c);
    with.key = "pk-wrong";
    call_start(&c, t, "POST", chat, hello, &with);
    is_error(&c, 401, "authentication_error", NULL, "invalid_api_key",
             "a wrong key");
    ok(c.x.body_unread, "its body is left unread");
    is_str(row_get(&c, "endpoint || ' ' || status || ' ' || finish_reason || "
                       "' ' || error_type", h, sizeof(h)),
           "chat 401 refused auth", "it has a row");
    call_release(&c);

    call_do(&c, t, "/health", NULL);
    ok(strstr(call_body(&c), "\"running\":0"),
       "health is complete for a local client without a key");
    call_release(&c);
    call_start(&c, t, "GET", "/health", NULL, &remote);
    is_int(call_status(&c), 200, "health needs no key");
    is_str(call_body(&c), "{\"status\":\"ok\"}\n", "and is short");
    call_release(&c);
    with.key = key;
    call_start(&c, t, "GET", "/v1/health", NULL, &with);
    ok(strstr(call_body(&c), "\"wal_bytes\":") &&
           strstr(call_body(&c), "\"running\":0"),
       "with a key it is complete");
    call_release(&c);
}

/* docs/ledger.md, client_kind */
static void kinds(struct apit *t)
{
    static const char *const want[][2] = {
        {"curl/7.88.1", "curl"},
        {"OpenAI/Python 2.0.0", "openai-sdk"},
        {"openai/js 4.1", "openai-sdk"},
        {"Mozilla/5.0 Open-WebUI/0.6", "open-webui"},
        {"Python/3.11 aiohttp/3.9", "open-webui"},
        {"Anthropic/JS 1.14.0", "anthropic-sdk"},
        {"AsyncAnthropic/Python 0.80.0", "anthropic-sdk"},
        {"codex_exec/0.171.0 (Debian 13.0.0; x86_64)", "codex"},
        {"claude-cli/2.1.197 (external, sdk-cli)", "claude-code"},
        {"opencode/1.0", "opencode"},
        {"hermes-agent/2", "hermes"},
        {"penstock-dashboard", "dashboard"},
        {"my curl/1", "other"},
        {"", "other"},
    };
    struct call c;
    char h[64];

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        call_start(&c, t, "POST", chat, "{}",
                   &(struct call_opts){.user_agent = want[i][0]});
        is_str(row_get(&c, "client_kind", h, sizeof(h)), want[i][1],
               "kind of '%s'", want[i][0]);
        call_release(&c);
    }
}

/* What no user agent says; the token (RFC 9110, 11.1: the scheme is a word in
 * any case). */
static void who(void)
{
    static const struct {
        const char *agent, *client, *referer, *kind;
    } kinds[] = {
        {"Mozilla/5.0", "", "https://x.example/dashboard/", "dashboard"},
        {"Mozilla/5.0", "dashboard", "", "dashboard"},
        {"Mozilla/5.0", "Dashboard 2", "https://x.example/board", "other"},
        {"curl/8", "dashboard", "", "dashboard"},
    };
    static const struct {
        const char *header, *token;
    } tokens[] = {
        {"Bearer pk-1", "pk-1"}, {"bearer pk-1", "pk-1"},
        {"BEARER  pk-1 ", "pk-1"}, {"Bearer ", ""}, {"Bearer", ""},
        {"Basic pk-1", ""}, {"pk-1", ""}, {"", ""},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct http_req req = {
            .user_agent = {kinds[i].agent, strlen(kinds[i].agent)},
            .client = {kinds[i].client, strlen(kinds[i].client)},
            .referer = {kinds[i].referer, strlen(kinds[i].referer)},
        };

        is_str(who_kind(&req), kinds[i].kind, "kind of '%s' '%s' '%s'",
               kinds[i].agent, kinds[i].client, kinds[i].referer);
    }
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
        struct http_req req = {
            .authorization = {tokens[i].header, strlen(tokens[i].header)}};

        ok(span_is(who_token(&req), tokens[i].token), "the token of '%s'",
           tokens[i].header);
    }
}

static void preflight(struct apit *t)
{
    struct call_opts o = {.origin = "https://app.example", .remote = true};
    char h[128], names[512];
    struct call c;

    call_start(&c, t, "OPTIONS", chat, NULL, &o);
    is_int(call_status(&c), 204, "case C42: a preflight needs no key");
    is_str(call_header(&c, "Access-Control-Allow-Origin", h, sizeof(h)),
           "https://app.example", "case C42: allow-origin");
    ok(strstr(call_header(&c, "Access-Control-Allow-Methods", h, sizeof(h)),
              "POST"),
       "case C42: methods");
    ok(strstr(call_header(&c, "Access-Control-Allow-Headers", h, sizeof(h)),
              "authorization"),
       "case C42: headers");
    is_str(call_header(&c, "Access-Control-Max-Age", h, sizeof(h)), "7200",
           "case C42: and for how long");
    call_release(&c);
    call_start(&c, t, "POST", chat, hello, &o);
    is_int(call_status(&c), 401, "case C42: the request itself needs one");
    is_str(call_header(&c, "Access-Control-Allow-Origin", h, sizeof(h)),
           "https://app.example", "case C42: errors can be read");
    call_release(&c);
    o.remote = false;
    call_start(&c, t, "POST", chat,
               "{\"stream\":true,\"messages\":[{\"role\":\"user\","
               "\"content\":\"Hi\"}]}", &o);
    call_finish(&c);
    is_str(call_header(&c, "Access-Control-Allow-Origin", h, sizeof(h)),
           "https://app.example", "case C42: streams can be read");
    is_str(call_header(&c, "Access-Control-Expose-Headers", names,
                       sizeof(names)),
           "X-Request-Id, request-id, Retry-After, X-Engine-Stop, "
           "X-Skipped-Tools, "
           "x-ratelimit-limit-requests, x-ratelimit-remaining-requests, "
           "x-ratelimit-reset-requests, x-ratelimit-limit-tokens, "
           "x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, "
           "x-ratelimit-limit-tokens-day, x-ratelimit-remaining-tokens-day, "
           "x-ratelimit-reset-tokens-day, x-ratelimit-limit-concurrent, "
           "x-ratelimit-remaining-concurrent, x-should-retry",
           "case C42: and the headers of our own");
    call_release(&c);
    o.origin = "https://other.example";
    call_start(&c, t, "OPTIONS", chat, NULL, &o);
    is_str(call_header(&c, "Access-Control-Allow-Methods", h, sizeof(h)), "",
           "another origin is not allowed");
    is_str(call_header(&c, "Access-Control-Allow-Origin", h, sizeof(h)), "",
           "and not told of others");
    is_str(call_header(&c, "Vary", h, sizeof(h)), "Origin",
           "but caches are told");
    call_release(&c);
}

static void origins(void)
{
    static const struct {
        const char *list, *origin, *allow;
    } want[] = {
        {NULL, "https://a.example", ""},
        {"*", "https://a.example", "*"},
        {" * ", "", "*"},
        {"https://a.example", "https://a.example", "https://a.example"},
        {"https://a.example", "https://A.Example", "https://a.example"},
        {"https://a.example", "http://a.example", ""},
        {"https://a.example", "https://a.example:8443", ""},
        {"https://a.example", "https://a.example.org", ""},
        {"https://a.example", "https://b.a.example", ""},
        {"https://a.example", "https://a.example/", ""},
        {"https://a.example", "https://a.exampl", ""},
        {"https://a.example", "", ""},
        {"https://a.example", "null", ""},
        {"https://a.example,http://[::1]:3000", "http://[::1]:3000",
         "http://[::1]:3000"},
    };
    static const struct {
        const char *names;
        bool fine;
    } names[] = {
        {"authorization,content-type", true},
        {"x-a , x-b", true},
        {"", false},
        {",", false},
        {"a,,b", false},
        {"a,", false},
        {"a b", false},
        {"a: b", false},
        {"a\rb", false},
        {"a\r", false},
        {"a\r, b", false},
        {"a\n", false},
        {"a\xc3\xa9", false},
    };
    char big[CORS_HEADERS_MAX + 2];

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct span o = {want[i].origin, strlen(want[i].origin)};

        ok(span_is(cors_match(want[i].list, o), want[i].allow),
           "%s for '%s': '%s'", want[i].list ? want[i].list : "none",
           want[i].origin, want[i].allow);
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct span n = {names[i].names, strlen(names[i].names)};

        ok(cors_names_ok(n) == names[i].fine, "header names, list %zu", i);
    }
    memset(big, 'a', sizeof(big));
    ok(cors_names_ok((struct span){big, CORS_HEADERS_MAX}), "the longest");
    ok(!cors_names_ok((struct span){big, CORS_HEADERS_MAX + 1}), "too long");
}

/* What the setting may hold; fcgi_conf.c has the words of the refusals. */
static void origin_lists(void)
{
    static const struct {
        const char *list;
        bool fine;
    } rows[] = {
        {"*", true},
        {"http://a.example", true},
        {"http://a.example:8080", true},
        {"http://a.example:80", false},
        {"HTTP://a.example:80", false},
        {"http://a.example:443", true},
        {"https://a.example:80", true},
        {"https://a.example:443", false},
        {"https://a.example:65535", true},
        {"https://a.example:65536", false},
        {"chrome-extension://abc", true},
        {"1http://a.example", false},
        {"-http://a.example", false},
        {"http:/a.example", false},
        {"http://[::1]", true},
        {"http://[::1", false},
        {"http://[]", false},
        {"http://a.example?", false},
    };
    struct err e;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ok(!cors_check(rows[i].list, &e) == rows[i].fine, "%s: %s",
           rows[i].list, rows[i].fine ? "a setting" : "no setting");
}

static void ids(struct apit *t)
{
    char id[40], last[40] = "";
    size_t bad = 0;

    for (int i = 0; i < 1000; i++) {
        api_new_id(t->api, "req-", id);
        bad += strlen(id) != 28 || strspn(id + 4, "0123456789abcdef") != 24 ||
               !strcmp(id, last);
        memcpy(last, id, sizeof(last));
    }
    is_int((intmax_t)bad, 0, "ids are 24 digits, leading zeros too");
}

/* A daemon with settings that cannot be does not start. */
static void settings(struct apit *t)
{
    struct api_config c = {.catalog = &t->catalog, .default_max_tokens = 9};
    struct err e;
    struct api *a = NULL;

    is_int(api_new(&a, &c, &e), ST_OK, "few settings");
    api_free(a);
    c.pattern_max = 2;
    c.pattern_min = 3;
    c.pattern_count = 4;
    ok(api_new(&a, &c, &e) && !a, "pattern-stop whose blocks are none");
    c.pattern_max = 0;
    c.default_max_tokens = 0;
    is_int(api_new(&a, &c, &e), ST_USAGE, "no room for any answer");
    is_str(e.where, "default-max-tokens", "by its name");
    c.default_max_tokens = 9;
    c.reasoning_format = "x";
    is_int(api_new(&a, &c, &e), ST_USAGE, "an unknown form");
    is_str(e.where, "reasoning-format", "by its name, too");
}

static void draining(struct apit *t)
{
    char h[128];
    struct call c;

    api_drain(t->api);
    call_do(&c, t, chat, hello);
    is_error(&c, 503, "server_busy", NULL, NULL, "draining");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "30",
           "with Retry-After");
    call_release(&c);
    call_start(&c, t, "GET", "/healthz", NULL,
               &(struct call_opts){.remote = true});
    is_int(call_status(&c), 503, "health says so");
    is_str(call_body(&c), "{\"status\":\"draining\"}\n", "in words");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "30",
           "and when to look again");
    call_release(&c);
}

static void with_cors(struct api_config *c)
{
    c->cors_origin = "https://a.example, https://app.example";
}

int main(void)
{
    struct scripted_config gen = {.fail_after = -1, .context = 256};
    const char *why;
    struct apit t;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    origins();
    origin_lists();
    who();
    ids(&t);
    settings(&t);
    routes(&t);
    models(&t);
    bodies(&t);
    kinds(&t);
    keys(&t);
    apit_close(&t);
    apit_open(&t, &gen, with_cors, &why);
    preflight(&t);
    draining(&t);
    apit_close(&t);
    return done();
}
