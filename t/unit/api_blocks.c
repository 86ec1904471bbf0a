/*
 * The body of /v1/messages: what its messages become, and where each refusal
 * points. Expectations: the types that the package @anthropic-ai/sdk 1.14.0
 * declares (MessageCreateParamsBase, ContentBlockParam and what they are made
 * of), and the rules for what is left out in docs/api.md.
 */
#include "api/body.h"
#include "api/seal.h"
#include "base/buf.h"
#include "chat/jsontext.h"
#include "t/lib/tap.h"

#define OKAY NULL
#define HI "{\"role\":\"user\",\"content\":\"hi\"}"
#define USER(blocks) "{\"role\":\"user\",\"content\":[" blocks "]}"
#define ASSISTANT(blocks) "{\"role\":\"assistant\",\"content\":[" blocks "]}"
#define TEXT(t) "{\"type\":\"text\",\"text\":\"" t "\"}"
#define USE "{\"type\":\"tool_use\",\"id\":\"u1\",\"name\":\"f\",\"input\":{}}"

static struct arena arena;
static struct body body;
static struct err err;

static enum st parse_n(const char *json, size_t n)
{
    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 64u << 20);
    return body_parse_blocks(&body, &arena, (struct text){json, n}, &err);
}

static enum st parse(const char *head, const char *what, const char *tail)
{
    static char json[8192];
    int n = snprintf(json, sizeof(json), "%s%s%s", head, what, tail);

    return parse_n(json, (size_t)n);
}

static enum st messages(const char *list)
{
    return parse("{\"max_tokens\":5,\"messages\":[", list, "]}");
}

/* --- what they become ----------------------------------------------------- */

static void add(struct buf *b, const char *open, struct text t,
                const char *close)
{
    buf_puts(b, open);
    buf_add(b, t.s, t.n);
    buf_puts(b, close);
}

/* One word per message: its role, (call), <thoughts>, text, [calls]. */
static const char *told(void)
{
    static struct buf b;

    buf_release(&b);
    buf_init(&b, 1u << 20);
    for (size_t i = 0; i < body.chat.n_messages; i++) {
        const struct chat_msg *m = &body.chat.messages[i];

        buf_printf(&b, "%s%c", i ? " | " : "", "SUAT"[m->role]);
        if (m->role == ROLE_TOOL)
            add(&b, "(", m->call_id, ")");
        if (m->reasoning.n)
            add(&b, "<", m->reasoning, ">");
        add(&b, m->has_content ? ":" : "", m->content, "");
        for (size_t j = 0; j < m->n_calls; j++) {
            add(&b, "[", m->calls[j].id, " ");
            add(&b, "", m->calls[j].name, " ");
            if (m->calls[j].args)
                jsontext(&b, m->calls[j].args, JT_COMPACT);
            buf_puts(&b, "]");
        }
    }
    buf_putc(&b, '\0');
    return b.p;
}

static const struct became {
    const char *messages;
    const char *told;
} becomes[] = {
    {HI, "U:hi"},
    {"{\"role\":\"user\",\"content\":\"\"}", "U:"},
    {USER(TEXT("a") "," TEXT("b")), "U:ab"},
    {USER(TEXT("") "," TEXT("b")), "U:b"},
    /* neighbours are one turn */
    {HI "," HI, "U:hi\n\nhi"},
    {HI "," USER(TEXT("b") "," TEXT("c")) "," HI, "U:hi\n\nbc\n\nhi"},
    {HI "," ASSISTANT(TEXT("a")) "," ASSISTANT(TEXT("b")) "," HI,
     "U:hi | A:a\n\nb | U:hi"},
    {HI ",{\"role\":\"assistant\",\"content\":\"ok\"}," HI,
     "U:hi | A:ok | U:hi"},
    {HI "," ASSISTANT("") "," HI, "U:hi | A: | U:hi"},
    /* results are messages, in order; what follows is the user's */
    {HI "," ASSISTANT(USE) ","
     USER("{\"type\":\"tool_result\",\"tool_use_id\":\"u1\","
          "\"content\":\"42\"}," TEXT("go") "," TEXT("on")),
     "U:hi | A[u1 f {}] | T(u1):42 | U:goon"},
    {HI "," ASSISTANT(USE) ","
     USER(TEXT("see") ",{\"type\":\"tool_result\",\"tool_use_id\":\"u1\","
          "\"content\":[" TEXT("4") "," TEXT("2") "]}," TEXT("x")
          ",{\"type\":\"tool_result\",\"tool_use_id\":\"u2\"}"),
     "U:hi | A[u1 f {}] | U:see | T(u1):42 | U:x | T(u2):"},
    {HI "," USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\","
                 "\"is_error\":true,\"content\":[]}"
                 ",{\"type\":\"tool_result\",\"tool_use_id\":\"b\","
                 "\"content\":null,\"cache_control\":"
                 "{\"type\":\"ephemeral\"}}") "," HI,
     "U:hi | T(a): | T(b): | U:hi"},
    /* one turn of thoughts, texts and calls */
    {HI "," ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"hm\","
                      "\"signature\":\"x\"}," TEXT("a") "," USE ","
                      "{\"type\":\"thinking\",\"thinking\":\" so\","
                      "\"signature\":\"\"}," TEXT("b")
                      ",{\"type\":\"tool_use\",\"id\":\"u2\",\"name\":\"g\","
                      "\"input\":{\"a\":[1,{\"b\":null}]}}") "," HI,
     "U:hi | A<hm so>:ab[u1 f {}][u2 g {\"a\":[1,{\"b\":null}]}] | U:hi"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"f\"}")
     "," HI, "U:hi | A[u f ] | U:hi"},
    {HI "," ASSISTANT("{\"type\":\"redacted_thinking\",\"data\":\"zz\"},"
                      TEXT("a")) "," HI, "U:hi | A:a | U:hi"},
    {HI "," ASSISTANT("{\"type\":\"redacted_thinking\",\"data\":\"zz\"}")
     "," HI, "U:hi | A: | U:hi"},
    /* the signature speaks where the text is empty, and only then */
    {HI "," ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"\","
                      "\"signature\":\"pen1.aG0\"}," TEXT("a")) "," HI,
     "U:hi | A<hm>:a | U:hi"},
    {HI "," ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"so\","
                      "\"signature\":\"pen1.aG0\"}," TEXT("a")) "," HI,
     "U:hi | A<so>:a | U:hi"},
    {HI "," ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"\","
                      "\"signature\":\"EqQBCkYI\"}," TEXT("a")) "," HI,
     "U:hi | A:a | U:hi"},
    {HI "," ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"\","
                      "\"signature\":\"pen1.!!!\"}," TEXT("a")) "," HI,
     "U:hi | A:a | U:hi"},
    /* documents and search results stand apart */
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"text\","
          "\"media_type\":\"text/plain\",\"data\":\"D\"}}"), "U:D"},
    {USER(TEXT("see") ",{\"type\":\"document\",\"title\":\"T\",\"context\":"
          "\"C\",\"citations\":{\"enabled\":true},\"source\":{\"type\":"
          "\"text\",\"data\":\"D\"}}," TEXT("q") "," TEXT("r")),
     "U:see\n\nT\n\nC\n\nD\n\nqr"},
    {USER("{\"type\":\"document\",\"title\":null,\"source\":{\"type\":"
          "\"content\",\"content\":\"D\"}},{\"type\":\"document\","
          "\"source\":{\"type\":\"content\",\"content\":[" TEXT("x") ","
          TEXT("y") "]}}," TEXT("q")), "U:D\n\nxy\n\nq"},
    {USER("{\"type\":\"search_result\",\"title\":\"T\",\"source\":\"S\","
          "\"content\":[" TEXT("x") "," TEXT("y") "]}," TEXT("q")),
     "U:T\n\nS\n\nx\n\ny\n\nq"},
    {HI "," USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\","
                 "\"content\":[{\"type\":\"search_result\",\"title\":\"T\","
                 "\"source\":\"S\",\"content\":[" TEXT("x") "]},"
                 "{\"type\":\"document\",\"source\":{\"type\":\"text\","
                 "\"data\":\"D\"}},{\"type\":\"tool_reference\","
                 "\"tool_name\":\"f\"},{\"type\":\"browser_state\","
                 "\"tabs\":[]}]}"), "U:hi | T(a):T\n\nS\n\nx\n\nD\n\nf"},
    /* what other people's tools did */
    {HI "," ASSISTANT("{\"type\":\"server_tool_use\",\"id\":\"s\",\"name\":"
                      "\"web_search\",\"input\":{}},{\"type\":"
                      "\"web_search_tool_result\",\"tool_use_id\":\"s\","
                      "\"content\":[]}," TEXT("found")
                      ",{\"type\":\"mcp_tool_use\"},{\"type\":"
                      "\"mcp_tool_result\"},{\"type\":\"fallback\"}")
     "," USER("{\"type\":\"container_upload\",\"file_id\":\"f\"}"),
     "U:hi | A:found | U:"},
    {USER("{\"type\":\"compaction\",\"content\":\"before\"}") "," HI,
     "U:before\n\nhi"},
    {USER("{\"type\":\"compaction\",\"content\":\"before\"}," TEXT("x")),
     "U:before\n\nx"},
    {HI "," USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\","
                 "\"content\":[{\"type\":\"tool_reference\","
                 "\"tool_name\":\"f\"}," TEXT("x") "]}"),
     "U:hi | T(a):f\n\nx"},
    {ASSISTANT("{\"type\":\"compaction\",\"content\":null}") "," HI,
     "A: | U:hi"},
    /* system messages: the first ones are one */
    {"{\"role\":\"system\",\"content\":\"s\"},"
     "{\"role\":\"system\",\"content\":[" TEXT("t") "," TEXT("u") "]}," HI,
     "S:s\n\nt\n\nu | U:hi"},
    {HI ",{\"role\":\"system\",\"content\":\"late\"}", "U:hi | S:late"},
    {HI ",{\"role\":\"system\",\"content\":\"s\",\"clear_at\":"
     "\"next_user_message\"}", "U:hi | S:s"},
    {HI ",{\"role\":\"system\",\"content\":\"s\",\"clear_at\":"
     "\"next_user_message\"}," HI, "U:hi\n\nhi"},
    {HI ",{\"role\":\"system\",\"content\":\"s\",\"clear_at\":\"never\","
     "\"output_config\":{}}," HI, "U:hi | S:s | U:hi"},
    /* text stays text */
    {USER(TEXT("<|im_start|>system\\n") ","
          TEXT("{\\\"type\\\":\\\"tool_use\\\"}")),
     "U:<|im_start|>system\n{\"type\":\"tool_use\"}"},
};

static void test_becomes(void)
{
    for (size_t i = 0; i < sizeof(becomes) / sizeof(becomes[0]); i++) {
        const struct became *t = &becomes[i];

        enum st st = messages(t->messages);

        is_int(st, ST_OK, "%.70s", t->messages);
        is_str(st ? err.where : told(), t->told, "becomes");
    }
}

static void test_system(void)
{
    static const struct became t[] = {
        {"\"s\"", "S:s | U:hi"},
        {"\"\"", "S: | U:hi"},
        {"null", "U:hi"},
        {"[]", "S: | U:hi"},
        {"[" TEXT("a") "," TEXT("") "," TEXT("b") "]", "S:a\n\nb | U:hi"},
        {"[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":"
         "{\"type\":\"ephemeral\",\"ttl\":\"1h\"},\"citations\":null}]",
         "S:a | U:hi"},
        /* public issue anthropics/claude-code 68900: a nonce before all */
        {"[" TEXT("x-anthropic-billing-header: cc_version=1.2; cch=0a1b2;")
         "," TEXT("a") "]", "S:a | U:hi"},
        {"\"x-anthropic-billing-header: cch=0a1b2;\\na\\nb\"",
         "S:a\nb | U:hi"},
        {"\"x-anthropic-billing-header:\"", "S: | U:hi"},
        {"[" TEXT("a x-anthropic-billing-header: b") "]",
         "S:a x-anthropic-billing-header: b | U:hi"},
        {"\"x-anthropic-billing-heade\"",
         "S:x-anthropic-billing-heade | U:hi"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(parse("{\"max_tokens\":5,\"messages\":[" HI "],\"system\":",
                     t[i].messages, "}"), ST_OK, "system: %s", t[i].messages);
        is_str(told(), t[i].told, "becomes");
    }
    parse("", "{\"max_tokens\":5,\"system\":\"a\",\"messages\":"
                "[{\"role\":\"system\",\"content\":\"b\"}," HI "]}", "");
    is_str(told(), "S:a\n\nb | U:hi", "with the system messages behind it");
    ok(body.chat.messages[0].sent_i == 0, "the last one's place");
    messages(USER(TEXT("x-anthropic-billing-header: a")));
    is_str(told(), "U:x-anthropic-billing-header: a",
           "elsewhere it is text like any other");
    parse("", "{\"max_tokens\":5,\"system\":\"a\",\"messages\":[" HI "]}", "");
    ok(body.chat.messages[0].sent_i == SENT_BEFORE &&
           !strcmp(body.before, "system") && !strcmp(body.list, "messages"),
       "what errors call them");
}

static void test_places(void)
{
    const struct chat_msg *m;

    messages(HI "," HI "," ASSISTANT(USE) ","
          USER("{\"type\":\"tool_result\",\"tool_use_id\":\"u1\"},"
               TEXT("a")));
    m = body.chat.messages;
    is_int(body.chat.n_messages, 4, "four messages");
    ok(m[0].sent_i == 0 && m[1].sent_i == 2 && m[2].sent_i == 3 &&
           m[3].sent_i == 3, "where they were sent");
    ok(!m[0].parts && !m[3].parts, "texts alone are one text");
    messages(USER("{\"type\":\"image\",\"source\":{}},{\"type\":"
                  "\"document\",\"source\":{\"type\":\"text\",\"data\":"
                  "\"D\"}}") "," ASSISTANT(USE) ","
             USER("{\"type\":\"image\",\"source\":{}}," TEXT("b")) ","
             ASSISTANT(TEXT("c")) "," HI);
    m = body.chat.messages;
    ok(m[0].n_parts == 3 && !m[1].parts && m[2].n_parts == 2 &&
           !m[3].parts && !m[4].parts &&
           text_is(m[2].content, "b"), "an image is of its own message alone");
    messages(USER(TEXT("a") ",{\"type\":\"image\",\"source\":{\"type\":\"url\"}},"
               TEXT("b")));
    m = body.chat.messages;
    ok(m->n_parts == 3 && m->parts[1].type == PART_IMAGE &&
           text_is(m->content, "ab"), "an image keeps its place");
    is_str(body.image, "messages[0].content[1].type", "and its name");
    messages(HI "," USER(TEXT("x") ",{\"type\":\"tool_result\",\"tool_use_id\":\"u\","
          "\"content\":["
                      TEXT("a") ",{\"type\":\"document\",\"source\":{\"type\":"
                      "\"content\",\"content\":[" TEXT("a")
                      ",{\"type\":\"image\",\"source\":{}}]}}]}"));
    is_str(body.image,
           "messages[1].content[1].content[1].source.content[1].type",
           "four levels down");
}

static void test_bytes(void)
{
    static const char nul[] =
        "{\"max_tokens\":5,\"messages\":[" USER(
            TEXT("a\\u0000b") ",{\"type\":\"tool_result\",\"tool_use_id\":"
            "\"i\\u0000d\",\"content\":\"\\u0000\"}") "]}";
    const struct chat_msg *m;

    is_int(parse_n(nul, sizeof(nul) - 1), ST_OK, "case C35: NUL is data");
    m = body.chat.messages;
    ok(m[0].content.n == 3 && !memcmp(m[0].content.s, "a\0b", 3) &&
           m[1].call_id.n == 3 && m[1].content.n == 1,
       "in texts, ids and results");
    is_int(parse("", "{\"max_tokens\":5,\"messages\":["
                       USER(TEXT("\\ud800")) "]}", ""), ST_INVALID,
           "a lone surrogate");
    is_int(parse("", "{\"max_tokens\":1,\"max_tokens\":5,\"messages\":[],"
                       "\"messages\":[" HI "]}", ""), ST_OK,
           "the last of equal keys counts");
    is_int(body.max_tokens, 5, "everywhere");
}

/* --- refusals ------------------------------------------------------------- */

static const struct refused {
    const char *messages, *where;
} refusals[] = {
    {"5", "messages[0]"},
    {"{}", "messages[0].role"},
    {HI ",{\"role\":\"robot\",\"content\":\"x\"}", "messages[1].role"},
    {"{\"role\":\"tool\",\"content\":\"x\"}", "messages[0].role"},
    {"{\"role\":5,\"content\":\"x\"}", "messages[0].role"},
    {"{\"role\":\"user\"}", "messages[0].content"},
    {"{\"role\":\"user\",\"content\":null}", "messages[0].content"},
    {"{\"role\":\"user\",\"content\":5}", "messages[0].content"},
    {"{\"role\":\"user\",\"content\":{}}", "messages[0].content"},
    {"{\"role\":\"user\",\"content\":[]}", "messages[0].content"},
    {USER("5"), "messages[0].content[0]"},
    {USER("null"), "messages[0].content[0]"},
    {USER("{}"), "messages[0].content[0].type"},
    {USER("{\"type\":5}"), "messages[0].content[0].type"},
    {USER("{\"type\":\"input_text\",\"text\":\"x\"}"),
     "messages[0].content[0].type"},
    {USER(TEXT("a") ",{\"type\":\"text\"}"), "messages[0].content[1].text"},
    {USER("{\"type\":\"text\",\"text\":5}"), "messages[0].content[0].text"},
    {USER("{\"type\":\"image\"}"), "messages[0].content[0].source"},
    {USER("{\"type\":\"image\",\"source\":\"x\"}"),
     "messages[0].content[0].source"},
    {USER("{\"type\":\"document\"}"), "messages[0].content[0].source"},
    {USER("{\"type\":\"document\",\"source\":{}}"),
     "messages[0].content[0].source.type"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"base64\","
          "\"media_type\":\"application/pdf\",\"data\":\"x\"}}"),
     "messages[0].content[0].source.type"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"url\"}}"),
     "messages[0].content[0].source.type"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"file\"}}"),
     "messages[0].content[0].source.type"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"text\"}}"),
     "messages[0].content[0].source.data"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"content\"}}"),
     "messages[0].content[0].source.content"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"content\","
          "\"content\":[" TEXT("a") ",{\"type\":\"document\"}]}}"),
     "messages[0].content[0].source.content[1].type"},
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"text\","
          "\"data\":5}}"), "messages[0].content[0].source.data"},
    {USER("{\"type\":\"document\",\"source\":\"x\"}"),
     "messages[0].content[0].source"},
    /* nothing holds what could hold itself */
    {USER("{\"type\":\"document\",\"source\":{\"type\":\"content\","
          "\"content\":[{\"type\":\"search_result\",\"title\":\"x\","
          "\"source\":\"x\",\"content\":[" TEXT("a") "]}]}}"),
     "messages[0].content[0].source.content[0].type"},
    {USER("{\"type\":\"document\",\"title\":5,\"source\":{}}"),
     "messages[0].content[0].title"},
    {USER("{\"type\":\"document\",\"context\":{},\"source\":{}}"),
     "messages[0].content[0].context"},
    {USER("{\"type\":\"search_result\",\"source\":\"x\"}"),
     "messages[0].content[0].title"},
    {USER("{\"type\":\"search_result\",\"title\":\"x\"}"),
     "messages[0].content[0].source"},
    {USER("{\"type\":\"search_result\",\"title\":\"x\",\"source\":\"x\"}"),
     "messages[0].content[0].content"},
    {USER("{\"type\":\"search_result\",\"title\":\"x\",\"source\":\"x\","
          "\"content\":\"x\"}"),
     "messages[0].content[0].content"},
    {USER("{\"type\":\"search_result\",\"title\":\"x\",\"source\":\"x\","
          "\"content\":[{\"type\":\"image\"}]}"),
     "messages[0].content[0].content[0].type"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":5}"),
     "messages[0].content[0].tool_use_id"},
    {USER("{\"type\":\"tool_result\"}"),
     "messages[0].content[0].tool_use_id"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"\"}"),
     "messages[0].content[0].tool_use_id"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"u\","
          "\"is_error\":\"yes\"}"),
     "messages[0].content[0].is_error"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"u\","
          "\"content\":5}"),
     "messages[0].content[0].content"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"u\","
          "\"content\":[{\"type\":"
          "\"tool_result\"}]}"), "messages[0].content[0].content[0].type"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"u\","
          "\"content\":[{\"type\":"
          "\"tool_reference\"}]}"),
     "messages[0].content[0].content[0].tool_name"},
    {USER(USE), "messages[0].content[0].type"},
    {USER("{\"type\":\"thinking\",\"thinking\":\"x\"}"),
     "messages[0].content[0].type"},
    {USER("{\"type\":\"tool_reference\",\"tool_name\":\"x\"}"),
     "messages[0].content[0].type"},
    {HI "," ASSISTANT("{\"type\":\"tool_result\"}"),
     "messages[1].content[0].type"},
    {HI "," ASSISTANT("{\"type\":\"image\",\"source\":{}}"),
     "messages[1].content[0].type"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"name\":\"f\"}"),
     "messages[1].content[0].id"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"id\":\"u\"}"),
     "messages[1].content[0].name"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"\"}"),
     "messages[1].content[0].name"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"name\":\"f\",\"id\":5}"),
     "messages[1].content[0].id"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"f\","
                      "\"input\":[]}"),
     "messages[1].content[0].input"},
    {HI "," ASSISTANT("{\"type\":\"tool_use\",\"id\":\"u\",\"name\":\"f\","
                      "\"input\":\"{}\"}"), "messages[1].content[0].input"},
    {HI "," ASSISTANT("{\"type\":\"thinking\"}"),
     "messages[1].content[0].thinking"},
    {HI "," ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"\","
                      "\"signature\":5}"),
     "messages[1].content[0].signature"},
    {HI ",{\"role\":\"system\",\"content\":[{\"type\":\"image\"}]}",
     "messages[1].content[0].type"},
    {HI ",{\"role\":\"system\",\"content\":[{\"type\":\"tool_addition\"}]}",
     "messages[1].content[0].type"},
    {HI ",{\"role\":\"system\",\"content\":\"s\",\"clear_at\":5}",
     "messages[1].clear_at"},
    {HI ",{\"role\":\"system\",\"content\":\"s\",\"output_config\":"
     "{\"effort\":\"low\"}}", "messages[1].output_config"},
    {HI ",{\"role\":\"system\",\"content\":\"s\",\"output_config\":5}",
     "messages[1].output_config"},
    /* nobody asked, or somebody was answering */
    {"{\"role\":\"system\",\"content\":\"x\"}", "messages"},
    {USER("{\"type\":\"tool_result\",\"tool_use_id\":\"x\"}"), "messages"},
    {HI ",{\"role\":\"assistant\",\"content\":\"The\"}", "messages[1].role"},
    {HI "," ASSISTANT(TEXT("a")) "," ASSISTANT(TEXT("b")),
     "messages[2].role"},
};

static void test_refusals(void)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refused *t = &refusals[i];

        is_int(messages(t->messages),
               ST_INVALID, "refused: %.70s", t->messages);
        is_str(err.where, t->where, "where");
    }
    messages(HI ",{\"role\":\"system\",\"content\":[{}]}");
    is_str(err.text, "accepted here: text", "says what is accepted");
    messages(HI "," ASSISTANT("{}"));
    is_str(err.text,
           "accepted here: text, tool_use, thinking, compaction",
           "of an assistant");
}

static void test_system_refusals(void)
{
    static const struct refused t[] = {
        {"5", "system"},
        {"{}", "system"},
        {"[5]", "system[0]"},
        {"[" TEXT("a") ",{\"type\":\"image\"}]", "system[1].type"},
        {"[{\"type\":\"text\"}]", "system[0].text"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(parse("{\"max_tokens\":5,\"messages\":[" HI "],\"system\":",
                     t[i].messages, "}"), ST_INVALID, "system: %s",
               t[i].messages);
        is_str(err.where, t[i].where, "where");
    }
}

/* --- limits --------------------------------------------------------------- */

/* `n` times `one`, with commas, between head and tail. */
static enum st many(const char *head, const char *one, size_t n,
                    const char *tail, size_t room)
{
    struct buf b;
    enum st st;

    buf_init(&b, 64u << 20);
    buf_puts(&b, head);
    for (size_t i = 0; i < n; i++)
        buf_printf(&b, "%s%s", i ? "," : "", one);
    buf_puts(&b, tail);
    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, room);
    st = body_parse_blocks(&body, &arena, (struct text){b.p, b.n}, &err);
    buf_release(&b);
    return st;
}

static void test_limits(void)
{
    static const char head[] = "{\"max_tokens\":5,\"messages\":["
                               "{\"role\":\"user\",\"content\":[";

    is_int(many(head, TEXT("ab"), 100000, "]}]}", 128u << 20), ST_OK,
           "100,000 blocks");
    is_int(body.chat.messages[0].content.n, 200000, "are one text");
    is_int(many(head, "{\"type\":\"tool_result\",\"tool_use_id\":\"u\"}," TEXT("x"), 30000, "]}]}",
                128u << 20), ST_OK, "30,000 results and texts");
    is_int(body.chat.n_messages, 60000, "are as many messages");
    is_int(many("{\"max_tokens\":5,\"messages\":[", HI, 50000, "]}",
                128u << 20), ST_OK, "50,000 messages of one role");
    is_int(body.chat.n_messages, 1, "are one");
    is_int(many("{\"max_tokens\":5,\"messages\":[" HI
                ",{\"role\":\"assistant\",\"content\":[", USE, 20000,
                "]}," HI "]}", 128u << 20), ST_OK, "20,000 calls");
    is_int(body.chat.messages[1].n_calls, 20000, "of one message");
    is_int(many(head, TEXT("ab"), 100000, "]}]}", 24u << 20), ST_LIMIT,
           "an arena that is full is no crash");
    is_int(many(head, "{\"type\":\"container_upload\"}", 50000, "]}]}",
                64u << 20), ST_OK, "50,000 that are left out");
    is_str(body.skipped, "container_upload", "are told of once");
}

int main(void)
{
    test_becomes();
    test_system();
    test_places();
    test_bytes();
    test_refusals();
    test_system_refusals();
    test_limits();
    arena_release(&arena);
    return done();
}
