/* The portable kernels: plain C, the yardstick of every other set. */
#include "kernels/cpu/cpu.h"

#include <math.h>

/* Eight lanes; the compiler makes them of whatever the machine has. */
typedef float f32x8 __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) void lanes_add(f32x8 *s,
                                                            const float *w,
                                                            const float *x)
{
    f32x8 a, b;

    memcpy(&a, w, sizeof(a));
    memcpy(&b, x, sizeof(b));
    *s += a * b;
}

static void ref_tile(const float *w, size_t ldw, int32_t nk, const float *x,
                     size_t ldx, int32_t rows, float *acc)
{
    for (int32_t r = 0; r < rows; r++, x += ldx, acc += TILE_W * 8) {
        float rest[8] = {0};
        f32x8 s[TILE_W];
        int32_t k = 0;

        memcpy(s, acc, sizeof(s));
        for (; k + 8 <= nk; k += 8) {
            lanes_add(&s[0], w + k, x + k);
            lanes_add(&s[1], w + ldw + k, x + k);
            lanes_add(&s[2], w + 2 * ldw + k, x + k);
            lanes_add(&s[3], w + 3 * ldw + k, x + k);
        }
        if (k < nk) {
            memcpy(rest, x + k, sizeof(*rest) * (size_t)(nk - k));
            for (size_t j = 0; j < TILE_W; j++)
                lanes_add(&s[j], w + j * ldw + k, rest);
        }
        memcpy(acc, s, sizeof(s));
    }
}
_Static_assert(TILE_W == 4, "ref_tile is written out for four");

static void ref_norm(float *dst, const float *x, const float *w, int32_t n,
                     float eps)
{
    float s[8] = {0}, inv;

    for (int32_t i = 0; i < n; i++)
        s[i % 8] += x[i] * x[i];
    inv = 1.0f / sqrtf(cpu_sum8(s) / (float)n + eps);
    for (int32_t i = 0; i < n; i++)
        dst[i] = x[i] * inv * w[i];
}

static float ref_dot_f16(const float *q, const uint16_t *k, int32_t n)
{
    float sum[8] = {0}, key[8];
    f32x8 s = {0};
    int32_t i = 0;

    for (; i + 8 <= n; i += 8) {
        for (int l = 0; l < 8; l++)
            key[l] = quant_f16_f32(k[i + l]);
        lanes_add(&s, q + i, key);
    }
    memcpy(sum, &s, sizeof(sum));
    for (int l = 0; i + l < n; l++)
        sum[l] += q[i + l] * quant_f16_f32(k[i + l]);
    return cpu_sum8(sum);
}

static void ref_attend(struct cpu_attend *a, const uint16_t *k,
                       const uint16_t *v, int32_t n)
{
    float p[KV_PAGE], s[8] = {0}, top = a->max, keep;

    for (int32_t j = 0; j < n; j++) {
        p[j] = ref_dot_f16(a->q, k + (size_t)j * (size_t)a->head_dim,
                           a->head_dim) * a->scale;
        top = p[j] > top ? p[j] : top;
    }
    keep = expf(a->max - top);
    for (int32_t j = 0; j < n; j++) {
        p[j] = expf(p[j] - top);
        s[j % 8] += p[j];
    }
    a->sum = a->sum * keep + cpu_sum8(s);
    a->max = top;
    for (int32_t d = 0; d < a->head_dim; d++)
        a->out[d] *= keep;
    for (int32_t j = 0; j < n; j++, v += a->head_dim)
        for (int32_t d = 0; d < a->head_dim; d++)
            a->out[d] += p[j] * quant_f16_f32(v[d]);
}

static void ref_swiglu(float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++)
        gate[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
}

static void ref_to_f16(uint16_t *dst, const float *src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = quant_f32_f16(src[i]);
}

const struct cpu_set cpu_set_ref = {
    .name = "cpu-ref",
    .decode = kern_dequant,
    .tile = ref_tile,
    .norm = ref_norm,
    .attend = ref_attend,
    .swiglu = ref_swiglu,
    .to_f16 = ref_to_f16,
};
