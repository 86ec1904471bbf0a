#include "config.h"
#include "gram/schema_way.h"

#include <stdlib.h>
#include <string.h>

/*
 * Values without parts are a tree of their bytes, whose branches are shared as
 * far as they begin alike: a list of 100,000 names costs what it says.
 */

struct texts {
    struct text *of; /* [n] as they are written; in the arena */
    size_t n;
    size_t states;   /* of the tree */
};

static int by_bytes(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    int c = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);

    return c ? c : (x->n > y->n) - (x->n < y->n);
}

static size_t common(struct text a, struct text b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.s[n] == b.s[n])
        n++;
    return n;
}

static enum st read_texts(struct schema_read *s, struct texts *t,
                          const struct json *const *values, size_t n,
                          struct err *e)
{
    struct buf b;
    size_t bytes = 0;
    enum st st = ST_OK;

    t->of = arena_array(&s->arena, n + 1, sizeof(*t->of));
    if (!t->of)
        return schema_nomem(e);
    buf_init(&b, SCHEMA_ARENA);
    for (size_t i = 0; !st && i < n; i++) {
        char *p = NULL;

        if (values[i]->type == JSON_OBJ || values[i]->type == JSON_ARR)
            continue;
        buf_clear(&b);
        schema_literal_text(values[i], &b);
        p = b.failed ? NULL : arena_dup(&s->arena, b.p, b.n);
        if (!p)
            st = schema_nomem(e);
        t->of[t->n++] = (struct text){p, b.n};
        bytes += b.n;
    }
    buf_release(&b);
    if (st)
        return st;
    qsort(t->of, t->n, sizeof(*t->of), by_bytes);
    t->states = 1;
    for (size_t i = 0; i < t->n; i++)
        t->states += t->of[i].n - (i ? common(t->of[i - 1], t->of[i]) : 0);
    return schema_work(s, 4 * t->n + bytes / 4, e);
}

/* The edge into each state but the first, which is 0: states come in the order
 * of the texts. */
static enum st write_tree(struct schema_read *s, const struct texts *t,
                          const struct gx **out, struct err *e)
{
    struct gx_edge *edges = NULL;
    bool *accept = NULL;
    uint32_t *path = NULL; /* states along the text before */
    size_t longest = 0, n = 0;

    for (size_t i = 0; i < t->n; i++)
        longest = t->of[i].n > longest ? t->of[i].n : longest;
    edges = mem_try_array(t->states, sizeof(*edges));
    accept = mem_try_array(t->states, sizeof(*accept));
    path = mem_try_array(longest + 1, sizeof(*path));
    for (size_t i = 0; edges && accept && path && i < t->n; i++) {
        struct text x = t->of[i];
        size_t k = i ? common(t->of[i - 1], x) : 0;

        for (; k < x.n; k++) {
            uint8_t c = (uint8_t)x.s[k];

            edges[n] = (struct gx_edge){path[k], (uint32_t)n + 1, c, c};
            path[k + 1] = (uint32_t)++n;
        }
        accept[path[x.n]] = true;
    }
    if (edges && accept && path)
        *out = gx_table(s->w, (uint32_t)t->states, accept, edges, n);
    free(edges);
    free(accept);
    free(path);
    return *out ? ST_OK : schema_nomem(e);
}

enum st schema_literals(struct schema_read *s,
                        const struct json *const *values, size_t n,
                        const struct gx **out, struct err *e)
{
    const struct gx **of = arena_array(&s->arena, n + 1, sizeof(*of));
    struct texts t = {.n = 0};
    size_t k = 0;
    enum st st = of ? read_texts(s, &t, values, n, e) : schema_nomem(e);

    *out = NULL;
    if (!st && t.states > GRAM_STATES_MAX)
        return schema_refuse(s, ST_LIMIT, s->reading,
                             json_get(s->reading, "const") ? "const" : "enum",
                             e,
                             "where they differ, its values are together "
                             "longer than %d bytes", GRAM_STATES_MAX);
    if (!st && t.n)
        st = write_tree(s, &t, &of[k++], e);
    for (size_t i = 0; !st && i < n; i++)
        if (values[i]->type == JSON_OBJ || values[i]->type == JSON_ARR)
            st = schema_literal(s, values[i], &of[k++], e);
    *out = gx_altn(s->w, of, k);
    return st;
}
