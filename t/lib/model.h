/*
 * t/lib/model.h - the demo model for C tests: open, submit, wait.
 *
 * Prompts and answers are those of contrib/demo-model/vectors.json (a float32
 * numpy reference), named in each test.
 */
#ifndef T_MODEL_H
#define T_MODEL_H

#include "engine/engine.h"

#define DEMO_Q8 "contrib/demo-model/penstock-demo-q8_0.gguf"
#define TINY_LLAMA "contrib/demo-model/tiny-random-llama.gguf"
#define DEMO_IM_END 3065 /* ends a turn */

/* Exits with a failed TAP plan when the file cannot be opened. */
struct gguf *demo_open(const char *path);
struct gen *demo_engine(const struct gguf *g, const struct engine_config *c);

/* A job with the demo's stop id, not submitted. */
struct job *demo_job(const int32_t *ids, size_t n, int32_t max_tokens);
/* Submit, or exit as above. */
void demo_submit(struct gen *g, struct job *j);
/* All of them together: the others enter at the safe point behind the first
 * step of the first, however slow the caller's thread is. */
void demo_submit_all(struct gen *g, struct job **j, int n);
/* Wait for END; ids (cap max) may be NULL. Returns how many were taken. */
size_t demo_wait(struct job *j, int32_t *ids, size_t cap, struct end_info *end);

#endif
