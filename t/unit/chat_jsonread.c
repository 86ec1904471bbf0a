/*
 * JSON that arrives byte by byte: its structure (chat/jsonscan.h), the calls
 * in it (chat/callread.h) and their arguments (chat/jsonargs.h). What is JSON
 * is RFC 8259; where a text breaks is its first byte that none can have.
 */
#include "chat/callread.h"
#include "chat/jsonargs.h"
#include "t/lib/calls_t.h"

/* The offset of the first byte that is refused; -1: none. */
static long breaks(const char *s, size_t n)
{
    struct jsonscan js;

    jsonscan_init(&js);
    for (size_t i = 0; i < n; i++)
        if (jsonscan_byte(&js, s[i]) == JS_BAD)
            return (long)i;
    return -1;
}

static void test_scan(void)
{
    static const struct {
        const char *s;
        long at;
    } t[] = {
        {"{\"a\": [1, -2.5E+3, true, null, \"x\"], \"b\": {}}", -1},
        {" [ ] ", -1}, {"[\"a\\\"]\\\\\", {\"\\\\\": 1}]", -1},
        {"[1,]", 3}, {"{\"a\":1,}", 7}, {"{,", 1}, {"[,", 1},
        {"[1}", 2}, {"{\"a\":1]", 6}, {"]", 0}, {"{}}", 2},
        {"{\"a\" 1}", 5}, {"{\"a\"\"b\"}", 4}, {"{1:2}", 1},
        {"{\"a\":,", 5}, {"[1 2", 3}, {"{},", 2}, {"[x]", -1}, {"[X]", 1},
        {"[#", 1}, {"[\"a\nb\"]", 3}, {"[\"a\\\n", 4}, {"{\"a\":}", 5},
    };
    struct buf b;

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
        is_int(breaks(t[i].s, strlen(t[i].s)), t[i].at, "structure of %s",
               t[i].s);
    is_int(breaks("[\"\0\"]", 5), 2, "NUL in a string");
    buf_init(&b, BUF_MESSAGE);
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_putc(&b, '[');
    is_int(breaks(b.p, b.n), -1, "as deep as JSON may be");
    buf_putc(&b, '[');
    is_int(breaks(b.p, b.n), JSON_DEPTH_MAX, "and no deeper");
    buf_release(&b);
}

/* Bytes of a string that need not be fed. */
static void test_plain(void)
{
    struct jsonscan js;

    jsonscan_init(&js);
    is_int(jsonscan_plain(&js, "a", 1), 0, "outside of strings none");
    jsonscan_byte(&js, '"');
    is_int(jsonscan_plain(&js, "ab\\", 3), 2, "up to a backslash");
    is_int(jsonscan_plain(&js, "ab\"", 3), 2, "up to a quote");
    is_int(jsonscan_plain(&js, "ab\n", 3), 2, "up to a control character");
    is_int(jsonscan_plain(&js, "\xc3\xa4\x7f", 3), 3, "all others");
    jsonscan_byte(&js, '\\');
    is_int(jsonscan_plain(&js, "n", 1), 0, "none behind a backslash");
}

/* The events up to the end, as letters; a name or id that cannot be used as
 * it is written in lower case. Behind arguments + says that the id is known. */
static void events(const char *s, const char *want)
{
    char got[64] = "";
    struct callread r;
    enum cr_event e;
    size_t pos = 0, n = 0;

    callread_init(&r);
    do {
        e = callread_step(&r, s, strlen(s), &pos);
        got[n++] = e == CR_KEY    ? 'K'
                   : e == CR_NAME ? (r.has_name ? 'N' : 'n')
                   : e == CR_ID   ? (r.has_id ? 'D' : 'd')
                   : e == CR_ARGS ? (r.has_name ? 'A' : 'a')
                   : e == CR_ITEM ? 'I'
                   : e == CR_END  ? 'E'
                   : e == CR_BAD  ? '!'
                                  : '.';
        if (e == CR_ARGS && r.has_id)
            got[n++] = '+';
    } while (e != CR_MORE && e != CR_END && e != CR_BAD);
    is_str(got, want, "events of %s", s);
}

static void test_calls(void)
{
    events("{\"name\":\"f\",\"id\":\"1\",\"arguments\":{\"name\":\"x\"}}", "NDA+E");
    events(" {\"parameters\":{},\"name\":\"f\"}", "aNE");
    events("{\"name\":\"\\u0066\",\"id\":\"\\u0031\",\"arguments\":{}}", "ndaE");
    events("{\"name\":\"\",\"id\":\"\",\"arguments\":{}}", "ndaE");
    events("{\"name\":\"f\",\"arguments\":[1]}", "NE");
    events("{\"name\":\"f\",\"arguments\":[{}]}", "NE");
    events("{\"type\":\"function\",\"function\":{\"name\":\"f\"}}", "E");
    events("{\"city\":1}", "KE");
    events("[{\"name\":\"f\",\"id\":\"1\"},{\"arguments\":{}}]", "NDIaIE");
    events("[{\"name\":\"f\",\"id\":\"1\"},{\"name\":\"g\",\"arguments\":{}}]",
           "NDINAIE");
    events("[{\"name\":\"f\",\"arguments\":{}} , {\"name\":\"g\"}]", "NAINIE");
    events("[1", "!");
    events("[\"a\"", "!");
    events("[[", "!");
    events("\"name\"", "!");
    events("1", "!");
    events("{\"name\"", ".");
}

/* The arguments that go out for the text of an object, and how much of the
 * text that is. */
static void args(const struct tools *tools, const char *s, bool bad,
                 const char *want, size_t used)
{
    struct jsonargs a;
    struct calls c;
    struct tool_call *call;
    enum jsonargs_step step;
    size_t took;

    calls_init(&c, CALLS_MAX, 1);
    call = calls_add(&c, NULL, 0, "f", 1);
    BUG_ON(!call);
    jsonargs_init(&a);
    jsonargs_open(&a, tools, call);
    step = jsonargs_feed(&a, s, strlen(s), &took);
    buf_puts(&call->args, "");
    ok(step == (bad ? ARGS_BAD : ARGS_DONE) && took == used &&
           !strcmp(call->args.p ? call->args.p : "", want),
       "arguments of %s: %s, %zu", s, call->args.p, took);
    jsonargs_release(&a);
    calls_release(&c);
}

/* What one object left unfinished does not reach into the next. */
static void test_args_again(const struct tools *tools)
{
    static const char *const cut[] = {"{\"n", "{\"n\":\"1", "{\"n\":"};
    static const char next[] = "{\"s\":\"2\"}";

    for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
        struct jsonargs a;
        struct calls c;
        struct tool_call *first, *second;
        size_t took;

        calls_init(&c, CALLS_MAX, 1);
        first = calls_add(&c, NULL, 0, "f", 1);
        second = calls_add(&c, NULL, 0, "f", 1);
        BUG_ON(!first || !second);
        jsonargs_init(&a);
        jsonargs_open(&a, tools, first);
        jsonargs_feed(&a, cut[i], strlen(cut[i]), &took);
        jsonargs_open(&a, tools, second);
        jsonargs_feed(&a, next, strlen(next), &took);
        is_str(second->args.n ? second->args.p : "", next,
               "arguments behind %s", cut[i]);
        jsonargs_release(&a);
        calls_release(&c);
    }
}

static void test_args(void)
{
    struct tools *tools = calls_t_tools(
        "[{\"name\":\"f\",\"parameters\":{\"properties\":{"
        "\"n\":{\"type\":\"integer\"},\"b\":{\"type\":\"boolean\"}}}}]");

    args(tools, " \n{\"n\":\"1\"} x", false, "{\"n\":1}", 11);
    args(tools, "{\"n\":\"1\",\"s\":\"2\"}", false, "{\"n\":1,\"s\":\"2\"}", 17);
    args(tools, "{\"o\":{\"n\":\"1\"}}", false, "{\"o\":{\"n\":\"1\"}}", 15);
    args(tools, "{\"o\":[\"n\",\"1\"]}", false, "{\"o\":[\"n\",\"1\"]}", 15);
    args(tools, "{\"\\u006e\":\"1\"}", false, "{\"\\u006e\":1}", 14);
    args(tools, "{\"n\":\"\\u0031\"}", false, "{\"n\":1}", 14);
    args(tools, "{\"b\":\"True\",\"n\":\"x\"}", false,
         "{\"b\":true,\"n\":\"x\"}", 20);
    args(tools, "{\"n\":1.0}", false, "{\"n\":1.0}", 9);
    args(tools, "[1]", true, "", 0);
    args(tools, "\"n\"", true, "", 0);
    args(tools, "1", true, "", 0);
    args(tools, "{\"s\":1]", true, "{\"s\":1", 6);
    test_args_again(tools);
    tools_free(tools);
}

int main(void)
{
    test_scan();
    test_plain();
    test_calls();
    test_args();
    return done();
}
