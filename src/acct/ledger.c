#include "acct/ledger.h"

#include "base/thread.h"

#define BUCKETS 256

/*
 * An admitted request. The insert learns the id of its row on the writer
 * thread and the closing update, which the queue keeps behind it, uses it.
 * Both may run again when a commit fails: a second insert gives a new id.
 */
struct entry {
    struct entry *next; /* guarded by mu of the ledger */
    uint64_t ticket;
    int64_t id;         /* of the writer thread */
    struct ledger_row admitted, closed;
    void (*done)(void *arg);
    void *arg;
};

struct ledger {
    struct db_writer *w;
    pthread_mutex_t mu;
    uint64_t last;                 /* guarded by mu */
    struct entry *bucket[BUCKETS]; /* guarded by mu: open requests */
};

void ledger_row_init(struct ledger_row *r)
{
    *r = (struct ledger_row){
        .prompt_tokens = -1,
        .cached_tokens = -1,
        .completion_tokens = -1,
        .reasoning_tokens = -1,
        .queue_ms = -1,
        .prompt_ms = -1,
        .ttft_ms = -1,
        .decode_ms = -1,
        .total_ms = -1,
        .max_tokens = -1,
        .tool_calls = -1,
    };
}

/* --- on the writer thread ------------------------------------------------ */

static void bind_opt(struct db_stmt *s, int at, int64_t v)
{
    if (v < 0)
        db_bind_null(s, at);
    else
        db_bind_int(s, at, v);
}

static void bind_word(struct db_stmt *s, int at, const char *v)
{
    db_bind_str(s, at, v[0] ? v : NULL);
}

static const char *state_of(const struct ledger_row *r)
{
    bool failed = r->status >= 500 || strcmp(r->finish, "error") == 0;

    return failed ? "failed" : "done";
}

/* 0 is no status yet. */
static void bind_status(struct db_stmt *s, int at, const struct ledger_row *r)
{
    bind_opt(s, at, r->status > 0 ? r->status : -1);
}

static enum st insert(struct db *db, const struct ledger_row *r, bool open,
                      struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_LEDGER_INSERT, e);

    if (st)
        return st;
    db_bind_int(s, 1, r->ts_ms);
    db_bind_str(s, 2, r->request_id);
    bind_word(s, 3, r->model);
    bind_opt(s, 4, r->key_id > 0 ? r->key_id : -1);
    db_bind_str(s, 5, r->client_id[0] ? r->client_id : "anon");
    db_bind_str(s, 6, r->client_kind[0] ? r->client_kind : "other");
    db_bind_str(s, 7, r->endpoint);
    db_bind_int(s, 8, r->stream);
    db_bind_str(s, 9, open ? "open" : state_of(r));
    if (!open) {
        bind_status(s, 10, r);
        db_bind_str(s, 11, r->finish[0] ? r->finish : "refused");
        bind_word(s, 12, r->error_type);
        db_bind_int(s, 13, r->total_ms > 0 ? r->total_ms : 0);
    }
    bind_opt(s, 14, r->max_tokens);
    db_bind_int(s, 15, r->thinking);
    db_bind_str(s, 16, PACKAGE_VERSION);
    return db_run(s, e);
}

static enum st run_admit(struct db *db, void *arg, struct err *e)
{
    struct entry *n = arg;
    enum st st = insert(db, &n->admitted, true, e);

    if (!st)
        n->id = db_last_id(db);
    return st;
}

static enum st run_close(struct db *db, void *arg, struct err *e)
{
    struct entry *n = arg;
    const struct ledger_row *r = &n->closed;
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_LEDGER_FINISH, e);

    if (st)
        return st;
    db_bind_int(s, 1, n->id);
    bind_word(s, 2, r->model);
    db_bind_int(s, 3, r->stream);
    db_bind_str(s, 4, state_of(r));
    bind_status(s, 5, r);
    bind_word(s, 6, r->finish);
    bind_word(s, 7, r->error_type);
    bind_opt(s, 8, r->prompt_tokens);
    bind_opt(s, 9, r->cached_tokens);
    bind_opt(s, 10, r->completion_tokens);
    bind_opt(s, 11, r->reasoning_tokens);
    bind_opt(s, 12, r->queue_ms);
    bind_opt(s, 13, r->prompt_ms);
    bind_opt(s, 14, r->ttft_ms);
    bind_opt(s, 15, r->decode_ms);
    db_bind_int(s, 16, r->total_ms > 0 ? r->total_ms : 0);
    bind_opt(s, 17, r->max_tokens);
    db_bind_int(s, 18, r->thinking);
    bind_opt(s, 19, r->tool_calls);
    bind_word(s, 20, r->cache_source);
    return db_run(s, e);
}

static void close_done(void *arg)
{
    struct entry *n = arg;

    if (n->done)
        n->done(n->arg);
    free(n);
}

static enum st run_refused(struct db *db, void *arg, struct err *e)
{
    return insert(db, arg, false, e);
}

/* --- start --------------------------------------------------------------- */

struct start {
    pthread_mutex_t mu;
    pthread_cond_t cond;
    size_t died;
    bool done; /* guarded by mu */
};

static enum st run_start(struct db *db, void *arg, struct err *e)
{
    struct start *b = arg;
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_LEDGER_DIED, e);
    bool row = false;

    if (st)
        return st;
    b->died = 0;
    db_bind_int(s, 1, epoch_ms());
    while (!(st = db_step(s, &row, e)) && row)
        b->died++;
    return st;
}

static void start_done(void *arg)
{
    struct start *b = arg;

    pthread_mutex_lock(&b->mu);
    b->done = true;
    pthread_cond_signal(&b->cond);
    pthread_mutex_unlock(&b->mu);
}

enum st ledger_open(struct ledger **out, struct db_writer *w, size_t *died,
                    struct err *e)
{
    struct start b = {.mu = PTHREAD_MUTEX_INITIALIZER};
    struct db_post p = {.run = run_start, .done = start_done, .arg = &b};
    struct ledger *l;
    enum st st;

    *out = NULL;
    *died = 0;
    cond_init_monotonic(&b.cond);
    st = db_post(w, &p, e);
    if (st)
        return st;
    pthread_mutex_lock(&b.mu);
    while (!b.done)
        pthread_cond_wait(&b.cond, &b.mu);
    pthread_mutex_unlock(&b.mu);
    pthread_cond_destroy(&b.cond);
    pthread_mutex_destroy(&b.mu);
    *died = b.died;
    l = mem_new(struct ledger);
    l->w = w;
    pthread_mutex_init(&l->mu, NULL);
    *out = l;
    return ST_OK;
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    for (int i = 0; i < BUCKETS; i++) {
        while (l->bucket[i]) {
            struct entry *n = l->bucket[i];

            l->bucket[i] = n->next;
            free(n); /* its row stays open: the next start closes it */
        }
    }
    pthread_mutex_destroy(&l->mu);
    free(l);
}

/* --- requests ------------------------------------------------------------ */

enum st ledger_admit(struct ledger *l, const struct ledger_row *r,
                     uint64_t *ticket, struct err *e)
{
    struct entry *n = mem_new(struct entry);
    struct db_post p = {.run = run_admit, .arg = n};
    enum st st;

    *ticket = 0;
    n->admitted = *r;
    st = db_post(l->w, &p, e);
    if (st) {
        free(n);
        return st;
    }
    /* The entry lives until its close ran, whoever of us is first. */
    pthread_mutex_lock(&l->mu);
    n->ticket = ++l->last;
    n->next = l->bucket[n->ticket % BUCKETS];
    l->bucket[n->ticket % BUCKETS] = n;
    *ticket = n->ticket;
    pthread_mutex_unlock(&l->mu);
    return ST_OK;
}

static struct entry *take_entry(struct ledger *l, uint64_t ticket)
{
    struct entry **at, *n;

    pthread_mutex_lock(&l->mu);
    at = &l->bucket[ticket % BUCKETS];
    while (*at && (*at)->ticket != ticket)
        at = &(*at)->next;
    n = *at;
    if (n)
        *at = n->next;
    pthread_mutex_unlock(&l->mu);
    return n;
}

void ledger_close(struct ledger *l, uint64_t ticket,
                  const struct ledger_row *r, void (*done)(void *arg),
                  void *arg)
{
    struct entry *n = take_entry(l, ticket);
    struct db_post p = {
        .run = run_close, .done = close_done, .arg = n, .soon = done != NULL};

    BUG_ON(!n); /* closed twice, or never admitted */
    n->closed = *r;
    n->done = done;
    n->arg = arg;
    db_post_always(l->w, &p);
}

void ledger_refused(struct ledger *l, const struct ledger_row *r)
{
    struct ledger_row *copy = mem_new(struct ledger_row);
    struct db_post p = {.run = run_refused, .done = free, .arg = copy};

    *copy = *r;
    db_post_always(l->w, &p);
}
