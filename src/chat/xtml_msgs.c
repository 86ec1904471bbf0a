/* XTML: the conversation (spec waste.md 1.4, 1.5, 1.7, 1.9). */
#include "chat/xtml_int.h"

#include "base/ascii.h"
#include "chat/jsontext.h"

static enum st bad(struct xtml *x, const struct chat_msg *m, const char *field,
                   const char *text)
{
    char where[128];

    snprintf(where, sizeof(where), "messages[%zu]%s", m->sent_i, field);
    return err_set(x->e, ST_INVALID, where, "%s", text);
}

/* --- content ------------------------------------------------------------- */

/* One image: its block when the size is known, else the needle that stands
 * for it. A needle that a caller wrote is text like all the rest: images
 * have their place by their part alone, so nothing can shift them. */
static enum st add_image(struct xtml *x, const struct chat_msg *m, size_t j)
{
    const struct chat_part *part = &m->parts[j];
    struct buf b;
    char field[48];

    if (!x->sized) {
        add_markup(x->out, TEXT("<|kimi_image_placeholder|>"));
        return ST_OK;
    }
    if (part->width <= 0 || part->height <= 0) {
        snprintf(field, sizeof(field), ".content[%zu]", j);
        return bad(x, m, field, "is an image that was not read, beside "
                                "images that were");
    }
    buf_init(&b, BUF_MESSAGE);
    buf_printf(&b,
               "<|media_begin|>image %dx%d<|media_content|><|media_pad|>"
               "<|media_end|>",
               part->width, part->height);
    add_markup(x->out, format_keep(x->out, &b));
    buf_release(&b);
    return ST_OK;
}

static enum st add_content(struct xtml *x, const struct chat_msg *m)
{
    enum st st = ST_OK;

    if (!m->parts)
        xtml_text(x, m->content);
    for (size_t j = 0; !st && m->parts && j < m->n_parts; j++) {
        if (m->parts[j].type == PART_IMAGE)
            st = add_image(x, m, j);
        else
            xtml_text(x, m->parts[j].text);
    }
    return st;
}

/* --- tool calls ---------------------------------------------------------- */

static void add_number_attr(struct xtml *x, struct text key, size_t n)
{
    struct buf b;

    buf_init(&b, BUF_MESSAGE);
    buf_printf(&b, "%zu", n);
    xtml_attr(x, key, format_keep(x->out, &b));
    buf_release(&b);
}

static struct text type_word(const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return TEXT("null");
    case JSON_BOOL:
        return TEXT("boolean");
    case JSON_NUM:
        return TEXT("number");
    case JSON_STR:
        return TEXT("string");
    case JSON_ARR:
        return TEXT("array");
    case JSON_OBJ:
        break;
    }
    return TEXT("object");
}

static void add_argument(struct xtml *x, const struct json *v)
{
    struct buf b;

    xtml_open(x, TEXT("argument"));
    xtml_attr(x, TEXT(" key"), v->key);
    xtml_attr(x, TEXT(" type"), type_word(v));
    xtml_sep(x);
    if (v->type == JSON_STR) {
        xtml_text(x, v->str);
    } else {
        buf_init(&b, BUF_ANSWER);
        jsontext(&b, v, JT_SPACED);
        xtml_buf(x, &b);
    }
    xtml_close(x, TEXT("argument"));
}

/* Is it JSON of another type than an object? Then the caller meant
 * something that the format has no words for; broken JSON it has. */
static bool is_other_json(struct text t)
{
    const struct json *v;
    struct arena a;
    size_t max, i = 0;
    enum st st;

    while (json_space(t.s[i])) /* there is something else */
        i++;
    if (t.s[i] == '{')
        return false;
    if (!mem_mul(&max, t.n, 128) || !mem_add(&max, max, 4096))
        return true;
    arena_init(&a, max);
    st = json_parse(&v, &a, t.s, t.n, NULL);
    arena_release(&a);
    return st != ST_INVALID;
}

static enum st add_raw(struct xtml *x, const struct chat_msg *m, size_t j,
                       struct text raw)
{
    char field[64];

    if (ascii_blank(raw.s, raw.n))
        return ST_OK;
    if (is_other_json(raw)) {
        snprintf(field, sizeof(field), ".tool_calls[%zu].function.arguments",
                 j);
        return bad(x, m, field, "must be a JSON object");
    }
    xtml_open(x, TEXT("json"));
    xtml_attr(x, TEXT(" type"), TEXT("object"));
    xtml_sep(x);
    xtml_text(x, raw);
    xtml_close(x, TEXT("json"));
    return ST_OK;
}

static enum st add_call(struct xtml *x, const struct chat_msg *m, size_t j)
{
    const struct chat_call *c = &m->calls[j];
    enum st st = ST_OK;
    char field[64];

    if (!c->name.n) {
        snprintf(field, sizeof(field), ".tool_calls[%zu].function.name", j);
        return bad(x, m, field, "is missing");
    }
    xtml_open(x, TEXT("call"));
    xtml_attr(x, TEXT(" tool"), c->name);
    add_number_attr(x, TEXT(" index"), j + 1);
    xtml_sep(x);
    if (c->args)
        for (const struct json *v = c->args->child; v; v = v->next)
            add_argument(x, v);
    else
        st = add_raw(x, m, j, c->raw);
    xtml_close(x, TEXT("call"));
    return st;
}

/* --- messages ------------------------------------------------------------ */

static void open_message(struct xtml *x, const struct chat_msg *m,
                         struct text role)
{
    xtml_open(x, TEXT("message"));
    xtml_attr(x, TEXT(" role"), role);
    if (m->name.n)
        xtml_attr(x, TEXT(" name"), m->name);
    xtml_sep(x);
}

static enum st add_assistant(struct xtml *x, const struct chat_msg *m)
{
    enum st st;

    open_message(x, m, TEXT("assistant"));
    if (x->think) { /* on every turn, reasoning or not */
        xtml_open(x, TEXT("think"));
        xtml_sep(x);
        if (!ascii_blank(m->reasoning.s, m->reasoning.n))
            xtml_text(x, m->reasoning);
        xtml_close(x, TEXT("think"));
    }
    xtml_open(x, TEXT("response"));
    xtml_sep(x);
    st = add_content(x, m);
    xtml_close(x, TEXT("response"));
    if (!st && m->n_calls) {
        xtml_open(x, TEXT("tools"));
        xtml_sep(x);
        for (size_t j = 0; !st && j < m->n_calls; j++)
            st = add_call(x, m, j);
        xtml_close(x, TEXT("tools"));
    }
    xtml_close_message(x);
    return st;
}

/*
 * index counts the results since the assistant's message, as the model
 * maker's encoder does, and not the calls they answer: when only the second
 * call is answered, its result has index 1.
 */
static enum st add_result(struct xtml *x, const struct chat_msg *m,
                          const struct chat_msg *caller, size_t index)
{
    struct text tool = m->tool.n ? m->tool : m->name;
    enum st st;

    if (!tool.n && caller && index <= caller->n_calls)
        tool = caller->calls[index - 1].name;
    if (!tool.n)
        return bad(x, m, ".name", "is missing: the result answers no known "
                                  "call, so it must name its tool");
    xtml_open(x, TEXT("message"));
    xtml_attr(x, TEXT(" role"), TEXT("tool"));
    xtml_attr(x, TEXT(" tool"), tool);
    add_number_attr(x, TEXT(" index"), index);
    xtml_sep(x);
    st = add_content(x, m);
    xtml_close_message(x);
    return st;
}

static enum st add_plain(struct xtml *x, const struct chat_msg *m,
                         struct text role)
{
    enum st st;

    open_message(x, m, role);
    st = add_content(x, m);
    xtml_close_message(x);
    return st;
}

static bool any_size(const struct xtml *x)
{
    for (size_t i = 0; i < x->r->n_messages; i++)
        for (size_t j = 0; j < x->msgs[i].n_parts; j++)
            if (x->msgs[i].parts[j].width > 0)
                return true;
    return false;
}

enum st xtml_messages(struct xtml *x)
{
    const struct chat_msg *caller = NULL;
    size_t results = 0;
    enum st st = ST_OK;

    x->sized = any_size(x);
    for (size_t i = 0; !st && i < x->r->n_messages; i++) {
        const struct chat_msg *m = &x->msgs[i];

        switch (m->role) {
        case ROLE_SYSTEM:
            if (m->tools)
                xtml_tools(x, m->tools, true);
            else
                st = add_plain(x, m, TEXT("system"));
            break;
        case ROLE_USER:
            st = add_plain(x, m, TEXT("user"));
            break;
        case ROLE_ASSISTANT:
            caller = m;
            results = 0;
            st = add_assistant(x, m);
            break;
        case ROLE_TOOL:
            st = add_result(x, m, caller, ++results);
            break;
        }
    }
    return st;
}
