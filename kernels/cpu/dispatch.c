/* Choosing a kernel set, and the memory of the CPU backend. */
#include "kernels/cpu/cpu.h"

#include "kernels/cpu/pack.h"

#include "base/mem.h"

#include <stdio.h>
#include <sys/mman.h>
#ifdef HAVE_X86_64
#include <cpuid.h>
#endif

#define ALIGN 64
/* From here on memory comes from mmap: zeroed lazily, huge pages welcome. */
#define MAP_FROM ((size_t)1 << 20)

#ifdef HAVE_X86_64
static bool have_avx2(void)
{
    unsigned int a, b, c, d;

    /* The builtin also asks whether the system keeps the registers; clang
     * 14 does not know the name "f16c". */
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static const struct cpu_set *choose(enum kern_cpu_set set)
{
#ifdef HAVE_X86_64
    if (set != KERN_CPU_REF && have_avx2())
        return &cpu_set_avx2;
#endif
    return set == KERN_CPU_AVX2 ? NULL : &cpu_set_ref;
}

size_t kern_kv_head_bytes(enum kern_type type, int32_t head_dim)
{
    size_t dim = (size_t)head_dim;

    BUG_ON(head_dim < 1 || (type != KERN_F16 && type != KERN_Q8_0));
    if (type == KERN_F16)
        return dim * KV_PAGE * 2;
    return (dim + (dim + 31) / 32 * 2) * KV_PAGE;
}

enum st kern_cpu_new(struct kern **out, const struct kern_cpu_config *conf,
                     struct err *e)
{
    const struct cpu_set *s = choose(conf->set);
    struct cpu *c;
    enum st st;

    *out = NULL;
    BUG_ON(conf->threads < 1 || conf->threads > POOL_MAX);
    if (!s)
        return err_set(e, ST_UNSUPPORTED, "kernels",
                       "this machine lacks AVX2, FMA or F16C; the portable "
                       "kernels run everywhere");
    c = mem_new(struct cpu);
    st = pool_new(&c->pool, conf->threads, e);
    if (st) {
        free(c);
        return st;
    }
    c->set = s;
    c->k.ops = &cpu_ops;
    c->k.layout = PACK_LAYOUT;
    snprintf(c->k.name, sizeof(c->k.name), "%s", s->name);
    *out = &c->k;
    return ST_OK;
}

void kern_free(struct kern *k)
{
    if (k)
        k->ops->free(k);
}

void cpu_free(struct kern *k)
{
    struct cpu *c = (struct cpu *)k;

    pool_free(c->pool);
    free(c->ids.p);
    free(c->pos.p);
    free(c->seq.p);
    free(c->out.p);
    free(c->first.p);
    free(c->pages.p);
    for (int i = 0; i < CPU_ROPES; i++)
        free(c->rope[i].cs);
    free(c);
}

static bool get_mapped(struct kern_buf *b, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return false;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    b->p = p;
    b->mapped = bytes;
    return true;
}

static bool get_heap(struct kern_buf *b, size_t bytes)
{
    b->heap = mem_try(bytes + ALIGN);
    if (!b->heap)
        return false;
    b->p = (uint8_t *)(((uintptr_t)b->heap + ALIGN - 1) &
                       ~(uintptr_t)(ALIGN - 1));
    return true;
}

struct kern_buf *cpu_alloc(struct kern *k, size_t bytes, enum kern_class cls)
{
    struct kern_buf *b = mem_new(struct kern_buf);

    b->bytes = bytes;
    b->cls = cls;
    if (bytes >= MAP_FROM ? !get_mapped(b, bytes) : !get_heap(b, bytes)) {
        free(b);
        return NULL;
    }
    k->bytes[cls] += bytes;
    return b;
}

/* Used in place: mapped weights are never copied on the CPU. */
struct kern_buf *cpu_weights(struct kern *k, const void *host, size_t bytes)
{
    struct kern_buf *b = mem_new(struct kern_buf);

    b->p = (uint8_t *)(uintptr_t)host;
    b->bytes = bytes;
    b->cls = KERN_WEIGHTS;
    k->bytes[KERN_WEIGHTS] += bytes;
    return b;
}

void cpu_buf_free(struct kern *k, struct kern_buf *b)
{
    if (!b)
        return;
    k->bytes[b->cls] -= b->bytes;
    if (b->mapped)
        munmap(b->p, b->mapped);
    free(b->heap);
    free(b);
}
