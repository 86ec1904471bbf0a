/*
 * kernels/cpu/body_int.h - quantised weights and few activation rows: rounding
 * activations, and the product that reads the packed bytes. See isa.h.
 */
#ifndef KERNELS_CPU_BODY_INT_H
#define KERNELS_CPU_BODY_INT_H

#include "kernels/cpu/body_quads.h"

/* 32 columns; sums are whole numbers, so their order says nothing. */
INLINE void int_round32(vf a, vf b, int8_t *q, float *d, int32_t *neg,
                        float *ds)
{
    const vf least = vf_set(-127), most = vf_set(127);
    float top = vf_peak(a, b), s0, s1;
    vf inv = vf_set(top > 0 ? 127 / top : 0);

    /* the clamp also turns what is no number into one */
    a = vf_min(vf_max(vf_round(vf_mul(a, inv)), least), most);
    b = vf_min(vf_max(vf_round(vf_mul(b, inv)), least), most);
    vi_to_i8(q, vi_of(a));
    vi_to_i8(q + 16, vi_of(b));
    s0 = vf_sum(a);
    s1 = vf_sum(b);
    *d = top / 127;
    neg[0] = -(int32_t)s0;
    neg[1] = -(int32_t)s1;
    neg[2] = -(int32_t)(s0 + s1);
    ds[0] = *d * s0;
    ds[1] = *d * s1;
    ds[2] = *d * (s0 + s1);
}

static void int_round(const float *x, int32_t cols, size_t ldq, int8_t *q,
                      float *d, int32_t *neg, float *ds)
{
    const int32_t all = (int32_t)ldq;

    for (int32_t c = 0; c < all; c += 32) {
        int n = cols - c < 32 ? cols - c : 32;
        vf a, b;

        if (n == 32) {
            a = vf_load(x + c);
            b = vf_load(x + c + 16);
        } else {
            a = n > 0 ? vf_loadn(x + c, n < 16 ? n : 16) : vf_zero();
            b = n > 16 ? vf_loadn(x + c + 16, n - 16) : vf_zero();
        }
        int_round32(a, b, q + c, d + c / 32, neg + c / 32 * CPU_SUMS,
                    ds + c / 32 * CPU_SUMS);
    }
}

/* How far ahead weights are fetched: what one thread waits for is memory,
 * and on its own a core asks for too little of what follows. */
#define INT_AHEAD 4096

/* Activation rows; more than there are repeat the last one. */
struct int_rows {
    const int8_t *q[LANES_INT_ROWS];
    const float *d[LANES_INT_ROWS], *ds[LANES_INT_ROWS];
    const int32_t *neg[LANES_INT_ROWS];
};

INLINE void int_fetch(const uint8_t *p, size_t bytes)
{
    UNROLL
    for (size_t i = 0; i < bytes; i += 64)
        vb_fetch(p + INT_AHEAD + i);
}

/* What the sum of the products with numbers begins with. */
INLINE vi int_begin(enum kern_type t, const int32_t *neg)
{
    if (quad_shift(t) < 0)
        return vi_zero();
    if (!quad_seven(t))
        return vs_begin(*neg);
    return vi_shl(vi_set(*neg), quad_shift(t));
}

/* y[r] += columns 32 b on, or 16 of them: quads v to v + n - 1. */
INLINE void int_part(enum kern_type t, const uint8_t *q, int v, int n, vf scale,
                     vf min, const struct int_rows *x, int32_t b, int rows,
                     vf *y)
{
    const int32_t which = CPU_SUMS * b + (n == 8 ? 2 : v / 4);
    const int step = quad_seven(t) ? 32767 / 254 / quad_most(t) : 0;
    vi acc[LANES_INT_ROWS];
    vh half[LANES_INT_ROWS];

    UNROLL
    for (int r = 0; r < rows; r++) {
        acc[r] = int_begin(t, x->neg[r] + which);
        half[r] = vh_of(acc[r]);
    }
    /* quads v and v + 4 share their bytes */
    UNROLL
    for (int i = 0; i < n; i++) {
        int at = n == 8 ? i / 2 + i % 2 * 4 : v + i;
        vb w = quad(t, q, at);

        UNROLL
        for (int r = 0; r < rows; r++) {
            const int8_t *four = x->q[r] + 32 * b + 4 * at;

            if (!step) {
                acc[r] = vs_dot(acc[r], w, four);
                continue;
            }
            half[r] = vh_dot(half[r], w, four);
            if (i % step == step - 1 || i == n - 1) {
                acc[r] = vh_into(acc[r], half[r]);
                half[r] = vh_of(acc[r]);
            }
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        vf s = vf_mul(scale, vf_set(x->d[r][b]));

        y[r] = vf_fma(s, vf_of(acc[r]), y[r]);
        if (quad_has_min(t))
            y[r] = vf_fnma(min, vf_set(x->ds[r][which]), y[r]);
    }
}

INLINE void int_group(enum kern_type t, const uint8_t *q,
                      const struct quad_head *h, int g,
                      const struct int_rows *x, int32_t b, int rows, vf *y)
{
    const int parts = quad_parts(t);

    UNROLL
    for (int p = 0; p < parts; p++)
        int_part(t, q, 4 * p, 8 / parts, quad_scale(t, h, g, p),
                 quad_has_min(t) ? quad_min(t, h, g, p) : vf_zero(), x, b, rows,
                 y);
}

/* One tile and `rows` activation rows, a constant. */
INLINE void int_tile(enum kern_type t, const uint8_t *w, int32_t cols,
                     const struct int_rows *x, int rows, vf *y)
{
    const bool one = pack_groups(t) == 1;

    UNROLL
    for (int r = 0; r < rows; r++)
        y[r] = vf_zero();
    for (int32_t b = 0; b < cols / 32;) {
        struct quad_head h;

        int_fetch(w, one ? pack_record_bytes(t) : pack_head_bytes(t));
        quad_open(t, w, &h);
        w += pack_head_bytes(t);
        for (int g = 0; g < pack_groups(t); g++, b++) {
            if (!one)
                int_fetch(w, pack_group_bytes(t));
            int_group(t, w, &h, g, x, b, rows, y);
            w += pack_group_bytes(t);
        }
    }
}

/* The same for rows from `at` on, of which `there` are meant. */
INLINE void int_few(enum kern_type t, const uint8_t *w, const struct cpu_x *x,
                    int32_t at, int rows, int there, float *y, size_t ldy)
{
    const size_t blocks = x->ldq / 32;
    struct int_rows in;
    vf sum[LANES_INT_ROWS];

    UNROLL
    for (int r = 0; r < rows; r++) {
        size_t k = (size_t)(at + (r < there ? r : there - 1));

        in.q[r] = x->q + k * x->ldq;
        in.d[r] = x->d + k * blocks;
        in.ds[r] = x->ds + k * blocks * CPU_SUMS;
        in.neg[r] = x->neg + k * blocks * CPU_SUMS;
    }
    int_tile(t, w, x->cols, &in, rows, sum);
    UNROLL
    for (int r = 0; r < rows; r++)
        vf_store(y + (size_t)(r < there ? r : there - 1) * ldy, sum[r]);
}

/* All tiles and rows of one format. */
INLINE void int_type(enum kern_type t, const uint8_t *w, int32_t tiles,
                     const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                     size_t ldy)
{
    const size_t tile = pack_tile_bytes(t, x->cols);

    for (int32_t i = 0; i < tiles; i++, w += tile, y += PACK_ROWS)
        for (int32_t r = 0, n; r < rows; r += n) {
            float *out = y + (size_t)r * ldy;

            /* A row of four or eight too many costs less than to decode the
             * tile twice. */
            n = rows - r;
            if (LANES_INT_ROWS >= 8 && n >= 6) {
                n = n < 8 ? n : 8;
                int_few(t, w, x, r0 + r, LANES_INT_ROWS < 8 ? 1 : 8, n, out,
                        ldy);
            } else if (LANES_INT_ROWS >= 4 && n >= 3) {
                n = n < 4 ? n : 4;
                int_few(t, w, x, r0 + r, LANES_INT_ROWS < 4 ? 1 : 4, n, out,
                        ldy);
            } else if (LANES_INT_ROWS >= 2 && n >= 2) {
                n = 2;
                int_few(t, w, x, r0 + r, LANES_INT_ROWS < 2 ? 1 : 2, n, out,
                        ldy);
            } else {
                n = 1;
                int_few(t, w, x, r0 + r, 1, 1, out, ldy);
            }
        }
}

/* A function for each format, so that compilers look at one at a time. */
#define INT_TYPE(name, type)                                                   \
    static __attribute__((noinline)) void name(                                \
        const uint8_t *w, int32_t tiles, const struct cpu_x *x, int32_t r0,    \
        int32_t rows, float *y, size_t ldy)                                    \
    {                                                                          \
        int_type(type, w, tiles, x, r0, rows, y, ldy);                         \
    }
INT_TYPE(int_q8_0, KERN_Q8_0)
INT_TYPE(int_q4_0, KERN_Q4_0)
INT_TYPE(int_q4_1, KERN_Q4_1)
INT_TYPE(int_q5_0, KERN_Q5_0)
INT_TYPE(int_q5_1, KERN_Q5_1)
INT_TYPE(int_q2_k, KERN_Q2_K)
INT_TYPE(int_q3_k, KERN_Q3_K)
INT_TYPE(int_q4_k, KERN_Q4_K)
INT_TYPE(int_q5_k, KERN_Q5_K)
INT_TYPE(int_q6_k, KERN_Q6_K)
INT_TYPE(int_iq4_nl, KERN_IQ4_NL)
INT_TYPE(int_iq4_xs, KERN_IQ4_XS)
INT_TYPE(int_mxfp4, KERN_MXFP4)
#undef INT_TYPE

static void int_product(enum kern_type t, const uint8_t *w, int32_t tiles,
                        const struct cpu_x *x, int32_t r0, int32_t rows,
                        float *y, size_t ldy)
{
    switch (t) {
    case KERN_Q8_0:
        int_q8_0(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q4_0:
        int_q4_0(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q4_1:
        int_q4_1(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q5_0:
        int_q5_0(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q5_1:
        int_q5_1(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q2_K:
        int_q2_k(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q3_K:
        int_q3_k(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q4_K:
        int_q4_k(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q5_K:
        int_q5_k(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_Q6_K:
        int_q6_k(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_IQ4_NL:
        int_iq4_nl(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_IQ4_XS:
        int_iq4_xs(w, tiles, x, r0, rows, y, ldy);
        return;
    case KERN_MXFP4:
        int_mxfp4(w, tiles, x, r0, rows, y, ldy);
        return;
    default:
        BUG_ON("weight type without a product");
    }
}

#endif
