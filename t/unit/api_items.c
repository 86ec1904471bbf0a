/*
 * What the parser of /v1/responses makes of items, tools and the rest.
 * Expectations: OpenAI's reference for what items mean, our written decisions
 * for which of them are one message, hostile bodies for the limits.
 */
#include "api/prompts.h"
#include "base/buf.h"
#include "chat/format_int.h"
#include "chat/jsontext.h"
#include "t/lib/tap.h"

#define U "{\"role\":\"user\",\"content\":\"hi\"}"
#define A(text) "{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"msg_1\"," \
                "\"status\":\"completed\",\"content\":[{\"type\":" \
                "\"output_text\",\"text\":\"" text "\",\"annotations\":[]}]}"
#define R(text) "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]," \
                "\"content\":[{\"type\":\"reasoning_text\",\"text\":\"" text \
                "\"}]}"
#define SEALED(s) "{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[]," \
                  "\"encrypted_content\":\"" s "\"}"
#define C(id) "{\"type\":\"function_call\",\"call_id\":\"" id "\",\"name\":" \
              "\"f\",\"arguments\":\"{\\\"a\\\":1}\"}"
#define O(id) "{\"type\":\"function_call_output\",\"call_id\":\"" id "\"," \
              "\"output\":\"42\"}"
#define S(text) "{\"role\":\"developer\",\"content\":\"" text "\"}"
#define W64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define T(name) "{\"type\":\"function\",\"name\":\"" name "\"}"

static struct arena arena;
static struct body body;
static struct err err;

static enum st parse_n(const char *json, size_t n,
                       const struct body_past *past)
{
    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 64u << 20);
    return body_parse_items(&body, &arena, (struct text){json, n}, past,
                            &err);
}

static enum st parse(const char *json)
{
    return parse_n(json, strlen(json), NULL);
}

static void add(struct buf *out, const char *mark, struct text t)
{
    if (!t.n)
        return;
    buf_puts(out, mark);
    buf_add(out, t.s, t.n);
}

/* Every message: its role, then r: reasoning, t: text, c: calls with their id,
 * name and arguments, o: the call that a result is of. */
static const char *said(void)
{
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    static struct buf out;

    buf_release(&out);
    buf_init(&out, 1 << 20);
    buf_puts(&out, "");
    for (size_t i = 0; i < body.chat.n_messages; i++) {
        const struct chat_msg *m = &body.chat.messages[i];

        buf_printf(&out, "%s%s", i ? " | " : "", roles[m->role]);
        add(&out, " o:", m->call_id);
        add(&out, " r:", m->reasoning);
        add(&out, " t:", m->content);
        for (size_t j = 0; j < m->n_calls; j++) {
            add(&out, " c:", m->calls[j].id);
            add(&out, ",", m->calls[j].name);
            add(&out, ",raw ", m->calls[j].raw);
            if (m->calls[j].args) {
                buf_putc(&out, ',');
                jsontext(&out, m->calls[j].args, JT_COMPACT);
            }
        }
    }
    return out.p;
}

static void is_said(const char *items, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    buf_printf(&b, "{\"input\":[%s]}", items);
    if (ok(!parse(b.p), "%.60s", items))
        is_str(said(), want, "is what was said");
    else
        printf("# %s: %s\n", err.where, err.text);
    buf_release(&b);
}

static void turns(void)
{
    is_said(U, "user t:hi");
    is_said(U "," U, "user t:hi | user t:hi");
    is_said(U "," A("a") "," U, "user t:hi | assistant t:a | user t:hi");
    is_said(U "," R("r") "," A("a") "," C("1") "," O("1"),
            "user t:hi | assistant r:r t:a c:1,f,{\"a\":1} | tool o:1 t:42");
    is_said(U "," C("1") "," C("2") "," O("2") "," O("1"),
            "user t:hi | assistant c:1,f,{\"a\":1} c:2,f,{\"a\":1} | "
            "tool o:2 t:42 | tool o:1 t:42");
    is_said(U "," R("r") "," C("1") "," O("1") "," R("s") "," C("2") "," O("2")
            "," A("a"),
            "user t:hi | assistant r:r c:1,f,{\"a\":1} | tool o:1 t:42 | "
            "assistant r:s c:2,f,{\"a\":1} | tool o:2 t:42 | assistant t:a");
    is_said(U "," R("r") "," C("1") "," R("s") "," C("2") "," O("1") "," O("2"),
            "user t:hi | assistant r:rs c:1,f,{\"a\":1} c:2,f,{\"a\":1} | "
            "tool o:1 t:42 | tool o:2 t:42");
    is_said(U "," A("a") "," C("1") "," A("b"),
            "user t:hi | assistant t:a\n\nb c:1,f,{\"a\":1}");
    is_said(U "," A("a") "," A("b"),
            "user t:hi | assistant t:a | assistant t:b");
    is_said(U "," A("a") ",{\"type\":\"web_search_call\"},"
            "{\"type\":\"reasoning\",\"summary\":[]}," C("1"),
            "user t:hi | assistant t:a c:1,f,{\"a\":1}");
    is_said(U "," A(""), "user t:hi | assistant");
    is_said(U "," R("") ",{\"type\":\"reasoning\",\"summary\":[],"
            "\"encrypted_content\":\"pen1.\"}", "user t:hi");
    is_said("{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"developer\","
            "\"content\":[{\"type\":\"input_text\",\"text\":\"d\"},{\"type\":"
            "\"input_text\",\"text\":\"e\"}]}," U ",{\"role\":\"developer\","
            "\"content\":\"late\"}",
            "system t:s\n\nde | user t:hi | system t:late");
    is_said(U ",{\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\""
            ",\"text\":\"I \"},{\"type\":\"refusal\",\"refusal\":\"won't\"}]}",
            "user t:hi | assistant t:I won't");
    is_said(U ",{\"type\":\"reasoning\",\"content\":[{\"type\":\"text\","
            "\"text\":\"r\"}]}," A("a"), "user t:hi | assistant r:r t:a");
    /* an id makes no reference of a message */
    is_said("{\"id\":\"msg_7\",\"role\":\"user\",\"content\":\"hi\"}",
            "user t:hi");
}

static void calls(void)
{
    is_said(U ",{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\","
            "\"arguments\":\"no json\"}",
            "user t:hi | assistant c:c,f,raw no json");
    is_said(U ",{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\","
            "\"arguments\":\"\"}", "user t:hi | assistant c:c,f");
    is_said(U ",{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":"
            "\"patch\",\"input\":\"a \\\"b\\\"\"},{\"type\":"
            "\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":["
            "{\"type\":\"input_text\",\"text\":\"do\"},{\"type\":"
            "\"input_text\",\"text\":\"ne\"}]}",
            "user t:hi | assistant c:c,patch,{\"input\":\"a \\\"b\\\"\"} | "
            "tool o:c t:done");
    /* clients lose halves of pairs, and send them twice */
    is_said(U "," O("9"), "user t:hi | tool o:9 t:42");
    is_said(U "," C("1") "," C("1") "," O("1") "," O("1") "," U,
            "user t:hi | assistant c:1,f,{\"a\":1} c:1,f,{\"a\":1} | "
            "tool o:1 t:42 | tool o:1 t:42 | user t:hi");
    is_said(U ",{\"type\":\"function_call_output\",\"name\":\"f\","
            "\"output\":\"x\"}", "user t:hi | tool t:x");
    ok(text_is(body.chat.messages[1].tool, "f"), "which tool it was");
    is_said(U "," C("1") "," U,
            "user t:hi | assistant c:1,f,{\"a\":1} | user t:hi");
}

/* Python's base64 made the seals: "thought", "w\u00f6rd", broken ones. */
static void seals(void)
{
    is_said(U "," SEALED("pen1.dGhvdWdodA") "," A("a"),
            "user t:hi | assistant r:thought t:a");
    is_said(U "," SEALED("pen1.d8O2cmQ") "," C("1"),
            "user t:hi | assistant r:w\xc3\xb6rd c:1,f,{\"a\":1}");
    is_said(U "," SEALED("gAAAAABoThisIsNotOurs==") "," A("a"),
            "user t:hi | assistant t:a");
    is_said(U "," SEALED("pen1.dGhvdWdodB") "," A("a"),
            "user t:hi | assistant t:a");
    is_said(U "," SEALED("pen1.7aCA") "," A("a"),
            "user t:hi | assistant t:a");
    is_said(U ",{\"type\":\"reasoning\",\"summary\":[],\"content\":["
            "{\"type\":\"reasoning_text\",\"text\":\"open\"}],"
            "\"encrypted_content\":\"pen1.dGhvdWdodA\"}",
            "user t:hi | assistant r:open");
}

static void images(void)
{
    const struct chat_msg *m = NULL;

    ok(!parse("{\"input\":[" U ",{\"role\":\"user\",\"content\":[{\"type\":"
              "\"input_text\",\"text\":\"a\"},{\"type\":\"input_image\","
              "\"image_url\":\"x\"}]}]}"), "an image");
    m = &body.chat.messages[1];
    ok(m->n_parts == 2 && m->parts[1].type == PART_IMAGE &&
           text_is(m->content, "a"), "is a part");
    is_str(body.image, "input[1].content[1].type", "and has a name");
    ok(!parse("{\"input\":[" U ",{\"type\":\"function_call_output\","
              "\"call_id\":\"c\",\"output\":[{\"type\":\"input_image\","
              "\"file_id\":\"x\"}]}]}"), "one of a tool");
    is_str(body.image, "input[1].output[0].type", "has one, too");
    ok(!parse("{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":"
              "\"input_text\",\"text\":\"a\"}]}]}") &&
           !body.chat.messages[0].parts && !body.image[0],
       "a list of texts is no more than its text");
}

/* --- what is left out ----------------------------------------------------- */

static void skips(void)
{
    struct buf b;

    ok(!parse("{\"input\":[" U ",{\"type\":\"mcp_call\"},{\"type\":"
              "\"mcp_call\"},{\"type\":\"compaction\"}],\"tools\":[{\"type\":"
              "\"mcp\",\"name\":\"apply_patch\"}," T("f") ",{\"type\":"
              "\"web_search\"},{\"type\":\"mcp\"},{\"type\":\"a b\"},"
              "{\"type\":\"\\r\\nX-Evil: 1\"},{\"type\":\"\"}]}"),
       "tools and items that cannot be served");
    is_str(body.skipped, "mcp_call, compaction, mcp, web_search, other",
           "each once; what is no plain word has none");
    is_int(body.n_offered, 1, "the function is offered");
    buf_init(&b, 1 << 20);
    buf_puts(&b, "{\"input\":\"hi\",\"tools\":[");
    for (int i = 0; i < 4000; i++)
        buf_printf(&b, "%s{\"type\":\"tool_%04d\"}", i ? "," : "", i);
    buf_puts(&b, "]}");
    ok(!parse(b.p), "thousands of kinds");
    ok(strlen(body.skipped) < SKIPPED_MAX &&
           !strncmp(body.skipped, "tool_0000, tool_0001", 20),
       "as many as there is room for");
    buf_release(&b);
}

/* The types of ResponseInputItem (openai 7.59.0) that name what runs at a
 * vendor's. */
static void hosted_items(void)
{
    static const char *const types[] = {
        "file_search_call", "computer_call", "computer_call_output",
        "web_search_call", "tool_search_call", "tool_search_output",
        "compaction", "image_generation_call", "code_interpreter_call",
        "local_shell_call", "local_shell_call_output", "shell_call",
        "shell_call_output", "apply_patch_call", "apply_patch_call_output",
        "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
        "mcp_call", "program", "program_output",
    };
    char json[200];

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        snprintf(json, sizeof(json), "{\"input\":[" U ",{\"type\":\"%s\"}]}",
                 types[i]);
        ok(!parse(json) && !strcmp(said(), "user t:hi"), "%s", types[i]);
        is_str(body.skipped, types[i], "is left out, and told of");
    }
}

/* The list that goes into a header, to its last byte. */
static void skipped_words(void)
{
    struct buf b;

    ok(!parse("{\"input\":\"hi\",\"tools\":[{\"type\":\"a.b-c_1\"},"
              "{\"type\":\"" W64 "\"},{\"type\":\"c,d\"},{\"type\":\""
              W64 "x\"},{\"type\":\"e\\u0000\"},{\"type\":\"a.b\"}]}"),
       "words of every kind");
    is_str(body.skipped, "a.b-c_1, " W64 ", other, a.b",
           "only plain and short ones are told");
    for (int first = 1; first <= 11; first++) {
        const char *last;

        buf_init(&b, 1 << 20);
        buf_printf(&b, "{\"input\":\"hi\",\"tools\":[{\"type\":\"%.*s\"}",
                   first, W64);
        for (int i = 0; i < 1000; i++)
            buf_printf(&b, ",{\"type\":\"tool_%04d\"}", i);
        buf_puts(&b, "]}");
        ok(!parse(b.p), "a first word of %d bytes", first);
        buf_release(&b);
        last = strrchr(body.skipped, ' ');
        ok(strlen(body.skipped) + 11 >= SKIPPED_MAX && last &&
               strlen(last) == 10 && !strncmp(last, " tool_", 6),
           "the last one is whole, and there was no room for another");
    }
}

/* --- tools ---------------------------------------------------------------- */

static void tools(void)
{
    const struct chat_req *r = &body.chat;
    struct buf b;

    ok(!parse("{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":"
              "\"f\",\"description\":\"d\",\"strict\":null,\"parameters\":"
              "{\"type\":\"object\"},\"defer_loading\":true},"
              "{\"type\":\"web_search\"}," T("g") "]}"), "two functions");
    buf_init(&b, 4096);
    jsontext(&b, r->tools, JT_COMPACT);
    is_str(b.p, "[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                "\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}},"
                "{\"type\":\"function\",\"function\":{\"name\":\"g\"}}]",
           "in chat's shape");
    ok(r->n_tools == 2 && text_is(r->tool_list[1].name, "g") &&
           json_get(r->tool_list[0].params, "type") &&
           r->tool_list[0].function == json_get(r->tool_list[0].item,
                                                "function"),
       "and read");
    ok(r->tool_choice == TOOLS_AUTO && body.n_offered == 2 &&
           !body.strict_calls && r->parallel_calls && !r->parallel_asked,
       "nothing was said of them");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" T("f") "," T("g") "],"
              "\"tool_choice\":{\"type\":\"function\",\"name\":\"g\"},"
              "\"parallel_tool_calls\":false}") &&
           r->tool_choice == TOOLS_NAMED && text_is(r->tool_named, "g") &&
           !r->parallel_calls, "one is chosen");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" T("f") "],\"tool_choice\":"
              "\"none\"}") && r->n_tools == 1 && !body.n_offered,
       "none is");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" T("f") "," T("g") "," T("h")
              "],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":"
              "\"required\",\"tools\":[" T("h") "," T("f") "," T("x") "]}}") &&
           r->tool_choice == TOOLS_REQUIRED && r->n_tools == 2 &&
           r->tools->n == 2 && text_is(r->tool_list[1].name, "h") &&
           body.n_offered == 2, "two of three are allowed");
    ok(!parse("{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":"
              "\"f\",\"strict\":true,\"parameters\":{\"type\":\"object\","
              "\"properties\":{},\"required\":[],\"additionalProperties\":"
              "false}}]}") && body.strict_calls, "a strict one");
    buf_release(&b);
}

#define SPACE(name, tools) "{\"type\":\"namespace\",\"name\":\"" name \
                           "\",\"description\":\"About.\",\"tools\":[" \
                           tools "]}"

static void tools_are(const char *want, const char *what)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    buf_puts(&b, "");
    for (size_t i = 0; i < body.n_offered; i++) {
        const struct chat_tool *t = &body.offered[i];

        add(&b, i ? " " : "", t->name);
        add(&b, "=", t->space);
        add(&b, t->custom && !t->space.n ? "=/" : "/", t->own);
        if (t->custom)
            buf_putc(&b, '!');
        if (!text_same(json_get(json_get(t->item, "function"), "name")->str,
                       t->name))
            buf_puts(&b, " (another in its item)");
    }
    is_str(b.p, want, "%s", what);
    buf_release(&b);
}

static void spaces(void)
{
    const struct chat_req *r = &body.chat;
    struct buf b;

    ok(!parse("{\"input\":\"hi\",\"tools\":[" T("f") "," SPACE("a", T("f") ","
              "{\"type\":\"function\",\"name\":\"g\",\"description\":"
              "\"Go.\",\"strict\":true,\"parameters\":{\"type\":\"object\","
              "\"properties\":{},\"required\":[],\"additionalProperties\":"
              "false}},{\"type\":\"mcp\"}") "," SPACE("b__", T("f")) ","
              SPACE("c", "") "]}"), "namespaces");
    tools_are("f/f a__f=a/f a__g=a/g b__f=b__/f", "are joined by one __");
    is_str(body.skipped, "mcp", "what is none of ours in it is left out");
    buf_init(&b, 4096);
    jsontext(&b, r->tools->child->next, JT_COMPACT);
    is_str(b.p, "{\"type\":\"function\",\"function\":{\"name\":\"a__f\","
                "\"description\":\"a: About.\"}}",
           "the first one tells of the namespace");
    buf_clear(&b);
    jsontext(&b, r->tools->child->next->next, JT_COMPACT);
    is_str(b.p, "{\"type\":\"function\",\"function\":{\"name\":\"a__g\","
                "\"description\":\"Go.\",\"parameters\":{\"type\":\"object\","
                "\"properties\":{},\"required\":[],\"additionalProperties\":"
                "false},\"strict\":true}}", "the others do not");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" T("f") "," SPACE("a", T("f"))
              "],\"tool_choice\":{\"type\":\"function\",\"name\":\"f\","
              "\"namespace\":\"a\"}}") && text_is(r->tool_named, "a__f"),
       "one is chosen, with its namespace");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" SPACE("a", T("f"))
              "],\"tool_choice\":{\"type\":\"function\",\"name\":\"a__f\"}}")
           && text_is(r->tool_named, "a__f"), "or by both names");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" T("f") "," SPACE("a", T("f") ","
              T("g")) "," SPACE("b", T("f") "," T("g")) "],\"tool_choice\":"
              "{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"tools\":["
              "{\"type\":\"namespace\",\"name\":\"a\"}," T("b__g") "]}}"),
       "some are allowed");
    tools_are("a__f=a/f a__g=a/g b__g=b/g", "a namespace, and one of another");
    is_said(U ",{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"f\","
            "\"namespace\":\"a\",\"arguments\":\"{}\"},{\"type\":"
            "\"function_call_output\",\"call_id\":\"1\",\"output\":\"x\"},"
            "{\"type\":\"custom_tool_call\",\"call_id\":\"2\",\"name\":\"f\","
            "\"namespace\":\"b__\",\"input\":\"i\"}",
            "user t:hi | assistant c:1,a__f,{} | tool o:1 t:x | assistant "
            "c:2,b__f,{\"input\":\"i\"}");
    buf_release(&b);
}

#define PARAMS "\"parameters\":{\"type\":\"object\",\"properties\":{" \
               "\"input\":{\"type\":\"string\"}},\"required\":[\"input\"]," \
               "\"additionalProperties\":false}"

static void is_custom(const char *members, const char *want)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    buf_printf(&b, "{\"input\":\"hi\",\"tools\":[{\"type\":\"custom\","
                   "\"name\":\"f\"%s}]}", members);
    ok(!parse(b.p) && body.n_offered == 1 && body.offered[0].custom &&
           !body.skipped[0], "a custom tool: %s", members);
    buf_clear(&b);
    jsontext(&b, body.n_offered ? body.offered[0].function : NULL, JT_COMPACT);
    is_str(b.p, want, "is a function with one string");
    buf_release(&b);
}

static void customs(void)
{
    static const char grammar[] =
        ",\"format\":{\"type\":\"grammar\",\"syntax\":\"lark\","
        "\"definition\":\"start: /a+/\"}";
    const struct chat_req *r = &body.chat;
    char more[256];

    is_custom("", "{\"name\":\"f\"," PARAMS "}");
    is_custom(",\"description\":\"D.\",\"format\":{\"type\":\"text\"},"
              "\"strict\":5",
              "{\"name\":\"f\",\"description\":\"D.\"," PARAMS "}");
    is_custom(grammar, "{\"name\":\"f\",\"description\":\"Its input follows "
                       "this grammar (lark):\\nstart: /a+/\"," PARAMS "}");
    snprintf(more, sizeof(more), ",\"description\":\"D.\"%s", grammar);
    is_custom(more, "{\"name\":\"f\",\"description\":\"D.\\n\\nIts input "
                    "follows this grammar (lark):\\nstart: /a+/\"," PARAMS
                    "}");
    ok(!parse("{\"input\":\"hi\",\"tools\":[" SPACE("a", "{\"type\":\"custom\","
              "\"name\":\"f\"}," T("g")) "],\"tool_choice\":{\"type\":"
              "\"custom\",\"namespace\":\"a\",\"name\":\"f\"}}") &&
           text_is(r->tool_named, "a__f"), "one of a namespace, chosen");
    tools_are("a__f=a/f! a__g=a/g", "beside a function");
    ok(json_is(json_get(body.offered[0].function, "description"),
               "a: About."), "tells of the namespace");
    ok(!parse("{\"input\":\"hi\",\"tools\":[{\"type\":\"custom\",\"name\":"
              "\"f\"}," T("g") "],\"tool_choice\":{\"type\":"
              "\"allowed_tools\",\"mode\":\"required\",\"tools\":[{\"type\":"
              "\"custom\",\"name\":\"f\"},{\"type\":\"custom\",\"name\":"
              "\"g\"}]}}"), "one of two is allowed");
    tools_are("f=/f!", "by type and name");
    ok(!parse("{\"input\":\"hi\",\"tools\":[{\"type\":\"custom\",\"name\":"
              "\"c\"},{\"type\":\"function\",\"name\":\"f\",\"strict\":true,"
              "\"parameters\":{\"type\":\"object\",\"properties\":{},"
              "\"required\":[],\"additionalProperties\":false}}]}") &&
           body.strict_calls, "strict functions bind, whatever is beside them");
    ok(!parse("{\"input\":\"hi\",\"tools\":[{\"type\":\"custom\",\"name\":"
              "\"c\"}]}") && !body.strict_calls, "custom tools alone do not");
}

/* Tools that come as items. */
static void more_tools(void)
{
    ok(!parse("{\"input\":[{\"type\":\"additional_tools\",\"role\":"
              "\"developer\",\"tools\":[" T("f") "," SPACE("a", T("f")) ","
              "{\"type\":\"web_search\"}]}," U ",{\"type\":"
              "\"additional_tools\",\"tools\":[" T("g") "," SPACE("a", T("f"))
              "]}],\"tools\":[" T("h") ",{\"type\":\"function\",\"name\":"
              "\"f\",\"description\":\"newer\"}]}"), "tools in items");
    tools_are("f/f a__f=a/f g/g h/h", "are offered, each name once");
    ok(json_is(json_get(body.chat.tool_list[0].function, "description"),
               "newer"), "as the last list has it");
    is_str(said(), "user t:hi", "and nothing is said of them");
    is_str(body.skipped, "web_search", "what cannot be served is left out");
    ok(parse("{\"input\":[" U ",{\"type\":\"additional_tools\",\"tools\":["
             SPACE("a", T("f") "," T("f")) "]}]}") == ST_INVALID,
       "two of one name in one list");
    is_str(err.where, "input[1].tools[0].tools[1].name", "are named");
}

static void many_tools(int n, size_t bytes, const char *where)
{
    struct buf b;
    enum st st;

    buf_init(&b, 4 << 20);
    buf_puts(&b, "{\"input\":\"hi\",\"tools\":[");
    for (int i = 0; i < n; i++) {
        buf_printf(&b, "%s{\"type\":\"function\",\"name\":\"f%d\","
                       "\"description\":\"", i ? "," : "", i);
        for (size_t k = 0; k < bytes; k++)
            buf_putc(&b, 'x');
        buf_puts(&b, "\"}");
    }
    buf_puts(&b, "]}");
    st = parse(b.p);
    is_int(st, where ? ST_INVALID : ST_OK, "%d tools of %zu bytes", n, bytes);
    is_str(err.where, where ? where : "", "as the limits say");
    buf_release(&b);
}

/* --- fields --------------------------------------------------------------- */

static void fields(void)
{
    const struct chat_req *r = &body.chat;

    ok(!parse("{\"input\":\"hi\"}"), "nothing but input");
    ok(!body.model.n && !body.stream && !body.max_tokens && body.n == 1 &&
           !body.n_prompts && body.store == STORE_DEFAULT && !body.sealed &&
           !body.logprobs && body.sampling.temperature == 1 &&
           !body.previous.n && !body.skipped[0] &&
           r->think == THINK_DEFAULT && r->form == FORM_TEXT &&
           !strcmp(body.list, "input"), "the defaults");
    ok(json_get(body.root, "input") == body.root->child, "the object is kept");
    ok(!parse("{\"input\":\"hi\",\"model\":\"m\",\"stream\":true,"
              "\"max_output_tokens\":99999999,\"temperature\":0.5,\"top_p\":"
              "0.25,\"top_k\":7,\"seed\":-3,\"stop\":[\"a\",\"\",\"b\"],"
              "\"store\":false,\"top_logprobs\":4,\"include\":["
              "\"message.output_text.logprobs\","
              "\"reasoning.encrypted_content\"],\"metadata\":{\"task\":"
              "\"title\"},\"reasoning\":{\"effort\":\"low\",\"max_tokens\":9},"
              "\"unknown\":1}"), "all of them");
    ok(text_is(body.model, "m") && body.stream &&
           body.max_tokens == 1 << 24 && body.sampling.temperature == 0.5f &&
           body.sampling.top_p == 0.25f && body.sampling.top_k == 7 &&
           body.seed_given && (int64_t)body.sampling.seed == -3 &&
           body.n_stops == 2 && body.store == STORE_NO && body.sealed &&
           body.logprobs && body.top_logprobs == 4 &&
           text_is(body.task, "title"), "are there");
    ok(r->think == THINK_ON && text_is(r->effort, "low") &&
           body.think.cap == 9, "reasoning, too");
    ok(!json_get(body.root, "unknown"), "others are not kept");
    ok(!parse("{\"input\":\"hi\",\"reasoning\":{\"effort\":\"none\"}}") &&
           r->think == THINK_OFF, "none is off");
    ok(!parse("{\"input\":\"hi\",\"top_logprobs\":4}") && !body.logprobs &&
           !body.top_logprobs, "alternatives of nothing that is told");
    ok(!parse("{\"input\":\"hi\",\"top_logprobs\":4,\"include\":["
              "\"reasoning.encrypted_content\","
              "\"web_search_call.results\"]}") && body.sealed &&
           !body.logprobs && !body.top_logprobs,
       "also where something else is told");
    ok(!parse("{\"input\":\"hi\",\"stream\":false,\"include\":["
              "\"message.output_text.logprobs\","
              "\"reasoning.encrypted_content\","
              "\"code_interpreter_call.outputs\"]}") && body.sealed &&
           body.logprobs && !body.stream, "words in any order");
    ok(!parse("{\"input\":\"hi\",\"include\":["
              "\"reasoning.encrypted_content\","
              "\"message.output_text.logprobs\"]}") && body.sealed &&
           body.logprobs, "and the other way round");
    ok(!parse("{\"input\":\"hi\",\"text\":{\"format\":{\"type\":"
              "\"json_schema\",\"name\":\"n\",\"strict\":true,\"schema\":"
              "{\"type\":\"object\"}}}}") && r->form == FORM_JSON_SCHEMA &&
           body.strict && text_is(body.schema_name, "n") &&
           json_get(r->schema, "type"), "a schema");
    is_str(body.form_field, "text.format", "has the field's name");
    is_str(body.schema_field, "text.format.schema", "of this route");
}

static void metadata(int pairs, size_t key, size_t value, const char *where)
{
    struct buf b;
    enum st st;

    buf_init(&b, 1 << 20);
    buf_puts(&b, "{\"input\":\"hi\",\"metadata\":{");
    for (int i = 0; i < pairs; i++) {
        buf_printf(&b, "%s\"%c", i ? "," : "", 'a' + i);
        for (size_t k = 1; k < key; k++)
            buf_puts(&b, "\xc3\xa9");
        buf_puts(&b, "\":\"");
        for (size_t k = 0; k < value; k++)
            buf_puts(&b, "\xe2\x82\xac");
        buf_puts(&b, "\"");
    }
    buf_puts(&b, "}}");
    st = parse(b.p);
    is_int(st, where ? ST_INVALID : ST_OK,
           "%d pairs, keys of %zu characters, values of %zu", pairs, key,
           value);
    is_str(err.where, where ? where : "", "as the reference says");
    buf_release(&b);
}

/* --- what is stored ------------------------------------------------------- */

static enum st chain(void *arg, struct arena *a, struct text id,
                     const struct json **items, struct err *e)
{
    const char *json = arg;

    if (!text_is(id, "resp_1"))
        return err_set(e, ST_NOT_FOUND, "", "no such response");
    return json_parse(items, a, json, strlen(json), e);
}

static enum st one(void *arg, struct arena *a, struct text id,
                   const struct json **item, struct err *e)
{
    static const char json[] = A("kept");

    (void)arg;
    if (text_is(id, "msg_busy"))
        return err_set(e, ST_BUSY, "", "busy");
    if (!text_is(id, "msg_1"))
        return err_set(e, ST_NOT_FOUND, "", "no such item");
    return json_parse(item, a, json, sizeof(json) - 1, e);
}

static enum st with_past(const char *items, const char *json)
{
    char copy[1024];
    const struct body_past past = {copy, chain, one};

    snprintf(copy, sizeof(copy), "%s", items);
    return parse_n(json, strlen(json), &past);
}

static const char *input(void)
{
    static struct buf b;

    buf_release(&b);
    buf_init(&b, 1 << 20);
    jsontext(&b, body.input, JT_COMPACT);
    return b.p;
}

#define PREVIOUS "\"previous_response_id\":\"resp_1\""

static void past(void)
{
    ok(!with_past("[" U "," R("r") "," A("a") "]",
                  "{\"instructions\":\"be\",\"input\":\"go\"," PREVIOUS "}"),
       "what came before");
    is_str(said(), "system t:be | user t:hi | assistant r:r t:a | user t:go",
           "stands before the input");
    ok(text_is(body.previous, "resp_1"), "it is named");
    is_str(input(), "[{\"type\":\"message\",\"role\":\"user\",\"content\":"
                    "[{\"type\":\"input_text\",\"text\":\"go\"}]}]",
           "the input is that of this request, as items");
    ok(body.chat.messages[1].sent_i == SENT_BEFORE &&
           body.chat.messages[3].sent_i == 0, "errors know which is which");
    ok(!with_past("[" U "," C("1") "]", "{\"input\":[" O("1") "]," PREVIOUS
                  "}"), "a result of a call that came before");
    is_str(said(), "user t:hi | assistant c:1,f,{\"a\":1} | tool o:1 t:42",
           "follows it");
    ok(!with_past("[" U "]", "{" PREVIOUS "}"), "nothing new");
    is_str(input(), "[]", "is an empty list");
    is_int(with_past("[]", "{\"input\":\"go\",\"previous_response_id\":\"x\"}"),
           ST_NOT_FOUND, "one that is not known");
    is_str(err.where, "previous_response_id", "is named");
    is_int(with_past("[{\"type\":\"zap\"}]", "{\"input\":\"go\"," PREVIOUS
                     "}"), ST_INVALID, "an item of it that nobody knows");
    is_str(err.where, "previous_response_id", "is its fault");
    is_int(with_past("[{\"type\":\"additional_tools\",\"tools\":[5]}]",
                     "{\"input\":\"go\"," PREVIOUS "}"), ST_INVALID,
           "a tool of it that is none");
    is_str(err.where, "previous_response_id", "is its fault, too");
    ok(!with_past("[{\"role\":\"user\",\"content\":[{\"type\":\"input_image\""
                  ",\"image_url\":\"x\"}]}]", "{\"input\":\"go\"," PREVIOUS
                  "}"), "an image in it");
    is_str(body.image, "previous_response_id", "is its, too");
    ok(!with_past("[]", "{\"input\":[" U ",{\"type\":\"item_reference\","
                  "\"id\":\"msg_1\"},{\"id\":\"msg_1\"}]}"), "references");
    is_str(said(), "user t:hi | assistant t:kept | assistant t:kept",
           "stand for items");
    ok(strstr(input(), "kept") && !strstr(input(), "reference"),
       "in the input, too");
    is_int(with_past("[]", "{\"input\":[" U ",{\"type\":\"item_reference\","
                     "\"id\":\"x\"}]}"), ST_INVALID, "an unknown one");
    is_str(err.where, "input[1].id", "is named");
    is_int(with_past("[]", "{\"input\":[" U ",{\"type\":\"item_reference\","
                     "\"id\":\"msg_busy\"}]}"), ST_BUSY, "other errors stay");
}

static void resolved(void)
{
    ok(!parse("{\"input\":[{\"role\":\"user\",\"content\":\"hi\",\"x\":1,"
              "\"id\":\"msg_8\"},"
              "{\"role\":\"assistant\",\"content\":\"a\",\"phase\":"
              "\"commentary\"}," O("1") "]}"), "short forms");
    is_str(input(),
           "[{\"type\":\"message\",\"role\":\"user\",\"id\":\"msg_8\",\"content\":"
           "[{\"type\":\"input_text\",\"text\":\"hi\"}]},{\"type\":\"message\",\"role\":"
           "\"assistant\",\"phase\":\"commentary\",\"content\":[{\"type\":"
           "\"output_text\",\"text\":\"a\"}]}," O("1") "]",
           "are kept in the long one");
}

/* --- what a chat format refuses ------------------------------------------ */

static char turned[300]; /* what was rendered last */

/* Shows the turns, and takes none of them. */
static enum st show(const struct format *f, const struct chat_req *r,
                    struct segments *out, bool *think_open, struct err *e)
{
    size_t n = 0;

    (void)f;
    (void)out;
    (void)think_open;
    for (size_t i = 0; i < r->n_messages; i++)
        n += (size_t)snprintf(turned + n, sizeof(turned) - n, "%s%c:%.*s",
                              i ? " " : "", "SUAT"[r->messages[i].role],
                              (int)r->messages[i].content.n,
                              r->messages[i].content.s);
    return err_set(e, ST_INVALID, "messages", "refused");
}

static const struct format_kind kind = {.name = "bare", .render = show};

/* The turns that a format gets which takes none as they were sent. */
static void turns_are(const char *json, bool system, const char *want)
{
    struct format *f = format_new(&kind, "bare", "none");
    const struct catalog_model m = {.format = f};
    struct prompt_ids p = {.context = 100};

    f->caps.system = system;
    turned[0] = '\0';
    ok(!parse(json), "%.60s", json);
    is_int(prompts_turns(&p, &m, &body, &arena, &err), ST_INVALID,
           "is taken in no turns");
    is_str(turned, want, "these are the last that were tried");
    prompts_release(&p);
    format_free(f);
}

static void refuses(const char *json, const struct body_past *from,
                    const char *where)
{
    struct format *f = format_new(&kind, "bare", "none");
    const struct catalog_model m = {.format = f};
    struct prompt_ids p = {.context = 100};

    ok(!parse_n(json, strlen(json), from), "%.60s", json);
    is_int(prompts_chat(&p, &m, &body, &arena, &err), ST_INVALID,
           "is too much for a format without system turns and tools");
    is_str(err.where, where, "which is said in the caller's terms");
    prompts_release(&p);
    err = (struct err){0};
    is_int(prompts_turns(&p, &m, &body, &arena, &err), ST_INVALID,
           "and in other turns as well");
    is_str(err.where, where, "which changes nothing of what is said");
    prompts_release(&p);
    format_free(f);
}

static void formats(void)
{
    char before[] = "[" U "," C("1") "]";
    const struct body_past from = {before, chain, one};
    const struct catalog_model no_format = {.format = NULL};
    struct prompt_ids none = {.context = 100};

    refuses("{\"instructions\":\"x\",\"input\":\"hi\"}", NULL,
            "instructions");
    refuses("{\"instructions\":\"x\",\"input\":[" U "," C("1") "]}", NULL,
            "instructions");
    refuses("{\"input\":[" U "," U "," C("1") "]}", NULL, "input[2]");
    refuses("{\"input\":[" U "," R("r") "," C("1") "]}", NULL, "input[1]");
    refuses("{\"input\":[" U "," O("1") "]}", NULL, "input[1]");
    refuses("{\"input\":\"go\"," PREVIOUS "}", &from,
            "previous_response_id");
    refuses("{\"input\":\"hi\",\"tools\":[" T("f") "]}", NULL, "tools");
    refuses("{\"input\":\"hi\",\"reasoning\":{\"effort\":75}}", NULL,
            "reasoning.effort");
    ok(!parse("{\"input\":\"hi\"}") &&
           prompts_turns(&none, &no_format, &body, &arena, &err) ==
               ST_UNSUPPORTED && !strcmp(err.where, "model"),
       "a model without a chat format has no other turns");
    turns_are("{\"instructions\":\"x\",\"input\":\"hi\"}", false,
              "U:x\n\nhi");
    turns_are("{\"instructions\":\"\",\"input\":\"hi\"}", false, "U:hi");
    turns_are("{\"input\":[" U "," S("") "," U "]}", false, "U:hi\n\nhi");
    turns_are("{\"input\":[" U "," S("late") "," U "]}", false,
              "U:hi\n\nlate\n\nhi");
    turns_are("{\"input\":[" S("x") "," U "," A("a") "," S("late") "]}",
              true, "S:x U:hi A:a U:late");
    turns_are("{\"input\":[" S("x") "," U "," A("a") "," U "]}", true,
              "S:x U:hi A:a U:hi");
}

/* --- hostile -------------------------------------------------------------- */

static void repeat(const char *what, const char *unit, size_t n, enum st want)
{
    struct buf b;
    enum st st;

    buf_init(&b, 64u << 20);
    buf_puts(&b, "{\"input\":[" U);
    for (size_t i = 0; i < n; i++)
        buf_puts(&b, unit);
    buf_puts(&b, "]}");
    st = parse(b.p);
    ok(st == want, "%zu times %s: %s", n, what, st_name(st));
    buf_release(&b);
}

static void hostile(void)
{
    static const char nul[] =
        "{\"input\":[{\"role\":\"user\",\"content\":\"a\\u0000b\"}]}";
    struct buf b;

    ok(!parse(nul) && body.chat.messages[0].content.n == 3, "a NUL is data");
    repeat("a message", "," U, 20000, ST_OK);
    repeat("reasoning", "," R("r"), 20000, ST_OK);
    is_int(body.chat.n_messages, 2, "one turn");
    is_int(body.chat.messages[1].reasoning.n, 20000, "with all of it");
    repeat("a call", "," C("1"), 20000, ST_OK);
    is_int(body.chat.messages[1].n_calls, 20000, "of one turn");
    repeat("a text and a call", "," A("a") "," C("1"), 10000, ST_OK);
    repeat("nothing", ",{}", 400000, ST_INVALID);
    repeat("a number", ",7", 100000, ST_INVALID);
    repeat("a hosted call", ",{\"type\":\"mcp_call\"}", 100000, ST_OK);
    repeat("more than fits", "," R("r"), 150000, ST_LIMIT);
    buf_init(&b, 1 << 20);
    buf_puts(&b, "{\"input\":[" U ",");
    for (int i = 0; i < 10000; i++)
        buf_puts(&b, "[");
    for (int i = 0; i < 10000; i++)
        buf_puts(&b, "]");
    buf_puts(&b, "]}");
    ok(parse(b.p) != ST_OK, "10000 levels are too many");
    buf_release(&b);
    ok(parse_n("{\"input\":\"\xff\"}", 13, NULL) == ST_INVALID, "no UTF-8");
    ok(parse("") == ST_INVALID && parse("[]") == ST_INVALID &&
           parse("{\"input\":\"hi\"") == ST_INVALID, "no object");
    ok(!parse("{\"input\":5,\"input\":\"hi\"}"), "the last of two wins");
    ok(parse("{\"input\":[{\"type\":\"item_reference\",\"type\":\"zap\"}]}") ==
           ST_INVALID && !strcmp(err.where, "input[0].type"),
       "also within an item");
}

int main(void)
{
    turns();
    calls();
    seals();
    images();
    skips();
    hosted_items();
    skipped_words();
    tools();
    spaces();
    customs();
    more_tools();
    many_tools(128, 10, NULL);
    many_tools(129, 10, "tools");
    many_tools(100, 3000, "tools");
    fields();
    metadata(16, 64, 512, NULL);
    metadata(17, 1, 1, "metadata");
    metadata(1, 65, 1, "metadata");
    metadata(1, 1, 513, "metadata");
    past();
    resolved();
    formats();
    hostile();
    arena_release(&arena);
    return done();
}
