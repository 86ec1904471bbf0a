#include "kernels/cpu/pool.h"

#include "base/mem.h"
#include "base/thread.h"

#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define HAVE_REDO 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAVE_REDO 0
#endif
#endif
#ifndef HAVE_REDO
#define HAVE_REDO 1
#endif

#define SLOTS 128
#define LONGEST_US 300
#define ARG_WORDS (POOL_ARGS / 8)

/*
 * `word` is the job that is open and how many of its chunks nobody has
 * claimed: number << LEFT_BITS | left; left == IDLE: the job has not been
 * added yet, all before it are done. Numbers only grow, so that a
 * compare-and-swap by somebody late fails.
 *
 * A member copies a job from its slot and looks at `word` again: as long as
 * the job is open its slot is not used anew. Who claimed a chunk of a
 * POOL_OWN job keeps it open. Who claimed one of a POOL_REDO job does not,
 * but has its copy.
 *
 * state[c] is the number of the last job whose chunk c was committed. A
 * POOL_REDO job ends only when its number stands there for all its chunks; so
 * a late member's swap, from the value before, fails.
 */
#define LEFT_BITS 20
#define IDLE ((1u << LEFT_BITS) - 1)

struct job {
    pool_fn *fn;
    enum pool_kind kind;
    int32_t chunks;
    uint64_t args[ARG_WORDS];
};
#define JOB_WORDS (sizeof(struct job) / 8)
_Static_assert(sizeof(struct job) % 8 == 0, "jobs are copied word by word");

union slot { /* read by members while the owner may write it */
    _Atomic uint64_t w[JOB_WORDS];
    _Alignas(64) char line[64];
};

struct member {
    _Alignas(64) struct pool *p;
    int i;
    int cpu; /* -1: any */
    _Atomic uint32_t inside; /* 1: may read what jobs refer to */
    uint64_t number; /* of the copy; 0: none */
    struct job job;
    int64_t longest_us; /* chunk of this job by this member */
    pthread_t thread;
};

struct pool {
    int n;
    int started; /* members that are threads of the pool */
    int64_t spin_us;
    uint64_t tail; /* number of the next job to be added; owner's */
    struct member *members; /* [n] */
    union slot *slots;      /* [SLOTS] */
    void *heap;             /* where both lie */
    _Alignas(64) _Atomic uint64_t word;
    _Alignas(64) _Atomic uint64_t added; /* = tail, for everybody */
    _Alignas(64) _Atomic uint32_t done;  /* chunks of the open job */
    _Alignas(64) _Atomic uint32_t bell;  /* sleepers wait for a change */
    _Atomic uint32_t sleepers;
    _Atomic bool owner_sleeps, leave;
    _Alignas(64) _Atomic uint64_t state[POOL_CHUNKS];
};

static uint64_t number_of(uint64_t word)
{
    return word >> LEFT_BITS;
}

static uint32_t left_of(uint64_t word)
{
    return (uint32_t)word & IDLE;
}

static uint64_t pack(uint64_t number, uint32_t left)
{
    return number << LEFT_BITS | left;
}

static bool claimable(uint64_t word)
{
    return left_of(word) && left_of(word) != IDLE;
}

static void relax(void)
{
    for (int i = 0; i < 8; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

/* --- sleep ---------------------------------------------------------------- */

static void wake_all(struct pool *p)
{
    atomic_fetch_add(&p->bell, 1);
    syscall(SYS_futex, &p->bell, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/*
 * Sleepers announce themselves, then look at `word` a last time; who changes
 * it looks for sleepers afterwards: one of the two sees the other (all of it
 * is sequentially consistent).
 */
static void sleep_while(struct pool *p, uint64_t word, bool owner)
{
    uint32_t bell = atomic_load(&p->bell);

    atomic_fetch_add(&p->sleepers, 1);
    if (owner)
        atomic_store(&p->owner_sleeps, true);
    if (atomic_load(&p->word) == word && !atomic_load(&p->leave))
        syscall(SYS_futex, &p->bell, FUTEX_WAIT_PRIVATE, bell, NULL, NULL, 0);
    if (owner)
        atomic_store(&p->owner_sleeps, false);
    atomic_fetch_sub(&p->sleepers, 1);
}

/* --- from job to job ------------------------------------------------------ */

static int32_t slot_chunks(struct pool *p, uint64_t number)
{
    union slot *s = &p->slots[number % SLOTS];
    uint64_t w = atomic_load_explicit(&s->w[offsetof(struct job, kind) / 8],
                                      memory_order_relaxed);
    int32_t chunks;

    memcpy(&chunks, (char *)&w + 4, sizeof(chunks));
    return chunks;
}
_Static_assert(offsetof(struct job, kind) == 8 &&
                   offsetof(struct job, chunks) == 12,
               "slot_chunks knows where they are");

/* Open this job, if it is there and still waits. */
static void open_job(struct pool *p, uint64_t number)
{
    uint64_t word = pack(number, IDLE);
    int32_t chunks;

    if (atomic_load(&p->added) <= number)
        return;
    chunks = slot_chunks(p, number);
    if (atomic_compare_exchange_strong(&p->word, &word,
                                       pack(number, (uint32_t)chunks)) &&
        chunks > 1 && atomic_load(&p->sleepers))
        wake_all(p);
}

static void end_job(struct pool *p, uint64_t number)
{
    atomic_store_explicit(&p->done, 0, memory_order_relaxed);
    atomic_store(&p->word, pack(number + 1, IDLE));
    if (atomic_load(&p->added) > number + 1)
        open_job(p, number + 1);
    else if (atomic_load(&p->owner_sleeps))
        wake_all(p);
}

/* The member's own copy of the open job; false: it is open no longer. */
static bool copy_job(struct pool *p, struct member *m, uint64_t number)
{
    union slot *s = &p->slots[number % SLOTS];
    uint64_t w[JOB_WORDS];

    if (m->number == number)
        return true;
    for (size_t i = 0; i < JOB_WORDS; i++)
        w[i] = atomic_load_explicit(&s->w[i], memory_order_acquire);
    if (number_of(atomic_load(&p->word)) != number)
        return false;
    memcpy(&m->job, w, sizeof(m->job));
    m->number = number;
    m->longest_us = 0;
    return true;
}

static void run_chunk(struct pool *p, struct member *m, int32_t chunk)
{
    struct pool_at at = {p, m->number, m->i, chunk, m->job.chunks};
    int64_t began = mono_us();

    if (m->job.fn(&at, m->job.args) &&
        atomic_fetch_add_explicit(&p->done, 1, memory_order_acq_rel) + 1 ==
            (uint32_t)m->job.chunks)
        end_job(p, m->number);
    began = mono_us() - began;
    m->longest_us = began > m->longest_us ? began : m->longest_us;
}

/* Claim a chunk and run it. False: there was none. */
static bool work(struct pool *p, struct member *m)
{
    uint64_t word = atomic_load_explicit(&p->word, memory_order_acquire);

    if (!claimable(word))
        return false;
    atomic_store(&m->inside, 1);
    word = atomic_load(&p->word);
    if (claimable(word) && copy_job(p, m, number_of(word)) &&
        atomic_compare_exchange_strong(&p->word, &word, word - 1))
        run_chunk(p, m, m->job.chunks - (int32_t)left_of(word));
    atomic_store_explicit(&m->inside, 0, memory_order_release);
    return true;
}

/* Compute a chunk that another member has not committed yet. False: there is
 * none. */
static bool redo(struct pool *p, struct member *m, uint64_t word)
{
    uint64_t number = number_of(word);
    bool found = false;
    int32_t n;

    atomic_store(&m->inside, 1);
    if (atomic_load(&p->word) == word && copy_job(p, m, number) &&
        m->job.kind == POOL_REDO) {
        n = m->job.chunks;
        for (int32_t i = 0; i < n && !found; i++) {
            int32_t c = (i + m->i) % n;

            found = atomic_load(&p->state[c]) < number;
            if (found)
                run_chunk(p, m, c);
        }
    }
    atomic_store_explicit(&m->inside, 0, memory_order_release);
    return found;
}

bool pool_redoes(const struct pool *p)
{
    return HAVE_REDO && p->spin_us;
}

/* How long may a chunk take? Who took part in the job knows; whose own took
 * very long was held up itself. */
static int64_t patience(const struct member *m, uint64_t word)
{
    int64_t us = m->number == number_of(word) ? m->longest_us : 20;

    return 20 + (us < LONGEST_US ? us : LONGEST_US);
}

/* Nothing to claim while `word` stands. */
static void idle(struct pool *p, struct member *m, uint64_t word)
{
    int64_t now = mono_us(), end = now + p->spin_us;
    bool may = pool_redoes(p) && left_of(word) == 0 &&
               (m->number != number_of(word) || m->job.kind == POOL_REDO);
    int64_t late = now + patience(m, word);

    while (now < end || may) {
        relax();
        if (atomic_load_explicit(&p->word, memory_order_acquire) != word)
            return;
        now = mono_us();
        if (!may || now < late)
            continue;
        may = redo(p, m, word);
        now = mono_us();
    }
    sleep_while(p, word, m->i == 0);
}

static void pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    (void)sched_setaffinity(0, sizeof(set), &set);
}

static void *member_main(void *arg)
{
    struct member *m = arg;
    struct pool *p = m->p;

    pin(m->cpu);
    while (!atomic_load(&p->leave)) {
        if (!work(p, m)) {
            uint64_t word = atomic_load(&p->word);

            if (!claimable(word))
                idle(p, m, word);
        }
    }
    return NULL;
}

/* --- the owner ------------------------------------------------------------ */

static void help(struct pool *p)
{
    struct member *m = &p->members[0];
    uint64_t word;

    if (work(p, m))
        return;
    word = atomic_load(&p->word);
    if (!claimable(word) && word != pack(p->tail, IDLE))
        idle(p, m, word);
}

void pool_add(struct pool *p, enum pool_kind kind, pool_fn *fn,
              const void *args, size_t bytes, int32_t chunks)
{
    union slot *s = &p->slots[p->tail % SLOTS];
    struct job job = {.fn = fn, .kind = kind, .chunks = chunks};
    uint64_t w[JOB_WORDS];

    BUG_ON(bytes > POOL_ARGS || chunks < 1 || chunks >= (int32_t)IDLE);
    BUG_ON(kind == POOL_REDO && chunks > POOL_CHUNKS);
    memcpy(job.args, args, bytes);
    memcpy(w, &job, sizeof(job));
    while (p->tail - number_of(atomic_load(&p->word)) >= SLOTS)
        help(p);
    for (size_t i = 0; i < JOB_WORDS; i++)
        atomic_store_explicit(&s->w[i], w[i], memory_order_release);
    p->tail++;
    atomic_store(&p->added, p->tail);
    open_job(p, p->tail - 1);
}

void pool_wait(struct pool *p)
{
    while (atomic_load(&p->word) != pack(p->tail, IDLE))
        help(p);
}

void pool_quiet(struct pool *p)
{
    pool_wait(p);
    for (int i = 1; i < p->n; i++)
        while (atomic_load(&p->members[i].inside))
            usleep(50);
}

bool pool_commit(const struct pool_at *at)
{
    _Atomic uint64_t *state = &at->pool->state[at->chunk];
    uint64_t was = atomic_load(state);

    /* An older number only: a newer one tells a late member that its job is
     * over, the same one that somebody was faster. */
    return was < at->job && atomic_compare_exchange_strong(state, &was,
                                                           at->job);
}

bool pool_late(const struct pool_at *at)
{
    return atomic_load_explicit(&at->pool->state[at->chunk],
                                memory_order_relaxed) >= at->job;
}

int pool_members(const struct pool *p)
{
    return p->n;
}

void pool_own(struct pool *p)
{
    pin(p->members[0].cpu);
}

/* --- beginning and end ---------------------------------------------------- */

static enum st check_cpus(const int *cpus, int n, int threads, int *usable,
                          struct err *e)
{
    cpu_set_t set, mine;

    CPU_ZERO(&set);
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof(set), &set)) {
        if (n)
            return err_set(e, ST_INVALID, "cpus", "the system does not say "
                           "which processors there are");
        *usable = POOL_MAX; /* more of them than the set can name */
        return ST_OK;
    }
    *usable = n ? n : CPU_COUNT(&set);
    if (n && n < threads)
        return err_set(e, ST_INVALID, "cpus",
                       "%d processors are too few for %d threads", n, threads);
    for (int i = 0; i < n; i++) {
        if (cpus[i] < 0 || cpus[i] >= CPU_SETSIZE ||
            !CPU_ISSET((size_t)cpus[i], &set))
            return err_set(e, ST_INVALID, "cpus",
                           "this process may not run on processor %d",
                           cpus[i]);
        if (CPU_ISSET((size_t)cpus[i], &mine))
            return err_set(e, ST_INVALID, "cpus",
                           "processor %d is listed twice", cpus[i]);
        CPU_SET((size_t)cpus[i], &mine);
    }
    return ST_OK;
}

static void *aligned(void **heap, size_t bytes)
{
    *heap = mem_zalloc(bytes + 64);
    return (void *)(((uintptr_t)*heap + 63) & ~(uintptr_t)63);
}

enum st pool_new(struct pool **out, int threads, const int *cpus, int n_cpus,
                 struct err *e)
{
    size_t head = sizeof(struct pool), slots = SLOTS * sizeof(union slot);
    struct pool *p;
    void *heap;
    int usable;
    enum st st = check_cpus(cpus, n_cpus, threads, &usable, e);

    BUG_ON(threads < 1 || threads > POOL_MAX);
    *out = NULL;
    if (st)
        return st;
    p = aligned(&heap, head + slots + (size_t)threads * sizeof(struct member));
    p->heap = heap;
    p->slots = (union slot *)(void *)((char *)p + head);
    p->members = (struct member *)(void *)((char *)p + head + slots);
    p->n = threads;
    p->spin_us = threads > 1 && threads <= usable ? POOL_SPIN_US : 0;
    p->tail = 1;
    atomic_init(&p->added, 1);
    atomic_init(&p->word, pack(1, IDLE));
    for (int i = 0; i < threads; i++) {
        p->members[i].p = p;
        p->members[i].i = i;
        p->members[i].cpu = n_cpus ? cpus[i] : -1;
    }
    for (int i = 1; !st && i < threads; i++) {
        st = thread_start(&p->members[i].thread, "kernels", member_main,
                          &p->members[i], e);
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
    if (p->started == p->n - 1)
        pool_quiet(p);
    atomic_store(&p->leave, true);
    wake_all(p);
    for (int i = 1; i <= p->started; i++)
        pthread_join(p->members[i].thread, NULL);
    free(p->heap);
}
