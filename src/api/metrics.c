#include "api/metrics.h"

#include "api/metrics_int.h"

static const double seconds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
                                 600, 1800, 3600, 0};
static const double token_seconds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01,
                                       0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                       0.3, 0.5, 1, 2.5, 0};
static const double rates[] = {0.5, 1, 2, 5, 10, 20, 30, 50, 75, 100, 150,
                               200, 500, 1000, 0};
static const double fast_rates[] = {10, 25, 50, 100, 250, 500, 1000, 2500,
                                    5000, 10000, 50000, 0};
static const double tokens[] = {1, 16, 64, 256, 512, 1024, 2048, 4096, 8192,
                                16384, 32768, 65536, 131072, 262144, 0};

const struct hist_kind hist_kinds[HISTS] = {
    [HIST_TTFT] = {"time_to_first_token_seconds",
                   "From arrival to the first token.", seconds},
    [HIST_PER_TOKEN] = {"time_per_output_token_seconds",
                        "Mean time between two tokens of a request.",
                        token_seconds},
    [HIST_E2E] = {"e2e_request_latency_seconds",
                  "From arrival to the end of the answer.", seconds},
    [HIST_QUEUE] = {"request_queue_seconds",
                    "From arrival to the first prompt row.", seconds},
    [HIST_PREFILL] = {"request_prefill_seconds",
                      "From the first prompt row to the first token.",
                      seconds},
    [HIST_DECODE_RATE] = {"request_decode_tokens_per_second",
                          "Tokens a second of a request, from its first to "
                          "its last token.", rates},
    [HIST_PREFILL_RATE] = {"request_prefill_tokens_per_second",
                           "Computed prompt tokens a second of a request.",
                           fast_rates},
    [HIST_PROMPT] = {"request_prompt_tokens",
                     "Prompt tokens of a request.", tokens},
    [HIST_COMPLETION] = {"request_completion_tokens",
                         "Generated tokens of a request.", tokens},
};

const char *const finish_words[FINISHES] = {
    "stop", "length", "tool_calls", "timeout", "error", "abandoned",
    "slow_client", "refused", "cancelled",
};

/* The last of both is what is in no other. */
const char *const route_words[ROUTES] = {
    "chat", "completions", "responses", "messages", "count_tokens", "models",
    "health", "metrics", "cache", "dashboard", "other",
};
const int code_words[CODES] = {200, 204, 400, 401, 404, 405, 413, 429, 499,
                               500, 503, 0};

struct metrics *metrics_new(void)
{
    struct metrics *m = mem_new(struct metrics);

    pthread_mutex_init(&m->mu, NULL);
    return m;
}

void metrics_free(struct metrics *m)
{
    if (!m)
        return;
    pthread_mutex_destroy(&m->mu);
    free(m);
}

static void observe(struct counts *c, enum hist_id id, double v)
{
    const double *edge = hist_kinds[id].edges;
    struct hist *h = &c->hists[id];
    size_t i = 0;

    while (edge[i] > 0 && v > edge[i])
        i++;
    h->n[i]++;
    h->count++;
    h->sum += v;
}

static void count_finish(struct counts *c, const char *finish)
{
    for (size_t i = 0; i < FINISHES; i++)
        if (!strcmp(finish, finish_words[i]))
            c->finish[i]++;
}

static void count_times(struct counts *c, const struct figures *f)
{
    int64_t forwarded = f->prompt - f->cached, more = f->completion - 1;

    observe(c, HIST_E2E, (double)f->total_cms / 1e5);
    observe(c, HIST_QUEUE, (double)f->queue_cms / 1e5);
    observe(c, HIST_PROMPT, (double)f->prompt);
    if (!f->completion)
        return;
    observe(c, HIST_COMPLETION, (double)f->completion);
    observe(c, HIST_PREFILL, (double)f->prefill_cms / 1e5);
    observe(c, HIST_TTFT, (double)f->ttft_cms / 1e5);
    if (f->prefill_cms > 0 && forwarded > 0)
        observe(c, HIST_PREFILL_RATE,
                (double)forwarded * 1e5 / (double)f->prefill_cms);
    if (f->decode_cms <= 0 || more < 1)
        return;
    observe(c, HIST_PER_TOKEN, (double)f->decode_cms / 1e5 / (double)more);
    observe(c, HIST_DECODE_RATE,
            (double)more * 1e5 / (double)f->decode_cms);
}

void metrics_ended(struct metrics *m, const struct ledger_row *row,
                   const struct figures *f, enum st why)
{
    struct counts *c = &m->c;

    pthread_mutex_lock(&m->mu);
    count_finish(c, row->finish);
    if (!strcmp(row->finish, "error") && why < ST_WORDS)
        c->errors[why ? why : ST_INTERNAL]++;
    c->prompt += (uint64_t)f->prompt;
    c->cached += (uint64_t)f->cached;
    c->completion += (uint64_t)f->completion;
    c->reasoning += (uint64_t)f->reasoning;
    c->rows++;
    count_times(c, f);
    pthread_mutex_unlock(&m->mu);
}

void metrics_refused(struct metrics *m, enum st why)
{
    pthread_mutex_lock(&m->mu);
    count_finish(&m->c, why == ST_CANCELLED ? "abandoned" : "refused");
    if (why != ST_CANCELLED && why < ST_WORDS)
        m->c.refused[why]++;
    m->c.rows++;
    pthread_mutex_unlock(&m->mu);
}

void metrics_answered(struct metrics *m, const char *endpoint, int status)
{
    size_t r = 0, c = 0;

    while (r < ROUTES - 1 && strcmp(endpoint, route_words[r]) != 0)
        r++;
    while (c < CODES - 1 && status != code_words[c])
        c++;
    atomic_fetch_add_explicit(&m->answers[r][c], 1, memory_order_relaxed);
}
