#include "engine/sched_int.h"

#include "base/thread.h"

/*
 * A thousand may wait: positions and estimates are told a few times a second
 * and wake nobody; who is new hears at once, while few wait.
 */
#define TELL_US 250000
#define TELL_NEW_US 20000
#define FEW 64

static void fill_running(struct sched *s, int64_t now)
{
    for (int32_t i = 0, n = 0, side = s->n_running; i < s->n_running; i++) {
        const struct seq *q = s->running[i];
        /* the side lane's are last */
        int32_t at = q->slot < s->limits.parallel ? n++ : --side;
        int32_t left = (int32_t)q->job->n_ids - q->done;

        s->eta_run[at] = (struct eta_run){
            .kind = q->job->thinking,
            .prompt_left = left > 0 ? left : 0,
            .wrote = q->n_gen,
            .limit = q->max_new,
            .token_us = q->n_gen > 1 ? (double)(q->last_us - q->first_us) /
                                           (q->n_gen - 1)
                                     : 0,
            .held_us = now - q->start_us,
        };
    }
}

static void estimate(struct sched *s, int64_t now)
{
    int32_t n = 0;

    fill_running(s, now);
    for (const struct seq *q = queue_first(s->queue); q;
         q = queue_next(s->queue, (struct seq *)(uintptr_t)q))
        s->eta_wait[n++] = (struct eta_wait){
            .kind = q->job->thinking,
            .prompt = (int32_t)q->job->n_ids,
            .limit = q->max_new,
        };
    eta_estimate(&s->eta, s->eta_run, s->n_running, s->eta_wait, n,
                 s->limits.parallel, s->eta_scratch);
}

void tell_positions(struct sched *s, int64_t now)
{
    bool due = now - s->told_us >= TELL_US;
    int32_t position = 0;

    if (!queue_count(s->queue))
        return;
    if (s->news && (queue_count(s->queue) <= FEW ||
                    now - s->told_us >= TELL_NEW_US))
        due = true;
    if (!due)
        return;
    s->news = false;
    s->told_us = now;
    estimate(s, now);
    for (struct seq *q = queue_first(s->queue); q;
         q = queue_next(s->queue, q), position++) {
        /* who was sent back has seen its prefill: nothing new to tell */
        if (q->start_us)
            continue;
        ring_queued(q->job->ring, position, s->eta_wait[position].eta_us, now);
    }
}

static void count_running(struct sched *s)
{
    struct gen_state *l = &s->live;

    l->running = s->n_running;
    l->waiting = queue_count(s->queue);
    l->side_running = l->prefilling = l->decoding = 0;
    for (int32_t i = 0; i < s->n_running; i++) {
        const struct seq *q = s->running[i];

        l->side_running += q->slot >= s->limits.parallel;
        l->decoding += q->n_gen > 0;
        l->prefilling += !q->n_gen;
    }
}

static void count_cache(struct sched *s)
{
    struct gen_cache *c = &s->live.cache;
    struct kv_tree_stats t;
    struct spool_stats d;

    kv_tree_stats(s->tree, &t);
    c->pages = t.pages;
    c->shared_pages = t.shared;
    c->nodes = t.nodes;
    c->nodes_on_disk = t.on_disk;
    c->states = t.states;
    c->state_bytes = t.state_bytes;
    c->evicted = t.evicted;
    if (!s->spool)
        return;
    spool_stats(s->spool, &d);
    c->disk_entries = d.entries;
    c->disk_bytes = d.bytes;
    c->disk_max_bytes = d.max_bytes;
    c->disk_writes = d.writes;
    c->disk_reads = d.reads;
    c->disk_misses = d.misses;
    c->disk_removed = d.removed;
    c->disk_failures = d.failures;
}

void tell_state(struct sched *s)
{
    int32_t left = 0;

    count_running(s);
    count_cache(s);
    s->live.kv_pages = kv_pages_total(s->pages);
    s->live.kv_pages_used = kv_pages_used(s->pages);
    s->live.prefill_row_us = s->eta.prefill_us;
    s->live.decode_token_us = s->eta.decode_us;
    s->live.gate.waits = s->gate.waits;
    s->live.gate.refusals = s->gate.refusals;
    for (int i = 0; i < s->gate.n_levels; i++)
        s->live.gate.given_bytes[i] = s->gate.level[i].given;
    memory_tell(s);
    for (const struct seq *q = s->gone; q; q = q->gone)
        left++;
    pthread_mutex_lock(&s->mu);
    s->inflight -= left;
    s->state = s->live;
    pthread_mutex_unlock(&s->mu);
}

void tell_gone(struct sched *s)
{
    while (s->gone) {
        struct seq *q = s->gone;

        s->gone = q->gone;
        ring_end(q->job->ring, &q->end);
        ring_wake(q->job->ring);
        seq_free(q);
    }
}
