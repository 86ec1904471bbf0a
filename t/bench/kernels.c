/*
 * Speed of the CPU kernels: `make t/bench/kernels`, then
 *   t/bench/kernels [THREADS [MIB]]
 * For every weight format a matrix of MIB mebibytes (default 64): one row in
 * GB/s of weight bytes, 64 rows in GFLOP/s. The best of several runs.
 */
#include "base/num.h"
#include "base/thread.h"
#include "kernels/cpu/quant.h"


enum { COLS = 4096, MANY = 64 };

static const struct {
    enum kern_type type;
    const char *name;
} types[] = {{KERN_F32, "F32"},   {KERN_F16, "F16"},   {KERN_BF16, "BF16"},
             {KERN_Q8_0, "Q8_0"}, {KERN_Q4_0, "Q4_0"}, {KERN_Q4_K, "Q4_K"},
             {KERN_Q5_K, "Q5_K"}, {KERN_Q6_K, "Q6_K"}};

static struct kern_buf *get(struct kern *k, size_t bytes)
{
    struct kern_buf *b = k->ops->alloc(k, bytes, KERN_WORKSPACE);

    BUG_ON(!b);
    return b;
}

/* Seconds of the fastest of `runs`. */
static double best(struct kern *k, struct kern_buf *y, struct kern_buf *x,
                   const struct kern_mat *m, int32_t rows, int runs)
{
    const struct kern_mm mm = {.x = x, .rows = rows, .n = 1,
                               .out = {{y, m, NULL}}};
    int64_t least = INT64_MAX;
    float one;

    for (int i = 0; i < runs; i++) {
        int64_t t = mono_us();

        k->ops->matmul(k, &mm);
        k->ops->read_logits(k, y, 0, 1, &one); /* waits */
        t = mono_us() - t;
        least = t < least ? t : least;
    }
    return (double)(least ? least : 1) * 1e-6;
}

static void bench_type(struct kern *k, size_t i, size_t mib)
{
    size_t row = quant_bytes(types[i].type, COLS);
    int32_t outs = (int32_t)((mib << 20) / row);
    size_t bytes = row * (size_t)outs;
    uint8_t *file = malloc(bytes);
    struct kern_mat m = {NULL, types[i].type, outs, COLS, 1};
    struct kern_buf *x = get(k, (size_t)COLS * MANY * 4);
    struct kern_buf *y = get(k, (size_t)outs * MANY * 4);
    double one, many;
    void *w;

    BUG_ON(!file);
    memset(file, 0x11, bytes);
    bytes = k->ops->pack_bytes(k, types[i].type, outs, COLS);
    BUG_ON(posix_memalign(&w, 64, bytes));
    k->ops->pack(k, w, file, types[i].type, outs, COLS);
    free(file);
    m.buf = k->ops->weights(k, w, bytes);
    one = best(k, y, x, &m, 1, 40);
    many = best(k, y, x, &m, MANY, 6);
    printf("%-5s  1 row %7.2f GB/s   %d rows %7.1f GFLOP/s\n", types[i].name,
           (double)bytes / one * 1e-9, MANY,
           2.0 * outs * COLS * MANY / many * 1e-9);
    k->ops->buf_free(k, m.buf);
    k->ops->buf_free(k, x);
    k->ops->buf_free(k, y);
    free(w);
}

int main(int argc, char **argv)
{
    int64_t threads = 1, mib = 64;
    struct kern_cpu_config c = {1, KERN_CPU_AUTO, NULL, 0};
    struct kern *k;
    struct err e;

    if ((argc > 1 &&
         !num_parse_i64(argv[1], strlen(argv[1]), 1, 256, &threads)) ||
        (argc > 2 && !num_parse_i64(argv[2], strlen(argv[2]), 1, 512, &mib))) {
        fputs("usage: kernels [THREADS 1-256 [MIB 1-512]]\n", stderr);
        return 2;
    }
    c.threads = (int)threads;
    if (kern_cpu_new(&k, &c, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    printf("%s, %d threads, %d MiB\n", k->name, (int)threads, (int)mib);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        bench_type(k, i, (size_t)mib);
    kern_free(k);
    return 0;
}
