/*
 * api/sse.h - server-sent events: data lines and comment lines, never id: or
 * retry:; event: only where a protocol names its events (case C07).
 */
#ifndef API_SSE_H
#define API_SSE_H

#include "base/buf.h"
#include "json/write.h"

#define SSE_TYPE "text/event-stream; charset=utf-8"

void sse_begin(struct buf *out);  /* before one JSON object */
/* The same of an event with a name (a literal). */
void sse_event(struct buf *out, const char *name);
void sse_end(struct buf *out);    /* after it */
/* A whole event, whose object begins with its name as "type", open for more
 * members; and its end. */
struct jw *sse_object(struct buf *out, const char *name);
void sse_object_end(struct jw *w, struct buf *out);
void sse_done(struct buf *out);   /* data: [DONE] */
/* Comment lines. position: from 1; eta_us: until it starts, -1: not known;
 * so_far_us: since it arrived. */
void sse_waiting(struct buf *out, int position, int64_t eta_us,
                 int64_t so_far_us);
void sse_prefill(struct buf *out, int done, int total);

#endif
