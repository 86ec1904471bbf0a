#include "engine/packfile.h"

#include "base/sum.h"
#include "base/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define CHUNK ((size_t)4 << 20) /* what a thread takes at a time */
#define THREADS_MAX 64

struct work {
    const uint8_t *p;
    size_t n, chunks;
    uint64_t *sum; /* [chunks] */
    atomic_size_t next;
    atomic_bool failed;
};

/* Map it before it is read: in one call, and an error of the disk is an
 * answer instead of a signal. Kernels before 5.14 do not know how. */
static bool fetch(const uint8_t *p, size_t n)
{
#ifdef MADV_POPULATE_READ
    uintptr_t from = (uintptr_t)p & ~(uintptr_t)4095;

    return !madvise((void *)from, (uintptr_t)p + n - from,
                    MADV_POPULATE_READ) || errno != EFAULT;
#else
    (void)p;
    (void)n;
    return true;
#endif
}

static void *run(void *arg)
{
    struct work *w = arg;

    for (;;) {
        size_t i = atomic_fetch_add_explicit(&w->next, 1,
                                             memory_order_relaxed);
        size_t at = i * CHUNK, n;

        if (i >= w->chunks)
            return NULL;
        n = w->n - at < CHUNK ? w->n - at : CHUNK;
        if (fetch(w->p + at, n))
            w->sum[i] = sum64(w->p + at, n);
        else
            atomic_store_explicit(&w->failed, true, memory_order_relaxed);
    }
}

bool packfile_sum(const uint8_t *p, size_t n, int threads, uint64_t *out)
{
    struct work w = {.p = p, .n = n, .chunks = n / CHUNK + (n % CHUNK > 0)};
    pthread_t t[THREADS_MAX];
    int started = 0;
    uint64_t sum = n;

    w.sum = mem_try_array(w.chunks, sizeof(*w.sum));
    if (!w.sum)
        return false;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    while (started + 1 < threads && (size_t)started + 1 < w.chunks &&
           !thread_start(&t[started], "sum", run, &w, NULL))
        started++;
    run(&w);
    for (int i = 0; i < started; i++)
        pthread_join(t[i], NULL);
    for (size_t i = 0; i < w.chunks; i++)
        sum = sum_step(sum, w.sum[i]);
    free(w.sum);
    *out = sum ^ sum >> 32;
    return !atomic_load_explicit(&w.failed, memory_order_relaxed);
}
