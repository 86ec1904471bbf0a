/* Choosing a kernel set, and the memory of the CPU backend. */
#include "kernels/cpu/cpu.h"

#include "kernels/cpu/pack.h"

#include "base/mem.h"

#include <stdio.h>
#include <sys/mman.h>
#ifdef HAVE_X86_64
#include <cpuid.h>
#elif defined(HAVE_AARCH64)
#include <sys/auxv.h>
#endif

#define ALIGN 64
/* From here on memory comes from mmap: zeroed lazily. */
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

static bool have_avx512(void)
{
    return have_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}
#endif

#ifdef HAVE_AARCH64
static bool have_neon(void)
{
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
}
#endif

static bool everywhere(void)
{
    return true;
}

/* Best last. */
static const struct known {
    enum kern_cpu_set set;
    const char *name;           /* of PENSTOCK_CPU */
    const struct cpu_isa *isa;  /* NULL: not in this build */
    bool (*have)(void);
    const char *lacks;
} sets[] = {
    {KERN_CPU_REF, "ref", &cpu_isa_ref, everywhere, ""},
#ifdef HAVE_X86_64
    {KERN_CPU_AVX2, "avx2", &cpu_isa_avx2, have_avx2,
     "this machine lacks AVX2, FMA or F16C"},
    {KERN_CPU_AVX512, "avx512", &cpu_isa_avx512, have_avx512,
     "this machine lacks AVX-512 F, BW, DQ, VL or VNNI"},
    {KERN_CPU_NEON, "neon", NULL, everywhere, "this machine is no arm64"},
#else
    {KERN_CPU_AVX2, "avx2", NULL, everywhere, "this machine is no x86-64"},
    {KERN_CPU_AVX512, "avx512", NULL, everywhere,
     "this machine is no x86-64"},
#ifdef HAVE_AARCH64
    {KERN_CPU_NEON, "neon", &cpu_isa_neon, have_neon,
     "this machine lacks the dot product of NEON"},
#else
    {KERN_CPU_NEON, "neon", NULL, everywhere, "this machine is no arm64"},
#endif
#endif
};

#define SETS (sizeof(sets) / sizeof(sets[0]))
_Static_assert(SETS <= CPU_ISAS, "a set each");

int cpu_isas_here(const struct cpu_isa *out[CPU_ISAS])
{
    int n = 0;

    for (size_t i = 0; i < SETS; i++)
        if (sets[i].isa && sets[i].have())
            out[n++] = sets[i].isa;
    return n;
}

static enum st named(enum kern_cpu_set *set, struct err *e)
{
    const char *name = getenv("PENSTOCK_CPU");

    if (*set != KERN_CPU_AUTO || !name || !*name || !strcmp(name, "auto"))
        return ST_OK;
    for (size_t i = 0; i < SETS; i++)
        if (!strcmp(name, sets[i].name)) {
            *set = sets[i].set;
            return ST_OK;
        }
    return err_set(e, ST_INVALID, "PENSTOCK_CPU",
                   "'%.20s' is none of auto, ref, avx2, avx512, neon", name);
}

static enum st choose(const struct cpu_isa **out, enum kern_cpu_set set,
                      struct err *e)
{
    enum st st = named(&set, e);

    *out = NULL;
    if (st)
        return st;
    for (size_t i = 0; i < SETS; i++) {
        bool can = sets[i].isa && sets[i].have();

        if (set == KERN_CPU_AUTO ? can : can && set == sets[i].set)
            *out = sets[i].isa;
        else if (set == sets[i].set)
            return err_set(e, ST_UNSUPPORTED, "kernels",
                           "%s; the portable kernels run everywhere",
                           sets[i].lacks);
    }
    return ST_OK;
}

size_t kern_kv_head_bytes(enum kern_type type, int32_t head_dim)
{
    size_t dim = (size_t)head_dim;

    BUG_ON(head_dim < 1 || (type != KERN_F16 && type != KERN_Q8_0));
    if (type == KERN_F16)
        return dim * KV_PAGE * 2;
    return (dim + (dim + 31) / 32 * 2) * KV_PAGE;
}

void *cpu_room(struct cpu *c, void **heap, size_t was, size_t bytes)
{
    c->k.bytes[KERN_WORKSPACE] += bytes - was;
    free(*heap);
    *heap = mem_zalloc(bytes + ALIGN);
    return (void *)(((uintptr_t)*heap + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1));
}

static void members_new(struct cpu *c, int n)
{
    size_t y = CPU_RESULTS * sizeof(float);

    c->members = mem_array(struct cpu_member, (size_t)n);
    for (int i = 0; i < n; i++) {
        struct cpu_member *m = &c->members[i];
        uint8_t *p = cpu_room(c, &m->heap, 0, y + CPU_SCRATCH);

        m->y = (float *)(void *)p;
        m->scratch = p + y;
    }
}

enum st kern_cpu_new(struct kern **out, const struct kern_cpu_config *conf,
                     struct err *e)
{
    const struct cpu_isa *isa;
    struct cpu *c;
    enum st st = choose(&isa, conf->set, e);

    *out = NULL;
    BUG_ON(conf->threads < 1 || conf->threads > POOL_MAX);
    if (st)
        return st;
    c = mem_new(struct cpu);
    st = pool_new(&c->pool, conf->threads, conf->cpus, conf->n_cpus, e);
    if (st) {
        free(c);
        return st;
    }
    members_new(c, conf->threads);
    c->isa = isa;
    c->k.ops = &cpu_ops;
    c->k.layout = PACK_LAYOUT;
    snprintf(c->k.name, sizeof(c->k.name), "%s", isa->name);
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
    int n = pool_members(c->pool);

    pool_free(c->pool);
    for (int i = 0; i < n; i++) {
        free(c->members[i].heap);
        free(c->members[i].tile_heap);
        free(c->members[i].own.heap);
    }
    free(c->members);
    free(c->shared.heap);
    free(c->ids.p);
    free(c->pos.p);
    free(c->seq.p);
    free(c->out.p);
    free(c->first.p);
    free(c->pages.p);
    free(c->blocks);
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
    /* A part of a huge page that is dropped stays with the process until the
     * system needs memory, and nobody who counts would see it go. */
    (void)madvise(p, bytes, b->cls == KERN_KV ? MADV_NOHUGEPAGE
                                              : MADV_HUGEPAGE);
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

/* Used in place, packed or not. */
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
    pool_quiet(cpu_of(k)->pool);
    k->bytes[b->cls] -= b->bytes;
    if (b->mapped)
        munmap(b->p, b->mapped);
    free(b->heap);
    free(b);
}
