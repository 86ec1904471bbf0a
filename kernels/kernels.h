/*
 * kernels/kernels.h - the arithmetic of a forward pass, for any backend.
 *
 * A backend (CPU now, CUDA as a plug-in later) is a struct kern: one table of
 * coarse operations over opaque buffers. A forward function calls them in
 * order and never sees memory: only `begin` (rows of a step go in), `upload`
 * and `read_logits` cross to the host. Operations are issued in order; a
 * backend may run them asynchronously, read_logits waits.
 *
 * One text: an operation computes each row's result by one fixed reduction
 * order that depends on that row alone, never on the number of rows, their
 * neighbours, the threads or the page that holds a position. Attention
 * reduces by logical position in blocks of KV_PAGE.
 *
 * Activations are f32, [rows][width], row-major. Weights are [rows][cols] in
 * a GGUF block format, one output feature per row. KV entries are f16.
 * Threads: one caller thread (the engine's); a backend's own are inside.
 * Errors: shapes are the caller's duty (checked at load: BUG_ON here);
 * allocation reports ST_NOMEM.
 * This header is plain C for nvcc: no designated arrays, no restrict.
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KV_PAGE 64 /* positions per KV page */

/* Weight formats; the numbers are those of GGUF. */
enum kern_type {
    KERN_F32 = 0, KERN_F16 = 1, KERN_Q4_0 = 2, KERN_Q4_1 = 3, KERN_Q5_0 = 6,
    KERN_Q5_1 = 7, KERN_Q8_0 = 8, KERN_Q2_K = 10, KERN_Q3_K = 11,
    KERN_Q4_K = 12, KERN_Q5_K = 13, KERN_Q6_K = 14, KERN_IQ4_NL = 20,
    KERN_IQ4_XS = 23, KERN_BF16 = 30, KERN_MXFP4 = 39
};

/* Memory classes, for the accounts. */
enum kern_class {
    KERN_WEIGHTS, KERN_KV, KERN_WORKSPACE, KERN_CLASSES
};

struct kern_buf; /* opaque memory of one backend */

struct kern_mat { /* a weight matrix [rows][cols]; cols % block == 0 */
    struct kern_buf *buf;
    enum kern_type type;
    int32_t rows, cols;
    int32_t packed; /* 1: the backend's layout (pack), 0: the file's */
};

/*
 * Keys and values of all layers, [page][layer][kv_head] parts of
 * kern_kv_head_bytes: a page is one run of bytes in k and one in v. In a
 * part, positions of keys are neighbours:
 *   F16   k f16 [head_dim][KV_PAGE], v f16 [KV_PAGE][head_dim]
 *   Q8_0  k i8 [head_dim][KV_PAGE], then f16 scales
 *         [ceil(head_dim / 32)][KV_PAGE]; v i8 [KV_PAGE][head_dim], then f16
 *         scales [KV_PAGE][ceil(head_dim / 32)]
 */
struct kern_kv {
    struct kern_buf *k, *v;
    int32_t layers, pages, kv_heads, head_dim;
    enum kern_type type; /* KERN_F16 or KERN_Q8_0 */
};

/* Bytes of one head's part of one page, of keys and of values alike. */
size_t kern_kv_head_bytes(enum kern_type type, int32_t head_dim);
/* Bytes of one page, keys and values of all layers. */
size_t kern_kv_page_bytes(const struct kern_kv *kv);

struct kern_rope {
    struct kern_buf *inv; /* f64 [dims / 2]: inverse frequencies, factors in */
    int32_t dims;         /* rotated components of a head, even */
    int32_t neox;         /* 1: halves (i, i + dims/2); 0: neighbours */
    float mscale;         /* factor of cos and sin; 1 but for yarn */
};

/* The rows of one step, host memory, borrowed for the call of begin. */
struct kern_rows {
    int32_t n;            /* rows in this step */
    const int32_t *ids;   /* [n] token of each row */
    const int32_t *pos;   /* [n] position in its sequence */
    const int32_t *seq;   /* [n] index into the page tables */
    int32_t n_seqs;
    int32_t max_pages;    /* stride of the tables */
    const int32_t *pages; /* [n_seqs][max_pages] page of each 64 positions */
    int32_t n_out;        /* rows whose logits are wanted */
    const int32_t *out;   /* [n_out] row indexes, ascending */
};

/*
 * Up to three products of the same rows. w's rows are output features:
 * dst[rows][w->rows] = x[rows][w->cols] . w^T (+ bias). No dst is x.
 */
struct kern_mm {
    const struct kern_buf *x; /* f32 [rows][cols], unchanged */
    int32_t rows;
    const struct kern_buf *norm; /* f32 [cols]: x is RMS-normed first, NULL:
                                  * it is taken as it is */
    float eps;                   /* of that norm */
    int32_t n;                   /* products: 1 to 3 */
    struct kern_mm_out {
        struct kern_buf *dst;
        const struct kern_mat *w;
        const struct kern_buf *bias; /* f32 [w->rows] or NULL */
    } out[3];
    int32_t add; /* 1: dst += the product */
    int32_t glu; /* 1, n == 2: out[0].dst = silu(product 0) * product 1 and
                  * out[1].dst is not looked at */
};

/*
 * Attention of the step's rows in one layer: an optional RMS norm of each
 * head of q and key, rotation at the rows' positions, all rows' keys and
 * values stored, then each row attends causally to positions 0 to its own of
 * its sequence. q and key may be changed.
 */
struct kern_attention {
    struct kern_buf *dst;       /* f32 [n][heads][head_dim], not q */
    struct kern_buf *q;         /* f32 [n][heads][head_dim] */
    struct kern_buf *key;       /* f32 [n][kv_heads][head_dim] */
    const struct kern_buf *val; /* f32 [n][kv_heads][head_dim] */
    const struct kern_kv *kv;
    int32_t layer, heads;
    float scale; /* of the scores */
    const struct kern_buf *q_norm, *k_norm; /* f32 [head_dim] or NULL */
    float eps;
    const struct kern_rope *rope;
};

struct kern;
struct kern_ops {
    void (*free)(struct kern *k);
    /* Zeroed device memory; NULL when there is none left. */
    struct kern_buf *(*alloc)(struct kern *k, size_t bytes,
                              enum kern_class cls);
    /* Weights that lie in host memory (a mapped file, borrowed until
     * buf_free): used in place or copied, as the backend likes. */
    struct kern_buf *(*weights)(struct kern *k, const void *host,
                                size_t bytes);
    /*
     * Weights in the backend's own layout: bytes of a matrix in it, and one
     * matrix from the file's layout into it, with all threads. src is read
     * once, front to back; dst is written the same way.
     */
    size_t (*pack_bytes)(struct kern *k, enum kern_type type, int32_t rows,
                         int32_t cols);
    void (*pack)(struct kern *k, void *dst, const void *src,
                 enum kern_type type, int32_t rows, int32_t cols);
    void (*buf_free)(struct kern *k, struct kern_buf *b); /* NULL ok */
    void (*upload)(struct kern *k, struct kern_buf *dst, size_t off,
                   const void *src, size_t bytes);

    /* Start a step: its rows hold for all operations until the next begin. */
    void (*begin)(struct kern *k, const struct kern_rows *r);
    /* dst[n][table->cols] = row ids[i] of the table, as f32 */
    void (*embed)(struct kern *k, struct kern_buf *dst,
                  const struct kern_mat *table);
    void (*matmul)(struct kern *k, const struct kern_mm *m);
    void (*attention)(struct kern *k, const struct kern_attention *a);
    /*
     * Whole pages, between two steps. copy: dst becomes src. read and write:
     * kern_kv_page_bytes, the page's keys, then its values. drop: nobody
     * needs these pages' bytes; their memory goes back to the system where
     * that is possible, and comes again when they are written to.
     */
    void (*kv_copy)(struct kern *k, const struct kern_kv *kv, int32_t dst,
                    int32_t src);
    void (*kv_read)(struct kern *k, const struct kern_kv *kv, int32_t page,
                    void *dst);
    void (*kv_write)(struct kern *k, const struct kern_kv *kv, int32_t page,
                     const void *src);
    void (*kv_drop)(struct kern *k, const struct kern_kv *kv,
                    const int32_t *pages, int32_t n);
    /* dst[n_out][width] = rows out[i] of x */
    void (*gather_out)(struct kern *k, struct kern_buf *dst,
                       const struct kern_buf *x, int32_t width);
    /* Copy row i of logits[.][n] to dst[n]; waits for the step. */
    void (*read_logits)(struct kern *k, const struct kern_buf *logits,
                        int32_t i, int32_t n, float *dst);
};

struct kern {
    const struct kern_ops *ops;
    char name[32];               /* kernel set: "cpu-ref", "cpu-avx2" */
    const char *layout;          /* of packed weights: "rows16-1" */
    size_t bytes[KERN_CLASSES];  /* allocated, per class; KV: reserved only */
};

/*
 * Which CPU kernels: the best of this machine, or a named set for tests.
 * All of them compute the same bits (kernels/cpu/lanes.h).
 */
enum kern_cpu_set {
    KERN_CPU_AUTO, KERN_CPU_REF, KERN_CPU_AVX2, KERN_CPU_AVX512, KERN_CPU_NEON
};

struct kern_cpu_config {
    int threads; /* 1-256, the caller's included */
    enum kern_cpu_set set;
    const int *cpus; /* [n_cpus] borrowed: thread i is pinned to the i-th, the
                      * caller (thread 0) at its first operation */
    int n_cpus;      /* 0: nobody is pinned; else at least `threads` */
};

/*
 * The CPU backend. KERN_CPU_AUTO looks at the environment: PENSTOCK_CPU names
 * a set (ref, avx2, avx512, neon).
 * Errors: ST_UNSUPPORTED when the named set cannot run here, ST_INVALID when
 * PENSTOCK_CPU is none of them, ST_NOMEM.
 */
enum st kern_cpu_new(struct kern **out, const struct kern_cpu_config *c,
                     struct err *e) MUST_CHECK;
void kern_free(struct kern *k); /* NULL ok */

/* Elements and bytes of one block. False for a type no kernel reads. */
bool kern_type_block(enum kern_type t, int32_t *elems, int32_t *bytes);

/* Host-side decoding of a run of blocks to f32, the reference for every
 * format; n % block == 0. Used by tests and by embed. */
void kern_dequant(enum kern_type t, const void *src, float *dst, size_t n);

#ifdef __cplusplus
}
#endif
#endif
