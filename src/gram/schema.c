#include "config.h"
#include "gram/schema_way.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_MAX_SHOWN 240 /* bytes of a path in a message */
#define SMALL_BYTES 512    /* of a schema that is told by its content */
#define SMALL_NODES 48
#define SPLIT_FROM 7       /* objects of one place that are not told apart */
#define SPLIT_TO 24

/* --- the reader ----------------------------------------------------------- */

void schema_read_init(struct schema_read *s, struct gxs *w,
                      const struct json *root)
{
    *s = (struct schema_read){.w = w, .root = root};
    arena_init(&s->arena, SCHEMA_ARENA);
    if (!w->schemas) {
        w->schemas = arena_alloc(&w->arena, sizeof(*w->schemas));
        if (w->schemas)
            schema_shared_init(w->schemas);
    }
    if (!w->schemas)
        schema_shared_init(&s->shared);
}

void schema_read_release(struct schema_read *s)
{
    for (size_t i = 0; i < s->n_testers; i++)
        gram_unref(s->testers[i].g);
    arena_release(&s->arena);
}

struct gxs *schema_workshop(struct schema_read *s)
{
    return s->w;
}

struct schema_shared *schema_shared(struct schema_read *s)
{
    return s->w->schemas ? s->w->schemas : &s->shared;
}

static enum st failed(struct schema_read *s, struct err *e)
{
    if (s->w->err.st && e)
        *e = s->w->err;
    return s->w->err.st;
}

enum st schema_work(struct schema_read *s, size_t steps, struct err *e)
{
    return gxs_work(s->w, steps * SCHEMA_STEP) ? ST_OK : failed(s, e);
}

enum st schema_nomem(struct err *e)
{
    return err_set(e, ST_LIMIT, "",
                   "the schema needs more than %u MiB of memory to read",
                   SCHEMA_ARENA >> 20);
}

void *schema_room(struct schema_read *s, void *p, size_t n, size_t *cap,
                  size_t size)
{
    size_t more = *cap ? *cap * 2 : 8;
    void *q;

    if (n < *cap)
        return p;
    q = arena_array(&s->arena, more, size);
    if (!q)
        return NULL;
    if (n)
        memcpy(q, p, n * size);
    *cap = more;
    return q;
}

/* --- messages ------------------------------------------------------------- */

/* From a node up to the root, as far as it was found. */
struct trail {
    const struct json *at[JSON_DEPTH_MAX + 1];
    size_t n;
};

static bool find_node(const struct json *from, const struct json *node,
                      struct trail *t, size_t depth)
{
    if (depth > JSON_DEPTH_MAX)
        return false;
    t->at[depth] = from;
    t->n = depth + 1;
    if (from == node)
        return true;
    for (const struct json *c = from->child; c; c = c->next)
        if (find_node(c, node, t, depth + 1))
            return true;
    return false;
}

static void add_step(struct buf *b, const struct json *parent,
                     const struct json *child)
{
    buf_putc(b, '/');
    if (parent->type == JSON_ARR) {
        size_t i = 0;

        for (const struct json *c = parent->child; c != child; c = c->next)
            i++;
        buf_printf(b, "%zu", i);
        return;
    }
    for (size_t i = 0; i < child->key.n; i++) {
        char c = child->key.s[i];

        if (c == '~' || c == '/')
            buf_puts(b, c == '~' ? "~0" : "~1");
        else
            buf_putc(b, (unsigned char)c < 0x20 || c == 0x7f ? '?' : c);
    }
}

/* The end of what is shown of s[0..n): a whole character. */
static size_t clipped(const char *s, size_t n)
{
    if (n <= PATH_MAX_SHOWN)
        return n;
    for (n = PATH_MAX_SHOWN; n && ((unsigned char)s[n] & 0xc0) == 0x80; n--)
        ;
    return n;
}

enum st schema_refuse(struct schema_read *s, enum st st,
                      const struct json *node, const char *keyword,
                      struct err *e, const char *fmt, ...)
{
    struct trail t = {.n = 0};
    struct buf b;
    char text[256];
    va_list ap;
    size_t n;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buf_init(&b, BUF_MESSAGE);
    buf_putc(&b, '#');
    if (s->root && node && find_node(s->root, node, &t, 0))
        for (size_t i = 1; i < t.n; i++)
            add_step(&b, t.at[i - 1], t.at[i]);
    n = clipped(b.p, b.n);
    err_set(e, st, "", "%s at %.*s%s: %s", keyword, (int)n, b.p,
            n < b.n ? "..." : "", text);
    buf_release(&b);
    return st;
}

/* --- sets ----------------------------------------------------------------- */

static bool is_small(const struct json *v, size_t *nodes)
{
    if (*nodes == SMALL_NODES || v->n > SMALL_NODES ||
        v->str.n > SMALL_BYTES || v->key.n > SMALL_BYTES)
        return false;
    ++*nodes;
    for (const struct json *c = v->child; c; c = c->next)
        if (!is_small(c, nodes))
            return false;
    return true;
}

/* What a small schema says, as text; false: it is large. */
static bool small_text(const struct json *node, struct buf *b)
{
    size_t nodes = 0;

    if (node->n > SMALL_NODES)
        return false;
    for (const struct json *kv = node->child; kv; kv = kv->next) {
        enum word_kind kind = schema_word(kv->key);

        if (kind == WORD_SAYS || kind == WORD_UNKNOWN)
            continue;
        if (kind == WORD_REFUSED || !is_small(kv, &nodes))
            return false;
        buf_add(b, kv->key.s, kv->key.n);
        buf_putc(b, '=');
        schema_literal_text(kv, b);
        buf_putc(b, ';');
    }
    return !b->failed;
}

/* Small schemas that read the same are one: what they allow is then one rule,
 * wherever it stands. *node NULL: it says nothing. */
static enum st same_small(struct schema_read *s, const struct json **node,
                          struct err *e)
{
    struct buf b;
    size_t resource = 0;
    enum st st = schema_work(s, 8, e);
    bool small;

    buf_init(&b, SMALL_BYTES + sizeof(resource));
    small = small_text(*node, &b);
    if (!st && small && b.n && s->root) /* where its references start */
        st = schema_resource_of(s, *node, &resource, e);
    if (!st && small && !b.n) {
        *node = NULL;
    } else if (!st && small) {
        const struct json **p = NULL;
        uint32_t *at = NULL;

        buf_add(&b, &resource, sizeof(resource));
        p = schema_room(s, s->small, s->n_small, &s->cap_small, sizeof(*p));
        at = p ? schema_map_at(s, &s->small_at, b.p, b.n) : NULL;
        if (!at) {
            st = schema_nomem(e);
        } else {
            s->small = p;
            if (!*at) {
                p[s->n_small++] = *node;
                *at = (uint32_t)s->n_small;
            }
            *node = p[*at - 1];
        }
    }
    buf_release(&b);
    return st;
}

/* A schema that is only a $ref is what it points at. */
static enum st follow(struct schema_read *s, const struct json **node,
                      struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; !st && i < SCHEMA_DEPTH_MAX; i++) {
        const struct json *only = NULL;
        size_t n = 0;

        if ((*node)->type != JSON_OBJ)
            return ST_OK;
        for (const struct json *kv = (*node)->child; kv; kv = kv->next) {
            enum word_kind kind = schema_word(kv->key);

            if (kind == WORD_READ || kind == WORD_REFUSED) {
                only = kv;
                n++;
            }
        }
        if (n != 1 || !text_is(only->key, "$ref"))
            return ST_OK;
        st = schema_check(s, *node, e);
        if (!st)
            st = schema_ref(s, *node, "$ref", node, e);
    }
    return st; /* a cycle is seen by schema_ways */
}

enum st set_add(struct schema_read *s, struct set *set,
                const struct json *schema, struct err *e)
{
    const struct json **p = NULL;
    enum st st = follow(s, &schema, e);

    if (!st && schema->type == JSON_OBJ)
        st = same_small(s, &schema, e);
    if (st || !schema)
        return st;
    if (schema->type != JSON_OBJ) {
        set->none |= !schema->boolean;
        return ST_OK;
    }
    for (size_t i = 0; i < set->n; i++)
        if (set->of[i] == schema)
            return ST_OK;
    p = schema_room(s, set->of, set->n, &set->cap, sizeof(*p));
    if (!p)
        return schema_nomem(e);
    set->of = p;
    set->of[set->n++] = schema;
    return schema_work(s, set->n, e);
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t) * (const void *const *)a;
    uintptr_t y = (uintptr_t) * (const void *const *)b;

    return (x > y) - (x < y);
}

enum st schema_set_rule(struct schema_read *s, const struct set *set,
                        int *rule, struct err *e)
{
    const struct json *one = NULL, **key = &one;
    struct schema_job *jobs = NULL;
    uint32_t *at = NULL;

    *rule = -1;
    if (set->none)
        return ST_OK;
    if (set->n) {
        key = arena_array(&s->arena, set->n, sizeof(*key));
        if (!key)
            return schema_nomem(e);
        memcpy(key, set->of, set->n * sizeof(*key));
        qsort(key, set->n, sizeof(*key), by_address);
    }
    at = schema_map_at(s, &s->rules, key,
                       (set->n ? set->n : 1) * sizeof(*key));
    jobs = schema_room(s, s->jobs, s->n_jobs, &s->cap_jobs, sizeof(*jobs));
    if (!at || !jobs)
        return schema_nomem(e);
    s->jobs = jobs;
    if (!*at) {
        jobs[s->n_jobs] = (struct schema_job){.set = *set,
                                              .rule = gx_rule(s->w)};
        if (jobs[s->n_jobs].rule < 0)
            return failed(s, e);
        *at = (uint32_t)++s->n_jobs;
    }
    *rule = jobs[*at - 1].rule;
    return schema_work(s, 8, e);
}

enum st schema_set_value(struct schema_read *s, const struct set *set,
                         bool counts, const struct gx **out, struct err *e)
{
    int rule = -1;
    enum st st = schema_set_rule(s, set, &rule, e);

    *out = rule < 0 ? gx_none(s->w) : gx_call(s->w, rule, counts);
    return st;
}

enum st schema_value(struct schema_read *s, const struct conj *c, bool counts,
                     const struct gx **out, struct err *e)
{
    struct set set = {.n = 0};
    enum st st = ST_OK;

    *out = gx_none(s->w);
    for (size_t i = 0; !st && i < c->n; i++)
        st = set_add(s, &set, c->of[i], e);
    return st ? st : schema_set_value(s, &set, counts, out, e);
}

/* --- rules ---------------------------------------------------------------- */

/* A list of expressions, one of which it is. */
struct alts {
    const struct gx **of;
    size_t n, cap;
};

static enum st alt_add(struct schema_read *s, struct alts *a,
                       const struct gx *x, struct err *e)
{
    const struct gx **p = schema_room(s, a->of, a->n, &a->cap, sizeof(*p));

    if (!p)
        return schema_nomem(e);
    a->of = p;
    a->of[a->n++] = x;
    return ST_OK;
}

/* An expression as a rule of its own. */
static const struct gx *as_rule(struct schema_read *s, const struct gx *x)
{
    int rule = gx_rule(s->w);

    if (rule < 0)
        return gx_none(s->w);
    gx_rule_set(s->w, rule, x, 0, GX_MANY);
    return gx_call(s->w, rule, false);
}

/* What one way allows. `split`: its objects as a rule. */
static enum st write_way(struct schema_read *s, const struct way *way,
                         bool split, struct alts *a, struct err *e)
{
    const struct json **values = NULL;
    const struct gx *x = NULL;
    size_t n = 0;
    bool has = false;
    enum st st = schema_candidates(s, &way->c, &has, &values, &n, e);

    if (!st && has)
        st = schema_literals(s, values, n, &x, e);
    if (st || has)
        return st ? st : alt_add(s, a, x, e);
    if (way->kinds & KIND_NULL)
        st = alt_add(s, a, gx_lit(s->w, "null"), e);
    if (!st && way->kinds & KIND_BOOL)
        st = alt_add(s, a, gx_alt(s->w, gx_lit(s->w, "true"),
                                  gx_lit(s->w, "false")), e);
    if (!st && way->kinds & KIND_INT) {
        st = schema_number(s, &way->c, !(way->kinds & KIND_FRAC), &x, e);
        if (!st)
            st = alt_add(s, a, x, e);
    }
    if (!st && way->kinds & KIND_STR) {
        st = schema_string(s, &way->c, &x, e);
        if (!st)
            st = alt_add(s, a, x, e);
    }
    if (!st && way->kinds & KIND_ARR) {
        st = schema_array(s, &way->c, &x, e);
        if (!st)
            st = alt_add(s, a, x, e);
    }
    if (!st && way->kinds & KIND_OBJ) {
        st = schema_object(s, &way->c, &x, e);
        if (!st)
            st = alt_add(s, a, split ? as_rule(s, x) : x, e);
    }
    return st;
}

/* The list of a schema that only chooses between others. */
static const struct json *only_choice(const struct json *node)
{
    const struct json *list = NULL;

    for (const struct json *kv = node->child; kv; kv = kv->next) {
        enum word_kind kind = schema_word(kv->key);

        if (kind == WORD_SAYS || kind == WORD_UNKNOWN)
            continue;
        if (list || !(text_is(kv->key, "anyOf") || text_is(kv->key, "oneOf")))
            return NULL;
        list = kv;
    }
    return list;
}

static unsigned ways_kinds(const struct ways *ways)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < ways->n; i++)
        kinds |= ways->p[i].kinds;
    return kinds;
}

/* Alternatives that hold things and share their kind with no other are called,
 * not written out: "this object or null" stands in many places. The ways of
 * the others are what is left in *ways. */
static enum st call_choices(struct schema_read *s, const struct json *list,
                            struct ways *ways, struct alts *a, struct err *e)
{
    const struct ways *of = NULL;
    unsigned once = 0, twice = 0, called = 0;
    size_t n = 0;
    enum st st = ST_OK;

    for (const struct json *m = list->child; !st && m; m = m->next) {
        st = schema_ways(s, m, &of, e);
        twice |= once & ways_kinds(of);
        once |= ways_kinds(of);
    }
    for (const struct json *m = list->child; !st && m; m = m->next) {
        unsigned kinds = 0;
        struct set set = {.n = 0};
        const struct gx *x = NULL;

        st = schema_ways(s, m, &of, e);
        kinds = ways_kinds(of);
        if (st || kinds & twice || !(kinds & (KIND_OBJ | KIND_ARR)))
            continue;
        st = set_add(s, &set, m, e);
        if (!st)
            st = schema_set_value(s, &set, false, &x, e);
        if (!st)
            st = alt_add(s, a, x, e);
        called |= kinds;
    }
    for (size_t i = 0; i < ways->n; i++)
        if (!(ways->p[i].kinds & called))
            ways->p[n++] = ways->p[i];
    ways->n = n;
    return st;
}

/* Objects that are not told apart by what they must have: one automaton of many
 * would have a state for each set of them that may still be meant. A few, and
 * not more than there may be readings of a text, are rules instead. */
static enum st must_split(struct schema_read *s, const struct ways *ways,
                          bool *split, struct err *e)
{
    bool apart = false;
    size_t n = 0;
    enum st st = ST_OK;

    for (size_t i = 0; i < ways->n; i++)
        n += (ways->p[i].kinds & KIND_OBJ) != 0;
    *split = n >= SPLIT_FROM && n <= SPLIT_TO;
    if (*split)
        st = schema_all_apart(s, ways, &apart, e);
    *split &= !apart;
    return st;
}

static enum st write_rule(struct schema_read *s, const struct schema_job *job,
                          struct err *e)
{
    bool split = false;
    struct ways ways = {.n = 0};
    struct alts a = {.n = 0};
    const struct json *list = job->set.n == 1 ? only_choice(job->set.of[0])
                                              : NULL;
    enum st st;

    s->reading = job->set.n ? job->set.of[0] : s->root;
    st = schema_set_ways(s, &job->set, &ways, e);
    if (!st && list && list->n > 1)
        st = call_choices(s, list, &ways, &a, e);
    if (!st)
        st = must_split(s, &ways, &split, e);
    for (size_t i = 0; !st && i < ways.n; i++)
        st = write_way(s, &ways.p[i], split, &a, e);
    if (!st)
        gx_rule_set(s->w, job->rule, gx_altn(s->w, a.of, a.n), 0, GX_MANY);
    return st ? st : failed(s, e);
}

/* Rules until none is left that another calls. */
static enum st write_all(struct schema_read *s, struct err *e)
{
    enum st st = ST_OK;

    while (!st && (s->next_job < s->n_jobs || s->next_one < s->n_ones)) {
        if (s->next_one < s->n_ones) {
            st = schema_one_of(s, s->ones[s->next_one++], e);
        } else {
            struct schema_job job = s->jobs[s->next_job++];

            st = write_rule(s, &job, e);
        }
    }
    return st;
}

enum st schema_rule(int *rule, struct gxs *w, const struct json *root,
                    const struct json *schema, struct err *e)
{
    struct schema_read s;
    struct set set = {.n = 0};
    enum st st;

    *rule = -1;
    schema_read_init(&s, w, root);
    if (schema->type != JSON_OBJ && schema->type != JSON_BOOL)
        st = schema_refuse(&s, ST_INVALID, schema, "schema", e,
                           "must be an object or a boolean, not %s",
                           json_type_name(schema));
    else
        st = set_add(&s, &set, schema, e);
    if (!st && set.none)
        st = err_set(e, ST_INVALID, "", "the schema is false: no text matches");
    if (!st)
        st = schema_set_rule(&s, &set, rule, e);
    if (!st)
        st = write_all(&s, e);
    schema_read_release(&s);
    return st;
}

/* A schema of ours: what can fail is noted in the workshop. */
static int rule_or_fail(struct gxs *w, const struct json *schema)
{
    struct err e = {.st = ST_OK};
    int rule = -1;

    if (!schema_rule(&rule, w, NULL, schema, &e))
        return rule;
    gxs_fail(w, e.st, e.where, "%s", e.text);
    return gx_rule(w);
}

int schema_any(struct gxs *w)
{
    static const struct json any = {.type = JSON_BOOL, .boolean = true};

    return rule_or_fail(w, &any);
}

int schema_any_object(struct gxs *w)
{
    static const struct json word = {.type = JSON_STR,
                                     .str = {"object", 6},
                                     .key = {"type", 4}};
    const struct json object = {.type = JSON_OBJ, .n = 1,
                                .child = (struct json *)&word};

    return rule_or_fail(w, &object);
}
