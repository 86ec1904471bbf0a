/*
 * What ends a reasoning or an answer before the model does: budgets, the
 * reserve of the answer, circles, the pattern guard; against a scripted gen.
 * Expectations: spec tandem.md 3 and 13.1, checks 62, 65, 93 and 94; issue
 * text on errors behind the first byte.
 */
#include "t/lib/apit.h"
#include "text/tok.h"

#include <unistd.h>

#include "chat/format_int.h"

#define CHAT "/v1/chat/completions"
#define USER "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"
#define SAYS "\n\nThat is enough thought; the answer follows."

static int stall, guard, kept = -1; /* kept: answer-reserve */
static enum st fail_as;

static void config(struct api_config *c)
{
    c->think_default = true;
    c->answer_reserve = kept;
    c->think_stall = stall;
    c->default_max_tokens = 400;
    if (guard) {
        c->pattern_max = 16;
        c->pattern_min = 1;
        c->pattern_count = 4;
    }
}

static void serve(struct apit *t, const char *script, bool loop,
                  int32_t fail_after)
{
    static int32_t ids[256];
    struct scripted_config gen = {.ids = ids, .fail_after = fail_after,
                                  .context = 16384, .loop = loop,
                                  .fail_as = fail_as};
    const char *why = NULL;

    gen.n = apit_ids(script, ids, 256);
    if (!apit_open(t, &gen, config, &why)) {
        printf("Bail out! %s\n", why);
        exit(1);
    }
}

/* One whole answer. */
struct reply_t {
    struct call c;
    struct arena a;
    const struct json *v;
    char thought[4096], said[4096], finish[16]; /* cut where they are long */
    int64_t reasoning, completion;
};

static void copy(char *out, size_t cap, const struct json *v)
{
    bool text = v && v->type == JSON_STR;

    snprintf(out, cap, "%.*s", text ? (int)v->str.n : 0, text ? v->str.s : "");
}

static void ask(struct reply_t *r, struct apit *t, const char *more)
{
    char body[1024];

    snprintf(body, sizeof(body), "{" USER "%s}", more);
    call_do(&r->c, t, CHAT, body);
    r->v = call_json(&r->c, &r->a);
    copy(r->thought, sizeof(r->thought),
         json_at(r->v, "choices.0.message.reasoning_content"));
    copy(r->said, sizeof(r->said), json_at(r->v, "choices.0.message.content"));
    copy(r->finish, sizeof(r->finish),
         json_at(r->v, "choices.0.finish_reason"));
    r->reasoning = json_int(json_at(r->v, "usage.completion_tokens_details."
                                          "reasoning_tokens"));
    r->completion = json_int(json_at(r->v, "usage.completion_tokens"));
}

static void done_with(struct reply_t *r)
{
    arena_release(&r->a);
    call_release(&r->c);
}

static void is_refused(struct apit *t, const char *more, const char *field)
{
    struct reply_t r;
    char want[64];

    ask(&r, t, more);
    is_int(call_status(&r.c), 400, "400: %s", more);
    snprintf(want, sizeof(want), "%s", field);
    ok(json_str_is(json_at(r.v, "error.param"), want), "it names %s", field);
    done_with(&r);
}

static void budgets(void)
{
    static const char *const shapes[] = {
        ",\"max_reasoning_tokens\":3",
        ",\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":3}",
        ",\"reasoning\":{\"max_tokens\":3}",
        ",\"thinking_budget\":3,\"reasoning_effort\":\"high\"",
    };
    struct apit t;
    struct reply_t r;
    int64_t three;
    char edge[64];

    serve(&t, "one two four six is the</think>\n\nseven<|im_end|>", false,
          -1);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        ask(&r, &t, shapes[i]);
        is_str(r.thought, "one two four six" SAYS,
               "check 62: the phrase follows the fourth token: %s", shapes[i]);
        is_str(r.said, " is the\n\nseven",
               "and the answer follows");
        is_str(r.finish, "stop", "which the model ends");
        three = r.reasoning;
        done_with(&r);
    }
    ask(&r, &t, ",\"max_reasoning_tokens\":4");
    is_int(r.reasoning, three + 1, "one more is one more");
    done_with(&r);
    ask(&r, &t, ",\"max_reasoning_tokens\":0,\"reasoning_effort\":\"low\"");
    is_str(r.thought, "one two four six is the", "check 93: 0 is no cap");
    is_str(r.said, "seven", "no phrase");
    done_with(&r);
    ask(&r, &t, ",\"reasoning_effort\":\"low\"");
    is_str(r.thought, "one two four six is the", "a word is far away");
    done_with(&r);
    is_refused(&t, ",\"reasoning_effort\":\"huge\"", "reasoning_effort");
    is_refused(&t, ",\"thinking_budget\":-1", "thinking_budget");
    is_refused(&t, ",\"logit_bias\":{\"999999\":1}", "logit_bias");
    is_refused(&t, ",\"logit_bias\":{\"5\":101}", "logit_bias");
    snprintf(edge, sizeof(edge), ",\"logit_bias\":{\"%zu\":1}",
             tok_count(t.tok));
    is_refused(&t, edge, "logit_bias");
    snprintf(edge, sizeof(edge), ",\"logit_bias\":{\"%zu\":1}",
             tok_count(t.tok) - 1);
    ask(&r, &t, edge);
    is_int(call_status(&r.c), 200, "the last id of the vocabulary is one");
    done_with(&r);
    apit_close(&t);
}

static void reserve(void)
{
    struct apit t;
    struct reply_t r;
    int64_t phrase;

    serve(&t, "one two four six is the seven eight ", true, -1);
    ask(&r, &t, ",\"max_tokens\":40,\"reasoning_effort\":\"high\"");
    is_str(r.finish, "length", "asked, 40 tokens: the limit ends it");
    is_int(r.completion, 40, "all of them are used");
    ok(r.completion - r.reasoning >= 10 && r.said[0],
       "and the answer got its quarter: %d", (int)(r.completion -
                                                   r.reasoning));
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":40,\"max_reasoning_tokens\":1");
    ok(r.said[0] && strstr(r.thought, SAYS), "a smaller number is kept");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":12000,\"reasoning_effort\":\"max\"");
    /* and the blank line, the phrase's last token */
    is_int(r.completion - r.reasoning, 2048 + 1, "auto keeps at most 2048");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":12000,\"reasoning_effort\":\"low\"");
    phrase = r.reasoning - 2049;
    ok(phrase > 0 && phrase < 64, "low ends it behind 2048 tokens: %d",
       (int)r.reasoning);
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":12000,\"thinking_budget\":8192");
    is_int(r.reasoning, 8193 + phrase, "a number that leaves more than that");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":40");
    is_int(r.reasoning, 40, "nobody asked: nothing is reserved");
    is_str(r.said, "", "and no answer comes");
    ok(!strstr(r.thought, SAYS), "nor the phrase");
    done_with(&r);
    for (int over = 0; over < 2; over++) {
        char more[80];

        snprintf(more, sizeof(more), ",\"reasoning_effort\":\"high\","
                                     "\"max_tokens\":%d",
                 (int)phrase + 1 + 2 + over);
        ask(&r, &t, more);
        is_int(strstr(r.thought, SAYS) != NULL, over,
               "the phrase, its end and %d tokens", 2 + over);
        done_with(&r);
    }
    ask(&r, &t, ",\"max_tokens\":40,\"thinking_budget\":2147483648");
    is_int(r.completion - r.reasoning, 10 + 1,
           "a number beyond every limit leaves the reserve");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":5,\"reasoning_effort\":\"high\"");
    ok(!strstr(r.thought, "That"), "no room for any answer: no phrase");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":40,\"thinking\":false");
    is_int(r.reasoning, 0, "thinking is off");
    done_with(&r);
    apit_close(&t);

    stall = true; /* reasoning is watched: that alone reserves nothing */
    serve(&t, "one two four six is the seven eight ", true, -1);
    ask(&r, &t, ",\"max_tokens\":40");
    is_int(r.reasoning, 40, "nobody asked: a watch on circles is no wish");
    done_with(&r);
    apit_close(&t);
    stall = false;
    kept = 3;
    serve(&t, "one two four six is the seven eight ", true, -1);
    ask(&r, &t, ",\"max_tokens\":40,\"reasoning_effort\":\"high\"");
    is_int(r.completion - r.reasoning, 3 + 1, "a reserve in tokens");
    done_with(&r);
    apit_close(&t);
    kept = 100;
    serve(&t, "one two four six is the seven eight ", true, -1);
    ask(&r, &t, ",\"max_tokens\":40,\"reasoning_effort\":\"high\"");
    is_str(r.thought, "one two" SAYS, "one that takes all: a short thought");
    done_with(&r);
    apit_close(&t);
    kept = -1;
}

/* A format with efforts of its own reads the word: it is no cap then. */
static void own_efforts(void)
{
    static const char json[] =
        "{\"system\":[\"<|im_start|>system\\n\",\"<|im_end|>\\n\"],"
        "\"user\":[\"<|im_start|>user\\n\",\"<|im_end|>\\n\"],"
        "\"assistant\":[\"<|im_start|>assistant\\n\",\"<|im_end|>\\n\"],"
        "\"open\":\"<|im_start|>assistant\\n\","
        "\"think\":[\"<think>\",\"</think>\"],\"think_on\":\"<think>\\n\","
        "\"think_off\":\"\",\"effort\":\"Effort: {}\\n\"}";
    struct format *f;
    struct err e = {0};
    struct apit t;
    struct reply_t r;

    serve(&t, "one two four six is the seven eight ", true, -1);
    is_int(format_chatjson(&f, json, strlen(json), "x", t.tok, &e), ST_OK,
           "a format with efforts (%s %s)", e.where, e.text);
    if (f) {
        t.catalog.models->format = f;
        ask(&r, &t, ",\"max_tokens\":6000,\"reasoning_effort\":\"low\"");
        is_int(r.completion - r.reasoning, 1500,
               "its word sets no cap, the reserve is kept");
        done_with(&r);
        t.catalog.models->format = t.format;
        format_free(f);
    }
    apit_close(&t);
}

static void circles(void)
{
    struct apit t;
    struct reply_t r;
    char h[64];

    stall = true;
    serve(&t, "la", true, -1);
    ask(&r, &t, "");
    ok(strstr(r.thought, "la" SAYS) && r.said[0], "circles are closed");
    is_str(row_get(&r.c, "finish_reason", h, sizeof(h)), "length",
           "the row says how it ended");
    done_with(&r);
    apit_close(&t);
    stall = false;
    serve(&t, "la", true, -1);
    ask(&r, &t, "");
    is_str(r.said, "", "unless the server lets them be");
    done_with(&r);
    ask(&r, &t, ",\"reasoning_effort\":\"max\"");
    ok(r.reasoning > 250 && r.said[0],
       "also where the answer has its reserve: %d", (int)r.reasoning);
    done_with(&r);
    apit_close(&t);
}

/* Check 65. */
static void pattern(void)
{
    static const char *const more = ",\"thinking\":false";
    struct apit t;
    struct reply_t r;
    struct joined j;
    struct call c;
    char h[128], want[4096];

    guard = true;
    serve(&t, "one two two", true, -1);
    ask(&r, &t, more);
    ok(strncmp(call_header(&r.c, "X-Engine-Stop", h, sizeof(h)),
               "pattern-stop(size=3 count=4 tok=[", 33) == 0 &&
           strspn(h + 33, "0123456789,") == strlen(h + 33) - 2 &&
           strchr(strchr(h, ',') + 1, ',') == strrchr(h, ','),
       "the header says what it was, three ids: %s", h);
    ok(strstr(r.said, "two\n\n[The server ended this answer"),
       "the answer ends with a notice: %s", r.said);
    is_str(r.finish, "stop", "its finish is stop");
    snprintf(want, sizeof(want), "%s", r.said);
    is_str(row_get(&r.c, "finish_reason || ' ' || status", h, sizeof(h)),
           "stop 200", "its row");
    done_with(&r);

    call_do(&c, &t, CHAT, "{" USER ",\"thinking\":false,\"stream\":true}");
    join(&j, &c);
    is_str(j.content.p, want, "streamed: the same");
    is_str(call_header(&c, "X-Engine-Stop", h, sizeof(h)), "",
           "streamed: no header");
    is_str(j.finish, "stop", "streamed: stop");
    join_release(&j);
    call_release(&c);

    /* what a stop string held back comes before the notice */
    ask(&r, &t, ",\"thinking\":false,\"stop\":[\"two, \",\"twoone two twoon.\"]");
    is_str(r.said, want, "the notice is the last of the answer");
    done_with(&r);
    for (int tags = 0; tags < 2; tags++) {
        static const char end[] = "two\n</think>\n\n[The server ended this "
                                  "answer: it repeated itself.]";

        ask(&r, &t, tags ? ",\"reasoning_format\":\"tags\"" : "");
        is_str(tags ? strstr(r.said, "two\n") : r.said,
               tags ? end : strchr(end, '['),
               "reasoning that repeats itself: one blank line at most");
        done_with(&r);
    }
    ask(&r, &t, ",\"structured_outputs\":{\"choice\":[\"ha ha ha ha ha ha ha "
                "ha ha\"]}");
    is_str(r.said, "ha ha ha ha ha ha ha ha ha", "a given text is no loop");
    done_with(&r);
    apit_close(&t);
    guard = false;
}

/* The header names up to eight ids, those that began the block. */
static void pattern_ids(void)
{
    static const char *const block = "1, 2, 3, 4, 5, 6";
    int32_t ids[64];
    struct apit t;
    struct reply_t r;
    char h[128];

    guard = true;
    for (int n = 2; n < 9; n += 6) {
        struct buf want;
        char text[32];
        size_t size;

        snprintf(text, sizeof(text), "%.*s", n == 2 ? 4 : 16, block);
        size = apit_ids(text, ids, 64);
        serve(&t, text, true, -1);
        ask(&r, &t, ",\"thinking\":false");
        buf_init(&want, BUF_MESSAGE);
        buf_printf(&want, "pattern-stop(size=%zu count=4 tok=[", size);
        for (size_t i = 0; i < size && i < 8; i++)
            buf_printf(&want, i ? ",%d" : "%d", ids[i]);
        buf_puts(&want, "])");
        is_str(call_header(&r.c, "X-Engine-Stop", h, sizeof(h)), want.p,
               "%zu ids in the block", size);
        buf_release(&want);
        done_with(&r);
        apit_close(&t);
    }
    guard = false;
}

/* A completion has no reasoning, whatever the server's default is. */
static void no_chat(void)
{
    struct apit t;
    struct call c;
    char h[64];

    serve(&t, "one two<|im_end|>", false, -1);
    call_do(&c, &t, "/v1/completions", "{\"prompt\":\"Hi\"}");
    is_str(row_get(&c, "thinking || ' ' || reasoning_tokens", h, sizeof(h)),
           "0 0", "a completion does not think");
    call_release(&c);
    call_do(&c, &t, CHAT, "{" USER "}");
    is_str(row_get(&c, "thinking", h, sizeof(h)), "1", "a chat does");
    call_release(&c);
    apit_close(&t);
}

/* Both guides at once: the budget over the reasoning, the pattern guard over
 * all of it. */
static void both_guides(void)
{
    struct apit t;
    struct reply_t r;
    char h[128];

    guard = true;
    serve(&t, "one two four six</think>\n\nha ha ha ha ha ha ha ha ha"
              "<|im_end|>", false, -1);
    for (int cut = 0; cut < 2; cut++) {
        ask(&r, &t, cut ? ",\"thinking_budget\":2" : ",\"thinking_budget\":50");
        is_int(strstr(r.thought, SAYS) != NULL, cut,
               "a budget beside the pattern guard: %s", r.thought);
        ok(strncmp(call_header(&r.c, "X-Engine-Stop", h, sizeof(h)),
                   "pattern-stop(size=1 ", 20) == 0,
           "the pattern guard beside a budget: %s", h);
        done_with(&r);
    }
    apit_close(&t);
    guard = false;
}

/* Calls of an answer that went in circles are not run. */
static void looped_calls(void)
{
    struct apit t;
    struct reply_t r;

    guard = true;
    serve(&t, "<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n"
              "ha ha ha ha ha ha ha ha ha<|im_end|>", false, -1);
    ask(&r, &t, ",\"thinking\":false,\"tools\":[{\"type\":\"function\","
                "\"function\":{\"name\":\"f\"}}]");
    is_str(r.finish, "stop", "a loop behind a call: stop, not tool_calls");
    done_with(&r);
    apit_close(&t);
    guard = false;
}

/* Only a model that ends its answer has made a call of it. */
static void looped_call(void)
{
    static const char *const more =
        ",\"thinking\":false,\"tools\":[{\"type\":\"function\",\"function\":"
        "{\"name\":\"add\"}}]";
    struct apit t;
    struct reply_t r;

    guard = true;
    for (int loops = 0; loops < 2; loops++) {
        serve(&t, loops ? "{\"name\": \"add\", \"arguments\": {}} \n \n \n \n \n"
                        : "{\"name\": \"add\", \"arguments\": {}} \n<|im_end|>",
              false, -1);
        ask(&r, &t, more);
        is_str(r.finish, loops ? "stop" : "tool_calls", "a call, %s",
               loops ? "then a loop" : "then the end");
        is_int(json_at(r.v, "choices.0.message.tool_calls.0") == NULL, loops,
               "%s", loops ? "is none" : "is one");
        is_int(strstr(r.said, "{\"name") != NULL, loops, "%s",
               loops ? "but text" : "and no text");
        done_with(&r);
        apit_close(&t);
    }
    guard = false;
}

/* The loop came behind a stop string, before anybody had looked. */
static void stopped_before(void)
{
    struct gen_state s;
    struct apit t;
    struct arena a;
    struct call c;
    struct reply_t r;
    int32_t ids[8];
    char h[64], more[96];

    guard = true;
    serve(&t, "one two six la la la la la la", false, -1);
    scripted_hold(t.gen);
    call_start(&c, &t, "POST", CHAT,
               "{" USER ",\"thinking\":false,\"stop\":\" six\"}", NULL);
    scripted_release(t.gen);
    do {
        usleep(1000);
        t.gen->ops->state(t.gen, &s);
    } while (s.running || s.waiting);
    call_finish(&c);
    ok(json_str_is(json_at(call_json(&c, &a), "choices.0.message.content"),
                   "one two"),
       "a loop behind a stop string: no notice");
    is_str(call_header(&c, "X-Engine-Stop", h, sizeof(h)), "", "no header");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
    guard = false;

    serve(&t, "one two", true, -1);
    snprintf(more, sizeof(more),
             ",\"thinking\":false,\"stop\":\" two\",\"max_tokens\":%zu",
             apit_ids("one two", ids, 8));
    ask(&r, &t, more);
    is_str(r.said, "one", "a stop string that the last token completes");
    is_str(r.finish, "stop", "is why it ended");
    done_with(&r);
    apit_close(&t);
}

static void several_choices(void)
{
    static const char *const more =
        ",\"structured_outputs\":{\"choice\":[\"red\",\"green\",\"red sky\"]}";
    struct apit t;
    struct reply_t r;

    serve(&t, "green", true, -1);
    ask(&r, &t, more);
    ok(!strcmp(r.said, "red") || !strcmp(r.said, "green") ||
           !strcmp(r.said, "red sky"),
       "one of the choices: %s", r.said);
    is_int(r.reasoning, 0, "with nothing to think about");
    is_int(r.completion, (int64_t)apit_ids(r.said, (int32_t[16]){0}, 16),
           "its tokens are all that came");
    done_with(&r);
    apit_close(&t);
}

/* What fails behind the first byte has a chunk without choices, then the last
 * one, then [DONE]. */
static void broken(void)
{
    struct apit t;
    struct joined j;
    struct call c;
    size_t n;

    serve(&t, "one two three", true, 2);
    call_do(&c, &t, CHAT, "{" USER ",\"stream\":true,\"stream_options\":"
                          "{\"include_usage\":true}}");
    join(&j, &c);
    n = j.n - 1; /* the last has the usage alone */
    ok(n >= 3 && !json_get(j.chunk[n - 2], "choices") &&
           json_at(j.chunk[n - 2], "error.message"),
       "an error chunk");
    ok(json_str_is(json_at(j.chunk[n - 1], "choices.0.finish_reason"),
                   "error") && json_at(j.chunk[n - 1], "error.message"),
       "then the finish chunk");
    for (size_t i = 0; i < n; i++) {
        const struct json *usage = json_get(j.chunk[i], "usage");

        ok(usage && usage->type == JSON_NULL, "chunk %zu: usage is null", i);
    }
    ok(json_at(j.chunk[n], "usage.total_tokens"), "but in its own");
    is_int(j.finishes, 1, "one finish reason");
    is_int(j.dones, 1, "then [DONE]");
    ok(j.one_id, "all with one id");
    join_release(&j);
    call_release(&c);
    apit_close(&t);
}

/* No token is left: the client's constraint is what is wrong. */
static void no_token(void)
{
    struct apit t;

    fail_as = ST_INVALID;
    serve(&t, "one", false, 0);
    is_refused(&t, ",\"structured_outputs\":{\"regex\":\"x\"}",
               "structured_outputs");
    is_refused(&t, ",\"response_format\":{\"type\":\"json_object\"}",
               "response_format");
    apit_close(&t);
    fail_as = ST_OK;
}

int main(void)
{
    struct scripted_config gen = {.fail_after = -1, .context = 512};
    const char *why;
    struct apit t;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    budgets();
    reserve();
    own_efforts();
    circles();
    pattern();
    looped_call();
    stopped_before();
    pattern_ids();
    no_chat();
    both_guides();
    looped_calls();
    several_choices();
    broken();
    no_token();
    return done();
}
