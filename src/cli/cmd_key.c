/* penstock key: who may ask. */
#include "cli/cli.h"
#include "cli/store.h"

#include "acct/keys.h"
#include "json/write.h"

#include <getopt.h>

struct options {
    const char *db;
    bool json;
};

static void help(void)
{
    puts("Usage: penstock key add NAME [OPTION]...\n"
         "       penstock key list [OPTION]...\n"
         "       penstock key revoke NAME|PREFIX [OPTION]...\n"
         "\n"
         "add     make a key and print it; it is shown this once\n"
         "list    names, first characters and dates\n"
         "revoke  make a key stop working, by its name or first characters\n"
         "\n"
         "  --db PATH  the database [$PENSTOCK_DB, else " STORE_DB_DEFAULT "]\n"
         "  --json     one JSON document\n"
         "\n"
         "A running penstockd sees the change within a second. Without any\n"
         "key only requests that nginx marks as local are served.");
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
    char key[KEY_TEXT_MAX];
    struct db *db;
    struct err e;
    enum st st;

    if (db_open(&db, store_db_path(o->db), DB_WRITE, &e))
        return cli_fail("key", &e);
    st = keys_add(db, name, key, &e);
    db_close(db);
    return st ? cli_fail("key", &e) : print_added(o, name, key);
}

static int revoke(const struct options *o, const char *name)
{
    struct db *db;
    struct buf b;
    struct jw *w;
    struct err e;
    enum st st;
    int rc;

    if (db_open(&db, store_db_path(o->db), DB_WRITE, &e))
        return cli_fail("key", &e);
    st = keys_revoke(db, name, &e);
    db_close(db);
    if (st)
        return cli_fail("key", &e);
    if (!o->json)
        return printf("revoked %s\n", name) < 0;
    buf_init(&b, BUF_MESSAGE);
    w = jw_new(&b);
    jw_obj(w);
    jw_kstr(w, "revoked", name);
    jw_obj_end(w);
    rc = store_print_json("key", jw_end(w), &b);
    buf_release(&b);
    return rc;
}

static void row_to_table(void *arg, const struct key_row *r)
{
    char at[20];

    table_add(arg, r->name);
    table_add(arg, r->prefix);
    store_time(r->created_ms, at);
    table_add(arg, at);
    store_time(r->revoked_ms, at);
    table_add(arg, at);
}

static void row_to_json(void *arg, const struct key_row *r)
{
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

    table_init(&t, "llll");
    table_add(&t, "NAME");
    table_add(&t, "KEY");
    table_add(&t, "CREATED (UTC)");
    table_add(&t, "REVOKED");
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

int cmd_key(int argc, char **argv)
{
    static const struct option longs[] = {
        {"db", required_argument, NULL, 'd'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct options o = {0};
    const char *verb;
    int c, left;

    while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (c == 'd')
            o.db = optarg;
        else if (c == 'j')
            o.json = true;
        else if (c == 'h')
            return help(), 0;
        else
            return cli_try_help("key");
    }
    left = argc - optind;
    verb = left > 0 ? argv[optind] : "";
    if (!strcmp(verb, "list") && left == 1)
        return list(&o);
    if (!strcmp(verb, "add") && left == 2)
        return add(&o, argv[optind + 1]);
    if (!strcmp(verb, "revoke") && left == 2)
        return revoke(&o, argv[optind + 1]);
    return cli_usage("key", "expected add NAME, list, or revoke NAME");
}
