/*
 * text/bpe.h - byte-pair encoding by merge rank (GGUF model "gpt2").
 *
 * Source: OpenAI gpt-2 encoder.py; GGUF tokenizer.ggml.merges ("left right",
 * the position in the list is the rank). A merge whose halves or result are
 * not producible tokens of the vocabulary never applies.
 * Threads: any number at once; what they learn of words (`whole`) is a memo
 * in relaxed atomics, and no result depends on it.
 */
#ifndef TEXT_BPE_H
#define TEXT_BPE_H

#include "text/lex.h"
#include "text/merge.h"

#include <stdatomic.h>

struct bpe_pair {
    int32_t left, right; /* ids; left is -1 in an empty slot */
    int32_t id;          /* of the result */
    uint32_t rank;
};

struct bpe {
    const struct lex *lex;  /* borrowed */
    struct bpe_pair *pair;  /* [mask + 1], open addressing */
    size_t mask;
    bool ignore_merges;
    /* [lex->n] does a word that spells this token become it? enum in bpe.c */
    atomic_uchar *whole;
};

/* Errors: ST_FORMAT names the broken merge, ST_NOMEM. */
enum st bpe_init(struct bpe *b, const struct lex *lex,
                 const struct tok_spec *spec, struct err *e) MUST_CHECK;
void bpe_release(struct bpe *b);

/* Append the ids of one word of the pre-tokenizer. */
enum st bpe_word(const struct bpe *b, struct merge *m, const char *s, size_t n,
                 struct ids *out, struct err *e) MUST_CHECK;

#endif
