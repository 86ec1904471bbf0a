#include "gram/compile_int.h"

#include <stdlib.h>
#include <string.h>

void paths_release(struct paths *p)
{
    vec_drop(p->w, p->at, p->cap_at);
    vec_drop(p->w, p->to, p->cap_to);
    vec_drop(p->w, p->rat, p->cap_rat);
    vec_drop(p->w, p->from, p->cap_from);
    vec_drop(p->w, p->least, p->cap_least);
    vec_drop(p->w, p->most, p->cap_most);
    vec_drop(p->w, p->index, p->cap_index);
    vec_drop(p->w, p->low, p->cap_low);
    vec_drop(p->w, p->comp, p->cap_comp);
    vec_drop(p->w, p->stack, p->cap_stack);
    vec_drop(p->w, p->frames, p->cap_frames);
    vec_drop(p->w, p->next, p->cap_next);
    vec_drop(p->w, p->spans, p->cap_spans);
}

/* --- the graph ------------------------------------------------------------ */

static bool may_call(struct callable may, uint32_t rule)
{
    const struct crule *r = may.rules ? &may.rules[rule] : NULL;

    return !r || (r->height && r->height <= may.height);
}

static uint32_t step(const struct crule *r, uint32_t to, bool counted)
{
    uint32_t raise = counted && to & GRAM_COUNTS ? PATHS_RAISE : 0;

    return ((to & GRAM_STATE) - r->first) | raise;
}

static bool forward(struct paths *p, const struct dfa *d, const struct crule *r,
                    struct callable may, bool counted)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++) {
        const struct gram_state *s = &d->states[r->first + i];

        if (!vec_room(p->w, p->to, p->cap_to, n + s->n_edges + s->n_calls + 1))
            return false;
        p->at[i] = (uint32_t)n;
        for (size_t k = 0; k < s->n_edges; k++) {
            uint32_t to = step(r, d->edges[s->edges + k].to, counted);

            if (n == p->at[i] || p->to[n - 1] != to)
                p->to[n++] = to;
        }
        for (size_t k = 0; k < s->n_calls; k++) {
            const struct gram_call *call = &d->calls[s->calls + k];

            if (may_call(may, call->rule))
                p->to[n++] = step(r, call->to, counted);
        }
    }
    p->at[r->n] = (uint32_t)n;
    return gxs_work(p->w, n + r->n);
}

static bool backward(struct paths *p)
{
    size_t n = p->n;

    if (!vec_room(p->w, p->rat, p->cap_rat, n + 1) ||
        !vec_room(p->w, p->from, p->cap_from, (size_t)p->at[n] + 1))
        return false;
    memset(p->rat, 0, (n + 1) * sizeof(*p->rat));
    for (size_t k = 0; k < p->at[n]; k++)
        p->rat[p->to[k] & ~PATHS_RAISE]++;
    for (size_t i = 1; i <= n; i++)
        p->rat[i] += p->rat[i - 1];
    for (size_t i = 0; i < n; i++)
        for (size_t k = p->at[i]; k < p->at[i + 1]; k++)
            p->from[--p->rat[p->to[k] & ~PATHS_RAISE]] =
                (uint32_t)i | (p->to[k] & PATHS_RAISE);
    return gxs_work(p->w, p->at[n]);
}

/* --- the least ------------------------------------------------------------ */

/* All states that reach the end with as many raises, then those with one
 * more. */
static void find_least(struct paths *p, const struct gram_state *states)
{
    size_t n = 0, n_next = 0;

    for (size_t i = 0; i < p->n; i++) {
        p->least[i] = states[i].accept ? 0 : PATHS_NONE;
        if (states[i].accept)
            p->stack[n++] = (uint32_t)i;
    }
    for (uint32_t raises = 0; n; raises++) {
        while (n) {
            uint32_t to = p->stack[--n];

            for (size_t k = p->rat[to]; k < p->rat[to + 1]; k++) {
                uint32_t from = p->from[k] & ~PATHS_RAISE;

                if (p->least[from] != PATHS_NONE)
                    continue;
                if (p->from[k] & PATHS_RAISE) {
                    p->next[n_next++] = from;
                } else {
                    p->least[from] = raises;
                    p->stack[n++] = from;
                }
            }
        }
        while (n_next) {
            uint32_t from = p->next[--n_next];

            if (p->least[from] != PATHS_NONE)
                continue;
            p->least[from] = raises + 1;
            p->stack[n++] = from;
        }
    }
}

/* --- components ----------------------------------------------------------- */

static uint32_t add_sat(uint32_t n, bool raise)
{
    return n == GX_MANY ? n : n + raise;
}

/* A component of the whole graph; those that it leads to are done. */
static void most_of(struct paths *p, const uint32_t *members, size_t n)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t v = members[i];

        for (size_t k = p->at[v]; k < p->at[v + 1]; k++) {
            uint32_t to = p->to[k] & ~PATHS_RAISE;
            bool raise = p->to[k] & PATHS_RAISE;
            uint32_t m;

            if (p->least[to] == PATHS_NONE)
                continue;
            if (p->comp[to] == p->comp[v])
                m = raise ? GX_MANY : 0;
            else
                m = add_sat(p->most[to], raise);
            if (m > most)
                most = m;
        }
    }
    for (size_t i = 0; i < n; i++)
        p->most[members[i]] = most;
}

static int by_first(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/*
 * A component of the graph without raises: its members have the same numbers
 * before them. All from least to most are possible when they are the union of
 * what the steps out of it can reach, which are raises or lead to components
 * that do not lead back: so the argument ends.
 */
static bool check_gap(struct paths *p, const struct gram_state *states,
                      const uint32_t *members, size_t n)
{
    size_t n_spans = 0;
    uint64_t end = p->least[members[0]];

    for (size_t i = 0; i < n; i++) {
        uint32_t v = members[i];

        if (!vec_room(p->w, p->spans, p->cap_spans,
                      n_spans + 1 + p->at[v + 1] - p->at[v]))
            return false;
        if (states[v].accept)
            memset(p->spans[n_spans++], 0, sizeof(p->spans[0]));
        for (size_t k = p->at[v]; k < p->at[v + 1]; k++) {
            uint32_t to = p->to[k] & ~PATHS_RAISE;
            bool raise = p->to[k] & PATHS_RAISE;

            if (p->least[to] == PATHS_NONE ||
                (!raise && p->comp[to] == p->comp[v]))
                continue;
            p->spans[n_spans][0] = p->least[to] + raise;
            p->spans[n_spans++][1] = add_sat(p->most[to], raise);
        }
    }
    if (n_spans > 1)
        qsort(p->spans, n_spans, sizeof(p->spans[0]), by_first);
    for (size_t i = 0; i < n_spans; i++) {
        if (p->spans[i][0] > end)
            p->gap = true;
        if ((uint64_t)p->spans[i][1] + 1 > end)
            end = (uint64_t)p->spans[i][1] + 1;
    }
    return gxs_work(p->w, n_spans);
}

enum pass { PASS_MOST, PASS_GAPS };

/* Tarjan's: components in an order in which what they lead to comes first.
 * frames holds pairs: a state and its next step. */
static bool components(struct paths *p, const struct gram_state *states,
                       enum pass pass, uint32_t root, uint32_t *count,
                       size_t *n_stack)
{
    size_t n_frames = 0;

    p->frames[n_frames++] = root;
    p->frames[n_frames++] = p->at[root];
    p->index[root] = p->low[root] = ++*count;
    p->stack[(*n_stack)++] = root;
    while (n_frames) {
        uint32_t v = p->frames[n_frames - 2], k = p->frames[n_frames - 1]++;

        if (k < p->at[v + 1]) {
            uint32_t to = p->to[k] & ~PATHS_RAISE;

            if (p->least[to] == PATHS_NONE ||
                (pass == PASS_GAPS && p->to[k] & PATHS_RAISE))
                continue;
            if (!p->index[to]) {
                p->index[to] = p->low[to] = ++*count;
                p->stack[(*n_stack)++] = to;
                p->frames[n_frames++] = to;
                p->frames[n_frames++] = p->at[to];
            } else if (!p->comp[to] && p->index[to] < p->low[v]) {
                p->low[v] = p->index[to];
            }
            continue;
        }
        n_frames -= 2;
        if (n_frames && p->low[v] < p->low[p->frames[n_frames - 2]])
            p->low[p->frames[n_frames - 2]] = p->low[v];
        if (p->low[v] == p->index[v]) {
            size_t first = *n_stack;

            do
                p->comp[p->stack[--first]] = p->index[v];
            while (p->stack[first] != v);
            if (pass == PASS_MOST)
                most_of(p, p->stack + first, *n_stack - first);
            else if (!check_gap(p, states, p->stack + first, *n_stack - first))
                return false;
            *n_stack = first;
        }
    }
    return true;
}

static bool all_components(struct paths *p, const struct gram_state *states,
                           enum pass pass)
{
    uint32_t count = 0;
    size_t n_stack = 0;

    memset(p->index, 0, p->n * sizeof(*p->index));
    memset(p->comp, 0, p->n * sizeof(*p->comp));
    for (size_t i = 0; i < p->n; i++)
        if (!p->index[i] && p->least[i] != PATHS_NONE &&
            !components(p, states, pass, (uint32_t)i, &count, &n_stack))
            return false;
    return gxs_work(p->w, p->n + p->at[p->n]);
}

bool paths_run(struct paths *p, const struct dfa *d, const struct crule *r,
               struct callable may, bool counted)
{
    const struct gram_state *states = &d->states[r->first];
    size_t n = r->n;

    p->n = n;
    p->gap = false;
    if (!vec_room(p->w, p->at, p->cap_at, n + 1) ||
        !forward(p, d, r, may, counted) || !backward(p) ||
        !vec_room(p->w, p->least, p->cap_least, n) ||
        !vec_room(p->w, p->most, p->cap_most, n) ||
        !vec_room(p->w, p->stack, p->cap_stack, n) ||
        !vec_room(p->w, p->next, p->cap_next, (size_t)p->at[n] + 1))
        return false;
    find_least(p, states);
    memset(p->most, 0, n * sizeof(*p->most));
    if (!counted)
        return true;
    return vec_room(p->w, p->index, p->cap_index, n) &&
           vec_room(p->w, p->low, p->cap_low, n) &&
           vec_room(p->w, p->comp, p->cap_comp, n) &&
           vec_room(p->w, p->frames, p->cap_frames, 2 * n) &&
           all_components(p, states, PASS_MOST) &&
           (!r->min || r->max == GX_MANY ||
            all_components(p, states, PASS_GAPS));
}
