/*
 * What a request goes on from, and what other requests are told of one that
 * runs: the very prompt of the conversation sent whole, one's own key alone,
 * bounds on bytes and memory, rows that are broken. (The routes: api_stored.)
 */
#include "api/context.h"
#include "api/hold.h"
#include "api/run.h"
#include "api/stored.h"
#include "base/thread.h"
#include "t/lib/apit.h"

#define R "/v1/responses"
#define ANSWER "one two three four five six seven eight nine ten"
#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define SAID "{\"role\":\"assistant\",\"content\":\"" ANSWER "\"}"
#define REF(fmt) "{\"type\":\"item_reference\",\"id\":\"" fmt "\"}"

static void keep(struct api_config *c)
{
    c->responses_keep = 30;
}

static void keep_small(struct api_config *c)
{
    c->responses_keep = 30;
    c->body_max = 5000;
}

static void no_store(struct api_config *c)
{
    c->responses_keep = 30;
    c->responses = NULL;
}

/* The prompt of the job that was submitted last. */
static int32_t prompt[8192];
static size_t n_prompt;

static size_t look_at(const struct job *j)
{
    n_prompt = j->n_ids < 8192 ? j->n_ids : 8192;
    memcpy(prompt, j->ids, n_prompt * sizeof(*prompt));
    return 0;
}

static int post(struct apit *t, const char *body, const char *key, char id[64])
{
    struct call_opts o = {.key = key};
    struct call c;
    int status;

    call_start(&c, t, "POST", R, body, &o);
    call_finish(&c);
    status = call_status(&c);
    call_header(&c, "X-Request-Id", id, 64);
    call_release(&c);
    return status;
}

/* Refused with this status, and in the answer is this text. */
static void refused(struct apit *t, const char *body, int status,
                    const char *text)
{
    struct call c;

    call_do(&c, t, R, body);
    is_int(call_status(&c), status, "refused: %.70s", body);
    ok(strstr(call_body(&c), text) != NULL, "says %s", text);
    call_release(&c);
}

static int status_of(struct apit *t, const char *method, const char *path,
                     const char *key)
{
    struct call_opts o = {.key = key};
    struct call c;
    int status;

    call_start(&c, t, method, path, !strcmp(method, "POST") ? "" : NULL, &o);
    call_finish(&c);
    status = call_status(&c);
    call_release(&c);
    return status;
}

/* --- prompts -------------------------------------------------------------- */

/* Both bodies make one prompt. */
static void one_prompt(struct apit *t, const char *body, const char *whole,
                       const char *what)
{
    static int32_t first[8192];
    char id[64];
    size_t n;

    is_int(post(t, body, NULL, id), 200, "%s", what);
    n = n_prompt;
    memcpy(first, prompt, n * sizeof(*first));
    is_int(post(t, whole, NULL, id), 200, "and sent whole");
    ok(n == n_prompt && n && !memcmp(first, prompt, n * sizeof(*first)),
       "are one prompt (%zu and %zu ids)", n, n_prompt);
}

static void test_prompts(struct apit *t)
{
    static const char *const none[] = {
        "", "i", "01", "i1", "ii0", "0x", "g0", "i7", "ffffffff", "iffffffff",
        "ffffffffffffffffffffffff0", "10000000000000000", "-1", "00\\u0000",
    };
    char a[64], b[64], body[600];

    is_int(post(t, "{\"instructions\":\"be\",\"input\":\"alpha\"}", NULL, a),
           200, "the first");
    snprintf(body, sizeof(body), "{\"input\":[" USER("beta") "],"
             "\"previous_response_id\":\"%s\"}", a);
    is_int(post(t, body, NULL, b), 200, "the second");
    snprintf(body, sizeof(body), "{\"input\":\"gamma\",\"store\":false,"
             "\"previous_response_id\":\"%s\"}", b);
    one_prompt(t, body, "{\"store\":false,\"input\":[" USER("alpha") "," SAID
               "," USER("beta") "," SAID "," USER("gamma") "]}",
               "two and their answers");
    snprintf(body, sizeof(body), "{\"store\":false,\"input\":["
             REF("msg_%si0") "," REF("msg_%s00") "," REF("msg_%si0") ","
             REF("msg_%s00") "," USER("gamma") "]}", b + 5, b + 5, a + 5,
             a + 5);
    one_prompt(t, body, "{\"store\":false,\"input\":[" USER("beta") "," SAID
               "," USER("alpha") "," SAID "," USER("gamma") "]}",
               "items by their ids");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        snprintf(body, sizeof(body), "{\"input\":[" REF("msg_%s%s") "]}",
                 a + 5, none[i]);
        refused(t, body, 400, "no such item");
    }
    snprintf(body, sizeof(body), "{\"input\":\"x\","
             "\"previous_response_id\":\"%s0\"}", b);
    refused(t, body, 400, "no such response");
    snprintf(body, sizeof(body), R "/%s0", b);
    is_int(status_of(t, "GET", body, NULL), 404, "a digit too many");
    is_int(row_count(t, "(SELECT min(expires_ms - created_ms) FROM response)"
                        " = 30 * 86400000") > 0, 1, "kept for 30 days");
}

/* --- bounds --------------------------------------------------------------- */

/* A response whose input holds `n` bytes that no prompt has. */
static void padded(struct apit *t, size_t n, char id[64])
{
    struct buf b;

    buf_init(&b, n + 1000);
    buf_puts(&b, "{\"input\":[" USER("Hi") ",{\"type\":\"mcp_call\","
                 "\"output\":\"");
    for (size_t i = 0; i < n; i++)
        buf_putc(&b, 'x');
    buf_puts(&b, "\"}]}");
    is_int(post(t, b.p, NULL, id), 200, "one of %zu bytes", n);
    buf_release(&b);
}

static void test_bytes(struct apit *t)
{
    char a[64], b[64], other[64], body[600];

    padded(t, 2000, a);
    padded(t, 2000, b);
    snprintf(body, sizeof(body), "{\"store\":false,\"input\":["
             REF("msg_%s00") "," REF("msg_%si0") "," REF("msg_%s00") "]}",
             a + 5, a + 5, a + 5);
    is_int(post(t, body, NULL, other), 200, "one response counts once");
    snprintf(body, sizeof(body), "{\"input\":[" REF("msg_%s00") ","
             REF("msg_%s00") "," USER("x") "]}", a + 5, b + 5);
    refused(t, body, 400, "more than 5000 bytes");
    refused(t, body, 400, "\"param\":\"input\"");
    snprintf(body, sizeof(body), "{\"input\":[" REF("msg_%s00") ","
             USER("x") "],\"previous_response_id\":\"%s\"}", a + 5, b);
    refused(t, body, 400, "more than 5000 bytes");
}

static struct memory memory;

static void keep_counted(struct api_config *c)
{
    c->responses_keep = 30;
    c->memory = &memory;
}

static void leave_room(size_t bytes)
{
    memory_set(&memory, MEM_KV,
               memory.peak - memory_held(&memory) +
                   atomic_load(&memory.bytes[MEM_KV]) - bytes);
}

/* 20,000 short strings: 2 MB as a tree. */
static void nodes(struct apit *t, char id[64])
{
    struct buf b;

    buf_init(&b, 1 << 20);
    buf_puts(&b, "{\"input\":[" USER("Hi") ",{\"type\":\"mcp_call\","
                 "\"output\":[\"\"");
    for (int i = 0; i < 20000; i++)
        buf_puts(&b, ",\"abcd\"");
    buf_puts(&b, "]}]}");
    is_int(post(t, b.p, NULL, id), 200, "one of many small pieces");
    buf_release(&b);
}

/* 200 kB are 5 MB as a tree. */
static void test_memory(struct apit *t)
{
    char id[64], small[64], other[64], body[600], items[128], one[128];

    padded(t, 200000, id);
    snprintf(one, sizeof(one), R "/%s", id);
    snprintf(items, sizeof(items), R "/%s/input_items", id);
    snprintf(body, sizeof(body), "{\"input\":[" USER("x") "],"
             "\"previous_response_id\":\"%s\"}", id);
    leave_room(HOLD_ARENA + 3000000);
    is_int(post(t, "{\"store\":false,\"input\":\"x\"}", NULL, other), 200,
           "room for a small one");
    refused(t, body, 503, "memory");
    snprintf(body, sizeof(body), "{\"input\":[" REF("msg_%s00") ","
             USER("x") "]}", id + 5);
    refused(t, body, 503, "memory");
    is_int(status_of(t, "GET", items, NULL), 503, "nor for the items");
    is_int(status_of(t, "GET", one, NULL), 200, "room to read it");
    leave_room(400000);
    is_int(status_of(t, "GET", one, NULL), 503, "but not for half of that");
    memory_set(&memory, MEM_KV, 0);
    is_int(status_of(t, "GET", items, NULL), 200, "there is room again");
    nodes(t, small);
    snprintf(one, sizeof(one), "{\"input\":\"x\","
             "\"previous_response_id\":\"%s\"}", small);
    is_int(post(t, one, NULL, other), 200,
           "a small body goes on from a large tree");
    snprintf(items, sizeof(items), R "/%s/input_items", small);
    is_int(status_of(t, "GET", items, NULL), 200, "and reads its items");
    is_int(post(t, body, NULL, other), 200, "for all");
    is_int(atomic_load(&memory.bytes[MEM_REQUESTS]), 0, "all is given back");
}

/* --- broken rows ---------------------------------------------------------- */

static void put_row(struct apit *t, const char *id, const char *input,
                    const char *answer)
{
    struct response_row row = {.created_ms = epoch_ms(),
                               .expires_ms = epoch_ms() + 1000000};
    struct buf in, out;
    struct err e;

    snprintf(row.id, sizeof(row.id), "%s", id);
    buf_init(&in, 1000);
    buf_init(&out, 1000);
    buf_puts(&in, input);
    buf_puts(&out, "{}");
    ok(!responses_begin(t->responses, &row, &in, &out, &e), "a row");
    buf_puts(&out, answer);
    responses_end(t->responses, id, "completed", &out, NULL, NULL);
    row_count(t, "1"); /* it is committed */
}

static void test_broken(struct apit *t)
{
    put_row(t, "resp_00000000000000000000000a", "[broken", "{}");
    put_row(t, "resp_00000000000000000000000b", "[]", "{broken");
    refused(t, "{\"input\":\"x\",\"previous_response_id\":"
               "\"resp_00000000000000000000000a\"}", 500, "broken");
    refused(t, "{\"input\":\"x\",\"previous_response_id\":"
               "\"resp_00000000000000000000000b\"}", 500, "broken");
    refused(t, "{\"input\":[" REF("msg_00000000000000000000000a00") "]}", 500,
            "broken");
    is_int(status_of(t, "GET", R "/resp_00000000000000000000000a/input_items",
                     NULL), 500, "its items");
}

/* What is kept of an input: an id and a type each, first and once. */
static void test_ids(struct apit *t)
{
    static const struct {
        const char *input, *kept;
    } rows[] = {
        {"[]", "[]"},
        {"[{\"type\":\"message\",\"role\":\"user\",\"id\":\"mine\"}]",
         "[{\"id\":\"mine\",\"type\":\"message\",\"role\":\"user\"}]"},
        {"[{\"role\":\"user\"},{\"id\":\"\",\"type\":\"reasoning\"}]",
         "[{\"id\":\"msg_0123i0\",\"type\":\"message\",\"role\":\"user\"},"
         "{\"id\":\"rs_0123i1\",\"type\":\"reasoning\"}]"},
        {"[{\"id\":5,\"type\":\"function_call\"},{\"type\":"
         "\"function_call_output\",\"a\":[1,{\"b\":null}]},{\"type\":"
         "\"custom_tool_call\"},{\"type\":\"custom_tool_call_output\"},"
         "{\"type\":\"mcp_call\"}]",
         "[{\"id\":\"fc_0123i0\",\"type\":\"function_call\"},"
         "{\"id\":\"fco_0123i1\",\"type\":\"function_call_output\","
         "\"a\":[1,{\"b\":null}]},{\"id\":\"ctc_0123i2\",\"type\":"
         "\"custom_tool_call\"},{\"id\":\"ctco_0123i3\",\"type\":"
         "\"custom_tool_call_output\"},{\"id\":\"item_0123i4\",\"type\":"
         "\"mcp_call\"}]"},
    };

    (void)t;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct json *v;
        struct arena a;
        struct buf b;

        arena_init(&a, 1 << 20);
        buf_init(&b, 1 << 16);
        ok(!json_parse(&v, &a, rows[i].input, strlen(rows[i].input), NULL),
           "%.60s", rows[i].input);
        stored_items("resp_0123", v, &b);
        is_str(b.p, rows[i].kept, "is kept as");
        buf_release(&b);
        arena_release(&a);
    }
}

/* An answer's body; `tail` is that of the path of input items. */
static const char *items_of(struct apit *t, const char *id, const char *tail,
                            int *status)
{
    static char said[20000];
    char path[400];
    struct call c;

    snprintf(path, sizeof(path), R "/%s/input_items%s", id, tail);
    call_start(&c, t, "GET", path, NULL, NULL);
    call_finish(&c);
    *status = call_status(&c);
    snprintf(said, sizeof(said), "%s", call_body(&c));
    call_release(&c);
    return said;
}

static int times(const char *s, const char *what)
{
    int n = 0;

    for (; (s = strstr(s, what)); s++)
        n++;
    return n;
}

/* Queries, and what the package's types want of an item. */
static void test_pages(struct apit *t)
{
    static const struct {
        const char *tail;
        int status, n;
        bool more;
    } rows[] = {
        {"", 200, 20, true},
        {"?limit=100", 200, 22, false},
        {"?limits=0", 200, 20, true},
        {"?xlimit=0&limit=2", 200, 2, true},
        {"?limit=22", 200, 22, false},
        {"?limit=%32", 200, 2, true},
        {"?order=%61sc&limit=%31", 200, 1, true},
        {"?after=m%69ne", 200, 0, false},
        {"?after=m%6Ane", 400, 0, false},
        {"?after=%6Dine&order=asc", 200, 20, true},
        {"?limit=%3", 400, 0, false},
        {"?limit=", 400, 0, false},
        {"?limit=2&limit=0", 200, 2, true},
        {"?after=" "0123456789012345678901234567890123456789"
         "01234567890123456789012345678901234567890123456789"
         "01234567890123456789012345678901234567890123456789", 400, 0, false},
    };
    char id[64], empty[64], body[200];
    const char *said;
    struct buf b;
    int status;

    buf_init(&b, 10000);
    buf_puts(&b, "{\"input\":[{\"type\":\"message\",\"id\":\"mine\","
                 "\"role\":\"user\",\"content\":\"Hi\"},{\"type\":"
                 "\"reasoning\",\"content\":[]},{\"type\":\"message\","
                 "\"role\":\"assistant\",\"status\":\"incomplete\","
                 "\"content\":[{\"type\":\"output_text\",\"text\":\"a\","
                 "\"annotations\":[{}]},{\"type\":\"output_text\","
                 "\"text\":\"b\"}]},{\"type\":\"function_call\","
                 "\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"}");
    for (int i = 4; i < 22; i++)
        buf_puts(&b, ",{\"type\":\"mcp_call\"}");
    buf_puts(&b, "]}");
    is_int(post(t, b.p, NULL, id), 200, "22 items");
    buf_release(&b);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        said = items_of(t, id, rows[i].tail, &status);
        is_int(status, rows[i].status, "%.40s", rows[i].tail);
        is_int(times(said, "\"type\":\"mcp_call\"") +
                   times(said, "\"type\":\"message\"") +
                   times(said, "\"type\":\"reasoning\"") +
                   times(said, "\"type\":\"function_call\""),
               rows[i].n, "so many of them");
        is_int(times(said, "\"has_more\":true"), rows[i].more, "and more");
    }
    said = items_of(t, id, "?after=mine", &status);
    ok(strstr(said, "\"data\":[],\"first_id\":\"\",\"last_id\":\"\""),
       "behind the last there is none");
    said = items_of(t, id, "?limit=100&order=asc", &status);
    is_int(times(said, "\"annotations\":"), 2, "what is there stays");
    ok(strstr(said, "\"summary\":[]") && strstr(said, "[{}]") &&
           times(said, "\"status\":\"completed\"") == 1 &&
           times(said, "\"status\":") == 2,
       "what types want is added where it lacks");
    snprintf(body, sizeof(body), "{\"previous_response_id\":\"%s\"}", id);
    is_int(post(t, body, NULL, empty), 200, "one without items");
    said = items_of(t, empty, "", &status);
    ok(status == 200 &&
           strstr(said, "\"data\":[],\"first_id\":\"\",\"last_id\":\"\""),
       "has none");
}

/* --- others, while it runs ------------------------------------------------ */

static void test_running(struct apit *t)
{
    static const char *const tails[] = {"", "/input_items", "/cancel"};
    char ann[KEY_TEXT_MAX], bob[KEY_TEXT_MAX], id[64], path[128], body[300];
    struct call_opts hers, his;
    struct call c, d;

    apit_key(t, "ann", ann);
    apit_key(t, "bob", bob);
    hers = (struct call_opts){.key = ann};
    his = (struct call_opts){.key = bob};
    call_start(&c, t, "POST", R, "{\"input\":\"Hi\",\"stream\":true}", &hers);
    ok(call_until(&c, "response.output_text.delta", 5000), "it runs");
    scripted_hold(t->gen);
    call_header(&c, "X-Request-Id", id, sizeof(id));
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), R "/%s%s", id, tails[i]);
        is_int(status_of(t, i == 2 ? "POST" : "GET", path, bob), 404,
               "another key sees none%s", tails[i]);
        is_int(status_of(t, i == 2 ? "POST" : "GET", path, NULL), 401,
               "nor does none");
    }
    snprintf(path, sizeof(path), R "/%s", id);
    is_int(status_of(t, "DELETE", path, bob), 404, "nor deletes it");
    is_int(status_of(t, "DELETE", path, NULL), 401, "none even less");
    snprintf(body, sizeof(body), "{\"input\":\"x\","
             "\"previous_response_id\":\"%s\"}", id);
    call_start(&d, t, "POST", R, body, &his);
    ok(call_status(&d) == 400 && strstr(call_body(&d), "no such response"),
       "nor goes on from it");
    call_release(&d);
    call_start(&d, t, "POST", R, body, &hers);
    ok(call_status(&d) == 400 && strstr(call_body(&d), "still running"),
       "its own is told that it runs");
    call_release(&d);
    snprintf(body, sizeof(body), "{\"input\":[" REF("msg_%s00") "]}", id + 5);
    call_start(&d, t, "POST", R, body, &hers);
    ok(call_status(&d) == 400 && strstr(call_body(&d), "still running") &&
           strstr(call_body(&d), "\"param\":\"input\""),
       "by an item as well");
    call_release(&d);
    ok(!stored_cancelled(run_of(&c.x)), "nobody stopped it");
    pthread_mutex_lock(&c.mu);
    c.woken = false;
    pthread_mutex_unlock(&c.mu);
    snprintf(path, sizeof(path), R "/%s/cancel", id);
    call_start(&d, t, "POST", path, "", &hers);
    pthread_mutex_lock(&c.mu);
    ok(c.woken, "its own wakes it");
    pthread_mutex_unlock(&c.mu);
    ok(stored_cancelled(run_of(&c.x)), "and stops it");
    call_finish(&c);
    call_finish(&d);
    scripted_release(t->gen);
    is_int(call_status(&d), 200, "at once");
    call_release(&c);
    call_release(&d);
}

/* Over before it could be stopped: it is what it is. */
static void test_late(struct apit *t)
{
    struct call c;

    call_start(&c, t, "POST", R, "{\"input\":\"Hi\"}", NULL);
    nanosleep(&(struct timespec){0, 200000000}, NULL);
    stored_cancel(t->api->stored, run_of(&c.x)->row.request_id, 0);
    call_finish(&c);
    ok(strstr(call_body(&c), "\"status\":\"completed\"") != NULL,
       "cancelled too late: completed");
    call_release(&c);
}

/* More than there are lists to look in: each is found by its whole id. */
static void test_many(struct apit *t)
{
    enum { MANY = 300 };
    struct call *c = mem_zalloc(MANY * sizeof(*c));
    int wrong = 0;

    scripted_hold(t->gen);
    for (int i = 0; i < MANY; i++)
        call_start(&c[i], t, "POST", R, "{\"input\":\"Hi\"}", NULL);
    for (int i = 0; i < MANY; i++) {
        const char *id = run_of(&c[i].x)->row.request_id;

        wrong += stored_cancelled(run_of(&c[i].x));
        wrong += stored_state_of(t->api->stored, id, 0) != STORED_RUNS;
        stored_cancel(t->api->stored, id, 0);
        wrong += !stored_cancelled(run_of(&c[i].x));
        stored_forget(t->api->stored, id, 0);
        wrong += stored_state_of(t->api->stored, id, 0) != STORED_NO;
    }
    is_int(wrong, 0, "each of %d is itself", (int)MANY);
    for (int i = 0; i < MANY; i++) {
        call_finish(&c[i]);
        call_release(&c[i]);
    }
    scripted_release(t->gen);
    free(c);
}

/* Other routes store nothing. */
static void test_others(struct apit *t)
{
    static const char *const routes[] = {"/v1/chat/completions",
                                         "/v1/messages"};

    for (size_t i = 0; i < 2; i++) {
        struct call c;

        scripted_hold(t->gen);
        call_start(&c, t, "POST", routes[i],
                   "{\"max_tokens\":3,\"store\":true,\"messages\":["
                   USER("Hi") "]}", NULL);
        ok(!run_of(&c.x)->stored &&
               stored_state_of(t->api->stored, run_of(&c.x)->row.request_id,
                               0) == STORED_NO,
           "%s stores nothing", routes[i]);
        scripted_release(t->gen);
        call_finish(&c);
        is_int(call_status(&c), 200, "and is served");
        call_release(&c);
    }
}

/* The failure that is kept is the one that its client was told of. */
static void test_failed(struct apit *t)
{
    char id[64], path[128];
    struct call c;

    call_do(&c, t, R, "{\"input\":\"Hi\",\"stream\":true}");
    ok(strstr(call_body(&c), "\"code\":\"rate_limit_exceeded\"") != NULL,
       "a failure");
    call_header(&c, "X-Request-Id", id, sizeof(id));
    call_release(&c);
    row_count(t, "1");
    snprintf(path, sizeof(path), R "/%s", id);
    call_start(&c, t, "GET", path, NULL, NULL);
    call_finish(&c);
    ok(strstr(call_body(&c), "\"code\":\"rate_limit_exceeded\"") != NULL,
       "is kept");
    call_release(&c);
}

/* The daemon goes down: not what its client wanted, and no answer either. */
static void test_drained(struct apit *t)
{
    char id[64], path[128];
    struct call c;

    call_start(&c, t, "POST", R, "{\"input\":\"Hi\",\"stream\":true}", NULL);
    ok(call_until(&c, "response.output_text.delta", 5000), "it runs");
    call_header(&c, "X-Request-Id", id, sizeof(id));
    gen_cancel(t->gen, run_of(&c.x)->choices[0].job);
    call_finish(&c);
    ok(strstr(call_body(&c), "event: response.failed") != NULL, "it fails");
    call_release(&c);
    row_count(t, "1");
    snprintf(path, sizeof(path), R "/%s", id);
    call_start(&c, t, "GET", path, NULL, NULL);
    call_finish(&c);
    ok(strstr(call_body(&c), "\"status\":\"failed\"") != NULL,
       "and is kept so");
    call_release(&c);
}

static enum st nothing(struct db *db, void *arg, struct err *e)
{
    (void)db;
    (void)arg;
    (void)e;
    return ST_OK;
}

/* The database is locked: who waits for it may leave; where nothing more can
 * wait, it is said. */
static void test_locked(struct apit *t)
{
    const struct db_post post_one = {.run = nothing};
    char id[64], path[128];
    struct call c, d;
    struct err e;
    struct db *other;

    is_int(post(t, "{\"input\":\"Hi\"}", NULL, id), 200, "one");
    row_count(t, "1");
    ok(!db_open(&other, t->db, DB_WRITE, &e) && !db_begin(other, &e), "lock");
    call_do(&c, t, R, "{\"input\":\"Hi\"}");
    snprintf(path, sizeof(path), R "/%s", run_of(&c.x)->row.request_id);
    call_start(&d, t, "GET", path, NULL, NULL);
    ok(d.state == X_MORE, "GET waits for its row");
    api_gone(&d.x);
    call_finish(&d);
    ok(d.state == X_FAILED, "but not when its client has left");
    call_release(&d);
    call_release(&c);
    while (!db_post(t->writer, &post_one, NULL))
        ;
    snprintf(path, sizeof(path), R "/%s", id);
    is_int(status_of(t, "DELETE", path, NULL), 503, "no room for a delete");
    db_rollback(other);
    db_close(other);
    row_count(t, "1");
    is_int(status_of(t, "GET", path, NULL), 200, "it is there");
    is_int(status_of(t, "DELETE", path, NULL), 200, "and then goes");
}

static void test_unkept(struct apit *t)
{
    is_int(status_of(t, "GET", R "/resp_00000000000000000000000a", NULL), 404,
           "no table: no response");
}

/* --- keys and bodies ------------------------------------------------------ */

static void test_routes(struct apit *t)
{
    static const struct {
        const char *method, *path;
    } rows[] = {
        {"POST", R}, {"POST", R "/input_tokens"},
        {"GET", R "/resp_00000000000000000000000a"},
        {"DELETE", R "/resp_00000000000000000000000a"},
        {"POST", R "/resp_00000000000000000000000a/cancel"},
        {"GET", R "/resp_00000000000000000000000a/input_items"},
        {"POST", "/v1/messages"}, {"POST", "/v1/messages/count_tokens"},
    };
    struct call_opts long_one = {.declared = 70000};
    char key[KEY_TEXT_MAX];

    is_int(status_of(t, "GET", R "/a/b/cancel", NULL), 404,
           "an id has no slash");
    is_int(status_of(t, "POST", R "//cancel", NULL), 405, "and bytes");
    for (size_t i = 3; i < 5; i++) {
        struct call c;

        call_start(&c, t, rows[i].method, rows[i].path, "", &long_one);
        is_int(call_status(&c), 413, "%s reads no body", rows[i].path);
        call_release(&c);
    }
    apit_key(t, "ann", key);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is_int(status_of(t, rows[i].method, rows[i].path, NULL), 401,
               "%s %s needs a key", rows[i].method, rows[i].path);
        ok(status_of(t, rows[i].method, rows[i].path, key) != 401,
           "which is taken");
    }
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config gen = {.ids = ids, .context = 4096,
                                  .max_queue = 400, .fail_after = -1,
                                  .start_at = look_at};
    const char *why;
    struct apit probe;

    gen.n = apit_ids(ANSWER, ids, 64);
    if (!apit_open(&probe, &gen, NULL, &why))
        skip_all(why);
    apit_close(&probe);
    apit_with(&gen, keep, test_prompts);
    apit_with(&gen, keep_small, test_bytes);
    ok(!memory_init(&memory, 0, 64 << 20, 0, NULL), "a limit");
    apit_with(&gen, keep_counted, test_memory);
    apit_with(&gen, keep, test_broken);
    apit_with(&gen, keep, test_ids);
    apit_with(&gen, keep, test_pages);
    apit_with(&gen, keep, test_others);
    apit_with(&gen, keep, test_locked);
    apit_with(&gen, no_store, test_unkept);
    apit_with(&gen, keep, test_routes);
    apit_with(&gen, keep, test_many);
    apit_with(&gen, keep, test_late);
    gen.per_token_us = 20000;
    apit_with(&gen, keep, test_running);
    apit_with(&gen, keep, test_drained);
    gen.per_token_us = 0;
    gen.fail_after = 3;
    gen.fail_as = ST_RATE;
    apit_with(&gen, keep, test_failed);
    return done();
}
