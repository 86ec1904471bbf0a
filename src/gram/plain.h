/*
 * gram/plain.h - may any plain text go on at a state? (internal to gram)
 */
#ifndef GRAM_PLAIN_H
#define GRAM_PLAIN_H

#include "gram/grammar.h"

enum plain_kind {
    PLAIN_NO,      /* some plain text may not */
    PLAIN_FREE,    /* all may, and no counter is raised */
    PLAIN_COUNTED, /* all may; each character raises the counter */
};

struct plain {
    enum plain_kind kind;
    bool alone; /* and nothing of it could be read in another way */
};

/* Plain: as in gram/vocab.h. Looks at some hundred states at most, and says
 * PLAIN_NO where that does not do. */
struct plain plain_of(const struct grammar *g, uint32_t state);

#endif
