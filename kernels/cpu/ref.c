/* The portable kernels: plain C, the yardstick of every other set. */
#include "kernels/cpu/cpu.h"

#include <math.h>

static void ref_tile(const float *w, size_t ldw, int32_t nk, const float *x,
                     size_t ldx, int32_t rows, float *acc)
{
    for (int32_t r = 0; r < rows; r++, x += ldx)
        for (int j = 0; j < TILE_W; j++, acc += 8) {
            const float *wj = w + (size_t)j * ldw;
            int32_t k = 0;

            for (; k + 8 <= nk; k += 8)
                for (int l = 0; l < 8; l++)
                    acc[l] += wj[k + l] * x[k + l];
            for (int l = 0; k + l < nk; l++)
                acc[l] += wj[k + l] * x[k + l];
        }
}

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
    float s[8] = {0};

    for (int32_t i = 0; i < n; i++)
        s[i % 8] += q[i] * quant_f16_f32(k[i]);
    return cpu_sum8(s);
}

/* One block of n positions; *max and *sum are the running softmax. */
static void ref_attend_block(const struct cpu_attend *a, const uint16_t *k,
                             const uint16_t *v, int32_t n, float *max,
                             float *sum)
{
    float p[KV_PAGE], s[8] = {0}, top = *max, keep;

    for (int32_t j = 0; j < n; j++) {
        p[j] = ref_dot_f16(a->q, k + (size_t)j * (size_t)a->head_dim,
                           a->head_dim) * a->scale;
        top = p[j] > top ? p[j] : top;
    }
    keep = expf(*max - top);
    for (int32_t j = 0; j < n; j++) {
        p[j] = expf(p[j] - top);
        s[j % 8] += p[j];
    }
    *sum = *sum * keep + cpu_sum8(s);
    *max = top;
    for (int32_t d = 0; d < a->head_dim; d++)
        a->out[d] *= keep;
    for (int32_t j = 0; j < n; j++, v += a->head_dim)
        for (int32_t d = 0; d < a->head_dim; d++)
            a->out[d] += p[j] * quant_f16_f32(v[d]);
}

static void ref_attend(const struct cpu_attend *a)
{
    float max = -INFINITY, sum = 0, inv;

    for (int32_t d = 0; d < a->head_dim; d++)
        a->out[d] = 0;
    for (int32_t p = 0; p <= a->pos; p += KV_PAGE) {
        size_t off = (size_t)a->pages[p / KV_PAGE] * a->page_stride;
        int32_t n = a->pos + 1 - p < KV_PAGE ? a->pos + 1 - p : KV_PAGE;

        ref_attend_block(a, a->k + off, a->v + off, n, &max, &sum);
    }
    inv = 1.0f / sum;
    for (int32_t d = 0; d < a->head_dim; d++)
        a->out[d] *= inv;
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
