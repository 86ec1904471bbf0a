/*
 * What ends a reasoning or an answer before the model does: budgets, the
 * reserve of the answer, circles, the pattern guard; against a scripted gen.
 * Expectations: spec tandem.md 3 and 13.1, checks 62, 65, 93 and 94; issue
 * text on errors behind the first byte.
 */
#include "t/lib/apit.h"

#define CHAT "/v1/chat/completions"
#define USER "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"
#define SAYS "\n\nThat is enough thought; the answer follows."

static int stall, guard;
static enum st fail_as;

static void config(struct api_config *c)
{
    c->think_default = true;
    c->answer_reserve = -1;
    c->think_stall = stall;
    c->default_max_tokens = 400;
    if (guard) {
        c->pattern_max = 8;
        c->pattern_min = 1;
        c->pattern_count = 4;
    }
}

static void serve(struct apit *t, const char *script, bool loop,
                  int32_t fail_after)
{
    static int32_t ids[256];
    struct scripted_config gen = {.ids = ids, .fail_after = fail_after,
                                  .context = 512, .loop = loop,
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
    char thought[4096], said[4096], finish[16];
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
    apit_close(&t);
}

static void reserve(void)
{
    struct apit t;
    struct reply_t r;

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
    ask(&r, &t, ",\"max_tokens\":40");
    is_int(r.reasoning, 40, "nobody asked: nothing is reserved");
    is_str(r.said, "", "and no answer comes");
    ok(!strstr(r.thought, SAYS), "nor the phrase");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":5,\"reasoning_effort\":\"high\"");
    ok(!strstr(r.thought, "That"), "no room for any answer: no phrase");
    done_with(&r);
    ask(&r, &t, ",\"max_tokens\":40,\"thinking\":false");
    is_int(r.reasoning, 0, "thinking is off");
    done_with(&r);
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
               "pattern-stop(size=3 count=4 tok=[", 33) == 0,
       "the header says what it was: %s", h);
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

static void several_choices(void)
{
    static const char *const more =
        ",\"structured_outputs\":{\"choice\":[\"red\",\"green\",\"red sky\"]}";
    struct apit t;
    struct reply_t r;

    serve(&t, "green", false, -1);
    ask(&r, &t, more);
    ok(!strcmp(r.said, "red") || !strcmp(r.said, "green") ||
           !strcmp(r.said, "red sky"),
       "one of the choices: %s", r.said);
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
    is_refused(&t, "", "structured_outputs");
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
    circles();
    pattern();
    several_choices();
    broken();
    no_token();
    return done();
}
