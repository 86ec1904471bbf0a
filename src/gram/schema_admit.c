#include "config.h"
#include "gram/machine.h"
#include "gram/regex.h"
#include "gram/schema_way.h"

#include <string.h>

/*
 * Values that stand in the schema (enum, const, names) against the schema
 * itself. Strings and numbers are tried on the grammar that their schema
 * makes, so that pattern, format and multipleOf mean the same here as in an
 * answer; arrays and objects are looked at, whatever the order of their keys.
 */

/* --- equality ------------------------------------------------------------- */

static bool same_number(const struct json *a, const struct json *b)
{
    struct buf x, y;
    bool same;

    if (a->is_int && b->is_int)
        return a->i == b->i;
    buf_init(&x, BUF_MESSAGE);
    buf_init(&y, BUF_MESSAGE);
    schema_literal_text(a, &x);
    schema_literal_text(b, &y);
    same = x.failed || y.failed ? text_same(a->str, b->str)
                                : text_same(buf_text(&x), buf_text(&y));
    buf_release(&x);
    buf_release(&y);
    return same;
}

static const struct json *member(const struct json *o, struct text name)
{
    for (const struct json *c = o->child; c; c = c->next)
        if (text_same(c->key, name))
            return c;
    return NULL;
}

bool schema_same(const struct json *a, const struct json *b)
{
    const struct json *x = a->child, *y = b->child;

    if (a->type != b->type || a->n != b->n)
        return false;
    switch (a->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_NUM:
        return same_number(a, b);
    case JSON_STR:
        return text_same(a->str, b->str);
    case JSON_ARR:
        for (; x; x = x->next, y = y->next)
            if (!schema_same(x, y))
                return false;
        return true;
    case JSON_OBJ:
        break;
    }
    for (; x; x = x->next) {
        y = member(b, x->key);
        if (!y || !schema_same(x, y))
            return false;
    }
    return true;
}

/* --- texts on grammars ---------------------------------------------------- */

/* The tester under a key; *make: it is new. NULL: no memory. */
static struct schema_tester *tester_at(struct schema_read *s, const void *key,
                                       size_t n, bool *make)
{
    uint32_t *at = schema_map_at(s, &s->tester_at, key, n);
    struct schema_tester *p = schema_room(s, s->testers, s->n_testers,
                                          &s->cap_testers, sizeof(*p));

    if (!at || !p)
        return NULL;
    s->testers = p;
    *make = !*at;
    if (*make) {
        p[s->n_testers] = (struct schema_tester){.g = NULL};
        *at = (uint32_t)++s->n_testers;
    }
    return &p[*at - 1];
}

/* A workshop for one tester: the schema's own is in use beside it. */
static void small_workshop(struct gxs *w)
{
    gxs_init(w);
    w->memory = SCHEMA_TESTER;
}

/* A grammar of one expression; NULL: it matches nothing. */
static enum st compile(struct schema_read *s, struct gxs *w,
                       const struct gx *x, struct grammar **out,
                       struct err *e)
{
    struct err own = {.st = ST_OK};
    int rule = gx_rule(w);
    bool built = !w->err.st;
    enum st st;

    if (rule >= 0)
        gx_rule_set(w, rule, x, 0, GX_MANY);
    st = gram_compile(out, w, rule < 0 ? 0 : rule, &own);
    if (built && st == ST_INVALID)
        st = ST_OK; /* no text matches */
    else if (st && e)
        *e = own;
    if (!st && *out)
        s->tester_bytes += (*out)->bytes;
    if (s->tester_bytes > SCHEMA_TESTER)
        return schema_nomem(e);
    return st ? st : schema_work(s, w->work / SCHEMA_STEP, e);
}

static enum st try_text(struct schema_read *s, const struct grammar *g,
                        const char *p, size_t n, bool *yes, struct err *e)
{
    struct gram_place place;

    *yes = false;
    if (!g)
        return ST_OK;
    gram_begin(g, &place);
    *yes = gram_bytes(g, &place, p, n) && gram_ends(g, &place);
    return schema_work(s, 40 + n * 10, e);
}

static bool has_any(const struct conj *c, const char *const *words)
{
    for (size_t i = 0; i < c->n; i++)
        for (const char *const *w = words; *w; w++)
            if (json_get(c->of[i], *w))
                return true;
    return false;
}

static enum st scalar_tester(struct schema_read *s, const struct conj *c,
                             bool string, struct grammar **out, struct err *e)
{
    struct schema_tester *t;
    struct schema_read inner;
    struct gxs w;
    const struct gx *x = NULL;
    const void *key[2] = {string ? "s" : "n", NULL};
    const void **keys = arena_array(&s->arena, c->n + 1, sizeof(*keys));
    bool make = false;
    enum st st;

    *out = NULL;
    if (!keys)
        return schema_nomem(e);
    keys[0] = key[0];
    memcpy(keys + 1, c->of, c->n * sizeof(*keys));
    t = tester_at(s, keys, (c->n + 1) * sizeof(*keys), &make);
    if (!t)
        return schema_nomem(e);
    if (!make) {
        *out = t->g;
        return ST_OK;
    }
    small_workshop(&w);
    schema_read_init(&inner, &w, s->root);
    st = string ? schema_string(&inner, c, &x, e)
                : schema_number(&inner, c, false, &x, e);
    if (!st)
        st = compile(s, &w, x, &t->g, e);
    *out = t->g;
    schema_read_release(&inner);
    gxs_release(&w);
    return st;
}

static enum st admit_scalar(struct schema_read *s, const struct conj *c,
                            const struct json *value, bool *yes, struct err *e)
{
    static const char *const strings[] = {"minLength", "maxLength", "pattern",
                                          "format", NULL};
    static const char *const numbers[] = {"minimum", "maximum",
                                          "exclusiveMinimum",
                                          "exclusiveMaximum", "multipleOf",
                                          NULL};
    bool string = value->type == JSON_STR;
    struct grammar *g = NULL;
    struct buf b;
    enum st st;

    if (!has_any(c, string ? strings : numbers))
        return ST_OK;
    st = scalar_tester(s, c, string, &g, e);
    if (st)
        return st;
    buf_init(&b, BUF_EVENT);
    schema_literal_text(value, &b);
    if (b.failed)
        st = schema_nomem(e);
    else
        st = try_text(s, g, b.p, b.n, yes, e);
    buf_release(&b);
    return st;
}

enum st schema_pattern_hits(struct schema_read *s, const struct json *pattern,
                            struct text name, bool *yes, struct err *e)
{
    struct schema_tester *t;
    struct gxs w;
    struct buf b;
    const struct gx *x = NULL;
    const struct json text = {.type = JSON_STR, .str = name};
    bool make = false;
    enum st st = ST_OK;

    *yes = false;
    t = tester_at(s, &pattern, sizeof(pattern), &make);
    if (!t)
        return schema_nomem(e);
    if (make) {
        small_workshop(&w);
        st = schema_pattern(s, &w, pattern, &x, e);
        if (!st)
            st = compile(s, &w, x, &t->g, e);
        gxs_release(&w);
    }
    if (st)
        return st;
    buf_init(&b, BUF_EVENT);
    schema_literal_text(&text, &b);
    if (b.failed || b.n < 2)
        st = schema_nomem(e);
    else
        st = try_text(s, t->g, b.p + 1, b.n - 2, yes, e);
    buf_release(&b);
    return st;
}

/* --- values --------------------------------------------------------------- */

static enum st in_enum(struct schema_read *s, const struct json *node,
                       const struct json *value, bool *yes, struct err *e)
{
    const struct json *one = json_get(node, "const");
    const struct json *of = json_get(node, "enum");

    if (one && !schema_same(one, value))
        *yes = false;
    if (!of || !*yes)
        return schema_work(s, 4, e);
    *yes = false;
    for (const struct json *v = of->child; v && !*yes; v = v->next)
        *yes = schema_same(v, value);
    return schema_work(s, 4 + of->n, e);
}

static enum st admit_members(struct schema_read *s, const struct conj *c,
                             const struct json *value, bool *yes,
                             struct err *e)
{
    enum st st = ST_OK;
    size_t i = 0;

    for (const struct json *v = value->child; !st && *yes && v; v = v->next) {
        struct set set = {.n = 0};

        st = value->type == JSON_OBJ
                 ? schema_member_set(s, c, v->key, &set, e)
                 : schema_item_set(s, c, i++, &set, e);
        if (!st)
            st = schema_set_admit(s, &set, v, yes, e);
    }
    return st;
}

/* Are enough of the items what the array must contain? */
static enum st admit_contains(struct schema_read *s, const struct conj *c,
                              const struct json *value, bool *yes,
                              struct err *e)
{
    const struct json *of = NULL;
    struct set set = {.n = 0};
    uint32_t want = 0, got = 0;
    enum st st = schema_contains(s, c, &of, &want, e);

    if (!st && of)
        st = set_add(s, &set, of, e);
    for (const struct json *v = value->child; !st && of && v; v = v->next) {
        bool hit = false;

        st = schema_set_admit(s, &set, v, &hit, e);
        got += hit;
    }
    *yes = got >= want;
    return st;
}

static bool count_fits(const struct json *node, const char *min,
                       const char *max, size_t n)
{
    const struct json *lo = json_get(node, min), *hi = json_get(node, max);

    return (!lo || (double)n >= lo->d) && (!hi || (double)n <= hi->d);
}

static bool has_required(const struct json *node, const struct json *value)
{
    const struct json *r = json_get(node, "required");

    for (r = r ? r->child : NULL; r; r = r->next)
        if (!member(value, r->str))
            return false;
    return true;
}

/* schema_admit, but for the enum or const of `skip`. */
static enum st admit(struct schema_read *s, const struct conj *c,
                     const struct json *skip, const struct json *value,
                     bool *yes, struct err *e)
{
    unsigned kind = schema_kind_of(value);
    enum st st = schema_work(s, 8, e);

    *yes = true;
    for (size_t i = 0; !st && *yes && i < c->n; i++) {
        const struct json *node = c->of[i];

        *yes = schema_type_kinds(node) & kind;
        if (*yes && kind == KIND_ARR)
            *yes = count_fits(node, "minItems", "maxItems", value->n);
        if (*yes && kind == KIND_OBJ)
            *yes = count_fits(node, "minProperties", "maxProperties",
                              value->n) && has_required(node, value);
        if (*yes && node != skip)
            st = in_enum(s, node, value, yes, e);
    }
    if (st || !*yes)
        return st;
    if (kind == KIND_ARR)
        st = admit_contains(s, c, value, yes, e);
    if (st || !*yes)
        return st;
    if (kind & (KIND_OBJ | KIND_ARR))
        return admit_members(s, c, value, yes, e);
    if (kind & (KIND_STR | KIND_INT | KIND_FRAC))
        return admit_scalar(s, c, value, yes, e);
    return ST_OK;
}

enum st schema_admit(struct schema_read *s, const struct conj *c,
                     const struct json *value, bool *yes, struct err *e)
{
    return admit(s, c, NULL, value, yes, e);
}

enum st schema_set_admit(struct schema_read *s, const struct set *set,
                         const struct json *value, bool *yes, struct err *e)
{
    struct ways ways = {.n = 0};
    enum st st = schema_set_ways(s, set, &ways, e);

    *yes = false;
    for (size_t i = 0; !st && !*yes && i < ways.n; i++)
        st = admit(s, &ways.p[i].c, NULL, value, yes, e);
    return st;
}

enum st schema_candidates(struct schema_read *s, const struct conj *c,
                          bool *has, const struct json ***out, size_t *n,
                          struct err *e)
{
    const struct json *from = NULL, *v = NULL;
    size_t k = 0;
    enum st st = ST_OK;

    *has = false;
    for (size_t i = 0; i < c->n && !v; i++) {
        from = c->of[i];
        v = json_get(from, "const");
        if (!v)
            v = json_get(from, "enum");
    }
    if (!v)
        return ST_OK;
    *has = true;
    *n = 0;
    if (json_get(from, "const") == v) {
        /* Its enum, if any, must have it too. */
        *out = arena_array(&s->arena, 1, sizeof(**out));
        if (!*out)
            return schema_nomem(e);
        (*out)[0] = v;
        st = admit(s, c, NULL, v, has, e);
        *n = *has;
        *has = true;
        return st;
    }
    *out = arena_array(&s->arena, v->n + 1, sizeof(**out));
    if (!*out)
        return schema_nomem(e);
    for (v = v->child; !st && v; v = v->next) {
        bool yes = false;

        st = admit(s, c, from, v, &yes, e);
        if (yes)
            (*out)[k++] = v;
    }
    *n = k;
    return st;
}
