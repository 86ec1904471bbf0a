#include "gram/walk.h"

#include <string.h>

/* Room for one step from any place. */
struct scratch {
    struct walk walk;
    struct walk_way from[GRAM_WAYS_MAX], out[GRAM_WAYS_MAX];
    struct walk_node nodes[GRAM_FRAMES_MAX + WALK_CALLS_MAX];
    size_t n_from, n_nodes; /* of the place */
};

static void load(struct scratch *s, const struct grammar *g,
                 const struct gram_place *p)
{
    s->walk = (struct walk){.g = g, .nodes = s->nodes, .out = s->out};
    s->n_from = walk_load(&s->walk, p, s->from);
    s->n_nodes = s->walk.n_nodes;
}

/* Does the symbol lead anywhere? The place may be asked again. */
static bool try_symbol(struct scratch *s, unsigned symbol)
{
    s->walk.n_nodes = s->n_nodes;
    walk_step(&s->walk, s->from, s->n_from, symbol);
    return s->walk.n_out > 0;
}

static void store(const struct scratch *s, struct gram_place *p)
{
    struct gram_frame *f = p->frames;

    p->n_ways = (uint16_t)s->walk.n_out;
    for (size_t i = 0; i < s->walk.n_out; i++) {
        const struct walk_way *way = &s->out[i];
        p->depth[i] = way->depth;
        p->space[i] = way->space;
        f[way->depth - 1] = (struct gram_frame){way->state, way->count};
        for (int32_t up = way->up; up != WALK_NONE; up = s->nodes[up].up)
            f[s->nodes[up].depth - 1] =
                (struct gram_frame){s->nodes[up].state, s->nodes[up].count};
        f += way->depth;
    }
    p->n_frames = (uint16_t)(f - p->frames);
}

void gram_begin(const struct grammar *g, struct gram_place *p)
{
    memset(p, 0, sizeof(*p));
    p->n_ways = 1;
    p->n_frames = 1;
    p->depth[0] = 1;
    p->frames[0].state = g->rules[g->root].start;
}

/* One way that cannot leave its rule with the next symbol: what walk_step
 * does then, in place. False: it is not like that. */
static bool step_inside(const struct grammar *g, struct gram_place *p,
                        unsigned symbol)
{
    struct gram_frame *f = &p->frames[p->n_frames - 1];
    const struct gram_state *st = &g->states[f->state];
    const struct gram_edge *e;
    struct walk w = {.g = g};
    uint32_t count = f->count;
    unsigned space = 0;

    if (p->n_ways != 1 || st->n_calls || (st->accept && p->n_frames > 1))
        return false;
    e = walk_edge(g, st, symbol);
    if (e && e->to & GRAM_SPACE)
        space = p->space[0] + gram_columns(symbol);
    if (!e || space > GRAM_SPACE_MAX) {
        p->n_ways = 0;
        return true;
    }
    if (e->to & GRAM_COUNTS)
        count = walk_raise(&w, &g->rules[st->rule], count, WALK_NONE);
    if (!walk_may_enter(&w, e->to & GRAM_STATE, count, WALK_NONE,
                        p->n_frames)) {
        p->n_ways = 0;
        return true;
    }
    p->space[0] = (uint16_t)space;
    f->state = e->to & GRAM_STATE;
    f->count = count;
    return true;
}

static bool step(const struct grammar *g, struct gram_place *p,
                 unsigned symbol)
{
    struct scratch s;

    if (p->n_ways == 0)
        return false;
    if (!step_inside(g, p, symbol)) {
        load(&s, g, p);
        (void)try_symbol(&s, symbol);
        store(&s, p);
    }
    if (p->n_ways == 0)
        p->n_frames = 0;
    return p->n_ways > 0;
}

bool gram_bytes(const struct grammar *g, struct gram_place *p, const char *s,
                size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!step(g, p, (uint8_t)s[i]))
            return false;
    }
    return p->n_ways > 0;
}

bool gram_mark(const struct grammar *g, struct gram_place *p, int k)
{
    if (k < 0 || k >= GX_MARKS) {
        p->n_ways = p->n_frames = 0;
        return false;
    }
    return step(g, p, 256 + (unsigned)k);
}

bool gram_ends(const struct grammar *g, const struct gram_place *p)
{
    const struct gram_frame *f = p->frames;
    struct walk w = {.g = g};

    for (size_t i = 0; i < p->n_ways; i++) {
        bool ends = true;
        for (size_t d = 0; d < p->depth[i] && ends; d++) {
            const struct gram_state *st = &g->states[f[d].state];
            ends = st->accept && walk_may_end(&w, &g->rules[st->rule],
                                              f[d].count, WALK_NONE);
        }
        if (ends)
            return true;
        f += p->depth[i];
    }
    return false;
}

static void set_range(uint64_t *set, unsigned lo, unsigned hi)
{
    for (unsigned i = lo; i <= hi && i < GRAM_SYMBOLS; i++)
        set[i >> 6] |= UINT64_C(1) << (i & 63);
}

#define SET_WORDS ((GRAM_SYMBOLS + 63) / 64)

/* Symbols that the automata have there, whatever counters and depths say. */
static void maybe_next(const struct grammar *g, const struct gram_place *p,
                       uint64_t set[SET_WORDS])
{
    const struct gram_frame *f = p->frames;

    memset(set, 0, SET_WORDS * sizeof(*set));
    for (size_t i = 0; i < p->n_ways; i++) {
        for (size_t d = p->depth[i]; d-- > 0;) {
            const struct gram_state *st = &g->states[f[d].state];
            const struct gram_edge *e = g->edges + st->edges;
            const struct gram_call *c = g->calls + st->calls;
            for (size_t k = 0; k < st->n_edges; k++)
                set_range(set, e[k].lo, e[k].hi);
            for (size_t k = 0; k < st->n_calls; k++) {
                for (size_t x = 0; x < SET_WORDS; x++)
                    set[x] |= g->rules[c[k].rule].first[x];
            }
            if (!st->accept)
                break;
        }
        f += p->depth[i];
    }
}

/* The first symbol from `at` on that is in the set; GRAM_SYMBOLS: none. */
static unsigned next_in(const uint64_t set[SET_WORDS], unsigned at)
{
    while (at < GRAM_SYMBOLS && !(set[at >> 6] >> (at & 63) & 1))
        at++;
    return at;
}

void gram_next(const struct grammar *g, const struct gram_place *p,
               uint64_t next[(GRAM_SYMBOLS + 63) / 64])
{
    struct scratch s;

    maybe_next(g, p, next);
    load(&s, g, p);
    for (unsigned i = 0; (i = next_in(next, i)) < GRAM_SYMBOLS; i++) {
        if (!try_symbol(&s, i))
            next[i >> 6] &= ~(UINT64_C(1) << (i & 63));
    }
}

bool gram_done(const struct grammar *g, const struct gram_place *p)
{
    uint64_t set[SET_WORDS];
    struct scratch s;

    if (!gram_ends(g, p))
        return false;
    maybe_next(g, p, set);
    load(&s, g, p);
    for (unsigned i = 0; (i = next_in(set, i)) < GRAM_SYMBOLS; i++) {
        (void)try_symbol(&s, i);
        for (size_t k = 0; k < s.walk.n_out; k++) {
            if (s.out[k].space == 0)
                return false;
        }
    }
    return true;
}

/* The only symbol that may come; GRAM_SYMBOLS: several, or none. */
static unsigned only_symbol(const struct grammar *g, const struct gram_place *p)
{
    unsigned only = GRAM_SYMBOLS;
    uint64_t set[SET_WORDS];
    struct scratch s;

    maybe_next(g, p, set);
    load(&s, g, p);
    for (unsigned i = 0; (i = next_in(set, i)) < GRAM_SYMBOLS; i++) {
        if (!try_symbol(&s, i))
            continue;
        if (only != GRAM_SYMBOLS)
            return GRAM_SYMBOLS;
        only = i;
    }
    return only;
}

size_t gram_must(const struct grammar *g, const struct gram_place *p, char *s,
                 size_t cap)
{
    struct gram_place at = *p;
    size_t n = 0;

    while (n < cap && !gram_ends(g, &at)) {
        unsigned only = only_symbol(g, &at);
        if (only > 255)
            break;
        s[n++] = (char)only;
        if (!step(g, &at, only))
            break;
    }
    return n;
}
