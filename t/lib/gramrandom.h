/*
 * t/lib/gramrandom.h - random rules, and a matcher that knows nothing of
 * automata: sets of places in short texts, by the meaning of each expression.
 *
 * For one test program that includes it; from a fixed seed.
 */
#ifndef T_GRAMRANDOM_H
#define T_GRAMRANDOM_H

#include "gram/grammar.h"

#include <string.h>

static uint64_t seed = 0x243f6a8885a308d3u;

static uint32_t any(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % n);
}

/* --- expressions, a second time ------------------------------------------- */

enum kind {
    SYMBOL,
    SPACE,
    EMPTY,
    SEQ,
    ALT,
    STAR,
    REPEAT,
    BEGIN,
    END,
    WHOLE,
    BOTH,
    MINUS,
    COUNTED,
    CALL,
};

struct ex {
    enum kind kind;
    uint16_t lo, hi; /* a symbol; or min, max; or rule, counts */
    const struct ex *a, *b;
};

static struct ex pool[4096];
static size_t n_pool;

static const struct ex *ex(enum kind kind, unsigned lo, unsigned hi,
                           const struct ex *a, const struct ex *b)
{
    if (n_pool == sizeof(pool) / sizeof(pool[0]))
        n_pool = 0; /* not before the next grammar: they are small */
    pool[n_pool] = (struct ex){kind, (uint16_t)lo, (uint16_t)hi, a, b};
    return &pool[n_pool++];
}

/* Whole characters: a, b, U+00E8, U+00E9; anchors only inside of a WHOLE. */
static const struct ex *some_chars(int depth, bool anchors)
{
    if (depth <= 0 || !any(5)) {
        if (anchors && !any(3))
            return ex(any(2) ? BEGIN : END, 0, 0, NULL, NULL);
        switch (any(4)) {
        case 0:
            return ex(SYMBOL, 'a', 'b', NULL, NULL);
        case 1:
            return ex(SEQ, 0, 0, ex(SYMBOL, 0xc3, 0xc3, NULL, NULL),
                      ex(SYMBOL, 0xa8, 0xa9 - any(2), NULL, NULL));
        case 2:
            return any(4) ? ex(SYMBOL, 'b', 'b', NULL, NULL)
                          : ex(EMPTY, 0, 0, NULL, NULL);
        default:
            return ex(SYMBOL, 'a', 'a', NULL, NULL);
        }
    }
    switch (any(9)) {
    case 0:
    case 1:
        return ex(ALT, 0, 0, some_chars(depth - 1, anchors),
                  some_chars(depth - 1, anchors));
    case 2:
    case 3:
        return ex(SEQ, 0, 0, some_chars(depth - 1, anchors),
                  some_chars(depth - 1, anchors));
    case 4:
        return ex(STAR, 0, 0, some_chars(depth - 1, anchors), NULL);
    case 5: {
        unsigned min = any(3);

        return ex(REPEAT, min, any(4) ? min + any(3) : UINT16_MAX,
                  some_chars(depth - 1, anchors), NULL);
    }
    case 6:
        return ex(WHOLE, 0, 0, some_chars(depth - 1, true), NULL);
    case 7:
        return ex(BOTH, 0, 0, some_chars(depth - 1, false),
                  some_chars(depth - 1, false));
    default:
        return ex(MINUS, 0, 0, some_chars(depth - 1, false),
                  some_chars(depth - 1, false));
    }
}

static const struct ex *some(int depth, unsigned rules)
{
    if (depth <= 0 || !any(6)) {
        switch (any(rules > 1 ? 7 : 4)) {
        case 0:
            return ex(SYMBOL, 'x', 'x' + any(2), NULL, NULL);
        case 1:
            return ex(SYMBOL, 256, 256 + any(2), NULL, NULL);
        case 2:
            return ex(SPACE, 0, 0, NULL, NULL);
        case 3:
            return ex(COUNTED, 0, 0, some_chars(3, false), NULL);
        default:
            return ex(CALL, any(rules), any(2), NULL, NULL);
        }
    }
    switch (any(6)) {
    case 0:
    case 1:
        return ex(ALT, 0, 0, some(depth - 1, rules), some(depth - 1, rules));
    case 2:
    case 3:
        return ex(SEQ, 0, 0, some(depth - 1, rules), some(depth - 1, rules));
    case 4:
        return ex(STAR, 0, 0, some(depth - 1, rules), NULL);
    default: {
        unsigned min = any(3);

        return ex(REPEAT, min, any(4) ? min + any(3) : UINT16_MAX,
                  some(depth - 1, rules), NULL);
    }
    }
}

static const struct gx *to_gx(struct gxs *w, const struct ex *x, int base)
{
    const struct gx *a = x->a ? to_gx(w, x->a, base) : NULL;
    const struct gx *b = x->b ? to_gx(w, x->b, base) : NULL;

    switch (x->kind) {
    case SYMBOL:
        if (x->lo > 255)
            return x->lo == x->hi ? gx_mark(w, x->lo - 256)
                                  : gx_alt(w, gx_mark(w, 0), gx_mark(w, 1));
        return x->lo == x->hi && any(2)
                   ? gx_bytes(w, (char[]){(char)x->lo}, 1)
                   : gx_range(w, (uint8_t)x->lo, (uint8_t)x->hi);
    case SPACE:
        return gx_space(w);
    case EMPTY:
        return gx_empty(w);
    case SEQ:
        return gx_seq(w, a, b);
    case ALT:
        return gx_alt(w, a, b);
    case STAR:
        return gx_star(w, a);
    case REPEAT:
        return gx_repeat(w, a, x->lo, x->hi == UINT16_MAX ? GX_MANY : x->hi);
    case BEGIN:
        return gx_begin(w);
    case END:
        return gx_end(w);
    case WHOLE:
        return gx_whole(w, a);
    case BOTH:
        return gx_both(w, a, b);
    case MINUS:
        return gx_minus(w, a, b);
    case COUNTED:
        return gx_counted(w, a, GX_RAW);
    default:
        return gx_call(w, base + x->lo, x->hi);
    }
}

/* --- what they mean ------------------------------------------------------- */

#define TEXT_MAX 12
#define COUNTS (TEXT_MAX + 1)
#define RULES 4

struct rule {
    const struct ex *x;
    uint32_t min, max;
};

static struct rule rules[RULES];
static unsigned n_rules;

static uint16_t text[TEXT_MAX];
static size_t n_text;
static struct {
    bool known;
    uint16_t ends;
} memo[RULES][TEXT_MAX + 1];

/* at[c]: the places that are reached with c raises, one bit each. */
struct places {
    uint16_t at[COUNTS];
};

struct whole {
    size_t begin, end; /* where anchors hold */
};

static struct places ends(const struct ex *x, struct whole in, size_t i);

static bool add_all(struct places *to, const struct places *from, size_t raise)
{
    bool more = false;

    for (size_t c = 0; c + raise < COUNTS; c++) {
        more |= (from->at[c] & ~to->at[c + raise]) != 0;
        to->at[c + raise] |= from->at[c];
    }
    return more;
}

/* x once more behind every place of `from`. */
static struct places behind(const struct places *from, const struct ex *x,
                            struct whole in)
{
    struct places to = {{0}};

    for (size_t c = 0; c < COUNTS; c++)
        for (size_t j = 0; j <= n_text; j++)
            if (from->at[c] >> j & 1) {
                struct places p = ends(x, in, j);

                add_all(&to, &p, c);
            }
    return to;
}

static uint16_t rule_ends(unsigned rule, size_t i)
{
    const struct rule *r = &rules[rule];
    struct places p;

    if (memo[rule][i].known)
        return memo[rule][i].ends;
    memo[rule][i].known = true; /* and nothing, while it asks for itself */
    memo[rule][i].ends = 0;
    p = ends(r->x, (struct whole){0, 0}, i);
    for (size_t c = 0; c < COUNTS; c++)
        if (c >= r->min && c <= r->max)
            memo[rule][i].ends |= p.at[c];
    return memo[rule][i].ends;
}

static size_t chars(size_t from, size_t to)
{
    size_t n = 0;

    for (; from < to; from++)
        n += (text[from] & 0xc0) != 0x80;
    return n;
}

static struct places star_ends(const struct places *from, const struct ex *x,
                               struct whole in)
{
    struct places all = *from, p;

    do
        p = behind(&all, x, in);
    while (add_all(&all, &p, 0));
    return all;
}

static struct places ends(const struct ex *x, struct whole in, size_t i)
{
    struct places p = {{0}}, q;

    switch (x->kind) {
    case SYMBOL:
        if (i < n_text && text[i] >= x->lo && text[i] <= x->hi)
            p.at[0] = (uint16_t)(1u << (i + 1));
        return p;
    case SPACE:
        for (p.at[0] = (uint16_t)(1u << i); i < n_text && text[i] == ' '; i++)
            p.at[0] |= (uint16_t)(1u << (i + 1));
        return p;
    case EMPTY:
        p.at[0] = (uint16_t)(1u << i);
        return p;
    case SEQ:
        q = ends(x->a, in, i);
        return behind(&q, x->b, in);
    case ALT:
        p = ends(x->a, in, i);
        q = ends(x->b, in, i);
        add_all(&p, &q, 0);
        return p;
    case STAR:
        p.at[0] = (uint16_t)(1u << i);
        return star_ends(&p, x->a, in);
    case REPEAT:
        p.at[0] = (uint16_t)(1u << i);
        for (unsigned k = 0; k < x->lo; k++)
            p = behind(&p, x->a, in);
        if (x->hi == UINT16_MAX)
            return star_ends(&p, x->a, in);
        for (unsigned k = x->lo; k < x->hi; k++) {
            q = behind(&p, x->a, in);
            add_all(&p, &q, 0);
        }
        return p;
    case BEGIN:
        p.at[0] = (uint16_t)(i == in.begin ? 1u << i : 0);
        return p;
    case END:
        p.at[0] = (uint16_t)(i == in.end ? 1u << i : 0);
        return p;
    case WHOLE:
        for (size_t j = i; j <= n_text; j++) {
            q = ends(x->a, (struct whole){i, j}, i);
            p.at[0] |= (uint16_t)(q.at[0] & 1u << j);
        }
        return p;
    case BOTH:
        p = ends(x->a, in, i);
        q = ends(x->b, in, i);
        p.at[0] &= q.at[0];
        return p;
    case MINUS:
        p = ends(x->a, in, i);
        q = ends(x->b, in, i);
        p.at[0] &= (uint16_t)~q.at[0];
        return p;
    case COUNTED:
        q = ends(x->a, in, i);
        for (size_t j = i; j <= n_text; j++)
            if (q.at[0] >> j & 1)
                p.at[chars(i, j)] |= (uint16_t)(1u << j);
        return p;
    default:
        p.at[x->hi ? 1 : 0] = rule_ends(x->lo, i);
        return p;
    }
}

static bool matches(void)
{
    memset(memo, 0, sizeof(memo));
    return rule_ends(0, 0) >> n_text & 1;
}

/* --- texts ---------------------------------------------------------------- */

static void put(uint16_t symbol)
{
    if (n_text < TEXT_MAX)
        text[n_text++] = symbol;
}

/* A text that may well match. */
static void write_some(const struct ex *x, int depth)
{
    size_t n;

    switch (x->kind) {
    case SYMBOL:
        put((uint16_t)(x->lo + any(x->hi - x->lo + 1u)));
        return;
    case SPACE:
        for (n = any(3); n > 0; n--)
            put(' ');
        return;
    case SEQ:
        write_some(x->a, depth);
        write_some(x->b, depth);
        return;
    case ALT:
    case BOTH:
        write_some(any(2) ? x->a : x->b, depth);
        return;
    case STAR:
    case REPEAT:
        n = x->kind == STAR ? any(4) : x->lo + any(3);
        while (n-- > 0)
            write_some(x->a, depth);
        return;
    case WHOLE:
    case MINUS:
    case COUNTED:
        write_some(x->a, depth);
        return;
    case CALL:
        if (depth < 5)
            write_some(rules[x->lo].x, depth + 1);
        return;
    default:
        return;
    }
}

static void change_some(void)
{
    static const uint16_t alphabet[] = {'a',  'b',  'x', 'y', 0xc3,
                                        0xa8, 0xa9, ' ', 256, 257};
    size_t at = any((uint32_t)n_text + 1);

    if (at == n_text || !any(3))
        put(alphabet[any(10)]);
    else if (any(2))
        text[at] = alphabet[any(10)];
    else
        memmove(text + at, text + at + 1, (--n_text - at) * sizeof(text[0]));
}

/* --- rules ---------------------------------------------------------------- */

static void some_rules(void)
{
    n_pool = 0;
    n_rules = 1 + any(RULES);
    for (unsigned i = 0; i < n_rules; i++) {
        uint32_t min = any(4);

        rules[i].x = some(3, n_rules);
        rules[i].min = any(2) ? 0 : min;
        rules[i].max = any(2) ? GX_MANY : min + any(4);
        /* what is called is not empty */
        if (i || n_rules > 1)
            rules[i].x = any(2)
                             ? ex(SEQ, 0, 0, ex(SYMBOL, 'x', 'x', NULL, NULL),
                                  rules[i].x)
                             : ex(SEQ, 0, 0, rules[i].x,
                                  ex(SYMBOL, 'y', 'y', NULL, NULL));
    }
}

/* The rules in a workshop; the first of them. */
static int write_rules(struct gxs *w)
{
    int base = 0;

    for (unsigned i = 0; i < n_rules; i++)
        base = gx_rule(w);
    base -= (int)n_rules - 1;
    for (unsigned i = 0; i < n_rules; i++)
        gx_rule_set(w, base + (int)i, to_gx(w, rules[i].x, base),
                    rules[i].min, rules[i].max);
    return base;
}

#endif
