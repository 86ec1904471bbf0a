#include "config.h"
#include "chat/jinja_run.h"

#include <string.h>

/* --- variables ----------------------------------------------------------- */

struct jscope *jscope_new(struct jev *v, struct jscope *outer)
{
    struct jscope *s = arena_alloc(v->x.arena, sizeof(*s));

    if (s)
        s->outer = outer;
    return s;
}

enum st jscope_set(struct jev *v, struct jscope *s, const struct jname *name,
                   struct jv value)
{
    enum st st = jx_pay(&v->x, s->n / 16);

    if (st)
        return st;
    for (size_t i = 0; i < s->n; i++) {
        if (s->p[i].name == name) {
            s->p[i].v = value;
            return ST_OK;
        }
    }
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 4;
        struct jvar *p = arena_array(v->x.arena, cap, sizeof(*p));

        if (!p)
            return jx_full(&v->x);
        if (s->n)
            memcpy(p, s->p, s->n * sizeof(*p));
        s->p = p;
        s->cap = cap;
    }
    s->p[s->n++] = (struct jvar){name, value};
    return ST_OK;
}

static __attribute__((noinline)) enum st
lookup(struct jev *v, const struct jname *name, struct jv *out)
{
    enum st st;

    for (const struct jscope *s = v->scope; s; s = s->outer) {
        st = jx_pay(&v->x, s->n / 16);
        if (st)
            return st;
        for (size_t i = 0; i < s->n; i++) {
            if (s->p[i].name == name) {
                *out = s->p[i].v;
                return ST_OK;
            }
        }
    }
    return jlib_global(&v->x, name->s.s, name->s.n, out);
}

/* --- lists --------------------------------------------------------------- */

static __attribute__((noinline)) enum st
eval_list(struct jev *v, const struct jexpr *e, struct jv *out)
{
    struct jv list = jv_new_list(&v->x), item;
    enum st st = list.type == JV_LIST ? ST_OK : jx_full(&v->x);

    for (struct jitem *it = e->u.items; it && !st; it = it->next) {
        st = jeval(v, it->value, &item);
        if (!st)
            st = jv_push(&v->x, list, item);
    }
    if (!st)
        list.u.list->tuple = e->kind == JE_TUPLE;
    *out = list;
    return st;
}

static __attribute__((noinline)) enum st
eval_dict(struct jev *v, const struct jexpr *e, struct jv *out)
{
    struct jv dict = jv_new_dict(&v->x), key, item;
    enum st st = dict.type == JV_DICT ? ST_OK : jx_full(&v->x);

    for (struct jitem *it = e->u.items; it && !st; it = it->next) {
        st = jeval(v, it->key, &key);
        if (!st)
            st = jeval(v, it->value, &item);
        if (!st)
            st = jv_set(&v->x, dict, key, item);
    }
    *out = dict;
    return st;
}

static __attribute__((noinline)) enum st
eval_concat(struct jev *v, const struct jexpr *e, struct jv *out)
{
    struct jbuild b;
    struct jv item;
    enum st st = ST_OK;

    jbuild_init(&b, &v->x);
    for (struct jitem *it = e->u.items; it && !st; it = it->next) {
        st = jeval(v, it->value, &item);
        v->x.line = e->line;
        if (!st)
            st = jv_print(&v->x, &item, &b);
    }
    *out = st ? jv_undef() : jbuild_done(&b);
    return st;
}

/* `and`, `or`: the operand that decides, as in Python. */
static enum st eval_logic(struct jev *v, const struct jexpr *e, struct jv *out)
{
    enum st st = ST_OK;

    for (struct jitem *it = e->u.items; it && !st; it = it->next) {
        st = jeval(v, it->value, out);
        if (!st && jv_truthy(out) == (e->kind == JE_OR))
            break;
    }
    return st;
}

/* --- calls --------------------------------------------------------------- */

static enum st add_star(struct jev *v, struct jv list, const struct jv *from)
{
    struct jv items;
    enum st st = jop_iterate(&v->x, from, &items);

    for (size_t i = 0; !st && i < items.u.list->n; i++) {
        st = jx_pay(&v->x, 1);
        if (!st)
            st = jv_push(&v->x, list, items.u.list->p[i]);
    }
    return st;
}

static enum st add_starstar(struct jev *v, struct jv dict,
                            const struct jv *from)
{
    enum st st = ST_OK;

    if (from->type != JV_DICT)
        return jx_fail(&v->x, "** needs a dict, not a %s",
                       jv_type_word(from));
    for (size_t i = 0; !st && i < from->u.dict->n; i++) {
        const struct jpair *p = &from->u.dict->p[i];

        if (p->key.type != JV_STR)
            return jx_fail(&v->x, "** needs a dict with names as keys");
        st = jx_pay(&v->x, 1);
        if (!st)
            st = jv_set(&v->x, dict, p->key, p->value);
    }
    return st;
}

/* What a call in progress needs, in the arena: on the stack it would be there
 * once per nested call. */
struct work {
    struct jargs args;
    struct jv pos, kw, value;
};

static __attribute__((noinline)) enum st
add_arg(struct jev *v, const struct jarg *arg, struct work *w)
{
    switch (arg->kind) {
    case JARG_POS:
        return jv_push(&v->x, w->pos, w->value);
    case JARG_KW:
        return jv_set(&v->x, w->kw, jv_span(arg->name.s, arg->name.n, true),
                      w->value);
    case JARG_STAR:
        return add_star(v, w->pos, &w->value);
    case JARG_STARSTAR:
        return add_starstar(v, w->kw, &w->value);
    }
    return ST_OK;
}

static __attribute__((noinline)) enum st open_args(struct jev *v,
                                                   struct work *w)
{
    w->pos = jv_new_list(&v->x);
    w->kw = jv_new_dict(&v->x);
    if (w->pos.type != JV_LIST || w->kw.type != JV_DICT)
        return jx_full(&v->x);
    return ST_OK;
}

static __attribute__((noinline)) enum st
close_args(struct jev *v, struct work *w, const struct jv *caller)
{
    enum st st = ST_OK;

    if (caller)
        st = jv_set(&v->x, w->kw, jv_lit("caller"), *caller);
    w->args = (struct jargs){w->pos.u.list->p, w->pos.u.list->n,
                             w->kw.u.dict->p, w->kw.u.dict->n};
    return st;
}

static enum st eval_args(struct jev *v, const struct jarg *arg,
                         const struct jv *caller, struct work **out)
{
    struct work *w = arena_alloc(v->x.arena, sizeof(*w));
    enum st st;

    *out = w;
    if (!w)
        return jx_full(&v->x);
    if (!arg && !caller)
        return ST_OK;
    st = open_args(v, w);
    for (; arg && !st; arg = arg->next) {
        st = jeval(v, arg->value, &w->value);
        if (!st)
            st = add_arg(v, arg, w);
    }
    return st ? st : close_args(v, w, caller);
}

static enum st call(struct jev *v, const struct jlink *l,
                    const struct jargs *a, struct jv *io)
{
    int n = (int)(l->name.n < 40 ? l->name.n : 40);

    if (io->type == JV_FUNC)
        return io->u.fn->call(&v->x, io->u.fn, a, io);
    if (io->type == JV_UNDEF && n)
        return jx_fail(&v->x, "there is no '%.*s' to call", n, l->name.s);
    return jx_fail(&v->x, "a value of type %s cannot be called",
                   jv_type_word(io));
}

static __attribute__((noinline)) enum st
apply_named(struct jev *v, const struct jlink *l, const struct jargs *a,
            struct jv *io)
{
    struct jv in = *io;
    bool yes = false;
    enum st st;

    if (l->unknown)
        return jx_fail(&v->x, "no %s '%.*s'",
                       l->kind == JL_FILTER ? "filter" : "test",
                       (int)(l->name.n < 40 ? l->name.n : 40), l->name.s);
    if (l->kind == JL_FILTER)
        return jlib_filter(&v->x, l->name.s, l->name.n, &in, a, io);
    st = jlib_test(&v->x, l->name.s, l->name.n, &in, a, &yes);
    *io = jv_bool(yes == (l->kind == JL_TEST), in.markup);
    return st;
}

/* A call, a filter or a test: what takes arguments. */
static enum st link_args(struct jev *v, const struct jlink *l,
                         const struct jv *caller, struct jv *io)
{
    struct work *w;
    enum st st = eval_args(v, l->args, caller, &w);

    v->x.line = l->line;
    if (st)
        return st;
    return l->kind == JL_CALL ? call(v, l, &w->args, io)
                              : apply_named(v, l, &w->args, io);
}

/* --- links --------------------------------------------------------------- */

static __attribute__((noinline)) enum st
link_slice(struct jev *v, const struct jlink *l, struct jv *io)
{
    const struct jexpr *from[3] = {l->a, l->b, l->c};
    struct jv bound[3], in = *io;
    enum st st = ST_OK;

    for (int i = 0; i < 3 && !st; i++) {
        bound[i] = jv_undef();
        if (from[i])
            st = jeval(v, from[i], &bound[i]);
        if (!st && bound[i].type == JV_NONE)
            bound[i] = jv_undef();
    }
    v->x.line = l->line;
    return st ? st : jop_slice(&v->x, &in, &bound[0], &bound[1], &bound[2], io);
}

/* An operator, an attribute, a subscript. */
static __attribute__((noinline)) enum st
link_plain(struct jev *v, const struct jlink *l, struct jv *io)
{
    struct jv in = *io, right;
    enum st st = ST_OK;

    if (l->a)
        st = jeval(v, l->a, &right);
    v->x.line = l->line;
    if (st)
        return st;
    if (l->kind == JL_ATTR)
        return jop_attr(&v->x, &in, l->name.s, l->name.n, io);
    if (l->kind == JL_ITEM)
        return jop_item(&v->x, &in, &right, io);
    return jop_binary(&v->x, l->op, &in, &right, io);
}

enum st jeval_links(struct jev *v, const struct jlink *l,
                    const struct jv *caller, struct jv *io)
{
    enum st st = ST_OK;

    for (; l && !st; l = l->next) {
        v->x.line = l->line;
        st = jx_pay(&v->x, 1);
        if (st)
            break;
        switch (l->kind) {
        case JL_CALL:
        case JL_FILTER:
        case JL_TEST:
        case JL_TEST_NOT:
            st = link_args(v, l, l->next ? NULL : caller, io);
            break;
        case JL_SLICE:
            st = link_slice(v, l, io);
            break;
        case JL_BINARY:
        case JL_ATTR:
        case JL_ITEM:
            st = link_plain(v, l, io);
            break;
        }
    }
    return st;
}

/* a < b < c is a < b and b < c, b evaluated once. */
static __attribute__((noinline)) enum st
eval_compare(struct jev *v, const struct jexpr *e, struct jv *out)
{
    struct jv left, right;
    enum st st = jeval(v, e->u.chain.first, &left);

    for (struct jlink *l = e->u.chain.links; l && !st; l = l->next) {
        st = jeval(v, l->a, &right);
        v->x.line = l->line;
        if (!st)
            st = jop_binary(&v->x, l->op, &left, &right, out);
        if (!st && l->next && !jv_truthy(out))
            break;
        left = right;
    }
    return st;
}

static __attribute__((noinline)) enum st
eval_sign(struct jev *v, const struct jexpr *e, struct jv *io)
{
    struct jv in = *io;

    v->x.line = e->line;
    if (e->kind == JE_NEG)
        return jop_negate(&v->x, &in, io);
    if (e->kind == JE_NOT)
        *io = jv_bool(!jv_truthy(&in), in.markup);
    else if (in.type != JV_INT && in.type != JV_FLOAT)
        return jx_fail(&v->x, "unary + needs a number, not a %s",
                       jv_type_word(&in));
    return ST_OK;
}

static enum st eval_node(struct jev *v, const struct jexpr *e, struct jv *out)
{
    enum st st;

    switch (e->kind) {
    case JE_CONST:
        *out = e->u.value;
        return ST_OK;
    case JE_NAME:
        return lookup(v, e->u.name, out);
    case JE_LIST:
    case JE_TUPLE:
        return eval_list(v, e, out);
    case JE_DICT:
        return eval_dict(v, e, out);
    case JE_CONCAT:
        return eval_concat(v, e, out);
    case JE_AND:
    case JE_OR:
        return eval_logic(v, e, out);
    case JE_COMPARE:
        return eval_compare(v, e, out);
    case JE_CHAIN:
        st = jeval(v, e->u.chain.first, out);
        return st ? st : jeval_links(v, e->u.chain.links, NULL, out);
    case JE_NOT:
    case JE_NEG:
    case JE_POS:
        st = jeval(v, e->u.a, out);
        return st ? st : eval_sign(v, e, out);
    case JE_COND:
        break; /* jeval walks these */
    }
    return ST_OK;
}

enum st jeval(struct jev *v, const struct jexpr *e, struct jv *out)
{
    enum st st = jx_enter(&v->x);

    *out = jv_undef();
    if (st)
        return st;
    while (!st && e) { /* an else without end is no recursion */
        v->x.line = e->line;
        st = jx_pay(&v->x, 1);
        if (st)
            break;
        if (e->kind != JE_COND) {
            st = eval_node(v, e, out);
            break;
        }
        st = jeval(v, e->u.cond.test, out);
        e = !st && jv_truthy(out) ? e->u.cond.yes : e->u.cond.no;
        *out = jv_undef();
    }
    jx_leave(&v->x);
    return st;
}
