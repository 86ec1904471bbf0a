/*
 * The prefix tree under the engine (engine/sched_cache.c): whatever of a
 * prompt is found, copied, or computed by another one, ids and
 * log-probabilities are those of an engine that never saw anything, and the
 * sharing really happened. Case C38: parallel requests and choices that share
 * a head compute it once.
 */
#include "t/lib/jobs.h"
#include "t/lib/said.h"

#include "t/lib/tap.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { BRIEFLY = 1 };
#else
enum { BRIEFLY = 0 };
#endif
enum { MOST = 480, CONTEXT = 512, PAGE = KV_PAGE };

static const struct gguf *file;
static enum kern_type kv_type;

static struct gen *open_engine(int32_t chunk, size_t kv_bytes)
{
    struct engine_config c;

    engine_config_default(&c);
    c.parallel = 4;
    c.context = CONTEXT;
    c.chunk = chunk;
    c.kv_bytes = kv_bytes;
    c.kv_type = kv_type;
    c.threads = 1; /* small: two would only wait for each other */
    return demo_engine(file, &c);
}

/* --- prompts and answers ------------------------------------------------- */

/* n ids of text `kind`, the last `differ` of them those of text `other`. */
static struct job *job_of(int kind, size_t n, int other, size_t differ)
{
    int32_t ids[MOST];
    struct job *j;

    for (size_t i = 0; i < n; i++)
        ids[i] = (int32_t)((i * i * 5 + i * 31 +
                            (size_t)(i + differ < n ? kind : other) * 17 + 1) %
                           256);
    j = job_new(ids, n, NULL, 0, ANSWER, TOP);
    BUG_ON(!j);
    if (kind % 2)
        j->sampling = (struct sampling){
            .temperature = 1, .top_k = 50, .top_p = 0.95f, .seed = 7};
    return j;
}

/* By an engine that knows nothing. */
static void cold(struct job *j, struct said *out)
{
    struct gen *g = open_engine(0, 0);

    ask(g, j, out);
    is_int(out->end.cached_tokens, 0, "cold: nothing is found");
    gen_free(g);
}

static struct gen_cache cache_of(struct gen *g)
{
    struct gen_state st;

    g->ops->state(g, &st);
    return st.cache;
}

/* --- one after another --------------------------------------------------- */

/* The same again, with heads that end at, before and behind a page. */
static void again(void)
{
    static const struct {
        size_t n, differ;
    } t[] = {{1, 0},   {2, 0},    {63, 0},   {64, 0},   {65, 0},  {66, 0},
             {128, 0}, {129, 0},  {150, 0},  {150, 1},  {150, 22}, {150, 23},
             {150, 86}, {150, 149}, {300, 100}, {440, 4}};

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i += BRIEFLY ? 4 : 1) {
        int kind = (int)i % 4;
        struct gen *g = open_engine(i % 2 ? 16 : 0, 0);
        int32_t head = (int32_t)(t[i].n - t[i].differ);
        struct said want, got;

        cold(job_of(kind, t[i].n, kind + 4, t[i].differ), &want);
        ask(g, job_of(kind, t[i].n, 0, 0), &got);
        ask(g, job_of(kind, t[i].n, kind + 4, t[i].differ), &got);
        ok(same(&got, &want), "%d ids, the last %d edited: same bits",
           (int)t[i].n, (int)t[i].differ);
        if (!t[i].differ)
            head--;
        is_int(got.end.cached_tokens, head, "as much was found as is shared");
        is_int((int64_t)cache_of(g).rows_forwarded,
               2 * (int64_t)t[i].n - head, "the others were computed");
        gen_free(g);
    }
}

/* A conversation: its next turn holds the answer, then more. */
static void conversation(void)
{
    struct gen *g = open_engine(0, 0);
    int32_t ids[MOST];
    struct said first, want, got;
    size_t n = 100;
    struct job *j = job_of(2, n, 0, 0);

    memcpy(ids, j->ids, n * sizeof(*ids));
    ask(g, j, &first);
    for (int turn = 0; turn < 3; turn++) {
        int32_t known = (int32_t)n + ANSWER - 1;

        memcpy(ids + n, first.ids, sizeof(first.ids));
        n += ANSWER;
        for (int i = 0; i < 30; i++)
            ids[n++] = 3 * i + turn;
        cold(job_new(ids, n, NULL, 0, ANSWER, TOP), &want);
        ask(g, job_new(ids, n, NULL, 0, ANSWER, TOP), &got);
        ok(same(&got, &want), "turn %d: same bits", turn);
        is_int(got.end.cached_tokens, known,
               "what was said is known but for its last id");
        first = got;
    }
    gen_free(g);
}

/* --- who left ------------------------------------------------------------ */

struct leaver {
    struct gen *gen;
    struct job *job;
};

static void leave_now(void *arg)
{
    struct leaver *l = arg;

    gen_cancel(l->gen, l->job);
}

static void retry(void)
{
    struct gen *g = open_engine(32, 0);
    struct job *j = job_of(1, 400, 0, 0);
    struct leaver l = {g, j};
    struct said want, got;
    struct ring_view v;
    int32_t done;

    ring_on_wake(j->ring, leave_now, &l);
    demo_submit(g, j);
    demo_wait(j, NULL, 0, &got.end);
    ring_on_wake(j->ring, NULL, NULL);
    ring_look(j->ring, &v);
    done = v.prefill_done;
    ok(got.end.reason == END_CANCELLED && done > 0 && done < 400,
       "left after %d rows", done);
    job_unref(j);
    cold(job_of(1, 400, 0, 0), &want);
    ask(g, job_of(1, 400, 0, 0), &got);
    ok(same(&got, &want), "the retry: same bits");
    is_int(got.end.cached_tokens, done, "and every row was kept");
    gen_free(g);
}

/* --- together: C38 ------------------------------------------------------- */

enum { GROUP = 4 };

static void group_of(struct gen *g, struct job *j[GROUP],
                     struct said got[GROUP])
{
    demo_submit_all(g, j, GROUP);
    for (int i = 0; i < GROUP; i++)
        hear(j[i], &got[i]);
}

/* The i-th choice, or a prompt with an end of its own. */
static struct job *one_of(int i, size_t n, size_t differ)
{
    struct job *j = job_of(1, n, 20 + i, differ);

    j->choice = differ ? 0 : i;
    return j;
}

/* Four of `n` ids with `differ` of their own; one head and four ends, or four
 * choices. */
static void share(int32_t chunk, size_t n, size_t differ, const char *name)
{
    struct gen *g = open_engine(chunk, 0);
    struct said want[GROUP], got[GROUP];
    struct job *j[GROUP];
    int64_t own = differ ? (int64_t)differ : 1, all = (int64_t)n - own;
    int64_t forwarded = (int64_t)cache_of(g).rows_forwarded;
    bool good = true;

    for (int i = 0; i < GROUP; i++) {
        struct job *one = one_of(i, n, differ);

        j[i] = one_of(i, n, differ);
        cold(one, &want[i]);
    }
    group_of(g, j, got);
    for (int i = 0; i < GROUP; i++)
        good &= same(&got[i], &want[i]);
    ok(good, "%s: same bits", name);
    forwarded = (int64_t)cache_of(g).rows_forwarded - forwarded;
    is_int(forwarded, all + GROUP * own, "and the head was computed once");
    is_int(got[GROUP - 1].end.cached_tokens, all, "the last says so");
    gen_free(g);
}

struct twin {
    struct gen *gen;
    struct job *j;
    size_t used; /* pages, before its last ids */
};

static void twin_news(void *arg)
{
    struct twin *t = arg;
    struct ring_view v;
    struct gen_state st;

    ring_look(t->j->ring, &v);
    if (v.ended)
        return;
    t->gen->ops->state(t->gen, &st);
    if (st.running == 2)
        t->used = st.kv_pages_used;
}

/* Two that write the same: the page that both have filled is there once. */
static void twins(void)
{
    struct gen *g = open_engine(0, 0);
    struct job *j[2] = {job_of(0, 60, 0, 0), job_of(0, 60, 0, 0)};
    struct twin t = {.gen = g, .j = j[1]};
    struct said got[2];

    ring_on_wake(j[1]->ring, twin_news, &t);
    demo_submit_all(g, j, 2);
    hear(j[0], &got[0]);
    demo_wait(j[1], NULL, 0, NULL);
    ring_on_wake(j[1]->ring, NULL, NULL);
    hear(j[1], &got[1]);
    ok(same(&got[0], &got[1]), "two that are alike: same bits");
    is_int((int64_t)t.used, 3, "one full page, and a part for each");
    gen_free(g);
}

/* --- a leader that does not get there ------------------------------------ */

struct lead {
    struct gen *gen;
    struct job *lead, *other, *third;
    int calls, when;
};

static void lead_leaves(void *arg)
{
    struct lead *l = arg;

    if (++l->calls == 1) {
        demo_submit(l->gen, l->other);
        demo_submit(l->gen, l->third);
    }
    if (l->calls == l->when)
        gen_cancel(l->gen, l->lead);
}

/* It leaves in the middle: the next one goes on where it was, and the one
 * behind that waits for the next one now. */
static void leader_leaves(int when)
{
    struct gen *g = open_engine(16, 0);
    struct lead l = {.gen = g, .when = when};
    struct said want[2], got[3];

    cold(job_of(1, 300, 9, 5), &want[0]);
    cold(job_of(1, 300, 8, 20), &want[1]);
    l.lead = job_of(1, 300, 0, 0);
    l.other = job_of(1, 300, 9, 5);
    l.third = job_of(1, 300, 8, 20);
    ring_on_wake(l.lead->ring, lead_leaves, &l);
    demo_submit(g, l.lead);
    demo_wait(l.lead, NULL, 0, &got[0].end);
    ring_on_wake(l.lead->ring, NULL, NULL);
    job_unref(l.lead);
    hear(l.other, &got[1]);
    hear(l.third, &got[2]);
    is_int(got[0].end.reason, END_CANCELLED, "the first left in slice %d",
           when);
    ok(same(&got[1], &want[0]) && same(&got[2], &want[1]),
       "those who waited for it: same bits");
    ok(got[1].end.cached_tokens >= 16 * (when - 1),
       "the second took what there was (%d rows)", got[1].end.cached_tokens);
    is_int((int64_t)cache_of(g).rows_forwarded, 300 + 20,
           "no row was computed twice");
    gen_free(g);
}

/* --- few pages ----------------------------------------------------------- */

static void few_pages(void)
{
    static struct said want[8], got[8];
    struct gen_state st;
    struct gen *g = open_engine(0, 0);
    struct job *j[8];
    bool good = true;

    g->ops->state(g, &st);
    gen_free(g);
    for (int i = 0; i < 8; i++)
        cold(job_of(i, 120 + (size_t)i, i + 9, 30), &want[i]);
    g = open_engine(16, 8 * (st.bytes_kv / st.kv_pages));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 8; i++)
            j[i] = job_of(i, 120 + (size_t)i, i + 9, 30);
        demo_submit_all(g, j, 8);
        for (int i = 0; i < 8; i++) {
            hear(j[i], &got[i]);
            good &= same(&got[i], &want[i]);
        }
    }
    g->ops->state(g, &st);
    ok(good, "eight with eight pages, three times: same bits");
    ok(st.cache.evicted > 0 && st.sent_back > 0,
       "pages were evicted (%d) and sequences sent back (%d)",
       (int)st.cache.evicted, (int)st.sent_back);
    ok(st.kv_pages_used == st.cache.pages && !st.cache.shared_pages,
       "afterwards only the tree has pages");
    gen_free(g);
}

/* One that is sent back while others wait for its rows. */
static void few_pages_shared(void)
{
    static struct said want[GROUP], got[GROUP];
    struct gen_state st;
    struct gen *g = open_engine(0, 0);
    struct job *j[GROUP];
    bool good = true;

    g->ops->state(g, &st);
    gen_free(g);
    for (int i = 0; i < GROUP; i++)
        cold(job_of(1, 250, 30 + i, 60), &want[i]);
    g = open_engine(8, 8 * (st.bytes_kv / st.kv_pages));
    for (int i = 0; i < GROUP; i++)
        j[i] = job_of(1, 250, 30 + i, 60);
    group_of(g, j, got);
    for (int i = 0; i < GROUP; i++)
        good &= same(&got[i], &want[i]);
    ok(good, "one head, eight pages: same bits");
    gen_free(g);
}

static void all(void)
{
    again();
    conversation();
    retry();
    share(0, 200, 0, "four choices");
    share(16, 193, 0, "four choices, a head of whole pages");
    share(16, 220, 30, "four with one head");
    share(32, 300, 299, "four with one id in common");
    share(1, 220, 120, "four with one head, row by row");
    twins();
    leader_leaves(2);
    leader_leaves(6);
    leader_leaves(15);
    few_pages();
    few_pages_shared();
}

int main(void)
{
    struct gguf *g = demo_open(TINY_LLAMA);

    file = g;
    kv_type = KERN_F16;
    all();
    kv_type = KERN_Q8_0;
    if (!BRIEFLY)
        all();
    gguf_close(g);
    return done();
}
