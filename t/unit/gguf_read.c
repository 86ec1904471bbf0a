/*
 * Real files read as their writer meant them. The expected values are those
 * of contrib/demo-model/export_gguf.py and README.md (numpy writer).
 */
#include "gguf/gguf.h"

#include "t/lib/tap.h"

#define DEMO "contrib/demo-model/penstock-demo-q8_0.gguf"
#define LLAMA "contrib/demo-model/tiny-random-llama.gguf"

static void demo(const struct gguf *g)
{
    const struct gguf_tensor *t;
    uint64_t u = 0;
    int64_t i = 0, types[3072];
    double d = 0;
    bool b = true;
    struct span s = {"", 0};
    enum gguf_vtype elem;
    const struct span *tokens;
    size_t n;

    ok(gguf_str(g, "general.architecture", &s) && span_is(s, "qwen3"),
       "a string value");
    ok(gguf_u64(g, "qwen3.block_count", &u) && u == 5, "an unsigned value");
    ok(gguf_i64(g, "qwen3.block_count", &i) && i == 5, "converts to signed");
    ok(gguf_f64(g, "qwen3.rope.freq_base", &d) && d == 1e6, "a float value");
    ok(gguf_bool(g, "tokenizer.ggml.add_bos_token", &b) && !b, "a bool");
    ok(!gguf_u64(g, "general.architecture", &u), "a string is no number");
    ok(gguf_has(g, "general.architecture"), "but it is there");
    ok(!gguf_has(g, "general.nothing"), "an absent key is not");
    ok(!gguf_bool(g, "qwen3.block_count", &b), "a number is no bool");

    tokens = gguf_arr_str(g, "tokenizer.ggml.tokens", &n);
    ok(tokens && n == 3072 && span_is(tokens[3065], "<|im_end|>"),
       "an array of strings");
    ok(gguf_arr(g, "tokenizer.ggml.token_type", &elem, &n) && n == 3072 &&
           elem == GGUF_V_I32, "an array of numbers");
    ok(gguf_arr_i64(g, "tokenizer.ggml.token_type", types, 3072) &&
           types[0] == 1 && types[3065] == 3 && types[3071] == 4,
       "and its values");
    ok(!gguf_arr_i64(g, "tokenizer.ggml.token_type", types, 3071),
       "asked for with another length it says no");
    ok(!gguf_arr_str(g, "tokenizer.ggml.token_type", &n) && n == 0,
       "numbers are no strings");

    t = gguf_tensor_find(g, "blk.0.attn_q.weight");
    ok(t && t->type == GGUF_Q8_0 && t->n_dims == 2 && t->dims[0] == 256 &&
           t->dims[1] == 384 && t->dims[2] == 1 && t->dims[3] == 1,
       "shape of a matrix: 6 heads of 64 over width 256");
    is_int(t ? t->bytes : 0, 256 / 32 * 34 * 384, "its bytes");
    ok(t && (uintptr_t)t->data % 32 == 0, "its data is aligned");
    t = gguf_tensor_find(g, "output_norm.weight");
    ok(t && t->type == GGUF_F32 && t->n_dims == 1 && t->bytes == 1024,
       "a vector");
    ok(!gguf_tensor_find(g, "output.weight"), "embeddings are tied");
    is_int(gguf_tensor_count(g), 2 + 5 * 11, "number of tensors");
    is_int(gguf_file_bytes(g), 5472256, "size of the file");
    is_str(gguf_path(g), DEMO, "path of the file");
}

static void blocks(void)
{
    static const struct {
        enum gguf_type type;
        const char *name;
        uint32_t elems, bytes; /* ggml docs/gguf.md, ggml-common.h structs */
    } want[] = {
        {GGUF_F32, "F32", 1, 4},       {GGUF_F16, "F16", 1, 2},
        {GGUF_BF16, "BF16", 1, 2},     {GGUF_Q8_0, "Q8_0", 32, 34},
        {GGUF_Q4_0, "Q4_0", 32, 18},   {GGUF_Q4_K, "Q4_K", 256, 144},
        {GGUF_Q5_K, "Q5_K", 256, 176}, {GGUF_Q6_K, "Q6_K", 256, 210},
        {GGUF_Q4_1, "Q4_1", 32, 20},   {GGUF_Q5_0, "Q5_0", 32, 22},
        {GGUF_Q5_1, "Q5_1", 32, 24},   {GGUF_Q2_K, "Q2_K", 256, 84},
        {GGUF_Q3_K, "Q3_K", 256, 110}, {GGUF_MXFP4, "MXFP4", 32, 17},
        {GGUF_IQ4_NL, "IQ4_NL", 32, 18},
        {GGUF_IQ4_XS, "IQ4_XS", 256, 136},
    };

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        uint32_t elems, bytes;

        gguf_block(want[i].type, &elems, &bytes);
        ok(elems == want[i].elems && bytes == want[i].bytes, "%s block",
           want[i].name);
        is_str(gguf_type_name(want[i].type), want[i].name, "%s by name",
               want[i].name);
    }
}

int main(void)
{
    struct gguf *g, *again;
    struct err e;
    float scores[3];
    enum gguf_vtype elem;
    size_t n = 0;

    blocks();
    if (!ok(gguf_open(&g, DEMO, &e) == ST_OK, "the demo model opens"))
        return done();
    demo(g);
    ok(gguf_open(&again, DEMO, NULL) == ST_OK &&
           gguf_fingerprint(g) == gguf_fingerprint(again),
       "the same file has the same fingerprint");
    gguf_close(again);
    if (ok(gguf_open(&again, LLAMA, NULL) == ST_OK, "the llama file opens")) {
        ok(gguf_fingerprint(g) != gguf_fingerprint(again),
           "another file has another one");
        ok(gguf_arr(again, "tokenizer.ggml.scores", &elem, &n) &&
               elem == GGUF_V_F32, "scores are floats");
        ok(!gguf_arr_f32(again, "tokenizer.ggml.scores", scores, 3),
           "three of them are not all");
    }
    gguf_close(again);
    gguf_close(g);

    ok(gguf_open(&g, "t/data/absent.gguf", &e) == ST_IO && !g,
       "an absent file is an I/O error");
    is_str(e.where, "t/data/absent.gguf", "that names it");
    ok(gguf_open(&g, "t/unit", &e) == ST_IO && !g, "so is a folder");
    gguf_close(NULL);
    return done();
}
