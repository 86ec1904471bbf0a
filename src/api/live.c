#include "api/live.h"

#include "api/figures.h"
#include "api/run.h"
#include "base/thread.h"
#include "base/utf8.h"

#define SECOND_US 1000000
#define RATE_STEP_US 125000 /* LIVE_RATE of them: two seconds */
#define RATE_OVER_US 2000000

struct live *live_new(void)
{
    struct live *l = mem_new(struct live);

    pthread_mutex_init(&l->mu, NULL);
    pthread_mutex_init(&l->tick_mu, NULL);
    buf_init(&l->tick, BUF_EVENT);
    l->changed_us = mono_us();
    l->second = l->changed_us / SECOND_US;
    l->seq = 1;
    return l;
}

void live_free(struct live *l)
{
    if (!l)
        return;
    BUG_ON(l->rows != NULL);
    buf_release(&l->tick);
    pthread_mutex_destroy(&l->tick_mu);
    pthread_mutex_destroy(&l->mu);
    free(l);
}

/* --- rates --------------------------------------------------------------- */

void live_rate_add(struct live_rate *r, int64_t now_us, int64_t count)
{
    uint32_t last = (r->n + LIVE_RATE - 1) % LIVE_RATE;

    if (r->n && now_us - r->at_us[last] < RATE_STEP_US) {
        r->count[last] = count;
        return;
    }
    r->at_us[r->n % LIVE_RATE] = now_us;
    r->count[r->n % LIVE_RATE] = count;
    r->n++;
}

double live_rate_of(const struct live_rate *r, int64_t now_us)
{
    uint32_t kept = r->n < LIVE_RATE ? r->n : LIVE_RATE;
    uint32_t last = (r->n + LIVE_RATE - 1) % LIVE_RATE;

    for (uint32_t k = kept; k-- > 1;) {
        uint32_t i = (r->n - 1 - k) % LIVE_RATE;
        int64_t over = now_us - r->at_us[i];

        if (over > 0 && over <= RATE_OVER_US)
            return (double)(r->count[last] - r->count[i]) * SECOND_US /
                   (double)over;
    }
    return 0;
}

/* --- the table ----------------------------------------------------------- */

const char *live_state_name(enum live_state s)
{
    static const char *const names[LIVE_STATES] = {
        "queued", "prefilling", "thinking", "writing", "tool_call",
        "finishing", "done",
    };

    return names[s];
}

static int32_t in_flight(const struct live *l)
{
    int32_t n = 0;

    for (int s = 0; s < LIVE_DONE; s++)
        n += l->in_state[s];
    return n;
}

/* Close the seconds that have passed: those without any event too, which
 * nobody was awake for. */
static void pass_time_locked(struct live *l, int64_t now_us)
{
    int64_t second = now_us / SECOND_US;

    if (second - l->second > LIVE_SECONDS + 1)
        l->second = second - LIVE_SECONDS - 1;
    for (; l->second < second; l->second++) {
        struct live_second *s = &l->history[l->n_seconds++ % LIVE_SECONDS];

        *s = l->now;
        s->waiting = l->in_state[LIVE_QUEUED];
        s->running = in_flight(l) - s->waiting;
        l->now = (struct live_second){0};
        l->completed[(l->second + 1) % 60] = 0;
    }
}

static void set_state_locked(struct live *l, struct live_row *r,
                             enum live_state s, int64_t now_us)
{
    if (r->n_steps && r->state == s)
        return;
    if (r->n_steps)
        l->in_state[r->state]--;
    if (s != LIVE_DONE)
        l->in_state[s]++;
    r->state = s;
    r->steps[r->n_steps++ % LIVE_STEPS] = (struct live_step){now_us, s};
}

/* What the job's ring says; also for rows that nobody pumps meanwhile. */
static void look_locked(struct live *l, struct live_row *r, int64_t now_us)
{
    struct ring_view v;
    int32_t rows;

    ring_look(r->job->ring, &v);
    r->place = v.queue_position;
    r->starts_us =
        v.queue_eta_us >= 0 ? v.queue_told_us + v.queue_eta_us : 0;
    if (v.started && !r->started_us) {
        r->started_us = now_us;
        r->prefill_from = r->prefill_done = v.prefill_from;
        live_rate_add(&r->prefill_rate, now_us, v.prefill_from);
        if (r->state == LIVE_QUEUED)
            set_state_locked(l, r, LIVE_PREFILLING, now_us);
    }
    rows = v.prefill_done - r->prefill_done;
    r->prefill_total = v.prefill_total;
    if (rows <= 0)
        return;
    r->prefill_done = v.prefill_done;
    r->prefill_us = l->prefill_us = now_us;
    l->prefilled += rows;
    l->now.prefilled += rows;
    live_rate_add(&r->prefill_rate, now_us, r->prefill_done);
    live_rate_add(&l->prefill_rate, now_us, l->prefilled);
}

void live_begin(struct exchange *x)
{
    struct live *l = x->api->live;
    const struct run *run = run_of(x);
    const struct ledger_row *from = &run->row;
    struct live_row *r = mem_new(struct live_row);
    int64_t now = mono_us();

    r->job = run->choices[0].job;
    memcpy(r->request_id, from->request_id, sizeof(r->request_id));
    memcpy(r->client_id, from->client_id, sizeof(r->client_id));
    memcpy(r->client_kind, from->client_kind, sizeof(r->client_kind));
    memcpy(r->endpoint, from->endpoint, sizeof(r->endpoint));
    r->model = run->model->id;
    r->constrained = run->constrained;
    r->stream = run->stream;
    r->thinking = from->thinking;
    r->temperature = (double)r->job->sampling.temperature;
    r->arrived_us = x->req.arrived_us;
    r->prompt_tokens = run->prompt_tokens;
    r->max_tokens = from->max_tokens;
    r->tool.index = -1;
    r->cached_tokens = r->queue_ms = r->prompt_ms = r->ttft_ms =
        r->decode_ms = r->total_ms = -1;
    pthread_mutex_lock(&l->mu);
    pass_time_locked(l, now);
    if (!l->rows)
        l->changed_us = now;
    r->prev = l->last;
    *(l->last ? &l->last->next : &l->rows) = r;
    l->last = r;
    set_state_locked(l, r, LIVE_QUEUED, r->arrived_us);
    look_locked(l, r, now);
    pthread_mutex_unlock(&l->mu);
    run_of(x)->live = r;
}

/* --- while it runs ------------------------------------------------------- */

/* What the replies of a run say together. */
struct sum {
    int64_t tokens, thinking;
    enum live_state state; /* of the first choice that is not over; DONE:
                            * there is none */
    struct live_tool tool; /* of the same */
};

static enum live_state state_of(const struct choice *c)
{
    const struct calls *calls = choice_calls(c);

    if (c->over)
        return LIVE_DONE;
    if (reply_stopped(c->reply))
        return LIVE_FINISHING;
    if (calls && calls->n && !calls->p[calls->n - 1]->whole &&
        !calls->p[calls->n - 1]->withdrawn)
        return LIVE_TOOL_CALL;
    if (reply_part(c->reply) == REPLY_REASONING)
        return LIVE_THINKING;
    return LIVE_WRITING;
}

static void read_calls(struct live_tool *t, const struct calls *calls)
{
    const struct tool_call *call;
    size_t n;

    t->index = -1;
    if (!calls || !calls->n)
        return;
    call = calls->p[calls->n - 1];
    t->index = (int32_t)calls->n - 1;
    t->calls_done = t->index + (call->whole ? 1 : 0);
    t->arg_bytes = (int64_t)call->args.n;
    n = strnlen(call->name, LIVE_NAME);
    n = utf8_complete_len(call->name, n);
    memcpy(t->name, call->name, n);
    t->name[n] = '\0';
}

static void sum_up(struct sum *s, const struct run *run)
{
    bool found = false;

    memset(s, 0, sizeof(*s));
    s->state = LIVE_DONE;
    s->tool.index = -1;
    for (size_t i = 0; i < run->n_choices; i++) {
        const struct choice *c = &run->choices[i];
        int64_t thought;

        s->tokens += c->fed;
        if (!c->reply)
            continue;
        thought = reply_reasoning_tokens(c->reply);
        s->thinking += thought < c->fed ? thought : c->fed;
        if (found)
            continue;
        s->state = state_of(c);
        read_calls(&s->tool, choice_calls(c));
        found = !c->over;
    }
}

static void update_locked(struct live *l, struct live_row *r,
                          const struct sum *s, int64_t now_us)
{
    int64_t more = s->tokens - r->tokens;
    int64_t thought = s->thinking - r->thinking_tokens;

    look_locked(l, r, now_us);
    if (!s->tokens)
        return;
    if (!r->first_us)
        r->first_us = now_us;
    /* tokens that come while a call is open, or that end it, are its own */
    if (s->state == LIVE_TOOL_CALL || s->tool.arg_bytes != r->tool.arg_bytes)
        r->tool_tokens += more - thought;
    r->tokens = s->tokens;
    r->thinking_tokens = s->thinking;
    r->tool = s->tool;
    if (more > 0) {
        l->tokens += more;
        l->now.tokens += more;
        live_rate_add(&r->token_rate, now_us, r->tokens);
        live_rate_add(&l->tokens_rate, now_us, l->tokens);
    }
    if (s->state != LIVE_DONE)
        set_state_locked(l, r, s->state, now_us);
}

void live_update(struct exchange *x, int64_t now_us)
{
    struct live *l = x->api->live;
    const struct run *run = run_of(x);
    struct live_row *r = run->live;
    struct sum s;

    if (!r)
        return;
    sum_up(&s, run);
    pthread_mutex_lock(&l->mu);
    pass_time_locked(l, now_us);
    update_locked(l, r, &s, now_us);
    if (atomic_load(&x->gone) && !r->gone_us)
        r->gone_us = now_us;
    pthread_mutex_unlock(&l->mu);
}

/* --- its end ------------------------------------------------------------- */

static bool any_stopped(const struct run *run)
{
    for (size_t i = 0; i < run->n_choices; i++)
        if (run->choices[i].reply && reply_stopped(run->choices[i].reply))
            return true;
    return false;
}

static bool any_looped(const struct run *run)
{
    for (size_t i = 0; i < run->n_choices; i++)
        if (choice_looped(&run->choices[i]))
            return true;
    return false;
}

static void why_left(struct live_stop *stop, const struct live_row *r)
{
    stop->reason = "abandoned";
    if (!r->started_us)
        stop->detail = "left_while_queued";
    else
        stop->detail = r->first_us ? "write_failed" : "left_during_prefill";
}

static void why(struct live_stop *stop, const struct live_row *r,
                const struct run *run)
{
    static const char *const reasons[] = {
        "stop", "length", "tool_calls", "timeout", "cancelled",
    };
    struct err e;

    stop->reason = "error";
    if (!strcmp(r->finish, "abandoned") || !strcmp(r->finish, "slow_client")) {
        why_left(stop, r);
        return;
    }
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (!strcmp(r->finish, reasons[i]))
            stop->reason = reasons[i];
    if (!strcmp(stop->reason, "error") && run_error(run, &e)) {
        stop->detail = st_name(e.st);
        if (e.st == ST_DRAINING) {
            stop->reason = "cancelled";
            stop->detail = "shutting_down";
        }
    } else if (!strcmp(stop->reason, "timeout") && !r->started_us) {
        stop->detail = "queue_timeout";
    } else if (any_looped(run)) {
        stop->detail = "pattern_guard";
    } else if (!strcmp(stop->reason, "stop")) {
        stop->detail = any_stopped(run) ? "stop_string" : "eos";
    } else if (!strcmp(stop->reason, "tool_calls")) {
        stop->detail = "eos";
    }
}

static void count_locked(struct live *l, const char *finish, int64_t now_us)
{
    struct live_totals *t = &l->totals;

    if (!strcmp(finish, "refused"))
        t->refused++;
    else if (!strcmp(finish, "error"))
        t->errors++;
    else if (!strcmp(finish, "timeout"))
        t->timeouts++;
    else if (!strcmp(finish, "abandoned") || !strcmp(finish, "slow_client") ||
             !strcmp(finish, "cancelled"))
        t->abandoned++;
    else
        t->served++;
    l->completed[now_us / SECOND_US % 60]++;
}

static void remember_locked(struct live *l, struct live_row *r,
                            int64_t now_us)
{
    r->job = NULL;
    r->prev = r->next = NULL;
    r->ended_us = now_us;
    l->recent[l->n_recent++ % LIVE_RECENT] = *r;
}

static void finish_row(struct live_row *r, const struct run *run)
{
    const struct ledger_row *from = &run->row;

    memcpy(r->finish, from->finish, sizeof(r->finish));
    memcpy(r->cache_source, from->cache_source, sizeof(r->cache_source));
    r->status = from->status;
    r->cached_tokens = from->cached_tokens;
    r->queue_ms = from->queue_ms;
    r->prompt_ms = from->prompt_ms;
    r->ttft_ms = from->ttft_ms;
    r->decode_ms = from->decode_ms;
    r->total_ms = from->total_ms;
    if (from->completion_tokens >= 0) {
        r->tokens = from->completion_tokens;
        r->thinking_tokens = from->reasoning_tokens;
    }
    if (r->tool_tokens > r->tokens - r->thinking_tokens)
        r->tool_tokens = r->tokens - r->thinking_tokens;
    if (run->n_choices)
        r->closed = run->choices[0].view.end.note.closed;
    r->stop.state = r->state;
    why(&r->stop, r, run);
}

void live_leave(struct exchange *x, int64_t now_us)
{
    struct live *l = x->api->live;
    struct run *run = run_of(x);
    struct live_row *r = run->live;

    if (!r)
        return;
    live_update(x, now_us);
    run->live = NULL;
    pthread_mutex_lock(&l->mu);
    finish_row(r, run);
    set_state_locked(l, r, LIVE_DONE, now_us);
    *(r->prev ? &r->prev->next : &l->rows) = r->next;
    *(r->next ? &r->next->prev : &l->last) = r->prev;
    if (!l->rows)
        l->changed_us = now_us;
    count_locked(l, r->finish, now_us);
    remember_locked(l, r, now_us);
    pthread_mutex_unlock(&l->mu);
    free(r);
}

static void why_refused(struct live_stop *stop, enum st why, int status)
{
    bool theirs = status < 500 && why != ST_RATE;

    stop->state = LIVE_QUEUED;
    stop->reason = theirs ? "rejected" : "refused";
    stop->detail = theirs ? "bad_request" : st_name(why);
    if (why == ST_CONTEXT)
        stop->detail = "prompt_too_long";
    else if (why == ST_BUSY)
        stop->detail = "queue_full";
    else if (why == ST_DRAINING)
        stop->detail = "shutting_down";
    if (why == ST_CANCELLED)
        *stop = (struct live_stop){"abandoned", "left_while_queued",
                                   LIVE_QUEUED};
}

void live_refused(struct exchange *x, enum st why, int64_t now_us)
{
    struct live *l = x->api->live;
    const struct run *run = run_of(x);
    struct live_row *r;

    if (!run->route || !run->route->counted)
        return;
    r = mem_new(struct live_row);
    memcpy(r->request_id, run->row.request_id, sizeof(r->request_id));
    memcpy(r->client_id, run->row.client_id, sizeof(r->client_id));
    memcpy(r->client_kind, run->row.client_kind, sizeof(r->client_kind));
    memcpy(r->endpoint, run->row.endpoint, sizeof(r->endpoint));
    r->model = run->model ? run->model->id : "";
    r->constrained = run->constrained;
    r->stream = run->stream;
    r->thinking = run->row.thinking;
    r->arrived_us = x->req.arrived_us;
    r->prompt_tokens = run->prompt_tokens;
    r->max_tokens = run->row.max_tokens;
    r->place = -1;
    r->tool.index = -1;
    pthread_mutex_lock(&l->mu);
    pass_time_locked(l, now_us);
    finish_row(r, run);
    why_refused(&r->stop, why, r->status);
    r->state = LIVE_DONE;
    r->steps[r->n_steps++] = (struct live_step){now_us, LIVE_DONE};
    count_locked(l, r->finish, now_us);
    /* strangers do not push out what the owner wants to see */
    if (why != ST_AUTH)
        remember_locked(l, r, now_us);
    pthread_mutex_unlock(&l->mu);
    free(r);
}

/* --- looks --------------------------------------------------------------- */

static void copy_rows_locked(struct shot *s, struct live *l)
{
    for (int pass = 0; pass < 2; pass++)
        for (struct live_row *r = l->rows; r; r = r->next) {
            if ((r->state == LIVE_QUEUED) != (pass == 1))
                continue;
            if (s->n_rows == LIVE_ROWS_MAX)
                return;
            s->rows[s->n_rows++] = *r;
        }
}

static void copy_locked(struct shot *s, struct live *l)
{
    uint32_t kept = l->n_recent < LIVE_RECENT ? l->n_recent : LIVE_RECENT;

    for (uint32_t i = 0; i < kept; i++) {
        const struct live_row *r =
            &l->recent[(l->n_recent - 1 - i) % LIVE_RECENT];

        if (s->now_us - r->ended_us <= LIVE_RECENT_US)
            s->recent[s->n_recent++] = *r;
    }
    s->in_flight = in_flight(l);
    s->queued = l->in_state[LIVE_QUEUED];
    s->prefilling = l->in_state[LIVE_PREFILLING];
    s->decoding = s->in_flight - s->queued - s->prefilling;
    s->totals = l->totals;
    for (int i = 0; i < 60; i++)
        s->completed_1m += l->completed[i];
    s->decode_tps = live_rate_of(&l->tokens_rate, s->now_us);
    s->prefill_tps = live_rate_of(&l->prefill_rate, s->now_us);
    s->prefill_us = l->prefill_us;
    s->changed_us = l->changed_us;
    s->second = l->second - 1;
    s->n_seconds = l->n_seconds < LIVE_SECONDS ? l->n_seconds : LIVE_SECONDS;
    for (size_t i = 0; i < s->n_seconds; i++)
        s->history[i] = l->history[(l->n_seconds - s->n_seconds + i) %
                                   LIVE_SECONDS];
}

struct shot *live_look(struct live *l, int64_t now_us)
{
    struct shot *s = mem_new(struct shot);

    s->rows = mem_array(struct live_row, LIVE_ROWS_MAX);
    s->now_us = now_us;
    pthread_mutex_lock(&l->mu);
    pass_time_locked(l, now_us);
    for (struct live_row *r = l->rows; r; r = r->next)
        look_locked(l, r, now_us);
    copy_rows_locked(s, l);
    copy_locked(s, l);
    pthread_mutex_unlock(&l->mu);
    return s;
}

void live_shot_free(struct shot *s)
{
    free(s->rows);
    free(s);
}

void live_totals_of(struct live *l, struct live_totals *out)
{
    pthread_mutex_lock(&l->mu);
    *out = l->totals;
    pthread_mutex_unlock(&l->mu);
}
