#include "gram/schema_int.h"
#include <stdlib.h>
#include <string.h>

#define NAME_CHARS 60     /* of one name in a message */
#define CONTEXT_BYTES 300 /* of the path in a message */

struct step {
    const struct step *up; /* NULL: the root */
    struct text name;
};

struct strict {
    const char *what;
    struct err *e;
};

/* A name as the message quotes it, cut to NAME_CHARS whole characters. */
static void quote(struct text t, struct buf *out)
{
    bool single = memchr(t.s, '\'', t.n) && !memchr(t.s, '"', t.n);
    char q = single ? '"' : '\'';
    size_t i, chars = 0;

    buf_putc(out, q);
    for (i = 0; i < t.n; i++) {
        unsigned char c = (unsigned char)t.s[i];

        if ((c & 0xc0) != 0x80 && ++chars > NAME_CHARS) {
            buf_puts(out, "...");
            break;
        }
        if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else if (c == '\\' || c == (unsigned char)q)
            buf_printf(out, "\\%c", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, q);
}

/* The steps from the root to `at`; recursion is bounded by JSON_DEPTH_MAX. */
static size_t steps(const struct step *at, struct buf *out)
{
    size_t n;

    if (!at)
        return 0;
    n = steps(at->up, out);
    if (out->n > CONTEXT_BYTES)
        return n + 1;
    if (n)
        buf_puts(out, ", ");
    if (out->n > CONTEXT_BYTES)
        buf_puts(out, "...");
    else
        quote(at->name, out);
    return n + 1;
}

/* A tuple as Python writes it: (), ('a',), ('a', 'b'). */
static void context(const struct step *at, struct buf *out)
{
    buf_putc(out, '(');
    if (steps(at, out) == 1)
        buf_putc(out, ',');
    buf_putc(out, ')');
}

/* rule, or rule before NAME behind; the latter when `before` is given. */
static enum st complain(struct strict *s, const struct step *at,
                        const char *rule, const char *before,
                        struct text name, const char *behind)
{
    struct buf where, key;

    buf_init(&where, BUF_MESSAGE);
    buf_init(&key, BUF_MESSAGE);
    context(at, &where);
    if (before)
        quote(name, &key);
    err_set(s->e, ST_INVALID, "",
            "Invalid schema for %s: In context=%s, %s%s%s%s", s->what,
            buf_text(&where).s, rule, before ? before : "", buf_text(&key).s,
            before ? behind : "");
    buf_release(&where);
    buf_release(&key);
    return ST_INVALID;
}

static bool is_object(const struct json *node)
{
    const struct json *type = json_get(node, "type"), *t;

    if (!type)
        return json_get(node, "properties");
    if (type->type == JSON_ARR)
        for (t = type->child; t; t = t->next)
            if (json_is(t, "object"))
                return true;
    return json_is(type, "object");
}

/* Names in order, so that two long lists are compared in little time. */
struct names {
    struct text *p; /* [n] owned */
    size_t n;
};

static int by_name(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    int c = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);

    return c ? c : (x->n > y->n) - (x->n < y->n);
}

/* The keys of an object or the strings of a list; none of anything else. */
static enum st names_of(struct names *out, const struct json *v, struct err *e)
{
    const struct json *m;

    *out = (struct names){0};
    if (!v || !v->n || (v->type != JSON_ARR && v->type != JSON_OBJ))
        return ST_OK;
    out->p = mem_try_array(v->n, sizeof *out->p);
    if (!out->p)
        return err_set(e, ST_NOMEM, "", "no memory for a schema's names");
    for (m = v->child; m; m = m->next)
        if (v->type == JSON_OBJ || m->type == JSON_STR)
            out->p[out->n++] = v->type == JSON_OBJ ? m->key : m->str;
    qsort(out->p, out->n, sizeof *out->p, by_name);
    return ST_OK;
}

/* The first key or string of v that is not among the names; NULL: none. */
static const struct text *missing(const struct json *v, const struct names *in)
{
    const struct json *m;

    if (!v || (v->type != JSON_ARR && v->type != JSON_OBJ))
        return NULL;
    for (m = v->child; m; m = m->next) {
        const struct text *t = v->type == JSON_OBJ ? &m->key : &m->str;

        if (v->type == JSON_ARR && m->type != JSON_STR)
            continue;
        if (!in->n || !bsearch(t, in->p, in->n, sizeof *t, by_name))
            return t;
    }
    return NULL;
}

/* properties and required name the same. */
static enum st check_names(struct strict *s, const struct json *node,
                           const struct step *at)
{
    static const char rule[] = "'required' is required to be supplied and to "
                               "be an array including every key in "
                               "properties.";
    const struct json *properties = json_get(node, "properties");
    const struct json *required = json_get(node, "required");
    struct names keys = {0}, listed = {0};
    const struct text *t;
    enum st st;

    if (properties && properties->type != JSON_OBJ)
        properties = NULL; /* the compiler of schemas says so */
    if (required && required->type != JSON_ARR)
        required = NULL;
    st = names_of(&keys, properties, s->e);
    if (!st)
        st = names_of(&listed, required, s->e);
    if (!st) {
        t = missing(properties, &listed);
        if (t)
            st = complain(s, at, rule, " Missing ", *t, ".");
    }
    if (!st) {
        t = missing(required, &keys);
        if (t)
            st = complain(s, at, rule, " Extra required key ", *t,
                          " supplied.");
    }
    free(keys.p);
    free(listed.p);
    return st;
}

static enum st check_object(struct strict *s, const struct json *node,
                            const struct step *at)
{
    const struct json *extra = json_get(node, "additionalProperties");

    if (!extra || extra->type != JSON_BOOL || extra->boolean)
        return complain(s, at, "'additionalProperties' is required to be "
                        "supplied and to be false.", NULL, (struct text){0},
                        NULL);
    return check_names(s, node, at);
}

static enum st check(struct strict *s, const struct json *node,
                     const struct step *at);

static enum st check_parts(struct strict *s, const struct json *of,
                           const struct step *up)
{
    const struct json *c;
    enum st st = ST_OK;
    size_t i = 0;
    char number[24];

    for (c = of->child; c && !st; c = c->next, i++) {
        struct step at = {up, c->key};

        if (of->type == JSON_ARR) {
            snprintf(number, sizeof number, "%zu", i);
            at.name = (struct text){number, strlen(number)};
        }
        st = check(s, c, &at);
    }
    return st;
}

/* Recursion is bounded by JSON_DEPTH_MAX, as the schema was parsed. */
static enum st check(struct strict *s, const struct json *node,
                     const struct step *up)
{
    const struct json *m;
    enum st st = ST_OK;

    if (node->type != JSON_OBJ)
        return ST_OK;
    if (is_object(node))
        st = check_object(s, node, up);
    for (m = node->child; m && !st; m = m->next) {
        enum schema_place p = schema_place(m->key);
        struct step at = {up, m->key};

        if (p == PLACE_NONE)
            continue;
        if (m->type == JSON_ARR || (p == PLACE_MAP && m->type == JSON_OBJ))
            st = check_parts(s, m, &at);
        else if (p == PLACE_ONE)
            st = check(s, m, &at);
    }
    return st;
}

enum st schema_strict(const struct json *schema, const char *what,
                      struct err *e)
{
    struct strict s = {what, e};

    return check(&s, schema, NULL);
}
