/*
 * XTML replies: checks 15-31 of spec waste.md 7.3 by their numbers; round
 * trips of what the renderer writes, for every cut; arguments that stream.
 */
#include "chat/reply.h"
#include "t/lib/dialect_t.h"
#include "t/lib/format_t.h"

static const struct dialect_t think = {.d = &dialect_xtml, .think_open = true};
static const struct dialect_t plain = {.d = &dialect_xtml};
static struct format *xtml;

#define O(x) "<|open|>" x "<|sep|>"
#define C(x) "<|close|>" x "<|sep|>"
#define END "<|end_of_msg|>"
#define ANSWER C("think") O("response")
#define CALLS C("think") O("response") C("response") O("tools")
#define CALL(n, inner) O("call tool=\"" n "\" index=\"1\"") inner C("call")
#define ARG(k, t, v) O("argument key=\"" k "\" type=\"" t "\"") v C("argument")

/* --- 15, 16, 17: round trips --------------------------------------------- */

/* What the reader must give for one assistant message. */
static char *expected(const struct chat_msg *m, bool thinking)
{
    struct buf b;

    buf_init(&b, BUF_ANSWER);
    buf_putc(&b, '{');
    if (thinking && m->reasoning.n)
        dialect_run_member(&b, "reasoning", m->reasoning.s, m->reasoning.n);
    dialect_run_member(&b, "content", m->content.s, m->content.n);
    for (size_t i = 0; i < m->n_calls; i++) {
        const struct chat_call *c = &m->calls[i];
        struct buf args;

        buf_init(&args, BUF_ANSWER);
        if (c->args)
            jsontext(&args, c->args, JT_SPACED);
        else if (c->raw.n)
            buf_add(&args, c->raw.s, c->raw.n);
        else
            buf_puts(&args, "{}");
        buf_puts(&b, i ? ",{" : ",\"calls\":[{");
        dialect_run_member(&b, "name", c->name.s, c->name.n);
        dialect_run_member(&b, "arguments", args.p, args.n);
        buf_putc(&b, '}');
        buf_release(&args);
    }
    buf_puts(&b, m->n_calls ? "],\"done\":true}" : ",\"done\":true}");
    return b.p;
}

/* An assistant message, rendered, without the head that the generation
 * prompt would have written, reads back as itself. */
static void round_trip(const char *message, bool thinking, const char *name)
{
    struct format_t t;
    struct buf b;
    char *all, *want;
    const char *head = thinking ? O("think") : O("response"), *from;

    buf_init(&b, BUF_ANSWER);
    buf_printf(&b, "{\"thinking\":%s,\"add_generation_prompt\":false,"
                   "\"messages\":[%s]}", thinking ? "true" : "false", message);
    format_t_text(&t, xtml, b.p);
    if (t.st) {
        ok(false, "%s: %s %s", name, t.err.where, t.err.text);
        format_t_close(&t);
        buf_release(&b);
        return;
    }
    all = format_t_shown(&t, false);
    from = strstr(all, head) + strlen(head);
    want = expected(t.req.messages, thinking);
    dialect_is(thinking ? &think : &plain, from, want, name);
    free(want);
    free(all);
    format_t_close(&t);
    buf_release(&b);
}

#define A(rest) "{\"role\":\"assistant\"," rest "}"
#define FN(name, args) \
    "{\"function\":{\"name\":\"" name "\",\"arguments\":\"" args "\"}}"

static void test_round_trips(void)
{
    round_trip(A("\"content\":\"Rome.\""), true, "waste 7.3/15-17: plain");
    round_trip(A("\"content\":\"Rome.\",\"reasoning_content\":\" hm \\n\""),
               true, "waste 7.3/15-17: reasoning");
    round_trip(A("\"content\":\"Rome.\""), false,
               "waste 7.3/15-17: no thinking");
    round_trip(A("\"content\":\"\""), true, "waste 7.3/15-17: empty");
    round_trip(A("\"content\":null,\"tool_calls\":["
                 FN("f", "{\\\"s\\\": \\\"te<x>t & \\\\\\\"q\\\\\\\"\\\\n\\\", "
                         "\\\"i\\\": 3, \\\"x\\\": 1.5, \\\"t\\\": true, "
                         "\\\"b\\\": false, \\\"n\\\": null, \\\"o\\\": "
                         "{\\\"k\\\": [\\\"v\\\"]}, \\\"a\\\": [1, null], "
                         "\\\"e\\\": \\\"\\\", \\\"num\\\": \\\"12\\\"}") "]"),
               true, "waste 7.3/15-17: all argument types");
    round_trip(A("\"content\":\"I look.\",\"tool_calls\":["
                 FN("f", "{\\\"a\\\": 1}") "," FN("g", "") ","
                 FN("f", "{\\\"a\\\": 2}") "]"),
               true, "waste 7.3/15-17: parallel calls");
    round_trip(A("\"content\":null,\"tool_calls\":["
                 FN("f", "{\\\"city\\\": \\\"Par") "]"),
               true, "waste 7.3/15-17: broken JSON");
    round_trip(A("\"content\":\"two\\nlines \xf0\x9f\x98\x80 <|x|> <\","
                 "\"reasoning_content\":\"\xe6\xbc\xa2\\n\\n\""),
               true, "waste 7.3/15-17: lines and characters");
    round_trip(A("\"content\":\"x\",\"tool_calls\":["
                 FN("a \\\"b\\\" &quot; c=d", "{\\\"k \\\\\\\"=&amp;\\\": "
                                              "\\\"v\\\"}") "]"),
               true, "waste 7.3/15-17: names and keys that need escapes");
    round_trip(A("\"content\":\"x\",\"tool_calls\":["
                 FN("f", "{\\\"n\\\": 12345678901234567890123, \\\"e\\\": "
                         "1000.0, \\\"z\\\": 1.10}") "]"),
               true, "waste 7.3/15-17: numbers keep their digits");
}

/* --- 18 and on ----------------------------------------------------------- */

static void test_held_back(void)
{
    struct dialect_run *r = mem_new(struct dialect_run);

    dialect_run_open(r, &think);
    dialect_run_feed(r, "thinking<|clo", 13);
    is_str(r->reasoning.p, "thinking", "waste 7.3/18: a tail that may be a "
                                       "marker is held");
    dialect_run_feed(r, "se|>think<|sep|><|open|>response<|sep|>answer", 45);
    is_str(r->reasoning.p, "thinking", "waste 7.3/18: it was one");
    is_str(r->content.p, "answer", "waste 7.3/18: and the answer begins");
    dialect_run_end(r);
    dialect_run_close(r);
    free(r);
}

/* One test point: markers by id, the rest by its characters. */
static void pieces(const struct dialect_t *t, const struct dialect_piece *list,
                   const char *want, const char *name)
{
    char *got = dialect_pieces(t, list);

    is_str(got, want, "%s", name);
    free(got);
}

#define T(s) {NULL, s}
#define M(s) {s, NULL}
#define HEAD(s) M("<|open|>"), T(s), M("<|sep|>")
#define TAIL(s) M("<|close|>"), T(s), M("<|sep|>")

static void test_ids(void)
{
    pieces(&plain, (struct dialect_piece[]){T("The marker is "), T("<|sep|>"),
                                            T(" in K3."), {0}},
           "{\"content\":\"The marker is <|sep|> in K3.\"}",
           "waste 7.3/19: a spelled marker is text");
    pieces(&think,
           (struct dialect_piece[]){
               TAIL("think"), HEAD("tools"), HEAD("call tool=\"f\""),
               HEAD("argument key=\"a\" type=\"string\""), T("not a real "),
               T("<|sep|>"), T(" marker"), TAIL("argument"), TAIL("call"),
               TAIL("tools"), M(END), {0}},
           "{\"content\":\"\",\"calls\":[{\"name\":\"f\",\"arguments\":"
           "\"{\\\"a\\\": \\\"not a real <|sep|> marker\\\"}\"}],"
           "\"done\":true}",
           "waste 7.3/20: inside an argument too");
    pieces(&plain, (struct dialect_piece[]){T("a"), T("<|media_pad|>"), {0}},
           "{\"content\":\"a<|media_pad|>\"}",
           "waste 7.3/21: an unknown special is content");
    pieces(&plain, (struct dialect_piece[]){T("done"), M(END), T("more"), {0}},
           "{\"content\":\"done\",\"done\":true}",
           "waste 7.3/31: finished after the end marker");
    pieces(&think, (struct dialect_piece[]){
               HEAD("call"), M("<|open|>"), T("x"), M("<|open|>"),
               T("response"), M("<|sep|>"), T("y"), {0}},
           "{\"content\":\"y\",\"calls\":[{\"name\":\"\",\"arguments\":"
           "\"{}\"}]}",
           "an unfinished header gives way to the next");
}

static void test_malformed(void)
{
    dialect_is(&think, "half a thought",
               "{\"reasoning\":\"half a thought\",\"content\":\"\"}",
               "waste 7.3/22: a thought without an end");
    dialect_is(&think, "thinking<|se",
               "{\"reasoning\":\"thinking<|se\",\"content\":\"\"}",
               "waste 7.3/23: a cut marker is text");
    dialect_is(&think, "done<|close|>think<|sep|><|open|>resp",
               "{\"reasoning\":\"done\",\"content\":\"<|open|>resp\"}",
               "waste 7.3/24: a cut header is text");
    dialect_is(&think, CALLS O("call tool=\"w\"")
                       O("argument key=\"city\" type=\"string\"") "Par",
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"city\\\": \\\"Par\\\"}\"}]}",
               "waste 7.3/25: a cut argument survives");
    dialect_is(&think, CALLS CALL("w", O("argument type=\"string\"") "orphan"
                                       C("argument")) C("tools") END,
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{}\"}],\"done\":true}",
               "waste 7.3/26: an argument without a key is dropped, text too");
    dialect_is(&plain, C("nonesuch") "text", "{\"content\":\"text\"}",
               "waste 7.3/26b: closing what is not open");
    dialect_is(&think, C("think") "all of it",
               "{\"content\":\"all of it\"}",
               "waste 7.3/26c: no channel at all is content");
    dialect_is(&plain, "a" END "b" O("think") "c" END,
               "{\"content\":\"a\",\"done\":true}",
               "waste 7.3/26d: nothing after the end");
    dialect_is(&think, CALLS CALL("w", ARG("n", "number", "three or four")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"n\\\": \\\"three or four\\\"}\"}]}",
               "waste 7.3/27: a number that is none stays text");
    dialect_is(&plain, "a<|sep|>b", "{\"content\":\"ab\"}",
               "waste 7.3/28: a separator on its own is nothing");
    dialect_is(&think, "a<|sep|>b" C("think") O("think") "c<|sep|>d",
               "{\"reasoning\":\"abcd\",\"content\":\"\"}",
               "waste 7.3/28: it closes nothing");
    dialect_is(&think, CALLS CALL("w", "") C("tools") C("message") END,
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{}\"}],\"done\":true}",
               "waste 7.3/29: only calls: no content");
    dialect_is(&think, CALLS O("call tool=\"say &amp;quot;hi&amp;quot;\""),
               "{\"content\":\"\",\"calls\":[{\"name\":\"say &quot;hi&quot;\","
               "\"arguments\":\"{}\"}]}",
               "waste 7.3/30: an escape is undone once");
    dialect_is(&plain, "a" O("foo") "b" C("foo") "c", "{\"content\":\"abc\"}",
               "waste 2.4: text in an unknown element");
    dialect_is(&plain, "a" O("foo") "b" C("") "c" C("") C("") "d",
               "{\"content\":\"abcd\"}",
               "waste 2.3: a close without a name pops one");
    dialect_is(&think, "a" O("foo") "-" C("") "b" C("") "c",
               "{\"reasoning\":\"ab\",\"content\":\"-c\"}",
               "waste 2.3: and no more than one");
    dialect_is(&think, "a" C("nonesuch") "b",
               "{\"reasoning\":\"ab\",\"content\":\"\"}",
               "waste 7.3/26b: closing what is not open closes nothing");
    dialect_is(&think, "a" O("foo") "-" C("bar") "-" C("foo") "b",
               "{\"reasoning\":\"ab\",\"content\":\"--\"}",
               "waste 7.3/26b: nor another element that means nothing");
}

static void test_values(void)
{
    dialect_is(&think,
               CALLS CALL("w", ARG("b", "boolean", " TRUE\n")
                          ARG("c", "boolean", "yes ") ARG("n", "null", "x")
                          ARG("f", "number", " 1e3 ") ARG("i", "number", "007")
                          ARG("o", "object", "{\"k\":[1,\"\xc3\xa9\"]}")
                          ARG("a", "array", "[1,") ARG("u", "strange", "1")
                          O("argument key=\"t\"") "null" C("argument")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"b\\\": true, \\\"c\\\": \\\"yes \\\", \\\"n\\\": null, "
               "\\\"f\\\": 1000.0, \\\"i\\\": \\\"007\\\", \\\"o\\\": "
               "{\\\"k\\\": [1, \\\"\xc3\xa9\\\"]}, \\\"a\\\": \\\"[1,\\\", "
               "\\\"u\\\": 1, \\\"t\\\": null}\"}]}",
               "waste 2.5: values by their types");
    dialect_is(&think, CALLS CALL("w", ARG("a", "string", "1")
                                       ARG("b", "number", "2")
                                       ARG("a", "string", "3")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"a\\\": \\\"1\\\", \\\"b\\\": 2}\"}]}",
               "of two equal keys the first stays");
    dialect_is(&think, CALLS CALL("w", O("json type=\"object\"") "{\"a\": tru"
                                       C("json")) C("tools"),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"a\\\": tru\"}]}",
               "waste 2.7: a json block is the arguments, as it is");
    dialect_is(&think, CALLS CALL("w", O("json") "{\"a\":1}" C("json")
                                       ARG("b", "string", "2") O("json") "{}"
                                       C("json")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"a\\\":1}\"}]}",
               "what comes after a json block is dropped");
    dialect_is(&think, CALLS CALL("w", ARG("b", "string", "2") O("json") "{}"
                                       C("json")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"b\\\": \\\"2\\\"}\"}]}",
               "and a json block after arguments");
    dialect_is(&think, CALLS CALL("w", O("json") "{\"a\":" ARG("k", "", "1")
                                       "}" C("json")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"a\\\":1}\"}]}",
               "an argument inside a json block is its text");
    dialect_is(&think, CALLS CALL("w", O("json") C("json")),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{}\"}]}", "an empty json block is no arguments");
    dialect_is(&think, CALLS O("call tool=\"w\"") O("json") "{\"a\":"
                       O("json") "1",
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"a\\\":1\"}]}",
               "so is a json block");
    dialect_is(&think, CALLS CALL("w", O("argument key=\"a\" type=\"string\"")
                                       "v" C("") "x")
                       CALL("v", O("json") "{}" C("") "x"),
               "{\"content\":\"\",\"calls\":[{\"name\":\"w\",\"arguments\":"
               "\"{\\\"a\\\": \\\"v\\\"}\"},{\"name\":\"v\",\"arguments\":"
               "\"{}\"}]}",
               "an argument and a block end with a close without a name");
    dialect_is(&think, CALLS "\n" CALL("a", "stray" ARG("k", "string", "v") "x")
                       " y " CALL("b", "") C("tools") "z" END,
               "{\"content\":\"z\",\"calls\":[{\"name\":\"a\",\"arguments\":"
               "\"{\\\"k\\\": \\\"v\\\"}\"},{\"name\":\"b\",\"arguments\":"
               "\"{}\"}],\"done\":true}",
               "waste 2.4: text between elements of calls is dropped");
    dialect_is(&think, CALLS O("call tool=\"a\"")
                       O("argument key=\"k\" type=\"string\"") "v"
                       O("call tool=\"b\"")
                       O("argument key=\"l\" type=\"number\"") "1" C("call")
                       C("tools") "after",
               "{\"content\":\"after\",\"calls\":[{\"name\":\"a\","
               "\"arguments\":\"{\\\"k\\\": \\\"v\\\"}\"},{\"name\":\"b\","
               "\"arguments\":\"{\\\"l\\\": 1}\"}]}",
               "elements that nobody closed end with what is around them");
    dialect_is(&plain, O("argument key=\"k\"") "x" C("argument") O("json") "y"
                       C("json") "z", "{\"content\":\"z\"}",
               "arguments of no call are dropped");
}

static void test_ids_of_calls(void)
{
    const struct dialect_t t = {.d = &dialect_xtml, .ids = true};
    char *got = dialect_text(&t, O("tools") O("call tool=\"f\" id=\"x\"")
                                 C("call") O("call tool=\"f\" id=\"x\"")
                                 C("call") O("call tool=\"f\""));

    ok(strstr(got, "{\"id\":\"x\",") && strstr(got, "{\"id\":\"call_") &&
           !strstr(strstr(got, "\"x\"") + 1, "\"x\""),
       "an id that the model wrote counts once: %s", got);
    free(got);
}

/* --- streaming ----------------------------------------------------------- */

/* What is there after each piece. */
static void test_streaming(void)
{
    static const struct {
        const char *feed, *args;
    } steps[] = {
        {CALLS "<|open|>call tool=\"w\"", NULL},
        {"<|sep|>", ""},
        {O("argument key=\"a\" type=\"string\""), "{\"a\": \""},
        {"one \"", "{\"a\": \"one \\\""},
        {"\n", "{\"a\": \"one \\\"\\n"},
        {C("argument"), "{\"a\": \"one \\\"\\n\""},
        {O("argument key=\"b\" type=\"number\"") "1",
         "{\"a\": \"one \\\"\\n\", \"b\": "},
        {"2", "{\"a\": \"one \\\"\\n\", \"b\": "},
        {C("argument"), "{\"a\": \"one \\\"\\n\", \"b\": 12"},
        {C("call"), "{\"a\": \"one \\\"\\n\", \"b\": 12}"},
    };
    struct dialect_run *r = mem_new(struct dialect_run);
    bool good = true;

    dialect_run_open(r, &think);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const char *got = NULL;

        dialect_run_feed(r, steps[i].feed, strlen(steps[i].feed));
        if (r->calls.n)
            got = r->calls.p[0]->args.n ? r->calls.p[0]->args.p : "";
        if (!got != !steps[i].args ||
            (got && strcmp(got, steps[i].args) != 0)) {
            printf("# step %zu: got %s\n", i, got ? got : "nothing");
            good = false;
        }
    }
    ok(good && r->calls.p[0]->whole,
       "id and name first, then arguments while the model writes");
    dialect_run_end(r);
    dialect_run_close(r);
    free(r);
}

/* --- through a reply ------------------------------------------------------ */

/* Token ids with one character each, markers as tokens. */
static void test_through_reply(void)
{
    static const struct toy_special specials[] = {
        {"<|open|>", TOK_CONTROL}, {"<|close|>", TOK_CONTROL},
        {"<|sep|>", TOK_CONTROL}, {"<|end_of_msg|>", TOK_CONTROL}, {NULL, 0},
    };
    static const char markup[] =
        "hm" ANSWER "Rome" C("response") O("tools")
        CALL("f", ARG("k", "string", "<v>")) C("tools") C("message") END "x";
    struct toy toy;
    struct reply_config c = {.think_open = true, .parallel_calls = true};
    struct tools *tools = tools_new(NULL, 0);
    struct reply *r;
    struct buf thought, said;
    struct ids ids;
    struct format *f;
    bool over = false;
    size_t fed = 0;

    toy_open(&toy, specials, NULL, 0);
    BUG_ON(format_xtml(&f, toy.tok, NULL));
    c.tok = toy.tok;
    c.format = f;
    c.tools = tools;
    r = reply_new(&c);
    buf_init(&thought, BUF_ANSWER);
    buf_init(&said, BUF_ANSWER);
    ids_init(&ids, 4096);
    BUG_ON(tok_encode(toy.tok, TOK_MARKUP, markup, strlen(markup), &ids,
                      NULL));
    while (fed < ids.n && !over)
        over = reply_feed(r, ids.p[fed++], &thought, &said);
    reply_end(r, true, &thought, &said);
    is_str(thought.p, "hm", "through a reply: reasoning");
    is_str(said.p, "Rome", "through a reply: content");
    ok(over && reply_kept(r) == (int32_t)fed && fed == ids.n - 1,
       "the end marker ends it");
    ok(reply_calls(r)->n == 1 &&
           !strcmp(reply_calls(r)->p[0]->args.p, "{\"k\": \"<v>\"}"),
       "through a reply: the call");
    /* h m, and the 7 + 10 ids of the brackets around the next channel's
     * name; the first letter of the answer ends it */
    is_int(reply_reasoning_tokens(r), 2 + 7 + 10 + 1,
           "tokens of the reasoning channel are counted");
    reply_free(r);
    tools_free(tools);
    ids_release(&ids);
    buf_release(&thought);
    buf_release(&said);
    format_free(f);
    toy_close(&toy);
}

/* Depth and length are no trouble. */
static void test_hostile(void)
{
    struct buf b;
    char *got;

    buf_init(&b, BUF_ANSWER);
    for (int i = 0; i < 50000; i++)
        buf_puts(&b, O("x"));
    buf_puts(&b, "text");
    got = dialect_text(&plain, b.p);
    is_str(got, "{\"content\":\"text\"}", "50,000 elements deep");
    free(got);
    for (int over = 0; over < 2; over++) { /* with the one it begins in */
        buf_clear(&b);
        for (int i = 0; i < 62 + over; i++)
            buf_puts(&b, O("x"));
        buf_puts(&b, O("think") "text");
        got = dialect_text(&plain, b.p);
        is_str(got, over ? "{\"content\":\"text\"}"
                         : "{\"reasoning\":\"text\",\"content\":\"\"}",
               "of 64 elements the last counts, none behind: %d", 64 + over);
        free(got);
    }
    buf_clear(&b);
    buf_puts(&b, CALLS O("call tool=\"f\""));
    for (int i = 0; i < 20000; i++)
        buf_printf(&b, O("argument key=\"k%d\" type=\"string\"") "v"
                       C("argument"), i % 15000);
    got = dialect_text(&think, b.p);
    ok(strlen(got) > 15000 * 10 && strstr(got, "\\\"k14999\\\": \\\"v\\\"}"),
       "20,000 arguments");
    free(got);
    buf_clear(&b);
    buf_puts(&b, CALLS);
    for (int i = 0; i < 200; i++)
        buf_puts(&b, CALL("f", ARG("k", "string", "v")));
    got = dialect_text(&think, b.p);
    ok(strlen(got) > 128 * 20, "more calls than there may be");
    free(got);
    buf_release(&b);
}

int main(void)
{
    struct err e;

    if (format_xtml(&xtml, NULL, &e)) {
        ok(false, "format_xtml: %s", e.text);
        return done();
    }
    test_round_trips();
    test_held_back();
    test_ids();
    test_malformed();
    test_values();
    test_ids_of_calls();
    test_streaming();
    test_through_reply();
    test_hostile();
    format_free(xtml);
    return done();
}
