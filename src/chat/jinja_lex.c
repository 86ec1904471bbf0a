#include "config.h"
#include "chat/jinja_lex.h"
#include "base/num.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[] = {
    [JT_END] = "the end of the template", [JT_DATA] = "text",
    [JT_VAR_BEGIN] = "'{{'", [JT_VAR_END] = "'}}'",
    [JT_BLOCK_BEGIN] = "'{%'", [JT_BLOCK_END] = "'%}'",
    [JT_NAME] = "a name", [JT_STRING] = "a string", [JT_INT] = "a number",
    [JT_FLOAT] = "a number", [JT_ADD] = "'+'", [JT_SUB] = "'-'",
    [JT_MUL] = "'*'", [JT_DIV] = "'/'", [JT_FLOORDIV] = "'//'",
    [JT_MOD] = "'%'", [JT_POW] = "'**'", [JT_TILDE] = "'~'", [JT_EQ] = "'=='",
    [JT_NE] = "'!='", [JT_LT] = "'<'", [JT_LE] = "'<='", [JT_GT] = "'>'",
    [JT_GE] = "'>='", [JT_ASSIGN] = "'='", [JT_DOT] = "'.'",
    [JT_COMMA] = "','", [JT_COLON] = "':'", [JT_PIPE] = "'|'",
    [JT_LPAREN] = "'('", [JT_RPAREN] = "')'", [JT_LBRACKET] = "'['",
    [JT_RBRACKET] = "']'", [JT_LBRACE] = "'{'", [JT_RBRACE] = "'}'",
};

const char *jtok_word(enum jtok_type type)
{
    return words[type];
}

void jlex_init(struct jlex *l, const char *s, size_t n, struct arena *a,
               const char *name, struct err *e)
{
    *l = (struct jlex){.s = s, .n = n, .line = 1, .line_starts = true,
                       .pending = JT_END, .arena = a, .name = name, .e = e};
}

void jlex_fail(struct jlex *l, int line, const char *fmt, ...)
{
    char text[300], where[160];
    va_list ap;

    if (l->st)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    snprintf(where, sizeof(where), "%.120s line %d", l->name, line);
    l->st = err_set(l->e, ST_FORMAT, where, "%s", text);
}

void jlex_nomem(struct jlex *l)
{
    if (l->st)
        return;
    if (l->arena->used > l->arena->max / 2)
        jlex_fail(l, l->line, "the template takes more than %u MiB",
                  JINJA_AST_MAX >> 20);
    else
        l->st = err_set(l->e, ST_NOMEM, l->name, "out of memory");
}

/* --- between tags -------------------------------------------------------- */

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

static bool starts(const struct jlex *l, size_t at, const char *what)
{
    size_t k = strlen(what);

    return at <= l->n && l->n - at >= k && memcmp(l->s + at, what, k) == 0;
}

static size_t skip_space(const struct jlex *l, size_t at)
{
    while (at < l->n && is_space(l->s[at]))
        at++;
    return at;
}

/* Go on at `to`, counting lines. */
static void advance(struct jlex *l, size_t to)
{
    for (; l->at < to; l->at++)
        l->line += l->s[l->at] == '\n';
}

/* Offset of the next "{{", "{%" or "{#" at or after `at`, or n. */
static size_t find_tag(const struct jlex *l, size_t at)
{
    while (at < l->n) {
        const char *p = memchr(l->s + at, '{', l->n - at);

        if (!p)
            break;
        at = (size_t)(p - l->s);
        if (at + 1 < l->n && (p[1] == '{' || p[1] == '%' || p[1] == '#'))
            return at;
        at++;
    }
    return l->n;
}

/* The data before a tag, without what the tag's mark and lstrip_blocks take. */
static struct span before_tag(const struct jlex *l, size_t tag)
{
    const char *s = l->s + l->at;
    size_t n = tag - l->at, line = n;
    char sign = tag + 2 < l->n ? l->s[tag + 2] : 0;

    if (sign == '-') {
        while (n > 0 && is_space(s[n - 1]))
            n--;
    } else if (sign != '+' && l->s[tag + 1] != '{') {
        while (line > 0 && s[line - 1] != '\n' && is_space(s[line - 1]))
            line--;
        if (line > 0 ? s[line - 1] == '\n' : l->line_starts)
            n = line;
    }
    return (struct span){s, n};
}

/* The end of a tag at `at`: "%}" or "#}" with its mark. Returns the offset
 * behind it and what it swallows, 0 when there is none. */
static size_t tag_end(const struct jlex *l, size_t at, const char *close)
{
    if (starts(l, at, close)) {
        at += 2;
        if (close[0] != '}' && at < l->n && l->s[at] == '\n')
            at++; /* trim_blocks */
        return at;
    }
    if (at >= l->n || !starts(l, at + 1, close))
        return 0;
    if (l->s[at] == '-')
        return skip_space(l, at + 3);
    return l->s[at] == '+' && close[0] != '}' ? at + 3 : 0;
}

static void leave_tag(struct jlex *l, size_t end)
{
    advance(l, end);
    l->line_starts = l->s[end - 1] == '\n';
    l->mode = JLEX_DATA;
}

/* l->at is behind "{#" or its mark. */
static void skip_comment(struct jlex *l)
{
    int line = l->line;

    for (size_t i = l->at; i < l->n; i++) {
        size_t end = tag_end(l, i, "#}");

        if (end) {
            leave_tag(l, end);
            return;
        }
    }
    jlex_fail(l, line, "a comment without '#}'");
}

/* The offset behind `word` in a tag that begins at `tag`, or 0. */
static size_t tag_word(const struct jlex *l, size_t tag, const char *word)
{
    size_t at = tag + 2;

    if (at < l->n && (l->s[at] == '-' || l->s[at] == '+'))
        at++;
    at = skip_space(l, at);
    return starts(l, at, word) ? skip_space(l, at + strlen(word)) : 0;
}

/* Is there "{% raw %}" at `tag`? Takes it and its data up to endraw. */
static bool raw_block(struct jlex *l, size_t tag, struct span *data)
{
    size_t at = tag_word(l, tag, "raw"), end = 0;
    int line = l->line;

    if (!at || l->s[tag + 1] != '%')
        return false;
    if (starts(l, at, "-%}"))
        at = skip_space(l, at + 3);
    else if (starts(l, at, "%}"))
        at += 2;
    else
        return false;
    advance(l, at);
    l->line_starts = false;
    for (tag = find_tag(l, at); tag < l->n; tag = find_tag(l, tag + 1)) {
        at = l->s[tag + 1] == '%' ? tag_word(l, tag, "endraw") : 0;
        end = at ? tag_end(l, at, "%}") : 0;
        if (end) {
            *data = before_tag(l, tag);
            leave_tag(l, end);
            return true;
        }
    }
    jlex_fail(l, line, "a raw block without endraw");
    return true;
}

/* l->at is at a tag that is no raw block. */
static void open_tag(struct jlex *l)
{
    char kind = l->s[l->at + 1];
    char sign = l->at + 2 < l->n ? l->s[l->at + 2] : 0;

    advance(l, l->at + 2 + (sign == '-' || sign == '+'));
    l->line_starts = false;
    l->open = 0;
    if (kind == '#') {
        skip_comment(l);
    } else {
        l->mode = kind == '{' ? JLEX_VAR : JLEX_BLOCK;
        l->pending = kind == '{' ? JT_VAR_BEGIN : JT_BLOCK_BEGIN;
    }
}

/* Data up to the next tag; false when there is none before it. */
static bool lex_data(struct jlex *l, struct jtok *t)
{
    size_t tag = find_tag(l, l->at);
    struct span data = {l->s + l->at, l->n - l->at};
    int line = l->line;

    if (tag < l->n)
        data = before_tag(l, tag);
    advance(l, tag);
    if (tag < l->n && data.n == 0 && !raw_block(l, tag, &data))
        open_tag(l);
    *t = (struct jtok){.type = JT_DATA, .line = line, .s = data};
    return data.n > 0;
}

/* --- inside tags --------------------------------------------------------- */

static bool is_name(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits with single underscores between them, copied without. */
static size_t take_digits(const struct jlex *l, size_t at, char *out,
                          size_t *n, size_t max)
{
    while (at < l->n &&
           (is_digit(l->s[at]) ||
            (l->s[at] == '_' && at + 1 < l->n && is_digit(l->s[at + 1])))) {
        if (l->s[at] != '_' && *n < max)
            out[(*n)++] = l->s[at];
        at++;
    }
    return at;
}

static bool digit_at(const struct jlex *l, size_t at)
{
    return at < l->n && is_digit(l->s[at]);
}

static void lex_number(struct jlex *l, struct jtok *t)
{
    char text[64];
    const size_t max = sizeof(text) - 8;
    size_t n = 0, at = take_digits(l, l->at, text, &n, max);
    bool real = false;

    if (!l->after_dot && at < l->n && l->s[at] == '.' && digit_at(l, at + 1)) {
        text[n++] = '.';
        at = take_digits(l, at + 1, text, &n, max);
        real = true;
    }
    if (!l->after_dot && at < l->n && (l->s[at] == 'e' || l->s[at] == 'E')) {
        size_t exp = at + 1;

        if (exp < l->n && (l->s[exp] == '+' || l->s[exp] == '-'))
            exp++;
        if (digit_at(l, exp)) {
            text[n++] = 'e';
            if (exp == at + 2)
                text[n++] = l->s[at + 1];
            at = take_digits(l, exp, text, &n, sizeof(text));
            real = true;
        }
    }
    t->type = real ? JT_FLOAT : JT_INT;
    if (n >= max || (real ? !num_parse_double(text, n, &t->d)
             : !num_parse_i64(text, n, INT64_MIN, INT64_MAX, &t->i)))
        jlex_fail(l, l->line, "a number out of range");
    advance(l, at);
}

/* Digits of \x, \u, \U or an octal escape. False when there are too few. */
static bool escape_digits(const char *s, size_t n, size_t want, uint32_t *cp)
{
    *cp = 0;
    if (n < want)
        return false;
    for (size_t i = 0; i < want; i++) {
        char c = s[i];
        uint32_t d = is_digit(c) ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                            : 16;

        if (d == 16 || *cp > 0xffffff)
            return false;
        *cp = *cp * 16 + d;
    }
    return true;
}

/* One escape at s[0] (behind the backslash): bytes used, 0 when it is not
 * one that can be meant. As in Python, an unknown one keeps its backslash. */
static size_t escape(const char *s, size_t n, char *out, size_t *k)
{
    static const char from[] = "\\'\"nrtabfv", to[] = "\\'\"\n\r\t\a\b\f\v";
    const char *p = memchr(from, s[0], sizeof(from) - 1);
    size_t want = s[0] == 'x' ? 2 : s[0] == 'u' ? 4 : s[0] == 'U' ? 8 : 0;
    uint32_t cp = 0;
    char utf8[4];
    size_t used = 0, len;

    if (p) {
        out[(*k)++] = to[p - from];
        return 1;
    }
    if (s[0] == '\n')
        return 1;
    if (s[0] == 'N')
        return 0;
    if (s[0] >= '0' && s[0] <= '7') {
        while (used < n && used < 3 && s[used] >= '0' && s[used] <= '7')
            cp = cp * 8 + (uint32_t)(s[used++] - '0');
    } else if (want) {
        if (!escape_digits(s + 1, n - 1, want, &cp))
            return 0;
        used = 1 + want;
    } else {
        out[(*k)++] = '\\';
        return (size_t)-1; /* the character itself follows as it is */
    }
    if (cp > 0x10ffff || (cp >= 0xd800 && cp < 0xe000))
        return 0;
    /* never longer than the escape was written */
    len = utf8_encode(cp, utf8);
    memcpy(out + *k, utf8, len);
    *k += len;
    return used;
}

static void lex_string(struct jlex *l, struct jtok *t)
{
    const char *s = l->s + l->at + 1;
    size_t max = l->n - l->at - 1, n = 0, k = 0;
    char quote = s[-1], *out;
    bool plain = true;

    while (n < max && s[n] != quote) {
        plain &= s[n] != '\\';
        n += s[n] == '\\' ? 2 : 1;
    }
    if (n >= max) {
        jlex_fail(l, l->line, "a string without its closing quote");
        return;
    }
    t->type = JT_STRING;
    t->s = (struct span){s, n};
    advance(l, l->at + n + 2);
    if (plain)
        return;
    out = arena_alloc(l->arena, n + 1);
    if (!out) {
        jlex_nomem(l);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t used;

        if (s[i] != '\\') {
            out[k++] = s[i++];
            continue;
        }
        used = escape(s + i + 1, n - i - 1, out, &k);
        if (!used) {
            jlex_fail(l, t->line, "an escape that is not \\n, \\r, \\t, \\a, "
                      "\\b, \\f, \\v, \\xhh, \\uhhhh, \\Uhhhhhhhh or \\ooo");
            return;
        }
        i += 1 + (used == (size_t)-1 ? 0 : used);
    }
    t->s = (struct span){out, k};
}

static enum jtok_type two(char a, char b)
{
    static const struct {
        char s[3];
        enum jtok_type type;
    } ops[] = {
        {"//", JT_FLOORDIV}, {"**", JT_POW}, {"==", JT_EQ}, {"!=", JT_NE},
        {"<=", JT_LE}, {">=", JT_GE},
    };

    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
        if (ops[i].s[0] == a && ops[i].s[1] == b)
            return ops[i].type;
    return JT_END;
}

static void lex_operator(struct jlex *l, struct jtok *t)
{
    static const char from[] = "+-*/%~<>=.,:|()[]{}";
    static const enum jtok_type to[] = {
        JT_ADD, JT_SUB, JT_MUL, JT_DIV, JT_MOD, JT_TILDE, JT_LT, JT_GT,
        JT_ASSIGN, JT_DOT, JT_COMMA, JT_COLON, JT_PIPE, JT_LPAREN, JT_RPAREN,
        JT_LBRACKET, JT_RBRACKET, JT_LBRACE, JT_RBRACE,
    };
    char c = l->s[l->at], next = l->at + 1 < l->n ? l->s[l->at + 1] : 0;
    const char *p = memchr(from, c, sizeof(from) - 1);

    t->type = two(c, next);
    if (t->type) {
        l->at += 2;
        return;
    }
    if (!p) {
        jlex_fail(l, l->line, "a character that has no meaning in a tag");
        return;
    }
    t->type = to[p - from];
    l->at++;
    if (c == '(' || c == '[' || c == '{')
        l->open++;
    else if ((c == ')' || c == ']' || c == '}') && l->open > 0)
        l->open--;
}

static void lex_tag(struct jlex *l, struct jtok *t)
{
    size_t end = 0;
    char c;

    advance(l, skip_space(l, l->at));
    t->line = l->line;
    if (l->at >= l->n) {
        jlex_fail(l, l->line, "a tag without '%s'",
                  l->mode == JLEX_VAR ? "}}" : "%}");
        return;
    }
    if (!l->open)
        end = tag_end(l, l->at, l->mode == JLEX_VAR ? "}}" : "%}");
    if (end) {
        t->type = l->mode == JLEX_VAR ? JT_VAR_END : JT_BLOCK_END;
        leave_tag(l, end);
        return;
    }
    c = l->s[l->at];
    if (is_name(c, true)) {
        size_t at = l->at;

        while (at < l->n && is_name(l->s[at], false))
            at++;
        t->type = JT_NAME;
        t->s = (struct span){l->s + l->at, at - l->at};
        l->at = at;
    } else if (is_digit(c)) {
        lex_number(l, t);
    } else if (c == '\'' || c == '"') {
        lex_string(l, t);
    } else {
        lex_operator(l, t);
    }
    l->after_dot = t->type == JT_DOT;
}

void jlex_next(struct jlex *l, struct jtok *t)
{
    *t = (struct jtok){.type = JT_END, .line = l->line};
    while (!l->st) {
        if (l->pending != JT_END) {
            t->type = l->pending;
            l->pending = JT_END;
            return;
        }
        if (l->mode != JLEX_DATA) {
            lex_tag(l, t);
            break;
        }
        if (l->at >= l->n)
            return;
        if (lex_data(l, t))
            break;
        *t = (struct jtok){.type = JT_END, .line = l->line};
    }
    if (l->st)
        *t = (struct jtok){.type = JT_END, .line = l->line};
}
