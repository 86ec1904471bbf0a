/*
 * Every operation of the CPU backend against plain double-precision loops
 * written here from the header's definitions, over odd shapes; then the AVX2
 * set against the reference, within the tolerance its header states.
 */
#include "kernels/cpu/quant.h"
#include "t/lib/tap.h"

#include <math.h>

static struct kern *kr;
static uint64_t state = 1;

/* Uniform in [-1, 1): splitmix64. */
static float rnd(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (float)((double)(z >> 11) * 0x1p-52 - 1.0);
}

static struct kern_buf *put(const void *p, size_t bytes)
{
    struct kern_buf *b = kr->ops->alloc(kr, bytes, KERN_WORKSPACE);

    BUG_ON(!b);
    if (p)
        kr->ops->upload(kr, b, 0, p, bytes);
    return b;
}

static float *noise(size_t n, float scale)
{
    float *p = calloc(n + 1, sizeof(*p));

    BUG_ON(!p);
    for (size_t i = 0; i < n; i++)
        p[i] = rnd() * scale;
    return p;
}

static float *get(const struct kern_buf *b, size_t n)
{
    float *p = calloc(n + 1, sizeof(*p));

    BUG_ON(!p);
    kr->ops->read_logits(kr, b, 0, (int32_t)n, p);
    return p;
}

/* Largest |got - want| / (1 + |want|); NaN counts as infinite. */
static double worst(const float *got, const double *want, size_t n)
{
    double w = 0;

    for (size_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]) / (1 + fabs(want[i]));

        if (!(d <= w))
            w = isnan(d) ? INFINITY : d;
    }
    return w;
}

/* Rows at the given positions, all of sequence i % n_seqs. */
static void begin(int32_t n, const int32_t *pos, int32_t n_seqs,
                  int32_t max_pages, const int32_t *pages)
{
    int32_t ids[64], seq[64], out[64];
    struct kern_rows r = {.n = n, .ids = ids, .pos = pos, .seq = seq,
                          .n_seqs = n_seqs, .max_pages = max_pages,
                          .pages = pages, .n_out = n / 2, .out = out};

    for (int32_t i = 0; i < n; i++) {
        ids[i] = i * 7 % 11;
        seq[i] = i % n_seqs;
        out[i] = 2 * i + 1;
    }
    kr->ops->begin(kr, &r);
    memset(ids, 0xff, sizeof(ids)); /* borrowed for the call only */
    memset(seq, 0xff, sizeof(seq));
}

static void test_rows(void)
{
    int32_t pos[5] = {0}, pages[1] = {0};
    float *t = noise(11 * 9, 1), *g, *x = noise(5 * 9, 1);
    struct kern_mat m = {put(t, 11 * 9 * 4), KERN_F32, 11, 9, 0};
    struct kern_buf *d = put(NULL, 5 * 9 * 4), *bx = put(x, 5 * 9 * 4);
    int same = 0;

    begin(5, pos, 1, 1, pages);
    kr->ops->embed(kr, d, &m);
    g = get(d, 5 * 9);
    for (int i = 0; i < 5; i++)
        same += !memcmp(g + i * 9, t + i * 7 % 11 * 9, 36);
    is_int(same, 5, "%s embed takes the rows of the ids", kr->name);
    free(g);
    kr->ops->gather_out(kr, d, bx, 9);
    g = get(d, 2 * 9);
    ok(!memcmp(g, x + 9, 36) && !memcmp(g + 9, x + 27, 36),
       "%s gather_out takes the wanted rows", kr->name);
    free(g);
    g = calloc(9, 4);
    kr->ops->read_logits(kr, bx, 3, 9, g);
    ok(!memcmp(g, x + 27, 36), "%s read_logits reads row 3", kr->name);
    kr->ops->buf_free(kr, m.buf);
    kr->ops->buf_free(kr, d);
    kr->ops->buf_free(kr, bx);
    free(t);
    free(g);
    free(x);
}

static void test_elementwise(void)
{
    static const int32_t widths[] = {1, 7, 8, 33, 4100};
    int32_t pos[5] = {0}, pages[1] = {0};

    begin(5, pos, 1, 1, pages);
    for (int t = 0; t < 5; t++) {
        int32_t w = widths[t];
        size_t n = 5 * (size_t)w;
        float *x = noise(n, 30), *y = noise(n, 2), *g;
        double *want = calloc(n, sizeof(*want));
        struct kern_buf *a = put(x, n * 4), *b = put(y, n * 4);

        kr->ops->swiglu(kr, a, b, w);
        for (size_t i = 0; i < n; i++)
            want[i] = x[i] / (1 + exp(-(double)x[i])) * y[i];
        g = get(a, n);
        ok(worst(g, want, n) < 5e-7, "%s swiglu, width %d: %g", kr->name, w,
           worst(g, want, n));
        for (size_t i = 0; i < n; i++)
            want[i] = (double)g[i] + y[i];
        kr->ops->add(kr, a, b, w);
        free(g);
        g = get(a, n);
        ok(worst(g, want, n) < 1e-7, "%s add, width %d", kr->name, w);
        kr->ops->buf_free(kr, a);
        kr->ops->buf_free(kr, b);
        free(g);
        free(x);
        free(y);
        free(want);
    }
}

static void test_swiglu_ends(void)
{
    /* silu runs to 0 on the left and to x on the right, without NaN. */
    float x[] = {-1e30f, -200, -104, -88, -20, 0, 20, 88, 200, 1e30f};
    float y[10], *g;
    double want[10];
    int32_t pos[1] = {0}, pages[1] = {0};
    struct kern_buf *a = put(x, sizeof(x)), *b;

    for (int i = 0; i < 10; i++) {
        y[i] = 1;
        want[i] = x[i] < -100 ? 0 : x[i] / (1 + exp(-(double)x[i]));
    }
    b = put(y, sizeof(y));
    begin(1, pos, 1, 1, pages);
    kr->ops->swiglu(kr, a, b, 10);
    g = get(a, 10);
    ok(worst(g, want, 10) < 1e-6, "%s swiglu far out: %g", kr->name,
       worst(g, want, 10));
    kr->ops->buf_free(kr, a);
    kr->ops->buf_free(kr, b);
    free(g);
}

static void test_norm(void)
{
    static const int32_t widths[] = {1, 5, 8, 64, 100, 5120};

    for (int t = 0; t < 6; t++) {
        int32_t w = widths[t];
        size_t n = 4 * (size_t)w;
        float *x = noise(n, 3), *wt = noise(w, 2), *g;
        double *want = calloc(n, sizeof(*want));
        struct kern_buf *a = put(x, n * 4), *b = put(wt, (size_t)w * 4);

        for (size_t r = 0; r < 4; r++) {
            double s = 0;

            for (size_t i = 0; i < (size_t)w; i++)
                s += (double)x[r * w + i] * x[r * w + i];
            for (size_t i = 0; i < (size_t)w; i++)
                want[r * w + i] = x[r * w + i] / sqrt(s / w + 1e-6) * wt[i];
        }
        kr->ops->rms_norm(kr, a, a, b, 4, w, 1e-6f);
        g = get(a, n);
        ok(worst(g, want, n) < 1e-6, "%s rms_norm in place, width %d: %g",
           kr->name, w, worst(g, want, n));
        kr->ops->buf_free(kr, a);
        kr->ops->buf_free(kr, b);
        free(g);
        free(x);
        free(wt);
        free(want);
    }
}

/* Random block bytes with sane scales: every f16 field about 2^-6. */
static void fill_blocks(enum kern_type t, uint8_t *p, size_t n)
{
    int32_t elems, bytes;

    kern_type_block(t, &elems, &bytes);
    for (size_t i = 0; i < n; i += (size_t)elems, p += bytes) {
        for (int32_t j = 0; j < bytes; j++)
            p[j] = (uint8_t)(int)(rnd() * 128);
        if (t == KERN_F32) {
            float f = rnd();

            memcpy(p, &f, 4);
        } else if (t == KERN_BF16) {
            p[1] = (uint8_t)(0x3e | (p[1] & 0x80));
        } else if (t == KERN_F16) {
            p[1] = (uint8_t)(0x34 | (p[1] & 0x83));
        } else if (t == KERN_Q6_K) {
            p[209] = 0x14;
        } else {
            p[1] = 0x24;
            if (t == KERN_Q4_K || t == KERN_Q5_K)
                p[3] = 0x24;
        }
    }
}

static void matmul_case(enum kern_type t, int32_t outs, int32_t cols,
                        int32_t rows, bool with_bias)
{
    size_t nw = (size_t)outs * cols, nx = (size_t)rows * cols;
    size_t ny = (size_t)rows * outs, bytes = quant_bytes(t, nw);
    uint8_t *blocks = calloc(1, bytes);
    float *w = calloc(nw, 4), *x = noise(nx, 1), *bias = noise(outs, 1), *g;
    double *want = calloc(ny, sizeof(*want)), scale = 0;
    struct kern_buf *bx, *by = put(NULL, ny * 4), *bb = put(bias, outs * 4);
    struct kern_mat m = {NULL, t, outs, cols, 0};

    fill_blocks(t, blocks, nw);
    kern_dequant(t, blocks, w, nw);
    m.buf = kr->ops->weights(kr, blocks, bytes);
    bx = put(x, nx * 4);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t o = 0; o < outs; o++) {
            double s = with_bias ? bias[o] : 0;

            for (int32_t k = 0; k < cols; k++)
                s += (double)w[(size_t)o * cols + k] *
                     x[(size_t)r * cols + k];
            want[(size_t)r * outs + o] = s;
            scale = fabs(s) > scale ? fabs(s) : scale;
        }
    kr->ops->matmul(kr, by, bx, &m, with_bias ? bb : NULL, rows);
    g = get(by, ny);
    for (size_t i = 0; i < ny; i++) {
        want[i] /= scale;
        g[i] /= (float)scale;
    }
    ok(worst(g, want, ny) < 2e-6, "%s matmul type %d, %dx%d, %d rows%s: %g",
       kr->name, (int)t, outs, cols, rows, with_bias ? ", bias" : "",
       worst(g, want, ny));
    kr->ops->buf_free(kr, m.buf);
    kr->ops->buf_free(kr, bx);
    kr->ops->buf_free(kr, by);
    kr->ops->buf_free(kr, bb);
    free(blocks);
    free(w);
    free(x);
    free(bias);
    free(g);
    free(want);
}

static void test_matmul(void)
{
    static const enum kern_type types[] = {
        KERN_F32,  KERN_F16,  KERN_BF16, KERN_Q8_0,
        KERN_Q4_0, KERN_Q4_K, KERN_Q5_K, KERN_Q6_K};

    for (int t = 0; t < 8; t++) {
        bool plain = t < 3;

        matmul_case(types[t], 7, plain ? 261 : 768, 1, false);
        matmul_case(types[t], 6, plain ? 3 : 256, 5, true);
        matmul_case(types[t], 33, 512, 51, false);
    }
    matmul_case(KERN_Q8_0, 5, 288, 4, true);
    matmul_case(KERN_F16, 64, 576, 2, false);
}

static void test_rope(void)
{
    enum { N = 3, H = 2, D = 24 };

    for (int t = 0; t < 8; t++) {
        int32_t dims = t & 1 ? 24 : 16, neox = t >> 1 & 1, norm = t >> 2;
        int32_t pos[N] = {0, 5, 131}, half = dims / 2;
        int32_t pages[3] = {2, 0, 1};
        float *x = noise(N * H * D, 2), *w = noise(D, 1), *g;
        double inv[12], want[N * H * D];
        struct kern_buf *bx = put(x, N * H * D * 4), *bw = put(w, D * 4);
        struct kern_rope rope = {NULL, dims, neox, 1};

        for (int i = 0; i < half; i++)
            inv[i] = pow(10000, -2.0 * i / dims);
        rope.inv = put(inv, sizeof(double) * (size_t)half);
        for (int p = 0; p < N * H; p++) {
            double *y = want + p * D, s = 0;

            for (int i = 0; i < D; i++) {
                y[i] = x[p * D + i];
                s += y[i] * y[i];
            }
            for (int i = 0; norm && i < D; i++)
                y[i] *= w[i] / sqrt(s / D + 1e-5);
            for (int i = 0; i < half; i++) {
                double a = inv[i] * pos[p / H];
                double *u = y + (neox ? i : 2 * i);
                double *v = y + (neox ? i + half : 2 * i + 1);
                double c = *u * cos(a) - *v * sin(a);

                *v = *u * sin(a) + *v * cos(a);
                *u = c;
            }
        }
        begin(N, pos, 1, 3, pages);
        kr->ops->head_rope(kr, bx, H, D, norm ? bw : NULL, 1e-5f, &rope);
        g = get(bx, N * H * D);
        ok(worst(g, want, N * H * D) < 1e-6,
           "%s head_rope dims %d neox %d norm %d: %g", kr->name, dims, neox,
           norm, worst(g, want, N * H * D));
        kr->ops->buf_free(kr, bx);
        kr->ops->buf_free(kr, bw);
        kr->ops->buf_free(kr, rope.inv);
        free(x);
        free(w);
        free(g);
    }
}

/* Two sequences of `len` and len/2+1 positions; the last rows of each. */
static void attend_case(int32_t heads, int32_t kvh, int32_t dim, int32_t len)
{
    enum { LAYERS = 2, PAGES = 12, MAXP = 5 };
    int32_t pages[2 * MAXP] = {7, 2, 9, 0, 4, 11, 3, 1, 8, 5};
    size_t row = (size_t)kvh * dim, qn = 2 * (size_t)heads * dim;
    size_t kvn = (size_t)LAYERS * PAGES * row * KV_PAGE;
    float *k = noise(2 * (size_t)len * row, 1.5f);
    float *v = noise(2 * (size_t)len * row, 1), *q = noise(qn, 1), *g;
    struct kern_kv kv = {put(NULL, kvn * 2), put(NULL, kvn * 2),
                         LAYERS, PAGES, kvh, dim, KERN_F16};
    struct kern_buf *bq = put(q, qn * 4), *bo = put(NULL, qn * 4);
    double *want = calloc(qn, sizeof(*want)), *p = calloc((size_t)len, 8);
    int32_t last[2] = {len - 1, len / 2};
    float scale = 1 / sqrtf((float)dim);

    for (int32_t i = 0; i < len; i++) {
        int32_t pos[2] = {i, i < last[1] ? i : last[1]};
        struct kern_buf *bk = put(k + 2 * (size_t)i * row, 2 * row * 4);
        struct kern_buf *bv = put(v + 2 * (size_t)i * row, 2 * row * 4);

        begin(i > last[1] ? 1 : 2, pos, 2, MAXP, pages);
        if (i > last[1]) { /* the second sequence is over */
            int32_t id = 0, seq = 0;
            struct kern_rows r = {.n = 1, .ids = &id, .pos = pos, .seq = &seq,
                                  .n_seqs = 2, .max_pages = MAXP,
                                  .pages = pages};

            kr->ops->begin(kr, &r);
        }
        kr->ops->kv_store(kr, &kv, 1, bk, bv);
        kr->ops->buf_free(kr, bk);
        kr->ops->buf_free(kr, bv);
    }
    begin(2, last, 2, MAXP, pages);
    kr->ops->attend(kr, bo, bq, &kv, 1, heads, scale);
    g = get(bo, qn);
    for (int32_t h = 0; h < 2 * heads; h++) {
        int32_t s = h / heads, kh = h % heads / (heads / kvh);
        double max = -INFINITY, sum = 0;

        for (int32_t i = 0; i <= last[s]; i++) {
            const float *kp = k + (2 * (size_t)i + s) * row + kh * dim;

            p[i] = 0;
            for (int32_t d = 0; d < dim; d++)
                p[i] += (double)q[h * dim + d] *
                        quant_f16_f32(quant_f32_f16(kp[d]));
            p[i] *= scale;
            max = p[i] > max ? p[i] : max;
        }
        for (int32_t i = 0; i <= last[s]; i++)
            sum += exp(p[i] - max);
        for (int32_t i = 0; i <= last[s]; i++)
            for (int32_t d = 0; d < dim; d++)
                want[h * dim + d] +=
                    exp(p[i] - max) / sum *
                    quant_f16_f32(quant_f32_f16(
                        v[(2 * (size_t)i + s) * row + kh * dim + d]));
    }
    ok(worst(g, want, qn) < 2e-6,
       "%s attend %d heads over %d, dim %d, %d positions: %g", kr->name,
       heads, kvh, dim, len, worst(g, want, qn));
    kr->ops->buf_free(kr, kv.k);
    kr->ops->buf_free(kr, kv.v);
    kr->ops->buf_free(kr, bq);
    kr->ops->buf_free(kr, bo);
    free(k);
    free(v);
    free(q);
    free(g);
    free(want);
    free(p);
}

static void test_attend(void)
{
    attend_case(4, 2, 64, 1);
    attend_case(4, 4, 128, 64);
    attend_case(6, 2, 20, 65);
    attend_case(3, 1, 7, 200);
    attend_case(8, 2, 48, 300);
}

static void test_accounts(void)
{
    float w[4] = {1, 2, 3, 4};
    size_t before = kr->bytes[KERN_KV], big = (size_t)3 << 20;
    struct kern_buf *b = kr->ops->alloc(kr, big, KERN_KV), *c, *d;
    float *g;
    size_t set = 0;

    ok(b && kr->bytes[KERN_KV] == before + big, "an allocation is counted");
    g = get(b, big / 4);
    for (size_t i = 0; i < big / 4; i++)
        set += g[i] != 0;
    is_int(set, 0, "and zeroed");
    c = kr->ops->weights(kr, w, sizeof(w));
    is_int(kr->bytes[KERN_WEIGHTS], sizeof(w), "weights are counted");
    d = kr->ops->alloc(kr, (size_t)1 << 62, KERN_KV);
    ok(!d && kr->bytes[KERN_KV] == before + big, "too much memory is NULL");
    d = kr->ops->alloc(kr, SIZE_MAX, KERN_KV);
    ok(!d, "the largest size is NULL");
    kr->ops->buf_free(kr, b);
    kr->ops->buf_free(kr, c);
    kr->ops->buf_free(kr, NULL);
    ok(kr->bytes[KERN_KV] == before && !kr->bytes[KERN_WEIGHTS],
       "what was freed is no longer counted");
    free(g);
}

static void test_all(void)
{
    test_accounts();
    test_rows();
    test_elementwise();
    test_swiglu_ends();
    test_norm();
    test_matmul();
    test_rope();
    test_attend();
}

int main(void)
{
    const struct kern_cpu_config ref = {2, KERN_CPU_REF, NULL, 0};
    const struct kern_cpu_config avx2 = {2, KERN_CPU_AVX2, NULL, 0};
    struct err e;

    if (!ok(!kern_cpu_new(&kr, &ref, &e), "reference backend"))
        return done();
    is_str(kr->name, "cpu-ref", "its name");
    test_all();
    kern_free(kr);
    kern_free(NULL);
    if (kern_cpu_new(&kr, &avx2, &e)) {
        ok(e.st == ST_UNSUPPORTED, "no AVX2 here: %s", e.text);
        printf("# AVX2 KERNELS NOT TESTED on this machine\n");
        return done();
    }
    is_str(kr->name, "cpu-avx2", "AVX2 backend");
    test_all();
    kern_free(kr);
    return done();
}
