/*
 * Tool calls over HTTP against a scripted gen: what a strict client joins of
 * a stream, the same as a whole answer, and what is refused at admission.
 * The scripts are token sequences in the XML form of the published Qwen3-Coder
 * chat template; shapes are OpenAI's; cases of the field and checks of our
 * contract are named.
 */
#include "t/lib/apit.h"

static const char *const chat = "/v1/chat/completions";

#define FN(name, params)                                                       \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name                    \
    "\",\"parameters\":{\"type\":\"object\",\"properties\":{" params "}}}}"
#define INT(name) "\"" name "\":{\"type\":\"integer\"}"
#define STR(name) "\"" name "\":{\"type\":\"string\"}"
#define ADD FN("add", INT("a") "," INT("b"))
#define WEATHER FN("weather", STR("city"))
#define TOOLS "\"tools\":[" ADD "," WEATHER "]"

#define P(name, value) "<parameter=" name ">\n" value "\n</parameter>\n"
#define CALL(name, params)                                                     \
    "<tool_call>\n<function=" name ">\n" params "</function>\n</tool_call>"
#define CALL_ADD CALL("add", P("a", "2") P("b", "2"))
#define CALL_CITY(city) CALL("weather", P("city", city))
#define END "<|im_end|>"

static struct apit t;

/* A server whose model writes this. */
static void script(const char *text, int32_t fail_after, int64_t gap_us)
{
    static int32_t ids[1024];
    struct scripted_config gen = {.ids = ids, .fail_after = fail_after,
                                  .per_token_us = gap_us, .context = 4096};
    const char *why;

    gen.n = apit_ids(text, ids, 1024);
    if (!apit_open(&t, &gen, NULL, &why))
        exit(1);
}

static const char *body(const char *more)
{
    static char out[4096];

    snprintf(out, sizeof(out),
             "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
             "\"reasoning_effort\":\"none\"%s%s}", *more ? "," : "", more);
    return out;
}

/* --- what a client joins ------------------------------------------------- */

struct seen_call {
    char id[64], name[64];
    struct buf args;
    int pieces;
};

struct seen {
    struct joined j;
    struct seen_call call[8];
    int n;
    bool shape;       /* every delta was as OpenAI's */
    bool after_text;  /* content came behind a call */
};

static size_t keys(const struct json *v)
{
    return v && v->type == JSON_OBJ ? v->n : 0;
}

static const char *str(const struct json *v)
{
    return v && v->type == JSON_STR ? v->str.s : "(none)";
}

static void see_delta(struct seen *s, const struct json *d)
{
    const struct json *f = json_get(d, "function");
    int64_t k = json_int(json_get(d, "index"));

    if (k < 0 || k > s->n || k >= 8) {
        s->shape = false;
        return;
    }
    if (k == s->n) {
        struct seen_call *c = &s->call[s->n++];

        snprintf(c->id, sizeof(c->id), "%s", str(json_get(d, "id")));
        snprintf(c->name, sizeof(c->name), "%s", str(json_get(f, "name")));
        buf_init(&c->args, BUF_ANSWER);
        buf_puts(&c->args, "");
        s->shape = s->shape && keys(d) == 4 && keys(f) == 2 &&
                   json_is(json_get(d, "type"), "function") &&
                   json_is(json_get(f, "arguments"), "");
        return;
    }
    /* a call that began goes on only while it is the last */
    s->shape = s->shape && k == s->n - 1 && keys(d) == 2 && keys(f) == 1 &&
               json_get(f, "arguments") && *str(json_get(f, "arguments"));
    buf_puts(&s->call[k].args, str(json_get(f, "arguments")));
    s->call[k].pieces++;
}

static void see(struct seen *s, const struct call *c)
{
    memset(s, 0, sizeof(*s));
    join(&s->j, c);
    s->shape = true;
    for (size_t i = 0; i < s->j.n; i++) {
        const struct json *list =
            json_at(s->j.chunk[i], "choices.0.delta.tool_calls");

        if (list)
            s->shape = s->shape && list->n == 1;
        for (const struct json *d = list ? list->child : NULL; d; d = d->next)
            see_delta(s, d);
        if (s->n && json_at(s->j.chunk[i], "choices.0.delta.content"))
            s->after_text = true;
    }
}

static void see_release(struct seen *s)
{
    for (int k = 0; k < s->n; k++)
        buf_release(&s->call[k].args);
    join_release(&s->j);
}

static void is_stream(struct seen *s, const char *finish, const char *what)
{
    ok(s->j.framing && s->j.utf8 && s->j.one_id && s->j.role_first,
       "%s: a proper stream", what);
    ok(s->shape, "%s: id, type and name once, then only arguments", what);
    ok(s->j.finishes == 1 && s->j.dones == 1, "%s: one end", what);
    is_str(s->j.finish, finish, "%s: its reason", what);
}

static void is_call(struct seen *s, int k, const char *name, const char *args,
                    const char *what)
{
    if (!ok(k < s->n, "%s: call %d is there", what, k))
        return;
    is_str(s->call[k].name, name, "%s: name of call %d", what, k);
    is_str(s->call[k].args.p, args, "%s: arguments of call %d", what, k);
    ok(strlen(s->call[k].id) == 29 &&
           strncmp(s->call[k].id, "call_", 5) == 0,
       "%s: id of call %d", what, k);
}

/* The whole answer has the calls that the stream had. */
static void is_same_whole(struct seen *s, const char *more, const char *what)
{
    char path[64];
    struct call c;
    struct arena a;
    const struct json *v, *m;

    call_do(&c, &t, chat, body(more));
    v = call_json(&c, &a);
    m = json_at(v, "choices.0.message");
    is_int(json_get(m, "tool_calls") ? (intmax_t)json_get(m, "tool_calls")->n
                                     : 0,
           s->n, "%s, whole: as many calls", what);
    ok(json_str_is(json_at(v, "choices.0.finish_reason"), s->j.finish),
       "%s, whole: the same reason", what);
    if (s->n && !s->j.content.n)
        ok(json_get(m, "content") && json_get(m, "content")->type == JSON_NULL,
           "%s, whole: no content is null", what);
    else
        ok(json_str_is(json_get(m, "content"), s->j.content.p),
           "%s, whole: the same content", what);
    for (int k = 0; k < s->n; k++) {
        const struct json *call;

        snprintf(path, sizeof(path), "tool_calls.%d", k);
        call = json_at(m, path);
        ok(json_str_is(json_at(call, "function.arguments"),
                       s->call[k].args.p) &&
               json_str_is(json_at(call, "function.name"), s->call[k].name) &&
               json_is(json_get(call, "type"), "function"),
           "%s, whole: call %d has the same bytes", what, k);
        ok(strcmp(str(json_get(call, "id")), s->call[k].id) != 0 &&
               keys(call) == 3,
           "%s, whole: call %d has an id of its own", what, k);
    }
    arena_release(&a);
    call_release(&c);
}

/* Both ways; the caller looks at `s` and releases it. */
static void both(struct seen *s, const char *more, const char *finish,
                 const char *what)
{
    char streamed[3000];
    struct call c;

    snprintf(streamed, sizeof(streamed), "\"stream\":true%s%s",
             *more ? "," : "", more);
    call_do(&c, &t, chat, body(streamed));
    see(s, &c);
    is_stream(s, finish, what);
    call_release(&c);
    is_same_whole(s, more, what);
}

/* --- calls --------------------------------------------------------------- */

static void joinable(void)
{
    char row[64];
    struct seen s;
    struct call c;

    script(CALL_ADD "\n" CALL_CITY("Tokyo") END, -1, 0);
    both(&s, TOOLS, "tool_calls", "case C23");
    is_int(s.n, 2, "case C23: two calls");
    is_call(&s, 0, "add", "{\"a\": 2, \"b\": 2}", "case C23");
    is_call(&s, 1, "weather", "{\"city\": \"Tokyo\"}", "case C23");
    ok(strcmp(s.call[0].id, s.call[1].id) != 0, "case C23: two ids");
    is_str(s.j.content.p, "\n", "case C23: the line between them is content");
    see_release(&s);

    call_do(&c, &t, chat, body(TOOLS ",\"n\":2"));
    is_str(row_get(&c, "finish_reason || ' ' || tool_calls", row, sizeof(row)),
           "tool_calls 4", "two choices: the row counts their calls");
    call_release(&c);
    call_do(&c, &t, chat, body(TOOLS ",\"parallel_tool_calls\":false"));
    is_str(row_get(&c, "finish_reason || ' ' || tool_calls", row, sizeof(row)),
           "tool_calls 1", "check 25: the row");
    call_release(&c);
    both(&s, TOOLS ",\"parallel_tool_calls\":false", "tool_calls", "check 25");
    is_int(s.n, 1, "check 25: one out, one dropped");
    is_call(&s, 0, "add", "{\"a\": 2, \"b\": 2}", "check 25");
    see_release(&s);

    call_do(&c, &t, chat, body(""));
    is_str(row_get(&c, "finish_reason || ' ' || coalesce(tool_calls, 'null')",
                   row, sizeof(row)),
           "stop null", "check 98: the row");
    call_release(&c);
    both(&s, "", "stop", "check 98");
    is_int(s.n, 0, "check 98: no tools were offered: no calls");
    see_release(&s);
    both(&s, TOOLS ",\"tool_choice\":\"none\"", "stop", "tool_choice none");
    is_int(s.n, 0, "tool_choice none: no calls");
    see_release(&s);
    apit_close(&t);
}

static void typed(void)
{
    static const char tools[] =
        "\"tools\":[" FN("f", STR("zip") "," STR("flag") "," INT("offset")
        ",\"limit\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]},"
        "\"ids\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}") "]";
    struct seen s;

    script(CALL("f", P("zip", "02134") P("flag", "true") P("offset", "5.0")
                P("limit", "42") P("ids", "[1, 2]")) END, -1, 0);
    both(&s, tools, "tool_calls", "case C25");
    is_call(&s, 0, "f", "{\"zip\": \"02134\", \"flag\": \"true\", "
                        "\"offset\": 5, \"limit\": 42, \"ids\": [1, 2]}",
            "case C25");
    see_release(&s);
    apit_close(&t);
    script(CALL("f", P("offset", "soon") P("limit", "null")
                P("ids", "[12345678901234567890123]")) END, -1, 0);
    both(&s, tools, "tool_calls", "case C25: no fit");
    is_call(&s, 0, "f", "{\"offset\": \"soon\", \"limit\": null, "
                        "\"ids\": [12345678901234567890123]}",
            "case C25: no fit");
    see_release(&s);
    apit_close(&t);
}

static void characters(void)
{
    static const char city[] = "M\xc3\xbcnster \xe6\xbc\xa2 "
                               "\xf0\x9f\x98\x80";
    char want[64];
    struct seen s;

    script(CALL_CITY("M\xc3\xbcnster \xe6\xbc\xa2 \xf0\x9f\x98\x80") END, -1,
           2000);
    both(&s, TOOLS, "tool_calls", "case C24");
    snprintf(want, sizeof(want), "{\"city\": \"%s\"}", city);
    is_call(&s, 0, "weather", want, "case C24");
    ok(s.call[0].pieces > 2, "case C24: it came in pieces");
    see_release(&s);
    apit_close(&t);
}

/* Words around calls, calls in reasoning, a reply that is cut. */
static void around(void)
{
    static const char think[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
        "\"stream\":true,\"reasoning_effort\":\"high\"," TOOLS "}";
    char row[64];
    struct seen s;
    struct call c;

    script("Let me see." CALL_ADD END, -1, 0);
    both(&s, TOOLS, "tool_calls", "words first");
    is_str(s.j.content.p, "Let me see.", "words first: they are content");
    is_int(s.n, 1, "words first: then the call");
    ok(!s.after_text, "words first: in this order");
    see_release(&s);
    apit_close(&t);

    script("hm " CALL_ADD "\n</think>\n\nok" END, -1, 0);
    call_do(&c, &t, chat, think);
    see(&s, &c);
    is_stream(&s, "stop", "check 29");
    is_int(s.n, 0, "check 29: a call in reasoning is none");
    is_str(s.j.content.p, "ok", "check 29: the answer");
    see_release(&s);
    call_release(&c);
    apit_close(&t);

    /* the cut comes inside the value */
    script(CALL_CITY("one two three four five six seven eight nine ten"), -1,
           2000);
    call_do(&c, &t, chat, body(TOOLS ",\"stream\":true,\"max_tokens\":24"));
    see(&s, &c);
    is_stream(&s, "length", "a limit inside a call");
    is_int(s.n, 1, "a limit inside a call: it stays told");
    is_str(row_get(&c, "finish_reason", row, sizeof(row)), "length",
           "a limit inside a call: the row");
    see_release(&s);
    call_release(&c);
    call_do(&c, &t, chat, body(TOOLS ",\"max_tokens\":24"));
    ok(strstr(call_body(&c), "\"finish_reason\":\"length\""),
       "a limit inside a call, whole: length");
    call_release(&c);
    apit_close(&t);
}

static void broken(void)
{
    char row[64];
    struct seen s;
    struct call c;

    script(CALL_CITY("one two three four five six seven eight nine ten"), 24,
           2000);
    call_do(&c, &t, chat, body(TOOLS ",\"stream\":true"));
    see(&s, &c);
    is_stream(&s, "error", "a failure inside a call");
    is_int(s.n, 1, "a failure inside a call: what was told stays");
    see_release(&s);
    call_release(&c);
    apit_close(&t);

    script(CALL_CITY("one two three four five six seven eight nine ten"), -1,
           5000);
    call_start(&c, &t, "POST", chat, body(TOOLS ",\"stream\":true"), NULL);
    ok(call_until(&c, "\"name\":\"weather\"", 5000), "a call begins");
    api_gone(&c.x);
    call_finish(&c);
    is_int(c.state, X_FAILED, "the client leaves inside it");
    is_str(row_get(&c, "finish_reason", row, sizeof(row)), "abandoned",
           "the row says so");
    call_release(&c);
    apit_close(&t);
}

/* --- JSON or a call ------------------------------------------------------ */

#define SUM                                                                    \
    "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{"          \
    "\"schema\":{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":"      \
    "\"integer\"}},\"required\":[\"sum\"],\"additionalProperties\":false}}}"

/* Settled: beside tools the answer is a call or the JSON. The script only says
 * where it begins: what the form forces is no part of it. */
static void json_or_call(void)
{
    static const struct {
        const char *script, *choice;
        bool call;
    } rows[] = {
        {CALL_ADD END, "", true},
        {"{\"sum\": 4}" END, "", false},
        {"words, words", "", false},
        {CALL_ADD END, ",\"tool_choice\":\"none\"", false},
    };
    char more[1024];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct call c;
        struct arena a;
        const struct json *v, *said, *sum = NULL;

        script(rows[i].script, -1, 0);
        snprintf(more, sizeof(more), TOOLS "," SUM "%s", rows[i].choice);
        call_do(&c, &t, chat, body(more));
        v = json_at(call_json(&c, &a), "choices.0");
        said = json_at(v, "message.content");
        ok(json_str_is(json_at(v, "finish_reason"),
                       rows[i].call ? "tool_calls" : "stop"),
           "JSON beside tools, %zu", i);
        if (said && said->type == JSON_STR &&
            !json_parse(&v, &a, said->str.s, said->str.n, NULL))
            sum = json_get(v, "sum");
        else if (rows[i].call)
            ok(json_str_is(json_at(v, "message.tool_calls.0.function.name"),
                           "add") && !json_at(v, "message.tool_calls.1"),
               "a call alone");
        is_int(!!sum, !rows[i].call, "%s", rows[i].call ? "no JSON" : "JSON");
        arena_release(&a);
        call_release(&c);
        apit_close(&t);
    }
}

/* --- what is refused at admission ---------------------------------------- */

static void refused(void)
{
    static const struct {
        const char *json, *param;
    } rows[] = {
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
         "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":"
         "{\"schema\":{\"uniqueItems\":true}}}}",
         "response_format.json_schema.schema"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
         "\"structured_outputs\":{\"regex\":\"(a\"}}",
         "structured_outputs.regex"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]," TOOLS
         ",\"tool_choice\":\"required\",\"structured_outputs\":{\"regex\":"
         "\"a\"}}", "structured_outputs"},
        {"{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
         "{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\","
         "\"content\":[{\"type\":\"text\",\"text\":\"x\"},{\"type\":"
         "\"image_url\",\"image_url\":{\"url\":\"x\"}}]}]}",
         "messages[2].content[1].type"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
         "\"add_generation_prompt\":false}", "add_generation_prompt"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"},"
         "{\"role\":\"system\"," TOOLS "}]}", "messages[1].tools"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
         "\"reasoning_effort\":75}", "reasoning_effort"},
    };
    struct call c;
    struct arena a;

    script("x" END, -1, 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        call_do(&c, &t, chat, rows[i].json);
        is_int(call_status(&c), 400, "%s: 400", rows[i].param);
        ok(json_str_is(json_at(call_json(&c, &a), "error.param"),
                       rows[i].param),
           "%s is named", rows[i].param);
        arena_release(&a);
        call_release(&c);
    }
    apit_close(&t);
}

/* Case C34 where no chat format stands between: a prompt of /v1/completions
 * and a forced answer are text. */
static void plain_text(void)
{
    static const char text[] = "/v1/completions";
    char json[128];
    struct call c;
    struct arena a;
    const struct json *v;
    int64_t one, two;

    script("x" END, -1, 0);
    call_do(&c, &t, text, "{\"prompt\":\"" END "\",\"max_tokens\":1}");
    ok(json_int(json_at(call_json(&c, &a), "usage.prompt_tokens")) > 1,
       "case C34: a marker in a prompt is text");
    arena_release(&a);
    call_release(&c);
    call_do(&c, &t, chat, body("\"structured_outputs\":{\"choice\":[\"" END
                               "\"]}"));
    v = call_json(&c, &a);
    ok(json_str_is(json_at(v, "choices.0.message.content"), END),
       "case C34: and in a forced answer");
    arena_release(&a);
    call_release(&c);

    call_do(&c, &t, text, "{\"prompt\":\"one\",\"max_tokens\":1}");
    one = json_int(json_at(call_json(&c, &a), "usage.prompt_tokens"));
    arena_release(&a);
    call_release(&c);
    call_do(&c, &t, text, "{\"prompt\":[\"one\",\"one\"],\"max_tokens\":1}");
    two = json_int(json_at(call_json(&c, &a), "usage.prompt_tokens"));
    is_int(two, 2 * one, "two prompts are counted both");
    arena_release(&a);
    call_release(&c);

    for (int64_t id = (int64_t)tok_count(t.tok) - 1, k = 0; k < 2; k++) {
        snprintf(json, sizeof(json), "{\"prompt\":[%lld],\"max_tokens\":1}",
                 (long long)(id + k));
        call_do(&c, &t, text, json);
        is_int(call_status(&c), k ? 400 : 200, "id %lld", (long long)(id + k));
        call_release(&c);
    }
    apit_close(&t);
}

int main(void)
{
    const char *why;
    struct scripted_config gen = {.fail_after = -1, .context = 512};

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    joinable();
    typed();
    characters();
    around();
    broken();
    json_or_call();
    refused();
    plain_text();
    return done();
}
