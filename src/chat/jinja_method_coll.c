/* Methods of lists and dicts. */
#include "chat/jinja_lib.h"

/* --- lists ---------------------------------------------------------------- */

static enum st may_change(const struct jin *in)
{
    if (!in->v->u.list->tuple)
        return ST_OK;
    return jx_fail(in->x, "%s of a tuple, which cannot change", in->name);
}

static enum st m_append(const struct jin *in, struct jv *out)
{
    enum st st = may_change(in);

    *out = jv_none();
    return st ? st : jv_push(in->x, *in->v, *in->arg[0]);
}

static enum st m_extend(const struct jin *in, struct jv *out)
{
    struct jv items;
    size_t n;
    enum st st = may_change(in);

    *out = jv_none();
    if (!st)
        st = jop_iterate(in->x, in->arg[0], &items);
    n = st ? 0 : items.u.list->n; /* it may be the same list */
    for (size_t i = 0; i < n && !st; i++)
        st = jv_push(in->x, *in->v, items.u.list->p[i]);
    return st;
}

static enum st place(const struct jin *in, const struct jv *what,
                     size_t *count, size_t *first)
{
    const struct jlist *l = in->v->u.list;
    enum st st = ST_OK;

    *count = 0;
    *first = SIZE_MAX;
    for (size_t i = 0; i < l->n && !st; i++) {
        bool same = false;

        st = jx_equal(in->x, &l->p[i], what, &same);
        if (same && *first == SIZE_MAX)
            *first = i;
        *count += same;
    }
    return st;
}

static enum st m_index(const struct jin *in, struct jv *out)
{
    size_t count, first;
    enum st st = place(in, in->arg[0], &count, &first);

    if (!st && first == SIZE_MAX)
        return jx_fail(in->x, "index: the value is not in the list");
    *out = jv_int((int64_t)first, in->v->markup);
    return st;
}

static enum st m_count(const struct jin *in, struct jv *out)
{
    size_t count, first;
    enum st st = place(in, in->arg[0], &count, &first);

    *out = jv_int((int64_t)count, in->v->markup);
    return st;
}

static enum st m_insert(const struct jin *in, struct jv *out)
{
    struct jlist *l = in->v->u.list;
    int64_t at = 0;
    enum st st = may_change(in);

    *out = jv_none();
    if (!st)
        st = jin_int(in, 0, &at);
    if (!st)
        st = jx_pay(in->x, l->n);
    if (!st)
        st = jv_push(in->x, *in->v, *in->arg[1]);
    if (st)
        return st;
    if (at < 0)
        at += (int64_t)l->n - 1;
    if (at < 0)
        at = 0;
    for (size_t i = l->n - 1; i > (uint64_t)at; i--) {
        struct jv swap = l->p[i];

        l->p[i] = l->p[i - 1];
        l->p[i - 1] = swap;
    }
    return ST_OK;
}

static void drop(struct jlist *l, size_t at)
{
    memmove(&l->p[at], &l->p[at + 1], (l->n - at - 1) * sizeof(*l->p));
    l->n--;
}

static enum st m_pop(const struct jin *in, struct jv *out)
{
    struct jlist *l = in->v->u.list;
    int64_t at = -1;
    enum st st = may_change(in);

    if (!st)
        st = jin_int(in, 0, &at);
    if (!st)
        st = jx_pay(in->x, 1 + l->n / 4);
    if (st)
        return st;
    if (at < 0)
        at += (int64_t)l->n;
    if (at < 0 || (uint64_t)at >= l->n)
        return jx_fail(in->x, "pop: the list has no such item");
    *out = l->p[at];
    drop(l, (size_t)at);
    return ST_OK;
}

static enum st m_remove(const struct jin *in, struct jv *out)
{
    size_t count, first;
    enum st st = may_change(in);

    *out = jv_none();
    if (!st)
        st = place(in, in->arg[0], &count, &first);
    if (!st && first == SIZE_MAX)
        return jx_fail(in->x, "remove: the value is not in the list");
    if (!st)
        drop(in->v->u.list, first);
    return st;
}

static enum st m_clear(const struct jin *in, struct jv *out)
{
    enum st st = may_change(in);

    *out = jv_none();
    if (!st)
        in->v->u.list->n = 0;
    return st;
}

static enum st m_list_copy(const struct jin *in, struct jv *out)
{
    const struct jlist *l = in->v->u.list;
    enum st st = jx_list(in->x, in->v, out);

    for (size_t i = 0; i < l->n && !st; i++)
        st = jv_push(in->x, *out, l->p[i]);
    return st;
}

static enum st m_reverse(const struct jin *in, struct jv *out)
{
    struct jlist *l = in->v->u.list;
    enum st st = may_change(in);

    *out = jv_none();
    if (!st)
        st = jx_pay(in->x, l->n / 4);
    for (size_t i = 0; i < l->n / 2 && !st; i++) {
        struct jv swap = l->p[i];

        l->p[i] = l->p[l->n - 1 - i];
        l->p[l->n - 1 - i] = swap;
    }
    return st;
}

const struct jentry jmethod_list[] = {
    {"append", "!item", m_append},
    {"clear", "", m_clear},
    {"copy", "", m_list_copy},
    {"count", "!item", m_count},
    {"extend", "!items", m_extend},
    {"index", "!item", m_index},
    {"insert", "!index !item", m_insert},
    {"pop", "index", m_pop},
    {"remove", "!item", m_remove},
    {"reverse", "", m_reverse},
    {NULL, NULL, NULL},
};

/* --- dicts ---------------------------------------------------------------- */

static enum st m_get(const struct jin *in, struct jv *out)
{
    struct jv *found;
    enum st st = jx_find(in->x, in->v->u.dict, in->arg[0], &found);

    *out = found ? *found : in->arg[1] ? *in->arg[1] : jv_none();
    return st;
}

static enum st m_setdefault(const struct jin *in, struct jv *out)
{
    struct jv *found;
    enum st st = jx_find(in->x, in->v->u.dict, in->arg[0], &found);

    *out = found ? *found : in->arg[1] ? *in->arg[1] : jv_none();
    if (!st && !found)
        st = jv_set(in->x, *in->v, *in->arg[0], *out);
    return st;
}

static enum st m_dict_pop(const struct jin *in, struct jv *out)
{
    struct jdict *d = in->v->u.dict;
    struct jv *found;
    size_t i = 0;
    enum st st = jx_find(in->x, in->v->u.dict, in->arg[0], &found);

    if (st)
        return st;
    if (!found && !in->arg[1])
        return jx_fail(in->x, "pop: the dict has no such key");
    *out = found ? *found : *in->arg[1];
    while (i < d->n && &d->p[i].value != found)
        i++;
    if (i < d->n) {
        memmove(&d->p[i], &d->p[i + 1], (d->n - i - 1) * sizeof(*d->p));
        d->n--;
    }
    return ST_OK;
}

static enum st m_items(const struct jin *in, struct jv *out)
{
    return jx_items(in->x, in->v, out);
}

static enum st m_keys(const struct jin *in, struct jv *out)
{
    return jx_keys(in->x, in->v, out);
}

static enum st m_values(const struct jin *in, struct jv *out)
{
    return jx_values(in->x, in->v, out);
}

static enum st set_all(struct jx *x, struct jv to, const struct jpair *p,
                       size_t n)
{
    enum st st = ST_OK;

    for (size_t i = 0; i < n && !st; i++)
        st = jv_set(x, to, p[i].key, p[i].value);
    return st;
}

static enum st m_update(const struct jin *in, struct jv *out)
{
    const struct jargs *a = in->all;
    enum st st = ST_OK;

    *out = jv_none();
    if (a->n > 1 || (a->n && a->pos[0].type != JV_DICT))
        return jx_fail(in->x, "update takes a dict");
    if (a->n && a->pos[0].u.dict != in->v->u.dict)
        st = set_all(in->x, *in->v, a->pos[0].u.dict->p,
                     a->pos[0].u.dict->n);
    return st ? st : set_all(in->x, *in->v, a->kw, a->n_kw);
}

static enum st m_dict_copy(const struct jin *in, struct jv *out)
{
    const struct jdict *d = in->v->u.dict;
    enum st st = jx_dict(in->x, in->v, out);

    return st ? st : set_all(in->x, *out, d->p, d->n);
}

static enum st m_dict_clear(const struct jin *in, struct jv *out)
{
    *out = jv_none();
    in->v->u.dict->n = 0;
    return ST_OK;
}

const struct jentry jmethod_dict[] = {
    {"clear", "", m_dict_clear},
    {"copy", "", m_dict_copy},
    {"get", "!key default", m_get},
    {"items", "", m_items},
    {"keys", "", m_keys},
    {"pop", "!key default", m_dict_pop},
    {"setdefault", "!key default", m_setdefault},
    {"update", "*", m_update},
    {"values", "", m_values},
    {NULL, NULL, NULL},
};
