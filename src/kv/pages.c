#include "kv/pages.h"

#include "base/mem.h"

struct kv_pages {
    size_t n, used, idle, page_bytes;
    size_t low;     /* every page below is taken */
    uint32_t *refs; /* [n] 0: free */
    bool *held;     /* [n] one of refs is the tree's */
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
    p->held = mem_try_array(n ? n : 1, sizeof(*p->held));
    if (!p->refs || !p->held) {
        kv_pages_free(p);
        return NULL;
    }
    return p;
}

void kv_pages_free(struct kv_pages *p)
{
    if (!p)
        return;
    free(p->refs);
    free(p->held);
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

void kv_pages_take_this(struct kv_pages *p, int32_t page)
{
    BUG_ON(page < 0 || (size_t)page >= p->n || p->refs[page]);
    p->refs[page] = 1;
    p->used++;
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
    p->idle -= p->held[page] && *refs == 1;
    ++*refs;
}

void kv_pages_unref(struct kv_pages *p, int32_t page)
{
    uint32_t *refs = ref_of(p, page);

    p->idle += p->held[page] && *refs == 2;
    if (--*refs)
        return;
    BUG_ON(p->held[page]);
    p->used--;
    if ((size_t)page < p->low)
        p->low = (size_t)page;
}

uint32_t kv_pages_refs(const struct kv_pages *p, int32_t page)
{
    BUG_ON(page < 0 || (size_t)page >= p->n);
    return p->refs[page];
}

void kv_pages_hold(struct kv_pages *p, int32_t page)
{
    kv_pages_ref(p, page);
    /* twice would be one page for two different texts */
    BUG_ON(p->held[page]);
    p->held[page] = true;
}

void kv_pages_let(struct kv_pages *p, int32_t page)
{
    uint32_t *refs = ref_of(p, page);

    BUG_ON(!p->held[page]);
    p->held[page] = false;
    p->idle -= *refs == 1;
    kv_pages_unref(p, page);
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

size_t kv_pages_idle(const struct kv_pages *p)
{
    return p->idle;
}

size_t kv_pages_bytes(const struct kv_pages *p)
{
    return p->used * p->page_bytes;
}
