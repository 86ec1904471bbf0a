#include "fcgi/handler.h"
#include "base/thread.h"
#include "fcgi/front.h"
#include "fcgi/req.h"
#include "fcgi/writer.h"

static size_t body_read(void *arg, char *p, size_t n)
{
    return out_read(arg, p, n);
}

static bool body_ended(void *arg)
{
    return out_read_ok(arg);
}

/* The end of a body that should be empty: a close with bytes unread would
 * turn the answer into a 502. */
static bool read_end(struct out *o)
{
    char waste[64];

    return out_read(o, waste, sizeof(waste)) == 0 && out_read_ok(o);
}

/* Parameters, head, body: afterwards x has an answer or is a stream. */
static void ask(const struct handlers *h, struct conn *c)
{
    const struct req_source from = {body_read, body_ended, &c->out};
    struct exchange *x = &c->x;
    struct err e;
    uint64_t cap = 0;
    enum st st = req_params(&x->req, &x->arena, out_params(&c->out), &e);

    if (st) {
        api_body_error(x, &e);
        return;
    }
    if (h->strangers)
        x->req.local = false; /* PENSTOCK_EDGE proves nothing here */
    api_head(x, &cap);
    if (x->status) {
        if (!x->body_unread)
            x->body_unread = !read_end(&c->out);
        return;
    }
    st = req_body(&x->req, &c->body, cap, &from, &e);
    if (st) {
        api_body_error(x, &e);
        return;
    }
    if (atomic_load_explicit(&c->hup, memory_order_acquire))
        api_gone(x); /* left already: the row shall say so */
    api_body(x);
    buf_release(&c->body); /* a stream may wait for long; it needs none of it */
}

/* Head and body of a short answer into one run of bytes. */
static void answer(struct conn *c)
{
    struct exchange *x = &c->x;

    buf_add(&c->pend, x->head.p, x->head.n);
    buf_add(&c->pend, x->body.p, x->body.n);
    if (c->pend.failed || x->head.failed || x->body.failed) {
        conn_end(c, CONN_END_CUT);
        return;
    }
    c->done = true;
    if (c->pend.n > OUT_PIECE) { /* more than a socket takes at once */
        writer_take(c);
        return;
    }
    conn_end(c, out_put(&c->out, c->pend.p, c->pend.n) ? CONN_END_CLEAN
                                                       : CONN_END_CUT);
}

static void serve(struct handlers *h, struct conn *c)
{
    struct err e;

    c->done = false;
    if (out_open(&c->out, c->fd, &e)) {
        c->then = CONN_CLOSED;
        front_return(c);
        return;
    }
    conn_begin(c, h->api);
    ask(h, c);
    if (c->x.streaming)
        writer_take(c);
    else
        answer(c);
}

static void *run(void *arg)
{
    struct handlers *h = arg;

    pthread_mutex_lock(&h->mu);
    for (;;) {
        struct conn *c;

        while (!h->head && !h->stop)
            pthread_cond_wait(&h->more, &h->mu);
        c = h->head;
        if (!c)
            break;
        h->head = c->next;
        pthread_mutex_unlock(&h->mu);
        serve(h, c);
        pthread_mutex_lock(&h->mu);
    }
    pthread_mutex_unlock(&h->mu);
    return NULL;
}

enum st handlers_start(struct handlers *h, struct api *api, int n,
                       enum handlers_trust trust, struct err *e)
{
    *h = (struct handlers){.api = api,
                           .strangers = trust == PEER_MAY_BE_ANYBODY};
    pthread_mutex_init(&h->mu, NULL);
    pthread_cond_init(&h->more, NULL);
    for (; h->n < n && h->n < HANDLERS_MAX; h->n++) {
        enum st st = thread_start(&h->threads[h->n], "handler", run, h, e);

        if (st)
            return st;
    }
    return ST_OK;
}

void handlers_put(struct handlers *h, struct conn *c)
{
    c->next = NULL;
    pthread_mutex_lock(&h->mu);
    if (h->head)
        h->tail->next = c;
    else
        h->head = c;
    h->tail = c;
    pthread_cond_signal(&h->more);
    pthread_mutex_unlock(&h->mu);
}

void handlers_stop(struct handlers *h)
{
    pthread_mutex_lock(&h->mu);
    h->stop = true;
    pthread_cond_broadcast(&h->more);
    pthread_mutex_unlock(&h->mu);
    for (int i = 0; i < h->n; i++)
        pthread_join(h->threads[i], NULL);
    pthread_cond_destroy(&h->more);
    pthread_mutex_destroy(&h->mu);
}
