/* AVX-512 F, BW, DQ, VL with VNNI: one register is one vector. */
#ifndef KERNELS_CPU_LANES_AVX512_H
#define KERNELS_CPU_LANES_AVX512_H

#include <immintrin.h>

#define LANES_ROWS 4
#define LANES_INT_ROWS 8
#define LANES_FLOAT_ROWS 8
#define LANES_FLOAT_TILES 2

typedef __m512 vf;
typedef __m512i vi;
typedef __m512i vb;

INLINE __mmask16 vf_first(int n)
{
    return (__mmask16)((1u << n) - 1);
}

INLINE vf vf_zero(void)
{
    return _mm512_setzero_ps();
}
INLINE vf vf_set(float f)
{
    return _mm512_set1_ps(f);
}

/* Compilers would read *p again for each use: loads are what is scarce. */
INLINE vf vf_dup(const float *p)
{
    vf v = vf_set(*p);

    __asm__("" : "+v"(v));
    return v;
}

INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
INLINE void vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

INLINE vf vf_loadn(const float *p, int n)
{
    return _mm512_maskz_loadu_ps(vf_first(n), p);
}

INLINE void vf_storen(float *p, vf v, int n)
{
    _mm512_mask_storeu_ps(p, vf_first(n), v);
}

INLINE vf vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}
INLINE vf vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}
INLINE vf vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}
INLINE vf vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}
INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}
INLINE vf vf_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}
INLINE vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}
INLINE vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}
INLINE vf vf_abs(vf a)
{
    return _mm512_abs_ps(a);
}
INLINE vf vf_sqrt(vf a)
{
    return _mm512_sqrt_ps(a);
}

INLINE vf vf_round(vf v)
{
    return _mm512_roundscale_ps(v,
                                _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vf vf_keep(vf a, vf least, vf v)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, least, _CMP_GE_OQ), v);
}

INLINE vf vf_pow2(vf v)
{
    __m512i e = _mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(127));

    return _mm512_castsi512_ps(_mm512_slli_epi32(e, 23));
}

INLINE float vf_sum(vf v)
{
    __m256 a =
        _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 t =
        _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));

    t = _mm_add_ps(t, _mm_movehl_ps(t, t));
    return _mm_cvtss_f32(_mm_add_ss(t, _mm_movehdup_ps(t)));
}

INLINE float vf_top(vf v)
{
    return _mm512_reduce_max_ps(v);
}

INLINE float vf_peak(vf a, vf b)
{
    __m512i x = _mm512_castps_si512(vf_abs(a));
    __m512i y = _mm512_castps_si512(vf_abs(b));

    return _mm_cvtss_f32(_mm_castsi128_ps(
        _mm_cvtsi32_si128(_mm512_reduce_max_epi32(_mm512_max_epi32(x, y)))));
}

INLINE vf vf_f16(const void *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(p));
}

INLINE vf vf_bf16(const void *p)
{
    __m512i v = _mm512_cvtepu16_epi32(_mm256_loadu_si256(p));

    return _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
}

INLINE vf vf_pair0(const void *p)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16));
}

INLINE vf vf_pair1(const void *p)
{
    const __m512i upper = _mm512_set1_epi32(-0x10000);

    return _mm512_castsi512_ps(
        _mm512_and_si512(_mm512_loadu_si512(p), upper));
}

INLINE void vf_to_f16(void *p, vf v)
{
    _mm256_storeu_si256(p, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

INLINE vf vf_of(vi v)
{
    return _mm512_cvtepi32_ps(v);
}
INLINE vi vi_of(vf v)
{
    return _mm512_cvtps_epi32(v);
}

INLINE vf vf_u8(const void *p)
{
    return vf_of(_mm512_cvtepu8_epi32(_mm_loadu_si128(p)));
}

INLINE vf vf_i8(const void *p)
{
    return vf_of(_mm512_cvtepi8_epi32(_mm_loadu_si128(p)));
}

INLINE vi vi_zero(void)
{
    return _mm512_setzero_si512();
}
INLINE vi vi_set(int32_t i)
{
    return _mm512_set1_epi32(i);
}
INLINE vi vi_add(vi a, vi b)
{
    return _mm512_add_epi32(a, b);
}
INLINE vi vi_sub(vi a, vi b)
{
    return _mm512_sub_epi32(a, b);
}
INLINE vi vi_shl(vi a, int n)
{
    return _mm512_sll_epi32(a, _mm_cvtsi32_si128(n));
}
INLINE vi vi_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}
INLINE void vi_store(int32_t *p, vi v)
{
    _mm512_storeu_si512(p, v);
}

INLINE void vi_to_i8(int8_t *p, vi v)
{
    _mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8(v));
}

INLINE vi vi_dot8(vi acc, vb w, const int8_t *x)
{
    int32_t four;

    memcpy(&four, x, sizeof(four));
    return _mm512_dpbusd_epi32(acc, w, _mm512_set1_epi32(four));
}

INLINE vi vi_dot7(vi acc, vb w, const int8_t *x)
{
    return vi_dot8(acc, w, x);
}

INLINE vb vb_load(const void *p)
{
    return _mm512_loadu_si512(p);
}
INLINE void vb_store(void *p, vb v)
{
    _mm512_storeu_si512(p, v);
}
INLINE vb vb_set(uint8_t v)
{
    return _mm512_set1_epi8((char)v);
}
INLINE vb vb_and(vb a, vb b)
{
    return _mm512_and_si512(a, b);
}
INLINE vb vb_or(vb a, vb b)
{
    return _mm512_or_si512(a, b);
}
INLINE vb vb_xor(vb a, vb b)
{
    return _mm512_xor_si512(a, b);
}

INLINE vb vb_shr(vb v, int n)
{
    return vb_and(_mm512_srl_epi16(v, _mm_cvtsi32_si128(n)),
                  vb_set((uint8_t)(255 >> n)));
}

INLINE vb vb_shl(vb v, int n)
{
    return vb_and(_mm512_sll_epi16(v, _mm_cvtsi32_si128(n)),
                  vb_set((uint8_t)(255 << n)));
}

INLINE vb vb_shr_and(vb v, int n, vb m)
{
    return vb_and(_mm512_srl_epi16(v, _mm_cvtsi32_si128(n)), m);
}

INLINE vb vb_shl_and(vb v, int n, vb m)
{
    return vb_and(_mm512_sll_epi16(v, _mm_cvtsi32_si128(n)), m);
}

INLINE vb vb_nib(vb v)
{
    return vb_and(v, vb_set(15));
}
INLINE vb vb_look(vb t, vb v)
{
    return _mm512_shuffle_epi8(t, v);
}

INLINE vb vb_bcast16(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128(p));
}

INLINE void vb_fetch(const void *p)
{
    _mm_prefetch(p, _MM_HINT_T0);
}

#endif
