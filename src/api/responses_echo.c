/* What the Response object repeats of its request. */
#include "api/emit_responses.h"

#include "api/run.h"
#include "chat/jsontext.h"

/* The echo on its way. */
struct echo {
    struct jw *w;
    struct buf value; /* one member's text */
    const struct json *root;
};

/* A member of this type. Others are not the declared ones: fields without
 * effect may hold anything. */
static const struct json *get(const struct json *o, const char *key,
                              enum json_type type)
{
    const struct json *v = json_get(o, key);

    return v && v->type == type ? v : NULL;
}

/* One value as it was sent, but for white space. */
static void put(struct echo *c, const struct json *v)
{
    buf_clear(&c->value);
    jsontext(&c->value, v, JT_COMPACT);
    if (c->value.failed)
        jw_fail(c->w);
    else
        jw_raw(c->w, c->value.p, c->value.n);
}

/* o's member as it was sent; else null. */
static void echo_or_null(struct echo *c, const struct json *o,
                         const char *key, enum json_type type)
{
    const struct json *v = get(o, key, type);

    jw_key(c->w, key);
    if (v)
        put(c, v);
    else
        jw_null(c->w);
}

static void echo(struct echo *c, const char *key, enum json_type type)
{
    echo_or_null(c, c->root, key, type);
}

/* Where the type knows no null: nothing. */
static void echo_sent(struct echo *c, const struct json *o, const char *key)
{
    if (get(o, key, JSON_STR))
        echo_or_null(c, o, key, JSON_STR);
}

static void echo_num(struct echo *c, const char *key, int64_t dflt)
{
    if (get(c->root, key, JSON_NUM))
        echo(c, key, JSON_NUM);
    else
        jw_kint(c->w, key, dflt);
}

/* A function as it was sent, and what its type wants besides. */
static void put_function(struct echo *c, const struct json *tool)
{
    jw_obj(c->w);
    for (const struct json *m = tool->child; m; m = m->next) {
        jw_strn(c->w, m->key.s, m->key.n);
        put(c, m);
    }
    if (!json_get(tool, "parameters"))
        jw_knull(c->w, "parameters");
    if (!json_get(tool, "strict"))
        jw_kbool(c->w, "strict", false);
    jw_obj_end(c->w);
}

/* A namespace as it was sent, with those that are served. Its type wants a
 * description. */
static void put_space(struct echo *c, const struct json *space)
{
    const struct json *tools = json_get(space, "tools");

    jw_obj(c->w);
    for (const struct json *m = space->child; m; m = m->next) {
        if (m == tools || text_is(m->key, "description"))
            continue;
        jw_strn(c->w, m->key.s, m->key.n);
        put(c, m);
    }
    jw_key(c->w, "description");
    if (get(space, "description", JSON_STR))
        put(c, get(space, "description", JSON_STR));
    else
        jw_str(c->w, "");
    jw_key(c->w, "tools");
    jw_arr(c->w);
    for (const struct json *t = tools ? tools->child : NULL; t; t = t->next)
        if (json_is(json_get(t, "type"), "function") ||
            json_is(json_get(t, "type"), "custom"))
            put(c, t);
    jw_arr_end(c->w);
    jw_obj_end(c->w);
}

/* Those that are served. */
static void echo_tools(struct echo *c)
{
    const struct json *list = get(c->root, "tools", JSON_ARR);

    jw_key(c->w, "tools");
    jw_arr(c->w);
    for (const struct json *t = list ? list->child : NULL; t; t = t->next) {
        const struct json *type = json_get(t, "type");

        if (json_is(type, "function"))
            put_function(c, t);
        else if (json_is(type, "namespace"))
            put_space(c, t);
        else if (json_is(type, "custom"))
            put(c, t);
    }
    jw_arr_end(c->w);
}

static void echo_choice(struct echo *c)
{
    const struct json *v = json_get(c->root, "tool_choice");

    jw_key(c->w, "tool_choice");
    if (v && v->type != JSON_NULL)
        put(c, v);
    else
        jw_str(c->w, "auto");
}

static void echo_text(struct echo *c)
{
    const struct json *text = json_get(c->root, "text");
    const struct json *format = get(text, "format", JSON_OBJ);

    jw_key(c->w, "text");
    jw_obj(c->w);
    jw_key(c->w, "format");
    if (format) {
        put(c, format);
    } else {
        jw_obj(c->w);
        jw_kstr(c->w, "type", "text");
        jw_obj_end(c->w);
    }
    echo_sent(c, text, "verbosity");
    jw_obj_end(c->w);
}

static void echo_reasoning(struct echo *c)
{
    const struct json *sent = json_get(c->root, "reasoning");

    jw_key(c->w, "reasoning");
    jw_obj(c->w);
    echo_or_null(c, sent, "effort", JSON_STR);
    echo_or_null(c, sent, "summary", JSON_STR);
    jw_obj_end(c->w);
}

static void echo_metadata(struct echo *c)
{
    if (get(c->root, "metadata", JSON_OBJ)) {
        echo(c, "metadata", JSON_OBJ);
        return;
    }
    jw_key(c->w, "metadata");
    jw_obj(c->w);
    jw_obj_end(c->w);
}

static void echo_truncation(struct echo *c)
{
    if (get(c->root, "truncation", JSON_STR))
        echo(c, "truncation", JSON_STR);
    else
        jw_kstr(c->w, "truncation", "disabled");
}

static void echo_all(struct echo *c, const struct body *b)
{
    jw_obj(c->w);
    jw_kbool(c->w, "background", false);
    echo(c, "instructions", JSON_STR);
    echo_num(c, "temperature", 1);
    echo_num(c, "top_p", 1);
    echo_num(c, "top_logprobs", 0);
    echo(c, "max_output_tokens", JSON_NUM);
    echo(c, "max_tool_calls", JSON_NUM);
    echo(c, "previous_response_id", JSON_STR);
    jw_kbool(c->w, "parallel_tool_calls", b->chat.parallel_calls);
    echo_choice(c);
    echo_tools(c);
    echo_text(c);
    echo_reasoning(c);
    echo_truncation(c);
    echo_metadata(c);
    jw_kstr(c->w, "service_tier", "default"); /* there is one */
    echo(c, "safety_identifier", JSON_STR);
    echo(c, "prompt_cache_key", JSON_STR);
    echo(c, "prompt_cache_retention", JSON_STR);
    echo_sent(c, c->root, "user");
    jw_obj_end(c->w);
}

enum st responses_echo(struct exchange *x, const struct body *b,
                       struct err *e)
{
    struct run *r = run_of(x);
    struct echo c = {.root = b->root};
    enum st st = tool_names_keep(&r->names, b->offered, b->n_offered, e);
    bool good;

    if (st)
        return st;
    r->sealed = b->sealed;
    buf_init(&c.value, BUF_ANSWER);
    c.w = jw_new(&r->echo);
    echo_all(&c, b);
    good = jw_end(c.w);
    buf_release(&c.value);
    return good ? ST_OK : err_set(e, ST_LIMIT, "", "too long to be repeated");
}
