/*
 * Products. Few rows: a member makes the rows ready for itself, when that
 * is little work, and chunks of tiles are computed where nobody waits for a
 * late member. Many rows are made ready together first.
 */
#include "kernels/cpu/cpu.h"

#define FEW_ROWS 16
/* Elements of x up to which every member makes them ready for itself. */
#define OWN_ELEMS 8192
/* Rows of one call of the set. */
#define ROW_BLOCK 256
/* Tiles between two looks whether it is in vain. */
#define LATE_TILES 8
#define CHUNK_MACS 32768
#define CHUNK_BYTES ((size_t)1 << 20)

struct product {
    const uint8_t *w;
    float *dst;
    const float *bias; /* or NULL */
    enum kern_type type;
    int32_t rows, tiles, packed;
};

struct mm_job {
    struct cpu *c;
    struct cpu_wish wish;
    struct cpu_x x; /* made ready for all; x.q NULL: by each member */
    float *normed;
    struct product out[3];
    int32_t rows, n, add, glu;
    int32_t per;             /* rows of a chunk of ready_chunk */
    int32_t members;
    int64_t items, least, most; /* tiles */
};
_Static_assert(sizeof(struct mm_job) <= POOL_ARGS, "a job's arguments");

static bool ready_chunk(const struct pool_at *at, const void *args)
{
    const struct mm_job *j = args;
    int32_t row = at->chunk * j->per, n = j->rows - row;

    cpu_ready_make(&j->x, j->normed, &j->wish, row, n < j->per ? n : j->per);
    return true;
}

static const struct cpu_x *ready(const struct mm_job *j, struct cpu_member *m,
                                 uint64_t job)
{
    if (j->x.q)
        return &j->x;
    if (m->job != job) {
        cpu_ready_shape(&m->own, &j->wish);
        cpu_ready_make(&m->own.x, m->own.normed, &j->wish, 0, j->rows);
        m->job = job;
    }
    return &m->own.x;
}

/* y[r * ldy + i] = the product of row r0 + r and output 16 * t + i */
static void multiply(const struct mm_job *j, struct cpu_member *m,
                     const struct cpu_x *x, const struct product *p, int64_t t,
                     int32_t tiles, int32_t r0, int32_t rows, float *y,
                     size_t ldy)
{
    const struct cpu_isa *isa = j->wish.isa;
    size_t row_bytes, tile_bytes = pack_tile_bytes(p->type, x->cols);

    if (p->packed) {
        isa->product(p->type, p->w + (size_t)t * tile_bytes, tiles, x, r0,
                     rows, y, ldy, m->scratch);
        return;
    }
    row_bytes = quant_bytes(p->type, cpu_zu(x->cols));
    for (; tiles; tiles--, t++, y += PACK_ROWS) {
        int64_t left = p->rows - t * PACK_ROWS;

        pack_tile(p->type, m->tile, p->w + (size_t)t * PACK_ROWS * row_bytes,
                  row_bytes, left < PACK_ROWS ? (int32_t)left : PACK_ROWS,
                  x->cols);
        isa->product(p->type, m->tile, 1, x, r0, rows, y, ldy, m->scratch);
    }
}

/* Results of outputs from tile t on, to where they belong. */
static void write(const struct mm_job *j, const struct product *p, int64_t t,
                  int32_t tiles, int32_t r0, int32_t rows, float *y,
                  size_t ldy)
{
    size_t o = (size_t)t * PACK_ROWS, n = cpu_zu(tiles) * PACK_ROWS;

    n = n < cpu_zu(p->rows) - o ? n : cpu_zu(p->rows) - o;
    for (int32_t r = 0; r < rows; r++, y += ldy) {
        float *to = p->dst + cpu_zu(r0 + r) * cpu_zu(p->rows) + o;

        if (p->bias)
            j->wish.isa->add(y, p->bias + o, n);
        if (j->add)
            j->wish.isa->add(to, y, n);
        else
            memcpy(to, y, n * sizeof(*to));
    }
}

/* The same for a gate and what it lets through. */
static void write_glu(const struct mm_job *j, int64_t t, int32_t tiles,
                      int32_t r0, int32_t rows, const float *gate,
                      const float *up, size_t ldy)
{
    const struct product *p = &j->out[0];
    size_t o = (size_t)t * PACK_ROWS, n = cpu_zu(tiles) * PACK_ROWS;

    n = n < cpu_zu(p->rows) - o ? n : cpu_zu(p->rows) - o;
    for (int32_t r = 0; r < rows; r++, gate += ldy, up += ldy)
        j->wish.isa->swiglu(p->dst + cpu_zu(r0 + r) * cpu_zu(p->rows) + o,
                            gate, up, n);
}

/* All tiles of the call follow each other: which of product i are among
 * tiles lo to hi, counted from its first? */
static bool part(const struct mm_job *j, int32_t i, int64_t lo, int64_t hi,
                 int64_t *t, int32_t *tiles)
{
    int64_t begin = 0, end;

    for (int32_t k = 0; k < i && !j->glu; k++)
        begin += j->out[k].tiles;
    end = begin + j->out[i].tiles;
    lo = lo > begin ? lo : begin;
    hi = hi < end ? hi : end;
    *t = lo - begin;
    *tiles = (int32_t)(hi - lo);
    return lo < hi;
}

static bool few_chunk(const struct pool_at *at, const void *args)
{
    const struct mm_job *j = args;
    struct cpu_member *m = &j->c->members[at->member];
    const struct cpu_x *x = ready(j, m, at->job);
    float *y = m->y, *from[3];
    int64_t lo, hi, t;
    int32_t tiles;

    cpu_chunk(j->items, j->members, j->least, j->most, at->chunk, &lo, &hi);
    for (int32_t i = 0; i < j->n; i++) {
        size_t ldy;

        from[i] = y;
        if (!part(j, i, lo, hi, &t, &tiles))
            continue;
        ldy = cpu_zu(tiles) * PACK_ROWS;
        for (int32_t d = 0; d < tiles; d += LATE_TILES) {
            int32_t n = tiles - d < LATE_TILES ? tiles - d : LATE_TILES;

            if (pool_late(at))
                return false;
            multiply(j, m, x, &j->out[i], t + d, n, 0, j->rows,
                     y + cpu_zu(d) * PACK_ROWS, ldy);
        }
        y += ldy * cpu_zu(j->rows);
    }
    if (!pool_commit(at))
        return false;
    if (j->glu) {
        write_glu(j, lo, (int32_t)(hi - lo), 0, j->rows, from[0], from[1],
                  cpu_zu((int32_t)(hi - lo)) * PACK_ROWS);
        return true;
    }
    for (int32_t i = 0; i < j->n; i++)
        if (part(j, i, lo, hi, &t, &tiles))
            write(j, &j->out[i], t, tiles, 0, j->rows, from[i],
                  cpu_zu(tiles) * PACK_ROWS);
    return true;
}

/* Two tiles at most and a block of rows. */
static void many_block(const struct mm_job *j, struct cpu_member *m, int32_t i,
                       int64_t t, int32_t tiles, int32_t r0, int32_t rows)
{
    const size_t ldy = CPU_WIDE_TILES * PACK_ROWS;
    float *y = m->y, *up = y + ROW_BLOCK * ldy;

    multiply(j, m, &j->x, &j->out[i], t, tiles, r0, rows, y, ldy);
    if (!j->glu) {
        write(j, &j->out[i], t, tiles, r0, rows, y, ldy);
        return;
    }
    multiply(j, m, &j->x, &j->out[1], t, tiles, r0, rows, up, ldy);
    write_glu(j, t, tiles, r0, rows, y, up, ldy);
}
_Static_assert(2 * ROW_BLOCK * CPU_WIDE_TILES * PACK_ROWS <= CPU_RESULTS,
               "two products of a block of rows");

static bool many_chunk(const struct pool_at *at, const void *args)
{
    const struct mm_job *j = args;
    struct cpu_member *m = &j->c->members[at->member];
    int64_t lo, hi, t;
    int32_t tiles;

    cpu_chunk(j->items, j->members, j->least, j->most, at->chunk, &lo, &hi);
    for (int32_t i = 0; i < (j->glu ? 1 : j->n); i++) {
        if (!part(j, i, lo, hi, &t, &tiles))
            continue;
        for (; tiles > 0; t += CPU_WIDE_TILES, tiles -= CPU_WIDE_TILES)
            for (int32_t r = 0; r < j->rows; r += ROW_BLOCK)
                many_block(j, m, i, t,
                           tiles < CPU_WIDE_TILES ? tiles : CPU_WIDE_TILES, r,
                           j->rows - r < ROW_BLOCK ? j->rows - r : ROW_BLOCK);
    }
    return true;
}

/* --- what there is to do -------------------------------------------------- */

static bool is_float(enum kern_type t)
{
    return t == KERN_F32 || t == KERN_F16 || t == KERN_BF16;
}

static void need_tile(struct cpu *c, size_t bytes)
{
    int n = pool_members(c->pool);

    if (bytes <= c->members[0].tile_bytes)
        return;
    pool_quiet(c->pool);
    for (int i = 0; i < n; i++) {
        struct cpu_member *m = &c->members[i];

        m->tile = cpu_room(c, &m->tile_heap, m->tile_bytes, bytes);
        m->tile_bytes = bytes;
    }
}

static void add_product(struct mm_job *j, const struct kern_mm *m, int32_t i)
{
    const struct kern_mat *w = m->out[i].w;
    size_t outs = cpu_zu(w->rows), cols = cpu_zu(w->cols);
    struct kern_buf *dst = m->out[m->glu ? 0 : i].dst;
    struct product *p = &j->out[i];

    BUG_ON(w->cols != j->wish.cols || dst == m->x);
    BUG_ON((w->packed ? pack_bytes(w->type, w->rows, w->cols)
                      : quant_bytes(w->type, cols) * outs) > w->buf->bytes);
    *p = (struct product){
        .w = w->buf->p,
        .dst = cpu_f32(dst, cpu_zu(m->rows) * outs),
        .bias = m->out[i].bias ? cpu_f32(m->out[i].bias, outs) : NULL,
        .type = w->type,
        .rows = w->rows,
        .tiles = (w->rows + PACK_ROWS - 1) / PACK_ROWS,
        .packed = w->packed,
    };
    j->wish.flags |= is_float(w->type) ? CPU_PLAIN : CPU_ROUND;
    if (!w->packed)
        need_tile(j->c, pack_tile_bytes(w->type, w->cols));
    if (!m->glu || !i)
        j->items += p->tiles;
}

/* How large are chunks? False: this is no job of POOL_REDO. */
static bool cut(struct mm_job *j)
{
    int64_t macs = (int64_t)j->wish.cols * PACK_ROWS * j->rows;
    int64_t room = CPU_RESULTS / (PACK_ROWS * (j->glu ? 2 : 1));
    size_t bytes = 1;
    bool few = j->rows <= FEW_ROWS;

    for (int32_t i = 0; i < j->n; i++) {
        size_t b = pack_tile_bytes(j->out[i].type, j->wish.cols);

        bytes = b > bytes ? b : bytes;
    }
    j->members = pool_members(j->c->pool);
    j->least = few ? CHUNK_MACS / macs : CPU_WIDE_TILES;
    j->least = j->least ? j->least : 1;
    j->most = few ? (int64_t)(CHUNK_BYTES / bytes) : j->items;
    j->most = j->most > j->least ? j->most : j->least;
    if (few && j->most > room / j->rows)
        j->most = room / j->rows;
    if (j->least > j->most)
        j->least = j->most;
    if (macs * j->items < CPU_SMALL && j->items <= room / j->rows)
        j->least = j->most = j->items;
    return few && cpu_chunks(j->items, j->members, j->least, j->most) <=
                      POOL_CHUNKS;
}

static void ready_job(struct mm_job *j)
{
    struct cpu *c = j->c;

    cpu_ready_room(c, &c->shared, j->rows, j->wish.cols);
    cpu_ready_shape(&c->shared, &j->wish);
    j->x = c->shared.x;
    j->normed = c->shared.normed;
    if (!j->wish.norm && !(j->wish.flags & CPU_ROUND))
        return; /* f32 as it is */
    j->per = OWN_ELEMS / 2 / j->wish.cols;
    j->per = j->per ? j->per : 1;
    pool_add(c->pool, POOL_OWN, ready_chunk, j, sizeof(*j),
             (j->rows + j->per - 1) / j->per);
}

void cpu_matmul(struct kern *k, const struct kern_mm *m)
{
    struct cpu *c = cpu_of(k);
    struct mm_job j = {
        .c = c,
        .rows = m->rows,
        .n = m->n,
        .add = m->add,
        .glu = m->glu,
        .wish = {.isa = c->isa, .eps = m->eps, .cols = m->out[0].w->cols},
    };
    size_t cols = cpu_zu(j.wish.cols);
    bool redo;

    BUG_ON(m->n < 1 || m->n > 3 || m->rows < 1);
    BUG_ON(m->glu && (m->n != 2 || m->add || m->out[0].bias ||
                      m->out[1].bias || m->out[0].w->rows !=
                      m->out[1].w->rows));
    j.wish.x = cpu_f32(m->x, cpu_zu(m->rows) * cols);
    j.wish.norm = m->norm ? cpu_f32(m->norm, cols) : NULL;
    for (int32_t i = 0; i < m->n; i++)
        add_product(&j, m, i);
    redo = cut(&j);
    if (redo && (m->rows == 1 || cpu_zu(m->rows) * cols <= OWN_ELEMS))
        for (int i = 0; i < j.members; i++)
            cpu_ready_room(c, &c->members[i].own, m->rows, j.wish.cols);
    else
        ready_job(&j);
    pool_add(c->pool, redo ? POOL_REDO : POOL_OWN,
             redo ? few_chunk : many_chunk, &j, sizeof(j),
             cpu_chunks(j.items, j.members, j.least, j.most));
}
