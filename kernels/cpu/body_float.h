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
/* Blocks of one row that are under way at once. */
#define FLOAT_UNITS 4
/* How far ahead one row fetches weights, in bytes. */
#define FLOAT_AHEAD 4096
/* Up to here rows go without the scratch. */
#define FLOAT_FEW (2 * LANES_FLOAT_ROWS)
/* What goes through the scratch at once: columns, rows, tiles. */
#define FLOAT_COLS 128
#define FLOAT_PASS 96
#define FLOAT_TILES 8
#define FLOAT_LDX (FLOAT_COLS + LANES)

struct float_scratch {
    float w[LANES_FLOAT_TILES * FLOAT_COLS * LANES]; /* f32 tiles */
    float x[FLOAT_PASS * FLOAT_LDX];
    float y[FLOAT_PASS][FLOAT_TILES * LANES];
};

_Static_assert(sizeof(struct float_scratch) <= CPU_SCRATCH, "one fits");

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
    const float *x = in->x + c + odd, *x3 = x + 3 * in->ldf,
                *x6 = x3 + 3 * in->ldf;
    vf v[FLOAT_UNITS];

    /* Three pointers and a stride: compilers would keep eight pointers. */
    if (rows > 6)
        __asm__("" : "+r"(x), "+r"(x3), "+r"(x6));
    else if (rows > 3)
        __asm__("" : "+r"(x), "+r"(x3));

    UNROLL
    for (int u = 0; u < units; u++) {
        const uint8_t *w = in->w + (size_t)u * in->w_step;

        v[u] = float_col(type, w, c, odd);
        if (type == KERN_F32 || !odd)
            vb_fetch(w + float_at(type, c + odd) + FLOAT_AHEAD);
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        const float *row = (r < 3   ? x
                            : r < 6 ? x3
                                    : x6) +
                           (size_t)(r % 3) * in->ldf;

        vf f = rows > 1 && units > 1 ? vf_dup(row) : vf_set(*row);

        UNROLL
        for (int u = 0; u < units; u++) {
            if (rows == 1)
                f = vf_set(row[(size_t)u * in->x_step]);
            acc[r * units + u] = vf_fma(v[u], f, acc[r * units + u]);
        }
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
        else if (n == 6)
            float_rows(type, &in, cols, units, 6, y, ldy);
#if LANES_FLOAT_ROWS > 6
        else if (n == 7)
            float_rows(type, &in, cols, units, 7, y, ldy);
        else
            float_rows(type, &in, cols, units, 8, y, ldy);
#endif
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
        vb_fetch(w + float_at(type, c) + FLOAT_AHEAD);
        vf_store(dst + c * LANES, float_col(type, w, c, 0));
        if (c + 1 < cols)
            vf_store(dst + (c + 1) * LANES, float_col(type, w, c, 1));
    }
}

/* A stretch of activations, rows close together: where they come from, rows
 * are often a power of two apart and displace each other in the cache. */
INLINE void float_copy(const float *x, size_t ldf, int32_t cols, int32_t rows,
                       float *dst)
{
    for (int32_t r = 0; r < rows; r++, x += ldf, dst += FLOAT_LDX)
        for (int32_t c = 0; c < cols; c += LANES)
            vf_store(dst + c, cols - c < LANES ? vf_loadn(x + c, cols - c)
                                               : vf_load(x + c));
}

/* Up to FLOAT_TILES tiles and FLOAT_PASS rows, by way of the scratch. */
INLINE void float_pass(enum kern_type type, const uint8_t *w, size_t w_step,
                       int32_t tiles, const float *x, size_t ldf, int32_t cols,
                       int32_t rows, float *y, size_t ldy,
                       struct float_scratch *s)
{
    const size_t step = (size_t)FLOAT_COLS * LANES;

    memset(s->y, 0, (size_t)rows * sizeof(s->y[0]));
    for (int32_t c = 0; c < cols; c += FLOAT_COLS) {
        int32_t n = float_least(FLOAT_COLS, cols - c);
        struct float_in in = {NULL, w_step, s->x, 0, FLOAT_LDX};

        float_copy(x + c, ldf, n, rows, s->x);
        for (int32_t t = 0, units; t < tiles; t += units) {
            units = float_least(tiles - t, LANES_FLOAT_TILES);
            in.w = w + (size_t)t * w_step + float_at(type, c);
            if (type != KERN_F32) {
                for (int u = 0; u < units; u++)
                    float_decode(type, in.w + (size_t)u * w_step, n,
                                 s->w + (size_t)u * step);
                in.w = (const uint8_t *)s->w;
                in.w_step = step * sizeof(*s->w);
            }
            float_stretch(KERN_F32, &in, n, units, rows, &s->y[0][t * LANES],
                          FLOAT_TILES * LANES);
        }
    }
    for (int32_t r = 0; r < rows; r++)
        memcpy(y + (size_t)r * ldy, s->y[r],
               (size_t)tiles * LANES * sizeof(*y));
}

/* So few rows that converting weights each time is no matter. */
INLINE void float_few(enum kern_type type, const uint8_t *w, size_t w_step,
                      int32_t tiles, const float *x, size_t ldf, int32_t cols,
                      int32_t rows, float *y, size_t ldy)
{
    struct float_in in = {w, w_step, x, 0, ldf};
    const int32_t most = rows <= LANES_FLOAT_ROWS ? cols : FLOAT_COLS;

    for (int32_t r = 0; r < rows; r++)
        for (int32_t u = 0; u < tiles; u++)
            vf_store(y + (size_t)r * ldy + u * LANES, vf_zero());
    for (int32_t c = 0; c < cols; c += most, in.x += most) {
        in.w = w + float_at(type, c);
        float_stretch(type, &in, float_least(most, cols - c), tiles, rows, y,
                      ldy);
    }
}

INLINE void float_all(enum kern_type type, const uint8_t *w, int32_t tiles,
                      const float *x, size_t ldf, int32_t cols, int32_t rows,
                      float *y, size_t ldy, void *scratch)
{
    const size_t bytes = pack_tile_bytes(type, cols);

    for (int32_t t = 0, n; t < tiles; t += n, w += (size_t)n * bytes) {
        float *to = y + (size_t)t * LANES;

        if (rows == 1) {
            n = 1;
            float_one(type, w, cols, x, to);
        } else if (rows <= FLOAT_FEW) {
            n = float_least(tiles - t, LANES_FLOAT_TILES);
            float_few(type, w, bytes, n, x, ldf, cols, rows, to, ldy);
        } else {
            n = float_least(tiles - t, FLOAT_TILES);
            float_pass(type, w, bytes, n, x, ldf, cols, rows, to, ldy, scratch);
        }
    }
}

/* product of struct cpu_isa, of these three types */
static void float_product(enum kern_type type, const uint8_t *w, int32_t tiles,
                          const struct cpu_x *x, int32_t r0, int32_t rows,
                          float *y, size_t ldy, void *scratch)
{
    for (int32_t n; rows > 0; rows -= n, r0 += n, y += (size_t)n * ldy) {
        const float *f = x->f + (size_t)r0 * x->ldf;

        n = float_least(rows, FLOAT_PASS);
        if (type == KERN_F32)
            float_all(KERN_F32, w, tiles, f, x->ldf, x->cols, n, y, ldy,
                      scratch);
        else if (type == KERN_F16)
            float_all(KERN_F16, w, tiles, f, x->ldf, x->cols, n, y, ldy,
                      scratch);
        else
            float_all(KERN_BF16, w, tiles, f, x->ldf, x->cols, n, y, ldy,
                      scratch);
    }
}

#endif
