/*
 * gen/guide_after.h - a guide that begins when a reasoning has ended.
 *
 * Until then everything may come. Newlines right behind the end are its frame
 * and not the inner guide's. When the prompt opened the reasoning, or the model
 * opens it before anything else (may_open), the inner guide waits for its
 * close; else it begins at once.
 */
#ifndef GEN_GUIDE_AFTER_H
#define GEN_GUIDE_AFTER_H

#include "gen/guide_think.h"

struct after_config {
    struct think_mark open, close;
    bool inside;             /* the prompt opened it */
    bool may_open;           /* not inside: the first ids may be those of
                              * `open` (one that is spelled may not) */
    /* as in think_config; asked for frames too: never NULL */
    struct span (*piece)(const void *arg, int32_t id);
    const void *piece_arg;
};

/* Takes ownership of `inner`, also when it fails. NULL when out of memory. */
struct guide *guide_after_new(const struct after_config *c,
                              struct guide *inner) MUST_CHECK;

#endif
