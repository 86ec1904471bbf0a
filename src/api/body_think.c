/* Every way to ask for reasoning, or for none. Sources: spec tandem.md 3, seed
 * 000 14.3. The table has checked every shape; here it is decided. */
#include "api/body_int.h"

#include "api/compat.h"

/* Rows of the table; the first that is there decides. */
static const char *const numbers[] = {
    "max_reasoning_tokens",
    "thinking_budget",
    "thinking_token_budget",
    "thinking.budget_tokens",
    "reasoning.max_tokens",
    "chat_template_kwargs.thinking_budget",
    "reasoning_budget",
    "reasoning_budget_tokens",
    "generation_config.thinking_config.thinking_budget",
    "extra_body.google.thinking_config.thinking_budget",
};
static const char *const efforts[] = {
    "reasoning_effort", "thinking_effort", "reasoning.effort",
    "chat_template_kwargs.reasoning_effort", "think",
};
static const char *const flags[] = {
    "thinking", "think", "reasoning.enabled",
};

#define COUNT(list) (sizeof(list) / sizeof(list[0]))

/* Tokens; 0: no cap; -1: no reasoning at all. */
static int64_t cap_of(const char *word)
{
    static const struct {
        const char *word;
        int64_t cap;
    } caps[] = {
        {"none", -1},   {"minimal", -1}, {"off", -1}, {"low", 2048},
        {"medium", 8192}, {"high", 16384}, {"xhigh", 0}, {"max", 0},
    };

    for (size_t i = 0; i < COUNT(caps); i++)
        if (!strcmp(word, caps[i].word))
            return caps[i].cap;
    return 0;
}

/* The first field that said so; NULL: none did. */
struct said {
    const char *on, *off;
    const char *effort;
};

static void say(const char **what, const char *field)
{
    if (!*what)
        *what = field;
}

static void read_numbers(struct body_parse *p, struct said *s)
{
    struct think_ask *t = &p->out->think;

    for (size_t i = 0; i < COUNT(numbers) && t->cap < 0; i++) {
        t->cap = body_int(p, numbers[i], -1);
        if (t->cap >= 0)
            say(&s->on, numbers[i]);
    }
}

void body_effort(struct body_parse *p, const char *field)
{
    const char *word = compat_word(compat_efforts, compat_get(p->root, field));
    struct chat_req *r = &p->out->chat;

    if (!word) {
        r->effort_n = (int32_t)body_int(p, field, -1);
        return;
    }
    r->effort = (struct text){word, strlen(word)};
    p->out->think.word_cap = cap_of(word);
}

/* A word that means off says no more than that. */
static void read_efforts(struct body_parse *p, struct said *s)
{
    for (size_t i = 0; i < COUNT(efforts); i++) {
        const struct json *v = compat_get(p->root, efforts[i]);
        const char *word = v ? compat_word(compat_efforts, v) : NULL;

        if (!v || v->type == JSON_BOOL)
            continue;
        if (word && cap_of(word) < 0) {
            say(&s->off, efforts[i]);
            continue;
        }
        say(&s->on, efforts[i]);
        say(&s->effort, efforts[i]);
    }
}

static void read_flags(struct body_parse *p, struct said *s)
{
    static const char *const on[] = {"enabled", NULL};
    static const char *const off[] = {"disabled", NULL};
    const struct json *v = compat_get(p->root, "thinking.type");

    if (v && compat_word(on, v))
        say(&s->on, "thinking.type");
    if (v && compat_word(off, v))
        say(&s->off, "thinking.type");
    for (size_t i = 0; i < COUNT(flags); i++) {
        v = compat_get(p->root, flags[i]);
        if (v && v->type == JSON_BOOL)
            say(v->boolean ? &s->on : &s->off, flags[i]);
    }
}

/* The words of several servers for three forms. */
static enum reason_form format_of(struct body_parse *p)
{
    static const struct {
        const char *words[5];
        enum reason_form form;
    } forms[] = {
        {{"tags", "none", "raw"}, REASON_TAGS},
        {{"reasoning_content", "deepseek", "parsed"}, REASON_FIELD},
        {{"both", "deepseek-legacy"}, REASON_BOTH},
    };
    const struct json *v = body_get(p->root, "reasoning_format");

    for (size_t i = 0; v && i < COUNT(forms); i++)
        if (compat_word(forms[i].words, v))
            return forms[i].form;
    return REASON_DEFAULT; /* absent or auto */
}

/* A plain yes or no in these two fields is above all the rest. */
static void read_plain(struct body_parse *p, struct said *s)
{
    static const char *const plain[] = {
        "chat_template_kwargs.enable_thinking", "enable_thinking",
    };
    const struct json *v = NULL;
    size_t i = 0;

    while (!v && i < COUNT(plain))
        v = compat_get(p->root, plain[i++]);
    if (!v)
        return;
    s->on = v->boolean ? plain[i - 1] : NULL;
    s->off = v->boolean ? NULL : plain[i - 1];
}

void body_think(struct body_parse *p)
{
    struct think_ask *t = &p->out->think;
    struct chat_req *r = &p->out->chat;
    struct said s = {0};

    r->kwargs = body_get(p->root, "chat_template_kwargs");
    p->out->reasoning_format = format_of(p);
    read_numbers(p, &s);
    read_efforts(p, &s);
    read_flags(p, &s);
    read_plain(p, &s);
    r->think = s.off ? THINK_OFF : s.on ? THINK_ON : THINK_DEFAULT;
    t->asked = !s.off && (t->cap >= 0 || s.effort);
    if (s.effort && !s.off)
        body_effort(p, s.effort);
    t->field = s.off ? s.off : s.effort ? s.effort : s.on;
}
