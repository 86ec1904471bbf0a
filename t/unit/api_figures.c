/*
 * What a request cost, as an answer tells it: the members in their order, and
 * each figure against the others. Definitions: spec tandem.md section 8.
 */
#include "t/lib/apit.h"

#define EARLY_US 300000 /* the head of the request came before its body */

static const char *const timings[] = {
    "cache_n", "prompt_n", "prompt_ms", "prompt_per_token_ms",
    "prompt_per_second", "predicted_n", "predicted_ms",
    "predicted_per_token_ms", "predicted_per_second", "draft_n",
    "draft_n_accepted", "ttft_ms", "queue_ms", "total_ms", "blocks",
    "tokens_per_block", "reasoning_n", "cache_source", NULL,
};
static const char *const metrics[] = {
    "time_to_first_token_ms", "generation_time_ms", "queue_time_ms",
    "mean_itl_ms", "tokens_per_second", "speculative_decoding", NULL,
};

static const struct json *answer; /* the one that is looked at */

static void in_order(const char *name, const char *const *keys)
{
    const struct json *o = json_get(answer, name), *v = o ? o->child : NULL;
    size_t i = 0;

    for (; v && keys[i]; v = v->next, i++)
        ok(v->key.n == strlen(keys[i]) && !memcmp(v->key.s, keys[i], v->key.n),
           "%s: member %zu is %s", name, i, keys[i]);
    ok(!v && !keys[i], "%s: these members and no others", name);
}

static double at(const char *path)
{
    const struct json *v = json_at(answer, path);

    return v && v->type == JSON_NUM ? v->d : -1;
}

/* Two figures of two decimals each, one computed from others. */
static void same(const char *path, double want, double by)
{
    double got = at(path);

    ok(got >= want - by && got <= want + by, "%s is %.2f (%.2f)", path, want,
       got);
}

static void figures(void)
{
    double n = at("usage.completion_tokens"), prompt, decode, total;

    in_order("timings", timings);
    in_order("metrics", metrics);
    prompt = at("timings.prompt_ms");
    decode = at("timings.predicted_ms");
    total = at("timings.total_ms");
    ok(prompt >= 20 && decode >= 2 * (n - 1) - 1 && n > 8,
       "a prompt and %d tokens that took their time", (int)n);
    same("timings.cache_n", at("usage.prompt_tokens_details.cached_tokens"),
         0);
    same("timings.prompt_n",
         at("usage.prompt_tokens") - at("timings.cache_n"), 0);
    same("timings.prompt_per_token_ms", prompt / at("timings.prompt_n"), 0.02);
    same("timings.prompt_per_second", at("timings.prompt_n") * 1000 / prompt,
         1);
    same("timings.predicted_n", n, 0);
    same("timings.blocks", n - 1, 0);
    same("timings.predicted_per_token_ms", decode / (n - 1), 0.02);
    same("timings.predicted_per_second", (n - 1) * 1000 / decode, 1);
    same("timings.tokens_per_block", 1, 0);
    same("timings.reasoning_n",
         at("usage.completion_tokens_details.reasoning_tokens"), 0);
    ok(at("timings.queue_ms") >= EARLY_US / 1000.0,
       "the queue begins when the request arrives");
    same("timings.ttft_ms", at("timings.queue_ms") + prompt, 0.005);
    ok(total >= at("timings.ttft_ms") + decode - 1,
       "all of it takes longer than its parts");
    same("metrics.time_to_first_token_ms", at("timings.ttft_ms"), 0);
    same("metrics.generation_time_ms", decode, 0);
    same("metrics.queue_time_ms", at("timings.queue_ms"), 0);
    same("metrics.mean_itl_ms", decode / (n - 1), 0.02);
    same("metrics.tokens_per_second", n * 1000 / total, 1);
}

static void think(struct api_config *c)
{
    c->think_default = true;
}

int main(void)
{
    static const char *const more[] = {
        "", ",\"stream\":true",
        ",\"stream\":true,\"stream_options\":{\"include_usage\":true}",
    };
    int32_t ids[64];
    struct scripted_config gen = {.ids = ids, .fail_after = -1,
                                  .context = 512, .cached = 3,
                                  .per_token_us = 2000, .prefill_us = 20000};
    const struct call_opts early = {.waited_us = EARLY_US};
    const char *why;
    struct apit t;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    gen.n = apit_ids("one two three</think>\n\nfour five six<|im_end|>", ids,
                     64);
    apit_open(&t, &gen, think, &why);
    for (size_t i = 0; i < 3; i++) {
        char json[256], h[64];
        struct joined j;
        struct arena a;
        struct call c;

        snprintf(json, sizeof(json), "{\"messages\":[{\"role\":\"user\","
                                     "\"content\":\"Hi\"}]%s}", more[i]);
        call_start(&c, &t, "POST", "/v1/chat/completions", json, &early);
        call_finish(&c);
        if (i) {
            join(&j, &c);
            answer = j.chunk[j.n - 1];
        } else {
            answer = call_json(&c, &a);
        }
        figures();
        is_str(row_get(&c, "(queue_ms >= 300) || ' ' || (total_ms >= 300)", h,
                       sizeof(h)), "1 1", "its row begins at the same time");
        if (i)
            join_release(&j);
        else
            arena_release(&a);
        call_release(&c);
    }
    apit_close(&t);
    return done();
}
