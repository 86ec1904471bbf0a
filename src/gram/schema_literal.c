#include "gram/decimal.h"
#include "gram/schema_int.h"

#define LITERAL_MAX (32u << 20) /* bytes of one value, spelled */

/* A JSON string in the one spelling of GX_JSON, with its quotes. */
static void spell(struct text t, struct buf *out)
{
    static const char letters[] = "btn\0fr";
    size_t i, from = 0;

    buf_putc(out, '"');
    for (i = 0; i < t.n; i++) {
        unsigned char c = (unsigned char)t.s[i];

        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        buf_add(out, t.s + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c >= 8 && c <= 13 && letters[c - 8])
            buf_printf(out, "\\%c", letters[c - 8]);
        else
            buf_printf(out, "\\u%04x", c);
    }
    buf_add(out, t.s + from, t.n - from);
    buf_putc(out, '"');
}

/* A value that has no parts. */
static void spell_leaf(const struct json *v, struct buf *out)
{
    struct decimal d;

    switch (v->type) {
    case JSON_BOOL:
        buf_puts(out, v->boolean ? "true" : "false");
        return;
    case JSON_NUM:
        decimal_read(&d, v->str);
        decimal_write(&d, out);
        return;
    case JSON_STR:
        spell(v->str, out);
        return;
    default:
        buf_puts(out, "null");
        return;
    }
}

void schema_literal_text(const struct json *value, struct buf *out)
{
    const struct json *c;
    bool object = value->type == JSON_OBJ;

    if (!object && value->type != JSON_ARR) {
        spell_leaf(value, out);
        return;
    }
    buf_putc(out, object ? '{' : '[');
    for (c = value->child; c; c = c->next) {
        if (c != value->child)
            buf_putc(out, ',');
        if (object) {
            spell(c->key, out);
            buf_putc(out, ':');
        }
        schema_literal_text(c, out);
    }
    buf_putc(out, object ? '}' : ']');
}

/* What was spelled, as an expression; b is released. */
static const struct gx *take(struct gxs *w, struct buf *b)
{
    const struct gx *x;

    if (b->failed)
        gxs_fail(w, ST_LIMIT, "", "a value of the schema is longer than %u "
                 "bytes", LITERAL_MAX);
    x = b->failed ? gx_none(w) : gx_bytes(w, b->p ? b->p : "", b->n);
    buf_release(b);
    return x;
}

/* Recursion is bounded by JSON_DEPTH_MAX, as the value was parsed. */
static const struct gx *literal(struct gxs *w, const struct json *v)
{
    bool object = v->type == JSON_OBJ;
    const struct json *c;
    const struct gx *x;
    struct buf b;

    buf_init(&b, LITERAL_MAX);
    if (!object && v->type != JSON_ARR) {
        spell_leaf(v, &b);
        return take(w, &b);
    }
    x = gx_seq(w, gx_lit(w, object ? "{" : "["), gx_space(w));
    for (c = v->child; c && gxs_work(w, 1); c = c->next) {
        if (c != v->child)
            x = gx_seq(w, x, gx_seq(w, gx_lit(w, ","), gx_space(w)));
        if (object) {
            buf_init(&b, LITERAL_MAX);
            spell(c->key, &b);
            x = gx_seq(w, x, gx_seq(w, take(w, &b), gx_space(w)));
            x = gx_seq(w, x, gx_seq(w, gx_lit(w, ":"), gx_space(w)));
        }
        x = gx_seq(w, x, gx_seq(w, literal(w, c), gx_space(w)));
    }
    return gx_seq(w, x, gx_lit(w, object ? "}" : "]"));
}

enum st schema_literal(struct schema_read *s, const struct json *value,
                       const struct gx **out, struct err *e)
{
    (void)e; /* what fails, fails in the workshop */
    *out = literal(schema_workshop(s), value);
    return ST_OK;
}
