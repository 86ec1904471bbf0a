/*
 * The writer: groups, retries, isolates, never drops. Its work while another
 * process locks or reads is in t/0711 and t/0712.
 */
#include "db/writer.h"
#include "base/thread.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

static struct err e;
static _Atomic int done_n, run_n;

struct job {
    int i;
    int fail; /* times that run fails first */
    enum st how;
};

static enum st run_job(struct db *db, void *arg, struct err *err)
{
    struct job *j = arg;
    char name[32];
    unsigned char hash[32] = {0};
    struct db_stmt *s;
    enum st st;

    atomic_fetch_add(&run_n, 1);
    if (j->fail) {
        j->fail--;
        return err_set(err, j->how, "test", "made to fail");
    }
    st = db_stmt(&s, db, SQL_KEY_ADD, err);
    if (st)
        return st;
    snprintf(name, sizeof(name), "k%d", j->i);
    memcpy(hash, &j->i, sizeof(j->i));
    db_bind_str(s, 1, name);
    db_bind_str(s, 2, "pk-");
    db_bind_blob(s, 3, hash, sizeof(hash));
    db_bind_int(s, 4, j->i);
    return db_run(s, err);
}

static void job_done(void *arg)
{
    free(arg);
    atomic_fetch_add(&done_n, 1);
}

static struct db_post post_of(int i, int fail, enum st how)
{
    struct job *j = mem_new(struct job);

    *j = (struct job){.i = i, .fail = fail, .how = how};
    return (struct db_post){.run = run_job, .done = job_done, .arg = j};
}

static int count_rows(const char *path)
{
    struct db_stmt *s;
    struct db *db;
    bool row;
    int n = 0;

    if (db_open(&db, path, DB_READ, &e) || db_stmt(&s, db, SQL_KEY_LIST, &e))
        return -1;
    while (!db_step(s, &row, &e) && row)
        n++;
    db_close(db);
    return n;
}

static void wait_done(int n)
{
    for (int64_t end = mono_ms() + 20000; mono_ms() < end;) {
        if (atomic_load(&done_n) >= n)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static void *poster(void *arg)
{
    struct db_writer **w = arg;
    static _Atomic int next = 1000;

    for (int i = 0; i < 500; i++) {
        struct db_post p = post_of(atomic_fetch_add(&next, 1), 0, ST_OK);

        db_post_always(*w, &p);
    }
    return NULL;
}

static void test_many(void)
{
    const char *path = tmpdir_path("many.db");
    struct db_writer_state state;
    struct db_writer *w;
    pthread_t t[4];

    done_n = 0;
    ok(db_writer_open(&w, path, 10000, &e) == ST_OK, "open: %s", e.text);
    for (int i = 0; i < 4; i++)
        ok(thread_start(&t[i], "poster", poster, &w, &e) == ST_OK, "thread");
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    wait_done(2000);
    is_int(done_n, 2000, "2,000 posts of four threads are done");
    db_writer_state(w, &state);
    is_int(state.committed, 2000, "all committed");
    is_int(state.queued, 0, "none waits");
    is_int(state.failures, 0, "nothing failed");
    db_writer_close(w, 1000);
    is_int(count_rows(path), 2000, "and in the file");
}

/* More than one group waits when the process ends. */
static void test_close(void)
{
    const char *path = tmpdir_path("close.db");
    struct db_writer *w;

    done_n = 0;
    ok(db_writer_open(&w, path, 10000, &e) == ST_OK, "open");
    for (int i = 0; i < 2500; i++) {
        struct db_post p = post_of(i, 0, ST_OK);

        db_post_always(w, &p);
    }
    db_writer_close(w, 20000);
    is_int(done_n, 2500, "closing commits what waits");
    is_int(count_rows(path), 2500, "all of it");
}

static void test_retry(void)
{
    const char *path = tmpdir_path("retry.db");
    struct db_writer_state state;
    struct db_writer *w;
    struct db_post p;

    done_n = run_n = 0;
    ok(db_writer_open(&w, path, 10000, &e) == ST_OK, "open");
    for (int i = 0; i < 10; i++) {
        p = post_of(i, i == 5 ? 3 : 0, i == 5 ? ST_IO : ST_OK);
        ok(db_post(w, &p, &e) == ST_OK, "post %d", i);
    }
    wait_done(10);
    is_int(done_n, 10, "a full disk passes: all ten are done");
    db_writer_state(w, &state);
    ok(state.failures >= 3, "the attempts were counted");
    done_n = 0;
    for (int i = 20; i < 30; i++) {
        p = post_of(i == 25 ? 24 : i, 0, ST_OK); /* the name is taken */
        db_post_always(w, &p);
    }
    wait_done(10);
    is_int(done_n, 10, "one impossible post does not hold up the others");
    db_writer_close(w, 1000);
    is_int(count_rows(path), 19, "nor take them with it");
}

static void test_full(void)
{
    const char *path = tmpdir_path("full.db");
    struct db_writer_state state;
    struct db_writer *w;
    struct db_post p, refused;
    void *args[4]; /* ours again, as `done` does not run */
    int64_t start;

    done_n = 0;
    ok(db_writer_open(&w, path, 3, &e) == ST_OK, "open, three places");
    p = post_of(1, 1000000, ST_BUSY);
    args[0] = p.arg;
    ok(db_post(w, &p, &e) == ST_OK, "one that never works");
    for (int i = 2; i < 4; i++) {
        p = post_of(i, 0, ST_OK);
        args[i - 1] = p.arg;
        ok(db_post(w, &p, &e) == ST_OK, "another");
    }
    refused = post_of(4, 0, ST_OK);
    ok(db_post(w, &refused, &e) == ST_BUSY, "the queue is full");
    free(refused.arg);
    p = post_of(5, 0, ST_OK);
    args[3] = p.arg;
    db_post_always(w, &p);
    db_writer_state(w, &state);
    is_int(state.queued, 4, "a closing post is taken all the same");
    start = mono_ms();
    db_writer_close(w, 300);
    ok(mono_ms() - start >= 290 && mono_ms() - start < 5000,
       "closing tries as long as it was told");
    is_int(done_n, 0, "nothing was said to be done");
    for (int i = 0; i < 4; i++)
        free(args[i]);
    is_int(count_rows(path), 0, "and nothing is");
}

/* A file that may not grow stands for a full disk: SQLite sees EFBIG. */
static void test_disk(void)
{
    const char *path = tmpdir_path("disk.db");
    struct rlimit old, tight;
    struct db_writer_state state;
    struct db_writer *w;

    done_n = 0;
    ok(db_writer_open(&w, path, 1000, &e) == ST_OK, "open");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    tight = old;
    tight.rlim_cur = 512;
    ok(setrlimit(RLIMIT_FSIZE, &tight) == 0, "no file may grow");
    for (int i = 0; i < 5; i++) {
        struct db_post p = post_of(i, 0, ST_OK);

        ok(db_post(w, &p, &e) == ST_OK, "posts are taken");
    }
    do {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        db_writer_state(w, &state);
    } while (state.failures < 2);
    is_int(done_n, 0, "nothing is done");
    is_int(state.queued, 5, "nothing is dropped");
    setrlimit(RLIMIT_FSIZE, &old);
    wait_done(5);
    is_int(done_n, 5, "with room again everything is");
    db_writer_close(w, 1000);
    is_int(count_rows(path), 5, "and in the file");
}

int main(void)
{
    tmpdir_make();
    test_many();
    test_close();
    test_retry();
    test_full();
    test_disk();
    tmpdir_remove();
    return done();
}
