/*
 * text/pretok.h - cut text into the words that byte-pair merges stay within.
 *
 * Each character is first mapped to one byte: ASCII to itself, everything
 * else to its class of text/uni.h. The patterns are written over those
 * bytes and run by PCRE2 without UTF and without its property tables.
 * Every pattern is linear on every input (single-character repeats only, no
 * nested ones); a match limit proportional to the text guards that claim,
 * and what would exceed it is cut at changes of class instead.
 *
 * Sources: gpt2: OpenAI gpt-2 encoder.py. llama-bpe, qwen2: tokenizer.json
 * of Llama 3 and Qwen2/Qwen3. default: llama.cpp's behaviour for
 * tokenizer.ggml.pre = "default" (four passes, each over the pieces of the
 * one before).
 * Threads: immutable after pretok_new.
 */
#ifndef TEXT_PRETOK_H
#define TEXT_PRETOK_H

#include "base/mem.h"

struct pretok; /* opaque */

/* Errors: ST_UNSUPPORTED names the pre-tokenizer, ST_NOMEM. */
enum st pretok_new(struct pretok **out, const char *name, struct err *e)
    MUST_CHECK;
void pretok_free(struct pretok *p);

/* Takes one word; any status but ST_OK ends the cutting with it. */
typedef enum st pretok_word(void *arg, const char *s, size_t n, struct err *e);

/*
 * Cut s[0..n), which must be valid UTF-8, into words that cover it in order.
 * Errors: those of `word`, ST_NOMEM.
 */
enum st pretok_split(const struct pretok *p, const char *s, size_t n,
                     pretok_word *word, void *arg, struct err *e) MUST_CHECK;

#endif
