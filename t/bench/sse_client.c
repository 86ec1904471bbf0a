/*
 * sse_client PORT PATH KEY [BODY]: one HTTPS request to localhost, HTTP/1.1.
 * Prints a line for every SSE event that carries text, when it arrives:
 *
 *   <arrival, CLOCK_MONOTONIC microseconds> <number after "t": or 0>
 *
 * A measuring client: it does as little as it can between read and clock.
 * With no BODY it sends a GET, and prints the time of the whole answer.
 */
#include "base/buf.h"
#include "base/num.h"
#include "base/thread.h"

#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "sse_client: %s\n", what);
    exit(1);
}

static int dial(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
        die("cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fd;
}

static gnutls_session_t handshake(int fd)
{
    static gnutls_certificate_credentials_t cred;
    gnutls_session_t s;
    int rc;

    gnutls_certificate_allocate_credentials(&cred);
    gnutls_init(&s, GNUTLS_CLIENT);
    gnutls_set_default_priority(s);
    gnutls_credentials_set(s, GNUTLS_CRD_CERTIFICATE, cred);
    gnutls_transport_set_int(s, fd);
    do
        rc = gnutls_handshake(s);
    while (rc < 0 && !gnutls_error_is_fatal(rc));
    if (rc < 0)
        die("TLS handshake failed");
    return s;
}

static ssize_t receive(gnutls_session_t s, char *p, size_t n)
{
    ssize_t got;

    do
        got = gnutls_record_recv(s, p, n);
    while (got == GNUTLS_E_AGAIN || got == GNUTLS_E_INTERRUPTED ||
           got == GNUTLS_E_REHANDSHAKE);
    return got;
}

/* Every whole line in b that is an event with text; `now` is its arrival. */
static void events(struct buf *b, int64_t now)
{
    char *nl;

    while (b->n && (nl = memchr(b->p, '\n', b->n))) {
        size_t len = (size_t)(nl - b->p) + 1;
        int64_t stamp = 0;
        const char *t;

        *nl = '\0';
        t = strstr(b->p, "\"t\":");
        if (t) {
            size_t k = strspn(t + 4, "0123456789");

            if (!num_parse_i64(t + 4, k, 0, INT64_MAX, &stamp))
                stamp = 0;
        }
        if (!strncmp(b->p, "data: {", 7) &&
            (t || (strstr(b->p, "\"content\":\"") &&
                   !strstr(b->p, "\"content\":\"\""))))
            printf("%lld %lld\n", (long long)now, (long long)stamp);
        buf_drop(b, len);
    }
}

int main(int argc, char **argv)
{
    struct buf req, in;
    gnutls_session_t s;
    char chunk[65536];
    int64_t port, start;
    ssize_t got;

    if (argc < 4 || !num_parse_i64(argv[1], strlen(argv[1]), 1, 65535, &port))
        die("usage: sse_client PORT PATH KEY [BODY]");
    buf_init(&req, BUF_EVENT);
    buf_init(&in, BUF_ANSWER);
    buf_printf(&req,
               "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
               "Authorization: Bearer %s\r\n",
               argc > 4 ? "POST" : "GET", argv[2], argv[3]);
    if (argc > 4)
        buf_printf(&req,
                   "Content-Type: application/json\r\n"
                   "Content-Length: %zu\r\n\r\n%s",
                   strlen(argv[4]), argv[4]);
    else
        buf_puts(&req, "\r\n");
    s = handshake(dial((int)port));
    start = mono_us();
    if (gnutls_record_send(s, req.p, req.n) != (ssize_t)req.n)
        die("cannot send");
    while ((got = receive(s, chunk, sizeof(chunk))) > 0) {
        int64_t now = mono_us();

        buf_add(&in, chunk, (size_t)got);
        if (argc > 4)
            events(&in, now);
    }
    if (argc <= 4)
        printf("%lld 0\n", (long long)(mono_us() - start));
    return 0;
}
