/*
 * DSML prompts (spec waste.md 4.3): roles and reasoning are control tokens;
 * in tool markup only the token between the bracket and the name is one, and
 * the names begin with a space. Whatever a caller wrote is text.
 */
#include "chat/dsml_int.h"

#include "chat/jsontext.h"

const struct text dsml_image = {DSML_NAMED("deepseek_image"),
                                sizeof(DSML_NAMED("deepseek_image")) - 1};

/*
 * The tools' description, byte for byte as the model was trained on it.
 * Here \1 stands for the tag token, \2 and \3 open and close reasoning.
 */
static const char tools_head[] =
    "## Tools\n"
    "\n"
    "You have access to a set of tools to help answer the user's question. "
    "You can invoke tools by writing a \"<\1 calls>\" block like the "
    "following:\n"
    "\n"
    "<\1 calls>\n"
    "<\1 invoke name=\"$TOOL_NAME\">\n"
    "<\1 parameter name=\"$PARAMETER_NAME\" string=\"true|false\">"
    "$PARAMETER_VALUE</\1 parameter>\n"
    "...\n"
    "</\1 invoke>\n"
    "<\1 invoke name=\"$TOOL_NAME2\">\n"
    "...\n"
    "</\1 invoke>\n"
    "</\1 calls>\n"
    "\n"
    "String parameters should be specified as is and set `string=\"true\"`. "
    "For all other types (numbers, booleans, arrays, objects), pass the value "
    "in JSON format and set `string=\"false\"`.\n"
    "\n"
    "If thinking_mode is enabled (triggered by \2), you MUST output your "
    "complete reasoning inside \2...\3 BEFORE any tool calls or final "
    "response.\n"
    "\n"
    "Otherwise, output directly after \3 with tool calls or final response.\n"
    "\n"
    "### Available Tool Schemas\n"
    "\n";
static const char tools_tail[] =
    "\n\nYou MUST strictly follow the above defined tool name and parameter "
    "schemas to invoke tool calls.\n";

/* --- text ---------------------------------------------------------------- */

enum st dsml_caller(struct dsml *d, const char *field, struct text t)
{
    if (t.n >= dsml_image.n && memmem(t.s, t.n, dsml_image.s, dsml_image.n))
        return err_set(d->e, ST_INVALID, field,
                       "holds the token that stands for an image; the "
                       "chat format in use has no way to write it as text");
    add_text(d->out, t);
    return ST_OK;
}

enum st dsml_caller_buf(struct dsml *d, const char *field, struct buf *b)
{
    struct text t = format_keep(d->out, b);

    buf_release(b);
    return dsml_caller(d, field, t);
}

static void add_template(struct dsml *d, const char *s)
{
    static const struct text tokens[] = {
        {DSML_TAG, sizeof(DSML_TAG) - 1},
        {DSML_THINK, sizeof(DSML_THINK) - 1},
        {DSML_THINK_END, sizeof(DSML_THINK_END) - 1},
    };

    while (*s) {
        size_t n = strcspn(s, "\1\2\3");

        add_text(d->out, (struct text){s, n});
        s += n;
        if (*s)
            add_markup(d->out, tokens[*s++ - 1]);
    }
}

/* --- the head ------------------------------------------------------------ */

/* The effort as a number; the words are checked by the caller. */
static enum st effort_of(struct dsml *d, int32_t *n)
{
    const struct chat_req *r = d->r;

    *n = 75;
    if (r->effort.n)
        *n = r->effort.s[0] == 'l' ? 50 : r->effort.s[0] == 'm' ? 100 : 75;
    else if (r->effort_n >= 0)
        *n = r->effort_n;
    if (*n < 1 || *n > 100)
        return err_set(d->e, ST_INVALID, "reasoning_effort",
                       "accepted by the chat format in use are low, high, "
                       "max, and numbers from 1 to 100");
    return ST_OK;
}

static enum st add_effort(struct dsml *d)
{
    struct buf b;
    int32_t n;
    enum st st = effort_of(d, &n);

    if (st)
        return st;
    buf_init(&b, BUF_MESSAGE);
    buf_printf(&b, "Reasoning Effort: %d (range 1-100, the higher the value, "
                   "the more thorough the reasoning)\n\n", n);
    add_text(d->out, format_keep(d->out, &b));
    buf_release(&b);
    return ST_OK;
}

static enum st add_tools(struct dsml *d)
{
    struct buf b;
    enum st st;

    add_text(d->out, TEXT("\n\n"));
    add_template(d, tools_head);
    buf_init(&b, BUF_ANSWER);
    for (size_t i = 0; i < d->r->n_tools; i++) {
        if (i)
            buf_putc(&b, '\n');
        jsontext(&b, d->r->tool_list[i].function, JT_SPACED);
    }
    st = dsml_caller_buf(d, "tools", &b);
    add_template(d, tools_tail);
    return st;
}

/* Without a schema, any object will do. */
static enum st add_form(struct dsml *d)
{
    struct buf b;

    add_text(d->out, TEXT("\n\n## Response Format:\n\nYou MUST strictly "
                          "adhere to the following schema to reply:\n"));
    buf_init(&b, BUF_ANSWER);
    if (d->r->schema)
        jsontext(&b, d->r->schema, JT_SPACED);
    else
        buf_puts(&b, "{\"type\": \"object\"}");
    return dsml_caller_buf(d, "response_format", &b);
}

/* What stands before the conversation; *used: the first message is in it. */
static enum st add_head(struct dsml *d, bool tools, size_t *used)
{
    const struct chat_req *r = d->r;
    bool system = r->n_messages && d->msgs[0].role == ROLE_SYSTEM;
    bool form = r->form != FORM_TEXT;
    enum st st = ST_OK;

    add_markup(d->out, TEXT(DSML_BOS));
    if (system || d->think || tools || form)
        add_markup(d->out, TEXT(DSML_SYSTEM));
    if (d->think)
        st = add_effort(d);
    if (!st && system)
        st = dsml_system(d, &d->msgs[0]);
    if (!st && tools)
        st = add_tools(d);
    if (!st && form)
        st = add_form(d);
    *used = system;
    return st;
}

/* --- the whole prompt ---------------------------------------------------- */

/* Behind the last message that speaks to the model; the first message of the
 * prompt is no such one when it is the system's. */
static size_t last_turn(const struct chat_req *r)
{
    size_t i = r->n_messages;

    while (i && (r->messages[i - 1].role == ROLE_ASSISTANT ||
                 (r->messages[i - 1].role == ROLE_SYSTEM && i == 1)))
        i--;
    return i;
}

static enum st render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
{
    bool tools = r->n_tools && r->tool_choice != TOOLS_NONE;
    struct dsml d = {
        .out = out, .r = r, .think = r->think != THINK_OFF, .keep = tools,
        .turn = last_turn(r), .e = e,
    };
    size_t used = 0;
    enum st st;

    (void)f;
    st = format_sort_results(&d.msgs, r, out->arena, e);
    if (!st)
        st = add_head(&d, tools, &used);
    if (!st)
        st = dsml_messages(&d, used);
    if (st)
        return st;
    if (!r->no_prompt)
        dsml_open_turn(&d, d.think);
    *think_open = d.think && !r->no_prompt;
    return ST_OK;
}

static const struct format_kind kind = {.name = "dsml", .render = render};

/* Names the first of the tokens that is missing. */
static enum st check_tokens(const struct tok *t, struct err *e)
{
    static const char *const names[] = {
        DSML_BOS, DSML_EOS, DSML_USER, DSML_ASSISTANT, DSML_SYSTEM,
        DSML_NAMED("latest_reminder"), DSML_TAG, DSML_THINK, DSML_THINK_END,
        DSML_NAMED("action"), DSML_NAMED("query"), DSML_NAMED("authority"),
        DSML_NAMED("domain"), DSML_NAMED("title"), DSML_NAMED("read_url"),
    };
    const char *missing = NULL;

    for (size_t i = 0; !missing && i < sizeof(names) / sizeof(names[0]); i++)
        if (format_marker_id(t, names[i]) < 0)
            missing = names[i];
    if (!missing && format_marker_id(t, dsml_image.s) < 0)
        missing = dsml_image.s;
    if (missing)
        return err_set(e, ST_UNSUPPORTED, "dsml",
                       "%s is no token of this vocabulary", missing);
    return ST_OK;
}

enum st format_dsml(struct format **out, const struct tok *t, struct err *e)
{
    static const char *const efforts[] = {"low", "high", "max", NULL};
    struct format *f;
    enum st st = t ? check_tokens(t, e) : ST_OK;

    *out = NULL;
    if (st)
        return st;
    f = format_new(&kind, "dsml", "built-in dsml");
    f->caps = (struct format_caps){
        .system = true, .late_system = LATE_SYSTEM_YES, .think = true,
        .tools = true, .images = true, .efforts = efforts, .effort_max = 100,
        .forms = true,
    };
    f->think[0] = TEXT(DSML_THINK);
    f->think[1] = f->cut = TEXT(DSML_THINK_END);
    f->tok = t;
    if (t) {
        f->think_id[0] = format_marker_id(t, DSML_THINK);
        f->think_id[1] = format_marker_id(t, DSML_THINK_END);
        f->stop_ids[0] = format_marker_id(t, DSML_EOS);
        f->n_stop_ids = 1;
    }
    f->dialect = &dialect_dsml;
    f->strict_end = true;
    *out = f;
    return ST_OK;
}
