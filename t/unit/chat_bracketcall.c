/*
 * Calls behind [TOOL_CALLS]: the list of JSON objects of Mistral's v3
 * tokenizer, and name, id and arguments of its v11 and v13 (mistral-common).
 */
#include "t/lib/calls_t.h"

#define TC "[TOOL_CALLS]"

static struct tools *tools;
static struct dialect_t mistral, bare, cut, ids;

static void test_list(void)
{
    reads(&mistral, "a list",
          TC "[{\"name\": \"f\", \"arguments\": {\"a\": \"x\", \"n\": \"3\"}}]",
          "", "f", "{\"a\": \"x\", \"n\": 3}", none);
    reads(&mistral, "text before, blanks between",
          "Hm. " TC " [{\"name\":\"f\",\"arguments\":{}} , "
          "{\"name\":\"g\",\"arguments\":\"{}\"}]", "Hm. ", "f", "{}", "g",
          "{}", none);
    reads(&mistral, "one object", TC "{\"name\":\"g\"}", "", "g", "{}", none);
    reads(&mistral, "text behind it", TC "[{\"name\":\"g\"}] so", " so", "g",
          "{}", none);
    reads(&mistral, "a marker in a string",
          TC "[{\"name\":\"f\",\"arguments\":{\"a\":\"" TC "[ARGS]\"}}]", "",
          "f", "{\"a\": \"" TC "[ARGS]\"}", none);
    reads(&mistral, "a list that breaks off", TC "[{\"name\":\"g\"}, {\"na",
          "", "g", "{}", none);
    reads(&mistral, "an item that is none", TC "[{\"name\":\"g\"}, x and", " and",
          "g", "{}", none);
    reads(&mistral, "a character that is none",
          TC "[{\"name\":\"g\"}\xc3\xa4\xc3\xb6", "\xc3\xb6", "g", "{}", none);
    reads(&mistral, "a marker in a string behind an id",
          TC "[{\"name\":\"f\",\"id\":\"123456789\",\"arguments\":{\"a\":\""
          TC "[ARGS]\"}}]", "", "f", "{\"a\":\"" TC "[ARGS]\"}", none);
    credited(&mistral, "a list with ids", TC "[{\"name\":\"f\",\"id\":\"a\","
             "\"arguments\":{\"n\":\"1\"}},{\"name\":\"g\",\"id\":\"b\","
             "\"arguments\":{}}]", 2);
    stays(&mistral, "no calls in it", TC "[1, 2]");
    stays(&mistral, "an empty list", TC "[]");
    stays(&mistral, "no JSON", TC "[{\"name\": f}]");
    dialect_is(&ids, TC "[{\"name\":\"f\",\"arguments\":{\"n\":1},\"id\":"
               "\"abcdefghi\"},{\"id\":\"123456789\",\"name\":\"g\","
               "\"arguments\":{\"b\":1}}]",
               "{\"content\":\"\",\"calls\":[{\"id\":\"abcdefghi\",\"name\":"
               "\"f\",\"arguments\":\"{\\\"n\\\": 1}\"},{\"id\":\"123456789\","
               "\"name\":\"g\",\"arguments\":\"{\\\"b\\\":1}\"}]}",
               "ids of the model are kept");
}

static void test_names(void)
{
    reads(&mistral, "name and arguments",
          TC "f[ARGS]{\"a\": \"x\", \"n\": \"3\"}", "", "f",
          "{\"a\": \"x\", \"n\": 3}", none);
    reads(&mistral, "several",
          TC "f[ARGS]{\"n\": 1}" TC "g[ARGS]{}" TC "f[ARGS]{}", "", "f",
          "{\"n\": 1}", "g", "{}", "f", "{}", none);
    reads(&mistral, "without a marker between", TC "f[ARGS]{}g[ARGS]{\"b\":1}",
          "", "f", "{}", "g", "{\"b\":1}", none);
    reads(&mistral, "the same name", TC "f[ARGS]{\"n\":1}" TC "f[ARGS]"
          "{\"n\":2}", "", "f", "{\"n\":1}", "f", "{\"n\": 2}", none);
    reads(&mistral, "without [ARGS]", TC "f{\"n\":1}", "", "f", "{\"n\":1}",
          none);
    reads(&mistral, "nothing behind [ARGS]", TC "g[ARGS]", "", "g", "{}",
          none);
    reads(&mistral, "text behind a call", TC "g[ARGS]{} Done. So", " Done. So",
          "g", "{}", none);
    reads(&mistral, "a word behind a call", TC "g[ARGS]{}\nDone", "\nDone",
          "g", "{}", none);
    reads(&mistral, "a marker in a string", TC "f[ARGS]{\"a\":\"" TC "x[ARGS]"
          "\"}", "", "f", "{\"a\":\"" TC "x[ARGS]\"}", none);
    stays(&mistral, "a sentence", TC "I would call f");
    stays(&mistral, "arguments that are no object", TC "f[ARGS][1]");
    stays(&mistral, "arguments that break off", TC "f[ARGS]{\"a\":");
    stays(&cut, "cut", TC "f[ARGS]");
    stays(&mistral, "markers outside", "a [ARGS] b [CALL_ID] c [TOOL");
    stays(&mistral, "no name", TC "[ARGS]{}");
    stays(&mistral, "two words", TC "a f[ARGS]{}");
    is_int(content_after(&mistral, TC "I w"), sizeof(TC) - 1 + 3,
           "the second word tells");
    reads(&mistral, "a word and JSON behind a call", TC "g[ARGS]{}f{\"n\":1}",
          "f{\"n\":1}", "g", "{}", none);
    reads(&mistral, "a call that another one cuts", TC "f[ARGS]{\"a\":" TC
          "g[ARGS]{}", TC "f[ARGS]{\"a\":", "g", "{}", none);
    for (int over = 0; over < 2; over++) {
        char s[400] = TC "f[CALL_ID]", n[400] = TC;

        memset(s + strlen(s), 'x', 256 + over);
        memset(n + strlen(n), 'x', 256 + over);
        is_int(content_after(&mistral, s), over ? strlen(s) : 0,
               "an id of %d bytes", 256 + over);
        is_int(content_after(&mistral, n), over ? strlen(n) : 0,
               "a name of %d bytes", 256 + over);
    }
    credited(&mistral, "several calls", TC "f[ARGS]{\"n\": \"1\"}" TC
             "g[CALL_ID]123456789[ARGS]{}" TC "f[ARGS]{}", 3);
    credited(&mistral, "nothing behind [ARGS]", TC "g[ARGS] ", 1);
    reads(&bare, "without tools all is text", TC "f[ARGS]{\"n\":\"1\"}", "",
          "f", "{\"n\":\"1\"}", none);
    dialect_is(&ids, TC "f[CALL_ID]abcdefghi[ARGS]{\"n\":1}" TC
               "g[CALL_ID]123456789[ARGS]{}",
               "{\"content\":\"\",\"calls\":[{\"id\":\"abcdefghi\",\"name\":"
               "\"f\",\"arguments\":\"{\\\"n\\\":1}\"},{\"id\":\"123456789\","
               "\"name\":\"g\",\"arguments\":\"{}\"}]}",
               "ids of the model are kept");
}

static void test_stream(void)
{
    static const char s[] = TC "f[ARGS]{\"a\":\"long";
    struct dialect_run *r = mem_new(struct dialect_run);

    dialect_run_open(r, &mistral);
    dialect_run_feed(r, s, sizeof(s) - 1);
    ok(r->calls.n == 1 && !strcmp(r->calls.p[0]->args.p, "{\"a\":\"long"),
       "arguments are streamed as they are written");
    is_int(strlen(r->calls.p[0]->id), 9, "an id of nine characters is made");
    dialect_run_close(r);
    free(r);
}

static void test_big(void)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    struct buf b;

    buf_init(&b, BUF_FILE);
    dialect_run_open(r, &mistral);
    buf_puts(&b, TC);
    for (size_t i = 0; i < 20000; i++)
        buf_puts(&b, "g[ARGS]{\"n\":1}");
    dialect_run_feed(r, b.p, b.n);
    dialect_run_feed(r, TC "f[ARGS]{\"a\":\"", 25);
    for (size_t i = 0; i < 100000; i++)
        dialect_run_feed(r, "abcd", 4);
    dialect_run_feed(r, "\"}", 2);
    dialect_run_end(r);
    is_int(r->calls.shown, 2, "400 kB of arguments, 20,000 echoes");
    dialect_run_close(r);
    free(r);
    buf_release(&b);
}

int main(void)
{
    tools = calls_t_tools("[{\"name\":\"f\",\"parameters\":{\"properties\":{"
                          "\"n\":{\"type\":\"integer\"}}}},"
                          "{\"name\":\"g\"}]");
    mistral = (struct dialect_t){.d = &dialect_mistral, .tools = tools};
    bare = cut = ids = mistral;
    bare.tools = NULL;
    cut.cut = true;
    ids.ids = true;
    test_list();
    test_names();
    test_stream();
    test_big();
    tools_free(tools);
    return done();
}
