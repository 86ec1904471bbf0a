/* Filters on any value: conversions, lookups, numbers. */
#include "chat/jinja_lib.h"

#include "base/num.h"

#include <errno.h>
#include <math.h>

/* --- numbers -------------------------------------------------------------- */

static enum st f_abs(const struct jin *in, struct jv *out)
{
    int64_t i = 0;
    double d;

    (void)jv_int_of(in->v, &i);
    if (!jv_num_of(in->v, &d))
        return jx_fail(in->x, "abs of %s: it takes a number",
                       jv_type_word(in->v));
    *out = *in->v;
    if (in->v->type == JV_FLOAT)
        out->u.d = fabs(d);
    else if (d < 0)
        return jop_negate(in->x, in->v, out);
    else
        *out = jv_int(i, in->v->markup); /* of a bool too */
    return ST_OK;
}

#define NUMBER_TEXT 80

/* The string without white space around it, in text[NUMBER_TEXT]; empty: that
 * is no number. */
static enum st number_text(struct jx *x, const struct jv *v, char *text)
{
    struct jv s;
    enum st st = jstr_strip(x, v, NULL, JSTRIP_LEFT | JSTRIP_RIGHT, &s);

    text[0] = 0;
    if (st || !s.u.str.n || s.u.str.n >= NUMBER_TEXT ||
        memchr(s.u.str.s, 0, s.u.str.n))
        return st;
    memcpy(text, s.u.str.s, s.u.str.n);
    text[s.u.str.n] = 0;
    return ST_OK;
}

static bool parse_int(const char *text, int64_t base, int64_t *out)
{
    const char *s = text + (*text == '-' || *text == '+');
    char *end;
    long long v;

    if (*s == '-' || *s == '+' || *s <= ' ')
        return false;
    if (base == 2 && s[0] == '0' && (s[1] == 'b' || s[1] == 'B'))
        s += 2;
    else if (base == 8 && s[0] == '0' && (s[1] == 'o' || s[1] == 'O'))
        s += 2;
    else
        s = text;
    errno = 0;
    v = strtoll(s, &end, (int)base);
    if (errno || *end || end == s)
        return false;
    *out = s != text && *text == '-' ? -v : v;
    return true;
}

static void int_of_float(double d, bool markup, struct jv *out)
{
    if (d > -9.2e18 && d < 9.2e18)
        *out = jv_int((int64_t)d, markup);
    else if (isfinite(d))
        *out = jv_float(trunc(d), markup);
}

static enum st f_int(const struct jin *in, struct jv *out)
{
    bool markup = jv_is_markup(in->v);
    int64_t base = 10, i;
    char text[NUMBER_TEXT];
    double d;
    enum st st = jin_int(in, 1, &base);

    if (st)
        return st;
    if (base < 2 || base > 36)
        return jx_fail(in->x, "int: base must be 2 to 36");
    *out = in->arg[0] ? *in->arg[0] : jv_int(0, true);
    if (in->v->type == JV_FLOAT)
        int_of_float(in->v->u.d, markup, out);
    else if (jv_int_of(in->v, &i))
        *out = jv_int(i, markup);
    if (in->v->type != JV_STR)
        return ST_OK;
    st = number_text(in->x, in->v, text);
    if (parse_int(text, base, &i))
        *out = jv_int(i, markup);
    else if (base == 10 && num_parse_double(text, strlen(text), &d))
        int_of_float(d, markup, out);
    return st;
}

static enum st f_float(const struct jin *in, struct jv *out)
{
    bool markup = jv_is_markup(in->v);
    char text[NUMBER_TEXT];
    const char *s = text;
    double d;
    enum st st;

    *out = in->arg[0] ? *in->arg[0] : jv_float(0, true);
    if (jv_num_of(in->v, &d))
        *out = jv_float(d, markup);
    if (in->v->type != JV_STR)
        return ST_OK;
    st = number_text(in->x, in->v, text);
    s += *s == '+';
    if (num_parse_double(s, strlen(s), &d))
        *out = jv_float(d, markup);
    return st;
}

/* round() of Python: to even, on the decimal digits. */
static double round_common(double d, int64_t digits)
{
    char text[700];

    if (!isfinite(d) || digits > 320)
        return d;
    if (digits < -308)
        return 0;
    if (digits < 0) {
        double by = pow(10, (double)-digits);

        return nearbyint(d / by) * by;
    }
    snprintf(text, sizeof(text), "%.*f", (int)digits, d);
    return strtod(text, NULL);
}

static enum st f_round(const struct jin *in, struct jv *out)
{
    struct jv how = jv_lit("common");
    int64_t digits = 0;
    double d, by;
    enum st st = jin_int(in, 0, &digits);

    if (!st)
        st = jin_str(in, 1, &how);
    if (!st)
        st = jx_pay(in->x, 20); /* writing and reading 600 digits */
    if (st)
        return st;
    if (!jv_num_of(in->v, &d))
        return jx_fail(in->x, "round of %s: it takes a number",
                       jv_type_word(in->v));
    *out = *in->v;
    if (jv_is(&how, "common")) {
        if (in->v->type == JV_BOOL)
            *out = jv_int(in->v->u.b, in->v->markup);
        if (in->v->type == JV_FLOAT)
            out->u.d = round_common(d, digits);
        else if (digits < 0)
            int_of_float(round_common(d, digits), in->v->markup, out);
        return ST_OK;
    }
    if (!jv_is(&how, "ceil") && !jv_is(&how, "floor"))
        return jx_fail(in->x, "round: method is common, ceil or floor");
    by = pow(10, (double)digits);
    d = jv_is(&how, "ceil") ? ceil(d * by) / by : floor(d * by) / by;
    *out = jv_float(d + 0.0, in->v->markup); /* no -0.0 */
    return ST_OK;
}

/* --- any value ------------------------------------------------------------ */

static enum st f_attr(const struct jin *in, struct jv *out)
{
    const struct jv *name = in->arg[0];

    if (in->v->type == JV_UNDEF)
        return jx_fail(in->x, "attr of something undefined");
    if (name->type != JV_STR)
        return jx_fail(in->x, "attr: the name must be a string");
    if (in->v->type == JV_DICT && !in->v->u.dict->ns) /* not its keys */
        return jlib_method(in->x, in->v, name->u.str.s, name->u.str.n, out);
    return jop_attr(in->x, in->v, name->u.str.s, name->u.str.n, out);
}

static enum st f_default(const struct jin *in, struct jv *out)
{
    bool falsy = false, absent = in->v->type == JV_UNDEF;

    jin_bool(in, 1, &falsy);
    if (falsy)
        absent = !jv_truthy(in->v);
    if (!absent)
        *out = *in->v;
    else
        *out = in->arg[0] ? *in->arg[0] : jv_lit("");
    return ST_OK;
}

static enum st f_length(const struct jin *in, struct jv *out)
{
    const struct jv *v = in->v;
    size_t n = 0;

    switch (v->type) {
    case JV_UNDEF:
        break;
    case JV_STR:
        n = jchars(v->u.str.s, v->u.str.n);
        break;
    case JV_LIST:
        n = v->u.list->n;
        break;
    case JV_DICT:
        n = v->u.dict->n;
        break;
    default:
        return jx_fail(in->x, "%s of %s: it takes a string, list or dict",
                       in->name, jv_type_word(v));
    }
    *out = jv_int((int64_t)n, jv_is_markup(v));
    return ST_OK;
}

static enum st f_same(const struct jin *in, struct jv *out)
{
    *out = *in->v;
    return ST_OK;
}

static enum st f_string(const struct jin *in, struct jv *out)
{
    return jv_text(in->x, in->v, out);
}

static enum st f_list(const struct jin *in, struct jv *out)
{
    struct jv items;
    enum st st = jop_iterate(in->x, in->v, &items);

    if (!st)
        st = jx_list(in->x, in->v, out);
    for (size_t i = 0; !st && i < items.u.list->n; i++)
        st = jv_push(in->x, *out, items.u.list->p[i]);
    return st;
}

static enum st of_dict(const struct jin *in,
                       enum st (*part)(struct jx *x, const struct jv *dict,
                                       struct jv *out),
                       struct jv *out)
{
    if (in->v->type == JV_UNDEF)
        return jx_list(in->x, in->v, out);
    if (in->v->type != JV_DICT)
        return jx_fail(in->x, "%s of %s: it takes a dict", in->name,
                       jv_type_word(in->v));
    return part(in->x, in->v, out);
}

static enum st f_items(const struct jin *in, struct jv *out)
{
    return of_dict(in, jx_items, out);
}

static enum st f_keys(const struct jin *in, struct jv *out)
{
    return of_dict(in, jx_keys, out);
}

static enum st f_values(const struct jin *in, struct jv *out)
{
    return of_dict(in, jx_values, out);
}

/* --- JSON ----------------------------------------------------------------- */

static enum st json_how(const struct jin *in, struct jjson *how)
{
    const struct jv *indent = in->arg[0], *seps = in->arg[2];
    enum st st;

    /* transformers has ensure_ascii in the first place */
    if (indent && indent->type == JV_BOOL) {
        how->ascii = indent->u.b;
    } else if (indent && indent->type == JV_STR) {
        how->indent_by = *indent;
    } else if (indent && indent->type != JV_UNDEF) {
        st = jin_int(in, 0, &how->indent);
        if (st)
            return st;
        if (indent->type == JV_INT && how->indent < 0)
            how->indent = 0;
    }
    jin_bool(in, 1, &how->ascii);
    jin_bool(in, 3, &how->sorted);
    if (!seps || seps->type == JV_NONE)
        return ST_OK;
    if (seps->type != JV_LIST || seps->u.list->n != 2 ||
        seps->u.list->p[0].type != JV_STR || seps->u.list->p[1].type != JV_STR)
        return jx_fail(in->x, "tojson: separators must be two strings");
    how->item_sep = seps->u.list->p[0];
    how->key_sep = seps->u.list->p[1];
    return ST_OK;
}

static enum st f_tojson(const struct jin *in, struct jv *out)
{
    struct jjson how = {.indent = -1};
    struct jbuild b;
    enum st st = json_how(in, &how);

    jbuild_init(&b, in->x);
    if (!st)
        st = jv_tojson(in->x, in->v, &how, &b);
    *out = jbuild_done(&b);
    return st;
}

static enum st f_fromjson(const struct jin *in, struct jv *out)
{
    const struct jv *v = in->v;
    const struct json *j;
    enum st st;

    if (v->type != JV_STR)
        return jx_fail(in->x, "fromjson of %s: it takes a string",
                       jv_type_word(v));
    st = jx_pay(in->x, v->u.str.n / 4);
    if (st)
        return st;
    st = json_parse(&j, in->x->arena, v->u.str.s, v->u.str.n, NULL);
    if (st == ST_LIMIT || st == ST_NOMEM)
        return jx_full(in->x);
    if (st)
        return jx_fail(in->x, "fromjson: the string is not JSON");
    return jv_from_json(in->x, j, jv_is_markup(v), out);
}

const struct jentry jfilter_plain[] = {
    {"abs", "", f_abs},
    {"attr", "!name", f_attr},
    {"count", "", f_length},
    {"d", "default_value boolean", f_default},
    {"default", "default_value boolean", f_default},
    {"float", "default", f_float},
    {"fromjson", "", f_fromjson},
    {"int", "default base", f_int},
    {"items", "", f_items},
    {"keys", "", f_keys},
    {"length", "", f_length},
    {"list", "", f_list},
    {"round", "precision method", f_round},
    {"safe", "", f_same},
    {"string", "", f_string},
    {"tojson", "indent ensure_ascii separators sort_keys", f_tojson},
    {"values", "", f_values},
    {NULL, NULL, NULL},
};
