/*
 * Items into messages. What one answer is made of comes back as several items:
 * those of the assistant that stand next to each other (reasoning, text, calls)
 * are one message again, unless the caller wrote two texts side by side.
 */
#include "api/body_draft.h"
#include "api/body_items.h"
#include "api/seal.h"

struct items {
    struct body_parse *p;
    struct draft draft;
    bool before; /* the item is of previous_response_id */
    size_t i;    /* its index in `input` */
    bool text;   /* the last item of the draft was a text */
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

/* A message of its own. */
static void begin(struct items *it, enum chat_role role)
{
    draft_end(&it->draft);
    draft_begin(&it->draft, role, it->before ? SENT_BEFORE : it->i);
    it->text = false;
}

/* The assistant goes on, or begins. */
static void go_on(struct items *it)
{
    if (it->draft.open && it->draft.m.role == ROLE_ASSISTANT)
        it->text = false;
    else
        begin(it, ROLE_ASSISTANT);
}

/* --- content ------------------------------------------------------------- */

static enum st take_image(struct items *it, const struct json *part,
                          const char *list, size_t j)
{
    const struct json *url = body_get(part, "image_url");
    const struct json *id = body_get(part, "file_id");
    char where[80];

    snprintf(where, sizeof(where), "input[%zu].%s[%zu].type", it->i, list, j);
    body_image(it->p, it->before ? "previous_response_id" : where);
    draft_image(&it->draft);
    if ((url || !id) && (!url || url->type != JSON_STR))
        return bad_part(it, list, j, ".image_url", "must be a string");
    if (id && id->type != JSON_STR)
        return bad_part(it, list, j, ".file_id", "must be a string");
    return ST_OK;
}

static enum st text_of(struct items *it, const struct json *part,
                       const char *list, size_t j, const char *key,
                       struct text *out)
{
    const struct json *text = body_get(part, key);
    char field[16];

    snprintf(field, sizeof(field), ".%s", key);
    if (!text || text->type != JSON_STR)
        return bad_part(it, list, j, field, "must be a string");
    *out = text->str;
    return ST_OK;
}

static enum st take_part(struct items *it, const struct json *part,
                         const char *list, size_t j)
{
    const struct json *type = json_get(part, "type");
    enum chat_role role = it->draft.m.role;
    bool images = role == ROLE_USER || role == ROLE_TOOL;
    bool refusal = role == ROLE_ASSISTANT && json_is(type, "refusal");
    struct text text = {"", 0};
    enum st st;

    if (part->type != JSON_OBJ)
        return bad_part(it, list, j, "", "must be an object with a type");
    if (images && json_is(type, "input_image"))
        return take_image(it, part, list, j);
    if (!refusal && !json_is(type, "input_text") &&
        !(role == ROLE_ASSISTANT && json_is(type, "output_text")))
        return bad_part(it, list, j, ".type",
                        images ? "accepted are input_text and input_image"
                        : role == ROLE_ASSISTANT
                            ? "accepted are output_text, input_text and "
                              "refusal"
                            : "accepted is input_text");
    st = text_of(it, part, list, j, refusal ? "refusal" : "text", &text);
    if (!st)
        draft_text(&it->draft, text);
    return st;
}

/* The member `name` of an item: a string or a list of parts, which follow each
 * other directly. */
static enum st take_content(struct items *it, const struct json *item,
                            const char *name)
{
    const struct json *v = body_get(item, name);
    enum chat_role role = it->draft.m.role;
    enum st st = ST_OK;
    char field[16];
    size_t j = 0;

    snprintf(field, sizeof(field), ".%s", name);
    if (!v)
        return bad(it, field, "is missing");
    if (v->type == JSON_STR) {
        draft_text(&it->draft, v->str);
        return ST_OK;
    }
    if (v->type != JSON_ARR)
        return bad(it, field, "must be a string or a list of parts");
    if (!v->n && (role == ROLE_USER || role == ROLE_SYSTEM))
        return bad(it, field, "must not be an empty list");
    for (const struct json *c = v->child; c && !st; c = c->next, j++)
        st = take_part(it, c, name, j);
    return st;
}

/* --- items --------------------------------------------------------------- */

static enum st take_message(struct items *it, const struct json *item)
{
    const struct json *role = json_get(item, "role");
    bool side_by_side = it->text;
    enum st st;

    if (json_is(role, "user")) {
        begin(it, ROLE_USER);
    } else if (json_is(role, "system") || json_is(role, "developer")) {
        begin(it, ROLE_SYSTEM);
    } else if (!json_is(role, "assistant")) {
        return bad(it, ".role", "must be user, assistant, system or "
                                "developer");
    } else {
        if (side_by_side)
            begin(it, ROLE_ASSISTANT);
        go_on(it);
        draft_gap(&it->draft);
    }
    st = take_content(it, item, "content");
    it->text = it->draft.m.role == ROLE_ASSISTANT;
    return st;
}

static void add_thought(struct items *it, struct text text)
{
    if (!text.n)
        return;
    go_on(it);
    draft_thought(&it->draft, text);
}

static enum st take_sealed(struct items *it, const struct json *seal)
{
    struct text text;

    switch (seal_open(&text, it->p->a, seal->str)) {
    case SEAL_FULL:
        return body_full(it->p->e);
    case SEAL_FOREIGN:
        return ST_OK;
    case SEAL_OURS:
        break;
    }
    add_thought(it, text);
    return ST_OK;
}

/* Its content, else what was sealed; one that has neither is as if it were not
 * there. */
static enum st take_reasoning(struct items *it, const struct json *item)
{
    const struct json *list = body_get(item, "content");
    const struct json *seal = body_get(item, "encrypted_content");
    size_t j = 0;

    if (list && list->type != JSON_ARR)
        return bad(it, ".content", "must be a list");
    if (seal && seal->type != JSON_STR)
        return bad(it, ".encrypted_content", "must be a string");
    if (!list || !list->n)
        return seal ? take_sealed(it, seal) : ST_OK;
    for (const struct json *c = list->child; c; c = c->next, j++) {
        const struct json *type = json_get(c, "type");
        struct text text = {"", 0};
        enum st st;

        if (!json_is(type, "reasoning_text") && !json_is(type, "text"))
            return bad_part(it, "content", j, ".type",
                            "accepted is reasoning_text");
        st = text_of(it, c, "content", j, "text", &text);
        if (st)
            return st;
        add_thought(it, text);
    }
    return ST_OK;
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

/* As the model wrote it: with the namespace. */
static enum st take_name(struct items *it, const struct json *item,
                         struct text *out)
{
    const struct json *name = body_get(item, "name");
    const struct json *space = body_get(item, "namespace");

    if (!name || name->type != JSON_STR || !name->str.n)
        return bad(it, ".name", "must be a string, not empty");
    if (space && space->type != JSON_STR)
        return bad(it, ".namespace", "must be a string");
    *out = body_joined(it->p, space ? space->str : (struct text){"", 0},
                       name->str);
    return out->n ? ST_OK : body_full(it->p->e);
}

static enum st take_call(struct items *it, const struct json *item,
                         bool custom)
{
    struct chat_call call = {0};
    enum st st = take_id(it, item, &call.id);

    if (!st)
        st = take_name(it, item, &call.name);
    if (st)
        return st;
    st = custom ? take_input(it, item, &call)
                : take_arguments(it, item, &call);
    if (st)
        return st;
    go_on(it);
    draft_call(&it->draft, &call);
    return ST_OK;
}

/* Which call it is of, or which tool: each may be left out. */
static enum st take_output(struct items *it, const struct json *item)
{
    const struct json *name = body_get(item, "name");
    struct chat_msg *m = &it->draft.m;
    enum st st = ST_OK;

    begin(it, ROLE_TOOL);
    if (body_get(item, "call_id"))
        st = take_id(it, item, &m->call_id);
    if (!st && name && (name->type != JSON_STR || name->str.n))
        st = take_name(it, item, &m->tool);
    return st ? st : take_content(it, item, "output");
}

/* What tools that run at a vendor's left behind: nothing can be said of it. */
static const char *const hosted[] = {
    "file_search_call", "computer_call", "computer_call_output",
    "web_search_call", "tool_search_call", "tool_search_output", "compaction",
    "image_generation_call", "code_interpreter_call", "local_shell_call",
    "local_shell_call_output", "shell_call", "shell_call_output",
    "apply_patch_call", "apply_patch_call_output", "mcp_list_tools",
    "mcp_approval_request", "mcp_approval_response", "mcp_call", "program",
    "program_output", NULL,
};
/* What asks for something that does not happen here. */
static const char *const asked[] = {
    "compaction_trigger", "configuration_update", NULL,
};

static bool is_of(const char *const *types, const struct json *type)
{
    while (*types && !json_is(type, *types))
        types++;
    return *types != NULL;
}

/* Offered like those of `tools`, which come behind them. */
static enum st take_tools(struct items *it, const struct json *item)
{
    const struct json *list = body_get(item, "tools");
    char where[48];
    char *kept;
    enum st st;

    snprintf(where, sizeof(where), "input[%zu].tools", it->i);
    kept = arena_dup(it->p->a, where, strlen(where));
    if (!kept)
        return body_full(it->p->e);
    if (!list)
        return bad(it, ".tools", "is missing");
    st = body_items_offer(it->p, list, kept);
    if (st && it->before && it->p->e)
        snprintf(it->p->e->where, sizeof(it->p->e->where),
                 "previous_response_id");
    return st;
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
    if (json_is(type, "additional_tools"))
        return take_tools(it, item);
    if (is_of(hosted, type)) {
        body_skip(it->p, type->str);
        return ST_OK;
    }
    if (is_of(asked, type))
        return bad(it, ".type", "asks for what this server does not do; the "
                                "fields of the body say how it answers");
    return bad(it, ".type", "is no type of an item that is known here");
}

static enum st take_items(struct items *it, const struct json *list)
{
    enum st st = ST_OK;

    it->i = 0;
    for (const struct json *c = list ? list->child : NULL; c && !st;
         c = c->next, it->i++)
        st = take_item(it, c);
    draft_end(&it->draft);
    return st;
}

enum st body_items_list(struct body_parse *p, const struct body_past *past)
{
    const struct json *first = body_get(p->root, "instructions");
    struct items it = {.p = p, .before = true};
    const struct json *chain;
    enum st st = body_items_chain(p, past, &chain);

    if (!st)
        st = body_items_input(p, past);
    if (st)
        return st;
    p->out->list = "input";
    p->out->before = "instructions";
    draft_init(&it.draft, p->a);
    if (first) {
        begin(&it, ROLE_SYSTEM);
        draft_text(&it.draft, first->str);
    }
    st = take_items(&it, chain);
    it.before = false;
    if (!st)
        st = take_items(&it, p->out->input);
    if (!st && it.draft.failed)
        st = body_full(p->e);
    return st ? st : body_list(p, it.draft.list, it.draft.n, "input");
}
