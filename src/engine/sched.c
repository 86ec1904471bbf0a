#include "engine/sched.h"

#include "base/thread.h"

/*
 * A step should be over before a person notices: cancelled jobs leave, new
 * ones enter and running ones get their token between two steps. The slice
 * of prompts adapts to what this machine needs; rows do not depend on
 * their neighbours, so that no text does either.
 */
#define STEP_US 60000
/* Nobody gets a token in between: larger slices read the weights less often,
 * and who has left waits no longer than this. */
#define ALONE_US 400000
#define SLICE_MIN 8

/* --- safe point ---------------------------------------------------------- */

/* Normal jobs go before background ones; first come, first served. */
static void enqueue(struct sched *s, struct seq *q)
{
    struct seq **at = &s->waiting;

    while (*at && (q->job->cls == JOB_BACKGROUND ||
                   (*at)->job->cls == JOB_NORMAL))
        at = &(*at)->next;
    q->next = *at;
    *at = q;
    s->n_waiting++;
}

static void leave(struct sched *s, struct seq *q)
{
    seq_drop_pages(q, s->pages);
    if (q->slot >= 0)
        s->slot_used[q->slot] = false;
    q->next = s->gone;
    s->gone = q;
}

/* Sleep until there is something to do; false: the engine stops. */
static bool collect(struct sched *s)
{
    struct seq *q, *next;
    bool stopping;

    pthread_mutex_lock(&s->mu);
    while (!s->stopping && !s->inbox && !s->waiting && !s->n_running)
        pthread_cond_wait(&s->cond, &s->mu);
    q = s->inbox;
    s->inbox = NULL;
    s->inbox_tail = &s->inbox;
    stopping = s->stopping;
    pthread_mutex_unlock(&s->mu);
    for (; q; q = next) {
        next = q->next;
        enqueue(s, q);
    }
    return !stopping;
}

static void drop_ended(struct sched *s, int64_t now)
{
    struct seq **at = &s->waiting, *q;
    int32_t kept = 0;

    while ((q = *at)) {
        if (!seq_check(q, now)) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        s->n_waiting--;
        leave(s, q);
    }
    for (int32_t i = 0; i < s->n_running; i++) {
        q = s->running[i];
        if (seq_check(q, now))
            leave(s, q);
        else
            s->running[kept++] = q;
    }
    s->n_running = kept;
}

static int32_t free_slot(const struct sched *s)
{
    for (int32_t i = 0; i < s->limits.parallel; i++)
        if (!s->slot_used[i])
            return i;
    return -1;
}

/* Pages for all ids so far, and one more for everybody who runs: who enters
 * should not be sent back at once. */
static bool has_room(const struct sched *s, const struct seq *q)
{
    size_t want = (size_t)seq_pages(seq_rows(q)) + (size_t)s->n_running;

    return !s->n_running || kv_pages_left(s->pages) >= want;
}

static void admit(struct sched *s)
{
    while (s->waiting) {
        struct seq *q = s->waiting;
        int32_t slot = free_slot(s);

        if (slot < 0 || !has_room(s, q))
            return;
        s->waiting = q->next;
        s->n_waiting--;
        q->next = NULL;
        q->slot = slot;
        q->pages = s->table + (size_t)slot * (size_t)s->max_pages;
        s->slot_used[slot] = true;
        s->running[s->n_running++] = q;
        BUG_ON(!seq_take_pages(q, s->pages, seq_rows(q)));
    }
}

static void tell_positions(struct sched *s)
{
    int32_t position = 0;

    for (struct seq *q = s->waiting; q; q = q->next, position++) {
        /* who was sent back has seen its prefill: nothing new to tell */
        if (q->start_us || q->position == position)
            continue;
        q->position = position;
        ring_queued(q->job->ring, position, -1, mono_us());
        ring_wake(q->job->ring);
    }
}

static void publish_state(struct sched *s)
{
    int32_t left = 0;

    s->live.running = s->n_running;
    s->live.waiting = s->n_waiting;
    s->live.kv_pages = kv_pages_total(s->pages);
    s->live.kv_pages_used = kv_pages_used(s->pages);
    for (const struct seq *q = s->gone; q; q = q->next)
        left++;
    pthread_mutex_lock(&s->mu);
    s->inflight -= left;
    s->state = s->live;
    pthread_mutex_unlock(&s->mu);
}

/* Those who left hear of it when the state no longer counts them. */
static void tell_gone(struct sched *s)
{
    while (s->gone) {
        struct seq *q = s->gone;

        s->gone = q->next;
        ring_end(q->job->ring, &q->end);
        ring_wake(q->job->ring);
        seq_free(q);
    }
}

/* --- step ---------------------------------------------------------------- */

/* Add the next step_rows pending rows of q. */
static void add_rows(struct sched *s, struct kern_rows *r, struct seq *q)
{
    for (int32_t i = 0; i < q->step_rows; i++) {
        s->ids[r->n] = seq_id(q, q->done + i);
        s->pos[r->n] = q->done + i;
        s->seq[r->n] = q->slot;
        r->n++;
    }
    if (q->step_rows == seq_pending(q) && seq_wants_logits(q)) {
        q->step_out = r->n_out;
        s->out[r->n_out++] = r->n - 1;
    }
}

/*
 * How many rows everybody gets: one who decodes, slices of the slice the
 * others. Half of it is shared equally, so that a short prompt does not wait
 * for a long one; the rest goes to the oldest, so that prompts end in order.
 */
static void share_rows(struct sched *s)
{
    int32_t budget, n = 0, part;

    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        q->step_out = -1;
        q->step_rows = q->n_gen && seq_pending(q) == 1;
        n += !q->step_rows;
    }
    s->mixed = n < s->n_running;
    budget = s->slice[s->mixed];
    part = n ? (budget / 2 + n - 1) / n : 0;
    for (int turn = 0; turn < 2; turn++)
        for (int32_t i = 0; i < s->n_running; i++) {
            struct seq *q = s->running[i];
            int32_t want = seq_pending(q) - q->step_rows;
            int32_t most = turn || part > budget ? budget : part;

            want = want < most ? want : most;
            q->step_rows += want;
            budget -= want;
        }
}

/*
 * Where no page is left for the rows of one sequence, the youngest goes back
 * to the head of its class in the queue. It keeps its ids and computes their
 * rows anew when it enters again; a row is the same then. The oldest never
 * goes: alone it has every page, and the context is no longer than those.
 */
static void send_back(struct sched *s)
{
    struct seq *q = s->running[--s->n_running], **at = &s->waiting;

    while (*at && q->job->cls == JOB_BACKGROUND &&
           (*at)->job->cls == JOB_NORMAL)
        at = &(*at)->next;
    seq_drop_pages(q, s->pages);
    s->slot_used[q->slot] = false;
    q->slot = -1;
    q->step_rows = 0;
    q->next = *at;
    *at = q;
    s->n_waiting++;
    s->live.sent_back++;
}

static void find_pages(struct sched *s)
{
    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        while (i < s->n_running &&
               !seq_take_pages(q, s->pages, q->done + q->step_rows)) {
            BUG_ON(s->n_running == 1);
            send_back(s);
        }
    }
}

/* The rows of the step. Returns how many belong to prompts. */
static int32_t plan(struct sched *s, struct kern_rows *r, int64_t now)
{
    int32_t decoding = 0;

    share_rows(s);
    find_pages(s);
    *r = (struct kern_rows){
        .ids = s->ids,
        .pos = s->pos,
        .seq = s->seq,
        .out = s->out,
        .max_pages = s->max_pages,
        .pages = s->table,
    };
    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        if (q->slot >= r->n_seqs)
            r->n_seqs = q->slot + 1;
        decoding += q->n_gen && seq_pending(q) == 1;
        if (q->step_rows && !q->start_us) {
            q->start_us = now;
            ring_prefill(q->job->ring, 0, (int32_t)q->job->n_ids);
        }
        add_rows(s, r, q);
    }
    if ((uint64_t)decoding > s->live.decode_rows_max)
        s->live.decode_rows_max = (uint64_t)decoding;
    return r->n - decoding;
}

/* Nothing may come: is it the guide, or are there no numbers at all? */
static void give_up(struct sched *s, struct seq *q, const struct sample_at *at)
{
    const struct sampling greedy = {.top_p = 1};
    struct sample_out out;
    struct err e;

    if (sample(s->sampler, s->logits, NULL, &greedy, at, 0, &out))
        err_set(&e, ST_INVALID, "",
                "what the answer must look like leaves no token of this "
                "model that could come next");
    else
        err_set(&e, ST_INTERNAL, "engine",
                "no logit of the model is a finite number");
    seq_end(q, END_ERROR, &e);
}

/* The logits of one sequence become its next id. */
static void choose(struct sched *s, struct seq *q, int64_t now)
{
    const struct job *j = q->job;
    size_t words = ((size_t)s->limits.vocab + 31) / 32;
    struct sample_at at = {
        .seed = j->sampling.seed,
        .choice = j->choice,
        .position = (int32_t)j->n_ids + q->n_gen,
    };
    struct sample_out out = {.top = s->top};
    const uint32_t *mask = NULL;

    if (j->guide) {
        memset(s->mask, 0xff, words * sizeof(*s->mask));
        if (guide_allowed(j->guide, q->guide, s->mask,
                          (size_t)s->limits.vocab))
            mask = s->mask;
    }
    forward_logits(s->forward, q->step_out, s->logits);
    if (q->penalty)
        penalty_apply(q->penalty, &j->sampling, s->logits);
    bias_apply(j->bias, j->n_bias, s->logits);
    if (sample(s->sampler, s->logits, mask, &j->sampling, &at,
               j->top_logprobs, &out))
        seq_commit(q, out.id, now, out.chosen, out.top);
    else
        give_up(s, q, &at);
}

/* What the step brought to one sequence. */
static void advance(struct sched *s, struct seq *q, int64_t now)
{
    int32_t prompt = (int32_t)q->job->n_ids, before = q->n_gen;
    bool in_prompt = q->done < prompt;

    q->done += q->step_rows;
    if (in_prompt && !q->n_gen) {
        ring_prefill(q->job->ring, q->done < prompt ? q->done : prompt,
                     prompt);
        q->news = true;
    }
    /* a stop found above, or a client that left, while the step ran */
    if (seq_pending(q) || seq_check(q, now))
        return;
    if (q->step_out >= 0)
        choose(s, q, now);
    else
        seq_commit_forced(q, now, s->limits.vocab);
    s->live.tokens_out += (uint64_t)(q->n_gen - before);
}

/* A step may take STEP_US, or twice what decoding alone takes here: smaller
 * slices would only read all weights more often. ALONE_US where nobody
 * decodes. */
static void adapt(struct sched *s, int64_t took_us, int32_t prompt_rows)
{
    int32_t *slice = &s->slice[s->mixed];
    int32_t least = s->chunk < SLICE_MIN ? s->chunk : SLICE_MIN;
    int64_t limit = 2 * s->decode_us > STEP_US ? 2 * s->decode_us : STEP_US;

    if (!s->mixed && limit < ALONE_US)
        limit = ALONE_US;
    if (!prompt_rows)
        s->decode_us += (took_us - s->decode_us) / 4;
    else if (took_us > limit && *slice / 2 >= least)
        *slice /= 2;
    else if (took_us < limit / 2 && prompt_rows >= *slice)
        *slice = *slice * 2 < s->chunk ? *slice * 2 : s->chunk;
}

static void step(struct sched *s, int64_t began)
{
    struct kern_rows r;
    int32_t prompt_rows = plan(s, &r, began);

    forward_run(s->forward, &r);
    for (int32_t i = 0; i < s->n_running; i++)
        if (s->running[i]->step_rows)
            advance(s, s->running[i], mono_us());
    adapt(s, mono_us() - began, prompt_rows);
    s->live.steps++;
    s->live.rows += (uint64_t)r.n;
}

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
    int32_t n = s->n_running;

    s->n_running = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!s->running[i]->ended)
            seq_end(s->running[i], END_CANCELLED, NULL);
        leave(s, s->running[i]);
    }
    while (s->waiting) {
        struct seq *q = s->waiting;

        s->waiting = q->next;
        s->n_waiting--;
        seq_end(q, END_CANCELLED, NULL);
        leave(s, q);
    }
}

void *sched_run(void *arg)
{
    struct sched *s = arg;

    while (collect(s)) {
        int64_t now = mono_us();

        drop_ended(s, now);
        admit(s);
        publish_state(s);
        tell_gone(s);
        tell_positions(s);
        if (!s->n_running)
            continue;
        step(s, now);
        wake(s);
    }
    end_all(s);
    publish_state(s);
    tell_gone(s);
    return NULL;
}
