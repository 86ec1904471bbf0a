#include "base/ascii.h"
#include "base/utf8.h"
#include "gram/regex_int.h"
#include <string.h>

#define CLASS_BYTES (2u << 20) /* of the sets of one class */
#define NAME_MAX_BYTES 64      /* of a class of characters */
#define TABLE_STEPS 1000       /* of work: one pass over the categories */
#define CLASS_STEPS 60         /* of work: a class as such */
#define FOLD_STEPS 3000        /* of work: every character that has two cases */

enum { SET_DOT, SET_D, SET_ND, SET_W, SET_NW, SET_S, SET_NS };

enum st regex_char(struct regex *r, uint32_t *cp)
{
    size_t n = utf8_decode(r->s + r->at, r->n - r->at, cp);

    if (!n)
        return regex_refuse(r, r->at, "bytes that are not UTF-8");
    r->at += n;
    return ST_OK;
}

/* White space of ECMAScript. */
static void add_space(struct charset *c)
{
    BUG_ON(!charset_add_class(c, (struct span){"Zs", 2}));
    charset_add(c, '\t', '\r');
    charset_add(c, 0x2028, 0x2029);
    charset_add(c, 0xfeff, 0xfeff);
}

/* \w of either case has the two characters beyond ASCII that fold to one of
 * ASCII, and \W has not: so ECMAScript. */
static void add_set(const struct regex *r, struct charset *c, int set)
{
    struct charset in;

    charset_init(&in, c->arena);
    switch (set) {
    case SET_DOT:
        charset_add(&in, '\n', '\n');
        break;
    case SET_D:
    case SET_ND:
        charset_add(&in, '0', '9');
        break;
    case SET_S:
    case SET_NS:
        add_space(&in);
        break;
    default:
        charset_add(&in, '0', '9');
        charset_add(&in, 'A', 'Z');
        charset_add(&in, '_', '_');
        charset_add(&in, 'a', 'z');
        if (r->fold)
            charset_fold(&in);
    }
    if (set != SET_D && set != SET_W && set != SET_S)
        charset_invert(&in);
    charset_add_set(c, &in);
}

static const struct gx *the_set(struct regex *r, int set)
{
    const struct gx **x = &r->sets[r->fold][set];
    struct charset c;
    struct arena a;

    if (!*x) {
        arena_init(&a, CLASS_BYTES);
        charset_init(&c, &a);
        add_set(r, &c, set);
        *x = gx_chars(r->w, &c, r->form);
        arena_release(&a);
    }
    return *x;
}

const struct gx *regex_dot(struct regex *r)
{
    return the_set(r, SET_DOT);
}

const struct gx *regex_one(struct regex *r, uint32_t cp)
{
    struct char_range few[CHARSET_FEW];
    const struct gx *x;
    struct charset c;
    struct arena a;
    char s[4];

    if (!r->fold)
        return gx_text(r->w, s, utf8_encode(cp, s), r->form);
    arena_init(&a, CLASS_BYTES);
    charset_init_few(&c, &a, few, CHARSET_FEW);
    charset_add(&c, cp, cp);
    charset_fold(&c);
    x = gx_chars(r->w, &c, r->form);
    arena_release(&a);
    return x;
}

/* Exactly n digits at offset `at`. */
static bool hex_digits(const struct regex *r, size_t at, size_t n, uint32_t *v)
{
    *v = 0;
    if (at > r->n || n > r->n - at)
        return false;
    for (size_t i = 0; i < n; i++) {
        int d = ascii_hex(r->s[at + i]);

        if (d < 0)
            return false;
        *v = *v << 4 | (uint32_t)d;
    }
    return true;
}

static bool surrogate(uint32_t cp)
{
    return cp >= 0xd800 && cp <= 0xdfff;
}

/* What stands behind \u: four digits, two times four that are a pair of
 * surrogates, or digits in braces. `start` is where the backslash is. */
static enum st code_point(struct regex *r, size_t start, uint32_t *cp)
{
    uint32_t low;

    if (regex_at(r, '{')) {
        *cp = 0;
        for (r->at++; r->at < r->n && *cp <= 0x10ffff; r->at++) {
            int d = ascii_hex(r->s[r->at]);

            if (d < 0)
                break;
            *cp = *cp << 4 | (uint32_t)d;
        }
        if (!regex_at(r, '}') || r->s[r->at - 1] == '{' || *cp > 0x10ffff)
            return regex_refuse(r, start, "'\\u{' without hexadecimal digits "
                                          "up to 10FFFF and '}'");
        r->at++;
    } else if (hex_digits(r, r->at, 4, cp)) {
        r->at += 4;
        if (*cp >= 0xd800 && *cp <= 0xdbff && regex_at(r, '\\') &&
            r->at + 1 < r->n && r->s[r->at + 1] == 'u' &&
            hex_digits(r, r->at + 2, 4, &low) && low >= 0xdc00 &&
            low <= 0xdfff) {
            *cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
            r->at += 6;
        }
    } else {
        return regex_refuse(r, start, "'\\u' without four hexadecimal digits");
    }
    if (surrogate(*cp))
        return regex_refuse(r, start, "half of a surrogate pair");
    return ST_OK;
}

/* \p{NAME} or \P{NAME}; `at` is behind the letter. */
static enum st category(struct regex *r, size_t start, struct charset *c)
{
    bool negated = r->s[r->at - 1] == 'P';
    size_t from = r->at + 1, n = 0;
    struct charset in;
    enum st st;

    if (!regex_at(r, '{'))
        return regex_refuse(r, start, "'\\%c' without a name in braces",
                            negated ? 'P' : 'p');
    while (from + n < r->n && r->s[from + n] != '}' && n <= NAME_MAX_BYTES)
        n++;
    charset_init(&in, c->arena);
    if (from + n == r->n || n > NAME_MAX_BYTES ||
        !charset_add_class(&in, (struct span){r->s + from, n}))
        return regex_refuse(r, start,
                            "'\\%c' with a name that is no general category "
                            "of Unicode",
                            negated ? 'P' : 'p');
    r->at = from + n + 1;
    if (negated)
        charset_invert(&in);
    st = regex_work(r, TABLE_STEPS + c->n);
    if (!st)
        charset_add_set(c, &in);
    return st;
}

static bool punctuation(char c)
{
    return c >= ' ' && c <= '~' && !(c >= '0' && c <= '9') &&
           !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

static enum st unknown_escape(struct regex *r, size_t start, char c,
                              bool in_class)
{
    if (c >= '1' && c <= '9' && in_class)
        return regex_refuse(r, start, "an octal escape in a class");
    if (c >= '1' && c <= '9')
        return regex_refuse(r, start, "a back reference '\\%c'", c);
    if (c == 'k')
        return regex_refuse(r, start, "a named back reference '\\k'");
    if ((c == 'b' || c == 'B') && !in_class)
        return regex_refuse(r, start, "a word boundary '\\%c'", c);
    if ((c == 'A' || c == 'z' || c == 'Z') && !in_class)
        return regex_refuse(r, start,
                            "'\\%c' (^ and $ are the ends of the text)", c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return regex_refuse(r, start, "an unknown escape '\\%c'", c);
    return regex_refuse(r, start, "a backslash before a character that needs "
                                  "none");
}

/* Escapes that stand for one character each, by their letter. */
static bool simple(char c, bool in_class, uint32_t *cp)
{
    static const char letters[] = "ntrfvb", bytes[] = "\n\t\r\f\v\b";
    const char *p = c ? strchr(letters, c) : NULL;

    if (p && (c != 'b' || in_class))
        *cp = (uint8_t)bytes[p - letters];
    else if (punctuation(c))
        *cp = (uint8_t)c;
    else
        return false;
    return true;
}

/*
 * An escape, `at` on its backslash. *set: one of SET_*, which was not added;
 * -1: it is a character, *cp; -2: it was added to c.
 */
static enum st escape(struct regex *r, bool in_class, struct charset *c,
                      uint32_t *cp, int *set)
{
    static const char sets[] = ".dDwWsS";
    size_t start = r->at++;
    const char *p;
    char letter;

    *set = -1;
    if (r->at == r->n)
        return regex_refuse(r, start, "a backslash with nothing behind it");
    letter = r->s[r->at++];
    if (simple(letter, in_class, cp))
        return ST_OK;
    p = letter ? strchr(sets, letter) : NULL;
    if (p) { /* never the dot, which is punctuation */
        *set = (int)(p - sets);
        return ST_OK;
    }
    switch (letter) {
    case '0':
        *cp = 0;
        if (r->at < r->n && r->s[r->at] >= '0' && r->s[r->at] <= '9')
            return regex_refuse(r, start, "an octal escape");
        return ST_OK;
    case 'x':
        if (!hex_digits(r, r->at, 2, cp))
            return regex_refuse(r, start,
                                "'\\x' without two hexadecimal digits");
        r->at += 2;
        return ST_OK;
    case 'u':
        return code_point(r, start, cp);
    case 'p':
    case 'P':
        *set = -2;
        return category(r, start, c);
    default:
        return unknown_escape(r, start, letter, in_class);
    }
}

/* c as an expression. */
static enum st class_end(struct regex *r, struct charset *c, bool negated,
                         const struct gx **x)
{
    uint64_t steps = CLASS_STEPS + c->n, wide = 0;
    enum st st;

    for (size_t i = 0; r->fold && i < c->n && wide < FOLD_STEPS; i++)
        wide += c->p[i].hi - c->p[i].lo + 1;
    st = regex_work(r, steps + (wide < FOLD_STEPS ? wide : FOLD_STEPS));
    if (st)
        return st;
    if (r->fold)
        charset_fold(c);
    if (negated)
        charset_invert(c);
    *x = gx_chars(r->w, c, r->form);
    return ST_OK;
}

enum st regex_escape(struct regex *r, uint32_t *cp, const struct gx **x)
{
    struct charset c;
    struct arena a;
    enum st st;
    int set;

    *x = NULL;
    arena_init(&a, CLASS_BYTES);
    charset_init(&c, &a);
    st = escape(r, false, &c, cp, &set);
    if (!st && set >= 0)
        *x = the_set(r, set);
    else if (!st && set == -2)
        st = class_end(r, &c, false, x);
    arena_release(&a);
    return st;
}

/* One character of a class, or a set of them, which goes to c and leaves
 * *single false. */
static enum st class_item(struct regex *r, struct charset *c, bool *single,
                          uint32_t *cp)
{
    enum st st;
    int set = -1;

    if (r->at + 1 < r->n && regex_at(r, '[') && r->s[r->at + 1] == ':')
        return regex_refuse(r, r->at, "a class '[:' of POSIX");
    if (regex_at(r, '\\'))
        st = escape(r, true, c, cp, &set);
    else
        st = regex_char(r, cp);
    if (!st && set >= 0)
        add_set(r, c, set);
    *single = set == -1;
    return st;
}

/* What stands between the brackets; `at` ends on the closing one. */
static enum st class_items(struct regex *r, size_t start, struct charset *c)
{
    bool single, both;
    uint32_t lo, hi;
    enum st st = ST_OK;

    while (!st && r->at < r->n && !regex_at(r, ']')) {
        size_t from = r->at;

        st = class_item(r, c, &single, &lo);
        hi = lo;
        /* a hyphen at either end, or beside a set, is a hyphen */
        if (!st && single && regex_at(r, '-') && r->at + 1 < r->n &&
            r->s[r->at + 1] != ']') {
            r->at++;
            st = class_item(r, c, &both, &hi);
            if (!st && !both) {
                charset_add(c, '-', '-');
                hi = lo;
            }
        }
        if (!st && single && hi < lo)
            st = regex_refuse(r, from, "a range whose end is before its "
                                       "beginning");
        if (!st && single)
            charset_add(c, lo, hi);
        if (!st && c->failed)
            st = err_set(r->e, ST_LIMIT, "",
                         "the regular expression has a class of more than %d "
                         "ranges at offset %zu",
                         CHARSET_MAX, start);
        if (!st) /* what lies behind moves */
            st = regex_work(r, 1 + c->n / 8);
    }
    if (!st && r->at == r->n)
        st = regex_refuse(r, start, "a class '[' that is not closed");
    return st;
}

enum st regex_class(struct regex *r, const struct gx **x)
{
    struct char_range few[CHARSET_FEW];
    size_t start = r->at++;
    bool negated = regex_at(r, '^');
    struct charset c;
    struct arena a;
    enum st st;

    *x = NULL;
    if (negated)
        r->at++;
    if (regex_at(r, ']'))
        return regex_refuse(r, start, "an empty class (a bracket in it is "
                                      "written \\])");
    arena_init(&a, CLASS_BYTES);
    charset_init_few(&c, &a, few, CHARSET_FEW);
    st = class_items(r, start, &c);
    if (!st) {
        r->at++;
        st = class_end(r, &c, negated, x);
    }
    arena_release(&a);
    return st;
}
