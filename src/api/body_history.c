/* Calls and results that a conversation brings back. /v1 takes what clients
 * send: ids may be missing or unmatched, results in any order (the strict
 * rules are chat/history.h). */
#include "api/body_int.h"

#include "base/ascii.h"

static enum st bad_call(struct body_parse *p, size_t i, size_t j,
                        const char *field, const char *text)
{
    char where[80];

    snprintf(where, sizeof(where), ".tool_calls[%zu]%s", j, field);
    return body_bad_msg(p, i, where, text);
}

void body_arguments(struct body_parse *p, struct text s,
                    struct chat_call *out)
{
    const struct json *v;

    if (ascii_blank(s.s, s.n))
        return;
    out->sent = s;
    if (!json_parse(&v, p->a, s.s, s.n, NULL) && v->type == JSON_OBJ)
        out->args = v;
    else
        out->raw = s;
}

static enum st take_function(struct body_parse *p, const struct json *f,
                             size_t i, size_t j, struct chat_call *out)
{
    const struct json *name = body_get(f, "name");
    const struct json *args = body_get(f, "arguments");

    if (!name || name->type != JSON_STR || !name->str.n)
        return bad_call(p, i, j, ".function.name",
                        "must be a string, not empty");
    out->name = name->str;
    if (!args)
        return ST_OK;
    if (args->type == JSON_OBJ)
        out->args = args;
    else if (args->type == JSON_STR)
        body_arguments(p, args->str, out);
    else
        return bad_call(p, i, j, ".function.arguments",
                        "must be a string or an object");
    return ST_OK;
}

static enum st take_call(struct body_parse *p, const struct json *c, size_t i,
                         size_t j, struct chat_call *out)
{
    const struct json *id = body_get(c, "id");
    const struct json *type = body_get(c, "type");
    const struct json *f = body_get(c, "function");

    if (c->type != JSON_OBJ)
        return bad_call(p, i, j, "", "must be an object");
    if (id && id->type != JSON_STR)
        return bad_call(p, i, j, ".id", "must be a string");
    if (id)
        out->id = id->str;
    if (type && !json_is(type, "function"))
        return bad_call(p, i, j, ".type", "must be function");
    if (!f || f->type != JSON_OBJ)
        return bad_call(p, i, j, ".function", "must be an object with a name");
    return take_function(p, f, i, j, out);
}

static enum st take_calls(struct body_parse *p, const struct json *list,
                          size_t i, struct chat_msg *out)
{
    struct chat_call *calls;
    size_t j = 0;

    if (list->type != JSON_ARR)
        return body_bad_msg(p, i, ".tool_calls", "must be a list");
    if (!list->n)
        return ST_OK;
    if (out->role != ROLE_ASSISTANT)
        return body_bad_msg(p, i, ".tool_calls",
                            "only an assistant's message has calls");
    calls = arena_array(p->a, list->n, sizeof(*calls));
    if (!calls)
        return body_full(p->e);
    for (const struct json *c = list->child; c; c = c->next, j++) {
        enum st st = take_call(p, c, i, j, &calls[j]);

        if (st)
            return st;
    }
    out->calls = calls;
    out->n_calls = list->n;
    return ST_OK;
}

/* `reasoning_content` is looked at first; `reasoning` is another word. */
static enum st take_reasoning(struct body_parse *p, const struct json *m,
                              size_t i, struct chat_msg *out)
{
    static const char *const keys[][2] = {
        {"reasoning", ".reasoning"},
        {"reasoning_content", ".reasoning_content"},
    };

    for (size_t k = 0; k < 2; k++) {
        const struct json *v = body_get(m, keys[k][0]);

        if (!v)
            continue;
        if (v->type != JSON_STR)
            return body_bad_msg(p, i, keys[k][1], "must be a string");
        if (out->role == ROLE_ASSISTANT)
            out->reasoning = v->str;
    }
    return ST_OK;
}

enum st body_assistant(struct body_parse *p, const struct json *m, size_t i,
                       struct chat_msg *out)
{
    const struct json *calls = body_get(m, "tool_calls");
    enum st st;

    if (body_get(m, "function_call"))
        return body_bad_msg(p, i, ".function_call",
                            "is out of date; use tool_calls");
    st = calls ? take_calls(p, calls, i, out) : ST_OK;
    return st ? st : take_reasoning(p, m, i, out);
}

enum st body_tool_result(struct body_parse *p, const struct json *m, size_t i,
                         struct chat_msg *out)
{
    const struct json *id = body_get(m, "tool_call_id");
    const struct json *tool = body_get(m, "tool");

    if (out->role != ROLE_TOOL)
        return ST_OK;
    if (id && id->type != JSON_STR)
        return body_bad_msg(p, i, ".tool_call_id", "must be a string");
    if (tool && tool->type != JSON_STR)
        return body_bad_msg(p, i, ".tool", "must be a string");
    if (id)
        out->call_id = id->str;
    if (tool)
        out->tool = tool->str;
    return ST_OK;
}
