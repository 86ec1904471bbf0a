/*
 * api/wire.h - a dialect of requests, and the flow that they share (internal
 * to api).
 *
 *   parse     its body to struct body (api/body.h)
 *   build     struct body to prompt ids
 *   keep      what its answer needs of the body later, into struct run
 *   emit      the answer (api/emit.h)
 *
 * All run on a handler thread and never wait.
 */
#ifndef API_WIRE_H
#define API_WIRE_H

#include "api/body.h"
#include "api/emit.h"
#include "api/exchange.h"
#include "api/prompts.h"

struct wire {
    const struct emit *emit;
    const char *field; /* what a prompt that does not fit is called */
    bool thinks;       /* it has a reasoning channel, where the model has one */
    /* x->req.body, into x->arena. */
    enum st (*parse)(struct exchange *x, struct body *out, struct err *e);
    enum st (*build)(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e);
    /* NULL: nothing more. The last step before the jobs are submitted; the
     * arena is dropped after it. */
    enum st (*keep)(struct exchange *x, const struct body *b, struct err *e);
};

/* Answer x->req.body: makes the error or starts the generation. */
void generate(struct exchange *x, const struct wire *wire);

/* The steps from a parsed body to prompt ids alone: the model is found and
 * the prompt built into `p` (also to be released after an error). For those
 * who only count. */
enum st wire_prompt(struct exchange *x, const struct wire *wire,
                    struct body *b, struct prompt_ids *p, struct err *e)
    MUST_CHECK;
/* Answer x->req.body with how many tokens its prompt has, as input_tokens of
 * an object, which says that it is an `object` (NULL: it does not): nothing is
 * generated. A prompt that is too long for an answer is counted, too. */
void count_prompt(struct exchange *x, const struct wire *wire,
                  const char *object);

#endif
