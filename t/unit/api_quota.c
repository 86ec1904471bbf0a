/*
 * Limits on the wire: what a request reserves, pays and gets back, however it
 * ends. The day's tokens are looked at, since no time gives them back.
 */
#include "acct/limits.h"
#include "base/thread.h"
#include "t/lib/apit.h"

#define DAY_LIMIT 100000

static const char *const chat = "/v1/chat/completions";
static const struct limit_set set = {.requests = 1000000,
                                     .tokens_day = DAY_LIMIT,
                                     .concurrent = 3};
static struct limits *limits;

/* reasoning off, so that the script is the content */
#define CHAT(more)                                                             \
    "{\"reasoning_effort\":\"none\",\"messages\":[{\"role\":\"user\","         \
    "\"content\":\"Hi\"}]" more "}"

static void config(struct api_config *c)
{
    c->limits = limits;
}

static int64_t header(const struct call *c, const char *name)
{
    char full[64], h[64];

    snprintf(full, sizeof(full), "x-ratelimit-%s", name);
    call_header(c, full, h, sizeof(h));
    return *h ? strtoll(h, NULL, 10) : -1;
}

static int64_t number(struct call *c, const char *column)
{
    char out[64];

    row_get(c, column, out, sizeof(out));
    return *out ? strtoll(out, NULL, 10) : -1;
}

static int64_t used(struct call *c)
{
    return number(c, "prompt_tokens + completion_tokens");
}

/* What the account has, seen from outside. */
static struct limits_state look(void)
{
    static const struct limit_set own = {-1, -1, -1, -1};
    struct limits_state s;
    const struct limits_now now = {mono_us(), epoch_ms()};

    (void)!limits_look(limits, 0, &own, now, &s, NULL);
    return s;
}

static void ends(struct apit *t)
{
    int64_t left = DAY_LIMIT;
    struct call c;

    call_do(&c, t, chat, CHAT(",\"max_tokens\":7"));
    left -= used(&c);
    is_int(header(&c, "remaining-tokens-day"), left, "JSON: what it used");
    is_int(header(&c, "limit-tokens-day"), DAY_LIMIT, "of the limit");
    is_int(header(&c, "remaining-concurrent"), 3, "it has ended");
    is_int(header(&c, "limit-tokens"), -1, "no limit, no header");
    call_release(&c);

    call_start(&c, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":9"), NULL);
    call_finish(&c);
    is_int(header(&c, "remaining-tokens-day"),
           left - number(&c, "prompt_tokens") - 9,
           "stream: what it may take is reserved in its head");
    is_int(header(&c, "remaining-concurrent"), 2, "it runs");
    left -= used(&c);
    is_int(look().left.tokens_day, left, "then it pays what it used");
    call_release(&c);

    call_start(&c, t, "POST", chat,
               CHAT(",\"stream\":true,\"max_tokens\":4000"), NULL);
    ok(call_until(&c, "two", 5000), "a stream is under way");
    ok(look().left.tokens_day <= left - 4000 && look().left.concurrent == 2,
       "with all it may take");
    api_gone(&c.x);
    call_finish(&c);
    left -= used(&c);
    is_int(look().left.tokens_day, left, "abandoned: what it used");
    is_int(look().left.concurrent, 3, "and it has ended");
    call_release(&c);

    call_do(&c, t, chat, CHAT(",\"max_tokens\":5,\"n\":3"));
    left -= used(&c);
    is_int(number(&c, "completion_tokens"), 15, "three choices");
    is_int(header(&c, "remaining-tokens-day"), left, "are paid");
    call_release(&c);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":50,\"n\":3"), NULL);
    is_int(look().left.concurrent, 2, "but are one request");
    ok(look().left.tokens_day <= left - 150, "that reserves for each of them");
    call_finish(&c);
    left -= used(&c);
    call_release(&c);
    call_do(&c, t, "/v1/completions",
            "{\"prompt\":[\"Hi\",\"Hello you\"],\"max_tokens\":5}");
    left -= used(&c);
    is_int(header(&c, "remaining-tokens-day"), left, "several prompts too");
    call_release(&c);
    call_do(&c, t, chat, CHAT(",\"max_tokens\":4000,\"stop\":\"two\""));
    left -= used(&c);
    is_int(header(&c, "remaining-tokens-day"), left, "a stop string");
    call_release(&c);
}

static void errors(struct apit *t)
{
    int64_t left = look().left.tokens_day;
    struct call c;

    call_do(&c, t, chat, "{");
    is_int(call_status(&c), 400, "an error of the client");
    is_int(header(&c, "remaining-tokens-day"), left, "has the headers");
    is_int(look().left.tokens_day, left, "and costs nothing");
    call_release(&c);
    call_do(&c, t, "/v1/models", NULL);
    is_int(header(&c, "limit-tokens-day"), -1, "models have none");
    call_release(&c);
    call_do(&c, t, "/health", NULL);
    is_int(header(&c, "limit-tokens-day"), -1, "nor has /health");
    call_release(&c);
    call_start(&c, t, "OPTIONS", chat, NULL, NULL);
    is_int(header(&c, "limit-tokens-day"), -1, "nor has a preflight");
    call_release(&c);
}

static void failures(struct apit *t)
{
    int64_t left = look().left.tokens_day;
    struct call c;

    call_do(&c, t, chat, CHAT(",\"max_tokens\":400"));
    is_int(call_status(&c), 500, "a backend that fails");
    left -= used(&c);
    is_int(number(&c, "completion_tokens"), 2, "after two tokens");
    is_int(header(&c, "remaining-tokens-day"), left, "they are paid");
    call_release(&c);
}

static void full(struct apit *t)
{
    int64_t left = look().left.tokens_day, waiting;
    struct call a, b, c, d;
    char h[64];

    scripted_hold(t->gen);
    call_start(&a, t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    call_start(&b, t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    waiting = look().left.tokens_day;
    ok(waiting < left, "those that wait have reserved");
    call_do(&c, t, chat, CHAT(""));
    is_int(call_status(&c), 503, "a full queue");
    is_int(header(&c, "remaining-tokens-day"), waiting, "costs nothing");
    is_int(header(&c, "remaining-concurrent"), 1, "and has ended");
    is_int(look().left.concurrent, 1, "as the account says");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "5",
           "its Retry-After is the queue's");
    call_release(&c);
    scripted_release(t->gen);
    call_finish(&a);
    call_finish(&b);
    left -= used(&a) + used(&b);
    is_int(look().left.tokens_day, left, "those that waited pay");
    call_release(&a);
    call_release(&b);

    scripted_hold(t->gen);
    call_start(&a, t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    call_start(&b, t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    call_start(&c, t, "POST", chat, CHAT(",\"max_tokens\":99999"), NULL);
    is_int(call_status(&c), 503, "a third finds the queue full");
    call_release(&c);
    exchange_release(&b.x); /* torn down in the middle, as at the end */
    exchange_init(&b.x, t->api, 1 << 20);
    is_int(look().left.concurrent, 2, "an exchange that is gone has ended");
    call_release(&b);
    scripted_release(t->gen);
    call_finish(&a);
    call_release(&a);
    is_int(look().left.concurrent, 3, "all have ended");
    left = look().left.tokens_day;

    call_start(&d, t, "POST", chat, CHAT(",\"max_tokens\":2,\"n\":3"), NULL);
    is_int(call_status(&d), 400, "more choices than ever fit");
    is_int(look().left.tokens_day, left, "cost nothing");
    call_release(&d);
}

static void refusals(struct apit *t)
{
    struct call a[3], c;
    char h[128];

    scripted_hold(t->gen);
    for (int i = 0; i < 3; i++)
        call_start(&a[i], t, "POST", chat, CHAT(",\"max_tokens\":2"), NULL);
    call_start(&c, t, "POST", chat, CHAT(""), NULL);
    is_int(call_status(&c), 429, "a fourth at a time");
    ok(c.x.body_unread, "before its body is read");
    is_str(call_header(&c, "Retry-After", h, sizeof(h)), "5", "Retry-After");
    is_str(row_get(&c, "status || ' ' || finish_reason || ' ' || error_type "
                       "|| ' ' || state || ' ' || endpoint",
                   h, sizeof(h)),
           "429 refused rate done chat", "its row");
    call_release(&c);
    scripted_release(t->gen);
    for (int i = 0; i < 3; i++) {
        call_finish(&a[i]);
        call_release(&a[i]);
    }
    call_do(&c, t, chat, CHAT(",\"max_tokens\":2"));
    is_int(call_status(&c), 200, "they ended: served");
    call_release(&c);
}

int main(void)
{
    int32_t ids[64];
    struct scripted_config gen = {.ids = ids,
                                  .loop = true,
                                  .fail_after = -1,
                                  .per_token_us = 200,
                                  .context = 8192};
    const char *why;
    struct apit t;
    struct err e;

    if (!apit_open(&t, &gen, NULL, &why))
        skip_all(why);
    apit_close(&t);
    ok(!limits_open(&limits, NULL, &set, epoch_ms(), &e), "limits");
    gen.n = apit_ids("one two three four five ", ids, 64);
    apit_with(&gen, config, ends);
    apit_with(&gen, config, errors);
    apit_with(&gen, config, refusals);
    gen.parallel = 1;
    gen.max_queue = 1;
    apit_with(&gen, config, full);
    gen.fail_after = 2;
    apit_with(&gen, config, failures);
    is_int(look().left.concurrent, 3, "nothing runs at the end");
    limits_close(limits);
    return done();
}
