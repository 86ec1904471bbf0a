/* Guides: forced ids, pattern guard (seed 000, --pattern-stop), both. */
#include "gen/guide.h"
#include "gen/catalog.h"

#include "t/lib/jobs.h"
#include "t/lib/tap.h"

/* The definition, word for word: the last size*count ids are one block. */
static bool repeats(const int32_t *ids, size_t n, size_t size, size_t count)
{
    if (n < size * count)
        return false;
    for (size_t i = n - size * count + size; i < n; i++)
        if (ids[i] != ids[i - size])
            return false;
    return true;
}

static void pattern_against_definition(int max, int min, int count)
{
    struct guide *g;
    int32_t ids[600];
    uint64_t x = 12345;
    size_t wrong = 0, stops = 0;
    void *s;

    if (guide_pattern_new(&g, max, min, count, NULL))
        return;
    s = malloc(guide_state_bytes(g));
    guide_init(g, s);
    for (size_t n = 0; n < 600; n++) {
        bool want = false;

        x = x * 6364136223846793005u + 1442695040888963407u;
        /* runs of copies from a few ids back, broken now and then */
        ids[n] = n > 5 && (x >> 60) ? ids[n - 1 - (n / 50) % 5]
                                    : (int32_t)(x >> 33) % 3;
        for (int size = min; size <= max; size++)
            want = want || repeats(ids, n + 1, (size_t)size, (size_t)count);
        wrong += (guide_accept(g, s, ids[n]) == GUIDE_STOP) != want;
        stops += want;
    }
    ok(!wrong && stops, "%d:%d:%d agrees with the definition (%zu stops)", max,
       min, count, stops);
    free(s);
    guide_free(g);
}

/* What END says of the loop. */
static void pattern_note(void)
{
    static const int32_t text[] = {7, 1, 2, 3, 1, 2, 3, 1, 2, 3};
    struct guide_note n = {0};
    struct guide *g;
    int32_t id;
    void *s;

    if (guide_pattern_new(&g, 10, 2, 3, NULL))
        return;
    s = malloc(guide_state_bytes(g));
    guide_init(g, s);
    for (size_t i = 0; i < 9; i++)
        guide_accept(g, s, text[i]);
    guide_note(g, s, &n);
    is_int(n.loop_size, 0, "no loop yet");
    is_int(guide_accept(g, s, text[9]), GUIDE_STOP, "the last id of it");
    guide_note(g, s, &n);
    ok(n.loop_size == 3 && n.loop_count == 3 &&
           !memcmp(n.loop_ids, text + 1, 3 * sizeof(*text)) && !n.loop_ids[3],
       "three ids, three times, and which");
    guide_init(g, s);
    for (id = 0; guide_accept(g, s, id % 10) == GUIDE_GO; id++)
        ;
    n = (struct guide_note){0};
    guide_note(g, s, &n);
    ok(id == 29 && n.loop_size == 10 && n.loop_ids[0] == 0 &&
           n.loop_ids[GUIDE_LOOP_IDS - 1] == GUIDE_LOOP_IDS - 1,
       "the first of a longer one");
    free(s);
    guide_free(g);
}

/* The last six ids are one block twice, and so are all ten. */
static void pattern_smaller(void)
{
    static const int32_t text[] = {1, 2, 2, 1, 2, 1, 2, 2, 1, 2};
    struct guide_note n = {0};
    struct guide *g;
    size_t i = 0;
    void *s;

    if (guide_pattern_new(&g, 5, 3, 2, NULL))
        return;
    s = malloc(guide_state_bytes(g));
    guide_init(g, s);
    while (guide_accept(g, s, text[i++]) == GUIDE_GO && i < 10)
        ;
    guide_note(g, s, &n);
    ok(i == 10 && n.loop_size == 3 && n.loop_ids[0] == 2,
       "of two at once the note has the smaller");
    free(s);
    guide_free(g);
}

static void pattern_limits(void)
{
    static const struct {
        int max, min, count;
        enum st want;
        const char *name;
    } t[] = {
        {256, 256, 64, ST_OK, "the largest"},
        {1, 1, 2, ST_OK, "the smallest"},
        {257, 1, 2, ST_INVALID, "MAX over 256"},
        {0, 0, 2, ST_INVALID, "MAX under 1"},
        {4, 0, 2, ST_INVALID, "MIN under 1"},
        {4, 5, 2, ST_INVALID, "MIN over MAX"},
        {4, 1, 1, ST_INVALID, "COUNT under 2"},
        {4, 1, 65, ST_INVALID, "COUNT over 64"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct guide *g;
        struct err e;

        is_int(guide_pattern_new(&g, t[i].max, t[i].min, t[i].count, &e),
               t[i].want, "%s", t[i].name);
        guide_free(g);
    }
}

static void forced(void)
{
    int32_t want[3] = {5, 40, 9}, ids[8];
    uint32_t mask[2] = {~0u, ~0u};
    struct guide *g = forced_guide(want, 3);
    void *s = malloc(guide_state_bytes(g)), *saved;

    guide_init(g, s);
    is_int(guide_forced(g, s, ids, 2), 2, "forced fills what fits");
    is_int(guide_accept(g, s, 5), GUIDE_GO, "the first");
    saved = malloc(guide_state_bytes(g));
    guide_fork(g, saved, s);
    ok(guide_allowed(g, s, mask, 64) && mask[0] == 0 && mask[1] == 1u << 8,
       "only the next id is allowed");
    is_int(guide_accept(g, s, 40), GUIDE_GO, "the second");
    is_int(guide_accept(g, s, 9), GUIDE_STOP, "the last one ends");
    guide_rollback(g, s, saved);
    is_int(guide_forced(g, s, ids, 8), 2, "a rolled back state forces again");
    is_int(ids[0], 40, "from where it was");
    free(s);
    free(saved);
    guide_free(g);
}

static void both(void)
{
    int32_t want[4] = {1, 1, 1, 2}, ids[8];
    struct guide_note n = {0};
    struct guide *g, *p;
    void *s;

    if (guide_pattern_new(&p, 1, 1, 3, NULL))
        return;
    g = guide_both(forced_guide(want, 4), p);
    s = malloc(guide_state_bytes(g));
    guide_init(g, s);
    is_int(guide_forced(g, s, ids, 8), 4, "the pair forces what one does");
    guide_accept(g, s, 1);
    guide_accept(g, s, 1);
    is_int(guide_accept(g, s, 1), GUIDE_STOP, "the other one stops it");
    guide_note(g, s, &n);
    ok(n.loop_size == 1 && n.loop_count == 3, "and says why");
    free(s);
    guide_free(g);

    if (guide_pattern_new(&p, 1, 1, 3, NULL))
        return;
    g = guide_both(forced_guide(want + 2, 2), p);
    s = malloc(guide_state_bytes(g));
    guide_init(g, s);
    is_int(guide_accept(g, s, 1), GUIDE_GO, "the first of two");
    is_int(guide_accept(g, s, 2), GUIDE_STOP, "one of them is complete");
    free(s);
    guide_free(g);
    ok(guide_both(NULL, NULL) == NULL, "nothing and nothing is nothing");
}

int main(void)
{
    struct catalog_model *m = mem_array(struct catalog_model, 2);
    struct catalog c = {m, 2};

    forced();
    both();
    pattern_note();
    pattern_smaller();
    pattern_limits();
    pattern_against_definition(8, 1, 3);
    pattern_against_definition(4, 2, 4);
    pattern_against_definition(1, 1, 2);
    pattern_against_definition(64, 1, 8);
    ok(guide_state_bytes(NULL) == 0 && !guide_allowed(NULL, NULL, NULL, 9) &&
           guide_accept(NULL, NULL, 1) == GUIDE_GO,
       "no guide allows everything");

    m[0].id = mem_dup("first");
    m[1].id = mem_dup("second");
    ok(catalog_find(&c, NULL, 0) == &m[0], "no name: the first model");
    ok(catalog_find(&c, "second", 6) == &m[1], "a name finds its model");
    ok(!catalog_find(&c, "sec", 3), "half a name finds none");
    catalog_release(&c);
    return done();
}
