/*
 * Whole pages of the cache: where a layer's part of one lies (kernels.h), and
 * that copies, reads, writes and drops touch the pages they name and no
 * other byte. Attention over copied pages gives the bits of the originals.
 */
#include "kernels/kernels.h"

#include "t/lib/noise.h"
#include "t/lib/tap.h"

enum { LAYERS = 3, PAGES = 6, KVH = 2, HEADS = 4, LEN = 2 * KV_PAGE + 7,
       MAXP = 3 };

static struct kern *kr;
static uint64_t state = 1;

struct cache {
    struct kern_kv kv;
    size_t run, all; /* bytes of a page and of all, in k and in v */
    uint8_t *k, *v;  /* what is expected there */
    uint8_t *blob;   /* of one page */
};

static struct kern_buf *get(size_t bytes, enum kern_class cls)
{
    struct kern_buf *b = kr->ops->alloc(kr, bytes, cls);

    BUG_ON(!b);
    return b;
}

/* Bytes of a buffer; only read_logits brings them out. */
static void fetch(const struct kern_buf *b, void *dst, size_t bytes)
{
    kr->ops->read_logits(kr, b, 0, (int32_t)(bytes / sizeof(float)), dst);
}

static void cache_new(struct cache *c, enum kern_type type, int32_t dim)
{
    size_t head = kern_kv_head_bytes(type, dim);

    c->run = LAYERS * KVH * head;
    c->all = c->run * PAGES;
    c->kv = (struct kern_kv){get(c->all, KERN_KV), get(c->all, KERN_KV),
                             LAYERS, PAGES, KVH, dim, type};
    c->k = malloc(c->all);
    c->v = malloc(c->all);
    c->blob = malloc(2 * c->run);
    BUG_ON(!c->k || !c->v || !c->blob);
}

static void cache_free(struct cache *c)
{
    kr->ops->buf_free(kr, c->kv.k);
    kr->ops->buf_free(kr, c->kv.v);
    free(c->k);
    free(c->v);
    free(c->blob);
}

static void fill(struct cache *c)
{
    for (size_t i = 0; i < c->all; i++) {
        c->k[i] = (uint8_t)(noise_next(&state) * 127);
        c->v[i] = (uint8_t)(noise_next(&state) * 127);
    }
    kr->ops->upload(kr, c->kv.k, 0, c->k, c->all);
    kr->ops->upload(kr, c->kv.v, 0, c->v, c->all);
}

/* All bytes are the expected ones, but for those of one page (-1: of none). */
static bool same(const struct cache *c, int32_t but)
{
    uint8_t *k = malloc(c->all), *v = malloc(c->all);
    bool good = true;

    BUG_ON(!k || !v);
    fetch(c->kv.k, k, c->all);
    fetch(c->kv.v, v, c->all);
    for (int32_t i = 0; i < PAGES; i++) {
        size_t at = (size_t)i * c->run;

        if (i != but)
            good &= !memcmp(k + at, c->k + at, c->run) &&
                    !memcmp(v + at, c->v + at, c->run);
    }
    free(k);
    free(v);
    return good;
}

static void expect_page(struct cache *c, int32_t page, const uint8_t *k,
                        const uint8_t *v)
{
    memcpy(c->k + (size_t)page * c->run, k, c->run);
    memcpy(c->v + (size_t)page * c->run, v, c->run);
}

static void test_pages(struct cache *c, const char *what)
{
    const struct kern_ops *op = kr->ops;
    static const int32_t some[] = {2, 3, 5};
    size_t at;

    is_int(kern_kv_page_bytes(&c->kv), 2 * c->run, "%s: bytes of a page",
           what);
    fill(c);
    op->kv_copy(kr, &c->kv, 4, 1);
    expect_page(c, 4, c->k + c->run, c->v + c->run);
    ok(same(c, -1), "%s: a copy, and nothing else", what);
    op->kv_copy(kr, &c->kv, 0, 5);
    expect_page(c, 0, c->k + 5 * c->run, c->v + 5 * c->run);
    ok(same(c, -1), "%s: the last to the first", what);
    op->kv_read(kr, &c->kv, 2, c->blob);
    ok(!memcmp(c->blob, c->k + 2 * c->run, c->run) &&
           !memcmp(c->blob + c->run, c->v + 2 * c->run, c->run) &&
           same(c, -1),
       "%s: a page is read: keys, then values", what);
    for (size_t i = 0; i < 2 * c->run; i++)
        c->blob[i] = (uint8_t)(c->blob[i] * 3 + 1);
    op->kv_write(kr, &c->kv, 3, c->blob);
    expect_page(c, 3, c->blob, c->blob + c->run);
    ok(same(c, -1), "%s: a page is written", what);
    op->kv_drop(kr, &c->kv, some + 1, 1);
    ok(same(c, 3), "%s: a dropped page's neighbours stay", what);
    op->kv_drop(kr, &c->kv, some, 3);
    op->kv_drop(kr, &c->kv, some, 0);
    for (int i = 0; i < 3; i++) {
        op->kv_write(kr, &c->kv, some[i], c->blob);
        expect_page(c, some[i], c->blob, c->blob + c->run);
    }
    ok(same(c, -1), "%s: dropped pages are written again", what);
    at = 4 * c->run;
    op->kv_read(kr, &c->kv, 4, c->blob);
    ok(!memcmp(c->blob, c->k + at, c->run), "%s: and read", what);
}

/* --- attention ------------------------------------------------------------ */

struct rows {
    struct kern_buf *q, *key, *val, *dst;
    struct kern_rope rope;
    size_t qn, kn; /* floats of a row */
};

static struct kern_buf *noisy(size_t n)
{
    struct kern_buf *b = get(n * sizeof(float), KERN_WORKSPACE);

    for (size_t i = 0; i < n; i++) {
        float f = noise_next(&state);

        kr->ops->upload(kr, b, i * sizeof(f), &f, sizeof(f));
    }
    return b;
}

/* Rows `from` to LEN - 1 of one sequence, in one step, whose activations are
 * the first rows of the buffers. */
static void attend(const struct cache *c, const struct rows *r,
                   const int32_t *pages, int32_t layer, int32_t from)
{
    int32_t ids[LEN] = {0}, seq[LEN] = {0}, pos[LEN];
    struct kern_rows rows = {.n = LEN - from, .ids = ids, .pos = pos,
                             .seq = seq, .n_seqs = 1, .max_pages = MAXP,
                             .pages = pages};
    const struct kern_attention a = {
        .dst = r->dst, .q = r->q, .key = r->key, .val = r->val, .kv = &c->kv,
        .layer = layer, .heads = HEADS, .scale = 0.3f, .eps = 1e-5f,
        .rope = &r->rope};

    for (int32_t i = from; i < LEN; i++)
        pos[i - from] = i;
    kr->ops->begin(kr, &rows);
    kr->ops->attention(kr, &a);
}

/* A step writes its layer's parts of its pages, and no other byte. */
static void test_layout(struct cache *c, const struct rows *r,
                        const int32_t *pages, int32_t layer, const char *what)
{
    size_t part = c->run / LAYERS, at = (size_t)layer * part;
    uint8_t *k = malloc(c->all), *v = malloc(c->all);
    int wrong = 0, written = 0;

    BUG_ON(!k || !v);
    fill(c);
    attend(c, r, pages, layer, 0);
    fetch(c->kv.k, k, c->all);
    fetch(c->kv.v, v, c->all);
    for (int32_t i = 0; i < PAGES; i++)
        for (int32_t l = 0; l < LAYERS; l++) {
            size_t off = (size_t)i * c->run + (size_t)l * part;
            bool mine = l == layer && (i == pages[0] || i == pages[1] ||
                                       i == pages[2]);
            bool dk = memcmp(k + off, c->k + off, part) != 0;
            bool dv = memcmp(v + off, c->v + off, part) != 0;

            wrong += dk != mine || dv != mine;
            written += dk;
        }
    ok(!wrong && written == 3 && at + part <= c->run,
       "%s: layer %d writes its part of three pages", what, (int)layer);
    free(k);
    free(v);
}

static void test_attention(struct cache *c, const char *what)
{
    static const int32_t first[MAXP] = {4, 0, 2}, copies[MAXP] = {1, 5, 3};
    size_t dim = (size_t)c->kv.head_dim;
    struct rows r = {.qn = HEADS * dim, .kn = KVH * dim};
    float *want = malloc(r.qn * sizeof(float));
    float *got = malloc(r.qn * sizeof(float));
    double inv[64];

    BUG_ON(!want || !got || dim / 2 > 64);
    for (size_t i = 0; i < dim / 2; i++)
        inv[i] = 1.0 / (double)(1 + i);
    r.rope = (struct kern_rope){get(sizeof(inv), KERN_WORKSPACE), (int32_t)dim,
                                1, 1};
    kr->ops->upload(kr, r.rope.inv, 0, inv, sizeof(inv));
    r.dst = get(LEN * r.qn * sizeof(float), KERN_WORKSPACE);
    for (int32_t layer = 0; layer < LAYERS; layer++) {
        r.q = noisy(LEN * r.qn);
        r.key = noisy(LEN * r.kn);
        r.val = noisy(LEN * r.kn);
        test_layout(c, &r, first, layer, what);
        /* the same row again, here and over the copies */
        for (int i = 0; i < 2; i++) {
            kr->ops->buf_free(kr, r.q);
            kr->ops->buf_free(kr, r.key);
            state = 7;
            r.q = noisy(LEN * r.qn);
            r.key = noisy(LEN * r.kn);
            for (int p = 0; i && p < MAXP; p++)
                kr->ops->kv_copy(kr, &c->kv, copies[p], first[p]);
            attend(c, &r, i ? copies : first, layer, LEN - 1);
            fetch(r.dst, i ? got : want, r.qn * sizeof(float));
        }
        ok(!memcmp(want, got, r.qn * sizeof(float)),
           "%s: layer %d, attention over copied pages", what, (int)layer);
        kr->ops->buf_free(kr, r.q);
        kr->ops->buf_free(kr, r.key);
        kr->ops->buf_free(kr, r.val);
    }
    kr->ops->buf_free(kr, r.dst);
    kr->ops->buf_free(kr, r.rope.inv);
    free(want);
    free(got);
}

/* What a large dropped page held is gone: the system has its memory. */
static void test_memory(void)
{
    static const int32_t both[] = {1, 2};
    struct cache c;
    size_t left = 0;
    uint8_t *k;

    cache_new(&c, KERN_F16, 128);
    fill(&c);
    kr->ops->kv_drop(kr, &c.kv, both, 2);
    k = malloc(c.all);
    BUG_ON(!k);
    fetch(c.kv.k, k, c.all);
    for (size_t i = c.run; i < 3 * c.run; i++)
        left += k[i] != 0;
    ok(left < 2 * 65536 && c.run > 65536, "of two dropped pages %d bytes stay",
       (int)left);
    ok(!memcmp(k, c.k, c.run) &&
           !memcmp(k + 3 * c.run, c.k + 3 * c.run, 3 * c.run),
       "their neighbours stay");
    free(k);
    cache_free(&c);
}

static void test_set(enum kern_cpu_set set, const char *name)
{
    static const int32_t dims[] = {6, 20, 64, 80};
    const struct kern_cpu_config conf = {2, set, NULL, 0};
    struct err e;

    if (kern_cpu_new(&kr, &conf, &e)) {
        ok(e.st == ST_UNSUPPORTED, "%s: %s", name, e.text);
        printf("# SET %s NOT TESTED on this machine\n", name);
        return;
    }
    for (int i = 0; i < 8; i++) {
        enum kern_type type = i % 2 ? KERN_Q8_0 : KERN_F16;
        struct cache c;
        char what[64];

        snprintf(what, sizeof(what), "%s %s %d", kr->name,
                 i % 2 ? "Q8_0" : "F16", dims[i / 2]);
        cache_new(&c, type, dims[i / 2]);
        test_pages(&c, what);
        test_attention(&c, what);
        cache_free(&c);
    }
    test_memory();
    is_int(kr->bytes[KERN_KV], 0, "%s: all of it was freed", name);
    kern_free(kr);
}

int main(void)
{
    test_set(KERN_CPU_REF, "ref");
    test_set(KERN_CPU_AVX2, "avx2");
    test_set(KERN_CPU_AVX512, "avx512");
    test_set(KERN_CPU_NEON, "neon");
    return done();
}
