#include "text/merge.h"

struct merge_cand {
    uint64_t key;   /* rank << 32 | index of the left symbol */
    uint32_t right; /* index */
    uint32_t len;   /* of both together, when the pair was seen */
    int32_t id;
};

void merge_release(struct merge *m)
{
    free(m->sym);
    free(m->heap);
    *m = (struct merge){0};
}

static bool grow(void **p, size_t *cap, size_t want, size_t size)
{
    size_t to = *cap ? *cap : 64, bytes;
    void *q;

    while (to < want)
        to *= 2;
    if (to == *cap)
        return true;
    q = mem_mul(&bytes, to, size) ? realloc(*p, bytes) : NULL;
    if (!q)
        return false;
    *p = q;
    *cap = to;
    return true;
}

enum st merge_begin(struct merge *m, size_t n, struct err *e)
{
    void *p = m->sym;

    m->n = m->heap_n = 0;
    if (n > MERGE_SYMS_MAX)
        return err_set(e, ST_LIMIT, "", "a word of %zu symbols", n);
    if (!grow(&p, &m->sym_cap, n, sizeof(*m->sym)))
        return err_set(e, ST_NOMEM, "", "no memory for %zu symbols", n);
    m->sym = p;
    return ST_OK;
}

void merge_add(struct merge *m, size_t pos, size_t len, int32_t id)
{
    uint32_t i = (uint32_t)m->n;

    BUG_ON(m->n == m->sym_cap);
    m->sym[i] = (struct merge_sym){
        .prev = i ? i - 1 : MERGE_END, .next = MERGE_END,
        .pos = (uint32_t)pos, .len = (uint32_t)len, .id = id};
    if (i)
        m->sym[i - 1].next = i;
    m->n++;
}

static bool heap_push(struct merge *m, struct merge_cand c)
{
    void *p = m->heap;
    size_t i = m->heap_n;

    if (!grow(&p, &m->heap_cap, i + 1, sizeof(*m->heap)))
        return false;
    m->heap = p;
    m->heap_n++;
    while (i) {
        size_t up = (i - 1) / 2;

        if (m->heap[up].key <= c.key)
            break;
        m->heap[i] = m->heap[up];
        i = up;
    }
    m->heap[i] = c;
    return true;
}

static struct merge_cand heap_pop(struct merge *m)
{
    struct merge_cand top = m->heap[0], c = m->heap[--m->heap_n];
    size_t i = 0, n = m->heap_n;

    for (;;) {
        size_t kid = 2 * i + 1;

        if (kid >= n)
            break;
        if (kid + 1 < n && m->heap[kid + 1].key < m->heap[kid].key)
            kid++;
        if (c.key <= m->heap[kid].key)
            break;
        m->heap[i] = m->heap[kid];
        i = kid;
    }
    m->heap[i] = c;
    return top;
}

static bool consider(struct merge *m, uint32_t a, merge_rule *rule,
                     const void *arg)
{
    uint32_t b = a == MERGE_END ? MERGE_END : m->sym[a].next, rank;
    int32_t id;

    if (b == MERGE_END || !rule(arg, &m->sym[a], &m->sym[b], &rank, &id))
        return true;
    return heap_push(m, (struct merge_cand){
        .key = (uint64_t)rank << 32 | a, .right = b,
        .len = m->sym[a].len + m->sym[b].len, .id = id});
}

enum st merge_run(struct merge *m, merge_rule *rule, const void *arg,
                  struct err *e)
{
    bool fits = true;

    for (size_t i = 0; i + 1 < m->n && fits; i++)
        fits = consider(m, (uint32_t)i, rule, arg);
    while (m->heap_n && fits) {
        struct merge_cand c = heap_pop(m);
        uint32_t left = (uint32_t)c.key;
        struct merge_sym *a = &m->sym[left], *b = &m->sym[c.right];

        /* Lengths only grow, so an equal sum means an unchanged pair. */
        if (!a->len || !b->len || a->len + b->len != c.len)
            continue;
        a->len = c.len;
        a->id = c.id;
        a->next = b->next;
        b->len = 0;
        if (a->next != MERGE_END)
            m->sym[a->next].prev = left;
        fits = consider(m, a->prev, rule, arg) &&
               consider(m, left, rule, arg);
    }
    return fits ? ST_OK
                : err_set(e, ST_NOMEM, "", "no memory for %zu pairs",
                          m->heap_n);
}
