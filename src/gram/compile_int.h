/*
 * gram/compile_int.h - between the files that compile the rules.
 *
 * compile.c builds the automaton of every rule and writes the grammar;
 * compile_levels.c finds out which rules match anything, how deep they nest
 * and what their counters can reach; paths.c looks at one rule's graph.
 */
#ifndef GRAM_COMPILE_INT_H
#define GRAM_COMPILE_INT_H

#include "gram/expr_int.h"

#define PATHS_NONE UINT32_MAX /* least: the end is not reached */
#define PATHS_RAISE 0x80000000u

/* One rule's states and the steps between them: edges and the calls that may be
 * made. Indexes are of the rule's states. */
struct paths {
    struct gxs *w;
    size_t n;
    uint32_t *at, *to;    /* [n + 1]; state and PATHS_RAISE */
    uint32_t *rat, *from; /* the same backwards */
    uint32_t *least;      /* [n] raises from here to the end, PATHS_NONE */
    uint32_t *most;       /* [n] GX_MANY: no bound; where least is a number */
    bool gap;             /* some number between least and most is not
                           * possible somewhere */
    /* Tarjan's */
    uint32_t *index, *low, *comp, *stack, *frames, *next;
    uint32_t (*spans)[2];
    size_t cap_at, cap_to, cap_rat, cap_from, cap_least, cap_most;
    size_t cap_index, cap_low, cap_comp, cap_stack, cap_frames, cap_next;
    size_t cap_spans;
};

/* May this rule be called? */
struct callable {
    const struct crule *rules; /* NULL: all may */
    uint32_t height;           /* those at most so high */
};

void paths_release(struct paths *p);
/* Fills least, most, gap. Not counted: raises are nothing, most is 0. */
bool paths_run(struct paths *p, const struct dfa *d, const struct crule *r,
               struct callable may, bool counted) MUST_CHECK;

/* A rule at work. */
struct crule {
    uint32_t def;      /* of gxs.rules */
    uint32_t first, n; /* its states; the first is the start */
    uint32_t min, max;
    bool counted;
    bool gap;         /* its counter's bounds could not be kept at the
                       * level that was looked at last */
    bool no_product;  /* and the automaton that could is too large */
    uint32_t height;  /* 0: matches nothing so far */
    uint32_t callers; /* first in compile.callers */
    uint32_t due;     /* level it is looked at, + 1 */
    uint32_t out;     /* index in the grammar, + 1; 0: not in it */
};

/* What is possible with fewer calls in one another than the newest entry in
 * a state says; compile.all.states[].levels leads to the newest. */
struct clevel {
    uint32_t height, least, most, older; /* older: index + 1 */
};

struct compile {
    struct gxs *w;
    struct dfa all;
    struct crule *rules;
    size_t n_rules, cap_rules;
    uint32_t *callers; /* by crule.callers; [n_rules + 1] ends */
    size_t cap_callers;
    uint32_t *queue, *due; /* rules */
    size_t n_due, cap_queue, cap_due;
    struct clevel *levels;
    size_t n_levels, cap_levels;
    struct paths paths;
};

/* Heights of the rules, and least, most, height and levels of their states;
 * PATHS_NONE in least: the end is not reached. */
bool compile_levels(struct compile *c) MUST_CHECK;
/* Instead of rule r: its product with its counter up to the least that it must
 * be. False, and no failure noted, when that is too large. */
bool compile_product(struct compile *c, struct crule *r) MUST_CHECK;

#endif
