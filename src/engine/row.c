#include "engine/row.h"

#include <math.h>

/* Vectors of the compiler's, four lanes on every machine: the same order of
 * additions everywhere. */
typedef float v4f __attribute__((vector_size(16)));
typedef uint32_t v4u __attribute__((vector_size(16)));
#define LANES 4

static inline v4f all(float f)
{
    return (v4f){f, f, f, f};
}

static v4u all_bits(uint32_t i)
{
    return (v4u){i, i, i, i};
}

static v4f load(const float *p)
{
    v4f v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static v4f choose(v4u which, v4f yes, v4f no)
{
    return (v4f)(((v4u)yes & which) | ((v4u)no & ~which));
}

static float largest(v4f v)
{
    float a = v[0] > v[1] ? v[0] : v[1], b = v[2] > v[3] ? v[2] : v[3];

    return a > b ? a : b;
}

bool row_init(struct row *r, int32_t n)
{
    size_t blocks = ((size_t)n + ROW_BLOCK - 1) / ROW_BLOCK;

    *r = (struct row){.n = n, .n_blocks = (int32_t)blocks};
    r->l = mem_try_array(blocks, ROW_BLOCK * sizeof(*r->l));
    r->max = mem_try_array(blocks, sizeof(*r->max));
    r->sum = mem_try_array(blocks, sizeof(*r->sum));
    return r->l && r->max && r->sum;
}

void row_release(struct row *r)
{
    free(r->l);
    free(r->max);
    free(r->sum);
    *r = (struct row){0};
}

/* One block; bit i of `may` is set where logits[i] may come. */
static float set_block(float *l, const float *logits, uint32_t may)
{
    const v4u bit = {1, 2, 4, 8};
    v4f most = all(-INFINITY);

    for (int i = 0; i < ROW_BLOCK; i += LANES, may >>= LANES) {
        v4f v = load(logits + i);
        /* x - x is 0 for all numbers but infinite ones */
        v4u keep = (v4u)(v - v == all(0)) &
                   (v4u)((all_bits(may) & bit) == bit);

        v = choose(keep, v, all(-INFINITY));
        memcpy(l + i, &v, sizeof(v));
        most = choose((v4u)(v > most), v, most);
    }
    return largest(most);
}

static void find_best(struct row *r)
{
    const float *l = r->l;
    int32_t block = 0;

    for (int32_t b = 1; b < r->n_blocks; b++)
        if (r->max[b] > r->max[block])
            block = b;
    r->best = block * ROW_BLOCK;
    while (l[r->best] != r->max[block])
        r->best++;
}

bool row_set(struct row *r, const float *logits, const uint32_t *mask)
{
    int32_t whole = r->n / ROW_BLOCK, rest = r->n % ROW_BLOCK;

    for (int32_t b = 0; b < whole; b++)
        r->max[b] = set_block(r->l + (ptrdiff_t)b * ROW_BLOCK,
                              logits + (ptrdiff_t)b * ROW_BLOCK,
                              mask ? mask[b] : ~0u);
    if (rest) {
        float last[ROW_BLOCK] = {0};
        uint32_t may = (1u << rest) - 1;

        memcpy(last, logits + (ptrdiff_t)whole * ROW_BLOCK,
               (size_t)rest * sizeof(*last));
        r->max[whole] = set_block(r->l + (ptrdiff_t)whole * ROW_BLOCK, last,
                                  mask ? mask[whole] & may : may);
    }
    find_best(r);
    if (isfinite(r->l[r->best]))
        return true;
    r->best = -1;
    return false;
}

/*
 * exp(x), x <= 0: x = n ln 2 + f with |f| <= ln 2 / 2, a Taylor polynomial
 * of degree 7 for exp(f), then n into the exponent. Adding 1.5 * 2^23 rounds
 * to an integer, which is then in the low bits.
 */
static inline v4f exp4(v4f x)
{
    const v4f magic = all(0x1.8p23f);
    v4u live = (v4u)(x > all(-87)); /* no NaN: it may become anything here */
    v4f t, n, f, p;

    t = x * all(0x1.715476p+0f) + magic;
    n = t - magic;
    /* ln 2 in two parts, the first short enough for n times it to be exact */
    f = x - n * all(0x1.62e4p-1f) - n * all(0x1.7f7d1cp-20f);
    p = all(1.0f / 5040) * f + all(1.0f / 720);
    p = p * f + all(1.0f / 120);
    p = p * f + all(1.0f / 24);
    p = p * f + all(1.0f / 6);
    p = p * f + all(0.5f);
    p = p * f + all(1);
    p = p * f + all(1);
    p *= (v4f)(((v4u)t - (v4u)magic + all_bits(127)) << 23);
    return choose(live, p, all(0));
}

/* What differences are multiplied by: finite, for 0 times it to be 0. */
static float inverse(float temperature)
{
    return 1 / (temperature > 1e-30f ? temperature : 1e-30f);
}

/* Lanes of one block: exp((l - largest) * scale). */
static inline v4f term(const float *l, float most, float scale)
{
    return exp4((load(l) - all(most)) * all(scale));
}

double row_exp(struct row *r, float temperature)
{
    float most = r->l[r->best], scale = inverse(temperature);
    double total = 0;

    for (int32_t b = 0; b < r->n_blocks; b++) {
        const float *l = r->l + (ptrdiff_t)b * ROW_BLOCK;
        v4f s = all(0);

        for (int i = 0; i < ROW_BLOCK; i += LANES)
            s += term(l + i, most, scale);
        r->sum[b] = (double)((s[0] + s[1]) + (s[2] + s[3]));
        total += r->sum[b];
    }
    return total;
}

void row_terms(const struct row *r, float temperature, int32_t block,
               float out[ROW_BLOCK])
{
    const float *l = r->l + (ptrdiff_t)block * ROW_BLOCK;

    for (int i = 0; i < ROW_BLOCK; i += LANES) {
        v4f t = term(l + i, r->l[r->best], inverse(temperature));

        memcpy(out + i, &t, sizeof(t));
    }
}
