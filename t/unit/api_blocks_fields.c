/*
 * The other fields of /v1/messages: tools and their choice, thinking, forms,
 * sampling, value by value. Expectations: the types that the package
 * @anthropic-ai/sdk 1.14.0 declares (MessageCreateParamsBase of its stable and
 * its beta interface, ToolUnion, ToolChoice, ThinkingConfigParam,
 * OutputConfig), and docs/api.md for what this server adds.
 */
#include "api/compat.h"
#include "api/prompts.h"
#include "base/buf.h"
#include "chat/format_int.h"
#include "chat/jsontext.h"
#include "t/lib/tap.h"

#define OKAY NULL
#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
#define F(name) "{\"name\":\"" name "\",\"input_schema\":{}}"
#define WEB "{\"type\":\"web_search_20250305\",\"name\":\"web_search\"}"

static struct arena arena;
static struct body body;
static struct err err;

static enum st parse(const char *members)
{
    static char json[16384];
    int n = snprintf(json, sizeof(json), "{%s,\"max_tokens\":100,%s}", M,
                     members);

    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 16u << 20);
    return body_parse_blocks(&body, &arena, (struct text){json, (size_t)n},
                             &err);
}

static void accepted(const char *members)
{
    is_str(parse(members) ? err.where : "", "", "accepted: %.60s", members);
}

/* --- value by value ------------------------------------------------------- */

static const struct row {
    const char *members;
    const char *where; /* NULL: accepted */
} rows[] = {
    {"\"model\":5", "model"},
    {"\"model\":\"\"", OKAY},
    {"\"max_tokens\":null", "max_tokens"},
    {"\"max_tokens\":0", "max_tokens"},
    {"\"max_tokens\":-1", "max_tokens"},
    {"\"max_tokens\":1.5", "max_tokens"},
    {"\"max_tokens\":\"5\"", "max_tokens"},
    {"\"max_tokens\":1e30", "max_tokens"},
    {"\"max_tokens\":99999999999", OKAY},
    {"\"stream\":1", "stream"},
    {"\"stream\":false", OKAY},
    {"\"stream\":true", OKAY},
    {"\"temperature\":1", OKAY},
    {"\"temperature\":1.01", "temperature"},
    {"\"temperature\":-0.1", "temperature"},
    {"\"top_p\":0", "top_p"},
    {"\"top_p\":1", OKAY},
    {"\"top_k\":-1", "top_k"},
    {"\"top_k\":40", OKAY},
    {"\"min_p\":2", "min_p"},
    {"\"seed\":\"x\"", "seed"},
    {"\"presence_penalty\":2.1", "presence_penalty"},
    {"\"frequency_penalty\":-2.1", "frequency_penalty"},
    {"\"repetition_penalty\":0", "repetition_penalty"},
    {"\"stop_sequences\":[\"a\",\"\"]", OKAY},
    {"\"stop_sequences\":5", "stop_sequences"},
    {"\"stop_sequences\":\"a\"", "stop_sequences"},
    {"\"stop_sequences\":[5]", "stop_sequences[0]"},
    {"\"stop_sequences\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
     "stop_sequences"},
    /* tools */
    {"\"tools\":5", "tools"},
    {"\"tools\":{}", "tools"},
    {"\"tools\":[]", OKAY},
    {"\"tools\":null", OKAY},
    {"\"tools\":[5]", "tools[0]"},
    {"\"tools\":[{}]", "tools[0].name"},
    {"\"tools\":[{\"name\":\"\"}]", "tools[0].name"},
    {"\"tools\":[{\"name\":5}]", "tools[0].name"},
    {"\"tools\":[{\"name\":\"a\\u0000b\"}]", "tools[0].name"},
    {"\"tools\":[{\"name\":\"f\"}]", OKAY},
    {"\"tools\":[{\"name\":\"f\",\"type\":null}]", OKAY},
    {"\"tools\":[{\"name\":\"f\",\"type\":\"custom\"}]", OKAY},
    {"\"tools\":[{\"name\":\"f\",\"type\":5}]", "tools[0].type"},
    {"\"tools\":[{\"name\":\"f\",\"input_schema\":5}]",
     "tools[0].input_schema"},
    {"\"tools\":[" WEB ",{\"name\":\"f\",\"description\":5}]",
     "tools[1].description"},
    {"\"tools\":[{\"name\":\"f\",\"strict\":1}]", "tools[0].strict"},
    {"\"tools\":[" F("f") "," WEB "," F("f") "]", "tools[2].name"},
    {"\"tools\":[{\"name\":\"f\",\"strict\":true,\"input_schema\":{\"type\":"
     "\"object\",\"properties\":{\"a\":{}}}}]", OKAY},
    /* their choice */
    {"\"tool_choice\":\"auto\"", "tool_choice"},
    {"\"tool_choice\":{}", "tool_choice.type"},
    {"\"tool_choice\":{\"type\":\"some\"}", "tool_choice.type"},
    {"\"tool_choice\":{\"type\":\"auto\"}", OKAY},
    {"\"tool_choice\":{\"type\":\"none\"}", OKAY},
    {"\"tool_choice\":{\"type\":\"any\"}", "tool_choice"},
    {"\"tool_choice\":{\"type\":\"any\"},\"tools\":[" F("f") "]", OKAY},
    {"\"tool_choice\":{\"type\":\"tool\"},\"tools\":[" F("f") "]",
     "tool_choice.name"},
    {"\"tool_choice\":{\"type\":\"tool\",\"name\":\"\"},\"tools\":[" F("f")
     "]", "tool_choice.name"},
    {"\"tool_choice\":{\"type\":\"tool\",\"name\":5},\"tools\":[" F("f") "]",
     "tool_choice.name"},
    {"\"tool_choice\":{\"type\":\"tool\",\"name\":\"g\"},\"tools\":[" F("f")
     "]", "tool_choice"},
    {"\"tool_choice\":{\"type\":\"tool\",\"name\":\"web_search\"},\"tools\":["
     F("f") "," WEB "]", "tool_choice"},
    {"\"tool_choice\":{\"type\":\"any\"},\"tools\":[" WEB "]", "tool_choice"},
    {"\"tool_choice\":{\"type\":\"auto\",\"disable_parallel_tool_use\":1}",
     "tool_choice.disable_parallel_tool_use"},
    /* thinking */
    {"\"thinking\":true", "thinking"},
    {"\"thinking\":{}", "thinking.type"},
    {"\"thinking\":{\"type\":\"between_tools\"}", "thinking.type"},
    {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":0}",
     "thinking.budget_tokens"},
    {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2147483648}",
     OKAY},
    {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2147483649}",
     "thinking.budget_tokens"},
    {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":\"9\"}",
     "thinking.budget_tokens"},
    {"\"thinking\":{\"type\":\"adaptive\",\"display\":\"raw\"}",
     "thinking.display"},
    {"\"thinking\":{\"type\":\"adaptive\",\"display\":null}", OKAY},
    /* forms */
    {"\"output_config\":5", "output_config"},
    {"\"output_config\":{}", OKAY},
    {"\"output_config\":{\"effort\":\"none\"}", "output_config.effort"},
    {"\"output_config\":{\"effort\":5}", "output_config.effort"},
    {"\"output_config\":{\"effort\":null,\"format\":null}", OKAY},
    {"\"output_config\":{\"format\":5}", "output_config.format"},
    {"\"output_config\":{\"format\":{}}", "output_config.format.type"},
    {"\"output_config\":{\"format\":{\"type\":\"json_object\"}}",
     "output_config.format.type"},
    {"\"output_config\":{\"format\":{\"type\":\"json_schema\"}}",
     "output_config.format.schema"},
    {"\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":5}}",
     "output_config.format.schema"},
    {"\"output_config\":{\"task_budget\":{\"type\":\"tokens\"}}",
     "output_config.task_budget"},
    {"\"output_format\":{\"type\":\"json_schema\"}", "output_format.schema"},
    {"\"output_format\":{}", "output_format.type"},
    /* what would have to happen, and does not */
    {"\"container\":\"c\"", "container"},
    {"\"container\":{\"skills\":[]}", "container"},
    {"\"container\":null", OKAY},
    {"\"container\":\"\"", OKAY},
    {"\"thread\":{}", "thread"},
    {"\"thread\":\"\"", "thread"},
    {"\"mcp_servers\":[{\"type\":\"url\"}]", "mcp_servers"},
    {"\"mcp_servers\":[]", OKAY},
    {"\"compaction\":{\"type\":\"summarize\"}", "compaction"},
    {"\"thread\":{\"type\":\"create\"}", "thread"},
    /* what changes no answer */
    {"\"metadata\":{\"user_id\":\"u\"}", OKAY},
    {"\"cache_control\":{\"type\":\"ephemeral\"}", OKAY},
    {"\"context_management\":{\"edits\":[{\"type\":"
     "\"clear_thinking_20251015\",\"keep\":\"all\"}]}", OKAY},
    {"\"service_tier\":\"auto\",\"speed\":\"fast\",\"inference_geo\":\"eu\"",
     OKAY},
    {"\"diagnostics\":{\"previous_message_id\":null},\"betas\":[\"x\"]",
     OKAY},
    {"\"a_field_of_next_year\":{\"x\":[1]}", OKAY},
};

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum st st = parse(rows[i].members);

        is_int(st, rows[i].where ? ST_INVALID : ST_OK, "%.70s",
               rows[i].members);
        is_str(err.where, rows[i].where ? rows[i].where : "", "where");
    }
}

/* --- the table ------------------------------------------------------------ */

/* Of an honoured row with types: one value of each type that is not its. */
static void test_types(void)
{
    static const struct {
        enum compat_type type;
        const char *value;
    } values[] = {
        {TYPE_BOOL, "true"}, {TYPE_INT | TYPE_NUM, "1"},
        {TYPE_STR, "\"no such word\""}, {TYPE_OBJ, "{}"}, {0, "[1]"},
    };
    size_t n;
    const struct compat_field *f = compat_fields(WIRE_MESSAGES, &n);

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; f[i].types && k < 5; k++) {
            char json[256], members[1024];
            const char *dot = strchr(f[i].name, '.');

            if ((f[i].types & values[k].type) || (dot && strchr(dot + 1, '.')))
                continue;
            snprintf(json, sizeof(json), dot ? "{\"%s\":%s}" : "%s%s",
                     dot ? dot + 1 : "", values[k].value);
            snprintf(members, sizeof(members), "\"%.*s\":%s",
                     (int)(dot ? dot - f[i].name : 64), f[i].name, json);
            is_int(parse(members), ST_INVALID, "%s", members);
            is_str(err.where, f[i].name, "where");
        }
}

/* --- what they become ----------------------------------------------------- */

static void test_sampling(void)
{
    accepted("\"stream\":false");
    ok(!body.stream, "no stream");
    accepted("\"model\":\"m\",\"stream\":true,\"temperature\":0.5,"
             "\"top_p\":0.9,\"top_k\":40,\"min_p\":0.1,\"seed\":-7,"
             "\"presence_penalty\":1,\"frequency_penalty\":-1,"
             "\"repetition_penalty\":1.5,\"stop_sequences\":[\"a\",\"\","
             "\"b\"]");
    ok(text_is(body.model, "m") && body.stream && body.max_tokens == 100,
       "model, stream, max_tokens");
    ok(body.sampling.temperature == 0.5f && body.sampling.top_p == 0.9f &&
           body.sampling.top_k == 40 && body.sampling.min_p == 0.1f &&
           body.sampling.presence == 1 && body.sampling.frequency == -1 &&
           body.sampling.repetition == 1.5f,
       "sampling");
    ok(body.seed_given && body.sampling.seed == (uint64_t)-7, "seed");
    ok(body.n_stops == 2 && text_is(body.stops[1], "b"), "stop strings");
    accepted("\"x\":1");
    ok(body.sampling.temperature == 1 && body.sampling.top_p == 1 &&
           !body.sampling.top_k && !body.seed_given && !body.n_stops &&
           body.n == 1 && !body.stream && !body.logprobs,
       "nothing said");
    accepted("\"max_tokens\":99999999999");
    is_int(body.max_tokens, 1 << 24, "more than any context is cut");
}

static void test_tools(void)
{
    const struct chat_req *r = &body.chat;
    struct buf b;

    accepted("\"tools\":[" WEB ",{\"name\":\"f\",\"description\":\"d\","
             "\"input_schema\":{\"type\":\"object\"},\"cache_control\":{},"
             "\"strict\":false,\"defer_loading\":true},"
             "{\"type\":\"custom\",\"name\":\"g\"}]");
    ok(r->n_tools == 2 && body.n_offered == 2 && r->tools->n == 2 &&
           text_is(r->tool_list[0].name, "f") && r->tool_list[0].params &&
           !r->tool_list[1].params && r->tool_choice == TOOLS_AUTO &&
           r->parallel_calls && !r->parallel_asked && !body.strict_calls,
       "two functions, and one tool that is left out");
    ok(r->tool_list[0].sent_i == 1 && r->tool_list[1].sent_i == 2 &&
           !strcmp(body.tool_params, "input_schema"),
       "where they were sent");
    is_str(body.skipped, "web_search_20250305", "which is told of");
    buf_init(&b, 4096);
    jsontext(&b, r->tools, JT_COMPACT);
    buf_putc(&b, '\0');
    is_str(b.p, "[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                "\"description\":\"d\",\"parameters\":{\"type\":\"object\"},"
                "\"strict\":false}},{\"type\":\"function\",\"function\":"
                "{\"name\":\"g\"}}]",
           "what a chat format sees");
    buf_release(&b);
    accepted("\"tools\":[" WEB "," WEB ",{\"type\":\"bash_20250124\"},"
             "{\"type\":\"a b\"},{\"type\":\"\"},{\"type\":\"x\\r\\ny\"}]");
    is_str(body.skipped, "web_search_20250305, bash_20250124, other",
           "each type once, and no odd words");
    ok(!r->tools && !r->n_tools && !body.n_offered, "none is left");
}

static void test_choice(void)
{
    static const struct {
        const char *choice;
        enum tool_choice kind;
        size_t offered;
        bool parallel, asked;
    } t[] = {
        {"null", TOOLS_AUTO, 1, true, false},
        {"{\"type\":\"auto\"}", TOOLS_AUTO, 1, true, false},
        {"{\"type\":\"auto\",\"disable_parallel_tool_use\":true}",
         TOOLS_AUTO, 1, false, false},
        {"{\"type\":\"any\"}", TOOLS_REQUIRED, 1, true, false},
        {"{\"type\":\"ANY\",\"disable_parallel_tool_use\":false}",
         TOOLS_REQUIRED, 1, true, true},
        {"{\"type\":\"none\"}", TOOLS_NONE, 0, true, false},
        {"{\"type\":\"tool\",\"name\":\"f\"}", TOOLS_NAMED, 1, true, false},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char members[256];

        snprintf(members, sizeof(members),
                 "\"tools\":[" F("f") "],\"tool_choice\":%s", t[i].choice);
        accepted(members);
        ok(body.chat.tool_choice == t[i].kind &&
               body.n_offered == t[i].offered &&
               body.chat.parallel_calls == t[i].parallel &&
               body.chat.parallel_asked == t[i].asked, "means that");
    }
    ok(text_is(body.chat.tool_named, "f"), "the named one");
}

static void test_thinking(void)
{
    static const struct {
        const char *members;
        enum think_mode mode;
        int64_t cap, word_cap;
        const char *effort;
        const char *field;
        bool asked, soft, hidden;
    } t[] = {
        {"\"x\":1", THINK_OFF, -1, 0, "", "", false, true, false},
        {"\"thinking\":{\"type\":\"disabled\"}", THINK_OFF, -1, 0, "",
         "thinking.type", false, false, false},
        {"\"thinking\":{\"type\":\"adaptive\"}", THINK_ON, -1, 0, "",
         "thinking.type", false, true, false},
        {"\"thinking\":{\"type\":\"adaptive\",\"budget_tokens\":2048}",
         THINK_ON, -1, 0, "", "thinking.type", false, true, false},
        {"\"thinking\":{\"type\":\"adaptive\",\"display\":\"omitted\"}",
         THINK_ON, -1, 0, "", "thinking.type", false, true, true},
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":2048,"
         "\"display\":\"summarized\"}", THINK_ON, 2048, 0, "",
         "thinking.type", true, false, false},
        {"\"thinking\":{\"type\":\"enabled\"}", THINK_ON, -1, 0, "",
         "thinking.type", false, false, false},
        {"\"thinking\":{\"type\":\"adaptive\"},\"output_config\":"
         "{\"effort\":\"low\"}", THINK_ON, -1, 2048, "low",
         "output_config.effort", true, true, false},
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9},"
         "\"output_config\":{\"effort\":\"max\"}", THINK_ON, 9, 0, "max",
         "output_config.effort", true, false, false},
        {"\"output_config\":{\"effort\":\"high\"}", THINK_OFF, -1, 0, "", "",
         false, true, false},
        {"\"thinking\":{\"type\":\"disabled\"},\"output_config\":"
         "{\"effort\":\"high\"}", THINK_OFF, -1, 0, "", "thinking.type",
         false, false, false},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const struct think_ask *a = &body.think;

        accepted(t[i].members);
        ok(body.chat.think == t[i].mode && a->cap == t[i].cap &&
               a->word_cap == t[i].word_cap && a->asked == t[i].asked &&
               a->soft == t[i].soft && a->hidden == t[i].hidden &&
               body.chat.effort_n == -1,
           "its meaning");
        ok(text_is(body.chat.effort, t[i].effort), "its word");
        is_str(a->field ? a->field : "", t[i].field, "who said so");
    }
}

/* --- what a chat format makes of it --------------------------------------- */

static const struct format_kind plain = {.name = "bare"};

/* What is implied bends to the format; what is said does not. */
static void test_bends(void)
{
    static const char *const words[] = {"low", NULL};
    static const struct {
        const char *members;
        struct format_caps caps;
        enum think_mode mode;
    } t[] = {
        {"\"x\":1", {.think = true}, THINK_OFF},
        {"\"x\":1", {.think = true, .think_forced = true}, THINK_ON},
        {"\"x\":1", {.tools = true}, THINK_OFF},
        {"\"thinking\":{\"type\":\"disabled\"}",
         {.think = true, .think_forced = true}, THINK_OFF},
        {"\"thinking\":{\"type\":\"adaptive\"}", {.think = true}, THINK_ON},
        {"\"thinking\":{\"type\":\"adaptive\"}", {.tools = true}, THINK_OFF},
        {"\"thinking\":{\"type\":\"adaptive\"}", {.efforts = words},
         THINK_OFF},
        {"\"thinking\":{\"type\":\"adaptive\"},\"output_config\":"
         "{\"effort\":\"low\"}", {.efforts = words}, THINK_ON},
        {"\"thinking\":{\"type\":\"adaptive\"},\"output_config\":"
         "{\"effort\":\"low\"}", {.tools = true}, THINK_OFF},
        {"\"thinking\":{\"type\":\"enabled\"}", {.tools = true}, THINK_ON},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct format *f = format_new(&plain, "bare", "none");
        const struct catalog_model m = {.format = f};

        f->caps = t[i].caps;
        accepted(t[i].members);
        is_int(prompts_think(&m, &body, true), t[i].mode, "%zu: on or off",
               i);
        is_int(prompts_think(&m, &body, false), t[i].mode,
               "whatever the server's default");
        format_free(f);
    }
}

/* `members` may bring messages of their own. */
static void refuses(const char *members, const char *where)
{
    struct format *f = format_new(&plain, "bare", "none");
    const struct catalog_model m = {.format = f};
    struct prompt_ids p = {.context = 100};

    f->caps.images = true;
    accepted(members);
    is_int(prompts_chat(&p, &m, &body, &arena, &err), ST_INVALID,
           "too much for a format without system turns, tools and thoughts");
    is_str(err.where, where, "which is said in the caller's terms");
    prompts_release(&p);
    format_free(f);
}

static void test_formats(void)
{
    refuses("\"system\":\"x\"", "system");
    refuses("\"tools\":[" F("f") "]", "tools");
    refuses("\"thinking\":{\"type\":\"enabled\"}", "thinking.type");
    refuses("\"thinking\":{\"type\":\"enabled\"},\"output_config\":"
            "{\"effort\":\"low\"}", "output_config.effort");
    refuses("\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
            "{\"role\":\"user\",\"content\":\"b\"},"
            "{\"role\":\"system\",\"content\":\"c\"}]", "messages[2]");
    refuses("\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\","
            "\"id\":\"u\",\"name\":\"f\"}]},{\"role\":\"user\",\"content\":\"b\"}]",
            "messages[1]");
    refuses("\"messages\":[{\"role\":\"user\",\"content\":\"a\"},"
            "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
            "\"tool_use_id\":\"u\"}]}]",
            "messages[1]");
    refuses("\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
            "\"image\",\"source\":{}}]}]", "messages[0].content[0].type");
}

static void test_forms(void)
{
    accepted("\"output_config\":{\"format\":{\"type\":\"json_schema\","
             "\"schema\":{\"type\":\"object\"}}}");
    ok(body.chat.form == FORM_JSON_SCHEMA && body.chat.schema &&
           !strcmp(body.form_field, "output_config.format") &&
           !strcmp(body.schema_field, "output_config.format.schema") &&
           !body.strict,
       "a schema");
    accepted("\"output_format\":{\"type\":\"json_schema\",\"schema\":{}}");
    ok(body.chat.form == FORM_JSON_SCHEMA &&
           !strcmp(body.schema_field, "output_format.schema"),
       "by its old name");
    accepted("\"output_format\":{\"type\":\"json_schema\",\"schema\":{}},"
             "\"output_config\":{\"format\":{\"type\":\"json_schema\","
             "\"schema\":{}}}");
    is_str(body.schema_field, "output_config.format.schema",
           "the new name counts");
    accepted("\"output_config\":{\"effort\":\"low\"}");
    is_int(body.chat.form, FORM_TEXT, "none");
}

static void test_count(void)
{
    static const char bare[] = "{" M "}", zero[] = "{" M ",\"max_tokens\":0}";
    struct text t = {bare, sizeof(bare) - 1};

    is_int(body_parse_blocks(&body, &arena, t, &err), ST_INVALID,
           "an answer needs max_tokens");
    is_str(err.where, "max_tokens", "where");
    is_int(body_parse_count(&body, &arena, t, &err), ST_OK,
           "a count does not");
    t = (struct text){zero, sizeof(zero) - 1};
    is_int(body_parse_count(&body, &arena, t, &err), ST_INVALID,
           "though what is there has to be right");
}

int main(void)
{
    test_rows();
    test_types();
    test_sampling();
    test_tools();
    test_choice();
    test_thinking();
    test_bends();
    test_formats();
    test_forms();
    test_count();
    arena_release(&arena);
    return done();
}
