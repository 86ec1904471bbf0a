/*
 * The live view: states and figures of requests under way, contract 1.1
 * (tandem.md 1.1), streams of it, and what it costs while 1,000 wait.
 */
#include "api/context.h"
#include "api/live.h"
#include "base/thread.h"
#include "t/lib/apit.h"

static const char *const chat = "/v1/chat/completions";
static const char *const page = "/v1/dashboard/live?follow=0";

#define ASK(stream)                                                          \
    "{\"messages\":[{\"role\":\"user\",\"content\":\"marzipan\"}],"           \
    "\"max_tokens\":40,\"temperature\":0.5,\"stream\":" stream "}"

struct look {
    struct call call;
    struct arena arena;
    const struct json *v;
};

static void look_open(struct look *l, struct apit *t, const char *path)
{
    call_do(&l->call, t, path, NULL);
    l->v = call_json(&l->call, &l->arena);
}

static void look_close(struct look *l)
{
    arena_release(&l->arena);
    call_release(&l->call);
}

static int64_t at(const struct look *l, const char *path)
{
    return json_int(json_at(l->v, path));
}

static bool is(const struct look *l, const char *path, const char *want)
{
    return json_str_is(json_at(l->v, path), want);
}

static bool none(const struct look *l, const char *path)
{
    const struct json *v = json_at(l->v, path);

    return v && v->type == JSON_NULL;
}

/* tandem.md 1.1, word for word */
static void has_keys(const struct json *v, const char *const *keys,
                     const char *what)
{
    size_t n = 0;

    for (; keys[n]; n++)
        if (!json_get(v, keys[n]))
            printf("#   %s lacks %s\n", what, keys[n]);
    for (n = 0; keys[n] && json_get(v, keys[n]); n++)
        ;
    ok(!keys[n] && v && v->n == n, "%s has the keys of the contract", what);
}

static const char *const top_keys[] = {
    "contract_version", "seq", "generated_at", "interval_s", "engine",
    "counts", "now", "requests", "recent", "sample", "sampler", NULL,
};
static const char *const engine_keys[] = {
    "state", "label", "since_ms", "model", "version", "draining", "kv",
    "memory", "store", "waiting_for_client", NULL,
};
static const char *const counts_keys[] = {
    "in_flight", "queued", "prefilling", "decoding", "completed_1m", "served",
    "errors", "refused", NULL,
};
static const char *const now_keys[] = {
    "decode_tps", "prefill_tps", "prefilling", "tokens_per_block",
    "last_prefill_ms_ago", NULL,
};
static const char *const request_keys[] = {
    "request_id", "phase", "finish_reason", "status", "model", "client",
    "endpoint", "stream", "thinking", "temperature", "prompt_tokens",
    "cached_tokens", "forwarded_tokens", "tokens", "blocks",
    "tokens_per_block", "elapsed_ms", "queue_ms", "prompt_ms", "ttft_ms",
    "decode_ms", "prefill_tps", "decode_tps", "decode_tps_now",
    "cache_source", "max_tokens", "ended_ms_ago", "activity", "timeline",
    NULL,
};
static const char *const activity_keys[] = {
    "state", "label", "since_ms", "constrained", "queue", "prefill", "decode",
    "tool", "reasoning", "client", "continues", "step", "stop", NULL,
};
static const char *const queue_keys[] = {
    "place", "wait_ms", "timeout_s", "place_is_estimate", NULL,
};
static const char *const prefill_keys[] = {
    "done", "total", "cached", "pct", "tps_now", "tps_avg", "eta_ms",
    "progress", "at_ms", NULL,
};
static const char *const decode_keys[] = {
    "tokens", "thinking_tokens", "content_tokens", "tool_tokens", "tps_now",
    "tps_avg", "rounds", "tokens_per_round", "tokens_per_round_now",
    "ms_per_round", "ms_per_round_now", "accept_mean", NULL,
};
static const char *const stop_keys[] = {
    "reason", "detail", "state", "tokens_sent", "silent_ms",
    "client_gone_ms", "sentence", NULL,
};
static const char *const sample_keys[] = {
    "t", "decode_tps", "prefill_tps", "running", "waiting", "tokens", NULL,
};

static void idle(struct apit *t)
{
    struct look l;

    look_open(&l, t, page);
    has_keys(l.v, top_keys, "the page");
    has_keys(json_get(l.v, "engine"), engine_keys, "engine");
    has_keys(json_get(l.v, "counts"), counts_keys, "counts");
    has_keys(json_get(l.v, "now"), now_keys, "now");
    ok(is(&l, "contract_version", "1.1") && is(&l, "engine.state", "idle") &&
           is(&l, "engine.label", "Idle"),
       "nothing runs");
    ok(at(&l, "counts.in_flight") == 0 && none(&l, "requests.0") == false &&
           json_at(l.v, "requests")->n == 0,
       "and no row is there");
    look_close(&l);
}

/* One runs, one waits; then each ends in its own way. */
static void states(struct apit *t)
{
    struct call a, b;
    struct look l;

    call_start(&a, t, "POST", chat, ASK("true"), NULL);
    ok(call_until(&a, "data: ", 5000), "A writes");
    call_start(&b, t, "POST", "/v1/completions",
               "{\"prompt\":\"marzipan\",\"max_tokens\":3}", NULL);
    scripted_hold(t->gen);
    look_open(&l, t, page);
    has_keys(json_at(l.v, "requests.0"), request_keys, "a request");
    has_keys(json_at(l.v, "requests.0.activity"), activity_keys, "activity");
    has_keys(json_at(l.v, "requests.0.activity.prefill"), prefill_keys,
             "prefill");
    has_keys(json_at(l.v, "requests.0.activity.decode"), decode_keys,
             "decode");
    has_keys(json_at(l.v, "requests.1.activity.queue"), queue_keys, "queue");
    ok(is(&l, "engine.state", "busy") &&
           is(&l, "engine.label", "Busy: 1 running, 1 waiting"),
       "the engine is busy");
    ok(at(&l, "counts.in_flight") == 2 && at(&l, "counts.queued") == 1 &&
           at(&l, "counts.decoding") == 1,
       "two are there, one of them waits");
    ok(is(&l, "requests.0.phase", "decode") &&
           is(&l, "requests.0.activity.state", "writing") &&
           is(&l, "requests.0.activity.label", "Writing"),
       "A is being written");
    ok(at(&l, "requests.0.tokens") > 0 &&
           at(&l, "requests.0.max_tokens") == 40 &&
           at(&l, "requests.0.prompt_tokens") > 0,
       "with its counts");
    ok(none(&l, "requests.0.activity.queue") &&
           none(&l, "requests.0.activity.stop") &&
           none(&l, "requests.0.finish_reason") &&
           none(&l, "requests.0.ended_ms_ago"),
       "and nothing of what it is not");
    ok(is(&l, "requests.1.phase", "queued") &&
           is(&l, "requests.1.activity.state", "queued") &&
           is(&l, "requests.1.activity.label",
              "Queued, about 1st in line: the slot is busy"),
       "B waits, and why");
    ok(at(&l, "requests.1.activity.queue.place") == 1 &&
           none(&l, "requests.1.activity.prefill") &&
           none(&l, "requests.1.activity.decode"),
       "in its place");
    ok(is(&l, "requests.0.timeline.0.state", "queued") &&
           is(&l, "requests.0.timeline.1.state", "prefilling") &&
           is(&l, "requests.0.timeline.2.state", "writing"),
       "A's timeline");
    ok(!strstr(call_body(&l.call), "marzipan"), "no word of a prompt");
    look_close(&l);
    look_open(&l, t, "/v1/dashboard/lanes");
    ok(is(&l, "slots.0.state", "writing") && at(&l, "queued.0.position") == 1 &&
           at(&l, "max_running") == 1,
       "the lanes say the same");
    look_close(&l);
    api_gone(&b.x);
    call_finish(&b);
    scripted_release(t->gen);
    call_finish(&a);
    call_release(&b);
    call_release(&a);
}

static void ended(struct apit *t)
{
    struct look l;

    look_open(&l, t, page);
    has_keys(json_at(l.v, "recent.0.activity.stop"), stop_keys, "stop");
    ok(is(&l, "recent.0.phase", "done") &&
           is(&l, "recent.0.finish_reason", "length") &&
           is(&l, "recent.0.activity.stop.reason", "length") &&
           is(&l, "recent.0.activity.stop.sentence",
              "The answer reached its limit, after 40 tokens."),
       "A reached its limit");
    ok(at(&l, "recent.0.tokens") == 40 &&
           at(&l, "recent.0.cached_tokens") == 0 &&
           at(&l, "recent.0.status") == 200,
       "with its final figures");
    ok(is(&l, "recent.1.activity.stop.reason", "abandoned") &&
           is(&l, "recent.1.activity.stop.detail", "left_while_queued") &&
           at(&l, "recent.1.activity.client.gone_ms") >= 0,
       "B left while it waited");
    ok(at(&l, "counts.in_flight") == 0 && at(&l, "counts.served") == 1 &&
           at(&l, "counts.completed_1m") == 2 &&
           json_at(l.v, "requests")->n == 2,
       "both are still in the list");
    look_close(&l);
}

static void refused(struct apit *t)
{
    struct look l;
    struct call c;

    call_start(&c, t, "POST", chat, "{\"messages\":7}", NULL);
    call_release(&c);
    look_open(&l, t, page);
    ok(is(&l, "recent.0.activity.stop.reason", "rejected") &&
           is(&l, "recent.0.activity.stop.detail", "bad_request") &&
           at(&l, "recent.0.status") == 400 &&
           at(&l, "counts.refused") == 1,
       "a wrong request is rejected");
    look_close(&l);
}

/* --- streams ------------------------------------------------------------- */

static size_t events(const struct call *c)
{
    size_t n = 0;

    for (const char *p = call_body(c); (p = strstr(p, "event: live\n")); p++)
        n++;
    return n;
}

static const struct json *event_json(const struct call *c, size_t i,
                                     struct arena *a)
{
    const struct json *v = NULL;
    const char *p = call_body(c);

    arena_init(a, 1 << 20);
    for (;; p++) {
        p = strstr(p, "\ndata: ");
        if (!p)
            return NULL;
        if (!i--)
            break;
    }
    p += 7;
    if (json_parse(&v, a, p, strcspn(p, "\n"), NULL))
        return NULL;
    return v;
}

/* Is some event of b, but for its first, in a too, byte for byte? */
static bool shared_event(const struct call *a, const struct call *b)
{
    const char *p = strstr(call_body(b) + 1, "event: live\n");
    bool found = false;

    while (p && !found) {
        const char *end = strstr(p, "\n\n");
        char *one;

        if (!end)
            return false;
        one = strndup(p, (size_t)(end - p) + 2);
        found = one && strstr(call_body(a), one);
        free(one);
        p = strstr(end, "event: live\n");
    }
    return found;
}

static void streams(struct apit *t)
{
    const char *const stream = "/v1/dashboard/live";
    struct call c[LIVE_WATCHERS + 1], work;
    const struct json *v;
    struct arena a;
    char h[64];

    for (int i = 0; i < LIVE_WATCHERS; i++)
        call_start(&c[i], t, "GET", stream, NULL, NULL);
    is_str(call_header(&c[0], "Content-Type", h, sizeof(h)),
           "text/event-stream; charset=utf-8", "a stream");
    is_str(call_header(&c[0], "X-Accel-Buffering", h, sizeof(h)), "no",
           "that nothing holds back");
    ok(!strncmp(call_body(&c[0]), "event: live\nid: ", 16),
       "it begins with an event");
    v = event_json(&c[0], 0, &a);
    ok(json_get(v, "history") != NULL, "the first one has the history");
    arena_release(&a);
    call_start(&c[LIVE_WATCHERS], t, "GET", stream, NULL, NULL);
    is_int(call_status(&c[LIVE_WATCHERS]), 429, "a fifth is one too many");
    call_release(&c[LIVE_WATCHERS]);

    call_start(&work, t, "POST", chat, ASK("true"), NULL);
    call_until(&work, "data: ", 5000);
    scripted_hold(t->gen);
    for (int i = 0; i < 2; i++)
        ok(call_until(&c[i], "\"phase\":\"decode\"", 5000),
           "stream %d sees the request", i);
    v = event_json(&c[0], 1, &a);
    ok(v && !json_get(v, "history"), "later ones have no history");
    arena_release(&a);
    for (int i = 0; i < 20 && !shared_event(&c[0], &c[1]); i++) {
        call_until(&c[0], NULL, 300);
        call_until(&c[1], NULL, 1);
    }
    ok(shared_event(&c[0], &c[1]), "streams have the same bytes");
    scripted_release(t->gen);
    call_finish(&work);
    ok(call_until(&c[0], "\"phase\":\"done\"", 5000), "and its end");

    api_gone(&c[3].x);
    call_finish(&c[3]);
    call_release(&c[3]);
    call_start(&c[3], t, "GET", stream, NULL, NULL);
    is_int(call_status(&c[3]), 200, "a stream that was left makes room");
    for (int i = 0; i < LIVE_WATCHERS; i++) {
        api_gone(&c[i].x);
        call_finish(&c[i]);
        ok(events(&c[i]) > 0 && !strstr(c[i].out.p, "marzipan"),
           "stream %d has events, and no word of a prompt", i);
        call_release(&c[i]);
    }
    call_release(&work);
}

/* What a second brought, after it. */
static void history(struct apit *t)
{
    struct call c;
    const struct json *v;
    struct arena a;

    for (int64_t until = mono_ms() + 3000; mono_ms() < until;) {
        call_start(&c, t, "GET", "/v1/dashboard/live", NULL, NULL);
        v = event_json(&c, 0, &a);
        if (json_at(v, "history.0")) {
            has_keys(json_at(v, "history.0"), sample_keys, "a sample");
            ok(json_int(json_at(v, "history.0.tokens")) >= 0 &&
                   json_get(v, "sample")->type == JSON_OBJ,
               "a second is told when it is over");
            until = 0;
        }
        arena_release(&a);
        api_gone(&c.x);
        call_finish(&c);
        call_release(&c);
    }
}

static void strangers(struct apit *t)
{
    static const char *const paths[] = {
        "/v1/dashboard/live", "/v1/dashboard/live?follow=0",
        "/v1/dashboard/lanes", "/v1/cache/stats", "/metrics",
        "/v1/dashboard/metrics",
    };
    struct call_opts remote = {.remote = true};
    struct call c;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        call_start(&c, t, "GET", paths[i], NULL, &remote);
        is_int(call_status(&c), 404, "%s is not there for others", paths[i]);
        call_release(&c);
    }
    call_start(&c, t, "GET", "/metrics/up", NULL, &remote);
    is_int(call_status(&c), 200, "/metrics/up is");
    call_release(&c);
    call_start(&c, t, "HEAD", "/v1/dashboard/live", NULL, NULL);
    is_int(call_status(&c), 200, "HEAD begins no stream");
    ok(c.state == X_DONE, "and ends");
    call_release(&c);
}

/* Streams of the view do not hold up a server that goes down. */
static void drain(struct apit *t)
{
    struct call c;

    call_start(&c, t, "GET", "/v1/dashboard/live", NULL, NULL);
    api_drain(t->api);
    call_finish(&c);
    ok(c.state == X_DONE && strstr(c.out.p, "\"state\":\"draining\""),
       "a stream ends when the server drains");
    call_release(&c);
}

/* What ended is counted for a minute, also when nobody looks meanwhile. */
static void minute(struct apit *t)
{
    struct shot *now = live_look(t->api->live, mono_us());
    struct shot *later = live_look(t->api->live, mono_us() + 61000000);

    ok(now->completed_1m > 0 && !later->completed_1m,
       "%u ended in this minute, none in the next",
       (unsigned)now->completed_1m);
    live_shot_free(now);
    live_shot_free(later);
}

/* --- calls and reasoning -------------------------------------------------- */

static void tools(const char *script)
{
    static const char body[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
        "\"max_tokens\":400,\"stream\":true,\"tools\":[{\"type\":\"function\","
        "\"function\":{\"name\":\"look_up\",\"parameters\":{\"type\":"
        "\"object\",\"properties\":{\"q\":{\"type\":\"string\"}}}}}]}";
    int32_t ids[512];
    struct scripted_config config = {
        .n = apit_ids(script, ids, 512), .fail_after = -1, .parallel = 1,
        .max_queue = 4, .per_token_us = 2000,
    };
    const char *why;
    struct call c;
    struct look l;
    struct apit t;

    config.ids = ids;
    if (!ok(apit_open(&t, &config, NULL, &why), "a model that calls"))
        return;
    call_start(&c, &t, "POST", chat, body, NULL);
    call_until(&c, "look_up", 5000);
    scripted_hold(t.gen);
    look_open(&l, &t, page);
    ok(is(&l, "requests.0.activity.state", "tool_call") &&
           is(&l, "requests.0.activity.label", "Calling tool look_up") &&
           is(&l, "requests.0.activity.tool.name", "look_up") &&
           at(&l, "requests.0.activity.tool.index") == 0 &&
           at(&l, "requests.0.activity.tool.calls_done") == 0,
       "a call is being written");
    look_close(&l);
    scripted_release(t.gen);
    call_finish(&c);
    look_open(&l, &t, page);
    ok(is(&l, "engine.state", "waiting_for_client") &&
           is(&l, "engine.label",
              "Waiting for client: running tool look_up") &&
           is(&l, "engine.waiting_for_client.tool_names.0", "look_up"),
       "then its client runs the tool");
    ok(at(&l, "recent.0.activity.decode.tool_tokens") > 0 &&
           !strstr(call_body(&l.call), "heliotrope"),
       "its tokens are counted, its arguments not told");
    look_close(&l);
    call_release(&c);
    apit_close(&t);
}

/* A name of 66 bytes, where the 63rd to 65th are one character. */
#define NAME_62 "look_up_look_up_look_up_look_up_look_up_look_up_look_up_look__"
#define NAME NAME_62 "\xe2\x82\xac" "x"

static void long_name(void)
{
    static const char script[] =
        "<tool_call>\n<function=" NAME ">\n</function>\n</tool_call>"
        "<|im_end|>";
    static const char body[] =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],"
        "\"max_tokens\":400,\"tools\":[{\"type\":\"function\","
        "\"function\":{\"name\":\"" NAME "\"}}]}";
    int32_t ids[512];
    struct scripted_config config = {
        .ids = ids, .n = apit_ids(script, ids, 512), .fail_after = -1,
        .parallel = 1, .max_queue = 4,
    };
    const char *why;
    struct call c;
    struct look l;
    struct apit t;

    if (!ok(apit_open(&t, &config, NULL, &why), "a model that calls it"))
        return;
    call_do(&c, &t, chat, body);
    look_open(&l, &t, page);
    ok(is(&l, "recent.0.activity.tool.name", NAME_62),
       "a long name is cut between characters");
    look_close(&l);
    call_release(&c);
    apit_close(&t);
}

/* --- many ---------------------------------------------------------------- */

#define MANY 1000

static void many(void)
{
    struct call *c;
    int32_t one = 100;
    struct scripted_config config = {
        .ids = &one, .n = 1, .fail_after = -1, .parallel = 1,
        .max_queue = MANY, .loop = true,
    };
    int64_t t0, worst = 0, best = INT64_MAX;
    const char *why;
    struct look l;
    struct apit t;

    if (!ok(apit_open(&t, &config, NULL, &why), "room for 1,000"))
        return;
    scripted_hold(t.gen);
    c = calls_waiting(&t, MANY);
    for (int i = 0; i < 5; i++) {
        int64_t took;

        t0 = mono_us();
        look_open(&l, &t, page);
        took = mono_us() - t0;
        worst = took > worst ? took : worst;
        best = took < best ? took : best;
        if (i == 4) {
            is_int(at(&l, "counts.queued"), MANY, "1,000 wait");
            is_int((int)json_at(l.v, "requests")->n, LIVE_ROWS_MAX,
                   "as many as there is room for are shown");
        }
        look_close(&l);
    }
    printf("# a look at %d that wait, and its parsing: %lld to %lld us\n",
           MANY, (long long)best, (long long)worst);
    calls_leave(c, MANY);
    apit_close(&t);
}

static void rates(void)
{
    struct live_rate r = {0};

    ok(live_rate_of(&r, 5000000) == 0, "no rate of nothing");
    for (int i = 0; i <= 40; i++)
        live_rate_add(&r, 1000000 + i * 100000, i * 5);
    ok(live_rate_of(&r, 5000000) > 45 && live_rate_of(&r, 5000000) < 55,
       "50 a second");
    ok(live_rate_of(&r, 9000000) == 0, "and none when it is long ago");
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config config = {
        .n = apit_ids("one two three four five six seven", ids, 64),
        .loop = true, .per_token_us = 3000, .fail_after = -1, .parallel = 1,
        .max_queue = 8,
    };
    const char *why;
    struct apit t;

    config.ids = ids;
    if (!apit_open(&t, &config, NULL, &why))
        skip_all(why);
    rates();
    idle(&t);
    states(&t);
    ended(&t);
    refused(&t);
    strangers(&t);
    streams(&t);
    history(&t);
    drain(&t);
    minute(&t);
    apit_close(&t);
    tools("<tool_call>\n<function=look_up>\n<parameter=q>\nheliotrope "
          "heliotrope heliotrope\n</parameter>\n</function>\n</tool_call>"
          "<|im_end|>");
    long_name();
    many();
    return done();
}
