#include "chat/dialect.h"

#include "base/ascii.h"
#include "chat/callread.h"
#include "chat/found.h"
#include "chat/jsonargs.h"

/*
 * Behind [TOOL_CALLS] comes a list of calls in JSON, or a name, an id behind
 * [CALL_ID] (newer models write one), and the arguments behind [ARGS]. The
 * second form repeats, with or without another [TOOL_CALLS]. Arguments are
 * streamed once name and id are known: in the list form that is when the id
 * comes before them, for an id that the model wrote is kept.
 */

static const char *const markers[] = {
    "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]", NULL,
};
enum { TOOL_CALLS, CALL_ID, ARGS_MARK };

#define NAME_MAX_BYTES 256

enum where {
    OUTSIDE,
    HEAD,  /* behind [TOOL_CALLS] or a call: white space */
    NAME,
    ID,
    ARGS,
    LIST,
    ITEM_ARGS, /* streamed ones of a list */
};

struct bracketcall {
    const struct tools *tools;
    enum where where;
    struct sweep sweep;
    struct buf block;      /* as written, markers too */
    size_t from, pos;      /* in block: where the current call begins (what
                            * is refused becomes content), what is read */
    size_t name_at, name_n, id_at, id_n, args_at;
    bool headed, marked;   /* [TOOL_CALLS], [ARGS] was there */
    size_t taken;          /* calls of this list */
    struct callread list;
    struct jsonargs args;
};

static void *open_state(const struct dialect_config *c)
{
    struct bracketcall *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    t->tools = c->tools;
    buf_init(&t->block, BUF_ANSWER);
    jsonargs_init(&t->args);
    return t;
}

static void free_state(void *state)
{
    struct bracketcall *t = state;

    buf_release(&t->block);
    jsonargs_release(&t->args);
    free(t);
}

static struct span part(const struct bracketcall *t, size_t at, size_t n)
{
    while (n && json_space(t->block.p[at])) {
        at++;
        n--;
    }
    while (n && json_space(t->block.p[at + n - 1]))
        n--;
    return (struct span){t->block.p + at, n};
}

static void refuse(struct bracketcall *t, struct dialect_out *o)
{
    /* Of a list that began well what cannot be read is a dropped element. */
    size_t from = t->taken ? t->pos : t->from;

    while (from < t->block.n && (t->block.p[from] & 0xc0) == 0x80)
        from++; /* the rest of the character that could not be read */
    sweep_withdraw(&t->sweep, o->calls);
    if (from < t->block.n)
        buf_add(o->content, t->block.p + from, t->block.n - from);
    if (t->block.failed)
        o->content->failed = true;
    t->where = OUTSIDE;
}

/* The next call may begin at pos. */
static void begin(struct bracketcall *t)
{
    if (t->pos == t->block.n) {
        buf_clear(&t->block);
        t->pos = 0;
    }
    t->from = t->pos;
    t->id_at = t->id_n = t->taken = 0;
    t->headed = t->marked = false;
    t->where = HEAD;
}

/* --- NAME[CALL_ID]id[ARGS]{..} -------------------------------------------- */

/* Arguments up to `to` are complete; false: they are none. */
static bool take_call(struct bracketcall *t, size_t to, struct dialect_out *o)
{
    struct founds f = {0};

    if (!founds_args(&f, t->tools, part(t, t->id_at, t->id_n),
                     part(t, t->name_at, t->name_n), t->block.p + t->args_at,
                     to - t->args_at)) {
        o->calls->failed = o->calls->failed || f.failed;
        return false;
    }
    sweep_close(&t->sweep, &f, o->calls);
    return true;
}

static void begin_args(struct bracketcall *t, struct dialect_out *o)
{
    t->where = ARGS;
    t->args_at = t->pos;
    jsonargs_open(&t->args, t->tools,
                  sweep_live(&t->sweep, o->calls, part(t, t->id_at, t->id_n),
                             part(t, t->name_at, t->name_n), 0));
}

static bool in_head(struct bracketcall *t)
{
    while (t->pos < t->block.n && json_space(t->block.p[t->pos]))
        t->pos++;
    if (t->pos == t->block.n)
        return true;
    if (t->block.p[t->pos] == '[' || t->block.p[t->pos] == '{') {
        t->where = LIST;
        callread_init(&t->list);
        return true;
    }
    t->where = NAME;
    t->name_at = t->pos;
    t->name_n = 0;
    return true;
}

/* A name has no white space inside; false: it is none. */
static bool in_name(struct bracketcall *t, struct dialect_out *o)
{
    for (; t->pos < t->block.n; t->pos++) {
        char c = t->block.p[t->pos];

        if (c == '{') { /* some leave [ARGS] out */
            if (!t->name_n || !t->headed)
                return false;
            begin_args(t, o);
            return true;
        }
        if (json_space(c))
            continue;
        if (t->name_at + t->name_n != t->pos || t->name_n == NAME_MAX_BYTES)
            return false;
        t->name_n++;
    }
    return true;
}

/* An id, up to the next marker. */
static bool in_id(struct bracketcall *t)
{
    t->id_n = t->block.n - t->id_at;
    t->pos = t->block.n;
    return t->id_n <= NAME_MAX_BYTES;
}

static bool in_args(struct bracketcall *t, struct dialect_out *o)
{
    size_t used;
    enum jsonargs_step s = jsonargs_feed(&t->args, t->block.p + t->pos,
                                         t->block.n - t->pos, &used);

    t->pos += used;
    if (s != ARGS_DONE)
        return s == ARGS_MORE;
    if (!take_call(t, t->pos, o))
        return false;
    begin(t);
    return true;
}

/* --- [{..}, ..] ----------------------------------------------------------- */

static bool take_item(struct bracketcall *t, struct dialect_out *o)
{
    struct founds f = {0};

    if (!founds_json(&f, t->tools, t->block.p + t->list.item_at,
                     t->pos - t->list.item_at, FOUND_ANY)) {
        o->calls->failed = o->calls->failed || f.failed;
        return false;
    }
    sweep_close(&t->sweep, &f, o->calls);
    t->taken++;
    return true;
}

static void begin_item_args(struct bracketcall *t, struct dialect_out *o)
{
    const struct callread *r = &t->list;
    const char *s = t->block.p;
    struct tool_call *call = NULL;

    if (r->has_name && r->has_id && !t->sweep.n)
        call = sweep_live(&t->sweep, o->calls,
                          (struct span){s + r->id_at, r->id_n},
                          (struct span){s + r->name_at, r->name_n}, 0);
    if (!call)
        return;
    jsonargs_open(&t->args, t->tools, call);
    t->where = ITEM_ARGS;
    t->pos--;
}

static bool in_list(struct bracketcall *t, struct dialect_out *o)
{
    switch (callread_step(&t->list, t->block.p, t->block.n, &t->pos)) {
    case CR_BAD:
        return false;
    case CR_ARGS:
        begin_item_args(t, o);
        break;
    case CR_ITEM:
        return take_item(t, o);
    case CR_END:
        if (t->list.base == 1 && !take_item(t, o))
            return false;
        if (!t->taken)
            return false;
        buf_add(o->content, t->block.p + t->pos, t->block.n - t->pos);
        t->pos = t->block.n;
        t->where = OUTSIDE;
        break;
    case CR_MORE:
    case CR_KEY:
    case CR_NAME:
    case CR_ID:
        break;
    }
    return true;
}

/* Their last brace is read twice. */
static bool in_item_args(struct bracketcall *t)
{
    size_t used;
    enum jsonargs_step s = jsonargs_feed(&t->args, t->block.p + t->pos,
                                         t->block.n - t->pos, &used);

    t->pos += used - (s == ARGS_DONE);
    if (s == ARGS_DONE)
        t->where = LIST;
    return s != ARGS_BAD;
}

/* --- the dialect ---------------------------------------------------------- */

static bool step(struct bracketcall *t, struct dialect_out *o)
{
    switch (t->where) {
    case HEAD:
        return in_head(t);
    case NAME:
        return in_name(t, o);
    case ID:
        return in_id(t);
    case ARGS:
        return in_args(t, o);
    case LIST:
        return in_list(t, o);
    case ITEM_ARGS:
        return in_item_args(t);
    case OUTSIDE:
        break;
    }
    return false;
}

static void feed(struct bracketcall *t, const char *p, size_t n,
                 struct dialect_out *o)
{
    bool can = true;

    buf_add(&t->block, p, n);
    while (can && t->pos < t->block.n)
        can = step(t, o);
    if (!can || t->block.failed)
        refuse(t, o);
}

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    struct bracketcall *t = state;

    if (t->where == OUTSIDE)
        buf_add(o->content, p, n);
    else
        feed(t, p, n, o);
}

/* A marker inside a string is text. */
static bool in_string(const struct bracketcall *t)
{
    if (t->where == LIST)
        return t->list.js.in_string;
    return (t->where == ARGS || t->where == ITEM_ARGS) && t->args.js.in_string;
}

/* A marker where it belongs is read at once. */
static void skip_marker(struct bracketcall *t, int k)
{
    buf_puts(&t->block, markers[k]);
    t->pos = t->block.n;
}

static void marker(void *state, int k, struct dialect_out *o)
{
    struct bracketcall *t = state;
    const bool named = t->where == NAME && t->name_n;

    if (k == TOOL_CALLS && !in_string(t)) {
        if (t->where != OUTSIDE)
            refuse(t, o);
        t->pos = t->block.n;
        begin(t);
        skip_marker(t, k);
        t->headed = true;
    } else if (k == CALL_ID && named) {
        skip_marker(t, k);
        t->where = ID;
        t->id_at = t->pos;
    } else if (k == ARGS_MARK && (named || t->where == ID)) {
        skip_marker(t, k);
        t->marked = true;
        begin_args(t, o);
    } else {
        text(state, markers[k], strlen(markers[k]), o);
    }
}

/* [ARGS] and nothing behind it: a call without arguments. */
static bool take_bare(struct bracketcall *t, struct dialect_out *o)
{
    if (t->where != ARGS || !t->marked ||
        part(t, t->args_at, t->block.n - t->args_at).n)
        return false;
    if (t->args.call)
        buf_puts(&t->args.call->args, "{}");
    return take_call(t, t->block.n, o);
}

static void end(void *state, bool ended, struct dialect_out *o)
{
    struct bracketcall *t = state;

    if (t->where != OUTSIDE && !(ended && take_bare(t, o)))
        refuse(t, o);
    t->where = OUTSIDE;
}

#define LIST_CALL "{\"name\": \""

static const struct callform forms[] = {
    {
        .lead = "",
        .open = "[TOOL_CALLS][" LIST_CALL,
        .head = "\", \"arguments\": ",
        .next = "}, " LIST_CALL,
        .close = "}]",
        .name = CALLNAME_JSON,
        .never = "",
    },
    {
        .tell = "[ARGS]",
        .lead = "",
        .open = "[TOOL_CALLS]",
        .head = "[ARGS]",
        .next = "[TOOL_CALLS]",
        .close = "",
        .name = CALLNAME_PLAIN,
        .never = " \t\n\v\f\r{[",
    },
};

const struct dialect dialect_mistral = {
    .name = "mistral",
    .markers = markers,
    .forms = forms,
    .n_forms = sizeof(forms) / sizeof(forms[0]),
    .native_ids = true,
    .id_form = CALL_ID_SHORT,
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free_state,
};
