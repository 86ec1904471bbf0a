#include "json/read.h"

#include "base/num.h"
#include "base/utf8.h"

#include <math.h>
#include <yajl/yajl_parse.h>

/*
 * The tree under construction. yajl grows its own state stack with every
 * bracket and without asking, so the depth cap sits in the callbacks: a
 * callback that returns 0 stops the parser at once.
 */
struct reader {
    struct arena *a;
    struct err *e;
    enum st st; /* why a callback stopped the parser */
    yajl_handle h;
    struct json *root;
    struct json *open[JSON_DEPTH_MAX];  /* containers around this point */
    struct json *last[JSON_DEPTH_MAX];  /* newest child of each */
    size_t depth;
    size_t nodes;
    size_t root_end; /* bytes up to the end of the whole value */
    struct text key; /* of the member whose value comes next */
};

/* --- before yajl: what it would let through ------------------------------ */

/* Four hex digits at s, or -1: then yajl refuses the escape. */
static int32_t hex4(const char *s, size_t n)
{
    int32_t v = 0;

    if (n < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int d;

        if (c >= '0' && c <= '9')
            d = c - '0';
        else if (c >= 'a' && c <= 'f')
            d = c - 'a' + 10;
        else if (c >= 'A' && c <= 'F')
            d = c - 'A' + 10;
        else
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/*
 * No lone surrogate among the \u escapes of s[0..n)? A backslash outside a
 * string is an error to yajl, so strings need not be told apart here.
 */
static bool surrogates_ok(const char *s, size_t n, size_t *bad)
{
    const char *end = s + n;
    const char *p = s;

    while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
        size_t left = (size_t)(end - p);
        int32_t hi, lo;

        if (left < 2 || p[1] != 'u') {
            p += left < 2 ? left : 2;
            continue;
        }
        hi = hex4(p + 2, left - 2);
        if (hi < 0xd800 || hi > 0xdfff) {
            p += 2;
            continue;
        }
        lo = -1;
        if (hi < 0xdc00 && left >= 12 && p[6] == '\\' && p[7] == 'u')
            lo = hex4(p + 8, left - 8);
        if (lo < 0xdc00 || lo > 0xdfff) {
            *bad = (size_t)(p - s);
            return false;
        }
        p += 12;
    }
    return true;
}

/*
 * No raw control character but tab, line feed and carriage return? Others
 * are nowhere valid in JSON; yajl takes \f and \v for white space.
 */
static bool controls_ok(const char *s, size_t n, size_t *bad)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        if (c < ' ' && c != '\t' && c != '\n' && c != '\r') {
            *bad = i;
            return false;
        }
    }
    return true;
}

/* --- the tree ------------------------------------------------------------ */

static int stop(struct reader *r, enum st st, const char *what)
{
    r->st = err_set(r->e, st, "", "%s at byte %zu", what,
                    yajl_get_bytes_consumed(r->h));
    return 0;
}

static int stop_deep(struct reader *r)
{
    r->st = err_set(r->e, ST_LIMIT, "",
                    "JSON text is nested deeper than %d levels at byte %zu",
                    JSON_DEPTH_MAX, yajl_get_bytes_consumed(r->h));
    return 0;
}

static int stop_memory(struct reader *r)
{
    return stop(r, ST_LIMIT, "JSON text needs more memory than allowed");
}

/* The root may be done: what follows it is looked at in run(). */
static int value_done(struct reader *r)
{
    if (!r->depth)
        r->root_end = yajl_get_bytes_consumed(r->h);
    return 1;
}

/* A new node under the innermost container; NULL when a cap is hit. */
static struct json *add(struct reader *r, enum json_type type)
{
    struct json *v;

    if (r->nodes == JSON_NODES_MAX) {
        stop(r, ST_LIMIT, "JSON text has too many values");
        return NULL;
    }
    v = arena_alloc(r->a, sizeof(*v));
    if (!v) {
        stop_memory(r);
        return NULL;
    }
    r->nodes++;
    v->type = type;
    if (!r->depth) {
        r->root = v;
        return v;
    }
    v->key = r->key;
    r->key = (struct text){0};
    if (r->last[r->depth - 1])
        r->last[r->depth - 1]->next = v;
    else
        r->open[r->depth - 1]->child = v;
    r->last[r->depth - 1] = v;
    r->open[r->depth - 1]->n++;
    return v;
}

static bool copy(struct reader *r, struct text *out, const void *s, size_t n)
{
    out->s = arena_dup(r->a, s, n);
    out->n = n;
    if (!out->s)
        stop_memory(r);
    return out->s != NULL;
}

static int on_null(void *ctx)
{
    return add(ctx, JSON_NULL) && value_done(ctx);
}

static int on_bool(void *ctx, int value)
{
    struct json *v = add(ctx, JSON_BOOL);

    if (!v)
        return 0;
    v->boolean = value != 0;
    return value_done(ctx);
}

static int on_number(void *ctx, const char *s, size_t n)
{
    struct reader *r = ctx;
    struct json *v;

    if (n > JSON_NUMBER_MAX)
        return stop(r, ST_INVALID, "a number is written too long");
    v = add(r, JSON_NUM);
    if (!v || !copy(r, &v->str, s, n))
        return 0;
    if (!memchr(s, '.', n) && !memchr(s, 'e', n) && !memchr(s, 'E', n))
        v->is_int = num_parse_i64(s, n, INT64_MIN, INT64_MAX, &v->i);
    /* yajl checked the grammar, so only the range can be at fault. */
    if (!num_parse_double(s, n, &v->d))
        v->d = s[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return value_done(r);
}

static int on_string(void *ctx, const unsigned char *s, size_t n)
{
    struct json *v = add(ctx, JSON_STR);

    return v && copy(ctx, &v->str, s, n) && value_done(ctx);
}

static int on_open(struct reader *r, enum json_type type)
{
    struct json *v;

    if (r->depth == JSON_DEPTH_MAX)
        return stop_deep(r);
    v = add(r, type);
    if (!v)
        return 0;
    r->open[r->depth] = v;
    r->last[r->depth] = NULL;
    r->depth++;
    return 1;
}

static int on_obj(void *ctx)
{
    return on_open(ctx, JSON_OBJ);
}

static int on_arr(void *ctx)
{
    return on_open(ctx, JSON_ARR);
}

static int on_arr_end(void *ctx)
{
    struct reader *r = ctx;

    r->depth--;
    return value_done(r);
}

static int on_key(void *ctx, const unsigned char *s, size_t n)
{
    struct reader *r = ctx;

    return copy(r, &r->key, s, n);
}

/* --- duplicate keys ------------------------------------------------------ */

struct member {
    struct json *v;
    size_t at; /* place in the source */
    bool drop; /* an equal key came before */
};

static int by_place(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;

    return a->at < b->at ? -1 : a->at > b->at;
}

static int by_key(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;
    size_t an = a->v->key.n, bn = b->v->key.n;
    size_t n = an < bn ? an : bn;
    int c = n ? memcmp(a->v->key.s, b->v->key.s, n) : 0;

    if (c)
        return c;
    if (an != bn)
        return an < bn ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool same_key(const struct json *a, const struct json *b)
{
    return a->key.n == b->key.n &&
           (a->key.n == 0 || memcmp(a->key.s, b->key.s, a->key.n) == 0);
}

/*
 * The first of several equal keys keeps its place and takes the value of the
 * last, as in JavaScript and Python. Sorting keeps an object of a million
 * keys from costing the square of it.
 */
static int drop_duplicates(struct reader *r, struct json *o)
{
    struct member *m;
    struct json **link = &o->child;
    size_t n = 0;

    if (o->n < 2)
        return 1;
    m = mem_try_array(o->n, sizeof(*m));
    if (!m)
        return stop_memory(r);
    for (struct json *v = o->child; v; v = v->next, n++)
        m[n] = (struct member){.v = v, .at = n};
    qsort(m, n, sizeof(*m), by_key);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && same_key(m[i].v, m[j].v); j++)
            m[j].drop = true;
        if (j > i + 1) {
            struct json *next = m[i].v->next;

            *m[i].v = *m[j - 1].v;
            m[i].v->next = next;
        }
    }
    qsort(m, n, sizeof(*m), by_place);
    o->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (m[i].drop)
            continue;
        *link = m[i].v;
        link = &m[i].v->next;
        o->n++;
    }
    *link = NULL;
    free(m);
    return 1;
}

static int on_obj_end(void *ctx)
{
    struct reader *r = ctx;

    r->depth--;
    return drop_duplicates(r, r->open[r->depth]) && value_done(r);
}

/* --- the parser ---------------------------------------------------------- */

/* yajl uses what it asked for without looking. */
static void *y_malloc(void *ctx, size_t n)
{
    (void)ctx;
    return mem_zalloc(n);
}

static void *y_realloc(void *ctx, void *p, size_t n)
{
    (void)ctx;
    p = realloc(p, n);
    BUG_ON(!p && n); /* a body under its cap fits into memory twice */
    return p;
}

static void y_free(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

/* yajl's short messages name the fault and never show the text. */
static enum st syntax_error(struct reader *r, size_t at, struct err *e)
{
    unsigned char *msg = yajl_get_error(r->h, 0, NULL, 0);
    const char *m = msg ? (const char *)msg : "not JSON";
    enum st st = err_set(e, ST_INVALID, "", "%.*s at byte %zu",
                         (int)strcspn(m, "\n"), m, at);

    if (msg)
        yajl_free_error(r->h, msg);
    return st;
}

static enum st run(struct reader *r, const char *s, size_t n, struct err *e)
{
    yajl_status ys = yajl_parse(r->h, (const unsigned char *)s, n);
    size_t at = yajl_get_bytes_consumed(r->h);

    /* yajl takes the start of a token after the value for white space. */
    if (ys == yajl_status_ok && r->root && !r->depth)
        for (size_t i = r->root_end; i < n; i++)
            if (!memchr(" \t\n\r", s[i], 4))
                return err_set(e, ST_INVALID, "",
                               "text after the value at byte %zu", i);

    if (ys == yajl_status_ok) {
        /* This parses one blank more, which may finish a number. */
        ys = yajl_complete_parse(r->h);
        at = n;
    }
    if (r->st)
        return r->st;
    if (ys != yajl_status_ok)
        return syntax_error(r, at, e);
    BUG_ON(!r->root || r->depth);
    return ST_OK;
}

enum st json_parse(const struct json **out, struct arena *a, const char *s,
                   size_t n, struct err *e)
{
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_bool,
        .yajl_number = on_number,
        .yajl_string = on_string,
        .yajl_start_map = on_obj,
        .yajl_map_key = on_key,
        .yajl_end_map = on_obj_end,
        .yajl_start_array = on_arr,
        .yajl_end_array = on_arr_end,
    };
    yajl_alloc_funcs alloc = {y_malloc, y_realloc, y_free, NULL};
    struct reader r = {.a = a, .e = e};
    size_t bad = 0;
    enum st st;

    *out = NULL;
    if (!utf8_valid(s, n, &bad))
        return err_set(e, ST_INVALID, "", "invalid UTF-8 at byte %zu", bad);
    if (!controls_ok(s, n, &bad))
        return err_set(e, ST_INVALID, "", "control character at byte %zu",
                       bad);
    if (!surrogates_ok(s, n, &bad))
        return err_set(e, ST_INVALID, "",
                       "half of a surrogate pair at byte %zu", bad);
    r.h = yajl_alloc(&callbacks, &alloc, &r);
    st = run(&r, s, n, e);
    yajl_free(r.h);
    if (!st)
        *out = r.root;
    return st;
}

/* --- looking at it ------------------------------------------------------- */

const struct json *json_get(const struct json *o, const char *key)
{
    size_t n = strlen(key);

    if (!o || o->type != JSON_OBJ)
        return NULL;
    for (const struct json *v = o->child; v; v = v->next)
        if (v->key.n == n && memcmp(v->key.s, key, n) == 0)
            return v;
    return NULL;
}

bool json_is(const struct json *v, const char *literal)
{
    size_t n = strlen(literal);

    return v && v->type == JSON_STR && v->str.n == n &&
           memcmp(v->str.s, literal, n) == 0;
}

const char *json_type_name(const struct json *v)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",    [JSON_BOOL] = "a boolean",
        [JSON_NUM] = "a number", [JSON_STR] = "a string",
        [JSON_ARR] = "an array", [JSON_OBJ] = "an object",
    };

    return v ? names[v->type] : "nothing";
}
