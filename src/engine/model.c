#include "engine/model.h"
#include "engine/arch.h"
#include "engine/rope.h"

#include <math.h>

/* --- metadata ----------------------------------------------------------- */

struct key {
    char s[128];
};

static const char *key_of(const struct model *m, struct key *k,
                          const char *name)
{
    snprintf(k->s, sizeof(k->s), "%s.%s", m->prefix, name);
    return k->s;
}

enum st model_int(const struct model *m, const char *name, int32_t min,
                  int32_t max, int32_t missing, int32_t *out, struct err *e)
{
    struct key k;
    int64_t v;

    key_of(m, &k, name);
    if (!gguf_has(m->gguf, k.s)) {
        if (missing < min)
            return err_set(e, ST_FORMAT, k.s, "the key is missing");
        *out = missing;
        return ST_OK;
    }
    if (!gguf_i64(m->gguf, k.s, &v))
        return err_set(e, ST_UNSUPPORTED, k.s, "one whole number is expected");
    if (v < min || v > max)
        return err_set(e, ST_FORMAT, k.s, "%lld is not from %d to %d",
                       (long long)v, min, max);
    *out = (int32_t)v;
    return ST_OK;
}

enum st model_num(const struct model *m, const char *name, double missing,
                  double *out, struct err *e)
{
    struct key k;

    key_of(m, &k, name);
    if (!gguf_has(m->gguf, k.s)) {
        if (missing == 0)
            return err_set(e, ST_FORMAT, k.s, "the key is missing");
        *out = missing;
        return ST_OK;
    }
    if (!gguf_f64(m->gguf, k.s, out) || !isfinite(*out) || *out <= 0)
        return err_set(e, ST_FORMAT, k.s, "a number over 0 is expected");
    return ST_OK;
}

/* --- tensors ------------------------------------------------------------ */

static enum st keep(struct model *m, struct kern_buf *b, const char *name,
                    struct err *e)
{
    if (!b)
        return err_set(e, ST_NOMEM, name, "no memory for this tensor");
    BUG_ON(m->n_bufs == m->bufs_cap);
    m->bufs[m->n_bufs++] = b;
    return ST_OK;
}

/* Find a tensor and check that it is [rows][cols] (rows 1: a vector). */
static enum st find(struct model *m, const struct gguf_tensor **out,
                    const char *name, int32_t rows, int32_t cols,
                    enum model_need need, struct err *e)
{
    const struct gguf_tensor *t = gguf_tensor_find(m->gguf, name);
    int32_t elems, bytes;

    *out = NULL;
    if (!t)
        return need == MODEL_OPTIONAL
                   ? ST_OK
                   : err_set(e, ST_FORMAT, name, "the tensor is missing");
    m->bound[t - gguf_tensor_at(m->gguf, 0)] = 1;
    if (t->dims[0] != (uint64_t)cols || t->dims[1] != (uint64_t)rows ||
        t->dims[2] != 1 || t->dims[3] != 1)
        return err_set(e, ST_FORMAT, name,
                       "the shape is [%llu, %llu, %llu, %llu], expected "
                       "[%d, %d]",
                       (unsigned long long)t->dims[0],
                       (unsigned long long)t->dims[1],
                       (unsigned long long)t->dims[2],
                       (unsigned long long)t->dims[3], cols, rows);
    if (!kern_type_block((enum kern_type)t->type, &elems, &bytes))
        return err_set(e, ST_UNSUPPORTED, name, "no kernel reads type %s",
                       gguf_type_name(t->type));
    if (cols % elems)
        return err_set(e, ST_UNSUPPORTED, name,
                       "a row of %d is not whole blocks of %s (%d)", cols,
                       gguf_type_name(t->type), elems);
    if ((uintptr_t)t->data % 4)
        return err_set(e, ST_FORMAT, name, "the data is not aligned");
    *out = t;
    return ST_OK;
}

enum st model_mat(struct model *m, struct kern_mat *out, const char *name,
                  int32_t rows, int32_t cols, enum model_need need,
                  struct err *e)
{
    const struct gguf_tensor *t;
    enum st st = find(m, &t, name, rows, cols, need, e);

    *out = (struct kern_mat){0};
    if (st || !t)
        return st;
    out->type = (enum kern_type)t->type;
    out->rows = rows;
    out->cols = cols;
    BUG_ON(m->n_mats == m->bufs_cap);
    m->mats[m->n_mats] = out;
    m->want[m->n_mats++] = (struct packs_want){t, rows, cols};
    return ST_OK;
}

/* All tensors are known and fit: now their memory. */
static enum st bind(struct model *m, const struct packs_config *c,
                    struct err *e)
{
    const struct kern_ops *op = m->kern->ops;
    enum st st = ST_OK;

    if (c->repack && op->pack)
        st = packs_open(&m->packs, m->want, m->n_mats, m->gguf, m->kern, c, e);
    for (size_t i = 0; !st && i < m->n_mats; i++) {
        const struct gguf_tensor *t = m->want[i].t;
        const void *at = t->data;
        size_t bytes = t->bytes;

        if (m->packs)
            at = packs_at(m->packs, i, &bytes);
        m->mats[i]->packed = m->packs != NULL;
        m->mats[i]->buf = op->weights(m->kern, at, bytes);
        st = keep(m, m->mats[i]->buf, gguf_path(m->gguf), e);
    }
    if (!st && !m->out.rows)
        m->out = m->embed;
    return st;
}

enum st model_vec(struct model *m, struct kern_buf **out, const char *name,
                  int32_t n, enum model_need need, struct err *e)
{
    const struct gguf_tensor *t;
    enum st st = find(m, &t, name, 1, n, need, e);

    *out = NULL;
    if (st || !t)
        return st;
    if (t->type != GGUF_F32)
        return err_set(e, ST_UNSUPPORTED, name,
                       "norms and biases must be F32, not %s",
                       gguf_type_name(t->type));
    /* Small, and a copy: one touched byte of the mapped file may keep 2 MB
     * of it resident. */
    *out = m->kern->ops->alloc(m->kern, t->bytes, KERN_WEIGHTS);
    st = keep(m, *out, name, e);
    if (!st)
        m->kern->ops->upload(m->kern, *out, 0, t->data, t->bytes);
    return st;
}

/* --- positions ---------------------------------------------------------- */

/* inv[i] /= factors[i], when the file brings factors. */
static enum st rope_factors(struct model *m, double *inv, int32_t n,
                            struct err *e)
{
    const char *name = "rope_freqs.weight";
    const struct gguf_tensor *t;
    enum st st = find(m, &t, name, 1, n, MODEL_OPTIONAL, e);

    if (st || !t)
        return st;
    if (t->type != GGUF_F32)
        return err_set(e, ST_UNSUPPORTED, name, "must be F32, not %s",
                       gguf_type_name(t->type));
    for (int32_t i = 0; i < n; i++) {
        float f;

        memcpy(&f, (const char *)t->data + (size_t)i * sizeof(f), sizeof(f));
        if (!isfinite(f) || f <= 0)
            return err_set(e, ST_FORMAT, name, "factor %d is not over 0", i);
        inv[i] /= (double)f;
    }
    return ST_OK;
}

enum st model_rope(struct model *m, int32_t neox, struct err *e)
{
    double inv[MODEL_HEAD_DIM_MAX / 2];
    struct kern *k = m->kern;
    int32_t dims;
    size_t bytes;
    enum st st;

    st = model_int(m, "rope.dimension_count", 2, m->head_dim, m->head_dim,
                   &dims, e);
    if (!st && dims % 2)
        st = err_set(e, ST_FORMAT, "rope.dimension_count", "%d is odd", dims);
    if (!st)
        st = rope_frequencies(m, dims, inv, &m->rope.mscale, e);
    if (st)
        return st;
    st = rope_factors(m, inv, dims / 2, e);
    if (st)
        return st;
    bytes = (size_t)(dims / 2) * sizeof(*inv);
    m->rope.inv = k->ops->alloc(k, bytes, KERN_WEIGHTS);
    st = keep(m, m->rope.inv, "rope", e);
    if (st)
        return st;
    k->ops->upload(k, m->rope.inv, 0, inv, bytes);
    m->rope.dims = dims;
    m->rope.neox = neox;
    return ST_OK;
}

/* --- the whole ---------------------------------------------------------- */

static enum st shape(struct model *m, struct err *e)
{
    double eps;
    bool causal;
    char key[sizeof(m->prefix) + 24];
    enum st st;

    snprintf(key, sizeof(key), "%s.attention.causal", m->prefix);
    if (gguf_bool(m->gguf, key, &causal) && !causal)
        return err_set(e, ST_UNSUPPORTED, key,
                       "false: this model embeds text, it does not write any");
    st = model_int(m, "block_count", 1, MODEL_LAYERS_MAX, 0, &m->n_layers, e);
    if (!st)
        st = model_int(m, "embedding_length", 1, MODEL_WIDTH_MAX, 0, &m->width,
                       e);
    if (!st)
        st = model_int(m, "feed_forward_length", 1, MODEL_FFN_MAX, 0, &m->ffn,
                       e);
    if (!st)
        st = model_int(m, "context_length", 1, MODEL_CONTEXT_MAX, 0,
                       &m->context, e);
    if (!st)
        st = model_int(m, "attention.head_count", 1, MODEL_HEADS_MAX, 0,
                       &m->heads, e);
    if (!st)
        st = model_int(m, "attention.head_count_kv", 1, m->heads, m->heads,
                       &m->kv_heads, e);
    if (!st && m->heads % m->kv_heads)
        st = err_set(e, ST_FORMAT, "attention.head_count_kv",
                     "%d heads do not divide by %d", m->heads, m->kv_heads);
    if (!st)
        st = model_int(m, "attention.key_length", 1, MODEL_HEAD_DIM_MAX,
                       m->width / m->heads, &m->head_dim, e);
    if (!st && (m->head_dim < 2 || m->head_dim > MODEL_HEAD_DIM_MAX ||
                m->head_dim % 2))
        st = err_set(e, ST_UNSUPPORTED, "attention.key_length",
                     "heads of %d: even sizes up to %d are supported",
                     m->head_dim, MODEL_HEAD_DIM_MAX);
    if (!st)
        st = model_int(m, "attention.value_length", m->head_dim, m->head_dim,
                       m->head_dim, &m->head_dim, e);
    if (!st)
        st = model_num(m, "attention.layer_norm_rms_epsilon", 0, &eps, e);
    if (!st)
        m->eps = (float)eps;
    return st;
}

static enum st vocabulary(struct model *m, struct err *e)
{
    const char *name = "token_embd.weight", *list = "tokenizer.ggml.tokens";
    const struct gguf_tensor *t = gguf_tensor_find(m->gguf, name);
    enum gguf_vtype elem;
    size_t n;
    enum st st;

    if (!t)
        return err_set(e, ST_FORMAT, name, "the tensor is missing");
    if (t->dims[1] < 1 || t->dims[1] > MODEL_VOCAB_MAX)
        return err_set(e, ST_FORMAT, name, "%llu rows are not from 1 to %d",
                       (unsigned long long)t->dims[1], MODEL_VOCAB_MAX);
    m->vocab = (int32_t)t->dims[1];
    if (gguf_arr(m->gguf, list, &elem, &n) && n != (size_t)m->vocab)
        return err_set(e, ST_FORMAT, list,
                       "%zu tokens, but %s has %d rows", n, name, m->vocab);
    st = model_mat(m, &m->embed, name, m->vocab, m->width, MODEL_REQUIRED, e);
    if (st)
        return st;
    st = model_vec(m, &m->out_norm, "output_norm.weight", m->width,
                   MODEL_REQUIRED, e);
    if (!st)
        st = model_mat(m, &m->out, "output.weight", m->vocab, m->width,
                       MODEL_OPTIONAL, e);
    return st;
}

/* A tensor that nobody asked for would be silently left out. */
static enum st all_bound(const struct model *m, struct err *e)
{
    size_t n = gguf_tensor_count(m->gguf);

    for (size_t i = 0; i < n; i++) {
        const struct gguf_tensor *t = gguf_tensor_at(m->gguf, i);
        char name[sizeof(e->where)];

        if (m->bound[i])
            continue;
        snprintf(name, sizeof(name), "%.*s",
                 (int)(t->name.n < sizeof(name) ? t->name.n : sizeof(name)),
                 t->name.s);
        return err_set(e, ST_UNSUPPORTED, name,
                       "architecture %s has no tensor of this name",
                       m->arch->name);
    }
    return ST_OK;
}

static enum st load(struct model *m, const struct packs_config *c,
                    struct err *e)
{
    const char *key = "general.architecture";
    struct span name;
    char known[128];
    size_t n = gguf_tensor_count(m->gguf);
    enum st st;

    if (!gguf_str(m->gguf, key, &name))
        return err_set(e, ST_FORMAT, key, "the key is missing");
    m->arch = arch_find(name);
    if (!m->arch) {
        arch_names(known, sizeof(known));
        return err_set(e, ST_UNSUPPORTED, key, "'%.*s' is not one of: %s",
                       (int)(name.n < 40 ? name.n : 40), name.s, known);
    }
    snprintf(m->prefix, sizeof(m->prefix), "%s", m->arch->name);
    st = shape(m, e);
    if (st)
        return st;
    m->bufs_cap = n + 2; /* and the frequencies */
    m->bufs = mem_try_array(m->bufs_cap, sizeof(*m->bufs));
    m->bound = mem_try_array(n + 1, sizeof(*m->bound));
    m->mats = mem_try_array(m->bufs_cap, sizeof(*m->mats));
    m->want = mem_try_array(m->bufs_cap, sizeof(*m->want));
    m->layers = mem_try_array((size_t)m->n_layers, sizeof(*m->layers));
    if (!m->bufs || !m->bound || !m->layers || !m->mats || !m->want)
        return err_set(e, ST_NOMEM, gguf_path(m->gguf), "no memory to load");
    st = vocabulary(m, e);
    if (!st)
        st = m->arch->load(m, e);
    if (!st)
        st = all_bound(m, e);
    if (!st)
        st = bind(m, c, e);
    return st;
}

enum st model_open(struct model **out, const struct gguf *g, struct kern *k,
                   const struct packs_config *c, struct err *e)
{
    struct model *m = mem_new(struct model);
    enum st st;

    *out = NULL;
    m->gguf = g;
    m->kern = k;
    m->kv_type = KERN_F16;
    st = load(m, c, e);
    if (st) {
        model_close(m);
        return st;
    }
    *out = m;
    return ST_OK;
}

void model_close(struct model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->n_bufs; i++)
        m->kern->ops->buf_free(m->kern, m->bufs[i]);
    packs_close(m->packs);
    free(m->bufs);
    free(m->bound);
    free(m->mats);
    free(m->want);
    free(m->layers);
    free(m);
}
