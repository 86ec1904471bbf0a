/*
 * AVX2 with FMA and F16C. This file is compiled with its own -m flags and
 * entered only after dispatch.c has looked at the CPU.
 *
 * Decoding and to_f16 equal the reference bit for bit. Sums use fused
 * multiply-adds and differ in the last bits (kernels.h has the tolerance).
 * exp is within 1 ulp from -87.3 to 88.3, 0 below and exp(88.3) above.
 */
#include "kernels/cpu/cpu.h"

#include <immintrin.h>
#include <math.h>

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))

/* --- lanes -------------------------------------------------------------- */

/* The order of cpu_sum8. */
INLINE float sum8(__m256 s)
{
    __m128 t = _mm_add_ps(_mm256_castps256_ps128(s),
                          _mm256_extractf128_ps(s, 1));

    t = _mm_add_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_add_ss(t, _mm_movehdup_ps(t)));
}

/* All ones in the first n lanes, 0 <= n <= 8. */
INLINE __m256i first(int32_t n)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lanes);
}

/*
 * exp: x = n ln 2 + r with |r| <= ln 2 / 2, a Taylor polynomial of degree 7
 * in r (its remainder is under 6e-9), times 2^n. ln 2 is split so that
 * n times its upper part is exact.
 */
INLINE __m256 exp8(__m256 x)
{
    const __m256 low = _mm256_set1_ps(-87.3f), high = _mm256_set1_ps(88.3f);
    __m256 tiny = _mm256_cmp_ps(x, low, _CMP_LT_OQ), n, r, p;
    __m256i e;

    /* min and max return their second operand for a NaN, which stays one. */
    x = _mm256_min_ps(high, _mm256_max_ps(low, x));
    n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.62e4p-1f), x);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0x1.7f7d1cp-20f), r);
    p = _mm256_set1_ps(1.0f / 5040);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    e = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n),
                                           _mm256_set1_epi32(127)), 23);
    p = _mm256_mul_ps(p, _mm256_castsi256_ps(e));
    return _mm256_andnot_ps(tiny, p);
}

/* --- weights ------------------------------------------------------------ */

INLINE float f16_at(const uint8_t *p)
{
    uint16_t h;

    memcpy(&h, p, sizeof(h));
    return _cvtsh_ss(h);
}

INLINE __m128i load16(const void *p)
{
    return _mm_loadu_si128((const __m128i *)p);
}

INLINE __m128i load8(const void *p)
{
    return _mm_loadl_epi64((const __m128i *)p);
}

INLINE __m256i load32(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

/* Elements 8i..8i+7 of 32 signed bytes, as floats. */
INLINE __m256 eight(__m256i q, int i)
{
    __m128i h = i < 2 ? _mm256_castsi256_si128(q)
                      : _mm256_extracti128_si256(q, 1);

    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(i % 2 ? _mm_srli_si128(h, 8) : h));
}

/*
 * 32 weights before their scale: group g of a block, as signed bytes. The
 * format is a constant wherever these are called.
 */
INLINE __m256i group_q4_0(const uint8_t *b)
{
    __m128i q = load16(b + 2);
    __m256i v = _mm256_set_m128i(_mm_srli_epi16(q, 4), q);

    return _mm256_sub_epi8(_mm256_and_si256(v, _mm256_set1_epi8(15)),
                           _mm256_set1_epi8(8));
}

INLINE __m256i group_k45(enum kern_type t, const uint8_t *b, int g)
{
    const uint8_t *q = b + (t == KERN_Q5_K ? 48 : 16) + g / 2 * 32;
    __m256i v = load32(q), h, bit;

    v = _mm256_and_si256(g % 2 ? _mm256_srli_epi16(v, 4) : v,
                         _mm256_set1_epi8(15));
    if (t == KERN_Q4_K)
        return v;
    bit = _mm256_set1_epi8((char)(1 << g));
    h = _mm256_cmpeq_epi8(_mm256_and_si256(load32(b + 16), bit), bit);
    return _mm256_or_si256(v, _mm256_and_si256(h, _mm256_set1_epi8(16)));
}

INLINE __m256i group_q6_k(const uint8_t *b, int g)
{
    int half = g / 4, c = g % 4;
    __m256i l = load32(b + half * 64 + c % 2 * 32);
    __m256i h = load32(b + 128 + half * 32);

    l = c < 2 ? l : _mm256_srli_epi16(l, 4);
    h = c == 0   ? _mm256_slli_epi16(h, 4)
        : c == 1 ? _mm256_slli_epi16(h, 2)
        : c == 2 ? h
                 : _mm256_srli_epi16(h, 2);
    l = _mm256_or_si256(_mm256_and_si256(l, _mm256_set1_epi8(15)),
                        _mm256_and_si256(h, _mm256_set1_epi8(48)));
    return _mm256_sub_epi8(l, _mm256_set1_epi8(32));
}

INLINE __m256i group(enum kern_type t, const uint8_t *b, int g)
{
    return t == KERN_Q8_0   ? load32(b + 2)
           : t == KERN_Q4_0 ? group_q4_0(b)
           : t == KERN_Q6_K ? group_q6_k(b, g)
                            : group_k45(t, b, g);
}

/* f times each of eight bytes. */
INLINE void scale8(float *out, uint64_t bytes, float f)
{
    __m256i v = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));

    _mm256_storeu_ps(out, _mm256_mul_ps(_mm256_cvtepi32_ps(v),
                                        _mm256_set1_ps(f)));
}

/* The products of quant_k_scales with d and m, four groups a word. */
INLINE void k_scales(const uint8_t *s, float d, float m, float dg[8],
                     float mg[8])
{
    const uint32_t six = 0x3f3f3f3f, four = 0x0f0f0f0f, two = 0x30303030;
    uint32_t w[3], scale, min;

    memcpy(w, s, sizeof(w));
    scale = (w[2] & four) | (w[0] >> 2 & two);
    min = (w[2] >> 4 & four) | (w[1] >> 2 & two);
    scale8(dg, (w[0] & six) | (uint64_t)scale << 32, d);
    scale8(mg, (w[1] & six) | (uint64_t)min << 32, m);
}

/* Scales of a block: of each 16 elements, and what 32 subtract. */
struct scales {
    float d[16], m[8];
};

INLINE void get_scales(enum kern_type t, const uint8_t *b, struct scales *s)
{
    if (t == KERN_Q8_0 || t == KERN_Q4_0) {
        s->d[0] = f16_at(b);
    } else if (t == KERN_Q6_K) {
        __m256 d = _mm256_set1_ps(f16_at(b + 208));

        for (int i = 0; i < 2; i++) {
            __m256i v = _mm256_cvtepi8_epi32(load8(b + 192 + 8 * i));

            _mm256_storeu_ps(s->d + 8 * i,
                             _mm256_mul_ps(d, _mm256_cvtepi32_ps(v)));
        }
    } else {
        k_scales(b + 4, f16_at(b), f16_at(b + 2), s->d, s->m);
    }
}

/* Weights 8i..8i+7 of group g, whose bytes are q. */
INLINE __m256 weights8(enum kern_type t, __m256i q, const struct scales *s,
                       int g, int i)
{
    bool k45 = t == KERN_Q4_K || t == KERN_Q5_K;
    int at = t == KERN_Q6_K ? 2 * g + i / 2 : k45 ? g : 0;
    __m256 v = _mm256_mul_ps(eight(q, i), _mm256_set1_ps(s->d[at]));

    return k45 ? _mm256_sub_ps(v, _mm256_set1_ps(s->m[g])) : v;
}

INLINE void decode_blocks(enum kern_type t, const uint8_t *b, size_t bytes,
                          float *y, size_t n)
{
    const int groups = t == KERN_Q8_0 || t == KERN_Q4_0 ? 1 : 8;

    for (; n; n -= (size_t)groups * 32, b += bytes) {
        struct scales s;

        get_scales(t, b, &s);
        UNROLL
        for (int g = 0; g < groups; g++, y += 32) {
            __m256i q = group(t, b, g);

            UNROLL
            for (int i = 0; i < 4; i++)
                _mm256_storeu_ps(y + 8 * i, weights8(t, q, &s, g, i));
        }
    }
}

static void decode_f16(const uint8_t *b, float *y, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(load16(b + 2 * i)));
    for (; i < n; i++)
        y[i] = f16_at(b + 2 * i);
}

static void decode_bf16(const uint8_t *b, float *y, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m256i v = _mm256_cvtepu16_epi32(load16(b + 2 * i));

        _mm256_storeu_ps(y + i, _mm256_castsi256_ps(_mm256_slli_epi32(v, 16)));
    }
    kern_dequant(KERN_BF16, b + 2 * i, y + i, n - i);
}

static void avx2_decode(enum kern_type t, const void *src, float *dst,
                        size_t n)
{
    switch (t) {
    case KERN_F32:
        memcpy(dst, src, n * sizeof(*dst));
        return;
    case KERN_F16:
        decode_f16(src, dst, n);
        return;
    case KERN_BF16:
        decode_bf16(src, dst, n);
        return;
    case KERN_Q8_0:
        decode_blocks(KERN_Q8_0, src, 34, dst, n);
        return;
    case KERN_Q4_0:
        decode_blocks(KERN_Q4_0, src, 18, dst, n);
        return;
    case KERN_Q4_K:
        decode_blocks(KERN_Q4_K, src, 144, dst, n);
        return;
    case KERN_Q5_K:
        decode_blocks(KERN_Q5_K, src, 176, dst, n);
        return;
    case KERN_Q6_K:
        decode_blocks(KERN_Q6_K, src, 210, dst, n);
        return;
    default:
        kern_dequant(t, src, dst, n);
    }
}

/* --- products ------------------------------------------------------------ */

/* nx activation rows against the tile: nx * TILE_W sums in registers. */
INLINE void tile_rows(const int nx, const float *w, size_t ldw, int32_t nk,
                      const float *x, size_t ldx, float *acc)
{
    __m256 s[3][TILE_W], xv[3], wv;
    int32_t k = 0;

    UNROLL
    for (int r = 0; r < nx; r++)
        UNROLL
        for (int j = 0; j < TILE_W; j++)
            s[r][j] = _mm256_loadu_ps(acc + (r * TILE_W + j) * 8);
    for (; k + 8 <= nk; k += 8) {
        UNROLL
        for (int r = 0; r < nx; r++)
            xv[r] = _mm256_loadu_ps(x + (size_t)r * ldx + k);
        UNROLL
        for (int j = 0; j < TILE_W; j++) {
            wv = _mm256_loadu_ps(w + (size_t)j * ldw + k);
            UNROLL
            for (int r = 0; r < nx; r++)
                s[r][j] = _mm256_fmadd_ps(wv, xv[r], s[r][j]);
        }
    }
    if (k < nk) {
        __m256i mask = first(nk - k);

        UNROLL
        for (int j = 0; j < TILE_W; j++) {
            wv = _mm256_loadu_ps(w + (size_t)j * ldw + k);
            UNROLL
            for (int r = 0; r < nx; r++)
                s[r][j] = _mm256_fmadd_ps(
                    wv, _mm256_maskload_ps(x + (size_t)r * ldx + k, mask),
                    s[r][j]);
        }
    }
    UNROLL
    for (int r = 0; r < nx; r++)
        UNROLL
        for (int j = 0; j < TILE_W; j++)
            _mm256_storeu_ps(acc + (r * TILE_W + j) * 8, s[r][j]);
}

static void avx2_tile(const float *w, size_t ldw, int32_t nk, const float *x,
                      size_t ldx, int32_t rows, float *acc)
{
    for (; rows >= 3; rows -= 3, x += 3 * ldx, acc += 3 * TILE_W * 8)
        tile_rows(3, w, ldw, nk, x, ldx, acc);
    if (rows == 2)
        tile_rows(2, w, ldw, nk, x, ldx, acc);
    else if (rows == 1)
        tile_rows(1, w, ldw, nk, x, ldx, acc);
}

/* --- one activation row: no tile in between ------------------------------ */

/* The weights and the order of tile_rows, so the same bits. */
INLINE void row_blocks(enum kern_type t, const uint8_t *w, size_t ldw,
                       size_t bytes, int32_t cols, const float *x, float *acc)
{
    const int groups = t == KERN_Q8_0 || t == KERN_Q4_0 ? 1 : 8;
    __m256 sum[TILE_W];

    UNROLL
    for (int j = 0; j < TILE_W; j++)
        sum[j] = _mm256_setzero_ps();
    for (; cols; cols -= groups * 32, w += bytes) {
        struct scales s[TILE_W];

        UNROLL
        for (size_t j = 0; j < TILE_W; j++)
            get_scales(t, w + j * ldw, &s[j]);
        UNROLL
        for (int g = 0; g < groups; g++, x += 32) {
            UNROLL
            for (size_t j = 0; j < TILE_W; j++) {
                __m256i q = group(t, w + j * ldw, g);

                UNROLL
                for (int i = 0; i < 4; i++)
                    sum[j] = _mm256_fmadd_ps(weights8(t, q, &s[j], g, i),
                                             _mm256_loadu_ps(x + 8 * i),
                                             sum[j]);
            }
        }
    }
    UNROLL
    for (int j = 0; j < TILE_W; j++)
        _mm256_storeu_ps(acc + 8 * j, sum[j]);
}

INLINE __m256 half8(enum kern_type t, const uint8_t *p)
{
    __m256i v;

    if (t == KERN_F16)
        return _mm256_cvtph_ps(load16(p));
    v = _mm256_cvtepu16_epi32(load16(p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}

INLINE void row_halves(enum kern_type t, const uint8_t *w, size_t ldw,
                       int32_t cols, const float *x, float *acc)
{
    __m256 sum[TILE_W];

    UNROLL
    for (int j = 0; j < TILE_W; j++)
        sum[j] = _mm256_setzero_ps();
    for (; cols; cols -= 8, x += 8, w += 16) {
        UNROLL
        for (size_t j = 0; j < TILE_W; j++)
            sum[j] = _mm256_fmadd_ps(half8(t, w + j * ldw),
                                     _mm256_loadu_ps(x), sum[j]);
    }
    UNROLL
    for (int j = 0; j < TILE_W; j++)
        _mm256_storeu_ps(acc + 8 * j, sum[j]);
}

static bool avx2_row(enum kern_type t, const uint8_t *w, size_t ldw,
                     int32_t cols, const float *x, float *acc)
{
    switch (t) {
    case KERN_F16:
    case KERN_BF16:
        if (cols % 8)
            return false;
        if (t == KERN_F16)
            row_halves(KERN_F16, w, ldw, cols, x, acc);
        else
            row_halves(KERN_BF16, w, ldw, cols, x, acc);
        return true;
    case KERN_Q8_0:
        row_blocks(KERN_Q8_0, w, ldw, 34, cols, x, acc);
        return true;
    case KERN_Q4_0:
        row_blocks(KERN_Q4_0, w, ldw, 18, cols, x, acc);
        return true;
    case KERN_Q4_K:
        row_blocks(KERN_Q4_K, w, ldw, 144, cols, x, acc);
        return true;
    case KERN_Q5_K:
        row_blocks(KERN_Q5_K, w, ldw, 176, cols, x, acc);
        return true;
    case KERN_Q6_K:
        row_blocks(KERN_Q6_K, w, ldw, 210, cols, x, acc);
        return true;
    default: /* F32 is in place already */
        return false;
    }
}

/* --- norm and activation -------------------------------------------------- */

static void avx2_norm(float *dst, const float *x, const float *w, int32_t n,
                      float eps)
{
    __m256i tail = first(n % 8);
    __m256 s = _mm256_setzero_ps(), v, inv;
    int32_t i;

    for (i = 0; i + 8 <= n; i += 8) {
        v = _mm256_loadu_ps(x + i);
        s = _mm256_fmadd_ps(v, v, s);
    }
    v = _mm256_maskload_ps(x + i, tail);
    s = _mm256_fmadd_ps(v, v, s);
    inv = _mm256_set1_ps(1.0f / sqrtf(sum8(s) / (float)n + eps));
    for (i = 0; i + 8 <= n; i += 8) {
        v = _mm256_mul_ps(_mm256_loadu_ps(x + i), inv);
        _mm256_storeu_ps(dst + i, _mm256_mul_ps(v, _mm256_loadu_ps(w + i)));
    }
    v = _mm256_mul_ps(_mm256_maskload_ps(x + i, tail), inv);
    v = _mm256_mul_ps(v, _mm256_maskload_ps(w + i, tail));
    _mm256_maskstore_ps(dst + i, tail, v);
}

INLINE __m256 silu_mul(__m256 g, __m256 u)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    __m256 e = exp8(_mm256_sub_ps(_mm256_setzero_ps(), g));

    return _mm256_mul_ps(_mm256_div_ps(g, _mm256_add_ps(one, e)), u);
}

static void avx2_swiglu(float *gate, const float *up, size_t n)
{
    __m256i tail = first((int32_t)(n % 8));
    size_t i;
    __m256 v;

    for (i = 0; i + 8 <= n; i += 8) {
        v = silu_mul(_mm256_loadu_ps(gate + i), _mm256_loadu_ps(up + i));
        _mm256_storeu_ps(gate + i, v);
    }
    v = silu_mul(_mm256_maskload_ps(gate + i, tail),
                 _mm256_maskload_ps(up + i, tail));
    _mm256_maskstore_ps(gate + i, tail, v);
}

static void avx2_to_f16(uint16_t *dst, const float *src, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(dst + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(src + i),
                                         _MM_FROUND_TO_NEAREST_INT));
    for (; i < n; i++)
        dst[i] = _cvtss_sh(src[i], _MM_FROUND_TO_NEAREST_INT);
}

/* --- attention ------------------------------------------------------------ */

/* Scores of four keys: each its own chain, so grouping changes nothing. */
INLINE void score4(const struct cpu_attend *a, const uint16_t *k, float *p)
{
    size_t dim = (size_t)a->head_dim;
    __m256 s[4];

    UNROLL
    for (int j = 0; j < 4; j++)
        s[j] = _mm256_setzero_ps();
    for (size_t d = 0; d < dim; d += 8) {
        __m256 q = _mm256_loadu_ps(a->q + d);

        UNROLL
        for (size_t j = 0; j < 4; j++)
            s[j] = _mm256_fmadd_ps(
                q, _mm256_cvtph_ps(load16(k + j * dim + d)), s[j]);
    }
    UNROLL
    for (int j = 0; j < 4; j++)
        p[j] = sum8(s[j]) * a->scale;
}

/* out[d..d+8*nd) = out * keep + sum of p[j] v[j]. */
INLINE void mix(const int nd, const struct cpu_attend *a, const uint16_t *v,
                int32_t n, const float *p, float keep, size_t d)
{
    size_t dim = (size_t)a->head_dim;
    __m256 o[4], w = _mm256_set1_ps(keep);

    UNROLL
    for (int c = 0; c < nd; c++)
        o[c] = _mm256_mul_ps(_mm256_loadu_ps(a->out + d + 8 * c), w);
    for (int32_t j = 0; j < n; j++, v += dim) {
        w = _mm256_set1_ps(p[j]);
        UNROLL
        for (int c = 0; c < nd; c++)
            o[c] = _mm256_fmadd_ps(w, _mm256_cvtph_ps(load16(v + d + 8 * c)),
                                   o[c]);
    }
    UNROLL
    for (int c = 0; c < nd; c++)
        _mm256_storeu_ps(a->out + d + 8 * c, o[c]);
}

static void avx2_attend(struct cpu_attend *a, const uint16_t *k,
                        const uint16_t *v, int32_t n)
{
    _Alignas(32) float p[KV_PAGE];
    float top = a->max, keep;
    size_t dim = (size_t)a->head_dim, d = 0;
    __m256 s = _mm256_setzero_ps(), t;

    if (dim % 8) {
        cpu_set_ref.attend(a, k, v, n);
        return;
    }
    for (int32_t j = 0; j < n; j += 4)
        score4(a, k + (size_t)j * dim, p + j);
    for (int32_t j = 0; j < n; j++)
        top = p[j] > top ? p[j] : top;
    for (int32_t j = n; j < KV_PAGE; j++)
        p[j] = -INFINITY;
    t = _mm256_set1_ps(top);
    for (int32_t j = 0; j < n; j += 8) {
        __m256 e = exp8(_mm256_sub_ps(_mm256_load_ps(p + j), t));

        s = _mm256_add_ps(s, e);
        _mm256_store_ps(p + j, e);
    }
    keep = _mm256_cvtss_f32(exp8(_mm256_set1_ps(a->max - top)));
    a->sum = a->sum * keep + sum8(s);
    a->max = top;
    for (; d + 32 <= dim; d += 32)
        mix(4, a, v, n, p, keep, d);
    for (; d < dim; d += 8)
        mix(1, a, v, n, p, keep, d);
}

const struct cpu_set cpu_set_avx2 = {
    .name = "cpu-avx2",
    .decode = avx2_decode,
    .tile = avx2_tile,
    .row = avx2_row,
    .norm = avx2_norm,
    .attend = avx2_attend,
    .swiglu = avx2_swiglu,
    .to_f16 = avx2_to_f16,
};
