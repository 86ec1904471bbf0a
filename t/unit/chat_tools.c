/*
 * Values typed by the schemas of a request's tools. Rows are those of spec
 * tandem.md 6.2 and its checks 27 and 28, and of case C25; the Python
 * literals are what CPython 3's ast.literal_eval and json.dumps give.
 */
#include "chat/tools.h"
#include "t/lib/tap.h"

static struct arena arena;

static const struct json *parse(const char *s)
{
    const struct json *v;
    struct err e = {0};

    if (json_parse(&v, &arena, s, strlen(s), &e)) {
        printf("Bail out! %s: %s\n", s, e.text);
        exit(1);
    }
    return v;
}

/* One tool f whose parameters are these properties. */
static struct tools *tools_of(const char *properties)
{
    struct buf b;
    struct chat_tool t = {.name = {"f", 1}};
    struct tools *tools;

    buf_init(&b, BUF_EVENT);
    buf_printf(&b, "{\"type\":\"object\",\"properties\":%s}", properties);
    t.params = parse(b.p);
    tools = tools_new(&t, 1);
    buf_release(&b);
    return tools;
}

static void kinds_are(const char *schema, unsigned want)
{
    struct buf b;
    struct tools *t;

    buf_init(&b, BUF_EVENT);
    buf_printf(&b, "{\"a\":{},\"p\":%s,\"z\":{}}", schema);
    t = tools_of(b.p);
    is_int(tools_kinds(t, "f", 1, "p", 1), want, "%s", schema);
    tools_free(t);
    buf_release(&b);
}

static void test_kinds(void)
{
    kinds_are("{\"type\":\"integer\"}", KIND_INTEGER);
    kinds_are("{\"type\":\"number\"}", KIND_NUMBER);
    kinds_are("{\"type\":\"boolean\"}", KIND_BOOLEAN);
    kinds_are("{\"type\":[\"integer\",\"null\"]}", KIND_INTEGER | KIND_NULL);
    kinds_are("{\"type\":[\"integer\",\"string\"]}", 0);
    kinds_are("{\"type\":\"string\"}", 0);
    kinds_are("{\"type\":\"thing\"}", 0);
    kinds_are("{\"type\":7}", 0);
    kinds_are("{}", 0);
    kinds_are("true", 0);
    kinds_are("{\"$ref\":\"#/$defs/a\"}", 0);
    kinds_are("{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}",
              KIND_INTEGER | KIND_NULL);
    kinds_are("{\"oneOf\":[{\"type\":\"array\"},{\"type\":\"object\"}]}",
              KIND_ARRAY | KIND_OBJECT);
    kinds_are("{\"anyOf\":[{\"type\":\"integer\"},{\"$ref\":\"#/a\"}]}", 0);
    kinds_are("{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}", 0);
    kinds_are("{\"enum\":[1,2,null]}", KIND_INTEGER | KIND_NULL);
    kinds_are("{\"enum\":[1,2.5]}", KIND_NUMBER);
    kinds_are("{\"enum\":[\"a\",1]}", 0);
    kinds_are("{\"const\":true}", KIND_BOOLEAN);
    kinds_are("{\"const\":\"x\"}", 0);
    kinds_are("{\"type\":\"object\",\"anyOf\":[{\"required\":[\"a\"]}]}",
              KIND_OBJECT);
    kinds_are("{\"anyOf\":[{\"anyOf\":[{\"const\":null}]},"
              "{\"type\":\"boolean\"}]}", KIND_NULL | KIND_BOOLEAN);
}

static void value(unsigned kinds, const char *text, const char *want)
{
    struct buf b;

    buf_init(&b, BUF_EVENT);
    tool_value(kinds, text, strlen(text), &b);
    is_str(b.p, want, "%s under %u", text, kinds);
    buf_release(&b);
}

static void test_table(void)
{
    value(KIND_INTEGER, "150", "150");
    value(KIND_INTEGER, "150.0", "150");
    value(KIND_INTEGER, "1.5", "\"1.5\"");
    value(KIND_NUMBER, "1.5", "1.5");
    value(KIND_INTEGER, "60s", "\"60s\""); /* tandem 28 */
    value(KIND_INTEGER, "true", "\"true\"");
    value(KIND_BOOLEAN, "True", "true");
    value(KIND_BOOLEAN, "FALSE", "false");
    value(KIND_INTEGER | KIND_NULL, "null", "null");
    value(KIND_ARRAY, "[{\"a\":1}]", "[{\"a\": 1}]");
    value(KIND_OBJECT, "{'a': 1}", "{\"a\": 1}");
    value(KIND_ARRAY, "[1, 2", "\"[1, 2\"");
    value(0, "{\"a\": 1}", "\"{\\\"a\\\": 1}\"");
}

static void test_numbers(void)
{
    value(KIND_INTEGER, "12345678901234567890", "12345678901234567890");
    value(KIND_INTEGER, "1e3", "1000");
    value(KIND_INTEGER, "1.5e1", "15");
    value(KIND_INTEGER, "15e-1", "\"15e-1\"");
    value(KIND_INTEGER, "150e-1", "15");
    value(KIND_INTEGER, "0.5e1", "5");
    value(KIND_INTEGER, "-7.00", "-7");
    value(KIND_INTEGER, "-0.0", "0");
    value(KIND_INTEGER, "0e999999", "\"0e999999\"");
    value(KIND_INTEGER, "1e400", "\"1e400\"");
    value(KIND_INTEGER, "02134", "\"02134\"");
    value(KIND_INTEGER, "", "\"\"");
    value(KIND_INTEGER, "-", "\"-\"");
    value(KIND_INTEGER, "1.", "\"1.\"");
    value(KIND_INTEGER, "1e", "\"1e\"");
    value(KIND_INTEGER, "1e+2", "100");
    value(KIND_NUMBER, "150", "150");
    value(KIND_NUMBER, "1.50", "1.50");
    value(KIND_NUMBER, "1e3", "1e3");
    value(KIND_NUMBER, "NaN", "\"NaN\"");
    value(KIND_OBJECT, "5", "\"5\"");
}

static void test_literals(void)
{
    value(KIND_OBJECT, "{'a': True, 'b': None, 'c': [False, 'x\"y']}",
          "{\"a\": true, \"b\": null, \"c\": [false, \"x\\\"y\"]}");
    value(KIND_ARRAY, "['it\\'s', \"a\\tb\", '\\x41\\u00e9\\U0001f600',]",
          "[\"it's\", \"a\\tb\", \"A\xc3\xa9\xf0\x9f\x98\x80\"]");
    value(KIND_ARRAY, "['a\\q']", "[\"a\\\\q\"]");
    value(KIND_ARRAY, "[\"two\nlines\"]", "[\"two\\nlines\"]");
    value(KIND_ARRAY, "['open]", "\"['open]\"");
    value(KIND_ARRAY, "[1 2]", "\"[1 2]\"");
    value(KIND_ARRAY, "[,]", "\"[,]\"");
    value(KIND_ARRAY, "[1,,2]", "\"[1,,2]\"");
    value(KIND_OBJECT, "{1: 2}", "\"{1: 2}\"");
    value(KIND_OBJECT, "[1]", "\"[1]\"");
    value(KIND_ARRAY, "[12345678901234567890]", "[12345678901234567890]");
    value(KIND_NULL, "None", "null");
    value(KIND_ARRAY, "[]", "[]");
    value(KIND_OBJECT, "{}", "{}");
    value(KIND_ARRAY | KIND_OBJECT, "{\"a\":[1,2]}", "{\"a\": [1, 2]}");
}

static void args(const struct tools *t, const char *json, const char *want)
{
    struct buf b;

    buf_init(&b, BUF_EVENT);
    tool_args(t, "f", 1, parse(json), &b);
    is_str(b.p, want, "%s", json);
    buf_release(&b);
}

static void test_args(void)
{
    struct tools *t = tools_of(
        "{\"zip\":{\"type\":\"string\"},\"flag\":{\"type\":\"string\"},"
        "\"offset\":{\"type\":\"integer\"},"
        "\"limit\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]},"
        "\"ids\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}");

    args(t, "{\"zip\":\"02134\",\"flag\":\"true\",\"offset\":\"5.0\","
            "\"limit\":\"42\",\"ids\":\"[1, 2]\"}",
         "{\"zip\": \"02134\", \"flag\": \"true\", \"offset\": 5, "
         "\"limit\": 42, \"ids\": [1, 2]}");
    args(t, "{\"offset\":\"soon\",\"limit\":7,\"new\":\"1\"}",
         "{\"offset\": \"soon\", \"limit\": 7, \"new\": \"1\"}");
    args(t, "{}", "{}");
    tools_free(t);
}

static void test_names(void)
{
    struct chat_tool list[] = {
        {.name = {"b", 1}}, {.name = {"", 0}}, {.name = {"a", 1}},
        {.name = {"abc", 3}, .params = parse("{\"properties\":[1]}")},
    };
    struct tools *t = tools_new(list, 4);

    ok(tools_has(t, "a", 1) && tools_has(t, "b", 1) && tools_has(t, "abc", 3),
       "names are known");
    ok(!tools_has(t, "ab", 2) && !tools_has(t, "", 0) &&
       !tools_has(t, "c", 1), "others are not");
    ok(!tools_has(NULL, "a", 1), "no tools, no names");
    is_int(tools_kinds(t, "abc", 3, "p", 1), 0, "properties that are a list");
    is_int(tools_kinds(NULL, "a", 1, "p", 1), 0, "no tools, no kinds");
    tools_free(t);
    t = tools_new(NULL, 0);
    ok(t && !tools_has(t, "a", 1), "an empty list");
    tools_free(t);
    tools_free(NULL);
}

/* 128 tools with 300 parameters each. */
static void test_many(void)
{
    static char names[128][16];
    struct chat_tool list[128];
    struct tools *t;
    struct buf b;
    bool right = true;

    buf_init(&b, BUF_EVENT);
    buf_puts(&b, "{\"properties\":{");
    for (int i = 0; i < 300; i++)
        buf_printf(&b, "%s\"p%d\":{\"type\":\"%s\"}", i ? "," : "", i,
                   i % 2 ? "integer" : "boolean");
    buf_puts(&b, "}}");
    for (int i = 0; i < 128; i++) {
        snprintf(names[i], sizeof(names[i]), "tool%d", i);
        list[i] = (struct chat_tool){.name = {names[i], strlen(names[i])},
                                     .params = parse(b.p)};
    }
    t = tools_new(list, 128);
    for (int i = 0; i < 128; i++)
        for (int k = 0; k < 300; k++) {
            char p[16];
            size_t n = (size_t)snprintf(p, sizeof(p), "p%d", k);

            right = right &&
                    tools_kinds(t, names[i], strlen(names[i]), p, n) ==
                        (k % 2 ? KIND_INTEGER : KIND_BOOLEAN);
        }
    ok(right, "128 tools with 300 parameters each");
    tools_free(t);
    buf_release(&b);
}

int main(void)
{
    arena_init(&arena, 512u << 20);
    test_kinds();
    test_table();
    test_numbers();
    test_literals();
    test_args();
    test_names();
    test_many();
    arena_release(&arena);
    return done();
}
