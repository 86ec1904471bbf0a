#include "config.h"
#include "gram/schema_way.h"

#include <string.h>

/*
 * $ref: a JSON Pointer (RFC 6901) in a URI fragment, or a plain name that an
 * $anchor carries. References to other documents are refused, and so are those
 * inside of a schema with an $id of its own: they would start there.
 */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-encoded bytes as they are; NULL: no memory. */
static char *decoded(struct schema_read *s, struct text t, size_t *n)
{
    char *p = arena_dup(&s->arena, t.s, t.n);
    size_t k = 0;

    for (size_t i = 0; p && i < t.n; i++) {
        int hi = i + 2 < t.n && t.s[i] == '%' ? hex_digit(t.s[i + 1]) : -1;
        int lo = hi >= 0 ? hex_digit(t.s[i + 2]) : -1;

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

/* Is the step of a pointer this name? ~0 is ~ and ~1 is /. */
static bool step_is(const char *s, size_t n, struct text name)
{
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        char c = s[i];

        if (c == '~' && i + 1 < n && (s[i + 1] == '0' || s[i + 1] == '1'))
            c = s[++i] == '0' ? '~' : '/';
        if (k == name.n || name.s[k++] != c)
            return false;
    }
    return k == name.n;
}

static const struct json *step(const struct json *at, const char *s, size_t n)
{
    size_t index = 0;

    if (at->type == JSON_OBJ) {
        for (const struct json *c = at->child; c; c = c->next)
            if (step_is(s, n, c->key))
                return c;
        return NULL;
    }
    if (at->type != JSON_ARR || !n || n > 9 || (n > 1 && s[0] == '0'))
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(s[i] - '0');
    }
    for (const struct json *c = at->child; c; c = c->next)
        if (!index--)
            return c;
    return NULL;
}

static const struct json *by_pointer(const struct json *at, const char *p,
                                     size_t n)
{
    while (at && n) {
        const char *end;
        size_t k;

        p++; /* the slash */
        n--;
        end = memchr(p, '/', n);
        k = end ? (size_t)(end - p) : n;
        at = step(at, p, k);
        p += k;
        n -= k;
    }
    return at;
}

static bool has_id(const struct json *node)
{
    const struct json *id = json_get(node, "$id");

    return id && id->type == JSON_STR;
}

static const struct json *by_anchor(const struct json *at, struct text name,
                                    bool root)
{
    static const char *const words[] = {"$anchor", "$dynamicAnchor", NULL};

    if (!root && has_id(at))
        return NULL; /* names in there are its own */
    for (size_t i = 0; at->type == JSON_OBJ && words[i]; i++) {
        const struct json *a = json_get(at, words[i]);

        if (a && a->type == JSON_STR && text_same(a->str, name))
            return at;
    }
    for (const struct json *c = at->child; c; c = c->next) {
        const struct json *found = NULL;

        if (c->n && !(text_is(c->key, "enum") || text_is(c->key, "const")))
            found = by_anchor(c, name, false);
        if (found)
            return found;
    }
    return NULL;
}

/* Is there a schema with an $id between the root and a node? */
static bool under_id(const struct json *at, const struct json *node, bool id)
{
    id |= has_id(at);
    if (at == node)
        return id;
    for (const struct json *c = at->child; c; c = c->next)
        if (c == node || c->n)
            if (under_id(c, node, id))
                return true;
    return false;
}

static bool any_id(const struct json *at)
{
    for (const struct json *c = at->child; c; c = c->next)
        if (c->n && (has_id(c) || any_id(c)))
            return true;
    return false;
}

static bool below_own_id(struct schema_read *s, const struct json *node)
{
    if (!s->own_ids)
        s->own_ids = any_id(s->root) ? 2 : 1;
    if (s->own_ids == 1 || node == s->root)
        return false;
    for (const struct json *c = s->root->child; c; c = c->next)
        if (under_id(c, node, false))
            return true;
    return false;
}

/* What is behind the #, when the reference stays in this document. */
static bool fragment(const struct schema_read *s, struct text ref,
                     struct text *out)
{
    const struct json *id = json_get(s->root, "$id");
    struct text own = {"", 0};

    if (id && id->type == JSON_STR) {
        own = id->str;
        if (own.n && own.s[own.n - 1] == '#')
            own.n--;
    }
    if (ref.n && ref.s[0] != '#' && own.n && ref.n >= own.n &&
        !memcmp(ref.s, own.s, own.n) &&
        (ref.n == own.n || ref.s[own.n] == '#')) {
        ref.s += own.n;
        ref.n -= own.n;
    }
    if (ref.n && ref.s[0] != '#')
        return false;
    *out = ref.n ? (struct text){ref.s + 1, ref.n - 1} : ref;
    return true;
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

enum st schema_ref(struct schema_read *s, const struct json *node,
                   const struct json **out, struct err *e)
{
    const struct json *ref = json_get(node, "$ref");
    const struct json *to = NULL;
    struct text f = {"", 0};
    char buf[121];
    char *p;
    size_t n;
    enum st st = schema_work(s, 16 + ref->str.n, e);

    *out = node;
    if (st)
        return st;
    if (!s->root || !fragment(s, ref->str, &f))
        return schema_refuse(s, ST_UNSUPPORTED, node, "$ref", e,
                             "'%s' is in another document; #, #/... and "
                             "#anchor are supported",
                             shown(ref->str, buf, sizeof(buf)));
    if (below_own_id(s, node))
        return schema_refuse(s, ST_UNSUPPORTED, node, "$ref", e,
                             "not supported inside a schema with an $id of "
                             "its own");
    p = decoded(s, f, &n);
    if (!p)
        return schema_nomem(e);
    if (!n)
        to = s->root;
    else if (p[0] == '/')
        to = by_pointer(s->root, p, n);
    else
        to = by_anchor(s->root, (struct text){p, n}, true);
    if (!to)
        return schema_refuse(s, ST_INVALID, node, "$ref", e,
                             "'%s' points at nothing",
                             shown(ref->str, buf, sizeof(buf)));
    if (to->type != JSON_OBJ && to->type != JSON_BOOL)
        return schema_refuse(s, ST_INVALID, node, "$ref", e,
                             "'%s' points at %s, not at a schema",
                             shown(ref->str, buf, sizeof(buf)),
                             json_type_name(to));
    *out = to;
    return ST_OK;
}
