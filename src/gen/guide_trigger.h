/*
 * gen/guide_trigger.h - a guide that begins whenever an id has come.
 *
 * Until then everything may come, and nothing is asked of anybody: no mask,
 * no ids that must come. Behind the id (the token that opens a call), or
 * behind an id, a text and another id, the inner guide begins anew each time.
 * When it is complete the sequence is not: everything may come again, and so
 * may the trigger, as often as the model likes.
 */
#ifndef GEN_GUIDE_TRIGGER_H
#define GEN_GUIDE_TRIGGER_H

#include "gen/guide.h"

#define TRIGGER_TEXT 32 /* bytes */

struct trigger_config {
    int32_t first;
    int32_t last;     /* -1: `first` alone */
    struct span text; /* between them; of whole ids */
    /* the text of an id, as long as the guide lives; asked for behind
     * `first` only */
    struct span (*piece)(const void *arg, int32_t id);
    const void *piece_arg;
};

/* Takes ownership of `inner`, also when it fails; the rest is copied. NULL
 * when out of memory. */
struct guide *guide_trigger_new(const struct trigger_config *c,
                                struct guide *inner) MUST_CHECK;

#endif
