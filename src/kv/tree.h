/*
 * kv/tree.h - which rows are in KV pages already: a radix tree over units,
 * one node a page.
 *
 * A unit is a token id (0 and up), or a picture's position (below 0,
 * kv_tree_image). Units are compared one by one, never by a digest. A root
 * stands for everything else that rows depend on: model, adapter, kernel set,
 * type of the cache.
 *
 * A node is one page of KV_PAGE rows, or the partly filled last page of what
 * was inserted (a leaf). The tree has one reference to each of its pages; a
 * sequence that uses one has its own, so evicting a node never takes rows
 * away from anybody. Rows are the same whoever computed them (kernels.h), so
 * sharing changes no text.
 *
 * States: recurrent layers keep a snapshot at some page boundaries. A model
 * that needs one can only continue at such a boundary.
 *
 * Eviction: leaves first, by cost to rebuild, aged (greedy dual: a node's
 * worth is the clock when it was last used plus its cost; the clock is the
 * worth of what went last). Cost: rows to compute again, deeper ones more;
 * little for a page that is on disk.
 *
 * Engine thread only; nothing locks, nothing here reads a clock.
 */
#ifndef KV_TREE_H
#define KV_TREE_H

#include "kv/pages.h"

struct kv_tree; /* opaque */
struct kv_node; /* opaque; valid until the next call that may evict */

struct kv_tree_config {
    struct kv_pages *pages;  /* borrowed */
    bool need_state;         /* matches end at a node with a state */
    void (*drop_state)(void *arg, void *state); /* a state leaves the tree */
    void *arg;
};

/* NULL when out of memory. */
struct kv_tree *kv_tree_new(const struct kv_tree_config *c) MUST_CHECK;
void kv_tree_free(struct kv_tree *t); /* NULL ok; gives its pages back */

/* The root of this name (made at its first use), -1 when out of memory. */
int32_t kv_tree_root(struct kv_tree *t, const char *name) MUST_CHECK;

/* The unit of pictures with this content digest: the same for the same
 * digest, always below 0; 0 when out of memory. All positions of a picture
 * have its unit. */
int32_t kv_tree_image(struct kv_tree *t, const uint8_t digest[32]) MUST_CHECK;
/* The digest of a unit below 0; NULL for one that nobody made. */
const uint8_t *kv_tree_digest(const struct kv_tree *t, int32_t unit);

struct kv_match {
    int32_t rows;     /* of the units, 0 and up */
    int32_t pages;    /* full pages: rows / KV_PAGE */
    int32_t tail;     /* a page that holds the other rows % KV_PAGE of them,
                       * to be copied before it is written to; -1: none */
    void *state;      /* need_state: borrowed until the next call */
};

/*
 * The longest known prefix of units[0..n). Writes the full pages to pages[],
 * which has room for n / KV_PAGE; each of them, and the tail, has one more
 * reference, the caller's. Marks what it found as used.
 */
void kv_tree_match(struct kv_tree *t, int32_t root, const int32_t *units,
                   int32_t n, struct kv_match *m, int32_t *pages);
/* How many rows a match would find; changes nothing. */
int32_t kv_tree_look(const struct kv_tree *t, int32_t root,
                     const int32_t *units, int32_t n);

/*
 * These rows exist: pages[i] holds units i * KV_PAGE and on. What the tree
 * does not have it takes a reference to; where it has the page already, the
 * caller's stays the caller's alone. A last page with n % KV_PAGE rows is
 * taken too (not with need_state: nobody could continue in it): its owner
 * writes to it no more. Without memory less is known afterwards, never
 * something wrong.
 */
void kv_tree_insert(struct kv_tree *t, int32_t root, const int32_t *units,
                    int32_t n, const int32_t *pages);

/* A state behind n units (n % KV_PAGE == 0, n > 0, all known): the tree owns
 * it from now on, also when it has one there already (the new one is
 * dropped). False, and not owned: the units are not known, or no memory. */
bool kv_tree_put_state(struct kv_tree *t, int32_t root, const int32_t *units,
                       int32_t n, void *state, size_t bytes) MUST_CHECK;

/* Evict until `pages` pages came free or nothing is left that would free
 * one. Returns how many came free. */
size_t kv_tree_evict(struct kv_tree *t, size_t pages);
/* The same, only pages that are on disk: one read brings them back. */
size_t kv_tree_evict_disk(struct kv_tree *t, size_t pages);
/* The same for bytes of states, oldest use first. */
size_t kv_tree_evict_states(struct kv_tree *t, size_t bytes);
/* Everything that no sequence uses. */
void kv_tree_clear(struct kv_tree *t);

/* --- what goes to disk --------------------------------------------------- */
/* The full page that was not offered yet and is worth most, NULL: none. It
 * counts as offered afterwards. */
struct kv_node *kv_tree_next_spill(struct kv_tree *t);
/* It was not taken: offer it again. */
void kv_node_spill_again(struct kv_node *n);
/* Only the first `have` of these n units are on disk: the full pages behind
 * them are offered again. n % KV_PAGE == 0. */
void kv_tree_spill_behind(struct kv_tree *t, int32_t root,
                          const int32_t *units, int32_t n, int32_t have);
/* What was taken may be gone: no page is on disk, all are offered again. One
 * pass over all nodes. */
void kv_tree_spill_again(struct kv_tree *t);
int32_t kv_node_root(const struct kv_node *n);
int32_t kv_node_page(const struct kv_node *n);
int32_t kv_node_rows(const struct kv_node *n);  /* from the start, its own
                                                 * page included */
/* All units from the start; out has kv_node_rows. */
void kv_node_units(const struct kv_node *n, int32_t *out);
/* It is on disk (or not any more). Only eviction asks. What is there counts
 * as offered. */
void kv_node_on_disk(struct kv_node *n, bool yes);
/* The node of these full pages, NULL: not known. */
struct kv_node *kv_tree_find(struct kv_tree *t, int32_t root,
                             const int32_t *units, int32_t n);

struct kv_tree_stats {
    size_t nodes, pages, shared;    /* shared: pages that a sequence uses too */
    size_t on_disk;                 /* of the nodes */
    size_t states, state_bytes;
    uint64_t hits, misses;          /* matches of at least one row, others */
    uint64_t rows_hit, rows_asked;
    uint64_t inserted, evicted;     /* nodes */
};
void kv_tree_stats(const struct kv_tree *t, struct kv_tree_stats *out);

#endif
