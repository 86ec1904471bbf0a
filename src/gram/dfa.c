#include "gram/expr_int.h"

#include <stdlib.h>
#include <string.h>

/* --- tables --------------------------------------------------------------- */

void dfa_drop(struct gxs *w, struct dfa *d)
{
    vec_drop(w, d->states, d->cap_states);
    vec_drop(w, d->edges, d->cap_edges);
    vec_drop(w, d->calls, d->cap_calls);
    memset(d, 0, sizeof(*d));
}

bool dfa_add_state(struct gxs *w, struct dfa *d)
{
    if (d->n_states >= GRAM_STATES_MAX) {
        gxs_fail(w, ST_LIMIT, "",
                 "the grammar is too large: its automaton has more than %d "
                 "states",
                 GRAM_STATES_MAX);
        return false;
    }
    if (!vec_room(w, d->states, d->cap_states, d->n_states + 1))
        return false;
    d->states[d->n_states++] = (struct gram_state){
        .edges = (uint32_t)d->n_edges, .calls = (uint32_t)d->n_calls};
    return true;
}

bool dfa_add_edge(struct gxs *w, struct dfa *d, uint32_t lo, uint32_t hi,
                  uint32_t to)
{
    struct gram_state *s = &d->states[d->n_states - 1];
    struct gram_edge *last = d->n_edges ? &d->edges[d->n_edges - 1] : NULL;

    if (s->n_edges && last->to == to && last->hi + 1u == lo && lo != 256) {
        last->hi = (uint16_t)hi;
        return true;
    }
    if (!vec_room(w, d->edges, d->cap_edges, d->n_edges + 1))
        return false;
    d->edges[d->n_edges++] = (struct gram_edge){(uint16_t)lo, (uint16_t)hi, to};
    s->n_edges++;
    return true;
}

bool dfa_add_call(struct gxs *w, struct dfa *d, uint32_t rule, uint32_t to)
{
    struct gram_state *s = &d->states[d->n_states - 1];

    if (s->n_calls == UINT16_MAX) {
        gxs_fail(w, ST_LIMIT, "",
                 "the grammar is too large: more than %d rules may come at one "
                 "place",
                 UINT16_MAX);
        return false;
    }
    if (!vec_room(w, d->calls, d->cap_calls, d->n_calls + 1))
        return false;
    d->calls[d->n_calls++] = (struct gram_call){rule, to};
    s->n_calls++;
    return true;
}

/* --- subset construction -------------------------------------------------- */

/* The NFA states behind one DFA state that matter: those with an edge that is
 * not empty, and the final one. */
struct set {
    uint32_t at, n;      /* in subset.pool */
    uint32_t hash, next; /* DFA states with the same hash, index + 1 */
};

#define FAR_STATES 65536
#define CUT_WORDS (GRAM_SYMBOLS / 64 + 1)

struct ref {
    uint32_t rule, to, at;
};

struct subset {
    struct gxs *w;
    const struct nfa *a;
    struct dfa *out;
    uint32_t base; /* DFA state of sets[0] */
    unsigned far;  /* steps of one step: more where a is larger than caches */
    /* by NFA state */
    uint32_t *stamp;  /* when it was last seen */
    uint32_t *single; /* DFA state of its closure, + 1; 0: not known */
    size_t cap_stamp, cap_single, n_stamp;
    uint32_t now;
    /* by DFA state */
    struct set *sets;
    size_t n_sets, cap_sets;
    uint32_t *pool;
    size_t n_pool, cap_pool;
    uint32_t *table; /* [mask + 1] index of a set, + 1 */
    size_t cap_table, mask;
    /* the closure at work */
    uint32_t *cur, *stack;
    size_t n_cur, cap_cur, cap_stack;
    uint32_t hash;
    /* the state at work: targets by stretch of symbols, and calls */
    uint64_t cuts[CUT_WORDS];       /* symbols with which they begin */
    uint16_t cut[GRAM_SYMBOLS + 1]; /* the same as a list */
    uint16_t rank[CUT_WORDS];       /* how many before each word */
    uint32_t at[GRAM_SYMBOLS + 1];
    size_t n_cut;
    struct gram_edge *edges;
    size_t n_edges, cap_edges;
    uint32_t *targets;
    size_t cap_targets;
    struct ref *refs;
    size_t n_refs, cap_refs;
};

struct subset *subset_new(struct gxs *w)
{
    struct subset *s = mem_try(sizeof(*s));

    if (s)
        s->w = w;
    else
        gxs_fail(w, ST_NOMEM, "", "out of memory");
    return s;
}

void subset_free(struct subset *s)
{
    if (!s)
        return;
    vec_drop(s->w, s->stamp, s->cap_stamp);
    vec_drop(s->w, s->single, s->cap_single);
    vec_drop(s->w, s->sets, s->cap_sets);
    vec_drop(s->w, s->pool, s->cap_pool);
    vec_drop(s->w, s->table, s->cap_table);
    vec_drop(s->w, s->cur, s->cap_cur);
    vec_drop(s->w, s->stack, s->cap_stack);
    vec_drop(s->w, s->edges, s->cap_edges);
    vec_drop(s->w, s->targets, s->cap_targets);
    vec_drop(s->w, s->refs, s->cap_refs);
    free(s);
}

static uint32_t mix(uint32_t x)
{
    x *= 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x85ebca6bu;
    return x ^ x >> 13;
}

/* The next edge of an NFA state, NULL behind the last. */
static const struct nfa_edge *more(const struct nfa *a,
                                   const struct nfa_edge *e)
{
    return e->more ? &a->more[e->more] : NULL;
}

static size_t visit(struct subset *s, size_t n, uint32_t state)
{
    if (s->stamp[state] == s->now ||
        (n == s->cap_stack && !vec_room(s->w, s->stack, s->cap_stack, n + 1)))
        return n;
    s->stamp[state] = s->now;
    s->stack[n++] = state;
    return n;
}

enum close_flags {
    CLOSE_BEGIN = 1, /* nothing was read yet */
    CLOSE_END = 2,   /* nothing will be read any more */
};

/* cur = what matters of all that is reached from seeds by nothing. */
static bool closure(struct subset *s, const uint32_t *seeds, size_t n_seeds,
                    unsigned flags)
{
    const struct nfa *a = s->a;
    uint64_t steps = n_seeds;
    size_t n = 0;

    s->now++;
    s->n_cur = 0;
    s->hash = 0;
    for (size_t i = 0; i < n_seeds; i++)
        n = visit(s, n, seeds[i] & GRAM_STATE);
    while (n) {
        uint32_t state = s->stack[--n];
        const struct nfa_edge *e = &a->states[state];
        bool matters = state == a->final;

        for (; e; e = more(a, e)) {
            steps++;
            if (e->lo == NFA_EPS || (e->lo == NFA_BEGIN && flags & CLOSE_BEGIN))
                n = visit(s, n, e->to);
            else if (e->lo == NFA_END && flags & CLOSE_END)
                n = visit(s, n, e->to);
            else if (e->lo != NFA_BEGIN && e->lo != NFA_NO)
                matters = true;
        }
        if (matters) {
            if (!vec_room(s->w, s->cur, s->cap_cur, s->n_cur + 1))
                return false;
            s->cur[s->n_cur++] = state;
            s->hash += mix(state);
        }
    }
    return gxs_work(s->w, steps * s->far);
}

static bool same_set(const struct subset *s, const struct set *x)
{
    if (x->hash != s->hash || x->n != s->n_cur)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (s->stamp[s->pool[x->at + i]] != s->now)
            return false;
    return true;
}

static bool rehash(struct subset *s, size_t n)
{
    if (!vec_room(s->w, s->table, s->cap_table, n))
        return false;
    s->mask = n - 1;
    memset(s->table, 0, n * sizeof(*s->table));
    for (size_t i = 1; i < s->n_sets; i++) {
        uint32_t *slot = &s->table[s->sets[i].hash & s->mask];

        s->sets[i].next = *slot;
        *slot = (uint32_t)i + 1;
    }
    return gxs_work(s->w, n / 4);
}

/* A set for cur. The first one, the start's, is not found again: what a text
 * begins with may differ from the same states later on. */
static bool add_set(struct subset *s)
{
    struct set *x;

    if (s->base + s->n_sets >= GRAM_STATES_MAX)
        return dfa_add_state(s->w, &(struct dfa){.n_states = GRAM_STATES_MAX});
    if (!vec_room(s->w, s->sets, s->cap_sets, s->n_sets + 1) ||
        !vec_room(s->w, s->pool, s->cap_pool, s->n_pool + s->n_cur + 1))
        return false;
    x = &s->sets[s->n_sets++];
    *x = (struct set){(uint32_t)s->n_pool, (uint32_t)s->n_cur, s->hash, 0};
    if (s->n_cur)
        memcpy(s->pool + s->n_pool, s->cur, s->n_cur * sizeof(*s->cur));
    s->n_pool += s->n_cur;
    if (s->n_sets == 1)
        return true;
    if (s->n_sets > s->mask)
        return rehash(s, (s->mask + 1) * 2);
    x->next = s->table[x->hash & s->mask];
    s->table[x->hash & s->mask] = (uint32_t)s->n_sets;
    return true;
}

/* The DFA state for the closure of these, made where there is none yet. */
static bool target(struct subset *s, const uint32_t *seeds, size_t n,
                   uint32_t *to)
{
    uint32_t i = 1;

    while (i < n && !((seeds[i] ^ seeds[0]) & GRAM_STATE))
        i++;
    if (i == n)
        n = 1; /* alternatives that end alike */
    if (n == 1 && s->single[seeds[0] & GRAM_STATE]) {
        *to = s->single[seeds[0] & GRAM_STATE] - 1;
        return gxs_work(s->w, 1);
    }
    if (!closure(s, seeds, n, 0))
        return false;
    for (i = s->table[s->hash & s->mask]; i; i = s->sets[i - 1].next)
        if (same_set(s, &s->sets[i - 1]))
            break;
    if (!gxs_work(s->w, s->n_cur * s->far))
        return false;
    if (!i) {
        if (!add_set(s))
            return false;
        i = (uint32_t)s->n_sets;
    }
    *to = s->base + i - 1;
    if (n == 1)
        s->single[seeds[0] & GRAM_STATE] = *to + 1;
    return true;
}

/* --- one state's edges ---------------------------------------------------- */

static bool is_symbol(const struct nfa_edge *e)
{
    return e->lo < GRAM_SYMBOLS;
}

static void cut_at(struct subset *s, uint32_t c)
{
    s->cuts[c / 64] |= (uint64_t)1 << c % 64;
}

/* The stretch that symbol c is in. */
static size_t stretch(const struct subset *s, uint32_t c)
{
    uint64_t upto = s->cuts[c / 64] << (63 - c % 64);

    return s->rank[c / 64] + (size_t)__builtin_popcountll(upto) - 1;
}

/* One edge of the state at work. */
static bool add_edge(struct subset *s, const struct nfa_edge *e)
{
    if (is_symbol(e)) {
        if (!vec_room(s->w, s->edges, s->cap_edges, s->n_edges + 1))
            return false;
        s->edges[s->n_edges++] = (struct gram_edge){e->lo, e->hi, e->to};
        cut_at(s, e->lo);
        cut_at(s, e->hi + 1u);
    } else if (e->lo == NFA_CALL) {
        if (!vec_room(s->w, s->refs, s->cap_refs, s->n_refs + 1))
            return false;
        s->refs[s->n_refs] = (struct ref){e->hi, e->to, (uint32_t)s->n_refs};
        s->n_refs++;
    }
    return true;
}

/* Gather edges and calls, and cut the symbols where an edge begins or ends. */
static bool cut_symbols(struct subset *s, struct set set)
{
    uint64_t steps = 4;

    memset(s->cuts, 0, sizeof(s->cuts));
    s->n_refs = s->n_edges = 0;
    cut_at(s, 0);
    for (size_t i = 0; i < set.n; i++) {
        const struct nfa_edge *e = &s->a->states[s->pool[set.at + i]];

        for (; e; e = more(s->a, e), steps++)
            if (!add_edge(s, e))
                return false;
    }
    cut_at(s, GRAM_SYMBOLS);
    s->n_cut = 0;
    for (uint32_t i = 0; i < CUT_WORDS; i++) {
        s->rank[i] = (uint16_t)s->n_cut;
        for (uint64_t x = s->cuts[i]; x; x &= x - 1)
            s->cut[s->n_cut++] =
                (uint16_t)(i * 64 + (uint32_t)__builtin_ctzll(x));
    }
    s->n_cut--; /* the last is where symbols end */
    return gxs_work(s->w, steps * s->far);
}

/* at, targets: the targets of every stretch, in the order of the edges. */
static bool sort_targets(struct subset *s)
{
    size_t sum = 0;

    memset(s->at, 0, s->n_cut * sizeof(*s->at));
    for (size_t k = 0; k < s->n_edges; k++) {
        const struct gram_edge *e = &s->edges[k];

        for (size_t i = stretch(s, e->lo); s->cut[i] <= e->hi; i++)
            s->at[i]++;
    }
    for (size_t i = 0; i < s->n_cut; i++) {
        size_t n = s->at[i];

        s->at[i] = (uint32_t)sum;
        sum += n;
    }
    if (!gxs_work(s->w, sum) ||
        !vec_room(s->w, s->targets, s->cap_targets, sum + 1))
        return false;
    for (size_t k = 0; k < s->n_edges; k++) {
        const struct gram_edge *e = &s->edges[k];

        for (size_t i = stretch(s, e->lo); s->cut[i] <= e->hi; i++)
            s->targets[s->at[i]++] = e->to;
    }
    return true; /* at[i] is now where stretch i ends */
}

/* The flags of an edge or a call made of these. */
static bool join_flags(struct subset *s, const uint32_t *to, size_t n,
                       uint32_t *flags)
{
    uint32_t all = ~0u, any = 0;

    for (size_t i = 0; i < n; i++) {
        all &= to[i];
        any |= to[i];
    }
    *flags = all & (GRAM_COUNTS | GRAM_SPACE);
    if (!((all ^ any) & GRAM_COUNTS))
        return true;
    gxs_fail(s->w, ST_INTERNAL, "",
             "one symbol of a rule counts and does not count");
    return false;
}

static bool add_edges(struct subset *s)
{
    size_t from = 0;

    for (size_t i = 0; i < s->n_cut; i++) {
        size_t n = s->at[i] - from;
        const uint32_t *to = n ? s->targets + from : NULL;
        uint32_t flags, state;

        from = s->at[i];
        if (!n)
            continue;
        if (!join_flags(s, to, n, &flags) || !target(s, to, n, &state) ||
            !dfa_add_edge(s->w, s->out, s->cut[i], s->cut[i + 1] - 1u,
                          state | flags))
            return false;
    }
    return true;
}

static int by_rule(const void *a, const void *b)
{
    const struct ref *x = a, *y = b;

    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    if ((x->to ^ y->to) & GRAM_COUNTS)
        return x->to < y->to ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool add_calls(struct subset *s)
{
    size_t n;

    if (!s->n_refs)
        return true;
    if (!vec_room(s->w, s->targets, s->cap_targets, s->n_refs) ||
        !gxs_work(s->w, 2 * s->n_refs))
        return false;
    qsort(s->refs, s->n_refs, sizeof(*s->refs), by_rule);
    for (size_t i = 0; i < s->n_refs; i += n) {
        const struct ref *r = &s->refs[i];
        uint32_t state;

        for (n = 0; i + n < s->n_refs && r[n].rule == r->rule &&
                    !((r[n].to ^ r->to) & GRAM_COUNTS);
             n++)
            s->targets[n] = r[n].to;
        if (!target(s, s->targets, n, &state) ||
            !dfa_add_call(s->w, s->out, r->rule, state | (r->to & GRAM_COUNTS)))
            return false;
    }
    return true;
}

/* May the text end in this set? */
static bool accepts(struct subset *s, struct set set, bool at_start, bool *yes)
{
    *yes = false;
    for (size_t i = 0; i < set.n && !*yes; i++)
        *yes = s->pool[set.at + i] == s->a->final;
    if (*yes || !s->a->ends)
        return gxs_work(s->w, set.n / 4);
    if (!closure(s, s->pool + set.at, set.n,
                 CLOSE_END | (at_start ? CLOSE_BEGIN : 0)))
        return false;
    *yes = s->stamp[s->a->final] == s->now;
    return true;
}

static bool prepare(struct subset *s, const struct nfa *a, struct dfa *out)
{
    s->a = a;
    s->out = out;
    s->base = (uint32_t)out->n_states;
    s->far = a->n > FAR_STATES ? 3 : 1;
    s->n_sets = s->n_pool = 0;
    if (!vec_room(s->w, s->stamp, s->cap_stamp, a->n) ||
        !vec_room(s->w, s->single, s->cap_single, a->n) ||
        !vec_room(s->w, s->cur, s->cap_cur, 1) || !rehash(s, 64))
        return false;
    if (s->n_stamp < a->n) {
        memset(s->stamp + s->n_stamp, 0,
               (a->n - s->n_stamp) * sizeof(*s->stamp));
        s->n_stamp = a->n;
    }
    memset(s->single, 0, a->n * sizeof(*s->single));
    return gxs_work(s->w, a->n / 4);
}

bool subset_build(struct subset *s, const struct nfa *a, struct dfa *out)
{
    if (!prepare(s, a, out) || !closure(s, &a->start, 1, CLOSE_BEGIN) ||
        !add_set(s))
        return false;
    for (size_t i = 0; i < s->n_sets; i++) {
        bool yes;

        /* states and their edges come in the order of the sets */
        if (!dfa_add_state(s->w, out) || !accepts(s, s->sets[i], !i, &yes) ||
            !cut_symbols(s, s->sets[i]) || !sort_targets(s) || !add_edges(s) ||
            !add_calls(s))
            return false;
        out->states[s->base + i].accept = yes;
    }
    out->start = s->base;
    return true;
}
