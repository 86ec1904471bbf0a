/* Whole pages of the cache: copied, out to the host and in, given back. */
#include "kernels/cpu/cpu.h"

#include "base/mem.h"

#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a page's keys, and as many of its values. */
static size_t run_bytes(const struct kern_kv *kv)
{
    return cpu_zu(kv->layers) * cpu_zu(kv->kv_heads) *
           kern_kv_head_bytes(kv->type, kv->head_dim);
}

size_t kern_kv_page_bytes(const struct kern_kv *kv)
{
    return 2 * run_bytes(kv);
}

size_t cpu_kv_run(const struct kern_kv *kv, int32_t top)
{
    size_t run = run_bytes(kv), all;

    BUG_ON(top < 0 || top >= kv->pages);
    BUG_ON(!mem_mul(&all, run, cpu_zu(kv->pages)));
    BUG_ON(all > kv->k->bytes || all > kv->v->bytes);
    return run;
}

void cpu_kv_copy(struct kern *k, const struct kern_kv *kv, int32_t dst,
                 int32_t src)
{
    size_t run = cpu_kv_run(kv, dst > src ? dst : src);
    size_t to = cpu_zu(dst) * run, from = cpu_zu(src) * run;

    BUG_ON(dst == src);
    pool_wait(cpu_of(k)->pool);
    memcpy(kv->k->p + to, kv->k->p + from, run);
    memcpy(kv->v->p + to, kv->v->p + from, run);
}

void cpu_kv_read(struct kern *k, const struct kern_kv *kv, int32_t page,
                 void *dst)
{
    size_t run = cpu_kv_run(kv, page), at = cpu_zu(page) * run;

    pool_wait(cpu_of(k)->pool);
    memcpy(dst, kv->k->p + at, run);
    memcpy((uint8_t *)dst + run, kv->v->p + at, run);
}

void cpu_kv_write(struct kern *k, const struct kern_kv *kv, int32_t page,
                  const void *src)
{
    size_t run = cpu_kv_run(kv, page), at = cpu_zu(page) * run;

    pool_wait(cpu_of(k)->pool);
    memcpy(kv->k->p + at, src, run);
    memcpy(kv->v->p + at, (const uint8_t *)src + run, run);
}

/* What lies in whole pages of the system goes back to it; what shares one
 * with a neighbour stays. */
static void give_back(uint8_t *p, size_t bytes, uintptr_t unit)
{
    uintptr_t from = ((uintptr_t)p + unit - 1) & ~(unit - 1);
    uintptr_t to = ((uintptr_t)p + bytes) & ~(unit - 1);

    if (from < to)
        (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

/* Neighbouring pages of an ascending list go together, and what lies across
 * their border with them. */
void cpu_kv_drop(struct kern *k, const struct kern_kv *kv,
                 const int32_t *pages, int32_t n)
{
    uintptr_t unit = (uintptr_t)sysconf(_SC_PAGESIZE);
    int32_t end;

    pool_wait(cpu_of(k)->pool);
    for (int32_t i = 0; i < n; i = end) {
        size_t run = cpu_kv_run(kv, pages[i]), at = cpu_zu(pages[i]) * run;

        for (end = i + 1; end < n && pages[end] == pages[end - 1] + 1; end++)
            (void)cpu_kv_run(kv, pages[end]);
        give_back(kv->k->p + at, cpu_zu(end - i) * run, unit);
        give_back(kv->v->p + at, cpu_zu(end - i) * run, unit);
    }
}
