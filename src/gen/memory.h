/*
 * gen/memory.h - the accounts: who holds how many bytes, and how many there
 * may be.
 *
 * Everything large is counted in a class by whoever allocates it. `ceiling`
 * is what may be held between requests, `peak` what may be held at any time.
 * Counts are upper bounds of what is resident; what nobody counts (code,
 * stacks, the allocator's rest) is MEM_OTHER, set from the system's own
 * figure by memory_sample.
 *
 * Threads: any; every count is one atomic.
 */
#ifndef GEN_MEMORY_H
#define GEN_MEMORY_H

#include "base/err.h"
#include <stdatomic.h>

enum mem_class {
    MEM_WEIGHTS,   /* mapped files included */
    MEM_KV,        /* pages that sequences use */
    MEM_PREFIX,    /* pages that only the prefix tree holds */
    MEM_STATE,     /* snapshots of recurrent layers */
    MEM_FREE,      /* pages that nobody uses and the system has not back */
    MEM_WORKSPACE, /* activations, logits, sampler */
    MEM_REQUESTS,  /* bodies, prompts, rings, replies of requests under way */
    MEM_SPOOL,     /* bytes on their way to and from the disk */
    MEM_VISION,
    MEM_EXPERTS,
    MEM_OTHER,
    MEM_CLASSES
};

#define MEMORY_GROWTH ((size_t)2 << 20)

struct memory {
    size_t ceiling, peak, slack;       /* bytes, constant once it is served */
    bool chosen;                       /* somebody gave the peak */
    size_t base; /* resident at memory_init: nobody counts it, now or later */
    _Atomic size_t wanted; /* the largest reservation that was refused */
    _Atomic size_t bytes[MEM_CLASSES];
};

/* peak 0: nine tenths of memory_limit_here, where that is not known, no limit;
 * ceiling 0: nine tenths of the peak; slack: bytes of free pages that may be
 * kept. Errors: ST_INVALID (where: "mem-ceiling", over the peak). */
enum st memory_init(struct memory *m, size_t ceiling, size_t peak,
                    size_t slack, struct err *e) MUST_CHECK;
const char *mem_class_name(enum mem_class c); /* "weights", "kv", ... */

void memory_set(struct memory *m, enum mem_class c, size_t bytes);
size_t memory_held(const struct memory *m);       /* all classes */
/* The models are loaded: is there room to serve? Where there is none under a
 * peak that was chosen: ST_INVALID (where: "mem-peak"). Under one that was not,
 * *given_up is set and nothing is limited: weights that are mapped may go and
 * come, slowly. */
enum st memory_loaded(struct memory *m, bool *given_up, struct err *e)
    MUST_CHECK;
/* Add to MEM_REQUESTS if everything stays under the peak; false: nothing was
 * added, but for a note that so much is wanted. Give back with the same
 * number. */
bool memory_reserve(struct memory *m, size_t bytes) MUST_CHECK;
void memory_unreserve(struct memory *m, size_t bytes);
/* What is wanted, once; 0: nothing since the last call. For those who can
 * give something back. */
size_t memory_take_wanted(struct memory *m);
/* MEM_OTHER = resident bytes of this process - all other classes, not below
 * `base`: what is counted may not have been touched yet. And MEMORY_GROWTH,
 * what nobody counts until the next look. Once a second, by one thread. */
void memory_sample(struct memory *m);

/* "peak 512 MiB: weights 200, kv 250, ..." for errors and logs. */
void memory_words(const struct memory *m, char *out, size_t cap);

/* What this machine or this process's cgroup allows, whichever is less: the
 * memory there is, memory.max and memory.high (version 2) or
 * memory.limit_in_bytes (1) of the cgroup and all above it that can be seen;
 * 0: not known. `root` is put before the system's paths, for tests. */
size_t memory_limit_here(void);
size_t memory_limit_in(const char *root);

#endif
