/*
 * penstockd-scripted: the daemon over t/lib/scripted.h. Model file, tokenizer
 * and chat format are real; what the "model" writes comes from here:
 *
 *   PENSTOCK_SCRIPT        the text (its tokens are the script)
 *   PENSTOCK_SCRIPT_MARKUP any value: markers in it are control tokens
 *   PENSTOCK_SCRIPT_LOOP   any value: start over at its end
 *   PENSTOCK_GAP_US        from one token to the next, 0: at once
 *   PENSTOCK_PREFILL_US    from the start of a job to its first token
 *   PENSTOCK_FAIL_AFTER    the backend fails after so many tokens
 *   PENSTOCK_TOKEN_LOG     file that gets the time of each token, in
 *                          CLOCK_MONOTONIC microseconds, one per line
 */
#include "base/num.h"
#include "fcgi/wire.h"
#include "t/lib/scripted.h"
#include "text/tok.h"

static int64_t number(const char *name, int64_t otherwise)
{
    const char *s = getenv(name);
    int64_t v;

    return s && num_parse_i64(s, strlen(s), 0, INT32_MAX, &v) ? v : otherwise;
}

enum st wire_gen_open(struct gen **out, const struct gguf *g,
                      const struct tok *t, const struct conf *c,
                      struct memory *memory, struct err *e)
{
    const char *text = getenv("PENSTOCK_SCRIPT");
    struct scripted_config sc;
    struct ids ids;
    enum st st;

    (void)g;
    (void)memory;
    if (!text)
        text = "one two three four five six seven eight nine ten";
    ids_init(&ids, 1u << 16);
    st = tok_encode(t, getenv("PENSTOCK_SCRIPT_MARKUP") ? TOK_MARKUP
                                                        : TOK_CONTENT,
                    text, strlen(text), &ids, e);
    if (st) {
        ids_release(&ids);
        return st;
    }
    sc = (struct scripted_config){
        .ids = ids.p,
        .n = ids.n,
        .loop = getenv("PENSTOCK_SCRIPT_LOOP") != NULL,
        .per_token_us = number("PENSTOCK_GAP_US", 0),
        .prefill_us = number("PENSTOCK_PREFILL_US", 0),
        .fail_after = (int32_t)number("PENSTOCK_FAIL_AFTER", -1),
        .parallel = (int32_t)c->parallel,
        .max_queue = (int32_t)c->max_queue,
        .vocab = (int32_t)tok_count(t),
        .context = (int32_t)c->context,
        .token_log = getenv("PENSTOCK_TOKEN_LOG"),
    };
    *out = scripted_new(&sc);
    ids_release(&ids);
    return *out ? ST_OK : err_set(e, ST_NOMEM, "script", "no memory");
}
