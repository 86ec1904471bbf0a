#include "gram/grammar.h"

struct grammar *gram_ref(struct grammar *g)
{
    atomic_fetch_add(&g->refs, 1);
    return g;
}

void gram_unref(struct grammar *g)
{
    if (!g || atomic_fetch_sub(&g->refs, 1) > 1)
        return;
    free(g->states);
    free(g->edges);
    free(g->calls);
    free(g->rules);
    free(g->levels);
    free(g);
}

/* Some number from least to most, added to count, is from min to max. */
static bool bounds_meet(const struct gram_rule *r, uint32_t count,
                        uint32_t least, uint32_t most)
{
    if (r->max != GX_MANY && (uint64_t)count + least > r->max)
        return false;
    return most == GX_MANY || (uint64_t)count + most >= r->min;
}

bool gram_fits(const struct grammar *g, uint32_t state, uint32_t count,
               uint32_t room)
{
    const struct gram_state *s = &g->states[state];
    const struct gram_rule *r = &g->rules[s->rule];
    const struct gram_level *l = NULL;

    if (room >= s->height)
        return !r->counted || bounds_meet(r, count, s->least, s->most);
    for (size_t i = 0; i < s->n_levels; i++)
        if (g->levels[s->levels + i].height <= room)
            l = &g->levels[s->levels + i];
    return l && (!r->counted || bounds_meet(r, count, l->least, l->most));
}
