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

/* A member that is there and not null. */
static const struct json *get(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);

    return v && v->type != JSON_NULL ? v : NULL;
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

/* As it was sent; else `dflt`, a word, or null where that is NULL. */
static void echo(struct echo *c, const char *key, const char *dflt)
{
    const struct json *v = get(c->root, key);

    jw_key(c->w, key);
    if (v)
        put(c, v);
    else if (dflt)
        jw_str(c->w, dflt);
    else
        jw_null(c->w);
}

/* Where the type knows no null: nothing. */
static void echo_sent(struct echo *c, const char *key)
{
    if (get(c->root, key))
        echo(c, key, NULL);
}

static void echo_num(struct echo *c, const char *key, int64_t dflt)
{
    const struct json *v = get(c->root, key);

    jw_key(c->w, key);
    if (v)
        put(c, v);
    else
        jw_int(c->w, dflt);
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

/* Those that are served. */
static void echo_tools(struct echo *c)
{
    const struct json *list = get(c->root, "tools");

    jw_key(c->w, "tools");
    jw_arr(c->w);
    for (const struct json *t = list ? list->child : NULL; t; t = t->next)
        if (json_is(json_get(t, "type"), "function"))
            put_function(c, t);
    jw_arr_end(c->w);
}

static void echo_text(struct echo *c)
{
    const struct json *text = get(c->root, "text");
    const struct json *format = get(text, "format");
    const struct json *verbosity = get(text, "verbosity");

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
    if (verbosity) {
        jw_key(c->w, "verbosity");
        put(c, verbosity);
    }
    jw_obj_end(c->w);
}

static void echo_reasoning(struct echo *c)
{
    static const char *const keys[] = {"effort", "summary"};
    const struct json *sent = get(c->root, "reasoning");

    jw_key(c->w, "reasoning");
    jw_obj(c->w);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct json *v = get(sent, keys[i]);

        jw_key(c->w, keys[i]);
        if (v)
            put(c, v);
        else
            jw_null(c->w);
    }
    jw_obj_end(c->w);
}

static void echo_metadata(struct echo *c)
{
    const struct json *v = get(c->root, "metadata");

    jw_key(c->w, "metadata");
    if (v) {
        put(c, v);
        return;
    }
    jw_obj(c->w);
    jw_obj_end(c->w);
}

static void echo_all(struct echo *c, const struct body *b)
{
    jw_obj(c->w);
    jw_kbool(c->w, "background", false);
    echo(c, "instructions", NULL);
    echo_num(c, "temperature", 1);
    echo_num(c, "top_p", 1);
    echo_num(c, "top_logprobs", 0);
    echo(c, "max_output_tokens", NULL);
    echo(c, "max_tool_calls", NULL);
    echo(c, "previous_response_id", NULL);
    jw_kbool(c->w, "parallel_tool_calls", b->chat.parallel_calls);
    echo(c, "tool_choice", "auto");
    echo_tools(c);
    echo_text(c);
    echo_reasoning(c);
    echo(c, "truncation", "disabled");
    echo_metadata(c);
    jw_kstr(c->w, "service_tier", "default"); /* there is one */
    echo(c, "safety_identifier", NULL);
    echo(c, "prompt_cache_key", NULL);
    echo(c, "prompt_cache_retention", NULL);
    echo_sent(c, "user");
    jw_obj_end(c->w);
}

enum st responses_echo(struct exchange *x, const struct body *b,
                       struct err *e)
{
    struct run *r = run_of(x);
    struct echo c = {.root = b->root};
    bool good;

    r->sealed = b->sealed;
    buf_init(&c.value, BUF_ANSWER);
    c.w = jw_new(&r->echo);
    echo_all(&c, b);
    good = jw_end(c.w);
    buf_release(&c.value);
    return good ? ST_OK : err_set(e, ST_LIMIT, "", "too long to be repeated");
}
