/*
 * One text, through the engine: ids and the bits of their log-probabilities
 * and of the likeliest alternatives are those of the same request computed
 * row by row, alone, by one thread.
 *
 *     engine_onetext [FILE...]   (two models of the demo unless told)
 *
 * Under a sanitizer: one model, and not the portable set, which takes minutes
 * there. Varied are the threads, the slices of prompts, whether weights are
 * packed, and how many sequences share a step, 2 to 33; that they did is
 * asserted. A long prompt comes a second time to the same engine, which has
 * its keys and values in its prefix tree. With a Q8_0 cache texts are others,
 * and hold in the same way. Every instruction set of this machine goes
 * through it, and all must say the same. A log-probability depends on every
 * logit of its row.
 */
#include "t/lib/model.h"

#include "base/thread.h"
#include "engine/plan.h"
#include "t/lib/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BRIEFLY = 1 };
#else
enum { BRIEFLY = 0 };
#endif
enum { JOBS = 33, ANSWER = 24, TOP = 20, LONG = 530, VOCAB_MIN = 256 };
/* Rows of a prompt: of 33, in the smallest slices a slow machine takes (8),
 * the last has its prompt before the first has its answer. */
enum { BRIEF = 5 };
_Static_assert(JOBS * BRIEF / 8 < ANSWER, "all share a step");

static int32_t long_rows; /* LONG, or what the model's context has room for */

/* --- a job that holds the engine at the end of its first step ------------- */

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static bool held, go_on; /* guarded by mu */

static size_t gate_bytes(const struct guide *g)
{
    (void)g;
    return 1;
}

static void gate_init(const struct guide *g, void *state)
{
    (void)g;
    *(char *)state = 0;
}

static enum guide_next gate_accept(const struct guide *g, void *state,
                                   int32_t id)
{
    (void)g;
    (void)state;
    (void)id;
    pthread_mutex_lock(&mu);
    held = true;
    pthread_cond_broadcast(&cond);
    while (!go_on)
        pthread_cond_wait(&cond, &mu);
    pthread_mutex_unlock(&mu);
    return GUIDE_STOP;
}

static void gate_free(struct guide *g)
{
    free(g);
}

static const struct guide_ops gate_ops = {
    .state_bytes = gate_bytes,
    .init = gate_init,
    .accept = gate_accept,
    .free = gate_free,
};

static struct job *gate_close(struct gen *g)
{
    int32_t id = 1;
    struct job *j = demo_job(&id, 1, 2);

    j->guide = calloc(1, sizeof(*j->guide));
    BUG_ON(!j->guide);
    j->guide->ops = &gate_ops;
    held = go_on = false;
    demo_submit(g, j);
    pthread_mutex_lock(&mu);
    while (!held)
        pthread_cond_wait(&cond, &mu);
    pthread_mutex_unlock(&mu);
    return j;
}

static void gate_open(struct job *j)
{
    pthread_mutex_lock(&mu);
    go_on = true;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mu);
    demo_wait(j, NULL, 0, NULL);
    job_unref(j);
}

/* --- texts ---------------------------------------------------------------- */

struct said { /* everything that a request tells */
    int32_t ids[ANSWER];
    float chosen[ANSWER];
    struct logprob top[ANSWER][TOP];
};

/* Different prompts of one length, so that all decode in the same steps; some
 * texts are sampled. */
static struct job *job_of(int i, size_t n)
{
    int32_t ids[LONG], stop = 0;
    struct job *j;

    for (size_t k = 0; k < n; k++)
        ids[k] = (int32_t)((k * k * 5 + k * 31 + (size_t)i * 17) % VOCAB_MIN);
    j = job_new(ids, n, &stop, 0, ANSWER, TOP);
    BUG_ON(!j);
    if (i % 3 == 2)
        j->sampling = (struct sampling){
            .temperature = 1, .top_k = 50, .top_p = 0.95f, .seed = 7};
    return j;
}

/* *cached: rows of the prompt that were there already. */
static bool collect(struct job *j, struct said *out, int32_t *cached)
{
    struct end_info end;
    size_t n;

    memset(out, 0xff, sizeof(*out));
    demo_wait(j, NULL, 0, &end);
    n = ring_take(j->ring, out->ids, NULL, out->chosen, out->top[0], ANSWER);
    job_unref(j);
    *cached = end.cached_tokens;
    return n == ANSWER && end.reason == END_LENGTH;
}

/* Jobs first..first+n-1 of `rows` prompt rows in the same steps. */
static bool together(struct gen *g, struct said *out, int first, int n,
                     size_t rows)
{
    struct job *gate = gate_close(g), *j[JOBS];
    bool good = true;
    int32_t cached;

    for (int i = 0; i < n; i++) {
        j[i] = job_of(first + i, rows);
        demo_submit(g, j[i]);
    }
    gate_open(gate);
    for (int i = 0; i < n; i++)
        good &= collect(j[i], &out[i], &cached) && !cached;
    return good;
}

struct run {
    int threads, chunk;
    int least, most; /* sequences of a step */
    bool as_is;      /* the file's weights, not packed */
    bool q8;         /* keys and values in Q8_0 */
};

static struct gen *engine_of(const struct gguf *f, const struct run *r,
                             enum kern_cpu_set set)
{
    struct engine_config c;

    engine_config_default(&c);
    c.threads = r->threads;
    c.set = set;
    c.chunk = r->chunk;
    c.parallel = r->most + 1; /* and the gate */
    c.context = long_rows + ANSWER;
    c.packs.repack = !r->as_is;
    c.kv_type = r->q8 ? KERN_Q8_0 : KERN_F16;
    return demo_engine(f, &c);
}

/* --- what is compared ----------------------------------------------------- */

struct texts {
    struct said brief[JOBS]; /* after BRIEF rows */
    struct said whole;       /* after long_rows */
};

static const struct run alone = {.threads = 1, .chunk = 1, .most = 1};
static const struct run alone_q8 = {
    .threads = 1, .chunk = 1, .most = 1, .q8 = true};
enum { Q8_JOBS = 9 };
/* Every number of rows by one thread; with more threads the numbers where
 * paths of the kernels change. */
static const struct run runs[] = {
    {1, 512, 2, 33, false, false},  {2, 7, 2, 3, false, false},
    {3, 64, 4, 5, false, false},    {7, 512, 8, 9, false, false},
    {2, 512, 16, 17, false, false}, {3, 512, 33, 33, false, false},
    {7, 7, 12, 12, false, false},   {2, 1, 3, 3, false, false},
    {2, 64, 5, 5, true, false},     {3, 512, 17, 17, true, false},
    {2, 512, Q8_JOBS, Q8_JOBS, false, true}, {3, 7, 4, 4, true, true},
};

/* The prompt of no brief job. */
static bool whole(struct gen *g, struct said *out)
{
    return together(g, out, JOBS, 1, (size_t)long_rows);
}

/* The last rows are a short prompt's (engine/plan.h). */
static int32_t slices(int32_t rows, int32_t chunk)
{
    if (chunk < PLAN_SHORT)
        return (rows - PLAN_SHORT + chunk - 1) / chunk + 1;
    return (rows + chunk - 1) / chunk;
}

static void play_whole(const struct gguf *f, const struct run *r,
                       enum kern_cpu_set set, const struct said *want)
{
    struct gen *g = engine_of(f, r, set);
    struct gen_state before, after;
    struct said got;
    struct job *j;
    int32_t cached;
    bool good;

    g->ops->state(g, &before);
    good = whole(g, &got);
    g->ops->state(g, &after);
    ok(good && !memcmp(&got, want, sizeof(got)), "after %d rows, in %d steps",
       long_rows, (int)(after.steps - before.steps));
    ok((int64_t)(after.steps - before.steps) >=
           slices(long_rows, r->chunk) + ANSWER - 1,
       "which is in slices of %d at most", r->chunk);
    j = job_of(JOBS, (size_t)long_rows);
    demo_submit(g, j);
    good = collect(j, &got, &cached);
    ok(good && !memcmp(&got, want, sizeof(got)), "and a second time");
    is_int(cached, long_rows - 1, "with the rows of the first");
    gen_free(g);
}

/* An engine of its own for each number: no prompt comes to it twice. */
static void play(const struct gguf *f, const struct run *r,
                 enum kern_cpu_set set, const struct texts *want)
{
    static struct texts got;
    bool good = true, same = true, shared = true;

    for (int n = r->least; n <= r->most; n++) {
        struct gen *g = engine_of(f, r, set);
        struct gen_state state;

        memset(got.brief, 0, sizeof(got.brief));
        good &= together(g, got.brief, 0, n, BRIEF);
        same &= !memcmp(got.brief, want->brief,
                        sizeof(*got.brief) * (size_t)n);
        g->ops->state(g, &state);
        shared &= state.decode_rows_max == (uint64_t)n;
        gen_free(g);
    }
    ok(good && same, "%d threads, slices of %d, %d to %d together%s%s: same "
       "bits", r->threads, r->chunk, r->least, r->most,
       r->as_is ? ", not packed" : "", r->q8 ? ", Q8_0 cache" : "");
    ok(shared, "so many shared a step");
    play_whole(f, r, set, &want->whole);
}

/* The texts of n jobs and of the long prompt, each alone. */
static void speak(const struct gguf *f, const struct run *r,
                  enum kern_cpu_set set, struct texts *out, int n)
{
    struct gen *g = engine_of(f, r, set);

    for (int i = 0; i < n; i++)
        BUG_ON(!together(g, &out->brief[i], i, 1, BRIEF));
    BUG_ON(!whole(g, &out->whole));
    gen_free(g);
}

/* True when the set is there; then `first`, if it is the first, is filled. */
static bool test_set(const struct gguf *f, enum kern_cpu_set set,
                     const char *name, struct texts first[2], bool filled)
{
    static struct texts want[2]; /* with an F16, with a Q8_0 cache */
    struct engine_config c;
    struct gen_limits l;
    struct gen *g;
    struct err e;

    engine_config_default(&c);
    c.set = set;
    c.threads = 1;
    if (engine_open(&g, f, &c, &e)) {
        ok(e.st == ST_UNSUPPORTED, "%s: %s", name, e.text);
        printf("# SET %s NOT TESTED on this machine\n", name);
        return false;
    }
    g->ops->limits(g, &l);
    long_rows = l.context - ANSWER < LONG ? l.context - ANSWER : LONG;
    gen_free(g);
    speak(f, &alone, set, &want[0], JOBS);
    speak(f, &alone_q8, set, &want[1], Q8_JOBS);
    ok(memcmp(&want[0].brief[0], &want[0].brief[1],
              sizeof(want[0].brief[0])) != 0,
       "%s: different prompts, different texts", name);
    ok(memcmp(&want[0].whole, &want[1].whole, sizeof(want[0].whole)) != 0,
       "and another cache, other numbers");
    if (filled)
        ok(!memcmp(first, want, sizeof(want)),
           "%s says what the first set says", name);
    else
        memcpy(first, want, sizeof(want));
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++)
        play(f, &runs[i], set, &want[runs[i].q8]);
    return true;
}

static void test_file(const char *path)
{
    static const struct {
        enum kern_cpu_set set;
        const char *name;
    } sets[] = {{KERN_CPU_REF, "ref"}, {KERN_CPU_AVX2, "avx2"},
                {KERN_CPU_AVX512, "avx512"}, {KERN_CPU_NEON, "neon"}};
    static struct texts first[2];
    struct gguf *f = demo_open(path);
    bool filled = false;

    printf("# %s\n", path);
    for (size_t i = BRIEFLY; i < sizeof(sets) / sizeof(*sets); i++)
        filled |= test_set(f, sets[i].set, sets[i].name, first, filled);
    gguf_close(f);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        for (int i = 1; i < argc; i++)
            test_file(argv[i]);
    } else {
        test_file(TINY_LLAMA);
        if (!BRIEFLY)
            test_file("contrib/demo-model/tiny-random-qwen2.gguf");
    }
    return done();
}
