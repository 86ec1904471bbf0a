/*
 * gram/grammar.h - a compiled grammar: automata over bytes and marks, one per
 * rule.
 *
 * Every state can reach the end of its rule, and every rule matches something:
 * a text that can be written so far can be finished. Within a rule the bytes
 * are deterministic; only calls are alternatives. Immutable, counted; any
 * thread may read it.
 */
#ifndef GRAM_GRAMMAR_H
#define GRAM_GRAMMAR_H

#include "gram/expr.h"
#include <stdatomic.h>

#define GRAM_STATES_MAX 262144 /* of one grammar */
#define GRAM_BYTES_MAX (24u << 20)
#define GRAM_SPACE_MAX 100     /* white space in a row between JSON tokens, in
                                * columns */
#define GRAM_SPACE_LINE 20     /* columns that a line break takes */
#define GRAM_DEPTH_MAX 96      /* calls in one another; JSON nests less deep */
#define GRAM_SYMBOLS (256 + GX_MARKS)

/* Where an edge or a call leads: a state and flags. */
#define GRAM_COUNTS 0x80000000u /* raises the rule's counter */
#define GRAM_SPACE 0x40000000u  /* white space between tokens */
#define GRAM_STATE 0x3fffffffu

/* Columns of one character of white space: a model in love with line breaks
 * comes to its point soon, and text may be indented as deep as people do. */
static inline unsigned gram_columns(unsigned symbol)
{
    return symbol == '\n' || symbol == '\r' ? GRAM_SPACE_LINE : 1;
}

struct gram_edge {
    uint16_t lo, hi; /* symbols; the edges of a state are ascending and do
                      * not overlap */
    uint32_t to;     /* state and flags */
};

struct gram_call {
    uint32_t rule;
    uint32_t to;     /* the state behind it; GRAM_COUNTS */
};

struct gram_state {
    uint32_t edges, calls;   /* first of each, in the tables */
    uint16_t n_edges, n_calls;
    uint32_t rule;
    bool accept;             /* the rule may end here (if its counter may) */
    uint8_t n_levels;
    /* Calls in one another (0: none) that least and most take. */
    uint16_t height;
    /* How often the counter may be raised from here to the end; where the
     * rule has both bounds, all numbers from least to most are possible. 0, 0
     * without a counter. */
    uint32_t least, most;    /* most GX_MANY: no bound */
    uint32_t levels;         /* first of n_levels in the table: what is still
                              * possible with fewer calls */
};

struct gram_level {          /* heights ascend, all below the state's */
    uint32_t height, least, most;
};

struct gram_rule {
    uint32_t start;
    bool counted;
    uint32_t min, max;       /* of the counter; max GX_MANY: none */
    uint32_t least_max, most_max; /* largest finite least and most of its
                              * states */
    uint32_t height;         /* calls in one another that its smallest text
                              * needs, this one included: >= 1 */
    uint64_t first[(GRAM_SYMBOLS + 63) / 64]; /* symbols it may begin with */
};

struct grammar {
    struct gram_state *states; /* [n_states] */
    struct gram_edge *edges;   /* [n_edges] */
    struct gram_call *calls;   /* [n_calls] */
    struct gram_rule *rules;   /* [n_rules] */
    struct gram_level *levels; /* [n_levels] */
    size_t n_states, n_edges, n_calls, n_rules, n_levels;
    uint32_t root;
    bool empty;                /* the empty text matches */
    uint64_t id;               /* of this process, never used twice */
    size_t bytes;              /* what it occupies */
    _Atomic int refs;
};

struct grammar *gram_ref(struct grammar *g);
void gram_unref(struct grammar *g); /* NULL ok */

/*
 * May a rule be in `state` with its counter at `count`, where `room` more
 * calls may be open in one another? Then its end can be reached within the
 * bounds of its counter and that room, and one of the ways on (to accept, an
 * edge, a call whose rule's height is at most `room`) fits again.
 */
bool gram_fits(const struct grammar *g, uint32_t state, uint32_t count,
               uint32_t room);

#endif
