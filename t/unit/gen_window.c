/*
 * The guide over reasoning (seed 000 14.3): when it goes in circles, and the
 * n-grams that it keeps from coming again.
 */
#include "t/lib/tap.h"
#include "t/lib/think_t.h"

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
    /* a period has as many different groups of four as it has ids */
    is_int(circles(0, 306, 4000), 2048, "306 of 2,045 groups are under 15 %%");
    is_int(circles(0, 307, 4000), 0, "307 are not");
    is_int(circles(300, 100, 4000), 2304, "looked at every 256 ids");
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
    is_int(novelty(7, 2300), 2048, "groups of four, not of five");
    is_int(novelty(8, 2300), 0, "nor of three");
}

static void circles_elsewhere(void)
{
    struct think_config c = config(false, 0);
    struct run *r;
    size_t before;

    c.stall = true;
    r = begin_with(&c);
    for (int i = 0; i < 2047; i++)
        SAY(r, 1);
    is_int(r->n, 2047, "an answer may go in circles");
    SAY(r, OPEN, 2, 1);
    is_int(r->n, 2050, "what was before does not count");
    for (int i = 0; i < 127; i++)
        SAY(r, 1);
    is_int(stalls_at(r), 2049 + 128, "but from there on");
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
    mask = ~1u;
    ok(!guide_allowed(r->g, r->s, &mask, 3) && mask == ~1u,
       "bits beyond the vocabulary are no ids");
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

    c = config(false, 0);
    c.ngram = 2;
    r = begin_with(&c);
    put(r, 5);
    put(r, 6);
    put(r, OPEN);
    put(r, 5);
    ok(!allows(r, 6) && allows(r, 5), "what was said between counts");
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
    r = begin_with(&c);
    put(r, 50);
    put(r, '/');
    put(r, 50);
    ok(!allows(r, '/'), "an id is not its own byte");
    end(r);
}

int main(void)
{
    repeats();
    nothing_new();
    circles_elsewhere();
    ngrams_of_others();
    ngrams();
    ngrams_of_prompts();
    ngrams_spelled();
    return done();
}
