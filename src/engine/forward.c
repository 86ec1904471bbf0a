#include "engine/forward.h"
#include "engine/arch.h"

#include <math.h>

size_t forward_page_bytes(const struct model *m)
{
    /* the bounds of model.h keep this under 2^48 */
    return (size_t)m->n_layers * 2 * (size_t)m->kv_heads *
           kern_kv_head_bytes(m->kv_type, m->head_dim);
}

static bool alloc(struct forward *f, struct kern_buf **out, int32_t rows,
                  int32_t width)
{
    struct kern *k = f->m->kern;

    *out = k->ops->alloc(k, (size_t)rows * (size_t)width * sizeof(float),
                         KERN_WORKSPACE);
    return *out != NULL;
}

static bool alloc_kv(struct forward *f, int32_t pages)
{
    const struct model *m = f->m;
    struct kern *k = m->kern;
    size_t bytes;

    f->kv.layers = m->n_layers;
    f->kv.pages = pages;
    f->kv.kv_heads = m->kv_heads;
    f->kv.head_dim = m->head_dim;
    f->kv.type = m->kv_type;
    if (!mem_mul(&bytes, forward_page_bytes(m) / 2, (size_t)pages))
        return false;
    f->kv.k = k->ops->alloc(k, bytes, KERN_KV);
    f->kv.v = k->ops->alloc(k, bytes, KERN_KV);
    return f->kv.k && f->kv.v;
}

enum st forward_new(struct forward **out, const struct model *m, int32_t rows,
                    int32_t outs, int32_t pages, struct err *e)
{
    int32_t q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    struct forward *f = mem_new(struct forward);

    f->m = m;
    f->rows = rows;
    f->outs = outs;
    if (!alloc_kv(f, pages) || !alloc(f, &f->x, rows, m->width) ||
        !alloc(f, &f->q, rows, q) || !alloc(f, &f->o, rows, q) ||
        !alloc(f, &f->k, rows, kv) || !alloc(f, &f->v, rows, kv) ||
        !alloc(f, &f->gate, rows, m->ffn) ||
        !alloc(f, &f->last, outs, m->width) ||
        !alloc(f, &f->logits, outs, m->vocab)) {
        forward_free(f);
        *out = NULL;
        return err_set(e, ST_NOMEM, "engine",
                       "no memory for %d KV pages and steps of %d rows", pages,
                       rows);
    }
    *out = f;
    return ST_OK;
}

void forward_free(struct forward *f)
{
    struct kern *k;

    if (!f)
        return;
    k = f->m->kern;
    k->ops->buf_free(k, f->kv.k);
    k->ops->buf_free(k, f->kv.v);
    k->ops->buf_free(k, f->x);
    k->ops->buf_free(k, f->q);
    k->ops->buf_free(k, f->o);
    k->ops->buf_free(k, f->k);
    k->ops->buf_free(k, f->v);
    k->ops->buf_free(k, f->gate);
    k->ops->buf_free(k, f->last);
    k->ops->buf_free(k, f->logits);
    free(f);
}

void forward_run(struct forward *f, const struct kern_rows *r)
{
    float none;

    BUG_ON(r->n < 1 || r->n > f->rows || r->n_out > f->outs);
    f->m->arch->run(f, r);
    /* The clock is read next, for clients, estimates and slices. To read
     * nothing waits, too. */
    f->m->kern->ops->read_logits(f->m->kern, f->logits, 0, 0, &none);
}

void forward_logits(struct forward *f, int32_t i, float *dst)
{
    struct kern *k = f->m->kern;

    k->ops->read_logits(k, f->logits, i, f->m->vocab, dst);
}

static void dense_attention(struct forward *f, int32_t layer, int32_t n)
{
    const struct model *m = f->m;
    const struct layer *l = &m->layers[layer];
    const struct kern_ops *op = m->kern->ops;
    const struct kern_mm qkv = {
        .x = f->x,
        .rows = n,
        .norm = l->attn_norm,
        .eps = m->eps,
        .n = 3,
        .out = {{f->q, &l->q, l->q_bias},
                {f->k, &l->k, l->k_bias},
                {f->v, &l->v, l->v_bias}},
    };
    const struct kern_attention att = {
        .dst = f->o,
        .q = f->q,
        .key = f->k,
        .val = f->v,
        .kv = &f->kv,
        .layer = layer,
        .heads = m->heads,
        .scale = 1.0f / sqrtf((float)m->head_dim),
        .q_norm = l->q_norm,
        .k_norm = l->k_norm,
        .eps = m->eps,
        .rope = &m->rope,
    };
    const struct kern_mm out = {
        .x = f->o,
        .rows = n,
        .n = 1,
        .out = {{f->x, &l->o, NULL}},
        .add = 1,
    };

    op->matmul(m->kern, &qkv);
    op->attention(m->kern, &att);
    op->matmul(m->kern, &out);
}

static void dense_mlp(struct forward *f, int32_t layer, int32_t n)
{
    const struct model *m = f->m;
    const struct layer *l = &m->layers[layer];
    const struct kern_ops *op = m->kern->ops;
    const struct kern_mm gate = {
        .x = f->x,
        .rows = n,
        .norm = l->ffn_norm,
        .eps = m->eps,
        .n = 2,
        .out = {{f->gate, &l->gate, NULL}, {NULL, &l->up, NULL}},
        .glu = 1,
    };
    const struct kern_mm down = {
        .x = f->gate,
        .rows = n,
        .n = 1,
        .out = {{f->x, &l->down, NULL}},
        .add = 1,
    };

    op->matmul(m->kern, &gate);
    op->matmul(m->kern, &down);
}

void forward_dense(struct forward *f, const struct kern_rows *r)
{
    const struct model *m = f->m;
    const struct kern_ops *op = m->kern->ops;
    struct kern *k = m->kern;
    const struct kern_mm logits = {
        .x = f->last,
        .rows = r->n_out,
        .norm = m->out_norm,
        .eps = m->eps,
        .n = 1,
        .out = {{f->logits, &m->out, NULL}},
    };

    op->begin(k, r);
    op->embed(k, f->x, &m->embed);
    for (int32_t i = 0; i < m->n_layers; i++) {
        dense_attention(f, i, r->n);
        dense_mlp(f, i, r->n);
    }
    if (!r->n_out)
        return;
    op->gather_out(k, f->last, f->x, m->width);
    op->matmul(k, &logits);
}
