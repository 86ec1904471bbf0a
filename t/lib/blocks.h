/* t/lib/blocks.h - random blocks of the quantised formats. */
#ifndef T_BLOCKS_H
#define T_BLOCKS_H

#include "kernels/cpu/pack.h"

/* Offsets of the f16 scale (MXFP4: its byte) and minimum; -1: none. */
struct block_type {
    enum kern_type type;
    const char *name;
    int d, m;
};

static const struct block_type block_types[] = {
    {KERN_Q8_0, "Q8_0", 0, -1},     {KERN_Q4_0, "Q4_0", 0, -1},
    {KERN_Q4_1, "Q4_1", 0, 2},      {KERN_Q5_0, "Q5_0", 0, -1},
    {KERN_Q5_1, "Q5_1", 0, 2},      {KERN_Q2_K, "Q2_K", 80, 82},
    {KERN_Q3_K, "Q3_K", 108, -1},   {KERN_Q4_K, "Q4_K", 0, 2},
    {KERN_Q5_K, "Q5_K", 0, 2},      {KERN_Q6_K, "Q6_K", 208, -1},
    {KERN_IQ4_NL, "IQ4_NL", 0, -1}, {KERN_IQ4_XS, "IQ4_XS", 0, -1},
    {KERN_MXFP4, "MXFP4", 0, -1},
};
#define BLOCK_TYPES (sizeof(block_types) / sizeof(*block_types))

static uint32_t block_seed = 1;

static inline uint32_t block_random(void)
{
    block_seed = block_seed * 1664525 + 1013904223;
    return block_seed >> 8 | block_seed << 24;
}

/* About normal, sign and size mixed. */
static inline float block_random_float(void)
{
    float f = 0;

    for (int i = 0; i < 4; i++)
        f += (float)(block_random() & 0xffff) / 65536 - 0.5f;
    return f;
}

/* n blocks. Wild: any bytes, with zeros, infinities and NaNs among the
 * scales; else scales and minimums are about 0.01 to 0.1. */
static inline void block_fill(const struct block_type *b, uint8_t *p, size_t n,
                              bool wild)
{
    static const uint16_t odd[] = {0x0000, 0x8000, 0x7c00, 0xfc00,
                                   0x7e01, 0x0001, 0x83ff, 0x7bff};
    int32_t elems, bytes;

    if (!kern_type_block(b->type, &elems, &bytes))
        return;
    for (; n; n--, p += bytes) {
        uint16_t d = (uint16_t)(0x2000 + block_random() % 0x0c00);
        uint16_t m = (uint16_t)(0x2000 + block_random() % 0x0c00);

        for (int32_t i = 0; i < bytes; i++)
            p[i] = (uint8_t)block_random();
        if (wild && block_random() % 4)
            continue;
        d |= block_random() & 0x8000;
        m |= block_random() & 0x8000;
        if (wild) {
            d = odd[block_random() % 8];
            m = odd[block_random() % 8];
        }
        if (b->type == KERN_MXFP4) {
            p[0] = (uint8_t)(wild ? block_random() % 4 * 85
                                  : 118 + block_random() % 8);
            continue;
        }
        memcpy(p + b->d, &d, 2);
        if (b->m >= 0)
            memcpy(p + b->m, &m, 2);
    }
}

/* The same bits, or both no numbers. */
static inline bool same_floats(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(a + i, b + i, sizeof(*a)) &&
            !(__builtin_isnan(a[i]) && __builtin_isnan(b[i])))
            return false;
    return true;
}

#endif
