/*
 * A guide that begins whenever an id has come (gen/guide_trigger.h), or an id,
 * a text and an id: free until then and behind it, as often as it comes.
 * Expectations: the header, and the contract of guides (gen/guide.h).
 */
#include "gen/guide_after.h"
#include "gen/guide_trigger.h"

#include "t/lib/tap.h"

#define VOCAB 32

/* Ids are themselves, but for a few that have texts. */
enum { TRIGGER = 7, LAST, TO, OLS, TOOLS, TOOLSET, OPEN = 20, CLOSE };

/* --- an inner guide: 2 or 3, then 4 is forced, then over ------------------ */

static size_t inner_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(int);
}

static void inner_init(const struct guide *g, void *state)
{
    (void)g;
    *(int *)state = 0;
}

static bool inner_allowed(const struct guide *g, const void *state,
                          uint32_t *mask, size_t n)
{
    static const uint32_t may[] = {1u << 2 | 1u << 3, 1u << 4, 0};

    (void)g;
    BUG_ON(n != VOCAB);
    mask[0] &= may[*(const int *)state];
    return true;
}

static size_t inner_forced(const struct guide *g, const void *state,
                           int32_t *ids, size_t cap)
{
    (void)g;
    if (*(const int *)state != 1 || !cap)
        return 0;
    ids[0] = 4;
    return 1;
}

static enum guide_next inner_accept(const struct guide *g, void *state,
                                    int32_t id)
{
    int *n = state;

    (void)g;
    (void)id;
    BUG_ON(*n > 1);
    return ++*n == 2 ? GUIDE_STOP : GUIDE_GO;
}

static void inner_note(const struct guide *g, const void *state,
                       struct guide_note *out)
{
    (void)g;
    out->loop_size = *(const int *)state;
}

static void inner_free(struct guide *g)
{
    free(g);
}

static const struct guide_ops ops = {
    .state_bytes = inner_bytes, .init = inner_init, .allowed = inner_allowed,
    .forced = inner_forced, .accept = inner_accept, .note = inner_note,
    .free = inner_free,
};

static struct guide *inner(void)
{
    struct guide *g = mem_new(struct guide);

    g->ops = &ops;
    return g;
}

static const char texts_arg[] = "texts";

static struct guide *one(void)
{
    return guide_trigger_new(&(struct trigger_config){.first = TRIGGER,
                                                      .last = -1}, inner());
}

static struct span piece(const void *arg, int32_t id)
{
    static const char *const texts[] = {
        [TO] = "to", [OLS] = "ols", [TOOLS] = "tools", [TOOLSET] = "toolset",
    };
    size_t n = sizeof(texts) / sizeof(texts[0]);
    const char *t = id >= 0 && (size_t)id < n ? texts[id] : NULL;

    BUG_ON(arg != texts_arg);
    return t ? (struct span){t, strlen(t)} : (struct span){0};
}

/* TRIGGER "tools" LAST */
static struct guide *spelled(void)
{
    return guide_trigger_new(&(struct trigger_config){
        .first = TRIGGER, .last = LAST, .text = {"tools", 5}, .piece = piece,
        .piece_arg = texts_arg,
    }, inner());
}

/* --- helpers -------------------------------------------------------------- */

static struct guide *g;
static void *state;

static void start(struct guide *of)
{
    g = of;
    state = mem_zalloc(guide_state_bytes(g));
    guide_init(g, state);
}

static void stop(void)
{
    guide_free(g);
    free(state);
}

/* The mask of what may come; all ones: it was not asked. */
static uint32_t may(void)
{
    uint32_t mask = ~(1u << 31), was = mask;

    if (guide_allowed(g, state, &mask, VOCAB))
        return mask;
    return mask == was ? ~0u : 0;
}

static size_t must(void)
{
    int32_t ids[4];

    return guide_forced(g, state, ids, 4);
}

static bool put(int32_t id)
{
    return guide_accept(g, state, id) == GUIDE_GO;
}

/* Free, also of ids that must come. */
static bool is_free(void)
{
    return may() == ~0u && !must();
}

/* --- tests ---------------------------------------------------------------- */

static void one_and_more(void)
{
    struct guide_note note = {0};

    start(one());
    ok(is_free() && put(1) && put(2) && is_free(), "free before the id");
    for (int i = 0; i < 3; i++) {
        ok(put(TRIGGER) && may() == (1u << 2 | 1u << 3) && !must(),
           "call %d: behind the id, the inner guide", i);
        ok(put(3) && must() == 1 && may() == 1u << 4,
           "call %d: what must come is passed on", i);
        ok(put(4) && is_free(), "call %d: complete, and not the end", i);
        ok(put(4) && put(3) && is_free(), "call %d: anything behind it", i);
    }
    guide_note(g, state, &note);
    is_int(note.loop_size, 2, "the inner guide has its say");
    stop();
}

static void with_a_text(void)
{
    static const struct {
        int32_t ids[6];
        bool begins;
    } cases[] = {
        {{TRIGGER, TOOLS, LAST}, true},
        {{TRIGGER, TO, OLS, LAST}, true},
        {{TRIGGER, TRIGGER, TOOLS, LAST}, true},
        {{TRIGGER, TO, TRIGGER, TOOLS, LAST}, true},
        {{LAST, TRIGGER, TOOLS, LAST}, true},
        {{TOOLS, LAST}, false},
        {{TRIGGER, LAST}, false},
        {{TRIGGER, TO, LAST}, false},
        {{TRIGGER, TOOLSET, LAST}, false},
        {{TRIGGER, TOOLS, OLS, LAST}, false},
        {{TRIGGER, TOOLS, 1, LAST}, false},
        {{TRIGGER, 1, TOOLS, LAST}, false},
        {{TRIGGER, TO, 1, OLS, LAST}, false},
        {{TRIGGER, TOOLS, TRIGGER, LAST}, false},
        {{TRIGGER, TO, TO, LAST}, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool early = false;

        start(spelled());
        for (size_t k = 0; k < 6 && cases[i].ids[k]; k++) {
            early = early || !is_free();
            put(cases[i].ids[k]);
        }
        ok(!early && is_free() == !cases[i].begins, "spelled, case %zu", i);
        stop();
    }
}

static void copies(struct guide *of, const int32_t run[9])
{
    void *saved;
    uint64_t x = 11;
    int wrong = 0;

    start(of);
    saved = mem_zalloc(guide_state_bytes(g));
    for (size_t i = 0; i < 9; i++) {
        uint32_t want = may();
        size_t forced = must();

        guide_fork(g, saved, state);
        for (int k = 0; k < 5; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            (void)put((int32_t)(x >> 33) % VOCAB);
        }
        guide_rollback(g, state, saved);
        wrong += may() != want || must() != forced;
        wrong += !put(run[i]);
    }
    is_int(wrong, 0, "wrong drafts leave nothing behind");
    free(saved);
    stop();
}

static void behind_reasoning(void)
{
    static const int32_t open = OPEN, close = CLOSE;
    const struct after_config c = {
        .open = {.ids = &open, .n_ids = 1},
        .close = {.ids = &close, .n_ids = 1},
        .may_open = true,
    };
    struct after_config inside = c;

    inside.inside = true;
    start(guide_after_new(&inside, one()));
    ok(put(TRIGGER) && is_free() && put(5) && is_free(),
       "in a reasoning the id is one of others");
    ok(put(CLOSE) && is_free() && put(TRIGGER) && may() == (1u << 2 | 1u << 3),
       "behind its close it begins");
    stop();
    start(guide_after_new(&c, one()));
    ok(is_free() && put(OPEN) && put(TRIGGER) && is_free(),
       "also in a reasoning that the model opened");
    ok(put(CLOSE) && put(6) && put(TRIGGER) && put(2) && put(4) && is_free(),
       "and a call behind it comes to its end");
    stop();
    start(guide_after_new(&c, one()));
    ok(put(TRIGGER) && may() == (1u << 2 | 1u << 3), "without one, at once");
    stop();
}

static void beside_others(void)
{
    struct guide *pattern = NULL;
    struct err e = {0};

    BUG_ON(guide_pattern_new(&pattern, 1, 1, 4, &e));
    start(guide_both(one(), pattern));
    ok(put(TRIGGER) && may() == (1u << 2 | 1u << 3), "beside another guide");
    ok(put(2) && put(4) && is_free() && put(5) && put(5) && put(5) && !put(5),
       "which ends the sequence");
    stop();
}

int main(void)
{
    static const int32_t run[] = {1, TRIGGER, 3, 4, 9, TRIGGER, 2, 4, TRIGGER};
    static const int32_t word[] = {TRIGGER, TO, OLS, LAST, 3, 4, TRIGGER,
                                   TOOLS, LAST};

    one_and_more();
    with_a_text();
    copies(one(), run);
    copies(spelled(), word);
    behind_reasoning();
    beside_others();
    return done();
}
