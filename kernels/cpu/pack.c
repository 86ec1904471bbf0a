#include "kernels/cpu/pack.h"

#define LOW4 0x0f0f0f0fu
#define LOW2 0x03030303u
#define LOW1 0x01010101u

static uint32_t word(const uint8_t *p)
{
    uint32_t w;

    memcpy(&w, p, sizeof(w));
    return w;
}

static void put(uint8_t *p, uint32_t w)
{
    memcpy(p, &w, sizeof(w));
}

size_t pack_tile_bytes(enum kern_type t, int32_t cols)
{
    size_t n = (size_t)cols;

    /* bf16 comes in pairs of columns */
    return PACK_ROWS * quant_bytes(t, t == KERN_BF16 ? n + n % 2 : n);
}

size_t pack_bytes(enum kern_type t, int32_t rows, int32_t cols)
{
    size_t tiles = ((size_t)rows + PACK_ROWS - 1) / PACK_ROWS;

    return tiles * pack_tile_bytes(t, cols);
}

/* Where a number of a float tile is, in bytes. */
static size_t float_at(enum kern_type t, int32_t lane, int32_t col)
{
    size_t l = (size_t)lane, c = (size_t)col;

    if (t == KERN_BF16)
        return 2 * (c / 2 * 2 * PACK_ROWS + 2 * l + c % 2);
    return (t == KERN_F32 ? 4 : 2) * (c * PACK_ROWS + l);
}

static void float_tile(enum kern_type t, uint8_t *dst, const uint8_t *src,
                       size_t row_bytes, int32_t rows, int32_t cols)
{
    size_t size = t == KERN_F32 ? 4 : 2;

    if (cols % 2)
        memset(dst, 0, pack_tile_bytes(t, cols));
    for (int32_t c = 0; c < cols; c++)
        for (int32_t l = 0; l < rows; l++) {
            const uint8_t *s = src + (size_t)l * row_bytes + (size_t)c * size;
            uint8_t *d = dst + float_at(t, l, c);

            /* the sizes are constants for the compiler's sake */
            if (t == KERN_F32)
                memcpy(d, s, 4);
            else
                memcpy(d, s, 2);
        }
}

/* How the fields of a block lie in the file. */
struct fields {
    int d, m; /* f16, or e; -1: none */
    int s, n; /* scales, bytes */
    int q, h; /* four (two) lower bits, the others */
};

static struct fields fields_of(enum kern_type t)
{
    switch (t) {
    case KERN_Q4_1:
        return (struct fields){0, 2, 0, 0, 4, 0};
    case KERN_Q5_0:
        return (struct fields){0, -1, 0, 0, 6, 2};
    case KERN_Q5_1:
        return (struct fields){0, 2, 0, 0, 8, 4};
    case KERN_MXFP4:
        return (struct fields){0, -1, 0, 0, 1, 0};
    case KERN_Q2_K:
        return (struct fields){80, 82, 0, 16, 16, 0};
    case KERN_Q3_K:
        return (struct fields){108, -1, 96, 12, 32, 0};
    case KERN_Q4_K:
        return (struct fields){0, 2, 4, 12, 16, 0};
    case KERN_Q5_K:
        return (struct fields){0, 2, 4, 12, 48, 16};
    case KERN_Q6_K:
        return (struct fields){208, -1, 192, 16, 0, 128};
    case KERN_IQ4_XS:
        return (struct fields){0, -1, 2, 6, 8, 0};
    default: /* Q8_0, Q4_0, IQ4_NL */
        return (struct fields){0, -1, 0, 0, 2, 0};
    }
}

/* The numbers of 32 columns as the tile has them, one a byte: group g of a
 * block with its fields q and h. */
static void codes_of(enum kern_type t, const uint8_t *q, const uint8_t *h,
                     int g, uint8_t c[32])
{
    /* K blocks but IQ4_XS: halves or quarters share bytes */
    const uint8_t *k4 = q + g / 2 * 32, *k2 = q + g / 4 * 32;
    int s4 = g % 2 * 4, s2 = g % 4 * 2;

    switch (t) {
    case KERN_Q8_0:
        for (int i = 0; i < 32; i++)
            c[i] = q[i] ^ 0x80;
        return;
    case KERN_Q4_K:
        for (int i = 0; i < 32; i++)
            c[i] = k4[i] >> s4 & 15;
        return;
    case KERN_Q5_K:
        for (int i = 0; i < 32; i++)
            c[i] = (uint8_t)((k4[i] >> s4 & 15) | (h[i] >> g & 1) << 4);
        return;
    case KERN_Q6_K:
        k4 = q + g / 4 * 64 + g % 2 * 32;
        s4 = g % 4 / 2 * 4;
        for (int i = 0; i < 32; i++)
            c[i] = (uint8_t)((k4[i] >> s4 & 15) | (h[g / 4 * 32 + i] >> s2 & 3)
                                                      << 4);
        return;
    case KERN_Q2_K:
        for (int i = 0; i < 32; i++)
            c[i] = k2[i] >> s2 & 3;
        return;
    case KERN_Q3_K:
        for (int i = 0; i < 32; i++)
            c[i] = (uint8_t)((k2[i] >> s2 & 3) | (h[i] >> g & 1) << 2);
        return;
    default:
        q += 16 * g;
        for (int i = 0; i < 16; i++) {
            c[i] = q[i] & 15;
            c[i + 16] = q[i] >> 4;
        }
    }
    if (t == KERN_Q5_0 || t == KERN_Q5_1)
        for (int i = 0; i < 32; i++)
            c[i] |= (uint8_t)((h[i / 8] >> i % 8 & 1) << 4);
}

/* Bits from `from` on of all quads into one row of 64 bytes for each four
 * (two bits) or eight (one bit); q is the lane's place in the first. */
static void put_bits(uint8_t *q, const uint8_t c[32], int from, int bits)
{
    const uint32_t mask = bits == 2 ? LOW2 : LOW1;
    const int each = 8 / bits;

    for (int v = 0; v < 8; v += each) {
        uint32_t w = 0;

        for (int i = 0; i < each; i++)
            w |= (word(c + 4 * (v + i)) >> from & mask) << bits * i;
        put(q + 64 * (v / each), w);
    }
}

static void put_group(enum kern_type t, uint8_t *q, const uint8_t c[32])
{
    switch (t) {
    case KERN_Q8_0:
        for (int v = 0; v < 8; v++)
            put(q + 64 * v, word(c + 4 * v));
        return;
    case KERN_Q2_K:
    case KERN_Q3_K:
        put_bits(q, c, 0, 2);
        if (t == KERN_Q3_K)
            put_bits(q + 128, c, 2, 1);
        return;
    default:
        for (int v = 0; v < 4; v++)
            put(q + 64 * v,
                (word(c + 4 * v) & LOW4) | (word(c + 4 * v + 16) & LOW4) << 4);
    }
    if (t == KERN_Q6_K)
        put_bits(q + 256, c, 4, 2);
    else if (t == KERN_Q5_0 || t == KERN_Q5_1 || t == KERN_Q5_K)
        put_bits(q + 256, c, 4, 1);
}

static inline __attribute__((always_inline)) void
put_block(enum kern_type t, uint8_t *rec, int32_t lane, const uint8_t *block)
{
    const struct fields f = fields_of(t);
    uint8_t *head = rec, *q = rec + pack_head_bytes(t) + 4 * lane;
    const int size = t == KERN_MXFP4 ? 1 : 2;
    uint8_t c[32];

    memcpy(head + size * lane, block + f.d, (size_t)size);
    head += size * PACK_ROWS;
    if (f.m >= 0) {
        memcpy(head + 2 * lane, block + f.m, 2);
        head += 2 * PACK_ROWS;
    }
    for (int i = 0; i < f.n; i++)
        head[PACK_ROWS * i + lane] = block[f.s + i];
    for (int g = 0; g < pack_groups(t); g++, q += pack_group_bytes(t)) {
        codes_of(t, block + f.q, block + f.h, g, c);
        put_group(t, q, c);
    }
}

void pack_tile(enum kern_type t, uint8_t *dst, const uint8_t *src,
               size_t row_bytes, int32_t rows, int32_t cols)
{
    int32_t elems, bytes;

    BUG_ON(rows < 1 || rows > PACK_ROWS || !kern_type_block(t, &elems, &bytes));
    if (rows < PACK_ROWS)
        memset(dst, 0, pack_tile_bytes(t, cols));
    if (pack_float(t)) {
        float_tile(t, dst, src, row_bytes, rows, cols);
        return;
    }
    for (int32_t b = 0; b < cols / elems; b++) {
        uint8_t *rec = dst + (size_t)b * pack_record_bytes(t);

        for (int32_t l = 0; l < rows; l++)
            put_block(t, rec, l,
                      src + (size_t)l * row_bytes + (size_t)(b * bytes));
    }
}

/* Number i of a lane in a group. */
static int code_at(enum kern_type t, const uint8_t *q, int32_t lane, int i)
{
    int v = i / 4, low;

    q += 4 * lane + i % 4;
    if (t == KERN_Q8_0)
        return q[64 * v];
    if (t == KERN_Q2_K || t == KERN_Q3_K) {
        low = q[64 * (v / 4)] >> 2 * (v % 4) & 3;
        return t == KERN_Q2_K ? low : low | (q[128] >> v & 1) << 2;
    }
    low = q[64 * (v % 4)] >> v / 4 * 4 & 15;
    if (t == KERN_Q6_K)
        return low | (q[256 + 64 * (v / 4)] >> 2 * (v % 4) & 3) << 4;
    if (t == KERN_Q5_0 || t == KERN_Q5_1 || t == KERN_Q5_K)
        return low | (q[256] >> v & 1) << 4;
    return low;
}

/* What a number stands for. */
static int value_of(enum kern_type t, int code)
{
    switch (t) {
    case KERN_Q8_0:
        return code - 128;
    case KERN_Q6_K:
        return code - 32;
    case KERN_Q5_0:
        return code - 16;
    case KERN_Q4_0:
        return code - 8;
    case KERN_Q3_K:
        return code - 4;
    case KERN_IQ4_NL:
    case KERN_IQ4_XS:
        return quant_iq4_values[code];
    case KERN_MXFP4:
        return quant_mxfp4_values[code];
    default:
        return code;
    }
}

static float f16_at(const uint8_t *p, int32_t lane)
{
    p += 2 * lane;
    return quant_f16_f32((uint16_t)(p[0] | p[1] << 8));
}

/* The scale of each 16 columns of a lane in a record, and minimums. */
static void scales_of(enum kern_type t, const uint8_t *rec, int32_t lane,
                      float scale[16], float min[16])
{
    const struct fields f = fields_of(t);
    float d = t == KERN_MXFP4 ? quant_e8m0_half(rec[lane]) : f16_at(rec, lane);
    float m = f.m < 0 ? 0 : f16_at(rec + 32, lane);
    uint8_t s[16], a[8], b[8];
    int8_t i8[16];

    for (int i = 0; i < f.n; i++)
        s[i] = rec[(f.m < 0 ? 32 : 64) + PACK_ROWS * i + lane];
    if (t == KERN_Q3_K)
        quant_q3_scales(s, i8);
    else if (t == KERN_IQ4_XS)
        quant_iq4_scales((uint16_t)(s[0] | s[1] << 8), s + 2, i8);
    else if (t == KERN_Q4_K || t == KERN_Q5_K)
        quant_k_scales(s, a, b);
    for (int i = 0; i < 2 * pack_groups(t); i++)
        switch (t) {
        case KERN_Q2_K:
            scale[i] = d * (float)(s[i] & 15);
            min[i] = m * (float)(s[i] >> 4);
            break;
        case KERN_Q3_K:
            scale[i] = d * (float)i8[i];
            break;
        case KERN_IQ4_XS:
            scale[i] = d * (float)i8[i / 2];
            break;
        case KERN_Q6_K:
            scale[i] = d * (float)(int8_t)s[i];
            break;
        case KERN_Q4_K:
        case KERN_Q5_K:
            scale[i] = d * (float)a[i / 2];
            min[i] = m * (float)b[i / 2];
            break;
        default:
            scale[i] = d;
            min[i] = -m;
        }
}

void pack_row(enum kern_type t, const uint8_t *tile, int32_t cols, int32_t lane,
              float *dst)
{
    BUG_ON(lane < 0 || lane >= PACK_ROWS);
    if (pack_float(t)) {
        for (int32_t c = 0; c < cols; c++)
            kern_dequant(t, tile + float_at(t, lane, c), dst + c, 1);
        return;
    }
    for (int32_t c = 0; c < cols; tile += pack_record_bytes(t)) {
        const bool mins = fields_of(t).m >= 0;
        float scale[16], min[16];

        scales_of(t, tile, lane, scale, min);
        for (int g = 0; g < pack_groups(t); g++, c += 32) {
            const uint8_t *q =
                tile + pack_head_bytes(t) + (size_t)g * pack_group_bytes(t);

            for (int i = 0; i < 32; i++) {
                int k = 2 * g + i / 16;
                float w = scale[k] * (float)value_of(t, code_at(t, q, lane, i));

                dst[c + i] = mins ? w - min[k] : w;
            }
        }
    }
}
