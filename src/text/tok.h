/*
 * text/tok.h - the two tokenizer entries: markup and content.
 *
 * TOK_MARKUP is for bytes that a chat format wrote: control and user-defined
 * tokens are recognised in it, leftmost first, the longest of several.
 *
 * TOK_CONTENT is for bytes of callers, documents and tools: whatever they
 * spell, no control token ever comes out, and no user-defined one either
 * (vocabularies mark <think> and <tool_call> as user-defined, and those are
 * structure). One exception: user-defined tokens that consist of white space
 * only are recognised, since runs of newlines cannot be structure and the
 * models that have such tokens (Gemma) were trained with them in plain text.
 *
 * In both modes merges, whole-word matches and the byte fallback yield only
 * normal, byte and white-space tokens, and in SPM the unknown token where a
 * byte has no token: ids of control, other user-defined and unused tokens
 * come from recognition or not at all.
 *
 * Never join two segments before encoding and never merge their neighbours
 * afterwards: byte-pair encoding is not associative.
 *
 * Text is encoded as it is: no Unicode normalisation, because GGUF does not
 * say which one a vocabulary expects (Qwen's upstream applies NFC).
 * Bytes that are not UTF-8 are encoded one by one, never dropped; the text
 * on either side of them is encoded as if it stood alone.
 * Built from spans, so this layer does not know GGUF.
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

/*
 * What a vocabulary is made of. tok_new copies scores, types and the span
 * tables; the bytes behind the spans stay borrowed until tok_free.
 */
struct tok_spec {
    enum tok_model model;
    const char *pre;            /* BPE only: "gpt2", "llama-bpe", "qwen2",
                                 * "default" */
    const struct span *tokens;  /* [n_tokens], GPT-2 byte map or U+2581 form */
    size_t n_tokens;
    const float *scores;        /* [n_tokens]; SPM only, else NULL */
    const int64_t *types;       /* [n_tokens] of enum tok_type, or NULL */
    const struct span *merges;  /* [n_merges] "left right", BPE only; one
                                 * that names unknown tokens never applies */
    size_t n_merges;
    int64_t bos, eos, unk, pad; /* -1 when absent */
    bool add_bos;
    bool add_space_prefix;      /* SPM only */
    bool ignore_merges;         /* llama-bpe: a whole word that is a token
                                 * wins over merging */
};

struct tok; /* opaque */

/* Errors: ST_FORMAT (names the broken entry), ST_UNSUPPORTED (pre),
 * ST_NOMEM. */
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
 * builder does it once. SPM vocabularies with add_space_prefix get their
 * space at the start of s and after each recognised control or structure
 * token, as upstream does; an empty s gives nothing.
 * Cost O(n log n) in time; memory for the call is about 2 bytes per byte of
 * the text and at most 140 per byte of its longest word. A text that cannot
 * fit `out` even with the longest tokens is refused before that.
 * Errors: ST_LIMIT when `out` is full, ST_NOMEM; `out` may then have grown.
 */
enum st tok_encode(const struct tok *t, enum tok_mode mode, const char *s,
                   size_t n, struct ids *out, struct err *e) MUST_CHECK;

/*
 * The next token that TOK_MARKUP recognises in s[0..n): at is its offset, n
 * its length, id -1 when there is none. User-defined white space is passed
 * over, since TOK_CONTENT recognises it too. Who cuts s at the tokens found
 * and encodes the runs between them as content gets the ids of the whole s in
 * markup mode.
 */
struct tok_marker {
    size_t at, n;
    int32_t id;
};
struct tok_marker tok_next_marker(const struct tok *t, const char *s,
                                  size_t n);

/*
 * The bytes that an id stands for, as they appear in text: control and
 * user-defined tokens give their name, U+2581 of SPM is a space, <0xNN> its
 * byte. Valid as long as t. May be half a character. An id out of range gives
 * an empty span.
 */
struct span tok_piece(const struct tok *t, int32_t id);
/* SPM: is a leading space of the first piece of a text dropped? */
bool tok_strips_first_space(const struct tok *t);

#endif
