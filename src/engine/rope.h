/*
 * engine/rope.h - how far positions turn: the rope.* keys of a model.
 *
 * inverse frequency i = base^(-2i / dims) / factors[i] * scale_i, for the
 * pair i of dims / 2 (rope_freqs.weight brings the factors).
 *
 *   rope.scaling.type  none, linear or yarn. A factor and no type: linear.
 *   linear   scale_i = 1 / factor. rope.scale_linear is the older name of
 *            rope.scaling.factor.
 *   yarn     pairs that turn often within the original context keep their
 *            frequency, slow ones are scaled as in linear, between them the
 *            two are mixed:
 *              turns(n) = dims * ln(original / (n * 2 pi)) / (2 ln base),
 *                         the pair that turns n times
 *              low  = max(0, floor(turns(beta_fast)))
 *              high = min(dims - 1, ceil(turns(beta_slow)))
 *              keep_i = (1 - clamp((i - low) / max(0.001, high - low), 0, 1))
 *                       * ext_factor
 *              scale_i = (1 - keep_i) / factor + keep_i
 *            and cos and sin are multiplied by mscale: with a factor over 1
 *              (1 + 0.1 ln factor) / (1 + 0.1 log_multiplier ln factor)
 *            Keys: rope.scaling.factor; .original_context_length (missing:
 *            the context length); .yarn_beta_fast [32]; .yarn_beta_slow [1];
 *            .yarn_ext_factor [1]; .yarn_log_multiplier [0]. ext_factor 0:
 *            linear, no mscale.
 *   rope.scaling.attn_factor [1] multiplies mscale, whatever the type.
 *
 * Sources: YaRN (Peng et al., 2023), sections 3.2 and 3.4; the GGUF keys and
 * what llama.cpp makes of them, which t/2900 compares.
 */
#ifndef ENGINE_ROPE_H
#define ENGINE_ROPE_H

#include "engine/model.h"

/*
 * Inverse frequencies, without the factors of rope_freqs.weight.
 *   inv     [dims / 2], filled
 *   mscale  filled: the factor of cos and sin
 * Errors: ST_FORMAT, ST_UNSUPPORTED (another type); `where` is the key.
 */
enum st rope_frequencies(const struct model *m, int32_t dims, double *inv,
                         float *mscale, struct err *e) MUST_CHECK;

#endif
