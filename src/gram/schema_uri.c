#include "gram/schema_way.h"

#include <string.h>

/* A URI reference without its fragment, by RFC 3986. */
struct uri {
    struct text scheme, authority, path, query;
    bool has_scheme, has_authority, has_query;
};

static bool letter(char c)
{
    c |= 0x20;
    return c >= 'a' && c <= 'z';
}

static bool scheme_char(char c)
{
    return letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' ||
           c == '.';
}

/* The bytes before the first of `stop`, taken from *t. */
static struct text until(struct text *t, const char *stop)
{
    struct text head = {t->s, 0};

    while (head.n < t->n && !strchr(stop, t->s[head.n]))
        head.n++;
    t->s += head.n;
    t->n -= head.n;
    return head;
}

static struct uri split(struct text t)
{
    struct uri u = {.has_scheme = false};
    size_t n = 0;

    t = until(&t, "#");
    while (n < t.n && scheme_char(t.s[n]))
        n++;
    if (n && n < t.n && t.s[n] == ':' && letter(t.s[0])) {
        u.has_scheme = true;
        u.scheme = (struct text){t.s, n};
        t.s += n + 1;
        t.n -= n + 1;
    }
    if (t.n >= 2 && t.s[0] == '/' && t.s[1] == '/') {
        t.s += 2;
        t.n -= 2;
        u.has_authority = true;
        u.authority = until(&t, "/?");
    }
    u.path = until(&t, "?");
    u.has_query = t.n;
    u.query = t;
    return u;
}

static bool is_dots(struct text segment)
{
    return text_is(segment, ".") || text_is(segment, "..");
}

/* "/a/./b/../c" as "/a/c": section 5.2.4. */
static void add_path(struct buf *b, struct text path)
{
    size_t from = b->n;

    while (path.n) {
        struct text segment;
        bool slash = path.s[0] == '/', last;

        path.s += slash;
        path.n -= slash;
        segment = until(&path, "/");
        last = !path.n;
        if (text_is(segment, "..")) {
            while (b->n > from && b->p[b->n - 1] != '/')
                b->n--;
            b->n -= b->n > from; /* its slash */
        }
        if (!is_dots(segment)) {
            if (slash)
                buf_putc(b, '/');
            buf_add(b, segment.s, segment.n);
        } else if (last && slash) {
            buf_putc(b, '/');
        }
    }
}

/* The path of a reference that has only a relative one: section 5.2.3. */
static void add_merged(struct buf *b, const struct uri *base, struct text path)
{
    struct text dir = base->path;
    struct buf whole;

    while (dir.n && dir.s[dir.n - 1] != '/')
        dir.n--;
    buf_init(&whole, BUF_EVENT);
    if (base->has_authority && !base->path.n)
        buf_putc(&whole, '/');
    buf_add(&whole, dir.s, dir.n);
    buf_add(&whole, path.s, path.n);
    add_path(b, buf_text(&whole));
    b->failed |= whole.failed;
    buf_release(&whole);
}

static void add_origin(struct buf *b, const struct uri *scheme,
                       const struct uri *authority)
{
    if (scheme->has_scheme) {
        buf_add(b, scheme->scheme.s, scheme->scheme.n);
        buf_putc(b, ':');
    }
    if (authority->has_authority) {
        buf_puts(b, "//");
        buf_add(b, authority->authority.s, authority->authority.n);
    }
}

void schema_uri_join(struct text base, struct text ref, struct buf *out)
{
    const struct uri u = split(ref), from = split(base);
    const struct uri *query = &u;

    if (u.has_scheme || u.has_authority) {
        add_origin(out, u.has_scheme ? &u : &from, &u);
        add_path(out, u.path);
    } else {
        add_origin(out, &from, &from);
        if (!u.path.n) {
            buf_add(out, from.path.s, from.path.n);
            query = u.has_query ? &u : &from;
        } else if (u.path.s[0] == '/') {
            add_path(out, u.path);
        } else {
            add_merged(out, &from, u.path);
        }
    }
    buf_add(out, query->query.s, query->query.n);
}
