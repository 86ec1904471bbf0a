#include "api/body_int.h"

enum st body_bad_msg(struct body_parse *p, size_t i, const char *field,
                     const char *text)
{
    char where[128];

    snprintf(where, sizeof(where), "messages[%zu]%s", i, field);
    return err_set(p->e, ST_INVALID, where, "%s", text);
}

static enum st bad_part(struct body_parse *p, size_t i, size_t j,
                        const char *field, const char *text)
{
    char where[64];

    snprintf(where, sizeof(where), ".content[%zu]%s", j, field);
    return body_bad_msg(p, i, where, text);
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
    else if (json_is(v, "tool"))
        *role = ROLE_TOOL;
    else if (json_is(v, "function"))
        return body_bad_msg(p, i, ".role",
                            "function messages are out of date; use tool");
    else
        return body_bad_msg(p, i, ".role",
                            "must be system, developer, user, assistant or "
                            "tool");
    return ST_OK;
}

/* --- content ------------------------------------------------------------- */

void body_image(struct body_parse *p, const char *where)
{
    if (!p->out->image[0])
        snprintf(p->out->image, sizeof(p->out->image), "%s", where);
}

static enum st take_image(struct body_parse *p, const struct json *part,
                          size_t i, size_t j)
{
    const struct json *image = json_get(part, "image_url");
    const struct json *url = json_get(image, "url");
    char where[64];

    snprintf(where, sizeof(where), "messages[%zu].content[%zu].type", i, j);
    body_image(p, where);
    if (image && image->type == JSON_STR)
        return ST_OK; /* the url itself: some clients send that */
    if (!image || image->type != JSON_OBJ)
        return bad_part(p, i, j, ".image_url", "must be an object with a url");
    if (!url || url->type != JSON_STR)
        return bad_part(p, i, j, ".image_url.url", "must be a string");
    return ST_OK;
}

static enum st take_text(struct body_parse *p, const struct json *text,
                         size_t i, size_t j, const char *field,
                         struct chat_part *out)
{
    if (!text || text->type != JSON_STR)
        return bad_part(p, i, j, field, "must be a string");
    out->type = PART_TEXT;
    out->text = text->str;
    return ST_OK;
}

/* A refusal is what the assistant said, too. */
static enum st take_part(struct body_parse *p, const struct json *part,
                         size_t i, size_t j, enum chat_role role,
                         struct chat_part *out)
{
    const struct json *type = json_get(part, "type");
    bool images = role == ROLE_USER || role == ROLE_TOOL;

    if (part->type != JSON_OBJ)
        return bad_part(p, i, j, "", "must be an object with a type");
    if (!type || type->type != JSON_STR)
        return bad_part(p, i, j, ".type", "must be a string: text");
    if (images && json_is(type, "image_url")) {
        out->type = PART_IMAGE;
        return take_image(p, part, i, j);
    }
    if (role == ROLE_ASSISTANT && json_is(type, "refusal"))
        return take_text(p, json_get(part, "refusal"), i, j, ".refusal", out);
    if (json_is(type, "text"))
        return take_text(p, json_get(part, "text"), i, j, ".text", out);
    return bad_part(p, i, j, ".type",
                    images                   ? "accepted are text and image_url"
                    : role == ROLE_ASSISTANT ? "accepted are text and refusal"
                                             : "accepted is text");
}

/* The texts follow each other directly: nothing is put between them. */
static enum st join_parts(struct body_parse *p, struct chat_msg *out)
{
    size_t bytes = 0;
    char *s;

    for (size_t j = 0; j < out->n_parts; j++)
        if (!mem_add(&bytes, bytes, out->parts[j].text.n))
            return body_full(p->e);
    s = arena_alloc(p->a, bytes + 1);
    if (!s)
        return body_full(p->e);
    out->content = (struct text){s, bytes};
    for (size_t j = 0; j < out->n_parts; j++) {
        struct text t = out->parts[j].text;

        if (t.n)
            memcpy(s, t.s, t.n);
        s += t.n;
    }
    return ST_OK;
}

static enum st take_parts(struct body_parse *p, const struct json *list,
                          size_t i, struct chat_msg *out)
{
    struct chat_part *parts = arena_array(p->a, list->n, sizeof(*parts));
    size_t j = 0;

    if (!parts)
        return body_full(p->e);
    for (const struct json *c = list->child; c; c = c->next, j++) {
        enum st st = take_part(p, c, i, j, out->role, &parts[j]);

        if (st)
            return st;
    }
    out->parts = parts;
    out->n_parts = list->n;
    return join_parts(p, out);
}

/* May this message be without content? A call needs none, and some clients
 * send none for a tool that said nothing. */
static bool may_be_empty(const struct chat_msg *m)
{
    return m->role == ROLE_ASSISTANT || m->role == ROLE_TOOL || m->tools;
}

static enum st take_content(struct body_parse *p, const struct json *m,
                            size_t i, struct chat_msg *out)
{
    const struct json *v = body_get(m, "content");

    if (!v) {
        if (may_be_empty(out))
            return ST_OK;
        return body_bad_msg(p, i, ".content", "is missing");
    }
    out->has_content = true;
    if (v->type == JSON_STR) {
        out->content = v->str;
        return ST_OK;
    }
    if (v->type != JSON_ARR)
        return body_bad_msg(p, i, ".content",
                            "must be a string or a list of parts");
    if (!v->n && !may_be_empty(out))
        return body_bad_msg(p, i, ".content", "must not be an empty list");
    return v->n ? take_parts(p, v, i, out) : ST_OK;
}

/* --- messages ------------------------------------------------------------ */

/* Tools that a system message adds to the conversation. */
static enum st take_late_tools(struct body_parse *p, const struct json *m,
                               size_t i, struct chat_msg *out)
{
    const struct json *v = body_get(m, "tools");
    char where[48];

    if (!v || out->role != ROLE_SYSTEM)
        return ST_OK;
    snprintf(where, sizeof(where), "messages[%zu].tools", i);
    if (v->type == JSON_ARR && v->n)
        out->tools = v;
    return body_tool_list(p, v, where);
}

static enum st take_msg(struct body_parse *p, const struct json *m, size_t i,
                        struct chat_msg *out)
{
    const struct json *name;
    enum st st;

    out->sent_i = i;
    if (m->type != JSON_OBJ)
        return body_bad_msg(p, i, "", "must be an object");
    st = take_role(p, m, i, &out->role);
    if (!st)
        st = take_late_tools(p, m, i, out);
    if (!st)
        st = take_content(p, m, i, out);
    if (!st)
        st = body_assistant(p, m, i, out);
    if (!st)
        st = body_tool_result(p, m, i, out);
    if (st)
        return st;
    name = body_get(m, "name");
    if (name && name->type != JSON_STR)
        return body_bad_msg(p, i, ".name", "must be a string");
    if (name)
        out->name = name->str;
    return ST_OK;
}

/*
 * The system messages list[0..n) become one in list[n - 1], joined by an
 * empty line; empty ones add nothing.
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
    list[n - 1].parts = NULL;
    list[n - 1].n_parts = 0;
    return ST_OK;
}

/* How many of the messages at the top can become one: a system message that
 * brings tools stands for itself. */
static size_t leading(const struct chat_msg *list, size_t n)
{
    size_t lead = 0;

    while (lead < n && list[lead].role == ROLE_SYSTEM && !list[lead].tools)
        lead++;
    return lead;
}

enum st body_list(struct body_parse *p, struct chat_msg *list, size_t n,
                  const char *field)
{
    size_t lead = leading(list, n);
    bool user = false;
    enum st st = ST_OK;

    for (size_t i = 0; i < n; i++)
        user = user || list[i].role == ROLE_USER;
    if (!user)
        return err_set(p->e, ST_INVALID, field, "must hold a user message");
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

        if (st)
            return st;
    }
    return body_list(p, list, v->n, "messages");
}
