#include "chat/jinja_lib.h"

#include "base/utf8.h"
#include "chat/jinja.h"

#include <stdarg.h>

/* --- errors and limits ---------------------------------------------------- */

void jx_where(const struct jx *x, char *out, size_t n)
{
    snprintf(out, n, "%.120s line %d", x->name ? x->name : "template",
             x->line);
}

enum st jx_fail(struct jx *x, const char *fmt, ...)
{
    char where[160], text[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    jx_where(x, where, sizeof(where));
    return err_set(x->e, ST_FORMAT, where, "%s", text);
}

enum st jx_limit(struct jx *x, const char *what)
{
    char where[160];

    jx_where(x, where, sizeof(where));
    return err_set(x->e, ST_LIMIT, where, "the template %s", what);
}

enum st jx_full(struct jx *x)
{
    return jx_limit(x, "needs more memory than one rendering may have");
}

enum st jx_pay(struct jx *x, uint64_t steps)
{
    if (steps > x->steps_left) {
        x->steps_left = 0;
        return jx_limit(x, "needs more steps than one rendering may have");
    }
    x->steps_left -= steps;
    return ST_OK;
}

enum st jx_enter(struct jx *x)
{
    if (x->depth >= JINJA_DEPTH_MAX)
        return jx_limit(x, "nests values, expressions or calls too deeply");
    x->depth++;
    return ST_OK;
}

void jx_leave(struct jx *x)
{
    x->depth--;
}

/* --- making values -------------------------------------------------------- */

struct jv jv_none(void)
{
    return (struct jv){.type = JV_NONE, .markup = true};
}

struct jv jv_undef(void)
{
    return (struct jv){.type = JV_UNDEF, .markup = true};
}

struct jv jv_bool(bool b, bool markup)
{
    return (struct jv){.type = JV_BOOL, .markup = markup, .u.b = b};
}

struct jv jv_int(int64_t i, bool markup)
{
    return (struct jv){.type = JV_INT, .markup = markup, .u.i = i};
}

struct jv jv_float(double d, bool markup)
{
    return (struct jv){.type = JV_FLOAT, .markup = markup, .u.d = d};
}

struct jv jv_span(const char *s, size_t n, bool markup)
{
    struct jv v = {.type = JV_STR, .markup = markup};

    v.u.str.s = s ? s : "";
    v.u.str.n = s ? n : 0;
    return v;
}

struct jv jv_lit(const char *literal)
{
    return jv_span(literal, strlen(literal), true);
}

struct jv jv_new_list(struct jx *x)
{
    struct jv v = {.type = JV_LIST, .markup = true};

    v.u.list = arena_alloc(x->arena, sizeof(*v.u.list));
    return v.u.list ? v : jv_undef();
}

struct jv jv_new_dict(struct jx *x)
{
    struct jv v = {.type = JV_DICT, .markup = true};

    v.u.dict = arena_alloc(x->arena, sizeof(*v.u.dict));
    return v.u.dict ? v : jv_undef();
}

/* A bigger copy of p[0..n); the old one stays in the arena. */
static void *grown(struct jx *x, const void *p, size_t n, size_t size,
                   size_t *cap)
{
    size_t more = n < 4 ? 4 : n, want;
    void *fresh;

    if (!mem_add(&want, n, more))
        return NULL;
    fresh = arena_array(x->arena, want, size);
    if (!fresh)
        return NULL;
    if (n)
        memcpy(fresh, p, n * size);
    *cap = want;
    return fresh;
}

enum st jv_push(struct jx *x, struct jv list, struct jv item)
{
    struct jlist *l = list.u.list;
    enum st st = jx_pay(x, 1);

    if (st)
        return st;
    if (l->n == l->cap) {
        struct jv *p = grown(x, l->p, l->n, sizeof(*p), &l->cap);

        if (!p)
            return jx_full(x);
        l->p = p;
    }
    l->p[l->n++] = item;
    return ST_OK;
}

static bool may_be_key(const struct jv *key)
{
    switch (key->type) {
    case JV_STR:
    case JV_INT:
    case JV_FLOAT:
    case JV_BOOL:
    case JV_NONE:
        return true;
    default:
        return false;
    }
}

/* What a glance tells; looking closer is paid for. */
static bool may_equal(const struct jv *a, const struct jv *b)
{
    if (a->type != JV_STR || b->type != JV_STR)
        return a->type != JV_STR && b->type != JV_STR;
    return a->u.str.n == b->u.str.n &&
           (!a->u.str.n || a->u.str.s[0] == b->u.str.s[0]);
}

enum st jx_find(struct jx *x, const struct jdict *d, const struct jv *key,
                struct jv **found)
{
    enum st st = jx_pay(x, 1 + d->n / 8);
    bool same = false;

    *found = NULL;
    for (size_t i = 0; i < d->n && may_be_key(key) && !same && !st; i++) {
        if (!may_equal(&d->p[i].key, key))
            continue;
        st = jx_equal(x, &d->p[i].key, key, &same); /* scalars */
        if (same)
            *found = &d->p[i].value;
    }
    return st;
}

enum st jv_set(struct jx *x, struct jv dict, struct jv key, struct jv value)
{
    struct jdict *d = dict.u.dict;
    struct jv *old;
    enum st st;

    if (!may_be_key(&key))
        return jx_fail(x, "a key of type %s: keys are strings and numbers",
                       jv_type_word(&key));
    st = jx_find(x, d, &key, &old);
    if (st)
        return st;
    if (old) {
        *old = value;
        return ST_OK;
    }
    if (d->n == d->cap) {
        struct jpair *p = grown(x, d->p, d->n, sizeof(*p), &d->cap);

        if (!p)
            return jx_full(x);
        d->p = p;
    }
    d->p[d->n++] = (struct jpair){key, value};
    return ST_OK;
}

static enum st json_list(struct jx *x, const struct json *j, bool markup,
                         struct jv *out)
{
    struct jv list = jv_new_list(x);

    if (list.type == JV_UNDEF)
        return jx_full(x);
    list.markup = markup;
    for (const struct json *c = j->child; c; c = c->next) {
        struct jv item;
        enum st st = jv_from_json(x, c, markup, &item);

        if (!st)
            st = jv_push(x, list, item);
        if (st)
            return st;
    }
    *out = list;
    return ST_OK;
}

/* The reader saw to it that keys are distinct: no search. */
static enum st json_dict(struct jx *x, const struct json *j, bool markup,
                         struct jv *out)
{
    struct jv dict = jv_new_dict(x);
    struct jdict *d = dict.u.dict;

    if (dict.type == JV_UNDEF)
        return jx_full(x);
    dict.markup = markup;
    if (j->n)
        d->p = arena_array(x->arena, j->n, sizeof(*d->p));
    if (j->n && !d->p)
        return jx_full(x);
    d->cap = j->n;
    for (const struct json *c = j->child; c; c = c->next) {
        struct jpair *p = &d->p[d->n];
        enum st st = jv_from_json(x, c, markup, &p->value);

        if (st)
            return st;
        p->key = jv_span(c->key.s, c->key.n, markup);
        d->n++;
    }
    *out = dict;
    return ST_OK;
}

enum st jv_from_json(struct jx *x, const struct json *j, bool markup,
                     struct jv *out)
{
    enum st st = jx_pay(x, 1);

    *out = jv_undef();
    if (st)
        return st;
    switch (j->type) {
    case JSON_NULL:
        *out = jv_none();
        out->markup = markup;
        return ST_OK;
    case JSON_BOOL:
        *out = jv_bool(j->boolean, markup);
        return ST_OK;
    case JSON_NUM:
        *out = j->is_int ? jv_int(j->i, markup) : jv_float(j->d, markup);
        return ST_OK;
    case JSON_STR:
        *out = jv_span(j->str.s, j->str.n, markup);
        return ST_OK;
    case JSON_ARR:
        return json_list(x, j, markup, out);
    case JSON_OBJ:
        return json_dict(x, j, markup, out);
    }
    return jx_fail(x, "a JSON value of no known type");
}

/* --- strings that grow ---------------------------------------------------- */

void jbuild_init(struct jbuild *b, struct jx *x)
{
    *b = (struct jbuild){.x = x, .markup = true};
}

static enum st build_grow(struct jbuild *b, size_t need)
{
    size_t max = b->x->max_bytes, cap = b->cap < 32 ? 64 : b->cap;
    unsigned char *map = NULL;
    char *s;

    if (need > max)
        return jx_limit(b->x, "makes a string longer than its output may be");
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    if (cap > max)
        cap = max;
    s = arena_alloc(b->x->arena, cap);
    if (s && b->map)
        map = arena_alloc(b->x->arena, cap);
    if (!s || (b->map && !map))
        return jx_full(b->x);
    if (b->n)
        memcpy(s, b->s, b->n);
    if (b->n && map)
        memcpy(map, b->map, b->n);
    b->s = s;
    b->map = map;
    b->cap = cap;
    return ST_OK;
}

/* Room for n more bytes, paid for. */
static enum st build_room(struct jbuild *b, size_t n)
{
    enum st st = jx_pay(b->x, ((b->n & 15) + n) / 16);
    size_t need;

    if (st)
        return st;
    if (!mem_add(&need, b->n, n))
        need = SIZE_MAX;
    return need > b->cap ? build_grow(b, need) : ST_OK;
}

static enum st build_map(struct jbuild *b)
{
    if (b->map)
        return ST_OK;
    b->map = arena_alloc(b->x->arena, b->cap);
    if (!b->map)
        return jx_full(b->x);
    memset(b->map, b->markup, b->n);
    b->markup = false;
    return ST_OK;
}

enum st jbuild_add(struct jbuild *b, const char *s, size_t n, bool markup)
{
    enum st st;

    if (!n) {
        if (!b->n && !markup)
            b->markup = false; /* of an empty string, should it stay one */
        return ST_OK;
    }
    st = build_room(b, n);
    if (!st && !b->n)
        b->markup = markup;
    else if (!st && !b->map && markup != b->markup)
        st = build_map(b);
    if (st)
        return st;
    memcpy(b->s + b->n, s, n);
    if (b->map)
        memset(b->map + b->n, markup, n);
    b->n += n;
    return ST_OK;
}

enum st jbuild_part(struct jbuild *b, const struct jv *v, size_t from,
                    size_t n)
{
    const unsigned char *map = v->u.str.map;
    enum st st;

    if (map && n) {
        map += from;
        if (!memchr(map, !map[0], n))
            return jbuild_add(b, v->u.str.s + from, n, map[0]);
        st = build_room(b, n);
        if (!st)
            st = build_map(b);
        if (st)
            return st;
        memcpy(b->s + b->n, v->u.str.s + from, n);
        memcpy(b->map + b->n, map, n);
        b->n += n;
        return ST_OK;
    }
    return jbuild_add(b, v->u.str.s + from, n, v->markup);
}

enum st jbuild_str(struct jbuild *b, const struct jv *v)
{
    return jbuild_part(b, v, 0, v->u.str.n);
}

enum st jbuild_lit(struct jbuild *b, const char *s, bool markup)
{
    return jbuild_add(b, s, strlen(s), markup);
}

enum st jbuild_pad(struct jbuild *b, char c, uint64_t times, bool markup)
{
    char chunk[64];
    enum st st = ST_OK;

    if (times > b->x->max_bytes)
        return jx_limit(b->x, "makes a string longer than its output may be");
    memset(chunk, c, sizeof(chunk));
    while (times && !st) {
        size_t n = times < sizeof(chunk) ? (size_t)times : sizeof(chunk);

        st = jbuild_add(b, chunk, n, markup);
        times -= n;
    }
    return st;
}

struct jv jbuild_done(struct jbuild *b)
{
    struct jv v = jv_span(b->s, b->n, b->markup);

    if (!b->map || !b->n)
        return v;
    v.markup = false;
    v.u.str.map = b->map;
    return jv_cut(&v, 0, b->n);
}

/* --- reading values ------------------------------------------------------- */

bool jv_truthy(const struct jv *v)
{
    switch (v->type) {
    case JV_UNDEF:
    case JV_NONE:
        return false;
    case JV_BOOL:
        return v->u.b;
    case JV_INT:
        return v->u.i != 0;
    case JV_FLOAT:
        return v->u.d != 0;
    case JV_STR:
        return v->u.str.n != 0;
    case JV_LIST:
        return v->u.list->n != 0;
    case JV_DICT:
        return v->u.dict->ns || v->u.dict->n != 0;
    case JV_FUNC:
        return true;
    }
    return false;
}

bool jv_is(const struct jv *v, const char *literal)
{
    size_t n = strlen(literal);

    return v->type == JV_STR && v->u.str.n == n &&
           !memcmp(v->u.str.s, literal, n);
}

const char *jv_type_word(const struct jv *v)
{
    static const char *const words[] = {
        "undefined", "none", "bool", "int", "float", "string", "list", "dict",
        "function"};

    if (v->type == JV_LIST && v->u.list->tuple)
        return "tuple";
    if (v->type == JV_DICT && v->u.dict->ns)
        return "namespace";
    return words[v->type];
}

const struct jv *jv_get(const struct jv *dict, const char *key)
{
    const struct jdict *d = dict->u.dict;

    if (dict->type != JV_DICT)
        return NULL;
    for (size_t i = 0; i < d->n; i++)
        if (jv_is(&d->p[i].key, key))
            return &d->p[i].value;
    return NULL;
}

struct jv jv_cut(const struct jv *str, size_t from, size_t n)
{
    struct jv v = *str;

    v.u.str.s += from;
    v.u.str.n = n;
    if (!v.u.str.map)
        return v;
    v.u.str.map = n ? v.u.str.map + from : NULL;
    if (n && !memchr(v.u.str.map, !v.u.str.map[0], n)) {
        v.markup = v.u.str.map[0];
        v.u.str.map = NULL;
    }
    return v;
}

bool jv_is_markup(const struct jv *v)
{
    return v->type == JV_STR && v->u.str.map ? false : v->markup;
}

/* --- characters ----------------------------------------------------------- */

size_t jchar(const char *s, size_t n, uint32_t *cp)
{
    unsigned char c = (unsigned char)s[0];
    size_t len;

    if (c < 0x80) {
        *cp = c;
        return 1;
    }
    len = utf8_decode(s, n, cp);
    if (len)
        return len;
    *cp = 0xfffd;
    return 1;
}

size_t jchar_at(const char *s, size_t n, size_t i)
{
    size_t at = 0;
    uint32_t cp;

    while (i-- && at < n)
        at += jchar(s + at, n - at, &cp);
    return at;
}

size_t jchars(const char *s, size_t n)
{
    size_t at = 0, count = 0;
    uint32_t cp;

    for (; at < n; count++)
        at += jchar(s + at, n - at, &cp);
    return count;
}
