#include "kv/pages.h"

#include "base/mem.h"

struct kv_pages {
    size_t n, used, page_bytes;
    size_t low;     /* every page below is taken */
    uint32_t *refs; /* [n] 0: free */
};

struct kv_pages *kv_pages_new(size_t n, size_t page_bytes)
{
    struct kv_pages *p;

    BUG_ON(n > INT32_MAX);
    p = mem_try(sizeof(*p));
    if (!p)
        return NULL;
    p->n = n;
    p->page_bytes = page_bytes;
    p->refs = mem_try_array(n ? n : 1, sizeof(*p->refs));
    if (!p->refs) {
        free(p);
        return NULL;
    }
    return p;
}

void kv_pages_free(struct kv_pages *p)
{
    if (!p)
        return;
    free(p->refs);
    free(p);
}

int32_t kv_pages_take(struct kv_pages *p)
{
    while (p->low < p->n && p->refs[p->low])
        p->low++;
    if (p->low == p->n)
        return -1;
    p->refs[p->low] = 1;
    p->used++;
    return (int32_t)p->low++;
}

static uint32_t *ref_of(struct kv_pages *p, int32_t page)
{
    BUG_ON(page < 0 || (size_t)page >= p->n || !p->refs[page]);
    return &p->refs[page];
}

void kv_pages_ref(struct kv_pages *p, int32_t page)
{
    uint32_t *refs = ref_of(p, page);

    BUG_ON(*refs == UINT32_MAX);
    ++*refs;
}

void kv_pages_unref(struct kv_pages *p, int32_t page)
{
    uint32_t *refs = ref_of(p, page);

    if (--*refs)
        return;
    p->used--;
    if ((size_t)page < p->low)
        p->low = (size_t)page;
}

size_t kv_pages_total(const struct kv_pages *p)
{
    return p->n;
}

size_t kv_pages_used(const struct kv_pages *p)
{
    return p->used;
}

size_t kv_pages_left(const struct kv_pages *p)
{
    return p->n - p->used;
}

size_t kv_pages_bytes(const struct kv_pages *p)
{
    return p->used * p->page_bytes;
}
