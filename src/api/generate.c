/* From a body to jobs: one flow for every dialect (api/wire.h). */
#include "api/wire.h"

#include "api/answer.h"
#include "api/guides.h"
#include "api/hold.h"
#include "api/live.h"
#include "api/run.h"
#include "api/side.h"
#include "api/stored.h"
#include "base/crypt.h"
#include "base/thread.h"
#include "chat/format.h"
#include "text/tok.h"

/* False when out of memory. */
static bool make_logprobs(const struct run *r, struct choice *c,
                          const struct body *b)
{
    const struct logprobs_config config = {
        .tok = r->model->tok,
        .shape = r->emit->logprobs,
        .top = b->top_logprobs,
        .reasoning = reason_in_content(&c->reason),
        .whole = !b->stream,
        .max_tokens = (size_t)c->job->max_tokens,
    };

    if (!b->logprobs)
        return true;
    c->logprobs = logprobs_new(&config);
    return c->logprobs != NULL;
}

/* What the choices of a request share. */
struct plan {
    const struct body *body;
    const struct prompt_ids *prompts;
    struct guides guides;
    enum reason_form form;
    bool blank_line; /* see struct reason */
    uint64_t seed;
};

/* Keys take turns in the queue, and clients without one: by FNV-1a of what
 * the ledger calls them, with a bit that no key's number has. */
static uint64_t owner_of(const struct ledger_row *row)
{
    uint64_t h = 0xcbf29ce484222325u;

    if (row->key_id)
        return (uint64_t)row->key_id;
    for (const char *p = row->client_id; *p; p++)
        h = (h ^ (unsigned char)*p) * 0x100000001b3u;
    return h | (uint64_t)1 << 63;
}

/* Who waits how. A request has its turn when its first job has. */
static void set_turn(struct job *job, const struct exchange *x,
                     const struct body *b, size_t i)
{
    const struct run *r = run_of(x);
    const struct api_config *c = &x->api->c;

    job->owner = owner_of(&r->row);
    job->thinking = r->row.thinking;
    job->side = side_is(b, r->row.thinking, job->n_ids, job->max_tokens);
    if (!b->stream && i == 0 && c->queue_timeout_ms > 0)
        job->start_by_us = x->req.arrived_us + c->queue_timeout_ms * 1000;
    if (c->request_timeout_ms > 0)
        job->deadline_us = x->req.arrived_us + c->request_timeout_ms * 1000;
}

static enum st make_job(struct exchange *x, struct choice *c, size_t i,
                        const struct plan *plan, struct err *e)
{
    const struct run *r = run_of(x);
    const struct api_config *config = &x->api->c;
    const struct body *b = plan->body;
    const struct ids *ids = &plan->prompts->of[i / (size_t)b->n];
    int32_t room = plan->prompts->context - (int32_t)ids->n;
    int32_t wanted = b->max_tokens ? b->max_tokens
                                   : config->default_max_tokens;
    struct job *job = job_new(ids->p, ids->n, r->model->stop_ids,
                              r->model->n_stop, wanted < room ? wanted : room,
                              b->logprobs ? logprobs_of_job(b->top_logprobs)
                                          : 0);
    enum st st;

    c->job = job;
    c->prompt_i = (int32_t)(i / (size_t)b->n);
    reason_init(&c->reason, plan->form, r->row.thinking, plan->blank_line);
    if (!job || !make_logprobs(r, c, b))
        return err_set(e, ST_NOMEM, "", "no memory for this request");
    job->sampling = b->sampling;
    job->sampling.seed = plan->seed;
    job->choice = (int32_t)(i % (size_t)b->n);
    c->named = b->chat.tool_choice == TOOLS_NAMED;
    c->cramped = room < wanted;
    set_turn(job, x, b, i);
    ring_on_wake(job->ring, x->wake, x->wake_arg);
    st = job_set_bias(job, b->bias, b->n_bias, e);
    return st ? st : guides_make(&plan->guides, &job->guide, ids,
                                 job->max_tokens, e);
}

/* n jobs for every prompt: choices in prompt order. */
static enum st make_jobs(struct exchange *x, const struct body *b,
                         const struct prompt_ids *p, struct err *e)
{
    struct run *r = run_of(x);
    struct plan plan = {
        .body = b,
        .prompts = p,
        .form = REASON_FIELD,
        .seed = b->sampling.seed,
    };
    enum st st = guides_open(&plan.guides, r, &x->api->c,
                             &x->api->kept, b, e);

    if (!r->emit->ordered) { /* the others have a place for reasoning */
        plan.form = reason_form_of(b, &x->api->reasoning, r->row.client_kind);
        plan.blank_line = b->stream &&
                          !strcmp(r->row.client_kind, "open-webui");
    }
    if (!b->seed_given)
        crypt_random(&plan.seed, sizeof(plan.seed));
    r->n_choices = p->n * (size_t)b->n;
    r->choices = mem_array(struct choice, r->n_choices);
    for (size_t i = 0; i < r->n_choices; i++) {
        buf_init(&r->choices[i].reasoning, BUF_ANSWER);
        buf_init(&r->choices[i].content, BUF_ANSWER);
    }
    for (size_t i = 0; i < r->n_choices && !st; i++)
        st = make_job(x, &r->choices[i], i, &plan, e);
    if (!st)
        r->row.max_tokens = r->choices[0].job->max_tokens;
    if (plan.guides.shape.g)
        r->grammar_bytes = plan.guides.shape.g->bytes;
    guides_release(&plan.guides);
    return st;
}

/* Copy what a waiting stream needs out of the arena. */
static enum st keep(struct run *r, const struct body *b, bool usage_default,
                    struct err *e)
{
    size_t bytes = b->n_stops * sizeof(*r->stops);
    char *p;

    r->stream = b->stream;
    r->constrained = shape_waits(b, r->format) ? "tools" : shape_field(b);
    r->parallel_calls = b->chat.parallel_calls;
    snprintf(r->skipped, sizeof(r->skipped), "%s", b->skipped);
    if (b->n_offered) {
        r->tools = tools_new(b->offered, b->n_offered);
        if (!r->tools)
            return err_set(e, ST_NOMEM, "", "no memory for this request");
        if (shape_calls(b, r->format))
            tools_forced(r->tools);
    }
    r->usage = usage_default ? USAGE_IN_FINISH : USAGE_NOWHERE;
    if (b->include_usage != USAGE_DEFAULT)
        r->usage = b->include_usage == USAGE_YES ? USAGE_OWN_CHUNK
                                                 : USAGE_NOWHERE;
    for (size_t i = 0; i < b->n_stops; i++)
        if (!mem_add(&bytes, bytes, b->stops[i].n))
            return err_set(e, ST_LIMIT, "stop", "too long");
    if (!b->n_stops)
        return ST_OK;
    r->stops = mem_try(bytes);
    if (!r->stops)
        return err_set(e, ST_NOMEM, "", "no memory for this request");
    r->n_stops = b->n_stops;
    p = (char *)(r->stops + b->n_stops);
    for (size_t i = 0; i < b->n_stops; i++) {
        memcpy(p, b->stops[i].s, b->stops[i].n);
        r->stops[i] = (struct text){p, b->stops[i].n};
        p += b->stops[i].n;
    }
    return ST_OK;
}

/* The rows are open before the first job runs. */
static enum st submit(struct exchange *x, const struct body *b, struct err *e)
{
    struct run *r = run_of(x);
    enum st st = quota_take(x, e);

    if (!st)
        st = stored_open(x, b, e);
    if (st)
        return st;
    st = ledger_admit(x->api->c.ledger, &r->row, &r->ticket, e);
    r->admitted = !st;
    r->submitted_us = mono_us();
    for (size_t i = 0; i < r->n_choices && !st; i++) {
        if (atomic_load(&x->gone))
            st = err_set(e, ST_CANCELLED, "", "the client left");
        else
            st = gen_submit(r->model->gen, r->choices[i].job, e);
    }
    return st;
}

/* A lower layer that refuses a prompt does not know what it was called. */
static enum st name_prompt(enum st st, const char *field, struct err *e)
{
    if ((st == ST_CONTEXT || st == ST_INVALID || st == ST_LIMIT) &&
        !e->where[0])
        snprintf(e->where, sizeof(e->where), "%s", field);
    return st;
}

/* What only the model's vocabulary can tell. */
static enum st check_bias(const struct catalog_model *m, const struct body *b,
                          const struct gen_limits *limits, struct err *e)
{
    int64_t vocab = m->tok ? (int64_t)tok_count(m->tok) : limits->vocab;

    if (!b->n_bias || b->bias[b->n_bias - 1].id < vocab)
        return ST_OK;
    return err_set(e, ST_INVALID, "logit_bias",
                   "token id %d is not in the vocabulary (0 to %lld)",
                   b->bias[b->n_bias - 1].id, (long long)vocab - 1);
}

/* Where the server is told not to enforce what answers look like, nobody may
 * take theirs for enforced. */
static enum st check_shape(struct body *b, const struct api_config *c,
                           struct err *e)
{
    char where[64];

    if (!c->structured_off)
        return ST_OK;
    b->strict_calls = false; /* nobody asked for more than calls that fit */
    if (!shape_field(b))
        return ST_OK;
    if (b->chat.form != FORM_TEXT)
        snprintf(where, sizeof(where), "%s.type",
                 b->form_field ? b->form_field : "response_format");
    else
        snprintf(where, sizeof(where), "%s", shape_field(b));
    return err_set(e, ST_INVALID, where,
                   "this server does not enforce what answers look like "
                   "(structured-outputs is off)");
}

/* More answers than the engine ever takes would be told to come back later
 * for ever. */
static enum st check_answers(const struct body *b,
                             const struct gen_limits *limits, struct err *e)
{
    int64_t prompts = b->n_prompts ? (int64_t)b->n_prompts : 1;
    int64_t room = (int64_t)limits->parallel + limits->max_queue;

    if (prompts * b->n <= room)
        return ST_OK;
    return err_set(e, ST_INVALID, b->n > 1 ? "n" : "prompt",
                   "this server takes at most %lld answers at a time",
                   (long long)room);
}

enum st wire_prompt(struct exchange *x, const struct wire *wire,
                    struct body *b, struct prompt_ids *p, struct err *e)
{
    struct run *r = run_of(x);
    struct gen_limits limits;
    enum st st;

    r->model = catalog_find(x->api->c.catalog, b->model.s, b->model.n);
    if (!r->model)
        return err_set(e, ST_NO_MODEL, "model",
                       "no such model is served here; GET /v1/models lists "
                       "those that are");
    snprintf(r->row.model, sizeof(r->row.model), "%s", r->model->id);
    b->chat.think = wire->thinks
                        ? prompts_think(r->model, b,
                                        x->api->c.think_default)
                        : THINK_OFF;
    r->row.thinking = b->chat.think == THINK_ON;
    r->model->gen->ops->limits(r->model->gen, &limits);
    p->context = limits.context;
    st = check_answers(b, &limits, e);
    if (!st)
        st = check_bias(r->model, b, &limits, e);
    if (!st)
        st = check_shape(b, &x->api->c, e);
    if (st)
        return st;
    st = wire->build(p, r->model, b, &x->arena, e);
    return st ? name_prompt(st, wire->field, e) : ST_OK;
}

/* Steps 4 to 8 of a request: nothing is on the wire yet. */
static enum st admit(struct exchange *x, const struct wire *wire,
                     struct prompt_ids *p, struct err *e)
{
    struct run *r = run_of(x);
    struct body b;
    enum st st;

    st = wire->parse(x, &b, e);
    if (st)
        return st;
    r->row.stream = b.stream;
    r->created_s = x->req.arrived_epoch_ms / 1000;
    r->emit = wire->emit;
    st = wire_prompt(x, wire, &b, p, e);
    if (st)
        return st;
    r->format = p->format;
    r->think_open = p->think_open;
    for (size_t i = 0; i < p->n; i++)
        r->prompt_tokens += (int64_t)p->of[i].n;
    st = make_jobs(x, &b, p, e);
    if (!st)
        st = keep(r, &b, x->api->c.usage_default, e);
    if (!st && wire->keep)
        st = wire->keep(x, &b, e);
    if (!st)
        st = hold_jobs(x, e);
    if (!st)
        st = name_prompt(submit(x, &b, e), wire->field, e);
    return st;
}

/* From here on the writer pumps. Parsed trees and prompts are not needed any
 * more: a waiting stream keeps none of them. */
static void begin(struct exchange *x)
{
    struct run *r = run_of(x);
    struct http_req *req = &x->req;
    size_t max = x->arena.max;

    r->phase = RUN_GENERATING;
    if (r->stream && x->api->c.wait_line_ms > 0)
        r->line_us = r->submitted_us + x->api->c.wait_line_ms * 1000;
    atomic_fetch_add(&x->api->open, 1);
    live_begin(x);
    req->method = req->path = req->query = req->content_type =
        req->authorization = req->api_key = req->anthropic_version =
            req->user_agent = req->referer = req->client = req->origin =
                req->cors_headers = (struct span){0};
    req->body = (struct text){0};
    arena_release(&x->arena);
    arena_init(&x->arena, max);
    x->streaming = true;
}

void generate(struct exchange *x, const struct wire *wire)
{
    struct prompt_ids p = {0};
    struct err e = {0};
    enum st st = admit(x, wire, &p, &e);

    prompts_release(&p);
    if (!st) {
        begin(x);
        return;
    }
    run_drop_choices(run_of(x));
    run_refuse(x, &e);
}

/* Also that of a prompt without room behind it, where it was read to its
 * end. */
static enum st count(struct exchange *x, const struct wire *wire, size_t *n,
                     struct err *e)
{
    struct prompt_ids p = {0};
    struct body b;
    enum st st = wire->parse(x, &b, e);

    if (st)
        return st;
    st = wire_prompt(x, wire, &b, &p, e);
    if (st == ST_CONTEXT && p.n && !p.of[p.n - 1].failed)
        st = ST_OK;
    if (!st)
        *n = p.of[p.n - 1].n;
    if (b.skipped[0])
        snprintf(run_of(x)->skipped, sizeof(b.skipped), "%s", b.skipped);
    prompts_release(&p);
    return st;
}

void count_prompt(struct exchange *x, const struct wire *wire,
                  const char *object)
{
    struct err e = {0};
    size_t n = 0;
    struct jw *w;

    if (count(x, wire, &n, &e)) {
        run_refuse(x, &e);
        return;
    }
    w = jw_new(&x->body);
    jw_obj(w);
    if (object)
        jw_kstr(w, "object", object);
    jw_kint(w, "input_tokens", (int64_t)n);
    jw_obj_end(w);
    answer_written(x, w, 200);
}
