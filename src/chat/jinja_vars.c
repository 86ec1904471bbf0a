/* The variables of a template. Who wrote a value decides its provenance:
 * what came with the request is text, the words that validation chose among
 * (roles, part types, "function") are ours, and so markup. */
#include "chat/jinja_format.h"

#include "base/thread.h"
#include "chat/jsontext.h"

#define VARS_FIXED 11

/* Names that chat_template_kwargs may not take: ours, and the functions of
 * the language (jinja_global.c), without which no template works. */
static const char *const reserved[] = {
    "messages",  "tools",     "add_generation_prompt",
    "bos_token", "eos_token", "enable_thinking",
    "cycler",    "dict",      "joiner",
    "namespace", "range",     "raise_exception",
    "strftime_now",
};

static const char *const role_words[] = {
    [ROLE_SYSTEM] = "system",
    [ROLE_USER] = "user",
    [ROLE_ASSISTANT] = "assistant",
    [ROLE_TOOL] = "tool",
};

static struct jv text_of(struct text t)
{
    return jv_span(t.n ? t.s : "", t.n, false);
}

static enum st put(struct jx *x, struct jv dict, const char *key,
                   struct jv value)
{
    if (value.type == JV_UNDEF)
        return jx_full(x);
    return jv_set(x, dict, jv_lit(key), value);
}

static enum st put_text(struct jx *x, struct jv dict, const char *key,
                        struct text t)
{
    return t.n ? put(x, dict, key, text_of(t)) : ST_OK;
}

/* --- content ------------------------------------------------------------- */

static enum st add_part(struct jx *x, struct jv list, const char *type,
                        const struct text *text)
{
    struct jv part = jv_new_dict(x);
    enum st st = part.type == JV_UNDEF ? jx_full(x) : ST_OK;

    if (!st)
        st = put(x, part, "type", jv_lit(type));
    if (!st && text)
        st = put(x, part, "text", text_of(*text));
    return st ? st : jv_push(x, list, part);
}

static enum st part_list(struct jx *x, const struct chat_msg *m,
                         struct jv *out)
{
    enum st st = ST_OK;

    *out = jv_new_list(x);
    if (out->type == JV_UNDEF)
        return jx_full(x);
    if (!m->parts)
        return add_part(x, *out, "text", &m->content);
    for (size_t i = 0; i < m->n_parts && !st; i++)
        if (m->parts[i].type == PART_IMAGE)
            st = add_part(x, *out, "image", NULL);
        else
            st = add_part(x, *out, "text", &m->parts[i].text);
    return st;
}

static bool has_image(const struct chat_msg *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].type == PART_IMAGE)
            return true;
    return false;
}

static enum st content(struct jx *x, const struct jinja_data *d,
                       const struct chat_msg *m, struct jv *out)
{
    bool list = d->parts_only || has_image(m) ||
                (d->parts && m->parts && m->role == ROLE_USER);

    /* null, "" and nothing beside calls are one thing (case C04) */
    if (!m->content.n && m->n_calls && !has_image(m)) {
        *out = d->empty_text ? jv_lit("") : jv_none();
        return ST_OK;
    }
    if (list)
        return part_list(x, m, out);
    *out = text_of(m->content);
    return ST_OK;
}

/* --- calls --------------------------------------------------------------- */

static enum st args_as_text(struct jx *x, const struct chat_call *c,
                            struct jv *out)
{
    struct buf b;
    char *s;

    if (!c->args) {
        *out = jv_lit("{}");
        return ST_OK;
    }
    if (c->sent.n) {
        *out = text_of(c->sent);
        return ST_OK;
    }
    buf_init(&b, x->max_bytes);
    jsontext(&b, c->args, JT_SPACED);
    s = b.failed ? NULL : arena_dup(x->arena, b.p, b.n);
    *out = jv_span(s, s ? b.n : 0, false);
    buf_release(&b);
    return s ? ST_OK : jx_full(x);
}

static enum st arguments(struct jx *x, const struct jinja_data *d,
                         const struct chat_call *c, struct jv *out)
{
    if (c->raw.n) {
        *out = text_of(c->raw);
        return ST_OK;
    }
    if (d->args_text)
        return args_as_text(x, c, out);
    if (c->args)
        return jv_from_json(x, c->args, false, out);
    *out = jv_new_dict(x);
    return ST_OK;
}

static enum st add_call(struct jx *x, const struct jinja_data *d,
                        const struct chat_call *c, struct jv list)
{
    struct jv call = jv_new_dict(x), f = jv_new_dict(x), args;
    enum st st = call.type == JV_UNDEF || f.type == JV_UNDEF ? jx_full(x)
                                                             : ST_OK;

    if (!st)
        st = put_text(x, call, "id", c->id);
    if (!st)
        st = put(x, call, "type", jv_lit("function"));
    if (!st)
        st = put_text(x, f, "name", c->name);
    if (!st)
        st = arguments(x, d, c, &args);
    if (!st)
        st = put(x, f, "arguments", args);
    if (!st)
        st = put(x, call, "function", f);
    return st ? st : jv_push(x, list, call);
}

static enum st add_calls(struct jx *x, const struct jinja_data *d,
                         const struct chat_msg *m, struct jv dict)
{
    struct jv list;
    enum st st = ST_OK;

    if (!m->n_calls)
        return ST_OK;
    list = jv_new_list(x);
    if (list.type == JV_UNDEF)
        return jx_full(x);
    for (size_t i = 0; i < m->n_calls && !st; i++)
        st = add_call(x, d, &m->calls[i], list);
    return st ? st : put(x, dict, "tool_calls", list);
}

/* --- messages and the rest ----------------------------------------------- */

static enum st add_message(struct jx *x, const struct jinja_data *d,
                           const struct chat_msg *m, struct jv list)
{
    struct jv dict = jv_new_dict(x), body;
    /* OpenAI's clients send no name with a result; templates were written
     * for messages that have one */
    struct text name = m->name.n ? m->name : m->tool;
    enum st st = dict.type == JV_UNDEF ? jx_full(x) : ST_OK;

    if (!st)
        st = put(x, dict, "role", jv_lit(role_words[m->role]));
    if (!st)
        st = content(x, d, m, &body);
    if (!st)
        st = put(x, dict, "content", body);
    if (!st)
        st = put_text(x, dict, "name", name);
    if (!st)
        st = put_text(x, dict, d->think_key, m->reasoning);
    if (!st)
        st = add_calls(x, d, m, dict);
    if (!st)
        st = put_text(x, dict, "tool_call_id", m->call_id);
    return st ? st : jv_push(x, list, dict);
}

static enum st messages(struct jx *x, const struct jinja_data *d,
                        const struct jinja_ask *a, struct jv *out)
{
    enum st st = ST_OK;

    *out = jv_new_list(x);
    if (out->type == JV_UNDEF)
        return jx_full(x);
    for (size_t i = 0; i < a->n && !st; i++)
        st = add_message(x, d, &a->msgs[i], *out);
    return st;
}

static bool offered(const struct chat_req *r)
{
    return r->tools && r->tool_choice != TOOLS_NONE;
}

struct vars {
    struct jpair *p;
    size_t n;
};

static void var(struct vars *v, const char *name, struct jv value)
{
    v->p[v->n++] = (struct jpair){jv_lit(name), value};
}

/* Is it one of ours? `n_ours`: the caller's names are distinct, so only the
 * variables before them are looked through. */
static bool is_set(const struct vars *v, size_t n_ours, struct text name)
{
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (text_is(name, reserved[i]))
            return true;
    for (size_t i = 0; i < n_ours; i++)
        if (v->p[i].key.u.str.n == name.n &&
            !memcmp(v->p[i].key.u.str.s, name.s, name.n))
            return true;
    return false;
}

static enum st add_kwargs(struct jx *x, const struct chat_req *r,
                          struct vars *v)
{
    const struct json *c = r->kwargs ? r->kwargs->child : NULL;
    const size_t n_ours = v->n;

    for (; c; c = c->next) {
        struct jpair *p = &v->p[v->n];
        enum st st;

        if (is_set(v, n_ours, c->key))
            continue;
        p->key = text_of(c->key);
        st = jv_from_json(x, c, false, &p->value);
        if (st)
            return st;
        v->n++;
    }
    return ST_OK;
}

static enum st fill(struct jx *x, const struct jinja_data *d,
                    const struct jinja_ask *a, struct vars *v)
{
    const struct chat_req *r = a->r;
    struct jv list, tools = jv_none();
    enum st st = messages(x, d, a, &list);

    if (!st && offered(r))
        st = jv_from_json(x, r->tools, false, &tools);
    if (st)
        return st;
    var(v, "messages", list);
    var(v, "tools", tools); /* none when there are none, as upstream has it */
    var(v, "add_generation_prompt", jv_bool(!r->no_prompt, true));
    var(v, "bos_token", jv_span(d->bos.s, d->bos.n, true));
    var(v, "eos_token", jv_span(d->eos.s, d->eos.n, true));
    if (r->think != THINK_DEFAULT) {
        var(v, "enable_thinking", jv_bool(r->think == THINK_ON, true));
        if (!json_get(r->kwargs, "thinking"))
            var(v, "thinking", jv_bool(r->think == THINK_ON, true));
    }
    if (r->effort.n)
        var(v, "reasoning_effort", text_of(r->effort));
    if (!json_get(r->kwargs, "documents"))
        var(v, "documents", jv_none());
    return add_kwargs(x, r, v);
}

/* The variant for tools serves conversations about them, too. */
static const struct jinja *choose(const struct jinja_data *d,
                                  const struct jinja_ask *a)
{
    if (!d->tools)
        return d->plain;
    if (offered(a->r))
        return d->tools;
    for (size_t i = 0; i < a->n; i++)
        if (a->msgs[i].n_calls || a->msgs[i].role == ROLE_TOOL)
            return d->tools;
    return d->plain;
}

enum st jinja_write(const struct jinja_data *d, struct jinja_ask *a,
                    struct err *e)
{
    struct jx x = {
        .arena = a->arena, .e = e, .name = "messages",
        .steps_left = a->max_steps, .max_bytes = a->max_out,
    };
    struct jinja_run run = {
        .arena = a->arena, .now_s = epoch_ms() / 1000,
        .max_steps = a->max_steps, .max_out = a->max_out,
    };
    size_t n = VARS_FIXED + (a->r->kwargs ? a->r->kwargs->n : 0);
    struct vars v = {arena_array(a->arena, n, sizeof(struct jpair)), 0};
    enum st st = v.p ? fill(&x, d, a, &v) : jx_full(&x);

    a->raised = false;
    if (st)
        return st;
    run.vars = v.p;
    run.n_vars = v.n;
    st = jinja_render(choose(d, a), &run, e);
    a->out = run.out;
    a->raised = run.raised;
    return st;
}
