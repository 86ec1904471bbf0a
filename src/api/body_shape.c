/* The shape that the answer must have. */
#include "api/body_int.h"

static enum st take_schema(struct body_parse *p, const struct json *format)
{
    static const char where[] = "response_format.json_schema";
    static const char deep[] = "response_format.json_schema.schema";
    const struct json *v = body_get(format, "json_schema");
    const struct json *schema = body_get(v, "schema");

    if (!v || v->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, where,
                       "must be an object with a schema");
    if (!schema || schema->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, deep,
                       "must be an object, a JSON schema");
    p->out->chat.form = FORM_JSON_SCHEMA;
    p->out->chat.schema = schema;
    return body_schema_levels(p, schema, deep);
}

static enum st take_response_format(struct body_parse *p, bool chat)
{
    const struct json *v = body_get(p->root, "response_format");
    const struct json *type;

    if (!v)
        return ST_OK;
    if (v->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, "response_format",
                       "must be an object, not %s", json_type_name(v));
    type = body_get(v, "type");
    if (json_is(type, "text"))
        return ST_OK;
    if (!chat)
        return err_set(p->e, ST_INVALID, "response_format.type",
                       "accepted is text");
    if (json_is(type, "json_schema"))
        return take_schema(p, v);
    if (!json_is(type, "json_object"))
        return err_set(p->e, ST_INVALID, "response_format.type",
                       "must be text, json_object or json_schema");
    p->out->chat.form = FORM_JSON_OBJECT;
    return ST_OK;
}

static enum st take_choice(struct body_parse *p, const struct json *list)
{
    const char *where = "structured_outputs.choice";

    if (list->type != JSON_ARR || !list->n)
        return err_set(p->e, ST_INVALID, where,
                       "must be a list of strings, not empty");
    if (list->n > 1)
        return err_set(p->e, ST_INVALID, where,
                       "accepted is one string; this version has no grammars");
    if (list->child->type != JSON_STR || !list->child->str.n)
        return err_set(p->e, ST_INVALID, "structured_outputs.choice[0]",
                       "must be a string, not empty");
    p->out->choice = &list->child->str;
    p->out->n_choice = 1;
    return ST_OK;
}

static enum st take_structured(struct body_parse *p)
{
    static const char *const later[][2] = {
        {"regex", "structured_outputs.regex"},
        {"json", "structured_outputs.json"},
    };
    const struct json *v = body_get(p->root, "structured_outputs");
    const struct json *choice;

    if (!v)
        return ST_OK;
    if (v->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, "structured_outputs",
                       "must be an object, not %s", json_type_name(v));
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
        if (body_get(v, later[i][0]))
            return err_set(p->e, ST_INVALID, later[i][1],
                           "this version has no grammars; accepted is a "
                           "choice of one string");
    choice = body_get(v, "choice");
    if (!choice)
        return err_set(p->e, ST_INVALID, "structured_outputs",
                       "must hold choice, a list of one string");
    return take_choice(p, choice);
}

enum st body_shape(struct body_parse *p, bool chat)
{
    enum st st = take_response_format(p, chat);

    return st ? st : take_structured(p);
}
