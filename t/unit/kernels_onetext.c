/*
 * One text: a row's result is the same bits whatever else is computed.
 *
 * A small layer with every operation and many weight formats runs over two
 * sequences. Each position's logits are compared bit for bit with those of
 * the same position computed alone by one thread with the portable kernels:
 * in prefill chunks of 2, 3, 8, 33 and 70 rows, in batches that mix both
 * sequences, with 1, 2, 3 and 5 threads, with the pages in another order each
 * time, with packed weights and with those of the file, and in every set.
 */
#include "kernels/cpu/quant.h"
#include "t/lib/tap.h"

#include <math.h>

enum {
    DIM = 256, HEADS = 4, KVH = 2, HD = 64, FF = 256, VOCAB = 77,
    SEQS = 2, LEN = 70, SHORT = 20, PAGES = 7, MAXP = 2, ROWS = LEN + SHORT
};

struct weight {
    enum kern_type type;
    int32_t rows, cols;
    uint8_t *data;
};

enum { W_EMB, W_Q, W_K, W_V, W_O, W_GATE, W_UP, W_DOWN, W_HEAD, W_N };
static struct weight weights[W_N] = {
    [W_EMB] = {KERN_Q8_0, VOCAB, DIM, NULL},
    [W_Q] = {KERN_Q8_0, HEADS * HD, DIM, NULL},
    [W_K] = {KERN_Q4_0, KVH * HD, DIM, NULL},
    [W_V] = {KERN_Q4_K, KVH * HD, DIM, NULL},
    [W_O] = {KERN_Q5_K, DIM, HEADS * HD, NULL},
    [W_GATE] = {KERN_Q6_K, FF, DIM, NULL},
    [W_UP] = {KERN_F16, FF, DIM, NULL},
    [W_DOWN] = {KERN_BF16, DIM, FF, NULL},
    [W_HEAD] = {KERN_F32, VOCAB, DIM, NULL},
};

/* Random bytes with scales of a size that keeps activations near 1. */
static void fill(struct weight *w, uint32_t seed)
{
    size_t n = (size_t)w->rows * w->cols;
    int32_t elems, bytes;
    uint8_t *p = calloc(1, quant_bytes(w->type, n));

    BUG_ON(!p || !kern_type_block(w->type, &elems, &bytes));
    w->data = p;
    for (size_t i = 0; i < n; i += (size_t)elems, p += bytes) {
        for (int32_t j = 0; j < bytes; j++) {
            seed = seed * 1664525 + 1013904223;
            p[j] = (uint8_t)(seed >> 24);
        }
        switch (w->type) {
        case KERN_F32:
            p[3] = (uint8_t)((p[3] & 0x80) | 0x3d);
            break;
        case KERN_F16:
            p[1] = (uint8_t)((p[1] & 0x83) | 0x2c);
            break;
        case KERN_BF16:
            p[1] = (uint8_t)((p[1] & 0x80) | 0x3d);
            break;
        case KERN_Q6_K:
            p[209] = 0x00;
            p[208] = 0x40;
            break;
        case KERN_Q4_K:
        case KERN_Q5_K:
            p[1] = p[3] = 0x04;
            break;
        default:
            p[1] = 0x10;
        }
    }
}

struct model {
    struct kern *k;
    struct kern_mat w[W_N];
    void *packed[W_N];
    struct kern_buf *x, *q, *key, *val, *att, *gate, *out, *log;
    struct kern_buf *norm, *bias;
    struct kern_kv kv;
    struct kern_rope rope;
    float result[ROWS][VOCAB];
};

static struct kern_buf *get(struct kern *k, size_t width)
{
    struct kern_buf *b = k->ops->alloc(k, ROWS * width * sizeof(float),
                                       KERN_WORKSPACE);

    BUG_ON(!b);
    return b;
}

static void matrix(struct model *m, int i, bool packed)
{
    const struct weight *w = &weights[i];
    const struct kern_ops *op = m->k->ops;
    size_t bytes = quant_bytes(w->type, (size_t)w->rows * w->cols);

    m->w[i] = (struct kern_mat){NULL, w->type, w->rows, w->cols, packed};
    if (!packed) {
        m->w[i].buf = op->weights(m->k, w->data, bytes);
        return;
    }
    bytes = op->pack_bytes(m->k, w->type, w->rows, w->cols);
    BUG_ON(posix_memalign(&m->packed[i], 64, bytes));
    op->pack(m->k, m->packed[i], w->data, w->type, w->rows, w->cols);
    m->w[i].buf = op->weights(m->k, m->packed[i], bytes);
}

static struct model *model_new(struct kern *k, bool packed)
{
    struct model *m = calloc(1, sizeof(*m));
    size_t kv = (size_t)2 * PAGES * KVH * KV_PAGE * HD * 2;
    float norm[DIM];
    double inv[HD / 2];

    BUG_ON(!m);
    m->k = k;
    for (int i = 0; i < W_N; i++)
        matrix(m, i, packed);
    m->x = get(k, DIM);
    m->q = get(k, HEADS * HD);
    m->key = get(k, KVH * HD);
    m->val = get(k, KVH * HD);
    m->att = get(k, HEADS * HD);
    m->gate = get(k, FF);
    m->out = get(k, DIM);
    m->log = get(k, VOCAB);
    m->norm = get(k, DIM);
    m->bias = get(k, HEADS * HD);
    for (int i = 0; i < DIM; i++)
        norm[i] = 0.5f + (float)(i * 37 % 64) / 64;
    k->ops->upload(k, m->norm, 0, norm, sizeof(norm));
    k->ops->upload(k, m->bias, 0, norm, sizeof(norm));
    for (int i = 0; i < HD / 2; i++)
        inv[i] = pow(10000, -2.0 * i / HD);
    m->rope = (struct kern_rope){get(k, HD), HD, 1, 1};
    k->ops->upload(k, m->rope.inv, 0, inv, sizeof(inv));
    m->kv = (struct kern_kv){k->ops->alloc(k, kv, KERN_KV),
                             k->ops->alloc(k, kv, KERN_KV), 2, PAGES, KVH, HD,
                             KERN_F16};
    BUG_ON(!m->kv.k || !m->kv.v);
    return m;
}

static void model_free(struct model *m)
{
    struct kern_buf *all[] = {m->x,    m->q,   m->key,      m->val,
                              m->att,  m->gate, m->out,     m->log,
                              m->norm, m->bias, m->rope.inv, m->kv.k,
                              m->kv.v};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        m->k->ops->buf_free(m->k, all[i]);
    for (int i = 0; i < W_N; i++) {
        m->k->ops->buf_free(m->k, m->w[i].buf);
        free(m->packed[i]);
    }
    free(m);
}

static void forward(struct model *m, int32_t n)
{
    struct kern *k = m->k;
    const struct kern_ops *o = k->ops;
    const struct kern_mat *w = m->w;
    const struct kern_mm
        qkv = {.x = m->x, .rows = n, .norm = m->norm, .eps = 1e-6f, .n = 3,
               .out = {{m->q, &w[W_Q], m->bias},
                       {m->key, &w[W_K], NULL},
                       {m->val, &w[W_V], NULL}}},
        out = {.x = m->att, .rows = n, .n = 1,
               .out = {{m->x, &w[W_O], NULL}}, .add = 1},
        gate = {.x = m->x, .rows = n, .norm = m->norm, .eps = 1e-6f, .n = 2,
                .out = {{m->gate, &w[W_GATE], NULL}, {NULL, &w[W_UP], NULL}},
                .glu = 1},
        down = {.x = m->gate, .rows = n, .n = 1,
                .out = {{m->x, &w[W_DOWN], NULL}}, .add = 1},
        head = {.x = m->out, .rows = n, .n = 1,
                .out = {{m->log, &w[W_HEAD], NULL}}};
    const struct kern_attention att = {
        .dst = m->att, .q = m->q, .key = m->key, .val = m->val, .kv = &m->kv,
        .layer = 1, .heads = HEADS, .scale = 0.125f, .q_norm = m->norm,
        .k_norm = m->norm, .eps = 1e-6f, .rope = &m->rope};

    o->embed(k, m->x, &w[W_EMB]);
    o->matmul(k, &qkv);
    o->attention(k, &att);
    o->matmul(k, &out);
    o->matmul(k, &gate);
    o->matmul(k, &down);
    o->gather_out(k, m->out, m->x, DIM);
    o->matmul(k, &head);
}

/* One step with rows of (seq[i], pos[i]); all rows are wanted. */
static void step(struct model *m, const int32_t *pages, int32_t n,
                 const int32_t *seq, const int32_t *pos)
{
    int32_t ids[ROWS], out[ROWS];
    struct kern_rows r = {.n = n, .ids = ids, .pos = pos, .seq = seq,
                          .n_seqs = SEQS, .max_pages = MAXP, .pages = pages,
                          .n_out = n, .out = out};

    for (int32_t i = 0; i < n; i++) {
        ids[i] = (seq[i] * 131 + pos[i] * 17) % VOCAB;
        out[i] = i;
    }
    m->k->ops->begin(m->k, &r);
    forward(m, n);
    for (int32_t i = 0; i < n; i++)
        m->k->ops->read_logits(m->k, m->log, i, VOCAB,
                               m->result[seq[i] * LEN + pos[i]]);
}

/* chunk > 0: each sequence alone in chunks. 0: both in step, one row each.
 * -1: one row of the first among eight of the second. */
static void play(struct model *m, int chunk, int shift)
{
    int32_t pages[SEQS * MAXP], seq[ROWS], pos[ROWS], at[SEQS] = {0}, n;

    for (int i = 0; i < SEQS * MAXP; i++)
        pages[i] = (i * 3 + shift) % PAGES;
    memset(m->result, 0xff, sizeof(m->result));
    for (;;) {
        n = 0;
        for (int32_t s = 0; s < SEQS; s++) {
            int want = chunk > 0 ? chunk : chunk == 0 ? 1 : s ? 8 : 1;

            for (; want && at[s] < (s ? SHORT : LEN); want--, n++) {
                seq[n] = s;
                pos[n] = at[s]++;
            }
            if (chunk > 0 && n)
                break; /* one sequence at a time */
        }
        if (!n)
            return;
        step(m, pages, n, seq, pos);
    }
}

/* The slow reference makes FEW of them. */
static const struct {
    int threads, chunk;
    bool packed;
} runs[] = {{1, 1, true},   {3, 2, false}, {5, -1, true}, {2, 70, true},
            {1, 0, true},   {3, 8, true},  {2, 33, true}, {1, 70, false},
            {2, 3, true},   {3, 0, true},  {5, 70, true}, {1, -1, false},
            {5, 1, false}};
enum { RUNS = sizeof(runs) / sizeof(runs[0]), FEW = 4 };

/* want is filled by the first run of the first set. */
static void test_set(enum kern_cpu_set set, int n, float (*want)[VOCAB])
{
    for (int t = 0; t < n; t++) {
        struct kern_cpu_config c = {runs[t].threads, set, NULL, 0};
        struct kern *k;
        struct model *m;
        struct err e;

        if (kern_cpu_new(&k, &c, &e)) {
            ok(e.st == ST_UNSUPPORTED, "%s", e.text);
            printf("# SET %d NOT TESTED on this machine\n", (int)set);
            return;
        }
        m = model_new(k, runs[t].packed);
        play(m, runs[t].chunk, t);
        if (set == KERN_CPU_REF && !t)
            memcpy(want, m->result, sizeof(m->result));
        ok(!memcmp(want, m->result, sizeof(m->result)),
           "%s, %d threads, chunk %d%s: same bits", k->name, runs[t].threads,
           runs[t].chunk, runs[t].packed ? "" : ", not packed");
        model_free(m);
        kern_free(k);
    }
}

int main(void)
{
    static float want[ROWS][VOCAB];
    int odd = 0;

    for (int i = 0; i < W_N; i++)
        fill(&weights[i], (uint32_t)i);
    test_set(KERN_CPU_REF, FEW, want);
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < VOCAB; i++)
            odd += !isfinite(want[r][i]) || fabsf(want[r][i]) > 1e4f;
    ok(!odd && memcmp(want[3], want[LEN + 3], sizeof(want[3])),
       "logits are ordinary numbers: %g %g", want[0][0], want[ROWS - 1][5]);
    test_set(KERN_CPU_AVX2, RUNS, want);
    test_set(KERN_CPU_AVX512, RUNS, want);
    test_set(KERN_CPU_NEON, RUNS, want);
    for (int i = 0; i < W_N; i++)
        free(weights[i].data);
    return done();
}
