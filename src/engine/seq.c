#include "engine/seq.h"

#include "base/thread.h"
#include "kernels/kernels.h"

#include <math.h>

#define FORCED_MAX 64 /* ids taken from a guide at once */

/* Distinct ids that may come together. */
static size_t most_ids(const struct seq *s, const struct gen_limits *l)
{
    size_t rows = s->job->n_ids + (size_t)s->max_new;

    return rows < (size_t)l->vocab ? rows : (size_t)l->vocab;
}

struct seq *seq_new(struct job *j, const struct gen_limits *l)
{
    int32_t room = l->context - (int32_t)j->n_ids;
    size_t state = guide_state_bytes(j->guide);
    struct seq *s = mem_try(sizeof(*s));

    if (!s)
        return NULL;
    job_ref(j);
    s->job = j;
    s->max_new = j->max_tokens < room ? j->max_tokens : room;
    s->slot = -1;
    s->position = -1;
    s->submit_us = mono_us();
    s->tail = -1;
    s->units = mem_try_array(j->n_ids + (size_t)s->max_new,
                             sizeof(*s->units));
    s->guide = mem_try(state ? state : 1);
    if (penalty_wanted(&j->sampling))
        s->penalty = penalty_new(j->ids, j->n_ids, most_ids(s, l));
    if (!s->units || !s->guide ||
        (!s->penalty && penalty_wanted(&j->sampling))) {
        seq_free(s);
        return NULL;
    }
    s->gen = s->units + j->n_ids;
    guide_init(j->guide, s->guide);
    return s;
}

void seq_free(struct seq *s)
{
    if (!s)
        return;
    BUG_ON(s->n_pages || s->n_reads);
    job_unref(s->job);
    free(s->units);
    free(s->guide);
    penalty_free(s->penalty);
    free(s);
}

int32_t seq_pages(int32_t rows)
{
    return (rows + KV_PAGE - 1) / KV_PAGE;
}

static int32_t in_prompt(const struct seq *s, int32_t rows)
{
    int32_t n = (int32_t)s->job->n_ids;

    return rows < n ? rows : n;
}

void seq_found(struct seq *s)
{
    int32_t done = in_prompt(s, s->done);

    if (done > s->reached)
        s->reached = done;
}

void seq_computed(struct seq *s, int32_t rows)
{
    int32_t from = in_prompt(s, s->done);
    int32_t to = in_prompt(s, s->done + rows);

    s->done += rows;
    seq_found(s);
    if (from == to)
        return;
    if (!s->computed)
        s->low = s->high = from;
    /* what was computed before it was sent back counts once */
    if (from < s->low) {
        s->computed += (to < s->low ? to : s->low) - from;
        s->low = from;
    }
    if (to > s->high) {
        s->computed += to - (from > s->high ? from : s->high);
        s->high = to;
    }
}

int32_t seq_rows(const struct seq *s)
{
    return (int32_t)s->job->n_ids + s->n_gen;
}

int32_t seq_pending(const struct seq *s)
{
    return seq_rows(s) - s->done;
}

static bool is_stop(const struct job *j, int32_t id)
{
    for (size_t i = 0; i < j->n_stop; i++)
        if (j->stop_ids[i] == id)
            return true;
    return false;
}

void seq_commit(struct seq *s, int32_t id, int64_t now_us, float chosen,
                const struct logprob *top)
{
    struct job *j = s->job;
    bool stop;

    s->gen[s->n_gen++] = id;
    if (s->penalty)
        penalty_add(s->penalty, id);
    if (!s->first_us)
        s->first_us = now_us;
    s->last_us = now_us;
    s->news = true;
    ring_token(j->ring, id, now_us, chosen, top);
    stop = guide_accept(j->guide, s->guide, id) == GUIDE_STOP;
    if (stop || is_stop(j, id))
        seq_end(s, END_STOP, NULL);
    else if (s->n_gen == s->max_new)
        seq_end(s, END_LENGTH, NULL);
}

bool seq_wants_logits(const struct seq *s)
{
    int32_t id;

    return !guide_forced(s->job->guide, s->guide, &id, 1);
}

bool seq_commit_forced(struct seq *s, int64_t now_us, int32_t vocab)
{
    struct logprob top[SEQ_TOP_MAX];
    int32_t ids[FORCED_MAX];
    bool any = false;
    size_t n;

    /* the only id that may come has probability 1 and no alternatives */
    for (int i = 0; i < SEQ_TOP_MAX; i++)
        top[i] = (struct logprob){-1, -INFINITY};
    while (!s->ended && (n = guide_forced(s->job->guide, s->guide, ids,
                                          FORCED_MAX)) > 0) {
        any = true;
        for (size_t i = 0; i < n && !s->ended; i++) {
            if (ids[i] < 0 || ids[i] >= vocab) {
                struct err e;

                err_set(&e, ST_INTERNAL, "guide",
                        "an id outside the vocabulary was forced");
                seq_end(s, END_ERROR, &e);
                break;
            }
            top[0] = (struct logprob){ids[i], 0};
            seq_commit(s, ids[i], now_us, 0, top);
        }
    }
    return any;
}

void seq_end(struct seq *s, enum end_reason why, const struct err *err)
{
    int64_t now = mono_us();
    struct end_info *end = &s->end;

    BUG_ON(s->ended);
    s->ended = true;
    end->reason = why;
    if (err)
        end->err = *err;
    end->prompt_tokens = (int32_t)s->job->n_ids;
    end->cached_tokens = s->reached - s->computed;
    end->disk_tokens = s->from_disk < end->cached_tokens ? s->from_disk
                                                         : end->cached_tokens;
    end->completion_tokens = s->n_gen;
    guide_note(s->job->guide, s->guide, &end->note);
    end->queue_us = (s->start_us ? s->start_us : now) - s->submit_us;
    if (s->start_us)
        end->prefill_us = (s->first_us ? s->first_us : now) - s->start_us;
    if (s->first_us)
        end->decode_us = s->last_us - s->first_us;
}

bool seq_check(struct seq *s, int64_t now_us)
{
    struct job *j = s->job;
    int32_t keep = atomic_load_explicit(&j->finish, memory_order_acquire);

    if (s->ended)
        return true;
    if (keep > 0 && keep <= s->n_gen) {
        s->n_gen = keep;
        seq_end(s, END_STOP, NULL);
    } else if (atomic_load_explicit(&j->cancelled, memory_order_acquire)) {
        seq_end(s, END_CANCELLED, NULL);
    } else if (j->deadline_us && now_us >= j->deadline_us) {
        seq_end(s, END_TIMEOUT, NULL);
    } else if (j->start_by_us && !s->start_us && now_us >= j->start_by_us) {
        seq_end(s, END_QUEUED, NULL);
    }
    return s->ended;
}
