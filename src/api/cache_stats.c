/*
 * GET /v1/cache/stats: keys of tandem.md section 1. Caches that this server
 * does not have are null.
 */
#include "api/cache_stats.h"

#include "api/answer.h"
#include "api/grammars.h"
#include "api/handlers.h"
#include "api/lexicon.h"
#include "api/live.h"
#include "api/run.h"
#include "api/who.h"
#include "base/thread.h"

static void prefix(struct jw *w, const struct gen_cache *c)
{
    jw_obj(w);
    jw_kint(w, "nodes", (int64_t)c->nodes);
    jw_kint(w, "nodes_on_disk", (int64_t)c->nodes_on_disk);
    jw_kint(w, "pages", (int64_t)c->pages);
    jw_kint(w, "shared_pages", (int64_t)c->shared_pages);
    jw_kint(w, "hits", (int64_t)c->hits);
    jw_kint(w, "misses", (int64_t)c->misses);
    jw_kint(w, "rows_reused", (int64_t)c->rows_reused);
    jw_kint(w, "rows_read", (int64_t)c->rows_read);
    jw_kint(w, "rows_forwarded", (int64_t)c->rows_forwarded);
    jw_kint(w, "evicted", (int64_t)c->evicted);
    jw_obj_end(w);
}

static void states(struct jw *w, const struct gen_cache *c)
{
    jw_obj(w);
    jw_kint(w, "entries", (int64_t)c->states);
    jw_kint(w, "bytes", (int64_t)c->state_bytes);
    jw_obj_end(w);
}

static void disk(struct jw *w, const struct gen_cache *c)
{
    jw_obj(w);
    jw_kint(w, "entries", (int64_t)c->disk_entries);
    jw_kint(w, "bytes", (int64_t)c->disk_bytes);
    jw_kint(w, "max_bytes", (int64_t)c->disk_max_bytes);
    jw_kint(w, "writes", (int64_t)c->disk_writes);
    jw_kint(w, "reads", (int64_t)c->disk_reads);
    jw_kint(w, "misses", (int64_t)c->disk_misses);
    jw_kint(w, "removed", (int64_t)c->disk_removed);
    jw_kint(w, "failures", (int64_t)c->disk_failures);
    jw_obj_end(w);
}

void cache_stats_members(struct jw *w, const struct gen_cache *c)
{
    jw_key(w, "prefix");
    prefix(w, c);
    jw_key(w, "states");
    states(w, c);
    jw_key(w, "disk");
    disk(w, c);
}

/* Of the newest request that generated; a row is one token. */
static void last_prefill(struct jw *w, struct live *l)
{
    struct shot *s = live_look(l, mono_us());
    const struct live_row *r = NULL;

    for (size_t i = 0; i < s->n_recent && !r; i++)
        if (s->recent[i].cached_tokens >= 0 && s->recent[i].tokens > 0)
            r = &s->recent[i];
    jw_key(w, "last_prefill");
    if (r) {
        jw_obj(w);
        jw_kint(w, "reused", r->cached_tokens);
        jw_kint(w, "forwarded", r->prompt_tokens - r->cached_tokens);
        jw_kint(w, "ms", r->prompt_ms);
        jw_kstr(w, "kind", r->cache_source);
        jw_obj_end(w);
    } else {
        jw_null(w);
    }
    live_shot_free(s);
}

static void snapshot_cost(struct jw *w, const struct gen_state *s)
{
    jw_key(w, "snapshot_cost");
    jw_obj(w);
    jw_knull(w, "recurrent_bytes");
    jw_knull(w, "conv_bytes");
    if (s->kv_pages && s->kv_page > 0)
        jw_kint(w, "kv_bytes_per_token",
                (int64_t)(s->bytes_kv / s->kv_pages / (size_t)s->kv_page));
    else
        jw_knull(w, "kv_bytes_per_token");
    jw_obj_end(w);
}

/* Of constrained answers: what was compiled, and what masks came of it. */
static void grammars(struct jw *w, const struct guides_kept *kept)
{
    struct grammars_figures g;
    struct lexicons_figures l;

    grammars_figures(kept->grammars, &g);
    lexicons_figures(kept->lexicons, &l);
    jw_key(w, "grammars");
    jw_obj(w);
    jw_kint(w, "entries", (int64_t)g.kept);
    jw_kint(w, "bytes", (int64_t)g.bytes);
    jw_kint(w, "hits", (int64_t)g.hits);
    jw_kint(w, "misses", (int64_t)g.misses);
    jw_kint(w, "masks", (int64_t)l.masks.masks);
    jw_kint(w, "mask_bytes", (int64_t)l.masks.bytes);
    jw_kint(w, "mask_hits", (int64_t)l.masks.hits);
    jw_kint(w, "mask_misses", (int64_t)l.masks.misses);
    jw_kint(w, "vocabulary_bytes", (int64_t)l.bytes);
    jw_kint(w, "vocabulary_ms", (l.built_us + 999) / 1000);
    jw_obj_end(w);
}

void handle_cache_stats(struct exchange *x)
{
    const struct catalog_model *m = &x->api->c.catalog->models[0];
    struct gen_state s;
    struct jw *w;

    if (!who_sees_all(x)) {
        run_hide(x);
        return;
    }
    m->gen->ops->state(m->gen, &s);
    w = jw_new(&x->body);
    jw_obj(w);
    jw_kstr(w, "model", m->id);
    jw_knull(w, "session_cache");
    jw_key(w, "prefix_cache");
    prefix(w, &s.cache);
    if (s.kv_page > 0)
        jw_kint(w, "prefix_chunk", s.kv_page);
    else
        jw_knull(w, "prefix_chunk");
    last_prefill(w, x->api->live);
    jw_key(w, "state_store");
    if (s.cache.states)
        states(w, &s.cache);
    else
        jw_null(w);
    jw_knull(w, "resident");
    jw_knull(w, "response_cache");
    jw_knull(w, "suffix_store");
    grammars(w, &x->api->kept);
    jw_key(w, "disk");
    if (s.cache.disk_max_bytes)
        disk(w, &s.cache);
    else
        jw_null(w);
    snapshot_cost(w, &s);
    jw_obj_end(w);
    answer_written(x, w, 200);
}
