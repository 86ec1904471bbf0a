/*
 * db/writer.h - the one thread that writes, and its bounded queue.
 *
 * Posts are grouped into transactions (at most 1,000 posts, or 20 ms unless
 * one of them is `soon`). A
 * busy or full disk keeps the group and retries: a post that was accepted is
 * never dropped while the process lives; failures are logged at most once a
 * minute. A post that can never work (it breaks a constraint: our mistake) is
 * logged as lost and ends alone. Owns the write connection. While idle, or
 * when the WAL is large, it tries to cut the WAL to nothing, which works as
 * soon as no reader holds it.
 */
#ifndef DB_WRITER_H
#define DB_WRITER_H

#include "db/db.h"

struct db_writer; /* opaque */

struct db_post {
    /* Runs on the writer thread inside a transaction; may run again after a
     * failed commit. Returns ST_OK or an error that aborts the group. */
    enum st (*run)(struct db *db, void *arg, struct err *e);
    /* Runs on the writer thread once the transaction is durable in the WAL
     * (or the post is lost, as above); NULL ok. Frees `arg`. It must only
     * signal. */
    void (*done)(void *arg);
    void *arg;
    bool soon; /* somebody waits for `done`: the group is not held for more */
};

struct db_writer_state {
    size_t queued;          /* posts not yet committed */
    uint64_t committed;     /* posts since start */
    uint64_t failures;      /* failed attempts since start */
    int64_t wal_bytes;      /* size of the WAL file now */
};

/* max_queue posts may wait (10,000 is usual). */
enum st db_writer_open(struct db_writer **out, const char *path,
                       size_t max_queue, struct err *e) MUST_CHECK;
/* Commit what is queued (trying at most `ms`), stop, cut the WAL, close. Posts
 * that are left then are counted in the log; their `done` never runs. NULL
 * ok. */
void db_writer_close(struct db_writer *w, int64_t ms);
/* ST_BUSY when the queue is full: admission answers 503. */
enum st db_post(struct db_writer *w, const struct db_post *p, struct err *e)
    MUST_CHECK;
/* For closing posts of requests already admitted: always takes it. Not after
 * db_writer_close began. */
void db_post_always(struct db_writer *w, const struct db_post *p);
void db_writer_state(struct db_writer *w, struct db_writer_state *out);

#endif
