/*
 * engine/arch.h - which architectures there are.
 *
 * An architecture is data: how to bind a file's tensors and which forward
 * function computes a step. Only arch_*.c knows names; a new family is a new
 * arch_*.c and a line in arch.c.
 */
#ifndef ENGINE_ARCH_H
#define ENGINE_ARCH_H

#include "engine/model.h"

struct forward; /* engine/forward.h */

struct arch {
    const char *name;    /* general.architecture */
    int32_t rope_neox;   /* kern_rope.neox */
    bool qk_norm;        /* attn_q_norm and attn_k_norm exist */
    bool qkv_bias;       /* attn_{q,k,v}.bias must exist; else they may */
    /* The rest of the hyper-parameters and all layers. */
    enum st (*load)(struct model *m, struct err *e);
    /* One step: see forward_run. */
    void (*run)(struct forward *f, const struct kern_rows *rows);
};

/* NULL when there is none of that name. */
const struct arch *arch_find(struct span name);
/* Every name, comma-separated, into out[n]: for messages. */
void arch_names(char *out, size_t n);

extern const struct arch arch_llama, arch_qwen2, arch_qwen3;

#endif
