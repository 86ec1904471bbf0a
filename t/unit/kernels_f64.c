/*
 * Products of every weight format against a plain double-precision loop over
 * kern_dequant's weights and the exact activations.
 *
 * The error of a product is measured against sqrt(sum of w^2) times
 * sqrt(sum of x^2). The bounds below are this project's table of them; the
 * float formats only add rounding of sums. The others round activations to
 * eight bits, by the largest of 32: at most sqrt(32) / 254 = 0.022 when one
 * activation in 32 is all there is and all weights are alike; here some are
 * twenty times the others. Formats with blocks of 256 have no shape of so few
 * columns that nothing averages out.
 *
 * Shapes: 1, 7, 17 and 33 weight rows; one block of columns, several, odd
 * multiples; 1, 2, 5, 16, 33 and 70 activation rows, packed and not.
 */
#include "t/lib/blocks.h"
#include "t/lib/tap.h"

#include <math.h>

/* docs/performance.md has the same table. */
static const struct {
    enum kern_type type;
    const char *name;
    double bound;
} table[] = {
    {KERN_F32, "F32", 3e-7},        {KERN_F16, "F16", 3e-7},
    {KERN_BF16, "BF16", 3e-7},      {KERN_Q8_0, "Q8_0", 12e-3},
    {KERN_Q4_0, "Q4_0", 12e-3},      {KERN_Q4_1, "Q4_1", 12e-3},
    {KERN_Q5_0, "Q5_0", 12e-3},      {KERN_Q5_1, "Q5_1", 12e-3},
    {KERN_Q2_K, "Q2_K", 6e-3},      {KERN_Q3_K, "Q3_K", 6e-3},
    {KERN_Q4_K, "Q4_K", 6e-3},      {KERN_Q5_K, "Q5_K", 6e-3},
    {KERN_Q6_K, "Q6_K", 6e-3},      {KERN_IQ4_NL, "IQ4_NL", 12e-3},
    {KERN_IQ4_XS, "IQ4_XS", 6e-3},  {KERN_MXFP4, "MXFP4", 12e-3},
};
enum { TYPES = sizeof(table) / sizeof(*table), ROWS = 70 };

static const int32_t outs[] = {1, 7, 17, 33}, ins[] = {1, 2, 5, 16, 33};
enum { OUTS = 4, INS = 5, OUT_MAX = 33, COLS_MAX = 1280 };

static uint8_t weights[OUT_MAX * COLS_MAX * 4];
static float x[ROWS][COLS_MAX];
static double want[ROWS][OUT_MAX], size[ROWS][OUT_MAX];
static float got[ROWS][OUT_MAX], part[ROWS][OUT_MAX];

/* Random numbers of one format. */
static void fill(enum kern_type t, size_t n)
{
    int32_t elems, bytes;

    for (size_t i = 0; i < BLOCK_TYPES; i++)
        if (block_types[i].type == t) {
            BUG_ON(!kern_type_block(t, &elems, &bytes));
            block_fill(&block_types[i], weights, n / (size_t)elems, false);
            return;
        }
    for (size_t i = 0; i < n; i++) {
        float f = block_random_float() * 0.1f;
        uint16_t h;
        uint32_t bits;

        memcpy(&bits, &f, sizeof(bits));
        h = t == KERN_F16 ? quant_f32_f16(f) : (uint16_t)(bits >> 16);
        if (t == KERN_F32)
            memcpy(weights + 4 * i, &f, 4);
        else
            memcpy(weights + 2 * i, &h, 2);
    }
}

static void reference(enum kern_type t, int32_t rows, int32_t cols)
{
    static float w[COLS_MAX];

    for (int32_t o = 0; o < rows; o++) {
        size_t row = quant_bytes(t, (size_t)cols);

        kern_dequant(t, weights + row * (size_t)o, w, (size_t)cols);
        for (int32_t r = 0; r < ROWS; r++) {
            double sum = 0, ww = 0, xx = 0;

            for (int32_t c = 0; c < cols; c++) {
                sum += (double)w[c] * x[r][c];
                ww += (double)w[c] * w[c];
                xx += (double)x[r][c] * x[r][c];
            }
            want[r][o] = sum;
            size[r][o] = sqrt(ww) * sqrt(xx);
        }
    }
}

struct mat { /* one matrix in a backend */
    struct kern *k;
    struct kern_mat m;
    void *packed; /* NULL: as in the file */
    struct kern_buf *x, *y;
};

static void mat_new(struct mat *a, struct kern *k, enum kern_type t,
                    int32_t rows, int32_t cols, int32_t packed)
{
    size_t bytes = quant_bytes(t, (size_t)cols) * (size_t)rows;

    *a = (struct mat){.k = k, .m = {NULL, t, rows, cols, packed}};
    if (packed) {
        bytes = k->ops->pack_bytes(k, t, rows, cols);
        a->packed = aligned_alloc(64, (bytes + 63) / 64 * 64);
        BUG_ON(!a->packed);
        k->ops->pack(k, a->packed, weights, t, rows, cols);
    }
    a->m.buf = k->ops->weights(k, packed ? a->packed : weights, bytes);
    a->x = k->ops->alloc(k, ROWS * (size_t)cols * 4, KERN_WORKSPACE);
    a->y = k->ops->alloc(k, ROWS * (size_t)rows * 4, KERN_WORKSPACE);
    BUG_ON(!a->m.buf || !a->x || !a->y);
    for (size_t r = 0; r < ROWS; r++)
        k->ops->upload(k, a->x, r * (size_t)cols * 4, x[r], (size_t)cols * 4);
}

static void mat_free(struct mat *a)
{
    a->k->ops->buf_free(a->k, a->m.buf);
    a->k->ops->buf_free(a->k, a->x);
    a->k->ops->buf_free(a->k, a->y);
    free(a->packed);
}

static void multiply(struct mat *a, int32_t n, float (*y)[OUT_MAX])
{
    struct kern_mm mm = {.x = a->x, .rows = n, .n = 1,
                         .out = {{a->y, &a->m, NULL}}};

    a->k->ops->matmul(a->k, &mm);
    for (int32_t r = 0; r < n; r++)
        a->k->ops->read_logits(a->k, a->y, r, a->m.rows, y[r]);
}

/* The largest error of one shape; -1 when fewer rows gave other bits. */
static double one_shape(struct kern *k, enum kern_type t, int32_t rows,
                        int32_t cols, int32_t packed)
{
    double worst = 0;
    struct mat a;

    mat_new(&a, k, t, rows, cols, packed);
    multiply(&a, ROWS, got);
    for (int32_t r = 0; r < ROWS; r++)
        for (int32_t o = 0; o < rows; o++) {
            double off = fabs(got[r][o] - want[r][o]) / size[r][o];

            if (!(off <= worst))
                worst = isnan(off) ? INFINITY : off;
        }
    for (int i = 0; i < INS; i++) {
        multiply(&a, ins[i], part);
        for (int32_t r = 0; r < ins[i]; r++)
            if (memcmp(part[r], got[r], (size_t)rows * sizeof(float)))
                worst = -1;
    }
    mat_free(&a);
    return worst;
}

static void test_type(struct kern *k, int i)
{
    static const int32_t many[] = {1, 31, 96, 257, 1280};
    static const int32_t blocks[] = {1, 3, 5, 33, 0};
    double worst = 0;
    bool same = true;
    int32_t elems, bytes;

    BUG_ON(!kern_type_block(table[i].type, &elems, &bytes));
    for (int c = 0; c < 5; c++) {
        int32_t cols = elems == 1 ? many[c] : blocks[c] * elems;

        if (!cols || cols > COLS_MAX)
            continue;
        fill(table[i].type, (size_t)OUT_MAX * (size_t)cols);
        reference(table[i].type, OUT_MAX, cols);
        for (int o = 0; o < OUTS; o++)
            for (int32_t packed = 0; packed < 2; packed++) {
                double off = one_shape(k, table[i].type, outs[o], cols, packed);

                same &= off >= 0;
                worst = off > worst ? off : worst;
            }
    }
    ok(worst < table[i].bound, "%s %s: error %.2g, bound %.2g", k->name,
       table[i].name, worst, table[i].bound);
    ok(same, "%s %s: a row's bits do not depend on the others", k->name,
       table[i].name);
}

static void test_set(enum kern_cpu_set set, const char *name)
{
    const struct kern_cpu_config c = {.threads = 2, .set = set};
    struct kern *k;
    struct err e;

    if (kern_cpu_new(&k, &c, &e)) {
        ok(e.st == ST_UNSUPPORTED, "%s: %s", name, e.text);
        printf("# SET %s NOT TESTED on this machine\n", name);
        return;
    }
    block_seed = 1;
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < COLS_MAX; i++)
            x[r][i] = block_random_float() * (i % 97 == r ? 20.0f : 1.0f);
    for (int i = 0; i < TYPES; i++)
        test_type(k, i);
    kern_free(k);
}

int main(void)
{
    test_set(KERN_CPU_REF, "ref");
    test_set(KERN_CPU_AVX2, "avx2");
    test_set(KERN_CPU_AVX512, "avx512");
    test_set(KERN_CPU_NEON, "neon");
    return done();
}
