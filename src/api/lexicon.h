/*
 * api/lexicon.h - a model's vocabulary, made ready for masks (internal to
 * api).
 *
 * Made with the first answer that has a grammar, on the thread that asks, and
 * kept: for 151,936 ids it takes about the time and memory that
 * docs/structured-outputs.md says. Bytes of an id are those that the reader of
 * an answer gets (chat/reply.h): none for control tokens, markers and ids that
 * end a turn, so that no grammar ever allows them as text.
 * Threads: any, but for masks, which are the engine's.
 */
#ifndef API_LEXICON_H
#define API_LEXICON_H

#include "gen/catalog.h"
#include "gram/mask.h"

struct lexicon {
    _Atomic int refs;
    const struct tok *tok;     /* borrowed: outlives every answer */
    struct gram_vocab *vocab;  /* owned */
    struct gram_pool *pool;    /* owned; of the model's engine thread */
    int32_t *silent;           /* [n_silent] ascending: ids without bytes that
                                * their type does not tell; owned */
    size_t n_silent;
    int32_t *begins;           /* [n_begins] ids that begin with a newline,
                                * first the n_breaks that are nothing else;
                                * owned */
    size_t n_begins, n_breaks;
    int32_t *ends;             /* [n_ends] ids that end an answer; owned */
    size_t n_ends;
    bool channels;             /* the format reads reasoning by elements */
    bool strips;               /* the reader drops a space before all text */
};

/* What text the id is for a reader; n = 0: none. */
struct span lexicon_piece(const struct lexicon *l, int32_t id);
void lexicon_unref(struct lexicon *l); /* NULL ok */

struct lexicons; /* of all models; opaque */

struct lexicons *lexicons_new(void);
void lexicons_free(struct lexicons *c); /* NULL ok */
/* A reference. `m` outlives `c`. ST_NOMEM, ST_LIMIT. */
enum st lexicons_get(struct lexicons *c, const struct catalog_model *m,
                     struct lexicon **out, struct err *e) MUST_CHECK;

/* Of all models together. */
struct lexicons_figures {
    struct gram_figures masks;
    size_t bytes; /* of the vocabularies */
    int64_t built_us; /* what making them took */
};
void lexicons_figures(struct lexicons *c, struct lexicons_figures *out);

#endif
