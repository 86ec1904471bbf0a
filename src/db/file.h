/*
 * db/file.h - the database as a file: who owns it, how large is its WAL.
 */
#ifndef DB_FILE_H
#define DB_FILE_H

#include "base/mem.h"

/* Refuse by name what is there and cannot be a database: a folder, a device,
 * a symbolic link to nothing. Errors: ST_IO. */
enum st db_file_check(const char *path, struct err *e) MUST_CHECK;

/*
 * Make sure that `path` exists: its folder (0700, one level) and an empty
 * file (0600). What root creates belongs to the owner of the folder it lies
 * in, so that a key added with sudo does not lock the daemon out; SQLite
 * gives the WAL and its index the owner of the file.
 * Errors: ST_IO.
 */
enum st db_file_create(const char *path, struct err *e) MUST_CHECK;

/* Bytes of the WAL beside `path` now; 0 when there is none. */
int64_t db_file_wal_bytes(const char *path);

#endif
