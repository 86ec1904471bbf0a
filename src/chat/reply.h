/*
 * chat/reply.h - token ids in, neutral deltas out.
 *
 * Detokenises, reads reasoning by token id, finds stop strings, and lets
 * bytes leave only as whole UTF-8 characters: U+FFFD is never made here; the
 * bytes of an incomplete or invalid character are dropped at the end, never
 * sent. Knows no dialect (chat, completions) and no thread.
 */
#ifndef CHAT_REPLY_H
#define CHAT_REPLY_H

#include "base/buf.h"
#include "chat/format.h"

struct reply; /* opaque */

struct reply_config {
    const struct tok *tok;
    const struct format *format;   /* NULL: plain text (completions) */
    bool think_open;               /* the prompt opened the channel */
    const struct text *stops;      /* [n_stops] non-empty, borrowed */
    size_t n_stops;
    const int32_t *stop_ids;       /* their text is never emitted */
    size_t n_stop_ids;
};

/* NULL when out of memory. */
struct reply *reply_new(const struct reply_config *c) MUST_CHECK;
void reply_free(struct reply *r);

/*
 * Feed the next id. Appends what became sendable to `reasoning` and
 * `content` (either may stay unchanged).
 * Returns true when a stop string was completed by this id: nothing further
 * is emitted, and the caller asks the engine to finish with reply_kept().
 */
bool reply_feed(struct reply *r, int32_t id, struct buf *reasoning,
                struct buf *content);
/* The generation ended: release what was held back for a stop string. */
void reply_end(struct reply *r, struct buf *reasoning, struct buf *content);

bool reply_stopped(const struct reply *r);      /* by a stop string */
/* Tokens up to the one that completed the stop string, >= 1. */
int32_t reply_kept(const struct reply *r);
/* Tokens of the reasoning part so far, the closing one included. */
int32_t reply_reasoning_tokens(const struct reply *r);

#endif
