/* The body of POST /v1/messages: all but what its messages are. The table has
 * checked the types. */
#include "api/body_blocks.h"

#define TOKENS_TOP (1 << 24) /* job_new takes no more */

static enum st take_max_tokens(struct body_parse *p, bool answer)
{
    int64_t n = body_int(p, "max_tokens", 0);

    if (!n && answer)
        return err_set(p->e, ST_INVALID, "max_tokens",
                       "is missing; it must be an integer of at least 1");
    p->out->max_tokens = n > TOKENS_TOP ? TOKENS_TOP : (int32_t)n;
    return ST_OK;
}

/* Is it this word, in any case? */
static bool is(const struct json *v, const char *word)
{
    const char *const words[] = {word, NULL};

    return v && compat_word(words, v);
}

/* --- tools --------------------------------------------------------------- */

static enum st take_tool(struct body_parse *p, const struct json *item,
                         size_t i)
{
    static const struct function_list functions = {
        .where = "tools",
        .params = "input_schema",
        .strict = STRICT_ANY,
    };
    const struct json *type = body_get(item, "type");
    char where[40];

    snprintf(where, sizeof(where), "tools[%zu]", i);
    if (item->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, where, "must be an object");
    if (!type || json_is(type, "custom"))
        return body_function(p, item, i, &functions);
    snprintf(where, sizeof(where), "tools[%zu].type", i);
    if (type->type != JSON_STR)
        return err_set(p->e, ST_INVALID, where, "must be a string");
    body_skip(p, type->str);
    return ST_OK;
}

static enum st take_tools(struct body_parse *p)
{
    const struct json *list = body_get(p->root, "tools");
    enum st st = ST_OK;
    size_t i = 0;

    if (!list)
        return ST_OK;
    if (list->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, "tools", "must be a list, not %s",
                       json_type_name(list));
    for (const struct json *c = list->child; c && !st; c = c->next, i++)
        st = take_tool(p, c, i);
    return st ? st : body_functions_end(p);
}

static enum st take_choice(struct body_parse *p)
{
    static const struct {
        const char *word;
        enum tool_choice kind;
    } kinds[] = {
        {"auto", TOOLS_AUTO}, {"any", TOOLS_REQUIRED},
        {"tool", TOOLS_NAMED}, {"none", TOOLS_NONE},
    };
    const struct json *type = compat_get(p->root, "tool_choice.type");
    const struct json *name = compat_get(p->root, "tool_choice.name");
    const struct json *one =
        compat_get(p->root, "tool_choice.disable_parallel_tool_use");
    enum tool_choice kind = TOOLS_AUTO;

    p->out->chat.parallel_calls = !one || !one->boolean;
    p->out->chat.parallel_asked = one && !one->boolean;
    if (body_get(p->root, "tool_choice") && !type)
        return err_set(p->e, ST_INVALID, "tool_choice.type",
                       "is missing; accepted are auto, any, tool and none");
    for (size_t k = 0; type && k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if (is(type, kinds[k].word))
            kind = kinds[k].kind;
    if (kind == TOOLS_NAMED && (!name || !name->str.n))
        return err_set(p->e, ST_INVALID, "tool_choice.name",
                       "must be the name of a tool");
    return body_choice(p, kind, kind == TOOLS_NAMED ? name->str
                                                    : (struct text){"", 0});
}

/* --- reasoning and form --------------------------------------------------- */

/* Absent is off, where the model lets it be; adaptive is on, where it can. */
static enum st take_thinking(struct body_parse *p)
{
    static const char effort[] = "output_config.effort";
    const struct json *type = compat_get(p->root, "thinking.type");
    struct think_ask *t = &p->out->think;
    bool budget = is(type, "enabled");
    bool on = budget || is(type, "adaptive");

    if (body_get(p->root, "thinking") && !type)
        return err_set(p->e, ST_INVALID, "thinking.type",
                       "is missing; accepted are enabled, disabled and "
                       "adaptive");
    p->out->chat.think = on ? THINK_ON : THINK_OFF;
    t->soft = !type || (on && !budget);
    t->field = type ? "thinking.type" : NULL;
    if (!on)
        return ST_OK;
    t->hidden = is(compat_get(p->root, "thinking.display"), "omitted");
    if (budget)
        t->cap = body_int(p, "thinking.budget_tokens", -1);
    t->asked = t->cap >= 0 || compat_get(p->root, effort);
    if (!compat_get(p->root, effort))
        return ST_OK;
    body_effort(p, effort);
    t->field = effort;
    return ST_OK;
}

/* What asks for JSON; the old name of it counts where the new one is not. */
static enum st take_form(struct body_parse *p)
{
    static const struct {
        const char *field, *type, *schema;
    } forms[] = {
        {"output_config.format", "output_config.format.type",
         "output_config.format.schema"},
        {"output_format", "output_format.type", "output_format.schema"},
    };

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (!compat_get(p->root, forms[i].field))
            continue;
        if (!compat_get(p->root, forms[i].type))
            return err_set(p->e, ST_INVALID, forms[i].type,
                           "is missing; accepted is json_schema");
        p->out->form_field = forms[i].field;
        p->out->schema_field = forms[i].schema;
        return body_schema_form(p, compat_get(p->root, forms[i].schema), NULL,
                                NULL, forms[i].schema);
    }
    return ST_OK;
}

static enum st take_stops(struct body_parse *p)
{
    static const char field[] = "stop_sequences";
    const struct json *v = body_get(p->root, field);

    if (v && v->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, field,
                       "must be a list of strings, not %s",
                       json_type_name(v));
    return body_stops(p, field);
}

/* --- fields -------------------------------------------------------------- */

static enum st take_fields(struct body_parse *p, bool answer)
{
    const struct json *v = body_get(p->root, "stream");
    enum st st = compat_check(WIRE_MESSAGES, p->root, p->e);

    if (st)
        return st;
    body_model(p);
    p->out->stream = v && v->boolean;
    st = take_form(p);
    if (!st)
        st = take_tools(p);
    if (!st)
        st = take_choice(p);
    if (!st)
        st = take_thinking(p);
    if (!st)
        st = take_max_tokens(p, answer);
    if (!st)
        st = take_stops(p);
    if (!st)
        body_sampling(p);
    return st;
}

/* `answer`: it asks for one, and not only for a count. */
static enum st parse(struct body *out, struct arena *a, struct text json,
                     bool answer, struct err *e)
{
    struct body_parse p;
    enum st st = body_open(&p, out, a, WIRE_MESSAGES, json, e);

    if (!st)
        st = body_blocks_messages(&p);
    return st ? st : take_fields(&p, answer);
}

enum st body_parse_blocks(struct body *out, struct arena *a, struct text json,
                          struct err *e)
{
    return parse(out, a, json, true, e);
}

enum st body_parse_count(struct body *out, struct arena *a, struct text json,
                         struct err *e)
{
    return parse(out, a, json, false, e);
}
