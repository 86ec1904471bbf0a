/*
 * gram/walk.h - one symbol further, for places and for masks (internal).
 *
 * machine.c walks texts, mask_fill.c walks vocabularies; both step here, so
 * that a mask is what walking every id would say. Open calls are a tree of
 * nodes that ways share; the walk only adds nodes, its user takes them back.
 */
#ifndef GRAM_WALK_H
#define GRAM_WALK_H

#include "gram/machine.h"

/* Calls that one symbol may try: a step adds no more nodes than that. */
#define WALK_CALLS_MAX 1024
#define WALK_NONE -1

/* An open call: where the caller goes on. */
struct walk_node {
    uint32_t state, count;
    int32_t up;     /* the call around it; WALK_NONE: this is the root */
    uint16_t depth; /* frames, with this one */
    int16_t from;   /* frame of the first place that the count began in;
                     * WALK_NONE: in a call made since */
};

struct walk_way {
    uint32_t state, count;
    int32_t up;
    uint16_t depth; /* frames, with the innermost */
    int16_t from;
    uint16_t space; /* columns of white space just before */
    uint16_t head;  /* for masks: mask_fill.c */
};

/*
 * For which counters a walk would have gone the same way: of each frame that
 * it began in, what `count` may be at its begin. Every question about a
 * counter narrows it.
 */
struct walk_range {
    uint32_t base;  /* the count at the begin */
    int64_t lo, hi; /* lo <= base <= hi */
};

struct walk {
    const struct grammar *g;
    struct walk_node *nodes; /* [n_nodes + WALK_CALLS_MAX] borrowed */
    size_t n_nodes;
    struct walk_way *out;    /* [GRAM_WAYS_MAX] borrowed: what a step yields */
    size_t n_out;
    size_t frames;           /* in `out`, together */
    size_t calls;            /* tried in this step */
    struct walk_range *range; /* by `from`; NULL: nobody asks */
};

/* `out` becomes what is left of from[0..n) behind `symbol`. */
void walk_step(struct walk *w, const struct walk_way *from, size_t n,
               unsigned symbol);
/* May a rule end with that counter? */
bool walk_may_end(struct walk *w, const struct gram_rule *r, uint32_t count,
                  int from);
/* The edge for a symbol; NULL: there is none. */
const struct gram_edge *walk_edge(const struct grammar *g,
                                  const struct gram_state *st,
                                  unsigned symbol);

/* The ways of a place; their open calls become nodes. Returns how many. */
size_t walk_load(struct walk *w, const struct gram_place *p,
                 struct walk_way ways[GRAM_WAYS_MAX]);

/* --- questions about counters, asked for every byte ---------------------- */

/* Is count + more <= bound? Of frames that the walk began in, the answer holds
 * for every count at the begin on one side of the bound: that narrows. */
static inline bool walk_at_most(struct walk *w, uint32_t count, int from,
                                uint64_t more, uint64_t bound)
{
    bool yes = count + more <= bound;

    if (w->range && from != WALK_NONE) {
        struct walk_range *r = &w->range[from];
        int64_t last = (int64_t)bound - (int64_t)more -
                       ((int64_t)count - (int64_t)r->base);
        if (yes && last < r->hi)
            r->hi = last;
        else if (!yes && last + 1 > r->lo)
            r->lo = last + 1;
    }
    return yes;
}

/* Does some number from least to most, added to count, fit the rule? */
static inline bool walk_between(struct walk *w, const struct gram_rule *r,
                                uint32_t count, int from, uint32_t least,
                                uint32_t most)
{
    if (!r->counted)
        return true;
    return (r->max == GX_MANY ||
            walk_at_most(w, count, from, least, r->max)) &&
           (r->min == 0 || most == GX_MANY ||
            !walk_at_most(w, count, from, (uint64_t)most + 1, r->min));
}

bool walk_may_enter_deep(struct walk *w, const struct gram_state *st,
                         uint32_t count, int from, unsigned depth);

/* May a rule go on at that state, as the depth-th frame (gram_fits)? */
static inline bool walk_may_enter(struct walk *w, uint32_t state,
                                  uint32_t count, int from, unsigned depth)
{
    const struct gram_state *st = &w->g->states[state];

    if (GRAM_DEPTH_MAX - depth < st->height)
        return walk_may_enter_deep(w, st, count, from, depth);
    return walk_between(w, &w->g->rules[st->rule], count, from, st->least,
                        st->most);
}

/* One more. Without an upper bound all counts from min on are the same. */
static inline uint32_t walk_raise(struct walk *w, const struct gram_rule *r,
                                  uint32_t count, int from)
{
    if (!r->counted)
        return count;
    if (r->max == GX_MANY && !walk_at_most(w, count, from, 1, r->min))
        return r->min;
    return count + 1;
}

static inline bool walk_first(const struct gram_rule *r, unsigned symbol)
{
    return r->first[symbol >> 6] >> (symbol & 63) & 1;
}

#endif
