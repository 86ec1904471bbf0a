#include "fcgi/writer.h"
#include "base/thread.h"
#include "base/log.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS 64

static void signal_thread(struct writer *w)
{
    uint64_t one = 1;

    while (write(w->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void writer_wake(void *arg)
{
    struct conn *c = arg;
    struct writer *w = c->writer;
    bool first;

    if (atomic_exchange_explicit(&c->queued, 1, memory_order_acq_rel))
        return;
    c->ready_next = NULL; /* ours alone while queued was 0 */
    pthread_mutex_lock(&w->mu);
    first = !w->ready;
    if (first)
        w->ready = c;
    else
        w->ready_tail->ready_next = c;
    w->ready_tail = c;
    pthread_mutex_unlock(&w->mu);
    if (first)
        signal_thread(w);
}

void writer_take(struct conn *c)
{
    atomic_store_explicit(&c->handed, 1, memory_order_release);
    writer_wake(c);
}

/* --- one stream ---------------------------------------------------------- */

static void adopt(struct writer *w, struct conn *c)
{
    c->adopted = true;
    c->dropped = false;
    c->polled = false;
    c->stuck_us = 0;
    c->due_us = 0;
    c->prev_open = NULL;
    c->next_open = w->open;
    if (w->open)
        w->open->prev_open = c;
    w->open = c;
}

static void leave(struct writer *w, struct conn *c, enum conn_end how)
{
    if (c->polled)
        epoll_ctl(w->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    if (c->next_open)
        c->next_open->prev_open = c->prev_open;
    if (c->prev_open)
        c->prev_open->next_open = c->next_open;
    else
        w->open = c->next_open;
    c->adopted = false;
    conn_end(c, how);
}

/* Bytes that the socket did not take yet. */
static size_t waiting(const struct conn *c)
{
    return c->pend.n - c->pend_sent;
}

/* Nothing more is sent; the exchange is pumped on until its row is closed. */
static void drop(struct conn *c)
{
    c->dropped = true;
    c->stuck_us = 0;
    buf_clear(&c->pend);
    c->pend_sent = 0;
}

static void pump(struct writer *w, struct conn *c, int64_t now)
{
    enum x_pump more;

    buf_clear(&w->waste);
    more = api_pump(&c->x, c->dropped ? &w->waste : &c->pend, now);
    c->done = more != X_MORE;
    if (more == X_FAILED || c->pend.failed) {
        if (!c->done)
            api_gone(&c->x);
        drop(c);
    }
}

/* Tell us when the socket takes bytes again: once, then ask anew. */
static void watch(struct writer *w, struct conn *c)
{
    struct epoll_event ev = {.events = EPOLLOUT | EPOLLONESHOT,
                             .data.ptr = c};

    if (epoll_ctl(w->epoll_fd, c->polled ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
                  c->fd, &ev) == 0)
        c->polled = true;
}

static void flush(struct writer *w, struct conn *c, int64_t now)
{
    bool sent = false, blocked = false;

    while (waiting(c) && !blocked) {
        size_t n = waiting(c);

        n = n < OUT_PIECE ? n : OUT_PIECE;
        if (!out_ready(c->fd)) {
            blocked = true;
        } else if (!out_put(&c->out, c->pend.p + c->pend_sent, n)) {
            if (!c->done)
                api_gone(&c->x);
            drop(c);
            return;
        } else {
            c->pend_sent += n;
            sent = true;
        }
    }
    /* not at every piece: the rest of 64 MB would move a thousand times */
    if (c->pend_sent > c->pend.n / 2) {
        buf_drop(&c->pend, c->pend_sent);
        c->pend_sent = 0;
    }
    if (!blocked)
        c->stuck_us = 0;
    else if (sent || !c->stuck_us)
        c->stuck_us = now;
    if (blocked)
        watch(w, c);
}

/* Enough waits already: the ring keeps the rest of the tokens meanwhile. */
static bool full(const struct conn *c)
{
    return !c->done && !c->dropped && waiting(c) > WRITER_PEND_MAX;
}

/* When a socket that takes nothing is given up; 0: it takes. */
static int64_t patience_us(const struct conn *c)
{
    if (!c->stuck_us)
        return 0;
    return c->stuck_us + (full(c) ? WRITER_FULL_US : WRITER_STUCK_US);
}

static void check_slow(struct conn *c, int64_t now)
{
    int64_t until = patience_us(c);

    if (!until || now < until)
        return;
    log_warn("slow_client", "pending=%zu stuck_ms=%lld", waiting(c),
             (long long)((now - c->stuck_us) / 1000));
    if (!c->done)
        api_slow(&c->x);
    drop(c);
    shutdown(c->fd, SHUT_RDWR); /* the client shall see an end */
}

static void set_due(struct writer *w, struct conn *c)
{
    int64_t due = c->done || full(c) ? 0 : api_next_us(&c->x);
    int64_t until = patience_us(c);

    if (until && (!due || until < due))
        due = until;
    c->due_us = due;
    if (due && (!w->scan_us || due < w->scan_us))
        w->scan_us = due;
}

static void step(struct writer *w, struct conn *c)
{
    int64_t now = mono_us();
    bool paused;

    if (atomic_load_explicit(&c->hup, memory_order_acquire) && !c->dropped) {
        if (!c->done)
            api_gone(&c->x);
        drop(c);
    }
    do { /* again when room came for tokens that were left in the ring */
        paused = full(c);
        if (!c->done && !paused)
            pump(w, c, now);
        if (!c->dropped)
            flush(w, c, now);
    } while (paused && !full(c));
    if (!c->dropped)
        check_slow(c, now);
    if (c->done && c->dropped)
        leave(w, c, CONN_END_CUT);
    else if (c->done && !waiting(c))
        leave(w, c, CONN_END_CLEAN);
    else
        set_due(w, c);
}

/* --- the thread ---------------------------------------------------------- */

static void take_ready(struct writer *w)
{
    struct conn *c, *next;

    pthread_mutex_lock(&w->mu);
    c = w->ready;
    w->ready = NULL;
    pthread_mutex_unlock(&w->mu);
    for (; c; c = next) {
        next = c->ready_next;
        /* From here on a new wake queues it again. */
        atomic_exchange_explicit(&c->queued, 0, memory_order_acq_rel);
        if (!c->adopted &&
            !atomic_exchange_explicit(&c->handed, 0, memory_order_acq_rel))
            continue; /* a late wake: the stream has ended */
        if (!c->adopted)
            adopt(w, c);
        step(w, c);
    }
}

static void scan_timers(struct writer *w)
{
    int64_t now = mono_us();
    struct conn *c, *next;

    w->scan_us = 0;
    for (c = w->open; c; c = next) {
        next = c->next_open; /* step removes at most c */
        if (c->due_us && c->due_us <= now)
            step(w, c);
        else if (c->due_us && (!w->scan_us || c->due_us < w->scan_us))
            w->scan_us = c->due_us;
    }
}

static void cut_all(struct writer *w)
{
    struct conn *c, *next;

    for (c = w->open; c; c = next) {
        next = c->next_open;
        if (!c->done)
            api_cut(&c->x);
        step(w, c);
    }
}

static int wait_ms(const struct writer *w)
{
    int64_t left;

    if (!w->scan_us)
        return -1;
    left = (w->scan_us - mono_us() + 999) / 1000;
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static void *run(void *arg)
{
    struct writer *w = arg;
    struct epoll_event ev[EVENTS];

    while (!atomic_load_explicit(&w->stop, memory_order_acquire)) {
        int n = epoll_wait(w->epoll_fd, ev, EVENTS, wait_ms(w));

        for (int i = 0; i < n; i++) {
            uint64_t count;

            if (ev[i].data.ptr)
                step(w, ev[i].data.ptr);
            else if (read(w->event_fd, &count, sizeof(count)) < 0)
                continue; /* somebody's wake was counted already */
        }
        take_ready(w);
        if (atomic_exchange_explicit(&w->cut, 0, memory_order_acq_rel))
            cut_all(w);
        if (w->scan_us && w->scan_us <= mono_us())
            scan_timers(w);
    }
    return NULL;
}

enum st writer_start(struct writer *w, struct err *e)
{
    struct epoll_event ev = {.events = EPOLLIN};
    enum st st;

    *w = (struct writer){0};
    pthread_mutex_init(&w->mu, NULL);
    buf_init(&w->waste, BUF_ANSWER);
    w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->epoll_fd < 0 || w->event_fd < 0 ||
        epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->event_fd, &ev) < 0)
        return err_set(e, ST_IO, "writer", "%s", err_sys(errno));
    st = thread_start(&w->thread, "writer", run, w, e);
    w->started = !st;
    return st;
}

void writer_cut(struct writer *w)
{
    atomic_store_explicit(&w->cut, 1, memory_order_release);
    signal_thread(w);
}

void writer_stop(struct writer *w)
{
    if (!w->started)
        return;
    atomic_store_explicit(&w->stop, 1, memory_order_release);
    signal_thread(w);
    pthread_join(w->thread, NULL);
    w->started = false;
}

void writer_release(struct writer *w)
{
    buf_release(&w->waste);
    close(w->epoll_fd);
    close(w->event_fd);
    pthread_mutex_destroy(&w->mu);
}
