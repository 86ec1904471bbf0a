/*
 * Answers of /v1/messages and /v1/responses: bytes become ids of a reply, five
 * of them choose the configuration and the looks. Every event is valid JSON at
 * its place (t/lib/parts_t.h); what is joined does not depend on the looks,
 * and is the whole answer's, but for calls that were withdrawn.
 *
 *   byte 0  bit 0 which dialect, 1-2 what reads calls, 3 reasoning is open,
 *           4 no tools, 5 one call, 6 cut by a limit
 *   byte 1  how many stop strings
 *   byte 2  when somebody looks: after every so many ids, 0 never
 *   byte 3  bit 0: it fails at the end, 1: its time runs out, 2: items call
 *           f a custom tool
 */
#include "api/figures.h"
#include "api/run.h"
#include "base/ascii.h"
#include "chat/format_int.h"
#include "t/lib/parts_t.h"
#include "t/lib/toy_tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct toy_special specials[] = {
    {"<|s|>", TOK_CONTROL}, {"<|e|>", TOK_CONTROL}, {"<think>", TOK_USER},
    {"</think>", TOK_USER}, {NULL, 0},
};

static const char chat_json[] =
    "{\"user\":[\"<|s|>u\",\"<|e|>\"],\"assistant\":[\"<|s|>a\",\"<|e|>\"],"
    "\"open\":\"<|s|>a\",\"think\":[\"<think>\",\"</think>\"]}";

/* Bytes from 128 on: one token each. */
static const char *const words[] = {
    "<tool_call>", "</tool_call>", "x</tool_call>y", "a <tool_call>{",
    "{\"name\": \"f\", ", "\"arguments\": {\"n\": \"1\"}}", "<function=f>",
    "</function>", "<parameter=s>", "</parameter>", "<function=g>", "}}</tool",
    "_call>and<tool_call>", "[TOOL_CALLS]", "[ARGS]",
    "[{\"name\": \"f\", \"id\": \"123456789\", ", "}]", "\n\n", "\n\nHuman", "ab", "\xe6\xbc\xa2",
    "\xf0\x9f\x98\x80", "<|python_tag|>", "\"parameters\": {\"s\": \"a\"}}", "; ",
    "<think>", "</think>", "<|s|>", "<|e|>", "{\"a\":", "\"", "<|tool_call_begin|>",
    "<|tool_calls_section_begin|>", "functions.f:0",
    "<|tool_call_argument_begin|>", "<|tool_call_end|>",
    "<|tool_calls_section_end|>", "\xe6\xbc", "\xa2", "\xf0\x9f", "\x98\x80",
    "\xff", "<parameter=input>", "\"arguments\": {\"input\": \"",
    "\\ud83d", "\\ude00", "\\n",
};
#define WORDS (sizeof(words) / sizeof(words[0]))

static const struct dialect *const dialects[] = {
    &dialect_qwen, &dialect_llama3, &dialect_mistral, &dialect_kimi,
};

static const struct text stops[] = {
    {"\n\nHuman:", 8}, {"ab", 2}, {"aab\0", 4}, {"xyz", 3},
};

static struct toy toy;
static struct format *formats[4];
static struct tools *tools;
static int32_t word_id[WORDS];

static void open_all(void)
{
    static const char list[] =
        "{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"},"
        "\"input\":{\"type\":\"string\"},"
        "\"n\":{\"type\":\"number\"}}}";
    static struct arena a;
    struct chat_tool tool[2] = {{.name = {"f", 1}}, {.name = {"g", 1}}};
    struct err e;

    arena_init(&a, 1u << 20);
    toy_open(&toy, specials, NULL, 0);
    tok_free(toy.tok); /* and once more, with a token for each word */
    for (size_t i = 0; i < WORDS; i++)
        toy_piece(&toy, words[i], strlen(words[i]));
    {
        struct tok_spec spec = {
            .model = TOK_BPE, .pre = "gpt2", .tokens = toy.spans,
            .types = toy.types, .n_tokens = toy.n,
            .bos = -1, .eos = -1, .unk = -1, .pad = -1,
        };

        BUG_ON(tok_new(&toy.tok, &spec, &e));
    }
    for (size_t i = 0; i < WORDS; i++)
        word_id[i] = toy_id(&toy, words[i], strlen(words[i]));
    for (size_t i = 0; i < 4; i++) {
        BUG_ON(format_chatjson(&formats[i], chat_json, sizeof(chat_json) - 1,
                               "x", toy.tok, &e));
        formats[i]->dialect = dialects[i];
    }
    BUG_ON(json_parse(&tool[0].params, &a, list, sizeof(list) - 1, &e));
    tool[1].params = tool[0].params;
    tools = tools_new(tool, 2);
    BUG_ON(!tools);
}

struct answer {
    struct run run;
    struct choice choice;
    struct catalog_model model;
    struct buf out;
};

static void open_answer(struct answer *a, const uint8_t *data, bool stream)
{
    static char id[] = "toy";
    static struct tool_name custom = {{"f", 1}, {"own", 3}, {"", 0}, true};
    static const int32_t prompt = 1;
    const struct format *format = formats[(data[0] >> 1) % 4u];
    struct reply_config c = {
        .tok = toy.tok, .format = format, .think_open = data[0] & 8,
        .tools = data[0] & 16 ? NULL : tools,
        .parallel_calls = !(data[0] & 32), .id_seed = 1, .stops = stops,
        .n_stops = data[1] % 5u,
    };

    memset(a, 0, sizeof(*a));
    a->model = (struct catalog_model){.id = id, .tok = toy.tok};
    a->run = (struct run){
        .emit = data[0] & 1 ? &emit_responses : &emit_messages,
        .model = &a->model, .created_s = 1700000000, .stream = stream,
        .format = format, .think_open = data[0] & 8, .choices = &a->choice,
        .n_choices = 1, .prompt_tokens = 7, .phase = RUN_GENERATING,
        .stops = (struct text *)stops, .n_stops = c.n_stops,
    };
    if (data[3] & 4)
        a->run.names = (struct tool_names){.p = &custom, .n = 1};
    snprintf(a->run.row.request_id, sizeof(a->run.row.request_id), "%s",
             "resp_0123456789abcdef01234567");
    snprintf(a->run.row.model, sizeof(a->run.row.model), "toy");
    buf_init(&a->run.echo, BUF_ANSWER);
    buf_init(&a->run.thought, BUF_ANSWER);
    buf_init(&a->run.said, BUF_ANSWER);
    buf_init(&a->choice.reasoning, BUF_ANSWER);
    buf_init(&a->choice.content, BUF_ANSWER);
    reason_init(&a->choice.reason, REASON_FIELD, false, false);
    a->choice.reply = reply_new(&c);
    a->choice.job = job_new(&prompt, 1, NULL, 0, 1, 0);
    BUG_ON(!a->choice.reply || !a->choice.job);
    buf_init(&a->out, BUF_FILE);
    buf_puts(&a->out, "");
}

static void close_answer(struct answer *a)
{
    job_unref(a->choice.job);
    reply_free(a->choice.reply);
    pieces_release(&a->choice.pieces);
    free(a->choice.sent);
    buf_release(&a->choice.reasoning);
    buf_release(&a->choice.content);
    buf_release(&a->run.echo);
    buf_release(&a->run.thought);
    buf_release(&a->run.said);
    buf_release(&a->out);
}

/* As the pump does it. */
static void pass_on(struct answer *a, enum pieces_when when)
{
    struct choice *c = &a->choice;

    reason_feed(&c->reason, buf_text(&a->run.thought), buf_text(&a->run.said),
                reply_closed_reasoning(c->reply), &c->reasoning, &c->content);
    pieces_note(&c->pieces, &c->reasoning, &c->content, reply_calls(c->reply),
                when);
    buf_clear(&a->run.thought);
    buf_clear(&a->run.said);
}

static void look(struct answer *a)
{
    if (a->run.emit->has_news(&a->run, 0))
        a->run.emit->news(&a->run, 0, &a->out);
    BUG_ON(a->run.emit->has_news(&a->run, 0)); /* else the pump spins */
}

static int32_t id_of(uint8_t byte)
{
    char c = (char)byte;

    return byte < 128 ? toy_id(&toy, &c, 1) : word_id[(byte - 128u) % WORDS];
}

static void say(struct answer *a, const uint8_t *data, size_t n,
                unsigned every)
{
    struct choice *c = &a->choice;
    bool over = false;

    if (a->run.stream && a->run.emit->begin)
        a->run.emit->begin(&a->run, &a->out);
    for (size_t i = 4; i < n && !over; i++) {
        c->fed++;
        over = reply_feed(c->reply, id_of(data[i]), &a->run.thought,
                          &a->run.said);
        pass_on(a, PIECES_MORE);
        if (a->run.stream && every && i % every == 0)
            look(a);
    }
    reply_end(c->reply, !(data[0] & 64), &a->run.thought, &a->run.said);
    pass_on(a, PIECES_OVER);
    c->view.started = c->view.ended = c->over = true;
    c->view.end.reason = data[3] & 2    ? END_TIMEOUT
                         : data[0] & 64 ? END_LENGTH
                                        : END_STOP;
    c->view.end.completion_tokens = c->fed;
}

/* What of an answer differs between a stream and a whole one. */
struct seen {
    bool withdrawn; /* calls that only a stream tells of */
    bool cut;       /* arguments that are not complete, or were never an object
                     * of JSON */
};

/* Nothing is lost: pieces cover both texts in order, all but white space. */
static void covers(const struct answer *a)
{
    const struct choice *c = &a->choice;
    size_t thought = 0, said = 0;

    for (size_t i = 0; i < c->pieces.n; i++) {
        const struct piece *p = &c->pieces.p[i];

        if (p->kind == PIECE_CALL)
            continue;
        BUG_ON(p->from >= p->to);
        if (p->kind == PIECE_REASONING) {
            BUG_ON(p->from != thought);
            thought = p->to;
            continue;
        }
        for (; said < p->from; said++)
            BUG_ON(!json_space(c->content.p[said]));
        BUG_ON(said != p->from);
        said = p->to;
    }
    for (; said < c->content.n; said++)
        BUG_ON(!json_space(c->content.p[said]));
    BUG_ON(thought != c->reasoning.n);
}

static void look_back(const struct answer *a, struct seen *s)
{
    const struct calls *calls = reply_calls(a->choice.reply);
    struct arena mem;

    *s = (struct seen){0};
    arena_init(&mem, 64u << 20);
    for (size_t i = 0; i < a->choice.pieces.n; i++) {
        const struct piece *p = &a->choice.pieces.p[i];
        const struct json *v;
        struct text args;

        s->withdrawn = s->withdrawn || !piece_counts(p, calls);
        if (p->kind != PIECE_CALL)
            continue;
        args = buf_text(&calls->p[p->call]->args);
        s->cut = s->cut || json_parse(&v, &mem, args.s, args.n, NULL) ||
                 v->type != JSON_OBJ;
    }
    arena_release(&mem);
}

static void answer(struct parts *p, struct seen *s, const uint8_t *data,
                   size_t n, bool stream, unsigned every)
{
    static const struct figures f = {.prompt = 7, .completion = 3};
    enum parts_wire wire = data[0] & 1 ? PARTS_ITEMS : PARTS_BLOCKS;
    struct answer *a = mem_new(struct answer);
    struct err e = {0};

    open_answer(a, data, stream);
    say(a, data, n, every);
    if (stream) {
        look(a);
        if (data[3] & 1)
            err_set(&e, ST_INTERNAL, "", "it failed");
        a->run.emit->finish(&a->run, &f, data[3] & 1 ? &e : NULL, &a->out);
        parts_stream(p, wire, a->out.p, a->out.n);
    } else {
        a->run.emit->whole(&a->run, &f, &a->out);
        parts_whole(p, wire, a->out.p, a->out.n);
    }
    if (a->out.failed || p->bad[0]) {
        fprintf(stderr, "%s, looks %u: %s\n%.*s\n", stream ? "stream" : "whole",
                every, p->bad, (int)a->out.n, a->out.p);
        abort();
    }
    covers(a);
    look_back(a, s);
    close_answer(a);
    free(a);
}

static void same(const struct parts *a, const struct parts *b, bool cut,
                 const char *what)
{
    const struct buf *x = cut ? &a->cut : &a->list;
    const struct buf *y = cut ? &b->cut : &b->list;

    if (x->n == y->n && !memcmp(x->p, y->p, x->n) && !strcmp(a->end, b->end))
        return;
    fprintf(stderr, "%s:\n%s %s\n%s %s\n", what, x->p, a->end, y->p, b->end);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct parts each, some, whole;
    struct seen seen;

    if (!toy.tok)
        open_all();
    if (n < 4)
        return 0;
    answer(&each, &seen, data, n, true, 1);
    answer(&some, &seen, data, n, true, data[2]);
    same(&each, &some, false, "another look, another answer");
    parts_close(&some);
    if (!seen.withdrawn && !(data[3] & 1)) {
        answer(&whole, &seen, data, n, false, 0);
        same(&each, &whole, seen.cut, "whole, another answer");
        parts_close(&whole);
    }
    parts_close(&each);
    return 0;
}
