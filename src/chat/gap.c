#include "chat/gap.h"

#include "base/ascii.h"

void gap_init(struct gap *g)
{
    *g = (struct gap){0};
    buf_init(&g->held, BUF_ANSWER);
}

void gap_release(struct gap *g)
{
    buf_release(&g->held);
}

void gap_text(struct gap *g, const char *p, size_t n, struct buf *out)
{
    size_t i = 0;

    while (!g->text && i < n && json_space(p[i]))
        i++;
    if (!g->text)
        buf_add(&g->held, p, i);
    if (i == n)
        return;
    if (g->held.n)
        buf_add(out, g->held.p, g->held.n);
    buf_clear(&g->held);
    g->text = true;
    buf_add(out, p + i, n - i);
}

void gap_call(struct gap *g)
{
    buf_clear(&g->held);
    g->text = false;
}

void gap_end(struct gap *g, bool calls, struct buf *out)
{
    if (!calls && g->held.n)
        buf_add(out, g->held.p, g->held.n);
    buf_clear(&g->held);
}
