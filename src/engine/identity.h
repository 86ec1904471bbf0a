/*
 * engine/identity.h - what a row of keys and values depends on besides the
 * ids before it, in words.
 */
#ifndef ENGINE_IDENTITY_H
#define ENGINE_IDENTITY_H

#include "engine/model.h"

#define IDENTITY_PRINT 16
#define IDENTITY_WORDS 96

/* "fp_" and 10 hexadecimal digits: model file, kernel set, type of keys and
 * values, version. */
void identity_print(char out[IDENTITY_PRINT], const struct gguf *g,
                    const struct model *m);
/* The same and an adapter, spelled out, for the roots of the prefix tree and
 * for keys on disk. `weights`: a look at each tensor too, since files that
 * differ in nothing else may meet on a disk. */
void identity_words(char out[IDENTITY_WORDS], const struct gguf *g,
                    const struct model *m, bool weights);

#endif
