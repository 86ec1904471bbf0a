/*
 * fcgi/front.h - the io thread: accepts, waits for first bytes, sees clients
 * leave, closes.
 *
 * One epoll set holds the listener and every connection. A connection that
 * waits (fresh, or kept by the web server) costs a descriptor and no thread.
 * Once its first byte is there a handler gets it, and epoll watches it for
 * hang-up only: nginx never sends FCGI_ABORT_REQUEST, it closes (case C14).
 *
 * An answer given before the body was read ends in a lingering close: send
 * side shut down, what still comes is discarded until the peer closes or
 * FRONT_LINGER_US passed. A bare close there would turn the answer into a
 * 502 (spec fcgi.md section 5).
 */
#ifndef FCGI_FRONT_H
#define FCGI_FRONT_H

#include "fcgi/conn.h"
#include "fcgi/handler.h"
#include "fcgi/writer.h"

#define FRONT_FIRST_BYTE_US 5000000
#define FRONT_IDLE_US 75000000   /* kept connections; nginx closes at 60 s */
#define FRONT_LINGER_US 2000000
#define FRONT_RETRY_US 100000    /* after EMFILE or a full table */
#define FRONT_READ_S 30          /* SO_RCVTIMEO and SO_SNDTIMEO */
#define FRONT_SAY_US 10000000    /* at most one accept_paused line in this */
#define FRONT_TCP_SEND (256 * 1024) /* a third of it takes OUT_PIECE */

struct front {
    int listen_fd;               /* borrowed, non-blocking */
    bool tcp;                    /* its connections are TCP */
    int epoll_fd, event_fd;
    struct handlers *handlers;
    struct writer *writer;
    pthread_t thread;
    bool started;

    pthread_mutex_t mu;
    struct conn *returned;       /* guarded by mu */
    _Atomic int stopping;        /* accept what is queued, then no more */
    _Atomic int ending;          /* leave the loop */
    _Atomic int listening;       /* the listener is still served */
    _Atomic int open;            /* connections that are not free */
    _Atomic int busy;            /* of them: with a handler or the writer */

    /* the thread's own */
    struct conn *table;          /* [max] */
    uint32_t max, used;          /* slots ever used */
    struct conn *free;
    bool armed;                  /* the listener is in epoll */
    int64_t retry_us, scan_us;   /* 0: none */
    int64_t said_us;             /* last accept_paused line */
};

enum st front_start(struct front *f, int listen_fd, int max_connections,
                    struct handlers *h, struct writer *w, struct err *e)
    MUST_CHECK;
/* The owner is done with `c`; c->then says what follows. Any thread. */
void front_return(struct conn *c);
/* Accept what the kernel has queued, then stop listening; kept connections
 * are closed. `listening` becomes 0 when that is done. */
void front_stop(struct front *f);
/* Join, and end every connection: handlers that read from one come back. */
void front_end(struct front *f);
/* After every backend has stopped: until then late wakes may come. */
void front_release(struct front *f);

#endif
