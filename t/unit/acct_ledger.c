/* The ledger: open, close, refuse; what a dead daemon left; threads. */
#include "acct/ledger.h"
#include "base/thread.h"

#include <stdatomic.h>

#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

static struct err e;
static _Atomic int closed_n;

static void closed(void *arg)
{
    (void)arg;
    atomic_fetch_add(&closed_n, 1);
}

static struct ledger_row sample(int i)
{
    struct ledger_row r;

    ledger_row_init(&r);
    snprintf(r.request_id, sizeof(r.request_id), "chatcmpl-%d", i);
    r.ts_ms = 1800000000000 + i;
    snprintf(r.model, sizeof(r.model), "demo");
    snprintf(r.client_id, sizeof(r.client_id), "k:0123456789ab");
    snprintf(r.client_kind, sizeof(r.client_kind), "curl");
    snprintf(r.endpoint, sizeof(r.endpoint), "chat");
    r.stream = true;
    r.max_tokens = 100;
    r.key_id = 4711; /* no such key: the row has none */
    return r;
}

static void finish(struct ledger_row *r)
{
    r->status = 200;
    snprintf(r->finish, sizeof(r->finish), "stop");
    r->prompt_tokens = 30;
    r->cached_tokens = 10;
    r->completion_tokens = 11;
    r->reasoning_tokens = 0;
    r->queue_ms = 1;
    r->prompt_ms = 100;
    r->ttft_ms = 105;
    r->decode_ms = 200;
    r->total_ms = 306;
    r->tool_calls = 0;
}

/* Columns of ledger_list by their place in sql/q/ledger_list.sql. */
enum { C_REQ = 2, C_MODEL = 3, C_WHO = 4, C_STATE = 8, C_STATUS = 9,
       C_FINISH = 10, C_ERROR = 11, C_PROMPT = 12, C_TOTAL = 20,
       C_DECODE_TPS = 21, C_PREFILL_TPS = 22 };

static struct db_stmt *rows(struct db **db, const char *path)
{
    struct db_stmt *s;

    if (db_open(db, path, DB_READ, &e) ||
        db_stmt(&s, *db, SQL_LEDGER_LIST, &e))
        return NULL;
    db_bind_int(s, 1, 0);
    db_bind_int(s, 2, 1000000);
    return s;
}

static void test_states(const char *path)
{
    struct ledger_row r[5];
    uint64_t ticket[3];
    struct db_writer *w;
    struct ledger *l = NULL;
    struct db_stmt *s;
    struct db *db;
    size_t died = 0;
    bool row;

    ok(db_writer_open(&w, path, 1000, &e) == ST_OK &&
           ledger_open(&l, w, &died, &e) == ST_OK && died == 0,
       "a new ledger");
    for (int i = 0; i < 5; i++)
        r[i] = sample(i);
    for (int i = 0; i < 3; i++)
        ok(ledger_admit(l, &r[i], &ticket[i], &e) == ST_OK, "admitted");
    ok(ticket[0] != ticket[1] && ticket[1] != ticket[2], "tickets differ");
    finish(&r[0]);
    ledger_close(l, ticket[0], &r[0], closed, NULL);
    finish(&r[1]);
    r[1].status = 500;
    r[1].completion_tokens = 1;
    snprintf(r[1].finish, sizeof(r[1].finish), "error");
    snprintf(r[1].error_type, sizeof(r[1].error_type), "internal");
    ledger_close(l, ticket[1], &r[1], NULL, NULL);
    r[3].status = 401;
    r[3].model[0] = '\0';
    snprintf(r[3].error_type, sizeof(r[3].error_type), "auth");
    ledger_refused(l, &r[3]);
    db_writer_close(w, 1000); /* ticket 2 is never closed: it died */
    ledger_free(l);
    is_int(closed_n, 1, "the end was signalled");

    ok((s = rows(&db, path)) != NULL, "read it");
    ok(!db_step(s, &row, &e) && row, "the refused one");
    is_str(db_col_str(s, C_REQ), "chatcmpl-3", "is the newest");
    is_str(db_col_str(s, C_STATE), "done", "its state");
    is_str(db_col_str(s, C_FINISH), "refused", "its finish");
    is_str(db_col_str(s, C_ERROR), "auth", "its error");
    is_int(db_col_int(s, C_STATUS), 401, "its status");
    ok(db_col_null(s, C_PROMPT), "no token counts");
    ok(!db_step(s, &row, &e) && row, "the open one");
    is_str(db_col_str(s, C_STATE), "open", "is open");
    ok(db_col_null(s, C_STATUS) && db_col_null(s, C_TOTAL), "without outcome");
    ok(!db_step(s, &row, &e) && row, "the failed one");
    is_str(db_col_str(s, C_STATE), "failed", "is failed");
    ok(db_col_null(s, C_DECODE_TPS), "one token has no rate");
    ok(!db_step(s, &row, &e) && row, "the good one");
    is_str(db_col_str(s, C_STATE), "done", "is done");
    is_str(db_col_str(s, C_WHO), "k:0123456789ab", "without a key: the client");
    is_int(db_col_int(s, C_PROMPT), 30, "its prompt");
    ok(db_col_num(s, C_DECODE_TPS) == 50, "10 tokens in 200 ms are 50/s");
    ok(db_col_num(s, C_PREFILL_TPS) == 200, "20 in 100 ms are 200/s");
    ok(!db_step(s, &row, &e) && !row, "and no more");
    db_close(db);
}

static void test_died(const char *path)
{
    struct db_writer *w;
    struct ledger *l = NULL;
    struct db_stmt *s;
    struct db *db;
    size_t died = 0;
    bool row;

    ok(db_writer_open(&w, path, 1000, &e) == ST_OK &&
           ledger_open(&l, w, &died, &e) == ST_OK,
       "the next start");
    is_int(died, 1, "closes what was open");
    db_writer_close(w, 1000);
    ledger_free(l);
    ok((s = rows(&db, path)) != NULL && !db_step(s, &row, &e) &&
           !db_step(s, &row, &e) && row,
       "read it");
    is_str(db_col_str(s, C_STATE), "failed", "as failed");
    is_str(db_col_str(s, C_ERROR), "died", "because the daemon died");
    db_close(db);
}

static void *client(void *arg)
{
    for (int i = 0; i < 200; i++) {
        struct ledger_row r = sample(i);
        uint64_t t;

        if (ledger_admit(arg, &r, &t, NULL))
            continue;
        finish(&r);
        ledger_close(arg, t, &r, closed, NULL);
    }
    return NULL;
}

static void test_threads(const char *path)
{
    struct db_writer *w;
    struct ledger *l = NULL;
    pthread_t t[4];
    struct db_stmt *s;
    struct db *db;
    size_t died = 0;
    bool row;
    int n = 0, done_rows = 0;

    closed_n = 0;
    ok(db_writer_open(&w, path, 10000, &e) == ST_OK &&
           ledger_open(&l, w, &died, &e) == ST_OK,
       "open");
    for (int i = 0; i < 4; i++)
        ok(!thread_start(&t[i], "client", client, l, &e), "start");
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    db_writer_close(w, 20000);
    ledger_free(l);
    is_int(closed_n, 800, "800 requests of four threads ended");
    ok((s = rows(&db, path)) != NULL, "read it");
    while (!db_step(s, &row, &e) && row) {
        n++;
        done_rows += strcmp(db_col_str(s, C_STATE), "done") == 0;
    }
    ok(n == 800 && done_rows == 800, "with a row each, all done");
    db_close(db);
}

int main(void)
{
    tmpdir_make();
    test_states(tmpdir_path("l.db"));
    test_died(tmpdir_path("l.db"));
    test_threads(tmpdir_path("t.db"));
    tmpdir_remove();
    return done();
}
