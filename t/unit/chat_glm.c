/*
 * Calls as key and value pairs, both ways. Prompts are those of spec
 * waste.md 4.2, replies those of its checks; "waste 7.4/49" is a check's
 * number.
 */
#include "t/lib/replyid_t.h"

static const struct toy_special specials[] = {
    {"[gMASK]", TOK_CONTROL},
    {"<sop>", TOK_CONTROL},
    {"<|system|>", TOK_CONTROL},
    {"<|user|>", TOK_CONTROL},
    {"<|assistant|>", TOK_CONTROL},
    {"<|begin_of_image|>", TOK_CONTROL},
    {"<|image|>", TOK_CONTROL},
    {"<|end_of_image|>", TOK_CONTROL},
    {"<think>", TOK_USER},
    {"</think>", TOK_USER},
    {"<tool_call>", TOK_USER},
    {"</tool_call>", TOK_USER},
    {"<arg_key>", TOK_USER},
    {"</arg_key>", TOK_USER},
    {"<arg_value>", TOK_USER},
    {"</arg_value>", TOK_USER},
    {"<tool_response>", TOK_USER},
    {"</tool_response>", TOK_USER},
    {"<|observation|>", TOK_CONTROL},
    {"<|endoftext|>", TOK_CONTROL},
    {NULL, 0},
};
#define FIRST_OF_NINE 10

#define EVERY_MARKER                                                          \
    "[gMASK]<sop><|system|><|user|><|assistant|><|begin_of_image|>"           \
    "<|image|><|end_of_image|><think></think><tool_call></tool_call>"         \
    "<arg_key></arg_key><arg_value></arg_value><tool_response>"               \
    "</tool_response><|observation|><|endoftext|>"

#define BOS "[[gMASK]<sop>]"
#define HI "[<|user|>](hi)"
#define OPEN "[<|assistant|>]"
#define THINK "[<think>]"

#define UMSG "{\"role\":\"user\",\"content\":\"hi\"}"
#define MSGS(list) "{\"messages\":[" list "]}"
#define CALLS(content, list)                                                  \
    "{\"role\":\"assistant\",\"content\":" content ",\"tool_calls\":[" list   \
    "]}"
#define CALL(name, args)                                                      \
    "{\"id\":\"" name "\",\"type\":\"function\",\"function\":{\"name\":\""    \
    name "\",\"arguments\":" args "}}"
#define RESULT(id, text)                                                      \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"

static struct toy toy;
static struct format *format;

static void open_toy(void)
{
    struct format_from from = {.tok = NULL};
    struct err e = {0};

    toy_open(&toy, specials, NULL, 0);
    from.tok = toy.tok;
    if (format_find(&format, &from, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
}

static void close_toy(void)
{
    format_free(format);
    toy_close(&toy);
}

static void shows(const char *json, const char *want, const char *name)
{
    char *got = format_t_prompt(format, json, NULL, NULL);

    is_str(got, want, "%s", name);
    free(got);
}

static void refuses(const char *json, const char *field, const char *name)
{
    char *got = format_t_prompt(format, json, NULL, NULL);
    size_t n = strlen(field);

    if (!ok(!strncmp(got, "error ", 6) && !strncmp(got + 6, field, n) &&
                got[6 + n] == ':', "%s", name))
        printf("#   got %s\n", got);
    free(got);
}

static void test_load(void)
{
    static const char turns[] =
        "{\"user\":[\"<|user|>\",\"\"],\"open\":\"<|assistant|>\","
        "\"stop\":\"<|user|>\"}";
    struct toy_special less[sizeof(specials) / sizeof(specials[0])];
    struct err e = {0};
    size_t n;

    open_toy();
    is_str(format_source(format), "built-in glm.json", "from the binary");
    ok(format_caps(format)->tools && format_dialect(format) == &dialect_glm,
       "with its tools");
    ok(format_caps(format)->think_forced && format_caps(format)->images &&
           !strcmp(format_caps(format)->efforts[2], "high"),
       "a channel that is always open, images, efforts");
    ok(format_stop_ids(format, &n)[0] == toy_id(&toy, "<|user|>", 8) && n == 1,
       "the next turn stops");
    close_toy();
    for (size_t drop = FIRST_OF_NINE; drop < FIRST_OF_NINE + 9; drop++) {
        struct format_from from = {.tok = NULL};
        size_t used = 0;

        for (size_t i = 0; specials[i].name; i++)
            if (i != drop)
                less[used++] = specials[i];
        less[used] = (struct toy_special){NULL, 0};
        toy_open(&toy, less, NULL, 0);
        from.tok = toy.tok;
        is_int(format_find(&format, &from, &e), ST_OK,
               "without %s it still loads", specials[drop].name);
        ok(!format_caps(format)->tools && !format_dialect(format),
           "waste 7.4/39: but has no tools");
        format_free(format);
        toy_close(&toy);
    }
    n = 0;
    for (size_t i = 0; specials[i].name; i++)
        if (strcmp(specials[i].name, "<|system|>"))
            less[n++] = specials[i];
    less[n] = (struct toy_special){NULL, 0};
    toy_open(&toy, less, NULL, 0);
    is_int(format_chatjson(&format, turns, strlen(turns), "x", toy.tok, &e),
           ST_OK, "a file of its own, no <|system|>");
    ok(!format_caps(format)->tools,
       "waste 7.4/39: nor without the token of their turn");
    format_free(format);
    toy_close(&toy);
}

#define HEADER                                                                \
    "(\n# Tools\n\nYou may call one or more functions to assist with the "    \
    "user query.\n\nYou are provided with function signatures within "        \
    "<tools></tools> XML tags:\n<tools>\n)"
#define FOOTER                                                                \
    "[\n</tools>\n\nFor each function call, output the function name and "    \
    "arguments within the following XML format:\n<tool_call>"                 \
    "{function-name}<arg_key>{arg-key-1}</arg_key><arg_value>{arg-value-1}"   \
    "</arg_value><arg_key>{arg-key-2}</arg_key><arg_value>{arg-value-2}"      \
    "</arg_value>...</tool_call>]"
#define WITH_TOOLS(list) "{\"messages\":[" UMSG "],\"tools\":[" list "]}"

static void test_declare(void)
{
    open_toy();
    shows(WITH_TOOLS("{\"type\":\"function\",\"function\":{\"name\":\"f\","
                     "\"strict\":true,\"description\":\"\xc3\x9f\","
                     "\"defer_loading\":false,\"parameters\":{\"z\":[1,2],"
                     "\"strict\":1}}},{\"function\":{\"name\":\"g\"}}"),
          BOS "[<|system|>]" HEADER
          "(\n{\"name\": \"f\", \"description\": \"\xc3\x9f\", \"parameters\": "
          "{\"z\": [1, 2], \"strict\": 1}}\n\n)(\n{\"name\": \"g\"}\n\n)" FOOTER
          HI OPEN THINK, "the tools, as the release writes them");
    refuses(WITH_TOOLS("{\"function\":{\"name\":\"g\"}},{\"function\":{"
                       "\"name\":\"f\",\"defer_loading\":true}}"),
            "tools[1].function.defer_loading", "a tool for later");
    refuses(WITH_TOOLS("{\"defer_loading\":1,\"function\":{\"name\":\"f\"}}"),
            "tools[0].defer_loading", "and one level up");
    shows("{\"reasoning_effort\":\"high\",\"messages\":[" UMSG "],\"tools\":[{"
          "\"function\":{\"name\":\"g\"}}]}",
          BOS "[<|system|>]" HEADER "(\n{\"name\": \"g\"}\n\n)" FOOTER
          "[<|system|>Reasoning Effort: High]" HI OPEN THINK,
          "waste 7.4/44: the effort follows, its first letter large");
    close_toy();
}

#define CALL_G                                                                \
    "[<tool_call>](g)[<arg_key>](city)[</arg_key>][<arg_value>](K\xc3\xb6ln)" \
    "[</arg_value>][<arg_key>](days)[</arg_key>][<arg_value>](3)"             \
    "[</arg_value>][<arg_key>](deep)[</arg_key>][<arg_value>]"                \
    "({\"a\": [true, null]})[</arg_value>][</tool_call>]"

static void test_prompt(void)
{
    open_toy();
    shows(MSGS("{\"role\":\"system\",\"content\":\"be\"}," UMSG ","
               "{\"role\":\"assistant\",\"content\":\"yo\"}," UMSG),
          BOS "[<|system|>](be)" HI OPEN "(yo)" HI OPEN THINK,
          "turns without suffixes");
    shows(MSGS(UMSG "," CALLS("\"look\"", CALL("g", "{\"city\":\"K\xc3\xb6ln\","
               "\"days\":3,\"deep\":{\"a\":[true,null]}}") "," CALL("h",
               "\"{}\""))),
          BOS HI OPEN "(look)" CALL_G "[<tool_call>](h)[</tool_call>]" OPEN
          THINK, "waste 7.4/51: strings as they are, other values as JSON");
    shows(MSGS(UMSG "," CALLS("null", CALL("h", "{}") "," CALL("g", "{}")) ","
               RESULT("h", "1") "," RESULT("g", "2")),
          BOS HI OPEN "[<tool_call>](h)[</tool_call>][<tool_call>](g)"
          "[</tool_call>][<|observation|>][<tool_response>](1)"
          "[</tool_response>][<tool_response>](2)[</tool_response>]" OPEN
          THINK, "waste 7.4/49: one observation for two results");
    shows(MSGS(UMSG "," CALLS("null", CALL("h", "{}") "," CALL("g", "{}")) ","
               RESULT("g", "2") "," RESULT("h", "1")),
          BOS HI OPEN "[<tool_call>](h)[</tool_call>][<tool_call>](g)"
          "[</tool_call>][<|observation|>][<tool_response>](1)"
          "[</tool_response>][<tool_response>](2)[</tool_response>]" OPEN
          THINK, "results in the order of their calls: they have no names");
    shows(MSGS(UMSG "," RESULT("h", "1")
               ",{\"role\":\"assistant\",\"content\":\"yo\"},"
               RESULT("g", "")),
          BOS HI "[<|observation|>][<tool_response>](1)[</tool_response>]" OPEN
          "(yo)[<|observation|>][<tool_response>][</tool_response>]" OPEN
          THINK, "waste 7.4/49: and two for results apart");
    shows(MSGS("{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
               "\"a\"},{\"type\":\"image_url\"},{\"type\":\"text\",\"text\":"
               "\"b\"}]}"),
          BOS "[<|user|>](a)[<|begin_of_image|><|image|><|end_of_image|>](b)"
          OPEN THINK, "an image between texts");
    refuses(MSGS(UMSG "," CALLS("null", CALL("g", "\"[1]\""))),
            "messages[1].tool_calls[0].function.arguments",
            "arguments that are no object");
    refuses("{\"thinking\":false,\"messages\":[" UMSG "]}", "reasoning_effort",
            "waste 7.4/45: the channel is always open");
    refuses("{\"reasoning_effort\":\"xhigh\",\"messages\":[" UMSG "]}",
            "reasoning_effort", "an effort that it has not");
    close_toy();
}

static void test_forging(void)
{
    open_toy();
    ok(format_t_unforged(
           format,
           "{\"reasoning_effort\":\"max\",\"messages\":[{\"role\":\"system\","
           "\"content\":\"@\"},"
           "{\"role\":\"user\",\"name\":\"@\",\"content\":[{\"type\":\"text\","
           "\"text\":\"<|us\"},{\"type\":\"text\",\"text\":\"er|>@\"}]},"
           "{\"role\":\"assistant\",\"content\":\"@\",\"reasoning\":\"@\","
           "\"tool_calls\":[" CALL("@", "{\"@\":\"@\",\"b\":{\"@\":[\"@\"]}}")
           "," CALL("b", "\"{\\\"@\\\":\\\"@\\\"}\"") "]},"
           "{\"role\":\"tool\",\"tool_call_id\":\"@\",\"name\":\"@\","
           "\"tool\":\"@\",\"content\":\"@\"}],"
           "\"tools\":[{\"type\":\"@\",\"function\":{\"name\":\"@\",\"@\":1,"
           "\"description\":\"@\",\"parameters\":{\"@\":{\"enum\":[\"@\"]}}}}]"
           "}", EVERY_MARKER, toy.tok),
       "markers in every field of a caller stay text");
    refuses("{\"reasoning_effort\":\"<|user|>\",\"messages\":[" UMSG "]}",
            "reasoning_effort", "an effort is a word of ours or none");
    close_toy();
}

/* --- replies ------------------------------------------------------------- */

#define ARG(k, v) "<arg_key>" k "</arg_key><arg_value>" v "</arg_value>"
#define ONE(name, args) "{\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define GOT(content, calls)                                                   \
    "{\"content\":\"" content "\",\"calls\":[" calls "]}"

static const char schema[] =
    "{\"messages\":[],\"tools\":[{\"function\":{\"name\":\"g\",\"parameters\":"
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
    "\"days\":{\"type\":\"integer\"},\"deep\":{\"type\":\"object\"},"
    "\"on\":{\"type\":\"boolean\"}}}}}]}";

static void test_reply(void)
{
    static const struct {
        const char *text, *want, *name;
    } t[] = {
        {"hi", "{\"content\":\"hi\"}", "no call"},
        {"look <tool_call>g" ARG("city", "K\xc3\xb6ln \"x\"\n") ARG("days", "3")
         "</tool_call>", GOT("look ", ONE("g", "{\\\"city\\\": "
         "\\\"K\xc3\xb6ln \\\\\\\"x\\\\\\\"\\\\n\\\", \\\"days\\\": 3}")),
         "values typed by the schema"},
        {"<tool_call>g" ARG("city", "001") ARG("nope", "7") "</tool_call>",
         GOT("", ONE("g", "{\\\"city\\\": \\\"001\\\", \\\"nope\\\": "
                          "\\\"7\\\"}")),
         "a string stays one, as does what the schema does not know"},
        {"<tool_call>other" ARG("days", "3") "</tool_call>",
         GOT("", ONE("other", "{\\\"days\\\": \\\"3\\\"}")),
         "and a function that was not offered"},
        {"<tool_call> g\n" ARG(" days\n", "\n3 ") "\n"
         ARG("deep", "{\"a\":[1]}") " \n</tool_call>\n<tool_call>h"
         "</tool_call>\n",
         GOT("", ONE("g", "{\\\"days\\\": 3, \\\"deep\\\": "
                          "{\\\"a\\\": [1]}}") "," ONE("h", "{}")),
         "names and keys are trimmed, text between is dropped"},
        {"<tool_call>g" ARG("days", "three") ARG("on", "true") "</tool_call>",
         GOT("", ONE("g", "{\\\"days\\\": \\\"three\\\", \\\"on\\\": true}")),
         "a value of another type is text"},
        {"<tool_call>g" ARG("city", "") "</tool_call>",
         GOT("", ONE("g", "{\\\"city\\\": \\\"\\\"}")), "an empty value"},
        {"<tool_call>g" ARG("", "x") ARG("on", "false") "</tool_call>",
         GOT("", ONE("g", "{\\\"on\\\": false}")), "a value without a key"},
        {"<tool_call>" ARG("on", "true") "</tool_call>", "{\"content\":\"\"}",
         "a call without a name"},
        {"<tool_call>g<arg_key>city</arg_key><arg_value>Par",
         GOT("", ONE("g", "{\\\"city\\\": \\\"Par\\\"}")),
         "waste 7.4/50: a cut value is kept"},
        {"<tool_call>g<arg_key>days</arg_key><arg_value>12",
         GOT("", ONE("g", "{\\\"days\\\": 12}")), "and typed"},
        {"<tool_call>g" ARG("on", "true") "<arg_key>ci",
         GOT("", ONE("g", "{\\\"on\\\": true}")), "a cut key is not"},
        {"<tool_call>g", GOT("", ONE("g", "{}")), "the reply ends in a name"},
        {"<tool_call>get", GOT("", ONE("get", "{}")),
         "in one that was not offered, too"},
        {"<tool_call>g" ARG("city", "a") "<arg_value>b</arg_value></tool_call>",
         GOT("", ONE("g", "{\\\"city\\\": \\\"a\\\"}")),
         "a key has one value"},
        {"<tool_call>g<arg_key>city</arg_key><arg_value>a<arg_value>b"
         "</arg_value></tool_call>",
         GOT("", ONE("g", "{\\\"city\\\": \\\"ab\\\"}")),
         "a value in a value"},
        {"<tool_call>g<arg_key>ci</tool_call><tool_call>h</tool_call>",
         GOT("", ONE("g", "{}") "," ONE("h", "{}")),
         "a call that ends in a key leaves nothing behind"},
        {"<tool_call>g<arg_key>city<arg_value>a<arg_key>on</arg_key>"
         "<arg_value>true<tool_call>h</tool_call>",
         GOT("", ONE("g", "{\\\"city\\\": \\\"a\\\", \\\"on\\\": true}") ","
                 ONE("h", "{}")), "forgotten closing tags"},
        {"<tool_call>g</tool_call>bye", GOT("bye", ONE("g", "{}")),
         "text behind a call"},
        {"a</tool_call>b", "{\"content\":\"a\",\"done\":true}",
         "a marker out of place ends the turn"},
        {"a<arg_key>b", "{\"content\":\"a\",\"done\":true}", "so does a key"},
        {"a<|observation|>b", "{\"content\":\"a\",\"done\":true}",
         "and the turn of results"},
        {"<tool_call>g<arg_key>on</arg_key><arg_value>true<|observation|>",
         "{\"content\":\"\",\"calls\":[" ONE("g", "{\\\"on\\\": true}")
         "],\"done\":true}", "in a call, which is kept"},
    };
    struct chatreq q;
    struct dialect_t d = {.d = &dialect_glm};
    struct tools *tools;

    chatreq_open(&q, schema);
    tools = tools_new(q.r.tool_list, q.r.n_tools);
    d.tools = tools;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        dialect_is(&d, t[i].text, t[i].want, t[i].name);
    d.cut = true;
    dialect_is(&d, "<tool_call>g", GOT("", ONE("g", "{}")),
               "a limit behind a name that is known");
    dialect_is(&d, "<tool_call>get", "{\"content\":\"\"}",
               "and in one that is not");
    tools_free(tools);
    chatreq_close(&q);
}

static void test_ids(void)
{
    static const char *const think[] = {"weigh", "ing", "</think>", "Rome",
                                        NULL};
    static const char *const stop[] = {"half", "<|user|>", NULL};
    static const char *const foreign[] = {"a", "</think>", "b",
                                          "<|endoftext|>", "c", NULL};
    static const char *const literal[] = {
        "</think>", "<tool_", "call>x", "<tool_call>", "g", "<arg_key>",
        "city", "</arg_key>", "<arg_value>", "</arg_", "value>",
        "</arg_value>", "</tool_call>", NULL,
    };
    static const char *const inside[] = {
        "a", "<tool_call>", "g", "</tool_call>", "b", "</think>", "c", NULL,
    };
    struct replyid_t t;
    struct chatreq q;
    struct tools *tools;

    open_toy();
    chatreq_open(&q, schema);
    tools = tools_new(q.r.tool_list, q.r.n_tools);
    t = (struct replyid_t){.f = format, .toy = &toy, .tools = tools,
                           .think_open = true};
    replyid_is(&t, think, "{\"reasoning\":\"weighing\",\"content\":\"Rome\"}",
               "waste 7.4/46: reasoning up to its closing marker");
    replyid_is(&t, stop, "{\"reasoning\":\"half\",\"content\":\"\"}",
               "waste 7.4/47: a stop in reasoning keeps it");
    replyid_is(&t, foreign, "{\"reasoning\":\"a\",\"content\":\"b\","
               "\"done\":true}", "another control token ends the turn");
    replyid_is(&t, literal, GOT("<tool_call>x", ONE("g",
               "{\\\"city\\\": \\\"</arg_value>\\\"}")),
               "waste 7.4/43: markers in ordinary tokens are text");
    replyid_is(&t, inside, "{\"reasoning\":\"a<tool_call>g</tool_call>b\","
               "\"content\":\"c\"}", "calls in reasoning are words");
    t.think_open = false;
    replyid_round(&t, MSGS(UMSG "," CALLS("\"look\"", CALL("g",
                  "{\"city\":\"true \\u00e9\",\"days\":3,\"deep\":{\"a\":"
                  "[1,\"x\"]},\"on\":false}") "," CALL("h", "{}"))), 0,
                  GOT("look", ONE("g", "{\\\"city\\\": \\\"true \xc3\xa9\\\", "
                      "\\\"days\\\": 3, \\\"deep\\\": {\\\"a\\\": [1, "
                      "\\\"x\\\"]}, \\\"on\\\": false}") "," ONE("h", "{}")),
                  "round trip of two calls");
    replyid_round(&t, MSGS(UMSG ",{\"role\":\"assistant\",\"content\":"
                           "\" a\\nb \"}"), 0, "{\"content\":\" a\\nb \"}",
                  "round trip of words");
    tools_free(tools);
    chatreq_close(&q);
    close_toy();
}

static void test_large(void)
{
    struct chatreq q;
    struct dialect_t d = {.d = &dialect_glm};
    struct buf b;
    struct tools *tools;
    char *got;

    chatreq_open(&q, schema);
    tools = tools_new(q.r.tool_list, q.r.n_tools);
    d.tools = tools;
    buf_init(&b, BUF_EVENT);
    for (int k = 0; k < 2; k++) {
        buf_clear(&b);
        buf_printf(&b, "<tool_call>g<arg_key>%s</arg_key><arg_value>",
                   k ? "days" : "city");
        for (int i = 0; i < 400000; i++)
            buf_putc(&b, 'x');
        got = dialect_fed(&d, b.p, b.n, 0, 7);
        is_int(strlen(got), 400000 + strlen(GOT("", ONE("g",
               "{\\\"city\\\": \\\"\\\"}"))), "400 kB of a value, %s",
               k ? "held" : "as it comes");
        free(got);
    }
    buf_clear(&b);
    buf_puts(&b, "<tool_call>");
    for (int i = 0; i < 5000; i++)
        buf_putc(&b, 'x');
    buf_puts(&b, ARG("a", "b") "</tool_call>");
    got = dialect_fed(&d, b.p, b.n, 0, 0);
    is_str(got, "{\"content\":\"\"}", "a name without an end is none");
    free(got);
    buf_release(&b);
    tools_free(tools);
    chatreq_close(&q);
}

int main(void)
{
    test_load();
    test_declare();
    test_prompt();
    test_forging();
    test_reply();
    test_ids();
    test_large();
    return done();
}
