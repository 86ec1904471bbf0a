/*
 * gen/guide_window.h - the last THINK_WINDOW ids of a sequence, and what is
 * wrong with them (internal to gen/guide_think.c). Flat: it is copied with
 * the state that it lies in.
 */
#ifndef GEN_GUIDE_WINDOW_H
#define GEN_GUIDE_WINDOW_H

#include "gen/guide_think.h"

/* A text goes in circles when its last ids are one unit of up to UNIT_MAX
 * ids, at least UNIT_TIMES over and at least UNIT_IDS ids in all; or when,
 * looked at every LOOK_IDS ids, less than NEW_PERCENT of the groups of four
 * among the last THINK_WINDOW are different ones. */
#define UNIT_MAX 64
#define UNIT_TIMES 8
#define UNIT_IDS 128
#define LOOK_IDS 256
#define NEW_PERCENT 15

struct window {
    uint32_t n;             /* ids so far */
    uint32_t watched;       /* of them, since window_watch */
    uint32_t run[UNIT_MAX]; /* [unit - 1] ids in a row that were the same as
                             * the one a unit before them */
    int32_t ids[THINK_WINDOW]; /* ring */
};

/* Begins with the last of ids[0..n). */
void window_init(struct window *w, const int32_t *ids, size_t n);
void window_add(struct window *w, int32_t id);
/* From here on the ids are watched for circles. */
void window_watch(struct window *w);
/* The same as window_add for one that is watched: do the ids since
 * window_watch go in circles now? */
bool window_circles(struct window *w, int32_t id) MUST_CHECK;
/*
 * Clear the bits of ids that would make the last n ids some that the window
 * already has in a row, but for those that `spared` is true for. Returns
 * false, mask untouched, when there are none or when no bit would be left.
 */
bool window_forbid(const struct window *w, uint32_t n,
                   bool (*spared)(const void *arg, int32_t id),
                   const void *arg, uint32_t *mask, size_t n_vocab);

#endif
