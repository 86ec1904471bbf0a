/*
 * fcgi/handler.h - a few threads that read requests and answer short ones.
 *
 * A handler works on one connection from its first byte to a short answer
 * or to the hand-over to the writer. It blocks only while it reads a
 * request that the web server is sending (30 s at most between two reads);
 * it never waits for a generation, a client or the disk.
 */
#ifndef FCGI_HANDLER_H
#define FCGI_HANDLER_H

#include "fcgi/conn.h"
#include <pthread.h>

#define HANDLERS_MAX 8

struct handlers {
    struct api *api;              /* borrowed */
    bool strangers;               /* anybody may connect: nobody is local */
    pthread_mutex_t mu;
    pthread_cond_t more;
    struct conn *head, *tail;     /* guarded by mu */
    bool stop;                    /* guarded by mu */
    pthread_t threads[HANDLERS_MAX];
    int n;
};

enum handlers_trust { PEER_IS_SERVER, PEER_MAY_BE_ANYBODY };
enum st handlers_start(struct handlers *h, struct api *api, int n,
                       enum handlers_trust trust, struct err *e) MUST_CHECK;
/* A connection with bytes to read; any thread. */
void handlers_put(struct handlers *h, struct conn *c);
/* Let every thread finish its request, then join. */
void handlers_stop(struct handlers *h);

#endif
