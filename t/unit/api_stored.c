/*
 * Stored responses over the api: what is kept and what is not, GET, DELETE,
 * cancel, input_items, who sees what, what a later request goes on from.
 */
#include "api/context.h"
#include "api/hold.h"
#include "api/run.h"
#include "api/stored.h"
#include "base/thread.h"
#include "t/lib/apit.h"

#define R "/v1/responses"
static const char *const hello = "{\"input\":\"Hello canary\"}";

static void keep(struct api_config *c)
{
    c->responses_keep = 30;
}

static void keep_none(struct api_config *c)
{
    c->responses_keep = 0;
}

static void keep_small(struct api_config *c)
{
    c->responses_keep = 30;
    c->body_max = 600;
}

static void keep_some(struct api_config *c)
{
    c->responses_keep = 30;
    c->body_max = 1 << 16;
}

/* The id of the response, from its head. */
static const char *id_of(const struct call *c, char id[64])
{
    return call_header(c, "X-Request-Id", id, 64);
}

/* Create one and take its id. */
static void create(struct apit *t, const char *body, const char *key,
                   char id[64])
{
    struct call_opts o = {.key = key};
    struct call c;

    call_start(&c, t, "POST", R, body, &o);
    call_finish(&c);
    is_int(call_status(&c), 200, "created: %.40s", body);
    id_of(&c, id);
    call_release(&c);
}

/* One request for a path with an id in it. */
static void ask(struct call *c, struct apit *t, const char *method,
                const char *id, const char *tail, const char *key)
{
    struct call_opts o = {.key = key};
    char path[256];

    snprintf(path, sizeof(path), R "/%s%s", id, tail);
    call_start(c, t, method, path, !strcmp(method, "POST") ? "" : NULL, &o);
    call_finish(c);
}

static int status_of(struct apit *t, const char *method, const char *id,
                     const char *tail, const char *key)
{
    struct call c;
    int status;

    ask(&c, t, method, id, tail, key);
    status = call_status(&c);
    call_release(&c);
    return status;
}

/* The word at `path` of the object that GET answers. */
static const char *member(struct apit *t, const char *id, const char *path,
                          char out[128])
{
    const struct json *v;
    struct arena a;
    struct call c;

    ask(&c, t, "GET", id, "", NULL);
    v = json_at(call_json(&c, &a), path);
    snprintf(out, 128, "%.*s", v && v->type == JSON_STR ? (int)v->str.n : 1,
             v && v->type == JSON_STR ? v->str.s : v ? "?" : "-");
    arena_release(&a);
    call_release(&c);
    return out;
}

static void test_whole(struct apit *t)
{
    char id[64], word[128];
    struct call c, g;

    call_do(&c, t, R, hello);
    is_int(call_status(&c), 200, "a response");
    id_of(&c, id);
    ok(strstr(call_body(&c), "\"store\":true") != NULL, "says it is kept");
    ask(&g, t, "GET", id, "", NULL);
    is_int(call_status(&g), 200, "GET finds it at once");
    is_str(call_body(&g), call_body(&c), "and gives the same object");
    call_release(&g);
    ask(&g, t, "HEAD", id, "", NULL);
    is_int(call_status(&g), 200, "HEAD too");
    is_str(call_body(&g), "", "without it");
    call_release(&g);
    call_release(&c);
    is_str(member(t, id, "status", word), "completed", "its status");
    is_int(status_of(t, "GET", id, "/", NULL), 200, "with a slash");
    is_int(status_of(t, "GET", id, "?stream=true", NULL), 400, "no stream");
    is_int(status_of(t, "GET", id, "?stream=false", NULL), 200, "as it is");
    is_int(status_of(t, "POST", id, "/cancel", NULL), 200,
           "cancel of one that is over");
    is_str(member(t, id, "status", word), "completed", "changes nothing");
    ask(&g, t, "DELETE", id, "", NULL);
    is_int(call_status(&g), 200, "DELETE");
    ok(strstr(call_body(&g), "\"object\":\"response\",\"deleted\":true") !=
           NULL && strstr(call_body(&g), id),
       "says what it did");
    call_release(&g);
    is_int(status_of(t, "GET", id, "", NULL), 404, "it is gone");
    is_int(status_of(t, "DELETE", id, "", NULL), 404, "once");
    is_int(status_of(t, "POST", id, "/cancel", NULL), 404, "not to cancel");
    is_int(status_of(t, "GET", id, "/input_items", NULL), 404, "no items");
    create(t, "{\"input\":\"Hi\",\"store\":false}", NULL, id);
    is_int(status_of(t, "GET", id, "", NULL), 404, "store: false is kept to");
}

/* Everything that is not one's own is one and the same. */
static void test_unknown(struct apit *t)
{
    static const char *const ids[] = {
        "resp_000000000000000000000000", "resp_0", "resp_", "x", "%00",
        "resp_00000000000000000000000G", "resp_000000000000000000000000/a",
        "resp_000000000000000000000000%00", "..",
        "resp_0000000000000000000000000", "' OR 1=1 --",
    };
    char said[1000] = "";
    struct call c;

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        ask(&c, t, "GET", ids[i], "", NULL);
        is_int(call_status(&c), 404, "%s", ids[i]);
        if (!i)
            snprintf(said, sizeof(said), "%s", call_body(&c));
        is_str(call_body(&c), said, "in the same words");
        call_release(&c);
        is_int(status_of(t, "DELETE", ids[i], "", NULL), 404, "DELETE");
    }
    is_int(status_of(t, "PUT", ids[0], "", NULL), 405, "PUT");
    is_int(status_of(t, "GET", ids[0], "/cancel", NULL), 405, "GET cancel");
}

static void test_methods(struct apit *t)
{
    char h[128];
    struct call c;

    ask(&c, t, "PUT", "resp_000000000000000000000000", "", NULL);
    is_str(call_header(&c, "Allow", h, sizeof(h)),
           "GET, HEAD, DELETE, OPTIONS", "Allow lists all");
    call_release(&c);
    ask(&c, t, "OPTIONS", "resp_000000000000000000000000", "", NULL);
    is_int(call_status(&c), 204, "OPTIONS");
    is_str(call_header(&c, "Allow", h, sizeof(h)),
           "GET, HEAD, DELETE, OPTIONS", "the same");
    call_release(&c);
    ask(&c, t, "OPTIONS", "resp_000000000000000000000000", "/cancel", NULL);
    is_str(call_header(&c, "Allow", h, sizeof(h)), "POST, OPTIONS",
           "of cancel");
    call_release(&c);
}

static void test_keys(struct apit *t)
{
    char ann[KEY_TEXT_MAX], bob[KEY_TEXT_MAX], id[64], none[64], body[300];
    struct call_opts o;
    struct call c;

    create(t, hello, NULL, none);
    apit_key(t, "ann", ann);
    apit_key(t, "bob", bob);
    create(t, hello, ann, id);
    is_int(status_of(t, "GET", id, "", ann), 200, "one's own");
    is_int(status_of(t, "GET", id, "", bob), 404, "not another's");
    is_int(status_of(t, "GET", id, "/input_items", bob), 404, "nor its items");
    is_int(status_of(t, "POST", id, "/cancel", bob), 404, "nor to cancel");
    is_int(status_of(t, "DELETE", id, "", bob), 404, "nor to delete");
    is_int(status_of(t, "GET", id, "", NULL), 401, "nor without a key");
    is_int(status_of(t, "GET", none, "", ann), 404,
           "what no key had is no key's");
    o = (struct call_opts){.key = bob};
    snprintf(body, sizeof(body),
             "{\"input\":\"Go on\",\"previous_response_id\":\"%s\"}", id);
    call_start(&c, t, "POST", R, body, &o);
    is_int(call_status(&c), 400, "nor to go on from");
    ok(strstr(call_body(&c), "previous_response_id") != NULL, "which is named");
    call_release(&c);
    create(t, body, ann, none);
    is_int(status_of(t, "GET", none, "", ann), 200, "the owner may");
    is_int(status_of(t, "DELETE", id, "", ann), 200, "and deletes");
    o = (struct call_opts){.key = ann};
    snprintf(body, sizeof(body),
             "{\"input\":\"Go on\",\"previous_response_id\":\"%s\"}", none);
    call_start(&c, t, "POST", R, body, &o);
    is_int(call_status(&c), 400, "a chain that is broken");
    ok(strstr(call_body(&c), "\"param\":\"previous_response_id\"") != NULL,
       "names the field");
    call_release(&c);
}

static void test_off(struct apit *t)
{
    char id[64], word[64];
    struct call c;

    call_do(&c, t, R, "{\"input\":\"Hello canary\",\"store\":true}");
    is_int(call_status(&c), 200, "store: true is taken");
    ok(strstr(call_body(&c), "\"store\":false") != NULL, "and not followed");
    id_of(&c, id);
    call_release(&c);
    is_int(status_of(t, "GET", id, "", NULL), 404, "nothing is there");
    call_do(&c, t, R,
            "{\"input\":\"Hi\",\"previous_response_id\":"
            "\"resp_000000000000000000000000\"}");
    is_int(call_status(&c), 400, "previous_response_id is refused");
    ok(strstr(call_body(&c), "responses-keep") != NULL, "naming the setting");
    is_int(row_count(t, "0 < (SELECT count(*) FROM response)"), 0,
           "the table is empty");
    is_str(row_get(&c, "endpoint", word, sizeof(word)), "responses",
           "the ledger has its row");
    call_release(&c);
}

static void test_items(struct apit *t)
{
    char id[64], tail[200], h[64], first[128] = "";
    struct arena a;
    const struct json *v;
    struct call c;
    int seen = 0;

    create(t,
           "{\"input\":[{\"role\":\"user\",\"content\":\"one\"},"
           "{\"role\":\"assistant\",\"content\":\"two\"},"
           "{\"type\":\"message\",\"role\":\"user\",\"id\":\"mine\","
           "\"content\":[{\"type\":\"input_text\",\"text\":\"three\"}]}]}",
           NULL, id);
    ask(&c, t, "GET", id, "/input_items", NULL);
    v = call_json(&c, &a);
    is_int(call_status(&c), 200, "items");
    ok(json_str_is(json_get(v, "object"), "list") &&
           json_get(v, "data")->n == 3 && !json_get(v, "has_more")->boolean,
       "a list of three");
    ok(json_str_is(json_at(v, "data.0.id"), "mine") &&
           json_str_is(json_get(v, "first_id"), "mine"),
       "the last comes first");
    ok(json_str_is(json_at(v, "data.1.content.0.type"), "output_text") &&
           json_str_is(json_at(v, "data.2.content.0.type"), "input_text") &&
           json_str_is(json_at(v, "data.2.content.0.text"), "one") &&
           json_str_is(json_at(v, "data.2.type"), "message"),
       "strings are parts, types are there");
    arena_release(&a);
    call_release(&c);
    snprintf(tail, sizeof(tail), "/input_items?order=asc&limit=1");
    for (bool more = true; more && seen < 5; seen++) { /* page by page */
        ask(&c, t, "GET", id, tail, NULL);
        v = call_json(&c, &a);
        more = json_get(v, "has_more") && json_get(v, "has_more")->boolean;
        ok(json_get(v, "data") && json_get(v, "data")->n == 1, "one of them");
        snprintf(h, sizeof(h), "%.*s", (int)json_get(v, "last_id")->str.n,
                 json_get(v, "last_id")->str.s);
        if (!first[0])
            snprintf(first, sizeof(first), "%s", h);
        snprintf(tail, sizeof(tail),
                 "/input_items?order=asc&limit=1&after=%s", h);
        arena_release(&a);
        call_release(&c);
    }
    is_int(seen, 3, "three pages");
    is_str(h, "mine", "in order");
    ok(!strncmp(first, "msg_", 4) && strlen(first) == 4 + 24 + 2,
       "an id of ours: %s", first);
    is_int(status_of(t, "GET", id, "/input_items?limit=0", NULL), 400, "0");
    is_int(status_of(t, "GET", id, "/input_items?limit=101", NULL), 400, "101");
    is_int(status_of(t, "GET", id, "/input_items?order=up", NULL), 400, "up");
    is_int(status_of(t, "GET", id, "/input_items?after=x", NULL), 400, "x");
    is_int(status_of(t, "GET", id, "/input_items?include%5B0%5D=a", NULL), 200,
           "include");
    snprintf(tail, sizeof(tail), "{\"input\":[{\"type\":\"item_reference\","
             "\"id\":\"%s\"},{\"role\":\"user\",\"content\":\"b\"}]}", first);
    create(t, tail, NULL, id);
    ask(&c, t, "GET", id, "/input_items?order=asc", NULL);
    ok(strstr(call_body(&c), "\"one\"") != NULL, "a reference is resolved");
    call_release(&c);
}

static void test_chain(struct apit *t)
{
    char id[64] = "", body[300], word[128], first[64] = "";
    struct call c;
    int64_t before = 0;

    for (int i = 0; i < 4; i++) {
        struct arena a;
        int64_t tokens;

        snprintf(body, sizeof(body), "{\"input\":\"Turn %d\"%s%s%s}", i,
                 i ? ",\"previous_response_id\":\"" : "", id, i ? "\"" : "");
        call_do(&c, t, R, body);
        is_int(call_status(&c), 200, "turn %d", i);
        tokens = json_int(json_at(call_json(&c, &a), "usage.input_tokens"));
        ok(tokens > before, "with a longer prompt");
        before = tokens;
        arena_release(&a);
        id_of(&c, id);
        if (!i)
            snprintf(first, sizeof(first), "%s", id);
        call_release(&c);
    }
    snprintf(word, sizeof(word), "%s", "");
    ok(strlen(member(t, id, "previous_response_id", word)) == 29,
       "it says from what");
    /* an item of an answer */
    snprintf(body, sizeof(body),
             "{\"input\":[{\"role\":\"user\",\"content\":\"a\"},"
             "{\"type\":\"item_reference\",\"id\":\"msg_%s00\"},"
             "{\"role\":\"user\",\"content\":\"b\"}]}", first + 5);
    create(t, body, NULL, id);
    snprintf(body, sizeof(body),
             "{\"input\":[{\"type\":\"item_reference\",\"id\":\"msg_%s07\"}]}",
             first + 5);
    call_do(&c, t, R, body);
    is_int(call_status(&c), 400, "an item that is not there");
    call_release(&c);
}

static void test_too_long(struct apit *t)
{
    char id[64], body[300];
    struct call c;
    int n = 0;

    create(t, "{\"input\":\"Hi\"}", NULL, id);
    for (n = 0; n < 10; n++) {
        snprintf(body, sizeof(body),
                 "{\"input\":\"Hi\",\"previous_response_id\":\"%s\"}", id);
        call_do(&c, t, R, body);
        if (call_status(&c) != 200)
            break;
        id_of(&c, id);
        call_release(&c);
    }
    is_int(call_status(&c), 400, "a chain over the cap of bodies");
    ok(strstr(call_body(&c), "previous_response_id") != NULL, "names it");
    call_release(&c);
}

/* n references to an item of a thousand bytes that no prompt shows; the status,
 * and the field that an error names. */
static int64_t name_item(struct apit *t, const char *item, size_t n,
                         char field[64])
{
    struct arena a;
    struct buf b;
    struct call c;
    const struct json *param;
    int64_t status;

    buf_init(&b, 1 << 20);
    buf_puts(&b, "{\"input\":[");
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "{\"type\":\"item_reference\",\"id\":\"%s\"},", item);
    buf_puts(&b, "{\"role\":\"user\",\"content\":\"Hi\"}]}");
    call_do(&c, t, R, b.p);
    buf_release(&b);
    status = call_status(&c);
    param = json_at(call_json(&c, &a), "error.param");
    snprintf(field, 64, "%.*s", param ? (int)param->str.n : 0,
             param && param->str.s ? param->str.s : "");
    arena_release(&a);
    call_release(&c);
    return status;
}

/* A reference is small, what it stands for is not: each one counts. And its
 * place is told by the id, exactly. */
static void test_references(struct apit *t)
{
    static const char *const wrong[] = {"i01", "i1", "i", "0", "g", "i0x",
                                        "ffffffffffffffffffff"};
    char id[64], item[128], field[64];
    struct buf b;

    buf_init(&b, 1 << 16);
    buf_puts(&b, "{\"input\":[{\"type\":\"web_search_call\",\"x\":\"");
    for (size_t i = 0; i < 1000; i++)
        buf_putc(&b, 'x');
    buf_puts(&b, "\"},{\"role\":\"user\",\"content\":\"Hi\"}]}");
    create(t, b.p, NULL, id);
    buf_release(&b);
    snprintf(item, sizeof(item), "item_%si0", id + 5);
    is_int(name_item(t, item, 20, field), 200, "twenty thousand bytes");
    is_int(name_item(t, item, 80, field), 400, "over the cap of bodies");
    is_str(field, "input", "names it");
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(item, sizeof(item), "item_%s%s", id + 5, wrong[i]);
        is_int(name_item(t, item, 1, field), 400, "none: %s", wrong[i]);
        is_str(field, "input[0].id", "names it");
    }
}

/* --- while it runs ------------------------------------------------------- */

static const char *const streamed =
    "{\"input\":\"Hello canary\",\"stream\":true}";

static void test_running(struct apit *t)
{
    char id[64], word[128], body[300];
    struct call c, d;

    call_start(&c, t, "POST", R, streamed, NULL);
    ok(call_until(&c, "response.output_text.delta", 5000), "it runs");
    id_of(&c, id);
    is_str(member(t, id, "status", word), "in_progress", "GET says so");
    snprintf(body, sizeof(body),
             "{\"input\":\"Hi\",\"previous_response_id\":\"%s\"}", id);
    call_do(&d, t, R, body);
    is_int(call_status(&d), 400, "nothing goes on from it yet");
    call_release(&d);
    call_start(&d, t, "POST", R, NULL, NULL);
    call_release(&d);
    snprintf(body, sizeof(body), R "/%s/cancel", id);
    call_start(&d, t, "POST", body, "", NULL);
    ok(d.state == X_MORE, "cancel waits for its end");
    call_finish(&c);
    call_finish(&d);
    is_int(call_status(&d), 200, "cancel");
    ok(strstr(call_body(&d), "\"status\":\"cancelled\"") != NULL,
       "answers the cancelled one");
    ok(strstr(call_body(&d), "\"text\":\"") != NULL, "with what was said");
    ok(strstr(call_body(&c), "event: response.incomplete") != NULL &&
           strstr(call_body(&c), "\"status\":\"cancelled\"") != NULL,
       "the stream ends with that");
    is_str(row_get(&c, "state || ' ' || finish_reason || ' ' || "
                       "coalesce(error_type, '-')", word, sizeof(word)),
           "done cancelled -", "and so does the ledger");
    is_str(member(t, id, "status", word), "cancelled", "GET says so");
    call_release(&c);
    call_release(&d);
}

static void test_cancel_whole(struct apit *t)
{
    char id[64], body[300];
    struct call c, d;

    call_start(&c, t, "POST", R, hello, NULL);
    snprintf(id, sizeof(id), "%s", run_of(&c.x)->row.request_id);
    snprintf(body, sizeof(body), R "/%s/cancel", id);
    call_start(&d, t, "POST", body, "", NULL);
    call_finish(&c);
    call_finish(&d);
    is_int(call_status(&c), 200, "a whole one that is cancelled");
    ok(strstr(call_body(&c), "\"status\":\"cancelled\"") != NULL, "says so");
    is_str(call_body(&d), call_body(&c), "cancel answers the same");
    call_release(&c);
    call_release(&d);
}

static void test_left(struct apit *t)
{
    char id[64], word[128];
    struct call c;

    call_start(&c, t, "POST", R, streamed, NULL);
    ok(call_until(&c, "response.output_text.delta", 5000), "it runs");
    id_of(&c, id);
    api_gone(&c.x);
    call_finish(&c);
    ok(strlen(row_get(&c, "finish_reason", word, sizeof(word))) > 0, "ended");
    call_release(&c);
    is_str(member(t, id, "status", word), "cancelled", "its client left");
    ok(!strncmp(member(t, id, "output.0.content.0.text", word), "one", 3),
       "what was said is there: %s", word);
}

static void test_deleted_running(struct apit *t)
{
    char id[64], word[128];
    struct call c;

    call_start(&c, t, "POST", R, streamed, NULL);
    ok(call_until(&c, "response.output_text.delta", 5000), "it runs");
    id_of(&c, id);
    is_int(status_of(t, "DELETE", id, "", NULL), 200, "is deleted");
    is_int(status_of(t, "GET", id, "", NULL), 404, "is gone");
    is_int(status_of(t, "POST", id, "/cancel", NULL), 404, "to cancel too");
    call_finish(&c);
    ok(strstr(call_body(&c), "event: response.completed") != NULL,
       "its client gets its end");
    row_get(&c, "id", word, sizeof(word));
    is_int(status_of(t, "GET", id, "", NULL), 404, "and stays gone");
    call_release(&c);
}

static void test_failed(struct apit *t)
{
    char id[64], word[128];
    struct call c;

    call_start(&c, t, "POST", R, streamed, NULL);
    call_finish(&c);
    id_of(&c, id);
    row_get(&c, "id", word, sizeof(word));
    call_release(&c);
    is_str(member(t, id, "status", word), "failed", "a failure is kept");
    is_str(member(t, id, "error.code", word), "server_error", "as such");
}

/* The admission fails behind the row: nothing is left of it. */
static void test_undone(struct apit *t)
{
    struct call c[3];
    char word[64];

    scripted_hold(t->gen);
    for (int i = 0; i < 3; i++)
        call_start(&c[i], t, "POST", R, hello, NULL);
    is_int(call_status(&c[2]), 503, "the queue is full");
    scripted_release(t->gen);
    for (int i = 0; i < 3; i++)
        call_finish(&c[i]);
    row_get(&c[2], "id", word, sizeof(word));
    is_int(status_of(t, "GET", run_of(&c[2].x)->row.request_id, "", NULL), 404,
           "its row is gone");
    is_int(status_of(t, "GET", run_of(&c[1].x)->row.request_id, "", NULL), 200,
           "the others are there");
    for (int i = 0; i < 3; i++)
        call_release(&c[i]);
}

static void test_locked(struct apit *t)
{
    char id[64], body[300], word[128];
    struct call c, d;
    struct err e;
    struct db *other;

    ok(!db_open(&other, t->db, DB_WRITE, &e) && !db_begin(other, &e), "lock");
    call_do(&c, t, R, hello);
    is_int(call_status(&c), 200, "an answer comes all the same");
    id_of(&c, id);
    snprintf(body, sizeof(body), R "/%s", id);
    call_start(&d, t, "GET", body, NULL, NULL);
    ok(d.state == X_MORE, "GET waits for the row");
    snprintf(body, sizeof(body),
             "{\"input\":\"Hi\",\"previous_response_id\":\"%s\"}", id);
    call_release(&c);
    call_do(&c, t, R, body);
    is_int(call_status(&c), 503, "what goes on from it comes again later");
    call_release(&c);
    db_rollback(other);
    db_close(other);
    call_finish(&d);
    is_int(call_status(&d), 200, "and then it is there");
    call_release(&d);
    is_str(member(t, id, "status", word), "completed", "complete");
}

/* More waits for the database than may: what stores is refused, and costs its
 * key nothing; what does not is served. */
static void test_busy(struct apit *t)
{
    struct response_row row = {.id = "resp_000000000000000000000000",
                               .created_ms = 1, .expires_ms = 2};
    const size_t half = RESPONSES_WAITING / 2;
    struct buf big, small = {.max = 10};
    struct call c, d;
    struct err e;
    struct db *other;
    char h[64];

    big = (struct buf){mem_zalloc(half), half, half, half, false};
    ok(!db_open(&other, t->db, DB_WRITE, &e) && !db_begin(other, &e), "lock");
    buf_puts(&small, "{}");
    ok(!responses_begin(t->responses, &row, &big, &small, &e), "half of it");
    big = (struct buf){mem_zalloc(half), half, half, half, false};
    row.id[5] = '1';
    buf_puts(&small, "{}");
    ok(!responses_begin(t->responses, &row, &big, &small, &e), "all of it");
    call_do(&c, t, R, hello);
    is_int(call_status(&c), 503, "what stores is refused");
    ok(strlen(call_header(&c, "Retry-After", h, sizeof(h))) > 0,
       "with a time to try again");
    call_start(&d, t, "POST", R, "{\"input\":\"Hi\",\"store\":false}", NULL);
    ok(d.state == X_MORE, "what does not is served");
    db_rollback(other);
    db_close(other);
    call_finish(&d);
    is_int(call_status(&d), 200, "to its end");
    is_str(row_get(&c, "status || ' ' || finish_reason || ' ' || error_type",
                   h, sizeof(h)), "503 refused busy", "the refusal has a row");
    call_release(&c);
    call_release(&d);
    call_do(&c, t, R, hello);
    is_int(call_status(&c), 200, "and later all is as ever");
    call_release(&c);
    buf_release(&small);
}

/* --- memory -------------------------------------------------------------- */

static struct memory memory;

static void keep_counted(struct api_config *c)
{
    c->responses_keep = 30;
    c->memory = &memory;
}

/* Leave so much room under the peak. */
static void leave_room(size_t bytes)
{
    memory_set(&memory, MEM_KV,
               memory.peak - memory_held(&memory) +
                   atomic_load(&memory.bytes[MEM_KV]) - bytes);
}

static void test_memory(struct apit *t)
{
    char id[64], body[300];
    struct call c;

    create(t, hello, NULL, id);
    snprintf(body, sizeof(body),
             "{\"input\":\"Hi\",\"previous_response_id\":\"%s\"}", id);
    leave_room(HOLD_ARENA + 32 * strlen(body) + 20000);
    call_do(&c, t, R, body);
    is_int(call_status(&c), 503, "no room for what it goes on from");
    ok(strstr(call_body(&c), "memory") != NULL, "says so");
    call_release(&c);
    leave_room(1000);
    is_int(status_of(t, "GET", id, "", NULL), 503, "no room for GET");
    is_int(status_of(t, "GET", id, "/input_items", NULL), 503, "nor items");
    memory_set(&memory, MEM_KV, 0);
    is_int(status_of(t, "GET", id, "", NULL), 200, "there is room again");
    is_int(status_of(t, "GET", id, "/input_items", NULL), 200, "for both");
    create(t, body, NULL, id);
    is_int(atomic_load(&memory.bytes[MEM_REQUESTS]), 0, "all is given back");
}

/* Cancels, looks and ends of many at a time: for TSan. */
static void *meddle(void *arg)
{
    struct apit *t = arg;

    for (int i = 0; i < 20; i++) {
        struct call c, d;
        char body[300];

        call_start(&c, t, "POST", R, streamed, NULL);
        snprintf(body, sizeof(body), R "/%s/cancel",
                 run_of(&c.x)->row.request_id);
        call_start(&d, t, "POST", body, "", NULL);
        call_finish(&c);
        call_finish(&d);
        call_release(&c);
        call_release(&d);
    }
    return NULL;
}

static void test_threads(struct apit *t)
{
    pthread_t p[3];
    struct err e;

    for (int i = 0; i < 3; i++)
        ok(!thread_start(&p[i], "meddle", meddle, t, &e), "start");
    for (int i = 0; i < 3; i++)
        pthread_join(p[i], NULL);
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config gen = {.ids = ids, .context = 4096,
                                  .max_queue = 8, .fail_after = -1};
    const char *why;
    struct apit probe;

    gen.n = apit_ids("one two three four five six seven eight nine ten", ids,
                     64);
    if (!apit_open(&probe, &gen, NULL, &why))
        skip_all(why);
    apit_close(&probe);
    apit_with(&gen, keep, test_whole);
    apit_with(&gen, keep, test_unknown);
    apit_with(&gen, keep, test_methods);
    apit_with(&gen, keep, test_keys);
    apit_with(&gen, keep_none, test_off);
    apit_with(&gen, keep, test_items);
    apit_with(&gen, keep, test_chain);
    apit_with(&gen, keep_small, test_too_long);
    apit_with(&gen, keep_some, test_references);
    apit_with(&gen, keep, test_locked);
    apit_with(&gen, keep, test_busy);
    ok(!memory_init(&memory, 0, 64 << 20, 0, NULL), "a limit");
    apit_with(&gen, keep_counted, test_memory);
    gen.per_token_us = 40000;
    apit_with(&gen, keep, test_running);
    apit_with(&gen, keep, test_cancel_whole);
    apit_with(&gen, keep, test_left);
    apit_with(&gen, keep, test_deleted_running);
    gen.per_token_us = 1000;
    apit_with(&gen, keep, test_threads);
    gen.parallel = 1;
    gen.max_queue = 1;
    apit_with(&gen, keep, test_undone);
    gen.fail_after = 3;
    apit_with(&gen, keep, test_failed);
    return done();
}
