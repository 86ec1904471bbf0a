/*
 * gram/rows.h - states of a grammar as tables by byte (internal to gram).
 */
#ifndef GRAM_ROWS_H
#define GRAM_ROWS_H

#include "gram/grammar.h"

#define ROWS 1024 /* tables that are kept; a power of two */

/* In a row, beside the flags of gram_edge. */
#define ROW_DEAD UINT32_MAX
#define ROW_CARE 0x20000000u /* more to ask than whether there is an edge */
_Static_assert(GRAM_STATES_MAX < ROW_CARE, "states and flags share a word");

/* Calls in one another up to which an edge without ROW_CARE has nothing to ask:
 * what it leads to fits. */
#define ROW_SHALLOW (GRAM_DEPTH_MAX / 2)

/* Where each byte leads at one state, when it stays in its rule. */
struct row {
    uint32_t state;     /* UINT32_MAX: no table here */
    bool accept;        /* it may also end */
    bool calls;         /* there are some: `leaves` */
    uint64_t leaves[4]; /* bytes that a call may begin with */
    uint32_t to[256];   /* as in gram_edge; ROW_DEAD: nowhere */
};

struct rows {
    struct row *p;           /* [ROWS] owned */
    const struct grammar *g; /* whose they are, while a mask is made */
    uint64_t id;
};

bool rows_init(struct rows *r) MUST_CHECK; /* false: no memory */
void rows_release(struct rows *r);
/* They are for g from now on. */
void rows_for(struct rows *r, const struct grammar *g);
void row_make(struct row *row, const struct grammar *g, uint32_t state);

/* Good until the next call: states share places. */
static inline const struct row *row_of(struct rows *r, uint32_t state)
{
    struct row *row = &r->p[state % ROWS];

    if (row->state != state)
        row_make(row, r->g, state);
    return row;
}

#endif
