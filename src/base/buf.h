/*
 * base/buf.h - growable bytes with a maximum.
 *
 * A failed append sticks: writers append freely and look at `failed` once
 * at the end. `p` is NUL-terminated after every append (the NUL is not
 * counted), NULL before the first.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/mem.h"

/* Named caps, in bytes. */
#define BUF_MESSAGE 4096            /* one line for people */
#define BUF_EVENT (1u << 20)        /* one SSE event */
#define BUF_ANSWER (64u << 20)      /* one whole JSON answer */
#define BUF_FILE (256u << 20)       /* a file that tools read whole */

struct buf {
    char *p;
    size_t n, cap, max;
    bool failed;
};

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);
void buf_clear(struct buf *b); /* keep the memory, forget bytes and failure */

/* What is in it, until the next append; "" when that is nothing. */
static inline struct text buf_text(const struct buf *b)
{
    return (struct text){b->p ? b->p : "", b->n};
}

void buf_add(struct buf *b, const void *s, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* Remove the first n bytes (n <= b->n). */
void buf_drop(struct buf *b, size_t n);

/* The whole of a file. ST_IO, ST_LIMIT when over b->max. */
enum st buf_read_file(struct buf *b, const char *path, struct err *e)
    MUST_CHECK;
/* The same from an open descriptor, to its end. `name` is for the message. */
enum st buf_read_fd(struct buf *b, int fd, const char *name, struct err *e)
    MUST_CHECK;

#endif
