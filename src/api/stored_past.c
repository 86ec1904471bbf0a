/* What a request goes on from: stored responses, as items. */
#include "acct/responses.h"
#include "api/hold.h"
#include "api/run.h"
#include "api/stored.h"
#include "base/ascii.h"
#include "base/thread.h"

#define FIELD "previous_response_id"
#define HEX 24 /* digits that an item's id has of its response */

struct list {
    struct arena *a;
    struct json *v;
    struct json **link;
};

static enum st no_arena(struct err *e)
{
    return err_set(e, ST_LIMIT, FIELD,
                   "what this response goes on from is too large");
}

static enum st list_new(struct list *l, struct arena *a, struct err *e)
{
    *l = (struct list){.a = a, .v = arena_alloc(a, sizeof(*l->v))};
    if (!l->v)
        return no_arena(e);
    l->v->type = JSON_ARR;
    l->link = &l->v->child;
    return ST_OK;
}

static enum st list_add(struct list *l, const struct json *items,
                        struct err *e)
{
    for (const struct json *i = items ? items->child : NULL; i; i = i->next) {
        struct json *copy = arena_alloc(l->a, sizeof(*copy));

        if (!copy)
            return no_arena(e);
        *copy = *i;
        copy->next = NULL;
        *l->link = copy;
        l->link = &copy->next;
        l->v->n++;
    }
    return ST_OK;
}

/* What we wrote and cannot read is no fault of the client's. */
static enum st parse(const struct json **out, struct arena *a,
                     const struct buf *text, struct err *e)
{
    enum st st;

    *out = NULL;
    if (!text->n)
        return ST_OK;
    st = json_parse(out, a, text->p, text->n, e);
    if (st == ST_INVALID)
        return err_set(e, ST_INTERNAL, "", "a stored response is broken");
    if (st == ST_LIMIT)
        return no_arena(e);
    return st;
}

/* The input and the output of one response. */
static enum st load(struct exchange *x, const char *id, struct arena *a,
                    const struct json **input, const struct json **output,
                    struct err *e)
{
    struct buf in, out;
    const struct json *answer;
    char status[16];
    enum st st;

    buf_init(&in, BUF_ANSWER);
    buf_init(&out, BUF_ANSWER);
    st = responses_read(x->api->c.responses, id, run_of(x)->row.key_id,
                        epoch_ms(), status, &in, &out, e);
    if (!st)
        st = parse(input, a, &in, e);
    if (!st)
        st = parse(&answer, a, &out, e);
    if (!st)
        *output = json_get(answer, "output");
    buf_release(&in);
    buf_release(&out);
    return st;
}

/* All that one request may load is bounded like a body, and in the accounts
 * before it is parsed; so is an item each time that it is named, for each time
 * it is read and stored anew. */
static enum st make_room(struct stored_past *p, size_t bytes, struct err *e)
{
    size_t most = (size_t)p->x->api->c.body_max;

    if (!mem_add(&p->bytes, p->bytes, bytes) || p->bytes > most)
        return err_set(e, ST_LIMIT, "",
                       "the stored responses that this request goes on from "
                       "have more than %zu bytes", most);
    return hold_past(p->x, bytes, e);
}

/* One that is not committed yet is no unknown one. */
static enum st check_state(struct exchange *x, const char *id, struct err *e)
{
    switch (stored_state_of(x->api->stored, id, run_of(x)->row.key_id)) {
    case STORED_RUNS:
        return err_set(e, ST_INVALID, "", "this response is still running");
    case STORED_WRITING:
        return err_set(e, ST_BUSY, "", "the response that this one goes on "
                                       "from is being written; try again");
    case STORED_NO:
        break;
    }
    return ST_OK;
}

static enum st load_chain(struct exchange *x, const struct response_chain *c,
                          struct list *l, struct err *e)
{
    for (size_t i = c->n; i-- > 0;) {
        const struct json *input, *output;
        enum st st = load(x, c->id[i], l->a, &input, &output, e);

        if (st == ST_NOT_FOUND)
            return err_set(e, ST_INVALID, FIELD,
                           "a response that this one goes on from was deleted "
                           "or has expired");
        if (!st)
            st = list_add(l, input, e);
        if (!st)
            st = list_add(l, output, e);
        if (st)
            return st;
    }
    return ST_OK;
}

/* As OpenAI's reference has it: 400, a route that is there. */
static enum st unknown(struct err *e)
{
    return err_set(e, ST_INVALID, FIELD,
                   "no such response is kept here; send the conversation in "
                   "input");
}

static enum st chain(void *arg, struct arena *a, struct text id,
                     const struct json **items, struct err *e)
{
    struct stored_past *p = arg;
    struct exchange *x = p->x;
    struct response_chain *c;
    struct list l;
    char name[RESPONSE_ID_LEN + 1];
    enum st st;

    *items = NULL;
    if (!responses_id_ok(id.s, id.n))
        return unknown(e);
    snprintf(name, sizeof(name), "%.*s", RESPONSE_ID_LEN, id.s);
    c = mem_new(struct response_chain);
    st = check_state(x, name, e);
    if (!st)
        st = responses_chain(x->api->c.responses, name, run_of(x)->row.key_id,
                             epoch_ms(), x->api->c.body_max, c, e);
    if (!st)
        st = make_room(p, c->bytes, e);
    if (!st)
        st = list_new(&l, a, e);
    if (!st)
        st = load_chain(x, c, &l, e);
    if (!st)
        *items = l.v;
    if (st == ST_NOT_FOUND)
        st = unknown(e);
    free(c);
    return st;
}

/* --- one item ------------------------------------------------------------ */

static enum st places(struct stored_list *out, struct arena *a,
                      const struct json *list, struct err *e)
{
    size_t n = list ? list->n : 0;

    *out = (struct stored_list){.p = arena_array(a, n + 1, sizeof(*out->p))};
    if (!out->p)
        return no_arena(e);
    for (const struct json *i = n ? list->child : NULL; i; i = i->next)
        out->p[out->n++] = i;
    return ST_OK;
}

/* Behind the digits of its response an id of ours has an item's place, of the
 * input behind an i: nobody else's begins so, and nobody has to search. */
static const struct json *find(const struct stored_past *p, struct text id)
{
    const char *s = (const char *)memchr(id.s, '_', id.n) + 1 + HEX;
    const char *end = id.s + id.n;
    const struct stored_list *list = *s == 'i' ? &p->input : &p->output;
    const struct json *own;
    size_t at = 0;

    for (s += *s == 'i'; s < end; s++) {
        if (ascii_hex(*s) < 0 || at > list->n)
            return NULL;
        at = 16 * at + (size_t)ascii_hex(*s);
    }
    own = at < list->n ? json_get(list->p[at], "id") : NULL;
    return own && own->type == JSON_STR && text_same(own->str, id)
               ? list->p[at]
               : NULL;
}

/* About what it takes as JSON. */
static size_t bytes_of(const struct json *v)
{
    size_t n = v->key.n + v->str.n + 8;

    for (const struct json *c = v->child; c; c = c->next)
        n += bytes_of(c); /* JSON_DEPTH_MAX */
    return n;
}

/* msg_ and 24 digits and what tells the item: the digits are its response's. */
static bool response_of(struct text id, char name[RESPONSE_ID_LEN + 1])
{
    const char *mark = id.n ? memchr(id.s, '_', id.n) : NULL;

    if (!mark || id.n - (size_t)(mark + 1 - id.s) <= HEX)
        return false;
    snprintf(name, RESPONSE_ID_LEN + 1, "resp_%.*s", HEX, mark + 1);
    return responses_id_ok(name, strlen(name));
}

/* The last one is kept: references often are to items of one response. */
static enum st load_one(struct stored_past *p, const char *name,
                        struct arena *a, struct err *e)
{
    struct exchange *x = p->x;
    const struct json *input, *output;
    size_t bytes;
    enum st st;

    if (!strcmp(p->name, name))
        return ST_OK;
    p->name[0] = '\0';
    st = check_state(x, name, e);
    if (!st)
        st = responses_size(x->api->c.responses, name, run_of(x)->row.key_id,
                            epoch_ms(), &bytes, e);
    if (!st)
        st = make_room(p, bytes, e);
    if (!st)
        st = load(x, name, a, &input, &output, e);
    if (!st)
        st = places(&p->input, a, input, e);
    if (!st)
        st = places(&p->output, a, output, e);
    if (!st)
        snprintf(p->name, sizeof(p->name), "%s", name);
    return st;
}

static enum st item(void *arg, struct arena *a, struct text id,
                    const struct json **out, struct err *e)
{
    struct stored_past *p = arg;
    const struct json *found = NULL;
    char name[RESPONSE_ID_LEN + 1];
    enum st st;

    *out = NULL;
    if (!response_of(id, name))
        return err_set(e, ST_NOT_FOUND, "", "there is no such item");
    st = load_one(p, name, a, e);
    if (!st) {
        found = find(p, id);
        st = found ? make_room(p, bytes_of(found), e)
                   : err_set(e, ST_NOT_FOUND, "", "there is no such item");
    }
    if ((st == ST_LIMIT || st == ST_INVALID) && e && !e->where[0])
        snprintf(e->where, sizeof(e->where), "input");
    if (!st)
        *out = found;
    return st;
}

const struct body_past *stored_past(struct stored_past *p, struct exchange *x)
{
    *p = (struct stored_past){
        .x = x, .past = {.arg = p, .chain = chain, .item = item}};
    return x->api->c.responses && x->api->c.responses_keep > 0 ? &p->past
                                                               : NULL;
}
