/*
 * Limits of keys, with a clock of the test's own.
 * Oracle: arithmetic by hand; a bucket of n gives n/60 back in a second. The
 * forms of a duration are those of Go's time.Duration.String, as OpenAI's
 * documentation shows them (1s, 6m0s).
 */
#include "acct/keys.h"
#include "acct/ledger.h"
#include "acct/limits.h"
#include "base/thread.h"

#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

#define S 1000000
#define DAY 86400000

static const struct limit_set none = {-1, -1, -1, -1};
static struct limits *l;
static struct limits_state s;
static struct err e;
static struct limits_now now;

static void fresh(int64_t requests, int64_t tokens, int64_t day,
                  int64_t concurrent)
{
    const struct limit_set d = {requests, tokens, day, concurrent};

    limits_close(l);
    now = (struct limits_now){.us = 1000 * S, .epoch_ms = 20000LL * DAY};
    ok(!limits_open(&l, NULL, &d, now.epoch_ms, &e), "open");
}

static void later(double seconds)
{
    now.us += (int64_t)(seconds * 1e6 + 0.5);
    now.epoch_ms += (int64_t)(seconds * 1e3 + 0.5);
}

static bool take(int64_t key, int64_t tokens, struct limits_ticket *t)
{
    return limits_take(l, key, &none, tokens, now, t, &s, &e) == ST_OK;
}

/* It runs for no time and uses what it reserved. */
static bool serve(int64_t key, int64_t tokens)
{
    struct limits_ticket t;

    if (!take(key, tokens, &t))
        return false;
    limits_settle(l, &t, &none, tokens, now, &s);
    return true;
}

static void test_requests(void)
{
    struct limits_ticket t;
    int n = 0;

    fresh(60, 0, 0, 0);
    ok(take(1, 1, &t) && s.left.requests == 59, "one is taken");
    limits_undo(l, &t, &none, now, &s);
    is_int(s.left.requests, 60, "undone: it comes back");
    while (serve(1, 1000000))
        n++;
    is_int(n, 60, "a full bucket holds the limit");
    ok(e.st == ST_RATE && strstr(e.text, "60 requests per minute") &&
           strstr(e.text, "try again in 1s"),
       "the message: %s", e.text);
    is_int(s.wait_s, 1, "when to come back");
    is_int(s.left.requests, 0, "nothing is left");
    is_int(s.requests_reset_ms, 60000, "and full in a minute");
    is_int(s.limit.tokens, 0, "the others are none");
    later(0.999999);
    ok(!serve(1, 1), "a microsecond early");
    is_int(s.wait_s, 1, "a second at least");
    later(0.000001);
    ok(serve(1, 1) && !serve(1, 1), "then one, not two");
    ok(serve(2, 1) && s.left.requests == 59, "another key has its own");
    ok(serve(0, 1), "requests without one too");
    later(3600);
    ok(serve(1, 1) && s.left.requests == 59, "no more than the limit gathers");
    fresh(7, 0, 0, 0);
    while (serve(1, 1))
        ;
    is_int(s.wait_s, 9, "60/7 s, rounded up");
    later(9);
    ok(serve(1, 1) && !serve(1, 1), "is enough");
}

static void test_tokens(void)
{
    struct limits_ticket t, u;

    fresh(0, 6000, 0, 0);
    ok(take(1, 5000, &t), "a request that may take 5000");
    is_int(s.left.tokens, 1000, "is reserved");
    is_int(s.tokens_reset_ms, 50000, "for 50 s");
    ok(!take(1, 1100, &u) && s.wait_s == 1, "1100 come in a second");
    ok(strstr(e.text, "6000 tokens per minute, 1000 are left") &&
           strstr(e.text, "may take 1100"),
       "the message: %s", e.text);
    ok(!u.open, "no ticket");
    limits_settle(l, &u, &none, 5, now, &s); /* does nothing */
    ok(!take(1, 6000, &u) && s.wait_s == 50, "6000 in 50");
    limits_settle(l, &t, &none, 40, now, &s);
    is_int(s.left.tokens, 5960, "it pays what it used");
    limits_settle(l, &t, &none, 40, now, &s);
    ok(take(1, 5960, &t) && s.left.tokens == 0, "once, and the rest is free");
    limits_undo(l, &t, &none, now, &s);
    is_int(s.left.tokens, 5960, "undone: as if it had never been");
    ok(take(1, 5960, &t), "again");
    later(30);
    ok(take(1, 3000, &u), "half comes back in half a minute");
    limits_settle(l, &t, &none, 5960, now, &s);
    limits_settle(l, &u, &none, 4000, now, &s);
    is_int(s.left.tokens, 0, "who used more than reserved");
    is_int(s.tokens_reset_ms, 70000, "is in debt");
    later(70);
    ok(take(1, 6000, &t), "and out of it");
    later(600);
    limits_settle(l, &t, &none, 10, now, &s);
    is_int(s.left.tokens, 6000, "what comes back late adds nothing");

    ok(!take(1, 6001, &t) && s.wait_s == 0, "over the whole limit: never");
    ok(strstr(e.text, "6001") && strstr(e.text, "6000 per minute") &&
           strstr(e.text, "no point"),
       "the message: %s", e.text);
}

static void test_day(void)
{
    struct limits_ticket t, u;

    fresh(0, 0, 10000, 0);
    later(79200); /* 22:00 */
    ok(take(1, 6000, &t), "a request of the evening");
    is_int(s.left.tokens_day, 4000, "is reserved");
    is_int(s.day_reset_ms, 7200000, "midnight is in two hours");
    ok(!take(1, 5000, &u) && s.wait_s == 5,
       "what another only reserves may be free soon");
    limits_settle(l, &t, &none, 6000, now, &s);
    ok(!take(1, 5000, &u) && s.wait_s == 7200, "what it used is not");
    ok(strstr(e.text, "10000 tokens per day (UTC), 4000 are left") &&
           strstr(e.text, "in 2h0m0s"),
       "the message: %s", e.text);
    ok(!take(1, 10001, &u) && !s.wait_s && strstr(e.text, "per day"),
       "larger than a day: %s", e.text);
    ok(take(1, 4000, &t) && !s.left.tokens_day, "up to the last token");
    ok(limits_look(l, 1, &none, now, &s, &e) == ST_RATE && s.wait_s == 5,
       "a look sees that it only runs: %s", e.text);
    later(7199.999);
    ok(!take(1, 1, &u), "until midnight");
    later(0.001);
    ok(take(1, 10000, &u) && !s.left.tokens_day, "a new day");
    limits_settle(l, &t, &none, 4000, now, &s);
    is_int(s.left.tokens_day, 0, "yesterday's request was paid yesterday");
    limits_settle(l, &u, &none, 100, now, &s);
    is_int(s.left.tokens_day, 9900, "and today's today");
    now.epoch_ms -= 60000;
    ok(serve(1, 100) && s.left.tokens_day == 9800,
       "a clock that is set back before midnight is the same day");
    ok(serve(1, 9800), "a day used up");
    ok(limits_look(l, 1, &none, now, &s, &e) == ST_RATE && s.wait_s == 86460,
       "a look refuses, until the day is over");
    now.epoch_ms -= 10LL * DAY;
    ok(serve(1, 100), "a clock that was far ahead");
}

static void test_concurrent(void)
{
    struct limits_ticket t[3];

    fresh(0, 0, 0, 2);
    ok(take(1, 10, &t[0]) && take(1, 10, &t[1]), "two at a time");
    is_int(s.left.concurrent, 0, "no more");
    ok(!take(1, 10, &t[2]) && s.wait_s == 5, "not three");
    ok(strstr(e.text, "2 requests at a time"), "the message: %s", e.text);
    ok(limits_look(l, 1, &none, now, &s, &e) == ST_RATE, "a look sees it");
    ok(take(2, 10, &t[2]), "but another key's");
    limits_undo(l, &t[1], &none, now, &s);
    ok(take(1, 10, &t[1]), "one that was refused makes room");
    limits_settle(l, &t[0], &none, 0, now, &s);
    ok(take(1, 10, &t[0]), "one that ended too");
    for (int i = 0; i < 3; i++)
        limits_settle(l, &t[i], &none, 0, now, &s);
    is_int(s.left.concurrent, 2, "all ended");
}

static void test_several(void)
{
    struct limits_ticket t;

    fresh(60, 6000, 0, 0);
    for (int i = 0; i < 60; i++)
        (void)!take(1, 100, &t);
    ok(!take(1, 600, &t) && s.wait_s == 6 && strstr(e.text, "tokens"),
       "of two limits the longer one speaks: %s", e.text);
    later(6);
    ok(take(1, 600, &t), "so that who comes back then is served");
    ok(limits_look(l, 1, &none, now, &s, &e) == ST_OK &&
           s.left.requests == 5,
       "looking costs nothing");
    ok(limits_look(l, 1, &none, now, &s, &e) == ST_OK &&
           s.left.requests == 5,
       "however often");
}

static void test_own(void)
{
    const struct limit_set own = {2, 0, -1, -1}, more = {4, -1, -1, -1},
                           less = {1, -1, -1, -1};
    struct limits_ticket t;

    fresh(1, 100, 0, 0);
    ok(!limits_take(l, 1, &own, 1000, now, &t, &s, &e) &&
           !limits_take(l, 1, &own, 1000, now, &t, &s, &e) &&
           limits_take(l, 1, &own, 1000, now, &t, &s, &e) == ST_RATE,
       "a limit of its own, and none of its own");
    ok(!limits_take(l, 1, &more, 100, now, &t, &s, &e) &&
           s.left.requests == 1,
       "more from now on: what was spent is spent");
    ok(s.limit.tokens == 100 && !s.left.tokens, "a default comes into force");
    ok(limits_take(l, 1, &less, 0, now, &t, &s, &e) == ST_RATE &&
           s.wait_s == 60,
       "less from now on: never longer than a minute");
}

/* Nothing wraps, whatever the numbers are (UBSan looks too). */
static void test_large(void)
{
    const struct limit_set most = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX},
                           least = {INT64_MIN, -2, 1, 1};
    struct limits_ticket t, u;

    fresh(LIMIT_MAX, LIMIT_MAX, LIMIT_MAX, LIMIT_MAX);
    ok(take(1, LIMIT_MAX, &t) && !s.left.tokens, "the largest request");
    ok(!take(1, INT64_MAX, &u) && !s.wait_s, "too large a one");
    limits_settle(l, &t, &none, INT64_MAX, now, &s);
    is_int(s.left.tokens, 0, "that used far too much");
    now.us = INT64_MAX;
    ok(!limits_look(l, 1, &none, now, &s, &e) || s.wait_s > 0, "at any time");
    fresh(1, 1, 1, 1);
    ok(!limits_take(l, 1, &most, 1000, now, &t, &s, &e), "limits of 2^63");
    ok(!limits_look(l, 1, &least, now, &s, &e) || s.wait_s,
       "and below nothing");
    limits_settle(l, &t, &most, INT64_MIN, now, &s);
    now.us = 0;
    ok(!limits_take(l, INT64_MIN, &none, INT64_MIN, now, &t, &s, &e),
       "keys and tokens below nothing");
    limits_settle(l, &t, &none, -1, now, &s);
}

static void test_many(void)
{
    struct limits_ticket t, first, last;
    bool good = true;

    fresh(0, 0, 1000, 0);
    ok(take(LIMITS_ACCOUNTS + 10, 1, &first), "one that runs throughout");
    for (int64_t i = 1; i < LIMITS_ACCOUNTS; i++)
        good = take(i, 10, &t) && good;
    ok(good, "as many keys as there are accounts");
    ok(!take(9999999, 1, &last) && e.st == ST_BUSY,
       "all at work: no room for another");
    t = (struct limits_ticket){.open = true, .key_id = 77,
                               .day = now.epoch_ms / DAY, .tokens = 10};
    limits_settle(l, &t, &none, 900, now, &s);
    ok(take(9999999, 1, &last), "one that is idle goes");
    ok(!take(77, 10, &t) && e.st == ST_BUSY, "and finds no room now");
    limits_settle(l, &first, &none, 1, now, &s);
    is_int(s.left.tokens_day, 999, "who runs is kept");
    limits_settle(l, &last, &none, 900, now, &s);
    later(86400 + 121);
    ok(take(77, 10, &t), "those that are as new go first");
}

static void test_duration(void)
{
    static const struct {
        int64_t ms;
        const char *want;
    } rows[] = {{0, "0s"}, {1, "1ms"}, {999, "999ms"}, {1000, "1s"},
                {8640, "8.64s"}, {1005, "1.005s"}, {60000, "1m0s"},
                {360000, "6m0s"}, {3600000, "1h0m0s"},
                {86399999, "23h59m59.999s"}, {-5, "0s"}};
    char out[32];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        limits_duration(rows[i].ms, out);
        is_str(out, rows[i].want, "%lld ms", (long long)rows[i].ms);
    }
    limits_duration(INT64_MAX, out);
    ok(strlen(out) < 32, "any number fits");
}

/* Rows of today, of yesterday, of nobody; one of a daemon that died. */
static void test_restart(void)
{
    const struct limit_set d = {0, 0, 1000, 0};
    const char *path = tmpdir_path("l.db");
    int64_t noon = 20000LL * DAY + DAY / 2;
    struct {
        int64_t ts, key, prompt, completion;
    } rows[] = {{noon, 1, 300, 200}, {noon - DAY / 2, 1, 100, -1},
                {noon - DAY / 2 - 1, 1, 5000, 5000}, {noon, 0, 0, 999},
                {noon, 2, -1, -1}};
    char key[KEY_TEXT_MAX];
    struct ledger *ledger;
    struct db_writer *w;
    struct db *db;
    size_t died;

    ok(!db_open(&db, path, DB_WRITE, &e) &&
           !keys_add(db, "a", NULL, key, &e) &&
           !keys_add(db, "b", NULL, key, &e),
       "a database with two keys");
    db_close(db);
    ok(!db_writer_open(&w, path, 100, &e) &&
           !ledger_open(&ledger, w, &died, &e),
       "a ledger");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ledger_row r;
        uint64_t ticket;

        ledger_row_init(&r);
        r.ts_ms = rows[i].ts;
        r.key_id = rows[i].key;
        ok(!ledger_admit(ledger, &r, &ticket, &e), "a row");
        r.prompt_tokens = rows[i].prompt;
        r.completion_tokens = rows[i].completion;
        r.total_ms = 5;
        ledger_close(ledger, ticket, &r, NULL, NULL);
    }
    db_writer_close(w, 5000);
    ledger_free(ledger);
    limits_close(l);
    l = NULL;
    ok(limits_open(&l, tmpdir_path("none.db"), &d, noon, &e) == ST_IO && !l,
       "no database");
    ok(!limits_open(&l, path, &d, noon, &e), "a daemon starts: %s", e.text);
    now = (struct limits_now){.us = 5, .epoch_ms = noon + 1000};
    ok(!limits_look(l, 1, &none, now, &s, &e), "key 1");
    is_int(s.left.tokens_day, 400, "has today's use, from midnight on");
    ok(!limits_look(l, 0, &none, now, &s, &e), "requests without a key");
    is_int(s.left.tokens_day, 1, "too");
    ok(!limits_look(l, 2, &none, now, &s, &e), "key 2");
    is_int(s.left.tokens_day, 1000, "used nothing");
    now.epoch_ms += DAY;
    ok(!limits_look(l, 1, &none, now, &s, &e) && s.left.tokens_day == 1000,
       "tomorrow");
}

/* Four threads, one key: what is admitted is exactly the limit. */
static _Atomic int admitted;

static void *work(void *arg)
{
    struct limits_state mine;
    struct limits_ticket t;
    struct err why;

    (void)arg;
    for (int i = 0; i < 2000; i++) {
        if (limits_take(l, i % 3, &none, 1, now, &t, &mine, &why))
            continue;
        admitted++;
        limits_settle(l, &t, &none, 1, now, &mine);
    }
    return NULL;
}

static void test_threads(void)
{
    pthread_t t[4];

    fresh(500, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        ok(!thread_start(&t[i], "limits", work, NULL, &e), "a thread");
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    is_int(admitted, 1500, "three keys, 500 each");
}

int main(void)
{
    tmpdir_make();
    test_requests();
    test_tokens();
    test_day();
    test_concurrent();
    test_several();
    test_own();
    test_large();
    test_many();
    test_duration();
    test_restart();
    test_threads();
    limits_close(l);
    tmpdir_remove();
    return done();
}
