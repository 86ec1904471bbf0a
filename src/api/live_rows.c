/*
 * One request as JSON: the keys of contract 1.1 (tandem.md 1.1). What this
 * server has no figure for is null, so that a page finds every key.
 */
#include "api/live_view.h"

int64_t view_ms(int64_t us)
{
    return us > 0 ? us / 1000 : 0;
}

void view_int(struct jw *w, const char *key, int64_t v)
{
    if (v >= 0)
        jw_kint(w, key, v);
    else
        jw_knull(w, key);
}

void view_str(struct jw *w, const char *key, const char *s)
{
    if (s && *s)
        jw_kstr(w, key, s);
    else
        jw_knull(w, key);
}

static void rate_or_null(struct jw *w, const char *key, double n, double ms_of)
{
    if (n > 0 && ms_of > 0)
        jw_knum(w, key, n * 1000 / ms_of, 2);
    else
        jw_knull(w, key);
}

static void nulls(struct jw *w, const char *const *keys)
{
    for (; *keys; keys++)
        jw_knull(w, *keys);
}

/* --- activity ------------------------------------------------------------ */

static double rate_now(const struct live_row *r, const struct live_rate *of,
                       int64_t now_us)
{
    return r->ended_us ? 0 : live_rate_of(of, now_us);
}

/* How long it may wait, as far as it is known when it comes. */
static int64_t timeout_ms(const struct live_row *r, const struct api_config *c)
{
    int64_t all = c->request_timeout_ms, queue = c->queue_timeout_ms;

    if (r->stream || queue <= 0)
        return all;
    return all > 0 && all < queue ? all : queue;
}

static void queue(struct jw *w, const struct live_row *r, int64_t now_us,
                  int64_t timeout_ms)
{
    jw_key(w, "queue");
    if (r->state != LIVE_QUEUED) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_kint(w, "place", r->place < 0 ? 1 : r->place + 1);
    jw_kint(w, "wait_ms", view_ms(now_us - r->arrived_us));
    view_int(w, "timeout_s", timeout_ms > 0 ? timeout_ms / 1000 : -1);
    jw_kbool(w, "place_is_estimate", true); /* owners take turns */
    jw_obj_end(w);
}

static void prefill(struct jw *w, const struct live_row *r, int64_t now_us)
{
    int64_t until = r->first_us ? r->first_us
                                : (r->ended_us ? r->ended_us : now_us);
    double now = rate_now(r, &r->prefill_rate, now_us);
    int32_t left = r->prefill_total - r->prefill_done;

    jw_key(w, "prefill");
    if (!r->started_us) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_kint(w, "done", r->prefill_done);
    jw_kint(w, "total", r->prefill_total);
    view_int(w, "cached",
             r->cached_tokens >= 0 ? r->cached_tokens : r->prefill_from);
    jw_kint(w, "pct",
            r->prefill_total > 0
                ? (int64_t)r->prefill_done * 100 / r->prefill_total
                : 0);
    jw_knum(w, "tps_now", now, 2);
    rate_or_null(w, "tps_avg", r->prefill_done - r->prefill_from,
                 (double)view_ms(until - r->started_us));
    if (r->state == LIVE_PREFILLING && now > 0)
        jw_kint(w, "eta_ms", (int64_t)((double)left * 1000 / now));
    else
        jw_knull(w, "eta_ms");
    jw_kstr(w, "progress", "chunked");
    view_int(w, "at_ms",
                r->prefill_us ? view_ms(r->prefill_us - r->arrived_us) : -1);
    jw_obj_end(w);
}

/* Decoding so far, in milliseconds. */
static int64_t decode_ms(const struct live_row *r, int64_t now_us)
{
    if (r->decode_ms >= 0)
        return r->decode_ms;
    if (!r->first_us)
        return -1;
    return view_ms((r->ended_us ? r->ended_us : now_us) - r->first_us);
}

static int64_t blocks(const struct live_row *r)
{
    return r->tokens > 1 ? r->tokens - 1 : 0;
}

static void decode(struct jw *w, const struct live_row *r, int64_t now_us)
{
    double now = rate_now(r, &r->token_rate, now_us);
    int64_t took = decode_ms(r, now_us), n = blocks(r);

    jw_key(w, "decode");
    if (!r->tokens) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_kint(w, "tokens", r->tokens);
    jw_kint(w, "thinking_tokens", r->thinking_tokens);
    jw_kint(w, "content_tokens",
            r->tokens - r->thinking_tokens - r->tool_tokens);
    jw_kint(w, "tool_tokens", r->tool_tokens);
    jw_knum(w, "tps_now", now, 2);
    rate_or_null(w, "tps_avg", (double)n, (double)took);
    jw_kint(w, "rounds", n); /* one token each: nothing is drafted */
    jw_knum(w, "tokens_per_round", n ? 1 : 0, 2);
    jw_knum(w, "tokens_per_round_now", now > 0 ? 1 : 0, 2);
    if (n)
        jw_knum(w, "ms_per_round", (double)took / (double)n, 2);
    else
        jw_knull(w, "ms_per_round");
    if (now > 0)
        jw_knum(w, "ms_per_round_now", 1000 / now, 2);
    else
        jw_knull(w, "ms_per_round_now");
    jw_knull(w, "accept_mean");
    jw_obj_end(w);
}

static void tool(struct jw *w, const struct live_row *r)
{
    jw_key(w, "tool");
    if (r->tool.index < 0) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_kint(w, "index", r->tool.index);
    jw_kstr(w, "name", r->tool.name);
    jw_kint(w, "arg_bytes", r->tool.arg_bytes);
    jw_kint(w, "calls_done", r->tool.calls_done);
    jw_obj_end(w);
}

static void reasoning(struct jw *w, const struct live_row *r)
{
    static const char *const by[] = {
        [THINK_NOT_CLOSED] = NULL,
        [CLOSED_BY_MODEL] = "model",
        [CLOSED_BY_BUDGET] = "budget",
        [CLOSED_BY_STALL] = "stall",
    };

    jw_key(w, "reasoning");
    if (!r->thinking && !r->thinking_tokens) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    view_str(w, "closed_by", by[r->closed]);
    jw_kint(w, "tokens", r->thinking_tokens);
    jw_obj_end(w);
}

static void client_there(struct jw *w, const struct live_row *r,
                         int64_t now_us)
{
    jw_key(w, "client");
    jw_obj(w);
    jw_kbool(w, "connected", !r->gone_us);
    jw_knull(w, "silent_ms");
    view_int(w, "gone_ms", r->gone_us ? view_ms(now_us - r->gone_us) : -1);
    jw_obj_end(w);
}

static void stop(struct jw *w, const struct live_row *r)
{
    char words[LIVE_LABEL];

    jw_key(w, "stop");
    if (!r->ended_us) {
        jw_null(w);
        return;
    }
    live_sentence(words, sizeof(words), r);
    jw_obj(w);
    jw_kstr(w, "reason", r->stop.reason);
    view_str(w, "detail", r->stop.detail);
    jw_kstr(w, "state", live_state_name(r->stop.state));
    jw_kint(w, "tokens_sent", r->tokens);
    jw_knull(w, "silent_ms");
    view_int(w, "client_gone_ms",
                r->gone_us ? view_ms(r->ended_us - r->gone_us) : -1);
    jw_kstr(w, "sentence", words);
    jw_obj_end(w);
}

static int64_t since(const struct live_row *r, int64_t now_us)
{
    return view_ms(now_us - r->steps[(r->n_steps - 1) % LIVE_STEPS].at_us);
}

static void timeline(struct jw *w, const struct live_row *r)
{
    uint32_t kept = r->n_steps < LIVE_STEPS ? r->n_steps : LIVE_STEPS;

    jw_key(w, "timeline");
    jw_arr(w);
    for (uint32_t i = r->n_steps - kept; i != r->n_steps; i++) {
        const struct live_step *s = &r->steps[i % LIVE_STEPS];

        jw_obj(w);
        jw_kint(w, "t_ms", view_ms(s->at_us - r->arrived_us));
        jw_kstr(w, "state", live_state_name(s->state));
        if (s->state == LIVE_DONE && r->stop.detail)
            jw_kstr(w, "detail", r->stop.detail);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void activity(struct jw *w, const struct live_row *r,
                     const struct view *v)
{
    static const char *const unknown[] = {"continues", "step", NULL};
    char label[LIVE_LABEL];
    int64_t now = v->shot->now_us;

    live_label(label, sizeof(label), r, &v->limits, v->shot);
    jw_key(w, "activity");
    jw_obj(w);
    jw_kstr(w, "state", live_state_name(r->state));
    jw_kstr(w, "label", label);
    jw_kint(w, "since_ms", since(r, now));
    view_str(w, "constrained", r->constrained);
    queue(w, r, now, timeout_ms(r, &v->api->c));
    prefill(w, r, now);
    decode(w, r, now);
    tool(w, r);
    reasoning(w, r);
    client_there(w, r, now);
    nulls(w, unknown);
    stop(w, r);
    jw_obj_end(w);
}

/* --- a row --------------------------------------------------------------- */

static const char *phase(const struct live_row *r)
{
    if (r->state == LIVE_QUEUED || r->state == LIVE_DONE)
        return live_state_name(r->state);
    return r->state == LIVE_PREFILLING ? "prefill" : "decode";
}

static void row_times(struct jw *w, const struct live_row *r, int64_t now_us)
{
    int64_t end = r->ended_us ? r->ended_us : now_us;
    int64_t start = r->started_us ? r->started_us : end;
    int64_t first = r->first_us ? r->first_us : end;

    jw_kint(w, "elapsed_ms", view_ms(end - r->arrived_us));
    jw_kint(w, "queue_ms",
            r->queue_ms >= 0 ? r->queue_ms : view_ms(start - r->arrived_us));
    view_int(w, "prompt_ms",
                r->prompt_ms >= 0 || !r->started_us ? r->prompt_ms
                                                    : view_ms(first - start));
    view_int(w, "ttft_ms",
                r->ttft_ms >= 0 || !r->first_us
                    ? r->ttft_ms
                    : view_ms(r->first_us - r->arrived_us));
    view_int(w, "decode_ms", decode_ms(r, now_us));
}

void live_row_write(struct jw *w, const struct live_row *r,
                    const struct view *v)
{
    int64_t now = v->shot->now_us;
    int64_t forwarded =
        r->cached_tokens >= 0 ? r->prompt_tokens - r->cached_tokens : -1;

    jw_obj(w);
    jw_kstr(w, "request_id", r->request_id);
    jw_kstr(w, "phase", phase(r));
    view_str(w, "finish_reason", r->finish);
    view_int(w, "status", r->status ? r->status : -1);
    jw_kstr(w, "model", r->model);
    jw_key(w, "client");
    jw_obj(w);
    jw_kstr(w, "id", r->client_id);
    jw_kstr(w, "kind", r->client_kind);
    jw_obj_end(w);
    jw_kstr(w, "endpoint", r->endpoint);
    jw_kbool(w, "stream", r->stream);
    jw_kbool(w, "thinking", r->thinking);
    jw_knum(w, "temperature", r->temperature, 3);
    view_int(w, "prompt_tokens", r->prompt_tokens ? r->prompt_tokens : -1);
    view_int(w, "cached_tokens", r->cached_tokens);
    view_int(w, "forwarded_tokens", forwarded);
    jw_kint(w, "tokens", r->tokens);
    jw_kint(w, "blocks", blocks(r));
    jw_knum(w, "tokens_per_block", blocks(r) ? 1 : 0, 2);
    row_times(w, r, now);
    rate_or_null(w, "prefill_tps", (double)forwarded, (double)r->prompt_ms);
    rate_or_null(w, "decode_tps", (double)blocks(r),
                 (double)decode_ms(r, now));
    jw_knum(w, "decode_tps_now", rate_now(r, &r->token_rate, now), 2);
    view_str(w, "cache_source", r->cache_source);
    view_int(w, "max_tokens", r->max_tokens);
    view_int(w, "ended_ms_ago", r->ended_us ? view_ms(now - r->ended_us) : -1);
    activity(w, r, v);
    timeline(w, r);
    jw_obj_end(w);
}
