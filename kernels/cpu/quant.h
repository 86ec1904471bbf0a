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

/* Bytes of n elements; n is a multiple of the block. */
size_t quant_bytes(enum kern_type t, size_t n);

#endif
