#include "kernels/cpu/pool.h"

#include "base/mem.h"
#include "base/thread.h"

#include <sched.h>
#include <stdatomic.h>

/*
 * A round: the caller sets fn and arg, then counts `round` up; each worker
 * runs once per value of round and counts `running` down. Sleepers announce
 * themselves before they look a last time (both in sequentially consistent
 * order), so a waker that sees no sleeper has been seen by it.
 */
struct pool {
    int n;          /* members, the caller included */
    int started;    /* workers that exist */
    int spin_us;
    void (*fn)(void *arg, int i, int n); /* NULL: leave */
    void *arg;
    _Atomic uint32_t round;
    _Atomic int running;  /* workers that have not finished this round */
    _Atomic int sleepers; /* workers in wake */
    _Atomic bool waiting; /* the caller is in done */
    pthread_mutex_t mu;
    pthread_cond_t wake, done;
    struct pool_worker {
        struct pool *p;
        int i;
        pthread_t thread;
    } *workers; /* [n - 1] */
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint32_t wait_round(struct pool *p, uint32_t seen)
{
    uint32_t now = atomic_load_explicit(&p->round, memory_order_acquire);

    if (now == seen && p->spin_us) {
        int64_t end = mono_us() + p->spin_us;

        do {
            for (int k = 0; k < 8 && now == seen; k++) {
                relax();
                now = atomic_load_explicit(&p->round, memory_order_acquire);
            }
        } while (now == seen && mono_us() < end);
    }
    if (now != seen)
        return now;
    pthread_mutex_lock(&p->mu);
    atomic_fetch_add(&p->sleepers, 1);
    while ((now = atomic_load(&p->round)) == seen)
        pthread_cond_wait(&p->wake, &p->mu);
    atomic_fetch_sub(&p->sleepers, 1);
    pthread_mutex_unlock(&p->mu);
    return now;
}

static void *worker_main(void *arg)
{
    struct pool_worker *w = arg;
    struct pool *p = w->p;
    uint32_t seen = 0;

    for (;;) {
        seen = wait_round(p, seen);
        if (!p->fn)
            return NULL;
        p->fn(p->arg, w->i, p->n);
        if (atomic_fetch_sub(&p->running, 1) == 1 &&
            atomic_load(&p->waiting)) {
            pthread_mutex_lock(&p->mu);
            pthread_cond_signal(&p->done);
            pthread_mutex_unlock(&p->mu);
        }
    }
}

static void start_round(struct pool *p, void (*fn)(void *, int, int),
                        void *arg)
{
    p->fn = fn;
    p->arg = arg;
    atomic_store(&p->running, p->n - 1);
    atomic_fetch_add(&p->round, 1);
    if (atomic_load(&p->sleepers)) {
        pthread_mutex_lock(&p->mu);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->mu);
    }
}

static void finish_round(struct pool *p)
{
    if (atomic_load(&p->running) && p->spin_us) {
        int64_t end = mono_us() + p->spin_us;

        do {
            for (int k = 0; k < 8 && atomic_load(&p->running); k++)
                relax();
        } while (atomic_load(&p->running) && mono_us() < end);
    }
    if (!atomic_load(&p->running))
        return;
    pthread_mutex_lock(&p->mu);
    atomic_store(&p->waiting, true);
    while (atomic_load(&p->running))
        pthread_cond_wait(&p->done, &p->mu);
    atomic_store(&p->waiting, false);
    pthread_mutex_unlock(&p->mu);
}

void pool_run(struct pool *p, void (*fn)(void *arg, int i, int n), void *arg)
{
    if (p->n == 1) {
        fn(arg, 0, 1);
        return;
    }
    start_round(p, fn, arg);
    fn(arg, 0, p->n);
    finish_round(p);
}

static int processors(void)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set))
        return POOL_MAX; /* more of them than the set can name */
    return CPU_COUNT(&set);
}

enum st pool_new(struct pool **out, int threads, struct err *e)
{
    struct pool *p;
    enum st st = ST_OK;

    BUG_ON(threads < 1 || threads > POOL_MAX);
    *out = NULL;
    p = mem_new(struct pool);
    p->n = threads;
    p->spin_us = threads <= processors() ? POOL_SPIN_US : 0;
    p->workers = mem_array(struct pool_worker, (size_t)threads);
    pthread_mutex_init(&p->mu, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->done, NULL);
    for (int i = 1; !st && i < threads; i++) {
        struct pool_worker *w = &p->workers[i - 1];

        *w = (struct pool_worker){.p = p, .i = i};
        st = thread_start(&w->thread, "kernels", worker_main, w, e);
        p->started += st == ST_OK;
    }
    if (st) {
        pool_free(p);
        return st;
    }
    *out = p;
    return ST_OK;
}

void pool_free(struct pool *p)
{
    if (!p)
        return;
    if (p->started)
        start_round(p, NULL, NULL);
    for (int i = 0; i < p->started; i++)
        pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mu);
    free(p->workers);
    free(p);
}

void pool_share(int64_t count, int64_t unit, int i, int n, int64_t *lo,
                int64_t *hi)
{
    int64_t units = (count + unit - 1) / unit;
    int64_t a = units * i / n * unit, b = units * (i + 1) / n * unit;

    *lo = a < count ? a : count;
    *hi = b < count ? b : count;
}
