#include "api/body_int.h"

#include <math.h>
#include <stdlib.h>

#define BIAS_TOP 100.0

static enum st bad_bias(struct body_parse *p, const char *text)
{
    return err_set(p->e, ST_INVALID, "logit_bias", "%s", text);
}

/* Decimal, as a program writes it: one spelling per id, so that no id is there
 * twice. */
static bool id_of(struct text key, int32_t *id)
{
    int64_t n = 0;

    if (!key.n || key.n > 10 || (key.s[0] == '0' && key.n > 1))
        return false;
    for (size_t i = 0; i < key.n; i++) {
        if (key.s[i] < '0' || key.s[i] > '9')
            return false;
        n = n * 10 + (key.s[i] - '0');
    }
    *id = (int32_t)n;
    return n <= INT32_MAX;
}

static int by_id(const void *a, const void *b)
{
    const struct bias *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

enum st body_bias(struct body_parse *p)
{
    const struct json *v = body_get(p->root, "logit_bias");
    struct bias *list;
    size_t n = 0;

    if (!v)
        return ST_OK;
    if (v->type != JSON_OBJ)
        return bad_bias(p, "must be an object of token ids and numbers");
    if (v->n > BIAS_MAX)
        return err_set(p->e, ST_INVALID, "logit_bias",
                       "has %zu entries; at most %d are accepted", v->n,
                       BIAS_MAX);
    list = arena_array(p->a, v->n ? v->n : 1, sizeof(*list));
    if (!list)
        return body_full(p->e);
    for (const struct json *c = v->child; c; c = c->next) {
        if (!id_of(c->key, &list[n].id))
            return bad_bias(p, "a key must be a token id in decimal digits");
        if (c->type != JSON_NUM || !(fabs(c->d) <= BIAS_TOP))
            return bad_bias(p, "a value must be a number from -100 to 100");
        list[n].value = (float)c->d;
        n += list[n].value < 0 || list[n].value > 0;
    }
    qsort(list, n, sizeof(*list), by_id);
    p->out->bias = n ? list : NULL;
    p->out->n_bias = n;
    return ST_OK;
}
