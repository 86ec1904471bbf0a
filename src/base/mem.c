#include "base/mem.h"

#include <sys/mman.h>

#include <stdalign.h>

#define ARENA_CHUNK 16384

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, cap;
    alignas(max_align_t) char data[];
};

static void *or_abort(void *p)
{
    if (!p) {
        fputs("penstock: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *mem_zalloc(size_t bytes)
{
    return or_abort(mem_try(bytes));
}

void *mem_zalloc_array(size_t n, size_t size)
{
    return or_abort(mem_try_array(n, size));
}

char *mem_dup_n(const char *s, size_t n)
{
    char *p = mem_zalloc(n + 1);

    if (n)
        memcpy(p, s, n);
    return p;
}

char *mem_dup(const char *s)
{
    return mem_dup_n(s, strlen(s));
}

void *mem_try(size_t bytes)
{
    return calloc(1, bytes ? bytes : 1);
}

void *mem_try_array(size_t n, size_t size)
{
    size_t bytes;

    if (!mem_mul(&bytes, n, size))
        return NULL;
    return mem_try(bytes);
}

#define HUGE ((size_t)2 << 20)

void *mem_try_table(size_t n, size_t size)
{
    size_t bytes, room;
    void *p;

    if (!mem_mul(&bytes, n, size) || !mem_add(&room, bytes, HUGE - 1))
        return NULL;
    if (bytes < HUGE)
        return mem_try(bytes);
    p = aligned_alloc(HUGE, room & ~(HUGE - 1));
    if (!p)
        return NULL;
#ifdef MADV_HUGEPAGE
    /* whole ones only: the rest would be memory that nobody uses */
    (void)madvise(p, bytes & ~(HUGE - 1), MADV_HUGEPAGE);
#endif
    return memset(p, 0, bytes);
}

bool mem_add(size_t *r, size_t a, size_t b)
{
    size_t v;

    if (__builtin_add_overflow(a, b, &v))
        return false;
    *r = v;
    return true;
}

bool mem_mul(size_t *r, size_t a, size_t b)
{
    size_t v;

    if (__builtin_mul_overflow(a, b, &v))
        return false;
    *r = v;
    return true;
}

void arena_init(struct arena *a, size_t max)
{
    *a = (struct arena){.max = max};
}

void arena_release(struct arena *a)
{
    struct arena_chunk *c = a->head;

    while (c) {
        struct arena_chunk *next = c->next;

        free(c);
        c = next;
    }
    arena_init(a, a->max);
}

static struct arena_chunk *arena_grow(struct arena *a, size_t bytes)
{
    size_t cap = bytes > ARENA_CHUNK ? bytes : ARENA_CHUNK;
    size_t total;
    struct arena_chunk *c;

    if (!mem_add(&total, cap, sizeof(*c)))
        return NULL;
    c = mem_try(total);
    if (!c)
        return NULL;
    c->cap = cap;
    c->next = a->head;
    a->head = c;
    return c;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    const size_t align = alignof(max_align_t);
    struct arena_chunk *c = a->head;
    size_t need, sum;
    void *p;

    if (!mem_add(&need, bytes ? bytes : 1, align - 1))
        return NULL;
    need &= ~(align - 1);
    if (!mem_add(&sum, a->used, need) || sum > a->max)
        return NULL;
    if (!c || c->cap - c->used < need) {
        c = arena_grow(a, need);
        if (!c)
            return NULL;
    }
    p = c->data + c->used;
    c->used += need;
    a->used = sum;
    return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    size_t bytes;

    if (!mem_mul(&bytes, n, size))
        return NULL;
    return arena_alloc(a, bytes);
}

char *arena_dup(struct arena *a, const char *s, size_t n)
{
    size_t bytes;
    char *p;

    if (!mem_add(&bytes, n, 1))
        return NULL;
    p = arena_alloc(a, bytes);
    if (p && n)
        memcpy(p, s, n);
    return p;
}

bool span_is(struct span s, const char *literal)
{
    size_t n = strlen(literal);

    return s.n == n && (n == 0 || memcmp(s.s, literal, n) == 0);
}

bool text_is(struct text t, const char *literal)
{
    return span_is((struct span){t.s, t.n}, literal);
}

bool text_same(struct text a, struct text b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0);
}
