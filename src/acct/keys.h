/*
 * acct/keys.h - who may ask.
 *
 * A key is "pk-" and 43 characters of base64url (32 random bytes), shown
 * once; the database holds its SHA-256. The daemon answers from memory and
 * reloads when the database changed (PRAGMA data_version, looked at once a
 * second by the caller). Comparison takes the same time for every key.
 */
#ifndef ACCT_KEYS_H
#define ACCT_KEYS_H

#include "acct/limits.h"
#include "db/db.h"

#define KEY_TEXT_MAX 64

struct key_row {
    int64_t id;
    char name[65];          /* given by the admin: [A-Za-z0-9._-]{1,64} */
    char prefix[12];        /* first characters of the key, for people */
    int64_t created_ms, revoked_ms; /* 0: not revoked */
    struct limit_set limits;        /* its own, see acct/limits.h */
};

/* "k:" and 12 hex digits of SHA-256(token): who asked, for the ledger, also
 * when the token is no key of ours. "anon" when n is 0. */
void keys_client_id(const char *token, size_t n, char out[16]);

/* --- administration, on a writable connection (penstock key ...) -------- */
/* `limits` NULL: the defaults. Errors: ST_INVALID for a bad name, or one that
 * a live key has. */
enum st keys_add(struct db *db, const char *name,
                 const struct limit_set *limits, char key[KEY_TEXT_MAX],
                 struct err *e) MUST_CHECK;
enum st keys_list(struct db *db, void (*row)(void *arg, const struct key_row *),
                  void *arg, struct err *e) MUST_CHECK;
/* By name or by prefix; ST_NOT_FOUND. */
enum st keys_revoke(struct db *db, const char *name, struct err *e) MUST_CHECK;
/* New limits of a live key, by name or prefix. LIMIT_KEEP leaves one as it
 * is. ST_NOT_FOUND. */
#define LIMIT_KEEP (-2)
enum st keys_limit(struct db *db, const char *name,
                   const struct limit_set *limits, struct err *e) MUST_CHECK;

/* --- the daemon's copy --------------------------------------------------- */
struct keys; /* opaque; locks inside, any thread */
/* The file must exist: open the db writer first. */
enum st keys_open(struct keys **out, const char *path, struct err *e)
    MUST_CHECK;
void keys_close(struct keys *k);
/* Reload when the file changed; cheap when not. One thread calls this. When
 * it cannot be read the keys of before stay in force. */
void keys_refresh(struct keys *k);
bool keys_any(struct keys *k); /* is any live key configured? */
/* The id of a live key, 0 when it is none. `name` may be NULL. */
int64_t keys_check(struct keys *k, const char *token, size_t n,
                   char name[65]);
/* The key's own limits; LIMIT_DEFAULT where it has none, and for 0. */
void keys_limits(struct keys *k, int64_t id, struct limit_set *out);

#endif
