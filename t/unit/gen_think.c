/*
 * The guide over reasoning (seed 000 14.3, spec tandem.md sections 3 and 4,
 * checks 62 and 63): where it closes, by whom, and what it leaves alone.
 */
#include "gen/guide_think.h"

#include "t/lib/jobs.h"
#include "t/lib/tap.h"

#define OPEN 101
#define CLOSE 102
#define VOCAB 128
#define MANY 8192

static const int32_t open_id = OPEN, close_id = CLOSE;
static const int32_t phrase[] = {90, 91, CLOSE, 92};
#define PHRASE_N (sizeof(phrase) / sizeof(*phrase))

/* A sequence as the engine drives it. */
struct run {
    struct guide *g;
    void *s;
    int32_t ids[MANY];
    size_t n;
};

static struct think_config config(bool inside, int32_t cap)
{
    return (struct think_config){
        .open = {.ids = &open_id, .n_ids = 1},
        .close = {.ids = &close_id, .n_ids = 1},
        .inside = inside, .cap = cap,
        .phrase = phrase, .n_phrase = PHRASE_N,
    };
}

static struct run *begin(struct guide *g)
{
    struct run *r = mem_new(struct run);

    r->g = g;
    r->s = mem_zalloc(guide_state_bytes(g));
    guide_init(g, r->s);
    return r;
}

static struct run *begin_with(const struct think_config *c)
{
    return begin(guide_think_new(c));
}

static void end(struct run *r)
{
    guide_free(r->g);
    free(r->s);
    free(r);
}

static enum guide_next put(struct run *r, int32_t id)
{
    BUG_ON(r->n == MANY);
    r->ids[r->n++] = id;
    return guide_accept(r->g, r->s, id);
}

/* What is forced now, all of it; then the model's id. */
static size_t force(struct run *r)
{
    int32_t ids[3];
    size_t n, all = 0;

    while ((n = guide_forced(r->g, r->s, ids, 3))) {
        for (size_t i = 0; i < n; i++)
            put(r, ids[i]);
        all += n;
    }
    return all;
}

static void say(struct run *r, const int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        force(r);
        put(r, ids[i]);
    }
    force(r);
}

static bool said(const struct run *r, const int32_t *ids, size_t n)
{
    return r->n == n && !memcmp(r->ids, ids, n * sizeof(*ids));
}

static enum think_closed closed(const struct run *r)
{
    struct guide_note n = {0};

    guide_note(r->g, r->s, &n);
    return n.closed;
}

#define SAY(r, ...)                                                          \
    say((r), (const int32_t[]){__VA_ARGS__},                                 \
        sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))
#define SAID(r, ...)                                                         \
    said((r), (const int32_t[]){__VA_ARGS__},                                \
         sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t))

/* --- the cap ------------------------------------------------------------- */

static void cap(void)
{
    struct think_config c = config(true, 3);
    struct run *r = begin_with(&c);
    struct guide *two;

    SAY(r, 1, 2, 3);
    ok(SAID(r, 1, 2, 3), "cap 3: nothing behind the third id");
    is_int(closed(r), THINK_NOT_CLOSED, "it is open");
    SAY(r, 4);
    ok(SAID(r, 1, 2, 3, 4, 90, 91, CLOSE, 92),
       "check 62: the phrase behind the fourth");
    is_int(closed(r), CLOSED_BY_BUDGET, "and the note says why");
    SAY(r, 5, 6, 7, 8, 9);
    ok(r->n == 13, "the answer is left alone");
    end(r);

    r = begin_with(&c);
    SAY(r, 1, 2, 3, CLOSE, 4, 5, 6);
    ok(SAID(r, 1, 2, 3, CLOSE, 4, 5, 6),
       "the model closes where it would have been");
    is_int(closed(r), CLOSED_BY_MODEL, "so it was the model");
    end(r);

    c = config(true, 0);
    r = begin_with(&c);
    for (int i = 0; i < 500; i++)
        SAY(r, 1, 2, 3, 4);
    is_int(r->n, 2000, "no cap: nothing, ever");
    end(r);

    c = config(true, 2);
    c.n_phrase = 0;
    r = begin_with(&c);
    SAY(r, 1, 2, 3, 4);
    ok(SAID(r, 1, 2, 3, 4), "no phrase: no cap");
    end(r);

    /* check 63 */
    c = config(true, 1);
    if (guide_pattern_new(&two, 1, 1, 2, NULL))
        return;
    r = begin(guide_both(guide_think_new(&c), two));
    is_int(put(r, 1), GUIDE_GO, "a pattern guard beside it");
    is_int(put(r, 2), GUIDE_GO, "the cap is passed");
    is_int(put(r, 90), GUIDE_GO, "in the phrase");
    is_int(put(r, 90), GUIDE_STOP, "check 63: the guard ends it there");
    end(r);
}

static void opened_later(void)
{
    struct think_config c = config(false, 3);
    struct run *r = begin_with(&c);

    SAY(r, 1, 2, 3, 4, 5, CLOSE, 6);
    ok(r->n == 7, "what was not opened has no cap");
    is_int(closed(r), THINK_NOT_CLOSED, "and nobody closed it");
    SAY(r, OPEN, 1, 2);
    is_int(r->n, 10, "the marker counts as the first of three");
    SAY(r, 3);
    is_int(r->n, 11 + PHRASE_N, "so the phrase is behind the fourth");
    SAY(r, 7, 8, OPEN);
    is_int(r->n, 14 + 2 * PHRASE_N, "no second budget when opened again");
    is_int(closed(r), CLOSED_BY_BUDGET, "closed again");
    end(r);

    r = begin_with(&c);
    SAY(r, OPEN, 1, CLOSE, 7, OPEN, 2);
    is_int(r->n, 6 + PHRASE_N, "the sum of two openings counts");
    end(r);
}

static void interrupted(void)
{
    struct think_config c = config(true, 1);
    struct run *r = begin_with(&c);
    int32_t ids[8];
    void *saved = mem_zalloc(guide_state_bytes(r->g));

    put(r, 1);
    put(r, 2);
    guide_fork(r->g, saved, r->s);
    put(r, 90);
    is_int(guide_forced(r->g, r->s, ids, 8), 3, "the rest of the phrase");
    guide_rollback(r->g, r->s, saved);
    ok(guide_forced(r->g, r->s, ids, 8) == 4 && ids[0] == 90,
       "rolled back: all of it");
    put(r, 3);
    ok(guide_forced(r->g, r->s, ids, 8) == 4 && ids[0] == 90,
       "another id: the phrase begins again");
    put(r, CLOSE);
    is_int(guide_forced(r->g, r->s, ids, 8), 0,
           "the model closes meanwhile: nothing is forced");
    is_int(closed(r), CLOSED_BY_MODEL, "it was the model");
    guide_rollback(r->g, r->s, saved);
    put(r, 90);
    put(r, 91);
    is_int(closed(r), THINK_NOT_CLOSED, "open before the close");
    put(r, CLOSE);
    is_int(closed(r), CLOSED_BY_BUDGET, "closed with it");
    is_int(guide_forced(r->g, r->s, ids, 8), 1, "and one id is left");
    free(saved);
    end(r);
}

int main(void)
{
    cap();
    opened_later();
    interrupted();
    return done();
}
