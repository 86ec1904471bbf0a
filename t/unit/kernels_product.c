/*
 * Products of quantised weights: every set gives the bits of the portable
 * one, alone and among other rows and tiles; the portable one is near a
 * product in double, both of the rounded activations and of the exact ones.
 */
#include "base/mem.h"
#include "t/lib/blocks.h"
#include "kernels/cpu/isa.h"
#include "t/lib/tap.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 33
#define TILES 3
#define COLS_MAX 1280
#define WEIGHTS (TILES * PACK_ROWS)

static float act[ROWS][COLS_MAX];
static float want[ROWS][WEIGHTS], got[ROWS][WEIGHTS];
static _Alignas(64) uint8_t scratch[CPU_SCRATCH];

/* A matrix and rounded activations. */
struct job {
    const struct block_type *b;
    int32_t cols;
    uint8_t *packed; /* no more bytes than it has */
    struct cpu_x x;
};

static void *aligned(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

    BUG_ON(!p);
    memset(p, 0x5a, (bytes + 63) / 64 * 64);
    return p;
}

static void x_new(struct cpu_x *x, int32_t cols)
{
    size_t ldq = ((size_t)cols + 63) / 64 * 64, blocks = ldq / 32;

    x->cols = cols;
    x->f = act[0];
    x->ldf = COLS_MAX;
    x->ldq = ldq;
    x->q = aligned(ROWS * ldq);
    x->d = aligned(ROWS * blocks * 4);
    x->neg = aligned(ROWS * blocks * CPU_SUMS * 4);
    x->ds = aligned(ROWS * blocks * CPU_SUMS * 4);
}

static void x_free(struct cpu_x *x)
{
    free(x->q);
    free(x->d);
    free(x->neg);
    free(x->ds);
}

static void x_round(const struct cpu_isa *isa, struct cpu_x *x)
{
    size_t blocks = x->ldq / 32;

    for (size_t r = 0; r < ROWS; r++)
        isa->round(act[r], x->cols, x->ldq, x->q + r * x->ldq,
                   x->d + r * blocks, x->neg + r * blocks * CPU_SUMS,
                   x->ds + r * blocks * CPU_SUMS);
}

static void job_new(struct job *j, const struct block_type *b, int32_t cols,
                    bool wild)
{
    size_t row = quant_bytes(b->type, (size_t)cols);
    size_t tile = pack_tile_bytes(b->type, cols);
    uint8_t *file = mem_zalloc(WEIGHTS * row);
    int32_t elems, bytes;

    BUG_ON(!kern_type_block(b->type, &elems, &bytes));
    j->b = b;
    j->cols = cols;
    j->packed = mem_zalloc(TILES * tile);
    block_fill(b, file, WEIGHTS * (size_t)(cols / elems), wild);
    for (size_t t = 0; t < TILES; t++)
        pack_tile(b->type, j->packed + t * tile, file + t * PACK_ROWS * row,
                  row, t == TILES - 1 ? 11 : PACK_ROWS, cols);
    free(file);
    for (int r = 0; r < ROWS; r++)
        for (int32_t c = 0; c < cols; c++)
            act[r][c] = block_random_float() * (c % 97 == r ? 30.0f : 1.0f);
    memset(act[5], 0, (size_t)(cols / 2) * sizeof(**act));
    x_new(&j->x, cols);
    x_round(&cpu_isa_ref, &j->x);
}

static void job_free(struct job *j)
{
    free(j->packed);
    x_free(&j->x);
}

static void product(const struct cpu_isa *isa, const struct job *j,
                    int32_t tiles, int32_t t0, int32_t r0, int32_t rows,
                    float (*y)[WEIGHTS])
{
    const uint8_t *w =
        j->packed + (size_t)t0 * pack_tile_bytes(j->b->type, j->cols);

    isa->product(j->b->type, w, tiles, &j->x, r0, rows, &y[r0][t0 * PACK_ROWS],
                 WEIGHTS, scratch);
}

/*
 * How far the portable result is from double: of the rounded activations, in
 * parts of the sum of magnitudes (with minimums, of the largest weight of each
 * 32); of the exact ones, in parts of what half a step of every activation
 * can do.
 */
static void worst_errors(const struct job *j, double *rounded, double *exact)
{
    static float w[COLS_MAX];
    static double most[COLS_MAX / 32]; /* largest weight */
    size_t tile = pack_tile_bytes(j->b->type, j->cols);

    *rounded = *exact = 0;
    for (int32_t i = 0; i < WEIGHTS * ROWS; i++) {
        int32_t r = i % ROWS, k = i / ROWS;
        const int8_t *q = j->x.q + (size_t)r * j->x.ldq;
        const float *d = j->x.d + (size_t)r * j->x.ldq / 32;
        double sum = 0, size = 0, true_sum = 0, step = 0;

        if (!r) {
            pack_row(j->b->type, j->packed + (size_t)(k / PACK_ROWS) * tile,
                     j->cols, k % PACK_ROWS, w);
            memset(most, 0, sizeof(most));
            for (int32_t c = 0; c < j->cols; c++)
                most[c / 32] = fmax(most[c / 32], fabs((double)w[c]));
        }
        for (int32_t c = 0; c < j->cols; c++) {
            double x = (double)d[c / 32] * q[c];

            sum += w[c] * x;
            size += most[c / 32] * fabs(x);
            true_sum += (double)w[c] * (double)act[r][c];
            step += fabs((double)w[c]) * d[c / 32] / 2;
        }
        if (size > 0)
            *rounded = fmax(*rounded, fabs(sum - want[r][k]) / size);
        else if (want[r][k] != 0)
            *rounded = INFINITY;
        if (step > 0)
            *exact = fmax(*exact,
                          (fabs(true_sum - want[r][k]) - 1e-6 * size) / step);
    }
}

static bool same_rows(int r0, int rows, int t0, int tiles)
{
    for (int r = r0; r < r0 + rows; r++)
        if (!same_floats(&got[r][t0 * PACK_ROWS], &want[r][t0 * PACK_ROWS],
                         (size_t)tiles * PACK_ROWS))
            return false;
    return true;
}

/* Cut into so many rows and tiles. */
/* An emulator takes its time: with any argument not all ways are tried. */
static size_t every = 1;

static bool same_in_groups(const struct cpu_isa *isa, const struct job *j)
{
    static const int counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, ROWS};

    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i += every)
        for (int tiles = every > 1 ? TILES : 1; tiles <= TILES; tiles++) {
            int n = counts[i];
            int r0 = (n * 5 + tiles) % (ROWS - n + 1), t0 = n % TILES;

            t0 = t0 + tiles > TILES ? 0 : t0;
            memset(got, 0x3c, sizeof(got));
            product(isa, j, tiles, t0, r0, n, got);
            if (!same_rows(r0, n, t0, tiles))
                return false;
        }
    return true;
}

static void test_type(const struct block_type *b, int32_t cols, bool wild)
{
    const struct cpu_isa *sets[CPU_ISAS];
    int n = cpu_isas_here(sets);
    double rounded, exact;
    struct job j;

    job_new(&j, b, cols, wild);
    memset(want, 0x3c, sizeof(want));
    product(&cpu_isa_ref, &j, TILES, 0, 0, ROWS, want);
    if (!wild) {
        worst_errors(&j, &rounded, &exact);
        ok(rounded < 1e-6, "%s, %d columns: %.1e from the product in double",
           b->name, cols, rounded);
        ok(exact <= 1, "%s, %d columns: exact activations, %.2f half steps",
           b->name, cols, exact);
    }
    for (int s = 0; s < n; s++)
        ok(same_in_groups(sets[s], &j),
           "%s, %d columns%s: %s gives the same bits for any rows and tiles",
           b->name, cols, wild ? ", odd scales" : "", sets[s]->name);
    job_free(&j);
}

/* By the words of isa.h, one block. */
static bool round_is_right(const float *x, int32_t n, const int8_t *q, float d,
                           const int32_t *neg, const float *ds)
{
    float top = 0;
    int32_t sums[CPU_SUMS] = {0};
    bool right = true;

    for (int32_t i = 0; i < n; i++)
        top = fmaxf(top, fabsf(x[i]));
    for (int32_t i = 0; i < 32; i++) {
        float v = i < n && top > 0 ? x[i] * (127 / top) : 0;
        int32_t want_q = (int32_t)nearbyintf(v);

        right = right && q[i] == want_q;
        sums[i / 16] += want_q;
        sums[2] += want_q;
    }
    right = right && d == top / 127;
    for (int i = 0; i < CPU_SUMS; i++)
        right = right && neg[i] == -sums[i] && ds[i] == d * (float)sums[i];
    return right;
}

static void test_round(const struct cpu_isa *isa, int32_t cols)
{
    struct cpu_x x, y;
    int bad = 0;
    size_t blocks;

    for (int r = 0; r < ROWS; r++)
        for (int32_t c = 0; c < cols; c++)
            act[r][c] = block_random_float() * (float)(r % 2 ? 1e-20 : 1e4);
    memset(act[2], 0, sizeof(act[2]));
    act[3][0] = 127;
    act[3][1] = 0.5f; /* ties, when 127 is the largest */
    act[3][2] = -1.5f;
    x_new(&x, cols);
    x_new(&y, cols);
    x_round(isa, &x);
    blocks = x.ldq / 32;
    for (size_t b = 0; b < ROWS * blocks; b++) {
        size_t r = b / blocks, c = b % blocks * 32;
        int32_t n = cols - (int32_t)c;

        bad +=
            !round_is_right(&act[r][c], n > 32 ? 32 : n, x.q + b * 32, x.d[b],
                            x.neg + CPU_SUMS * b, x.ds + CPU_SUMS * b);
    }
    is_int(bad, 0, "%s: %d columns are rounded", isa->name, cols);
    act[7][0] = NAN;
    act[8][cols - 1] = INFINITY;
    act[9][cols - 1] = -NAN;
    act[9][0] = -INFINITY;
    x_round(isa, &x);
    x_round(&cpu_isa_ref, &y);
    ok(!memcmp(x.q, y.q, ROWS * x.ldq) &&
           !memcmp(x.neg, y.neg, ROWS * blocks * CPU_SUMS * 4) &&
           same_floats(x.d, y.d, ROWS * blocks) &&
           same_floats(x.ds, y.ds, ROWS * blocks * CPU_SUMS),
       "%s: the same with NaNs and infinities", isa->name);
    ok(isnan(x.d[7 * blocks]) &&
           isinf(x.d[8 * blocks + (size_t)(cols - 1) / 32]),
       "%s: and these do not get lost", isa->name);
    x_free(&x);
    x_free(&y);
}

int main(int argc, char **argv)
{
    static const int32_t cols[] = {1, 15, 16, 17, 32, 47, 63, 64, 96, 1000};
    const struct cpu_isa *sets[CPU_ISAS];
    int n = cpu_isas_here(sets);

    (void)argv;
    every = argc > 1 ? 4 : 1;
    for (int s = 0; s < n; s++)
        for (size_t i = 0; i < sizeof(cols) / sizeof(*cols); i++)
            test_round(sets[s], cols[i]);
    for (size_t i = 0; i < BLOCK_TYPES; i++) {
        const struct block_type *b = &block_types[i];

        if (pack_groups(b->type) == 1) {
            test_type(b, 32, false);
            test_type(b, 96, true);
            test_type(b, 288, false);
        } else {
            test_type(b, 256, true);
        }
        test_type(b, COLS_MAX, false);
    }
    return done();
}
