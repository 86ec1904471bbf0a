/*
 * One text: a row's result is the same bits whatever else is computed.
 *
 * A small layer with every operation and every weight format runs over two
 * sequences. Each position's logits and key are compared bit for bit with
 * those of the same position computed alone by one thread: in prefill chunks
 * of 2, 3, 8, 33 and 70 rows, in batches that mix both sequences, with 1, 2,
 * 3 and 5 threads, and with the pages in another order each time.
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
    struct kern_buf *x, *n, *q, *key, *val, *att, *t, *gate, *up, *out, *log;
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

static struct model *model_new(struct kern *k)
{
    struct model *m = calloc(1, sizeof(*m));
    size_t kv = (size_t)2 * PAGES * KVH * KV_PAGE * HD * 2;
    float norm[DIM];
    double inv[HD / 2];

    BUG_ON(!m);
    m->k = k;
    for (int i = 0; i < W_N; i++) {
        size_t n = (size_t)weights[i].rows * weights[i].cols;

        m->w[i] = (struct kern_mat){
            k->ops->weights(k, weights[i].data,
                            quant_bytes(weights[i].type, n)),
            weights[i].type, weights[i].rows, weights[i].cols, 0};
    }
    m->x = get(k, DIM);
    m->n = get(k, DIM);
    m->q = get(k, HEADS * HD);
    m->key = get(k, KVH * HD);
    m->val = get(k, KVH * HD);
    m->att = get(k, HEADS * HD);
    m->t = get(k, DIM);
    m->gate = get(k, FF);
    m->up = get(k, FF);
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
    struct kern_buf *all[] = {m->x,   m->n,    m->q,   m->key, m->val,
                              m->att, m->t,    m->gate, m->up, m->out,
                              m->log, m->norm, m->bias, m->rope.inv,
                              m->kv.k, m->kv.v};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        m->k->ops->buf_free(m->k, all[i]);
    for (int i = 0; i < W_N; i++)
        m->k->ops->buf_free(m->k, m->w[i].buf);
    free(m);
}

static void forward(struct model *m, int32_t n, int32_t n_out)
{
    struct kern *k = m->k;
    const struct kern_ops *o = k->ops;

    o->embed(k, m->x, &m->w[W_EMB]);
    o->rms_norm(k, m->n, m->x, m->norm, n, DIM, 1e-6f);
    o->matmul(k, m->q, m->n, &m->w[W_Q], m->bias, n);
    o->matmul(k, m->key, m->n, &m->w[W_K], NULL, n);
    o->matmul(k, m->val, m->n, &m->w[W_V], NULL, n);
    o->head_rope(k, m->q, HEADS, HD, m->norm, 1e-6f, &m->rope);
    o->head_rope(k, m->key, KVH, HD, m->norm, 1e-6f, &m->rope);
    o->kv_store(k, &m->kv, 1, m->key, m->val);
    o->attend(k, m->att, m->q, &m->kv, 1, HEADS, 0.125f);
    o->matmul(k, m->t, m->att, &m->w[W_O], NULL, n);
    o->add(k, m->x, m->t, DIM);
    o->rms_norm(k, m->n, m->x, m->norm, n, DIM, 1e-6f);
    o->matmul(k, m->gate, m->n, &m->w[W_GATE], NULL, n);
    o->matmul(k, m->up, m->n, &m->w[W_UP], NULL, n);
    o->swiglu(k, m->gate, m->up, FF);
    o->matmul(k, m->t, m->gate, &m->w[W_DOWN], NULL, n);
    o->add(k, m->x, m->t, DIM);
    o->gather_out(k, m->out, m->x, DIM);
    o->matmul(k, m->log, m->out, &m->w[W_HEAD], NULL, n_out);
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
    forward(m, n, n);
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

/* The first run is the yardstick, of the reference only FEW. */
static const struct {
    int threads, chunk;
} runs[] = {{1, 1},  {3, 2}, {5, -1}, {2, 70}, {1, 0},  {3, 8}, {2, 33},
            {1, 70}, {2, 3}, {3, 0},  {5, 70}, {1, -1}, {5, 1}};
enum { RUNS = sizeof(runs) / sizeof(runs[0]), FEW = 4 };

/* want is filled by the first run; false when the set cannot run here. */
static bool test_set(enum kern_cpu_set set, int n, float (*want)[VOCAB])
{
    int odd = 0;

    for (int t = 0; t < n; t++) {
        struct kern_cpu_config c = {runs[t].threads, set, NULL, 0};
        struct kern *k;
        struct model *m;
        struct err e;

        if (kern_cpu_new(&k, &c, &e)) {
            ok(e.st == ST_UNSUPPORTED, "%s", e.text);
            printf("# SET %d NOT TESTED on this machine\n", (int)set);
            return false;
        }
        m = model_new(k);
        play(m, runs[t].chunk, t);
        if (!t)
            memcpy(want, m->result, sizeof(m->result));
        ok(!memcmp(want, m->result, sizeof(m->result)),
           "%s, %d threads, chunk %d: same bits", k->name, runs[t].threads,
           runs[t].chunk);
        model_free(m);
        kern_free(k);
    }
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < VOCAB; i++)
            odd += !isfinite(want[r][i]) || fabsf(want[r][i]) > 1e4f;
    ok(!odd && memcmp(want[3], want[LEN + 3], sizeof(want[3])),
       "logits are ordinary numbers: %g %g", want[0][0], want[ROWS - 1][5]);
    return true;
}

/* Over a whole layer the sets' last bits tip an f16 rounding of the cache
 * now and then: 2^-11 of one component, and no logit moves by more. */
static void test_agree(float (*a)[VOCAB], float (*b)[VOCAB])
{
    float worst = 0, top = 0;

    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < VOCAB; i++) {
            worst = fmaxf(worst, fabsf(a[r][i] - b[r][i]));
            top = fmaxf(top, fabsf(a[r][i]));
        }
    ok(worst < top * 0x1p-11f,
       "reference and AVX2 logits differ by %g at most, of %g", worst, top);
}

int main(void)
{
    static float ref[ROWS][VOCAB], avx2[ROWS][VOCAB];

    for (int i = 0; i < W_N; i++)
        fill(&weights[i], (uint32_t)i);
    test_set(KERN_CPU_REF, FEW, ref);
    if (test_set(KERN_CPU_AVX2, RUNS, avx2))
        test_agree(ref, avx2);
    for (int i = 0; i < W_N; i++)
        free(weights[i].data);
    return done();
}
