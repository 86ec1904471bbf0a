/*
 * Sets of characters: against plain arrays, and against what Perl says of
 * every code point (t/data/gram/unicode.tsv).
 */
#include "base/buf.h"
#include "base/utf8.h"
#include "gram/machine.h"
#include "text/uni_cat.h"
#include <stdlib.h>

#include "t/lib/tap.h"

#define POINTS 0x110000u

/* xorshift32 (Marsaglia 2003): the same numbers every time. */
static uint32_t below(uint32_t *x, uint32_t n)
{
    *x ^= *x << 13;
    *x ^= *x >> 17;
    *x ^= *x << 5;
    return *x % n;
}

static bool surrogate(uint32_t cp)
{
    return cp >= 0xd800 && cp <= 0xdfff;
}

/* Ascending, apart from one another, and no surrogates. */
static bool tidy(const struct charset *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->p[i].lo > c->p[i].hi || c->p[i].hi >= POINTS ||
            (i && c->p[i].lo <= c->p[i - 1].hi + 1) ||
            (c->p[i].lo <= 0xdfff && c->p[i].hi >= 0xd800))
            return false;
    }
    return !c->failed;
}

static int differ(const struct charset *c, const bool *want)
{
    int bad = 0;

    for (uint32_t cp = 0; cp < POINTS + 2; cp++) {
        bool w = cp < POINTS && want[cp] && !surrogate(cp);

        bad += charset_has(c, cp) != w;
    }
    return bad;
}

static void test_sets(void)
{
    static bool want[POINTS];
    uint32_t seed = 2463534242u;
    struct charset c;
    struct arena a;
    bool sound = true;
    int bad = 0;

    for (int round = 0; round < 12; round++) {
        arena_init(&a, 16u << 20);
        charset_init(&c, &a);
        memset(want, 0, sizeof(want));
        for (int i = 0; i < 400; i++) {
            uint32_t lo = below(&seed, round & 1 ? 4000 : POINTS + 100);
            uint32_t n = below(&seed, round & 2 ? 40 : 3), hi = lo + n;

            if (i % 57 == 0)
                lo = 0xd7f0 + n, hi = 0xe000 + n;
            charset_add(&c, lo, hi);
            for (uint32_t cp = lo; cp <= hi && cp < POINTS; cp++)
                want[cp] = true;
            sound = sound && tidy(&c);
        }
        bad += differ(&c, want);
        charset_invert(&c);
        for (uint32_t cp = 0; cp < POINTS; cp++)
            want[cp] = !want[cp];
        sound = sound && tidy(&c);
        bad += differ(&c, want);
        arena_release(&a);
    }
    is_int(bad, 0, "sets have what was added and nothing else");
    ok(sound, "and are in order at any time");
}

/* A line of the file: class NAME COUNT SUM. */
static void test_class(const char *name, unsigned long n,
                       unsigned long long sum)
{
    unsigned long long got_sum = 0;
    unsigned long got = 0;
    struct charset c;
    struct arena a;
    bool known;

    arena_init(&a, 1u << 20);
    charset_init(&c, &a);
    known = charset_add_class(&c, (struct span){name, strlen(name)});
    for (size_t i = 0; i < c.n; i++) {
        for (uint32_t cp = c.p[i].lo; cp <= c.p[i].hi; cp++) {
            got++;
            got_sum += cp;
        }
    }
    if (!ok(known && tidy(&c) && got == n && got_sum == sum, "\\p{%s}", name))
        printf("#   got %lu, expected %lu\n", got, n);
    arena_release(&a);
}

/* Six whose partners only full folding joins; here they are alone. */
static bool apart(uint32_t cp)
{
    return cp == 0xfb05 || cp == 0xfb06 || cp == 0x1fd3 || cp == 0x390 ||
           cp == 0x1fe3 || cp == 0x3b0;
}

static void test_fold(unsigned long n, unsigned long sum)
{
    unsigned long got = 0;
    uint32_t s = 0, wrong = 0;

    for (uint32_t cp = 0; cp < POINTS; cp++) {
        uint32_t from = uni_fold_from(cp);

        wrong += (from == cp) != (uni_fold_next(cp) != cp) || from < cp ||
                 (apart(cp) && from == cp);
        for (uint32_t o = uni_fold_next(cp), i = 0; o != cp;
             o = uni_fold_next(o)) {
            wrong += ++i > 3;
            got++;
            s += cp * 31 + o;
        }
    }
    is_int(wrong, 0, "rings are closed, small, and found");
    is_int(got, n, "pairs that differ by case");
    is_int(s, sum, "and they are the same");
}

static void test_unicode(void)
{
    char *line, *next, name[64];
    unsigned long long sum;
    unsigned long n;
    struct buf b;
    struct err e;

    buf_init(&b, BUF_FILE);
    if (!ok(buf_read_file(&b, "t/data/gram/unicode.tsv", &e) == ST_OK,
            "what Perl says is there"))
        return;
    for (line = b.p; line && *line; line = next) {
        char *at = strchr(line, '\t');

        next = strchr(line, '\n');
        next = next ? next + 1 : NULL;
        if (*line == '#' || !at)
            continue;
        if (strncmp(line, "class\t", 6) == 0) {
            size_t len = strcspn(++at, "\t");

            snprintf(name, sizeof(name), "%.*s", (int)len, at);
            n = strtoul(at + len, &at, 10);
            sum = strtoull(at, NULL, 10);
            test_class(name, n, sum);
        } else {
            n = strtoul(at, &at, 10);
            test_fold(n, strtoul(at, NULL, 10));
        }
    }
    buf_release(&b);
}

/* The letters of a class one by one through uni_cat. */
static void test_cat(void)
{
    struct charset c;
    struct arena a;
    int bad = 0;

    for (uint32_t cat = 0; cat < UNI_CATS; cat++) {
        uint32_t lo, hi, mask = 1u << cat;

        arena_init(&a, 1u << 20);
        charset_init(&c, &a);
        for (uint32_t at = 0; uni_cat_run(mask, at, &lo, &hi); at = hi + 1)
            charset_add(&c, lo, hi);
        for (uint32_t cp = 0; cp < POINTS; cp++)
            bad += !surrogate(cp) &&
                   charset_has(&c, cp) != (uni_cat(cp) == cat);
        arena_release(&a);
    }
    is_int(bad, 0, "runs and single characters agree");
    ok(uni_cat(POINTS) == UNI_CN && !uni_cat_named((struct span){"", 0}) &&
           !uni_cat_named((struct span){"lu", 2}),
       "what is no character, no name");
}

/* cp as it stands in a JSON string. */
static size_t json_char(uint32_t cp, char out[8])
{
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *p = cp && cp < 128 ? strchr(from, (int)cp) : NULL;

    if (p)
        return (size_t)snprintf(out, 8, "\\%c", to[p - from]);
    if (cp < 32)
        return (size_t)snprintf(out, 8, "\\u%04x", cp);
    return utf8_encode(cp, out);
}

/* Every character through the automaton of a set. */
static void test_written(const char *name, bool negated, bool fold,
                         enum gx_form form)
{
    struct gram_place p;
    struct grammar *g = NULL;
    struct charset c;
    struct arena a;
    struct gxs w;
    struct err e = {0};
    int rule, bad = 0;

    arena_init(&a, 1u << 20);
    charset_init(&c, &a);
    if (name && !charset_add_class(&c, (struct span){name, strlen(name)}))
        bad++;
    if (fold)
        charset_fold(&c);
    if (negated)
        charset_invert(&c);
    gxs_init(&w);
    rule = gx_rule(&w);
    gx_rule_set(&w, rule, gx_chars(&w, &c, form), 0, GX_MANY);
    if (!ok(gram_compile(&g, &w, rule, &e) == ST_OK, "%s: compiled", name))
        printf("# %s\n", e.text);
    gxs_release(&w);
    for (uint32_t cp = 0; g && cp < POINTS; cp++) {
        char s[8];
        size_t n;

        if (surrogate(cp))
            continue;
        n = form == GX_JSON ? json_char(cp, s) : utf8_encode(cp, s);
        gram_begin(g, &p);
        bad += (gram_bytes(g, &p, s, n) && gram_ends(g, &p)) !=
               charset_has(&c, cp);
    }
    is_int(bad, 0, "%s%s%s %s", negated ? "not " : "", name,
           fold ? " without case" : "", form == GX_JSON ? "in JSON" : "raw");
    if (g)
        printf("# %zu states, %zu edges\n", g->n_states, g->n_edges);
    gram_unref(g);
    arena_release(&a);
}

int main(void)
{
    test_sets();
    test_unicode();
    test_cat();
    test_written("L", false, false, GX_RAW);
    test_written("L", true, false, GX_JSON);
    test_written("Lu", false, true, GX_RAW);
    test_written("Cn", true, false, GX_RAW);
    test_written("Cc", false, false, GX_JSON);
    test_written("Any", false, false, GX_RAW);
    test_written("Any", false, false, GX_JSON);
    return done();
}
