#include "config.h"
#include "gram/schema_way.h"

#include <string.h>

struct schema_map_slot {
    const void *key;
    size_t n;
    uint32_t hash, value;
};

static uint32_t hash_of(const void *key, size_t n)
{
    const unsigned char *p = key;
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 16777619u;
    return h ^ h >> 15;
}

static struct schema_map_slot *slot_of(const struct schema_map *m,
                                       const void *key, size_t n, uint32_t h)
{
    size_t i = h & (m->cap - 1);

    for (;; i = (i + 1) & (m->cap - 1)) {
        struct schema_map_slot *at = &m->slot[i];

        if (!at->key || (at->hash == h && at->n == n &&
                         !memcmp(at->key, key, n)))
            return at;
    }
}

uint32_t *schema_map_at(struct schema_read *s, struct schema_map *m,
                        const void *key, size_t n)
{
    uint32_t h = hash_of(key, n);
    struct schema_map_slot *at;

    if (m->n * 2 >= m->cap) {
        struct schema_map big = {.n = m->n, .cap = m->cap ? m->cap * 2 : 32};

        big.slot = arena_array(&s->arena, big.cap, sizeof(*big.slot));
        if (!big.slot)
            return NULL;
        for (size_t i = 0; i < m->cap; i++)
            if (m->slot[i].key)
                *slot_of(&big, m->slot[i].key, m->slot[i].n,
                         m->slot[i].hash) = m->slot[i];
        *m = big;
    }
    at = slot_of(m, key, n, h);
    if (!at->key) {
        at->key = arena_dup(&s->arena, key, n);
        if (!at->key)
            return NULL;
        at->n = n;
        at->hash = h;
        m->n++;
    }
    return &at->value;
}
