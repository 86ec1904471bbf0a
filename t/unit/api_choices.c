/*
 * Requests with several choices that end differently, what jobs get of a
 * request, and prompts that cannot be. Shapes and names are OpenAI's; the
 * ledger's one reason for several choices is ours: the first that did not end
 * well speaks, else one that called.
 */
#include "t/lib/apit.h"

#include "api/prompts.h"
#include "api/run.h"
#include "chat/format_int.h"

#include <malloc.h>
#include <unistd.h>

static const char *const chat = "/v1/chat/completions";
static const char *const text = "/v1/completions";

#define TOOLS                                                                  \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"
#define WELL "one two<|im_end|>"
#define CALLS "<tool_call><function=f></function></tool_call><|im_end|>"
#define LONG "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24"

static struct apit t;

/* What each job was given, in the order of submission. */
static struct {
    uint64_t seed;
    int32_t choice;
    int32_t first; /* id of its prompt */
    bool guided;
    size_t n_bias;
    struct bias bias[2];
} jobs[16];
static size_t n_jobs, second_at;

/* The second choice has a script of its own, behind the first one's. */
static size_t start_at(const struct job *j)
{
    if (n_jobs < 16) {
        jobs[n_jobs].seed = j->sampling.seed;
        jobs[n_jobs].first = j->ids[0];
        jobs[n_jobs].guided = j->guide != NULL;
        jobs[n_jobs].n_bias = j->n_bias;
        for (size_t i = 0; i < j->n_bias && i < 2; i++)
            jobs[n_jobs].bias[i] = j->bias[i];
        jobs[n_jobs++].choice = j->choice;
    }
    return j->choice == 1 ? second_at : 0;
}

struct setup {
    int64_t gap_us;
    int32_t fail_after; /* 0: never */
    enum st fail_as;
    int32_t parallel, cached;
    void (*config)(struct api_config *c);
};

/* A server whose first choice writes `one`, its second `two`. */
static void scripts(const char *one, const char *two, const struct setup *s)
{
    static int32_t ids[1024];
    struct scripted_config gen = {
        .ids = ids,
        .fail_after = s->fail_after ? s->fail_after : -1,
        .fail_as = s->fail_as,
        .per_token_us = s->gap_us,
        .parallel = s->parallel,
        .max_queue = 8,
        .cached = s->cached,
        .context = 512,
        .start_at = start_at,
    };
    const char *why;

    second_at = apit_ids(one, ids, 512);
    gen.n = second_at + apit_ids(two, ids + second_at, 512);
    n_jobs = 0;
    if (!apit_open(&t, &gen, s->config, &why))
        exit(1);
}

static const char *body(const char *more)
{
    static char out[1024];

    snprintf(out, sizeof(out),
             "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
             "\"reasoning_effort\":\"none\"," TOOLS "%s}", more);
    return out;
}

/* --- choices that end differently ---------------------------------------- */

static const char *finish_at(const struct json *v, int i)
{
    char path[64];
    const struct json *s;

    snprintf(path, sizeof(path), "choices.%d.finish_reason", i);
    s = json_at(v, path);
    return s && s->type == JSON_STR ? s->str.s : "(none)";
}

static void differ(void)
{
    static const struct {
        const char *one, *two, *first, *second, *row, *tool_calls;
    } rows[] = {
        {WELL, LONG, "stop", "length", "length", "0"},
        {LONG "<|im_end|>", WELL, "length", "stop", "length", "0"},
        {WELL, CALLS, "stop", "tool_calls", "tool_calls", "1"},
        {CALLS, WELL, "tool_calls", "stop", "tool_calls", "1"},
        {CALLS, LONG, "tool_calls", "length", "length", "1"},
        {LONG "<|im_end|>", CALLS, "length", "tool_calls", "length", "1"},
        {CALLS, CALLS, "tool_calls", "tool_calls", "tool_calls", "2"},
        {WELL, WELL, "stop", "stop", "stop", "0"},
    };
    char h[64], want[64];
    struct call c;
    struct arena a;
    const struct json *v;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        scripts(rows[i].one, rows[i].two, &(struct setup){0});
        call_do(&c, &t, chat, body(",\"n\":2,\"max_tokens\":24"));
        v = call_json(&c, &a);
        is_str(finish_at(v, 0), rows[i].first, "%zu: the first", i);
        is_str(finish_at(v, 1), rows[i].second, "%zu: the second", i);
        snprintf(want, sizeof(want), "%s %s", rows[i].row,
                 rows[i].tool_calls);
        is_str(row_get(&c, "finish_reason || ' ' || tool_calls", h,
                       sizeof(h)), want, "%zu: its row", i);
        arena_release(&a);
        call_release(&c);
        apit_close(&t);
    }
}

static void failed(void)
{
    static const struct {
        enum st st;
        int http;
        const char *row;
    } rows[] = {{ST_OK, 500, "error internal"}, {ST_NOMEM, 503, "error nomem"}};
    char h[64];
    struct call c;

    for (size_t i = 0; i < 2; i++) {
        scripts(WELL, LONG,
                &(struct setup){.fail_after = 6, .fail_as = rows[i].st});
        call_do(&c, &t, chat, body(",\"n\":2"));
        is_int(call_status(&c), rows[i].http, "one failed: no answer at all");
        is_str(row_get(&c, "finish_reason || ' ' || error_type", h,
                       sizeof(h)), rows[i].row, "its row");
        call_release(&c);
        apit_close(&t);
    }
}

static void hasty(struct api_config *c)
{
    c->request_timeout_ms = 400;
}

/* Both ended badly: the first one speaks. A prompt of 510 tokens leaves room
 * for two; the other one's answer takes too long. */
static void both_badly(void)
{
    char many[2048], json[8192], h[64];
    size_t n = (size_t)snprintf(many, sizeof(many), "[5");
    struct call c;
    struct arena a;
    const struct json *v;

    for (int i = 1; i < 510; i++)
        n += (size_t)snprintf(many + n, sizeof(many) - n, ",5");
    snprintf(many + n, sizeof(many) - n, "]");
    for (int i = 0; i < 2; i++) {
        const char *first = i ? "timeout" : "length";

        snprintf(json, sizeof(json), "{\"prompt\":[%s,%s]}",
                 i ? "[5]" : many, i ? many : "[5]");
        scripts(LONG LONG, "",
                &(struct setup){.gap_us = 20000, .config = hasty});
        call_do(&c, &t, text, json);
        v = call_json(&c, &a);
        is_str(finish_at(v, 0), first, "two bad ends: the first");
        is_str(finish_at(v, 1), i ? "length" : "timeout",
               "two bad ends: the second");
        is_str(row_get(&c, "finish_reason", h, sizeof(h)), first,
               "two bad ends: the first one is the row's");
        arena_release(&a);
        call_release(&c);
        apit_close(&t);
    }
}

/* --- sums ---------------------------------------------------------------- */

static void is_usage(const struct json *v, int64_t prompt, int64_t completion,
                     int64_t cached, const char *what)
{
    const struct json *u = json_get(v, "usage");

    is_int(json_int(json_get(u, "prompt_tokens")), prompt, "%s: prompt",
           what);
    is_int(json_int(json_get(u, "completion_tokens")), completion,
           "%s: completion", what);
    is_int(json_int(json_get(u, "total_tokens")), prompt + completion,
           "%s: total", what);
    is_int(json_int(json_at(u, "prompt_tokens_details.cached_tokens")),
           cached, "%s: cached", what);
    is_int(json_int(json_at(v, "timings.cache_n")), cached,
           "%s: cached, in the timings", what);
    is_int(json_int(json_at(v, "timings.prompt_n")), prompt - cached,
           "%s: read anew, in the timings", what);
}

static void sums(void)
{
    char h[64];
    int64_t first, second;
    struct call c;
    struct arena a;
    const struct json *v;

    scripts("a b c<|im_end|>", LONG "<|im_end|>", &(struct setup){.gap_us = 1000, .cached = 1});
    first = (int64_t)second_at;
    second = (int64_t)apit_ids(LONG "<|im_end|>", (int32_t[512]){0}, 512);
    call_do(&c, &t, text, "{\"prompt\":[5,6,7],\"n\":2}");
    v = call_json(&c, &a);
    is_usage(v, 3, first + second, 1, "a prompt, two choices");
    ok(json_str_is(json_at(v, "timings.cache_source"), "prefix"),
       "from a prefix");
    is_str(row_get(&c, "prompt_tokens || ' ' || cached_tokens || ' ' || "
                       "cache_source || ' ' || (completion_tokens > 9)", h,
                   sizeof(h)), "3 1 prefix 1", "its row");
    ok(strtoll(row_get(&c, "decode_ms", h, sizeof(h)), NULL, 10) >= second - 1,
       "decoding took as long as the longer one");
    arena_release(&a);
    call_release(&c);
    call_do(&c, &t, text, "{\"prompt\":[[5,6,7],[5,6]],\"n\":2}");
    v = call_json(&c, &a);
    is_usage(v, 5, 2 * (first + second), 2, "two prompts, two choices");
    arena_release(&a);
    call_release(&c);
    /* a stop string in one of them: nothing behind it counts */
    call_do(&c, &t, text, "{\"prompt\":[5,6,7],\"n\":2,\"stop\":[\"4\"]}");
    v = call_json(&c, &a);
    is_usage(v, 3, first + (int64_t)apit_ids("1 2 3 4", (int32_t[16]){0}, 16),
             1, "a stop string in one");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
}

static void thoughts(void)
{
    int32_t ids[64];
    int64_t want = (int64_t)(apit_ids("hm</think>", ids, 64) +
                             apit_ids("a b c d</think>", ids, 64));
    char h[64];
    struct call c;
    struct arena a;

    scripts("hm</think>x<|im_end|>", "a b c d</think>y<|im_end|>",
            &(struct setup){0});
    call_do(&c, &t, chat,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"n\":2,"
            "\"reasoning_effort\":\"high\"}");
    is_int(json_int(json_at(call_json(&c, &a), "usage.completion_tokens_details"
                                               ".reasoning_tokens")), want,
           "reasoning of both choices");
    is_int(strtoll(row_get(&c, "reasoning_tokens", h, sizeof(h)), NULL, 10),
           want, "its row");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
}

/* The second choice waits for the first: the request did not. */
static void waits(void)
{
    char h[64];
    struct call c;

    scripts(LONG "<|im_end|>", LONG, &(struct setup){.gap_us = 4000,
                                                     .parallel = 1});
    call_do(&c, &t, chat, body(",\"n\":2"));
    is_str(row_get(&c, "(queue_ms < decode_ms / 2) || ' ' || "
                       "(ttft_ms < decode_ms / 2)", h, sizeof(h)), "1 1",
           "a request waited as long as its first choice");
    call_release(&c);
    apit_close(&t);
}

/* --- what jobs get ------------------------------------------------------- */

static void seeds(void)
{
    static const char *const more[] = {
        ",\"n\":2,\"seed\":7", ",\"n\":2,\"seed\":7", ",\"n\":2,\"seed\":8",
        ",\"n\":2", ",\"n\":2",
    };
    struct call c;

    scripts(WELL, WELL, &(struct setup){0});
    for (size_t i = 0; i < 5; i++) {
        call_do(&c, &t, chat, body(more[i]));
        call_release(&c);
    }
    is_int((intmax_t)n_jobs, 10, "ten jobs");
    ok(jobs[0].seed == 7 && jobs[2].seed == 7 && jobs[4].seed == 8,
       "a seed that is given is the job's");
    ok(jobs[6].seed != jobs[8].seed && jobs[6].seed, "else every one is new");
    for (size_t i = 0; i < n_jobs; i += 2)
        ok(jobs[i].seed == jobs[i + 1].seed && jobs[i].choice == 0 &&
               jobs[i + 1].choice == 1,
           "choices share the seed of their request and know their place");
    apit_close(&t);
}

static void prompts_in_order(void)
{
    struct call c;

    scripts(WELL, WELL, &(struct setup){0});
    call_do(&c, &t, text, "{\"prompt\":[[5,9],[6,9],[7,9]],\"n\":2}");
    is_int((intmax_t)n_jobs, 6, "three prompts, two answers each");
    for (size_t i = 0; i < n_jobs; i++)
        ok(jobs[i].first == 5 + (int32_t)i / 2 &&
               jobs[i].choice == (int32_t)i % 2,
           "choice %zu is of prompt %zu", i, i / 2);
    call_release(&c);
    apit_close(&t);
}

/* A job that nothing steers has no guide: it is as without the feature. */
static void guides(void)
{
    static const struct {
        const char *more;
        bool guided;
    } rows[] = {
        {"\"thinking\":true", false},
        {"\"thinking\":true,\"thinking_budget\":9", true},
        {"\"thinking\":true,\"no_repeat_ngram_size\":3", true},
        {"\"thinking\":true,\"no_repeat_ngram_size\":0", false},
        {"\"thinking\":false,\"no_repeat_ngram_size\":3", false},
        {"\"thinking\":false,\"thinking_budget\":9", false},
        {"\"structured_outputs\":{\"choice\":[\"a\"]}", true},
    };
    struct call c;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char json[200];

        scripts(WELL, "", &(struct setup){0});
        snprintf(json, sizeof(json), "{\"messages\":[{\"role\":\"user\","
                                     "\"content\":\"Hi\"}],%s}",
                 rows[i].more);
        call_do(&c, &t, chat, json);
        ok(n_jobs == 1 && jobs[0].guided == rows[i].guided, "%s: %s",
           rows[i].more, rows[i].guided ? "guided" : "left alone");
        call_release(&c);
        apit_close(&t);
    }
}

static void biases(void)
{
    struct call c;

    scripts(WELL, WELL, &(struct setup){0});
    call_do(&c, &t, chat, body(",\"n\":2,\"logit_bias\":{\"9\":-100,\"7\":1.5}"));
    for (size_t i = 0; i < 2; i++)
        ok(n_jobs == 2 && jobs[i].n_bias == 2 && jobs[i].bias[0].id == 7 &&
               jobs[i].bias[0].value == 1.5f && jobs[i].bias[1].id == 9 &&
               jobs[i].bias[1].value == -100,
           "job %zu has the biases of its request", i);
    call_release(&c);
    apit_close(&t);
}

/* The last id of the vocabulary, and the first behind it. */
static void vocabulary(void)
{
    static const struct {
        const char *path, *before, *after, *param;
    } rows[] = {
        {"/v1/completions", "{\"prompt\":[5,", "]}", "prompt[1]"},
        {"/v1/completions", "{\"prompt\":[[5],[", "]]}", "prompt[1][0]"},
        {"/v1/completions", "{\"prompt\":[[", "]]}", "prompt[0][0]"},
        {"/v1/completions", "{\"prompt\":\"x\",\"logit_bias\":{\"", "\":1}}",
         "logit_bias"},
        {"/v1/chat/completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
         "\"logit_bias\":{\"3\":1,\"", "\":1}}", "logit_bias"},
    };

    scripts(WELL, "", &(struct setup){0});
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int above = 0; above < 2; above++) {
            struct call c;
            struct arena a;
            char json[200];
            const struct json *v;

            snprintf(json, sizeof(json), "%s%d%s", rows[i].before,
                     (int)tok_count(t.tok) - 1 + above, rows[i].after);
            call_do(&c, &t, rows[i].path, json);
            v = call_json(&c, &a);
            is_int(call_status(&c), above ? 400 : 200, "%s", json);
            if (above)
                ok(json_str_is(json_at(v, "error.param"), rows[i].param),
                   "names %s", rows[i].param);
            arena_release(&a);
            call_release(&c);
        }
    apit_close(&t);
}

/* A call does not make a limit an ending of the model's. */
static void call_then_limit(void)
{
    char more[64];
    struct call c;
    struct arena a;
    const struct json *v;

    scripts("<tool_call><function=f></function></tool_call>" LONG, "",
            &(struct setup){0});
    snprintf(more, sizeof(more), ",\"max_tokens\":%zu",
             apit_ids("<tool_call><function=f></function></tool_call>1 2",
                      (int32_t[64]){0}, 64));
    call_do(&c, &t, chat, body(more));
    v = call_json(&c, &a);
    ok(json_at(v, "choices.0.message.tool_calls.0"), "a whole call");
    is_str(finish_at(v, 0), "length", "then the limit: length");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
}

/* A stop string is looked for long after the body is gone. */
static void kept_stops(void)
{
    struct joined j;
    struct call c;

    scripts(LONG, "", &(struct setup){.gap_us = 1000});
    call_start(&c, &t, "POST", chat,
               body(",\"stream\":true,\"stop\":[\"never\",\"7 8\"]"), NULL);
    for (int i = 0; i < 64; i++)
        free(memset(mem_try(4096), 'x', 4096));
    call_finish(&c);
    join(&j, &c);
    is_str(j.content.p, "1 2 3 4 5 6 ", "every stop string was kept");
    is_str(j.finish, "stop", "and the one that came ended it");
    join_release(&j);
    call_release(&c);
    apit_close(&t);
}

/* The last token that was allowed completes the stop string. */
static void stop_at_limit(void)
{
    char more[64], h[64];
    struct call c;
    struct arena a;

    scripts(LONG, "", &(struct setup){0});
    snprintf(more, sizeof(more), ",\"stop\":[\"4\"],\"max_tokens\":%zu",
             apit_ids("1 2 3 4", (int32_t[16]){0}, 16));
    call_do(&c, &t, chat, body(more));
    is_str(finish_at(call_json(&c, &a), 0), "stop", "a stop beats the limit");
    is_str(row_get(&c, "finish_reason", h, sizeof(h)), "stop", "its row");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
}

/* What fails behind a stop string fails behind the answer. */
static void stop_then_failure(void)
{
    struct ring_view v = {0};
    char h[64];
    struct call c;
    struct arena a;
    const struct json *choice;

    scripts(LONG, "", &(struct setup){.fail_after = 20});
    scripted_hold(t.gen);
    call_start(&c, &t, "POST", chat, body(",\"stop\":[\"4\"]"), NULL);
    scripted_release(t.gen);
    for (int i = 0; i < 5000 && !v.ended; i++) {
        usleep(1000);
        ring_look(run_of(&c.x)->choices[0].job->ring, &v);
    }
    is_int(v.end.reason, END_ERROR, "the generation failed");
    call_finish(&c);
    is_int(call_status(&c), 200, "behind its answer");
    choice = json_at(call_json(&c, &a), "choices.0");
    ok(json_str_is(json_at(choice, "message.content"), "1 2 3 ") &&
           json_str_is(json_get(choice, "finish_reason"), "stop"),
       "which is complete");
    is_str(row_get(&c, "finish_reason || ' ' || status || ' ' || "
                       "coalesce(error_type, '')", h, sizeof(h)), "stop 200 ",
           "its row agrees");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
}

/* --- prompts ------------------------------------------------------------- */

static void no_prompts(void)
{
    static const int32_t negative[] = {5, -1};
    static const struct {
        struct prompt prompt;
        bool list;
        const char *where, *text;
    } rows[] = {
        {{.text = {"", 0}}, false, "prompt", "it has no tokens"},
        {{.text = {"", 0}}, true, "prompt[0]", "it has no tokens"},
        {{.ids = negative, .n_ids = 2}, false, "prompt[1]",
         "token id -1 is not in the vocabulary"},
        {{.ids = negative, .n_ids = 2}, true, "prompt[0][1]",
         "token id -1 is not in the vocabulary"},
    };
    struct arena a;

    scripts(WELL, "", &(struct setup){0});
    arena_init(&a, 1 << 20);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct body b = {.prompts = &rows[i].prompt, .n_prompts = 1,
                         .prompt_list = rows[i].list};
        struct prompt_ids *p = mem_new(struct prompt_ids);
        struct err e = {0};

        p->context = 512;
        is_int(prompts_text(p, t.catalog.models, &b, &a, &e), ST_INVALID,
               "%s", rows[i].text);
        ok(!strcmp(e.where, rows[i].where) && strstr(e.text, rows[i].text),
           "says so (%s: %s)", e.where, e.text);
        prompts_release(p);
        free(p);
    }
    arena_release(&a);
    apit_close(&t);
}

static void no_format(void)
{
    static char why[] = "its template is broken";
    struct call c;
    struct arena a;
    const struct json *v;

    scripts(WELL, "", &(struct setup){0});
    t.catalog.models->format = NULL;
    for (int known = 0; known < 2; known++) {
        t.catalog.models->no_chat = known ? why : NULL;
        call_do(&c, &t, chat, "{\"messages\":[{\"role\":\"user\","
                              "\"content\":\"Hi\"}]}");
        v = call_json(&c, &a);
        is_int(call_status(&c), 400, "no chat format: no chat");
        ok(json_str_is(json_at(v, "error.param"), "model"), "by the model");
        ok(json_str_is(json_at(v, "error.code"), "unsupported_chat_format"),
           "with a code");
        ok(strstr(call_body(&c), known ? "no chat format: its template is "
                                         "broken"
                                       : "no chat format: none was found"),
           "says why");
        arena_release(&a);
        call_release(&c);
    }
    t.catalog.models->no_chat = NULL;
    call_do(&c, &t, text, "{\"prompt\":\"Hi\"}");
    is_int(call_status(&c), 200, "no chat format: completions work");
    ok(strstr(call_body(&c), "\"text\":\"one two\""), "and are plain text");
    call_release(&c);
    apit_close(&t);
}

/* What a chat format cannot do is told of the field that asked for it: this
 * one has no reasoning, and system messages at the top only (check 91). */
static void no_channel(void)
{
    static const char json[] =
        "{\"system\":[\"<|im_start|>system\\n\",\"<|im_end|>\\n\"],"
        "\"user\":[\"<|im_start|>user\\n\",\"<|im_end|>\\n\"],"
        "\"assistant\":[\"<|im_start|>assistant\\n\",\"<|im_end|>\\n\"],"
        "\"open\":\"<|im_start|>assistant\\n\"}";
    static const struct {
        const char *field, *param;
    } rows[] = {
        {"\"reasoning_effort\":\"high\"", "reasoning_effort"},
        {"\"thinking_budget\":5", "thinking_budget"},
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":5}",
         "thinking.budget_tokens"},
        {"\"reasoning\":{\"effort\":9}", "reasoning.effort"},
        {"\"chat_template_kwargs\":{\"enable_thinking\":true}",
         "chat_template_kwargs.enable_thinking"},
        {"\"think\":true", "think"},
        {"\"think\":false,\"thinking_budget\":5", NULL},
        {"\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
         "{\"role\":\"developer\",\"content\":\"x\"}]", "messages[1].role"},
        {"\"messages\":[{\"role\":\"developer\",\"content\":\"x\"},"
         "{\"role\":\"user\",\"content\":\"Hi\"}]", NULL},
    };
    char h[64];
    struct format *f;
    struct err e = {0};

    scripts(WELL, "", &(struct setup){0});
    is_int(format_chatjson(&f, json, strlen(json), "x", t.tok, &e), ST_OK,
           "a format without reasoning (%s %s)", e.where, e.text);
    t.catalog.models->format = f;
    for (size_t i = 0; f && i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct call c;
        struct arena a;
        char body[300];
        const struct json *v;

        snprintf(body, sizeof(body), "{\"messages\":[{\"role\":\"user\","
                                     "\"content\":\"Hi\"}],%s}",
                 rows[i].field);
        call_do(&c, &t, chat, body);
        v = call_json(&c, &a);
        is_int(call_status(&c), rows[i].param ? 400 : 200, "%s",
               rows[i].field);
        if (rows[i].param)
            ok(json_str_is(json_at(v, "error.param"), rows[i].param),
               "names %s", rows[i].param);
        else
            is_str(row_get(&c, "thinking", h, sizeof(h)), "0",
                   "its row: no thinking");
        arena_release(&a);
        call_release(&c);
    }
    t.catalog.models->format = t.format;
    format_free(f);
    apit_close(&t);
}

static void no_thinking(struct api_config *c)
{
    c->think_default = false;
}

/* A model whose reasoning cannot be off thinks, whatever the server says. */
static void always_thinks(void)
{
    static const char json[] =
        "{\"user\":[\"<|im_start|>user\\n\",\"<|im_end|>\\n\"],"
        "\"assistant\":[\"<|im_start|>assistant\\n\",\"<|im_end|>\\n\"],"
        "\"open\":\"<|im_start|>assistant\\n\","
        "\"think\":[\"<think>\\n\",\"\\n</think>\\n\\n\"]}";
    struct format *f;
    struct err e = {0};
    struct call c;
    char h[64];

    scripts(WELL, "", &(struct setup){.config = no_thinking});
    is_int(format_chatjson(&f, json, strlen(json), "x", t.tok, &e), ST_OK,
           "a format that always thinks (%s %s)", e.where, e.text);
    t.catalog.models->format = f;
    call_do(&c, &t, chat, "{\"messages\":[{\"role\":\"user\","
                          "\"content\":\"Hi\"}]}");
    is_int(call_status(&c), 200, "is served with thinking off");
    is_str(row_get(&c, "thinking", h, sizeof(h)), "1", "its row: it thought");
    call_release(&c);
    t.catalog.models->format = t.format;
    format_free(f);
    apit_close(&t);
}

/* What would never be taken is not told to come back: one runs, eight wait. */
static void too_many(void)
{
    static const struct {
        const char *path, *body, *param;
    } rows[] = {
        {"/v1/completions", "{\"prompt\":\"x\",\"n\":9}", NULL},
        {"/v1/completions", "{\"prompt\":\"x\",\"n\":10}", "n"},
        {"/v1/completions", "{\"prompt\":[\"x\",\"y\"],\"n\":5}", "n"},
        {"/v1/completions", "{\"prompt\":[\"0\",\"1\",\"2\",\"3\",\"4\","
                            "\"5\",\"6\",\"7\",\"8\",\"9\"]}", "prompt"},
        {"/v1/chat/completions", "{\"messages\":[{\"role\":\"user\","
                                 "\"content\":\"Hi\"}],\"n\":10}", "n"},
    };

    scripts(WELL, "", &(struct setup){.parallel = 1});
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct call c;
        struct arena a;
        const struct json *v;

        call_do(&c, &t, rows[i].path, rows[i].body);
        v = call_json(&c, &a);
        is_int(call_status(&c), rows[i].param ? 400 : 200, "%s",
               rows[i].body);
        if (rows[i].param)
            ok(json_str_is(json_at(v, "error.param"), rows[i].param),
               "names %s", rows[i].param);
        arena_release(&a);
        call_release(&c);
    }
    apit_close(&t);
}

int main(void)
{
    struct scripted_config gen = {.fail_after = -1, .context = 512};
    const char *why;

    /* what is freed is overwritten: a text that was not kept is noticed */
    mallopt(M_PERTURB, 0x5a);
    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    differ();
    failed();
    both_badly();
    sums();
    thoughts();
    waits();
    seeds();
    prompts_in_order();
    guides();
    biases();
    vocabulary();
    call_then_limit();
    kept_stops();
    stop_at_limit();
    stop_then_failure();
    no_prompts();
    no_format();
    no_channel();
    always_thinks();
    too_many();
    return done();
}
