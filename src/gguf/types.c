#include "gguf/impl.h"

/*
 * Numbers and names of enum ggml_type, as published in ggml's docs/gguf.md;
 * a gap is a type that was removed from the format. Only those with a block
 * size are read here.
 */
static const struct {
    const char *name;
    uint16_t elems, bytes;
} types[] = {
    [GGUF_F32] = {"F32", 1, 4},
    [GGUF_F16] = {"F16", 1, 2},
    [GGUF_Q4_0] = {"Q4_0", 32, 18},
    [GGUF_Q4_1] = {"Q4_1", 32, 20},
    [GGUF_Q5_0] = {"Q5_0", 32, 22},
    [GGUF_Q5_1] = {"Q5_1", 32, 24},
    [GGUF_Q8_0] = {"Q8_0", 32, 34},
    [9] = {.name = "Q8_1"},
    [GGUF_Q2_K] = {"Q2_K", 256, 84},
    [GGUF_Q3_K] = {"Q3_K", 256, 110},
    [GGUF_Q4_K] = {"Q4_K", 256, 144},
    [GGUF_Q5_K] = {"Q5_K", 256, 176},
    [GGUF_Q6_K] = {"Q6_K", 256, 210},
    [15] = {.name = "Q8_K"},
    [16] = {.name = "IQ2_XXS"},
    [17] = {.name = "IQ2_XS"},
    [18] = {.name = "IQ3_XXS"},
    [19] = {.name = "IQ1_S"},
    [GGUF_IQ4_NL] = {"IQ4_NL", 32, 18},
    [21] = {.name = "IQ3_S"},
    [22] = {.name = "IQ2_S"},
    [GGUF_IQ4_XS] = {"IQ4_XS", 256, 136},
    [24] = {.name = "I8"},
    [25] = {.name = "I16"},
    [26] = {.name = "I32"},
    [27] = {.name = "I64"},
    [28] = {.name = "F64"},
    [29] = {.name = "IQ1_M"},
    [GGUF_BF16] = {"BF16", 1, 2},
    [34] = {.name = "TQ1_0"},
    [35] = {.name = "TQ2_0"},
    [GGUF_MXFP4] = {"MXFP4", 32, 17},
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

bool type_known(uint32_t t)
{
    return t < N_TYPES && types[t].elems;
}

const char *type_name_any(uint32_t t)
{
    return t < N_TYPES ? types[t].name : NULL;
}

void gguf_block(enum gguf_type t, uint32_t *elems, uint32_t *bytes)
{
    BUG_ON(!type_known((uint32_t)t));
    *elems = types[t].elems;
    *bytes = types[t].bytes;
}

const char *gguf_type_name(enum gguf_type t)
{
    BUG_ON(!type_known((uint32_t)t));
    return types[t].name;
}
