#include "chat/jinja_lib.h"

#include <math.h>

/* --- numbers -------------------------------------------------------------- */

bool jv_int_of(const struct jv *v, int64_t *out)
{
    if (v->type == JV_BOOL)
        *out = v->u.b;
    else if (v->type == JV_INT)
        *out = v->u.i;
    else
        return false;
    return true;
}

bool jv_num_of(const struct jv *v, double *out)
{
    int64_t i;

    if (v->type == JV_FLOAT)
        *out = v->u.d;
    else if (jv_int_of(v, &i))
        *out = (double)i;
    else
        return false;
    return true;
}

static bool is_num(const struct jv *v)
{
    return v->type == JV_INT || v->type == JV_FLOAT || v->type == JV_BOOL;
}

/* -1, 0, 1; 2 when one of them is not a number. long double holds every
 * int64 exactly. */
static int num_order(const struct jv *a, const struct jv *b)
{
    int64_t i;
    long double da = jv_int_of(a, &i) ? (long double)i : a->u.d;
    long double db = jv_int_of(b, &i) ? (long double)i : b->u.d;

    if (isnan(da) || isnan(db))
        return 2;
    return (da > db) - (da < db);
}

/* --- equality ------------------------------------------------------------- */

static enum st equal_lists(struct jx *x, const struct jlist *a,
                           const struct jlist *b, bool *same)
{
    enum st st = ST_OK;

    *same = a == b;
    if (a == b || a->n != b->n || a->tuple != b->tuple)
        return ST_OK;
    *same = true;
    for (size_t i = 0; i < a->n && *same && !st; i++)
        st = jx_equal(x, &a->p[i], &b->p[i], same);
    return st;
}

static enum st equal_dicts(struct jx *x, const struct jdict *a,
                           const struct jdict *b, bool *same)
{
    struct jv *other;
    enum st st = ST_OK;

    *same = a == b;
    if (a == b || a->n != b->n || a->ns || b->ns)
        return ST_OK;
    *same = true;
    for (size_t i = 0; i < a->n && *same && !st; i++) {
        st = jx_find(x, b, &a->p[i].key, &other);
        *same = other != NULL;
        if (other && !st)
            st = jx_equal(x, &a->p[i].value, other, same);
    }
    return st;
}

static enum st equal_nested(struct jx *x, const struct jv *a,
                            const struct jv *b, bool *same)
{
    enum st st = jx_enter(x);

    if (st)
        return st;
    st = a->type == JV_LIST
             ? equal_lists(x, a->u.list, b->u.list, same)
             : equal_dicts(x, a->u.dict, b->u.dict, same);
    jx_leave(x);
    return st;
}

static enum st equal_strings(struct jx *x, const struct jstr *a,
                             const struct jstr *b, bool *same)
{
    enum st st;

    if (a->n != b->n)
        return ST_OK;
    st = jx_pay(x, a->n / 16);
    *same = !st && !memcmp(a->s, b->s, a->n);
    return st;
}

enum st jx_equal(struct jx *x, const struct jv *a, const struct jv *b,
                 bool *out)
{
    enum st st = jx_pay(x, 1);

    *out = false;
    if (st)
        return st;
    if (is_num(a) && is_num(b)) {
        *out = num_order(a, b) == 0;
        return ST_OK;
    }
    if (a->type != b->type)
        return ST_OK;
    switch (a->type) {
    case JV_STR:
        return equal_strings(x, &a->u.str, &b->u.str, out);
    case JV_LIST:
    case JV_DICT:
        return equal_nested(x, a, b, out);
    case JV_FUNC:
        *out = a->u.fn == b->u.fn;
        return ST_OK;
    default:
        *out = true;
        return ST_OK;
    }
}

/* --- order ---------------------------------------------------------------- */

static enum st no_order(struct jx *x, const struct jv *a, const struct jv *b)
{
    return jx_fail(x, "%s and %s have no order: numbers, strings and lists of "
                      "one kind have",
                   jv_type_word(a), jv_type_word(b));
}

static enum st order_lists(struct jx *x, const struct jlist *a,
                           const struct jlist *b, int *out)
{
    enum st st = jx_enter(x);
    size_t i = 0;
    bool same = true;

    if (st)
        return st;
    for (; i < a->n && i < b->n && same && !st; i++)
        st = jx_equal(x, &a->p[i], &b->p[i], &same);
    if (!st && !same)
        st = jx_compare(x, &a->p[i - 1], &b->p[i - 1], out);
    else
        *out = (a->n > b->n) - (a->n < b->n);
    jx_leave(x);
    return st;
}

enum st jx_compare(struct jx *x, const struct jv *a, const struct jv *b,
                   int *out)
{
    enum st st;

    if (is_num(a) && is_num(b)) {
        *out = num_order(a, b);
        return jx_pay(x, 1);
    }
    if (a->type == JV_STR && b->type == JV_STR) {
        size_t n = a->u.str.n < b->u.str.n ? a->u.str.n : b->u.str.n;
        int c;

        st = jx_pay(x, 1 + n / 16);
        if (st)
            return st;
        c = n ? memcmp(a->u.str.s, b->u.str.s, n) : 0;
        *out = c ? c : (a->u.str.n > b->u.str.n) - (a->u.str.n < b->u.str.n);
        return ST_OK;
    }
    if (a->type == JV_LIST && b->type == JV_LIST &&
        a->u.list->tuple == b->u.list->tuple)
        return order_lists(x, a->u.list, b->u.list, out);
    return no_order(x, a, b);
}

/* --- in ------------------------------------------------------------------- */

enum st jx_contains(struct jx *x, const struct jv *hay,
                    const struct jv *needle, bool *out)
{
    enum st st = ST_OK;
    struct jv *found;
    size_t at;

    *out = false;
    switch (hay->type) {
    case JV_UNDEF:
        return ST_OK;
    case JV_STR:
        if (needle->type == JV_UNDEF)
            return ST_OK;
        if (needle->type != JV_STR)
            return jx_fail(x, "%s in string: only a string can be in one",
                           jv_type_word(needle));
        st = jstr_find(x, hay, 0, needle, &at);
        *out = at != SIZE_MAX;
        return st;
    case JV_DICT:
        if (needle->type == JV_DICT ||
            (needle->type == JV_LIST && !needle->u.list->tuple))
            return jx_fail(x, "%s in dict: it cannot be a key",
                           jv_type_word(needle));
        st = jx_find(x, hay->u.dict, needle, &found);
        *out = !st && found;
        return st;
    case JV_LIST:
        for (size_t i = 0; i < hay->u.list->n && !*out && !st; i++)
            st = jx_equal(x, &hay->u.list->p[i], needle, out);
        return st;
    default:
        return jx_fail(x, "in %s: accepted are string, list and dict",
                       jv_type_word(hay));
    }
}

/* --- arithmetic ----------------------------------------------------------- */

static const char *op_word(enum jop op)
{
    static const char *const words[] = {
        "+", "-", "*", "/", "//", "%", "**", "~",
        "==", "!=", "<", "<=", ">", ">=", "in", "not in"};

    return words[op];
}

static enum st bad_types(struct jx *x, enum jop op, const struct jv *a,
                         const struct jv *b)
{
    return jx_fail(x, "%s %s %s cannot be computed", jv_type_word(a),
                   op_word(op), jv_type_word(b));
}

static enum st zero(struct jx *x, enum jop op)
{
    return jx_fail(x, "%s by zero", op_word(op));
}

/* a ** b for b >= 0; false on overflow. */
static bool int_pow(int64_t a, int64_t b, int64_t *out)
{
    int64_t r = 1;

    while (b) {
        if ((b & 1) && __builtin_mul_overflow(r, a, &r))
            return false;
        b >>= 1;
        if (b && __builtin_mul_overflow(a, a, &a))
            return false;
    }
    *out = r;
    return true;
}

/* Integer results that fit; false sends the operation to floats. b is not
 * zero for // and %. */
static bool int_op(enum jop op, int64_t a, int64_t b, int64_t *r)
{
    switch (op) {
    case JOP_ADD:
        return !__builtin_add_overflow(a, b, r);
    case JOP_SUB:
        return !__builtin_sub_overflow(a, b, r);
    case JOP_MUL:
        return !__builtin_mul_overflow(a, b, r);
    case JOP_FLOORDIV:
        if (b == -1)
            return !__builtin_sub_overflow((int64_t)0, a, r);
        *r = a / b - (a % b && (a < 0) != (b < 0));
        return true;
    case JOP_MOD:
        *r = b == -1 ? 0 : a % b;
        if (*r && (*r < 0) != (b < 0))
            *r += b;
        return true;
    case JOP_POW:
        return b >= 0 && int_pow(a, b, r);
    default:
        return false;
    }
}

static double float_mod(double a, double b)
{
    double m = fmod(a, b);

    if (m == 0)
        return copysign(0.0, b);
    return (m < 0) != (b < 0) ? m + b : m;
}

static double float_floordiv(double a, double b)
{
    double div = (a - float_mod(a, b)) / b, whole = floor(div);

    if (div == 0)
        return copysign(0.0, a / b);
    return div - whole > 0.5 ? whole + 1 : whole;
}

static enum st float_op(struct jx *x, enum jop op, double a, double b,
                        double *r)
{
    switch (op) {
    case JOP_ADD:
        *r = a + b;
        return ST_OK;
    case JOP_SUB:
        *r = a - b;
        return ST_OK;
    case JOP_MUL:
        *r = a * b;
        return ST_OK;
    case JOP_DIV:
        *r = a / b;
        return ST_OK;
    case JOP_FLOORDIV:
        *r = float_floordiv(a, b);
        return ST_OK;
    case JOP_MOD:
        *r = float_mod(a, b);
        return ST_OK;
    default:
        *r = pow(a, b);
        if (isfinite(*r) || !isfinite(a) || !isfinite(b))
            return ST_OK;
        return jx_fail(x, "** of these numbers has no finite result");
    }
}

static enum st num_op(struct jx *x, enum jop op, const struct jv *a,
                      const struct jv *b, struct jv *out)
{
    bool markup = a->markup && b->markup;
    bool divides = op == JOP_DIV || op == JOP_FLOORDIV || op == JOP_MOD;
    double da, db, d = 0;
    int64_t ia, ib, i;
    enum st st;

    if (!jv_num_of(a, &da) || !jv_num_of(b, &db))
        return bad_types(x, op, a, b);
    if (divides && db == 0)
        return zero(x, op);
    if (op != JOP_DIV && jv_int_of(a, &ia) && jv_int_of(b, &ib) &&
        int_op(op, ia, ib, &i)) {
        *out = jv_int(i, markup);
        return ST_OK;
    }
    st = float_op(x, op, da, db, &d);
    *out = jv_float(d, markup);
    return st;
}

/* --- + * % on other things ------------------------------------------------ */

static enum st concat(struct jx *x, const struct jv *a, const struct jv *b,
                      struct jv *out)
{
    struct jbuild s;
    enum st st;

    jbuild_init(&s, x);
    st = jv_print(x, a, &s);
    if (!st)
        st = jv_print(x, b, &s);
    *out = jbuild_done(&s);
    return st;
}

static enum st add_items(struct jx *x, const struct jlist *l, struct jv list)
{
    enum st st = ST_OK;
    size_t n = l->n; /* it may be the same list */

    for (size_t i = 0; i < n && !st; i++)
        st = jv_push(x, list, l->p[i]);
    return st;
}

static enum st add(struct jx *x, const struct jv *a, const struct jv *b,
                   struct jv *out)
{
    enum st st;

    if (a->type == JV_STR && b->type == JV_STR)
        return concat(x, a, b, out);
    if (a->type != JV_LIST || b->type != JV_LIST)
        return jx_fail(x, "%s + %s: accepted are two numbers, two strings or "
                          "two lists (~ turns anything into a string)",
                       jv_type_word(a), jv_type_word(b));
    st = jx_list(x, a, out);
    if (st)
        return st;
    out->markup = a->markup && b->markup;
    out->u.list->tuple = a->u.list->tuple && b->u.list->tuple;
    st = add_items(x, a->u.list, *out);
    return st ? st : add_items(x, b->u.list, *out);
}

static enum st repeat_str(struct jx *x, const struct jv *s, uint64_t times,
                          struct jv *out)
{
    struct jbuild b;
    enum st st = ST_OK;
    size_t total;

    jbuild_init(&b, x);
    if (s->u.str.n && (!mem_mul(&total, s->u.str.n, times) ||
                       total > x->max_bytes))
        return jx_limit(x, "makes a string longer than its output may be");
    for (uint64_t i = 0; s->u.str.n && i < times && !st; i++) {
        st = jx_pay(x, 1);
        if (!st)
            st = jbuild_str(&b, s);
    }
    *out = jbuild_done(&b);
    return st;
}

static enum st multiply(struct jx *x, const struct jv *a, const struct jv *b,
                        struct jv *out)
{
    const struct jv *v = a->type == JV_STR || a->type == JV_LIST ? a : b;
    const struct jv *count = v == a ? b : a;
    enum st st;
    int64_t n;

    if (!jv_int_of(count, &n) || (v->type != JV_STR && v->type != JV_LIST))
        return bad_types(x, JOP_MUL, a, b);
    if (n < 0)
        n = 0;
    if (v->type == JV_STR)
        return repeat_str(x, v, (uint64_t)n, out);
    st = jx_list(x, v, out);
    if (st)
        return st;
    out->u.list->tuple = v->u.list->tuple;
    for (int64_t i = 0; i < n && v->u.list->n && !st; i++)
        st = add_items(x, v->u.list, *out);
    return st;
}

/* "%s" % value, "%s %s" % (a, b) */
static enum st modulo_str(struct jx *x, const struct jv *a,
                          const struct jv *b, struct jv *out)
{
    struct jargs args = {.pos = b, .n = 1};
    struct jin in = {.x = x, .name = "%", .v = a, .all = &args};
    enum st st = jx_pay(x, a->u.str.n / 16);

    if (st)
        return st;
    if (b->type == JV_LIST && b->u.list->tuple) {
        args.pos = b->u.list->p;
        args.n = b->u.list->n;
    } else if (b->type == JV_DICT) {
        args.kw = b->u.dict->p;
        args.n_kw = b->u.dict->n;
    }
    return jf_printf(&in, out);
}

/* --- the operators -------------------------------------------------------- */

static enum st compare_op(struct jx *x, enum jop op, const struct jv *a,
                          const struct jv *b, struct jv *out)
{
    bool markup = jv_is_markup(a) && jv_is_markup(b), yes = false;
    int order = 0;
    enum st st;

    if (op == JOP_EQ || op == JOP_NE) {
        st = jx_equal(x, a, b, &yes);
        yes = yes == (op == JOP_EQ);
    } else if (op == JOP_IN || op == JOP_NOT_IN) {
        st = jx_contains(x, b, a, &yes);
        yes = yes == (op == JOP_IN);
    } else {
        st = jx_compare(x, a, b, &order);
        if (order != 2 || !is_num(a)) /* 2: nan */
            yes = op == JOP_LT   ? order < 0
                  : op == JOP_LE ? order <= 0
                  : op == JOP_GT ? order > 0
                                 : order >= 0;
    }
    *out = jv_bool(yes, markup);
    return st;
}

enum st jop_binary(struct jx *x, enum jop op, const struct jv *a,
                   const struct jv *b, struct jv *out)
{
    *out = jv_undef();
    if (op >= JOP_EQ)
        return compare_op(x, op, a, b, out);
    if (op == JOP_CONCAT)
        return concat(x, a, b, out);
    if (is_num(a) && is_num(b))
        return num_op(x, op, a, b, out);
    if (op == JOP_ADD)
        return add(x, a, b, out);
    if (op == JOP_MUL)
        return multiply(x, a, b, out);
    if (op == JOP_MOD && a->type == JV_STR)
        return modulo_str(x, a, b, out);
    return bad_types(x, op, a, b);
}

enum st jop_negate(struct jx *x, const struct jv *a, struct jv *out)
{
    int64_t i;

    *out = jv_undef();
    if (a->type == JV_FLOAT)
        *out = jv_float(-a->u.d, a->markup);
    else if (!jv_int_of(a, &i))
        return jx_fail(x, "- of %s: only a number can be negated",
                       jv_type_word(a));
    else if (i == INT64_MIN)
        *out = jv_float(-(double)i, a->markup);
    else
        *out = jv_int(-i, a->markup);
    return ST_OK;
}
