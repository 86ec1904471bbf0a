/*
 * Expressions by hand: what they match, what is refused and in which words,
 * and that no expression takes more than its budgets. Expected: the meaning of
 * regular expressions; RFC 8259 section 7 for characters of JSON strings.
 */
#include "gram/grammar.h"
#include "t/lib/gramwalk.h"
#include "t/lib/tap.h"

#include <stdlib.h>
#include <time.h>

static struct gxs w;
static struct err e;

/* The grammar of one rule. NULL: refused, see e. */
static struct grammar *compile(const struct gx *x, uint32_t min, uint32_t max)
{
    struct grammar *g = NULL;
    int rule = gx_rule(&w);

    memset(&e, 0, sizeof(e));
    gx_rule_set(&w, rule, x, min, max);
    (void)!gram_compile(&g, &w, rule, &e);
    return g;
}

static bool has(const struct grammar *g, const char *s)
{
    return g && walk_bytes(g, s, strlen(s));
}

/* Ends what compile began. */
static void over(struct grammar *g)
{
    gram_unref(g);
    gxs_release(&w);
    gxs_init(&w);
}

#define SEQ(...)                                                               \
    gx_seqn(&w, (const struct gx *const[]){__VA_ARGS__},                       \
            sizeof((const struct gx *const[]){__VA_ARGS__}) /                  \
                sizeof(const struct gx *))
#define ALT(...)                                                               \
    gx_altn(&w, (const struct gx *const[]){__VA_ARGS__},                       \
            sizeof((const struct gx *const[]){__VA_ARGS__}) /                  \
                sizeof(const struct gx *))
#define LIT(s) gx_lit(&w, s)
#define RANGE(a, b) gx_range(&w, (uint8_t)(a), (uint8_t)(b))

static void plain(void)
{
    struct grammar *g;

    g = compile(SEQ(LIT("a"), gx_empty(&w), ALT(LIT("b"), gx_none(&w))), 0,
                GX_MANY);
    ok(has(g, "ab") && !has(g, "a") && !has(g, "abb"), "lists");
    is_int(g->n_states, 3, "and what says nothing leaves no trace");
    ok(!g->empty, "no empty text");
    over(g);

    g = compile(ALT(LIT("abcx"), LIT("defx"), LIT("defy")), 0, GX_MANY);
    is_int(g->n_states, 8, "states that do the same are one");
    over(g);
    g = compile(ALT(LIT("abcx"), LIT("defx")), 0, GX_MANY);
    is_int(g->n_states, 7, "from the end to the front");
    over(g);

    g = compile(gx_repeat(&w, LIT("ab"), 2, 3), 0, GX_MANY);
    ok(!has(g, "ab") && has(g, "abab") && has(g, "ababab") &&
           !has(g, "abababab"),
       "two or three times");
    over(g);

    g = compile(gx_repeat(&w, gx_opt(&w, LIT("a")), 2, GX_MANY), 0, GX_MANY);
    ok(g->empty && has(g, "") && has(g, "aaaa"), "an empty text matches");
    over(g);

    g = compile(gx_none(&w), 0, GX_MANY);
    ok(!g && e.st == ST_INVALID && strstr(e.text, "no text"),
       "nothing matches: %s", e.text);
    over(g);

    g = compile(SEQ(gx_mark(&w, 0), gx_space(&w), gx_mark(&w, 31)), 0, GX_MANY);
    ok(g && walk_text(g, (uint16_t[]){256, ' ', '\n', 287}, 4, true) &&
           !walk_text(g, (uint16_t[]){256, ' ', 286}, 3, true),
       "marks and white space");
    over(g);
    gx_mark(&w, GX_MARKS);
    g = compile(LIT("a"), 0, GX_MANY);
    ok(!g && e.st == ST_LIMIT && strstr(e.text, "32 control tokens"), "%s",
       e.text);
    over(g);
}

/* Flags of the edge for a symbol from the start. */
static uint32_t flags(const struct grammar *g, unsigned symbol)
{
    const struct gram_state *s = &g->states[g->rules[g->root].start];

    for (size_t k = 0; k < s->n_edges; k++) {
        const struct gram_edge *edge = &g->edges[s->edges + k];

        if (symbol >= edge->lo && symbol <= edge->hi)
            return edge->to & ~GRAM_STATE;
    }
    return ~0u;
}

static void flagged(void)
{
    struct grammar *g;

    g = compile(SEQ(gx_space(&w), ALT(LIT("a"), LIT("\t"))), 0, GX_MANY);
    is_int(flags(g, ' '), GRAM_SPACE, "white space says so");
    is_int(flags(g, 'a'), 0, "other symbols do not");
    is_int(flags(g, '\t'), 0, "nor what may be white space or a text's own");
    over(g);

    g = compile(gx_counted(&w, gx_star(&w, RANGE('a', 'z')), GX_RAW), 0, 9);
    is_int(flags(g, 'a'), GRAM_COUNTS, "what counts says so");
    over(g);

    g = compile(ALT(gx_counted(&w, LIT("ab"), GX_RAW), LIT("ac")), 0, 1);
    ok(!g && e.st == ST_INTERNAL, "one symbol cannot do both: %s", e.text);
    over(g);
}

static void parts(void)
{
    const struct gx *ab = gx_star(&w, RANGE('a', 'b')), *x;
    struct grammar *g;

    g = compile(gx_both(&w, SEQ(LIT("a"), ab), SEQ(ab, LIT("b"))), 0, GX_MANY);
    ok(has(g, "ab") && has(g, "aabb") && !has(g, "ba") && !has(g, "a"),
       "what both match");
    over(g);

    ab = gx_star(&w, RANGE('a', 'b'));
    g = compile(gx_minus(&w, ab, ALT(LIT("ab"), LIT("b"), gx_empty(&w))), 0,
                GX_MANY);
    ok(has(g, "a") && has(g, "abb") && has(g, "aa") && !has(g, "ab") &&
           !has(g, "b") && !has(g, ""),
       "what one matches and the other does not");
    over(g);

    ab = gx_star(&w, RANGE('a', 'b'));
    x = SEQ(ab, ALT(SEQ(gx_begin(&w), LIT("ba")), SEQ(LIT("ab"), gx_end(&w))),
            ab);
    g = compile(SEQ(LIT("<"), gx_whole(&w, x), LIT(">")), 0, GX_MANY);
    ok(has(g, "<baa>") && has(g, "<bab>") && has(g, "<ab>") &&
           has(g, "<aab>") && !has(g, "<aba>") && !has(g, "<aa>"),
       "anchors hold at the ends of their whole");
    over(g);

    g = compile(gx_whole(&w, SEQ(gx_begin(&w), gx_end(&w), gx_begin(&w))), 0,
                GX_MANY);
    ok(g && g->empty && !has(g, "a"), "both ends of no text");
    over(g);

    g = compile(gx_whole(&w, SEQ(LIT("a"), gx_begin(&w))), 0, GX_MANY);
    ok(!g && e.st == ST_INVALID, "a beginning behind something");
    over(g);

    g = compile(SEQ(LIT("a"), gx_end(&w)), 0, GX_MANY);
    ok(!g && e.st == ST_INTERNAL, "an anchor without a whole: %s", e.text);
    over(g);

    g = compile(gx_both(&w, LIT("a"), gx_space(&w)), 0, GX_MANY);
    ok(!g && e.st == ST_INTERNAL, "white space in a part: %s", e.text);
    over(g);

    g = compile(gx_both(&w, LIT("a"), LIT("b")), 0, GX_MANY);
    ok(!g && e.st == ST_INVALID, "two that have nothing in common");
    over(g);
}

/* --- counters ------------------------------------------------------------- */

/* Characters of JSON strings as they may be written. */
static const struct gx *json_char(void)
{
    const struct gx *hex =
        ALT(RANGE('0', '9'), RANGE('a', 'f'), RANGE('A', 'F'));
    const struct gx *d = ALT(LIT("d"), LIT("D"));
    const struct gx *high =
        SEQ(LIT("\\u"), d, ALT(RANGE('8', '9'), RANGE('a', 'b')), hex, hex);
    const struct gx *low =
        SEQ(LIT("\\u"), d, ALT(RANGE('c', 'f'), RANGE('C', 'F')), hex, hex);
    const struct gx *one =
        SEQ(LIT("\\u"), ALT(RANGE('0', '9'), RANGE('a', 'c'), RANGE('e', 'f')),
            hex, hex, hex);
    const struct gx *cont = RANGE(0x80, 0xbf);

    return ALT(RANGE(' ', '!'), RANGE('#', '['), RANGE(']', 0x7f),
               SEQ(RANGE(0xc2, 0xdf), cont), SEQ(RANGE(0xe1, 0xec), cont, cont),
               SEQ(RANGE(0xf1, 0xf3), cont, cont, cont), LIT("\\n"),
               LIT("\\\""), LIT("\\\\"), one, SEQ(high, low));
}

static void counted(void)
{
    const struct gx *text = gx_counted(&w, gx_star(&w, json_char()), GX_JSON);
    struct grammar *g;

    g = compile(SEQ(LIT("\""), text, LIT("\"")), 2, 3);
    ok(g && g->rules[0].counted && g->rules[0].min == 2 && g->rules[0].max == 3,
       "a counter");
    ok(!has(g, "\"a\"") && has(g, "\"ab\"") && has(g, "\"abc\"") &&
           !has(g, "\"abcd\""),
       "counts letters");
    ok(has(g, "\"\xc3\xa9\xe4\xb8\xad\"") && !has(g, "\"\xc3\xa9\"") &&
           has(g, "\"\xf1\x9f\x98\x80zz\"") && !has(g, "\"\xf1\x9f\x98\x80\""),
       "and characters of several bytes");
    ok(has(g, "\"\\n\\\"\"") && !has(g, "\"\\n\"") && has(g, "\"\\u00e9x\"") &&
           !has(g, "\"\\u00e9\""),
       "and escapes");
    ok(!has(g, "\"\\ud83d\\ude00\"") && has(g, "\"\\ud83d\\ude00x\"") &&
           has(g, "\"\\uD83D\\uDE00\\uD83D\\uDE00\\uD83D\\uDE00\"") &&
           !has(g, "\"\\uD83D\\uDE00\\uD83D\\uDE00\\uD83D\\uDE00x\""),
       "and pairs of surrogates as one");
    over(g);

    text = gx_counted(&w, gx_star(&w, RANGE('a', 'z')), GX_RAW);
    g = compile(text, 5, 100000);
    ok(g && g->n_states < 10 && g->rules[0].max == 100000,
       "a large bound needs %zu states", g->n_states);
    over(g);

    text = gx_counted(&w, gx_repeat(&w, RANGE('a', 'z'), 3, 5), GX_RAW);
    g = compile(text, 2, 6);
    ok(g && !g->rules[0].counted, "bounds that hold anyhow need no counter");
    over(g);

    text = gx_counted(&w, gx_repeat(&w, RANGE('a', 'z'), 3, 5), GX_RAW);
    g = compile(text, 6, 7);
    ok(!g && e.st == ST_INVALID, "bounds that nothing fits: %s", e.text);
    over(g);

    text = gx_counted(&w, gx_star(&w, LIT("abc")), GX_RAW);
    g = compile(text, 4, 10);
    ok(has(g, "abcabc") && has(g, "abcabcabc") && !has(g, "abc") &&
           !has(g, "abcabcabcabc"),
       "lengths with gaps");
    over(g);

    text = gx_counted(&w, gx_star(&w, LIT("abc")), GX_RAW);
    g = compile(text, 0, 1000000);
    ok(g && g->rules[0].counted && g->n_states < 5,
       "gaps do not matter to one bound");
    over(g);

    text = gx_counted(&w, gx_star(&w, LIT("abc")), GX_RAW);
    g = compile(text, 4, 1000000);
    ok(has(g, "abcabc") && !has(g, "abc") && g->n_states < 20,
       "nor to a small and a large one");
    over(g);

    text = gx_counted(&w, gx_star(&w, LIT("abc")), GX_RAW);
    g = compile(text, 40000, 1000000);
    ok(!g && e.st == ST_UNSUPPORTED && strstr(e.text, "40000 to 1000000"), "%s",
       e.text);
    over(g);

    text = gx_counted(&w, gx_star(&w, LIT("\xc3")), GX_RAW);
    g = compile(text, 1, 2);
    ok(!g && e.st == ST_INTERNAL, "half a character: %s", e.text);
    over(g);
}

/* --- rules ---------------------------------------------------------------- */

/* [ item , item ... ] */
static const struct gx *array_of(int item, bool counts)
{
    const struct gx *x = gx_call(&w, item, counts);
    const struct gx *rest = gx_star(&w, SEQ(LIT(","), x));

    return SEQ(LIT("["), gx_opt(&w, SEQ(x, rest)), LIT("]"));
}

static void nested(void)
{
    int value = gx_rule(&w), array = gx_rule(&w), deep = gx_rule(&w);
    struct grammar *g;
    struct err bad = {0};
    char brackets[GRAM_DEPTH_MAX + 8];

    gx_rule_set(&w, array, array_of(value, true), 1, 3);
    gx_rule_set(&w, value, ALT(LIT("1"), gx_call(&w, array, false)), 0,
                GX_MANY);
    gx_rule_set(&w, deep, SEQ(LIT("("), gx_call(&w, deep, false)), 0, GX_MANY);
    ok(!gram_compile(&g, &w, value, &bad), "arrays of one to three");
    ok(has(g, "[1]") && has(g, "[1,[1,1],1]") && !has(g, "[]") &&
           !has(g, "[1,1,1,1]") && !has(g, "[1,[]]"),
       "nest");
    is_int(g->n_rules, 2, "a rule that nobody calls is not in it");
    is_int(g->rules[g->root].height, 1, "a value needs no call");
    is_int(g->rules[!g->root].height, 2, "an array needs one");
    memset(brackets, '[', sizeof(brackets));
    brackets[10] = 0;
    over(g);

    value = gx_rule(&w);
    deep = gx_rule(&w);
    gx_rule_set(&w, deep, SEQ(LIT("("), gx_call(&w, deep, false)), 0, GX_MANY);
    gx_rule_set(&w, value, ALT(LIT("1"), SEQ(LIT("2"), gx_call(&w, deep, 0))),
                0, GX_MANY);
    ok(!gram_compile(&g, &w, value, &bad) && has(g, "1") && g->n_rules == 1 &&
           g->n_states == 2,
       "what never ends is cut off");
    gram_unref(g);
    ok(gram_compile(&g, &w, deep, &bad) == ST_INVALID && !g, "alone: %s",
       bad.text);
    over(NULL);

    value = gx_rule(&w);
    array = gx_rule(&w);
    gx_rule_set(&w, array, SEQ(gx_call(&w, value, false), LIT("+")), 0,
                GX_MANY);
    gx_rule_set(&w, value, ALT(LIT("1"), gx_call(&w, array, false)), 0,
                GX_MANY);
    ok(gram_compile(&g, &w, value, &bad) == ST_INVALID &&
           strstr(bad.text, "recursion without"),
       "%s", bad.text);
    over(NULL);

    value = gx_rule(&w);
    array = gx_rule(&w);
    gx_rule_set(&w, array, gx_opt(&w, LIT("x")), 0, GX_MANY);
    gx_rule_set(&w, value, gx_call(&w, array, false), 0, GX_MANY);
    ok(gram_compile(&g, &w, value, &bad) == ST_INTERNAL, "%s", bad.text);
    over(NULL);

    value = gx_rule(&w);
    array = gx_rule(&w);
    gx_rule_set(&w, value, gx_call(&w, array, false), 0, GX_MANY);
    ok(gram_compile(&g, &w, value, &bad) == ST_INTERNAL, "%s", bad.text);
    over(NULL);
}

/* A chain of rules, each in brackets around the next. */
static void deep(void)
{
    for (int n = GRAM_DEPTH_MAX; n <= GRAM_DEPTH_MAX + 1; n++) {
        struct grammar *g = NULL;
        int first = gx_rule(&w);

        for (int i = 1; i < n; i++)
            gx_rule_set(
                &w, first + i - 1,
                SEQ(LIT("["), gx_call(&w, gx_rule(&w), false), LIT("]")), 0,
                GX_MANY);
        gx_rule_set(&w, first + n - 1, LIT("1"), 0, GX_MANY);
        (void)!gram_compile(&g, &w, first, &e);
        if (n == GRAM_DEPTH_MAX)
            ok(g && g->rules[0].height == GRAM_DEPTH_MAX, "nested %d deep", n);
        else
            ok(!g && e.st == ST_INVALID, "nested %d deep: %s", n, e.text);
        over(g);
    }
}

/* --- hostile ones --------------------------------------------------------- */

static uint64_t seed = 1;

static uint32_t any(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % n;
}

static const struct gx *exponential(void)
{
    const struct gx *ab = RANGE('a', 'b');

    return SEQ(gx_star(&w, ab), LIT("a"), gx_repeat(&w, ab, 30, 30));
}

static const struct gx *towers(void)
{
    const struct gx *x = gx_opt(&w, LIT("a"));

    for (int i = 0; i < 12; i++)
        x = gx_repeat(&w, x, 1000, 1000);
    return x;
}

static const struct gx *ambiguous(void)
{
    return gx_repeat(&w, gx_repeat(&w, gx_opt(&w, LIT("a")), 0, 100), 0, 100);
}

/* A megabyte of words of n letters. */
static const struct gx *words(size_t n, uint32_t letters)
{
    size_t count = 1000000 / n;
    const struct gx **of = calloc(count, sizeof(*of)), *x;
    char word[1000];

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < n; k++)
            word[k] = (char)('a' + any(letters));
        of[i] = SEQ(LIT("\""), gx_bytes(&w, word, n), LIT("\""));
    }
    x = gx_altn(&w, of, count);
    free(of);
    return x;
}

static const struct gx *words_16(void)
{
    return words(16, 2);
}

static const struct gx *words_10(void)
{
    return words(10, 26);
}

static const struct gx *words_1000(void)
{
    return words(1000, 2);
}

static const struct gx *words_again(void)
{
    return gx_star(&w, words(12, 2));
}

static const struct gx *long_list(void)
{
    const struct gx *x = gx_empty(&w);

    for (int i = 0; i < 100000; i++)
        x = gx_seq(&w, x, RANGE('a', 'z'));
    return x;
}

static const struct gx *deep_stars(void)
{
    const struct gx *x = LIT("a");

    for (int i = 0; i < 100000; i++)
        x = gx_star(&w, gx_alt(&w, x, LIT("b")));
    return x;
}

/* Used twice at every level: 2^60 when written out. */
static const struct gx *doubled(void)
{
    const struct gx *x = LIT("a");

    for (int i = 0; i < 60; i++)
        x = gx_seq(&w, x, x);
    return x;
}

static const struct gx *search_many(void)
{
    const struct gx *all = gx_star(&w, RANGE(0, 255)), *x = all;

    for (int i = 0; i < 20; i++)
        x = gx_both(&w, x,
                    SEQ(all, RANGE('a' + i, 'a' + i), all,
                        RANGE('b' + i, 'b' + i), all));
    return x;
}

static const struct gx *minus_exponential(void)
{
    return gx_minus(&w, gx_star(&w, RANGE('a', 'c')), exponential());
}

static const struct gx *counted_exponential(void)
{
    const struct gx *ab = RANGE('a', 'b');

    return gx_counted(
        &w, SEQ(gx_star(&w, ab), LIT("a"), gx_repeat(&w, ab, 14, 14)), GX_JSON);
}

static const struct gx *large_product(void)
{
    return gx_both(&w, gx_star(&w, gx_repeat(&w, LIT("a"), 997, 997)),
                   gx_star(&w, gx_repeat(&w, LIT("a"), 1009, 1009)));
}

static const struct gx *many_rules(void)
{
    const struct gx *x = gx_empty(&w);
    int first = gx_rule(&w);

    for (int i = 1; i < 40000; i++)
        (void)gx_rule(&w);
    for (int i = 0; i < 40000; i++)
        gx_rule_set(
            &w, first + i,
            SEQ(LIT("["),
                ALT(gx_call(&w, first + (int)any(40000), false), LIT("1")),
                gx_opt(&w, gx_call(&w, first + (int)any(40000), true)),
                LIT("]"), LIT("x")),
            0, i % 2 ? GX_MANY : 1);
    gx_rule_set(&w, first + 39999, LIT("2"), 0, GX_MANY);
    for (int i = 0; i < 1000; i++)
        x = gx_alt(&w, x, gx_call(&w, first + (int)any(40000), false));
    return SEQ(LIT("<"), x, LIT(">"));
}

/* Every level in turn wakes a rule with many states. */
static const struct gx *many_levels(void)
{
    const struct gx *x = gx_empty(&w);
    int big = gx_rule(&w), last = gx_rule(&w);

    gx_rule_set(&w, last, LIT("1"), 0, GX_MANY);
    for (int i = 0; i < 90; i++) {
        int next = gx_rule(&w);

        gx_rule_set(&w, next, SEQ(LIT("["), gx_call(&w, last, false), LIT("]")),
                    0, GX_MANY);
        x = gx_alt(&w, x, SEQ(LIT("-"), gx_call(&w, next, true)));
        last = next;
    }
    gx_rule_set(&w, big,
                SEQ(LIT("("), gx_repeat(&w, x, 60, 60),
                    gx_opt(&w, gx_call(&w, big, true)), LIT(")")),
                0, 50);
    return gx_call(&w, big, false);
}

static const struct gx *wide_gaps(void)
{
    return gx_counted(&w, gx_star(&w, gx_repeat(&w, LIT("a"), 100, 100)),
                      GX_RAW);
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void hostile(void)
{
    static const struct {
        const char *name;
        const struct gx *(*make)(void);
        uint32_t min, max;
        enum st st;
    } all[] = {
        {"exponential", exponential, 0, GX_MANY, ST_LIMIT},
        {"towers of repeats", towers, 0, GX_MANY, ST_LIMIT},
        {"ambiguous repeats", ambiguous, 0, GX_MANY, ST_LIMIT},
        {"a megabyte of words of two letters", words_16, 0, GX_MANY, ST_OK},
        {"a megabyte of words", words_10, 0, GX_MANY, ST_LIMIT},
        {"a megabyte of long words", words_1000, 0, GX_MANY, ST_LIMIT},
        {"a megabyte of words, again and again", words_again, 0, GX_MANY,
         ST_OK},
        {"a long list", long_list, 0, GX_MANY, ST_OK},
        {"deep stars", deep_stars, 0, GX_MANY, ST_OK},
        {"doubled", doubled, 0, GX_MANY, ST_LIMIT},
        {"twenty searches at once", search_many, 0, GX_MANY, ST_LIMIT},
        {"all but an exponential one", minus_exponential, 0, GX_MANY, ST_LIMIT},
        {"characters of an exponential one", counted_exponential, 3, 1000000,
         ST_OK},
        {"a large product", large_product, 0, GX_MANY, ST_LIMIT},
        {"many rules", many_rules, 0, GX_MANY, ST_OK},
        {"many levels", many_levels, 0, GX_MANY, ST_OK},
        {"gaps and a wide bound", wide_gaps, 150000, 200000, ST_UNSUPPORTED},
    };

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        double from = cpu_ms();
        struct grammar *g = compile(all[i].make(), all[i].min, all[i].max);

        printf("# %s: %.0f ms, %" PRIu64 " steps, %zu states, %zu MiB\n",
               all[i].name, cpu_ms() - from, w.work, g ? g->n_states : 0,
               (g ? g->bytes : 0) >> 20);
        ok((g ? ST_OK : e.st) == all[i].st &&
               (g || strpbrk(e.text, "0123456789")),
           "%s: %s", all[i].name, g ? "compiled" : e.text);
        over(g);
    }
}

int main(void)
{
    gxs_init(&w);
    plain();
    flagged();
    parts();
    counted();
    nested();
    deep();
    hostile();
    gxs_release(&w);
    return done();
}
