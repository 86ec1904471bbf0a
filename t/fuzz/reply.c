/*
 * Replies: bytes become ids; two bytes choose the configuration. Every delta
 * is valid UTF-8, and no stop string is ever in the content.
 */
#include "chat/format_int.h"
#include "chat/reply.h"
#include "t/lib/toy_tok.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct toy_special specials[] = {
    {"<|s|>", TOK_CONTROL}, {"<|e|>", TOK_CONTROL}, {"<think>", TOK_USER},
    {"</think>", TOK_USER}, {NULL, 0},
};

static const char chat_json[] =
    "{\"user\":[\"<|s|>u\",\"<|e|>\"],\"assistant\":[\"<|s|>a\",\"<|e|>\"],"
    "\"open\":\"<|s|>a\",\"think\":[\"<think>\",\"</think>\"]}";

static bool contains(const struct buf *b, struct text t)
{
    return b->n >= t.n && memmem(b->p, b->n, t.s, t.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct toy toy;
    static struct format *format;
    static const struct text stops[] = {
        {"ab", 2}, {"aab\0", 4}, {"\xe6\xbc\xa2\xe5", 4}, {"\n\n", 2},
    };
    struct reply_config c = {.stops = stops};
    struct buf reasoning, content, r1, c1;
    struct err e = {0};
    struct reply *r;

    if (!toy.tok) {
        toy_open(&toy, specials, NULL, 0);
        BUG_ON(format_chatjson(&format, chat_json, sizeof(chat_json) - 1, "x",
                            toy.tok, &e));
    }
    if (n < 2)
        return 0;
    c.tok = toy.tok;
    c.format = data[0] & 1 ? format : NULL;
    c.think_open = c.format && (data[0] & 2);
    c.n_stops = data[1] % 5u;
    r = reply_new(&c);
    buf_init(&reasoning, BUF_ANSWER);
    buf_init(&content, BUF_ANSWER);
    buf_init(&r1, BUF_ANSWER);
    buf_init(&c1, BUF_ANSWER);
    for (size_t i = 2; i <= n; i++) {
        buf_clear(&r1);
        buf_clear(&c1);
        if (i == n)
            reply_end(r, true, &r1, &c1);
        else /* 250..254 stand for the special tokens and one past them */
            reply_feed(r, data[i] >= 250 ? data[i] + 6 : data[i], &r1, &c1);
        BUG_ON(!utf8_valid(r1.n ? r1.p : "", r1.n, NULL));
        if (c.n_stops < 3) /* the third string ends inside a character */
            BUG_ON(!utf8_valid(c1.n ? c1.p : "", c1.n, NULL));
        buf_add(&reasoning, r1.n ? r1.p : "", r1.n);
        buf_add(&content, c1.n ? c1.p : "", c1.n);
        BUG_ON(reply_told(r) != reasoning.n + content.n);
    }
    for (size_t i = 0; i < c.n_stops; i++)
        BUG_ON(contains(&content, stops[i]));
    BUG_ON(reply_reasoning_tokens(r) > reply_kept(r));
    reply_free(r);
    buf_release(&reasoning);
    buf_release(&content);
    buf_release(&r1);
    buf_release(&c1);
    return 0;
}
