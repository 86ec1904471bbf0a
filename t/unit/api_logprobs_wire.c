/*
 * Log-probabilities through the api, on a script: calls, a failure in the
 * middle, a client that leaves. The script's ids are known, so the joined bytes
 * are too; the shapes are OpenAI's.
 */
#include "t/lib/apit.h"

#include <unistd.h>

static const char *const chat = "/v1/chat/completions";

#define CALL "so <tool_call><function=f></function></tool_call>"
#define TOOLS                                                                  \
    "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]"

static struct apit t;

static int64_t per_token_us; /* of the next script */

static void script(const char *text, bool loop, int32_t fail_after)
{
    static int32_t ids[512];
    struct scripted_config gen = {
        .ids = ids, .loop = loop, .fail_after = fail_after, .parallel = 16,
        .max_queue = 16, .context = 1 << 16, .per_token_us = per_token_us,
    };
    const char *why;

    gen.n = apit_ids(text, ids, 512);
    if (!apit_open(&t, &gen, NULL, &why)) {
        printf("1..0 # SKIP %s\n", why);
        exit(0);
    }
}

static const char *body(const char *more)
{
    static char out[1024];

    snprintf(out, sizeof(out),
             "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
             "\"reasoning_effort\":\"none\",\"logprobs\":true,%s}", more);
    return out;
}

/* Append the bytes of a choice's entries. */
static size_t add_entries(struct buf *b, const struct json *choice)
{
    const struct json *v = json_at(choice, "logprobs.content");
    size_t n = v ? v->n : 0;

    for (v = n ? v->child : NULL; v; v = v->next)
        for (const struct json *c = json_get(v, "bytes")->child; c;
             c = c->next)
            buf_putc(b, (char)c->i);
    return n;
}

/* What a stream told of; `*at_end`: how much of it in the finish chunk. */
static void streamed(struct buf *b, const char *more, size_t *at_end)
{
    struct joined j;
    struct call c;

    *at_end = 0;
    call_do(&c, &t, chat, body(more));
    join(&j, &c);
    for (size_t i = 0; i < j.n; i++) {
        const struct json *choice = json_at(j.chunk[i], "choices.0");
        const struct json *finish = json_get(choice, "finish_reason");
        size_t n = add_entries(b, choice);

        if (finish && finish->type == JSON_STR)
            *at_end = n;
    }
    join_release(&j);
    call_release(&c);
}

static void calls(void)
{
    struct call c;
    struct arena a;
    struct buf whole, stream;
    const struct json *choice;
    size_t at_end;

    script(CALL "<|im_end|>", false, -1);
    buf_init(&whole, BUF_EVENT);
    buf_init(&stream, BUF_EVENT);
    call_do(&c, &t, chat, body(TOOLS));
    choice = json_at(call_json(&c, &a), "choices.0");
    add_entries(&whole, choice);
    is_str(whole.p, CALL, "the tokens of a call have entries");
    ok(json_at(choice, "message.tool_calls.0") != NULL, "it is one");
    arena_release(&a);
    call_release(&c);
    streamed(&stream, TOOLS ",\"stream\":true", &at_end);
    is_str(stream.p, CALL, "the same streamed");
    buf_release(&whole);
    buf_release(&stream);
    apit_close(&t);
}

/* A stream whose tokens have all come before its first chunk is written. */
static void stream_at_once(struct call *c, struct joined *j, const char *more)
{
    struct gen_state s;

    scripted_hold(t.gen);
    call_start(c, &t, "POST", chat, more, NULL);
    scripted_release(t.gen);
    do {
        usleep(1000);
        t.gen->ops->state(t.gen, &s);
    } while (s.running || s.waiting);
    call_finish(c);
    join(j, c);
}

static const struct json *choice_of(const struct joined *j, size_t i)
{
    return json_at(j->chunk[i], "choices.0");
}

static bool is_null(const struct json *v)
{
    return v && v->type == JSON_NULL;
}

#define HI "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"           \
           "\"reasoning_effort\":\"low\",\"stream\":true"

/* Which chunks have entries: those of the text that they belong to. */
static void chunks(void)
{
    struct joined j;
    struct call c;
    struct buf b;
    size_t with = 0, bad = 0;

    script("hm</think>\n\nso<|im_end|>", false, -1);
    buf_init(&b, BUF_EVENT);
    stream_at_once(&c, &j, HI ",\"logprobs\":true,\"reasoning_format\":"
                   "\"reasoning_content\"}");
    ok(j.role_first && is_null(json_get(choice_of(&j, 0), "logprobs")),
       "the chunk of the role has none");
    for (size_t i = 0; i < j.n; i++) {
        const struct json *choice = choice_of(&j, i);
        size_t n = add_entries(&b, choice);
        const struct json *said = json_at(choice, "delta.content");

        with += n > 0;
        bad += n && !(said && said->type == JSON_STR && said->str.n);
    }
    is_str(b.p, "so", "the entries of the answer");
    ok(with == 1 && !bad, "come with it, not with the reasoning before it");
    join_release(&j);
    call_release(&c);

    bad = 0;
    stream_at_once(&c, &j, HI "}");
    for (size_t i = 0; i < j.n; i++)
        bad += choice_of(&j, i) &&
               !is_null(json_get(choice_of(&j, i), "logprobs"));
    ok(j.n > 2 && !bad, "nobody asked: null in every chunk");
    join_release(&j);
    call_release(&c);
    buf_release(&b);
    apit_close(&t);
}

/* As a model writes: the call is told while it grows, its last marker with
 * the finish. */
static void paced(void)
{
    static int32_t ids[64];
    struct buf b;
    size_t at_end, all = apit_ids(CALL, ids, 64), so = apit_ids("so ", ids, 64);

    per_token_us = 5000;
    script(CALL "<|im_end|>", false, -1);
    per_token_us = 0;
    buf_init(&b, BUF_EVENT);
    streamed(&b, TOOLS ",\"stream\":true", &at_end);
    is_str(b.p, CALL, "token by token: all entries");
    ok(at_end < all - so, "no more than the rest in the finish chunk (%zu)",
       at_end);
    buf_release(&b);
    apit_close(&t);
}

/* "nine" waits for "nine lives" when the generation fails. */
static void failure(void)
{
    struct buf b;
    size_t at_end;

    script("one nine", false, (int32_t)apit_ids("one nine", (int32_t[16]){0},
                                                16));
    buf_init(&b, BUF_EVENT);
    streamed(&b, "\"stream\":true,\"stop\":\"nine lives\"", &at_end);
    is_str(b.p, "one nine", "a failure: what is told has its entries");
    ok(at_end == 0, "they went with the text");
    buf_release(&b);
    apit_close(&t);
}

static void leaves(void)
{
    struct call c;

    script("word", true, -1);
    scripted_hold(t.gen);
    call_start(&c, &t, "POST", chat,
               body("\"stream\":true,\"max_tokens\":40,\"top_logprobs\":5"),
               NULL);
    api_gone(&c.x);
    scripted_release(t.gen);
    call_finish(&c);
    is_int(c.state, X_FAILED, "a client that left gets nothing");
    call_release(&c);
    apit_close(&t);
}

int main(void)
{
    calls();
    chunks();
    paced();
    failure();
    leaves();
    return done();
}
