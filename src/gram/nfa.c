#include "gram/expr_int.h"

#include <stdlib.h>
#include <string.h>

/* x leads from `in` to `out`. Expressions are deep lists as often as not, so
 * what is left to do is a list, not the stack of C. */
struct nfa_task {
    const struct gx *x;
    uint32_t in, out;
};

void nfa_init(struct nfa *a, struct gxs *w)
{
    memset(a, 0, sizeof(*a));
    a->w = w;
}

void nfa_release(struct nfa *a)
{
    vec_drop(a->w, a->states, a->cap);
    vec_drop(a->w, a->more, a->cap_more);
    vec_drop(a->w, a->tasks, a->cap_tasks);
}

/* n new states; their first, or 0 (which is the start of every NFA). */
static uint32_t add_states(struct nfa *a, size_t n)
{
    size_t first = a->n;

    if (!gxs_work(a->w, n) || !vec_room(a->w, a->states, a->cap, a->n + n))
        return 0;
    for (size_t i = 0; i < n; i++)
        a->states[a->n++] = (struct nfa_edge){.lo = NFA_NO};
    return (uint32_t)first;
}

static bool add_edge(struct nfa *a, uint32_t from, uint32_t lo, uint32_t hi,
                     uint32_t to)
{
    struct nfa_edge *e = &a->states[from];

    if (!gxs_work(a->w, 1))
        return false;
    if (e->lo != NFA_NO) {
        if (!vec_room(a->w, a->more, a->cap_more, a->n_more + 1))
            return false;
        a->more[a->n_more].more = e->more;
        e->more = (uint32_t)a->n_more;
        e = &a->more[a->n_more++];
    }
    e->lo = (uint16_t)lo;
    e->hi = (uint16_t)hi;
    e->to = to;
    return true;
}

static bool add_task(struct nfa *a, const struct gx *x, uint32_t in,
                     uint32_t out)
{
    if (!gxs_work(a->w, 1) ||
        !vec_room(a->w, a->tasks, a->cap_tasks, a->n_tasks + 1))
        return false;
    a->tasks[a->n_tasks++] = (struct nfa_task){x, in, out};
    return true;
}

static bool do_bytes(struct nfa *a, const struct nfa_task *t)
{
    uint32_t from = t->in, next = add_states(a, t->x->n - 1);

    if (a->w->err.st)
        return false;
    for (uint32_t i = 0; i < t->x->n; i++) {
        uint8_t c = (uint8_t)t->x->s[i];
        uint32_t to = i + 1 < t->x->n ? next++ : t->out;

        if (!add_edge(a, from, c, c, to))
            return false;
        from = to;
    }
    return true;
}

static bool do_seq(struct nfa *a, const struct nfa_task *t)
{
    uint32_t from = t->in, next = add_states(a, t->x->n - 1);

    for (uint32_t i = 0; i < t->x->n; i++) {
        uint32_t to = i + 1 < t->x->n ? next++ : t->out;

        if (!add_task(a, t->x->of[i], from, to))
            return false;
        from = to;
    }
    return true;
}

static bool do_alt(struct nfa *a, const struct nfa_task *t)
{
    for (uint32_t i = 0; i < t->x->n; i++)
        if (!add_task(a, t->x->of[i], t->in, t->out))
            return false;
    return true;
}

/* A state of its own to loop on: nothing else leads into `in` or out of `out`
 * that way. */
static bool do_star(struct nfa *a, const struct gx *x, uint32_t in,
                    uint32_t out)
{
    uint32_t loop = add_states(a, 1);

    return loop && add_edge(a, in, NFA_EPS, 0, loop) &&
           add_edge(a, loop, NFA_EPS, 0, out) && add_task(a, x, loop, loop);
}

static bool do_space(struct nfa *a, const struct nfa_task *t)
{
    uint32_t loop = add_states(a, 1);
    uint32_t to = loop | GRAM_SPACE;

    return loop && add_edge(a, t->in, NFA_EPS, 0, loop) &&
           add_edge(a, loop, '\t', '\n', to) &&
           add_edge(a, loop, '\r', '\r', to) &&
           add_edge(a, loop, ' ', ' ', to) &&
           add_edge(a, loop, NFA_EPS, 0, t->out);
}

static bool do_repeat(struct nfa *a, const struct nfa_task *t)
{
    const struct gx *x = t->x;
    uint32_t n = x->max == GX_MANY ? x->n : x->max;
    uint32_t from = t->in;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t to =
            i + 1 < n || x->max == GX_MANY ? add_states(a, 1) : t->out;

        if (a->w->err.st || !add_task(a, x->one, from, to) ||
            (i >= x->n && !add_edge(a, from, NFA_EPS, 0, t->out)))
            return false;
        from = to;
    }
    return x->max != GX_MANY || do_star(a, x->one, from, t->out);
}

static bool do_dfa(struct nfa *a, const struct nfa_task *t)
{
    const struct dfa *d = t->x->dfa;
    uint32_t base = add_states(a, d->n_states);

    if (!base || !add_edge(a, t->in, NFA_EPS, 0, base + d->start))
        return false;
    for (size_t i = 0; i < d->n_states; i++) {
        const struct gram_state *s = &d->states[i];
        uint32_t from = base + (uint32_t)i;

        for (size_t k = 0; k < s->n_edges; k++) {
            const struct gram_edge *e = &d->edges[s->edges + k];
            uint32_t flags = a->counts ? e->to & GRAM_COUNTS : 0;

            if (!add_edge(a, from, e->lo, e->hi,
                          (base + (e->to & GRAM_STATE)) | flags))
                return false;
        }
        if (s->accept && !add_edge(a, from, NFA_EPS, 0, t->out))
            return false;
    }
    return true;
}

/* States want[i], where of[i] or what is behind it comes next, and had[i], just
 * behind of[i - 1]: a comma and want[i] follow, or the end. */
static bool do_list(struct nfa *a, const struct nfa_task *t)
{
    const struct gx_list *l = t->x->list;
    uint32_t want = add_states(a, 2 * (l->n + 1));
    uint32_t had = want + (uint32_t)l->n + 1;

    if (!want || !add_edge(a, t->in, NFA_EPS, 0, want))
        return false;
    for (uint32_t i = 0; i <= l->n; i++) {
        bool last = i == l->n;

        if (!add_task(a, last ? l->more : l->of[i], want + i,
                      had + (last ? i : i + 1)) ||
            (!last && !l->required[i] &&
             !add_edge(a, want + i, NFA_EPS, 0, want + i + 1)))
            return false;
        if ((!last || l->more->kind != GXK_NONE) &&
            !add_task(a, l->between, had + i, want + i))
            return false;
        if (i >= l->free && !add_edge(a, had + i, NFA_EPS, 0, t->out))
            return false;
    }
    return true;
}

/* The rule behind those that only call another: a frame less on the stack. */
static uint32_t callee(const struct gxs *w, uint32_t rule)
{
    for (int i = 0; i < 64; i++) { /* a circle is seen when it is compiled */
        const struct gx_rule_def *def = &w->rules[rule];

        if (!def->x || def->x->kind != GXK_CALL || def->x->counts ||
            def->min || def->max != GX_MANY)
            break;
        rule = def->x->n;
    }
    return rule;
}

static bool do_task(struct nfa *a, const struct nfa_task *t)
{
    const struct gx *x = t->x;

    switch (x->kind) {
    case GXK_NONE:
        return true;
    case GXK_EMPTY:
        return add_edge(a, t->in, NFA_EPS, 0, t->out);
    case GXK_BYTES:
        return do_bytes(a, t);
    case GXK_SYMBOLS:
        return add_edge(a, t->in, x->lo, x->hi, t->out);
    case GXK_SPACE:
        return do_space(a, t);
    case GXK_SEQ:
        return do_seq(a, t);
    case GXK_ALT:
        return do_alt(a, t);
    case GXK_STAR:
        return do_star(a, x->one, t->in, t->out);
    case GXK_REPEAT:
        return do_repeat(a, t);
    case GXK_BEGIN:
        return add_edge(a, t->in, NFA_BEGIN, 0, t->out);
    case GXK_END:
        a->ends = true;
        return add_edge(a, t->in, NFA_END, 0, t->out);
    case GXK_DFA:
        return do_dfa(a, t);
    case GXK_LIST:
        return do_list(a, t);
    default:
        return add_edge(a, t->in, NFA_CALL, callee(a->w, x->n),
                        t->out | (a->counts && x->counts ? GRAM_COUNTS : 0));
    }
}

bool nfa_build(struct nfa *a, const struct gx *x, bool counts)
{
    a->n = a->n_tasks = 0;
    a->n_more = 1;
    a->counts = counts;
    a->ends = false;
    a->start = add_states(a, 2);
    a->final = 1;
    if (a->w->err.st || !vec_room(a->w, a->more, a->cap_more, 1) ||
        !add_task(a, x, a->start, a->final))
        return false;
    while (a->n_tasks) {
        struct nfa_task t = a->tasks[--a->n_tasks];

        if (!do_task(a, &t))
            return false;
    }
    return true;
}
