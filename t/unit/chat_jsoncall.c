/*
 * Calls as JSON answers, behind <|python_tag|>, and in function tags: the
 * forms of Llama 3.1 and 3.2 as Meta's prompt format pages show them.
 */
#include "t/lib/calls_t.h"

#define PY "<|python_tag|>"
#define CALL "{\"name\": \"f\", \"parameters\": {\"a\": \"x\", \"n\": \"3\"}}"
#define ARGS "{\"a\": \"x\", \"n\": 3}"
#define OTHER "{\"name\": \"g\", \"arguments\": {}}"

static struct tools *tools;
static struct dialect_t llama, bare, cut;

static void test_whole(void)
{
    reads(&llama, "a bare object", CALL, "", "f", ARGS, none);
    reads(&llama, "with blanks and the end of a turn",
          "\n" CALL " \n", "", "f", ARGS, none);
    reads(&llama, "behind the tag", PY CALL, "", "f", ARGS, none);
    reads(&llama, "text before the tag", "Let me see. " PY CALL,
          "Let me see. ", "f", ARGS, none);
    reads(&llama, "two with ;", PY CALL "; " OTHER, "", "f", ARGS, "g", "{}",
          none);
    reads(&llama, "bare ones with ;", CALL ";" OTHER ";", "", "f", ARGS, "g",
          "{}", none);
    reads(&llama, "two tags", PY CALL PY OTHER, "", "f", ARGS, "g", "{}",
          none);
    reads(&llama, "a list", "[" CALL ", " OTHER "]", "", "f", ARGS, "g",
          "{}", none);
    reads(&llama, "the same name twice", CALL ";"
          "{\"name\":\"f\",\"parameters\":{\"a\":\"y\"}}", "", "f", ARGS, "f",
          "{\"a\": \"y\"}", none);
    reads(&llama, "an echo", CALL ";" CALL, "", "f", ARGS, none);
    reads(&llama, "the same name twice, then another: order kept",
          "[" CALL ",{\"name\":\"f\",\"parameters\":{}}," OTHER "]", "", "f",
          ARGS, "f", "{}", "g", "{}", none);
    credited(&llama, "a bare object", CALL, 1);
    credited(&llama, "two with ;", PY CALL "; " OTHER, 2);
    credited(&llama, "a list", "[" CALL ", " OTHER "]", 2);
    credited(&llama, "two tags", PY CALL PY OTHER, 2);
    stays(&llama, "a fence behind a call",
          CALL ";```json\n" OTHER "\n```");
    reads(&llama, "the tag in a string",
          "{\"name\":\"f\",\"parameters\":{\"a\":\"" PY "</function>\"}}", "",
          "f", "{\"a\":\"" PY "</function>\"}", none);
}

static void test_text(void)
{
    reads(&llama, "a program behind the tag", PY "print(1)", "print(1)",
          none);
    reads(&llama, "an unknown name behind the tag",
          PY "{\"name\": \"other\", \"parameters\": {}}",
          "{\"name\": \"other\", \"parameters\": {}}", none);
    reads(&llama, "something behind the call", CALL " and more",
          CALL " and more", none);
    stays(&llama, "JSON that is no call", "{\"city\": \"Rome\"}");
    stays(&llama, "no arguments", "{\"name\": \"f\"}");
    stays(&llama, "text", "2 < 3; <func");
    stays(&cut, "cut", CALL);
    stays(&bare, "no tools were offered", CALL);
    reads(&bare, "no tools, with the tag", PY CALL, CALL, none);
}

static void test_function(void)
{
    reads(&llama, "a function tag",
          "<function=f>{\"a\": \"x\", \"n\": \"3\"}</function>", "", "f", ARGS,
          none);
    reads(&llama, "text around it", "a <function=g>{}</function> b", "a  b",
          "g", "{}", none);
    reads(&llama, "two of them",
          "<function=g>{}</function>\n<function=f>{\"n\": 1}</function>",
          "\n", "g", "{}", "f", "{\"n\": 1}", none);
    reads(&llama, "the closer in a string",
          "<function=f>{\"a\": \"</function>\"}</function>", "", "f",
          "{\"a\": \"</function>\"}", none);
    reads(&llama, "closed by the end token", "<function=g>{}", "", "g", "{}",
          none);
    reads(&llama, "behind the tag too", PY "<function=g>{}</function>", "",
          "g", "{}", none);
    stays(&cut, "cut before its end", "<function=g>{}");
    stays(&llama, "an unknown function", "<function=no>{}</function>");
    reads(&llama, "a marker in a string",
          "<function=f>{\"a\": \"" PY "<function=g>\"}</function>", "", "f",
          "{\"a\": \"" PY "<function=g>\"}", none);
    reads(&llama, "a name that another function cuts",
          "<function=f<function=g>{}</function>", "<function=f", "g", "{}",
          none);
    credited(&llama, "two functions", "<function=f>{\"n\": \"3\"}</function>"
             "<function=g>{}</function>", 2);
    is_int(content_after(&llama, "<function=f>{} x"), 16,
           "text behind the arguments tells");
    is_int(content_after(&bare, PY "{"), 1, "without tools nothing is held");
    stays(&llama, "no JSON", "<function=f>x</function>");
    stays(&llama, "text behind the arguments", "<function=f>{} x</function>");
    stays(&llama, "no name", "<function=a b>{}</function>");
    stays(&llama, "half of the arguments", "<function=f>{\"a\":</function>");
    stays(&bare, "no tools", "<function=f>{}</function>");
}

static void test_done(void)
{
    char *got = dialect_text(&llama, CALL "<|eom_id|>more");

    is_str(got, "{\"content\":\"\",\"calls\":[{\"name\":\"f\",\"arguments\":"
           "\"{\\\"a\\\": \\\"x\\\", \\\"n\\\": 3}\"}],\"done\":true}",
           "the end of the message");
    free(got);
}

static void test_stream(void)
{
    static const char s[] = PY "{\"name\":\"f\",\"parameters\":{\"a\":\"long";
    struct dialect_run *r = mem_new(struct dialect_run);

    dialect_run_open(r, &llama);
    dialect_run_feed(r, s, sizeof(s) - 1);
    ok(r->calls.n == 1 && !strcmp(r->calls.p[0]->args.p, "{\"a\":\"long"),
       "arguments are streamed as they are written");
    ok(!strncmp(r->calls.p[0]->id, "call_", 5), "an id is made");
    dialect_run_close(r);
    free(r);
}

static void test_big(void)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    char name[300];

    memset(name, 'x', sizeof(name));
    memcpy(name, "<function=", 10);
    name[10 + 256] = '\0';
    is_int(content_after(&llama, name), 0, "a name of 256 bytes is held");
    name[10 + 256] = 'x';
    name[10 + 257] = '\0';
    is_int(content_after(&llama, name), 267, "a longer one tells");
    dialect_run_open(r, &llama);
    for (size_t i = 0; i < 20000; i++)
        dialect_run_feed(r, "<function=f>{\"n\":1}</function>", 30);
    dialect_run_feed(r, "<function=f>{\"a\":\"", 18);
    for (size_t i = 0; i < 100000; i++)
        dialect_run_feed(r, "abcd", 4);
    dialect_run_feed(r, "\"}</function>", 13);
    dialect_run_end(r);
    is_int(r->calls.shown, 2, "400 kB of arguments, 20,000 echoes");
    dialect_run_close(r);
    free(r);
}

int main(void)
{
    tools = calls_t_tools("[{\"name\":\"f\",\"parameters\":{\"properties\":{"
                          "\"n\":{\"type\":\"integer\"}}}},"
                          "{\"name\":\"g\"}]");
    llama = (struct dialect_t){.d = &dialect_llama3, .tools = tools};
    bare = cut = llama;
    bare.tools = NULL;
    cut.cut = true;
    test_whole();
    test_text();
    test_function();
    test_done();
    test_stream();
    test_big();
    tools_free(tools);
    return done();
}
