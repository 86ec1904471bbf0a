#include "fcgi/wire.h"
#include "engine/engine.h"

enum st wire_gen_open(struct gen **out, const struct gguf *g,
                      const struct tok *t, const struct conf *c,
                      struct err *e)
{
    struct engine_config ec;

    (void)t;
    engine_config_default(&ec);
    ec.threads = (int)c->threads;
    ec.context = (int32_t)c->context;
    ec.parallel = (int32_t)c->parallel;
    ec.max_queue = (int32_t)c->max_queue;
    ec.kv_type = c->kv_type == CONF_KV_Q8_0 ? KERN_Q8_0 : KERN_F16;
    ec.kv_bytes = (size_t)c->kv_memory;
    return engine_open(out, g, &ec, e);
}
