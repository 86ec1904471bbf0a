#include "kv/spool.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/thread.h"
#include "kv/spool_disk.h"
#include "kv/spool_index.h"

#define TICK_MS 60000     /* age and cap are looked at so often */
#define REST_MS 60000     /* no writes for so long after the disk said no */
#define SCAN_BATCH 1024   /* entries taken over in one hold of the lock */
#define STAMP_BATCH 256

struct spool_write {
    struct spool_write *next;
    struct spool_digest d;
    struct spool_form form;
    uint8_t *blob; /* [form.blob_n], owned */
};

struct spool_read {
    struct spool_read *next;       /* in the queue of those to do */
    struct spool_read *before, *after; /* of all */
    struct spool_digest d;
    struct spool_form form;
    enum spool_state state;
    bool forgotten; /* the thread has it, and frees it */
    void *blob;     /* SPOOL_READY: owned */
};

struct spool {
    /* constant */
    char *dir;
    uint64_t max_bytes;
    int64_t ttl_s;
    size_t queue_bytes;
    void (*wake)(void *arg);
    void *arg;
    pthread_t thread;

    int fd;          /* the folder; the thread's */
    int64_t tick_ms; /* the thread's */

    pthread_mutex_t mu; /* guards all below; nothing is locked under it */
    pthread_cond_t work;
    bool stop;
    int64_t stop_ms, rest_ms; /* monotonic: end by then, rest until then */
    struct spool_index index;
    struct spool_write *write, **write_end;
    struct spool_read *read, **read_end;
    struct spool_read *all; /* reads, done ones too */
    size_t queued;
    struct spool_stats stats; /* counters only */
};

static int64_t wall_s(void)
{
    return (int64_t)time(NULL);
}

/* --- the thread: cap and age ---------------------------------------------- */

/* Remove what is too old, and the oldest until `more` bytes fit under the
 * cap. */
static void trim(struct spool *s, uint64_t more)
{
    int64_t now = wall_s();

    for (;;) {
        struct spool_digest d;
        int32_t i;
        bool go, ok;

        pthread_mutex_lock(&s->mu);
        i = s->index.oldest;
        go = i >= 0 &&
             (s->index.bytes + more > s->max_bytes ||
              s->index.there > SPOOL_KEEP ||
              (s->ttl_s && now - s->index.e[i].used_s > s->ttl_s));
        if (go) {
            d = s->index.e[i].d;
            spool_index_lose(&s->index, i);
            spool_index_drop(&s->index, i);
        }
        pthread_mutex_unlock(&s->mu);
        if (!go)
            return;
        ok = spool_disk_remove(s->fd, &d);
        pthread_mutex_lock(&s->mu);
        s->stats.removed += ok;
        s->stats.failures += !ok;
        pthread_mutex_unlock(&s->mu);
    }
}

static void take_over(struct spool *s, const struct spool_found *f, size_t n)
{
    pthread_mutex_lock(&s->mu);
    for (size_t k = 0; k < n; k++) {
        int32_t i = spool_index_find(&s->index, &f[k].d);

        if (i < 0)
            i = spool_index_add(&s->index, &f[k].d);
        if (i >= 0)
            spool_index_put(&s->index, i, f[k].bytes,
                            f[k].used_ns / 1000000000);
    }
    pthread_mutex_unlock(&s->mu);
}

static void scan(struct spool *s)
{
    struct spool_found *f = NULL;
    size_t n = 0;
    bool ok = spool_disk_scan(s->fd, &f, &n);

    for (size_t k = 0; k < n; k += SCAN_BATCH)
        take_over(s, f + k, n - k < SCAN_BATCH ? n - k : SCAN_BATCH);
    free(f);
    trim(s, 0);
    pthread_mutex_lock(&s->mu);
    s->stats.failures += !ok;
    s->stats.ready = true;
    pthread_mutex_unlock(&s->mu);
}

static bool too_late(void *arg)
{
    struct spool *s = arg;
    bool late;

    pthread_mutex_lock(&s->mu);
    late = s->stop && mono_ms() >= s->stop_ms;
    pthread_mutex_unlock(&s->mu);
    return late;
}

/* A restart goes by the files' times: bring them to what memory knows, in its
 * order. */
static void stamp(struct spool *s)
{
    struct spool_entry e[STAMP_BATCH];
    long order = 0;
    size_t n;

    do {
        n = 0;
        pthread_mutex_lock(&s->mu);
        for (int32_t i = s->index.oldest; i >= 0 && n < STAMP_BATCH;
             i = s->index.e[i].newer)
            if (s->index.e[i].stale) {
                s->index.e[i].stale = false;
                e[n++] = s->index.e[i];
            }
        pthread_mutex_unlock(&s->mu);
        for (size_t i = 0; i < n; i++)
            spool_disk_stamp(s->fd, &e[i].d, e[i].used_s, order++);
    } while (n == STAMP_BATCH && !too_late(s));
}

/* Somebody removed the folder: begin again. */
static void new_folder(struct spool *s)
{
    int fd;
    bool ok = spool_disk_open(s->dir, &fd, NULL) == ST_OK;

    pthread_mutex_lock(&s->mu);
    s->stats.failures += !ok;
    s->stats.lost++;
    while (s->index.oldest >= 0) {
        int32_t i = s->index.oldest;

        spool_index_lose(&s->index, i);
        spool_index_drop(&s->index, i);
    }
    pthread_mutex_unlock(&s->mu);
    if (!ok)
        return;
    close(s->fd);
    s->fd = fd;
    scan(s);
}

static void tick(struct spool *s)
{
    s->tick_ms = mono_ms() + TICK_MS;
    if (spool_disk_lost(s->fd))
        new_folder(s);
    else
        trim(s, 0);
    stamp(s);
}

/* --- the thread: reads ---------------------------------------------------- */

static void free_read(struct spool *s, struct spool_read *r)
{
    if (r->before)
        r->before->after = r->after;
    else
        s->all = r->after;
    if (r->after)
        r->after->before = r->before;
    spool_form_release(&r->form);
    free(r->blob);
    free(r);
}

/* The lock is held. */
static void settle_read(struct spool *s, struct spool_read *r,
                        enum spool_got got, void *blob)
{
    int32_t i = spool_index_find(&s->index, &r->d);

    r->blob = blob;
    r->state = got == SPOOL_GOT ? SPOOL_READY : SPOOL_MISSING;
    s->stats.reads += got == SPOOL_GOT;
    s->stats.misses += got != SPOOL_GOT;
    s->stats.failures += got == SPOOL_FAILED || got == SPOOL_BROKEN;
    if (i >= 0 && got == SPOOL_GOT) {
        spool_index_use(&s->index, i, wall_s());
    } else if (i >= 0 && got != SPOOL_FAILED) {
        spool_index_lose(&s->index, i);
        spool_index_drop(&s->index, i);
    }
}

static void do_read(struct spool *s, struct spool_read *r)
{
    void *blob = NULL;
    enum spool_got got;
    bool forgotten;

    got = spool_disk_read(s->fd, &r->form, &r->d, &blob);
    if (got == SPOOL_BAD || got == SPOOL_BROKEN)
        (void)spool_disk_remove(s->fd, &r->d);
    pthread_mutex_lock(&s->mu);
    settle_read(s, r, got, blob);
    forgotten = r->forgotten;
    if (forgotten)
        free_read(s, r);
    pthread_mutex_unlock(&s->mu);
    if (!forgotten && s->wake)
        s->wake(s->arg);
}

/* --- the thread: writes --------------------------------------------------- */

static void free_write(struct spool_write *w)
{
    spool_form_release(&w->form);
    free(w->blob);
    free(w);
}

/* The lock is held: the first one leaves the queue. */
static void end_write(struct spool *s, enum spool_put put)
{
    struct spool_write *w = s->write;
    int32_t i = spool_index_find(&s->index, &w->d);

    s->write = w->next;
    if (!s->write)
        s->write_end = &s->write;
    s->queued -= w->form.file_n;
    s->stats.writes += put == SPOOL_PUT;
    /* a name that cannot be had would only fail again */
    s->stats.lost += put != SPOOL_PUT && put != SPOOL_UNNAMED &&
                     !s->index.e[i].there;
    s->stats.failures += put == SPOOL_NO_DISK || put == SPOOL_UNNAMED;
    s->index.e[i].queued = false;
    if (put == SPOOL_PUT)
        spool_index_put(&s->index, i, spool_disk_bytes(w->form.file_n),
                        wall_s());
    spool_index_drop(&s->index, i);
    free_write(w);
}

/* The lock is held: none of them is written any more. */
static void drop_writes(struct spool *s)
{
    while (s->write)
        end_write(s, SPOOL_STOPPED);
}

/* Only this thread takes the first one off the queue, so it can be used
 * without the lock. */
static void do_write(struct spool *s, struct spool_write *w)
{
    enum spool_put put = SPOOL_STOPPED;
    bool there;

    pthread_mutex_lock(&s->mu);
    there = s->index.e[spool_index_find(&s->index, &w->d)].there;
    pthread_mutex_unlock(&s->mu);
    if (!there) {
        trim(s, spool_disk_bytes(w->form.file_n));
        spool_form_seal(&w->form, w->blob);
        put = spool_disk_write(s->fd, &w->form, &w->d, w->blob, too_late, s);
    }
    pthread_mutex_lock(&s->mu);
    end_write(s, put);
    if (put == SPOOL_NO_DISK) {
        s->rest_ms = mono_ms() + REST_MS;
        drop_writes(s);
    }
    pthread_mutex_unlock(&s->mu);
    if (s->wake)
        s->wake(s->arg);
}

/* --- the thread ----------------------------------------------------------- */

/* Wait for something to do. False: the end. */
static bool next(struct spool *s, struct spool_read **r,
                 struct spool_write **w)
{
    bool go;

    *r = NULL;
    *w = NULL;
    pthread_mutex_lock(&s->mu);
    while (!s->stop && !s->read && !s->write && mono_ms() < s->tick_ms)
        (void)cond_wait_ms(&s->work, &s->mu, s->tick_ms - mono_ms());
    if (s->stop) {
        go = s->write && mono_ms() < s->stop_ms;
    } else {
        go = true;
        *r = s->read;
        if (*r) {
            s->read = (*r)->next;
            if (!s->read)
                s->read_end = &s->read;
        }
    }
    if (go && !*r)
        *w = s->write;
    /* one that was forgotten while it waited */
    if (*r && (*r)->forgotten) {
        free_read(s, *r);
        *r = NULL;
    }
    pthread_mutex_unlock(&s->mu);
    return go;
}

static void *run(void *arg)
{
    struct spool *s = arg;
    struct spool_read *r;
    struct spool_write *w;

    s->tick_ms = mono_ms() + TICK_MS;
    scan(s);
    while (next(s, &r, &w)) {
        if (r)
            do_read(s, r);
        else if (w)
            do_write(s, w);
        if (mono_ms() >= s->tick_ms)
            tick(s);
    }
    stamp(s);
    return NULL;
}

/* --- the caller's side ---------------------------------------------------- */

enum st spool_open(struct spool **out, const struct spool_config *c,
                   struct err *e)
{
    struct spool *s;
    enum st st;

    *out = NULL;
    if (!c->max_bytes || c->ttl_s < 0)
        return err_set(e, ST_INVALID, "spool",
                       "its size must be above 0, its age 0 or more");
    s = mem_new(struct spool);
    s->dir = mem_dup(c->dir);
    s->max_bytes = c->max_bytes;
    s->ttl_s = c->ttl_s;
    s->queue_bytes = c->queue_bytes;
    s->wake = c->wake;
    s->arg = c->arg;
    s->write_end = &s->write;
    s->read_end = &s->read;
    spool_index_init(&s->index);
    pthread_mutex_init(&s->mu, NULL);
    cond_init_monotonic(&s->work);
    st = spool_disk_open(s->dir, &s->fd, e);
    if (!st) {
        st = thread_start(&s->thread, "spool", run, s, e);
        if (st)
            close(s->fd);
    }
    if (st) {
        pthread_cond_destroy(&s->work);
        pthread_mutex_destroy(&s->mu);
        free(s->dir);
        free(s);
        return st;
    }
    *out = s;
    return ST_OK;
}

void spool_close(struct spool *s, int64_t ms)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mu);
    s->stop = true;
    s->stop_ms = mono_ms() + ms;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->mu);
    pthread_join(s->thread, NULL);
    drop_writes(s);
    while (s->all)
        free_read(s, s->all);
    spool_index_release(&s->index);
    close(s->fd);
    pthread_cond_destroy(&s->work);
    pthread_mutex_destroy(&s->mu);
    free(s->dir);
    free(s);
}

static bool look_up(struct spool *s, const struct spool_key *k,
                    struct spool_digest *d, bool queued)
{
    int32_t i;
    bool has;

    if (!spool_key_ok(k))
        return false;
    *d = spool_digest_of(k);
    pthread_mutex_lock(&s->mu);
    i = spool_index_find(&s->index, d);
    has = i >= 0 && (queued || s->index.e[i].there);
    pthread_mutex_unlock(&s->mu);
    return has;
}

bool spool_has(const struct spool *s, const struct spool_key *k)
{
    struct spool_digest d;

    return look_up((struct spool *)s, k, &d, true); /* for its lock alone */
}

int32_t spool_use(struct spool *s, const struct spool_key *k, int32_t step)
{
    size_t n = (size_t)(k->n / step), have = n;
    struct spool_digest *d = n ? mem_try_array(n, sizeof(*d)) : NULL;
    int64_t now = wall_s();

    if (!d || !spool_key_ok(k)) {
        free(d);
        return k->n;
    }
    spool_digests_of(k, step, d);
    pthread_mutex_lock(&s->mu);
    for (size_t at = n; at-- > 0;) {
        int32_t i = spool_index_find(&s->index, &d[at]);

        if (i < 0) {
            have = at;
            continue;
        }
        spool_index_use(&s->index, i, now);
        s->index.e[i].stale = s->index.e[i].there;
    }
    pthread_mutex_unlock(&s->mu);
    free(d);
    return (int32_t)have * step;
}

/* The lock is held. */
static bool may_write(const struct spool *s, const struct spool_digest *d,
                      size_t bytes)
{
    return !s->stop && mono_ms() >= s->rest_ms &&
           spool_disk_bytes(bytes) <= s->max_bytes &&
           s->queued <= s->queue_bytes &&
           bytes <= s->queue_bytes - s->queued &&
           spool_index_find(&s->index, d) < 0;
}

static bool enqueue_locked(struct spool *s, struct spool_write *w)
{
    int32_t i;

    if (!may_write(s, &w->d, w->form.file_n))
        return false;
    i = spool_index_add(&s->index, &w->d);
    if (i < 0)
        return false;
    s->index.e[i].queued = true;
    s->queued += w->form.file_n;
    *s->write_end = w;
    s->write_end = &w->next;
    pthread_cond_signal(&s->work);
    return true;
}

bool spool_put(struct spool *s, const struct spool_key *k, void *blob,
               size_t bytes)
{
    struct spool_write *w;
    struct spool_digest d;
    bool taken;

    if (!spool_key_ok(k))
        return false;
    d = spool_digest_of(k);
    /* most are refused here, before units are copied */
    pthread_mutex_lock(&s->mu);
    taken = may_write(s, &d, bytes);
    pthread_mutex_unlock(&s->mu);
    if (!taken)
        return false;
    w = mem_try(sizeof(*w));
    if (!w || !spool_form_make(&w->form, k, bytes)) {
        free(w);
        return false;
    }
    w->d = d;
    pthread_mutex_lock(&s->mu);
    taken = enqueue_locked(s, w);
    if (taken)
        w->blob = blob;
    pthread_mutex_unlock(&s->mu);
    if (!taken)
        free_write(w);
    return taken;
}

struct spool_read *spool_get(struct spool *s, const struct spool_key *k,
                             size_t bytes)
{
    struct spool_digest d;
    struct spool_read *r;
    int32_t i;

    if (!look_up(s, k, &d, false))
        return NULL;
    r = mem_try(sizeof(*r));
    if (!r || !spool_form_make(&r->form, k, bytes)) {
        free(r);
        return NULL;
    }
    r->d = d;
    r->state = SPOOL_PENDING;
    pthread_mutex_lock(&s->mu);
    i = spool_index_find(&s->index, &r->d);
    if (i >= 0) /* the last to be removed while it waits */
        spool_index_use(&s->index, i, wall_s());
    r->after = s->all;
    if (s->all)
        s->all->before = r;
    s->all = r;
    *s->read_end = r;
    s->read_end = &r->next;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->mu);
    return r;
}

enum spool_state spool_poll(struct spool *s, struct spool_read *r,
                            void **blob)
{
    enum spool_state state;

    *blob = NULL;
    pthread_mutex_lock(&s->mu);
    state = r->state;
    if (state != SPOOL_PENDING) {
        *blob = r->blob;
        r->blob = NULL;
        free_read(s, r);
    }
    pthread_mutex_unlock(&s->mu);
    return state;
}

void spool_forget(struct spool *s, struct spool_read *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&s->mu);
    if (r->state == SPOOL_PENDING)
        r->forgotten = true;
    else
        free_read(s, r);
    pthread_mutex_unlock(&s->mu);
}

void spool_stats(struct spool *s, struct spool_stats *out)
{
    pthread_mutex_lock(&s->mu);
    *out = s->stats;
    out->entries = s->index.there;
    out->bytes = s->index.bytes;
    out->max_bytes = s->max_bytes;
    out->queued_bytes = s->queued;
    pthread_mutex_unlock(&s->mu);
}
