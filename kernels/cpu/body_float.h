/*
 * kernels/cpu/body_float.h - products of F32, F16 and BF16 tiles. See isa.h.
 *
 * One row takes four blocks of 32 columns at a time, whose sums do not wait
 * for each other: it reads weights as fast as memory gives them. More rows
 * keep the sums of several rows and tiles in registers; many rows share a
 * stretch of F16 or BF16 columns that was made f32 once.
 */
#ifndef KERNELS_CPU_BODY_FLOAT_H
#define KERNELS_CPU_BODY_FLOAT_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#define FLOAT_BLOCK 32
/* As f32, a stretch fills half of a first cache of 32 KiB. */
#define FLOAT_COLS 128
/* Blocks of one row that are under way at once. */
#define FLOAT_UNITS 4
/* How far ahead one row fetches weights, in bytes. */
#define FLOAT_AHEAD 4096
/* From here on decoding a stretch pays. */
#define FLOAT_MANY (2 * LANES_FLOAT_ROWS + 1)

_Static_assert(sizeof(float) * FLOAT_COLS * LANES * LANES_FLOAT_TILES <=
                   CPU_SCRATCH,
               "the scratch holds a stretch");

/* Where column c of a tile is; an even c for pairs. */
INLINE size_t float_at(enum kern_type type, int32_t c)
{
    return (size_t)c * LANES * (type == KERN_F32 ? 4 : 2);
}

/* Column c + odd of a tile; c is even. */
INLINE vf float_col(enum kern_type type, const uint8_t *w, int32_t c, int odd)
{
    if (type == KERN_F32)
        return vf_load((const float *)(const void *)(w + float_at(type, c)) +
                       odd * LANES);
    w += float_at(type, c);
    if (type == KERN_F16)
        return vf_f16(w + 2 * LANES * odd);
    return odd ? vf_pair1(w) : vf_pair0(w);
}

/* What a block multiplies. Unit u, a tile or a block, has its weights at
 * w + u * w_step and its activations at x + u * x_step; rows are ldf apart. */
struct float_in {
    const uint8_t *w;
    size_t w_step;
    const float *x;
    size_t x_step, ldf;
};

/* acc[r * units + u] += column c + odd */
INLINE void float_step(enum kern_type type, const struct float_in *in,
                       int32_t c, int odd, int units, int rows, vf *acc)
{
    const float *x = in->x + c + odd;
    vf v[FLOAT_UNITS];

    UNROLL
    for (int u = 0; u < units; u++) {
        const uint8_t *w = in->w + (size_t)u * in->w_step;

        v[u] = float_col(type, w, c, odd);
        if (rows == 1 && (type == KERN_F32 || !odd))
            vb_fetch(w + float_at(type, c + odd) + FLOAT_AHEAD);
    }
    UNROLL
    for (int i = 0; i < units * rows; i++) {
        int r = i / units, u = i % units;
        vf f = vf_set(x[(size_t)r * in->ldf + (size_t)u * in->x_step]);

        acc[i] = vf_fma(v[u], f, acc[i]);
    }
}

/* acc[r * units + u] = the sum of so many columns from `c` on. */
INLINE void float_block(enum kern_type type, const struct float_in *in,
                        int32_t c, int32_t cols, int units, int rows, vf *acc)
{
    const int32_t pairs = c + (cols & ~1);

    UNROLL
    for (int i = 0; i < units * rows; i++)
        acc[i] = vf_zero();
    for (; c < pairs; c += 2) {
        float_step(type, in, c, 0, units, rows, acc);
        float_step(type, in, c, 1, units, rows, acc);
    }
    if (cols & 1)
        float_step(type, in, c, 0, units, rows, acc);
}

INLINE int32_t float_least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* One tile, one row. */
INLINE void float_one(enum kern_type type, const uint8_t *w, int32_t cols,
                      const float *x, float *y)
{
    const struct float_in in = {w, float_at(type, FLOAT_BLOCK), x, FLOAT_BLOCK,
                                0};
    const int32_t many = FLOAT_UNITS * FLOAT_BLOCK;
    vf acc[FLOAT_UNITS], sum = vf_zero();
    int32_t c = 0;

    for (; c + many <= cols; c += many) {
        float_block(type, &in, c, FLOAT_BLOCK, FLOAT_UNITS, 1, acc);
        UNROLL
        for (int u = 0; u < FLOAT_UNITS; u++)
            sum = vf_add(sum, acc[u]);
    }
    for (; c < cols; c += FLOAT_BLOCK) {
        float_block(type, &in, c, float_least(FLOAT_BLOCK, cols - c), 1, 1,
                    acc);
        sum = vf_add(sum, acc[0]);
    }
    vf_store(y, sum);
}

/* y += a stretch of so many columns: `units` tiles, `rows` rows. */
INLINE void float_rows(enum kern_type type, const struct float_in *in,
                       int32_t cols, int units, int rows, float *y, size_t ldy)
{
    vf acc[LANES_FLOAT_TILES * LANES_FLOAT_ROWS];

    for (int32_t c = 0; c < cols; c += FLOAT_BLOCK) {
        float_block(type, in, c, float_least(FLOAT_BLOCK, cols - c), units,
                    rows, acc);
        UNROLL
        for (int i = 0; i < units * rows; i++) {
            float *to = y + (size_t)(i / units) * ldy + i % units * LANES;

            vf_store(to, vf_add(vf_load(to), acc[i]));
        }
    }
}

/* The same for any number of rows, shared out evenly. */
INLINE void float_groups(enum kern_type type, struct float_in in, int32_t cols,
                         int units, int32_t rows, float *y, size_t ldy)
{
    int32_t left = (rows + LANES_FLOAT_ROWS - 1) / LANES_FLOAT_ROWS, n;

    for (; left; left--) {
        n = (rows + left - 1) / left;
        if (n == 1)
            float_rows(type, &in, cols, units, 1, y, ldy);
#if LANES_FLOAT_ROWS > 1
        else if (n == 2)
            float_rows(type, &in, cols, units, 2, y, ldy);
        else if (n == 3)
            float_rows(type, &in, cols, units, 3, y, ldy);
        else if (n == 4)
            float_rows(type, &in, cols, units, 4, y, ldy);
        else if (n == 5)
            float_rows(type, &in, cols, units, 5, y, ldy);
        else
            float_rows(type, &in, cols, units, 6, y, ldy);
#endif
        in.x += (size_t)n * in.ldf;
        y += (size_t)n * ldy;
        rows -= n;
    }
}

__attribute__((noinline)) static void
float_stretch(enum kern_type type, const struct float_in *in, int32_t cols,
              int units, int32_t rows, float *y, size_t ldy)
{
    if (type == KERN_F32 && units == 1)
        float_groups(KERN_F32, *in, cols, 1, rows, y, ldy);
    else if (type == KERN_F16 && units == 1)
        float_groups(KERN_F16, *in, cols, 1, rows, y, ldy);
    else if (units == 1)
        float_groups(KERN_BF16, *in, cols, 1, rows, y, ldy);
#if LANES_FLOAT_TILES == 2
    else if (type == KERN_F32)
        float_groups(KERN_F32, *in, cols, 2, rows, y, ldy);
    else if (type == KERN_F16)
        float_groups(KERN_F16, *in, cols, 2, rows, y, ldy);
    else
        float_groups(KERN_BF16, *in, cols, 2, rows, y, ldy);
#endif
}

/* A stretch as an F32 tile. */
INLINE void float_decode(enum kern_type type, const uint8_t *w, int32_t cols,
                         float *dst)
{
    for (int32_t c = 0; c < cols; c += 2) {
        vf_store(dst + c * LANES, float_col(type, w, c, 0));
        if (c + 1 < cols)
            vf_store(dst + (c + 1) * LANES, float_col(type, w, c, 1));
    }
}

/* Tiles whose sums are kept at once. */
INLINE void float_tiles(enum kern_type type, const uint8_t *w, size_t w_step,
                        int units, const struct cpu_x *x, int32_t r0,
                        int32_t rows, float *y, size_t ldy, float *scratch)
{
    const size_t s_step = (size_t)FLOAT_COLS * LANES;
    struct float_in in = {NULL, w_step, NULL, 0, x->ldf};
    enum kern_type now = type;

    for (int32_t r = 0; r < rows; r++)
        for (int u = 0; u < units; u++)
            vf_store(y + (size_t)r * ldy + u * LANES, vf_zero());
    for (int32_t c = 0; c < x->cols; c += FLOAT_COLS) {
        int32_t n = float_least(FLOAT_COLS, x->cols - c);

        in.w = w + float_at(type, c);
        in.x = x->f + (size_t)r0 * x->ldf + c;
        if (type != KERN_F32 && rows >= FLOAT_MANY) {
            for (int u = 0; u < units; u++)
                float_decode(type, in.w + (size_t)u * w_step, n,
                             scratch + (size_t)u * s_step);
            now = KERN_F32;
            in.w = (const uint8_t *)scratch;
            in.w_step = s_step * sizeof(*scratch);
        }
        float_stretch(now, &in, n, units, rows, y, ldy);
    }
}

INLINE void float_all(enum kern_type type, const uint8_t *w, int32_t tiles,
                      const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                      size_t ldy, void *scratch)
{
    const size_t bytes = pack_tile_bytes(type, x->cols);

    for (int32_t t = 0, n; t < tiles; t += n) {
        const uint8_t *tile = w + (size_t)t * bytes;

        n = rows == 1 ? 1 : float_least(tiles - t, LANES_FLOAT_TILES);
        if (rows == 1)
            float_one(type, tile, x->cols, x->f + (size_t)r0 * x->ldf,
                      y + (size_t)t * LANES);
        else
            float_tiles(type, tile, bytes, n, x, r0, rows,
                        y + (size_t)t * LANES, ldy, scratch);
    }
}

/* product of struct cpu_isa, of these three types */
static void float_product(enum kern_type type, const uint8_t *w, int32_t tiles,
                          const struct cpu_x *x, int32_t r0, int32_t rows,
                          float *y, size_t ldy, void *scratch)
{
    if (type == KERN_F32)
        float_all(KERN_F32, w, tiles, x, r0, rows, y, ldy, scratch);
    else if (type == KERN_F16)
        float_all(KERN_F16, w, tiles, x, r0, rows, y, ldy, scratch);
    else
        float_all(KERN_BF16, w, tiles, x, r0, rows, y, ldy, scratch);
}

#endif
