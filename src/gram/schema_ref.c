#include "config.h"
#include "base/ascii.h"
#include "gram/schema_way.h"

#include <string.h>

/*
 * $ref and $dynamicRef: a URI of a schema in this document (schema_ids.c), and
 * in its fragment a JSON Pointer (RFC 6901) or a plain name that an $anchor
 * carries. Other documents are never fetched.
 */

/* Percent-encoded bytes as they are; NULL: no memory. */
static char *decoded(struct schema_read *s, struct text t, size_t *n)
{
    char *p = arena_dup(&s->arena, t.s, t.n);
    size_t k = 0;

    for (size_t i = 0; p && i < t.n; i++) {
        int hi = i + 2 < t.n && t.s[i] == '%' ? ascii_hex(t.s[i + 1]) : -1;
        int lo = hi >= 0 ? ascii_hex(t.s[i + 2]) : -1;

        if (lo >= 0) {
            p[k++] = (char)(hi << 4 | lo);
            i += 2;
        } else {
            p[k++] = t.s[i];
        }
    }
    *n = k;
    return p;
}

/* A step of a pointer as the name that it means: ~0 is ~ and ~1 is /. In its
 * place. */
static struct text unescape(char *p, size_t n)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (p[i] == '~' && i + 1 < n && (p[i + 1] == '0' || p[i + 1] == '1'))
            p[k++] = p[++i] == '0' ? '~' : '/';
        else
            p[k++] = p[i];
    }
    return (struct text){p, k};
}

/* The item that an index names; NULL: none. */
static const struct json *item(const struct json *at, const char *s, size_t n)
{
    size_t index = 0;

    if (!n || n > 9 || (n > 1 && s[0] == '0'))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(s[i] - '0');
    }
    if (index >= at->n)
        return NULL;
    for (at = at->child; index; index--)
        at = at->next;
    return at;
}

/* What a pointer leads to, NULL: nothing. p[0..n) is unescaped on the way. */
static enum st by_pointer(struct schema_read *s, const struct json *at, char *p,
                          size_t n, const struct json **out, struct err *e)
{
    enum st st = ST_OK;

    while (!st && at && n) {
        char *end;
        size_t k;

        p++; /* the slash */
        n--;
        end = memchr(p, '/', n);
        k = end ? (size_t)(end - p) : n;
        if (at->type == JSON_OBJ) {
            st = schema_find_member(s, at, unescape(p, k), &at, e);
        } else if (at->type == JSON_ARR) {
            st = schema_work(s, 1 + at->n / 4, e);
            at = item(at, p, k);
        } else {
            at = NULL;
        }
        p += k;
        n -= k;
    }
    *out = at;
    return st;
}

/* A reference in a message: its beginning, whole characters, no controls. */
static const char *shown(struct text ref, char *buf, size_t size)
{
    size_t n = ref.n < size ? ref.n : size - 1;

    while (n < ref.n && n && ((unsigned char)ref.s[n] & 0xc0) == 0x80)
        n--;
    for (size_t i = 0; i < n; i++)
        buf[i] = (unsigned char)ref.s[i] < 0x20 || ref.s[i] == 0x7f
                     ? '?' : ref.s[i];
    buf[n] = 0;
    return buf;
}

/* A message about a reference. */
static enum st complain(struct schema_read *s, enum st st,
                        const struct json *node, const char *keyword,
                        struct text ref, const char *what, struct err *e)
{
    char buf[121];

    return schema_refuse(s, st, node, keyword, e, "'%s' %s",
                         shown(ref, buf, sizeof(buf)), what);
}

/* A name's schema; of a dynamic one, when there is no other that it could be
 * instead. */
static enum st by_name(struct schema_read *s, const struct json *node,
                       const char *keyword, size_t resource, struct text name,
                       const struct json **out, struct err *e)
{
    size_t n = 0;
    enum st st = schema_anchor_find(s, resource, name, out, e);

    if (!st && *out && strcmp(keyword, "$dynamicRef") == 0)
        st = schema_anchor_dynamic(s, *out, name, &n, e);
    if (!st && n > 1)
        return complain(s, ST_UNSUPPORTED, node, keyword, name,
                        "has several meanings, which is not supported", e);
    return st;
}

/* What a fragment names in a resource; NULL: nothing. */
static enum st by_fragment(struct schema_read *s, const struct json *node,
                           const char *keyword, size_t resource,
                           struct text fragment, const struct json **out,
                           struct err *e)
{
    const struct json *from = s->ids.resources[resource].node;
    size_t n;
    char *p = decoded(s, fragment, &n);

    if (!p)
        return schema_nomem(e);
    if (n && p[0] != '/')
        return by_name(s, node, keyword, resource, (struct text){p, n}, out,
                       e);
    return by_pointer(s, from, p, n, out, e);
}

enum st schema_ref(struct schema_read *s, const struct json *node,
                   const char *keyword, const struct json **out,
                   struct err *e)
{
    const struct text ref = json_get(node, keyword)->str;
    const char *hash = memchr(ref.s, '#', ref.n);
    struct text uri = {ref.s, hash ? (size_t)(hash - ref.s) : ref.n};
    struct text fragment = {"", 0};
    const struct json *to = NULL;
    size_t resource = 0;
    enum st st = schema_work(s, 16 + ref.n, e);

    *out = node;
    if (hash)
        fragment = (struct text){hash + 1, ref.n - uri.n - 1};
    if (!st && s->root)
        st = schema_resource_of(s, node, &resource, e);
    if (!st && s->root && uri.n)
        st = schema_resource_find(s, resource, uri, &resource, e);
    if (st)
        return st;
    if (!s->root || resource == s->ids.n_resources)
        return complain(s, ST_UNSUPPORTED, node, keyword, ref,
                        "is not in this document; others are not fetched", e);
    st = by_fragment(s, node, keyword, resource, fragment, &to, e);
    if (st)
        return st;
    if (!to)
        return complain(s, ST_INVALID, node, keyword, ref,
                        "points at nothing", e);
    if (to->type != JSON_OBJ && to->type != JSON_BOOL)
        return complain(s, ST_INVALID, node, keyword, ref,
                        "does not point at a schema", e);
    *out = to;
    return ST_OK;
}
