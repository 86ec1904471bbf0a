/*
 * Keys: add, check, revoke, reload.
 * Oracle for keys_client_id: sha256sum of coreutils 9.1.
 */
#include "acct/keys.h"

#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

static struct err e;

static void count(void *arg, const struct key_row *r)
{
    int *n = arg;

    n[0]++;
    n[1] += r->revoked_ms != 0;
}

static void test_admin(struct db *db, char *alice)
{
    char key[KEY_TEXT_MAX], again[KEY_TEXT_MAX], prefix[12];
    int n[2] = {0};
    char long_name[67];

    ok(!keys_add(db, "alice", NULL, alice, &e), "alice gets a key");
    ok(strlen(alice) == 46 && !strncmp(alice, "pk-", 3), "pk- and 43 more");
    ok(strspn(alice + 3, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789-_") == 43,
       "of base64url");
    ok(keys_add(db, "bob", NULL, key, &e) == ST_OK &&
           strcmp(key, alice) != 0,
       "bob gets another");
    ok(keys_add(db, "alice", NULL, again, &e) == ST_INVALID && !again[0],
       "one live key of a name");
    memset(long_name, 'a', 66);
    long_name[66] = '\0';
    ok(keys_add(db, "", NULL, again, &e) == ST_INVALID &&
           keys_add(db, "a b", NULL, again, &e) == ST_INVALID &&
           keys_add(db, "a\nb", NULL, again, &e) == ST_INVALID &&
           keys_add(db, long_name + 1, NULL, again, &e) == ST_INVALID &&
           keys_add(db, long_name + 2, NULL, again, &e) == ST_OK,
       "names are 1 to 64 of a few characters");
    ok(keys_revoke(db, "carol", &e) == ST_NOT_FOUND, "carol has none");
    ok(keys_revoke(db, "bob", &e) == ST_OK, "revoked by name");
    ok(keys_revoke(db, "bob", &e) == ST_NOT_FOUND, "once");
    ok(!keys_add(db, "bob", NULL, key, &e), "the name is free again");
    snprintf(prefix, sizeof(prefix), "%.11s", key);
    ok(keys_revoke(db, prefix, &e) == ST_OK, "revoked by prefix");
    ok(keys_list(db, count, n, &e) == ST_OK && n[0] == 4 && n[1] == 2,
       "the list has all four, two of them revoked");
}

static void is_limits(struct keys *k, int64_t id, int64_t requests,
                      int64_t tokens, int64_t day, int64_t concurrent,
                      const char *name)
{
    struct limit_set s;

    keys_limits(k, id, &s);
    ok(s.requests == requests && s.tokens == tokens && s.tokens_day == day &&
           s.concurrent == concurrent,
       "%s: %lld %lld %lld %lld", name, (long long)s.requests,
       (long long)s.tokens, (long long)s.tokens_day, (long long)s.concurrent);
}

static void test_limits(struct db *db, struct keys *k)
{
    const struct limit_set set = {60, LIMIT_DEFAULT, LIMIT_NONE, LIMIT_MAX};
    struct limit_set change = {LIMIT_KEEP, 7, LIMIT_KEEP, LIMIT_DEFAULT};
    char key[KEY_TEXT_MAX], prefix[12];
    int64_t id;

    ok(!keys_add(db, "erin", &set, key, &e), "a key with limits");
    keys_refresh(k);
    id = keys_check(k, key, strlen(key), NULL);
    ok(id > 0, "is known");
    is_limits(k, id, 60, -1, 0, LIMIT_MAX, "as they were given");
    snprintf(prefix, sizeof(prefix), "%.11s", key);
    ok(!keys_limit(db, prefix, &change, &e), "changed by prefix");
    is_limits(k, id, 60, -1, 0, LIMIT_MAX, "not before a look");
    keys_refresh(k);
    is_limits(k, id, 60, 7, 0, -1, "what was given, no more");
    is_limits(k, 0, -1, -1, -1, -1, "no key has the defaults");
    is_limits(k, 4711, -1, -1, -1, -1, "nor has one that is not there");
    ok(keys_limit(db, "carol", &change, &e) == ST_NOT_FOUND,
       "carol has no limits");
    change.tokens = LIMIT_MAX + 1;
    ok(keys_limit(db, "erin", &change, &e) == ST_INTERNAL,
       "the schema has the range");
}

static void test_daemon(struct db *db, const char *path, const char *alice)
{
    char name[65] = "", dave[KEY_TEXT_MAX], guess[16];
    struct keys *k;
    int lucky = 0;

    ok(keys_open(&k, path, &e) == ST_OK, "the daemon opens: %s", e.text);
    ok(keys_any(k), "there are keys");
    ok(keys_check(k, alice, strlen(alice), name) == 1, "alice is known");
    is_str(name, "alice", "by name");
    ok(!keys_check(k, alice, strlen(alice) - 1, NULL) &&
           !keys_check(k, "", 0, NULL) && !keys_check(k, "pk-\0", 4, NULL),
       "others are not");
    for (int i = 0; i < 2000; i++) { /* some digests begin as alice's */
        snprintf(guess, sizeof(guess), "pk-%d", i);
        lucky += keys_check(k, guess, strlen(guess), NULL) != 0;
    }
    is_int(lucky, 0, "all of a digest is compared");
    ok(!keys_add(db, "dave", NULL, dave, &e), "a key from outside");
    ok(!keys_check(k, dave, strlen(dave), NULL), "is unknown yet");
    keys_refresh(k);
    ok(keys_check(k, dave, strlen(dave), NULL) > 0, "and known after a look");
    ok(keys_revoke(db, "alice", &e) == ST_OK, "revoked from outside");
    test_limits(db, k);
    keys_refresh(k);
    ok(!keys_check(k, alice, strlen(alice), NULL), "no longer good");
    keys_refresh(k);
    keys_close(k);
}

static void test_client_id(void)
{
    char id[16];

    keys_client_id("abc", 3, id);
    is_str(id, "k:ba7816bf8f01", "the client of the token abc");
    keys_client_id("", 0, id);
    is_str(id, "anon", "no token");
}

int main(void)
{
    const char *path;
    char alice[KEY_TEXT_MAX];
    struct keys *k;
    struct db *db;

    tmpdir_make();
    path = tmpdir_path("k.db");
    ok(keys_open(&k, path, &e) == ST_IO && !k, "no file, no keys");
    ok(db_open(&db, path, DB_WRITE, &e) == ST_OK, "open");
    ok(keys_open(&k, path, &e) == ST_OK && !keys_any(k), "an empty file");
    keys_close(k);
    test_admin(db, alice);
    test_daemon(db, path, alice);
    test_client_id();
    db_close(db);
    tmpdir_remove();
    return done();
}
