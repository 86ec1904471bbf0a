/* The rows of a step, into the backend and out of it. */
#include "kernels/cpu/cpu.h"

#include "base/mem.h"

static void op_upload(struct kern *k, struct kern_buf *dst, size_t off,
                      const void *src, size_t bytes)
{
    struct cpu *c = cpu_of(k);

    BUG_ON(off > dst->bytes || bytes > dst->bytes - off);
    pool_wait(c->pool);
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
    size_t seqs = cpu_zu(r->n_seqs), total = 0;

    room(&c->first.p, &c->first.cap, seqs);
    if (seqs)
        memset(c->first.p, 0, seqs * sizeof(*c->first.p));
    c->single = true;
    for (int32_t i = 0; i < r->n; i++) {
        int32_t want = r->pos[i] / KV_PAGE + 1, *n;

        BUG_ON(r->pos[i] < 0 || want > r->max_pages || r->seq[i] < 0 ||
               r->seq[i] >= r->n_seqs);
        n = &c->first.p[r->seq[i]];
        c->single = c->single && !*n;
        *n = want > *n ? want : *n;
    }
    for (size_t q = 0; q < seqs; q++)
        total += cpu_zu(c->first.p[q]);
    BUG_ON(total > INT32_MAX);
    room(&c->pages.p, &c->pages.cap, total);
    total = 0;
    c->top_page = 0;
    for (size_t q = 0; q < seqs; q++) {
        int32_t n = c->first.p[q];

        c->first.p[q] = (int32_t)total;
        for (int32_t i = 0; i < n; i++) {
            int32_t page = r->pages[q * cpu_zu(r->max_pages) + cpu_zu(i)];

            BUG_ON(page < 0);
            c->top_page = page > c->top_page ? page : c->top_page;
            c->pages.p[total++] = page;
        }
    }
}

static void op_begin(struct kern *k, const struct kern_rows *r)
{
    struct cpu *c = cpu_of(k);

    BUG_ON(r->n_out < 0 || r->n_out > r->n);
    pool_wait(c->pool);
    if (!c->owned)
        pool_own(c->pool);
    c->owned = true;
    copy_ints(&c->ids, r->ids, cpu_zu(r->n));
    copy_ints(&c->pos, r->pos, cpu_zu(r->n));
    copy_ints(&c->seq, r->seq, cpu_zu(r->n));
    copy_ints(&c->out, r->out, cpu_zu(r->n_out));
    copy_pages(c, r);
    c->n = r->n;
    c->n_out = r->n_out;
    c->block_rows = 0;
    for (int32_t i = 0; i < c->n_out; i++)
        BUG_ON(c->out.p[i] < 0 || c->out.p[i] >= c->n);
    for (int i = 0; i < CPU_ROPES; i++)
        c->rope[i].inv = NULL;
}

struct embed_job {
    const struct cpu *c;
    float *dst;
    const uint8_t *table;
    enum kern_type type;
    int32_t cols, packed, per;
};

static bool embed_chunk(const struct pool_at *at, const void *args)
{
    const struct embed_job *j = args;
    size_t cols = cpu_zu(j->cols), row = quant_bytes(j->type, cols);
    size_t tile = pack_tile_bytes(j->type, j->cols);
    int32_t i = at->chunk * j->per, end = i + j->per;

    for (; i < end && i < j->c->n; i++) {
        size_t id = cpu_zu(j->c->ids.p[i]);
        float *y = j->dst + cpu_zu(i) * cols;

        if (j->packed)
            pack_row(j->type, j->table + id / PACK_ROWS * tile, j->cols,
                     (int32_t)(id % PACK_ROWS), y);
        else
            kern_dequant(j->type, j->table + id * row, y, cols);
    }
    return true;
}

static void op_embed(struct kern *k, struct kern_buf *dst,
                     const struct kern_mat *table)
{
    struct cpu *c = cpu_of(k);
    size_t cols = cpu_zu(table->cols);
    struct embed_job j = {
        .c = c,
        .dst = cpu_f32(dst, cpu_zu(c->n) * cols),
        .table = table->buf->p,
        .type = table->type,
        .cols = table->cols,
        .packed = table->packed,
        .per = CPU_SMALL / table->cols + 1,
    };

    BUG_ON((table->packed
                ? pack_bytes(table->type, table->rows, table->cols)
                : quant_bytes(table->type, cols) * cpu_zu(table->rows)) >
           table->buf->bytes);
    for (int32_t i = 0; i < c->n; i++)
        BUG_ON(c->ids.p[i] < 0 || c->ids.p[i] >= table->rows);
    pool_add(c->pool, POOL_OWN, embed_chunk, &j, sizeof(j),
             (c->n + j.per - 1) / j.per);
}

struct gather_job {
    const struct cpu *c;
    float *dst;
    const float *x;
    size_t width;
};

static bool gather_chunk(const struct pool_at *at, const void *args)
{
    const struct gather_job *j = args;

    (void)at;
    for (size_t i = 0; i < cpu_zu(j->c->n_out); i++)
        memcpy(j->dst + i * j->width,
               j->x + cpu_zu(j->c->out.p[i]) * j->width,
               j->width * sizeof(*j->x));
    return true;
}

static void op_gather_out(struct kern *k, struct kern_buf *dst,
                          const struct kern_buf *x, int32_t width)
{
    struct cpu *c = cpu_of(k);
    struct gather_job j = {
        c,
        cpu_f32(dst, cpu_zu(c->n_out) * cpu_zu(width)),
        cpu_f32(x, cpu_zu(c->n) * cpu_zu(width)),
        cpu_zu(width),
    };

    pool_add(c->pool, POOL_OWN, gather_chunk, &j, sizeof(j), 1);
}

static void op_read_logits(struct kern *k, const struct kern_buf *logits,
                           int32_t i, int32_t n, float *dst)
{
    pool_wait(cpu_of(k)->pool);
    memcpy(dst,
           cpu_f32(logits, (cpu_zu(i) + 1) * cpu_zu(n)) +
               cpu_zu(i) * cpu_zu(n),
           cpu_zu(n) * sizeof(*dst));
}

const struct kern_ops cpu_ops = {
    .free = cpu_free,
    .alloc = cpu_alloc,
    .weights = cpu_weights,
    .pack_bytes = cpu_pack_bytes,
    .pack = cpu_pack,
    .buf_free = cpu_buf_free,
    .upload = op_upload,
    .begin = op_begin,
    .embed = op_embed,
    .matmul = cpu_matmul,
    .attention = cpu_attention,
    .kv_copy = cpu_kv_copy,
    .kv_read = cpu_kv_read,
    .kv_write = cpu_kv_write,
    .kv_drop = cpu_kv_drop,
    .gather_out = op_gather_out,
    .read_logits = op_read_logits,
};
