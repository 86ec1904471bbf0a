/*
 * kv/spool_index.h - which entries there are, in the order of their use.
 *
 * Nothing here locks or knows of files: kv/spool.c does, under its lock.
 */
#ifndef KV_SPOOL_INDEX_H
#define KV_SPOOL_INDEX_H

#include "kv/spool_file.h"

#define SPOOL_ENTRIES (1 << 20) /* more cannot be known */
#define SPOOL_KEEP (SPOOL_ENTRIES - 4096) /* of them on disk: some wait */

struct spool_entry {
    struct spool_digest d;
    uint64_t bytes;     /* on disk */
    int64_t used_s;     /* wall clock; when it is there */
    int32_t hash_next;  /* also the list of free ones; -1 ends */
    int32_t older, newer;
    bool there;         /* its file is known */
    bool queued;        /* it waits to be written */
    bool stale;         /* it was used since its file got its time */
};

struct spool_index {
    struct spool_entry *e; /* [room] */
    int32_t *bucket;       /* [room], a power of two */
    int32_t room, n;       /* n: in use */
    int32_t unused;        /* the first free one, -1: none */
    int32_t oldest, newest; /* of those that are there */
    uint64_t bytes, there; /* their sum and number */
};

void spool_index_init(struct spool_index *x);
void spool_index_release(struct spool_index *x);

/* -1: none. Numbers stay as long as the entry does. */
int32_t spool_index_find(const struct spool_index *x,
                         const struct spool_digest *d);
/* Of a digest that it does not have; neither there nor queued. -1: no memory
 * or SPOOL_ENTRIES. */
int32_t spool_index_add(struct spool_index *x, const struct spool_digest *d);
/* Its file is there now, and used later than all others. */
void spool_index_put(struct spool_index *x, int32_t i, uint64_t bytes,
                     int64_t used_s);
/* Used again; nothing when it is not there. */
void spool_index_use(struct spool_index *x, int32_t i, int64_t used_s);
/* Its file is gone. */
void spool_index_lose(struct spool_index *x, int32_t i);
/* Forget it when it is neither there nor queued. */
void spool_index_drop(struct spool_index *x, int32_t i);

#endif
