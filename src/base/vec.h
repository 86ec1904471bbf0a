/*
 * base/vec.h - token id lists: the one growable array that crosses layers.
 * Growth is bounded by `max` ids; a failed append sticks, as in struct buf.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/mem.h"

struct ids {
    int32_t *p;
    size_t n, cap, max;
    bool failed;
};

static inline void ids_init(struct ids *v, size_t max)
{
    *v = (struct ids){.max = max};
}

static inline void ids_release(struct ids *v)
{
    free(v->p);
    ids_init(v, v->max);
}

static inline void ids_add(struct ids *v, int32_t id)
{
    if (v->failed)
        return;
    if (v->n == v->max) {
        v->failed = true;
        return;
    }
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 64, bytes;
        int32_t *p = mem_mul(&bytes, cap, sizeof(*p)) ? realloc(v->p, bytes)
                                                      : NULL;

        if (!p) {
            v->failed = true;
            return;
        }
        v->p = p;
        v->cap = cap;
    }
    v->p[v->n++] = id;
}

#endif
