/*
 * engine/sample.h - from logits to the next id.
 *
 * Order: mask, temperature, top_k, top_p, min_p, draw; penalties and biases
 * (engine/penalty.h) are in the logits already. The draw is a function of
 * (seed, choice, position) alone, so a text never depends on load. Equal
 * logits: the lower id comes first.
 * Engine thread only; one sampler serves all sequences.
 */
#ifndef ENGINE_SAMPLE_H
#define ENGINE_SAMPLE_H

#include "gen/gen.h"

struct sampler; /* scratch memory */

/* NULL when out of memory. */
struct sampler *sampler_new(int32_t vocab) MUST_CHECK;
void sampler_free(struct sampler *s); /* NULL ok */

struct sample_at { /* which draw this is */
    uint64_t seed;
    int32_t choice, position;
};

struct sample_out {
    int32_t id;
    float chosen;         /* log-probability of id, when top_n > 0 */
    struct logprob *top;  /* [top_n], filled in descending order; rows beyond
                           * the allowed ids are {-1, -INFINITY} */
};

/*
 *   logits  [vocab], not changed
 *   mask    one bit per id; NULL: every id is allowed
 *   top_n   alternatives wanted, 0: no log-probabilities at all
 * Log-probabilities are those of the masked logits at temperature 1.
 * False when no allowed id has a finite logit.
 */
bool sample(struct sampler *s, const float *logits, const uint32_t *mask,
            const struct sampling *p, const struct sample_at *at, int top_n,
            struct sample_out *out) MUST_CHECK;

/* The uniform number in [0, 1) of one draw. */
double sample_uniform(const struct sample_at *at);

#endif
