/*
 * gen/catalog.h - a model name and everything it stands for.
 *
 * Filled once by main before the threads start, read-only afterwards. The
 * tokenizer and the chat format are borrowed pointers to types of lower
 * layers; gen itself never looks inside them (the engine builds without).
 */
#ifndef GEN_CATALOG_H
#define GEN_CATALOG_H

#include "gen/gen.h"

struct tok;    /* text/tok.h */
struct format; /* chat/format.h */

#define CATALOG_ID_MAX 128 /* bytes of a model's id */

struct catalog_model {
    char *id;                   /* the name clients use, UTF-8; owned */
    struct gen *gen;            /* borrowed */
    const struct tok *tok;      /* borrowed; NULL for a remote backend */
    const struct format *format;/* borrowed; NULL: no chat, see no_chat */
    char *no_chat;              /* why there is no chat format; owned */
    int32_t *stop_ids;          /* end-of-generation ids, of the vocabulary
                                 * and of the chat format; owned */
    size_t n_stop;
    int64_t created;            /* epoch seconds, for /v1/models */
    int32_t context;            /* positions */
    const char *architecture;   /* general.architecture; borrowed, display */
    const char *weights;        /* most common tensor type; borrowed, display */
    uint64_t parameters;        /* weights counted, display */
};

struct catalog {
    struct catalog_model *models; /* models[0] is the default */
    size_t n;
};

/* NULL or empty name: the default model. NULL when it is not served. */
const struct catalog_model *catalog_find(const struct catalog *c,
                                         const char *name, size_t n);
void catalog_release(struct catalog *c);

#endif
