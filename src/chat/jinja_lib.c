/* Calls: finding an entry, sorting its arguments, common parts. */
#include "chat/jinja_lib.h"

/* --- arguments ------------------------------------------------------------ */

const struct jentry *jentry_find(const struct jentry *list, const char *name,
                                 size_t n)
{
    for (; list->name; list++)
        if (strlen(list->name) == n && !memcmp(list->name, name, n))
            return list;
    return NULL;
}

/* Next word of `*args`; false at the end. */
static bool next_arg(const char **args, const char **word, size_t *n,
                     bool *must)
{
    const char *s = *args;

    while (*s == ' ')
        s++;
    *must = *s == '!';
    if (*must)
        s++;
    *word = s;
    *n = strcspn(s, " ");
    *args = s + *n;
    return *n > 0;
}

const struct jv *jargs_named(const struct jargs *a, const char *name,
                             size_t n)
{
    for (size_t i = 0; i < a->n_kw; i++) {
        const struct jv *k = &a->kw[i].key;

        if (k->type == JV_STR && k->u.str.n == n &&
            !memcmp(k->u.str.s, name, n))
            return &a->kw[i].value;
    }
    return NULL;
}

static enum st bind(struct jin *in, const char *args)
{
    const struct jargs *a = in->all;
    const char *word;
    size_t n, i = 0, used = 0;
    bool must;

    for (; next_arg(&args, &word, &n, &must); i++) {
        const struct jv *kw = jargs_named(a, word, n);

        if (kw && i < a->n)
            return jx_fail(in->x, "%s: argument %.*s is given twice",
                           in->name, (int)n, word);
        in->arg[i] = i < a->n ? &a->pos[i] : kw;
        used += in->arg[i] != NULL;
        if (must && !in->arg[i])
            return jx_fail(in->x, "%s: argument %.*s is missing", in->name,
                           (int)n, word);
    }
    if (used != a->n + a->n_kw)
        return jx_fail(in->x, "%s: too many arguments, or one that it does "
                              "not know",
                       in->name);
    return ST_OK;
}

static uint64_t bytes_of(const struct jv *v)
{
    return v->type == JV_STR ? v->u.str.n : 0;
}

enum st jentry_call(struct jx *x, const struct jentry *e, const struct jv *v,
                    const struct jargs *a, struct jv *out)
{
    struct jin in = {.x = x, .name = e->name, .v = v, .all = a};
    uint64_t bytes = v ? bytes_of(v) : 0;
    enum st st;

    *out = jv_undef();
    for (size_t i = 0; i < a->n; i++)
        bytes += bytes_of(&a->pos[i]);
    for (size_t i = 0; i < a->n_kw; i++)
        bytes += bytes_of(&a->kw[i].value);
    st = jx_pay(x, 1 + a->n + a->n_kw + bytes / 16);
    if (!st && strcmp(e->args, "*"))
        st = bind(&in, e->args);
    if (!st)
        st = jx_enter(x);
    if (st)
        return st;
    st = e->fn(&in, out);
    jx_leave(x);
    return st;
}

enum st jin_int(const struct jin *in, size_t i, int64_t *out)
{
    if (!in->arg[i] || in->arg[i]->type == JV_NONE)
        return ST_OK;
    if (jv_int_of(in->arg[i], out))
        return ST_OK;
    return jx_fail(in->x, "%s: argument %zu must be an int, not %s", in->name,
                   i + 1, jv_type_word(in->arg[i]));
}

enum st jin_str(const struct jin *in, size_t i, struct jv *out)
{
    if (!in->arg[i])
        return ST_OK;
    if (in->arg[i]->type != JV_STR)
        return jx_fail(in->x, "%s: argument %zu must be a string, not %s",
                       in->name, i + 1, jv_type_word(in->arg[i]));
    *out = *in->arg[i];
    return ST_OK;
}

void jin_bool(const struct jin *in, size_t i, bool *out)
{
    if (in->arg[i])
        *out = jv_truthy(in->arg[i]);
}

bool jin_markup(const struct jin *in, size_t i)
{
    return !in->arg[i] || jv_is_markup(in->arg[i]);
}

/* --- common parts --------------------------------------------------------- */

enum st jx_list(struct jx *x, const struct jv *like, struct jv *out)
{
    *out = jv_new_list(x);
    if (out->type == JV_UNDEF)
        return jx_full(x);
    out->markup = jv_is_markup(like);
    return ST_OK;
}

enum st jx_dict(struct jx *x, const struct jv *like, struct jv *out)
{
    *out = jv_new_dict(x);
    if (out->type == JV_UNDEF)
        return jx_full(x);
    out->markup = jv_is_markup(like);
    return ST_OK;
}

enum st jx_pair(struct jx *x, const struct jv *like, const struct jv *a,
                const struct jv *b, struct jv *out)
{
    struct jv one = *a, two = *b; /* *out may be one of them */
    enum st st = jx_list(x, like, out);

    if (!st)
        st = jv_push(x, *out, one);
    if (!st)
        st = jv_push(x, *out, two);
    if (!st)
        out->u.list->tuple = true;
    return st;
}

enum st jx_items(struct jx *x, const struct jv *dict, struct jv *out)
{
    const struct jdict *d = dict->u.dict;
    enum st st = jx_list(x, dict, out);

    for (size_t i = 0; !st && i < d->n; i++) {
        struct jv pair;

        st = jx_pair(x, dict, &d->p[i].key, &d->p[i].value, &pair);
        if (!st)
            st = jv_push(x, *out, pair);
    }
    return st;
}

static enum st parts(struct jx *x, const struct jv *dict, bool keys,
                     struct jv *out)
{
    const struct jdict *d = dict->u.dict;
    enum st st = jx_list(x, dict, out);

    for (size_t i = 0; i < d->n && !st; i++)
        st = jv_push(x, *out, keys ? d->p[i].key : d->p[i].value);
    return st;
}

enum st jx_keys(struct jx *x, const struct jv *dict, struct jv *out)
{
    return parts(x, dict, true, out);
}

enum st jx_values(struct jx *x, const struct jv *dict, struct jv *out)
{
    return parts(x, dict, false, out);
}

static enum st call_bound(struct jx *x, const struct jfunc *f,
                          const struct jargs *a, struct jv *out)
{
    return jentry_call(x, f->data, &f->self, a, out);
}

enum st jx_bind(struct jx *x, const struct jentry *e, const struct jv *self,
                struct jv *out)
{
    struct jfunc *f = arena_alloc(x->arena, sizeof(*f));

    *out = jv_undef();
    if (!f)
        return jx_full(x);
    f->name = e->name;
    f->call = call_bound;
    f->self = *self;
    f->data = (void *)e;
    *out = (struct jv){.type = JV_FUNC, .markup = true, .u.fn = f};
    return ST_OK;
}

static bool all_digits(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    return n > 0 && n < 10;
}

enum st jx_path(struct jx *x, const struct jv *v, const struct jv *path,
                struct jv *out)
{
    const char *s;
    size_t n, at = 0;
    enum st st;

    if (path->type != JV_STR)
        return jop_item(x, v, path, out);
    s = path->u.str.s;
    n = path->u.str.n;
    *out = *v;
    st = jx_pay(x, 1 + n / 16);
    while (!st && at <= n) {
        const char *dot = n > at ? memchr(s + at, '.', n - at) : NULL;
        size_t len = dot ? (size_t)(dot - s) - at : n - at;
        struct jv key = jv_cut(path, at, len), from = *out;

        if (all_digits(s + at, len)) {
            char digits[12];

            snprintf(digits, sizeof(digits), "%.*s", (int)len, s + at);
            key = jv_int(strtol(digits, NULL, 10), true);
        }
        st = jx_pay(x, 1);
        if (!st)
            st = jop_item(x, &from, &key, out);
        at += len + 1;
    }
    return st;
}

enum st jstr_find(struct jx *x, const struct jv *str, size_t from,
                  const struct jv *what, size_t *at)
{
    const char *s = str->u.str.s + from, *hit;
    size_t n = str->u.str.n - from;
    enum st st;

    *at = SIZE_MAX;
    hit = memmem(s, n, what->u.str.s, what->u.str.n);
    if (hit)
        *at = from + (size_t)(hit - s);
    st = jx_pay(x, 1 + ((hit ? (size_t)(hit - s) : n) + what->u.str.n) / 16);
    return st;
}

/* --- entries of the header ------------------------------------------------ */

static const struct jentry *filter(const char *name, size_t n)
{
    const struct jentry *const tables[] = {jfilter_plain, jfilter_str,
                                           jfilter_list, jfilter_sort};
    const struct jentry *e = NULL;

    for (size_t i = 0; i < 4 && !e; i++)
        e = jentry_find(tables[i], name, n);
    return e;
}

bool jlib_has_filter(const char *name, size_t n)
{
    return filter(name, n) != NULL;
}

enum st jlib_filter(struct jx *x, const char *name, size_t n,
                    const struct jv *v, const struct jargs *a, struct jv *out)
{
    const struct jentry *e = filter(name, n);

    *out = jv_undef();
    if (!e) /* the name may be a caller's: not quoted */
        return jx_fail(x, "no filter has this name");
    return jentry_call(x, e, v, a, out);
}

enum st jlib_method(struct jx *x, const struct jv *self, const char *name,
                    size_t n, struct jv *out)
{
    const struct jentry *e = NULL;

    *out = jv_undef();
    if (self->type == JV_STR)
        e = jentry_find(jmethod_str, name, n);
    else if (self->type == JV_LIST)
        e = jentry_find(jmethod_list, name, n);
    else if (self->type == JV_DICT)
        e = jentry_find(jmethod_dict, name, n);
    return e ? jx_bind(x, e, self, out) : ST_OK;
}
