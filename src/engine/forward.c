#include "engine/forward.h"
#include "engine/arch.h"

#include <math.h>

size_t forward_page_bytes(const struct model *m)
{
    /* the bounds of model.h keep this under 2^48 */
    return (size_t)m->n_layers * 2 * (size_t)m->kv_heads * KV_PAGE *
           (size_t)m->head_dim * sizeof(uint16_t);
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
        !alloc(f, &f->h, rows, m->width) || !alloc(f, &f->q, rows, q) ||
        !alloc(f, &f->o, rows, q) || !alloc(f, &f->k, rows, kv) ||
        !alloc(f, &f->v, rows, kv) || !alloc(f, &f->gate, rows, m->ffn) ||
        !alloc(f, &f->up, rows, m->ffn) ||
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
    k->ops->buf_free(k, f->h);
    k->ops->buf_free(k, f->q);
    k->ops->buf_free(k, f->o);
    k->ops->buf_free(k, f->k);
    k->ops->buf_free(k, f->v);
    k->ops->buf_free(k, f->gate);
    k->ops->buf_free(k, f->up);
    k->ops->buf_free(k, f->last);
    k->ops->buf_free(k, f->logits);
    free(f);
}

void forward_run(struct forward *f, const struct kern_rows *r)
{
    BUG_ON(r->n < 1 || r->n > f->rows || r->n_out > f->outs);
    f->m->arch->run(f, r);
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
    struct kern *k = m->kern;
    float scale = 1.0f / sqrtf((float)m->head_dim);

    op->rms_norm(k, f->h, f->x, l->attn_norm, n, m->width, m->eps);
    op->matmul(k, f->q, f->h, &l->q, l->q_bias, n);
    op->matmul(k, f->k, f->h, &l->k, l->k_bias, n);
    op->matmul(k, f->v, f->h, &l->v, l->v_bias, n);
    op->head_rope(k, f->q, m->heads, m->head_dim, l->q_norm, m->eps, &m->rope);
    op->head_rope(k, f->k, m->kv_heads, m->head_dim, l->k_norm, m->eps,
                  &m->rope);
    op->kv_store(k, &f->kv, layer, f->k, f->v);
    op->attend(k, f->o, f->q, &f->kv, layer, m->heads, scale);
    op->matmul(k, f->h, f->o, &l->o, NULL, n);
    op->add(k, f->x, f->h, m->width);
}

static void dense_mlp(struct forward *f, int32_t layer, int32_t n)
{
    const struct model *m = f->m;
    const struct layer *l = &m->layers[layer];
    const struct kern_ops *op = m->kern->ops;
    struct kern *k = m->kern;

    op->rms_norm(k, f->h, f->x, l->ffn_norm, n, m->width, m->eps);
    op->matmul(k, f->gate, f->h, &l->gate, NULL, n);
    op->matmul(k, f->up, f->h, &l->up, NULL, n);
    op->swiglu(k, f->gate, f->up, m->ffn);
    op->matmul(k, f->h, f->gate, &l->down, NULL, n);
    op->add(k, f->x, f->h, m->width);
}

void forward_dense(struct forward *f, const struct kern_rows *r)
{
    const struct model *m = f->m;
    const struct kern_ops *op = m->kern->ops;
    struct kern *k = m->kern;

    op->begin(k, r);
    op->embed(k, f->x, &m->embed);
    for (int32_t i = 0; i < m->n_layers; i++) {
        dense_attention(f, i, r->n);
        dense_mlp(f, i, r->n);
    }
    if (!r->n_out)
        return;
    op->gather_out(k, f->last, f->x, m->width);
    op->rms_norm(k, f->last, f->last, m->out_norm, r->n_out, m->width, m->eps);
    op->matmul(k, f->logits, f->last, &m->out, NULL, r->n_out);
}
