/*
 * Regular expressions mean what they mean elsewhere: every pattern of
 * t/data/gram/regex.json (its oracle is named there) on every text of it, as
 * bytes and as JSON writes them. And what is refused, and how.
 */
#include "base/buf.h"
#include "base/utf8.h"
#include "gram/forms.h"
#include "gram/machine.h"
#include "gram/regex.h"
#include "json/read.h"
#include <stdlib.h>

#include "t/lib/tap.h"

/* The grammar of a pattern; NULL and the error. */
static struct grammar *compile(struct text pattern, enum regex_mode mode,
                               enum gx_form form, struct err *e)
{
    struct grammar *g = NULL;
    const struct gx *x;
    struct gxs w;
    int rule;

    *e = (struct err){0};
    gxs_init(&w);
    if (!regex_parse(&x, &w, pattern, mode, form, e)) {
        rule = gx_rule(&w);
        gx_rule_set(&w, rule, x, 0, GX_MANY);
        if (gram_compile(&g, &w, rule, e))
            g = NULL;
    }
    gxs_release(&w);
    return g;
}

static struct text text_of(const char *s)
{
    return (struct text){s, strlen(s)};
}

static bool matches(const struct grammar *g, const char *s, size_t n)
{
    struct gram_place p;

    gram_begin(g, &p);
    return gram_bytes(g, &p, s, n) && gram_ends(g, &p);
}

/* As JSON.stringify writes it, without the quotes. */
static void json_form(struct buf *b, struct text t)
{
    static const char from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";

    buf_clear(b);
    for (size_t i = 0; i < t.n; i++) {
        const char *p = t.s[i] ? strchr(from, t.s[i]) : NULL;

        if (p)
            buf_printf(b, "\\%c", to[p - from]);
        else if ((unsigned char)t.s[i] < 32)
            buf_printf(b, "\\u%04x", t.s[i]);
        else
            buf_putc(b, t.s[i]);
    }
}

/* Texts on which g is not of the oracle's opinion. g NULL: nothing matches. */
static int differ(const struct grammar *g, const struct json *texts, bool want,
                  enum gx_form form, int *seen)
{
    struct buf b;
    int bad = 0;

    buf_init(&b, BUF_MESSAGE);
    for (const struct json *t = texts->child; t; t = t->next) {
        buf_clear(&b);
        if (form == GX_JSON)
            json_form(&b, t->str);
        else
            buf_add(&b, t->str.s, t->str.n);
        ++*seen;
        if ((g && matches(g, b.p ? b.p : "", b.n)) == want)
            continue;
        bad++;
        printf("# %s: '%.*s'\n", want ? "should match" : "should not match",
               (int)b.n, b.p ? b.p : "");
    }
    buf_release(&b);
    return bad;
}

static void test_oracle(enum gx_form form)
{
    const struct json *root, *c, *p;
    int n = 0, bad = 0, seen = 0;
    struct arena a;
    struct err e;
    struct buf b;

    buf_init(&b, BUF_FILE);
    arena_init(&a, 64u << 20);
    if (!ok(buf_read_file(&b, "t/data/gram/regex.json", &e) == ST_OK &&
                json_parse(&root, &a, b.p, b.n, &e) == ST_OK,
            "the oracle's answers are there"))
        return;
    for (c = json_get(root, "cases")->child; c; c = c->next, n++) {
        enum regex_mode mode = json_get(c, "search")->boolean ? REGEX_SEARCH
                                                              : REGEX_WHOLE;
        const struct json *yes = json_get(c, "yes");
        struct grammar *g;
        int d;

        p = json_get(c, "p");
        g = compile(p->str, mode, form, &e);
        d = !g && e.st != ST_INVALID && yes->n;
        if (!g && (e.st != ST_INVALID || yes->n))
            printf("# %s\n", e.text);
        d += differ(g, yes, true, form, &seen);
        d += differ(g, json_get(c, "no"), false, form, &seen);
        if (d)
            printf("# pattern %.*s\n", (int)p->str.n, p->str.s);
        bad += d;
        gram_unref(g);
    }
    is_int(bad, 0, "%d patterns on %d texts, as %s", n, seen,
           form == GX_JSON ? "JSON writes them" : "bytes");
    ok(seen >= 4400, "enough of them");
    arena_release(&a);
    buf_release(&b);
}

static const struct {
    const char *pattern, *what;
    int offset;
} refused[] = {
    /* spec tandem.md, check 43; ^a is not of them any more */
    {"(a", "group '(' that is not closed", 0},
    {"a{3,2}", "second number is less", 1},
    {"a*?", "lazy quantifier '*?'", 1},
    {"(?=a)", "look-ahead", 0},
    {"\\q", "unknown escape '\\q'", 0},
    {"[a", "class '[' that is not closed", 0},
    /* cases.md C27 */
    {"foo**", "'*' behind another quantifier", 4},
    {"([", "class '[' that is not closed", 1},
    {"a{3,1}", "second number is less", 1},
    {"(?<=x)y", "look-behind", 0},
    {"(a)\\1", "back reference '\\1'", 3},
    /* and the rest */
    {"a)", "')' that closes no group", 1},
    {"a+?", "lazy quantifier '+?'", 1},
    {"a??", "lazy quantifier '?\?'", 1},
    {"a{2}?", "lazy quantifier", 1},
    {"a*+", "possessive quantifier '*+'", 1},
    {"a++", "possessive quantifier '++'", 1},
    {"a{2}{3}", "'{' behind another quantifier", 4},
    {"*a", "'*' with nothing before it", 0},
    {"a|*", "'*' with nothing before it", 2},
    {"(?:+)", "'+' with nothing before it", 3},
    {"^*", "'*' behind an anchor", 1},
    {"a${2}", "'{' behind an anchor", 2},
    {"{2}", "'{' with nothing before it", 0},
    {"a{", "'{' that begins no count", 1},
    {"a{,3}", "'{' that begins no count", 1},
    {"a{b}", "'{' that begins no count", 1},
    {"a{2", "count '{' that is not closed", 1},
    {"a{2,x}", "count '{' that is not closed", 1},
    {"(?!a)", "negative look-ahead", 0},
    {"x(?<!a)", "negative look-behind", 1},
    {"(?<n>a)", "named group", 0},
    {"(?P<n>a)", "named group", 0},
    {"(?>a)", "atomic group", 0},
    {"(?#a)", "comment", 0},
    {"a(?i)b", "flag '(?i)' elsewhere", 1},
    {"(?m:a)", "neither (?: nor (?i:", 0},
    {"(?-i:a)", "neither (?: nor (?i:", 0},
    {"(?", "neither (?: nor (?i:", 0},
    {"\\ba", "word boundary '\\b'", 0},
    {"a\\B", "word boundary '\\B'", 1},
    {"\\Aa\\z", "'\\A' (^ and $", 0},
    {"\\k<n>", "named back reference", 0},
    {"\\", "backslash with nothing behind it", 0},
    {"\\c", "unknown escape '\\c'", 0},
    {"\\01", "octal escape", 0},
    {"[\\1]", "octal escape in a class", 1},
    {"[\\B]", "unknown escape '\\B'", 1},
    {"\\é", "backslash before a character that needs none", 0},
    {"\\x1", "'\\x' without two", 0},
    {"\\xg0", "'\\x' without two", 0},
    {"\\u12", "'\\u' without four", 0},
    {"\\u{}", "'\\u{' without", 0},
    {"\\u{110000}", "'\\u{' without", 0},
    {"\\u{12", "'\\u{' without", 0},
    {"\\ud800", "half of a surrogate pair", 0},
    {"\\ud800\\u0041", "half of a surrogate pair", 0},
    {"\\udc00", "half of a surrogate pair", 0},
    {"\\u{d800}", "half of a surrogate pair", 0},
    {"\\p", "'\\p' without a name", 0},
    {"\\pL", "'\\p' without a name", 0},
    {"\\p{", "'\\p' with a name that is no", 0},
    {"\\p{Foo}", "'\\p' with a name that is no", 0},
    {"\\p{lu}", "'\\p' with a name that is no", 0},
    {"\\P{gc=gc=L}", "'\\P' with a name that is no", 0},
    {"\\p{Script=Greek}", "'\\p' with a name that is no", 0},
    {"[]", "empty class", 0},
    {"[^]", "empty class", 0},
    {"[]a]", "empty class", 0},
    {"[b-a]", "range whose end is before", 1},
    {"[[:alpha:]]", "'[:' of POSIX", 1},
    {"[a\\]", "class '[' that is not closed", 0},
    {"\xff", "not UTF-8", 0},
    {"[\xc3]", "not UTF-8", 1},
    {"\xed\xa0\x80", "not UTF-8", 0},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct grammar *g;
        char at[40];
        struct err e;

        g = compile(text_of(refused[i].pattern), REGEX_WHOLE, GX_RAW, &e);
        snprintf(at, sizeof(at), " at offset %d", refused[i].offset);
        if (!ok(!g && e.st == ST_INVALID && strstr(e.text, refused[i].what) &&
                    strstr(e.text, at),
                "refused: %s", e.text))
            printf("# pattern %s\n", refused[i].pattern);
        gram_unref(g);
    }
}

static const struct {
    const char *pattern, *yes, *no;
} meant[] = {
    {"^a$", "a", "aa"},
    {"a^", NULL, "a"},
    {"$^", "", "a"},
    {"(^a|b$)+", "ab", "ba"},
    {"}]", "}]", "]"},
    {"[\\w-.]+", "a-.", "a+"},
    {"[a-\\d]+", "a-1", "b"},
    {"[-a]+", "-a", "b"},
    {"[a-]+", "-a", "b"},
    {"[a^]+", "a^", "b"},
    {"[[]", "[", "]"},
    {"[\\b]", "\b", "b"},
    {"[\\]\\[]+", "[]", "a"},
    {"\\ \\-\\_\\/", " -_/", "a"},
    {"\\ud83d\\ude00", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x81"},
    {"(|a)b", "b", "a"},
    {"()*", "", "a"},
    {"(a*)*", "aaa", "b"},
    {".", "\r", "\n"},
    {"[^a]", "\n", "a"},
    {"(?i)\xc3\xa9", "\xc3\x89", "e"},
    {"(?i)az", "AZ", "ay"},
    {"(?i:k)K", "\xe2\x84\xaaK", "kk"},
    {"(?i)[^k]", "a", "\xe2\x84\xaa"},
    {"a{0}", "", "a"},
    {"a{3}", "aaa", "a"},
    {"\\p{Cs}?a", "a", "b"},
};

static void test_meant(void)
{
    for (size_t i = 0; i < sizeof(meant) / sizeof(meant[0]); i++) {
        const char *yes = meant[i].yes, *no = meant[i].no;
        struct grammar *g;
        struct err e;

        g = compile(text_of(meant[i].pattern), REGEX_WHOLE, GX_RAW, &e);
        ok((g || (!yes && e.st == ST_INVALID)) &&
               (!yes || matches(g, yes, strlen(yes))) &&
               (!g || !matches(g, no, strlen(no))),
           "%s", meant[i].pattern);
        gram_unref(g);
    }
}

/* Check 44, and bytes that are no UTF-8. */
static void test_halves(void)
{
    static const char *const wrong[] = {
        "\x80", "\xc0\x80", "\xc1", "\xe0\x80", "\xe0\x9f", "\xed\xa0",
        "\xf0\x8f", "\xf4\x90", "\xf5", "\xff", "\xf0\x9f\x98\x61",
    };
    const char *face = "\xf0\x9f\x98\x80";
    struct gram_place p;
    struct grammar *g;
    struct err e;

    g = compile(text_of("[\xf0\x9f\x98\x80-\xf0\x9f\x98\x8f]+"), REGEX_WHOLE,
                GX_RAW, &e);
    if (!ok(g, "a class of faces"))
        return;
    gram_begin(g, &p);
    for (int i = 0; i < 8; i++) {
        ok(gram_bytes(g, &p, face + i % 4, 1), "byte %d of faces lives", i);
        ok(gram_ends(g, &p) == (i % 4 == 3), "and ends with the character");
    }
    gram_unref(g);
    g = compile(text_of("[^x]*"), REGEX_WHOLE, GX_RAW, &e);
    if (!ok(g, "a class that is negated"))
        return;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        gram_begin(g, &p);
        ok(!gram_bytes(g, &p, wrong[i], strlen(wrong[i])),
           "bytes that are no UTF-8: %zu", i);
    }
    gram_unref(g);
}

/* n times head, middle, n times tail. */
static void nested(struct buf *b, int n, const char *head, const char *middle,
                   const char *tail)
{
    buf_clear(b);
    for (int i = 0; i < n; i++)
        buf_puts(b, head);
    buf_puts(b, middle);
    for (int i = 0; i < n; i++)
        buf_puts(b, tail);
}

/* It compiles, or is refused for a limit that it names, in bounded work. */
static void bounded(struct buf *b, const char *name, const char *limit)
{
    struct grammar *g;
    struct err e;

    g = compile(buf_text(b), REGEX_WHOLE, GX_JSON, &e);
    if (!ok(limit ? !g && e.st == ST_LIMIT && strstr(e.text, limit)
                  : g != NULL || (e.st == ST_LIMIT && *e.text),
            "%s: %s", name, g ? "compiled" : e.text))
        printf("#   expected '%s'\n", limit ? limit : "either");
    gram_unref(g);
}

static void test_limits(void)
{
    static const struct {
        const char *pattern, *limit;
    } fixed[] = {
        {"a{1000}", NULL},
        {"a{1001}", "count over 1000 at offset 1"},
        {"a{1001,}", "count over 1000 at offset 1"},
        {"a{1,99999999999999999999}", "count over 1000"},
        {"(a|b)*a(a|b){30}", "too large"},
        {"(a{1000}){1000}", "too large"},
        {"((((a{99}){99}){99}){99}){99}", "too large"},
        {"((((.*){99}){99}){99}){99}", NULL}, /* is .* */
        {"(((a?){100}){100}){100}", "too large"},
        {"(\\p{L}{1000}){1000}", "too large"},
    };
    static const struct {
        const char *head, *name;
    } million[] = {
        {"ab", "1 MB of literals"}, {".", "1 MB of dots"},
        {"a?", "1 MB of optional letters"}, {"(a)", "1 MB of groups"},
        {"|a", "1 MB of choices"}, {"[a]", "1 MB of classes"},
        {"\\p{L}", "1 MB of categories"}, {"a{1000}", "1 MB of counts"},
        {"(?i:k)", "1 MB without case"}, {"^", "1 MB of anchors"},
        {"a*", "1 MB of loops"}, {"(a|b)*", "1 MB of loops of choices"},
    };
    struct buf b;

    buf_init(&b, BUF_FILE);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        buf_clear(&b);
        buf_puts(&b, fixed[i].pattern);
        bounded(&b, fixed[i].pattern, fixed[i].limit);
    }
    nested(&b, REGEX_DEPTH_MAX, "(", "a", ")");
    bounded(&b, "nesting of 400", NULL);
    nested(&b, REGEX_DEPTH_MAX + 1, "(", "a", ")");
    bounded(&b, "nesting of 401", "nested deeper than 400 at offset 400");
    nested(&b, 1 << 20, "(?:", "a", ")");
    bounded(&b, "4 MB of nesting", "nested deeper than 400 at offset 1200");
    nested(&b, 300, "(a|", "b", ")*");
    bounded(&b, "300 loops in one another", NULL);
    for (size_t i = 0; i < sizeof(million) / sizeof(million[0]); i++) {
        int n = (1 << 20) / (int)strlen(million[i].head);

        nested(&b, n, million[i].head, "", "");
        bounded(&b, million[i].name, NULL);
    }
    /* a class of as many ranges as can be written */
    buf_clear(&b);
    buf_puts(&b, "[");
    for (uint32_t cp = 0x20000; cp < 0x40000; cp += 2) {
        char s[4];

        buf_add(&b, s, utf8_encode(cp, s));
    }
    buf_puts(&b, "]");
    bounded(&b, "65,536 ranges", "more than 8192 ranges");
    buf_release(&b);
}

static void test_forms(void)
{
    const struct text of[3] = {{"yes", 3}, {"no", 2}, {"\"\n", 2}};
    struct grammar *g = NULL;
    struct gxs w;
    struct err e;
    int rule;

    gxs_init(&w);
    ok(!form_choice(&rule, &w, of, 3, &e) && !gram_compile(&g, &w, rule, &e),
       "a choice");
    ok(g && matches(g, "no", 2) && matches(g, "\"\n", 2) &&
           !matches(g, "n", 1) && !matches(g, "yesno", 5),
       "is one of them, byte for byte");
    gxs_release(&w);
    gram_unref(g);
    g = NULL;
    gxs_init(&w);
    ok(!form_regex(&rule, &w, (struct text){"^\\d+$", 5}, &e) &&
           !gram_compile(&g, &w, rule, &e),
       "a regular expression");
    ok(g && matches(g, "12", 2) && !matches(g, "1a", 2) && !matches(g, "", 0),
       "matches the whole answer");
    gxs_release(&w);
    gram_unref(g);
    gxs_init(&w);
    is_int(form_regex(&rule, &w, (struct text){"a**", 3}, &e), ST_INVALID,
           "one that is wrong");
    gxs_release(&w);
}

int main(void)
{
    test_refused();
    test_meant();
    test_halves();
    test_oracle(GX_RAW);
    test_oracle(GX_JSON);
    test_limits();
    test_forms();
    return done();
}
