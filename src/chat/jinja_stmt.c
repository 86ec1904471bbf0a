#include "config.h"
#include "chat/jinja_run.h"

#include <string.h>

/* --- targets ------------------------------------------------------------- */

static enum st set_one(struct jev *v, const struct jtarget *t, struct jv value)
{
    struct jv ns;
    const struct jexpr name = {.kind = JE_NAME, .line = v->x.line,
                               .u.name = t->name};
    enum st st;

    if (!t->attr.n)
        return jscope_set(v, v->scope, t->name, value);
    st = jeval(v, &name, &ns);
    if (st)
        return st;
    if (ns.type != JV_DICT || !ns.u.dict->ns)
        return jx_fail(&v->x, "'%.*s' is no namespace, its attribute cannot "
                       "be set", (int)(t->name->s.n < 40 ? t->name->s.n : 40),
                       t->name->s.s);
    return jv_set(&v->x, ns, jv_span(t->attr.s, t->attr.n, true), value);
}

static enum st set_targets(struct jev *v, const struct jtarget *t, bool unpack,
                           const struct jv *value)
{
    struct jv items;
    size_t want = 0, i = 0;
    enum st st;

    if (!unpack)
        return set_one(v, t, *value);
    for (const struct jtarget *k = t; k; k = k->next)
        want++;
    if (value->type != JV_LIST && value->type != JV_STR &&
        value->type != JV_DICT)
        return jx_fail(&v->x, "a value of type %s cannot be unpacked into "
                       "%zu names", jv_type_word(value), want);
    st = jop_iterate(&v->x, value, &items);
    if (st)
        return st;
    if (items.u.list->n != want)
        return jx_fail(&v->x, "%zu values cannot be unpacked into %zu names",
                       items.u.list->n, want);
    for (; t && !st; t = t->next)
        st = set_one(v, t, items.u.list->p[i++]);
    return st;
}

/* --- for ----------------------------------------------------------------- */

static enum st put(struct jev *v, struct jv dict, const char *key,
                   struct jv value)
{
    return jv_set(&v->x, dict, jv_lit(key), value);
}

static enum st put_int(struct jev *v, struct jv dict, const char *key,
                       size_t i)
{
    return put(v, dict, key, jv_int((int64_t)i, true));
}

/* What the variable `loop` says in round i of n. */
static __attribute__((noinline)) enum st
tell_loop(struct jev *v, struct jv loop, const struct jlist *all, size_t i,
          size_t n)
{
    enum st st = jx_pay(&v->x, 2);

    st = st ? st : put_int(v, loop, "index", i + 1);
    st = st ? st : put_int(v, loop, "index0", i);
    st = st ? st : put_int(v, loop, "revindex", n - i);
    st = st ? st : put_int(v, loop, "revindex0", n - i - 1);
    st = st ? st : put_int(v, loop, "length", n);
    st = st ? st : put_int(v, loop, "depth", 1);
    st = st ? st : put_int(v, loop, "depth0", 0);
    st = st ? st : put(v, loop, "first", jv_bool(i == 0, true));
    st = st ? st : put(v, loop, "last", jv_bool(i + 1 == n, true));
    st = st ? st : put(v, loop, "previtem", i ? all->p[i - 1] : jv_undef());
    return st ? st : put(v, loop, "nextitem",
                         i + 1 < all->n ? all->p[i + 1] : jv_undef());
}

/* The items of *list for which `only` is true. */
static __attribute__((noinline)) enum st
only_some(struct jev *v, const struct jstmt *s, struct jv *list)
{
    struct jscope *scope = jscope_new(v, v->scope), *outer = v->scope;
    struct jv some = jv_new_list(&v->x), yes;
    enum st st = ST_OK;

    if (!scope || some.type != JV_LIST)
        return jx_full(&v->x);
    v->scope = scope;
    for (size_t i = 0; i < list->u.list->n && !st; i++) {
        scope->n = 0;
        st = set_targets(v, s->u.loop.targets, s->u.loop.unpack,
                         &list->u.list->p[i]);
        if (!st)
            st = jeval(v, s->u.loop.only, &yes);
        if (!st && jv_truthy(&yes))
            st = jv_push(&v->x, some, list->u.list->p[i]);
    }
    v->scope = outer;
    *list = some;
    return st;
}

/* All rounds, in the scope made for them. The list may grow or shrink while
 * we walk it (a template can append): not past its length at the start. */
static __attribute__((noinline)) enum st
rounds(struct jev *v, const struct jstmt *s, const struct jlist *all)
{
    struct jv loop = jv_undef();
    size_t n = all->n, *index = NULL;
    enum st st = ST_OK;

    if (s->u.loop.loop) {
        loop = jv_new_dict(&v->x);
        index = arena_alloc(v->x.arena, sizeof(*index));
        if (loop.type != JV_DICT || !index)
            return jx_full(&v->x);
        st = jloop_methods(v, loop, index);
    }
    for (size_t i = 0; i < n && i < all->n && !st; i++) {
        v->x.line = s->line;
        v->scope->n = 0;
        st = jx_pay(&v->x, 1);
        if (!st && index) {
            *index = i;
            st = tell_loop(v, loop, all, i, n);
            if (!st)
                st = jscope_set(v, v->scope, s->u.loop.loop, loop);
        }
        if (!st)
            st = set_targets(v, s->u.loop.targets, s->u.loop.unpack,
                             &all->p[i]);
        if (!st)
            st = jexec(v, s->u.loop.body);
        if (v->flow == JFLOW_BREAK)
            n = 0;
        v->flow = JFLOW_ON;
    }
    return st;
}

static __attribute__((noinline)) enum st exec_for(struct jev *v,
                                                  const struct jstmt *s)
{
    struct jscope *outer = v->scope, *scope;
    struct jv over, list;
    enum st st = jeval(v, s->u.loop.over, &over);

    v->x.line = s->line;
    if (!st)
        st = jop_iterate(&v->x, &over, &list);
    if (!st && s->u.loop.only)
        st = only_some(v, s, &list);
    if (st)
        return st;
    scope = jscope_new(v, outer);
    if (!scope)
        return jx_full(&v->x);
    v->scope = scope;
    st = list.u.list->n ? rounds(v, s, list.u.list)
                        : jexec(v, s->u.loop.none);
    v->scope = outer;
    return st;
}

/* --- what captures ------------------------------------------------------- */

enum st jexec_capture(struct jev *v, struct jscope *scope,
                      const struct jstmt *body, struct jv *out)
{
    struct jscope *outer = v->scope;
    struct jbuild *before = v->out, *b = arena_alloc(v->x.arena, sizeof(*b));
    enum st st;

    if (!b)
        return jx_full(&v->x);
    jbuild_init(b, &v->x);
    v->scope = scope;
    v->out = b;
    st = jexec(v, body);
    v->out = before;
    v->scope = outer;
    if (!st)
        *out = jbuild_done(b);
    return st;
}

/* {% set x %}, {% filter f %} */
static __attribute__((noinline)) enum st exec_capture(struct jev *v,
                                                      const struct jstmt *s)
{
    struct jscope *scope = jscope_new(v, v->scope);
    struct jv text;
    enum st st;

    if (!scope)
        return jx_full(&v->x);
    st = jexec_capture(v, scope, s->u.set.body, &text);
    v->x.line = s->line;
    if (!st)
        st = jeval_links(v, s->u.set.filters, NULL, &text);
    if (st)
        return st;
    return s->kind == JS_CAPTURE ? set_one(v, s->u.set.targets, text)
                                 : jv_print(&v->x, &text, v->out);
}

/* {% call %}: its body is the argument `caller` of what it calls. */
static __attribute__((noinline)) enum st exec_call(struct jev *v,
                                                   const struct jstmt *s)
{
    const struct jexpr *e = s->u.call.expr;
    struct jv caller, value;
    enum st st = jmacro_value(v, s->u.call.body, v->scope, &caller);

    if (!st)
        st = jeval(v, e->u.chain.first, &value);
    if (!st)
        st = jeval_links(v, e->u.chain.links, &caller, &value);
    return st ? st : jv_print(&v->x, &value, v->out);
}

/* --- the rest ------------------------------------------------------------ */

static __attribute__((noinline)) enum st exec_value(struct jev *v,
                                                    const struct jstmt *s)
{
    struct jv value;
    enum st st = jeval(v, s->kind == JS_SET ? s->u.set.value : s->u.expr,
                       &value);

    v->x.line = s->line;
    if (st || s->kind == JS_DO)
        return st;
    if (s->kind == JS_OUTPUT)
        return jv_print(&v->x, &value, v->out);
    return set_targets(v, s->u.set.targets, s->u.set.unpack, &value);
}

static __attribute__((noinline)) enum st exec_with(struct jev *v,
                                                   const struct jstmt *s)
{
    struct jscope *outer = v->scope, *scope = jscope_new(v, outer);
    struct jv value;
    enum st st = scope ? ST_OK : jx_full(&v->x);

    for (struct jparam *k = s->u.with.vars; k && !st; k = k->next) {
        st = jeval(v, k->fallback, &value);
        if (!st)
            st = jscope_set(v, scope, k->name, value);
    }
    if (st)
        return st;
    v->scope = scope;
    st = jexec(v, s->u.with.body);
    v->scope = outer;
    return st;
}

static __attribute__((noinline)) enum st exec_macro(struct jev *v,
                                                    const struct jstmt *s)
{
    struct jv fn;
    enum st st = jmacro_value(v, s->u.macro.macro, v->scope, &fn);

    return st ? st : jscope_set(v, v->scope, s->u.macro.name, fn);
}

/* The body of the branch taken, NULL when none is. */
static __attribute__((noinline)) enum st
choose(struct jev *v, const struct jstmt *s, const struct jstmt **body)
{
    struct jv yes;
    enum st st = ST_OK;

    *body = NULL;
    for (const struct jbranch *b = s->u.branches; b && !st; b = b->next) {
        if (b->test)
            st = jeval(v, b->test, &yes);
        if (!st && (!b->test || jv_truthy(&yes))) {
            *body = b->body;
            break;
        }
    }
    return st;
}

static enum st exec_one(struct jev *v, const struct jstmt *s)
{
    const struct jstmt *body;
    enum st st;

    switch (s->kind) {
    case JS_DATA:
        return jbuild_add(v->out, s->u.data.s, s->u.data.n, true);
    case JS_OUTPUT:
    case JS_SET:
    case JS_DO:
        return exec_value(v, s);
    case JS_IF:
        st = choose(v, s, &body);
        return st ? st : jexec(v, body);
    case JS_FOR:
        return exec_for(v, s);
    case JS_CAPTURE:
    case JS_FILTER:
        return exec_capture(v, s);
    case JS_MACRO:
        return exec_macro(v, s);
    case JS_CALL:
        return exec_call(v, s);
    case JS_WITH:
        return exec_with(v, s);
    case JS_BODY:
        return jexec(v, s->u.body);
    case JS_BREAK:
        v->flow = JFLOW_BREAK;
        return ST_OK;
    case JS_CONTINUE:
        v->flow = JFLOW_CONTINUE;
        return ST_OK;
    }
    return ST_OK;
}

enum st jexec(struct jev *v, const struct jstmt *body)
{
    enum st st = jx_enter(&v->x);

    if (st)
        return st;
    for (; body && !st && v->flow == JFLOW_ON; body = body->next) {
        v->x.line = body->line;
        st = jx_pay(&v->x, 1);
        if (!st)
            st = exec_one(v, body);
    }
    jx_leave(&v->x);
    return st;
}
