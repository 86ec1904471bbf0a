/* kernels/cpu/body_row.h - norm, rotation, activation. See isa.h. */
#ifndef KERNELS_CPU_BODY_ROW_H
#define KERNELS_CPU_BODY_ROW_H

#include "kernels/cpu/isa.h"
#include "kernels/cpu/lanes.h"

#include <math.h>

/*
 * The sum of squares is sixteen lanes, lane l taking x[l], x[l + 16], ... by
 * multiply-add, then vf_sum; the rest is rounded operation by operation:
 * inv = 1 / sqrt(sum / n + eps), dst = (x * inv) * w.
 */
static void row_norm(float *dst, const float *x, const float *w, int32_t n,
                     float eps)
{
    vf sum = vf_zero(), inv;
    int32_t i;

    for (i = 0; i + LANES <= n; i += LANES) {
        vf v = vf_load(x + i);

        sum = vf_fma(v, v, sum);
    }
    if (i < n) {
        vf v = vf_loadn(x + i, n - i);

        sum = vf_fma(v, v, sum);
    }
    inv = vf_set(1.0f / sqrtf(vf_sum(sum) / (float)n + eps));
    for (i = 0; i + LANES <= n; i += LANES)
        vf_store(dst + i, vf_mul(vf_mul(vf_load(x + i), inv), vf_load(w + i)));
    if (i < n) {
        vf v = vf_mul(vf_loadn(x + i, n - i), inv);

        vf_storen(dst + i, vf_mul(v, vf_loadn(w + i, n - i)), n - i);
    }
}

/* `n` pairs, a and b `step` apart from the next: no operation is fused. The
 * arrays tell the compiler that nothing overlaps. */
INLINE void rotate_pairs(float *a, float *b, const int step, const float *cs,
                         const int n)
{
    float u[LANES], v[LANES], co[LANES], si[LANES];

    for (int i = 0; i < n; i++) {
        u[i] = a[i * step];
        v[i] = b[i * step];
        co[i] = cs[2 * i];
        si[i] = cs[2 * i + 1];
    }
    for (int i = 0; i < n; i++) {
        float t = u[i] * co[i] - v[i] * si[i];

        v[i] = u[i] * si[i] + v[i] * co[i];
        u[i] = t;
    }
    for (int i = 0; i < n; i++) {
        a[i * step] = u[i];
        b[i * step] = v[i];
    }
}

INLINE void rotate_all(float *a, float *b, const int step, const float *cs,
                       int32_t pairs)
{
    for (; pairs >= LANES; pairs -= LANES, cs += 2 * LANES) {
        rotate_pairs(a, b, step, cs, LANES);
        a += LANES * step;
        b += LANES * step;
    }
    for (; pairs > 0; pairs--, a += step, b += step, cs += 2)
        rotate_pairs(a, b, step, cs, 1);
}

static void row_rotate(float *x, const float *cs, int32_t dims, int32_t neox)
{
    if (neox)
        rotate_all(x, x + dims / 2, 1, cs, dims / 2);
    else
        rotate_all(x, x + 1, 2, cs, dims / 2);
}

INLINE vf silu_times(vf gate, vf up)
{
    vf e = vf_exp(vf_sub(vf_zero(), gate));

    return vf_mul(vf_div(gate, vf_add(vf_set(1.0f), e)), up);
}

static void row_swiglu(float *dst, const float *gate, const float *up, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        vf_store(dst + i, silu_times(vf_load(gate + i), vf_load(up + i)));
    if (i < n) {
        int left = (int)(n - i);

        vf_storen(dst + i,
                  silu_times(vf_loadn(gate + i, left), vf_loadn(up + i, left)),
                  left);
    }
}

static void row_add(float *x, const float *y, size_t n)
{
    size_t i = 0;

    for (; i + LANES <= n; i += LANES)
        vf_store(x + i, vf_add(vf_load(x + i), vf_load(y + i)));
    for (; i < n; i++)
        x[i] += y[i];
}

#endif
