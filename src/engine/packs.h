/*
 * engine/packs.h - the packed weights of a model: mapped from a cache file,
 * or made now.
 *
 * In order: a cache file that is whole and was made of this very model file
 * is mapped; otherwise one is made (packfile.h) and mapped; where none may be
 * made, the weights are packed into memory. Either way they are in memory
 * once: pages of the model file that were read are given back.
 *
 * "This very model file" is its size, metadata and tensor directory
 * (gguf_fingerprint), inode and times of change (gguf_stamp), and 64 bytes of
 * up to 64 matrices: a file that was replaced or written into has another
 * identity, even where its size and its time are the old ones.
 *
 * Places: a folder is /var/cache/penstock (systemd's CacheDirectory) or the
 * model's own, whichever can be written, or the one of the setting. The name
 * is the model's, a hash of its path where models of other folders may meet,
 * and the layout: "demo.gguf-8c2e5f0a.rows16-1.pack". Those of other versions
 * of the same layout are removed when a new one is made.
 * Threads: one; packing and checking use the engine's number of them.
 */
#ifndef ENGINE_PACKS_H
#define ENGINE_PACKS_H

#include "gguf/gguf.h"
#include "kernels/kernels.h"

/* Below this no file is made unless the setting names a place: packing takes
 * less than looking for it. */
#define PACKS_CACHE_FROM ((size_t)64 << 20)

enum packs_event {
    PACKS_MAPPED, /* a cache file was found: path, total, ms */
    PACKS_BAD,    /* one was found and is of no use: path, why */
    PACKS_START,  /* packing begins: path (NULL: into memory), total */
    PACKS_STEP,   /* and goes on; seconds apart: done, total */
    PACKS_MADE,   /* and has ended: path, total, ms */
    PACKS_NONE,   /* a file cannot be made there: path, why */
};

struct packs_note {
    enum packs_event event;
    const char *path; /* borrowed, NULL: memory */
    const char *why;
    size_t done, total; /* bytes */
    int64_t ms;
};

struct packs_config {
    bool repack;       /* false: the file's own layout is used, mapped */
    const char *cache; /* "off", "beside" or a folder; NULL, "auto": found
                        * out */
    int threads;
    void (*tell)(void *arg, const struct packs_note *n); /* NULL: nobody */
    void *arg;
};

struct packs_want { /* one matrix of the file */
    const struct gguf_tensor *t;
    int32_t rows, cols;
};

struct packs;

/*
 * Have `n` matrices packed. g, k: borrowed for the call.
 * Errors: ST_NOMEM. What happens to cache files is told, never an error.
 */
enum st packs_open(struct packs **out, const struct packs_want *want, size_t n,
                   const struct gguf *g, struct kern *k,
                   const struct packs_config *c, struct err *e) MUST_CHECK;
/* Matrix i, read-only, until packs_close; its packed bytes. */
const void *packs_at(const struct packs *p, size_t i, size_t *bytes);
void packs_close(struct packs *p); /* NULL ok */

#endif
