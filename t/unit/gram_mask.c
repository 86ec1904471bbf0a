/*
 * Vocabularies as tries and masks of them: against walking every id, on random
 * places, over a small vocabulary of text, JSON, halves of characters and
 * bytes; what the pool keeps and forgets; marks and ends by their ids.
 */
#include "t/lib/handgram.h"
#include "t/lib/maskcheck.h"
#include "t/lib/tap.h"

static const struct grammar *g = &handgram;

/* Whether it lives on is seen in the mask. */
static void feed(struct gram_place *p, const char *s)
{
    bool live = gram_bytes(g, p, s, strlen(s));

    (void)live;
}

#define IDS_MAX 4096
static char bytes[IDS_MAX][64];
static struct span pieces[IDS_MAX];
static size_t n_ids;

static int add(const char *s, size_t n)
{
    memcpy(bytes[n_ids], s, n);
    pieces[n_ids] = (struct span){bytes[n_ids], n};
    return (int)n_ids++;
}

static int add_text(const char *s)
{
    return add(s, strlen(s));
}

/* All bytes, then texts, then mixtures of parts from a fixed seed. */
static void make_vocab(void)
{
    static const char *const parts[] = {
        "a", "b", "abc", "hello", "z", "\"", "\",\"", "\"]", "]", "[", "[\"",
        ",", ", ", " ", "  ", "\n", "\n    ", "\t", "\xc3", "\xa4", "\xc3\xa4",
        "\xe2\x82", "\xac", "\xe2\x82\xac", "\xf0\x9f", "\x98\x80",
        "\xf0\x9f\x98\x80", "\\", "1", "22", ".", "\"],[\"", "[[[[[[[[[[",
        "]]]]]]", "\xed\xa0", "\xff", "@",
    };
    struct maskcheck c = {.random = 7};

    n_ids = 0;
    add("", 0); /* a control id */
    for (int b = 0; b < 256; b++) {
        char s = (char)b;
        add(&s, 1);
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        add_text(parts[i]);
    for (int n = 33; n < 50; n += 3) {
        char run[64];
        memset(run, n % 2 ? 'x' : ' ', (size_t)n);
        add(run, (size_t)n);
    }
    while (n_ids < 3000) {
        char s[64];
        size_t n = 0, k = 2 + maskcheck_random(&c) % 3;
        for (; k > 0; k--) {
            const char *part =
                parts[maskcheck_random(&c) % (sizeof(parts) / sizeof(*parts))];
            memcpy(s + n, part, strlen(part));
            n += strlen(part);
        }
        add(s, n);
    }
}

static void test_brute_force(void)
{
    struct maskcheck_sum sum = {0};
    struct gram_vocab *v;
    struct maskcheck c = {.random = 99, .pieces = pieces, .n = n_ids};

    if (!ok(gram_vocab_new(&v, pieces, n_ids, NULL) == ST_OK, "a vocabulary"))
        return;
    ok(v->longest == 48 && v->n_ids == n_ids, "its size");
    c.vocab = v;
    c.pool = gram_pool_new(v);
    maskcheck_walk(&c, g, 600, &sum);
    is_int(sum.wrong, 0, "600 masks are what walking %zu ids says", n_ids);
    is_int(sum.empty, 0, "and none is empty");
    ok(sum.ids > 10000, "there is something to choose (%zu)", sum.ids);
    gram_pool_free(c.pool);
    gram_vocab_free(v);
}

static void test_deep(void)
{
    struct maskcheck_sum sum = {0};
    struct gram_vocab *v;
    struct maskcheck c = {.random = 5, .pieces = pieces, .n = n_ids};
    uint32_t mask[IDS_MAX / 32];
    struct gram_place p;

    if (gram_vocab_new(&v, pieces, n_ids, NULL))
        return;
    c.vocab = v;
    c.pool = gram_pool_new(v);
    gram_begin(g, &p);
    while (gram_bytes(g, &p, "[", 1)) {
        struct gram_place in;
        if (p.n_frames < 84)
            continue;
        maskcheck_place(&c, g, &p, mask, &sum);
        memcpy(&in, &p, sizeof(in));
        feed(&in, "\"abc");
        maskcheck_place(&c, g, &in, mask, &sum);
        feed(&in, "\"");
        maskcheck_place(&c, g, &in, mask, &sum);
    }
    is_int(sum.wrong, 0, "so are %zu at the last calls", sum.places);
    ok(sum.places > 30 && sum.empty == 0, "where text can go on");
    gram_begin(g, &p);
    feed(&p, "[");
    for (int i = 0; i < GRAM_SPACE_MAX; i++) {
        feed(&p, " ");
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    gram_begin(g, &p);
    feed(&p, "[");
    for (int i = 0; i < GRAM_SPACE_MAX / GRAM_SPACE_LINE; i++) {
        feed(&p, "\n");
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    is_int(sum.wrong, 0, "and in white space up to its bound");
    struct gram_figures f;
    gram_pool_figures(c.pool, &f);
    ok(f.hits >= 50, "where most are the same (%d found)", (int)f.hits);
    gram_pool_free(c.pool);
    gram_vocab_free(v);
}

static bool bit(const uint32_t *mask, int id)
{
    return mask[id / 32] >> id % 32 & 1;
}

static void test_ids(void)
{
    struct gram_vocab *v;
    struct gram_pool *pool;
    struct gram_place p;
    uint32_t mask[IDS_MAX / 32 + 2];
    int32_t mark[GX_MARKS];
    int quote = '"' + 1, bracket = '[' + 1, x = 'x' + 1, end = 0;
    struct gram_ids ids = {mark, &end, 1};

    memset(mark, 0xff, sizeof(mark));
    mark[2] = x; /* its bytes could come in a string */
    if (gram_vocab_new(&v, pieces, n_ids, NULL))
        return;
    pool = gram_pool_new(v);
    gram_begin(g, &p);
    memset(mask, 0xff, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids + 40), "a mask");
    ok(bit(mask, bracket) && !bit(mask, quote) && !bit(mask, end),
       "of the begin");
    ok(!bit(mask, (int)n_ids) && !bit(mask, (int)n_ids + 39),
       "ids beyond the vocabulary are cleared");
    feed(&p, "[\"abc");
    memset(mask, 0xff, sizeof(mask));
    mask[quote / 32] &= ~(1u << quote % 32);
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids), "in a string");
    ok(bit(mask, 'y' + 1) && !bit(mask, x), "a mark goes by its id");
    ok(!bit(mask, quote), "what was clear stays clear");
    feed(&p, "\"");
    memset(mask, 0xff, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids), "behind a word");
    ok(bit(mask, x) && !bit(mask, end), "the mark may come, the end not");
    memset(mask, 0, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids) && !bit(mask, x),
       "unless it was clear");
    ok(gram_mark(g, &p, 2) && gram_bytes(g, &p, "]", 1), "the end");
    memset(mask, 0xff, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids) && bit(mask, end),
       "there it may end");
    memset(mask, 0, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids) && !bit(mask, end),
       "unless the end was clear");
    memset(mask, 0xff, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids), "the same again");
    bool other = false;
    for (int i = 1; i < (int)n_ids; i++)
        other = other || bit(mask, i);
    ok(!other, "and nothing else may come");
    feed(&p, "x");
    memset(mask, 0xff, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids) && !bit(mask, end),
       "nothing at all when it is dead");
    gram_begin(g, &p);
    feed(&p, "[\"a");
    end = 'y' + 1; /* its bytes could come */
    memset(mask, 0xff, sizeof(mask));
    ok(gram_mask_apply(pool, g, &p, &ids, mask, n_ids) && !bit(mask, end) &&
           bit(mask, 'z' + 1),
       "an end goes by its id");
    gram_pool_free(pool);
    gram_vocab_free(v);
}

static void test_pool(void)
{
    struct gram_ids none = {NULL, NULL, 0};
    struct gram_figures f;
    struct gram_vocab *v;
    struct gram_pool *pool;
    struct gram_place p;
    uint32_t mask[IDS_MAX / 32];
    struct grammar many = handgram;
    int made = 0;

    if (gram_vocab_new(&v, pieces, n_ids, NULL))
        return;
    pool = gram_pool_new(v);
    gram_begin(g, &p);
    for (int i = 0; i < 3; i++)
        ok(gram_mask_apply(pool, g, &p, &none, mask, n_ids), "a mask");
    gram_pool_figures(pool, &f);
    ok(f.misses == 1 && f.hits == 2 && f.masks == 1 && f.bytes > n_ids / 8,
       "made once, found twice");
    for (int i = 0; i < GRAM_MASKS_MAX + 10; i++) {
        many.id++;
        made += gram_mask_apply(pool, &many, &p, &none, mask, n_ids);
    }
    gram_pool_figures(pool, &f);
    is_int(f.masks, GRAM_MASKS_MAX, "no more are kept than that");
    is_int(f.misses, GRAM_MASKS_MAX + 11, "each grammar has its own");
    made += gram_mask_apply(pool, g, &p, &none, mask, n_ids);
    gram_pool_figures(pool, &f);
    is_int(made, GRAM_MASKS_MAX + 11, "all were made");
    is_int(f.misses, GRAM_MASKS_MAX + 12, "the oldest was forgotten");
    many.id -= GRAM_MASKS_MAX - 2; /* the oldest but one that is kept */
    made = gram_mask_apply(pool, &many, &p, &none, mask, n_ids);
    gram_pool_figures(pool, &f);
    is_int(f.misses, GRAM_MASKS_MAX + 12, "an old one is still there");
    many.id += GRAM_MASKS_MAX;
    for (int i = 0; i < GRAM_MASKS_MAX - 1; i++) {
        many.id++;
        made += gram_mask_apply(pool, &many, &p, &none, mask, n_ids);
    }
    many.id -= 2 * GRAM_MASKS_MAX - 1;
    made += gram_mask_apply(pool, &many, &p, &none, mask, n_ids);
    gram_pool_figures(pool, &f);
    is_int(made, GRAM_MASKS_MAX + 1, "all of these were made");
    is_int(f.misses, 2 * GRAM_MASKS_MAX + 11, "and has become a new one");
    ok(gram_pool_shrink(pool, 1) > 0, "one is given back");
    ok(gram_mask_apply(pool, &many, &p, &none, mask, n_ids), "not that");
    gram_pool_figures(pool, &f);
    is_int(f.misses, 2 * GRAM_MASKS_MAX + 11, "but the oldest");
    size_t all = f.bytes, gave = gram_pool_shrink(pool, all / 2);
    gram_pool_figures(pool, &f);
    ok(gave >= all / 2 && f.bytes == all - gave, "memory is given back");
    ok(gram_pool_shrink(pool, SIZE_MAX) == f.bytes, "all of it");
    gram_pool_figures(pool, &f);
    ok(f.masks == 0 && f.bytes == 0, "then nothing is kept");
    ok(gram_mask_apply(pool, g, &p, &none, mask, n_ids), "and it goes on");
    gram_pool_free(pool);
    gram_pool_free(NULL);
    gram_vocab_free(v);
}

static void add_way(struct gram_place *p, const uint32_t (*frames)[2],
                    size_t n, unsigned space)
{
    p->depth[p->n_ways] = (uint16_t)n;
    p->space[p->n_ways++] = (uint16_t)space;
    for (size_t i = 0; i < n; i++)
        p->frames[p->n_frames++] =
            (struct gram_frame){frames[i][0], frames[i][1]};
}

static uint32_t state_of(const char *s)
{
    struct gram_place p;

    gram_begin(g, &p);
    feed(&p, s);
    return p.frames[p.n_frames - 1].state;
}

/* Places of two ways, most of which no text leads to: all that they differ in
 * matters to what is kept. */
static void test_ways(void)
{
    static const unsigned spaces[] = {0, 1, 50, 51, 60, 92, 96, 98, 99, 100};
    uint32_t list = state_of("[ "), behind = state_of("[\"a\" ");
    uint32_t string = state_of("[\"1");
    struct maskcheck_sum sum = {0};
    struct gram_vocab *v;
    struct maskcheck c = {.random = 5, .pieces = pieces, .n = n_ids};
    uint32_t mask[IDS_MAX / 32];

    if (gram_vocab_new(&v, pieces, n_ids, NULL))
        return;
    c.vocab = v;
    c.pool = gram_pool_new(v);
    for (uint32_t i = 0; i < 10; i++) {
        for (uint32_t k = 0; k < 10; k++) {
            struct gram_place p = {0};
            struct gram_place q = {0};
            add_way(&p, (const uint32_t[][2]){{list, 1}}, 1, spaces[i]);
            add_way(&p, (const uint32_t[][2]){{behind, 2}}, 1, spaces[k]);
            maskcheck_place(&c, g, &p, mask, &sum);
            add_way(&q, (const uint32_t[][2]){{behind, 2}}, 1, spaces[i]);
            add_way(&q, (const uint32_t[][2]){{behind, 2}}, 1, spaces[k]);
            maskcheck_place(&c, g, &q, mask, &sum);
        }
    }
    is_int(sum.wrong, 0, "white space before each of two ways");
    for (uint32_t k = 0; k < 72; k++) {
        struct gram_place p = {0};
        uint32_t i = k < 36 ? k : 71 - k;
        if (k == 36)
            (void)gram_pool_shrink(c.pool, SIZE_MAX);
        add_way(&p, (const uint32_t[][2]){{behind, 1}, {string, i / 6}}, 2, 0);
        add_way(&p, (const uint32_t[][2]){{behind, 3}, {string, i % 6}}, 2, 0);
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    is_int(sum.wrong, 0, "counters of each");
    for (size_t i = 1; i < 3; i++) {
        const uint32_t of[][2] = {{behind, 1}, {string, 2}, {string, 3}};
        struct gram_place p = {0};
        add_way(&p, of, i, 0);
        add_way(&p, of + i, 3 - i, 0);
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    for (size_t i = 1; i < 3; i++) {
        const uint32_t of[][2] = {
            {behind, 1}, {behind, 1}, {string, 2}, {string, 3}};
        struct gram_place p = {0};
        add_way(&p, of, 1, 0);
        add_way(&p, of + 1, i, 0);
        add_way(&p, of + 1 + i, 3 - i, 0);
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    is_int(sum.wrong, 0, "calls open around each");
    for (size_t i = 0; i < 2; i++) {
        struct gram_place p = {0};
        uint32_t end = state_of("[\"a\"]");
        add_way(&p, (const uint32_t[][2]){{i ? behind : end, 1}}, 1, 0);
        add_way(&p, (const uint32_t[][2]){{i ? end : behind, 1}}, 1, 0);
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    is_int(sum.wrong, 0, "the end of either");
    for (size_t i = 0; i < 2; i++) {
        uint32_t of[GRAM_DEPTH_MAX][2];
        struct gram_place p = {0};
        for (size_t k = 0; k < GRAM_DEPTH_MAX; k++) {
            of[k][0] = behind;
            of[k][1] = 1;
        }
        add_way(&p, of, i ? GRAM_DEPTH_MAX : 2, 0);
        add_way(&p, of, i ? 2 : GRAM_DEPTH_MAX, 0);
        maskcheck_place(&c, g, &p, mask, &sum);
    }
    is_int(sum.wrong, 0, "one that has no call left");
    gram_pool_free(c.pool);
    gram_vocab_free(v);
}

static void cut(const struct gram_vocab *v, const char *s, const int *want,
                size_t n)
{
    int32_t ids[16];
    size_t got = gram_vocab_cut(v, s, strlen(s), ids, 16);
    bool same = got == n;

    for (size_t i = 0; same && i < n; i++)
        same = ids[i] == want[i];
    ok(same, "the ids of '%s' that must come (%zu)", s, got);
}

static void test_cut(void)
{
    struct gram_vocab *v;
    int32_t ids[2];

    n_ids = 0;
    int a = add_text("a"), ab = add_text("ab"), abcd = add_text("abcd");
    int x = add_text("x"), xyz = add_text("xyz"), a2 = add_text("a");
    (void)add("", 0);
    if (!ok(gram_vocab_new(&v, pieces, n_ids, NULL) == ST_OK, "a vocabulary"))
        return;
    ok(v->next_same[a] == a2 && v->next_same[a2] == -1, "two ids, one text");
    cut(v, "xyz", (int[]){xyz}, 1);
    cut(v, "xyzab", (int[]){xyz}, 1);
    cut(v, "abcdx", (int[]){abcd}, 1);
    cut(v, "abcdxyz", (int[]){abcd, xyz}, 2);
    cut(v, "abxyz", (int[]){ab, xyz}, 2);
    cut(v, "aaxyz", (int[]){a2, a2, xyz}, 3);
    cut(v, "abx", (int[]){ab}, 1);
    cut(v, "xa", (int[]){x}, 1);
    cut(v, "q", NULL, 0);
    cut(v, "xyzq", (int[]){xyz}, 1);
    cut(v, "", NULL, 0);
    is_int(gram_vocab_cut(v, "xyzxyzxyz", 9, ids, 2), 2, "no more than fit");
    gram_vocab_free(v);
    ok(gram_vocab_new(&v, pieces, 0, NULL) == ST_OK, "no ids at all");
    is_int(gram_vocab_cut(v, "a", 1, ids, 2), 0, "cut nothing");
    gram_vocab_free(v);
    static char big[GRAM_PIECE_MAX + 1];
    struct span one = {big, sizeof(big)};
    struct err e;
    ok(gram_vocab_new(&v, &one, 1, &e) == ST_LIMIT && !v, "an id too long: %s",
       e.text);
    one.n--;
    ok(gram_vocab_new(&v, &one, 1, &e) == ST_OK, "one that is not");
    gram_vocab_free(v);
    gram_vocab_free(NULL);
}

int main(void)
{
    make_vocab();
    test_brute_force();
    test_deep();
    test_ids();
    test_pool();
    test_ways();
    test_cut();
    return done();
}
