#include "t/lib/scripted.h"

#include "base/thread.h"

#include <math.h>
#include <string.h>

#define TOP_MAX 64

struct play { /* one job on the stage or before it */
    struct job *job;
    void *guide_state;
    int64_t submitted_us, started_us, first_us, last_us, due_us;
    int32_t emitted;
    size_t at; /* next id of the script */
    bool running;
    bool stuck; /* its guide left it no id */
    struct play *next;
};

struct scripted {
    struct gen gen; /* first: ops */
    struct scripted_config c;
    int32_t *ids;
    FILE *log;

    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t cond;
    struct play *incoming;  /* guarded by mu, newest last */
    struct gen_state state; /* guarded by mu */
    int32_t taken;          /* guarded by mu: running and waiting jobs */
    bool kicked, held, stop; /* guarded by mu */

    struct play *list;      /* the thread's own: in order of submission */
};

static void append(struct play **list, struct play *p)
{
    while (*list)
        list = &(*list)->next;
    *list = p;
}

static void end(struct scripted *s, struct play *p, enum end_reason why,
                int32_t tokens)
{
    struct end_info info = {.reason = why};
    int64_t now = mono_us();

    if (why == END_ERROR && p->stuck)
        err_set(&info.err, ST_INVALID, "", "no id may come");
    else if (why == END_ERROR)
        err_set(&info.err, s->c.fail_as ? s->c.fail_as : ST_INTERNAL, "",
                "the script says fail");
    info.prompt_tokens = p->running ? (int32_t)p->job->n_ids : 0;
    info.completion_tokens = tokens;
    info.cached_tokens = s->c.cached;
    info.disk_tokens = s->c.disk;
    info.queue_us = (p->running ? p->started_us : now) - p->submitted_us;
    if (p->running)
        info.prefill_us = (p->emitted ? p->first_us : now) - p->started_us;
    if (p->emitted)
        info.decode_us = p->last_us - p->first_us;
    guide_note(p->job->guide, p->guide_state, &info.note);
    pthread_mutex_lock(&s->mu);
    s->taken--;
    pthread_mutex_unlock(&s->mu);
    ring_end(p->job->ring, &info);
    ring_wake(p->job->ring);
    job_unref(p->job);
    free(p->guide_state);
    free(p);
}

static bool is_stop_id(const struct job *j, int32_t id)
{
    for (size_t i = 0; i < j->n_stop; i++)
        if (j->stop_ids[i] == id)
            return true;
    return false;
}

static void push(struct job *j, int32_t id, int64_t now, bool forced)
{
    struct logprob top[TOP_MAX];
    float chosen = forced ? 0 : -0.125f * (float)(id % 8 + 1);

    BUG_ON(j->top_logprobs > TOP_MAX);
    for (int32_t k = 0; k < j->top_logprobs; k++) {
        top[k].id = id >= j->top_logprobs ? id - k : id + k;
        top[k].logprob = chosen - (float)k;
        if (forced && k)
            top[k] = (struct logprob){-1, -INFINITY};
    }
    ring_token(j->ring, id, now, chosen, top);
}

static bool has(const uint32_t *mask, int32_t id)
{
    return mask[id / 32] >> id % 32 & 1;
}

/* The script's next id, if the guide allows it, else the lowest one that it
 * does. -1: the script is over; -2: there is none. */
static int32_t choose(const struct scripted *s, struct play *p)
{
    size_t words = ((size_t)s->c.vocab + 31) / 32;
    uint32_t *mask = NULL;
    int32_t id = 0;

    if (p->at == s->c.n && s->c.loop)
        p->at = 0;
    if (p->job->guide) {
        mask = mem_array(uint32_t, words);
        memset(mask, 0xff, words * sizeof(*mask));
    }
    if (!mask || !guide_allowed(p->job->guide, p->guide_state, mask,
                                (size_t)s->c.vocab) ||
        (p->at < s->c.n && has(mask, s->ids[p->at]))) {
        free(mask);
        return p->at < s->c.n ? s->ids[p->at++] : -1;
    }
    while (id < s->c.vocab && !has(mask, id))
        id++;
    free(mask);
    return id < s->c.vocab ? id : -2;
}

/* The next token of a running job; what ends it, END_NONE when nothing. */
static enum end_reason emit(struct scripted *s, struct play *p, int64_t now)
{
    struct job *j = p->job;
    enum guide_next next;
    int32_t id;
    bool forced;

    if (s->c.fail_after >= 0 && p->emitted >= s->c.fail_after)
        return END_ERROR;
    forced = guide_forced(j->guide, p->guide_state, &id, 1) > 0;
    if (!forced) {
        id = choose(s, p);
        p->stuck = id == -2;
        if (id < 0)
            return p->stuck ? END_ERROR : END_STOP;
    }
    next = guide_accept(j->guide, p->guide_state, id);
    if (!p->emitted++)
        p->first_us = now;
    p->last_us = now;
    p->due_us = now + s->c.per_token_us;
    push(j, id, now, forced);
    if (s->log)
        fprintf(s->log, "%lld\n", (long long)mono_us());
    pthread_mutex_lock(&s->mu);
    s->state.steps++;
    s->state.rows++;
    s->state.tokens_out++;
    pthread_mutex_unlock(&s->mu);
    if (next == GUIDE_STOP || is_stop_id(j, id))
        return END_STOP;
    if (p->emitted >= j->max_tokens ||
        (int64_t)j->n_ids + p->emitted >= s->c.context)
        return END_LENGTH;
    return END_NONE;
}

/* What a caller or the clock wants from this job now. */
static enum end_reason outside(const struct play *p, int64_t now,
                               int32_t *tokens)
{
    int32_t keep = atomic_load(&p->job->finish);

    *tokens = p->emitted;
    if (atomic_load(&p->job->cancelled))
        return END_CANCELLED;
    if (keep > 0 && keep <= p->emitted) {
        *tokens = keep;
        return END_STOP;
    }
    if (p->job->deadline_us && now >= p->job->deadline_us)
        return END_TIMEOUT;
    if (!p->running && p->job->start_by_us && now >= p->job->start_by_us)
        return END_QUEUED;
    return END_NONE;
}

/* One look at one job: true when it ended and is freed. */
static bool look(struct scripted *s, struct play *p, bool held, int64_t now)
{
    int32_t tokens;
    enum end_reason why = outside(p, now, &tokens);

    if (!why && p->running && !held && now >= p->due_us) {
        why = emit(s, p, now);
        tokens = p->emitted;
        if (!why)
            ring_wake(p->job->ring);
    }
    if (why)
        end(s, p, why, tokens);
    return why != END_NONE;
}

static void start(struct scripted *s, struct play *p, int64_t now)
{
    p->running = true;
    p->started_us = now;
    p->due_us = now + s->c.prefill_us;
    ring_prefill(p->job->ring, s->c.prefill_us ? 0 : (int32_t)p->job->n_ids,
                 (int32_t)p->job->n_ids);
    ring_wake(p->job->ring);
}

/* All jobs once, in order; returns when to look again (0: nothing to do). */
static int64_t round_of_all(struct scripted *s, bool held)
{
    int64_t now = mono_us(), next = 0;
    int32_t running = 0, place = 0;

    for (struct play **at = &s->list; *at;) {
        struct play *p = *at, *after = p->next;
        int64_t due;

        if (!p->running && !held && running < s->c.parallel)
            start(s, p, now);
        if (look(s, p, held, now)) {
            *at = after;
            continue;
        }
        if (p->running)
            running++;
        else
            ring_queued(p->job->ring, place++,
                        s->c.eta_us ? s->c.eta_us : -1,
                        s->c.eta_us ? p->submitted_us : now);
        due = p->running && !held ? p->due_us : p->job->start_by_us;
        if (p->running && held)
            due = 0;
        if (p->job->deadline_us && (!due || p->job->deadline_us < due))
            due = p->job->deadline_us;
        if (due && (!next || due < next))
            next = due;
        at = &p->next;
    }
    pthread_mutex_lock(&s->mu);
    if (running < s->state.running && place)
        next = now; /* a place is free: start the next one at once */
    s->state.running = running;
    s->state.waiting = place;
    pthread_mutex_unlock(&s->mu);
    return next;
}

static void *run(void *arg)
{
    struct scripted *s = arg;
    int64_t next = 0;

    for (;;) {
        bool held, stop;

        pthread_mutex_lock(&s->mu);
        while (!s->kicked && !s->incoming && !s->stop) {
            int64_t now = mono_us();

            if (!next)
                pthread_cond_wait(&s->cond, &s->mu);
            else if (now >= next || !cond_wait_ms(&s->cond, &s->mu,
                                                  (next - now) / 1000 + 1))
                break;
        }
        s->kicked = false;
        append(&s->list, s->incoming);
        s->incoming = NULL;
        held = s->held;
        stop = s->stop;
        pthread_mutex_unlock(&s->mu);
        if (stop)
            for (struct play *p = s->list; p; p = p->next)
                atomic_store(&p->job->cancelled, 1);
        next = round_of_all(s, held);
        if (stop && !s->list)
            return NULL;
    }
}

static enum st submit(struct gen *g, struct job *j, struct err *e)
{
    struct scripted *s = (struct scripted *)g;
    struct play *p;
    enum st st = ST_OK;

    if (j->n_ids >= (size_t)s->c.context)
        return err_set(e, ST_CONTEXT, "", "%zu ids, %d positions", j->n_ids,
                       s->c.context);
    for (size_t i = 0; i < j->n_ids; i++)
        if (j->ids[i] < 0 || j->ids[i] >= s->c.vocab)
            return err_set(e, ST_INVALID, "", "id %zu is out of range", i);
    p = mem_new(struct play);
    p->job = j;
    p->submitted_us = mono_us();
    p->at = s->c.start_at ? s->c.start_at(j) : 0;
    p->guide_state = mem_zalloc(guide_state_bytes(j->guide) + 1);
    guide_init(j->guide, p->guide_state);
    pthread_mutex_lock(&s->mu);
    if (s->stop)
        st = err_set(e, ST_DRAINING, "", "the server is going down");
    else if (s->taken >= s->c.parallel + s->c.max_queue)
        st = err_set(e, ST_BUSY, "", "the queue is full (%d waiting)",
                     s->c.max_queue);
    if (!st) {
        job_ref(j); /* dropped after END */
        s->taken++;
        append(&s->incoming, p);
        pthread_cond_signal(&s->cond);
    }
    pthread_mutex_unlock(&s->mu);
    if (st) {
        free(p->guide_state);
        free(p);
    }
    return st;
}

static void kick(struct gen *g)
{
    struct scripted *s = (struct scripted *)g;

    pthread_mutex_lock(&s->mu);
    s->kicked = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->mu);
}

static void limits(const struct gen *g, struct gen_limits *out)
{
    const struct scripted *s = (const struct scripted *)g;

    *out = (struct gen_limits){.context = s->c.context,
                               .vocab = s->c.vocab,
                               .parallel = s->c.parallel,
                               .max_queue = s->c.max_queue};
}

static void state(struct gen *g, struct gen_state *out)
{
    struct scripted *s = (struct scripted *)g;

    pthread_mutex_lock(&s->mu);
    *out = s->state;
    pthread_mutex_unlock(&s->mu);
}

static const char *fingerprint(const struct gen *g)
{
    (void)g;
    return "fp_scripted";
}

static void set_held(struct gen *g, bool held)
{
    struct scripted *s = (struct scripted *)g;

    pthread_mutex_lock(&s->mu);
    s->held = held;
    pthread_mutex_unlock(&s->mu);
    kick(g);
}

void scripted_hold(struct gen *g)
{
    set_held(g, true);
}

void scripted_release(struct gen *g)
{
    set_held(g, false);
}

static void scripted_free(struct gen *g)
{
    struct scripted *s = (struct scripted *)g;

    pthread_mutex_lock(&s->mu);
    s->stop = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->mu);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->cond);
    pthread_mutex_destroy(&s->mu);
    if (s->log)
        fclose(s->log);
    free(s->ids);
    free(s);
}

static const struct gen_ops ops = {
    .submit = submit,
    .kick = kick,
    .limits = limits,
    .state = state,
    .fingerprint = fingerprint,
    .free = scripted_free,
};

struct gen *scripted_new(const struct scripted_config *c)
{
    struct scripted *s = mem_new(struct scripted);
    enum st st;

    s->gen.ops = &ops;
    s->c = *c;
    s->log = c->token_log ? fopen(c->token_log, "we") : NULL;
    s->c.parallel = c->parallel ? c->parallel : 4;
    s->c.vocab = c->vocab ? c->vocab : 1 << 20;
    s->c.context = c->context ? c->context : 4096;
    s->ids = mem_array(int32_t, c->n + 1);
    if (c->n)
        memcpy(s->ids, c->ids, c->n * sizeof(*s->ids));
    pthread_mutex_init(&s->mu, NULL);
    cond_init_monotonic(&s->cond);
    st = thread_start(&s->thread, "scripted", run, s, NULL);
    BUG_ON(st != ST_OK);
    return &s->gen;
}
