/*
 * kernels/cpu/quant.h - GGUF weight blocks to f32, and f16 both ways.
 *
 * All numbers in a block are little-endian; blocks have no alignment.
 * Element i of a block, with d, m the f16 fields as f32, every product and
 * difference rounded to f32 in the order written (no fused operation):
 *
 *   Q8_0  32 elements, 34 bytes: f16 d, int8 q[32]
 *         d * q[i]
 *   Q4_0  32 elements, 18 bytes: f16 d, uint8 q[16]
 *         d * (nibble - 8); low nibbles are elements 0-15, high ones 16-31
 *   Q4_1  32 elements, 20 bytes: f16 d, f16 m, uint8 q[16]
 *         d * nibble + m, nibbles as in Q4_0
 *   Q5_0  32 elements, 22 bytes: f16 d, uint8 h[4], uint8 q[16]
 *         d * (value - 16): the nibble as in Q4_0, and 16 for bit i of h
 *   Q5_1  32 elements, 24 bytes: f16 d, f16 m, uint8 h[4], uint8 q[16]
 *         d * value + m, value as in Q5_0
 *   Q2_K  256 elements, 84 bytes: uint8 s[16], uint8 q[64], f16 d, f16 m;
 *         two halves of 128 with 32 bytes of q each, quarter c of a half is
 *         bits 2c and 2c + 1 of them:
 *         (d * (low nibble of s[i / 16])) * value - (m * (high nibble))
 *   Q3_K  256 elements, 110 bytes: uint8 h[32], uint8 q[64], uint8 s[12],
 *         f16 d; q as in Q2_K; bit i / 32 of h[i % 32] is worth 4:
 *         (d * (scale_j - 32)) * (value - 4), j = i / 16. scale_j is a nibble
 *         of s[j % 8] (low for j < 8) and above it bits 2k and 2k + 1 of
 *         s[8 + j % 4], k = j / 4
 *   Q4_K  256 elements, 144 bytes: f16 d, f16 m, uint8 s[12], uint8 q[128]
 *         eight groups g of 32; groups 2p and 2p+1 are the low and the high
 *         nibbles of q[32p..32p+31]: (d * scale_g) * nibble - (m * min_g).
 *         scale_g and min_g are 6-bit numbers in s: for g < 4 the low six
 *         bits of s[g] and s[g + 4]; for g >= 4 four bits from s[g + 4]
 *         (low: scale, high: min) under the top two bits of s[g - 4] (scale)
 *         and s[g] (min).
 *   Q5_K  256 elements, 176 bytes: as Q4_K with uint8 h[32] before q: bit g
 *         of h[i % 32] is worth 16 on top of the nibble
 *   Q6_K  256 elements, 210 bytes: uint8 l[128], uint8 h[64], int8 s[16],
 *         f16 d; two halves of 128 with 64 bytes of l and 32 of h each.
 *         Quarter c (32 elements) of a half takes the low (c < 2) or high
 *         nibbles of l[32 * (c % 2)...] and bits 2c, 2c+1 of h as 16 and 32:
 *         (d * s[i / 16]) * (value - 32)
 *   IQ4_NL 32 elements, 18 bytes: as Q4_0, but d * values[nibble]: the table
 *         quant_iq4_values
 *   IQ4_XS 256 elements, 136 bytes: f16 d, uint16 h, uint8 l[4], uint8
 *         q[128]; eight groups g of 32 with 16 bytes of q each, nibbles as in
 *         Q4_0: (d * (scale_g - 32)) * values[nibble]. scale_g is the low (g
 *         even) or high nibble of l[g / 2] and above it bits 2g and 2g + 1 of
 *         h
 *   MXFP4 32 elements, 17 bytes: uint8 e, uint8 q[16], nibbles as in Q4_0:
 *         2^(e - 128) * quant_mxfp4_values[nibble]: twice the number of four
 *         bits (E2M1) times half the scale (E8M0); e = 255 is no NaN here
 *   F32, F16, BF16: one element a block; BF16 is the upper half of an f32
 *
 * Source: the GGUF tensor encodings of the ggml project (ggml-common.h,
 * gguf-py quants), described in our own words.
 * Threads: pure functions.
 */
#ifndef KERNELS_CPU_QUANT_H
#define KERNELS_CPU_QUANT_H

#include "kernels/kernels.h"

#define QUANT_MAX_ELEMS 256 /* elements of the largest block */

/* Exact; infinities and NaNs stay what they are. Inline and free of branches
 * so that loops over it become vector code. */
static inline float quant_f16_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    uint32_t mag = (uint32_t)(h & 0x7fff) << 13, bits;
    float f;

    /* The f16 fields in f32 places are too small by the difference of the
     * biases, 2^112; multiplying is exact, subnormals included. */
    memcpy(&f, &mag, sizeof(f));
    f *= 0x1p112f;
    memcpy(&bits, &f, sizeof(bits));
    /* Exponent 31 came out as 143: 255 for infinity, and NaNs quiet. */
    bits |= mag >= 0x0f800000 ? 0x7f800000 : 0;
    bits |= mag > 0x0f800000 ? 0x00400000 : 0;
    bits |= sign;
    memcpy(&f, &bits, sizeof(f));
    return f;
}
/* Round to nearest, ties to even; too large becomes infinity. */
uint16_t quant_f32_f16(float f);

/* Scales and minimums of the eight groups of a K block, from its 12 bytes. */
void quant_k_scales(const uint8_t s[12], uint8_t scale[8], uint8_t min[8]);

/* The sixteen scales of a Q3_K block from its 12 bytes, and the eight of an
 * IQ4_XS block from its fields; 32 is taken off: -32 to 31. */
void quant_q3_scales(const uint8_t s[12], int8_t scale[16]);
void quant_iq4_scales(uint16_t h, const uint8_t l[4], int8_t scale[8]);

/* What a nibble stands for in IQ4_NL and IQ4_XS; in MXFP4, doubled. */
extern const int8_t quant_iq4_values[16], quant_mxfp4_values[16];

/* 2^(e - 128), the factor of an MXFP4 block; subnormal for e < 2. */
static inline float quant_e8m0_half(uint8_t e)
{
    uint32_t bits = e < 2 ? (uint32_t)0x00200000 << e : (uint32_t)(e - 1) << 23;
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* Bytes of n elements; n is a multiple of the block. */
size_t quant_bytes(enum kern_type t, size_t n);

#endif
