/*
 * DSML replies (spec waste.md 4.3): content, then calls. The tag token decides
 * what is a tag; the bracket before it and the name behind it are ordinary
 * text, so the end of every text is held back as long as it may be a bracket.
 */
#include "chat/argwrite.h"
#include "chat/dialect.h"
#include "chat/dsml_int.h"
#include "chat/jsonscan.h"
#include "chat/jsontext.h"

enum { M_TAG, M_EOS };

static const char *const markers[] = {DSML_TAG, DSML_EOS, NULL};

enum place { AT_CONTENT, AT_CALLS, AT_INVOKE, AT_VALUE };

enum value { V_DROPPED, V_STRING, V_JSON, V_TYPED };

struct dsml_reply {
    const struct tools *tools;
    enum place place;
    bool in_calls;          /* the block is open around the place */
    bool in_header;         /* behind the tag token */
    bool closing;           /* the header's bracket was </ */
    struct buf hold;        /* the end of the text so far */
    struct buf header;
    struct tool_call *call; /* NULL: none is open */
    struct argwrite args;
    enum value value;
    unsigned kinds;         /* of V_TYPED */
    struct buf held;        /* a value that waits for its end */
    struct jsonscan js;     /* of a V_JSON, up to js_at */
    size_t js_at;
    bool done;
};

/* --- calls --------------------------------------------------------------- */

static void end_value(struct dsml_reply *d)
{
    const char *p = d->held.n ? d->held.p : "";

    if (d->place != AT_VALUE)
        return;
    if (d->value == V_STRING)
        argwrite_text_end(&d->args);
    else if (d->value == V_JSON)
        argwrite_guess(&d->args, p, d->held.n);
    else if (d->value == V_TYPED)
        tool_value(d->kinds, p, d->held.n, d->args.out);
    if (d->held.failed && d->call)
        d->call->args.failed = true;
    buf_clear(&d->held);
    d->place = AT_INVOKE;
}

static void end_call(struct dsml_reply *d)
{
    end_value(d);
    if (d->call) {
        argwrite_end(&d->args);
        d->call->whole = true;
        d->call = NULL;
    }
    d->place = d->in_calls ? AT_CALLS : AT_CONTENT;
}

/* --- tags ---------------------------------------------------------------- */

/* The quoted value of ` KEY="`; s NULL when it is not there. */
static struct text attr(const struct buf *header, const char *key)
{
    const char *p = header->n ? header->p : "", *end = p + header->n, *at;
    size_t n = strlen(key);

    at = memmem(p, header->n, key, n);
    if (!at)
        return (struct text){NULL, 0};
    p = at + n;
    at = memchr(p, '"', (size_t)(end - p));
    return (struct text){p, (size_t)((at ? at : end) - p)};
}

static struct text tag_name(const struct buf *header)
{
    const char *p = header->n ? header->p : "", *end = p + header->n, *from;

    while (p < end && memchr(" \t\n", *p, 3))
        p++;
    from = p;
    while (p < end && !memchr(" \t\n", *p, 3))
        p++;
    return (struct text){from, (size_t)(p - from)};
}

static void open_invoke(struct dsml_reply *d, struct dialect_out *o)
{
    struct text name = attr(&d->header, " name=\"");

    end_call(d);
    d->call = calls_add(o->calls, NULL, 0, name.n ? name.s : "", name.n);
    argwrite_begin(&d->args, d->call ? &d->call->args : NULL);
    d->place = AT_INVOKE;
}

static void open_parameter(struct dsml_reply *d)
{
    struct text key = attr(&d->header, " name=\"");
    struct text string = attr(&d->header, " string=\"");

    end_value(d);
    d->place = AT_VALUE;
    d->value = V_DROPPED;
    jsonscan_init(&d->js);
    d->js_at = 0;
    if (!d->call || !key.s || !argwrite_key(&d->args, key.s, key.n))
        return;
    d->kinds = string.s ? 0
                        : tools_kinds(d->tools, d->call->name,
                                      strlen(d->call->name), key.s, key.n);
    if (text_is(string, "false")) {
        d->value = V_JSON;
    } else if (d->kinds) {
        d->value = V_TYPED;
    } else {
        d->value = V_STRING;
        argwrite_text_begin(&d->args);
    }
}

/* The block of calls; published templates have other words for it. */
static bool is_block(struct text name)
{
    return text_is(name, "calls") || text_is(name, "tool_calls") ||
           text_is(name, "function_calls");
}

static void take_tag(struct dsml_reply *d, struct dialect_out *o)
{
    struct text name = tag_name(&d->header);

    if (is_block(name)) {
        d->in_calls = !d->closing;
        end_call(d);
    } else if (text_is(name, "invoke")) {
        if (d->closing)
            end_call(d);
        else
            open_invoke(d, o);
    } else if (text_is(name, "parameter")) {
        if (d->closing)
            end_value(d);
        else if (d->call)
            open_parameter(d);
    }
    d->in_header = false;
    buf_clear(&d->header);
}

/* --- text ---------------------------------------------------------------- */

/* How much of the end of p[0..n) may be the bracket of a tag: < or </, and
 * behind content the empty line before it. */
static size_t bracket(const char *p, size_t n, bool newlines)
{
    size_t angle = n && p[n - 1] == '<' ? 1 : 0, lines = 0;

    if (n > 1 && p[n - 1] == '/' && p[n - 2] == '<')
        angle = 2;
    while (lines < 2 && n > angle + lines && p[n - 1 - angle - lines] == '\n')
        lines++;
    if (!newlines || (angle && lines < 2))
        return angle;
    return angle + lines;
}

static void route(struct dsml_reply *d, const char *p, size_t n,
                  struct dialect_out *o)
{
    if (d->place == AT_CONTENT)
        buf_add(o->content, p, n);
    else if (d->place == AT_VALUE && d->value == V_STRING)
        argwrite_text(&d->args, p, n);
    else if (d->place == AT_VALUE && d->value != V_DROPPED)
        buf_add(&d->held, p, n);
}

static void add_plain(struct dsml_reply *d, const char *p, size_t n,
                      struct dialect_out *o)
{
    size_t keep;

    buf_add(&d->hold, p, n);
    keep = bracket(d->hold.n ? d->hold.p : "", d->hold.n,
                   d->place == AT_CONTENT);
    if (d->hold.n > keep) {
        route(d, d->hold.p, d->hold.n - keep, o);
        buf_drop(&d->hold, d->hold.n - keep);
    }
}

static void on_text(void *state, const char *p, size_t n,
                    struct dialect_out *o)
{
    struct dsml_reply *d = state;

    while (n && !d->done && d->in_header) {
        const char *end = memchr(p, '>', n);
        size_t len = end ? (size_t)(end - p) : n;

        buf_add(&d->header, p, len);
        if (end)
            take_tag(d, o);
        len += end != NULL;
        p += len;
        n -= len;
    }
    if (n && !d->done)
        add_plain(d, p, n, o);
}

/* A tag begins. The bracket before it goes; a token without one is a tag all
 * the same, and what was held was text. */
static void open_header(struct dsml_reply *d, struct dialect_out *o)
{
    struct buf *before = d->in_header ? &d->header : &d->hold;
    char last = before->n ? before->p[before->n - 1] : '\0';

    d->closing = last == '/' && before->n > 1 &&
                 before->p[before->n - 2] == '<';
    if (!d->in_header && last == '\n')
        route(d, d->hold.p, d->hold.n, o);
    buf_clear(&d->hold);
    buf_clear(&d->header);
    d->in_header = true;
}

/* A tag that is spelled in a string of JSON that was forced is part of it. */
static bool in_string(struct dsml_reply *d)
{
    if (d->in_header || d->place != AT_VALUE || d->value != V_JSON ||
        !tools_are_forced(d->tools))
        return false;
    jsonscan_until(&d->js, d->held.p, d->held.n, '\0', &d->js_at);
    return d->js.in_string;
}

static void on_marker(void *state, int k, struct dialect_out *o)
{
    struct dsml_reply *d = state;

    if (d->done)
        return;
    if (in_string(d)) {
        buf_add(&d->held, d->hold.n ? d->hold.p : "", d->hold.n);
        buf_puts(&d->held, markers[k]);
        buf_clear(&d->hold);
    } else if (k == M_TAG) {
        open_header(d, o);
    } else {
        o->done = true;
    }
}

/* --- life ---------------------------------------------------------------- */

static void *open_state(const struct dialect_config *c)
{
    struct dsml_reply *d = mem_try(sizeof(*d));

    if (!d)
        return NULL;
    d->tools = c->tools;
    buf_init(&d->hold, BUF_ANSWER);
    buf_init(&d->header, BUF_ANSWER);
    buf_init(&d->held, BUF_ANSWER);
    return d;
}

static void on_end(void *state, bool ended, struct dialect_out *o)
{
    struct dsml_reply *d = state;

    (void)ended;
    if (d->done)
        return;
    if (d->hold.n)
        route(d, d->hold.p, d->hold.n, o);
    end_call(d);
    d->done = true;
}

static void free_state(void *state)
{
    struct dsml_reply *d = state;

    buf_release(&d->hold);
    buf_release(&d->header);
    buf_release(&d->held);
    argwrite_release(&d->args);
    free(d);
}

#define INVOKE "<" DSML_TAG " invoke name=\""

static const struct callform form = {
    .lead = "\n\n",
    .open = "<" DSML_TAG " calls>\n" INVOKE,
    .head = "\">\n",
    .next = "</" DSML_TAG " invoke>\n" INVOKE,
    .close = "</" DSML_TAG " invoke>\n</" DSML_TAG " calls>",
    .name = CALLNAME_PLAIN,
    .never = "\">",
    .param = "<" DSML_TAG " parameter name=\"",
    .raw = "\" string=\"true\">",
    .json = "\" string=\"false\">",
    .end = "</" DSML_TAG " parameter>\n",
};

const struct dialect dialect_dsml = {
    .name = "dsml",
    .markers = markers,
    .forms = &form,
    .n_forms = 1,
    .id_form = CALL_ID_LONG,
    .open = open_state,
    .marker = on_marker,
    .text = on_text,
    .end = on_end,
    .free = free_state,
};
