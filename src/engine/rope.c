#include "engine/rope.h"

#include <math.h>

#define PI 3.14159265358979323846

enum rope_type { ROPE_NONE, ROPE_LINEAR, ROPE_YARN };

static enum st type_of(const struct model *m, enum rope_type *out,
                       struct err *e)
{
    struct span type;
    char key[128];

    snprintf(key, sizeof(key), "%s.rope.scaling.type", m->prefix);
    *out = ROPE_LINEAR;
    if (!gguf_has(m->gguf, key))
        return ST_OK;
    if (!gguf_str(m->gguf, key, &type))
        return err_set(e, ST_FORMAT, key, "a string is expected");
    if (span_is(type, "none"))
        *out = ROPE_NONE;
    else if (span_is(type, "yarn"))
        *out = ROPE_YARN;
    else if (!span_is(type, "linear"))
        return err_set(e, ST_UNSUPPORTED, key,
                       "only 'none', 'linear' and 'yarn' are supported");
    return ST_OK;
}

static enum st factor_of(const struct model *m, double *factor, struct err *e)
{
    char key[128];

    snprintf(key, sizeof(key), "%s.rope.scaling.factor", m->prefix);
    return model_num(
        m, gguf_has(m->gguf, key) ? "rope.scaling.factor" : "rope.scale_linear",
        1, factor, e);
}

/* As model_num, but 0 is a number, too, and what is missing is. */
static enum st number_or_0(const struct model *m, const char *name,
                           double missing, double *out, struct err *e)
{
    char key[128];
    double v;

    snprintf(key, sizeof(key), "%s.%s", m->prefix, name);
    *out = missing;
    if (!gguf_has(m->gguf, key))
        return ST_OK;
    if (!gguf_f64(m->gguf, key, &v) || !isfinite(v) || v < 0)
        return err_set(e, ST_FORMAT, key, "a number from 0 on is expected");
    *out = v;
    return ST_OK;
}

struct yarn {
    double factor, ext, log_mul, fast, slow;
    int32_t original; /* context length */
};

static enum st yarn_keys(const struct model *m, struct yarn *y, struct err *e)
{
    enum st st;

    st = model_int(m, "rope.scaling.original_context_length", 1, INT32_MAX,
                   m->context, &y->original, e);
    if (!st)
        st = model_num(m, "rope.scaling.yarn_beta_fast", 32, &y->fast, e);
    if (!st)
        st = model_num(m, "rope.scaling.yarn_beta_slow", 1, &y->slow, e);
    if (!st)
        st = number_or_0(m, "rope.scaling.yarn_ext_factor", 1, &y->ext, e);
    if (!st)
        st = number_or_0(m, "rope.scaling.yarn_log_multiplier", 0, &y->log_mul,
                         e);
    return st;
}

/* The pair that turns n times within the original context. */
static double pair_of(const struct yarn *y, int32_t dims, double base, double n)
{
    return dims * log(y->original / (n * 2 * PI)) / (2 * log(base));
}

static void yarn_scale(const struct yarn *y, int32_t dims, double base,
                       double *inv)
{
    double low = fmax(0, floor(pair_of(y, dims, base, y->fast)));
    double high = fmin(dims - 1, ceil(pair_of(y, dims, base, y->slow)));

    for (int32_t i = 0; i < dims / 2; i++) {
        double at = (i - low) / fmax(0.001, high - low);
        double keep = (1 - fmin(1, fmax(0, at))) * y->ext;

        inv[i] *= (1 - keep) / y->factor + keep;
    }
}

/* Attention over a longer context is more even; this takes it back. */
static double yarn_mscale(const struct yarn *y)
{
    double l = y->factor > 1 ? 0.1 * log(y->factor) : 0;

    return y->ext > 0 ? (1 + l) / (1 + y->log_mul * l) : 1;
}

enum st rope_frequencies(const struct model *m, int32_t dims, double *inv,
                         float *mscale, struct err *e)
{
    struct yarn y = {.factor = 1};
    double base, attn, scale = 1;
    enum rope_type type;
    enum st st;

    st = model_num(m, "rope.freq_base", 10000, &base, e);
    if (!st)
        st = type_of(m, &type, e);
    if (!st && type != ROPE_NONE)
        st = factor_of(m, &y.factor, e);
    if (!st && type == ROPE_YARN)
        st = yarn_keys(m, &y, e);
    if (!st)
        st = model_num(m, "rope.scaling.attn_factor", 1, &attn, e);
    if (!st && type == ROPE_YARN && base <= 1)
        st = err_set(e, ST_FORMAT, "rope.freq_base", "yarn needs one over 1");
    if (st)
        return st;
    for (int32_t i = 0; i < dims / 2; i++)
        inv[i] = pow(base, -(2.0 * i) / dims);
    if (type == ROPE_YARN) {
        yarn_scale(&y, dims, base, inv);
        scale = yarn_mscale(&y);
    } else {
        for (int32_t i = 0; i < dims / 2; i++)
            inv[i] /= y.factor;
    }
    *mscale = (float)(scale * attn);
    return ST_OK;
}
