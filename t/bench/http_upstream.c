/*
 * http_upstream SOCKET COUNT GAP_US: the plain HTTP upstream that a latency
 * measurement compares with. Every request gets COUNT server-sent events,
 * GAP_US apart, each stamped with CLOCK_MONOTONIC microseconds as it is made.
 * Serves one request at a time, until it is killed.
 */
#include "base/buf.h"
#include "base/num.h"
#include "base/thread.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void die(const char *what)
{
    fprintf(stderr, "http_upstream: %s\n", what);
    exit(1);
}

static void put(int fd, struct buf *b)
{
    size_t at = 0;

    while (at < b->n) {
        ssize_t k = send(fd, b->p + at, b->n - at, MSG_NOSIGNAL);

        if (k <= 0)
            return;
        at += (size_t)k;
    }
}

static void serve(int fd, int64_t count, int64_t gap_us)
{
    struct buf head, event, out;
    char in[8192];
    int64_t next = mono_us();

    /* The request fits one read: it is our own client's. */
    if (recv(fd, in, sizeof(in), 0) <= 0)
        return;
    buf_init(&head, BUF_MESSAGE);
    buf_init(&event, BUF_MESSAGE);
    buf_init(&out, BUF_MESSAGE);
    buf_puts(&head, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n");
    put(fd, &head);
    for (int64_t i = 0; i < count; i++) {
        int64_t wait = (next += gap_us) - mono_us();

        if (wait > 0)
            usleep((useconds_t)wait);
        buf_clear(&event);
        buf_clear(&out);
        buf_printf(&event, "data: {\"t\":%lld,\"pad\":\"%0120d\"}\n\n",
                   (long long)mono_us(), (int)i);
        buf_printf(&out, "%zx\r\n%s\r\n", event.n, event.p);
        put(fd, &out);
    }
    buf_clear(&out);
    buf_puts(&out, "0\r\n\r\n");
    put(fd, &out);
    buf_release(&head);
    buf_release(&event);
    buf_release(&out);
}

int main(int argc, char **argv)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int64_t count, gap;
    int fd;

    if (argc != 4 || strlen(argv[1]) >= sizeof(a.sun_path) ||
        !num_parse_i64(argv[2], strlen(argv[2]), 1, 1000000, &count) ||
        !num_parse_i64(argv[3], strlen(argv[3]), 0, 1000000, &gap))
        die("usage: http_upstream SOCKET COUNT GAP_US");
    memcpy(a.sun_path, argv[1], strlen(argv[1]));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    unlink(argv[1]);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
        listen(fd, 16) < 0)
        die("cannot listen");
    for (;;) {
        int c = accept(fd, NULL, NULL);

        if (c < 0)
            continue;
        serve(c, count, gap);
        close(c);
    }
}
