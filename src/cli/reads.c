#include "cli/reads.h"

#include "base/mem.h"
#include "base/thread.h"

#include <sys/mman.h>

#define BYTES ((size_t)512 << 20) /* caches of 300 MiB exist */
#define LEAST ((size_t)32 << 20)

/*
 * Eight sums, so that no load waits for another, in vectors of the width
 * that the machine loads at once: of narrow loads fewer are under way, and
 * then it is the loop that is measured. The reads of a volatile are kept.
 */
#define READER(name, width, attr)                                            \
    typedef uint64_t name##_v __attribute__((vector_size(width)));           \
    attr static uint64_t name(const void *from, size_t bytes)                \
    {                                                                        \
        const name##_v *p = from;                                            \
        name##_v s0 = {0}, s1 = s0, s2 = s0, s3 = s0;                        \
        name##_v s4 = s0, s5 = s0, s6 = s0, s7 = s0;                         \
                                                                             \
        for (size_t i = 0; i + 8 <= bytes / width; i += 8) {                 \
            s0 ^= p[i];                                                      \
            s1 ^= p[i + 1];                                                  \
            s2 ^= p[i + 2];                                                  \
            s3 ^= p[i + 3];                                                  \
            s4 ^= p[i + 4];                                                  \
            s5 ^= p[i + 5];                                                  \
            s6 ^= p[i + 6];                                                  \
            s7 ^= p[i + 7];                                                  \
        }                                                                    \
        s0 ^= s1 ^ s2 ^ s3 ^ s4 ^ s5 ^ s6 ^ s7;                              \
        return s0[0];                                                        \
    }

READER(read_plain, 16, )
#ifdef HAVE_X86_64
READER(read_avx2, 32, __attribute__((target("avx2"))))
READER(read_avx512, 64, __attribute__((target("avx512f"))))
#endif

static uint64_t (*reader(void))(const void *, size_t)
{
#ifdef HAVE_X86_64
    if (__builtin_cpu_supports("avx512f"))
        return read_avx512;
    if (__builtin_cpu_supports("avx2"))
        return read_avx2;
#endif
    return read_plain;
}

struct part {
    pthread_t thread;
    const uint8_t *p;
    size_t bytes;
    int64_t begun_us, ended_us;
    volatile uint64_t sum; /* the reads must not be dropped as unused */
};

static void *read_part(void *arg)
{
    struct part *r = arg;
    uint64_t (*read)(const void *, size_t) = reader();

    r->begun_us = mono_us();
    r->sum = read(r->p, r->bytes);
    r->ended_us = mono_us();
    return NULL;
}

/* One run: from the first thread's start to the last one's end. */
static enum st run(struct part *parts, int threads, double *us, struct err *e)
{
    int64_t begun = INT64_MAX, ended = 0;
    enum st st = ST_OK;
    int n = 0;

    while (n < threads && !st) {
        st = thread_start(&parts[n].thread, "reader", read_part, &parts[n], e);
        n += !st;
    }
    for (int i = 0; i < n; i++) {
        pthread_join(parts[i].thread, NULL);
        begun = parts[i].begun_us < begun ? parts[i].begun_us : begun;
        ended = parts[i].ended_us > ended ? parts[i].ended_us : ended;
    }
    *us = (double)(ended - begun + 1);
    return st;
}

enum st reads_add(struct reads *r, int threads, size_t runs, struct err *e)
{
    struct part *parts = mem_array(struct part, (size_t)threads);
    size_t bytes = BYTES, share;
    uint8_t *p = MAP_FAILED;
    enum st st = ST_OK;
    double us;

    while (bytes >= LEAST && p == MAP_FAILED) {
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        bytes /= p == MAP_FAILED ? 2 : 1;
    }
    if (p == MAP_FAILED) {
        free(parts);
        return err_set(e, ST_NOMEM, "bench", "no memory for the read test");
    }
    /* a hint: without huge pages it runs as well */
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 1, bytes); /* untouched pages would all be one page of zeros */
    share = bytes / (size_t)threads / 4096 * 4096;
    for (int i = 0; i < threads; i++) {
        parts[i].p = p + share * (size_t)i;
        parts[i].bytes = share;
    }
    st = run(parts, threads, &us, e); /* threads find their CPUs */
    for (size_t i = 0; !st && i < runs && r->n < READS_MAX; i++) {
        st = run(parts, threads, &us, e);
        if (!st)
            r->speed[r->n++] =
                (double)share * (double)threads * 1e6 / us;
    }
    munmap(p, bytes);
    free(parts);
    return st;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double reads_median(double *v, size_t n)
{
    qsort(v, n, sizeof(*v), by_value);
    return n ? (v[(n - 1) / 2] + v[n / 2]) / 2 : 0;
}
