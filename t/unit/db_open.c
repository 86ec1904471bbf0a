/* Opening: new, ours, foreign, newer, broken; modes; owner; statements. */
#include "db/db.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

static struct err e;

static unsigned mode_of(const char *path)
{
    struct stat sb;

    return stat(path, &sb) < 0 ? 0 : sb.st_mode & 07777;
}

/* Overwrite four bytes, big-endian, of the header (SQLite file format 1.3). */
static void poke(const char *path, off_t at, uint32_t v)
{
    unsigned char b[4] = {v >> 24, v >> 16 & 255, v >> 8 & 255, v & 255};
    int fd = open(path, O_WRONLY);

    ok(fd >= 0 && pwrite(fd, b, 4, at) == 4, "the header is changed");
    close(fd);
}

static void test_create(void)
{
    const char *folder = tmpdir_path("new"), *path = tmpdir_path("new/p.db");
    struct db *db;

    ok(db_open(&db, path, DB_READ, &e) == ST_IO && !db,
       "a reader creates nothing");
    ok(access(folder, F_OK) < 0, "not even the folder");
    ok(db_open(&db, path, DB_WRITE, &e) == ST_OK, "a writer does: %s", e.text);
    is_int(mode_of(folder), 0700, "the folder is 0700");
    is_int(mode_of(path), 0600, "the file is 0600");
    is_int(mode_of(tmpdir_path("new/p.db-wal")), 0600, "the WAL too");
    db_close(db);
    ok(db_open(&db, path, DB_WRITE, &e) == ST_OK, "it opens again");
    db_close(db);
    ok(db_open(&db, path, DB_READ, &e) == ST_OK, "and for reading");
    db_close(db);
    ok(db_open(&db, tmpdir_path("a/b/p.db"), DB_WRITE, &e) == ST_IO,
       "one level of folders only");
}

static void test_refusals(void)
{
    const char *path = tmpdir_path("x.db"), *text = tmpdir_path("text.db");
    struct db *db;
    FILE *f = fopen(text, "w");

    for (int i = 0; i < 2000; i++)
        fputs("this is no database\n", f);
    fclose(f);
    ok(db_open(&db, text, DB_WRITE, &e) == ST_FORMAT, "text is no database");
    ok(db_open(&db, text, DB_READ, &e) == ST_FORMAT, "nor for readers");

    ok(db_open(&db, path, DB_WRITE, &e) == ST_OK, "a database of ours");
    db_close(db);
    poke(path, 60, 99); /* user_version */
    ok(db_open(&db, path, DB_WRITE, &e) == ST_UNSUPPORTED, "newer: refused");
    ok(strstr(e.text, "99"), "the message has the number");
    ok(db_open(&db, path, DB_READ, &e) == ST_UNSUPPORTED, "readers too");
    poke(path, 60, SQL_MIGRATIONS);
    poke(path, 68, 4711); /* application_id */
    ok(db_open(&db, path, DB_WRITE, &e) == ST_FORMAT, "foreign: refused");
    poke(path, 68, 1349415787);
    ok(db_open(&db, path, DB_WRITE, &e) == ST_OK, "restored: opens");
    db_close(db);
}

static void test_owner(void)
{
    const char *folder = tmpdir_path("own");
    const char *files[] = {"own/p.db", "own/p.db-wal", "own/p.db-shm"};
    struct stat sb;
    struct db *db;

    if (geteuid() != 0) {
        ok(true, "owner # SKIP needs root");
        return;
    }
    if (mkdir(folder, 0700) < 0 || chown(folder, 12345, 12346) < 0) {
        ok(true, "owner # SKIP cannot give files away");
        return;
    }
    ok(db_open(&db, tmpdir_path("own/p.db"), DB_WRITE, &e) == ST_OK,
       "root opens in somebody's folder");
    for (int i = 0; i < 3; i++)
        ok(stat(tmpdir_path(files[i]), &sb) == 0 && sb.st_uid == 12345 &&
               sb.st_gid == 12346,
           "%s belongs to the owner of the folder", files[i]);
    db_close(db);
}

static void test_statements(void)
{
    struct db_stmt *s;
    struct db *db;
    bool row;

    ok(db_open(&db, tmpdir_path("s.db"), DB_WRITE, &e) == ST_OK, "open");
    ok(db_begin(db, &e) == ST_OK, "begin");
    ok(db_stmt(&s, db, SQL_KEY_ADD, &e) == ST_OK, "prepare");
    db_bind_str(s, 1, "alice");
    db_bind_str(s, 2, "pk-12345678");
    db_bind_blob(s, 3, "0123456789abcdef0123456789abcdef", 32);
    db_bind_int(s, 4, 1700000000000);
    ok(db_run(s, &e) == ST_OK, "insert");
    is_int(db_last_id(db), 1, "its id");
    db_rollback(db);
    ok(db_stmt(&s, db, SQL_KEY_LIST, &e) == ST_OK &&
           db_step(s, &row, &e) == ST_OK && !row,
       "rolled back");
    ok(db_begin(db, &e) == ST_OK && db_stmt(&s, db, SQL_KEY_ADD, &e) == ST_OK,
       "again");
    db_bind_str(s, 1, "alice");
    db_bind_str(s, 2, "pk-12345678");
    db_bind_blob(s, 3, "too short", 9);
    db_bind_int(s, 4, 1);
    ok(db_run(s, &e) == ST_INTERNAL, "a constraint is our mistake");
    ok(!strstr(e.text, "alice") && !strstr(e.text, "too short"),
       "and the message has no values: %s", e.text);
    ok(db_stmt(&s, db, SQL_KEY_ADD, &e) == ST_OK, "once more");
    db_bind_str(s, 1, "alice");
    db_bind_str(s, 2, "pk-12345678");
    db_bind_blob(s, 3, "0123456789abcdef0123456789abcdef", 32);
    db_bind_int(s, 4, 1700000000000);
    ok(db_run(s, &e) == ST_OK && db_commit(db, &e) == ST_OK, "committed");
    ok(db_stmt(&s, db, SQL_KEY_LIST, &e) == ST_OK &&
           db_step(s, &row, &e) == ST_OK && row,
       "a row");
    is_str(db_col_str(s, 1), "alice", "text");
    is_int(db_col_int(s, 3), 1700000000000, "a number");
    ok(!db_col_null(s, 3), "not null");
    db_done(s);
    db_bind_int(s, 9, 1);
    ok(db_step(s, &row, &e) == ST_INTERNAL, "a bind out of range shows");
    db_rollback(db); /* nothing open: no harm */
    db_close(db);
}

/* Several processes open a new file at once. */
static void test_race(void)
{
    const char *path = tmpdir_path("race.db");
    pid_t pids[4];
    int good = 0;

    for (int i = 0; i < 4; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct db *db;

            if (db_open(&db, path, DB_WRITE, &e))
                fprintf(stderr, "# %s: %s\n", e.where, e.text);
            _exit(db ? 0 : 1);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status;

        waitpid(pids[i], &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    is_int(good, 4, "four processes create one database");
}

/*
 * The disk is full after 4 KiB, 8 KiB, ...: wherever a migration was cut
 * off, the next start finds all of it or nothing.
 */
static void test_cut_off(void)
{
    struct rlimit old, tight;
    int bad = 0, cut = 0;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    tight = old;
    for (unsigned kib = 4; kib <= 128; kib += 4) {
        char name[32];
        const char *path;
        struct db_stmt *s;
        struct db *db;

        snprintf(name, sizeof(name), "cut%u.db", kib);
        path = tmpdir_path(name);
        tight.rlim_cur = kib * 1024;
        setrlimit(RLIMIT_FSIZE, &tight);
        cut += db_open(&db, path, DB_WRITE, &e) != ST_OK;
        db_close(db);
        setrlimit(RLIMIT_FSIZE, &old);
        bad += db_open(&db, path, DB_WRITE, &e) != ST_OK ||
               db_stmt(&s, db, SQL_KEY_LIST, &e) != ST_OK ||
               db_stmt(&s, db, SQL_LEDGER_LIST, &e) != ST_OK;
        db_close(db);
    }
    ok(cut > 3, "migrations that no space was left for (%d)", cut);
    is_int(bad, 0, "happen at the next start, from their beginning");
}

static void test_not_a_file(void)
{
    const char *folder = tmpdir_path("dir"), *link = tmpdir_path("link");
    struct db *db;

    ok(mkdir(folder, 0700) == 0 && symlink("nothing", link) == 0, "made");
    ok(db_open(&db, folder, DB_WRITE, &e) == ST_IO && strstr(e.text, "folder"),
       "a folder is named as one");
    ok(db_open(&db, link, DB_WRITE, &e) == ST_IO && strstr(e.text, "link"),
       "so is a link to nothing");
    ok(access(tmpdir_path("nothing"), F_OK) < 0, "and nothing is made there");
}

int main(void)
{
    tmpdir_make();
    test_create();
    test_refusals();
    test_not_a_file();
    test_owner();
    test_statements();
    test_race();
    test_cut_off();
    tmpdir_remove();
    return done();
}
