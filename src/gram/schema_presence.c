#include "config.h"
#include "gram/schema_way.h"

#include <string.h>

/*
 * Keywords that ask which names are there together: dependentRequired, and
 * oneOf of alternatives that only require names. "It is not there" is a schema
 * that we make: {"properties": {name: false}}.
 */

/* {word: value}, or NULL when memory is out. */
static struct json *made(struct schema_read *s, const char *word,
                         struct json *value)
{
    struct json *node = arena_alloc(&s->arena, sizeof(*node));

    if (!node || !value)
        return NULL;
    value->key = (struct text){word, strlen(word)};
    *node = (struct json){.type = JSON_OBJ, .n = 1, .child = value};
    return node;
}

static struct json *made_value(struct schema_read *s, struct json v)
{
    struct json *p = arena_alloc(&s->arena, sizeof(*p));

    if (p)
        *p = v;
    return p;
}

/* {"properties": {name: false}} */
static const struct json *made_absent(struct schema_read *s, struct text name)
{
    struct json *no = made_value(s, (struct json){.type = JSON_BOOL,
                                                  .key = name});

    return no ? made(s, "properties",
                     made_value(s, (struct json){.type = JSON_OBJ, .n = 1,
                                                 .child = no}))
              : NULL;
}

/* {"required": [name, ...]} */
static const struct json *made_required(struct schema_read *s,
                                        struct text name,
                                        const struct json *more)
{
    struct json *first = made_value(s, (struct json){.type = JSON_STR,
                                                     .str = name});

    if (!first)
        return NULL;
    first->next = more->child;
    return made(s, "required",
                made_value(s, (struct json){.type = JSON_ARR, .child = first,
                                            .n = 1 + more->n}));
}

/* One member of dependentRequired or dependencies: the name is not there, or it
 * is and so are those that depend on it. */
static enum st multiply_dependent(struct schema_read *s, struct ways *acc,
                                  const struct json *dep, struct err *e)
{
    const struct json *no = made_absent(s, dep->key);
    const struct json *yes = made_required(s, dep->key, dep);
    const struct ways *ways = NULL;
    struct ways sum = {.n = 0};
    size_t cap = 0;
    enum st st;

    if (!no || !yes)
        return schema_nomem(e);
    st = schema_ways(s, yes, &ways, e);
    if (!st)
        st = schema_add_ways(s, &sum, &cap, ways, e);
    if (!st)
        st = schema_ways(s, no, &ways, e);
    if (!st)
        st = schema_add_ways(s, &sum, &cap, ways, e);
    return st ? st : schema_multiply(s, acc, &sum, e);
}

/* Alternatives of oneOf that only ask which names are there. */
static bool asks_names(const struct json *m, bool *typed)
{
    bool some = false;

    *typed = false;
    if (m->type != JSON_OBJ)
        return false;
    for (const struct json *kv = m->child; kv; kv = kv->next) {
        enum word_kind kind = schema_word(kv->key);

        if (text_is(kv->key, "required") && kv->n)
            some = true;
        else if (text_is(kv->key, "type") && json_is(kv, "object"))
            *typed = true;
        else if (kind != WORD_SAYS && kind != WORD_UNKNOWN)
            return false;
    }
    return some;
}

bool schema_only_names(const struct json *list)
{
    size_t n = 0;

    for (const struct json *m = list->child; m; m = m->next) {
        bool one = false;

        if (!asks_names(m, &one))
            return false;
        n += one;
    }
    return list->n > 1 && (!n || n == list->n);
}

static bool requires(const struct json *m, struct text name)
{
    const struct json *r = json_get(m, "required")->child;

    while (r && !text_same(r->str, name))
        r = r->next;
    return r;
}

/* *acc and not all names that `other` requires are there; those that `m` does
 * are. */
static enum st multiply_lacks(struct schema_read *s, struct ways *acc,
                              const struct json *m, const struct json *other,
                              struct err *e)
{
    const struct json *r = json_get(other, "required")->child;
    struct ways sum = {.n = 0};
    size_t cap = 0;
    enum st st = ST_OK;

    for (; !st && r; r = r->next) {
        const struct json *no = made_absent(s, r->str);
        const struct ways *ways = NULL;

        if (!no)
            return schema_nomem(e);
        if (requires(m, r->str))
            continue;
        st = schema_ways(s, no, &ways, e);
        if (!st)
            st = schema_add_ways(s, &sum, &cap, ways, e);
    }
    return st ? st : schema_multiply(s, acc, &sum, e);
}

/* What is no object is none of them or all, and so never one. */
enum st schema_one_name(struct schema_read *s, struct ways *acc,
                        const struct json *list, struct err *e)
{
    const struct json *object =
        made(s, "type",
             made_value(s, (struct json){.type = JSON_STR,
                                         .str = {"object", 6}}));
    const struct ways *objects = NULL;
    struct ways sum = {.n = 0};
    size_t cap = 0;
    enum st st = object ? schema_ways(s, object, &objects, e)
                        : schema_nomem(e);

    for (const struct json *m = list->child; !st && m; m = m->next) {
        const struct ways *ways = NULL;
        struct ways one = {.n = 0};
        size_t room = 0;

        st = schema_ways(s, m, &ways, e);
        if (!st)
            st = schema_add_ways(s, &one, &room, ways, e);
        if (!st)
            st = schema_multiply(s, &one, objects, e);
        for (const struct json *o = list->child; !st && o; o = o->next)
            if (o != m)
                st = multiply_lacks(s, &one, m, o, e);
        if (!st)
            st = schema_add_ways(s, &sum, &cap, &one, e);
    }
    return st ? st : schema_multiply(s, acc, &sum, e);
}

enum st schema_dependents(struct schema_read *s, struct ways *acc,
                          const struct json *map, struct err *e)
{
    enum st st = ST_OK;

    for (const struct json *d = map->child; !st && d; d = d->next)
        st = multiply_dependent(s, acc, d, e);
    return st;
}
