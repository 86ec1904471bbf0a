/*
 * fcgi/conn.h - one connection of the web server, and who works on it.
 *
 * A connection is a slot of a table that lives as long as the process, so a
 * late wake-up of an engine or of the ledger can never touch freed memory:
 * at worst it looks at a slot that has a new tenant, and finds nothing to do.
 *
 * Exactly one thread owns a slot at a time:
 *   io thread       free, waiting for a first byte, kept idle, lingering
 *   handler thread  reading the request, short answers
 *   writer thread   a stream, or an answer too long for a handler
 * Only the io thread opens and closes descriptors. A hang-up that it sees
 * while another thread owns the slot becomes one atomic flag.
 */
#ifndef FCGI_CONN_H
#define FCGI_CONN_H

#include "api/exchange.h"
#include "fcgi/out.h"

enum conn_at {
    CONN_FREE,
    CONN_WAIT,   /* io: for the first byte of a request */
    CONN_BUSY,   /* a handler or the writer has it */
    CONN_LINGER, /* io: discard what still comes, then close */
};

enum conn_next { /* what the io thread does with a returned connection */
    CONN_KEEP,
    CONN_CLOSE,
    CONN_THEN_LINGER,
    CONN_CLOSED, /* libfcgi has closed the descriptor already */
};

struct front;
struct writer;

struct conn {
    /* io thread */
    int fd;
    uint32_t generation;    /* in epoll's data: late events are recognised */
    enum conn_at at;
    bool served;            /* had a request before: kept idle */
    int64_t deadline_us;    /* 0: none */

    /* the owner; `next` is the link of the queue that the slot is in */
    struct conn *next;
    struct front *front;
    struct writer *writer;
    enum conn_next then;
    int64_t arrived_us;     /* first byte of this request */
    struct out out;
    struct exchange x;
    struct buf body;        /* until api_body returns: x.req.body is in it */

    /* writer thread */
    struct conn *prev_open, *next_open;
    struct buf pend;        /* bytes for the socket */
    size_t pend_sent;       /* so many of them it has taken already */
    bool adopted;           /* the writer owns it now */
    bool done;              /* nothing more will be pumped */
    bool dropped;           /* output is thrown away: gone, slow or broken */
    bool polled;            /* in the writer's epoll, for writability */
    int64_t stuck_us;       /* since when the socket takes nothing, or 0 */
    int64_t due_us;         /* pump at this time even without a wake; 0: no */

    /* between threads */
    struct conn *ready_next;  /* guarded by the writer's mutex */
    _Atomic int queued;       /* in the writer's ready list */
    _Atomic int handed;       /* the handler gave it to the writer */
    _Atomic int hup;          /* the io thread saw the client leave */
};

/* What parsing one request may take, its body apart, in bytes. */
#define CONN_ARENA_MAX (64u << 20)

/* The parameters were read: make the exchange. Handler thread. */
void conn_begin(struct conn *c, struct api *api);

enum conn_end {
    CONN_END_CLEAN, /* everything was written: say END_REQUEST */
    CONN_END_CUT,   /* the client is gone, slow, or may not see more */
};
/* Release the request and give the slot back to the io thread. The caller
 * (handler or writer) does not touch `c` afterwards. */
void conn_end(struct conn *c, enum conn_end how);

#endif
