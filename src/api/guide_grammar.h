/*
 * api/guide_grammar.h - a grammar over a vocabulary as a guide of the engine
 * (internal to api).
 *
 * What has been written is one place in the grammar, copied with the state.
 * The text is what a reader of the answer gets; marks are ids of their own. An
 * id that does not go on with the text changes nothing: another guide forced
 * it. The end comes as soon as nothing but white space could follow.
 */
#ifndef API_GUIDE_GRAMMAR_H
#define API_GUIDE_GRAMMAR_H

#include "api/lexicon.h"
#include "gen/guide.h"

/* Takes a reference to both. mark: [GX_MARKS] id of each, -1: none; NULL: no
 * marks; copied. NULL when out of memory. */
struct guide *guide_grammar_new(struct grammar *g, struct lexicon *l,
                                const int32_t *mark) MUST_CHECK;

#endif
