/* Functions that a template finds by name. */
#include "chat/jinja_lib.h"

/* --- range, dict, namespace ----------------------------------------------- */

static enum st range_bounds(const struct jin *in, int64_t *from, int64_t *to,
                            int64_t *step)
{
    int64_t v[3] = {0, 0, 1};

    if (!in->all->n || in->all->n > 3 || in->all->n_kw)
        return jx_fail(in->x, "range takes 1 to 3 numbers");
    for (size_t i = 0; i < in->all->n; i++)
        if (!jv_int_of(&in->all->pos[i], &v[i]))
            return jx_fail(in->x, "range takes ints, not %s",
                           jv_type_word(&in->all->pos[i]));
    *from = in->all->n > 1 ? v[0] : 0;
    *to = in->all->n > 1 ? v[1] : v[0];
    *step = v[2];
    return v[2] ? ST_OK : jx_fail(in->x, "range with step 0");
}

static enum st g_range(const struct jin *in, struct jv *out)
{
    int64_t from = 0, to = 0, step = 1;
    uint64_t n = 0, each;
    bool markup = true;
    enum st st = range_bounds(in, &from, &to, &step);

    if (st)
        return st;
    for (size_t i = 0; i < in->all->n; i++)
        markup = markup && in->all->pos[i].markup;
    each = step < 0 ? -(uint64_t)step : (uint64_t)step;
    if (step > 0 && from < to)
        n = ((uint64_t)to - (uint64_t)from - 1) / each + 1;
    if (step < 0 && from > to)
        n = ((uint64_t)from - (uint64_t)to - 1) / each + 1;
    *out = jv_new_list(in->x);
    if (out->type == JV_UNDEF)
        return jx_full(in->x);
    st = jx_pay(in->x, n);
    for (uint64_t i = 0; i < n && !st; i++) {
        uint64_t at = (uint64_t)from + i * (uint64_t)step;

        st = jv_push(in->x, *out, jv_int((int64_t)at, markup));
    }
    out->markup = markup;
    return st;
}

static enum st put_pair(struct jx *x, struct jv dict, const struct jv *pair)
{
    if (pair->type != JV_LIST || pair->u.list->n != 2)
        return jx_fail(x, "dict takes a dict, or a list of pairs");
    return jv_set(x, dict, pair->u.list->p[0], pair->u.list->p[1]);
}

static enum st g_dict(const struct jin *in, struct jv *out)
{
    const struct jargs *a = in->all;
    struct jv items;
    enum st st = ST_OK;

    if (a->n > 1)
        return jx_fail(in->x, "%s takes at most one dict", in->name);
    *out = jv_new_dict(in->x);
    if (out->type == JV_UNDEF)
        return jx_full(in->x);
    if (a->n && a->pos[0].type == JV_DICT) {
        st = jx_items(in->x, &a->pos[0], &items);
        out->markup = a->pos[0].markup;
    } else if (a->n) {
        st = jop_iterate(in->x, &a->pos[0], &items);
        out->markup = jv_is_markup(&a->pos[0]);
    }
    for (size_t i = 0; a->n && !st && i < items.u.list->n; i++)
        st = put_pair(in->x, *out, &items.u.list->p[i]);
    for (size_t i = 0; !st && i < a->n_kw; i++)
        st = jv_set(in->x, *out, a->kw[i].key, a->kw[i].value);
    return st;
}

static enum st g_namespace(const struct jin *in, struct jv *out)
{
    enum st st = g_dict(in, out);

    if (!st)
        out->u.dict->ns = true;
    return st;
}

/* --- refusing ------------------------------------------------------------- */

/* The template's own message is for the caller; one that quotes a caller is
 * not. */
static enum st g_raise(const struct jin *in, struct jv *out)
{
    struct jx *x = in->x;
    char where[160], text[201];
    size_t n;
    struct jv s;
    enum st st = jv_text(x, in->arg[0], &s);

    (void)out;
    if (st)
        return st;
    x->raised = true;
    jx_where(x, where, sizeof(where));
    if (!jv_is_markup(&s) || !s.u.str.n)
        return err_set(x->e, ST_INVALID, where,
                       "the template refused this conversation");
    n = s.u.str.n < 200 ? s.u.str.n : 200;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s.u.str.s[i];

        text[i] = c < 0x20 || c == 0x7f ? ' ' : s.u.str.s[i];
    }
    while (n < s.u.str.n && n && ((unsigned char)s.u.str.s[n] & 0xc0) == 0x80)
        n--; /* no half character at the cut */
    text[n] = 0;
    return err_set(x->e, ST_INVALID, where, "%s", text);
}

/* --- the clock ------------------------------------------------------------ */

#define TIME_FORMAT_MAX 100

static enum st g_strftime(const struct jin *in, struct jv *out)
{
    char format[TIME_FORMAT_MAX + 2], text[1024], *copy;
    time_t now = (time_t)in->x->now_s;
    struct jv f = jv_undef();
    struct tm tm;
    size_t n;
    enum st st = jin_str(in, 0, &f);

    if (!st)
        st = jx_pay(in->x, 20);
    if (st)
        return st;
    if (f.u.str.n > TIME_FORMAT_MAX)
        return jx_limit(in->x, "has a time format that is too long");
    /* One byte more than the caller's, so that 0 means too long. */
    memcpy(format, f.u.str.s, f.u.str.n);
    format[f.u.str.n] = 'x';
    format[f.u.str.n + 1] = 0;
    if (strlen(format) != f.u.str.n + 1 || !localtime_r(&now, &tm))
        return jx_fail(in->x, "strftime_now: not a time format");
    for (const char *p = format; *p; p++) {
        if (*p != '%')
            continue;
        p++;
        if (*p == '-')
            p++;
        if (!strchr("aAbBcdDeFgGhHIjklmMnpPrRsSTtuUVwWxXyYzZ%", *p) ||
            p >= format + f.u.str.n)
            return jx_fail(in->x, "strftime_now: a conversion that is not "
                                  "known");
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    n = strftime(text, sizeof(text), format, &tm);
#pragma GCC diagnostic pop
    if (!n)
        return jx_limit(in->x, "has a time format that is too long");
    copy = arena_dup(in->x->arena, text, n - 1);
    if (!copy)
        return jx_full(in->x);
    *out = jv_span(copy, n - 1, jv_is_markup(&f));
    return ST_OK;
}

/* --- joiner, cycler ------------------------------------------------------- */

/* A function with a list of its own: {items..., position}. */
static enum st call_joiner(const struct jin *in, struct jv *out)
{
    struct jlist *l = in->v->u.list;

    *out = l->n > 1 ? jv_lit("") : l->p[0];
    l->n = 1; /* the mark of the first call is gone */
    return ST_OK;
}

static const struct jentry joiner_entry = {"joiner", "", call_joiner};

static enum st g_joiner(const struct jin *in, struct jv *out)
{
    struct jv self, sep = in->arg[0] ? *in->arg[0] : jv_lit(", ");
    enum st st = jx_list(in->x, &sep, &self);

    if (!st)
        st = jv_push(in->x, self, sep);
    if (!st)
        st = jv_push(in->x, self, jv_none());
    return st ? st : jx_bind(in->x, &joiner_entry, &self, out);
}

/* self: the dict whose `current` moves. */
static enum st cycler_at(const struct jin *in, bool reset, struct jv *out)
{
    struct jv *items = (struct jv *)jv_get(in->v, "items_");
    struct jv *pos = (struct jv *)jv_get(in->v, "pos_");
    struct jlist *l;

    if (!items || !pos || items->type != JV_LIST || pos->type != JV_INT)
        return jx_fail(in->x, "a cycler that was changed");
    l = items->u.list;
    if (!l->n)
        return jx_fail(in->x, "a cycler without items");
    if (pos->u.i < 0 || (uint64_t)pos->u.i >= l->n || reset)
        pos->u.i = 0;
    *out = reset ? jv_none() : l->p[pos->u.i];
    if (!reset)
        pos->u.i = (pos->u.i + 1) % (int64_t)l->n;
    return jv_set(in->x, *in->v, jv_lit("current"), l->p[pos->u.i]);
}

static enum st cycler_next(const struct jin *in, struct jv *out)
{
    return cycler_at(in, false, out);
}

static enum st cycler_reset(const struct jin *in, struct jv *out)
{
    return cycler_at(in, true, out);
}

static const struct jentry next_entry = {"next", "", cycler_next};
static const struct jentry reset_entry = {"reset", "", cycler_reset};

static enum st g_cycler(const struct jin *in, struct jv *out)
{
    const struct jargs *a = in->all;
    struct jv items = jv_new_list(in->x), next, reset;
    enum st st = ST_OK;

    *out = jv_new_dict(in->x);
    if (items.type == JV_UNDEF || out->type == JV_UNDEF)
        return jx_full(in->x);
    if (!a->n || a->n_kw)
        return jx_fail(in->x, "cycler takes at least one item");
    for (size_t i = 0; i < a->n && !st; i++)
        st = jv_push(in->x, items, a->pos[i]);
    out->u.dict->ns = true;
    if (!st)
        st = jx_bind(in->x, &next_entry, out, &next);
    if (!st)
        st = jx_bind(in->x, &reset_entry, out, &reset);
    if (!st)
        st = jv_set(in->x, *out, jv_lit("current"), a->pos[0]);
    if (!st)
        st = jv_set(in->x, *out, jv_lit("next"), next);
    if (!st)
        st = jv_set(in->x, *out, jv_lit("reset"), reset);
    if (!st)
        st = jv_set(in->x, *out, jv_lit("items_"), items);
    return st ? st : jv_set(in->x, *out, jv_lit("pos_"), jv_int(0, true));
}

static const struct jentry globals[] = {
    {"cycler", "*", g_cycler},
    {"dict", "*", g_dict},
    {"joiner", "sep", g_joiner},
    {"namespace", "*", g_namespace},
    {"raise_exception", "!message", g_raise},
    {"range", "*", g_range},
    {"strftime_now", "!format", g_strftime},
    {NULL, NULL, NULL},
};

enum st jlib_global(struct jx *x, const char *name, size_t n, struct jv *out)
{
    const struct jentry *e = jentry_find(globals, name, n);
    struct jv none = jv_none();

    *out = jv_undef();
    return e ? jx_bind(x, e, &none, out) : ST_OK;
}
