/* Filters on lists that keep their order. */
#include "chat/jinja_lib.h"

static enum st f_ends(const struct jin *in, struct jv *out)
{
    bool first = in->name[0] == 'f';
    struct jv items, at = jv_int(first ? 0 : -1, true);
    enum st st;

    if (in->v->type == JV_STR || in->v->type == JV_LIST)
        return jop_item(in->x, in->v, &at, out);
    st = jop_iterate(in->x, in->v, &items);
    return st ? st : jop_item(in->x, &items, &at, out);
}

static enum st f_reverse(const struct jin *in, struct jv *out)
{
    struct jv items, open = jv_undef(), step = jv_int(-1, true);
    enum st st;

    if (in->v->type == JV_STR)
        return jop_slice(in->x, in->v, &open, &open, &step, out);
    st = jop_iterate(in->x, in->v, &items);
    if (!st)
        st = jop_slice(in->x, &items, &open, &open, &step, out);
    if (!st)
        out->u.list->tuple = false;
    return st;
}

static enum st join(struct jx *x, const struct jv *v, const struct jv *sep,
                    const struct jv *path, struct jv *out)
{
    struct jbuild b;
    struct jv items, item;
    enum st st = jop_iterate(x, v, &items);

    jbuild_init(&b, x);
    for (size_t i = 0; !st && i < items.u.list->n; i++) {
        item = items.u.list->p[i];
        st = jx_pay(x, 1);
        if (!st && i && sep)
            st = jbuild_str(&b, sep);
        if (!st && path)
            st = jx_path(x, &items.u.list->p[i], path, &item);
        if (!st)
            st = jv_print(x, &item, &b);
    }
    *out = jbuild_done(&b);
    return st;
}

static enum st f_join(const struct jin *in, struct jv *out)
{
    struct jv sep = jv_lit("");
    const struct jv *path = in->arg[1];
    enum st st = ST_OK;

    if (in->arg[0])
        st = jv_text(in->x, in->arg[0], &sep);
    if (path && path->type == JV_NONE)
        path = NULL;
    return st ? st : join(in->x, in->v, &sep, path, out);
}

enum st jf_join(const struct jin *in, struct jv *out)
{
    return join(in->x, in->arg[0], in->v, NULL, out);
}

static enum st f_sum(const struct jin *in, struct jv *out)
{
    const struct jv *path = in->arg[0];
    struct jv items, sum = in->arg[1] ? *in->arg[1] : jv_int(0, true);
    enum st st = jop_iterate(in->x, in->v, &items);

    if (path && path->type == JV_NONE)
        path = NULL;
    for (size_t i = 0; !st && i < items.u.list->n; i++) {
        struct jv item = items.u.list->p[i], so_far = sum;

        st = jx_pay(in->x, 1);
        if (!st && path)
            st = jx_path(in->x, &items.u.list->p[i], path, &item);
        if (!st)
            st = jop_binary(in->x, JOP_ADD, &so_far, &item, &sum);
    }
    *out = sum;
    return st;
}

/* --- in groups ------------------------------------------------------------ */

static enum st f_batch(const struct jin *in, struct jv *out)
{
    const struct jv *fill = in->arg[1];
    struct jv items, row = jv_undef();
    int64_t size = 0;
    enum st st = jin_int(in, 0, &size);

    if (!st && size < 1)
        return jx_fail(in->x, "batch: linecount must be at least 1");
    if (!st)
        st = jop_iterate(in->x, in->v, &items);
    if (!st)
        st = jx_list(in->x, in->v, out);
    for (size_t i = 0; !st && i < items.u.list->n; i++) {
        if (i % (uint64_t)size == 0) {
            st = jx_list(in->x, in->v, &row);
            if (!st)
                st = jv_push(in->x, *out, row);
        }
        if (!st)
            st = jv_push(in->x, row, items.u.list->p[i]);
    }
    if (!fill || fill->type == JV_NONE || row.type != JV_LIST)
        return st;
    while (!st && row.u.list->n < (uint64_t)size)
        st = jv_push(in->x, row, *fill);
    return st;
}

static enum st f_slice(const struct jin *in, struct jv *out)
{
    const struct jv *fill = in->arg[1];
    struct jv items, row;
    int64_t count = 0;
    size_t n, at = 0;
    enum st st = jin_int(in, 0, &count);

    if (!st && count < 1)
        return jx_fail(in->x, "slice: slices must be at least 1");
    if (!st)
        st = jop_iterate(in->x, in->v, &items);
    if (!st)
        st = jx_list(in->x, in->v, out);
    n = st ? 0 : items.u.list->n;
    for (uint64_t i = 0; !st && i < (uint64_t)count; i++) {
        size_t take = n / (uint64_t)count + (i < n % (uint64_t)count);
        bool short_one = i >= n % (uint64_t)count;

        st = jx_list(in->x, in->v, &row);
        for (size_t k = 0; !st && k < take; k++)
            st = jv_push(in->x, row, items.u.list->p[at++]);
        if (!st && fill && fill->type != JV_NONE && short_one)
            st = jv_push(in->x, row, *fill);
        if (!st)
            st = jv_push(in->x, *out, row);
    }
    return st;
}

/* --- by filter and by test ------------------------------------------------ */

static enum st map_one(const struct jin *in, const struct jv *item,
                       struct jv *out)
{
    const struct jv *path = jargs_named(in->all, "attribute", 9);
    const struct jv *other = jargs_named(in->all, "default", 7);
    const struct jv *name = in->all->pos;
    struct jargs rest = *in->all;
    enum st st;

    if (path) {
        st = jx_path(in->x, item, path, out);
        if (!st && out->type == JV_UNDEF && other)
            *out = *other;
        return st;
    }
    rest.pos++;
    rest.n--;
    return jlib_filter(in->x, name->u.str.s, name->u.str.n, item, &rest, out);
}

/* As Jinja2's map and select: a false value, none too, is an empty list. */
static enum st walk(const struct jin *in, struct jv *items)
{
    struct jv nothing = jv_undef();

    return jop_iterate(in->x, jv_truthy(in->v) ? in->v : &nothing, items);
}

static enum st f_map(const struct jin *in, struct jv *out)
{
    const struct jargs *a = in->all;
    struct jv items, to;
    enum st st;

    if (jargs_named(a, "attribute", 9) ? a->n != 0
                                       : !a->n || a->pos[0].type != JV_STR)
        return jx_fail(in->x, "map: takes the name of a filter, or "
                              "attribute=");
    st = walk(in, &items);
    if (!st)
        st = jx_list(in->x, in->v, out);
    for (size_t i = 0; !st && i < items.u.list->n; i++) {
        st = map_one(in, &items.u.list->p[i], &to);
        if (!st)
            st = jv_push(in->x, *out, to);
    }
    return st;
}

enum pick { PICK_KEEP = 0, PICK_DROP = 1, PICK_ATTR = 2 };

static enum st passes(const struct jin *in, unsigned how,
                      const struct jv *item, bool *yes)
{
    struct jargs rest = *in->all;
    struct jv what = *item;
    enum st st = jx_pay(in->x, 1);

    if (!st && (how & PICK_ATTR)) {
        st = jx_path(in->x, item, &rest.pos[0], &what);
        rest.pos++;
        rest.n--;
    }
    *yes = false;
    if (st)
        return st;
    if (!rest.n) {
        *yes = jv_truthy(&what);
    } else {
        struct jv name = rest.pos[0];

        if (name.type != JV_STR)
            return jx_fail(in->x, "%s: the name of a test is a string",
                           in->name);
        rest.pos++;
        rest.n--;
        st = jlib_test(in->x, name.u.str.s, name.u.str.n, &what, &rest, yes);
    }
    *yes = *yes == !(how & PICK_DROP);
    return st;
}

static enum st pick(const struct jin *in, unsigned how, struct jv *out)
{
    struct jv items;
    bool yes = false;
    enum st st;

    if ((how & PICK_ATTR) && !in->all->n)
        return jx_fail(in->x, "%s: the attribute is missing", in->name);
    st = walk(in, &items);
    if (!st)
        st = jx_list(in->x, in->v, out);
    for (size_t i = 0; !st && i < items.u.list->n; i++) {
        st = passes(in, how, &items.u.list->p[i], &yes);
        if (!st && yes)
            st = jv_push(in->x, *out, items.u.list->p[i]);
    }
    return st;
}

static enum st f_select(const struct jin *in, struct jv *out)
{
    return pick(in, PICK_KEEP, out);
}

static enum st f_reject(const struct jin *in, struct jv *out)
{
    return pick(in, PICK_DROP, out);
}

static enum st f_selectattr(const struct jin *in, struct jv *out)
{
    return pick(in, PICK_KEEP | PICK_ATTR, out);
}

static enum st f_rejectattr(const struct jin *in, struct jv *out)
{
    return pick(in, PICK_DROP | PICK_ATTR, out);
}

const struct jentry jfilter_list[] = {
    {"batch", "!linecount fill_with", f_batch},
    {"first", "", f_ends},
    {"join", "d attribute", f_join},
    {"last", "", f_ends},
    {"map", "*", f_map},
    {"reject", "*", f_reject},
    {"rejectattr", "*", f_rejectattr},
    {"reverse", "", f_reverse},
    {"select", "*", f_select},
    {"selectattr", "*", f_selectattr},
    {"slice", "!slices fill_with", f_slice},
    {"sum", "attribute start", f_sum},
    {NULL, NULL, NULL},
};
