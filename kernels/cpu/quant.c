#include "kernels/cpu/quant.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "GGUF blocks are read in place: little-endian machines only"
#endif

bool kern_type_block(enum kern_type t, int32_t *elems, int32_t *bytes)
{
    static const struct {
        enum kern_type type;
        int32_t elems, bytes;
    } blocks[] = {
        {KERN_F32, 1, 4},        {KERN_F16, 1, 2},
        {KERN_BF16, 1, 2},       {KERN_Q8_0, 32, 34},
        {KERN_Q4_0, 32, 18},     {KERN_Q4_1, 32, 20},
        {KERN_Q5_0, 32, 22},     {KERN_Q5_1, 32, 24},
        {KERN_IQ4_NL, 32, 18},   {KERN_MXFP4, 32, 17},
        {KERN_Q2_K, 256, 84},    {KERN_Q3_K, 256, 110},
        {KERN_Q4_K, 256, 144},   {KERN_Q5_K, 256, 176},
        {KERN_Q6_K, 256, 210},   {KERN_IQ4_XS, 256, 136},
    };

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        if (blocks[i].type == t) {
            *elems = blocks[i].elems;
            *bytes = blocks[i].bytes;
            return true;
        }
    *elems = *bytes = 0;
    return false;
}

size_t quant_bytes(enum kern_type t, size_t n)
{
    int32_t elems, bytes;

    BUG_ON(!kern_type_block(t, &elems, &bytes) || n % (size_t)elems);
    return n / (size_t)elems * (size_t)bytes;
}

static float f32_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

static uint32_t bits_of(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    return bits;
}

uint16_t quant_f32_f16(float f)
{
    uint32_t bits = bits_of(f), mag = bits & 0x7fffffff, out;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);

    if (mag > 0x7f800000) /* NaN, quiet */
        return (uint16_t)(sign | 0x7e00 | (mag >> 13 & 0x03ff));
    if (mag >= 0x477ff000) /* 65520 and above round to infinity */
        return sign | 0x7c00;
    if (mag < 0x38800000) {
        /* Subnormal f16: adding 0.5 leaves the value in units of 2^-24 in
         * the low bits of the sum, rounded by the addition. */
        return (uint16_t)(sign | (bits_of(f32_of(mag) + 0.5f) - 0x3f000000));
    }
    out = mag - 0x38000000 + 0x0fff + (mag >> 13 & 1);
    return (uint16_t)(sign | out >> 13);
}

void quant_k_scales(const uint8_t s[12], uint8_t scale[8], uint8_t min[8])
{
    for (int g = 0; g < 4; g++) {
        scale[g] = s[g] & 63;
        min[g] = s[g + 4] & 63;
        scale[g + 4] = (uint8_t)((s[g + 8] & 15) | (s[g] >> 6) << 4);
        min[g + 4] = (uint8_t)(s[g + 8] >> 4 | (s[g + 4] >> 6) << 4);
    }
}

void quant_q3_scales(const uint8_t s[12], int8_t scale[16])
{
    for (int j = 0; j < 16; j++) {
        int low = s[j % 8] >> (j < 8 ? 0 : 4) & 15;
        int top = s[8 + j % 4] >> 2 * (j / 4) & 3;

        scale[j] = (int8_t)((low | top << 4) - 32);
    }
}

void quant_iq4_scales(uint16_t h, const uint8_t l[4], int8_t scale[8])
{
    for (int g = 0; g < 8; g++) {
        int low = l[g / 2] >> g % 2 * 4 & 15, top = h >> 2 * g & 3;

        scale[g] = (int8_t)((low | top << 4) - 32);
    }
}

const int8_t quant_iq4_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                     1,    13,   25,  38,  53,  69,  89,  113};
const int8_t quant_mxfp4_values[16] = {0, 1,  2,  3,  4,  6,  8,  12,
                                       0, -1, -2, -3, -4, -6, -8, -12};

static float f16_at(const uint8_t *p)
{
    return quant_f16_f32((uint16_t)(p[0] | p[1] << 8));
}

static void decode_q8_0(const uint8_t *b, float *y)
{
    float d = f16_at(b);

    for (int i = 0; i < 32; i++)
        y[i] = d * (float)(int8_t)b[2 + i];
}

static void decode_q4_0(const uint8_t *b, float *y)
{
    float d = f16_at(b);

    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)((b[2 + i] & 15) - 8);
        y[i + 16] = d * (float)((b[2 + i] >> 4) - 8);
    }
}

static void decode_q4_1(const uint8_t *b, float *y)
{
    float d = f16_at(b), m = f16_at(b + 2);

    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)(b[4 + i] & 15) + m;
        y[i + 16] = d * (float)(b[4 + i] >> 4) + m;
    }
}

/* Values 0 to 31 of Q5_0 and Q5_1; h[4] and q[16] follow each other. */
static void values_5(const uint8_t *h, uint8_t v[32])
{
    const uint8_t *q = h + 4;

    for (int i = 0; i < 32; i++)
        v[i] = (uint8_t)((q[i % 16] >> i / 16 * 4 & 15) |
                         (h[i / 8] >> i % 8 & 1) << 4);
}

static void decode_q5_0(const uint8_t *b, float *y)
{
    float d = f16_at(b);
    uint8_t v[32];

    values_5(b + 2, v);
    for (int i = 0; i < 32; i++)
        y[i] = d * (float)(v[i] - 16);
}

static void decode_q5_1(const uint8_t *b, float *y)
{
    float d = f16_at(b), m = f16_at(b + 2);
    uint8_t v[32];

    values_5(b + 4, v);
    for (int i = 0; i < 32; i++)
        y[i] = d * (float)v[i] + m;
}

/* Thirty-two nibbles that are indexes into a table. */
static void decode_table(const uint8_t *q, const int8_t *values, float d,
                         float *y)
{
    for (int i = 0; i < 16; i++) {
        y[i] = d * (float)values[q[i] & 15];
        y[i + 16] = d * (float)values[q[i] >> 4];
    }
}

static void decode_iq4_xs(const uint8_t *b, float *y)
{
    float d = f16_at(b);
    int8_t scale[8];

    quant_iq4_scales((uint16_t)(b[2] | b[3] << 8), b + 4, scale);
    for (int g = 0; g < 8; g++)
        decode_table(b + 8 + 16 * g, quant_iq4_values, d * (float)scale[g],
                     y + 32 * g);
}

static void decode_q2_k(const uint8_t *b, float *y)
{
    float d = f16_at(b + 80), m = f16_at(b + 82);

    for (int g = 0; g < 16; g++, y += 16) { /* sixteen with one scale */
        const uint8_t *q = b + 16 + g / 8 * 32 + g % 2 * 16;
        float dg = d * (float)(b[g] & 15), mg = m * (float)(b[g] >> 4);
        int shift = g / 2 % 4 * 2;

        for (int i = 0; i < 16; i++)
            y[i] = dg * (float)(q[i] >> shift & 3) - mg;
    }
}

static void decode_q3_k(const uint8_t *b, float *y)
{
    float d = f16_at(b + 108);
    int8_t scale[16];

    quant_q3_scales(b + 96, scale);
    for (int g = 0; g < 16; g++, y += 16) {
        const uint8_t *h = b + g % 2 * 16;
        const uint8_t *q = b + 32 + g / 8 * 32 + g % 2 * 16;
        float dg = d * (float)scale[g];
        int shift = g / 2 % 4 * 2;

        for (int i = 0; i < 16; i++) {
            int v = (q[i] >> shift & 3) | (h[i] >> g / 2 & 1) << 2;

            y[i] = dg * (float)(v - 4);
        }
    }
}

/* Q4_K, and Q5_K when `high` points to its fifth bits. */
static void decode_k45(const uint8_t *b, const uint8_t *high,
                       const uint8_t *q, float *y)
{
    float d = f16_at(b), m = f16_at(b + 2);
    uint8_t scale[8], min[8];

    quant_k_scales(b + 4, scale, min);
    for (int g = 0; g < 8; g++, y += 32) {
        const uint8_t *p = q + g / 2 * 32;
        float dg = d * (float)scale[g], mg = m * (float)min[g];
        int shift = g % 2 * 4;

        for (int i = 0; !high && i < 32; i++)
            y[i] = dg * (float)(p[i] >> shift & 15) - mg;
        for (int i = 0; high && i < 32; i++) {
            int v = (p[i] >> shift & 15) | (high[i] >> g & 1) << 4;

            y[i] = dg * (float)v - mg;
        }
    }
}

static void decode_q6_k(const uint8_t *b, float *y)
{
    float d = f16_at(b + 208);

    for (int g = 0; g < 16; g++, y += 16) { /* sixteen with one scale */
        int half = g / 8, c = g / 2 % 4, from = g % 2 * 16;
        const uint8_t *l = b + half * 64 + c % 2 * 32 + from;
        const uint8_t *h = b + 128 + half * 32 + from;
        float ds = d * (float)(int8_t)b[192 + g];
        int low = c < 2 ? 0 : 4;

        for (int i = 0; i < 16; i++) {
            int v = (l[i] >> low & 15) | (h[i] >> 2 * c & 3) << 4;

            y[i] = ds * (float)(v - 32);
        }
    }
}

static void decode_block(enum kern_type t, const uint8_t *b, float *y)
{
    switch (t) {
    case KERN_Q8_0:
        decode_q8_0(b, y);
        return;
    case KERN_Q4_0:
        decode_q4_0(b, y);
        return;
    case KERN_Q4_1:
        decode_q4_1(b, y);
        return;
    case KERN_Q5_0:
        decode_q5_0(b, y);
        return;
    case KERN_Q5_1:
        decode_q5_1(b, y);
        return;
    case KERN_IQ4_NL:
        decode_table(b + 2, quant_iq4_values, f16_at(b), y);
        return;
    case KERN_IQ4_XS:
        decode_iq4_xs(b, y);
        return;
    case KERN_MXFP4:
        decode_table(b + 1, quant_mxfp4_values, quant_e8m0_half(b[0]), y);
        return;
    case KERN_Q2_K:
        decode_q2_k(b, y);
        return;
    case KERN_Q3_K:
        decode_q3_k(b, y);
        return;
    case KERN_Q4_K:
        decode_k45(b, NULL, b + 16, y);
        return;
    case KERN_Q5_K:
        decode_k45(b, b + 16, b + 48, y);
        return;
    case KERN_Q6_K:
        decode_q6_k(b, y);
        return;
    default:
        BUG_ON("weight type without a decoder");
    }
}

void kern_dequant(enum kern_type t, const void *src, float *dst, size_t n)
{
    const uint8_t *b = src;
    int32_t elems, bytes;

    BUG_ON(!kern_type_block(t, &elems, &bytes) || n % (size_t)elems);
    if (t == KERN_F32) {
        memcpy(dst, src, n * sizeof(*dst));
    } else if (t == KERN_F16) {
        for (size_t i = 0; i < n; i++)
            dst[i] = f16_at(b + 2 * i);
    } else if (t == KERN_BF16) {
        for (size_t i = 0; i < n; i++)
            dst[i] = f32_of((uint32_t)(b[2 * i] | b[2 * i + 1] << 8) << 16);
    } else {
        for (; n; n -= (size_t)elems, b += bytes, dst += elems)
            decode_block(t, b, dst);
    }
}
