#include "config.h"
#include "gram/schema_way.h"

#include <math.h>
#include <string.h>

/*
 * oneOf is "exactly one". Where no value can be what two of the alternatives
 * allow, that is what anyOf is; so each pair must be seen to be apart:
 *   - by kind, or by enum and const against what the other allows;
 *   - numbers by their ranges, strings, arrays and objects by their sizes;
 *   - strings by patterns and formats that exclude one another;
 *   - objects by a name that one of them requires and whose values are apart,
 *     or that the other forbids; arrays by an item that must be there.
 * No answer (apart stays false) where it is not seen.
 */

#define APART_DEPTH 6 /* levels of values that are looked into */

static enum st sets_apart(struct schema_read *s, const struct set *a,
                          const struct set *b, size_t depth, bool *apart,
                          struct err *e);

struct span_of { /* of numbers */
    double lo, hi;
    bool lo_open, hi_open;
};

static void cut_low(struct span_of *r, double v, bool open)
{
    if (v > r->lo || (v == r->lo && open)) {
        r->lo = v;
        r->lo_open = open;
    }
}

static void cut_high(struct span_of *r, double v, bool open)
{
    if (v < r->hi || (v == r->hi && open)) {
        r->hi = v;
        r->hi_open = open;
    }
}

/* A bound that is exact as a double can be said to be open; another only to
 * be near. */
static bool exact(const struct json *v)
{
    return v->is_int && v->i > -(1ll << 53) && v->i < 1ll << 53;
}

static struct span_of span_of(const struct conj *c)
{
    struct span_of r = {-HUGE_VAL, HUGE_VAL, false, false};

    for (size_t i = 0; i < c->n; i++) {
        const struct json *lo = json_get(c->of[i], "minimum");
        const struct json *hi = json_get(c->of[i], "maximum");
        const struct json *lox = json_get(c->of[i], "exclusiveMinimum");
        const struct json *hix = json_get(c->of[i], "exclusiveMaximum");

        if (lo)
            cut_low(&r, lo->d, lox && lox->boolean && exact(lo));
        if (hi)
            cut_high(&r, hi->d, hix && hix->boolean && exact(hi));
        if (lox && lox->type == JSON_NUM)
            cut_low(&r, lox->d, exact(lox));
        if (hix && hix->type == JSON_NUM)
            cut_high(&r, hix->d, exact(hix));
    }
    return r;
}

static bool below(const struct span_of *a, const struct span_of *b)
{
    return a->hi < b->lo || (a->hi == b->lo && (a->hi_open || b->lo_open));
}

static bool numbers_apart(const struct conj *a, const struct conj *b)
{
    struct span_of x = span_of(a), y = span_of(b);

    return below(&x, &y) || below(&y, &x);
}

static void bounds(const struct conj *c, const char *min, const char *max,
                   uint32_t *lo, uint32_t *hi)
{
    *lo = 0;
    *hi = GX_MANY;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t a = schema_count(c->of[i], min, 0);
        uint32_t b = schema_count(c->of[i], max, GX_MANY);

        *lo = a > *lo ? a : *lo;
        *hi = b < *hi ? b : *hi;
    }
}

static bool sizes_apart(const struct conj *a, const struct conj *b,
                        const char *min, const char *max)
{
    uint32_t alo, ahi, blo, bhi;

    bounds(a, min, max, &alo, &ahi);
    bounds(b, min, max, &blo, &bhi);
    return ahi < blo || bhi < alo;
}

/* By patterns and formats that no text has both of. */
static enum st texts_apart(struct schema_read *s, const struct conj *a,
                           const struct conj *b, bool *apart, struct err *e)
{
    const struct gx *x = NULL, *y = NULL;
    enum st st = schema_texts(s, a, &x, e);

    if (!st)
        st = schema_texts(s, b, &y, e);
    if (!st && x && y)
        *apart = gx_both(s->w, x, y) == gx_none(s->w);
    return st ? st : schema_work(s, 1, e);
}

/* By the value under one name. */
static enum st member_apart(struct schema_read *s, const struct conj *a,
                            const struct conj *b, struct text name,
                            size_t depth, bool *apart, struct err *e)
{
    struct set x = {.n = 0}, y = {.n = 0};
    enum st st = schema_member_set(s, a, name, &x, e);

    if (!st)
        st = schema_member_set(s, b, name, &y, e);
    return st ? st : sets_apart(s, &x, &y, depth, apart, e);
}

/* By a name that `a` requires. */
static enum st required_apart(struct schema_read *s, const struct conj *a,
                              const struct conj *b, size_t depth, bool *apart,
                              struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && !*apart && i < a->n; i++) {
        const struct json *r = json_get(a->of[i], "required");

        for (r = r ? r->child : NULL; !st && !*apart && r; r = r->next)
            st = member_apart(s, a, b, r->str, depth, apart, e);
    }
    return st;
}

/* By the first items, as far as there must be some. */
static enum st items_apart(struct schema_read *s, const struct conj *a,
                           const struct conj *b, size_t depth, bool *apart,
                           struct err *e)
{
    uint32_t alo, blo, hi, n;
    enum st st = ST_OK;

    bounds(a, "minItems", "maxItems", &alo, &hi);
    bounds(b, "minItems", "maxItems", &blo, &hi);
    n = alo > blo ? alo : blo;
    for (size_t i = 0; !st && !*apart && i < n && i < 8; i++) {
        struct set x = {.n = 0}, y = {.n = 0};

        st = schema_item_set(s, a, i, &x, e);
        if (!st)
            st = schema_item_set(s, b, i, &y, e);
        if (!st)
            st = sets_apart(s, &x, &y, depth, apart, e);
    }
    return st;
}

/* Values of one kind that both may be. */
static enum st kind_apart(struct schema_read *s, const struct conj *a,
                          const struct conj *b, unsigned kind, size_t depth,
                          bool *apart, struct err *e)
{
    enum st st = ST_OK;

    *apart = false;
    if (kind & (KIND_INT | KIND_FRAC))
        *apart = numbers_apart(a, b);
    if (kind == KIND_STR) {
        *apart = sizes_apart(a, b, "minLength", "maxLength");
        return *apart ? ST_OK : texts_apart(s, a, b, apart, e);
    }
    if (kind == KIND_ARR) {
        *apart = sizes_apart(a, b, "minItems", "maxItems");
        return *apart ? ST_OK : items_apart(s, a, b, depth, apart, e);
    }
    if (kind != KIND_OBJ)
        return ST_OK;
    *apart = sizes_apart(a, b, "minProperties", "maxProperties");
    if (!*apart)
        st = required_apart(s, a, b, depth, apart, e);
    return st || *apart ? st : required_apart(s, b, a, depth, apart, e);
}

/* Are values that stand in `a` refused by `b`? *known: `a` lists its values. */
static enum st values_apart(struct schema_read *s, const struct conj *a,
                            const struct conj *b, bool *known, bool *apart,
                            struct err *e)
{
    const struct json **of = NULL;
    size_t n = 0;
    enum st st = schema_candidates(s, a, known, &of, &n, e);

    *apart = *known;
    for (size_t i = 0; !st && *apart && i < n; i++) {
        bool yes = false;

        st = schema_admit(s, b, of[i], &yes, e);
        *apart = !yes;
    }
    return st;
}

static enum st ways_apart(struct schema_read *s, const struct way *a,
                          const struct way *b, size_t depth, bool *apart,
                          struct err *e)
{
    unsigned kinds = a->kinds & b->kinds;
    bool known = false;
    enum st st = schema_work(s, 8, e);

    *apart = !kinds;
    if (st || *apart)
        return st;
    st = values_apart(s, &a->c, &b->c, &known, apart, e);
    if (!st && !known)
        st = values_apart(s, &b->c, &a->c, &known, apart, e);
    if (st || known)
        return st;
    *apart = true;
    for (unsigned k = 1; !st && *apart && k < KIND_ALL; k <<= 1)
        if (kinds & k)
            st = kind_apart(s, &a->c, &b->c, k, depth, apart, e);
    return st;
}

static enum st lists_apart(struct schema_read *s, const struct ways *a,
                           const struct ways *b, size_t depth, bool *apart,
                           struct err *e)
{
    enum st st = ST_OK;

    *apart = true;
    for (size_t i = 0; !st && *apart && i < a->n; i++)
        for (size_t k = 0; !st && *apart && k < b->n; k++)
            st = ways_apart(s, &a->p[i], &b->p[k], depth, apart, e);
    return st;
}

static enum st sets_apart(struct schema_read *s, const struct set *a,
                          const struct set *b, size_t depth, bool *apart,
                          struct err *e)
{
    struct ways x = {.n = 0}, y = {.n = 0};
    enum st st;

    *apart = a->none || b->none;
    if (*apart || depth == APART_DEPTH || !a->n || !b->n)
        return ST_OK;
    st = schema_set_ways(s, a, &x, e);
    if (!st)
        st = schema_set_ways(s, b, &y, e);
    return st ? st : lists_apart(s, &x, &y, depth + 1, apart, e);
}

enum st schema_all_apart(struct schema_read *s, const struct ways *ways,
                         bool *apart, struct err *e)
{
    enum st st = ST_OK;

    *apart = true;
    for (size_t i = 0; !st && *apart && i < ways->n; i++)
        for (size_t k = i + 1; !st && *apart && k < ways->n; k++)
            st = ways_apart(s, &ways->p[i], &ways->p[k], 0, apart, e);
    return st;
}

/* What one alternative allows, with what its schema says beside it. */
static enum st alternative(struct schema_read *s, const struct json *node,
                           const struct json *of, struct ways *out,
                           struct err *e)
{
    struct set set = {.n = 0};
    struct way self = {.kinds = schema_type_kinds(node)};
    enum st st = set_add(s, &set, of, e);

    if (!st)
        st = schema_set_ways(s, &set, out, e);
    if (st || !schema_says_itself(node))
        return st;
    self.c.n = 1;
    self.c.of = arena_array(&s->arena, 1, sizeof(*self.c.of));
    if (!self.c.of)
        return schema_nomem(e);
    memcpy((void *)self.c.of, &node, sizeof(node));
    return schema_multiply(s, out, &(struct ways){&self, 1}, e);
}

enum st schema_one_of(struct schema_read *s, const struct json *node,
                      struct err *e)
{
    const struct json *list = json_get(node, "oneOf");
    struct ways *of = arena_array(&s->arena, list->n, sizeof(*of));
    const struct json *m = list->child;
    enum st st = of ? ST_OK : schema_nomem(e);

    for (size_t i = 0; !st && m; m = m->next)
        st = alternative(s, node, m, &of[i++], e);
    for (size_t i = 0; !st && i < list->n; i++)
        for (size_t k = i + 1; !st && k < list->n; k++) {
            bool apart = false;

            st = lists_apart(s, &of[i], &of[k], 0, &apart, e);
            if (!st && !apart)
                st = schema_refuse(s, ST_UNSUPPORTED, node, "oneOf", e,
                                   "some values may be both alternative %zu "
                                   "and %zu; anyOf does it", i, k);
        }
    return st;
}
