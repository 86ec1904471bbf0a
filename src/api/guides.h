/*
 * api/guides.h - what must come next in the answers of one request (internal
 * to api): the end of a reasoning that takes too long, the grammar of what
 * follows it, the pattern guard.
 *
 * What all answers share is made once; each job then gets a guide of its own.
 * Where an answer has a grammar there is no pattern guard: a JSON answer may
 * repeat itself, and one that is cut is none.
 * Sources: seed 000 14.3 and 14.5, spec tandem.md 3, 7 and 13.1.
 */
#ifndef API_GUIDES_H
#define API_GUIDES_H

#include "api/lexicon.h"
#include "api/run.h"
#include "api/shape.h"
#include "base/vec.h"
#include "gen/guide_after.h"

struct guides {
    const struct api_config *config;
    const struct catalog_model *model;
    bool thinks;               /* reasoning is watched */
    bool asked;                /* and leaves room for the answer */
    struct think_config think; /* but for cap and prompt */
    int32_t cap;               /* of the client; 0: none */
    struct ids open, close, phrase, frame;
    struct shape shape;        /* of the answer */
    struct lexicon *lexicon;   /* a reference; NULL without a shape */
    bool waits;                /* the shape begins behind a reasoning: */
    struct after_config after;
};

/*
 * r->model, r->format and r->think_open are known. To be released also after
 * an error: ST_NOMEM, ST_LIMIT or ST_INVALID with the field.
 */
enum st guides_open(struct guides *g, const struct run *r,
                    const struct api_config *c,
                    const struct guides_kept *kept, const struct body *b,
                    struct err *e) MUST_CHECK;
/* The guide of one answer of at most max_tokens; *out NULL: anything may
 * come. ST_NOMEM. */
enum st guides_make(const struct guides *g, struct guide **out,
                    const struct ids *prompt, int32_t max_tokens,
                    struct err *e) MUST_CHECK;
void guides_release(struct guides *g);

#endif
