#include "chat/dialect.h"

#include "base/ascii.h"
#include "chat/jsonargs.h"
#include "chat/wholecall.h"

/*
 * Calls as the answer itself, bare or behind <|python_tag|>: one object, a
 * list, or several with ; between them. Nothing marks the bare ones, and what
 * follows the tag may be program text, so both pass the gate of
 * chat/wholecall.h. The third form, <function=NAME>{..}</function>, may have
 * text around it; its name has to be that of a tool.
 */

static const char *const markers[] = {
    "<|python_tag|>", "<|eom_id|>", "<function=", "</function>", NULL,
};
enum { PYTHON, TURN_END, FUNCTION, FUNCTION_END };

#define NAME_MAX_BYTES 256

enum where {
    WHOLE,   /* held while it can be calls */
    OUTSIDE,
    NAME,    /* behind <function= */
    ARGS,
    AFTER,   /* the arguments are complete */
};

struct jsoncall {
    const struct tools *tools;
    enum where where;
    struct whole whole;
    struct sweep sweep;
    struct buf block;      /* behind <function= */
    size_t pos, name_n;    /* in block */
    struct jsonargs args;
};

static void *open_state(const struct dialect_config *c)
{
    struct jsoncall *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    t->tools = c->tools;
    t->where = c->tools ? WHOLE : OUTSIDE;
    whole_init(&t->whole, c->tools, true);
    buf_init(&t->block, BUF_ANSWER);
    jsonargs_init(&t->args);
    return t;
}

static void free_state(void *state)
{
    struct jsoncall *t = state;

    whole_release(&t->whole);
    buf_release(&t->block);
    jsonargs_release(&t->args);
    free(t);
}

/* --- JSON as the answer --------------------------------------------------- */

static void refuse_whole(struct jsoncall *t, struct dialect_out *o)
{
    sweep_withdraw(&t->sweep, o->calls);
    buf_add(o->content, t->whole.held.p, t->whole.held.n);
    if (t->whole.held.failed)
        o->content->failed = true;
    whole_release(&t->whole);
    t->where = OUTSIDE;
}

static void end_whole(struct jsoncall *t, bool ended, struct dialect_out *o)
{
    if (!ended || !whole_is_call(&t->whole)) {
        refuse_whole(t, o);
        return;
    }
    sweep_close(&t->sweep, &t->whole.found, o->calls);
    whole_release(&t->whole);
    t->where = OUTSIDE;
}

static void feed_whole(struct jsoncall *t, const char *p, size_t n,
                       struct dialect_out *o)
{
    whole_live(&t->whole, &t->sweep, o->calls);
    if (!whole_feed(&t->whole, p, n))
        refuse_whole(t, o);
}

/* --- <function=NAME>{..}</function> --------------------------------------- */

static void refuse_function(struct jsoncall *t, struct dialect_out *o)
{
    sweep_withdraw(&t->sweep, o->calls);
    buf_puts(o->content, markers[FUNCTION]);
    buf_add(o->content, t->block.p, t->block.n);
    if (t->block.failed)
        o->content->failed = true;
    t->where = OUTSIDE;
}

/* The function is complete: is it a call? */
static bool take_function(struct jsoncall *t, struct dialect_out *o)
{
    const struct span name = {t->block.p, t->name_n};
    struct founds f = {0};

    if (t->where != AFTER ||
        !founds_args(&f, t->tools, (struct span){0}, name,
                     t->block.p + t->name_n + 1, t->block.n - t->name_n - 1)) {
        o->calls->failed = o->calls->failed || f.failed;
        return false;
    }
    sweep_close(&t->sweep, &f, o->calls);
    t->where = OUTSIDE;
    return true;
}

/* The name, up to its >; false: it is none. */
static bool in_name(struct jsoncall *t, struct dialect_out *o)
{
    for (; t->pos < t->block.n && t->block.p[t->pos] != '>'; t->pos++)
        if (t->pos == NAME_MAX_BYTES || strchr(" \n\t\r<{", t->block.p[t->pos]))
            return false;
    if (t->pos == t->block.n)
        return true;
    t->name_n = t->pos++;
    t->where = ARGS;
    if (!tools_has(t->tools, t->block.p, t->name_n))
        return false;
    jsonargs_open(&t->args, t->tools,
                  sweep_live(&t->sweep, o->calls, (struct span){0},
                             (struct span){t->block.p, t->name_n}, 0));
    return true;
}

static bool in_args(struct jsoncall *t)
{
    size_t used;
    enum jsonargs_step s = jsonargs_feed(&t->args, t->block.p + t->pos,
                                         t->block.n - t->pos, &used);

    t->pos += used;
    if (s == ARGS_DONE)
        t->where = AFTER;
    return s != ARGS_BAD;
}

static bool after_args(struct jsoncall *t)
{
    return json_space(t->block.p[t->pos++]);
}

static void feed_function(struct jsoncall *t, const char *p, size_t n,
                          struct dialect_out *o)
{
    bool can = true;

    buf_add(&t->block, p, n);
    while (can && t->pos < t->block.n)
        can = t->where == NAME   ? in_name(t, o)
              : t->where == ARGS ? in_args(t)
                                 : after_args(t);
    if (!can || t->block.failed)
        refuse_function(t, o);
}

/* --- the dialect ---------------------------------------------------------- */

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    struct jsoncall *t = state;

    if (t->where == WHOLE)
        feed_whole(t, p, n, o);
    else if (t->where == OUTSIDE)
        buf_add(o->content, p, n);
    else
        feed_function(t, p, n, o);
}

/* A marker inside a string is text. */
static bool in_string(const struct jsoncall *t)
{
    return (t->where == WHOLE && whole_in_string(&t->whole)) ||
           (t->where == ARGS && t->args.js.in_string);
}

/* Whatever was open ends where the next form begins. */
static void settle(struct jsoncall *t, struct dialect_out *o)
{
    if (t->where == WHOLE)
        end_whole(t, true, o);
    else if (t->where != OUTSIDE && !take_function(t, o))
        refuse_function(t, o);
}

static void begin_whole(struct jsoncall *t)
{
    if (!t->tools)
        return;
    whole_init(&t->whole, t->tools, true);
    t->where = WHOLE;
}

static void begin_function(struct jsoncall *t)
{
    buf_clear(&t->block);
    t->pos = 0;
    t->where = NAME;
}

static void marker(void *state, int k, struct dialect_out *o)
{
    struct jsoncall *t = state;

    if (in_string(t)) {
        text(state, markers[k], strlen(markers[k]), o);
        return;
    }
    switch (k) {
    case PYTHON:
        settle(t, o);
        begin_whole(t);
        break;
    case FUNCTION:
        settle(t, o);
        begin_function(t);
        break;
    case FUNCTION_END:
        if (t->where != AFTER || !take_function(t, o))
            text(state, markers[k], strlen(markers[k]), o);
        break;
    case TURN_END:
        o->done = true;
        break;
    }
}

static void end(void *state, bool ended, struct dialect_out *o)
{
    struct jsoncall *t = state;

    if (t->where == WHOLE)
        end_whole(t, ended, o);
    else if (t->where != OUTSIDE && !(ended && take_function(t, o)))
        refuse_function(t, o);
}

#define CALL "{\"name\": \""

static const struct callform form = {
    .lead = "",
    .open = CALL,
    .head = "\", \"parameters\": ",
    .next = "}; " CALL,
    .close = "}",
    .name = CALLNAME_JSON,
    .never = "",
};

const struct dialect dialect_llama3 = {
    .name = "llama3",
    .markers = markers,
    .forms = &form,
    .n_forms = 1,
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free_state,
};
