/*
 * t/lib/gramwalk.h - texts against a compiled grammar, the plain way.
 *
 * Tries every path through the tables, one after the other; knows nothing of
 * the machine that the server uses. Texts of at most 60 symbols.
 */
#ifndef T_GRAMWALK_H
#define T_GRAMWALK_H

#include "gram/grammar.h"

struct walk {
    const struct grammar *g;
    const uint16_t *text; /* symbols */
    size_t n;
    bool fits; /* go only where gram_fits says so */
};

/* Where the rule may end when it begins at symbol i: one bit each. */
static uint64_t walk_rule(const struct walk *w, uint32_t rule, size_t i,
                          uint32_t depth);

static uint64_t walk_state(const struct walk *w, uint32_t state, uint32_t count,
                           size_t i, uint32_t depth)
{
    const struct gram_state *s = &w->g->states[state];
    const struct gram_rule *r = &w->g->rules[s->rule];
    uint64_t ends = 0;

    if (w->fits && !gram_fits(w->g, state, count, GRAM_DEPTH_MAX - depth))
        return 0;
    if (s->accept && (!r->counted || (count >= r->min && count <= r->max)))
        ends |= (uint64_t)1 << i;
    for (size_t k = 0; k < s->n_edges && i < w->n; k++) {
        const struct gram_edge *e = &w->g->edges[s->edges + k];

        if (w->text[i] >= e->lo && w->text[i] <= e->hi)
            ends |= walk_state(w, e->to & GRAM_STATE,
                               count + !!(e->to & GRAM_COUNTS), i + 1, depth);
    }
    for (size_t k = 0; k < s->n_calls; k++) {
        const struct gram_call *c = &w->g->calls[s->calls + k];
        uint64_t at;

        if (w->fits && depth + w->g->rules[c->rule].height > GRAM_DEPTH_MAX)
            continue;
        at = walk_rule(w, c->rule, i, depth + 1);
        for (size_t j = i; j <= w->n; j++)
            if (at >> j & 1)
                ends |= walk_state(w, c->to & GRAM_STATE,
                                   count + !!(c->to & GRAM_COUNTS), j, depth);
    }
    return ends;
}

static uint64_t walk_rule(const struct walk *w, uint32_t rule, size_t i,
                          uint32_t depth)
{
    const struct gram_rule *r = &w->g->rules[rule];

    if (i < w->n && !(r->first[w->text[i] / 64] >> w->text[i] % 64 & 1))
        return i || depth > 1 || !w->g->empty ? 0 : (uint64_t)1;
    return walk_state(w, r->start, 0, i, depth);
}

static inline bool walk_text(const struct grammar *g, const uint16_t *text,
                             size_t n, bool fits)
{
    struct walk w = {g, text, n, fits};

    return walk_rule(&w, g->root, 0, 1) >> n & 1;
}

/* The same for bytes. */
static inline bool walk_bytes(const struct grammar *g, const char *s, size_t n)
{
    uint16_t text[60];

    if (n > 60)
        return false;
    for (size_t i = 0; i < n; i++)
        text[i] = (uint8_t)s[i];
    return walk_text(g, text, n, true);
}

#endif
