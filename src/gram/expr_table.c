#include "gram/expr_int.h"

/* The edges of each state in a row, ascending; states[].n_edges are counted
 * again while they come. */
static void place(struct dfa *d, const struct gx_edge *edges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        d->states[edges[i].from].n_edges++;
    for (size_t i = 0; i < d->n_states; i++) {
        d->states[i].edges = (uint32_t)d->n_edges;
        d->n_edges += d->states[i].n_edges;
        d->states[i].n_edges = 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct gram_state *s = &d->states[edges[i].from];
        size_t k = s->edges + s->n_edges++;

        for (; k > s->edges && d->edges[k - 1].lo > edges[i].lo; k--)
            d->edges[k] = d->edges[k - 1];
        d->edges[k] = (struct gram_edge){edges[i].lo, edges[i].hi,
                                         edges[i].to};
    }
}

const struct gx *gx_table(struct gxs *w, uint32_t n_states,
                          const bool *accept, const struct gx_edge *edges,
                          size_t n_edges)
{
    struct dfa d = {0};

    if (!gxs_work(w, n_states + n_edges))
        return gx_none(w);
    d.states = gxs_alloc(w, n_states, sizeof(*d.states));
    d.edges = gxs_alloc(w, n_edges + 1, sizeof(*d.edges));
    if (!d.states || !d.edges)
        return gx_none(w);
    d.n_states = n_states;
    for (size_t i = 0; i < n_states; i++)
        d.states[i].accept = accept[i];
    place(&d, edges, n_edges);
    return gx_part(w, part_trim(w, &d));
}
