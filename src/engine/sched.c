#include "engine/sched_int.h"

#include "base/thread.h"

#define NAP_MS 20        /* between two looks while nothing can step */
#define FOREVER_MS 60000
#define SPILL_BUSY_US 1000  /* of a safe point, for pages to the disk */
#define SPILL_IDLE_US 2000
#define SPILL_END_US 500000 /* when the engine stops */

void sched_poke(struct sched *s)
{
    pthread_mutex_lock(&s->mu);
    s->poked = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->mu);
}

/* --- safe point ---------------------------------------------------------- */

void sched_leave(struct sched *s, struct seq *q)
{
    if (q->slot >= 0) {
        spool_fetch_ends(s, q);
        cache_leave(s, q);
        s->slot_used[q->slot] = false;
        sched_lead_ends(s, q);
        s->room_us = 0;
    }
    if (q->start_us) {
        s->live.cache.hits += q->end.cached_tokens > 0;
        s->live.cache.misses += !q->end.cached_tokens;
        s->live.cache.rows_reused += (uint64_t)q->end.cached_tokens;
        s->live.cache.rows_read += (uint64_t)q->end.disk_tokens;
    }
    q->gone = s->gone;
    s->gone = q;
}

static void enqueue(struct sched *s, struct seq *q)
{
    const struct job *j = q->job;
    struct err e;

    if (!queue_add(s->queue, q)) {
        err_set(&e, ST_NOMEM, "", "no memory for another request");
        seq_end(q, END_ERROR, &e);
        sched_leave(s, q);
        return;
    }
    s->news = true;
    if (j->deadline_us && j->deadline_us < s->due_us)
        s->due_us = j->deadline_us;
    if (j->start_by_us && j->start_by_us < s->due_us)
        s->due_us = j->start_by_us;
    /* its flag may have been set before it was here to be looked at */
    s->look = true;
}

/* Sleep until there is something to do; false: the engine stops. */
static bool collect(struct sched *s)
{
    bool busy = sched_can_step(s) || (s->spill && !s->spill_full);
    bool others = s->n_running || queue_count(s->queue), stopping;
    struct seq *q, *next;

    pthread_mutex_lock(&s->mu);
    while (!s->stopping && !s->inbox && !s->poked && !busy) {
        /* reads and limits of those that are here: look again soon */
        busy = !cond_wait_ms(&s->cond, &s->mu, others ? NAP_MS : FOREVER_MS) &&
               others;
    }
    q = s->inbox;
    s->inbox = NULL;
    s->inbox_tail = &s->inbox;
    s->look |= s->poked;
    if (s->poked)
        s->spill_full = false;
    s->poked = false;
    stopping = s->stopping;
    pthread_mutex_unlock(&s->mu);
    for (; q; q = next) {
        next = q->next;
        enqueue(s, q);
    }
    return !stopping;
}

static int64_t sooner(int64_t due, int64_t at)
{
    return at && at < due ? at : due;
}

/* A thousand may wait: they are looked at when a flag changed or a limit of
 * one has come, not in every step. */
static void drop_waiting(struct sched *s, int64_t now)
{
    struct seq *ended = NULL;

    if (!s->look && now < s->due_us)
        return;
    s->look = false;
    s->due_us = INT64_MAX;
    for (struct seq *q = queue_first(s->queue); q; q = queue_next(s->queue, q))
        if (seq_check(q, now)) {
            q->gone = ended;
            ended = q;
        } else {
            s->due_us = sooner(s->due_us, q->job->deadline_us);
            if (!q->start_us)
                s->due_us = sooner(s->due_us, q->job->start_by_us);
        }
    while (ended) {
        struct seq *q = ended;

        ended = q->gone;
        queue_remove(s->queue, q);
        sched_leave(s, q);
    }
}

static void drop_ended(struct sched *s, int64_t now)
{
    int32_t kept = 0;

    drop_waiting(s, now);
    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        if (!seq_check(q, now)) {
            s->running[kept++] = q;
            continue;
        }
        if (q->end.reason != END_ERROR)
            eta_finished(&s->eta, q->job->thinking, q->n_gen,
                         now - q->start_us);
        sched_leave(s, q);
    }
    s->n_running = kept;
}

/* --- the loop ------------------------------------------------------------- */

/* One wake-up per job and step, when everything of the step is in the rings.
 * Those who ended are woken by tell_gone. */
static void wake(struct sched *s)
{
    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        if (q->news && !q->ended)
            ring_wake(q->job->ring);
        q->news = false;
    }
}

static void end_all(struct sched *s)
{
    struct seq *q;
    int32_t n = s->n_running;

    s->n_running = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!s->running[i]->ended)
            seq_end(s->running[i], END_CANCELLED, NULL);
        sched_leave(s, s->running[i]);
    }
    while ((q = queue_head(s->queue)) != NULL) {
        queue_remove(s->queue, q);
        seq_end(q, END_CANCELLED, NULL);
        sched_leave(s, q);
    }
}

void *sched_run(void *arg)
{
    struct sched *s = arg;

    while (collect(s)) {
        int64_t now = mono_us();

        drop_ended(s, now);
        memory_settle(s);
        sched_admit(s, now);
        sched_settle(s);
        tell_positions(s, now);
        tell_state(s);
        tell_gone(s);
        spool_spill(s, s->n_running ? SPILL_BUSY_US : SPILL_IDLE_US);
        if (sched_can_step(s))
            sched_step(s, mono_us());
        wake(s);
    }
    end_all(s);
    tell_state(s);
    tell_gone(s);
    spool_spill(s, SPILL_END_US);
    return NULL;
}
