/*
 * api/guides.h - what must come next in the answers of one request (internal
 * to api): the end of a reasoning that takes too long, the choices of
 * structured_outputs, the pattern guard.
 *
 * What all answers share is made once; each job then gets a guide of its own.
 * Sources: seed 000 14.3, spec tandem.md 3 and 13.1.
 */
#ifndef API_GUIDES_H
#define API_GUIDES_H

#include "api/run.h"
#include "base/vec.h"
#include "gen/guide_think.h"

struct guides {
    const struct api_config *config;
    const struct catalog_model *model;
    bool thinks;               /* reasoning is watched */
    bool asked;                /* and leaves room for the answer */
    struct think_config think; /* but for cap and prompt */
    int32_t cap;               /* of the client; 0: none */
    struct ids open, close, phrase;
    struct ids choices;        /* all of them in a row */
    struct guide_list *lists;  /* [n_lists] parts of it, owned */
    size_t n_lists;
};

/*
 * r->model, r->format and r->think_open are known. To be released also after
 * an error: ST_NOMEM, ST_LIMIT or ST_INVALID with the field.
 */
enum st guides_open(struct guides *g, const struct run *r,
                    const struct api_config *c, const struct body *b,
                    struct err *e) MUST_CHECK;
/* The guide of one answer of at most max_tokens; *out NULL: anything may
 * come. ST_NOMEM. */
enum st guides_make(const struct guides *g, struct guide **out,
                    const struct ids *prompt, int32_t max_tokens,
                    struct err *e) MUST_CHECK;
void guides_release(struct guides *g);

#endif
