#include "acct/responses.h"

#include "base/thread.h"

#define EXPIRE_ROWS 16              /* of one step */
#define EXPIRE_BYTES ((size_t)4 << 20) /* and then no more */
#define EXPIRE_EVERY_MS 60000       /* where the last step left nothing */

/* What waits for the writer. Those that are left at the end are freed with
 * the rest. */
struct pending {
    struct pending *next, **at; /* guarded by mu of responses */
    struct responses *rs;
    struct response_row row; /* of an end: id alone; of a delete: key too */
    const char *status;
    char *input, *answer;    /* owned */
    size_t n_input, n_answer;
    bool more;               /* of an expiry: it found enough to do */
    void (*done)(void *arg);
    void *arg;
};

struct responses {
    struct db_writer *w;
    pthread_mutex_t mu;
    struct pending *pending; /* guarded by mu */
    size_t waiting;       /* guarded by mu: bytes of them */
    bool expiring;        /* guarded by mu: a step waits */
    bool more;            /* guarded by mu: the last found enough to do */
    int64_t expired_ms;   /* of the one who ticks: last step, by its clock */
    pthread_mutex_t read_mu;
    struct db *db;        /* guarded by read_mu */
};

bool responses_id_ok(const char *s, size_t n)
{
    if (n != RESPONSE_ID_LEN || memcmp(s, "resp_", 5) != 0)
        return false;
    for (size_t i = 5; i < n; i++)
        if (!(s[i] >= '0' && s[i] <= '9') && !(s[i] >= 'a' && s[i] <= 'f'))
            return false;
    return true;
}

/* --- what waits ---------------------------------------------------------- */

static size_t pending_bytes(const struct pending *i)
{
    return i->n_input + i->n_answer;
}

/* False: too much waits already. */
static bool pending_join(struct responses *rs, struct pending *i, size_t most)
{
    bool room;

    i->rs = rs;
    pthread_mutex_lock(&rs->mu);
    room = rs->waiting <= most;
    if (room) {
        rs->waiting += pending_bytes(i);
        i->next = rs->pending;
        i->at = &rs->pending;
        if (i->next)
            i->next->at = &i->next;
        rs->pending = i;
    }
    pthread_mutex_unlock(&rs->mu);
    return room;
}

static void pending_leave(struct pending *i)
{
    struct responses *rs = i->rs;

    pthread_mutex_lock(&rs->mu);
    rs->waiting -= pending_bytes(i);
    *i->at = i->next;
    if (i->next)
        i->next->at = i->at;
    pthread_mutex_unlock(&rs->mu);
}

static void pending_free(struct pending *i)
{
    free(i->input);
    free(i->answer);
    free(i);
}

static void pending_done(void *arg)
{
    struct pending *i = arg;

    pending_leave(i);
    if (i->done)
        i->done(i->arg);
    pending_free(i);
}

static void take_buf(char **p, size_t *n, struct buf *b)
{
    *p = b->p;
    *n = b->n;
    b->p = NULL;
    b->n = b->cap = 0;
}

static struct pending *pending_new(const char *id)
{
    struct pending *i = mem_new(struct pending);

    snprintf(i->row.id, sizeof(i->row.id), "%s", id);
    return i;
}

/* --- on the writer thread ------------------------------------------------ */

static void bind_text(struct db_stmt *s, int at, const char *p, size_t n)
{
    if (n)
        db_bind_blob(s, at, p, n);
    else
        db_bind_null(s, at);
}

static enum st touch(struct db *db, const struct response_row *r,
                     struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_RESPONSE_TOUCH, e);

    if (st)
        return st;
    db_bind_str(s, 1, r->previous);
    db_bind_int(s, 2, r->key_id);
    db_bind_int(s, 3, r->expires_ms);
    db_bind_int(s, 4, RESPONSES_CHAIN);
    return db_run(s, e);
}

static enum st run_begin(struct db *db, void *arg, struct err *e)
{
    const struct pending *i = arg;
    const struct response_row *r = &i->row;
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_RESPONSE_OPEN, e);

    if (st)
        return st;
    db_bind_str(s, 1, r->id);
    db_bind_int(s, 2, r->key_id);
    db_bind_str(s, 3, r->previous[0] ? r->previous : NULL);
    db_bind_int(s, 4, r->created_ms);
    db_bind_int(s, 5, r->expires_ms);
    db_bind_str(s, 6, r->model);
    db_bind_blob(s, 7, i->input ? i->input : "", i->n_input);
    bind_text(s, 8, i->answer, i->n_answer);
    st = db_run(s, e);
    db_done(s);
    return !st && r->previous[0] ? touch(db, r, e) : st;
}

/* id NULL: all that run. */
static enum st run_died(struct db *db, const char *id, size_t *n,
                        struct err *e)
{
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_RESPONSE_DIED, e);
    bool row = false;

    *n = 0;
    if (st)
        return st;
    db_bind_str(s, 1, id);
    while (!(st = db_step(s, &row, e)) && row)
        ++*n;
    return st;
}

static enum st run_end(struct db *db, void *arg, struct err *e)
{
    const struct pending *i = arg;
    struct db_stmt *s;
    size_t n;
    enum st st;

    if (!i->n_answer)
        return run_died(db, i->row.id, &n, e);
    st = db_stmt(&s, db, SQL_RESPONSE_CLOSE, e);
    if (st)
        return st;
    db_bind_str(s, 1, i->row.id);
    db_bind_str(s, 2, i->status);
    db_bind_blob(s, 3, i->answer, i->n_answer);
    st = db_run(s, e);
    db_done(s);
    return st;
}

static enum st run_delete(struct db *db, void *arg, struct err *e)
{
    const struct pending *i = arg;
    struct db_stmt *s;
    enum st st = db_stmt(&s, db, SQL_RESPONSE_DELETE, e);

    if (st)
        return st;
    db_bind_str(s, 1, i->row.id);
    db_bind_int(s, 2, i->row.key_id);
    return db_run(s, e);
}

/* --- expiry -------------------------------------------------------------- */

static enum st run_expire(struct db *db, void *arg, struct err *e)
{
    struct pending *i = arg;
    size_t bytes = 0, n = 0;
    bool row = true;
    enum st st = ST_OK;

    while (!st && row && n < EXPIRE_ROWS && bytes < EXPIRE_BYTES) {
        struct db_stmt *s;

        st = db_stmt(&s, db, SQL_RESPONSE_EXPIRE, e);
        if (st)
            break;
        db_bind_int(s, 1, i->row.expires_ms);
        st = db_step(s, &row, e);
        if (st || !row)
            break;
        bytes += (size_t)db_col_int(s, 0);
        n++;
        st = db_run(s, e);
    }
    i->more = row;
    return st;
}

static void expire_done(void *arg)
{
    struct pending *i = arg;
    struct responses *rs = i->rs;

    pthread_mutex_lock(&rs->mu);
    rs->expiring = false;
    rs->more = i->more;
    pthread_mutex_unlock(&rs->mu);
    pending_done(i);
}

void responses_tick(struct responses *rs, int64_t now_ms)
{
    struct pending *i;
    struct db_post p = {.run = run_expire, .done = expire_done};
    bool due;

    pthread_mutex_lock(&rs->mu);
    due = !rs->expiring && (rs->more || now_ms < rs->expired_ms ||
                            now_ms - rs->expired_ms >= EXPIRE_EVERY_MS);
    rs->expiring = rs->expiring || due;
    pthread_mutex_unlock(&rs->mu);
    if (!due)
        return;
    i = pending_new("");
    i->row.expires_ms = now_ms;
    p.arg = i;
    (void)pending_join(rs, i, SIZE_MAX);
    if (!db_post(rs->w, &p, NULL)) {
        rs->expired_ms = now_ms;
        return;
    }
    expire_done(i); /* the queue is full: another time */
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

    return run_died(db, NULL, &b->died, e);
}

static void start_done(void *arg)
{
    struct start *b = arg;

    pthread_mutex_lock(&b->mu);
    b->done = true;
    pthread_cond_signal(&b->cond);
    pthread_mutex_unlock(&b->mu);
}

static enum st fail_open_rows(struct db_writer *w, size_t *died,
                              struct err *e)
{
    struct start b = {.mu = PTHREAD_MUTEX_INITIALIZER};
    struct db_post p = {
        .run = run_start, .done = start_done, .arg = &b, .soon = true};
    enum st st;

    cond_init_monotonic(&b.cond);
    st = db_post(w, &p, e);
    if (!st) {
        pthread_mutex_lock(&b.mu);
        while (!b.done)
            pthread_cond_wait(&b.cond, &b.mu);
        pthread_mutex_unlock(&b.mu);
    }
    pthread_cond_destroy(&b.cond);
    pthread_mutex_destroy(&b.mu);
    *died = b.died;
    return st;
}

enum st responses_open(struct responses **out, struct db_writer *w,
                       const char *path, size_t *died, struct err *e)
{
    struct responses *rs;
    struct db *db;
    enum st st;

    *out = NULL;
    *died = 0;
    st = fail_open_rows(w, died, e);
    if (!st)
        st = db_open(&db, path, DB_READ, e);
    if (st)
        return st;
    db_busy_ms(db, RESPONSES_WAIT_MS);
    rs = mem_new(struct responses);
    rs->w = w;
    rs->db = db;
    pthread_mutex_init(&rs->mu, NULL);
    pthread_mutex_init(&rs->read_mu, NULL);
    *out = rs;
    return ST_OK;
}

void responses_free(struct responses *rs)
{
    if (!rs)
        return;
    while (rs->pending) {
        struct pending *i = rs->pending;

        pending_leave(i);
        pending_free(i);
    }
    db_close(rs->db);
    pthread_mutex_destroy(&rs->mu);
    pthread_mutex_destroy(&rs->read_mu);
    free(rs);
}

/* --- requests ------------------------------------------------------------ */

enum st responses_begin(struct responses *rs, const struct response_row *row,
                        struct buf *input, struct buf *answer, struct err *e)
{
    struct pending *i = pending_new(row->id);
    struct db_post p = {.run = run_begin, .done = pending_done, .arg = i};
    enum st st;

    i->row = *row;
    i->n_input = input->n;
    i->n_answer = answer->n;
    if (!pending_join(rs, i, RESPONSES_WAITING)) {
        pending_free(i);
        return err_set(e, ST_BUSY, "",
                       "the database is behind; try again later");
    }
    take_buf(&i->input, &i->n_input, input);
    take_buf(&i->answer, &i->n_answer, answer);
    st = db_post(rs->w, &p, e);
    if (!st)
        return ST_OK;
    pending_leave(i);
    pending_free(i);
    return st;
}

void responses_end(struct responses *rs, const char *id, const char *status,
                   struct buf *answer, void (*done)(void *arg), void *arg)
{
    struct pending *i = pending_new(id);
    struct db_post p = {.run = run_end, .done = pending_done, .arg = i};

    i->status = status;
    i->done = done;
    i->arg = arg;
    if (!answer->failed)
        take_buf(&i->answer, &i->n_answer, answer);
    buf_release(answer);
    (void)pending_join(rs, i, SIZE_MAX);
    db_post_always(rs->w, &p);
}

void responses_undo(struct responses *rs, const char *id, int64_t key_id)
{
    struct pending *i = pending_new(id);
    struct db_post p = {.run = run_delete, .done = pending_done, .arg = i};

    i->row.key_id = key_id;
    (void)pending_join(rs, i, SIZE_MAX);
    db_post_always(rs->w, &p);
}

enum st responses_delete(struct responses *rs, const char *id, int64_t key_id,
                         void (*done)(void *arg), void *arg, struct err *e)
{
    struct pending *i = pending_new(id);
    struct db_post p = {
        .run = run_delete, .done = pending_done, .arg = i, .soon = true};
    enum st st;

    i->row.key_id = key_id;
    i->done = done;
    i->arg = arg;
    (void)pending_join(rs, i, SIZE_MAX);
    st = db_post(rs->w, &p, e);
    if (!st)
        return ST_OK;
    pending_leave(i);
    pending_free(i);
    return st;
}

/* --- reading ------------------------------------------------------------- */

static enum st none(struct err *e)
{
    return err_set(e, ST_NOT_FOUND, "", "there is no such response");
}

/* The database is not the client's: it is told to come again. */
static enum st unread(enum st st, struct err *e)
{
    if (st == ST_NOMEM || st == ST_INTERNAL || st == ST_FORMAT)
        return st;
    return err_set(e, ST_BUSY, "",
                   "the database could not be read now; try again later");
}

/* One row of a statement whose first binds are id, key and now. */
static enum st look(struct db *db, enum sql_id sql, const char *id,
                    int64_t key_id, int64_t now_ms, struct db_stmt **s,
                    struct err *e)
{
    enum st st = db_stmt(s, db, sql, e);

    if (st)
        return st;
    db_bind_str(*s, 1, id);
    db_bind_int(*s, 2, key_id);
    db_bind_int(*s, 3, now_ms);
    return ST_OK;
}

static void add_col(struct buf *out, struct db_stmt *s, int col)
{
    size_t n;
    const void *p = db_col_blob(s, col, &n);

    if (out && n)
        buf_add(out, p, n);
}

static enum st read_locked(struct responses *rs, const char *id,
                           int64_t key_id, int64_t now_ms, char status[16],
                           struct buf *input, struct buf *answer,
                           struct err *e)
{
    struct db_stmt *s;
    bool row;
    enum st st = look(rs->db, SQL_RESPONSE_TEXT, id, key_id, now_ms, &s, e);

    if (st)
        return unread(st, e);
    db_bind_int(s, 4, input != NULL);
    db_bind_int(s, 5, answer != NULL);
    st = db_step(s, &row, e);
    if (st)
        return unread(st, e);
    if (!row)
        return none(e);
    snprintf(status, 16, "%s", db_col_str(s, 0));
    add_col(input, s, 1);
    add_col(answer, s, 2);
    db_done(s);
    if ((input && input->failed) || (answer && answer->failed))
        return err_set(e, ST_NOMEM, "", "no memory for the response");
    return ST_OK;
}

enum st responses_read(struct responses *rs, const char *id, int64_t key_id,
                       int64_t now_ms, char status[16], struct buf *input,
                       struct buf *answer, struct err *e)
{
    enum st st;

    pthread_mutex_lock(&rs->read_mu);
    st = read_locked(rs, id, key_id, now_ms, status, input, answer, e);
    pthread_mutex_unlock(&rs->read_mu);
    return st;
}

/* One step of a chain; previous "" ends it. */
static enum st head_locked(struct responses *rs, const char *id,
                           int64_t key_id, int64_t now_ms, bool *runs,
                           char previous[40], size_t *bytes, struct err *e)
{
    struct db_stmt *s;
    bool row;
    enum st st = look(rs->db, SQL_RESPONSE_HEAD, id, key_id, now_ms, &s, e);

    if (!st)
        st = db_step(s, &row, e);
    if (st)
        return unread(st, e);
    if (!row)
        return none(e);
    *runs = !strcmp(db_col_str(s, 0), "in_progress");
    snprintf(previous, 40, "%s", db_col_str(s, 1));
    *bytes = (size_t)db_col_int(s, 2);
    db_done(s);
    return ST_OK;
}

enum st responses_size(struct responses *rs, const char *id, int64_t key_id,
                       int64_t now_ms, size_t *bytes, struct err *e)
{
    char previous[40];
    bool runs;
    enum st st;

    *bytes = 0;
    pthread_mutex_lock(&rs->read_mu);
    st = head_locked(rs, id, key_id, now_ms, &runs, previous, bytes, e);
    pthread_mutex_unlock(&rs->read_mu);
    return st;
}

static enum st chain_locked(struct responses *rs, int64_t key_id,
                            int64_t now_ms, size_t max_bytes,
                            struct response_chain *c, struct err *e)
{
    for (;;) {
        char previous[40];
        size_t bytes = 0;
        bool runs = false;
        enum st st = head_locked(rs, c->id[c->n], key_id, now_ms, &runs,
                                 previous, &bytes, e);

        if (st == ST_NOT_FOUND && c->n)
            return err_set(e, ST_INVALID, "",
                           "a response that this one goes on from was deleted "
                           "or has expired");
        if (st)
            return st;
        if (runs)
            return err_set(e, ST_INVALID, "",
                           "this response, or one that it goes on from, is "
                           "still running");
        c->n++;
        if (!mem_add(&c->bytes, c->bytes, bytes) || c->bytes > max_bytes)
            return err_set(e, ST_LIMIT, "",
                           "this response and those that it goes on from have "
                           "more than %zu bytes", max_bytes);
        if (!previous[0])
            return ST_OK;
        if (c->n == RESPONSES_CHAIN)
            return err_set(e, ST_LIMIT, "",
                           "more than %d responses in a row", RESPONSES_CHAIN);
        snprintf(c->id[c->n], sizeof(c->id[0]), "%.29s", previous);
    }
}

enum st responses_chain(struct responses *rs, const char *id, int64_t key_id,
                        int64_t now_ms, size_t max_bytes,
                        struct response_chain *out, struct err *e)
{
    enum st st;

    out->n = out->bytes = 0;
    if (!responses_id_ok(id, strlen(id)))
        return none(e);
    snprintf(out->id[0], sizeof(out->id[0]), "%s", id);
    pthread_mutex_lock(&rs->read_mu);
    st = chain_locked(rs, key_id, now_ms, max_bytes, out, e);
    pthread_mutex_unlock(&rs->read_mu);
    return st;
}
