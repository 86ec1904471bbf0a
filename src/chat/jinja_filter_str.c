/* Filters on strings. What is not a string is printed first, as Jinja2's
 * soft_str does. */
#include "chat/jinja_lib.h"

#include "text/uni.h"

/* --- case, ends ----------------------------------------------------------- */

static enum st cased(const struct jin *in, enum jcase how, struct jv *out)
{
    struct jv s;
    enum st st = jv_text(in->x, in->v, &s);

    return st ? st : jcase_map(in->x, &s, how, out);
}

static enum st f_upper(const struct jin *in, struct jv *out)
{
    return cased(in, JCASE_UPPER, out);
}

static enum st f_lower(const struct jin *in, struct jv *out)
{
    return cased(in, JCASE_LOWER, out);
}

static enum st f_capitalize(const struct jin *in, struct jv *out)
{
    return cased(in, JCASE_CAPITAL, out);
}

static enum st f_title(const struct jin *in, struct jv *out)
{
    return cased(in, JCASE_WORDS, out);
}

static bool in_set(const struct jv *chars, const char *s, size_t n,
                   uint32_t cp)
{
    return chars ? n && memmem(chars->u.str.s, chars->u.str.n, s, n)
                 : jchar_space(cp);
}

/* Start of the last character of s[0..n). */
static size_t last_char(const char *s, size_t n)
{
    size_t at = n - 1, back = 0;
    uint32_t cp;

    while (at && back < 3 && ((unsigned char)s[at] & 0xc0) == 0x80) {
        at--;
        back++;
    }
    return at + jchar(s + at, n - at, &cp) == n ? at : n - 1;
}

enum st jstr_strip(struct jx *x, const struct jv *str, const struct jv *chars,
                   unsigned ends, struct jv *out)
{
    const char *s = str->u.str.s;
    size_t n = str->u.str.n, from = 0;
    uint64_t each = 1 + (chars ? chars->u.str.n / 16 : 0);
    enum st st = ST_OK;
    uint32_t cp;

    while (!st && (ends & JSTRIP_LEFT) && from < n) {
        size_t len = jchar(s + from, n - from, &cp);

        if (!in_set(chars, s + from, len, cp))
            break;
        from += len;
        st = jx_pay(x, each);
    }
    while (!st && (ends & JSTRIP_RIGHT) && n > from) {
        size_t at = last_char(s, n);

        (void)jchar(s + at, n - at, &cp);
        if (!in_set(chars, s + at, n - at, cp))
            break;
        n = at;
        st = jx_pay(x, each);
    }
    *out = jv_cut(str, from, n - from);
    return st;
}

static enum st f_trim(const struct jin *in, struct jv *out)
{
    const struct jv *chars = in->arg[0];
    struct jv s;
    enum st st = jv_text(in->x, in->v, &s);

    if (chars && chars->type == JV_NONE)
        chars = NULL;
    if (!st && chars && chars->type != JV_STR)
        return jx_fail(in->x, "trim: chars must be a string");
    return st ? st
              : jstr_strip(in->x, &s, chars, JSTRIP_LEFT | JSTRIP_RIGHT, out);
}

static enum st f_center(const struct jin *in, struct jv *out)
{
    bool markup = jin_markup(in, 0);
    int64_t width = 80, pad = 0, left;
    struct jbuild b;
    struct jv s;
    enum st st = jin_int(in, 0, &width);

    if (!st)
        st = jv_text(in->x, in->v, &s);
    if (st)
        return st;
    if (width > 0)
        pad = width - (int64_t)jchars(s.u.str.s, s.u.str.n);
    if (pad < 0)
        pad = 0;
    left = pad / 2 + (pad & width & 1); /* as CPython */
    jbuild_init(&b, in->x);
    st = jbuild_pad(&b, ' ', (uint64_t)left, markup);
    if (!st)
        st = jbuild_str(&b, &s);
    if (!st)
        st = jbuild_pad(&b, ' ', (uint64_t)(pad - left), markup);
    *out = jbuild_done(&b);
    return st;
}

/* --- replacing ------------------------------------------------------------ */

/* replace('', new): before every character and at the end. */
static enum st between(struct jx *x, const struct jv *s, const struct jv *by,
                       int64_t count, struct jv *out)
{
    size_t n = s->u.str.n, at = 0;
    struct jbuild b;
    enum st st = ST_OK;
    uint32_t cp;

    jbuild_init(&b, x);
    while (!st && count-- > 0) {
        st = jx_pay(x, 1);
        if (!st)
            st = jbuild_str(&b, by);
        if (at < n && !st) {
            size_t len = jchar(s->u.str.s + at, n - at, &cp);

            st = jbuild_part(&b, s, at, len);
            at += len;
        } else {
            break;
        }
    }
    if (!st)
        st = jbuild_part(&b, s, at, n - at);
    *out = jbuild_done(&b);
    return st;
}

static enum st replace(struct jx *x, const struct jv *s, const struct jv *old,
                       const struct jv *by, int64_t count, struct jv *out)
{
    size_t from = 0, at;
    struct jbuild b;
    enum st st = ST_OK;

    jbuild_init(&b, x);
    while (!st && count-- > 0) {
        st = jstr_find(x, s, from, old, &at);
        if (st || at == SIZE_MAX)
            break;
        st = jbuild_part(&b, s, from, at - from);
        if (!st)
            st = jbuild_str(&b, by);
        from = at + old->u.str.n;
    }
    if (!st)
        st = jbuild_part(&b, s, from, s->u.str.n - from);
    *out = jbuild_done(&b);
    return st;
}

enum st jf_replace(const struct jin *in, struct jv *out)
{
    int64_t count = -1;
    struct jv s, old, by;
    enum st st = jin_int(in, 2, &count);

    if (!st)
        st = jv_text(in->x, in->v, &s);
    if (!st)
        st = jv_text(in->x, in->arg[0], &old);
    if (!st)
        st = jv_text(in->x, in->arg[1], &by);
    if (st)
        return st;
    if (count < 0)
        count = INT64_MAX;
    if (!old.u.str.n)
        return between(in->x, &s, &by, count, out);
    return replace(in->x, &s, &old, &by, count, out);
}

static const char *html(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&#34;";
    case '\'':
        return "&#39;";
    }
    return NULL;
}

static enum st f_escape(const struct jin *in, struct jv *out)
{
    struct jbuild b;
    struct jv s;
    size_t run = 0;
    enum st st = jv_text(in->x, in->v, &s);

    jbuild_init(&b, in->x);
    for (size_t i = 0; !st && i < s.u.str.n; i++) {
        const char *to = html(s.u.str.s[i]);

        if (!to)
            continue;
        st = jbuild_part(&b, &s, run, i - run);
        if (!st)
            st = jbuild_lit(&b, to, jv_markup_at(&s, i));
        run = i + 1;
    }
    if (!st)
        st = jbuild_part(&b, &s, run, s.u.str.n - run);
    *out = jbuild_done(&b);
    return st;
}

/* --- URLs ----------------------------------------------------------------- */

enum quote { QUOTE_PATH, QUOTE_QUERY };

static enum st url_quote(struct jx *x, const struct jv *v, enum quote how,
                         struct jbuild *b)
{
    struct jv s;
    enum st st = jv_text(x, v, &s);

    if (!st)
        st = jx_pay(x, s.u.str.n / 8);
    for (size_t i = 0; !st && i < s.u.str.n; i++) {
        unsigned char c = (unsigned char)s.u.str.s[i];
        char hex[4];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                     (c >= 'a' && c <= 'z') || (c && strchr("_.-~", c)) ||
                     (c == '/' && how == QUOTE_PATH);

        if (c == ' ' && how == QUOTE_QUERY)
            snprintf(hex, sizeof(hex), "+");
        else
            snprintf(hex, sizeof(hex), plain ? "%c" : "%%%02X", c);
        st = jbuild_lit(b, hex, jv_markup_at(&s, i));
    }
    return st;
}

static enum st url_pair(struct jx *x, const struct jv *pair, bool first,
                        bool markup, struct jbuild *b)
{
    enum st st = first ? ST_OK : jbuild_lit(b, "&", markup);

    if (pair->type != JV_LIST || pair->u.list->n != 2)
        return jx_fail(x, "urlencode: a list must hold pairs");
    if (!st)
        st = url_quote(x, &pair->u.list->p[0], QUOTE_QUERY, b);
    if (!st)
        st = jbuild_lit(b, "=", markup);
    return st ? st : url_quote(x, &pair->u.list->p[1], QUOTE_QUERY, b);
}

static enum st f_urlencode(const struct jin *in, struct jv *out)
{
    const struct jv *v = in->v;
    struct jbuild b;
    struct jv pairs = *v;
    enum st st = ST_OK;

    jbuild_init(&b, in->x);
    if (v->type == JV_DICT)
        st = jx_items(in->x, v, &pairs);
    if (!st && pairs.type == JV_LIST)
        for (size_t i = 0; !st && i < pairs.u.list->n; i++)
            st = url_pair(in->x, &pairs.u.list->p[i], i == 0, v->markup, &b);
    else if (!st)
        st = url_quote(in->x, v, QUOTE_PATH, &b);
    *out = jbuild_done(&b);
    return st;
}

/* --- lines and words ------------------------------------------------------ */

/* End of the line that starts at `from`; *next = start of the next one. As
 * str.splitlines. */
static size_t line_end(const struct jv *s, size_t from, size_t *next)
{
    const char *p = s->u.str.s;
    size_t n = s->u.str.n, at = from;

    while (at < n) {
        uint32_t cp;
        size_t len = jchar(p + at, n - at, &cp);

        if (jchar_breaks(cp)) {
            *next = at + len;
            if (cp == 13 && *next < n && p[*next] == '\n')
                ++*next;
            return at;
        }
        at += len;
    }
    *next = n;
    return n;
}

struct indent {
    const struct jv *by; /* NULL: `width` spaces */
    int64_t width;
    bool first, blank, markup;
};

static enum st put_indent(struct jbuild *b, const struct indent *how)
{
    if (how->by)
        return jbuild_str(b, how->by);
    return jbuild_pad(b, ' ', how->width > 0 ? (uint64_t)how->width : 0,
                      how->markup);
}

static enum st indent_lines(struct jx *x, const struct jv *s,
                            const struct indent *how, struct jbuild *b)
{
    size_t from = 0, next;
    enum st st = how->first ? put_indent(b, how) : ST_OK;

    while (!st) {
        size_t end = line_end(s, from, &next);

        if (from && (end > from || how->blank))
            st = put_indent(b, how);
        if (!st)
            st = jbuild_part(b, s, from, end - from);
        if (st || end == next)
            break;
        st = jbuild_lit(b, "\n", jv_markup_at(s, end));
        from = next;
        if (!st)
            st = jx_pay(x, 1);
    }
    return st;
}

static enum st f_indent(const struct jin *in, struct jv *out)
{
    struct indent how = {.width = 4, .markup = jin_markup(in, 0)};
    struct jbuild b;
    struct jv s;
    enum st st = ST_OK;

    if (in->arg[0] && in->arg[0]->type == JV_STR)
        how.by = in->arg[0];
    else
        st = jin_int(in, 0, &how.width);
    jin_bool(in, 1, &how.first);
    jin_bool(in, 2, &how.blank);
    if (!st)
        st = jv_text(in->x, in->v, &s);
    jbuild_init(&b, in->x);
    if (!st)
        st = indent_lines(in->x, &s, &how, &b);
    *out = jbuild_done(&b);
    return st;
}

/* Where s[0..n) ends without its last word, as rsplit(' ', 1)[0]. */
static size_t without_word(const char *s, size_t n)
{
    const char *space = n ? memrchr(s, ' ', n) : NULL;

    return space ? (size_t)(space - s) : n;
}

static enum st f_truncate(const struct jin *in, struct jv *out)
{
    int64_t length = 255, leeway = 5;
    struct jv s, end = jv_lit("...");
    bool kill = false;
    size_t keep, end_chars;
    struct jbuild b;
    enum st st = jin_int(in, 0, &length);

    jin_bool(in, 1, &kill);
    if (!st)
        st = jin_str(in, 2, &end);
    if (!st)
        st = jin_int(in, 3, &leeway);
    if (!st)
        st = jv_text(in->x, in->v, &s);
    if (st)
        return st;
    end_chars = jchars(end.u.str.s, end.u.str.n);
    if (length < 0 || (uint64_t)length < end_chars || leeway < 0)
        return jx_fail(in->x, "truncate: length must hold the end mark, and "
                              "leeway must not be negative");
    *out = s;
    if (leeway > INT64_MAX - length ||
        jchars(s.u.str.s, s.u.str.n) <= (uint64_t)(length + leeway))
        return ST_OK;
    keep = jchar_at(s.u.str.s, s.u.str.n, (size_t)length - end_chars);
    if (!kill)
        keep = without_word(s.u.str.s, keep);
    jbuild_init(&b, in->x);
    st = jbuild_part(&b, &s, 0, keep);
    if (!st)
        st = jbuild_str(&b, &end);
    *out = jbuild_done(&b);
    return st;
}

static enum st f_wordcount(const struct jin *in, struct jv *out)
{
    int64_t words = 0;
    bool inside = false;
    struct jv s;
    enum st st = jv_text(in->x, in->v, &s);
    uint32_t cp;

    if (!st)
        st = jx_pay(in->x, s.u.str.n / 8);
    for (size_t at = 0; !st && at < s.u.str.n;) {
        enum uni_class c;

        at += jchar(s.u.str.s + at, s.u.str.n - at, &cp);
        c = uni_class(cp);
        if (c != UNI_L && c != UNI_N && cp != '_') {
            inside = false;
            continue;
        }
        words += !inside;
        inside = true;
    }
    *out = jv_int(words, !st && jv_is_markup(&s));
    return st;
}

const struct jentry jfilter_str[] = {
    {"capitalize", "", f_capitalize},
    {"center", "width", f_center},
    {"e", "", f_escape},
    {"escape", "", f_escape},
    {"forceescape", "", f_escape},
    {"format", "*", jf_printf},
    {"indent", "width first blank", f_indent},
    {"lower", "", f_lower},
    {"replace", "!old !new count", jf_replace},
    {"strip", "chars", f_trim},
    {"title", "", f_title},
    {"trim", "chars", f_trim},
    {"truncate", "length killwords end leeway", f_truncate},
    {"upper", "", f_upper},
    {"urlencode", "", f_urlencode},
    {"wordcount", "", f_wordcount},
    {NULL, NULL, NULL},
};
