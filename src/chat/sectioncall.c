/*
 * Calls in a section of five tokens. Older models write the word "function"
 * as what a call is, and behind the separator the name and the arguments in a
 * fence; newer ones the name, and behind the separator the arguments. Both
 * are read, with or without a fence, also where the section or a call was
 * not opened or closed. What is no call is text, markers and all. Results
 * are never the model's to write: a turn that goes on with them is over.
 */
#include "chat/dialect.h"

#include "base/ascii.h"
#include "chat/found.h"
#include "chat/gap.h"
#include "chat/jsonargs.h"

/* The bars are U+FF5C and the low blocks U+2581. */
#define NAMED(name) "<\xef\xbd\x9c" name "\xef\xbd\x9c>"
#define LOW "\xe2\x96\x81"

static const char *const markers[] = {
    NAMED("tool" LOW "calls" LOW "begin"),
    NAMED("tool" LOW "calls" LOW "end"),
    NAMED("tool" LOW "call" LOW "begin"),
    NAMED("tool" LOW "call" LOW "end"),
    NAMED("tool" LOW "sep"),
    NAMED("tool" LOW "outputs" LOW "begin"),
    NAMED("tool" LOW "output" LOW "begin"),
    NULL,
};
enum {
    CALLS_BEGIN, CALLS_END, CALL_BEGIN, CALL_END, SEP, OUTPUTS, OUTPUT,
};

#define NAME_MAX_BYTES 256
#define FENCE 3 /* marks of one */

enum where {
    OUTSIDE,
    SECTION, /* opened; white space */
    KIND,    /* before the separator: what it is, or the name */
    NAME,
    BEFORE,  /* the name is known: white space, a fence */
    ARGS,
    TAIL,    /* the call is taken, its end has not come */
};

struct sectioncall {
    const struct tools *tools;
    enum where where;
    bool section;          /* a call was taken in one that is not closed */
    bool named;            /* NAME: it has begun */
    size_t fence;          /* BEFORE: marks read; TAIL: marks to come */
    struct sweep sweep;
    struct buf block;      /* as written, markers too: what is no call yet */
    size_t pos;            /* in block: what is read */
    size_t kind_at, name_at, name_n, args_at;
    struct tool_call *call;/* streamed; NULL: it waits for its end */
    struct jsonargs args;
    struct gap gap;
};

static void *open_state(const struct dialect_config *c)
{
    struct sectioncall *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    t->tools = c->tools;
    buf_init(&t->block, BUF_ANSWER);
    jsonargs_init(&t->args);
    gap_init(&t->gap);
    return t;
}

static void free_state(void *state)
{
    struct sectioncall *t = state;

    buf_release(&t->block);
    jsonargs_release(&t->args);
    gap_release(&t->gap);
    free(t);
}

static struct span name_of(const struct sectioncall *t)
{
    return (struct span){t->block.p + t->name_at, t->name_n};
}

static void clear(struct sectioncall *t)
{
    buf_clear(&t->block);
    t->pos = t->name_n = 0;
    t->call = NULL;
}

static void refuse(struct sectioncall *t, struct dialect_out *o)
{
    sweep_withdraw(&t->sweep, o->calls);
    gap_text(&t->gap, t->block.p, t->block.n, o->content);
    if (t->block.failed)
        o->content->failed = true;
    clear(t);
    t->where = OUTSIDE;
}

/* --- a call --------------------------------------------------------------- */

/* The name is whole. */
static void announce(struct sectioncall *t, struct dialect_out *o)
{
    t->call = sweep_live(&t->sweep, o->calls, (struct span){0}, name_of(t), 0);
    t->fence = 0;
    t->where = BEFORE;
}

/* The arguments s[0..n) are complete; false: they are none. */
static bool take_call(struct sectioncall *t, const char *s, size_t n,
                      struct dialect_out *o)
{
    struct founds f = {0};

    if (!founds_args(&f, t->tools, (struct span){0}, name_of(t), s, n)) {
        if (f.failed)
            o->calls->failed = true;
        return false;
    }
    sweep_close(&t->sweep, &f, o->calls);
    gap_call(&t->gap);
    t->section = true;
    t->where = TAIL;
    return true;
}

static bool has_space(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (json_space(s[i]))
            return true;
    return false;
}

/* The separator; false: what stands before it is no word. */
static bool take_kind(struct sectioncall *t, struct dialect_out *o)
{
    struct span kind = ascii_trim(t->block.p + t->kind_at,
                                  t->pos - t->kind_at);

    if (!kind.n || has_space(kind.s, kind.n))
        return false;
    t->name_at = (size_t)(kind.s - t->block.p);
    t->name_n = kind.n;
    t->named = false;
    buf_puts(&t->block, markers[SEP]);
    t->pos = t->block.n;
    if (span_is(name_of(t), "function"))
        t->where = NAME;
    else
        announce(t, o);
    return true;
}

static bool in_kind(struct sectioncall *t)
{
    t->pos = t->block.n;
    return t->pos - t->kind_at <= NAME_MAX_BYTES;
}

/* Behind "function": a name, up to white space or what begins arguments. If
 * these come at once, that was the name. */
static bool in_name(struct sectioncall *t, struct dialect_out *o)
{
    char c = t->block.p[t->pos];

    if (c == '{' || c == '`' || (t->named && json_space(c))) {
        announce(t, o);
        return true;
    }
    t->pos++;
    if (json_space(c))
        return true;
    if (!t->named) {
        t->named = true;
        t->name_at = t->pos - 1;
        t->name_n = 0;
    }
    t->name_n++;
    return t->name_n <= NAME_MAX_BYTES;
}

/* White space, a fence and the word behind it. An empty fence is closed. */
static bool in_before(struct sectioncall *t)
{
    char c = t->block.p[t->pos];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

    if (c == '{' && (!t->fence || t->fence == FENCE)) {
        t->where = ARGS;
        t->args_at = t->pos;
        jsonargs_open(&t->args, t->tools, t->call);
        return true;
    }
    t->pos++;
    if (c == '`')
        return ++t->fence <= 2 * FENCE;
    return json_space(c) || (letter && t->fence == FENCE);
}

static bool in_args(struct sectioncall *t, struct dialect_out *o)
{
    size_t used;
    enum jsonargs_step s = jsonargs_feed(&t->args, t->block.p + t->pos,
                                         t->block.n - t->pos, &used);

    t->pos += used;
    if (s != ARGS_DONE)
        return s == ARGS_MORE;
    return take_call(t, t->block.p + t->args_at, t->pos - t->args_at, o);
}

/* The rest of the fence is layout. */
static void in_tail(struct sectioncall *t, const char *p, size_t n,
                    struct dialect_out *o)
{
    size_t i = 0;

    for (; t->fence && i < n && (json_space(p[i]) || p[i] == '`'); i++)
        t->fence -= p[i] == '`';
    if (i < n)
        t->fence = 0;
    gap_text(&t->gap, p + i, n - i, o->content);
}

/* --- the dialect ---------------------------------------------------------- */

static bool step(struct sectioncall *t, struct dialect_out *o)
{
    switch (t->where) {
    case SECTION:
        return json_space(t->block.p[t->pos++]);
    case KIND:
        return in_kind(t);
    case NAME:
        return in_name(t, o);
    case BEFORE:
        return in_before(t);
    case ARGS:
        return in_args(t, o);
    case OUTSIDE:
    case TAIL:
        break;
    }
    return false;
}

static void feed(struct sectioncall *t, const char *p, size_t n,
                 struct dialect_out *o)
{
    bool can = true;

    buf_add(&t->block, p, n);
    while (can && t->where != TAIL && t->pos < t->block.n)
        can = step(t, o);
    if (!can || t->block.failed) {
        refuse(t, o);
    } else if (t->where == TAIL) {
        in_tail(t, t->block.p + t->pos, t->block.n - t->pos, o);
        clear(t);
    }
}

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    struct sectioncall *t = state;

    if (t->where == OUTSIDE)
        gap_text(&t->gap, p, n, o->content);
    else if (t->where == TAIL)
        in_tail(t, p, n, o);
    else
        feed(t, p, n, o);
}

/* A call whose name is all that it has; false: there is none. */
static bool take_bare(struct sectioncall *t, struct dialect_out *o)
{
    if (t->where == NAME && t->named)
        announce(t, o);
    if (t->where != BEFORE || t->fence % FENCE)
        return false;
    if (t->call)
        buf_puts(&t->call->args, "{}");
    return take_call(t, "", 0, o);
}

/* Whatever is open ends here; was it a call? */
static bool leave(struct sectioncall *t, struct dialect_out *o)
{
    bool call = t->where == TAIL || take_bare(t, o);

    if (!call && t->where != OUTSIDE)
        refuse(t, o);
    clear(t);
    t->where = OUTSIDE;
    return call;
}

static void begin(struct sectioncall *t, int k, struct dialect_out *o)
{
    if (k != CALL_BEGIN || t->where != SECTION)
        leave(t, o);
    buf_puts(&t->block, markers[k]);
    t->pos = t->kind_at = t->block.n;
    t->where = k == CALL_BEGIN ? KIND : SECTION;
}

static void marker(void *state, int k, struct dialect_out *o)
{
    struct sectioncall *t = state;
    bool is_text = true;

    if (t->where == ARGS && t->args.js.in_string) {
        text(state, markers[k], strlen(markers[k]), o);
        return;
    }
    if (k == CALLS_BEGIN || k == CALL_BEGIN) {
        begin(t, k, o);
        is_text = false;
    } else if (k == SEP) {
        if (t->where == KIND && take_kind(t, o))
            is_text = false;
        else if (t->where == KIND)
            refuse(t, o);
    } else if (k == CALL_END) {
        is_text = !leave(t, o);
    } else {
        leave(t, o);
        o->done = k != CALLS_END && t->sweep.last;
        is_text = !t->section && !o->done;
        t->section = false;
    }
    if (is_text)
        text(state, markers[k], strlen(markers[k]), o);
}

/* The call that a limit cut stays as far as it came. */
static void keep(struct sectioncall *t, struct dialect_out *o)
{
    struct tool_call *call = t->call;
    size_t used;

    if (!call)
        call = calls_add(o->calls, NULL, 0, t->block.p + t->name_at,
                         t->name_n);
    if (call && !t->call && t->where == ARGS) {
        jsonargs_open(&t->args, t->tools, call);
        jsonargs_feed(&t->args, t->block.p + t->args_at,
                      t->block.n - t->args_at, &used);
    }
    clear(t);
    t->where = OUTSIDE;
}

static void end(void *state, bool ended, struct dialect_out *o)
{
    struct sectioncall *t = state;

    if (ended)
        leave(t, o);
    else if (t->where == BEFORE || t->where == ARGS)
        keep(t, o);
    else if (t->where != OUTSIDE && t->where != TAIL)
        refuse(t, o);
    gap_end(&t->gap, o->calls->n > 0, o->content);
}

#define T_CALLS_BEGIN NAMED("tool" LOW "calls" LOW "begin")
#define T_CALLS_END NAMED("tool" LOW "calls" LOW "end")
#define T_BEGIN NAMED("tool" LOW "call" LOW "begin")
#define T_END NAMED("tool" LOW "call" LOW "end")
#define T_SEP NAMED("tool" LOW "sep")
#define KIND_CALL T_BEGIN "function" T_SEP

static const struct callform forms[] = {
    {
        .lead = "",
        .open = T_CALLS_BEGIN T_BEGIN,
        .head = T_SEP,
        .next = T_END T_BEGIN,
        .close = T_END T_CALLS_END,
        .name = CALLNAME_PLAIN,
        .never = " \t\n\v\f\r`{<",
    },
    {
        .tell = "```json",
        .lead = "",
        .open = T_CALLS_BEGIN KIND_CALL,
        .head = "\n```json\n",
        .next = "\n```" T_END "\n" KIND_CALL,
        .close = "\n```" T_END T_CALLS_END,
        .name = CALLNAME_PLAIN,
        .never = " \t\n\v\f\r`{<",
    },
};

const struct dialect dialect_deepseek = {
    .name = "deepseek",
    .markers = markers,
    .forms = forms,
    .n_forms = sizeof(forms) / sizeof(forms[0]),
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free_state,
};
