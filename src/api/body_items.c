/* The body of POST /v1/responses: its fields. Shapes: OpenAI's reference, and
 * the types of the official npm package. */
#include "api/body_items.h"

#define PAIRS_MAX 16    /* of metadata */
#define KEY_MAX 64      /* characters */
#define VALUE_MAX 512

static enum st take_format(struct body_parse *p)
{
    static const char where[] = "text.format.type";
    static const char deep[] = "text.format.schema";
    static const char *const text[] = {"text", NULL};
    static const char *const schema[] = {"json_schema", NULL};
    const struct json *type = compat_get(p->root, where);

    if (!compat_get(p->root, "text.format"))
        return ST_OK;
    if (!type)
        return err_set(p->e, ST_INVALID, where, "is missing");
    if (compat_word(text, type))
        return ST_OK;
    p->out->form_field = "text.format";
    p->out->schema_field = deep;
    if (compat_word(schema, type))
        return body_schema_form(p, compat_get(p->root, deep),
                                compat_get(p->root, "text.format.name"),
                                compat_get(p->root, "text.format.strict"),
                                deep);
    p->out->chat.form = FORM_JSON_OBJECT;
    return ST_OK;
}

/* What is asked for beside the answer. Most of it is of tools that this server
 * does not run: there is never any. */
static enum st take_include(struct body_parse *p)
{
    static const char *const words[] = {
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
        "file_search_call.results",
        "web_search_call.results",
        "web_search_call.action.sources",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
        "code_interpreter_call.outputs",
        NULL,
    };
    const struct json *list = body_get(p->root, "include");
    size_t i = 0;

    if (!list)
        return ST_OK;
    if (list->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, "include",
                       "must be a list of strings, not %s",
                       json_type_name(list));
    for (const struct json *c = list->child; c; c = c->next, i++) {
        const char *word = compat_word(words, c);
        char where[32];

        snprintf(where, sizeof(where), "include[%zu]", i);
        if (!word)
            return err_set(p->e, ST_INVALID, where,
                           "accepted are reasoning.encrypted_content, "
                           "message.output_text.logprobs and the other words "
                           "of the reference");
        p->out->sealed = p->out->sealed || word == words[0];
        p->out->logprobs = p->out->logprobs || word == words[1];
    }
    if (p->out->logprobs)
        p->out->top_logprobs = (int32_t)body_int(p, "top_logprobs", 0);
    return ST_OK;
}

static size_t characters(struct text t)
{
    size_t n = 0;

    for (size_t i = 0; i < t.n; i++)
        n += ((unsigned char)t.s[i] & 0xc0) != 0x80;
    return n;
}

static enum st check_metadata(struct body_parse *p)
{
    const struct json *o = body_get(p->root, "metadata");
    bool ok = !o || (o->type == JSON_OBJ && o->n <= PAIRS_MAX);

    for (const struct json *v = ok && o ? o->child : NULL; v; v = v->next)
        ok = ok && v->type == JSON_STR && characters(v->key) <= KEY_MAX &&
             characters(v->str) <= VALUE_MAX;
    if (ok)
        return ST_OK;
    return err_set(p->e, ST_INVALID, "metadata",
                   "must be an object of at most %d strings, with keys of at "
                   "most %d characters and values of at most %d",
                   PAIRS_MAX, KEY_MAX, VALUE_MAX);
}

static void take_store(struct body_parse *p)
{
    const struct json *v = body_get(p->root, "store");

    if (v)
        p->out->store = v->boolean ? STORE_YES : STORE_NO;
}

/* The order is that of the refusals. */
static enum st take_fields(struct body_parse *p, const struct body_past *past)
{
    const struct json *parallel = body_get(p->root, "parallel_tool_calls");
    const struct json *stream = body_get(p->root, "stream");
    struct chat_req *r = &p->out->chat;
    enum st st = check_metadata(p);

    if (!st)
        st = body_items_list(p, past);
    if (st)
        return st;
    body_model(p);
    take_store(p);
    p->out->stream = stream && stream->boolean;
    p->out->max_tokens = body_tokens(p, "max_output_tokens");
    r->parallel_calls = !parallel || parallel->boolean;
    r->parallel_asked = parallel && parallel->boolean;
    st = take_format(p);
    if (!st)
        st = take_include(p);
    if (!st)
        st = body_items_tools(p);
    if (!st)
        st = body_stops(p, "stop");
    if (st)
        return st;
    body_sampling(p);
    body_think(p);
    return ST_OK;
}

enum st body_parse_items(struct body *out, struct arena *a, struct text json,
                         const struct body_past *past, struct err *e)
{
    struct body_parse p;
    enum st st = body_open(&p, out, a, WIRE_RESPONSES, json, e);

    if (!st)
        st = compat_check(WIRE_RESPONSES, p.root, e);
    return st ? st : take_fields(&p, past);
}
