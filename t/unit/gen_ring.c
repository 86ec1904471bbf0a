/* The ring: order, capacity, logprobs, one wake-up, taking the callback off. */
#include "gen/gen.h"

#include "base/thread.h"
#include "t/lib/tap.h"

#define TOKENS 2000

/* It touches all memory that is asked for. */
#ifdef __SANITIZE_THREAD__
#define UNDER_TSAN true
#elif defined(__has_feature)
#define UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define UNDER_TSAN false
#endif

static void count(void *arg)
{
    atomic_fetch_add((_Atomic int *)arg, 1);
}

static void *produce(void *arg)
{
    struct job *j = arg;
    struct end_info end = {.reason = END_LENGTH, .completion_tokens = TOKENS};

    ring_prefill(j->ring, 3, 3);
    for (int32_t i = 0; i < TOKENS; i++) {
        struct logprob top[2] = {{i, -1.0f}, {i + 1, -2.0f}};

        ring_token(j->ring, i, 100 + i, -0.5f, top);
        if (i % 7 == 6)
            ring_wake(j->ring);
    }
    ring_end(j->ring, &end);
    ring_wake(j->ring);
    job_unref(j);
    return NULL;
}

/* What a caller without an event loop does. */
static void two_threads(void)
{
    int32_t prompt[3] = {1, 2, 3}, ids[64], next = 0;
    int64_t at[64];
    float chosen[64];
    struct logprob top[64][2];
    struct job *j = job_new(prompt, 3, NULL, 0, TOKENS, 2);
    struct ring_view v;
    _Atomic int *wakes = malloc(sizeof(*wakes));
    bool good = true;
    pthread_t t;
    size_t n;

    atomic_init(wakes, 0);
    ring_on_wake(j->ring, count, wakes);
    job_ref(j);
    if (thread_start(&t, "producer", produce, j, NULL))
        return;
    do {
        ring_wait(j->ring, 1000);
        ring_look(j->ring, &v);
        while ((n = ring_take(j->ring, ids, at, chosen, top[0], 64)) > 0)
            for (size_t i = 0; i < n; i++, next++)
                good = good && ids[i] == next && at[i] == 100 + next &&
                       chosen[i] == -0.5f && top[i][0].id == next &&
                       top[i][1].id == next + 1;
    } while (!v.ended);
    /* the producer may still be inside its last call */
    ring_on_wake(j->ring, NULL, NULL);
    free(wakes);
    ok(good && next == TOKENS, "ids, times and logprobs arrive in order");
    is_int(v.end.reason, END_LENGTH, "then the end");
    is_int(v.end.completion_tokens, TOKENS, "with its counts");
    ok(v.started && v.queue_position == -1, "prefill ended the queueing");
    pthread_join(t, NULL);
    job_unref(j);
}

/* Pages that this process has in memory; -1 where nobody says so. */
static long resident(void)
{
    FILE *in = fopen("/proc/self/statm", "re");
    char line[128] = "", *s = line;

    if (!in)
        return -1;
    if (!fgets(line, sizeof(line), in))
        line[0] = 0;
    fclose(in);
    s += strcspn(s, " ");
    return *s ? strtol(s, NULL, 10) : -1;
}

/* The longest answer with the most alternatives takes what it fills. */
static void long_answer(void)
{
    long before = resident(), after;
    struct logprob top[20] = {{1, -1}};
    int32_t id = -1;
    struct ring *r = UNDER_TSAN ? NULL : ring_new(1 << 24, 20);

    if (!r) {
        ok(true, "a long ring # SKIP sanitizers use memory of their own");
        return;
    }
    for (int32_t i = 0; i < 1000; i++)
        ring_token(r, i, i, -1, top);
    after = resident();
    ok(before < 0 || after - before < 8 << 20 >> 12,
       "a thousand ids of 16 million take %ld pages", after - before);
    ok(ring_take(r, &id, NULL, NULL, top, 1) == 1 && id == 0 &&
           top[0].id == 1,
       "and are there");
    ring_free(r);
}

int main(void)
{
    struct ring *r = ring_new(2, 0);
    struct ring_view v;
    struct end_info end = {.reason = END_STOP};
    _Atomic int wakes = 0;
    int32_t ids[4];
    int64_t t0;

    ring_on_wake(r, count, &wakes);
    ring_queued(r, 5, -1, 1);
    ring_queued(r, 4, 2000, 3);
    ring_wake(r);
    ring_look(r, &v);
    is_int(v.queue_position, 4, "only the newest queue position matters");
    ok(v.queue_eta_us == 2000 && v.queue_told_us == 3, "and its estimate");
    ring_token(r, 7, 0, 0, NULL);
    ring_token(r, 8, 0, 0, NULL);
    ring_end(r, &end);
    ring_wake(r);
    is_int(wakes, 2, "one call per ring_wake");
    is_int(ring_take(r, ids, NULL, NULL, NULL, 1), 1, "a small take");
    is_int(ids[0], 7, "gives the first");
    is_int(ring_take(r, ids, NULL, NULL, NULL, 4), 1, "the next the rest");
    is_int(ids[0], 8, "which is the second");
    is_int(ring_take(r, ids, NULL, NULL, NULL, 4), 0, "then there is none");
    ring_wait(r, 10000);
    t0 = mono_ms();
    ring_wait(r, 20);
    ok(mono_ms() - t0 >= 20, "no news: the wait lasts");
    ring_free(r);

    ok(!ring_new(SIZE_MAX / 2, 0), "a size that cannot be is no memory");
    long_answer();
    two_threads();
    return done();
}
