/*
 * The pool: every member runs once per round, results are visible to the
 * caller, idle members use no processor time. Meant for --enable-tsan too.
 */
#include "kernels/cpu/pool.h"
#include "base/thread.h"
#include "t/lib/tap.h"

#include <unistd.h>

struct count {
    int ran[POOL_MAX], n[POOL_MAX]; /* written by member i only */
};

static void count_one(void *arg, int i, int n)
{
    struct count *c = arg;

    c->ran[i]++;
    c->n[i] = n;
}

static void test_rounds(int threads, int rounds)
{
    struct count c = {{0}, {0}};
    struct pool *p;
    struct err e;
    int bad = 0;

    if (pool_new(&p, threads, &e)) {
        ok(false, "%s", e.text);
        return;
    }
    for (int r = 1; r <= rounds; r++) {
        pool_run(p, count_one, &c);
        for (int i = 0; i < threads; i++)
            bad += c.ran[i] != r || c.n[i] != threads;
        if (r % 100 == 0) /* let them fall asleep in between */
            usleep(POOL_SPIN_US * 5);
    }
    pool_free(p);
    is_int(bad, 0, "%d threads, %d rounds: each ran once a round", threads,
           rounds);
}

static int64_t cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void test_idle(void)
{
    struct count c = {{0}, {0}};
    struct pool *p;
    struct err e;
    int64_t used;

    if (pool_new(&p, 4, &e)) {
        ok(false, "%s", e.text);
        return;
    }
    pool_run(p, count_one, &c);
    used = cpu_us();
    usleep(300000);
    used = cpu_us() - used;
    ok(used < 100000, "idle for 300 ms: %d us of processor time", (int)used);
    pool_free(p);
}

static void test_share(void)
{
    int bad = 0;

    for (int64_t count = 0; count < 70; count++)
        for (int n = 1; n < 8; n++) {
            int64_t at = 0, lo, hi;

            for (int i = 0; i < n; i++, at = hi) {
                pool_share(count, 4, i, n, &lo, &hi);
                bad += lo != at || hi < lo || (hi % 4 && hi != count);
            }
            bad += at != count;
        }
    is_int(bad, 0, "shares follow each other and cover everything");
}

int main(void)
{
    static const int threads[] = {1, 2, 3, 5, 16};

    for (int t = 0; t < 5; t++)
        test_rounds(threads[t], 500);
    test_rounds(2, 4000);
    test_idle();
    test_share();
    pool_free(NULL);
    return done();
}
