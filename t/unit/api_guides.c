/*
 * The guides of a request (api/guides.h): after how many ids of reasoning the
 * phrase comes, what is forbidden, what must come; driven id by id as the
 * engine does. Expectations: spec tandem.md 3 (budget and reserve), 4
 * (constraints); seed 000 14.3.
 */
#include "api/guides.h"
#include "chat/format_int.h"
#include "chat/jinja_format.h"
#include "chat/reply.h"
#include "t/lib/tap.h"
#include "t/lib/toy_tok.h"

static const struct toy_special specials[] = {
    {"<think>", TOK_USER},         {"</think>", TOK_USER},
    {"<|im_start|>", TOK_CONTROL}, {"<|im_end|>", TOK_CONTROL},
    {"<|open|>", TOK_CONTROL},     {"<|close|>", TOK_CONTROL},
    {"<|sep|>", TOK_CONTROL},      {"<|end_of_msg|>", TOK_CONTROL},
    {NULL, 0},
};

static struct toy toy;
static struct format *chatml, *xtml;
static struct catalog_model model;
static struct guides_kept kept;
static int32_t stop_id;

static int32_t id_of(const char *s)
{
    return toy_id(&toy, s, strlen(s));
}

/* One request, with the guide of one answer. */
struct asked {
    struct guides g;
    struct guide *guide;
    void *state;
};

static void open_asked(struct asked *a, const struct format *f,
                       bool think_open, const struct api_config *c,
                       const struct body *b, int32_t max_tokens)
{
    static int32_t said[] = {5, 6};
    const struct ids prompt = {.p = said, .n = 2};
    struct run r = {.model = &model, .format = f, .think_open = think_open};
    struct err e;

    memset(a, 0, sizeof(*a));
    if (guides_open(&a->g, &r, c, &kept, b, &e) ||
        guides_make(&a->g, &a->guide, &prompt, max_tokens, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
    a->state = mem_zalloc(guide_state_bytes(a->guide) + 1);
    guide_init(a->guide, a->state);
}

static void close_asked(struct asked *a)
{
    guide_free(a->guide);
    guides_release(&a->g);
    free(a->state);
}

static void put(struct asked *a, int32_t id)
{
    BUG_ON(guide_accept(a->guide, a->state, id) == GUIDE_STOP);
}

/* Ids of reasoning before the phrase, no four of them twice; -1: it never
 * comes. */
static int32_t closes_at(struct asked *a, int32_t most)
{
    int32_t id;

    for (int32_t n = 0; n < most; n++) {
        if (guide_forced(a->guide, a->state, &id, 1))
            return n;
        put(a, n % 2 ? n / 2 % 97 : n / 2 % 89 + 100);
    }
    return -1;
}

/* --- how much reasoning -------------------------------------------------- */

#define AUTO (-1)
#define MANY 30000
/* ids that remain of `max` when the reserve is kept */
#define LEFT(max, reserve) (max), (max) - (reserve)

static void reserves(void)
{
    static const struct {
        const char *name;
        int32_t reserve;    /* the setting */
        bool asked;
        int64_t cap, word_cap;
        int32_t max, all;   /* `all`: ids before the phrase and in it; 0: it
                             * never comes */
    } t[] = {
        {"a quarter", AUTO, true, -1, 0, LEFT(400, 100)},
        {"a quarter, rounded down", AUTO, true, -1, 0, LEFT(403, 100)},
        {"up to 2,047", AUTO, true, -1, 0, LEFT(8191, 2047)},
        {"2,048", AUTO, true, -1, 0, LEFT(8192, 2048)},
        {"no more than 2,048", AUTO, true, -1, 0, LEFT(20000, 2048)},
        {"as set", 50, true, -1, 0, LEFT(400, 50)},
        {"set to none", 0, true, -1, 0, LEFT(400, 0)},
        {"nobody asked", AUTO, false, -1, 0, 400, 0},
        {"asked for no cap", AUTO, true, 0, 0, LEFT(400, 100)},
        {"a word", AUTO, true, -1, 5000, LEFT(400, 100)},
    };
    struct asked a;

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        struct api_config c = {.answer_reserve = t[i].reserve};
        struct body b = {.chat.think = THINK_ON, .think.asked = t[i].asked,
                         .think.cap = t[i].cap,
                         .think.word_cap = t[i].word_cap};

        open_asked(&a, chatml, true, &c, &b, t[i].max);
        is_int(closes_at(&a, MANY),
               t[i].all ? t[i].all - (int32_t)a.g.phrase.n : -1,
               "the reserve: %s", t[i].name);
        close_asked(&a);
    }
}

/* Where there is hardly room for the phrase. */
static void tight(void)
{
    static const struct {
        int32_t more, at; /* tokens beside the phrase; ids before it */
    } t[] = {{-1, -1}, {2, -1}, {3, 2}};
    const struct api_config c = {.answer_reserve = AUTO};
    const struct body b = {.chat.think = THINK_ON, .think.asked = true,
                           .think.cap = -1};
    struct asked a;
    int32_t phrase;

    open_asked(&a, chatml, true, &c, &b, 400);
    phrase = (int32_t)a.g.phrase.n;
    close_asked(&a);
    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        open_asked(&a, chatml, true, &c, &b, phrase + t[i].more);
        is_int(closes_at(&a, 1000), t[i].at, "phrase and %d tokens",
               t[i].more);
        close_asked(&a);
    }
}

static void caps(void)
{
    static const struct {
        const char *name;
        const struct format **f;
        enum think_mode think;
        int64_t cap, word_cap;
        enum answer_form form;
        bool stall;
        int32_t at;
    } t[] = {
#define ON (const struct format **)&chatml, THINK_ON
        {"a number", ON, 10, 0, FORM_TEXT, false, 11},
        {"beyond the reserve", ON, 1000, 0, FORM_TEXT, false, 0},
        {"a word", ON, -1, 20, FORM_TEXT, false, 21},
        {"a number beats a word", ON, 10, 20, FORM_TEXT, false, 11},
        {"0 beats a word", ON, 0, 20, FORM_TEXT, false, -1},
        {"no cap", ON, -1, 0, FORM_TEXT, false, -1},
        {"beside the stall", ON, 10, 0, FORM_TEXT, true, 11},
        {"the stall alone", ON, -1, 0, FORM_TEXT, true, -1},
        {"JSON keeps a reserve", ON, -1, 0, FORM_JSON_OBJECT, false, 0},
        {"off", (const struct format **)&chatml, THINK_OFF, 10, 0, FORM_TEXT,
         true, -1},
        {"a format with efforts, a word", (const struct format **)&xtml,
         THINK_ON, -1, 20, FORM_TEXT, false, -1},
        {"a format with efforts, a number", (const struct format **)&xtml,
         THINK_ON, 10, 20, FORM_TEXT, false, 11},
#undef ON
    };
    struct asked a;

    for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
        const struct api_config c = {.answer_reserve = 100,
                                     .think_stall = t[i].stall};
        const struct body b = {
            .chat.think = t[i].think, .chat.form = t[i].form,
            .think.cap = t[i].cap, .think.word_cap = t[i].word_cap,
            .think.asked = t[i].cap >= 100,
        };

        open_asked(&a, *t[i].f, true, &c, &b, 400);
        is_int(closes_at(&a, 1000),
               t[i].at ? t[i].at : 300 - (int32_t)a.g.phrase.n, "%s",
               t[i].name);
        close_asked(&a);
    }
}

static void settings(void)
{
    struct api_config c = {.answer_reserve = AUTO};
    struct body b = {.chat.think = THINK_ON, .think.cap = 300};
    struct asked a;
    int32_t id;

    for (int on = 0; on < 2; on++) {
        c.think_stall = on;
        open_asked(&a, chatml, true, &c, &b, 400);
        for (int i = 0; i < 128; i++)
            put(&a, 7);
        is_int(guide_forced(a.guide, a.state, &id, 1), on,
               "circles are %s", on ? "closed" : "let be");
        close_asked(&a);
    }
    b.think = (struct think_ask){.asked = true, .cap = -1};
    open_asked(&a, NULL, false, &c, &b, 400);
    ok(!a.guide, "a completion has no guide");
    close_asked(&a);
    open_asked(&a, chatml, false, &c, &b, 400);
    is_int(closes_at(&a, 1000), -1, "reasoning that is not open has no end");
    put(&a, id_of("<think>"));
    ok(closes_at(&a, 1000) > 0, "till the model opens it");
    close_asked(&a);
}

static bool allows(const struct asked *a, int32_t id)
{
    uint32_t mask[TOY_MAX / 32];

    memset(mask, 0xff, sizeof(mask));
    guide_allowed(a->guide, a->state, mask, toy.n);
    return mask[id / 32] >> id % 32 & 1;
}

static void ngrams(void)
{
    const struct api_config c = {.answer_reserve = AUTO};
    struct body b = {.chat.think = THINK_ON, .think.cap = -1,
                     .no_repeat_ngram = 2};
    struct asked a;

    for (int open = 0; open < 2; open++) {
        open_asked(&a, chatml, open, &c, &b, 400);
        put(&a, 5);
        is_int(allows(&a, 6), !open, "what the prompt has, %s",
               open ? "in reasoning" : "in an answer");
        close_asked(&a);
    }
    b.no_repeat_ngram = 0;
    open_asked(&a, chatml, true, &c, &b, 400);
    ok(!a.guide, "nobody asked: no guide");
    close_asked(&a);
}

/* --- a close that is spelled --------------------------------------------- */

static void spelled(void)
{
    static const char text[] =
        "{% for m in messages %}{% if m.reasoning_content %}<think>\n"
        "{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}"
        "{% endfor %}";
    static const struct toy_special half[] = {{"</thi", TOK_CONTROL},
                                              {NULL, 0}};
    const struct jinja_source source = {
        .text = {text, sizeof(text) - 1}, .source = "spelled",
    };
    const struct api_config c = {.answer_reserve = AUTO};
    const struct body b = {.chat.think = THINK_ON, .think.cap = 50};
    struct catalog_model of_toy = model;
    struct guide_note n = {0};
    struct format *f;
    struct asked a;
    struct err e;

    toy_close(&toy);
    toy_open(&toy, half, NULL, 0);
    model.tok = toy.tok;
    BUG_ON(format_jinja(&f, &source, toy.tok, &e));
    open_asked(&a, f, true, &c, &b, 400);
    put(&a, toy_find(&toy, "</thi", 5));
    for (const char *s = "nk>"; *s; s++)
        put(&a, toy_id(&toy, s, 1));
    guide_note(a.guide, a.state, &n);
    is_int(n.closed, THINK_NOT_CLOSED, "a control token has no text");
    for (const char *s = "</think>"; *s; s++)
        put(&a, toy_id(&toy, s, 1));
    guide_note(a.guide, a.state, &n);
    is_int(n.closed, CLOSED_BY_MODEL, "the model spells the close");
    close_asked(&a);
    format_free(f);
    toy_close(&toy);
    model = of_toy;
    toy_open(&toy, specials, NULL, 0);
}

/* --- forms --------------------------------------------------------------- */

static bool must_be(const struct asked *a, const char *text)
{
    int32_t ids[64];
    size_t n = guide_forced(a->guide, a->state, ids, 64);

    for (size_t i = 0; i < n; i++)
        if (!text[i] || ids[i] != toy_id(&toy, text + i, 1))
            return false;
    return n == strlen(text);
}

static void choices(void)
{
    static const struct text mark = {"</think>x", 9},
                             two[] = {{"a", 1}, {"ab", 2}};
    const struct api_config c = {.answer_reserve = AUTO, .think_stall = true};
    struct body b = {.chat.think = THINK_ON, .think.cap = 3,
                     .think.asked = true, .structured = STRUCTURED_CHOICE,
                     .choice = &mark, .n_choice = 1};
    struct guide_note n = {0};
    struct asked a;

    open_asked(&a, chatml, true, &c, &b, 400);
    ok(allows(&a, 5) && allows(&a, id_of("</think>")) && must_be(&a, ""),
       "check 49: reasoning is free");
    put(&a, 5);
    put(&a, id_of("</think>"));
    ok(must_be(&a, "</think>x"), "then a marker in a choice is text");
    ok(allows(&a, id_of("\n")) && allows(&a, id_of("<")) &&
           !allows(&a, 5) && !allows(&a, id_of("</think>")),
       "which is the only one, but for newlines");
    guide_note(a.guide, a.state, &n);
    is_int(n.closed, CLOSED_BY_MODEL, "the model closed its reasoning");
    close_asked(&a);

    open_asked(&a, chatml, true, &c, &b, 400);
    is_int(closes_at(&a, 100), 4, "its budget holds");
    close_asked(&a);

    b.chat.think = THINK_OFF;
    open_asked(&a, chatml, false, &c, &b, 400);
    ok(must_be(&a, "</think>x"), "without reasoning: at once");
    close_asked(&a);

    b.choice = two;
    b.n_choice = 2;
    open_asked(&a, chatml, false, &c, &b, 400);
    ok(must_be(&a, "a"), "both begin alike");
    put(&a, id_of("a"));
    ok(allows(&a, stop_id) && allows(&a, id_of("b")) && !allows(&a, 5),
       "then the shorter one ends, or the longer goes on");
    is_int(guide_accept(a.guide, a.state, stop_id), GUIDE_STOP, "the end");
    close_asked(&a);
}

/* Reasoning that the prompt does not open, and a form of elements. */
static void openings(void)
{
    static const struct text red = {"red", 3};
    const struct api_config c = {.answer_reserve = AUTO};
    struct body b = {.chat.think = THINK_ON, .think.cap = -1,
                     .structured = STRUCTURED_CHOICE, .choice = &red,
                     .n_choice = 1};
    int32_t ids[64];
    struct asked a;
    size_t n;

    open_asked(&a, chatml, false, &c, &b, 400);
    ok(allows(&a, id_of("<think>")) && allows(&a, id_of("r")) &&
           !allows(&a, id_of("</think>")), "the model may open reasoning");
    put(&a, id_of("<think>"));
    ok(allows(&a, 5), "which is free");
    put(&a, id_of("</think>"));
    put(&a, id_of("\n"));
    ok(must_be(&a, "red"), "until it closes it");
    close_asked(&a);

    b.chat.think = THINK_OFF;
    open_asked(&a, chatml, false, &c, &b, 400);
    ok(!allows(&a, id_of("<think>")) && must_be(&a, "red"),
       "unless it may not think");
    close_asked(&a);

    b.chat.think = THINK_ON;
    open_asked(&a, xtml, true, &c, &b, 400);
    put(&a, 5);
    put(&a, id_of("<|close|>"));
    for (const char *s = "think"; *s; s++)
        put(&a, toy_id(&toy, s, 1));
    put(&a, id_of("<|sep|>"));
    n = guide_forced(a.guide, a.state, ids, 64);
    ok(n > 2 && ids[0] == id_of("<|open|>") &&
           ids[n - 1] == id_of("<|sep|>"), "the element of the answer");
    for (size_t i = 0; i < n; i++)
        put(&a, ids[i]);
    ok(must_be(&a, "red"), "and what is in it");
    close_asked(&a);
}

/* A reader of the form gets what was allowed, without the end. */
static void read_back(int32_t text, int32_t close)
{
    const struct reply_config c = {.tok = toy.tok, .format = xtml};
    struct reply *r = reply_new(&c);
    struct buf thought, said;

    buf_init(&thought, BUF_EVENT);
    buf_init(&said, BUF_EVENT);
    reply_feed(r, text, &thought, &said);
    reply_feed(r, close, &thought, &said);
    reply_end(r, true, &thought, &said);
    ok(!thought.n && text_is(buf_text(&said), "a"), "and is not read");
    reply_free(r);
    buf_release(&thought);
    buf_release(&said);
}

/* What a form of elements may end with where more could come. */
static void elements(void)
{
    static const struct text two[] = {{"a", 1}, {"ab", 2}};
    const struct api_config c = {.answer_reserve = AUTO};
    struct body b = {.structured = STRUCTURED_CHOICE, .choice = two,
                     .n_choice = 2};
    struct catalog_model of_toy = model;
    int32_t end = id_of("<|end_of_msg|>");
    struct asked a;

    model.format = xtml;
    model.stop_ids = &end;
    lexicons_free(kept.lexicons);
    kept.lexicons = lexicons_new();
    open_asked(&a, xtml, false, &c, &b, 400);
    put(&a, id_of("a"));
    ok(allows(&a, end) && allows(&a, id_of("<|close|>")) &&
           allows(&a, id_of("b")) && !allows(&a, id_of("<|open|>")),
       "an end of the turn or of its element");
    is_int(guide_accept(a.guide, a.state, id_of("<|close|>")), GUIDE_STOP,
           "ends it");
    close_asked(&a);
    read_back(id_of("a"), id_of("<|close|>"));
    lexicons_free(kept.lexicons);
    kept.lexicons = lexicons_new();
    model = of_toy;
}

static void long_choice(void)
{
    const size_t n = (size_t)1 << 20;
    char *s = mem_zalloc(n);
    const struct text list[] = {{"a", 1}, {s, n}};
    const struct api_config c = {.answer_reserve = AUTO};
    const struct body b = {.structured = STRUCTURED_CHOICE, .choice = list,
                           .n_choice = 2};
    struct run r = {.model = &model, .format = chatml};
    struct guides g;
    struct err e = {0};

    memset(s, 'a', n);
    is_int(guides_open(&g, &r, &c, &kept, &b, &e), ST_LIMIT,
           "a choice that is too long");
    is_str(e.where, "structured_outputs.choice", "names the field");
    guides_release(&g);
    free(s);
}

/* A form leaves the answer its room, and has no pattern guard. */
static void forms(void)
{
    const struct api_config c = {.answer_reserve = 100, .pattern_max = 8,
                                 .pattern_min = 1, .pattern_count = 4};
    struct body b = {.chat.think = THINK_ON, .think.cap = -1,
                     .structured = STRUCTURED_REGEX, .regex = {"0*", 2}};
    struct asked a;

    open_asked(&a, chatml, true, &c, &b, 400);
    is_int(closes_at(&a, 1000), 300 - (int32_t)a.g.phrase.n,
           "a regex keeps a reserve");
    close_asked(&a);
    b.chat.think = THINK_OFF;
    open_asked(&a, chatml, false, &c, &b, 400);
    for (int i = 0; i < 100; i++)
        put(&a, id_of("0"));
    ok(allows(&a, id_of("0")), "an answer with a form may repeat itself");
    close_asked(&a);
}

int main(void)
{
    struct format_from from = {.name = "chatjson"};
    struct err e;

    toy_open(&toy, specials, NULL, 0);
    stop_id = id_of("<|im_end|>");
    model = (struct catalog_model){.tok = toy.tok, .stop_ids = &stop_id,
                                   .n_stop = 1};
    from.tok = toy.tok;
    if (format_find(&chatml, &from, &e) ||
        format_xtml(&xtml, toy.tok, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
    kept.grammars = grammars_new();
    kept.lexicons = lexicons_new();
    reserves();
    tight();
    caps();
    settings();
    ngrams();
    choices();
    openings();
    elements();
    long_choice();
    forms();
    format_free(chatml);
    format_free(xtml);
    spelled();
    toy_close(&toy);
    grammars_free(kept.grammars);
    lexicons_free(kept.lexicons);
    return done();
}
