/* The shape that the answer must have; the table has checked the types. */
#include "api/body_int.h"

#include "api/compat.h"

enum st body_schema_form(struct body_parse *p, const struct json *schema,
                         const struct json *name, const struct json *strict,
                         const char *where)
{
    if (!schema)
        return err_set(p->e, ST_INVALID, where,
                       "must be an object, a JSON schema");
    p->out->chat.form = FORM_JSON_SCHEMA;
    p->out->chat.schema = schema;
    p->out->schema_name = name ? name->str : (struct text){"", 0};
    p->out->strict = strict && strict->boolean;
    return body_schema_levels(p, schema, where);
}

static enum st take_schema(struct body_parse *p)
{
    static const char where[] = "response_format.json_schema";
    static const char deep[] = "response_format.json_schema.schema";
    const struct json *schema = compat_get(p->root, deep);

    if (!compat_get(p->root, where))
        return err_set(p->e, ST_INVALID, where,
                       "must be an object with a schema");
    return body_schema_form(
        p, schema, compat_get(p->root, "response_format.json_schema.name"),
        compat_get(p->root, "response_format.json_schema.strict"), deep);
}

enum st body_format(struct body_parse *p)
{
    static const char where[] = "response_format.type";
    static const char *const text[] = {"text", NULL};
    static const char *const schema[] = {"json_schema", NULL};
    const struct json *type = compat_get(p->root, where);

    if (!body_get(p->root, "response_format"))
        return ST_OK;
    if (!type)
        return err_set(p->e, ST_INVALID, where, "is missing");
    if (compat_word(text, type))
        return ST_OK;
    if (compat_word(schema, type))
        return take_schema(p);
    p->out->chat.form = FORM_JSON_OBJECT;
    return ST_OK;
}

static const char choices[] = "structured_outputs.choice";

/* One more string of the list, unless it is there already. Nothing that is too
 * long is compared: *left counts the bytes that may come. */
static enum st add_choice(struct body_parse *p, const struct json *v, size_t i,
                          struct text *list, size_t *left)
{
    struct body *out = p->out;
    char where[48];

    snprintf(where, sizeof(where), "%s[%zu]", choices, i);
    if (v->type != JSON_STR || !v->str.n)
        return err_set(p->e, ST_INVALID, where, "must be a string, not empty");
    if (v->str.n > *left)
        return err_set(p->e, ST_INVALID, choices,
                       "more than %d KiB of strings",
                       CHOICE_BYTES_MAX / 1024);
    *left -= v->str.n;
    for (size_t k = 0; k < out->n_choice; k++)
        if (text_same(list[k], v->str))
            return ST_OK;
    list[out->n_choice++] = v->str;
    return ST_OK;
}

static enum st take_choice(struct body_parse *p, const struct json *v)
{
    struct text *list;
    size_t left = CHOICE_BYTES_MAX, i = 0;
    enum st st = ST_OK;

    if (v->type != JSON_ARR || !v->n)
        return err_set(p->e, ST_INVALID, choices,
                       "must be a list of strings, not empty");
    if (v->n > CHOICES_MAX)
        return err_set(p->e, ST_INVALID, choices,
                       "has %zu strings; at most %d are accepted", v->n,
                       CHOICES_MAX);
    list = arena_array(p->a, v->n, sizeof(*list));
    if (!list)
        return body_full(p->e);
    p->out->choice = list;
    for (const struct json *c = v->child; c && !st; c = c->next, i++)
        st = add_choice(p, c, i, list, &left);
    return st;
}

/* The one kind that is there; a json_object of false asks for nothing. */
static enum st find_kind(struct body_parse *p, const struct json **v)
{
    static const struct {
        const char *row;
        enum structured kind;
    } kinds[] = {
        {choices, STRUCTURED_CHOICE},
        {"structured_outputs.regex", STRUCTURED_REGEX},
        {"structured_outputs.json", STRUCTURED_JSON},
        {"structured_outputs.json_object", STRUCTURED_OBJECT},
    };
    size_t found = 0;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        const struct json *one = compat_get(p->root, kinds[i].row);

        if (!one || (one->type == JSON_BOOL && !one->boolean))
            continue;
        p->out->structured = kinds[i].kind;
        *v = one;
        found++;
    }
    return found == 1 ? ST_OK
                      : err_set(p->e, ST_INVALID, "structured_outputs",
                                "must hold exactly one of choice, regex, "
                                "json and json_object");
}

enum st body_structured(struct body_parse *p)
{
    const struct json *v = NULL;
    enum st st;

    if (!body_get(p->root, "structured_outputs"))
        return ST_OK;
    st = find_kind(p, &v);
    if (st)
        return st;
    if (p->out->chat.form != FORM_TEXT)
        return err_set(p->e, ST_INVALID, "structured_outputs",
                       "does not go with a response_format of JSON");
    if (p->out->chat.tool_choice >= TOOLS_REQUIRED)
        return err_set(p->e, ST_INVALID, "structured_outputs",
                       "does not go with a tool_choice that asks for calls");
    switch (p->out->structured) {
    case STRUCTURED_CHOICE:
        return take_choice(p, v);
    case STRUCTURED_REGEX:
        p->out->regex = v->str;
        break;
    case STRUCTURED_JSON:
        p->out->json = v;
        break;
    case STRUCTURED_OBJECT:
    case STRUCTURED_NONE:
        break;
    }
    return ST_OK;
}

bool body_wants_json(const struct body *b)
{
    return b->chat.form != FORM_TEXT || b->structured == STRUCTURED_JSON ||
           b->structured == STRUCTURED_OBJECT;
}
