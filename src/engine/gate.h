/*
 * engine/gate.h - the memory gate: may a request start?
 *
 * Between requests the gate brings holdings under the ceiling. Before one
 * starts it adds the bytes that the request will hold; when those pass the
 * peak, levels give back, cheapest to rebuild first:
 *
 *   1 free     pages that nobody uses, above the slack
 *   2 images   encoded pictures
 *   3 masks    memoised masks and answers
 *   4 states   snapshots of recurrent layers that are on no disk, oldest use
 *              first
 *   5 disk     pages of the prefix tree that are on disk: one read
 *   6 pages    other pages of the tree: computed again
 *   7 free     everything that level 1 left
 *
 * (spec tandem.md 5.2.) When nothing is enough it waits for those who run;
 * when nobody runs, it refuses with the figures.
 * Engine thread only.
 */
#ifndef ENGINE_GATE_H
#define ENGINE_GATE_H

#include "gen/memory.h"

#define GATE_LEVELS_MAX 8

struct gate_level {
    const char *name;
    /* Give back about `bytes` and set the accounts; returns how many really
     * went. The gate goes by the accounts. */
    size_t (*give)(void *arg, size_t bytes);
    uint64_t given; /* bytes so far: what the level said */
};

struct gate {
    struct memory *memory; /* borrowed */
    struct gate_level level[GATE_LEVELS_MAX];
    int n_levels;
    void *arg;             /* of every give */
    uint64_t waits, refusals;
};

enum gate_answer { GATE_OK, GATE_WAIT, GATE_REFUSED };

/* Under the ceiling: what a safe point calls when somebody left. */
void gate_settle(struct gate *g);
/* Somebody outside wants so much and was refused: make room, if what caches
 * hold can be enough. */
void gate_room(struct gate *g, size_t need);
/* need: bytes that the request will hold beyond what is held now. others:
 * somebody runs, so that waiting helps. GATE_REFUSED fills e (ST_NOMEM, with
 * allocated and reserved figures). */
enum gate_answer gate_ask(struct gate *g, size_t need, bool others,
                          struct err *e);

#endif
