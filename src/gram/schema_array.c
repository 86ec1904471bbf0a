#include "config.h"
#include "gram/schema_way.h"

#define WRITTEN_OUT 8 /* places of items without bounds of their own that are
                       * written one by one, for want of a counter */

/* unevaluatedItems, for an item that nothing in its scope evaluates. */
static const struct json *unevaluated(const struct schema_scope *scope,
                                      size_t at)
{
    for (size_t i = 0; i < scope->of.n; i++) {
        const struct json *node = scope->of.of[i];
        const struct json *prefix = json_get(node, "prefixItems");

        if (json_get(node, "items") || (prefix && at < prefix->n) ||
            (node != scope->owner && json_get(node, "unevaluatedItems")))
            return NULL;
    }
    return json_get(scope->owner, "unevaluatedItems");
}

static const struct json *item_of(const struct json *node, size_t at)
{
    const struct json *prefix = json_get(node, "prefixItems");

    if (scope_of(node))
        return unevaluated(scope_of(node), at);

    if (!prefix || at >= prefix->n)
        return json_get(node, "items");
    prefix = prefix->child;
    while (at--)
        prefix = prefix->next;
    return prefix;
}

enum st schema_item_set(struct schema_read *s, const struct conj *c, size_t at,
                        struct set *out, struct err *e)
{
    enum st st = schema_work(s, 1 + at / 4, e);

    for (size_t i = 0; !st && i < c->n; i++) {
        const struct json *item = item_of(c->of[i], at);

        if (item)
            st = set_add(s, out, item, e);
    }
    return st;
}

struct array {
    struct schema_read *s;
    const struct conj *c;
    uint32_t min, max;
    size_t prefix;       /* places that differ, then all are `rest` */
    bool counted;
    const struct gx **x; /* [prefix + 1] items, the last those behind */
};

static enum st read_bounds(struct array *a, struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < a->c->n; i++) {
        const struct json *node = a->c->of[i];
        const struct json *prefix = json_get(node, "prefixItems");
        uint32_t min = 0, max = GX_MANY;

        st = schema_count(a->s, node, "minItems", &min, e);
        if (!st)
            st = schema_count(a->s, node, "maxItems", &max, e);
        a->min = min > a->min ? min : a->min;
        a->max = max < a->max ? max : a->max;
        if (prefix && prefix->n > a->prefix)
            a->prefix = prefix->n;
    }
    return st;
}

/* Sets of the items, one per place; a place where nothing may be ends the
 * array. */
static enum st read_items(struct array *a, struct set **out, struct err *e)
{
    struct set *sets = arena_array(&a->s->arena, a->prefix + 1, sizeof(*sets));
    enum st st = sets ? ST_OK : schema_nomem(e);

    *out = sets;
    for (size_t i = 0; !st && i <= a->prefix; i++) {
        st = schema_item_set(a->s, a->c, i, &sets[i], e);
        if (!st && sets[i].none) {
            a->max = a->max < i ? a->max : (uint32_t)i;
            break;
        }
    }
    return st;
}

/* How many places are written one by one. */
static size_t places(const struct array *a)
{
    size_t most = a->max == GX_MANY ? a->min : a->max;

    if (a->max != GX_MANY && a->max <= a->prefix)
        return a->max;
    return most > a->prefix && most <= WRITTEN_OUT ? most : a->prefix;
}

static const struct gx *comma(struct gxs *w)
{
    return gx_seqn(w, (const struct gx *const[]){gx_space(w), gx_lit(w, ","),
                                                 gx_space(w)}, 3);
}

/* Items from the place n on, and what must be between. */
static const struct gx *items(struct array *a, const struct set *sets,
                              size_t n, bool rest, enum st *st, struct err *e)
{
    struct gxs *w = a->s->w;
    const struct gx *x = gx_empty(w), *one = NULL;

    if (rest) {
        *st = schema_set_value(a->s, &sets[a->prefix], a->counted, &one, e);
        if (*st)
            return x;
        x = gx_star(w, gx_seq(w, comma(w), one));
        if (!n) {
            x = gx_seq(w, one, x);
            return a->min && !a->counted ? x : gx_opt(w, x);
        }
    }
    for (size_t i = n; !*st && i > 0; i--) {
        size_t at = i - 1 < a->prefix ? i - 1 : a->prefix;

        *st = schema_set_value(a->s, &sets[at], a->counted, &one, e);
        if (*st)
            break;
        one = i > 1 ? gx_seq(w, comma(w), one) : one;
        x = gx_seq(w, one, x);
        if (i > a->min)
            x = gx_opt(w, x);
    }
    return x;
}

enum st schema_array(struct schema_read *s, const struct conj *c,
                     const struct gx **out, struct err *e)
{
    struct gxs *w = s->w;
    struct array a = {.s = s, .c = c, .max = GX_MANY};
    struct set *sets = NULL;
    const struct gx *x;
    size_t n;
    bool rest;
    int rule;
    enum st st = read_bounds(&a, e);

    *out = gx_none(w);
    if (!st)
        st = read_items(&a, &sets, e);
    if (st || a.min > a.max)
        return st;
    n = places(&a);
    rest = a.max > n;
    a.counted = rest && (a.max != GX_MANY || a.min > n);
    x = items(&a, sets, n, rest, &st, e);
    if (st)
        return st;
    x = gx_seqn(w, (const struct gx *const[]){gx_lit(w, "["), gx_space(w), x,
                                              gx_space(w), gx_lit(w, "]")}, 5);
    if (a.counted) {
        rule = gx_rule(w);
        if (rule < 0)
            return schema_work(s, 0, e);
        gx_rule_set(w, rule, x, a.min, a.max);
        x = gx_call(w, rule, false);
    }
    *out = x;
    return schema_work(s, 1, e);
}
