/*
 * text/spm.h - SentencePiece-style merging by score (GGUF model "llama").
 *
 * The text is cut into characters; the neighbours whose union is the
 * producible token of best score are joined, leftmost of equal ones first.
 * What is no token in the end becomes one byte token per byte.
 *
 * The text is taken apart first where two bytes meet that are neighbours in
 * no producible token: nothing can be joined across such a place, so the ids
 * are the same, and the heap holds a word instead of a document.
 * Source: llama.cpp's SPM tokenizer (behaviour), SentencePiece's BPE model.
 * Threads: immutable after spm_init.
 */
#ifndef TEXT_SPM_H
#define TEXT_SPM_H

#include "text/lex.h"
#include "text/merge.h"

struct spm {
    const struct lex *lex; /* borrowed */
    uint32_t *rank;        /* [lex->n]; 0 = best score; equal scores share */
    bool space_first;      /* add_space_prefix */
    uint8_t meets[8192];   /* bit a << 8 | b: some token has bytes a b */
};

/* Errors: ST_FORMAT (no scores, or one that is NaN), ST_NOMEM. */
enum st spm_init(struct spm *p, const struct lex *lex,
                 const struct tok_spec *spec, struct err *e) MUST_CHECK;
void spm_release(struct spm *p);

/*
 * Append the ids of s[0..n), valid UTF-8. `lead` asks for the space that a
 * text begins with; it is added when the vocabulary wants one.
 */
enum spm_lead { SPM_INSIDE, SPM_LEAD };
enum st spm_text(const struct spm *p, struct merge *m, enum spm_lead lead,
                 const char *s, size_t n, struct ids *out, struct err *e)
    MUST_CHECK;

#endif
