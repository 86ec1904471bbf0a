/* Tools of a body of /v1/responses, and how they may be chosen. */
#include "api/body_items.h"

#define FUNCTION "{\"type\":\"function\",\"name\":...}"

static enum st bad_choice(struct body_parse *p, const char *text)
{
    return err_set(p->e, ST_INVALID, "tool_choice", "%s", text);
}

/* --- those that are allowed ---------------------------------------------- */

static bool is_allowed(const struct json *list, struct text name)
{
    for (const struct json *c = list->child; c; c = c->next) {
        const struct json *v = body_get(c, "name");

        if (json_is(body_get(c, "type"), "function") && v &&
            v->type == JSON_STR && text_same(v->str, name))
            return true;
    }
    return false;
}

/* {"type":"allowed_tools"}: the others are not told of. */
static enum st keep_allowed(struct body_parse *p, const struct json *choice)
{
    const struct json *list = body_get(choice, "tools");
    size_t n = 0;

    if (!json_is(body_get(choice, "type"), "allowed_tools"))
        return ST_OK;
    if (!list || list->type != JSON_ARR || list->n > TOOLS_MAX)
        return bad_choice(p, "allowed_tools needs tools, a list of "
                             "at most 128");
    for (size_t i = 0; i < p->n_tools; i++)
        if (is_allowed(list, p->tools[i].name))
            p->tools[n++] = p->tools[i];
    p->n_tools = n;
    return n ? ST_OK
             : bad_choice(p, "allows no function that is in tools");
}

/* --- the choice ---------------------------------------------------------- */

static enum st take_object(struct body_parse *p, const struct json *v)
{
    const struct json *type = body_get(v, "type");
    const struct json *name = body_get(v, "name");
    const struct json *mode = body_get(v, "mode");
    const struct text none = {"", 0};

    if (json_is(type, "allowed_tools")) {
        if (json_is(mode, "auto"))
            return body_choice(p, TOOLS_AUTO, none);
        if (json_is(mode, "required"))
            return body_choice(p, TOOLS_REQUIRED, none);
        return bad_choice(p, "allowed_tools needs a mode, auto or required");
    }
    if (!json_is(type, "function"))
        return bad_choice(p, "of the tools only functions are served: "
                             "accepted is " FUNCTION " or an object of type "
                             "allowed_tools");
    if (!name || name->type != JSON_STR)
        return bad_choice(p, "accepted is " FUNCTION);
    return body_choice(p, TOOLS_NAMED, name->str);
}

static enum st take_choice(struct body_parse *p, const struct json *v)
{
    const struct text none = {"", 0};

    if (!v || json_is(v, "auto"))
        return body_choice(p, TOOLS_AUTO, none);
    if (json_is(v, "none"))
        return body_choice(p, TOOLS_NONE, none);
    if (json_is(v, "required"))
        return body_choice(p, TOOLS_REQUIRED, none);
    if (v->type == JSON_OBJ)
        return take_object(p, v);
    return bad_choice(p, "accepted is none, auto, required, " FUNCTION
                         " or an object of type allowed_tools");
}

/* --- the list ------------------------------------------------------------ */

static enum st take_tool(struct body_parse *p, const struct json *item,
                         size_t i)
{
    const struct json *type = body_get(item, "type");
    char where[48];

    snprintf(where, sizeof(where), "tools[%zu]", i);
    if (item->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, where, "must be an object");
    if (json_is(type, "function"))
        return body_function(p, item, i, "parameters", STRICT_OPENAI);
    snprintf(where, sizeof(where), "tools[%zu].type", i);
    if (!type || type->type != JSON_STR)
        return err_set(p->e, ST_INVALID, where, "must be a string");
    body_skip(p, type->str);
    return ST_OK;
}

enum st body_items_tools(struct body_parse *p)
{
    const struct json *list = body_get(p->root, "tools");
    const struct json *choice = body_get(p->root, "tool_choice");
    enum st st = ST_OK;
    size_t i = 0;

    if (list && list->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, "tools", "must be a list, not %s",
                       json_type_name(list));
    for (const struct json *c = list ? list->child : NULL; c && !st;
         c = c->next, i++)
        st = take_tool(p, c, i);
    if (!st)
        st = keep_allowed(p, choice);
    if (!st)
        st = body_functions_end(p);
    return st ? st : take_choice(p, choice);
}
