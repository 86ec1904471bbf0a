/*
 * Many activation rows: every set, with AMX and without, gives the bits that
 * the portable set gives for a row alone, whatever the rows, tiles and
 * columns; nothing else is written, and no activation beyond the last row is
 * read.
 */
#include "base/mem.h"
#include "t/lib/blocks.h"
#include "kernels/cpu/isa.h"
#include "t/lib/tap.h"

#ifdef HAVE_X86_64
#include "kernels/cpu/x86_amx.h"
#endif

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TILES 5
#define WEIGHTS (TILES * PACK_ROWS)

struct way {
    const struct cpu_isa *isa;
    const char *name;
    bool amx;
};

static struct way ways[CPU_ISAS + 1];
static int n_ways;
static _Alignas(64) uint8_t scratch[CPU_SCRATCH];

static void ways_of_cpu(void)
{
    const struct cpu_isa *sets[CPU_ISAS];
    int n = cpu_isas_here(sets);

    for (int i = 0; i < n; i++)
        ways[n_ways++] = (struct way){sets[i], sets[i]->name, false};
#ifdef HAVE_X86_64
    if (sets[n - 1] == &cpu_isa_avx512 && cpu_amx_ready())
        ways[n_ways++] = (struct way){sets[n - 1], "AMX", true};
#endif
}

/* A matrix, rounded activations that end where no memory is, and products of
 * one row at a time. */
struct job {
    const struct block_type *b;
    int32_t cols, rows;
    uint8_t *packed;
    struct cpu_x x;
    void *map;
    size_t map_bytes;
    float *want, *got; /* [rows][WEIGHTS] */
};

static void activations(struct job *j, bool wild)
{
    size_t ldq = ((size_t)j->cols + 63) / 64 * 64, blocks = ldq / 32;
    size_t rows = (size_t)j->rows, bytes = rows * ldq;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    float *f = mem_zalloc((size_t)j->cols * sizeof(*f));

    j->map_bytes = (bytes + page - 1) / page * page + page;
    j->map = mmap(NULL, j->map_bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    BUG_ON(j->map == MAP_FAILED);
    BUG_ON(mprotect((uint8_t *)j->map + j->map_bytes - page, page, PROT_NONE));
    j->x.cols = j->cols;
    j->x.ldq = ldq;
    j->x.q = (int8_t *)j->map + j->map_bytes - page - bytes;
    j->x.d = mem_zalloc(rows * blocks * sizeof(float));
    j->x.ds = mem_zalloc(rows * blocks * CPU_SUMS * sizeof(float));
    j->x.neg = mem_zalloc(rows * blocks * CPU_SUMS * sizeof(int32_t));
    for (size_t r = 0; r < rows; r++) {
        for (int32_t c = 0; c < j->cols; c++)
            f[c] = !wild        ? block_random_float()
                   : r % 3 == 1 ? 1
                   : r % 3 == 2 ? -1
                                : block_random_float() * 1e30f;
        cpu_isa_ref.round(f, j->cols, ldq, j->x.q + r * ldq,
                          j->x.d + r * blocks, j->x.neg + r * blocks * CPU_SUMS,
                          j->x.ds + r * blocks * CPU_SUMS);
    }
    free(f);
}

static void job_new(struct job *j, const struct block_type *b, int32_t cols,
                    int32_t rows, bool wild)
{
    size_t row = quant_bytes(b->type, (size_t)cols);
    size_t tile = pack_tile_bytes(b->type, cols);
    uint8_t *file = mem_zalloc(WEIGHTS * row);
    int32_t elems, bytes;

    BUG_ON(!kern_type_block(b->type, &elems, &bytes));
    *j = (struct job){.b = b, .cols = cols, .rows = rows};
    block_fill(b, file, WEIGHTS * (size_t)(cols / elems), wild);
    if (wild) /* whole rows of the largest and the smallest numbers */
        for (size_t i = 0; i < WEIGHTS * row; i++)
            file[i] = i / row % 4 == 2   ? 0x7f
                      : i / row % 4 == 3 ? 0x80
                                         : file[i];
    j->packed = mem_zalloc(TILES * tile);
    for (size_t t = 0; t < TILES; t++)
        pack_tile(b->type, j->packed + t * tile, file + t * PACK_ROWS * row,
                  row, PACK_ROWS, cols);
    free(file);
    activations(j, wild);
    j->want = mem_zalloc((size_t)rows * WEIGHTS * sizeof(float));
    j->got = mem_zalloc((size_t)rows * WEIGHTS * sizeof(float));
    for (int32_t r = 0; r < rows; r++)
        cpu_isa_ref.product(b->type, j->packed, TILES, &j->x, r, 1,
                            j->want + (size_t)r * WEIGHTS, WEIGHTS, scratch);
}

static void job_free(struct job *j)
{
    free(j->packed);
    munmap(j->map, j->map_bytes);
    free(j->x.d);
    free(j->x.ds);
    free(j->x.neg);
    free(j->want);
    free(j->got);
}

static bool untouched(const float *p, size_t n)
{
    const uint8_t *b = (const uint8_t *)p;

    for (size_t i = 0; i < n * sizeof(*p); i++)
        if (b[i] != 0x3c)
            return false;
    return true;
}

/* n rows from r0 on, some tiles from t0 on; all the others stay as they are. */
static bool right(struct job *j, const struct way *w, int32_t r0, int32_t n,
                  int32_t t0, int32_t tiles)
{
    size_t from = (size_t)t0 * PACK_ROWS, size = (size_t)tiles * PACK_ROWS;

    memset(j->got, 0x3c, (size_t)j->rows * WEIGHTS * sizeof(float));
    w->isa->product(
        j->b->type,
        j->packed + (size_t)t0 * pack_tile_bytes(j->b->type, j->cols), tiles,
        &j->x, r0, n, j->got + (size_t)r0 * WEIGHTS + from, WEIGHTS, scratch);
    for (int32_t r = 0; r < j->rows; r++) {
        const float *got = j->got + (size_t)r * WEIGHTS;
        const float *want = j->want + (size_t)r * WEIGHTS;

        if (r < r0 || r >= r0 + n
                ? !untouched(got, WEIGHTS)
                : !untouched(got, from) ||
                      !same_floats(got + from, want + from, size) ||
                      !untouched(got + from + size, WEIGHTS - from - size))
            return false;
    }
    return true;
}

/* All numbers of rows, or every `step`th, at the start and at the end. */
static void test(const struct block_type *b, int32_t cols, int32_t rows,
                 int32_t step, bool wild)
{
    struct job j;

    job_new(&j, b, cols, rows, wild);
    for (int i = 0; i < n_ways; i++) {
        int32_t bad = 0;

#ifdef HAVE_X86_64
        cpu_amx_allow(ways[i].amx);
#endif
        for (int32_t n = rows; n > 0 && !bad; n -= step) {
            int32_t tiles = 1 + n / step % TILES;

            if (!right(&j, &ways[i], n / step % 2 ? rows - n : 0, n,
                       n % (TILES - tiles + 1), tiles))
                bad = n;
        }
        is_int(bad, 0, "%s, %d columns, up to %d rows%s: %s", b->name, cols,
               rows, wild ? ", extremes" : "", ways[i].name);
    }
    job_free(&j);
}

int main(void)
{
    ways_of_cpu();
    for (size_t i = 0; i < BLOCK_TYPES; i++) {
        const struct block_type *b = &block_types[i];
        bool small = pack_groups(b->type) == 1;

        test(b, small ? 96 : 256, 40, 1, false);
        test(b, small ? 32 : 256, 129, 64, true);
        test(b, small ? 64 : 256, 513, 511, false);
        test(b, small ? 544 : 768, 21, 5, true);
        test(b, 1536, 17, 8, false);
    }
    return done();
}
