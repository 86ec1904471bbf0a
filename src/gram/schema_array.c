#include "config.h"
#include "gram/schema_way.h"

#define MATCHES_MAX 64   /* items that `contains` asks for */
#define ORDERS_MAX 10000 /* ways in which they may lie in prefixItems */
#define WRITTEN_OUT 8    /* places of items without bounds of their own that
                          * are written one by one, for want of a counter */

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

/* What one schema says of the item at a place; `own`: its prefixItems there. */
static const struct json *item_of(const struct json *node, size_t at,
                                  const struct json *own)
{
    if (scope_of(node))
        return unevaluated(scope_of(node), at);
    return own ? own : json_get(node, "items");
}

static const struct json *prefix_of(const struct json *node)
{
    const struct json *prefix = json_get(node, "prefixItems");

    return prefix ? prefix->child : NULL;
}

enum st schema_item_set(struct schema_read *s, const struct conj *c, size_t at,
                        struct set *out, struct err *e)
{
    enum st st = schema_work(s, 1 + at / 4, e);

    for (size_t i = 0; !st && i < c->n; i++) {
        const struct json *item = prefix_of(c->of[i]);

        for (size_t k = 0; k < at && item; k++)
            item = item->next;
        item = item_of(c->of[i], at, item);
        if (item)
            st = set_add(s, out, item, e);
    }
    return st;
}

enum st schema_contains(struct schema_read *s, const struct conj *c,
                        const struct json **of, uint32_t *n, struct err *e)
{
    *of = NULL;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct json *contains = json_get(c->of[i], "contains");
        uint32_t min = schema_count(c->of[i], "minContains", 1);

        if (!contains || !min)
            continue;
        if (*of || min > MATCHES_MAX)
            return schema_refuse(s, ST_UNSUPPORTED, c->of[i], "contains", e,
                                 "one of them for one array, at most %d "
                                 "times, is supported", MATCHES_MAX);
        *of = contains;
        *n = min;
    }
    return ST_OK;
}

struct array {
    struct schema_read *s;
    const struct conj *c;
    uint32_t min, max;
    size_t prefix;      /* places that differ, then all are alike */
    size_t n;           /* places that are written one by one */
    bool rest;          /* there may be more */
    bool counted;
    struct set *sets;   /* [prefix + 1] items, the last those behind */
    const struct json *contains; /* what `matches` of the items are */
    uint32_t matches;
};

static void read_bounds(struct array *a)
{
    for (size_t i = 0; i < a->c->n; i++) {
        const struct json *node = a->c->of[i];
        const struct json *prefix = json_get(node, "prefixItems");
        uint32_t min = schema_count(node, "minItems", 0);
        uint32_t max = schema_count(node, "maxItems", GX_MANY);

        a->min = min > a->min ? min : a->min;
        a->max = max < a->max ? max : a->max;
        if (prefix && prefix->n > a->prefix)
            a->prefix = prefix->n;
    }
}

/* Sets of the items, one per place; a place where nothing may be ends the
 * array. */
static enum st read_items(struct array *a, struct err *e)
{
    struct arena *arena = &a->s->arena;
    const struct json **own = arena_array(arena, a->c->n + 1, sizeof(*own));
    enum st st = ST_OK;

    a->sets = arena_array(arena, a->prefix + 1, sizeof(*a->sets));
    if (!a->sets || !own)
        return schema_nomem(e);
    for (size_t k = 0; k < a->c->n; k++)
        own[k] = prefix_of(a->c->of[k]);
    for (size_t i = 0; !st && i <= a->prefix; i++) {
        for (size_t k = 0; !st && k < a->c->n; k++) {
            const struct json *x = item_of(a->c->of[k], i, own[k]);

            own[k] = own[k] ? own[k]->next : NULL;
            if (x)
                st = set_add(a->s, &a->sets[i], x, e);
        }
        if (!st && a->sets[i].none) {
            a->max = a->max < i ? a->max : (uint32_t)i;
            break;
        }
    }
    return st ? st : schema_contains(a->s, a->c, &a->contains, &a->matches, e);
}

/* How many places are written one by one. */
static size_t places(const struct array *a)
{
    size_t most = a->max == GX_MANY ? a->min : a->max;

    if (a->max != GX_MANY && a->max <= a->prefix)
        return a->max;
    return most > a->prefix && most <= WRITTEN_OUT && !a->matches ? most
                                                                  : a->prefix;
}

static const struct gx *comma(struct gxs *w)
{
    return gx_seqn(w, (const struct gx *const[]){gx_space(w), gx_lit(w, ","),
                                                 gx_space(w)}, 3);
}

/* The item at one place; `match`: it is what the array contains, too. */
static enum st item(struct array *a, size_t at, bool match,
                    const struct gx **out, struct err *e)
{
    const struct set *set = &a->sets[at < a->prefix ? at : a->prefix];
    struct set both = {.none = set->none};
    enum st st = ST_OK;

    if (!match)
        return schema_set_value(a->s, set, a->counted, out, e);
    for (size_t i = 0; !st && i < set->n; i++)
        st = set_add(a->s, &both, set->of[i], e);
    if (!st)
        st = set_add(a->s, &both, a->contains, e);
    return st ? st : schema_set_value(a->s, &both, a->counted, out, e);
}

/* Items from the place a->n on, `left` of them matches; each behind a comma,
 * but for the very first. */
static enum st rest(struct array *a, uint32_t left, const struct gx **out,
                    struct err *e)
{
    struct gxs *w = a->s->w;
    const struct gx *one = gx_none(w), *hit = gx_none(w), *more, *x;
    enum st st = ST_OK;

    *out = left ? gx_none(w) : gx_empty(w);
    if (!a->rest)
        return ST_OK;
    st = item(a, a->prefix, false, &one, e);
    if (!st && left)
        st = item(a, a->prefix, true, &hit, e);
    more = gx_star(w, gx_seq(w, comma(w), one));
    x = more;
    for (uint32_t i = a->n ? 0 : 1; i < left; i++)
        x = gx_seqn(w, (const struct gx *const[]){more, comma(w), hit, x}, 4);
    if (!a->n && left)
        x = gx_seqn(w, (const struct gx *const[]){
            gx_opt(w, gx_seqn(w, (const struct gx *const[]){
                one, more, comma(w)}, 3)), hit, x}, 3);
    else if (!a->n)
        x = gx_opt(w, gx_seq(w, one, x));
    *out = x;
    return st;
}

/* In how many ways k at most of n places can be chosen, and how long. */
static double orders(size_t n, size_t k)
{
    double all = 1, one = 1;

    for (size_t i = 0; i < k && i < n; i++) {
        one *= (double)(n - i) / (double)(i + 1);
        all += one;
    }
    return all * (double)n;
}

/* Items from the place `at` on, `left` of them matches. Recursion: over the
 * places of prefixItems, for arrays with `contains` only. */
static enum st matches(struct array *a, size_t at, uint32_t left,
                       const struct gx **out, struct err *e)
{
    struct gxs *w = a->s->w;
    const struct gx *one = gx_none(w), *tail = gx_none(w), *x;
    enum st st;

    if (at == a->n)
        return rest(a, left, out, e);
    *out = gx_none(w);
    st = item(a, at, false, &one, e);
    if (!st)
        st = matches(a, at + 1, left, &tail, e);
    x = gx_seq(w, one, tail);
    if (!st && left)
        st = item(a, at, true, &one, e);
    if (!st && left)
        st = matches(a, at + 1, left - 1, &tail, e);
    if (left)
        x = gx_alt(w, x, gx_seq(w, one, tail));
    if (at)
        x = gx_seq(w, comma(w), x);
    *out = left || at < a->min ? x : gx_opt(w, x);
    return st ? st : schema_work(a->s, 1, e);
}

/* All items, where none is to be a match. */
static enum st items(struct array *a, const struct gx **out, struct err *e)
{
    struct gxs *w = a->s->w;
    const struct gx *x = NULL, *one = NULL;
    enum st st = rest(a, 0, &x, e);

    for (size_t i = a->n; !st && i > 0; i--) {
        st = item(a, i - 1, false, &one, e);
        if (st)
            break;
        x = gx_seq(w, i > 1 ? gx_seq(w, comma(w), one) : one, x);
        if (i > a->min)
            x = gx_opt(w, x);
    }
    *out = x;
    return st;
}

enum st schema_array(struct schema_read *s, const struct conj *c,
                     const struct gx **out, struct err *e)
{
    struct gxs *w = s->w;
    struct array a = {.s = s, .c = c, .max = GX_MANY};
    const struct gx *x = NULL;
    int rule;
    enum st st;

    *out = gx_none(w);
    read_bounds(&a);
    st = read_items(&a, e);
    if (st || a.min > a.max)
        return st;
    a.n = places(&a);
    a.rest = a.max > a.n;
    a.counted = a.rest && (a.max != GX_MANY || a.min > a.n);
    if (a.matches && orders(a.n, a.matches) > ORDERS_MAX)
        return schema_refuse(s, ST_LIMIT, a.contains, "contains", e,
                             "together with so many prefixItems it is not "
                             "supported");
    st = a.matches ? matches(&a, 0, a.matches, &x, e) : items(&a, &x, e);
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
