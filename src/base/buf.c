#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_release(struct buf *b)
{
    free(b->p);
    buf_init(b, b->max);
}

void buf_clear(struct buf *b)
{
    b->n = 0;
    b->failed = false;
    if (b->p)
        b->p[0] = '\0';
}

/* Make room for n more bytes and the NUL. */
static bool buf_room(struct buf *b, size_t n)
{
    size_t need, cap;
    char *p;

    if (b->failed)
        return false;
    if (!mem_add(&need, b->n, n) || need > b->max ||
        !mem_add(&need, need, 1)) {
        b->failed = true;
        return false;
    }
    if (need <= b->cap)
        return true;
    cap = b->cap ? b->cap : 64;
    while (cap < need && cap <= b->max)
        cap *= 2;
    if (cap > b->max + 1)
        cap = b->max + 1;
    p = realloc(b->p, cap);
    if (!p) {
        b->failed = true;
        return false;
    }
    b->p = p;
    b->cap = cap;
    return true;
}

void buf_add(struct buf *b, const void *s, size_t n)
{
    if (!buf_room(b, n))
        return;
    if (n)
        memcpy(b->p + b->n, s, n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0 || !buf_room(b, (size_t)n)) {
        b->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->n += (size_t)n;
}

void buf_drop(struct buf *b, size_t n)
{
    BUG_ON(n > b->n);
    if (!n)
        return;
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
    b->p[b->n] = '\0';
}

enum st buf_read_fd(struct buf *b, int fd, const char *name, struct err *e)
{
    char chunk[16384];

    for (;;) {
        ssize_t got = read(fd, chunk, sizeof(chunk));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(e, ST_IO, name, "read: %s", err_sys(errno));
        if (got == 0)
            break;
        buf_add(b, chunk, (size_t)got);
        if (b->failed)
            return err_set(e, ST_LIMIT, name, "larger than %zu bytes", b->max);
    }
    buf_add(b, "", 0);
    return ST_OK;
}

enum st buf_read_file(struct buf *b, const char *path, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    enum st st;

    if (fd < 0)
        return err_set(e, ST_IO, path, "open: %s", err_sys(errno));
    st = buf_read_fd(b, fd, path, e);
    close(fd);
    return st;
}
