/*
 * GET /v1/models, /v1/models/{id}, /health: what is served, and how it is.
 */
#include "api/answer.h"
#include "api/cache_stats.h"
#include "api/handlers.h"
#include "api/live.h"
#include "api/route.h"
#include "api/run.h"
#include "api/who.h"
#include "base/percent.h"
#include "base/thread.h"
#include "db/writer.h"
#include "gen/memory.h"
#include "json/write.h"

#include <time.h>

#define ID_MAX 512

/* --- models -------------------------------------------------------------- */

static void write_model(struct jw *w, const struct catalog_model *m)
{
    struct gen_limits limits;

    m->gen->ops->limits(m->gen, &limits);
    jw_obj(w);
    jw_kstr(w, "id", m->id);
    jw_kstr(w, "object", "model");
    jw_kint(w, "created", m->created);
    jw_kstr(w, "owned_by", "penstock");
    jw_key(w, "penstock");
    jw_obj(w);
    jw_kint(w, "context", limits.context);
    if (m->architecture)
        jw_kstr(w, "architecture", m->architecture);
    if (m->weights)
        jw_kstr(w, "weights", m->weights);
    if (m->parameters)
        jw_kint(w, "parameters", (int64_t)m->parameters);
    jw_kint(w, "vocabulary", limits.vocab);
    jw_kint(w, "parallel", limits.parallel);
    jw_kint(w, "max_queue", limits.max_queue);
    jw_kbool(w, "chat", m->format != NULL);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* The same as clients of /v1/messages know it: ModelInfo. Nothing is known of
 * its successors, and what it can do is not told in their words. */
static void write_model_info(struct jw *w, const struct catalog_model *m)
{
    time_t created = (time_t)m->created;
    struct gen_limits limits;
    char when[32] = "";
    struct tm tm;

    m->gen->ops->limits(m->gen, &limits);
    if (gmtime_r(&created, &tm))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
    jw_obj(w);
    jw_kstr(w, "type", "model");
    jw_kstr(w, "id", m->id);
    jw_kstr(w, "display_name", m->id);
    jw_kstr(w, "created_at", when);
    jw_kint(w, "max_input_tokens", limits.context);
    jw_kint(w, "max_tokens", limits.context);
    jw_kstr(w, "lifecycle", "active");
    jw_knull(w, "line");
    jw_knull(w, "capabilities");
    jw_knull(w, "deprecated_at");
    jw_knull(w, "retires_at");
    jw_obj_end(w);
}

static void write_models(struct jw *w, const struct catalog *c,
                         void (*one)(struct jw *w,
                                     const struct catalog_model *m))
{
    jw_key(w, "data");
    jw_arr(w);
    for (size_t i = 0; i < c->n; i++)
        one(w, &c->models[i]);
    jw_arr_end(w);
}

void handle_models(struct exchange *x)
{
    const struct catalog *c = x->api->c.catalog;
    struct jw *w = jw_new(&x->body);

    jw_obj(w);
    if (run_of(x)->style == STYLE_MESSAGES) {
        write_models(w, c, write_model_info);
        jw_kbool(w, "has_more", false);
        jw_kstr(w, "first_id", c->models[0].id);
        jw_kstr(w, "last_id", c->models[c->n - 1].id);
    } else {
        jw_kstr(w, "object", "list");
        write_models(w, c, write_model);
    }
    jw_obj_end(w);
    answer_written(x, w, 200);
}

void handle_model(struct exchange *x)
{
    char id[ID_MAX];
    size_t n;
    bool whole = percent_decode(route_rest(run_of(x)->route, x->req.path), id,
                                sizeof(id), &n);
    const struct catalog_model *m =
        whole && n ? catalog_find(x->api->c.catalog, id, n) : NULL;
    struct err e;
    struct jw *w;

    if (!m) {
        err_set(&e, ST_NO_MODEL, "model",
                "no such model is served here; GET /v1/models lists those "
                "that are");
        run_refuse(x, &e);
        return;
    }
    w = jw_new(&x->body);
    if (run_of(x)->style == STYLE_MESSAGES)
        write_model_info(w, m);
    else
        write_model(w, m);
    answer_written(x, w, 200);
}

/* --- health -------------------------------------------------------------- */

static void write_parallel(struct jw *w, const struct gen_limits *l,
                           const struct gen_state *s)
{
    jw_key(w, "parallel");
    jw_obj(w);
    jw_kint(w, "max_running", l->parallel);
    jw_kint(w, "side", l->side);
    jw_kint(w, "side_running", s->side_running);
    jw_kint(w, "prefilling", s->prefilling);
    jw_kint(w, "decoding", s->decoding);
    jw_obj_end(w);
}

static void write_queue(struct jw *w, struct api *a,
                        const struct gen_limits *l, const struct gen_state *s)
{
    jw_key(w, "queue");
    jw_obj(w);
    jw_kint(w, "running", s->running);
    jw_kint(w, "waiting", s->waiting);
    jw_kint(w, "max_queue", l->max_queue);
    jw_kint(w, "queue_timeout_s", a->c.queue_timeout_ms / 1000);
    jw_kint(w, "request_timeout_s", a->c.request_timeout_ms / 1000);
    jw_obj_end(w);
}

static void write_cache(struct jw *w, const struct gen_state *s)
{
    jw_key(w, "cache");
    jw_obj(w);
    cache_stats_members(w, &s->cache);
    jw_obj_end(w);
    jw_key(w, "gate");
    jw_obj(w);
    jw_kint(w, "waits", (int64_t)s->gate.waits);
    jw_kint(w, "refusals", (int64_t)s->gate.refusals);
    jw_key(w, "given_bytes");
    jw_arr(w);
    for (size_t i = 0; i < sizeof(s->gate.given_bytes) / sizeof(uint64_t);
         i++)
        jw_int(w, (int64_t)s->gate.given_bytes[i]);
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_memory(struct jw *w, const struct memory *m)
{
    jw_key(w, "memory");
    jw_obj(w);
    jw_kint(w, "ceiling", (int64_t)m->ceiling);
    jw_kint(w, "peak", (int64_t)m->peak);
    jw_kint(w, "slack", (int64_t)m->slack);
    jw_kint(w, "held", (int64_t)memory_held(m));
    jw_key(w, "classes");
    jw_obj(w);
    for (int c = 0; c < MEM_CLASSES; c++)
        jw_kint(w, mem_class_name((enum mem_class)c),
                (int64_t)atomic_load(&m->bytes[c]));
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_inflight(struct jw *w, struct api *a,
                           const struct gen_state *s)
{
    struct live_totals t;

    live_totals_of(a->live, &t);
    jw_key(w, "inflight");
    jw_obj(w);
    jw_kint(w, "waiting", s->waiting);
    jw_kint(w, "running", s->running);
    jw_kint(w, "served", (int64_t)t.served);
    jw_kint(w, "refused", (int64_t)t.refused);
    jw_kint(w, "errors", (int64_t)t.errors);
    jw_kint(w, "timeouts", (int64_t)t.timeouts);
    jw_kint(w, "abandoned", (int64_t)t.abandoned);
    jw_obj_end(w);
}

static void write_gen(struct jw *w, struct api *a)
{
    const struct catalog_model *m = &a->c.catalog->models[0];
    struct gen_limits limits;
    struct gen_state s;

    m->gen->ops->limits(m->gen, &limits);
    m->gen->ops->state(m->gen, &s);
    jw_kstr(w, "model", m->id);
    jw_kint(w, "running", s.running);
    jw_kint(w, "waiting", s.waiting);
    jw_kint(w, "max_queue", limits.max_queue);
    jw_kint(w, "context", limits.context);
    write_parallel(w, &limits, &s);
    write_queue(w, a, &limits, &s);
    jw_key(w, "steps");
    jw_obj(w);
    jw_kint(w, "done", (int64_t)s.steps);
    jw_kint(w, "rows", (int64_t)s.rows);
    jw_kint(w, "decode_rows_max", (int64_t)s.decode_rows_max);
    jw_kint(w, "tokens_out", (int64_t)s.tokens_out);
    jw_obj_end(w);
    jw_key(w, "kv");
    jw_obj(w);
    jw_kint(w, "pages", (int64_t)s.kv_pages);
    jw_kint(w, "pages_used", (int64_t)s.kv_pages_used);
    jw_kint(w, "sent_back", (int64_t)s.sent_back);
    jw_obj_end(w);
    jw_key(w, "bytes");
    jw_obj(w);
    jw_kint(w, "weights", (int64_t)s.bytes_weights);
    jw_kint(w, "kv", (int64_t)s.bytes_kv);
    jw_kint(w, "workspace", (int64_t)s.bytes_workspace);
    jw_obj_end(w);
    write_inflight(w, a, &s);
    write_cache(w, &s);
}

static void write_database(struct jw *w, struct db_writer *writer)
{
    struct db_writer_state s;

    db_writer_state(writer, &s);
    jw_key(w, "database");
    jw_obj(w);
    jw_kint(w, "queued", (int64_t)s.queued);
    jw_kint(w, "committed", (int64_t)s.committed);
    jw_kint(w, "failures", (int64_t)s.failures);
    jw_kint(w, "wal_bytes", s.wal_bytes);
    jw_obj_end(w);
}

void handle_health(struct exchange *x)
{
    struct api *a = x->api;
    bool draining = atomic_load(&a->draining);
    struct jw *w = jw_new(&x->body);

    jw_obj(w);
    jw_kstr(w, "status", draining ? "draining" : "ok");
    if (who_sees_all(x)) {
        jw_kint(w, "uptime_s", (mono_ms() - a->started_ms) / 1000);
        jw_kint(w, "open", atomic_load(&a->open));
        write_gen(w, a);
        if (a->c.memory)
            write_memory(w, a->c.memory);
        if (a->c.writer)
            write_database(w, a->c.writer);
    }
    jw_obj_end(w);
    answer_written(x, w, draining ? 503 : 200);
}
