#include "chat/jsonargs.h"

void jsonargs_init(struct jsonargs *a)
{
    *a = (struct jsonargs){0};
    buf_init(&a->key, BUF_ANSWER);
    buf_init(&a->held, BUF_ANSWER);
}

void jsonargs_release(struct jsonargs *a)
{
    buf_release(&a->key);
    buf_release(&a->held);
}

void jsonargs_open(struct jsonargs *a, const struct tools *t,
                   struct tool_call *call)
{
    a->tools = t;
    a->call = call;
    a->in_key = a->holding = false;
    a->kinds = 0;
    jsonscan_init(&a->js);
}

/* The value of a raw JSON string with its quotes; false: it is none. */
static bool decode(struct arena *mem, const struct buf *raw, struct text *out)
{
    const struct json *v;
    struct err e = {0};

    if (raw->failed || raw->n < 2)
        return false;
    *out = (struct text){raw->p + 1, raw->n - 2};
    if (!memchr(raw->p, '\\', raw->n))
        return true;
    if (json_parse(&v, mem, raw->p, raw->n, &e))
        return false;
    *out = v->str;
    return true;
}

static void key_over(struct jsonargs *a)
{
    struct arena mem;
    struct text key;

    arena_init(&mem, BUF_ANSWER);
    a->in_key = false;
    a->kinds = 0;
    if (decode(&mem, &a->key, &key))
        a->kinds = tools_kinds(a->tools, a->call->name, strlen(a->call->name),
                               key.s, key.n) & ~(unsigned)KIND_JSON;
    arena_release(&mem);
}

static void value_over(struct jsonargs *a)
{
    struct arena mem;
    struct text value;

    arena_init(&mem, BUF_ANSWER);
    a->holding = false;
    if (decode(&mem, &a->held, &value))
        tool_value(a->kinds, value.s, value.n, &a->call->args);
    else /* no JSON: whoever reads the whole finds that out */
        buf_add(&a->call->args, a->held.p, a->held.n);
    arena_release(&mem);
}

/* Bytes that belong together: to the held member, or out. */
static void put(struct jsonargs *a, const char *p, size_t n)
{
    if (!a->call)
        return;
    buf_add(a->holding ? &a->held : &a->call->args, p, n);
    if (a->in_key)
        buf_add(&a->key, p, n);
}

static void begin_string(struct jsonargs *a)
{
    if (a->js.depth != 1 || !a->call)
        return;
    if (a->js.key) {
        a->in_key = true;
        buf_clear(&a->key);
    } else if (a->kinds) {
        a->holding = true;
        buf_clear(&a->held);
    }
}

static void end_string(struct jsonargs *a)
{
    if (a->in_key)
        key_over(a);
    else if (a->holding)
        value_over(a);
}

/* Could this still be an object, after this byte? */
static bool is_object(const struct jsonargs *a, enum js_event e, char c)
{
    if (a->js.depth)
        return !a->js.array[0];
    return e == JS_CLOSE || (e == JS_MORE && (c == ' ' || c == '\n' ||
                                              c == '\t' || c == '\r'));
}

enum jsonargs_step jsonargs_feed(struct jsonargs *a, const char *p, size_t n,
                                 size_t *used)
{
    size_t i = 0;

    while (i < n) {
        size_t plain = jsonscan_plain(&a->js, p + i, n - i);
        enum js_event e;

        if (plain) {
            put(a, p + i, plain);
            i += plain;
            continue;
        }
        e = jsonscan_byte(&a->js, p[i]);
        if (e == JS_BAD || !is_object(a, e, p[i])) {
            *used = i;
            return ARGS_BAD;
        }
        if (e == JS_STRING)
            begin_string(a);
        if (a->js.depth || e == JS_CLOSE)
            put(a, p + i, 1);
        i++;
        if (e == JS_STRING_END)
            end_string(a);
        if (e == JS_CLOSE && !a->js.depth) {
            *used = i;
            return ARGS_DONE;
        }
    }
    *used = n;
    return ARGS_MORE;
}
