/*
 * Five section tokens (spec waste.md 4.1): tools declared before the first
 * message, calls behind an assistant's content, results as turns that bear
 * the tool's name. Ids carry the function's name, so they go verbatim.
 *
 * The published templates of this family write the declaration with
 * tojson(separators=(',', ':')), and tojson of those engines leaves
 * everything above ASCII as it is.
 */
#include "chat/chatjson.h"

#include "chat/jsontext.h"

static const char *const frame[] = {
    "<|im_system|>", "<|im_middle|>", "<|im_end|>", NULL,
};

static enum st declare(const struct chat_req *r, struct segments *out,
                       struct err *e)
{
    struct buf b;

    (void)e;
    buf_init(&b, BUF_ANSWER);
    jsontext(&b, r->tools, JT_COMPACT);
    add_markup(out, TEXT("<|im_system|>tool_declare<|im_middle|>"));
    add_text(out, format_keep(out, &b));
    add_markup(out, TEXT("<|im_end|>"));
    buf_release(&b);
    return ST_OK;
}

/* Arguments as they were sent; an object in the form that models write. */
static struct text arguments(const struct chat_call *c, struct segments *out)
{
    struct text t;
    struct buf b;

    if (c->sent.n)
        return c->sent;
    if (c->raw.n)
        return c->raw;
    if (!c->args)
        return TEXT("{}");
    buf_init(&b, BUF_ANSWER);
    jsontext(&b, c->args, JT_COMPACT);
    t = format_keep(out, &b);
    buf_release(&b);
    return t;
}

static enum st calls(const struct chat_msg *m, struct segments *out,
                     struct err *e)
{
    add_markup(out, TEXT("<|tool_calls_section_begin|>"));
    for (size_t j = 0; j < m->n_calls; j++) {
        const struct chat_call *c = &m->calls[j];
        char where[80];

        if (!c->id.n) {
            snprintf(where, sizeof(where), "messages[%zu].tool_calls[%zu].id",
                     m->sent_i, j);
            return err_set(e, ST_INVALID, where,
                           "is missing: the chat format in use names a call "
                           "by its id");
        }
        add_markup(out, TEXT("<|tool_call_begin|>"));
        add_text(out, c->id);
        add_markup(out, TEXT("<|tool_call_argument_begin|>"));
        add_text(out, arguments(c, out));
        add_markup(out, TEXT("<|tool_call_end|>"));
    }
    add_markup(out, TEXT("<|tool_calls_section_end|>"));
    return ST_OK;
}

static enum st result(const struct format *f, const struct chat_msg *list,
                      size_t i, struct segments *out, struct err *e)
{
    const struct chatjson *c = f->data;
    const struct chat_msg *m = &list[i];
    struct text name = m->name.n ? m->name : m->tool;
    struct buf b;

    if (!m->call_id.n) {
        char where[64];

        snprintf(where, sizeof(where), "messages[%zu].tool_call_id",
                 m->sent_i);
        return err_set(e, ST_INVALID, where,
                       "is missing: the chat format in use tells results "
                       "apart by it");
    }
    buf_init(&b, BUF_ANSWER);
    buf_puts(&b, "## Return of ");
    buf_add(&b, m->call_id.s, m->call_id.n);
    buf_putc(&b, '\n');
    add_markup(out, TEXT("<|im_system|>"));
    add_text(out, name.n ? name : TEXT("tool"));
    add_markup(out, TEXT("<|im_middle|>"));
    add_text(out, format_keep(out, &b));
    buf_release(&b);
    chatjson_content(f, m, out);
    add_markup(out, c->turns[ROLE_SYSTEM].suffix);
    return ST_OK;
}

const struct tool_form tool_form_kimi = {
    .dialect = &dialect_kimi,
    .frame = frame,
    .hint = "<|im_middle|>",
    .system_suffix = true,
    .declare = declare,
    .calls = calls,
    .result = result,
};
