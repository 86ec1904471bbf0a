#include "gram/walk.h"

bool walk_may_end(struct walk *w, const struct gram_rule *r, uint32_t count,
                  int from)
{
    if (!r->counted)
        return true;
    return (r->max == GX_MANY || walk_at_most(w, count, from, 0, r->max)) &&
           (r->min == 0 || !walk_at_most(w, count, from, 1, r->min));
}

bool walk_may_enter_deep(struct walk *w, const struct gram_state *st,
                         uint32_t count, int from, unsigned depth)
{
    const struct gram_level *l = NULL;

    for (size_t i = 0; i < st->n_levels; i++) {
        if (w->g->levels[st->levels + i].height <= GRAM_DEPTH_MAX - depth)
            l = &w->g->levels[st->levels + i];
    }
    return l && walk_between(w, &w->g->rules[st->rule], count, from, l->least,
                             l->most);
}

const struct gram_edge *walk_edge(const struct grammar *g,
                                  const struct gram_state *st, unsigned symbol)
{
    const struct gram_edge *e = g->edges + st->edges;
    size_t lo = 0, hi = st->n_edges;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (symbol < e[mid].lo)
            hi = mid;
        else if (symbol > e[mid].hi)
            lo = mid + 1;
        else
            return &e[mid];
    }
    return NULL;
}

/* Two counters of one rule: where they began in different frames, that they
 * are the same, or not, says something about one begin only. */
static bool same_count(struct walk *w, uint32_t a, int from_a, uint32_t b,
                       int from_b)
{
    if (w->range && from_a != from_b) {
        if (from_a != WALK_NONE)
            w->range[from_a].lo = w->range[from_a].hi = w->range[from_a].base;
        if (from_b != WALK_NONE)
            w->range[from_b].lo = w->range[from_b].hi = w->range[from_b].base;
    }
    return a == b;
}

static bool same_way(struct walk *w, const struct walk_way *a,
                     const struct walk_way *b)
{
    int32_t i = a->up, j = b->up;

    if (a->state != b->state || a->depth != b->depth || a->space != b->space ||
        !same_count(w, a->count, a->from, b->count, b->from))
        return false;
    while (i != j) {
        const struct walk_node *x = &w->nodes[i], *y = &w->nodes[j];
        if (x->state != y->state ||
            !same_count(w, x->count, x->from, y->count, y->from))
            return false;
        i = x->up; /* the depths are the same: both end at once */
        j = y->up;
    }
    return true;
}

static void add_way(struct walk *w, const struct walk_way *way)
{
    for (size_t i = 0; i < w->n_out; i++) {
        if (same_way(w, &w->out[i], way))
            return;
    }
    if (w->n_out == GRAM_WAYS_MAX || w->frames + way->depth > GRAM_FRAMES_MAX)
        return;
    w->frames += way->depth;
    w->out[w->n_out++] = *way;
}

static void step_edge(struct walk *w, const struct walk_way *at,
                      const struct gram_edge *e, unsigned symbol)
{
    const struct gram_rule *r = &w->g->rules[w->g->states[at->state].rule];
    struct walk_way to = *at;

    to.state = e->to & GRAM_STATE;
    to.space = 0;
    if (e->to & GRAM_SPACE) {
        to.space = (uint16_t)(at->space + gram_columns(symbol));
        if (to.space > GRAM_SPACE_MAX)
            return;
    }
    if (e->to & GRAM_COUNTS)
        to.count = walk_raise(w, r, at->count, at->from);
    if (walk_may_enter(w, to.state, to.count, at->from, at->depth))
        add_way(w, &to);
}

static void step_from(struct walk *w, struct walk_way at, unsigned symbol);

/* Nothing can come at that state but the end of its rule. */
static bool is_over(const struct grammar *g, uint32_t state)
{
    const struct gram_state *st = &g->states[state];

    return st->accept && !st->n_edges && !st->n_calls &&
           !g->rules[st->rule].counted;
}

static void step_call(struct walk *w, const struct walk_way *at,
                      const struct gram_call *c, unsigned symbol)
{
    const struct gram_rule *caller =
        &w->g->rules[w->g->states[at->state].rule];
    const struct gram_rule *r = &w->g->rules[c->rule];
    struct walk_node back = {
        .state = c->to & GRAM_STATE,
        .count = at->count,
        .up = at->up,
        .depth = at->depth,
        .from = at->from,
    };
    struct walk_way in = {
        .state = r->start,
        .up = (int32_t)w->n_nodes,
        .depth = (uint16_t)(at->depth + 1),
        .from = WALK_NONE,
        .space = at->space,
    };
    size_t n_out = w->n_out, n_nodes = w->n_nodes;

    if (!walk_first(r, symbol) || at->depth + r->height > GRAM_DEPTH_MAX ||
        w->calls == WALK_CALLS_MAX)
        return;
    if (c->to & GRAM_COUNTS)
        back.count = walk_raise(w, caller, back.count, back.from);
    if (!walk_may_enter(w, back.state, back.count, back.from, back.depth))
        return;
    w->calls++;
    if (is_over(w->g, back.state)) { /* the caller is done: in its place */
        in.up = at->up;
        in.depth = at->depth;
    } else {
        w->nodes[w->n_nodes++] = back;
    }
    step_from(w, in, symbol);
    if (w->n_out == n_out)
        w->n_nodes = n_nodes;
}

/* The symbol inside the rule, then in what it calls, then behind its end.
 * Recursion is as deep as calls may be. */
static void step_from(struct walk *w, struct walk_way at, unsigned symbol)
{
    for (;;) {
        const struct gram_state *st = &w->g->states[at.state];
        const struct gram_call *c = w->g->calls + st->calls;
        const struct gram_edge *e = walk_edge(w->g, st, symbol);

        if (e)
            step_edge(w, &at, e, symbol);
        for (size_t i = 0; i < st->n_calls; i++)
            step_call(w, &at, &c[i], symbol);
        if (!st->accept || at.up == WALK_NONE ||
            !walk_may_end(w, &w->g->rules[st->rule], at.count, at.from))
            return;
        const struct walk_node *back = &w->nodes[at.up];
        at.state = back->state;
        at.count = back->count;
        at.from = back->from;
        at.depth = back->depth;
        at.up = back->up;
    }
}

void walk_step(struct walk *w, const struct walk_way *from, size_t n,
               unsigned symbol)
{
    w->n_out = 0;
    w->frames = 0;
    w->calls = 0;
    for (size_t i = 0; i < n; i++)
        step_from(w, from[i], symbol);
}

size_t walk_load(struct walk *w, const struct gram_place *p,
                 struct walk_way ways[GRAM_WAYS_MAX])
{
    const struct gram_frame *f = p->frames;
    int16_t from = 0;

    for (size_t i = 0; i < p->n_ways; i++) {
        int32_t up = WALK_NONE;
        for (uint16_t d = 1; d < p->depth[i]; d++, f++, from++) {
            w->nodes[w->n_nodes] = (struct walk_node){
                f->state, f->count, up, d, from};
            up = (int32_t)w->n_nodes++;
        }
        ways[i] = (struct walk_way){
            .state = f->state,
            .count = f->count,
            .up = up,
            .depth = p->depth[i],
            .from = from,
            .space = p->space[i],
        };
        f++;
        from++;
    }
    return p->n_ways;
}
