/* penstock ledger: who used what. */
#include "cli/cli.h"
#include "cli/store.h"

#include "base/num.h"
#include "base/thread.h"
#include "db/db.h"
#include "json/write.h"

#include <getopt.h>

struct options {
    const char *db, *by;
    int64_t since, limit;
    bool json;
};

/* How a column of a statement is shown. */
enum kind {
    TEXT, /* '-' in the table when empty, null in JSON */
    INT,  /* the same when null */
    RATE, /* two decimals */
    TIME, /* ms since 1970; a moment in the table */
    FLAG,
};

struct column {
    const char *name;  /* in JSON: the column of the ledger */
    const char *head;  /* in the table; NULL: only in JSON */
    enum kind kind;
};

/* In the order of sql/q/ledger_list.sql. */
static const struct column list_columns[] = {
    {"id", NULL, INT},
    {"ts_ms", "TIME (UTC)", TIME},
    {"request_id", "REQUEST", TEXT},
    {"model", "MODEL", TEXT},
    {"key", "KEY", TEXT},
    {"client_kind", "CLIENT", TEXT},
    {"endpoint", "ENDPOINT", TEXT},
    {"stream", NULL, FLAG},
    {"state", "STATE", TEXT},
    {"status", "STATUS", INT},
    {"finish_reason", "FINISH", TEXT},
    {"error_type", NULL, TEXT},
    {"prompt_tokens", "PROMPT", INT},
    {"cached_tokens", "CACHED", INT},
    {"completion_tokens", "OUTPUT", INT},
    {"reasoning_tokens", NULL, INT},
    {"queue_ms", NULL, INT},
    {"prompt_ms", NULL, INT},
    {"ttft_ms", "TTFT ms", INT},
    {"decode_ms", NULL, INT},
    {"total_ms", "TOTAL ms", INT},
    {"decode_tps", "TOK/s", RATE},
    {"prefill_tps", NULL, RATE},
    {"max_tokens", NULL, INT},
    {"thinking", NULL, FLAG},
    {"tool_calls", NULL, INT},
    {"cache_source", NULL, TEXT},
    {"engine_version", NULL, TEXT},
    {0},
};

/* In the order of sql/q/ledger_by_*.sql. */
static const struct column sum_columns[] = {
    {"name", "NAME", TEXT},
    {"requests", "REQUESTS", INT},
    {"failed", "FAILED", INT},
    {"refused", "REFUSED", INT},
    {"prompt_tokens", "PROMPT", INT},
    {"cached_tokens", "CACHED", INT},
    {"completion_tokens", "OUTPUT", INT},
    {"reasoning_tokens", "REASONING", INT},
    {"mean_ttft_ms", "TTFT ms", INT},
    {"mean_decode_tps", "TOK/s", RATE},
    {0},
};

static const struct {
    const char *by;
    enum sql_id sql;
    const struct column *columns;
    const char *rows; /* name of the list in JSON */
} reports[] = {
    {"", SQL_LEDGER_LIST, list_columns, "requests"},
    {"key", SQL_LEDGER_BY_KEY, sum_columns, "keys"},
    {"model", SQL_LEDGER_BY_MODEL, sum_columns, "models"},
    {"client", SQL_LEDGER_BY_CLIENT, sum_columns, "clients"},
    {"day", SQL_LEDGER_BY_DAY, sum_columns, "days"},
};

static void help(void)
{
    puts("Usage: penstock ledger [OPTION]...\n"
         "\n"
         "The newest requests, or sums of them.\n"
         "\n"
         "  --by WHAT   sums by key, model, client or day (UTC)\n"
         "  --since T   from T on: a date (2026-11-30, UTC) or a time before\n"
         "              now (90s, 30m, 24h, 7d)\n"
         "  --limit N   at most N rows [50]\n"
         "  --db PATH   the database [$PENSTOCK_DB, else " STORE_DB_DEFAULT "]\n"
         "  --json      one JSON document, with every column\n"
         "\n"
         "docs/ledger.md explains the columns and has queries for sqlite3.");
}

/* --- rows ---------------------------------------------------------------- */

static bool is_null(struct db_stmt *s, int i, enum kind kind)
{
    return db_col_null(s, i) || (kind == TEXT && !db_col_str(s, i)[0]);
}

static void to_table(struct table *t, struct db_stmt *s,
                     const struct column *c)
{
    for (int i = 0; c[i].name; i++) {
        char text[32];

        if (!c[i].head)
            continue;
        if (is_null(s, i, c[i].kind)) {
            table_add(t, "-");
        } else if (c[i].kind == TEXT) {
            table_add(t, db_col_str(s, i));
        } else if (c[i].kind == RATE) {
            snprintf(text, sizeof(text), "%.2f", db_col_num(s, i));
            table_add(t, text);
        } else if (c[i].kind == TIME) {
            store_time(db_col_int(s, i), text);
            table_add(t, text);
        } else {
            table_add_int(t, db_col_int(s, i));
        }
    }
}

static void to_json(struct jw *w, struct db_stmt *s, const struct column *c)
{
    jw_obj(w);
    for (int i = 0; c[i].name; i++) {
        jw_key(w, c[i].name);
        if (is_null(s, i, c[i].kind))
            jw_null(w);
        else if (c[i].kind == TEXT)
            jw_str(w, db_col_str(s, i));
        else if (c[i].kind == RATE)
            jw_num(w, db_col_num(s, i), 2);
        else if (c[i].kind == FLAG)
            jw_bool(w, db_col_int(s, i) != 0);
        else
            jw_int(w, db_col_int(s, i));
    }
    jw_obj_end(w);
}

static void table_head(struct table *t, const struct column *c, char align[32])
{
    size_t n = 0;

    for (int i = 0; c[i].name; i++)
        if (c[i].head)
            align[n++] = c[i].kind == TEXT || c[i].kind == TIME ? 'l' : 'r';
    align[n] = '\0';
    table_init(t, align);
    for (int i = 0; c[i].name; i++)
        if (c[i].head)
            table_add(t, c[i].head);
}

static int print_table(struct db_stmt *s, const struct column *c)
{
    struct table t;
    struct err e;
    char align[32];
    bool row;
    enum st st;

    table_head(&t, c, align);
    while (!(st = db_step(s, &row, &e)) && row)
        to_table(&t, s, c);
    if (!st)
        table_print(&t, stdout);
    table_release(&t);
    return st ? cli_fail("ledger", &e) : 0;
}

static int print_json(struct db_stmt *s, const struct column *c,
                      const char *name)
{
    struct err e;
    struct buf b;
    struct jw *w;
    bool row, good;
    enum st st;
    int rc;

    buf_init(&b, BUF_FILE);
    w = jw_new(&b);
    jw_obj(w);
    jw_key(w, name);
    jw_arr(w);
    while (!(st = db_step(s, &row, &e)) && row)
        to_json(w, s, c);
    jw_arr_end(w);
    jw_obj_end(w);
    good = jw_end(w);
    rc = st ? cli_fail("ledger", &e) : store_print_json("ledger", good, &b);
    buf_release(&b);
    return rc;
}

static int report(const struct options *o)
{
    struct db_stmt *s;
    struct db *db;
    struct err e;
    size_t i = 0;
    int rc;

    while (strcmp(reports[i].by, o->by) != 0)
        i++;
    if (db_open(&db, store_db_path(o->db), DB_READ, &e))
        return cli_fail("ledger", &e);
    if (db_stmt(&s, db, reports[i].sql, &e)) {
        rc = cli_fail("ledger", &e);
    } else {
        db_bind_int(s, 1, o->since);
        db_bind_int(s, 2, o->limit);
        rc = o->json ? print_json(s, reports[i].columns, reports[i].rows)
                     : print_table(s, reports[i].columns);
    }
    db_close(db);
    return rc;
}

/* --- options ------------------------------------------------------------- */

static bool known_by(const char *by)
{
    for (size_t i = 1; i < sizeof(reports) / sizeof(reports[0]); i++)
        if (!strcmp(reports[i].by, by))
            return true;
    return false;
}

int cmd_ledger(int argc, char **argv)
{
    static const struct option longs[] = {
        {"by", required_argument, NULL, 'b'},
        {"since", required_argument, NULL, 's'},
        {"limit", required_argument, NULL, 'l'},
        {"db", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options o = {.by = "", .limit = 50};
    int c;

    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'h')
            return help(), 0;
        else if (c == 'b' && known_by(optarg))
            o.by = optarg;
        else if (c == 'b')
            return cli_usage("ledger", "--by takes key, model, client or day");
        else if (c == 's' && !store_since(optarg, epoch_ms(), &o.since))
            return cli_usage("ledger",
                             "--since takes a date (2026-11-30) or 90s, 30m, "
                             "24h, 7d");
        else if (c == 'l' && !num_parse_i64(optarg, strlen(optarg), 1, 1000000,
                                            &o.limit))
            return cli_usage("ledger", "--limit takes 1 to 1000000");
        else if (c == 'd')
            o.db = optarg;
        else if (c == 'j')
            o.json = true;
        else if (c == '?')
            return cli_try_help("ledger");
    }
    if (optind < argc)
        return cli_usage("ledger", "'%s' is no option", argv[optind]);
    return report(&o);
}
