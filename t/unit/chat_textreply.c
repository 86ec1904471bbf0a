/*
 * A reply that comes as text: the same whatever its pieces are, reasoning
 * apart, markers by spelling, by whole piece, or not at all. What is expected
 * follows from the texts alone; the call form is the published one of the
 * GLM 4.5 chat template.
 */
#include "base/utf8.h"
#include "chat/jsontext.h"
#include "chat/textreply.h"
#include "t/lib/tap.h"

static const char reply[] =
    "<think>\nLet me see \xe6\xbc\xa2.\n</think>\n\nHere: "
    "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>x \xf0\x9f\x98\x80 < "
    "y</arg_value>\n</tool_call>";

static struct arena arena;
static struct tools *tools;

static void open_tools(void)
{
    static const char json[] = "{\"name\":\"f\"}";
    struct chat_tool t = {.name = {"f", 1}};

    arena_init(&arena, 1 << 20);
    if (json_parse(&t.function, &arena, json, sizeof(json) - 1, NULL))
        exit(1);
    tools = tools_new(&t, 1);
}

struct run {
    struct textreply *r;
    struct buf reasoning, content;
};

static void run_open(struct run *x, const struct dialect *d, bool think_open)
{
    const struct turn_config c = {
        .dialect = d,
        .think = {"<think>", "</think>"},
        .think_open = think_open,
        .tools = tools,
        .parallel_calls = true,
        .id_seed = 1,
    };

    x->r = textreply_new(&c);
    BUG_ON(!x->r);
    buf_init(&x->reasoning, BUF_ANSWER);
    buf_init(&x->content, BUF_ANSWER);
    buf_puts(&x->reasoning, "");
    buf_puts(&x->content, "");
}

static void run_close(struct run *x)
{
    textreply_free(x->r);
    buf_release(&x->reasoning);
    buf_release(&x->content);
}

static void run_feed(struct run *x, const char *s, size_t n)
{
    textreply_feed(x->r, s, n, &x->reasoning, &x->content);
}

static void run_end(struct run *x, bool ended)
{
    textreply_end(x->r, ended, &x->reasoning, &x->content);
}

static bool is_whole(const struct run *x)
{
    const struct calls *c = textreply_calls(x->r);

    return !strcmp(x->reasoning.p, "Let me see \xe6\xbc\xa2.") &&
           !strcmp(x->content.p, "Here: ") && c->shown == 1 &&
           !strcmp(c->p[0]->name, "f") &&
           !strcmp(c->p[0]->args.p,
                   "{\"a\": \"x \xf0\x9f\x98\x80 < y\"}");
}

/* In two pieces, cut between any two characters; and one by one. */
static void cuts(void)
{
    size_t n = sizeof(reply) - 1, bad = 0;
    struct run x;

    for (size_t at = 0; at <= n; at++) {
        if (utf8_complete_len(reply, at) != at)
            continue;
        run_open(&x, &dialect_glm, false);
        run_feed(&x, reply, at);
        run_feed(&x, reply + at, n - at);
        run_end(&x, true);
        if (!is_whole(&x)) {
            printf("# cut at %zu: '%s' '%s'\n", at, x.reasoning.p,
                   x.content.p);
            bad++;
        }
        run_close(&x);
    }
    is_int(bad, 0, "cut anywhere, it reads the same");
    run_open(&x, &dialect_glm, false);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t len = utf8_decode(reply + i, n - i, &cp);

        run_feed(&x, reply + i, len);
        i += len;
    }
    run_end(&x, true);
    ok(is_whole(&x), "character by character");
    run_close(&x);
}

static void reasoning(void)
{
    static const char inside[] = "hm <tool_call>f</tool_call>\n</think>\n\nok";
    struct run x;

    run_open(&x, &dialect_glm, true);
    run_feed(&x, inside, sizeof(inside) - 1);
    run_end(&x, true);
    is_str(x.reasoning.p, "hm <tool_call>f</tool_call>",
           "check 29: a call in reasoning is text");
    is_str(x.content.p, "ok", "and what follows is content");
    is_int(textreply_calls(x.r)->n, 0, "no call was read");
    run_close(&x);
    run_open(&x, NULL, false);
    run_feed(&x, "a <tool_call> <think", 20);
    run_end(&x, true);
    is_str(x.content.p, "a <tool_call> <think", "plain: half a marker is text");
    run_close(&x);
}

/* Somebody knows which pieces are markers. */
static void pieces(void)
{
    struct run x;

    run_open(&x, &dialect_glm, false);
    textreply_token(x.r, "<think>", 7, &x.reasoning, &x.content);
    textreply_plain(x.r, "a</think>", 9, &x.reasoning, &x.content);
    textreply_token(x.r, "</think>", 8, &x.reasoning, &x.content);
    textreply_plain(x.r, "<tool_call>f", 12, &x.reasoning, &x.content);
    textreply_token(x.r, "</tool_call> ", 13, &x.reasoning, &x.content);
    run_end(&x, true);
    is_str(x.reasoning.p, "a</think>", "plain text is no marker");
    is_str(x.content.p, "<tool_call>f</tool_call> ",
           "a token that is more than a marker is none");
    is_int(textreply_calls(x.r)->n, 0, "no call");
    run_close(&x);
}

#define CALL_OF(n) "<tool_call><function=" n "></function></tool_call>"

/* How many of two calls are shown and dropped. */
static void limits(const struct tools *offered, bool parallel, size_t shown,
                   size_t dropped, const char *name)
{
    const struct turn_config c = {
        .dialect = &dialect_qwen, .tools = offered, .parallel_calls = parallel,
        .id_seed = 1,
    };
    static const char two[] = CALL_OF("f") CALL_OF("g");
    struct run x = {.r = textreply_new(&c)};
    const struct calls *calls;

    BUG_ON(!x.r);
    buf_init(&x.reasoning, BUF_ANSWER);
    buf_init(&x.content, BUF_ANSWER);
    run_feed(&x, two, sizeof(two) - 1);
    run_end(&x, true);
    calls = textreply_calls(x.r);
    ok(calls->shown == shown && calls->dropped == dropped, "%s: %zu, %zu",
       name, calls->shown, calls->dropped);
    run_close(&x);
}

static void test_limits(void)
{
    limits(tools, true, 2, 0, "tandem 25: parallel calls");
    limits(tools, false, 1, 1, "tandem 25: one call, the other counted");
    limits(NULL, true, 0, 2, "tandem 98: no tools were offered, no call");
}

/* What is held back comes before what joins nothing. */
static void test_token_order(void)
{
    static const char call[] = "<function=f></function></tool_call>";
    struct run x;

    run_open(&x, &dialect_qwen, false);
    run_feed(&x, "a <tool", 7);
    textreply_plain(x.r, "_call>b", 7, &x.reasoning, &x.content);
    textreply_token(x.r, "<tool_call>x", 12, &x.reasoning, &x.content);
    run_feed(&x, " <to", 4);
    textreply_token(x.r, "<tool_call>", 11, &x.reasoning, &x.content);
    run_feed(&x, call, sizeof(call) - 1);
    run_end(&x, true);
    is_str(x.content.p, "a <tool_call>b<tool_call>x <to",
           "characters of a marker around a token are text, in their order");
    is_int(textreply_calls(x.r)->shown, 1, "a token that is one opens a call");
    run_close(&x);
}

/* One test point: reasoning and content of a whole text, and its calls. */
static void whole(const struct dialect *d, bool think_open, bool ended,
                  const char *text, const char *reasoning,
                  const char *content, size_t calls, const char *name)
{
    struct run x;

    run_open(&x, d, think_open);
    run_feed(&x, text, strlen(text));
    run_end(&x, ended);
    if (!ok(!strcmp(x.reasoning.p, reasoning) &&
                !strcmp(x.content.p, content) &&
                textreply_calls(x.r)->shown == calls, "%s", name))
        printf("#   %s | %s | %zu\n", x.reasoning.p, x.content.p,
               textreply_calls(x.r)->shown);
    run_close(&x);
}

static void test_turns(void)
{
    struct run x;

    whole(&dialect_xtml, false, true, "a<|end_of_msg|>b<|open|>think<|sep|>c",
          "", "a", 0, "waste 7.3/26d: nothing behind the form's own end");
    whole(&dialect_xtml, false, true, "a<think>b", "", "a<think>b", 0,
          "a form with channels has no other pair");
    whole(&dialect_glm, false, false, "<tool_call>get<|observation|>", "", "",
          1, "the form's own end is one, whatever the limit said");
    whole(&dialect_qwen, true, true, "a\n<think>\nb</think>\n\nc", "a\n\nb",
          "c", 0, "an opener in the reasoning is nothing");
    whole(&dialect_qwen, true, true, "a</think>\n" CALL_OF("f") "\nc", "a",
          "\nc", 1, "newlines behind a call frame nothing");
    run_open(&x, &dialect_mistral, false);
    run_feed(&x, "[TOOL_CALLS]f[ARGS]{}", 21);
    ok(textreply_calls(x.r)->n == 1 &&
           strlen(textreply_calls(x.r)->p[0]->id) == 9,
       "ids have the form of the dialect");
    run_close(&x);
}

int main(void)
{
    open_tools();
    cuts();
    reasoning();
    pieces();
    test_limits();
    test_token_order();
    test_turns();
    tools_free(tools);
    arena_release(&arena);
    return done();
}
