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
    [3] = {.name = "Q4_1"},
    [6] = {.name = "Q5_0"},
    [7] = {.name = "Q5_1"},
    [GGUF_Q8_0] = {"Q8_0", 32, 34},
    [9] = {.name = "Q8_1"},
    [10] = {.name = "Q2_K"},
    [11] = {.name = "Q3_K"},
    [GGUF_Q4_K] = {"Q4_K", 256, 144},
    [GGUF_Q5_K] = {"Q5_K", 256, 176},
    [GGUF_Q6_K] = {"Q6_K", 256, 210},
    [15] = {.name = "Q8_K"},
    [16] = {.name = "IQ2_XXS"},
    [17] = {.name = "IQ2_XS"},
    [18] = {.name = "IQ3_XXS"},
    [19] = {.name = "IQ1_S"},
    [20] = {.name = "IQ4_NL"},
    [21] = {.name = "IQ3_S"},
    [22] = {.name = "IQ2_S"},
    [23] = {.name = "IQ4_XS"},
    [24] = {.name = "I8"},
    [25] = {.name = "I16"},
    [26] = {.name = "I32"},
    [27] = {.name = "I64"},
    [28] = {.name = "F64"},
    [29] = {.name = "IQ1_M"},
    [GGUF_BF16] = {"BF16", 1, 2},
    [34] = {.name = "TQ1_0"},
    [35] = {.name = "TQ2_0"},
    [39] = {.name = "MXFP4"},
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
