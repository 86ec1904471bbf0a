/*
 * The guide over reasoning in the engine, with the demo model (spec
 * tandem.md 3, check 62): the phrase is one block, the answer follows, and
 * ids depend on the sequence alone.
 */
#include "gen/guide_think.h"
#include "t/lib/jobs.h"
#include "t/lib/model.h"
#include "t/lib/tap.h"

#define MAX 60
#define JOBS 4
#define THINK 3066
#define THINK_END 3067

/* "hello" and an open channel */
static const int32_t hello[] = {3064, 279, 10, 876, 33, 3065,
                                10, 3064, 292, 10, THINK, 10};
#define HELLO_N (sizeof(hello) / sizeof(*hello))
/* "it's", the end and two newlines */
static const int32_t phrase[] = {314, 1297, 10, THINK_END, 304};
#define PHRASE_N (sizeof(phrase) / sizeof(*phrase))

static const int32_t open_id = THINK, close_id = THINK_END;

struct got {
    int32_t ids[MAX];
    int64_t at_us[MAX];
    size_t n;
    struct end_info end;
};

static struct job *job(int32_t cap, bool guided, float temperature)
{
    struct job *j = demo_job(hello, HELLO_N, MAX);
    const struct think_config c = {
        .open = {.ids = &open_id, .n_ids = 1},
        .close = {.ids = &close_id, .n_ids = 1},
        .inside = true, .cap = cap, .stall = true,
        .prompt = hello, .n_prompt = HELLO_N,
        .phrase = phrase, .n_phrase = PHRASE_N,
    };

    if (guided)
        j->guide = guide_think_new(&c);
    j->sampling = (struct sampling)SAMPLING(temperature, 0, 1, 0, 5);
    return j;
}

static void wait_for(struct job *j, struct got *out)
{
    demo_wait(j, NULL, 0, &out->end);
    out->n = ring_take(j->ring, out->ids, out->at_us, NULL, NULL, MAX);
    job_unref(j);
}

static void alone(struct gen *g, int32_t cap, bool guided, float temperature,
                  struct got *out)
{
    struct job *j = job(cap, guided, temperature);

    demo_submit(g, j);
    wait_for(j, out);
}

static bool same(const struct got *a, const struct got *b)
{
    return a->n == b->n && !memcmp(a->ids, b->ids, a->n * sizeof(*a->ids));
}

static size_t reasoned(const struct got *a)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->ids[i] == THINK_END)
            return i + 1;
    return 0;
}

/* The answer is the one of a prompt that has all of it. */
static void goes_on(struct gen *g, const struct got *got)
{
    int32_t ids[HELLO_N + 4 + PHRASE_N], rest[MAX];
    struct job *j;
    size_t n;

    memcpy(ids, hello, sizeof(hello));
    memcpy(ids + HELLO_N, got->ids, sizeof(ids) - sizeof(hello));
    j = demo_job(ids, HELLO_N + 4 + PHRASE_N, MAX);
    demo_submit(g, j);
    n = demo_wait(j, rest, MAX, NULL);
    job_unref(j);
    ok(n == got->n - 4 - PHRASE_N &&
           !memcmp(rest, got->ids + 4 + PHRASE_N, n * sizeof(*rest)),
       "and the answer behind it is the model's own");
}

static void capped(struct gen *g, const struct got *bare)
{
    struct gen_state before, after;
    struct got got;
    uint64_t steps;
    size_t i;

    g->ops->state(g, &before);
    alone(g, 3, true, 0, &got);
    g->ops->state(g, &after);
    ok(got.n > 4 + PHRASE_N && !memcmp(got.ids, bare->ids, 4 * sizeof(int32_t)),
       "four ids as without the guide");
    ok(!memcmp(got.ids + 4, phrase, sizeof(phrase)),
       "check 62: then the phrase");
    is_int(got.end.note.closed, CLOSED_BY_BUDGET, "closed by the budget");
    ok(got.end.reason == END_STOP, "the answer has its own end");
    for (i = 5; i < 4 + PHRASE_N && got.at_us[i] == got.at_us[4]; i++)
        ;
    is_int(i, 4 + PHRASE_N, "all of it at once");
    /* a step for each id that was chosen, one for the block, and one more
     * where this machine takes the prompt in two */
    steps = after.steps - before.steps - (got.n - PHRASE_N + 1);
    ok(steps <= 1, "and in one step");
    is_int(got.end.completion_tokens, got.n, "forced ids count");
    goes_on(g, &got);
}

static void untouched(struct gen *g, const struct got *bare)
{
    int32_t all = (int32_t)reasoned(bare);
    struct got got;

    alone(g, 0, true, 0, &got);
    ok(same(&got, bare), "no cap: the ids of no guide");
    is_int(got.end.note.closed, CLOSED_BY_MODEL, "closed by the model");
    alone(g, all, true, 0, &got);
    ok(same(&got, bare), "a cap of all the reasoning: the same");
    alone(g, all - 1, true, 0, &got);
    ok(same(&got, bare), "the close itself is the id beyond: the same");
    alone(g, all - 2, true, 0, &got);
    ok(!same(&got, bare), "one less: not");
}

/* Capped, free and sampled ones beside each other. */
static void together(struct gen *g)
{
    static const struct {
        int32_t cap;
        float temperature;
    } kinds[JOBS] = {{3, 0}, {0, 0}, {7, 1}, {1, 1}};
    struct got one[JOBS], many;
    struct job *j[JOBS];

    for (int i = 0; i < JOBS; i++)
        alone(g, kinds[i].cap, true, kinds[i].temperature, &one[i]);
    for (int i = 0; i < JOBS; i++) {
        j[i] = job(kinds[i].cap, true, kinds[i].temperature);
        demo_submit(g, j[i]);
    }
    for (int i = 0; i < JOBS; i++) {
        wait_for(j[i], &many);
        ok(same(&many, &one[i]), "cap %d: the same ids among others as alone",
           kinds[i].cap);
    }
}

/* Reasons until the cap, and has no end; ids of the tiny model. */
static struct job *endless(int32_t cap)
{
    static const int32_t prompt[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                         mark[] = {400, 401}, cut_off[] = {20, 21, 401, 22};
    const struct bias never = {401, -100};
    struct job *j = job_new(prompt, 12, NULL, 0, MAX, 0);
    const struct think_config c = {
        .open = {.ids = mark, .n_ids = 1},
        .close = {.ids = mark + 1, .n_ids = 1},
        .inside = true, .cap = cap, .stall = true,
        .phrase = cut_off, .n_phrase = 4,
    };

    BUG_ON(job_set_bias(j, &never, 1, NULL));
    j->guide = guide_think_new(&c);
    j->sampling = (struct sampling)SAMPLING(1, 0, 1, 0, 5);
    return j;
}

static size_t page_bytes(const struct gguf *file)
{
    struct engine_config c;
    struct gen_state st;
    struct gen *g;

    engine_config_default(&c);
    c.context = 128;
    g = demo_engine(file, &c);
    g->ops->state(g, &st);
    gen_free(g);
    return st.bytes_kv / st.kv_pages;
}

/* The second page of a sequence is that of its 65th id, about where these
 * are closed; there are three pages. Any model does for that. */
static void sent_back(void)
{
    static const int32_t caps[JOBS] = {50, 53, 48, 51};
    struct got one[JOBS], many;
    struct job *j[JOBS];
    struct gguf *file = demo_open(TINY_LLAMA);
    struct engine_config c;
    struct gen_state st;
    struct gen *g;

    engine_config_default(&c);
    c.parallel = JOBS;
    c.threads = 1; /* small: two would only wait for each other */
    c.context = 128;
    c.kv_bytes = 3 * page_bytes(file);
    g = demo_engine(file, &c);
    for (int i = 0; i < JOBS; i++) {
        j[i] = endless(caps[i]);
        demo_submit(g, j[i]);
        wait_for(j[i], &one[i]);
        is_int(one[i].end.note.closed, CLOSED_BY_BUDGET, "cap %d", caps[i]);
    }
    for (int i = 0; i < JOBS; i++)
        j[i] = endless(caps[i]);
    demo_submit_all(g, j, JOBS);
    for (int i = 0; i < JOBS; i++) {
        wait_for(j[i], &many);
        ok(same(&many, &one[i]) && many.end.note.closed == CLOSED_BY_BUDGET,
           "cap %d: the same with few pages", caps[i]);
    }
    g->ops->state(g, &st);
    ok(st.sent_back > 0, "some were sent back (%d times)", (int)st.sent_back);
    gen_free(g);
    gguf_close(file);
}

/* Output ends in the middle of the phrase. */
static void cut(struct gen *g)
{
    struct job *j = job(3, true, 0);
    struct got got;

    j->max_tokens = 6;
    demo_submit(g, j);
    wait_for(j, &got);
    ok(got.n == 6 && got.end.reason == END_LENGTH, "the limit ends a phrase");
    is_int(got.end.note.closed, THINK_NOT_CLOSED, "which closed nothing");
}

int main(void)
{
    struct gguf *file = demo_open(DEMO_Q8);
    struct engine_config c;
    struct gen *g;
    struct got bare;

    engine_config_default(&c);
    c.parallel = JOBS;
    c.context = 512;
    g = demo_engine(file, &c);
    alone(g, 0, false, 0, &bare);
    ok(bare.end.reason == END_STOP && reasoned(&bare) > 8,
       "the demo reasons (%zu ids of %zu)", reasoned(&bare), bare.n);
    capped(g, &bare);
    untouched(g, &bare);
    together(g);
    cut(g);
    gen_free(g);
    gguf_close(file);
    sent_back();
    return done();
}
