#include "kv/tree_int.h"

#include "base/mem.h"

static bool before(const struct kv_heap *h, const struct kv_node *a,
                   const struct kv_node *b)
{
    bool less = a->worth != b->worth ? a->worth < b->worth
                                     : a->used < b->used;

    if (a->worth == b->worth && a->used == b->used)
        return false;
    return h->most ? !less : less;
}

static void put(struct kv_heap *h, size_t i, struct kv_node *n)
{
    h->v[i] = n;
    n->at[h->slot] = i;
}

static void up(struct kv_heap *h, size_t i)
{
    struct kv_node *n = h->v[i];

    while (i && before(h, n, h->v[(i - 1) / 2])) {
        put(h, i, h->v[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(h, i, n);
}

static void down(struct kv_heap *h, size_t i)
{
    struct kv_node *n = h->v[i];

    for (;;) {
        size_t k = 2 * i + 1;

        if (k + 1 < h->n && before(h, h->v[k + 1], h->v[k]))
            k++;
        if (k >= h->n || !before(h, h->v[k], n))
            break;
        put(h, i, h->v[k]);
        i = k;
    }
    put(h, i, n);
}

bool kv_heap_room(struct kv_heap *h, size_t n)
{
    struct kv_node **v;
    size_t bytes;

    if (n <= h->cap)
        return true;
    if (!mem_mul(&bytes, n, sizeof(*v)))
        return false;
    v = realloc(h->v, bytes);
    if (!v)
        return false;
    h->v = v;
    h->cap = n;
    return true;
}

void kv_heap_push(struct kv_heap *h, struct kv_node *n)
{
    BUG_ON(h->n == h->cap || n->at[h->slot] != AT_NONE);
    h->v[h->n] = n;
    up(h, h->n++);
}

void kv_heap_fix(struct kv_heap *h, struct kv_node *n)
{
    up(h, n->at[h->slot]);
    down(h, n->at[h->slot]);
}

void kv_heap_remove(struct kv_heap *h, struct kv_node *n)
{
    size_t i = n->at[h->slot];
    struct kv_node *last = h->v[h->n - 1];

    BUG_ON(i >= h->n || h->v[i] != n);
    h->n--;
    n->at[h->slot] = AT_NONE;
    if (last == n)
        return;
    put(h, i, last);
    kv_heap_fix(h, last);
}
