/* Filters that compare: sort, dictsort, groupby, unique, min, max. */
#include "chat/jinja_lib.h"

/* An item beside what it is compared by. */
struct keyed {
    struct jv item, key;
};

/* How keys are made. */
struct by {
    const struct jv *path; /* NULL: the item itself; may be "a,b" */
    const struct jv *other;/* for an undefined key; NULL: none */
    bool case_sensitive;
};

static enum st fold(struct jx *x, const struct by *by, struct jv *key)
{
    struct jv s = *key;

    if (key->type == JV_STR && !by->case_sensitive)
        return jcase_map(x, &s, JCASE_LOWER, key);
    return ST_OK;
}

static enum st one_key(struct jx *x, const struct by *by,
                       const struct jv *item, const struct jv *path,
                       struct jv *key)
{
    enum st st = path ? jx_path(x, item, path, key) : ST_OK;

    if (!path)
        *key = *item;
    if (!st && key->type == JV_UNDEF && by->other)
        *key = *by->other;
    return st ? st : fold(x, by, key);
}

/* "a,b": a list of the keys. */
static enum st many_keys(struct jx *x, const struct by *by,
                         const struct jv *item, struct jv *key)
{
    const struct jv *p = by->path;
    size_t at = 0, n = p->u.str.n;
    enum st st = jx_list(x, item, key);

    while (!st && at <= n) {
        const char *s = p->u.str.s + at;
        const char *comma = n > at ? memchr(s, ',', n - at) : NULL;
        size_t len = comma ? (size_t)(comma - s) : n - at;
        struct jv path = jv_cut(p, at, len), one;

        st = one_key(x, by, item, &path, &one);
        if (!st)
            st = jv_push(x, *key, one);
        at += len + 1;
    }
    return st;
}

static enum st key_of(struct jx *x, const struct by *by,
                      const struct jv *item, struct jv *key)
{
    const struct jv *p = by->path;

    if (p && p->type == JV_STR && p->u.str.n &&
        memchr(p->u.str.s, ',', p->u.str.n))
        return many_keys(x, by, item, key);
    return one_key(x, by, item, p, key);
}

static enum st keyed_of(struct jx *x, const struct jv *v, const struct by *by,
                        struct keyed **out, size_t *n)
{
    size_t path_bytes = by->path && by->path->type == JV_STR
                            ? by->path->u.str.n
                            : 0;
    struct jv items;
    enum st st = jop_iterate(x, v, &items);

    *out = NULL;
    *n = 0;
    if (st)
        return st;
    *out = arena_array(x->arena, items.u.list->n + 1, sizeof(**out));
    if (!*out)
        return jx_full(x);
    for (; !st && *n < items.u.list->n; ++*n) {
        struct keyed *k = &(*out)[*n];

        k->item = items.u.list->p[*n];
        st = jx_pay(x, 1 + path_bytes / 16);
        if (!st)
            st = key_of(x, by, &k->item, &k->key);
    }
    return st;
}

/* Nothing beside nothing is in order, as in the key lists of Jinja2. */
static enum st key_order(struct jx *x, const struct jv *a, const struct jv *b,
                         int *order)
{
    *order = 0;
    if (a->type == b->type && (a->type == JV_UNDEF || a->type == JV_NONE))
        return ST_OK;
    return jx_compare(x, a, b, order);
}

/* Merge from[a..mid) and from[mid..end) to `to`. */
static enum st merge(struct jx *x, const struct keyed *from, size_t a,
                     size_t mid, size_t end, int sign, struct keyed *to)
{
    size_t i = a, j = mid;
    enum st st = ST_OK;

    for (size_t k = a; k < end && !st; k++) {
        int order = -1;

        st = jx_pay(x, 1);
        if (!st && i < mid && j < end) {
            st = key_order(x, &from[i].key, &from[j].key, &order);
            order = order > 0 ? sign : order < 0 ? -sign : 0;
        } else if (i == mid) {
            order = 1;
        }
        to[k] = order <= 0 ? from[i++] : from[j++];
    }
    return st;
}

/* Stable, bottom up: no recursion, and an error ends it. */
static enum st sort(struct jx *x, struct keyed **p, size_t n, bool reverse)
{
    struct keyed *a = *p, *b, *swap;
    enum st st = ST_OK;

    if (n < 2)
        return ST_OK;
    b = arena_array(x->arena, n, sizeof(*b));
    if (!b)
        return jx_full(x);
    for (size_t run = 1; run < n && !st; run *= 2) {
        for (size_t at = 0; at < n && !st; at += 2 * run) {
            size_t mid = n - at > run ? at + run : n;
            size_t end = n - at > 2 * run ? at + 2 * run : n;

            st = merge(x, a, at, mid, end, reverse ? -1 : 1, b);
        }
        swap = a;
        a = b;
        b = swap;
    }
    *p = a;
    return st;
}

static const struct jv *not_none(const struct jv *v)
{
    return v && v->type == JV_NONE ? NULL : v;
}

static enum st items_of(struct jx *x, const struct jv *like,
                        const struct keyed *k, size_t n, struct jv *out)
{
    enum st st = jx_list(x, like, out);

    for (size_t i = 0; i < n && !st; i++)
        st = jv_push(x, *out, k[i].item);
    return st;
}

static enum st f_sort(const struct jin *in, struct jv *out)
{
    struct by by = {.path = not_none(in->arg[2])};
    struct keyed *k;
    bool reverse = false;
    size_t n;
    enum st st;

    jin_bool(in, 0, &reverse);
    jin_bool(in, 1, &by.case_sensitive);
    st = keyed_of(in->x, in->v, &by, &k, &n);
    if (!st)
        st = sort(in->x, &k, n, reverse);
    return st ? st : items_of(in->x, in->v, k, n, out);
}

static enum st f_dictsort(const struct jin *in, struct jv *out)
{
    struct jv items, at = jv_int(0, true), what = jv_lit("key");
    struct by by = {.path = &at};
    struct keyed *k;
    bool reverse = false;
    size_t n;
    enum st st = jin_str(in, 1, &what);

    if (st)
        return st;
    if (in->v->type != JV_DICT)
        return jx_fail(in->x, "dictsort of %s: it takes a dict",
                       jv_type_word(in->v));
    if (!jv_is(&what, "key") && !jv_is(&what, "value"))
        return jx_fail(in->x, "dictsort: by is key or value");
    jin_bool(in, 0, &by.case_sensitive);
    jin_bool(in, 2, &reverse);
    if (jv_is(&what, "value"))
        at = jv_int(1, true);
    st = jx_items(in->x, in->v, &items);
    if (!st)
        st = keyed_of(in->x, &items, &by, &k, &n);
    if (!st)
        st = sort(in->x, &k, n, reverse);
    return st ? st : items_of(in->x, in->v, k, n, out);
}

/* The first item of a group, in its own case, stands for the group. */
static enum st group_name(struct jx *x, const struct by *by,
                          const struct jv *item, struct jv *name)
{
    struct by plain = *by;

    plain.case_sensitive = true;
    return key_of(x, &plain, item, name);
}

static enum st f_groupby(const struct jin *in, struct jv *out)
{
    struct by by = {.path = in->arg[0], .other = in->arg[1]};
    struct jv group = jv_undef(), name, pair;
    struct keyed *k;
    size_t n;
    enum st st;

    jin_bool(in, 2, &by.case_sensitive);
    st = keyed_of(in->x, in->v, &by, &k, &n);
    if (!st)
        st = sort(in->x, &k, n, false);
    if (!st)
        st = jx_list(in->x, in->v, out);
    for (size_t i = 0; i < n && !st; i++) {
        bool same = false;

        if (i)
            st = jx_equal(in->x, &k[i - 1].key, &k[i].key, &same);
        if (!st && !same) {
            st = group_name(in->x, &by, &k[i].item, &name);
            if (!st)
                st = jx_list(in->x, in->v, &group);
            if (!st)
                st = jx_pair(in->x, in->v, &name, &group, &pair);
            if (!st)
                st = jv_push(in->x, *out, pair);
        }
        if (!st)
            st = jv_push(in->x, group, k[i].item);
    }
    return st;
}

static enum st f_unique(const struct jin *in, struct jv *out)
{
    struct by by = {.path = not_none(in->arg[1])};
    struct keyed *k;
    size_t n, kept = 0;
    enum st st;

    jin_bool(in, 0, &by.case_sensitive);
    st = keyed_of(in->x, in->v, &by, &k, &n);
    for (size_t i = 0; i < n && !st; i++) {
        bool seen = false;

        for (size_t j = 0; j < kept && !seen && !st; j++)
            st = jx_equal(in->x, &k[j].key, &k[i].key, &seen);
        if (!seen)
            k[kept++] = k[i];
    }
    return st ? st : items_of(in->x, in->v, k, kept, out);
}

static enum st f_extreme(const struct jin *in, struct jv *out)
{
    int sign = in->name[1] == 'a' ? 1 : -1, order = 0;
    struct by by = {.path = not_none(in->arg[1])};
    struct keyed *k;
    size_t n, best = 0;
    enum st st;

    jin_bool(in, 0, &by.case_sensitive);
    st = keyed_of(in->x, in->v, &by, &k, &n);
    for (size_t i = 1; i < n && !st; i++) {
        st = jx_compare(in->x, &k[i].key, &k[best].key, &order);
        if ((sign > 0 && order > 0) || (sign < 0 && order < 0))
            best = i;
    }
    if (!st && n)
        *out = k[best].item;
    return st;
}

const struct jentry jfilter_sort[] = {
    {"dictsort", "case_sensitive by reverse", f_dictsort},
    {"groupby", "!attribute default case_sensitive", f_groupby},
    {"max", "case_sensitive attribute", f_extreme},
    {"min", "case_sensitive attribute", f_extreme},
    {"sort", "reverse case_sensitive attribute", f_sort},
    {"unique", "case_sensitive attribute", f_unique},
    {NULL, NULL, NULL},
};
