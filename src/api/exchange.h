/*
 * api/exchange.h - one request between threads.
 *
 * fcgi makes an exchange, fills `req`, and calls api_head (headers known),
 * then api_body (body read). The result is either a short answer, complete
 * in `status/headers/body`, or a stream: fcgi then pumps it from its writer
 * thread whenever the exchange's wake function was called, a timer passed,
 * or the socket became writable, until it says it is done. A JSON answer
 * that waits for a generation is a stream too; it just yields its bytes at
 * the end. Handler threads never wait.
 *
 * Ownership: the exchange owns its arena, jobs and reply objects. One thread
 * at a time works on it (handler, then writer); api_gone is the exception:
 * any thread may call it while the exchange lives.
 */
#ifndef API_EXCHANGE_H
#define API_EXCHANGE_H

#include "base/buf.h"
#include <stdatomic.h>

struct api;

/* The request as the record layer saw it. Spans live in the arena. */
struct http_req {
    struct span method;         /* "POST" */
    struct span path;           /* as sent, not decoded, without the query */
    struct span query;
    struct span content_type;
    struct span authorization;  /* the whole header value */
    struct span api_key;        /* X-Api-Key header */
    struct span anthropic_version; /* clients of /v1/messages send it, with
                                    * every request */
    struct span user_agent;
    struct span referer;
    struct span client;         /* X-Penstock-Client header */
    struct span origin;         /* Origin header, for CORS */
    struct span cors_headers;   /* Access-Control-Request-Headers */
    bool local;                 /* nginx marked the client as local */
    bool has_length;            /* CONTENT_LENGTH was given and is a number */
    uint64_t content_length;
    struct text body;           /* after the body was read */
    int64_t arrived_us;         /* mono_us when the first byte was seen */
    int64_t arrived_epoch_ms;
};

enum x_pump {
    X_MORE,     /* nothing final yet; pump again after a wake or at
                 * api_next_us */
    X_DONE,     /* everything is in `out`; write it, then finish the request */
    X_FAILED,   /* nothing may be sent any more: close */
};

struct exchange {
    struct arena arena;
    struct http_req req;

    /* the short answer, or the head of a stream */
    int status;                 /* HTTP status; 0: not decided yet */
    struct buf head;            /* "Status: 200 OK\r\n", "Name: value\r\n"
                                 * lines and the empty line that ends them */
    struct buf body;            /* short answers: follows the head as it is */
    bool streaming;             /* pump it */
    bool body_unread;           /* refused before the body was read: linger */
    struct span cors;           /* Access-Control-Allow-Origin, of the
                                 * configuration; empty: none */

    /*
     * Set by fcgi right after exchange_init, before another thread can know
     * the exchange. Called from any thread (engine, db writer, io), also
     * while api_body still runs; only signals; may be called once too often.
     * Never called any more once api_pump returned X_DONE or X_FAILED.
     */
    void (*wake)(void *arg);
    void *wake_arg;

    _Atomic int gone;           /* the client left */
    struct api *api;
    void *state;                /* api's own: struct run */
};

/* max_arena bounds everything that parsing may take (body copy excluded). */
void exchange_init(struct exchange *x, struct api *api, size_t max_arena);
void exchange_release(struct exchange *x);

/*
 * Headers are known, the body is not read. May decide already (x->status is
 * then set and the answer is complete): unknown route 404, wrong method 405,
 * key 401, declared length over the cap 413, draining 503. *body_cap = bytes
 * that may be read.
 */
void api_head(struct exchange *x, uint64_t *body_cap);
/* The body is in x->req.body. Afterwards x->status is set or x->streaming.
 * The arena may be empty afterwards: the spans of x->req are gone (emptied);
 * its numbers stay. */
void api_body(struct exchange *x);
/* The body broke a rule while it was read (over the cap, or shorter than
 * declared), or the parameters did and api_head was not called. Makes the
 * answer. */
void api_body_error(struct exchange *x, const struct err *e);

/*
 * Append bytes that may be sent now to `out`. The first bytes of a stream
 * are its head (as in x->head); nothing is emitted before admission is
 * decided. Pump once right after api_body said streaming: a wake before that
 * may have been missed. Must also be called while the socket is not
 * writable: `out` then simply grows.
 *   now_us  mono_us
 */
enum x_pump api_pump(struct exchange *x, struct buf *out, int64_t now_us);
/* When to pump again even without a wake (comment lines); 0: never. */
int64_t api_next_us(const struct exchange *x);
/* The client left (any thread, any time between exchange_init and
 * exchange_release, more than once). Sets the flag and calls x->wake; the
 * next pump cancels the generation, which stops at its next safe point. The
 * exchange must still be pumped until it is no longer X_MORE, with its
 * output thrown away, so that its ledger row closes with real counts. */
void api_gone(struct exchange *x);
/* The writer gave up on a client that does not read: as api_gone, but the
 * row says slow_client. */
void api_slow(struct exchange *x);
/* The daemon ends before this stream did (drain timeout): the generation
 * stops and the next pumps end the answer with a server error. */
void api_cut(struct exchange *x);

#endif
