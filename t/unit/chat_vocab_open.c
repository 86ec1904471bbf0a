/*
 * chat_vocab_open FILE: open the tokenizer of a GGUF file. Not a test by
 * itself: t/1030-gguf-vocab.t feeds it files. Prints what it found and exits
 * 0, or one line of error and exits 1.
 */
#include "chat/vocab.h"

static enum st show(const char *path, struct gguf **g, struct tok **t,
                    struct ids *stop, struct err *e)
{
    enum st st = gguf_open(g, path, e);

    if (!st)
        st = vocab_open(t, *g, e);
    if (!st)
        st = vocab_stop_ids(*g, *t, stop, e);
    if (st)
        return st;
    printf("tokens=%zu bos=%d eos=%d add_bos=%d strips=%d stop=",
           tok_count(*t), tok_bos(*t), tok_eos(*t), tok_add_bos(*t),
           tok_strips_first_space(*t));
    for (size_t i = 0; i < stop->n; i++)
        printf("%s%d", i ? "," : "", stop->p[i]);
    printf("\n");
    return ST_OK;
}

int main(int argc, char **argv)
{
    struct gguf *g = NULL;
    struct tok *t = NULL;
    struct ids stop;
    struct err e;
    enum st st;

    if (argc != 2) {
        fputs("usage: chat_vocab_open FILE\n", stderr);
        return 2;
    }
    ids_init(&stop, 64);
    st = show(argv[1], &g, &t, &stop, &e);
    if (st)
        fprintf(stderr, "%s: %s\n", e.where, e.text);
    ids_release(&stop);
    tok_free(t);
    gguf_close(g);
    return st ? 1 : 0;
}
