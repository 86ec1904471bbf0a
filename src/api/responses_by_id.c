/*
 * GET and DELETE /v1/responses/{id}, its cancel and its input_items.
 *
 * Most answers are one look into the database. The others wait as a stream
 * does, pumped by a timer and for WAIT_US at most: for a row that is on its
 * way to the database, for a generation that was told to stop, for a delete to
 * be committed.
 */
#include "acct/responses.h"
#include "api/answer.h"
#include "api/handlers.h"
#include "api/hold.h"
#include "api/route.h"
#include "api/run.h"
#include "api/stored.h"
#include "base/percent.h"
#include "base/num.h"
#include "base/thread.h"
#include "chat/jsontext.h"

#define WAIT_US 10000000
#define LOOK_EVERY_US 20000
#define PAGE 20      /* input items of one answer, where it is not said */
#define PAGE_MAX 100
#define COPIES 3     /* of an answer: as it grows, and on its way out */
#define VALUE_MAX 128 /* bytes of a value of the query */

enum wish { WISH_GET, WISH_ITEMS, WISH_CANCEL, WISH_DELETE };

struct page { /* of input items */
    int64_t limit;
    bool ascending;
    char after[VALUE_MAX]; /* "": from the start */
};

struct stored_wait {
    enum wish wish;
    char id[RESPONSE_ID_LEN + 1];
    int64_t by_us; /* 0: it never had to wait */
    struct page page;
};

/* --- the query ----------------------------------------------------------- */

/* The value of `name`; false when it is not there. One that is too long is
 * cut, and then is none that means anything. */
static bool query_get(struct span query, const char *name,
                      char out[VALUE_MAX])
{
    size_t head = strlen(name), n = 0;

    while (query.n) {
        const char *end = memchr(query.s, '&', query.n);
        size_t len = end ? (size_t)(end - query.s) : query.n;
        const char *s = query.s;

        query.s += len + (end ? 1 : 0);
        query.n -= len + (end ? 1 : 0);
        if (len <= head || memcmp(s, name, head) != 0 || s[head] != '=')
            continue;
        percent_decode((struct span){s + head + 1, len - head - 1}, out,
                       VALUE_MAX - 1, &n);
        out[n] = '\0';
        return true;
    }
    return false;
}

static enum st read_page(struct page *p, struct span query, struct err *e)
{
    char value[VALUE_MAX];

    p->limit = PAGE;
    if (query_get(query, "limit", value) &&
        !num_parse_i64(value, strlen(value), 1, PAGE_MAX, &p->limit))
        return err_set(e, ST_INVALID, "limit",
                       "must be a whole number from 1 to %d", PAGE_MAX);
    if (query_get(query, "order", value)) {
        p->ascending = !strcmp(value, "asc");
        if (!p->ascending && strcmp(value, "desc") != 0)
            return err_set(e, ST_INVALID, "order", "must be asc or desc");
    }
    if (query_get(query, "after", value))
        memcpy(p->after, value, sizeof(p->after));
    return ST_OK;
}

/* --- input items --------------------------------------------------------- */

/* The list of one part that a string stands for. */
static void put_string(struct jw *w, const struct json *text, bool output)
{
    jw_arr(w);
    jw_obj(w);
    jw_kstr(w, "type", output ? "output_text" : "input_text");
    jw_kstrn(w, "text", text->str.s, text->str.n);
    if (output)
        jw_kempty(w, "annotations");
    jw_obj_end(w);
    jw_arr_end(w);
}

static void put_value(struct jw *w, const struct json *v, struct buf *tmp)
{
    buf_clear(tmp);
    jsontext(tmp, v, JT_COMPACT);
    if (tmp->failed)
        jw_fail(w);
    else
        jw_raw(w, tmp->p, tmp->n);
}

static void put_members(struct jw *w, const struct json *object,
                        struct buf *tmp)
{
    for (const struct json *m = object->child; m; m = m->next) {
        jw_strn(w, m->key.s, m->key.n);
        put_value(w, m, tmp);
    }
}

static void put_parts(struct jw *w, const struct json *list, struct buf *tmp)
{
    jw_arr(w);
    for (const struct json *part = list->child; part; part = part->next) {
        jw_obj(w);
        put_members(w, part, tmp);
        if (json_is(json_get(part, "type"), "output_text") &&
            !json_get(part, "annotations"))
            jw_kempty(w, "annotations");
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* What the package's types say is there, and clients need not send. */
static void put_lacking(struct jw *w, const struct json *item)
{
    const struct json *type = json_get(item, "type");
    bool over = json_is(json_get(item, "role"), "assistant") ||
                json_is(type, "function_call") ||
                json_is(type, "function_call_output") ||
                json_is(type, "custom_tool_call") ||
                json_is(type, "custom_tool_call_output");

    if (over && !json_get(item, "status"))
        jw_kstr(w, "status", "completed");
    if (json_is(type, "reasoning") && !json_get(item, "summary"))
        jw_kempty(w, "summary");
}

/* As it was stored, and as its type declares it. */
static void put_item(struct jw *w, const struct json *item, struct buf *tmp)
{
    bool message = json_is(json_get(item, "type"), "message");
    bool output = json_is(json_get(item, "role"), "assistant");

    jw_obj(w);
    for (const struct json *m = item->child; m; m = m->next) {
        bool content = message && text_is(m->key, "content");

        jw_strn(w, m->key.s, m->key.n);
        if (content && m->type == JSON_STR)
            put_string(w, m, output);
        else if (content && m->type == JSON_ARR)
            put_parts(w, m, tmp);
        else
            put_value(w, m, tmp);
    }
    put_lacking(w, item);
    jw_obj_end(w);
}

static void put_id(struct jw *w, const char *key, const struct json *item)
{
    const struct json *id = json_get(item, "id");

    if (id && id->type == JSON_STR)
        jw_kstrn(w, key, id->str.s, id->str.n);
    else
        jw_kstr(w, key, "");
}

static bool is_id(const struct json *item, const char *id)
{
    const struct json *own = json_get(item, "id");

    return own && own->type == JSON_STR && text_is(own->str, id);
}

/* items[from..from + n) of the order that was asked for. */
static void put_page(struct jw *w, const struct json **items, size_t from,
                     size_t n, bool more)
{
    struct buf tmp;

    buf_init(&tmp, BUF_ANSWER);
    jw_obj(w);
    jw_kstr(w, "object", "list");
    jw_key(w, "data");
    jw_arr(w);
    for (size_t i = 0; i < n; i++)
        put_item(w, items[from + i], &tmp);
    jw_arr_end(w);
    put_id(w, "first_id", n ? items[from] : NULL);
    put_id(w, "last_id", n ? items[from + n - 1] : NULL);
    jw_kbool(w, "has_more", more);
    jw_obj_end(w);
    buf_release(&tmp);
}

static enum st answer_items(struct exchange *x, const struct page *p,
                            const struct buf *text, struct err *e)
{
    const struct json *list, **items;
    size_t n = 0, from = 0, count;
    struct jw *w;
    enum st st = hold_past(x, text->n, e);

    if (!st)
        st = json_parse(&list, &x->arena, text->p ? text->p : "[]",
                        text->p ? text->n : 2, e);
    if (st)
        return st == ST_INVALID
                   ? err_set(e, ST_INTERNAL, "", "a stored response is broken")
                   : st;
    items = arena_array(&x->arena, list->n + 1, sizeof(*items));
    if (!items)
        return err_set(e, ST_NOMEM, "", "no memory for the items");
    for (const struct json *i = list->child; i; i = i->next, n++)
        items[p->ascending ? n : list->n - 1 - n] = i;
    if (p->after[0]) {
        while (from < n && !is_id(items[from], p->after))
            from++;
        if (from++ == n)
            return err_set(e, ST_INVALID, "after",
                           "no input item of this response has this id");
    }
    count = n - from;
    if (count > (size_t)p->limit)
        count = (size_t)p->limit;
    w = jw_new(&x->body);
    put_page(w, items, from, count, from + count < n);
    answer_written(x, w, 200);
    return ST_OK;
}

/* --- one look ------------------------------------------------------------ */

/* What is said when the time is up. */
static bool not_yet(struct err *e)
{
    err_set(e, ST_BUSY, "", "this response is still being written; try again "
                            "later");
    return false;
}

/* What it holds, the copies on its way to the client, in the accounts. */
static enum st make_room(struct exchange *x, const struct stored_wait *w,
                         struct err *e)
{
    size_t bytes;
    enum st st = responses_size(x->api->c.responses, w->id,
                                run_of(x)->row.key_id, epoch_ms(), &bytes, e);

    if (!st && !mem_mul(&bytes, bytes, COPIES))
        bytes = SIZE_MAX;
    return st ? st : hold_answer(x, bytes, e);
}

static enum st read_items(struct exchange *x, const struct stored_wait *w,
                          struct err *e)
{
    struct buf text;
    char status[16];
    enum st st = make_room(x, w, e);

    buf_init(&text, BUF_ANSWER);
    if (!st)
        st = responses_read(x->api->c.responses, w->id, run_of(x)->row.key_id,
                            epoch_ms(), status, &text, NULL, e);
    if (!st)
        st = answer_items(x, &w->page, &text, e);
    buf_release(&text);
    return st;
}

static enum st read_object(struct exchange *x, const struct stored_wait *w,
                           struct err *e)
{
    char status[16];
    enum st st = make_room(x, w, e);

    buf_clear(&x->body);
    if (!st)
        st = responses_read(x->api->c.responses, w->id, run_of(x)->row.key_id,
                            epoch_ms(), status, NULL, &x->body, e);
    if (!st) {
        buf_putc(&x->body, '\n');
        answer_body(x, 200, JSON_TYPE, NULL);
    }
    return st;
}

/* The answer is made, or *e says why not; false: not yet, *e tells what is
 * awaited. */
static bool look(struct exchange *x, const struct stored_wait *w,
                 struct err *e)
{
    enum stored_state state = stored_state_of(x->api->stored, w->id,
                                              run_of(x)->row.key_id);
    enum st st;

    if (state == STORED_WRITING ||
        (state == STORED_RUNS && w->wish == WISH_CANCEL))
        return not_yet(e);
    st = w->wish == WISH_ITEMS ? read_items(x, w, e) : read_object(x, w, e);
    if (st == ST_NOT_FOUND && state == STORED_RUNS)
        return not_yet(e);
    if (!st)
        e->st = ST_OK;
    return true;
}

/* --- waiting ------------------------------------------------------------- */

static bool deleted(struct exchange *x, struct err *e)
{
    struct run *r = run_of(x);
    struct jw *w;

    if (!run_committed(r)) {
        err_set(e, ST_BUSY, "", "the database is behind; this response is "
                                "deleted as soon as it can be written");
        return false;
    }
    w = jw_new(&x->body);
    jw_obj(w);
    jw_kstr(w, "id", r->wait->id);
    jw_kstr(w, "object", "response");
    jw_kbool(w, "deleted", true);
    jw_obj_end(w);
    answer_written(x, w, 200);
    e->st = ST_OK;
    return true;
}

static enum x_pump pump(struct exchange *x, struct buf *out, int64_t now_us)
{
    struct run *r = run_of(x);
    struct stored_wait *w = r->wait;
    struct err e = {0};
    bool over;

    if (atomic_load(&x->gone)) {
        run_stop_wakes(r);
        return X_FAILED;
    }
    over = w->wish == WISH_DELETE ? deleted(x, &e) : look(x, w, &e);
    if (!over && now_us < w->by_us) {
        r->pump_at_us = now_us + LOOK_EVERY_US;
        return X_MORE;
    }
    if (e.st)
        run_refuse(x, &e);
    run_stop_wakes(r);
    buf_add(out, x->head.p, x->head.n);
    buf_add(out, x->body.p, x->body.n);
    return X_DONE;
}

static void wait_for(struct exchange *x)
{
    struct run *r = run_of(x);

    r->wait->by_us = mono_us() + WAIT_US;
    r->pump = pump;
    x->status = 200; /* the pump may say otherwise */
    x->streaming = true;
}

/* --- handlers ------------------------------------------------------------ */

/* Everything but a well-formed id is as unknown as an id that never was. */
static struct stored_wait *open_wait(struct exchange *x, enum wish wish,
                                     struct err *e)
{
    struct run *r = run_of(x);
    struct span id = route_rest(r->route, x->req.path);

    if (!x->api->c.responses || !responses_id_ok(id.s, id.n)) {
        err_set(e, ST_NOT_FOUND, "", "there is no such response");
        return NULL;
    }
    r->wait = mem_new(struct stored_wait);
    r->wait->wish = wish;
    snprintf(r->wait->id, sizeof(r->wait->id), "%.*s", (int)id.n, id.s);
    return r->wait;
}

static void first_look(struct exchange *x, const struct stored_wait *w)
{
    struct err e = {0};

    if (!look(x, w, &e))
        wait_for(x);
    else if (e.st)
        run_refuse(x, &e);
}

void handle_response_get(struct exchange *x)
{
    struct err e;
    char value[VALUE_MAX];
    struct stored_wait *w = open_wait(x, WISH_GET, &e);

    if (w && query_get(x->req.query, "stream", value) &&
        strcmp(value, "false") != 0) {
        err_set(&e, ST_INVALID, "stream", "a stored response is not streamed "
                                          "again; leave this out");
        w = NULL;
    }
    if (w)
        first_look(x, w);
    else
        run_refuse(x, &e);
}

void handle_response_items(struct exchange *x)
{
    struct err e;
    struct stored_wait *w = open_wait(x, WISH_ITEMS, &e);

    if (w && !read_page(&w->page, x->req.query, &e))
        first_look(x, w);
    else
        run_refuse(x, &e);
}

void handle_response_cancel(struct exchange *x)
{
    struct err e;
    struct stored_wait *w = open_wait(x, WISH_CANCEL, &e);

    if (!w) {
        run_refuse(x, &e);
        return;
    }
    stored_cancel(x->api->stored, w->id, run_of(x)->row.key_id);
    first_look(x, w);
}

static enum st post_delete(struct exchange *x, struct stored_wait *w,
                           struct err *e)
{
    struct run *r = run_of(x);
    int64_t key = r->row.key_id;
    void (*done)(void *arg);
    char status[16];
    void *arg;
    enum st st = responses_read(x->api->c.responses, w->id, key, epoch_ms(),
                                status, NULL, NULL, e);

    if (st == ST_NOT_FOUND &&
        stored_state_of(x->api->stored, w->id, key) != STORED_NO)
        st = ST_OK; /* its row is on its way: the delete follows it */
    if (st)
        return st;
    run_await(x, &done, &arg);
    st = responses_delete(x->api->c.responses, w->id, key, done, arg, e);
    if (st)
        run_await_not(r);
    else
        stored_forget(x->api->stored, w->id, key);
    return st;
}

void handle_response_delete(struct exchange *x)
{
    struct err e;
    struct stored_wait *w = open_wait(x, WISH_DELETE, &e);

    if (w && !post_delete(x, w, &e))
        wait_for(x);
    else
        run_refuse(x, &e);
}
