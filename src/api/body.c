#include "api/body_int.h"

#include "api/compat.h"

#include <float.h>

#define TOKENS_TOP (1 << 24) /* job_new takes no more */
#define REPETITION_MIN 1e-6f /* below, a logit divided by it is too large for
                              * a float, and already decides alone */

const struct json *body_get(const struct json *o, const char *key)
{
    const struct json *v = json_get(o, key);

    return v && v->type != JSON_NULL ? v : NULL;
}

enum st body_full(struct err *e)
{
    return err_set(e, ST_LIMIT, "", "the body is too large for a request");
}

/* Fields that compat_check has already found to be of the right type. */
static double num_of(const struct body_parse *p, const char *key, double dflt)
{
    const struct json *v = body_get(p->root, key);

    return v ? v->d : dflt;
}

int64_t body_int(const struct body_parse *p, const char *name, int64_t dflt)
{
    const struct json *v = compat_get(p->root, name);
    int64_t n;

    return v && compat_whole(v, &n) ? n : dflt;
}

int32_t body_tokens(const struct body_parse *p, const char *field)
{
    int64_t n = body_int(p, field, 0);

    return n > TOKENS_TOP ? TOKENS_TOP : (int32_t)n;
}

static enum st take_max_tokens(struct body_parse *p)
{
    int64_t old = body_int(p, "max_tokens", 0);
    int64_t now = body_int(p, "max_completion_tokens", 0);

    if (old && now && old != now)
        return err_set(p->e, ST_INVALID, "max_completion_tokens",
                       "differs from max_tokens; send one of them");
    p->out->max_tokens = body_tokens(p, now ? "max_completion_tokens"
                                            : "max_tokens");
    return ST_OK;
}

void body_sampling(struct body_parse *p)
{
    struct sampling *s = &p->out->sampling;
    int64_t top_k = body_int(p, "top_k", 0);

    s->temperature = (float)num_of(p, "temperature", 1);
    s->top_p = (float)num_of(p, "top_p", 1);
    if (s->top_p <= 0)
        s->top_p = FLT_MIN; /* above 0, but not as a float */
    s->top_k = top_k > INT32_MAX ? INT32_MAX : (int32_t)top_k;
    s->min_p = (float)num_of(p, "min_p", 0);
    s->presence = (float)num_of(p, "presence_penalty", 0);
    s->frequency = (float)num_of(p, "frequency_penalty", 0);
    s->repetition = (float)num_of(p, "repetition_penalty", 1);
    if (s->repetition < REPETITION_MIN)
        s->repetition = REPETITION_MIN;
    p->out->seed_given = body_get(p->root, "seed") != NULL;
    s->seed = (uint64_t)body_int(p, "seed", 0);
}

static void take_stream(struct body_parse *p)
{
    const struct json *v = body_get(p->root, "stream");
    const struct json *usage = compat_get(p->root,
                                          "stream_options.include_usage");

    p->out->stream = v && v->boolean;
    p->out->include_usage = USAGE_DEFAULT;
    if (usage)
        p->out->include_usage = usage->boolean ? USAGE_YES : USAGE_NO;
}

static enum st take_n(struct body_parse *p)
{
    int64_t best = body_int(p, "best_of", 1);

    p->out->n = (int32_t)body_int(p, "n", 1);
    if (p->out->stream && p->out->n > 1)
        return err_set(p->e, ST_INVALID, "n",
                       "a streamed answer has one choice");
    if (!p->out->n_prompts)
        return ST_OK; /* a chat: best_of is not its field */
    if (best != 1 && best != p->out->n)
        return err_set(p->e, ST_INVALID, "best_of",
                       "must be 1 or the value of n");
    if (p->out->n_prompts * (size_t)p->out->n > PROMPTS_MAX)
        return err_set(p->e, ST_INVALID, "n",
                       "at most %d answers: prompts times n", PROMPTS_MAX);
    if (p->out->stream && p->out->n_prompts > 1)
        return err_set(p->e, ST_INVALID, "prompt",
                       "a streamed answer has one prompt");
    return ST_OK;
}

static enum st add_stop(struct body_parse *p, struct text *list,
                        const struct json *v, const char *where)
{
    if (v->type != JSON_STR)
        return err_set(p->e, ST_INVALID, where, "must be a string, not %s",
                       json_type_name(v));
    if (v->str.n > STOP_BYTES_MAX)
        return err_set(p->e, ST_INVALID, where,
                       "has %zu bytes; at most %d are accepted", v->str.n,
                       STOP_BYTES_MAX);
    if (v->str.n)
        list[p->out->n_stops++] = v->str;
    return ST_OK;
}

enum st body_stops(struct body_parse *p, const char *field)
{
    const struct json *v = body_get(p->root, field);
    struct text *list;
    enum st st = ST_OK;
    size_t i = 0;

    if (!v)
        return ST_OK;
    if (v->type != JSON_STR && v->type != JSON_ARR)
        return err_set(p->e, ST_INVALID, field,
                       "must be a string or a list of strings, not %s",
                       json_type_name(v));
    if (v->type == JSON_ARR && v->n > STOPS_MAX)
        return err_set(p->e, ST_INVALID, field,
                       "has %zu strings; at most %d are accepted", v->n,
                       STOPS_MAX);
    list = arena_array(p->a, STOPS_MAX, sizeof(*list));
    if (!list)
        return body_full(p->e);
    p->out->stops = list;
    if (v->type == JSON_STR)
        return add_stop(p, list, v, field);
    for (const struct json *c = v->child; c && !st; c = c->next, i++) {
        char where[32];

        snprintf(where, sizeof(where), "%s[%zu]", field, i);
        st = add_stop(p, list, c, where);
    }
    return st;
}

static enum st take_logprobs(struct body_parse *p, enum compat_wire wire)
{
    const struct json *v = body_get(p->root, "logprobs");
    struct body *out = p->out;

    if (wire == WIRE_COMPLETION) { /* 0: the chosen token's alone */
        out->logprobs = v != NULL;
        out->top_logprobs = (int32_t)body_int(p, "logprobs", 0);
        return ST_OK;
    }
    out->logprobs = v && v->boolean;
    out->top_logprobs = (int32_t)body_int(p, "top_logprobs", 0);
    if (out->top_logprobs && !out->logprobs)
        return err_set(p->e, ST_INVALID, "top_logprobs",
                       "needs logprobs: true");
    return ST_OK;
}

static enum st take_ngram(struct body_parse *p)
{
    p->out->no_repeat_ngram =
        (int32_t)body_int(p, "no_repeat_ngram_size", 0);
    if (p->out->no_repeat_ngram != 1)
        return ST_OK;
    return err_set(p->e, ST_INVALID, "no_repeat_ngram_size",
                   "must be 0 or from 2 to 64");
}

/* The task is only for the side lane: whatever it is, it is no error. */
void body_model(struct body_parse *p)
{
    const struct json *model = body_get(p->root, "model");
    const struct json *v = body_get(p->root, "metadata");

    if (model)
        p->out->model = model->str;
    v = v && v->type == JSON_OBJ ? json_get(v, "task") : NULL;
    if (v && v->type == JSON_STR)
        p->out->task = v->str;
}

static void take_open(struct body_parse *p)
{
    const struct json *v = body_get(p->root, "add_generation_prompt");

    p->out->chat.no_prompt = v && !v->boolean;
}

/* The fields that both bodies share, once messages or prompts are read. The
 * order is that of the refusals. */
static enum st take_fields(struct body_parse *p, enum compat_wire wire)
{
    bool chat = wire == WIRE_CHAT;
    enum st st = compat_check(wire, p->root, p->e);

    if (st)
        return st;
    body_model(p);
    take_open(p);
    take_stream(p);
    st = take_n(p);
    if (!st)
        st = body_format(p);
    if (!st)
        st = take_logprobs(p, wire);
    if (!st && chat)
        st = body_tools(p);
    if (!st)
        st = body_structured(p);
    if (!st)
        st = take_max_tokens(p);
    if (!st)
        st = body_stops(p, "stop");
    if (st)
        return st;
    body_sampling(p);
    if (chat)
        body_think(p);
    st = take_ngram(p);
    return st ? st : body_bias(p);
}

/* A copy of the body with the members that the table has: a million others
 * would be walked for every row. */
static const struct json *known_fields(struct arena *a, enum compat_wire wire,
                                       const struct json *o)
{
    struct json *copy = arena_alloc(a, sizeof(*copy));
    struct json **link;

    if (!copy)
        return NULL;
    *copy = *o;
    copy->n = 0;
    link = &copy->child;
    for (const struct json *v = o->child; v; v = v->next) {
        if (!compat_known(wire, v->key))
            continue;
        *link = arena_alloc(a, sizeof(**link));
        if (!*link)
            return NULL;
        **link = *v;
        link = &(*link)->next;
        copy->n++;
    }
    *link = NULL;
    return copy;
}

enum st body_open(struct body_parse *p, struct body *out, struct arena *a,
                  enum compat_wire wire, struct text json, struct err *e)
{
    enum st st;

    *p = (struct body_parse){.out = out, .a = a, .e = e};
    *out = (struct body){.n = 1};
    out->chat.effort_n = -1;
    out->think.cap = -1;
    if (!json.n)
        return err_set(e, ST_INVALID, "", "the body is empty; it must be a "
                                          "JSON object");
    st = json_parse(&p->root, a, json.s, json.n, e);
    if (st)
        return st;
    if (p->root->type != JSON_OBJ)
        return err_set(e, ST_INVALID, "", "the body must be a JSON object, "
                                          "not %s",
                       json_type_name(p->root));
    p->root = known_fields(a, wire, p->root);
    out->root = p->root;
    return p->root ? ST_OK : body_full(e);
}

static enum st parse(struct body *out, struct arena *a, struct text json,
                     enum compat_wire wire, struct err *e)
{
    struct body_parse p;
    enum st st = body_open(&p, out, a, wire, json, e);

    if (st)
        return st;
    st = wire == WIRE_CHAT ? body_messages(&p) : body_prompts(&p);
    if (!st)
        st = take_fields(&p, wire);
    return st;
}

enum st body_parse_chat(struct body *out, struct arena *a, struct text json,
                        struct err *e)
{
    return parse(out, a, json, WIRE_CHAT, e);
}

enum st body_parse_completion(struct body *out, struct arena *a,
                              struct text json, struct err *e)
{
    return parse(out, a, json, WIRE_COMPLETION, e);
}
