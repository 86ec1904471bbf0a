/*
 * Chat and completions against a scripted gen: shapes, framing, usage,
 * stops, cut characters, choices. Cases of the field are named.
 */
#include "base/thread.h"
#include "t/lib/apit.h"

static const char *const chat = "/v1/chat/completions";
static const char *const text = "/v1/completions";

/* A chat whose answer is forced; `more` starts with a comma or is empty. */
static const char *forced(char *out, size_t cap, const char *answer,
                          const char *more)
{
    snprintf(out, cap,
             "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
             "\"structured_outputs\":{\"choice\":[\"%s\"]}%s}",
             answer, more);
    return out;
}

static const char *forced_text(char *out, size_t cap, const char *answer,
                               const char *more)
{
    snprintf(out, cap,
             "{\"prompt\":\"Hi\","
             "\"structured_outputs\":{\"choice\":[\"%s\"]}%s}",
             answer, more);
    return out;
}

/* What every complete stream must be (cases C07, C09, C10). */
static void is_stream(struct joined *j, const char *finish, const char *what)
{
    ok(j->framing, "%s: only data and comment lines", what);
    ok(j->utf8, "%s: every delta is whole characters", what);
    ok(j->one_id, "%s: one id", what);
    ok(j->finish_key, "%s: every chunk has finish_reason", what);
    is_int(j->finishes, 1, "%s: one finish reason", what);
    is_str(j->finish, finish, "%s: it is the right one", what);
    is_int(j->dones, 1, "%s: [DONE] once", what);
    ok(!strstr(j->content.p, "\xef\xbf\xbd"), "%s: no U+FFFD", what);
}

static void usage_adds_up(const struct json *u, const char *what)
{
    ok(u && json_int(json_get(u, "prompt_tokens")) > 0 &&
           json_int(json_get(u, "prompt_tokens")) +
                   json_int(json_get(u, "completion_tokens")) ==
               json_int(json_get(u, "total_tokens")) &&
           json_int(json_at(u, "prompt_tokens_details.cached_tokens")) >= 0 &&
           json_int(json_at(u, "completion_tokens_details."
                               "reasoning_tokens")) >= 0,
       "%s: usage adds up", what);
}

/* A figure of the timings, in hundredths of a millisecond. */
static int64_t cms_at(const struct json *v, const char *name)
{
    const struct json *ms = json_get(json_get(v, "timings"), name);

    return ms && ms->type == JSON_NUM ? (int64_t)(ms->d * 100 + 0.5) : -1;
}

static void shapes(struct apit *t)
{
    char body[1024], h[128];
    struct joined j;
    struct call c;
    struct arena a;
    const struct json *v, *k;
    static const char *const order[] = {
        "id", "object", "created", "model", "system_fingerprint", "usage",
        "choices", "timings", "metrics"};
    size_t i = 0;

    call_do(&c, t, chat, forced(body, sizeof(body), "Hello there",
                                ",\"stream\":true"));
    join(&j, &c);
    is_stream(&j, "stop", "a stream");
    is_str(call_header(&c, "Content-Type", h, sizeof(h)),
           "text/event-stream; charset=utf-8", "a stream: its type");
    is_str(call_header(&c, "X-Accel-Buffering", h, sizeof(h)), "no",
           "a stream: unbuffered");
    is_str(call_header(&c, "Cache-Control", h, sizeof(h)), "no-cache",
           "a stream: not cached");
    is_str(call_header(&c, "Content-Length", h, sizeof(h)), "",
           "a stream: of no known length");
    ok(strncmp(c.out.p, "Status: 200 OK\r\n", 16) == 0,
       "a stream: the status has a reason");
    ok(j.role_first, "the role comes first");
    ok(json_str_is(json_at(j.chunk[0], "choices.0.delta.content"), ""),
       "the role's chunk has an empty content");
    ok(json_at(j.chunk[j.n - 1], "timings.predicted_n") &&
           json_at(j.chunk[j.n - 1], "metrics.tokens_per_second"),
       "timings and metrics come with the usage");
    ok(strncmp(json_get(j.chunk[0], "id")->str.s, "chatcmpl-", 9) == 0 &&
           json_get(j.chunk[0], "id")->str.n == 33,
       "the id is chatcmpl- and 24 digits");
    ok(json_str_is(json_get(j.chunk[0], "object"), "chat.completion.chunk"),
       "chunk object");
    ok(json_str_is(json_get(j.chunk[0], "system_fingerprint"),
                   "fp_scripted"),
       "fingerprint");
    is_str(j.content.p, "Hello there", "the text");
    join_release(&j);
    is_str(row_get(&c, "state || ' ' || status || ' ' || finish_reason || "
                       "' ' || stream", h, sizeof(h)),
           "done 200 stop 1", "its row");
    call_release(&c);

    call_do(&c, t, chat, forced(body, sizeof(body), "Hello there", ""));
    v = call_json(&c, &a);
    is_int(call_status(&c), 200, "JSON: 200");
    is_str(call_header(&c, "Content-Type", h, sizeof(h)), "application/json",
           "JSON: its type");
    is_int(strtol(call_header(&c, "Content-Length", h, sizeof(h)), NULL, 10),
           (long)strlen(call_body(&c)), "JSON: its length");
    for (k = v ? v->child : NULL; k && i < 9; k = k->next, i++)
        ok(k->key.n == strlen(order[i]) &&
               memcmp(k->key.s, order[i], k->key.n) == 0,
           "JSON: key %zu is %s", i, order[i]);
    ok(json_str_is(json_get(v, "object"), "chat.completion"), "JSON: object");
    ok(json_str_is(json_get(v, "model"), "demo"), "JSON: the model's name");
    ok(json_int(json_get(v, "created")) <= epoch_ms() / 1000 &&
           json_int(json_get(v, "created")) > epoch_ms() / 1000 - 60,
       "JSON: created when it arrived, in seconds");
    ok(json_str_is(json_at(v, "choices.0.message.content"), "Hello there"),
       "JSON: content");
    ok(json_str_is(json_at(v, "choices.0.message.role"), "assistant"),
       "JSON: role");
    ok(json_at(v, "choices.0.logprobs") &&
           json_at(v, "choices.0.logprobs")->type == JSON_NULL,
       "JSON: logprobs is null");
    ok(json_at(v, "choices.0.message.refusal") &&
           json_at(v, "choices.0.message.refusal")->type == JSON_NULL,
       "JSON: refusal is null");
    ok(cms_at(v, "queue_ms") > 0 &&
           cms_at(v, "ttft_ms") == cms_at(v, "queue_ms") +
                                       cms_at(v, "prompt_ms"),
       "JSON: until the first token it waited, then read the prompt");
    ok(json_str_is(json_at(v, "choices.0.finish_reason"), "stop"),
       "JSON: finish");
    usage_adds_up(json_get(v, "usage"), "JSON");
    ok(json_at(v, "metrics.speculative_decoding.draft_acceptance_rate"),
       "JSON: metrics tell of speculation");
    arena_release(&a);
    call_release(&c);

    call_do(&c, t, text, forced_text(body, sizeof(body), "Hello", ""));
    v = call_json(&c, &a);
    ok(json_str_is(json_get(v, "object"), "text_completion") &&
           json_str_is(json_at(v, "choices.0.text"), "Hello") &&
           strncmp(json_get(v, "id")->str.s, "cmpl-", 5) == 0,
       "completions: the shape");
    arena_release(&a);
    call_release(&c);
    call_do(&c, t, text, forced_text(body, sizeof(body), "Hello",
                                     ",\"stream\":true"));
    join(&j, &c);
    is_stream(&j, "stop", "completions");
    for (i = 0; i < j.n; i++)
        ok(json_str_is(json_get(j.chunk[i], "object"), "text_completion") &&
               json_at(j.chunk[i], "choices.0.text") &&
               !json_at(j.chunk[i], "choices.0.delta"),
           "completions: chunk %zu has text and no role", i);
    join_release(&j);
    call_release(&c);
    call_do(&c, t, text, "{\"prompt\":[\"a\",\"b\"],\"stream\":true}");
    is_int(call_status(&c), 400, "completions: one prompt in a stream");
    call_release(&c);
    call_do(&c, t, text, "{\"prompt\":[1,2000000000]}");
    ok(strstr(call_body(&c), "token id 2000000000 is not"),
       "completions: the id that is wrong is named");
    call_release(&c);
    call_do(&c, t, text,
            forced_text(body, sizeof(body), "x", "") /* reused below */);
    call_release(&c);
    call_do(&c, t, text, "{\"prompt\":[\"a\",\"b\"],\"max_tokens\":2}");
    v = call_json(&c, &a);
    ok(json_at(v, "choices.1.text") && !json_at(v, "choices.2"),
       "completions: two prompts, two choices");
    arena_release(&a);
    call_release(&c);
}

static void usage_places(struct apit *t)
{
    static const struct {
        const char *options;
        int usages;
        bool own_chunk;
    } want[] = {
        {"", 1, false},
        {",\"stream_options\":{}", 1, false},
        {",\"stream_options\":{\"include_usage\":false}", 0, false},
        {",\"stream_options\":{\"include_usage\":true}", 1, true},
    };
    char body[1024], more[256];
    struct joined j;
    struct call c;

    for (size_t i = 0; i < 4; i++) {
        const struct json *last, *list;
        size_t nulls = 0;

        snprintf(more, sizeof(more), ",\"stream\":true%s", want[i].options);
        call_do(&c, t, chat, forced(body, sizeof(body), "One two", more));
        join(&j, &c);
        is_stream(&j, "stop", "case C08");
        is_int(j.usages, want[i].usages, "case C08 %zu: usage objects", i);
        last = j.chunk[j.n - 1];
        list = json_get(last, "choices");
        if (want[i].usages) {
            usage_adds_up(j.usage, "case C08");
            is_int(j.usage_at, j.n - 1, "case C08: in the last chunk");
        }
        for (size_t k = 0; k + 1 < j.n; k++)
            nulls += json_get(j.chunk[k], "usage") != NULL;
        is_int(nulls, want[i].own_chunk ? j.n - 1 : 0,
               "case C08 %zu: null in the others when it has its own", i);
        is_int(list ? (intmax_t)list->n : -1, want[i].own_chunk ? 0 : 1,
               "case C08 %zu: choices of the last chunk", i);
        join_release(&j);
        call_release(&c);
    }
}

/* The setting usage-default off: usage is there for those who ask. */
static void usage_off(struct apit *t)
{
    static const struct {
        const char *options;
        int usages;
    } want[] = {
        {"", 0},
        {",\"stream_options\":{}", 0},
        {",\"stream_options\":{\"include_usage\":false}", 0},
        {",\"stream_options\":{\"include_usage\":true}", 1},
    };
    char body[1024], more[256];
    struct joined j;
    struct call c;

    for (size_t i = 0; i < 4; i++) {
        snprintf(more, sizeof(more), ",\"stream\":true%s", want[i].options);
        call_do(&c, t, chat, forced(body, sizeof(body), "One two", more));
        join(&j, &c);
        is_int(j.usages, want[i].usages, "usage-default off: '%s'",
               want[i].options);
        join_release(&j);
        call_release(&c);
    }
}

static void characters(struct apit *t)
{
    static const char *const mixed = "Hi 👩🏽‍🚀 żółw 漢字";
    char body[2048], many[256] = "", more[64];
    struct joined j;
    struct call c;
    struct arena a;

    call_do(&c, t, chat, forced(body, sizeof(body), mixed,
                                ",\"stream\":true"));
    join(&j, &c);
    is_stream(&j, "stop", "case C05");
    is_str(j.content.p, mixed, "case C05: streamed");
    join_release(&j);
    call_release(&c);
    call_do(&c, t, chat, forced(body, sizeof(body), mixed, ""));
    ok(json_str_is(json_at(call_json(&c, &a), "choices.0.message.content"),
                   mixed),
       "case C05: whole");
    arena_release(&a);
    call_release(&c);

    for (int i = 0; i < 64; i++)
        memcpy(many + 3 * i, "漢", 4);
    for (int n = 1; n <= 12; n++) {
        char whole[512];
        const struct json *v, *u;

        snprintf(more, sizeof(more), ",\"stream\":true,\"max_tokens\":%d", n);
        call_do(&c, t, chat, forced(body, sizeof(body), many, more));
        join(&j, &c);
        is_str(j.finish, "length", "case C06 %d: length", n);
        ok(j.utf8 && j.framing && strncmp(many, j.content.p, j.content.n) == 0
               && j.content.n % 3 == 0,
           "case C06 %d: whole characters", n);
        is_int(json_int(json_get(j.usage, "completion_tokens")), n,
               "case C06 %d: every token counts", n);
        snprintf(whole, sizeof(whole), "%s", j.content.p);
        join_release(&j);
        call_release(&c);
        snprintf(more, sizeof(more), ",\"max_tokens\":%d", n);
        call_do(&c, t, chat, forced(body, sizeof(body), many, more));
        v = call_json(&c, &a);
        u = json_get(v, "usage");
        ok(json_str_is(json_at(v, "choices.0.message.content"), whole) &&
               json_int(json_get(u, "completion_tokens")) == n,
           "case C06 %d: the same without stream", n);
        arena_release(&a);
        call_release(&c);
    }
}

static void stops(struct apit *t)
{
    static const char *const fox = "The quick brown fox jumps";
    char body[1024], h[64];
    int64_t tokens[2];
    const struct json *v;
    struct joined j;
    struct call c;
    struct arena a;

    for (int k = 0; k < 2; k++) {
        const char *stop = k ? ",\"stop\":[\"own cat\"]"
                             : ",\"stop\":[\"own fox\"]";
        const char *want = k ? fox : "The quick br";
        char more[128];

        snprintf(more, sizeof(more), "%s,\"stream\":true", stop);
        call_do(&c, t, chat, forced(body, sizeof(body), fox, more));
        join(&j, &c);
        is_stream(&j, "stop", "case C11");
        is_str(j.content.p, want, "case C11: chat, streamed");
        join_release(&j);
        is_str(row_get(&c, "finish_reason", h, sizeof(h)), "stop",
               "case C11: row");
        call_release(&c);
        call_do(&c, t, chat, forced(body, sizeof(body), fox, stop));
        v = call_json(&c, &a);
        ok(json_str_is(json_at(v, "choices.0.message.content"), want),
           "case C11: chat, whole");
        tokens[k] = json_int(json_at(v, "usage.completion_tokens"));
        arena_release(&a);
        call_release(&c);
        call_do(&c, t, text, forced_text(body, sizeof(body), fox, more));
        join(&j, &c);
        is_str(j.content.p, want, "case C11: completions, streamed");
        join_release(&j);
        call_release(&c);
        call_do(&c, t, text, forced_text(body, sizeof(body), fox, stop));
        ok(json_str_is(json_at(call_json(&c, &a), "choices.0.text"), want),
           "case C11: completions, whole");
        arena_release(&a);
        call_release(&c);
    }
    ok(tokens[0] > 0 && tokens[0] < tokens[1],
       "case C11: what came behind the stop is not counted");
}

/* C10's three endings, by the script: it loops over "one two ... <|im_end|>". */
static void endings(struct apit *t)
{
    static const struct {
        const char *more, *finish;
    } ends[] = {{"", "stop"},
                {",\"stop\":\"two\"", "stop"},
                {",\"max_tokens\":2", "length"}};
    char body[512];
    struct joined j;
    struct call c;

    for (size_t i = 0; i < 3; i++) {
        snprintf(body, sizeof(body),
                 "{\"stream\":true,\"reasoning_effort\":\"none\","
                 "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]%s}",
                 ends[i].more);
        call_do(&c, t, chat, body);
        join(&j, &c);
        is_stream(&j, ends[i].finish, "case C10");
        ok(j.role_first, "case C10: the role comes first");
        ok(!strstr(j.content.p, "im_end"), "case C10: no marker in the text");
        join_release(&j);
        call_release(&c);
    }
}

static void reasoning(struct apit *t)
{
    static const char *const think =
        "{%s\"reasoning_effort\":\"high\",\"max_tokens\":3,"
        "\"messages\":[{\"role\":\"user\",\"content\":\"Title?\"}]}";
    char body[512], h[64];
    struct joined j;
    struct call c;
    struct arena a;
    const struct json *v;

    snprintf(body, sizeof(body), think, "\"stream\":true,");
    call_do(&c, t, chat, body);
    join(&j, &c);
    is_stream(&j, "length", "case C30");
    is_str(j.content.p, "", "case C30: no content");
    ok(j.reasoning.n > 0, "case C30: all of it is reasoning");
    is_int(json_int(json_at(j.usage, "completion_tokens_details."
                                     "reasoning_tokens")),
           3, "case C30: usage says so");
    snprintf(body, sizeof(body), think, "");
    is_str(row_get(&c, "reasoning_tokens || ' ' || thinking", h, sizeof(h)),
           "3 1", "case C30: the row says so");
    call_release(&c);
    call_do(&c, t, chat, body);
    v = call_json(&c, &a);
    ok(json_str_is(json_at(v, "choices.0.message.content"), "") &&
           json_str_is(json_at(v, "choices.0.message.reasoning_content"),
                       j.reasoning.p) &&
           json_str_is(json_at(v, "choices.0.finish_reason"), "length"),
       "case C30: the same without stream");
    arena_release(&a);
    join_release(&j);
    call_release(&c);

    call_do(&c, t, chat, forced(body, sizeof(body), "Hello there", ""));
    v = call_json(&c, &a);
    ok(json_str_is(json_at(v, "choices.0.message.content"), "Hello there") &&
           !json_at(v, "choices.0.message.reasoning_content"),
       "a forced answer leaves nothing to think about");
    arena_release(&a);
    call_release(&c);
}

static void context(struct apit *t)
{
    char *body = mem_zalloc(8192), h[64];
    struct call c;
    struct arena a;
    const struct json *v;

    for (int stream = 0; stream < 2; stream++) {
        size_t n = (size_t)snprintf(
            body, 8192, "{\"stream\":%s,\"messages\":[{\"role\":\"user\","
                        "\"content\":\"", stream ? "true" : "false");

        for (int i = 0; i < 700; i++)
            n += (size_t)snprintf(body + n, 8192 - n, " %d", i % 10);
        snprintf(body + n, 8192 - n, "\"}]}");
        call_do(&c, t, chat, body);
        v = json_get(call_json(&c, &a), "error");
        is_int(call_status(&c), 400, "case C33: 400");
        ok(json_str_is(json_get(v, "code"), "context_length_exceeded") &&
               json_str_is(json_get(v, "type"), "invalid_request_error") &&
               json_str_is(json_get(v, "param"), "messages"),
           "case C33: code, type and param");
        ok(strstr(json_get(v, "message")->str.s,
                  "maximum context length is 512 tokens"),
           "case C33: both numbers");
        arena_release(&a);
        call_release(&c);
    }
    for (int fits = 0; fits < 2; fits++) {
        size_t n = (size_t)snprintf(body, 8192, "{\"prompt\":[5");

        for (int i = 1; i < 512 - fits; i++)
            n += (size_t)snprintf(body + n, 8192 - n, ",5");
        snprintf(body + n, 8192 - n, "]}");
        call_do(&c, t, text, body);
        v = call_json(&c, &a);
        is_int(call_status(&c), fits ? 200 : 400,
               "case C33: a prompt of %d tokens in 512", 512 - fits);
        if (fits)
            is_int(json_int(json_at(v, "usage.completion_tokens")), 1,
                   "case C33: leaves room for one");
        if (fits)
            is_str(row_get(&c, "max_tokens", h, sizeof(h)), "1",
                   "case C33: as its row says");
        arena_release(&a);
        call_release(&c);
    }
    free(body);
}

static void choices(struct apit *t)
{
    struct call c;
    struct arena a;
    const struct json *v;

    call_do(&c, t, chat,
            "{\"n\":3,\"seed\":7,\"max_tokens\":4,\"reasoning_effort\":"
            "\"none\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}");
    v = call_json(&c, &a);
    ok(json_at(v, "choices.2.message.content") && !json_at(v, "choices.3") &&
           json_int(json_at(v, "choices.2.index")) == 2,
       "case C32: three choices");
    is_int(json_int(json_at(v, "usage.completion_tokens")), 12,
           "case C32: usage counts all");
    arena_release(&a);
    call_release(&c);
    call_do(&c, t, chat,
            "{\"n\":2,\"stream\":true,"
            "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}");
    v = call_json(&c, &a);
    ok(json_str_is(json_at(v, "error.param"), "n"),
       "case C32: n > 1 in a stream names n");
    arena_release(&a);
    call_release(&c);
}

static void without_usage(struct api_config *c)
{
    c->usage_default = false;
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config gen = {
        .ids = ids, .fail_after = -1, .context = 512};
    const char *why;
    struct apit t;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    gen.n = apit_ids("one two three four five<|im_end|>", ids, 64);
    apit_open(&t, &gen, NULL, &why);
    shapes(&t);
    usage_places(&t);
    characters(&t);
    stops(&t);
    endings(&t);
    reasoning(&t);
    context(&t);
    choices(&t);
    is_int(api_open_count(t.api), 0, "nothing is open any more");
    is_int(row_count(&t, "state = 'open'"), 0, "no row is open any more");
    apit_close(&t);
    apit_open(&t, &gen, without_usage, &why);
    usage_off(&t);
    apit_close(&t);
    return done();
}
