/*
 * fcgi/writer.h - the thread that owns all open streams.
 *
 * A wake-up (from an engine, the ledger, the io thread or a timer) makes the
 * writer pump the exchange and put everything that came out into one record
 * run with one flush, if the socket says it is ready; otherwise the bytes
 * wait here. The reply is pumped also while its socket takes nothing, so
 * that a stop string behind a stalled client is still found.
 *
 * Slow clients: over WRITER_PEND_MAX waiting bytes a stream is pumped no
 * more until some have left. A socket that takes nothing for
 * WRITER_STUCK_US, or for WRITER_FULL_US with that much waiting, is given up
 * (api_slow) and cut. Only time decides, so that a burst of a fast engine is
 * not taken for a slow client.
 */
#ifndef FCGI_WRITER_H
#define FCGI_WRITER_H

#include "fcgi/conn.h"
#include <pthread.h>

#define WRITER_PEND_MAX (256u * 1024)
#define WRITER_STUCK_US 30000000
#define WRITER_FULL_US 2000000

struct writer {
    int epoll_fd, event_fd;
    pthread_t thread;
    bool started;
    pthread_mutex_t mu;
    struct conn *ready, *ready_tail; /* guarded by mu */
    _Atomic int stop, cut;

    /* the thread's own */
    struct conn *open;               /* list of streams */
    int64_t scan_us;                 /* earliest timer; 0: none */
    struct buf waste;                /* output of dropped streams */
};

enum st writer_start(struct writer *w, struct err *e) MUST_CHECK;
/* The handler is done with `c`: from now on the writer owns it. */
void writer_take(struct conn *c);
/* struct exchange's wake function: arg is a struct conn. Any thread, also
 * for a connection that has ended meanwhile. */
void writer_wake(void *arg);
/* End every open stream with the server's own error event, soon. */
void writer_cut(struct writer *w);
/* Join. Streams that are still open are left as they are: exit follows. */
void writer_stop(struct writer *w);
/* After every backend has stopped: until then late wakes may come. */
void writer_release(struct writer *w);

#endif
