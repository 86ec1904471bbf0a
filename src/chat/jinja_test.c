/* Tests: `x is name(args)`. */
#include "chat/jinja_lib.h"

#include <math.h>

/* --- types ---------------------------------------------------------------- */

static enum st yes(bool b, struct jv *out)
{
    *out = jv_bool(b, true);
    return ST_OK;
}

static enum st t_boolean(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_BOOL, out);
}

static enum st t_callable(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_FUNC, out);
}

static enum st t_defined(const struct jin *in, struct jv *out)
{
    return yes(in->v->type != JV_UNDEF, out);
}

static enum st t_undefined(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_UNDEF, out);
}

static enum st t_false(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_BOOL && !in->v->u.b, out);
}

static enum st t_true(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_BOOL && in->v->u.b, out);
}

static enum st t_float(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_FLOAT, out);
}

static enum st t_integer(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_INT, out);
}

/* In Python a bool is a number. */
static enum st t_number(const struct jin *in, struct jv *out)
{
    double d;

    return yes(jv_num_of(in->v, &d), out);
}

static enum st t_none(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_NONE, out);
}

static enum st t_string(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_STR, out);
}

static enum st t_mapping(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_DICT && !in->v->u.dict->ns, out);
}

/* `sequence` too: in Python, what is undefined has a length and items. */
static enum st t_iterable(const struct jin *in, struct jv *out)
{
    const struct jv *v = in->v;

    return yes(v->type == JV_STR || v->type == JV_LIST ||
                   v->type == JV_UNDEF ||
                   (v->type == JV_DICT && !v->u.dict->ns),
               out);
}

/* --- strings -------------------------------------------------------------- */

static enum st t_lower(const struct jin *in, struct jv *out)
{
    struct jv s;
    enum st st = jv_text(in->x, in->v, &s);

    return st ? st : jcase_is(in->x, &s, JCASE_LOWER, out);
}

static enum st t_upper(const struct jin *in, struct jv *out)
{
    struct jv s;
    enum st st = jv_text(in->x, in->v, &s);

    return st ? st : jcase_is(in->x, &s, JCASE_UPPER, out);
}

static enum st t_filter(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_STR &&
                   jlib_has_filter(in->v->u.str.s, in->v->u.str.n),
               out);
}

static enum st t_test(const struct jin *in, struct jv *out)
{
    return yes(in->v->type == JV_STR &&
                   jlib_has_test(in->v->u.str.s, in->v->u.str.n),
               out);
}

/* --- numbers -------------------------------------------------------------- */

static enum st modulo(const struct jin *in, const struct jv *by, double want,
                      struct jv *out)
{
    struct jv rest;
    double d;
    enum st st = jop_binary(in->x, JOP_MOD, in->v, by, &rest);

    if (st)
        return st;
    if (!jv_num_of(&rest, &d))
        return jx_fail(in->x, "%s of %s: it takes a number", in->name,
                       jv_type_word(in->v));
    return yes(d == want, out);
}

static enum st t_divisibleby(const struct jin *in, struct jv *out)
{
    return modulo(in, in->arg[0], 0, out);
}

static enum st t_even(const struct jin *in, struct jv *out)
{
    struct jv two = jv_int(2, true);

    return modulo(in, &two, 0, out);
}

static enum st t_odd(const struct jin *in, struct jv *out)
{
    struct jv two = jv_int(2, true);

    return modulo(in, &two, 1, out);
}

/* --- comparing ------------------------------------------------------------ */

static enum st t_eq(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_EQ, in->v, in->arg[0], out);
}

static enum st t_ne(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_NE, in->v, in->arg[0], out);
}

static enum st t_lt(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_LT, in->v, in->arg[0], out);
}

static enum st t_le(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_LE, in->v, in->arg[0], out);
}

static enum st t_gt(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_GT, in->v, in->arg[0], out);
}

static enum st t_ge(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_GE, in->v, in->arg[0], out);
}

static enum st t_in(const struct jin *in, struct jv *out)
{
    return jop_binary(in->x, JOP_IN, in->v, in->arg[0], out);
}

/* Identity; scalars are the same when type and value are. */
static enum st t_sameas(const struct jin *in, struct jv *out)
{
    const struct jv *a = in->v, *b = in->arg[0];

    if (a->type != b->type)
        return yes(false, out);
    if (a->type == JV_LIST)
        return yes(a->u.list == b->u.list, out);
    if (a->type == JV_DICT)
        return yes(a->u.dict == b->u.dict, out);
    return t_eq(in, out);
}

static const struct jentry tests[] = {
    {"!=", "!other", t_ne},
    {"<", "!other", t_lt},
    {"<=", "!other", t_le},
    {"==", "!other", t_eq},
    {">", "!other", t_gt},
    {">=", "!other", t_ge},
    {"boolean", "", t_boolean},
    {"callable", "", t_callable},
    {"defined", "", t_defined},
    {"divisibleby", "!num", t_divisibleby},
    {"eq", "!other", t_eq},
    {"equalto", "!other", t_eq},
    {"even", "", t_even},
    {"false", "", t_false},
    {"filter", "", t_filter},
    {"float", "", t_float},
    {"ge", "!other", t_ge},
    {"greaterthan", "!other", t_gt},
    {"gt", "!other", t_gt},
    {"in", "!seq", t_in},
    {"integer", "", t_integer},
    {"iterable", "", t_iterable},
    {"le", "!other", t_le},
    {"lessthan", "!other", t_lt},
    {"lower", "", t_lower},
    {"lt", "!other", t_lt},
    {"mapping", "", t_mapping},
    {"ne", "!other", t_ne},
    {"none", "", t_none},
    {"number", "", t_number},
    {"odd", "", t_odd},
    {"sameas", "!other", t_sameas},
    {"sequence", "", t_iterable},
    {"string", "", t_string},
    {"test", "", t_test},
    {"true", "", t_true},
    {"undefined", "", t_undefined},
    {"upper", "", t_upper},
    {NULL, NULL, NULL},
};

bool jlib_has_test(const char *name, size_t n)
{
    return jentry_find(tests, name, n) != NULL;
}

enum st jlib_test(struct jx *x, const char *name, size_t n,
                  const struct jv *v, const struct jargs *a, bool *out)
{
    const struct jentry *e = jentry_find(tests, name, n);
    struct jv answer;
    enum st st;

    *out = false;
    if (!e) /* the name may be a caller's: not quoted */
        return jx_fail(x, "no test has this name");
    st = jentry_call(x, e, v, a, &answer);
    *out = !st && jv_truthy(&answer);
    return st;
}
