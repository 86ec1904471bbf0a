#include "db/writer.h"
#include "db/file.h"

#include "base/log.h"
#include "base/thread.h"

#define GROUP_MAX 1000
#define GROUP_MS 20
#define LOCK_WAIT_MS 250         /* then the group is tried again */
#define RETRY_MIN_MS 50
#define RETRY_MAX_MS 2000
#define LOG_EVERY_MS 60000
#define IDLE_MS 2000             /* without posts: cut the WAL */
#define CHECKPOINT_EVERY_MS 5000 /* while a reader holds on to it */
#define WAL_LARGE (32 << 20)     /* twice the journal_size_limit */

struct node {
    struct node *next;
    struct db_post post;
};

/*
 * The mutex guards the queue and the counters and is never held while SQLite
 * or a post runs, so that posting takes no longer than an append.
 */
struct db_writer {
    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t wake;
    struct node *head, **tail; /* guarded by mu */
    size_t waiting;            /* guarded by mu: nodes in the list */
    bool soon;                 /* guarded by mu: a node in the list is */
    bool stop;                 /* guarded by mu */
    int64_t give_up_ms;        /* guarded by mu: mono_ms, valid with stop */
    struct db_writer_state state; /* guarded by mu */
    size_t max_queue;

    /* of the writer thread */
    struct db *db;
    char *path;
    int64_t logged_ms, wal_logged_ms; /* mono_ms of the last log line */
    int64_t checkpoint_ms;            /* not before */
    struct node *left;                /* given up at the end */
};

/* --- posting ------------------------------------------------------------- */

static void append_locked(struct db_writer *w, struct node *n)
{
    *w->tail = n;
    w->tail = &n->next;
    w->waiting++;
    w->state.queued++;
    w->soon = w->soon || n->post.soon;
    /* The thread sleeps until the first, then until the group is full or
     * somebody waits for it. */
    if (w->waiting == 1 || w->waiting == GROUP_MAX || n->post.soon)
        pthread_cond_signal(&w->wake);
}

static struct node *node_new(const struct db_post *p)
{
    struct node *n = mem_new(struct node);

    n->post = *p;
    return n;
}

enum st db_post(struct db_writer *w, const struct db_post *p, struct err *e)
{
    struct node *n = node_new(p);
    bool taken;

    pthread_mutex_lock(&w->mu);
    taken = !w->stop && w->state.queued < w->max_queue;
    if (taken)
        append_locked(w, n);
    pthread_mutex_unlock(&w->mu);
    if (taken)
        return ST_OK;
    free(n);
    return err_set(e, ST_BUSY, "", "the database is behind; try again later");
}

void db_post_always(struct db_writer *w, const struct db_post *p)
{
    struct node *n = node_new(p);

    pthread_mutex_lock(&w->mu);
    append_locked(w, n);
    pthread_mutex_unlock(&w->mu);
}

void db_writer_state(struct db_writer *w, struct db_writer_state *out)
{
    pthread_mutex_lock(&w->mu);
    *out = w->state;
    pthread_mutex_unlock(&w->mu);
}

/* --- a group ------------------------------------------------------------- */

static void log_failure(struct db_writer *w, const struct err *e)
{
    int64_t now = mono_ms();

    pthread_mutex_lock(&w->mu);
    w->state.failures++;
    pthread_mutex_unlock(&w->mu);
    if (w->logged_ms && now - w->logged_ms < LOG_EVERY_MS)
        return;
    w->logged_ms = now;
    log_warn("db_retry", "file=%s error=\"%s\"", e->where, e->text);
}

/* Will the same transaction work later? */
static bool passing(enum st st)
{
    return st == ST_BUSY || st == ST_IO || st == ST_FORMAT || st == ST_NOMEM;
}

/* One transaction over the list; on failure nothing of it happened. */
static enum st attempt(struct db_writer *w, struct node *list, struct err *e)
{
    enum st st;

    db_rollback(w->db); /* whatever an earlier failure left */
    st = db_begin(w->db, e);
    if (st)
        return passing(st) ? st : ST_IO;
    for (struct node *n = list; n && !st; n = n->next)
        st = n->post.run(w->db, n->post.arg, e);
    if (st) {
        db_rollback(w->db);
        return st;
    }
    st = db_commit(w->db, e);
    if (st)
        db_rollback(w->db);
    return passing(st) || !st ? st : ST_IO; /* only a post can be at fault */
}

/* Sleep before the next attempt; false when the process wants to end. */
static bool back_off(struct db_writer *w, int64_t *ms)
{
    int64_t until = mono_ms() + *ms;
    bool go = true;

    *ms = *ms * 2 < RETRY_MAX_MS ? *ms * 2 : RETRY_MAX_MS;
    pthread_mutex_lock(&w->mu);
    for (;;) {
        int64_t now = mono_ms(), left = until - now;

        if (w->stop && now >= w->give_up_ms) {
            go = false;
            break;
        }
        if (left <= 0)
            break;
        if (w->stop && w->give_up_ms - now < left)
            left = w->give_up_ms - now;
        cond_wait_ms(&w->wake, &w->mu, left);
    }
    pthread_mutex_unlock(&w->mu);
    return go;
}

/* Until it is committed, it can never be, or the process ends. */
static enum st persist(struct db_writer *w, struct node *list, struct err *e)
{
    int64_t ms = RETRY_MIN_MS;
    enum st st;

    for (;;) {
        st = attempt(w, list, e);
        if (!st && ms != RETRY_MIN_MS)
            log_info("db_recovered", "posts are committed again");
        if (!st || !passing(st))
            return st;
        log_failure(w, e);
        if (!back_off(w, &ms))
            return ST_CANCELLED;
    }
}

static void finish(struct db_writer *w, struct node *list, enum st st)
{
    size_t n = 0;

    for (struct node *i = list; i; i = i->next)
        n++;
    pthread_mutex_lock(&w->mu);
    w->state.queued -= n;
    if (!st)
        w->state.committed += n;
    pthread_mutex_unlock(&w->mu);
    while (list) {
        struct node *next = list->next;

        if (list->post.done)
            list->post.done(list->post.arg);
        free(list);
        list = next;
    }
}

/*
 * One post that breaks a constraint would hold up everything behind it for
 * ever. It is our mistake, and it ends alone: the others go one by one.
 * Returns what is left when the process ends.
 */
static struct node *commit_singly(struct db_writer *w, struct node *list)
{
    while (list) {
        struct err e = {0};
        struct node *n = list, *rest = list->next;
        enum st st;

        n->next = NULL;
        st = persist(w, n, &e);
        if (st == ST_CANCELLED) {
            n->next = rest;
            return n;
        }
        if (st)
            log_error("db_post_lost", "file=%s error=\"%s\"", e.where, e.text);
        finish(w, n, st);
        list = rest;
    }
    return NULL;
}

static struct node *commit_group(struct db_writer *w, struct node *list)
{
    struct err e = {0};
    enum st st = persist(w, list, &e);

    if (st == ST_CANCELLED)
        return list;
    if (st) {
        log_failure(w, &e);
        return commit_singly(w, list);
    }
    finish(w, list, ST_OK);
    return NULL;
}

/* --- the WAL ------------------------------------------------------------- */

static int64_t measure_wal(struct db_writer *w)
{
    int64_t bytes = db_file_wal_bytes(w->path), now = mono_ms();

    pthread_mutex_lock(&w->mu);
    w->state.wal_bytes = bytes;
    pthread_mutex_unlock(&w->mu);
    if (bytes >= 2 * (int64_t)WAL_LARGE &&
        (!w->wal_logged_ms || now - w->wal_logged_ms >= LOG_EVERY_MS)) {
        w->wal_logged_ms = now;
        log_warn("db_wal_large",
                 "file=%s bytes=%lld hint=\"a reader holds it open\"", w->path,
                 (long long)bytes);
    }
    return bytes;
}

/*
 * SQLite's own checkpoints copy the WAL but cannot restart it under a reader
 * that stays; a truncating one, tried while it is idle or large, brings the
 * file back as soon as the reader leaves. It waits LOCK_WAIT_MS at most.
 */
static void cut_wal(struct db_writer *w, bool idle)
{
    struct db_stmt *s;
    int64_t bytes;

    if (mono_ms() < w->checkpoint_ms)
        return;
    bytes = measure_wal(w);
    if (!bytes || (!idle && bytes < WAL_LARGE))
        return;
    w->checkpoint_ms = mono_ms() + CHECKPOINT_EVERY_MS;
    if (!db_stmt(&s, w->db, SQL_DB_CHECKPOINT, NULL) && !db_run(s, NULL))
        measure_wal(w);
}

/* --- the thread ---------------------------------------------------------- */

/* Wait for work. NULL: nothing for IDLE_MS, or the end (*stop). */
static struct node *take(struct db_writer *w, bool *stop)
{
    struct node *list, *last;
    int64_t until;
    size_t n = 1;

    pthread_mutex_lock(&w->mu);
    until = mono_ms() + IDLE_MS;
    while (!w->head && !w->stop && mono_ms() < until)
        cond_wait_ms(&w->wake, &w->mu, until - mono_ms());
    until = mono_ms() + GROUP_MS;
    while (w->head && w->waiting < GROUP_MAX && !w->soon && !w->stop &&
           mono_ms() < until)
        cond_wait_ms(&w->wake, &w->mu, until - mono_ms());
    list = last = w->head;
    while (last && n < GROUP_MAX && last->next) {
        last = last->next;
        n++;
    }
    if (last) {
        w->head = last->next;
        if (!w->head) {
            w->tail = &w->head;
            w->soon = false;
        }
        w->waiting -= n;
        last->next = NULL;
    }
    *stop = w->stop;
    pthread_mutex_unlock(&w->mu);
    return list;
}

static void *run(void *arg)
{
    struct db_writer *w = arg;

    for (;;) {
        bool stop;
        struct node *list = take(w, &stop);

        if (list) {
            w->left = commit_group(w, list);
            if (w->left)
                break;
            measure_wal(w);
        } else if (stop) {
            break;
        }
        cut_wal(w, !list);
    }
    return NULL;
}

enum st db_writer_open(struct db_writer **out, const char *path,
                       size_t max_queue, struct err *e)
{
    struct db_writer *w;
    struct db *db;
    enum st st = db_open(&db, path, DB_WRITE, e);

    *out = NULL;
    if (st)
        return st;
    db_busy_ms(db, LOCK_WAIT_MS);
    w = mem_new(struct db_writer);
    w->db = db;
    w->path = mem_dup(path);
    w->max_queue = max_queue;
    w->tail = &w->head;
    pthread_mutex_init(&w->mu, NULL);
    cond_init_monotonic(&w->wake);
    st = thread_start(&w->thread, "db-writer", run, w, e);
    if (st) {
        db_close(db);
        free(w->path);
        free(w);
        return st;
    }
    *out = w;
    return ST_OK;
}

static void free_nodes(struct node *list)
{
    while (list) {
        struct node *next = list->next;

        free(list);
        list = next;
    }
}

void db_writer_close(struct db_writer *w, int64_t ms)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->mu);
    w->stop = true;
    w->give_up_ms = mono_ms() + ms;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->mu);
    pthread_join(w->thread, NULL);
    if (w->state.queued)
        log_error("db_posts_lost", "file=%s posts=%zu", w->path,
                  w->state.queued);
    free_nodes(w->left);
    free_nodes(w->head);
    w->checkpoint_ms = 0; /* readers may be open still: nothing that was */
    cut_wal(w, true);     /* deleted stays in the WAL */
    db_close(w->db);
    pthread_mutex_destroy(&w->mu);
    pthread_cond_destroy(&w->wake);
    free(w->path);
    free(w);
}
