#include "acct/keys.h"

#include "base/crypt.h"
#include "base/log.h"
#include "base/thread.h"

#define KEY_RANDOM 32
#define KEY_PREFIX 11 /* "pk-" and eight characters: shown in lists */

/* --- administration ------------------------------------------------------ */

/* RFC 4648 section 5, without padding; n is a multiple of 3 plus 2. */
static size_t base64url(const uint8_t *in, size_t n, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t at = 0;

    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i < 3 ? n - i : 3;
        uint32_t v = (uint32_t)in[i] << 16;

        if (left > 1)
            v |= (uint32_t)in[i + 1] << 8;
        if (left > 2)
            v |= in[i + 2];
        for (size_t k = 0; k <= left; k++)
            out[at++] = digits[v >> (18 - 6 * k) & 63];
    }
    return at;
}

static bool name_ok(const char *name)
{
    size_t n = strlen(name);

    if (!n || n > 64)
        return false;
    return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789._-") == n;
}

static const struct limit_set no_limits = {LIMIT_DEFAULT, LIMIT_DEFAULT,
                                           LIMIT_DEFAULT, LIMIT_DEFAULT};

static void bind_limits(struct db_stmt *s, int at, const struct limit_set *v)
{
    db_bind_int(s, at, v->requests);
    db_bind_int(s, at + 1, v->tokens);
    db_bind_int(s, at + 2, v->tokens_day);
    db_bind_int(s, at + 3, v->concurrent);
}

static struct limit_set col_limits(struct db_stmt *s, int col)
{
    return (struct limit_set){
        .requests = db_col_int(s, col),
        .tokens = db_col_int(s, col + 1),
        .tokens_day = db_col_int(s, col + 2),
        .concurrent = db_col_int(s, col + 3),
    };
}

enum st keys_add(struct db *db, const char *name,
                 const struct limit_set *limits, char key[KEY_TEXT_MAX],
                 struct err *e)
{
    uint8_t raw[KEY_RANDOM], hash[32];
    char prefix[KEY_PREFIX + 1];
    struct db_stmt *s;
    enum st st;
    size_t n;

    key[0] = '\0';
    if (!name_ok(name))
        return err_set(e, ST_INVALID, "name",
                       "a key's name is 1 to 64 of A-Z a-z 0-9 . _ -");
    st = db_stmt(&s, db, SQL_KEY_ADD, e);
    if (st)
        return st;
    crypt_random(raw, sizeof(raw));
    memcpy(key, "pk-", 3);
    n = 3 + base64url(raw, sizeof(raw), key + 3);
    key[n] = '\0';
    memcpy(prefix, key, KEY_PREFIX);
    prefix[KEY_PREFIX] = '\0';
    crypt_sha256(key, n, hash);
    db_bind_str(s, 1, name);
    db_bind_str(s, 2, prefix);
    db_bind_blob(s, 3, hash, sizeof(hash));
    db_bind_int(s, 4, epoch_ms());
    bind_limits(s, 5, limits ? limits : &no_limits);
    st = db_run(s, e);
    if (st)
        key[0] = '\0';
    if (st == ST_INTERNAL) /* the only constraint that can break here */
        return err_set(e, ST_INVALID, "name",
                       "a live key has this name; revoke it first, or choose "
                       "another");
    return st;
}

enum st keys_list(struct db *db, void (*row)(void *arg, const struct key_row *),
                  void *arg, struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_KEY_LIST, e);
    bool more = false;

    if (st)
        return st;
    while (!(st = db_step(s, &more, e)) && more) {
        struct key_row r = {.id = db_col_int(s, 0),
                            .created_ms = db_col_int(s, 3),
                            .revoked_ms = db_col_int(s, 4),
                            .limits = col_limits(s, 5)};

        snprintf(r.name, sizeof(r.name), "%s", db_col_str(s, 1));
        snprintf(r.prefix, sizeof(r.prefix), "%s", db_col_str(s, 2));
        row(arg, &r);
    }
    return st;
}

static enum st find_live(struct db *db, const char *name, int64_t *id,
                         struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_KEY_FIND, e);
    bool row = false;

    if (st)
        return st;
    db_bind_str(s, 1, name);
    st = db_step(s, &row, e);
    if (st)
        return st;
    if (!row)
        return err_set(e, ST_NOT_FOUND, "name",
                       "no live key has this name or prefix");
    *id = db_col_int(s, 0);
    db_done(s);
    return ST_OK;
}

/* A statement whose first value is the id of that live key. */
static enum st stmt_of_live(struct db_stmt **s, struct db *db, enum sql_id sql,
                            const char *name, struct err *e)
{
    int64_t id = 0;
    enum st st = find_live(db, name, &id, e);

    if (!st)
        st = db_stmt(s, db, sql, e);
    if (!st)
        db_bind_int(*s, 1, id);
    return st;
}

enum st keys_revoke(struct db *db, const char *name, struct err *e)
{
    struct db_stmt *s;
    enum st st = stmt_of_live(&s, db, SQL_KEY_REVOKE, name, e);

    if (st)
        return st;
    db_bind_int(s, 2, epoch_ms());
    return db_run(s, e);
}

enum st keys_limit(struct db *db, const char *name,
                   const struct limit_set *limits, struct err *e)
{
    struct db_stmt *s;
    enum st st = stmt_of_live(&s, db, SQL_KEY_LIMIT, name, e);

    if (st)
        return st;
    bind_limits(s, 2, limits);
    return db_run(s, e);
}

void keys_client_id(const char *token, size_t n, char out[16])
{
    uint8_t hash[32];
    char hex[65];

    if (!n) {
        snprintf(out, 16, "anon");
        return;
    }
    crypt_sha256(token, n, hash);
    crypt_hex(hash, sizeof(hash), hex);
    snprintf(out, 16, "k:%.12s", hex);
}

/* --- the daemon's copy --------------------------------------------------- */

struct key {
    int64_t id;
    char name[65];
    uint8_t hash[32];
    struct limit_set limits;
};

struct keys {
    pthread_mutex_t mu;
    struct key *key; /* guarded by mu */
    size_t n;        /* guarded by mu */

    /* of the thread that refreshes */
    struct db *db;
    int64_t version;
    bool failing; /* logged already */
};

static enum st data_version(struct keys *k, int64_t *v, struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, k->db, SQL_DB_DATA_VERSION, e);
    bool row = false;

    if (!st)
        st = db_step(s, &row, e);
    if (st)
        return st;
    *v = db_col_int(s, 0);
    db_done(s);
    return ST_OK;
}

static enum st read_all(struct keys *k, struct key **out, size_t *n,
                        struct err *e)
{
    struct key *list = NULL;
    size_t cap = 0;
    struct db_stmt *s;
    enum st st = db_stmt(&s, k->db, SQL_KEY_LOAD, e);
    bool row = false;

    *n = 0;
    if (st)
        return st;
    while (!(st = db_step(s, &row, e)) && row) {
        size_t bytes;
        const void *hash = db_col_blob(s, 2, &bytes);
        struct key *key;

        if (*n == cap) {
            cap = cap ? cap * 2 : 16;
            key = realloc(list, cap * sizeof(*key));
            BUG_ON(!key); /* an admin's list, about 100 bytes each */
            list = key;
        }
        key = &list[(*n)++];
        memset(key, 0, sizeof(*key));
        key->id = db_col_int(s, 0);
        key->limits = col_limits(s, 3);
        snprintf(key->name, sizeof(key->name), "%s", db_col_str(s, 1));
        if (bytes != sizeof(key->hash))
            (*n)--; /* the schema forbids it */
        else
            memcpy(key->hash, hash, bytes);
    }
    if (st) {
        free(list);
        list = NULL;
        *n = 0;
    }
    *out = list;
    return st;
}

static enum st load(struct keys *k, struct err *e)
{
    struct key *list = NULL, *old;
    size_t n = 0;
    enum st st = read_all(k, &list, &n, e);

    if (st)
        return st;
    pthread_mutex_lock(&k->mu);
    old = k->key;
    k->key = list;
    k->n = n;
    pthread_mutex_unlock(&k->mu);
    free(old);
    return ST_OK;
}

/* The version is read first: a change in between is loaded next time. */
static enum st refresh(struct keys *k, struct err *e)
{
    int64_t v = 0;
    enum st st = data_version(k, &v, e);

    if (st || v == k->version)
        return st;
    st = load(k, e);
    if (!st)
        k->version = v;
    return st;
}

enum st keys_open(struct keys **out, const char *path, struct err *e)
{
    struct keys *k;
    struct db *db;
    enum st st = db_open(&db, path, DB_READ, e);

    *out = NULL;
    if (st)
        return st;
    k = mem_new(struct keys);
    pthread_mutex_init(&k->mu, NULL);
    k->db = db;
    k->version = -1;
    st = refresh(k, e);
    if (st) {
        keys_close(k);
        return st;
    }
    *out = k;
    return ST_OK;
}

void keys_close(struct keys *k)
{
    if (!k)
        return;
    db_close(k->db);
    pthread_mutex_destroy(&k->mu);
    free(k->key);
    free(k);
}

void keys_refresh(struct keys *k)
{
    struct err e = {0};
    enum st st = refresh(k, &e);

    if (st && !k->failing)
        log_warn("keys_refresh", "file=%s error=\"%s\"", e.where, e.text);
    k->failing = st != ST_OK; /* the keys of before stay in force */
}

bool keys_any(struct keys *k)
{
    bool any;

    pthread_mutex_lock(&k->mu);
    any = k->n > 0;
    pthread_mutex_unlock(&k->mu);
    return any;
}

int64_t keys_check(struct keys *k, const char *token, size_t n, char name[65])
{
    uint8_t hash[32];
    int64_t id = 0;

    crypt_sha256(token, n, hash);
    pthread_mutex_lock(&k->mu);
    for (size_t i = 0; i < k->n; i++) {
        /* No early end: the time says nothing about which key it was. */
        if (!crypt_equal(k->key[i].hash, hash, sizeof(hash)))
            continue;
        id = k->key[i].id;
        if (name)
            memcpy(name, k->key[i].name, sizeof(k->key[i].name));
    }
    pthread_mutex_unlock(&k->mu);
    return id;
}

void keys_limits(struct keys *k, int64_t id, struct limit_set *out)
{
    size_t low = 0, high;

    *out = no_limits;
    pthread_mutex_lock(&k->mu);
    high = k->n; /* they are in the order of their ids */
    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (k->key[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < k->n && k->key[low].id == id)
        *out = k->key[low].limits;
    pthread_mutex_unlock(&k->mu);
}
