#include "engine/sched_int.h"

#include "base/thread.h"

#define LOOK_AGAIN_US 50000

/* --- rows that are there already ----------------------------------------- */

static int32_t common(const struct seq *a, const struct seq *b, int32_t most)
{
    int32_t n = seq_rows(a) < most ? seq_rows(a) : most, i = 0;

    while (i < n && a->units[i] == b->units[i])
        i++;
    return i;
}

/*
 * An older one that has, or will compute, more of q's first rows than `have`.
 * Only an older one: so nobody waits in a circle, and the oldest never waits.
 */
static struct seq *find_leader(const struct sched *s, const struct seq *q,
                               int32_t have, int32_t *rows)
{
    struct seq *best = NULL;

    *rows = have;
    for (int32_t i = 0; i < s->n_running && s->running[i] != q; i++) {
        struct seq *lead = s->running[i];
        int32_t n;

        if (lead->ended)
            continue;
        n = common(lead, q, seq_rows(q) - 1);
        if (n > *rows) {
            *rows = n;
            best = lead;
        }
    }
    return best;
}

/* From the tree, or from another one. */
static void look(struct sched *s, struct seq *q)
{
    int32_t have;

    cache_match(s, q);
    have = q->tail >= 0 ? q->tail_rows : q->done;
    q->leader = find_leader(s, q, have, &q->follow);
    q->stage = q->leader ? SEQ_FOLLOW : SEQ_READ;
    if (q->leader)
        cache_drop(s, q); /* the other one has them, or will */
}

void sched_lead_ends(struct sched *s, const struct seq *lead)
{
    for (int32_t i = 0; i < s->n_running; i++)
        if (s->running[i]->leader == lead)
            s->running[i]->leader = NULL;
}

static void tell_found(struct seq *q)
{
    seq_found(q);
    if (q->n_gen)
        return;
    ring_prefill(q->job->ring, q->done, (int32_t)q->job->n_ids);
    q->news = true;
}

static void settle(struct sched *s, struct seq *q)
{
    while (q->stage != SEQ_RUN) {
        if (q->stage == SEQ_ENTER || (q->stage == SEQ_FOLLOW && !q->leader)) {
            look(s, q);
        } else if (q->stage == SEQ_FOLLOW) {
            if (q->leader->done < q->follow)
                return;
            cache_take(s, q, q->leader, q->follow);
            q->leader = NULL;
            q->stage = SEQ_READ;
        } else {
            if (!spool_fetch(s, q))
                return;
            cache_take_tail(s, q);
            q->stage = SEQ_RUN;
            tell_found(q);
        }
    }
}

void sched_settle(struct sched *s)
{
    for (int32_t i = 0; i < s->n_running; i++)
        settle(s, s->running[i]);
}

/* --- slots and pages ----------------------------------------------------- */

static int32_t free_slot(const struct sched *s, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        if (!s->slot_used[i])
            return i;
    return -1;
}

/* Pages that q still takes for all ids so far, one more with `more`. */
static size_t lacks(const struct seq *q, int32_t more)
{
    int32_t n = seq_pages(seq_rows(q)) + more - q->n_pages;

    if (q->leader)
        n -= q->follow / KV_PAGE;
    return n > 0 ? (size_t)n : 0;
}

/* Pages for all ids of q, and one more for everybody who runs: who enters
 * should not be sent back at once. */
static size_t wanted(const struct sched *s, const struct seq *q)
{
    size_t want = lacks(q, 0);

    for (int32_t i = 0; i < s->n_running; i++)
        want += lacks(s->running[i], 1);
    return want;
}

static bool has_room(const struct sched *s, const struct seq *q)
{
    size_t want = wanted(s, q), room = cache_room(s);

    /* what is copied from is only the tree's again afterwards */
    if (q->tail >= 0 && kv_pages_refs(s->pages, q->tail) == 2)
        room++;
    return !s->n_running || room >= want;
}

static void refuse(struct sched *s, struct seq *q, const struct err *e)
{
    queue_remove(s->queue, q);
    seq_end(q, END_ERROR, e);
    sched_leave(s, q);
}

/* False: it waits on. */
static bool enter(struct sched *s, struct seq *q, int32_t slot, int64_t now)
{
    enum gate_answer gate = GATE_WAIT;
    struct err e;

    q->slot = slot;
    q->pages = s->table + (size_t)slot * (size_t)s->max_pages;
    memcpy(q->units, q->job->ids, q->job->n_ids * sizeof(*q->units));
    look(s, q);
    if (has_room(s, q))
        gate = memory_ask(s, q, wanted(s, q) + 1, &e);
    if (gate != GATE_OK) {
        cache_drop(s, q);
        q->leader = NULL;
        q->slot = -1;
        if (gate == GATE_REFUSED)
            refuse(s, q, &e);
        return gate == GATE_REFUSED;
    }
    queue_remove(s->queue, q);
    s->slot_used[slot] = true;
    s->running[s->n_running++] = q;
    if (!q->start_us) {
        q->start_us = now;
        tell_found(q);
    }
    return true;
}

void sched_admit(struct sched *s, int64_t now)
{
    struct seq *q;
    int32_t slot;

    while ((q = queue_head(s->queue)) != NULL) {
        slot = free_slot(s, 0, s->limits.parallel);
        if (slot < 0 || now < s->room_us)
            break;
        if (!enter(s, q, slot, now)) {
            s->room_us = now + LOOK_AGAIN_US;
            break;
        }
    }
    while (s->limits.side && (q = queue_side(s->queue)) != NULL) {
        slot = free_slot(s, s->limits.parallel, s->slots);
        if (slot < 0 || !enter(s, q, slot, now))
            return;
    }
}

/*
 * It keeps its ids and takes or computes their rows anew when it enters
 * again; a row is the same then. Who follows it is younger and went before.
 */
void sched_send_back(struct sched *s)
{
    struct seq *q = s->running[--s->n_running];

    spool_fetch_ends(s, q);
    cache_leave(s, q);
    s->slot_used[q->slot] = false;
    q->slot = -1;
    q->leader = NULL;
    q->step_rows = 0;
    queue_add_first(s->queue, q);
    s->live.sent_back++;
}
