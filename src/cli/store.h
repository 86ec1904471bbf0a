/*
 * cli/store.h - what `key` and `ledger` share: the default database, times,
 * aligned tables, one JSON document.
 */
#ifndef CLI_STORE_H
#define CLI_STORE_H

#include "base/buf.h"

#define STORE_DB_DEFAULT "/var/lib/penstock/penstock.db"

/* `option` (of --db), else $PENSTOCK_DB, else the default. */
const char *store_db_path(const char *option);

/* "2026-11-30 12:00:00" (UTC) into out[20]; "-" for 0. */
void store_time(int64_t ms, char out[20]);

/*
 * The moment that `s` names, in ms since 1970: a date (2026-11-30, midnight
 * UTC), or so long before `now_ms`: 90s, 30m, 24h, 7d. False: neither.
 */
bool store_since(const char *s, int64_t now_ms, int64_t *out) MUST_CHECK;

/* A table in memory: all rows are known before the first is printed. */
struct table {
    size_t cols, cells, cap;
    char **cell;          /* owned; the first row is the head */
    const char *align;    /* [cols] of 'l' and 'r', borrowed */
};

void table_init(struct table *t, const char *align);
void table_release(struct table *t);
/* Left to right, row by row. Control characters become '?'. */
void table_add(struct table *t, const char *text);
void table_add_int(struct table *t, int64_t v);
void table_print(const struct table *t, FILE *to);

/* Print a finished document and a newline. Status 0, or 1 with a message
 * when it did not fit. */
int store_print_json(const char *cmd, bool good, const struct buf *b);

#endif
