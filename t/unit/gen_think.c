/*
 * The guide over reasoning (seed 000 14.3, spec tandem.md sections 3 and 4,
 * checks 62 and 63): where it closes, by whom, and what it leaves alone.
 * Circles and n-grams are in gen_window.
 */
#include "t/lib/tap.h"
#include "t/lib/think_t.h"

/* --- the cap ------------------------------------------------------------- */

/* Two guides say what each of them did. */
static void both_notes(void)
{
    struct think_config c = config(true, 1);
    struct guide_note n = {0};
    uint32_t mask = ~0u;
    struct guide *two;
    struct run *r;

    if (guide_pattern_new(&two, 1, 1, 2, NULL))
        return;
    r = begin(guide_both(guide_think_new(&c), two));
    SAY(r, 1, 2);
    is_int(put(r, 3), GUIDE_GO, "the answer");
    is_int(put(r, 3), GUIDE_STOP, "goes in circles");
    guide_note(r->g, r->s, &n);
    ok(n.closed == CLOSED_BY_BUDGET && n.loop_size == 1 && n.loop_ids[0] == 3,
       "the note has both ends");
    end(r);

    if (guide_pattern_new(&two, 1, 1, 3, NULL))
        return;
    c.cap = 0;
    c.ngram = 2;
    r = begin(guide_both(guide_think_new(&c), two));
    SAY(r, 1, 1);
    ok(guide_allowed(r->g, r->s, &mask, 32) && mask == ~2u,
       "the first forbids, whatever the second does");
    end(r);
}

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
    ok(SAID(r, 1, 2, 3, 4) && closed(r) == THINK_NOT_CLOSED,
       "no phrase: no cap");
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
    both_notes();
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
    ok(SAID(r, OPEN, 1, CLOSE, 7, OPEN, 90, 91, CLOSE, 92, 2),
       "the sum of two openings counts, every marker as one");
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
    put(r, 90);
    put(r, 91);
    put(r, 91);
    ok(guide_forced(r->g, r->s, ids, 8) == 4 && ids[0] == 90,
       "also where half of it was there");
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

/* --- markers ------------------------------------------------------------- */

static void spelled_marks(void)
{
    static const struct {
        int32_t ids[8];
        size_t n;
        bool closes;
        const char *name;
    } t[] = {
        {{2, 3, 4, 5}, 4, true, "four ids"},
        {{6, 4, 5}, 3, true, "three"},
        {{8}, 1, true, "one, with text around it"},
        {{2, 6, 4, 5}, 4, true, "behind its own first character"},
        {{12, 13, 5}, 3, true, "the same, in one id"},
        {{10, 10, 11}, 3, true, "behind a half of it"},
        {{6, 1, 4, 5}, 4, false, "broken"},
        {{CLOSE}, 1, false, "an id without text"},
        {{2, 4, 5}, 3, false, "the other marker"},
    };
    struct think_config c = spelled(true, 100);
    struct run *r;

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        r = begin_with(&c);
        say(r, t[i].ids, t[i].n);
        is_int(closed(r), t[i].closes ? CLOSED_BY_MODEL : THINK_NOT_CLOSED,
               "spelled: %s", t[i].name);
        end(r);
    }
    c = spelled(true, 3);
    r = begin_with(&c);
    SAY(r, 1, 1, 6, 4, 5, 1);
    ok(SAID(r, 1, 1, 6, 4, 5, 1), "a close that has begun gets its time");
    is_int(closed(r), CLOSED_BY_MODEL, "it was the model");
    end(r);
    r = begin_with(&c);
    SAY(r, 1, 1, 1, 2, 1);
    ok(SAID(r, 1, 1, 1, 2, 1, 1, 6, 4, 5, 90), "and when it is none");
    is_int(closed(r), CLOSED_BY_BUDGET, "the phrase");
    end(r);
    r = begin_with(&c);
    for (int i = 0; i < 30 && closed(r) == THINK_NOT_CLOSED; i++)
        SAY(r, 2);
    is_int(r->n, 4 + 8 + 5, "or goes on for ever");
    end(r);

    c = spelled(false, 3);
    r = begin_with(&c);
    SAY(r, 2, 4, 5, 1, 1, 1, 1, 1);
    ok(SAID(r, 2, 4, 5, 1, 1, 1, 1, 1, 6, 4, 5, 90, 1),
       "opened by spelling; that does not count");
    end(r);

    c = spelled(true, 0);
    c.close.ids = &close_id;
    c.close.n_ids = 1;
    r = begin_with(&c);
    SAY(r, 2, 6, 4, 5);
    is_int(closed(r), THINK_NOT_CLOSED, "a token: its spelling is text");
    SAY(r, CLOSE);
    is_int(closed(r), CLOSED_BY_MODEL, "the token is not");
    end(r);
}

/* What stands behind a marker in its own id is no part of another one. */
static void spelled_rests(void)
{
    struct think_config c = spelled(true, 0);
    struct run *r = begin_with(&c);

    SAY(r, 14, 9, 7);
    is_int(closed(r), THINK_NOT_CLOSED, "half a close from before is none");
    end(r);
    c.inside = false;
    r = begin_with(&c);
    SAY(r, 15, 8, 16);
    is_int(closed(r), CLOSED_BY_MODEL, "nor is half an opening one");
    end(r);
}

/* A close that came while it was waited for ends that; the next time is as
 * the first. */
static void waited_for(void)
{
    struct think_config c = spelled(true, 0);
    struct run *r;

    c.stall = true;
    r = begin_with(&c);
    for (size_t turn = 1; turn < 4; turn++) {
        for (int i = 0; i < 128 + 6; i++)
            SAY(r, 2);
        SAY(r, 7);
        is_int(closed(r), CLOSED_BY_MODEL, "circles, a close in time");
        SAY(r, 9, 1, 1);
        is_int(r->n, turn * (128 + 6 + 4), "opened again: it goes on");
        is_int(closed(r), THINK_NOT_CLOSED, "and is open");
    }
    end(r);
}

static void sequences(void)
{
    static const int32_t opens[] = {OPEN, TAG, SEP},
                         closes[] = {CLOSE, TAG, SEP},
                         out[] = {90, CLOSE, TAG, SEP, OPEN, 105, SEP},
                         half[] = {90, CLOSE};
    struct think_config c = config(true, 3);
    struct run *r;

    c.open = (struct think_mark){.ids = opens, .n_ids = 3};
    c.close = (struct think_mark){.ids = closes, .n_ids = 3};
    c.phrase = out;
    c.n_phrase = 7;
    r = begin_with(&c);
    SAY(r, 1, CLOSE, CLOSE, TAG, SEP, OPEN, 105, SEP, 4);
    ok(r->n == 9 && closed(r) == CLOSED_BY_MODEL, "an element closed");
    SAY(r, OPEN, TAG, SEP, 5);
    is_int(r->n, 13 + 7, "opened again, over the cap");
    is_int(closed(r), CLOSED_BY_BUDGET, "closed");
    end(r);
    r = begin_with(&c);
    SAY(r, 1, 2, 3, 4, 5);
    ok(r->n == 12 && !memcmp(r->ids + 4, out, sizeof(out)),
       "the element's ids are the phrase");
    end(r);

    c.inside = false;
    r = begin_with(&c);
    SAY(r, OPEN, TAG, SEP, 1, 2, 3);
    is_int(r->n, 6, "an opening of three ids does not count");
    SAY(r, 4);
    is_int(r->n, 7 + 7, "the fourth behind it is one too many");
    end(r);
    c.inside = true;

    c.cap = 0;
    c.stall = true;
    c.phrase = half;
    c.n_phrase = 2;
    r = begin_with(&c);
    for (int i = 0; i < 128; i++)
        SAY(r, 1);
    is_int(closed(r), CLOSED_BY_STALL, "closed, whatever the phrase is");
    SAY(r, OPEN, TAG, SEP, TAG, SEP);
    is_int(closed(r), THINK_NOT_CLOSED,
           "the half of a close in a phrase has no other half");
    end(r);
}

/* Markers that have their own beginning inside. */
static void overlapping(void)
{
    static const struct {
        int32_t mark[4], ids[8];
        size_t n_mark, n;
        bool closes;
    } t[] = {
        {{1, 1, 2}, {1, 1, 1, 2}, 3, 4, true},
        {{1, 2, 1, 3}, {1, 2, 1, 2, 1, 3}, 4, 6, true},
        {{1, 2, 1, 3}, {1, 2, 1, 1, 3}, 4, 5, false},
        {{1, 1, 2}, {1, 2, 1, 3, 2}, 3, 5, false},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct think_config c = config(true, 0);
        struct run *r;

        c.close = (struct think_mark){.ids = t[i].mark, .n_ids = t[i].n_mark};
        r = begin_with(&c);
        say(r, t[i].ids, t[i].n);
        is_int(closed(r), t[i].closes ? CLOSED_BY_MODEL : THINK_NOT_CLOSED,
               "a marker that overlaps itself, %zu", i);
        end(r);
    }
}

/* A marker that is longer than there is room for never comes. */
static void long_marks(void)
{
    static const struct {
        size_t n_ids, n_bytes; /* of the close */
        bool closes;
    } t[] = {
        {THINK_MARK_IDS, 0, true},    {THINK_MARK_IDS + 1, 0, false},
        {0, THINK_MARK_BYTES, true},  {0, THINK_MARK_BYTES + 1, false},
        {0, 0, false},
    };
    int32_t ids[THINK_MARK_BYTES + 1];
    char text[THINK_MARK_BYTES + 1];

    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < sizeof(text); i++)
        ids[i] = 1; /* an "a" */
    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct think_config c = spelled(true, 0);
        struct run *r;

        c.close = (struct think_mark){ids, t[i].n_ids, {text, t[i].n_bytes}};
        r = begin_with(&c);
        say(r, ids, sizeof(text));
        is_int(closed(r), t[i].closes ? CLOSED_BY_MODEL : THINK_NOT_CLOSED,
               "a marker of %zu ids or %zu bytes", t[i].n_ids, t[i].n_bytes);
        end(r);
    }
}

/* --- copies -------------------------------------------------------------- */

/* A copy that goes another way and comes back is as if it had not been. */
static void copies(void)
{
    struct think_config c = spelled(true, 900);
    struct guide *g;
    struct run *a, *b;
    uint64_t x = 3;
    size_t bytes, wrong = 0;
    void *saved;

    c.stall = true;
    c.ngram = 3;
    g = guide_think_new(&c);
    a = begin(g);
    b = begin(guide_think_new(&c));
    bytes = guide_state_bytes(g);
    saved = mem_zalloc(bytes);
    for (int i = 0; i < 1200; i++) {
        int32_t id = (x = x * 6364136223846793005u + 1) >> 33 & 15;

        guide_fork(g, saved, a->s);
        for (int k = 0; k < i % 7; k++)
            guide_accept(g, a->s, (int32_t)(i + k) % 14);
        guide_rollback(g, a->s, saved);
        put(a, id);
        put(b, id);
        wrong += memcmp(a->s, b->s, bytes) != 0;
    }
    is_int(wrong, 0, "rolled back 1200 times, the state is the same");
    free(saved);
    end(a);
    end(b);
}

/* The n-grams leave what the choice allows. */
static void with_choice(void)
{
    static const int32_t one[] = {1, 2}, two[] = {1, 3};
    const struct id_list l[] = {{one, 2}, {two, 2}};
    struct think_config c = config(true, 0);
    uint32_t mask = ~0u;
    struct run *r;

    c.ngram = 2;
    c.n_phrase = 0;
    r = begin(guide_both(guide_think_new(&c),
                         lists_guide(l, 2)));
    SAY(r, 7, 8, 9, 7, 1);
    ok(guide_allowed(r->g, r->s, &mask, 32) && mask == 12,
       "others' ids do not move a choice");
    end(r);
    c.prompt = (const int32_t[]){1, 2, 1, 3};
    c.n_prompt = 4;
    r = begin(guide_both(guide_think_new(&c),
                         lists_guide(l, 2)));
    mask = ~0u;
    put(r, 1);
    ok(guide_allowed(r->g, r->s, &mask, 32) && mask == 12,
       "n-grams leave what the choice allows");
    end(r);
}

int main(void)
{
    cap();
    opened_later();
    interrupted();
    spelled_marks();
    spelled_rests();
    waited_for();
    sequences();
    overlapping();
    long_marks();
    copies();
    with_choice();
    return done();
}
