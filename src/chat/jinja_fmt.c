/*
 * "%s %5.2f"|format(...) and "{} {name:>5}".format(...).
 *
 * The format's own bytes and the padding have the provenance of the format,
 * inserted values their own.
 */
#include "chat/jinja_lib.h"

#include <math.h>

#define PREC_MAX 60 /* digits behind the point */

struct spec {
    bool zero, alt, comma;
    char sign;  /* '-', '+', ' ' */
    char align; /* '<', '>', '^', '='; 0: as the type is */
    char type;
    char fill;
    int64_t width, prec; /* prec -1: none */
    bool markup;         /* of padding */
};

/* --- one value ------------------------------------------------------------ */

/* Padded to spec.width characters, `n_sign` bytes of sign before zeros. */
static enum st put_padded(struct jbuild *b, const struct spec *f,
                          const struct jv *s, size_t n_sign, char usual)
{
    size_t n = s->u.str.n, chars = jchars(s->u.str.s, n);
    uint64_t pad = f->width > 0 && (uint64_t)f->width > chars
                       ? (uint64_t)f->width - chars
                       : 0;
    char align = f->align ? f->align : usual;
    uint64_t left = align == '>' ? pad : align == '^' ? pad / 2 : 0;
    enum st st = jbuild_pad(b, f->fill, left, f->markup);

    if (!st)
        st = jbuild_part(b, s, 0, align == '=' ? n_sign : n);
    if (!st && align == '=') {
        st = jbuild_pad(b, f->fill, pad, f->markup);
        if (!st)
            st = jbuild_part(b, s, n_sign, n - n_sign);
        return st;
    }
    return st ? st : jbuild_pad(b, f->fill, pad - left, f->markup);
}

static enum st put_text(struct jx *x, struct jbuild *b, const struct spec *f,
                        const struct jv *v)
{
    struct jv s;
    enum st st = jv_text(x, v, &s);

    if (st)
        return st;
    if (f->prec >= 0)
        s = jv_cut(&s, 0, jchar_at(s.u.str.s, s.u.str.n, (size_t)f->prec));
    return put_padded(b, f, &s, 0, '<');
}

/* Thousands: the digits of text[0..n) before a point, in place of out. */
static size_t grouped(const char *text, size_t n, char *out)
{
    size_t whole = strspn(text, "0123456789"), m = 0;

    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            out[m++] = ',';
        out[m++] = text[i];
    }
    memcpy(out + m, text + whole, n - whole);
    return m + n - whole;
}

static enum st put_digits(struct jx *x, struct jbuild *b,
                          const struct spec *f, bool minus, const char *text,
                          bool markup)
{
    char out[1024];
    size_t n_sign = 0, n = strlen(text);
    struct jv s;

    (void)x;
    if (minus || f->sign != '-')
        out[n_sign++] = minus ? '-' : f->sign;
    if (f->alt && f->type && strchr("xXob", f->type)) {
        out[n_sign++] = '0';
        out[n_sign++] = f->type;
    }
    if (f->comma) {
        n = grouped(text, n, out + n_sign);
    } else {
        memcpy(out + n_sign, text, n);
    }
    s = jv_span(out, n_sign + n, markup);
    return put_padded(b, f, &s, n_sign, f->zero ? '=' : '>');
}

static enum st put_int(struct jx *x, struct jbuild *b, const struct spec *f,
                       int64_t i, bool markup)
{
    uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
    unsigned base = 10;
    char text[200], *p = text + sizeof(text) - 1;
    const char *digits = f->type == 'X' ? "0123456789ABCDEF"
                                        : "0123456789abcdef";
    int64_t least = f->prec;

    if (f->type == 'x' || f->type == 'X')
        base = 16;
    else if (f->type == 'o')
        base = 8;
    else if (f->type == 'b')
        base = 2;
    *p = 0;
    for (int64_t n = 0; u || n < 1 || n < least; n++) {
        *--p = digits[u % base];
        u /= base;
    }
    return put_digits(x, b, f, i < 0, p, markup);
}

static enum st put_float(struct jx *x, struct jbuild *b, const struct spec *f,
                         double d, bool markup)
{
    int prec = f->prec < 0 ? 6 : (int)f->prec;
    bool minus = signbit(d) && !isnan(d);
    double a = fabs(d);
    char text[500];
    size_t n;

    switch (f->type) {
    case 'e':
        snprintf(text, sizeof(text), "%.*e", prec, a);
        break;
    case 'E':
        snprintf(text, sizeof(text), "%.*E", prec, a);
        break;
    case 'g':
        snprintf(text, sizeof(text), "%.*g", prec, a);
        break;
    case 'G':
        snprintf(text, sizeof(text), "%.*G", prec, a);
        break;
    case '%':
        snprintf(text, sizeof(text), "%.*f%%", prec, a * 100);
        break;
    case 0:
        if (f->prec < 0) {
            n = jnum_repr(a, text);
            text[n] = 0;
        } else {
            snprintf(text, sizeof(text), "%.*g", prec, a);
        }
        break;
    default:
        snprintf(text, sizeof(text), "%.*f", prec, a);
    }
    return put_digits(x, b, f, minus, text, markup);
}

static enum st put_value(struct jx *x, struct jbuild *b, const struct spec *f,
                         const struct jv *v)
{
    bool markup = jv_is_markup(v);
    int64_t i;
    double d;

    if (f->prec > PREC_MAX && f->type != 's' && v->type != JV_STR)
        return jx_limit(x, "formats a number with too many digits");
    if (!f->type && (v->type == JV_BOOL || v->type == JV_NONE))
        return put_text(x, b, f, v);
    if (f->type && strchr("dixXobn", f->type)) {
        if (jv_int_of(v, &i))
            return put_int(x, b, f, i, markup);
        if (!jv_num_of(v, &d) || !(d > -9.2e18 && d < 9.2e18))
            return jx_fail(x, "format: %%%c takes an int, not %s", f->type,
                           jv_type_word(v));
        return put_int(x, b, f, (int64_t)d, markup);
    }
    if (f->type && strchr("eEfFgG%", f->type)) {
        if (!jv_num_of(v, &d))
            return jx_fail(x, "format: %%%c takes a number, not %s", f->type,
                           jv_type_word(v));
        return put_float(x, b, f, d, markup);
    }
    if (!f->type && v->type == JV_INT)
        return put_int(x, b, f, v->u.i, markup);
    if (!f->type && v->type == JV_FLOAT)
        return put_float(x, b, f, v->u.d, markup);
    return put_text(x, b, f, v);
}

/* --- reading formats ------------------------------------------------------ */

/* A format string being read. */
struct reader {
    struct jx *x;
    const struct jv *v;
    size_t at;
    const struct jargs *args;
    size_t next; /* positional argument */
    struct jbuild b;
};

static char peek(const struct reader *r)
{
    return r->at < r->v->u.str.n ? r->v->u.str.s[r->at] : 0;
}

static bool take(struct reader *r, char c)
{
    if (peek(r) != c || r->at >= r->v->u.str.n)
        return false;
    r->at++;
    return true;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A decimal number, at most 10^12. */
static int64_t number(struct reader *r)
{
    int64_t n = 0;

    for (; digit(peek(r)); r->at++)
        if (n < 1000000000000)
            n = n * 10 + (peek(r) - '0');
    return n;
}

static const struct jv *named(const struct reader *r, size_t from, size_t n)
{
    return jargs_named(r->args, r->v->u.str.s + from, n);
}

static enum st no_value(struct reader *r)
{
    return jx_fail(r->x, "format: a value is missing");
}

/* --- printf --------------------------------------------------------------- */

static void printf_flags(struct reader *r, struct spec *f)
{
    for (;; r->at++) {
        switch (peek(r)) {
        case '-':
            f->align = '<';
            break;
        case '+':
            f->sign = '+';
            break;
        case ' ':
            if (f->sign != '+')
                f->sign = ' ';
            break;
        case '0':
            f->zero = true;
            break;
        case '#':
            f->alt = true;
            break;
        default:
            return;
        }
    }
}

/* What follows a %. */
static enum st printf_one(struct reader *r)
{
    struct spec f = {.fill = ' ', .sign = '-', .prec = -1};
    const struct jv *v = NULL;
    struct jv text;
    enum st st;

    f.markup = jv_markup_at(r->v, r->at - 1);
    if (take(r, '%'))
        return jbuild_lit(&r->b, "%", f.markup);
    if (take(r, '(')) {
        size_t from = r->at;

        while (peek(r) && peek(r) != ')')
            r->at++;
        v = named(r, from, r->at - from);
        if (!take(r, ')') || !v)
            return no_value(r);
    }
    printf_flags(r, &f);
    f.width = number(r);
    if (take(r, '.'))
        f.prec = number(r);
    f.type = peek(r);
    if (!f.type || !strchr("diuoxXeEfFgGcsra", f.type))
        return jx_fail(r->x, "format: no such conversion; accepted are "
                             "%%d %%x %%o %%e %%f %%g %%s %%r %%c");
    r->at++;
    if (!v && r->next >= r->args->n)
        return no_value(r);
    if (!v)
        v = &r->args->pos[r->next++];
    if (f.type == 'u')
        f.type = 'd';
    if (f.type == 'r' || f.type == 'a') {
        struct jbuild b;

        jbuild_init(&b, r->x);
        st = jv_repr(r->x, v, jv_is_markup(v), &b);
        text = jbuild_done(&b);
        f.type = 's';
        return st ? st : put_text(r->x, &r->b, &f, &text);
    }
    if (!f.align && !strchr("sc", f.type))
        f.align = f.zero ? '=' : '>';
    else if (!f.align)
        f.align = '>';
    if (f.align == '=')
        f.fill = '0';
    return put_value(r->x, &r->b, &f, v);
}

enum st jf_printf(const struct jin *in, struct jv *out)
{
    struct reader r = {.x = in->x, .args = in->all};
    struct jv s;
    enum st st = jv_text(in->x, in->v, &s);

    r.v = &s;
    jbuild_init(&r.b, in->x);
    while (!st && r.at < s.u.str.n) {
        const char *from = s.u.str.s + r.at;
        const char *hit = memchr(from, '%', s.u.str.n - r.at);
        size_t n = hit ? (size_t)(hit - from) : s.u.str.n - r.at;

        st = jbuild_part(&r.b, &s, r.at, n);
        r.at += n;
        if (!st)
            st = jx_pay(in->x, 1 + in->all->n_kw / 8);
        if (!st && take(&r, '%'))
            st = printf_one(&r);
    }
    *out = jbuild_done(&r.b);
    return st;
}

/* --- str.format ----------------------------------------------------------- */

static enum st brace_spec(struct reader *r, struct spec *f)
{
    static const char aligns[] = "<>^=";
    const char *s = r->v->u.str.s + r->at;
    size_t left = r->v->u.str.n - r->at;

    if (left > 1 && s[1] && strchr(aligns, s[1]) && s[0] > 0 &&
        s[0] != '}') {
        f->fill = s[0];
        f->align = s[1];
        r->at += 2;
    } else if (left && s[0] && strchr(aligns, s[0])) {
        f->align = s[0];
        r->at++;
    }
    if (take(r, '+'))
        f->sign = '+';
    else if (take(r, ' '))
        f->sign = ' ';
    else
        (void)take(r, '-');
    f->alt = take(r, '#');
    if (take(r, '0')) {
        f->zero = true;
        if (!f->align)
            f->fill = '0';
    }
    f->width = number(r);
    f->comma = take(r, ',');
    if (take(r, '.'))
        f->prec = number(r);
    if (peek(r) && strchr("bcdeEfFgGnosxX%", peek(r))) {
        f->type = peek(r);
        r->at++;
    }
    return ST_OK;
}

/* The value that {name.attr[0] names. */
static enum st brace_value(struct reader *r, struct jv *out)
{
    const struct jv *v = NULL;
    size_t from = r->at, n;
    struct jv key, holder;
    enum st st = ST_OK;

    while (peek(r) && !strchr("}!:.[", peek(r)))
        r->at++;
    n = r->at - from;
    if (!n) {
        v = r->next < r->args->n ? &r->args->pos[r->next] : NULL;
        r->next++;
    } else if (digit(r->v->u.str.s[from])) {
        size_t end = r->at;
        int64_t i;

        r->at = from;
        i = number(r);
        v = r->at == end && (uint64_t)i < r->args->n ? &r->args->pos[i]
                                                     : NULL;
        r->at = end;
    } else {
        v = named(r, from, n);
    }
    if (!v)
        return no_value(r);
    *out = *v;
    while (!st && (peek(r) == '.' || peek(r) == '[')) {
        char end = r->v->u.str.s[r->at++] == '[' ? ']' : 0;

        from = r->at;
        while (peek(r) && !strchr(end ? "]" : "}!:.[", peek(r)))
            r->at++;
        key = jv_cut(r->v, from, r->at - from);
        if (end && !take(r, ']'))
            return no_value(r);
        holder = *out;
        st = jx_path(r->x, &holder, &key, out);
    }
    return st;
}

static enum st brace_one(struct reader *r)
{
    struct spec f = {.fill = ' ', .sign = '-', .prec = -1};
    size_t from = r->at - 1;
    struct jv v, field;
    enum st st = brace_value(r, &v);

    if (!st && take(r, '!')) {
        struct jbuild b;

        jbuild_init(&b, r->x);
        if (peek(r) == 'r')
            st = jv_repr(r->x, &v, jv_is_markup(&v), &b);
        else
            st = jv_print(r->x, &v, &b);
        r->at += peek(r) != 0;
        v = jbuild_done(&b);
    }
    if (!st && take(r, ':'))
        st = brace_spec(r, &f);
    if (!st && !take(r, '}'))
        return jx_fail(r->x, "format: a field that is not understood");
    /* the fill is a byte of the field, so it has to be markup as a whole */
    field = jv_cut(r->v, from, r->at - from);
    f.markup = jv_is_markup(&field);
    return st ? st : put_value(r->x, &r->b, &f, &v);
}

enum st jm_format(const struct jin *in, struct jv *out)
{
    struct reader r = {.x = in->x, .args = in->all, .v = in->v};
    const char *s = in->v->u.str.s;
    size_t n = in->v->u.str.n;
    enum st st = ST_OK;

    jbuild_init(&r.b, in->x);
    while (!st && r.at < n) {
        size_t from = r.at;

        while (r.at < n && s[r.at] != '{' && s[r.at] != '}')
            r.at++;
        st = jbuild_part(&r.b, in->v, from, r.at - from);
        if (!st)
            st = jx_pay(in->x, 1 + in->all->n_kw / 8);
        if (st || r.at >= n)
            break;
        r.at++;
        if (peek(&r) == s[r.at - 1] && r.at < n) {
            st = jbuild_part(&r.b, in->v, r.at - 1, 1);
            r.at++;
        } else if (s[r.at - 1] == '{') {
            st = brace_one(&r);
        } else {
            st = jx_fail(in->x, "format: a single } (write }})");
        }
    }
    *out = jbuild_done(&r.b);
    return st;
}
