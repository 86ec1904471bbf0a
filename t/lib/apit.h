/*
 * t/lib/apit.h - the api without FastCGI: a scripted gen, the demo model's
 * vocabulary and chat format, a real SQLite file in a temporary folder.
 *
 * A test makes requests as fcgi does (api_head, api_body, api_pump) and sees
 * what would go over the wire.
 */
#ifndef T_APIT_H
#define T_APIT_H

#include "acct/keys.h"
#include "acct/ledger.h"
#include "api/api.h"
#include "api/exchange.h"
#include "chat/format.h"
#include "gguf/gguf.h"
#include "json/read.h"
#include "t/lib/scripted.h"
#include "t/lib/tap.h"

#define APIT_MODEL "contrib/demo-model/penstock-demo-q8_0.gguf"

struct apit {
    char dir[64], db[96];
    struct gguf *gguf;
    struct tok *tok;
    struct format *format;
    struct gen *gen;
    struct catalog catalog;
    struct db_writer *writer;
    struct keys *keys;
    struct ledger *ledger;
    struct responses *responses;
    struct api *api;
    int32_t end_id;      /* <|im_end|> */
};

/* False with *why when the demo model is missing. `config` (may be NULL)
 * changes the configuration before the api is made. */
bool apit_open(struct apit *t, const struct scripted_config *gen,
               void (*config)(struct api_config *c), const char **why);
void apit_close(struct apit *t);
/* One test with an api of its own. */
void apit_with(const struct scripted_config *gen,
               void (*config)(struct api_config *c),
               void (*test)(struct apit *t));
/* A key of that name; `key` is its text. Ends the test when it cannot. */
void apit_key(struct apit *t, const char *name, char key[KEY_TEXT_MAX]);
/* An api whose model writes `text`, at most 1,024 ids, one every gap_us;
 * returns how many. Ends the test when there is no demo model. */
size_t apit_script(struct apit *t, const char *text, int64_t gap_us);
/* The ids of a text, for scripts; at most `cap`. */
size_t apit_ids(const char *text, int32_t *ids, size_t cap);

/* A request under way. */
struct call {
    struct apit *t;
    struct exchange x;
    uint64_t body_cap;
    struct buf out;     /* everything sent so far */
    pthread_mutex_t mu;
    pthread_cond_t cond;
    bool woken;         /* guarded by mu */
    enum x_pump state;
    int64_t max_gap_us;
};

struct call_opts {
    const char *key;        /* bearer token; NULL: no header */
    const char *api_key;    /* X-Api-Key header */
    const char *version;    /* anthropic-version header */
    bool remote;            /* not marked as local */
    const char *origin, *user_agent;
    uint64_t declared;      /* Content-Length; 0: the body's */
    bool undeclared;        /* there is none */
    int64_t waited_us;      /* it arrived so long ago */
};

/* Head and body; pumps once when it became a stream. A question mark in `path`
 * begins the query. */
void call_start(struct call *c, struct apit *t, const char *method,
                const char *path, const char *body,
                const struct call_opts *o);
/* Pump until `text` is in the output, it is over, or `ms` passed. */
bool call_until(struct call *c, const char *text, int64_t ms);
/* Pump to the end (10 s at most; X_MORE is a failure of the test). */
void call_finish(struct call *c);
void call_release(struct call *c);

/* Streams of one token, to wait behind a held engine; and all of them leave
 * and end. */
struct call *calls_waiting(struct apit *t, int n);
void calls_leave(struct call *c, int n);
/* All at once: start and finish; POST when there is a body. */
void call_do(struct call *c, struct apit *t, const char *path,
             const char *body);

/* --- looking at the answer --- */
int call_status(const struct call *c);      /* of the Status line; 0: none */
/* Value of a header into `out` ("" when absent). */
const char *call_header(const struct call *c, const char *name, char *out,
                        size_t cap);
const char *call_body(const struct call *c); /* after the empty line */

/* What an SSE client joins together. */
struct joined {
    struct arena arena;
    const struct json *chunk[4096]; /* data objects in order */
    size_t n;
    struct buf content, reasoning;
    char finish[32];    /* the last non-null finish reason */
    int finishes, dones, comments, usages;
    bool framing;       /* only data lines and comment lines, one per event */
    bool utf8;          /* every delta by itself */
    bool one_id;        /* all chunks share it */
    bool role_first, finish_key;
    const struct json *usage; /* the last object */
    size_t usage_at;    /* index of its chunk */
};

void join(struct joined *j, const struct call *c);
void join_release(struct joined *j);
/* The JSON answer's tree in `a`; NULL when it is none. */
const struct json *call_json(const struct call *c, struct arena *a);
/* Follow "choices.0.message.content"; NULL when absent. */
const struct json *json_at(const struct json *v, const char *path);
bool json_str_is(const struct json *v, const char *want);
int64_t json_int(const struct json *v); /* -1 when it is none */

/* --- the ledger --- */
/* One value of the row of this call's request ("" for null or no row), after
 * the writer has committed everything. `column` is an SQL expression. */
const char *row_get(struct call *c, const char *column, char *out,
                    size_t cap);
int row_count(struct apit *t, const char *where); /* -1: broken SQL */

#endif
