/*
 * api/emit.h - neutral deltas to one dialect, streamed or whole (internal).
 *
 * A dialect writes the events of its own protocol from what the choices have:
 * it never translates another dialect's chunks. The pump calls:
 *
 *   begin    once, behind the head of a stream: also when all there is to say
 *            is a comment line
 *   news     whenever ids came in, while a stream runs
 *   finish   once, when every choice is over; what it writes is sent when the
 *            ledger's row is there (docs/decisions/0003), to the last byte
 *   whole    instead of all three: the JSON answer
 *
 * Two kinds of dialect (`ordered`):
 *   - chunks (chat, completions): reasoning and content are two buffers of the
 *     choice, emptied as they are told of; the order between content and
 *     calls does not matter to their clients.
 *   - parts (responses, messages): the answer is a list of parts in the order
 *     of the model (api/parts.h), each opened, grown and closed on the wire.
 *     The buffers keep everything; how much was told is in choice.told. What a
 *     client gets does not depend on how often the pump looked.
 */
#ifndef API_EMIT_H
#define API_EMIT_H

#include "api/logprobs.h"
#include "base/buf.h"

struct run;
struct figures;
struct chunk_form;

struct emit {
    bool ordered;
    enum logprobs_shape logprobs;
    const struct chunk_form *form; /* of emit_chunks.c; NULL where ordered */
    /* NULL: nothing to say before the first news. */
    void (*begin)(struct run *r, struct buf *out);
    /* Is there anything for news to tell of choice i? */
    bool (*has_news)(const struct run *r, size_t i);
    void (*news)(struct run *r, size_t i, struct buf *out);
    /* `e` (or NULL) is what went wrong. */
    void (*finish)(struct run *r, const struct figures *f,
                   const struct err *e, struct buf *out);
    /* Without a newline behind it. */
    void (*whole)(struct run *r, const struct figures *f, struct buf *out);
};

extern const struct emit emit_chat, emit_text, emit_messages, emit_responses;

#endif
