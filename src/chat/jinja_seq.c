/* Items, attributes, slices and what a loop walks. */
#include "chat/jinja_lib.h"

/* --- items ---------------------------------------------------------------- */

static enum st method(struct jx *x, const struct jv *a, const struct jv *key,
                      struct jv *out)
{
    return key->type == JV_STR
               ? jlib_method(x, a, key->u.str.s, key->u.str.n, out)
               : ST_OK;
}

static enum st char_item(struct jx *x, const struct jv *a, int64_t i,
                         struct jv *out)
{
    const char *s = a->u.str.s;
    size_t n = a->u.str.n, at;
    enum st st = jx_pay(x, n / 16);
    uint32_t cp;

    if (st)
        return st;
    if (i < 0)
        i += (int64_t)jchars(s, n);
    if (i < 0 || (uint64_t)i >= n)
        return ST_OK;
    at = jchar_at(s, n, (size_t)i);
    if (at < n)
        *out = jv_cut(a, at, jchar(s + at, n - at, &cp));
    return ST_OK;
}

static enum st dict_item(struct jx *x, const struct jv *a,
                         const struct jv *key, struct jv *out)
{
    struct jv *found;
    enum st st = jx_find(x, a->u.dict, key, &found);

    if (st)
        return st;
    if (found)
        *out = *found;
    else if (!a->u.dict->ns)
        st = method(x, a, key, out);
    return st;
}

enum st jop_item(struct jx *x, const struct jv *a, const struct jv *key,
                 struct jv *out)
{
    int64_t i;

    *out = jv_undef();
    if (a->type == JV_UNDEF)
        return jx_fail(x, "an item of something undefined");
    if (a->type == JV_DICT)
        return dict_item(x, a, key, out);
    if (a->type == JV_STR && jv_int_of(key, &i))
        return char_item(x, a, i, out);
    if (a->type == JV_LIST && jv_int_of(key, &i)) {
        size_t n = a->u.list->n;

        if (i < 0)
            i += (int64_t)n;
        if (i >= 0 && (uint64_t)i < n)
            *out = a->u.list->p[i];
        return ST_OK;
    }
    return method(x, a, key, out);
}

/* groupby yields pairs whose parts have names, in Jinja2. */
static bool pair_attr(const struct jv *a, const char *name, size_t n,
                      struct jv *out)
{
    const struct jlist *l = a->u.list;

    if (a->type != JV_LIST || !l->tuple || l->n != 2)
        return false;
    if (n == 7 && !memcmp(name, "grouper", 7))
        *out = l->p[0];
    else if (n == 4 && !memcmp(name, "list", 4))
        *out = l->p[1];
    else
        return false;
    return true;
}

enum st jop_attr(struct jx *x, const struct jv *a, const char *name, size_t n,
                 struct jv *out)
{
    struct jv key = jv_span(name, n, true);
    enum st st = ST_OK;

    *out = jv_undef();
    if (a->type == JV_UNDEF)
        return jx_fail(x, "attribute %.*s of something undefined",
                       n < 60 ? (int)n : 60, name);
    if (a->type != JV_DICT || !a->u.dict->ns) {
        if (pair_attr(a, name, n, out))
            return ST_OK;
        st = jlib_method(x, a, name, n, out);
    }
    if (!st && out->type == JV_UNDEF && a->type == JV_DICT)
        st = dict_item(x, a, &key, out);
    return st;
}

/* --- slices --------------------------------------------------------------- */

struct cut {
    int64_t from, step;
    size_t count;
};

static enum st bound(struct jx *x, const struct jv *v, int64_t *out,
                     bool *given)
{
    *given = v && v->type != JV_UNDEF && v->type != JV_NONE;
    if (*given && !jv_int_of(v, out))
        return jx_fail(x, "a slice bound of type %s: it must be an int",
                       jv_type_word(v));
    return ST_OK;
}

/* Into [low, high], counting negative ones from the end. */
static int64_t clamp(int64_t i, int64_t n, int64_t low, int64_t high)
{
    if (i < 0)
        i += n; /* n is a size: no overflow */
    return i < low ? low : i > high ? high : i;
}

/* slice.indices() of Python. */
static enum st cut_of(struct jx *x, size_t size, const struct jv *from,
                      const struct jv *to, const struct jv *step,
                      struct cut *c)
{
    int64_t n = (int64_t)size, a = 0, b = 0, s = 1, low, high;
    bool has_a, has_b, has_s;
    enum st st = bound(x, from, &a, &has_a);

    if (!st)
        st = bound(x, to, &b, &has_b);
    if (!st)
        st = bound(x, step, &s, &has_s);
    if (st)
        return st;
    if (!s)
        return jx_fail(x, "a slice with step 0");
    if (s < -n - 1)
        s = -n - 1; /* the same items, without overflow below */
    if (s > n + 1)
        s = n + 1;
    low = s < 0 ? -1 : 0;
    high = s < 0 ? n - 1 : n;
    a = has_a ? clamp(a, n, low, high) : s < 0 ? high : low;
    b = has_b ? clamp(b, n, low, high) : s < 0 ? low : high;
    c->from = a;
    c->step = s;
    c->count = 0;
    if (s > 0 && a < b)
        c->count = (size_t)((b - a - 1) / s + 1);
    if (s < 0 && a > b)
        c->count = (size_t)((a - b - 1) / -s + 1);
    return ST_OK;
}

static enum st pick_chars(struct jx *x, const struct jv *a, size_t n,
                          const struct cut *c, struct jv *out)
{
    size_t *at = arena_array(x->arena, n + 1, sizeof(*at));
    struct jbuild b;
    enum st st = jx_pay(x, n + c->count);
    uint32_t cp;

    if (!at)
        return jx_full(x);
    for (size_t i = 0; i < n; i++)
        at[i + 1] = at[i] + jchar(a->u.str.s + at[i], a->u.str.n - at[i],
                                  &cp);
    jbuild_init(&b, x);
    for (size_t k = 0; k < c->count && !st; k++) {
        size_t i = (size_t)(c->from + (int64_t)k * c->step);

        st = jbuild_part(&b, a, at[i], at[i + 1] - at[i]);
    }
    *out = jbuild_done(&b);
    return st;
}

static enum st slice_str(struct jx *x, const struct jv *a,
                         const struct jv *from, const struct jv *to,
                         const struct jv *step, struct jv *out)
{
    const char *s = a->u.str.s;
    size_t n = a->u.str.n, chars, at, len;
    struct cut c;
    enum st st = jx_pay(x, 1 + n / 16);

    if (st)
        return st;
    chars = jchars(s, n);
    st = cut_of(x, chars, from, to, step, &c);
    if (st)
        return st;
    if (c.step != 1 && c.count)
        return pick_chars(x, a, chars, &c, out);
    at = c.count ? jchar_at(s, n, (size_t)c.from) : 0;
    len = jchar_at(s + at, n - at, c.count);
    *out = jv_cut(a, at, len);
    return ST_OK;
}

enum st jop_slice(struct jx *x, const struct jv *a, const struct jv *from,
                  const struct jv *to, const struct jv *step, struct jv *out)
{
    struct cut c;
    enum st st;

    *out = jv_undef();
    if (a->type == JV_STR)
        return slice_str(x, a, from, to, step, out);
    if (a->type != JV_LIST)
        return jx_fail(x, "a slice of %s: accepted are string and list",
                       jv_type_word(a));
    st = cut_of(x, a->u.list->n, from, to, step, &c);
    if (!st)
        st = jx_list(x, a, out);
    if (st)
        return st;
    out->u.list->tuple = a->u.list->tuple;
    for (size_t k = 0; k < c.count && !st; k++)
        st = jv_push(x, *out, a->u.list->p[c.from + (int64_t)k * c.step]);
    return st;
}

/* --- loops ---------------------------------------------------------------- */

static enum st chars_of(struct jx *x, const struct jv *a, struct jv list)
{
    const char *s = a->u.str.s;
    size_t n = a->u.str.n;
    enum st st = ST_OK;
    uint32_t cp;

    for (size_t at = 0; at < n && !st;) {
        size_t len = jchar(s + at, n - at, &cp);

        st = jv_push(x, list, jv_cut(a, at, len));
        at += len;
    }
    return st;
}

enum st jop_iterate(struct jx *x, const struct jv *a, struct jv *list)
{
    enum st st;

    *list = *a;
    if (a->type == JV_LIST)
        return ST_OK;
    st = jx_list(x, a, list);
    if (st)
        return st;
    switch (a->type) {
    case JV_UNDEF:
        return ST_OK;
    case JV_STR:
        return chars_of(x, a, *list);
    case JV_DICT:
        for (size_t i = 0; i < a->u.dict->n && !st; i++)
            st = jv_push(x, *list, a->u.dict->p[i].key);
        return st;
    default:
        return jx_fail(x, "%s cannot be walked: accepted are list, dict and "
                          "string",
                       jv_type_word(a));
    }
}
