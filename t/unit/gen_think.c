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

/* Two guides say what each of them did. */
static void both_notes(void)
{
    struct think_config c = config(true, 1);
    struct guide_note n = {0};
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

/* --- markers ------------------------------------------------------------- */

/* Ids 1, 2, .. stand for these texts. */
static const char *const pieces[] = {
    "", "a", "<", "/", "think", ">", "</", "/think>", "x</think>y", "<think>",
    "</thi", "nk>", "<</th", "ink", "</think><", "<think><", "think>",
};

static struct span piece(const void *arg, int32_t id)
{
    const char *s = id > 0 && (size_t)id < sizeof(pieces) / sizeof(*pieces)
                        ? pieces[id] : "";

    (void)arg;
    return (struct span){s, strlen(s)};
}

static const int32_t spelled_phrase[] = {1, 6, 4, 5, 90};

static struct think_config spelled(bool inside, int32_t most)
{
    struct think_config c = config(inside, most);

    c.open = (struct think_mark){.text = {"<think>", 7}};
    c.close = (struct think_mark){.text = {"</think>", 8}};
    c.phrase = spelled_phrase;
    c.n_phrase = 5;
    c.piece = piece;
    return c;
}

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
    SAY(r, 2, 4, 5, 1, 1, 1, 1);
    is_int(r->n, 7 + 5, "opened by spelling; that does not count");
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

#define SEP 103
#define TAG 104

static void sequences(void)
{
    static const int32_t opens[] = {OPEN, TAG, SEP},
                         closes[] = {CLOSE, TAG, SEP},
                         out[] = {90, CLOSE, TAG, SEP, OPEN, 105, SEP},
                         twice[] = {CLOSE, CLOSE, SEP},
                         many[THINK_MARK_IDS + 1] = {0};
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

    c.cap = 0;
    c.close = (struct think_mark){.ids = twice, .n_ids = 3};
    r = begin_with(&c);
    SAY(r, CLOSE, CLOSE, CLOSE, SEP);
    is_int(closed(r), CLOSED_BY_MODEL, "behind its own first ids");
    end(r);
    c.close = (struct think_mark){.ids = many, .n_ids = THINK_MARK_IDS + 1};
    r = begin_with(&c);
    for (int i = 0; i < 2 * THINK_MARK_IDS; i++)
        SAY(r, 0);
    is_int(closed(r), THINK_NOT_CLOSED, "one that is too long never comes");
    end(r);
}

/* --- circles ------------------------------------------------------------- */

/* Where the phrase began; 0: it did not. */
static size_t stalls_at(const struct run *r)
{
    return closed(r) == CLOSED_BY_STALL ? r->n - PHRASE_N : 0;
}

/* `before` new ids, then a unit so often; stops at the phrase. */
static size_t circles(size_t before, size_t unit, size_t ids)
{
    struct think_config c = config(true, 0);
    struct run *r;
    size_t at;

    c.stall = true;
    r = begin_with(&c);
    for (size_t i = 0; i < before; i++)
        SAY(r, 1000 + (int32_t)i);
    for (size_t i = 0; i < ids && !stalls_at(r); i++)
        SAY(r, 2000 + (int32_t)(i % unit));
    at = stalls_at(r);
    end(r);
    return at;
}

static void repeats(void)
{
    is_int(circles(10, 1, 127), 0, "127 ids that are one: not yet");
    is_int(circles(10, 1, 200), 10 + 128, "at the 128th");
    is_int(circles(0, 1, 200), 128, "the same from the start");
    is_int(circles(10, 4, 200), 10 + 128, "a unit of 4, 32 times");
    is_int(circles(10, 16, 200), 10 + 128, "of 16, 8 times");
    is_int(circles(10, 17, 135), 0, "of 17, 7 times and all but one");
    is_int(circles(10, 17, 200), 10 + 136, "8 times");
    is_int(circles(10, 64, 511), 0, "of 64, all but one");
    is_int(circles(10, 64, 600), 10 + 512, "8 times");
    is_int(circles(10, 65, 1900), 0, "of 65: no unit");
    is_int(circles(1500, 8, 200), 1500 + 128, "after much else");
}

/* Groups of four that are new, in percent, as long as the window. */
static size_t novelty(size_t percent, size_t ids)
{
    struct think_config c = config(true, 0);
    struct run *r;
    size_t at;

    c.stall = true;
    r = begin_with(&c);
    /* 100 blocks; most of them say the same in 100 ids, others are new */
    for (size_t i = 0; i < ids && !stalls_at(r); i++) {
        bool fresh = i % 100 < percent;

        SAY(r, fresh ? 5000 + (int32_t)i : 200 + (int32_t)(i % 100));
    }
    at = stalls_at(r);
    end(r);
    return at;
}

static void nothing_new(void)
{
    /* of 100 groups, percent + 3 have a new id; the others are 97 - percent
     * different ones in all of the window */
    is_int(novelty(0, 2047), 0, "a window is not full: no look");
    is_int(novelty(0, 4000), 2048, "nothing new, looked at when it is");
    is_int(novelty(5, 4000), 2048, "8 in 100 and 92 others");
    is_int(novelty(10, 4000), 0, "13 in 100 and 87 others");
    is_int(novelty(60, 4000), 0, "a diverse text");
}

static void circles_elsewhere(void)
{
    struct think_config c = config(false, 0);
    struct run *r;
    size_t before;

    c.stall = true;
    r = begin_with(&c);
    for (int i = 0; i < 600; i++)
        SAY(r, 1);
    is_int(r->n, 600, "an answer may go in circles");
    SAY(r, OPEN, 2, 1);
    is_int(r->n, 603, "what was before does not count");
    for (int i = 0; i < 127; i++)
        SAY(r, 1);
    is_int(stalls_at(r), 602 + 128, "but from there on");
    before = r->n;
    SAY(r, OPEN, 3, 4);
    is_int(r->n, before + 3, "opened again: it is looked at anew");
    end(r);

    r = begin_with(&c);
    for (int i = 0; i < 2100; i++)
        SAY(r, 1);
    SAY(r, OPEN);
    for (int32_t i = 0; i < 300; i++)
        SAY(r, 1000 + i);
    is_int(r->n, 2401, "nor does it make what is new stale");
    end(r);

    r = begin_with(&c);
    for (size_t i = 0; i < 700 && !stalls_at(r); i++)
        SAY(r, i % 64 == 63 ? OPEN : 2000 + (int32_t)i % 64);
    is_int(stalls_at(r), 64 + 512, "nor is it the first of the units");
    end(r);

    r = begin_with(&c);
    for (int i = 0; i < 100; i++)
        SAY(r, OPEN, 1, CLOSE, 2);
    is_int(r->n, 400, "each reasoning by itself");
    end(r);

    c.inside = true;
    c.n_phrase = 0;
    r = begin_with(&c);
    for (int i = 0; i < 600; i++)
        SAY(r, 1);
    is_int(r->n, 600, "no phrase: nothing to do about it");
    end(r);
}

/* --- n-grams ------------------------------------------------------------- */

static size_t numbers(char *s, int32_t *out)
{
    size_t n = 0;

    while (*s >= '0' && *s <= '9') {
        out[n++] = (int32_t)strtol(s, &s, 10);
        s += *s == ',';
    }
    return n;
}

/* The history comes half as prompt and half as reasoning. */
static bool forbids(const int32_t *ids, size_t n, int size,
                    const int32_t *want, size_t n_want, size_t in_prompt)
{
    struct think_config c = config(true, 0);
    uint32_t mask = ~0u, wanted = ~0u;
    struct run *r;

    c.ngram = size;
    c.prompt = ids;
    c.n_prompt = in_prompt;
    c.n_phrase = 0;
    r = begin_with(&c);
    for (size_t i = in_prompt; i < n; i++)
        put(r, ids[i]);
    for (size_t i = 0; i < n_want; i++)
        wanted &= ~(1u << want[i]);
    if (guide_allowed(r->g, r->s, &mask, 16) != (n_want > 0))
        mask = 0;
    end(r);
    return mask == wanted;
}

static void ngrams_of_others(void)
{
    FILE *f = fopen("t/data/gen/ngram.tsv", "r");
    char line[8192];
    size_t rows = 0, wrong = 0;

    while (f && fgets(line, sizeof(line), f)) {
        int32_t ids[4096], want[4096];
        char *size = strchr(line, '\t'), *last;
        size_t n, n_want;

        if (line[0] == '#' || !size)
            continue;
        *size++ = '\0';
        last = strchr(size, '\t');
        *last++ = '\0';
        n = numbers(line, ids);
        n_want = numbers(last, want);
        rows++;
        for (size_t cut = 0; cut <= n; cut++)
            wrong += !forbids(ids, n, (int)strtol(size, NULL, 10),
                              want, n_want, cut);
    }
    if (f)
        fclose(f);
    ok(rows > 50 && !wrong, "%zu rows of another program, %zu wrong", rows,
       wrong);
}

static bool allows(const struct run *r, int32_t id)
{
    uint32_t mask[VOCAB / 32];

    memset(mask, 0xff, sizeof(mask));
    guide_allowed(r->g, r->s, mask, VOCAB);
    return mask[id / 32] >> id % 32 & 1;
}

static void ngrams(void)
{
    static const int32_t prompt[] = {1, 2, 7, CLOSE, 1};
    struct think_config c = config(false, 0);
    uint32_t mask = ~0u;
    struct run *r;

    c.ngram = 2;
    c.prompt = prompt;
    c.n_prompt = 5;
    c.n_phrase = 0;
    r = begin_with(&c);
    ok(allows(r, 2), "no reasoning: nothing is forbidden");
    put(r, OPEN);
    put(r, 1);
    ok(!allows(r, 2) && allows(r, 3), "what followed in the prompt is");
    put(r, 7);
    ok(allows(r, CLOSE), "the close never");
    put(r, CLOSE);
    ok(allows(r, 1), "behind it nothing");
    end(r);

    c.inside = true;
    c.n_prompt = 0;
    r = begin_with(&c);
    SAY(r, 1, 1, 2, 1);
    ok(guide_allowed(r->g, r->s, &mask, 3) && mask == ~6u,
       "ids 1 and 2 of three");
    mask = 6;
    ok(!guide_allowed(r->g, r->s, &mask, 3) && mask == 6,
       "not when nothing would be left");
    mask = 4;
    ok(!guide_allowed(r->g, r->s, &mask, 3) && mask == 4,
       "and then others' bits stay as they are");
    for (int32_t i = 0; i < 2046; i++)
        put(r, 1000 + i);
    put(r, 1);
    ok(allows(r, 1) && allows(r, 2), "what is 2,048 ids back is forgotten");
    end(r);

    c = config(true, 2);
    c.ngram = 2;
    r = begin_with(&c);
    put(r, 1);
    put(r, 1);
    ok(!allows(r, 1), "forbidden");
    put(r, 2);
    put(r, 90);
    put(r, 1);
    put(r, 1);
    is_int(guide_forced(r->g, r->s, (int32_t[1]){0}, 1), 1,
           "a phrase is due");
    ok(allows(r, 1), "meanwhile nothing is forbidden");
    end(r);
}

/* The window is the end of a long prompt, whatever ids it has. */
static void ngrams_of_prompts(void)
{
    static int32_t prompt[THINK_WINDOW + 1];
    struct think_config c = config(true, 0);
    uint32_t mask[20];
    struct run *r;

    c.ngram = 2;
    c.prompt = prompt;
    c.n_prompt = THINK_WINDOW + 1;
    for (int32_t i = 0; i < THINK_WINDOW; i++)
        prompt[i] = 1000 + i;
    prompt[THINK_WINDOW] = prompt[1] = 50;
    prompt[2] = 51;
    r = begin_with(&c);
    ok(!allows(r, 51), "the last 2,048 ids of a prompt count");
    end(r);
    prompt[0] = 50;
    prompt[1] = 51;
    r = begin_with(&c);
    ok(allows(r, 51), "those before do not");
    put(r, 600);
    put(r, 50);
    put(r, 600);
    put(r, 50);
    memset(mask, 0xff, sizeof(mask));
    ok(!guide_allowed(r->g, r->s, mask, 64) && mask[600 / 32] == ~0u,
       "an id that has no bit is let be");
    end(r);
}

/* A spelled close can be written although the prompt has one. */
static void ngrams_spelled(void)
{
    static const int32_t prompt[] = {1, 6, 4, 5, 1, 13, 1, 5};
    struct think_config c = spelled(true, 0);
    struct run *r;

    c.ngram = 2;
    c.prompt = prompt;
    c.n_prompt = 8;
    r = begin_with(&c);
    put(r, 1);
    ok(allows(r, 6), "what begins a spelled close is not forbidden");
    ok(!allows(r, 13) && !allows(r, 5), "what does not, is");
    put(r, 6);
    ok(allows(r, 4), "nor what goes on with it");
    put(r, 4);
    ok(allows(r, 5), "to its end");
    put(r, 5);
    is_int(closed(r), CLOSED_BY_MODEL, "which closes");
    end(r);
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
    const struct guide_list l[] = {{one, 2}, {two, 2}};
    struct think_config c = config(true, 0);
    uint32_t mask = ~0u;
    struct run *r;

    c.ngram = 2;
    c.n_phrase = 0;
    r = begin(guide_both(guide_think_new(&c),
                         guide_choice_new(l, 2, NULL, 0)));
    SAY(r, 7, 8, 9, 7, 1);
    ok(guide_allowed(r->g, r->s, &mask, 32) && mask == 12,
       "others' ids do not move a choice");
    end(r);
    c.prompt = (const int32_t[]){1, 2, 1, 3};
    c.n_prompt = 4;
    r = begin(guide_both(guide_think_new(&c),
                         guide_choice_new(l, 2, NULL, 0)));
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
    repeats();
    nothing_new();
    circles_elsewhere();
    ngrams_of_others();
    ngrams();
    ngrams_of_prompts();
    ngrams_spelled();
    copies();
    with_choice();
    return done();
}
