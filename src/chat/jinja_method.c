/* Methods of strings. */
#include "chat/jinja_lib.h"

#include "text/uni.h"

/* --- strings: case, ends -------------------------------------------------- */

static enum st m_upper(const struct jin *in, struct jv *out)
{
    return jcase_map(in->x, in->v, JCASE_UPPER, out);
}

static enum st m_lower(const struct jin *in, struct jv *out)
{
    return jcase_map(in->x, in->v, JCASE_LOWER, out);
}

static enum st m_capitalize(const struct jin *in, struct jv *out)
{
    return jcase_map(in->x, in->v, JCASE_CAPITAL, out);
}

static enum st m_title(const struct jin *in, struct jv *out)
{
    return jcase_map(in->x, in->v, JCASE_TITLE, out);
}

static enum st strip(const struct jin *in, unsigned ends, struct jv *out)
{
    const struct jv *chars = in->arg[0];

    if (chars && chars->type == JV_NONE)
        chars = NULL;
    if (chars && chars->type != JV_STR)
        return jx_fail(in->x, "%s: the characters must be a string",
                       in->name);
    return jstr_strip(in->x, in->v, chars, ends, out);
}

static enum st m_strip(const struct jin *in, struct jv *out)
{
    return strip(in, JSTRIP_LEFT | JSTRIP_RIGHT, out);
}

static enum st m_lstrip(const struct jin *in, struct jv *out)
{
    return strip(in, JSTRIP_LEFT, out);
}

static enum st m_rstrip(const struct jin *in, struct jv *out)
{
    return strip(in, JSTRIP_RIGHT, out);
}

enum end { END_START, END_FINISH };

static bool has_end(const struct jv *s, const struct jv *what, enum end end)
{
    size_t n = s->u.str.n, m = what->u.str.n;

    return m <= n && !memcmp(s->u.str.s + (end == END_START ? 0 : n - m),
                             what->u.str.s, m);
}

/* A string, or any of a tuple; s.startswith(what, from, to). */
static enum st ends(const struct jin *in, enum end end, struct jv *out)
{
    const struct jv *w = in->arg[0];
    struct jv s = *in->v, open = jv_undef();
    bool yes = false;
    enum st st = ST_OK;

    if (in->arg[1] || in->arg[2])
        st = jop_slice(in->x, in->v, in->arg[1] ? in->arg[1] : &open,
                       in->arg[2] ? in->arg[2] : &open, &open, &s);
    if (st)
        return st;
    if (w->type == JV_STR) {
        yes = has_end(&s, w, end);
    } else if (w->type == JV_LIST) {
        for (size_t i = 0; i < w->u.list->n && !yes && !st; i++) {
            const struct jv *one = &w->u.list->p[i];

            if (one->type != JV_STR)
                return jx_fail(in->x, "%s takes strings", in->name);
            st = jx_pay(in->x, 1 + one->u.str.n / 16);
            yes = has_end(&s, one, end);
        }
    } else {
        return jx_fail(in->x, "%s takes a string or a tuple of strings",
                       in->name);
    }
    *out = jv_bool(yes, jv_is_markup(in->v));
    return st;
}

static enum st m_startswith(const struct jin *in, struct jv *out)
{
    return ends(in, END_START, out);
}

static enum st m_endswith(const struct jin *in, struct jv *out)
{
    return ends(in, END_FINISH, out);
}

static enum st need_str(const struct jin *in, size_t i)
{
    struct jv ignored;

    return jin_str(in, i, &ignored);
}

static enum st m_removeprefix(const struct jin *in, struct jv *out)
{
    size_t m;
    enum st st = need_str(in, 0);

    *out = *in->v;
    if (st || !has_end(in->v, in->arg[0], END_START))
        return st;
    m = in->arg[0]->u.str.n;
    *out = jv_cut(in->v, m, in->v->u.str.n - m);
    return ST_OK;
}

static enum st m_removesuffix(const struct jin *in, struct jv *out)
{
    enum st st = need_str(in, 0);

    *out = *in->v;
    if (!st && has_end(in->v, in->arg[0], END_FINISH))
        *out = jv_cut(in->v, 0, in->v->u.str.n - in->arg[0]->u.str.n);
    return st;
}

/* ljust, rjust, center, zfill */
static enum st m_justify(const struct jin *in, struct jv *out)
{
    struct jv fill = jv_lit(" ");
    int64_t width = 0, pad, left;
    bool zero = in->name[0] == 'z';
    const char *s = in->v->u.str.s;
    size_t sign;
    struct jbuild b;
    enum st st = jin_int(in, 0, &width);

    if (!st && !zero)
        st = jin_str(in, 1, &fill);
    if (st)
        return st;
    if (fill.u.str.n != 1)
        return jx_fail(in->x, "%s: the fill is one ASCII character",
                       in->name);
    sign = zero && in->v->u.str.n && (*s == '-' || *s == '+');
    pad = width > 0 ? width - (int64_t)jchars(s, in->v->u.str.n) : 0;
    if (pad < 0)
        pad = 0;
    left = in->name[0] == 'l'   ? 0
           : in->name[0] == 'c' ? pad / 2 + (pad & width & 1)
                                : pad;
    jbuild_init(&b, in->x);
    st = jbuild_part(&b, in->v, 0, sign);
    if (!st)
        st = jbuild_pad(&b, zero ? '0' : fill.u.str.s[0], (uint64_t)left,
                        jin_markup(in, zero ? 0 : 1));
    if (!st)
        st = jbuild_part(&b, in->v, sign, in->v->u.str.n - sign);
    if (!st)
        st = jbuild_pad(&b, fill.u.str.s[0], (uint64_t)(pad - left),
                        jin_markup(in, 1));
    *out = jbuild_done(&b);
    return st;
}

/* --- strings: searching --------------------------------------------------- */

/* The part that find(what, from, to) looks at, and its place in characters. */
static enum st window(const struct jin *in, struct jv *s, int64_t *base)
{
    struct jv open = jv_undef();
    enum st st = need_str(in, 0);

    *s = *in->v;
    *base = 0;
    if (st || (!in->arg[1] && !in->arg[2]))
        return st;
    st = jop_slice(in->x, in->v, in->arg[1] ? in->arg[1] : &open,
                   in->arg[2] ? in->arg[2] : &open, &open, s);
    if (!st)
        *base = (int64_t)jchars(in->v->u.str.s,
                                (size_t)(s->u.str.s - in->v->u.str.s));
    return st;
}

/* Last place, by going on from each hit. */
static enum st find_last(struct jx *x, const struct jv *s,
                         const struct jv *what, size_t *at)
{
    size_t from = 0, hit;
    enum st st = ST_OK;

    *at = SIZE_MAX;
    if (!what->u.str.n) {
        *at = s->u.str.n;
        return ST_OK;
    }
    while (!st && from <= s->u.str.n) {
        st = jstr_find(x, s, from, what, &hit);
        if (st || hit == SIZE_MAX)
            break;
        *at = hit;
        from = hit + 1;
    }
    return st;
}

static enum st find(const struct jin *in, bool last, bool must,
                    struct jv *out)
{
    struct jv s;
    int64_t base, found = -1;
    size_t at = SIZE_MAX;
    enum st st = window(in, &s, &base);

    if (!st)
        st = last ? find_last(in->x, &s, in->arg[0], &at)
                  : jstr_find(in->x, &s, 0, in->arg[0], &at);
    if (st)
        return st;
    if (at != SIZE_MAX)
        found = base + (int64_t)jchars(s.u.str.s, at);
    else if (must)
        return jx_fail(in->x, "%s: the string is not in there", in->name);
    *out = jv_int(found, jv_is_markup(in->v) && jv_is_markup(in->arg[0]));
    return ST_OK;
}

static enum st m_find(const struct jin *in, struct jv *out)
{
    return find(in, false, false, out);
}

static enum st m_rfind(const struct jin *in, struct jv *out)
{
    return find(in, true, false, out);
}

static enum st m_index(const struct jin *in, struct jv *out)
{
    return find(in, false, true, out);
}

static enum st m_rindex(const struct jin *in, struct jv *out)
{
    return find(in, true, true, out);
}

static enum st m_count(const struct jin *in, struct jv *out)
{
    struct jv s;
    int64_t base, n = 0;
    size_t from = 0, at;
    enum st st = window(in, &s, &base);

    if (!st && !in->arg[0]->u.str.n)
        n = (int64_t)jchars(s.u.str.s, s.u.str.n) + 1;
    while (!st && in->arg[0]->u.str.n) {
        st = jstr_find(in->x, &s, from, in->arg[0], &at);
        if (st || at == SIZE_MAX)
            break;
        n++;
        from = at + in->arg[0]->u.str.n;
    }
    *out = jv_int(n, jv_is_markup(in->v));
    return st;
}

/* --- strings: splitting --------------------------------------------------- */

static enum st push_part(struct jx *x, const struct jv *s, size_t from,
                         size_t to, struct jv list)
{
    enum st st = jx_pay(x, 1 + (to - from) / 16);

    return st ? st : jv_push(x, list, jv_cut(s, from, to - from));
}

static enum st split_by(struct jx *x, const struct jv *s,
                        const struct jv *sep, int64_t max, struct jv list)
{
    size_t from = 0, at;
    enum st st = ST_OK;

    while (!st && max-- > 0) {
        st = jstr_find(x, s, from, sep, &at);
        if (st || at == SIZE_MAX)
            break;
        st = push_part(x, s, from, at, list);
        from = at + sep->u.str.n;
    }
    return st ? st : push_part(x, s, from, s->u.str.n, list);
}

static enum st split_space(struct jx *x, const struct jv *s, int64_t max,
                           struct jv list)
{
    const char *p = s->u.str.s;
    size_t n = s->u.str.n, at = 0, from;
    enum st st = ST_OK;
    uint32_t cp;

    while (!st) {
        size_t len = 0;

        while (at < n && (len = jchar(p + at, n - at, &cp), jchar_space(cp)))
            at += len;
        if (at >= n)
            break;
        from = at;
        if (max-- == 0)
            return push_part(x, s, from, n, list);
        while (at < n && (len = jchar(p + at, n - at, &cp), !jchar_space(cp)))
            at += len;
        st = push_part(x, s, from, at, list);
    }
    return st;
}

static enum st split_args(const struct jin *in, const struct jv **sep,
                          int64_t *max)
{
    enum st st;

    *max = -1;
    *sep = in->arg[0];
    if (*sep && (*sep)->type == JV_NONE)
        *sep = NULL;
    st = *sep ? need_str(in, 0) : ST_OK;
    if (!st)
        st = jin_int(in, 1, max);
    if (!st && *sep && !(*sep)->u.str.n)
        return jx_fail(in->x, "%s with an empty separator", in->name);
    if (*max < 0)
        *max = INT64_MAX;
    return st;
}

static enum st m_split(const struct jin *in, struct jv *out)
{
    const struct jv *sep;
    int64_t max;
    enum st st = split_args(in, &sep, &max);

    if (!st)
        st = jx_list(in->x, in->v, out);
    if (st)
        return st;
    return sep ? split_by(in->x, in->v, sep, max, *out)
               : split_space(in->x, in->v, max, *out);
}

/* From the right: all parts, then the first ones are one again, with what
 * stands before them. */
static enum st m_rsplit(const struct jin *in, struct jv *out)
{
    const struct jv *sep;
    struct jv all = jv_none();
    int64_t max;
    size_t n, joined;
    enum st st = split_args(in, &sep, &max);

    if (!st)
        st = jx_list(in->x, in->v, &all);
    if (!st)
        st = sep ? split_by(in->x, in->v, sep, INT64_MAX, all)
                 : split_space(in->x, in->v, INT64_MAX, all);
    *out = all;
    n = st ? 0 : all.u.list->n;
    if (n <= (uint64_t)max || (sep && n == (uint64_t)max + 1))
        return st;
    joined = n - (size_t)max;
    st = jx_list(in->x, in->v, out);
    if (!st) {
        const struct jstr *last = &all.u.list->p[joined - 1].u.str;

        st = push_part(in->x, in->v, 0,
                       (size_t)(last->s + last->n - in->v->u.str.s), *out);
    }
    for (size_t i = joined; i < n && !st; i++)
        st = jv_push(in->x, *out, all.u.list->p[i]);
    return st;
}

static enum st m_splitlines(const struct jin *in, struct jv *out)
{
    const char *s = in->v->u.str.s;
    size_t n = in->v->u.str.n, from = 0, at = 0;
    bool keep = false;
    enum st st = jx_list(in->x, in->v, out);
    uint32_t cp;

    jin_bool(in, 0, &keep);
    while (!st && at < n) {
        size_t end = at;

        at += jchar(s + at, n - at, &cp);
        if (!jchar_breaks(cp))
            continue;
        if (cp == '\r' && at < n && s[at] == '\n')
            at++;
        st = push_part(in->x, in->v, from, keep ? at : end, *out);
        from = at;
    }
    if (!st && from < n)
        st = push_part(in->x, in->v, from, n, *out);
    return st;
}

static enum st m_partition(const struct jin *in, struct jv *out)
{
    bool last = in->name[0] == 'r';
    const struct jv *s = in->v, *sep = in->arg[0];
    size_t at = 0, n = s->u.str.n, cut[4] = {0};
    enum st st = need_str(in, 0);

    if (!st && !sep->u.str.n)
        return jx_fail(in->x, "%s with an empty separator", in->name);
    if (!st)
        st = last ? find_last(in->x, s, sep, &at)
                  : jstr_find(in->x, s, 0, sep, &at);
    if (!st)
        st = jx_list(in->x, s, out);
    if (st)
        return st;
    cut[3] = n;
    cut[1] = at != SIZE_MAX ? at : last ? 0 : n;
    cut[2] = at != SIZE_MAX ? at + sep->u.str.n : cut[1];
    for (int i = 0; i < 3 && !st; i++)
        st = push_part(in->x, s, cut[i], cut[i + 1], *out);
    out->u.list->tuple = true;
    return st;
}

/* --- strings: classes ----------------------------------------------------- */

static bool in_class(const char *name, uint32_t cp)
{
    enum uni_class c = uni_class(cp);

    if (!strcmp(name, "isspace"))
        return jchar_space(cp);
    if (!strcmp(name, "isalpha"))
        return c == UNI_L;
    if (!strcmp(name, "isalnum"))
        return c == UNI_L || c == UNI_N;
    if (!strcmp(name, "isascii"))
        return cp < 0x80;
    return cp < 0x80 ? cp >= '0' && cp <= '9' : c == UNI_N;
}

static enum st m_is(const struct jin *in, struct jv *out)
{
    const char *s = in->v->u.str.s;
    size_t n = in->v->u.str.n;
    bool yes = n > 0 || !strcmp(in->name, "isascii");
    enum st st = jx_pay(in->x, n / 8);
    uint32_t cp;

    for (size_t at = 0; at < n && yes && !st;) {
        at += jchar(s + at, n - at, &cp);
        yes = in_class(in->name, cp);
    }
    *out = jv_bool(yes, jv_is_markup(in->v));
    return st;
}

static enum st m_islower(const struct jin *in, struct jv *out)
{
    return jcase_is(in->x, in->v, JCASE_LOWER, out);
}

static enum st m_isupper(const struct jin *in, struct jv *out)
{
    return jcase_is(in->x, in->v, JCASE_UPPER, out);
}

const struct jentry jmethod_str[] = {
    {"capitalize", "", m_capitalize},
    {"casefold", "", m_lower},
    {"center", "!width fillchar", m_justify},
    {"count", "!sub start end", m_count},
    {"endswith", "!suffix start end", m_endswith},
    {"find", "!sub start end", m_find},
    {"format", "*", jm_format},
    {"index", "!sub start end", m_index},
    {"isalnum", "", m_is},
    {"isalpha", "", m_is},
    {"isascii", "", m_is},
    {"isdecimal", "", m_is},
    {"isdigit", "", m_is},
    {"islower", "", m_islower},
    {"isnumeric", "", m_is},
    {"isspace", "", m_is},
    {"isupper", "", m_isupper},
    {"join", "!iterable", jf_join},
    {"ljust", "!width fillchar", m_justify},
    {"lower", "", m_lower},
    {"lstrip", "chars", m_lstrip},
    {"partition", "!sep", m_partition},
    {"removeprefix", "!prefix", m_removeprefix},
    {"removesuffix", "!suffix", m_removesuffix},
    {"replace", "!old !new count", jf_replace},
    {"rfind", "!sub start end", m_rfind},
    {"rindex", "!sub start end", m_rindex},
    {"rjust", "!width fillchar", m_justify},
    {"rpartition", "!sep", m_partition},
    {"rsplit", "sep maxsplit", m_rsplit},
    {"rstrip", "chars", m_rstrip},
    {"split", "sep maxsplit", m_split},
    {"splitlines", "keepends", m_splitlines},
    {"startswith", "!prefix start end", m_startswith},
    {"strip", "chars", m_strip},
    {"title", "", m_title},
    {"upper", "", m_upper},
    {"zfill", "!width", m_justify},
    {NULL, NULL, NULL},
};
