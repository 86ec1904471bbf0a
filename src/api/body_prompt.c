#include "api/body_int.h"

#include "api/compat.h"

/* a list of numbers: the ids of one prompt. `where` names the list. */
static enum st take_ids(struct body_parse *p, struct prompt *out,
                        const struct json *list, const char *where)
{
    int32_t *ids = arena_array(p->a, list->n, sizeof(*ids));
    size_t i = 0;

    if (!ids)
        return body_full(p->e);
    for (const struct json *c = list->child; c; c = c->next, i++) {
        int64_t id = -1;

        if (!compat_whole(c, &id) || id < 0 || id > INT32_MAX) {
            char at[64];

            snprintf(at, sizeof(at), "%s[%zu]", where, i);
            return err_set(p->e, ST_INVALID, at,
                           "must be a token id (0 to %d), like the first "
                           "of its list", INT32_MAX);
        }
        ids[i] = (int32_t)id;
    }
    out->ids = ids;
    out->n_ids = list->n;
    return ST_OK;
}

/* One prompt: a string, or (inside a list) a list of ids. */
static enum st take_one(struct body_parse *p, struct prompt *out,
                        const struct json *v, const char *where)
{
    if (v->type == JSON_STR) {
        if (!v->str.n)
            return err_set(p->e, ST_INVALID, where, "must not be empty");
        out->text = v->str;
        return ST_OK;
    }
    if (v->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, where,
                       "must be a string or a list of token ids, not %s",
                       json_type_name(v));
    if (!v->n)
        return err_set(p->e, ST_INVALID, where, "must not be empty");
    return take_ids(p, out, v, where);
}

enum st body_prompts(struct body_parse *p)
{
    const struct json *v = body_get(p->root, "prompt");
    bool many;
    struct prompt *list;
    enum st st = ST_OK;
    size_t i = 0;

    if (!v)
        return err_set(p->e, ST_INVALID, "prompt", "is missing");
    many = v->type == JSON_ARR && v->n && v->child->type != JSON_NUM;
    if (many && v->n > PROMPTS_MAX)
        return err_set(p->e, ST_INVALID, "prompt",
                       "has %zu prompts; at most %d are accepted", v->n,
                       PROMPTS_MAX);
    list = arena_array(p->a, many ? v->n : 1, sizeof(*list));
    if (!list)
        return body_full(p->e);
    p->out->prompts = list;
    p->out->n_prompts = many ? v->n : 1;
    p->out->prompt_list = many;
    if (!many)
        return take_one(p, list, v, "prompt");
    for (const struct json *c = v->child; c && !st; c = c->next, i++) {
        char where[32];

        snprintf(where, sizeof(where), "prompt[%zu]", i);
        if (c->type != v->child->type)
            st = err_set(p->e, ST_INVALID, where,
                         "must be %s, like the first of its list",
                         json_type_name(v->child));
        else
            st = take_one(p, &list[i], c, where);
    }
    return st;
}
