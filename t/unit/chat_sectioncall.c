/*
 * Calls in the section of five tokens, in both forms: texts are what the
 * templates of t/data/chat/templates write (deepseek-ai-DeepSeek-V3.1,
 * deepseek-ai-DeepSeek-R1-Distill-Qwen-32B; rendered by @huggingface/jinja
 * in t/data/chat/expected), and what breaks them.
 */
#include "t/lib/calls_t.h"

#define NAMED(name) "<\xef\xbd\x9c" name "\xef\xbd\x9c>"
#define LOW "\xe2\x96\x81"
#define SB NAMED("tool" LOW "calls" LOW "begin")
#define SE NAMED("tool" LOW "calls" LOW "end")
#define CB NAMED("tool" LOW "call" LOW "begin")
#define CE NAMED("tool" LOW "call" LOW "end")
#define SEP NAMED("tool" LOW "sep")
#define OB NAMED("tool" LOW "outputs" LOW "begin")
#define O1 NAMED("tool" LOW "output" LOW "begin")

/* a call of each form */
#define FENCED(name, args) \
    CB "function" SEP name "\n```json\n" args "\n```" CE
#define PLAIN(name, args) CB name SEP args CE

static struct tools *tools;
static struct dialect_t form, bare, cut, one;

static void test_fenced(void)
{
    reads(&form, "a call", SB FENCED("f", "{\"a\": \"x\", \"n\": \"3\"}") SE,
          "", "f", "{\"a\": \"x\", \"n\": 3}", none);
    reads(&form, "several, text before",
          "Hm.\n\n" SB FENCED("f", "{\"n\": 1}") "\n" FENCED("g", "{}") "\n"
          FENCED("f", "{\"a\": \"\"}") SE, "Hm.\n\n", "f", "{\"n\": 1}", "g",
          "{}", "f", "{\"a\": \"\"}", none);
    reads(&form, "of one name", SB FENCED("f", "{\"n\": \"1\"}") "\n"
          FENCED("f", "{\"n\": \"2\"}") SE, "", "f", "{\"n\": 1}", "f",
          "{\"n\": 2}", none);
    reads(&form, "the same again", SB FENCED("f", "{\"n\": 1}") "\n"
          FENCED("f", "{\"n\":1}") SE, "", "f", "{\"n\": 1}", none);
    reads(&form, "a later section without its begin",
          SB FENCED("g", "{}") SE "\n" FENCED("f", "{\"n\": 1}") SE, "", "g",
          "{}", "f", "{\"n\": 1}", none);
    reads(&form, "over several lines, blanks",
          "\n" SB "\n" CB "function" SEP "f\n```json\n{\n  \"a\": \"x\"\n}\n"
          "```\n" CE "\n" SE "\n", "", "f", "{\n  \"a\": \"x\"\n}", none);
    reads(&form, "without a fence", SB CB "function" SEP "f\n{\"n\":1}\n" CE SE,
          "", "f", "{\"n\":1}", none);
    reads(&form, "a fence of another word", SB CB "function" SEP
          "f\n```JSON {\"n\":1}```" CE SE, "", "f", "{\"n\":1}", none);
    reads(&form, "text behind it", SB FENCED("g", "{}") SE " So.", " So.", "g",
          "{}", none);
    reads(&form, "fences in a string",
          SB FENCED("f", "{\"a\": \"```json\\n{}\\n```\"}") SE, "", "f",
          "{\"a\": \"```json\\n{}\\n```\"}", none);
    reads(&form, "no arguments", SB CB "function" SEP "g" CE "\n" CB "function"
          SEP "f\n```json\n```" CE SE, "", "g", "{}", "f", "{}", none);
}

static void test_plain(void)
{
    reads(&form, "a call", SB PLAIN("f", "{\"a\": \"x\", \"n\": \"3\"}") SE,
          "", "f", "{\"a\": \"x\", \"n\": 3}", none);
    reads(&form, "several, text before",
          "Hm." SB PLAIN("f", "{\"n\": 1}") PLAIN("g", "{}")
          PLAIN("f", "{\"a\": \"\"}") SE, "Hm.", "f", "{\"n\": 1}", "g", "{}",
          "f", "{\"a\": \"\"}", none);
    reads(&form, "apart by new lines", SB PLAIN("f", "{}") "\n" PLAIN("g", "{}")
          "\n" SE, "", "f", "{}", "g", "{}", none);
    reads(&form, "blanks around the parts", SB CB " f\n" SEP "\n{\"n\":1} \n"
          CE SE, "", "f", "{\"n\":1}", none);
    reads(&form, "a fence all the same", SB CB "f" SEP "```json\n{\"n\":1}\n"
          "```" CE SE, "", "f", "{\"n\":1}", none);
    reads(&form, "a tool of that name", SB PLAIN("function", "{\"n\":\"1\"}")
          SE, "", "function", "{\"n\":1}", none);
    reads(&form, "no arguments", SB PLAIN("g", "") SE, "", "g", "{}", none);
    reads(&form, "markers in a string", SB PLAIN("f", "{\"a\": \"" CE SE SB CB
          SEP "\"}") SE, "", "f", "{\"a\": \"" CE SE SB CB SEP "\"}", none);
    reads(&form, "two sections", SB PLAIN("f", "{}") SE "and" SB
          PLAIN("g", "{}") SE, "and", "f", "{}", "g", "{}", none);
    reads(&bare, "without tools nothing has a type",
          SB PLAIN("f", "{\"n\":\"1\"}") SE, "", "f", "{\"n\":\"1\"}", none);
    reads(&one, "one call at most", SB PLAIN("f", "{}") PLAIN("g", "{}") SE,
          "", "f", "{}", none);
}

/* Markers that were forgotten. */
static void test_missing(void)
{
    reads(&form, "no section", PLAIN("f", "{}") "\n" FENCED("g", "{}"), "", "f",
          "{}", "g", "{}", none);
    reads(&form, "the ends", SB CB "f" SEP "{\"n\":1}" CB "g" SEP "{}", "", "f",
          "{\"n\":1}", "g", "{}", none);
    reads(&form, "the fence's end", SB CB "function" SEP "f\n```json\n{}" SE,
          "", "f", "{}", none);
    reads(&form, "all but the name", SB CB "g" SEP, "", "g", "{}", none);
    reads(&form, "and of the other form", SB CB "function" SEP "g", "", "g",
          "{}", none);
    reads(&form, "a second begin", SB CB "f" SEP "{}" SB PLAIN("g", "{}") SE,
          "", "f", "{}", "g", "{}", none);
}

static void test_broken(void)
{
    stays(&form, "a sentence", "the token " SB " begins a section");
    stays(&form, "an empty section", SB SE);
    stays(&form, "a section that never was", "a" SB);
    stays(&form, "markers out of place", "a" SEP CE " b" SE "c" OB O1);
    stays(&form, "no name", SB CB SEP "{}" CE SE);
    stays(&form, "nor there", SB CB "function" SEP CE SE);
    stays(&form, "a name of two words", SB PLAIN("f g", "{}") SE);
    stays(&form, "no separator", SB CB "f{}" CE SE);
    stays(&form, "arguments that are no object", SB PLAIN("f", "[1]") SE);
    stays(&form, "a word for arguments", SB PLAIN("f", "x") SE);
    stays(&form, "no JSON", SB PLAIN("f", "{a}") SE);
    stays(&form, "a number that is none", SB PLAIN("f", "{\"a\": 1.2.3}") SE);
    stays(&form, "half an object", SB PLAIN("f", "{\"a\": 1") SE);
    stays(&form, "and the turn's end", SB CB "f" SEP "{\"a\": \"x");
    stays(&form, "half a fence", SB CB "f" SEP "``{}" CE SE);
    reads(&form, "one of two", " " SB PLAIN("f", "{}") " " PLAIN("g", "{") SE,
          " " CB "g" SEP "{" CE, "f", "{}", none);
    reads(&form, "the other", SB PLAIN("g", "{") "\n" PLAIN("f", "{}") SE,
          SB CB "g" SEP "{" CE "\n", "f", "{}", none);
    reads(&form, "text in a section", SB PLAIN("f", "{}") " and " PLAIN("g",
          "{}") " so" SE "!", " and  so!", "f", "{}", "g", "{}", none);
    reads(&form, "text behind the arguments", SB CB "f" SEP "{} x ```" CE SE,
          " x ```", "f", "{}", none);
}

static void test_cut(void)
{
#define SHOWS(name, s, rest) \
    dialect_is(&cut, s, "{\"content\":\"\"" rest "}", name)
#define OPEN(name, args) \
    "{\"name\":\"" name "\",\"arguments\":\"" args "\",\"open\":true}"
    SHOWS("cut in the arguments", SB CB "f" SEP "{\"a\": \"x",
          ",\"calls\":[" OPEN("f", "{\\\"a\\\": \\\"x") "]");
    SHOWS("in a value that has a type", SB CB "f" SEP "{\"n\": \"1",
          ",\"calls\":[" OPEN("f", "{\\\"n\\\": ") "]");
    SHOWS("before them", SB CB "function" SEP "f\n```js",
          ",\"calls\":[" OPEN("f", "") "]");
    SHOWS("in a second call of the name", SB PLAIN("f", "{}") CB "f" SEP
          "{\"n\": \"1\", ",
          ",\"calls\":[{\"name\":\"f\",\"arguments\":\"{}\"},"
          OPEN("f", "{\\\"n\\\": 1, ") "]");
    SHOWS("behind them", SB CB "function" SEP "f\n```json\n{}\n``",
          ",\"calls\":[{\"name\":\"f\",\"arguments\":\"{}\"}]");
    SHOWS("behind a call", SB PLAIN("f", "{}") "\n",
          ",\"calls\":[{\"name\":\"f\",\"arguments\":\"{}\"}]");
    stays(&cut, "in the name", SB CB "function" SEP "f");
    stays(&cut, "in the first word", SB CB "f");
    stays(&cut, "in a marker", SB "<\xef\xbd\x9c" "tool");
#undef SHOWS
#undef OPEN
}

/* Results are not the model's to write. */
static void test_results(void)
{
#define G ",\"calls\":[{\"name\":\"g\",\"arguments\":\"{}\"}],\"done\":true}"
    dialect_is(&form, SB PLAIN("g", "{}") SE O1 "12 degrees",
               "{\"content\":\"\"" G, "a result behind calls ends the turn");
    dialect_is(&form, "x" SB FENCED("g", "{}") OB O1 "12 degrees",
               "{\"content\":\"x\"" G, "and in the section");
    dialect_is(&form, SB CB "g" SEP "{}\n" OB, "{\"content\":\"\"" G,
               "and in a call");
#undef G
}

static void test_pieces(void)
{
    static const struct dialect_piece list[] = {
        {NULL, "see " SB}, {SB, NULL}, {CB, NULL}, {NULL, "f"}, {SEP, NULL},
        {NULL, "{\"a\":\"" CE}, {NULL, "\"}"}, {CE, NULL}, {SE, NULL},
        {NULL, NULL},
    };
    char *got = dialect_pieces(&form, list);

    is_str(got, "{\"content\":\"see " SB "\",\"calls\":[{\"name\":\"f\","
           "\"arguments\":\"{\\\"a\\\":\\\"" CE "\\\"}\"}]}",
           "by id, look-alikes are text");
    free(got);
}

static void test_stream(void)
{
    static const char head[] = SB CB "f" SEP, more[] = "{\"a\":\"long";
    static const char fenced[] = SB CB "function" SEP "f\n";
    struct dialect_run *r = mem_new(struct dialect_run);

    dialect_run_open(r, &form);
    dialect_run_feed(r, head, sizeof(head) - 1);
    ok(r->calls.n == 1 && !strcmp(r->calls.p[0]->name, "f"),
       "a call is announced when its name is complete");
    dialect_run_feed(r, more, sizeof(more) - 1);
    ok(!strcmp(r->calls.p[0]->args.p, "{\"a\":\"long"),
       "arguments are streamed as they are written");
    is_int(strlen(r->calls.p[0]->id), 29, "an id is made");
    dialect_run_close(r);
    dialect_run_open(r, &form);
    dialect_run_feed(r, fenced, sizeof(fenced) - 2);
    is_int(r->calls.n, 0, "of the other form: the name may go on");
    dialect_run_feed(r, "\n", 1);
    is_int(r->calls.n, 1, "now it is complete");
    dialect_run_close(r);
    free(r);
}

static void test_big(void)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    static const char call[] = PLAIN("g", "{\"n\":1}");
    static const char head[] = CB "f" SEP "{\"a\":\"";

    dialect_run_open(r, &form);
    for (size_t i = 0; i < 20000; i++)
        dialect_run_feed(r, call, sizeof(call) - 1);
    dialect_run_feed(r, head, sizeof(head) - 1);
    for (size_t i = 0; i < 100000; i++)
        dialect_run_feed(r, "abcd", 4);
    dialect_run_feed(r, "\"}", 2);
    dialect_run_end(r);
    is_int(r->calls.shown, 2, "400 kB of arguments, 20,000 echoes");
    dialect_run_close(r);
    free(r);
}

int main(void)
{
    tools = calls_t_tools("[{\"name\":\"f\",\"parameters\":{\"properties\":{"
                          "\"n\":{\"type\":\"integer\"}}}},{\"name\":\"g\"},"
                          "{\"name\":\"function\",\"parameters\":{"
                          "\"properties\":{\"n\":{\"type\":\"integer\"}}}}]");
    form = (struct dialect_t){.d = &dialect_deepseek, .tools = tools};
    bare = cut = one = form;
    bare.tools = NULL;
    cut.cut = true;
    one.limit = 1;
    test_fenced();
    test_plain();
    test_missing();
    test_broken();
    test_cut();
    test_results();
    test_pieces();
    test_stream();
    test_big();
    tools_free(tools);
    return done();
}
