#include "fcgi/front.h"
#include "base/log.h"
#include "base/thread.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define EVENTS 128
#define ACCEPT_BATCH 256
#define DISCARD_MAX (1u << 20) /* per event: others want their turn */
#define TAG_LISTEN UINT32_MAX
#define TAG_EVENT (UINT32_MAX - 1)

static void signal_thread(struct front *f)
{
    uint64_t one = 1;

    while (write(f->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
}

void front_return(struct conn *c)
{
    struct front *f = c->front;
    bool first;

    pthread_mutex_lock(&f->mu);
    first = !f->returned;
    c->next = f->returned;
    f->returned = c;
    pthread_mutex_unlock(&f->mu);
    if (first)
        signal_thread(f);
}

/* --- slots --------------------------------------------------------------- */

static void watch(struct front *f, struct conn *c, int op, uint32_t events)
{
    struct epoll_event ev = {.events = events};

    ev.data.u64 = (uint64_t)c->generation << 32 | (uint32_t)(c - f->table);
    if (epoll_ctl(f->epoll_fd, op, c->fd, &ev) < 0)
        log_warn("epoll", "op=%d error=\"%s\"", op, err_sys(errno));
}

static void set_deadline(struct front *f, struct conn *c, int64_t after_us)
{
    c->deadline_us = mono_us() + after_us;
    if (!f->scan_us || c->deadline_us < f->scan_us)
        f->scan_us = c->deadline_us;
}

/* The links are written here only: a late wake of an earlier tenant reads
 * them at any time. */
static struct conn *slot_new(struct front *f)
{
    struct conn *c = &f->table[f->used++];

    c->front = f;
    c->writer = f->writer;
    return c;
}

static struct conn *slot_take(struct front *f)
{
    struct conn *c = f->free;

    if (c)
        f->free = c->next;
    else if (f->used < f->max)
        c = slot_new(f);
    if (c) {
        c->generation++;
        c->served = false;
        atomic_store_explicit(&c->hup, 0, memory_order_relaxed);
        atomic_fetch_add_explicit(&f->open, 1, memory_order_relaxed);
    }
    return c;
}

static void slot_free(struct front *f, struct conn *c)
{
    c->at = CONN_FREE;
    c->fd = -1;
    c->generation++; /* events still in the batch find a stranger */
    c->deadline_us = 0;
    c->next = f->free;
    f->free = c;
    atomic_fetch_sub_explicit(&f->open, 1, memory_order_release);
}

static void shut(struct front *f, struct conn *c)
{
    close(c->fd); /* leaves epoll by itself */
    slot_free(f, c);
}

/* --- accept -------------------------------------------------------------- */

static void arm_listener(struct front *f, bool on)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = TAG_LISTEN};

    if (f->armed == on)
        return;
    epoll_ctl(f->epoll_fd, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, f->listen_fd,
              &ev);
    f->armed = on;
}

/* Out of descriptors or slots: leave the rest in the backlog for a while,
 * where it is safe; spinning here would not make room. */
static void accept_later(struct front *f, const char *why)
{
    int64_t now = mono_us();

    if (!f->said_us || now - f->said_us >= FRONT_SAY_US) {
        log_warn("accept_paused", "why=\"%s\" open=%d", why,
                 atomic_load_explicit(&f->open, memory_order_relaxed));
        f->said_us = now;
    }
    arm_listener(f, false);
    f->retry_us = now + FRONT_RETRY_US;
}

static void admit(struct front *f, struct conn *c, int fd)
{
    const struct timeval tv = {.tv_sec = FRONT_READ_S};
    const int on = 1, bytes = FRONT_TCP_SEND;

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
    if (f->tcp) { /* a token leaves at once; POLLOUT means room for a piece */
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
    }
    c->fd = fd;
    c->at = CONN_WAIT;
    set_deadline(f, c, FRONT_FIRST_BYTE_US);
    watch(f, c, EPOLL_CTL_ADD, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT);
}

/* False when the backlog is empty or accepting has to pause. */
static bool accept_one(struct front *f)
{
    struct conn *c = slot_take(f);
    int fd, error;

    if (!c) {
        accept_later(f, "max-connections");
        return false;
    }
    fd = accept4(f->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0) {
        admit(f, c, fd);
        return true;
    }
    error = errno;
    slot_free(f, c);
    if (error == EINTR || error == ECONNABORTED)
        return true;
    if (error != EAGAIN && error != EWOULDBLOCK)
        accept_later(f, err_sys(error));
    return false;
}

static void accept_some(struct front *f)
{
    for (int i = 0; i < ACCEPT_BATCH; i++)
        if (!accept_one(f))
            return;
}

/* --- connections --------------------------------------------------------- */

static void dispatch(struct front *f, struct conn *c)
{
    c->at = CONN_BUSY;
    c->deadline_us = 0;
    c->served = true;
    c->arrived_us = mono_us();
    atomic_fetch_add_explicit(&f->busy, 1, memory_order_relaxed);
    watch(f, c, EPOLL_CTL_MOD, EPOLLRDHUP | EPOLLONESHOT);
    handlers_put(f->handlers, c);
}

static void first_byte(struct front *f, struct conn *c)
{
    char byte;
    ssize_t n = recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    if (n > 0)
        dispatch(f, c);
    else if (n < 0 && (errno == EAGAIN || errno == EINTR))
        watch(f, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT);
    else
        shut(f, c);
}

static void discard(struct front *f, struct conn *c)
{
    char waste[16384];
    size_t sum = 0;

    while (sum < DISCARD_MAX) {
        ssize_t n = recv(c->fd, waste, sizeof(waste), MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            shut(f, c);
            return;
        }
        sum += (size_t)n;
    }
}

static void on_event(struct front *f, uint64_t data)
{
    uint32_t i = (uint32_t)data;
    struct conn *c = i < f->used ? &f->table[i] : NULL;

    if (!c || c->generation != (uint32_t)(data >> 32))
        return;
    if (c->at == CONN_WAIT) {
        first_byte(f, c);
    } else if (c->at == CONN_LINGER) {
        discard(f, c);
    } else if (c->at == CONN_BUSY) {
        atomic_store_explicit(&c->hup, 1, memory_order_release);
        writer_wake(c);
    }
}

static void take_back(struct front *f, struct conn *c)
{
    bool stopping = atomic_load_explicit(&f->stopping, memory_order_acquire);

    atomic_fetch_sub_explicit(&f->busy, 1, memory_order_release);
    if (c->then == CONN_CLOSED) {
        slot_free(f, c);
    } else if (c->then == CONN_THEN_LINGER) {
        c->at = CONN_LINGER;
        shutdown(c->fd, SHUT_WR);
        set_deadline(f, c, FRONT_LINGER_US);
        watch(f, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLRDHUP);
    } else if (c->then == CONN_KEEP && !stopping &&
               !atomic_load_explicit(&c->hup, memory_order_acquire)) {
        c->at = CONN_WAIT;
        set_deadline(f, c, FRONT_IDLE_US);
        watch(f, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLRDHUP | EPOLLONESHOT);
    } else {
        shut(f, c);
    }
}

static void take_all_back(struct front *f)
{
    struct conn *c, *next;

    pthread_mutex_lock(&f->mu);
    c = f->returned;
    f->returned = NULL;
    pthread_mutex_unlock(&f->mu);
    for (; c; c = next) {
        next = c->next;
        take_back(f, c);
    }
}

static void scan_timers(struct front *f, int64_t now)
{
    f->scan_us = 0;
    for (uint32_t i = 0; i < f->used; i++) {
        struct conn *c = &f->table[i];

        if (c->at == CONN_FREE || !c->deadline_us)
            continue;
        if (c->deadline_us <= now)
            shut(f, c);
        else if (!f->scan_us || c->deadline_us < f->scan_us)
            f->scan_us = c->deadline_us;
    }
}

/* --- the thread ---------------------------------------------------------- */

static void stop_listening(struct front *f)
{
    while (accept_one(f))
        ;
    arm_listener(f, false);
    f->retry_us = 0;
    for (uint32_t i = 0; i < f->used; i++)
        if (f->table[i].at == CONN_WAIT && f->table[i].served)
            shut(f, &f->table[i]);
    atomic_store_explicit(&f->listening, 0, memory_order_release);
}

static int wait_ms(const struct front *f)
{
    int64_t at = f->scan_us, left;

    if (f->retry_us && (!at || f->retry_us < at))
        at = f->retry_us;
    if (!at)
        return -1;
    left = (at - mono_us() + 999) / 1000;
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

static void timers(struct front *f)
{
    int64_t now = mono_us();

    if (f->retry_us && f->retry_us <= now) {
        f->retry_us = 0;
        arm_listener(f, true);
    }
    if (f->scan_us && f->scan_us <= now)
        scan_timers(f, now);
}

static bool is_tcp(int fd)
{
    int domain = AF_UNIX;
    socklen_t n = sizeof(domain);

    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
           domain != AF_UNIX;
}

static void *run(void *arg)
{
    struct front *f = arg;
    struct epoll_event ev[EVENTS];

    arm_listener(f, true);
    while (!atomic_load_explicit(&f->ending, memory_order_acquire)) {
        int n = epoll_wait(f->epoll_fd, ev, EVENTS, wait_ms(f));

        for (int i = 0; i < n; i++) {
            uint64_t count;

            if (ev[i].data.u64 == TAG_LISTEN)
                accept_some(f);
            else if (ev[i].data.u64 != TAG_EVENT)
                on_event(f, ev[i].data.u64);
            else if (read(f->event_fd, &count, sizeof(count)) < 0)
                continue; /* counted already */
        }
        take_all_back(f);
        timers(f);
        if (atomic_load_explicit(&f->stopping, memory_order_acquire) &&
            atomic_load_explicit(&f->listening, memory_order_relaxed))
            stop_listening(f);
    }
    return NULL;
}

enum st front_start(struct front *f, int listen_fd, int max_connections,
                    struct handlers *h, struct writer *w, struct err *e)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = TAG_EVENT};
    enum st st;

    *f = (struct front){.listen_fd = listen_fd,
                        .tcp = is_tcp(listen_fd),
                        .handlers = h,
                        .writer = w,
                        .max = (uint32_t)max_connections,
                        .listening = 1};
    pthread_mutex_init(&f->mu, NULL);
    f->table = mem_array(struct conn, f->max);
    f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    f->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (f->epoll_fd < 0 || f->event_fd < 0 ||
        epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, f->event_fd, &ev) < 0)
        return err_set(e, ST_IO, "io thread", "%s", err_sys(errno));
    st = thread_start(&f->thread, "io", run, f, e);
    f->started = !st;
    return st;
}

void front_stop(struct front *f)
{
    atomic_store_explicit(&f->stopping, 1, memory_order_release);
    signal_thread(f);
}

void front_end(struct front *f)
{
    if (!f->started)
        return;
    atomic_store_explicit(&f->ending, 1, memory_order_release);
    signal_thread(f);
    pthread_join(f->thread, NULL);
    f->started = false;
    /* Not closed: a handler may still read from one. Shut down, so that it
     * does not read on; the exit closes. */
    for (uint32_t i = 0; i < f->used; i++)
        if (f->table[i].at != CONN_FREE)
            shutdown(f->table[i].fd, SHUT_RDWR);
}

void front_release(struct front *f)
{
    close(f->epoll_fd);
    close(f->event_fd);
    pthread_mutex_destroy(&f->mu);
    free(f->table);
}
