/*
 * base/mem.h - allocation, checked size arithmetic, arenas.
 *
 * Two families. mem_new/mem_dup/mem_array abort when memory is out: for
 * small sizes that we chose. mem_try* return NULL: for every size that came
 * from a client, a file, a peer or a model. All memory is zeroed.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "base/err.h"

void *mem_zalloc(size_t bytes); /* aborts when out of memory */
#define mem_new(type) ((type *)mem_zalloc(sizeof(type)))
#define mem_array(type, n) ((type *)mem_zalloc_array((n), sizeof(type)))
void *mem_zalloc_array(size_t n, size_t size);
char *mem_dup(const char *s);               /* NUL-terminated copy; aborts */
char *mem_dup_n(const char *s, size_t n);   /* the same for s[0..n) */

void *mem_try(size_t bytes) MUST_CHECK;     /* NULL when out of memory */
/* NULL on overflow too */
void *mem_try_array(size_t n, size_t size) MUST_CHECK;
/* The same for a large table that is read here and there, on huge pages where
 * the system has some: a tenth of the faults and TLB misses. free() it. */
void *mem_try_table(size_t n, size_t size) MUST_CHECK;

/* *r = a + b and *r = a * b; false (and *r untouched) on overflow. */
bool mem_add(size_t *r, size_t a, size_t b) MUST_CHECK;
bool mem_mul(size_t *r, size_t a, size_t b) MUST_CHECK;

/*
 * An arena: allocations of one lifetime (a request), freed together.
 * `max` bounds the sum of all allocations. One thread at a time.
 */
struct arena {
    struct arena_chunk *head;
    size_t used; /* bytes handed out */
    size_t max;  /* bytes that may be handed out */
};

void arena_init(struct arena *a, size_t max);
void arena_release(struct arena *a);
/* Zeroed, aligned for any type. NULL when over `max` or out of memory. */
void *arena_alloc(struct arena *a, size_t bytes) MUST_CHECK;
void *arena_array(struct arena *a, size_t n, size_t size) MUST_CHECK;
/* s[0..n) plus a NUL. NULL as above. */
char *arena_dup(struct arena *a, const char *s, size_t n) MUST_CHECK;

/* Borrowed bytes with their length; NUL is data. */
struct span {
    const char *s;
    size_t n;
};

/*
 * The same for text of clients and models: a type that no log, error or
 * ledger function accepts.
 */
struct text {
    const char *s;
    size_t n;
};

bool span_is(struct span s, const char *literal);
bool text_is(struct text t, const char *literal);
bool text_same(struct text a, struct text b);

#endif
