/*
 * XTML prompts: elements whose brackets are reserved tokens, segment for
 * segment as spec waste.md section 1 has them from the model maker's encoder.
 */
#include "chat/xtml_int.h"

#include "base/utf8.h"
#include "chat/jsontext.h"

#define SLICE_CHARS 400000
#define RUN_CHARS 25000

/* --- primitives ---------------------------------------------------------- */

void xtml_open(struct xtml *x, struct text tag)
{
    add_markup(x->out, TEXT("<|open|>"));
    add_text(x->out, tag);
}

void xtml_sep(struct xtml *x)
{
    add_markup(x->out, TEXT("<|sep|>"));
}

void xtml_close(struct xtml *x, struct text tag)
{
    add_markup(x->out, TEXT("<|close|>"));
    add_text(x->out, tag);
    xtml_sep(x);
}

void xtml_close_message(struct xtml *x)
{
    xtml_close(x, TEXT("message"));
    add_markup(x->out, TEXT("<|end_of_msg|>"));
}

/* Quotes would end the value; angle brackets are nothing special here. */
static void escape(struct buf *b, struct text t)
{
    for (size_t i = 0; i < t.n; i++) {
        if (t.s[i] == '&')
            buf_puts(b, "&amp;");
        else if (t.s[i] == '"')
            buf_puts(b, "&quot;");
        else
            buf_putc(b, t.s[i]);
    }
}

void xtml_attr(struct xtml *x, struct text key, struct text value)
{
    add_text(x->out, key);
    add_text(x->out, TEXT("=\""));
    if (value.n && (memchr(value.s, '&', value.n) ||
                    memchr(value.s, '"', value.n))) {
        struct buf b;

        buf_init(&b, BUF_ANSWER);
        escape(&b, value);
        xtml_buf(x, &b);
    } else {
        xtml_text(x, value);
    }
    add_text(x->out, TEXT("\""));
}

void xtml_buf(struct xtml *x, struct buf *b)
{
    xtml_text(x, format_keep(x->out, b));
    buf_release(b);
}

/* White space as Python's str.isspace has it. */
static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 ||
           c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

void xtml_text(struct xtml *x, struct text t)
{
    size_t from = 0, chars = 0, run = 0, i = 0;
    bool space = false;

    if (t.n <= RUN_CHARS) {
        add_text(x->out, t);
        return;
    }
    while (i < t.n) {
        uint32_t c = 0;
        size_t len = utf8_decode(t.s + i, t.n - i, &c);
        bool now = is_space(c);

        if (chars == SLICE_CHARS) {
            add_text(x->out, (struct text){t.s + from, i - from});
            from = i;
            chars = run = 0;
        }
        run = now == space || !run ? run + 1 : 1;
        if (run > RUN_CHARS) {
            add_text(x->out, (struct text){t.s + from, i - from});
            from = i;
            run = 1;
        }
        space = now;
        chars++;
        i += len ? len : 1;
    }
    add_text(x->out, (struct text){t.s + from, t.n - from});
}

/* --- synthetic system messages ------------------------------------------- */

static void note_open(struct xtml *x, struct text type)
{
    xtml_open(x, TEXT("message"));
    xtml_attr(x, TEXT(" role"), TEXT("system"));
    xtml_attr(x, TEXT(" type"), type);
    xtml_sep(x);
}

static void note(struct xtml *x, struct text type, struct text body)
{
    note_open(x, type);
    xtml_text(x, body);
    xtml_close_message(x);
}

void xtml_tools(struct xtml *x, const struct json *tools, bool late)
{
    struct buf b;

    buf_init(&b, BUF_ANSWER);
    buf_puts(&b, late ? "## New Tools Available\n"
                        "The system dynamically extends the toolset via "
                        "lazy-loading.\n"
                        "You have access to all existing and extended "
                        "tools.\n"
                        "Here are the specs for the extended tools.\n\n"
                      : "# Tools\n"
                        "Here are the available tools, described in "
                        "JSONSchema.\n\n");
    buf_puts(&b, "```json\n");
    jsontext(&b, tools, JT_COMPACT | JT_SORTED);
    buf_puts(&b, "\n```");
    note_open(x, TEXT("tool-declare"));
    xtml_buf(x, &b);
    xtml_close_message(x);
}

/* The efforts that its text advertises are one more than the model knows. */
static void add_effort(struct xtml *x)
{
    struct buf b;

    buf_init(&b, BUF_MESSAGE);
    buf_puts(&b, "`thinking_effort` guides on how much to think in your "
                 "thinking channel (not including the response channel), "
                 "supported values include `low`, `medium`, `high`, and "
                 "`max`.\n"
                 "Now the system is invoked with `thinking_effort=");
    buf_add(&b, x->r->effort.s, x->r->effort.n);
    buf_puts(&b, "`.");
    note_open(x, TEXT("thinking-effort"));
    xtml_buf(x, &b);
    xtml_close_message(x);
}

/* The model knows `required`; which tool, an ordinary system message says. */
static void add_named(struct xtml *x)
{
    struct buf b;

    buf_init(&b, BUF_ANSWER);
    buf_puts(&b, "Call only the tool `");
    buf_add(&b, x->r->tool_named.s, x->r->tool_named.n);
    buf_puts(&b, "` in the next message.");
    xtml_open(x, TEXT("message"));
    xtml_attr(x, TEXT(" role"), TEXT("system"));
    xtml_sep(x);
    xtml_buf(x, &b);
    xtml_close_message(x);
}

static void add_choice(struct xtml *x)
{
    if (x->r->tool_choice == TOOLS_NAMED)
        add_named(x);
    if (x->r->tool_choice == TOOLS_REQUIRED ||
        x->r->tool_choice == TOOLS_NAMED)
        note(x, TEXT("tool-choice"),
             TEXT("The system is invoked with `tool_choice=required`.\n"
                  "You MUST call tools in the next message."));
    else if (x->r->tool_choice == TOOLS_NONE)
        note(x, TEXT("tool-choice"),
             TEXT("The system is invoked with `tool_choice=none`.\n"
                  "You MUST NOT call any tools in the next message."));
}

static void add_form(struct xtml *x)
{
    bool schema = x->r->form == FORM_JSON_SCHEMA;
    struct buf b;

    if (x->r->form == FORM_TEXT)
        return;
    buf_init(&b, BUF_ANSWER);
    buf_printf(&b,
               "The system is invoked with `response_format=%s`.\n"
               "Your response must be raw JSON data without markdown code "
               "blocks (```json) or any additional formatting.",
               schema ? "json_schema" : "json_object");
    if (schema) {
        buf_puts(&b, "\nThe JSON data must match the following schema:\n"
                     "```json\n");
        if (x->r->schema)
            jsontext(&b, x->r->schema, JT_COMPACT | JT_SORTED);
        else
            buf_puts(&b, "null");
        buf_puts(&b, "\n```");
    }
    note_open(x, TEXT("response-format"));
    xtml_buf(x, &b);
    xtml_close_message(x);
}

/* --- the whole prompt ---------------------------------------------------- */

static void add_prompt(struct xtml *x)
{
    xtml_open(x, TEXT("message"));
    xtml_attr(x, TEXT(" role"), TEXT("assistant"));
    xtml_sep(x);
    xtml_open(x, x->think ? TEXT("think") : TEXT("response"));
    xtml_sep(x);
}

static enum st render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
{
    struct xtml x = {
        .out = out, .r = r, .think = r->think != THINK_OFF, .e = e,
    };
    enum st st;

    (void)f;
    if (x.think && r->effort_n >= 0)
        return err_set(e, ST_INVALID, "reasoning_effort",
                       "the chat format in use takes the words low, high "
                       "and max, and no numbers");
    st = format_sort_results(&x.msgs, r, out->arena, e);
    if (st)
        return st;
    if (r->tools)
        xtml_tools(&x, r->tools, false);
    if (x.think && r->effort.n)
        add_effort(&x);
    st = xtml_messages(&x);
    if (st)
        return st;
    add_choice(&x);
    add_form(&x);
    if (!r->no_prompt)
        add_prompt(&x);
    *think_open = x.think && !r->no_prompt;
    return ST_OK;
}

static void think(struct segments *out, bool close, bool answer)
{
    struct xtml x = {.out = out};

    if (close) {
        xtml_close(&x, TEXT("think"));
    } else {
        xtml_open(&x, TEXT("think"));
        xtml_sep(&x);
    }
    if (answer) {
        xtml_open(&x, TEXT("response"));
        xtml_sep(&x);
    }
}

static const struct format_kind kind = {
    .name = "xtml", .render = render, .think = think,
};

enum st format_xtml(struct format **out, const struct tok *t, struct err *e)
{
    static const char *const markers[] = {"<|open|>", "<|close|>", "<|sep|>",
                                          "<|end_of_msg|>"};
    static const char *const efforts[] = {"low", "high", "max", NULL};
    struct format *f;

    *out = NULL;
    for (size_t i = 0; t && i < sizeof(markers) / sizeof(markers[0]); i++)
        if (format_marker_id(t, markers[i]) < 0)
            return err_set(e, ST_UNSUPPORTED, "xtml",
                           "%s is no token of this vocabulary", markers[i]);
    f = format_new(&kind, "xtml", "built-in xtml");
    f->caps = (struct format_caps){
        .system = true, .late_system = LATE_SYSTEM_TOOLS, .think = true,
        .tools = true, .images = true, .efforts = efforts, .forms = true,
        .tool_choice = true,
    };
    f->dialect = &dialect_xtml;
    f->tok = t;
    f->stop_ids[0] = t ? format_marker_id(t, "<|end_of_msg|>") : -1;
    f->n_stop_ids = t ? 1 : 0;
    *out = f;
    return ST_OK;
}
