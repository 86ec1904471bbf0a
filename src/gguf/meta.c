#include "gguf/impl.h"

static const uint8_t vsize[] = {
    [GGUF_V_U8] = 1,  [GGUF_V_I8] = 1,  [GGUF_V_U16] = 2, [GGUF_V_I16] = 2,
    [GGUF_V_U32] = 4, [GGUF_V_I32] = 4, [GGUF_V_F32] = 4, [GGUF_V_BOOL] = 1,
    [GGUF_V_STR] = 0, [GGUF_V_ARR] = 0, [GGUF_V_U64] = 8, [GGUF_V_I64] = 8,
    [GGUF_V_F64] = 8,
};

/* --- reading ------------------------------------------------------------ */

/* Keys were checked by name_ok; a long one is cut so that the fault shows. */
#define KEY(kv) (int)((kv)->key.n < 80 ? (kv)->key.n : 80), (kv)->key.s

static enum st cut_off(const struct gguf *g, const struct kv *kv,
                       struct err *e)
{
    return err_set(e, ST_FORMAT, g->path,
                   "key '%.*s': the file ends inside the value (%zu bytes)",
                   KEY(kv), g->size);
}

static enum st bools_ok(const struct gguf *g, const struct kv *kv,
                        struct err *e)
{
    for (uint64_t i = 0; i < kv->n; i++)
        if (kv->p[i] > 1)
            return err_set(e, ST_FORMAT, g->path,
                           "key '%.*s': a bool is %u, not 0 or 1", KEY(kv),
                           kv->p[i]);
    return ST_OK;
}

static enum st numbers_read(struct gguf *g, struct cur *c, struct kv *kv,
                            enum gguf_vtype elem, struct err *e)
{
    /* n is at most GGUF_MAX_ARRAY here: the product cannot overflow */
    if (!cur_take(c, kv->n * vsize[elem], &kv->p))
        return cut_off(g, kv, e);
    return elem == GGUF_V_BOOL ? bools_ok(g, kv, e) : ST_OK;
}

static enum st strings_read(struct gguf *g, struct cur *c, struct kv *kv,
                            struct err *e)
{
    /* each string has at least its length: bounds the table by the file */
    if (kv->n > (c->n - c->off) / 8)
        return err_set(e, ST_FORMAT, g->path,
                       "key '%.*s': %llu strings do not fit into the %zu "
                       "bytes left", KEY(kv), (unsigned long long)kv->n,
                       c->n - c->off);
    kv->strs = mem_try_table((size_t)kv->n, sizeof(*kv->strs));
    if (!kv->strs)
        return err_set(e, ST_NOMEM, g->path, "no memory for %llu strings",
                       (unsigned long long)kv->n);
    for (uint64_t i = 0; i < kv->n; i++)
        if (!cur_str(c, &kv->strs[i]))
            return err_set(e, ST_FORMAT, g->path,
                           "key '%.*s': string %llu of %llu ends past the "
                           "file (%zu bytes)", KEY(kv), (unsigned long long)i,
                           (unsigned long long)kv->n, g->size);
    return ST_OK;
}

static enum st array_read(struct gguf *g, struct cur *c, struct kv *kv,
                          struct err *e)
{
    uint32_t elem;

    if (!cur_u32(c, &elem) || !cur_u64(c, &kv->n))
        return cut_off(g, kv, e);
    if (elem == GGUF_V_ARR)
        return err_set(e, ST_FORMAT, g->path,
                       "key '%.*s': an array of arrays is not accepted",
                       KEY(kv));
    if (elem > GGUF_V_F64)
        return err_set(e, ST_FORMAT, g->path,
                       "key '%.*s': array element type %u does not exist",
                       KEY(kv), elem);
    kv->elem = (enum gguf_vtype)elem;
    if (kv->n > GGUF_MAX_ARRAY)
        return err_set(e, ST_FORMAT, g->path,
                       "key '%.*s': an array of %llu elements, at most %u are "
                       "accepted", KEY(kv), (unsigned long long)kv->n,
                       GGUF_MAX_ARRAY);
    if (kv->elem == GGUF_V_STR)
        return strings_read(g, c, kv, e);
    return numbers_read(g, c, kv, kv->elem, e);
}

static enum st kv_read(struct gguf *g, struct cur *c, size_t i, struct err *e)
{
    struct kv *kv = &g->kv[i];
    uint32_t type;

    if (!cur_str(c, &kv->key))
        return err_set(e, ST_FORMAT, g->path,
                       "metadata key %zu of %zu ends past the file (%zu "
                       "bytes)", i, g->n_kv, g->size);
    if (!name_ok(kv->key, GGUF_MAX_KEY))
        return err_set(e, ST_FORMAT, g->path,
                       "metadata key %zu of %zu (%zu bytes) is not 1 to %u "
                       "bytes of printable UTF-8", i, g->n_kv, kv->key.n,
                       GGUF_MAX_KEY);
    if (!cur_u32(c, &type))
        return cut_off(g, kv, e);
    if (type > GGUF_V_F64)
        return err_set(e, ST_FORMAT, g->path,
                       "key '%.*s': value type %u does not exist", KEY(kv),
                       type);
    kv->type = (enum gguf_vtype)type;
    if (kv->type == GGUF_V_ARR)
        return array_read(g, c, kv, e);
    kv->n = 1;
    if (kv->type == GGUF_V_STR)
        return cur_str(c, &kv->str) ? ST_OK : cut_off(g, kv, e);
    return numbers_read(g, c, kv, kv->type, e);
}

static int kv_cmp(const void *a, const void *b)
{
    return span_cmp(((const struct kv *)a)->key, ((const struct kv *)b)->key);
}

enum st meta_read(struct gguf *g, struct cur *c, struct err *e)
{
    for (size_t i = 0; i < g->n_kv; i++) {
        enum st st = kv_read(g, c, i, e);

        if (st)
            return st;
    }
    qsort(g->kv, g->n_kv, sizeof(*g->kv), kv_cmp);
    for (size_t i = 1; i < g->n_kv; i++)
        if (kv_cmp(&g->kv[i - 1], &g->kv[i]) == 0)
            return err_set(e, ST_FORMAT, g->path, "key '%.*s' is there twice",
                           KEY(&g->kv[i]));
    return ST_OK;
}

void meta_release(struct gguf *g)
{
    for (size_t i = 0; g->kv && i < g->n_kv; i++)
        free(g->kv[i].strs);
    free(g->kv);
    g->kv = NULL;
}

/* --- asking ------------------------------------------------------------- */

static const struct kv *kv_find(const struct gguf *g, const char *key)
{
    struct kv want = {.key = {key, strlen(key)}};

    return bsearch(&want, g->kv, g->n_kv, sizeof(*g->kv), kv_cmp);
}

static const struct kv *single(const struct gguf *g, const char *key)
{
    const struct kv *kv = kv_find(g, key);

    return kv && kv->type != GGUF_V_ARR ? kv : NULL;
}

/* An integer as sign and magnitude: covers u64 and i64 alike. */
static bool int_at(enum gguf_vtype t, const unsigned char *p, bool *neg,
                   uint64_t *mag)
{
    uint64_t u = 0;
    int64_t s;

    memcpy(&u, p, vsize[t]); /* little-endian: the low bytes come first */
    switch (t) {
    case GGUF_V_U8:
    case GGUF_V_U16:
    case GGUF_V_U32:
    case GGUF_V_U64:
        *neg = false;
        *mag = u;
        return true;
    case GGUF_V_I8:
        s = (int8_t)u;
        break;
    case GGUF_V_I16:
        s = (int16_t)u;
        break;
    case GGUF_V_I32:
        s = (int32_t)u;
        break;
    case GGUF_V_I64:
        s = (int64_t)u;
        break;
    default:
        return false;
    }
    *neg = s < 0;
    *mag = s < 0 ? 0 - (uint64_t)s : (uint64_t)s;
    return true;
}

static bool i64_at(enum gguf_vtype t, const unsigned char *p, int64_t *out)
{
    bool neg;
    uint64_t mag;

    if (!int_at(t, p, &neg, &mag) || mag > (uint64_t)INT64_MAX + neg)
        return false;
    *out = (int64_t)(neg ? 0 - mag : mag);
    return true;
}

static bool f64_at(enum gguf_vtype t, const unsigned char *p, double *out)
{
    bool neg;
    uint64_t mag;
    float f;

    if (t == GGUF_V_F32) {
        memcpy(&f, p, sizeof(f));
        *out = f;
        return true;
    }
    if (t == GGUF_V_F64) {
        memcpy(out, p, sizeof(*out));
        return true;
    }
    if (!int_at(t, p, &neg, &mag) || mag > 1ull << 53)
        return false;
    *out = neg ? -(double)mag : (double)mag;
    return true;
}

bool gguf_has(const struct gguf *g, const char *key)
{
    return kv_find(g, key) != NULL;
}

bool gguf_u64(const struct gguf *g, const char *key, uint64_t *out)
{
    const struct kv *kv = single(g, key);
    bool neg;
    uint64_t mag;

    if (!kv || !kv->p || !int_at(kv->type, kv->p, &neg, &mag) || neg)
        return false;
    *out = mag;
    return true;
}

bool gguf_i64(const struct gguf *g, const char *key, int64_t *out)
{
    const struct kv *kv = single(g, key);

    return kv && kv->p && i64_at(kv->type, kv->p, out);
}

bool gguf_f64(const struct gguf *g, const char *key, double *out)
{
    const struct kv *kv = single(g, key);

    return kv && kv->p && f64_at(kv->type, kv->p, out);
}

bool gguf_bool(const struct gguf *g, const char *key, bool *out)
{
    const struct kv *kv = single(g, key);

    if (!kv || kv->type != GGUF_V_BOOL)
        return false;
    *out = kv->p[0] != 0;
    return true;
}

bool gguf_str(const struct gguf *g, const char *key, struct span *out)
{
    const struct kv *kv = single(g, key);

    if (!kv || kv->type != GGUF_V_STR)
        return false;
    *out = kv->str;
    return true;
}

static const struct kv *array(const struct gguf *g, const char *key)
{
    const struct kv *kv = kv_find(g, key);

    return kv && kv->type == GGUF_V_ARR ? kv : NULL;
}

bool gguf_arr(const struct gguf *g, const char *key, enum gguf_vtype *elem,
              size_t *n)
{
    const struct kv *kv = array(g, key);

    if (!kv)
        return false;
    *elem = kv->elem;
    *n = (size_t)kv->n;
    return true;
}

const struct span *gguf_arr_str(const struct gguf *g, const char *key,
                                size_t *n)
{
    const struct kv *kv = array(g, key);

    *n = 0;
    if (!kv || kv->elem != GGUF_V_STR)
        return NULL;
    *n = (size_t)kv->n;
    return kv->strs;
}

bool gguf_arr_f32(const struct gguf *g, const char *key, float *out, size_t n)
{
    const struct kv *kv = array(g, key);
    double d;

    if (!kv || !kv->p || kv->n != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!f64_at(kv->elem, kv->p + i * vsize[kv->elem], &d))
            return false;
        out[i] = (float)d;
    }
    return true;
}

bool gguf_arr_i64(const struct gguf *g, const char *key, int64_t *out,
                  size_t n)
{
    const struct kv *kv = array(g, key);

    if (!kv || !kv->p || kv->n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!i64_at(kv->elem, kv->p + i * vsize[kv->elem], &out[i]))
            return false;
    return true;
}
