#include "gram/schema_way.h"

#include <string.h>

/*
 * The schemas that a document holds under names of their own: an $id begins a
 * resource with an address, an $anchor names a schema of its resource. Both
 * count only where a schema may stand. They are read once, when the first
 * reference is.
 */

static enum st add_resource(struct schema_read *s, struct text base,
                            struct text id, const struct json *node,
                            struct err *e)
{
    struct schema_ids *d = &s->ids;
    struct schema_resource *p = schema_room(s, d->resources, d->n_resources,
                                            &d->cap_resources, sizeof(*p));
    struct buf b;
    char *uri = NULL;

    buf_init(&b, BUF_EVENT);
    schema_uri_join(base, id, &b);
    if (p && !b.failed)
        uri = arena_dup(&s->arena, b.p ? b.p : "", b.n);
    if (uri) {
        d->resources = p;
        p[d->n_resources++] = (struct schema_resource){{uri, b.n}, node};
    }
    buf_release(&b);
    return uri ? schema_work(s, 8 + b.n, e) : schema_nomem(e);
}

static enum st add_anchor(struct schema_read *s, size_t resource,
                          struct text name, const struct json *node,
                          bool dynamic, struct err *e)
{
    struct schema_ids *d = &s->ids;
    struct schema_anchor *p = schema_room(s, d->anchors, d->n_anchors,
                                          &d->cap_anchors, sizeof(*p));

    if (!p)
        return schema_nomem(e);
    d->anchors = p;
    p[d->n_anchors++] = (struct schema_anchor){resource, name, node, dynamic};
    return schema_work(s, 4, e);
}

static const struct json *string_member(const struct json *node,
                                        const char *key)
{
    const struct json *v = json_get(node, key);

    return v && v->type == JSON_STR ? v : NULL;
}

/* What one schema is called; *resource: where it is, then where what is in it
 * is. An $id that is only a fragment was the anchor of drafts 6 and 7. */
static enum st read_names(struct schema_read *s, const struct json *node,
                          size_t *resource, struct err *e)
{
    const struct json *id = string_member(node, "$id");
    const struct json *a = string_member(node, "$anchor");
    const struct json *d = string_member(node, "$dynamicAnchor");
    bool old = id && id->str.n > 1 && id->str.s[0] == '#';
    enum st st = ST_OK;

    if (id && !old && node != s->root) {
        st = add_resource(s, s->ids.resources[*resource].uri, id->str, node,
                          e);
        *resource = s->ids.n_resources - 1;
    }
    if (!st && old)
        st = add_anchor(s, *resource,
                        (struct text){id->str.s + 1, id->str.n - 1}, node,
                        false, e);
    if (!st && a)
        st = add_anchor(s, *resource, a->str, node, false, e);
    if (!st && d)
        st = add_anchor(s, *resource, d->str, node, true, e);
    return st;
}

/* Recursion is bounded by JSON_DEPTH_MAX, as the document was parsed. */
static enum st read_schema(struct schema_read *s, const struct json *node,
                           size_t resource, struct err *e)
{
    uint32_t *at;
    enum st st;

    if (node->type != JSON_OBJ)
        return ST_OK;
    st = read_names(s, node, &resource, e);
    if (!st)
        st = schema_work(s, 4 + node->n, e);
    if (!st && resource) {
        at = schema_map_at(s, &s->ids.at, &node, sizeof(node));
        if (!at)
            return schema_nomem(e);
        *at = (uint32_t)resource;
    }
    for (const struct json *kv = node->child; !st && kv; kv = kv->next) {
        enum schema_place place = schema_place(kv->key);

        if (place == PLACE_NONE)
            continue;
        if (kv->type == JSON_ARR || (place == PLACE_MAP &&
                                     kv->type == JSON_OBJ)) {
            for (const struct json *c = kv->child; !st && c; c = c->next)
                st = read_schema(s, c, resource, e);
        } else if (place == PLACE_ONE) {
            st = read_schema(s, kv, resource, e);
        }
    }
    return st;
}

static enum st read_all(struct schema_read *s, struct err *e)
{
    const struct json *id = string_member(s->root, "$id");
    enum st st;

    s->ids.read = true;
    st = add_resource(s, (struct text){"", 0},
                      id ? id->str : (struct text){"", 0}, s->root, e);
    return st ? st : read_schema(s, s->root, 0, e);
}

enum st schema_resource_of(struct schema_read *s, const struct json *node,
                           size_t *out, struct err *e)
{
    uint32_t *at;
    enum st st = s->ids.read ? ST_OK : read_all(s, e);

    *out = 0;
    if (st || s->ids.n_resources == 1)
        return st;
    at = schema_map_at(s, &s->ids.at, &node, sizeof(node));
    if (!at)
        return schema_nomem(e);
    *out = *at;
    return ST_OK;
}

enum st schema_resource_find(struct schema_read *s, size_t base,
                             struct text ref, size_t *out, struct err *e)
{
    const struct schema_ids *d = &s->ids;
    struct buf b;
    size_t i = 0, n;

    buf_init(&b, BUF_EVENT);
    schema_uri_join(d->resources[base].uri, ref, &b);
    n = b.n;
    if (!b.failed)
        while (i < d->n_resources && !text_same(d->resources[i].uri,
                                                buf_text(&b)))
            i++;
    *out = b.failed ? d->n_resources : i;
    buf_release(&b);
    return schema_work(s, 8 + i * (1 + n / 16) + n + ref.n, e);
}

enum st schema_anchor_find(struct schema_read *s, size_t resource,
                           struct text name, const struct json **out,
                           struct err *e)
{
    const struct schema_ids *d = &s->ids;

    *out = NULL;
    for (size_t i = 0; i < d->n_anchors && !*out; i++)
        if (d->anchors[i].resource == resource &&
            text_same(d->anchors[i].name, name))
            *out = d->anchors[i].node;
    return schema_work(s, 1 + d->n_anchors / 2, e);
}

enum st schema_anchor_dynamic(struct schema_read *s, const struct json *node,
                              struct text name, size_t *n, struct err *e)
{
    const struct schema_ids *d = &s->ids;
    const struct json *own = string_member(node, "$dynamicAnchor");

    *n = 0;
    if (!own || !text_same(own->str, name))
        return ST_OK;
    for (size_t i = 0; i < d->n_anchors; i++)
        *n += d->anchors[i].dynamic && text_same(d->anchors[i].name, name);
    return schema_work(s, 1 + d->n_anchors / 2, e);
}
