#include "api/body_int.h"

/* An error at messages[i]<field>, where field is "" or begins with a dot. */
static enum st bad_msg(struct body_parse *p, size_t i, const char *field,
                       const char *text)
{
    char where[96];

    snprintf(where, sizeof(where), "messages[%zu]%s", i, field);
    return err_set(p->e, ST_INVALID, where, "%s", text);
}

static enum st bad_part(struct body_parse *p, size_t i, size_t j,
                        const char *field, const char *text)
{
    char where[64];

    snprintf(where, sizeof(where), ".content[%zu]%s", j, field);
    return bad_msg(p, i, where, text);
}

static enum st take_role(struct body_parse *p, const struct json *m, size_t i,
                         enum chat_role *role)
{
    const struct json *v = json_get(m, "role");

    if (json_is(v, "system") || json_is(v, "developer"))
        *role = ROLE_SYSTEM;
    else if (json_is(v, "user"))
        *role = ROLE_USER;
    else if (json_is(v, "assistant"))
        *role = ROLE_ASSISTANT;
    else if (json_is(v, "tool") || json_is(v, "function"))
        return bad_msg(p, i, ".role", "tools are not in this version");
    else
        return bad_msg(p, i, ".role",
                       "must be system, developer, user or assistant");
    return ST_OK;
}

/* The text of one part. */
static enum st part_text(struct body_parse *p, const struct json *part,
                         size_t i, size_t j, struct text *out)
{
    const struct json *type = json_get(part, "type");
    const struct json *text = json_get(part, "text");

    *out = (struct text){NULL, 0};
    if (part->type != JSON_OBJ)
        return bad_part(p, i, j, "", "must be an object with a type");
    if (!type || type->type != JSON_STR)
        return bad_part(p, i, j, ".type", "must be a string: text");
    if (!json_is(type, "text"))
        return bad_part(p, i, j, ".type",
                        "accepted is text; this version reads no images, "
                        "sounds or files");
    if (!text || text->type != JSON_STR)
        return bad_part(p, i, j, ".text", "must be a string");
    *out = text->str;
    return ST_OK;
}

/* Parts follow each other directly: nothing is put between them. */
static enum st join_parts(struct body_parse *p, const struct json *list,
                          size_t i, struct text *out)
{
    struct text t;
    size_t bytes = 0, j = 0;
    char *s;
    enum st st;

    for (const struct json *c = list->child; c; c = c->next, j++) {
        st = part_text(p, c, i, j, &t);
        if (st)
            return st;
        if (!mem_add(&bytes, bytes, t.n))
            return body_full(p->e);
    }
    s = arena_alloc(p->a, bytes + 1);
    if (!s)
        return body_full(p->e);
    *out = (struct text){s, bytes};
    for (const struct json *c = list->child; c; c = c->next) {
        t = json_get(c, "text")->str;
        if (t.n)
            memcpy(s, t.s, t.n);
        s += t.n;
    }
    return ST_OK;
}

static enum st take_content(struct body_parse *p, const struct json *m,
                            size_t i, struct chat_msg *out)
{
    const struct json *v = body_get(m, "content");

    if (!v) {
        if (out->role == ROLE_ASSISTANT)
            return ST_OK;
        return bad_msg(p, i, ".content", "is missing");
    }
    if (v->type == JSON_STR) {
        out->content = v->str;
        return ST_OK;
    }
    if (v->type != JSON_ARR)
        return bad_msg(p, i, ".content",
                       "must be a string or a list of text parts");
    if (!v->n)
        return bad_msg(p, i, ".content", "must not be an empty list");
    return join_parts(p, v, i, &out->content);
}

/* What only an assistant's message may carry. */
static enum st take_assistant(struct body_parse *p, const struct json *m,
                              size_t i, struct chat_msg *out)
{
    const struct json *calls = body_get(m, "tool_calls");
    const struct json *think = body_get(m, "reasoning_content");

    if (calls && !(calls->type == JSON_ARR && !calls->n))
        return bad_msg(p, i, ".tool_calls", "tools are not in this version");
    if (body_get(m, "function_call"))
        return bad_msg(p, i, ".function_call",
                       "tools are not in this version");
    if (!think)
        return ST_OK;
    if (think->type != JSON_STR)
        return bad_msg(p, i, ".reasoning_content", "must be a string");
    if (out->role == ROLE_ASSISTANT)
        out->reasoning = think->str;
    return ST_OK;
}

static enum st take_msg(struct body_parse *p, const struct json *m, size_t i,
                        struct chat_msg *out)
{
    const struct json *name;
    enum st st;

    if (m->type != JSON_OBJ)
        return bad_msg(p, i, "", "must be an object");
    st = take_role(p, m, i, &out->role);
    if (!st)
        st = take_content(p, m, i, out);
    if (!st)
        st = take_assistant(p, m, i, out);
    name = body_get(m, "name");
    if (!st && name && name->type != JSON_STR)
        st = bad_msg(p, i, ".name", "must be a string");
    return st;
}

/*
 * The leading system messages list[0..n) become one in list[n - 1], joined
 * by an empty line; empty ones add nothing.
 */
static enum st merge_system(struct body_parse *p, struct chat_msg *list,
                            size_t n)
{
    size_t bytes = 0, used = 0;
    char *s;

    for (size_t i = 0; i < n; i++)
        if (!mem_add(&bytes, bytes, list[i].content.n) ||
            !mem_add(&bytes, bytes, 2))
            return body_full(p->e);
    s = arena_alloc(p->a, bytes + 1);
    if (!s)
        return body_full(p->e);
    for (size_t i = 0; i < n; i++) {
        struct text t = list[i].content;

        if (!t.n)
            continue;
        if (used) {
            memcpy(s + used, "\n\n", 2);
            used += 2;
        }
        memcpy(s + used, t.s, t.n);
        used += t.n;
    }
    list[n - 1].content = (struct text){s, used};
    return ST_OK;
}

/* The order of the roles, once every message is read. */
static enum st check_order(struct body_parse *p, struct chat_msg *list,
                           size_t n)
{
    size_t lead = 0;
    bool user = false;
    enum st st = ST_OK;

    while (lead < n && list[lead].role == ROLE_SYSTEM)
        lead++;
    for (size_t i = lead; i < n; i++) {
        if (list[i].role == ROLE_SYSTEM)
            return bad_msg(p, i, ".role",
                           "a system message must come before the "
                           "conversation begins");
        user = user || list[i].role == ROLE_USER;
    }
    if (!user)
        return err_set(p->e, ST_INVALID, "messages",
                       "must hold a user message");
    if (lead > 1) {
        st = merge_system(p, list, lead);
        list += lead - 1;
        n -= lead - 1;
    }
    p->out->chat.messages = list;
    p->out->chat.n_messages = n;
    return st;
}

enum st body_messages(struct body_parse *p)
{
    const struct json *v = body_get(p->root, "messages");
    struct chat_msg *list;
    size_t i = 0;

    if (!v)
        return err_set(p->e, ST_INVALID, "messages", "is missing");
    if (v->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, "messages",
                       "must be a list, not %s", json_type_name(v));
    if (!v->n)
        return err_set(p->e, ST_INVALID, "messages", "must not be empty");
    list = arena_array(p->a, v->n, sizeof(*list));
    if (!list)
        return body_full(p->e);
    for (const struct json *c = v->child; c; c = c->next, i++) {
        enum st st = take_msg(p, c, i, &list[i]);

        list[i].sent_i = i;

        if (st)
            return st;
    }
    return check_order(p, list, v->n);
}
