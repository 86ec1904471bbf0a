/*
 * Calls between <tool_call> tags, and JSON as the whole answer. Points named
 * "tandem N" are the acceptance checks of spec tandem.md section 14 (29 is in
 * chat_reply.c, 25 counts in calls). Each text is fed whole, cut in two at
 * every place, and in small steps; what is expected follows from the text.
 */
#include "t/lib/calls_t.h"

#define T "<tool_call>"
#define E "</tool_call>"
#define F(name, params) "<function=" name ">" params "</function>"
#define P(key, value) "<parameter=" key ">" value "</parameter>"

static struct tools *tools;
static struct dialect_t qwen, bare, cut;

static const char schemas[] =
    "[{\"name\":\"read\",\"parameters\":{\"properties\":{"
    "\"offset\":{\"type\":\"integer\"},\"path\":{\"type\":\"string\"},"
    "\"replaceAll\":{\"type\":\"boolean\"},\"todos\":{\"type\":\"array\"},"
    "\"pageId\":{\"type\":[\"integer\",\"null\"]}}}},"
    "{\"name\":\"write_file\",\"parameters\":{\"properties\":{"
    "\"path\":{\"type\":\"string\"},\"content\":{\"type\":\"string\"}}}},"
    "{\"name\":\"c25\",\"parameters\":{\"properties\":{"
    "\"zip\":{\"type\":\"string\"},\"flag\":{\"type\":\"string\"},"
    "\"offset\":{\"type\":\"integer\"},"
    "\"limit\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]},"
    "\"ids\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}},"
    "{\"name\":\"f\"},{\"name\":\"g\"}]";

static void make_tools(void)
{
    tools = calls_t_tools(schemas);
    qwen = (struct dialect_t){.d = &dialect_qwen, .tools = tools};
    cut = bare = qwen;
    bare.tools = NULL;
    cut.cut = true;
}

static void test_strict(void)
{
    reads(&qwen, "tandem 1: text and a call",
          "I'll write it now.\n\n" T "\n"
          F("write_file", "\n" P("path", "\na.txt\n") "\n"
            P("content", "\nhello\nworld\n") "\n") "\n" E,
          "I'll write it now.\n\n", "write_file",
          "{\"path\": \"a.txt\", \"content\": \"hello\\nworld\"}", none);
    reads(&qwen, "tandem 2: an echo is dropped",
          T F("f", P("a", "1")) E "\n" T F("f", P("a", "1")) E, "\n", "f",
          "{\"a\": \"1\"}", none);
    reads(&qwen, "tandem 3: two blocks",
          T F("f", P("a", "1")) E " and " T F("g", P("b", "2")) E, " and ",
          "f", "{\"a\": \"1\"}", "g", "{\"b\": \"2\"}", none);
    reads(&qwen, "tandem 4: no function in the block",
          "x " T "no function here" E, "x " T "no function here" E, none);
    reads(&qwen, "tandem 5: no parameters", T "<function=f></function>" E, "",
          "f", "{}", none);
    reads(&qwen, "tandem 7: text with angle brackets",
          "a < b, <the answer>, <tool_cal> <", "a < b, <the answer>, "
          "<tool_cal> <", none);
    reads(&cut, "tandem 8: a cut block", "text " T "<function=foo>",
          "text " T "<function=foo>", none);
    reads(&qwen, "tandem 9: half a tag at the end", "hello <tool",
          "hello <tool", none);
    reads(&qwen, "tandem 10: quotes, backslash, newlines",
          T F("f", P("a", " \n say \"x\\y\"\n\n  now\t \n")) E, "", "f",
          "{\"a\": \"say \\\"x\\\\y\\\"\\n\\n  now\"}", none);
    reads(&qwen, "tandem 11: HTML in a value",
          T F("f", P("a", "<p>1 < 2</p></param></parameters><")) E, "", "f",
          "{\"a\": \"<p>1 < 2</p></param></parameters><\"}", none);
    reads(&qwen, "tandem 12: two functions in one block",
          T F("f", P("a", "1")) "\n" F("g", P("b", "2")) E, "", "f",
          "{\"a\": \"1\"}", "g", "{\"b\": \"2\"}", none);
    reads(&qwen, "case C24: characters above ASCII stay",
          T F("f", P("city", "M\xc3\xbcnster \xe6\xbc\xa2 \xf0\x9f\x98\x80"))
          E, "", "f", "{\"city\": \"M\xc3\xbcnster \xe6\xbc\xa2 "
          "\xf0\x9f\x98\x80\"}", none);
}

static void test_lenient(void)
{
    reads(&qwen, "tandem 13: unknown tag between parameters",
          T F("f", P("a", "1") "<note>" P("b", "2")) E, "", "f",
          "{\"a\": \"1\", \"b\": \"2\"}", none);
    reads(&qwen, "tandem 14: a broken tag that eats a parameter",
          T F("f", P("a", "1") "<br " P("b", "2")) E, "", "f",
          "{\"a\": \"1\", \"b\": \"2\"}", none);
    reads(&qwen, "tandem 15: a duplicate in one block",
          T F("f", P("a", "1")) F("f", P("a", "1")) E, "", "f",
          "{\"a\": \"1\"}", none);
    reads(&qwen, "tandem 16: same name, other arguments",
          T F("f", P("a", "1")) E T F("f", P("a", "2")) E, "", "f",
          "{\"a\": \"1\"}", "f", "{\"a\": \"2\"}", none);
    reads(&qwen, "tandem 17: blanks and attributes",
          T "<function = f ><parameter = k >1</parameter></function>"
          "<function name=\"g\"><parameter name=\"k\">2</parameter>"
          "</function>" E, "", "f", "{\"k\": \"1\"}", "g", "{\"k\": \"2\"}",
          none);
    reads(&qwen, "tandem 17: quoted names",
          T F("'f'", P("\"k\"", "1")) E, "", "f", "{\"k\": \"1\"}", none);
    reads(&qwen, "tandem 18: a function without its end",
          T "<function=f>" P("a", "1") F("g", P("b", "2")) E, "", "f",
          "{\"a\": \"1\"}", "g", "{\"b\": \"2\"}", none);
    reads(&qwen, "tandem 18: up to the end of the block",
          T "<function=f>" P("a", "1") "\n" E, "", "f", "{\"a\": \"1\"}",
          none);
    reads(&qwen, "tandem 24: the first closer wins",
          T F("f", P("a", "x</parameter>y")) E, "", "f", "{\"a\": \"x\"}",
          none);
    reads(&qwen, "the end of a function inside a value ends it",
          T F("f", P("a", "1") P("b", "x</function>y")) E, "", "f",
          "{\"a\": \"1\"}", none);
    reads(&qwen, "a function in a value is text",
          T F("f", P("a", "<function=g>")) E, "", "f",
          "{\"a\": \"<function=g>\"}", none);
    reads(&qwen, "a dangling function before another",
          T "<function=f><parameter=a>1" F("g", "") E, "", "g", "{}", none);
    reads(&qwen, "same name thrice: order kept",
          T F("f", P("a", "1")) F("f", P("a", "2")) F("g", "") E, "", "f",
          "{\"a\": \"1\"}", "f", "{\"a\": \"2\"}", "g", "{}", none);
}

static void test_no_tags(void)
{
    stays(&qwen, "tandem 17: a name needs a blank before it",
          T "<functionname=f></function>" E);
    stays(&qwen, "tandem 4: an empty name", T "<function=></function>" E);
    stays(&qwen, "tandem 4: a bracket in a name",
          T "<function=a<b></function>" E);
}

/* Well-formed calls are never taken back. */
static void test_credited(void)
{
    credited(&qwen, "tandem 5: no parameters", T F("f", "") E, 1);
    credited(&qwen, "tandem 6: blanks around, newlines, quotes inside",
             T F("f", P("a", " \n say \"x\\y\"\n\n  now\t \n")) E, 1);
    credited(&qwen, "tandem 11: HTML in a value",
             T F("f", P("a", "<p>1 < 2</p></param></parameters><")) E, 1);
    credited(&qwen, "tandem 12: two functions",
             T F("f", P("a", "1")) "\n" F("g", P("b", "2")) E, 2);
    credited(&qwen, "tandem 13: an unknown tag",
             T F("f", P("a", "1") "<note>" P("b", "2")) E, 1);
    credited(&qwen, "tandem 17: a key that needs escapes",
             T F("f", P("a\"\\b", "1")) E, 1);
    credited(&qwen, "tandem 18: functions without an end",
             T "<function=f>" P("a", "1") "<function=g>" P("b", "2") "\n" E, 2);
    credited(&qwen, "tandem 19: JSON in the tags",
             T "{\"name\":\"f\",\"arguments\":{\"a\":[\"}\",{}]}}" E, 1);
    credited(&qwen, "tandem 23: closed by the end token",
             T "<function=f>" P("a", "1"), 1);
    credited(&qwen, "tandem 27: typed values",
             T F("read", P("offset", "\n150\n") P("todos", "[{\"a\":1}]")
                 P("replaceAll", "True") P("path", "12")) E, 1);
    credited(&qwen, "tandem 27: typed values in JSON",
             T "{\"name\":\"read\",\"arguments\":{\"offset\":\"150\","
             "\"p\\u0061th\":\"12\",\"pageId\":\"none\",\"x\":{\"offset\":"
             "\"1\"}}}" E, 1);
    streams(&qwen, "a block that was refused stops no later stream",
            T F("f", "") E T "<function=f><parameter=a>1" E
            T "<function=g><parameter=a>x", 2, "{\"a\": \"x");
}

static void test_ends(void)
{
    reads(&qwen, "tandem 23: closed by the end token",
          "a" T F("f", P("a", "1")), "a", "f", "{\"a\": \"1\"}", none);
    reads(&qwen, "tandem 23: neither end is there", T "<function=f>"
          P("a", "1"), "", "f", "{\"a\": \"1\"}", none);
    reads(&cut, "tandem 23: the same, cut", "a" T F("f", P("a", "1")),
          "a" T F("f", P("a", "1")), none);
    reads(&qwen, "tandem 23: a dangling parameter",
          T "<function=f><parameter=a>1", T "<function=f><parameter=a>1",
          none);
    reads(&qwen, "a closer without its block", "a" E "b", "a" E "b", none);
    reads(&qwen, "an empty block", T E, T E, none);
    reads(&qwen, "a block in a block",
          T F("f", P("a", "1")) T F("g", "") E, "", "f", "{\"a\": \"1\"}",
          "g", "{}", none);
}

static void test_json(void)
{
    reads(&qwen, "tandem 19: an object in the tags",
          T "\n{\"name\": \"f\", \"arguments\": {\"a\": [1, {}]}}\n" E, "",
          "f", "{\"a\": [1, {}]}", none);
    reads(&qwen, "tandem 19: a list",
          T "[{\"name\":\"f\",\"parameters\":{\"a\":1}},{\"name\":\"g\"}]" E,
          "", "f", "{\"a\": 1}", "g", "{}", none);
    reads(&qwen, "tandem 19: function inside",
          T "{\"type\":\"function\",\"function\":{\"name\":\"f\","
          "\"arguments\":\"{\\\"a\\\":1}\"}}" E, "", "f", "{\"a\": 1}", none);
    reads(&qwen, "the name behind the arguments",
          T "{\"arguments\":{\"a\":1},\"name\":\"f\"}" E, "", "f",
          "{\"a\": 1}", none);
    reads(&qwen, "arguments as they are written",
          T "{\"name\":\"f\",\"arguments\":{\"a\":1,  \"b\":\"\\u00fc\"}}" E,
          "", "f", "{\"a\":1,  \"b\":\"\\u00fc\"}", none);
    reads(&qwen, "arguments that are no object",
          T "{\"name\":\"f\",\"arguments\":[1]}" E,
          T "{\"name\":\"f\",\"arguments\":[1]}" E, none);
    reads(&qwen, "broken JSON", T "{\"name\":\"f\",\"arguments\":{\"a\":1}" E,
          T "{\"name\":\"f\",\"arguments\":{\"a\":1}" E, none);
    reads(&qwen, "the last of two arguments wins",
          T "{\"name\":\"f\",\"arguments\":{\"a\":1},\"arguments\":{}}" E, "",
          "f", "{}", none);
    reads(&qwen, "an echo in another spelling",
          T "{\"name\":\"f\",\"arguments\":{\"a\":\"1\",\"b\":2}}" E
          T "{\"name\":\"f\",\"arguments\":{\"b\":2, \"a\":\"1\"}}" E, "",
          "f", "{\"a\":\"1\",\"b\":2}", none);
    reads(&qwen, "the last of two names wins",
          T "{\"name\":\"f\",\"arguments\":{\"a\":1},\"name\":\"g\"}" E, "",
          "g", "{\"a\": 1}", none);
    reads(&qwen, "arguments that are a blank string",
          T "{\"name\":\"f\",\"arguments\":\" \\n\"}" E, "", "f", "{}",
          none);
    stays(&qwen, "an empty name in JSON",
          T "{\"name\":\"\",\"arguments\":{}}" E);
    reads(&qwen, "JSON closed by the end token",
          T "{\"name\":\"f\",\"arguments\":{}}", "", "f", "{}", none);
    reads(&cut, "JSON cut", T "{\"name\":\"f\",\"arguments\":{}}",
          T "{\"name\":\"f\",\"arguments\":{}}", none);
}

#define CALL "{\"name\": \"f\", \"arguments\": {\"a\": 1}}"

static void test_whole(void)
{
    reads(&qwen, "tandem 20: JSON as the answer", CALL, "", "f",
          "{\"a\": 1}", none);
    reads(&qwen, "tandem 20: leading blanks", " \n " CALL "\n", "", "f",
          "{\"a\": 1}", none);
    reads(&qwen, "tandem 20: a json fence", "```json\n" CALL "\n```", "", "f",
          "{\"a\": 1}", none);
    reads(&qwen, "tandem 20: a fence", "```\n" CALL "\n```\n", "", "f",
          "{\"a\": 1}", none);
    reads(&qwen, "tandem 20: a list", "[" CALL ", {\"type\":\"function\","
          "\"id\":\"x\",\"function\":{\"name\":\"g\",\"arguments\":"
          "\"{}\"}}]", "", "f", "{\"a\": 1}", "g", "{}", none);
    stays(&bare, "tandem 21: no tools", CALL);
    stays(&qwen, "tandem 21: unknown name",
          "{\"name\": \"other\", \"arguments\": {\"a\": 1}}");
    stays(&qwen, "tandem 21: extra key",
          "{\"name\": \"f\", \"arguments\": {}, \"why\": 1}");
    stays(&qwen, "tandem 21: no arguments", "{\"name\": \"f\"}");
    stays(&qwen, "tandem 21: prose before", "So: " CALL);
    stays(&qwen, "tandem 21: prose after", CALL " so");
    stays(&qwen, "tandem 21: another fence", "```python\n" CALL "\n```");
    stays(&qwen, "tandem 21: an open fence", "```json\n" CALL);
    stays(&qwen, "tandem 21: a fence that begins like json",
          "```js\n" CALL "\n```");
    stays(&qwen, "tandem 21: with the call at once", "```js" CALL "\n```");
    stays(&qwen, "tandem 21: prose behind the fence",
          "```json\n" CALL "\n``` so");
    stays(&qwen, "tandem 21: two calls with a semicolon", CALL ";" CALL);
    stays(&qwen, "tandem 21: an unknown name, escaped",
          "{\"name\": \"\\u006fther\", \"arguments\": {\"a\": 1}}");
    stays(&qwen, "tandem 21: one item of a list is no call",
          "[" CALL ", {\"name\": \"f\"}]");
    stays(&qwen, "tandem 22: an ordinary JSON answer",
          "{\"city\": \"Rome\", \"n\": [1, 2]}");
    stays(&cut, "a whole answer that was cut", CALL);
    stays(&qwen, "blanks alone", " \n ");
    stays(&qwen, "an empty list", "[]");
    stays(&qwen, "no JSON", "{\"name\": f}");
    reads(&qwen, "tags in a string of the answer",
          "{\"name\":\"f\",\"arguments\":{\"a\":\"" T "x" E "\"}}", "", "f",
          "{\"a\": \"" T "x" E "\"}", none);
    reads(&qwen, "a call behind blanks", " \n" T F("f", "") E, " \n", "f",
          "{}", none);
}

static void test_types(void)
{
    reads(&qwen, "tandem 27: typed values",
          T F("read", P("offset", "\n150\n") P("todos", "[{\"a\":1}]")
              P("replaceAll", "true") P("pageId", "2") P("path", "12")) E, "",
          "read", "{\"offset\": 150, \"todos\": [{\"a\": 1}], "
          "\"replaceAll\": true, \"pageId\": 2, \"path\": \"12\"}", none);
    reads(&qwen, "tandem 27: content stays text",
          T F("write_file", P("content", "{\"a\": 1}")) E, "", "write_file",
          "{\"content\": \"{\\\"a\\\": 1}\"}", none);
    reads(&qwen, "tandem 27: in JSON too",
          T "{\"name\":\"read\",\"arguments\":{\"offset\":\"150\","
          "\"path\":\"12\",\"replaceAll\":\"True\"}}" E, "", "read",
          "{\"offset\":150,\"path\":\"12\",\"replaceAll\":true}", none);
    reads(&qwen, "tandem 28: a value that does not fit",
          T F("read", P("offset", "60s")) E, "", "read",
          "{\"offset\": \"60s\"}", none);
    reads(&qwen, "case C25: types come from the schema",
          T F("c25", P("zip", "02134") P("flag", "true") P("offset", "5.0")
              P("limit", "42") P("ids", "[1, 2]")) E, "", "c25",
          "{\"zip\": \"02134\", \"flag\": \"true\", \"offset\": 5, "
          "\"limit\": 42, \"ids\": [1, 2]}", none);
    reads(&qwen, "case C25: what does not fit stays",
          T F("c25", P("offset", "soon")) E, "", "c25",
          "{\"offset\": \"soon\"}", none);
    reads(&bare, "without tools everything is text",
          T F("read", P("offset", "150")) E, "", "read",
          "{\"offset\": \"150\"}", none);
}

/* What a stream shows on the way. */
static void test_stream(void)
{
    static const char s[] =
        T "\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n"
        "<parameter=content>\none two\n</parameter>\n</function>\n" E;
    struct dialect_run *r = mem_new(struct dialect_run);
    size_t fragments = 0, seen = 0;
    const struct tool_call *c = NULL;
    bool named_first = false;

    dialect_run_open(r, &qwen);
    for (size_t i = 0; s[i]; i++) {
        dialect_run_feed(r, s + i, 1);
        if (!c && r->calls.n) {
            c = r->calls.p[0];
            named_first = !c->args.n && !strcmp(c->name, "write_file");
        }
        fragments += c && c->args.n > seen;
        seen = c ? c->args.n : 0;
    }
    ok(named_first, "tandem 6: id and name come first");
    ok(fragments > 5, "tandem 6: then arguments in pieces");
    ok(c && c->whole && !c->withdrawn && r->calls.n == 1,
       "tandem 6: and the call is credited");
    ok(c && !strncmp(c->id, "call_", 5) && strlen(c->id) == 29,
       "tandem 1: its id");
    dialect_run_end(r);
    is_int(r->content.n, 0, "tandem 6: nothing of it is content");
    dialect_run_close(r);
    free(r);
}

static void test_held(void)
{
    is_int(content_after(&qwen, "hello"), 5, "tandem 7: text at once");
    is_int(content_after(&qwen, "hello <t"), 6, "tandem 7: <t is held");
    is_int(content_after(&qwen, "hello <th"), 9, "tandem 7: <th is not");
    is_int(content_after(&qwen, "{\"city"), 0, "tandem 22: held before");
    is_int(content_after(&qwen, "{\"city\""), 7, "tandem 22: a key tells");
    is_int(content_after(&qwen, "{\"name\": \"Bob\""), 14, "a name tells");
    is_int(content_after(&qwen, "[1"), 2, "an item tells");
    is_int(content_after(&qwen, "```p"), 4, "a fence's word tells");
    is_int(content_after(&qwen, CALL "x"), sizeof(CALL), "text tells");
    is_int(content_after(&bare, "{"), 1, "without tools nothing is held");
}

/* A call of the stream that the whole block disproves. */
static void test_withdrawn(void)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    const char *s = T F("f", P("a", "1") "<br " P("b", "2")) E;

    dialect_run_open(r, &qwen);
    dialect_run_feed(r, s, strlen(s));
    is_int(r->calls.n, 2, "tandem 14: swept");
    ok(r->calls.p[0]->withdrawn && !r->calls.p[1]->withdrawn,
       "tandem 14: the broken one is withdrawn");
    is_str(r->calls.p[1]->args.p, "{\"a\": \"1\", \"b\": \"2\"}",
           "tandem 14: the whole call comes");
    dialect_run_close(r);
    free(r);
}

static void test_parallel(void)
{
    struct dialect_t one = qwen;
    struct dialect_run *r = mem_new(struct dialect_run);
    const char *s = T F("f", P("a", "1")) E T F("g", P("a", "1")) E;

    one.limit = 1;
    dialect_run_open(r, &one);
    dialect_run_feed(r, s, strlen(s));
    dialect_run_end(r);
    is_int(r->calls.shown, 1, "tandem 25: one call is shown");
    is_int(r->calls.dropped, 1, "tandem 25: the other is counted");
    ok(strcmp(r->calls.p[0]->id, r->calls.p[1]->id), "ids differ");
    dialect_run_close(r);
    free(r);
}

/* Markers by token id: the same characters in ordinary tokens are text. */
static void test_by_id(void)
{
    static const struct dialect_piece look[] = {
        {NULL, "write " T F("f", "") E " so"}, {NULL, NULL},
    };
    static const struct dialect_piece inside[] = {
        {T, NULL}, {NULL, F("f", P("a", "x" E "y" T "z"))}, {E, NULL},
        {NULL, NULL},
    };
    char *got = dialect_pieces(&qwen, look);

    is_str(got, "{\"content\":\"write " T F("f", "") E " so\"}",
           "look-alikes are text");
    free(got);
    got = dialect_pieces(&qwen, inside);
    is_str(got, "{\"content\":\"\",\"calls\":[{\"name\":\"f\",\"arguments\":"
           "\"{\\\"a\\\": \\\"x" E "y" T "z\\\"}\"}]}",
           "look-alikes in a value are text");
    free(got);
}

/* 400 kB in pieces of four characters, and hostile repetition: what matters
 * is that it ends; t/bench/reply measures. */
static void big(const char *name, const char *head, const char *unit,
                const char *tail, size_t calls)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    struct buf b;

    buf_init(&b, BUF_FILE);
    buf_puts(&b, head);
    while (b.n < 400000)
        buf_puts(&b, unit);
    buf_puts(&b, tail);
    dialect_run_open(r, &qwen);
    for (size_t i = 0; i < b.n; i += 4)
        dialect_run_feed(r, b.p + i, b.n - i < 4 ? b.n - i : 4);
    dialect_run_end(r);
    is_int(r->calls.shown, calls, "%s", name);
    dialect_run_close(r);
    free(r);
    buf_release(&b);
}

static void test_big(void)
{
    big("tandem 26: a whole answer of 400 kB",
        "{\"name\":\"f\",\"arguments\":{\"a\":\"", "line\\n", "\"}}", 1);
    big("a value of 400 kB", T "<function=f><parameter=a>", "line\n",
        "</parameter></function>" E, 1);
    big("JSON arguments of 400 kB", T "{\"name\":\"f\",\"arguments\":{\"a\":\"",
        "line\\n", "\"}}" E, 1);
    big("white space", T "<function=f><parameter=a>x", "  \n ",
        "y</parameter></function>" E, 1);
    big("half a closer again and again", T "<function=f><parameter=a>",
        "</paramete", "</parameter></function>" E, 1);
    big("open functions", T, "<function=", E, 0);
    big("open parameters", T "<function=f>", "<parameter=a>", E, 0);
    big("functions with an end far away", T, "<function=f><parameter=a>",
        "</function>" E, 1);
    big("a name that never ends", T, "<function=a b", ">" E, 0);
    big("brackets", T, "<", "" E, 0);
    big("small echoes", T, F("f", ""), E, 1);
    big("deep JSON", T, "[", E, 0);
    big("a deep whole answer", "", "[", "", 0);
    big("typed text", T F("read", P("todos", "[")), "1,", "1]", 1);
}

int main(void)
{
    make_tools();
    test_strict();
    test_lenient();
    test_no_tags();
    test_credited();
    test_ends();
    test_json();
    test_whole();
    test_types();
    test_stream();
    test_held();
    test_withdrawn();
    test_parallel();
    test_by_id();
    test_big();
    tools_free(tools);
    return done();
}
