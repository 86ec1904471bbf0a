/*
 * chat.json: what the checks of spec waste.md 7.4 pin (named by number),
 * efforts, images, and which tool form a file means. chat_format.c has the
 * rest of its refusals.
 */
#include "t/lib/replyid_t.h"

static const struct toy_special specials[] = {
    {"<|a|>", TOK_CONTROL},     {"<|b|>", TOK_CONTROL},
    {"<|im_user|>", TOK_CONTROL},
    {"<think>", TOK_USER},      {"</think>", TOK_USER},
    {"[MASK]", TOK_CONTROL},    {"<sop>", TOK_CONTROL},
    {"<|img|>", TOK_CONTROL},   {"<|n|>", TOK_NORMAL},
    {NULL, 0},
};

static struct toy toy;
static struct err err;

#define BASE "\"user\":[\"<|a|>u\",\"<|b|>\"],\"assistant\":[\"<|a|>m\","     \
             "\"<|b|>\"],\"open\":\"<|a|>m\""
#define TURNS "\"user\":[\"<|a|>u\",\"\"],\"assistant\":[\"<|a|>m\",\"\\n\"]" \
              ",\"open\":\"<|a|>m\""
#define THINK ",\"think\":[\"<think>\",\"</think>\"]"
#define HI "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

static enum st parse(struct format **f, const char *json)
{
    err = (struct err){0};
    return format_chatjson(f, json, strlen(json), "x", toy.tok, &err);
}

static void test_load(void)
{
    static const struct {
        const char *json;
        const char *where; /* NULL: accepted */
        const char *word;
    } t[] = {
        {"{\"user\":[\"<|im_start|>user\\n\",\"<|im_end|>\\n\"],"
         "\"open\":\"<|im_start|>assistant\\n\"}", "x: user", "<|im_start|>"},
        {"{not json", "x", "cannot be read"},
        {"{" TURNS "}", "x: stop", "ends a generated turn"},
        {"{" TURNS ",\"stop\":\"<|im_user|>\"}", NULL, NULL},
        {"{" BASE ",\"prelude\":\"<|nope|>\"}", "x: prelude", "<|nope|>"},
        {"{" BASE ",\"think\":[\"<think><|nope|>\",\"</think>\"]}", "x: think",
         "<|nope|>"},
        {"{" BASE ",\"effort\":\"<|nope|>{}\"}", "x: effort", "<|nope|>"},
        {"{" BASE ",\"think\":[\"<think>\",\"</think>\"],\"think_off\":"
         "\"<|nope|>\"}", "x: think_off", "<|nope|>"},
        /* one ordinary token could be spelled by any text */
        {"{" BASE ",\"prelude\":\"<|n|>\"}", "x: prelude", "disagree"},
        /* the marks of a prelude */
        {"{" BASE ",\"prelude\":\"[MASK]<sop>\"}", NULL, NULL},
        {"{" BASE ",\"prelude\":\"[gMASK]<sop>\"}", "x: prelude", "[gMASK]"},
        {"{" BASE ",\"prelude\":\"[MASK]<eop>\"}", "x: prelude", "<eop>"},
        {"{" BASE ",\"prelude\":\"a < b [1, 2] <> []\"}", NULL, NULL},
        {"{" BASE ",\"system\":[\"[SYS] <tools>\",\"<|b|>\"]}", NULL, NULL},
        {"{" BASE ",\"image\":\"<|img|>\"}", NULL, NULL},
        {"{" BASE ",\"image\":\"a picture\"}", "x: image", "special token"},
        {"{" BASE ",\"image\":\"<img>\"}", "x: image", "<img>"},
        {"{" BASE ",\"tools\":\"other\"}", "x: tools", "kimi or glm"},
        {"{" BASE ",\"tools\":[]}", "x: tools", "kimi or glm"},
        {"{" BASE ",\"tools\":\"glm\"}", "x: tools", "not all special"},
    };

    /* the first rows, by their numbers in spec waste.md 7.4 */
    static const char *const checks[] = {"33", "34", "35", "36", "48", "48",
                                         "48"};
    const size_t n_checks = sizeof(checks) / sizeof(checks[0]);

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct format *f;
        enum st st = parse(&f, t[i].json);
        bool pass = t[i].where ? st == ST_FORMAT && !f &&
                                     !strcmp(err.where, t[i].where) &&
                                     strstr(err.text, t[i].word)
                               : st == ST_OK && f;

        if (!ok(pass, "%s%s%s%s: %.70s", i < n_checks ? "waste 7.4/" : "",
                i < n_checks ? checks[i] : "", i < n_checks ? ", " : "",
                t[i].where ? t[i].where : "accepted", t[i].json))
            printf("#   %s '%s' '%s'\n", st_name(st), err.where, err.text);
        format_free(f);
    }
}

/* The prompt of a request to a file, or its error. */
static void shows(const char *json, const char *request, const char *want,
                  const char *name)
{
    struct format *f;
    char *got;

    if (!ok(!parse(&f, json), "%s: loads", name)) {
        printf("#   %s: %s\n", err.where, err.text);
        return;
    }
    got = format_t_prompt(f, request, NULL, NULL);
    if (!ok(!strncmp(got, want, strlen(want)) &&
                (!strncmp(want, "error", 5) || !strcmp(got, want)),
            "%s", name))
        printf("#   got  %s\n#   want %s\n", got, want);
    free(got);
    format_free(f);
}

static void test_efforts(void)
{
    static const char with[] = "{" BASE ",\"effort\":\"<|a|>Effort: {}\"}";
    static const char both[] = "{" BASE THINK ",\"think_off\":\"</think>\","
                               "\"effort\":\"{} of {\\n{}}\"}";

    shows(with, "{\"reasoning_effort\":\"high\"," HI "}",
          "[<|a|>Effort: High][<|a|>u](hi)[<|b|>][<|a|>m]",
          "waste 7.4/44: an effort");
    shows(with, "{" HI "}", "[<|a|>u](hi)[<|b|>][<|a|>m]", "none is asked");
    shows("{" BASE "}", "{\"reasoning_effort\":\"high\"," HI "}",
          "error reasoning_effort:",
          "waste 7.4/44: neither effort nor channel");
    shows("{" BASE THINK "}", "{\"reasoning_effort\":\"high\"," HI "}",
          "[<|a|>u](hi)[<|b|>][<|a|>m][<think>]",
          "a channel without efforts: a budget is not the format's business");
    shows(both, "{\"reasoning_effort\":\"max\"," HI "}",
          "[Max of {\nMax}][<|a|>u](hi)[<|b|>][<|a|>m][<think>]",
          "every {} is the level");
    shows(both, "{\"thinking\":false,\"reasoning_effort\":\"max\"," HI "}",
          "[<|a|>u](hi)[<|b|>][<|a|>m][</think>]", "no reasoning, no effort");
    shows(both, "{\"reasoning_effort\":\"<|b|>\"," HI "}",
          "error reasoning_effort:", "a word that is none of ours");
    shows("{" BASE THINK "}", "{\"thinking\":false," HI "}",
          "error reasoning_effort:",
          "waste 7.4/45: the channel is always open");
    shows("{" BASE "}", "{\"thinking\":true," HI "}", "error reasoning_effort:",
          "there is no channel");
}

static void test_order(void)
{
    shows("{" BASE THINK ",\"prelude\":\"[MASK]\",\"image\":\"<|img|>\","
          "\"effort\":\"<|a|>{}\"}",
          "{\"reasoning_effort\":\"low\",\"messages\":["
          "{\"role\":\"user\",\"content\":["
          "{\"type\":\"image_url\"},{\"type\":\"text\",\"text\":\"a\"},"
          "{\"type\":\"text\",\"text\":\"b\"},{\"type\":\"image_url\"}]}]}",
          "[[MASK]][<|a|>Low][<|a|>u][<|img|>](a)(b)[<|img|>][<|b|>][<|a|>m]"
          "[<think>]", "prelude, effort, parts in their order, open, channel");
    shows("{" BASE "}",
          "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
          "\"text\":\"a\"},{\"type\":\"image_url\"}]}]}",
          "error messages[0].content[1]:", "no place for images");
    shows("{" BASE "}", "{\"messages\":[{\"role\":\"system\",\"content\":"
          "\"be\"}]}", "error messages[0].role:", "no system turn");
    shows("{" BASE "}", "{" HI ",\"tools\":[{\"function\":{\"name\":\"f\"}}]}",
          "error tools:", "no tools");
    shows("{" BASE "}", "{\"tool_choice\":\"none\"," HI ",\"tools\":[{"
          "\"function\":{\"name\":\"f\"}}]}", "[<|a|>u](hi)[<|b|>][<|a|>m]",
          "tools that may not be called are not needed");
    shows("{" BASE "}", "{\"messages\":[{\"role\":\"tool\",\"content\":\"1\","
          "\"tool_call_id\":\"a\"}]}", "error messages[0].role:",
          "nor results");
    shows("{" BASE "}", "{\"messages\":[{\"role\":\"assistant\","
          "\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\"}}]}]}",
          "error messages[0].tool_calls:", "nor calls");
    shows("{\"user\":[\"<|a|>u\",\"<|b|>\"],\"open\":\"<|a|>m\",\"stop\":"
          "\"<|b|>\"}", "{\"messages\":[{\"role\":\"assistant\",\"content\":"
          "\"a\"}]}", "error messages[0].role:", "no assistant's turn");
}

static void test_reply(void)
{
    static const char *const pieces[] = {"weigh", "ing", "</think>", "Rome",
                                         "<|b|>", NULL};
    static const char *const stop[] = {"half", "<|b|>", NULL};
    struct replyid_t t = {.toy = &toy, .think_open = true};
    struct format *f;

    is_int(parse(&f, "{" BASE THINK "}"), ST_OK, "a forced channel");
    ok(!format_caps(f)->system, "without a system turn it says so");
    t.f = f;
    replyid_is(&t, pieces, "{\"reasoning\":\"weighing\",\"content\":\"Rome\"}",
               "waste 7.4/46: reasoning and content");
    replyid_is(&t, stop, "{\"reasoning\":\"half\",\"content\":\"\"}",
               "waste 7.4/47: a stop in reasoning");
    format_free(f);
}

/* Without a vocabulary the file's own strings, or its word, decide. */
static void test_no_vocabulary(void)
{
    static const struct {
        const char *json;
        const struct dialect *want;
    } t[] = {
        {"{" BASE "}", NULL},
        {"{" BASE ",\"prelude\":\"[gMASK]<sop>\"}", &dialect_glm},
        {"{\"user\":[\"<|im_user|>user<|im_middle|>\",\"<|im_end|>\"],"
         "\"open\":\"<|im_middle|>\"}", &dialect_kimi},
        {"{" BASE ",\"tools\":\"kimi\"}", &dialect_kimi},
        {"{" BASE ",\"prelude\":\"[gMASK]\",\"tools\":\"kimi\"}",
         &dialect_kimi},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct format *f;

        err = (struct err){0};
        ok(!format_chatjson(&f, t[i].json, strlen(t[i].json), "x", NULL, &err)
               && format_dialect(f) == t[i].want &&
               format_caps(f)->tools == (t[i].want != NULL),
           "no vocabulary: %.60s", t[i].json);
        format_free(f);
    }
    shows("{" BASE ",\"prelude\":\"\",\"tools\":null}", "{" HI "}",
          "[<|a|>u](hi)[<|b|>][<|a|>m]", "empty keys are absent ones");
}

static void test_system_for_results(void)
{
    static const char json[] =
        "{\"user\":[\"<|im_user|>user<|im_middle|>\",\"<|im_end|>\"],"
        "\"open\":\"<|im_middle|>\"}";
    struct format *f;
    char *got;

    is_int(format_chatjson(&f, json, sizeof(json) - 1, "x", NULL, &err), ST_OK,
           "a form whose results are system turns, without one");
    got = format_t_prompt(f, "{\"messages\":[{\"role\":\"tool\",\"content\":"
                        "\"1\",\"tool_call_id\":\"a\"}]}", NULL, NULL);
    ok(!strncmp(got, "error messages[0].role:", 23), "refuses results: %s",
       got);
    free(got);
    format_free(f);
}

/* Who spells the first token is not who writes it. */
static void test_bos(void)
{
    struct toy other;
    struct arena a;
    struct err e;

    toy_open_bos(&other, specials, "<|a|>", true);
    arena_init(&a, 1u << 20);
    for (int mode = 0; mode < 2; mode++) {
        struct segments s;
        struct ids ids;

        segments_init(&s, &a);
        ids_init(&ids, 64);
        segments_add(&s, mode ? TOK_MARKUP : TOK_CONTENT, "<|a|>", 5);
        BUG_ON(segments_encode(&s, other.tok, &ids, &e));
        ok(ids.p[0] == toy_id(&other, "<|a|>", 5) && (ids.n == 1) == mode,
           mode ? "case C36: the format's own BOS is the only one"
                : "case C36: a caller's spelling of BOS is none");
        ids_release(&ids);
    }
    arena_release(&a);
    toy_close(&other);
}

int main(void)
{
    toy_open(&toy, specials, NULL, 0);
    test_load();
    test_efforts();
    test_order();
    test_reply();
    test_no_vocabulary();
    test_system_for_results();
    test_bos();
    toy_close(&toy);
    return done();
}
