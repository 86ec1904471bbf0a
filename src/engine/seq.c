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
    s->gen = mem_try_array((size_t)s->max_new, sizeof(*s->gen));
    s->guide = mem_try(state ? state : 1);
    if (penalty_wanted(&j->sampling))
        s->penalty = penalty_new(j->ids, j->n_ids, most_ids(s, l));
    if (!s->gen || !s->guide ||
        (!s->penalty && penalty_wanted(&j->sampling))) {
        seq_free(s);
        return NULL;
    }
    guide_init(j->guide, s->guide);
    return s;
}

void seq_free(struct seq *s)
{
    if (!s)
        return;
    BUG_ON(s->n_pages);
    job_unref(s->job);
    free(s->gen);
    free(s->guide);
    penalty_free(s->penalty);
    free(s);
}

int32_t seq_pages(int32_t rows)
{
    return (rows + KV_PAGE - 1) / KV_PAGE;
}

bool seq_take_pages(struct seq *s, struct kv_pages *p, int32_t rows)
{
    int32_t more = seq_pages(rows) - s->n_pages;

    if (more > 0 && kv_pages_left(p) < (size_t)more)
        return false;
    for (; more > 0; more--) {
        s->pages[s->n_pages] = kv_pages_take(p);
        BUG_ON(s->pages[s->n_pages] < 0);
        s->n_pages++;
    }
    return true;
}

void seq_drop_pages(struct seq *s, struct kv_pages *p)
{
    for (int32_t i = 0; i < s->n_pages; i++)
        kv_pages_unref(p, s->pages[i]);
    s->n_pages = 0;
    s->done = 0;
}

int32_t seq_rows(const struct seq *s)
{
    return (int32_t)s->job->n_ids + s->n_gen;
}

int32_t seq_id(const struct seq *s, int32_t i)
{
    int32_t n = (int32_t)s->job->n_ids;

    return i < n ? s->job->ids[i] : s->gen[i - n];
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
    }
    return s->ended;
}
