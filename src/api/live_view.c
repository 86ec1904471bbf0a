/*
 * The live view as JSON: the keys of contract 1.1 (tandem.md 1.1). What this
 * server has no figure for is null, so that a page finds every key.
 */
#include "api/box.h"
#include "api/live_view.h"
#include "base/thread.h"

#include <time.h>

#define GIB (1024.0 * 1024 * 1024)
#define CLIENT_TOOLS_US (10 * 60 * 1000000ll)

static void rows(struct jw *w, const struct view *v)
{
    const struct shot *s = v->shot;

    jw_key(w, "requests");
    jw_arr(w);
    for (size_t i = 0; i < s->n_rows; i++)
        live_row_write(w, &s->rows[i], v);
    for (size_t i = 0; i < s->n_recent; i++)
        if (s->now_us - s->recent[i].ended_us <= LIVE_DONE_US)
            live_row_write(w, &s->recent[i], v);
    jw_arr_end(w);
    jw_key(w, "recent");
    jw_arr(w);
    for (size_t i = 0; i < s->n_recent; i++)
        live_row_write(w, &s->recent[i], v);
    jw_arr_end(w);
}

/* --- the engine ---------------------------------------------------------- */

/* The newest that ended, when it asked its client to run tools. */
static const struct live_row *waits_for_client(const struct shot *s)
{
    const struct live_row *r = s->n_recent ? &s->recent[0] : NULL;

    if (!r || s->in_flight || strcmp(r->finish, "tool_calls") != 0 ||
        s->now_us - r->ended_us > CLIENT_TOOLS_US)
        return NULL;
    return r;
}

static void engine_state(struct jw *w, const struct view *v)
{
    const struct shot *s = v->shot;
    const struct live_row *r = waits_for_client(s);
    int32_t running = s->in_flight - s->queued;
    const char *state = s->in_flight ? "busy" : "idle";
    char label[LIVE_LABEL] = "Idle";

    if (atomic_load(&v->api->draining)) {
        state = "draining";
        snprintf(label, sizeof(label), "Draining: %d under way",
                 s->in_flight);
    } else if (s->in_flight) {
        snprintf(label, sizeof(label), "Busy: %d running, %d waiting",
                 running, s->queued);
    } else if (r) {
        state = "waiting_for_client";
        snprintf(label, sizeof(label), "Waiting for client: running tool %s",
                 r->tool.name);
    }
    jw_kstr(w, "state", state);
    jw_kstr(w, "label", label);
    jw_kint(w, "since_ms", view_ms(s->now_us - s->changed_us));
}

static void waiting_client(struct jw *w, const struct shot *s)
{
    const struct live_row *r = waits_for_client(s);

    jw_key(w, "waiting_for_client");
    if (!r) {
        jw_null(w);
        return;
    }
    jw_obj(w);
    jw_kstr(w, "request_id", r->request_id);
    jw_key(w, "tool_names"); /* the newest call's: no others are kept */
    jw_arr(w);
    jw_str(w, r->tool.name);
    jw_arr_end(w);
    jw_kint(w, "since_ms", view_ms(s->now_us - r->ended_us));
    jw_kstr(w, "client_kind", r->client_kind);
    jw_obj_end(w);
}

static void gib(struct jw *w, const char *key, double bytes)
{
    if (bytes >= 0)
        jw_knum(w, key, bytes / GIB, 3);
    else
        jw_knull(w, key);
}

/* What is kept of earlier requests: pages of the tree, and states. */
static double store_bytes(const struct gen_state *g)
{
    double page = g->kv_pages ? (double)g->bytes_kv / (double)g->kv_pages : 0;

    return page * (double)g->cache.pages + (double)g->cache.state_bytes;
}

static void engine(struct jw *w, const struct view *v)
{
    const struct gen_state *g = &v->gen;
    struct box box;

    box_look(&box);
    jw_key(w, "engine");
    jw_obj(w);
    engine_state(w, v);
    jw_kstr(w, "model", v->api->c.catalog->models[0].id);
    jw_kstr(w, "version", PACKAGE_VERSION);
    jw_kbool(w, "draining", atomic_load(&v->api->draining) != 0);
    jw_key(w, "kv");
    jw_obj(w);
    view_int(w, "length",
             g->kv_page > 0 ? (int64_t)g->kv_pages_used * g->kv_page : -1);
    jw_kint(w, "max_len", v->limits.context);
    jw_obj_end(w);
    jw_key(w, "memory");
    jw_obj(w);
    gib(w, "mem_available_gib", (double)box.available);
    gib(w, "rss_gib", (double)box.resident);
    jw_obj_end(w);
    jw_key(w, "store");
    jw_obj(w);
    jw_kint(w, "entries", (int64_t)(g->cache.nodes + g->cache.states));
    gib(w, "bytes_gib", store_bytes(g));
    jw_obj_end(w);
    waiting_client(w, v->shot);
    jw_obj_end(w);
}

static void counts(struct jw *w, const struct shot *s)
{
    jw_key(w, "counts");
    jw_obj(w);
    jw_kint(w, "in_flight", s->in_flight);
    jw_kint(w, "queued", s->queued);
    jw_kint(w, "prefilling", s->prefilling);
    jw_kint(w, "decoding", s->decoding);
    jw_kint(w, "completed_1m", s->completed_1m);
    jw_kint(w, "served", (int64_t)s->totals.served);
    jw_kint(w, "errors", (int64_t)s->totals.errors);
    jw_kint(w, "refused", (int64_t)s->totals.refused);
    jw_obj_end(w);
    jw_key(w, "now");
    jw_obj(w);
    jw_knum(w, "decode_tps", s->decode_tps, 2);
    jw_knum(w, "prefill_tps", s->prefill_tps, 2);
    jw_kbool(w, "prefilling", s->prefilling > 0);
    jw_knum(w, "tokens_per_block", s->decode_tps > 0 ? 1 : 0, 2);
    view_int(w, "last_prefill_ms_ago",
                s->prefill_us ? view_ms(s->now_us - s->prefill_us) : -1);
    jw_obj_end(w);
}

/* --- seconds ------------------------------------------------------------- */

static void sample(struct jw *w, const struct live_second *s, int64_t t)
{
    jw_obj(w);
    jw_kint(w, "t", t);
    jw_kint(w, "decode_tps", s->tokens);
    jw_kint(w, "prefill_tps", s->prefilled);
    jw_kint(w, "running", s->running);
    jw_kint(w, "waiting", s->waiting);
    jw_kint(w, "tokens", s->tokens);
    jw_obj_end(w);
}

static void samples(struct jw *w, const struct shot *s, int64_t now_epoch_ms,
                    enum live_history history)
{
    int64_t last = now_epoch_ms / 1000 - (s->now_us / 1000000 - s->second);
    size_t n = s->n_seconds;

    jw_key(w, "sample");
    if (n)
        sample(w, &s->history[n - 1], last);
    else
        jw_null(w);
    jw_knull(w, "sampler");
    if (history != LIVE_HISTORY)
        return;
    jw_key(w, "history");
    jw_arr(w);
    for (size_t i = 0; i < n; i++)
        sample(w, &s->history[i], last - (int64_t)(n - 1 - i));
    jw_arr_end(w);
}

static void generated_at(struct jw *w, int64_t at_ms)
{
    time_t t = (time_t)(at_ms / 1000);
    char date[32] = "", whole[48];
    struct tm tm;

    if (gmtime_r(&t, &tm))
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(whole, sizeof(whole), "%s.%03dZ", date, (int)(at_ms % 1000));
    jw_kstr(w, "generated_at", whole);
}

static void view_of(struct view *v, struct api *a, const struct shot *s)
{
    struct gen *g = a->c.catalog->models[0].gen;

    memset(v, 0, sizeof(*v));
    v->api = a;
    v->shot = s;
    g->ops->limits(g, &v->limits);
    g->ops->state(g, &v->gen);
}

void live_write(struct buf *out, struct api *a, const struct shot *s,
                uint64_t seq, enum live_history history)
{
    struct jw *w = jw_new(out);
    int64_t now = epoch_ms();
    struct view v;

    view_of(&v, a, s);
    jw_obj(w);
    jw_kstr(w, "contract_version", "1.1");
    jw_kint(w, "seq", (int64_t)seq);
    generated_at(w, now);
    jw_knum(w, "interval_s", s->in_flight ? 0.25 : 1, 2);
    engine(w, &v);
    counts(w, s);
    rows(w, &v);
    samples(w, s, now, history);
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
}

/* --- lanes --------------------------------------------------------------- */

static void slot(struct jw *w, const struct live_row *r, int64_t n,
                 const struct view *v)
{
    jw_obj(w);
    jw_kint(w, "slot", n);
    jw_kstr(w, "state", live_state_name(r->state));
    jw_kstr(w, "request_id", r->request_id);
    jw_kstr(w, "client_kind", r->client_kind);
    jw_kint(w, "prompt_tokens", r->prompt_tokens);
    jw_kint(w, "tokens", r->tokens);
    jw_kint(w, "max_len", v->limits.context);
    jw_obj_end(w);
}

static void waits(struct jw *w, const struct live_row *r, const struct view *v)
{
    char label[LIVE_LABEL];

    live_label(label, sizeof(label), r, &v->limits, v->shot);
    jw_obj(w);
    jw_kstr(w, "request_id", r->request_id);
    jw_kint(w, "position", r->place < 0 ? 1 : r->place + 1);
    jw_kstr(w, "reason", label);
    if (r->starts_us)
        jw_knum(w, "estimate_s",
                r->starts_us > v->shot->now_us
                    ? (double)(r->starts_us - v->shot->now_us) / 1e6
                    : 0,
                1);
    else
        jw_knull(w, "estimate_s");
    jw_obj_end(w);
}

void live_write_lanes(struct buf *out, struct api *a, const struct shot *s)
{
    struct jw *w = jw_new(out);
    struct view v;
    int64_t n = 0;

    view_of(&v, a, s);
    jw_obj(w);
    jw_key(w, "slots");
    jw_arr(w);
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].state != LIVE_QUEUED)
            slot(w, &s->rows[i], n++, &v);
    jw_arr_end(w);
    jw_key(w, "queued");
    jw_arr(w);
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].state == LIVE_QUEUED)
            waits(w, &s->rows[i], &v);
    jw_arr_end(w);
    jw_kint(w, "max_running", v.limits.parallel + v.limits.side);
    jw_kstr(w, "max_running_reason",
            v.limits.side ? "parallel, and side slots for small requests"
                          : "parallel");
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
}
