/* NEON of ARMv8.2 with the dot product: four registers are one vector. */
#ifndef KERNELS_CPU_LANES_NEON_H
#define KERNELS_CPU_LANES_NEON_H

#include <arm_neon.h>

#define LANES_ROWS 2
#define LANES_FLOAT_ROWS 6
#define LANES_FLOAT_TILES 1

typedef struct {
    float32x4_t v[4];
} vf;
typedef struct {
    int32x4_t v[4];
} vi;
typedef struct {
    uint8x16_t v[4];
} vb;

/* f of each register, of one, two or three vectors. */
#define NEON_0(t, f) ((t){{f, f, f, f}})
#define NEON_1(t, f, a) ((t){{f(a.v[0]), f(a.v[1]), f(a.v[2]), f(a.v[3])}})
#define NEON_2(t, f, a, b)                                                     \
    ((t){{f(a.v[0], b.v[0]), f(a.v[1], b.v[1]), f(a.v[2], b.v[2]),             \
          f(a.v[3], b.v[3])}})
#define NEON_3(t, f, a, b, c)                                                  \
    ((t){{f(a.v[0], b.v[0], c.v[0]), f(a.v[1], b.v[1], c.v[1]),                \
          f(a.v[2], b.v[2], c.v[2]), f(a.v[3], b.v[3], c.v[3])}})

INLINE vf vf_set(float f)
{
    return NEON_0(vf, vdupq_n_f32(f));
}

INLINE vf vf_zero(void)
{
    return vf_set(0);
}

INLINE vf vf_dup(const float *p)
{
    return vf_set(*p);
}

INLINE vf vf_load(const float *p)
{
    return (vf){
        {vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)}};
}

INLINE void vf_store(float *p, vf v)
{
    vst1q_f32(p, v.v[0]);
    vst1q_f32(p + 4, v.v[1]);
    vst1q_f32(p + 8, v.v[2]);
    vst1q_f32(p + 12, v.v[3]);
}

INLINE vf vf_loadn(const float *p, int n)
{
    float all[LANES] = {0};

    memcpy(all, p, (size_t)n * sizeof(*p));
    return vf_load(all);
}

INLINE void vf_storen(float *p, vf v, int n)
{
    float all[LANES];

    vf_store(all, v);
    memcpy(p, all, (size_t)n * sizeof(*p));
}

INLINE vf vf_add(vf a, vf b)
{
    return NEON_2(vf, vaddq_f32, a, b);
}

INLINE vf vf_sub(vf a, vf b)
{
    return NEON_2(vf, vsubq_f32, a, b);
}

INLINE vf vf_mul(vf a, vf b)
{
    return NEON_2(vf, vmulq_f32, a, b);
}

INLINE vf vf_div(vf a, vf b)
{
    return NEON_2(vf, vdivq_f32, a, b);
}

INLINE vf vf_fma(vf a, vf b, vf c)
{
    return NEON_3(vf, vfmaq_f32, c, a, b);
}

INLINE vf vf_fnma(vf a, vf b, vf c)
{
    return NEON_3(vf, vfmsq_f32, c, a, b);
}

/* The instructions of these names give a NaN where one is a NaN. */
INLINE float32x4_t vf_max4(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

INLINE float32x4_t vf_min4(float32x4_t a, float32x4_t b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

INLINE vf vf_max(vf a, vf b)
{
    return NEON_2(vf, vf_max4, a, b);
}

INLINE vf vf_min(vf a, vf b)
{
    return NEON_2(vf, vf_min4, a, b);
}

INLINE vf vf_abs(vf a)
{
    return NEON_1(vf, vabsq_f32, a);
}

INLINE vf vf_sqrt(vf a)
{
    return NEON_1(vf, vsqrtq_f32, a);
}

INLINE vf vf_round(vf v)
{
    return NEON_1(vf, vrndnq_f32, v);
}

INLINE float32x4_t vf_keep4(float32x4_t a, float32x4_t least, float32x4_t v)
{
    return vreinterpretq_f32_u32(
        vandq_u32(vcgeq_f32(a, least), vreinterpretq_u32_f32(v)));
}

INLINE vf vf_keep(vf a, vf least, vf v)
{
    return NEON_3(vf, vf_keep4, a, least, v);
}

INLINE float32x4_t vf_pow2_4(float32x4_t v)
{
    int32x4_t e = vaddq_s32(vcvtnq_s32_f32(v), vdupq_n_s32(127));

    return vreinterpretq_f32_s32(vshlq_n_s32(e, 23));
}

INLINE vf vf_pow2(vf v)
{
    return NEON_1(vf, vf_pow2_4, v);
}

INLINE float vf_sum(vf v)
{
    float32x4_t a =
        vaddq_f32(vaddq_f32(v.v[0], v.v[2]), vaddq_f32(v.v[1], v.v[3]));
    float32x2_t t = vadd_f32(vget_low_f32(a), vget_high_f32(a));

    return vget_lane_f32(t, 0) + vget_lane_f32(t, 1);
}

INLINE float vf_top(vf v)
{
    return vmaxvq_f32(
        vf_max4(vf_max4(v.v[0], v.v[1]), vf_max4(v.v[2], v.v[3])));
}

/* Magnitudes as integers: a NaN is the largest. */
INLINE int32x4_t vf_peak4(float32x4_t a, float32x4_t b)
{
    return vmaxq_s32(vreinterpretq_s32_f32(vabsq_f32(a)),
                     vreinterpretq_s32_f32(vabsq_f32(b)));
}

INLINE float vf_peak(vf a, vf b)
{
    vi m = NEON_2(vi, vf_peak4, a, b);
    int32_t top = vmaxvq_s32(
        vmaxq_s32(vmaxq_s32(m.v[0], m.v[1]), vmaxq_s32(m.v[2], m.v[3])));
    float f;

    memcpy(&f, &top, sizeof(f));
    return f;
}

INLINE uint16x8_t vb_u16x8(const void *p)
{
    return vreinterpretq_u16_u8(vld1q_u8(p));
}

INLINE vf vf_f16(const void *p)
{
    const uint8_t *s = p;
    float16x8_t a = vreinterpretq_f16_u16(vb_u16x8(s));
    float16x8_t b = vreinterpretq_f16_u16(vb_u16x8(s + 16));

    return (vf){{vcvt_f32_f16(vget_low_f16(a)), vcvt_high_f32_f16(a),
                 vcvt_f32_f16(vget_low_f16(b)), vcvt_high_f32_f16(b)}};
}

INLINE float32x4_t vf_bf16_4(uint16x4_t v)
{
    return vreinterpretq_f32_u32(vshll_n_u16(v, 16));
}

INLINE vf vf_bf16(const void *p)
{
    const uint8_t *s = p;
    uint16x8_t a = vb_u16x8(s), b = vb_u16x8(s + 16);

    return (vf){{vf_bf16_4(vget_low_u16(a)), vf_bf16_4(vget_high_u16(a)),
                 vf_bf16_4(vget_low_u16(b)), vf_bf16_4(vget_high_u16(b))}};
}

INLINE vb vb_load(const void *p)
{
    const uint8_t *s = p;

    return (vb){
        {vld1q_u8(s), vld1q_u8(s + 16), vld1q_u8(s + 32), vld1q_u8(s + 48)}};
}

INLINE float32x4_t vf_pair0_4(uint8x16_t v)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_u8(v), 16));
}

INLINE vf vf_pair0(const void *p)
{
    vb v = vb_load(p);

    return NEON_1(vf, vf_pair0_4, v);
}

INLINE float32x4_t vf_pair1_4(uint8x16_t v)
{
    return vreinterpretq_f32_u32(
        vandq_u32(vreinterpretq_u32_u8(v), vdupq_n_u32(0xffff0000)));
}

INLINE vf vf_pair1(const void *p)
{
    vb v = vb_load(p);

    return NEON_1(vf, vf_pair1_4, v);
}

INLINE void vf_to_f16(void *p, vf v)
{
    uint8_t *d = p;
    float16x8_t a = vcvt_high_f16_f32(vcvt_f16_f32(v.v[0]), v.v[1]);
    float16x8_t b = vcvt_high_f16_f32(vcvt_f16_f32(v.v[2]), v.v[3]);

    vst1q_u8(d, vreinterpretq_u8_f16(a));
    vst1q_u8(d + 16, vreinterpretq_u8_f16(b));
}

INLINE vf vf_of(vi v)
{
    return NEON_1(vf, vcvtq_f32_s32, v);
}

INLINE vi vi_of(vf v)
{
    return NEON_1(vi, vcvtnq_s32_f32, v);
}

INLINE vi vi_i16(int16x8_t a, int16x8_t b)
{
    return (vi){{vmovl_s16(vget_low_s16(a)), vmovl_high_s16(a),
                 vmovl_s16(vget_low_s16(b)), vmovl_high_s16(b)}};
}

INLINE vf vf_u8(const void *p)
{
    uint8x16_t v = vld1q_u8(p);

    return vf_of(vi_i16(vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(v))),
                        vreinterpretq_s16_u16(vmovl_high_u8(v))));
}

INLINE vf vf_i8(const void *p)
{
    int8x16_t v = vld1q_s8(p);

    return vf_of(vi_i16(vmovl_s8(vget_low_s8(v)), vmovl_high_s8(v)));
}

INLINE vi vi_set(int32_t i)
{
    return NEON_0(vi, vdupq_n_s32(i));
}

INLINE vi vi_zero(void)
{
    return vi_set(0);
}

INLINE vi vi_add(vi a, vi b)
{
    return NEON_2(vi, vaddq_s32, a, b);
}

INLINE vi vi_sub(vi a, vi b)
{
    return NEON_2(vi, vsubq_s32, a, b);
}

INLINE vi vi_shl(vi a, int n)
{
    const vi by = vi_set(n);

    return NEON_2(vi, vshlq_s32, a, by);
}

INLINE vi vi_load(const int32_t *p)
{
    return (vi){
        {vld1q_s32(p), vld1q_s32(p + 4), vld1q_s32(p + 8), vld1q_s32(p + 12)}};
}

INLINE void vi_store(int32_t *p, vi v)
{
    vst1q_s32(p, v.v[0]);
    vst1q_s32(p + 4, v.v[1]);
    vst1q_s32(p + 8, v.v[2]);
    vst1q_s32(p + 12, v.v[3]);
}

INLINE void vi_to_i8(int8_t *p, vi v)
{
    int16x8_t a = vcombine_s16(vmovn_s32(v.v[0]), vmovn_s32(v.v[1]));
    int16x8_t b = vcombine_s16(vmovn_s32(v.v[2]), vmovn_s32(v.v[3]));

    vst1q_s8(p, vcombine_s8(vmovn_s16(a), vmovn_s16(b)));
}

INLINE int8x16_t vb_four(const int8_t *x)
{
    int32_t four;

    memcpy(&four, x, sizeof(four));
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}

INLINE vi vi_dots(vi acc, vb w, int8x16_t x)
{
    UNROLL
    for (int i = 0; i < 4; i++)
        acc.v[i] = vdotq_s32(acc.v[i], vreinterpretq_s8_u8(w.v[i]), x);
    return acc;
}

INLINE vi vi_dot7(vi acc, vb w, const int8_t *x)
{
    return vi_dots(acc, w, vb_four(x));
}

INLINE vb vb_set(uint8_t v)
{
    return NEON_0(vb, vdupq_n_u8(v));
}

INLINE vb vb_and(vb a, vb b)
{
    return NEON_2(vb, vandq_u8, a, b);
}

INLINE vb vb_or(vb a, vb b)
{
    return NEON_2(vb, vorrq_u8, a, b);
}

INLINE vb vb_xor(vb a, vb b)
{
    return NEON_2(vb, veorq_u8, a, b);
}

/* (w - 128) * x, which has signs on both sides, and 128 * x. */
INLINE vi vi_dot8(vi acc, vb w, const int8_t *x)
{
    int8x16_t four = vb_four(x);
    int32x4_t sum = vdotq_s32(vdupq_n_s32(0), vdupq_n_s8(64), four);
    vi more = NEON_0(vi, vshlq_n_s32(sum, 1));

    return vi_dots(vi_add(acc, more), vb_xor(w, vb_set(128)), four);
}

INLINE void vb_store(void *p, vb v)
{
    uint8_t *d = p;

    vst1q_u8(d, v.v[0]);
    vst1q_u8(d + 16, v.v[1]);
    vst1q_u8(d + 32, v.v[2]);
    vst1q_u8(d + 48, v.v[3]);
}

INLINE vb vb_shl(vb v, int n)
{
    int8x16_t by = vdupq_n_s8((int8_t)n);

    return (vb){{vshlq_u8(v.v[0], by), vshlq_u8(v.v[1], by),
                 vshlq_u8(v.v[2], by), vshlq_u8(v.v[3], by)}};
}

INLINE vb vb_shr(vb v, int n)
{
    return vb_shl(v, -n);
}

INLINE vb vb_shr_and(vb v, int n, vb m)
{
    return vb_and(vb_shr(v, n), m);
}

INLINE vb vb_shl_and(vb v, int n, vb m)
{
    return vb_and(vb_shl(v, n), m);
}

INLINE vb vb_nib(vb v)
{
    return vb_and(v, vb_set(15));
}

INLINE vb vb_look(vb t, vb v)
{
    return NEON_2(vb, vqtbl1q_u8, t, v);
}

INLINE vb vb_bcast16(const void *p)
{
    return NEON_0(vb, vld1q_u8(p));
}

INLINE void vb_fetch(const void *p)
{
    __builtin_prefetch(p);
}

#endif
