#include "chat/tools.h"

#include "chat/jsontext.h"

struct tools {
    size_t n;
};

struct tools *tools_new(const struct chat_tool *list, size_t n)
{
    struct tools *t = mem_try(sizeof(*t));

    (void)list;
    if (t)
        t->n = n;
    return t;
}

void tools_free(struct tools *t)
{
    free(t);
}

bool tools_has(const struct tools *t, const char *name, size_t n)
{
    (void)t;
    (void)name;
    (void)n;
    return false;
}

unsigned tools_kinds(const struct tools *t, const char *name, size_t n,
                     const char *param, size_t param_n)
{
    (void)t;
    (void)name;
    (void)n;
    (void)param;
    (void)param_n;
    return 0;
}

void tool_value(unsigned kinds, const char *s, size_t n, struct buf *out)
{
    (void)kinds;
    jsontext_string(out, s, n, JT_SPACED);
}

void tool_args(const struct tools *t, const char *name, size_t n,
               const struct json *args, struct buf *out)
{
    (void)t;
    (void)name;
    (void)n;
    jsontext(out, args, JT_SPACED);
}
