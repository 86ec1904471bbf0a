#include "fcgi/wire.h"
#include "base/log.h"
#include "engine/engine.h"

static void tell(void *arg, const struct packs_note *n)
{
    const char *to = n->path ? n->path : "memory";
    double mb = (double)n->total / 1e6;

    (void)arg;
    switch (n->event) {
    case PACKS_MAPPED:
        log_info("weights", "from=\"%s\" mb=%.1f ms=%lld", to, mb,
                 (long long)n->ms);
        break;
    case PACKS_BAD:
        log_warn("pack_cache", "file=\"%s\" why=\"%s\" it is made anew", to,
                 n->why);
        break;
    case PACKS_START:
        log_info("packing", "to=\"%s\" mb=%.1f", to, mb);
        break;
    case PACKS_STEP:
        log_info("packing", "mb=%.1f of=%.1f ms=%lld", (double)n->done / 1e6,
                 mb, (long long)n->ms);
        break;
    case PACKS_MADE:
        log_info("weights", "packed_to=\"%s\" mb=%.1f ms=%lld", to, mb,
                 (long long)n->ms);
        break;
    case PACKS_NONE:
        log_warn("pack_cache", "file=\"%s\" why=\"%s\" it cannot be made", to,
                 n->why);
        break;
    }
}

enum st wire_gen_open(struct gen **out, const struct gguf *g,
                      const struct tok *t, const struct conf *c,
                      struct memory *memory, struct err *e)
{
    struct engine_config ec;

    (void)t;
    engine_config_default(&ec);
    ec.threads = (int)c->threads;
    ec.cpus = c->cpus;
    ec.context = (int32_t)c->context;
    ec.parallel = (int32_t)c->parallel;
    ec.side = (int32_t)c->side_slots;
    ec.max_queue = (int32_t)c->max_queue;
    ec.kv_type = c->kv_type == CONF_KV_Q8_0 ? KERN_Q8_0 : KERN_F16;
    ec.kv_bytes = (size_t)c->kv_memory;
    ec.memory = memory;
    if (strcmp(c->spool, "off") != 0) {
        ec.spool_dir = c->spool;
        ec.spool_bytes = (uint64_t)c->spool_max;
        ec.spool_ttl_s = c->spool_ttl * 3600;
    }
    ec.packs.repack = c->repack;
    ec.packs.cache = c->pack_cache;
    ec.packs.tell = tell;
    return engine_open(out, g, &ec, e);
}
