/*
 * Products of F32, F16 and BF16 weights: every set gives the bits of the
 * portable one, alone and among other rows and tiles; the portable one is
 * near a product in double, and sums in the order of isa.h.
 */
#include "base/mem.h"
#include "kernels/cpu/isa.h"
#include "t/lib/tap.h"

#include <math.h>

#define ROWS 29
#define TILES 3
#define COLS_MAX 1000
#define WEIGHTS (TILES * PACK_ROWS)

static const enum kern_type types[] = {KERN_F32, KERN_F16, KERN_BF16};
static const char *const type_names[] = {"F32", "F16", "BF16"};

static float x[ROWS][COLS_MAX];
static uint8_t file[WEIGHTS * COLS_MAX * 4], packed[sizeof(file) + 4096];
static float want[ROWS][WEIGHTS], got[ROWS][WEIGHTS];
static _Alignas(64) uint8_t scratch[CPU_SCRATCH];

static uint32_t seed;

static uint32_t random32(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8 | seed << 24;
}

/* About normal, sign and size mixed. */
static float random_float(void)
{
    float f = 0;

    for (int i = 0; i < 4; i++)
        f += (float)(random32() & 0xffff) / 65536 - 0.5f;
    return f;
}

static void put_weight(enum kern_type t, size_t i, float f)
{
    uint16_t h = quant_f32_f16(f);
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    if (t == KERN_F32) {
        memcpy(file + 4 * i, &f, 4);
        return;
    }
    if (t == KERN_BF16)
        h = (uint16_t)(bits >> 16);
    memcpy(file + 2 * i, &h, 2);
}

static void fill(enum kern_type t, int32_t cols, int32_t rows)
{
    size_t n = (size_t)rows * (size_t)cols, tile = pack_tile_bytes(t, cols);
    size_t row_bytes = quant_bytes(t, (size_t)cols);

    for (size_t i = 0; i < n; i++)
        put_weight(t, i, random_float());
    for (int r = 0; r < ROWS; r++)
        for (int32_t c = 0; c < cols; c++)
            x[r][c] = random_float();
    for (int32_t r = 0, k = 0; r < rows; r += PACK_ROWS, k++) {
        int32_t here = rows - r < PACK_ROWS ? rows - r : PACK_ROWS;

        pack_tile(t, packed + (size_t)k * tile, file + (size_t)r * row_bytes,
                  row_bytes, here, cols);
    }
}

static void product(const struct cpu_isa *isa, enum kern_type t, int32_t cols,
                    int32_t tiles, int32_t t0, int32_t r0, int32_t rows,
                    float (*y)[WEIGHTS])
{
    struct cpu_x in = {.cols = cols, .f = x[0], .ldf = COLS_MAX};
    const uint8_t *w = packed + (size_t)t0 * pack_tile_bytes(t, cols);

    isa->product(t, w, tiles, &in, r0, rows, &y[r0][t0 * PACK_ROWS], WEIGHTS,
                 scratch);
}

/* Of a sum of n products, against double: n rounding errors of the sum of
 * magnitudes would be the worst; the blocks of 32 keep it under 40 here. */
static double worst_error(enum kern_type t, int32_t cols)
{
    double worst = 0;
    float row[COLS_MAX];

    for (int32_t i = 0; i < WEIGHTS; i++) {
        pack_row(t, packed + (size_t)(i / PACK_ROWS) * pack_tile_bytes(t, cols),
                 cols, i % PACK_ROWS, row);
        for (int r = 0; r < ROWS; r++) {
            double sum = 0, size = 0;

            for (int32_t c = 0; c < cols; c++) {
                sum += (double)row[c] * x[r][c];
                size += fabs((double)row[c] * x[r][c]);
            }
            worst = fmax(worst, fabs(sum - want[r][i]) / size);
        }
    }
    return worst;
}

/* Blocks of 32 by multiply-add from 0, each added to the row's sum. */
static bool in_order(enum kern_type t, int32_t cols)
{
    size_t tile = pack_tile_bytes(t, cols);
    bool same = true;
    float row[COLS_MAX];

    for (int32_t i = 0; i < WEIGHTS; i++) {
        pack_row(t, packed + (size_t)(i / PACK_ROWS) * tile, cols,
                 i % PACK_ROWS, row);
        for (int r = 0; r < ROWS; r += 7) {
            float sum = 0;

            for (int32_t b = 0; b < cols; b += 32) {
                float block = 0;

                for (int32_t c = b; c < b + 32 && c < cols; c++)
                    block = fmaf(row[c], x[r][c], block);
                sum += block;
            }
            same = same && !memcmp(&sum, &want[r][i], sizeof(sum));
        }
    }
    return same;
}

static bool packs(enum kern_type t, int32_t cols, int32_t rows)
{
    size_t tile = pack_tile_bytes(t, cols);
    float there[COLS_MAX], here[COLS_MAX];
    bool same = true;

    for (int32_t r = 0; r < WEIGHTS; r++) {
        memset(here, 0, sizeof(here));
        if (r < rows)
            kern_dequant(t, file + (size_t)r * quant_bytes(t, (size_t)cols),
                         here, (size_t)cols);
        pack_row(t, packed + (size_t)(r / PACK_ROWS) * tile, cols,
                 r % PACK_ROWS, there);
        same = same && !memcmp(here, there, (size_t)cols * sizeof(*here));
    }
    return same && pack_bytes(t, rows, cols) == TILES * tile;
}

static bool same_rows(int r0, int rows, int t0, int tiles)
{
    for (int r = r0; r < r0 + rows; r++)
        if (memcmp(&got[r][t0 * PACK_ROWS], &want[r][t0 * PACK_ROWS],
                   (size_t)tiles * PACK_ROWS * sizeof(float)))
            return false;
    return true;
}

/* An emulator takes its time: with any argument not all ways are tried. */
static int every = 1;

/* All ways to cut the rows and the tiles give the bits of `want`. */
static bool same_in_groups(const struct cpu_isa *isa, enum kern_type t,
                           int32_t cols)
{
    for (int n = 1; n <= ROWS; n += every)
        for (int tiles = every > 1 ? TILES : 1; tiles <= TILES; tiles++) {
            int r0 = (n * 5 + tiles) % (ROWS - n + 1), t0 = n % TILES;

            t0 = t0 + tiles > TILES ? 0 : t0;
            memset(got, 255, sizeof(got));
            product(isa, t, cols, tiles, t0, r0, n, got);
            if (!same_rows(r0, n, t0, tiles))
                return false;
        }
    return true;
}

static void test_type(int i, int32_t cols)
{
    const struct cpu_isa *sets[CPU_ISAS];
    const int32_t rows = WEIGHTS - 5;
    int n = cpu_isas_here(sets);

    fill(types[i], cols, rows);
    memset(want, 255, sizeof(want));
    product(&cpu_isa_ref, types[i], cols, TILES, 0, 0, ROWS, want);
    ok(packs(types[i], cols, rows), "%s, %d columns: packed", type_names[i],
       cols);
    ok(worst_error(types[i], cols) < 40 * 0x1p-24,
       "%s, %d columns: near the product in double", type_names[i], cols);
    ok(in_order(types[i], cols), "%s, %d columns: in order", type_names[i],
       cols);
    for (int s = 0; s < n; s++)
        ok(same_in_groups(sets[s], types[i], cols),
           "%s, %d columns: %s gives the same bits for any rows and tiles",
           type_names[i], cols, sets[s]->name);
}

/* Infinities and NaNs stay in their lane. */
static void test_special(const struct cpu_isa *isa, int i)
{
    const float odd[] = {INFINITY, -INFINITY, NAN, 0x1p-149f, -0.0f};
    const int32_t cols = 70;
    bool kept = true;

    fill(types[i], cols, WEIGHTS);
    for (size_t k = 0; k < 5; k++)
        put_weight(types[i], 17 * (size_t)cols + 7 * k, odd[k]);
    pack_tile(types[i], packed + pack_tile_bytes(types[i], cols),
              file + 16 * quant_bytes(types[i], (size_t)cols),
              quant_bytes(types[i], (size_t)cols), PACK_ROWS, cols);
    x[3][5] = NAN;
    product(isa, types[i], cols, TILES, 0, 0, ROWS, got);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WEIGHTS; c++)
            kept = kept && !isfinite(got[r][c]) == (r == 3 || c == 17);
    ok(kept, "%s, %s: NaN and infinity stay in their row", type_names[i],
       isa->name);
}

int main(int argc, char **argv)
{
    static const int32_t cols[] = {1, 2, 7, 31, 32, 33, 64, 160, 257, 1000};
    const struct cpu_isa *sets[CPU_ISAS];
    int n = cpu_isas_here(sets);

    (void)argv;
    every = argc > 1 ? 7 : 1;
    for (int i = 0; i < 3; i++) {
        for (size_t c = 0; c < sizeof(cols) / sizeof(*cols); c++)
            test_type(i, cols[c]);
        for (int s = 0; s < n; s++)
            test_special(sets[s], i);
    }
    return done();
}
