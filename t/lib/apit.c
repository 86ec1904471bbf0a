#include "t/lib/apit.h"

#include "api/run.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "chat/vocab.h"

#include <sqlite3.h>
#include <unistd.h>

#define WAIT_MS 60000

/* --- the server --- */

static void must(enum st st, const struct err *e)
{
    if (st) {
        printf("Bail out! %s: %s\n", e->where, e->text);
        exit(1);
    }
}

static void open_model(struct apit *t, const struct scripted_config *gen)
{
    struct catalog_model *m = mem_new(struct catalog_model);
    struct format_from from;
    struct ids stop;
    struct err e;

    must(gguf_open(&t->gguf, APIT_MODEL, &e), &e);
    must(vocab_open(&t->tok, t->gguf, &e), &e);
    from = (struct format_from){.model_path = APIT_MODEL, .gguf = t->gguf,
                                .tok = t->tok};
    must(format_find(&t->format, &from, &e), &e);
    t->end_id = tok_find(t->tok, "<|im_end|>", 10);
    t->gen = scripted_new(gen);
    ids_init(&stop, 64);
    must(vocab_stop_ids(t->gguf, t->tok, &stop, &e), &e);
    m->id = mem_dup("demo");
    m->gen = t->gen;
    m->tok = t->tok;
    m->format = t->format;
    m->stop_ids = stop.p;
    m->n_stop = stop.n;
    m->created = 1700000000;
    m->context = gen->context;
    m->architecture = "qwen3";
    m->weights = "Q8_0";
    t->catalog = (struct catalog){m, 1};
}

bool apit_open(struct apit *t, const struct scripted_config *gen,
               void (*config)(struct api_config *c), const char **why)
{
    struct api_config c = {0};
    struct err e;

    memset(t, 0, sizeof(*t));
    if (access(APIT_MODEL, R_OK) != 0) {
        *why = "the demo model is missing";
        return false;
    }
    log_set_level(LOG_ERROR);
    snprintf(t->dir, sizeof(t->dir), "/tmp/apit.XXXXXX");
    if (!mkdtemp(t->dir)) {
        *why = "no temporary folder";
        return false;
    }
    snprintf(t->db, sizeof(t->db), "%s/penstock.db", t->dir);
    open_model(t, gen);
    must(db_writer_open(&t->writer, t->db, 10000, &e), &e);
    must(keys_open(&t->keys, t->db, &e), &e);
    must(ledger_open(&t->ledger, t->writer, &(size_t){0}, &e), &e);
    must(responses_open(&t->responses, t->writer, t->db, &(size_t){0}, &e),
         &e);
    c.catalog = &t->catalog;
    c.keys = t->keys;
    c.ledger = t->ledger;
    c.responses = t->responses;
    c.writer = t->writer;
    c.body_max = 1 << 20;
    c.default_max_tokens = 512;
    c.wait_line_ms = 10000;
    c.prefill_line_ms = 5000;
    c.ledger_wait_ms = 5000;
    c.usage_default = true;
    if (config)
        config(&c);
    must(api_new(&t->api, &c, &e), &e);
    return true;
}

void apit_close(struct apit *t)
{
    static const char *const files[] = {"", "-wal", "-shm"};
    char path[128];

    gen_free(t->gen);
    db_writer_close(t->writer, WAIT_MS);
    ledger_free(t->ledger);
    responses_free(t->responses);
    api_free(t->api);
    keys_close(t->keys);
    catalog_release(&t->catalog);
    format_free(t->format);
    tok_free(t->tok);
    gguf_close(t->gguf);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s%s", t->db, files[i]);
        unlink(path);
    }
    rmdir(t->dir);
}

void apit_with(const struct scripted_config *gen,
               void (*config)(struct api_config *c),
               void (*test)(struct apit *t))
{
    const char *why = "";
    struct apit t;

    if (!apit_open(&t, gen, config, &why)) {
        ok(false, "the api opens: %s", why);
        return;
    }
    test(&t);
    apit_close(&t);
}

void apit_key(struct apit *t, const char *name, char key[KEY_TEXT_MAX])
{
    struct db *db;
    struct err e;

    if (db_open(&db, t->db, DB_WRITE, &e) ||
        keys_add(db, name, NULL, key, &e))
        exit(1); /* results are counted by the test's own file */
    db_close(db);
    keys_refresh(t->keys);
}

size_t apit_script(struct apit *t, const char *text, int64_t gap_us)
{
    static int32_t ids[1024];
    struct scripted_config gen = {.ids = ids, .fail_after = -1,
                                  .per_token_us = gap_us, .context = 4096};
    const char *why;

    gen.n = apit_ids(text, ids, 1024);
    if (!apit_open(t, &gen, NULL, &why))
        exit(1);
    return gen.n;
}

size_t apit_ids(const char *text, int32_t *ids, size_t cap)
{
    struct gguf *g;
    struct tok *tok;
    struct ids v;
    struct err e;
    size_t n;

    must(gguf_open(&g, APIT_MODEL, &e), &e);
    must(vocab_open(&tok, g, &e), &e);
    ids_init(&v, cap);
    must(tok_encode(tok, TOK_MARKUP, text, strlen(text), &v, &e), &e);
    n = v.n;
    if (n)
        memcpy(ids, v.p, n * sizeof(*ids));
    ids_release(&v);
    tok_free(tok);
    gguf_close(g);
    return n;
}

/* --- a call --- */

static void wake(void *arg)
{
    struct call *c = arg;

    pthread_mutex_lock(&c->mu);
    c->woken = true;
    pthread_cond_signal(&c->cond);
    pthread_mutex_unlock(&c->mu);
}

static struct span span_of(struct arena *a, const char *s)
{
    if (!s)
        return (struct span){0};
    return (struct span){arena_dup(a, s, strlen(s)), strlen(s)};
}

static void pump(struct call *c)
{
    if (c->state == X_MORE)
        c->state = api_pump(&c->x, &c->out, mono_us());
}

void call_start(struct call *c, struct apit *t, const char *method,
                const char *path, const char *body,
                const struct call_opts *o)
{
    static const struct call_opts none;
    struct http_req *req = &c->x.req;
    char bearer[128];

    o = o ? o : &none;
    memset(c, 0, sizeof(*c));
    c->t = t;
    pthread_mutex_init(&c->mu, NULL);
    cond_init_monotonic(&c->cond);
    buf_init(&c->out, BUF_ANSWER);
    exchange_init(&c->x, t->api, 64 << 20);
    c->x.wake = wake;
    c->x.wake_arg = c;
    req->method = span_of(&c->x.arena, method);
    req->path = span_of(&c->x.arena, path);
    if (strchr(path, '?')) {
        req->path.n = (size_t)(strchr(path, '?') - path);
        req->query = (struct span){req->path.s + req->path.n + 1,
                                   strlen(path) - req->path.n - 1};
    }
    req->origin = span_of(&c->x.arena, o->origin);
    req->user_agent = span_of(&c->x.arena, o->user_agent);
    if (o->key) {
        snprintf(bearer, sizeof(bearer), "Bearer %s", o->key);
        req->authorization = span_of(&c->x.arena, bearer);
    }
    req->api_key = span_of(&c->x.arena, o->api_key);
    req->anthropic_version = span_of(&c->x.arena, o->version);
    req->local = !o->remote;
    req->has_length = !o->undeclared;
    req->content_length = body && !o->undeclared ? strlen(body) : 0;
    if (o->declared)
        req->content_length = o->declared;
    req->arrived_us = mono_us() - o->waited_us;
    req->arrived_epoch_ms = epoch_ms();
    api_head(&c->x, &c->body_cap);
    if (!c->x.status) {
        struct span copy = span_of(&c->x.arena, body ? body : "");

        req->body = (struct text){copy.s, copy.n};
        api_body(&c->x);
    }
    if (c->x.streaming) {
        pump(c);
        return;
    }
    buf_add(&c->out, c->x.head.p, c->x.head.n);
    buf_add(&c->out, c->x.body.p, c->x.body.n);
    c->state = X_DONE;
}

/* Until the next wake, timer, or the end of our patience. */
static void wait_some(struct call *c, int64_t until_us)
{
    int64_t next = api_next_us(&c->x), now = mono_us();

    if (next && next < until_us)
        until_us = next;
    pthread_mutex_lock(&c->mu);
    while (!c->woken && now < until_us) {
        cond_wait_ms(&c->cond, &c->mu, (until_us - now) / 1000 + 1);
        now = mono_us();
    }
    c->woken = false;
    pthread_mutex_unlock(&c->mu);
}

bool call_until(struct call *c, const char *text, int64_t ms)
{
    int64_t until = mono_us() + ms * 1000;

    for (;;) {
        if (text && c->out.p && strstr(c->out.p, text))
            return true;
        if (c->state != X_MORE || mono_us() >= until)
            return false;
        wait_some(c, until);
        pump(c);
    }
}

void call_finish(struct call *c)
{
    call_until(c, NULL, WAIT_MS);
    if (c->state == X_MORE)
        ok(false, "the request came to an end");
}

void call_release(struct call *c)
{
    exchange_release(&c->x);
    buf_release(&c->out);
    pthread_cond_destroy(&c->cond);
    pthread_mutex_destroy(&c->mu);
}

struct call *calls_waiting(struct apit *t, int n)
{
    struct call *c = mem_array(struct call, n);

    for (int i = 0; i < n; i++)
        call_start(&c[i], t, "POST", "/v1/completions",
                   "{\"prompt\":\"a\",\"max_tokens\":1,\"stream\":true}",
                   NULL);
    return c;
}

void calls_leave(struct call *c, int n)
{
    for (int i = 0; i < n; i++) {
        api_gone(&c[i].x);
        call_finish(&c[i]);
        call_release(&c[i]);
    }
    free(c);
}

void call_do(struct call *c, struct apit *t, const char *path,
             const char *body)
{
    call_start(c, t, body ? "POST" : "GET", path, body, NULL);
    call_finish(c);
}

/* --- the answer --- */

int call_status(const struct call *c)
{
    if (!c->out.p || strncmp(c->out.p, "Status: ", 8) != 0)
        return 0;
    return (int)strtol(c->out.p + 8, NULL, 10);
}

const char *call_header(const struct call *c, const char *name, char *out,
                        size_t cap)
{
    size_t n = strlen(name);
    const char *p = c->out.p ? c->out.p : "";

    out[0] = '\0';
    while (*p && strncmp(p, "\r\n", 2) != 0) {
        const char *end = strstr(p, "\r\n");

        if (!end)
            break;
        if (strncmp(p, name, n) == 0 && strncmp(p + n, ": ", 2) == 0)
            snprintf(out, cap, "%.*s", (int)(end - p - (int)n - 2),
                     p + n + 2);
        p = end + 2;
    }
    return out;
}

const char *call_body(const struct call *c)
{
    const char *p = c->out.p ? strstr(c->out.p, "\r\n\r\n") : NULL;

    return p ? p + 4 : "";
}

const struct json *call_json(const struct call *c, struct arena *a)
{
    const struct json *v = NULL;
    const char *body = call_body(c);

    arena_init(a, 64 << 20);
    if (json_parse(&v, a, body, strlen(body), NULL))
        return NULL;
    return v;
}

const struct json *json_at(const struct json *v, const char *path)
{
    char key[64];

    while (v && *path) {
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        path += n + (path[n] == '.');
        if (v->type == JSON_ARR) {
            long at = strtol(key, NULL, 10);

            v = v->child;
            while (v && at-- > 0)
                v = v->next;
        } else {
            v = json_get(v, key);
        }
    }
    return v;
}

bool json_str_is(const struct json *v, const char *want)
{
    if (v && v->type == JSON_STR && v->str.n == strlen(want) &&
        memcmp(v->str.s, want, v->str.n) == 0)
        return true;
    printf("#   got '%.*s', expected '%s'\n",
           v && v->type == JSON_STR ? (int)v->str.n : 6,
           v && v->type == JSON_STR ? v->str.s : "(none)", want);
    return false;
}

int64_t json_int(const struct json *v)
{
    return v && v->type == JSON_NUM && v->is_int ? v->i : -1;
}

static void join_text(struct joined *j, struct buf *to, const struct json *v)
{
    if (!v || v->type != JSON_STR)
        return;
    if (!utf8_valid(v->str.s, v->str.n, NULL))
        j->utf8 = false;
    buf_add(to, v->str.s, v->str.n);
}

static void join_chunk(struct joined *j, const struct json *v)
{
    const struct json *choice = json_at(v, "choices.0");
    const struct json *finish = json_get(choice, "finish_reason");
    const struct json *usage = json_get(v, "usage");

    if (j->n && (!json_get(v, "id") ||
                 !json_str_is(json_get(v, "id"),
                              json_get(j->chunk[0], "id")->str.s)))
        j->one_id = false;
    if (!j->n)
        j->role_first = json_is(json_at(v, "choices.0.delta.role"),
                                "assistant");
    else if (json_at(v, "choices.0.delta.role"))
        j->role_first = false; /* it comes once */
    if (choice && !finish)
        j->finish_key = false;
    if (finish && finish->type == JSON_STR) {
        snprintf(j->finish, sizeof(j->finish), "%s", finish->str.s);
        j->finishes++;
    }
    if (usage && usage->type == JSON_OBJ) {
        j->usage = usage;
        j->usage_at = j->n;
        j->usages++;
    }
    join_text(j, &j->content, json_at(v, "choices.0.delta.content"));
    join_text(j, &j->content, json_at(v, "choices.0.text"));
    join_text(j, &j->reasoning,
              json_at(v, "choices.0.delta.reasoning_content"));
    if (j->n < 4096)
        j->chunk[j->n++] = v;
}

void join(struct joined *j, const struct call *c)
{
    const char *p = call_body(c);

    memset(j, 0, sizeof(*j));
    arena_init(&j->arena, 64 << 20);
    buf_init(&j->content, BUF_ANSWER);
    buf_init(&j->reasoning, BUF_ANSWER);
    buf_puts(&j->content, "");
    buf_puts(&j->reasoning, "");
    j->framing = j->utf8 = j->one_id = j->finish_key = true;
    while (*p) {
        const char *end = strstr(p, "\n\n");
        const struct json *v;

        if (!end) {
            j->framing = false;
            return;
        }
        if (memchr(p, '\n', (size_t)(end - p)))
            j->framing = false;
        if (*p == ':')
            j->comments++;
        else if (strncmp(p, "data: [DONE]\n\n", 14) == 0)
            j->dones++;
        else if (strncmp(p, "data: ", 6) == 0 && !j->dones &&
                 !json_parse(&v, &j->arena, p + 6, (size_t)(end - p - 6),
                             NULL))
            join_chunk(j, v);
        else
            j->framing = false;
        p = end + 2;
    }
}

void join_release(struct joined *j)
{
    buf_release(&j->content);
    buf_release(&j->reasoning);
    arena_release(&j->arena);
}

/* --- the ledger --- */

static void settle(struct apit *t)
{
    struct db_writer_state s;

    for (int i = 0; i < 1000; i++) {
        db_writer_state(t->writer, &s);
        if (!s.queued)
            return;
        usleep(5000);
    }
}

static void query(struct apit *t, const char *sql, char *out, size_t cap)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    const unsigned char *text;

    settle(t);
    out[0] = '\0';
    if (sqlite3_open_v2(t->db, &db, SQLITE_OPEN_READONLY, NULL) ||
        sqlite3_prepare_v2(db, sql, -1, &st, NULL)) {
        snprintf(out, cap, "%s", sqlite3_errmsg(db));
    } else if (sqlite3_step(st) == SQLITE_ROW) {
        text = sqlite3_column_text(st, 0);
        snprintf(out, cap, "%s", text ? (const char *)text : "");
    }
    sqlite3_finalize(st);
    sqlite3_close(db);
}

const char *row_get(struct call *c, const char *column, char *out, size_t cap)
{
    char sql[256];

    snprintf(sql, sizeof(sql),
             "SELECT %s FROM request WHERE request_id = '%s'", column,
             run_of(&c->x)->row.request_id);
    query(c->t, sql, out, cap);
    return out;
}

int row_count(struct apit *t, const char *where)
{
    char sql[256], out[64], *end;
    long n;

    snprintf(sql, sizeof(sql), "SELECT count(*) FROM request WHERE %s",
             where);
    query(t, sql, out, sizeof(out));
    n = strtol(out, &end, 10);
    return *out && !*end ? (int)n : -1;
}
