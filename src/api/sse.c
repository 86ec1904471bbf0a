#include "api/sse.h"

void sse_begin(struct buf *out)
{
    buf_puts(out, "data: ");
}

void sse_end(struct buf *out)
{
    buf_puts(out, "\n\n");
}

void sse_done(struct buf *out)
{
    buf_puts(out, "data: [DONE]\n\n");
}

void sse_waiting(struct buf *out, int position)
{
    buf_printf(out, ": waiting, position %d\n\n", position);
}

void sse_prefill(struct buf *out, int done, int total)
{
    buf_printf(out, ": prefill %d/%d\n\n", done, total);
}
