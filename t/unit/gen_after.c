/*
 * A guide that waits for the end of a reasoning (gen/guide_after.h): what may
 * come, must come and goes to the inner guide, id by id. Expectations: spec
 * tandem.md 7 and check 49; the frame is our written decision.
 */
#include "gen/guide_after.h"

#include "t/lib/tap.h"

#define VOCAB 64

/* Ids are themselves, but for a few. */
enum { OPEN = 40, OPEN_2, CLOSE, CLOSE_2, FRAME_1, FRAME_2, NL, NLNL, NL_X,
       HALF, REST, REST_NL, REST_X, END };

/* --- an inner guide: 1, then 2 or 3 or NL_X, then 4 is forced, then over - */

struct count {
    int n;
    int seen[8];
};

static size_t count_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(struct count);
}

static void count_init(const struct guide *g, void *state)
{
    (void)g;
    memset(state, 0, sizeof(struct count));
}

static bool count_allowed(const struct guide *g, const void *state,
                          uint32_t *mask, size_t n)
{
    const struct count *c = state;
    static const uint32_t low[] = {1u << 1, 1u << 2 | 1u << 3, 1u << 4, 0};
    static const uint32_t high[] = {1u << (NL_X - 32), 0, 0, 0};

    (void)g;
    BUG_ON(n != VOCAB);
    mask[0] &= low[c->n];
    mask[1] &= high[c->n];
    return true;
}

static int forced_first; /* an id that it begins with; 0: none */

static size_t count_forced(const struct guide *g, const void *state,
                           int32_t *ids, size_t cap)
{
    const struct count *c = state;

    (void)g;
    if (!c->n && forced_first && cap) {
        ids[0] = forced_first;
        return 1;
    }
    if (c->n != 2 || !cap)
        return 0;
    ids[0] = 4;
    return 1;
}

static enum guide_next count_accept(const struct guide *g, void *state,
                                    int32_t id)
{
    struct count *c = state;

    (void)g;
    if (c->n < 3)
        c->seen[c->n++] = id;
    return c->n == 3 ? GUIDE_STOP : GUIDE_GO;
}

static void count_free(struct guide *g)
{
    free(g);
}

static const struct guide_ops ops = {
    .state_bytes = count_bytes, .init = count_init, .allowed = count_allowed,
    .forced = count_forced, .accept = count_accept, .free = count_free,
};

static struct guide *inner(void)
{
    struct guide *g = mem_new(struct guide);

    g->ops = &ops;
    return g;
}

/* --- helpers ------------------------------------------------------------- */

static const int32_t open_ids[] = {OPEN, OPEN_2};
static const int32_t close_ids[] = {CLOSE, CLOSE_2};
static const int32_t frame[] = {FRAME_1, FRAME_2};
static const int32_t begins[] = {NL, NLNL, NL_X};

static struct guide *g;
static void *state;

static void start(const struct after_config *c)
{
    g = guide_after_new(c, inner());
    state = mem_zalloc(guide_state_bytes(g));
    guide_init(g, state);
}

static void stop(void)
{
    guide_free(g);
    free(state);
}

static void put(int32_t id)
{
    BUG_ON(guide_accept(g, state, id) == GUIDE_STOP);
}

/* The ids that may come, in a row; "*" for all. */
static const char *may(void)
{
    static char out[400];
    uint32_t mask[VOCAB / 32] = {~0u, ~0u & ~(1u << (VOCAB - 33))};
    size_t n = 0;

    out[0] = '\0';
    if (!guide_allowed(g, state, mask, VOCAB))
        return "*";
    if (mask[1] >> 31)
        return "an id that was forbidden";
    for (int id = 0; id < VOCAB; id++)
        if (mask[id / 32] >> id % 32 & 1)
            n += (size_t)snprintf(out + n, sizeof(out) - n, "%s%d",
                                  n ? " " : "", id);
    return out;
}

static int must(void)
{
    int32_t ids[4];
    size_t n = guide_forced(g, state, ids, 4);

    return n ? (int)n * 100 + ids[0] : 0;
}

#define INSIDE .open = {.ids = open_ids, .n_ids = 2}, \
               .close = {.ids = close_ids, .n_ids = 2}, .inside = true
#define BREAKS .begins = begins, .n_begins = 3, .n_breaks = 2

/* May the id come that something else has forbidden? */
static bool may_in_spite(int32_t id)
{
    uint32_t mask[VOCAB / 32] = {~0u, ~0u};

    mask[id / 32] &= ~(1u << id % 32);
    guide_allowed(g, state, mask, VOCAB);
    return mask[id / 32] >> id % 32 & 1;
}

/* --- tests --------------------------------------------------------------- */

/* What was forbidden before stays so; an answer that must begin with a newline
 * is not taken for what comes before it. */
static void forbidden(void)
{
    static const struct after_config inside = {
        INSIDE, BREAKS, .frame = frame, .n_frame = 2,
    }, waits = {
        .open = {.ids = open_ids, .n_ids = 2},
        .close = {.ids = close_ids, .n_ids = 2},
        .may_open = true,
    };

    start(&waits);
    ok(!may_in_spite(OPEN), "no opening that was forbidden");
    put(OPEN);
    ok(!may_in_spite(OPEN_2), "nor the rest of one");
    stop();
    start(&inside);
    put(CLOSE);
    put(CLOSE_2);
    ok(!may_in_spite(FRAME_1), "nor a frame");
    put(FRAME_1);
    put(FRAME_2);
    ok(!may_in_spite(NL) && !may_in_spite(1), "nor newlines, nor an answer");
    forced_first = 1;
    is_int(must(), 101, "the answer may be forced");
    forced_first = NL_X;
    is_int(must(), 0, "but not a newline, which may be of the frame");
    forced_first = 0;
    stop();
}

static void closed(void)
{
    static const struct after_config c = {INSIDE, BREAKS};

    start(&c);
    is_str(may(), "*", "check 49: anything in reasoning");
    for (int32_t id = 0; id < 5; id++)
        put(id);
    put(CLOSE);
    is_str(may(), "*", "half of a close is none");
    put(7);
    put(CLOSE);
    put(CLOSE);
    put(CLOSE_2);
    is_str(may(), "1 46 47", "then the answer, or newlines before it");
    put(NLNL);
    put(NL);
    is_str(may(), "1 46 47", "which are not the answer's");
    for (int i = 0; i < 6; i++)
        put(NL);
    is_str(may(), "1", "eight of them at most");
    put(1);
    is_str(may(), "2 3", "the inner guide's");
    is_int(must(), 0, "which forces nothing");
    put(3);
    is_int(must(), 104, "or something");
    is_int(guide_accept(g, state, 4), GUIDE_STOP, "and ends");
    stop();
}

static void at_once(void)
{
    static const struct after_config c = {
        .open = {.ids = open_ids, .n_ids = 2},
        .close = {.ids = close_ids, .n_ids = 2}, BREAKS,
    };
    struct after_config may_open = c;

    start(&c);
    is_str(may(), "1 48", "no reasoning: the answer, newlines and all");
    stop();

    may_open.may_open = true;
    start(&may_open);
    is_str(may(), "1 40 48", "or an opening");
    put(OPEN);
    is_str(may(), "41", "which goes on");
    is_int(must(), 141, "by force");
    put(OPEN_2);
    is_str(may(), "*", "and is open");
    put(CLOSE);
    put(CLOSE_2);
    is_str(may(), "1 46 47", "till it is closed");
    stop();

    start(&may_open);
    put(1);
    is_str(may(), "2 3", "an answer is no opening");
    put(2);
    is_int(must(), 104, "and is followed");
    stop();
}

static void framed(void)
{
    static const struct after_config c = {
        INSIDE, .frame = frame, .n_frame = 2,
    };

    start(&c);
    put(CLOSE);
    put(CLOSE_2);
    is_int(must(), 200 + FRAME_1, "the frame is forced");
    is_str(may(), "44", "and nothing else");
    put(FRAME_1);
    is_int(must(), 100 + FRAME_2, "to its end");
    put(FRAME_2);
    is_str(may(), "1 48", "the answer, where no newlines are dropped");
    stop();
}

/* "</" and ">": HALF and REST */
static struct span piece(const void *arg, int32_t id)
{
    (void)arg;
    switch (id) {
    case HALF:
        return (struct span){"x</", 3};
    case REST:
        return (struct span){"k>", 2};
    case REST_NL:
        return (struct span){"k>\n\n", 4};
    case REST_X:
        return (struct span){"k>\n1", 4};
    default:
        return (struct span){"", 0};
    }
}

static bool allows(int32_t id)
{
    uint32_t mask[VOCAB / 32] = {~0u, ~0u};

    guide_allowed(g, state, mask, VOCAB);
    return mask[id / 32] >> id % 32 & 1;
}

static void spelled(void)
{
    static const struct after_config c = {
        .open = {.text = {"<k>", 3}}, .close = {.text = {"</k>", 4}},
        .inside = true, .may_open = true, .piece = piece, BREAKS,
    };
    struct after_config later = c;

    start(&c);
    put(5);
    put(HALF);
    ok(allows(REST) && allows(REST_NL) && allows(5),
       "a close that is spelled has its end");
    ok(!allows(REST_X), "but no answer in the same id");
    put(REST_NL);
    is_str(may(), "1 46 47", "it is closed");
    stop();
    later.inside = false;
    start(&later);
    is_str(may(), "1 48", "one that is spelled is not opened");
    stop();
}

/* What ends a reply does not end a reasoning, unless it also closes it. */
static void ends(void)
{
    static const int32_t end[] = {END, CLOSE_2};
    static const struct after_config c = {INSIDE, BREAKS, .ends = end,
                                          .n_ends = 2};

    start(&c);
    ok(!allows(END) && allows(CLOSE_2) && allows(5), "no end in a reasoning");
    put(CLOSE);
    ok(!allows(END) && allows(CLOSE_2), "nor in half of a close");
    put(CLOSE_2);
    is_str(may(), "1 46 47", "behind it they are the inner guide's");
    stop();
}

/* Any prefix of a run can be gone back to. */
static void forks(void)
{
    static const struct after_config c = {INSIDE, BREAKS, .frame = frame,
                                          .n_frame = 2};
    static const int32_t run[] = {9, CLOSE, CLOSE_2, FRAME_1, FRAME_2, NL, 1,
                                  2, 4};
    char *saved;
    char want[400];
    size_t n, wrong = 0;
    uint64_t x = 7;

    start(&c);
    n = guide_state_bytes(g);
    saved = mem_zalloc(n);
    for (size_t i = 0; i < 8; i++) {
        guide_fork(g, saved, state);
        snprintf(want, sizeof(want), "%s", may());
        for (int k = 0; k < 4; k++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            (void)!guide_accept(g, state, (int32_t)(x >> 33) % VOCAB);
        }
        guide_rollback(g, state, saved);
        wrong += strcmp(want, may()) != 0;
        put(run[i]);
    }
    is_int(wrong, 0, "wrong drafts leave nothing behind");
    is_int(guide_accept(g, state, run[8]), GUIDE_STOP, "and it ends as ever");
    free(saved);
    stop();
}

int main(void)
{
    closed();
    forbidden();
    at_once();
    framed();
    spelled();
    ends();
    forks();
    return done();
}
