/*
 * cli/load.h - a model for one command: file, engine, tokenizer.
 */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "base/buf.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "text/tok.h"

struct load {
    struct gguf *gguf;
    struct gen *gen;
    struct tok *tok;      /* NULL when the file describes none */
    struct ids stop;      /* ids that end an answer */
};

/* Errors are those of gguf_open, engine_open, vocab_open. Release it after an
 * error, too. */
enum st load_open(struct load *l, const char *path,
                  const struct engine_config *c, struct err *e) MUST_CHECK;
void load_release(struct load *l);

/* --kernels: auto or a set. --backend: cpu. NULL, or the reason why not
 * (for cli_usage). */
const char *load_kernels(const char *name, enum kern_cpu_set *out);
const char *load_backend(const char *name);
/* --kv-type: f16 or q8_0, the same way. */
const char *load_kv_type(const char *name, enum kern_type *out);

/* --repack: on or off. */
const char *load_repack(const char *value, bool *out);

/* Append s[0..n); bytes that are not UTF-8 become U+FFFD each. */
void load_utf8(struct buf *b, const char *s, size_t n);

#endif
