#include "gram/compile_int.h"

#include <stdlib.h>
#include <string.h>

#define PRODUCT_STATES_MAX 20000
#define PRODUCT_TABLE_MAX (1u << 21)

/* A rule's states, each with what its counter is there, up to the least that
 * it must be: counts beyond are one. The counter stays for the other bound, to
 * which gaps do not matter. */
struct counter {
    struct compile *c;
    const struct crule *r;
    uint32_t counts;      /* numbers 0..counts-1 are told apart */
    uint32_t *state;      /* [r->n * counts] of the product, + 1 */
    uint32_t (*pairs)[2]; /* old state and count of each new one */
    size_t n_pairs, cap_state, cap_pairs;
    uint32_t first;
};

static bool place(struct counter *x, uint32_t from, uint32_t old, uint32_t *to)
{
    uint32_t count = x->pairs[from][1] + (old & GRAM_COUNTS ? 1 : 0);
    uint32_t i = (old & GRAM_STATE) - x->r->first;
    uint32_t *at;

    if (count >= x->counts)
        count = x->counts - 1;
    at = &x->state[(size_t)i * x->counts + count];
    if (!*at) {
        if (x->n_pairs >= PRODUCT_STATES_MAX ||
            !vec_room(x->c->w, x->pairs, x->cap_pairs, x->n_pairs + 1))
            return false;
        x->pairs[x->n_pairs][0] = i;
        x->pairs[x->n_pairs][1] = count;
        *at = (uint32_t)++x->n_pairs;
    }
    *to = (x->first + *at - 1) | (old & ~GRAM_STATE);
    return true;
}

static bool copy_state(struct counter *x, uint32_t at)
{
    struct dfa *d = &x->c->all;
    struct gram_state s = d->states[x->r->first + x->pairs[at][0]];
    uint32_t to;

    if (!dfa_add_state(x->c->w, d) ||
        !gxs_work(x->c->w, (uint64_t)1 + s.n_edges + s.n_calls))
        return false;
    d->states[d->n_states - 1].least = PATHS_NONE;
    d->states[d->n_states - 1].accept =
        s.accept && x->pairs[at][1] >= x->r->min;
    for (size_t k = 0; k < s.n_edges; k++) {
        struct gram_edge e = d->edges[s.edges + k];

        if (!place(x, at, e.to, &to) ||
            !dfa_add_edge(x->c->w, d, e.lo, e.hi, to))
            return false;
    }
    for (size_t k = 0; k < s.n_calls; k++) {
        struct gram_call call = d->calls[s.calls + k];

        if (!place(x, at, call.to, &to) ||
            !dfa_add_call(x->c->w, d, call.rule, to))
            return false;
    }
    return true;
}

bool compile_product(struct compile *c, struct crule *r)
{
    struct counter x = {.c = c, .r = r, .first = (uint32_t)c->all.n_states};
    uint32_t start;
    bool done = false;

    if (r->min >= PRODUCT_STATES_MAX || r->n > PRODUCT_TABLE_MAX / (r->min + 1))
        return false;
    x.counts = r->min + 1;
    if (!vec_room(c->w, x.state, x.cap_state, (size_t)r->n * x.counts) ||
        !vec_room(c->w, x.pairs, x.cap_pairs, 1) ||
        !gxs_work(c->w, (uint64_t)r->n * x.counts / 4))
        goto out;
    memset(x.state, 0, (size_t)r->n * x.counts * sizeof(*x.state));
    x.pairs[0][0] = x.pairs[0][1] = 0;
    if (!place(&x, 0, r->first, &start))
        goto out;
    done = true;
    for (uint32_t i = 0; done && i < x.n_pairs; i++)
        done = copy_state(&x, i);
    if (done) {
        r->first = x.first;
        r->n = (uint32_t)x.n_pairs;
        r->min = 0;
    }
out:
    vec_drop(c->w, x.state, x.cap_state);
    vec_drop(c->w, x.pairs, x.cap_pairs);
    return done;
}
