#include "api/stored.h"

#include "acct/responses.h"
#include "api/emit_responses.h"
#include "api/run.h"
#include "base/thread.h"
#include "chat/jsontext.h"

#define BUCKETS 256
#define DAY_MS ((int64_t)86400000)

struct stored {
    struct stored *next, **at;  /* guarded by mu of the table */
    struct stored_runs *runs;
    char id[40];
    int64_t key_id;
    struct exchange *x;         /* guarded by mu; NULL: it is over */
    bool forgotten;             /* guarded by mu */
    _Atomic int cancelled;
};

struct stored_runs {
    pthread_mutex_t mu;
    struct stored *bucket[BUCKETS]; /* guarded by mu */
};

struct stored_runs *stored_runs_new(void)
{
    struct stored_runs *rs = mem_new(struct stored_runs);

    pthread_mutex_init(&rs->mu, NULL);
    return rs;
}

void stored_runs_free(struct stored_runs *rs)
{
    if (!rs)
        return;
    for (size_t i = 0; i < BUCKETS; i++) {
        struct stored *s = rs->bucket[i];

        while (s) {
            struct stored *next = s->next;

            free(s); /* its row was never committed */
            s = next;
        }
    }
    pthread_mutex_destroy(&rs->mu);
    free(rs);
}

/* FNV-1a */
static struct stored **bucket_of(struct stored_runs *rs, const char *id)
{
    uint32_t h = 2166136261u;

    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 16777619u;
    return &rs->bucket[h % BUCKETS];
}

static struct stored *join(struct exchange *x)
{
    struct stored_runs *rs = x->api->stored;
    struct run *r = run_of(x);
    struct stored *s = mem_new(struct stored);

    s->runs = rs;
    snprintf(s->id, sizeof(s->id), "%s", r->row.request_id);
    s->key_id = r->row.key_id;
    s->x = x;
    pthread_mutex_lock(&rs->mu);
    s->at = bucket_of(rs, s->id);
    s->next = *s->at;
    if (s->next)
        s->next->at = &s->next;
    *s->at = s;
    pthread_mutex_unlock(&rs->mu);
    return s;
}

static void leave(void *arg)
{
    struct stored *s = arg;
    struct stored_runs *rs = s->runs;

    pthread_mutex_lock(&rs->mu);
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    pthread_mutex_unlock(&rs->mu);
    free(s);
}

/* NULL: none of this key. */
static struct stored *find_locked(struct stored_runs *rs, const char *id,
                                  int64_t key_id)
{
    struct stored *s = *bucket_of(rs, id);

    while (s && (s->key_id != key_id || s->forgotten || strcmp(s->id, id) != 0))
        s = s->next;
    return s;
}

/* --- a generation -------------------------------------------------------- */

static bool wanted(const struct exchange *x, const struct body *b)
{
    return run_of(x)->emit == &emit_responses && x->api->c.responses &&
           x->api->c.responses_keep > 0 && b->store != STORE_NO;
}

enum st stored_open(struct exchange *x, const struct body *b, struct err *e)
{
    struct response_row row = {.created_ms = x->req.arrived_epoch_ms};
    struct run *r = run_of(x);
    struct buf input, answer;
    enum st st;

    if (!wanted(x, b))
        return ST_OK;
    r->stored = true;
    snprintf(row.id, sizeof(row.id), "%s", r->row.request_id);
    row.key_id = r->row.key_id;
    row.expires_ms = row.created_ms + x->api->c.responses_keep * DAY_MS;
    snprintf(row.previous, sizeof(row.previous), "%.*s",
             (int)(b->previous.n < sizeof(row.previous) ? b->previous.n : 0),
             b->previous.s ? b->previous.s : "");
    snprintf(row.model, sizeof(row.model), "%s", r->row.model);
    buf_init(&input, BUF_ANSWER);
    buf_init(&answer, BUF_ANSWER);
    stored_items(row.id, b->input, &input);
    responses_object(r, NULL, NULL, "in_progress", &answer);
    if (input.failed || answer.failed)
        st = err_set(e, ST_LIMIT, "input", "this request is too large to be "
                                           "stored; send store: false");
    else
        st = responses_begin(x->api->c.responses, &row, &input, &answer, e);
    buf_release(&input);
    buf_release(&answer);
    if (!st)
        r->store = join(x);
    return st;
}

void stored_undo(struct exchange *x)
{
    struct run *r = run_of(x);

    if (!r->store)
        return;
    responses_undo(x->api->c.responses, r->store->id, r->store->key_id);
    leave(r->store);
    r->store = NULL;
}

void stored_close(struct exchange *x, const struct figures *f)
{
    struct run *r = run_of(x);
    struct stored *s = r->store;
    const char *status = "cancelled";
    struct err e = {0};
    bool wrong;
    struct buf answer;

    if (!s)
        return;
    r->store = NULL;
    /* no wake of ours can come behind this */
    pthread_mutex_lock(&s->runs->mu);
    s->x = NULL;
    pthread_mutex_unlock(&s->runs->mu);
    wrong = run_error(r, &e);
    if (!atomic_load(&x->gone))
        status = responses_status(r, wrong ? &e : NULL);
    buf_init(&answer, BUF_ANSWER);
    responses_object(r, f, wrong ? &e : NULL, status, &answer);
    responses_end(x->api->c.responses, s->id, status, &answer, leave, s);
}

bool stored_cancelled(const struct run *r)
{
    return r->store && atomic_load(&r->store->cancelled);
}

/* --- other requests ------------------------------------------------------ */

enum stored_state stored_state_of(struct stored_runs *rs, const char *id,
                                  int64_t key_id)
{
    enum stored_state state = STORED_NO;
    const struct stored *s;

    pthread_mutex_lock(&rs->mu);
    s = find_locked(rs, id, key_id);
    if (s)
        state = s->x ? STORED_RUNS : STORED_WRITING;
    pthread_mutex_unlock(&rs->mu);
    return state;
}

void stored_cancel(struct stored_runs *rs, const char *id, int64_t key_id)
{
    struct stored *s;

    pthread_mutex_lock(&rs->mu);
    s = find_locked(rs, id, key_id);
    if (s && s->x) {
        atomic_store(&s->cancelled, 1);
        if (s->x->wake)
            s->x->wake(s->x->wake_arg); /* it only signals */
    }
    pthread_mutex_unlock(&rs->mu);
}

void stored_forget(struct stored_runs *rs, const char *id, int64_t key_id)
{
    struct stored *s;

    pthread_mutex_lock(&rs->mu);
    s = find_locked(rs, id, key_id);
    if (s)
        s->forgotten = true;
    pthread_mutex_unlock(&rs->mu);
}

/* --- items --------------------------------------------------------------- */

static const char *type_of(const struct json *item)
{
    static const char *const types[][2] = {
        {"message", "msg"}, {"reasoning", "rs"}, {"function_call", "fc"},
        {"function_call_output", "fco"}, {"custom_tool_call", "ctc"},
        {"custom_tool_call_output", "ctco"},
    };
    const struct json *type = json_get(item, "type");

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!type || json_is(type, types[i][0]))
            return types[i][1];
    return "item";
}

/* An id of ours tells its response, and that it is one of the input. */
static void put_item(const char *id, size_t at, const struct json *item,
                     struct buf *out)
{
    const struct json *own = json_get(item, "id");
    const struct json *type = json_get(item, "type");

    buf_puts(out, "{\"id\":");
    if (own && own->type == JSON_STR && own->str.n)
        jsontext(out, own, JT_COMPACT);
    else
        buf_printf(out, "\"%s_%si%zx\"", type_of(item), id + 5, at);
    buf_puts(out, ",\"type\":");
    if (type)
        jsontext(out, type, JT_COMPACT);
    else
        buf_puts(out, "\"message\"");
    for (const struct json *m = item->child; m; m = m->next) {
        if (m == own || m == type)
            continue;
        buf_putc(out, ',');
        jsontext_string(out, m->key.s, m->key.n, JT_COMPACT);
        buf_putc(out, ':');
        jsontext(out, m, JT_COMPACT);
    }
    buf_putc(out, '}');
}

void stored_items(const char *id, const struct json *input, struct buf *out)
{
    size_t at = 0;

    buf_putc(out, '[');
    for (const struct json *i = input ? input->child : NULL; i && !out->failed;
         i = i->next) {
        if (at)
            buf_putc(out, ',');
        put_item(id, at++, i, out);
    }
    buf_putc(out, ']');
}
