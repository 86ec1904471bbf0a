/*
 * gen/guide_trigger.h - a guide that begins whenever one id comes.
 *
 * Until then everything may come, and nothing is asked of anybody: no mask,
 * no ids that must come. The id (the token that opens a call) is the first of
 * the inner guide, which begins anew each time. When the inner guide is
 * complete the sequence is not: everything may come again, and the id may come
 * again, as often as the model likes.
 */
#ifndef GEN_GUIDE_TRIGGER_H
#define GEN_GUIDE_TRIGGER_H

#include "gen/guide.h"

/* Takes ownership of `inner`, also when it fails. NULL when out of memory. */
struct guide *guide_trigger_new(int32_t id, struct guide *inner) MUST_CHECK;

#endif
