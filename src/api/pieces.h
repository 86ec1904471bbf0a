/*
 * api/pieces.h - the answer of one choice as a list of pieces in the order in
 * which the model wrote them (internal to api).
 *
 * A piece is reasoning, text, or one call; neighbours differ, but for calls. A
 * new one begins with the first byte of another kind, or where a call was
 * found. Only the last one grows: what is before it is closed. For dialects
 * whose answers are lists (emit.ordered).
 *
 * Noted after every id, so that the list does not depend on how often anybody
 * looks. Therefore a stream tells of every piece, calls that were withdrawn
 * since included: a look one id earlier would have told of them. A whole
 * answer leaves these out (piece_counts). A call waits for text before it
 * that a stop string may still claim, and what comes before the end of a call
 * waits for that. White space alone between two calls, between another piece
 * and a call, or behind the last call, is layout: it is left out.
 */
#ifndef API_PIECES_H
#define API_PIECES_H

#include "api/callinput.h"
#include "base/buf.h"
#include "chat/calls.h"

enum piece_kind { PIECE_REASONING, PIECE_TEXT, PIECE_CALL };

struct piece {
    enum piece_kind kind;
    size_t from, to; /* bytes of the choice's reasoning or content; the last
                      * piece may grow */
    size_t call;     /* PIECE_CALL: index into the reply's calls */
    size_t at;       /* PIECE_TEXT: bytes of reasoning and content that the
                      * reply gave before it */
};

struct pieces {
    struct piece *p; /* [n] owned */
    size_t n, cap;
    size_t reasoning, content, calls; /* noted so far */
    bool failed;     /* sticks: out of memory */
};

/* How much of the list a stream has told; all zero at first. */
struct told {
    size_t piece;    /* those before it are closed on the wire */
    bool open;       /* this one was begun */
    size_t bytes;    /* of this one's text or arguments */
    struct call_input input; /* instead of them: of a custom tool's */
    size_t probs;    /* of this one's log-probabilities */
    int32_t index;   /* on the wire: pieces begun before this one */
};

enum pieces_when { PIECES_MORE, PIECES_OVER };

/*
 * What one more id gave, or the end: reasoning stands before text and calls,
 * a call where tool_call.at says. Calls that were dropped, or withdrawn by
 * the id that brought them, are no pieces. `calls` may be NULL.
 *   p          {0} at first; its own counts say what is new
 *   when       OVER: nothing is waited for any more
 */
void pieces_note(struct pieces *p, const struct buf *reasoning,
                 const struct buf *content, const struct calls *calls,
                 enum pieces_when when);
void pieces_release(struct pieces *p);

/* Is it part of a whole answer? */
bool piece_counts(const struct piece *one, const struct calls *calls);

#endif
