#include "gram/regex.h"
#include "gram/schema_int.h"

/* What JSON allows between two quotes: characters as they are. */
static const struct gx *plain_char(struct gxs *w)
{
    struct charset c;

    charset_init(&c, &w->arena);
    charset_add(&c, 0x20, '"' - 1);
    charset_add(&c, '"' + 1, '\\' - 1);
    charset_add(&c, '\\' + 1, 0xd7ff);
    charset_add(&c, 0xe000, 0x10ffff);
    return gx_chars(w, &c, GX_RAW);
}

/* n bytes of classes such as "0-9a-fA-F", each pair of ends a range. */
static const struct gx *classes(struct gxs *w, const char *const *of, size_t n)
{
    const struct gx *x = gx_empty(w);
    size_t i;

    for (i = 0; i < n; i++) {
        const struct gx *one = gx_none(w);
        const char *p;

        for (p = of[i]; *p; p += 2)
            one = gx_alt(w, one, gx_range(w, (uint8_t)p[0], (uint8_t)p[1]));
        x = gx_seq(w, x, one);
    }
    return x;
}

/* Escapes; surrogates only in pairs. */
static const struct gx *escape(struct gxs *w)
{
#define HEX "09afAF"
    static const char *const letter[] = {"\\\\", "\"\"\\\\//bbffnnrrtt"};
    static const char *const low[] = {"\\\\", "uu", "09acACefEF", HEX, HEX,
                                      HEX};
    static const char *const d[] = {"\\\\", "uu", "ddDD", "07", HEX, HEX};
    static const char *const pair[] = {
        "\\\\", "uu", "ddDD", "89abAB", HEX, HEX,
        "\\\\", "uu", "ddDD", "cfCF", HEX, HEX,
    };
#undef HEX
    const struct gx *of[4] = {classes(w, letter, 2), classes(w, low, 6),
                              classes(w, d, 6), classes(w, pair, 12)};

    return gx_altn(w, of, 4);
}

static const struct gx *free_text(struct gxs *w)
{
    return gx_star(w, gx_alt(w, plain_char(w), escape(w)));
}

static const struct gx *quoted(struct gxs *w, const struct gx *x)
{
    return gx_seq(w, gx_lit(w, "\""), gx_seq(w, x, gx_lit(w, "\"")));
}

const struct gx *schema_free_string(struct gxs *w)
{
    return quoted(w, free_text(w));
}

void schema_shared_init(struct schema_shared *h)
{
    size_t i;

    *h = (struct schema_shared){.string = -1};
    for (i = 0; i < SCHEMA_FORMATS; i++)
        h->format[i] = -1;
}

/* A call of the rule *rule, made for `text` (NULL: any) when there is none. */
static const struct gx *shared_call(struct gxs *w, int *rule,
                                    const struct gx *text)
{
    if (*rule < 0) {
        *rule = gx_rule(w);
        if (*rule < 0)
            return gx_none(w); /* the workshop has noted it */
        gx_rule_set(w, *rule, text ? quoted(w, text) : schema_free_string(w),
                    0, GX_MANY);
    }
    return gx_call(w, *rule, false);
}

uint32_t schema_count(const struct json *node, const char *keyword,
                      uint32_t absent)
{
    const struct json *v = json_get(node, keyword);

    if (!v)
        return absent;
    return v->d < GX_MANY ? (uint32_t)v->d : GX_MANY;
}

struct string {
    const struct gx *text;  /* NULL: any */
    uint32_t min, max;
    int format;             /* of the table, when nothing else restricts */
    int parts;              /* patterns and formats */
};

static void string_and(struct gxs *w, struct string *str, const struct gx *x)
{
    str->text = str->text ? gx_both(w, str->text, x) : x;
    str->parts++;
}

static enum st read_pattern(struct schema_read *s, const struct json *node,
                            struct string *str, struct err *e)
{
    const struct json *v = json_get(node, "pattern");
    const struct gx *x;
    struct err inner = {0};
    enum st st;

    if (!v)
        return ST_OK;
    st = regex_parse(&x, schema_workshop(s), v->str, REGEX_SEARCH, GX_JSON,
                     &inner);
    if (st)
        return schema_refuse(s, st, node, "pattern", e, "%s", inner.text);
    string_and(schema_workshop(s), str, x);
    return ST_OK;
}

static enum st read_format(struct schema_read *s, const struct json *node,
                           struct string *str, struct err *e)
{
    const struct json *v = json_get(node, "format");
    const struct gx *x;
    uint32_t longest;
    enum st st;

    if (!v)
        return ST_OK;
    st = schema_format(s, node, &x, e);
    if (st || !x)
        return st;
    str->format = schema_format_find(v->str, &longest);
    if (longest < str->max)
        str->max = longest;
    string_and(schema_workshop(s), str, x);
    return ST_OK;
}

static enum st read_node(struct schema_read *s, const struct json *node,
                         struct string *str, struct err *e)
{
    uint32_t min = schema_count(node, "minLength", 0);
    uint32_t max = schema_count(node, "maxLength", GX_MANY);
    enum st st = read_pattern(s, node, str, e);

    if (min > str->min)
        str->min = min;
    if (max < str->max)
        str->max = max;
    return st ? st : read_format(s, node, str, e);
}

enum st schema_string(struct schema_read *s, const struct conj *c,
                      const struct gx **out, struct err *e)
{
    struct gxs *w = schema_workshop(s);
    struct string str = {.max = GX_MANY, .format = -1};
    enum st st = ST_OK;
    size_t i;
    int rule;

    *out = gx_none(w);
    for (i = 0; i < c->n && !st; i++)
        st = read_node(s, c->of[i], &str, e);
    if (st || str.min > str.max)
        return st;
    if (!str.min && str.max == GX_MANY) {
        int *shared = &schema_shared(s)->string;

        if (str.parts > 1 || (str.parts && str.format < 0)) {
            *out = quoted(w, str.text);
            return ST_OK;
        }
        if (str.parts)
            shared = &schema_shared(s)->format[str.format];
        *out = shared_call(w, shared, str.text);
        return ST_OK;
    }
    rule = gx_rule(w);
    if (rule < 0)
        return ST_OK; /* the workshop has noted it */
    if (!str.text)
        str.text = free_text(w);
    gx_rule_set(w, rule, quoted(w, gx_counted(w, str.text, GX_JSON)), str.min,
                str.max);
    *out = gx_call(w, rule, false);
    return ST_OK;
}
