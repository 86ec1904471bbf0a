/*
 * kernels/cpu/body_quads.h - the numbers of quantised tiles (pack.h).
 *
 * A weight is scale * (number - offset) - min. Numbers come as quads, one
 * vector of 4 columns by 16 rows; scales and minimums come as a float per
 * row, for 32 columns (one part) or 16 (two parts). `t` is a constant where
 * these are used, so nothing of the choice is left in the code.
 *
 *   struct quad_head h;
 *   for each record:
 *       quad_open(t, rec, &h);
 *       for g from 0 to pack_groups(t) - 1:
 *           q = rec + pack_head_bytes(t) + g * pack_group_bytes(t)
 *           quad(t, q, v)           quad v, 0 to 7: bytes
 *           quad_scale(t, &h, g, p) as kern_dequant has it; p is 0 or 1
 *           quad_min(t, &h, g, p)   only if quad_has_min(t)
 */
#ifndef KERNELS_CPU_BODY_QUADS_H
#define KERNELS_CPU_BODY_QUADS_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

INLINE int quad_parts(enum kern_type t)
{
    return t == KERN_Q6_K || t == KERN_Q2_K || t == KERN_Q3_K ? 2 : 1;
}

INLINE bool quad_has_min(enum kern_type t)
{
    return t == KERN_Q4_1 || t == KERN_Q5_1 || t == KERN_Q4_K ||
           t == KERN_Q5_K || t == KERN_Q2_K;
}

/* The offset is 1 << shift; -1: there is none. */
INLINE int quad_shift(enum kern_type t)
{
    switch (t) {
    case KERN_Q8_0:
    case KERN_IQ4_NL:
    case KERN_IQ4_XS:
        return 7;
    case KERN_Q6_K:
        return 5;
    case KERN_Q5_0:
    case KERN_MXFP4:
        return 4;
    case KERN_Q4_0:
        return 3;
    case KERN_Q3_K:
        return 2;
    default:
        return -1;
    }
}

/* The largest number. */
INLINE int quad_most(enum kern_type t)
{
    switch (t) {
    case KERN_Q8_0:
    case KERN_IQ4_NL:
    case KERN_IQ4_XS:
        return 255;
    case KERN_Q6_K:
        return 63;
    case KERN_Q5_0:
    case KERN_Q5_1:
    case KERN_Q5_K:
    case KERN_MXFP4:
        return 31;
    case KERN_Q3_K:
        return 7;
    case KERN_Q2_K:
        return 3;
    default:
        return 15;
    }
}

INLINE bool quad_seven(enum kern_type t)
{
    return quad_most(t) <= 127;
}

/* quant_iq4_values + 128 and quant_mxfp4_values + 16 */
static const uint8_t quad_iq4[16] __attribute__((unused)) = {
    1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241};
static const uint8_t quad_mxfp4[16] __attribute__((unused)) = {
    16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

/* Bits from to from + n - 1 of each byte, moved to `to` and up. */
INLINE vb quad_bits(vb v, int from, int n, int to)
{
    const vb mask = vb_set((uint8_t)(((1 << n) - 1) << to));

    if (from == to)
        return vb_and(v, mask);
    return from > to ? vb_shr_and(v, from - to, mask)
                     : vb_shl_and(v, to - from, mask);
}

INLINE vb quad_nibble(const uint8_t *q, int v)
{
    return quad_bits(vb_load(q + 64 * (v & 3)), v < 4 ? 0 : 4, 4, 0);
}

INLINE vb quad(enum kern_type t, const uint8_t *q, int v)
{
    vb w;

    if (t == KERN_Q8_0)
        return vb_load(q + 64 * v);
    if (t == KERN_Q2_K || t == KERN_Q3_K) {
        w = quad_bits(vb_load(q + 64 * (v / 4)), v % 4 * 2, 2, 0);
        return t == KERN_Q2_K ? w
                              : vb_or(w, quad_bits(vb_load(q + 128), v, 1, 2));
    }
    w = quad_nibble(q, v);
    switch (t) {
    case KERN_Q5_0:
    case KERN_Q5_1:
    case KERN_Q5_K:
        return vb_or(w, quad_bits(vb_load(q + 256), v, 1, 4));
    case KERN_Q6_K:
        return vb_or(
            w, quad_bits(vb_load(q + 256 + 64 * (v / 4)), v % 4 * 2, 2, 4));
    case KERN_IQ4_NL:
    case KERN_IQ4_XS:
        return vb_look(vb_bcast16(quad_iq4), w);
    case KERN_MXFP4:
        return vb_look(vb_bcast16(quad_mxfp4), w);
    default:
        return w;
    }
}

/* Header of a record. */
struct quad_head {
    vf d, m;
    const uint8_t *s;   /* scales in the record, [.][16] */
    uint8_t a[16 * 16]; /* scales and minimums as bytes, [.][16] */
    uint8_t b[16 * 16];
};

/* Q4_K, Q5_K: a scales, b minimums, [8][16] each. */
INLINE void quad_open_k(const uint8_t *s, struct quad_head *h)
{
    vb x = vb_load(s), y = vb_load(s + 64), z = vb_load(s + 128);

    vb_store(h->a, quad_bits(x, 0, 6, 0));
    vb_store(h->b, quad_bits(y, 0, 6, 0));
    vb_store(h->a + 64, vb_or(quad_bits(z, 0, 4, 0), quad_bits(x, 6, 2, 4)));
    vb_store(h->b + 64, vb_or(quad_bits(z, 4, 4, 0), quad_bits(y, 6, 2, 4)));
}

/* Q3_K: a scales + 32, [16][16]. */
INLINE void quad_open_q3(const uint8_t *s, struct quad_head *h)
{
    vb x = vb_load(s), y = vb_load(s + 64), z = vb_load(s + 128);

    vb_store(h->a, vb_or(quad_bits(x, 0, 4, 0), quad_bits(z, 0, 2, 4)));
    vb_store(h->a + 64, vb_or(quad_bits(y, 0, 4, 0), quad_bits(z, 2, 2, 4)));
    vb_store(h->a + 128, vb_or(quad_bits(x, 4, 4, 0), quad_bits(z, 4, 2, 4)));
    vb_store(h->a + 192, vb_or(quad_bits(y, 4, 4, 0), quad_bits(z, 6, 2, 4)));
}

/* IQ4_XS: b the low nibbles, even groups [4][16], then odd ones; a the upper
 * bits times 16: [g % 4][g / 4 of 4][16], of which two are meant. */
INLINE void quad_open_iq4(const uint8_t *s, struct quad_head *h)
{
    vb x = vb_load(s), y = vb_load(s + 32);

    vb_store(h->b, quad_bits(y, 0, 4, 0));
    vb_store(h->b + 64, quad_bits(y, 4, 4, 0));
    vb_store(h->a, quad_bits(x, 0, 2, 4));
    vb_store(h->a + 64, quad_bits(x, 2, 2, 4));
    vb_store(h->a + 128, quad_bits(x, 4, 2, 4));
    vb_store(h->a + 192, quad_bits(x, 6, 2, 4));
}

/* 2^(e - 128), subnormals included, as two factors */
INLINE vf quad_e8m0(const uint8_t *e)
{
    vf x = vf_sub(vf_u8(e), vf_set(128)), y = vf_max(x, vf_set(-126));

    return vf_mul(vf_pow2(y), vf_pow2(vf_sub(x, y)));
}

INLINE void quad_open(enum kern_type t, const uint8_t *rec, struct quad_head *h)
{
    h->d = t == KERN_MXFP4 ? quad_e8m0(rec) : vf_f16(rec);
    h->m = quad_has_min(t) ? vf_f16(rec + 32) : vf_zero();
    h->s = rec + (quad_has_min(t) ? 64 : 32);
    switch (t) {
    case KERN_Q4_K:
    case KERN_Q5_K:
        quad_open_k(h->s, h);
        return;
    case KERN_Q3_K:
        quad_open_q3(h->s, h);
        return;
    case KERN_IQ4_XS:
        quad_open_iq4(h->s, h);
        return;
    case KERN_Q2_K:
        for (int i = 0; i < 256; i += 64) {
            vb s = vb_load(h->s + i);

            vb_store(h->a + i, quad_bits(s, 0, 4, 0));
            vb_store(h->b + i, quad_bits(s, 4, 4, 0));
        }
        return;
    default:
        return;
    }
}

INLINE vf quad_scale(enum kern_type t, const struct quad_head *h, int g, int p)
{
    switch (t) {
    case KERN_Q4_K:
    case KERN_Q5_K:
        return vf_mul(h->d, vf_u8(h->a + 16 * g));
    case KERN_Q2_K:
        return vf_mul(h->d, vf_u8(h->a + 32 * g + 16 * p));
    case KERN_Q3_K:
        return vf_mul(h->d, vf_sub(vf_u8(h->a + 32 * g + 16 * p), vf_set(32)));
    case KERN_Q6_K:
        return vf_mul(h->d, vf_i8(h->s + 32 * g + 16 * p));
    case KERN_IQ4_XS: {
        vf low = vf_u8(h->b + 64 * (g & 1) + 16 * (g / 2));
        vf top = vf_u8(h->a + 64 * (g & 3) + 16 * (g / 4));

        return vf_mul(h->d, vf_sub(vf_add(low, top), vf_set(32)));
    }
    default:
        return h->d;
    }
}

INLINE vf quad_min(enum kern_type t, const struct quad_head *h, int g, int p)
{
    switch (t) {
    case KERN_Q4_K:
    case KERN_Q5_K:
        return vf_mul(h->m, vf_u8(h->b + 16 * g));
    case KERN_Q2_K:
        return vf_mul(h->m, vf_u8(h->b + 32 * g + 16 * p));
    default: /* Q4_1, Q5_1 */
        return vf_sub(vf_zero(), h->m);
    }
}

#endif
