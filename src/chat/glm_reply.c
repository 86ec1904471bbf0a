/*
 * A call as its name and pairs of key and value, between nine tokens (spec
 * waste.md 4.2). Values are typed by the request's schema: strings go on
 * while they come, others when they are whole.
 *
 * Forgotten closing tags are read as if they were there; a marker that has
 * no place at all ends the turn.
 */
#include "base/ascii.h"
#include "chat/dialect.h"
#include "chat/gap.h"
#include "chat/jsonscan.h"
#include "chat/jsontext.h"

#define WORD_MAX 4096 /* bytes of a name or a key */

enum { CALL, CALL_END, KEY, KEY_END, VALUE, VALUE_END };

static const char *const markers[] = {
    "<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>",
    "</arg_value>", "<tool_response>", "</tool_response>", "<|observation|>",
    NULL,
};

enum where { IN_CONTENT, IN_NAME, IN_KEY, IN_BETWEEN, IN_VALUE };

struct glm {
    const struct tools *tools;
    enum where where;
    struct buf word;         /* the name or key that is being read */
    struct buf name, key;    /* of the open call; trimmed, n = 0: none */
    struct buf value;        /* one that is typed when it is whole */
    struct jsonscan js;      /* of one that is JSON, up to js_at */
    size_t js_at;
    unsigned kinds;          /* of the open value */
    struct tool_call *call;  /* NULL: none, or it has no name */
    size_t n;                /* its arguments */
    struct gap gap;
};

static void *open_state(const struct dialect_config *c)
{
    struct glm *g = mem_try(sizeof(*g));

    if (!g)
        return NULL;
    g->tools = c->tools;
    buf_init(&g->word, WORD_MAX);
    buf_init(&g->name, WORD_MAX);
    buf_init(&g->key, WORD_MAX);
    buf_init(&g->value, BUF_ANSWER);
    gap_init(&g->gap);
    return g;
}

static void free_state(void *state)
{
    struct glm *g = state;

    buf_release(&g->word);
    buf_release(&g->name);
    buf_release(&g->key);
    buf_release(&g->value);
    gap_release(&g->gap);
    free(g);
}

/* The word that was read, trimmed; one that was too long is none. */
static void take_word(struct glm *g, struct buf *out)
{
    struct span word = ascii_trim(g->word.p, g->word.failed ? 0 : g->word.n);

    buf_clear(out);
    if (word.n)
        buf_add(out, word.s, word.n);
    buf_clear(&g->word);
}

/* The name is whole. */
static void announce(struct glm *g, struct dialect_out *o)
{
    take_word(g, &g->name);
    g->n = 0;
    g->call = g->name.n ? calls_add(o->calls, NULL, 0, g->name.p, g->name.n)
                        : NULL;
    if (g->call)
        buf_putc(&g->call->args, '{');
}

static void begin_value(struct glm *g)
{
    struct buf *args = g->call ? &g->call->args : NULL;

    g->where = IN_VALUE;
    buf_clear(&g->value);
    jsonscan_init(&g->js);
    g->js_at = 0;
    if (!args || !g->key.n)
        return;
    g->kinds = tools_kinds(g->tools, g->name.p, g->name.n, g->key.p,
                           g->key.n);
    buf_puts(args, g->n++ ? ", " : "");
    jsontext_string(args, g->key.p, g->key.n, JT_SPACED);
    buf_puts(args, g->kinds ? ": " : ": \"");
}

static void end_value(struct glm *g)
{
    g->where = IN_BETWEEN;
    if (g->call && g->key.n && g->kinds) {
        tool_value(g->kinds, g->value.p ? g->value.p : "", g->value.n,
                   &g->call->args);
        if (g->value.failed)
            g->call->args.failed = true;
    } else if (g->call && g->key.n) {
        buf_putc(&g->call->args, '"');
    }
    buf_clear(&g->key);
}

static void end_call(struct glm *g, struct dialect_out *o)
{
    if (g->where == IN_NAME)
        announce(g, o);
    if (g->where == IN_VALUE)
        end_value(g);
    if (g->call) {
        buf_putc(&g->call->args, '}');
        g->call->whole = true;
    }
    g->call = NULL;
    buf_clear(&g->word);
    buf_clear(&g->key);
    g->where = IN_CONTENT;
}

/* --- events -------------------------------------------------------------- */

/* A tag inside a call. */
static void tag(struct glm *g, int m, struct dialect_out *o)
{
    switch (m) {
    case KEY:
        if (g->where == IN_NAME)
            announce(g, o);
        if (g->where == IN_VALUE)
            end_value(g);
        buf_clear(&g->word);
        g->where = IN_KEY;
        break;
    case KEY_END:
    case VALUE:
        if (g->where == IN_NAME)
            announce(g, o);
        if (g->where == IN_KEY)
            take_word(g, &g->key);
        if (g->where != IN_VALUE)
            g->where = IN_BETWEEN;
        if (m == VALUE && g->where == IN_BETWEEN)
            begin_value(g);
        break;
    case VALUE_END:
        if (g->where == IN_VALUE)
            end_value(g);
        break;
    default:
        BUG_ON(true);
    }
}

/* A marker that is spelled in a string of JSON that was forced is part of
 * it. */
static bool in_string(struct glm *g)
{
    if (g->where != IN_VALUE || g->kinds != KIND_JSON)
        return false;
    jsonscan_until(&g->js, g->value.p, g->value.n, '\0', &g->js_at);
    return g->js.in_string;
}

static void marker(void *state, int m, struct dialect_out *o)
{
    struct glm *g = state;

    if (in_string(g)) {
        buf_puts(&g->value, markers[m]);
    } else if (m == CALL) {
        if (g->where != IN_CONTENT)
            end_call(g, o);
        gap_call(&g->gap);
        g->where = IN_NAME;
    } else if (m > VALUE_END || g->where == IN_CONTENT) {
        o->done = true;
    } else if (m == CALL_END) {
        end_call(g, o);
    } else {
        tag(g, m, o);
    }
}

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    struct glm *g = state;

    switch (g->where) {
    case IN_CONTENT:
        gap_text(&g->gap, p, n, o->content);
        break;
    case IN_NAME:
    case IN_KEY:
        buf_add(&g->word, p, n);
        break;
    case IN_BETWEEN:
        break;
    case IN_VALUE:
        if (!g->call || !g->key.n)
            break;
        if (g->kinds)
            buf_add(&g->value, p, n);
        else
            jsontext_escape(&g->call->args, p, n, JT_SPACED);
        break;
    }
}

/* A name that a limit cut may be half of one: it counts when it is known. */
static void end(void *state, bool ended, struct dialect_out *o)
{
    struct glm *g = state;

    if (g->where == IN_NAME && !ended) {
        struct span word = ascii_trim(g->word.p, g->word.n);

        if (!word.n || !tools_has(g->tools, word.s, word.n))
            buf_clear(&g->word);
    }
    if (g->where != IN_CONTENT)
        end_call(g, o);
    gap_end(&g->gap, o->calls->n > 0, o->content);
}

static const struct callform form = {
    .lead = "",
    .open = "<tool_call>",
    .head = "",
    .next = "</tool_call><tool_call>",
    .close = "</tool_call>",
    .name = CALLNAME_PLAIN,
    .never = "",
    .param = "<arg_key>",
    .raw = "</arg_key><arg_value>",
    .json = "</arg_key><arg_value>",
    .end = "</arg_value>",
};

const struct dialect dialect_glm = {
    .name = "glm",
    .markers = markers,
    .forms = &form,
    .n_forms = 1,
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free_state,
};
