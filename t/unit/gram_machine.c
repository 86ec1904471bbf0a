/*
 * Places in texts: what may come, counters at their bounds, calls in one
 * another up to the last, several readings at once, white space, the end.
 */
#include "t/lib/handgram.h"

#include "gram/machine.h"
#include "t/lib/tap.h"

static const struct grammar *g = &handgram;

/* A @ in the text is mark 2. */
static bool feed(struct gram_place *p, const char *s)
{
    for (; *s; s++) {
        if (*s == '@' ? !gram_mark(g, p, 2) : !gram_bytes(g, p, s, 1))
            return false;
    }
    return true;
}

static bool live(const char *s)
{
    struct gram_place p;

    gram_begin(g, &p);
    return feed(&p, s);
}

static bool whole(const char *s)
{
    struct gram_place p;

    gram_begin(g, &p);
    return feed(&p, s) && gram_ends(g, &p);
}

static void test_texts(void)
{
    ok(whole("[\"a\"]"), "one string");
    ok(whole("[ \"a\" ,[\"b\"],\n\"\"]"), "nested, white space");
    ok(!whole("[\"a\""), "unfinished");
    ok(!live("[]"), "at least one");
    ok(whole("[\"a\",\"b\",\"c\"]"), "three");
    ok(!live("[\"a\",\"b\",\"c\","), "a comma only if a value may follow");
    ok(whole("[\"12345\"]"), "five characters");
    ok(!live("[\"123456"), "not six");
    ok(whole("[\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\x9f\xbf.\"]"),
       "characters are counted, not bytes");
    ok(!live("[\"12345\xc3"), "no half of one too many");
    ok(!live("[\"\xed\xa0"), "no surrogates");
    ok(whole("[\"abcdefgh\"@]"), "a word may be longer, and has a mark");
    ok(whole("[\"abc\"]") && whole("[\"abc\"@]"), "two readings");
    ok(!live("[\"ab\"@"), "the mark only behind a word");
    ok(!live("[\"abcdefgh\"]"), "a long word must have it");
    ok(!live("@") && !live(""  "x"), "dead at once");
}

/* Check 44. */
static void test_half(void)
{
    struct gram_place p;

    gram_begin(g, &p);
    ok(feed(&p, "[\"\xf0\x9f"), "half of a character is live");
    ok(!gram_ends(g, &p), "and the text cannot end there");
    ok(!gram_done(g, &p), "it is not done");
    ok(feed(&p, "\x98\x80\"]") && gram_ends(g, &p), "until it is whole");
}

static void test_space(void)
{
    struct gram_place p;

    gram_begin(g, &p);
    ok(feed(&p, "["), "a bracket");
    for (int i = 0; i < GRAM_SPACE_MAX - 2 * GRAM_SPACE_LINE; i++) {
        if (!feed(&p, i % 2 ? "\t" : " "))
            ok(false, "white space %d", i);
    }
    ok(feed(&p, "\r\n"), "and two line breaks");
    struct gram_place full = p;
    ok(!feed(&p, " "), "white space in a row is bounded");
    p = full;
    ok(!feed(&p, "\n"), "line breaks too");
    gram_begin(g, &p);
    ok(feed(&p, "[\n\n\n\n") && !feed(&p, "\n  "),
       "many are over soon");
    ok(feed(&full, "\"a\" "), "something else begins a new row");
}

static void test_depth(void)
{
    struct gram_place p;
    int depth = 1;

    gram_begin(g, &p);
    while (depth < 200 && feed(&p, "["))
        depth++;
    /* as deep as a string in the last list still fits */
    is_int(depth, GRAM_DEPTH_MAX, "lists in one another are bounded");
    gram_begin(g, &p);
    for (int i = 0; i < GRAM_DEPTH_MAX - 1; i++) {
        if (!feed(&p, "["))
            ok(false, "list %d", i);
    }
    ok(feed(&p, "\"a\""), "the last holds a string");
    for (int i = 0; i < GRAM_DEPTH_MAX - 1; i++) {
        if (!feed(&p, "]"))
            ok(false, "the end of list %d", i);
    }
    ok(gram_ends(g, &p), "and all of them can be closed");
}

static size_t next_of(const char *s, char *out)
{
    uint64_t next[(GRAM_SYMBOLS + 63) / 64];
    struct gram_place p;
    size_t n = 0;

    gram_begin(g, &p);
    if (!feed(&p, s))
        return 0;
    gram_next(g, &p, next);
    for (unsigned i = 0; i < GRAM_SYMBOLS; i++) {
        if (next[i >> 6] >> (i & 63) & 1)
            out[n++] = i > 255 ? '@' : (char)i;
    }
    out[n] = 0;
    return n;
}

static void test_next(void)
{
    char out[GRAM_SYMBOLS + 1];

    next_of("", out);
    is_str(out, "[", "one symbol begins");
    next_of("[", out);
    is_str(out, "\t\n\r \"[", "space, a string, a list");
    next_of("[\"12345", out);
    is_str(out, "\"", "a full string must end");
    next_of("[\"abc\"", out);
    is_str(out, "\t\n\r ,]@", "both readings go on");
    next_of("[\"a\",\"b\",\"c\"", out);
    is_str(out, "\t\n\r ]", "a full list must end");
    next_of("[\"a\"]", out);
    is_str(out, "", "nothing behind the end");
}

static void test_must(void)
{
    struct gram_place p;
    char out[8];

    gram_begin(g, &p);
    is_int(gram_must(g, &p, out, sizeof(out)), 1, "one byte must come");
    ok(out[0] == '[', "the bracket");
    is_int(gram_must(g, &p, out, 0), 0, "no room, no bytes");
    (void)feed(&p, "[\"12345");
    is_int(gram_must(g, &p, out, sizeof(out)), 1, "and the quote");
    (void)feed(&p, "\"");
    is_int(gram_must(g, &p, out, sizeof(out)), 0, "then there is a choice");
    gram_begin(g, &p);
    (void)feed(&p, "[\"abcdef\"");
    is_int(gram_must(g, &p, out, sizeof(out)), 0, "a mark is no byte");
    (void)feed(&p, "@]");
    is_int(gram_must(g, &p, out, sizeof(out)), 0, "nothing behind the end");
    ok(gram_done(g, &p), "the text is complete");
}

static void test_copy(void)
{
    struct gram_place p, q;

    gram_begin(g, &p);
    (void)feed(&p, "[\"abc");
    is_int(p.n_ways, 2, "two readings");
    q = p;
    ok(!feed(&p, "]\"") || true, "one goes on");
    ok(feed(&q, "d\"") && q.n_ways == 2, "a copy goes its own way");
    ok(!gram_bytes(g, &p, "\xff", 1) && p.n_ways == 0, "a dead place");
    ok(!gram_bytes(g, &p, "a", 1) && !gram_mark(g, &p, 2) &&
           !gram_ends(g, &p) && !gram_done(g, &p),
       "stays dead");
    gram_begin(g, &p);
    ok(!gram_mark(g, &p, -1), "no such mark");
    gram_begin(g, &p);
    ok(!gram_mark(g, &p, GX_MARKS), "nor such");
    ok(sizeof(struct gram_place) <= 4096, "a place is small");
}

/* Both as one place. */
static struct gram_place join(const struct gram_place *a,
                              const struct gram_place *b)
{
    struct gram_place p = *a;

    p.depth[1] = b->depth[0];
    p.space[1] = b->space[0];
    memcpy(p.frames + a->n_frames, b->frames,
           b->n_frames * sizeof(*b->frames));
    p.n_frames = (uint16_t)(a->n_frames + b->n_frames);
    p.n_ways = 2;
    return p;
}

/* Two readings are one only when nothing that matters differs. */
static void test_same(void)
{
    struct gram_place a, b, p;

    gram_begin(g, &a);
    ok(feed(&a, "[\"1234"), "four characters");
    gram_begin(g, &b);
    ok(feed(&b, "[\"12"), "two characters");
    p = join(&a, &b);
    ok(feed(&p, "x") && p.n_ways == 2, "two counters are two readings");
    ok(feed(&p, "x") && p.n_ways == 1, "of which one is at its bound");
    p = join(&b, &b);
    ok(feed(&p, "x") && p.n_ways == 1, "the same counters are one");
    gram_begin(g, &a);
    b = a;
    ok(feed(&a, "[\"a\",\"b\",\"c") && feed(&b, "[\"a\",\"c"), "outer counters");
    p = join(&b, &a);
    ok(feed(&p, "d") && p.n_ways == 2, "two of them are two readings");
    ok(feed(&p, "\",") && p.n_ways == 1, "of which one is at its bound");
    gram_begin(g, &a);
    ok(feed(&a, "["), "white space");
    b = a;
    a.space[0] = GRAM_SPACE_MAX - 1;
    p = join(&a, &b);
    ok(feed(&p, " ") && p.n_ways == 2, "more and less of it are two");
    ok(feed(&p, " ") && p.n_ways == 1, "of which one is at its bound");
}

int main(void)
{
    test_texts();
    test_half();
    test_space();
    test_depth();
    test_next();
    test_must();
    test_copy();
    test_same();
    return done();
}
