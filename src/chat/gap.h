/*
 * chat/gap.h - white space that stands only between calls (internal).
 *
 * At the head of an answer and behind a call, white space is held until
 * other text follows; then it was part of the answer. When a call follows,
 * or the reply with its calls is over, it was layout: it is dropped, and the
 * content of an answer that is only calls stays empty.
 */
#ifndef CHAT_GAP_H
#define CHAT_GAP_H

#include "base/buf.h"

struct gap {
    struct buf held;
    bool text; /* other text has come: nothing is held */
};

void gap_init(struct gap *g);
void gap_release(struct gap *g);
/* Content; what is settled goes to `out`. */
void gap_text(struct gap *g, const char *p, size_t n, struct buf *out);
/* A call begins (or a region of calls): forget what is held. */
void gap_call(struct gap *g);
/* The reply is over. */
void gap_end(struct gap *g, bool calls, struct buf *out);

#endif
