/*
 * db/db.h - one SQLite file: open, pragmas, migrations, statements by id.
 *
 * SQL lives in sql/ and is compiled in: sql/NNNN_name.sql are migrations
 * (user_version counts them), sql/q/NAME.sql are statements, each an
 * `enum sql_id` value SQL_NAME of db/sql.h (generated). C holds no SQL.
 * File 0600, folder 0700 when created; WAL, foreign keys on.
 * Threads: a struct db belongs to one thread at a time.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include "base/mem.h"
#include "db/sql.h" /* generated: enum sql_id */

struct db;      /* opaque: one connection */
struct db_stmt; /* opaque: a prepared statement of the connection */

enum db_mode {
    DB_READ,   /* read-only; fails when the file does not exist */
    DB_WRITE,  /* creates and migrates */
};

/* Errors: ST_IO (cannot open), ST_UNSUPPORTED (the file is newer than this
 * program, or older and opened for reading), ST_FORMAT (not a database, or
 * not ours), ST_BUSY (locked for 5 s). What root creates belongs to the owner
 * of the folder. */
enum st db_open(struct db **out, const char *path, enum db_mode mode,
                struct err *e) MUST_CHECK;
void db_close(struct db *db); /* NULL ok */

/* Statement by id, prepared once per connection, reset and unbound. */
enum st db_stmt(struct db_stmt **out, struct db *db, enum sql_id id,
                struct err *e) MUST_CHECK;
/* Binds start at 1, as ?1 in the file. Strings are copied. */
void db_bind_int(struct db_stmt *s, int at, int64_t v);
void db_bind_num(struct db_stmt *s, int at, double v);
void db_bind_str(struct db_stmt *s, int at, const char *v); /* NULL: null */
void db_bind_blob(struct db_stmt *s, int at, const void *v, size_t n);
void db_bind_null(struct db_stmt *s, int at);
/* Next row: *row = true when there is one. Errors: ST_BUSY, ST_IO, ST_FORMAT,
 * ST_NOMEM can pass; ST_INTERNAL (a constraint, our mistake) cannot. */
enum st db_step(struct db_stmt *s, bool *row, struct err *e) MUST_CHECK;
/* Enough rows: a statement left in the middle would pin the WAL, and what was
 * bound stays in memory until its next use. */
void db_done(struct db_stmt *s);
/* Run a statement to its end; rows are not looked at. */
enum st db_run(struct db_stmt *s, struct err *e) MUST_CHECK;
int64_t db_col_int(struct db_stmt *s, int col);
double db_col_num(struct db_stmt *s, int col);
bool db_col_null(struct db_stmt *s, int col);
/* Valid until the next step; "" for null. */
const char *db_col_str(struct db_stmt *s, int col);
const void *db_col_blob(struct db_stmt *s, int col, size_t *n);
int64_t db_last_id(struct db *db);

enum st db_begin(struct db *db, struct err *e) MUST_CHECK; /* IMMEDIATE */
enum st db_commit(struct db *db, struct err *e) MUST_CHECK;
void db_rollback(struct db *db);

/* How long a statement waits for another process's lock; 5,000 at first. */
void db_busy_ms(struct db *db, int ms);

#endif
