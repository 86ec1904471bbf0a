/*
 * gram/machine.h - where a text is in its grammar.
 *
 * A place is a few stacks: each holds the calls that are open, the innermost
 * last, with the state and counter of each. Several, where the text so far
 * can be read in several ways. It is a flat block that can be copied, so that
 * choices fork it and speculation rolls it back.
 *
 * Bounds: GRAM_DEPTH_MAX calls in one another (a call whose smallest text
 * needs more is not made, so a text can always be finished), GRAM_WAYS_MAX
 * ways and GRAM_FRAMES_MAX frames together. Ways beyond those, the later ones
 * in the order of the grammar, are given up: what is then written still
 * matches. All of this is a function of grammar and text alone.
 * Threads: immutable grammar, one thread per place.
 */
#ifndef GRAM_MACHINE_H
#define GRAM_MACHINE_H

#include "gram/grammar.h"

#define GRAM_WAYS_MAX 32
#define GRAM_FRAMES_MAX 480

struct gram_frame {
    uint32_t state;  /* innermost: where it is; others: where it goes on */
    uint32_t count;  /* of its rule */
};

struct gram_place {
    uint16_t n_ways;                   /* 0: dead */
    uint16_t depth[GRAM_WAYS_MAX];     /* frames of each way, in a row */
    uint16_t space[GRAM_WAYS_MAX];     /* columns of white space just before */
    uint16_t n_frames;
    struct gram_frame frames[GRAM_FRAMES_MAX];
};

void gram_begin(const struct grammar *g, struct gram_place *p);
/* The next symbols. False: the text does not go on like that; p is dead. */
bool gram_bytes(const struct grammar *g, struct gram_place *p, const char *s,
                size_t n) MUST_CHECK;
bool gram_mark(const struct grammar *g, struct gram_place *p, int k)
    MUST_CHECK;
/* May the text end here? */
bool gram_ends(const struct grammar *g, const struct gram_place *p);
/* The symbols that may come next, one bit each. */
void gram_next(const struct grammar *g, const struct gram_place *p,
               uint64_t next[(GRAM_SYMBOLS + 63) / 64]);
/* The text is complete: it may end, and only white space between tokens could
 * follow (or nothing). */
bool gram_done(const struct grammar *g, const struct gram_place *p);
/* Bytes that must come, in order, because nothing else may: fills s[0..cap),
 * returns how many; stops before a mark, and where the text may end. */
size_t gram_must(const struct grammar *g, const struct gram_place *p, char *s,
                 size_t cap);

#endif
