/*
 * Every shape in which clients ask for reasoning, for none, or for how much:
 * thinking budgets. Expectations: spec tandem.md 3 and checks 93-95; words and
 * order of the rest are our written decisions (docs/api.md).
 */
#include "api/body.h"
#include "t/lib/tap.h"

#define GOOGLE "\"extra_body\":{\"google\":{\"thinking_config\":" \
               "{\"thinking_budget\":"
#define M "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"

static struct arena arena;
static struct body body;
static struct err err;

static enum st chat(const char *members)
{
    char json[1000];
    int n = snprintf(json, sizeof(json), "{" M ",%s}", members);

    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 4u << 20);
    return body_parse_chat(&body, &arena, (struct text){json, (size_t)n},
                           &err);
}

/* --- on or off ----------------------------------------------------------- */

static void test_mode(void)
{
    static const struct {
        const char *fields;
        enum think_mode mode;
        const char *field; /* that said so */
    } t[] = {
        {"\"reasoning_effort\":\"none\"", THINK_OFF, "reasoning_effort"},
        {"\"reasoning_effort\":\"minimal\"", THINK_OFF, "reasoning_effort"},
        {"\"reasoning_effort\":\"off\"", THINK_OFF, "reasoning_effort"},
        {"\"reasoning_effort\":\"Off\"", THINK_OFF, "reasoning_effort"},
        {"\"reasoning_effort\":\"low\"", THINK_ON, "reasoning_effort"},
        {"\"reasoning_effort\":7", THINK_ON, "reasoning_effort"},
        {"\"thinking_effort\":\"xhigh\"", THINK_ON, "thinking_effort"},
        {"\"thinking_effort\":\"none\"", THINK_OFF, "thinking_effort"},
        {"\"thinking\":true", THINK_ON, "thinking"},
        {"\"thinking\":false", THINK_OFF, "thinking"},
        {"\"thinking\":{}", THINK_DEFAULT, NULL},
        {"\"thinking\":{\"type\":\"enabled\"}", THINK_ON, "thinking.type"},
        {"\"thinking\":{\"type\":\"disabled\"}", THINK_OFF, "thinking.type"},
        {"\"thinking\":{\"type\":\"adaptive\"}", THINK_DEFAULT, NULL},
        {"\"thinking\":{\"type\":\"auto\"}", THINK_DEFAULT, NULL},
        {"\"thinking\":{\"budget_tokens\":9}", THINK_ON,
         "thinking.budget_tokens"},
        {"\"think\":true", THINK_ON, "think"},
        {"\"think\":false", THINK_OFF, "think"},
        {"\"think\":\"high\"", THINK_ON, "think"},
        {"\"think\":\"none\"", THINK_OFF, "think"},
        {"\"reasoning\":{}", THINK_DEFAULT, NULL},
        {"\"reasoning\":{\"enabled\":true}", THINK_ON, "reasoning.enabled"},
        {"\"reasoning\":{\"enabled\":false}", THINK_OFF, "reasoning.enabled"},
        {"\"reasoning\":{\"effort\":\"none\"}", THINK_OFF,
         "reasoning.effort"},
        {"\"reasoning\":{\"effort\":\"high\"}", THINK_ON, "reasoning.effort"},
        {"\"reasoning\":{\"exclude\":true}", THINK_DEFAULT, NULL},
        {"\"enable_thinking\":false", THINK_OFF, "enable_thinking"},
        {"\"enable_thinking\":true", THINK_ON, "enable_thinking"},
        {"\"chat_template_kwargs\":{}", THINK_DEFAULT, NULL},
        {"\"chat_template_kwargs\":{\"enable_thinking\":true}", THINK_ON,
         "chat_template_kwargs.enable_thinking"},
        {"\"chat_template_kwargs\":{\"reasoning_effort\":\"low\"}", THINK_ON,
         "chat_template_kwargs.reasoning_effort"},
        {"\"max_reasoning_tokens\":0", THINK_ON, "max_reasoning_tokens"},
        {"\"reasoning_budget\":5", THINK_ON, "reasoning_budget"},
        {"\"generation_config\":{\"thinking_config\":{}}", THINK_DEFAULT,
         NULL},
        {"\"extra_body\":{\"google\":null}", THINK_DEFAULT, NULL},
        {"\"thinking\":null,\"reasoning_effort\":null", THINK_DEFAULT, NULL},
        /* check 95: the template's switch beats the top level's */
        {"\"enable_thinking\":true,"
         "\"chat_template_kwargs\":{\"enable_thinking\":false}", THINK_OFF,
         "chat_template_kwargs.enable_thinking"},
        {"\"enable_thinking\":false,"
         "\"chat_template_kwargs\":{\"enable_thinking\":true}", THINK_ON,
         "chat_template_kwargs.enable_thinking"},
        /* both switches beat everything else */
        {"\"enable_thinking\":true,\"thinking\":false,"
         "\"reasoning_effort\":\"none\"", THINK_ON, "enable_thinking"},
        {"\"enable_thinking\":false,\"thinking\":true,"
         "\"thinking_budget\":100", THINK_OFF, "enable_thinking"},
        /* any off form beats any on form */
        {"\"thinking\":false,\"reasoning_effort\":\"high\"", THINK_OFF,
         "thinking"},
        {"\"thinking\":true,\"reasoning_effort\":\"none\"", THINK_OFF,
         "reasoning_effort"},
        {"\"reasoning_effort\":\"high\",\"think\":false", THINK_OFF, "think"},
        {"\"reasoning_effort\":\"high\",\"thinking_effort\":\"off\"",
         THINK_OFF, "thinking_effort"},
        {"\"thinking_budget\":500,\"thinking\":{\"type\":\"disabled\"}",
         THINK_OFF, "thinking.type"},
        {"\"reasoning\":{\"enabled\":false,\"max_tokens\":10}", THINK_OFF,
         "reasoning.enabled"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(chat(t[i].fields), ST_OK, "%s", t[i].fields);
        is_int(body.chat.think, t[i].mode, "its meaning");
        is_str(body.think.field ? body.think.field : "",
               t[i].field ? t[i].field : "", "and who said so");
    }
}

/* --- how much ------------------------------------------------------------ */

static void test_caps(void)
{
    static const struct {
        const char *fields;
        int64_t cap, word_cap;
        const char *effort;
        int32_t effort_n;
        bool asked;
    } t[] = {
        {"\"user\":\"u\"", -1, 0, "", -1, false},
        {"\"thinking\":true", -1, 0, "", -1, false},
        {"\"enable_thinking\":true", -1, 0, "", -1, false},
        {"\"reasoning_effort\":\"none\"", -1, 0, "", -1, false},
        {"\"reasoning_effort\":\"low\"", -1, 2048, "low", -1, true},
        {"\"reasoning_effort\":\"medium\"", -1, 8192, "medium", -1, true},
        {"\"reasoning_effort\":\"HIGH\"", -1, 16384, "high", -1, true},
        {"\"reasoning_effort\":\"xhigh\"", -1, 0, "xhigh", -1, true},
        {"\"reasoning_effort\":\"max\"", -1, 0, "max", -1, true},
        {"\"reasoning_effort\":70", -1, 0, "", 70, true},
        {"\"reasoning_effort\":70.0", -1, 0, "", 70, true},
        {"\"think\":\"low\"", -1, 2048, "low", -1, true},
        {"\"think\":true", -1, 0, "", -1, false},
        /* the words in order */
        {"\"think\":\"max\",\"chat_template_kwargs\":"
         "{\"reasoning_effort\":\"high\"},\"reasoning\":{\"effort\":"
         "\"medium\"},\"thinking_effort\":\"low\"", -1, 2048, "low", -1,
         true},
        {"\"think\":\"max\",\"chat_template_kwargs\":"
         "{\"reasoning_effort\":\"high\"},\"reasoning\":{\"effort\":"
         "\"medium\"}", -1, 8192, "medium", -1, true},
        {"\"think\":\"max\",\"chat_template_kwargs\":"
         "{\"reasoning_effort\":\"high\"}", -1, 16384, "high", -1, true},
        {"\"thinking_effort\":\"low\",\"reasoning_effort\":9", -1, 0, "", 9,
         true},
        /* an off word leaves the effort to the others */
        {"\"enable_thinking\":true,\"reasoning_effort\":\"off\","
         "\"think\":\"high\"", -1, 16384, "high", -1, true},
        /* each number alone; 0 is no cap and still was asked for */
        {"\"max_reasoning_tokens\":0", 0, 0, "", -1, true},
        {"\"max_reasoning_tokens\":2147483648", 2147483648, 0, "", -1, true},
        {"\"thinking_budget\":3", 3, 0, "", -1, true},
        {"\"thinking_token_budget\":3", 3, 0, "", -1, true},
        {"\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":3}", 3, 0, "",
         -1, true},
        {"\"reasoning\":{\"max_tokens\":3}", 3, 0, "", -1, true},
        {"\"chat_template_kwargs\":{\"thinking_budget\":3}", 3, 0, "", -1,
         true},
        {"\"reasoning_budget\":3", 3, 0, "", -1, true},
        {"\"reasoning_budget_tokens\":3", 3, 0, "", -1, true},
        {"\"generation_config\":{\"thinking_config\":{\"thinking_budget\":3}}",
         3, 0, "", -1, true},
        {GOOGLE "3}}}", 3, 0, "", -1, true},
        /* check 94: a number decides, the word is kept beside it */
        {"\"reasoning_effort\":\"low\",\"thinking_budget\":7", 7, 2048, "low",
         -1, true},
        /* off: nothing is asked, whatever else is there */
        {"\"thinking\":false,\"thinking_budget\":7", 7, 0, "", -1, false},
        {"\"think\":false,\"reasoning_effort\":\"low\"", -1, 0, "", -1,
         false},
        {"\"think\":false,\"reasoning_effort\":7", -1, 0, "", -1, false},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        const struct think_ask *a = &body.think;

        is_int(chat(t[i].fields), ST_OK, "%s", t[i].fields);
        is_int(a->cap, t[i].cap, "the number");
        is_int(a->word_cap, t[i].word_cap, "the word's cap");
        ok(text_is(body.chat.effort, t[i].effort), "the word");
        is_int(body.chat.effort_n, t[i].effort_n, "the effort in numbers");
        is_int(a->asked, t[i].asked, "is it a wish for how much?");
    }
}

/* The numbers in order: with the first i of them gone, the next decides. */
static void test_number_order(void)
{
    static const char *const shapes[] = {
        "\"max_reasoning_tokens\":1",
        "\"thinking_budget\":2",
        "\"thinking_token_budget\":3",
        "\"thinking\":{\"budget_tokens\":4}",
        "\"reasoning\":{\"max_tokens\":5}",
        "\"chat_template_kwargs\":{\"thinking_budget\":6}",
        "\"reasoning_budget\":7",
        "\"reasoning_budget_tokens\":8",
        "\"generation_config\":{\"thinking_config\":{\"thinking_budget\":9}}",
        GOOGLE "10}}}",
    };
    int n = sizeof(shapes) / sizeof(shapes[0]);

    for (int first = 0; first < n; first++) {
        char members[800];
        int used = 0;

        for (int i = n - 1; i >= first; i--)
            used += snprintf(members + used, sizeof(members) - (size_t)used,
                             "%s%s", shapes[i], i > first ? "," : "");
        is_int(chat(members), ST_OK, "from %d", first);
        is_int(body.think.cap, first + 1, "%s decides", shapes[first]);
    }
}

/* --- what is refused ----------------------------------------------------- */

/* Every number's field, at every value that is not one (check 93). */
static void test_bad_numbers(void)
{
    static const struct {
        const char *field, *before, *after;
    } f[] = {
        {"max_reasoning_tokens", "\"max_reasoning_tokens\":", ""},
        {"thinking_budget", "\"thinking_budget\":", ""},
        {"thinking_token_budget", "\"thinking_token_budget\":", ""},
        {"thinking.budget_tokens", "\"thinking\":{\"budget_tokens\":", "}"},
        {"reasoning.max_tokens", "\"reasoning\":{\"max_tokens\":", "}"},
        {"chat_template_kwargs.thinking_budget",
         "\"chat_template_kwargs\":{\"thinking_budget\":", "}"},
        {"reasoning_budget", "\"reasoning_budget\":", ""},
        {"reasoning_budget_tokens", "\"reasoning_budget_tokens\":", ""},
        {"generation_config.thinking_config.thinking_budget",
         "\"generation_config\":{\"thinking_config\":{\"thinking_budget\":",
         "}}"},
        {"extra_body.google.thinking_config.thinking_budget",
         GOOGLE, "}}}"},
    };
    static const char *const bad[] = {
        "-1", "1.5", "true", "false", "\"5\"", "[]", "{}", "2147483649",
        "1e400", "-1e400", "99999999999999999999",
    };

    for (size_t i = 0; i < sizeof(f) / sizeof(f[0]); i++)
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            char members[300];
            bool pass;

            /* another number before it in the order changes nothing */
            snprintf(members, sizeof(members), "%s%s%s%s",
                     i ? "\"max_reasoning_tokens\":5," : "", f[i].before,
                     bad[k], f[i].after);
            pass = chat(members) == ST_INVALID &&
                   !strcmp(err.where, f[i].field);
            if (!ok(pass, "%s: %s", f[i].field, bad[k]))
                printf("#   got '%s' '%s'\n", err.where, err.text);
        }
}

static void test_bad_shapes(void)
{
    static const struct {
        const char *fields, *where;
    } t[] = {
        {"\"reasoning_effort\":\"huge\"", "reasoning_effort"},
        {"\"reasoning_effort\":\"\"", "reasoning_effort"},
        {"\"reasoning_effort\":\"lo\"", "reasoning_effort"},
        {"\"reasoning_effort\":\"lowest\"", "reasoning_effort"},
        {"\"reasoning_effort\":\"low\\u0000\"", "reasoning_effort"},
        {"\"reasoning_effort\":true", "reasoning_effort"},
        {"\"reasoning_effort\":-1", "reasoning_effort"},
        {"\"reasoning_effort\":1.5", "reasoning_effort"},
        {"\"reasoning_effort\":2147483648", "reasoning_effort"},
        {"\"reasoning_effort\":[\"low\"]", "reasoning_effort"},
        {"\"thinking_effort\":\"\"", "thinking_effort"},
        {"\"reasoning_effort\":\"low\",\"thinking_effort\":\"huge\"",
         "thinking_effort"},
        {"\"thinking\":\"yes\"", "thinking"},
        {"\"thinking\":1", "thinking"},
        {"\"thinking\":[]", "thinking"},
        {"\"thinking\":{\"type\":\"on\"}", "thinking.type"},
        {"\"thinking\":{\"type\":true}", "thinking.type"},
        {"\"think\":1", "think"},
        {"\"think\":\"yes\"", "think"},
        {"\"think\":{}", "think"},
        {"\"reasoning\":true", "reasoning"},
        {"\"reasoning\":\"high\"", "reasoning"},
        {"\"reasoning\":{\"enabled\":1}", "reasoning.enabled"},
        {"\"reasoning\":{\"effort\":\"huge\"}", "reasoning.effort"},
        {"\"enable_thinking\":0", "enable_thinking"},
        {"\"enable_thinking\":\"false\"", "enable_thinking"},
        {"\"chat_template_kwargs\":[]", "chat_template_kwargs"},
        {"\"chat_template_kwargs\":{\"enable_thinking\":\"no\"}",
         "chat_template_kwargs.enable_thinking"},
        {"\"chat_template_kwargs\":{\"reasoning_effort\":\"huge\"}",
         "chat_template_kwargs.reasoning_effort"},
        {"\"generation_config\":7", "generation_config"},
        {"\"generation_config\":{\"thinking_config\":7}",
         "generation_config.thinking_config"},
        {"\"extra_body\":[]", "extra_body"},
        {"\"extra_body\":{\"google\":\"x\"}", "extra_body.google"},
        {"\"extra_body\":{\"google\":{\"thinking_config\":[]}}",
         "extra_body.google.thinking_config"},
        {"\"reasoning_format\":\"xml\"", "reasoning_format"},
        {"\"reasoning_format\":\"\"", "reasoning_format"},
        {"\"reasoning_format\":true", "reasoning_format"},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        is_int(chat(t[i].fields), ST_INVALID, "%s", t[i].fields);
        is_str(err.where, t[i].where, "names its field");
    }
    (void)chat("\"reasoning_effort\":\"medium-ish\"");
    ok(strstr(err.text, "medium") && strstr(err.text, "high"),
       "the message lists the words");
}

/* --- how it is sent back ------------------------------------------------- */

static void test_format(void)
{
    static const struct {
        const char *word;
        enum reason_form form;
    } t[] = {
        {"tags", REASON_TAGS}, {"none", REASON_TAGS}, {"raw", REASON_TAGS},
        {"reasoning_content", REASON_FIELD}, {"deepseek", REASON_FIELD},
        {"parsed", REASON_FIELD}, {"both", REASON_BOTH},
        {"deepseek-legacy", REASON_BOTH}, {"auto", REASON_DEFAULT},
    };

    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char members[64];

        snprintf(members, sizeof(members), "\"reasoning_format\":\"%s\"",
                 t[i].word);
        is_int(chat(members), ST_OK, "%s", t[i].word);
        is_int(body.reasoning_format, t[i].form, "its meaning");
    }
    is_int(chat("\"reasoning_format\":null"), ST_OK, "null");
    is_int(body.reasoning_format, REASON_DEFAULT, "is the server's choice");
}

int main(void)
{
    arena_init(&arena, 4u << 20);
    test_mode();
    test_caps();
    test_number_order();
    test_bad_numbers();
    test_bad_shapes();
    test_format();
    arena_release(&arena);
    return done();
}
