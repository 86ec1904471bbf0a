/*
 * kv/spool_disk.h - the spool's system calls: one folder, one file at a time.
 *
 * Nothing is opened that is not a regular file of our own user, no link is
 * followed, nothing waits for a fifo. Called by the spool's thread only (and
 * by spool_open before there is one).
 */
#ifndef KV_SPOOL_DISK_H
#define KV_SPOOL_DISK_H

#include "kv/spool_file.h"

/* The folder, made with mode 0700 when missing. Errors: ST_IO. */
enum st spool_disk_open(const char *dir, int *fd, struct err *e) MUST_CHECK;
/* Was it removed since? */
bool spool_disk_lost(int dir);
/* What a file of n bytes takes, in blocks of 4 KiB. */
uint64_t spool_disk_bytes(uint64_t n);

struct spool_found {
    struct spool_digest d;
    uint64_t bytes; /* on disk */
    int64_t used_ns; /* wall clock, never in the future */
};

/*
 * All entries in the folder, those not used for longest first. Removes what
 * an unfinished write left. *out is owned by the caller; at most
 * SPOOL_ENTRIES, more are removed. False: the system said no, or no memory;
 * what was found until then is there all the same.
 */
bool spool_disk_scan(int dir, struct spool_found **out, size_t *n) MUST_CHECK;

enum spool_got {
    SPOOL_GOT,    /* verified; its file counts as used now */
    SPOOL_GONE,   /* no such file */
    SPOOL_BAD,    /* not what it should be: remove it */
    SPOOL_FAILED, /* the system said no; the file may be good */
    SPOOL_BROKEN, /* the system said no while it was read: remove it */
};

/* blob: [f->blob_padded], the caller's to free, when SPOOL_GOT. */
enum spool_got spool_disk_read(int dir, const struct spool_form *f,
                               const struct spool_digest *d, void **blob);

enum spool_put {
    SPOOL_PUT,
    SPOOL_STOPPED,  /* the deadline has passed */
    SPOOL_UNNAMED,  /* written, but not renamed */
    SPOOL_NO_DISK,  /* not written: full, read-only, gone, ... */
};

/* f is sealed. Nothing of a file that failed is left. stop is asked between
 * pieces. */
enum spool_put spool_disk_write(int dir, const struct spool_form *f,
                                const struct spool_digest *d,
                                const uint8_t *blob, bool (*stop)(void *),
                                void *arg);

/* When it was used last; `order` among those of one second. */
void spool_disk_stamp(int dir, const struct spool_digest *d, int64_t used_s,
                      long order);
/* False: the system said no (not: there was none). */
bool spool_disk_remove(int dir, const struct spool_digest *d);

#endif
