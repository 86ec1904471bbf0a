#include "api/calltext.h"

#include "base/ascii.h"
#include "gram/regex.h"
#include "gram/schema.h"
#include <math.h>

/* Any text without one of the stops. */
static const struct gx *free_text(const struct calltext *c)
{
    const struct gx *any = gx_any_text(c->w, GX_RAW), *bad = gx_none(c->w);

    if (!c->n_stops)
        return any;
    for (size_t i = 0; i < c->n_stops; i++)
        bad = gx_alt(c->w, bad, gx_lit(c->w, c->stops[i]));
    return gx_minus(c->w, any, gx_seq(c->w, any, gx_seq(c->w, bad, any)));
}

/* Texts without blanks at their ends. */
static const struct gx *trimmed(struct gxs *w)
{
    const struct gx *any = gx_any_text(w, GX_RAW), *edge;
    struct charset c;

    charset_init(&c, &w->arena);
    charset_add(&c, 9, 13);
    charset_add(&c, ' ', ' ');
    charset_invert(&c);
    edge = gx_chars(w, &c, GX_RAW);
    return gx_opt(w, gx_seq(w, edge, gx_opt(w, gx_seq(w, any, edge))));
}

/* --- keywords ------------------------------------------------------------- */

struct restricts {
    const struct gx *x; /* NULL: nothing yet */
    uint32_t min, max;
};

static enum st bad_word(const char *keyword, const char *text, struct err *e)
{
    return err_set(e, ST_INVALID, "", "%s: %s", keyword, text);
}

static void both(struct gxs *w, struct restricts *r, const struct gx *x)
{
    r->x = r->x ? gx_both(w, r->x, x) : x;
}

static enum st read_count(const struct json *schema, const char *keyword,
                          uint32_t *out, struct err *e)
{
    const struct json *v = json_get(schema, keyword);

    if (!v)
        return ST_OK;
    if (v->type != JSON_NUM || !(v->d >= 0) ||
        (isfinite(v->d) && floor(v->d) != v->d))
        return bad_word(keyword, "must be a whole number, 0 or more", e);
    *out = v->d < GX_MANY ? (uint32_t)v->d : GX_MANY;
    return ST_OK;
}

static enum st read_pattern(struct gxs *w, const struct json *schema,
                            struct restricts *r, struct err *e)
{
    const struct json *v = json_get(schema, "pattern");
    const struct gx *x;
    struct err inner = {0};
    enum st st;

    if (!v)
        return ST_OK;
    if (v->type != JSON_STR)
        return bad_word("pattern", "must be a string", e);
    st = regex_parse(&x, w, v->str, REGEX_SEARCH, GX_RAW, &inner);
    if (st)
        return err_set(e, st, "", "pattern: %s", inner.text);
    both(w, r, x);
    return ST_OK;
}

static enum st read_format(struct gxs *w, const struct json *schema,
                           struct restricts *r, struct err *e)
{
    const struct json *v = json_get(schema, "format");
    const struct gx *x;
    uint32_t longest;
    enum st st;

    if (!v)
        return ST_OK;
    if (v->type != JSON_STR)
        return bad_word("format", "must be a string", e);
    st = schema_raw_format(&x, &longest, w, v->str, e);
    if (st)
        return st;
    if (x)
        both(w, r, x);
    if (longest < r->max)
        r->max = longest;
    return ST_OK;
}

static size_t characters(struct text t)
{
    size_t n = 0;

    for (size_t i = 0; i < t.n; i++)
        n += (t.s[i] & 0xc0) != 0x80;
    return n;
}

/* Can it be written and is it read as it is? */
static bool writable(const struct calltext *c, struct text t,
                     const struct restricts *r)
{
    size_t n = characters(t);

    if (n < r->min || n > r->max)
        return false;
    for (size_t i = 0; i < c->n_stops; i++)
        if (t.n && memmem(t.s, t.n, c->stops[i], strlen(c->stops[i])))
            return false;
    return !c->trims || !t.n ||
           (!ascii_space(t.s[0]) && !ascii_space(t.s[t.n - 1]));
}

/* One of the strings of enum that const does not exclude. */
static const struct gx *one_of(const struct calltext *c,
                               const struct json *schema,
                               const struct restricts *r)
{
    const struct json *list = json_get(schema, "enum");
    const struct json *one = json_get(schema, "const");
    const struct gx *x = gx_none(c->w);

    for (const struct json *v = list ? list->child : one; v;
         v = list ? v->next : NULL)
        if (v->type == JSON_STR && writable(c, v->str, r) &&
            (!one || (one->type == JSON_STR && text_same(one->str, v->str))))
            x = gx_alt(c->w, x, gx_bytes(c->w, v->str.s, v->str.n));
    return x;
}

static enum st read_schema(struct gxs *w, const struct json *schema,
                           struct restricts *r, struct err *e)
{
    enum st st = read_count(schema, "minLength", &r->min, e);

    if (!st)
        st = read_count(schema, "maxLength", &r->max, e);
    if (!st)
        st = read_pattern(w, schema, r, e);
    if (!st)
        st = read_format(w, schema, r, e);
    return st;
}

/* --- the rule ------------------------------------------------------------- */

static int new_rule(struct gxs *w, const struct gx *x, uint32_t min,
                    uint32_t max)
{
    int rule = gx_rule(w);

    if (rule >= 0)
        gx_rule_set(w, rule, x, min, max);
    return rule;
}

static const struct gx *call_of(struct gxs *w, int rule)
{
    return rule < 0 ? gx_none(w) : gx_call(w, rule, false);
}

/* What ends a text may begin like one more character of it, so the text is a
 * rule of its own, and has no empty one. */
static const struct gx *counted_text(struct gxs *w, const struct gx *text,
                                     const struct restricts *r)
{
    const struct gx *any = gx_any_text(w, GX_RAW), *empty = gx_empty(w);
    const struct gx *some = gx_both(w, text, gx_minus(w, any, empty));
    int rule = new_rule(w, gx_counted(w, some, GX_RAW), r->min, r->max);
    const struct gx *x = call_of(w, rule);

    return r->min ? x : gx_alt(w, x, gx_both(w, text, empty));
}

enum st calltext(struct calltext *c, const struct json *schema,
                 const struct gx **out, struct err *e)
{
    struct restricts r = {.max = GX_MANY};
    struct gxs *w = c->w;
    enum st st = read_schema(w, schema, &r, e);
    const struct gx *x;
    bool counted = r.min || r.max != GX_MANY;

    *out = gx_none(w);
    if (st || r.min > r.max)
        return st;
    if (json_get(schema, "enum") || json_get(schema, "const")) {
        x = one_of(c, schema, &r);
        if (r.x)
            x = gx_both(w, r.x, x);
        *out = gx_seq(w, x, c->end);
        return ST_OK;
    }
    if (!r.x && !counted) {
        if (c->any < 0)
            c->any = new_rule(w, gx_seq(w, free_text(c), c->end), 0, GX_MANY);
        *out = call_of(w, c->any);
        return ST_OK;
    }
    x = free_text(c);
    if (r.x)
        x = c->n_stops ? gx_both(w, r.x, x) : r.x;
    if (c->trims)
        x = gx_both(w, x, trimmed(w));
    if (counted)
        x = counted_text(w, x, &r);
    *out = call_of(w, new_rule(w, gx_seq(w, x, c->end), 0, GX_MANY));
    return ST_OK;
}
