#include "chat/jinja_lib.h"

#include "chat/jsontext.h"
#include "text/uni.h"

#include <math.h>

/* --- numbers -------------------------------------------------------------- */

size_t jnum_repr(double d, char *out)
{
    struct buf b;
    size_t n;

    if (!isfinite(d))
        return (size_t)snprintf(out, 40, "%s",
                                isnan(d) ? "nan" : d > 0 ? "inf" : "-inf");
    buf_init(&b, 64);
    jsontext_double(&b, d);
    n = b.failed ? 0 : b.n;
    if (n)
        memcpy(out, b.p, n);
    buf_release(&b);
    return n;
}

/* --- repr ----------------------------------------------------------------- */

/* As str.isprintable decides; space is printable. */
static bool printable(uint32_t cp)
{
    enum uni_class c;

    if (cp < 0x7f)
        return cp >= 0x20;
    c = uni_class(cp);
    return c != UNI_OTHER && c != UNI_SPACE;
}

/* The escape of a character in a repr; 0: it stands for itself. */
static size_t repr_escape(uint32_t cp, char quote, char *out)
{
    if (cp == '\\' || cp == (unsigned char)quote)
        return (size_t)snprintf(out, 12, "\\%c", (char)cp);
    if (cp == '\n' || cp == '\r' || cp == '\t')
        return (size_t)snprintf(out, 12, "\\%c",
                                cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
    if (printable(cp))
        return 0;
    if (cp < 0x100)
        return (size_t)snprintf(out, 12, "\\x%02x", cp);
    if (cp < 0x10000)
        return (size_t)snprintf(out, 12, "\\u%04x", cp);
    return (size_t)snprintf(out, 12, "\\U%08x", cp);
}

static enum st repr_str(const struct jv *v, bool markup, struct jbuild *b)
{
    const char *s = v->u.str.s;
    size_t n = v->u.str.n, run = 0, i = 0;
    char quote[2] = "'", esc[12];
    enum st st;

    if (n && memchr(s, '\'', n) && !memchr(s, '"', n))
        quote[0] = '"';
    st = jbuild_add(b, quote, 1, markup);
    while (i < n && !st) {
        uint32_t cp;
        size_t len = jchar(s + i, n - i, &cp);
        size_t m = repr_escape(cp, quote[0], esc);

        if (m) {
            st = jx_pay(b->x, 1);
            if (!st)
                st = jbuild_part(b, v, run, i - run);
            if (!st)
                st = jbuild_add(b, esc, m, jv_markup_at(v, i));
            run = i + len;
        }
        i += len;
    }
    if (!st)
        st = jbuild_part(b, v, run, n - run);
    return st ? st : jbuild_add(b, quote, 1, markup);
}

static enum st repr_list(struct jx *x, const struct jv *v, struct jbuild *b)
{
    const struct jlist *l = v->u.list;
    enum st st = jbuild_lit(b, l->tuple ? "(" : "[", v->markup);

    for (size_t i = 0; i < l->n && !st; i++) {
        if (i)
            st = jbuild_lit(b, ", ", v->markup);
        if (!st)
            st = jv_repr(x, &l->p[i], v->markup, b);
    }
    if (!st && l->tuple && l->n == 1)
        st = jbuild_lit(b, ",", v->markup);
    return st ? st : jbuild_lit(b, l->tuple ? ")" : "]", v->markup);
}

static enum st repr_dict(struct jx *x, const struct jv *v, struct jbuild *b)
{
    const struct jdict *d = v->u.dict;
    enum st st = jbuild_lit(b, "{", v->markup);

    for (size_t i = 0; i < d->n && !st; i++) {
        if (i)
            st = jbuild_lit(b, ", ", v->markup);
        if (!st)
            st = jv_repr(x, &d->p[i].key, v->markup, b);
        if (!st)
            st = jbuild_lit(b, ": ", v->markup);
        if (!st)
            st = jv_repr(x, &d->p[i].value, v->markup, b);
    }
    return st ? st : jbuild_lit(b, "}", v->markup);
}

static enum st print_plain(struct jx *x, const struct jv *v, struct jbuild *b)
{
    char text[48];

    (void)x;
    switch (v->type) {
    case JV_NONE:
        return jbuild_lit(b, "None", v->markup);
    case JV_BOOL:
        return jbuild_lit(b, v->u.b ? "True" : "False", v->markup);
    case JV_INT:
        snprintf(text, sizeof(text), "%lld", (long long)v->u.i);
        return jbuild_lit(b, text, v->markup);
    case JV_FLOAT:
        return jbuild_add(b, text, jnum_repr(v->u.d, text), v->markup);
    case JV_FUNC: {
        enum st st = jbuild_lit(b, "<function ", v->markup);

        if (!st)
            st = jbuild_lit(b, v->u.fn->name, v->markup);
        return st ? st : jbuild_lit(b, ">", v->markup);
    }
    default:
        return ST_OK;
    }
}

enum st jv_repr(struct jx *x, const struct jv *v, bool markup,
                struct jbuild *b)
{
    enum st st = jx_pay(x, 1);

    if (st)
        return st;
    switch (v->type) {
    case JV_UNDEF:
        return jbuild_lit(b, "Undefined", markup);
    case JV_STR:
        return repr_str(v, markup, b);
    case JV_LIST:
    case JV_DICT:
        break;
    default:
        return print_plain(x, v, b);
    }
    st = jx_enter(x);
    if (st)
        return st;
    st = v->type == JV_LIST ? repr_list(x, v, b) : repr_dict(x, v, b);
    jx_leave(x);
    return st;
}

enum st jv_print(struct jx *x, const struct jv *v, struct jbuild *out)
{
    if (v->type == JV_STR)
        return jbuild_str(out, v);
    if (v->type == JV_UNDEF)
        return ST_OK;
    return jv_repr(x, v, v->markup, out);
}

enum st jv_text(struct jx *x, const struct jv *v, struct jv *out)
{
    struct jbuild b;
    enum st st;

    *out = *v;
    if (v->type == JV_STR)
        return ST_OK;
    jbuild_init(&b, x);
    st = jv_print(x, v, &b);
    *out = jbuild_done(&b);
    return st;
}
