#include "gram/schema_digits.h"
#include "gram/schema_int.h"

#define PRODUCT_MAX 60000u /* remainders times digits of bounds */

/* What all restrictions of a place leave; NULL: none yet. */
struct number {
    const struct gx *x;
    bool integers;
    uint32_t remainders; /* that all multipleOf together tell apart */
    uint32_t digits;     /* of the longest bound */
    const struct json *multiple; /* a node with multipleOf */
};

/* Digits that may be any number, or part of one. */
static const struct gx *any_size(struct gxs *w)
{
    return gx_star(w, gx_alt(w, gx_range(w, '0', '9'), gx_lit(w, ".")));
}

static const struct gx *digits_star(struct gxs *w)
{
    return gx_star(w, gx_range(w, '0', '9'));
}

static const struct gx *natural(struct gxs *w)
{
    return gx_seq(w, gx_range(w, '1', '9'), digits_star(w));
}

static const struct gx *digits_some(struct gxs *w)
{
    return gx_seq(w, gx_range(w, '0', '9'), digits_star(w));
}

static const struct gx *fraction(struct gxs *w)
{
    return gx_seq(w, gx_lit(w, "."), digits_some(w));
}

static const struct gx *signed_of(struct gxs *w, const struct gx *x)
{
    return gx_seq(w, gx_opt(w, gx_lit(w, "-")), x);
}

static const struct gx *zero_or(struct gxs *w, const struct gx *x)
{
    return gx_alt(w, gx_lit(w, "0"), x);
}

const struct gx *schema_free_number(struct gxs *w)
{
    const struct gx *sign = gx_alt(w, gx_lit(w, "+"), gx_lit(w, "-"));
    const struct gx *e = gx_alt(w, gx_lit(w, "e"), gx_lit(w, "E"));
    const struct gx *parts[4] = {
        zero_or(w, natural(w)),
        gx_opt(w, fraction(w)),
        gx_opt(w, gx_seq(w, e, gx_seq(w, gx_opt(w, sign), digits_some(w)))),
    };

    return signed_of(w, gx_seqn(w, parts, 3));
}

/* Numbers without exponent; a sign only before what is not 0. */
static const struct gx *bounded(struct gxs *w, bool integers)
{
    const struct gx *zeros, *below_one;

    if (integers)
        return zero_or(w, signed_of(w, natural(w)));
    zeros = gx_star(w, gx_lit(w, "0"));
    below_one = gx_seq(w, gx_lit(w, "0."), gx_seq(w, zeros, natural(w)));
    return gx_alt(w, gx_seq(w, gx_lit(w, "0"),
                            gx_opt(w, gx_seq(w, gx_lit(w, "."),
                                             gx_seq(w, gx_lit(w, "0"),
                                                    zeros)))),
                  signed_of(w, gx_alt(w, below_one,
                                      gx_seq(w, natural(w),
                                             gx_opt(w, fraction(w))))));
}

static void restrict_to(struct gxs *w, struct number *n, const struct gx *x)
{
    n->x = gx_both(w, n->x ? n->x : bounded(w, n->integers), x);
}

/* Numbers on one side of d (and d itself, when `equal`). */
static const struct gx *side(struct gxs *w, const struct decimal *d,
                             bool above, bool equal)
{
    unsigned with = equal ? DIGITS_EQUAL : 0;
    const struct gx *minus = gx_lit(w, "-");

    if (d->neg != above) /* away from zero: one sign only */
        return gx_seq(w, above ? gx_empty(w) : minus,
                      digits_compare(w, d, DIGITS_MORE | with));
    return gx_alt(w, gx_seq(w, above ? minus : gx_empty(w),
                            digits_compare(w, d, DIGITS_LESS | with)),
                  gx_seq(w, above ? gx_empty(w) : minus, any_size(w)));
}

static enum st read_decimal(struct schema_read *s, const struct json *node,
                            const char *keyword, struct decimal *d,
                            struct err *e)
{
    decimal_read(d, json_get(node, keyword)->str);
    if (decimal_long(d))
        return schema_refuse(s, ST_UNSUPPORTED, node, keyword, e,
                             "must be a number of at most %d digits",
                             DECIMAL_PLAIN_MAX);
    return ST_OK;
}

/* Drafts before 6: exclusiveMinimum true makes minimum exclusive. */
static bool old_exclusive(const struct json *node, const char *keyword)
{
    const struct json *v = json_get(node, keyword);

    return v && v->type == JSON_BOOL;
}

static enum st read_bound(struct schema_read *s, const struct json *node,
                          struct number *n, bool above, bool exclusive,
                          struct err *e)
{
    static const char *const names[2][2] = {
        {"maximum", "exclusiveMaximum"},
        {"minimum", "exclusiveMinimum"},
    };
    const char *keyword = names[above][exclusive];
    struct gxs *w = schema_workshop(s);
    bool old = old_exclusive(node, names[above][1]);
    struct decimal d;
    enum st st;

    if (!json_get(node, keyword) || (exclusive && old))
        return ST_OK;
    st = read_decimal(s, node, keyword, &d, e);
    if (st)
        return st;
    if (decimal_digits(&d) > n->digits)
        n->digits = decimal_digits(&d);
    if (old)
        exclusive = json_get(node, names[above][1])->boolean;
    restrict_to(w, n, side(w, &d, above, !exclusive));
    return ST_OK;
}

/* digits[0..n) as a number; 0 when it is over DIGITS_FACTOR_MAX. */
static uint32_t factor_of(const struct decimal *d)
{
    uint32_t v = 0;
    size_t i;

    for (i = 0; i < d->n; i++) {
        v = v * 10 + (uint32_t)(d->digits[i] - '0');
        if (v > DIGITS_FACTOR_MAX)
            return 0;
    }
    return v;
}

/* Whole multiples of DIGITS / 10^frac are those of DIGITS without its common
 * factors with 10^frac: the digits after dividing by p, if they can be. */
static bool divide_by(struct decimal *d, int p)
{
    char q[JSON_NUMBER_MAX];
    size_t i, n = 0;
    int rest = 0, v;

    for (i = 0; i < d->n; i++) {
        rest = rest * 10 + (d->digits[i] - '0');
        v = rest / p;
        rest %= p;
        if (n || v)
            q[n++] = (char)('0' + v);
    }
    if (rest || !n)
        return false;
    memcpy(d->digits, q, n);
    d->n = n;
    return true;
}

static enum st read_multiple(struct schema_read *s, const struct json *node,
                             struct number *n, struct err *e)
{
    struct gxs *w = schema_workshop(s);
    uint32_t factor, zeros = 0, frac = 0, i;
    struct decimal d;
    enum st st;

    if (!json_get(node, "multipleOf"))
        return ST_OK;
    st = read_decimal(s, node, "multipleOf", &d, e);
    if (st)
        return st;
    if (!d.n || d.neg)
        return schema_refuse(s, ST_INVALID, node, "multipleOf", e,
                             "must be a number above 0");
    if (decimal_whole(&d))
        zeros = (uint32_t)(d.point - (int64_t)d.n);
    else
        frac = (uint32_t)((int64_t)d.n - d.point);
    if (n->integers) {
        for (i = 0; i < frac && divide_by(&d, 2); i++)
            ;
        for (i = 0; i < frac && divide_by(&d, 5); i++)
            ;
        frac = 0;
    }
    factor = factor_of(&d);
    if (!factor || (uint64_t)n->remainders * factor * (frac + 1) >
                       DIGITS_FACTOR_MAX)
        return schema_refuse(s, ST_UNSUPPORTED, node, "multipleOf", e,
                             "all of one value must have at most %u "
                             "remainders together",
                             DIGITS_FACTOR_MAX);
    n->remainders *= factor * (frac + 1);
    n->multiple = node;
    restrict_to(w, n, signed_of(w, digits_multiple(w, factor, zeros, frac)));
    return ST_OK;
}

enum st schema_number(struct schema_read *s, const struct conj *c,
                      bool integers, const struct gx **out, struct err *e)
{
    struct gxs *w = schema_workshop(s);
    struct number n = {.integers = integers, .remainders = 1};
    enum st st = ST_OK;
    size_t i;
    int k;

    *out = gx_none(w);
    for (i = 0; i < c->n && !st; i++) {
        for (k = 0; k < 4 && !st; k++)
            st = read_bound(s, c->of[i], &n, k & 2, k & 1, e);
        if (!st)
            st = read_multiple(s, c->of[i], &n, e);
    }
    if (!st && n.multiple && n.remainders * n.digits > PRODUCT_MAX)
        st = schema_refuse(s, ST_UNSUPPORTED, n.multiple, "multipleOf", e,
                           "remainders times digits of the bounds are over "
                           "%u", PRODUCT_MAX);
    if (st)
        return st;
    if (n.x)
        *out = n.x;
    else if (integers)
        *out = signed_of(w, zero_or(w, natural(w)));
    else
        *out = schema_free_number(w);
    return ST_OK;
}
