#include "engine/sched_int.h"

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

/* --- the rows of a step -------------------------------------------------- */

static bool decodes(const struct seq *q)
{
    return q->n_gen && seq_pending(q) == 1;
}

bool sched_can_step(const struct sched *s)
{
    for (int32_t i = 0; i < s->n_running; i++)
        if (s->running[i]->stage == SEQ_RUN)
            return true;
    return false;
}

/* Add the next step_rows pending rows of q. */
static void add_rows(struct sched *s, struct kern_rows *r, struct seq *q)
{
    for (int32_t i = 0; i < q->step_rows; i++) {
        s->ids[r->n] = q->units[q->done + i];
        s->pos[r->n] = q->done + i;
        s->seq[r->n] = q->slot;
        r->n++;
    }
    if (q->step_rows == seq_pending(q) && seq_wants_logits(q)) {
        q->step_out = r->n_out;
        s->out[r->n_out++] = r->n - 1;
    }
}

/* Rows of `lead` until the first of those who follow it can go on. */
static int32_t soonest(const struct sched *s, const struct seq *lead)
{
    int32_t rows = seq_pending(lead);

    for (int32_t i = 0; i < s->n_running; i++) {
        const struct seq *q = s->running[i];

        if (q->leader == lead && q->follow - lead->done < rows)
            rows = q->follow - lead->done;
    }
    return rows;
}

static void share_rows(struct sched *s)
{
    s->mixed = false;
    for (int32_t i = 0; i < s->n_running; i++) {
        const struct seq *q = s->running[i];

        s->shares[i] = (struct plan_seq){
            .pending = seq_pending(q),
            .decoding = q->stage == SEQ_RUN && decodes(q),
            .follows = q->stage != SEQ_RUN,
            .soonest = soonest(s, q),
            .waited = q->waited,
        };
        s->mixed |= s->shares[i].decoding;
    }
    (void)plan_rows(s->shares, s->n_running, s->slice[s->mixed]);
    for (int32_t i = 0; i < s->n_running; i++) {
        s->running[i]->step_out = -1;
        s->running[i]->step_rows = s->shares[i].rows;
        s->running[i]->waited = s->shares[i].waited;
    }
}

/* Alone it lacks no page, but others may hold what is under the peak. */
static void no_memory(struct sched *s, struct seq *q)
{
    struct err e;

    BUG_ON(!s->memory);
    memory_refuse(s, &e);
    seq_end(q, END_ERROR, &e);
    q->step_rows = 0;
}

/* Where no page is left for the rows of one sequence, the youngest goes. The
 * oldest never does: alone it has every page, and the context is no longer
 * than those. */
static void find_pages(struct sched *s)
{
    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        while (i < s->n_running && q->step_rows &&
               !cache_grow(s, q, q->done + q->step_rows)) {
            if (s->n_running == 1)
                no_memory(s, q);
            else
                sched_send_back(s);
        }
    }
}

/* Returns how many of the rows belong to prompts. */
static int32_t plan(struct sched *s, struct kern_rows *r)
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
        decoding += q->step_rows && decodes(q);
        add_rows(s, r, q);
    }
    if ((uint64_t)decoding > s->live.decode_rows_max)
        s->live.decode_rows_max = (uint64_t)decoding;
    return r->n - decoding;
}

/* --- what it brings ------------------------------------------------------ */

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
static void choose(struct sched *s, struct seq *q)
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
        seq_commit(q, out.id, mono_us(), out.chosen, out.top);
    else
        give_up(s, q, &at);
}

static void tell_prefill(struct seq *q, int32_t done)
{
    int32_t prompt = (int32_t)q->job->n_ids;

    ring_prefill(q->job->ring, done < prompt ? done : prompt, prompt);
    q->news = true;
}

/* What the step brought to one sequence. */
static void advance(struct sched *s, struct seq *q, int64_t now)
{
    int32_t prompt = (int32_t)q->job->n_ids, before = q->n_gen;
    int32_t from = q->done;

    seq_computed(q, q->step_rows);
    cache_keep(s, q);
    if (from < prompt)
        s->live.cache.rows_forwarded +=
            (uint64_t)((q->done < prompt ? q->done : prompt) - from);
    if (from < prompt && !q->n_gen)
        tell_prefill(q, q->done);
    /* a stop found above, or a client that left, while the step ran */
    if (seq_pending(q) || seq_check(q, now))
        return;
    if (q->step_out >= 0)
        choose(s, q);
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
    if (prompt_rows)
        eta_prefill(&s->eta, prompt_rows, took_us);
    if (s->mixed)
        eta_decode(&s->eta, took_us);
}

void sched_step(struct sched *s, int64_t began)
{
    struct kern_rows r;
    int32_t prompt_rows = plan(s, &r);

    if (!r.n)
        return; /* there was no memory: it leaves now */
    forward_run(s->forward, &r);
    for (int32_t i = 0; i < s->n_running; i++) {
        struct seq *q = s->running[i];

        if (q->step_rows)
            advance(s, q, mono_us());
        else if (q->leader && !q->n_gen && q->leader->done < q->follow)
            tell_prefill(q, q->leader->done);
    }
    adapt(s, mono_us() - began, prompt_rows);
    s->live.steps++;
    s->live.rows += (uint64_t)r.n;
}
