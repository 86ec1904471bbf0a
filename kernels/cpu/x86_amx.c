#define LANES_AVX512
#define WIDE_SIGNED
#include "kernels/cpu/x86_amx.h"
#include "kernels/cpu/body_decode.h"

#include <cpuid.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From the kernel's and the CPU's manual. */
#define REQ_XCOMP_PERM 0x1023
#define XFEATURE_TILEDATA 18
#define XCR0_TILES (3u << 17)      /* configuration and data */
#define XCR0_AVX512 (7u << 5 | 6u) /* with the lower registers */
#define CPUID_OSXSAVE (1u << 27)
#define CPUID_AMX (1u << 24 | 1u << 25) /* tiles, int8 */

enum { UNKNOWN, ABSENT, READY };
static _Atomic int state;

static bool ask(void)
{
    unsigned a, b, c, d;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & CPUID_OSXSAVE))
        return false;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) ||
        (d & CPUID_AMX) != CPUID_AMX)
        return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    if ((a & (XCR0_TILES | XCR0_AVX512)) != (XCR0_TILES | XCR0_AVX512))
        return false;
    return !syscall(SYS_arch_prctl, REQ_XCOMP_PERM, XFEATURE_TILEDATA);
}

bool cpu_amx_ready(void)
{
    int s = atomic_load_explicit(&state, memory_order_relaxed);

    if (s == UNKNOWN) {
        s = ask() ? READY : ABSENT;
        atomic_store_explicit(&state, s, memory_order_relaxed);
    }
    return s == READY;
}

void cpu_amx_allow(bool yes)
{
    atomic_store_explicit(&state, yes ? UNKNOWN : ABSENT, memory_order_relaxed);
}

/*
 * Activation rows go in groups of at most sixteen, all of the same size: the
 * last may end with rows of nothing. Tiles 0 to 3 are sums, 4 and 5
 * activations, 6 and 7 weights; part i uses number i % 4 or i % 2 of them, so
 * that the sums of some parts are on their way while others are stored.
 */
#define GROUP 16

struct tile_config {
    uint8_t palette, start, zero[14];
    uint16_t bytes[16]; /* of a row */
    uint8_t rows[16];
};

/* The compiler knows nothing of tiles: every instruction is volatile, so that
 * they stay in order, and says that it reads or writes memory. */
#define TILE_LOAD(t, p, stride)                                                \
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t                           \
                     :                                                         \
                     : "r"(p), "r"(stride)                                     \
                     : "memory")
#define TILE_STORE(t, p)                                                       \
    __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)"                       \
                     :                                                         \
                     : "r"(p), "r"((size_t)64)                                 \
                     : "memory")
#define TILE_ZERO(t) __asm__ volatile("tilezero %%tmm" #t : : : "memory")
/* c += a * b, signed bytes */
#define TILE_DOT(c, a, b)                                                      \
    __asm__ volatile("tdpbssd %%tmm" #b ", %%tmm" #a ", %%tmm" #c              \
                     :                                                         \
                     :                                                         \
                     : "memory")

static void tiles_begin(int32_t n, int32_t parts)
{
    struct tile_config c = {.palette = 1};

    for (int t = 0; t < 8; t++) {
        c.bytes[t] = (uint16_t)(t == 4 || t == 5 ? 32 / parts : 64);
        c.rows[t] = (uint8_t)(t >= 6 ? 8 / parts : n);
    }
    __asm__ volatile("ldtilecfg %0" : : "m"(c) : "memory");
}

static void tiles_end(void)
{
    __asm__ volatile("tilerelease" : : : "memory");
}

#define SIDES ((size_t)WIDE_BLOCKS * 2 * GROUP)
/*
 * The integer sums of a part go through memory. They are read some parts after
 * they are written, and their place is used again some more parts later: with
 * four places in turn all this takes twice as long.
 */
#define SLOT (GROUP * PACK_ROWS)
#define SLOTS 8
#define AGO 6

struct amx_job {
    struct cpu_wide w;
    const struct cpu_x *x;
    int32_t c0; /* first column of the stretch */
    int32_t r0; /* activation row of the first group */
    int32_t rows;
    int32_t group; /* rows of one */
    float *d;      /* [group][block][GROUP], SIDES apart */
    float *ds;     /* [group][part][GROUP], with minimums, SIDES apart */
    int32_t *sums; /* [SLOTS] of SLOT */
    float *y;
    size_t ldy;
};

/* A group and a weight tile, all of the stretch. */
struct amx_pair {
    const int8_t *q;
    size_t ldq;
    const float *d, *ds;
    const uint8_t *w;
    const float *scale, *mins; /* mins: NULL without */
    int32_t *sums;
    int32_t n;          /* parts */
    int32_t rows, skip; /* of the group; that are another group's */
};

#define DOT(c, a, b, p, i, cols)                                               \
    do {                                                                       \
        TILE_ZERO(c);                                                          \
        TILE_LOAD(a, (p)->q + (size_t)(i) * (cols), (p)->ldq);                 \
        TILE_LOAD(b, (p)->w + (size_t)(i) * (cols)*PACK_ROWS, (size_t)64);     \
        TILE_DOT(c, a, b);                                                     \
    } while (0)

/* The float part of part i, whose integer sums are in slot `at`. */
INLINE void scale_sums(const struct amx_pair *p, int32_t i, int at, vf *sum,
                       const int R, const int parts)
{
    const int32_t *from = p->sums + at * SLOT;
    const float *d = p->d + (parts == 2 ? i >> 1 : i) * GROUP;
    const float *ds = p->ds + i * GROUP;
    vf s = vf_load(p->scale + i * PACK_ROWS);

    UNROLL
    for (int r = 0; r < R; r++)
        sum[r] = vf_fma(vf_mul(s, vf_set(d[r])),
                        vf_of(vi_load(from + r * PACK_ROWS)), sum[r]);
    if (p->mins) {
        vf m = vf_load(p->mins + i * PACK_ROWS);

        UNROLL
        for (int r = 0; r < R; r++)
            sum[r] = vf_fnma(m, vf_set(ds[r]), sum[r]);
    }
}

/* Part i is begun, the one of four parts ago leaves its tile, and the one of
 * AGO parts ago is finished. */
#define STEP(c, a, b, i)                                                       \
    do {                                                                       \
        if ((i) >= 4 && (i)-4 < p->n)                                          \
            TILE_STORE(c, p->sums + ((i)-4) % SLOTS * SLOT);                   \
        if ((i) < p->n)                                                        \
            DOT(c, a, b, p, i, (size_t)(32 / parts));                          \
        if ((i) >= AGO && (i)-AGO < p->n)                                      \
            scale_sums(p, (i)-AGO, ((i)-AGO) % SLOTS, sum, R, parts);          \
    } while (0)

/* Adds to the sums in y, or sets them. R is p->rows or more. */
INLINE void pair_sums(const struct amx_pair *p, float *y, size_t ldy,
                      bool first, const int R, const int parts)
{
    vf sum[GROUP];

    UNROLL
    for (int r = 0; r < R; r++)
        sum[r] =
            first || r >= p->rows ? vf_zero() : vf_load(y + (size_t)r * ldy);
    for (int32_t i = 0; i < p->n + AGO; i += 4) {
        STEP(0, 4, 6, i);
        STEP(1, 5, 7, i + 1);
        STEP(2, 4, 6, i + 2);
        STEP(3, 5, 7, i + 3);
    }
    UNROLL
    for (int r = 0; r < R; r++)
        if (r >= p->skip && r < p->rows)
            vf_store(y + (size_t)r * ldy, sum[r]);
}

typedef void pair_fn(const struct amx_pair *p, float *y, size_t ldy,
                     bool first);

#define PAIR(R, parts)                                                         \
    static void pair_##R##_##parts(const struct amx_pair *p, float *y,         \
                                   size_t ldy, bool first)                     \
    {                                                                          \
        pair_sums(p, y, ldy, first, R, parts);                                 \
    }

PAIR(12, 1)
PAIR(16, 1)
PAIR(12, 2)
PAIR(16, 2)

static pair_fn *pair_of(int32_t rows, int32_t parts)
{
    static pair_fn *const fns[2][2] = {{pair_12_1, pair_16_1},
                                       {pair_12_2, pair_16_2}};

    return fns[parts - 1][rows > 12];
}

/* First row of group g: the last one goes back to be as large as all. */
static int32_t group_row(const struct amx_job *j, int32_t g)
{
    int32_t r = g * j->group;

    return r + j->group <= j->rows ? r : j->rows - j->group;
}

/* to[r] = from[r * ld]: a column becomes a row. */
static void column(float *to, const float *from, size_t ld, int32_t rows)
{
    for (; rows >= 4; rows -= 4, to += 4, from += 4 * ld)
        _mm_storeu_ps(
            to, _mm_setr_ps(from[0], from[ld], from[2 * ld], from[3 * ld]));
    for (; rows > 0; rows--, from += ld)
        *to++ = *from;
}

/* Scales of activations, rows side by side. */
static void group_scales(const struct amx_job *j, int32_t g)
{
    const int32_t n = j->w.cols / 32, parts = j->w.parts;
    const size_t blocks = j->x->ldq / 32;
    size_t at = (size_t)(j->r0 + group_row(j, g)) * blocks + (size_t)j->c0 / 32;
    const float *d = j->x->d + at;
    const float *ds = j->x->ds + at * CPU_SUMS + (parts == 2 ? 0 : 2);
    float *to_d = j->d + (size_t)g * SIDES, *to_ds = j->ds + (size_t)g * SIDES;

    for (int32_t i = 0; i < n; i++, to_d += GROUP, d++)
        column(to_d, d, blocks, j->group);
    if (!j->w.min)
        return;
    for (int32_t i = 0; i < n; i++, ds += CPU_SUMS)
        for (int32_t k = 0; k < parts; k++, to_ds += GROUP)
            column(to_ds, ds + k, blocks * CPU_SUMS, j->group);
}

/* A stretch of one or two tiles. */
static void all_groups(const struct amx_job *j, float *y)
{
    int32_t n = j->w.cols / 32 * j->w.parts;
    pair_fn *fn = pair_of(j->group, j->w.parts);
    struct amx_pair p = {.ldq = j->x->ldq, .sums = j->sums, .n = n};

    p.rows = j->group;
    for (int32_t g = 0; g * j->group < j->rows; g++) {
        int32_t r = group_row(j, g);

        p.q = j->x->q + (size_t)(j->r0 + r) * p.ldq + j->c0;
        p.d = j->d + (size_t)g * SIDES;
        p.ds = j->ds + (size_t)g * SIDES;
        p.skip = g * j->group - r;
        for (int32_t t = 0; t < j->w.tiles; t++) {
            p.w = j->w.q + (size_t)(t * j->w.cols) * PACK_ROWS;
            p.scale = j->w.scale + (size_t)(t * n) * PACK_ROWS;
            p.mins = j->w.min ? j->w.mins + (size_t)(t * n) * PACK_ROWS : NULL;
            fn(&p, y + (size_t)r * j->ldy + t * PACK_ROWS, j->ldy, !j->c0);
        }
    }
}

static void stretch(struct amx_job *j, enum kern_type type, const uint8_t *w,
                    size_t tile_bytes, int32_t tiles)
{
    for (int32_t g = 0; g * j->group < j->rows; g++)
        group_scales(j, g);
    for (int32_t t = 0; t < tiles; t += j->w.tiles) {
        j->w.tiles = tiles - t < CPU_WIDE_TILES ? tiles - t : CPU_WIDE_TILES;
        wide_decode(type, &j->w, w + (size_t)t * tile_bytes, tile_bytes, j->c0);
        all_groups(j, j->y + (size_t)t * PACK_ROWS);
    }
}

/* Activation rows that share a decoded stretch. */
#define MOST 512
#define GROUPS (MOST / GROUP)

void cpu_amx_product(enum kern_type type, const uint8_t *w, int32_t tiles,
                     const struct cpu_x *x, int32_t r0, int32_t rows, float *y,
                     size_t ldy, void *scratch)
{
    size_t tile_bytes = pack_tile_bytes(type, x->cols);
    struct amx_job j = {.x = x, .ldy = ldy};

    _Static_assert(WIDE_BYTES + SLOTS * SLOT * 4 + GROUPS * 2 * SIDES * 4 <=
                       CPU_SCRATCH,
                   "scratch");
    wide_form(type, &j.w);
    wide_place(&j.w, scratch);
    j.sums = (int32_t *)(void *)((uint8_t *)scratch + WIDE_BYTES);
    j.d = (float *)(void *)(j.sums + SLOTS * SLOT);
    j.ds = j.d + GROUPS * SIDES;
    for (int32_t r = 0, groups; r < rows; r += MOST) {
        j.r0 = r0 + r;
        j.rows = rows - r < MOST ? rows - r : MOST;
        groups = (j.rows + GROUP - 1) / GROUP;
        j.group = (j.rows + groups - 1) / groups;
        j.y = y + (size_t)r * ldy;
        tiles_begin(j.group, j.w.parts);
        for (j.c0 = 0; j.c0 < x->cols; j.c0 += CPU_WIDE_COLS) {
            j.w.cols =
                x->cols - j.c0 < CPU_WIDE_COLS ? x->cols - j.c0 : CPU_WIDE_COLS;
            stretch(&j, type, w, tile_bytes, tiles);
        }
    }
    tiles_end();
}
