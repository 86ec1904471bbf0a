/* penstock bench: how fast, and how close to what memory allows. */
#include "base/num.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "json/write.h"

#include <getopt.h>

#define READ_BYTES ((size_t)256 << 20)
#define READ_RUNS 5
#define READ_PASSES 8 /* long enough for threads to find their CPUs */
#define THREADS_MAX 256

struct bench {
    const char *model;
    struct engine_config config;
    int64_t prompt, tokens;
    bool json;

    struct load load;
    double prefill, decode;   /* tokens/s of all sequences together */
    uint64_t bytes;           /* of weights, per step */
    double bandwidth;         /* bytes/s */
};

static const char help[] =
    "Usage: penstock bench -m FILE [OPTION]...\n\n"
    "Prefill and decode speed, bytes of weights read per token, and the share\n"
    "of the measured memory bandwidth that decoding uses.\n\n"
    "  -m, --model=FILE    a GGUF file\n"
    "  -p, --prompt=N      prompt tokens [256]\n"
    "  -n, --tokens=N      generated tokens, at least 2 [64]\n"
    "      --parallel=K    sequences at a time [1]\n"
    "      --backend=NAME  cpu [cpu]\n"
    "      --kernels=NAME  auto, ref or avx2 [auto]\n"
    "  -t, --threads=N     threads, 0 for one per CPU [0]\n"
    "      --json          one JSON document\n";

/* NULL, or what is wrong with one option. */
static const char *option(struct bench *b, int c)
{
    int64_t v;

    switch (c) {
    case 'm':
        b->model = optarg;
        break;
    case 'p':
        if (!num_parse_i64(optarg, strlen(optarg), 1, 1 << 24, &b->prompt))
            return "-p takes a number over 0";
        break;
    case 'n':
        if (!num_parse_i64(optarg, strlen(optarg), 2, 1 << 24, &b->tokens))
            return "-n takes a number over 1";
        break;
    case 'P':
        if (!num_parse_i64(optarg, strlen(optarg), 1, 256, &v))
            return "--parallel takes a number from 1 to 256";
        b->config.parallel = (int32_t)v;
        break;
    case 't':
        if (!num_parse_i64(optarg, strlen(optarg), 0, THREADS_MAX, &v))
            return "-t takes a number from 0 to 256";
        b->config.threads = (int)v;
        break;
    case 'B':
        return load_backend(optarg);
    case 'k':
        return load_kernels(optarg, &b->config.set);
    case 'j':
        b->json = true;
        break;
    default:
        return ""; /* getopt said it */
    }
    return NULL;
}

/* 0: go on; otherwise the exit status plus one. */
static int options(struct bench *b, int argc, char **argv)
{
    static const struct option longs[] = {
        {"model", required_argument, NULL, 'm'},
        {"prompt", required_argument, NULL, 'p'},
        {"tokens", required_argument, NULL, 'n'},
        {"parallel", required_argument, NULL, 'P'},
        {"backend", required_argument, NULL, 'B'},
        {"kernels", required_argument, NULL, 'k'},
        {"threads", required_argument, NULL, 't'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *wrong = NULL;
    int c;

    while (!wrong &&
           (c = getopt_long(argc, argv, "m:p:n:t:h", longs, NULL)) != -1) {
        if (c == 'h')
            return fputs(help, stdout) < 0 ? 2 : 1;
        wrong = option(b, c);
    }
    if (wrong)
        return 1 + (wrong[0] ? cli_usage("bench", "%s", wrong)
                             : cli_try_help("bench"));
    if (optind < argc)
        return 1 + cli_usage("bench", "'%s' is not an option", argv[optind]);
    if (!b->model)
        return 1 + cli_usage("bench", "-m FILE is missing");
    return 0;
}

/* --- the model ------------------------------------------------------------ */

/* Every tensor once; of an input table that is no output, only a row. */
static uint64_t step_bytes(const struct gguf *g)
{
    const struct gguf_tensor *in = gguf_tensor_find(g, "token_embd.weight");
    bool tied = !gguf_tensor_find(g, "output.weight");
    uint64_t sum = 0;

    for (size_t i = 0; i < gguf_tensor_count(g); i++)
        if (tied || gguf_tensor_at(g, i) != in)
            sum += gguf_tensor_at(g, i)->bytes;
    return sum;
}

/* Submit all, wait for all; the ends go to end[parallel]. */
static enum st ask(struct bench *b, struct job **jobs, struct end_info *end,
                   struct err *e)
{
    int32_t n = b->config.parallel;
    struct ring_view v;
    enum st st;

    for (int32_t i = 0; i < n; i++) {
        st = gen_submit(b->load.gen, jobs[i], e);
        if (st)
            return st;
    }
    for (int32_t i = 0; i < n; i++) {
        do {
            ring_wait(jobs[i]->ring, 1000);
            ring_look(jobs[i]->ring, &v);
        } while (!v.ended);
        end[i] = v.end;
        if (v.end.reason == END_ERROR) {
            *e = v.end.err;
            return v.end.err.st;
        }
    }
    return ST_OK;
}

static enum st speed(struct bench *b, struct err *e)
{
    int32_t n = b->config.parallel;
    struct job **jobs = mem_array(struct job *, (size_t)n);
    struct end_info *end = mem_array(struct end_info, (size_t)n);
    int32_t *ids = mem_try_array((size_t)b->prompt, sizeof(*ids));
    struct gen_limits l;
    int64_t prefill_us = 0;
    enum st st = ST_OK;

    b->load.gen->ops->limits(b->load.gen, &l);
    if (!ids)
        st = err_set(e, ST_NOMEM, "-p", "no memory for so many tokens");
    for (int64_t i = 0; !st && i < b->prompt; i++)
        ids[i] = (int32_t)(i * 7919 % l.vocab);
    for (int32_t i = 0; !st && i < n; i++) {
        jobs[i] = job_new(ids, (size_t)b->prompt, NULL, 0, (int32_t)b->tokens,
                          0);
        if (!jobs[i])
            st = err_set(e, ST_NOMEM, "-n", "no memory for so many tokens");
    }
    if (!st)
        st = ask(b, jobs, end, e);
    for (int32_t i = 0; !st && i < n; i++) {
        int64_t us = end[i].queue_us + end[i].prefill_us;

        if (us > prefill_us)
            prefill_us = us;
        if (end[i].decode_us > 0)
            b->decode += (double)(end[i].completion_tokens - 1) * 1e6 /
                         (double)end[i].decode_us;
    }
    if (prefill_us > 0)
        b->prefill = (double)b->prompt * n * 1e6 / (double)prefill_us;
    for (int32_t i = 0; i < n; i++)
        job_unref(jobs[i]);
    free(jobs);
    free(end);
    free(ids);
    return st;
}

/* --- the memory ----------------------------------------------------------- */

/* Wide loads: with narrow ones it is the loop that is measured. */
typedef uint64_t wide __attribute__((vector_size(16)));

struct reader {
    pthread_t thread;
    const wide *p;
    size_t n;
    uint64_t sum;
};

static void *read_part(void *arg)
{
    struct reader *r = arg;
    wide a = {0}, b = {0}, c = {0}, d = {0};

    for (int pass = 0; pass < READ_PASSES; pass++) {
        for (size_t i = 0; i + 4 <= r->n; i += 4) {
            a ^= r->p[i];
            b ^= r->p[i + 1];
            c ^= r->p[i + 2];
            d ^= r->p[i + 3];
        }
        a[0] += b[0]; /* no pass repeats another: none can be dropped */
    }
    a ^= b ^ c ^ d;
    r->sum = a[0]; /* the reads must not be dropped as unused */
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median speed of `threads` threads that read a buffer larger than caches. */
static enum st bandwidth(struct bench *b, int threads, struct err *e)
{
    struct reader *r = mem_array(struct reader, (size_t)threads);
    wide *p = aligned_alloc(sizeof(*p), READ_BYTES);
    size_t part = READ_BYTES / sizeof(*p) / (size_t)threads;
    double speeds[READ_RUNS];
    enum st st = ST_OK;

    if (!p)
        st = err_set(e, ST_NOMEM, "bench", "no memory for the read test");
    else
        memset(p, 1, READ_BYTES);
    for (int run = 0; !st && run < READ_RUNS; run++) {
        int64_t t0 = mono_us();
        int started = 0;

        for (; started < threads && !st; started++) {
            r[started].p = p + part * (size_t)started;
            r[started].n = part;
            st = thread_start(&r[started].thread, "reader", read_part,
                              &r[started], e);
        }
        for (int i = 0; i < started - (st ? 1 : 0); i++)
            pthread_join(r[i].thread, NULL);
        speeds[run] = (double)READ_BYTES * READ_PASSES * 1e6 /
                      (double)(mono_us() - t0 + 1);
    }
    if (!st) {
        qsort(speeds, READ_RUNS, sizeof(*speeds), by_value);
        b->bandwidth = speeds[READ_RUNS / 2];
    }
    free(p);
    free(r);
    return st;
}

/* --- the answer ----------------------------------------------------------- */

static void print(const struct bench *b, double fraction)
{
    printf("prefill          %10.1f tokens/s (%lld tokens, %d at a time)\n",
           b->prefill, (long long)b->prompt, b->config.parallel);
    printf("decode           %10.1f tokens/s (%lld tokens, %d at a time)\n",
           b->decode, (long long)b->tokens, b->config.parallel);
    printf("weights per step %10.1f MB\n", (double)b->bytes / 1e6);
    printf("memory reads     %10.1f GB/s\n", b->bandwidth / 1e9);
    printf("decode uses      %10.1f %% of that\n", fraction * 100);
}

static bool print_json(const struct bench *b, double fraction)
{
    struct buf out;
    struct jw *w;
    bool good;

    buf_init(&out, BUF_MESSAGE);
    w = jw_new(&out);
    jw_obj(w);
    jw_kint(w, "prompt_tokens", b->prompt);
    jw_kint(w, "completion_tokens", b->tokens);
    jw_kint(w, "parallel", b->config.parallel);
    jw_knum(w, "prefill_per_second", b->prefill, 2);
    jw_knum(w, "decode_per_second", b->decode, 2);
    jw_kint(w, "weight_bytes_per_step", (int64_t)b->bytes);
    jw_knum(w, "bytes_per_token",
            (double)b->bytes / (double)b->config.parallel, 0);
    jw_knum(w, "memory_bytes_per_second", b->bandwidth, 0);
    jw_knum(w, "memory_fraction", fraction, 4);
    jw_obj_end(w);
    good = jw_end(w);
    if (good)
        printf("%s\n", out.p);
    buf_release(&out);
    return good;
}

int cmd_bench(int argc, char **argv)
{
    struct bench b = {.prompt = 256, .tokens = 64};
    double fraction = 0;
    struct err e;
    enum st st;
    int rc;

    engine_config_default(&b.config);
    b.config.parallel = 1;
    rc = options(&b, argc, argv);
    if (rc)
        return rc - 1;
    st = load_open(&b.load, b.model, &b.config, &e);
    if (!st)
        st = speed(&b, &e);
    if (!st) {
        b.bytes = step_bytes(b.load.gguf);
        st = bandwidth(&b, engine_threads(&b.config), &e);
    }
    if (!st && b.bandwidth > 0)
        fraction = (double)b.bytes * b.decode / b.config.parallel /
                   b.bandwidth;
    if (!st && !b.json)
        print(&b, fraction);
    else if (!st && !print_json(&b, fraction))
        st = err_set(&e, ST_INTERNAL, "--json", "the document is too large");
    load_release(&b.load);
    return st ? cli_fail("bench", &e) : 0;
}
