/*
 * Replies, token by token. What is expected follows from the texts alone:
 * joined deltas are the text, whatever the tokens were. Case numbers are
 * those of public trouble reports.
 */
#include "chat/format_int.h"
#include "chat/reply.h"
#include "chat/stop.h"
#include "chat/vocab.h"
#include "t/lib/tap.h"
#include "t/lib/toy_tok.h"

static const struct toy_special specials[] = {
    {"<|end|>", TOK_CONTROL},   {"<|start|>", TOK_CONTROL},
    {"<think>", TOK_USER},      {"</think>", TOK_USER},
    {"<tool_call>", TOK_USER},  {NULL, 0},
};

static const char chat_json[] =
    "{\"user\":[\"<|start|>u\",\"<|end|>\"],"
    "\"assistant\":[\"<|start|>a\",\"<|end|>\"],\"open\":\"<|start|>a\","
    "\"think\":[\"<think>\\n\",\"\\n</think>\\n\\n\"],"
    "\"think_off\":\"<think></think>\"}";

static struct toy toy;
static struct format *format;
static struct tools *offered; /* NULL: none */

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

/* One reply and everything it gave out. */
struct run {
    struct reply *r;
    struct buf reasoning, content;
    bool whole; /* every delta was valid UTF-8, and its bytes counted */
};

static void run_open(struct run *x, bool think_open, const struct text *stops,
                     size_t n)
{
    size_t n_stop;
    const int32_t *stop = format_stop_ids(format, &n_stop);
    struct reply_config c = {
        .tok = toy.tok, .format = format, .think_open = think_open,
        .stops = stops, .n_stops = n, .stop_ids = stop, .n_stop_ids = n_stop,
        .tools = offered, .parallel_calls = true,
    };

    *x = (struct run){.r = reply_new(&c), .whole = true};
    buf_init(&x->reasoning, BUF_EVENT);
    buf_init(&x->content, BUF_EVENT);
}

static void keep(struct run *x, const struct buf *r, const struct buf *c)
{
    x->whole = x->whole && utf8_valid(r->p ? r->p : "", r->n, NULL) &&
               utf8_valid(c->p ? c->p : "", c->n, NULL);
    buf_add(&x->reasoning, r->p, r->n);
    buf_add(&x->content, c->p, c->n);
    x->whole = x->whole &&
               reply_told(x->r) == x->reasoning.n + x->content.n;
}

static bool feed_id(struct run *x, int32_t id)
{
    struct buf r, c;
    bool stopped;

    buf_init(&r, BUF_EVENT);
    buf_init(&c, BUF_EVENT);
    stopped = reply_feed(x->r, id, &r, &c);
    keep(x, &r, &c);
    buf_release(&r);
    buf_release(&c);
    return stopped;
}

static bool feed(struct run *x, const char *s, size_t n)
{
    int32_t id = toy_id(&toy, s, n);

    if (id < 0)
        printf("Bail out! no token for %.*s\n", (int)n, s);
    return feed_id(x, id);
}

/* Byte by byte. */
static bool feed_text(struct run *x, const char *s)
{
    bool stopped = false;

    for (; *s && !stopped; s++)
        stopped = feed(x, s, 1);
    return stopped;
}

static bool special(struct run *x, const char *name)
{
    return feed(x, name, strlen(name));
}

static void run_end(struct run *x)
{
    struct buf r, c;

    buf_init(&r, BUF_EVENT);
    buf_init(&c, BUF_EVENT);
    reply_end(x->r, true, &r, &c);
    keep(x, &r, &c);
    buf_release(&r);
    buf_release(&c);
}

static bool has(const struct buf *b, const char *s, size_t n)
{
    return b->n == n && !memcmp(b->p ? b->p : "", s, n);
}

static bool is(const struct buf *b, const char *s)
{
    return has(b, s, strlen(s));
}

static void run_close(struct run *x)
{
    reply_free(x->r);
    buf_release(&x->reasoning);
    buf_release(&x->content);
}

/* Every way to cut `text` into at most three tokens, and single bytes. */
static void test_splits(const char *text, const struct text *stops,
                        size_t n_stops, const char *want)
{
    size_t n = strlen(text);
    int bad = 0, split = 0;

    open_toy(text, n);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = i; j <= n; j++) {
            size_t cut[4] = {0, i, j, n};
            bool stopped = false;
            struct run x;

            run_open(&x, false, stops, n_stops);
            for (int k = 0; k < 3; k++)
                if (cut[k + 1] > cut[k])
                    stopped = feed(&x, text + cut[k], cut[k + 1] - cut[k]) ||
                              stopped;
            bad += stopped != reply_stopped(x.r);
            run_end(&x);
            bad += !is(&x.content, want) || !x.whole || x.reasoning.n ||
                   reply_stopped(x.r) != (strlen(want) < n && n_stops);
            run_close(&x);
            split++;
        }
    is_int(bad, 0, "%d splits of '%s'", split, text);
    {
        struct run x;

        run_open(&x, false, stops, n_stops);
        feed_text(&x, text);
        run_end(&x);
        ok(is(&x.content, want) && x.whole, "and its single bytes");
        run_close(&x);
    }
    close_toy();
}

static void test_text(void)
{
    static const struct text fox = {"own fox", 7}, cat = {"own cat", 7};
    static const struct text both[] = {{"b c", 3}, {"ab cd", 5}};
    static const struct text same[] = {{"cd", 2}, {"b cd", 4}};
    static const struct text again = {"aab", 3};
    static const struct text kanji = {"\xe6\xbc\xa2", 3};

    test_splits("Hi \xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd\xe2\x80\x8d"
                "\xf0\x9f\x9a\x80 \xc5\xbc\xc3\xb3\xc5\x82w "
                "\xe6\xbc\xa2\xe5\xad\x97", NULL, 0,
                "Hi \xf0\x9f\x91\xa9\xf0\x9f\x8f\xbd\xe2\x80\x8d"
                "\xf0\x9f\x9a\x80 \xc5\xbc\xc3\xb3\xc5\x82w "
                "\xe6\xbc\xa2\xe5\xad\x97"); /* C05 */
    test_splits("The quick brown fox jumps", &fox, 1, "The quick br"); /* C11 */
    test_splits("The quick brown fox jumps", &cat, 1,
                "The quick brown fox jumps");
    test_splits("The quick own", &cat, 1, "The quick own"); /* held to the end */
    test_splits("x ab cd y", both, 2, "x "); /* the leftmost, */
    test_splits("x ab ce y", both, 2, "x a"); /* waited for in vain, */
    test_splits("x ab c", both, 2, "x a");    /* also at the end */
    test_splits("x ab cd y", same, 2, "x a"); /* of equals, the longest */
    test_splits("bcb ab", both, 1, "bcb ab");
    test_splits("aaaab", &again, 1, "aa");    /* overlapping heads */
    test_splits("a\xe6\xbc\xa2z", &kanji, 1, "a");
    test_splits("a\xe6\xbc\xa3z", &kanji, 1, "a\xe6\xbc\xa3z");
    /* impossible bytes go, what is around them stays */
    test_splits("a\xff" "b\xe6\xbc" "c\xc0\x80" "d\xed\xa0\x80" "e", NULL, 0,
                "abcde");
    test_splits("a\xf0\x9f\x91", NULL, 0, "a");
}

/* The length of a text up to the leftmost of its stop strings. */
static size_t leftmost(const char *text, size_t n, const struct text *stops,
                       size_t n_stops)
{
    for (size_t at = 0; at < n; at++)
        for (size_t i = 0; i < n_stops; i++)
            if (stops[i].n <= n - at &&
                !memcmp(text + at, stops[i].s, stops[i].n))
                return at;
    return n;
}

/* Which of them begins at `at` and is complete first? */
static size_t first_at(const char *text, size_t n, size_t at,
                       const struct text *stops, size_t n_stops)
{
    size_t which = n_stops;

    for (size_t i = 0; i < n_stops; i++)
        if (at < n && stops[i].n <= n - at &&
            !memcmp(text + at, stops[i].s, stops[i].n) &&
            (which == n_stops || stops[i].n < stops[which].n))
            which = i;
    return which;
}

/* Random texts of two letters, and stop strings that overlap each other. */
static void test_leftmost(void)
{
    unsigned seed = 7;
    int wrong = 0, cut = 0;

    for (int turn = 0; turn < 20000; turn++) {
        char text[24], word[3][6];
        struct text stops[3];
        struct stops s;
        struct buf out;
        size_t want;

        for (size_t i = 0; i < sizeof(text); i++)
            text[i] = "ab"[(seed = seed * 1103515245 + 12345) >> 20 & 1];
        for (int k = 0; k < 3; k++) {
            stops[k] = (struct text){word[k], 1 + (seed >> 16) % 6};
            for (size_t i = 0; i < sizeof(word[k]); i++)
                word[k][i] = "ab"[(seed = seed * 1103515245 + 12345) >> 20 & 1];
        }
        want = leftmost(text, sizeof(text), stops, 3);
        buf_init(&out, BUF_ANSWER);
        BUG_ON(stops_open(&s, stops, 3));
        for (size_t i = 0; i < sizeof(text); i += 1 + (size_t)turn % 3)
            if (stops_feed(&s, text + i,
                           sizeof(text) - i < 1 + (size_t)turn % 3
                               ? sizeof(text) - i
                               : 1 + (size_t)turn % 3,
                           &out))
                break;
        stops_end(&s, &out);
        wrong += out.n != want || (want && memcmp(out.p, text, want)) ||
                 s.found != (want < sizeof(text)) ||
                 (s.found && s.which != first_at(text, sizeof(text), want,
                                                 stops, 3));
        cut += s.found;
        stops_close(&s);
        buf_release(&out);
    }
    ok(!wrong && cut > 10000 && cut < 20000,
       "texts end where their leftmost stop string begins (%d of 20000 cut)",
       cut);
}

/* C06: the limit lands inside a character. */
static void test_cut(void)
{
    static const char han[] = "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc"
                              "\xa2";

    open_toy(NULL, 0);
    for (size_t n = 1; n <= 12; n++) {
        struct run x;

        run_open(&x, false, NULL, 0);
        for (size_t i = 0; i < n; i++)
            feed(&x, han + i, 1);
        run_end(&x);
        ok(has(&x.content, han, n / 3 * 3) && x.whole,
           "C06: %zu bytes are %zu characters", n, n / 3);
        is_int(reply_kept(x.r), n, "all tokens are counted");
        run_close(&x);
    }
    close_toy();
}

static void test_stop(void)
{
    static const struct text nul = {"a\0b", 3}, end = {"</think>", 8};
    struct run x;

    open_toy(NULL, 0);
    run_open(&x, false, &nul, 1);
    feed(&x, "a", 1);
    ok(is(&x.content, ""), "the head of a stop string is held");
    feed_id(&x, toy_id(&toy, "\0", 1));
    ok(feed(&x, "b", 1), "C35: a NUL inside a stop string");
    ok(is(&x.content, ""), "nothing of it leaks");
    ok(reply_stopped(x.r), "stopped");
    is_int(reply_stop_string(x.r), 0, "by that string");
    is_int(reply_kept(x.r), 3, "kept tokens, the completing one included");
    ok(feed(&x, "z", 1), "a later token stays stopped");
    is_int(reply_kept(x.r), 3, "and is not counted");
    run_end(&x);
    ok(is(&x.content, ""), "nothing comes at the end");
    run_close(&x);

    run_open(&x, true, &end, 1);
    feed_text(&x, "say </think> aloud");
    special(&x, "</think>");
    ok(feed_text(&x, "so </think> it"), "stop strings are for content");
    is_int(reply_stop_string(x.r), 0, "which is told");
    ok(is(&x.reasoning, "say </think> aloud") && is(&x.content, "so "),
       "characters that spell a marker close nothing");
    run_close(&x);
    close_toy();
}

static void test_reasoning(void)
{
    struct run x;

    open_toy(NULL, 0);
    run_open(&x, false, NULL, 0);
    special(&x, "<think>");
    feed_text(&x, "\nfirst\n\nsecond\n\n");
    ok(is(&x.reasoning, "first\n\nsecond"), "trailing newlines are held");
    special(&x, "</think>");
    feed_text(&x, "\n\nanswer\n");
    special(&x, "<|end|>");
    run_end(&x);
    ok(is(&x.reasoning, "first\n\nsecond"), "framing newlines are dropped");
    ok(is(&x.content, "answer\n"), "no newlines before the answer");
    is_int(reply_stop_string(x.r), -1, "no stop string ended it");
    is_int(reply_reasoning_tokens(x.r), 18, "its tokens, both marks included");
    run_close(&x);

    run_open(&x, true, NULL, 0);
    feed_text(&x, "\n\nthought");
    special(&x, "</think>");
    feed_text(&x, "\n\nanswer");
    special(&x, "<|end|>");
    run_end(&x);
    ok(is(&x.reasoning, "thought") && is(&x.content, "answer"),
       "a channel that the prompt opened");
    is_int(reply_reasoning_tokens(x.r), 10, "the closing mark included");
    run_close(&x);

    run_open(&x, true, NULL, 0); /* C30 */
    feed_text(&x, "never ends \xe6\xbc\n");
    run_end(&x);
    ok(is(&x.reasoning, "never ends \n") && !x.content.n && x.whole,
       "C30: an open thought is never the answer");
    run_close(&x);

    run_open(&x, false, NULL, 0);
    feed_text(&x, "\n\ntext");
    special(&x, "</think>");
    feed(&x, "\xe6", 1);
    special(&x, "<think>");
    feed(&x, "\xbc", 1);
    feed(&x, "\xa2", 1);
    feed_text(&x, "t");
    special(&x, "</think>");
    feed_text(&x, "more");
    run_end(&x);
    ok(is(&x.content, "\n\ntextmore"), "content alone keeps its newlines");
    ok(is(&x.reasoning, "t") && x.whole,
       "a character is not put together across parts");
    run_close(&x);
    close_toy();
}

static void test_silent(void)
{
    struct reply_config c = {.n_stops = 0};
    struct run x;

    open_toy(NULL, 0);
    run_open(&x, false, NULL, 0);
    feed_text(&x, "a");
    special(&x, "<|start|>");
    special(&x, "<tool_call>");
    feed_id(&x, -1);
    feed_id(&x, 1 << 30);
    special(&x, "<|end|>");
    run_end(&x);
    ok(is(&x.content, "a<tool_call>"),
       "control tokens are silent, user-defined ones are text");
    ok(x.whole, "all that was given out was counted");
    is_int(reply_kept(x.r), 6, "silent ones are tokens, too");
    run_close(&x);

    c.tok = toy.tok; /* completions */
    x = (struct run){.r = reply_new(&c), .whole = true};
    buf_init(&x.reasoning, BUF_EVENT);
    buf_init(&x.content, BUF_EVENT);
    feed_text(&x, " a");
    special(&x, "<think>");
    run_end(&x);
    ok(is(&x.content, " a<think>") && !x.reasoning.n,
       "without a format there is no reasoning");
    run_close(&x);
    close_toy();
}

/* SPM writes a space before the first word of a text: dropped in a chat,
 * kept in a completion, which goes on from its prompt. */
static void test_spm(void)
{
    const char *path = "contrib/demo-model/tiny-random-llama.gguf";
    struct gguf *g;
    struct tok *t;
    struct format *f = NULL;
    struct err e = {0};
    int32_t id = 0;

    if (!ok(!gguf_open(&g, path, &e), "%s", path))
        return;
    ok(!vocab_open(&t, g, &e) &&
           !format_chatjson(&f, chat_json, sizeof(chat_json) - 1, "x", NULL, &e),
       "its vocabulary");
    while ((size_t)id < tok_count(t) &&
           (tok_type_of(t, id) != TOK_NORMAL || tok_piece(t, id).n < 2 ||
            tok_piece(t, id).s[0] != ' '))
        id++;
    for (int chat = 0; chat < 2; chat++) {
        struct reply_config c = {.tok = t, .format = chat ? f : NULL};
        struct span p = tok_piece(t, id);
        struct run x = {.r = reply_new(&c), .whole = true};

        buf_init(&x.reasoning, BUF_EVENT);
        buf_init(&x.content, BUF_EVENT);
        feed_id(&x, id);
        feed_id(&x, id);
        run_end(&x);
        is_int(x.content.n, 2 * p.n - (size_t)chat, "%s",
               chat ? "the first space goes, the second stays"
                    : "both spaces stay");
        ok(x.content.n && (x.content.p[0] == ' ') == !chat, "as it begins");
        run_close(&x);
    }
    format_free(f);
    tok_free(t);
    gguf_close(g);
}

/* Is there one call, f with these arguments? */
static bool one_call(const struct run *x, const char *args)
{
    const struct calls *c = reply_calls(x->r);

    return c->n == 1 && c->p[0]->whole && !strcmp(c->p[0]->name, "f") &&
           !strcmp(c->p[0]->args.p, args);
}

#define BLOCK "<function=f><parameter=a>1</parameter></function></tool_call>"

/* The vocabulary has <tool_call> as a token, its closer has only a spelling. */
static void test_calls(void)
{
    static const struct chat_tool tool = {.name = {"f", 1}};
    static const struct text stop = {"STOP", 4};
    struct run x;

    open_toy(NULL, 0);
    format->dialect = &dialect_qwen;
    offered = tools_new(&tool, 1);
    run_open(&x, true, NULL, 0);
    special(&x, "<tool_call>");
    feed_text(&x, BLOCK);
    special(&x, "</think>");
    feed_text(&x, "none");
    run_end(&x);
    ok(is(&x.reasoning, "<tool_call>" BLOCK) && is(&x.content, "none") &&
       !reply_calls(x.r)->n, "tandem 29: a call in the reasoning is text");
    run_close(&x);

    run_open(&x, true, NULL, 0);
    special(&x, "<tool_call>");
    special(&x, "</think>");
    feed_text(&x, BLOCK);
    run_end(&x);
    ok(is(&x.content, BLOCK) && !reply_calls(x.r)->n,
       "tandem 29: nor does one reach into the answer");
    run_close(&x);

    run_open(&x, false, &stop, 1);
    feed_text(&x, "so <tool_call>" BLOCK " ");
    special(&x, "<tool_call>");
    feed_text(&x, "<function=f><parameter=a>STOP</parameter></function>"
              "</tool_call>");
    run_end(&x);
    ok(is(&x.content, "so <tool_call>" BLOCK " "),
       "characters that spell a token open nothing");
    ok(one_call(&x, "{\"a\": \"STOP\"}"), "stop strings are for content");
    run_close(&x);

    run_open(&x, true, NULL, 0);
    feed_text(&x, "hm");
    special(&x, "</think>");
    feed_text(&x, "\n\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}");
    run_end(&x);
    ok(!x.content.n && one_call(&x, "{\"a\": 1}"),
       "tandem 20: the answer is what follows the reasoning");
    run_close(&x);

    run_open(&x, false, NULL, 0);
    feed_text(&x, "a </tool");
    special(&x, "<tool_call>");
    feed_text(&x, "<function=f><parameter=a>1</parameter></function>");
    ok(!feed_id(&x, -1) && !feed_id(&x, -2) &&
           !feed_id(&x, (int32_t)tok_count(toy.tok)),
       "ids outside of the vocabulary are nothing");
    ok(reply_calls(x.r)->n == 1 && !reply_calls(x.r)->p[0]->whole,
       "no marker that has no id");
    feed_text(&x, "</tool_call>");
    run_end(&x);
    ok(is(&x.content, "a </tool") && one_call(&x, "{\"a\": \"1\"}"),
       "what was held comes before a marker");
    run_close(&x);

    format->strict_end = true;
    run_open(&x, false, NULL, 0);
    special(&x, "<tool_call>");
    feed_text(&x, "<function=f></function>");
    ok(special(&x, "<|start|>"), "another control token ends a strict form");
    reply_end(x.r, false, &x.reasoning, &x.content);
    ok(!x.content.n && one_call(&x, "{}"),
       "tandem 23: it is an end token to the block");
    run_close(&x);
    format->strict_end = false;
    tools_free(offered);
    offered = NULL;
    close_toy();
}

/* A stop id of any type has no text. */
static void test_stop_ids(void)
{
    int32_t stop[2];
    struct reply_config c = {.stop_ids = stop, .n_stop_ids = 2};
    struct run x = {.whole = true};

    open_toy(NULL, 0);
    stop[0] = toy_id(&toy, "<tool_call>", 11);
    stop[1] = toy_id(&toy, "z", 1);
    c.tok = toy.tok;
    c.format = format;
    x.r = reply_new(&c);
    buf_init(&x.reasoning, BUF_EVENT);
    buf_init(&x.content, BUF_EVENT);
    feed_text(&x, "ab");
    special(&x, "<tool_call>");
    feed_text(&x, "z");
    run_end(&x);
    ok(is(&x.content, "ab"), "the text of an end token is never emitted");
    run_close(&x);
    close_toy();
}

int main(void)
{
    test_text();
    test_leftmost();
    test_cut();
    test_stop();
    test_reasoning();
    test_silent();
    test_spm();
    test_calls();
    test_stop_ids();
    return done();
}
