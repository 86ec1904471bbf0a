/*
 * The cache and attention over it: what every set of this machine writes is
 * the bits of the portable one; a query's result is the same alone, while the
 * cache fills, and in blocks of any size over the full cache with its pages
 * elsewhere; what no query sees may be NaN; and all of it is near a plain
 * computation in double precision, written here from isa.h and kernels.h.
 */
#include "kernels/cpu/isa.h"
#include "t/lib/noise.h"
#include "t/lib/tap.h"

#include <math.h>

enum { LEN = 200, PAGES = 4, SLOTS = 7, NQ = 70 };

static const struct cpu_isa *sets[CPU_ISAS];
static int n_sets;
static uint64_t state = 1;

static float rnd(void)
{
    return noise_next(&state);
}

static float *noise(size_t n, float scale)
{
    float *p = calloc(n, sizeof(*p));

    BUG_ON(!p);
    for (size_t i = 0; i < n; i++)
        p[i] = rnd() * scale;
    return p;
}

struct cache {
    enum kern_type type;
    int32_t dim;
    size_t page; /* bytes */
    uint8_t *k, *v;
    int32_t pages[PAGES];
};

/* All NaN, or -1 with scales that are NaN. */
static void cache_new(struct cache *c, enum kern_type type, int32_t dim,
                      int first, int step)
{
    c->type = type;
    c->dim = dim;
    c->page = kern_kv_head_bytes(type, dim);
    c->k = malloc(c->page * SLOTS);
    c->v = malloc(c->page * SLOTS);
    BUG_ON(!c->k || !c->v);
    memset(c->k, 0xff, c->page * SLOTS);
    memset(c->v, 0xff, c->page * SLOTS);
    for (int i = 0; i < PAGES; i++)
        c->pages[i] = (first + i * step) % SLOTS;
}

static void cache_free(struct cache *c)
{
    free(c->k);
    free(c->v);
}

static void put(const struct cpu_isa *isa, struct cache *c, int32_t pos,
                const float *key, const float *val)
{
    size_t off = (size_t)c->pages[pos / KV_PAGE] * c->page;

    isa->kv_put(c->type, c->k + off, c->v + off, c->dim, pos % KV_PAGE, key,
                val);
}

static double half_at(const uint8_t *p, size_t i)
{
    uint16_t h;

    memcpy(&h, p + 2 * i, sizeof(h));
    return (double)quant_f16_f32(h);
}

/* Component d of position pos, from the cache's bytes. */
static double key_at(const struct cache *c, int32_t pos, int32_t d)
{
    const uint8_t *p = c->k + (size_t)c->pages[pos / KV_PAGE] * c->page;
    size_t at = (size_t)(pos % KV_PAGE), i = (size_t)d * KV_PAGE + at;

    if (c->type == KERN_F16)
        return half_at(p, i);
    return (int8_t)p[i] * half_at(p + (size_t)c->dim * KV_PAGE,
                                  (size_t)(d / 32) * KV_PAGE + at);
}

static double val_at(const struct cache *c, int32_t pos, int32_t d)
{
    const uint8_t *p = c->v + (size_t)c->pages[pos / KV_PAGE] * c->page;
    size_t at = (size_t)(pos % KV_PAGE);
    size_t i = at * (size_t)c->dim + (size_t)d;
    size_t blocks = (size_t)(c->dim + 31) / 32;

    if (c->type == KERN_F16)
        return half_at(p, i);
    return (int8_t)p[i] *
           half_at(p + (size_t)c->dim * KV_PAGE, at * blocks + (size_t)d / 32);
}

struct task {
    struct cache grown, full;
    float *key, *val, *q, *alone, *out;
    const float *qs[NQ];
    float *outs[NQ];
    int32_t pos[NQ];
    float scale;
    void *scratch;
};

static void attend(const struct cpu_isa *isa, const struct cache *c,
                   const struct task *t, int32_t first, int32_t n)
{
    struct cpu_attend a = {.type = c->type,
                           .head_dim = c->dim,
                           .scale = t->scale,
                           .n = n,
                           .q = t->qs + first,
                           .out = t->outs + first,
                           .pos = t->pos + first,
                           .pages = c->pages,
                           .k = c->k,
                           .v = c->v,
                           .page = c->page};

    isa->attend(&a, t->scratch);
}

/* Two heads of each of many rows, then rows all over the place. */
static void positions(int32_t *pos)
{
    static const int32_t odd[] = {0, 199, 63, 64, 127, 5, 128, 1, 190, 0};

    for (int i = 0; i < NQ; i++)
        pos[i] = i < 60 ? 50 + i / 2 : odd[i - 60];
}

static void task_new(struct task *t, enum kern_type type, int32_t dim)
{
    size_t d = (size_t)dim;

    cache_new(&t->grown, type, dim, 2, 3);
    cache_new(&t->full, type, dim, 6, 5);
    t->key = noise(LEN * d, 3);
    t->val = noise(LEN * d, 2);
    t->q = noise(NQ * d, 2);
    t->alone = noise(NQ * d, 1);
    t->out = noise(NQ * d, 1);
    t->scale = 1.0f / sqrtf((float)dim);
    t->scratch = aligned_alloc(64, CPU_SCRATCH);
    BUG_ON(!t->scratch);
    memset(t->scratch, 0xff, CPU_SCRATCH);
    for (size_t i = 0; i < NQ; i++) {
        t->qs[i] = t->q + i * d;
        t->outs[i] = t->out + i * d;
    }
    positions(t->pos);
    /* values that are all nothing, or too large for the cache */
    memset(t->val + 17 * d, 0, d * sizeof(float));
    memset(t->key + 18 * d, 0, d * sizeof(float));
    t->val[19 * d] = 3e-7f;
}

static void task_free(struct task *t)
{
    cache_free(&t->grown);
    cache_free(&t->full);
    free(t->key);
    free(t->val);
    free(t->q);
    free(t->alone);
    free(t->out);
    free(t->scratch);
}

/* Each query when its position has just been written. */
static void grow(const struct cpu_isa *isa, struct task *t)
{
    size_t d = (size_t)t->grown.dim;

    for (int32_t p = 0; p < LEN; p++) {
        put(isa, &t->grown, p, t->key + (size_t)p * d, t->val + (size_t)p * d);
        for (int32_t i = 0; i < NQ; i++)
            if (t->pos[i] == p)
                attend(isa, &t->grown, t, i, 1);
    }
}

static void test_blocks(const struct cpu_isa *isa, struct task *t,
                        const char *what)
{
    static const int32_t sizes[] = {2, 3, 5, 6, 7, 13, 64, NQ};
    size_t bytes = NQ * (size_t)t->full.dim * sizeof(float);

    for (int32_t p = LEN - 1; p >= 0; p--)
        put(isa, &t->full, p, t->key + p * t->full.dim,
            t->val + p * t->full.dim);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
        memset(t->out, 0xff, bytes);
        for (int32_t i = 0; i < NQ; i += sizes[s])
            attend(isa, &t->full, t, i, NQ - i < sizes[s] ? NQ - i : sizes[s]);
        ok(!memcmp(t->out, t->alone, bytes), "%s: alone as in blocks of %d",
           what, sizes[s]);
    }
}

/* Largest difference to double precision, over the values' range. */
static double distance(const struct task *t)
{
    const struct cache *c = &t->grown;
    double worst = 0, *s = calloc(LEN, sizeof(*s));

    for (int32_t i = 0; i < NQ; i++) {
        double top = -INFINITY, sum = 0;

        for (int32_t p = 0; p <= t->pos[i]; p++) {
            s[p] = 0;
            for (int32_t d = 0; d < c->dim; d++)
                s[p] += (double)t->qs[i][d] * key_at(c, p, d);
            s[p] *= (double)t->scale;
            top = s[p] > top ? s[p] : top;
        }
        for (int32_t p = 0; p <= t->pos[i]; p++)
            sum += exp(s[p] - top);
        for (int32_t d = 0; d < c->dim; d++) {
            double y = 0, diff;

            for (int32_t p = 0; p <= t->pos[i]; p++)
                y += exp(s[p] - top) / sum * val_at(c, p, d);
            diff = fabs(y - (double)t->alone[i * c->dim + d]) / 2;
            worst = diff <= worst ? worst : isnan(diff) ? INFINITY : diff;
        }
    }
    free(s);
    return worst;
}

/* Largest difference of the cache to what was put into it, of a block's
 * largest component. */
static double rounding(const struct task *t)
{
    const struct cache *c = &t->grown;
    double worst = 0;

    for (int32_t p = 0; p < LEN; p++)
        for (int32_t d = 0; d < c->dim; d++) {
            double k = (double)t->key[p * c->dim + d];
            double v = (double)t->val[p * c->dim + d];
            double dk = fabs(key_at(c, p, d) - k) / 3;
            double dv = fabs(val_at(c, p, d) - v) / 2;

            worst = fmax(worst, fmax(dk, dv));
        }
    return worst;
}

static void test_dim(enum kern_type type, int32_t dim)
{
    const char *name = type == KERN_F16 ? "F16" : "Q8_0";
    double far, bound = type == KERN_F16 ? 0x1p-11 : 0.51 / 127;
    struct task t, ref;
    char what[64];

    task_new(&ref, type, dim);
    t = ref;
    for (int i = 0; i < n_sets; i++) {
        size_t bytes = NQ * (size_t)dim * sizeof(float);

        if (i)
            cache_new(&t.grown, type, dim, 2, 3);
        snprintf(what, sizeof(what), "%s %s %d", sets[i]->name, name, dim);
        grow(sets[i], &t);
        if (!i) {
            memcpy(t.alone, t.out, bytes);
            far = distance(&t);
            ok(far < 1e-5, "%s: near double precision (%.1e)", what, far);
            far = rounding(&t);
            ok(far < bound, "%s: the cache is near its input (%.1e)", what,
               far);
        } else {
            ok(!memcmp(t.grown.k, ref.grown.k, ref.grown.page * SLOTS) &&
                   !memcmp(t.grown.v, ref.grown.v, ref.grown.page * SLOTS),
               "%s: the cache of the portable set", what);
            ok(!memcmp(t.out, t.alone, bytes),
               "%s: the bits of the portable set", what);
            cache_free(&t.grown);
        }
        test_blocks(sets[i], &t, what);
    }
    task_free(&ref);
}

/* Scales at the ends of f16. */
static void test_extremes(void)
{
    float key[32] = {0}, val[32] = {0};
    struct cache c;

    for (int i = 0; i < n_sets; i++) {
        cache_new(&c, KERN_Q8_0, 32, 0, 1);
        key[0] = 1e30f;
        key[1] = -INFINITY;
        val[0] = 1e-20f;
        put(sets[i], &c, 3, key, val);
        ok(key_at(&c, 3, 0) == 127 * 65504.0 &&
               key_at(&c, 3, 1) == -127 * 65504.0 && key_at(&c, 3, 2) == 0 &&
               val_at(&c, 3, 0) == 0,
           "%s: too large is clamped, too small is 0", sets[i]->name);
        cache_free(&c);
    }
}

int main(void)
{
    static const int32_t dims[] = {2, 6, 16, 64, 80, 128, 512};

    n_sets = cpu_isas_here(sets);
    for (size_t i = 0; i < sizeof(dims) / sizeof(*dims); i++) {
        test_dim(KERN_F16, dims[i]);
        test_dim(KERN_Q8_0, dims[i]);
    }
    test_extremes();
    return done();
}
