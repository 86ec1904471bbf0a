#include "api/toolnames.h"

static bool is_plain(const struct chat_tool *t)
{
    return !t->custom && !t->space.n;
}

static bool count(const struct chat_tool *t, size_t *bytes)
{
    return mem_add(bytes, *bytes, sizeof(struct tool_name)) &&
           mem_add(bytes, *bytes, t->name.n) &&
           mem_add(bytes, *bytes, t->own.n) &&
           mem_add(bytes, *bytes, t->space.n);
}

static struct text copy(char **at, struct text t)
{
    struct text out = {*at, t.n};

    if (t.n)
        memcpy(*at, t.s, t.n);
    *at += t.n;
    return out;
}

enum st tool_names_keep(struct tool_names *t, const struct chat_tool *list,
                        size_t n, struct err *e)
{
    size_t some = 0, bytes = 0;
    char *at;

    *t = (struct tool_names){0};
    for (size_t i = 0; i < n; i++) {
        if (is_plain(&list[i]))
            continue;
        some++;
        if (!count(&list[i], &bytes))
            return err_set(e, ST_LIMIT, "tools", "too long");
    }
    if (!some)
        return ST_OK;
    t->p = mem_try(bytes);
    if (!t->p)
        return err_set(e, ST_NOMEM, "", "no memory for this request");
    t->bytes = bytes;
    at = (char *)(t->p + some);
    for (size_t i = 0; i < n; i++) {
        const struct chat_tool *one = &list[i];

        if (is_plain(one))
            continue;
        t->p[t->n].name = copy(&at, one->name);
        t->p[t->n].own = copy(&at, one->own);
        t->p[t->n].space = copy(&at, one->space);
        t->p[t->n++].custom = one->custom;
    }
    return ST_OK;
}

void tool_names_release(struct tool_names *t)
{
    free(t->p);
    *t = (struct tool_names){0};
}

const struct tool_name *tool_names_find(const struct tool_names *t,
                                        const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (text_is(t->p[i].name, name))
            return &t->p[i];
    return NULL;
}
