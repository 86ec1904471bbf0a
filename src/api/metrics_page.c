/*
 * GET /metrics and /metrics/up: text exposition format 0.0.4.
 */
#include "api/answer.h"
#include "api/box.h"
#include "api/context.h"
#include "api/grammars.h"
#include "api/handlers.h"
#include "api/lexicon.h"
#include "api/metrics_int.h"
#include "api/who.h"
#include "base/thread.h"
#include "db/writer.h"
#include "gen/memory.h"

#include <math.h>

#define PREFIX "penstock_"
#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* --- lines --------------------------------------------------------------- */

static void head(struct buf *b, const char *name, const char *type,
                 const char *help)
{
    buf_printf(b, "# HELP " PREFIX "%s %s\n# TYPE " PREFIX "%s %s\n", name,
               help, name, type);
}

/* A label's value: any UTF-8 but for three characters that are escaped. */
static void label(struct buf *b, const char *name, const char *value)
{
    buf_printf(b, "%s=\"", name);
    for (; *value; value++)
        switch (*value) {
        case '\\':
            buf_puts(b, "\\\\");
            break;
        case '"':
            buf_puts(b, "\\\"");
            break;
        case '\n':
            buf_puts(b, "\\n");
            break;
        default:
            buf_putc(b, *value);
        }
    buf_putc(b, '"');
}

static void count(struct buf *b, const char *name, const char *help,
                  uint64_t v)
{
    head(b, name, "counter", help);
    buf_printf(b, PREFIX "%s %llu\n", name, (unsigned long long)v);
}

static void gauge(struct buf *b, const char *name, const char *help, double v)
{
    head(b, name, "gauge", help);
    buf_printf(b, PREFIX "%s %.15g\n", name, v);
}

/* One line of a family with one label. */
static void one(struct buf *b, const char *name, const char *key,
                const char *value, uint64_t v)
{
    buf_printf(b, PREFIX "%s{", name);
    label(b, key, value);
    buf_printf(b, "} %llu\n", (unsigned long long)v);
}

static void histogram(struct buf *b, const struct hist_kind *k,
                      const struct hist *h)
{
    uint64_t below = 0;

    head(b, k->name, "histogram", k->help);
    for (size_t i = 0; k->edges[i] > 0; i++) {
        below += h->n[i];
        buf_printf(b, PREFIX "%s_bucket{le=\"%.15g\"} %llu\n", k->name,
                   k->edges[i], (unsigned long long)below);
    }
    buf_printf(b, PREFIX "%s_bucket{le=\"+Inf\"} %llu\n", k->name,
               (unsigned long long)h->count);
    buf_printf(b, PREFIX "%s_sum %.15g\n" PREFIX "%s_count %llu\n", k->name,
               h->sum, k->name, (unsigned long long)h->count);
}

/* --- parts --------------------------------------------------------------- */

static void by_cause(struct buf *b, const char *name, const char *key,
                     const char *help, const uint64_t n[ST_WORDS])
{
    head(b, name, "counter", help);
    for (size_t i = 1; i < ST_WORDS; i++)
        if (n[i])
            one(b, name, key, st_name((enum st)i), n[i]);
}

static void requests(struct buf *b, const struct counts *c)
{
    head(b, "requests_total", "counter",
         "Requests for answers that ended, by how.");
    for (size_t i = 0; i < FINISHES; i++)
        one(b, "requests_total", "finish_reason", finish_words[i],
            c->finish[i]);
    count(b, "request_success_total",
          "Requests that ended with stop or length.",
          c->finish[0] + c->finish[1]);
    by_cause(b, "requests_refused_total", "reason",
             "Requests that never ran, by cause.", c->refused);
    by_cause(b, "errors_total", "type",
             "Requests that failed while they ran, by cause.", c->errors);
    count(b, "prompt_tokens_total", "Prompt tokens of ended requests.",
          c->prompt);
    count(b, "prompt_tokens_cached_total",
          "Prompt tokens that a request did not compute itself.", c->cached);
    count(b, "generation_tokens_total",
          "Generated tokens of ended requests.", c->completion);
    count(b, "reasoning_tokens_total",
          "Generated tokens that were reasoning.", c->reasoning);
    count(b, "usage_ledger_rows_total",
          "Ledger rows of requests for answers that ended.", c->rows);
    for (size_t i = 0; i < HISTS; i++)
        histogram(b, &hist_kinds[i], &c->hists[i]);
}

static void answers(struct buf *b, struct metrics *m)
{
    head(b, "http_requests_total", "counter",
         "Answers that are over, by route and HTTP status; 499: the client "
         "left before it had one.");
    for (size_t r = 0; r < ROUTES; r++)
        for (size_t c = 0; c < CODES; c++) {
            uint64_t n = atomic_load_explicit(&m->answers[r][c],
                                              memory_order_relaxed);

            if (!n)
                continue;
            buf_printf(b, PREFIX "http_requests_total{route=\"%s\",code=",
                       route_words[r]);
            if (code_words[c])
                buf_printf(b, "\"%d\"} ", code_words[c]);
            else
                buf_puts(b, "\"other\"} ");
            buf_printf(b, "%llu\n", (unsigned long long)n);
        }
}

static void caches(struct buf *b, const struct gen_state *s,
                   const struct guides_kept *kept)
{
    const struct gen_cache *c = &s->cache;
    double page = s->kv_pages ? (double)s->bytes_kv / (double)s->kv_pages : 0;
    struct grammars_figures g;
    struct lexicons_figures l;

    grammars_figures(kept->grammars, &g);
    lexicons_figures(kept->lexicons, &l);
    head(b, "cache_hits_total", "counter",
         "Requests that found prompt rows (prefix), units that were read "
         "(disk), grammars and masks that were there.");
    buf_printf(b, PREFIX "cache_hits_total{cache=\"prefix\","
                         "kind=\"partial\"} %llu\n",
               (unsigned long long)c->hits);
    buf_printf(b, PREFIX "cache_hits_total{cache=\"disk\",kind=\"unit\"} "
                         "%llu\n",
               (unsigned long long)c->disk_reads);
    buf_printf(b, PREFIX "cache_hits_total{cache=\"grammar\","
                         "kind=\"whole\"} %llu\n",
               (unsigned long long)g.hits);
    buf_printf(b, PREFIX "cache_hits_total{cache=\"mask\",kind=\"whole\"} "
                         "%llu\n",
               (unsigned long long)l.masks.hits);
    head(b, "cache_misses_total", "counter", "The same, of what was not.");
    one(b, "cache_misses_total", "cache", "prefix", c->misses);
    one(b, "cache_misses_total", "cache", "disk", c->disk_misses);
    one(b, "cache_misses_total", "cache", "grammar", g.misses);
    one(b, "cache_misses_total", "cache", "mask", l.masks.misses);
    head(b, "cache_evictions_total", "counter",
         "Nodes of the tree, units on disk that made room.");
    one(b, "cache_evictions_total", "cache", "prefix", c->evicted);
    one(b, "cache_evictions_total", "cache", "disk", c->disk_removed);
    count(b, "disk_failures_total", "Reads and writes of the disk tier that "
                                    "failed.", c->disk_failures);
    count(b, "prefill_tokens_reused_total", "Prompt rows not computed.",
          c->rows_reused);
    count(b, "prefill_tokens_forwarded_total", "Prompt rows computed.",
          c->rows_forwarded);
    head(b, "cache_entries", "gauge", "Nodes, states, units, ...");
    one(b, "cache_entries", "cache", "prefix", c->nodes);
    one(b, "cache_entries", "cache", "state", c->states);
    one(b, "cache_entries", "cache", "disk", c->disk_entries);
    one(b, "cache_entries", "cache", "grammar", g.kept);
    one(b, "cache_entries", "cache", "mask", l.masks.masks);
    head(b, "cache_bytes", "gauge", "Bytes of the same.");
    one(b, "cache_bytes", "cache", "prefix",
        (uint64_t)(page * (double)c->pages));
    one(b, "cache_bytes", "cache", "state", c->state_bytes);
    one(b, "cache_bytes", "cache", "disk", c->disk_bytes);
    one(b, "cache_bytes", "cache", "grammar", g.bytes);
    one(b, "cache_bytes", "cache", "mask", l.masks.bytes);
    one(b, "cache_bytes", "cache", "vocabulary", l.bytes);
}

static void engine(struct buf *b, const struct gen_state *s)
{
    gauge(b, "requests_running", "Sequences that run.", s->running);
    gauge(b, "requests_waiting", "Sequences that wait for their turn.",
          s->waiting);
    count(b, "engine_steps_total", "Steps of the engine.", s->steps);
    count(b, "engine_rows_total", "Rows of all steps.", s->rows);
    count(b, "engine_tokens_total",
          "Generated tokens, as they come; generation_tokens_total counts "
          "ended requests.", s->tokens_out);
    count(b, "sequences_sent_back_total",
          "Sequences that lost their pages to older ones.", s->sent_back);
    gauge(b, "kv_pages", "KV pages there are.", (double)s->kv_pages);
    gauge(b, "kv_pages_used", "KV pages in use.", (double)s->kv_pages_used);
    count(b, "gate_waits_total", "Sequences that waited for memory.",
          s->gate.waits);
    count(b, "gate_refusals_total", "Requests refused for want of memory.",
          s->gate.refusals);
}

static void memory(struct buf *b, const struct memory *m)
{
    if (!m)
        return;
    head(b, "memory_bytes", "gauge", "Bytes held, by class.");
    for (int c = 0; c < MEM_CLASSES; c++)
        one(b, "memory_bytes", "class", mem_class_name((enum mem_class)c),
            atomic_load(&m->bytes[c]));
    gauge(b, "memory_ceiling_bytes", "What may be held between requests.",
          (double)m->ceiling);
    gauge(b, "memory_peak_bytes", "What may be held at any time.",
          (double)m->peak);
}

static void process(struct buf *b, struct api *a)
{
    int64_t up_ms = mono_ms() - a->started_ms;
    struct db_writer_state db;
    struct box box;

    box_look(&box);
    if (box.resident >= 0)
        gauge(b, "process_resident_memory_bytes", "Resident bytes.",
              (double)box.resident);
    if (box.available >= 0)
        gauge(b, "unified_memory_free_bytes",
              "Bytes that the machine has left.", (double)box.available);
    gauge(b, "engine_uptime_seconds", "Since the start.",
          (double)up_ms / 1000);
    gauge(b, "engine_start_time_seconds", "The start, since 1970.",
          floor((double)(epoch_ms() - up_ms) / 1000));
    if (!a->c.writer)
        return;
    db_writer_state(a->c.writer, &db);
    gauge(b, "database_queue", "Statements that wait to be written.",
          (double)db.queued);
    count(b, "database_failures_total", "Commits that failed.", db.failures);
}

static void info(struct buf *b, struct api *a)
{
    const struct catalog_model *m = &a->c.catalog->models[0];
    struct gen_limits limits;

    m->gen->ops->limits(m->gen, &limits);
    head(b, "engine_info", "gauge", "What is served.");
    buf_puts(b, PREFIX "engine_info{version=\"" PACKAGE_VERSION "\",");
    label(b, "model", m->id);
    buf_printf(b, ",max_len=\"%d\",parallel=\"%d\",side=\"%d\"} 1\n",
               limits.context, limits.parallel, limits.side);
    head(b, "build_info", "gauge", "This program.");
    buf_puts(b, PREFIX "build_info{version=\"" PACKAGE_VERSION "\"} 1\n");
}

static void up(struct buf *b, struct api *a)
{
    gauge(b, "up", "1 while requests are taken, 0 while it drains.",
          atomic_load(&a->draining) ? 0 : 1);
}

void metrics_page(struct buf *out, struct api *a)
{
    struct gen *g = a->c.catalog->models[0].gen;
    struct metrics *m = a->metrics;
    struct gen_state s;
    struct counts c;

    pthread_mutex_lock(&m->mu);
    c = m->c;
    pthread_mutex_unlock(&m->mu);
    g->ops->state(g, &s);
    up(out, a);
    info(out, a);
    requests(out, &c);
    answers(out, m);
    engine(out, &s);
    caches(out, &s, &a->kept);
    memory(out, a->c.memory);
    process(out, a);
}

/* --- handlers ------------------------------------------------------------ */

void handle_metrics(struct exchange *x)
{
    if (!who_sees_all(x)) {
        run_hide(x);
        return;
    }
    metrics_page(&x->body, x->api);
    answer_body(x, 200, TEXT_TYPE, "Cache-Control: no-store\r\n");
}

void handle_up(struct exchange *x)
{
    up(&x->body, x->api);
    answer_body(x, 200, TEXT_TYPE, "Cache-Control: no-store\r\n");
}
