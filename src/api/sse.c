#include "api/sse.h"

void sse_begin(struct buf *out)
{
    buf_puts(out, "data: ");
}

void sse_event(struct buf *out, const char *name)
{
    buf_puts(out, "event: ");
    buf_puts(out, name);
    buf_puts(out, "\ndata: ");
}

void sse_end(struct buf *out)
{
    buf_puts(out, "\n\n");
}

struct jw *sse_object(struct buf *out, const char *name)
{
    struct jw *w;

    sse_event(out, name);
    w = jw_new(out);
    jw_obj(w);
    jw_kstr(w, "type", name);
    return w;
}

void sse_object_end(struct jw *w, struct buf *out)
{
    jw_obj_end(w);
    if (!jw_end(w))
        out->failed = true;
    sse_end(out);
}

void sse_done(struct buf *out)
{
    buf_puts(out, "data: [DONE]\n\n");
}

/* Whole seconds; an estimate that has run out still is about one. */
void sse_waiting(struct buf *out, int position, int64_t eta_us,
                 int64_t so_far_us)
{
    long long eta_s = (eta_us + 500000) / 1000000;
    long long so_far_s = so_far_us > 0 ? so_far_us / 1000000 : 0;

    buf_printf(out, ": waiting, position %d", position);
    if (eta_us >= 0)
        buf_printf(out, ", about %lld s", eta_s > 1 ? eta_s : 1);
    buf_printf(out, ", %lld s so far\n\n", so_far_s);
}

void sse_prefill(struct buf *out, int done, int total)
{
    buf_printf(out, ": prefill %d/%d\n\n", done, total);
}
