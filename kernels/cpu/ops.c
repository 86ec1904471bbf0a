/* The operations: shapes, pages and the sharing of work among threads. */
#include "kernels/cpu/cpu.h"

#include "base/mem.h"

#include <math.h>

/* Fewer elements than this are done by the caller's thread alone: waking
 * the others costs more. */
#define SMALL 16384

static struct cpu *cpu_of(struct kern *k)
{
    return (struct cpu *)k;
}

static size_t zu(int32_t n)
{
    BUG_ON(n < 0);
    return (size_t)n;
}

static float *f32s(const struct kern_buf *b, size_t n)
{
    BUG_ON(n > b->bytes / sizeof(float));
    return (float *)(void *)b->p;
}

static void run(struct cpu *c, size_t elements, void (*fn)(void *, int, int),
                void *arg)
{
    if (elements < SMALL)
        fn(arg, 0, 1);
    else
        pool_run(c->pool, fn, arg);
}

/* --- memory and rows ------------------------------------------------- */

static void op_upload(struct kern *k, struct kern_buf *dst, size_t off,
                      const void *src, size_t bytes)
{
    struct cpu *c = cpu_of(k);

    BUG_ON(off > dst->bytes || bytes > dst->bytes - off);
    memcpy(dst->p + off, src, bytes);
    for (int i = 0; i < CPU_ROPES; i++)
        c->rope[i].inv = NULL;
}

/* Room for n ints in *p, whose contents are lost when it grows. */
static void room(int32_t **p, size_t *cap, size_t n)
{
    if (n <= *cap)
        return;
    free(*p);
    *p = mem_array(int32_t, n);
    *cap = n;
}

static void copy_ints(struct ints *dst, const int32_t *src, size_t n)
{
    room(&dst->p, &dst->cap, n);
    if (n)
        memcpy(dst->p, src, n * sizeof(*src));
}

/* Of each sequence the pages that its rows look at, one list after another:
 * no more than there are in use, however long a context may be. */
static void copy_pages(struct cpu *c, const struct kern_rows *r)
{
    size_t seqs = zu(r->n_seqs), total = 0;

    room(&c->first.p, &c->first.cap, seqs);
    if (seqs)
        memset(c->first.p, 0, seqs * sizeof(*c->first.p));
    for (int32_t i = 0; i < r->n; i++) {
        int32_t want = r->pos[i] / KV_PAGE + 1, *n;

        BUG_ON(r->pos[i] < 0 || want > r->max_pages || r->seq[i] < 0 ||
               r->seq[i] >= r->n_seqs);
        n = &c->first.p[r->seq[i]];
        *n = want > *n ? want : *n;
    }
    for (size_t q = 0; q < seqs; q++)
        total += zu(c->first.p[q]);
    BUG_ON(total > INT32_MAX);
    room(&c->pages.p, &c->pages.cap, total);
    total = 0;
    c->top_page = 0;
    for (size_t q = 0; q < seqs; q++) {
        int32_t n = c->first.p[q];

        c->first.p[q] = (int32_t)total;
        for (int32_t i = 0; i < n; i++) {
            int32_t page = r->pages[q * zu(r->max_pages) + zu(i)];

            BUG_ON(page < 0);
            c->top_page = page > c->top_page ? page : c->top_page;
            c->pages.p[total++] = page;
        }
    }
}

/* The page list of a row's sequence. */
static const int32_t *pages_of(const struct cpu *c, int64_t row)
{
    return c->pages.p + c->first.p[c->seq.p[row]];
}

static void op_begin(struct kern *k, const struct kern_rows *r)
{
    struct cpu *c = cpu_of(k);

    BUG_ON(r->n_out < 0 || r->n_out > r->n);
    copy_ints(&c->ids, r->ids, zu(r->n));
    copy_ints(&c->pos, r->pos, zu(r->n));
    copy_ints(&c->seq, r->seq, zu(r->n));
    copy_ints(&c->out, r->out, zu(r->n_out));
    copy_pages(c, r);
    c->n = r->n;
    c->n_out = r->n_out;
    for (int32_t i = 0; i < c->n_out; i++)
        BUG_ON(c->out.p[i] < 0 || c->out.p[i] >= c->n);
    for (int i = 0; i < CPU_ROPES; i++)
        c->rope[i].inv = NULL;
}

static void op_embed(struct kern *k, struct kern_buf *dst,
                     const struct kern_mat *table)
{
    struct cpu *c = cpu_of(k);
    size_t cols = zu(table->cols), row = quant_bytes(table->type, cols);
    float *y = f32s(dst, zu(c->n) * cols);

    BUG_ON(row * zu(table->rows) > table->buf->bytes);
    for (int32_t i = 0; i < c->n; i++, y += cols) {
        BUG_ON(c->ids.p[i] < 0 || c->ids.p[i] >= table->rows);
        c->set->decode(table->type, table->buf->p + zu(c->ids.p[i]) * row, y,
                       cols);
    }
}

static void op_gather_out(struct kern *k, struct kern_buf *dst,
                          const struct kern_buf *x, int32_t width)
{
    struct cpu *c = cpu_of(k);
    float *y = f32s(dst, zu(c->n_out) * zu(width));
    const float *s = f32s(x, zu(c->n) * zu(width));

    for (int32_t i = 0; i < c->n_out; i++)
        memcpy(y + zu(i) * zu(width), s + zu(c->out.p[i]) * zu(width),
               zu(width) * sizeof(*y));
}

static void op_read_logits(struct kern *k, const struct kern_buf *logits,
                           int32_t i, int32_t n, float *dst)
{
    (void)k;
    memcpy(dst, f32s(logits, (zu(i) + 1) * zu(n)) + zu(i) * zu(n),
           zu(n) * sizeof(*dst));
}

/* --- elementwise and norm -------------------------------------------- */

struct norm_job {
    const struct cpu_set *set;
    float *dst;
    const float *x, *w;
    int32_t rows, width;
    float eps;
};

static void norm_part(void *arg, int i, int n)
{
    const struct norm_job *j = arg;
    int64_t lo, hi;

    pool_share(j->rows, 1, i, n, &lo, &hi);
    for (int64_t r = lo; r < hi; r++)
        j->set->norm(j->dst + r * j->width, j->x + r * j->width, j->w,
                     j->width, j->eps);
}

static void op_rms_norm(struct kern *k, struct kern_buf *dst,
                        const struct kern_buf *x, const struct kern_buf *w,
                        int32_t rows, int32_t width, float eps)
{
    struct cpu *c = cpu_of(k);
    size_t n = zu(rows) * zu(width);
    struct norm_job j = {c->set,          f32s(dst, n), f32s(x, n),
                         f32s(w, zu(width)), rows,         width,
                         eps};

    run(c, rows > 1 ? n : 0, norm_part, &j);
}

struct pair_job {
    const struct cpu_set *set;
    float *a;
    const float *b;
    int64_t n;
};

static void swiglu_part(void *arg, int i, int n)
{
    const struct pair_job *j = arg;
    int64_t lo, hi;

    pool_share(j->n, 16, i, n, &lo, &hi);
    j->set->swiglu(j->a + lo, j->b + lo, (size_t)(hi - lo));
}

static void add_part(void *arg, int i, int n)
{
    const struct pair_job *j = arg;
    int64_t lo, hi;

    pool_share(j->n, 16, i, n, &lo, &hi);
    for (int64_t p = lo; p < hi; p++)
        j->a[p] += j->b[p];
}

static void pair(struct kern *k, struct kern_buf *a, const struct kern_buf *b,
                 int32_t width, void (*part)(void *, int, int))
{
    struct cpu *c = cpu_of(k);
    size_t n = zu(c->n) * zu(width);
    struct pair_job j = {c->set, f32s(a, n), f32s(b, n), (int64_t)n};

    run(c, n, part, &j);
}

static void op_swiglu(struct kern *k, struct kern_buf *gate,
                      const struct kern_buf *up, int32_t width)
{
    pair(k, gate, up, width, swiglu_part);
}

static void op_add(struct kern *k, struct kern_buf *x,
                   const struct kern_buf *y, int32_t width)
{
    pair(k, x, y, width, add_part);
}

/* --- matrix times rows ------------------------------------------------ */

struct mat_job {
    const struct cpu_set *set;
    enum kern_type type;
    const uint8_t *w;
    size_t row_bytes, tile_bytes; /* of all columns, of TILE_K */
    int32_t outs, cols, rows;
    const float *x, *bias; /* bias may be NULL */
    float *dst;
};

/* Decode columns k0..k0+nk of up to TILE_W weight rows; the rest is zero. */
static void load_tile(const struct mat_job *j, int64_t o, int nw, int32_t k0,
                      int32_t nk, float *tile)
{
    const uint8_t *w = j->w + (size_t)o * j->row_bytes +
                       (size_t)k0 / TILE_K * j->tile_bytes;

    for (int i = 0; i < nw; i++, tile += TILE_K, w += j->row_bytes) {
        j->set->decode(j->type, w, tile, (size_t)nk);
        for (int32_t p = nk; p % 8; p++)
            tile[p] = 0;
    }
}

/* F32 weights are tiles already, unless the last lanes need zeros. */
static bool in_place(const struct mat_job *j, int nw)
{
    return j->type == KERN_F32 && nw == TILE_W && j->cols % 8 == 0 &&
           (uintptr_t)j->w % sizeof(float) == 0;
}

static bool one_row(const struct mat_job *j, int64_t o, int nw, float *acc)
{
    return j->rows == 1 && nw == TILE_W && j->set->row &&
           j->set->row(j->type, j->w + (size_t)o * j->row_bytes, j->row_bytes,
                       j->cols, j->x, acc);
}

/* acc[r][w][lane] for outputs o..o+nw and activation rows r0..r0+nr. */
static void mat_sums(const struct mat_job *j, int64_t o, int nw, int32_t r0,
                     int32_t nr, float *acc)
{
    _Alignas(64) float tile[TILE_W * TILE_K];
    size_t cols = (size_t)j->cols;
    const float *direct = NULL;

    memset(acc, 0, sizeof(*acc) * (size_t)nr * TILE_W * 8);
    if (in_place(j, nw))
        direct = (const float *)(const void *)j->w + (size_t)o * cols;
    else if (nw < TILE_W)
        memset(tile, 0, sizeof(tile));
    for (int32_t k0 = 0; k0 < j->cols; k0 += TILE_K) {
        int32_t nk = j->cols - k0 < TILE_K ? j->cols - k0 : TILE_K;
        const float *x = j->x + (size_t)r0 * cols + k0;

        if (direct) {
            j->set->tile(direct + k0, cols, nk, x, cols, nr, acc);
            continue;
        }
        load_tile(j, o, nw, k0, nk, tile);
        j->set->tile(tile, TILE_K, nk, x, cols, nr, acc);
    }
}

static void mat_tile(const struct mat_job *j, int64_t o, int nw, int32_t r0,
                     int32_t nr)
{
    _Alignas(64) float acc[TILE_X * TILE_W * 8];

    if (!one_row(j, o, nw, acc))
        mat_sums(j, o, nw, r0, nr, acc);
    for (int32_t r = 0; r < nr; r++) {
        float *y = j->dst + (size_t)(r0 + r) * (size_t)j->outs + o;

        for (int w = 0; w < nw; w++) {
            float v = cpu_sum8(acc + (r * TILE_W + w) * 8);

            y[w] = j->bias ? v + j->bias[o + w] : v;
        }
    }
}

static void mat_part(void *arg, int i, int n)
{
    const struct mat_job *j = arg;
    int64_t lo, hi;

    pool_share(j->outs, TILE_W, i, n, &lo, &hi);
    for (int64_t o = lo; o < hi; o += TILE_W) {
        int nw = hi - o < TILE_W ? (int)(hi - o) : TILE_W;

        for (int32_t r = 0; r < j->rows; r += TILE_X) {
            int32_t nr = j->rows - r < TILE_X ? j->rows - r : TILE_X;

            mat_tile(j, o, nw, r, nr);
        }
    }
}

static void op_matmul(struct kern *k, struct kern_buf *dst,
                      const struct kern_buf *x, const struct kern_mat *w,
                      const struct kern_buf *bias, int32_t rows)
{
    struct cpu *c = cpu_of(k);
    size_t outs = zu(w->rows), cols = zu(w->cols);
    struct mat_job j = {
        .set = c->set,
        .type = w->type,
        .w = w->buf->p,
        .row_bytes = quant_bytes(w->type, cols),
        .tile_bytes = quant_bytes(w->type, TILE_K),
        .outs = w->rows,
        .cols = w->cols,
        .rows = rows,
        .x = f32s(x, zu(rows) * cols),
        .bias = bias ? f32s(bias, outs) : NULL,
        .dst = f32s(dst, zu(rows) * outs),
    };

    BUG_ON(j.row_bytes * outs > w->buf->bytes);
    BUG_ON(dst == x);
    run(c, outs * cols, mat_part, &j);
}

/* --- heads: rotation, cache, attention --------------------------------- */

/* The table for this rotation, made at its first use in a step. */
static const float *rope_table(struct cpu *c, const struct kern_rope *rope)
{
    size_t half = zu(rope->dims) / 2, n = zu(c->n) * half * 2;
    const double *inv = (const double *)(const void *)rope->inv->p;
    struct cpu_rope *t;

    BUG_ON(rope->dims % 2 || half > rope->inv->bytes / sizeof(*inv));
    for (int i = 0; i < CPU_ROPES; i++)
        if (c->rope[i].inv == rope->inv && c->rope[i].dims == rope->dims)
            return c->rope[i].cs;
    t = &c->rope[c->next_rope];
    c->next_rope = (c->next_rope + 1) % CPU_ROPES;
    if (n > t->cap) {
        free(t->cs);
        t->cs = mem_array(float, n);
        t->cap = n;
    }
    t->inv = rope->inv;
    t->dims = rope->dims;
    for (size_t r = 0; r < zu(c->n); r++)
        for (size_t i = 0; i < half; i++) {
            double angle = inv[i] * c->pos.p[r];

            t->cs[(r * half + i) * 2] = (float)cos(angle) * rope->mscale;
            t->cs[(r * half + i) * 2 + 1] = (float)sin(angle) * rope->mscale;
        }
    return t->cs;
}

struct rope_job {
    const struct cpu_set *set;
    float *x;
    const float *w, *cs; /* w may be NULL */
    int32_t rows, heads, head_dim, dims, neox;
    float eps;
};

static void rotate(float *x, const float *cs, int32_t dims, int32_t neox)
{
    int32_t half = dims / 2;

    for (int32_t i = 0; i < half; i++) {
        float *a = neox ? x + i : x + 2 * i;
        float *b = neox ? x + i + half : x + 2 * i + 1;
        float u = *a, v = *b, co = cs[2 * i], si = cs[2 * i + 1];

        *a = u * co - v * si;
        *b = u * si + v * co;
    }
}

static void rope_part(void *arg, int i, int n)
{
    const struct rope_job *j = arg;
    int64_t lo, hi;

    pool_share((int64_t)j->rows * j->heads, 1, i, n, &lo, &hi);
    for (int64_t p = lo; p < hi; p++) {
        float *x = j->x + p * j->head_dim;

        if (j->w)
            j->set->norm(x, x, j->w, j->head_dim, j->eps);
        rotate(x, j->cs + p / j->heads * j->dims, j->dims, j->neox);
    }
}

static void op_head_rope(struct kern *k, struct kern_buf *x, int32_t heads,
                         int32_t head_dim, const struct kern_buf *w, float eps,
                         const struct kern_rope *rope)
{
    struct cpu *c = cpu_of(k);
    size_t n = zu(c->n) * zu(heads) * zu(head_dim);
    struct rope_job j = {
        .set = c->set,
        .x = f32s(x, n),
        .w = w ? f32s(w, zu(head_dim)) : NULL,
        .cs = rope_table(c, rope),
        .rows = c->n,
        .heads = heads,
        .head_dim = head_dim,
        .dims = rope->dims,
        .neox = rope->neox,
        .eps = eps,
    };

    BUG_ON(rope->dims > head_dim);
    run(c, n, rope_part, &j);
}

/* f16 elements from a page to the next, and where a layer begins. */
static size_t kv_layer(const struct cpu *c, const struct kern_kv *kv,
                       int32_t layer, size_t *page)
{
    size_t all;

    *page = zu(kv->kv_heads) * KV_PAGE * zu(kv->head_dim);
    BUG_ON(layer < 0 || layer >= kv->layers || c->top_page >= kv->pages);
    BUG_ON(!mem_mul(&all, *page * zu(kv->pages), zu(kv->layers)));
    BUG_ON(all > kv->k->bytes / 2 || all > kv->v->bytes / 2);
    return zu(layer) * zu(kv->pages) * *page;
}

static void op_kv_store(struct kern *k, const struct kern_kv *kv,
                        int32_t layer, const struct kern_buf *key,
                        const struct kern_buf *val)
{
    struct cpu *c = cpu_of(k);
    size_t page, base = kv_layer(c, kv, layer, &page);
    size_t dim = zu(kv->head_dim), heads = zu(kv->kv_heads);
    const float *ks = f32s(key, zu(c->n) * heads * dim);
    const float *vs = f32s(val, zu(c->n) * heads * dim);
    uint16_t *kd = (uint16_t *)(void *)kv->k->p + base;
    uint16_t *vd = (uint16_t *)(void *)kv->v->p + base;

    for (int32_t i = 0; i < c->n; i++) {
        int32_t pos = c->pos.p[i];
        size_t off = zu(pages_of(c, i)[pos / KV_PAGE]) * page +
                     zu(pos % KV_PAGE) * dim;

        for (size_t h = 0; h < heads; h++, off += KV_PAGE * dim) {
            c->set->to_f16(kd + off, ks, dim);
            c->set->to_f16(vd + off, vs, dim);
            ks += dim;
            vs += dim;
        }
    }
}

struct attend_job {
    const struct cpu *c;
    const float *q;
    float *dst;
    const uint16_t *k, *v; /* this layer */
    size_t page;
    int32_t heads, group, head_dim;
    float scale;
};

/* Positions 0..pos in order, page by page, whatever page holds them. */
static void attend_head(const struct attend_job *j, int64_t row, int64_t head)
{
    const struct cpu *c = j->c;
    size_t dim = zu(j->head_dim);
    size_t at = (size_t)(row * j->heads + head) * dim;
    size_t kv_head = (size_t)(head / j->group) * KV_PAGE * dim;
    const int32_t *page = pages_of(c, row);
    int32_t left = c->pos.p[row] + 1;
    struct cpu_attend a = {
        .q = j->q + at,
        .out = j->dst + at,
        .head_dim = j->head_dim,
        .scale = j->scale,
        .max = -INFINITY,
    };
    float inv;

    memset(a.out, 0, dim * sizeof(*a.out));
    for (; left > 0; left -= KV_PAGE, page++) {
        size_t off = zu(*page) * j->page + kv_head;

        c->set->attend(&a, j->k + off, j->v + off,
                       left < KV_PAGE ? left : KV_PAGE);
    }
    inv = 1.0f / a.sum;
    for (size_t d = 0; d < dim; d++)
        a.out[d] *= inv;
}

static void attend_part(void *arg, int i, int n)
{
    const struct attend_job *j = arg;
    int64_t items = (int64_t)j->c->n * j->heads;

    /* Interleaved: later rows of a prefill see more positions. */
    for (int64_t p = i; p < items; p += n)
        attend_head(j, p / j->heads, p % j->heads);
}

static void op_attend(struct kern *k, struct kern_buf *dst,
                      const struct kern_buf *q, const struct kern_kv *kv,
                      int32_t layer, int32_t heads, float scale)
{
    struct cpu *c = cpu_of(k);
    size_t page, base = kv_layer(c, kv, layer, &page);
    size_t n = zu(c->n) * zu(heads) * zu(kv->head_dim), work = 0;
    struct attend_job j = {
        .c = c,
        .q = f32s(q, n),
        .dst = f32s(dst, n),
        .k = (const uint16_t *)(const void *)kv->k->p + base,
        .v = (const uint16_t *)(const void *)kv->v->p + base,
        .page = page,
        .heads = heads,
        .group = heads / kv->kv_heads,
        .head_dim = kv->head_dim,
        .scale = scale,
    };

    BUG_ON(heads % kv->kv_heads || dst == q);
    for (int32_t i = 0; i < c->n; i++)
        work += (zu(c->pos.p[i]) + 1) * zu(heads) * zu(kv->head_dim);
    run(c, work, attend_part, &j);
}

const struct kern_ops cpu_ops = {
    .free = cpu_free,
    .alloc = cpu_alloc,
    .weights = cpu_weights,
    .buf_free = cpu_buf_free,
    .upload = op_upload,
    .begin = op_begin,
    .embed = op_embed,
    .rms_norm = op_rms_norm,
    .matmul = op_matmul,
    .head_rope = op_head_rope,
    .kv_store = op_kv_store,
    .attend = op_attend,
    .swiglu = op_swiglu,
    .add = op_add,
    .gather_out = op_gather_out,
    .read_logits = op_read_logits,
};
