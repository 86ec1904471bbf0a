/*
 * Speed of the products of an instruction set: `make t/bench/products`, then
 *   t/bench/products SET [TYPE [CALLS]]
 * One thread; SET is the end of its name (ref, avx2, avx512). For every
 * weight format GB/s of packed bytes, the fastest of CALLS times (default
 * 20), of a matrix that stays in the cache (rows 1, 2, 4, 8, 64) and of 64 MiB
 * (rows 1, 4, 8), beside the rate of plain reading.
 */
#include "t/lib/blocks.h"
#include "kernels/cpu/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define COLS 2048
#define ROWS 64

static _Alignas(64) uint8_t scratch[CPU_SCRATCH];

/* Time that this thread had a processor: others may want it, too. */
static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *aligned(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);

    BUG_ON(!p);
    memset(p, 0, bytes);
    return p;
}

/* GB/s */
static double speed(const struct cpu_isa *isa, enum kern_type t,
                    const uint8_t *w, size_t bytes, const struct cpu_x *x,
                    int32_t rows, float *y, int calls)
{
    const size_t tile = pack_tile_bytes(t, COLS);
    const int32_t tiles = (int32_t)(bytes / tile);
    double best = 1e9;

    for (int i = 0; i < calls; i++) {
        double s = now();

        for (int32_t k = 0; k < tiles; k += 4)
            isa->product(t, w + (size_t)k * tile, k + 4 > tiles ? tiles - k : 4,
                         x, 0, rows, y, 4 * PACK_ROWS, scratch);
        s = now() - s;
        best = s < best ? s : best;
    }
    return (double)tile * tiles / best * 1e-9;
}

/* Plain reading of so many bytes. */
static double read_speed(const uint8_t *w, size_t bytes, int calls)
{
    double best = 1e9;

    for (int i = 0; i < calls; i++) {
        uint64_t sum = 0, v;
        double s = now();

        for (size_t k = 0; k < bytes; k += 64) {
            memcpy(&v, w + k, 8);
            sum += v;
        }
        __asm__ volatile("" ::"r"(sum));
        s = now() - s;
        best = s < best ? s : best;
    }
    return (double)bytes / best * 1e-9;
}

static void bench(const struct cpu_isa *isa, enum kern_type t, const char *name,
                  uint8_t *w, const struct cpu_x *x, float *y, int calls)
{
    static const int32_t few[] = {1, 2, 3, 4, 6, 8, 64}, many[] = {1, 4, 8};

    printf("%-6s cache", name);
    for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++)
        printf(" %d:%6.1f", few[i],
               speed(isa, t, w, (size_t)1 << 20, x, few[i], y,
                     few[i] > 8 ? calls / 4 + 1 : calls));
    printf("  memory");
    for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
        printf(
            " %d:%6.1f", many[i],
            speed(isa, t, w, (size_t)64 << 20, x, many[i], y, calls / 8 + 1));
    printf("  read %6.1f\n", read_speed(w, (size_t)64 << 20, calls / 8 + 1));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const struct cpu_isa *sets[CPU_ISAS], *isa = NULL;
    int n = cpu_isas_here(sets);
    float *f = aligned(sizeof(float) * ROWS * COLS);
    float *y = aligned(sizeof(float) * ROWS * 4 * PACK_ROWS);
    uint8_t *w = aligned((size_t)64 << 20);
    struct cpu_x x = {COLS,
                      f,
                      COLS,
                      aligned(ROWS * COLS),
                      COLS,
                      aligned(ROWS * COLS / 8),
                      aligned(ROWS * COLS / 8 * CPU_SUMS),
                      aligned(ROWS * COLS / 8 * CPU_SUMS)};
    int calls = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 20;

    for (int i = 0; argc > 1 && i < n; i++)
        if (strstr(sets[i]->name, argv[1]))
            isa = sets[i];
    if (!isa) {
        fputs("usage: products ref|avx2|avx512 [TYPE [CALLS]]\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < ROWS * COLS; i++)
        f[i] = block_random_float();
    for (size_t r = 0; r < ROWS; r++)
        isa->round(f + r * COLS, COLS, COLS, x.q + r * COLS,
                   x.d + r * COLS / 32, x.neg + r * COLS / 32 * CPU_SUMS,
                   x.ds + r * COLS / 32 * CPU_SUMS);
    memset(w, 0x11, (size_t)64 << 20);
    for (size_t i = 0; i < BLOCK_TYPES; i++)
        if (argc < 3 || !strcmp(argv[2], block_types[i].name))
            bench(isa, block_types[i].type, block_types[i].name, w, &x, y,
                  calls);
    return 0;
}
