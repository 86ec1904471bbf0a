#include "chat/dialect.h"

#include "base/ascii.h"
#include "chat/callread.h"
#include "chat/gap.h"
#include "chat/jsonargs.h"
#include "chat/jsontext.h"
#include "chat/tagparse.h"
#include "chat/wholecall.h"

/*
 * Text outside the tags goes out at once. What is inside is kept until the
 * block closes, and streamed on the way as far as it looks like calls; then
 * the whole block is read again and has the last word (chat/found.h).
 */

static const char *const markers[] = {"<tool_call>", "</tool_call>", NULL};
enum { OPEN, CLOSE };

enum where { WHOLE, OUTSIDE, BLOCK };

/* In a block: how it is streamed. */
enum inside {
    FIRST,    /* white space */
    TAGS,     /* between functions */
    FUNCTION, /* between parameters */
    VALUE,
    JSON,     /* around the arguments */
    ARGS,
    REST,     /* not streamed any more */
};

struct tagcall {
    const struct tools *tools;
    enum where where;
    struct gap gap;         /* where calls were forced */
    enum inside inside;
    struct whole whole;     /* WHOLE: the answer so far */
    struct sweep sweep;
    struct buf block;       /* without its tags */
    /* offsets in block; everything before pos is streamed or skipped */
    size_t pos, tag_at, value_at, sent;
    bool in_tag;            /* from tag_at, its > has not come */
    bool begun;             /* a character of the value is out */
    unsigned kinds;         /* of the value */
    struct jsonscan js;     /* of a value that is JSON, or of a block in JSON */
    size_t js_at;           /* of that block: what is read */
    struct tool_call *call; /* being streamed; NULL: it waits for its end */
    size_t name_at, name_n; /* of the function, in block */
    struct callread json;
    struct jsonargs args;
};

static void *open_state(const struct dialect_config *c)
{
    struct tagcall *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    t->tools = c->tools;
    t->where = c->tools ? WHOLE : OUTSIDE;
    whole_init(&t->whole, c->tools, false);
    buf_init(&t->block, BUF_ANSWER);
    jsonargs_init(&t->args);
    gap_init(&t->gap);
    return t;
}

static void free_state(void *state)
{
    struct tagcall *t = state;

    whole_release(&t->whole);
    buf_release(&t->block);
    jsonargs_release(&t->args);
    gap_release(&t->gap);
    free(t);
}

/* --- parameters ----------------------------------------------------------- */

static void begin_param(struct tagcall *t, struct span key)
{
    struct buf *out = t->call ? &t->call->args : NULL;

    t->kinds = tools_kinds(t->tools, t->block.p + t->name_at, t->name_n, key.s,
                           key.n);
    if (out) {
        buf_puts(out, out->n ? ", " : "{");
        jsontext_string(out, key.s, key.n, JT_SPACED);
        buf_puts(out, t->kinds ? ": " : ": \"");
    }
    t->inside = VALUE;
    t->value_at = t->pos;
    t->begun = false;
    jsonscan_init(&t->js);
}

/* The next characters of a value. White space waits for what follows it:
 * `sent` stays before it. */
static void add_value(struct tagcall *t, size_t from, size_t to)
{
    const char *s = t->block.p;

    if (t->kinds || !t->call)
        return;
    while (!t->begun && from < to && ascii_space(s[from]))
        from++;
    while (to > from && ascii_space(s[to - 1]))
        to--;
    if (from == to)
        return;
    if (!t->begun)
        t->sent = from;
    t->begun = true;
    jsontext_escape(&t->call->args, s + t->sent, to - t->sent, JT_SPACED);
    t->sent = to;
}

static void end_param(struct tagcall *t, size_t to)
{
    if (t->call && t->kinds) {
        struct span v = ascii_trim(t->block.p + t->value_at, to - t->value_at);

        tool_value(t->kinds, v.s, v.n, &t->call->args);
    } else if (t->call) {
        buf_putc(&t->call->args, '"');
    }
    t->inside = FUNCTION;
}

/* Up to </parameter>; false: more has to come. */
static bool in_value(struct tagcall *t)
{
    const size_t n = t->block.n, len = strlen(TAG_PARAM_END);
    const char *s = t->block.p, *hit;
    size_t at = t->pos, have;

    if (t->kinds == KIND_JSON) {
        jsonscan_until(&t->js, s, n, '<', &at);
    } else {
        hit = memchr(s + at, '<', n - at);
        at = hit ? (size_t)(hit - s) : n;
        add_value(t, t->pos, at);
    }
    t->pos = at;
    if (at == n)
        return false;
    have = n - at < len ? n - at : len;
    if (memcmp(s + at, TAG_PARAM_END, have)) {
        add_value(t, at, at + 1);
        t->js.bad = true;
        t->pos++;
    } else if (have < len) {
        return false;
    } else {
        end_param(t, at);
        t->pos += len;
    }
    return true;
}

/* --- functions ------------------------------------------------------------ */

static void end_function(struct tagcall *t)
{
    if (t->call)
        buf_puts(&t->call->args, t->call->args.n ? "}" : "{}");
    t->inside = TAGS;
}

static void begin_function(struct tagcall *t, struct span name,
                           struct dialect_out *o)
{
    if (t->inside == FUNCTION)
        end_function(t);
    t->call = sweep_live(&t->sweep, o->calls, (struct span){0}, name,
                         t->tag_at);
    t->name_at = (size_t)(name.s - t->block.p);
    t->name_n = name.n;
    t->inside = FUNCTION;
}

static void on_tag(struct tagcall *t, struct dialect_out *o)
{
    struct span tag = {t->block.p + t->tag_at, t->pos - t->tag_at}, name;
    enum tag kind = tag_read(tag.s, tag.n, &name);

    if (kind == TAG_FUNCTION)
        begin_function(t, name, o);
    else if (t->inside == FUNCTION && kind == TAG_PARAM)
        begin_param(t, name);
    else if (t->inside == FUNCTION && span_is(tag, TAG_FUNCTION_END))
        end_function(t);
}

/* Tags between functions and parameters; an unknown one is skipped up to its
 * >. False: more has to come. */
static bool in_tags(struct tagcall *t, struct dialect_out *o)
{
    const char *s = t->block.p;
    const char *hit = memchr(s + t->pos, t->in_tag ? '>' : '<',
                             t->block.n - t->pos);

    if (!hit) {
        t->pos = t->block.n;
        return false;
    }
    t->pos = (size_t)(hit - s) + 1;
    if (!t->in_tag)
        t->tag_at = t->pos - 1;
    t->in_tag = !t->in_tag;
    if (!t->in_tag)
        on_tag(t, o);
    return true;
}

/* --- JSON in the tags ----------------------------------------------------- */

/* The members around the arguments. False: more has to come. */
static bool in_json(struct tagcall *t, struct dialect_out *o)
{
    const struct callread *r = &t->json;
    struct span name;

    switch (callread_step(&t->json, t->block.p, t->block.n, &t->pos)) {
    case CR_MORE:
        return false;
    case CR_ARGS:
        if (r->base != 1 || !r->has_name || t->call)
            break; /* goes out whole */
        name = (struct span){t->block.p + r->name_at, r->name_n};
        t->call = sweep_live(&t->sweep, o->calls, (struct span){0}, name, 0);
        t->inside = t->call ? ARGS : REST;
        if (t->call)
            jsonargs_open(&t->args, t->tools, t->call);
        t->pos--;
        break;
    case CR_BAD:
    case CR_END:
        t->inside = REST;
        break;
    case CR_KEY:
    case CR_NAME:
    case CR_ID:
    case CR_ITEM:
        break;
    }
    return true;
}

static bool in_args(struct tagcall *t)
{
    size_t used;

    switch (jsonargs_feed(&t->args, t->block.p + t->pos, t->block.n - t->pos,
                          &used)) {
    case ARGS_MORE:
        t->pos += used;
        return false;
    case ARGS_BAD:
        t->inside = REST;
        return true;
    case ARGS_DONE:
        break;
    }
    t->pos += used - 1; /* the brace closes them for the other reader too */
    t->inside = JSON;
    return true;
}

/* --- blocks --------------------------------------------------------------- */

static bool in_first(struct tagcall *t)
{
    while (t->pos < t->block.n && ascii_space(t->block.p[t->pos]))
        t->pos++;
    if (t->pos == t->block.n)
        return false;
    t->inside = t->block.p[t->pos] == '{' || t->block.p[t->pos] == '['
                    ? JSON
                    : TAGS;
    callread_init(&t->json);
    return true;
}

/* One step through what is new in the block; false: all of it is done. */
static bool step(struct tagcall *t, struct dialect_out *o)
{
    switch (t->inside) {
    case FIRST:
        return in_first(t);
    case TAGS:
    case FUNCTION:
        return in_tags(t, o);
    case VALUE:
        return in_value(t);
    case JSON:
        return in_json(t, o);
    case ARGS:
        return in_args(t);
    case REST:
        break;
    }
    t->pos = t->block.n;
    return false;
}

static void add_block(struct tagcall *t, const char *p, size_t n,
                      struct dialect_out *o)
{
    buf_add(&t->block, p, n);
    if (t->block.failed) {
        o->content->failed = true;
        return;
    }
    while (t->pos < t->block.n && step(t, o))
        ;
}

static void open_block(struct tagcall *t)
{
    t->where = BLOCK;
    t->inside = FIRST;
    t->pos = t->js_at = 0;
    t->in_tag = false;
    t->call = NULL;
    buf_clear(&t->block);
}

/* Is the block calls? Then they are settled. */
static bool take_block(struct tagcall *t, struct dialect_out *o)
{
    struct span s = ascii_trim(t->block.p, t->block.n);
    struct founds f = {0};

    if (s.n && (s.s[0] == '{' || s.s[0] == '['))
        founds_json(&f, t->tools, s.s, s.n, FOUND_ANY);
    else if (s.n)
        tagparse(&f, t->tools, t->block.p, t->block.n);
    if (f.failed)
        o->calls->failed = true;
    if (!f.n) {
        founds_release(&f);
        return false;
    }
    if (t->inside == FUNCTION)
        end_function(t);
    sweep_close(&t->sweep, &f, o->calls);
    gap_call(&t->gap);
    return true;
}

/* Text that is none of a call. Blanks around calls that were forced are
 * layout. */
static void say(struct tagcall *t, const char *p, size_t n,
                struct dialect_out *o)
{
    if (n && tools_are_forced(t->tools))
        gap_text(&t->gap, p, n, o->content);
    else if (n)
        buf_add(o->content, p, n);
}

static void refuse_block(struct tagcall *t, struct dialect_out *o)
{
    sweep_withdraw(&t->sweep, o->calls);
    say(t, markers[OPEN], strlen(markers[OPEN]), o);
    say(t, t->block.p, t->block.n, o);
}

/* --- the dialect ---------------------------------------------------------- */

static void feed_whole(struct tagcall *t, const char *p, size_t n,
                       struct dialect_out *o)
{
    if (whole_feed(&t->whole, p, n))
        return;
    say(t, t->whole.held.p, t->whole.held.n, o);
    if (t->whole.held.failed)
        o->content->failed = true;
    whole_release(&t->whole);
    t->where = OUTSIDE;
}

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    struct tagcall *t = state;

    if (t->where == WHOLE)
        feed_whole(t, p, n, o);
    else if (t->where == OUTSIDE)
        say(t, p, n, o);
    else
        add_block(t, p, n, o);
}

/* In JSON that was forced, a closer inside a string is part of it. */
static bool in_string(struct tagcall *t)
{
    size_t i = 0;

    if (!tools_are_forced(t->tools))
        return false;
    if (t->inside == VALUE)
        return t->kinds == KIND_JSON && t->js.in_string;
    while (i < t->block.n && ascii_space(t->block.p[i]))
        i++;
    if (i == t->block.n || t->block.p[i] != '{')
        return false;
    if (!t->js_at)
        jsonscan_init(&t->js);
    jsonscan_until(&t->js, t->block.p, t->block.n, '\0', &t->js_at);
    return t->js.in_string;
}

static void marker(void *state, int k, struct dialect_out *o)
{
    struct tagcall *t = state;

    if (t->where == WHOLE && k == OPEN && !whole_in_string(&t->whole)) {
        say(t, t->whole.held.p, t->whole.held.n, o);
        whole_release(&t->whole);
        open_block(t);
    } else if (t->where == OUTSIDE && k == OPEN) {
        open_block(t);
    } else if (t->where == BLOCK && k == CLOSE && !in_string(t)) {
        if (!take_block(t, o)) {
            refuse_block(t, o);
            say(t, markers[CLOSE], strlen(markers[CLOSE]), o);
        }
        t->where = OUTSIDE;
    } else {
        text(state, markers[k], strlen(markers[k]), o);
    }
}

static void end(void *state, bool ended, struct dialect_out *o)
{
    struct tagcall *t = state;

    if (t->where == WHOLE) {
        if (ended && whole_is_call(&t->whole))
            sweep_close(&t->sweep, &t->whole.found, o->calls);
        else
            say(t, t->whole.held.p, t->whole.held.n, o);
        whole_release(&t->whole);
    } else if (t->where == BLOCK && !(ended && take_block(t, o))) {
        refuse_block(t, o);
    }
    gap_end(&t->gap, o->calls->n > 0, o->content);
    t->where = OUTSIDE;
}

#define FUNCTION_CALL "<tool_call>\n<function="
#define JSON_CALL "<tool_call>\n{\"name\": \""

static const char *const value_stops[] = {TAG_PARAM_END, TAG_FUNCTION_END,
                                          NULL};

static const struct callform forms[] = {
    {
        .lead = "",
        .open = JSON_CALL,
        .head = "\", \"arguments\": ",
        .next = "}\n</tool_call>\n" JSON_CALL,
        .close = "}\n</tool_call>",
        .name = CALLNAME_JSON,
        .never = "",
    },
    {
        .tell = "<function=",
        .lead = "",
        .open = FUNCTION_CALL,
        .head = ">\n",
        .next = TAG_FUNCTION_END "\n</tool_call>\n" FUNCTION_CALL,
        .close = TAG_FUNCTION_END "\n</tool_call>",
        .name = CALLNAME_PLAIN,
        .never = " \t\n\v\f\r<>\"'",
        .param = "<parameter=",
        .raw = ">\n",
        .json = ">\n",
        .end = "\n" TAG_PARAM_END "\n",
        .stops = value_stops,
        .trims = true,
    },
};

const struct dialect dialect_qwen = {
    .name = "qwen",
    .markers = markers,
    .forms = forms,
    .n_forms = sizeof(forms) / sizeof(forms[0]),
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free_state,
};
