/*
 * What /v1/messages answers, streamed and whole, against a scripted gen: the
 * order of events and every member that Message and RawMessageStreamEvent of
 * @anthropic-ai/sdk 1.14.0 declare (resources/messages/messages.d.ts), joined
 * as its lib/MessageStream.js does. Scripts are token sequences in the forms
 * of the demo model's chat template.
 */
#include "api/run.h"
#include "t/lib/apit.h"
#include <unistd.h>

static const char *const route = "/v1/messages";

#define TOOL(name, params)                                                     \
    "{\"name\":\"" name "\",\"input_schema\":{\"type\":\"object\","            \
    "\"properties\":{" params "}}}"
#define ADD TOOL("add", "\"a\":{\"type\":\"integer\"},"                        \
                        "\"b\":{\"type\":\"integer\"}")
#define WEATHER TOOL("weather", "\"city\":{\"type\":\"string\"}")
#define TOOLS "\"tools\":[" ADD "," WEATHER "]"
#define THINK "\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":1024}"
#define HIDE "\"thinking\":{\"type\":\"adaptive\",\"display\":\"omitted\"}"

#define P(name, value) "<parameter=" name ">\n" value "\n</parameter>\n"
#define CALL(name, params)                                                     \
    "<tool_call>\n<function=" name ">\n" params "</function>\n</tool_call>"
#define CALL_ADD CALL("add", P("a", "2") P("b", "2"))
#define CALL_CITY(city) CALL("weather", P("city", city))
#define CUT                                                                    \
    "<tool_call>\n<function=weather>\n<parameter=city>\none two three four "     \
    "five six seven "
#define END "<|im_end|>"
#define IS_ADD "add{\"a\": 2, \"b\": 2}"
#define IS_CITY(city) "weather{\"city\": \"" city "\"}"

static struct apit t;
static struct scripted_config gen;
static void (*config)(struct api_config *c);

/* A server whose model writes this. */
static void script(const char *text, int64_t gap_us)
{
    static int32_t ids[1024];
    const char *why;

    gen.ids = ids;
    gen.n = apit_ids(text, ids, 1024);
    gen.per_token_us = gap_us;
    if (!apit_open(&t, &gen, config, &why))
        exit(1);
}

static const char *body(bool stream, const char *more)
{
    static char out[4096];

    snprintf(out, sizeof(out),
             "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
             "\"stream\":%s%s%s%s}", stream ? "true" : "false",
             strstr(more, "max_tokens") ? "" : ",\"max_tokens\":500",
             *more ? "," : "", more);
    return out;
}

static const char *str(const struct json *v)
{
    return v && v->type == JSON_STR ? v->str.s : "(none)";
}

static bool is_null(const struct json *o, const char *key)
{
    return json_get(o, key) && json_get(o, key)->type == JSON_NULL;
}

/* --- what a client joins ------------------------------------------------- */

/* Blocks as words: (reasoning|signature) [text] name{arguments}; then the
 * reason, and the stop string behind a colon. */
struct seen {
    struct arena arena;
    struct buf blocks, names; /* names of events, with spaces between */
    const char *wrong;   /* the first rule that was broken */
    int32_t index;       /* blocks that began */
    bool open, started, stopped, over;
    char kind[16], head[96], signature[4096];
    struct buf text;
    int comments;
    const struct json *start, *end, *error;
};

static void broke(struct seen *s, const char *what)
{
    if (!s->wrong)
        s->wrong = what;
}

static void put_block(struct buf *b, const char *kind, const char *head,
                      const char *text, const char *signature)
{
    if (b->n)
        buf_puts(b, " ");
    if (strcmp(kind, "thinking") == 0)
        buf_printf(b, "(%s|%s)", text, signature);
    else if (strcmp(kind, "text") == 0)
        buf_printf(b, "[%s]", text);
    else
        buf_printf(b, "%s%s", head, text);
}

static void put_reason(struct buf *b, const struct json *v)
{
    if (b->n)
        buf_puts(b, " ");
    buf_puts(b, str(json_get(v, "stop_reason")));
    if (!is_null(v, "stop_sequence"))
        buf_printf(b, ":%s", str(json_get(v, "stop_sequence")));
    buf_putc(b, '\0');
}

static void see_usage(struct seen *s, const struct json *u, bool full)
{
    if (!u || u->n != (full ? 10 : 6) || !is_null(u, "server_tool_use") ||
        json_int(json_get(u, "input_tokens")) < 0 ||
        json_int(json_get(u, "cache_read_input_tokens")) < 0 ||
        json_int(json_get(u, "cache_creation_input_tokens")) != 0 ||
        json_int(json_get(u, "output_tokens")) < 0 ||
        json_int(json_at(u, "output_tokens_details.thinking_tokens")) < 0)
        broke(s, "usage has its members");
    if (full && (!is_null(u, "cache_creation") || !is_null(u, "speed") ||
                 !is_null(u, "inference_geo") || !is_null(u, "service_tier")))
        broke(s, "usage has its nulls");
}

/* `more`: members beside those of Message. */
static void see_message(struct seen *s, const struct json *m, size_t more)
{
    if (!m || m->n != 11 + more || !json_is(json_get(m, "type"), "message") ||
        !json_is(json_get(m, "role"), "assistant") ||
        !json_is(json_get(m, "model"), "demo") ||
        strncmp(str(json_get(m, "id")), "msg_", 4) != 0 ||
        !is_null(m, "container") || !is_null(m, "diagnostics") ||
        !is_null(m, "stop_details"))
        broke(s, "a message has its members");
    see_usage(s, json_get(m, "usage"), true);
}

static void see_start(struct seen *s, const struct json *v)
{
    const struct json *b = json_get(v, "content_block");
    const struct json *input = json_get(b, "input");

    if (s->open || json_int(json_get(v, "index")) != s->index || v->n != 3)
        broke(s, "a block begins behind the one before");
    s->open = true;
    s->index++;
    buf_clear(&s->text);
    snprintf(s->kind, sizeof(s->kind), "%s", str(json_get(b, "type")));
    snprintf(s->head, sizeof(s->head), "%s", str(json_get(b, "name")));
    s->signature[0] = '\0';
    if (strcmp(s->kind, "tool_use") == 0) {
        if (b->n != 5 || !input || input->type != JSON_OBJ || input->n ||
            strlen(str(json_get(b, "id"))) != 29 ||
            !json_is(json_at(b, "caller.type"), "direct"))
            broke(s, "a call begins with its name");
    } else if (b->n != 3 ||
               !json_is(json_get(b, s->kind), "") ||
               (strcmp(s->kind, "text") == 0
                    ? !is_null(b, "citations")
                    : !json_is(json_get(b, "signature"), ""))) {
        broke(s, "a block begins empty");
    }
}

static void see_delta(struct seen *s, const struct json *v)
{
    const struct json *d = json_get(v, "delta");
    const char *type = str(json_get(d, "type"));
    const char *want = strcmp(s->kind, "text") == 0 ? "text_delta"
                       : strcmp(s->kind, "thinking") == 0
                           ? "thinking_delta"
                           : "input_json_delta";
    const struct json *text = json_get(d, strcmp(want, "input_json_delta")
                                              ? s->kind
                                              : "partial_json");

    if (!s->open || json_int(json_get(v, "index")) != s->index - 1 ||
        v->n != 3 || !d || d->n != 2)
        broke(s, "deltas are of the open block");
    if (strcmp(type, "signature_delta") == 0) {
        if (s->signature[0] || strcmp(s->kind, "thinking") != 0)
            broke(s, "one signature of a thinking block");
        snprintf(s->signature, sizeof(s->signature), "%s",
                 str(json_get(d, "signature")));
        return;
    }
    if (strcmp(type, want) != 0 || s->signature[0] || !text ||
        text->type != JSON_STR || !text->str.n)
        broke(s, "a delta fits its block, and is not empty");
    else
        buf_add(&s->text, text->str.s, text->str.n);
}

static void see_stop(struct seen *s, const struct json *v)
{
    if (!s->open || json_int(json_get(v, "index")) != s->index - 1 ||
        v->n != 2)
        broke(s, "the open block is closed");
    s->open = false;
    buf_putc(&s->text, '\0');
    put_block(&s->blocks, s->kind, s->head, s->text.p, s->signature);
}

static void see_event(struct seen *s, const char *name, const struct json *v)
{
    buf_printf(&s->names, s->names.n ? " %s" : "%s", name);
    if (!json_is(json_get(v, "type"), name))
        broke(s, "the name is the type");
    if (s->over || s->error)
        broke(s, "nothing comes behind the end");
    if (strcmp(name, "message_start") == 0) {
        s->start = json_get(v, "message");
        if (s->started || !s->start ||
            json_get(s->start, "content")->n || v->n != 2 ||
            !is_null(s->start, "stop_reason") ||
            !is_null(s->start, "stop_sequence"))
            broke(s, "it starts once, with nothing");
        see_message(s, s->start,
                    json_get(s->start, "skipped_tools") ? 1 : 0);
        s->started = true;
        return;
    }
    if (strcmp(name, "error") == 0) {
        s->error = v;
        return;
    }
    if (!s->started || s->stopped)
        if (strcmp(name, "message_stop") != 0)
            broke(s, "it starts first, and its end is the end");
    if (strcmp(name, "content_block_start") == 0)
        see_start(s, v);
    else if (strcmp(name, "content_block_delta") == 0)
        see_delta(s, v);
    else if (strcmp(name, "content_block_stop") == 0)
        see_stop(s, v);
    else if (strcmp(name, "message_delta") == 0) {
        s->end = v;
        s->stopped = true;
        if (s->open || v->n != 5 || json_get(v, "delta")->n != 4 ||
            !json_get(v, "timings") || !json_get(v, "metrics"))
            broke(s, "its end has its members");
        see_usage(s, json_get(v, "usage"), false);
        put_reason(&s->blocks, json_get(v, "delta"));
    } else if (strcmp(name, "message_stop") == 0) {
        s->over = true;
        if (!s->stopped || v->n != 1)
            broke(s, "the end comes last");
    } else {
        broke(s, "every event is a known one");
    }
}

static void see_begin(struct seen *s)
{
    memset(s, 0, sizeof(*s));
    arena_init(&s->arena, 64 << 20);
    buf_init(&s->blocks, BUF_ANSWER);
    buf_init(&s->names, BUF_ANSWER);
    buf_init(&s->text, BUF_ANSWER);
}

static void see(struct seen *s, const struct call *c)
{
    const char *p = call_body(c);

    see_begin(s);
    while (*p) {
        const char *end = strstr(p, "\n\n"), *data = strstr(p, "\ndata: ");
        const struct json *v;
        char name[32];

        if (*p == ':') {
            s->comments++;
        } else if (!end || !data || data > end ||
                   strncmp(p, "event: ", 7) != 0 ||
                   memchr(data + 1, '\n', (size_t)(end - data - 1)) ||
                   json_parse(&v, &s->arena, data + 7,
                              (size_t)(end - data - 7), NULL)) {
            broke(s, "events are a name and a line of JSON");
        } else {
            snprintf(name, sizeof(name), "%.*s", (int)(data - p - 7), p + 7);
            see_event(s, name, v);
        }
        if (!end)
            break;
        p = end + 2;
    }
    buf_putc(&s->names, '\0');
    if (!s->blocks.n)
        buf_puts(&s->blocks, "");
}

/* The same of a whole answer; arguments as they stand in its bytes. */
static void see_whole(struct seen *s, const struct call *c)
{
    const char *p = call_body(c);
    const struct json *v = NULL;

    see_begin(s);
    if (json_parse(&v, &s->arena, p, strlen(p), NULL)) {
        broke(s, "it is JSON");
        return;
    }
    s->start = s->end = v;
    see_message(s, v, json_get(v, "skipped_tools") ? 3 : 2);
    for (const struct json *b = json_get(v, "content")->child; b;
         b = b->next) {
        const char *kind = str(json_get(b, "type"));
        char args[512] = "";

        if (strcmp(kind, "tool_use") == 0) {
            const char *end;

            p = strstr(p, "\"input\":") + 8;
            end = strstr(p, ",\"caller\":{\"type\":\"direct\"}}");
            snprintf(args, sizeof(args), "%.*s", (int)(end - p), p);
        }
        if (b->n != (strcmp(kind, "tool_use") ? 3 : 5))
            broke(s, "a block has its members");
        put_block(&s->blocks, kind, str(json_get(b, "name")),
                  *args ? args : str(json_get(b, kind)),
                  str(json_get(b, "signature")));
    }
    put_reason(&s->blocks, v);
}

static void see_release(struct seen *s)
{
    arena_release(&s->arena);
    buf_release(&s->blocks);
    buf_release(&s->names);
    buf_release(&s->text);
}

static void is_seen(const struct seen *s, const char *want, const char *what)
{
    ok(!s->wrong, "%s: %s", what, s->wrong ? s->wrong : "every rule holds");
    is_str(s->blocks.p, want, "%s", what);
}

static void one(const char *more, const char *want, const char *what,
                bool stream, int64_t wait_us)
{
    struct seen s;
    struct call c;

    call_start(&c, &t, "POST", route, body(stream, more), NULL);
    usleep((useconds_t)wait_us);
    call_finish(&c);
    if (stream)
        see(&s, &c);
    else
        see_whole(&s, &c);
    is_int(call_status(&c), 200, "%s: 200", what);
    is_seen(&s, want, what);
    see_release(&s);
    call_release(&c);
}

/* Looked at after every id, once at the end, and whole: all the same. `whole`
 * where that differs, else NULL. */
static void all(const char *text, const char *more, const char *want,
                const char *whole, const char *what)
{
    char name[96];

    script(text, 300);
    snprintf(name, sizeof(name), "%s, bit by bit", what);
    one(more, want, name, true, 0);
    apit_close(&t);
    script(text, 0);
    snprintf(name, sizeof(name), "%s, at once", what);
    one(more, want, name, true, 20000);
    snprintf(name, sizeof(name), "%s, whole", what);
    one(more, whole ? whole : want, name, false, 0);
    apit_close(&t);
}

/* --- answers ------------------------------------------------------------- */

static void blocks(void)
{
    all("Hello there." END, "", "[Hello there.] end_turn", NULL, "text");
    all(END, "", "end_turn", NULL, "nothing");
    all("M\xc3\xbcnster \xe6\xbc\xa2 \xf0\x9f\x98\x80" END, "",
        "[M\xc3\xbcnster \xe6\xbc\xa2 \xf0\x9f\x98\x80] end_turn", NULL,
        "characters of several tokens");
    all("hm, yes\n</think>\n\nok" END, THINK, "(hm, yes|pen1.) [ok] end_turn",
        NULL, "reasoning");
    /* base64url of "hm, yes" */
    all("hm, yes\n</think>\n\nok" END, HIDE,
        "(|pen1.aG0sIHllcw) [ok] end_turn", NULL, "reasoning that is hidden");
    all("hm\n</think>\n\n" END, THINK, "(hm|pen1.) end_turn", NULL,
        "reasoning alone");
}

static void calls(void)
{
    all(CALL_ADD END, TOOLS, IS_ADD " tool_use", NULL, "a call");
    all(CALL_ADD CALL_CITY("\xe6\xbc\xa2") END, TOOLS,
        IS_ADD " " IS_CITY("\xe6\xbc\xa2") " tool_use", NULL,
        "two calls");
    all(CALL_ADD "\n" CALL_CITY("Rom") "\n" END, TOOLS,
        IS_ADD " " IS_CITY("Rom") " tool_use", NULL,
        "white space around calls");
    all("I add. " CALL_ADD " And ask. " CALL_CITY("Rom") END, TOOLS,
        "[I add. ] " IS_ADD " [ And ask. ] " IS_CITY("Rom") " tool_use", NULL,
        "text between calls");
    all("hm\n</think>\n\nSo:" CALL_ADD END, THINK "," TOOLS,
        "(hm|pen1.) [So:] " IS_ADD " tool_use", NULL,
        "reasoning, text and a call");
    all(CALL_ADD CALL_CITY("Rom") END,
        TOOLS ",\"tool_choice\":{\"type\":\"auto\","
              "\"disable_parallel_tool_use\":true}",
        IS_ADD " tool_use", NULL, "one call at a time");
    all(CALL_ADD END,
        TOOLS ",\"tool_choice\":{\"type\":\"tool\",\"name\":\"add\"}",
        "add{} tool_use", NULL, "a call that was asked for");
    all(CALL("add", "") END, TOOLS, "add{} tool_use", NULL,
        "a call without arguments");
}

static void ends(void)
{
    all("one two three", "\"max_tokens\":2", "[one two] max_tokens", NULL,
        "length");
    gen.context = 64;
    all("a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a "
        "a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a",
        "\"max_tokens\":64,\"stop_sequences\":[\"b\"]",
        "[a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a "
        "a a a a a a a a a a a a a a a a a] model_context_window_exceeded",
        NULL, "the context");
    gen.context = 4096;
    all("one two three four" END, "\"stop_sequences\":[\"four\",\"thr\"]",
        "[one two ] stop_sequence:thr", NULL, "a stop string");
    all("thr\n</think>\n\none four" END,
        THINK ",\"stop_sequences\":[\"four\",\"thr\"]",
        "(thr|pen1.) [one ] stop_sequence:four", NULL,
        "no stop string in reasoning");
    all("one" END, "\"stop_sequences\":[\"four\"]", "[one] end_turn", NULL,
        "a stop string that did not come");
    all(CALL_ADD "four" END, TOOLS ",\"stop_sequences\":[\"four\"]",
        IS_ADD " tool_use", NULL, "a stop string behind a call");
    /* what was cut is no call; a stream cannot take it back */
    all(CUT "eight nine ten", TOOLS ",\"max_tokens\":24",
        "weather{\"city\": \"one two three four five six seven eight nine ten "
        "[" CUT "eight nine ten] max_tokens",
        "[" CUT "eight nine ten] max_tokens", "length within a call");
    all(CUT END, TOOLS,
        "weather{\"city\": \"one two three four five six seven [" CUT
        "] end_turn", "[" CUT "] end_turn", "a turn that ends within a call");
}

/* Put them into the call of a whole answer that is not over. False: it was over
 * before. */
static bool change_arguments(struct call *c, const char *args)
{
    const struct calls *made = NULL;

    call_start(c, &t, "POST", route, body(false, TOOLS), NULL);
    while (c->state == X_MORE && !(made && made->n && made->p[0]->whole)) {
        call_until(c, NULL, 1);
        if (c->state == X_MORE)
            made = choice_calls(&run_of(&c->x)->choices[0]);
    }
    if (c->state != X_MORE)
        return false;
    buf_clear(&made->p[0]->args);
    buf_puts(&made->p[0]->args, args);
    return true;
}

/* Arguments that no form of ours should give. */
static void broken(void)
{
    static const char *const args[] = {"{\"a\": ", "[2]", "\"a\"", "", "{}}",
                                       "2"};

    script(CALL_ADD "one two three four five" END, 2000);
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
        struct seen s;
        struct call c;

        while (!change_arguments(&c, args[i]))
            call_release(&c);
        call_finish(&c);
        see_whole(&s, &c);
        is_seen(&s, "add{} [one two three four five] tool_use", args[i]);
        see_release(&s);
        call_release(&c);
    }
    apit_close(&t);
}

static void short_time(struct api_config *c)
{
    c->request_timeout_ms = 400;
}

static void timeout(void)
{
    config = short_time;
    gen.loop = true;
    script(" a", 40000);
    for (int stream = 0; stream < 2; stream++) {
        struct seen s;
        struct call c;

        call_do(&c, &t, route, body(stream, ""));
        if (stream)
            see(&s, &c);
        else
            see_whole(&s, &c);
        ok(!s.wrong, "timeout: every rule holds");
        ok(s.blocks.p && strstr(s.blocks.p, "a] timeout"),
           "timeout: it says so");
        see_release(&s);
        call_release(&c);
    }
    apit_close(&t);
    gen.loop = false;
    config = NULL;
}

/* --- what goes wrong ----------------------------------------------------- */

static bool is_failure(const struct json *v, const struct call *c)
{
    char id[64];

    return v && v->n == 3 && json_get(v, "error")->n == 2 &&
           json_is(json_get(v, "type"), "error") &&
           json_is(json_at(v, "error.type"), "api_error") &&
           json_str_is(json_get(v, "request_id"),
                       call_header(c, "request-id", id, sizeof(id)));
}

static void failures(void)
{
    struct arena a;
    struct seen s;
    struct call c;
    char row[64];

    gen.fail_after = 3;
    script("one two three four" END, 2000);
    call_do(&c, &t, route, body(true, ""));
    see(&s, &c);
    ok(!s.wrong && !s.stopped, "a failure: nothing comes behind it");
    ok(is_failure(s.error, &c), "a failure: one event says so");
    is_str(row_get(&c, "finish_reason || ' ' || status", row, sizeof(row)),
           "error 200", "a failure: the row");
    see_release(&s);
    call_release(&c);
    call_do(&c, &t, route, body(false, ""));
    is_int(call_status(&c), 500, "a failure of a whole answer");
    ok(is_failure(call_json(&c, &a), &c), "in the shape of this route");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
    gen.fail_after = 0;
    script("one", 0);
    call_do(&c, &t, route, body(true, ""));
    is_int(call_status(&c), 500, "a failure before the first token");
    ok(is_failure(call_json(&c, &a), &c), "has a status");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
    gen.fail_after = -1;
}

/* --- the rest ------------------------------------------------------------ */

static void names(void)
{
    struct seen s;
    struct call c;
    char h[64];

    script("one" END, 0);
    call_start(&c, &t, "POST", route, body(true, ""), NULL);
    usleep(20000);
    call_finish(&c);
    see(&s, &c);
    is_str(s.names.p,
           "message_start content_block_start content_block_delta "
           "content_block_stop message_delta message_stop",
           "the events of a word");
    ok(!strstr(call_body(&c), "[DONE]"), "and no other end");
    is_str(call_header(&c, "Content-Type", h, sizeof(h)),
           "text/event-stream; charset=utf-8", "a stream of events");
    see_release(&s);
    call_release(&c);
    apit_close(&t);
}

static void usage(void)
{
    int64_t prompt, first;
    struct arena a;
    struct seen s;
    struct call c;

    gen.cached = 3;
    gen.prefill_us = 50000;
    script("hm\n</think>\n\none two" END, 0);
    call_do(&c, &t, "/v1/messages/count_tokens", body(false, THINK));
    first = json_int(json_get(call_json(&c, &a), "input_tokens"));
    arena_release(&a);
    call_release(&c);
    call_start(&c, &t, "POST", route, body(true, THINK), NULL);
    usleep(300000); /* it is over before anybody looks */
    call_finish(&c);
    see(&s, &c);
    is_int(json_int(json_at(s.start, "usage.input_tokens")), first - 3,
           "usage: at the start, as far as it is known");
    is_int(json_int(json_at(s.start, "usage.cache_read_input_tokens")), 3,
           "usage: and what was cached");
    prompt = json_int(json_at(s.end, "usage.input_tokens"));
    ok(first > 3 && prompt == first - 3, "usage: what was not cached");
    is_int(json_int(json_at(s.start, "usage.output_tokens")), 0,
           "usage: nothing yet");
    is_int(json_int(json_at(s.end, "usage.cache_read_input_tokens")), 3,
           "usage: what was");
    is_int(json_int(json_at(s.end, "usage.output_tokens")),
           json_int(json_at(s.end, "timings.predicted_n")),
           "usage: the answer");
    is_int(json_int(json_at(s.end,
                            "usage.output_tokens_details.thinking_tokens")),
           json_int(json_at(s.end, "timings.reasoning_n")),
           "usage: its reasoning");
    see_release(&s);
    call_release(&c);
    call_do(&c, &t, route, body(false, THINK));
    see_whole(&s, &c);
    is_int(json_int(json_at(s.end, "usage.input_tokens")), prompt,
           "usage: whole, too");
    is_int(json_int(json_at(s.end, "usage.cache_read_input_tokens")), 3,
           "usage: whole, what was cached");
    see_release(&s);
    call_release(&c);
    apit_close(&t);
    gen.cached = 0;
    gen.prefill_us = 0;
}

static void skipped(void)
{
    static const char tools[] =
        "\"tools\":[{\"type\":\"web_search_20250305\",\"name\":\"web_search\"},"
        "{\"type\":\"bash_20250124\",\"name\":\"bash\"}," ADD "]";
    struct seen s;
    struct call c;
    char h[64];

    script("one" END, 0);
    for (int stream = 0; stream < 2; stream++) {
        call_do(&c, &t, route, body(stream, tools));
        if (stream)
            see(&s, &c);
        else
            see_whole(&s, &c);
        ok(!s.wrong, "skipped tools: every rule holds");
        ok(json_str_is(json_at(s.start, "skipped_tools.0"),
                       "web_search_20250305") &&
               json_str_is(json_at(s.start, "skipped_tools.1"),
                           "bash_20250124") &&
               json_get(s.start, "skipped_tools")->n == 2,
           "skipped tools: a list");
        is_str(call_header(&c, "X-Skipped-Tools", h, sizeof(h)),
               "web_search_20250305, bash_20250124",
               "skipped tools: a header");
        see_release(&s);
        call_release(&c);
    }
    apit_close(&t);
}

static void often(struct api_config *c)
{
    c->wait_line_ms = 20;
}

/* A stream that waits has comment lines and no event. */
static void waiting(void)
{
    struct seen s;
    struct call c;

    config = often;
    script("one" END, 0);
    scripted_hold(t.gen);
    call_start(&c, &t, "POST", route, body(true, ""), NULL);
    ok(call_until(&c, ": waiting", 5000), "a waiting line");
    ok(!strstr(call_body(&c), "event:"), "and nothing else");
    scripted_release(t.gen);
    call_finish(&c);
    see(&s, &c);
    ok(s.comments > 0, "waiting: comment lines");
    is_seen(&s, "[one] end_turn", "waiting");
    see_release(&s);
    call_release(&c);
    apit_close(&t);
    config = NULL;
}

int main(void)
{
    const char *why;

    gen = (struct scripted_config){.fail_after = -1, .context = 4096};
    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    blocks();
    calls();
    ends();
    broken();
    timeout();
    failures();
    names();
    usage();
    skipped();
    waiting();
    return done();
}
