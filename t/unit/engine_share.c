/*
 * Sharing an engine: a short prompt passes a long one, forced ids do not wait
 * for a prompt, and where KV pages run out the texts stay what they are alone.
 */
#include "t/lib/jobs.h"
#include "t/lib/model.h"

#include "engine/plan.h"
#include "t/lib/tap.h"

#define JOBS 6
#define MAX 150  /* ids of an answer: three pages with its prompt */
#define PAGES 7

static struct job *job_of(size_t n, int32_t max_tokens, int32_t first)
{
    int32_t ids[512];
    struct job *j;

    for (size_t i = 0; i < n; i++)
        ids[i] = (first + (int32_t)i * 7) % 256;
    j = demo_job(ids, n, max_tokens);
    j->n_stop = 0;
    return j;
}

static struct gen *open_engine(const struct gguf *g, int32_t chunk,
                               size_t kv_bytes)
{
    struct engine_config c;

    engine_config_default(&c);
    c.parallel = JOBS;
    c.context = 512;
    c.chunk = chunk;
    c.kv_bytes = kv_bytes;
    c.threads = 2;
    return demo_engine(g, &c);
}

static int32_t done_of(struct job *j)
{
    struct ring_view v;

    ring_look(j->ring, &v);
    return v.prefill_done;
}

struct race {
    struct job *slow, *j;
    int32_t done; /* of the slow one's prompt when the other ended */
};

/* On the engine's thread, so that nothing moves meanwhile. */
static void note_end(void *arg)
{
    struct race *r = arg;
    struct ring_view v;

    ring_look(r->j->ring, &v);
    if (v.ended)
        r->done = done_of(r->slow);
}

/* `j` ends while the prompt of `slow`, submitted before, is in its middle. */
static void passes(struct gen *g, struct job *slow, struct job *j,
                   const char *what)
{
    struct race r = {slow, j, -1};
    struct job *both[] = {slow, j};
    struct end_info end;

    ring_on_wake(j->ring, note_end, &r);
    demo_submit_all(g, both, 2);
    demo_wait(j, NULL, 0, &end);
    ring_on_wake(j->ring, NULL, NULL);
    ok(end.reason == END_STOP || end.reason == END_LENGTH, "%s ends", what);
    ok(r.done >= 0 && r.done < 400,
       "while the long prompt has %d of 500 rows", r.done);
    job_unref(j);
    gen_cancel(g, slow);
    demo_wait(slow, NULL, 0, NULL);
    job_unref(slow);
}

static void short_prompts(struct gen *g)
{
    int32_t forced[20];
    struct job *j = job_of(14, 2, 1);

    passes(g, job_of(500, 2, 0), j, "a short prompt");
    for (int i = 0; i < 20; i++)
        forced[i] = i;
    j = job_of(4, 30, 2);
    j->guide = forced_guide(forced, 20);
    passes(g, job_of(500, 2, 3), j, "a forced answer");
}

/* A prompt that another one follows comes before a shorter one, as soon as
 * the follower's rows are nearer than its end (engine/plan.h, rule 5). */
static void followed(const struct gguf *f)
{
    struct gen *g = open_engine(f, 16, 0);
    struct job *lead = job_of(480, 2, 0), *other = job_of(300, 2, 1);
    struct job *j[] = {lead, other, NULL};
    struct race r = {.slow = other, .done = -1};
    int32_t ids[105];

    memcpy(ids, lead->ids, 100 * sizeof(*ids));
    for (int i = 100; i < 105; i++)
        ids[i] = 255 - lead->ids[i];
    r.j = j[2] = demo_job(ids, 105, 1);
    j[2]->n_stop = 0;
    ring_on_wake(j[2]->ring, note_end, &r);
    demo_submit_all(g, j, 3);
    demo_wait(j[2], NULL, 0, NULL);
    ring_on_wake(j[2]->ring, NULL, NULL);
    ok(r.done >= 0 && r.done < 100,
       "a follower ends when a shorter prompt has %d of 300 rows", r.done);
    for (int i = 0; i < 3; i++) {
        gen_cancel(g, j[i]);
        demo_wait(j[i], NULL, 0, NULL);
        job_unref(j[i]);
    }
    gen_free(g);
}

/* The whole slice goes to a prompt that is alone; the last rows are a short
 * prompt's (engine/plan.h). */
static void one_prompt(const struct gguf *f)
{
    struct gen *g = open_engine(f, 8, 0);
    struct job *j = job_of(80 + PLAN_SHORT, 1, 0);
    struct gen_state st;

    demo_submit(g, j);
    demo_wait(j, NULL, 0, NULL);
    g->ops->state(g, &st);
    is_int((int64_t)st.steps, 11,
           "80 rows in slices of 8 are 10 steps, the last 64 are one");
    job_unref(j);
    gen_free(g);
}

struct places {
    struct job **late;
    struct ring_view v[2];
};

static void note_places(void *arg)
{
    struct places *p = arg;

    for (int i = 0; i < 2 && p->v[0].queue_position != 1; i++)
        ring_look(p->late[1 - i]->ring, &p->v[1 - i]);
}

/* Background jobs wait for all others, whoever came first. */
static void classes(struct gen *g)
{
    struct job *j[JOBS + 2];
    struct places p = {.late = j + JOBS};

    for (int i = 0; i < JOBS; i++)
        j[i] = job_of(20, 400, i);
    for (int i = 0; i < 2; i++) {
        p.late[i] = job_of(20, 1, i);
        p.late[i]->cls = i ? JOB_NORMAL : JOB_BACKGROUND;
    }
    ring_on_wake(j[1]->ring, note_places, &p);
    demo_submit_all(g, j, JOBS + 2);
    demo_wait(j[1], NULL, 0, NULL);
    ring_on_wake(j[1]->ring, NULL, NULL);
    ok(p.v[0].queue_position == 1 && p.v[1].queue_position == 0,
       "a background job waits behind a later one of a user");
    for (int i = 0; i < JOBS + 2; i++) {
        gen_cancel(g, j[i]);
        demo_wait(j[i], NULL, 0, NULL);
        job_unref(j[i]);
    }
}

static void run_all(struct gen *g, int32_t ids[JOBS][MAX], int at_once)
{
    struct job *j[JOBS];

    for (int i = 0; i < JOBS; i += at_once) {
        for (int k = i; k < i + at_once; k++) {
            j[k] = job_of(20 + 9 * (size_t)k, MAX, k);
            if (k % 2)
                j[k]->sampling = (struct sampling)SAMPLING(1, 40, 0.95f, 0, 5);
        }
        demo_submit_all(g, j + i, at_once);
        for (int k = i; k < i + at_once; k++) {
            is_int((int64_t)demo_wait(j[k], ids[k], MAX, NULL), MAX,
                   "job %d, %d at once: every id", k, at_once);
            job_unref(j[k]);
        }
    }
}

static void few_pages(const struct gguf *f, size_t page)
{
    static int32_t alone[JOBS][MAX], group[JOBS][MAX];
    struct gen *g = open_engine(f, 16, (PAGES + 1) * page);
    struct gen_state st;

    run_all(g, alone, 1);
    g->ops->state(g, &st);
    is_int((int64_t)st.sent_back, 0, "alone nobody is sent back");
    run_all(g, group, JOBS);
    g->ops->state(g, &st);
    ok(st.sent_back > 0, "together some are (%d times)", (int)st.sent_back);
    ok(st.decode_rows_max > 2, "and yet %d decode at once",
       (int)st.decode_rows_max);
    ok(st.kv_pages_used == st.cache.pages && !st.cache.shared_pages,
       "only the prefix tree has pages");
    ok(!memcmp(alone, group, sizeof(alone)), "every text is the same");
    gen_free(g);
}

struct line {
    struct gen *gen;
    struct job *j[3];
    int news;      /* of the first */
    bool seen;     /* news of the third: */
    bool was_over; /* the second had ended then */
};

static void add_others(void *arg)
{
    struct line *l = arg;

    if (++l->news == 1)
        demo_submit(l->gen, l->j[1]);
    if (l->news == 150)
        demo_submit(l->gen, l->j[2]);
}

static void third_news(void *arg)
{
    struct line *l = arg;
    struct ring_view v;

    if (l->seen)
        return;
    l->seen = true;
    ring_look(l->j[1]->ring, &v);
    l->was_over = v.ended;
}

/* Two that need seven pages each of eight, and a third that waits since
 * before the second was sent back: it lets that one in first. */
static void sent_back_first(const struct gguf *f, size_t page)
{
    struct gen *g = open_engine(f, 16, (PAGES + 1) * page);
    struct line l = {.gen = g};
    struct gen_state st;

    for (int i = 0; i < 3; i++)
        l.j[i] = job_of(i < 2 ? 20 : 200, i < 2 ? 400 : 1, i);
    ring_on_wake(l.j[2]->ring, third_news, &l);
    ring_on_wake(l.j[0]->ring, add_others, &l);
    demo_submit(g, l.j[0]);
    for (int i = 0; i < 3; i++)
        demo_wait(l.j[i], NULL, 0, NULL);
    g->ops->state(g, &st);
    is_int((int64_t)st.sent_back, 1, "the second was sent back");
    ok(l.was_over, "and was over before the third began");
    for (int i = 0; i < 3; i++) {
        ring_on_wake(l.j[i]->ring, NULL, NULL);
        job_unref(l.j[i]);
    }
    gen_free(g);
}

/* What a budget means for the context. */
static void budgets(const struct gguf *f, size_t page)
{
    struct engine_config c;
    struct gen_limits l;
    struct gen *g;
    struct err e;

    engine_config_default(&c);
    c.threads = 1;
    c.kv_bytes = 2 * page + 1;
    g = demo_engine(f, &c);
    g->ops->limits(g, &l);
    is_int(l.context, 128, "two pages are a context of 128");
    gen_free(g);
    c.context = 129;
    is_int(engine_open(&g, f, &c, &e), ST_NOMEM, "not one of 129");
    is_str(e.where, "context", "names the setting");
    c.context = 0;
    c.kv_bytes = page - 1;
    is_int(engine_open(&g, f, &c, &e), ST_NOMEM, "less than a page is none");
}

int main(void)
{
    struct gguf *f = demo_open(TINY_LLAMA);
    struct gen *g = open_engine(f, 16, 0);
    struct gen_state st;

    g->ops->state(g, &st);
    short_prompts(g);
    classes(g);
    gen_free(g);
    one_prompt(f);
    followed(f);
    few_pages(f, st.bytes_kv / st.kv_pages);
    sent_back_first(f, st.bytes_kv / st.kv_pages);
    budgets(f, st.bytes_kv / st.kv_pages);
    gguf_close(f);
    return done();
}
