/*
 * gen/guide_mark.h - a marker as it goes by in a sequence (internal to
 * gen/guide_think.c): some ids in a row, or some bytes in their texts.
 *
 * How much of it is there is one number, so that a guide's state can be
 * copied.
 */
#ifndef GEN_GUIDE_MARK_H
#define GEN_GUIDE_MARK_H

#include "gen/guide_think.h"

struct mark {
    bool bytes;
    uint32_t n;      /* 0: it never comes */
    int32_t of[THINK_MARK_BYTES]; /* ids or bytes */
    /* [i]: of[0..i] ends with so many that it also begins with */
    uint32_t back[THINK_MARK_BYTES];
};

void mark_init(struct mark *m, const struct think_mark *from);
/* The next id, whose text is `piece` (looked at when m->bytes). True: it
 * completed the marker; *at, the part that is there, is 0 then. */
bool mark_feed(const struct mark *m, uint32_t *at, int32_t id,
               struct span piece) MUST_CHECK;
/* Is it one of the ids of a marker of ids? */
bool mark_has(const struct mark *m, int32_t id);

#endif
