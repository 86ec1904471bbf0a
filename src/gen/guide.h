/*
 * gen/guide.h - what may or must come next in one sequence.
 *
 * A guide is immutable and shared; its state is a plain block of bytes that
 * lives in the sequence. Because the state can be copied, n choices fork it
 * and speculation rolls it back without asking the guide. Grammar, thinking
 * budget, forced text and pattern guards are guides, so the engine knows
 * neither grammars nor text.
 *
 * Threads: the engine thread calls everything after submit.
 */
#ifndef GEN_GUIDE_H
#define GEN_GUIDE_H

#include "base/mem.h"

enum guide_next {
    GUIDE_GO,   /* keep generating */
    GUIDE_STOP, /* the sequence is complete: end with END_STOP */
};

enum think_closed { /* who ended the reasoning */
    THINK_NOT_CLOSED, /* it is open, or there was none */
    CLOSED_BY_MODEL,
    CLOSED_BY_BUDGET,
    CLOSED_BY_STALL,
};

#define GUIDE_LOOP_IDS 8

/* What guides did, for people: END carries it (gen/ring.h). */
struct guide_note {
    enum think_closed closed;
    int32_t loop_size, loop_count; /* the pattern guard ended the text: so
                                    * many ids so often; 0: it did not */
    int32_t loop_ids[GUIDE_LOOP_IDS]; /* the first of them, loop_size or 8 */
};

struct guide;
struct guide_ops {
    size_t (*state_bytes)(const struct guide *g);
    void (*init)(const struct guide *g, void *state);
    /*
     * Narrow the choice: clear the bits of `mask` (one per id, n_vocab bits;
     * those that are clear already stay so) that may not come next. Returns
     * false, mask untouched, when anything may. NULL: always.
     */
    bool (*allowed)(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab);
    /* Ids that must come next, in order: fills ids[0..cap), returns how many;
     * 0 when the model chooses. NULL: always. */
    size_t (*forced)(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap);
    /* An id was committed. */
    enum guide_next (*accept)(const struct guide *g, void *state, int32_t id);
    /* Fill in what it did; the rest of `out` belongs to others. NULL: has
     * nothing to say. */
    void (*note)(const struct guide *g, const void *state,
                 struct guide_note *out);
    void (*free)(struct guide *g);
};

struct guide {
    const struct guide_ops *ops;
};

/* Every call accepts a NULL guide, which allows everything. */
size_t guide_state_bytes(const struct guide *g);
void guide_init(const struct guide *g, void *state);
bool guide_allowed(const struct guide *g, const void *state, uint32_t *mask,
                   size_t n_vocab);
size_t guide_forced(const struct guide *g, const void *state, int32_t *ids,
                    size_t cap);
enum guide_next guide_accept(const struct guide *g, void *state, int32_t id);
void guide_note(const struct guide *g, const void *state,
                struct guide_note *out);
/* dst becomes an independent copy of src. */
void guide_fork(const struct guide *g, void *dst, const void *src);
/* state goes back to `saved`, an earlier copy. */
void guide_rollback(const struct guide *g, void *state, const void *saved);
void guide_free(struct guide *g);

/* --- two of them -------------------------------------------------------- */

/*
 * Pattern guard: stop when the last size*count ids are one block of `size`
 * ids repeated `count` times, for any size in [min, max].
 * max 1-256, 1 <= min <= max, count 2-64 (ST_INVALID otherwise).
 */
enum st guide_pattern_new(struct guide **out, int max, int min, int count,
                          struct err *e) MUST_CHECK;
/* Both at once (takes ownership of both; either may be NULL). What `a` forces
 * goes before what `b` forces, and `a` narrows what `b` has left, so that one
 * which never forbids everything comes first. Aborts when out of memory. */
struct guide *guide_both(struct guide *a, struct guide *b);

#endif
