#include "gram/compile_int.h"

#include <stdlib.h>
#include <string.h>

/*
 * Level h: calls to rules whose height is at most h may be made. A rule that
 * can be finished at level h, and not below, has height h + 1. What changes
 * from one level to the next are callers of the rules that got their height in
 * between, so only those are looked at again.
 */

static struct callable at_level(const struct compile *c, uint32_t level)
{
    return (struct callable){c->rules, level};
}

/* Can the rule be finished from its start, as far as its counter goes? */
static bool can_finish(const struct paths *p, const struct crule *r)
{
    if (p->least[0] == PATHS_NONE)
        return false;
    return !r->counted || (p->least[0] <= r->max &&
                           (p->most[0] == GX_MANY || p->most[0] >= r->min));
}

/* What a state can do at this level, where that is more than before. Below
 * the level that the rule itself needs nobody asks. */
static bool note_state(struct compile *c, struct gram_state *s, uint32_t least,
                       uint32_t most, uint32_t level, uint32_t base)
{
    if (s->least != PATHS_NONE && s->least == least && s->most == most)
        return true;
    if (s->least != PATHS_NONE) {
        if (!vec_room(c->w, c->levels, c->cap_levels, c->n_levels + 1))
            return false;
        c->levels[c->n_levels++] =
            (struct clevel){s->height, s->least, s->most, s->levels};
        s->levels = (uint32_t)c->n_levels;
        s->n_levels++;
    }
    s->height = (uint16_t)(level > base ? level : 0);
    s->least = least;
    s->most = most;
    return true;
}

static bool note(struct compile *c, const struct crule *r, uint32_t level)
{
    const struct paths *p = &c->paths;

    for (size_t i = 0; i < r->n; i++)
        if (p->least[i] != PATHS_NONE &&
            !note_state(c, &c->all.states[r->first + i], p->least[i],
                        p->most[i], level, r->height - 1))
            return false;
    return gxs_work(c->w, r->n);
}

/* Everybody who calls r is to be looked at, at level `level`. */
static bool wake_callers(struct compile *c, const struct crule *r,
                         uint32_t level)
{
    for (uint32_t k = r->callers; k < r[1].callers; k++) {
        struct crule *caller = &c->rules[c->callers[k]];

        if (caller->due > level)
            continue;
        caller->due = level + 1;
        if (!vec_room(c->w, c->due, c->cap_due, c->n_due + 1))
            return false;
        c->due[c->n_due++] = c->callers[k];
    }
    return gxs_work(c->w, r[1].callers - r->callers);
}

static bool run_at(struct compile *c, const struct crule *r, uint32_t level)
{
    return paths_run(&c->paths, &c->all, r, at_level(c, level), r->counted);
}

/* The counter has gaps: go on with the exact product, if it can be had. */
static bool without_gaps(struct compile *c, struct crule *r, uint32_t level)
{
    uint32_t height = r->height;

    if (r->no_product)
        return true;
    if (!compile_product(c, r)) {
        r->no_product = true;
        return !c->w->err.st;
    }
    r->gap = false;
    /* what was found out about the states that it had */
    if (height && (!run_at(c, r, height - 1) || !note(c, r, height - 1)))
        return false;
    return run_at(c, r, level);
}

static bool look_at(struct compile *c, struct crule *r, uint32_t level)
{
    if (!run_at(c, r, level))
        return false;
    /* One bound alone only needs the least, or the most. */
    r->gap =
        c->paths.gap && r->min && r->max != GX_MANY && can_finish(&c->paths, r);
    if (r->gap && !without_gaps(c, r, level))
        return false;
    if (r->gap || !can_finish(&c->paths, r))
        return true;
    if (!r->height) {
        r->height = level + 1;
        if (!wake_callers(c, r, r->height))
            return false;
    }
    return note(c, r, level);
}

/* Bounds that hold whatever is written are none; without any there is no
 * counter. */
static bool drop_bounds(struct compile *c, struct crule *r)
{
    const struct paths *p = &c->paths;
    struct dfa *d = &c->all;

    if (!r->counted)
        return true;
    if (!paths_run(&c->paths, d, r, (struct callable){NULL, 0}, true))
        return false;
    if (p->least[0] == PATHS_NONE)
        return true;
    if (p->least[0] >= r->min)
        r->min = 0;
    if (p->most[0] <= r->max)
        r->max = GX_MANY;
    if (r->min || r->max != GX_MANY)
        return true;
    r->counted = false;
    for (size_t i = 0; i < r->n; i++) {
        const struct gram_state *s = &d->states[r->first + i];

        for (size_t k = 0; k < s->n_edges; k++)
            d->edges[s->edges + k].to &= ~GRAM_COUNTS;
        for (size_t k = 0; k < s->n_calls; k++)
            d->calls[s->calls + k].to &= ~GRAM_COUNTS;
    }
    return true;
}

bool compile_levels(struct compile *c)
{
    for (size_t i = 0; i < c->all.n_states; i++)
        c->all.states[i].least = PATHS_NONE;
    for (size_t i = 0; i < c->n_rules; i++)
        if (!drop_bounds(c, &c->rules[i]) || !look_at(c, &c->rules[i], 0))
            return false;
    for (uint32_t level = 1; c->n_due && level < GRAM_DEPTH_MAX; level++) {
        uint32_t *now = c->due;
        size_t n = c->n_due, cap = c->cap_due;

        c->due = c->queue;
        c->cap_due = c->cap_queue;
        c->n_due = 0;
        c->queue = now;
        c->cap_queue = cap;
        for (size_t i = 0; i < n; i++)
            if (!look_at(c, &c->rules[now[i]], level))
                return false;
    }
    for (size_t i = 0; i < c->n_rules; i++) {
        if (!c->rules[i].gap)
            continue;
        gxs_fail(c->w, ST_UNSUPPORTED, "",
                 "bounds %u to %u cannot be kept together: the lengths that "
                 "are possible have gaps, and an automaton that could count "
                 "them is too large",
                 c->rules[i].min, c->rules[i].max);
        return false;
    }
    return true;
}
