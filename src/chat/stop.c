#include "chat/stop.h"

struct stop_one {
    char *s;        /* [n] */
    size_t n;
    uint32_t *back; /* [n] length of the longest border of s[0..i] */
    size_t have;    /* the text ends with s[0..have) */
};

static bool one_open(struct stop_one *o, struct text t)
{
    o->s = mem_try(t.n);
    o->back = mem_try_array(t.n, sizeof(*o->back));
    o->n = t.n;
    if (!o->s || !o->back)
        return false;
    memcpy(o->s, t.s, t.n);
    for (size_t i = 1, k = 0; i < t.n; i++) {
        while (k && o->s[i] != o->s[k])
            k = o->back[k - 1];
        if (o->s[i] == o->s[k])
            k++;
        o->back[i] = (uint32_t)k;
    }
    return true;
}

static bool one_step(struct stop_one *o, char c)
{
    while (o->have && (o->have == o->n || o->s[o->have] != c))
        o->have = o->back[o->have - 1];
    if (o->s[o->have] == c)
        o->have++;
    return o->have == o->n;
}

enum st stops_open(struct stops *s, const struct text *strings, size_t n)
{
    *s = (struct stops){0};
    buf_init(&s->tail, BUF_ANSWER);
    if (!n)
        return ST_OK;
    s->list = mem_try_array(n, sizeof(*s->list));
    if (!s->list)
        return ST_NOMEM;
    s->n = n;
    for (size_t i = 0; i < n; i++) {
        BUG_ON(!strings[i].n || strings[i].n > UINT32_MAX);
        if (!one_open(&s->list[i], strings[i]))
            return ST_NOMEM;
    }
    return ST_OK;
}

void stops_close(struct stops *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->list[i].s);
        free(s->list[i].back);
    }
    free(s->list);
    buf_release(&s->tail);
    *s = (struct stops){0};
}

/* One byte further. Where in the tail does the leftmost string begin that is
 * complete now, and which is it? The tail's length when there is none. */
static size_t step(struct stops *s, char c, size_t *which)
{
    size_t at;

    buf_putc(&s->tail, c);
    at = s->tail.n;
    for (size_t i = 0; i < s->n; i++)
        if (one_step(&s->list[i], c) && s->tail.n - s->list[i].n < at) {
            at = s->tail.n - s->list[i].n;
            *which = i;
        }
    return at;
}

/* How many bytes of the tail may still become a stop string. */
static size_t open_bytes(const struct stops *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].have < s->list[i].n && s->list[i].have > n)
            n = s->list[i].have;
    return n;
}

static void end_at_cut(struct stops *s, struct buf *out)
{
    buf_add(out, s->tail.p, s->cut);
    buf_clear(&s->tail);
    s->waits = false;
    s->found = true;
}

/* True: a string is complete, and none can begin before it any more. */
static bool settled(struct stops *s, char c)
{
    size_t which = 0, at = step(s, c, &which);

    if (s->tail.failed)
        return false;
    if (at < (s->waits ? s->cut : s->tail.n)) {
        s->waits = true;
        s->cut = at;
        s->which = which;
    }
    return s->waits && s->tail.n - open_bytes(s) >= s->cut;
}

bool stops_feed(struct stops *s, const char *p, size_t n, struct buf *out)
{
    size_t keep;

    if (s->found)
        return true;
    if (!s->n) {
        buf_add(out, p, n);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (settled(s, p[i])) {
            end_at_cut(s, out);
            return true;
        }
    if (s->tail.failed)
        out->failed = true;
    keep = open_bytes(s);
    if (!s->waits && s->tail.n > keep) {
        buf_add(out, s->tail.p, s->tail.n - keep);
        buf_drop(&s->tail, s->tail.n - keep);
    }
    return false;
}

void stops_end(struct stops *s, struct buf *out)
{
    if (s->waits)
        end_at_cut(s, out);
    else if (!s->found && s->tail.n)
        buf_add(out, s->tail.p, s->tail.n);
    buf_clear(&s->tail);
}
