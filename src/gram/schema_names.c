#include "config.h"
#include "gram/regex.h"
#include "gram/schema_way.h"

#define LENGTH_MAX 256 /* bounds of names are written out */

enum st schema_names_set(struct schema_read *s, const struct conj *c,
                         struct set *out, struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < c->n; i++) {
        const struct json *names = json_get(c->of[i], "propertyNames");

        if (names)
            st = set_add(s, out, names, e);
    }
    return st;
}

static enum st lengths(struct schema_read *s, const struct json *node,
                       const struct gx **x, struct err *e)
{
    struct charset any;
    uint32_t min = schema_count(node, "minLength", 0);
    uint32_t max = schema_count(node, "maxLength", GX_MANY);

    if (!min && max == GX_MANY)
        return ST_OK;
    if (min > LENGTH_MAX || (max > LENGTH_MAX && max != GX_MANY))
        return schema_refuse(s, ST_UNSUPPORTED, node,
                             max == GX_MANY ? "minLength" : "maxLength", e,
                             "names are bounded to %d characters at most",
                             LENGTH_MAX);
    charset_init(&any, &s->w->arena);
    charset_invert(&any);
    *x = gx_both(s->w, *x, gx_repeat(s->w, gx_chars(s->w, &any, GX_JSON), min,
                                     max));
    return ST_OK;
}

enum st schema_texts(struct schema_read *s, const struct conj *c,
                     const struct gx **out, struct err *e)
{
    const struct gx *one = NULL;
    struct err own = {.st = ST_OK};
    enum st st = ST_OK;

    *out = NULL;
    for (size_t i = 0; !st && i < c->n; i++) {
        const struct json *node = c->of[i];
        const struct json *pattern = json_get(node, "pattern");

        if (pattern) {
            st = regex_parse(&one, s->w, pattern->str, REGEX_SEARCH, GX_JSON,
                             &own);
            if (st)
                return schema_refuse(s, st, node, "pattern", e, "%s",
                                     own.text);
            *out = *out ? gx_both(s->w, *out, one) : one;
        }
        one = NULL;
        if (json_get(node, "format"))
            st = schema_format(s, node, &one, e);
        if (!st && one)
            *out = *out ? gx_both(s->w, *out, one) : one;
    }
    return st;
}

static enum st one_way(struct schema_read *s, const struct conj *c,
                       const struct gx **out, struct err *e)
{
    enum st st = schema_texts(s, c, out, e);

    if (!st && !*out)
        *out = gx_any_text(s->w, GX_JSON);
    for (size_t i = 0; !st && i < c->n; i++)
        st = lengths(s, c->of[i], out, e);
    return st;
}

enum st schema_names(struct schema_read *s, const struct set *set,
                     const struct gx **out, struct err *e)
{
    struct ways ways = {.n = 0};
    enum st st = schema_set_ways(s, set, &ways, e);

    *out = set->n || set->none ? gx_none(s->w) : NULL;
    for (size_t i = 0; !st && *out && i < ways.n; i++) {
        const struct json **of = NULL;
        const struct gx *x = gx_none(s->w);
        size_t n = 0;
        bool has = false;

        if (!(ways.p[i].kinds & KIND_STR))
            continue;
        st = schema_candidates(s, &ways.p[i].c, &has, &of, &n, e);
        if (!st && !has)
            st = one_way(s, &ways.p[i].c, &x, e);
        for (size_t k = 0; !st && k < n; k++)
            if (of[k]->type == JSON_STR)
                x = gx_alt(s->w, x, gx_text(s->w, of[k]->str.s, of[k]->str.n,
                                            GX_JSON));
        if (!st)
            *out = gx_alt(s->w, *out, x);
    }
    return st;
}
