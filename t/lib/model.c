#include "t/lib/model.h"

static void bail(const struct err *e)
{
    printf("Bail out! %s: %s\n", e->where, e->text);
    exit(1);
}

struct gguf *demo_open(const char *path)
{
    struct gguf *g;
    struct err e;

    if (gguf_open(&g, path, &e))
        bail(&e);
    return g;
}

struct gen *demo_engine(const struct gguf *g, const struct engine_config *c)
{
    struct gen *gen;
    struct err e;

    if (engine_open(&gen, g, c, &e))
        bail(&e);
    return gen;
}

struct job *demo_job(const int32_t *ids, size_t n, int32_t max_tokens)
{
    int32_t stop = DEMO_IM_END;

    return job_new(ids, n, &stop, 1, max_tokens, 0);
}

void demo_submit(struct gen *g, struct job *j)
{
    struct err e;

    if (gen_submit(g, j, &e))
        bail(&e);
}

struct group {
    struct gen *gen;
    struct job **j;
    int n;
    bool sent;
    pthread_mutex_t mu;
    pthread_cond_t cond;
};

static void submit_others(void *arg)
{
    struct group *g = arg;
    bool sent;

    pthread_mutex_lock(&g->mu);
    sent = g->sent;
    pthread_mutex_unlock(&g->mu);
    if (sent)
        return;
    for (int i = 1; i < g->n; i++)
        demo_submit(g->gen, g->j[i]);
    pthread_mutex_lock(&g->mu);
    g->sent = true;
    pthread_cond_signal(&g->cond);
    pthread_mutex_unlock(&g->mu);
}

void demo_submit_all(struct gen *gen, struct job **j, int n)
{
    struct group g = {.gen = gen, .j = j, .n = n};

    pthread_mutex_init(&g.mu, NULL);
    pthread_cond_init(&g.cond, NULL);
    ring_on_wake(j[0]->ring, submit_others, &g);
    demo_submit(gen, j[0]);
    pthread_mutex_lock(&g.mu);
    while (!g.sent)
        pthread_cond_wait(&g.cond, &g.mu);
    pthread_mutex_unlock(&g.mu);
    ring_on_wake(j[0]->ring, NULL, NULL);
    pthread_cond_destroy(&g.cond);
    pthread_mutex_destroy(&g.mu);
}

size_t demo_wait(struct job *j, int32_t *ids, size_t cap, struct end_info *end)
{
    struct ring_view v;
    size_t n = 0;

    for (;;) {
        ring_look(j->ring, &v);
        if (ids)
            n += ring_take(j->ring, ids + n, NULL, NULL, NULL, cap - n);
        if (v.ended)
            break;
        ring_wait(j->ring, 1000);
    }
    if (end)
        *end = v.end;
    return n;
}
