/*
 * Dense decoders: RMS norms, grouped attention with RoPE, SwiGLU.
 * They differ in how RoPE pairs components, in a norm per head and in biases.
 * (GGUF specification, "Standardized tensor names".)
 */
#include "engine/arch.h"
#include "engine/forward.h"

struct names {
    char s[64];
    int32_t layer;
};

static const char *name(struct names *n, const char *what)
{
    snprintf(n->s, sizeof(n->s), "blk.%d.%s", n->layer, what);
    return n->s;
}

static enum st attention(struct model *m, struct layer *l, struct names *n,
                         struct err *e)
{
    int32_t q = m->heads * m->head_dim, kv = m->kv_heads * m->head_dim;
    enum model_need bias =
        m->arch->qkv_bias ? MODEL_REQUIRED : MODEL_OPTIONAL;
    const enum model_need must = MODEL_REQUIRED;
    enum st st;

    st = model_vec(m, &l->attn_norm, name(n, "attn_norm.weight"), m->width,
                   must, e);
    if (!st)
        st = model_mat(m, &l->q, name(n, "attn_q.weight"), q, m->width, must,
                       e);
    if (!st)
        st = model_mat(m, &l->k, name(n, "attn_k.weight"), kv, m->width, must,
                       e);
    if (!st)
        st = model_mat(m, &l->v, name(n, "attn_v.weight"), kv, m->width, must,
                       e);
    if (!st)
        st = model_vec(m, &l->q_bias, name(n, "attn_q.bias"), q, bias, e);
    if (!st)
        st = model_vec(m, &l->k_bias, name(n, "attn_k.bias"), kv, bias, e);
    if (!st)
        st = model_vec(m, &l->v_bias, name(n, "attn_v.bias"), kv, bias, e);
    if (!st && m->arch->qk_norm)
        st = model_vec(m, &l->q_norm, name(n, "attn_q_norm.weight"),
                       m->head_dim, must, e);
    if (!st && m->arch->qk_norm)
        st = model_vec(m, &l->k_norm, name(n, "attn_k_norm.weight"),
                       m->head_dim, must, e);
    if (!st)
        st = model_mat(m, &l->o, name(n, "attn_output.weight"), m->width, q,
                       must, e);
    return st;
}

static enum st mlp(struct model *m, struct layer *l, struct names *n,
                   struct err *e)
{
    const enum model_need must = MODEL_REQUIRED;
    enum st st;

    st = model_vec(m, &l->ffn_norm, name(n, "ffn_norm.weight"), m->width, must,
                   e);
    if (!st)
        st = model_mat(m, &l->gate, name(n, "ffn_gate.weight"), m->ffn,
                       m->width, must, e);
    if (!st)
        st = model_mat(m, &l->up, name(n, "ffn_up.weight"), m->ffn, m->width,
                       must, e);
    if (!st)
        st = model_mat(m, &l->down, name(n, "ffn_down.weight"), m->width,
                       m->ffn, must, e);
    return st;
}

static enum st dense_load(struct model *m, struct err *e)
{
    int32_t experts;
    enum st st;

    st = model_int(m, "expert_count", 0, INT32_MAX, 0, &experts, e);
    if (!st && experts)
        st = err_set(e, ST_UNSUPPORTED, "expert_count",
                     "mixtures of experts are not supported yet");
    if (!st)
        st = model_rope(m, m->arch->rope_neox, e);
    for (int32_t i = 0; !st && i < m->n_layers; i++) {
        struct names n = {.layer = i};

        st = attention(m, &m->layers[i], &n, e);
        if (!st)
            st = mlp(m, &m->layers[i], &n, e);
    }
    return st;
}

const struct arch arch_llama = {
    .name = "llama",
    .load = dense_load,
    .run = forward_dense,
};

const struct arch arch_qwen2 = {
    .name = "qwen2",
    .rope_neox = 1,
    .qkv_bias = true,
    .load = dense_load,
    .run = forward_dense,
};

const struct arch arch_qwen3 = {
    .name = "qwen3",
    .rope_neox = 1,
    .qk_norm = true,
    .load = dense_load,
    .run = forward_dense,
};
