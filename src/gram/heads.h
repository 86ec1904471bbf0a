/*
 * gram/heads.h - the ways behind each byte of a branch, stepped together
 * (internal to gram).
 */
#ifndef GRAM_HEADS_H
#define GRAM_HEADS_H

#include "gram/rows.h"
#include "gram/walk.h"

#define HEADS_SEEN 512

/*
 * What is left behind so many bytes of the branch. Ways that are at one place
 * of a rule, with other calls open around it, go on alike while they stay in
 * it: one head goes for all of them. Its depth is the largest of theirs.
 */
struct level {
    struct walk_way one; /* the head when there is one; n == 1: the way */
    uint32_t n_heads, n;
    size_t first;        /* n > 1: in `ways`; each says which head it has, and
                          * what is open around that */
    size_t heads;        /* n_heads > 1: in `ways` too; DEAD ones are left */
    size_t top;          /* of `ways`, what is in use */
    size_t n_nodes;
};

struct heads {
    struct walk walk;
    struct walk_way out[GRAM_WAYS_MAX];
    struct walk_node *nodes;         /* [cap_nodes] owned */
    struct walk_way *ways;           /* [cap_ways] owned */
    size_t cap_nodes, cap_ways;
    struct rows rows;
    uint32_t seen[HEADS_SEEN], look; /* step_heads: hashes of where they are */
    uint16_t twin[GRAM_FRAMES_MAX];  /* frames whose counters went as one */
};

bool heads_init(struct heads *hs) MUST_CHECK; /* false: no memory */
void heads_release(struct heads *hs);
/* *begin: the ways of a place; range [p->n_frames] begins too. False: no
 * memory. */
bool heads_begin(struct heads *hs, const struct grammar *g,
                 const struct gram_place *p, struct walk_range *range,
                 struct level *begin) MUST_CHECK;
/* One symbol further; next->n 0: nowhere. What lies behind at->top is lost.
 * False: no memory. */
bool heads_step(struct heads *hs, const struct level *at, unsigned symbol,
                struct level *next) MUST_CHECK;
/* When all is asked: what was asked of one counter goes for its twins too. */
void heads_end(struct heads *hs, struct walk_range *range, size_t n);

/* [at->n_heads] */
static inline const struct walk_way *heads_of(const struct heads *hs,
                                              const struct level *at)
{
    return at->n_heads == 1 ? &at->one : &hs->ways[at->heads];
}

/* Can the ways of the only head, at that row, only stay in their rule? */
static inline bool heads_stay(const struct row *row, const struct level *at)
{
    return !row->calls &&
           (!row->accept || (at->n == 1 && at->one.up == WALK_NONE));
}

#endif
