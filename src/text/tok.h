/*
 * text/tok.h - the two tokenizer entries: markup and content.
 *
 * TOK_MARKUP is for bytes that a chat format wrote: control and user-defined
 * tokens are recognised in it. TOK_CONTENT is for bytes of callers, documents
 * and tools: whatever they spell, no control token ever comes out. Never
 * join two segments before encoding and never merge their neighbours
 * afterwards: byte-pair encoding is not associative.
 *
 * Built from spans, so this layer does not know GGUF.
 * Bytes that are not UTF-8 are encoded byte by byte, never dropped.
 * Threads: immutable after tok_new; any thread may encode.
 */
#ifndef TEXT_TOK_H
#define TEXT_TOK_H

#include "base/vec.h"

enum tok_model { TOK_BPE, TOK_SPM };
enum tok_mode { TOK_MARKUP, TOK_CONTENT };

/* tokenizer.ggml.token_type of GGUF */
enum tok_type {
    TOK_NORMAL = 1, TOK_UNKNOWN = 2, TOK_CONTROL = 3, TOK_USER = 4,
    TOK_UNUSED = 5, TOK_BYTE = 6,
};

/* What a vocabulary is made of; everything is borrowed until tok_free. */
struct tok_spec {
    enum tok_model model;
    const char *pre;            /* "gpt2", "llama-bpe", "qwen2", "default" */
    const struct span *tokens;  /* [n_tokens], GPT-2 byte map or U+2581 form */
    size_t n_tokens;
    const float *scores;        /* [n_tokens] or NULL (BPE) */
    const int64_t *types;       /* [n_tokens] of enum tok_type, or NULL */
    const struct span *merges;  /* [n_merges] "left right", BPE only */
    size_t n_merges;
    int64_t bos, eos, unk, pad; /* -1 when absent */
    bool add_bos;
    bool add_space_prefix;      /* SPM only */
    bool ignore_merges;         /* llama-bpe: a whole known word wins */
};

struct tok; /* opaque */

/* Errors: ST_FORMAT (names the broken entry), ST_UNSUPPORTED (pre), NOMEM. */
enum st tok_new(struct tok **out, const struct tok_spec *spec, struct err *e)
    MUST_CHECK;
void tok_free(struct tok *t);

size_t tok_count(const struct tok *t);
int32_t tok_bos(const struct tok *t);     /* -1 when absent */
int32_t tok_eos(const struct tok *t);
bool tok_add_bos(const struct tok *t);    /* does a prompt begin with it? */
enum tok_type tok_type_of(const struct tok *t, int32_t id);
/* Id of a token by its exact bytes, control ones included; -1. */
int32_t tok_find(const struct tok *t, const char *s, size_t n);

/*
 * Append the ids of s[0..n) to `out`. BOS is never added here: the prompt
 * builder does it once.
 * Errors: ST_LIMIT when `out` is full, ST_NOMEM.
 */
enum st tok_encode(const struct tok *t, enum tok_mode mode, const char *s,
                   size_t n, struct ids *out, struct err *e) MUST_CHECK;

/*
 * The bytes that an id stands for, as they appear in text: control tokens
 * give their name. Valid as long as t. May be half a character. An id out of
 * range gives an empty span.
 */
struct span tok_piece(const struct tok *t, int32_t id);
/* SPM: is a leading space of the first piece of a text dropped? */
bool tok_strips_first_space(const struct tok *t);

#endif
