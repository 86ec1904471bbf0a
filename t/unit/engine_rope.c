/*
 * How far positions turn: the frequencies that the rope.* keys of a file make.
 * The numbers are those of the formulas in YaRN (Peng et al., 2023, sections
 * 3.2 and 3.4; pairs rounded outwards as its authors' program does), worked
 * out in another language; t/2900 compares whole models with llama.cpp.
 */
#include "engine/model.h"
#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

#include <math.h>

/* --- a file with these keys and one tensor -------------------------------- */

struct bytes {
    uint8_t s[1024];
    size_t n;
};

static void put(struct bytes *b, const void *s, size_t n)
{
    BUG_ON(n > sizeof(b->s) - b->n);
    memcpy(b->s + b->n, s, n);
    b->n += n;
}

static void put_int(struct bytes *b, uint64_t v, size_t bytes)
{
    put(b, &v, bytes);
}

static void put_str(struct bytes *b, const char *s)
{
    put_int(b, strlen(s), 8);
    put(b, s, strlen(s));
}

static void put_f32(struct bytes *b, const char *key, float v)
{
    put_str(b, key);
    put_int(b, GGUF_V_F32, 4);
    put(b, &v, sizeof(v));
}

static void put_u32(struct bytes *b, const char *key, uint32_t v)
{
    put_str(b, key);
    put_int(b, GGUF_V_U32, 4);
    put_int(b, v, 4);
}

struct keys {
    const char *type; /* NULL: no key, nor a factor */
    float base, factor, attn;
    uint32_t original;
    float factors[4]; /* rope_freqs.weight, if the first is not 0 */
};

static struct gguf *file_of(const struct keys *k)
{
    const char *path = tmpdir_path("rope.gguf");
    bool tensor = k->factors[0] > 0;
    struct bytes b = {.n = 0};
    struct gguf *g;
    struct err e;
    FILE *f;

    put(&b, "GGUF\3\0\0\0", 8);
    put_int(&b, tensor, 8);
    put_int(&b, k->type ? 5 : 1, 8);
    put_f32(&b, "x.rope.freq_base", k->base);
    if (k->type) {
        put_str(&b, "x.rope.scaling.type");
        put_int(&b, GGUF_V_STR, 4);
        put_str(&b, k->type);
        put_f32(&b, "x.rope.scaling.factor", k->factor);
        put_f32(&b, "x.rope.scaling.attn_factor", k->attn);
        put_u32(&b, "x.rope.scaling.original_context_length", k->original);
    }
    if (tensor) {
        put_str(&b, "rope_freqs.weight");
        put_int(&b, 1, 4);
        put_int(&b, 4, 8);
        put_int(&b, GGUF_F32, 4);
        put_int(&b, 0, 8);
        b.n = (b.n + 31) / 32 * 32;
        put(&b, k->factors, sizeof(k->factors));
    }
    f = fopen(path, "wb");
    BUG_ON(!f || fwrite(b.s, 1, b.n, f) != b.n || fclose(f));
    if (gguf_open(&g, path, &e)) {
        ok(0, "%s: %s", e.where, e.text);
        exit(done());
    }
    return g;
}

/* --- what comes of it ----------------------------------------------------- */

/* Of a head of so many components, all turned. */
static float rope_of(const struct keys *k, int32_t head_dim, double *inv)
{
    const struct kern_cpu_config c = {1, KERN_CPU_REF, NULL, 0};
    struct kern_buf *bufs[2] = {NULL};
    uint8_t bound[2] = {0};
    struct gguf *g = file_of(k);
    struct model m = {.gguf = g, .head_dim = head_dim, .context = 4096,
                      .prefix = "x", .bufs = bufs, .bufs_cap = 2,
                      .bound = bound};
    struct err e;

    BUG_ON(kern_cpu_new(&m.kern, &c, &e));
    if (!ok(!model_rope(&m, 1, &e) && m.rope.dims == head_dim,
            "%s", k->type ? k->type : "no scaling"))
        exit(done());
    m.kern->ops->read_logits(m.kern, m.rope.inv, 0, head_dim,
                             (float *)(void *)inv);
    m.kern->ops->buf_free(m.kern, m.rope.inv);
    kern_free(m.kern);
    gguf_close(g);
    return m.rope.mscale;
}

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void test_four(const struct keys *k, const double want[4],
                      double mscale, const char *what)
{
    double inv[4];
    double got = (double)rope_of(k, 8, inv);
    int good = 0;

    for (int i = 0; i < 4; i++)
        good += near(inv[i], want[i]);
    ok(good == 4 && fabs(got - mscale) < 1e-6, "%s: %d of 4, times %g", what,
       good, got);
}

static void test_yarn(void)
{
    static const struct {
        int pair;
        double inv;
    } want[] = {{0, 1.0},
                {11, 0.008659643233600654},
                {12, 0.005154795480911533},
                {16, 0.0005833333333333333},
                {19, 9.128065447547872e-05},
                {20, 4.445698525097307e-05},
                {31, 3.84981631514873e-07}};
    const struct keys k = {"yarn", 1e6f, 4, 1, 32768, {0}};
    double inv[32];
    double mscale = (double)rope_of(&k, 64, inv);

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        ok(near(inv[want[i].pair], want[i].inv), "yarn, pair %d: %g",
           want[i].pair, inv[want[i].pair]);
    ok(fabs(mscale - 1.138629436111989) < 1e-6, "cos and sin times %g",
       mscale);
}

int main(void)
{
    const struct keys
        plain = {NULL, 10000, 0, 0, 0, {0}},
        linear = {"linear", 10000, 4, 1, 32, {0}},
        none = {"none", 10000, 4, 1, 32, {0}},
        more = {"linear", 10000, 4, 1.5f, 32, {0}},
        each = {NULL, 10000, 0, 0, 0, {1, 1.5f, 8, 32}};

    tmpdir_make();
    test_four(&plain, (double[]){1, 0.1, 0.01, 0.001}, 1, "plain");
    test_four(&linear, (double[]){0.25, 0.025, 0.0025, 0.00025}, 1,
              "slower by 4");
    test_four(&none, (double[]){1, 0.1, 0.01, 0.001}, 1, "a factor unused");
    test_four(&more, (double[]){0.25, 0.025, 0.0025, 0.00025}, 1.5,
              "with an attention factor");
    test_four(&each, (double[]){1, 0.1 / 1.5, 0.00125, 3.125e-05}, 1,
              "each by its own factor");
    test_yarn();
    tmpdir_remove();
    return done();
}
