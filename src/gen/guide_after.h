/*
 * gen/guide_after.h - a guide that begins when a reasoning has ended.
 *
 * Until then everything may come but what ends a reply. When the prompt opened
 * the reasoning, or the model opens it before anything else (may_open), the
 * inner guide waits for its close; else it begins at once. Behind the close
 * comes the frame, which is not the inner guide's: first ids that must come
 * (the element of a form that holds the answer), then newlines, which readers
 * drop, a few at most. An answer does not begin with a newline then.
 */
#ifndef GEN_GUIDE_AFTER_H
#define GEN_GUIDE_AFTER_H

#include "gen/guide_think.h"

#define AFTER_BREAKS_MAX 8 /* ids of newlines behind a reasoning */
#define AFTER_LIST_MAX 1024 /* ids of newlines alone that a vocabulary has */

struct after_config {
    struct think_mark open, close; /* close: one that can come */
    bool inside;             /* the prompt opened it */
    bool may_open;           /* not inside: the first ids may be those of
                              * `open` (one that is spelled may not) */
    /* as in think_config: only asked when a mark has text */
    struct span (*piece)(const void *arg, int32_t id);
    const void *piece_arg;
    const int32_t *frame;    /* [n_frame] must come behind the close */
    size_t n_frame;          /* THINK_MARK_IDS at most */
    /* [n_begins] ids that begin with a newline, first the n_breaks of them
     * that have nothing else. Borrowed as long as the guide lives. None:
     * readers drop no newlines here. */
    const int32_t *begins;
    size_t n_begins, n_breaks;
    /* [n_ends] ids that end a reply: a reasoning does not end with them,
     * unless they are of its close. Borrowed as long as the guide lives. */
    const int32_t *ends;
    size_t n_ends;
};

/* Takes ownership of `inner`, also when it fails; the rest is copied unless it
 * says otherwise. NULL when out of memory. */
struct guide *guide_after_new(const struct after_config *c,
                              struct guide *inner) MUST_CHECK;

#endif
