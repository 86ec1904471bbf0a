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
