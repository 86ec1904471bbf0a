/*
 * The pool: every chunk is done once, jobs see what those before them wrote,
 * a member that is stuck in a chunk holds up nobody and writes nothing
 * afterwards, idle members use no processor time. Meant for --enable-tsan
 * too, where nothing is computed twice.
 */
#include "kernels/cpu/pool.h"
#include "base/thread.h"
#include "t/lib/tap.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST = 300 };

/* What a chunk of a job does: adds the job's round to its counter. */
struct count {
    int64_t *sum; /* [chunks] */
    int64_t before, add;
    _Atomic int *bad;
};

static bool own_chunk(const struct pool_at *at, const void *args)
{
    const struct count *c = args;
    int64_t *mine = &c->sum[at->chunk];
    int64_t *other = &c->sum[at->chunks - 1 - at->chunk];

    /* the job before is over, everywhere */
    if (__atomic_load_n(mine, __ATOMIC_RELAXED) != c->before ||
        __atomic_load_n(other, __ATOMIC_RELAXED) < c->before)
        atomic_fetch_add(c->bad, 1);
    __atomic_store_n(mine, c->before + c->add, __ATOMIC_RELAXED);
    return true;
}

static bool redo_chunk(const struct pool_at *at, const void *args)
{
    const struct count *c = args;

    if (!pool_commit(at))
        return false;
    c->sum[at->chunk] += c->add;
    return true;
}

static struct pool *new_pool(int threads)
{
    struct pool *p;
    struct err e;

    if (pool_new(&p, threads, NULL, 0, &e)) {
        ok(false, "%s", e.text);
        exit(done());
    }
    return p;
}

static void test_jobs(int threads, int rounds, enum pool_kind kind)
{
    static int64_t sum[MOST];
    _Atomic int bad = 0;
    struct pool *p = new_pool(threads);
    struct count c = {sum, 0, 0, &bad};
    int wrong = 0, queued = 0;

    memset(sum, 0, sizeof(sum));
    for (int r = 1; r <= rounds; r++) {
        c.add = r;
        pool_add(p, kind, kind == POOL_OWN ? own_chunk : redo_chunk, &c,
                 sizeof(c), MOST);
        c.before += r;
        if (++queued < r % 7)
            continue;
        queued = 0;
        pool_wait(p);
        for (int i = 0; i < MOST; i++)
            wrong += sum[i] != c.before;
        if (r % 100 == 0) /* let them fall asleep in between */
            usleep(POOL_SPIN_US * 3);
    }
    pool_free(p); /* what is queued is done first */
    for (int i = 0; i < MOST; i++)
        wrong += sum[i] != c.before;
    ok(!wrong && !bad, "%d threads, %d %s jobs: every chunk once, in order",
       threads, rounds, kind == POOL_OWN ? "plain" : "redone");
}

/* --- a member that is stuck ---------------------------------------------- */

struct stuck {
    _Atomic int *hold, *held, *late; /* to release; who waits; refused */
    int *result;                     /* [chunks], written once each */
};

static bool stuck_chunk(const struct pool_at *at, const void *args)
{
    const struct stuck *s = args;

    /* the first who is not the owner waits, inside its chunk */
    if (at->member && !atomic_exchange(s->held, 1)) {
        while (atomic_load(s->hold))
            usleep(100);
        if (pool_commit(at))
            return true;
        atomic_fetch_add(s->late, pool_late(at));
        return false;
    }
    if (!atomic_load(s->held))
        usleep(200); /* until somebody is stuck */
    if (!pool_commit(at))
        return false;
    s->result[at->chunk]++;
    return true;
}

static bool quick_chunk(const struct pool_at *at, const void *args)
{
    const struct stuck *s = args;

    if (!pool_commit(at))
        return false;
    s->result[at->chunk]++;
    return true;
}

static void test_stuck(int threads)
{
    static int result[POOL_CHUNKS];
    _Atomic int hold = 1, held = 0, late = 0;
    struct stuck s = {&hold, &held, &late, result};
    struct pool *p = new_pool(threads);
    int wrong = 0;

    if (!pool_redoes(p)) {
        printf("# LATE MEMBERS NOT TESTED with %d threads\n", threads);
        pool_free(p);
        return;
    }
    memset(result, 0, sizeof(result));
    for (int i = 0; i < 100 && !atomic_load(&held); i++) {
        pool_add(p, POOL_REDO, stuck_chunk, &s, sizeof(s), 32);
        pool_wait(p);
        for (int c = 0; c < 32; c++)
            wrong += result[c] != i + 1;
        if (atomic_load(&held))
            break;
    }
    ok(atomic_load(&held), "%d threads: one is stuck", threads);
    is_int(wrong, 0, "the job ended without it, every chunk once");
    memset(result, 0, sizeof(result));
    for (int i = 0; i < 1000; i++)
        pool_add(p, POOL_REDO, quick_chunk, &s, sizeof(s), 1 + i % 40);
    pool_wait(p);
    is_int(result[0], 1000, "a thousand more jobs, too");
    is_int(atomic_load(&late), 0, "and it is stuck still");
    atomic_store(&hold, 0);
    pool_quiet(p);
    is_int(atomic_load(&late), 1, "its late commit is refused");
    is_int(result[0], 1000, "and it wrote nothing");
    pool_add(p, POOL_REDO, quick_chunk, &s, sizeof(s), 40);
    pool_free(p);
    is_int(result[0], 1001, "it works on");
}

/* --- the rest ------------------------------------------------------------ */

static int64_t cpu_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void test_idle(void)
{
    int64_t sum[8] = {0}, used;
    _Atomic int bad = 0;
    struct count c = {sum, 0, 1, &bad};
    struct pool *p = new_pool(4);

    pool_add(p, POOL_OWN, own_chunk, &c, sizeof(c), 8);
    pool_wait(p);
    used = cpu_us();
    usleep(300000);
    used = cpu_us() - used;
    ok(used < 100000, "idle for 300 ms: %d us of processor time", (int)used);
    pool_free(p);
}

static bool where_chunk(const struct pool_at *at, const void *args)
{
    int *const *cpu = args;

    usleep(100);
    (*cpu)[at->member] = sched_getcpu();
    return true;
}

static void test_cpus(void)
{
    int list[2], n = 0, twice[2], few[1], none[1] = {CPU_SETSIZE};
    int where[2] = {-1, -1}, *at = where;
    struct pool *p;
    struct err e;
    cpu_set_t set, was;

    sched_getaffinity(0, sizeof(was), &was);
    for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
        if (CPU_ISSET((size_t)i, &was))
            list[n++] = i;
    twice[0] = twice[1] = few[0] = list[0];
    ok(pool_new(&p, 2, twice, 2, &e) == ST_INVALID, "twice: %s", e.text);
    ok(pool_new(&p, 2, few, 1, &e) == ST_INVALID, "too few: %s", e.text);
    ok(pool_new(&p, 1, none, 1, &e) == ST_INVALID, "not there: %s", e.text);
    if (n < 2) {
        printf("# PINNING NOT TESTED with one processor\n");
        return;
    }
    if (!ok(!pool_new(&p, 2, list, 2, &e), "two processors"))
        return;
    pool_own(p);
    pool_add(p, POOL_OWN, where_chunk, &at, sizeof(at), 64);
    pool_wait(p);
    ok(where[0] == list[0] && (where[1] == list[1] || where[1] == -1),
       "each member is on its own: %d, %d", where[0], where[1]);
    pool_free(p);
    sched_getaffinity(0, sizeof(set), &set);
    is_int(CPU_COUNT(&set), 1, "the owner was sent there");
    sched_setaffinity(0, sizeof(was), &was);
}

int main(void)
{
    for (int t = 1; t <= 8; t++) {
        test_jobs(t, t < 4 ? 2000 : 300, POOL_OWN);
        test_jobs(t, t < 4 ? 2000 : 300, POOL_REDO);
    }
    test_stuck(2);
    test_stuck(3);
    test_idle();
    test_cpus();
    pool_free(NULL);
    return done();
}
