/*
 * Cost of reading replies: `make t/bench/reply`, then t/bench/reply.
 * Tokens of four characters are fed one by one, as the server does. Printed
 * per kind of text: the median of nanoseconds per token (the clock's own cost
 * included), processor time for 400 kB, and how much more that is than for
 * 200 kB (the best of several runs each): 2.0 is linear.
 */
#include "chat/format_int.h"
#include "chat/reply.h"
#include "t/lib/toy_tok.h"

#include <time.h>

enum {
    RUNS = 25, SHORT = 200000, LONG = 2 * SHORT, TOKENS_MAX = LONG / 4 + 200,
};

static const char chat_json[] =
    "{\"user\":[\"<|start|>u\",\"<|end|>\"],"
    "\"assistant\":[\"<|start|>a\",\"<|end|>\"],\"open\":\"<|start|>a\","
    "\"think\":[\"<think>\\n\",\"\\n</think>\\n\\n\"]}";

static const struct toy_special specials[] = {
    {"<|end|>", TOK_CONTROL}, {"<|start|>", TOK_CONTROL},
    {"<think>", TOK_USER},    {"</think>", TOK_USER},
    {NULL, 0},
};

static const char words[] = "The quick brown fox jumps over a lazy dog ";

#define D "\xef\xbd\x9c" "DSML" "\xef\xbd\x9c"
#define BAR "<\xef\xbd\x9c"
#define END "\xef\xbd\x9c>"
#define S(what, side) \
    BAR "tool\xe2\x96\x81" what "\xe2\x96\x81" side END

static const struct kind {
    const char *name;
    const struct dialect *dialect; /* NULL: plain text */
    const char *head, *tail;
    bool calls; /* ends as one call */
} kinds[] = {
    {"text, no calls known", NULL, "", "", false},
    {"text, qwen", &dialect_qwen, "", "", false},
    {"qwen, a string value", &dialect_qwen,
     "<tool_call><function=f><parameter=a>", "</parameter></function>"
     "</tool_call>", true},
    {"qwen, a value to be typed", &dialect_qwen,
     "<tool_call><function=f><parameter=n>", "</parameter></function>"
     "</tool_call>", true},
    {"qwen, JSON in the tags", &dialect_qwen,
     "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"", "\"}}</tool_call>",
     true},
    {"qwen, JSON as the answer", &dialect_qwen,
     "{\"name\":\"f\",\"arguments\":{\"a\":\"", "\"}}", true},
    {"llama3, JSON as the answer", &dialect_llama3,
     "{\"name\":\"f\",\"parameters\":{\"a\":\"", "\"}}", true},
    {"mistral, [ARGS]", &dialect_mistral, "[TOOL_CALLS]f[ARGS]{\"a\":\"",
     "\"}", true},
    {"xtml, a string value", &dialect_xtml,
     "<|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"
     "<|open|>argument key=\"a\" type=\"string\"<|sep|>",
     "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>", true},
    {"kimi, arguments as JSON", &dialect_kimi,
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
     "<|tool_call_argument_begin|>{\"a\":\"",
     "\"}<|tool_call_end|><|tool_calls_section_end|>", true},
    {"glm, a string value", &dialect_glm,
     "<tool_call>f<arg_key>a</arg_key><arg_value>", "</arg_value></tool_call>",
     true},
    {"dsml, a string value", &dialect_dsml,
     "<" D " calls>\n<" D " invoke name=\"f\">\n<" D
     " parameter name=\"a\" string=\"true\">",
     "</" D " parameter>\n</" D " invoke>\n</" D " calls>", true},
    {"deepseek, arguments as JSON", &dialect_deepseek,
     S("calls", "begin") S("call", "begin") "f" BAR "tool\xe2\x96\x81sep" END
     "{\"a\":\"", "\"}" S("call", "end") S("calls", "end"), true},
};

static struct toy toy;
static struct format *format;
static struct tools *tools;
static int32_t ids[TOKENS_MAX];
static int64_t cost[TOKENS_MAX]; /* ns */
static size_t n_ids;

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int32_t id_of(const char *s, size_t n)
{
    int32_t id = toy_id(&toy, s, n);

    BUG_ON(id < 0);
    return id;
}

static void make_ids(const struct kind *k, size_t bytes)
{
    int32_t round[(sizeof(words) - 1) / 4];
    const size_t n = sizeof(round) / sizeof(round[0]);

    for (size_t i = 0; i < n; i++)
        round[i] = id_of(words + 4 * i, 4);
    n_ids = 0;
    for (const char *s = k->head; *s; s++)
        ids[n_ids++] = id_of(s, 1);
    for (size_t i = 0; i < bytes / 4; i++)
        ids[n_ids++] = round[i % n];
    for (const char *s = k->tail; *s; s++)
        ids[n_ids++] = id_of(s, 1);
}

/* All tokens; returns nanoseconds of the processor. */
static int64_t run(const struct kind *k)
{
    struct reply_config c = {
        .tok = toy.tok, .format = format, .tools = tools,
        .parallel_calls = true, .id_seed = 1,
    };
    struct reply *r;
    struct buf reasoning, content;
    int64_t start, before;

    format->dialect = k->dialect;
    c.stop_ids = format_stop_ids(format, &c.n_stop_ids);
    r = reply_new(&c);
    BUG_ON(!r);
    buf_init(&reasoning, BUF_ANSWER);
    buf_init(&content, BUF_ANSWER);
    start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    before = now_ns(CLOCK_MONOTONIC);
    for (size_t i = 0; i < n_ids; i++) {
        int64_t after;

        reply_feed(r, ids[i], &reasoning, &content);
        buf_clear(&content);
        after = now_ns(CLOCK_MONOTONIC);
        cost[i] = after - before;
        before = after;
    }
    reply_end(r, true, &reasoning, &content);
    before = now_ns(CLOCK_THREAD_CPUTIME_ID);
    BUG_ON(reply_calls(r)->shown != k->calls);
    reply_free(r);
    buf_release(&reasoning);
    buf_release(&content);
    return before - start;
}

/* One line. Short and long take turns, so that both meet a quiet machine. */
static void measure(const struct kind *k)
{
    int64_t small = INT64_MAX, large = INT64_MAX;

    for (int i = 0; i < RUNS; i++) {
        int64_t t;

        make_ids(k, SHORT);
        t = run(k);
        small = t < small ? t : small;
        make_ids(k, LONG);
        t = run(k);
        large = t < large ? t : large;
    }
    qsort(cost, n_ids, sizeof(cost[0]), by_value);
    printf("%-28s %12lld %10.2f %14.2f\n", k->name,
           (long long)cost[n_ids / 2], (double)large * 1e-6,
           (double)large / (double)small);
}

static void make_tools(void)
{
    static const char json[] = "{\"properties\":{\"n\":{\"type\":\"array\"}}}";
    static struct arena mem;
    struct chat_tool tool = {.name = {"f", 1}};
    struct err e;

    arena_init(&mem, 1u << 20);
    BUG_ON(json_parse(&tool.params, &mem, json, sizeof(json) - 1, &e));
    tools = tools_new(&tool, 1);
    BUG_ON(!tools);
    arena_release(&mem);
}

int main(void)
{
    struct err e = {0};

    toy_open(&toy, specials, words, sizeof(words) - 1);
    if (format_chatjson(&format, chat_json, sizeof(chat_json) - 1, "toy",
                        toy.tok, &e)) {
        fprintf(stderr, "%s: %s\n", e.where, e.text);
        return 1;
    }
    make_tools();
    printf("%-28s %12s %10s %14s\n", "text", "ns per token", "400 kB ms",
           "400 to 200 kB");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        measure(&kinds[i]);
    tools_free(tools);
    format_free(format);
    toy_close(&toy);
    return 0;
}
