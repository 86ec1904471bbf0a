/*
 * kv/spool.h - the disk tier: KV pages and states in a folder.
 *
 * One file an entry: everything it depends on, all units from the start, the
 * bytes, a sum over all of it. An entry is found by a digest of its units and
 * believed only when name, kind, length, sum and every unit agree; whatever
 * does not is removed and was never there. Files are written under another
 * name and renamed; nothing is synced, for half a file fails its sum. A full
 * or unreadable disk makes the spool miss, never fail: `failures` counts, and
 * after one nothing is written for a minute.
 *
 * The folder survives restarts; at the start a thread reads which files are
 * there. Over `max_bytes` the entries that were not used for longest go, and
 * those older than `ttl_s` go always (a file's time is its last use). Files
 * of another model or format are never read; they age like the others. What
 * has no name of ours is never touched.
 *
 * The units are what people wrote: the folder is 0700, files are 0600, and
 * their retention is ttl_s.
 *
 * Threads: one of its own, which does all work with files. The calls below
 * are for one thread (the engine's) and never wait for the disk. Its lock is
 * held for memory only, and no other is taken under it. A call costs one pass
 * over the key's units.
 */
#ifndef KV_SPOOL_H
#define KV_SPOOL_H

#include "base/err.h"

struct spool;      /* opaque */
struct spool_read; /* opaque: one entry on its way */

enum spool_kind { SPOOL_PAGE = 1, SPOOL_STATE = 2 };

struct spool_config {
    const char *dir;       /* made when missing (its parent is there) */
    uint64_t max_bytes;    /* of all files together, in blocks of 4 KiB */
    int64_t ttl_s;         /* since the last use; 0: no limit */
    size_t queue_bytes;    /* waiting to be written; more is refused */
    /* a read or a write has ended; from the spool's thread, only signals;
     * may be NULL */
    void (*wake)(void *arg);
    void *arg;
};

/* Errors: ST_IO (the folder cannot be made or is not ours alone: our user's,
 * mode 0700), ST_INVALID, ST_NOMEM. */
enum st spool_open(struct spool **out, const struct spool_config *c,
                   struct err *e) MUST_CHECK;
/* Writes what waits, for at most `ms` and the call of the system that is
 * under way, then ends. Reads that were not polled to their end are gone with
 * it. NULL ok. */
void spool_close(struct spool *s, int64_t ms);

/* Everything that bytes depend on besides the units: model file, adapter,
 * kernel set, cache type, layout. At most 95 bytes of printable ASCII. */
struct spool_key {
    const char *what;
    enum spool_kind kind;
    const int32_t *units; /* [n] from the start */
    int32_t n;            /* 1 to 2^24 */
};

/* Is there such an entry, or one on its way to the disk, as far as the index
 * knows? No file is touched. */
bool spool_has(const struct spool *s, const struct spool_key *k);

/*
 * The entries of the first `step` units of k, of twice as many and so on are
 * used now, though from memory: longer ones are removed before them. Returns
 * for how many units they are there, or on their way, without a gap. One pass
 * over the units; step is a multiple of 8.
 */
int32_t spool_use(struct spool *s, const struct spool_key *k, int32_t step);

/*
 * Write behind: takes `blob` (malloc'd, `bytes` long) when it returns true.
 * False, and not taken: the queue is full (units and blob count), it is there
 * already or under way, one entry is larger than the cap or the queue, the
 * disk said no within the last minute, or no memory.
 */
bool spool_put(struct spool *s, const struct spool_key *k, void *blob,
               size_t bytes) MUST_CHECK;

/* Start to read an entry that should be `bytes` long. NULL when there is
 * none or no memory. */
struct spool_read *spool_get(struct spool *s, const struct spool_key *k,
                             size_t bytes);
enum spool_state { SPOOL_PENDING, SPOOL_READY, SPOOL_MISSING };
/* SPOOL_READY: *blob is the caller's to free, all of it verified. The read is
 * gone after READY and MISSING. */
enum spool_state spool_poll(struct spool *s, struct spool_read *r,
                            void **blob);
void spool_forget(struct spool *s, struct spool_read *r); /* NULL ok */

struct spool_stats {
    bool ready;              /* the folder has been read */
    uint64_t entries, bytes, max_bytes;
    uint64_t queued_bytes;   /* to be written */
    uint64_t writes, reads, misses; /* misses: asked for, not to be believed
                                     * or gone */
    uint64_t removed;        /* by cap and age */
    uint64_t failures;       /* the system said no */
    uint64_t lost;           /* times that entries which were taken, or were
                              * there, went otherwise: the disk was full, the
                              * folder was removed */
};
void spool_stats(struct spool *s, struct spool_stats *out); /* any thread */

#endif
