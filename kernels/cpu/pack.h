/*
 * kernels/cpu/pack.h - the interleaved layout of weight matrices.
 *
 * Sixteen weight rows are one tile, tiles follow each other; a matrix whose
 * rows are no multiple of 16 ends with zero rows. Inside a tile the blocks of
 * the format follow each other along the columns, each a record that holds
 * the blocks of all sixteen rows, field by field: so products with one
 * activation row or many read the same bytes from front to back, one row in
 * each lane. But for the zero rows a packed matrix has as many bytes as in
 * the file. Every instruction set reads the same layout.
 *
 * Notation: [16] is one number per row of the tile. "Quad v" are columns 4v
 * to 4v + 3 of 32, four bytes per row, so 64 bytes: [16][4].
 *
 *   F32, F16     per column: [16]
 *   BF16         per two columns: [16][2]; an odd last column is paired with
 *                zeros
 *   Q8_0         f16 d[16]; quads 0-7 of q + 128
 *   Q4_0         f16 d[16]; four times 64 bytes: low nibbles quad v, high
 *                nibbles quad v + 4, v from 0 to 3 ("nibbles")
 *   Q4_1         f16 d[16], m[16]; nibbles
 *   Q5_0, Q5_1   as Q4_0, Q4_1; then 64 bytes whose bit v is the fifth bit
 *                of quad v ("fifth bits")
 *   IQ4_NL       f16 d[16]; nibbles (indexes into the format's table)
 *   MXFP4        u8 e[16]; nibbles (indexes)
 *   Q4_K         f16 d[16], m[16]; u8 s[12][16] (the file's twelve bytes);
 *                eight times nibbles
 *   Q5_K         the same header; eight times nibbles, fifth bits
 *   Q6_K         f16 d[16]; i8 s[16][16]; eight times nibbles, then 2 times
 *                64 bytes: bits 2v and 2v + 1 of the first are the fifth and
 *                sixth bit of quad v, of the second those of quad v + 4
 *   Q2_K         f16 d[16], m[16]; u8 s[16][16]; eight times 2 times 64
 *                bytes: bits 2v and 2v + 1 of the first are quad v, of the
 *                second quad v + 4
 *   Q3_K         f16 d[16]; u8 s[12][16]; eight times as Q2_K, then 64 bytes
 *                whose bit v is the third bit of quad v
 *   IQ4_XS       f16 d[16]; u8 h[2][16] (low byte, high byte), l[4][16]; eight
 *                times nibbles (indexes)
 *
 * Threads: pure functions.
 */
#ifndef KERNELS_CPU_PACK_H
#define KERNELS_CPU_PACK_H

#include "kernels/cpu/quant.h"

#define PACK_ROWS 16

/* Part of the name of a cache file: another layout, another number. */
#define PACK_LAYOUT "rows16-1"

static inline bool pack_float(enum kern_type t)
{
    return t == KERN_F32 || t == KERN_F16 || t == KERN_BF16;
}

/* The record of a quantised format: groups of 32 columns, bytes of the header
 * before them, bytes of each. */
static inline int32_t pack_groups(enum kern_type t)
{
    return t == KERN_Q2_K || t == KERN_Q3_K || t == KERN_Q4_K ||
                   t == KERN_Q5_K || t == KERN_Q6_K || t == KERN_IQ4_XS
               ? 8
               : 1;
}

static inline size_t pack_head_bytes(enum kern_type t)
{
    switch (t) {
    case KERN_MXFP4:
        return 16;
    case KERN_Q4_1:
    case KERN_Q5_1:
        return 64;
    case KERN_IQ4_XS:
        return 128;
    case KERN_Q3_K:
        return 224;
    case KERN_Q4_K:
    case KERN_Q5_K:
        return 256;
    case KERN_Q6_K:
        return 288;
    case KERN_Q2_K:
        return 320;
    default:
        return 32;
    }
}

static inline size_t pack_group_bytes(enum kern_type t)
{
    switch (t) {
    case KERN_Q8_0:
        return 512;
    case KERN_Q6_K:
        return 384;
    case KERN_Q5_0:
    case KERN_Q5_1:
    case KERN_Q5_K:
        return 320;
    case KERN_Q3_K:
        return 192;
    case KERN_Q2_K:
        return 128;
    default:
        return 256;
    }
}

static inline size_t pack_record_bytes(enum kern_type t)
{
    return pack_head_bytes(t) + (size_t)pack_groups(t) * pack_group_bytes(t);
}

/* Bytes of one tile of so many columns, and of a whole matrix. cols is a
 * multiple of the format's block. */
size_t pack_tile_bytes(enum kern_type t, int32_t cols);
size_t pack_bytes(enum kern_type t, int32_t rows, int32_t cols);

/* One tile from `rows` (1 to 16) rows of the file's format, row_bytes apart;
 * the rest of the tile becomes zero rows. */
void pack_tile(enum kern_type t, uint8_t *dst, const uint8_t *src,
               size_t row_bytes, int32_t rows, int32_t cols);

/* Row `lane` of a tile, as kern_dequant would decode it, bit for bit. */
void pack_row(enum kern_type t, const uint8_t *tile, int32_t cols, int32_t lane,
              float *dst);

#endif
