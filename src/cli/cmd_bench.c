/* penstock bench: how fast, and how close to what memory allows. */
#include "base/num.h"
#include "base/thread.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/reads.h"
#include "json/write.h"

#include <getopt.h>

#define RUNS_MAX 100
#define THREADS_MAX 256
#define READS 5 /* before the model is there, and after */
#define CHUNK 512 /* rows of a step: nobody waits for it */

struct bench {
    const char *model;
    struct engine_config config;
    int64_t prompt, tokens, depth, runs;
    bool json;

    struct load load;
    int32_t vocab;
    int64_t prompts;                            /* made so far */
    double prefill[RUNS_MAX], decode[RUNS_MAX]; /* tokens/s, all sequences */
    uint64_t bytes;                             /* of weights, per step */
    struct reads reads;
};

/* What is printed, of all runs. */
struct figure {
    double median, least, most;
};

static const char help[] =
    "Usage: penstock bench -m FILE [OPTION]...\n\n"
    "Prefill and decode speed, bytes of weights read per token, and the share\n"
    "of the measured memory bandwidth that decoding uses.\n\n"
    "  -m, --model=FILE    a GGUF file\n"
    "  -p, --prompt=N      prompt tokens, 0: no prefill figure [256]\n"
    "  -n, --tokens=N      generated tokens, 0: no decode figure [64]\n"
    "  -d, --depth=N       tokens before the generated ones [as -p, at least "
    "1]\n"
    "      --parallel=K    sequences at a time [1]\n"
    "      --runs=N        runs, after one for warmth; medians count [3]\n"
    "      --backend=NAME  cpu [cpu]\n"
    "      --kernels=NAME  auto, ref, avx2, avx512, neon [auto]\n"
    "      --kv-type=TYPE  keys and values in f16 or q8_0 [f16]\n"
    "      --repack=WORD   on; off uses the file as it is, slower [on]\n"
    "      --pack-cache=DIR  where packed weights are kept: auto, off, beside\n"
    "                      or a folder [auto]\n"
    "  -t, --threads=N     threads, 0 for one per CPU [0]\n"
    "      --cpus=LIST     one thread on each of these CPUs: 0-3,8\n"
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
        if (!num_parse_i64(optarg, strlen(optarg), 0, 1 << 22, &b->prompt))
            return "-p takes a number";
        break;
    case 'n':
        if (!num_parse_i64(optarg, strlen(optarg), 0, 1 << 22, &b->tokens))
            return "-n takes a number";
        break;
    case 'd':
        if (!num_parse_i64(optarg, strlen(optarg), 1, 1 << 22, &b->depth))
            return "--depth takes a number over 0";
        break;
    case 'r':
        if (!num_parse_i64(optarg, strlen(optarg), 1, RUNS_MAX, &b->runs))
            return "--runs takes a number from 1 to 100";
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
    case 'U':
        b->config.cpus = optarg;
        break;
    case 'B':
        return load_backend(optarg);
    case 'k':
        return load_kernels(optarg, &b->config.set);
    case 'y':
        return load_kv_type(optarg, &b->config.kv_type);
    case 'R':
        return load_repack(optarg, &b->config.packs.repack);
    case 'A':
        b->config.packs.cache = optarg;
        break;
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
        {"depth", required_argument, NULL, 'd'},
        {"parallel", required_argument, NULL, 'P'},
        {"runs", required_argument, NULL, 'r'},
        {"backend", required_argument, NULL, 'B'},
        {"repack", required_argument, NULL, 'R'},
        {"pack-cache", required_argument, NULL, 'A'},
        {"kernels", required_argument, NULL, 'k'},
        {"kv-type", required_argument, NULL, 'y'},
        {"threads", required_argument, NULL, 't'},
        {"cpus", required_argument, NULL, 'U'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *wrong = NULL;
    int c;

    while (!wrong &&
           (c = getopt_long(argc, argv, "m:p:n:d:t:h", longs, NULL)) != -1) {
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
    if (!b->prompt && !b->tokens)
        return 1 + cli_usage("bench", "-p 0 -n 0 leaves nothing to measure");
    if (!b->depth)
        b->depth = b->prompt ? b->prompt : 1;
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

/* --- one run -------------------------------------------------------------- */

/* Submit all, wait for the last one and then cancel the others. */
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
    for (int32_t i = n - 1; i >= 0; i--) {
        if (i < n - 1)
            gen_cancel(b->load.gen, jobs[i]);
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

/* No two begin alike, or rows of the first would be found for the second. */
static void make_prompt(struct bench *b, int32_t *ids, int64_t n)
{
    int64_t c = b->prompts++;

    for (int64_t k = 0; k < n; k++)
        ids[k] = (int32_t)((c * 131 + k * 7919) % b->vocab);
    ids[0] = (int32_t)(c % b->vocab);
    if (n > 1)
        ids[1] = (int32_t)(c / b->vocab % b->vocab);
}

/*
 * `parallel` jobs with prompts of `prompt` tokens; the last gets `tokens`, the
 * others go on until it has them: from its first token on they all decode.
 * The ends go to end[parallel].
 */
static enum st play(struct bench *b, int64_t prompt, int64_t tokens,
                    struct end_info *end, struct err *e)
{
    int32_t n = b->config.parallel;
    struct job **jobs = mem_array(struct job *, (size_t)n);
    int32_t *ids = mem_try_array((size_t)prompt, sizeof(*ids));
    /* a step has at least this many rows of prompts, if there are so many */
    int64_t more = n > 1 ? tokens + n * (prompt / 8 + 1) : tokens;
    enum st st = ST_OK;

    if (!ids)
        st = err_set(e, ST_NOMEM, "-p", "no memory for so many tokens");
    for (int32_t i = 0; !st && i < n; i++) {
        make_prompt(b, ids, prompt);
        jobs[i] = job_new(ids, (size_t)prompt, NULL, 0,
                          (int32_t)(i == n - 1 || tokens < 2 ? tokens : more),
                          0);
        if (!jobs[i])
            st = err_set(e, ST_NOMEM, "-n", "no memory for so many tokens");
    }
    if (!st)
        st = ask(b, jobs, end, e);
    for (int32_t i = 0; i < n; i++)
        job_unref(jobs[i]);
    free(jobs);
    free(ids);
    return st;
}

/* One run of prompts and one of answers; of the warm-up, run < 0, no note is
 * taken. */
static enum st one_run(struct bench *b, int64_t run, struct err *e)
{
    int32_t n = b->config.parallel;
    struct end_info *end = mem_array(struct end_info, (size_t)n);
    int64_t prompt = run < 0 && b->prompt > 64 ? 64 : b->prompt;
    int64_t tokens = run < 0 && b->tokens > 4 ? 4 : b->tokens;
    int64_t us = 0;
    enum st st = ST_OK;

    if (prompt)
        st = play(b, prompt, 1, end, e);
    for (int32_t i = 0; !st && prompt && i < n; i++)
        us = end[i].queue_us + end[i].prefill_us > us
                 ? end[i].queue_us + end[i].prefill_us
                 : us;
    if (us && run >= 0)
        b->prefill[run] = (double)prompt * n * 1e6 / (double)us;
    if (!st && tokens)
        st = play(b, run < 0 ? 1 : b->depth, tokens + 1, end, e);
    if (!st && tokens && run >= 0 && end[n - 1].decode_us > 0)
        b->decode[run] = (double)(end[n - 1].completion_tokens - 1) * n *
                         1e6 / (double)end[n - 1].decode_us;
    free(end);
    return st;
}

static enum st speed(struct bench *b, struct err *e)
{
    struct gen_limits l;
    enum st st = ST_OK;

    b->load.gen->ops->limits(b->load.gen, &l);
    b->vocab = l.vocab;
    for (int64_t run = -1; !st && run < b->runs; run++)
        st = one_run(b, run, e);
    return st;
}

static struct figure figure_of(double *v, size_t n)
{
    struct figure f = {.median = reads_median(v, n)};

    f.least = n ? v[0] : 0;
    f.most = n ? v[n - 1] : 0;
    return f;
}

/* --- the answer ----------------------------------------------------------- */

struct figures {
    struct figure prefill, decode, reads;
    double fraction; /* of the reads' median that decoding uses */
};

static void print_speed(const char *name, const struct figure *f,
                        int64_t tokens, const struct bench *b)
{
    printf("%-16s %10.1f tokens/s (%.1f to %.1f; %lld tokens, %d at a time)\n",
           name, f->median, f->least, f->most, (long long)tokens,
           b->config.parallel);
}

static void print(const struct bench *b, const struct figures *f)
{
    if (b->prompt)
        print_speed("prefill", &f->prefill, b->prompt, b);
    if (b->tokens)
        print_speed("decode", &f->decode, b->tokens, b);
    printf("weights per step %10.1f MB\n", (double)b->bytes / 1e6);
    printf("memory reads     %10.1f GB/s (%.1f to %.1f)\n",
           f->reads.median / 1e9, f->reads.least / 1e9, f->reads.most / 1e9);
    if (b->tokens)
        printf("decode uses      %10.1f %% of that\n", f->fraction * 100);
}

static bool print_json(const struct bench *b, const struct figures *f)
{
    struct buf out;
    struct jw *w;
    bool good;

    buf_init(&out, BUF_MESSAGE);
    w = jw_new(&out);
    jw_obj(w);
    jw_kint(w, "prompt_tokens", b->prompt);
    jw_kint(w, "completion_tokens", b->tokens);
    jw_kint(w, "depth", b->depth);
    jw_kint(w, "parallel", b->config.parallel);
    jw_kint(w, "threads", engine_threads(&b->config));
    jw_kint(w, "runs", b->runs);
    jw_knum(w, "prefill_per_second", f->prefill.median, 2);
    jw_knum(w, "prefill_least", f->prefill.least, 2);
    jw_knum(w, "prefill_most", f->prefill.most, 2);
    jw_knum(w, "decode_per_second", f->decode.median, 2);
    jw_knum(w, "decode_least", f->decode.least, 2);
    jw_knum(w, "decode_most", f->decode.most, 2);
    jw_kint(w, "weight_bytes_per_step", (int64_t)b->bytes);
    jw_knum(w, "bytes_per_token",
            (double)b->bytes / (double)b->config.parallel, 0);
    jw_knum(w, "memory_bytes_per_second", f->reads.median, 0);
    jw_knum(w, "memory_least", f->reads.least, 0);
    jw_knum(w, "memory_most", f->reads.most, 0);
    jw_knum(w, "memory_fraction", f->fraction, 4);
    jw_obj_end(w);
    good = jw_end(w);
    if (good)
        printf("%s\n", out.p);
    buf_release(&out);
    return good;
}

static bool answer(struct bench *b)
{
    struct figures f = {
        .prefill = figure_of(b->prefill, b->prompt ? (size_t)b->runs : 0),
        .decode = figure_of(b->decode, b->tokens ? (size_t)b->runs : 0),
        .reads = figure_of(b->reads.speed, b->reads.n),
    };

    if (f.reads.median > 0)
        f.fraction = (double)b->bytes * f.decode.median /
                     b->config.parallel / f.reads.median;
    if (b->json)
        return print_json(b, &f);
    print(b, &f);
    return true;
}

int cmd_bench(int argc, char **argv)
{
    struct bench b = {.prompt = 256, .tokens = 64, .runs = 3};
    struct err e;
    enum st st;
    int rc;

    engine_config_default(&b.config);
    b.config.parallel = 1;
    b.config.chunk = CHUNK;
    rc = options(&b, argc, argv);
    if (rc)
        return rc - 1;
    st = reads_add(&b.reads, engine_threads(&b.config), READS, &e);
    if (!st)
        st = load_open(&b.load, b.model, &b.config, &e);
    if (!st)
        st = speed(&b, &e);
    if (!st) {
        b.bytes = step_bytes(b.load.gguf);
        st = reads_add(&b.reads, engine_threads(&b.config), READS, &e);
    }
    if (!st && !answer(&b))
        st = err_set(&e, ST_INTERNAL, "--json", "the document is too large");
    load_release(&b.load);
    return st ? cli_fail("bench", &e) : 0;
}
