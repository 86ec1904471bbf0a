#include "chat/dialect.h"

static const char *const markers[] = {"<tool_call>", "</tool_call>", NULL};

static void *open_state(const struct dialect_config *c)
{
    (void)c;
    return mem_try(1);
}

static void marker(void *state, int k, struct dialect_out *o)
{
    (void)state;
    (void)k;
    (void)o;
}

static void text(void *state, const char *p, size_t n, struct dialect_out *o)
{
    (void)state;
    buf_add(o->content, p, n);
}

static void end(void *state, bool ended, struct dialect_out *o)
{
    (void)state;
    (void)ended;
    (void)o;
}

const struct dialect dialect_qwen = {
    .name = "qwen",
    .markers = markers,
    .open = open_state,
    .marker = marker,
    .text = text,
    .end = end,
    .free = free,
};
