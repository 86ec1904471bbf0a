#include "chat/scan.h"

void scan_init(struct scan *s, const char *const *marks, int n)
{
    *s = (struct scan){.n = n};
    buf_init(&s->held, BUF_MESSAGE);
    for (int k = 0; k < n; k++) {
        if (!marks[k])
            continue;
        s->mark[k] = marks[k];
        s->len[k] = strlen(marks[k]);
        s->first[(unsigned char)marks[k][0]] = true;
        if (s->len[k] > s->longest)
            s->longest = s->len[k];
    }
}

void scan_release(struct scan *s)
{
    buf_release(&s->held);
}

/* What p[0..n) begins with: a marker's number, -1 for none; -2 when more
 * bytes come and may make (or lengthen) one. */
static int look(const struct scan *s, const char *p, size_t n, bool more)
{
    int best = -1;

    for (int k = 0; k < s->n; k++) {
        if (!s->mark[k])
            continue;
        if (n >= s->len[k]) {
            if (!memcmp(p, s->mark[k], s->len[k]) &&
                (best < 0 || s->len[k] > s->len[best]))
                best = k;
        } else if (more && !memcmp(p, s->mark[k], n)) {
            return -2;
        }
    }
    return best;
}

/* Give away what p[0..n) settles; returns how much of it that was. */
static size_t pass(const struct scan *s, const char *p, size_t n, bool more,
                   const struct scan_sink *to)
{
    size_t from = 0, i = 0;

    while (i < n) {
        int k = s->first[(unsigned char)p[i]] ? look(s, p + i, n - i, more)
                                              : -1;

        if (k == -1) {
            i++;
            continue;
        }
        if (i > from)
            to->text(to->arg, p + from, i - from);
        from = i;
        if (k == -2)
            return from;
        to->marker(to->arg, k);
        i += s->len[k];
        from = i;
    }
    if (i > from)
        to->text(to->arg, p + from, i - from);
    return n;
}

void scan_feed(struct scan *s, const char *p, size_t n,
               const struct scan_sink *to)
{
    size_t took;

    if (!s->held.n) {
        took = pass(s, p, n, true, to);
        if (took < n)
            buf_add(&s->held, p + took, n - took);
        return;
    }
    /* enough of the new bytes to settle what is held, then the rest as it is */
    while (s->held.n && n) {
        size_t more = n < s->longest ? n : s->longest;

        buf_add(&s->held, p, more);
        took = pass(s, s->held.p, s->held.n, true, to);
        buf_drop(&s->held, took);
        p += more;
        n -= more;
    }
    if (n)
        scan_feed(s, p, n, to);
}

void scan_flush(struct scan *s, const struct scan_sink *to)
{
    if (s->held.n)
        pass(s, s->held.p, s->held.n, false, to);
    buf_clear(&s->held);
}
