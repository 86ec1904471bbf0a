#include "gen/gen.h"

#define MAX_TOKENS (1 << 24)

static int32_t *copy_ids(const int32_t *ids, size_t n)
{
    int32_t *p = mem_try_array(n ? n : 1, sizeof(*p));

    if (p && n)
        memcpy(p, ids, n * sizeof(*p));
    return p;
}

struct job *job_new(const int32_t *ids, size_t n_ids, const int32_t *stop_ids,
                    size_t n_stop, int32_t max_tokens, int32_t top_logprobs)
{
    struct job *j;

    BUG_ON(max_tokens < 1 || max_tokens > MAX_TOKENS);
    j = mem_try(sizeof(*j));
    if (!j)
        return NULL;
    j->refs = 1;
    j->ids = copy_ids(ids, n_ids);
    j->n_ids = n_ids;
    j->stop_ids = copy_ids(stop_ids, n_stop);
    j->n_stop = n_stop;
    j->sampling = (struct sampling){.top_p = 1};
    j->max_tokens = max_tokens;
    j->top_logprobs = top_logprobs;
    j->ring = ring_new((size_t)max_tokens, top_logprobs);
    if (!j->ids || !j->stop_ids || !j->ring) {
        job_unref(j);
        return NULL;
    }
    return j;
}

enum st job_set_bias(struct job *j, const struct bias *bias, size_t n,
                     struct err *e)
{
    if (!n)
        return ST_OK;
    j->bias = mem_try_array(n, sizeof(*bias));
    if (!j->bias)
        return err_set(e, ST_NOMEM, "", "no memory for this request");
    memcpy(j->bias, bias, n * sizeof(*bias));
    j->n_bias = n;
    return ST_OK;
}

void job_ref(struct job *j)
{
    atomic_fetch_add_explicit(&j->refs, 1, memory_order_relaxed);
}

void job_unref(struct job *j)
{
    if (!j)
        return;
    /* release: our uses come first; acquire: the last one sees all others */
    if (atomic_fetch_sub_explicit(&j->refs, 1, memory_order_acq_rel) != 1)
        return;
    guide_free(j->guide);
    ring_free(j->ring);
    free(j->ids);
    free(j->stop_ids);
    free(j->bias);
    free(j);
}

enum st gen_submit(struct gen *g, struct job *j, struct err *e)
{
    return g->ops->submit(g, j, e);
}

void gen_cancel(struct gen *g, struct job *j)
{
    atomic_store_explicit(&j->cancelled, 1, memory_order_release);
    g->ops->kick(g);
}

void gen_finish(struct gen *g, struct job *j, int32_t keep)
{
    int32_t none = 0;

    BUG_ON(keep < 1);
    /* the first stop string found counts */
    atomic_compare_exchange_strong(&j->finish, &none, keep);
    g->ops->kick(g);
}

void gen_free(struct gen *g)
{
    if (g)
        g->ops->free(g);
}
