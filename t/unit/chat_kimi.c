/*
 * The five section tokens, both ways. Prompts are those of spec waste.md
 * 4.1, replies those of its checks; "waste 7.4/38" is a check's number.
 */
#include "t/lib/replyid_t.h"

static const struct toy_special specials[] = {
    {"<|im_system|>", TOK_CONTROL},
    {"<|im_user|>", TOK_CONTROL},
    {"<|im_assistant|>", TOK_CONTROL},
    {"<|im_middle|>", TOK_CONTROL},
    {"<|im_end|>", TOK_CONTROL},
    {"<|tool_calls_section_begin|>", TOK_CONTROL},
    {"<|tool_calls_section_end|>", TOK_CONTROL},
    {"<|tool_call_begin|>", TOK_CONTROL},
    {"<|tool_call_argument_begin|>", TOK_CONTROL},
    {"<|tool_call_end|>", TOK_CONTROL},
    {"[EOS]", TOK_CONTROL},
    {NULL, 0},
};
#define FIRST_OF_FIVE 5

#define SB "<|tool_calls_section_begin|>"
#define SE "<|tool_calls_section_end|>"
#define CB "<|tool_call_begin|>"
#define AB "<|tool_call_argument_begin|>"
#define CE "<|tool_call_end|>"

#define SYSTEM "[<|im_system|>system<|im_middle|>]"
#define USER "[<|im_user|>user<|im_middle|>]"
#define OPEN "[<|im_assistant|>assistant<|im_middle|>]"
#define END "[<|im_end|>]"
#define HI USER "(hi)" END

#define UMSG "{\"role\":\"user\",\"content\":\"hi\"}"
#define MSGS(list) "{\"messages\":[" list "]}"
#define CALLS(content, list)                                                  \
    "{\"role\":\"assistant\",\"content\":" content ",\"tool_calls\":[" list   \
    "]}"
#define CALL(id, name, args)                                                  \
    "{\"id\":\"" id "\",\"type\":\"function\",\"function\":{\"name\":\""      \
    name "\",\"arguments\":" args "}}"
#define RESULT(id, rest)                                                      \
    "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"42\"" rest  \
    "}"

static struct toy toy;
static struct format *format;

static enum st find_builtin(struct format **f, struct err *e)
{
    const struct format_from from = {.tok = toy.tok};

    return format_find(f, &from, e);
}

static void open_toy(void)
{
    struct err e = {0};

    toy_open(&toy, specials, NULL, 0);
    if (find_builtin(&format, &e)) {
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
    struct toy_special less[sizeof(specials) / sizeof(specials[0])];
    struct format *f;
    struct err e = {0};
    size_t n;

    open_toy();
    ok(format_stop_ids(format, &n)[0] == toy_id(&toy, "<|im_end|>", 10) &&
           n == 1, "waste 7.4/32: the shipped file loads, <|im_end|> stops");
    is_str(format_source(format), "built-in kimi.json", "from the binary");
    ok(format_caps(format)->tools && format_dialect(format) == &dialect_kimi,
       "with its tools");
    ok(!format_caps(format)->think && !format_caps(format)->images &&
           !format_caps(format)->efforts, "and nothing else");
    ok(format_strict_end(format), "other control tokens end a turn");
    close_toy();

    for (size_t drop = FIRST_OF_FIVE; drop < FIRST_OF_FIVE + 5; drop++) {
        size_t used = 0;

        for (size_t i = 0; specials[i].name; i++)
            if (i != drop)
                less[used++] = specials[i];
        less[used] = (struct toy_special){NULL, 0};
        toy_open(&toy, less, NULL, 0);
        is_int(find_builtin(&f, &e), ST_OK, "without %s it still loads",
               specials[drop].name);
        ok(!format_caps(f)->tools && !format_dialect(f),
           "waste 7.4/39: but has no tools");
        format_free(f);
        toy_close(&toy);
    }
}

#define TOOL(name)                                                            \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name "\","             \
    "\"description\":\"Gr\xc3\xb6\xc3\x9f" "e\",\"parameters\":"              \
    "{\"type\":\"object\",\"properties\":{\"z\":{},\"a\":{}}}}}"

static void test_prompt(void)
{
    open_toy();
    shows(MSGS(UMSG), HI OPEN,
          "waste 7.4/37: one user message is four segments");
    shows(MSGS("{\"role\":\"system\",\"content\":\"be\"}," UMSG),
          SYSTEM "(be)" END HI OPEN, "no system turn but the caller's");
    shows("{\"messages\":[" UMSG "],\"tools\":[" TOOL("f") "," TOOL("g") "]}",
          "[<|im_system|>tool_declare<|im_middle|>]([" TOOL("f") ","
          TOOL("g") "])" END HI OPEN,
          "tools come first: compact, in the caller's order, not escaped");
    shows("{\"messages\":[" UMSG "],\"tool_choice\":\"none\",\"tools\":["
          TOOL("f") "]}", HI OPEN, "tool_choice none: none are declared");
    shows(MSGS(UMSG "," CALLS("\"look\"", CALL("functions.f:0", "f",
                                               "\"{\\\"a\\\": 1}\"") ","
                                          CALL("b", "g", "{\"z\":[1,2]}"))
               "," RESULT("functions.f:0", ",\"name\":\"f\"") ","
               RESULT("b", ",\"name\":\"g\"")),
          HI OPEN "(look)[" SB "][" CB "](functions.f:0)[" AB "]"
          "({\"a\": 1})[" CE "][" CB "](b)[" AB "]({\"z\":[1,2]})[" CE "]["
          SE "]" END
          "[<|im_system|>](f)[<|im_middle|>](## Return of functions.f:0\n)(42)"
          END "[<|im_system|>](g)[<|im_middle|>](## Return of b\n)(42)" END
          OPEN, "calls and their results");
    shows(MSGS(UMSG "," CALLS("null", CALL("a", "f", "\"[1\""))),
          HI OPEN "[" SB "][" CB "](a)[" AB "]([1)[" CE "][" SE "]" END OPEN,
          "arguments go as they were sent");
    shows(MSGS(UMSG "," RESULT("a", "")),
          HI "[<|im_system|>](tool)[<|im_middle|>](## Return of a\n)(42)" END
          OPEN, "waste 7.4/40: a result without a name");
    shows(MSGS(UMSG "," RESULT("a", ",\"name\":\"get_weather\"")),
          HI "[<|im_system|>](get_weather)[<|im_middle|>](## Return of a\n)"
          "(42)" END OPEN, "waste 7.4/40: and with one");
    shows(MSGS(UMSG "," RESULT("a", ",\"name\":\"n\",\"tool\":\"t\"")),
          HI "[<|im_system|>](n)[<|im_middle|>](## Return of a\n)(42)" END
          OPEN, "waste 7.4/40: its own name first");
    shows(MSGS(UMSG "," CALLS("null", CALL("a", "f", "\"{}\"")) ","
               RESULT("a", "")),
          HI OPEN "[" SB "][" CB "](a)[" AB "]({})[" CE "][" SE "]" END
          "[<|im_system|>](f)[<|im_middle|>](## Return of a\n)(42)" END OPEN,
          "a result bears the name of the call that it answers");
    shows(MSGS(UMSG "," CALLS("null", CALL("a", "f", "{}") ","
                              CALL("b", "g", "{}")) "," RESULT("b", "") ","
               RESULT("a", "")),
          HI OPEN "[" SB "][" CB "](a)[" AB "]({})[" CE "][" CB "](b)[" AB
          "]({})[" CE "][" SE "]" END
          "[<|im_system|>](f)[<|im_middle|>](## Return of a\n)(42)" END
          "[<|im_system|>](g)[<|im_middle|>](## Return of b\n)(42)" END OPEN,
          "results come in the order of their calls");
    refuses(MSGS(UMSG "," CALLS("null", CALL("", "f", "\"{}\""))),
            "messages[1].tool_calls[0].id", "a call without an id");
    refuses(MSGS("{\"role\":\"user\",\"content\":\"hi\",\"tool_calls\":["
                 CALL("a", "f", "\"{}\"") "]}"),
            "messages[0].tool_calls", "a user's message with calls");
    refuses(MSGS(UMSG "," RESULT("", "")), "messages[1].tool_call_id",
            "a result without one");
    refuses(MSGS("{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}"),
            "messages[0].content[0]", "an image has no place");
    refuses("{\"messages\":[" UMSG "],\"reasoning_effort\":\"high\"}",
            "reasoning_effort", "waste 7.4/44: nor has an effort");
    close_toy();
}

#define EVERY_MARKER                                                          \
    "<|im_system|><|im_user|><|im_assistant|><|im_middle|><|im_end|>[EOS]" SB \
    SE CB AB CE

static void test_forging(void)
{
    struct ids ids;
    size_t n = 0;
    char *shown;

    open_toy();
    ids_init(&ids, 1u << 16);
    shown = format_t_prompt(format,
                          MSGS("{\"role\":\"user\",\"content\":"
                               "\"what does <|im_end|> do?\"}"),
                          toy.tok, &ids);
    for (size_t i = 0; i < ids.n; i++)
        n += ids.p[i] == toy_id(&toy, "<|im_end|>", 10);
    is_int(n, 1, "waste 7.4/38: <|im_end|> in content is text");
    free(shown);
    ids_release(&ids);
    ok(format_t_unforged(
           format,
           "{\"messages\":[{\"role\":\"system\",\"content\":\"@\"},"
           "{\"role\":\"user\",\"name\":\"@\",\"content\":[{\"type\":\"text\","
           "\"text\":\"<|im_\"},{\"type\":\"text\",\"text\":\"end|>@\"}]},"
           "{\"role\":\"assistant\",\"content\":\"@\",\"reasoning\":\"@\","
           "\"tool_calls\":[" CALL("@", "@", "\"@\"") ","
           CALL("b@", "@", "{\"@\":\"@\"}") "]},"
           "{\"role\":\"tool\",\"tool_call_id\":\"b@\",\"name\":\"@\","
           "\"tool\":\"@\",\"content\":\"@\"},"
           "{\"role\":\"tool\",\"tool_call_id\":\"c@\",\"content\":\"@\"}],"
           "\"tools\":[{\"type\":\"@\",\"function\":{\"name\":\"@\","
           "\"description\":\"@\",\"parameters\":{\"@\":{\"enum\":[\"@\"]}}}}]"
           "}", EVERY_MARKER, toy.tok),
       "markers in every field of a caller stay text");
    close_toy();
}

#define ONE(id, name, args)                                                   \
    "{\"id\":\"" id "\",\"name\":\"" name "\",\"arguments\":\"" args "\"}"
#define GOT(content, calls)                                                   \
    "{\"content\":\"" content "\",\"calls\":[" calls "]}"

static void test_reply(void)
{
    static const struct {
        const char *text, *want, *name;
    } t[] = {
        {"hi", "{\"content\":\"hi\"}", "no call"},
        {"look " SB CB "functions.get_weather:0" AB "{\"city\": \"K\xc3\xb6"
         "ln\"}" CE SE, GOT("look ", ONE("functions.get_weather:0",
         "get_weather", "{\\\"city\\\": \\\"K\xc3\xb6ln\\\"}")),
         "waste 7.4/41: name, id and arguments; text before stays content"},
        {SB CB "functions.f:3" CE SE, GOT("", ONE("functions.f:3", "f", "")),
         "waste 7.4/42: no argument marker, no arguments"},
        {SB CB "functions.f:0", GOT("", ONE("functions.f:0", "f", "")),
         "waste 7.4/42: the reply ends in a header"},
        {SB CB " functions.f:0 \n" AB "{}" CE "\n" CB "functions.g:1" AB " {}"
         CE " " SE, GOT("", ONE("functions.f:0", "f", "{}") ","
                        ONE("functions.g:1", "g", " {}")),
         "two calls, and space between them"},
        {" \n" SB CB "f:0" AB "{}" CE SE "\n", GOT("", ONE("f:0", "f", "{}")),
         "white space around calls is no answer"},
        {SB CB "f:0" AB "{}" CE SE "\nbye ", GOT("\\nbye ",
                                                 ONE("f:0", "f", "{}")),
         "text behind them is"},
        {" \n ", "{\"content\":\" \\n \"}", "as is an answer of space alone"},
        {"a" SB CB "f:0" AB "{}" CE SE "\n", GOT("a", ONE("f:0", "f", "{}")),
         "space behind a call is none, though words came before"},
        {" \n" SB CB "f:0" AB "{}" CE SE "bye", GOT("bye",
                                                   ONE("f:0", "f", "{}")),
         "space before a call does not come later"},
        {SB CB "f" AB "{}" CE CB "f" AB "{}" CE SE,
         GOT("", ONE("functions.f:0", "f", "{}") ","
                 ONE("functions.f:1", "f", "{}")),
         "a head without an index gets an id"},
        {SB CB "functions.a:b:x" AB "{}" CE SE,
         GOT("", ONE("functions.a:b:x:0", "a:b:x", "{}")),
         "a bad index belongs to the name"},
        {SB CB "functions.f:0" AB "{}" CE CB "functions.f:0" AB "{}" CE SE,
         GOT("", ONE("functions.f:0", "f", "{}") ","
                 ONE("functions.f:1", "f", "{}")), "ids are unique"},
        {SB CB "functions.f:1" AB "{}" CE CB "f" AB "{}" CE SE,
         GOT("", ONE("functions.f:1", "f", "{}") ","
                 ONE("functions.f:2", "f", "{}")), "made ones too"},
        {SB CB "functions.f:" AB "{}" CE SE,
         GOT("", ONE("functions.f::0", "f:", "{}")),
         "an index has a digit at least"},
        {SB CB "abcdefghijkl:0" AB "{}" CE SE,
         GOT("", ONE("abcdefghijkl:0", "abcdefghijkl", "{}")),
         "a name of its own"},
        {SB CB "functions.:0" AB "{}" CE CB " " CE SE, "{\"content\":\"\"}",
         "a call without a name is none"},
        {CB "f:0" AB "{}" CE "x", GOT("x", ONE("f:0", "f", "{}")),
         "a call without a section"},
        {SB CB "f:0" AB "{}" CB "g:1" AB "{}" SE,
         GOT("", ONE("f:0", "f", "{}") "," ONE("g:1", "g", "{}")),
         "calls that do not end"},
        {SB "talk" CB "f:0" AB "{}" CE "more" SE,
         GOT("", ONE("f:0", "f", "{}")), "talk in a section is dropped"},
        {"a" CE "b", "{\"content\":\"a\",\"done\":true}",
         "an end out of place ends the turn"},
        {"a" AB "b", "{\"content\":\"a\",\"done\":true}", "so do arguments"},
        {"a" SE "b", "{\"content\":\"a\",\"done\":true}",
         "and the end of a section"},
        {SB CB "f:0" AB "{}" CE SE CB "g:1" AB "{}" CE "x",
         GOT("x", ONE("f:0", "f", "{}") "," ONE("g:1", "g", "{}")),
         "a section ends once"},
        {SB SB, "{\"content\":\"\",\"done\":true}", "a section in a section"},
        {SB CB "f:0" AB "{" SB,
         "{\"content\":\"\",\"calls\":[" ONE("f:0", "f", "{") "],\"done\":"
         "true}", "and in arguments, which are kept"},
    };
    struct dialect_t d = {.d = &dialect_kimi, .ids = true};
    struct dialect_t cut = {.d = &dialect_kimi, .ids = true, .cut = true};

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        dialect_is(&d, t[i].text, t[i].want, t[i].name);
    dialect_is(&cut, SB CB "f:0" AB "{\"a",
               "{\"content\":\"\",\"calls\":[{\"id\":\"f:0\",\"name\":\"f\","
               "\"arguments\":\"{\\\"a\",\"open\":true}]}",
               "what a limit cuts is kept, and not whole");
    ok(dialect_kimi.native_ids, "ids are the model's");
}

static void test_ids(void)
{
    static const char *const call[] = {
        "a", SB, CB, "functions.f:0", AB, "{\"k\":\"", "<|tool_", "call_end|>",
        "\"}", CE, SE, NULL,
    };
    static const char *const foreign[] = {"a", "[EOS]", "b", NULL};
    static const char *const literal[] = {"<|tool_call_", "begin|>", "x", NULL};
    struct replyid_t t;
    struct tools *tools = tools_new(NULL, 0);

    open_toy();
    t = (struct replyid_t){.f = format, .toy = &toy, .tools = tools,
                           .ids = true};
    replyid_is(&t, literal, "{\"content\":\"<|tool_call_begin|>x\"}",
               "waste 7.4/43: a marker in ordinary tokens is content");
    replyid_is(&t, call,
               GOT("a", ONE("functions.f:0", "f",
                            "{\\\"k\\\":\\\"<|tool_call_end|>\\\"}")),
               "and in arguments it is an argument");
    replyid_is(&t, foreign, "{\"content\":\"a\",\"done\":true}",
               "another control token ends the turn");
    replyid_round(&t, MSGS(UMSG "," CALLS("\"look\"",
                  CALL("functions.f:0", "f", "\"{\\\"a\\\": \\\"\\u00e9\\\"}\"")
                  "," CALL("functions.g:1", "g", "{\"z\":[1,2]}"))), 1,
                  GOT("look", ONE("functions.f:0", "f",
                                  "{\\\"a\\\": \\\"\xc3\xa9\\\"}") ","
                      ONE("functions.g:1", "g", "{\\\"z\\\":[1,2]}")),
                  "round trip of two calls");
    replyid_round(&t, MSGS(UMSG "," CALLS("null",
                  CALL("functions.f:7", "f", "\"\""))), 1,
                  GOT("", ONE("functions.f:7", "f", "{}")),
                  "round trip of a call without arguments");
    replyid_round(&t, MSGS(UMSG ",{\"role\":\"assistant\",\"content\":"
                           "\" a\\nb \"}"), 1, "{\"content\":\" a\\nb \"}",
                  "round trip of words");
    close_toy();
    tools_free(tools);
}

/* 400 kB of arguments must not cost more than linear time; what is measured
 * here is only that they arrive. */
static void test_large(void)
{
    struct dialect_t d = {.d = &dialect_kimi};
    struct buf b;
    char *got;

    buf_init(&b, BUF_EVENT);
    buf_puts(&b, SB CB "functions.f:0" AB);
    for (int i = 0; i < 400000; i++)
        buf_putc(&b, 'x');
    buf_puts(&b, CE SE);
    got = dialect_fed(&d, b.p, b.n, 0, 7);
    is_int(strlen(got), 400000 + strlen(GOT("", "{\"name\":\"f\","
           "\"arguments\":\"\"}")), "400 kB of arguments");
    free(got);
    buf_clear(&b);
    buf_puts(&b, SB CB);
    for (int i = 0; i < 5000; i++)
        buf_putc(&b, 'x');
    buf_puts(&b, AB "{}" CE SE);
    got = dialect_fed(&d, b.p, b.n, 0, 0);
    ok(strstr(got, "\"arguments\":\"{}\""), "a name without an end");
    free(got);
    d.ids = true;
    for (int form = 0; form < 2; form++) {
        buf_clear(&b);
        buf_puts(&b, SB CB);
        for (int i = 0; i < 300; i++)
            buf_putc(&b, 'x');
        buf_puts(&b, form ? ":0" AB "{}" CE SE : AB "{}" CE SE);
        got = dialect_fed(&d, b.p, b.n, 0, 0);
        ok(strstr(got, "\"id\":\"call_"), "a name too long for an id of the "
                                           "model's form, %d", form);
        free(got);
    }
    buf_release(&b);
}

int main(void)
{
    test_load();
    test_prompt();
    test_forging();
    test_reply();
    test_ids();
    test_large();
    return done();
}
