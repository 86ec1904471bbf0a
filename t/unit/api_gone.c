/*
 * Clients that leave, queues that are full, generations that fail, comment
 * lines while nothing happens, and the row that [DONE] waits for.
 */
#include "base/thread.h"
#include "t/lib/apit.h"

#include <sqlite3.h>
#include <unistd.h>

static const char *const chat = "/v1/chat/completions";

/* reasoning off, so that the script is the content */
#define CHAT(more)                                                             \
    "{\"reasoning_effort\":\"none\",\"messages\":[{\"role\":\"user\","         \
    "\"content\":\"Hi\"}]" more "}"

static int64_t number(struct call *c, const char *column)
{
    char out[64];

    row_get(c, column, out, sizeof(out));
    return *out ? strtoll(out, NULL, 10) : -1;
}

static void in_the_stream(struct apit *t)
{
    struct gen_state s;
    struct call c;
    char h[64];
    int64_t n;

    call_start(&c, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":4000"), NULL);
    ok(call_until(&c, "four", 5000), "case C15: some of it arrived");
    api_gone(&c.x);
    api_gone(&c.x);
    call_finish(&c);
    is_int(c.state, X_FAILED, "case C15: nothing may be sent any more");
    is_int(api_open_count(t->api), 0, "case C12: it is over");
    for (int i = 0; i < 1000; i++) { /* it publishes after the END */
        t->gen->ops->state(t->gen, &s);
        if (!s.running && !s.waiting)
            break;
        usleep(1000);
    }
    is_int(s.running + s.waiting, 0, "case C12: the gen is free");
    is_str(row_get(&c, "finish_reason || ' ' || state || ' ' || status", h,
                   sizeof(h)),
           "abandoned done 200", "case C12: abandoned, not an error");
    n = number(&c, "completion_tokens");
    ok(n >= 4 && n < 4000, "case C15: the real count (%lld)", (long long)n);
    ok(number(&c, "prompt_tokens") > 0, "case C15: the real prompt");
    call_release(&c);

    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":4000"), NULL);
    call_until(&c, NULL, 30);
    api_gone(&c.x);
    call_finish(&c);
    is_str(row_get(&c, "finish_reason || ' ' || status", h, sizeof(h)),
           "abandoned 499", "case C12: without a stream as well");
    ok(!c.out.n, "nothing was sent");
    call_release(&c);

    call_start(&c, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":4000"), NULL);
    call_until(&c, "two", 5000);
    api_slow(&c.x);
    api_gone(&c.x);
    call_finish(&c);
    is_str(row_get(&c, "finish_reason", h, sizeof(h)), "slow_client",
           "a client that does not read: the first reason counts");
    call_release(&c);

    call_do(&c, t, chat, CHAT(",\"max_tokens\":4000,\"stop\":\"two\""));
    ok(number(&c, "total_ms") < 2000,
       "a stop string ends the generation, not only the answer");
    call_release(&c);

    call_do(&c, t, chat, CHAT(""));
    is_int(number(&c, "completion_tokens"), 512,
           "without max_tokens the configuration's");
    call_release(&c);
}

/* The daemon's own end: what runs is cut off, and says so. */
static void cut(struct apit *t)
{
    struct joined j;
    struct call c;

    call_start(&c, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":4000"), NULL);
    ok(call_until(&c, "two", 5000), "a stream is under way");
    api_cut(&c.x);
    call_finish(&c);
    join(&j, &c);
    is_str(j.finish, "error", "cut: finish says error");
    ok(json_str_is(json_at(j.chunk[j.n - 1], "error.type"), "server_busy"),
       "cut: as an error of the server");
    is_int(j.dones, 1, "cut: the stream is complete");
    join_release(&j);
    call_release(&c);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":4000"), NULL);
    api_cut(&c.x);
    call_finish(&c);
    is_int(call_status(&c), 503, "cut: 503 when nothing was sent");
    call_release(&c);
}

static void in_the_queue(struct apit *t)
{
    struct call a, b, c, more[4];
    char h[64];

    scripted_hold(t->gen);
    call_start(&a, t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    call_start(&b, t, "POST", chat, CHAT(",\"stream\":true"), NULL);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    call_until(&c, NULL, 20);
    for (int i = 0; i < 4; i++) {
        call_start(&more[i], t, "POST", chat,
                   i % 2 ? CHAT(",\"stream\":true") : CHAT(""), NULL);
        is_int(call_status(&more[i]), 503, "case C39: 503 when full");
        is_str(call_header(&more[i], "Retry-After", h, sizeof(h)), "5",
               "case C39: Retry-After");
        is_str(row_get(&more[i], "status || ' ' || finish_reason || ' ' || "
                                 "state || ' ' || "
                                 "coalesce(prompt_tokens, 'no tokens')",
                       h, sizeof(h)),
               "503 refused failed no tokens",
               "case C39: a row, nothing used");
        call_release(&more[i]);
    }
    api_gone(&b.x);
    ok(api_pump(&b.x, &b.out, mono_us()) != X_MORE ||
           api_next_us(&b.x) == 0,
       "case C13: no timer for comment lines that nobody gets");
    call_finish(&b);
    is_str(row_get(&b, "finish_reason || ' ' || completion_tokens", h,
                   sizeof(h)),
           "abandoned 0", "case C13: abandoned while queued, 0 tokens");
    is_int(number(&b, "ttft_ms"), -1, "no time of a token that never came");
    call_start(&more[0], t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    ok(more[0].x.streaming, "case C13: its place is free again");
    scripted_release(t->gen);
    call_finish(&a);
    call_finish(&c);
    call_finish(&more[0]);
    is_int(call_status(&a) + call_status(&c) + call_status(&more[0]), 600,
           "case C39: those that waited are served");
    call_release(&a);
    call_release(&b);
    call_release(&c);
    call_release(&more[0]);
    is_int(api_open_count(t->api), 0, "case C39: the counters are back");

    /* gone before the body was handled */
    memset(&b, 0, sizeof(b));
    exchange_init(&b.x, t->api, 1 << 20);
    b.t = t;
    b.x.req.method = (struct span){"POST", 4};
    b.x.req.path = (struct span){chat, strlen(chat)};
    b.x.req.local = true;
    b.x.req.body = (struct text){CHAT(""), strlen(CHAT(""))};
    api_head(&b.x, &b.body_cap);
    api_gone(&b.x);
    api_body(&b.x);
    ok(!b.x.streaming, "gone before submit: nothing runs");
    exchange_release(&b.x);
    is_int(row_count(t, "finish_reason = 'abandoned' AND status = 499 AND "
                        "completion_tokens IS NULL"), 1,
           "it has its row");
}

static int64_t count(const struct call *c, const char *line)
{
    int64_t n = 0;

    for (const char *s = c->out.p; s && (s = strstr(s, line)); s++)
        n++;
    return n;
}

static void comments(struct apit *t)
{
    struct joined j;
    struct call a, b;
    int64_t start = mono_ms(), waited;

    scripted_hold(t->gen);
    call_start(&a, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":2"), NULL);
    call_start(&b, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":2"), NULL);
    ok(call_until(&b, ": waiting, position 2, 0 s so far\n\n", 5000), "a waiting line");
    call_until(&b, NULL, 150);
    waited = mono_ms() - start;
    ok(count(&b, ": waiting") >= 2 && count(&b, ": waiting") <= waited / 40,
       "one every 40 ms: %d in %d ms", (int)count(&b, ": waiting"),
       (int)waited);
    ok(strncmp(b.out.p, "Status: 200 OK\r\n", 16) == 0, "after the head");
    scripted_release(t->gen);
    ok(call_until(&a, ": prefill ", 5000), "a prefill line");
    start = mono_ms();
    call_finish(&a);
    ok(count(&a, ": prefill ") <= 1 + (mono_ms() - start) / 1000,
       "and no other for a second");
    call_finish(&b);
    join(&j, &b);
    ok(j.framing && j.dones == 1 && j.comments >= 1 && j.role_first,
       "case C07: comments do not disturb the stream");
    join_release(&j);
    call_release(&a);
    call_release(&b);
}

/* What writes needs no sign of life, however slowly it does. */
static void no_comments(struct apit *t)
{
    struct call c;
    const char *data;

    call_start(&c, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":100"), NULL);
    call_finish(&c);
    data = strstr(c.out.p, "data:");
    ok(data && !strstr(data, "\n: "), "no comment line behind the first token");
    call_release(&c);
}

static void failures(struct apit *t)
{
    struct joined j;
    struct arena a;
    struct call c;
    char h[64];

    call_do(&c, t, chat, CHAT(",\"stream\":true,\"max_tokens\":9"));
    join(&j, &c);
    is_str(j.finish, "error", "an error in the middle: finish says so");
    is_int(j.dones, 1, "and [DONE] follows");
    ok(json_at(j.chunk[j.n - 1], "error.message") &&
           json_at(j.chunk[j.n - 1], "error.type") &&
           json_at(j.chunk[j.n - 1], "error.param") &&
           json_at(j.chunk[j.n - 1], "error.code"),
       "with an error object");
    join_release(&j);
    is_str(row_get(&c, "finish_reason || ' ' || status || ' ' || "
                       "completion_tokens || ' ' || error_type", h,
                   sizeof(h)),
           "error 200 2 internal", "its row");
    call_release(&c);
    call_do(&c, t, chat, CHAT(",\"max_tokens\":9"));
    is_int(call_status(&c), 500, "nothing sent yet: a proper 500");
    ok(json_str_is(json_at(call_json(&c, &a), "error.type"), "server_error"),
       "with an error object");
    arena_release(&a);
    is_str(row_get(&c, "finish_reason || ' ' || status", h, sizeof(h)),
           "error 500", "its row");
    call_release(&c);
}

static void timeouts(struct apit *t)
{
    struct joined j;
    struct call c;
    char h[64];

    call_do(&c, t, chat, CHAT(",\"stream\":true,\"max_tokens\":4000"));
    join(&j, &c);
    is_str(j.finish, "timeout", "a deadline: finish says so");
    is_int(j.dones, 1, "and [DONE] follows");
    join_release(&j);
    call_release(&c);

    scripted_hold(t->gen);
    call_do(&c, t, chat, CHAT(",\"stream\":true"));
    is_int(call_status(&c), 429, "no turn in all its time: 429");
    ok(strstr(call_body(&c), "\"type\":\"rate_limit_error\"") &&
           strstr(call_body(&c), "\"code\":\"queue_timeout\""),
       "as OpenAI says it");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "10",
           "with Retry-After");
    is_str(row_get(&c, "status || ' ' || finish_reason || ' ' || "
                       "completion_tokens", h, sizeof(h)),
           "429 timeout 0", "its row");
    call_release(&c);
    scripted_release(t->gen);
}

/* docs/decisions/0003: [DONE] waits for the row, but not for long. */
static void locked_database(struct apit *t)
{
    sqlite3 *db;
    struct call c;
    char h[64];
    int64_t start;

    sqlite3_open(t->db, &db);
    is_int(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), 0,
           "case C44: another process holds the lock");
    start = mono_ms();
    call_do(&c, t, chat, CHAT(",\"stream\":true,\"max_tokens\":2"));
    is_int(c.state, X_DONE, "case C44: the stream ends");
    ok(strstr(c.out.p, "data: [DONE]\n\n") && call_status(&c) == 200,
       "case C44: completely");
    ok(mono_ms() - start < 3000, "case C44: without the lock's delay");
    ok(mono_ms() - start >= 90, "but it gave the row a moment");
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(db);
    is_str(row_get(&c, "state || ' ' || finish_reason", h, sizeof(h)),
           "done length", "case C44: the row follows");
    call_release(&c);
}

/* --- leaving at any moment, from another thread --- */

static void *leave(void *arg)
{
    struct call *c = arg;

    usleep((useconds_t)(mono_us() % 1500));
    api_gone(&c->x);
    return NULL;
}

static void *request(void *arg)
{
    struct apit *t = arg;
    struct err e;

    for (int i = 0; i < 40; i++) {
        pthread_t other;
        struct call c;

        memset(&c, 0, sizeof(c));
        call_start(&c, t, "POST", chat,
                   CHAT(",\"stream\":true,\"max_tokens\":6"), NULL);
        if (thread_start(&other, "leave", leave, &c, &e))
            return NULL;
        call_until(&c, NULL, 10000);
        pthread_join(other, NULL);
        call_release(&c);
    }
    return NULL;
}

static void at_any_moment(struct apit *t)
{
    int before = row_count(t, "1");
    pthread_t threads[4];
    struct err e;

    for (int i = 0; i < 4; i++)
        if (thread_start(&threads[i], "request", request, t, &e))
            return;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    is_int(row_count(t, "1") - before, 160, "every one has its row");
    is_int(row_count(t, "state = 'open'"), 0, "none is open");
    is_int(api_open_count(t->api), 0, "nothing is open");
}

static void patient(struct api_config *c)
{
    c->wait_line_ms = 40;
    c->prefill_line_ms = 20;
    c->request_timeout_ms = 60000;
}

static void hasty(struct api_config *c)
{
    c->request_timeout_ms = 200;
}

static void short_wait(struct api_config *c)
{
    c->ledger_wait_ms = 100;
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config gen = {.ids = ids,
                                  .loop = true,
                                  .fail_after = -1,
                                  .per_token_us = 1000,
                                  .context = 8192};
    const char *why;
    struct apit t;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    gen.n = apit_ids("one two three four five ", ids, 64);
    apit_with(&gen, NULL, in_the_stream);
    apit_with(&gen, NULL, cut);
    apit_with(&gen, hasty, timeouts);
    apit_with(&gen, short_wait, locked_database);
    gen.parallel = 1;
    gen.max_queue = 2;
    apit_with(&gen, NULL, in_the_queue);
    gen.prefill_us = 100000;
    apit_with(&gen, patient, comments);
    gen.prefill_us = 0;
    apit_with(&gen, patient, no_comments);
    gen.fail_after = 2;
    apit_with(&gen, NULL, failures);
    gen.fail_after = -1;
    gen.parallel = 8;
    gen.max_queue = 8;
    gen.per_token_us = 200;
    apit_with(&gen, NULL, at_any_moment);
    return done();
}
