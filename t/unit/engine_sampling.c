/*
 * Penalties, biases and log-probabilities of whole texts: the same alone,
 * among others, in other slices and after losing pages; counted over prompt,
 * text and forced ids; log-probabilities that change nothing. What a penalty
 * makes of one row is in engine_penalty.
 */
#include "engine/seq.h"
#include "t/lib/jobs.h"
#include "t/lib/model.h"

#include "t/lib/tap.h"

#include <math.h>

#define JOBS 8
#define MAX 150  /* ids of an answer: three pages with its prompt */
#define SHORT 40 /* where the length does not matter */
#define TOP 5
#define PAGES 7

static struct answer {
    int32_t ids[MAX];
    float chosen[MAX];
    struct logprob top[MAX * SEQ_TOP_MAX];
    size_t n;
    struct end_info end;
} once, again, alone[JOBS], group[JOBS];

static struct gen *open_engine(const struct gguf *g, int32_t chunk,
                               size_t kv_bytes)
{
    struct engine_config c;

    engine_config_default(&c);
    c.parallel = JOBS;
    c.context = 512;
    c.chunk = chunk;
    c.kv_bytes = kv_bytes;
    c.threads = 1; /* small models: two only wait for each other */
    return demo_engine(g, &c);
}

/* Submits; a is filled by finish_job. */
static void start_job(struct gen *g, struct job *j)
{
    j->n_stop = 0;
    demo_submit(g, j);
}

static void finish_job(struct job *j, struct answer *a)
{
    memset(a, 0, sizeof(*a));
    demo_wait(j, NULL, 0, &a->end);
    a->n = ring_take(j->ring, a->ids, NULL, a->chosen, a->top, MAX);
    job_unref(j);
}

static void run_job(struct gen *g, struct job *j, struct answer *a)
{
    start_job(g, j);
    finish_job(j, a);
}

/* n ids of a prompt, `max` of the answer. */
static struct job *job_of(size_t n, int32_t max, int32_t top)
{
    int32_t ids[512];

    for (size_t i = 0; i < n; i++)
        ids[i] = (int32_t)(i * 7 % 100);
    return job_new(ids, n, NULL, 0, max, top);
}

static void bias(struct job *j, int32_t id, float value)
{
    const struct bias b = {id, value};

    BUG_ON(job_set_bias(j, &b, 1, NULL));
}

static bool same_ids(const struct answer *a, const struct answer *b)
{
    return a->n == b->n && !memcmp(a->ids, b->ids, sizeof(a->ids));
}

static bool same(const struct answer *a, const struct answer *b)
{
    return same_ids(a, b) && !memcmp(a->chosen, b->chosen, sizeof(a->chosen)) &&
           !memcmp(a->top, b->top, sizeof(a->top));
}

/* --- one text ------------------------------------------------------------ */

/* Every penalty alone and all of them, greedy and drawn. */
static struct job *mixed(int i, int32_t max, int32_t top)
{
    struct job *j = job_of(20 + 9 * (size_t)i, max, top);

    if (i % 2)
        j->sampling = (struct sampling)SAMPLING(1, 40, 0.95f, 0.01f, 5);
    j->sampling.presence = i == 1 || i == 4 || i >= 6 ? 0.7f : 0;
    j->sampling.frequency = i == 2 || i == 5 || i >= 6 ? 0.3f : 0;
    j->sampling.repetition = i == 3 || i >= 6 ? 1.2f : 1;
    if (i > 3)
        bias(j, 50 + i, 3.5f);
    return j;
}

static void run_group(struct gen *g, int at_once, int32_t max, int32_t top,
                      struct answer *out)
{
    struct job *j[JOBS];

    for (int i = 0; i < JOBS; i += at_once) {
        for (int k = i; k < i + at_once; k++)
            j[k] = mixed(k, max, top);
        demo_submit_all(g, j + i, at_once);
        for (int k = i; k < i + at_once; k++)
            finish_job(j[k], &out[k]);
    }
}

static int count_same(bool (*is)(const struct answer *a,
                                 const struct answer *b))
{
    int n = 0;

    for (int i = 0; i < JOBS; i++)
        n += alone[i].n && is(&alone[i], &group[i]);
    return n;
}

static void one_text(const struct gguf *f)
{
    struct gen *g = open_engine(f, 0, 0);
    struct gen_state st;
    size_t page;

    run_group(g, 1, MAX, TOP, alone);
    g->ops->state(g, &st);
    is_int(st.decode_rows_max, 1, "one at a time shared no step");
    is_int(alone[0].n, MAX, "and wrote as much as it might");
    page = st.bytes_kv / st.kv_pages;
    run_group(g, JOBS, MAX, TOP, group);
    g->ops->state(g, &st);
    is_int(st.decode_rows_max, JOBS, "all at once shared a step");
    is_int(count_same(same), JOBS,
           "and got the same ids and log-probabilities");
    gen_free(g);

    g = open_engine(f, 8, (PAGES + 1) * page);
    run_group(g, JOBS, MAX, TOP, group);
    g->ops->state(g, &st);
    ok(st.sent_back > 0 && st.decode_rows_max > 2,
       "small slices, few pages: some were sent back (%d times)",
       (int)st.sent_back);
    is_int(count_same(same), JOBS, "and all is as it was");
    gen_free(g);
}

/* Check 42 of the specification: recording changes no token. */
static void recording(struct gen *g)
{
    run_group(g, 1, SHORT, TOP, alone);
    run_group(g, 1, SHORT, 0, group);
    is_int(count_same(same_ids), JOBS, "without log-probabilities: same ids");
    run_group(g, JOBS, SHORT, 0, group);
    is_int(count_same(same_ids), JOBS, "nor when they share steps");
    run_group(g, JOBS, SHORT, SEQ_TOP_MAX, group);
    is_int(count_same(same_ids), JOBS, "nor with as many as there may be");
}

/* --- log-probabilities --------------------------------------------------- */

static void shape(struct gen *g)
{
    struct job *j = mixed(7, SHORT, 20);
    bool order = true, chosen = true, share = true;

    run_job(g, j, &once);
    for (size_t i = 0; i < once.n; i++) {
        const struct logprob *top = once.top + i * 20;
        double sum = 0;

        for (int k = 0; k < 20; k++) {
            sum += exp((double)top[k].logprob);
            if (k)
                order = order && (top[k].logprob < top[k - 1].logprob ||
                                  (top[k].logprob == top[k - 1].logprob &&
                                   top[k].id > top[k - 1].id));
            if (top[k].id == once.ids[i])
                chosen = chosen && top[k].logprob == once.chosen[i];
        }
        share = share && sum <= 1 + 1e-6 && once.chosen[i] <= 0;
    }
    is_int(once.n, SHORT, "a text with twenty alternatives");
    ok(order, "in descending order, lower ids first");
    ok(chosen, "the chosen one has one log-probability");
    ok(share, "no more than everything");

    j = mixed(6, SHORT, 20);
    run_job(g, j, &once);
    for (size_t i = 0; i < once.n; i++)
        order = order && once.top[i * 20].id == once.ids[i];
    ok(order, "greedy takes the likeliest after penalties");
}

/* The log-probability of one id as first of an answer, or NAN. */
static double first_of(const struct answer *a, int32_t id)
{
    for (int k = 0; k < SEQ_TOP_MAX; k++)
        if (a->top[k].id == id)
            return (double)a->top[k].logprob;
    return (double)NAN;
}

/* Logits of ids against each other move by what the header says. */
static void amounts(struct gen *g)
{
    struct job *j = job_of(150, 1, SEQ_TOP_MAX); /* half of 0..99 twice */
    int counted[3] = {0};
    double worst = 0, moved[SEQ_TOP_MAX], base = (double)NAN;

    run_job(g, j, &once);
    j = job_of(150, 1, SEQ_TOP_MAX);
    j->sampling.presence = 0.5f;
    j->sampling.frequency = 0.25f;
    run_job(g, j, &again);
    for (int k = 0; k < SEQ_TOP_MAX; k++) {
        moved[k] = first_of(&again, once.top[k].id) -
                   (double)once.top[k].logprob;
        if (once.top[k].id > 99 && !isnan(moved[k]))
            base = moved[k];
    }
    for (int k = 0; k < SEQ_TOP_MAX; k++) {
        int32_t id = once.top[k].id, seen = 0;

        if (isnan(moved[k]))
            continue;
        for (int32_t i = 0; i < 150; i++)
            seen += i * 7 % 100 == id;
        counted[seen]++;
        worst = fmax(worst, fabs(moved[k] - base + (seen > 0) * 0.5 +
                                 seen * 0.25));
    }
    ok(counted[0] && counted[1] && counted[2],
       "ids that are in the prompt never, once, twice (%d, %d, %d)",
       counted[0], counted[1], counted[2]);
    ok(worst < 1e-4, "fell by presence and frequency (%.1e)", worst);
}

/* A bias is added behind the penalties: repetition does not scale it. */
static void order(struct gen *g)
{
    double moved[2];
    int32_t ids[2] = {-1, -1}; /* one that is in the prompt, one that is not */

    for (int turn = 0; turn < 2; turn++) {
        struct job *j = job_of(50, 1, SEQ_TOP_MAX);

        j->sampling.repetition = 2;
        if (turn)
            bias(j, ids[0], 3);
        run_job(g, j, turn ? &again : &once);
        for (int k = 0; k < SEQ_TOP_MAX && !turn; k++) {
            int32_t id = once.top[k].id, seen = 0;

            for (int32_t i = 0; i < 50; i++)
                seen |= i * 7 % 100 == id;
            if (ids[!seen] < 0)
                ids[!seen] = id;
        }
    }
    for (int k = 0; k < 2; k++)
        moved[k] = first_of(&again, ids[k]) - first_of(&once, ids[k]);
    ok(fabs(moved[0] - moved[1] - 3) < 1e-4,
       "a bias of 3 is 3 behind a repetition penalty (%g)",
       moved[0] - moved[1]);
}

/* What one sequence may not say is no matter to the next. */
static void masks(struct gen *g)
{
    static const int32_t a[] = {1, 2, 3, 4};
    static const struct id_list l[] = {{a, 1}, {a + 1, 1}, {a + 2, 1},
                                          {a + 3, 1}};

    for (int i = 0; i < 2; i++) {
        struct job *j = job_of(20, 5, 0);

        j->guide = lists_guide(l + 2 * (ptrdiff_t)i, 2);
        run_job(g, j, &once);
        ok(once.end.reason == END_STOP && once.n == 1 &&
               (once.ids[0] - 1) / 2 == i,
           "one of two choices, %d", i);
    }
}

/* --- forced ids ---------------------------------------------------------- */

#define HEAD 40

/* Forces HEAD ids; then anything, or nothing at all, may come. */
struct head {
    struct guide guide; /* first: the two convert */
    bool nothing;
};

static size_t head_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(int32_t);
}

static void head_init(const struct guide *g, void *state)
{
    (void)g;
    memset(state, 0, sizeof(int32_t));
}

static size_t head_forced(const struct guide *g, const void *state,
                          int32_t *ids, size_t cap)
{
    const int32_t *at = state;
    size_t n = 0;

    (void)g;
    for (; n < cap && *at + (int32_t)n < HEAD; n++)
        ids[n] = (*at + (int32_t)n) % 9;
    return n;
}

static bool head_allowed(const struct guide *g, const void *state,
                         uint32_t *mask, size_t n_vocab)
{
    (void)state;
    if (!((const struct head *)(const void *)g)->nothing)
        return false;
    memset(mask, 0, (n_vocab + 31) / 32 * sizeof(*mask));
    return true;
}

static enum guide_next head_accept(const struct guide *g, void *state,
                                   int32_t id)
{
    (void)g;
    (void)id;
    ++*(int32_t *)state;
    return GUIDE_GO;
}

static void head_free(struct guide *g)
{
    free(g);
}

static struct guide *head_guide(bool nothing)
{
    static const struct guide_ops ops = {
        .state_bytes = head_bytes, .init = head_init,
        .forced = head_forced,     .allowed = head_allowed,
        .accept = head_accept,     .free = head_free,
    };
    struct head *h = mem_new(struct head);

    h->guide.ops = &ops;
    h->nothing = nothing;
    return &h->guide;
}

/* Forced ids count like a prompt that ended with them. */
static void forced(struct gen *g)
{
    struct sampling how = SAMPLING(0.8f, 0, 0.99f, 0, 11);
    int32_t ids[20 + HEAD];
    struct job *j = job_of(20, 60 + HEAD, TOP);
    bool sole = true;

    how.presence = 0.4f;
    how.frequency = 0.4f;
    how.repetition = 1.1f;
    memcpy(ids, j->ids, 20 * sizeof(*ids));
    for (int32_t i = 0; i < HEAD; i++)
        ids[20 + i] = i % 9;
    j->sampling = how;
    j->guide = head_guide(false);
    run_job(g, j, &once);
    j = job_new(ids, 20 + HEAD, NULL, 0, 60, TOP);
    j->sampling = how;
    run_job(g, j, &again);
    ok(once.n == 60 + HEAD && again.n == 60 &&
           !memcmp(once.ids + HEAD, again.ids, 60 * sizeof(*ids)),
       "after forced ids all goes on as after a prompt with them");
    ok(!memcmp(once.top + (ptrdiff_t)HEAD * TOP, again.top,
               60 * TOP * sizeof(*again.top)),
       "with the same log-probabilities");
    for (int i = 0; i < HEAD; i++) {
        const struct logprob *top = once.top + (ptrdiff_t)i * TOP;

        sole = sole && once.chosen[i] == 0 && top[0].id == once.ids[i] &&
               top[0].logprob == 0 && top[1].id == -1;
    }
    ok(sole, "a forced id has probability 1 and no alternative");
}

static void nothing_left(struct gen *g)
{
    struct job *j = job_of(20, 60 + HEAD, 0);

    j->guide = head_guide(true);
    run_job(g, j, &once);
    ok(once.end.reason == END_ERROR && once.n == HEAD,
       "a guide that leaves no id ends the job");
    is_int(once.end.err.st, ST_INVALID, "as a mistake of the request");
    printf("# %s\n", once.end.err.text);
    j = job_of(20, 5, 0);
    run_job(g, j, &once);
    is_int(once.n, 5, "and the engine goes on");
}

/* --- what they are for --------------------------------------------------- */

static int distinct(const struct answer *a)
{
    int n = 0;

    for (size_t i = 0; i < a->n; i++) {
        size_t k = 0;

        while (a->ids[k] != a->ids[i])
            k++;
        n += k == i;
    }
    return n;
}

#define LOOP 50

/* The demo model, out of what it knows, goes in circles. */
static void loops(struct gen *g)
{
    static const struct {
        const char *name;
        struct sampling how;
    } each[] = {
        {"presence", {.top_p = 1, .presence = 2}},
        {"frequency", {.top_p = 1, .frequency = 1}},
        {"repetition", {.top_p = 1, .repetition = 1.5f}},
    };

    run_job(g, job_of(50, LOOP, 0), &once);
    for (size_t i = 0; i < 3; i++) {
        struct job *j = job_of(50, LOOP, 0);

        j->sampling = each[i].how;
        run_job(g, j, &again);
        ok(distinct(&again) > distinct(&once),
           "%s: %d distinct ids of %d, without %d", each[i].name,
           distinct(&again), LOOP, distinct(&once));
    }
}

/* Check 40: a bias changes the text from the token on that it acts on. */
static void biases(struct gen *g)
{
    struct job *j = job_of(30, MAX, 0);
    size_t at = 0, parts = 0, hits = 0;

    run_job(g, j, &once);
    for (size_t i = 0; i < MAX; i++) {
        size_t k = 0;

        while (once.ids[k] != once.ids[i])
            k++;
        if (k == i)
            at = i; /* the last id to appear for the first time */
    }
    j = job_of(30, MAX, 0);
    bias(j, once.ids[at], -100);
    run_job(g, j, &again);
    while (parts < MAX && once.ids[parts] == again.ids[parts])
        parts++;
    is_int(parts, at, "-100: the text is the same up to that id");
    for (size_t i = 0; i < MAX; i++)
        hits += again.ids[i] == once.ids[at];
    is_int(hits, 0, "which never comes");

    j = job_of(30, MAX, 0);
    j->sampling = (struct sampling)SAMPLING(1, 0, 1, 0, 3);
    bias(j, 77, 100);
    run_job(g, j, &again);
    for (hits = 0; hits < again.n && again.ids[hits] == 77; hits++)
        ;
    is_int(hits, MAX, "100: nothing else comes");
}

/* Checks 41 and case C32: seeds and choices. */
static void seeds(struct gen *g)
{
    bool differ = true;
    struct job *j[3];

    run_job(g, mixed(7, SHORT, 0), &once);
    j[0] = mixed(7, SHORT, 0);
    j[0]->sampling.seed++;
    run_job(g, j[0], &again);
    ok(!same_ids(&once, &again), "another seed, another text");
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 3; i++) {
            j[i] = mixed(7, SHORT, 0);
            j[i]->choice = i;
            start_job(g, j[i]);
        }
        for (int i = 0; i < 3; i++)
            finish_job(j[i], turn ? &group[i] : &alone[i]);
    }
    for (int i = 0; i < 3; i++)
        differ = differ && !same_ids(&alone[i], &alone[(i + 1) % 3]);
    ok(differ, "three choices of one seed are three texts");
    ok(same_ids(&alone[0], &once), "the first is the only one of n 1");
    ok(same_ids(&alone[0], &group[0]) && same_ids(&alone[1], &group[1]) &&
           same_ids(&alone[2], &group[2]),
       "and come again the second time");
}

/* --- what cannot be ------------------------------------------------------ */

static void refuses(struct gen *g, struct sampling how, int32_t id,
                    float value, const char *where)
{
    struct job *j = job_of(10, 5, 0);
    struct err e = {0};

    j->sampling = how;
    bias(j, id, value);
    is_int(gen_submit(g, j, &e), ST_INVALID, "%s: %s", where, e.text);
    is_str(e.where, where, "names it");
    job_unref(j);
}

static void refused(struct gen *g)
{
    const struct sampling plain = {.top_p = 1};
    struct sampling how = plain;
    struct gen_limits l;

    g->ops->limits(g, &l);
    refuses(g, plain, l.vocab, 1, "logit_bias");
    refuses(g, plain, -1, 1, "logit_bias");
    refuses(g, plain, 1, 100.5f, "logit_bias");
    refuses(g, plain, 1, -INFINITY, "logit_bias");
    refuses(g, plain, 1, NAN, "logit_bias");
    how.presence = NAN;
    refuses(g, how, 1, 1, "presence_penalty");
    how.presence = 2.5f;
    refuses(g, how, 1, 1, "presence_penalty");
    how = plain;
    how.frequency = -2.5f;
    refuses(g, how, 1, 1, "frequency_penalty");
    how = plain;
    how.repetition = -1;
    refuses(g, how, 1, 1, "repetition_penalty");
    how.repetition = INFINITY;
    refuses(g, how, 1, 1, "repetition_penalty");
}

int main(void)
{
    struct gguf *f = demo_open(TINY_LLAMA);
    struct gen *g = open_engine(f, 0, 0);

    one_text(f);
    recording(g);
    shape(g);
    amounts(g);
    order(g);
    masks(g);
    forced(g);
    nothing_left(g);
    biases(g);
    seeds(g);
    refused(g);
    gen_free(g);
    gguf_close(f);

    f = demo_open(DEMO_Q8);
    g = open_engine(f, 0, 0);
    loops(g);
    gen_free(g);
    gguf_close(f);
    return done();
}
