/*
 * Speed of attention, one thread: `make t/bench/attend`, then
 *   t/bench/attend [SET]
 * Prefill: 512 rows of 16 query heads over 8 key-value heads of 128, in
 * blocks of 64 rows, in GFLOP/s. Decode: one row of the same heads over 4096
 * positions of many layers, in GB/s of the cache; and what adding up the same
 * memory reaches. Best and median of several runs, of the thread's processor
 * time, so that other programs count little.
 */
#include "kernels/cpu/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    DIM = 128,
    KVH = 8,
    GROUP = 2,
    ROWS = 512,
    BLOCK = 64,
    LAYERS = 24,
    LONG = 4096,
    RUNS = 15
};

struct bench {
    const struct cpu_isa *isa;
    enum kern_type type;
    size_t head, page; /* bytes */
    uint8_t *k, *v;
    int32_t pages[LAYERS * LONG / KV_PAGE], pos[BLOCK * GROUP];
    float *q, *out;
    const float *qs[BLOCK * GROUP];
    float *outs[BLOCK * GROUP];
    void *scratch;
};

static void *room(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

    BUG_ON(!p);
    memset(p, 0, bytes);
    return p;
}

static void fill(struct bench *b, int32_t pages)
{
    float key[DIM], val[DIM];

    b->head = kern_kv_head_bytes(b->type, DIM);
    b->page = b->head * KVH;
    b->k = room(b->page * (size_t)pages);
    b->v = room(b->page * (size_t)pages);
    for (int32_t p = 0; p < KV_PAGE; p++)
        for (size_t h = 0; h < KVH; h++) {
            for (int d = 0; d < DIM; d++) {
                key[d] = (float)((p * 7 + d * 13) % 29) / 29 - 0.5f;
                val[d] = (float)((p * 5 + d * 11) % 31) / 31 - 0.5f;
            }
            b->isa->kv_put(b->type, b->k + h * b->head, b->v + h * b->head, DIM,
                           p, key, val);
        }
    for (int32_t p = 0; p < pages; p++) {
        b->pages[p] = p;
        memcpy(b->k + (size_t)p * b->page, b->k, b->page);
        memcpy(b->v + (size_t)p * b->page, b->v, b->page);
    }
}

static void call(struct bench *b, int32_t first_page, size_t head, int32_t n)
{
    struct cpu_attend a = {.type = b->type,
                           .head_dim = DIM,
                           .scale = 0.09f,
                           .n = n,
                           .q = b->qs,
                           .out = b->outs,
                           .pos = b->pos,
                           .pages = b->pages + first_page,
                           .k = b->k + head * b->head,
                           .v = b->v + head * b->head,
                           .page = b->page};

    b->isa->attend(&a, b->scratch);
}

static void prefill(struct bench *b)
{
    for (size_t h = 0; h < KVH; h++)
        for (int32_t r = 0; r < ROWS; r += BLOCK) {
            for (int32_t i = 0; i < BLOCK * GROUP; i++)
                b->pos[i] = r + i / GROUP;
            call(b, 0, h, BLOCK * GROUP);
        }
}

static void decode(struct bench *b)
{
    for (int32_t i = 0; i < GROUP; i++)
        b->pos[i] = LONG - 1;
    for (int32_t l = 0; l < LAYERS; l++)
        for (size_t h = 0; h < KVH; h++)
            call(b, l * (LONG / KV_PAGE), h, GROUP);
}

static void probe(struct bench *b)
{
    const uint64_t *k = (const void *)b->k, *v = (const void *)b->v;
    size_t n = b->page * (LAYERS * LONG / KV_PAGE) / 8;
    uint64_t s[8] = {0};

    for (size_t i = 0; i < n; i += 8)
        for (size_t j = 0; j < 8; j++)
            s[j] += k[i + j] ^ v[i + j];
    for (size_t j = 1; j < 8; j++)
        s[0] += s[j];
    b->pos[0] = (int32_t)s[0];
}

static int64_t cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void time_of(struct bench *b, const char *what,
                    void (*fn)(struct bench *), double work, const char *unit)
{
    int64_t t[RUNS];

    for (int i = 0; i < RUNS; i++) {
        int64_t now = cpu_us();

        fn(b);
        t[i] = cpu_us() - now + 1;
    }
    qsort(t, RUNS, sizeof(*t), by_size);
    printf("%-12s %-5s %-8s %8.2f best %8.2f median %s\n", b->isa->name,
           b->type == KERN_F16 ? "F16" : "Q8_0", what,
           work / (double)t[0] * 1e-3, work / (double)t[RUNS / 2] * 1e-3, unit);
}

static void run(const struct cpu_isa *isa, enum kern_type type)
{
    struct bench *b = room(sizeof(*b));
    size_t n = BLOCK * GROUP;
    double cells = (double)ROWS * (ROWS + 1) / 2 * KVH * GROUP;

    b->isa = isa;
    b->type = type;
    b->q = room(n * DIM * sizeof(float));
    b->out = room(n * DIM * sizeof(float));
    b->scratch = room(CPU_SCRATCH);
    for (size_t i = 0; i < n * DIM; i++)
        b->q[i] = (float)(i * 17 % 37) / 37 - 0.5f;
    for (size_t i = 0; i < n; i++) {
        b->qs[i] = b->q + i * DIM;
        b->outs[i] = b->out + i * DIM;
    }
    fill(b, LAYERS * LONG / KV_PAGE);
    time_of(b, "prefill", prefill, cells * DIM * 4, "GFLOP/s");
    time_of(b, "probe", probe, 2.0 * (double)b->page * LAYERS * LONG / KV_PAGE,
            "GB/s");
    time_of(b, "decode", decode,
            2.0 * (double)b->page * LAYERS * LONG / KV_PAGE, "GB/s");
    free(b->k);
    free(b->v);
    free(b->q);
    free(b->out);
    free(b->scratch);
    free(b);
}

int main(int argc, char **argv)
{
    const struct cpu_isa *sets[CPU_ISAS];
    int n = cpu_isas_here(sets);

    for (int i = 0; i < n; i++) {
        if (argc > 1 ? strcmp(argv[1], sets[i]->name) != 0 : !i)
            continue;
        run(sets[i], KERN_F16);
        run(sets[i], KERN_Q8_0);
    }
    return 0;
}
