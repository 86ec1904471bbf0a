/*
 * What a request holds is in the accounts from before its body is read until
 * it is over, and refused with figures when that would pass the peak.
 */
#include "t/lib/apit.h"

#include "api/hold.h"
#include "gram/grammar.h"

#define CHAT "/v1/chat/completions"
#define HELLO "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]%s}"
#define MIB ((size_t)1 << 20)

static struct memory memory;

static void counted(struct api_config *c)
{
    c->memory = &memory;
    c->default_max_tokens = 1000;
}

static size_t held(void)
{
    return atomic_load(&memory.bytes[MEM_REQUESTS]);
}

static const char *hello(const char *more)
{
    static char body[256];

    snprintf(body, sizeof(body), HELLO, more);
    return body;
}

static void is_busy(struct call *c, const char *why)
{
    struct arena a;
    const struct json *v = call_json(c, &a);
    const struct json *text = json_at(v, "error.message");
    char h[64];

    is_int(call_status(c), 503, "%s", why);
    ok(strtol(call_header(c, "Retry-After", h, sizeof(h)), NULL, 10) > 0,
       "... with Retry-After");
    ok(json_str_is(json_at(v, "error.type"), "server_busy"), "... busy");
    ok(text && strstr(text->str.s, "peak 64 MiB: "), "... in figures");
    is_str(row_get(c, "finish_reason", h, sizeof(h)), "refused",
           "... and in the ledger");
    arena_release(&a);
}

static void streams(struct apit *t)
{
    struct call c;
    char tokens[32];
    size_t waits, kept;

    scripted_hold(t->gen);
    call_start(&c, t, "POST", CHAT, hello(",\"stream\":true"), NULL);
    waits = held();
    ok(waits > HOLD_STREAM + 1000 * 12 && waits < HOLD_STREAM + 1100 * 12,
       "a waiting stream holds its ids and its events: %zu", waits);
    ok(waits < 64 << 10, "which are under 64 KiB");
    scripted_release(t->gen);
    call_finish(&c);
    is_int(call_status(&c), 200, "it is served");
    row_get(&c, "prompt_tokens", tokens, sizeof(tokens));
    is_int(waits, HOLD_STREAM + 1000 * 12 +
                      4 * (size_t)strtol(tokens, NULL, 10),
           "exactly those");
    call_release(&c);
    is_int(held(), 0, "and everything is given back");

    scripted_hold(t->gen);
    call_start(&c, t, "POST", "/v1/messages",
               "{\"max_tokens\":1000,\"stream\":true,\"messages\":"
               "[{\"role\":\"user\",\"content\":\"Hello\"}]}", NULL);
    kept = held();
    scripted_release(t->gen);
    call_finish(&c);
    row_get(&c, "prompt_tokens", tokens, sizeof(tokens));
    is_int(kept, HOLD_STREAM + 1000 * (12 + HOLD_TEXT) +
                      4 * (size_t)strtol(tokens, NULL, 10),
           "where the text is kept it counts, too");
    call_release(&c);
    is_int(held(), 0, "and is given back");

    scripted_hold(t->gen);
    call_start(&c, t, "POST", CHAT,
               hello(",\"stream\":true,\"structured_outputs\":"
                     "{\"regex\":\"a{500}\"}"),
               NULL);
    ok(held() > waits + 500 * sizeof(struct gram_state),
       "its grammar is among them: %zu", held() - waits);
    api_gone(&c.x);
    call_finish(&c);
    call_release(&c);
    scripted_release(t->gen);
    is_int(held(), 0, "and given back");

    scripted_hold(t->gen);
    call_start(&c, t, "POST", CHAT,
               hello(",\"n\":3,\"logprobs\":true,\"top_logprobs\":2"), NULL);
    ok(held() > HOLD_STREAM + 3 * 1000 * (12 + 4 + 16),
       "choices and alternatives count: %zu", held());
    api_gone(&c.x);
    call_finish(&c);
    call_release(&c);
    scripted_release(t->gen);
    is_int(held(), 0, "who leaves gives everything back");
    call_do(&c, t, CHAT, "{\"messages\":");
    is_int(held(), 0, "a broken body is given back at once");
    is_int(call_status(&c), 400, "as it always was");
    call_release(&c);
}

/* What is held for a waiting answer of /v1/responses. */
static size_t waits_for(struct apit *t, const char *body)
{
    struct call c;
    size_t n;

    scripted_hold(t->gen);
    call_start(&c, t, "POST", "/v1/responses", body, NULL);
    is_int(c.x.status, 0, "it waits");
    n = held();
    api_gone(&c.x);
    call_finish(&c);
    call_release(&c);
    scripted_release(t->gen);
    is_int(held(), 0, "and gives everything back");
    return n;
}

/* What the answer repeats, and log-probabilities that are kept to its end. */
static void repeated(struct apit *t)
{
    static const char more[] = "\"input\":\"Hi\",\"max_output_tokens\":500";
    static char words[60001], body[61000];
    size_t plain, long_one;

    memset(words, 'x', sizeof(words) - 1);
    snprintf(body, sizeof(body), "{%s,\"user\":\"x\"}", more);
    plain = waits_for(t, body);
    snprintf(body, sizeof(body), "{%s,\"user\":\"%s\"}", more, words);
    long_one = waits_for(t, body);
    ok(long_one >= plain + 59000 && long_one < plain + 140000,
       "what is repeated counts: %zu and %zu", plain, long_one);
    snprintf(body, sizeof(body),
             "{%s,\"top_logprobs\":5,"
             "\"include\":[\"message.output_text.logprobs\"]}", more);
    long_one = waits_for(t, body);
    ok(long_one > plain + 500 * 5 * 100 && long_one < plain + 500 * 5 * 300,
       "so do log-probabilities that are told again: %zu", long_one);
}

static void full(struct apit *t)
{
    struct call_opts big = {.declared = 1 << 20}, any = {.undeclared = true};
    struct call c;

    memory_set(&memory, MEM_KV, 40 * MIB);
    call_start(&c, t, "POST", CHAT, hello(""), &any);
    is_busy(&c, "no declared length stands for the longest");
    call_release(&c);
    call_start(&c, t, "POST", CHAT, hello(""), &big);
    is_busy(&c, "a declared length that does not fit");
    ok(c.x.body_unread, "... before it is read");
    is_int(held(), 0, "... holds nothing");
    call_release(&c);
    call_do(&c, t, CHAT, hello(""));
    is_int(call_status(&c), 200, "a small one does");
    call_release(&c);

    memory_set(&memory, MEM_KV, 64 * MIB);
    call_do(&c, t, CHAT, hello(""));
    is_busy(&c, "nothing is left for anybody");
    call_release(&c);
    call_do(&c, t, "/v1/models", NULL);
    is_int(call_status(&c), 200, "what has no body is served");
    call_release(&c);
    call_do(&c, t, "/health", NULL);
    is_int(call_status(&c), 200, "health too");
    call_release(&c);

    /* room for the body and one job, not for sixteen */
    memory_set(&memory, MEM_KV,
               64 * MIB - HOLD_ARENA - 200 * (HOLD_TREE + HOLD_COPIES) -
                   HOLD_STREAM - 60000);
    call_do(&c, t, CHAT, hello(",\"max_tokens\":4000"));
    is_int(call_status(&c), 200, "one answer fits");
    call_release(&c);
    call_do(&c, t, CHAT, hello(",\"n\":16,\"max_tokens\":4000"));
    is_busy(&c, "sixteen do not");
    call_release(&c);
    is_int(held(), 0, "and nothing is held at last");
    memory_set(&memory, MEM_KV, 0);
}

/* A body that is small on the wire only. */
static void dense(struct apit *t)
{
    size_t n = 200000;
    char *body = malloc(n + 64);
    struct call c;
    int head;

    head = snprintf(body, 64, "{\"messages\":[],\"x\":[0");
    for (size_t i = (size_t)head; i < n; i += 2)
        memcpy(body + i, ",0", 2);
    snprintf(body + n + head % 2, 8, "]}");
    call_do(&c, t, CHAT, body);
    is_int(call_status(&c), 400, "digits and commas are refused");
    ok(c.x.arena.used <= HOLD_ARENA + HOLD_TREE * strlen(body),
       "within what was counted for them: %zu", c.x.arena.used);
    call_release(&c);
    is_int(held(), 0, "and given back");
    free(body);
}

int main(void)
{
    struct scripted_config gen = {.fail_after = -1, .max_queue = 100,
                                  .context = 8192};
    const char *why = NULL;
    static int32_t ids[64];
    struct apit t;

    if (memory_init(&memory, 0, 64 * MIB, 0, NULL))
        return 1;
    gen.ids = ids;
    gen.n = apit_ids("one two<|im_end|>", ids, 64);
    if (!apit_open(&t, &gen, counted, &why))
        skip_all(why);
    streams(&t);
    repeated(&t);
    full(&t);
    dense(&t);
    apit_close(&t);
    return done();
}
