/*
 * t/bench/render MODEL REQUEST.json [TEMPLATE] - what a prompt costs: the
 * check of the body, the chat format (of the model file, or a template) and
 * the tokenizer, each the best of ROUNDS, and the median of all together.
 * make t/bench/render
 */
#include "api/body.h"
#include "base/buf.h"
#include "base/thread.h"
#include "chat/format.h"
#include "chat/vocab.h"

#include <stdio.h>

#define ROUNDS 200

struct bench {
    struct gguf *gguf;
    struct tok *tok;
    struct format *format;
    struct buf text;
    int64_t parse_us, render_us, encode_us;
    int64_t all_us[ROUNDS];
    int rounds;
    size_t tokens;
};

static void keep_least(int64_t *least, int64_t us, int rounds)
{
    if (!rounds || us < *least)
        *least = us;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static enum st once(struct bench *b, struct err *e)
{
    struct arena a;
    struct segments s;
    struct body body;
    struct ids ids;
    int64_t start, from, mid, to;
    bool open;
    enum st st;

    arena_init(&a, BUF_FILE);
    ids_init(&ids, 1u << 24);
    segments_init(&s, &a);
    start = mono_us();
    st = body_parse_chat(&body, &a, (struct text){b->text.p, b->text.n}, e);
    from = mono_us();
    if (!st)
        st = format_render(b->format, &body.chat, &s, &open, e);
    mid = mono_us();
    if (!st)
        st = segments_encode(&s, b->tok, &ids, e);
    to = mono_us();
    keep_least(&b->parse_us, from - start, b->rounds);
    keep_least(&b->render_us, mid - from, b->rounds);
    keep_least(&b->encode_us, to - mid, b->rounds);
    b->all_us[b->rounds++] = to - start;
    b->tokens = ids.n;
    ids_release(&ids);
    arena_release(&a);
    return st;
}

static enum st work(struct bench *b, int argc, char **argv, struct err *e)
{
    struct format_from from = {.path = argc > 3 ? argv[3] : NULL};
    int64_t start;
    enum st st = gguf_open(&b->gguf, argv[1], e);

    if (!st)
        st = vocab_open(&b->tok, b->gguf, e);
    if (!st)
        st = buf_read_file(&b->text, argv[2], e);
    from.gguf = b->gguf;
    from.tok = b->tok;
    start = mono_us();
    if (!st)
        st = format_find(&b->format, &from, e);
    if (!st)
        printf("%s: found in %lld us\n", format_source(b->format),
               (long long)(mono_us() - start));
    for (int i = 0; i < ROUNDS && !st; i++)
        st = once(b, e);
    return st;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct err e = {0};
    enum st st;

    if (argc < 3) {
        fprintf(stderr, "usage: render MODEL REQUEST.json [TEMPLATE]\n");
        return 2;
    }
    buf_init(&b.text, BUF_FILE);
    st = work(&b, argc, argv, &e);
    qsort(b.all_us, (size_t)b.rounds, sizeof(b.all_us[0]), by_value);
    if (st)
        fprintf(stderr, "render: %s: %s\n", e.where, e.text);
    else
        printf("parse %lld us, render %lld us, encode %lld us, together "
               "%lld us in the middle, %zu tokens\n", (long long)b.parse_us,
               (long long)b.render_us, (long long)b.encode_us,
               (long long)b.all_us[b.rounds / 2], b.tokens);
    buf_release(&b.text);
    format_free(b.format);
    tok_free(b.tok);
    gguf_close(b.gguf);
    return st != ST_OK;
}
