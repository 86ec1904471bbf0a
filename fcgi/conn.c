#include "fcgi/conn.h"
#include "base/thread.h"
#include "fcgi/front.h"
#include "fcgi/writer.h"

#include <sys/socket.h>

void conn_begin(struct conn *c, struct api *api)
{
    exchange_init(&c->x, api, CONN_ARENA_MAX);
    c->x.wake = writer_wake;
    c->x.wake_arg = c;
    c->x.req.arrived_us = c->arrived_us;
    c->x.req.arrived_epoch_ms =
        epoch_ms() - (mono_us() - c->arrived_us) / 1000;
    buf_init(&c->body, 0);
    buf_init(&c->pend, BUF_ANSWER + OUT_PIECE);
    c->pend_sent = 0;
}

void conn_end(struct conn *c, enum conn_end how)
{
    bool unread = c->x.body_unread, keep;

    if (how == CONN_END_CLEAN) {
        keep = out_finish(&c->out);
        c->then = unread ? CONN_THEN_LINGER : keep ? CONN_KEEP : CONN_CLOSE;
    } else {
        out_drop(&c->out);
        c->then = CONN_CLOSE;
    }
    exchange_release(&c->x);
    buf_release(&c->body);
    buf_release(&c->pend);
    front_return(c);
}
