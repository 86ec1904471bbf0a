#include "db/db.h"
#include "db/file.h"

#include "base/thread.h"

#include <sqlite3.h>

#define APPLICATION_ID 1349415787 /* as in sql/0001_init.sql */
#define BUSY_MS 5000              /* wait this long for another writer */

struct db_stmt {
    struct db *db;
    sqlite3_stmt *s;
    int bind_rc; /* first failure of a bind, or SQLITE_OK */
};

struct db {
    sqlite3 *h;
    char *path;
    struct db_stmt stmt[SQL_COUNT];
};

/* --- errors -------------------------------------------------------------- */

static enum st st_of(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return ST_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ST_BUSY;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return ST_FORMAT;
    case SQLITE_NOMEM:
        return ST_NOMEM;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_TOOBIG:
    case SQLITE_MISUSE:
        return ST_INTERNAL; /* the same call will fail again */
    default:
        return ST_IO;
    }
}

/* SQLite's messages name tables and columns, never values. */
static enum st fail(struct db *db, int rc, const char *what, struct err *e)
{
    if (st_of(rc) == ST_FORMAT)
        return err_set(e, ST_FORMAT, db->path, "%s: %s", what,
                       sqlite3_errstr(rc));
    return err_set(e, st_of(rc), db->path, "%s: %s", what,
                   sqlite3_errmsg(db->h));
}

/* Run a script: statements that answer nothing anybody needs. */
static enum st exec(struct db *db, const char *sql, const char *what,
                    struct err *e)
{
    int rc = sqlite3_exec(db->h, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? ST_OK : fail(db, rc, what, e);
}

static enum st script(struct db *db, enum sql_id id, struct err *e)
{
    return exec(db, sql_text[id], sql_name[id], e);
}

/* --- statements ---------------------------------------------------------- */

enum st db_stmt(struct db_stmt **out, struct db *db, enum sql_id id,
                struct err *e)
{
    struct db_stmt *s = &db->stmt[id];
    int rc;

    *out = NULL;
    if (!s->s) {
        rc = sqlite3_prepare_v3(db->h, sql_text[id], -1,
                                SQLITE_PREPARE_PERSISTENT, &s->s, NULL);
        if (rc != SQLITE_OK)
            return fail(db, rc, sql_name[id], e);
        s->db = db;
    }
    sqlite3_reset(s->s);
    sqlite3_clear_bindings(s->s);
    s->bind_rc = SQLITE_OK;
    *out = s;
    return ST_OK;
}

static void bound(struct db_stmt *s, int rc)
{
    if (rc != SQLITE_OK && s->bind_rc == SQLITE_OK)
        s->bind_rc = rc;
}

void db_bind_int(struct db_stmt *s, int at, int64_t v)
{
    bound(s, sqlite3_bind_int64(s->s, at, v));
}

void db_bind_num(struct db_stmt *s, int at, double v)
{
    bound(s, sqlite3_bind_double(s->s, at, v));
}

void db_bind_str(struct db_stmt *s, int at, const char *v)
{
    bound(s, sqlite3_bind_text(s->s, at, v, -1, SQLITE_TRANSIENT));
}

void db_bind_blob(struct db_stmt *s, int at, const void *v, size_t n)
{
    bound(s, sqlite3_bind_blob64(s->s, at, v, n, SQLITE_TRANSIENT));
}

void db_bind_null(struct db_stmt *s, int at)
{
    bound(s, sqlite3_bind_null(s->s, at));
}

enum st db_step(struct db_stmt *s, bool *row, struct err *e)
{
    struct db *db = s->db;
    const char *name = sql_name[s - db->stmt];
    enum st st;
    int rc;

    *row = false;
    if (s->bind_rc != SQLITE_OK)
        return err_set(e, st_of(s->bind_rc), db->path, "%s: bind: %s", name,
                       sqlite3_errstr(s->bind_rc));
    rc = sqlite3_step(s->s);
    if (rc == SQLITE_ROW) {
        *row = true;
        return ST_OK;
    }
    st = rc == SQLITE_DONE ? ST_OK : fail(db, rc, name, e);
    sqlite3_reset(s->s); /* or a failed reader would pin the WAL */
    return st;
}

enum st db_run(struct db_stmt *s, struct err *e)
{
    bool row;
    enum st st;

    do
        st = db_step(s, &row, e);
    while (!st && row);
    return st;
}

void db_done(struct db_stmt *s)
{
    sqlite3_reset(s->s);
    sqlite3_clear_bindings(s->s); /* copies, which may be large */
}

int64_t db_col_int(struct db_stmt *s, int col)
{
    return sqlite3_column_int64(s->s, col);
}

double db_col_num(struct db_stmt *s, int col)
{
    return sqlite3_column_double(s->s, col);
}

bool db_col_null(struct db_stmt *s, int col)
{
    return sqlite3_column_type(s->s, col) == SQLITE_NULL;
}

const char *db_col_str(struct db_stmt *s, int col)
{
    const char *v = (const char *)sqlite3_column_text(s->s, col);

    return v ? v : "";
}

const void *db_col_blob(struct db_stmt *s, int col, size_t *n)
{
    const void *v = sqlite3_column_blob(s->s, col);

    *n = (size_t)sqlite3_column_bytes(s->s, col);
    return v;
}

int64_t db_last_id(struct db *db)
{
    return sqlite3_last_insert_rowid(db->h);
}

/* --- transactions -------------------------------------------------------- */

static enum st run_id(struct db *db, enum sql_id id, struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, id, e);

    return st ? st : db_run(s, e);
}

enum st db_begin(struct db *db, struct err *e)
{
    return run_id(db, SQL_DB_BEGIN, e);
}

enum st db_commit(struct db *db, struct err *e)
{
    return run_id(db, SQL_DB_COMMIT, e);
}

void db_rollback(struct db *db)
{
    /* A full disk or an I/O error may have rolled it back already. */
    if (!sqlite3_get_autocommit(db->h) && run_id(db, SQL_DB_ROLLBACK, NULL))
        return; /* the next BEGIN fails, and says why */
}

void db_busy_ms(struct db *db, int ms)
{
    sqlite3_busy_timeout(db->h, ms);
}

/* --- opening ------------------------------------------------------------- */

struct version {
    int64_t application, step, tables;
};

static enum st version(struct db *db, struct version *v, struct err *e)
{
    struct db_stmt *s;
    bool row;
    enum st st = db_stmt(&s, db, SQL_DB_VERSION, e);

    if (!st)
        st = db_step(s, &row, e);
    if (st)
        return st;
    v->application = db_col_int(s, 0);
    v->step = db_col_int(s, 1);
    v->tables = db_col_int(s, 2);
    db_done(s);
    return ST_OK;
}

/* Is it ours, and not from the future? *fresh: it is empty. */
static enum st check_version(struct db *db, struct version *v, bool *fresh,
                             struct err *e)
{
    enum st st = version(db, v, e);

    if (st)
        return st;
    *fresh = !v->application && !v->step && !v->tables;
    if (*fresh)
        return ST_OK;
    if (v->application != APPLICATION_ID)
        return err_set(e, ST_FORMAT, db->path,
                       "the database of another program");
    if (v->step < 0 || v->step > SQL_MIGRATIONS)
        return err_set(e, ST_UNSUPPORTED, db->path,
                       "written by a newer Penstock (schema %lld, this program "
                       "knows %d)",
                       (long long)v->step, SQL_MIGRATIONS);
    return ST_OK;
}

/* One transaction per step; another process may be doing the same. */
static enum st migrate(struct db *db, struct err *e)
{
    for (;;) {
        struct version v;
        bool fresh;
        enum st st = db_begin(db, e);

        if (st)
            return st;
        st = check_version(db, &v, &fresh, e);
        if (!st && v.step < SQL_MIGRATIONS)
            st = exec(db, sql_migration[v.step], "migration", e);
        if (!st)
            st = db_commit(db, e);
        if (st) {
            db_rollback(db);
            return st;
        }
        if (v.step >= SQL_MIGRATIONS)
            return ST_OK;
    }
}

/* SQLite does not wait by itself while it changes to WAL. */
static enum st set_wal(struct db *db, struct err *e)
{
    int64_t until = mono_ms() + BUSY_MS;
    struct db_stmt *s;
    bool row = false;
    enum st st;

    for (;;) {
        st = db_stmt(&s, db, SQL_DB_WAL, e);
        if (!st)
            st = db_step(s, &row, e);
        if (st != ST_BUSY || mono_ms() >= until)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    if (st)
        return st;
    if (!row || strcmp(db_col_str(s, 0), "wal") != 0)
        st = err_set(e, ST_IO, db->path,
                     "cannot keep a write-ahead log here (a network file "
                     "system?)");
    db_done(s);
    return st;
}

static enum st open_write(struct db *db, struct err *e)
{
    struct version v;
    bool fresh;
    enum st st = check_version(db, &v, &fresh, e);

    if (!st && fresh)
        st = script(db, SQL_DB_NEW, e);
    if (!st)
        st = set_wal(db, e);
    if (!st)
        st = script(db, SQL_DB_WRITE, e);
    if (!st && v.step < SQL_MIGRATIONS) /* else no lock is needed */
        st = migrate(db, e);
    return st;
}

static enum st open_read(struct db *db, struct err *e)
{
    struct version v;
    bool fresh;
    enum st st = script(db, SQL_DB_READ, e);

    if (!st)
        st = check_version(db, &v, &fresh, e);
    if (!st && v.step < SQL_MIGRATIONS)
        st = err_set(e, ST_UNSUPPORTED, db->path,
                     "written by an older Penstock; start penstockd once to "
                     "bring it up to date");
    return st;
}

enum st db_open(struct db **out, const char *path, enum db_mode mode,
                struct err *e)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (mode == DB_WRITE ? SQLITE_OPEN_READWRITE
                                  : SQLITE_OPEN_READONLY);
    enum st st = db_file_check(path, e);
    struct db *db;
    int rc;

    *out = NULL;
    if (!st && mode == DB_WRITE)
        st = db_file_create(path, e);
    if (st)
        return st;
    db = mem_new(struct db);
    db->path = mem_dup(path);
    rc = sqlite3_open_v2(path, &db->h, flags, NULL);
    if (rc != SQLITE_OK) {
        st = err_set(e, ST_IO, path, "cannot open the database: %s",
                     db->h ? sqlite3_errmsg(db->h) : sqlite3_errstr(rc));
    } else {
        db_busy_ms(db, BUSY_MS);
        st = mode == DB_WRITE ? open_write(db, e) : open_read(db, e);
    }
    if (st) {
        db_close(db);
        return st;
    }
    *out = db;
    return ST_OK;
}

void db_close(struct db *db)
{
    if (!db)
        return;
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(db->stmt[i].s);
    sqlite3_close(db->h);
    free(db->path);
    free(db);
}
