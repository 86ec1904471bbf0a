/*
 * Nine tokens (spec waste.md 4.2): functions listed in a system turn, a call
 * as its name and key and value pairs, results behind one observation token
 * per run. No ids.
 */
#include "chat/chatjson.h"

#include "chat/jsontext.h"

static const char *const frame[] = {"<|system|>", NULL};

#define HEADER                                                                \
    "\n# Tools\n\nYou may call one or more functions to assist with the user " \
    "query.\n\nYou are provided with function signatures within "             \
    "<tools></tools> XML tags:\n<tools>\n"

/* Ours, and an example of structure: markup as a whole. */
#define FOOTER                                                                \
    "\n</tools>\n\nFor each function call, output the function name and "     \
    "arguments within the following XML format:\n"                            \
    "<tool_call>{function-name}"                                              \
    "<arg_key>{arg-key-1}</arg_key><arg_value>{arg-value-1}</arg_value>"      \
    "<arg_key>{arg-key-2}</arg_key><arg_value>{arg-value-2}</arg_value>"      \
    "...</tool_call>"

static bool truthy(const struct json *v)
{
    return v && v->type != JSON_NULL &&
           (v->type != JSON_BOOL || v->boolean) &&
           (v->type != JSON_NUM || v->d != 0) &&
           (v->type != JSON_STR || v->str.n) &&
           ((v->type != JSON_ARR && v->type != JSON_OBJ) || v->n);
}

/* A function object, without what is said to servers only. */
static void function(struct buf *b, const struct json *o)
{
    bool first = true;

    buf_puts(b, "\n{");
    for (const struct json *c = o->child; c; c = c->next) {
        if (text_is(c->key, "defer_loading") || text_is(c->key, "strict"))
            continue;
        buf_puts(b, first ? "" : ", ");
        first = false;
        jsontext_string(b, c->key.s, c->key.n, JT_SPACED);
        buf_puts(b, ": ");
        jsontext(b, c, JT_SPACED);
    }
    buf_puts(b, "}\n\n");
}

static enum st declare(const struct chat_req *r, struct segments *out,
                       struct err *e)
{
    add_markup(out, TEXT("<|system|>"));
    add_text(out, TEXT(HEADER));
    for (size_t i = 0; i < r->n_tools; i++) {
        const struct chat_tool *t = &r->tool_list[i];
        bool deferred = truthy(json_get(t->function, "defer_loading"));
        struct buf b;

        if (deferred || truthy(json_get(t->item, "defer_loading"))) {
            char where[64];

            snprintf(where, sizeof(where), "tools[%zu]%s.defer_loading", i,
                     deferred ? ".function" : "");
            return err_set(e, ST_INVALID, where,
                           "the chat format in use declares every tool at "
                           "the start; accepted is false");
        }
        buf_init(&b, BUF_ANSWER);
        function(&b, t->function);
        add_text(out, format_keep(out, &b));
        buf_release(&b);
    }
    add_markup(out, TEXT(FOOTER));
    return ST_OK;
}

/* One argument: strings as they are, other values as JSON. */
static void argument(const struct json *v, struct segments *out)
{
    struct buf b;

    add_markup(out, TEXT("<arg_key>"));
    add_text(out, v->key);
    add_markup(out, TEXT("</arg_key>"));
    add_markup(out, TEXT("<arg_value>"));
    if (v->type == JSON_STR) {
        add_text(out, v->str);
    } else {
        buf_init(&b, BUF_ANSWER);
        jsontext(&b, v, JT_SPACED);
        add_text(out, format_keep(out, &b));
        buf_release(&b);
    }
    add_markup(out, TEXT("</arg_value>"));
}

static enum st calls(const struct chat_msg *m, struct segments *out,
                     struct err *e)
{
    for (size_t j = 0; j < m->n_calls; j++) {
        const struct chat_call *c = &m->calls[j];

        if (c->raw.n) {
            char where[96];

            snprintf(where, sizeof(where),
                     "messages[%zu].tool_calls[%zu].function.arguments",
                     m->sent_i, j);
            return err_set(e, ST_INVALID, where,
                           "must be a JSON object: the chat format in use "
                           "writes arguments one by one");
        }
        add_markup(out, TEXT("<tool_call>"));
        add_text(out, c->name);
        for (const struct json *v = c->args ? c->args->child : NULL; v;
             v = v->next)
            argument(v, out);
        add_markup(out, TEXT("</tool_call>"));
    }
    return ST_OK;
}

static enum st result(const struct format *f, const struct chat_msg *list,
                      size_t i, struct segments *out, struct err *e)
{
    (void)e;
    if (!i || list[i - 1].role != ROLE_TOOL)
        add_markup(out, TEXT("<|observation|>"));
    add_markup(out, TEXT("<tool_response>"));
    chatjson_content(f, &list[i], out);
    add_markup(out, TEXT("</tool_response>"));
    return ST_OK;
}

const struct tool_form tool_form_glm = {
    .dialect = &dialect_glm,
    .frame = frame,
    .hint = "[gMASK]",
    .declare = declare,
    .calls = calls,
    .result = result,
};
