/*
 * Calls that must come (api/callgram.h): what the grammar of a form lets a
 * model write, the form's own dialect reads back as calls of offered functions
 * with arguments that their schemas allow. The texts are random walks through
 * the compiled grammars; the schemas themselves (gram/schema.h) are tested
 * against the JSON Schema Test Suite. Templates are the published ones.
 */
#include "chat/textreply.h"
#include "t/lib/callforms.h"

#define WALKS 40
#define STEPS 3000

/* --- walks ---------------------------------------------------------------- */

/* What could go wrong inside values. */
static const char *const snippets[] = {
    "</parameter>", "</function>", "</tool_call>", "<parameter=x>",
    "<function=g>", "</arg_value>", "<tool_call>", "[ARGS]", "```",
    "</" BAR "DSML" BAR " parameter>", "<|close|>argument<|sep|>",
    "<" BAR "tool" LOW "call" LOW "end" BAR ">", "\xe4\xb8\xad",
    "\xf0\x9f\x98\x80", "\\u0041", "\\n", " ", "\n", "\"", "true", "null",
    "abc", "12",
};
#define N_SNIPPETS (sizeof(snippets) / sizeof(snippets[0]))

struct walk {
    const struct req *q;
    struct gram_place p;
    int16_t sym[STEPS + 64]; /* symbols so far */
    size_t n;
};

static bool may(const struct walk *w, int sym, uint64_t *next)
{
    (void)w;
    return next[sym / 64] >> (sym % 64) & 1;
}

static bool take(struct walk *w, int sym)
{
    char c = (char)sym;

    if (w->n == STEPS + 64)
        return false;
    w->sym[w->n++] = (int16_t)sym;
    return sym < 256 ? gram_bytes(w->q->g, &w->p, &c, 1)
                     : gram_mark(w->q->g, &w->p, sym - 256);
}

/* As much of a snippet as can stand here. */
static void try_snippet(struct walk *w)
{
    const char *s = snippets[rnd(N_SNIPPETS)];

    for (; *s; s++) {
        uint64_t next[(GRAM_SYMBOLS + 63) / 64];

        gram_next(w->q->g, &w->p, next);
        if (!may(w, (unsigned char)*s, next) || !take(w, (unsigned char)*s))
            return;
    }
}

/* A random text of the grammar; false: it did not end. */
static bool walk(struct walk *w, const struct req *q)
{
    static const char closers[] = "\"}]<\n,";

    w->q = q;
    w->n = 0;
    gram_begin(q->g, &w->p);
    while (w->n < STEPS) {
        uint64_t next[(GRAM_SYMBOLS + 63) / 64];
        int list[GRAM_SYMBOLS], n = 0, sym;
        uint32_t hurry = w->n > 400 ? 2 : 6;

        if (gram_ends(q->g, &w->p) && (rnd(3) || gram_done(q->g, &w->p)))
            return true;
        if (!rnd(8)) {
            try_snippet(w);
            continue;
        }
        gram_next(q->g, &w->p, next);
        for (int i = 0; i < GRAM_SYMBOLS; i++)
            if (may(w, i, next))
                list[n++] = i;
        if (!n)
            return false;
        sym = list[rnd((uint32_t)n)];
        if (!rnd(hurry)) {
            const char *c = closers + rnd(sizeof(closers) - 1);

            if (may(w, *c, next))
                sym = *c;
            else if (list[n - 1] >= 256)
                sym = list[n - 1];
        }
        if (!take(w, sym))
            return false;
    }
    return false;
}

/* --- reading it ----------------------------------------------------------- */

struct heard {
    struct textreply *r;
    struct buf reasoning, content;
};

static void hear(struct heard *h, const struct format *f, const struct req *q,
                 const struct walk *w, struct buf *text)
{
    const struct turn_config c = {
        .dialect = format_dialect(f), .tools = q->tools,
        .parallel_calls = true,
    };

    h->r = textreply_new(&c);
    buf_init(&h->reasoning, BUF_ANSWER);
    buf_init(&h->content, BUF_ANSWER);
    for (size_t i = 0; i < w->n;) {
        size_t from = text->n;
        const char *m = w->sym[i] < 256
                            ? NULL
                            : format_dialect(f)->markers[w->sym[i] - 256];

        if (m) {
            buf_puts(text, m);
            textreply_token(h->r, m, strlen(m), &h->reasoning, &h->content);
            i++;
            continue;
        }
        for (; i < w->n && w->sym[i] < 256; i++)
            buf_putc(text, (char)w->sym[i]);
        if (f->tok)
            textreply_plain(h->r, text->p + from, text->n - from,
                            &h->reasoning, &h->content);
        else
            textreply_feed(h->r, text->p + from, text->n - from,
                           &h->reasoning, &h->content);
    }
    textreply_end(h->r, true, &h->reasoning, &h->content);
}

static void unhear(struct heard *h)
{
    textreply_free(h->r);
    buf_release(&h->reasoning);
    buf_release(&h->content);
}

/* Every walk is calls and nothing else. */
static void walks(const struct format *f, const char *more, size_t most,
                  const char *what)
{
    static struct walk w;
    struct req q;
    size_t bad = 0, ended = 0, calls = 0, many = 0;

    if (!open_req(&q, f, more)) {
        ok(false, "%s: %s: %s", what, err.where, err.text);
        close_req(&q);
        return;
    }
    for (int i = 0; i < WALKS && !bad; i++) {
        struct buf text;
        struct heard h;
        const struct calls *c;
        bool fine;

        if (!walk(&w, &q))
            continue;
        ended++;
        buf_init(&text, BUF_ANSWER);
        hear(&h, f, &q, &w, &text);
        c = textreply_calls(h.r);
        fine = c->shown >= 1 && c->shown <= most && !c->dropped &&
               !h.content.n && !h.reasoning.n;
        for (size_t k = 0; k < c->n; k++)
            fine = fine && (c->p[k]->withdrawn || call_fits(&q, c->p[k]));
        calls += c->shown;
        many += c->shown > 1;
        if (!fine) {
            bad++;
            printf("# %s: %zu calls from:\n%.*s\n# content: %.*s\n", what,
                   c->shown, (int)text.n, text.p, (int)h.content.n,
                   h.content.n ? h.content.p : "");
            for (size_t k = 0; k < c->n; k++)
                printf("# %s%s %.*s\n", c->p[k]->name,
                       call_fits(&q, c->p[k]) ? "" : " (!)",
                       (int)c->p[k]->args.n, c->p[k]->args.p);
        }
        unhear(&h);
        buf_release(&text);
    }
    ok(!bad && ended > WALKS / 3 && (most == 1 || many),
       "%s: %zu walks, %zu calls", what, ended, calls);
    close_req(&q);
}

static void test_form(const char *name, bool is_template, enum how how)
{
    const struct tok *tok = how == TOKENS ? toy.tok : NULL;
    struct format *f = is_template ? template_load(name, tok) : bare(name, tok);
    char what[128];

    if (!f) {
        ok(false, "%s", name);
        return;
    }
    snprintf(what, sizeof(what), "%s, %s", name,
             how == TOKENS ? "tokens" : "spelled");
    walks(f, "\"tool_choice\":\"required\",\"tools\":[" PLAIN "]", 1, what);
    walks(f, "\"tool_choice\":\"required\",\"tools\":[" HARD "]", 1, what);
    walks(f, "\"tool_choice\":\"required\",\"tools\":[" HARD "," PLAIN "]"
             MANY, 128, what);
    format_free(f);
}

/* --- what may be written, text by text ------------------------------------ */

static bool accepts(const struct req *q, const char *text)
{
    struct gram_place p;

    gram_begin(q->g, &p);
    return gram_bytes(q->g, &p, text, strlen(text)) && gram_ends(q->g, &p);
}

static bool begins(const struct req *q, const char *text)
{
    struct gram_place p;

    gram_begin(q->g, &p);
    return gram_bytes(q->g, &p, text, strlen(text));
}

#define REQUIRED "\"tool_choice\":\"required\",\"tools\":[" PLAIN "]"
#define NAMED(name)                                                            \
    "\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"" name     \
    "\"}},\"tools\":[" PLAIN "]"

/* Spec tandem.md 7, the row of tool_choice, in the XML form. */
static void test_xml(void)
{
#define F(name, params)                                                        \
    "<tool_call>\n<function=" name ">\n" params "</function>\n</tool_call>"
#define P(name, value) "<parameter=" name ">\n" value "\n</parameter>\n"
    struct format *f = bare("qwen/1", NULL);
    struct req q;

    ok(open_req(&q, f, REQUIRED), "required");
    ok(accepts(&q, F("get_weather", P("city", "Paris"))), "a call");
    ok(accepts(&q, F("get_weather", P("city", "Paris") P("days", "3")
                     P("unit", "C"))), "with parameters in declared order");
    ok(accepts(&q, F("get_time", "")), "of a function without parameters");
    ok(accepts(&q, F("get_all", "")), "of one that declares none");
    ok(!begins(&q, "I will"), "no prose before it");
    ok(!begins(&q, F("get_time", "") " "), "nor behind");
    ok(!begins(&q, "<tool_call>\n<function=got_"), "no other name");
    ok(!begins(&q, "<tool_call>\n<function=get_weather>\n</function>"),
       "no required parameter left out");
    ok(!begins(&q, "<tool_call>\n<function=get_weather>\n<parameter=days>"),
       "nor in another order");
    ok(!begins(&q, "<tool_call>\n<function=get_time>\n<parameter="),
       "no undeclared parameter");
    ok(!begins(&q, "<tool_call>\n<function=get_weather>\n"
                   P("city", "x") "<parameter=days>\nsoon"),
       "no text for a number");
    ok(!begins(&q, "<tool_call>\n<function=get_weather>\n"
                   P("city", "x") "<parameter=unit>\nK"),
       "check 53: an enum value of the set");
    ok(!begins(&q, F("get_time", "") "\n<tool_call>"),
       "check 53: one call");
    close_req(&q);
    ok(open_req(&q, f, REQUIRED MANY) &&
           accepts(&q, F("get_time", "") "\n" F("get_time", "") "\n"
                       F("get_all", "")),
       "several with parallel_tool_calls true");
    close_req(&q);
    ok(open_req(&q, f, NAMED("get_time")) &&
           accepts(&q, F("get_time", "")) &&
           !begins(&q, "<tool_call>\n<function=get_w"),
       "a named function and no other");
    close_req(&q);
    ok(open_req(&q, f, "\"tool_choice\":\"required\",\"tools\":["
                TOOL("f", OBJ("\"a\":{\"type\":\"string\",\"enum\":"
                              "[\"\xc3\xa9\",\"xy\"],\"maxLength\":1}") "}") "]") &&
           accepts(&q, F("f", P("a", "\xc3\xa9"))) &&
           !begins(&q, "<tool_call>\n<function=f>\n<parameter=a>\nx"),
       "texts of an enum are counted in characters");
    close_req(&q);
    ok(open_req(&q, f, "\"tool_choice\":\"required\",\"tools\":["
                TOOL("f", OBJ("\"a\":{\"type\":\"string\",\"enum\":"
                              "[\"x\",\"y\"],\"const\":\"y\"}") "}") "]") &&
           accepts(&q, F("f", P("a", "y"))) &&
           !begins(&q, "<tool_call>\n<function=f>\n<parameter=a>\nx"),
       "those that const allows");
    close_req(&q);
    format_free(f);
}

static void test_json(void)
{
#define J(name, args)                                                          \
    "<tool_call>\n{\"name\": \"" name "\", \"arguments\": " args               \
    "}\n</tool_call>"
    struct format *f = bare("qwen/0", NULL);
    struct req q;

    ok(open_req(&q, f, REQUIRED), "required, in JSON");
    ok(accepts(&q, J("get_weather", "{\"city\":\"Paris\"}")), "a call");
    ok(accepts(&q, J("get_time", "{}")) && accepts(&q, J("get_all", "{}")),
       "without parameters");
    ok(!begins(&q, "<tool_call>\n{\"name\": \"get_weather\", "
                   "\"arguments\": {\"city\":\"P\",\"x"),
       "no undeclared parameter");
    ok(!begins(&q, "<tool_call>\n{\"name\": \"get_all\", "
                   "\"arguments\": {\""),
       "a function that declares none has none");
    close_req(&q);
    ok(open_req(&q, f, "\"tool_choice\":\"required\",\"tools\":["
                TOOL("f", "{\"type\":\"object\",\"properties\":{},"
                     "\"additionalProperties\":true}") "]") &&
           accepts(&q, J("f", "{\"x\":1}")),
       "further parameters where the schema says so");
    close_req(&q);
    ok(open_req(&q, f, "\"tool_choice\":\"required\",\"tools\":["
                TOOL("f", "{\"type\":\"object\",\"properties\":{\"a\":{}},"
                     "\"required\":[\"z\"]}") "]") &&
           accepts(&q, J("f", "{\"z\":1}")),
       "and where it requires one that it does not declare");
    close_req(&q);
    ok(open_req(&q, f, "\"tool_choice\":\"required\",\"tools\":["
                TOOL("f", "{\"type\":\"object\",\"properties\":{\"a\":{}},"
                     "\"allOf\":[{\"properties\":{\"b\":{}}}]}") "]") &&
           accepts(&q, J("f", "{\"a\":1,\"b\":2}")),
       "or declares more elsewhere");
    close_req(&q);
    ok(open_req(&q, f, "\"tool_choice\":\"required\",\"tools\":["
                TOOL("f", "{}") "]") && accepts(&q, J("f", "{\"x\":1}")),
       "an empty schema: any object");
    close_req(&q);
    format_free(f);
}

/* Agents offer many tools, and tools many parameters. */
static void test_many(void)
{
    static const char *const forms[] = {"qwen/1", "glm", "dsml", "xtml",
                                        "qwen/0"};

    for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
        struct format *f = bare(forms[k], NULL);
        struct buf b;
        struct req q;

        buf_init(&b, BUF_ANSWER);
        buf_puts(&b, "\"tool_choice\":\"required\",\"tools\":[");
        for (int i = 0; i < 128; i++)
            buf_printf(&b, "%s" TOOL("mcp__a_server__tool_%d",
                "{\"type\":\"object\",\"properties\":{"
                "\"path\":{\"type\":\"string\",\"description\":\"d\"},"
                "\"deep\":{\"type\":\"array\",\"items\":{\"type\":"
                "\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}},"
                "\"when\":{\"type\":\"string\",\"format\":\"date-time\"},"
                "\"mode\":{\"enum\":[\"fast\",\"slow\"]},"
                "\"opt\":{\"anyOf\":[{\"type\":\"string\"},"
                "{\"type\":\"null\"}]}},\"required\":[\"path\"]}"),
                i ? "," : "", i);
        buf_puts(&b, "]");
        ok(open_req(&q, f, b.p), "%s: 128 tools: %s", forms[k], err.text);
        close_req(&q);
        buf_clear(&b);
        buf_puts(&b, "\"tool_choice\":\"required\",\"tools\":[" "{\"type\":"
                     "\"function\",\"function\":{\"name\":\"f\","
                     "\"parameters\":{\"type\":\"object\",\"properties\":{");
        for (int i = 0; i < 60; i++)
            buf_printf(&b, "%s\"key_%d\":{\"type\":\"integer\"}",
                       i ? "," : "", i);
        buf_puts(&b, "}}}}]");
        ok(open_req(&q, f, b.p), "%s: 60 parameters: %s", forms[k], err.text);
        if (k == 0)
            ok(accepts(&q, F("f", P("key_0", "1") P("key_59", "2"))) &&
                   accepts(&q, F("f", "")),
               "any of them can be left out");
        close_req(&q);
        buf_release(&b);
        format_free(f);
    }
}

static void test_counts(void)
{
    struct format *f = bare("qwen/1", NULL);
    struct req q;

#define COUNTED(bounds)                                                        \
    "\"tool_choice\":\"required\",\"tools\":[" TOOL("f", "{\"type\":"            \
    "\"object\",\"properties\":{\"a\":{\"type\":\"null\"},\"b\":{\"type\":"      \
    "\"null\"},\"c\":{\"type\":\"null\"}}," bounds "}") "]"
#define A P("a", "null")
#define B P("b", "null")
#define C P("c", "null")
    ok(open_req(&q, f, COUNTED("\"minProperties\":1,\"maxProperties\":2")) &&
           !begins(&q, F("f", "")) && accepts(&q, F("f", B)) &&
           accepts(&q, F("f", A C)) && !begins(&q, F("f", A B C)),
       "minProperties and maxProperties");
    close_req(&q);
    ok(open_req(&q, f, COUNTED("\"maxProperties\":0")) &&
           accepts(&q, F("f", "")) && !begins(&q, F("f", A)),
       "maxProperties 0");
    close_req(&q);
    ok(open_req(&q, f, COUNTED("\"required\":[\"z\",\"a\"]")) &&
           accepts(&q, F("f", A B P("z", "{\"any\": 1}"))) &&
           !begins(&q, "<tool_call>\n<function=f>\n" A "</function"),
       "a required parameter that is declared nowhere comes last");
    close_req(&q);
    format_free(f);
}

/* --- what cannot be ------------------------------------------------------- */

static void refused(const char *form, const char *more, const char *where,
                    const char *part, const char *what)
{
    struct format *f = bare(form, NULL);
    struct req q;
    bool opened = open_req(&q, f, more);

    ok(!opened && !strcmp(err.where, where) && strstr(err.text, part),
       "%s: %s: %s", what, err.where, err.text);
    close_req(&q);
    format_free(f);
}

static void test_refused(void)
{
#define ASK(tools) "\"tool_choice\":\"required\",\"tools\":[" tools "]"
    static const struct format_kind kind = {.name = "bare"};
    struct format *f = format_new(&kind, "bare", "none");
    struct req q;

    ok(!open_req(&q, f, REQUIRED) && !strcmp(err.where, "tool_choice"),
       "a format without calls: %s", err.text);
    close_req(&q);
    format_free(f);
    refused("qwen/1", ASK(TOOL("a", "{}") "," TOOL("a b", "{}")),
            "tools[1].function.name", "name", "a name with a blank");
    refused("qwen/1", ASK(TOOL("a", OBJ("\"x y\":{}") "}")),
            "tools[0].function.parameters", "name", "a key with a blank");
    refused("glm/0", ASK(TOOL("a", OBJ("\"x \":{}") "}")),
            "tools[0].function.parameters", "name", "a blank at its end");
    refused("glm/0", ASK(TOOL("a", OBJ("\" x\":{}") "}")),
            "tools[0].function.parameters", "name", "at its begin");
    refused("qwen/1", ASK(TOOL("a", "{\"oneOf\":[]}")),
            "tools[0].function.parameters", "oneOf", "no plain object");
    refused("qwen/1", ASK(TOOL("a", OBJ("\"s\":{\"type\":\"string\","
                                        "\"pattern\":\"(\"}") "}")),
            "tools[0].function.parameters", "pattern", "a broken pattern");
    refused("qwen/1", ASK(TOOL("a", OBJ("\"s\":{\"type\":\"string\","
                                        "\"format\":\"idn-email\"}") "}")),
            "tools[0].function.parameters", "format", "a format");
    refused("qwen/0", ASK(TOOL("b", "{}") ","
                          TOOL("a", OBJ("\"l\":{\"type\":\"array\","
                                        "\"uniqueItems\":true}") "}")),
            "tools[1].function.parameters", "uniqueItems",
            "a keyword that is not supported");
}

int main(void)
{
    test_xml();
    test_json();
    test_many();
    test_counts();
    test_refused();
    toy_open(&toy, specials, NULL, 0);
    for (size_t i = 0; call_dialects[i]; i++) {
        test_form(call_dialects[i], false, TOKENS);
        if (strcmp(call_dialects[i], "xtml") != 0)
            test_form(call_dialects[i], false, SPELLED);
    }
    for (size_t i = 0; call_templates[i]; i++) {
        test_form(call_templates[i], true, TOKENS);
        test_form(call_templates[i], true, SPELLED);
    }
    toy_close(&toy);
    return done();
}
