/*
 * api/prompts.h - a validated body to prompt ids: one builder per dialect
 * (internal to api). Text ends here.
 */
#ifndef API_PROMPTS_H
#define API_PROMPTS_H

#include "api/body.h"
#include "base/vec.h"
#include "gen/catalog.h"

struct prompt_ids {
    int32_t context;            /* of the model; set by the caller */
    struct ids of[PROMPTS_MAX]; /* [n], owned */
    size_t n;
    const struct format *format; /* reads the replies; NULL: plain text */
    bool think_open;            /* the prompt opened the channel */
};

/* How the thinking of a request is settled before rendering. */
enum think_mode prompts_think(const struct catalog_model *m,
                              const struct body *b, bool on_by_default);

/*
 * Fill `p` (also to be released after an error). Every prompt leaves room for
 * one token; one that is far too long is given up long before it is encoded.
 *   a  scratch of the request
 * Errors: ST_CONTEXT (where "": the caller names the field), ST_INVALID with
 * the field, ST_UNSUPPORTED (no chat format), ST_LIMIT, ST_NOMEM.
 */
enum st prompts_chat(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
    MUST_CHECK;
enum st prompts_text(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
    MUST_CHECK;
/*
 * The same for dialects of agents, which send system messages anywhere and
 * users' messages side by side. What the format refuses as it was sent is
 * tried once more with every late system message (every one, where it has no
 * system turn) read as a user's, and users' neighbours as one message, an
 * empty line between. The error is the first, unless the second try is refused
 * for something else than its form (its length).
 */
enum st prompts_turns(struct prompt_ids *p, const struct catalog_model *m,
                      const struct body *b, struct arena *a, struct err *e)
    MUST_CHECK;
void prompts_release(struct prompt_ids *p);

#endif
