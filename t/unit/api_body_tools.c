/*
 * What the body parser keeps of tools, calls and results, and its limits.
 * Expectations: OpenAI's reference for the shapes, the hub's published
 * contract for the limits (128 tools, 256 KiB, 10 levels), case numbers of
 * public trouble reports.
 */
#include "api/body.h"
#include "base/buf.h"
#include "t/lib/tap.h"

#define U "{\"role\":\"user\",\"content\":\"hi\"}"
#define M "\"messages\":[" U "]"
#define F(name) "{\"type\":\"function\",\"function\":{\"name\":\"" name "\"}}"

static struct arena arena;
static struct body body;
static struct err err;

static enum st chat(const char *json, size_t n)
{
    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 64u << 20);
    return body_parse_chat(&body, &arena, (struct text){json, n}, &err);
}

static void accepted(const char *json)
{
    enum st st = chat(json, strlen(json));

    if (!ok(!st, "accepted: %.60s", json))
        printf("#   %s: %s\n", err.where, err.text);
}

/* The arguments of one call, sent as `json`. */
static const struct chat_call *call(const char *json)
{
    char all[512];

    snprintf(all, sizeof(all),
             "{\"messages\":[" U ",{\"role\":\"assistant\",\"tool_calls\":"
             "[{\"id\":\"c1\",\"function\":{\"name\":\"f\",\"arguments\":%s}}"
             "]}]}", json);
    accepted(all);
    return body.chat.messages[1].calls;
}

static void arguments(void)
{
    const struct chat_call *c = call("\"{\\\"a\\\": 1}\"");

    ok(c->args && json_get(c->args, "a")->i == 1 && !c->raw.n &&
           text_is(c->sent, "{\"a\": 1}"),
       "a string with an object: read, and kept as sent");
    ok(text_is(c->id, "c1") && text_is(c->name, "f"), "id and name");
    c = call("{\"a\":[2]}");
    ok(c->args && json_get(c->args, "a") && !c->raw.n && !c->sent.n,
       "an object");
    c = call("\"[1, 2]\"");
    ok(!c->args && text_is(c->raw, "[1, 2]"), "JSON, but no object: raw");
    c = call("\"{broken\"");
    ok(!c->args && text_is(c->raw, "{broken"), "no JSON: raw");
    c = call("\"\\ud83d\\ude00\"");
    ok(!c->args && text_is(c->raw, "\xf0\x9f\x98\x80"), "a bare character");
    c = call("\" \\n\"");
    ok(!c->args && !c->raw.n && !c->sent.n, "only white space: none");
    c = call("\"\\u0000\"");
    ok(!c->args && c->raw.n == 1 && !c->raw.s[0], "case C35: NUL is data");
    c = call("null");
    ok(!c->args && !c->raw.n, "null: none");
}

static void results(void)
{
    const struct chat_msg *m;

    accepted("{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
             "{\"role\":\"system\",\"content\":\"t\"}," U ","
             "{\"role\":\"assistant\",\"content\":null,\"reasoning\":\"r\","
             "\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]},"
             "{\"role\":\"tool\",\"tool_call_id\":\"c9\",\"name\":\"f\","
             "\"tool\":\"t\",\"content\":[{\"type\":\"text\",\"text\":\"4\"},"
             "{\"type\":\"text\",\"text\":\"2\\u0000x\"}]},"
             "{\"role\":\"tool\"}]}");
    is_int(body.chat.n_messages, 5, "two system messages are one");
    m = body.chat.messages;
    ok(m[0].sent_i == 1 && m[2].sent_i == 3, "their places in the request");
    ok(!m[2].has_content && m[2].n_calls == 1 && !m[2].calls[0].id.n &&
           text_is(m[2].reasoning, "r"),
       "a call without an id, null content, reasoning");
    ok(m[3].role == ROLE_TOOL && text_is(m[3].call_id, "c9") &&
           text_is(m[3].name, "f") && text_is(m[3].tool, "t"),
       "a result: id, name, tool");
    ok(m[3].n_parts == 2 && m[3].parts[1].type == PART_TEXT &&
           m[3].content.n == 4 && !memcmp(m[3].content.s, "42\0x", 4),
       "case C35: its parts, joined, with their NUL");
    ok(!m[4].has_content && !m[4].content.n && !m[4].call_id.n,
       "a result without anything");
    accepted("{\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
             "{\"role\":\"system\",\"content\":[{\"type\":\"text\",\"text\":"
             "\"t\"},{\"type\":\"text\",\"text\":\"u\"}]}," U "]}");
    m = body.chat.messages;
    ok(text_is(m[0].content, "s\n\ntu") && !m[0].parts && !m[0].n_parts &&
           m[0].has_content,
       "merged system messages have no parts but one text");
    accepted("{\"messages\":[{\"role\":\"user\",\"content\":["
             "{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\","
             "\"image_url\":{\"url\":\"x\"}},{\"type\":\"text\",\"text\":"
             "\"b\"}]}]}");
    m = body.chat.messages;
    ok(m[0].n_parts == 3 && m[0].parts[1].type == PART_IMAGE &&
           !m[0].parts[1].width && text_is(m[0].content, "ab"),
       "an image between texts");
}

/* OpenAI's reference: an assistant's content parts are text and refusal. */
static void refusals(void)
{
    static const char audio[] =
        "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":["
        "{\"type\":\"input_audio\"}]}]}";
    const struct chat_msg *m;

    accepted("{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":["
             "{\"type\":\"text\",\"text\":\"I \"},{\"type\":\"refusal\","
             "\"refusal\":\"won't\"}]}," U "]}");
    m = &body.chat.messages[1];
    ok(m->n_parts == 2 && m->parts[1].type == PART_TEXT &&
           text_is(m->content, "I won't"),
       "a refusal is text");
    is_int(chat(audio, sizeof(audio) - 1), ST_INVALID, "another type");
    is_str(err.text, "accepted are text and refusal", "says what is accepted");
}

static void offers(void)
{
    const struct chat_req *r = &body.chat;

    accepted("{" M "}");
    ok(!r->tools && !r->n_tools && r->parallel_calls && !body.n_offered &&
           r->tool_choice == TOOLS_AUTO && r->form == FORM_TEXT,
       "nothing said");
    accepted("{" M ",\"tools\":[" F("f") "," F("g")
             "],\"parallel_tool_calls\":false,\"tool_choice\":" F("g") "}");
    ok(r->tools->n == 2 && r->n_tools == 2 &&
           text_is(r->tool_list[1].name, "g") && !r->tool_list[1].params &&
           r->tool_choice == TOOLS_NAMED && text_is(r->tool_named, "g") &&
           !r->parallel_calls && body.n_offered == 2,
       "two tools, one chosen, one call");
    accepted("{" M ",\"tools\":[" F("f") "],\"tool_choice\":\"none\"}");
    ok(r->n_tools == 1 && r->tool_choice == TOOLS_NONE && !body.n_offered,
       "none: nothing is offered");
    accepted("{\"messages\":[{\"role\":\"system\",\"content\":\"a\"},"
             "{\"role\":\"system\",\"tools\":[" F("late") "]},"
             "{\"role\":\"system\",\"content\":\"b\"}," U
             "],\"tools\":[" F("f") "],\"tool_choice\":" F("late") "}");
    ok(r->n_messages == 4 && r->messages[1].tools &&
           text_is(r->messages[2].content, "b"),
       "a system message with tools stands for itself");
    ok(r->n_tools == 1 && text_is(r->tool_list[0].name, "f") &&
           body.n_offered == 2 && text_is(body.offered[0].name, "late"),
       "its tools are offered too");
    accepted("{" M ",\"tools\":[],\"response_format\":{\"type\":"
             "\"json_schema\",\"json_schema\":{\"schema\":{\"type\":"
             "\"object\"}}},\"add_generation_prompt\":false,"
             "\"chat_template_kwargs\":{\"x\":1}}");
    ok(!r->tools && r->form == FORM_JSON_SCHEMA &&
           json_is(json_get(r->schema, "type"), "object") && r->no_prompt &&
           json_get(r->kwargs, "x"),
       "a schema, no opened turn, template arguments");
}

static void efforts(void)
{
    const struct chat_req *r = &body.chat;

    accepted("{" M ",\"reasoning_effort\":\"xhigh\"}");
    ok(r->think == THINK_ON && text_is(r->effort, "xhigh") &&
           r->effort_n == -1, "a word");
    accepted("{" M ",\"reasoning_effort\":75}");
    ok(r->think == THINK_ON && !r->effort.n && r->effort_n == 75, "a number");
    accepted("{" M ",\"reasoning_effort\":\"none\",\"thinking_effort\":7}");
    ok(r->think == THINK_OFF && !r->effort.n && r->effort_n == -1,
       "a word for off beats every other");
}

struct kind {
    const char *open, *close;
};

/* A schema of so many levels below its root. */
static enum st nested(int levels, const struct kind *k)
{
    struct buf b;
    enum st st;

    buf_init(&b, 1 << 20);
    buf_puts(&b, "{" M ",\"tools\":[" F("a") ",{\"function\":{\"name\":\"f\","
                 "\"parameters\":{");
    for (int i = 0; i < levels; i++)
        buf_puts(&b, k->open);
    for (int i = 0; i < levels; i++)
        buf_puts(&b, k->close);
    buf_puts(&b, "}}}]}");
    st = chat(b.p, b.n);
    buf_release(&b);
    return st;
}

static void limits(void)
{
    static const struct kind kinds[] = {
        {"\"properties\":{\"a\":{", "}}"}, {"\"items\":{", "}"},
        {"\"anyOf\":[{", "}]"}, {"\"additionalProperties\":{", "}"},
        {"\"$defs\":{\"d\":{", "}}"}, {"\"dependentSchemas\":{\"a\":{", "}}"},
        {"\"definitions\":{\"d\":{", "}}"},
        {"\"patternProperties\":{\"a\":{", "}}"},
        {"\"prefixItems\":[{", "}]"}, {"\"oneOf\":[{", "}]"},
        {"\"allOf\":[{", "}]"}, {"\"not\":{", "}"}, {"\"if\":{", "}"},
        {"\"then\":{", "}"}, {"\"else\":{", "}"}, {"\"contains\":{", "}"},
        {"\"propertyNames\":{", "}"},
    };
    struct buf b;

    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        ok(!nested(10, &kinds[k]), "10 levels of %s", kinds[k].open);
        is_int(nested(11, &kinds[k]), ST_INVALID, "11 are refused");
        is_str(err.where, "tools[1].function.parameters", "by name");
    }
    for (int n = 128; n <= 129; n++) {
        buf_init(&b, 1 << 20);
        buf_puts(&b, "{" M ",\"tools\":[");
        for (int i = 0; i < n; i++)
            buf_printf(&b, "%s{\"function\":{\"name\":\"f%d\"}}",
                       i ? "," : "", i);
        buf_puts(&b, "]}");
        is_int(chat(b.p, b.n), n == 128 ? ST_OK : ST_INVALID, "%d tools", n);
        if (n == 129)
            is_str(err.where, "tools", "which are named");
        buf_release(&b);
    }
    /* {"function":{"name":"f","description":"..."}} in a list: 44 bytes */
    for (size_t more = 0; more < 2; more++) {
        size_t fill = 256 * 1024 - 44 + more;

        buf_init(&b, 1 << 20);
        buf_puts(&b, "{" M ",\"tools\": [ {\"function\" :{\"name\":\"f\","
                     "\"description\":\"");
        for (size_t i = 0; i < fill; i++)
            buf_putc(&b, 'x');
        buf_puts(&b, "\"}}]}");
        is_int(chat(b.p, b.n), more ? ST_INVALID : ST_OK,
               "256 KiB and %zu bytes", more);
        buf_release(&b);
    }
    is_str(err.where, "tools", "are named");
}

/* Rules of a request with tools, each by the one request that breaks it. */
static void edges(void)
{
    static const struct {
        const char *json, *where; /* NULL: accepted */
    } t[] = {
        {"{" M ",\"tools\":[" F("a\\u007fb") "]}", "tools[0].function.name"},
        {"{" M ",\"tools\":[" F("a\\u001fb") "]}", "tools[0].function.name"},
        {"{" M ",\"tools\":[" F("f") "],\"tool_choice\":{\"function\":{"
         "\"name\":\"f\"}}}", "tool_choice"},
        {"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\","
         "\"tool_call_id\":5}]}", NULL},
        {"{" M ",\"response_format\":{\"type\":\"json_schema\","
         "\"json_schema\":{\"schema\":{\"allOf\":[{\"allOf\":[{\"allOf\":[{"
         "\"allOf\":[{\"allOf\":[{\"allOf\":[{\"allOf\":[{\"allOf\":[{"
         "\"allOf\":[{\"allOf\":[{\"allOf\":[{}]}]}]}]}]}]}]}]}]}]}]}}}}",
         "response_format.json_schema.schema"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        enum st st = chat(t[i].json, strlen(t[i].json));

        is_int(st, t[i].where ? ST_INVALID : ST_OK, "%.90s", t[i].json);
        is_str(err.where, t[i].where ? t[i].where : "", "by its field");
    }
    for (int n = 256; n <= 257; n++) {
        char json[600];

        snprintf(json, sizeof(json), "{" M ",\"tools\":[{\"function\":"
                 "{\"name\":\"%0*d\"}}]}", n, 1);
        is_int(chat(json, strlen(json)), n == 256 ? ST_OK : ST_INVALID,
               "a name of %d bytes", n);
    }
    accepted("{\"messages\":[{\"role\":\"user\",\"content\":\"hi\","
             "\"reasoning_content\":\"r\"},{\"role\":\"assistant\","
             "\"content\":\"x\",\"reasoning\":\"a\",\"reasoning_content\":"
             "\"b\"}]}");
    ok(!body.chat.messages[0].reasoning.n, "a user has no reasoning");
    ok(text_is(body.chat.messages[1].reasoning, "b"),
       "reasoning_content beats reasoning");
    accepted("{" M ",\"thinking\":true,\"enable_thinking\":false}");
    is_int(body.chat.think, THINK_OFF, "enable_thinking beats thinking");
    accepted("{" M ",\"thinking_effort\":\"high\",\"reasoning_effort\":5}");
    ok(!body.chat.effort.n && body.chat.effort_n == 5,
       "reasoning_effort replaces the word of thinking_effort");
}

/* Tools of system messages count with those of the request. */
static void together(void)
{
    struct buf b;

    for (int n = 127; n <= 128; n++) {
        buf_init(&b, 1 << 20);
        buf_puts(&b, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":["
                     F("late") "]}],\"tools\":[");
        for (int i = 0; i < n; i++)
            buf_printf(&b, "%s{\"function\":{\"name\":\"f%d\"}}",
                       i ? "," : "", i);
        buf_puts(&b, "]}");
        is_int(chat(b.p, b.n), n == 127 ? ST_OK : ST_INVALID,
               "one late tool and %d", n);
        buf_release(&b);
    }
    for (int n = 100; n <= 140; n += 40) {
        buf_init(&b, 1 << 20);
        buf_printf(&b, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":["
                   "{\"function\":{\"name\":\"late\",\"description\":"
                   "\"%0*d\"}}]}],\"tools\":[{\"function\":{\"name\":\"f\","
                   "\"description\":\"%0*d\"}}]}", n * 1024, 1, n * 1024, 1);
        is_int(chat(b.p, b.n), n == 100 ? ST_OK : ST_INVALID,
               "twice %d KiB of tools", n);
        buf_release(&b);
    }
}

int main(void)
{
    arena_init(&arena, 64u << 20);
    arguments();
    results();
    refusals();
    offers();
    efforts();
    limits();
    edges();
    together();
    arena_release(&arena);
    return done();
}
