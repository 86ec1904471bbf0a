/*
 * kv/tree_int.h - the inside of the prefix tree, for its own files.
 */
#ifndef KV_TREE_INT_H
#define KV_TREE_INT_H

#include "kv/tree.h"
#include "kernels/kernels.h"

/* Heaps that know where each of their nodes is. */
enum { AT_LEAF, AT_SPILL, AT_HEAPS };
#define AT_NONE SIZE_MAX

struct kv_heap {
    struct kv_node **v;
    size_t n, cap;
    int slot;  /* AT_LEAF, AT_SPILL: which of a node's `at` is ours */
    bool most; /* what is worth most on top, else what is worth least */
};

struct kv_root {
    struct kv_tree *tree;
    char *name;
    int32_t index;
    struct kv_node *top; /* no units, no page */
};

struct kv_node {
    struct kv_root *root;
    struct kv_node *parent;     /* NULL: the top */
    struct kv_node **kids;      /* [n_kids] by their units; a unit list sorts
                                 * before what continues it */
    size_t n_kids, cap_kids;
    int32_t rows;               /* from the start, its own included */
    int32_t page;
    uint64_t worth;             /* clock at its last use plus its cost */
    uint64_t used;              /* which use that was: among equals, the one
                                 * that was not used for longest goes */
    uint64_t stamp;             /* that clock */
    size_t at[AT_HEAPS];        /* place in the heap, AT_NONE: in none */
    bool on_disk;
    void *state;                /* NULL: none; linked by use when there */
    size_t state_bytes;
    struct kv_node *newer, *older;
    int32_t n;                  /* units: KV_PAGE, less only in a leaf */
    int32_t units[];
};

struct kv_images {
    uint8_t (*digest)[32]; /* [n]; unit -1 is the first */
    size_t n, cap;
    int32_t *slots;        /* [n_slots] index + 1, 0: empty; a power of two */
    size_t n_slots;
};

struct kv_tree {
    struct kv_tree_config c;
    struct kv_root **roots;
    int32_t n_roots;
    struct kv_images images;
    struct kv_heap leaves[2];   /* [on_disk] */
    struct kv_heap spill;       /* full pages that were not offered */
    struct kv_node **aside;     /* [cap_nodes] leaves that eviction skips */
    size_t n_nodes, cap_nodes;  /* the heaps have room for cap_nodes */
    uint64_t clock, uses;
    struct kv_node *newest, *oldest; /* nodes with a state, by use */
    struct kv_tree_stats stats;
};

bool kv_heap_room(struct kv_heap *h, size_t n) MUST_CHECK;
void kv_heap_push(struct kv_heap *h, struct kv_node *n);
void kv_heap_remove(struct kv_heap *h, struct kv_node *n);
void kv_heap_fix(struct kv_heap *h, struct kv_node *n); /* its worth moved */

/* --- tree.c --- */
/* Take a leaf out of the tree, with its state and the tree's reference. */
void kv_node_drop(struct kv_node *n);

/* --- tree_evict.c --- */
bool kv_worth_room(struct kv_tree *t) MUST_CHECK; /* for one node more */
void kv_node_touch(struct kv_node *n);   /* used now; in no heap is fine */
void kv_node_leaf(struct kv_node *n);    /* it is one from now on */
void kv_node_inner(struct kv_node *n);   /* it is none any more */
void kv_node_unlist(struct kv_node *n);  /* out of all heaps and lists */
void kv_state_use(struct kv_node *n);    /* its state was used now */
void kv_state_drop(struct kv_node *n);

void kv_images_release(struct kv_images *im);

#endif
