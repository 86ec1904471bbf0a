/* What a request offers: tools, and how they may be chosen. */
#include "api/body_int.h"

#include "base/utf8.h"
#include "chat/jsontext.h"
#include "gram/schema.h"

#define NAME_SHOWN 64 /* bytes of a name in a message */

/* --- schemas ------------------------------------------------------------- */

enum holds { HOLDS_NONE, HOLDS_SCHEMA, HOLDS_MAP };

/* Does this keyword hold a schema (or a list of them), or schemas by name? */
static enum holds holds_of(struct text key)
{
    static const char *const one[] = {
        "items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "if",
        "then", "else", "additionalProperties", "contains", "propertyNames",
    };
    static const char *const map[] = {
        "properties", "patternProperties", "$defs", "definitions",
        "dependentSchemas",
    };
    struct span k = {key.s, key.n};

    for (size_t i = 0; i < sizeof(one) / sizeof(one[0]); i++)
        if (span_is(k, one[i]))
            return HOLDS_SCHEMA;
    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
        if (span_is(k, map[i]))
            return HOLDS_MAP;
    return HOLDS_NONE;
}

/* Recursion ends with `left`: no deeper than the limit. */
static bool fits(const struct json *schema, int left)
{
    if (left < 0)
        return false;
    for (const struct json *m = schema->child; m; m = m->next) {
        enum holds holds = holds_of(m->key);

        if (holds == HOLDS_NONE)
            continue;
        if (holds == HOLDS_SCHEMA && m->type == JSON_OBJ) {
            if (!fits(m, left - 1))
                return false;
            continue;
        }
        for (const struct json *c = m->child; c; c = c->next)
            if (c->type == JSON_OBJ && !fits(c, left - 1))
                return false;
    }
    return true;
}

enum st body_schema_levels(struct body_parse *p, const struct json *schema,
                           const char *where)
{
    if (fits(schema, SCHEMA_NESTING_MAX))
        return ST_OK;
    return err_set(p->e, ST_INVALID, where,
                   "a schema may nest %d levels below its root",
                   SCHEMA_NESTING_MAX);
}

/* --- tools --------------------------------------------------------------- */

static enum st bad_tool(struct body_parse *p, const char *where, size_t i,
                        const char *field, const char *text)
{
    char full[128];

    snprintf(full, sizeof(full), "%s[%zu]%s", where, i, field);
    return err_set(p->e, ST_INVALID, full, "%s", text);
}

/* OpenAI's names are letters, digits, _ and -; clients also send dots and
 * colons, so only what could not be a name is refused. */
static const char *bad_name(const struct json *v)
{
    if (!v || v->type != JSON_STR || !v->str.n)
        return "must be a string, not empty";
    if (v->str.n > TOOL_NAME_MAX)
        return "is too long; at most 256 bytes are accepted";
    for (size_t i = 0; i < v->str.n; i++)
        if ((unsigned char)v->str.s[i] < 0x20 || v->str.s[i] == 0x7f)
            return "must not hold control characters";
    return NULL;
}

/* A function that asks for it: OpenAI's rules of structure. */
static enum st check_strict(struct body_parse *p, const struct chat_tool *t,
                            const char *where)
{
    const struct json *strict = body_get(t->function, "strict");
    size_t n = t->name.n < NAME_SHOWN ? t->name.n : NAME_SHOWN;
    char what[NAME_SHOWN + 16];
    enum st st;

    if (!strict || !strict->boolean || !t->params)
        return ST_OK;
    n = utf8_complete_len(t->name.s, n);
    snprintf(what, sizeof(what), "function '%.*s'", (int)n, t->name.s);
    st = schema_strict(t->params, what, p->e);
    if (st)
        snprintf(p->e->where, sizeof(p->e->where), "%s", where);
    return st;
}

static enum st take_tool(struct body_parse *p, const struct json *item,
                         const char *where, size_t i, struct chat_tool *out)
{
    const struct json *type = body_get(item, "type");
    const struct json *f = body_get(item, "function");
    const struct json *text = body_get(f, "description");
    const struct json *params = body_get(f, "parameters");
    const struct json *strict = body_get(f, "strict");
    const char *wrong;
    char full[128];
    enum st st;

    if (item->type != JSON_OBJ)
        return bad_tool(p, where, i, "", "must be an object");
    if (type && !json_is(type, "function"))
        return bad_tool(p, where, i, ".type", "must be function");
    if (!f || f->type != JSON_OBJ)
        return bad_tool(p, where, i, ".function",
                        "must be an object with a name");
    wrong = bad_name(body_get(f, "name"));
    if (wrong)
        return bad_tool(p, where, i, ".function.name", wrong);
    if (text && text->type != JSON_STR)
        return bad_tool(p, where, i, ".function.description",
                        "must be a string");
    if (params && params->type != JSON_OBJ)
        return bad_tool(p, where, i, ".function.parameters",
                        "must be an object, a JSON schema");
    if (strict && strict->type != JSON_BOOL)
        return bad_tool(p, where, i, ".function.strict",
                        "must be true or false");
    *out = (struct chat_tool){json_get(f, "name")->str, item, f, params};
    snprintf(full, sizeof(full), "%s[%zu].function.parameters", where, i);
    st = params ? body_schema_levels(p, params, full) : ST_OK;
    return st ? st : check_strict(p, out, full);
}

/* All tools of the request together, as compact JSON. */
static enum st check_size(struct body_parse *p, const struct json *list,
                          const char *where)
{
    struct buf b;
    enum st st = ST_OK;

    buf_init(&b, TOOL_BYTES_MAX + 1);
    jsontext(&b, list, JT_COMPACT);
    p->tool_bytes += b.n;
    if (b.failed || p->tool_bytes > TOOL_BYTES_MAX)
        st = err_set(p->e, ST_INVALID, where,
                     "more than %d KiB of tools; %d tools and %d KiB of "
                     "compact JSON are accepted in a request",
                     TOOL_BYTES_MAX / 1024, TOOLS_MAX, TOOL_BYTES_MAX / 1024);
    buf_release(&b);
    return st;
}

enum st body_tool_list(struct body_parse *p, const struct json *list,
                       const char *where)
{
    size_t first = p->n_tools, i = 0;
    enum st st;

    if (list->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, where, "must be a list, not %s",
                       json_type_name(list));
    if (list->n > TOOLS_MAX - p->n_tools)
        return err_set(p->e, ST_INVALID, where,
                       "more than %d tools in a request", TOOLS_MAX);
    if (!list->n)
        return ST_OK;
    if (!p->tools)
        p->tools = arena_array(p->a, TOOLS_MAX, sizeof(*p->tools));
    if (!p->tools)
        return body_full(p->e);
    for (const struct json *c = list->child; c; c = c->next, i++) {
        struct chat_tool *t = &p->tools[p->n_tools];

        st = take_tool(p, c, where, i, t);
        if (st)
            return st;
        for (size_t k = first; k < p->n_tools; k++)
            if (text_same(p->tools[k].name, t->name))
                return bad_tool(p, where, i, ".function.name",
                                "another tool has this name");
        p->n_tools++;
    }
    return check_size(p, list, where);
}

/* --- the choice ---------------------------------------------------------- */

static enum st bad_choice(struct body_parse *p, const char *text)
{
    return err_set(p->e, ST_INVALID, "tool_choice", "%s", text);
}

static enum st take_named(struct body_parse *p, const struct json *v)
{
    struct chat_req *r = &p->out->chat;
    const struct json *name = body_get(body_get(v, "function"), "name");

    if (!json_is(body_get(v, "type"), "function") || !name ||
        name->type != JSON_STR)
        return bad_choice(p, "accepted is {\"type\":\"function\","
                             "\"function\":{\"name\":...}}");
    r->tool_choice = TOOLS_NAMED;
    r->tool_named = name->str;
    for (size_t i = 0; i < p->n_tools; i++)
        if (text_same(p->tools[i].name, name->str))
            return ST_OK;
    return bad_choice(p, p->n_tools ? "names a function that is not in tools"
                                    : "is only allowed when tools are "
                                      "specified");
}

static enum st take_choice(struct body_parse *p, const struct json *v)
{
    struct chat_req *r = &p->out->chat;

    if (v->type == JSON_OBJ)
        return take_named(p, v);
    if (json_is(v, "auto"))
        return ST_OK;
    if (json_is(v, "none")) {
        r->tool_choice = TOOLS_NONE;
        return ST_OK;
    }
    if (!json_is(v, "required"))
        return bad_choice(p, "accepted is none, auto, required or "
                             "{\"type\":\"function\",\"function\":"
                             "{\"name\":...}}");
    if (!p->n_tools)
        return bad_choice(p, "is only allowed when tools are specified");
    r->tool_choice = TOOLS_REQUIRED;
    return ST_OK;
}

static bool all_strict(const struct body_parse *p)
{
    for (size_t i = 0; i < p->n_tools; i++) {
        const struct json *strict = body_get(p->tools[i].function, "strict");

        if (!strict || !strict->boolean)
            return false;
    }
    return p->n_tools > 0;
}

enum st body_tools(struct body_parse *p)
{
    const struct json *list = body_get(p->root, "tools");
    const struct json *choice = body_get(p->root, "tool_choice");
    const struct json *parallel = body_get(p->root, "parallel_tool_calls");
    struct chat_req *r = &p->out->chat;
    size_t late = p->n_tools; /* of system messages, read before */
    enum st st;

    r->tool_choice = TOOLS_AUTO;
    r->parallel_calls = !parallel || parallel->boolean;
    r->parallel_asked = parallel && parallel->boolean;
    if (list) {
        st = body_tool_list(p, list, "tools");
        if (st)
            return st;
        r->tools = list->n ? list : NULL;
        r->tool_list = list->n ? p->tools + late : NULL;
        r->n_tools = list->n;
    }
    st = choice ? take_choice(p, choice) : ST_OK;
    if (!st && r->tool_choice != TOOLS_NONE) {
        p->out->offered = p->tools;
        p->out->n_offered = p->n_tools;
        p->out->strict_calls = r->tool_choice == TOOLS_AUTO && all_strict(p);
    }
    return st;
}
