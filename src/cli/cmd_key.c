/* penstock key: who may ask. */
#include "cli/cli.h"
#include "cli/store.h"

#include "acct/keys.h"
#include "base/num.h"
#include "json/write.h"

#include <getopt.h>

struct options {
    const char *db;
    bool json;
    struct limit_set limits; /* LIMIT_KEEP: not given */
};

/* In the order of the columns. */
static const struct {
    const char *option, *column, *head;
    size_t at;
} limits[] = {
    {"requests", "limit_requests", "REQ/MIN",
     offsetof(struct limit_set, requests)},
    {"tokens", "limit_tokens", "TOK/MIN", offsetof(struct limit_set, tokens)},
    {"tokens-day", "limit_tokens_day", "TOK/DAY",
     offsetof(struct limit_set, tokens_day)},
    {"concurrent", "limit_concurrent", "AT ONCE",
     offsetof(struct limit_set, concurrent)},
};
#define LIMITS 4

static int64_t *limit_of(struct limit_set *set, int i)
{
    return (int64_t *)((char *)set + limits[i].at);
}

static void help(void)
{
    puts("Usage: penstock key add NAME [LIMIT]... [OPTION]...\n"
         "       penstock key limit NAME|PREFIX LIMIT... [OPTION]...\n"
         "       penstock key list [OPTION]...\n"
         "       penstock key revoke NAME|PREFIX [OPTION]...\n"
         "\n"
         "add     make a key and print it; it is shown this once\n"
         "limit   change what a key may use, by its name or first characters\n"
         "list    names, first characters, dates and limits\n"
         "revoke  make a key stop working\n"
         "\n"
         "A LIMIT is a number, none, or default (what penstock.conf says):\n"
         "  --requests N    requests per minute\n"
         "  --tokens N      tokens per minute, prompts and answers\n"
         "  --tokens-day N  tokens per day (UTC)\n"
         "  --concurrent N  requests at a time\n"
         "\n"
         "  --db PATH  the database [$PENSTOCK_DB, else " STORE_DB_DEFAULT "]\n"
         "  --json     one JSON document\n"
         "\n"
         "A running penstockd sees the change within a second. Without any\n"
         "key only requests that nginx marks as local are served.");
}

/* A number of 1 or more, none or default. */
static bool parse_limit(const char *s, int64_t *out)
{
    *out = !strcmp(s, "none") ? LIMIT_NONE : LIMIT_DEFAULT;
    if (!strcmp(s, "none") || !strcmp(s, "default"))
        return true;
    return num_parse_i64(s, strlen(s), 1, LIMIT_MAX, out);
}

static int print_added(const struct options *o, const char *name,
                       const char *key)
{
    struct buf b;
    struct jw *w;
    int rc;

    if (!o->json)
        return puts(key) < 0;
    buf_init(&b, BUF_MESSAGE);
    w = jw_new(&b);
    jw_obj(w);
    jw_kstr(w, "name", name);
    jw_kstr(w, "key", key);
    jw_obj_end(w);
    rc = store_print_json("key", jw_end(w), &b);
    buf_release(&b);
    return rc;
}

static int add(const struct options *o, const char *name)
{
    struct limit_set set = o->limits;
    char key[KEY_TEXT_MAX];
    struct db *db;
    struct err e;
    enum st st;

    for (int i = 0; i < LIMITS; i++)
        if (*limit_of(&set, i) == LIMIT_KEEP)
            *limit_of(&set, i) = LIMIT_DEFAULT;
    if (db_open(&db, store_db_path(o->db), DB_WRITE, &e))
        return cli_fail("key", &e);
    st = keys_add(db, name, &set, key, &e);
    db_close(db);
    return st ? cli_fail("key", &e) : print_added(o, name, key);
}

/* "revoked NAME", or {"revoked":"NAME"}. */
static int print_done(const struct options *o, const char *what,
                      const char *name)
{
    struct buf b;
    struct jw *w;
    int rc;

    if (!o->json)
        return printf("%s %s\n", what, name) < 0;
    buf_init(&b, BUF_MESSAGE);
    w = jw_new(&b);
    jw_obj(w);
    jw_kstr(w, what, name);
    jw_obj_end(w);
    rc = store_print_json("key", jw_end(w), &b);
    buf_release(&b);
    return rc;
}

static int revoke(const struct options *o, const char *name)
{
    struct db *db;
    struct err e;
    enum st st;

    if (db_open(&db, store_db_path(o->db), DB_WRITE, &e))
        return cli_fail("key", &e);
    st = keys_revoke(db, name, &e);
    db_close(db);
    return st ? cli_fail("key", &e) : print_done(o, "revoked", name);
}

static int limit(const struct options *o, const char *name)
{
    struct db *db;
    struct err e;
    enum st st;

    if (db_open(&db, store_db_path(o->db), DB_WRITE, &e))
        return cli_fail("key", &e);
    st = keys_limit(db, name, &o->limits, &e);
    db_close(db);
    return st ? cli_fail("key", &e) : print_done(o, "limited", name);
}

static void row_to_table(void *arg, const struct key_row *r)
{
    struct limit_set set = r->limits;
    char at[20];

    table_add(arg, r->name);
    table_add(arg, r->prefix);
    store_time(r->created_ms, at);
    table_add(arg, at);
    store_time(r->revoked_ms, at);
    table_add(arg, at);
    for (int i = 0; i < LIMITS; i++) {
        int64_t v = *limit_of(&set, i);

        if (v > 0)
            table_add_int(arg, v);
        else
            table_add(arg, v ? "default" : "none");
    }
}

/* Of a limit: null is the default, 0 none. */
static void row_to_json(void *arg, const struct key_row *r)
{
    struct limit_set set = r->limits;
    struct jw *w = arg;

    jw_obj(w);
    jw_kint(w, "id", r->id);
    jw_kstr(w, "name", r->name);
    jw_kstr(w, "prefix", r->prefix);
    jw_kint(w, "created_ms", r->created_ms);
    if (r->revoked_ms)
        jw_kint(w, "revoked_ms", r->revoked_ms);
    else
        jw_knull(w, "revoked_ms");
    for (int i = 0; i < LIMITS; i++) {
        if (*limit_of(&set, i) < 0)
            jw_knull(w, limits[i].column);
        else
            jw_kint(w, limits[i].column, *limit_of(&set, i));
    }
    jw_obj_end(w);
}

static int list_json(struct db *db)
{
    struct buf b;
    struct jw *w;
    struct err e;
    enum st st;
    bool good;
    int rc;

    buf_init(&b, BUF_ANSWER);
    w = jw_new(&b);
    jw_obj(w);
    jw_key(w, "keys");
    jw_arr(w);
    st = keys_list(db, row_to_json, w, &e);
    jw_arr_end(w);
    jw_obj_end(w);
    good = jw_end(w);
    rc = st ? cli_fail("key", &e) : store_print_json("key", good, &b);
    buf_release(&b);
    return rc;
}

static int list_table(struct db *db)
{
    struct table t;
    struct err e;
    enum st st;

    table_init(&t, "llllrrrr");
    table_add(&t, "NAME");
    table_add(&t, "KEY");
    table_add(&t, "CREATED (UTC)");
    table_add(&t, "REVOKED");
    for (int i = 0; i < LIMITS; i++)
        table_add(&t, limits[i].head);
    st = keys_list(db, row_to_table, &t, &e);
    if (!st)
        table_print(&t, stdout);
    table_release(&t);
    return st ? cli_fail("key", &e) : 0;
}

static int list(const struct options *o)
{
    struct db *db;
    struct err e;
    int rc;

    if (db_open(&db, store_db_path(o->db), DB_READ, &e))
        return cli_fail("key", &e);
    rc = o->json ? list_json(db) : list_table(db);
    db_close(db);
    return rc;
}

static bool any_limit(const struct options *o)
{
    struct limit_set set = o->limits;

    for (int i = 0; i < LIMITS; i++)
        if (*limit_of(&set, i) != LIMIT_KEEP)
            return true;
    return false;
}

/* -1: do it; else the exit status. */
static int read_options(struct options *o, int argc, char **argv)
{
    static const struct option longs[] = {
        {"requests", required_argument, NULL, '0'},
        {"tokens", required_argument, NULL, '1'},
        {"tokens-day", required_argument, NULL, '2'},
        {"concurrent", required_argument, NULL, '3'},
        {"db", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    int c;

    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'd')
            o->db = optarg;
        else if (c == 'j')
            o->json = true;
        else if (c == 'h')
            return help(), 0;
        else if (c < '0' || c >= '0' + LIMITS)
            return cli_try_help("key");
        else if (!parse_limit(optarg, limit_of(&o->limits, c - '0')))
            return cli_usage("key",
                             "--%s takes 1 to %lld, none or default",
                             limits[c - '0'].option, (long long)LIMIT_MAX);
    }
    return -1;
}

int cmd_key(int argc, char **argv)
{
    struct options o = {.limits = {LIMIT_KEEP, LIMIT_KEEP, LIMIT_KEEP,
                                   LIMIT_KEEP}};
    int rc = read_options(&o, argc, argv), left = argc - optind;
    const char *verb = left > 0 ? argv[optind] : "";

    if (rc >= 0)
        return rc;
    if (!strcmp(verb, "add") && left == 2)
        return add(&o, argv[optind + 1]);
    if (!strcmp(verb, "limit") && left == 2 && any_limit(&o))
        return limit(&o, argv[optind + 1]);
    if (any_limit(&o))
        return cli_usage("key", "limits go with add NAME or limit NAME");
    if (!strcmp(verb, "limit") && left == 2)
        return cli_usage("key", "limit NAME takes at least one of --requests, "
                                "--tokens, --tokens-day, --concurrent");
    if (!strcmp(verb, "list") && left == 1)
        return list(&o);
    if (!strcmp(verb, "revoke") && left == 2)
        return revoke(&o, argv[optind + 1]);
    return cli_usage("key", "expected add NAME, limit NAME, list, or revoke "
                            "NAME");
}
