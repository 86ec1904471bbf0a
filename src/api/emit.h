/*
 * api/emit.h - neutral deltas to one dialect, streamed or whole (internal).
 */
#ifndef API_EMIT_H
#define API_EMIT_H

#include "api/logprobs.h"
#include "base/buf.h"
#include "json/write.h"

struct run;
struct choice;
struct figures;
struct calls;
struct tool_call;

/* News of one call, for a stream. */
struct emit_call {
    int32_t index;    /* 0, 1, ...: in the order in which calls began */
    const struct tool_call *call;
    bool first;       /* its id and name; no arguments yet */
    struct text args; /* else: what its arguments grew by */
};

struct emit {
    const char *object;       /* of a whole answer */
    const char *chunk_object; /* of a chunk */
    bool role_first;          /* a stream opens each choice with its role */
    enum logprobs_shape logprobs;
    /* The member "delta" (or "text") of a chunk's choice. */
    void (*delta)(struct jw *w, struct text reasoning, struct text content);
    void (*role)(struct jw *w); /* role_first only */
    /* The member "delta" with news of a call; NULL: it knows no calls. */
    void (*calls)(struct jw *w, const struct emit_call *news);
    /* The member "message" (or "text") of a whole answer's choice; `calls`
     * may be NULL. */
    void (*whole)(struct jw *w, struct text reasoning, struct text content,
                  const struct calls *calls);
};

extern const struct emit emit_chat, emit_text;

/* --- built on a dialect -------------------------------------------------- */

/* Is there anything for emit_news to tell? */
bool emit_has_news(const struct run *r, size_t i);
/*
 * Everything new of choice i, as SSE chunks: role first, reasoning before
 * content, content before calls; then both buffers are empty. Nothing when
 * there is nothing. Log-probabilities that were decided go with the first
 * chunk that has content or a call, and wait for one: they alone are no news.
 * A call is told of once its name is known, then piece by piece. One that was
 * dropped, or withdrawn before it was told of, never is; one that is
 * withdrawn later stays: a stream takes nothing back.
 */
void emit_news(const struct run *r, size_t i, struct buf *out);
/* The chunk with the finish reason and the log-probabilities that are left;
 * `e` (or NULL) is what went wrong: it has a chunk of its own before, without
 * choices, and is in the last one too; `f` (or NULL) is put into it. */
void emit_finish(const struct run *r, size_t i, const struct figures *f,
                 const struct err *e, struct buf *out);
/* The chunk without choices. */
void emit_usage(const struct run *r, const struct figures *f,
                struct buf *out);
/* The whole JSON answer. */
void emit_answer(const struct run *r, const struct figures *f,
                 struct buf *out);

#endif
