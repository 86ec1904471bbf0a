/*
 * text/lex.h - the token table behind both tokenizers.
 *
 * For every id: its spelling in the file (`raw`), the bytes it stands for
 * (`piece`) and its type. Two indexes: by raw spelling over all tokens, and
 * by piece over the tokens that encoding may produce.
 *
 * Producible are normal tokens, and, in SPM, user-defined ones made of white
 * space only. Everything else can only be recognised, never assembled: no
 * merge and no whole-word shortcut yields a control token, whatever is spelled.
 * What the metadata names as bos, eos, pad or unk and is spelled <...> or
 * [...] is control (unk: unknown) even where the file's types say normal.
 *
 * Memory: raw spans and types are copied, raw bytes are borrowed.
 * Threads: immutable after lex_init.
 */
#ifndef TEXT_LEX_H
#define TEXT_LEX_H

#include "text/tok.h"

#define LEX_NONE UINT32_MAX

/* Open addressing over ids. A slot also holds bits of its key's hash: whoever
 * looks for another key need not read this one. */
struct lex_slot {
    uint32_t id; /* LEX_NONE: empty */
    uint32_t tag;
};

struct lex_index {
    struct lex_slot *slot;
    size_t mask; /* slots - 1 */
};

struct lex {
    size_t n;
    struct span *raw;    /* [n], bytes borrowed */
    struct span *piece;  /* [n], into `arena` or equal to raw */
    uint8_t *type;       /* [n], enum tok_type */
    char *arena;
    struct lex_index by_raw, by_piece;
    size_t longest;      /* of the pieces, in bytes */
    size_t longest_raw;  /* of the spellings; never less, nor under 1 */
    int32_t byte_id[256]; /* what one byte is encoded as; never -1 */
    bool byte_own[256];  /* ... and is that a token of its own? */
};

/* Errors: ST_FORMAT, ST_NOMEM. On error nothing is left to release. */
enum st lex_init(struct lex *x, const struct tok_spec *spec, struct err *e)
    MUST_CHECK;
void lex_release(struct lex *x);

/* Id by raw spelling; by piece among producible tokens. -1 when absent. */
int32_t lex_find_raw(const struct lex *x, const char *s, size_t n);
int32_t lex_find_piece(const struct lex *x, const char *s, size_t n);
/* The same in two steps, for who looks up many: lex_ask fetches what
 * lex_answer will read, so the waits for memory overlap. */
struct lex_query {
    struct span key; /* borrowed */
    uint64_t hash;
};
void lex_ask(const struct lex *x, struct lex_query *q, const char *s, size_t n);
int32_t lex_answer(const struct lex *x, const struct lex_query *q);

/* Does raw consist of white space (or U+2581) only? Not true when empty. */
bool lex_is_blank(struct span raw);
/*
 * GPT-2 byte map backwards: characters of s[0..n) to bytes in out[n].
 * False, with *len untouched, when a character is outside the map.
 */
bool lex_unmap(const char *s, size_t n, char *out, size_t *len);
/* Each U+2581 of s[0..n) becomes a space, the rest stays: out[n]. Returns how
 * many bytes that made. */
size_t lex_unmark(const char *s, size_t n, char *out);

#endif
