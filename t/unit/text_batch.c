/*
 * text_batch VOCAB - a tool of t/1110: many texts through one tokenizer.
 *
 * VOCAB holds lines of words: "bpe PRE" or "spm -", then the numbers of
 * tokens and merges, then "ignore_merges" as 0 or 1 (all on line one);
 * per token "TYPE SCORE HEX"; per merge "HEX". Standard input: lines "M HEX"
 * (markup) or "C HEX" (content); standard output: a line of ids for each.
 */
#include "base/buf.h"
#include "base/num.h"
#include "text/tok.h"

/* Walks over words; fails softly with an empty one. */
struct words {
    const char *p, *end;
};

static struct span word(struct words *w)
{
    const char *s = w->p;

    while (w->p < w->end && *w->p != ' ' && *w->p != '\n')
        w->p++;
    s = w->p > s ? s : w->p;
    if (w->p < w->end)
        w->p++;
    return (struct span){s, (size_t)(w->p - s) - (w->p > s ? 1 : 0)};
}

static int64_t number(struct words *w)
{
    struct span s = word(w);
    int64_t v;

    return num_parse_i64(s.s, s.n, INT32_MIN, INT32_MAX, &v) ? v : 0;
}

static int digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Hex to bytes in place of the digits, which are ours to overwrite. */
static struct span bytes(struct words *w)
{
    struct span h = word(w);
    char *out = (char *)(uintptr_t)h.s;

    for (size_t i = 0; i + 1 < h.n; i += 2)
        out[i / 2] = (char)(digit(h.s[i]) * 16 + digit(h.s[i + 1]));
    return (struct span){out, h.n / 2};
}

static enum st load(struct tok **t, struct buf *b, struct err *e)
{
    struct words w = {b->p, b->p + b->n};
    struct span model = word(&w), pre = word(&w);
    char *pre_z = mem_dup_n(pre.s, pre.n);
    struct tok_spec spec = {.bos = -1, .eos = -1, .unk = -1, .pad = -1};
    struct span *tokens, *merges;
    float *scores;
    int64_t *types;
    enum st st;

    spec.model = span_is(model, "spm") ? TOK_SPM : TOK_BPE;
    spec.pre = pre_z;
    spec.n_tokens = (size_t)number(&w);
    spec.n_merges = (size_t)number(&w);
    spec.ignore_merges = number(&w) == 1;
    spec.tokens = tokens = mem_array(struct span, spec.n_tokens);
    spec.merges = merges = mem_array(struct span, spec.n_merges);
    spec.scores = scores = mem_array(float, spec.n_tokens);
    spec.types = types = mem_array(int64_t, spec.n_tokens);
    for (size_t i = 0; i < spec.n_tokens; i++) {
        types[i] = number(&w);
        scores[i] = (float)number(&w);
        tokens[i] = bytes(&w);
    }
    for (size_t i = 0; i < spec.n_merges; i++)
        merges[i] = bytes(&w);
    st = tok_new(t, &spec, e);
    free(tokens);
    free(merges);
    free(scores);
    free(types);
    free(pre_z);
    return st;
}

static enum st answer(const struct tok *t, struct buf *in, struct err *e)
{
    struct words w = {in->p, in->p + in->n};
    enum st st = ST_OK;

    while (w.p < w.end && !st) {
        struct span mode = word(&w), text = bytes(&w);
        struct ids ids;

        ids_init(&ids, 1u << 24);
        st = tok_encode(t, span_is(mode, "M") ? TOK_MARKUP : TOK_CONTENT,
                        text.s, text.n, &ids, e);
        for (size_t i = 0; i < ids.n && !st; i++)
            printf("%s%d", i ? "," : "", (int)ids.p[i]);
        putchar('\n');
        ids_release(&ids);
    }
    return st;
}

int main(int argc, char **argv)
{
    struct buf vocab, in;
    struct tok *t = NULL;
    struct err e;
    enum st st;

    buf_init(&vocab, BUF_FILE);
    buf_init(&in, BUF_FILE);
    if (argc != 2)
        return 2;
    st = buf_read_file(&vocab, argv[1], &e);
    if (!st)
        st = load(&t, &vocab, &e);
    if (!st)
        st = buf_read_fd(&in, 0, "stdin", &e);
    if (!st)
        st = answer(t, &in, &e);
    if (st)
        fprintf(stderr, "text_batch: %s: %s\n", e.where, e.text);
    tok_free(t);
    buf_release(&vocab);
    buf_release(&in);
    return st ? 1 : 0;
}
