/* Tools of a body of /v1/responses, and how they may be chosen. */
#include "api/body_items.h"

#define FUNCTION "{\"type\":\"function\",\"name\":...}"
#define CUSTOM "{\"type\":\"custom\",\"name\":...}"

static enum st bad_choice(struct body_parse *p, const char *text)
{
    return err_set(p->e, ST_INVALID, "tool_choice", "%s", text);
}

/* --- which tool is meant ------------------------------------------------- */

static bool is_text(const struct json *v, struct text t)
{
    return v && v->type == JSON_STR && text_same(v->str, t);
}

/* Does v, a function or a custom tool with its name, mean t? The name may be
 * the one that the model knows; with a namespace it is the tool's own. */
static bool means(const struct json *v, const struct chat_tool *t)
{
    const struct json *name = body_get(v, "name");
    const struct json *space = body_get(v, "namespace");

    if (!json_is(body_get(v, "type"), t->custom ? "custom" : "function"))
        return false;
    if (space)
        return is_text(space, t->space) && is_text(name, t->own);
    return is_text(name, t->name);
}

/* --- those that are allowed ---------------------------------------------- */

static bool is_allowed(const struct json *list, const struct chat_tool *t)
{
    for (const struct json *c = list->child; c; c = c->next)
        if (means(c, t) ||
            (t->space.n && json_is(body_get(c, "type"), "namespace") &&
             is_text(body_get(c, "name"), t->space)))
            return true;
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
        if (is_allowed(list, &p->tools[i]))
            p->tools[n++] = p->tools[i];
    p->n_tools = n;
    return n ? ST_OK
             : bad_choice(p, "allows no tool that is served of those in "
                             "tools");
}

/* --- the choice ---------------------------------------------------------- */

static enum st take_named(struct body_parse *p, const struct json *v)
{
    const struct json *name = body_get(v, "name");

    if (!name || name->type != JSON_STR)
        return bad_choice(p, "accepted is " FUNCTION " or " CUSTOM);
    for (size_t i = 0; i < p->n_tools; i++)
        if (means(v, &p->tools[i]))
            return body_choice(p, TOOLS_NAMED, p->tools[i].name);
    return bad_choice(p, "names a tool that is not in tools; one of a "
                         "namespace is named with it: NAMESPACE__NAME, or "
                         "with the member namespace");
}

static enum st take_object(struct body_parse *p, const struct json *v)
{
    const struct json *type = body_get(v, "type");
    const struct json *mode = body_get(v, "mode");
    const struct text none = {"", 0};

    if (json_is(type, "allowed_tools")) {
        if (json_is(mode, "auto"))
            return body_choice(p, TOOLS_AUTO, none);
        if (json_is(mode, "required"))
            return body_choice(p, TOOLS_REQUIRED, none);
        return bad_choice(p, "allowed_tools needs a mode, auto or required");
    }
    if (json_is(type, "function") || json_is(type, "custom"))
        return take_named(p, v);
    return bad_choice(p, "of the tools only functions and custom ones are "
                         "served: accepted is " FUNCTION ", " CUSTOM
                         " or an object of type allowed_tools");
}

static enum st take_choice(struct body_parse *p, const struct json *v)
{
    const struct text none = {"", 0};
    enum tool_choice word;

    if (body_choice_word(v, &word))
        return body_choice(p, word, none);
    if (v->type == JSON_OBJ)
        return take_object(p, v);
    return bad_choice(p, "accepted is none, auto, required, " FUNCTION
                         ", " CUSTOM " or an object of type allowed_tools");
}

/* --- the list ------------------------------------------------------------ */

static enum st bad_tool(struct body_parse *p, const struct function_list *l,
                        size_t i, const char *field, const char *text)
{
    char where[128];

    snprintf(where, sizeof(where), "%s[%zu]%s", l->where, i, field);
    return err_set(p->e, ST_INVALID, where, "%s", text);
}

/* Texts one behind the other, in the arena; its s is NULL when that is full. */
static struct text glue(struct body_parse *p, const struct text *list,
                        size_t n)
{
    struct text out = {"", 0};
    size_t bytes = 1, at = 0;
    char *s;

    for (size_t i = 0; i < n; i++)
        if (!mem_add(&bytes, bytes, list[i].n))
            return (struct text){NULL, 0};
    s = arena_alloc(p->a, bytes);
    for (size_t i = 0; s && i < n; i++) {
        memcpy(s + at, list[i].s, list[i].n);
        at += list[i].n;
    }
    if (s)
        s[at] = '\0';
    out.s = s;
    out.n = at;
    return out;
}

/* `item` as a function with this description and these parameters. */
static enum st rewrite(struct body_parse *p, const struct json **item,
                       struct text description, const struct json *params,
                       const struct json *strict)
{
    struct body_tree f;

    body_tree(p, &f, JSON_OBJ);
    body_put(p, &f, "name", body_get(*item, "name"));
    if (description.n)
        body_put_text(p, &f, "description", description);
    body_put(p, &f, "parameters", params);
    body_put(p, &f, "strict", strict);
    if (f.failed || !description.s)
        return body_full(p->e);
    *item = f.v;
    return ST_OK;
}

/* What a namespace says of itself is told once: by its first tool, before what
 * that says. */
static struct text with_about(struct body_parse *p, struct text space,
                              struct text about, struct text own)
{
    const struct text list[] = {space, {": ", 2}, about, {"\n\n", 2}, own};

    if (!about.n)
        return own;
    return glue(p, list, own.n ? 5 : 3);
}

static const struct text no_text = {"", 0};

static enum st take_function(struct body_parse *p, const struct json *item,
                             size_t i, const struct function_list *l,
                             struct text about)
{
    const struct json *own = body_get(item, "description");
    enum st st = ST_OK;

    if (about.n && (!own || own->type == JSON_STR))
        st = rewrite(p, &item,
                     with_about(p, l->space, about, own ? own->str : no_text),
                     body_get(item, "parameters"), body_get(item, "strict"));
    return st ? st : body_function(p, item, i, l);
}

/* What a custom tool takes. A grammar is told, and binds nobody. */
static enum st take_format(struct body_parse *p, const struct json *item,
                           size_t i, const struct function_list *l,
                           struct text *about)
{
    const struct json *format = body_get(item, "format");
    const struct json *syntax = body_get(format, "syntax");
    const struct json *rules = body_get(format, "definition");
    struct text list[] = {
        *about, {"\n\n", 2}, {"Its input follows this grammar (", 32},
        no_text, {"):\n", 3}, no_text,
    };
    size_t skip = about->n ? 0 : 2;

    if (!format || json_is(body_get(format, "type"), "text"))
        return ST_OK;
    if (!json_is(body_get(format, "type"), "grammar"))
        return bad_tool(p, l, i, ".format.type",
                        "accepted are text and grammar");
    if (!json_is(syntax, "lark") && !json_is(syntax, "regex"))
        return bad_tool(p, l, i, ".format.syntax",
                        "accepted are lark and regex");
    if (!rules || rules->type != JSON_STR)
        return bad_tool(p, l, i, ".format.definition", "must be a string");
    list[3] = syntax->str;
    list[5] = rules->str;
    *about = glue(p, list + skip, 6 - skip);
    return about->s ? ST_OK : body_full(p->e);
}

/* {"type":"custom"}: a function with one string. */
static enum st take_custom(struct body_parse *p, const struct json *item,
                           size_t i, const struct function_list *l,
                           struct text about)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},"
        "\"required\":[\"input\"],\"additionalProperties\":false}";
    const struct json *own = body_get(item, "description"), *params;
    struct function_list custom = *l;
    struct text text;
    enum st st;

    if (own && own->type != JSON_STR)
        return bad_tool(p, l, i, ".description", "must be a string");
    text = with_about(p, l->space, about, own ? own->str : no_text);
    if (!text.s)
        return body_full(p->e);
    st = take_format(p, item, i, l, &text);
    if (!st)
        st = json_parse(&params, p->a, schema, sizeof(schema) - 1, p->e);
    if (!st)
        st = rewrite(p, &item, text, params, NULL);
    custom.custom = true;
    return st ? st : body_function(p, item, i, &custom);
}

static enum st take_tool(struct body_parse *p, const struct json *item,
                         size_t i, const struct function_list *l,
                         struct text about);

/* {"type":"namespace"}: its tools are known by both names. */
static enum st take_space(struct body_parse *p, const struct json *item,
                          size_t i, const struct function_list *l)
{
    const struct json *name = body_get(item, "name");
    const struct json *about = body_get(item, "description");
    const struct json *list = body_get(item, "tools");
    const char *wrong = body_bad_name(name);
    struct function_list own = *l;
    char where[64];
    enum st st = ST_OK;
    size_t j = 0;

    if (wrong)
        return bad_tool(p, l, i, ".name", wrong);
    if (about && about->type != JSON_STR)
        return bad_tool(p, l, i, ".description", "must be a string");
    if (!list || list->type != JSON_ARR)
        return bad_tool(p, l, i, ".tools", "must be a list of tools");
    snprintf(where, sizeof(where), "%s[%zu].tools", l->where, i);
    own.where = arena_dup(p->a, where, strlen(where));
    own.space = name->str;
    if (!own.where)
        return body_full(p->e);
    for (const struct json *c = list->child; c && !st; c = c->next, j++) {
        size_t n = p->n_tools;

        st = take_tool(p, c, j, &own, about ? about->str : no_text);
        if (p->n_tools > n)
            about = NULL;
    }
    return st;
}

static enum st take_tool(struct body_parse *p, const struct json *item,
                         size_t i, const struct function_list *l,
                         struct text about)
{
    const struct json *type = body_get(item, "type");

    if (item->type != JSON_OBJ)
        return bad_tool(p, l, i, "", "must be an object");
    if (json_is(type, "function"))
        return take_function(p, item, i, l, about);
    if (json_is(type, "custom"))
        return take_custom(p, item, i, l, about);
    if (json_is(type, "namespace") && !l->space.n)
        return take_space(p, item, i, l);
    if (!type || type->type != JSON_STR)
        return bad_tool(p, l, i, ".type", "must be a string");
    body_skip(p, type->str);
    return ST_OK;
}

enum st body_items_offer(struct body_parse *p, const struct json *list,
                         const char *where)
{
    const struct function_list l = {
        .where = where,
        .params = "parameters",
        .strict = STRICT_OPENAI,
        .first = p->n_tools,
    };
    enum st st = ST_OK;
    size_t i = 0;

    if (list->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, where, "must be a list, not %s",
                       json_type_name(list));
    for (const struct json *c = list->child; c && !st; c = c->next, i++)
        st = take_tool(p, c, i, &l, no_text);
    return st;
}

enum st body_items_tools(struct body_parse *p)
{
    const struct json *list = body_get(p->root, "tools");
    const struct json *choice = body_get(p->root, "tool_choice");
    enum st st = list ? body_items_offer(p, list, "tools") : ST_OK;

    if (!st)
        st = keep_allowed(p, choice);
    if (!st)
        st = body_functions_end(p);
    return st ? st : take_choice(p, choice);
}
