/*
 * The forms in which models write calls, as data (chat/callform.h): those of
 * published templates, found by rendering. What is expected was read off the
 * template files, t/data/chat/templates.
 */
#include "base/buf.h"
#include "chat/format_int.h"
#include "t/lib/tap.h"
#include "t/lib/template_t.h"
#include "t/lib/toy_tok.h"

#define BAR "\xef\xbd\x9c"
#define LOW "\xe2\x96\x81"
#define DS(s) "<" BAR "tool" LOW s BAR ">"
#define TAG(rest) BAR "DSML" BAR rest
#define JSON_CALL "{\"name\": \""
#define HERMES "<tool_call>\n" JSON_CALL
#define XML "<tool_call>\n<function="

static const struct want {
    const char *template, *dialect;
    struct callform c;
} wants[] = {
    {"Qwen-Qwen3-0.6B", "qwen",
     {.lead = "", .open = HERMES, .head = "\", \"arguments\": ",
      .close = "}\n</tool_call>", .next = "}\n</tool_call>\n" HERMES,
      .name = CALLNAME_JSON}},
    {"Bielik-11B-v3.0-Instruct", "qwen",
     {.lead = "\n", .open = HERMES, .head = "\", \"arguments\": ",
      .close = "}\n</tool_call>", .next = "}\n</tool_call>\n" HERMES,
      .name = CALLNAME_JSON}},
    {"Qwen3-Coder", "qwen",
     {.lead = "", .open = XML, .head = ">",
      .close = "\n</function>\n</tool_call>",
      .next = "\n</function>\n</tool_call>\n" XML,
      .param = "\n<parameter=", .raw = ">\n", .json = ">\n",
      .end = "\n</parameter>", .trims = true}},
    /* no line between two calls */
    {"StepFun3.5-Flash", "qwen",
     {.lead = "\n", .open = XML, .head = ">",
      .close = "\n</function>\n</tool_call>",
      .next = "\n</function>\n</tool_call>" XML,
      .param = "\n<parameter=", .raw = ">\n", .json = ">\n",
      .end = "\n</parameter>", .trims = true}},
    {"GLM-4.6", "glm",
     {.lead = "\n", .open = "<tool_call>", .head = "",
      .close = "\n</tool_call>", .next = "\n</tool_call>\n<tool_call>",
      .param = "\n<arg_key>", .raw = "</arg_key>\n<arg_value>",
      .json = "</arg_key>\n<arg_value>", .end = "</arg_value>"}},
    {"GLM-4.7-Flash", "glm",
     {.lead = "", .open = "<tool_call>", .head = "", .close = "</tool_call>",
      .next = "</tool_call><tool_call>", .param = "<arg_key>",
      .raw = "</arg_key><arg_value>", .json = "</arg_key><arg_value>",
      .end = "</arg_value>"}},
    {"mistralai-Mistral-Nemo-Instruct-2407", "mistral",
     {.lead = "", .open = "[TOOL_CALLS][" JSON_CALL,
      .head = "\", \"arguments\": ",
      .close = ", \"id\": \"" CALL_AT_ID "\"}]",
      .next = ", \"id\": \"" CALL_AT_ID "\"}, " JSON_CALL,
      .name = CALLNAME_JSON}},
    {"Mistral-Small-3.2-24B-Instruct-2506", "mistral",
     {.lead = "", .open = "[TOOL_CALLS]",
      .head = "[CALL_ID]" CALL_AT_ID "[ARGS]", .close = "",
      .next = "[TOOL_CALLS]"}},
    {"unsloth-mistral-Devstral-Small-2507", "mistral",
     {.lead = "", .open = "[TOOL_CALLS]", .head = "[ARGS]", .close = "",
      .next = "[TOOL_CALLS]"}},
    {"deepseek-ai-DeepSeek-V4", "dsml",
     {.lead = "\n\n",
      .open = "<" TAG("tool_calls>\n<") TAG("invoke name=\""),
      .head = "\">", .close = "\n</" TAG("invoke>\n</") TAG("tool_calls>"),
      .next = "\n</" TAG("invoke>\n<") TAG("invoke name=\""),
      .param = "\n<" TAG("parameter name=\""),
      .raw = "\" string=\"true\">", .json = "\" string=\"false\">",
      .end = "</" TAG("parameter>")}},
    /* Not shown in its history; the words of the template tell which of two
     * forms it is. */
    {"llama-cpp-deepseek-r1", "deepseek",
     {.lead = "", .open = DS("calls" LOW "begin") DS("call" LOW "begin")
                          "function" DS("sep"),
      .head = "\n```json\n",
      .close = "\n```" DS("call" LOW "end") DS("calls" LOW "end"),
      .next = "\n```" DS("call" LOW "end") "\n" DS("call" LOW "begin")
              "function" DS("sep")}},
    /* No form that we read: JSON as the whole answer. */
    {"openai-gpt-oss-120b", "llama3",
     {.lead = "", .open = JSON_CALL, .head = "\", \"parameters\": ",
      .close = "}", .next = "}; " JSON_CALL, .name = CALLNAME_JSON}},
};

static void same(const char *got, const char *want, const char *template,
                 const char *what)
{
    if (!want) {
        ok(!got, "%s: %s: none", template, what);
        return;
    }
    is_str(got, want, "%s: %s", template, what);
}

static void test_template(const struct want *w, const struct tok *tok)
{
    struct format *f = template_load(w->template, tok);
    const struct callform *c = f ? format_callform(f) : NULL, *x = &w->c;

    if (!ok(c, "%s", w->template))
        return;
    is_str(format_dialect(f)->name, w->dialect, "%s: dialect", w->template);
    same(c->lead, x->lead, w->template, "lead");
    same(c->open, x->open, w->template, "open");
    same(c->head, x->head, w->template, "head");
    same(c->close, x->close, w->template, "close");
    same(c->next, x->next, w->template, "next");
    same(c->param, x->param, w->template, "param");
    same(c->raw, x->raw, w->template, "raw");
    same(c->json, x->json, w->template, "json");
    same(c->end, x->end, w->template, "end");
    ok(c->name == x->name && c->trims == x->trims, "%s: names and blanks",
       w->template);
    format_free(f);
}

static void test_ids(void)
{
    static const struct toy_special specials[] = {
        {"<tool_call>", TOK_USER}, {"<|im_start|>", TOK_CONTROL},
        {"<|im_end|>", TOK_CONTROL}, {NULL, 0},
    };
    struct toy toy;
    struct format *f;

    toy_open(&toy, specials, NULL, 0);
    f = template_load("Qwen-Qwen3-0.6B", toy.tok);
    is_int(format_mark_id(f, 0), toy_id(&toy, "<tool_call>", 11),
           "a marker that is a token");
    is_int(format_mark_id(f, 1), -1, "one that is spelled");
    is_int(format_mark_id(f, 2), -1, "one that is none");
    is_str(format_callform(f)->close, "}\n</tool_call>",
           "the end of the turn is no part of the form");
    format_free(f);
    f = template_load("Qwen-Qwen3-0.6B", NULL);
    is_int(format_mark_id(f, 0), -1, "without a vocabulary there are none");
    format_free(f);
    toy_close(&toy);
}

int main(void)
{
    for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++)
        test_template(&wants[i], NULL);
    test_ids();
    return done();
}
