/*
 * api/emit_chunks.h - what chat and completions share: chunks of one shape,
 * one choice each (internal to api).
 */
#ifndef API_EMIT_CHUNKS_H
#define API_EMIT_CHUNKS_H

#include "api/emit.h"
#include "json/write.h"

struct calls;
struct tool_call;

/* News of one call, for a stream. */
struct chunk_call {
    int32_t index;    /* 0, 1, ...: in the order in which calls began */
    const struct tool_call *call;
    bool first;       /* its id and name; no arguments yet */
    struct text args; /* else: what its arguments grew by */
};

struct chunk_form {
    const char *object;       /* of a whole answer */
    const char *chunk_object; /* of a chunk */
    bool role_first;          /* a stream opens each choice with its role */
    /* The member "delta" (or "text") of a chunk's choice. */
    void (*delta)(struct jw *w, struct text reasoning, struct text content);
    void (*role)(struct jw *w); /* role_first only */
    /* The member "delta" with news of a call; NULL: it knows no calls. */
    void (*calls)(struct jw *w, const struct chunk_call *news);
    /* The member "message" (or "text") of a whole answer's choice; `calls`
     * may be NULL. */
    void (*whole)(struct jw *w, struct text reasoning, struct text content,
                  const struct calls *calls);
};

/* --- struct emit's functions, of r->emit->form --------------------------- */

bool chunks_has_news(const struct run *r, size_t i);
/*
 * Everything new of choice i: role first, reasoning before content, content
 * before calls; then both buffers are empty. Nothing when there is nothing.
 * Log-probabilities that were decided go with the first chunk that has content
 * or a call, and wait for one: they alone are no news. A call is told of once
 * its name is known, then piece by piece. One that was dropped, or withdrawn
 * before it was told of, never is; one that is withdrawn later stays: a stream
 * takes nothing back.
 */
void chunks_news(struct run *r, size_t i, struct buf *out);
/* Per choice the chunk with the finish reason and the log-probabilities that
 * are left; `e` has a chunk of its own before, without choices, and is in the
 * last ones too. Then usage where it was asked for, and [DONE]. */
void chunks_finish(struct run *r, const struct figures *f,
                   const struct err *e, struct buf *out);
void chunks_whole(struct run *r, const struct figures *f, struct buf *out);

#endif
