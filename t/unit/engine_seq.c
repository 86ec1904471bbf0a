/*
 * When a sequence ends and why, id by id (engine/seq.h): the end of a text
 * before the limit, what was asked to be kept before a cancellation. Without
 * an engine, so that nothing here is a matter of time.
 */
#include "engine/seq.h"

#include "t/lib/jobs.h"
#include "t/lib/tap.h"

#define STOP 7
#define NONE (-1)

static const struct gen_limits limits = {.context = 8, .vocab = 100};

/* A prompt of 3 ids; the caller owns the job through the sequence. */
static struct seq *begin(int32_t max_tokens, struct guide *guide)
{
    static const int32_t prompt[] = {1, STOP, 3}, stop = STOP;
    struct job *j = job_new(prompt, 3, &stop, 1, max_tokens, 0);
    struct seq *s;

    j->guide = guide;
    s = seq_new(j, &limits);
    job_unref(j);
    return s;
}

static void put(struct seq *s, const int32_t *ids, size_t n)
{
    for (size_t i = 0; i < n && !s->ended; i++)
        seq_commit(s, ids[i], 1, 0, NULL);
}

/* --- by ids -------------------------------------------------------------- */

static void ends(void)
{
    static const int32_t ids[] = {1, 2, STOP, 4, 5, 6, 8, 9};
    static const struct {
        int32_t max_tokens;
        size_t list;        /* ids of a choice; 0: no guide */
        int want;           /* enum end_reason; NONE: goes on */
        int32_t n;
        const char *name;
    } t[] = {
        {2, 0, END_LENGTH, 2, "the limit"},
        {3, 0, END_STOP, 3, "a stop id that is the last one"},
        {4, 0, END_STOP, 3, "a stop id"},
        {9, 1, END_STOP, 1, "the end of a guide"},
        {2, 2, END_STOP, 2, "the end of a guide that is the last one"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct seq *s = begin(t[i].max_tokens,
                              t[i].list ? forced_guide(ids, t[i].list) : NULL);

        put(s, ids, 8);
        ok(s->ended && (int)s->end.reason == t[i].want, "%s: the reason",
           t[i].name);
        is_int(s->end.completion_tokens, t[i].n, "%s: the ids", t[i].name);
        seq_free(s);
    }
}

static void context(void)
{
    static const int32_t ids[] = {1, 2, 3, 4, 5, 6};
    struct seq *s = begin(100, NULL);

    put(s, ids, 6);
    ok(s->ended && s->end.reason == END_LENGTH, "the context is a limit");
    is_int(s->end.completion_tokens, 5, "prompt and text fill it");
    is_int(s->end.prompt_tokens, 3, "the prompt is told");
    seq_free(s);
}

static void forced_outside(void)
{
    static const int32_t ids[] = {5, 100, 6};
    struct seq *s = begin(9, forced_guide(ids, 3));

    ok(seq_commit_forced(s, 1, limits.vocab) && s->ended &&
           s->end.reason == END_ERROR, "an id that is none is forced");
    is_int(s->end.completion_tokens, 1, "the ids before it came");
    seq_free(s);
}

/* --- by others ----------------------------------------------------------- */

static void asked(void)
{
    static const int32_t ids[] = {1, 2, 3};
    static const struct {
        int32_t finish;
        bool cancelled;
        int64_t deadline_us; /* it is 50 */
        int want;            /* enum end_reason; NONE: goes on */
        int32_t n;
        const char *name;
    } t[] = {
        {0, false, 0, NONE, 0, "nothing"},
        {4, false, 0, NONE, 0, "keep more than there are"},
        {3, false, 0, END_STOP, 3, "keep all"},
        {1, false, 0, END_STOP, 1, "keep one"},
        {2, true, 50, END_STOP, 2, "keep two, then cancel"},
        {4, true, 50, END_CANCELLED, 3, "cancel before that many came"},
        {0, true, 50, END_CANCELLED, 3, "cancel, and the time is over"},
        {0, false, 50, END_TIMEOUT, 3, "the time is over"},
        {0, false, 51, NONE, 0, "it is not yet"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct seq *s = begin(5, NULL);

        put(s, ids, 3);
        atomic_store(&s->job->finish, t[i].finish);
        atomic_store(&s->job->cancelled, t[i].cancelled);
        s->job->deadline_us = t[i].deadline_us;
        ok(seq_check(s, 50) == (t[i].want != NONE) &&
               s->ended == (t[i].want != NONE), "%s: is it over?", t[i].name);
        if (s->ended)
            ok((int)s->end.reason == t[i].want &&
                   s->end.completion_tokens == t[i].n, "%s: as asked",
               t[i].name);
        seq_free(s);
    }
}

/* What was computed before it was sent back counts once; what was found
 * meanwhile is found. */
static void cached(void)
{
    static const struct {
        int32_t found, rows; /* then so many are computed */
    } t[][3] = {
        {{0, 30}},
        {{10, 20}},
        {{10, 10}, {0, 30}},
        {{0, 10}, {5, 25}},
        {{0, 10}, {25, 5}},
        {{29, 1}, {29, 1}, {29, 5}},
        {{20, 0}},
    };
    static const int32_t want[] = {0, 10, 0, 0, 15, 29, 20};
    int32_t prompt[30] = {0};

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct job *j = job_new(prompt, 30, NULL, 0, 8, 0);
        const struct gen_limits l = {.context = 100, .vocab = 100};
        struct seq *s = seq_new(j, &l);

        job_unref(j);
        for (int k = 0; k < 3; k++) {
            s->done = t[i][k].found;
            seq_found(s);
            if (t[i][k].rows)
                seq_computed(s, t[i][k].rows);
        }
        s->from_disk = 12; /* read again, perhaps */
        seq_end(s, END_CANCELLED, NULL);
        is_int(s->end.cached_tokens, want[i], "list %d: rows not computed",
               (int)i);
        is_int(s->end.disk_tokens, want[i] < 12 ? want[i] : 12,
               "no more of them from disk");
        seq_free(s);
    }
}

static void started_too_late(void)
{
    struct seq *s = begin(4, NULL);

    s->job->start_by_us = 100;
    ok(!seq_check(s, 99) && seq_check(s, 100) &&
           s->end.reason == END_QUEUED,
       "one that had to start by now ends");
    seq_free(s);
    s = begin(4, NULL);
    s->job->start_by_us = 100;
    s->start_us = 50;
    ok(!seq_check(s, 200), "one that has started does not");
    seq_free(s);
}

int main(void)
{
    ends();
    context();
    forced_outside();
    asked();
    cached();
    started_too_late();
    return done();
}
