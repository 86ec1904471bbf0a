/*
 * How reasoning reaches a client: every form, over answers with and without
 * reasoning, cut at every position. Expectations: spec tandem.md section 2
 * (the table of forms) and checks 56-59.
 */
#include "api/reason.h"
#include "t/lib/tap.h"

struct answer {
    const char *what, *thought, *said;
    bool closed; /* the reasoning was closed */
    bool expected;
    const char *tags;    /* content in the forms with tags */
    const char *blank;   /* content apart, with the blank line */
};

static const struct answer answers[] = {
    {"no thinking", "", "Hello", false, false, "Hello", "Hello"},
    {"none where it was expected", "", "Hello", false, true, "Hello",
     "Hello"},
    {"closed", "Let me see", "Hello", true, true,
     "<think>\nLet me see\n</think>\n\nHello", "\n\nHello"},
    {"two lines", "a\n\nb", "c\n\nd", true, true,
     "<think>\na\n\nb\n</think>\n\nc\n\nd", "\n\nc\n\nd"},
    {"not closed", "Let me see", "", false, true, "<think>\nLet me see", ""},
    {"empty", "", "Hello", true, true, "Hello", "Hello"},
    {"only reasoning", "Let me see", "", true, true,
     "<think>\nLet me see\n</think>\n\n", "\n\n"},
    {"nothing, closed", "", "", true, true, "", ""},
    {"nothing at all", "", "", false, true, "<think>\n", ""},
    {"nothing, and none expected", "", "", false, false, "", ""},
};
#define ANSWERS (sizeof(answers) / sizeof(answers[0]))

/* The answer in pieces of `size` bytes; `late`: the close is only seen with
 * what follows it. */
static void play(struct reason *r, const struct answer *a, size_t size,
                 struct buf *reasoning, struct buf *content)
{
    size_t n = strlen(a->thought), m = strlen(a->said);
    const struct text none = {"", 0};

    for (size_t at = 0; at < n; at += size)
        reason_feed(r,
                    (struct text){a->thought + at, n - at < size ? n - at
                                                                 : size},
                    none, false, reasoning, content);
    if (a->closed)
        reason_feed(r, none, none, true, reasoning, content);
    for (size_t at = 0; at < m; at += size)
        reason_feed(r, none,
                    (struct text){a->said + at, m - at < size ? m - at : size},
                    a->closed, reasoning, content);
    reason_end(r, content);
}

static void every_form(void)
{
    static const char *const names[] = {
        [REASON_TAGS] = "tags", [REASON_FIELD] = "apart",
        [REASON_BOTH] = "both",
    };

    for (size_t i = 0; i < ANSWERS; i++)
        for (int form = REASON_TAGS; form <= REASON_BOTH; form++)
            for (int blank = 0; blank < 2; blank++) {
                const struct answer *a = &answers[i];
                const char *want = form != REASON_FIELD ? a->tags
                                   : blank              ? a->blank
                                                        : a->said;
                const char *thought = form == REASON_TAGS ? "" : a->thought;
                bool same = true;

                for (size_t size = 1; size < 32; size++) {
                    struct buf reasoning, content;
                    struct reason r;

                    buf_init(&reasoning, 4096);
                    buf_init(&content, 4096);
                    reason_init(&r, (enum reason_form)form, a->expected,
                                blank);
                    play(&r, a, size, &reasoning, &content);
                    same = same && text_is(buf_text(&reasoning), thought) &&
                           text_is(buf_text(&content), want);
                    buf_release(&reasoning);
                    buf_release(&content);
                }
                ok(same, "%s, %s%s", names[form], a->what,
                   blank ? ", blank line" : "");
            }
}

/* One id may end the reasoning and begin the answer. */
static void at_once(void)
{
    const struct text thought = {"t", 1}, said = {"s", 1}, none = {"", 0};
    struct buf reasoning, content;
    struct reason r;

    buf_init(&reasoning, 4096);
    buf_init(&content, 4096);
    reason_init(&r, REASON_BOTH, true, false);
    reason_feed(&r, thought, said, true, &reasoning, &content);
    is_str(content.p, "<think>\nt\n</think>\n\ns", "all at once");
    is_str(reasoning.p, "t", "the field as well");
    reason_feed(&r, thought, none, false, &reasoning, &content);
    reason_feed(&r, none, said, true, &reasoning, &content);
    is_str(content.p,
           "<think>\nt\n</think>\n\ns<think>\nt\n</think>\n\ns",
           "thinking once more: a block of its own");
    buf_release(&reasoning);
    buf_release(&content);
}

static enum reason_form form_for(const char *setting, const char *kind)
{
    struct reason_map m;
    struct body b = {0};
    struct err e;

    if (reason_map_parse(&m, setting, &e))
        return REASON_DEFAULT;
    return reason_form_of(&b, &m, kind);
}

static void refused(const char *setting, const char *says)
{
    struct reason_map m;
    struct err e = {0};

    is_int(reason_map_parse(&m, setting, &e), ST_USAGE, "refused: %s",
           setting);
    ok(strstr(e.text, says), "and says '%s': %s", says, e.text);
}

static void settings(void)
{
    struct buf many;
    struct reason_map m;
    struct body b = {0};
    struct err e;

    is_int(form_for(REASON_MAP_DEFAULT, "curl"), REASON_FIELD,
           "default: apart");
    is_int(form_for(REASON_MAP_DEFAULT, "hermes"), REASON_TAGS,
           "default: but one");
    is_int(form_for("both", "other"), REASON_BOTH, "one word for all");
    is_int(form_for("curl=tags", "curl"), REASON_TAGS, "a kind of its own");
    is_int(form_for("curl=tags", "other"), REASON_FIELD, "the others: apart");
    is_int(form_for("curl=tags,*=both,curl=both", "curl"), REASON_BOTH,
           "the last one counts");
    refused("", "tags, reasoning_content or both");
    refused("tag", "'tag'");
    refused("curl=", "'curl='");
    refused("*=tags,", "tags, reasoning_content or both");
    refused("netscape=tags", "'netscape'");
    refused("netscape=tags",
            "*, dashboard, open-webui, openai-sdk, anthropic-sdk, codex, "
            "claude-code, curl, opencode, hermes, other");
    buf_init(&many, 4096);
    for (int i = 1; i <= REASON_KINDS_MAX; i++)
        buf_puts(&many, i > 1 ? ",curl=tags" : "curl=tags");
    is_int(form_for(many.p, "curl"), REASON_TAGS, "sixteen items");
    buf_puts(&many, ",curl=tags");
    refused(many.p, "at most 16");
    buf_release(&many);

    is_int(reason_map_parse(&m, "tags", &e), ST_OK, "tags for all");
    b.chat.form = FORM_JSON_OBJECT;
    is_int(reason_form_of(&b, &m, "curl"), REASON_FIELD, "JSON: apart");
    b.reasoning_format = REASON_TAGS;
    is_int(reason_form_of(&b, &m, "curl"), REASON_TAGS,
           "unless the request says so");
}

int main(void)
{
    every_form();
    at_once();
    settings();
    return done();
}
