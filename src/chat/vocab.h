/*
 * chat/vocab.h - the tokenizer that a GGUF file describes.
 *
 * The only place where tokenizer.ggml.* keys are read. The token table
 * borrows from `g`, which must outlive the tokenizer.
 */
#ifndef CHAT_VOCAB_H
#define CHAT_VOCAB_H

#include "base/vec.h"
#include "gguf/gguf.h"
#include "text/tok.h"

/* Errors: ST_FORMAT, ST_UNSUPPORTED; `where` is the metadata key. */
enum st vocab_open(struct tok **out, const struct gguf *g, struct err *e)
    MUST_CHECK;
/*
 * Append all ids that end a generation, each once: the eos, eot, eom and fim
 * ids of the metadata, and control tokens with one of the well-known names of
 * stop_names in vocab.c. ST_LIMIT when `out` is full.
 */
enum st vocab_stop_ids(const struct gguf *g, const struct tok *t,
                       struct ids *out, struct err *e) MUST_CHECK;

#endif
