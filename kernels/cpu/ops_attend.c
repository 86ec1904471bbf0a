/* Attention: heads turned and stored, then pages looked at. */
#include "kernels/cpu/cpu.h"

#include "base/mem.h"

#include <math.h>

/* Queries that go through the pages together. */
#define QUERIES 32
/* Elements that a chunk of turning and storing has at least. */
#define TURN_ELEMS 4096

struct att_job {
    struct cpu *c;
    float *dst, *q, *key;
    const float *val;
    const float *q_norm, *k_norm; /* or NULL */
    const float *cs;              /* [n][dims] */
    uint8_t *k, *v;               /* this layer in page 0 */
    size_t head, page;            /* bytes of a head's part and of a page */
    enum kern_type type;
    int32_t heads, kv_heads, group, head_dim, dims, neox;
    int32_t parts; /* a group of queries is computed in */
    int32_t items, per;
    float eps, scale;
};
_Static_assert(sizeof(struct att_job) <= POOL_ARGS, "a job's arguments");

/* --- rotation ------------------------------------------------------------- */

struct rope_job {
    const struct cpu *c;
    const double *inv;
    float *cs;
    int32_t half, per;
    float mscale;
};

static bool rope_chunk(const struct pool_at *at, const void *args)
{
    const struct rope_job *j = args;
    int32_t row = at->chunk * j->per, end = row + j->per;

    for (; row < end && row < j->c->n; row++) {
        float *cs = j->cs + cpu_zu(row) * cpu_zu(j->half) * 2;

        for (int32_t i = 0; i < j->half; i++) {
            double angle = j->inv[i] * j->c->pos.p[row];

            cs[2 * i] = (float)cos(angle) * j->mscale;
            cs[2 * i + 1] = (float)sin(angle) * j->mscale;
        }
    }
    return true;
}

/* The table for this rotation, made at its first use in a step. */
static const float *rope_table(struct cpu *c, const struct kern_rope *rope)
{
    size_t half = cpu_zu(rope->dims) / 2, n = cpu_zu(c->n) * half * 2;
    struct rope_job j = {
        .c = c,
        .inv = (const double *)(const void *)rope->inv->p,
        .half = rope->dims / 2,
        .mscale = rope->mscale,
    };
    struct cpu_rope *t;

    BUG_ON(rope->dims % 2 || half > rope->inv->bytes / sizeof(double));
    for (int i = 0; i < CPU_ROPES; i++)
        if (c->rope[i].inv == rope->inv && c->rope[i].dims == rope->dims)
            return c->rope[i].cs;
    t = &c->rope[c->next_rope];
    c->next_rope = (c->next_rope + 1) % CPU_ROPES;
    if (n > t->cap) {
        pool_wait(c->pool);
        free(t->cs);
        c->k.bytes[KERN_WORKSPACE] += (n - t->cap) * sizeof(float);
        t->cs = mem_array(float, n);
        t->cap = n;
    }
    t->inv = rope->inv;
    t->dims = rope->dims;
    j.cs = t->cs;
    j.per = 1 + 256 / (rope->dims / 2 + 1);
    pool_add(c->pool, POOL_OWN, rope_chunk, &j, sizeof(j),
             (c->n + j.per - 1) / j.per);
    return t->cs;
}

/* --- one head of one row -------------------------------------------------- */

static void turn(const struct att_job *j, float *x, const float *norm,
                 int32_t row)
{
    const struct cpu_isa *isa = j->c->isa;

    if (norm)
        isa->norm(x, x, norm, j->head_dim, j->eps);
    isa->rotate(x, j->cs + cpu_zu(row) * cpu_zu(j->dims), j->dims, j->neox);
}

/* The queries of a row that look at one head of keys. */
static void turn_queries(const struct att_job *j, int32_t row, int32_t kv_head)
{
    size_t dim = cpu_zu(j->head_dim);
    float *q = j->q + (cpu_zu(row) * cpu_zu(j->heads) +
                       cpu_zu(kv_head * j->group)) * dim;

    for (int32_t i = 0; i < j->group; i++, q += dim)
        turn(j, q, j->q_norm, row);
}

static void store(const struct att_job *j, int32_t row, int32_t kv_head)
{
    int32_t pos = j->c->pos.p[row];
    size_t at = (cpu_zu(row) * cpu_zu(j->kv_heads) + cpu_zu(kv_head)) *
                cpu_zu(j->head_dim);
    size_t off = cpu_zu(cpu_pages_of(j->c, row)[pos / KV_PAGE]) * j->page +
                 cpu_zu(kv_head) * j->head;

    turn(j, j->key + at, j->k_norm, row);
    j->c->isa->kv_put(j->type, j->k + off, j->v + off, j->head_dim,
                      pos % KV_PAGE, j->key + at, j->val + at);
}

/* Queries `from` to `to` of the group, for n neighbouring rows. */
static void look(const struct att_job *j, void *scratch, int32_t row,
                 int32_t n, int32_t kv_head, int32_t from, int32_t to)
{
    const float *q[QUERIES];
    float *out[QUERIES];
    int32_t pos[QUERIES];
    size_t head = cpu_zu(kv_head) * j->head, dim = cpu_zu(j->head_dim);
    struct cpu_attend a = {
        .type = j->type,
        .head_dim = j->head_dim,
        .scale = j->scale,
        .q = q,
        .out = out,
        .pos = pos,
        .pages = cpu_pages_of(j->c, row),
        .k = j->k + head,
        .v = j->v + head,
        .page = j->page,
    };

    for (int32_t i = 0; i < n * (to - from); i++) {
        int32_t r = row + i / (to - from), h = from + i % (to - from);
        size_t at = (cpu_zu(r) * cpu_zu(j->heads) +
                     cpu_zu(kv_head * j->group + h)) * dim;

        q[a.n] = j->q + at;
        out[a.n] = j->dst + at;
        pos[a.n++] = j->c->pos.p[r];
        if (a.n == QUERIES) {
            j->c->isa->attend(&a, scratch);
            a.n = 0;
        }
    }
    if (a.n)
        j->c->isa->attend(&a, scratch);
}

/* --- jobs ----------------------------------------------------------------- */

/* Items are (row, key-value head). */
static bool turn_chunk(const struct pool_at *at, const void *args)
{
    const struct att_job *j = args;
    int32_t i = at->chunk * j->per, end = i + j->per;

    for (; i < end && i < j->items; i++) {
        turn_queries(j, i / j->kv_heads, i % j->kv_heads);
        store(j, i / j->kv_heads, i % j->kv_heads);
    }
    return true;
}

/* Items are (block of rows, key-value head, part of the group); the last
 * blocks, which see most, come first. */
static bool look_chunk(const struct pool_at *at, const void *args)
{
    const struct att_job *j = args;
    struct cpu_member *m = &j->c->members[at->member];
    int32_t i = at->chunk * j->per, end = i + j->per;

    for (; i < end && i < j->items; i++) {
        int32_t p = i % j->parts, h = i / j->parts % j->kv_heads;
        const struct cpu_block *b =
            &j->c->blocks[j->c->n_blocks - 1 - i / j->parts / j->kv_heads];

        look(j, m->scratch, b->row, b->n, h, j->group * p / j->parts,
             j->group * (p + 1) / j->parts);
    }
    return true;
}

/* The same where no row looks at what another of the step stores. */
static bool both_chunk(const struct pool_at *at, const void *args)
{
    const struct att_job *j = args;
    struct cpu_member *m = &j->c->members[at->member];
    int32_t i = at->chunk * j->per, end = i + j->per;

    for (; i < end && i < j->items; i++) {
        int32_t row = i / j->kv_heads, h = i % j->kv_heads;

        turn_queries(j, row, h);
        store(j, row, h);
        look(j, m->scratch, row, 1, h, 0, j->group);
    }
    return true;
}

/* Neighbouring rows of one sequence, at most `most` in a block. */
static void make_blocks(struct cpu *c, int32_t most)
{
    struct cpu_block *b = NULL;

    if (c->block_rows == most)
        return;
    pool_wait(c->pool);
    if (cpu_zu(c->n) > c->blocks_cap) {
        free(c->blocks);
        c->blocks_cap = cpu_zu(c->n);
        c->blocks = mem_array(struct cpu_block, c->blocks_cap);
    }
    c->n_blocks = 0;
    for (int32_t i = 0; i < c->n; i++) {
        if (!b || b->n == most || c->seq.p[i] != c->seq.p[i - 1]) {
            b = &c->blocks[c->n_blocks++];
            *b = (struct cpu_block){.row = i};
        }
        b->n++;
    }
    c->block_rows = most;
}

/* Where a layer begins in a page. */
static size_t layer_at(const struct cpu *c, const struct kern_kv *kv,
                       int32_t layer, struct att_job *j)
{
    BUG_ON(layer < 0 || layer >= kv->layers);
    j->head = kern_kv_head_bytes(kv->type, kv->head_dim);
    j->page = cpu_kv_run(kv, c->top_page);
    return cpu_zu(layer) * cpu_zu(kv->kv_heads) * j->head;
}

static void add(struct att_job *j, pool_fn *fn, int32_t items, int32_t per)
{
    j->items = items;
    j->per = per;
    pool_add(j->c->pool, POOL_OWN, fn, j, sizeof(*j), (items + per - 1) / per);
}

void cpu_attention(struct kern *k, const struct kern_attention *a)
{
    struct cpu *c = cpu_of(k);
    const struct kern_kv *kv = a->kv;
    size_t dim = cpu_zu(kv->head_dim), work = 0;
    size_t nq = cpu_zu(c->n) * cpu_zu(a->heads) * dim;
    size_t nk = cpu_zu(c->n) * cpu_zu(kv->kv_heads) * dim;
    struct att_job j = {
        .c = c,
        .dst = cpu_f32(a->dst, nq),
        .q = cpu_f32(a->q, nq),
        .key = cpu_f32(a->key, nk),
        .val = cpu_f32(a->val, nk),
        .q_norm = a->q_norm ? cpu_f32(a->q_norm, dim) : NULL,
        .k_norm = a->k_norm ? cpu_f32(a->k_norm, dim) : NULL,
        .type = kv->type,
        .heads = a->heads,
        .kv_heads = kv->kv_heads,
        .group = a->heads / kv->kv_heads,
        .head_dim = kv->head_dim,
        .dims = a->rope->dims,
        .neox = a->rope->neox,
        .parts = 1,
        .eps = a->eps,
        .scale = a->scale,
    };
    size_t base = layer_at(c, kv, a->layer, &j);
    int32_t block = QUERIES / j.group, wanted, items = c->n * kv->kv_heads;
    bool small;

    BUG_ON(a->heads % kv->kv_heads || a->dst == a->q);
    BUG_ON(a->rope->dims > kv->head_dim);
    j.k = kv->k->p + base;
    j.v = kv->v->p + base;
    j.cs = rope_table(c, a->rope);
    for (int32_t i = 0; i < c->n; i++)
        work += (cpu_zu(c->pos.p[i]) + 1) * cpu_zu(a->heads) * dim;
    small = work < CPU_SMALL;
    wanted = small ? 1 : 2 * pool_members(c->pool);
    if (c->single && (items >= wanted || j.group == 1)) {
        add(&j, both_chunk, items, small ? items : 1);
        return;
    }
    make_blocks(c, block ? block : 1);
    add(&j, turn_chunk, items, small ? items : 1 + TURN_ELEMS /
                               (j.head_dim * (j.group + 2)));
    items = c->n_blocks * kv->kv_heads;
    while (items * j.parts < wanted && j.parts < j.group)
        j.parts++;
    items *= j.parts;
    add(&j, look_chunk, items, small ? items : 1);
}
