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
    free(g);
}
