#include "api/figures.h"

static int64_t cms(int64_t us) /* hundredths of a millisecond */
{
    return us > 0 ? (us + 5) / 10 : 0;
}

static double ms(int64_t v)
{
    return (double)v / 100;
}

/* A rate per second over hundredths of a millisecond; 0 over nothing. */
static double per_second(int64_t n, int64_t over_cms)
{
    return over_cms > 0 ? (double)n * 1e5 / (double)over_cms : 0;
}

static double share(int64_t part_cms, int64_t n)
{
    return n > 0 ? ms(part_cms) / (double)n : 0;
}

/* Tokens of a choice that count: none behind a stop string. */
static int64_t completion_of(const struct choice *c)
{
    int64_t n = c->view.ended ? c->view.end.completion_tokens : c->fed;

    if (c->reply && reply_stopped(c->reply) && reply_kept(c->reply) < n)
        n = reply_kept(c->reply);
    return n;
}

void figures_of(struct figures *f, const struct exchange *x, int64_t now_us)
{
    const struct run *r = run_of(x);
    int64_t before = r->submitted_us - x->req.arrived_us;
    int32_t prompt = -1;

    *f = (struct figures){.prompt = r->prompt_tokens};
    for (size_t i = 0; i < r->n_choices; i++) {
        const struct choice *c = &r->choices[i];
        const struct end_info *end = &c->view.end;
        int64_t n = completion_of(c), thought = 0;

        if (c->reply)
            thought = reply_reasoning_tokens(c->reply);
        f->completion += n;
        f->reasoning += thought < n ? thought : n;
        if (c->prompt_i != prompt) { /* a prompt counts once */
            f->cached += end->cached_tokens;
            f->disk += end->disk_tokens;
        }
        prompt = c->prompt_i;
        if (i == 0) {
            f->queue_cms = cms(before + end->queue_us);
            f->prefill_cms = cms(end->prefill_us);
        }
        if (cms(end->decode_us) > f->decode_cms)
            f->decode_cms = cms(end->decode_us);
    }
    f->ttft_cms = f->queue_cms + f->prefill_cms;
    f->total_cms = cms(now_us - x->req.arrived_us);
}

void figures_usage(struct jw *w, const struct figures *f)
{
    jw_key(w, "usage");
    jw_obj(w);
    jw_kint(w, "prompt_tokens", f->prompt);
    jw_kint(w, "completion_tokens", f->completion);
    jw_kint(w, "total_tokens", f->prompt + f->completion);
    jw_key(w, "prompt_tokens_details");
    jw_obj(w);
    jw_kint(w, "cached_tokens", f->cached);
    jw_obj_end(w);
    jw_key(w, "completion_tokens_details");
    jw_obj(w);
    jw_kint(w, "reasoning_tokens", f->reasoning);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* Steps that decoded: each commits one token until there is speculation. */
static int64_t blocks_of(const struct figures *f)
{
    return f->completion > 1 ? f->completion - 1 : 0;
}

static const char *cache_source(const struct figures *f)
{
    if (f->disk)
        return "disk";
    return f->cached ? "prefix" : "none";
}

static void timings(struct jw *w, const struct figures *f)
{
    int64_t forwarded = f->prompt - f->cached;
    int64_t blocks = blocks_of(f);

    jw_key(w, "timings");
    jw_obj(w);
    jw_kint(w, "cache_n", f->cached);
    jw_kint(w, "prompt_n", forwarded);
    jw_knum(w, "prompt_ms", ms(f->prefill_cms), 2);
    jw_knum(w, "prompt_per_token_ms", share(f->prefill_cms, forwarded), 2);
    jw_knum(w, "prompt_per_second", per_second(forwarded, f->prefill_cms), 2);
    jw_kint(w, "predicted_n", f->completion);
    jw_knum(w, "predicted_ms", ms(f->decode_cms), 2);
    jw_knum(w, "predicted_per_token_ms", share(f->decode_cms, blocks), 2);
    jw_knum(w, "predicted_per_second", per_second(blocks, f->decode_cms), 2);
    jw_kint(w, "draft_n", 0);
    jw_kint(w, "draft_n_accepted", 0);
    jw_knum(w, "ttft_ms", ms(f->ttft_cms), 2);
    jw_knum(w, "queue_ms", ms(f->queue_cms), 2);
    jw_knum(w, "total_ms", ms(f->total_cms), 2);
    jw_kint(w, "blocks", blocks);
    jw_knum(w, "tokens_per_block", blocks ? 1 : 0, 2);
    jw_kint(w, "reasoning_n", f->reasoning);
    jw_kstr(w, "cache_source", cache_source(f));
    jw_obj_end(w);
}

static void metrics(struct jw *w, const struct figures *f)
{
    int64_t blocks = blocks_of(f);

    jw_key(w, "metrics");
    jw_obj(w);
    jw_knum(w, "time_to_first_token_ms", ms(f->ttft_cms), 2);
    jw_knum(w, "generation_time_ms", ms(f->decode_cms), 2);
    jw_knum(w, "queue_time_ms", ms(f->queue_cms), 2);
    jw_knum(w, "mean_itl_ms", share(f->decode_cms, blocks), 2);
    jw_knum(w, "tokens_per_second", per_second(f->completion, f->total_cms),
            2);
    jw_key(w, "speculative_decoding");
    jw_obj(w);
    jw_knum(w, "mean_acceptance_length", blocks ? 1 : 0, 2);
    jw_knum(w, "draft_acceptance_rate", 0, 4);
    jw_obj_end(w);
    jw_obj_end(w);
}

void figures_timings(struct jw *w, const struct figures *f)
{
    timings(w, f);
    metrics(w, f);
}

void figures_row(const struct figures *f, struct ledger_row *row)
{
    row->prompt_tokens = f->prompt;
    row->cached_tokens = f->cached;
    row->completion_tokens = f->completion;
    row->reasoning_tokens = f->reasoning;
    row->queue_ms = f->queue_cms / 100;
    row->prompt_ms = f->prefill_cms / 100;
    row->ttft_ms = f->completion ? f->ttft_cms / 100 : -1;
    row->decode_ms = f->decode_cms / 100;
    row->total_ms = f->total_cms / 100;
    snprintf(row->cache_source, sizeof(row->cache_source), "%s",
             cache_source(f));
}

/* A turn that ended well ended for its calls, when there are any that the
 * model chose to make. */
static const char *well(const struct choice *c)
{
    const struct calls *calls = choice_calls(c);

    return calls && calls->shown && !c->named ? "tool_calls" : "stop";
}

const char *finish_of(const struct choice *c)
{
    /* a stop string that the last token completed beats what ended it */
    if (c->reply && reply_stopped(c->reply))
        return well(c);
    switch (c->view.end.reason) {
    case END_STOP: /* calls of an answer that went in circles are not run */
        return choice_looped(c) ? "stop" : well(c);
    case END_LENGTH:
        return "length";
    case END_QUEUED:
    case END_TIMEOUT:
        return "timeout";
    case END_NONE:
    case END_CANCELLED:
    case END_ERROR:
        break;
    }
    return "error";
}
