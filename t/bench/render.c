/*
 * t/bench/render MODEL REQUEST.json [TEMPLATE] - what a prompt costs: the
 * chat format (of the model file, or a template) and the tokenizer apart,
 * the best of 200 rounds. make t/bench/render
 */
#include "api/body.h"
#include "base/buf.h"
#include "base/thread.h"
#include "chat/format.h"
#include "chat/vocab.h"

#include <stdio.h>

struct bench {
    struct gguf *gguf;
    struct tok *tok;
    struct format *format;
    struct buf text;
    int64_t render_us, encode_us;
    size_t tokens;
};

static enum st once(struct bench *b, struct err *e)
{
    struct arena a;
    struct segments s;
    struct body body;
    struct ids ids;
    int64_t from, mid, to;
    bool open;
    enum st st;

    arena_init(&a, BUF_FILE);
    ids_init(&ids, 1u << 24);
    segments_init(&s, &a);
    st = body_parse_chat(&body, &a, (struct text){b->text.p, b->text.n}, e);
    from = mono_us();
    if (!st)
        st = format_render(b->format, &body.chat, &s, &open, e);
    mid = mono_us();
    if (!st)
        st = segments_encode(&s, b->tok, &ids, e);
    to = mono_us();
    if (!b->tokens || mid - from < b->render_us)
        b->render_us = mid - from;
    if (!b->tokens || to - mid < b->encode_us)
        b->encode_us = to - mid;
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
    for (int i = 0; i < 200 && !st; i++)
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
    if (st)
        fprintf(stderr, "render: %s: %s\n", e.where, e.text);
    else
        printf("render %lld us, encode %lld us, %zu tokens\n",
               (long long)b.render_us, (long long)b.encode_us, b.tokens);
    buf_release(&b.text);
    format_free(b.format);
    tok_free(b.tok);
    gguf_close(b.gguf);
    return st != ST_OK;
}
