/*
 * Log-probabilities from a ring to JSON, and the part of a reply that each id
 * belongs to. What is expected follows from the texts: the bytes of the
 * entries, joined, are what the client got. Shapes are OpenAI's; case numbers
 * are those of public trouble reports.
 */
#include "api/logprobs.h"
#include "chat/format_int.h"
#include "json/read.h"
#include "t/lib/tap.h"
#include "t/lib/toy_tok.h"

#include <math.h>

static const struct toy_special specials[] = {
    {"<|end|>", TOK_CONTROL},   {"<|start|>", TOK_CONTROL},
    {"<think>", TOK_USER},      {"</think>", TOK_USER},
    {"<tool_call>", TOK_USER},  {"<|open|>", TOK_CONTROL},
    {"<|close|>", TOK_CONTROL}, {"<|sep|>", TOK_CONTROL},
    {" ", TOK_USER}, /* looks like the byte's token */
    {NULL, 0},
};

static const char chat_json[] =
    "{\"user\":[\"<|start|>u\",\"<|end|>\"],"
    "\"assistant\":[\"<|start|>a\",\"<|end|>\"],\"open\":\"<|start|>a\","
    "\"think\":[\"<think>\\n\",\"\\n</think>\\n\\n\"],"
    "\"think_off\":\"<think></think>\"}";

static struct toy toy;
static struct format *format;

static void open_toy(const char *text, size_t n)
{
    struct err e = {0};

    toy_open(&toy, specials, text, n);
    if (format_chatjson(&format, chat_json, sizeof(chat_json) - 1, "toy",
                        toy.tok, &e)) {
        printf("Bail out! %s: %s\n", e.where, e.text);
        exit(1);
    }
}

static void close_toy(void)
{
    format_free(format);
    toy_close(&toy);
}

/* --- one generation ------------------------------------------------------ */

#define MANY 256

struct gen_t {
    struct reply *r;
    struct logprobs *l;
    struct ring *ring;
    struct buf thought, said;
    struct buf bytes;       /* of all entries, in order */
    struct buf parts;       /* a letter per id: r, a or . */
    size_t n, entries;
    bool plain;             /* no reply form: a completion */
};

struct gen_opts {
    const char *stop;       /* NULL: none */
    bool think_open, reasoning, plain, tools;
    int32_t top;
    enum logprobs_shape shape;
    bool whole;
};

static struct tools *offered;

static void gen_open(struct gen_t *g, const struct gen_opts *o)
{
    static struct text stop;
    size_t n_stop;
    const int32_t *ids = format_stop_ids(format, &n_stop);
    struct reply_config c = {
        .tok = toy.tok, .format = o->plain ? NULL : format,
        .think_open = o->think_open, .stops = &stop, .n_stops = o->stop != NULL,
        .stop_ids = ids, .n_stop_ids = n_stop,
        .tools = o->tools ? offered : NULL, .parallel_calls = true,
    };
    struct logprobs_config lc = {
        .tok = toy.tok, .shape = o->shape, .top = o->top,
        .reasoning = o->reasoning, .whole = o->whole, .max_tokens = MANY,
    };

    if (o->stop)
        stop = (struct text){o->stop, strlen(o->stop)};
    memset(g, 0, sizeof(*g));
    g->r = reply_new(&c);
    g->l = logprobs_new(&lc);
    g->ring = ring_new(MANY, logprobs_of_job(o->top));
    buf_init(&g->thought, BUF_EVENT);
    buf_init(&g->said, BUF_EVENT);
    buf_init(&g->bytes, BUF_EVENT);
    buf_init(&g->parts, BUF_EVENT);
    buf_puts(&g->parts, "");
}

static void gen_close(struct gen_t *g)
{
    reply_free(g->r);
    logprobs_free(g->l);
    ring_free(g->ring);
    buf_release(&g->thought);
    buf_release(&g->said);
    buf_release(&g->bytes);
    buf_release(&g->parts);
}

/* What is news now, parsed; NULL when nothing is. */
static const struct json *news(struct gen_t *g, struct arena *a)
{
    const struct json *v = NULL;
    struct buf out;
    struct jw *w;

    arena_init(a, 16 << 20);
    if (!logprobs_news(g->l))
        return NULL;
    buf_init(&out, BUF_EVENT);
    w = jw_new(&out);
    logprobs_write(g->l, w);
    if (!jw_end(w) || json_parse(&v, a, out.p, out.n, NULL))
        ok(false, "what is written is JSON");
    buf_release(&out);
    return v;
}

/* Adds what is news to g->bytes. */
static void keep_news(struct gen_t *g)
{
    struct arena a;
    const struct json *v = news(g, &a), *list = json_get(v, "content");

    for (v = list ? list->child : NULL; v; v = v->next) {
        const struct json *b = json_get(v, "bytes");

        g->entries++;
        for (b = b->child; b; b = b->next)
            buf_putc(&g->bytes, (char)b->i);
    }
    arena_release(&a);
}

static void push(struct gen_t *g, int32_t id)
{
    struct logprob top[20];

    for (int k = 0; k < 20; k++)
        top[k] = (struct logprob){k ? -1 : id, k ? -INFINITY : -0.5f};
    ring_token(g->ring, id, 0, -0.5f, top);
}

/* Everything in the ring, as the pump does it. */
static void drain(struct gen_t *g)
{
    int32_t ids[LOGPROBS_TAKE];
    size_t n;

    while ((n = logprobs_take(g->l, g->ring, ids)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (reply_stopped(g->r))
                continue;
            logprobs_before(g->l, g->r);
            reply_feed(g->r, ids[i], &g->thought, &g->said);
            logprobs_after(g->l, g->r, i, ids[i]);
            buf_putc(&g->parts, ".ra"[reply_part(g->r)]);
            g->n++;
        }
    }
}

static void finish(struct gen_t *g)
{
    drain(g);
    reply_end(g->r, false, &g->thought, &g->said);
    logprobs_end(g->l, g->r);
    keep_news(g);
}

static void feed(struct gen_t *g, const char *s, size_t n)
{
    int32_t id = toy_id(&toy, s, n);

    if (id < 0)
        printf("Bail out! no token for %.*s\n", (int)n, s);
    push(g, id);
}

static void feed_bytes(struct gen_t *g, const char *s)
{
    for (; *s; s++)
        feed(g, s, 1);
}

static void special(struct gen_t *g, const char *name)
{
    feed(g, name, strlen(name));
}

static bool is(const struct buf *b, const char *s)
{
    return b->n == strlen(s) && !memcmp(b->p ? b->p : "", s, b->n);
}

/* --- C31, C05, C06 and stop strings -------------------------------------- */

/*
 * The text in every way cut into at most three tokens, and in single bytes;
 * news taken only at the end, after every id, and made on the way for the end:
 * always the same bytes, those of the answer.
 */
static void joins(const char *text, const char *stop, const char *want)
{
    size_t n = strlen(text);
    int bad = 0, parts = 0, all = 0;

    open_toy(text, n);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = i; j <= n; j++)
            for (int how = 0; how < 3; how++) {
                size_t cut[4] = {0, i, j, n}, end;
                struct gen_t g;

                gen_open(&g, &(struct gen_opts){.stop = stop,
                                                .whole = how == 2});
                for (int k = 0; k < 3; k++) {
                    if (cut[k + 1] > cut[k])
                        feed(&g, text + cut[k], cut[k + 1] - cut[k]);
                    if (how)
                        drain(&g);
                    if (how == 1)
                        keep_news(&g);
                }
                finish(&g);
                /* whole tokens up to the first cut behind the answer */
                for (end = 0; cut[end] < g.said.n;)
                    end++;
                bad += !is(&g.said, want) || g.bytes.n != cut[end] ||
                       memcmp(g.bytes.p ? g.bytes.p : "", text, g.bytes.n);
                parts += g.bytes.n > g.said.n;
                all++;
                gen_close(&g);
            }
    is_int(bad, 0, "C31: the entries of '%s' are its answer (%d of %d end in a "
                   "token)", text, parts, all);
    {
        struct gen_t g;

        gen_open(&g, &(struct gen_opts){.stop = stop});
        feed_bytes(&g, text);
        finish(&g);
        ok(is(&g.bytes, want) && g.entries == strlen(want),
           "and byte by byte, exactly");
        gen_close(&g);
    }
    close_toy();
}

static void test_joins(void)
{
    joins("Hi \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80 \xc5\xbc\xc3\xb3",
          NULL,
          "Hi \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80 \xc5\xbc\xc3\xb3");
    joins("The quick own fox jumps", "own fox", "The quick ");
    joins("The quick own cow", "own cat", "The quick own cow");
    joins("The quick own", "own cat", "The quick own");
    joins("a\xe6\xbc\xa2z", "\xe6\xbc\xa2", "a");
    joins("a\xe6\xbc\xa3z", "\xe6\xbc\xa2", "a\xe6\xbc\xa3z");
    joins("x ab ab ab cz", "ab ab c", "x ab "); /* goes out in two parts */
    joins("a\xf0\x9f\x91", NULL, "a"); /* C06 */
    joins("\xe6\xbc", NULL, "");
}

/* Entries come when their text does, not before and not much later. */
static void test_when(void)
{
    struct gen_t g;

    open_toy(NULL, 0);
    gen_open(&g, &(struct gen_opts){.stop = "own fox"});
    feed_bytes(&g, "so own");
    drain(&g);
    keep_news(&g);
    ok(is(&g.bytes, "so "), "a head of the stop string waits");
    feed_bytes(&g, " c");
    drain(&g);
    keep_news(&g);
    ok(is(&g.bytes, "so own c"), "and goes when it was none");
    feed(&g, "\xe6", 1);
    feed(&g, "\xbc", 1);
    drain(&g);
    ok(!logprobs_news(g.l), "half a character waits");
    feed(&g, "\xa2", 1);
    drain(&g);
    keep_news(&g);
    is_int(g.entries, 11, "three entries of one character");
    feed_bytes(&g, "own fox and more");
    special(&g, "<|end|>");
    finish(&g);
    ok(is(&g.bytes, "so own c\xe6\xbc\xa2"), "nothing of a stop string");
    gen_close(&g);

    format->dialect = &dialect_qwen; /* has a marker without a token */
    gen_open(&g, &(struct gen_opts){.reasoning = true});
    feed_bytes(&g, "so </tool");
    drain(&g);
    keep_news(&g);
    ok(is(&g.bytes, "so "), "the head of a spelled marker waits");
    feed_bytes(&g, "box");
    drain(&g);
    keep_news(&g);
    ok(is(&g.bytes, "so </toolbox"), "and goes when it was none");
    gen_close(&g);
    close_toy();
}

/* --- parts --------------------------------------------------------------- */

static void test_parts(void)
{
    static const struct chat_tool tool = {.name = {"f", 1}};
    struct gen_t g;

    open_toy("\n\n", 2);
    for (int tags = 0; tags < 2; tags++) {
        gen_open(&g, &(struct gen_opts){.think_open = true,
                                        .reasoning = tags});
        feed_bytes(&g, "hm\n");
        drain(&g);
        ok(!reply_closed_reasoning(g.r), "reasoning is open");
        special(&g, "</think>");
        feed(&g, "\n\n", 2);
        feed_bytes(&g, "\xe6\xbc\xa2\n");
        special(&g, "<|end|>");
        special(&g, "<|start|>");
        push(&g, -1);
        finish(&g);
        is_str(g.parts.p, "rrrrraaaa...", "parts: the frame is the reasoning's");
        ok(is(&g.bytes, tags ? "hm\n</think>\n\n\xe6\xbc\xa2\n"
                             : "\xe6\xbc\xa2\n"), "%s",
           tags ? "in tags: all that content has" : "apart: the answer alone");
        ok(reply_closed_reasoning(g.r), "closed");
        gen_close(&g);
    }

    gen_open(&g, &(struct gen_opts){.reasoning = true});
    special(&g, "<think>");
    feed_bytes(&g, "x");
    special(&g, "</think>");
    special(&g, "</think>");
    feed_bytes(&g, "y");
    finish(&g);
    is_str(g.parts.p, "rrr.a", "parts: a mark that changes nothing is silent");
    gen_close(&g);

    gen_open(&g, &(struct gen_opts){.reasoning = true});
    feed_bytes(&g, "\ny");
    finish(&g);
    is_str(g.parts.p, "aa", "parts: no reasoning, no frame");
    ok(!reply_closed_reasoning(g.r), "none that could be closed");
    gen_close(&g);

    gen_open(&g, &(struct gen_opts){.think_open = true, .stop = "END"});
    special(&g, "</think>");
    feed_bytes(&g, "aEND");
    feed_bytes(&g, "b");
    finish(&g);
    is_str(g.parts.p, "raaaa", "parts: nothing is fed behind a stop string");
    ok(is(&g.bytes, "a"), "nor told of it");
    gen_close(&g);

    format->dialect = &dialect_qwen;
    offered = tools_new(&tool, 1);
    gen_open(&g, &(struct gen_opts){.tools = true});
    special(&g, "<tool_call>");
    feed_bytes(&g, "<function=f></function></tool_call>");
    finish(&g);
    ok(is(&g.bytes, "<tool_call><function=f></function></tool_call>") &&
           !g.said.n && reply_calls(g.r)->n == 1,
       "a call has its entries, though it is no content");
    gen_close(&g);
    tools_free(offered);
    close_toy();
}

/* Ids that are more than one thing: newlines of the frame and a character that
 * waits; the end of reasoning and the head of the answer. */
static void test_shared(void)
{
    static const char text[] = "a\n</think>\n\n<x";
    struct gen_t g;

    open_toy(text, sizeof(text) - 1);
    format->dialect = &dialect_qwen;
    gen_open(&g, &(struct gen_opts){.think_open = true});
    feed_bytes(&g, "m");
    special(&g, "</think>");
    feed(&g, "\n", 1);
    feed(&g, "\n<", 2);
    feed(&g, "x", 1);
    finish(&g);
    is_str(g.parts.p, "rrraa", "parts: what waits behind a frame is answer");
    ok(is(&g.bytes, "\n<x") && is(&g.said, "<x"), "and has its entry");
    gen_close(&g);

    format->think_id[1] = -1; /* the close is spelled */
    gen_open(&g, &(struct gen_opts){.think_open = true});
    feed_bytes(&g, "m");
    feed(&g, text, 12);
    feed(&g, text + 12, 2);
    finish(&g);
    is_str(g.parts.p, "rra", "parts: a spelled close");
    gen_close(&g);
    gen_open(&g, &(struct gen_opts){.think_open = true});
    feed_bytes(&g, "m");
    feed(&g, text, sizeof(text) - 1);
    finish(&g);
    is_str(g.parts.p, "ra", "parts: a close and some answer in one token");
    ok(is(&g.thought, "ma") && is(&g.said, "<x"), "it is in both");
    gen_close(&g);
    close_toy();
}

/* Text in which the markers of elements stand for their tokens. */
static void feed_elements(struct gen_t *g, const char *s)
{
    while (*s) {
        size_t n = strncmp(s, "<|", 2) ? 1 : strcspn(s, ">") + 1;

        feed(g, s, n);
        s += n;
    }
}

/* A form whose dialect has channels: its structure says nothing. */
static void test_channels(void)
{
    static const struct chat_tool tool = {.name = {"f", 1}};
    struct gen_t g;

    open_toy(NULL, 0);
    format->dialect = &dialect_xtml;
    gen_open(&g, &(struct gen_opts){.think_open = true, .reasoning = true});
    special(&g, "<|open|>");
    feed_bytes(&g, "think");
    special(&g, "<|sep|>");
    feed_bytes(&g, "hm\xc3\xb3");
    drain(&g);
    ok(!reply_closed_reasoning(g.r), "the channel is open");
    special(&g, "<|close|>");
    feed_bytes(&g, "think");
    special(&g, "<|sep|>");
    special(&g, "<|open|>");
    feed_bytes(&g, "response");
    special(&g, "<|sep|>");
    drain(&g);
    keep_news(&g);
    feed_bytes(&g, "ok");
    special(&g, "<|close|>");
    feed_bytes(&g, "response");
    special(&g, "<|sep|>");
    finish(&g);
    is_str(g.parts.p, ".......rrrr.................aa..........",
           "parts: channels");
    ok(is(&g.bytes, "hm\xc3\xb3" "ok"), "their texts have the entries");
    ok(is(&g.thought, "hm\xc3\xb3") && is(&g.said, "ok") &&
           reply_closed_reasoning(g.r), "as they are read");
    gen_close(&g);

    offered = tools_new(&tool, 1);
    gen_open(&g, &(struct gen_opts){.tools = true});
    feed_elements(&g, "<|open|>tools<|sep|><|open|>call tool=\"f\"<|sep|>");
    feed_elements(&g, "<|open|>argument key=\"k\" type=\"string\"<|sep|>");
    drain(&g);
    buf_clear(&g.parts);
    feed_elements(&g, "vw<|close|>argument<|sep|>");
    finish(&g);
    ok(reply_calls(g.r)->n == 1 && g.parts.n > 2 &&
           !memcmp(g.parts.p, "aa.", 3), "parts: an argument is the answer's");
    gen_close(&g);
    tools_free(offered);
    offered = NULL;
    close_toy();
}

/* --- shapes -------------------------------------------------------------- */

static const struct json *at(const struct json *v, const char *key, int i)
{
    v = json_get(v, key);
    for (v = v ? v->child : NULL; v && i > 0; i--)
        v = v->next;
    return v;
}

static double num(const struct json *v)
{
    char text[64];

    if (!v || v->type != JSON_NUM)
        return NAN;
    snprintf(text, sizeof(text), "%.*s", (int)v->str.n, v->str.s);
    return strtod(text, NULL);
}

static bool near(const struct json *v, double want)
{
    return fabs(num(v) - want) < 1e-6;
}

static bool str_is(const struct json *v, const char *want)
{
    return v && v->type == JSON_STR && text_is(v->str, want);
}

static size_t count(const struct json *v)
{
    return v ? v->n : 0;
}

/* An id with three alternatives, the last one impossible. */
static void push_top(struct gen_t *g, int32_t id, float chosen, int32_t a,
                     int32_t b)
{
    const struct logprob top[3] = {
        {a, -0.25f}, {b, -3.0f}, {toy_id(&toy, "z", 1), -INFINITY},
    };

    ring_token(g->ring, id, 0, chosen, top);
}

static void test_chat(void)
{
    int32_t x = toy_id(&toy, "x", 1), half = toy_id(&toy, "\xe6", 1);
    struct gen_t g;
    struct arena a;
    const struct json *v, *e;

    gen_open(&g, &(struct gen_opts){.top = 3});
    push_top(&g, x, -0.25f, x, half);
    push_top(&g, x, -INFINITY, half, x);
    push_top(&g, x, 0.0000001f, -1, x);
    push_top(&g, toy_id(&toy, "a\xe6", 2), -0.0000001f, -1, x);
    push_top(&g, x, 0.01f, -1, x);
    drain(&g);
    v = news(&g, &a);
    ok(count(json_get(v, "content")) == 5 &&
           json_get(v, "refusal")->type == JSON_NULL, "content and refusal");
    e = at(v, "content", 0);
    ok(str_is(json_get(e, "token"), "x") && near(json_get(e, "logprob"), -0.25) &&
           count(json_get(e, "bytes")) == 1 && at(e, "bytes", 0)->i == 'x',
       "token, logprob, bytes");
    is_int(count(json_get(e, "top_logprobs")), 3, "its alternatives");
    e = at(at(v, "content", 0), "top_logprobs", 1);
    ok(str_is(json_get(e, "token"), "bytes:\\xe6") &&
           at(e, "bytes", 0)->i == 0xe6 && near(json_get(e, "logprob"), -3),
       "half a character has a text and its own byte");
    e = at(at(v, "content", 0), "top_logprobs", 2);
    ok(near(json_get(e, "logprob"), -9999), "what could not come is -9999");
    ok(near(json_get(at(v, "content", 1), "logprob"), -9999),
       "the chosen one, too");
    for (int i = 2; i < 5; i++)
        ok(text_is(json_get(at(v, "content", i), "logprob")->str, "0.000000"),
           "a hair beside 0, or above, is 0");
    ok(str_is(json_get(at(v, "content", 3), "token"), "bytes:a\\xe6"),
       "what is ASCII beside half a character is as it is");
    is_int(count(json_get(at(v, "content", 2), "top_logprobs")), 0,
           "alternatives end where the ring's do");
    ok(!logprobs_news(g.l), "told is told");
    arena_release(&a);
    gen_close(&g);

    gen_open(&g, &(struct gen_opts){.top = 0});
    feed_bytes(&g, "x");
    drain(&g);
    v = news(&g, &a);
    e = json_get(at(v, "content", 0), "top_logprobs");
    ok(e && e->type == JSON_ARR && !e->n, "none asked for: an empty list");
    arena_release(&a);
    gen_close(&g);
}

static void test_text(void)
{
    int32_t x = toy_id(&toy, "x", 1), y = toy_id(&toy, "y", 1);
    int32_t nul = toy_id(&toy, "\0", 1);
    struct gen_opts o = {.top = 3, .shape = LOGPROBS_TEXT, .plain = true};
    struct gen_t g;
    struct arena a;
    const struct json *v, *e;

    gen_open(&g, &o);
    push_top(&g, x, -0.25f, x, nul);
    push_top(&g, toy_id(&toy, "\xc3", 1), -5, x, y);
    push_top(&g, toy_id(&toy, "\xb3", 1), -5, x, x);
    push_top(&g, x, -0.25f, x, y);
    push_top(&g, toy_find(&toy, " ", 1), -5, toy_id(&toy, " ", 1), y);
    drain(&g);
    v = news(&g, &a);
    is_int(count(json_get(v, "tokens")), 5, "tokens");
    ok(str_is(at(v, "tokens", 0), "x") &&
           str_is(at(v, "tokens", 1), "bytes:\\xc3"), "as texts");
    ok(near(at(v, "token_logprobs", 0), -0.25) &&
           near(at(v, "token_logprobs", 2), -5), "token_logprobs");
    ok(at(v, "text_offset", 0)->i == 0 && at(v, "text_offset", 1)->i == 1 &&
           at(v, "text_offset", 2)->i == 1 && at(v, "text_offset", 3)->i == 2,
       "offsets are characters; a character begins once");
    e = at(v, "top_logprobs", 0);
    ok(e && e->type == JSON_OBJ && near(json_get(e, "x"), -0.25) && e->n == 3,
       "an object each; a key may be a NUL");
    e = at(v, "top_logprobs", 1);
    ok(e->n == 4 && near(json_get(e, "bytes:\\xc3"), -5),
       "the chosen one is always there");
    e = at(v, "top_logprobs", 2);
    ok(e->n == 3 && near(json_get(e, "x"), -0.25), "of equals, the likelier");
    e = at(v, "top_logprobs", 4);
    ok(e->n == 3 && near(json_get(e, " "), -0.25),
       "also where the chosen one is another id of the same text");
    arena_release(&a);
    gen_close(&g);

    o.top = 0;
    gen_open(&g, &o);
    feed_bytes(&g, "x");
    drain(&g);
    v = news(&g, &a);
    e = at(v, "top_logprobs", 0);
    ok(e && e->n == 1 && near(json_get(e, "x"), -0.5),
       "none asked for: the chosen one");
    arena_release(&a);
    push_top(&g, x, -5, y, y);
    drain(&g);
    v = news(&g, &a);
    e = at(v, "top_logprobs", 0);
    ok(e && e->n == 1 && near(json_get(e, "x"), -5), "and no likelier one");
    arena_release(&a);
    gen_close(&g);
}

/* What is made on the way and what is made at the end is one text. */
static void test_whole(enum logprobs_shape shape, int32_t top)
{
    struct buf out[2];

    for (int whole = 0; whole < 2; whole++) {
        struct gen_opts o = {.shape = shape, .top = top, .whole = whole};
        struct gen_t g;
        struct jw *w;

        gen_open(&g, &o);
        for (int i = 0; i < 40; i++) {
            feed_bytes(&g, "a\xe6");
            drain(&g);
        }
        reply_end(g.r, false, &g.thought, &g.said);
        logprobs_end(g.l, g.r);
        buf_init(&out[whole], BUF_ANSWER);
        w = jw_new(&out[whole]);
        logprobs_write(g.l, w);
        if (!jw_end(w))
            ok(false, "what is written is JSON");
        gen_close(&g);
    }
    ok(out[0].n > 1000 && out[0].n == out[1].n &&
           !memcmp(out[0].p, out[1].p, out[0].n),
       "shape %d, top %d: made on the way, the same text", shape, top);
    buf_release(&out[0]);
    buf_release(&out[1]);
}

/* Bytes of all that is kept, in one form. */
static size_t bytes_of(const struct gen_t *g, enum logprobs_form form)
{
    struct buf out;
    struct jw *w;
    size_t n;

    buf_init(&out, BUF_ANSWER);
    w = jw_new(&out);
    logprobs_range(g->l, w, form, 0, logprobs_before_byte(g->l, SIZE_MAX));
    if (!jw_end(w))
        ok(false, "what is kept is JSON");
    n = out.n;
    buf_release(&out);
    return n;
}

/* What the accounts say covers what is there. */
static void test_kept(int32_t top)
{
    struct gen_opts o = {.shape = LOGPROBS_ITEM, .top = top};
    int32_t id = toy_id(&toy, "a", 1);
    struct logprob likely[20];
    size_t n, bytes;
    struct gen_t g;

    gen_open(&g, &o);
    for (int k = 0; k < 20; k++)
        likely[k] = (struct logprob){id, -12.345678f};
    for (int i = 0; i < 100; i++) {
        ring_token(g.ring, id, 0, -12.345678f, likely);
        drain(&g);
    }
    reply_end(g.r, false, &g.thought, &g.said);
    logprobs_end(g.l, g.r);
    n = logprobs_before_byte(g.l, SIZE_MAX);
    bytes = bytes_of(&g, LOGPROBS_FULL) + bytes_of(&g, LOGPROBS_BRIEF);
    is_int((intmax_t)n, 100, "top %d: all are kept", top);
    ok(bytes > 100 && bytes <= logprobs_kept(g.l) / MANY * n,
       "in %zu bytes, of %zu for %d", bytes, logprobs_kept(g.l), MANY);
    gen_close(&g);
    o.shape = LOGPROBS_CHAT;
    gen_open(&g, &o);
    is_int((intmax_t)logprobs_kept(g.l), 0, "of other shapes none");
    gen_close(&g);
}

/* What a stop string took was never said. */
static void test_kept_stop(void)
{
    struct gen_t g;

    gen_open(&g, &(struct gen_opts){.shape = LOGPROBS_ITEM, .stop = "ab",
                                    .plain = true});
    feed_bytes(&g, "aab");
    drain(&g);
    reply_end(g.r, false, &g.thought, &g.said);
    logprobs_end(g.l, g.r);
    ok(is(&g.said, "a"), "one character was said");
    is_int((intmax_t)logprobs_before_byte(g.l, SIZE_MAX), 1, "one is kept");
    gen_close(&g);
}

int main(void)
{
    test_joins();
    test_when();
    test_parts();
    test_shared();
    test_channels();
    open_toy("a\xe6", 2);
    test_chat();
    test_text();
    test_whole(LOGPROBS_CHAT, 0);
    test_whole(LOGPROBS_CHAT, 3);
    test_whole(LOGPROBS_TEXT, 0);
    test_whole(LOGPROBS_TEXT, 3);
    test_kept(0);
    test_kept(3);
    close_toy();
    open_toy("ab", 2);
    test_kept_stop();
    close_toy();
    return done();
}
