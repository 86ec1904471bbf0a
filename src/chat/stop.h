/*
 * chat/stop.h - stop strings in a stream of bytes.
 *
 * The text ends where the leftmost of all stop strings in it begins. So one
 * that is complete waits while another that began before it may still become
 * complete, and the result does not depend on how the bytes were cut into
 * tokens. Cost: one step per byte and string.
 */
#ifndef CHAT_STOP_H
#define CHAT_STOP_H

#include "base/buf.h"

struct stop_one; /* one string and how much of it the text ends with */

struct stops {
    struct stop_one *list; /* [n] owned */
    size_t n;
    struct buf tail;       /* bytes that may still become a stop string */
    bool waits;            /* one that begins at tail.p + cut is complete */
    size_t cut, which;     /* ... the which-th one */
    bool found;            /* the text has ended at it */
};

/* Copies the strings. Errors: ST_NOMEM. */
enum st stops_open(struct stops *s, const struct text *strings, size_t n)
    MUST_CHECK;
void stops_close(struct stops *s); /* a zeroed struct is ok */

/* Take p[0..n); append to `out` what no stop string can claim any more.
 * True when one is complete: its bytes and all after them are dropped. */
bool stops_feed(struct stops *s, const char *p, size_t n, struct buf *out);
/* The text is over: release the tail, or end where a string waits. */
void stops_end(struct stops *s, struct buf *out);

#endif
