#include "base/utf8.h"
#include "gram/regex_int.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum st regex_refuse(struct regex *r, size_t offset, const char *fmt, ...)
{
    char what[200];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    return err_set(r->e, ST_INVALID, "",
                   "the regular expression has %s at offset %zu", what, offset);
}

/* The workshop's failure as ours. */
static enum st failed(struct regex *r)
{
    return err_set(r->e, r->w->err.st, r->w->err.where, "%s", r->w->err.text);
}

enum st regex_work(struct regex *r, uint64_t steps)
{
    return gxs_work(r->w, steps) ? ST_OK : failed(r);
}

static enum st push(struct regex *r, const struct gx *x)
{
    if (r->n_parts == r->cap_parts) {
        size_t cap = r->cap_parts ? r->cap_parts * 2 : 64;
        const struct gx **p = mem_try_array(cap, sizeof(*p));

        if (!p)
            return err_set(r->e, ST_NOMEM, "",
                           "no memory for the regular expression");
        if (r->n_parts)
            memcpy(p, r->parts, r->n_parts * sizeof(*p));
        free(r->parts);
        r->parts = p;
        r->cap_parts = cap;
    }
    r->parts[r->n_parts++] = x;
    return regex_work(r, 1);
}

/* The literals that were read in a row become one part. */
static enum st flush(struct regex *r)
{
    const struct gx *x;

    if (r->run.failed)
        return err_set(r->e, ST_LIMIT, "",
                       "the regular expression is too long");
    if (!r->run.n)
        return ST_OK;
    x = gx_text(r->w, r->run.p, r->run.n, r->form);
    buf_clear(&r->run);
    return push(r, x);
}

/* A number at `at`; above the limit it stays at that plus one. */
static bool number(struct regex *r, uint32_t *v)
{
    size_t start = r->at;

    for (*v = 0; r->at < r->n && r->s[r->at] >= '0' && r->s[r->at] <= '9';
         r->at++) {
        *v = *v * 10 + (uint32_t)(r->s[r->at] - '0');
        if (*v > REGEX_COUNT_MAX)
            *v = REGEX_COUNT_MAX + 1;
    }
    return r->at > start;
}

/* {m}, {m,} or {m,n}; `at` is on the brace. */
static enum st braces(struct regex *r, uint32_t *min, uint32_t *max)
{
    size_t start = r->at++;

    if (!number(r, min))
        return regex_refuse(r, start, "'{' that begins no count (the "
                                      "character is written \\{)");
    *max = *min;
    if (regex_at(r, ',')) {
        r->at++;
        if (!number(r, max))
            *max = GX_MANY;
    }
    if (!regex_at(r, '}'))
        return regex_refuse(r, start, "a count '{' that is not closed");
    r->at++;
    if (*min > REGEX_COUNT_MAX || (*max != GX_MANY && *max > REGEX_COUNT_MAX))
        return err_set(r->e, ST_LIMIT, "",
                       "the regular expression has a count over %d at offset "
                       "%zu",
                       REGEX_COUNT_MAX, start);
    if (*max < *min)
        return regex_refuse(r, start, "a count '{' whose second number is "
                                      "less than the first");
    return ST_OK;
}

static bool at_quantifier(const struct regex *r)
{
    return r->at < r->n && memchr("*+?{", r->s[r->at], 4);
}

/* The quantifier at `at` is applied to *x. */
static enum st quantify(struct regex *r, const struct gx **x)
{
    size_t start = r->at;
    uint32_t min = 0, max = GX_MANY;
    char op = r->s[r->at];
    enum st st = ST_OK;

    if (op == '{') {
        st = braces(r, &min, &max);
        if (st)
            return st;
    } else {
        min = op == '+';
        max = op == '?' ? 1 : GX_MANY;
        r->at++;
    }
    if (regex_at(r, '?'))
        return regex_refuse(r, start, "a lazy quantifier '%c?'",
                            op == '{' ? '}' : op);
    if (regex_at(r, '+'))
        return regex_refuse(r, start, "a possessive quantifier '%c+'",
                            op == '{' ? '}' : op);
    if (at_quantifier(r))
        return regex_refuse(r, r->at, "'%c' behind another quantifier",
                            r->s[r->at]);
    *x = gx_repeat(r->w, *x, min, max);
    return regex_work(r, 1);
}

static enum st ways(struct regex *r, const struct gx **x);

static bool starts(const struct regex *r, const char *literal)
{
    size_t n = strlen(literal);

    return r->n - r->at >= n && memcmp(r->s + r->at, literal, n) == 0;
}

/* A group that begins with (? and is none of ours. */
static enum st unknown_group(struct regex *r)
{
    static const struct {
        const char *head, *what;
    } known[] = {
        {"(?=", "look-ahead '(?='"},
        {"(?!", "negative look-ahead '(?!'"},
        {"(?<=", "look-behind '(?<='"},
        {"(?<!", "negative look-behind '(?<!'"},
        {"(?<", "a named group '(?<'"},
        {"(?P", "a named group '(?P'"},
        {"(?'", "a named group '(?''"},
        {"(?>", "an atomic group '(?>'"},
        {"(?|", "a group '(?|'"},
        {"(?#", "a comment '(?#'"},
        {"(?i)", "the flag '(?i)' elsewhere than at the very beginning"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (starts(r, known[i].head))
            return regex_refuse(r, r->at, "%s", known[i].what);
    }
    return regex_refuse(r, r->at, "a group '(?' that is neither (?: nor (?i:");
}

/* A group; `at` is on its parenthesis. */
static enum st group(struct regex *r, const struct gx **x)
{
    size_t start = r->at;
    bool fold = r->fold;
    enum st st;

    if (starts(r, "(?i:")) {
        r->fold = true;
        r->at += 4;
    } else if (starts(r, "(?:")) {
        r->at += 3;
    } else if (starts(r, "(?")) {
        return unknown_group(r);
    } else {
        r->at++;
    }
    if (r->depth == REGEX_DEPTH_MAX)
        return err_set(r->e, ST_LIMIT, "",
                       "the regular expression has groups nested deeper than "
                       "%d at offset %zu",
                       REGEX_DEPTH_MAX, start);
    r->depth++;
    st = ways(r, x);
    r->depth--;
    r->fold = fold;
    if (!st && !regex_at(r, ')'))
        st = regex_refuse(r, start, "a group '(' that is not closed");
    if (!st)
        r->at++;
    return st;
}

static enum st anchor(struct regex *r, const struct gx **x)
{
    *x = r->s[r->at] == '^' ? gx_begin(r->w) : gx_end(r->w);
    r->at++;
    if (at_quantifier(r))
        return regex_refuse(r, r->at, "'%c' behind an anchor", r->s[r->at]);
    return ST_OK;
}

/* The next thing that a quantifier may follow, or an anchor. *x NULL: one
 * character, *cp. */
static enum st atom(struct regex *r, const struct gx **x, uint32_t *cp)
{
    *x = NULL;
    switch (r->s[r->at]) {
    case '(':
        return group(r, x);
    case '[':
        return regex_class(r, x);
    case '\\':
        return regex_escape(r, cp, x);
    case '^':
    case '$':
        return anchor(r, x);
    case '.':
        r->at++;
        *x = regex_dot(r);
        return ST_OK;
    case '*':
    case '+':
    case '?':
        return regex_refuse(r, r->at, "'%c' with nothing before it",
                            r->s[r->at]);
    case '{':
        return regex_refuse(r, r->at, "'{' with nothing before it (the "
                                      "character is written \\{)");
    default:
        return regex_char(r, cp);
    }
}

/* Has it only one case, or does it not matter? */
static bool literal(struct regex *r, uint32_t cp)
{
    bool ascii = cp < 0x80;

    return !r->fold || (ascii && !((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z'));
}

/* One atom with its quantifier; literals gather in r->run. */
static enum st part(struct regex *r)
{
    const struct gx *x;
    uint32_t cp = 0;
    size_t n;
    char s[4];
    enum st st;

    if (regex_at(r, '(')) {
        st = flush(r); /* a group has runs of its own */
        if (st)
            return st;
    }
    st = atom(r, &x, &cp);
    if (st)
        return st;
    if (!x && literal(r, cp) && !at_quantifier(r)) {
        n = utf8_encode(cp, s);
        buf_add(&r->run, s, n);
        return ST_OK;
    }
    st = flush(r);
    if (!st && !x)
        x = regex_one(r, cp);
    if (!st && at_quantifier(r))
        st = quantify(r, &x);
    return st ? st : push(r, x);
}

/* Parts in a row, up to a bar, the end of the group or of everything. */
static enum st row(struct regex *r, const struct gx **x)
{
    size_t base = r->n_parts;
    enum st st = ST_OK;

    while (!st && r->at < r->n && !regex_at(r, '|') && !regex_at(r, ')'))
        st = part(r);
    if (!st)
        st = flush(r);
    if (!st)
        *x = r->n_parts > base
                 ? gx_seqn(r->w, r->parts + base, r->n_parts - base)
                 : gx_empty(r->w);
    r->n_parts = base;
    return st;
}

static enum st ways(struct regex *r, const struct gx **x)
{
    size_t base = r->n_parts;
    bool more = true;
    enum st st = ST_OK;

    while (!st && more) {
        st = row(r, x);
        if (!st)
            st = push(r, *x);
        more = regex_at(r, '|');
        r->at += more;
    }
    if (!st)
        *x = gx_altn(r->w, r->parts + base, r->n_parts - base);
    r->n_parts = base;
    return st;
}

enum st regex_parse(const struct gx **out, struct gxs *w, struct text pattern,
                    enum regex_mode mode, enum gx_form form, struct err *e)
{
    struct regex r = {
        .w = w, .s = pattern.s, .n = pattern.n, .form = form, .e = e};
    const struct gx *x = NULL, *any;
    enum st st;

    *out = gx_none(w);
    buf_init(&r.run, BUF_FILE);
    if (starts(&r, "(?i)")) {
        r.fold = true;
        r.at = 4;
    }
    st = ways(&r, &x);
    if (!st && r.at < r.n)
        st = regex_refuse(&r, r.at, "')' that closes no group");
    if (!st && mode == REGEX_SEARCH) {
        any = gx_any_text(w, form);
        x = gx_seqn(w, (const struct gx *const[]){any, x, any}, 3);
    }
    if (!st)
        x = gx_whole(w, x);
    if (!st && w->err.st)
        st = failed(&r);
    if (!st)
        *out = x;
    buf_release(&r.run);
    free(r.parts);
    return st;
}
