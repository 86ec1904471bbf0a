#include "config.h"
#include "gram/regex.h"
#include "gram/schema_way.h"

#include <string.h>

#define FEW 16 /* properties that are looked through one by one */

/* --- what schemas say about one name -------------------------------------- */

enum st schema_pattern(struct schema_read *s, struct gxs *w,
                       const struct json *pattern, const struct gx **out,
                       struct err *e)
{
    struct err own = {.st = ST_OK};
    enum st st = regex_parse(out, w, pattern->key, REGEX_SEARCH, GX_JSON,
                             &own);

    return st ? schema_refuse(s, st, pattern, "patternProperties", e, "%s",
                              own.text)
              : ST_OK;
}

/* The properties of one schema in the map of members, under its address and
 * the name; what stands under the address alone says that they are there. */
static enum st index_members(struct schema_read *s, const struct json *props,
                             struct buf *key, struct err *e)
{
    uint32_t *at = NULL;

    for (const struct json *c = props->child; c; c = c->next) {
        const struct json **p = schema_room(s, s->members, s->n_members,
                                            &s->cap_members, sizeof(*p));

        buf_clear(key);
        buf_add(key, &props, sizeof(props));
        buf_add(key, c->key.s, c->key.n);
        at = p && !key->failed
                 ? schema_map_at(s, &s->member_at, key->p, key->n) : NULL;
        if (!at)
            return schema_nomem(e);
        s->members = p;
        p[s->n_members++] = c;
        *at = (uint32_t)s->n_members;
    }
    return schema_work(s, 8 * props->n, e);
}

enum st schema_find_member(struct schema_read *s, const struct json *props,
                           struct text name, const struct json **out,
                           struct err *e)
{
    struct buf key;
    uint32_t *at;
    enum st st = ST_OK;

    *out = NULL;
    if (!props)
        return ST_OK;
    if (props->n <= FEW) {
        for (const struct json *c = props->child; c && !*out; c = c->next)
            if (text_same(c->key, name))
                *out = c;
        return schema_work(s, 2 + props->n / 4, e);
    }
    at = schema_map_at(s, &s->member_at, &props, sizeof(props));
    if (!at)
        return schema_nomem(e);
    buf_init(&key, BUF_ANSWER);
    if (!*at) {
        *at = 1;
        st = index_members(s, props, &key, e);
    }
    buf_clear(&key);
    buf_add(&key, &props, sizeof(props));
    buf_add(&key, name.s, name.n);
    at = !st && !key.failed
             ? schema_map_at(s, &s->member_at, key.p, key.n) : NULL;
    buf_release(&key);
    if (!at)
        return st ? st : schema_nomem(e);
    if (*at)
        *out = s->members[*at - 1];
    return schema_work(s, 8 + name.n / 4, e);
}

/* Does a schema of a scope evaluate every name? */
static bool evaluates_all(const struct schema_scope *scope,
                          const struct json *node)
{
    return json_get(node, "additionalProperties") ||
           (node != scope->owner && json_get(node, "unevaluatedProperties"));
}

static enum st add_unevaluated(struct schema_read *s,
                               const struct schema_scope *scope,
                               struct text name, struct set *out,
                               struct err *e)
{
    const struct json *rest = json_get(scope->owner, "unevaluatedProperties");
    const struct json *c = NULL;
    bool hit = !rest;
    enum st st = ST_OK;

    for (size_t i = 0; !st && !hit && i < scope->of.n; i++) {
        const struct json *node = scope->of.of[i];
        const struct json *p = json_get(node, "patternProperties");

        hit = evaluates_all(scope, node);
        if (!hit)
            st = schema_find_member(s, json_get(node, "properties"), name, &c, e);
        hit |= c != NULL;
        for (p = p ? p->child : NULL; !st && !hit && p; p = p->next)
            st = schema_pattern_hits(s, p, name, &hit, e);
    }
    return st || hit ? st : set_add(s, out, rest, e);
}

static enum st add_member(struct schema_read *s, const struct json *node,
                          struct text name, struct set *out, struct err *e)
{
    const struct json *patterns = json_get(node, "patternProperties");
    const struct json *others = json_get(node, "additionalProperties");
    const struct json *c = NULL;
    enum st st = ST_OK;
    bool found;

    if (scope_of(node))
        return add_unevaluated(s, scope_of(node), name, out, e);
    st = schema_find_member(s, json_get(node, "properties"), name, &c, e);
    found = c;
    if (!st && c)
        st = set_add(s, out, c, e);
    for (c = patterns ? patterns->child : NULL; !st && c; c = c->next) {
        bool hit = false;

        st = schema_pattern_hits(s, c, name, &hit, e);
        if (!st && hit)
            st = set_add(s, out, c, e);
        found |= hit;
    }
    return st || found || !others ? st : set_add(s, out, others, e);
}

enum st schema_member_set(struct schema_read *s, const struct conj *c,
                          struct text name, struct set *out, struct err *e)
{
    const struct json text = {.type = JSON_STR, .str = name};
    struct set names = {.n = 0};
    bool yes = true;
    enum st st = schema_names_set(s, c, &names, e);

    if (!st && (names.n || names.none))
        st = schema_set_admit(s, &names, &text, &yes, e);
    out->none |= !yes;
    for (size_t i = 0; !st && yes && i < c->n; i++)
        st = add_member(s, c->of[i], name, out, e);
    return st;
}

/* --- one object ----------------------------------------------------------- */

struct prop {
    struct text name;
    bool required;
    const struct gx *x; /* name and value; none: it must not be there */
};

struct object {
    struct schema_read *s;
    const struct conj *c;
    struct prop *props;  /* [n] declared names, then required ones */
    size_t n, cap;
    struct schema_map at; /* name to 1 + its place */
    bool counted;
    uint32_t min, max;
    const struct gx *names; /* that propertyNames allows; NULL: any */
    const struct gx *extra; /* a name that is not declared and its value */
    bool impossible;        /* a required name must not be there */
    const struct json *patterns[SCHEMA_PATTERNS_MAX];
    size_t n_patterns;
};

static enum st add_prop(struct object *o, struct text name, bool required,
                        struct err *e)
{
    struct prop *p = schema_room(o->s, o->props, o->n, &o->cap, sizeof(*p));
    uint32_t *at = p ? schema_map_at(o->s, &o->at, name.s, name.n) : NULL;

    if (!at)
        return schema_nomem(e);
    o->props = p;
    if (!*at) {
        p[o->n] = (struct prop){.name = name};
        *at = (uint32_t)++o->n;
    }
    p[*at - 1].required |= required;
    return schema_work(o->s, 4 + name.n / 4, e);
}

/* Names in the order in which they are written, and bounds. */
static enum st read_names(struct object *o, struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < o->c->n; i++) {
        const struct json *node = o->c->of[i];
        const struct json *p = json_get(node, "properties");
        uint32_t min = schema_count(node, "minProperties", 0);
        uint32_t max = schema_count(node, "maxProperties", GX_MANY);

        for (p = p ? p->child : NULL; !st && p; p = p->next)
            st = add_prop(o, p->key, false, e);
        o->min = min > o->min ? min : o->min;
        o->max = max < o->max ? max : o->max;
    }
    for (size_t i = 0; !st && i < o->c->n; i++) {
        const struct json *r = json_get(o->c->of[i], "required");

        for (r = r ? r->child : NULL; !st && r; r = r->next)
            st = add_prop(o, r->str, true, e);
    }
    return st;
}

/* "name" : value, from the value. */
static const struct gx *pair(struct object *o, const struct gx *name,
                             const struct gx *value)
{
    struct gxs *w = o->s->w;
    const struct gx *const of[] = {name, gx_space(w), gx_lit(w, ":"),
                                   gx_space(w), value};

    return gx_seqn(w, of, 5);
}

static const struct gx *quoted(struct object *o, const struct gx *text)
{
    struct gxs *w = o->s->w;

    return gx_seqn(w, (const struct gx *const[]){gx_lit(w, "\""), text,
                                                 gx_lit(w, "\"")}, 3);
}

static enum st write_props(struct object *o, struct err *e)
{
    struct gxs *w = o->s->w;
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < o->n; i++) {
        struct prop *p = &o->props[i];
        const struct gx *value = NULL;
        struct set set = {.n = 0};

        st = schema_member_set(o->s, o->c, p->name, &set, e);
        if (st)
            break;
        p->x = gx_none(w);
        if (set.none) {
            o->impossible |= p->required;
            continue;
        }
        st = schema_set_value(o->s, &set, o->counted, &value, e);
        if (!st)
            p->x = pair(o, quoted(o, gx_text(w, p->name.s, p->name.n,
                                             GX_JSON)), value);
    }
    return st;
}

/* --- names that are not declared ------------------------------------------ */

/* Each pattern once, by its text. */
static enum st read_patterns(struct object *o, struct err *e)
{
    for (size_t i = 0; i < o->c->n; i++) {
        const struct json *p = json_get(o->c->of[i], "patternProperties");

        for (p = p ? p->child : NULL; p; p = p->next) {
            size_t k = 0;

            while (k < o->n_patterns && !text_same(o->patterns[k]->key,
                                                   p->key))
                k++;
            if (k == SCHEMA_PATTERNS_MAX)
                return schema_refuse(o->s, ST_LIMIT, o->c->of[i],
                                     "patternProperties", e,
                                     "more than %d patterns of one object",
                                     SCHEMA_PATTERNS_MAX);
            if (k == o->n_patterns)
                o->patterns[o->n_patterns++] = p;
        }
    }
    return ST_OK;
}

/* Is one of a schema's patterns in `mask`? Its schemas are added, if `set`. */
static enum st add_matches(struct object *o, const struct json *node,
                           unsigned mask, struct set *set, bool *found,
                           struct err *e)
{
    const struct json *p = json_get(node, "patternProperties");
    enum st st = ST_OK;

    *found = false;
    for (p = p ? p->child : NULL; !st && p; p = p->next)
        for (size_t k = 0; !st && k < o->n_patterns; k++)
            if (mask >> k & 1 && text_same(o->patterns[k]->key, p->key)) {
                *found = true;
                if (set)
                    st = set_add(o->s, set, p, e);
            }
    return st;
}

/* What unevaluatedProperties says of names that match those patterns. */
static enum st extra_unevaluated(struct object *o,
                                 const struct schema_scope *scope,
                                 unsigned mask, struct set *set, struct err *e)
{
    const struct json *rest = json_get(scope->owner, "unevaluatedProperties");
    bool hit = !rest;
    enum st st = ST_OK;

    for (size_t i = 0; !st && !hit && i < scope->of.n; i++) {
        st = add_matches(o, scope->of.of[i], mask, NULL, &hit, e);
        hit |= evaluates_all(scope, scope->of.of[i]);
    }
    return st || hit ? st : set_add(o->s, set, rest, e);
}

/* What holds for names that match exactly the patterns in `mask`. */
static enum st extra_set(struct object *o, unsigned mask, struct set *set,
                         struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < o->c->n; i++) {
        const struct json *node = o->c->of[i];
        const struct json *others = json_get(node, "additionalProperties");
        bool found = false;

        if (scope_of(node)) {
            st = extra_unevaluated(o, scope_of(node), mask, set, e);
            continue;
        }
        st = add_matches(o, node, mask, set, &found, e);
        if (!st && !found && others)
            st = set_add(o->s, set, others, e);
    }
    return st;
}

/* Names that match exactly the patterns in `mask`, without the declared. */
static enum st extra_names(struct object *o, unsigned mask,
                           const struct gx **out, struct err *e)
{
    struct gxs *w = o->s->w;
    const struct gx *x = o->names ? o->names : gx_any_text(w, GX_JSON);
    const struct gx *match = NULL;
    const struct gx **declared = arena_array(&o->s->arena, o->n + 1,
                                             sizeof(*declared));
    enum st st = declared ? ST_OK : schema_nomem(e);

    for (size_t k = 0; !st && k < o->n_patterns; k++) {
        st = schema_pattern(o->s, w, o->patterns[k], &match, e);
        if (!st)
            x = mask >> k & 1 ? gx_both(w, x, match) : gx_minus(w, x, match);
    }
    for (size_t i = 0; !st && i < o->n; i++)
        declared[i] = gx_text(w, o->props[i].name.s, o->props[i].name.n,
                              GX_JSON);
    if (!st && o->n)
        x = gx_minus(w, x, gx_altn(w, declared, o->n));
    *out = x;
    return st ? st : schema_work(o->s, 1, e);
}

static enum st write_extra(struct object *o, struct err *e)
{
    struct gxs *w = o->s->w;
    struct set allowed = {.n = 0};
    enum st st = read_patterns(o, e);

    o->extra = gx_none(w);
    if (!st)
        st = schema_names_set(o->s, o->c, &allowed, e);
    if (!st)
        st = schema_names(o->s, &allowed, &o->names, e);
    for (unsigned mask = 0; !st && mask < 1u << o->n_patterns; mask++) {
        const struct gx *names = NULL, *value = NULL;
        struct set set = {.n = 0};

        st = extra_set(o, mask, &set, e);
        if (st || set.none)
            continue;
        st = extra_names(o, mask, &names, e);
        if (!st && names != gx_none(w))
            st = schema_set_value(o->s, &set, o->counted, &value, e);
        if (value)
            o->extra = gx_alt(w, o->extra, pair(o, quoted(o, names), value));
    }
    return st;
}

/* --- all together --------------------------------------------------------- */

static const struct gx *comma(struct gxs *w)
{
    return gx_seqn(w, (const struct gx *const[]){gx_space(w), gx_lit(w, ","),
                                                 gx_space(w)}, 3);
}

/* The members; *empty: there may be none. */
static enum st members(struct object *o, bool *empty, const struct gx **out,
                       struct err *e)
{
    struct gxs *w = o->s->w;
    const struct gx **of = arena_array(&o->s->arena, o->n + 1, sizeof(*of));
    bool *required = arena_array(&o->s->arena, o->n + 1, sizeof(*required));

    if (!of || !required)
        return schema_nomem(e);
    *empty = true;
    for (size_t i = 0; i < o->n; i++) {
        of[i] = o->props[i].x;
        required[i] = o->props[i].required;
        *empty &= !required[i];
    }
    *out = gx_list(w, of, required, o->n, comma(w), o->extra);
    return ST_OK;
}

static size_t count_required(const struct object *o)
{
    size_t n = 0;

    for (size_t i = 0; i < o->n; i++)
        n += o->props[i].required;
    return n;
}

enum st schema_object(struct schema_read *s, const struct conj *c,
                      const struct gx **out, struct err *e)
{
    struct gxs *w = s->w;
    struct object o = {.s = s, .c = c, .max = GX_MANY};
    const struct gx *x = NULL;
    bool empty = false;
    int rule;
    enum st st = read_names(&o, e);

    *out = gx_none(w);
    if (st || o.min > o.max || count_required(&o) > o.max)
        return st;
    if (o.min <= count_required(&o))
        o.min = 0;
    o.counted = o.min || o.max != GX_MANY;
    st = write_props(&o, e);
    if (st || o.impossible)
        return st;
    st = write_extra(&o, e);
    if (!st)
        st = members(&o, &empty, &x, e);
    if (st)
        return st;
    x = gx_seq(w, x, gx_space(w));
    x = gx_seqn(w, (const struct gx *const[]){gx_lit(w, "{"), gx_space(w),
                                              empty ? gx_opt(w, x) : x,
                                              gx_lit(w, "}")}, 4);
    if (o.counted) {
        rule = gx_rule(w);
        if (rule < 0)
            return schema_work(s, 0, e);
        gx_rule_set(w, rule, x, o.min, o.max);
        x = gx_call(w, rule, false);
    }
    *out = x;
    return schema_work(s, 1, e);
}
