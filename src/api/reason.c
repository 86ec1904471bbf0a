#include "api/reason.h"

enum st reason_map_parse(struct reason_map *out, const char *s, struct err *e)
{
    (void)s;
    (void)e;
    *out = (struct reason_map){.n = 0};
    return ST_OK;
}

enum reason_form reason_form_of(const struct body *b,
                                const struct reason_map *m, const char *kind)
{
    (void)m;
    (void)kind;
    return b->reasoning_format == REASON_DEFAULT ? REASON_FIELD
                                                 : b->reasoning_format;
}

void reason_feed(struct reason *r, struct text thought, struct text said,
                 bool closed, struct buf *reasoning, struct buf *content)
{
    r->closed = closed;
    buf_add(reasoning, thought.s, thought.n);
    buf_add(content, said.s, said.n);
}

void reason_end(struct reason *r, struct buf *content)
{
    (void)r;
    (void)content;
}
