/*
 * engine/model.h - a GGUF file bound to an architecture.
 *
 * Every tensor that the architecture needs is looked up, its shape and type
 * checked and its memory handed to the backend once, here; afterwards the
 * forward functions trust the shapes. Matrices are packed first (packs.h),
 * when all is known to be there. A file with tensors that the
 * architecture does not know is refused: it would compute something else.
 *
 * Hyper-parameters are those of the GGUF specification, under the
 * architecture's prefix: "qwen3.block_count".
 * Threads: immutable after model_open.
 */
#ifndef ENGINE_MODEL_H
#define ENGINE_MODEL_H

#include "engine/packs.h"
#include "gguf/gguf.h"
#include "kernels/kernels.h"

#define MODEL_LAYERS_MAX 1024
#define MODEL_HEADS_MAX 1024
#define MODEL_HEAD_DIM_MAX 512
#define MODEL_WIDTH_MAX 65536
#define MODEL_FFN_MAX (1 << 20)
#define MODEL_VOCAB_MAX (1 << 22)
#define MODEL_CONTEXT_MAX (1 << 24)

struct arch;

struct layer { /* of a dense transformer; NULL: the model has none */
    struct kern_buf *attn_norm;               /* f32 [width] */
    struct kern_mat q, k, v;                  /* [heads * head_dim][width] */
    struct kern_buf *q_bias, *k_bias, *v_bias;/* f32, or NULL */
    struct kern_buf *q_norm, *k_norm;         /* f32 [head_dim], or NULL */
    struct kern_mat o;                        /* [width][heads * head_dim] */
    struct kern_buf *ffn_norm;                /* f32 [width] */
    struct kern_mat gate, up;                 /* [ffn][width] */
    struct kern_mat down;                     /* [width][ffn] */
};

struct model {
    struct kern *kern;       /* borrowed */
    const struct gguf *gguf; /* borrowed */
    const struct arch *arch;

    int32_t n_layers, width, ffn, vocab;
    int32_t heads, kv_heads, head_dim;
    int32_t context;         /* positions the model was made for */
    float eps;               /* of the RMS norms */
    struct kern_rope rope;
    enum kern_type kv_type;  /* of keys and values */

    struct kern_mat embed;   /* [vocab][width] */
    struct kern_mat out;     /* [vocab][width]; may be `embed` */
    struct kern_buf *out_norm;
    struct layer *layers;    /* [n_layers] */

    /* while loading */
    char prefix[64];         /* "qwen3" */
    struct packs *packs;     /* NULL: matrices lie in the file */
    struct kern_buf **bufs;  /* [n_bufs] owned */
    size_t n_bufs, bufs_cap;
    uint8_t *bound;          /* [tensors] 1: somebody asked for it */
    struct kern_mat **mats;  /* [n_mats] that were asked for; no memory yet */
    struct packs_want *want; /* [n_mats] what they are made of */
    size_t n_mats;
};

/* Errors: ST_FORMAT (missing or misshapen; `where` is the tensor or key),
 * ST_UNSUPPORTED (architecture, type, a key we cannot honour), ST_NOMEM. */
enum st model_open(struct model **out, const struct gguf *g, struct kern *k,
                   const struct packs_config *c, struct err *e) MUST_CHECK;
void model_close(struct model *m); /* NULL ok */

/* --- for arch_*.c, while loading ---------------------------------------- */

enum model_need { MODEL_REQUIRED, MODEL_OPTIONAL };

/* A weight matrix [rows][cols]; out must stay where it is, its memory comes
 * when all are known. out->rows stays 0 when it is optional and absent. */
enum st model_mat(struct model *m, struct kern_mat *out, const char *name,
                  int32_t rows, int32_t cols, enum model_need need,
                  struct err *e) MUST_CHECK;
/* An f32 vector [n], the same way. */
enum st model_vec(struct model *m, struct kern_buf **out, const char *name,
                  int32_t n, enum model_need need, struct err *e) MUST_CHECK;

/* PREFIX.key as an integer in [min, max]; `missing` when absent, or an error
 * when `missing` is under min. */
enum st model_int(const struct model *m, const char *key, int32_t min,
                  int32_t max, int32_t missing, int32_t *out, struct err *e)
    MUST_CHECK;
/* PREFIX.key as a positive finite number; `missing` 0: required. */
enum st model_num(const struct model *m, const char *key, double missing,
                  double *out, struct err *e) MUST_CHECK;
/* Frequencies from rope.* (rope.h) and the factors of rope_freqs.weight. */
enum st model_rope(struct model *m, int32_t neox, struct err *e) MUST_CHECK;

#endif
