/*
 * Sampling from rows of every kind and size: ids, alternatives and
 * log-probabilities against the definitions, computed here in double
 * precision over a sorted table.
 */
#include "engine/row.h"
#include "engine/sample.h"

#include "t/lib/jobs.h"
#include "t/lib/tap.h"

#include <math.h>

#define MOST 5000
#define TOP 20
#define DRAWS 60

static uint32_t state = 1;

static uint32_t next(void)
{
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

struct cand {
    double l, w;
    int32_t id;
};

/* Likeliest first; the lower id of equals. */
static int by_logit(const void *a, const void *b)
{
    const struct cand *x = a, *y = b;

    if (x->l != y->l)
        return x->l < y->l ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

static struct cand cands[MOST];
static size_t n_cands;
static double norm; /* log of the sum of exp(l) */

static void reference(const float *logits, int32_t n, const uint32_t *mask,
                      double temperature)
{
    double sum = 0;

    n_cands = 0;
    for (int32_t i = 0; i < n; i++)
        if (isfinite(logits[i]) && (!mask || mask[i / 32] >> i % 32 & 1))
            cands[n_cands++] = (struct cand){(double)logits[i], 0, i};
    qsort(cands, n_cands, sizeof(*cands), by_logit);
    for (size_t i = 0; i < n_cands; i++) {
        cands[i].w = exp((cands[i].l - cands[0].l) / temperature);
        sum += exp(cands[i].l - cands[0].l);
    }
    norm = n_cands ? cands[0].l + log(sum) : 0;
}

static int by_id(const void *a, const void *b)
{
    const struct cand *x = a, *y = b;

    return x->id < y->id ? -1 : 1;
}

/* The id of `vocab` that the uniform number u falls on: ids in their order, or
 * likeliest first where there may be a cut. */
static int32_t expected(const struct sampling *p, int32_t vocab, double u)
{
    static struct cand c[MOST];
    size_t n = n_cands, k = n_cands;
    bool cut = (p->top_k > 0 && p->top_k < vocab) || p->top_p < 1;
    double sum = 0, mass = 0;

    memcpy(c, cands, n * sizeof(*c));
    if (p->top_k > 0 && (size_t)p->top_k < n)
        k = n = (size_t)p->top_k;
    for (size_t i = 0; i < n; i++)
        sum += c[i].w;
    if (p->top_p < 1)
        for (k = 0; k < n && mass < (double)p->top_p * sum; k++)
            mass += c[k].w;
    if (!cut)
        qsort(c, k, sizeof(*c), by_id);
    sum = 0;
    for (size_t i = 0; i < k; i++)
        sum += c[i].w >= (double)p->min_p ? c[i].w : 0;
    u *= sum;
    for (size_t i = 0; i < k; i++) {
        double w = c[i].w >= (double)p->min_p ? c[i].w : 0;

        if (w > 0 && u < w)
            return c[i].id;
        u -= w;
    }
    return cands[0].id;
}

/* --- rows ---------------------------------------------------------------- */

#define KINDS 6 /* plain, with ties, rising, equal, partly not finite, steep */

static void fill(float *l, int32_t n, size_t kind)
{
    for (int32_t i = 0; i < n; i++) {
        float bell = 0;

        for (int k = 0; k < 6; k++)
            bell += (float)next() * 0x1p-24f;
        bell = (bell - 3) * 4;
        l[i] = kind == 1   ? rintf(bell)
               : kind == 2 ? (float)i * 0x1p-9f
               : kind == 3 ? -2.5f
               : kind == 5 ? bell * 12
                           : bell;
        if (kind == 4 && next() % 4 == 0)
            l[i] = next() % 2 ? NAN : next() % 2 ? INFINITY : -INFINITY;
    }
}

static void alternatives(struct sampler *s, const float *l,
                         const uint32_t *mask, int *bad, double *worst)
{
    const struct sampling greedy = {.top_p = 1};
    const struct sample_at at = {0, 0, 0};
    struct logprob top[TOP];
    struct sample_out out = {.top = top};

    if (!sample(s, l, mask, &greedy, &at, TOP, &out) ||
        out.id != cands[0].id) {
        ++*bad;
        return;
    }
    *worst = fmax(*worst, fabs((double)out.chosen - (cands[0].l - norm)));
    for (size_t i = 0; i < TOP; i++) {
        if (i >= n_cands) {
            *bad += top[i].id != -1 || !isinf(top[i].logprob);
            continue;
        }
        *bad += top[i].id != cands[i].id;
        *worst = fmax(*worst, fabs((double)top[i].logprob -
                                   (cands[i].l - norm)) /
                                  (1 + fabs(cands[i].l - norm)));
    }
}

static void draws(struct sampler *s, const float *l, int32_t n,
                  const uint32_t *mask, int *all, int *bad)
{
    static const struct sampling how[] = {
        SAMPLING(1, 0, 1, 0, 1),        SAMPLING(0.2f, 0, 1, 0, 2),
        SAMPLING(30, 0, 1, 0, 3),       SAMPLING(1, 40, 1, 0, 4),
        SAMPLING(1, 200, 0.8f, 0, 5),   SAMPLING(1, 0, 0.95f, 0, 6),
        SAMPLING(4, 0, 0.99f, 0.01f, 7),SAMPLING(1.5f, 0, 1, 0.05f, 8),
        SAMPLING(0.7f, 20, 0.8f, 0.1f, 9),
    };

    for (size_t k = 0; k < sizeof(how) / sizeof(*how); k++) {
        reference(l, n, mask, (double)how[k].temperature);
        for (int i = 0; i < DRAWS && n_cands; i++, ++*all) {
            struct sample_at at = {how[k].seed, n, i};
            struct sample_out out;

            if (!sample(s, l, mask, &how[k], &at, 0, &out) ||
                out.id != expected(&how[k], n, sample_uniform(&at)))
                ++*bad;
        }
    }
}

/* Rounding may move a draw that falls on a border, and nothing else. */
static void rows(int32_t n)
{
    struct sampler *s = sampler_new(n);
    static float l[MOST];
    static uint32_t mask[MOST / 32 + 1];
    int all = 0, off = 0, bad = 0;
    double worst = 0;

    if (!s)
        return;
    for (size_t kind = 0; kind < 2 * KINDS; kind++) {
        const uint32_t *m = kind % 2 ? mask : NULL;

        fill(l, n, kind / 2);
        for (int32_t i = 0; i <= n / 32; i++)
            mask[i] = next() % 8 ? next() << 8 ^ next() : 0;
        reference(l, n, m, 1);
        if (n_cands)
            alternatives(s, l, m, &bad, &worst);
        draws(s, l, n, m, &all, &off);
    }
    is_int(bad, 0, "%d ids: the likeliest and its alternatives", n);
    ok(worst < 5e-7, "%d ids: log-probabilities (%.1e)", n, worst);
    ok(all > 1000 && off * 1000 <= all, "%d ids: %d of %d draws elsewhere", n,
       off, all);
    sampler_free(s);
}

static void terms(void)
{
    static float l[1024];
    float w[ROW_BLOCK];
    struct row r;
    double worst = 0, zero = 0;

    if (!row_init(&r, 1024))
        return;
    for (int i = 0; i < 1024; i++)
        l[i] = 3 - (float)i * 0.0999f;
    if (!row_set(&r, l, NULL))
        return;
    for (int32_t i = 0; i < 1024; i++) {
        double x = (double)l[i] - 3;

        if (i % ROW_BLOCK == 0)
            row_terms(&r, 1, i / ROW_BLOCK, w);
        if (x > -86.9)
            worst = fmax(worst, fabs((double)w[i % ROW_BLOCK] / exp(x) - 1) /
                                    (1 - x));
        else if (x < -87.1)
            zero += (double)w[i % ROW_BLOCK];
    }
    ok(worst < 0x1p-22, "exponentials within the bound (%.1e)", worst);
    ok(zero == 0, "and zero where they hardly are more");
    ok(row_exp(&r, 1e-45f) == 1, "at no temperature there is one term");
    row_release(&r);
}

static uint64_t hash(uint64_t h, const void *p, size_t n)
{
    const unsigned char *c = p;

    for (size_t i = 0; i < n; i++)
        h = (h ^ c[i]) * 0x100000001b3u;
    return h;
}

/* Pinned: the bits that gcc and clang make of this without, with and in spite
 * of FMA and wider vectors. They are no evidence that the sums are right. */
static void machines(void)
{
    static float room[MOST + 1];
    uint64_t h = 0xcbf29ce484222325u, shifted = h;
    float w[ROW_BLOCK];

    for (int32_t n = 1; n < 400; n += 7) {
        struct row r;

        if (!row_init(&r, n))
            return;
        for (int k = 0; k < 2; k++) {
            float *l = room + k; /* one of them is not aligned */
            uint64_t *to = k ? &shifted : &h;

            state = 7 + (uint32_t)n;
            for (int32_t i = 0; i < n; i++)
                l[i] = (float)((int32_t)(next() >> 8) - 32768) * 0x1p-11f;
            for (float t = 0.25f; row_set(&r, l, NULL) && t < 8; t *= 3) {
                double sum = row_exp(&r, t);

                row_terms(&r, t, r.n_blocks - 1, w);
                *to = hash(*to, &sum, sizeof(sum));
                *to = hash(*to, r.sum, (size_t)r.n_blocks * sizeof(*r.sum));
                *to = hash(*to, w, sizeof(w));
            }
        }
        row_release(&r);
    }
    ok(h == shifted, "where a row lies in memory changes nothing");
    ok(h == 0x4b66d06eafe3926cu, "the same bits on every machine (%016llx)",
       (unsigned long long)h);
}

/* Temperatures that leave nothing to compute with. */
static void extremes(void)
{
    static const float far[] = {3e38f, -3e38f, 1, 3e38f, NAN};
    static const float hot[] = {1e-45f, 1e-38f, 1e30f, INFINITY};
    static const float cut[] = {1, 0.5f, 1e-6f, -1, NAN};
    struct sampler *s = sampler_new(5);
    int bad = 0;

    if (!s)
        return;
    for (int i = 0; i < 4 * 5 * 3 * 20; i++) {
        struct sampling p = SAMPLING(hot[i / 20 % 4], i / 400 ? 2 : 0,
                                     cut[i / 80 % 5], i / 800 ? NAN : 0.1f, 1);
        struct sample_at at = {1, 0, i};
        struct sample_out out;

        if (!sample(s, far, NULL, &p, &at, 0, &out) || out.id < 0 ||
            out.id > 3 || (p.temperature < 1 && out.id % 3))
            bad++;
    }
    is_int(bad, 0, "no temperature and no cut leads out of the row");
    sampler_free(s);
}

int main(void)
{
    static const int32_t sizes[] = {1, 5, 31, 32, 33, 63, 1000, MOST};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        rows(sizes[i]);
    terms();
    machines();
    extremes();
    return done();
}
