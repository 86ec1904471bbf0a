/*
 * kernels/cpu/body_wide.h - quantised weights and many activation rows: a
 * stretch of columns is decoded once for all of them. See isa.h.
 *
 * The sums are those of the direct product (body_int.h), bit for bit: the
 * integers are exact, whatever the order, and the float operations of a lane
 * are the same in the same order. Sums wait in y between stretches.
 */
#ifndef KERNELS_CPU_BODY_WIDE_H
#define KERNELS_CPU_BODY_WIDE_H

#include "kernels/cpu/body_decode.h"

#ifdef LANES_AVX512
#include "kernels/cpu/x86_amx.h"
#endif

/* The product takes this path from so many activation rows on: up to here the
 * direct one, which shares a decoded tile among LANES_INT_ROWS, is faster. */
#define WIDE_ROWS (LANES_INT_ROWS >= 4 ? 17 : 5)

/* Activation rows and tiles in registers at once. */
#if LANES_ROWS >= 4
#define WIDE_R 6
#define WIDE_T 2
#else
#define WIDE_R LANES_ROWS
#define WIDE_T 1
#endif

struct wide_job {
    struct cpu_wide w;
    const struct cpu_x *x;
    int32_t c0; /* first column of the stretch */
    int32_t r0; /* activation row of y[0] */
    float *y;   /* of the stretch's first tile */
    size_t ldy;
};

/* Activation rows in registers, from the block of 32 columns that is due on. */
struct wide_x {
    const int8_t *q;
    size_t ldq;
    const float *d, *ds;
    const int32_t *neg;
    size_t ldd, lds; /* of d; of neg and ds */
};

/* Adds the float part of one part of a block, which starts at `scale`. */
INLINE void wide_add(const struct wide_job *j, const struct wide_x *x,
                     size_t scale, int which, vi acc[WIDE_R][WIDE_T],
                     vf sum[WIDE_R][WIDE_T], const int R, const int T)
{
    const struct cpu_wide *w = &j->w;
    size_t scales = (size_t)(w->cols / 32 * w->parts) * PACK_ROWS;

    UNROLL
    for (int t = 0; t < T; t++, scale += scales) {
        vf s = vf_load(w->scale + scale);

        UNROLL
        for (int r = 0; r < R; r++)
            sum[r][t] = vf_fma(vf_mul(s, vf_set(x->d[(size_t)r * x->ldd])),
                               vf_of(acc[r][t]), sum[r][t]);
        if (w->min) {
            s = vf_load(w->mins + scale);
            UNROLL
            for (int r = 0; r < R; r++)
                sum[r][t] = vf_fnma(
                    s, vf_set(x->ds[(size_t)r * x->lds + which]), sum[r][t]);
        }
    }
}

/* A block of 32 columns, number b of the stretch, for R rows and T tiles. */
INLINE void wide_block(const struct wide_job *j, const struct wide_x *x,
                       int32_t b, vf sum[WIDE_R][WIDE_T], const int R,
                       const int T, const bool seven)
{
    const struct cpu_wide *w = &j->w;
    size_t tile = (size_t)w->cols * PACK_ROWS;
    const uint8_t *p = w->q + (size_t)b * 512;
    const int8_t *q = x->q;
    vi acc[WIDE_R][WIDE_T];

    for (int h = 0; h < w->parts; h++) {
        const int which = w->parts == 2 ? h : 2;
        const int8_t *end = q + 32 / w->parts;

        UNROLL
        for (int r = 0; r < R; r++) {
            vi off = w->shift < 0
                         ? vi_zero()
                         : vi_shl(vi_set(x->neg[(size_t)r * x->lds + which]),
                                  w->shift);

            UNROLL
            for (int t = 0; t < T; t++)
                acc[r][t] = off;
        }
        for (; q < end; q += 4, p += 64) {
            UNROLL
            for (int t = 0; t < T; t++) {
                vb v = vb_load(p + (size_t)t * tile);

                UNROLL
                for (int r = 0; r < R; r++)
                    acc[r][t] =
                        seven ? vi_dot7(acc[r][t], v, q + (size_t)r * x->ldq)
                              : vi_dot8(acc[r][t], v, q + (size_t)r * x->ldq);
            }
        }
        wide_add(j, x, (size_t)(b * w->parts + h) * PACK_ROWS, which, acc, sum,
                 R, T);
    }
}

/* A stretch of R rows from row r on. */
INLINE void wide_some(const struct wide_job *j, int32_t r, const int R,
                      const int T, const bool seven)
{
    size_t row = (size_t)(j->r0 + r), b0 = (size_t)j->c0 / 32;
    size_t ldd = j->x->ldq / 32, lds = ldd * CPU_SUMS;
    struct wide_x x = {.q = j->x->q + row * j->x->ldq + j->c0,
                       .ldq = j->x->ldq,
                       .d = j->x->d + row * ldd + b0,
                       .ds = j->x->ds + row * lds + b0 * CPU_SUMS,
                       .neg = j->x->neg + row * lds + b0 * CPU_SUMS,
                       .ldd = ldd,
                       .lds = lds};
    float *y = j->y + (size_t)r * j->ldy;
    vf sum[WIDE_R][WIDE_T];

    UNROLL
    for (int k = 0; k < R; k++)
        UNROLL
    for (int t = 0; t < T; t++)
        sum[k][t] =
            j->c0 ? vf_load(y + (size_t)k * j->ldy + (size_t)t * PACK_ROWS)
                  : vf_zero();
    for (int32_t b = 0; b < j->w.cols / 32; b++) {
        wide_block(j, &x, b, sum, R, T, seven);
        x.q += 32;
        x.d++;
        x.ds += CPU_SUMS;
        x.neg += CPU_SUMS;
    }
    UNROLL
    for (int k = 0; k < R; k++)
        UNROLL
    for (int t = 0; t < T; t++)
        vf_store(y + (size_t)k * j->ldy + (size_t)t * PACK_ROWS, sum[k][t]);
}

/* A stretch of n <= WIDE_R rows. */
INLINE void wide_few(const struct wide_job *j, int32_t r, int32_t n,
                     const int T, const bool seven)
{
    switch (n) {
#if WIDE_R >= 6
    case 6:
        wide_some(j, r, 6, T, seven);
        break;
    case 5:
        wide_some(j, r, 5, T, seven);
        break;
    case 4:
        wide_some(j, r, 4, T, seven);
        break;
    case 3:
        wide_some(j, r, 3, T, seven);
        break;
#endif
#if WIDE_R >= 2
    case 2:
        wide_some(j, r, 2, T, seven);
        break;
#endif
    default:
        wide_some(j, r, 1, T, seven);
    }
}

/* In groups of nearly the same size: 13 rows are 5, 4 and 4. */
INLINE void wide_all(const struct wide_job *j, int32_t rows, const int T,
                     const bool seven)
{
    int32_t groups = (rows + WIDE_R - 1) / WIDE_R;

    for (int32_t r = 0; r < rows; groups--) {
        int32_t n = (rows - r + groups - 1) / groups;

        wide_few(j, r, n, T, seven);
        r += n;
    }
}

static void wide_one(const struct wide_job *j, int32_t rows)
{
    if (j->w.seven)
        wide_all(j, rows, 1, true);
    else
        wide_all(j, rows, 1, false);
}

#if WIDE_T == 2
static void wide_two(const struct wide_job *j, int32_t rows)
{
    wide_all(j, rows, 2, true); /* here dot7 is dot8 */
}
#endif

/* A stretch of all tiles. */
static void wide_stretch(struct wide_job *j, enum kern_type type,
                         const uint8_t *w, size_t tile_bytes, int32_t tiles,
                         int32_t rows)
{
    float *y = j->y;

    for (int32_t t = 0; t < tiles; t += j->w.tiles) {
        j->w.tiles = tiles - t < WIDE_T ? tiles - t : WIDE_T;
        wide_decode(type, &j->w, w + (size_t)t * tile_bytes, tile_bytes, j->c0);
        j->y = y + (size_t)t * PACK_ROWS;
#if WIDE_T == 2
        if (j->w.tiles == 2)
            wide_two(j, rows);
        else
#endif
            wide_one(j, rows);
    }
    j->y = y;
}

/* struct cpu_isa.product for quantised types; worth it from WIDE_ROWS rows
 * on. */
static void wide_product(enum kern_type type, const uint8_t *w, int32_t tiles,
                         const struct cpu_x *x, int32_t r0, int32_t rows,
                         float *y, size_t ldy, void *scratch)
{
    size_t tile_bytes = pack_tile_bytes(type, x->cols);
    struct wide_job j = {.x = x, .r0 = r0, .y = y, .ldy = ldy};

#ifdef LANES_AVX512
    if (cpu_amx_ready()) {
        cpu_amx_product(type, w, tiles, x, r0, rows, y, ldy, scratch);
        return;
    }
#endif
    _Static_assert(WIDE_BYTES <= CPU_SCRATCH, "scratch");
    wide_form(type, &j.w);
    wide_place(&j.w, scratch);
    for (; j.c0 < x->cols; j.c0 += CPU_WIDE_COLS) {
        int32_t left = x->cols - j.c0;

        j.w.cols = left < CPU_WIDE_COLS ? left : CPU_WIDE_COLS;
        wide_stretch(&j, type, w, tile_bytes, tiles, rows);
    }
}

#endif
