/*
 * Every operation of the CPU backend against plain double-precision loops
 * written here from the header's definitions, over odd shapes and in every
 * set that runs here. What a set computes for one piece has its own tests
 * (kernels_row, kernels_product, kernels_attend).
 */
#include "kernels/cpu/cpu.h"
#include "t/lib/noise.h"
#include "t/lib/tap.h"

#include <math.h>

static struct kern *kr;
static uint64_t state = 1;

static float rnd(void)
{
    return noise_next(&state);
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

/* --- products ------------------------------------------------------------- */

enum { BIAS = 1, NORM = 2, ADD = 4, GLU = 8, RAW = 16 };

/* Rounded as a product of quantised weights does it (isa.h). */
static void round_row(float *x, int32_t n)
{
    for (int32_t k = 0; k < n; k += 32) {
        int32_t m = n - k < 32 ? n - k : 32;
        float top = 0;

        for (int32_t i = 0; i < m; i++)
            top = fmaxf(top, fabsf(x[k + i]));
        for (int32_t i = 0; top > 0 && i < m; i++)
            x[k + i] = rintf(x[k + i] * (127 / top)) * (top / 127);
    }
}

struct matrix {
    struct kern_mat m;
    uint8_t *blocks;
    void *packed;
    float *w;
};

static void matrix_make(struct matrix *a, enum kern_type t, int32_t outs,
                        int32_t cols, bool packed)
{
    size_t n = (size_t)outs * cols, bytes = quant_bytes(t, n);

    a->blocks = calloc(1, bytes);
    a->w = calloc(n, sizeof(*a->w));
    a->packed = NULL;
    BUG_ON(!a->blocks || !a->w);
    fill_blocks(t, a->blocks, n);
    kern_dequant(t, a->blocks, a->w, n);
    a->m = (struct kern_mat){NULL, t, outs, cols, packed};
    if (!packed) {
        a->m.buf = kr->ops->weights(kr, a->blocks, bytes);
        return;
    }
    bytes = kr->ops->pack_bytes(kr, t, outs, cols);
    BUG_ON(posix_memalign(&a->packed, 64, bytes));
    kr->ops->pack(kr, a->packed, a->blocks, t, outs, cols);
    a->m.buf = kr->ops->weights(kr, a->packed, bytes);
}

static void matrix_free(struct matrix *a)
{
    kr->ops->buf_free(kr, a->m.buf);
    free(a->blocks);
    free(a->packed);
    free(a->w);
}

/* The rows that the product sees. */
static float *seen(const float *x, int32_t rows, int32_t cols,
                   const float *norm, bool rounded)
{
    size_t n = (size_t)rows * cols;
    float *y = calloc(n, sizeof(*y));

    BUG_ON(!y);
    memcpy(y, x, n * sizeof(*y));
    for (int32_t r = 0; r < rows; r++) {
        float *row = y + (size_t)r * cols;

        if (norm) /* its own test: kernels_row */
            cpu_of(kr)->isa->norm(row, row, norm, cols, 1e-5f);
        if (rounded)
            round_row(row, cols);
    }
    return y;
}

static double *products(const struct matrix *a, const float *x, int32_t rows)
{
    int32_t outs = a->m.rows, cols = a->m.cols;
    double *y = calloc((size_t)rows * outs, sizeof(*y));

    BUG_ON(!y);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t o = 0; o < outs; o++)
            for (int32_t k = 0; k < cols; k++)
                y[(size_t)r * outs + o] += (double)a->w[(size_t)o * cols + k] *
                                           x[(size_t)r * cols + k];
    return y;
}

static void matmul_case(enum kern_type t, int32_t outs, int32_t cols,
                        int32_t rows, int how)
{
    size_t nx = (size_t)rows * cols, ny = (size_t)rows * outs;
    float *x = noise(nx, 1), *before = noise(ny, 1), *bias = noise(outs, 1);
    float *norm = noise(cols, 1), *eyes, *g;
    struct matrix a, b;
    struct kern_buf *bx = put(x, nx * 4), *by = put(before, ny * 4);
    struct kern_buf *bb = put(bias, outs * 4), *bn = put(norm, cols * 4);
    struct kern_mm mm = {.x = bx, .rows = rows, .n = 1, .eps = 1e-5f};
    double *want, *up = NULL, top = 0;

    matrix_make(&a, t, outs, cols, !(how & RAW));
    matrix_make(&b, t, outs, cols, !(how & RAW));
    mm.out[0] = (struct kern_mm_out){by, &a.m, how & BIAS ? bb : NULL};
    mm.norm = how & NORM ? bn : NULL;
    mm.add = !!(how & ADD);
    if (how & GLU) {
        mm.glu = 1;
        mm.n = 2;
        mm.out[1] = (struct kern_mm_out){NULL, &b.m, NULL};
    }
    eyes = seen(x, rows, cols, how & NORM ? norm : NULL,
                t != KERN_F32 && t != KERN_F16 && t != KERN_BF16);
    want = products(&a, eyes, rows);
    if (how & GLU)
        up = products(&b, eyes, rows);
    for (size_t i = 0; i < ny; i++) {
        want[i] += how & BIAS ? bias[i % (size_t)outs] : 0;
        want[i] += how & ADD ? before[i] : 0;
        if (up)
            want[i] = want[i] / (1 + exp(-want[i])) * up[i];
        top = fabs(want[i]) > top ? fabs(want[i]) : top;
    }
    kr->ops->matmul(kr, &mm);
    g = get(by, ny);
    for (size_t i = 0; i < ny; i++) {
        want[i] /= top;
        g[i] /= (float)top;
    }
    ok(worst(g, want, ny) < 3e-6, "%s matmul type %d, %dx%d, %d rows, how %d: %g",
       kr->name, (int)t, outs, cols, rows, how, worst(g, want, ny));
    matrix_free(&a);
    matrix_free(&b);
    kr->ops->buf_free(kr, bx);
    kr->ops->buf_free(kr, by);
    kr->ops->buf_free(kr, bb);
    kr->ops->buf_free(kr, bn);
    free(x);
    free(before);
    free(bias);
    free(norm);
    free(eyes);
    free(g);
    free(want);
    free(up);
}

static void test_matmul(void)
{
    static const enum kern_type types[] = {
        KERN_F32,  KERN_F16,  KERN_BF16, KERN_Q8_0,
        KERN_Q4_0, KERN_Q4_K, KERN_Q5_K, KERN_Q6_K};

    for (int t = 0; t < 8; t++) {
        bool plain = t < 3;

        matmul_case(types[t], 7, plain ? 261 : 768, 1, NORM);
        matmul_case(types[t], 6, plain ? 3 : 256, 5, BIAS | RAW);
        matmul_case(types[t], 33, 512, 51, NORM | ADD);
        matmul_case(types[t], 90, 256, 16, GLU);
        matmul_case(types[t], 90, 256, 40, GLU | NORM | RAW);
    }
    matmul_case(KERN_Q8_0, 5, 288, 4, BIAS | ADD);
    matmul_case(KERN_F16, 64, 576, 2, 0);
    matmul_case(KERN_Q8_0, 2000, 64, 3, NORM); /* many chunks */
    matmul_case(KERN_Q8_0, 40, 64, 600, ADD);  /* blocks of rows */
}

/* Three products of one x are what each is alone, whatever their types. */
static void test_three(void)
{
    static const int32_t outs[3] = {65, 16, 40};
    static const enum kern_type types[3] = {KERN_Q8_0, KERN_F16, KERN_Q4_K};
    enum { COLS = 512 };
    static const int32_t rows[] = {1, 9, 16, 40};

    for (int t = 0; t < 4; t++) {
        size_t n = (size_t)rows[t];
        float *x = noise(n * COLS, 1), *one, *three;
        struct kern_buf *bx = put(x, n * COLS * 4), *alone[3];
        struct kern_mm mm = {.x = bx, .rows = rows[t], .n = 3};
        struct matrix a[3];
        int same = 0;

        for (int i = 0; i < 3; i++) {
            struct kern_mm m = {.x = bx, .rows = rows[t], .n = 1};

            matrix_make(&a[i], types[i], outs[i], COLS, i != 1);
            alone[i] = put(NULL, n * (size_t)outs[i] * 4);
            m.out[0] = (struct kern_mm_out){alone[i], &a[i].m, NULL};
            kr->ops->matmul(kr, &m);
            mm.out[i] = (struct kern_mm_out){
                put(NULL, n * (size_t)outs[i] * 4), &a[i].m, NULL};
        }
        kr->ops->matmul(kr, &mm);
        for (int i = 0; i < 3; i++) {
            one = get(alone[i], n * (size_t)outs[i]);
            three = get(mm.out[i].dst, n * (size_t)outs[i]);
            same += !memcmp(one, three, n * (size_t)outs[i] * 4);
            free(one);
            free(three);
            kr->ops->buf_free(kr, alone[i]);
            kr->ops->buf_free(kr, mm.out[i].dst);
            matrix_free(&a[i]);
        }
        is_int(same, 3, "%s three products together, %d rows", kr->name,
               rows[t]);
        kr->ops->buf_free(kr, bx);
        free(x);
    }
}

/* --- attention ------------------------------------------------------------ */

/* One head in double: norm, then rotation. */
static void turned(const float *x, const float *w, const double *inv,
                   int32_t dim, int32_t dims, int32_t neox, int32_t pos,
                   double *y)
{
    double s = 0;

    for (int32_t i = 0; i < dim; i++)
        s += (double)x[i] * x[i];
    for (int32_t i = 0; i < dim; i++)
        y[i] = w ? x[i] / sqrt(s / dim + 1e-5) * w[i] : x[i];
    for (int32_t i = 0; i < dims / 2; i++) {
        double a = inv[i] * pos;
        double *u = y + (neox ? i : 2 * i);
        double *v = y + (neox ? i + dims / 2 : 2 * i + 1);
        double c = *u * cos(a) - *v * sin(a);

        *v = *u * sin(a) + *v * cos(a);
        *u = c;
    }
}

struct att {
    int32_t heads, kvh, dim, dims, neox, len[2];
    enum kern_type type;
    bool norm;
    float *q, *k, *v, *w; /* [2][MAXLEN][...] */
    double inv[64];
};

enum { MAXLEN = 192, PAGES = 9, MAXP = 3 };

static void expect(const struct att *a, int32_t s, int32_t pos, double *out)
{
    static double key[MAXLEN][128], p[MAXLEN];
    size_t row = (size_t)a->kvh * a->dim;
    double q[128];

    for (int32_t h = 0; h < a->heads; h++, out += a->dim) {
        int32_t kh = h / (a->heads / a->kvh);
        double max = -INFINITY, sum = 0;

        turned(a->q + ((size_t)(s * MAXLEN + pos) * a->heads + h) * a->dim,
               a->norm ? a->w : NULL, a->inv, a->dim, a->dims, a->neox, pos,
               q);
        for (int32_t i = 0; i <= pos; i++) {
            turned(a->k + (size_t)(s * MAXLEN + i) * row + kh * a->dim,
                   a->norm ? a->w : NULL, a->inv, a->dim, a->dims, a->neox, i,
                   key[i]);
            p[i] = 0;
            for (int32_t d = 0; d < a->dim; d++)
                p[i] += q[d] * key[i][d];
            p[i] /= sqrt(a->dim);
            max = p[i] > max ? p[i] : max;
        }
        for (int32_t d = 0; d < a->dim; d++)
            out[d] = 0;
        for (int32_t i = 0; i <= pos; i++)
            sum += exp(p[i] - max);
        for (int32_t i = 0; i <= pos; i++)
            for (int32_t d = 0; d < a->dim; d++)
                out[d] += exp(p[i] - max) / sum *
                          a->v[(size_t)(s * MAXLEN + i) * row + kh * a->dim +
                               d];
    }
}

/* Steps of `chunk` rows of each sequence, interleaved when it is 1. */
static void attend_case(struct att a, int32_t chunk)
{
    int32_t pages[2 * MAXP] = {7, 2, 4, 0, 3, 1}, at[2] = {0, 0};
    size_t qn = (size_t)a.heads * a.dim, kn = (size_t)a.kvh * a.dim;
    size_t bytes = (size_t)2 * PAGES * a.kvh * kern_kv_head_bytes(a.type,
                                                                  a.dim);
    struct kern_kv kv = {put(NULL, bytes), put(NULL, bytes), 2, PAGES, a.kvh,
                         a.dim, a.type};
    struct kern_rope rope = {NULL, a.dims, a.neox, 1};
    struct kern_buf *bw;
    double far = 0, most = a.type == KERN_F16 ? 2e-3 : 4e-2;

    a.q = noise(2 * MAXLEN * qn, 2);
    a.k = noise(2 * MAXLEN * kn, 2);
    a.v = noise(2 * MAXLEN * kn, 1);
    a.w = noise(a.dim, 1);
    bw = put(a.w, (size_t)a.dim * 4);
    for (int i = 0; i < a.dims / 2; i++)
        a.inv[i] = pow(10000, -2.0 * i / a.dims);
    rope.inv = put(a.inv, sizeof(a.inv));
    while (at[0] < a.len[0] || at[1] < a.len[1]) {
        int32_t ids[2 * MAXLEN] = {0}, seq[2 * MAXLEN], pos[2 * MAXLEN], n = 0;
        struct kern_rows r = {.ids = ids, .pos = pos, .seq = seq, .n_seqs = 2,
                              .max_pages = MAXP, .pages = pages};
        struct kern_buf *q = put(NULL, 2 * MAXLEN * qn * 4), *o;
        struct kern_buf *k = put(NULL, 2 * MAXLEN * kn * 4), *v;
        struct kern_attention op = {
            .q = q, .key = k, .kv = &kv, .layer = 1, .heads = a.heads,
            .scale = 1 / sqrtf((float)a.dim), .q_norm = a.norm ? bw : NULL,
            .k_norm = a.norm ? bw : NULL, .eps = 1e-5f, .rope = &rope};
        float *g;

        op.val = v = put(NULL, 2 * MAXLEN * kn * 4);
        op.dst = o = put(NULL, 2 * MAXLEN * qn * 4);
        for (int32_t s = 0; s < 2; s++)
            for (int32_t i = 0; i < chunk && at[s] < a.len[s]; i++, n++) {
                size_t row = (size_t)(s * MAXLEN + at[s]);

                kr->ops->upload(kr, q, n * qn * 4, a.q + row * qn, qn * 4);
                kr->ops->upload(kr, k, n * kn * 4, a.k + row * kn, kn * 4);
                kr->ops->upload(kr, v, n * kn * 4, a.v + row * kn, kn * 4);
                seq[n] = s;
                pos[n] = at[s]++;
            }
        r.n = n;
        kr->ops->begin(kr, &r);
        kr->ops->attention(kr, &op);
        g = get(o, (size_t)n * qn);
        for (int32_t i = 0; i < n; i++) {
            double want[1024], d;

            expect(&a, seq[i], pos[i], want);
            d = worst(g + (size_t)i * qn, want, qn);
            far = d > far ? d : far;
        }
        free(g);
        kr->ops->buf_free(kr, q);
        kr->ops->buf_free(kr, k);
        kr->ops->buf_free(kr, v);
        kr->ops->buf_free(kr, o);
    }
    ok(far < most,
       "%s attention %d heads over %d, dim %d, %d rotated%s%s, by %d: %g",
       kr->name, a.heads, a.kvh, a.dim, a.dims, a.neox ? ", neox" : "",
       a.norm ? ", normed" : "", chunk, far);
    kr->ops->buf_free(kr, kv.k);
    kr->ops->buf_free(kr, kv.v);
    kr->ops->buf_free(kr, rope.inv);
    kr->ops->buf_free(kr, bw);
    free(a.q);
    free(a.k);
    free(a.v);
    free(a.w);
}

static void test_attend(void)
{
    static const struct att cases[] = {
        {.heads = 4, .kvh = 2, .dim = 64, .dims = 64, .neox = 1,
         .len = {80, 40}, .type = KERN_F16, .norm = true},
        {.heads = 3, .kvh = 1, .dim = 20, .dims = 16, .len = {66, 3},
         .type = KERN_F16},
        {.heads = 4, .kvh = 4, .dim = 128, .dims = 128, .neox = 1,
         .len = {70, 65}, .type = KERN_Q8_0},
        {.heads = 40, .kvh = 1, .dim = 8, .dims = 8, .neox = 1,
         .len = {130, 10}, .type = KERN_F16, .norm = true},
    };

    for (int i = 0; i < 4; i++) {
        attend_case(cases[i], 1);
        attend_case(cases[i], i == 2 ? 70 : 33);
    }
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

static bool test_set(enum kern_cpu_set set, int threads, const char *name)
{
    const struct kern_cpu_config c = {threads, set, NULL, 0};
    struct err e;

    if (kern_cpu_new(&kr, &c, &e)) {
        ok(e.st == ST_UNSUPPORTED, "not here: %s", e.text);
        printf("# %s NOT TESTED on this machine\n", name);
        return false;
    }
    is_str(kr->name, name, "its name");
    ok(kr->bytes[KERN_WORKSPACE] > (size_t)threads << 18,
       "what its threads work in is counted");
    test_accounts();
    test_rows();
    test_matmul();
    test_three();
    test_attend();
    kern_free(kr);
    return true;
}

/* AUTO is what PENSTOCK_CPU says. */
static void test_environment(void)
{
    const struct kern_cpu_config c = {1, KERN_CPU_AUTO, NULL, 0};
    struct err e;

    setenv("PENSTOCK_CPU", "ref", 1);
    if (ok(!kern_cpu_new(&kr, &c, &e), "PENSTOCK_CPU=ref")) {
        is_str(kr->name, "cpu-ref", "means the portable set");
        kern_free(kr);
    }
    setenv("PENSTOCK_CPU", "mmx", 1);
    ok(kern_cpu_new(&kr, &c, &e) == ST_INVALID && strstr(e.text, "avx512"),
       "PENSTOCK_CPU=mmx: %s", e.text);
    unsetenv("PENSTOCK_CPU");
}

int main(void)
{
    ok(test_set(KERN_CPU_REF, 2, "cpu-ref"), "the reference runs everywhere");
    test_set(KERN_CPU_AVX2, 2, "cpu-avx2");
    test_set(KERN_CPU_AVX512, 3, "cpu-avx512");
    test_set(KERN_CPU_NEON, 2, "cpu-neon");
    test_environment();
    kern_free(NULL);
    return done();
}
