#include "gram/expr_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE ((size_t)1 << 20)

void gxs_crowded(struct gxs *w)
{
    if (!w->err.st)
        w->crowded = true;
    gxs_fail(w, ST_LIMIT, "",
             "the grammar is too large: it takes more than %zu MiB of memory "
             "to compile",
             w->memory >> 20);
}

void *gxs_alloc(struct gxs *w, size_t n, size_t size)
{
    void *p = w->err.st ? NULL : arena_array(&w->arena, n, size);

    if (!p || w->arena.used > w->memory)
        gxs_crowded(w);
    return p;
}

/*
 * Large vectors are mappings of their own: they grow where they are or move
 * without a copy, and leave no holes behind. Growing side by side in the heap
 * they took half as much again as they held.
 */
static void *resize(void *p, size_t old, size_t bytes)
{
    const int prot = PROT_READ | PROT_WRITE;
    void *q;

    if (bytes < LARGE)
        return realloc(p, bytes);
    if (old >= LARGE) {
        q = mremap(p, old, bytes, MREMAP_MAYMOVE);
        return q == MAP_FAILED ? NULL : q;
    }
    q = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (q == MAP_FAILED)
        return NULL;
    if (old)
        memcpy(q, p, old);
    free(p);
    return q;
}

bool gxs_grow(struct gxs *w, void *pp, size_t *cap, size_t need, size_t size)
{
    size_t n = *cap + *cap / 2 < 16 ? 16 : *cap + *cap / 2;
    size_t old = *cap * size, bytes, all;
    void *p;

    if (n < need)
        n = need;
    if (w->err.st || !mem_mul(&bytes, n, size) ||
        !mem_add(&all, bytes, w->scratch - old + w->arena.used) ||
        all > w->memory) {
        gxs_crowded(w);
        return false;
    }
    memcpy(&p, pp, sizeof(p));
    p = resize(p, old, bytes);
    if (!p) {
        gxs_fail(w, ST_NOMEM, "", "out of memory");
        return false;
    }
    memcpy(pp, &p, sizeof(p));
    w->scratch += bytes - old;
    *cap = n;
    return true;
}

void gxs_drop(struct gxs *w, void *pp, size_t *cap, size_t size)
{
    void *p, *none = NULL;

    memcpy(&p, pp, sizeof(p));
    if (*cap * size >= LARGE)
        munmap(p, *cap * size);
    else
        free(p);
    memcpy(pp, &none, sizeof(none));
    w->scratch -= *cap * size;
    *cap = 0;
}
