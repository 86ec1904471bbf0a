/*
 * chat/reply.h - token ids in, neutral deltas out.
 *
 * Detokenises, reads reasoning and tool calls, finds stop strings, and lets
 * bytes leave only as whole UTF-8 characters: U+FFFD is never made here; the
 * bytes of an incomplete or invalid character are dropped at the end, never
 * sent. A marker that is a token of the vocabulary counts only as that token:
 * the same characters in ordinary tokens are text. Knows no wire dialect
 * (chat, completions) and no thread.
 */
#ifndef CHAT_REPLY_H
#define CHAT_REPLY_H

#include "base/buf.h"
#include "chat/calls.h"
#include "chat/format.h"
#include "chat/tools.h"

struct reply; /* opaque */

struct reply_config {
    const struct tok *tok;
    const struct format *format;   /* NULL: plain text (completions) */
    bool think_open;               /* the prompt opened the channel */
    const struct tools *tools;     /* borrowed; NULL: none were offered */
    bool parallel_calls;           /* false: the first call counts */
    uint64_t id_seed;              /* ids of calls are made from it */
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
 * `content` (either may stay unchanged), and to the calls.
 * Returns true when the reply is over before the engine knows: a stop string
 * was completed or the form's own end came. Nothing further is emitted, and
 * the caller asks the engine to finish with reply_kept().
 */
bool reply_feed(struct reply *r, int32_t id, struct buf *reasoning,
                struct buf *content);
/* The generation ended: release what was held back. `ended`: the model wrote
 * an end token (not a limit, a cut or an error). */
void reply_end(struct reply *r, bool ended, struct buf *reasoning,
               struct buf *content);

/* Feed has returned true; or the end found a stop string that was complete
 * and waited for one that began before it. */
bool reply_stopped(const struct reply *r);
/* Index of the stop string that ended it: the leftmost in the text, of two that
 * begin at one place the shorter; of the same twice the first. -1: none did. */
int32_t reply_stop_string(const struct reply *r);
/* Tokens up to the one that completed the reply, >= 1. */
int32_t reply_kept(const struct reply *r);
/*
 * Where the id fed last belongs. REASONING: the text of reasoning, the marks
 * around it and the newlines that frame it; ANSWER: what became content, or
 * waits to, and calls; SILENT: what says nothing to a reader (an end token,
 * a control token of no form, anything behind the end).
 */
enum reply_part { REPLY_SILENT, REPLY_REASONING, REPLY_ANSWER };
enum reply_part reply_part(const struct reply *r);
/* Bytes given out so far, of reasoning and content together. */
size_t reply_told(const struct reply *r);
/* Bytes that came and were not given out. They wait (the head of a character,
 * a marker or a stop string) and come out in order or not at all; 1 or more
 * for good when a stop string, or an end inside a character, took them. */
size_t reply_held(const struct reply *r);
/* Was there reasoning (or an open channel), and is it closed now? */
bool reply_closed_reasoning(const struct reply *r);
/* Tokens of the reasoning part so far, the closing one included. */
int32_t reply_reasoning_tokens(const struct reply *r);
const struct calls *reply_calls(const struct reply *r);

#endif
