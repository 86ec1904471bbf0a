#include "engine/engine.h"
#include "engine/identity.h"
#include "engine/sched_int.h"

#include "base/num.h"
#include "base/thread.h"

#include <float.h>
#include <sched.h>

#define CHUNK_DEFAULT 256
#define CHUNK_MAX 4096
#define QUEUE_MAX 100000
#define KV_BYTES_DEFAULT ((size_t)1 << 30)
#define SPOOL_QUEUE ((size_t)64 << 20) /* bytes on their way to the disk */
#define SPOOL_CLOSE_MS 3000

static struct sched *sched_of(const struct gen *g)
{
    return (struct sched *)(uintptr_t)g;
}

/* --- struct gen ----------------------------------------------------------- */

static enum st check_penalty(const char *name, float v, struct err *e)
{
    if (v >= -2 && v <= 2)
        return ST_OK;
    return err_set(e, ST_INVALID, name, "%g is not from -2 to 2", (double)v);
}

static enum st check_penalties(const struct sched *s, const struct job *j,
                               struct err *e)
{
    const struct sampling *p = &j->sampling;
    enum st st = check_penalty("presence_penalty", p->presence, e);

    if (!st)
        st = check_penalty("frequency_penalty", p->frequency, e);
    if (st)
        return st;
    if (!(p->repetition >= 0 && p->repetition <= FLT_MAX))
        return err_set(e, ST_INVALID, "repetition_penalty",
                       "%g is not a number above 0", (double)p->repetition);
    for (size_t i = 0; i < j->n_bias; i++) {
        if (j->bias[i].id < 0 || j->bias[i].id >= s->limits.vocab)
            return err_set(e, ST_INVALID, "logit_bias",
                           "token id %d is not from 0 to %d", j->bias[i].id,
                           s->limits.vocab - 1);
        if (!(j->bias[i].value >= -100 && j->bias[i].value <= 100))
            return err_set(e, ST_INVALID, "logit_bias",
                           "%g, of token id %d, is not from -100 to 100",
                           (double)j->bias[i].value, j->bias[i].id);
    }
    return ST_OK;
}

static enum st check_job(const struct sched *s, const struct job *j,
                         struct err *e)
{
    if (!j->n_ids)
        return err_set(e, ST_INVALID, "", "the prompt is empty");
    if (j->n_ids >= (size_t)s->limits.context)
        return err_set(e, ST_CONTEXT, "",
                       "the prompt has %zu tokens; this model's context is %d "
                       "tokens, and the answer needs at least one",
                       j->n_ids, s->limits.context);
    for (size_t i = 0; i < j->n_ids; i++)
        if (j->ids[i] < 0 || j->ids[i] >= s->limits.vocab)
            return err_set(e, ST_INVALID, "",
                           "token id %d is not from 0 to %d", j->ids[i],
                           s->limits.vocab - 1);
    if (j->top_logprobs < 0 || j->top_logprobs > SEQ_TOP_MAX)
        return err_set(e, ST_INVALID, "top_logprobs",
                       "%d is not from 0 to %d", j->top_logprobs, SEQ_TOP_MAX);
    return check_penalties(s, j, e);
}

static enum st engine_submit(struct gen *g, struct job *j, struct err *e)
{
    struct sched *s = sched_of(g);
    int32_t room = s->limits.parallel + s->limits.max_queue;
    enum st st = check_job(s, j, e);
    struct seq *q;

    if (st)
        return st;
    q = seq_new(j, &s->limits);
    if (!q)
        return err_set(e, ST_NOMEM, "", "no memory for another request");
    pthread_mutex_lock(&s->mu);
    if (s->stopping)
        st = ST_DRAINING;
    else if (s->inflight - s->state.side_running >= room)
        st = ST_BUSY;
    if (!st) {
        s->inflight++;
        *s->inbox_tail = q;
        s->inbox_tail = &q->next;
        pthread_cond_signal(&s->cond);
    }
    pthread_mutex_unlock(&s->mu);
    if (!st)
        return ST_OK;
    seq_free(q);
    return err_set(e, st, "", st == ST_BUSY ? "the queue is full"
                                            : "the engine is stopping");
}

static void engine_kick(struct gen *g)
{
    sched_poke(sched_of(g));
}

static void engine_limits(const struct gen *g, struct gen_limits *out)
{
    *out = sched_of(g)->limits;
}

static void engine_state(struct gen *g, struct gen_state *out)
{
    struct sched *s = sched_of(g);

    pthread_mutex_lock(&s->mu);
    *out = s->state;
    pthread_mutex_unlock(&s->mu);
}

static const char *engine_fingerprint(const struct gen *g)
{
    return sched_of(g)->fingerprint;
}

static void engine_free(struct gen *g)
{
    struct sched *s = sched_of(g);

    if (s->started) {
        pthread_mutex_lock(&s->mu);
        s->stopping = true;
        pthread_cond_signal(&s->cond);
        pthread_mutex_unlock(&s->mu);
        pthread_join(s->thread, NULL);
    }
    spool_close(s->spool, SPOOL_CLOSE_MS);
    forward_free(s->forward);
    sampler_free(s->sampler);
    queue_free(s->queue);
    kv_tree_free(s->tree);
    kv_pages_free(s->pages);
    model_close(s->model);
    kern_free(s->kern);
    pthread_cond_destroy(&s->cond);
    pthread_mutex_destroy(&s->mu);
    free(s->running);
    free(s->slot_used);
    free(s->shares);
    free(s->eta_run);
    free(s->eta_wait);
    free(s->eta_scratch);
    free(s->units);
    free(s->resident);
    free(s->table);
    free(s->ids);
    free(s->pos);
    free(s->seq);
    free(s->out);
    free(s->logits);
    free(s->mask);
    free(s);
}

static const struct gen_ops engine_ops = {
    .submit = engine_submit,
    .kick = engine_kick,
    .limits = engine_limits,
    .state = engine_state,
    .fingerprint = engine_fingerprint,
    .free = engine_free,
};

/* --- opening -------------------------------------------------------------- */

void engine_config_default(struct engine_config *c)
{
    *c = (struct engine_config){
        .set = KERN_CPU_AUTO,
        .parallel = 8,
        .side = 1,
        .max_queue = 256,
        .chunk = CHUNK_DEFAULT,
        .kv_type = KERN_F16,
        .packs = {.repack = true},
    };
}

static bool parse_cpus(const struct engine_config *c, int *list, int *n)
{
    return num_parse_list(c->cpus, CPU_SETSIZE - 1, list, ENGINE_CPUS_MAX, n);
}

int engine_threads(const struct engine_config *c)
{
    int n = c->threads, list[ENGINE_CPUS_MAX];
    cpu_set_t set;

    if (!n && (!c->cpus || !parse_cpus(c, list, &n)))
        n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : n > 256 ? 256 : n;
}

static enum st check_config(const struct engine_config *c, struct err *e)
{
    if (c->threads < 0 || c->threads > 256)
        return err_set(e, ST_INVALID, "threads", "%d is not from 0 to 256",
                       c->threads);
    if (c->parallel < 1 || c->parallel > SCHED_PARALLEL_MAX)
        return err_set(e, ST_INVALID, "parallel", "%d is not from 1 to %d",
                       c->parallel, SCHED_PARALLEL_MAX);
    if (c->side < 0 || c->side > SCHED_SIDE_MAX)
        return err_set(e, ST_INVALID, "side", "%d is not from 0 to %d",
                       c->side, SCHED_SIDE_MAX);
    if (c->max_queue < 0 || c->max_queue > QUEUE_MAX)
        return err_set(e, ST_INVALID, "max_queue", "%d is not from 0 to %d",
                       c->max_queue, QUEUE_MAX);
    if (c->kv_type != KERN_F16 && c->kv_type != KERN_Q8_0)
        return err_set(e, ST_INVALID, "kv_type", "%d is neither F16 nor Q8_0",
                       (int)c->kv_type);
    if (c->chunk < 0 || c->chunk > CHUNK_MAX)
        return err_set(e, ST_INVALID, "chunk", "%d is not from 0 to %d",
                       c->chunk, CHUNK_MAX);
    return ST_OK;
}

/* How many pages, and how long a sequence may become. */
static enum st size_kv(struct sched *s, const struct engine_config *c,
                       int32_t *pages, struct err *e)
{
    size_t budget = c->kv_bytes ? c->kv_bytes : KV_BYTES_DEFAULT;
    size_t page = forward_page_bytes(s->model), fit = budget / page;
    int32_t context = c->context ? c->context : s->model->context;
    size_t one, want;

    if (context < 2 || context > s->model->context)
        return err_set(e, ST_INVALID, "context",
                       "%d is not from 2 to the model's %d", context,
                       s->model->context);
    one = ((size_t)context + KV_PAGE - 1) / KV_PAGE;
    if (!c->kv_bytes && c->context && fit < one)
        fit = one;
    if (fit < one && (c->context || !fit))
        return err_set(e, ST_NOMEM, "context",
                       "%d positions need %zu bytes of keys and values; %zu "
                       "are allowed",
                       context, one * page, budget);
    if (fit < one) {
        one = fit;
        context = (int32_t)(fit * KV_PAGE);
    }
    want = one * ((size_t)c->parallel + (size_t)c->side);
    *pages = (int32_t)(want < fit ? want : fit);
    s->limits.context = context;
    s->max_pages = (int32_t)one;
    return ST_OK;
}

static bool alloc_lists(struct sched *s)
{
    size_t slots = (size_t)s->slots;
    size_t all = slots + (size_t)s->limits.max_queue;

    s->queue = queue_new();
    s->running = mem_try_array(slots, sizeof(struct seq *));
    s->slot_used = mem_try_array(slots, sizeof(*s->slot_used));
    s->shares = mem_try_array(slots, sizeof(*s->shares));
    s->eta_run = mem_try_array(slots, sizeof(*s->eta_run));
    s->eta_wait = mem_try_array(all, sizeof(*s->eta_wait));
    s->eta_scratch = mem_try_array(2 * slots, sizeof(*s->eta_scratch));
    return s->queue && s->running && s->slot_used && s->shares &&
           s->eta_run && s->eta_wait && s->eta_scratch;
}

static bool alloc_rows(struct sched *s, size_t rows)
{
    size_t slots = (size_t)s->slots, vocab = (size_t)s->limits.vocab;

    s->sampler = sampler_new(s->limits.vocab);
    s->ids = mem_try_array(rows, sizeof(*s->ids));
    s->pos = mem_try_array(rows, sizeof(*s->pos));
    s->seq = mem_try_array(rows, sizeof(*s->seq));
    s->out = mem_try_array(slots, sizeof(*s->out));
    s->logits = mem_try_array(vocab, sizeof(*s->logits));
    s->mask = mem_try_array((vocab + 31) / 32, sizeof(*s->mask));
    return s->sampler && s->ids && s->pos && s->seq && s->out && s->logits &&
           s->mask;
}

static bool alloc_cache(struct sched *s, int32_t pages)
{
    struct kv_tree_config tc = {0};

    s->n_pages = pages;
    s->resident = mem_try_array((size_t)pages, sizeof(*s->resident));
    s->pages = kv_pages_new((size_t)pages, s->page_bytes);
    tc.pages = s->pages;
    s->tree = s->pages ? kv_tree_new(&tc) : NULL;
    s->root = s->tree ? kv_tree_root(s->tree, s->what) : -1;
    s->table = mem_try_array((size_t)s->slots * (size_t)s->max_pages,
                             sizeof(*s->table));
    s->units = mem_try_array((size_t)s->limits.context, sizeof(*s->units));
    return s->root >= 0 && s->table && s->units && s->resident;
}

static enum st alloc_all(struct sched *s, int32_t pages, struct err *e)
{
    int32_t rows = plan_most(s->chunk) + s->slots;

    if (!alloc_lists(s) || !alloc_rows(s, (size_t)rows) ||
        !alloc_cache(s, pages))
        return err_set(e, ST_NOMEM, "engine", "no memory for the engine");
    return forward_new(&s->forward, s->model, rows, s->slots, pages, e);
}

static enum st open_kernels(struct sched *s, const struct engine_config *c,
                            struct err *e)
{
    int cpus[ENGINE_CPUS_MAX];
    struct kern_cpu_config kc = {
        .threads = engine_threads(c),
        .set = c->set,
        .cpus = cpus,
    };

    if (c->cpus && !parse_cpus(c, cpus, &kc.n_cpus))
        return err_set(e, ST_INVALID, "cpus",
                       "'%.40s' is no list of processors such as 0-3,8",
                       c->cpus);
    return kern_cpu_new(&s->kern, &kc, e);
}

static void spool_news(void *arg)
{
    sched_poke(arg);
}

static enum st open_spool(struct sched *s, const struct engine_config *c,
                          struct err *e)
{
    size_t least = 4 * (s->page_bytes +
                        (size_t)s->limits.context * sizeof(*s->units));
    struct spool_config sc = {
        .dir = c->spool_dir,
        .max_bytes = c->spool_bytes,
        .ttl_s = c->spool_ttl_s,
        .queue_bytes = least > SPOOL_QUEUE ? least : SPOOL_QUEUE,
        .wake = spool_news,
        .arg = s,
    };

    s->spool_queue = sc.queue_bytes;
    return spool_open(&s->spool, &sc, e);
}

static enum st open_all(struct sched *s, const struct gguf *g,
                        const struct engine_config *c, struct err *e)
{
    struct packs_config packs = c->packs;
    int32_t pages = 0;
    enum st st = check_config(c, e);

    packs.threads = engine_threads(c);
    if (!st)
        st = open_kernels(s, c, e);
    if (!st)
        st = model_open(&s->model, g, s->kern, &packs, e);
    if (!st) {
        s->model->kv_type = c->kv_type;
        st = size_kv(s, c, &pages, e);
    }
    if (st)
        return st;
    s->chunk = c->chunk ? c->chunk : CHUNK_DEFAULT;
    s->slice[0] = s->slice[1] = s->chunk;
    s->limits.vocab = s->model->vocab;
    s->limits.parallel = c->parallel;
    s->limits.max_queue = c->max_queue;
    s->limits.side = c->side;
    s->slots = c->parallel + c->side;
    s->page_bytes = forward_page_bytes(s->model);
    s->due_us = INT64_MAX;
    identity_print(s->fingerprint, g, s->model);
    identity_words(s->what, g, s->model, c->spool_dir != NULL);
    st = alloc_all(s, pages, e);
    if (!st && c->spool_dir)
        st = open_spool(s, c, e);
    if (st)
        return st;
    s->live.kv_page = KV_PAGE;
    s->live.kv_pages = (size_t)pages;
    s->live.bytes_weights = s->kern->bytes[KERN_WEIGHTS];
    s->live.bytes_kv = s->kern->bytes[KERN_KV];
    s->live.bytes_workspace = s->kern->bytes[KERN_WORKSPACE];
    s->state = s->live;
    if (c->memory)
        memory_open(s, c->memory);
    return ST_OK;
}

enum st engine_open(struct gen **out, const struct gguf *g,
                    const struct engine_config *c, struct err *e)
{
    struct sched *s = mem_new(struct sched);
    enum st st;

    *out = NULL;
    s->gen.ops = &engine_ops;
    s->inbox_tail = &s->inbox;
    pthread_mutex_init(&s->mu, NULL);
    cond_init_monotonic(&s->cond);
    st = open_all(s, g, c, e);
    if (!st)
        st = thread_start(&s->thread, "engine", sched_run, s, e);
    if (st) {
        engine_free(&s->gen);
        return st;
    }
    s->started = true;
    *out = &s->gen;
    return ST_OK;
}
