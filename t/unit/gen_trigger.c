/*
 * A guide that begins whenever one id comes (gen/guide_trigger.h): free until
 * then and behind it, and as often as it comes. Expectations: the header, and
 * the contract of guides (gen/guide.h).
 */
#include "gen/guide_after.h"
#include "gen/guide_trigger.h"

#include "t/lib/tap.h"

#define VOCAB 32

enum { TRIGGER = 7, OPEN = 20, CLOSE, END = 30 };

/* --- an inner guide: TRIGGER, 2 or 3, then 4 is forced, then over --------- */

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
    static const uint32_t may[] = {1u << TRIGGER, 1u << 2 | 1u << 3, 1u << 4,
                                   0};

    (void)g;
    BUG_ON(n != VOCAB);
    mask[0] &= may[*(const int *)state];
    return true;
}

static size_t inner_forced(const struct guide *g, const void *state,
                           int32_t *ids, size_t cap)
{
    (void)g;
    if (*(const int *)state != 2 || !cap)
        return 0;
    ids[0] = 4;
    return 1;
}

static enum guide_next inner_accept(const struct guide *g, void *state,
                                    int32_t id)
{
    int *n = state;

    (void)g;
    BUG_ON(*n == 0 && id != TRIGGER);
    return ++*n == 3 ? GUIDE_STOP : GUIDE_GO;
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

    start(guide_trigger_new(TRIGGER, inner()));
    ok(is_free() && put(1) && put(2) && is_free(), "free before the id");
    for (int i = 0; i < 3; i++) {
        ok(put(TRIGGER) && may() == (1u << 2 | 1u << 3) && !must(),
           "call %d: the id was the first of the inner guide", i);
        ok(put(3) && must() == 1 && may() == 1u << 4,
           "call %d: what must come is passed on", i);
        ok(put(4) && is_free(), "call %d: complete, and not the end", i);
        ok(put(4) && put(3) && is_free(), "call %d: anything behind it", i);
    }
    guide_note(g, state, &note);
    is_int(note.loop_size, 3, "the inner guide has its say");
    stop();
}

static void copies(void)
{
    static const int32_t run[] = {1, TRIGGER, 3, 4, 9, TRIGGER, 2, 4, TRIGGER};
    void *saved;
    uint64_t x = 11;
    int wrong = 0;

    start(guide_trigger_new(TRIGGER, inner()));
    saved = mem_zalloc(guide_state_bytes(g));
    for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
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
    start(guide_after_new(&inside, guide_trigger_new(TRIGGER, inner())));
    ok(put(TRIGGER) && is_free() && put(5) && is_free(),
       "in a reasoning the id is one of others");
    ok(put(CLOSE) && is_free() && put(TRIGGER) && may() == (1u << 2 | 1u << 3),
       "behind its close it begins");
    stop();
    start(guide_after_new(&c, guide_trigger_new(TRIGGER, inner())));
    ok(is_free() && put(OPEN) && put(TRIGGER) && is_free(),
       "also in a reasoning that the model opened");
    ok(put(CLOSE) && put(6) && put(TRIGGER) && put(2) && put(4) && is_free(),
       "and a call behind it comes to its end");
    stop();
    start(guide_after_new(&c, guide_trigger_new(TRIGGER, inner())));
    ok(put(TRIGGER) && may() == (1u << 2 | 1u << 3), "without one, at once");
    stop();
}

static void beside_others(void)
{
    struct guide *pattern = NULL;
    struct err e = {0};

    BUG_ON(guide_pattern_new(&pattern, 1, 1, 4, &e));
    start(guide_both(guide_trigger_new(TRIGGER, inner()), pattern));
    ok(put(TRIGGER) && may() == (1u << 2 | 1u << 3), "beside another guide");
    ok(put(2) && put(4) && is_free() && put(5) && put(5) && put(5) && !put(5),
       "which ends the sequence");
    stop();
}

int main(void)
{
    one_and_more();
    copies();
    behind_reasoning();
    beside_others();
    return done();
}
