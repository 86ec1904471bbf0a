#include "json/write.h"

#include "base/utf8.h"

#include <math.h>
#include <yajl/yajl_gen.h>

#define LEVELS 127 /* behind them yajl refuses, but reads past its stack */

struct jw {
    struct buf *out;
    yajl_gen g;
    size_t depth;
};

static void print(void *ctx, const char *s, size_t n)
{
    buf_add(ctx, s, n);
}

struct jw *jw_new(struct buf *out)
{
    struct jw *w = mem_new(struct jw);

    w->out = out;
    w->g = yajl_gen_alloc(NULL);
    BUG_ON(!w->g);
    yajl_gen_config(w->g, yajl_gen_print_callback, print, out);
    return w;
}

/* yajl refuses what would not be JSON; that sticks like a full buffer. */
static void check(struct jw *w, yajl_gen_status st)
{
    if (st != yajl_gen_status_ok)
        w->out->failed = true;
}

bool jw_end(struct jw *w)
{
    bool good = !w->out->failed && !w->depth;

    yajl_gen_free(w->g);
    free(w);
    return good;
}

static void open_level(struct jw *w, yajl_gen_status (*begin)(yajl_gen))
{
    if (w->depth++ < LEVELS)
        check(w, begin(w->g));
    else
        w->out->failed = true;
}

static void close_level(struct jw *w, yajl_gen_status (*finish)(yajl_gen))
{
    BUG_ON(!w->depth);
    if (--w->depth < LEVELS)
        check(w, finish(w->g));
}

void jw_obj(struct jw *w)
{
    open_level(w, yajl_gen_map_open);
}

void jw_obj_end(struct jw *w)
{
    close_level(w, yajl_gen_map_close);
}

void jw_arr(struct jw *w)
{
    open_level(w, yajl_gen_array_open);
}

void jw_arr_end(struct jw *w)
{
    close_level(w, yajl_gen_array_close);
}

/* yajl writes a number as it is given. */
void jw_raw(struct jw *w, const char *s, size_t n)
{
    check(w, yajl_gen_number(w->g, s, n));
}

/* {"key":REST} -> the key, and REST as its value. */
void jw_members(struct jw *w, const char *s, size_t n)
{
    const char *end = n > 4 && s[0] == '{' && s[1] == '"'
                          ? memchr(s + 2, '"', n - 4)
                          : NULL;

    if (!end || s[n - 1] != '}') {
        jw_fail(w);
        return;
    }
    jw_strn(w, s + 2, (size_t)(end - s) - 2);
    jw_raw(w, end + 2, n - (size_t)(end - s) - 3);
}

void jw_fail(struct jw *w)
{
    w->out->failed = true;
}

void jw_key(struct jw *w, const char *key)
{
    jw_str(w, key);
}

void jw_null(struct jw *w)
{
    check(w, yajl_gen_null(w->g));
}

void jw_bool(struct jw *w, bool v)
{
    check(w, yajl_gen_bool(w->g, v));
}

/* By hand: log-probabilities are lists of bytes, and printf is slow. */
void jw_int(struct jw *w, int64_t v)
{
    uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;
    char text[20], *p = text + sizeof(text); /* -9223372036854775808 */

    do {
        *--p = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (v < 0)
        *--p = '-';
    check(w, yajl_gen_number(w->g, p, (size_t)(text + sizeof(text) - p)));
}

void jw_num(struct jw *w, double v, int decimals)
{
    char text[352]; /* the largest double has 309 digits before the point */
    int n;

    BUG_ON(decimals < 0 || decimals > 9);
    if (!isfinite(v)) {
        jw_null(w);
        return;
    }
    n = snprintf(text, sizeof(text), "%.*f", decimals, v);
    check(w, yajl_gen_number(w->g, text, (size_t)n));
}

void jw_strn(struct jw *w, const char *s, size_t n)
{
    if (!utf8_valid(s, n, NULL)) {
        w->out->failed = true;
        return;
    }
    check(w, yajl_gen_string(w->g, (const unsigned char *)s, n));
}

void jw_str(struct jw *w, const char *s)
{
    jw_strn(w, s, strlen(s));
}

void jw_kstr(struct jw *w, const char *key, const char *s)
{
    jw_key(w, key);
    jw_str(w, s);
}

void jw_kstrn(struct jw *w, const char *key, const char *s, size_t n)
{
    jw_key(w, key);
    jw_strn(w, s, n);
}

void jw_kint(struct jw *w, const char *key, int64_t v)
{
    jw_key(w, key);
    jw_int(w, v);
}

void jw_knum(struct jw *w, const char *key, double v, int decimals)
{
    jw_key(w, key);
    jw_num(w, v, decimals);
}

void jw_kbool(struct jw *w, const char *key, bool v)
{
    jw_key(w, key);
    jw_bool(w, v);
}

void jw_kempty(struct jw *w, const char *key)
{
    jw_key(w, key);
    jw_arr(w);
    jw_arr_end(w);
}

void jw_knull(struct jw *w, const char *key)
{
    jw_key(w, key);
    jw_null(w);
}
