#include "chat/detok.h"

#include "base/utf8.h"

void detok_init(struct detok *d)
{
    *d = (struct detok){.n = 0};
}

void detok_end(struct detok *d)
{
    d->n = 0;
}

/*
 * Bytes of p[0..n) that are dealt with: whole characters were appended,
 * impossible bytes skipped; the rest is the head of a character.
 */
static size_t take(const char *p, size_t n, struct buf *out)
{
    size_t i = 0, run = 0; /* p[run..i) waits to be appended */
    uint32_t cp;

    while (i < n) {
        size_t len = utf8_decode(p + i, n - i, &cp);

        if (len) {
            i += len;
            continue;
        }
        buf_add(out, p + run, i - run);
        if (!utf8_complete_len(p + i, n - i))
            return i; /* all that is left is a valid start */
        run = ++i;
    }
    buf_add(out, p + run, i - run);
    return n;
}

void detok_feed(struct detok *d, const char *p, size_t n, struct buf *out)
{
    size_t used = 0, done;

    /* Grow what is held byte by byte until it is decided. */
    while (d->n && used < n) {
        d->held[d->n++] = p[used++];
        done = take(d->held, d->n, out);
        d->n -= done;
        memmove(d->held, d->held + done, d->n);
    }
    if (used == n)
        return;
    done = take(p + used, n - used, out);
    d->n = n - used - done;
    memcpy(d->held, p + used + done, d->n);
}
