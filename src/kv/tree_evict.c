#include "kv/tree_int.h"

#include "base/mem.h"

/* Attention over this many rows costs about what the rest of a row costs. */
#define ATTEND_ROWS 4096
/* A page read from disk against one that is computed. */
#define DISK_SHARE 64

static uint64_t cost(const struct kv_node *n)
{
    uint64_t c = (uint64_t)n->n * (uint64_t)(ATTEND_ROWS + n->rows);

    return n->on_disk ? c / DISK_SHARE : c;
}

static struct kv_heap *leaves_of(struct kv_node *n)
{
    return &n->root->tree->leaves[n->on_disk];
}

bool kv_worth_room(struct kv_tree *t)
{
    size_t cap = t->cap_nodes ? t->cap_nodes * 2 : 64;
    struct kv_node **aside;
    size_t bytes;

    if (t->n_nodes < t->cap_nodes)
        return true;
    if (!mem_mul(&bytes, cap, sizeof(*aside)) ||
        !kv_heap_room(&t->leaves[0], cap) ||
        !kv_heap_room(&t->leaves[1], cap) || !kv_heap_room(&t->spill, cap))
        return false;
    aside = realloc(t->aside, bytes);
    if (!aside)
        return false;
    t->aside = aside;
    t->cap_nodes = cap;
    return true;
}

static void weigh(struct kv_node *n)
{
    n->worth = n->stamp + cost(n);
    if (n->at[AT_LEAF] != AT_NONE)
        kv_heap_fix(leaves_of(n), n);
    if (n->at[AT_SPILL] != AT_NONE)
        kv_heap_fix(&n->root->tree->spill, n);
}

void kv_node_touch(struct kv_node *n)
{
    struct kv_tree *t = n->root->tree;

    n->stamp = t->clock;
    n->used = t->uses;
    weigh(n);
}

void kv_node_leaf(struct kv_node *n)
{
    kv_heap_push(leaves_of(n), n);
}

void kv_node_inner(struct kv_node *n)
{
    if (n->at[AT_LEAF] != AT_NONE)
        kv_heap_remove(leaves_of(n), n);
}

void kv_node_unlist(struct kv_node *n)
{
    kv_node_inner(n);
    if (n->at[AT_SPILL] != AT_NONE)
        kv_heap_remove(&n->root->tree->spill, n);
    kv_state_drop(n);
}

/* --- states, by use ------------------------------------------------------ */
static void unlink_state(struct kv_tree *t, struct kv_node *n)
{
    if (n->newer)
        n->newer->older = n->older;
    else if (t->newest == n)
        t->newest = n->older;
    if (n->older)
        n->older->newer = n->newer;
    else if (t->oldest == n)
        t->oldest = n->newer;
    n->newer = n->older = NULL;
}

void kv_state_use(struct kv_node *n)
{
    struct kv_tree *t = n->root->tree;

    unlink_state(t, n);
    n->older = t->newest;
    if (t->newest)
        t->newest->newer = n;
    else
        t->oldest = n;
    t->newest = n;
}

void kv_state_drop(struct kv_node *n)
{
    struct kv_tree *t = n->root->tree;

    if (!n->state)
        return;
    unlink_state(t, n);
    t->stats.states--;
    t->stats.state_bytes -= n->state_bytes;
    if (t->c.drop_state)
        t->c.drop_state(t->c.arg, n->state);
    n->state = NULL;
    n->state_bytes = 0;
}

size_t kv_tree_evict_states(struct kv_tree *t, size_t bytes)
{
    size_t freed = 0;

    while (t->oldest && freed < bytes) {
        freed += t->oldest->state_bytes;
        kv_state_drop(t->oldest);
    }
    return freed;
}

/* --- pages --------------------------------------------------------------- */
static struct kv_node *cheapest(struct kv_tree *t, bool only_disk)
{
    struct kv_heap *memory = &t->leaves[0], *disk = &t->leaves[1];

    if (only_disk || !memory->n)
        return disk->n ? disk->v[0] : NULL;
    if (!disk->n || memory->v[0]->worth < disk->v[0]->worth)
        return memory->v[0];
    return disk->v[0];
}

static bool used(const struct kv_tree *t, const struct kv_node *n)
{
    return kv_pages_refs(t->c.pages, n->page) > 1;
}

/*
 * Every leaf is in use, and some page behind them is not: its rows are
 * there a second time, as a sequence's own. Forget such leaves; who uses
 * them keeps them.
 */
static bool unblock(struct kv_tree *t, size_t *n_aside)
{
    size_t keep = 0, was = *n_aside;

    for (size_t i = 0; i < was; i++) {
        struct kv_node *n = t->aside[i], *p = n->parent;

        while (p->parent && used(t, p))
            p = p->parent;
        if (p->parent)
            kv_node_drop(n);
        else
            t->aside[keep++] = n;
    }
    *n_aside = keep;
    return keep < was;
}

static size_t evict(struct kv_tree *t, size_t pages, bool only_disk)
{
    size_t freed = 0, n_aside = 0;

    while (freed < pages && kv_pages_idle(t->c.pages)) {
        struct kv_node *n = cheapest(t, only_disk);

        if (!n) {
            if (only_disk || !unblock(t, &n_aside))
                break;
        } else if (used(t, n)) {
            kv_node_inner(n);
            t->aside[n_aside++] = n;
        } else {
            if (n->worth > t->clock)
                t->clock = n->worth;
            t->stats.evicted++;
            kv_node_drop(n);
            freed++;
        }
    }
    while (n_aside)
        kv_node_leaf(t->aside[--n_aside]);
    return freed;
}

size_t kv_tree_evict(struct kv_tree *t, size_t pages)
{
    return evict(t, pages, false);
}

size_t kv_tree_evict_disk(struct kv_tree *t, size_t pages)
{
    return evict(t, pages, true);
}

void kv_tree_clear(struct kv_tree *t)
{
    kv_tree_evict_states(t, SIZE_MAX);
    kv_tree_evict(t, SIZE_MAX);
}

/* --- what goes to disk --------------------------------------------------- */
static void offered(struct kv_node *n)
{
    if (n->at[AT_SPILL] != AT_NONE)
        kv_heap_remove(&n->root->tree->spill, n);
}

struct kv_node *kv_tree_next_spill(struct kv_tree *t)
{
    struct kv_node *n = t->spill.n ? t->spill.v[0] : NULL;

    if (n)
        offered(n);
    return n;
}

void kv_node_spill_again(struct kv_node *n)
{
    if (n->at[AT_SPILL] == AT_NONE)
        kv_heap_push(&n->root->tree->spill, n);
}

void kv_node_on_disk(struct kv_node *n, bool yes)
{
    struct kv_tree *t = n->root->tree;
    bool leaf = n->at[AT_LEAF] != AT_NONE;

    if (yes)
        offered(n);
    if (n->on_disk == yes)
        return;
    kv_node_inner(n);
    n->on_disk = yes;
    weigh(n);
    if (leaf)
        kv_node_leaf(n);
    if (yes)
        t->stats.on_disk++;
    else
        t->stats.on_disk--;
}
