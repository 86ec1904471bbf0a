/*
 * What a client of /v1/responses gets: events in exact order with the members
 * that their types require, the same items however often the pump looked, the
 * same object whole, and what it repeats of the request. The judge of names
 * and members: resources/responses/responses.d.ts of the npm package openai
 * 7.59.0. Scripts are token sequences in the XML form of the published
 * Qwen3-Coder chat template.
 */
#include "chat/jsontext.h"
#include "base/utf8.h"
#include "t/lib/apit.h"

#define TOOLS                                                                  \
    "\"tools\":[{\"type\":\"function\",\"name\":\"add\",\"parameters\":{"       \
    "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}},"     \
    "{\"type\":\"function\",\"name\":\"weather\",\"strict\":false,"             \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":{"           \
    "\"type\":\"string\"}}}}]"
#define CALL(name, key, value)                                                 \
    "<tool_call>\n<function=" name ">\n<parameter=" key ">\n" value            \
    "\n</parameter>\n</function>\n</tool_call>"
#define END "<|im_end|>"
#define HIGH "\"reasoning\":{\"effort\":\"high\"}"
#define NONE "\"reasoning\":{\"effort\":\"none\"}"

static struct apit t;

static void script(const char *text, int32_t fail_after)
{
    static int32_t ids[1024];
    struct scripted_config gen = {.ids = ids, .fail_after = fail_after,
                                  .context = 4096, .per_token_us = 300};
    const char *why;

    gen.n = apit_ids(text, ids, 1024);
    if (!apit_open(&t, &gen, NULL, &why))
        exit(1);
}

static const char *body(const char *more, bool stream)
{
    static char out[8192];

    snprintf(out, sizeof(out), "{\"input\":\"Hi\"%s%s%s}", *more ? "," : "",
             more, stream ? ",\"stream\":true" : "");
    return out;
}

/* --- a stream ------------------------------------------------------------ */

#define ITEMS 8

struct seen {
    struct arena arena;
    char order[2048];       /* names of the events, see word_of */
    char bad[256];          /* the first rule that was broken */
    int64_t n;              /* events */
    int deltas;
    struct buf joined[ITEMS]; /* deltas of each item */
    const struct json *logprobs[256]; /* of its deltas */
    int n_logprobs;
    const struct json *first, *last; /* the object of both ends */
};

static void fail(struct seen *s, const char *what, const char *detail)
{
    if (!s->bad[0])
        snprintf(s->bad, sizeof(s->bad), "event %lld: %s %s",
                 (long long)s->n, what, detail);
}

/* type -> its members besides type and sequence_number, with S string, N
 * number, A array, O object. */
static const struct {
    const char *type, *members, *word;
} rules[] = {
    {"response.created", "response:O", "created"},
    {"response.in_progress", "response:O", "in_progress"},
    {"response.output_item.added", "output_index:N item:O", "+"},
    {"response.content_part.added",
     "item_id:S output_index:N content_index:N part:O", "(part"},
    {"response.output_text.delta",
     "item_id:S output_index:N content_index:N delta:S logprobs:A", "..."},
    {"response.output_text.done",
     "item_id:S output_index:N content_index:N text:S logprobs:A", "text"},
    {"response.reasoning_text.delta",
     "item_id:S output_index:N content_index:N delta:S", "..."},
    {"response.reasoning_text.done",
     "item_id:S output_index:N content_index:N text:S", "reasoning"},
    {"response.content_part.done",
     "item_id:S output_index:N content_index:N part:O", "part)"},
    {"response.function_call_arguments.delta",
     "item_id:S output_index:N delta:S", "..."},
    {"response.function_call_arguments.done",
     "item_id:S output_index:N arguments:S", "arguments"},
    {"response.custom_tool_call_input.delta",
     "item_id:S output_index:N delta:S", "..."},
    {"response.custom_tool_call_input.done",
     "item_id:S output_index:N input:S", "input"},
    {"response.output_item.done", "output_index:N item:O", "-"},
    {"response.completed", "response:O", "completed"},
    {"response.incomplete", "response:O", "incomplete"},
    {"response.failed", "response:O", "failed"},
};
static const char response_members[] =
    "id:S object:S created_at:N status:S error:? incomplete_details:? "
    "instructions:? metadata:O model:S output:A parallel_tool_calls:B "
    "temperature:N tool_choice:? tools:A top_p:N access_programs:?";
static const struct {
    const char *type, *members;
} items[] = {
    {"message", "id:S status:S role:S content:A"},
    {"reasoning", "id:S status:S summary:A content:A"},
    {"function_call", "id:S status:S arguments:S call_id:S name:S"},
    {"custom_tool_call", "id:S input:S call_id:S name:S"},
};

static char letter(const struct json *v)
{
    static const char letters[] = {
        [JSON_NULL] = '0', [JSON_BOOL] = 'B', [JSON_NUM] = 'N',
        [JSON_STR] = 'S', [JSON_ARR] = 'A', [JSON_OBJ] = 'O',
    };

    return letters[v->type];
}

/* All of these members are there, with their types. */
static void has(struct seen *s, const struct json *v, const char *members)
{
    char list[512], *at = NULL;

    snprintf(list, sizeof(list), "%s", members);
    for (char *m = strtok_r(list, " ", &at); m; m = strtok_r(NULL, " ", &at)) {
        char *colon = strchr(m, ':');
        const struct json *got;

        *colon = '\0';
        got = json_get(v, m);
        if (!got || (colon[1] != '?' && letter(got) != colon[1]))
            fail(s, "lacks", m);
    }
}

static const char *str(const struct json *v, const char *key)
{
    const struct json *m = json_get(v, key);

    return m && m->type == JSON_STR ? m->str.s : "(none)";
}

static void see_item(struct seen *s, const struct json *item)
{
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        if (!strcmp(items[i].type, str(item, "type"))) {
            has(s, item, items[i].members);
            return;
        }
    fail(s, "an item of type", str(item, "type"));
}

static void put_word(struct seen *s, const char *word, const char *more)
{
    size_t n = strlen(s->order);

    if (!strcmp(word, "...") && n > 3 && !strcmp(s->order + n - 3, word))
        return; /* how many there are is nobody's business */
    snprintf(s->order + n, sizeof(s->order) - n, "%s%s%s", n ? " " : "", word,
             more);
}

static void see_delta(struct seen *s, const struct json *v)
{
    int64_t i = json_int(json_get(v, "output_index"));
    const struct json *delta = json_get(v, "delta");
    const struct json *probs = json_get(v, "logprobs");

    if (!delta || i < 0 || i >= ITEMS)
        return;
    s->deltas++;
    if (!delta->str.n || !utf8_valid(delta->str.s, delta->str.n, NULL))
        fail(s, "a delta", "");
    buf_add(&s->joined[i], delta->str.s, delta->str.n);
    for (const struct json *p = probs ? probs->child : NULL; p; p = p->next)
        if (s->n_logprobs < 256)
            s->logprobs[s->n_logprobs++] = p;
}

static size_t count(const struct json *v)
{
    return v ? v->n : 0;
}

static size_t colons(const char *members)
{
    size_t n = 0;

    for (; *members; members++)
        n += *members == ':';
    return n;
}

static void see_event(struct seen *s, const char *name, const struct json *v)
{
    const struct json *response = json_get(v, "response");
    const struct json *item = json_get(v, "item");
    size_t i = 0;

    if (strcmp(name, str(v, "type")) != 0)
        fail(s, "its name is not its type", name);
    if (json_int(json_get(v, "sequence_number")) != s->n)
        fail(s, "its number", name);
    while (i < sizeof(rules) / sizeof(rules[0]) && strcmp(rules[i].type, name))
        i++;
    if (i == sizeof(rules) / sizeof(rules[0])) {
        fail(s, "nobody knows", name);
        return;
    }
    has(s, v, rules[i].members);
    if (v->n != 2 + colons(rules[i].members))
        fail(s, "has too many members", name);
    if (response) {
        has(s, response, response_members);
        s->first = s->first ? s->first : response;
        s->last = response;
    }
    if (item)
        see_item(s, item);
    if (item && rules[i].word[0] == '+' &&
        (count(json_get(item, "content")) ||
         json_get(item, "encrypted_content") ||
         (json_get(item, "input") && json_get(item, "input")->str.n) ||
         (!json_is(json_get(item, "type"), "custom_tool_call") &&
          !json_is(json_get(item, "status"), "in_progress"))))
        fail(s, "begins with something", str(item, "type"));
    if (item && rules[i].word[0] == '+')
        put_word(s, "+", str(item, "type"));
    else if (item)
        put_word(s, "-", str(item, "status"));
    else
        put_word(s, rules[i].word, "");
    see_delta(s, v);
    s->n++;
}

static void see(struct seen *s, const struct call *c)
{
    static const char event[] = "event: ", data[] = "\ndata: ";
    const char *p = call_body(c);

    memset(s, 0, sizeof(*s));
    arena_init(&s->arena, 64 << 20);
    for (int i = 0; i < ITEMS; i++) {
        buf_init(&s->joined[i], BUF_ANSWER);
        buf_puts(&s->joined[i], "");
    }
    while (*p) {
        const char *end = strstr(p, "\n\n"), *colon = strstr(p, data);
        char name[64];
        const struct json *v;

        if (!end || strncmp(p, event, 7) || !colon || colon > end) {
            fail(s, "its frame", "");
            return;
        }
        snprintf(name, sizeof(name), "%.*s", (int)(colon - p - 7), p + 7);
        colon += sizeof(data) - 1;
        if (json_parse(&v, &s->arena, colon, (size_t)(end - colon), NULL)) {
            fail(s, "is no JSON", name);
            return;
        }
        see_event(s, name, v);
        p = end + 2;
    }
}

static void see_release(struct seen *s)
{
    for (int i = 0; i < ITEMS; i++)
        buf_release(&s->joined[i]);
    arena_release(&s->arena);
}

/* One item in a line, without ids. */
static void print_item(struct buf *b, const struct json *item)
{
    const struct json *part = json_at(item, "content.0");

    buf_printf(b, "%s/%s ", str(item, "type"), str(item, "status"));
    if (json_is(json_get(item, "type"), "function_call"))
        buf_printf(b, "%s%s%s(%s)", json_get(item, "namespace")
                       ? str(item, "namespace") : "",
                   json_get(item, "namespace") ? "/" : "", str(item, "name"),
                   str(item, "arguments"));
    else if (json_is(json_get(item, "type"), "custom_tool_call"))
        buf_printf(b, "%s<%s>", str(item, "name"), str(item, "input"));
    else
        buf_printf(b, "[%s]", part ? str(part, "text") : "no part");
    buf_puts(b, "; ");
}

static const char *print_items(const struct json *response)
{
    static struct buf b[2];
    static int turn;
    struct buf *out = &b[turn ^= 1];
    const struct json *list = json_get(response, "output");

    buf_release(out);
    buf_init(out, BUF_ANSWER);
    buf_puts(out, "");
    for (const struct json *i = list ? list->child : NULL; i; i = i->next)
        print_item(out, i);
    return out->p;
}

/* Joined deltas are what the items say at the end; ids follow the plan. */
static void check_items(struct seen *s)
{
    const struct json *list = json_get(s->last, "output");
    const char *hex = str(s->last, "id") + 5;
    int k = 0;

    for (const struct json *i = list ? list->child : NULL; i && k < ITEMS;
         i = i->next, k++) {
        const struct json *part = json_at(i, "content.0");
        const char *kind = str(i, "type"), *text;
        char id[64];

        text = !strcmp(kind, "function_call")      ? str(i, "arguments")
               : !strcmp(kind, "custom_tool_call") ? str(i, "input")
                                                   : str(part, "text");
        if (strcmp(text, s->joined[k].p) != 0)
            fail(s, "joined deltas are not the item's text:", text);
        snprintf(id, sizeof(id), "%s_%s%02x",
                 !strcmp(kind, "function_call")      ? "fc"
                 : !strcmp(kind, "custom_tool_call") ? "ctc"
                 : !strcmp(kind, "message")          ? "msg"
                                                     : "rs",
                 hex, (unsigned)k);
        if (strcmp(id, str(i, "id")) != 0)
            fail(s, "the id", str(i, "id"));
    }
}

static void text_same_json(const struct json *a, const struct json *b,
                           const char *key, const char *what)
{
    struct buf x, y;

    buf_init(&x, BUF_ANSWER);
    buf_init(&y, BUF_ANSWER);
    jsontext(&x, a, JT_COMPACT);
    jsontext(&y, b, JT_COMPACT);
    is_str(x.p, y.p, "%s: %s", what, key);
    buf_release(&x);
    buf_release(&y);
}

/* The whole answer is the last event's object but for ids and times. */
static void check_whole(struct seen *s, const struct json *v, const char *what)
{
    static const char *const own[] = {"id", "created_at", "completed_at",
                                      "output", "timings", "metrics"};

    is_int(v ? (intmax_t)v->n : 0, (intmax_t)s->last->n,
           "%s: as many members", what);
    is_str(print_items(v), print_items(s->last), "%s: the same items", what);
    for (const struct json *m = v ? v->child : NULL; m; m = m->next) {
        const struct json *other = json_get(s->last, m->key.s);
        bool differs = false;

        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            differs = differs || !strcmp(own[i], m->key.s);
        if (!other)
            ok(false, "%s: the stream lacks %s", what, m->key.s);
        else if (!differs)
            text_same_json(m, other, m->key.s, what);
    }
}

enum look { LOOK_OFTEN, LOOK_ONCE };

static void stream(struct seen *s, const char *more, enum look look)
{
    const struct timespec pause = {0, 100000000};
    struct call c;

    if (look == LOOK_ONCE)
        scripted_hold(t.gen);
    call_start(&c, &t, "POST", "/v1/responses", body(more, true), NULL);
    if (look == LOOK_ONCE) {
        scripted_release(t.gen);
        nanosleep(&pause, NULL);
    }
    call_finish(&c);
    see(s, &c);
    check_items(s);
    call_release(&c);
}

/* Three times: however often it was looked at, and whole. */
static void is_answer(const char *more, const char *order, const char *list,
                      const char *what)
{
    struct seen often, once;
    struct call c;
    struct arena a;

    stream(&often, more, LOOK_OFTEN);
    is_str(often.bad, "", "%s: every rule", what);
    is_str(often.order, order, "%s: the events", what);
    is_str(print_items(often.last), list, "%s: the items", what);
    stream(&once, more, LOOK_ONCE);
    is_str(once.bad, "", "%s, looked at once: every rule", what);
    is_str(once.order, order, "%s, looked at once: the events", what);
    is_str(print_items(once.last), list, "%s, looked at once: the items",
           what);
    call_do(&c, &t, "/v1/responses", body(more, false));
    is_int(call_status(&c), 200, "%s: whole", what);
    check_whole(&often, call_json(&c, &a), what);
    arena_release(&a);
    call_release(&c);
    see_release(&often);
    see_release(&once);
}

#define TEXT " +message (part ... text part) -completed"
#define ARGS " +function_call ... arguments -completed"

static void orders(void)
{
    script("Hello there." END, -1);
    is_answer(NONE, "created in_progress" TEXT " completed",
              "message/completed [Hello there.]; ", "text");
    apit_close(&t);
    script("hm\n</think>\n\nok" END, -1);
    is_answer(HIGH, "created in_progress +reasoning (part ... reasoning part) "
              "-completed" TEXT " completed",
              "reasoning/completed [hm]; message/completed [ok]; ",
              "reasoning");
    apit_close(&t);
    script(CALL("add", "a", "2") END, -1);
    is_answer(TOOLS "," NONE, "created in_progress" ARGS " completed",
              "function_call/completed add({\"a\": 2}); ", "a call");
    apit_close(&t);
    script(CALL("add", "a", "2") CALL("weather", "city", "Oslo") END, -1);
    is_answer(TOOLS "," NONE, "created in_progress" ARGS ARGS " completed",
              "function_call/completed add({\"a\": 2}); "
              "function_call/completed weather({\"city\": \"Oslo\"}); ",
              "calls");
    apit_close(&t);
    script("Let me see." CALL("add", "a", "2") "Done." END, -1);
    is_answer(TOOLS "," NONE,
              "created in_progress" TEXT ARGS TEXT " completed",
              "message/completed [Let me see.]; "
              "function_call/completed add({\"a\": 2}); "
              "message/completed [Done.]; ", "text, a call, text");
    apit_close(&t);
    script(END, -1);
    is_answer(NONE,
              "created in_progress +message (part text part) -completed "
              "completed", "message/completed []; ", "nothing");
    apit_close(&t);
}

static void ends(void)
{
    struct seen s;
    struct call c;

    script("one two three four five six seven", -1);
    is_answer(NONE ",\"stop\":\" three\"",
              "created in_progress" TEXT " completed",
              "message/completed [one two]; ", "a stop string");
    stream(&s, NONE ",\"max_output_tokens\":2", LOOK_OFTEN);
    is_str(s.bad, "", "length: every rule");
    is_str(s.order, "created in_progress +message (part ... text part) "
                    "-incomplete incomplete", "length: the events");
    is_str(str(s.last, "status"), "incomplete", "length: the status");
    is_str(str(json_get(s.last, "incomplete_details"), "reason"),
           "max_output_tokens", "length: why");
    is_int(json_int(json_at(s.last, "usage.output_tokens")), 2,
           "length: usage");
    is_int(json_int(json_at(s.last, "max_output_tokens")), 2,
           "length: repeated");
    is_int(json_get(s.last, "completed_at")->type, JSON_NULL,
           "length: it never completed");
    see_release(&s);
    is_answer(NONE ",\"max_output_tokens\":2",
              "created in_progress +message (part ... text part) "
              "-incomplete incomplete", "message/incomplete [one two]; ",
              "length");
    apit_close(&t);
    script("hm\n</think>\n\none two three four five six seven", -1);
    is_answer(HIGH ",\"max_output_tokens\":8",
              "created in_progress +reasoning (part ... reasoning part) "
              "-completed +message (part ... text part) -incomplete "
              "incomplete",
              "reasoning/completed [hm]; message/incomplete [one two th]; ",
              "length: what came before is complete");
    apit_close(&t);
    script(CALL("weather", "city", "one two three four five six"), -1);
    stream(&s, NONE "," TOOLS ",\"max_output_tokens\":20", LOOK_OFTEN);
    is_str(s.bad, "", "length inside a call: every rule");
    is_str(s.order, "created in_progress +function_call ... arguments "
                    "-incomplete +message (part ... text part) -incomplete "
                    "incomplete",
           "length inside a call: what was told stays, its text follows");
    see_release(&s);
    call_do(&c, &t, "/v1/responses",
            body(NONE "," TOOLS ",\"max_output_tokens\":20", false));
    ok(!strstr(call_body(&c), "\"type\":\"function_call\"") &&
           strstr(call_body(&c), "<tool_call>"),
       "length inside a call, whole: it is text");
    call_release(&c);
    apit_close(&t);

    script("one two three four five six", 4);
    stream(&s, NONE, LOOK_OFTEN);
    is_str(s.bad, "", "a failure: every rule");
    is_str(s.order, "created in_progress +message (part ... text part) "
                    "-incomplete failed", "a failure: the events");
    is_str(str(s.last, "status"), "failed", "a failure: the status");
    is_str(str(json_get(s.last, "error"), "code"), "server_error",
           "a failure: its code");
    ok(strlen(str(json_get(s.last, "error"), "message")) > 6,
       "a failure: its words");
    see_release(&s);
    apit_close(&t);

    script("one", 0);
    call_do(&c, &t, "/v1/responses", body(NONE, true));
    is_int(call_status(&c), 500, "a failure before the head is an error");
    ok(strstr(call_body(&c), "\"type\":\"server_error\""),
       "a failure before the head: OpenAI's object");
    call_release(&c);
    apit_close(&t);
}

static void characters(void)
{
    script("M\xc3\xbcnster \xe6\xbc\xa2 \xf0\x9f\x98\x80!" END, -1);
    is_answer(NONE, "created in_progress" TEXT " completed",
              "message/completed [M\xc3\xbcnster \xe6\xbc\xa2 "
              "\xf0\x9f\x98\x80!]; ", "characters over tokens");
    apit_close(&t);
    script(CALL("weather", "city", "\xe6\xbc\xa2 \xf0\x9f\x98\x80") END, -1);
    is_answer(TOOLS "," NONE, "created in_progress" ARGS " completed",
              "function_call/completed weather({\"city\": "
              "\"\xe6\xbc\xa2 \xf0\x9f\x98\x80\"}); ",
              "characters in arguments");
    apit_close(&t);
}

/* --- members ------------------------------------------------------------- */

static void member(const struct json *v, const char *path, const char *want)
{
    const struct json *m = json_at(v, path);
    struct buf b;

    buf_init(&b, BUF_ANSWER);
    buf_puts(&b, "");
    if (m)
        jsontext(&b, m, JT_COMPACT);
    is_str(b.p, want, "%s", path);
    buf_release(&b);
}

static void is_object(const char *more, const char *const (*want)[2],
                      size_t n)
{
    struct call c;
    struct arena a;
    const struct json *v;

    call_do(&c, &t, "/v1/responses", body(more, false));
    v = call_json(&c, &a);
    if (!ok(call_status(&c) == 200, "an answer"))
        printf("# %s\n", call_body(&c));
    for (size_t i = 0; i < n; i++)
        member(v, want[i][0], want[i][1]);
    arena_release(&a);
    call_release(&c);
}

static void echoes(void)
{
    static const char *const absent[][2] = {
        {"object", "\"response\""}, {"status", "\"completed\""},
        {"error", "null"}, {"incomplete_details", "null"},
        {"instructions", "null"}, {"metadata", "{}"}, {"temperature", "1"},
        {"top_p", "1"}, {"tools", "[]"}, {"tool_choice", "\"auto\""},
        {"parallel_tool_calls", "true"}, {"background", "false"},
        {"max_output_tokens", "null"}, {"previous_response_id", "null"},
        {"text", "{\"format\":{\"type\":\"text\"}}"},
        {"reasoning.summary", "null"}, {"truncation", "\"disabled\""},
        {"store", "false"}, {"top_logprobs", "0"}, {"user", ""},
        {"service_tier", "\"default\""}, {"safety_identifier", "null"},
        {"prompt_cache_key", "null"}, {"access_programs", "null"},
        {"skipped_tools", ""}, {"output_text", ""},
        {"usage.input_tokens_details",
         "{\"cached_tokens\":0,\"cache_write_tokens\":0}"},
        {"usage.output_tokens_details", "{\"reasoning_tokens\":0}"},
        {"output.0.role", "\"assistant\""},
        {"output.0.content.0.annotations", "[]"},
        {"output.0.content.0.logprobs", "[]"},
    };
    static const char *const sent[][2] = {
        {"instructions", "\"Be \\\"brief\\\".\""},
        {"metadata", "{\"k\":\"v\"}"}, {"temperature", "0.5"},
        {"top_p", "0.25"}, {"tool_choice", "\"none\""},
        {"tools", "[{\"type\":\"function\",\"name\":\"f\",\"description\":"
                  "\"d\",\"parameters\":null,\"strict\":false},"
                  "{\"type\":\"function\",\"name\":\"g\",\"parameters\":{"
                  "\"type\":\"object\",\"properties\":{},\"required\":[],"
                  "\"additionalProperties\":false},\"strict\":true}]"},
        {"parallel_tool_calls", "false"}, {"truncation", "\"auto\""},
        {"text", "{\"format\":{\"type\":\"text\"},\"verbosity\":\"low\"}"},
        {"reasoning", "{\"effort\":\"none\",\"summary\":\"auto\"}"},
        {"user", "\"u\""}, {"safety_identifier", "\"s\""},
        {"prompt_cache_key", "\"p\""}, {"max_output_tokens", "20"},
        {"skipped_tools", "[\"web_search\",\"mcp\"]"},
        {"store", "false"},
    };
    static const char *const odd[][2] = {
        {"user", ""}, {"safety_identifier", "null"},
        {"prompt_cache_key", "null"}, {"reasoning.summary", "null"},
        {"text", "{\"format\":{\"type\":\"text\"}}"},
        {"max_tool_calls", "null"}, {"tool_choice", "\"auto\""},
    };

    script("Hello" END, -1);
    is_object("", absent, sizeof(absent) / sizeof(absent[0]));
    is_object("\"instructions\":\"Be \\\"brief\\\".\",\"metadata\":{\"k\":"
              "\"v\"},\"temperature\":0.5,\"top_p\":0.25,\"tool_choice\":"
              "\"none\",\"parallel_tool_calls\":false,\"truncation\":\"auto\","
              "\"text\":{\"verbosity\":\"low\"},\"reasoning\":{\"effort\":"
              "\"none\",\"summary\":\"auto\"},\"user\":\"u\","
              "\"safety_identifier\":\"s\",\"prompt_cache_key\":\"p\","
              "\"max_output_tokens\":20,\"store\":false,\"tools\":["
              "{\"type\":\"function\",\"name\":\"f\",\"description\":\"d\"},"
              "{\"type\":\"web_search\"},{\"type\":\"mcp\",\"server_label\":\"c\"},"
              "{\"type\":\"function\",\"name\":\"g\",\"parameters\":{"
              "\"type\":\"object\",\"properties\":{},\"required\":[],"
              "\"additionalProperties\":false},\"strict\":true}]",
              sent, sizeof(sent) / sizeof(sent[0]));
    /* without effect, so anything goes: but not back */
    is_object("\"user\":{},\"safety_identifier\":7,\"prompt_cache_key\":[1],"
              "\"reasoning\":{\"summary\":5},\"text\":{\"verbosity\":[]},"
              "\"max_tool_calls\":\"x\",\"tool_choice\":null",
              odd, sizeof(odd) / sizeof(odd[0]));
    apit_close(&t);
}

#define SPACES                                                                 \
    "\"tools\":[{\"type\":\"namespace\",\"name\":\"crm\",\"description\":"     \
    "\"d\",\"tools\":[{\"type\":\"function\",\"name\":\"add\",\"parameters\":" \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}}]}," \
    "{\"type\":\"function\",\"name\":\"add\"}]"

/* A tool of a namespace is called by both names, and told of apart. */
static void spaces(void)
{
    static const char *const echo[][2] = {
        {"tools", "[{\"type\":\"namespace\",\"name\":\"crm\","
                  "\"description\":\"d\",\"tools\":[{\"type\":\"function\","
                  "\"name\":\"add\",\"parameters\":{\"type\":\"object\","
                  "\"properties\":{\"a\":{\"type\":\"integer\"}}}}]},"
                  "{\"type\":\"function\",\"name\":\"add\","
                  "\"parameters\":null,\"strict\":false}]"},
        {"skipped_tools", ""},
    };

    script("Adding." CALL("crm__add", "a", "1") CALL("add", "a", "2") END, -1);
    is_answer(NONE "," SPACES,
              "created in_progress" TEXT ARGS ARGS " completed",
              "message/completed [Adding.]; function_call/completed "
              "crm/add({\"a\": 1}); function_call/completed "
              "add({\"a\": \"2\"}); ", "a namespace");
    is_object(SPACES, echo, sizeof(echo) / sizeof(echo[0]));
    apit_close(&t);
}

/* The bytes of all entries of an item are its text; the events told them. */
#define CUSTOM                                                                 \
    "\"tools\":[{\"type\":\"custom\",\"name\":\"patch\",\"format\":{\"type\":"  \
    "\"text\"}},{\"type\":\"namespace\",\"name\":\"fs\",\"description\":\"\","   \
    "\"tools\":[{\"type\":\"custom\",\"name\":\"edit\"}]}]"
#define INPUT " +custom_tool_call ... input -(none)"

/* What a custom tool gets is the string of its arguments. */
static void customs(void)
{
    static const char *const echo[][2] = {
        {"tools", "[{\"type\":\"custom\",\"name\":\"patch\",\"format\":{"
                  "\"type\":\"text\"}},{\"type\":\"namespace\",\"name\":"
                  "\"fs\",\"description\":\"\",\"tools\":[{\"type\":"
                  "\"custom\",\"name\":\"edit\"}]}]"},
        {"skipped_tools", ""}, {"output.0.namespace", ""},
        {"output.1.namespace", "\"fs\""}, {"output.0.status", ""},
    };
    static const char *const order =
        "created in_progress" INPUT INPUT " completed";
    struct seen s;

    script(CALL("patch", "input", "+ \"a\\n\"\n- Ã©") CALL("fs__edit",
           "input", "x") END, -1);
    is_answer(NONE "," CUSTOM, order,
              "custom_tool_call/(none) patch<+ \"a\\n\"\n- Ã©>; "
              "custom_tool_call/(none) edit<x>; ", "custom tools");
    is_object(NONE "," CUSTOM, echo, sizeof(echo) / sizeof(echo[0]));
    apit_close(&t);
    script(CALL("patch", "text", "b\nc") CALL("fs__edit", "input", "") END, -1);
    is_answer(NONE "," CUSTOM,
              "created in_progress" INPUT " +custom_tool_call input -(none)"
              " completed",
              "custom_tool_call/(none) patch<{\"text\": \"b\\nc\"}>; "
              "custom_tool_call/(none) edit<>; ",
              "arguments without their name, and an empty text");
    apit_close(&t);
    script(CALL("patch", "input", "cut off here") END, -1);
    stream(&s, NONE ",\"max_output_tokens\":18," CUSTOM, LOOK_OFTEN);
    is_str(s.bad, "", "a limit: every rule");
    ok(!strncmp(print_items(s.last), "custom_tool_call/incomplete patch<cut",
                37),
       "a limit: what was told of the call stays");
    see_release(&s);
    apit_close(&t);
}

static void check_probs(struct seen *s, const char *what)
{
    const struct json *list = json_get(s->last, "output");
    struct buf all, told;
    int n = 0;

    buf_init(&told, BUF_ANSWER);
    buf_puts(&told, "");
    for (int i = 0; i < s->n_logprobs; i++) {
        buf_puts(&told, str(s->logprobs[i], "token"));
        if (json_get(s->logprobs[i], "bytes") ||
            count(json_get(s->logprobs[i], "top_logprobs")) != 2)
            ok(false, "%s: an event's entry has two alternatives", what);
    }
    buf_init(&all, BUF_ANSWER);
    buf_puts(&all, "");
    for (const struct json *i = list ? list->child : NULL; i; i = i->next) {
        const struct json *part = json_at(i, "content.0");
        const struct json *probs = json_get(part, "logprobs");
        struct buf bytes;

        buf_init(&bytes, BUF_ANSWER);
        buf_puts(&bytes, "");
        for (const struct json *p = probs ? probs->child : NULL; p;
             p = p->next, n++) {
            buf_puts(&all, str(p, "token"));
            for (const struct json *c = json_get(p, "bytes")->child; c;
                 c = c->next)
                buf_putc(&bytes, (char)c->i);
        }
        if (probs)
            is_str(bytes.p, str(part, "text"), "%s: entries of a text", what);
        buf_release(&bytes);
    }
    is_int(s->n_logprobs, n, "%s: the deltas tell as many", what);
    is_str(told.p, all.p, "%s: the same", what);
    buf_release(&all);
    buf_release(&told);
}

/* Entries of the text: in deltas, at its end, in the item; never of calls. */
static void logprobs(void)
{
    static const struct {
        const char *script, *more, *what;
    } rows[] = {
        {"Let me see." CALL("add", "a", "2") "Done now." END, NONE,
         "two texts"},
        {"M\xc3\xbcnster \xe6\xbc\xa2 \xf0\x9f\x98\x80!" END, NONE,
         "characters over tokens"},
        {"hm, let me think\n</think>\n\nso it is" END, HIGH,
         "behind reasoning"},
        {"A < b <tool" CALL("add", "a", "2") END, NONE, "nearly a call"},
        {CALL("add", "a", "2") CALL("add", "a", "3") END, NONE, "calls alone"},
        {"one two three four", NONE ",\"stop\":\" three\"", "a stop string"},
        {"Let me see" CALL("add", "a", "2") "Done" END,
         NONE ",\"stop\":\" see it\"", "a call behind half a stop string"},
        {"Let me see:\n\n" CALL("add", "a", "2") "\n" END, NONE,
         "lines around a call"},
    };
    char more[1024];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct seen s, once;

        snprintf(more, sizeof(more),
                 "\"include\":[\"message.output_text.logprobs\"],"
                 "\"top_logprobs\":2,%s," TOOLS, rows[i].more);
        script(rows[i].script, -1);
        stream(&s, more, LOOK_OFTEN);
        is_str(s.bad, "", "%s: every rule", rows[i].what);
        check_probs(&s, rows[i].what);
        stream(&once, more, LOOK_ONCE);
        check_probs(&once, rows[i].what);
        is_int(once.n_logprobs, s.n_logprobs, "%s, looked at once: as many",
               rows[i].what);
        see_release(&s);
        see_release(&once);
        apit_close(&t);
    }
}

static void logprobs_whole(void)
{
    static const char more[] =
        "\"include\":[\"message.output_text.logprobs\"],\"top_logprobs\":1,"
        NONE;
    struct call c;
    struct arena a;
    struct seen s;

    script("Let me see." END, -1);
    stream(&s, more, LOOK_OFTEN);
    call_do(&c, &t, "/v1/responses", body(more, false));
    text_same_json(json_at(call_json(&c, &a), "output.0.content.0.logprobs"),
                   json_at(s.last, "output.0.content.0.logprobs"),
                   "entries", "whole");
    ok(json_at(s.last, "output.0.content.0.logprobs.0.top_logprobs.0.bytes.0"),
       "an item's entry has bytes");
    arena_release(&a);
    call_release(&c);
    see_release(&s);
    call_do(&c, &t, "/v1/responses", body(NONE ",\"top_logprobs\":2", false));
    ok(strstr(call_body(&c), "\"logprobs\":[]"), "without the word: none");
    call_release(&c);
    apit_close(&t);
}

/* Log-probabilities that fill more than an answer may have (BUF_ANSWER),
 * because the end tells them three times more. */
static void too_much(void)
{
    static int32_t ids[64];
    struct scripted_config gen = {.ids = ids, .fail_after = -1,
                                  .context = 40000, .loop = true};
    const char *why, *last;
    struct call c;
    char row[64];

    gen.n = apit_ids("one two three four ", ids, 64);
    if (!apit_open(&t, &gen, NULL, &why))
        exit(1);
    call_do(&c, &t, "/v1/responses",
            body("\"include\":[\"message.output_text.logprobs\"],"
                 "\"top_logprobs\":20,\"max_output_tokens\":16000," NONE,
                 true));
    is_int(c.state, X_DONE, "too much to be told again: it ends");
    last = c.out.n > 4000 ? strstr(c.out.p + c.out.n - 4000, "event: ") : NULL;
    ok(last && !strncmp(last, "event: response.failed\n", 23),
       "it fails as a response");
    ok(last && strstr(last, "\"status\":\"failed\"") &&
           strstr(last, "\"output\":[]"), "which says so, without the text");
    is_str(row_get(&c, "finish_reason", row, sizeof(row)), "error",
           "as does the row");
    call_release(&c);
    apit_close(&t);
}

static void seals(void)
{
    struct seen s;
    struct call c;

    script("hm\n</think>\n\nok" END, -1);
    stream(&s, HIGH ",\"include\":[\"reasoning.encrypted_content\"]",
           LOOK_OFTEN);
    is_str(s.bad, "", "a seal: every rule");
    is_str(str(json_at(s.last, "output.0"), "encrypted_content"),
           "pen1.aG0", "a seal: base64url of the reasoning");
    ok(!json_get(json_at(s.last, "output.1"), "encrypted_content"),
       "a seal: of reasoning alone");
    see_release(&s);
    call_do(&c, &t, "/v1/responses", body(HIGH, false));
    ok(!strstr(call_body(&c), "encrypted_content"), "not asked: no seal");
    call_release(&c);
    apit_close(&t);
}

/* A client that leaves gets nothing; what is written is not lost by it. */
static void leaves(void)
{
    static int32_t ids[64];
    struct scripted_config gen = {.ids = ids, .fail_after = -1,
                                  .context = 4096, .per_token_us = 3000,
                                  .loop = true};
    const char *why;
    char row[64];
    struct call c;

    gen.n = apit_ids("one two three four ", ids, 64);
    if (!apit_open(&t, &gen, NULL, &why))
        exit(1);
    call_start(&c, &t, "POST", "/v1/responses", body(NONE, true), NULL);
    ok(call_until(&c, "\"delta\":", 5000), "a delta comes while it goes on");
    api_gone(&c.x);
    call_finish(&c);
    is_int(c.state, X_FAILED, "the client left");
    is_str(row_get(&c, "endpoint || ' ' || finish_reason", row, sizeof(row)),
           "responses abandoned", "the row says so");
    call_release(&c);
    apit_close(&t);
}

/* Whoever runs calls need not wait for the end of the answer. */
static void early(void)
{
    static int32_t ids[256];
    struct scripted_config gen = {.ids = ids, .fail_after = -1,
                                  .context = 4096, .per_token_us = 2000};
    const char *why;
    size_t n = apit_ids(CALL("add", "a", "2"), ids, 256);
    struct call c;

    for (gen.n = n; gen.n < 256; gen.n++) /* lines, which are nothing there */
        if (apit_ids("\n", ids + gen.n, 1) != 1)
            exit(1);
    if (!apit_open(&t, &gen, NULL, &why))
        exit(1);
    call_start(&c, &t, "POST", "/v1/responses", body(TOOLS "," NONE, true),
               NULL);
    ok(call_until(&c, "event: response.output_item.done", 5000) &&
           c.state == X_MORE, "a call that is whole is told at once");
    api_gone(&c.x);
    call_finish(&c);
    call_release(&c);
    apit_close(&t);
}

int main(void)
{
    const char *why;

    if (!apit_open(&t, &(struct scripted_config){.fail_after = -1}, NULL,
                   &why))
        skip_all(why);
    apit_close(&t);
    orders();
    ends();
    characters();
    echoes();
    spaces();
    customs();
    logprobs();
    logprobs_whole();
    too_much();
    seals();
    leaves();
    early();
    return done();
}
