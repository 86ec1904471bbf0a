/*
 * acct/responses.h - responses that their clients want kept.
 *
 * The one table with text of users (sql/0003_responses.sql): the input and
 * the answer of a request, both JSON that this folder does not read. A row is
 * opened at admission, closed at the end; both go through the db writer, in
 * the order of its queue. A row that is still open at the start belonged to a
 * daemon that died: it becomes failed. Reading has a connection of its own
 * under a mutex and waits RESPONSES_WAIT_MS for a lock at most.
 *
 * A key sees its own and nothing else; key 0 are local clients while no key
 * is configured. What another key has, what has expired and what never was
 * are one and the same ST_NOT_FOUND.
 *
 * Bytes that wait for the writer are counted: while there are more than
 * RESPONSES_WAITING no further row is opened (ST_BUSY). What was opened is
 * always closed.
 *
 * Threads: any, but open, tick and free: one.
 */
#ifndef ACCT_RESPONSES_H
#define ACCT_RESPONSES_H

#include "base/buf.h"
#include "db/writer.h"

#define RESPONSE_ID_LEN 29 /* resp_ and 24 hex digits */
#define RESPONSES_WAITING ((size_t)64 << 20)
#define RESPONSES_WAIT_MS 250
#define RESPONSES_CHAIN 1000 /* responses that one may go on from, in a row */

struct responses; /* opaque */

struct response_row {
    char id[40];
    int64_t key_id;      /* 0: none */
    char previous[40];   /* "": it goes on from none */
    int64_t created_ms, expires_ms; /* epoch */
    char model[129];
};

/* w borrowed. The file exists (the writer made it). Fails what a dead daemon
 * left open (counted in *died). */
enum st responses_open(struct responses **out, struct db_writer *w,
                       const char *path, size_t *died, struct err *e)
    MUST_CHECK;
void responses_free(struct responses *rs); /* after db_writer_close; NULL ok */

bool responses_id_ok(const char *s, size_t n);

/*
 * Open a row, in progress. The ancestors of a row with `previous` live as
 * long as it does, from then on.
 *   input   JSON of the items; its memory is taken on ST_OK
 *   answer  JSON of the object so far; the same
 * Errors: ST_BUSY: the queue is full.
 */
enum st responses_begin(struct responses *rs, const struct response_row *row,
                        struct buf *input, struct buf *answer, struct err *e)
    MUST_CHECK;
/* How it ended, once for every begin: completed, incomplete, failed or
 * cancelled (static). Takes the memory of `answer`; one that is empty or that
 * failed makes a failed row. `done` as in db_post; NULL ok. */
void responses_end(struct responses *rs, const char *id, const char *status,
                   struct buf *answer, void (*done)(void *arg), void *arg);
/* Instead of the end: it was not admitted after all. */
void responses_undo(struct responses *rs, const char *id, int64_t key_id);
/* `done` as in db_post. ST_BUSY: the queue is full. */
enum st responses_delete(struct responses *rs, const char *id, int64_t key_id,
                         void (*done)(void *arg), void *arg, struct err *e)
    MUST_CHECK;

/* Once a second, or seldom: removes what has expired, a few at a time. */
void responses_tick(struct responses *rs, int64_t now_ms);

/* --- reading: ST_NOT_FOUND, ST_BUSY (locked), ST_NOMEM, ST_IO ------------- */

/*
 * One response.
 *   status  word of the table; written on ST_OK
 *   input, answer  what it holds is added; NULL: not wanted. An answer
 *                  that is not there adds nothing.
 */
enum st responses_read(struct responses *rs, const char *id, int64_t key_id,
                       int64_t now_ms, char status[16], struct buf *input,
                       struct buf *answer, struct err *e) MUST_CHECK;

/* Bytes of one, input and answer. */
enum st responses_size(struct responses *rs, const char *id, int64_t key_id,
                       int64_t now_ms, size_t *bytes, struct err *e)
    MUST_CHECK;

struct response_chain {
    size_t n;
    char id[RESPONSES_CHAIN][RESPONSE_ID_LEN + 1]; /* the newest first */
    size_t bytes; /* of all their inputs and answers */
};

/*
 * What `id` goes on from, itself included. Besides the errors above: ST_LIMIT
 * when there are more than RESPONSES_CHAIN or their bytes are more than
 * max_bytes; ST_INVALID when one of them runs, or an older one is not there
 * any more. The words of these two are for the client.
 */
enum st responses_chain(struct responses *rs, const char *id, int64_t key_id,
                        int64_t now_ms, size_t max_bytes,
                        struct response_chain *out, struct err *e) MUST_CHECK;

#endif
