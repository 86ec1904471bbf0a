/*
 * gen/guide_think.h - the guide over a sequence's reasoning.
 *
 * It knows from the ids alone whether the reasoning is open, and closes it by
 * force, with a phrase of given ids, when it has grown too long (the cap) or
 * goes in circles (the stall). It also keeps n-grams from being repeated, as
 * long as the reasoning is open: over an answer that would spoil code. After
 * the close it allows everything for ever, unless the model opens it again:
 * then what it has reasoned before counts too, so that there is no second
 * budget.
 *
 * The phrase comes as one block. Where the model has begun its own close,
 * of several ids or spelled, that is waited for first; where it closes before
 * the phrase has begun, there is none. Ids that n-grams forbid: as
 * no_repeat_ngram_size of the transformers library, but never those of
 * close.ids, nor those that begin a spelled close or go on with it, and not
 * when nothing would be left.
 *
 * Circles, the stall: gen/guide_window.h.
 *
 * Sources: seed 000 14.3, spec tandem.md sections 3 and 4.
 */
#ifndef GEN_GUIDE_THINK_H
#define GEN_GUIDE_THINK_H

#include "gen/guide.h"

#define THINK_WINDOW 2048     /* ids that stall and n-grams look back over */
#define THINK_NGRAM_MAX 64
#define THINK_PHRASE_MAX 256  /* ids of the phrase; what callers allow */
#define THINK_MARK_IDS 16     /* ids of a marker */
#define THINK_MARK_BYTES 64   /* bytes of a spelled one */

/* What opens or closes reasoning: these ids in a row, or, where the
 * vocabulary has no token for it, these bytes in the text of the ids. Neither:
 * it never happens. */
struct think_mark {
    const int32_t *ids;
    size_t n_ids;
    struct text text;    /* looked at when n_ids is 0 */
};                       /* one that is longer than the maximum: neither */

struct think_config {
    struct think_mark open, close;
    bool inside;            /* the prompt opened it */
    int32_t cap;            /* the phrase follows the first id beyond so many
                             * ids of reasoning, counted as a reply counts
                             * them: the closing marker is one, so is an
                             * opening one of a single id that the model
                             * wrote. 0: no cap */
    bool stall;             /* close it when it goes in circles */
    int32_t ngram;          /* no_repeat_ngram_size: 2..THINK_NGRAM_MAX; 0:
                             * none */
    const int32_t *prompt;  /* [n_prompt] its last ids count as history */
    size_t n_prompt;
    const int32_t *phrase;  /* [n_phrase] must close the reasoning, which is
                             * taken for closed behind it. 0: cap and stall are
                             * not looked at */
    size_t n_phrase;
    /* The bytes of an id as a reader sees them: none for ids that end texts
     * and control tokens. Only asked when a mark has text, NULL else. The
     * argument outlives the guide. */
    struct span (*piece)(const void *arg, int32_t id);
    const void *piece_arg;
};

/* Everything is copied. NULL when out of memory. */
struct guide *guide_think_new(const struct think_config *c) MUST_CHECK;

#endif
