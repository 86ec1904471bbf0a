#include "gen/ring.h"

#include "base/thread.h"

/*
 * One array per column, as long as the job may become: tokens are appended
 * and never wrap, so a push needs no space check beyond the contract's.
 * Untouched pages of the arrays cost no memory.
 */
struct ring {
    pthread_mutex_t mu;
    pthread_cond_t cond;   /* for ring_wait and ring_on_wake(NULL) */
    void (*wake)(void *arg);
    void *arg;
    bool waking;           /* a call of `wake` is under way */
    bool news;             /* since the last ring_wait */

    size_t cap, n, taken;  /* ids: room, pushed, taken */
    int32_t *ids;          /* [cap] */
    int64_t *at_us;        /* [cap] */
    size_t top_n;
    float *chosen;         /* [cap], NULL when top_n is 0 */
    struct logprob *top;   /* [cap][top_n] */

    struct ring_view view;
};

struct ring *ring_new(size_t max_tokens, int top_n)
{
    struct ring *r = mem_new(struct ring);
    size_t tops;

    pthread_mutex_init(&r->mu, NULL);
    cond_init_monotonic(&r->cond);
    r->view.queue_eta_us = -1;
    r->cap = max_tokens;
    r->top_n = top_n > 0 ? (size_t)top_n : 0;
    r->ids = mem_try_array(max_tokens, sizeof(*r->ids));
    r->at_us = mem_try_array(max_tokens, sizeof(*r->at_us));
    if (!r->ids || !r->at_us)
        goto fail;
    if (r->top_n) {
        if (!mem_mul(&tops, max_tokens, r->top_n))
            goto fail;
        r->chosen = mem_try_array(max_tokens, sizeof(*r->chosen));
        r->top = mem_try_array(tops, sizeof(*r->top));
        if (!r->chosen || !r->top)
            goto fail;
    }
    return r;
fail:
    ring_free(r);
    return NULL;
}

void ring_free(struct ring *r)
{
    if (!r)
        return;
    pthread_cond_destroy(&r->cond);
    pthread_mutex_destroy(&r->mu);
    free(r->ids);
    free(r->at_us);
    free(r->chosen);
    free(r->top);
    free(r);
}

void ring_queued(struct ring *r, int32_t position, int64_t eta_us,
                 int64_t now_us)
{
    pthread_mutex_lock(&r->mu);
    r->view.queue_position = position;
    r->view.queue_eta_us = eta_us;
    r->view.queue_told_us = now_us;
    pthread_mutex_unlock(&r->mu);
}

void ring_prefill(struct ring *r, int32_t done, int32_t total)
{
    pthread_mutex_lock(&r->mu);
    if (!r->view.started)
        r->view.prefill_from = done;
    r->view.started = true;
    r->view.queue_position = -1;
    r->view.prefill_done = done;
    r->view.prefill_total = total;
    pthread_mutex_unlock(&r->mu);
}

void ring_token(struct ring *r, int32_t id, int64_t at_us, float chosen,
                const struct logprob *top)
{
    pthread_mutex_lock(&r->mu);
    BUG_ON(r->n == r->cap || r->view.ended);
    r->ids[r->n] = id;
    r->at_us[r->n] = at_us;
    if (r->top_n) {
        r->chosen[r->n] = chosen;
        memcpy(r->top + r->n * r->top_n, top, r->top_n * sizeof(*top));
    }
    r->n++;
    pthread_mutex_unlock(&r->mu);
}

void ring_end(struct ring *r, const struct end_info *end)
{
    pthread_mutex_lock(&r->mu);
    BUG_ON(r->view.ended);
    r->view.ended = true;
    r->view.end = *end;
    pthread_mutex_unlock(&r->mu);
}

void ring_wake(struct ring *r)
{
    void (*wake)(void *arg);
    void *arg;

    pthread_mutex_lock(&r->mu);
    r->news = true;
    wake = r->wake;
    arg = r->arg;
    r->waking = wake != NULL;
    pthread_cond_broadcast(&r->cond);
    pthread_mutex_unlock(&r->mu);
    if (!wake)
        return;
    wake(arg);
    pthread_mutex_lock(&r->mu);
    r->waking = false;
    pthread_cond_broadcast(&r->cond);
    pthread_mutex_unlock(&r->mu);
}

void ring_on_wake(struct ring *r, void (*wake)(void *arg), void *arg)
{
    pthread_mutex_lock(&r->mu);
    r->wake = wake;
    r->arg = arg;
    while (r->waking)
        pthread_cond_wait(&r->cond, &r->mu);
    pthread_mutex_unlock(&r->mu);
}

size_t ring_take(struct ring *r, int32_t *ids, int64_t *at_us, float *chosen,
                 struct logprob *top, size_t cap)
{
    size_t n, at;

    pthread_mutex_lock(&r->mu);
    at = r->taken;
    n = r->n - at;
    if (n > cap)
        n = cap;
    if (n) {
        memcpy(ids, r->ids + at, n * sizeof(*ids));
        if (at_us)
            memcpy(at_us, r->at_us + at, n * sizeof(*at_us));
        if (chosen && r->top_n)
            memcpy(chosen, r->chosen + at, n * sizeof(*chosen));
        if (top && r->top_n)
            memcpy(top, r->top + at * r->top_n, n * r->top_n * sizeof(*top));
    }
    r->taken = at + n;
    pthread_mutex_unlock(&r->mu);
    return n;
}

void ring_look(struct ring *r, struct ring_view *v)
{
    pthread_mutex_lock(&r->mu);
    *v = r->view;
    pthread_mutex_unlock(&r->mu);
}

void ring_wait(struct ring *r, int64_t ms)
{
    int64_t until = mono_ms() + ms, left;

    pthread_mutex_lock(&r->mu);
    while (!r->news) {
        left = until - mono_ms();
        if (left <= 0 || !cond_wait_ms(&r->cond, &r->mu, left))
            break;
    }
    r->news = false;
    pthread_mutex_unlock(&r->mu);
}
