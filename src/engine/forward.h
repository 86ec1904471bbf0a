/*
 * engine/forward.h - the layers of a model over the rows of one step.
 *
 * The only caller of kernels: activations stay in backend buffers, rows go
 * in and logits come out. Engine thread only.
 */
#ifndef ENGINE_FORWARD_H
#define ENGINE_FORWARD_H

#include "engine/model.h"

struct forward {
    const struct model *m;   /* borrowed */
    struct kern_kv kv;       /* owned buffers */
    int32_t rows, outs;      /* room */
    struct kern_buf *x;      /* f32 [rows][width] */
    struct kern_buf *q, *o;  /* [rows][heads * head_dim] */
    struct kern_buf *k, *v;  /* [rows][kv_heads * head_dim] */
    struct kern_buf *gate;   /* [rows][ffn] */
    struct kern_buf *last;   /* [outs][width] */
    struct kern_buf *logits; /* [outs][vocab] */
};

/* Bytes of one KV page of all layers, keys and values. */
size_t forward_page_bytes(const struct model *m);

/*
 * Memory for steps of up to `rows` rows of which `outs` want logits, and for
 * `pages` KV pages. Errors: ST_NOMEM.
 */
enum st forward_new(struct forward **out, const struct model *m, int32_t rows,
                    int32_t outs, int32_t pages, struct err *e) MUST_CHECK;
void forward_free(struct forward *f); /* NULL ok */

/* One step, computed when it returns. r->n is 1 to f->rows, r->n_out at most
 * f->outs. */
void forward_run(struct forward *f, const struct kern_rows *r);
/* Logits of r->out[i] of the last step, to dst[vocab]. */
void forward_logits(struct forward *f, int32_t i, float *dst);

/* --- what arch.run may be ----------------------------------------------- */
void forward_dense(struct forward *f, const struct kern_rows *r);

#endif
