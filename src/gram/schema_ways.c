#include "config.h"
#include "gram/schema_way.h"

#include <string.h>

const char schema_scope_mark[] = "scope";

/* --- lists of ways -------------------------------------------------------- */

/* The keyword by which a schema combines others, for messages. */
static const char *combines(const struct json *node)
{
    static const char *const words[] = {"allOf", "anyOf", "oneOf", "$ref",
                                        "$dynamicRef"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (json_get(node, words[i]))
            return words[i];
    return "anyOf";
}

static enum st add_way(struct schema_read *s, struct ways *to, size_t *cap,
                       struct way way, struct err *e)
{
    struct way *p;

    for (size_t i = 0; i < to->n; i++)
        if (to->p[i].kinds == way.kinds && to->p[i].c.n == way.c.n &&
            (!way.c.n || !memcmp(to->p[i].c.of, way.c.of,
                                 way.c.n * sizeof(*way.c.of))))
            return ST_OK;
    if (to->n == SCHEMA_WAYS_MAX)
        return schema_refuse(s, ST_LIMIT, s->reading, combines(s->reading), e,
                             "with what it is combined with it comes to more "
                             "than %d alternatives of one value",
                             SCHEMA_WAYS_MAX);
    p = schema_room(s, to->p, to->n, cap, sizeof(*p));
    if (!p)
        return schema_nomem(e);
    to->p = p;
    to->p[to->n++] = way;
    return schema_work(s, to->n, e);
}

/* Both hold; schemas of b behind those of a. */
static enum st both(struct schema_read *s, const struct way *a,
                    const struct way *b, struct way *out, struct err *e)
{
    const struct json **of;
    size_t n = a->c.n;

    *out = (struct way){.kinds = a->kinds & b->kinds};
    out->c = a->c.n ? a->c : b->c;
    if (!a->c.n || !b->c.n || !out->kinds)
        return schema_work(s, 2, e);
    of = arena_array(&s->arena, a->c.n + b->c.n, sizeof(*of));
    if (!of)
        return schema_nomem(e);
    memcpy(of, a->c.of, n * sizeof(*of));
    for (size_t i = 0; i < b->c.n; i++) {
        size_t k = 0;

        while (k < n && of[k] != b->c.of[i])
            k++;
        if (k == n)
            of[n++] = b->c.of[i];
    }
    out->c = (struct conj){of, n};
    return schema_work(s, n * b->c.n, e);
}

enum st schema_multiply(struct schema_read *s, struct ways *acc,
                        const struct ways *b, struct err *e)
{
    struct ways out = {.n = 0};
    size_t cap = 0;
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < acc->n; i++)
        for (size_t k = 0; !st && k < b->n; k++) {
            struct way way;

            st = both(s, &acc->p[i], &b->p[k], &way, e);
            if (!st && way.kinds)
                st = add_way(s, &out, &cap, way, e);
        }
    *acc = out;
    return st;
}

static enum st multiply_schema(struct schema_read *s, struct ways *acc,
                               const struct json *schema, struct err *e)
{
    const struct ways *ways = NULL;
    enum st st = schema_ways(s, schema, &ways, e);

    return st ? st : schema_multiply(s, acc, ways, e);
}

enum st schema_add_ways(struct schema_read *s, struct ways *to, size_t *cap,
                        const struct ways *from, struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < from->n; i++)
        st = add_way(s, to, cap, from->p[i], e);
    return st;
}

/* *acc and one of a list of schemas hold. Within a schema that asks what was
 * evaluated, each combination of them is a way of its own. */
static enum st multiply_any(struct schema_read *s, struct ways *acc,
                            const struct json *list, bool combine,
                            struct err *e)
{
    struct ways sum = {.n = 0};
    size_t cap = 0;
    enum st st = ST_OK;

    for (const struct json *m = list->child; !st && m; m = m->next) {
        const struct ways *ways = NULL;

        st = schema_ways(s, m, &ways, e);
        if (!st && combine) {
            struct ways more = sum;

            st = schema_multiply(s, &more, ways, e);
            if (!st)
                st = schema_add_ways(s, &sum, &cap, &more, e);
        }
        if (!st)
            st = schema_add_ways(s, &sum, &cap, ways, e);
    }
    return st ? st : schema_multiply(s, acc, &sum, e);
}

/* --- one schema ----------------------------------------------------------- */

static unsigned kinds_of(const struct json *node)
{
    const struct json *c = json_get(node, "const");
    const struct json *of = json_get(node, "enum");
    unsigned kinds = schema_type_kinds(node), values = 0;

    if (c)
        kinds &= schema_kind_of(c);
    if (!of)
        return kinds;
    for (const struct json *v = of->child; v; v = v->next)
        values |= schema_kind_of(v);
    return kinds & values;
}

static enum st multiply_self(struct schema_read *s, struct ways *acc,
                             const struct json *node, struct err *e)
{
    const struct json **of = arena_array(&s->arena, 1, sizeof(*of));
    struct way way = {.c = {of, 1}, .kinds = kinds_of(node)};

    if (!of)
        return schema_nomem(e);
    *of = node;
    return schema_multiply(s, acc, &(struct ways){&way, way.kinds ? 1 : 0}, e);
}

static enum st note_one_of(struct schema_read *s, const struct json *node,
                           struct err *e)
{
    const struct json **p = schema_room(s, s->ones, s->n_ones, &s->cap_ones,
                                        sizeof(*p));

    if (!p)
        return schema_nomem(e);
    s->ones = p;
    s->ones[s->n_ones++] = node;
    return ST_OK;
}

/* What one keyword adds: references and combinations. */
static enum st multiply_word(struct schema_read *s, struct ways *acc,
                             const struct json *node, const struct json *kv,
                             struct err *e)
{
    struct text k = kv->key;
    const struct json *cond = json_get(node, "if");
    const struct json *to = NULL;
    enum st st = ST_OK;

    if (text_is(k, "$ref") || text_is(k, "$dynamicRef")) {
        st = schema_ref(s, node, text_is(k, "$ref") ? "$ref" : "$dynamicRef",
                        &to, e);
        return st ? st : multiply_schema(s, acc, to, e);
    }
    if (text_is(k, "allOf")) {
        for (const struct json *m = kv->child; !st && m; m = m->next)
            st = multiply_schema(s, acc, m, e);
        return st;
    }
    if (text_is(k, "oneOf") && schema_only_names(kv))
        return schema_one_name(s, acc, kv, e);
    if (text_is(k, "oneOf"))
        st = note_one_of(s, node, e);
    if (text_is(k, "oneOf") || text_is(k, "anyOf"))
        return st ? st : multiply_any(s, acc, kv,
                                      s->scopes && text_is(k, "anyOf"), e);
    if (s->scopes && text_is(k, "if") && kv->type != JSON_BOOL)
        return schema_refuse(s, ST_UNSUPPORTED, node, "if", e,
                             "not supported inside a schema with "
                             "unevaluatedProperties or unevaluatedItems");
    if (text_is(k, "dependentRequired") || text_is(k, "dependencies"))
        return schema_dependents(s, acc, kv, e);
    if (cond && cond->type == JSON_BOOL &&
        text_is(k, cond->boolean ? "then" : "else"))
        return multiply_schema(s, acc, kv, e);
    if (text_is(k, "not") && !(kv->type == JSON_BOOL && !kv->boolean))
        acc->n = 0; /* not true, not {}: schema_check lets no others pass */
    return ST_OK;
}

static bool asks(const struct json *node, const char *word)
{
    const struct json *v = json_get(node, word);

    return v && !(v->type == JSON_BOOL && v->boolean);
}

/* What unevaluated* of a schema means on each way through it. */
static enum st add_scopes(struct schema_read *s, const struct json *node,
                          struct ways *ways, struct err *e)
{
    struct way *p = arena_array(&s->arena, ways->n + 1, sizeof(*p));

    if (!p)
        return schema_nomem(e);
    for (size_t i = 0; i < ways->n; i++) {
        const struct conj *c = &ways->p[i].c;
        size_t n = c->n;
        struct schema_scope *scope = arena_alloc(&s->arena, sizeof(*scope));
        const struct json **of = arena_array(&s->arena, n + 1, sizeof(*of));

        if (!scope || !of)
            return schema_nomem(e);
        *scope = (struct schema_scope){
            .node = {.type = JSON_OBJ, .key = {schema_scope_mark, 0}},
            .owner = node,
            .of = *c,
        };
        for (size_t k = 0; k < n; k++) {
            of[k] = c->of[k];
            if (asks(node, "unevaluatedItems") && json_get(of[k], "contains"))
                return schema_refuse(s, ST_UNSUPPORTED, of[k], "contains", e,
                                     "not supported inside a schema with "
                                     "unevaluatedItems");
        }
        of[n] = &scope->node;
        p[i] = (struct way){.c = {of, n + 1}, .kinds = ways->p[i].kinds};
    }
    ways->p = p;
    return schema_work(s, 4 * ways->n, e);
}

static enum st read_words(struct schema_read *s, const struct json *node,
                          struct ways *out, struct err *e)
{
    bool itself = schema_says_itself(node);
    enum st st = ST_OK;

    for (const struct json *kv = node->child; !st && kv; kv = kv->next) {
        if (itself && text_is(kv->key, "properties")) {
            st = multiply_self(s, out, node, e);
            itself = false;
        } else {
            st = multiply_word(s, out, node, kv, e);
        }
    }
    return !st && itself ? multiply_self(s, out, node, e) : st;
}

static enum st read_ways(struct schema_read *s, const struct json *node,
                         struct ways *out, struct err *e)
{
    bool asking = asks(node, "unevaluatedProperties") ||
                  asks(node, "unevaluatedItems");
    enum st st = schema_check(s, node, e);

    out->p = arena_alloc(&s->arena, sizeof(*out->p));
    if (!out->p)
        return st ? st : schema_nomem(e);
    out->p[0] = (struct way){.kinds = KIND_ALL};
    out->n = 1;
    s->scopes += asking;
    if (!st)
        st = read_words(s, node, out, e);
    s->scopes -= asking;
    return !st && asking ? add_scopes(s, node, out, e) : st;
}

/* The ways of known[i], which is open and was not looked at. */
static enum st look_at(struct schema_read *s, const struct json *node,
                       size_t i, struct err *e)
{
    const struct json *around = s->reading;
    struct ways ways = {.n = 0};
    enum st st;

    if (s->depth == SCHEMA_DEPTH_MAX)
        return schema_refuse(s, ST_LIMIT, node, combines(node), e,
                             "references and combinations in one another are "
                             "followed %d deep", SCHEMA_DEPTH_MAX);
    s->depth++;
    s->reading = node;
    st = read_ways(s, node, &ways, e);
    s->reading = around;
    s->depth--;
    s->known[i] = (struct schema_known){.ways = ways};
    return st ? st : schema_work(s, 8, e);
}

enum st schema_ways(struct schema_read *s, const struct json *node,
                    const struct ways **out, struct err *e)
{
    static const struct way all = {.kinds = KIND_ALL};
    static const struct ways every = {(struct way *)&all, 1};
    static const struct ways none = {NULL, 0};
    /* Within a scope, anyOf has more ways. */
    const void *key[2] = {node, s->scopes ? node : NULL};
    struct schema_known *known;
    uint32_t *at;
    size_t i;
    enum st st = ST_OK;

    *out = &none;
    if (node->type == JSON_BOOL) {
        *out = node->boolean ? &every : &none;
        return ST_OK;
    }
    at = schema_map_at(s, &s->known_at, key, sizeof(key));
    known = schema_room(s, s->known, s->n_known, &s->cap_known,
                        sizeof(*known));
    if (!at || !known)
        return schema_nomem(e);
    s->known = known;
    if (*at && known[*at - 1].open)
        return schema_refuse(s, ST_INVALID, node, "$ref", e,
                             "recursion without a value in between: the "
                             "schema is part of itself");
    i = *at ? *at - 1 : s->n_known;
    if (!*at) {
        known[s->n_known++] = (struct schema_known){.open = true};
        *at = (uint32_t)s->n_known;
        st = look_at(s, node, i, e);
    }
    *out = &s->known[i].ways;
    return st;
}

enum st schema_set_ways(struct schema_read *s, const struct set *set,
                        struct ways *out, struct err *e)
{
    enum st st = ST_OK;

    out->n = 0;
    if (set->none)
        return ST_OK;
    out->p = arena_alloc(&s->arena, sizeof(*out->p));
    if (!out->p)
        return schema_nomem(e);
    out->p[0] = (struct way){.kinds = KIND_ALL};
    out->n = 1;
    for (size_t i = 0; !st && i < set->n; i++)
        st = multiply_schema(s, out, set->of[i], e);
    return st;
}
