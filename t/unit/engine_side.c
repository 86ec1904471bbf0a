/*
 * Who waits, who need not, who waited too long: side slots, owners' turns,
 * start_by, estimates; and the gate before a request.
 */
#include "t/lib/jobs.h"
#include "t/lib/model.h"

#include "base/thread.h"
#include "t/lib/tap.h"

enum { PARALLEL = 2, LONG = 480, MAX_QUEUE = 8 };

static struct job *job_of(int kind, size_t n, int32_t max_tokens)
{
    int32_t ids[LONG];
    struct job *j;

    for (size_t i = 0; i < n; i++)
        ids[i] = (int32_t)((i * 7 + (size_t)kind * 31) % 256);
    j = job_new(ids, n, NULL, 0, max_tokens, 0);
    BUG_ON(!j);
    return j;
}

static struct gen *open_engine(const struct gguf *f, int32_t side,
                               struct memory *m)
{
    struct engine_config c;

    engine_config_default(&c);
    c.parallel = PARALLEL;
    c.side = side;
    c.max_queue = MAX_QUEUE;
    c.context = 512;
    c.threads = 1;
    c.memory = m;
    return demo_engine(f, &c);
}

static struct ring_view view_of(struct job *j)
{
    struct ring_view v;

    ring_look(j->ring, &v);
    return v;
}

/* --- the side lane -------------------------------------------------------- */

struct lane {
    struct gen *gen;
    struct job *small, *late;
    struct gen_state st;     /* at the first news of the small one */
    struct ring_view late_v; /* at its end */
    bool seen;
};

/* On the engine's thread, so that nothing moves meanwhile. */
static void small_news(void *arg)
{
    struct lane *l = arg;

    if (!l->seen)
        l->gen->ops->state(l->gen, &l->st);
    l->seen = true;
    if (view_of(l->small).ended)
        l->late_v = view_of(l->late);
}

static void lane(const struct gguf *f, int32_t side)
{
    static int32_t want[PARALLEL][LONG], got[LONG];
    struct gen *g = open_engine(f, side, NULL);
    struct lane l = {.gen = g};
    struct job *j[PARALLEL + 2];
    struct end_info end;

    for (int i = 0; i < PARALLEL; i++) {
        struct job *alone = job_of(i, 20, LONG);

        demo_submit(g, alone);
        demo_wait(alone, want[i], LONG, NULL);
        job_unref(alone);
        j[i] = job_of(i, 20, LONG);
    }
    l.late = j[PARALLEL] = job_of(8, 20, 2);
    l.small = j[PARALLEL + 1] = job_of(9, 20, 2);
    l.small->side = true;
    ring_on_wake(l.small->ring, small_news, &l);
    demo_submit_all(g, j, PARALLEL + 2);
    demo_wait(l.small, NULL, 0, &end);
    ring_on_wake(l.small->ring, NULL, NULL);
    is_int(end.completion_tokens, 2, "a small one with %d side slots", side);
    is_int(l.late_v.started, !side, side ? "ends before one that is not small"
                                         : "waits behind others");
    is_int(l.st.side_running, side, "and the state says so");
    for (int i = 0; i < PARALLEL; i++) {
        demo_wait(j[i], got, LONG, NULL);
        ok(!memcmp(want[i], got, sizeof(got)), "the long ones say the same");
    }
    demo_wait(l.late, NULL, 0, NULL);
    for (int i = 0; i < PARALLEL + 2; i++)
        job_unref(j[i]);
    gen_free(g);
}

/* --- those who wait ------------------------------------------------------- */

enum { WAITING = 5 };

struct line {
    struct job **j; /* [WAITING] */
    struct ring_view v[WAITING];
    bool told;
};

static void line_news(void *arg)
{
    struct line *l = arg;
    bool all = true;

    for (int i = 0; !l->told && i < WAITING; i++) {
        l->v[i] = view_of(l->j[i]);
        all &= l->v[i].queue_told_us > 0;
    }
    l->told |= all;
}

/* Some requests, so that there is something to go by. */
static void history(struct gen *g)
{
    for (int i = 0; i < 12; i++) {
        struct job *j = job_of(i, 30, 40);

        demo_submit(g, j);
        demo_wait(j, NULL, 0, NULL);
        job_unref(j);
    }
}

static void waiting(const struct gguf *f)
{
    static const uint64_t owner[WAITING] = {1, 1, 1, 2, 3};
    static const int32_t place[WAITING] = {0, 3, 4, 1, 2};
    struct gen *g = open_engine(f, 1, NULL);
    struct job *j[PARALLEL + WAITING + 1];
    struct job *late;
    struct line l = {.j = j + PARALLEL};
    struct gen_state st;
    struct end_info end;

    history(g);
    g->ops->state(g, &st);
    ok(st.prefill_row_us > 0 && st.decode_token_us > 0, "rates are known");
    for (int i = 0; i < PARALLEL; i++)
        j[i] = job_of(i, 20, LONG);
    for (int i = 0; i < WAITING; i++) {
        l.j[i] = job_of(i, 20, 5);
        l.j[i]->owner = owner[i];
    }
    late = j[PARALLEL + WAITING] = job_of(7, 20, 5);
    late->owner = 1;
    late->start_by_us = mono_us();
    ring_on_wake(j[1]->ring, line_news, &l);
    demo_submit_all(g, j, PARALLEL + WAITING + 1);
    demo_wait(late, NULL, 0, &end);
    is_int(end.reason, END_QUEUED, "one that had to start sooner ends");
    ok(!view_of(late).started && !end.completion_tokens, "without a row");
    for (int i = 0; i < PARALLEL; i++)
        demo_wait(j[i], NULL, 0, NULL);
    ring_on_wake(j[1]->ring, NULL, NULL);
    ok(l.told, "everybody who waits is told");
    for (int i = 0; i < WAITING; i++) {
        is_int(l.v[i].queue_position, place[i], "owner %d: the place",
               (int)owner[i]);
        ok(l.v[i].queue_eta_us >= 0, "and how long (%d us)",
           (int)l.v[i].queue_eta_us);
        demo_wait(l.j[i], NULL, 0, &end);
        ok(end.completion_tokens == 5 && end.queue_us > 0, "then it is served");
    }
    for (int i = 0; i < PARALLEL + WAITING + 1; i++)
        job_unref(j[i]);
    gen_free(g);
}

/* --- a full queue --------------------------------------------------------- */

struct full {
    struct gen *gen;
    struct job **j; /* [MAX_QUEUE + 1] */
    enum st st[MAX_QUEUE + 1];
    bool sent;
};

static void fill_queue(void *arg)
{
    struct full *f = arg;
    struct gen_state st;
    struct err e;

    f->gen->ops->state(f->gen, &st);
    if (f->sent || st.running < PARALLEL + 1)
        return;
    f->sent = true;
    for (int i = 0; i <= MAX_QUEUE; i++)
        f->st[i] = gen_submit(f->gen, f->j[i], &e);
}

/* Who runs in a side slot takes no place of those who wait. */
static void full_queue(const struct gguf *f)
{
    struct gen *g = open_engine(f, 1, NULL);
    struct job *j[PARALLEL + 1 + MAX_QUEUE + 1];
    struct full full = {.gen = g, .j = j + PARALLEL + 1};
    int n = 0;

    for (int i = 0; i < PARALLEL + 1 + MAX_QUEUE + 1; i++)
        j[i] = job_of(i, 20, i <= PARALLEL ? LONG : 1);
    j[PARALLEL]->side = true;
    ring_on_wake(j[1]->ring, fill_queue, &full);
    demo_submit_all(g, j, PARALLEL + 1);
    demo_wait(j[1], NULL, 0, NULL);
    ring_on_wake(j[1]->ring, NULL, NULL);
    for (int i = 0; i <= MAX_QUEUE; i++)
        n += full.sent && !full.st[i];
    is_int(n, MAX_QUEUE, "as many may wait beside a side slot");
    is_int(full.st[MAX_QUEUE], ST_BUSY, "and no more");
    for (int i = 0; i < PARALLEL + 1 + n; i++) {
        gen_cancel(g, j[i]);
        demo_wait(j[i], NULL, 0, NULL);
    }
    for (int i = 0; i < PARALLEL + 1 + MAX_QUEUE + 1; i++)
        job_unref(j[i]);
    gen_free(g);
}

/* --- a slot that comes free ----------------------------------------------- */

enum { AHEAD = 300 };

struct after {
    struct gen *gen;
    struct job *first, *gone, *next, *late;
    int32_t tokens;
    struct ring_view v; /* of the late one, when it was told */
};

static void after_news(void *arg)
{
    struct after *a = arg;
    struct ring_view v = view_of(a->late);

    if (++a->tokens == AHEAD) {
        gen_cancel(a->gen, a->gone);
        demo_submit(a->gen, a->next);
        demo_submit(a->gen, a->late);
    }
    if (v.queue_told_us && !a->v.queue_told_us)
        a->v = v;
}

/*
 * One of the side lane, and one beside it, have written for so long that
 * nobody knows when they end. Who came to a slot after them has just begun:
 * its slot is the one to wait for, although it entered last.
 */
static void behind_side(const struct gguf *f)
{
    struct gen *g = open_engine(f, 1, NULL);
    struct after a = {.gen = g};
    struct job *j[5];

    history(g);
    for (int i = 0; i < 5; i++)
        j[i] = job_of(i, 20, i < 3 ? LONG : i == 3 ? 150 : 2);
    a.gone = j[0];
    a.first = j[1];
    j[2]->side = true;
    a.next = j[3];
    a.late = j[4];
    ring_on_wake(a.first->ring, after_news, &a);
    demo_submit_all(g, j, 3);
    demo_wait(a.first, NULL, 0, NULL);
    ring_on_wake(a.first->ring, NULL, NULL);
    ok(a.v.queue_told_us > 0, "one is told that waits for a slot");
    ok(a.v.queue_eta_us >= 0, "that of who began last (%d us)",
       (int)a.v.queue_eta_us);
    for (int i = 0; i < 5; i++) {
        if (i != 1)
            demo_wait(j[i], NULL, 0, NULL);
        job_unref(j[i]);
    }
    gen_free(g);
}

/* --- the gate ------------------------------------------------------------- */

struct watch {
    const struct memory *memory;
    size_t most;
};

static void watch_news(void *arg)
{
    struct watch *w = arg;
    size_t held = memory_held(w->memory);

    if (held > w->most)
        w->most = held;
}

/* slack: bytes of free pages that the first level leaves. */
static void gate(const struct gguf *f, size_t slack)
{
    struct memory m;
    struct watch w = {.memory = &m};
    struct gen_state st;
    struct end_info end;
    struct job *j[6];
    struct err e;
    struct gen *g;
    size_t page, base;

    BUG_ON(memory_init(&m, 0, (size_t)1 << 40, 0, &e));
    g = open_engine(f, 1, &m);
    g->ops->state(g, &st);
    page = st.bytes_kv / st.kv_pages;
    history(g);
    demo_submit(g, j[0] = job_of(0, 400, 5)); /* the largest steps */
    demo_wait(j[0], NULL, 0, NULL);
    job_unref(j[0]);
    g->ops->state(g, &st);
    base = memory_held(&m) - st.kv_pages_used * page -
           atomic_load(&m.bytes[MEM_FREE]);
    gen_free(g);

    /* five pages and what a request takes besides */
    BUG_ON(memory_init(&m, base + 2 * page, base + 5 * page + 8192, slack,
                       &e));
    g = open_engine(f, 1, &m);
    history(g);
    demo_submit(g, j[0] = job_of(3, 250, 3)); /* whose memory stays */
    demo_wait(j[0], NULL, 0, &end);
    is_int(end.completion_tokens, 3, "four pages fit");
    job_unref(j[0]);
    j[0] = job_of(0, 400, 5);
    demo_submit(g, j[0]);
    demo_wait(j[0], NULL, 0, &end);
    ok(end.reason == END_ERROR && end.err.st == ST_NOMEM,
       "a prompt of seven pages under a peak of five is refused");
    printf("# %s\n", end.err.text);
    ok(strstr(end.err.text, "peak") != NULL, "with the figures");
    job_unref(j[0]);

    /* the page that the second one has filled takes the place of a part */
    for (size_t n = 100; n <= 150; n += 50) {
        demo_submit(g, j[0] = job_of(4, n, 1));
        demo_wait(j[0], NULL, 0, NULL);
        job_unref(j[0]);
    }
    for (int i = 0; i < 2; i++)
        j[i] = job_of(5 + i, 230, 20);
    demo_submit_all(g, j, 2);
    for (int i = 0; i < 2; i++) {
        demo_wait(j[i], NULL, 0, &end);
        is_int(end.completion_tokens, 20, "two of four pages: one waits");
        job_unref(j[i]);
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 6; i++) {
            j[i] = job_of(i + round, 100, 60);
            ring_on_wake(j[i]->ring, watch_news, &w);
        }
        ring_on_wake(j[0]->ring, NULL, NULL);
        demo_submit_all(g, j, 6);
        for (int i = 0; i < 6; i++) {
            demo_wait(j[i], NULL, 0, &end);
            is_int(end.completion_tokens, 60, "others are served in turn");
            ring_on_wake(j[i]->ring, NULL, NULL);
            job_unref(j[i]);
        }
    }
    for (int i = 0; i < 2; i++)
        j[i] = job_of(10 + i, 20, 200);
    ring_on_wake(j[1]->ring, watch_news, &w);
    demo_submit_all(g, j, 2);
    for (int i = 0; i < 2; i++) {
        demo_wait(j[i], NULL, 0, &end);
        is_int(end.completion_tokens, 200, "two that grow are served");
        ring_on_wake(j[i]->ring, NULL, NULL);
        job_unref(j[i]);
    }
    ok(w.most <= m.peak, "never more than the peak (%d pages less)",
       (int)((int64_t)(m.peak - w.most) / (int64_t)page));
    g->ops->state(g, &st);
    is_int((int64_t)st.gate.refusals, 1, "one was refused");
    ok(st.gate.waits > 0, "while somebody ran, others waited");
    is_int(st.gate.given_bytes[0] > 0, !slack, "free pages went, but for %zu",
           slack);
    ok(st.gate.given_bytes[5] > 0, "and the tree gave pages back");
    ok(memory_held(&m) <= m.ceiling, "afterwards all is under the ceiling");
    gen_free(g);
}

int main(void)
{
    struct gguf *f = demo_open(TINY_LLAMA);

    lane(f, 1);
    lane(f, 0);
    waiting(f);
    full_queue(f);
    behind_side(f);
    gate(f, 0);
    gate(f, (size_t)1 << 30);
    gguf_close(f);
    return done();
}
