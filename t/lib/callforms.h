/*
 * t/lib/callforms.h - for tests of calls that must come: formats of published
 * templates and of single dialects over a toy vocabulary, requests with tools,
 * and whether a call fits the schema of its tool.
 */
#ifndef T_CALLFORMS_H
#define T_CALLFORMS_H

#include "api/callgram.h"
#include "chat/format_int.h"
#include "gram/forms.h"
#include "gram/machine.h"
#include "t/lib/tap.h"
#include "t/lib/template_t.h"
#include "t/lib/toy_tok.h"

#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"
#define DEEP(s) {"<" BAR "tool" LOW s BAR ">", TOK_CONTROL}

static const struct toy_special specials[] = {
    {"<|im_end|>", TOK_CONTROL},
    {"<think>", TOK_USER}, {"</think>", TOK_USER},
    {"<tool_call>", TOK_USER}, {"</tool_call>", TOK_USER},
    {"<arg_key>", TOK_USER}, {"</arg_key>", TOK_USER},
    {"<arg_value>", TOK_USER}, {"</arg_value>", TOK_USER},
    {"[TOOL_CALLS]", TOK_CONTROL}, {"[ARGS]", TOK_CONTROL},
    {"[CALL_ID]", TOK_CONTROL},
    {"<|tool_calls_section_begin|>", TOK_CONTROL},
    {"<|tool_calls_section_end|>", TOK_CONTROL},
    {"<|tool_call_begin|>", TOK_CONTROL},
    {"<|tool_call_argument_begin|>", TOK_CONTROL},
    {"<|tool_call_end|>", TOK_CONTROL},
    {"<|open|>", TOK_CONTROL}, {"<|close|>", TOK_CONTROL},
    {"<|sep|>", TOK_CONTROL}, {"<|end_of_msg|>", TOK_CONTROL},
    {BAR "DSML" BAR, TOK_CONTROL},
    {"<" BAR "end" LOW "of" LOW "sentence" BAR ">", TOK_CONTROL},
    DEEP("calls" LOW "begin"), DEEP("calls" LOW "end"),
    DEEP("call" LOW "begin"), DEEP("call" LOW "end"), DEEP("sep"),
    DEEP("outputs" LOW "begin"), DEEP("output" LOW "begin"),
    {NULL, 0},
};

static struct toy toy;
static struct err err;
static uint64_t seed = 7;

static inline uint32_t rnd(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

/* --- formats -------------------------------------------------------------- */

enum how { SPELLED, TOKENS };

/* A format of nothing but a dialect and one of its forms. */
static inline struct format *bare(const char *name, const struct tok *tok)
{
    static const struct format_kind kind = {.name = "bare"};
    struct format *f = format_new(&kind, "bare", name);
    char word[32];
    size_t i = 0;

    snprintf(word, sizeof(word), "%s", name);
    if (strchr(word, '/')) {
        i = (size_t)(strchr(word, '/')[1] - '0');
        *strchr(word, '/') = '\0';
    }
    f->dialect = dialect_find(word);
    BUG_ON(!f->dialect);
    f->callform = &f->dialect->forms[i];
    f->tok = tok;
    return f;
}

/* --- one request ---------------------------------------------------------- */

struct req {
    struct arena arena;
    struct body body;
    struct gxs w;
    struct grammar *g;
    struct grammar *args[16]; /* of each of the first tools */
    struct tools *tools;
};

static const char messages[] =
    "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";

static inline struct grammar *schema_grammar(const struct json *params)
{
    static const char empty[] = "{\"type\":\"object\","
                                "\"additionalProperties\":false}";
    struct grammar *g = NULL;
    struct arena a;
    struct gxs w;
    int rule;

    arena_init(&a, 1 << 20);
    gxs_init(&w);
    err = (struct err){0};
    if ((!params && json_parse(&params, &a, empty, strlen(empty), &err)) ||
        form_json(&rule, &w, params, &err) ||
        gram_compile(&g, &w, rule, &err))
        printf("# %s: %s\n", err.where, err.text);
    gxs_release(&w);
    arena_release(&a);
    return g;
}

static inline bool open_req(struct req *q, const struct format *f,
                            const char *more)
{
    struct buf b;
    int rule;
    enum st st;

    memset(q, 0, sizeof(*q));
    arena_init(&q->arena, 64u << 20);
    gxs_init(&q->w);
    buf_init(&b, BUF_ANSWER);
    buf_printf(&b, "{%s,%s}", messages, more);
    err = (struct err){0};
    st = body_parse_chat(&q->body, &q->arena, (struct text){b.p, b.n}, &err);
    if (!st)
        st = callgram_rule(&rule, &q->w, f, &q->body, &err);
    if (!st)
        st = gram_compile(&q->g, &q->w, rule, &err);
    buf_release(&b);
    if (st)
        return false;
    q->tools = tools_new(q->body.offered, q->body.n_offered);
    tools_forced(q->tools);
    for (size_t i = 0; i < q->body.n_offered && i < 16; i++)
        q->args[i] = schema_grammar(q->body.offered[i].params);
    return true;
}

static inline void close_req(struct req *q)
{
    for (size_t i = 0; i < 16; i++)
        gram_unref(q->args[i]);
    gram_unref(q->g);
    tools_free(q->tools);
    gxs_release(&q->w);
    arena_release(&q->arena);
}

static inline bool fits(const struct grammar *g, const struct buf *args)
{
    struct gram_place p;

    gram_begin(g, &p);
    return gram_bytes(g, &p, args->p, args->n) && gram_ends(g, &p);
}

static inline bool call_fits(const struct req *q, const struct tool_call *c)
{
    for (size_t i = 0; i < q->body.n_offered; i++)
        if (text_is(q->body.offered[i].name, c->name))
            return c->whole && c->args.n && q->args[i] &&
                   fits(q->args[i], &c->args);
    return false;
}

/* --- tools ---------------------------------------------------------------- */

#define TOOL(name, params)                                                     \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name                    \
    "\",\"parameters\":" params "}}"
#define REQ(list) ",\"required\":[" list "]"
#define OBJ(props) "{\"type\":\"object\",\"properties\":{" props "}"

#define PLAIN                                                                  \
    TOOL("get_weather",                                                        \
         OBJ("\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"},"  \
             "\"unit\":{\"enum\":[\"C\",\"F\"]}") REQ("\"city\"") "}") ","     \
    TOOL("get_time", OBJ("") "}") ","                                          \
    "{\"type\":\"function\",\"function\":{\"name\":\"get_all\"}}"

#define HARD                                                                   \
    TOOL("hard",                                                               \
         OBJ("\"code\":{\"type\":\"string\",\"pattern\":\"^[a-z]{2,5}$\"},"    \
             "\"note\":{\"type\":\"string\",\"minLength\":3,\"maxLength\":9}," \
             "\"when\":{\"type\":\"string\",\"format\":\"date\"},"             \
             "\"word\":{\"type\":\"string\",\"enum\":[\"a b\",\"<x>\",\"\"]}," \
             "\"maybe\":{\"anyOf\":[{\"type\":\"string\"},"                    \
             "{\"type\":\"null\"}]},"                                          \
             "\"any\":{},\"two\":{\"type\":[\"string\",\"integer\"],"          \
             "\"maxLength\":4},"                                               \
             "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"   \
             "\"maxItems\":3},"                                                \
             "\"deep\":{\"$ref\":\"#/$defs/node\"},"                           \
             "\"sure\":{\"type\":\"boolean\"},"                                \
             "\"size\":{\"type\":\"number\",\"minimum\":0,\"maximum\":9}")     \
         REQ("\"sure\",\"code\"")                                              \
         ",\"$defs\":{\"node\":{\"type\":\"object\",\"properties\":{"          \
         "\"next\":{\"$ref\":\"#/$defs/node\"},\"v\":{\"type\":\"string\"}},"  \
         "\"additionalProperties\":false}}}")

#define MANY ",\"parallel_tool_calls\":true"

static const char *const call_templates[] = {
    "Qwen-Qwen3-0.6B", "Qwen3-Coder", "StepFun3.5-Flash", "GLM-4.6",
    "GLM-4.7-Flash", "Mistral-Small-3.2-24B-Instruct-2506",
    "mistralai-Ministral-3-14B-Reasoning-2512",
    "mistralai-Mistral-Nemo-Instruct-2407", "deepseek-ai-DeepSeek-V4",
    "llama-cpp-deepseek-r1", "openai-gpt-oss-120b", NULL,
};
/* NAME/k: the form with number k of a dialect. */
static const char *const call_dialects[] = {
    "qwen/0", "qwen/1", "llama3", "mistral/0", "mistral/1", "deepseek/0",
    "deepseek/1", "glm", "kimi", "dsml", "xtml", NULL,
};

#endif
