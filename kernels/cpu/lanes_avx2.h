/* AVX2 with FMA and F16C: two registers are one vector. */
#ifndef KERNELS_CPU_LANES_AVX2_H
#define KERNELS_CPU_LANES_AVX2_H

#include <immintrin.h>

#define LANES_ROWS 2
#define LANES_INT_ROWS 4
#define LANES_FLOAT_ROWS 6
#define LANES_FLOAT_TILES 1

typedef struct {
    __m256 a, b;
} vf;
typedef struct {
    __m256i a, b;
} vi;
typedef vi vb;

INLINE vf vf_two(__m256 a, __m256 b)
{
    return (vf){a, b};
}

INLINE vi vi_two(__m256i a, __m256i b)
{
    return (vi){a, b};
}

/* All ones in the first n lanes, n <= 8; none below 0. */
INLINE __m256i vf_first(int n)
{
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);

    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), lanes);
}

INLINE vf vf_zero(void)
{
    return vf_two(_mm256_setzero_ps(), _mm256_setzero_ps());
}

INLINE vf vf_set(float f)
{
    return vf_two(_mm256_set1_ps(f), _mm256_set1_ps(f));
}

INLINE vf vf_dup(const float *p)
{
    return vf_set(*p);
}

INLINE vf vf_load(const float *p)
{
    return vf_two(_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8));
}

INLINE void vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v.a);
    _mm256_storeu_ps(p + 8, v.b);
}

INLINE vf vf_loadn(const float *p, int n)
{
    return vf_two(_mm256_maskload_ps(p, vf_first(n)),
                  _mm256_maskload_ps(p + 8, vf_first(n - 8)));
}

INLINE void vf_storen(float *p, vf v, int n)
{
    _mm256_maskstore_ps(p, vf_first(n), v.a);
    _mm256_maskstore_ps(p + 8, vf_first(n - 8), v.b);
}

INLINE vf vf_add(vf x, vf y)
{
    return vf_two(_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b));
}

INLINE vf vf_sub(vf x, vf y)
{
    return vf_two(_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b));
}

INLINE vf vf_mul(vf x, vf y)
{
    return vf_two(_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b));
}

INLINE vf vf_div(vf x, vf y)
{
    return vf_two(_mm256_div_ps(x.a, y.a), _mm256_div_ps(x.b, y.b));
}

INLINE vf vf_max(vf x, vf y)
{
    return vf_two(_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b));
}

INLINE vf vf_min(vf x, vf y)
{
    return vf_two(_mm256_min_ps(x.a, y.a), _mm256_min_ps(x.b, y.b));
}

INLINE vf vf_fma(vf x, vf y, vf z)
{
    return vf_two(_mm256_fmadd_ps(x.a, y.a, z.a),
                  _mm256_fmadd_ps(x.b, y.b, z.b));
}

INLINE vf vf_fnma(vf x, vf y, vf z)
{
    return vf_two(_mm256_fnmadd_ps(x.a, y.a, z.a),
                  _mm256_fnmadd_ps(x.b, y.b, z.b));
}

INLINE vf vf_abs(vf x)
{
    return vf_two(_mm256_andnot_ps(_mm256_set1_ps(-0.0f), x.a),
                  _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x.b));
}

INLINE vf vf_sqrt(vf x)
{
    return vf_two(_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b));
}

INLINE __m256 vf_round8(__m256 v)
{
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vf vf_round(vf x)
{
    return vf_two(vf_round8(x.a), vf_round8(x.b));
}

INLINE vf vf_keep(vf x, vf y, vf v)
{
    return vf_two(_mm256_and_ps(_mm256_cmp_ps(x.a, y.a, _CMP_GE_OQ), v.a),
                  _mm256_and_ps(_mm256_cmp_ps(x.b, y.b, _CMP_GE_OQ), v.b));
}

INLINE __m256 vf_pow2_8(__m256 v)
{
    __m256i e = _mm256_add_epi32(_mm256_cvtps_epi32(v), _mm256_set1_epi32(127));

    return _mm256_castsi256_ps(_mm256_slli_epi32(e, 23));
}

INLINE vf vf_pow2(vf x)
{
    return vf_two(vf_pow2_8(x.a), vf_pow2_8(x.b));
}

INLINE float vf_sum(vf v)
{
    __m256 a = _mm256_add_ps(v.a, v.b);
    __m128 t =
        _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));

    t = _mm_add_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_add_ss(t, _mm_movehdup_ps(t)));
}

INLINE float vf_top(vf v)
{
    __m256 a = _mm256_max_ps(v.a, v.b);
    __m128 t =
        _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));

    t = _mm_max_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_max_ss(t, _mm_movehdup_ps(t)));
}

INLINE float vf_peak(vf x, vf y)
{
    vf p = vf_abs(x), q = vf_abs(y);
    __m256i a =
        _mm256_max_epi32(_mm256_castps_si256(p.a), _mm256_castps_si256(p.b));
    __m256i b =
        _mm256_max_epi32(_mm256_castps_si256(q.a), _mm256_castps_si256(q.b));
    __m128i t;

    a = _mm256_max_epi32(a, b);
    t = _mm_max_epi32(_mm256_castsi256_si128(a),
                      _mm256_extracti128_si256(a, 1));
    t = _mm_max_epi32(t, _mm_shuffle_epi32(t, 0x4e));
    t = _mm_max_epi32(t, _mm_shuffle_epi32(t, 0xb1));
    return _mm_cvtss_f32(_mm_castsi128_ps(t));
}

INLINE __m128i vb_load16(const uint8_t *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

INLINE __m128i vb_load8(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)p);
}

INLINE vf vf_f16(const void *p)
{
    const uint8_t *s = p;

    return vf_two(_mm256_cvtph_ps(vb_load16(s)),
                  _mm256_cvtph_ps(vb_load16(s + 16)));
}

INLINE __m256 vf_bf16_8(const uint8_t *p)
{
    __m256i v = _mm256_cvtepu16_epi32(vb_load16(p));

    return _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
}

INLINE vf vf_bf16(const void *p)
{
    const uint8_t *s = p;

    return vf_two(vf_bf16_8(s), vf_bf16_8(s + 16));
}

INLINE vf vf_pair0(const void *p)
{
    const __m256i *s = p;
    __m256i a = _mm256_slli_epi32(_mm256_loadu_si256(s), 16);
    __m256i b = _mm256_slli_epi32(_mm256_loadu_si256(s + 1), 16);

    return vf_two(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
}

INLINE vf vf_pair1(const void *p)
{
    const __m256i upper = _mm256_set1_epi32(-0x10000), *s = p;
    __m256i a = _mm256_and_si256(_mm256_loadu_si256(s), upper);
    __m256i b = _mm256_and_si256(_mm256_loadu_si256(s + 1), upper);

    return vf_two(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
}

INLINE void vf_to_f16(void *p, vf v)
{
    __m128i *d = p;

    _mm_storeu_si128(d, _mm256_cvtps_ph(v.a, _MM_FROUND_TO_NEAREST_INT));
    _mm_storeu_si128(d + 1, _mm256_cvtps_ph(v.b, _MM_FROUND_TO_NEAREST_INT));
}

INLINE vf vf_of(vi x)
{
    return vf_two(_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b));
}

INLINE vi vi_of(vf x)
{
    return vi_two(_mm256_cvtps_epi32(x.a), _mm256_cvtps_epi32(x.b));
}

INLINE vf vf_u8(const void *p)
{
    const uint8_t *s = p;

    return vf_of(vi_two(_mm256_cvtepu8_epi32(vb_load8(s)),
                        _mm256_cvtepu8_epi32(vb_load8(s + 8))));
}

INLINE vf vf_i8(const void *p)
{
    const uint8_t *s = p;

    return vf_of(vi_two(_mm256_cvtepi8_epi32(vb_load8(s)),
                        _mm256_cvtepi8_epi32(vb_load8(s + 8))));
}

INLINE vi vi_zero(void)
{
    return vi_two(_mm256_setzero_si256(), _mm256_setzero_si256());
}

INLINE vi vi_set(int32_t i)
{
    return vi_two(_mm256_set1_epi32(i), _mm256_set1_epi32(i));
}

INLINE vi vi_add(vi x, vi y)
{
    return vi_two(_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b));
}

INLINE vi vi_sub(vi x, vi y)
{
    return vi_two(_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b));
}

INLINE vi vi_shl(vi x, int n)
{
    return vi_two(_mm256_slli_epi32(x.a, n), _mm256_slli_epi32(x.b, n));
}

INLINE vi vi_load(const int32_t *p)
{
    return vi_two(_mm256_loadu_si256((const void *)p),
                  _mm256_loadu_si256((const void *)(p + 8)));
}

INLINE void vi_store(int32_t *p, vi v)
{
    _mm256_storeu_si256((void *)p, v.a);
    _mm256_storeu_si256((void *)(p + 8), v.b);
}

INLINE void vi_to_i8(int8_t *p, vi v)
{
    __m256i w = _mm256_permute4x64_epi64(_mm256_packs_epi32(v.a, v.b), 0xd8);

    _mm_storeu_si128((void *)p,
                     _mm_packs_epi16(_mm256_castsi256_si128(w),
                                     _mm256_extracti128_si256(w, 1)));
}

/* Pairs of products fit 16 bits: 2 * 127 * 127. */
INLINE __m256i vi_dot7_8(__m256i acc, __m256i w, __m256i x)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(w, x),
                                                   _mm256_set1_epi16(1)));
}

INLINE vi vi_dot7(vi acc, vb w, const int8_t *x)
{
    int32_t four;
    __m256i v;

    memcpy(&four, x, sizeof(four));
    v = _mm256_set1_epi32(four);
    return vi_two(vi_dot7_8(acc.a, w.a, v), vi_dot7_8(acc.b, w.b, v));
}

/* The lower seven bits and the highest one each fit. */
INLINE __m256i vi_dot8_8(__m256i acc, __m256i w, __m256i x)
{
    const __m256i low = _mm256_set1_epi8(127), top = _mm256_set1_epi8(-128);
    __m256i l = _mm256_maddubs_epi16(_mm256_and_si256(w, low), x);
    __m256i h = _mm256_maddubs_epi16(_mm256_and_si256(w, top), x);
    const __m256i one = _mm256_set1_epi16(1);

    return _mm256_add_epi32(acc, _mm256_add_epi32(_mm256_madd_epi16(l, one),
                                                  _mm256_madd_epi16(h, one)));
}

INLINE vi vi_dot8(vi acc, vb w, const int8_t *x)
{
    int32_t four;
    __m256i v;

    memcpy(&four, x, sizeof(four));
    v = _mm256_set1_epi32(four);
    return vi_two(vi_dot8_8(acc.a, w.a, v), vi_dot8_8(acc.b, w.b, v));
}

/* Sixteen-bit sums of pairs of products. */
#define LANES_HALVES
typedef vi vh;

INLINE vh vh_of(vi acc)
{
    (void)acc;
    return vi_zero();
}

INLINE vh vh_dot(vh h, vb w, const int8_t *x)
{
    int32_t four;
    __m256i v;

    memcpy(&four, x, sizeof(four));
    v = _mm256_set1_epi32(four);
    return vi_two(_mm256_add_epi16(h.a, _mm256_maddubs_epi16(w.a, v)),
                  _mm256_add_epi16(h.b, _mm256_maddubs_epi16(w.b, v)));
}

INLINE vi vh_into(vi acc, vh h)
{
    const __m256i one = _mm256_set1_epi16(1);

    return vi_add(acc, vi_two(_mm256_madd_epi16(h.a, one),
                              _mm256_madd_epi16(h.b, one)));
}

INLINE vi vs_begin(int32_t neg)
{
    (void)neg;
    return vi_zero();
}

/* The magnitude, up to 128, times x with the sign: pairs fit 16 bits. */
INLINE __m256i vs_dot_8(__m256i acc, __m256i w, __m256i x)
{
    __m256i s = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
    __m256i p =
        _mm256_maddubs_epi16(_mm256_abs_epi8(s), _mm256_sign_epi8(x, s));

    return _mm256_add_epi32(acc, _mm256_madd_epi16(p, _mm256_set1_epi16(1)));
}

INLINE vi vs_dot(vi acc, vb w, const int8_t *x)
{
    int32_t four;
    __m256i v;

    memcpy(&four, x, sizeof(four));
    v = _mm256_set1_epi32(four);
    return vi_two(vs_dot_8(acc.a, w.a, v), vs_dot_8(acc.b, w.b, v));
}

INLINE vb vb_load(const void *p)
{
    return vi_load(p);
}

INLINE void vb_store(void *p, vb v)
{
    vi_store(p, v);
}

INLINE vb vb_set(uint8_t v)
{
    return vi_two(_mm256_set1_epi8((char)v), _mm256_set1_epi8((char)v));
}

INLINE vi vb_and(vb x, vb y)
{
    return vi_two(_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b));
}

INLINE vi vb_or(vb x, vb y)
{
    return vi_two(_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b));
}

INLINE vi vb_xor(vb x, vb y)
{
    return vi_two(_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b));
}

INLINE vb vb_shr(vb v, int n)
{
    return vb_and(vi_two(_mm256_srli_epi16(v.a, n), _mm256_srli_epi16(v.b, n)),
                  vb_set((uint8_t)(255 >> n)));
}

INLINE vb vb_shl(vb v, int n)
{
    return vb_and(vi_two(_mm256_slli_epi16(v.a, n), _mm256_slli_epi16(v.b, n)),
                  vb_set((uint8_t)(255 << n)));
}

INLINE vb vb_shr_and(vb v, int n, vb m)
{
    return vb_and(vi_two(_mm256_srli_epi16(v.a, n), _mm256_srli_epi16(v.b, n)),
                  m);
}

INLINE vb vb_shl_and(vb v, int n, vb m)
{
    return vb_and(vi_two(_mm256_slli_epi16(v.a, n), _mm256_slli_epi16(v.b, n)),
                  m);
}

INLINE vb vb_nib(vb v)
{
    return vb_and(v, vb_set(15));
}

INLINE vi vb_look(vb t, vb v)
{
    return vi_two(_mm256_shuffle_epi8(t.a, v.a), _mm256_shuffle_epi8(t.b, v.b));
}

INLINE vb vb_bcast16(const void *p)
{
    __m256i v = _mm256_broadcastsi128_si256(vb_load16(p));

    return vi_two(v, v);
}

INLINE void vb_fetch(const void *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T0);
}

#endif
