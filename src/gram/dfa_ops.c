#include "gram/expr_int.h"

#include <stdlib.h>
#include <string.h>

/* --- trimming ------------------------------------------------------------- */

/* What leads where, backwards. */
struct back {
    uint32_t *at;   /* [n_states + 1] */
    uint32_t *from; /* [n_edges] */
    uint32_t *live; /* [n_states] new index + 1; 0: leads nowhere */
    uint32_t *queue; /* [n_states] */
    size_t cap_at, cap_from, cap_live, cap_queue;
};

static bool back_fill(struct gxs *w, struct back *b, const struct dfa *d)
{
    if (!gxs_work(w, d->n_edges + d->n_states) ||
        !vec_room(w, b->at, b->cap_at, d->n_states + 1) ||
        !vec_room(w, b->from, b->cap_from, d->n_edges + 1) ||
        !vec_room(w, b->live, b->cap_live, d->n_states + 1) ||
        !vec_room(w, b->queue, b->cap_queue, d->n_states + 1))
        return false;
    memset(b->at, 0, (d->n_states + 1) * sizeof(*b->at));
    memset(b->live, 0, (d->n_states + 1) * sizeof(*b->live));
    for (size_t i = 0; i < d->n_edges; i++)
        b->at[d->edges[i].to & GRAM_STATE]++;
    for (size_t i = 1; i <= d->n_states; i++)
        b->at[i] += b->at[i - 1];
    for (size_t i = 0; i < d->n_states; i++) {
        const struct gram_state *s = &d->states[i];

        for (size_t k = 0; k < s->n_edges; k++)
            b->from[--b->at[d->edges[s->edges + k].to & GRAM_STATE]] =
                (uint32_t)i;
    }
    return true;
}

/* live of what can reach an end; how many. */
static size_t back_mark(struct back *b, const struct dfa *d)
{
    size_t n = 0, done = 0;

    for (size_t i = 0; i < d->n_states; i++) {
        if (!d->states[i].accept)
            continue;
        b->live[i] = 1;
        b->queue[n++] = (uint32_t)i;
    }
    while (done < n) {
        uint32_t to = b->queue[done++];

        for (uint32_t k = b->at[to]; k < b->at[to + 1]; k++) {
            if (b->live[b->from[k]])
                continue;
            b->live[b->from[k]] = 1;
            b->queue[n++] = b->from[k];
        }
    }
    return n;
}

/* Number what is left in the order it was in, and copy it. */
static void trim_copy(struct dfa *out, const struct dfa *d, uint32_t *live)
{
    uint32_t n = 0;

    for (size_t i = 0; i < d->n_states; i++)
        if (live[i])
            live[i] = ++n;
    for (size_t i = 0; i < d->n_states; i++) {
        const struct gram_state *s = &d->states[i];
        struct gram_state *t = &out->states[out->n_states];

        if (!live[i])
            continue;
        *t = (struct gram_state){.edges = (uint32_t)out->n_edges,
                                 .accept = s->accept};
        out->n_states++;
        for (size_t k = 0; k < s->n_edges; k++) {
            struct gram_edge e = d->edges[s->edges + k];
            uint32_t to = live[e.to & GRAM_STATE];

            if (!to)
                continue;
            e.to = (to - 1) | (e.to & ~GRAM_STATE);
            out->edges[out->n_edges++] = e;
            t->n_edges++;
        }
    }
    out->start = live[d->start] - 1;
}

const struct dfa *part_trim(struct gxs *w, const struct dfa *d)
{
    struct dfa *out = gxs_alloc(w, 1, sizeof(*out));
    struct back b = {0};
    size_t n, n_edges = 0;

    if (!out || !back_fill(w, &b, d))
        goto fail;
    n = back_mark(&b, d);
    if (!b.live[d->start])
        goto out;
    for (size_t i = 0; i < d->n_edges; i++)
        n_edges += b.live[d->edges[i].to & GRAM_STATE] != 0;
    out->states = gxs_alloc(w, n, sizeof(*out->states));
    out->edges = gxs_alloc(w, n_edges + 1, sizeof(*out->edges));
    if (!out->states || !out->edges)
        goto fail;
    trim_copy(out, d, b.live);
    if (!out->start && !dfa_minimise(w, out, 0))
        goto fail;
    goto out;
fail:
    out = NULL;
out:
    vec_drop(w, b.at, b.cap_at);
    vec_drop(w, b.from, b.cap_from);
    vec_drop(w, b.live, b.cap_live);
    vec_drop(w, b.queue, b.cap_queue);
    return out;
}

const struct dfa *part_compile(struct gxs *w, const struct gx *x)
{
    struct subset *s = subset_new(w);
    const struct dfa *out = NULL;
    struct dfa raw = {0};
    struct nfa a;

    nfa_init(&a, w);
    if (s && nfa_build(&a, x, true) && subset_build(s, &a, &raw))
        out = part_trim(w, &raw);
    nfa_release(&a);
    subset_free(s);
    dfa_drop(w, &raw);
    return out;
}

/* --- products ------------------------------------------------------------- */

#define GONE UINT32_MAX /* b can match nothing any more */

struct product {
    struct gxs *w;
    const struct dfa *a, *b;
    struct dfa out;
    uint32_t (*pairs)[2]; /* [out.n_states .. n_pairs) have no edges yet */
    size_t n_pairs, cap_pairs;
    uint32_t *table; /* [mask + 1] index of a pair, + 1 */
    size_t cap_table, mask;
    bool must_follow; /* b has an edge wherever a has one */
    bool gone_is_alive;
};

static size_t slot(const struct product *p, uint32_t a, uint32_t b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
    size_t i = (size_t)(h >> 32) & p->mask;

    while (p->table[i] && (p->pairs[p->table[i] - 1][0] != a ||
                           p->pairs[p->table[i] - 1][1] != b))
        i = (i + 1) & p->mask;
    return i;
}

static bool rehash_pairs(struct product *p, size_t n)
{
    if (!gxs_work(p->w, n) || !vec_room(p->w, p->table, p->cap_table, n))
        return false;
    memset(p->table, 0, n * sizeof(*p->table));
    p->mask = n - 1;
    for (size_t i = 0; i < p->n_pairs; i++)
        p->table[slot(p, p->pairs[i][0], p->pairs[i][1])] = (uint32_t)i + 1;
    return true;
}

static bool pair(struct product *p, uint32_t a, uint32_t b, uint32_t *to)
{
    size_t i = slot(p, a, b);

    if (!p->table[i]) {
        if (!vec_room(p->w, p->pairs, p->cap_pairs, p->n_pairs + 1))
            return false;
        p->pairs[p->n_pairs][0] = a;
        p->pairs[p->n_pairs][1] = b;
        p->table[i] = (uint32_t)++p->n_pairs;
        *to = p->table[i] - 1;
        return p->n_pairs * 2 <= p->mask || rehash_pairs(p, 2 * (p->mask + 1));
    }
    *to = p->table[i] - 1;
    return gxs_work(p->w, 1);
}

static bool product_edge(struct product *p, uint32_t lo, uint32_t hi,
                         const struct gram_edge *a, const struct gram_edge *b)
{
    uint32_t flags = (a->to | (b ? b->to : 0)) & GRAM_COUNTS, to;

    if (!b && !p->gone_is_alive) {
        if (p->must_follow)
            gxs_fail(p->w, ST_INTERNAL, "",
                     "a counted text is not of whole characters");
        return !p->must_follow;
    }
    return pair(p, a->to & GRAM_STATE, b ? b->to & GRAM_STATE : GONE, &to) &&
           dfa_add_edge(p->w, &p->out, lo, hi, to | flags);
}

/* The edges of the pair that comes next. */
static bool product_state(struct product *p)
{
    uint32_t q = p->pairs[p->out.n_states][1];
    const struct gram_state *a = &p->a->states[p->pairs[p->out.n_states][0]];
    const struct gram_state *b = q == GONE ? NULL : &p->b->states[q];
    const struct gram_edge *f = b ? &p->b->edges[b->edges] : NULL;
    const struct gram_edge *end = b ? f + b->n_edges : NULL;

    if (!dfa_add_state(p->w, &p->out))
        return false;
    p->out.states[p->out.n_states - 1].accept = a->accept;
    for (size_t k = 0; k < a->n_edges; k++) {
        const struct gram_edge *e = &p->a->edges[a->edges + k];
        uint32_t lo = e->lo;

        while (lo <= e->hi) {
            uint32_t hi = e->hi;
            bool in;

            while (f < end && f->hi < lo)
                f++;
            in = f < end && f->lo <= lo;
            if (in && f->hi < hi)
                hi = f->hi;
            else if (!in && f < end && f->lo <= hi)
                hi = f->lo - 1u;
            if (!gxs_work(p->w, 1) ||
                !product_edge(p, lo, hi, e, in ? f : NULL))
                return false;
            lo = hi + 1;
        }
    }
    return true;
}

static bool product_run(struct product *p)
{
    uint32_t first;

    if (!rehash_pairs(p, 64) || !pair(p, p->a->start, p->b->start, &first))
        return false;
    while (p->out.n_states < p->n_pairs)
        if (!product_state(p))
            return false;
    return true;
}

static void product_release(struct product *p)
{
    vec_drop(p->w, p->pairs, p->cap_pairs);
    vec_drop(p->w, p->table, p->cap_table);
    dfa_drop(p->w, &p->out);
}

const struct dfa *part_product(struct gxs *w, const struct dfa *a,
                               const struct dfa *b, enum part_op op)
{
    struct product p = {
        .w = w, .a = a, .b = b, .gone_is_alive = op == PART_MINUS};
    const struct dfa *out = NULL;

    if (!a->n_states || (!b->n_states && op == PART_MINUS))
        return a;
    if (!b->n_states)
        return b;
    if (product_run(&p)) {
        for (size_t i = 0; i < p.n_pairs; i++) {
            uint32_t q = p.pairs[i][1];
            bool end = q != GONE && b->states[q].accept;

            p.out.states[i].accept &= op == PART_MINUS ? !end : end;
        }
        out = part_trim(w, &p.out);
    }
    product_release(&p);
    return out;
}

/* --- characters ----------------------------------------------------------- */

/* Reads whole characters; the byte that ends one counts. State 0: between
 * characters. */
struct decoder_edge {
    uint8_t from, lo, hi, to; /* to 0: a character is complete */
};

static const struct decoder_edge raw_edges[] = {
    {0, 0x00, 0x7f, 0}, {0, 0xc2, 0xdf, 1}, {0, 0xe0, 0xef, 2},
    {0, 0xf0, 0xf4, 3}, {1, 0x80, 0xbf, 0}, {2, 0x80, 0xbf, 1},
    {3, 0x80, 0xbf, 2},
};

/* State 4: behind a backslash; 5: \u; 8, 7, 6: three, two, one digits to come;
 * 9: \ud; 10, 11: digits of a first surrogate to come; 12: behind it; 13: the
 * backslash of the second; 14: its u; then digits as those of any other. */
static const struct decoder_edge json_edges[] = {
    {0, 0x00, 0x5b, 0}, {0, 0x5c, 0x5c, 4},   {0, 0x5d, 0x7f, 0},
    {0, 0xc2, 0xdf, 1}, {0, 0xe0, 0xef, 2},   {0, 0xf0, 0xf4, 3},
    {1, 0x80, 0xbf, 0}, {2, 0x80, 0xbf, 1},   {3, 0x80, 0xbf, 2},
    {4, 0x00, 't', 0},  {4, 'u', 'u', 5},     {4, 'v', 0x7f, 0},
    {5, '0', '9', 8},   {5, 'A', 'C', 8},     {5, 'D', 'D', 9},
    {5, 'E', 'F', 8},   {5, 'a', 'c', 8},     {5, 'd', 'd', 9},
    {5, 'e', 'f', 8},   {6, '0', '9', 0},     {6, 'A', 'F', 0},
    {6, 'a', 'f', 0},   {7, '0', '9', 6},     {7, 'A', 'F', 6},
    {7, 'a', 'f', 6},   {8, '0', '9', 7},     {8, 'A', 'F', 7},
    {8, 'a', 'f', 7},   {9, '0', '7', 7},     {9, '8', '9', 10},
    {9, 'A', 'B', 10},  {9, 'C', 'F', 7},     {9, 'a', 'b', 10},
    {9, 'c', 'f', 7},   {10, '0', '9', 11},   {10, 'A', 'F', 11},
    {10, 'a', 'f', 11}, {11, '0', '9', 12},   {11, 'A', 'F', 12},
    {11, 'a', 'f', 12}, {12, '\\', '\\', 13}, {13, 'u', 'u', 14},
    {14, 'D', 'D', 8},  {14, 'd', 'd', 8},
};

#define LEN(a) (sizeof(a) / sizeof((a)[0]))
#define DECODER_STATES 15

/* edges come by state and ascending: as a DFA on the stack. */
struct decoder {
    struct dfa d;
    struct gram_state states[DECODER_STATES];
    struct gram_edge edges[LEN(json_edges)];
};

static void decoder_init(struct decoder *x, enum gx_form form)
{
    const struct decoder_edge *e = form == GX_RAW ? raw_edges : json_edges;
    size_t n = form == GX_RAW ? LEN(raw_edges) : LEN(json_edges);

    memset(x, 0, sizeof(*x));
    x->d.states = x->states;
    x->d.edges = x->edges;
    x->d.n_states = DECODER_STATES;
    x->d.n_edges = n;
    for (size_t i = n; i-- > 0;) {
        x->edges[i] = (struct gram_edge){e[i].lo, e[i].hi,
                                         e[i].to ? e[i].to : GRAM_COUNTS};
        x->states[e[i].from].edges = (uint32_t)i;
        x->states[e[i].from].n_edges++;
    }
}

const struct dfa *part_counted(struct gxs *w, const struct dfa *a,
                               enum gx_form form)
{
    struct decoder x;
    struct product p = {.w = w, .a = a, .b = &x.d, .must_follow = true};
    const struct dfa *out = NULL;

    if (!a->n_states)
        return a;
    decoder_init(&x, form);
    if (product_run(&p)) {
        for (size_t i = 0; i < p.n_pairs; i++)
            if (p.out.states[i].accept && p.pairs[i][1])
                gxs_fail(w, ST_INTERNAL, "",
                         "a counted text does not end with a character");
        out = w->err.st ? NULL : part_trim(w, &p.out);
    }
    product_release(&p);
    return out;
}
