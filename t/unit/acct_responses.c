/* Stored responses: rows, owners, chains, expiry, what a dead daemon left, a
 * locked file, what deleting leaves in the file. */
#include "acct/responses.h"
#include "base/thread.h"

#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

#define DAY ((int64_t)86400000)
#define NOW ((int64_t)1800000000000)

static _Thread_local struct err e;

struct store {
    struct db_writer *w;
    struct responses *rs;
    size_t died;
    const char *path;
};

static void store_open(struct store *s, const char *path, size_t queue)
{
    s->path = path;
    ok(!db_writer_open(&s->w, path, queue, &e) &&
           !responses_open(&s->rs, s->w, path, &s->died, &e),
       "open");
}

static void store_close(struct store *s)
{
    db_writer_close(s->w, 5000);
    responses_free(s->rs);
}

/* Until everything that was posted is committed; a sanitizer and a busy disk
 * take their time. */
static void settle(struct store *s)
{
    struct db_writer_state state;

    for (int i = 0; i < 24000; i++) {
        db_writer_state(s->w, &state);
        if (!state.queued)
            return;
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    ok(0, "the writer came to an end");
}

static const char *id_of(int i)
{
    static _Thread_local char id[8][40];
    static _Thread_local unsigned at;
    char *p = id[at++ % 8];

    snprintf(p, 40, "resp_%024x", (unsigned)i);
    return p;
}

static void fill(struct buf *b, const char *s)
{
    buf_init(b, BUF_ANSWER);
    buf_puts(b, s);
}

static enum st begin(struct store *s, int i, int previous, int64_t key,
                     int64_t now, const char *input, const char *answer)
{
    struct response_row row = {
        .key_id = key, .created_ms = now, .expires_ms = now + DAY};
    struct buf in, out;
    enum st st;

    snprintf(row.id, sizeof(row.id), "%s", id_of(i));
    if (previous)
        snprintf(row.previous, sizeof(row.previous), "%s", id_of(previous));
    snprintf(row.model, sizeof(row.model), "demo");
    fill(&in, input);
    fill(&out, answer);
    st = responses_begin(s->rs, &row, &in, &out, &e);
    buf_release(&in);
    buf_release(&out);
    return st;
}

static void end(struct store *s, int i, const char *status,
                const char *answer)
{
    struct buf out;

    fill(&out, answer);
    responses_end(s->rs, id_of(i), status, &out, NULL, NULL);
    ok(!out.p, "the answer's memory was taken");
}

/* "status|input|answer", or the word of the error. */
static const char *look(struct store *s, int i, int64_t key, int64_t now)
{
    static char said[4][1000];
    static unsigned at;
    char *p = said[at++ % 4], status[16];
    struct buf in, out;
    enum st st;

    buf_init(&in, BUF_ANSWER);
    buf_init(&out, BUF_ANSWER);
    st = responses_read(s->rs, id_of(i), key, now, status, &in, &out, &e);
    if (st)
        snprintf(p, 1000, "%s", st_name(st));
    else
        snprintf(p, 1000, "%s|%s|%s", status, buf_text(&in).s,
                 buf_text(&out).s);
    buf_release(&in);
    buf_release(&out);
    return p;
}

static void test_ids(void)
{
    ok(responses_id_ok("resp_0123456789abcdef01234567", 29), "an id");
    ok(!responses_id_ok("resp_0123456789abcdef0123456", 28), "too short");
    ok(!responses_id_ok("resp_0123456789abcdef012345678", 30), "too long");
    ok(!responses_id_ok("resp_0123456789ABCDEF01234567", 29), "capitals");
    ok(!responses_id_ok("resp_0123456789abcdef0123456g", 29), "no digit");
    ok(!responses_id_ok("resp_0123456789abcdef0123456/", 29), "a path");
    ok(!responses_id_ok("chat_0123456789abcdef01234567", 29), "another word");
    ok(!responses_id_ok("resp_0123456789abcdef0123456\0", 29), "a NUL");
    ok(!responses_id_ok("", 0), "nothing");
}

static void test_rows(struct store *s)
{
    ok(!begin(s, 1, 0, 7, NOW, "[\"in\"]", "{\"status\":\"in_progress\"}"),
       "one is opened");
    settle(s);
    is_str(look(s, 1, 7, NOW),
           "in_progress|[\"in\"]|{\"status\":\"in_progress\"}", "it runs");
    is_str(look(s, 1, 8, NOW), "not_found", "another key sees nothing");
    is_str(look(s, 1, 0, NOW), "not_found", "nor do those without one");
    is_str(look(s, 1, -7, NOW), "not_found", "nor a key that cannot be");
    is_str(look(s, 2, 7, NOW), "not_found", "one that never was");
    is_str(look(s, 1, 7, NOW + DAY), "not_found", "one that has expired");
    is_str(e.text, "there is no such response", "in the same words");
    end(s, 1, "completed", "{\"a\":1}");
    settle(s);
    is_str(look(s, 1, 7, NOW + DAY - 1), "completed|[\"in\"]|{\"a\":1}",
           "it is over");
    ok(!begin(s, 3, 0, 0, NOW, "[]", "{}"), "one without a key");
    end(s, 3, "incomplete", "{\"b\":2}");
    settle(s);
    is_str(look(s, 3, 0, NOW), "incomplete|[]|{\"b\":2}", "sees its own");
    is_str(look(s, 3, 7, NOW), "not_found", "and a key does not");
    ok(!begin(s, 4, 0, 7, NOW, "[]", "{\"status\":\"in_progress\",\"x\":[1]}"),
       "one whose answer cannot be made");
    end(s, 4, "completed", "");
    settle(s);
    is_str(look(s, 4, 7, NOW),
           "failed|[]|{\"status\":\"failed\",\"x\":[1],\"error\":{\"code\":"
           "\"server_error\",\"message\":\"the server could not finish "
           "this answer\"}}",
           "is a failed one");
    ok(!begin(s, 10, 0, 7, NOW, "[]", "{}") &&
           !begin(s, 11, 0, 7, NOW, "[]", "{}") &&
           !begin(s, 12, 0, 7, NOW, "[]", "no JSON"), "three that run");
    end(s, 10, "completed", "{\"c\":3}");
    end(s, 11, "completed", "");
    settle(s);
    is_str(look(s, 12, 7, NOW), "in_progress|[]|no JSON",
           "the others' ends are not its own");
    end(s, 12, "completed", "");
    settle(s);
    is_str(look(s, 12, 7, NOW), "failed|[]|no JSON", "it fails as it is");
    is_str(look(s, 10, 7, NOW), "completed|[]|{\"c\":3}", "alone");
}

/* Answers that have no room: where they are made, and where they are read. */
static void test_room(struct store *s)
{
    struct buf small, answer = {.p = mem_dup("{\"half"), .n = 6,
                                .failed = true};
    char status[16];

    ok(!begin(s, 13, 0, 7, NOW, "[]", "{}"), "one that runs");
    responses_end(s->rs, id_of(13), "completed", &answer, NULL, NULL);
    settle(s);
    ok(!strncmp(look(s, 13, 7, NOW), "failed|[]|{\"status", 18),
       "half an answer is none");
    buf_init(&small, 8);
    is_int(responses_read(s->rs, id_of(13), 7, NOW, status, NULL, &small, &e),
           ST_NOMEM, "none is cut where it is read");
    buf_release(&small);
    buf_init(&small, 1);
    is_int(responses_read(s->rs, id_of(13), 7, NOW, status, &small, NULL, &e),
           ST_NOMEM, "nor an input");
    buf_release(&small);
}

static int signalled;

static void signal_it(void *arg)
{
    (void)arg;
    signalled++; /* read after the writer settled */
}

static void test_delete(struct store *s)
{
    ok(!responses_delete(s->rs, id_of(1), 8, NULL, NULL, &e), "a foreign one");
    settle(s);
    is_str(look(s, 1, 7, NOW), "completed|[\"in\"]|{\"a\":1}", "stays");
    ok(!responses_delete(s->rs, id_of(1), 7, signal_it, NULL, &e), "its own");
    settle(s);
    store_close(s);
    is_int(signalled, 1, "it was said");
    store_open(s, s->path, 1000);
    is_str(look(s, 1, 7, NOW), "not_found", "is gone");
    ok(!begin(s, 5, 0, 7, NOW, "[]", "{}"), "one that is deleted running");
    ok(!responses_delete(s->rs, id_of(5), 7, NULL, NULL, &e), "is deleted");
    end(s, 5, "completed", "{}");
    settle(s);
    is_str(look(s, 5, 7, NOW), "not_found", "and does not come back");
    ok(!begin(s, 6, 0, 7, NOW, "[]", "{}"), "one that was not admitted");
    responses_undo(s->rs, id_of(6), 7);
    settle(s);
    is_str(look(s, 6, 7, NOW), "not_found", "never was");
}

/* --- chains -------------------------------------------------------------- */

static struct response_chain chain;

static enum st chain_of(struct store *s, int i, int64_t key, int64_t now,
                        size_t most)
{
    return responses_chain(s->rs, id_of(i), key, now, most, &chain, &e);
}

static void turn(struct store *s, int i, int previous, int64_t now)
{
    if (begin(s, i, previous, 7, now, "[1,2]", "{}"))
        ok(0, "turn %d", i);
    responses_end(s->rs, id_of(i), "completed",
                  &(struct buf){.p = mem_dup("[3]"), .n = 3}, NULL, NULL);
}

static void test_chain(struct store *s)
{
    turn(s, 100, 0, NOW);
    turn(s, 101, 100, NOW + 2);
    turn(s, 102, 101, NOW + DAY / 2);
    settle(s);
    ok(!chain_of(s, 102, 7, NOW + DAY / 2, 1000), "three in a row");
    ok(chain.n == 3 && chain.bytes == 24, "their number and bytes");
    ok(!strcmp(chain.id[0], id_of(102)) && !strcmp(chain.id[2], id_of(100)),
       "the newest first");
    ok(!chain_of(s, 102, 7, NOW + DAY + 1000, 1000),
       "the last keeps all of them");
    ok(!chain_of(s, 102, 7, NOW + DAY * 3 / 2 - 1, 1000), "to its own end");
    is_int(chain_of(s, 102, 7, NOW + DAY * 3 / 2, 1000), ST_NOT_FOUND,
           "not longer");
    is_int(chain_of(s, 102, 8, NOW, 1000), ST_NOT_FOUND, "not for others");
    is_int(chain_of(s, 102, 7, NOW, 23), ST_LIMIT, "a byte too much");
    ok(!chain_of(s, 102, 7, NOW, 24), "as many as there may be");
    is_int(chain_of(s, 900, 7, NOW, 23), ST_NOT_FOUND, "of none");
    is_int(responses_chain(s->rs, "resp_x' OR 1", 7, NOW, 9, &chain, &e),
           ST_NOT_FOUND, "of no id");
    ok(!begin(s, 103, 102, 7, NOW, "[]", "{}"), "one that runs");
    settle(s);
    is_int(chain_of(s, 103, 7, NOW, 1000), ST_INVALID, "ends nothing yet");
    ok(!responses_delete(s->rs, id_of(100), 7, NULL, NULL, &e), "the oldest");
    settle(s);
    is_int(chain_of(s, 102, 7, NOW, 1000), ST_INVALID, "missing: it breaks");
    ok(strstr(e.text, "deleted") != NULL, "and says why");
}

/* A continuation keeps all that it goes on from, and no more. */
static void test_touch(struct store *s)
{
    for (int i = 0; i < 5; i++)
        turn(s, 110 + i, i ? 109 + i : 0, NOW);
    ok(!begin(s, 120, 0, 8, NOW, "[]", "{}"), "another key's");
    end(s, 120, "completed", "{}");
    turn(s, 115, 114, NOW + DAY / 2);
    turn(s, 121, 120, NOW + DAY / 2);
    ok(!begin(s, 122, 121, 8, NOW + DAY, "[]", "{}"), "and one of it");
    settle(s);
    ok(strcmp(look(s, 110, 7, NOW + DAY), "not_found") != 0,
       "the first of five is kept");
    is_str(look(s, 120, 8, NOW + DAY), "not_found",
           "nobody keeps what is not their own");
    ok(!strcmp(look(s, 121, 7, NOW + DAY * 3 / 2), "not_found"),
       "no key that of another");
    turn(s, 130, 0, NOW);
    turn(s, 131, 130, NOW + 1000);
    settle(s);
    ok(strcmp(look(s, 130, 7, NOW + DAY + 3600999), "not_found") != 0,
       "an hour more, so that not each turn writes it");
    ok(!begin(s, 123, 0, 7, NOW, "[]", "{}"), "one that lives a day");
    ok(!begin(s, 124, 123, 7, NOW - DAY / 2, "[]", "{}"), "a shorter one");
    settle(s);
    ok(strcmp(look(s, 123, 7, NOW + DAY - 1), "not_found") != 0 &&
           !strcmp(look(s, 123, 7, NOW + DAY), "not_found"),
       "shortens nothing");
}

static void test_long_chain(struct store *s)
{
    for (int i = 0; i < RESPONSES_CHAIN; i++)
        turn(s, 2000 + i, i ? 1999 + i : 0, NOW);
    settle(s);
    ok(!chain_of(s, 1999 + RESPONSES_CHAIN, 7, NOW, SIZE_MAX), "the longest");
    is_int(chain.n, RESPONSES_CHAIN, "has all of them");
    turn(s, 2000 + RESPONSES_CHAIN, 1999 + RESPONSES_CHAIN, NOW);
    settle(s);
    is_int(chain_of(s, 2000 + RESPONSES_CHAIN, 7, NOW, SIZE_MAX), ST_LIMIT,
           "one more is too much");
    /* rows that name each other: only a hand in the file makes them */
    turn(s, 5000, 5001, NOW);
    turn(s, 5001, 5000, NOW);
    settle(s);
    is_int(chain_of(s, 5000, 7, NOW, SIZE_MAX), ST_LIMIT, "a ring ends");
    turn(s, 5002, 5001, NOW + DAY / 2);
    settle(s);
    ok(strcmp(look(s, 5000, 7, NOW + DAY), "not_found") != 0,
       "and is kept alive all the same");
}

/* --- expiry, death ------------------------------------------------------- */

/* Rows of the table; -1: it cannot be read. */
static int64_t count(struct store *s)
{
    struct db *db;
    struct db_stmt *st;
    int64_t n = 0;
    bool row;

    if (db_open(&db, s->path, DB_READ, &e))
        return -1;
    for (int i = 0; i < 10000; i++)
        if (!db_stmt(&st, db, SQL_RESPONSE_HEAD, &e)) {
            db_bind_str(st, 1, id_of(i));
            db_bind_int(st, 2, 7);
            db_bind_int(st, 3, 0);
            n += !db_step(st, &row, &e) && row;
            db_done(st);
        }
    db_close(db);
    return n;
}

static void test_expiry(struct store *s)
{
    for (int i = 0; i < 100; i++)
        turn(s, 7000 + i, 0, NOW);
    ok(!begin(s, 7100, 0, 7, NOW, "[]", "{}"), "one still runs");
    turn(s, 7101, 0, NOW + 1);
    settle(s);
    is_int(count(s), 102, "rows");
    responses_tick(s->rs, NOW + DAY - 1);
    settle(s);
    is_int(count(s), 102, "nothing has expired");
    responses_tick(s->rs, NOW + DAY);
    settle(s);
    is_int(count(s), 102, "it looks once a minute");
    responses_tick(s->rs, NOW + DAY - 1 + 60000);
    settle(s);
    is_int(count(s), 102 - 16, "so many at a time");
    for (int i = 0; i < 6; i++) {
        responses_tick(s->rs, NOW + DAY - 1 + 60000);
        settle(s);
    }
    is_int(count(s), 1, "and then every time, until all are gone");
    responses_tick(s->rs, NOW + 3 * DAY);
    settle(s);
    is_int(count(s), 1, "one that runs is let be");
}

/* Steps are short: of what is large, fewer. */
static void test_steps(struct store *s)
{
    const size_t n = (size_t)3 << 20;
    struct db_writer_state state;
    struct db *other;

    for (int i = 0; i < 4; i++) {
        struct buf big = {.p = mem_zalloc(n), .n = n};

        memset(big.p, 'x', n);
        ok(!begin(s, 9000 + i, 0, 7, NOW + 10 - i, "[]", "{}"), "a large one");
        responses_end(s->rs, id_of(9000 + i), "completed", &big, NULL, NULL);
    }
    settle(s);
    responses_tick(s->rs, NOW + 2 * DAY);
    settle(s);
    is_int(count(s), 3, "4 MiB and what goes beyond");
    ok(!strcmp(look(s, 9003, 7, NOW), "not_found") &&
           !strcmp(look(s, 9002, 7, NOW), "not_found"), "the oldest first");
    ok(!db_open(&other, s->path, DB_WRITE, &e) && !db_begin(other, &e),
       "the file is locked");
    for (int i = 0; i < 5; i++)
        responses_tick(s->rs, NOW + 2 * DAY + i * 60000);
    db_writer_state(s->w, &state);
    is_int((intmax_t)state.queued, 1, "one step waits");
    db_rollback(other);
    db_close(other);
    settle(s);
    is_int(count(s), 1, "and then is done");
    responses_tick(s->rs, NOW + 2 * DAY);
    settle(s);
    turn(s, 9004, 0, NOW);
    settle(s);
    responses_tick(s->rs, NOW + DAY);
    settle(s);
    is_int(count(s), 1, "a clock that goes back starts anew");
}

static void test_died(struct store *s)
{
    turn(s, 7102, 0, NOW);
    settle(s);
    store_close(s);
    store_open(s, s->path, 1000);
    is_int(s->died, 1, "it belonged to a daemon that died");
    ok(!strncmp(look(s, 7100, 7, NOW), "failed|", 7), "it failed");
    is_str(look(s, 7102, 7, NOW), "completed|[1,2]|[3]",
           "one that was over did not");
    responses_tick(s->rs, NOW + 4 * DAY);
    settle(s);
    is_int(count(s), 0, "and goes");
}

/* A newer daemon takes for dead what its forerunner still writes. */
static void test_newer(struct store *s)
{
    struct store newer;

    ok(!begin(s, 7200, 0, 7, NOW, "[]", "{}"), "one that runs");
    settle(s);
    store_open(&newer, s->path, 1000);
    is_int(newer.died, 1, "is dead to a newer one");
    store_close(&newer);
    ok(!strncmp(look(s, 7200, 7, NOW), "failed|", 7), "which says so");
    end(s, 7200, "completed", "{\"late\":1}");
    settle(s);
    is_str(look(s, 7200, 7, NOW), "completed|[]|{\"late\":1}",
           "its own knows better");
    responses_tick(s->rs, NOW + 8 * DAY);
    settle(s);
}

/* --- a file that is locked, a queue that is full -------------------------- */

static void test_locked(struct store *s)
{
    char *big = mem_zalloc(((size_t)16 << 20) + 1);
    struct db *other;
    int n = 0;

    ok(!db_open(&other, s->path, DB_WRITE, &e) && !db_begin(other, &e),
       "another process locks the file");
    memset(big, 'x', (size_t)16 << 20);
    while (n < 100 && !begin(s, 8000 + n, 0, 7, NOW, big, "{}"))
        n++;
    is_int(n, 4, "64 MiB wait");
    is_int(e.st, ST_BUSY, "then it is busy");
    end(s, 8000, "completed", "{}");
    is_str(look(s, 8000, 7, NOW), "not_found", "reading goes on");
    db_rollback(other);
    db_close(other);
    settle(s);
    ok(!strncmp(look(s, 8000, 7, NOW), "completed|", 10), "all is written");
    ok(!begin(s, 8100, 0, 7, NOW, "[]", "{}"), "and more is taken");
    free(big);
}

static void test_full(const char *path)
{
    struct store s;
    struct db *other;
    int n = 0;

    store_open(&s, path, 10);
    ok(!db_open(&other, path, DB_WRITE, &e) && !db_begin(other, &e), "lock");
    while (n < 100 && !begin(&s, n, 0, 7, NOW, "[]", "{}"))
        n++;
    is_int(n, 10, "ten posts may wait");
    is_int(responses_delete(s.rs, id_of(0), 7, NULL, NULL, &e), ST_BUSY,
           "nor is one deleted");
    for (int i = 0; i < n; i++)
        responses_end(s.rs, id_of(i), "completed",
                      &(struct buf){.p = mem_dup("[3]"), .n = 3}, NULL, NULL);
    responses_tick(s.rs, NOW); /* finds no room either */
    db_writer_close(s.w, 100);
    responses_free(s.rs);
    db_rollback(other);
    db_close(other);
    ok(1, "what never was written is freed");
}

/* Room comes back; what could not wait for it did. */
static void test_again(const char *path)
{
    struct store s;
    struct db *other;

    store_open(&s, path, 3);
    turn(&s, 0, 0, NOW - DAY);
    settle(&s);
    ok(!db_open(&other, path, DB_WRITE, &e) && !db_begin(other, &e), "lock");
    for (int i = 1; i < 4; i++)
        ok(!begin(&s, i, 0, 7, NOW, "[]", "{}"), "three may wait");
    responses_tick(s.rs, NOW);
    end(&s, 1, "completed", "{}");
    end(&s, 2, "completed", "{}");
    responses_undo(s.rs, id_of(3), 7);
    db_rollback(other);
    db_close(other);
    settle(&s);
    ok(!strcmp(look(&s, 1, 7, NOW), "completed|[]|{}") &&
           !strcmp(look(&s, 2, 7, NOW), "completed|[]|{}"),
       "an end is always taken");
    is_str(look(&s, 3, 7, NOW), "not_found", "and an undoing");
    ok(strcmp(look(&s, 0, 7, NOW - 1), "not_found") != 0,
       "an expiry found no room");
    responses_tick(s.rs, NOW);
    settle(&s);
    is_str(look(&s, 0, 7, NOW - 1), "not_found", "and comes back");
    store_close(&s);
}

/* --- what deleting leaves ------------------------------------------------ */

static bool file_has(const char *path, const char *what)
{
    struct buf b;
    bool found;

    buf_init(&b, BUF_FILE);
    found = !buf_read_file(&b, path, &e) && b.n &&
            memmem(b.p, b.n, what, strlen(what)) != NULL;
    buf_release(&b);
    return found;
}

static bool text_in(const char *path)
{
    char wal[600];

    snprintf(wal, sizeof(wal), "%s-wal", path);
    return file_has(path, "canary") || file_has(wal, "canary");
}

static void test_wiped(const char *path)
{
    struct store s;
    struct buf text;

    fill(&text, "\"");
    while (text.n < 100000)
        buf_puts(&text, "canary of a user ");
    buf_puts(&text, "\"");
    store_open(&s, path, 1000);
    for (int i = 1; i < 6; i++) {
        ok(!begin(&s, i, 0, 7, NOW, text.p, text.p), "stored");
        end(&s, i, "completed", "{\"short\":\"canary\"}");
    }
    settle(&s);
    ok(text_in(path), "the text is there");
    ok(!responses_delete(s.rs, id_of(1), 7, NULL, NULL, &e), "one is deleted");
    responses_tick(s.rs, NOW + DAY); /* the others expire */
    settle(&s);
    store_close(&s); /* checkpoint */
    ok(!text_in(path), "nothing of it is left in the file");
    buf_release(&text);
}

static void *client(void *arg)
{
    struct store *s = arg;
    static _Atomic int next = 20000;

    for (int k = 0; k < 50; k++) {
        int i = next++;
        char status[16];

        if (begin(s, i, 0, 7, NOW, "[1]", "{}"))
            continue;
        responses_end(s->rs, id_of(i), "completed",
                      &(struct buf){.p = mem_dup("{}"), .n = 2}, NULL, NULL);
        (void)!responses_read(s->rs, id_of(i), 7, NOW, status, NULL, NULL,
                              NULL);
    }
    return NULL;
}

static void test_threads(const char *path)
{
    struct store s;
    pthread_t t[4];

    store_open(&s, path, 1000);
    for (int i = 0; i < 4; i++)
        ok(!thread_start(&t[i], "client", client, &s, &e), "start");
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    settle(&s);
    store_close(&s);
}

int main(void)
{
    struct store s;

    tmpdir_make();
    test_ids();
    store_open(&s, tmpdir_path("rows.db"), 1000);
    test_rows(&s);
    test_room(&s);
    test_delete(&s);
    test_chain(&s);
    test_touch(&s);
    store_close(&s);
    store_open(&s, tmpdir_path("long.db"), 10000);
    test_long_chain(&s);
    store_close(&s);
    store_open(&s, tmpdir_path("expiry.db"), 1000);
    test_expiry(&s);
    test_steps(&s);
    test_died(&s);
    test_newer(&s);
    test_locked(&s);
    store_close(&s);
    test_full(tmpdir_path("full.db"));
    test_again(tmpdir_path("again.db"));
    test_wiped(tmpdir_path("wiped.db"));
    test_threads(tmpdir_path("threads.db"));
    tmpdir_remove();
    return done();
}
