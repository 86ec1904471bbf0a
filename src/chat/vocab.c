#include "chat/vocab.h"

#include <math.h>

#define KEY(name) "tokenizer.ggml." name

/*
 * Names of pre-tokenizers in GGUF files, and ours for the same rules. Source:
 * the names that llama.cpp's converter writes (convert_hf_to_gguf.py).
 */
static const struct {
    const char *name, *pre;
} pres[] = {
    {"default", "default"},    {"gpt2", "gpt2"},
    {"gpt-2", "gpt2"},         {"llama-bpe", "llama-bpe"},
    {"llama3", "llama-bpe"},   {"llama-v3", "llama-bpe"},
    {"qwen2", "qwen2"},        {"deepseek-r1-qwen", "qwen2"},
};

/*
 * Control tokens that end an answer by what they are called, for files whose
 * metadata names only one of several. Source: the list of end-of-generation
 * texts in llama.cpp's vocabulary loader; there a token of any type counts,
 * here it must be a control token, or ordinary text could end an answer.
 */
static const char *const stop_names[] = {
    "<|im_end|>",     "<|endoftext|>",  "<|end|>",
    "<|eot_id|>",     "<|eom_id|>",     "<|end_of_text|>",
    "<end_of_turn>",  "<EOT>",          "_<EOT>",
    "<|return|>",     "<|call|>",       "<end_of_utterance>",
    "</s>",           "<eos>",
};

static const char *const stop_keys[] = {
    KEY("eos_token_id"),     KEY("eot_token_id"),     KEY("eom_token_id"),
    KEY("fim_pad_token_id"), KEY("fim_rep_token_id"), KEY("fim_sep_token_id"),
};

/* *id = -1 when the key is absent. */
static enum st id_get(const struct gguf *g, const char *key, size_t n_tokens,
                      int64_t *id, struct err *e)
{
    *id = -1;
    if (!gguf_has(g, key))
        return ST_OK;
    if (!gguf_i64(g, key, id) || *id < 0 || (uint64_t)*id >= n_tokens)
        return err_set(e, ST_FORMAT, key,
                       "must be a token id from 0 to %zu, the last of the "
                       "vocabulary", n_tokens - 1);
    return ST_OK;
}

/* A bool that may be absent; a value of another type is a fault. */
static enum st bool_get(const struct gguf *g, const char *key, bool *out,
                        struct err *e)
{
    if (gguf_has(g, key) && !gguf_bool(g, key, out))
        return err_set(e, ST_FORMAT, key, "must be true or false");
    return ST_OK;
}

static enum st model_get(const struct gguf *g, struct tok_spec *spec,
                         struct err *e)
{
    const char *key = KEY("model");
    struct span s;

    if (!gguf_str(g, key, &s))
        return err_set(e, ST_FORMAT, key,
                       "the file names no tokenizer: 'gpt2' (byte-level BPE) "
                       "and 'llama' (SPM) are accepted");
    if (span_is(s, "gpt2"))
        spec->model = TOK_BPE;
    else if (span_is(s, "llama"))
        spec->model = TOK_SPM;
    else
        return err_set(e, ST_UNSUPPORTED, key,
                       "tokenizer '%.*s' is not supported: 'gpt2' (byte-level "
                       "BPE) and 'llama' (SPM) are", s.n < 40 ? (int)s.n : 40,
                       s.s);
    return ST_OK;
}

static enum st pre_get(const struct gguf *g, struct tok_spec *spec,
                       struct err *e)
{
    const char *key = KEY("pre");
    struct span s;

    spec->pre = "default";
    if (spec->model != TOK_BPE || !gguf_has(g, key))
        return ST_OK;
    if (!gguf_str(g, key, &s))
        return err_set(e, ST_FORMAT, key, "must be a string");
    for (size_t i = 0; i < sizeof(pres) / sizeof(pres[0]); i++)
        if (span_is(s, pres[i].name)) {
            spec->pre = pres[i].pre;
            return ST_OK;
        }
    return err_set(e, ST_UNSUPPORTED, key,
                   "pre-tokenizer '%.*s' is not supported: default, gpt-2, "
                   "llama-bpe and qwen2 are", s.n < 40 ? (int)s.n : 40, s.s);
}

static enum st types_get(const struct gguf *g, int64_t *types, size_t n,
                         struct err *e)
{
    const char *key = KEY("token_type");

    if (!gguf_arr_i64(g, key, types, n))
        return err_set(e, ST_FORMAT, key,
                       "must be a list of %zu integers, one per token", n);
    for (size_t i = 0; i < n; i++) {
        if (types[i] < 0 || types[i] > TOK_BYTE)
            return err_set(e, ST_FORMAT, key,
                           "token %zu has type %lld; 0 to 6 exist", i,
                           (long long)types[i]);
        if (types[i] == 0) /* "undefined" in the format */
            types[i] = TOK_NORMAL;
    }
    return ST_OK;
}

static enum st scores_get(const struct gguf *g, float *scores, size_t n,
                          struct err *e)
{
    const char *key = KEY("scores");

    if (!gguf_arr_f32(g, key, scores, n))
        return err_set(e, ST_FORMAT, key,
                       "must be a list of %zu numbers, one per token", n);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(scores[i]))
            return err_set(e, ST_FORMAT, key, "the score of token %zu is not "
                           "a finite number", i);
    return ST_OK;
}

static enum st specials_get(const struct gguf *g, struct tok_spec *spec,
                            struct err *e)
{
    bool llama3 = strcmp(spec->pre, "llama-bpe") == 0;
    size_t n = spec->n_tokens;
    enum st st;

    /* what llama.cpp assumes for a file that does not say */
    spec->add_bos = spec->model == TOK_SPM || llama3;
    spec->add_space_prefix = spec->model == TOK_SPM;
    spec->ignore_merges = llama3;
    st = id_get(g, KEY("bos_token_id"), n, &spec->bos, e);
    if (!st)
        st = id_get(g, KEY("eos_token_id"), n, &spec->eos, e);
    if (!st)
        st = id_get(g, KEY("unknown_token_id"), n, &spec->unk, e);
    if (!st)
        st = id_get(g, KEY("padding_token_id"), n, &spec->pad, e);
    if (!st)
        st = bool_get(g, KEY("add_bos_token"), &spec->add_bos, e);
    if (!st)
        st = bool_get(g, KEY("add_space_prefix"), &spec->add_space_prefix, e);
    if (spec->bos < 0)
        spec->add_bos = false;
    return st;
}

static enum st tables_get(const struct gguf *g, struct tok_spec *spec,
                          struct err *e)
{
    spec->tokens = gguf_arr_str(g, KEY("tokens"), &spec->n_tokens);
    if (!spec->tokens || !spec->n_tokens)
        return err_set(e, ST_FORMAT, KEY("tokens"),
                       "must be a list of strings with at least one token");
    if (spec->model != TOK_BPE)
        return ST_OK;
    spec->merges = gguf_arr_str(g, KEY("merges"), &spec->n_merges);
    if (!spec->merges)
        return err_set(e, ST_FORMAT, KEY("merges"),
                       "must be a list of strings");
    return ST_OK;
}

enum st vocab_open(struct tok **out, const struct gguf *g, struct err *e)
{
    struct tok_spec spec = {0};
    int64_t *types = NULL;
    float *scores = NULL;
    enum st st;

    *out = NULL;
    st = model_get(g, &spec, e);
    if (!st)
        st = pre_get(g, &spec, e);
    if (!st)
        st = tables_get(g, &spec, e);
    if (!st)
        st = specials_get(g, &spec, e);
    if (st)
        return st;
    types = mem_try_array(spec.n_tokens, sizeof(*types));
    scores = mem_try_array(spec.n_tokens, sizeof(*scores));
    if (!types || !scores)
        st = err_set(e, ST_NOMEM, KEY("tokens"), "no memory for %zu tokens",
                     spec.n_tokens);
    if (!st && gguf_has(g, KEY("token_type"))) {
        st = types_get(g, types, spec.n_tokens, e);
        spec.types = types;
    }
    if (!st && spec.model == TOK_SPM) {
        st = scores_get(g, scores, spec.n_tokens, e);
        spec.scores = scores;
    }
    if (!st)
        st = tok_new(out, &spec, e); /* copies its tables */
    free(types);
    free(scores);
    return st;
}

static void add_once(struct ids *out, int64_t id)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->p[i] == id)
            return;
    ids_add(out, (int32_t)id);
}

enum st vocab_stop_ids(const struct gguf *g, const struct tok *t,
                       struct ids *out, struct err *e)
{
    for (size_t i = 0; i < sizeof(stop_keys) / sizeof(stop_keys[0]); i++) {
        int64_t id;
        enum st st = id_get(g, stop_keys[i], tok_count(t), &id, e);

        if (st)
            return st;
        if (id >= 0)
            add_once(out, id);
    }
    for (size_t i = 0; i < sizeof(stop_names) / sizeof(stop_names[0]); i++) {
        int32_t id = tok_find(t, stop_names[i], strlen(stop_names[i]));

        if (id >= 0 && tok_type_of(t, id) == TOK_CONTROL)
            add_once(out, id);
    }
    if (out->failed)
        return err_set(e, ST_LIMIT, KEY("eos_token_id"),
                       "more than %zu tokens end an answer", out->max);
    return ST_OK;
}
