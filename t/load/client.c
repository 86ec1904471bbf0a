/*
 * client SOCKET PLAN TOTAL WIDTH LEAVE SEED: requests straight to the daemon's
 * socket, as nginx would pass them on, WIDTH at a time, until TOTAL were sent.
 * LEAVE of a hundred close their connection at a random moment. Who gets a
 * 503 comes back 50 ms later with its next request.
 *
 * PLAN has lines of two kinds:
 *
 *   key TOKEN          a bearer token; each request takes one of them
 *   ask PATH BODY      a request; @@@@@@ in the body is the request's number
 *
 * TOTAL 0: every ask once, in order, with the first key, nobody leaves.
 *
 * Prints a line for each request when it ends, columns by tabs: number, ask
 * (from 0), key, how it ended (done, left, closed), status, Retry-After,
 * X-Request-Id, finish reason, prompt tokens, cached ones, microseconds to the
 * first text, microseconds in all, text. Text is reasoning, "|", answer, as
 * the JSON strings have them, so it has no tab and no line feed.
 */
#include "base/buf.h"
#include "base/num.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WIDTH_MAX 2048
#define LINES_MAX 4096
#define BACK_OFF_US 50000
#define MARK "@@@@@@"

enum fcgi { F_BEGIN = 1, F_END = 3, F_PARAMS = 4, F_STDIN = 5, F_STDOUT = 6 };

struct ask {
    const char *path, *body;
};

struct plan {
    struct buf file;
    const char *key[LINES_MAX];
    struct ask ask[LINES_MAX];
    size_t keys, asks;
};

struct conn {
    int fd; /* -1: none */
    int64_t number, start_us, first_us, leave_us, again_us;
    size_t ask, key, sent;
    struct buf out; /* to be sent */
    struct buf in;  /* records not yet whole */
    struct buf got; /* STDOUT */
    bool ended;
};

struct load {
    struct plan plan;
    const char *socket;
    int64_t total, width, leave, next;
    uint64_t random;
    int epoll;
    struct conn *conn; /* [width] */
};

static void die(const char *what)
{
    fprintf(stderr, "client: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* splitmix64 */
static uint64_t roll(struct load *l, uint64_t below)
{
    uint64_t z = l->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % below;
}

/* --- the plan ------------------------------------------------------------- */

static void plan_line(struct plan *p, char *line)
{
    char *space = strchr(line, ' ');

    if (p->keys == LINES_MAX || p->asks == LINES_MAX)
        die("too many lines");
    if (!strncmp(line, "key ", 4)) {
        p->key[p->keys++] = line + 4;
    } else if (!strncmp(line, "ask ", 4)) {
        space = strchr(line + 4, ' ');
        if (!space)
            die("ask without a body");
        *space = '\0';
        p->ask[p->asks++] = (struct ask){line + 4, space + 1};
    }
}

static void plan_read(struct plan *p, const char *path)
{
    char *at, *nl;

    buf_init(&p->file, BUF_FILE);
    if (buf_read_file(&p->file, path, NULL) || !p->file.n)
        die(path);
    for (at = p->file.p; (nl = strchr(at, '\n')); at = nl + 1) {
        *nl = '\0';
        plan_line(p, at);
    }
    if (!p->keys || !p->asks)
        die("a plan needs a key and an ask");
}

/* --- what is sent --------------------------------------------------------- */

static void put_record(struct buf *b, enum fcgi type, const void *s, size_t n)
{
    uint8_t head[8] = {1, (uint8_t)type, 0, 1, (uint8_t)(n >> 8), (uint8_t)n};

    buf_add(b, head, sizeof(head));
    if (n)
        buf_add(b, s, n);
}

static void put_length(struct buf *b, size_t n)
{
    if (n < 128) {
        buf_putc(b, (char)n);
        return;
    }
    buf_putc(b, (char)(n >> 24 | 0x80));
    buf_putc(b, (char)(n >> 16));
    buf_putc(b, (char)(n >> 8));
    buf_putc(b, (char)n);
}

static void put_param(struct buf *b, const char *name, const char *value)
{
    put_length(b, strlen(name));
    put_length(b, strlen(value));
    buf_puts(b, name);
    buf_puts(b, value);
}

static void put_params(struct buf *b, const char *path, const char *key,
                       size_t body)
{
    char length[24], bearer[256];
    struct buf p;

    snprintf(length, sizeof(length), "%zu", body);
    snprintf(bearer, sizeof(bearer), "Bearer %s", key);
    buf_init(&p, 65535);
    put_param(&p, "REQUEST_METHOD", "POST");
    put_param(&p, "REQUEST_URI", path);
    put_param(&p, "QUERY_STRING", "");
    put_param(&p, "CONTENT_TYPE", "application/json");
    put_param(&p, "CONTENT_LENGTH", length);
    put_param(&p, "REMOTE_ADDR", "127.0.0.1");
    put_param(&p, "PENSTOCK_EDGE", "nginx");
    put_param(&p, "HTTP_AUTHORIZATION", bearer);
    put_record(b, F_PARAMS, p.p, p.n);
    put_record(b, F_PARAMS, "", 0);
    buf_release(&p);
}

static void put_body(struct buf *b, const char *body, size_t n, int64_t number)
{
    char *copy = mem_dup_n(body, n), *mark = strstr(copy, MARK), digits[8];

    if (mark) {
        snprintf(digits, sizeof(digits), "%06d", (int)(number % 1000000));
        memcpy(mark, digits, strlen(MARK));
    }
    for (size_t at = 0; at < n; at += 32768)
        put_record(b, F_STDIN, copy + at, n - at < 32768 ? n - at : 32768);
    put_record(b, F_STDIN, "", 0);
    free(copy);
}

static int dial(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (strlen(path) >= sizeof(a.sun_path))
        die("the socket's path is too long");
    memcpy(a.sun_path, path, strlen(path));
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        die(path);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        die("fcntl");
    return fd;
}

static void begin(struct load *l, struct conn *c)
{
    static const uint8_t responder[8] = {0, 1};
    const struct ask *a;
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
    bool once = !l->total;

    c->number = l->next++;
    c->ask = once ? (size_t)c->number : roll(l, l->plan.asks);
    c->key = once ? 0 : roll(l, l->plan.keys);
    c->sent = 0;
    c->first_us = 0;
    c->ended = false;
    buf_clear(&c->out);
    buf_clear(&c->in);
    buf_clear(&c->got);
    a = &l->plan.ask[c->ask];
    put_record(&c->out, F_BEGIN, responder, sizeof(responder));
    put_params(&c->out, a->path, l->plan.key[c->key], strlen(a->body));
    put_body(&c->out, a->body, strlen(a->body), c->number);
    c->fd = dial(l->socket);
    c->start_us = mono_us();
    /* from 0.1 ms to 0.8 s, every doubling as likely */
    c->leave_us = INT64_MAX;
    if (!once && (int64_t)roll(l, 100) < l->leave) {
        int64_t least = 100 << roll(l, 13);

        c->leave_us = c->start_us + least + (int64_t)roll(l, (uint64_t)least);
    }
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &ev) < 0)
        die("epoll_ctl");
}

/* --- what comes back ------------------------------------------------------ */

struct answer {
    struct buf reasoning, content;
    char finish[24];
    int64_t prompt, cached;
};

static void take_string(struct answer *a, struct span key, struct span v)
{
    if (span_is(key, "reasoning_content"))
        buf_add(&a->reasoning, v.s, v.n);
    else if (span_is(key, "content") || span_is(key, "text"))
        buf_add(&a->content, v.s, v.n);
    else if (span_is(key, "finish_reason"))
        snprintf(a->finish, sizeof(a->finish), "%.*s", (int)v.n, v.s);
}

static void take_number(struct answer *a, struct span key, struct span v)
{
    int64_t n;

    if (!num_parse_i64(v.s, v.n, 0, INT64_MAX, &n))
        return;
    if (span_is(key, "prompt_tokens"))
        a->prompt = n;
    else if (span_is(key, "cached_tokens"))
        a->cached = n;
}

/* The string that begins at s[0] == '"'; returns what follows it. */
static const char *string_at(const char *s, struct span *v)
{
    const char *at = s + 1;

    while (*at && *at != '"')
        at += *at == '\\' && at[1] ? 2 : 1;
    *v = (struct span){s + 1, (size_t)(at - s - 1)};
    return *at ? at + 1 : at;
}

/* All fields of all JSON in an answer, streamed or whole: strings are read as
 * such, so what a model writes is never taken for a field. */
static void read_answer(struct answer *a, const char *s)
{
    struct span key, v;

    while ((s = strchr(s, '"'))) {
        s = string_at(s, &key);
        if (*s != ':')
            continue;
        s++;
        if (*s == '"') {
            s = string_at(s, &v);
            take_string(a, key, v);
        } else {
            v = (struct span){s, strspn(s, "0123456789")};
            take_number(a, key, v);
        }
    }
}

static const char *body_of(const struct conn *c)
{
    const char *end = c->got.n ? strstr(c->got.p, "\r\n\r\n") : NULL;

    return end ? end + 4 : "";
}

static void answer_init(struct answer *a)
{
    *a = (struct answer){.finish = "-"};
    buf_init(&a->reasoning, BUF_ANSWER);
    buf_init(&a->content, BUF_ANSWER);
}

static void answer_release(struct answer *a)
{
    buf_release(&a->reasoning);
    buf_release(&a->content);
}

static bool has_text(const struct conn *c)
{
    struct answer a;
    bool has;

    answer_init(&a);
    read_answer(&a, body_of(c));
    has = a.reasoning.n || a.content.n;
    answer_release(&a);
    return has;
}

/* A header's value, "-" when there is none. */
static void header(const struct conn *c, const char *name, char *out,
                   size_t room)
{
    const char *body = body_of(c);
    const char *at = *body ? strcasestr(c->got.p, name) : NULL;

    snprintf(out, room, "-");
    if (!at || at > body)
        return;
    at += strlen(name);
    at += strspn(at, " ");
    snprintf(out, room, "%.*s", (int)strcspn(at, "\r\n"), at);
}

/* Take whole records off `in`. */
static void records(struct conn *c)
{
    size_t at = 0;

    while (c->in.n - at >= 8) {
        const uint8_t *h = (const uint8_t *)c->in.p + at;
        size_t n = (size_t)h[4] << 8 | h[5], all = 8 + n + h[6];

        if (c->in.n - at < all)
            break;
        if (h[1] == F_STDOUT && n)
            buf_add(&c->got, h + 8, n);
        else if (h[1] == F_END)
            c->ended = true;
        at += all;
    }
    if (at)
        buf_drop(&c->in, at);
}

/* --- one connection ------------------------------------------------------- */

static int finish(struct load *l, struct conn *c, const char *how)
{
    char status[24], retry[24], id[64];
    int64_t now = mono_us();
    struct answer a;

    close(c->fd);
    c->fd = -1;
    c->again_us = 0;
    answer_init(&a);
    read_answer(&a, body_of(c));
    header(c, "Status:", status, sizeof(status));
    status[strcspn(status, " ")] = '\0';
    header(c, "Retry-After:", retry, sizeof(retry));
    header(c, "X-Request-Id:", id, sizeof(id));
    printf("%lld\t%zu\t%zu\t%s\t%s\t%s\t%s\t%s\t%lld\t%lld\t%lld\t%lld\t%s|%s\n",
           (long long)c->number, c->ask, c->key, how, status, retry, id,
           a.finish, (long long)a.prompt, (long long)a.cached,
           (long long)(c->first_us ? c->first_us - c->start_us : 0),
           (long long)(now - c->start_us), buf_text(&a.reasoning).s,
           buf_text(&a.content).s);
    if (!strcmp(status, "503") && l->total)
        c->again_us = now + BACK_OFF_US;
    answer_release(&a);
    return 1;
}

static void send_more(struct load *l, struct conn *c)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

    while (c->sent < c->out.n) {
        ssize_t n = write(c->fd, c->out.p + c->sent, c->out.n - c->sent);

        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) /* what it said before it closed is read */
            break;
        c->sent += (size_t)n;
    }
    c->sent = c->out.n;
    (void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &ev);
}

/* Returns how many requests ended: 0 or 1. */
static int receive(struct load *l, struct conn *c)
{
    char chunk[65536];
    ssize_t n;

    while ((n = read(c->fd, chunk, sizeof(chunk))) > 0)
        buf_add(&c->in, chunk, (size_t)n);
    records(c);
    if (!c->first_us && c->got.n && has_text(c))
        c->first_us = mono_us();
    if (c->ended)
        return finish(l, c, "done");
    return n < 0 && errno == EAGAIN ? 0 : finish(l, c, "closed");
}

/* --- all of them ---------------------------------------------------------- */

static bool may_begin(const struct load *l)
{
    return l->next < (l->total ? l->total : (int64_t)l->plan.asks);
}

/* Begin and leave where it is time to; how long until the next time, ms. */
static int timers(struct load *l, int64_t *ended)
{
    int64_t now = mono_us(), soon = now + 1000000;

    for (int64_t i = 0; i < l->width; i++) {
        struct conn *c = &l->conn[i];

        if (c->fd >= 0 && c->leave_us <= now)
            *ended += finish(l, c, "left");
        if (c->fd < 0 && may_begin(l) && c->again_us <= now)
            begin(l, c);
        if (c->fd >= 0 && c->leave_us < soon)
            soon = c->leave_us;
        if (c->fd < 0 && may_begin(l) && c->again_us < soon)
            soon = c->again_us;
    }
    return soon > now ? (int)((soon - now + 999) / 1000) : 0;
}

static void run(struct load *l)
{
    int64_t all = l->total ? l->total : (int64_t)l->plan.asks, ended = 0;
    struct epoll_event ev[64];

    while (ended < all) {
        int wait = timers(l, &ended);
        int n = ended < all ? epoll_wait(l->epoll, ev, 64, wait) : 0;

        for (int i = 0; i < n; i++) {
            struct conn *c = ev[i].data.ptr;

            if (ev[i].events & EPOLLOUT)
                send_more(l, c);
            if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
                ended += receive(l, c);
        }
    }
}

int main(int argc, char **argv)
{
    static struct load l;
    int64_t seed;

    if (argc != 7 ||
        !num_parse_i64(argv[3], strlen(argv[3]), 0, 1000000, &l.total) ||
        !num_parse_i64(argv[4], strlen(argv[4]), 1, WIDTH_MAX, &l.width) ||
        !num_parse_i64(argv[5], strlen(argv[5]), 0, 100, &l.leave) ||
        !num_parse_i64(argv[6], strlen(argv[6]), 0, INT64_MAX, &seed)) {
        fprintf(stderr, "usage: client SOCKET PLAN TOTAL WIDTH LEAVE SEED\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    l.socket = argv[1];
    l.random = (uint64_t)seed;
    plan_read(&l.plan, argv[2]);
    if (!l.total)
        l.width = 1;
    l.epoll = epoll_create1(EPOLL_CLOEXEC);
    l.conn = mem_array(struct conn, (size_t)l.width);
    for (int64_t i = 0; i < l.width; i++) {
        l.conn[i].fd = -1;
        buf_init(&l.conn[i].out, BUF_ANSWER);
        buf_init(&l.conn[i].in, BUF_ANSWER);
        buf_init(&l.conn[i].got, BUF_ANSWER);
    }
    run(&l);
    for (int64_t i = 0; i < l.width; i++) {
        buf_release(&l.conn[i].out);
        buf_release(&l.conn[i].in);
        buf_release(&l.conn[i].got);
    }
    free(l.conn);
    buf_release(&l.plan.file);
    close(l.epoll);
    return 0;
}
