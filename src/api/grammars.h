/*
 * api/grammars.h - compiled grammars, kept for those who ask for the same
 * again (internal to api).
 *
 * A grammar is found by a digest of all that it was made of, so that neither
 * schemas nor their words stay in memory for it. GRAMMARS_MAX are kept, of
 * GRAMMARS_BYTES_MAX together; the one that was asked for longest ago goes
 * first, and lives on where an answer still needs it.
 * Threads: any. One grammar is compiled at a time: what that takes of memory
 * is needed once, and who asks for the same waits for it instead.
 */
#ifndef API_GRAMMARS_H
#define API_GRAMMARS_H

#include "gram/grammar.h"

#define GRAMMARS_MAX 16
#define GRAMMARS_BYTES_MAX ((size_t)64 << 20) /* of all that are kept */
#define GRAMMAR_KEY 32 /* bytes of a digest */

struct grammars; /* opaque */

struct grammars *grammars_new(void);
void grammars_free(struct grammars *c); /* NULL ok */

/* A reference; or NULL, then it is the caller's turn to compile, which ends
 * with grammars_end. Counts a hit or a miss. */
struct grammar *grammars_find(struct grammars *c,
                              const uint8_t key[GRAMMAR_KEY]);
/* Keeps `g` (a reference of its own); NULL: there is none to keep. */
void grammars_end(struct grammars *c, const uint8_t key[GRAMMAR_KEY],
                  struct grammar *g);

struct grammars_figures {
    uint64_t hits, misses;
    size_t kept, bytes;
};
void grammars_figures(struct grammars *c, struct grammars_figures *out);

#endif
