/* Plain C: arrays of sixteen, loops over them. */
#ifndef KERNELS_CPU_LANES_C_H
#define KERNELS_CPU_LANES_C_H

#include "kernels/cpu/quant.h"

#include <math.h>

#define LANES_ROWS 1
#define LANES_FLOAT_ROWS 1
#define LANES_FLOAT_TILES 1

typedef struct {
    float l[LANES];
} vf;
typedef struct {
    int32_t l[LANES];
} vi;
typedef struct {
    uint8_t l[4 * LANES];
} vb;

#define EACH(i) for (int i = 0; i < LANES; i++)
#define EACH_BYTE(i) for (int i = 0; i < 4 * LANES; i++)

INLINE vf vf_set(float f)
{
    vf r;

    EACH(i)
    r.l[i] = f;
    return r;
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
    vf r;

    memcpy(r.l, p, sizeof(r.l));
    return r;
}

INLINE void vf_store(float *p, vf v)
{
    memcpy(p, v.l, sizeof(v.l));
}

INLINE vf vf_loadn(const float *p, int n)
{
    vf r = {{0}};

    memcpy(r.l, p, (size_t)n * sizeof(*p));
    return r;
}

INLINE void vf_storen(float *p, vf v, int n)
{
    memcpy(p, v.l, (size_t)n * sizeof(*p));
}

INLINE vf vf_add(vf a, vf b)
{
    EACH(i)
    a.l[i] = a.l[i] + b.l[i];
    return a;
}

INLINE vf vf_sub(vf a, vf b)
{
    EACH(i)
    a.l[i] = a.l[i] - b.l[i];
    return a;
}

INLINE vf vf_mul(vf a, vf b)
{
    EACH(i)
    a.l[i] = a.l[i] * b.l[i];
    return a;
}

INLINE vf vf_div(vf a, vf b)
{
    EACH(i)
    a.l[i] = a.l[i] / b.l[i];
    return a;
}

INLINE vf vf_max(vf a, vf b)
{
    EACH(i)
    a.l[i] = a.l[i] > b.l[i] ? a.l[i] : b.l[i];
    return a;
}

INLINE vf vf_min(vf a, vf b)
{
    EACH(i)
    a.l[i] = a.l[i] < b.l[i] ? a.l[i] : b.l[i];
    return a;
}

INLINE vf vf_fma(vf a, vf b, vf c)
{
    EACH(i)
    c.l[i] = fmaf(a.l[i], b.l[i], c.l[i]);
    return c;
}

INLINE vf vf_fnma(vf a, vf b, vf c)
{
    EACH(i)
    c.l[i] = fmaf(-a.l[i], b.l[i], c.l[i]);
    return c;
}

INLINE vf vf_abs(vf a)
{
    EACH(i)
    a.l[i] = fabsf(a.l[i]);
    return a;
}

INLINE vf vf_sqrt(vf a)
{
    EACH(i)
    a.l[i] = sqrtf(a.l[i]);
    return a;
}

INLINE vf vf_round(vf v)
{
    EACH(i)
    v.l[i] = rintf(v.l[i]);
    return v;
}

INLINE vf vf_keep(vf a, vf least, vf v)
{
    EACH(i)
    v.l[i] = a.l[i] >= least.l[i] ? v.l[i] : 0;
    return v;
}

INLINE vf vf_pow2(vf v)
{
    EACH(i)
    {
        uint32_t bits = (uint32_t)((int32_t)v.l[i] + 127) << 23;

        memcpy(&v.l[i], &bits, sizeof(bits));
    }
    return v;
}

INLINE float vf_sum(vf v)
{
    for (int n = LANES / 2; n; n /= 2)
        for (int i = 0; i < n; i++)
            v.l[i] += v.l[i + n];
    return v.l[0];
}

INLINE float vf_top(vf v)
{
    float top = v.l[0];

    EACH(i)
    top = v.l[i] > top ? v.l[i] : top;
    return top;
}

INLINE float vf_peak(vf a, vf b)
{
    int32_t x[2 * LANES], top = 0;
    float f;

    a = vf_abs(a);
    b = vf_abs(b);
    memcpy(x, a.l, sizeof(a.l));
    memcpy(x + LANES, b.l, sizeof(b.l));
    for (int i = 0; i < 2 * LANES; i++)
        top = x[i] > top ? x[i] : top;
    memcpy(&f, &top, sizeof(f));
    return f;
}

INLINE uint16_t vb_u16(const void *p, int i)
{
    uint16_t v;

    memcpy(&v, (const uint8_t *)p + 2 * i, sizeof(v));
    return v;
}

INLINE vf vf_f16(const void *p)
{
    vf r;

    EACH(i)
    r.l[i] = quant_f16_f32(vb_u16(p, i));
    return r;
}

INLINE float vb_bf16(const void *p, int i)
{
    uint32_t bits = (uint32_t)vb_u16(p, i) << 16;
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

INLINE vf vf_bf16(const void *p)
{
    vf r;

    EACH(i)
    r.l[i] = vb_bf16(p, i);
    return r;
}

INLINE vf vf_pair0(const void *p)
{
    vf r;

    EACH(i)
    r.l[i] = vb_bf16(p, 2 * i);
    return r;
}

INLINE vf vf_pair1(const void *p)
{
    vf r;

    EACH(i)
    r.l[i] = vb_bf16(p, 2 * i + 1);
    return r;
}

INLINE void vf_to_f16(void *p, vf v)
{
    EACH(i)
    {
        uint16_t h = quant_f32_f16(v.l[i]);

        memcpy((uint8_t *)p + 2 * i, &h, sizeof(h));
    }
}

INLINE vf vf_u8(const void *p)
{
    vf r;

    EACH(i)
    r.l[i] = (float)((const uint8_t *)p)[i];
    return r;
}

INLINE vf vf_i8(const void *p)
{
    vf r;

    EACH(i)
    r.l[i] = (float)((const int8_t *)p)[i];
    return r;
}

INLINE vf vf_of(vi v)
{
    vf r;

    EACH(i)
    r.l[i] = (float)v.l[i];
    return r;
}

INLINE vi vi_of(vf v)
{
    vi r;

    EACH(i)
    {
        float w = rintf(v.l[i]);

        /* what the machine's own conversion says of the others */
        r.l[i] = w >= -0x1p31f && w < 0x1p31f ? (int32_t)w : INT32_MIN;
    }
    return r;
}

INLINE vi vi_set(int32_t v)
{
    vi r;

    EACH(i)
    r.l[i] = v;
    return r;
}

INLINE vi vi_zero(void)
{
    return vi_set(0);
}

INLINE vi vi_add(vi a, vi b)
{
    EACH(i)
    a.l[i] += b.l[i];
    return a;
}

INLINE vi vi_sub(vi a, vi b)
{
    EACH(i)
    a.l[i] -= b.l[i];
    return a;
}

INLINE vi vi_shl(vi a, int n)
{
    EACH(i)
    a.l[i] = (int32_t)((uint32_t)a.l[i] << n);
    return a;
}

INLINE vi vi_load(const int32_t *p)
{
    vi r;

    memcpy(r.l, p, sizeof(r.l));
    return r;
}

INLINE void vi_store(int32_t *p, vi v)
{
    memcpy(p, v.l, sizeof(v.l));
}

INLINE void vi_to_i8(int8_t *p, vi v)
{
    EACH(i)
    p[i] = (int8_t)v.l[i];
}

INLINE vi vi_dot8(vi acc, vb w, const int8_t *x)
{
    EACH(i)
    acc.l[i] += w.l[4 * i] * x[0] + w.l[4 * i + 1] * x[1] +
                w.l[4 * i + 2] * x[2] + w.l[4 * i + 3] * x[3];
    return acc;
}

INLINE vi vi_dot7(vi acc, vb w, const int8_t *x)
{
    return vi_dot8(acc, w, x);
}

INLINE vb vb_load(const void *p)
{
    vb r;

    memcpy(r.l, p, sizeof(r.l));
    return r;
}

INLINE void vb_store(void *p, vb v)
{
    memcpy(p, v.l, sizeof(v.l));
}

INLINE vb vb_set(uint8_t v)
{
    vb r;

    memset(r.l, v, sizeof(r.l));
    return r;
}

INLINE vb vb_and(vb a, vb b)
{
    EACH_BYTE(i)
    a.l[i] &= b.l[i];
    return a;
}

INLINE vb vb_or(vb a, vb b)
{
    EACH_BYTE(i)
    a.l[i] |= b.l[i];
    return a;
}

INLINE vb vb_xor(vb a, vb b)
{
    EACH_BYTE(i)
    a.l[i] ^= b.l[i];
    return a;
}

INLINE vb vb_shr(vb v, int n)
{
    EACH_BYTE(i)
    v.l[i] = (uint8_t)(v.l[i] >> n);
    return v;
}

INLINE vb vb_shl(vb v, int n)
{
    EACH_BYTE(i)
    v.l[i] = (uint8_t)(v.l[i] << n);
    return v;
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
    EACH_BYTE(i)
    v.l[i] = t.l[v.l[i]];
    return v;
}

INLINE vb vb_bcast16(const void *p)
{
    vb r;

    for (int i = 0; i < 4; i++)
        memcpy(r.l + 16 * i, p, 16);
    return r;
}

INLINE void vb_fetch(const void *p)
{
    __builtin_prefetch(p);
}

#endif
