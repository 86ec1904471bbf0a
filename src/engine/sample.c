#include "engine/sample.h"

#include "engine/row.h"

#include <math.h>

struct cand {
    double w; /* exp((logit - max) / temperature) */
    int32_t id;
};

struct sampler {
    struct row row;      /* what the current call is about */
    struct cand *cands;  /* [vocab] a heap while it is cut */
    struct cand *kept;   /* [vocab] in descending order */
};

struct sampler *sampler_new(int32_t vocab)
{
    struct sampler *s = mem_try(sizeof(*s));

    if (!s)
        return NULL;
    s->cands = mem_try_array((size_t)vocab, sizeof(*s->cands));
    s->kept = mem_try_array((size_t)vocab, sizeof(*s->kept));
    if (!row_init(&s->row, vocab) || !s->cands || !s->kept) {
        sampler_free(s);
        return NULL;
    }
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    row_release(&s->row);
    free(s->cands);
    free(s->kept);
    free(s);
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double sample_uniform(const struct sample_at *at)
{
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t x = mix(at->seed + golden);

    x = mix(x ^ ((uint64_t)(uint32_t)at->choice + golden));
    x = mix(x ^ ((uint64_t)(uint32_t)at->position + 2 * golden));
    x = mix(x + golden);
    return (double)(x >> 11) * 0x1p-53;
}

/* --- a heap whose head is the likeliest, then the lowest id --------------- */

static bool before(const struct cand *a, const struct cand *b)
{
    return a->w > b->w || (a->w == b->w && a->id < b->id);
}

static void sift(struct cand *h, size_t n, size_t i)
{
    struct cand c = h[i];

    for (size_t kid; (kid = 2 * i + 1) < n; i = kid) {
        if (kid + 1 < n && before(&h[kid + 1], &h[kid]))
            kid++;
        if (!before(&h[kid], &c))
            break;
        h[i] = h[kid];
    }
    h[i] = c;
}

static struct cand pop(struct cand *h, size_t *n)
{
    struct cand c = h[0];

    h[0] = h[--*n];
    if (*n)
        sift(h, *n, 0);
    return c;
}

static void heapify(struct cand *h, size_t n)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(h, n, i);
}

/* --- candidates ---------------------------------------------------------- */

/*
 * A logit that at least k ids reach: each of the k blocks with the largest
 * maxima has one. Few others reach it. -INFINITY when there are no k blocks.
 */
static float reached_by(struct sampler *s, size_t k)
{
    const struct row *r = &s->row;
    float least = -INFINITY;
    size_t n = 0;

    for (int32_t b = 0; b < r->n_blocks; b++)
        if (r->max[b] > -INFINITY)
            s->cands[n++] = (struct cand){(double)r->max[b], b};
    if (n < k)
        return -INFINITY;
    heapify(s->cands, n);
    while (k--)
        least = (float)pop(s->cands, &n).w;
    return least;
}

/* The ids of logits from `least` on become the candidates, in their order. */
static size_t collect(struct sampler *s, double least, double temperature)
{
    const struct row *r = &s->row;
    double best = (double)r->l[r->best];
    size_t n = 0;

    for (int32_t b = 0; b < r->n_blocks; b++) {
        if ((double)r->max[b] < least)
            continue;
        for (int32_t i = b * ROW_BLOCK; i < (b + 1) * ROW_BLOCK; i++)
            if (r->l[i] > -INFINITY && (double)r->l[i] >= least)
                s->cands[n++] = (struct cand){
                    exp(((double)r->l[i] - best) / temperature), i};
    }
    return n;
}

/* top_k and what top_p leaves of it: to `kept`, likeliest first. */
static size_t cut_k(struct sampler *s, const struct sampling *p)
{
    size_t k = (size_t)p->top_k, kept = 0, limit;
    size_t n = collect(s, (double)reached_by(s, k), (double)p->temperature);
    double sum = 0, mass = 0;

    heapify(s->cands, n);
    for (limit = 0; n && limit < k; limit++) {
        s->kept[limit] = pop(s->cands, &n);
        sum += s->kept[limit].w;
    }
    if (!(p->top_p < 1))
        return limit;
    while (kept < limit && mass < (double)p->top_p * sum)
        mass += s->kept[kept++].w;
    return kept;
}

/*
 * top_p of all ids: to `kept`, likeliest first. The likely ones are looked at
 * first, until they have the mass; beyond `enough` there is none.
 */
static size_t cut_p(struct sampler *s, const struct sampling *p)
{
    const double enough = 88;
    double temperature = (double)p->temperature, mass = 0;
    double best = (double)s->row.l[s->row.best];
    double want = (double)p->top_p * row_exp(&s->row, p->temperature);
    size_t kept = 0, n = 0;

    for (double far = 4; mass < want && far < 4 * enough; far *= 4) {
        n = collect(s, best - far * temperature, temperature);
        mass = 0;
        for (size_t i = 0; i < n; i++)
            mass += s->cands[i].w;
    }
    heapify(s->cands, n);
    for (mass = 0; n && mass < want; mass += s->kept[kept++].w)
        s->kept[kept] = pop(s->cands, &n);
    return kept;
}

/* No cut at all: the block that the draw falls into, then the id. */
static int32_t draw_any(struct sampler *s, float temperature, double u)
{
    struct row *r = &s->row;
    float w[ROW_BLOCK];
    int32_t b = 0, id = r->best;

    u *= row_exp(r, temperature);
    while (b < r->n_blocks && u >= r->sum[b])
        u -= r->sum[b++];
    if (b == r->n_blocks)
        return r->best; /* rounding ate the last sliver */
    row_terms(r, temperature, b, w);
    for (int i = 0; i < ROW_BLOCK; i++) {
        if (w[i] <= 0)
            continue;
        id = b * ROW_BLOCK + i;
        if (u < (double)w[i])
            break;
        u -= (double)w[i];
    }
    return id;
}

static int32_t draw(struct sampler *s, const struct sampling *p,
                    const struct sample_at *at)
{
    double best = (double)s->row.l[s->row.best], total = 0;
    double min_p = (double)p->min_p, u = sample_uniform(at);
    double temperature = (double)p->temperature;
    struct cand *c = s->kept;
    size_t n;

    if (p->top_k > 0 && p->top_k < s->row.n) {
        n = cut_k(s, p);
    } else if (p->top_p < 1) {
        n = cut_p(s, p);
    } else if (min_p > 0) {
        c = s->cands; /* a little more than are likely enough */
        n = collect(s, best + (log(min_p) - 0.01) * temperature, temperature);
    } else {
        return draw_any(s, p->temperature, u);
    }
    /* the likeliest has weight 1, so min_p is the bound itself */
    for (size_t i = 0; i < n; i++) {
        if (c[i].w < min_p)
            c[i].w = 0;
        total += c[i].w;
    }
    u *= total;
    for (size_t i = 0; i < n; i++) {
        if (c[i].w > 0 && u < c[i].w)
            return c[i].id;
        u -= c[i].w;
    }
    return s->row.best; /* rounding ate the last sliver */
}

/* --- log-probabilities --------------------------------------------------- */

static void top_insert(struct logprob *top, int top_n, int32_t id, float l)
{
    int i = top_n;

    /* ids come in ascending order: an equal one stays behind */
    while (i > 0 && (top[i - 1].id < 0 || l > top[i - 1].logprob))
        i--;
    if (i == top_n)
        return;
    memmove(top + i + 1, top + i, (size_t)(top_n - 1 - i) * sizeof(*top));
    top[i] = (struct logprob){id, l};
}

static void logprobs(struct sampler *s, int top_n, struct sample_out *out)
{
    struct row *r = &s->row;
    double norm = (double)r->l[r->best] + log(row_exp(r, 1));
    float least = reached_by(s, (size_t)top_n);

    for (int i = 0; i < top_n; i++)
        out->top[i] = (struct logprob){-1, -INFINITY};
    for (int32_t b = 0; b < r->n_blocks; b++) {
        if (r->max[b] < least)
            continue;
        for (int32_t i = b * ROW_BLOCK; i < (b + 1) * ROW_BLOCK; i++)
            if (r->l[i] > -INFINITY && r->l[i] >= least)
                top_insert(out->top, top_n, i, r->l[i]);
    }
    out->chosen = (float)((double)r->l[out->id] - norm);
    for (int i = 0; i < top_n && out->top[i].id >= 0; i++)
        out->top[i].logprob = (float)((double)out->top[i].logprob - norm);
}

bool sample(struct sampler *s, const float *logits, const uint32_t *mask,
            const struct sampling *p, const struct sample_at *at, int top_n,
            struct sample_out *out)
{
    if (!row_set(&s->row, logits, mask))
        return false;
    out->id = p->temperature > 0 ? draw(s, p, at) : s->row.best;
    if (top_n > 0)
        logprobs(s, top_n, out);
    return true;
}
