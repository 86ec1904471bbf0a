/* Text to typed values: the second half of chat/tools.h. */
#include "chat/tools.h"

#include "base/ascii.h"
#include "base/num.h"
#include "base/utf8.h"
#include "chat/jsontext.h"

#define VALUE_BYTES (256u << 20) /* of one value's tree */
#define DIGITS_MAX 64            /* of an integer written with an exponent */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* --- numbers -------------------------------------------------------------- */

/* The parts of a JSON number, as written. */
struct number {
    bool minus;
    struct span whole, fraction; /* digits */
    int64_t exponent;
};

static struct span digits(const char *s, size_t n, size_t *i)
{
    size_t from = *i;

    while (*i < n && is_digit(s[*i]))
        ++*i;
    return (struct span){s + from, *i - from};
}

/* Is s[0..n) a JSON number, all of it? */
static bool read_number(struct number *v, const char *s, size_t n)
{
    size_t i = 0;

    *v = (struct number){.minus = n && s[0] == '-'};
    if (n > JSON_NUMBER_MAX)
        return false;
    i += v->minus;
    v->whole = digits(s, n, &i);
    if (!v->whole.n || (v->whole.n > 1 && v->whole.s[0] == '0'))
        return false;
    if (i < n && s[i] == '.') {
        i++;
        v->fraction = digits(s, n, &i);
        if (!v->fraction.n)
            return false;
    }
    if (i == n)
        return true;
    if (s[i] != 'e' && s[i] != 'E')
        return false;
    i++;
    i += i < n && s[i] == '+' && i + 1 < n && is_digit(s[i + 1]);
    return num_parse_i64(s + i, n - i, -100000, 100000, &v->exponent);
}

/* Digits without the zeros at their end. */
static size_t significant(struct span d)
{
    while (d.n && d.s[d.n - 1] == '0')
        d.n--;
    return d.n;
}

/* Digit i of whole and fraction written together; zeros behind them. */
static char digit_at(const struct number *v, size_t i)
{
    if (i < v->whole.n)
        return v->whole.s[i];
    i -= v->whole.n;
    return i < v->fraction.n ? v->fraction.s[i] : '0';
}

/* Append the number without fraction and exponent, when it is an integer. */
static bool add_integer(const struct number *v, struct buf *out)
{
    size_t fraction = significant(v->fraction), used, n, zero = 0;
    size_t whole = significant(v->whole);
    int64_t point = (int64_t)v->whole.n + v->exponent; /* digits before it */

    if (!fraction && !whole) {
        buf_putc(out, '0');
        return true;
    }
    used = fraction ? v->whole.n + fraction : whole;
    if (point < (int64_t)used || (v->exponent && point > DIGITS_MAX))
        return false;
    n = (size_t)point;
    while (zero + 1 < n && digit_at(v, zero) == '0')
        zero++;
    if (v->minus)
        buf_putc(out, '-');
    for (size_t i = zero; i < n; i++)
        buf_putc(out, digit_at(v, i));
    return true;
}

static bool add_number(unsigned kinds, const char *s, size_t n,
                       struct buf *out)
{
    struct number v;

    if (!(kinds & (KIND_INTEGER | KIND_NUMBER)) || !read_number(&v, s, n))
        return false;
    if (kinds & KIND_NUMBER) {
        buf_add(out, s, n);
        return true;
    }
    return add_integer(&v, out);
}

/* --- words ---------------------------------------------------------------- */

/* Letters in either case. */
static bool is_word(const char *s, size_t n, const char *word)
{
    size_t i = 0;

    for (; i < n && word[i]; i++)
        if ((s[i] | 0x20) != word[i])
            return false;
    return i == n && !word[i];
}

static bool add_word(unsigned kinds, const char *s, size_t n, struct buf *out)
{
    const char *word = NULL;

    if ((kinds & KIND_BOOLEAN) && is_word(s, n, "true"))
        word = "true";
    else if ((kinds & KIND_BOOLEAN) && is_word(s, n, "false"))
        word = "false";
    else if ((kinds & KIND_NULL) && (is_word(s, n, "null") ||
                                     is_word(s, n, "none")))
        word = "null";
    if (word)
        buf_puts(out, word);
    return word;
}

/* --- Python literals ------------------------------------------------------ */

/* `width` hex digits at s[0..n); false when they are not there. */
static bool read_hex(const char *s, size_t n, size_t width, uint32_t *v)
{
    *v = 0;
    if (n < width)
        return false;
    for (size_t i = 0; i < width; i++) {
        int d = ascii_hex(s[i]);

        if (d < 0)
            return false;
        *v = *v << 4 | (uint32_t)d;
    }
    return true;
}

static void add_char(struct buf *out, uint32_t cp)
{
    char c[4];

    if (cp >= 0xd800 && cp <= 0xdfff) /* half of a pair, the reader checks */
        buf_printf(out, "\\u%04x", (unsigned)cp);
    else if (cp <= 0x10ffff)
        jsontext_escape(out, c, utf8_encode(cp, c), JT_SPACED);
}

/* The escape after a backslash, s[0..n) not empty; returns its length. */
static size_t escape(const char *s, size_t n, struct buf *out)
{
    static const char from[] = "abfnrtv\\'\"", to[] = "\a\b\f\n\r\t\v\\'\"";
    const char *known = *s ? strchr(from, *s) : NULL;
    size_t width = *s == 'x' ? 2 : *s == 'u' ? 4 : *s == 'U' ? 8 : 0;
    uint32_t cp;

    if (known) {
        jsontext_escape(out, to + (known - from), 1, JT_SPACED);
        return 1;
    }
    if (width && read_hex(s + 1, n - 1, width, &cp)) {
        add_char(out, cp);
        return width + 1;
    }
    if (*s == '\n')
        return 1;
    jsontext_escape(out, "\\", 1, JT_SPACED); /* no escape: both stay */
    return 0;
}

/* A quoted string at s[0..n) as a JSON string; returns its length. */
static size_t quoted(const char *s, size_t n, struct buf *out)
{
    size_t i = 1;

    buf_putc(out, '"');
    while (i < n && s[i] != s[0]) {
        size_t run = i;

        while (i < n && s[i] != s[0] && s[i] != '\\')
            i++;
        jsontext_escape(out, s + run, i - run, JT_SPACED);
        if (i + 1 < n && s[i] == '\\')
            i += 1 + escape(s + i + 1, n - i - 1, out);
        else if (i < n && s[i] == '\\')
            i++;
    }
    if (i < n)
        buf_putc(out, '"'); /* an open string is refused by the reader */
    return i < n ? i + 1 : n;
}

/* A word of letters at s[0..n); returns its length. */
static size_t word(const char *s, size_t n, struct buf *out)
{
    static const char *const words[][2] = {
        {"True", "true"}, {"False", "false"}, {"None", "null"},
    };
    size_t len = 0;

    while (len < n && (((s[len] | 0x20) >= 'a' && (s[len] | 0x20) <= 'z') ||
                       s[len] == '_' || is_digit(s[len])))
        len++;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (span_is((struct span){s, len}, words[i][0])) {
            buf_puts(out, words[i][1]);
            return len;
        }
    buf_add(out, s, len);
    return len;
}

static bool after_opener(const struct buf *b)
{
    return b->n && (b->p[b->n - 1] == '[' || b->p[b->n - 1] == '{');
}

/*
 * A Python literal to what is JSON if it was a dict or list of strings,
 * numbers and constants: quotes, escapes, constants and trailing commas are
 * changed, the rest is copied for the JSON reader to judge. Line breaks that
 * a model left raw inside strings become escapes.
 */
static void literal(const char *s, size_t n, struct buf *out)
{
    bool comma = false;
    size_t i = 0;

    while (i < n) {
        char c = s[i];

        if (json_space(c) || (c == ',' && !comma)) {
            comma = comma || c == ',';
            i++;
            continue;
        }
        if (comma && ((c != ']' && c != '}') || after_opener(out)))
            buf_putc(out, ',');
        comma = false;
        if (c == '\'' || c == '"') {
            i += quoted(s + i, n - i, out);
        } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') {
            i += word(s + i, n - i, out);
        } else {
            buf_putc(out, c);
            i++;
        }
        /* what stood apart stays apart */
        if (i < n && json_space(s[i]))
            buf_putc(out, ' ');
    }
}

/* --- objects and arrays --------------------------------------------------- */

static bool add_tree(unsigned kinds, const char *s, size_t n, struct buf *out)
{
    const struct json *v;
    struct arena mem;
    struct err e = {0};
    bool fits;

    arena_init(&mem, VALUE_BYTES);
    fits = json_parse(&v, &mem, s, n, &e) == ST_OK &&
           ((v->type == JSON_OBJ && (kinds & KIND_OBJECT)) ||
            (v->type == JSON_ARR && (kinds & KIND_ARRAY)));
    if (fits)
        jsontext(out, v, JT_SPACED);
    arena_release(&mem);
    return fits;
}

static bool add_composite(unsigned kinds, const char *s, size_t n,
                          struct buf *out)
{
    struct buf json;
    bool fits;

    if (!(kinds & (s[0] == '{' ? KIND_OBJECT : KIND_ARRAY)))
        return false;
    if (s[n - 1] != (s[0] == '{' ? '}' : ']'))
        return false;
    if (add_tree(kinds, s, n, out))
        return true;
    buf_init(&json, BUF_ANSWER);
    literal(s, n, &json);
    fits = !json.failed && json.n && add_tree(kinds, json.p, json.n, out);
    buf_release(&json);
    return fits;
}

/* --- values --------------------------------------------------------------- */

static bool converted(unsigned kinds, const char *s, size_t n,
                      struct buf *out)
{
    struct span t = ascii_trim(s, n);

    s = t.s;
    n = t.n;
    if (!n)
        return false;
    if (s[0] == '{' || s[0] == '[')
        return add_composite(kinds, s, n, out);
    return add_number(kinds, s, n, out) || add_word(kinds, s, n, out);
}

/* Whatever JSON it is. */
static bool add_json(const char *s, size_t n, struct buf *out)
{
    const struct json *v;
    struct arena mem;
    bool is_json;

    arena_init(&mem, VALUE_BYTES);
    is_json = !json_parse(&v, &mem, s, n, NULL);
    if (is_json)
        jsontext(out, v, JT_SPACED);
    arena_release(&mem);
    return is_json;
}

void tool_value(unsigned kinds, const char *s, size_t n, struct buf *out)
{
    if (kinds == KIND_JSON && add_json(s, n, out))
        return;
    if (!kinds || !converted(kinds, s, n, out))
        jsontext_string(out, s, n, JT_SPACED);
}

void tool_args(const struct tools *t, const char *name, size_t n,
               const struct json *args, struct buf *out)
{
    buf_putc(out, '{');
    for (const struct json *v = args->child; v; v = v->next) {
        if (v != args->child)
            buf_puts(out, ", ");
        jsontext_string(out, v->key.s, v->key.n, JT_SPACED);
        buf_puts(out, ": ");
        if (v->type == JSON_STR)
            tool_value(tools_kinds(t, name, n, v->key.s, v->key.n) &
                           ~(unsigned)KIND_JSON,
                       v->str.s, v->str.n, out);
        else
            jsontext(out, v, JT_SPACED);
    }
    buf_putc(out, '}');
}
