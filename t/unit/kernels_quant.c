/*
 * Block formats: a few blocks computed by hand from the definitions in
 * quant.h, blocks decoded by an independent numpy script
 * (t/data/kernels/blocks.txt), blocks that ggml quantised and decoded
 * (peer-blocks.txt), f16 over all its values.
 */
#include "kernels/cpu/quant.h"
#include "t/lib/tap.h"

#include <math.h>

static bool decodes(enum kern_type t, const void *b, const float *want,
                    size_t n)
{
    float got[QUANT_MAX_ELEMS];

    kern_dequant(t, b, got, n);
    return !memcmp(got, want, n * sizeof(*got));
}

/* The same through a backend: a table of one row is the block. */
static bool embeds(struct kern *k, enum kern_type t, const void *b,
                   const float *want, size_t n)
{
    int32_t zero = 0;
    struct kern_rows r = {.n = 1, .ids = &zero, .pos = &zero, .seq = &zero,
                          .n_seqs = 1, .max_pages = 1, .pages = &zero};
    struct kern_mat m = {k->ops->weights(k, b, quant_bytes(t, n)), t, 1,
                         (int32_t)n, 0};
    struct kern_buf *d = k->ops->alloc(k, n * 4, KERN_WORKSPACE);
    float got[QUANT_MAX_ELEMS];

    BUG_ON(!d);
    k->ops->begin(k, &r);
    k->ops->embed(k, d, &m);
    k->ops->read_logits(k, d, 0, (int32_t)n, got);
    k->ops->buf_free(k, d);
    k->ops->buf_free(k, m.buf);
    return !memcmp(got, want, n * sizeof(*got));
}

static void test_hand(void)
{
    /* d = 0x3800 = 0.5; q = -128, 0, 127, 1, then zeros. */
    uint8_t q8[34] = {0x00, 0x38, 0x80, 0x00, 0x7f, 0x01};
    float w8[32] = {-64, 0, 63.5f, 0.5f};
    /* d = 0xc000 = -2; byte 0 is 0xf0: element 0 is 0 - 8, element 16 is
     * 15 - 8; all other nibbles are 8, zero. */
    uint8_t q4[18] = {0x00, 0xc0, 0xf0};
    float w4[32] = {16}, wk[256], w6[256];
    /* Q4_K: d = 0x3c00 = 1, m = 0x3800 = 0.5. s[0] = 0xc3: scale 3 of group
     * 0, top bits 3 of the scale of group 4. s[4] = 0x82: min 2 of group 0,
     * top bits 2 of the min of group 4. s[8] = 0x51: group 4 has scale
     * 3 * 16 + 1 = 49 and min 2 * 16 + 5 = 37. Others are 0. All q are 0
     * but q[0] = 0x07 (group 0, element 0) and q[65] = 0x09 (group 4,
     * element 1). */
    uint8_t k4[144] = {0x00, 0x3c, 0x00, 0x38, 0xc3, 0, 0, 0, 0x82, 0,
                       0,    0,    0x51};
    /* Q6_K: d = 0x3400 = 0.25; scale 0 is 2, scale 15 is -1. l[0] = 0x0f
     * and h[0] = 0x03: element 0 is 15 + 48 - 32 = 31. Element 255 is
     * l[127] >> 4 = 10 and bits 6, 7 of h[63] = 1: 10 + 16 - 32 = -6.
     * Elements 1 to 15 and 240 to 254 are 0 - 32. */
    uint8_t k6[210] = {0x0f};

    memset(q4 + 3, 0x88, 15);
    w4[16] = -14;
    ok(decodes(KERN_Q8_0, q8, w8, 32), "Q8_0 by hand");
    for (int i = 0; i < 32; i++)
        w4[i] += 0.0f;
    for (int i = 1; i < 32; i++)
        if (i != 16)
            w4[i] = -0.0f; /* -2 * 0 */
    ok(decodes(KERN_Q4_0, q4, w4, 32), "Q4_0 by hand");

    k4[16] = 0x07;
    k4[16 + 65] = 0x09;
    for (int i = 0; i < 256; i++)
        wk[i] = i < 32 ? -1 : i / 32 == 4 ? -18.5f : 0;
    wk[0] = 3 * 7 - 1;
    wk[129] = 49 * 9 - 18.5f;
    ok(decodes(KERN_Q4_K, k4, wk, 256), "Q4_K by hand");
    {
        /* Q5_K: the same with h[0] = 0x11: sixteen more for element 0 of
         * groups 0 and 4. */
        uint8_t k5[176];

        memcpy(k5, k4, 16);
        memset(k5 + 16, 0, 32);
        k5[16] = 0x11;
        memcpy(k5 + 48, k4 + 16, 128);
        wk[0] += 3 * 16;
        wk[128] += 49 * 16;
        ok(decodes(KERN_Q5_K, k5, wk, 256), "Q5_K by hand");
    }
    k6[127] = 0xa0;
    k6[128] = 0x03;
    k6[191] = 0x40;
    k6[192] = 2;
    k6[207] = 0xff;
    k6[209] = 0x34;
    for (int i = 0; i < 256; i++)
        w6[i] = i < 16 ? 0.5f * -32 : i >= 240 ? -0.25f * -32 : -0.0f;
    w6[0] = 0.5f * 31;
    w6[255] = -0.25f * -6;
    ok(decodes(KERN_Q6_K, k6, w6, 256), "Q6_K by hand");
}

/* Hex digits of s into out; returns how many bytes. */
static size_t unhex(const char *s, uint8_t *out, size_t cap)
{
    size_t n = 0;
    unsigned int v;

    for (; n < cap && s[0] && s[1] && s[0] != '\n'; s += 2, n++) {
        char two[3] = {s[0], s[1], 0}, *end;

        v = (unsigned int)strtoul(two, &end, 16);
        BUG_ON(*end);
        out[n] = (uint8_t)v;
    }
    return n;
}

/* f32 bits: numbers of at most eight hex digits, "*n" for n times the same,
 * perhaps spaces between them. Returns how many. */
static size_t floats(const char *s, float *out, size_t cap)
{
    size_t n = 0;

    while (*s && *s != '\n') {
        size_t digits = strspn(s, "0123456789abcdef"), times = 1;
        char one[9] = {0};
        uint32_t v;

        digits = digits < 8 ? digits : 8;
        memcpy(one, s, digits);
        v = (uint32_t)strtoul(one, NULL, 16);
        s += digits;
        if (*s == '*')
            times = strtoul(s + 1, (char **)&s, 10);
        s += *s == ' ';
        BUG_ON(!digits || !times || times > cap - n);
        for (; times; times--)
            memcpy(out + n++, &v, 4);
    }
    return n;
}

static void test_file(const char *path, int want_blocks, const char *whose)
{
    static char line[4096];
    FILE *f = fopen(path, "r");
    uint8_t block[256];
    float want[QUANT_MAX_ELEMS];
    const struct kern_cpu_config c = {1, KERN_CPU_AVX2, NULL, 0};
    struct kern *k;
    struct err e;
    int blocks = 0, bad = 0;

    if (!ok(f, "%s is there", path))
        return;
    if (kern_cpu_new(&k, &c, &e))
        printf("# AVX2 DECODERS NOT TESTED: %s\n", e.text);
    while (fgets(line, sizeof(line), f)) {
        char *hex;
        enum kern_type t;
        size_t bytes, n;

        if (line[0] == '#')
            continue;
        t = (enum kern_type)strtol(line, &hex, 10);
        bytes = unhex(hex + 1, block, sizeof(block));
        BUG_ON(!fgets(line, sizeof(line), f));
        n = floats(line, want, QUANT_MAX_ELEMS);
        blocks++;
        if (quant_bytes(t, n) != bytes || !decodes(t, block, want, n)) {
            bad++;
            printf("# type %d, block %d\n", (int)t, blocks);
        }
        if (k && !embeds(k, t, block, want, n)) {
            bad++;
            printf("# %s type %d, block %d\n", k->name, (int)t, blocks);
        }
    }
    fclose(f);
    kern_free(k);
    is_int(blocks, want_blocks, "%d blocks", want_blocks);
    is_int(bad, 0, "decoded as %s does", whose);
}

/* f16 by the definition of IEEE 754 binary16. */
static double half_value(uint32_t h)
{
    uint32_t e = h >> 10 & 31, m = h & 1023;
    double v = e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);

    return h >> 15 ? -v : v;
}

static void test_f16(void)
{
    int bad = 0, back = 0, nan = 0;

    for (uint32_t h = 0; h < 65536; h++) {
        float f = quant_f16_f32((uint16_t)h);

        if ((h >> 10 & 31) == 31) {
            float again = quant_f16_f32(quant_f32_f16(f));

            if (h & 1023)
                nan += !isnan(f) || !isnan(again);
            else
                nan += f != (h >> 15 ? -INFINITY : INFINITY) || again != f;
            continue;
        }
        bad += f != half_value(h) || !!signbit(f) != h >> 15;
        back += quant_f32_f16(f) != h;
    }
    is_int(bad, 0, "every finite f16 has its value");
    is_int(back, 0, "and comes back");
    is_int(nan, 0, "infinities and NaNs stay such");
}

/* Between neighbours h and h + 1: below the middle goes down, above up, the
 * middle to the even one. */
static void test_f16_rounding(void)
{
    int bad = 0;

    for (uint32_t h = 0; h < 0x7bff; h++) {
        double a = half_value(h), b = half_value(h + 1);
        float mid = (float)((a + b) / 2);

        bad += quant_f32_f16(mid) != h + (h & 1);
        bad += quant_f32_f16(nextafterf(mid, 0)) != h;
        bad += quant_f32_f16(nextafterf(mid, 1e9f)) != h + 1;
        bad += quant_f32_f16(-mid) != (0x8000 | (h + (h & 1)));
    }
    is_int(bad, 0, "f32 to f16 rounds to nearest even");
    is_int(quant_f32_f16(65519.99f), 0x7bff, "65519.99 is the largest f16");
    is_int(quant_f32_f16(65520), 0x7c00, "65520 is infinity");
    is_int(quant_f32_f16(-1e30f), 0xfc00, "-1e30 is -infinity");
    is_int(quant_f32_f16(1e-30f), 0, "1e-30 is zero");
}

/* Whatever the bytes are, a decoder reads one block and writes as many
 * numbers as it has; memory of exact sizes, so that ASan sees the rest. */
static void test_any_bytes(void)
{
    uint32_t seed = 1;
    int32_t elems, bytes, kinds = 0;

    for (int t = 0; t < 64; t++) {
        uint8_t *b;
        float *y;

        if (!kern_type_block((enum kern_type)t, &elems, &bytes))
            continue;
        kinds++;
        b = malloc((size_t)bytes);
        y = malloc((size_t)elems * sizeof(*y));
        BUG_ON(!b || !y);
        for (int round = 0; round < 100; round++) {
            for (int32_t i = 0; i < bytes; i++) {
                seed = seed * 1664525 + 1013904223;
                b[i] = round ? (uint8_t)(seed >> 24) : 0xff;
            }
            kern_dequant((enum kern_type)t, b, y, (size_t)elems);
        }
        free(y);
        free(b);
    }
    is_int(kinds, 16, "sixteen types decode whatever stands in a block");
}

static void test_types(void)
{
    int32_t e, b;

    ok(kern_type_block(KERN_Q4_K, &e, &b) && e == 256 && b == 144,
       "Q4_K is 144 bytes for 256");
    ok(!kern_type_block((enum kern_type)4, &e, &b), "type 4 is not read");
    ok(!kern_type_block((enum kern_type)16, &e, &b), "nor is IQ2_XXS");
}

int main(void)
{
    test_types();
    test_hand();
    test_file("t/data/kernels/blocks.txt", 24, "numpy");
    test_file("t/data/kernels/peer-blocks.txt", 217, "ggml");
    test_any_bytes();
    test_f16();
    test_f16_rounding();
    return done();
}
