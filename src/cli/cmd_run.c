/* penstock run: one generation, no server. */
#include "base/num.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "chat/segment.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "json/write.h"

#include <getopt.h>

#define IDS_MAX (1u << 24)
#define TOKENS_MAX (1 << 24)
#define TOP_MAX 20

struct run {
    const char *model, *prompt, *ids_arg;
    struct engine_config config;
    struct sampling sampling;
    int64_t n, top;
    bool json, ignore_eos;

    struct load load;
    struct ids prompt_ids, ids;
    struct job *job;
    float *chosen;           /* [n] */
    struct logprob *tops;    /* [n][top] */
    struct buf text, tail;   /* tail: the start of a character */
    struct end_info end;
    int64_t load_us;
};

static const char help[] =
    "Usage: penstock run -m FILE (-p TEXT | --ids 1,2,3) [OPTION]...\n\n"
    "One generation, no server. The text goes to standard output as it comes.\n"
    "TEXT is the prompt itself: control tokens in it are recognised, and no\n"
    "chat format is applied. A beginning-of-text id is added where the\n"
    "vocabulary wants one; --ids are taken as they are.\n\n"
    "  -m, --model=FILE      a GGUF file\n"
    "  -p, --prompt=TEXT     the prompt\n"
    "      --ids=LIST        the prompt as token ids\n"
    "  -n, --tokens=N        generate at most N tokens [128]\n"
    "      --temp=T          temperature, 0 takes the likeliest [0]\n"
    "      --top-k=K         only the K likeliest, 0 for all [0]\n"
    "      --top-p=P         only the likeliest of mass P [1]\n"
    "      --min-p=P         only P times as likely as the likeliest [0]\n"
    "      --seed=S          same seed, same text [0]\n"
    "      --top-logprobs=K  log-probabilities of K alternatives, 0-20 [0]\n"
    "      --ignore-eos      go on after the end of a turn\n"
    "      --context=N       positions [the model's own]\n"
    "      --chunk=N         prompt rows of one step [128]\n"
    "      --backend=NAME    cpu [cpu]\n"
    "      --kernels=NAME    auto, ref, avx2, avx512, neon [auto]\n"
    "      --kv-type=TYPE    keys and values in f16 or q8_0 [f16]\n"
    "      --repack=WORD     on; off uses the file as it is, slower [on]\n"
    "      --pack-cache=DIR  where packed weights are kept: auto, off, beside\n"
    "                        or a folder [auto]\n"
    "  -t, --threads=N       threads, 0 for one per CPU [0]\n"
    "      --cpus=LIST       one thread on each of these CPUs: 0-3,8\n"
    "      --json            one JSON document when it is done\n";

static bool number(const char *s, double min, double max, float *out)
{
    double d;

    if (!num_parse_double(s, strlen(s), &d) || !(d >= min) || d > max)
        return false;
    *out = (float)d;
    return true;
}

static bool whole(const char *s, int64_t min, int64_t max, int32_t *out)
{
    int64_t v;

    if (!num_parse_i64(s, strlen(s), min, max, &v))
        return false;
    *out = (int32_t)v;
    return true;
}

/* NULL, or what is wrong with one option. */
static const char *option(struct run *r, int c)
{
    int32_t v;

    switch (c) {
    case 'n':
        if (!num_parse_i64(optarg, strlen(optarg), 1, TOKENS_MAX, &r->n))
            return "-n takes a number from 1 to 16777216";
        break;
    case 't':
        if (!whole(optarg, 0, 256, &v))
            return "-t takes a number from 0 to 256";
        r->config.threads = v;
        break;
    case 'T':
        if (!number(optarg, 0, 100, &r->sampling.temperature))
            return "--temp takes a number from 0 to 100";
        break;
    case 'K':
        if (!whole(optarg, 0, INT32_MAX, &r->sampling.top_k))
            return "--top-k takes a whole number";
        break;
    case 'P':
        if (!number(optarg, 0, 1, &r->sampling.top_p) ||
            r->sampling.top_p <= 0)
            return "--top-p takes a number over 0, at most 1";
        break;
    case 'M':
        if (!number(optarg, 0, 1, &r->sampling.min_p))
            return "--min-p takes a number from 0 to 1";
        break;
    case 'S':
        if (!num_parse_u64(optarg, strlen(optarg), UINT64_MAX,
                           &r->sampling.seed))
            return "--seed takes a whole number";
        break;
    case 'L':
        if (!num_parse_i64(optarg, strlen(optarg), 0, TOP_MAX, &r->top))
            return "--top-logprobs takes a number from 0 to 20";
        break;
    case 'C':
        if (!whole(optarg, 2, INT32_MAX, &r->config.context))
            return "--context takes a number over 1";
        break;
    case 'H':
        if (!whole(optarg, 1, 4096, &r->config.chunk))
            return "--chunk takes a number from 1 to 4096";
        break;
    case 'U':
        r->config.cpus = optarg;
        break;
    case 'B':
        return load_backend(optarg);
    case 'k':
        return load_kernels(optarg, &r->config.set);
    case 'y':
        return load_kv_type(optarg, &r->config.kv_type);
    case 'R':
        return load_repack(optarg, &r->config.packs.repack);
    case 'A':
        r->config.packs.cache = optarg;
        break;
    default:
        return ""; /* getopt said it */
    }
    return NULL;
}

/* 0: go on; otherwise the exit status plus one. */
static int options(struct run *r, int argc, char **argv)
{
    static const struct option longs[] = {
        {"model", required_argument, NULL, 'm'},
        {"prompt", required_argument, NULL, 'p'},
        {"ids", required_argument, NULL, 'i'},
        {"tokens", required_argument, NULL, 'n'},
        {"temp", required_argument, NULL, 'T'},
        {"top-k", required_argument, NULL, 'K'},
        {"top-p", required_argument, NULL, 'P'},
        {"min-p", required_argument, NULL, 'M'},
        {"seed", required_argument, NULL, 'S'},
        {"top-logprobs", required_argument, NULL, 'L'},
        {"ignore-eos", no_argument, NULL, 'E'},
        {"context", required_argument, NULL, 'C'},
        {"chunk", required_argument, NULL, 'H'},
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
           (c = getopt_long(argc, argv, "m:p:n:t:h", longs, NULL)) != -1) {
        if (c == 'm')
            r->model = optarg;
        else if (c == 'p')
            r->prompt = optarg;
        else if (c == 'i')
            r->ids_arg = optarg;
        else if (c == 'E')
            r->ignore_eos = true;
        else if (c == 'j')
            r->json = true;
        else if (c == 'h')
            return fputs(help, stdout) < 0 ? 2 : 1;
        else
            wrong = option(r, c);
    }
    if (wrong)
        return 1 + (wrong[0] ? cli_usage("run", "%s", wrong)
                             : cli_try_help("run"));
    if (optind < argc)
        return 1 + cli_usage("run", "'%s' is not an option", argv[optind]);
    if (!r->model)
        return 1 + cli_usage("run", "-m FILE is missing");
    if (!r->prompt == !r->ids_arg)
        return 1 + cli_usage("run", "give one of -p TEXT and --ids LIST");
    return 0;
}

/* "1,2,3" */
static enum st parse_ids(struct ids *out, const char *s, struct err *e)
{
    for (;;) {
        size_t n = strcspn(s, ",");
        int64_t id;

        if (!num_parse_i64(s, n, 0, INT32_MAX, &id))
            return err_set(e, ST_INVALID, "--ids",
                           "whole numbers with commas between are expected");
        ids_add(out, (int32_t)id);
        if (!s[n])
            break;
        s += n + 1;
    }
    return out->failed ? err_set(e, ST_LIMIT, "--ids", "too many ids") : ST_OK;
}

static enum st encode(struct run *r, struct err *e)
{
    struct segments segs;
    struct arena a;
    enum st st;

    if (r->ids_arg)
        return parse_ids(&r->prompt_ids, r->ids_arg, e);
    if (!r->load.tok)
        return err_set(e, ST_UNSUPPORTED, r->model,
                       "the file has no tokenizer; use --ids");
    arena_init(&a, BUF_MESSAGE);
    segments_init(&segs, &a);
    segments_add(&segs, TOK_MARKUP, r->prompt, strlen(r->prompt));
    st = segments_encode(&segs, r->load.tok, &r->prompt_ids, e);
    arena_release(&a);
    return st;
}

/* Text of one id; the end of a turn is no text. */
static void add_text(struct run *r, int32_t id)
{
    struct span piece;
    size_t whole_n;

    if (!r->load.tok)
        return;
    for (size_t i = 0; i < r->load.stop.n; i++)
        if (r->load.stop.p[i] == id)
            return;
    piece = tok_piece(r->load.tok, id);
    buf_add(&r->tail, piece.s, piece.n);
    whole_n = utf8_complete_len(r->tail.p, r->tail.n);
    load_utf8(&r->text, r->tail.p, whole_n);
    buf_drop(&r->tail, whole_n);
}

/* Take what there is; print it unless a document comes at the end. */
static void take(struct run *r)
{
    int32_t ids[64];
    size_t top = (size_t)r->top, n, had = r->text.n;
    float *chosen = top ? r->chosen + r->ids.n : NULL;
    struct logprob *tops = top ? r->tops + r->ids.n * top : NULL;

    while ((n = ring_take(r->job->ring, ids, NULL, chosen, tops, 64)) > 0) {
        for (size_t i = 0; i < n; i++) {
            ids_add(&r->ids, ids[i]);
            add_text(r, ids[i]);
        }
        chosen = top ? chosen + n : NULL;
        tops = top ? tops + n * top : NULL;
    }
    if (r->json || r->text.n == had)
        return;
    fwrite(r->text.p + had, 1, r->text.n - had, stdout);
    fflush(stdout);
}

static enum st generate(struct run *r, struct err *e)
{
    struct gen *g = r->load.gen;
    struct ring_view v;
    enum st st;

    r->job = job_new(r->prompt_ids.p, r->prompt_ids.n, r->load.stop.p,
                     r->ignore_eos ? 0 : r->load.stop.n, (int32_t)r->n,
                     (int32_t)r->top);
    if (r->top) {
        size_t n = (size_t)r->n, top = (size_t)r->top;

        r->chosen = mem_try_array(n, sizeof(*r->chosen));
        r->tops = mem_try_array(n * top, sizeof(*r->tops));
    }
    if (!r->job || (r->top && (!r->chosen || !r->tops)))
        return err_set(e, ST_NOMEM, "", "no memory for so many tokens");
    r->job->sampling = r->sampling;
    st = gen_submit(g, r->job, e);
    if (st)
        return st;
    do {
        ring_wait(r->job->ring, 1000);
        ring_look(r->job->ring, &v);
        take(r);
    } while (!v.ended);
    r->end = v.end;
    load_utf8(&r->text, r->tail.p, r->tail.n);
    if (v.end.reason != END_ERROR)
        return ST_OK;
    if (e)
        *e = v.end.err;
    return v.end.err.st;
}

static void write_piece(const struct run *r, struct jw *w, int32_t id)
{
    struct span piece = tok_piece(r->load.tok, id);
    struct buf b;

    buf_init(&b, BUF_EVENT);
    load_utf8(&b, piece.s, piece.n);
    jw_kstrn(w, "token", b.n ? b.p : "", b.n);
    buf_release(&b);
}

static void write_logprob(const struct run *r, struct jw *w, int32_t id,
                          float l)
{
    jw_kint(w, "id", id);
    if (r->load.tok)
        write_piece(r, w, id);
    jw_knum(w, "logprob", (double)l, 6);
}

static void write_logprobs(const struct run *r, struct jw *w)
{
    jw_arr(w);
    for (size_t i = 0; i < r->ids.n; i++) {
        const struct logprob *top = r->tops + i * (size_t)r->top;

        jw_obj(w);
        write_logprob(r, w, r->ids.p[i], r->chosen[i]);
        jw_key(w, "top");
        jw_arr(w);
        for (int64_t k = 0; k < r->top && top[k].id >= 0; k++) {
            jw_obj(w);
            write_logprob(r, w, top[k].id, top[k].logprob);
            jw_obj_end(w);
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

static void write_ids(struct jw *w, const char *key, const struct ids *v)
{
    jw_key(w, key);
    jw_arr(w);
    for (size_t i = 0; i < v->n; i++)
        jw_int(w, v->p[i]);
    jw_arr_end(w);
}

static double per_second(int64_t n, int64_t us)
{
    return us > 0 ? (double)n * 1e6 / (double)us : 0;
}

static void write_timings(const struct run *r, struct jw *w)
{
    jw_key(w, "timings");
    jw_obj(w);
    jw_knum(w, "load_ms", (double)r->load_us / 1000, 3);
    jw_knum(w, "prefill_ms", (double)r->end.prefill_us / 1000, 3);
    jw_knum(w, "decode_ms", (double)r->end.decode_us / 1000, 3);
    jw_knum(w, "prefill_per_second",
            per_second(r->end.prompt_tokens, r->end.prefill_us), 2);
    jw_knum(w, "decode_per_second",
            per_second(r->end.completion_tokens - 1, r->end.decode_us), 2);
    jw_obj_end(w);
}

static enum st write_json(const struct run *r, struct err *e)
{
    const char *why = r->end.reason == END_STOP ? "stop" : "length";
    struct buf out;
    struct jw *w;
    enum st st = ST_OK;

    buf_init(&out, BUF_ANSWER);
    w = jw_new(&out);
    jw_obj(w);
    write_ids(w, "prompt_ids", &r->prompt_ids);
    write_ids(w, "ids", &r->ids);
    if (r->load.tok)
        jw_kstrn(w, "text", r->text.n ? r->text.p : "", r->text.n);
    else
        jw_knull(w, "text");
    jw_kstr(w, "finish_reason", why);
    jw_key(w, "logprobs");
    if (r->top)
        write_logprobs(r, w);
    else
        jw_null(w);
    jw_kstr(w, "fingerprint", r->load.gen->ops->fingerprint(r->load.gen));
    write_timings(r, w);
    jw_obj_end(w);
    if (jw_end(w))
        printf("%s\n", out.p);
    else
        st = err_set(e, ST_LIMIT, "--json", "the document is too large");
    buf_release(&out);
    return st;
}

int cmd_run(int argc, char **argv)
{
    struct run r = {.n = 128, .sampling.top_p = 1};
    int64_t t0 = mono_us();
    struct err e;
    enum st st;
    int rc;

    engine_config_default(&r.config);
    r.config.parallel = 1;
    rc = options(&r, argc, argv);
    if (rc)
        return rc - 1;
    ids_init(&r.prompt_ids, IDS_MAX);
    ids_init(&r.ids, TOKENS_MAX);
    buf_init(&r.text, BUF_ANSWER);
    buf_init(&r.tail, BUF_EVENT);
    st = load_open(&r.load, r.model, &r.config, &e);
    r.load_us = mono_us() - t0;
    if (!st)
        st = encode(&r, &e);
    if (!st)
        st = generate(&r, &e);
    if (!st && r.json)
        st = write_json(&r, &e);
    else if (!st)
        putchar('\n');
    load_release(&r.load);
    job_unref(r.job);
    free(r.chosen);
    free(r.tops);
    ids_release(&r.prompt_ids);
    ids_release(&r.ids);
    buf_release(&r.text);
    buf_release(&r.tail);
    return st ? cli_fail("run", &e) : 0;
}
