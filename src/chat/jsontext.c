#include "chat/jsontext.h"

#include "base/utf8.h"

#include <math.h>

/* --- strings ------------------------------------------------------------- */

static void escape_unit(struct buf *out, unsigned u)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', hex[u >> 12 & 15], hex[u >> 8 & 15],
                    hex[u >> 4 & 15], hex[u & 15]};

    buf_add(out, text, sizeof(text));
}

static void escape_wide(struct buf *out, uint32_t cp)
{
    if (cp < 0x10000) {
        escape_unit(out, cp);
        return;
    }
    cp -= 0x10000;
    escape_unit(out, 0xd800 + (cp >> 10));
    escape_unit(out, 0xdc00 + (cp & 0x3ff));
}

/* The short form of an ASCII character that must be escaped; 0: none. */
static char short_escape(unsigned char c)
{
    switch (c) {
    case '"':
        return '"';
    case '\\':
        return '\\';
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    }
    return 0;
}

void jsontext_escape(struct buf *out, const char *s, size_t n, unsigned style)
{
    size_t run = 0, i = 0;

    while (i < n) {
        unsigned char c = (unsigned char)s[i];
        char brief = short_escape(c);
        uint32_t cp;
        size_t len = 1;

        if (!brief && c >= 0x20 && (c < 0x7f || !(style & JT_ASCII))) {
            i++;
            continue;
        }
        buf_add(out, s + run, i - run);
        if (brief) {
            buf_putc(out, '\\');
            buf_putc(out, brief);
        } else if (c < 0x80) {
            escape_unit(out, c);
        } else {
            len = utf8_decode(s + i, n - i, &cp);
            if (len)
                escape_wide(out, cp);
            len = len ? len : 1; /* not UTF-8: left out */
        }
        i += len;
        run = i;
    }
    buf_add(out, s + run, i - run);
}

void jsontext_string(struct buf *out, const char *s, size_t n, unsigned style)
{
    buf_putc(out, '"');
    jsontext_escape(out, s, n, style);
    buf_putc(out, '"');
}

/* --- numbers ------------------------------------------------------------- */

/*
 * The decimal string one unit up in its last digit: the interval that reads
 * back as a power of two is wider above than below, so the shortest digits
 * may not be the nearest ones. False when the first digit overflows.
 */
static bool one_up(char *digits)
{
    for (char *p = strchr(digits, 'e') - 1; p >= digits; p--) {
        if (*p < '0' || *p > '9')
            continue;
        if (*p < '9') {
            ++*p;
            return true;
        }
        *p = '0';
    }
    return false;
}

/* Shortest digits of v > 0 that read back equal, as d.ddde+xx. */
static void shortest(char *digits, size_t size, double v)
{
    for (int precision = 0; precision < 17; precision++) {
        snprintf(digits, size, "%.*e", precision, v);
        if (strtod(digits, NULL) == v ||
            (one_up(digits) && strtod(digits, NULL) == v))
            return;
    }
    snprintf(digits, size, "%.16e", v);
}

void jsontext_double(struct buf *out, double v)
{
    char text[40], digits[20];
    size_t n = 0;
    int exponent, i;

    if (!isfinite(v)) {
        buf_puts(out, isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (signbit(v))
        buf_putc(out, '-');
    shortest(text, sizeof(text), fabs(v));
    for (i = 0; text[i] != 'e'; i++)
        if (text[i] != '.')
            digits[n++] = text[i];
    exponent = (int)strtol(text + i + 1, NULL, 10);
    if (exponent >= 16 || exponent < -4) { /* as Python's repr */
        buf_add(out, text, (size_t)i);
        buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (exponent < 0) {
        buf_puts(out, "0.");
        for (i = exponent + 1; i < 0; i++)
            buf_putc(out, '0');
        buf_add(out, digits, n);
        return;
    }
    for (i = 0; i <= exponent; i++)
        buf_putc(out, i < (int)n ? digits[i] : '0');
    buf_putc(out, '.');
    if (i < (int)n)
        buf_add(out, digits + i, n - (size_t)i);
    else
        buf_putc(out, '0');
}

static void number(struct buf *out, struct text t)
{
    char text[JSON_NUMBER_MAX + 1];
    double v;

    if (!memchr(t.s, 'e', t.n) && !memchr(t.s, 'E', t.n)) {
        if (t.n == 2 && !memcmp(t.s, "-0", 2))
            buf_putc(out, '0');
        else
            buf_add(out, t.s, t.n);
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)t.n, t.s);
    v = strtod(text, NULL);
    if (isfinite(v))
        jsontext_double(out, v);
    else /* no JSON could say it otherwise */
        buf_add(out, t.s, t.n);
}

/* --- trees --------------------------------------------------------------- */

static int by_key(const void *pa, const void *pb)
{
    const struct json *a = *(const struct json *const *)pa;
    const struct json *b = *(const struct json *const *)pb;
    size_t n = a->key.n < b->key.n ? a->key.n : b->key.n;
    int c = n ? memcmp(a->key.s, b->key.s, n) : 0;

    return c ? c : (a->key.n > b->key.n) - (a->key.n < b->key.n);
}

static void member(struct buf *out, const struct json *v, unsigned style)
{
    jsontext_string(out, v->key.s, v->key.n, style);
    buf_puts(out, style & JT_SPACED ? ": " : ":");
    jsontext(out, v, style);
}

static void sorted(struct buf *out, const struct json *o, unsigned style)
{
    const struct json **list = mem_try_array(o->n, sizeof(*list));
    size_t n = 0;

    if (!list) {
        out->failed = true;
        return;
    }
    for (const struct json *c = o->child; c; c = c->next)
        list[n++] = c;
    qsort(list, n, sizeof(*list), by_key);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_puts(out, style & JT_SPACED ? ", " : ",");
        member(out, list[i], style);
    }
    free(list);
}

static void children(struct buf *out, const struct json *v, unsigned style)
{
    if (v->type == JSON_OBJ && (style & JT_SORTED) && v->n > 1) {
        sorted(out, v, style);
        return;
    }
    for (const struct json *c = v->child; c; c = c->next) {
        if (v->type == JSON_OBJ)
            member(out, c, style);
        else
            jsontext(out, c, style);
        if (c->next)
            buf_puts(out, style & JT_SPACED ? ", " : ",");
    }
}

void jsontext(struct buf *out, const struct json *v, unsigned style)
{
    switch (v->type) {
    case JSON_NULL:
        buf_puts(out, "null");
        break;
    case JSON_BOOL:
        buf_puts(out, v->boolean ? "true" : "false");
        break;
    case JSON_NUM:
        number(out, v->str);
        break;
    case JSON_STR:
        jsontext_string(out, v->str.s, v->str.n, style);
        break;
    case JSON_ARR:
        buf_putc(out, '[');
        children(out, v, style);
        buf_putc(out, ']');
        break;
    case JSON_OBJ:
        buf_putc(out, '{');
        children(out, v, style);
        buf_putc(out, '}');
        break;
    }
}
