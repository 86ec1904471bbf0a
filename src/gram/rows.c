#include "gram/rows.h"

bool rows_init(struct rows *r)
{
    *r = (struct rows){.p = mem_try_array(ROWS, sizeof(*r->p))};
    r->id = UINT64_MAX;
    return r->p;
}

void rows_release(struct rows *r)
{
    free(r->p);
}

void rows_for(struct rows *r, const struct grammar *g)
{
    r->g = g;
    if (r->id == g->id)
        return;
    r->id = g->id;
    for (size_t i = 0; i < ROWS; i++)
        r->p[i].state = UINT32_MAX;
}

void row_make(struct row *row, const struct grammar *g, uint32_t state)
{
    const struct gram_state *st = &g->states[state];
    const struct gram_edge *e = g->edges + st->edges;
    const struct gram_call *c = g->calls + st->calls;

    *row = (struct row){
        .state = state,
        .accept = st->accept,
        .calls = st->n_calls > 0,
    };
    memset(row->to, 0xff, sizeof(row->to));
    for (size_t i = 0; i < st->n_edges; i++) {
        uint32_t to = e[i].to;
        if (g->rules[st->rule].counted || to & GRAM_SPACE ||
            g->states[to & GRAM_STATE].height > GRAM_DEPTH_MAX - ROW_SHALLOW)
            to |= ROW_CARE;
        else
            to &= GRAM_STATE;
        for (unsigned b = e[i].lo; b <= e[i].hi && b < 256; b++)
            row->to[b] = to;
    }
    for (size_t i = 0; i < st->n_calls; i++) {
        for (size_t k = 0; k < 4; k++)
            row->leaves[k] |= g->rules[c[i].rule].first[k];
    }
}
