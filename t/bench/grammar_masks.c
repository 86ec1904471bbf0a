/*
 * grammar_masks IDS SCHEMA ANSWER [N_IDS]: what masks cost, per token of one
 * answer in JSON under its schema.
 *
 * IDS as in t/lib/gramfile.h, filled up to N_IDS ids without bytes. The answer
 * is cut into the longest ids that fit. It is written three times: with
 * nothing kept, then twice with the masks of the first time. Prints median,
 * 99th part in a hundred, worst and mean of mask and step, in microseconds of
 * processor time.
 */
#include "base/num.h"
#include "gram/mask.h"
#include "t/lib/gramfile.h"

#include <time.h>

#define TOKENS_MAX 65536

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* not what others take */
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void report(const char *what, double *us, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += us[i];
    qsort(us, n, sizeof(*us), by_size);
    printf("%-14s %9.2f %9.2f %9.2f %9.2f\n", what, us[n / 2],
           us[n * 99 / 100], us[n - 1], sum / (double)n);
}

static struct text file(const char *path)
{
    static char room[2][1 << 20];
    static int used;
    char *s = room[used++];
    FILE *in = fopen(path, "rb");
    size_t n = in ? fread(s, 1, sizeof(room[0]), in) : 0;

    if (!in || n == 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(2);
    }
    fclose(in);
    return (struct text){s, n};
}

/* Longest first, the end of the text too. */
static size_t cut(const struct gram_vocab *v, struct text t, int32_t *ids)
{
    size_t n = 0;

    for (size_t at = 0; at < t.n && n < TOKENS_MAX; n++) {
        size_t len = t.n - at;
        ids[n] = -1;
        for (len = len < v->longest ? len : v->longest; len > 0; len--) {
            size_t i = 0, depth = 0, end = v->all.n;
            const struct gram_node *node = NULL;
            while (i < end && depth < len) {
                node = &v->all.nodes[i];
                if (node->byte != (uint8_t)t.s[at + depth]) {
                    i = node->end;
                    continue;
                }
                depth++;
                i++;
                end = node->end;
            }
            if (depth == len && node->id >= 0) {
                ids[n] = node->id;
                break;
            }
        }
        if (ids[n] < 0)
            return 0;
        at += len;
    }
    return n;
}

static void pass(const char *what, struct gram_pool *pool,
                 const struct grammar *g, const struct idfile *f,
                 const int32_t *ids, size_t n, double *mask_us,
                 double *step_us)
{
    uint32_t *mask = mem_array(uint32_t, f->n / 32 + 1);
    struct gram_ids none = {NULL, NULL, 0};
    struct gram_place p;
    char name[64];

    gram_begin(g, &p);
    for (size_t i = 0; i < n; i++) {
        double t0, t1;
        bool good;
        memset(mask, 0xff, (f->n / 32 + 1) * sizeof(*mask));
        t0 = now_us();
        good = gram_mask_apply(pool, g, &p, &none, mask, f->n);
        t1 = now_us();
        good = good && mask[ids[i] / 32] >> ids[i] % 32 & 1;
        good = good &&
               gram_bytes(g, &p, f->pieces[ids[i]].s, f->pieces[ids[i]].n);
        step_us[i] = now_us() - t1;
        mask_us[i] = t1 - t0;
        if (!good) {
            fprintf(stderr, "token %zu is not allowed\n", i);
            exit(1);
        }
    }
    (void)snprintf(name, sizeof(name), "%s mask", what);
    report(name, mask_us, n);
    (void)snprintf(name, sizeof(name), "%s step", what);
    report(name, step_us, n);
    free(mask);
}

int main(int argc, char **argv)
{
    static int32_t ids[TOKENS_MAX];
    static double mask_us[TOKENS_MAX], step_us[TOKENS_MAX];
    int64_t at_least = 0;
    struct gram_figures fig;
    struct gram_vocab *v;
    struct gram_pool *pool;
    struct grammar *g;
    struct idfile f;
    struct err e;
    double t0;
    size_t n;

    if (argc < 4 || (argc > 4 && !num_parse_i64(argv[4], strlen(argv[4]), 0,
                                                1 << 24, &at_least))) {
        fprintf(stderr, "grammar_masks IDS SCHEMA ANSWER [N_IDS]\n");
        return 2;
    }
    idfile_read(&f, argv[1], (size_t)at_least);
    t0 = now_us();
    if (gram_vocab_new(&v, f.pieces, f.n, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    printf("%zu ids, %zu nodes, %zu of ids that are not plain, %.1f MB, made "
           "in %.1f ms\n",
           v->n_ids, v->all.n, v->rough.n, (double)v->bytes / 1e6,
           (now_us() - t0) / 1e3);
    t0 = now_us();
    g = gram_from_form("schema", file(argv[2]), &e);
    if (!g) {
        fprintf(stderr, "%s: %s\n", argv[2], e.text);
        return 1;
    }
    printf("grammar of %zu states, %zu rules, %.1f kB, made in %.2f ms\n",
           g->n_states, g->n_rules, (double)g->bytes / 1e3,
           (now_us() - t0) / 1e3);
    n = cut(v, file(argv[3]), ids);
    pool = gram_pool_new(v);
    if (n == 0 || !pool)
        return 1;
    printf("%zu tokens%*s   median      99 %%     worst      mean\n", n, 6, "");
    pass("first", pool, g, &f, ids, n, mask_us, step_us);
    gram_pool_figures(pool, &fig);
    pass("again", pool, g, &f, ids, n, mask_us, step_us);
    pass("again", pool, g, &f, ids, n, mask_us, step_us);
    printf("%zu masks of %.1f MB for %zu places\n", fig.masks,
           (double)fig.bytes / 1e6, n);
    gram_pool_free(pool);
    gram_vocab_free(v);
    gram_unref(g);
    idfile_release(&f);
    return 0;
}
