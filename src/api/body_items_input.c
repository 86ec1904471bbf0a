/* Which items a request is about: those that it holds, and those that it only
 * names. */
#include "api/body_items.h"

/* A message that holds a string, as one that holds its text. */
static enum st put_message(struct body_parse *p, struct body_tree *list,
                           const struct json *item)
{
    const struct json *v = body_get(item, "content");
    bool said = json_is(json_get(item, "role"), "assistant");
    struct body_tree m, content, part;

    body_tree(p, &m, JSON_OBJ);
    body_put_word(p, &m, "type", "message");
    body_put(p, &m, "role", json_get(item, "role"));
    body_put(p, &m, "id", body_get(item, "id"));
    body_put(p, &m, "phase", body_get(item, "phase"));
    body_tree(p, &content, JSON_ARR);
    body_tree(p, &part, JSON_OBJ);
    body_put_word(p, &part, "type", said ? "output_text" : "input_text");
    body_put(p, &part, "text", v);
    body_put(p, &content, NULL, part.v);
    body_put(p, &m, "content", content.v);
    body_put(p, list, NULL, m.v);
    return m.failed || content.failed || part.failed ? body_full(p->e) : ST_OK;
}

static bool is_reference(const struct json *item)
{
    const struct json *type = body_get(item, "type");

    return type ? json_is(type, "item_reference")
                : body_get(item, "id") && !body_get(item, "role");
}

static enum st put_reference(struct body_parse *p, struct body_tree *list,
                             const struct body_past *past,
                             const struct json *item, size_t i)
{
    const struct json *id = body_get(item, "id");
    const struct json *found = NULL;
    char where[48];
    enum st st;

    snprintf(where, sizeof(where), "input[%zu].id", i);
    if (!id || id->type != JSON_STR || !id->str.n)
        return err_set(p->e, ST_INVALID, where, "must be a string, not empty");
    if (!past)
        return err_set(p->e, ST_INVALID, where,
                       "no items are kept here (responses-keep); send the "
                       "item itself");
    st = past->item(past->arg, p->a, id->str, &found, p->e);
    if (st == ST_NOT_FOUND)
        return err_set(p->e, ST_INVALID, where,
                       "no such item is kept here; send the item itself");
    if (!st)
        body_put(p, list, NULL, found);
    return st;
}

static enum st put_item(struct body_parse *p, struct body_tree *list,
                        const struct body_past *past, const struct json *item,
                        size_t i)
{
    const struct json *type = body_get(item, "type");
    const struct json *content = body_get(item, "content");
    char where[48];

    snprintf(where, sizeof(where), "input[%zu]", i);
    if (item->type != JSON_OBJ)
        return err_set(p->e, ST_INVALID, where, "must be an object");
    if (is_reference(item))
        return put_reference(p, list, past, item, i);
    if ((!type || json_is(type, "message")) && content &&
        content->type == JSON_STR)
        return put_message(p, list, item);
    body_put(p, list, NULL, item);
    return ST_OK;
}

enum st body_items_input(struct body_parse *p, const struct body_past *past)
{
    const struct json *v = body_get(p->root, "input");
    struct body_tree list, m;
    enum st st = ST_OK;
    size_t i = 0;

    body_tree(p, &list, JSON_ARR);
    if (v && v->type == JSON_STR) {
        body_tree(p, &m, JSON_OBJ);
        body_put_word(p, &m, "role", "user");
        body_put(p, &m, "content", v);
        st = m.failed ? body_full(p->e) : put_message(p, &list, m.v);
    } else if (v && v->type == JSON_ARR) {
        for (const struct json *c = v->child; c && !st; c = c->next, i++)
            st = put_item(p, &list, past, c, i);
    } else if (v) {
        return err_set(p->e, ST_INVALID, "input",
                       "must be a string or a list of items, not %s",
                       json_type_name(v));
    }
    if (!st && list.failed)
        st = body_full(p->e);
    if (!st && !list.v->n && !p->out->previous.n)
        st = err_set(p->e, ST_INVALID, "input",
                     v ? "must not be empty" : "is missing");
    p->out->input = list.v;
    return st;
}

enum st body_items_chain(struct body_parse *p, const struct body_past *past,
                         const struct json **chain)
{
    static const char where[] = "previous_response_id";
    const struct json *id = body_get(p->root, where);
    enum st st;

    *chain = NULL;
    if (!id)
        return ST_OK;
    if (!id->str.n)
        return err_set(p->e, ST_INVALID, where, "must not be empty");
    if (!past)
        return err_set(p->e, ST_INVALID, where,
                       "no responses are kept here (responses-keep); send "
                       "the conversation in input");
    p->out->previous = id->str;
    st = past->chain(past->arg, p->a, id->str, chain, p->e);
    if (st && !p->e->where[0])
        snprintf(p->e->where, sizeof(p->e->where), "%s", where);
    return st;
}
