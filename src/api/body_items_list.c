/*
 * Items into messages. What one answer is made of comes back as several items:
 * those of the assistant that stand next to each other (reasoning, text, calls)
 * are one message again, unless the caller wrote two texts side by side.
 */
#include "api/body_items.h"
#include "api/seal.h"

enum said { SAID_NOTHING, SAID_TEXT, SAID_OTHER };

struct items {
    struct body_parse *p;
    bool before;           /* the item is of previous_response_id */
    size_t i;              /* its index in `input` */
    struct chat_msg *list; /* [n] with room for all */
    size_t n;
    struct chat_call *calls; /* [n_calls] with room for all: those of one
                              * message follow each other */
    size_t n_calls;
    struct chat_msg *turn; /* the assistant's, still open; NULL: none */
    enum said said;        /* the last item of it */
};

static enum st bad(struct items *it, const char *field, const char *text)
{
    char where[128];

    if (it->before)
        return err_set(it->p->e, ST_INVALID, "previous_response_id",
                       "has an item whose member %s %s",
                       field[0] ? field + 1 : "type", text);
    snprintf(where, sizeof(where), "input[%zu]%s", it->i, field);
    return err_set(it->p->e, ST_INVALID, where, "%s", text);
}

static enum st bad_part(struct items *it, const char *list, size_t j,
                        const char *field, const char *text)
{
    char where[80];

    snprintf(where, sizeof(where), ".%s[%zu]%s", list, j, field);
    return bad(it, where, text);
}

static struct chat_msg *next(struct items *it, enum chat_role role)
{
    struct chat_msg *m = &it->list[it->n++];

    m->role = role;
    m->sent_i = it->before ? SENT_BEFORE : it->i;
    it->turn = NULL;
    return m;
}

static struct chat_msg *turn(struct items *it, enum said said)
{
    if (!it->turn || (said == SAID_TEXT && it->said == SAID_TEXT))
        it->turn = next(it, ROLE_ASSISTANT);
    it->said = said;
    return it->turn;
}

/* More text of one turn: an empty line stands between. */
static enum st append(struct items *it, struct text *to, struct text more)
{
    size_t bytes;
    char *s;

    if (!to->n || !more.n) {
        *to = to->n ? *to : more;
        return ST_OK;
    }
    if (!mem_add(&bytes, to->n, more.n) || !mem_add(&bytes, bytes, 2))
        return body_full(it->p->e);
    s = arena_alloc(it->p->a, bytes);
    if (!s)
        return body_full(it->p->e);
    memcpy(s, to->s, to->n);
    memcpy(s + to->n, "\n\n", 2);
    memcpy(s + to->n + 2, more.s, more.n);
    *to = (struct text){s, bytes};
    return ST_OK;
}

/* --- content ------------------------------------------------------------- */

static enum st take_image(struct items *it, const struct json *part,
                          const char *list, size_t j, struct chat_part *out)
{
    const struct json *url = body_get(part, "image_url");
    const struct json *id = body_get(part, "file_id");
    char where[80];

    out->type = PART_IMAGE;
    snprintf(where, sizeof(where), "input[%zu].%s[%zu].type", it->i, list, j);
    body_image(it->p, it->before ? "previous_response_id" : where);
    if ((url || !id) && (!url || url->type != JSON_STR))
        return bad_part(it, list, j, ".image_url", "must be a string");
    if (id && id->type != JSON_STR)
        return bad_part(it, list, j, ".file_id", "must be a string");
    return ST_OK;
}

static enum st take_text(struct items *it, const struct json *part,
                         const char *list, size_t j, const char *key,
                         struct chat_part *out)
{
    const struct json *text = body_get(part, key);
    char field[16];

    snprintf(field, sizeof(field), ".%s", key);
    if (!text || text->type != JSON_STR)
        return bad_part(it, list, j, field, "must be a string");
    out->type = PART_TEXT;
    out->text = text->str;
    return ST_OK;
}

static enum st take_part(struct items *it, const struct json *part,
                         const char *list, size_t j, enum chat_role role,
                         struct chat_part *out)
{
    const struct json *type = json_get(part, "type");
    bool images = role == ROLE_USER || role == ROLE_TOOL;

    if (part->type != JSON_OBJ)
        return bad_part(it, list, j, "", "must be an object with a type");
    if (json_is(type, "input_text") ||
        (role == ROLE_ASSISTANT && json_is(type, "output_text")))
        return take_text(it, part, list, j, "text", out);
    if (role == ROLE_ASSISTANT && json_is(type, "refusal"))
        return take_text(it, part, list, j, "refusal", out);
    if (images && json_is(type, "input_image"))
        return take_image(it, part, list, j, out);
    return bad_part(it, list, j, ".type",
                    images ? "accepted are input_text and input_image"
                    : role == ROLE_ASSISTANT
                        ? "accepted are output_text, input_text and refusal"
                        : "accepted is input_text");
}

/* A list of texts is no more than its text; beside images it stays a list. */
static enum st take_parts(struct items *it, const struct json *list,
                          const char *name, struct chat_msg *out)
{
    struct chat_part *parts = arena_array(it->p->a, list->n, sizeof(*parts));
    bool images = false;
    size_t j = 0;
    enum st st;

    if (!parts)
        return body_full(it->p->e);
    for (const struct json *c = list->child; c; c = c->next, j++) {
        st = take_part(it, c, name, j, out->role, &parts[j]);
        if (st)
            return st;
        images = images || parts[j].type == PART_IMAGE;
    }
    out->parts = parts;
    out->n_parts = list->n;
    st = body_join(it->p, out);
    if (!images) {
        out->parts = NULL;
        out->n_parts = 0;
    }
    return st;
}

/* The member `name` of an item: a string or a list of parts. */
static enum st take_content(struct items *it, const struct json *item,
                            const char *name, struct chat_msg *out)
{
    const struct json *v = body_get(item, name);
    bool asks = out->role == ROLE_USER || out->role == ROLE_SYSTEM;
    char field[16];

    snprintf(field, sizeof(field), ".%s", name);
    if (!v)
        return bad(it, field, "is missing");
    out->has_content = true;
    if (v->type == JSON_STR) {
        out->content = v->str;
        return ST_OK;
    }
    if (v->type != JSON_ARR)
        return bad(it, field, "must be a string or a list of parts");
    if (!v->n && asks)
        return bad(it, field, "must not be an empty list");
    return v->n ? take_parts(it, v, name, out) : ST_OK;
}

/* --- items --------------------------------------------------------------- */

static enum st take_message(struct items *it, const struct json *item)
{
    const struct json *role = json_get(item, "role");
    struct chat_msg m = {.role = ROLE_ASSISTANT};
    struct chat_msg *out;
    enum st st;

    if (json_is(role, "user"))
        m.role = ROLE_USER;
    else if (json_is(role, "system") || json_is(role, "developer"))
        m.role = ROLE_SYSTEM;
    else if (!json_is(role, "assistant"))
        return bad(it, ".role", "must be user, assistant, system or "
                                "developer");
    st = take_content(it, item, "content", &m);
    if (st)
        return st;
    if (m.role == ROLE_ASSISTANT) {
        out = turn(it, SAID_TEXT);
        out->has_content = true;
        return append(it, &out->content, m.content);
    }
    out = next(it, m.role);
    m.sent_i = out->sent_i;
    *out = m;
    return ST_OK;
}

/* The text of a reasoning item: its content, else what was sealed. */
static enum st reasoning_of(struct items *it, const struct json *item,
                            struct text *out)
{
    const struct json *list = body_get(item, "content");
    const struct json *seal = body_get(item, "encrypted_content");
    struct chat_msg m = {0};
    struct chat_part *parts;
    size_t j = 0;
    enum st st;

    if (list && list->type != JSON_ARR)
        return bad(it, ".content", "must be a list");
    if (seal && seal->type != JSON_STR)
        return bad(it, ".encrypted_content", "must be a string");
    if (!list || !list->n) {
        if (seal && seal_open(out, it->p->a, seal->str) == SEAL_FULL)
            return body_full(it->p->e);
        return ST_OK;
    }
    parts = arena_array(it->p->a, list->n, sizeof(*parts));
    if (!parts)
        return body_full(it->p->e);
    m.parts = parts;
    m.n_parts = list->n;
    for (const struct json *c = list->child; c; c = c->next, j++) {
        const struct json *type = json_get(c, "type");

        if (!json_is(type, "reasoning_text") && !json_is(type, "text"))
            return bad_part(it, "content", j, ".type",
                            "accepted is reasoning_text");
        st = take_text(it, c, "content", j, "text", &parts[j]);
        if (st)
            return st;
    }
    st = body_join(it->p, &m);
    *out = m.content;
    return st;
}

static enum st take_reasoning(struct items *it, const struct json *item)
{
    struct text text = {"", 0};
    enum st st = reasoning_of(it, item, &text);

    if (st || !text.n)
        return st;
    return append(it, &turn(it, SAID_OTHER)->reasoning, text);
}

static enum st take_id(struct items *it, const struct json *item,
                       struct text *out)
{
    const struct json *id = body_get(item, "call_id");

    if (!id || id->type != JSON_STR || !id->str.n)
        return bad(it, ".call_id", "must be a string, not empty");
    *out = id->str;
    return ST_OK;
}

/* The text that a custom tool got, as the arguments of a function. */
static enum st take_input(struct items *it, const struct json *item,
                          struct chat_call *out)
{
    const struct json *input = body_get(item, "input");
    struct body_tree args;

    if (!input || input->type != JSON_STR)
        return bad(it, ".input", "must be a string");
    body_tree(it->p, &args, JSON_OBJ);
    body_put(it->p, &args, "input", input);
    out->args = args.v;
    return args.failed ? body_full(it->p->e) : ST_OK;
}

static enum st take_arguments(struct items *it, const struct json *item,
                              struct chat_call *out)
{
    const struct json *args = body_get(item, "arguments");

    if (!args || (args->type != JSON_STR && args->type != JSON_OBJ))
        return bad(it, ".arguments", "must be a string");
    if (args->type == JSON_OBJ)
        out->args = args;
    else
        body_arguments(it->p, args->str, out);
    return ST_OK;
}

static enum st take_call(struct items *it, const struct json *item,
                         bool custom)
{
    struct chat_call *call = &it->calls[it->n_calls];
    const struct json *name = body_get(item, "name");
    struct chat_msg *m;
    enum st st = take_id(it, item, &call->id);

    if (st)
        return st;
    if (!name || name->type != JSON_STR || !name->str.n)
        return bad(it, ".name", "must be a string, not empty");
    call->name = name->str;
    st = custom ? take_input(it, item, call) : take_arguments(it, item, call);
    if (st)
        return st;
    m = turn(it, SAID_OTHER);
    if (!m->n_calls)
        m->calls = call;
    m->n_calls++;
    it->n_calls++;
    return ST_OK;
}

static enum st take_output(struct items *it, const struct json *item)
{
    struct chat_msg *m = next(it, ROLE_TOOL);
    enum st st = take_id(it, item, &m->call_id);

    return st ? st : take_content(it, item, "output", m);
}

/* What tools that run at a vendor's left behind: nothing can be said of it. */
static bool is_hosted(const struct json *type)
{
    static const char *const types[] = {
        "file_search_call", "computer_call", "computer_call_output",
        "web_search_call", "tool_search_call", "tool_search_output",
        "additional_tools", "compaction", "image_generation_call",
        "code_interpreter_call", "local_shell_call",
        "local_shell_call_output", "shell_call", "shell_call_output",
        "apply_patch_call", "apply_patch_call_output", "mcp_list_tools",
        "mcp_approval_request", "mcp_approval_response", "mcp_call",
        "program", "program_output",
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (json_is(type, types[i]))
            return true;
    return false;
}

static enum st take_item(struct items *it, const struct json *item)
{
    const struct json *type = body_get(item, "type");

    if (!type || json_is(type, "message"))
        return take_message(it, item);
    if (json_is(type, "reasoning"))
        return take_reasoning(it, item);
    if (json_is(type, "function_call"))
        return take_call(it, item, false);
    if (json_is(type, "custom_tool_call"))
        return take_call(it, item, true);
    if (json_is(type, "function_call_output") ||
        json_is(type, "custom_tool_call_output"))
        return take_output(it, item);
    if (is_hosted(type)) {
        body_skip(it->p, type->str);
        return ST_OK;
    }
    return bad(it, ".type", "is no type of an item that is known here");
}

/* --- what was sent, and what came before ---------------------------------- */

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

/* `input` as a list of items: out->input. */
static enum st read_input(struct body_parse *p, const struct body_past *past)
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

static enum st read_chain(struct body_parse *p, const struct body_past *past,
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

static enum st take_items(struct items *it, const struct json *list,
                          bool before)
{
    enum st st = ST_OK;

    it->before = before;
    it->i = 0;
    for (const struct json *c = list ? list->child : NULL; c && !st;
         c = c->next, it->i++)
        st = take_item(it, c);
    return st;
}

static void take_instructions(struct items *it)
{
    const struct json *v = body_get(it->p->root, "instructions");
    struct chat_msg *m;

    if (!v)
        return;
    it->before = true;
    m = next(it, ROLE_SYSTEM);
    m->has_content = true;
    m->content = v->str;
}

/* Every item that is a call; each is a message at most. */
static size_t calls_in(const struct json *list)
{
    size_t n = 0;

    for (const struct json *c = list ? list->child : NULL; c; c = c->next) {
        const struct json *type = body_get(c, "type");

        n += json_is(type, "function_call") ||
             json_is(type, "custom_tool_call");
    }
    return n;
}

enum st body_items_list(struct body_parse *p, const struct body_past *past)
{
    struct items it = {.p = p};
    const struct json *chain;
    size_t n, calls;
    enum st st = read_chain(p, past, &chain);

    if (!st)
        st = read_input(p, past);
    if (st)
        return st;
    n = (chain ? chain->n : 0) + p->out->input->n + 1;
    calls = calls_in(chain) + calls_in(p->out->input);
    it.list = arena_array(p->a, n, sizeof(*it.list));
    it.calls = arena_array(p->a, calls + 1, sizeof(*it.calls));
    if (!it.list || !it.calls)
        return body_full(p->e);
    p->out->list = "input";
    take_instructions(&it);
    st = take_items(&it, chain, true);
    it.turn = NULL;
    if (!st)
        st = take_items(&it, p->out->input, false);
    return st ? st : body_list(p, it.list, it.n, "input");
}
