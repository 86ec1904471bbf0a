/*
 * t/lib/gram_t.h - a JSON Schema as text, compiled, and what it accepts.
 */
#ifndef T_GRAM_T_H
#define T_GRAM_T_H

#include "gram/forms.h"
#include "gram/machine.h"

/* The grammar of the values that a schema allows, without white space around
 * them; NULL with a message in e. */
static inline struct grammar *gramt_compile(const struct json *schema,
                                            struct err *e)
{
    struct grammar *g = NULL;
    struct gxs w;
    int rule;

    *e = (struct err){0};
    gxs_init(&w);
    if (!schema_rule(&rule, &w, schema, schema, e) &&
        gram_compile(&g, &w, rule, e))
        g = NULL;
    gxs_release(&w);
    return g;
}

static inline struct grammar *gramt_schema(const char *s, size_t n,
                                           struct err *e)
{
    struct grammar *g = NULL;
    const struct json *schema;
    struct arena a;

    arena_init(&a, 64u << 20);
    *e = (struct err){0};
    if (!json_parse(&schema, &a, s, n, e))
        g = gramt_compile(schema, e);
    arena_release(&a);
    return g;
}

static inline bool gramt_accepts(const struct grammar *g, const char *s,
                                 size_t n)
{
    struct gram_place p;

    gram_begin(g, &p);
    return gram_bytes(g, &p, s, n) && gram_ends(g, &p);
}

#endif
