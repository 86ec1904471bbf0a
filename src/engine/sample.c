#include "engine/sample.h"

#include <math.h>

struct cand {
    double w; /* exp((logit - max) / temperature) */
    int32_t id;
};

struct sampler {
    int32_t vocab;
    struct cand *cands;  /* [vocab] a heap while it is cut */
    struct cand *kept;   /* [vocab] in descending order */
};

struct sampler *sampler_new(int32_t vocab)
{
    struct sampler *s = mem_try(sizeof(*s));

    if (!s)
        return NULL;
    s->vocab = vocab;
    s->cands = mem_try_array((size_t)vocab, sizeof(*s->cands));
    s->kept = mem_try_array((size_t)vocab, sizeof(*s->kept));
    if (!s->cands || !s->kept) {
        sampler_free(s);
        return NULL;
    }
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
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

static bool may(const uint32_t *mask, const float *logits, int32_t i)
{
    return (!mask || mask[i / 32] >> i % 32 & 1) && isfinite(logits[i]);
}

/* The largest; the lowest id of equals. -1 when there is none. */
static int32_t argmax(const float *logits, const uint32_t *mask, int32_t n)
{
    int32_t best = -1;

    for (int32_t i = 0; i < n; i++)
        if (may(mask, logits, i) && (best < 0 || logits[i] > logits[best]))
            best = i;
    return best;
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

/* --- cutting ------------------------------------------------------------ */

/* top_k, then top_p: moves what stays to `kept`, likeliest first. */
static size_t cut(struct sampler *s, size_t n, double sum,
                  const struct sampling *p)
{
    size_t limit = p->top_k > 0 && (size_t)p->top_k < n ? (size_t)p->top_k : n;
    size_t heap = n, kept = 0;
    double mass = 0;

    for (size_t i = n / 2; i-- > 0;)
        sift(s->cands, n, i);
    if (limit < n) {
        /* top_p counts the mass that top_k left */
        for (sum = 0; kept < limit; kept++) {
            s->kept[kept] = pop(s->cands, &heap);
            sum += s->kept[kept].w;
        }
        if (p->top_p < 1)
            for (limit = kept, kept = 0;
                 kept < limit && mass < (double)p->top_p * sum; kept++)
                mass += s->kept[kept].w;
        return kept;
    }
    while (kept < limit && mass < (double)p->top_p * sum) {
        s->kept[kept] = pop(s->cands, &heap);
        mass += s->kept[kept++].w;
    }
    return kept;
}

static int32_t draw(struct sampler *s, const float *logits,
                    const uint32_t *mask, const struct sampling *p,
                    const struct sample_at *at, int32_t best)
{
    struct cand *c = s->cands;
    double sum = 0, total = 0, u;
    size_t n = 0;

    for (int32_t i = 0; i < s->vocab; i++) {
        double w;

        if (!may(mask, logits, i))
            continue;
        w = exp(((double)logits[i] - (double)logits[best]) /
                (double)p->temperature);
        sum += w;
        c[n++] = (struct cand){w, i};
    }
    if ((p->top_k > 0 && (size_t)p->top_k < n) || p->top_p < 1) {
        n = cut(s, n, sum, p);
        c = s->kept;
    }
    /* the likeliest has weight 1, so min_p is the bound itself */
    for (size_t i = 0; i < n; i++) {
        if (c[i].w < (double)p->min_p)
            c[i].w = 0;
        total += c[i].w;
    }
    u = sample_uniform(at) * total;
    for (size_t i = 0; i < n; i++) {
        if (c[i].w > 0 && u < c[i].w)
            return c[i].id;
        u -= c[i].w;
    }
    return best; /* rounding ate the last sliver */
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

static void logprobs(const struct sampler *s, const float *logits,
                     const uint32_t *mask, int32_t best, int top_n,
                     struct sample_out *out)
{
    double sum = 0, norm;

    for (int i = 0; i < top_n; i++)
        out->top[i] = (struct logprob){-1, -INFINITY};
    for (int32_t i = 0; i < s->vocab; i++) {
        if (!may(mask, logits, i))
            continue;
        sum += exp((double)logits[i] - (double)logits[best]);
        top_insert(out->top, top_n, i, logits[i]);
    }
    norm = (double)logits[best] + log(sum);
    out->chosen = (float)((double)logits[out->id] - norm);
    for (int i = 0; i < top_n && out->top[i].id >= 0; i++)
        out->top[i].logprob = (float)((double)out->top[i].logprob - norm);
}

bool sample(struct sampler *s, const float *logits, const uint32_t *mask,
            const struct sampling *p, const struct sample_at *at, int top_n,
            struct sample_out *out)
{
    int32_t best = argmax(logits, mask, s->vocab);

    if (best < 0)
        return false;
    out->id = p->temperature > 0 ? draw(s, logits, mask, p, at, best) : best;
    if (top_n > 0)
        logprobs(s, logits, mask, best, top_n, out);
    return true;
}
