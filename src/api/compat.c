#include "api/compat.h"

#include <math.h>

#define WHOLE_MAX 9007199254740992.0 /* 2^53: doubles below are exact */

/* --- values -------------------------------------------------------------- */

static const struct json *member(const struct json *o, const char *key,
                                 size_t n)
{
    if (!o || o->type != JSON_OBJ)
        return NULL;
    for (const struct json *v = o->child; v; v = v->next)
        if (v->key.n == n && !memcmp(v->key.s, key, n))
            return v;
    return NULL;
}

const struct json *compat_get(const struct json *body, const char *name)
{
    const struct json *v = body;
    size_t n;

    for (;; name += n + 1) {
        n = strcspn(name, ".");
        v = member(v, name, n);
        if (!v || v->type == JSON_NULL)
            return NULL;
        if (!name[n])
            return v;
    }
}

const struct compat_field *compat_fields(enum compat_wire wire, size_t *n)
{
    static const struct compat_table *const tables[] = {
        [WIRE_CHAT] = &compat_openai,
        [WIRE_COMPLETION] = &compat_openai,
        [WIRE_RESPONSES] = &compat_responses,
        [WIRE_MESSAGES] = &compat_messages,
    };

    *n = tables[wire]->n;
    return tables[wire]->f;
}

bool compat_known(enum compat_wire wire, struct text field)
{
    size_t n;
    const struct compat_field *f = compat_fields(wire, &n);

    for (size_t i = 0; i < n && field.n; i++)
        if (f[i].name[0] == field.s[0] && text_is(field, f[i].name))
            return true;
    return false;
}

/* 1e-400 is 0 as a double, and is no 0. */
static bool is_tiny(const struct json *v)
{
    size_t n = v->d == 0 ? v->str.n : 0;

    for (size_t i = 0; i < n && v->str.s[i] != 'e' && v->str.s[i] != 'E'; i++)
        if (v->str.s[i] >= '1' && v->str.s[i] <= '9')
            return true;
    return false;
}

bool compat_whole(const struct json *v, int64_t *out)
{
    if (v->type != JSON_NUM)
        return false;
    if (v->is_int) {
        *out = v->i;
        return true;
    }
    if (!(fabs(v->d) <= WHOLE_MAX) || v->d != floor(v->d) || is_tiny(v))
        return false;
    *out = (int64_t)v->d;
    return true;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

const char *compat_word(const char *const *words, const struct json *v)
{
    if (v->type != JSON_STR)
        return NULL;
    for (size_t w = 0; words[w]; w++) {
        size_t i = 0;

        while (i < v->str.n && words[w][i] &&
               lower(v->str.s[i]) == words[w][i])
            i++;
        if (i == v->str.n && !words[w][i])
            return words[w];
    }
    return NULL;
}

/* --- in words ------------------------------------------------------------ */

const char *compat_use_name(enum compat_use u)
{
    static const char *const names[] = {
        [USE_NONE] = "",
        [USE_HONOURED] = "honoured",
        [USE_EXTENSION] = "extension",
        [USE_NEUTRAL] = "neutral",
        [USE_REFUSED] = "refused",
    };

    return names[u];
}

static void add_number(const struct compat_field *f, struct buf *out)
{
    buf_puts(out, f->types & TYPE_INT ? "an integer" : "a number");
    if (isinf(f->min) && isinf(f->max))
        return;
    if (isinf(f->max))
        buf_printf(out, " of at least %.10g", f->min);
    else
        buf_printf(out, f->above ? " above %.10g and up to %.10g"
                                 : " from %.10g to %.10g", f->min, f->max);
}

static void add_words(const char *const *words, struct buf *out)
{
    for (size_t i = 0; words[i]; i++)
        buf_printf(out, "%s%s", !i ? "" : words[i + 1] ? ", " : " or ",
                   words[i]);
}

static void add_types(const struct compat_field *f, struct buf *out)
{
    for (unsigned t = TYPE_BOOL; t <= TYPE_OBJ; t <<= 1) {
        if (!(f->types & t))
            continue;
        if (out->n)
            buf_puts(out, ", or ");
        if (t == TYPE_BOOL)
            buf_puts(out, "true or false");
        else if (t == TYPE_STR)
            buf_puts(out, "a string");
        else if (t == TYPE_WORD)
            add_words(f->words, out);
        else if (t == TYPE_OBJ)
            buf_puts(out, "an object");
        else
            add_number(f, out);
    }
}

static void add_harmless(unsigned ok, struct buf *out)
{
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {
        {OK_FALSE, "false"},
        {OK_EMPTY, "an empty value"},
        {OK_AUTO, "none or auto"},
        {OK_TEXT_LIST, "[\"text\"]"},
    };

    buf_puts(out, "only null");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (ok & words[i].flag)
            buf_printf(out, " or %s", words[i].word);
}

void compat_accepts(const struct compat_field *f, struct buf *out)
{
    bool refused = false;

    for (int w = 0; w < WIRE_COUNT; w++)
        refused = refused || f->use[w] == USE_REFUSED;
    if (refused) {
        add_harmless(f->harmless, out);
        buf_printf(out, " (%s)", f->accepts);
        return;
    }
    if (f->accepts)
        buf_puts(out, f->accepts);
    else if (f->types)
        add_types(f, out);
    else
        buf_puts(out, "anything");
}

/* --- checking ------------------------------------------------------------ */

static bool is_harmless(unsigned ok, const struct json *v)
{
    switch (v->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return (ok & OK_FALSE) && !v->boolean;
    case JSON_NUM:
        break;
    case JSON_STR:
        return ((ok & OK_EMPTY) && !v->str.n) ||
               ((ok & OK_AUTO) && (json_is(v, "none") || json_is(v, "auto")));
    case JSON_ARR:
        return ((ok & OK_EMPTY) && !v->n) ||
               ((ok & OK_TEXT_LIST) && v->n == 1 && json_is(v->child, "text"));
    case JSON_OBJ:
        return (ok & OK_EMPTY) && !v->n;
    }
    return false;
}

static bool in_range(const struct compat_field *f, double d)
{
    return d >= f->min && d <= f->max && !(f->above && d == f->min);
}

static bool is_accepted(const struct compat_field *f, const struct json *v)
{
    int64_t whole;

    switch (v->type) {
    case JSON_BOOL:
        return f->types & TYPE_BOOL;
    case JSON_NUM:
        if (f->types & TYPE_INT)
            return compat_whole(v, &whole) && in_range(f, (double)whole);
        return (f->types & TYPE_NUM) && isfinite(v->d) && in_range(f, v->d);
    case JSON_STR:
        return (f->types & TYPE_STR) ||
               ((f->types & TYPE_WORD) && compat_word(f->words, v));
    case JSON_OBJ:
        return f->types & TYPE_OBJ;
    case JSON_ARR:
    case JSON_NULL:
        break;
    }
    return false;
}

static enum st refuse(const struct compat_field *f, struct err *e)
{
    struct buf b;
    enum st st;

    buf_init(&b, BUF_MESSAGE);
    compat_accepts(f, &b);
    st = err_set(e, ST_INVALID, f->name, "accepted is %s", b.p ? b.p : "");
    buf_release(&b);
    return st;
}

enum st compat_check(enum compat_wire wire, const struct json *body,
                     struct err *e)
{
    size_t n;
    const struct compat_field *fields = compat_fields(wire, &n);

    for (size_t i = 0; i < n; i++) {
        const struct compat_field *f = &fields[i];
        const struct json *v = compat_get(body, f->name);

        if (!v)
            continue;
        switch (f->use[wire]) {
        case USE_NONE:
        case USE_NEUTRAL:
            break;
        case USE_REFUSED:
            if (!is_harmless(f->harmless, v))
                return refuse(f, e);
            break;
        case USE_HONOURED:
        case USE_EXTENSION:
            if (f->types && !is_accepted(f, v))
                return refuse(f, e);
            break;
        }
    }
    return ST_OK;
}
