/*
 * The step loop: sequences share steps and get the same ids as alone; leaving
 * early, finishing, forced ids, limits, deadlines. The demo model is slow
 * enough for a job to be still there when the test looks; the random one is
 * for whole texts.
 */
#include "t/lib/jobs.h"
#include "t/lib/model.h"

#include "base/thread.h"
#include "t/lib/tap.h"

#define JOBS 8
#define MAX 48
#define VOCAB_MIN 256 /* no model here has fewer ids */

/* vectors.json, penstock-demo-q8_0.gguf, prompt "hello" */
static const int32_t hello[] = {3064, 279, 10, 876, 33, 3065, 10,
                                3064, 292, 10, 3066, 304, 3067, 304};
static const int32_t hello_greedy[] = {876, 33, 1179, 421, 327,
                                       518, 395, 1404, 63, 3065};
#define HELLO_N (sizeof(hello) / sizeof(*hello))
#define GREEDY_N (sizeof(hello_greedy) / sizeof(*hello_greedy))

/* A prompt of n ids: hello, over and over. */
static struct job *long_job(size_t n, int32_t max_tokens)
{
    int32_t *ids = malloc(n * sizeof(*ids));
    struct job *j;

    for (size_t i = 0; i < n; i++)
        ids[i] = hello[i % HELLO_N] % VOCAB_MIN;
    j = demo_job(ids, n, max_tokens);
    free(ids);
    return j;
}

/* Eight different prompts, half of them sampled. */
static struct job *mixed(int i)
{
    /* few enough prompt rows for the last to start before the first ends,
     * however small the slices get */
    struct job *j = long_job(i == 3 ? 140 : HELLO_N - (size_t)i, MAX);

    if (i >= 4)
        j->sampling = (struct sampling)SAMPLING(1.0f, 50, 0.95f, 0.01f, 7);
    if (i == 7)
        j->choice = 3;
    j->n_stop = 0;
    return j;
}

static void together(struct gen *g)
{
    int32_t alone[JOBS][MAX], group[JOBS][MAX];
    struct gen_state st;
    struct job *j[JOBS];
    struct end_info end;

    for (int i = 0; i < JOBS; i++) {
        j[0] = mixed(i);
        demo_submit(g, j[0]);
        demo_wait(j[0], alone[i], MAX, &end);
        is_int(end.completion_tokens, MAX, "job %d alone: every token", i);
        job_unref(j[0]);
    }
    g->ops->state(g, &st);
    is_int(st.decode_rows_max, 1, "one at a time shared no step");
    for (int i = 0; i < JOBS; i++)
        j[i] = mixed(i);
    demo_submit_all(g, j, JOBS);
    for (int i = 0; i < JOBS; i++) {
        demo_wait(j[i], group[i], MAX, &end);
        ok(!memcmp(alone[i], group[i], sizeof(alone[i])),
           "job %d: the same ids among others as alone", i);
        job_unref(j[i]);
    }
    g->ops->state(g, &st);
    is_int(st.decode_rows_max, JOBS, "all of them shared a step");
    ok(st.kv_pages_used == st.cache.pages && !st.cache.shared_pages,
       "and only the prefix tree has pages");
    is_int(st.running + st.waiting, 0, "nobody is left");
}

/* So hot that every id is as likely as any other: what is drawn depends on
 * seed, choice and position, and on nothing else. */
static void draw(struct gen *g, uint64_t seed, int32_t choice,
                 int32_t ids[MAX])
{
    struct job *j = long_job(8, MAX);

    j->sampling = (struct sampling)SAMPLING(1e9f, 0, 1, 0, seed);
    j->choice = choice;
    j->n_stop = 0;
    demo_submit(g, j);
    demo_wait(j, ids, MAX, NULL);
    job_unref(j);
}

static void draws(struct gen *g)
{
    int32_t a[MAX], b[MAX];
    int same = 0;

    draw(g, 7, 0, a);
    draw(g, 7, 0, b);
    ok(!memcmp(a, b, sizeof(a)), "a seed gives the same text twice");
    for (int i = 1; i < MAX; i++)
        same += a[i] == a[i - 1];
    ok(same < MAX / 4, "every position has a draw of its own");
    draw(g, 8, 0, b);
    ok(memcmp(a, b, sizeof(a)), "another seed gives another text");
    draw(g, 7, 1, b);
    ok(memcmp(a, b, sizeof(a)), "and so does another choice");
}

static void greedy(struct gen *g)
{
    struct job *j = demo_job(hello, HELLO_N, MAX);
    struct end_info end;
    int32_t ids[MAX];
    size_t n;

    demo_submit(g, j);
    n = demo_wait(j, ids, MAX, &end);
    ok(n == GREEDY_N && !memcmp(ids, hello_greedy, sizeof(hello_greedy)),
       "greedy ids of the reference");
    ok(end.reason == END_STOP && end.completion_tokens == GREEDY_N &&
           end.prompt_tokens == HELLO_N,
       "end at the stop id, which counts");
    ok(end.queue_us >= 0 && end.prefill_us > 0 && end.decode_us > 0,
       "and its times");
    job_unref(j);

    j = demo_job(hello, HELLO_N, 3);
    demo_submit(g, j);
    n = demo_wait(j, ids, MAX, &end);
    ok(n == 3 && end.reason == END_LENGTH, "max_tokens ends with length");
    job_unref(j);
}

/* The clock is read when a step is over, not when it was asked for: in one of
 * several tries, whatever else the machine does. */
static void times(struct gen *g)
{
    bool seen = false;

    for (int32_t i = 0; i < 10 && !seen; i++) {
        struct job *j = long_job(400, 2);
        struct end_info end;

        j->ids[0] = i; /* nothing to reuse */
        j->n_stop = 0;
        demo_submit(g, j);
        demo_wait(j, NULL, 0, &end);
        seen = end.prefill_us > 4 * end.decode_us;
        job_unref(j);
    }
    ok(seen, "400 rows take longer than a token");
}

/* C13: who leaves while queued never reaches the engine. */
static void cancel_queued(struct gen *g, int32_t parallel)
{
    struct job *a[16], *b = demo_job(hello, HELLO_N, 5);
    struct gen_state before, after;
    struct end_info end;
    struct ring_view v;

    for (int32_t i = 0; i < parallel; i++) {
        a[i] = long_job(40, 3000);
        a[i]->n_stop = 0;
        demo_submit(g, a[i]);
    }
    demo_submit(g, b);
    do {
        ring_wait(a[0]->ring, 1000);
        g->ops->state(g, &before);
    } while (!before.waiting);
    ring_look(b->ring, &v);
    ok(!v.started && v.queue_position == 0, "first in the queue");
    gen_cancel(g, b);
    demo_wait(b, NULL, 0, &end);
    is_int(end.reason, END_CANCELLED, "a queued job can leave");
    is_int(end.completion_tokens, 0, "without a token");
    ring_look(b->ring, &v);
    ok(!v.started, "and without a prefill");
    g->ops->state(g, &after);
    is_int(after.waiting, 0, "its place is free");
    job_unref(b);
    for (int32_t i = 0; i < parallel; i++) {
        gen_cancel(g, a[i]);
        demo_wait(a[i], NULL, 0, &end);
        job_unref(a[i]);
    }
}

static void finish(struct gen *g)
{
    struct job *j = long_job(20, 2000);
    struct end_info end;
    int32_t ids[8];
    size_t n = 0;

    j->n_stop = 0;
    demo_submit(g, j);
    while (n < 5) {
        ring_wait(j->ring, 1000);
        n += ring_take(j->ring, ids + n, NULL, NULL, NULL, 8 - n);
    }
    gen_finish(g, j, 4);
    gen_finish(g, j, 2);
    demo_wait(j, NULL, 0, &end);
    is_int(end.reason, END_STOP, "a stop string ends with stop");
    is_int(end.completion_tokens, 4, "and counts what was kept");
    job_unref(j);
}

static void forced(struct gen *g)
{
    int32_t want[130], ids[140];
    struct job *j = demo_job(hello, HELLO_N, 140);
    struct gen_state before, after;
    struct end_info end;
    size_t n;

    for (int i = 0; i < 130; i++)
        want[i] = 100 + i;
    j->guide = forced_guide(want, 130);
    g->ops->state(g, &before);
    demo_submit(g, j);
    n = demo_wait(j, ids, 140, &end);
    g->ops->state(g, &after);
    ok(n == 130 && !memcmp(ids, want, sizeof(want)), "forced ids come out");
    ok(end.reason == END_STOP && end.completion_tokens == 130, "then stop");
    ok(after.steps - before.steps <= 2, "and cost no step of their own");
    is_int(after.tokens_out - before.tokens_out, 130, "but count as written");
    job_unref(j);

    j = demo_job(hello, HELLO_N, 4);
    j->guide = forced_guide(want, 130);
    demo_submit(g, j);
    n = demo_wait(j, ids, 140, &end);
    ok(n == 4 && end.reason == END_LENGTH, "max_tokens binds them too");
    job_unref(j);

    j = demo_job(hello, HELLO_N, 4);
    want[0] = 1 << 30;
    j->guide = forced_guide(want, 1);
    demo_submit(g, j);
    n = demo_wait(j, ids, 140, &end);
    ok(!n && end.reason == END_ERROR && end.err.text[0],
       "an impossible id fails that job");
    job_unref(j);
}

/* A guide that forces a head, then lets the model go on. */
static void pattern(struct gen *g)
{
    int32_t ids[200];
    struct job *j = long_job(50, 200);
    struct end_info end;
    size_t n;

    j->n_stop = 0;
    if (guide_pattern_new(&j->guide, 40, 1, 3, NULL))
        return;
    demo_submit(g, j);
    n = demo_wait(j, ids, 200, &end);
    ok(end.reason == END_STOP && n < 200,
       "the pattern guard ends a loop (after %zu ids)", n);
    job_unref(j);
}

static void refused(struct gen *g, int32_t parallel, int32_t max_queue)
{
    int32_t bad[2] = {5, 3072};
    struct job *j = demo_job(bad, 2, 5), *many[32];
    struct gen_limits l;
    struct err e;
    int n = 0;

    g->ops->limits(g, &l);
    is_int(gen_submit(g, j, &e), ST_INVALID, "an id past the vocabulary");
    job_unref(j);
    j = demo_job(bad, 0, 5);
    is_int(gen_submit(g, j, &e), ST_INVALID, "no ids");
    job_unref(j);
    j = long_job((size_t)l.context, 5);
    is_int(gen_submit(g, j, &e), ST_CONTEXT, "a prompt as long as the context");
    printf("# %s\n", e.text);
    ok(strstr(e.text, "512") != NULL, "names the numbers");
    job_unref(j);

    for (; n < parallel + max_queue; n++) {
        many[n] = long_job(30, 3000);
        many[n]->n_stop = 0;
        demo_submit(g, many[n]);
    }
    j = demo_job(hello, HELLO_N, 1);
    is_int(gen_submit(g, j, &e), ST_BUSY, "the queue is full");
    gen_cancel(g, many[0]);
    demo_wait(many[0], NULL, 0, NULL);
    is_int(gen_submit(g, j, &e), ST_OK, "after an END there is room again");
    for (int i = 0; i < n; i++) {
        gen_cancel(g, many[i]);
        demo_wait(many[i], NULL, 0, NULL);
        job_unref(many[i]);
    }
    demo_wait(j, NULL, 0, NULL);
    job_unref(j);
}

static void deadline(struct gen *g)
{
    struct job *j = long_job(100, 412);
    struct end_info end;

    j->n_stop = 0;
    j->deadline_us = mono_us() + 30000;
    demo_submit(g, j);
    demo_wait(j, NULL, 0, &end);
    is_int(end.reason, END_TIMEOUT, "a deadline ends a job");
    job_unref(j);
}

static void context_end(struct gen *g)
{
    struct gen_limits l;
    struct job *j;
    struct end_info end;

    g->ops->limits(g, &l);
    j = long_job((size_t)l.context - 6, 3000);
    j->n_stop = 0;
    demo_submit(g, j);
    demo_wait(j, NULL, 0, &end);
    ok(end.reason == END_LENGTH && end.completion_tokens == 6,
       "the context ends one with length");
    job_unref(j);
}

/* C12: who leaves during a silent prefill frees the engine. */
struct leaver {
    struct gen *gen;
    struct job *job;
};

static void leave_now(void *arg)
{
    struct leaver *l = arg;

    gen_cancel(l->gen, l->job);
}

static void cancel_prefill(struct gen *g)
{
    struct job *j = long_job(300, 9);
    struct leaver l = {g, j};
    struct gen_state st;
    struct end_info end;
    struct ring_view v;

    ring_on_wake(j->ring, leave_now, &l); /* after the first slice */
    demo_submit(g, j);
    demo_wait(j, NULL, 0, &end);
    ring_on_wake(j->ring, NULL, NULL);
    ring_look(j->ring, &v);
    ok(end.reason == END_CANCELLED && !end.completion_tokens,
       "cancelled within a prefill");
    ok(v.prefill_done > 0 && v.prefill_done <= 256 && v.prefill_total == 300,
       "after one slice of it (%d rows)", v.prefill_done);
    g->ops->state(g, &st);
    ok(!st.running && !st.cache.shared_pages &&
           st.kv_pages_used == st.cache.pages,
       "its slot is free, its pages are the tree's");
    job_unref(j);
}

static struct gen *open_engine(const struct gguf *g, int32_t context)
{
    struct engine_config c;

    engine_config_default(&c);
    c.parallel = JOBS;
    c.max_queue = 4;
    c.context = context;
    c.threads = 2;
    return demo_engine(g, &c);
}

int main(void)
{
    struct gguf *g = demo_open(TINY_LLAMA);
    struct gen *gen = open_engine(g, 0);
    struct job *last;
    struct end_info end;

    together(gen);
    draws(gen);
    context_end(gen);
    gen_free(gen);
    gguf_close(g);

    g = demo_open(DEMO_Q8);
    gen = open_engine(g, 512);
    greedy(gen);
    times(gen);
    cancel_prefill(gen);
    cancel_queued(gen, JOBS);
    finish(gen);
    forced(gen);
    pattern(gen);
    refused(gen, JOBS, 4);
    deadline(gen);
    last = long_job(100, 3000);
    last->n_stop = 0;
    demo_submit(gen, last);
    gen_free(gen);
    demo_wait(last, NULL, 0, &end);
    is_int(end.reason, END_CANCELLED, "a stopping engine ends every job");
    job_unref(last);
    gguf_close(g);
    return done();
}
