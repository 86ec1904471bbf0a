/* tojson: json.dumps with provenance. */
#include "chat/jinja_lib.h"

#include "base/utf8.h"

#include <math.h>

struct dump {
    struct jx *x;
    const struct jjson *how;
    struct jbuild *b;
    int64_t level;
};

static enum st dump(struct dump *d, const struct jv *v, bool quotes);

/* --- strings -------------------------------------------------------------- */

/* The escape of a character; 0: it stands for itself. */
static size_t escape(uint32_t cp, bool ascii, char *out)
{
    static const char brief[] = "\"\"\\\\\bb\ff\nn\rr\tt";

    for (const char *p = brief; *p; p += 2)
        if ((unsigned char)*p == cp)
            return (size_t)snprintf(out, 16, "\\%c", p[1]);
    if (cp >= 0x20 && (cp < 0x7f || !ascii))
        return 0;
    if (cp < 0x10000)
        return (size_t)snprintf(out, 16, "\\u%04x", cp);
    cp -= 0x10000;
    return (size_t)snprintf(out, 16, "\\u%04x\\u%04x", 0xd800 + (cp >> 10),
                            0xdc00 + (cp & 0x3ff));
}

static enum st dump_str(struct dump *d, const struct jv *v, bool quotes)
{
    const char *s = v->u.str.s;
    size_t n = v->u.str.n, run = 0, i = 0;
    char esc[16];
    enum st st = jbuild_lit(d->b, "\"", quotes);

    while (i < n && !st) {
        uint32_t cp;
        size_t len = jchar(s + i, n - i, &cp);
        size_t m = escape(cp, d->how->ascii, esc);

        if (m) {
            st = jx_pay(d->x, 1);
            if (!st)
                st = jbuild_part(d->b, v, run, i - run);
            if (!st)
                st = jbuild_add(d->b, esc, m, jv_markup_at(v, i));
            run = i + len;
        }
        i += len;
    }
    if (!st)
        st = jbuild_part(d->b, v, run, n - run);
    return st ? st : jbuild_lit(d->b, "\"", quotes);
}

/* --- containers ----------------------------------------------------------- */

static enum st new_line(struct dump *d, bool markup)
{
    const struct jv *by = &d->how->indent_by;
    enum st st = jbuild_lit(d->b, "\n", markup);

    if (by->type != JV_STR) {
        uint64_t each = (uint64_t)d->how->indent, all;

        if (__builtin_mul_overflow(each, (uint64_t)d->level, &all))
            all = UINT64_MAX;
        return st ? st : jbuild_pad(d->b, ' ', all, markup);
    }
    for (int64_t i = 0; i < d->level && !st; i++)
        st = jbuild_add(d->b, by->u.str.s, by->u.str.n,
                        markup && jv_is_markup(by));
    return st;
}

static bool on_lines(const struct dump *d)
{
    return d->how->indent >= 0 || d->how->indent_by.type == JV_STR;
}

static enum st separator(struct dump *d, const struct jv *sep,
                         const char *usual, bool markup)
{
    if (sep->type == JV_STR)
        return jbuild_add(d->b, sep->u.str.s, sep->u.str.n,
                          markup && jv_is_markup(sep));
    return jbuild_lit(d->b, usual, markup);
}

static enum st before_item(struct dump *d, size_t i, bool markup)
{
    enum st st = ST_OK;

    if (i)
        st = separator(d, &d->how->item_sep, on_lines(d) ? "," : ", ",
                       markup);
    if (!st && on_lines(d))
        st = new_line(d, markup);
    return st;
}

static enum st dump_list(struct dump *d, const struct jv *v)
{
    const struct jlist *l = v->u.list;
    enum st st = jbuild_lit(d->b, "[", v->markup);

    d->level++;
    for (size_t i = 0; i < l->n && !st; i++) {
        st = before_item(d, i, v->markup);
        if (!st)
            st = dump(d, &l->p[i], v->markup);
    }
    d->level--;
    if (!st && l->n && on_lines(d))
        st = new_line(d, v->markup);
    return st ? st : jbuild_lit(d->b, "]", v->markup);
}

static enum st dump_key(struct dump *d, const struct jv *key, bool markup)
{
    enum st st;

    if (key->type == JV_STR)
        return dump_str(d, key, markup);
    st = jbuild_lit(d->b, "\"", markup);
    if (!st)
        st = dump(d, key, markup);
    return st ? st : jbuild_lit(d->b, "\"", markup);
}

/* The pairs in the order of their keys. */
static enum st by_key(struct dump *d, const struct jv *v, struct jv *sorted)
{
    struct jargs none = {0};
    struct jv items;
    enum st st = jx_items(d->x, v, &items);

    *sorted = jv_undef();
    if (!st) {
        struct jv cs = jv_bool(true, true);
        struct jpair kw = {jv_lit("case_sensitive"), cs};

        none.kw = &kw;
        none.n_kw = 1;
        st = jlib_filter(d->x, "sort", 4, &items, &none, sorted);
    }
    return st;
}

static enum st dump_member(struct dump *d, const struct jv *v, size_t i,
                           const struct jv *key, const struct jv *value)
{
    enum st st = before_item(d, i, v->markup);

    if (!st)
        st = dump_key(d, key, v->markup);
    if (!st)
        st = separator(d, &d->how->key_sep, ": ", v->markup);
    return st ? st : dump(d, value, v->markup);
}

static enum st dump_dict(struct dump *d, const struct jv *v)
{
    const struct jdict *o = v->u.dict;
    struct jv sorted = jv_undef();
    enum st st = jbuild_lit(d->b, "{", v->markup);

    if (!st && d->how->sorted)
        st = by_key(d, v, &sorted);
    d->level++;
    for (size_t i = 0; i < o->n && !st; i++) {
        const struct jv *pair = NULL;

        if (sorted.type == JV_LIST)
            pair = sorted.u.list->p[i].u.list->p;
        st = dump_member(d, v, i, pair ? &pair[0] : &o->p[i].key,
                         pair ? &pair[1] : &o->p[i].value);
    }
    d->level--;
    if (!st && o->n && on_lines(d))
        st = new_line(d, v->markup);
    return st ? st : jbuild_lit(d->b, "}", v->markup);
}

/* --- values --------------------------------------------------------------- */

static enum st dump_float(struct dump *d, const struct jv *v)
{
    char text[48];

    if (!isfinite(v->u.d))
        return jbuild_lit(d->b,
                          isnan(v->u.d) ? "NaN"
                          : v->u.d > 0  ? "Infinity"
                                        : "-Infinity",
                          v->markup);
    return jbuild_add(d->b, text, jnum_repr(v->u.d, text), v->markup);
}

static enum st dump(struct dump *d, const struct jv *v, bool quotes)
{
    char text[32];
    enum st st = jx_pay(d->x, 1);

    if (st)
        return st;
    switch (v->type) {
    case JV_NONE:
        return jbuild_lit(d->b, "null", v->markup);
    case JV_BOOL:
        return jbuild_lit(d->b, v->u.b ? "true" : "false", v->markup);
    case JV_INT:
        snprintf(text, sizeof(text), "%lld", (long long)v->u.i);
        return jbuild_lit(d->b, text, v->markup);
    case JV_FLOAT:
        return dump_float(d, v);
    case JV_STR:
        return dump_str(d, v, quotes);
    case JV_LIST:
    case JV_DICT:
        break;
    default:
        return jx_fail(d->x, "tojson: %s is not JSON", jv_type_word(v));
    }
    st = jx_enter(d->x);
    if (st)
        return st;
    st = v->type == JV_LIST ? dump_list(d, v) : dump_dict(d, v);
    jx_leave(d->x);
    return st;
}

enum st jv_tojson(struct jx *x, const struct jv *v, const struct jjson *how,
                  struct jbuild *b)
{
    struct dump d = {.x = x, .how = how, .b = b};

    return dump(&d, v, jv_is_markup(v));
}
