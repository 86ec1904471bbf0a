/*
 * XTML replies: channels and calls as elements (spec waste.md section 2).
 *
 * Values of type string and raw json blocks go out while the model writes
 * them; the others wait for their closer, since their form depends on the
 * whole. Differences to the reference, all of them because nothing sent can
 * be taken back: of two equal keys the first stays; a second json block, or
 * arguments beside one, are dropped; a call is over when its element closes
 * or another call opens.
 */
#include "base/ascii.h"
#include "chat/argwrite.h"
#include "chat/dialect.h"
#include "chat/jsontext.h"

#define DEPTH_MAX 64

enum { M_OPEN, M_CLOSE, M_SEP, M_END };

static const char *const markers[] = {
    "<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>", NULL,
};

enum element { E_OTHER, E_THINK, E_TOOLS, E_CALL, E_ARGUMENT, E_JSON };

/* An open element. Others than ours are told apart by a hash: a collision
 * closes the wrong one of two elements that mean nothing. */
struct level {
    enum element e;
    uint64_t hash; /* of an E_OTHER */
};

enum value { V_NONE, V_DROPPED, V_STRING, V_NULL, V_BOOL, V_JSON };

struct xtml_reply {
    struct level stack[DEPTH_MAX];
    size_t depth;
    int header_of;             /* M_OPEN, M_CLOSE; -1: none */
    struct buf header;
    struct tool_call *call;    /* the one that may still grow; NULL */
    size_t call_depth;         /* its level; over when the stack is below */
    struct argwrite args;
    bool raw;                  /* the call has a json block */
    bool in_json, json_dropped;
    size_t inner_depth;        /* the level of the open argument or block */
    enum value value;          /* what the open argument is */
    struct buf held;           /* its text, unless V_STRING */
    bool done;
};

/* --- values -------------------------------------------------------------- */

/* The same in any case; word is lower. */
static bool same_word(const char *s, size_t n, const char *word)
{
    size_t len = strlen(word);

    if (n != len)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c != word[i])
            return false;
    }
    return true;
}

static void put_bool(struct xtml_reply *x)
{
    const char *p = x->held.n ? x->held.p : "";
    struct span word = ascii_trim(p, x->held.n);

    if (same_word(word.s, word.n, "true"))
        argwrite_value(&x->args, "true", 4);
    else if (same_word(word.s, word.n, "false"))
        argwrite_value(&x->args, "false", 5);
    else /* not what it says it is: as written */
        jsontext_string(x->args.out, p, x->held.n, JT_SPACED);
}

static void end_value(struct xtml_reply *x)
{
    switch (x->value) {
    case V_STRING:
        argwrite_text_end(&x->args);
        break;
    case V_NULL:
        argwrite_value(&x->args, "null", 4);
        break;
    case V_BOOL:
        put_bool(x);
        break;
    case V_JSON:
        argwrite_guess(&x->args, x->held.n ? x->held.p : "", x->held.n);
        break;
    case V_NONE:
    case V_DROPPED:
        break;
    }
    if (x->held.failed && x->call)
        x->call->args.failed = true;
    buf_clear(&x->held);
    x->value = V_NONE;
}

static void end_call(struct xtml_reply *x)
{
    end_value(x);
    x->in_json = false;
    if (!x->call)
        return;
    if (!x->raw)
        argwrite_end(&x->args);
    else if (!x->call->args.n)
        buf_puts(&x->call->args, "{}");
    x->call->whole = true;
    x->call = NULL;
}

/* --- headers ------------------------------------------------------------- */

/* &quot; and &amp; undone, in place; once each. */
static size_t unescape(char *s, size_t n)
{
    size_t to = 0;

    for (size_t i = 0; i < n; to++) {
        if (n - i >= 6 && !memcmp(s + i, "&quot;", 6)) {
            s[to] = '"';
            i += 6;
        } else if (n - i >= 5 && !memcmp(s + i, "&amp;", 5)) {
            s[to] = '&';
            i += 5;
        } else {
            s[to] = s[i++];
        }
    }
    return to;
}

struct attrs {
    struct text tool, id, key, type; /* s NULL: not there */
};

static void take_attr(struct attrs *a, struct text k, struct text v)
{
    static const char *const names[] = {"tool", "id", "key", "type"};
    struct text *const to[] = {&a->tool, &a->id, &a->key, &a->type};

    for (size_t i = 0; i < 4; i++)
        if (text_is(k, names[i]))
            *to[i] = v;
}

/* Name and attributes of p[0..n), never an error. Values are unescaped in
 * place: the header is done with. */
static struct text read_header(char *p, size_t n, struct attrs *a)
{
    size_t i = 0;
    struct text name;

    *a = (struct attrs){0};
    while (n && ascii_space(p[n - 1]))
        n--;
    while (i < n && ascii_space(p[i]))
        i++;
    name.s = p + i;
    while (i < n && p[i] != ' ')
        i++;
    name.n = (size_t)(p + i - name.s);
    while (i < n) {
        char *eq, *v;
        struct text k;
        size_t len;
        char stop = ' ';

        while (i < n && p[i] == ' ')
            i++;
        eq = i < n ? memchr(p + i, '=', n - i) : NULL;
        if (!eq)
            break;
        k = (struct text){p + i, (size_t)(eq - (p + i))};
        i = (size_t)(eq - p) + 1;
        if (i < n && p[i] == '"') {
            stop = '"';
            i++;
        }
        v = p + i;
        while (i < n && p[i] != stop)
            i++;
        len = unescape(v, (size_t)(p + i - v));
        i += i < n;
        take_attr(a, k, (struct text){v, len});
    }
    return name;
}

static struct level level_of(struct text name)
{
    static const struct {
        const char *name;
        enum element e;
    } known[] = {
        {"think", E_THINK}, {"tools", E_TOOLS}, {"call", E_CALL},
        {"argument", E_ARGUMENT}, {"json", E_JSON},
    };
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (text_is(name, known[i].name))
            return (struct level){known[i].e, 0};
    for (size_t i = 0; i < name.n; i++)
        h = (h ^ (unsigned char)name.s[i]) * 0x100000001b3u;
    return (struct level){E_OTHER, h};
}

/* --- elements ------------------------------------------------------------ */

static bool id_taken(const struct calls *c, struct text id)
{
    for (size_t i = 0; i < c->n; i++)
        if (text_is(id, c->p[i]->id))
            return true;
    return false;
}

/* Before its level is pushed. */
static void open_call(struct xtml_reply *x, const struct attrs *a,
                      struct dialect_out *o)
{
    struct text id = a->id, name = a->tool;

    end_call(x);
    if (id.n && id_taken(o->calls, id))
        id.n = 0;
    x->call = calls_add(o->calls, id.n ? id.s : NULL, id.n,
                        name.n ? name.s : "", name.n);
    x->raw = false;
    x->call_depth = x->depth;
    argwrite_begin(&x->args, x->call ? &x->call->args : NULL);
}

static void open_argument(struct xtml_reply *x, const struct attrs *a)
{
    end_value(x);
    x->inner_depth = x->depth;
    x->value = V_DROPPED;
    if (!x->call || x->raw || !a->key.n ||
        !argwrite_key(&x->args, a->key.s, a->key.n))
        return;
    if (text_is(a->type, "string")) {
        x->value = V_STRING;
        argwrite_text_begin(&x->args);
    } else if (text_is(a->type, "null")) {
        x->value = V_NULL;
    } else if (text_is(a->type, "boolean")) {
        x->value = V_BOOL;
    } else {
        x->value = V_JSON;
    }
}

static void open_json(struct xtml_reply *x)
{
    end_value(x);
    x->inner_depth = x->depth;
    x->in_json = true;
    x->json_dropped = !x->call || x->raw || x->args.n;
    x->raw = x->raw || !x->json_dropped;
}

/* The header's name, its attributes and what they mean. */
static struct level take_header(struct xtml_reply *x, struct attrs *a,
                                struct text *name)
{
    static char none[1];

    *name = read_header(x->header.n ? x->header.p : none, x->header.n, a);
    return level_of(*name);
}

static void open_element(struct xtml_reply *x, struct dialect_out *o)
{
    struct attrs a;
    struct text name;
    struct level l = take_header(x, &a, &name);

    if (l.e == E_CALL)
        open_call(x, &a, o);
    else if (l.e == E_ARGUMENT && !x->in_json)
        open_argument(x, &a);
    else if (l.e == E_JSON && !x->in_json)
        open_json(x);
    if (x->depth < DEPTH_MAX)
        x->stack[x->depth++] = l;
}

/* What ended with the elements that were above this depth. */
static void end_inner(struct xtml_reply *x)
{
    if (x->depth <= x->inner_depth) {
        end_value(x);
        x->in_json = false;
    }
    if (x->call && x->depth <= x->call_depth)
        end_call(x);
}

static void close_element(struct xtml_reply *x)
{
    struct attrs a;
    struct text name;
    struct level l = take_header(x, &a, &name);
    size_t i = x->depth;

    if (l.e == E_ARGUMENT)
        end_value(x);
    if (l.e == E_JSON)
        x->in_json = false;
    if (!name.n && i) {
        x->depth--;
    } else {
        while (i &&
               (x->stack[i - 1].e != l.e || x->stack[i - 1].hash != l.hash))
            i--;
        if (i)
            x->depth = i - 1;
    }
    end_inner(x);
}

/* --- text ---------------------------------------------------------------- */

static void add_json(struct xtml_reply *x, const char *p, size_t n)
{
    if (!x->json_dropped)
        buf_add(&x->call->args, p, n);
}

static void route(struct xtml_reply *x, const char *p, size_t n,
                  struct dialect_out *o)
{
    enum element top = x->depth ? x->stack[x->depth - 1].e : E_OTHER;

    if (x->in_json)
        add_json(x, p, n);
    else if (x->value == V_STRING)
        argwrite_text(&x->args, p, n);
    else if (x->value == V_BOOL || x->value == V_JSON)
        buf_add(&x->held, p, n);
    else if (x->value != V_NONE)
        return;
    else if (top == E_THINK)
        buf_add(o->reasoning, p, n);
    else if (top != E_TOOLS && top != E_CALL)
        buf_add(o->content, p, n);
}

static void on_text(void *state, const char *p, size_t n,
                    struct dialect_out *o)
{
    struct xtml_reply *x = state;

    if (x->done)
        return;
    if (x->header_of >= 0)
        buf_add(&x->header, p, n);
    else
        route(x, p, n, o);
}

static void on_marker(void *state, int k, struct dialect_out *o)
{
    struct xtml_reply *x = state;

    if (x->done)
        return;
    switch (k) {
    case M_OPEN:
    case M_CLOSE:
        buf_clear(&x->header);
        x->header_of = k;
        break;
    case M_SEP:
        if (x->header_of == M_OPEN)
            open_element(x, o);
        else if (x->header_of == M_CLOSE)
            close_element(x);
        x->header_of = -1;
        break;
    case M_END:
        o->done = true;
        break;
    }
}

/* --- life ---------------------------------------------------------------- */

static void *open_state(const struct dialect_config *c)
{
    struct xtml_reply *x = mem_try(sizeof(*x));

    if (!x)
        return NULL;
    buf_init(&x->header, BUF_ANSWER);
    buf_init(&x->held, BUF_ANSWER);
    x->header_of = -1;
    if (c->think_open)
        x->stack[x->depth++] = (struct level){E_THINK, 0};
    else
        x->stack[x->depth++] = level_of((struct text){"response", 8});
    return x;
}

static void on_end(void *state, bool ended, struct dialect_out *o)
{
    struct xtml_reply *x = state;

    if (x->done)
        return;
    /* An answer with a form may end with the marker that begins to close its
     * element. Cut off elsewhere, it was text, for all we know. */
    if (x->header_of >= 0 &&
        !(ended && x->header_of == M_CLOSE && !x->header.n)) {
        const char *m = markers[x->header_of];

        route(x, m, strlen(m), o);
        if (x->header.n)
            route(x, x->header.p, x->header.n, o);
    }
    end_call(x);
    x->done = true;
}

static void free_state(void *state)
{
    struct xtml_reply *x = state;

    buf_release(&x->header);
    buf_release(&x->held);
    argwrite_release(&x->args);
    free(x);
}

#define SEP "<|sep|>"
#define RESPONSE_END "<|close|>response" SEP
#define TOOLS "<|open|>tools" SEP
#define CALL "<|open|>call tool=\""
#define CALL_END "<|close|>call" SEP

/* The prompt has opened the response, unless it opened the thoughts. */
static const struct callform form = {
    .lead = "<|open|>response" SEP,
    .open = RESPONSE_END TOOLS CALL,
    .sure = TOOLS,
    .head = "\" index=\"" CALL_AT_INDEX "\"" SEP,
    .next = CALL_END CALL,
    .close = CALL_END "<|close|>tools" SEP,
    .name = CALLNAME_ATTR,
    .never = "",
    .param = "<|open|>argument key=\"",
    .raw = "\" type=\"string\"" SEP,
    .json = "\" type=\"" CALL_AT_TYPE "\"" SEP,
    .end = "<|close|>argument" SEP,
};

const struct dialect dialect_xtml = {
    .name = "xtml",
    .markers = markers,
    .forms = &form,
    .n_forms = 1,
    .channels = true,
    .id_form = CALL_ID_LONG,
    .open = open_state,
    .marker = on_marker,
    .text = on_text,
    .end = on_end,
    .free = free_state,
};
