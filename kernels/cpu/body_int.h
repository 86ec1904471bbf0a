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

/* Some activation rows, from the block of 32 columns that is due on. */
struct int_rows {
    const int8_t *q;
    size_t ldq;
    const float *d, *ds;
    const int32_t *neg;
    size_t ldd, lds; /* of d; of neg and ds */
};

/* y[r] += 32 columns, or 16 of them: quads v to v + n - 1. */
INLINE void int_part(enum kern_type t, const uint8_t *q, int v, int n, vf scale,
                     vf min, const struct int_rows *x, int rows, vf *y)
{
    const int which = n == 8 ? 2 : v / 4;
    vi acc[8];

    UNROLL
    for (int r = 0; r < rows; r++)
        acc[r] = quad_shift(t) < 0
                     ? vi_zero()
                     : vi_shl(vi_set(x->neg[(size_t)r * x->lds + which]),
                              quad_shift(t));
    /* quads v and v + 4 share their bytes */
    UNROLL
    for (int i = 0; i < n; i++) {
        int at = n == 8 ? i / 2 + i % 2 * 4 : v + i;
        vb w = quad(t, q, at);

        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = quad_dot(t, acc[r], w, x->q + (size_t)r * x->ldq + 4 * at);
    }
    UNROLL
    for (int r = 0; r < rows; r++) {
        vf s = vf_mul(scale, vf_set(x->d[(size_t)r * x->ldd]));

        y[r] = vf_fma(s, vf_of(acc[r]), y[r]);
        if (quad_has_min(t))
            y[r] =
                vf_fnma(min, vf_set(x->ds[(size_t)r * x->lds + which]), y[r]);
    }
}

INLINE void int_group(enum kern_type t, const uint8_t *q,
                      const struct quad_head *h, int g,
                      const struct int_rows *x, int rows, vf *y)
{
    const int parts = quad_parts(t);

    UNROLL
    for (int p = 0; p < parts; p++)
        int_part(t, q, 4 * p, 8 / parts, quad_scale(t, h, g, p),
                 quad_has_min(t) ? quad_min(t, h, g, p) : vf_zero(), x, rows,
                 y);
}

/* One tile and `rows` activation rows, both constants but for the bytes. */
INLINE void int_tile(enum kern_type t, const uint8_t *w, int32_t cols,
                     struct int_rows x, int rows, float *y, size_t ldy)
{
    const uint8_t *const end =
        w + pack_record_bytes(t) * (size_t)(cols / 32 / pack_groups(t));
    vf sum[8];

    UNROLL
    for (int r = 0; r < rows; r++)
        sum[r] = vf_zero();
    for (; w < end; w += pack_record_bytes(t)) {
        const uint8_t *q = w + pack_head_bytes(t);
        struct quad_head h;

        quad_open(t, w, &h);
        for (int g = 0; g < pack_groups(t); g++) {
            int_group(t, q, &h, g, &x, rows, sum);
            q += pack_group_bytes(t);
            x.q += 32;
            x.d++;
            x.ds += CPU_SUMS;
            x.neg += CPU_SUMS;
        }
    }
    UNROLL
    for (int r = 0; r < rows; r++)
        vf_store(y + (size_t)r * ldy, sum[r]);
}

/* All tiles and rows of one format. */
INLINE void int_type(enum kern_type t, const uint8_t *w, int32_t tiles,
                     const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                     size_t ldy)
{
    const size_t tile = pack_tile_bytes(t, x->cols);
    const size_t ldd = x->ldq / 32, lds = ldd * CPU_SUMS;

    for (int32_t i = 0; i < tiles; i++, w += tile, y += PACK_ROWS) {
        int32_t r = 0;

        while (r < rows) {
            size_t at = (size_t)(r0 + r);
            struct int_rows in = {x->q + at * x->ldq,
                                  x->ldq,
                                  x->d + at * ldd,
                                  x->ds + at * lds,
                                  x->neg + at * lds,
                                  ldd,
                                  lds};
            float *out = y + (size_t)r * ldy;
            int32_t left = rows - r;

            if (LANES_ROWS >= 4 && left >= 4) {
                int_tile(t, w, x->cols, in, 4, out, ldy);
                r += 4;
            } else if (LANES_ROWS >= 2 && left >= 2) {
                int_tile(t, w, x->cols, in, 2, out, ldy);
                r += 2;
            } else {
                int_tile(t, w, x->cols, in, 1, out, ldy);
                r++;
            }
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
