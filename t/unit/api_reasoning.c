/*
 * Reasoning on the wire: every form, streamed and whole, against a scripted
 * gen. Expectations: spec tandem.md section 2, checks 55 to 59, 96 and 98;
 * case C30.
 */
#include "t/lib/apit.h"

#define CHAT "/v1/chat/completions"
#define USER "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"

/* The forms by kind of client: no request of this file names one. */
static const struct form {
    const char *agent, *what;
    bool tags, field, blank;
} forms[] = {
    {"curl/8", "tags", true, false, false},
    {"other", "apart", false, true, false},
    {"open-webui", "apart, blank line", false, true, true},
    {"opencode", "both", true, true, false},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static void config(struct api_config *c)
{
    c->think_default = true;
    c->reasoning_format = "curl=tags,opencode=both,*=reasoning_content";
}

static void config_off(struct api_config *c)
{
    config(c);
    c->think_default = false;
}

/* One server per script. */
static void serve(struct apit *t, const char *script, int32_t fail_after,
                  void (*configure)(struct api_config *c))
{
    static int32_t ids[256];
    struct scripted_config gen = {
        .ids = ids, .fail_after = fail_after, .context = 512};
    const char *why = NULL;

    gen.n = apit_ids(script, ids, 256);
    if (!apit_open(t, &gen, configure, &why)) {
        printf("Bail out! %s\n", why);
        exit(1);
    }
}

static void ask(struct call *c, struct apit *t, const char *agent,
                const char *more)
{
    const struct call_opts o = {.user_agent = agent};
    char body[1024];

    snprintf(body, sizeof(body), "{" USER "%s}", more);
    call_start(c, t, "POST", CHAT, body, &o);
    call_finish(c);
}

/* "a|b": texts of delta.<key> chunk by chunk. */
static void deltas(const struct joined *j, const char *key, struct buf *out)
{
    char path[64];

    buf_init(out, 65536);
    buf_puts(out, "");
    snprintf(path, sizeof(path), "choices.0.delta.%s", key);
    for (size_t i = 0; i < j->n; i++) {
        const struct json *v = json_at(j->chunk[i], path);

        if (!v || v->type != JSON_STR || !v->str.n)
            continue;
        buf_puts(out, out->n ? "|" : "");
        buf_add(out, v->str.s, v->str.n);
    }
}

static void both_ways(struct apit *t, const char *more, const char *thought,
                      const char *said, const char *tagged,
                      const char *finish, bool ended)
{
    char stream[512], blank[512];

    snprintf(stream, sizeof(stream), ",\"stream\":true%s", more);
    snprintf(blank, sizeof(blank), "\n\n%s", said);
    for (size_t i = 0; i < FORMS; i++) {
        const struct form *f = &forms[i];
        const char *content = f->tags ? tagged : said;
        const struct json *v, *m;
        struct arena a;
        struct joined j;
        struct call c;

        ask(&c, t, f->agent, stream);
        join(&j, &c);
        is_str(j.content.p, f->blank && ended ? blank : content,
               "%s, streamed: content", f->what);
        is_str(j.reasoning.p, f->field ? thought : "",
               "%s, streamed: reasoning", f->what);
        ok(j.role_first && j.finishes == 1 && !strcmp(j.finish, finish),
           "%s, streamed: %s", f->what, finish);
        join_release(&j);
        call_release(&c);

        ask(&c, t, f->agent, more);
        v = call_json(&c, &a);
        m = json_at(v, "choices.0.message");
        ok(json_str_is(json_get(m, "content"), content), "%s, whole: content",
           f->what);
        if (f->field && *thought)
            ok(json_str_is(json_get(m, "reasoning_content"), thought),
               "%s, whole: reasoning", f->what);
        else
            ok(m && !json_get(m, "reasoning_content"),
               "%s, whole: no reasoning_content", f->what);
        ok(json_str_is(json_at(v, "choices.0.finish_reason"), finish),
           "%s, whole: %s", f->what, finish);
        arena_release(&a);
        call_release(&c);
    }
}

static void shapes(void)
{
    struct apit t;

    serve(&t, "one\n\ntwo</think>\n\nHello there<|im_end|>", -1, config);
    both_ways(&t, "", "one\n\ntwo", "Hello there",
              "<think>\none\n\ntwo\n</think>\n\nHello there", "stop", true);
    /* check 96: neither in the reasoning nor in what frames the answer */
    both_ways(&t, ",\"stop\":[\"\\n\\n\"]", "one\n\ntwo", "Hello there",
              "<think>\none\n\ntwo\n</think>\n\nHello there", "stop", true);
    both_ways(&t, ",\"stop\":[\" there\"]", "one\n\ntwo", "Hello",
              "<think>\none\n\ntwo\n</think>\n\nHello", "stop", true);
    /* case C30: cut in the middle of a thought */
    both_ways(&t, ",\"max_tokens\":1", "one", "", "<think>\none", "length",
              false);
    apit_close(&t);

    serve(&t, "<|im_end|>", -1, config); /* check 59 */
    both_ways(&t, "", "", "", "<think>\n", "stop", false);
    apit_close(&t);
    serve(&t, "<|im_start|><|im_start|>", -1, config); /* nothing, cut */
    both_ways(&t, ",\"max_tokens\":1", "", "", "<think>\n", "length", false);
    apit_close(&t);
    serve(&t, "</think>\n\nHello<|im_end|>", -1, config);
    both_ways(&t, "", "", "Hello", "Hello", "stop", false);
    apit_close(&t);
    serve(&t, "one</think>\n\n<|im_end|>", -1, config);
    both_ways(&t, "", "one", "", "<think>\none\n</think>\n\n", "stop", true);
    apit_close(&t);
    serve(&t, "Hello<|im_end|>", -1, config_off);
    both_ways(&t, "", "", "Hello", "Hello", "stop", false);
    apit_close(&t);
}

/* No opener is sent where a status can still say what went wrong. */
static void failed(void)
{
    struct apit t;
    struct call c;

    serve(&t, "one", 0, config);
    ask(&c, &t, "curl/8", ",\"stream\":true");
    is_int(call_status(&c), 500, "a failure before the first token");
    call_release(&c);
    apit_close(&t);
}

/* Checks 56 and 58: what the first chunks are. */
static void pieces(void)
{
    struct apit t;
    struct joined j;
    struct call c;
    struct buf said, thought;
    const struct json *first;

    serve(&t, "one two</think>\n\nHello<|im_end|>", -1, config);
    ask(&c, &t, "curl/8", ",\"stream\":true");
    join(&j, &c);
    deltas(&j, "content", &said);
    ok(strncmp(said.p, "<think>\n", 8) == 0 && said.p[8] != '|',
       "tags: the opener rides with the first text: %s", said.p);
    buf_release(&said);
    join_release(&j);
    call_release(&c);

    ask(&c, &t, "opencode", ",\"stream\":true");
    join(&j, &c);
    first = json_at(j.chunk[1], "choices.0.delta.reasoning_content");
    ok(first && first->type == JSON_STR, "both: reasoning comes first");
    ok(json_at(j.chunk[2], "choices.0.delta.content"), "both: then its copy");
    deltas(&j, "reasoning_content", &thought);
    ok(strncmp(thought.p, "<think>", 7) != 0, "both: no tag in the field");
    buf_release(&thought);
    join_release(&j);
    call_release(&c);
    apit_close(&t);
}

/* Check 98, and a call behind the reasoning. */
static void calls(void)
{
    static const char *const tools =
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":"
        "\"string\"}}}}}]";
    static const char *const script =
        "one</think>\n\n<tool_call>\n{\"name\":\"f\",\"arguments\":{\"a\":"
        "\"x\"}}\n</tool_call><|im_end|>";
    struct apit t;
    struct call c;
    struct arena a;
    const struct json *v;

    serve(&t, script, -1, config);
    ask(&c, &t, "curl/8", tools);
    v = call_json(&c, &a);
    ok(json_str_is(json_at(v, "choices.0.message.content"),
                   "<think>\none\n</think>\n\n"),
       "a call: the block stands in content");
    ok(json_str_is(json_at(v, "choices.0.finish_reason"), "tool_calls"),
       "a call: its finish");
    arena_release(&a);
    call_release(&c);
    ask(&c, &t, "other", "");
    v = call_json(&c, &a);
    ok(!json_at(v, "choices.0.message.tool_calls"),
       "a call that nobody offered: none is told of");
    ok(json_str_is(json_at(v, "choices.0.finish_reason"), "stop"),
       "and the finish is stop");
    arena_release(&a);
    call_release(&c);
    apit_close(&t);
}

int main(void)
{
    struct scripted_config gen = {.fail_after = -1, .context = 512};
    const char *why;
    struct apit t;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    shapes();
    failed();
    pieces();
    calls();
    return done();
}
