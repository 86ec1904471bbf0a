/* `system` and `messages` of POST /v1/messages into out->chat. Source: the
 * types MessageParam and ContentBlockParam of Anthropic's own package. */
#include "api/body_blocks.h"

#include "api/body_draft.h"
#include "api/seal.h"

#define STEPS 4 /* messages, content, its content, a document's content */

/* Where a block stands: which of them it may be there. */
enum place {
    IN_USER = 1,
    IN_ASSISTANT = 2,
    IN_TEXTS = 4,    /* system, search_result.content: texts alone, each
                      * behind an empty line */
    IN_RESULT = 8,   /* tool_result.content */
    IN_DOCUMENT = 16, /* document.source.content */
};

struct step {
    const char *list; /* ".content" */
    enum place place; /* of what is in it */
    size_t i;
};

struct blocks {
    struct body_parse *p;
    struct draft draft;
    struct step path[STEPS]; /* [depth] of what is being read */
    size_t depth;
    size_t last_user;         /* index of the last message of a user */
};

/* --- errors -------------------------------------------------------------- */

/* The path and a field of it; both our own words. */
static void name(const struct blocks *b, const char *field, char *out,
                 size_t n)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t k = 0; k < b->depth && used < n; k++)
        used += (size_t)snprintf(out + used, n - used, "%s[%zu]",
                                 b->path[k].list, b->path[k].i);
    if (used < n)
        snprintf(out + used, n - used, "%s", field);
}

static enum st bad(const struct blocks *b, const char *field, const char *text)
{
    char where[sizeof(((struct err *)NULL)->where)];

    name(b, field, where, sizeof(where));
    return err_set(b->p->e, ST_INVALID, where, "%s", text);
}

/* A member that has to be a string; `out` stays when it is absent. */
static enum st take_string(const struct blocks *b, const struct json *o,
                           const char *key, struct text *out)
{
    const struct json *v = body_get(o, key);
    char field[32];

    if (v && v->type == JSON_STR)
        *out = v->str;
    if (!v || v->type == JSON_STR)
        return ST_OK;
    snprintf(field, sizeof(field), ".%s", key);
    return bad(b, field, "must be a string");
}

static enum st need_string(const struct blocks *b, const struct json *o,
                           const char *key, struct text *out)
{
    char field[32];

    if (body_get(o, key))
        return take_string(b, o, key, out);
    snprintf(field, sizeof(field), ".%s", key);
    return bad(b, field, "must be a string");
}

/* One by which something is found again: not empty either. */
static enum st need_name(const struct blocks *b, const struct json *o,
                         const char *key, struct text *out)
{
    const struct json *v = body_get(o, key);
    char field[32];

    if (v && v->type == JSON_STR && v->str.n) {
        *out = v->str;
        return ST_OK;
    }
    snprintf(field, sizeof(field), ".%s", key);
    return bad(b, field, "must be a string, not empty");
}

/* --- blocks -------------------------------------------------------------- */

static enum st take_list(struct blocks *b, const struct json *list,
                         const char *field, enum place place);

/*
 * A client's note to its maker's billing, which stands where `system` begins
 * and differs from request to request: nothing behind it would ever be found
 * in a cache. Source: public issue anthropics/claude-code 68900.
 */
static struct text without_note(struct text t)
{
    static const char note[] = "x-anthropic-billing-header:";
    size_t n = 0;

    if (t.n < sizeof(note) - 1 || memcmp(t.s, note, sizeof(note) - 1))
        return t;
    while (n < t.n && t.s[n] != '\n')
        n++;
    n += n < t.n;
    return (struct text){t.s + n, t.n - n};
}

static enum st take_text(struct blocks *b, const struct json *o)
{
    struct text t = {"", 0};
    enum st st = need_string(b, o, "text", &t);

    if (st)
        return st;
    if (b->path[b->depth - 1].place == IN_TEXTS)
        draft_gap(&b->draft);
    if (b->depth == 1) /* a block of `system` itself */
        t = without_note(t);
    draft_text(&b->draft, t);
    return ST_OK;
}

static enum st take_image(struct blocks *b, const struct json *o)
{
    const struct json *source = body_get(o, "source");
    char where[96];

    if (!source || source->type != JSON_OBJ)
        return bad(b, ".source", "must be an object with a type");
    name(b, ".type", where, sizeof(where));
    body_image(b->p, where);
    draft_image(&b->draft);
    return ST_OK;
}

/* What stands apart from its neighbours: each text behind an empty line, and
 * one behind the last. */
static void take_apart(struct blocks *b, struct text t)
{
    draft_gap(&b->draft);
    draft_text(&b->draft, t);
    draft_gap(&b->draft);
}

static enum st take_source(struct blocks *b, const struct json *source)
{
    const struct json *type = body_get(source, "type");
    const struct json *v;
    struct text t = {"", 0};

    if (json_is(type, "text")) {
        v = body_get(source, "data");
        if (!v || v->type != JSON_STR)
            return bad(b, ".source.data", "must be a string");
        take_apart(b, v->str);
        return ST_OK;
    }
    if (!json_is(type, "content"))
        return bad(b, ".source.type",
                   "accepted are text and content; this version reads no "
                   "files");
    v = body_get(source, "content");
    if (v && v->type == JSON_STR)
        t = v->str;
    else if (v && v->type == JSON_ARR)
        return take_list(b, v, ".source.content", IN_DOCUMENT);
    else
        return bad(b, ".source.content", "must be a string or a list");
    take_apart(b, t);
    return ST_OK;
}

static enum st take_document(struct blocks *b, const struct json *o)
{
    const struct json *source = body_get(o, "source");
    struct text title = {"", 0}, context = {"", 0};
    enum st st = take_string(b, o, "title", &title);

    if (!st)
        st = take_string(b, o, "context", &context);
    if (!st && (!source || source->type != JSON_OBJ))
        st = bad(b, ".source", "must be an object with a type");
    if (st)
        return st;
    take_apart(b, title);
    take_apart(b, context);
    st = take_source(b, source);
    draft_gap(&b->draft);
    return st;
}

static enum st take_search(struct blocks *b, const struct json *o)
{
    const struct json *content = body_get(o, "content");
    struct text title = {"", 0}, source = {"", 0};
    enum st st = need_string(b, o, "title", &title);

    if (!st)
        st = need_string(b, o, "source", &source);
    if (!st && (!content || content->type != JSON_ARR))
        st = bad(b, ".content", "must be a list of text blocks");
    if (st)
        return st;
    take_apart(b, title);
    take_apart(b, source);
    st = take_list(b, content, ".content", IN_TEXTS);
    draft_gap(&b->draft);
    return st;
}

static enum st take_reference(struct blocks *b, const struct json *o)
{
    struct text tool = {"", 0};
    enum st st = need_string(b, o, "tool_name", &tool);

    if (!st)
        take_apart(b, tool);
    return st;
}

static enum st take_result(struct blocks *b, const struct json *o)
{
    const struct json *content = body_get(o, "content");
    const struct json *failed = body_get(o, "is_error");
    struct text id = {"", 0};
    enum st st = need_name(b, o, "tool_use_id", &id);

    if (st)
        return st;
    if (failed && failed->type != JSON_BOOL)
        return bad(b, ".is_error", "must be true or false");
    if (content && content->type != JSON_STR && content->type != JSON_ARR)
        return bad(b, ".content", "must be a string or a list of blocks");
    draft_begin(&b->draft, ROLE_TOOL, b->path[0].i);
    b->draft.m.call_id = id;
    if (content && content->type == JSON_STR)
        draft_text(&b->draft, content->str);
    if (content && content->type == JSON_ARR)
        st = take_list(b, content, ".content", IN_RESULT);
    return st;
}

static enum st take_use(struct blocks *b, const struct json *o)
{
    const struct json *input = body_get(o, "input");
    struct chat_call call = {.args = input};
    enum st st = need_name(b, o, "id", &call.id);

    if (!st)
        st = need_name(b, o, "name", &call.name);
    if (!st && input && input->type != JSON_OBJ)
        st = bad(b, ".input", "must be an object");
    if (!st)
        draft_call(&b->draft, &call);
    return st;
}

static enum st take_thinking(struct blocks *b, const struct json *o)
{
    struct text thought = {"", 0}, signature = {"", 0};
    enum st st = need_string(b, o, "thinking", &thought);

    if (!st)
        st = take_string(b, o, "signature", &signature);
    if (!st && !thought.n &&
        seal_open(&thought, b->p->a, signature) == SEAL_FULL)
        st = body_full(b->p->e);
    if (!st)
        draft_thought(&b->draft, thought);
    return st;
}

/* What an earlier part of the conversation came to. */
static enum st take_summary(struct blocks *b, const struct json *o)
{
    struct text t = {"", 0};
    enum st st = take_string(b, o, "content", &t);

    if (!st)
        take_apart(b, t);
    return st;
}

static enum st take_nothing(struct blocks *b, const struct json *o)
{
    (void)b;
    (void)o;
    return ST_OK;
}

/* Somebody's else's tools at work: left out, and told of. */
static enum st take_hosted(struct blocks *b, const struct json *o)
{
    body_skip(b->p, body_get(o, "type")->str);
    return ST_OK;
}

#define IN_TURN (IN_USER | IN_ASSISTANT)

static const struct kind {
    const char *type;
    unsigned places;
    enum st (*take)(struct blocks *b, const struct json *o);
} kinds[] = {
    {"text", IN_TURN | IN_TEXTS | IN_RESULT | IN_DOCUMENT, take_text},
    {"image", IN_USER | IN_RESULT | IN_DOCUMENT, take_image},
    {"document", IN_USER | IN_RESULT, take_document},
    {"search_result", IN_USER | IN_RESULT, take_search},
    {"tool_reference", IN_RESULT, take_reference},
    {"tool_result", IN_USER, take_result},
    {"tool_use", IN_ASSISTANT, take_use},
    {"thinking", IN_ASSISTANT, take_thinking},
    {"redacted_thinking", IN_ASSISTANT, take_nothing},
    {"compaction", IN_TURN, take_summary},
    {"fallback", IN_ASSISTANT, take_nothing},
    {"server_tool_use", IN_TURN, take_hosted},
    {"web_search_tool_result", IN_TURN, take_hosted},
    {"web_fetch_tool_result", IN_TURN, take_hosted},
    {"code_execution_tool_result", IN_TURN, take_hosted},
    {"bash_code_execution_tool_result", IN_TURN, take_hosted},
    {"text_editor_code_execution_tool_result", IN_TURN, take_hosted},
    {"tool_search_tool_result", IN_TURN, take_hosted},
    {"advisor_tool_result", IN_TURN, take_hosted},
    {"mcp_tool_use", IN_TURN, take_hosted},
    {"mcp_tool_result", IN_TURN, take_hosted},
    {"mcp_tool_listing", IN_TURN, take_hosted},
    {"container_upload", IN_TURN, take_hosted},
    {"browser_state", IN_RESULT, take_hosted},
};

static const struct kind *kind_of(const struct json *type, enum place place)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if ((kinds[k].places & place) && json_is(type, kinds[k].type))
            return &kinds[k];
    return NULL;
}

/* Those that say something, in a sentence. */
static enum st bad_type(const struct blocks *b, enum place place)
{
    struct buf words;
    enum st st;

    buf_init(&words, BUF_MESSAGE);
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
        if ((kinds[k].places & place) && kinds[k].take != take_hosted &&
            kinds[k].take != take_nothing)
            buf_printf(&words, "%s%s", words.n ? ", " : "accepted here: ",
                       kinds[k].type);
    st = bad(b, ".type", words.p ? words.p : "is not accepted here");
    buf_release(&words);
    return st;
}

static enum st take_block(struct blocks *b, const struct json *o)
{
    enum place place = b->path[b->depth - 1].place;
    const struct json *type = body_get(o, "type");
    const struct kind *kind;

    if (o->type != JSON_OBJ)
        return bad(b, "", "must be an object with a type");
    kind = kind_of(type, place);
    if (!kind)
        return bad_type(b, place);
    if (place == IN_USER && kind->take != take_result)
        draft_begin(&b->draft, ROLE_USER, b->path[0].i);
    return kind->take(b, o);
}

/* The path ends with `field` while the list is read. */
static enum st take_list(struct blocks *b, const struct json *list,
                         const char *field, enum place place)
{
    struct step *step = &b->path[b->depth];
    enum st st = ST_OK;

    BUG_ON(b->depth == STEPS);
    *step = (struct step){field, place, 0};
    b->depth++;
    for (const struct json *c = list->child; c && !st; c = c->next) {
        st = take_block(b, c);
        step->i++;
    }
    b->depth--;
    return st;
}

/* --- messages ------------------------------------------------------------ */

static enum st take_content(struct blocks *b, const struct json *m,
                            enum place place)
{
    const struct json *v = body_get(m, "content");

    if (!v)
        return bad(b, ".content", "is missing");
    if (v->type == JSON_ARR && !v->n && place != IN_ASSISTANT)
        return bad(b, ".content", "must not be an empty list");
    if (v->type == JSON_ARR)
        return take_list(b, v, ".content", place);
    if (v->type != JSON_STR)
        return bad(b, ".content", "must be a string or a list of blocks");
    draft_text(&b->draft, v->str);
    return ST_OK;
}

/* Results are messages of their own, so a user's begins with what is none. */
static enum st take_user(struct blocks *b, const struct json *m)
{
    const struct json *v = body_get(m, "content");

    if (!v || v->type != JSON_ARR)
        draft_begin(&b->draft, ROLE_USER, b->path[0].i);
    return take_content(b, m, IN_USER);
}

/* One that is for the turn before it alone is left out behind the next. */
static enum st take_instruction(struct blocks *b, const struct json *m)
{
    const struct json *until = body_get(m, "clear_at");
    const struct json *config = body_get(m, "output_config");
    bool once = json_is(until, "next_user_message");

    if (until && !once && !json_is(until, "never"))
        return bad(b, ".clear_at", "must be next_user_message or never");
    if (config && (config->type != JSON_OBJ || config->n))
        return bad(b, ".output_config",
                   "must be empty: one request has one output_config");
    if (once && b->path[0].i < b->last_user)
        return ST_OK;
    draft_begin(&b->draft, ROLE_SYSTEM, b->path[0].i);
    return take_content(b, m, IN_TEXTS);
}

static enum st take_message(struct blocks *b, const struct json *m)
{
    const struct json *role = body_get(m, "role");
    size_t i = b->path[0].i;

    if (m->type != JSON_OBJ)
        return bad(b, "", "must be an object");
    if (json_is(role, "user"))
        return take_user(b, m);
    if (json_is(role, "assistant")) {
        draft_begin(&b->draft, ROLE_ASSISTANT, i);
        return take_content(b, m, IN_ASSISTANT);
    }
    if (!json_is(role, "system"))
        return bad(b, ".role", "must be user, assistant or system");
    return take_instruction(b, m);
}

static enum st take_system(struct blocks *b)
{
    const struct json *v = body_get(b->p->root, "system");

    if (!v)
        return ST_OK;
    if (v->type != JSON_STR && v->type != JSON_ARR)
        return err_set(b->p->e, ST_INVALID, "system",
                       "must be a string or a list of text blocks, not %s",
                       json_type_name(v));
    draft_begin(&b->draft, ROLE_SYSTEM, SENT_BEFORE);
    if (v->type == JSON_ARR)
        return take_list(b, v, "system", IN_TEXTS);
    draft_text(&b->draft, without_note(v->str));
    return ST_OK;
}

static enum st take_messages(struct blocks *b)
{
    const struct json *v = body_get(b->p->root, "messages");
    enum st st = ST_OK;
    size_t i = 0;

    if (!v)
        return err_set(b->p->e, ST_INVALID, "messages", "is missing");
    if (v->type != JSON_ARR)
        return err_set(b->p->e, ST_INVALID, "messages",
                       "must be a list, not %s", json_type_name(v));
    if (!v->n)
        return err_set(b->p->e, ST_INVALID, "messages", "must not be empty");
    for (const struct json *c = v->child; c; c = c->next, i++)
        if (json_is(body_get(c, "role"), "user"))
            b->last_user = i;
    i = 0;
    b->path[0] = (struct step){.list = "messages"};
    b->depth = 1;
    for (const struct json *c = v->child; c && !st; c = c->next, i++) {
        b->path[0].i = i;
        st = take_message(b, c);
    }
    if (st || b->draft.m.role != ROLE_ASSISTANT)
        return st;
    return bad(b, ".role",
               "the last message must be a user's: this server does not "
               "continue an answer");
}

enum st body_blocks_messages(struct body_parse *p)
{
    struct blocks b = {.p = p};
    enum st st;

    draft_init(&b.draft, p->a);
    st = take_system(&b);
    if (!st)
        st = take_messages(&b);
    if (st)
        return st;
    draft_end(&b.draft);
    if (b.draft.failed)
        return body_full(p->e);
    p->out->list = "messages";
    p->out->before = "system";
    return body_list(p, b.draft.list, b.draft.n, "messages");
}
