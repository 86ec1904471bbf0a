#include "gram/expr_int.h"

#include <stdlib.h>
#include <string.h>

#define MINIMISE_STATES_MAX 16384
#define MINIMISE_STEPS 16 /* for every state, edge and call, at most */
#define MINIMISE_COST 3   /* steps of construction that one takes */

/*
 * States that do the same become one. All are alike at first; then those are
 * told apart that lead to states that have been told apart (Moore's), looking
 * only at those where that may have changed something. What has not come to an
 * end within the steps that there are is left as it was: it is right, too.
 */
struct entry {
    uint32_t kind, state;
    uint64_t hash;
};

struct minimise {
    struct gxs *w;
    struct dfa *d;
    uint32_t first, n, kinds;
    uint32_t *kind;      /* [n] by state: those alike so far */
    uint32_t *size;      /* [n] states of a kind */
    uint32_t *at, *from; /* what leads to a state */
    struct entry *look;  /* [n] to look at now */
    uint32_t *next;      /* [n] kinds that entries get; then new indexes */
    uint8_t *due;        /* [n] is in look */
    size_t n_look, cap_kind, cap_size, cap_at, cap_from, cap_look, cap_next;
    size_t cap_due;
    uint64_t steps; /* that are left */
};

static const struct gram_state *state_of(const struct minimise *m, uint32_t i)
{
    return &m->d->states[m->first + i];
}

static uint32_t kind_of(const struct minimise *m, uint32_t to)
{
    return m->kind[(to & GRAM_STATE) - m->first] | (to & ~GRAM_STATE);
}

/* --- what a state does ---------------------------------------------------- */

struct reader {
    const struct minimise *m;
    const struct gram_state *s;
    size_t edge, call;
};

/* Stretches of symbols with where they lead, then calls. The same for states
 * that do the same, however their edges are cut. */
static bool read_next(struct reader *r, uint32_t out[3])
{
    const struct dfa *d = r->m->d;

    if (r->edge < r->s->n_edges) {
        const struct gram_edge *e = &d->edges[r->s->edges + r->edge++];

        out[0] = e->lo;
        out[1] = e->hi;
        out[2] = kind_of(r->m, e->to);
        for (; r->edge < r->s->n_edges; r->edge++) {
            e = &d->edges[r->s->edges + r->edge];
            if (e->lo != out[1] + 1 || kind_of(r->m, e->to) != out[2])
                break;
            out[1] = e->hi;
        }
        return true;
    }
    if (r->call < r->s->n_calls) {
        const struct gram_call *c = &d->calls[r->s->calls + r->call++];

        out[0] = GRAM_SYMBOLS;
        out[1] = c->rule;
        out[2] = kind_of(r->m, c->to);
        return true;
    }
    return false;
}

static uint64_t hash_of(const struct minimise *m, uint32_t i)
{
    struct reader r = {m, state_of(m, i), 0, 0};
    uint64_t h = r.s->accept;
    uint32_t x[3];

    while (read_next(&r, x)) {
        h = (h ^ x[0] ^ (uint64_t)x[1] << 20 ^ (uint64_t)x[2] << 32) *
            0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return h;
}

static bool alike(const struct minimise *m, uint32_t i, uint32_t j)
{
    struct reader a = {m, state_of(m, i), 0, 0};
    struct reader b = {m, state_of(m, j), 0, 0};
    uint32_t x[3], y[3];
    bool more;

    if (a.s->accept != b.s->accept)
        return false;
    do {
        more = read_next(&a, x);
        if (more != read_next(&b, y) || (more && memcmp(x, y, sizeof(x))))
            return false;
    } while (more);
    return true;
}

/* --- telling apart -------------------------------------------------------- */

static int by_kind(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* How many entries from i on are alike. */
static size_t run(const struct minimise *m, size_t i)
{
    const struct entry *e = m->look;
    size_t n = 1;

    while (i + n < m->n_look && e[i + n].kind == e[i].kind &&
           e[i + n].hash == e[i].hash && alike(m, e[i].state, e[i + n].state))
        n++;
    return n;
}

/*
 * The entries of one kind, [i, end): each run becomes a kind of its own. One
 * keeps the number: the states of the kind that were not looked at, or the
 * first of the largest runs.
 */
static void split(struct minimise *m, size_t i, size_t end)
{
    uint32_t kind = m->look[i].kind;
    size_t keep = end, most = 0;

    if (m->size[kind] == end - i)
        for (size_t k = i, n; k < end; k += n) {
            n = run(m, k);
            if (n > most) {
                most = n;
                keep = k;
            }
        }
    for (size_t k = i, n; k < end; k += n) {
        uint32_t to = kind;

        n = run(m, k);
        if (k != keep) {
            to = m->kinds++;
            m->size[kind] -= (uint32_t)n;
            m->size[to] = (uint32_t)n;
        }
        for (size_t j = 0; j < n; j++)
            m->next[k + j] = to;
    }
}

static void mark(struct minimise *m, uint32_t state)
{
    if (m->due[state])
        return;
    m->due[state] = 1;
    m->look[m->n_look++].state = state;
}

/* Look at all that are due. False: no steps are left. */
static bool look_round(struct minimise *m)
{
    size_t n = m->n_look, changed = 0;

    for (size_t i = 0; i < n; i++) {
        struct entry *e = &m->look[i];
        const struct gram_state *s = state_of(m, e->state);
        uint64_t steps = (uint64_t)4 + s->n_edges + s->n_calls;

        if (m->steps < steps)
            return false;
        m->steps -= steps;
        m->due[e->state] = 0;
        e->kind = m->kind[e->state];
        e->hash = hash_of(m, e->state);
    }
    qsort(m->look, n, sizeof(*m->look), by_kind);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && m->look[end].kind == m->look[i].kind;)
            end++;
        split(m, i, end);
    }
    /* next[0..changed): the states that have a new kind */
    for (size_t i = 0; i < n; i++) {
        uint32_t state = m->look[i].state, kind = m->next[i];

        if (m->kind[state] == kind)
            continue;
        m->kind[state] = kind;
        m->next[changed++] = state;
    }
    m->n_look = 0;
    for (size_t i = 0; i < changed; i++)
        for (uint32_t k = m->at[m->next[i]]; k < m->at[m->next[i] + 1]; k++)
            mark(m, m->from[k]);
    return true;
}

/* --- tables --------------------------------------------------------------- */

static void each_step(struct minimise *m,
                      void (*f)(struct minimise *m, uint32_t from, uint32_t to))
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct gram_state *s = state_of(m, i);

        for (size_t k = 0; k < s->n_edges; k++)
            f(m, i, (m->d->edges[s->edges + k].to & GRAM_STATE) - m->first);
        for (size_t k = 0; k < s->n_calls; k++)
            f(m, i, (m->d->calls[s->calls + k].to & GRAM_STATE) - m->first);
    }
}

static void count_step(struct minimise *m, uint32_t from, uint32_t to)
{
    (void)from;
    m->at[to]++;
}

static void put_step(struct minimise *m, uint32_t from, uint32_t to)
{
    m->from[--m->at[to]] = from;
}

static bool prepare(struct minimise *m, size_t steps)
{
    struct gxs *w = m->w;
    size_t n = m->n;

    if (!vec_room(w, m->kind, m->cap_kind, n) ||
        !vec_room(w, m->size, m->cap_size, n) ||
        !vec_room(w, m->at, m->cap_at, n + 1) ||
        !vec_room(w, m->from, m->cap_from, steps + 1) ||
        !vec_room(w, m->look, m->cap_look, n) ||
        !vec_room(w, m->next, m->cap_next, n) ||
        !vec_room(w, m->due, m->cap_due, n))
        return false;
    memset(m->kind, 0, n * sizeof(*m->kind));
    memset(m->at, 0, (n + 1) * sizeof(*m->at));
    memset(m->due, 0, n);
    each_step(m, count_step);
    for (size_t i = 1; i <= n; i++)
        m->at[i] += m->at[i - 1];
    each_step(m, put_step);
    m->kinds = 1;
    m->size[0] = m->n;
    for (uint32_t i = 0; i < m->n; i++)
        mark(m, i);
    return true;
}

/* One state of each kind, the first, in the order they were in. What is written
 * lies before what is still to be read. */
static void write_kinds(struct minimise *m)
{
    struct dfa *d = m->d;
    uint32_t n = 0;

    memset(m->size, 0xff, m->n * sizeof(*m->size)); /* by kind: new index */
    for (uint32_t i = 0; i < m->n; i++)
        if (m->size[m->kind[i]] == UINT32_MAX) {
            m->size[m->kind[i]] = n;
            m->next[n++] = i;
        }
    d->n_edges = state_of(m, 0)->edges;
    d->n_calls = state_of(m, 0)->calls;
    for (uint32_t i = 0; i < n; i++) {
        struct gram_state s = *state_of(m, m->next[i]);
        struct gram_state *t = &d->states[m->first + i];

        *t = s;
        t->edges = (uint32_t)d->n_edges;
        t->calls = (uint32_t)d->n_calls;
        for (size_t k = 0; k < s.n_edges; k++) {
            struct gram_edge e = d->edges[s.edges + k];
            struct gram_edge *last = &d->edges[d->n_edges];

            e.to = (m->first + m->size[kind_of(m, e.to) & GRAM_STATE]) |
                   (e.to & ~GRAM_STATE);
            if (d->n_edges > t->edges && last[-1].to == e.to &&
                last[-1].hi + 1u == e.lo && e.lo != 256)
                last[-1].hi = e.hi;
            else
                d->edges[d->n_edges++] = e;
        }
        for (size_t k = 0; k < s.n_calls; k++) {
            struct gram_call c = d->calls[s.calls + k];

            c.to = (m->first + m->size[kind_of(m, c.to) & GRAM_STATE]) |
                   (c.to & ~GRAM_STATE);
            d->calls[d->n_calls++] = c;
        }
        t->n_edges = (uint16_t)(d->n_edges - t->edges);
    }
    d->n_states = m->first + n;
}

bool dfa_minimise(struct gxs *w, struct dfa *d, uint32_t first)
{
    struct minimise m = {.w = w, .d = d, .first = first};
    size_t n = d->n_states - first, steps;
    bool done = true;
    uint64_t all;

    if (n < 2 || n > MINIMISE_STATES_MAX)
        return true;
    m.n = (uint32_t)n;
    steps = d->n_edges - state_of(&m, 0)->edges + d->n_calls -
            state_of(&m, 0)->calls;
    all = m.steps = MINIMISE_STEPS * (uint64_t)(n + steps);
    if (prepare(&m, steps)) {
        while (m.n_look && done)
            done = look_round(&m);
        if (done && m.kinds < m.n)
            write_kinds(&m);
    }
    (void)gxs_work(w, MINIMISE_COST * (all - m.steps));
    vec_drop(w, m.kind, m.cap_kind);
    vec_drop(w, m.size, m.cap_size);
    vec_drop(w, m.at, m.cap_at);
    vec_drop(w, m.from, m.cap_from);
    vec_drop(w, m.look, m.cap_look);
    vec_drop(w, m.next, m.cap_next);
    vec_drop(w, m.due, m.cap_due);
    return !w->err.st;
}
