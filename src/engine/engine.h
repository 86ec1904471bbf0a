/*
 * engine/engine.h - a loaded model that serves jobs: the local struct gen.
 *
 * One thread owns everything: sequences, KV pages, samplers. It advances by
 * steps; a step is the decode rows of all running sequences and a slice of
 * waiting prefills, up to the row budget. Between two steps lies a safe
 * point: jobs enter, cancelled ones leave.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "engine/packs.h"
#include "gen/gen.h"
#include "gen/memory.h"
#include "gguf/gguf.h"
#include "kernels/kernels.h"

#define ENGINE_CPUS_MAX 256

struct engine_config {
    int threads;           /* kernel threads; 0: number of CPUs */
    enum kern_cpu_set set;
    const char *cpus;      /* "0-3,8": a processor for each kernel thread, as
                            * many threads unless `threads` says; NULL: where
                            * the system likes. Borrowed for engine_open */
    int32_t context;       /* positions per sequence; 0: the model's own */
    int32_t parallel;      /* sequences that run together, 1-256 */
    int32_t side;          /* side slots: small jobs beside them, 0-16 */
    int32_t max_queue;     /* jobs that may wait, 0-100000 */
    int32_t chunk;         /* rows of a prefill slice per step; 0: 256 */
    enum kern_type kv_type; /* of keys and values: KERN_F16, KERN_Q8_0 */
    size_t kv_bytes;       /* KV budget of parallel * context; 0: 1 GiB, or
                            * what one `context` that was asked for needs */
    struct packs_config packs; /* its threads are ours */
    struct memory *memory; /* borrowed: the accounts and their limits; NULL:
                            * nothing is counted and no request is refused */
    const char *spool_dir; /* the disk tier's folder; NULL: none */
    uint64_t spool_bytes;  /* its cap */
    int64_t spool_ttl_s;   /* since the last use; 0: no limit */
};

void engine_config_default(struct engine_config *c);
/* Kernel threads that this means here. */
int engine_threads(const struct engine_config *c);

/*
 * Load `g` (borrowed until gen_free) and start the engine thread.
 * Errors: ST_UNSUPPORTED (architecture, tensor type), ST_FORMAT (a tensor is
 * missing or has the wrong shape; `where` is its name), ST_NOMEM, ST_INVALID.
 */
enum st engine_open(struct gen **out, const struct gguf *g,
                    const struct engine_config *c, struct err *e) MUST_CHECK;

#endif
