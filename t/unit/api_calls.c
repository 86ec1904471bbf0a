/*
 * What a stream tells of calls that do not last, in which order, and when it
 * is too late; the scripts are in the XML form of the published Qwen3-Coder
 * chat template. Expectations: OpenAI's shapes and the published rules of
 * tandem (check numbers) for what is a call.
 */
#include "t/lib/apit.h"

#include "api/run.h"

#include <unistd.h>

static const char *const chat = "/v1/chat/completions";

#define FN(name, params)                                                       \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name                    \
    "\",\"parameters\":{\"type\":\"object\",\"properties\":{" params "}}}}"
#define STR(name) "\"" name "\":{\"type\":\"string\"}"
#define TOOLS                                                                  \
    "\"tools\":[" FN("f", STR("a") "," STR("b")) "," FN("g", STR("a")) "]"

#define P(name, value) "<parameter=" name ">" value "</parameter>"
#define F(name, params) "<function=" name ">" params "</function>"
#define T "<tool_call>"
#define E "</tool_call>"
#define END "<|im_end|>"
/* tandem 14: swept as f(a), read as f(a, b) when the block is complete */
#define BROKEN F("f", P("a", "1") "<br " P("b", "2"))
#define OPEN_CALL T "<function=f>" P("a", "1") "<parameter=b>2 3 4"
#define NO_CALL T "{\"name\": \"f\", \"arguments\": {\"a\": \"1\"}, oops" E
#define CALL_ONLY T F("f", P("a", "1"))
#define ONE_LIMIT ",\"parallel_tool_calls\":false"

static struct apit t;
static size_t script_n;

static void script(const char *text, int64_t gap_us)
{
    script_n = apit_script(&t, text, gap_us);
}

static const char *body(const char *more)
{
    static char out[2048];

    snprintf(out, sizeof(out),
             "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
             "\"reasoning_effort\":\"none\"," TOOLS "%s}", more);
    return out;
}

/* --- what a stream told, in order ---------------------------------------- */

static void tell_call(struct buf *out, const struct json *d)
{
    const struct json *f = json_get(d, "function");
    const struct json *name = json_get(f, "name");

    buf_printf(out, " %lld", (long long)json_int(json_get(d, "index")));
    if (name)
        buf_printf(out, "=%s", name->str.s);
    else
        buf_printf(out, "+%s", json_get(f, "arguments")->str.s);
}

/* " text" in brackets, " 0=f" for a call that begins, " 0+{}" for what its
 * arguments grow by, and the finish reason. */
static void tell(struct buf *out, const struct call *c)
{
    struct joined j;

    join(&j, c);
    ok(j.framing && j.utf8 && j.dones == 1, "a proper stream");
    buf_init(out, BUF_ANSWER);
    for (size_t i = 0; i < j.n; i++) {
        const struct json *v = json_at(j.chunk[i], "choices.0");
        const struct json *text = json_at(v, "delta.content");
        const struct json *call = json_at(v, "delta.tool_calls.0");
        const struct json *end = json_get(v, "finish_reason");

        if (text && text->str.n)
            buf_printf(out, " [%s]", text->str.s);
        if (call)
            tell_call(out, call);
        if (end && end->type == JSON_STR)
            buf_printf(out, " %s", end->str.s);
    }
    join_release(&j);
}

/* Until the gen is done with it, without a look at what it wrote. */
static void let_end(const struct call *c)
{
    struct ring *ring = run_of(&c->x)->choices[0].job->ring;
    struct ring_view v = {0};

    for (int i = 0; i < 5000 && !v.ended; i++) {
        usleep(1000);
        ring_look(ring, &v);
    }
    ok(v.ended, "it was generated");
}

/* Nobody looks before everything was generated: one wake-up has all of it. */
static void at_once(const char *more, const char *want, const char *what)
{
    char all[256];
    struct buf told;
    struct call c;

    snprintf(all, sizeof(all), ",\"stream\":true%s", more);
    scripted_hold(t.gen);
    call_start(&c, &t, "POST", chat, body(all), NULL);
    scripted_release(t.gen);
    let_end(&c);
    call_finish(&c);
    tell(&told, &c);
    is_str(told.p, want, "%s: in one wake-up", what);
    buf_release(&told);
    call_release(&c);
}

/* The same request as a stream that is read token by token: its first call
 * is out (`sign`) before the rest of the script comes. */
static void bit_by_bit(const char *more, const char *sign, struct buf *told)
{
    char all[256];
    struct call c;

    snprintf(all, sizeof(all), ",\"stream\":true%s", more);
    call_start(&c, &t, "POST", chat, body(all), NULL);
    ok(call_until(&c, sign, 5000), "%s is out", sign);
    call_finish(&c);
    tell(told, &c);
    call_release(&c);
}

static void whole(const char *more, int calls, const char *content,
                  const char *what)
{
    struct call c;
    struct arena a;
    const struct json *m, *list;

    call_do(&c, &t, chat, body(more));
    m = json_at(call_json(&c, &a), "choices.0.message");
    list = json_get(m, "tool_calls");
    is_int(list ? (intmax_t)list->n : 0, calls, "%s, whole: calls", what);
    ok(calls || !list, "%s, whole: no list without calls", what);
    if (content)
        ok(json_str_is(json_get(m, "content"), content), "%s, whole: text",
           what);
    arena_release(&a);
    call_release(&c);
}

/* --- calls that do not last ---------------------------------------------- */

static void withdrawn(void)
{
    struct buf told;

    script(T BROKEN E END, 0);
    at_once("", " 0=f 0+{\"a\": \"1\", \"b\": \"2\"} tool_calls",
            "withdrawn before it was told");
    whole("", 1, NULL, "withdrawn");
    apit_close(&t);

    script(T BROKEN E END, 3000);
    bit_by_bit("", "\"name\":\"f\"", &told);
    ok(strncmp(told.p, " 0=f 0+", 7) == 0 && strstr(told.p, " 1=f 1+{\"a\": "
       "\"1\", \"b\": \"2\"} tool_calls"),
       "withdrawn after it was told: it stays, the whole one is the next");
    ok(!strstr(strstr(told.p, " 1=f"), " 0+"), "and it grows no more");
    buf_release(&told);
    apit_close(&t);

    /* its last brace comes when the block closes, as it is withdrawn */
    script(T "<function=f>" P("a", "1") "<br " P("b", "2") E END, 3000);
    bit_by_bit("", "\"name\":\"f\"", &told);
    ok(strstr(told.p, " 0+} 1=f 1+{\"a\": \"1\", \"b\": \"2\"} tool_calls"),
       "withdrawn, told: its arguments are complete");
    buf_release(&told);
    apit_close(&t);
}

/* Tokens end inside characters; what a delta adds to the arguments never does
 * (one that did would be no JSON, and j.framing false). */
static void characters(void)
{
    static const char *const value = "漢字 👩🏽‍🚀 żółw";
    struct buf args;
    struct joined j;
    struct call c;
    char want[64];
    size_t n = 0;

    script(T F("f", P("a", "漢字 👩🏽‍🚀 żółw")) E END, 3000);
    call_do(&c, &t, chat, body(",\"stream\":true"));
    join(&j, &c);
    ok(j.framing && j.dones == 1, "a proper stream");
    buf_init(&args, BUF_ANSWER);
    for (size_t i = 0; i < j.n; i++) {
        const struct json *v =
            json_at(j.chunk[i], "choices.0.delta.tool_calls.0.function."
                                "arguments");

        if (v && v->str.n)
            buf_add(&args, v->str.s, v->str.n);
        n += v && v->str.n;
    }
    snprintf(want, sizeof(want), "{\"a\": \"%s\"}", value);
    is_str(args.p, want, "arguments of %zu deltas", n);
    ok(n > 3, "they came bit by bit");
    buf_release(&args);
    join_release(&j);
    call_release(&c);
    apit_close(&t);
}

/* A streamed call in a block that is none: the turn ended for itself. */
static void refused(void)
{
    static const char more[] = ",\"parallel_tool_calls\":true";
    struct buf told;

    script(NO_CALL END, 0);
    at_once("", " [" NO_CALL "] stop", "no call after all");
    whole("", 0, NO_CALL, "no call after all");
    apit_close(&t);
    script(NO_CALL END, 3000);
    bit_by_bit(more, "\"name\":\"f\"", &told);
    ok(strncmp(told.p, " 0=f 0+", 7) == 0 &&
           strstr(told.p, " [" NO_CALL "] stop"),
       "no call after all, told: it stays, beside its text");
    buf_release(&told);
    apit_close(&t);
}

/* The second call is over the limit while the first one still counts. */
static void holes(void)
{
    char row[64];
    struct call c;

    script(T BROKEN F("g", P("a", "3")) E T F("g", P("a", "4")) E END, 0);
    at_once(ONE_LIMIT, " 0=f 0+{\"a\": \"1\", \"b\": \"2\"} tool_calls",
            "one withdrawn, one dropped");
    whole(ONE_LIMIT, 1, NULL, "one withdrawn, one dropped");
    call_do(&c, &t, chat, body(ONE_LIMIT));
    is_str(row_get(&c, "finish_reason || ' ' || tool_calls", row,
                   sizeof(row)), "tool_calls 1", "its row");
    call_release(&c);
    at_once("", " 0=g 0+{\"a\": \"3\"} 1=f 1+{\"a\": \"1\", \"b\": \"2\"} "
                "2=g 2+{\"a\": \"4\"} tool_calls",
            "one withdrawn, three shown");
    apit_close(&t);
}

/* A limit ends the reply before the block was closed. */
static void cut_short(void)
{
    char more[64];
    struct buf told;

    script(OPEN_CALL END, 0);
    snprintf(more, sizeof(more), ",\"max_tokens\":%zu", script_n - 1);
    at_once(more, " [" OPEN_CALL "] length", "cut, never told");
    whole(more, 0, OPEN_CALL, "cut");
    apit_close(&t);

    script(OPEN_CALL END, 3000);
    bit_by_bit(more, "\"name\":\"f\"", &told);
    ok(strncmp(told.p, " 0=f 0+", 7) == 0 && strstr(told.p, " length"),
       "cut, told: it stays");
    ok(!strstr(told.p, " 1="), "cut, told: alone");
    buf_release(&told);
    apit_close(&t);
}

/* Complete but for its closing tag: the model may end so, a limit may not. */
static void unclosed(void)
{
    char more[64];

    script(CALL_ONLY END, 0);
    snprintf(more, sizeof(more), ",\"max_tokens\":%zu", script_n - 1);
    at_once("", " 0=f 0+{\"a\": \"1\"} tool_calls", "unclosed");
    whole("", 1, NULL, "unclosed");
    at_once(more, " [" CALL_ONLY "] length", "unclosed and cut");
    whole(more, 0, CALL_ONLY, "unclosed and cut");
    apit_close(&t);
}

static void order(void)
{
    char row[64];
    struct call c;

    script("Hi" T F("f", P("a", "1")) E "you" T F("g", P("a", "2")) E END, 0);
    at_once("", " [Hiyou] 0=f 0+{\"a\": \"1\"} 1=g 1+{\"a\": \"2\"} "
                "tool_calls", "content before calls");
    call_do(&c, &t, chat, body(",\"max_tokens\":4"));
    is_str(row_get(&c, "finish_reason || ' ' || tool_calls", row,
                   sizeof(row)), "length 0", "a call that was cut is none");
    call_release(&c);
    apit_close(&t);
}

/* The first token ends the turn. */
static void nothing(void)
{
    struct joined j;
    struct call c;

    script(END, 0);
    call_do(&c, &t, chat, body(",\"stream\":true"));
    join(&j, &c);
    ok(j.framing && j.role_first && j.n == 2 && !j.content.n,
       "an empty turn: its role and its end");
    is_str(j.finish, "stop", "an empty turn: stop");
    join_release(&j);
    call_release(&c);
    whole("", 0, "", "an empty turn");
    apit_close(&t);
}

/* --- when it is too late ------------------------------------------------- */

/* The model had ended well, and then the server went down. */
static void late_cut(void)
{
    char row[64];
    struct joined j;
    struct call c;

    script("one two three" END, 3000);
    call_start(&c, &t, "POST", chat, body(",\"stream\":true"), NULL);
    ok(call_until(&c, "one", 5000), "a stream is under way");
    let_end(&c);
    api_cut(&c.x);
    call_finish(&c);
    join(&j, &c);
    is_str(j.finish, "error", "a failure: finish says error, not stop");
    ok(json_at(j.chunk[j.n - 1], "error.type"), "with an error object");
    join_release(&j);
    is_str(row_get(&c, "finish_reason || ' ' || error_type", row,
                   sizeof(row)), "error draining", "its row");
    call_release(&c);
    apit_close(&t);
}

static void left(void)
{
    char row[64];
    const struct choice *choice;
    struct call c;

    script("Hello " T F("f", P("a", "1 2 3 4 5 6 7 8 9 10 11 12 13 14")), 5000);
    call_start(&c, &t, "POST", chat, body(""), NULL);
    choice = &run_of(&c.x)->choices[0];
    for (int i = 0; i < 500; i++) {
        const struct calls *calls = choice_calls(choice);

        if (calls && calls->n && calls->p[0]->args.n)
            break;
        call_until(&c, NULL, 10);
    }
    ok(choice->content.n, "content is kept for the answer");
    scripted_hold(t.gen);
    api_gone(&c.x);
    c.state = api_pump(&c.x, &c.out, 0);
    is_int(c.state, X_MORE, "the client leaves inside a call: not over yet");
    ok(!choice->content.n && !choice->reasoning.n,
       "what nobody will read is let go");
    call_finish(&c);
    is_int(c.state, X_FAILED, "nothing may be sent");
    ok(!c.out.n, "and nothing was");
    is_str(row_get(&c, "finish_reason || ' ' || status || ' ' || tool_calls "
                       "|| ' ' || (completion_tokens BETWEEN 5 AND 60) || "
                       "' ' || (prompt_tokens > 0)", row, sizeof(row)),
           "abandoned 499 0 1 1", "its row: real counts");
    call_release(&c);
    apit_close(&t);
}

/* The same while the model still thinks. */
static void left_early(void)
{
    const struct choice *choice;
    struct call c;

    script("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20", 5000);
    call_start(&c, &t, "POST", chat,
               "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],"
               "\"reasoning_effort\":\"high\"}", NULL);
    choice = &run_of(&c.x)->choices[0];
    for (int i = 0; i < 500 && !choice->reasoning.n; i++)
        call_until(&c, NULL, 10);
    ok(choice->reasoning.n, "reasoning is kept for the answer");
    scripted_hold(t.gen);
    api_gone(&c.x);
    c.state = api_pump(&c.x, &c.out, 0);
    ok(c.state == X_MORE && !choice->reasoning.n, "it is let go");
    call_finish(&c);
    call_release(&c);
    apit_close(&t);
}

/* The gen drops its jobs when it goes down. */
static void cancelled(void)
{
    char row[64];
    struct joined j;
    struct call c;

    script("one two three four five six seven eight nine ten", 10000);
    call_start(&c, &t, "POST", chat, body(",\"stream\":true"), NULL);
    ok(call_until(&c, "one", 5000), "a stream is under way");
    gen_cancel(t.gen, run_of(&c.x)->choices[0].job);
    call_finish(&c);
    join(&j, &c);
    is_str(j.finish, "error", "cancelled: finish says error");
    ok(json_str_is(json_at(j.chunk[j.n - 1], "error.type"), "server_busy"),
       "cancelled: the server is going down");
    join_release(&j);
    is_str(row_get(&c, "finish_reason || ' ' || status || ' ' || error_type",
                   row, sizeof(row)), "error 200 draining",
           "cancelled: the row says why");
    call_release(&c);

    call_start(&c, &t, "POST", chat, body(""), NULL);
    gen_cancel(t.gen, run_of(&c.x)->choices[0].job);
    call_finish(&c);
    is_int(call_status(&c), 503, "cancelled, whole: 503");
    is_str(row_get(&c, "finish_reason || ' ' || status || ' ' || error_type",
                   row, sizeof(row)), "error 503 draining",
           "cancelled, whole: the row says why");
    call_release(&c);
    apit_close(&t);
}

int main(void)
{
    const char *why;
    struct scripted_config gen = {.fail_after = -1, .context = 512};

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    withdrawn();
    characters();
    refused();
    holes();
    cut_short();
    unclosed();
    order();
    nothing();
    late_cut();
    left();
    left_early();
    cancelled();
    return done();
}
