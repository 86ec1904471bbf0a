/*
 * JSON reading: values, refusals, caps.
 * Oracle: RFC 8259; texts named y_/n_ follow the cases of its grammar that
 * the public JSONTestSuite made known; key order and duplicates as in
 * ECMA-262 JSON.parse; depth: cases.md C01; NUL: cases.md C35.
 */
#include "json/read.h"
#include "base/buf.h"

#include <math.h>

#include "t/lib/tap.h"

static struct arena arena;
static struct err e;

static const struct json *parse_n(const char *s, size_t n)
{
    const struct json *v;

    arena_release(&arena);
    arena_init(&arena, 64u << 20);
    e = (struct err){0};
    return json_parse(&v, &arena, s, n, &e) == ST_OK ? v : NULL;
}

static const struct json *parse(const char *s)
{
    return parse_n(s, strlen(s));
}

static void test_values(void)
{
    const struct json *v = parse("{\"a\":[1,-2.5e1,true,null,\"x\\u00e9\\n\"],"
                                 "\"b\":{}} ");
    const struct json *c;

    ok(v && v->type == JSON_OBJ && v->n == 2, "an object of two members");
    c = json_get(v, "a");
    ok(c && c->type == JSON_ARR && c->n == 5, "an array of five");
    c = c->child;
    ok(c->type == JSON_NUM && c->is_int && c->i == 1 && c->d == 1, "1");
    c = c->next;
    ok(!c->is_int && c->d == -25, "-2.5e1 is a double");
    ok(c->str.n == 6 && !memcmp(c->str.s, "-2.5e1", 6), "and keeps its text");
    c = c->next;
    ok(c->type == JSON_BOOL && c->boolean, "true");
    ok(c->next->type == JSON_NULL, "null");
    ok(json_is(c->next->next, "x\xc3\xa9\n"), "escapes are decoded");
    ok(json_get(v, "b")->n == 0 && !json_get(v, "b")->child, "{}");
    ok(!json_get(v, "zz") && !json_get(c, "a") && !json_get(NULL, "a"),
       "json_get finds nothing where nothing is");
    is_str(json_type_name(v), "an object", "types have names");

    v = parse("[9223372036854775807,9223372036854775808,-9223372036854775808,"
              "1e400,-1e400,1.0,-0,1e-400]");
    ok(v && v->n == 8, "numbers at their limits");
    c = v->child;
    ok(c->is_int && c->i == INT64_MAX, "the largest int64 is exact");
    c = c->next;
    ok(!c->is_int && c->d == 9223372036854775808.0, "one more is a double");
    c = c->next;
    ok(c->is_int && c->i == INT64_MIN, "the smallest int64 is exact");
    c = c->next;
    ok(!c->is_int && c->d == HUGE_VAL, "1e400 is huge");
    c = c->next;
    ok(c->d == -HUGE_VAL, "-1e400 too");
    c = c->next;
    ok(!c->is_int && c->d == 1, "1.0 is not written as an integer");
    c = c->next;
    ok(c->is_int && c->i == 0 && signbit(c->d), "-0 keeps its sign");
    ok(c->next->d == 0, "1e-400 is 0");
    ok(parse("3") && parse(" \"s\" ") && parse("null"), "any value is a root");
}

static void test_strings(void)
{
    const struct json *v = parse("{\"k\\u0000x\":\"a\\u0000b\"}");

    ok(v && v->child->str.n == 3 && !memcmp(v->child->str.s, "a\0b", 3),
       "NUL in a string is data");
    ok(v && v->child->key.n == 3, "and in a key");
    v = parse("\"\\ud83d\\ude00\"");
    ok(json_is(v, "\xf0\x9f\x98\x80"), "a surrogate pair is one character");
    ok(json_is(parse("\"\\\\ud83d\""), "\\ud83d"), "an escaped backslash");
    ok(json_is(parse("\"\\/\\b\\f\\n\\r\\t\\\"\""), "/\b\f\n\r\t\""),
       "short escapes");
    ok(!parse("\"\\ud83d\""), "a lone high surrogate is refused");
    ok(!parse("\"\\ude00\""), "a lone low one");
    ok(!parse("\"\\ud83d\\u0041\""), "a high one before a letter");
    ok(!parse("\"\\ude00\\ud83d\""), "the halves in the wrong order");
    ok(!parse("{\"\\ud83d\":1}"), "in a key too");
    ok(strstr(e.text, "byte 2"), "the message has the offset");
    ok(!parse("\"\xc0\xaf\"") && !parse("\"\xed\xa0\x80\"") &&
           !parse("\"\xf4\x90\x80\x80\"") && !parse("\"\xff\""),
       "invalid UTF-8 is refused");
    ok(!parse("\"a\nb\"") && !parse("\"a\tb\""), "raw control characters too");
    ok(!parse_n("\"a\0b\"", 5) && !parse_n("1\0", 2), "and raw NUL");
}

static void test_duplicates(void)
{
    const struct json *v =
        parse("{\"a\":1,\"b\":2,\"a\":{\"x\":1},\"c\":3,\"a\":[7]}");

    ok(v && v->n == 3, "equal keys are one member");
    ok(json_get(v, "a")->type == JSON_ARR && json_get(v, "a")->child->i == 7,
       "the last value wins");
    ok(json_get(v, "a") == v->child, "at the place of the first");
    ok(v->child->next->i == 2 && v->child->next->next->i == 3 &&
           !v->child->next->next->next,
       "the others keep their order");
    v = parse("{\"a\":1,\"a\\u0000\":2,\"\":3,\"\":4}");
    ok(v && v->n == 3 && json_get(v, "a")->i == 1 && json_get(v, "")->i == 4,
       "keys are compared with their length");
}

static void test_syntax(void)
{
    static const char *const bad[] = {
        "", " ", "{", "[", "[1", "[1,", "[1,]", "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{a:1}", "{:\"model\":\"m\"}", "[1 2]", "1 2", "{}{}",
        "[01]", "[-]", "[1.]", "[.5]", "[+1]", "[1e]", "[0x1]", "[NaN]",
        "[Infinity]", "tru", "nul", "True", "'a'", "\"a", "\"\\x\"", "\"\\u12\"",
        "/* c */1", "// c\n1", "[1]]", "]", "}", "\xef\xbb\xbf{}", "[\f1]",
        "{1:2}", "\\u0041", ",", "[,1]", "{\"a\":1 \"b\":2}", "-01", "00",
        "0\"", "{}\"", "[] t", "null\"", "\"a\"\"",
    };
    size_t n = sizeof(bad) / sizeof(*bad), refused = 0;

    for (size_t i = 0; i < n; i++) {
        if (!parse(bad[i]) && e.st == ST_INVALID && !e.where[0] &&
            strstr(e.text, "byte "))
            refused++;
        else
            printf("# accepted, or without an offset: %s (%s)\n", bad[i],
                   e.text);
    }
    is_int(refused, n, "%zu broken texts are refused with an offset", n);
    parse("{\"secret\": quux}");
    ok(!strstr(e.text, "quux") && !strstr(e.text, "secret"),
       "a message quotes nothing");
}

static void brackets(struct buf *b, const char *before, size_t n,
                     const char *after)
{
    buf_clear(b);
    buf_puts(b, before);
    for (size_t i = 0; i < n; i++)
        buf_putc(b, '[');
    buf_putc(b, '0');
    for (size_t i = 0; i < n; i++)
        buf_putc(b, ']');
    buf_puts(b, after);
}

static void test_caps(void)
{
    struct buf b;
    const struct json *v;

    buf_init(&b, 64u << 20);
    brackets(&b, "{\"x\":", 64, "}");
    ok(parse_n(b.p, b.n), "64 levels in a field");
    brackets(&b, "", JSON_DEPTH_MAX, "");
    ok(parse_n(b.p, b.n), "as deep as allowed");
    brackets(&b, "", JSON_DEPTH_MAX + 1, "");
    ok(!parse_n(b.p, b.n) && e.st == ST_LIMIT, "one level more is refused");
    brackets(&b, "{\"x\":", 10000, "}");
    ok(!parse_n(b.p, b.n) && e.st == ST_LIMIT, "10,000 levels (C01)");
    brackets(&b, "", 1000000, "");
    ok(!parse_n(b.p, b.n) && e.st == ST_LIMIT, "a million");

    arena_release(&arena);
    arena_init(&arena, 1000);
    ok(json_parse(&v, &arena, "[1,2,3,4,5,6,7,8,9,10]", 22, &e) == ST_LIMIT &&
           !v,
       "the arena's maximum is a limit");

    buf_clear(&b);
    buf_putc(&b, '[');
    for (int i = 0; i < 500; i++)
        buf_putc(&b, '1');
    buf_putc(&b, ']');
    ok(!parse_n(b.p, b.n) && e.st == ST_INVALID, "500 digits are refused");

    buf_clear(&b);
    buf_putc(&b, '{');
    for (int i = 0; i < 100000; i++)
        buf_printf(&b, "\"k%d\":%d,", i % 50000, i);
    buf_puts(&b, "\"end\":1}");
    v = parse_n(b.p, b.n);
    ok(v && v->n == 50001 && json_get(v, "k7")->i == 50007,
       "many keys, each twice");
    buf_release(&b);
}

int main(void)
{
    arena_init(&arena, 64u << 20);
    test_values();
    test_strings();
    test_duplicates();
    test_syntax();
    test_caps();
    arena_release(&arena);
    return done();
}
