/*
 * t/lib/parts_t.h - what a client of /v1/messages or /v1/responses gets, as a
 * list of parts; every rule of the two event streams is checked on the way.
 *
 *   parts_stream(&p, WIRE_BLOCKS, bytes, n);  or  parts_whole(&p, .., json, n)
 *   p.bad      "" or the first rule that was broken
 *   p.list     parts, one after another: a letter (R reasoning, T text, C
 *              call), bytes and ":", those bytes, ";". A call is its name, a
 *              blank, and its arguments: sorted JSON, or as they came
 *   p.cut      the list again, arguments left out
 *   p.end      the last event's name, and what says how it ended
 *
 * Ids, times and usage are left out. Sources: resources/messages/messages.d.ts
 * of the npm package @anthropic-ai/sdk 1.14.0, resources/responses/responses
 * .d.ts of openai 7.59.0.
 */
#ifndef T_PARTS_T_H
#define T_PARTS_T_H

#include "base/buf.h"
#include "base/utf8.h"
#include "chat/jsontext.h"
#include "json/read.h"

enum parts_wire { PARTS_BLOCKS, PARTS_ITEMS };

struct parts {
    enum parts_wire wire;
    struct arena mem;
    char bad[256];
    struct buf list, cut;
    char end[96];
    size_t events, deltas, bytes;

    /* while reading a stream */
    bool begun, over, finished;
    char open;            /* R, T or C; 0: none */
    const char *args;     /* what an item's arguments are called */
    int64_t index;        /* the next part's */
    int step;             /* of the open item, see parts_item */
    bool sealed;
    struct buf text;      /* of the open part */
    struct buf name, id;  /* of the open call; id also of any item */
    struct buf items;     /* list of what was done, for the last object */
};

static inline void parts_fail(struct parts *p, const char *what,
                              const char *detail)
{
    if (!p->bad[0])
        snprintf(p->bad, sizeof(p->bad), "event %zu: %s%s%.120s", p->events,
                 what, detail ? ": " : "", detail ? detail : "");
}

static inline void parts_check(struct parts *p, bool is, const char *what)
{
    if (!is)
        parts_fail(p, what, NULL);
}

static inline void parts_open(struct parts *p, enum parts_wire wire)
{
    *p = (struct parts){.wire = wire};
    arena_init(&p->mem, 512u << 20);
    buf_init(&p->list, BUF_FILE);
    buf_init(&p->cut, BUF_FILE);
    buf_init(&p->text, BUF_FILE);
    buf_init(&p->name, BUF_FILE);
    buf_init(&p->id, BUF_FILE);
    buf_init(&p->items, BUF_FILE);
    buf_puts(&p->list, "");
    buf_puts(&p->cut, "");
}

static inline void parts_close(struct parts *p)
{
    arena_release(&p->mem);
    buf_release(&p->list);
    buf_release(&p->cut);
    buf_release(&p->text);
    buf_release(&p->name);
    buf_release(&p->id);
    buf_release(&p->items);
}

static inline struct text parts_str(struct parts *p, const struct json *o,
                                    const char *key)
{
    const struct json *v = json_get(o, key);

    if (!v || v->type != JSON_STR) {
        parts_fail(p, "no string", key);
        return (struct text){"", 0};
    }
    return v->str.n ? v->str : (struct text){"", 0};
}

static inline int64_t parts_int(struct parts *p, const struct json *o,
                                const char *key)
{
    const struct json *v = json_get(o, key);

    if (!v || !v->is_int)
        parts_fail(p, "no integer", key);
    return v && v->is_int ? v->i : -1;
}

static inline bool parts_same(const struct buf *b, struct text t)
{
    return b->n == t.n && (!t.n || !memcmp(b->p, t.s, t.n));
}

static inline void parts_one(struct buf *list, char kind, struct text t)
{
    buf_printf(list, "%c%zu:", kind, t.n);
    buf_add(list, t.s, t.n);
    buf_putc(list, ';');
}

/* Arguments in one spelling, when they are JSON. */
static inline void parts_args(struct parts *p, struct text args,
                              struct buf *out)
{
    const struct json *v;

    if (json_parse(&v, &p->mem, args.s, args.n, NULL))
        buf_add(out, args.s, args.n);
    else
        jsontext(out, v, JT_SORTED);
}

static inline void parts_call(struct parts *p, struct text name,
                              struct text args)
{
    struct buf b;

    buf_init(&b, BUF_FILE);
    buf_add(&b, name.s, name.n);
    parts_one(&p->cut, 'C', buf_text(&b));
    buf_putc(&b, ' ');
    parts_args(p, args, &b);
    parts_one(&p->list, 'C', buf_text(&b));
    buf_release(&b);
}

static inline void parts_text(struct parts *p, char kind, struct text t)
{
    parts_one(&p->list, kind, t);
    parts_one(&p->cut, kind, t);
}

/* The open part is complete. */
static inline void parts_done(struct parts *p)
{
    if (p->open == 'C')
        parts_call(p, buf_text(&p->name), buf_text(&p->text));
    else
        parts_text(p, p->open, buf_text(&p->text));
    p->open = 0;
    buf_clear(&p->text);
    buf_clear(&p->name);
    p->index++;
}

static inline void parts_grow(struct parts *p, struct text t)
{
    parts_check(p, t.n, "an empty delta");
    p->deltas++;
    buf_add(&p->text, t.s, t.n);
}

/* --- /v1/messages -------------------------------------------------------- */

static inline void blocks_start(struct parts *p, const struct json *v)
{
    const struct json *b = json_get(v, "content_block");

    parts_check(p, p->begun && !p->open && !p->finished, "a block too early");
    parts_check(p, parts_int(p, v, "index") == p->index, "an index");
    p->sealed = false;
    if (json_is(json_get(b, "type"), "text")) {
        p->open = 'T';
        parts_check(p, !parts_str(p, b, "text").n, "text in a start");
    } else if (json_is(json_get(b, "type"), "thinking")) {
        p->open = 'R';
        parts_check(p, !parts_str(p, b, "thinking").n, "thinking in a start");
        (void)parts_str(p, b, "signature");
    } else if (json_is(json_get(b, "type"), "tool_use")) {
        const struct json *in = json_get(b, "input");
        struct text name = parts_str(p, b, "name");

        p->open = 'C';
        parts_check(p, in && in->type == JSON_OBJ && !in->n, "input");
        parts_check(p, parts_str(p, b, "id").n, "a call's id");
        buf_add(&p->name, name.s, name.n);
    } else {
        parts_fail(p, "a block of another type", NULL);
    }
}

static inline void blocks_delta(struct parts *p, const struct json *v)
{
    const struct json *d = json_get(v, "delta"), *type = json_get(d, "type");

    parts_check(p, parts_int(p, v, "index") == p->index, "an index");
    if (json_is(type, "signature_delta")) {
        parts_check(p, p->open == 'R' && !p->sealed, "a signature here");
        parts_check(p, parts_str(p, d, "signature").n, "an empty signature");
        p->sealed = true;
        return;
    }
    parts_check(p, !p->sealed, "a delta behind the signature");
    if (json_is(type, "text_delta") && p->open == 'T')
        parts_grow(p, parts_str(p, d, "text"));
    else if (json_is(type, "thinking_delta") && p->open == 'R')
        parts_grow(p, parts_str(p, d, "thinking"));
    else if (json_is(type, "input_json_delta") && p->open == 'C')
        parts_grow(p, parts_str(p, d, "partial_json"));
    else
        parts_fail(p, "a delta of another type", NULL);
}

static inline void blocks_event(struct parts *p, const struct json *v)
{
    const struct json *type = json_get(v, "type"), *d;

    if (json_is(type, "ping"))
        return;
    if (json_is(type, "message_start")) {
        const struct json *m = json_get(v, "message");

        parts_check(p, !p->begun, "a second start");
        parts_check(p, m && json_get(m, "content") &&
                           !json_get(m, "content")->n, "content at the start");
        p->begun = true;
    } else if (json_is(type, "content_block_start")) {
        blocks_start(p, v);
    } else if (json_is(type, "content_block_delta")) {
        blocks_delta(p, v);
    } else if (json_is(type, "content_block_stop")) {
        parts_check(p, p->open && parts_int(p, v, "index") == p->index,
                    "a stop");
        parts_check(p, p->open != 'R' || p->sealed, "no signature");
        if (p->open)
            parts_done(p);
    } else if (json_is(type, "message_delta")) {
        parts_check(p, p->begun && !p->open && !p->finished, "an end");
        d = json_get(v, "delta");
        snprintf(p->end, sizeof(p->end), "%s",
                 parts_str(p, d, "stop_reason").s);
        parts_int(p, json_get(v, "usage"), "output_tokens");
        p->finished = true;
    } else if (json_is(type, "message_stop")) {
        parts_check(p, p->finished, "a stop before the end");
        p->over = true;
    } else if (json_is(type, "error")) {
        snprintf(p->end, sizeof(p->end), "error %s",
                 parts_str(p, json_get(v, "error"), "type").s);
        parts_check(p, parts_str(p, json_get(v, "error"), "message").n,
                    "an error without words");
        p->over = true;
        if (p->open) /* it stays open */
            parts_done(p);
    } else {
        parts_fail(p, "an event of another type", NULL);
    }
}

static inline void blocks_whole(struct parts *p, const struct json *m)
{
    const struct json *list = json_get(m, "content");

    parts_check(p, json_is(json_get(m, "type"), "message") && list &&
                       list->type == JSON_ARR, "a message");
    snprintf(p->end, sizeof(p->end), "%s",
             parts_str(p, m, "stop_reason").s);
    for (const struct json *b = list ? list->child : NULL; b; b = b->next) {
        const struct json *type = json_get(b, "type");

        if (json_is(type, "text")) {
            parts_text(p, 'T', parts_str(p, b, "text"));
        } else if (json_is(type, "thinking")) {
            parts_check(p, parts_str(p, b, "signature").n, "no signature");
            parts_text(p, 'R', parts_str(p, b, "thinking"));
        } else if (json_is(type, "tool_use")) {
            const struct json *in = json_get(b, "input");
            struct buf args;

            parts_check(p, in && in->type == JSON_OBJ, "input");
            buf_init(&args, BUF_FILE);
            if (in)
                jsontext(&args, in, JT_SORTED);
            parts_call(p, parts_str(p, b, "name"), buf_text(&args));
            buf_release(&args);
        } else {
            parts_fail(p, "a block of another type", NULL);
        }
        p->index++;
    }
}

/* --- /v1/responses ------------------------------------------------------- */

/* The only part of an item's content. */
static inline struct text parts_content(struct parts *p,
                                        const struct json *item)
{
    const struct json *list = json_get(item, "content");

    if (!list || list->type != JSON_ARR || list->n > 1)
        parts_fail(p, "content", NULL);
    return list && list->child ? parts_str(p, list->child, "text")
                               : (struct text){"", 0};
}

static inline char items_kind(struct parts *p, const struct json *item)
{
    const struct json *type = json_get(item, "type");

    if (json_is(type, "message"))
        return 'T';
    if (json_is(type, "reasoning"))
        return 'R';
    p->args = json_is(type, "custom_tool_call") ? "input" : "arguments";
    if (json_is(type, "function_call") || json_is(type, "custom_tool_call"))
        return 'C';
    parts_fail(p, "an item of another type", NULL);
    return 'T';
}

/* An item of a whole answer, or at its end. */
static inline void items_item(struct parts *p, const struct json *item)
{
    char kind = items_kind(p, item);

    parts_check(p, parts_str(p, item, "id").n, "an item's id");
    if (kind == 'C') {
        parts_check(p, parts_str(p, item, "call_id").n, "a call's id");
        parts_call(p, parts_str(p, item, "name"), parts_str(p, item, p->args));
    } else {
        parts_text(p, kind, parts_content(p, item));
    }
    p->index++;
}

static inline void items_added(struct parts *p, const struct json *v)
{
    const struct json *item = json_get(v, "item");
    struct text id = parts_str(p, item, "id"), name;

    parts_check(p, p->begun && !p->open && !p->over, "an item too early");
    parts_check(p, parts_int(p, v, "output_index") == p->index, "an index");
    p->open = items_kind(p, item);
    p->step = 0;
    buf_clear(&p->id);
    buf_add(&p->id, id.s, id.n);
    if (p->open != 'C') {
        const struct json *c = json_get(item, "content");

        parts_check(p, !c || !c->n, "content at the start");
        return;
    }
    name = parts_str(p, item, "name");
    buf_add(&p->name, name.s, name.n);
    parts_check(p, !parts_str(p, item, p->args).n, "arguments at the start");
    p->step = 1; /* no part of content */
}

/* step: 0 added, 1 its part was, 2 the text is done, 3 the part is, too */
static inline void items_step(struct parts *p, const struct json *v, int from,
                              int to, const char *key)
{
    parts_check(p, p->open && p->step == from, "an event out of order");
    parts_check(p, parts_int(p, v, "output_index") == p->index, "an index");
    parts_check(p, parts_same(&p->id, parts_str(p, v, "item_id")),
                "an item's id");
    if (p->open != 'C')
        parts_check(p, parts_int(p, v, "content_index") == 0,
                    "an index of content");
    p->step = to;
    if (key)
        parts_check(p, parts_same(&p->text, parts_str(p, v, key)),
                    "what is done is not what came");
}

static inline void items_done(struct parts *p, const struct json *v)
{
    const struct json *item = json_get(v, "item");
    struct text text = {"", 0};

    parts_check(p, p->open && p->step == (p->open == 'C' ? 2 : 3),
                "an item ends too early");
    parts_check(p, parts_int(p, v, "output_index") == p->index, "an index");
    parts_check(p, parts_same(&p->id, parts_str(p, item, "id")),
                "an item's id");
    parts_check(p, items_kind(p, item) == p->open, "an item's type");
    text = p->open == 'C' ? parts_str(p, item, p->args)
                          : parts_content(p, item);
    parts_check(p, parts_same(&p->text, text),
                "what is done is not what came");
    if (p->open)
        parts_done(p);
}

static inline void items_end(struct parts *p, const struct json *v)
{
    const struct json *r = json_get(v, "response");
    const struct json *list = json_get(r, "output");
    struct parts last;

    snprintf(p->end, sizeof(p->end), "%s", parts_str(p, r, "status").s);
    p->over = true;
    parts_check(p, !p->open, "an open item at the end");
    parts_open(&last, p->wire);
    for (const struct json *i = list ? list->child : NULL; i; i = i->next)
        items_item(&last, i);
    if (last.bad[0])
        parts_fail(p, "the last object", last.bad);
    parts_check(p, parts_same(&p->list, buf_text(&last.list)),
                "the last object has other items");
    parts_close(&last);
}

static inline void items_event(struct parts *p, const struct json *v)
{
    const struct json *t = json_get(v, "type");
    const struct json *d = json_get(v, "delta");

    parts_check(p, parts_int(p, v, "sequence_number") == (int64_t)p->events,
                "a sequence number");
    if (json_is(t, "response.created")) {
        parts_check(p, p->events == 0, "created twice");
    } else if (json_is(t, "response.in_progress")) {
        parts_check(p, p->events == 1, "in progress");
        p->begun = true;
    } else if (json_is(t, "response.output_item.added")) {
        items_added(p, v);
    } else if (json_is(t, "response.content_part.added")) {
        items_step(p, v, 0, 1, NULL);
        parts_check(p, !parts_str(p, json_get(v, "part"), "text").n,
                    "text at the start");
    } else if (json_is(t, "response.output_text.delta") ||
               json_is(t, "response.reasoning_text.delta") ||
               json_is(t, "response.custom_tool_call_input.delta") ||
               json_is(t, "response.function_call_arguments.delta")) {
        items_step(p, v, 1, 1, NULL);
        parts_check(p, p->open == (t->str.s[9] == 'r'   ? 'R'
                                   : t->str.s[9] == 'o' ? 'T'
                                                        : 'C'),
                    "a delta of another kind");
        parts_grow(p, d ? d->str : (struct text){"", 0});
    } else if (json_is(t, "response.output_text.done") ||
               json_is(t, "response.reasoning_text.done")) {
        items_step(p, v, 1, 2, "text");
    } else if (json_is(t, "response.function_call_arguments.done")) {
        items_step(p, v, 1, 2, "arguments");
    } else if (json_is(t, "response.custom_tool_call_input.done")) {
        items_step(p, v, 1, 2, "input");
    } else if (json_is(t, "response.content_part.done")) {
        items_step(p, v, 2, 3, NULL);
        parts_check(p, parts_same(&p->text,
                                  parts_str(p, json_get(v, "part"), "text")),
                    "what is done is not what came");
    } else if (json_is(t, "response.output_item.done")) {
        items_done(p, v);
    } else if (json_is(t, "response.completed") ||
               json_is(t, "response.incomplete") ||
               json_is(t, "response.failed")) {
        items_end(p, v);
    } else {
        parts_fail(p, "an event of another type", NULL);
    }
}

static inline void items_whole(struct parts *p, const struct json *r)
{
    const struct json *list = json_get(r, "output");

    parts_check(p, json_is(json_get(r, "object"), "response") && list &&
                       list->type == JSON_ARR, "a response");
    snprintf(p->end, sizeof(p->end), "%s", parts_str(p, r, "status").s);
    for (const struct json *i = list ? list->child : NULL; i; i = i->next)
        items_item(p, i);
}

/* --- both ---------------------------------------------------------------- */

/* "event: NAME\ndata: JSON", without the empty line behind it. */
static inline void parts_event(struct parts *p, const char *s, size_t n)
{
    const char *data = memmem(s, n, "\ndata: ", 7);
    const struct json *v;
    struct err e;

    if (!data || n < 7 || memcmp(s, "event: ", 7) != 0 ||
        memchr(data + 1, '\n', n - (size_t)(data + 1 - s))) {
        parts_fail(p, "no event", NULL);
        return;
    }
    parts_check(p, !p->over, "an event behind the last one");
    if (json_parse(&v, &p->mem, data + 7, n - (size_t)(data + 7 - s), &e)) {
        parts_fail(p, "no JSON", e.text);
        return;
    }
    parts_check(p, parts_str(p, v, "type").n == (size_t)(data - s) - 7 &&
                       !memcmp(parts_str(p, v, "type").s, s + 7,
                               (size_t)(data - s) - 7),
                "its name is not its type");
    if (p->wire == PARTS_BLOCKS)
        blocks_event(p, v);
    else
        items_event(p, v);
    p->events++;
}

/* The body of a stream; comment lines may stand between events. */
static inline void parts_stream(struct parts *p, enum parts_wire wire,
                                const char *s, size_t n)
{
    parts_open(p, wire);
    p->bytes = n;
    while (n && !p->bad[0]) {
        const char *end = memmem(s, n, "\n\n", 2);
        size_t len = end ? (size_t)(end - s) : n;

        parts_check(p, end, "half an event");
        if (*s != ':' && end)
            parts_event(p, s, len);
        len += end ? 2 : 0;
        s += len;
        n -= len;
    }
    parts_check(p, p->over && !p->open, "no last event");
}

static inline void parts_whole(struct parts *p, enum parts_wire wire,
                               const char *s, size_t n)
{
    const struct json *v;
    struct err e;

    parts_open(p, wire);
    p->bytes = n;
    if (json_parse(&v, &p->mem, s, n, &e))
        parts_fail(p, "no JSON", e.text);
    else if (wire == PARTS_BLOCKS)
        blocks_whole(p, v);
    else
        items_whole(p, v);
}

#endif
