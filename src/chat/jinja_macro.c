#include "config.h"
#include "chat/jinja_run.h"

#include <string.h>

struct closure {
    const struct jmacro *macro;
    struct jscope *scope;
};

static struct jev *ev_of(struct jx *x)
{
    return (struct jev *)x; /* a jev begins with it */
}

static int name_n(const struct jmacro *m)
{
    return (int)(m->name.n < 40 ? m->name.n : 40);
}

static const char *name_s(const struct jmacro *m)
{
    return m->name.n ? m->name.s : "";
}

static bool key_is(const struct jpair *p, const struct jname *name)
{
    return p->key.type == JV_STR && p->key.u.str.n == name->s.n &&
           memcmp(p->key.u.str.s, name->s.s, name->s.n) == 0;
}

static const struct jv *keyword(const struct jargs *a,
                                const struct jname *name, size_t *used)
{
    const struct jv *given = jargs_named(a, name->s.s, name->s.n);

    *used += given != NULL;
    return given;
}

static enum st bind_params(struct jev *v, const struct jmacro *m,
                           const struct jargs *a, size_t *used)
{
    struct jv value;
    size_t i = 0;
    enum st st = ST_OK;

    for (struct jparam *k = m->params; k && !st; k = k->next, i++) {
        const struct jv *given = keyword(a, k->name, used);

        if (given && i < a->n)
            return jx_fail(&v->x, "the argument '%.*s' is given twice",
                           (int)(k->name->s.n < 40 ? k->name->s.n : 40),
                           k->name->s.s);
        value = jv_undef();
        if (i < a->n)
            value = a->pos[i];
        else if (given)
            value = *given;
        else if (k->fallback)
            st = jeval(v, k->fallback, &value);
        if (!st)
            st = jscope_set(v, v->scope, k->name, value);
    }
    return st;
}

/* The rest of the positional arguments. */
static __attribute__((noinline)) enum st
bind_varargs(struct jev *v, const struct jmacro *m, const struct jargs *a)
{
    struct jv list;
    enum st st = ST_OK;

    if (!m->varargs && a->n > m->n_params)
        return jx_fail(&v->x, "macro '%.*s' takes %zu arguments, not %zu",
                       name_n(m), name_s(m), m->n_params, a->n);
    if (!m->varargs)
        return ST_OK;
    list = jv_new_list(&v->x);
    if (list.type != JV_LIST)
        return jx_full(&v->x);
    list.u.list->tuple = true;
    for (size_t i = m->n_params; i < a->n && !st; i++)
        st = jv_push(&v->x, list, a->pos[i]);
    return st ? st : jscope_set(v, v->scope, m->varargs, list);
}

static bool is_param(const struct jmacro *m, const struct jpair *p)
{
    const struct jparam *k = m->params;

    while (k && !key_is(p, k->name))
        k = k->next;
    return k || (m->caller && key_is(p, m->caller));
}

/* The keyword arguments that are no parameters. */
static __attribute__((noinline)) enum st
bind_kwargs(struct jev *v, const struct jmacro *m, const struct jargs *a,
            size_t used)
{
    struct jv dict;
    enum st st = ST_OK;

    if (!m->kwargs && used < a->n_kw)
        return jx_fail(&v->x, "macro '%.*s' got an argument by a name that "
                       "it does not have", name_n(m), name_s(m));
    if (!m->kwargs)
        return ST_OK;
    dict = jv_new_dict(&v->x);
    if (dict.type != JV_DICT)
        return jx_full(&v->x);
    for (size_t i = 0; i < a->n_kw && !st; i++)
        if (!is_param(m, &a->kw[i]))
            st = jv_set(&v->x, dict, a->kw[i].key, a->kw[i].value);
    return st ? st : jscope_set(v, v->scope, m->kwargs, dict);
}

static __attribute__((noinline)) enum st
bind(struct jev *v, const struct jmacro *m, const struct jargs *a)
{
    const struct jv *caller;
    size_t used = 0;
    enum st st = jx_pay(&v->x, 1 + (m->n_params * a->n_kw) / 16);

    if (!st)
        st = bind_params(v, m, a, &used);
    if (!st && m->caller) {
        caller = keyword(a, m->caller, &used);
        st = jscope_set(v, v->scope, m->caller,
                        caller ? *caller : jv_undef());
    }
    if (!st)
        st = bind_varargs(v, m, a);
    return st ? st : bind_kwargs(v, m, a, used);
}

static enum st macro_call(struct jx *x, const struct jfunc *f,
                          const struct jargs *a, struct jv *out)
{
    struct jev *v = ev_of(x);
    const struct closure *c = f->data;
    struct jscope *scope = jscope_new(v, c->scope), *outer = v->scope;
    int line = x->line;
    enum st st = scope ? jx_enter(x) : jx_full(x);

    if (st)
        return st;
    v->scope = scope;
    st = bind(v, c->macro, a);
    v->scope = outer;
    if (!st)
        st = jexec_capture(v, scope, c->macro->body, out);
    jx_leave(x);
    if (!st)
        x->line = line; /* an error keeps the line it happened on */
    return st;
}

enum st jmacro_value(struct jev *v, const struct jmacro *m,
                     struct jscope *scope, struct jv *out)
{
    struct closure *c = arena_alloc(v->x.arena, sizeof(*c));
    struct jfunc *f = arena_alloc(v->x.arena, sizeof(*f));

    if (!c || !f)
        return jx_full(&v->x);
    *c = (struct closure){m, scope};
    *f = (struct jfunc){.name = "macro", .call = macro_call, .data = c};
    *out = jv_undef();
    out->type = JV_FUNC;
    out->u.fn = f;
    return ST_OK;
}

/* --- loop ---------------------------------------------------------------- */

struct loop {
    const size_t *index; /* of this round */
    struct jv last;      /* arguments of the last loop.changed, or undefined */
};

static enum st loop_cycle(struct jx *x, const struct jfunc *f,
                          const struct jargs *a, struct jv *out)
{
    const struct loop *l = f->data;

    if (!a->n)
        return jx_fail(x, "loop.cycle needs at least one argument");
    *out = a->pos[*l->index % a->n];
    return ST_OK;
}

static enum st loop_changed(struct jx *x, const struct jfunc *f,
                            const struct jargs *a, struct jv *out)
{
    struct loop *l = f->data;
    struct jv now = jv_new_list(x), same = jv_bool(false, true);
    enum st st = now.type == JV_LIST ? ST_OK : jx_full(x);

    for (size_t i = 0; i < a->n && !st; i++)
        st = jv_push(x, now, a->pos[i]);
    if (!st && l->last.type == JV_LIST)
        st = jop_binary(x, JOP_EQ, &l->last, &now, &same);
    l->last = now;
    *out = jv_bool(!jv_truthy(&same), true);
    return st;
}

enum st jloop_methods(struct jev *v, struct jv loop, const size_t *index)
{
    struct jfunc *f = arena_array(v->x.arena, 2, sizeof(*f));
    struct loop *l = arena_alloc(v->x.arena, sizeof(*l));
    struct jv fn = jv_undef();
    enum st st;

    if (!f || !l)
        return jx_full(&v->x);
    *l = (struct loop){index, jv_undef()};
    f[0] = (struct jfunc){.name = "cycle", .call = loop_cycle, .data = l};
    f[1] = (struct jfunc){.name = "changed", .call = loop_changed, .data = l};
    fn.type = JV_FUNC;
    fn.u.fn = &f[0];
    st = jv_set(&v->x, loop, jv_lit("cycle"), fn);
    fn.u.fn = &f[1];
    return st ? st : jv_set(&v->x, loop, jv_lit("changed"), fn);
}
