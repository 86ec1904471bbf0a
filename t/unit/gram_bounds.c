/*
 * Bounds of the machine, each over a grammar made for it: white space through
 * calls, calls that take their caller's place, counters without an upper
 * bound, ends that only white space follows, many calls at once; and masks of
 * plain text where a counter, another reading or too few calls cut it short,
 * against walking every id.
 */
#include "gram/machine.h"
#include "t/lib/maskcheck.h"
#include "t/lib/tap.h"

#include <string.h>

static struct gxs w;

static const struct gx *seq(const struct gx *a, const struct gx *b,
                            const struct gx *c)
{
    return gx_seqn(&w, (const struct gx *const[]){a, b, c}, 3);
}

static int rule(const struct gx *x, uint32_t min, uint32_t max)
{
    int r = gx_rule(&w);

    gx_rule_set(&w, r, x, min, max);
    return r;
}

static const struct gx *lit(const char *s)
{
    return gx_lit(&w, s);
}

static const struct gx *call(int r)
{
    return gx_call(&w, r, false);
}

/* Text of JSON, its characters counted. */
static const struct gx *text(void)
{
    return gx_counted(&w, gx_any_text(&w, GX_JSON), GX_JSON);
}

static struct grammar *compile(const struct gx *x)
{
    struct grammar *g;
    struct err e = {0};

    if (gram_compile(&g, &w, rule(x, 0, GX_MANY), &e)) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
    gxs_release(&w);
    gxs_init(&w);
    return g;
}

static size_t feed(const struct grammar *g, struct gram_place *p,
                   const char *s, size_t times)
{
    for (size_t i = 0; i < times; i++)
        if (!gram_bytes(g, p, s, strlen(s)))
            return i;
    return times;
}

static void test_space(void)
{
    struct grammar *g;
    struct gram_place p;

    g = compile(gx_seq(&w, gx_space(&w),
                       call(rule(seq(gx_space(&w), lit("x"), gx_space(&w)), 0,
                                 GX_MANY))));
    gram_begin(g, &p);
    is_int(feed(g, &p, " ", 200), GRAM_SPACE_MAX,
           "white space in a row goes on in what is called");
    gram_begin(g, &p);
    is_int(feed(g, &p, " ", GRAM_SPACE_MAX), GRAM_SPACE_MAX, "up to there");
    ok(gram_bytes(g, &p, "x", 1) && gram_done(g, &p), "and something else");
    gram_unref(g);
}

static void test_tail(void)
{
    struct grammar *g;
    struct gram_place p;
    int r = gx_rule(&w);

    gx_rule_set(&w, r, gx_alt(&w, gx_seq(&w, lit("a"), call(r)), lit("b")), 0,
                GX_MANY);
    g = compile(call(r));
    gram_begin(g, &p);
    is_int(feed(g, &p, "a", 1000), 1000, "a last call takes its caller's place");
    ok(gram_bytes(g, &p, "b", 1) && gram_done(g, &p), "and ends it");
    gram_unref(g);
}

static void test_many(void)
{
    struct grammar *g;
    struct gram_place p, three;

    g = compile(seq(lit("<"), call(rule(seq(text(), lit("\""), gx_empty(&w)), 3,
                                        GX_MANY)), lit(">")));
    gram_begin(g, &p);
    ok(gram_bytes(g, &p, "<ab", 3), "two");
    three = p;
    ok(!gram_bytes(g, &three, "\"", 1), "are not enough");
    ok(gram_bytes(g, &p, "c", 1), "three");
    three = p;
    ok(feed(g, &p, "d", 50) == 50 && p.n_frames == three.n_frames &&
           !memcmp(p.frames, three.frames, p.n_frames * sizeof(*p.frames)),
       "and more are the same");
    ok(gram_bytes(g, &p, "\">", 2) && gram_done(g, &p), "and enough");
    gram_unref(g);
}

/* No closing symbol tells the rule's end. */
static void test_open(void)
{
    struct grammar *g;
    struct gram_place p;

    g = compile(gx_seq(&w, call(rule(text(), 3, 5)), lit("\"")));
    for (int n = 0; n < 8; n++) {
        gram_begin(g, &p);
        is_int(gram_bytes(g, &p, "abcdefgh", (size_t)n) &&
                   gram_bytes(g, &p, "\"", 1),
               n >= 3 && n <= 5, "%d of 3 to 5", n);
    }
    gram_unref(g);
}

static void test_done(void)
{
    struct grammar *g;
    struct gram_place p;

    g = compile(gx_seq(&w, lit("a"),
                       gx_alt(&w, gx_space(&w),
                              call(rule(lit(" b"), 0, GX_MANY)))));
    gram_begin(g, &p);
    ok(gram_bytes(g, &p, "a", 1) && gram_ends(g, &p), "it may end");
    ok(!gram_done(g, &p), "a space may be more than white space");
    ok(gram_bytes(g, &p, "  ", 2) && gram_done(g, &p), "two are not");
    gram_unref(g);
}

/* All bytes, each behind so many calls that the scratch of one symbol would not
 * hold those of all. */
static void test_calls(void)
{
    uint64_t next[(GRAM_SYMBOLS + 63) / 64];
    struct grammar *g;
    struct gram_place p;
    int r = rule(gx_range(&w, 0, 255), 0, GX_MANY), bits = 0;

    for (int i = 0; i < 60; i++)
        r = rule(gx_seq(&w, call(r), lit("x")), 0, GX_MANY);
    g = compile(call(r));
    gram_begin(g, &p);
    gram_next(g, &p, next);
    for (unsigned c = 0; c < GRAM_SYMBOLS; c++)
        bits += next[c / 64] >> c % 64 & 1;
    is_int(bits, 256, "all bytes begin sixty calls");
    ok(!gram_done(g, &p) && gram_bytes(g, &p, "q", 1) && p.n_frames == 61,
       "each of them");
    gram_unref(g);
}

/* --- masks of plain text -------------------------------------------------- */

#define IDS 120

static struct {
    char bytes[IDS][64];
    struct span pieces[IDS];
    struct gram_vocab *vocab;
    struct maskcheck check;
    struct maskcheck_sum sum;
} m;

static void add(const char *s, size_t n)
{
    memcpy(m.bytes[m.check.n], s, n);
    m.pieces[m.check.n] = (struct span){m.bytes[m.check.n], n};
    m.check.n++;
}

/* Plain runs of 1 to 50 characters; few others. */
static bool begin_masks(void)
{
    static const char *const rough[] = {"\"", "\\n", "\"2", "\"1", "(", "=",
                                        ";", ")", "\"1;", "1", "2", " ",
                                        ",", "z", ", ", "\n\n\n\n\n,\n",
                                        "\n\n\n\n\n,\n\n\n\n\n\n", "\x7f",
                                        "a\x7f"};

    m.check = (struct maskcheck){.random = 3, .pieces = m.pieces};
    for (size_t n = 1; n <= 50; n++)
        add("aaaaaaaaaabbbbbbbbbbaaaaaaaaaabbbbbbbbbbaaaaaaaaaaa", n);
    add("b", 1);
    add("                                                        ", 50);
    for (size_t i = 0; i < sizeof(rough) / sizeof(*rough); i++)
        add(rough[i], strlen(rough[i]));
    if (gram_vocab_new(&m.vocab, m.pieces, m.check.n, NULL))
        return false;
    m.check.vocab = m.vocab;
    m.check.pool = gram_pool_new(m.vocab);
    return m.check.pool;
}

/* Masks behind 0 to 60 more characters, in either order: what was kept for one
 * must not be taken for another. */
static void lengths(struct grammar *g, const char *head, size_t times,
                    const char *of, size_t want, const char *what)
{
    struct gram_place places[61];
    uint32_t mask[(IDS + 31) / 32];
    size_t n = 0, wrong = m.sum.wrong;
    struct gram_place p;

    gram_begin(g, &p);
    ok(feed(g, &p, head, times) == times, "%s: as deep", what);
    ok(gram_bytes(g, &p, of, strlen(of)), "and inside");
    do
        places[n++] = p;
    while (n < 61 && gram_bytes(g, &p, "a", 1));
    is_int(n, want, "%s: as far as it can be finished", what);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++)
            maskcheck_place(&m.check, g, &places[pass ? n - 1 - i : i], mask,
                            &m.sum);
        (void)gram_pool_shrink(m.check.pool, SIZE_MAX);
    }
    ok(m.sum.wrong == wrong && m.sum.empty == 0,
       "%s: masks of %zu lengths are what walking says", what, n);
    gram_unref(g);
}

static void test_plain(void)
{
    const struct gx *thirty;
    int r, inner;

    lengths(compile(seq(lit("("), call(rule(seq(text(), lit("\""),
                                                gx_empty(&w)), 0, 45)),
                        lit(")"))), "", 0, "(", 46, "at most 45");
    lengths(compile(seq(lit("("), call(rule(seq(text(), lit("\""),
                                                gx_empty(&w)), 50, 55)),
                        lit(")"))), "", 0, "(", 56, "50 to 55");
    thirty = gx_counted(&w, gx_repeat(&w, gx_range(&w, 'a', 'a'), 30, 30),
                        GX_RAW);
    lengths(compile(seq(lit("("), call(rule(seq(text(), lit("\""),
                                                seq(thirty, lit("2"),
                                                    gx_empty(&w))), 0, 40)),
                        lit(")"))), "", 0, "(", 11, "30 to come");
    lengths(compile(seq(lit("("), call(rule(gx_seq(
                                                &w, text(),
                                                call(rule(seq(lit("b"),
                                                              gx_any_text(
                                                                  &w, GX_JSON),
                                                              lit("\"")), 0,
                                                          GX_MANY))), 0, 25)),
                        lit(")"))), "", 0, "(", 26, "or read in another way");
    /* where the short end is a call too many, 30 must be left for the other */
    thirty = gx_counted(&w, gx_repeat(&w, gx_range(&w, 'a', 'a'), 30, 30),
                        GX_RAW);
    inner = rule(lit("1"), 0, GX_MANY);
    inner = rule(seq(text(), lit("\""), gx_alt(&w, call(inner),
                                               gx_seq(&w, thirty, lit("2")))),
                 0, 40);
    r = gx_rule(&w);
    gx_rule_set(&w, r, gx_alt(&w, seq(lit("("), call(r), lit(")")),
                              seq(lit("="), call(inner), lit(";"))), 0,
                GX_MANY);
    lengths(compile(call(r)), "(", GRAM_DEPTH_MAX - 2, "=", 11, "few calls left");
}

/* Ends that are the longer, the fewer calls they take. */
static void test_levels(uint32_t room, size_t want, const char *what)
{
    const struct gx *a = gx_range(&w, 'a', 'a'), *ends[3];
    int h = rule(lit("z"), 0, GX_MANY), r;

    ends[2] = gx_seq(&w, gx_counted(&w, gx_repeat(&w, a, 30, 30), GX_RAW),
                     lit("2"));
    h = rule(seq(lit("a"), call(h), lit("a")), 0, GX_MANY);
    ends[1] = gx_seq(&w, gx_counted(&w, gx_repeat(&w, a, 10, 10), GX_RAW),
                     call(h));
    for (int i = 0; i < 3; i++)
        h = rule(seq(lit("="), call(h), lit("=")), 0, GX_MANY);
    ends[0] = call(h);
    h = rule(seq(text(), lit("\""), gx_altn(&w, ends, 3)), 0, 40);
    r = gx_rule(&w);
    gx_rule_set(&w, r, gx_alt(&w, seq(lit("("), call(r), lit(")")),
                              seq(lit("="), call(h), lit(";"))), 0, GX_MANY);
    lengths(compile(call(r)), "(", GRAM_DEPTH_MAX - 2 - room, "=", want, what);
}

static void test_quick(void)
{
    const struct gx *behind = gx_seq(&w, gx_space(&w), lit("z"));
    int h;

    lengths(compile(seq(lit("("), seq(gx_space(&w), lit(","), behind),
                        gx_empty(&w))), "", 0, "(", 1, "white space anew");
    h = rule(lit("z"), 0, GX_MANY);
    lengths(compile(seq(lit("("), seq(gx_space(&w), lit(","), gx_space(&w)),
                        call(h))), "", 0, "(", 1, "before a call");
}

/* In so many brackets, a branch of `nest` more calls. */
static void test_branch(uint32_t open, int nest, const char *what)
{
    int h = rule(lit("z"), 0, GX_MANY), r;

    for (int i = 1; i < nest; i++)
        h = rule(seq(lit("a"), call(h), lit("a")), 0, GX_MANY);
    h = rule(seq(lit("a"), gx_alt(&w, lit("1"), seq(lit("2"), call(h),
                                                    lit("2"))), lit("\"")), 0,
             GX_MANY);
    r = gx_rule(&w);
    gx_rule_set(&w, r, gx_alt(&w, seq(lit("("), call(r), lit(")")),
                              seq(lit("="), call(h), lit(";"))), 0, GX_MANY);
    lengths(compile(call(r)), "(", open, "=a", 1, what);
}

/* Plain text of JSON but for some characters. */
static const struct gx *without(uint32_t lo, uint32_t hi)
{
    static const uint32_t of[][2] = {{' ', '!'}, {'#', '['}, {']', 0xd7ff},
                                     {0xe000, 0x10ffff}};
    struct charset c;

    charset_init(&c, &w.arena);
    for (size_t i = 0; i < 4; i++) {
        if (of[i][0] <= lo && hi <= of[i][1]) {
            if (of[i][0] < lo)
                charset_add(&c, of[i][0], lo - 1);
            charset_add(&c, hi + 1, of[i][1]);
        } else {
            charset_add(&c, of[i][0], of[i][1]);
        }
    }
    return gx_chars(&w, &c, GX_RAW);
}

static struct grammar *quoted(const struct gx *chars)
{
    return compile(seq(lit("("), gx_star(&w, chars), lit("\"")));
}

/* Almost any plain text: what makes it not quite plain. */
static void test_almost(void)
{
    const struct gx *no_b = gx_star(&w, without('b', 'b'));
    const struct gx *with_b = seq(no_b, lit("b"),
                                  gx_star(&w, without('"', '"')));
    const struct gx *a;
    struct grammar *all, *some;
    int h, r;

    a = gx_counted(&w, gx_star(&w, gx_range(&w, 'a', 'a')), GX_RAW);
    h = rule(gx_alt(&w, seq(no_b, lit("\""), gx_seq(&w, a, lit(";"))),
                    seq(with_b, lit("\""), lit(";"))), 3, GX_MANY);
    lengths(compile(seq(lit("("), call(h), lit(")"))), "", 0, "(a", 61,
            "a branch without enough");
    no_b = gx_star(&w, without('b', 'b'));
    with_b = seq(no_b, lit("b"), gx_star(&w, without('"', '"')));
    h = rule(lit("z"), 0, GX_MANY);
    for (int i = 0; i < 9; i++)
        h = rule(seq(lit("a"), call(h), lit("a")), 0, GX_MANY);
    h = rule(gx_alt(&w, gx_seq(&w, no_b, lit("\"")),
                    seq(with_b, lit("\""), call(h))), 0, GX_MANY);
    r = gx_rule(&w);
    gx_rule_set(&w, r, gx_alt(&w, seq(lit("("), call(r), lit(")")),
                              seq(lit("="), call(h), lit(";"))), 0, GX_MANY);
    lengths(compile(call(r)), "(", GRAM_DEPTH_MAX - 2, "=a", 61,
            "one that nests too deep");
    lengths(quoted(gx_seq(&w, gx_space(&w), without(' ', ' '))), "", 0,
            "(                                                            ",
            61, "white space that is bounded");
    lengths(quoted(without(0x7f, 0x7f)), "", 0, "(", 61, "no delete");
    all = quoted(without('"', '"'));
    some = quoted(without('b', 'b'));
    some->id = all->id + 1024;
    lengths(all, "", 0, "(", 61, "another grammar");
    lengths(some, "", 0, "(", 61, "has the same states and other edges");
}

/* Two ways in one rule, whose counters have a lower bound. */
static void test_twins(void)
{
    int t = rule(gx_seq(&w, text(), lit("\"")), 3, 6);
    int x = rule(seq(lit("("), call(t), lit(")")), 0, GX_MANY);
    int y = rule(seq(lit("("), call(t), lit("1")), 0, GX_MANY);
    struct grammar *g = compile(gx_alt(&w, call(x), call(y)));
    size_t wrong = m.sum.wrong;
    uint32_t mask[(IDS + 31) / 32];
    struct gram_place p;

    gram_begin(g, &p);
    if (!ok(gram_bytes(g, &p, "(a", 2) && p.n_ways == 2, "two ways"))
        return;
    for (uint32_t i = 0; i < 98; i++) {
        uint32_t k = i < 49 ? i : 97 - i;
        if (i == 49)
            (void)gram_pool_shrink(m.check.pool, SIZE_MAX);
        p.frames[p.depth[0] - 1].count = k / 7;
        p.frames[p.n_frames - 1].count = k % 7;
        maskcheck_place(&m.check, g, &p, mask, &m.sum);
    }
    is_int(m.sum.wrong - wrong, 0, "their masks, whatever was kept before");
    gram_unref(g);
}

int main(void)
{
    gxs_init(&w);
    test_space();
    test_tail();
    test_many();
    test_open();
    test_done();
    test_calls();
    if (ok(begin_masks(), "a vocabulary")) {
        test_plain();
        test_quick();
        test_levels(0, 11, "no call left");
        test_levels(1, 11, "one");
        test_levels(2, 31, "two");
        test_levels(4, 31, "four");
        test_levels(5, 41, "five");
        test_branch(GRAM_DEPTH_MAX - 2, 10, "a branch that nests too deep");
        test_branch(GRAM_DEPTH_MAX / 2 - 8, GRAM_DEPTH_MAX / 2 + 8,
                    "one much too deep");
        test_branch(GRAM_DEPTH_MAX / 2 - 8, GRAM_DEPTH_MAX / 2 + 6,
                    "one that just fits");
        test_almost();
        test_twins();
    }
    gram_pool_free(m.check.pool);
    gram_vocab_free(m.vocab);
    gxs_release(&w);
    return done();
}
