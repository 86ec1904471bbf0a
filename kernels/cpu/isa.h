/*
 * kernels/cpu/isa.h - inside the CPU backend: what an instruction set gives.
 *
 * ops_*.c walks rows, tiles and pages and shares the work among threads; the
 * functions of a struct cpu_isa do the arithmetic of one piece. Every set is
 * made of the same bodies over its own lanes (lanes.h), so results are the
 * same bits in every set, and never depend on how many rows, tiles or queries
 * a call carries.
 *
 * A product in a quantised format: activations are rounded to int8 with one
 * scale for 32 columns, the products of 32 (or 16) columns are summed as
 * exact integers, and
 *     y += (weight scale * activation scale) * sum     one multiply-add
 * goes through the columns in ascending order, one lane per weight row. The
 * other formats stay f32: 32 columns are summed by multiply-add from 0 in
 * ascending order, then added to the row's sum.
 * Threads: all functions are pure but for what they are told to write.
 */
#ifndef KERNELS_CPU_ISA_H
#define KERNELS_CPU_ISA_H

#include "kernels/cpu/pack.h"

/* Activation rows ready for products. q, d, neg, ds are made by `round` for
 * quantised weights (rows one after another); f is what it was made of. */
struct cpu_x {
    int32_t cols;   /* of the matrix; any number for float formats */
    const float *f; /* [rows] rows, ldf apart */
    size_t ldf;
    int8_t *q;  /* [rows][ldq]: -127 to 127, 0 from cols on */
    size_t ldq; /* cols rounded up to 64; 64-byte aligned rows */
    float *d;   /* [rows][ldq / 32] scale */
    /* [rows][ldq / 32][CPU_SUMS]: minus the sum of the first 16 of 32 q, of
     * the last 16, of all; and d * each sum, without the minus */
    int32_t *neg;
    float *ds;
};

#define CPU_SUMS 3

/* Columns of a wide tile at most: decoded it stays in the first cache. */
#define CPU_WIDE_COLS 512
#define CPU_WIDE_TILES 2

/*
 * A stretch of columns of one or two tiles, decoded once for many rows.
 * Weight = scale * (q - offset) - min, as kern_dequant.
 */
struct cpu_wide {
    int32_t cols;  /* multiple of 32, at most CPU_WIDE_COLS */
    int32_t tiles; /* 1 or 2 */
    int32_t parts; /* scales for 32 columns: 1, or 2 of 16 */
    int32_t shift; /* offset = 1 << shift; -1: none */
    bool min;      /* are there minimums? */
    bool seven;    /* no q over 127 */
    uint8_t *q;    /* [tile][cols / 4][PACK_ROWS][4] */
    float *scale;  /* [tile][cols / 32 * parts][PACK_ROWS] */
    float *mins;   /* the same */
};

/* Queries that share one key-value head of one sequence. */
struct cpu_attend {
    enum kern_type type; /* of the cache: KERN_F16 or KERN_Q8_0 */
    int32_t head_dim;
    float scale;           /* of the scores */
    int32_t n;             /* queries */
    const float *const *q; /* [n] of [head_dim] */
    float *const *out;     /* [n] of [head_dim], none of the q */
    const int32_t *pos;    /* [n] last position that each sees */
    const int32_t *pages;  /* page of each KV_PAGE positions */
    const uint8_t *k, *v;  /* this head in page 0 (kernels.h: layout) */
    size_t page;           /* bytes from a page to the next */
};

struct cpu_isa {
    const char *name; /* "cpu-avx512" */
    /* One row of activations as in struct cpu_x: q[ldq], d[ldq / 32], neg and
     * ds [ldq / 32][CPU_SUMS]. x may be read up to cols. */
    void (*round)(const float *x, int32_t cols, size_t ldq, int8_t *q, float *d,
                  int32_t *neg, float *ds);
    /*
     * y[r * ldy + 16 * t + lane] = the product of activation row r0 + r and
     * weight row `lane` of tile t, for r < rows, t < tiles: raw sums, no
     * bias. Lanes beyond the matrix's last row are written, too: y has room.
     *   w        the first tile, packed (pack.h)
     *   scratch  CPU_SCRATCH bytes, 64-byte aligned, this thread's
     */
    void (*product)(enum kern_type type, const uint8_t *w, int32_t tiles,
                    const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                    size_t ldy, void *scratch);
    /* dst = x / sqrt(mean(x^2) + eps) * w; dst may be x */
    void (*norm)(float *dst, const float *x, const float *w, int32_t n,
                 float eps);
    /* x[dims] turned by cos and sin of `cs` [dims / 2][2] (kern_rope) */
    void (*rotate)(float *x, const float *cs, int32_t dims, int32_t neox);
    /* dst = gate / (1 + exp(-gate)) * up; dst may be either */
    void (*swiglu)(float *dst, const float *gate, const float *up, size_t n);
    /* x += y */
    void (*add)(float *x, const float *y, size_t n);
    /* Write the key and the value of one position, f32 [head_dim], to its
     * place `at` (0 to KV_PAGE - 1) in one head's part of a page. */
    void (*kv_put)(enum kern_type type, uint8_t *k, uint8_t *v,
                   int32_t head_dim, int32_t at, const float *key,
                   const float *val);
    /* Softmax attention of each query over positions 0 to its pos, in order.
     * scratch: CPU_SCRATCH bytes. */
    void (*attend)(const struct cpu_attend *a, void *scratch);
};

/* Scratch of one thread. */
#define CPU_SCRATCH ((size_t)512 << 10)

extern const struct cpu_isa cpu_isa_ref;
#ifdef HAVE_X86_64
extern const struct cpu_isa cpu_isa_avx2, cpu_isa_avx512;
#endif
#ifdef HAVE_AARCH64
extern const struct cpu_isa cpu_isa_neon;
#endif

/* The sets of this build that run on this machine, the portable one first,
 * the best last; returns how many. */
#define CPU_ISAS 4
int cpu_isas_here(const struct cpu_isa *out[CPU_ISAS]);

#endif
