/*
 * kernels/cpu/cpu.h - inside the CPU backend: what an instruction set gives.
 *
 * ops.c walks rows, weights and pages and shares the work among threads; the
 * functions of a struct cpu_set do the arithmetic of one piece. The fixed
 * reduction order lives in both: a sum over k is eight lanes, lane l taking
 * k = l, l + 8, ... in ascending order, then cpu_sum8. How many rows or
 * weights a call carries never changes the order within one of them.
 *
 * Sets differ from each other in the last bits only (fused multiply-add,
 * exp): kernels.h has the tolerance.
 */
#ifndef KERNELS_CPU_CPU_H
#define KERNELS_CPU_CPU_H

#include "kernels/cpu/pool.h"
#include "kernels/cpu/quant.h"

#define TILE_W 4    /* weight rows of a tile */
#define TILE_K 256  /* columns of a tile; a multiple of every block */
#define TILE_X 48   /* activation rows that share a decoded tile */

struct kern_buf {
    uint8_t *p;
    size_t bytes;
    enum kern_class cls;
    size_t mapped; /* bytes of the mapping, when p came from mmap */
    void *heap;    /* what to free, when p lies in the heap */
};

/* One query head of one row, and its running softmax: ops.c goes through the
 * pages in order, a set adds the positions of one page. */
struct cpu_attend {
    const float *q;  /* [head_dim] */
    float *out;      /* [head_dim], not q: sum of exp(score - max) * value */
    int32_t head_dim;
    float scale;
    float max, sum;  /* of the scores; of exp(score - max) */
};

struct cpu_set {
    const char *name;
    /* As kern_dequant, bit for bit. */
    void (*decode)(enum kern_type t, const void *src, float *dst, size_t n);
    /*
     * acc[r][j][lane] += w[j * ldw + k] * x[r * ldx + k]
     * for r < rows, j < TILE_W, k < nk.
     *   w   zero from nk up to the next multiple of 8, any alignment
     *   x   only nk elements of a row may be read
     */
    void (*tile)(const float *w, size_t ldw, int32_t nk, const float *x,
                 size_t ldx, int32_t rows, float *acc);
    /*
     * acc[j][lane] = the same sums for one activation row and TILE_W whole
     * weight rows, ldw bytes apart, bit for bit as decode and tile. False,
     * and nothing done, for what it has no code for; NULL: for everything.
     */
    bool (*row)(enum kern_type t, const uint8_t *w, size_t ldw, int32_t cols,
                const float *x, float *acc);
    /* dst = x / sqrt(mean(x^2) + eps) * w; dst may be x */
    void (*norm)(float *dst, const float *x, const float *w, int32_t n,
                 float eps);
    /* n <= KV_PAGE positions, k and v f16 [KV_PAGE][head_dim]; what follows
     * the n may be read and counts for nothing */
    void (*attend)(struct cpu_attend *a, const uint16_t *k, const uint16_t *v,
                   int32_t n);
    /* gate = gate / (1 + exp(-gate)) * up, each element for itself */
    void (*swiglu)(float *gate, const float *up, size_t n);
    void (*to_f16)(uint16_t *dst, const float *src, size_t n);
};

extern const struct cpu_set cpu_set_ref;
#ifdef HAVE_X86_64
extern const struct cpu_set cpu_set_avx2;
#endif

/* cos and sin of every row's angles, kept for the step. */
struct cpu_rope {
    const struct kern_buf *inv; /* NULL: empty */
    int32_t dims;
    size_t cap; /* floats */
    float *cs;  /* [n][dims / 2][2] */
};

#define CPU_ROPES 2 /* different rotations in one model */

struct ints {
    int32_t *p;
    size_t cap;
};

struct cpu {
    struct kern k; /* first: the backend is cast from it */
    const struct cpu_set *set;
    struct pool *pool;
    /* The rows of the step, copied by begin. */
    int32_t n, n_out, top_page;
    struct ints ids, pos, seq; /* [n] */
    struct ints out;           /* [n_out] */
    struct ints first;         /* [sequences] where its list begins in: */
    struct ints pages;         /* of each sequence, as many as are looked at */
    struct cpu_rope rope[CPU_ROPES];
    int next_rope;
};

extern const struct kern_ops cpu_ops; /* ops.c; free, alloc... dispatch.c */
void cpu_free(struct kern *k);
struct kern_buf *cpu_alloc(struct kern *k, size_t bytes, enum kern_class cls);
struct kern_buf *cpu_weights(struct kern *k, const void *host, size_t bytes);
void cpu_buf_free(struct kern *k, struct kern_buf *b);

static inline float cpu_sum8(const float s[8])
{
    float a = s[0] + s[4], b = s[1] + s[5], c = s[2] + s[6], d = s[3] + s[7];

    return (a + c) + (b + d);
}

#endif
