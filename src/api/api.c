#include "api/context.h"

#include "api/grammars.h"
#include "api/lexicon.h"
#include "api/live.h"
#include "api/metrics.h"
#include "api/stored.h"
#include "base/crypt.h"
#include "base/thread.h"

enum st api_new(struct api **out, const struct api_config *c, struct err *e)
{
    struct guide *guard = NULL;
    struct reason_map reasoning;
    struct api *a;
    enum st st;

    *out = NULL;
    if (!c->catalog || !c->catalog->n)
        return err_set(e, ST_USAGE, "model", "there is no model to serve");
    if (c->default_max_tokens < 1)
        return err_set(e, ST_USAGE, "default-max-tokens",
                       "must be 1 or more");
    if (c->pattern_max) {
        st = guide_pattern_new(&guard, c->pattern_max, c->pattern_min,
                               c->pattern_count, e);
        if (st)
            return st;
        guide_free(guard);
    }
    st = reason_map_parse(&reasoning,
                          c->reasoning_format ? c->reasoning_format
                                              : REASON_MAP_DEFAULT,
                          e);
    if (st)
        return st;
    a = mem_new(struct api);
    a->c = *c;
    a->reasoning = reasoning;
    a->started_ms = mono_ms();
    a->live = live_new();
    a->metrics = metrics_new();
    a->stored = stored_runs_new();
    a->kept.grammars = grammars_new();
    a->kept.lexicons = lexicons_new();
    crypt_random(&a->id_salt, sizeof(a->id_salt));
    crypt_random(&a->id_head, sizeof(a->id_head));
    *out = a;
    return ST_OK;
}

void api_free(struct api *a)
{
    if (!a)
        return;
    live_free(a->live);
    metrics_free(a->metrics);
    stored_runs_free(a->stored);
    grammars_free(a->kept.grammars);
    lexicons_free(a->kept.lexicons);
    free(a);
}

void api_drain(struct api *a)
{
    atomic_store(&a->draining, 1);
}

int api_open_count(const struct api *a)
{
    return atomic_load(&a->open);
}

/* The finaliser of splitmix64: a bijection, so no counter value repeats. */
static uint64_t mix(uint64_t v)
{
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

void api_new_id(struct api *a, const char *prefix, char out[40])
{
    uint64_t n = atomic_fetch_add(&a->id_next, 1);

    snprintf(out, 40, "%.15s%08x%016llx", prefix, (unsigned)a->id_head,
             (unsigned long long)mix(n + a->id_salt));
}
