#include "acct/limits.h"

#include "base/thread.h"
#include "db/db.h"

#define MINUTE_US 60000000
#define UNIT MINUTE_US /* see struct bucket */
#define DAY_MS 86400000
#define SOON_S 5 /* until another request may have ended: nobody knows */
#define HASH 4096

/*
 * A limit of n gives back n units in a microsecond, so a request or a token
 * is UNIT units and nothing is rounded. LIMIT_MAX of them are 6e17, what
 * comes back in two minutes 12e17: sums fit.
 */
struct bucket {
    int64_t limit, level, at_us;
};

struct account {
    struct account *next;
    int64_t key_id, seen_us;
    struct bucket requests, tokens;
    int64_t day, day_used, day_running; /* tokens */
    int64_t running;                    /* requests */
};

struct limits {
    struct limit_set defaults; /* LIMIT_NONE and above */
    pthread_mutex_t mu;
    struct account *hash[HASH]; /* guarded by mu, as the accounts are */
    size_t n;                   /* guarded by mu */
};

static int64_t clamp(int64_t v, int64_t min, int64_t max)
{
    return v < min ? min : v > max ? max : v;
}

static int64_t up(int64_t v, int64_t by) /* v / by, rounded up */
{
    return v / by + (v % by > 0);
}

/* --- the minute ---------------------------------------------------------- */

static void bucket_put(struct bucket *b, int64_t level)
{
    b->level = clamp(level, -b->limit * UNIT, b->limit * UNIT);
}

/* Refill, then the limit of now: what was spent stays spent, but for no
 * longer than a minute. */
static void bucket_update(struct bucket *b, int64_t limit, int64_t now_us)
{
    int64_t us = clamp(now_us - b->at_us, 0, 2 * MINUTE_US);
    int64_t spent;

    if (now_us > b->at_us)
        b->at_us = now_us;
    bucket_put(b, b->level + us * b->limit);
    if (b->limit == limit)
        return;
    spent = b->limit * UNIT - b->level;
    b->limit = limit;
    b->level = clamp(limit * UNIT - spent, 0, limit * UNIT);
}

/* n, of either sign, is no more than LIMIT_MAX. */
static void bucket_add(struct bucket *b, int64_t n)
{
    bucket_put(b, b->level + clamp(n, -b->limit, b->limit) * UNIT);
}

static int64_t bucket_left(const struct bucket *b)
{
    return b->level > 0 ? b->level / UNIT : 0;
}

/* Microseconds until n are there, n at most the limit. */
static int64_t bucket_wait(const struct bucket *b, int64_t n)
{
    int64_t missing = n * UNIT - b->level;

    return b->limit && missing > 0 ? up(missing, b->limit) : 0;
}

/* --- accounts ------------------------------------------------------------ */

static bool at_rest(const struct account *a, struct limits_now now)
{
    return !a->running && now.us - a->seen_us > MINUTE_US * 2 &&
           (!a->day_used || a->day != now.epoch_ms / DAY_MS);
}

/* Make room: those that are as new, else the one that was idle longest. */
static bool sweep_locked(struct limits *l, struct limits_now now)
{
    struct account **oldest = NULL, *gone;
    size_t before = l->n;

    for (size_t i = 0; i < HASH; i++) {
        struct account **at = &l->hash[i];

        while (*at) {
            struct account *a = *at;

            if (at_rest(a, now)) {
                *at = a->next;
                free(a);
                l->n--;
                continue;
            }
            if (!a->running && (!oldest || a->seen_us < (*oldest)->seen_us))
                oldest = at;
            at = &a->next;
        }
    }
    if (l->n < before || !oldest)
        return l->n < before;
    gone = *oldest;
    *oldest = gone->next;
    free(gone);
    l->n--;
    return true;
}

/* NULL: there is none. */
static struct account *find_locked(struct limits *l, int64_t key_id)
{
    struct account *a = l->hash[(uint64_t)key_id % HASH];

    while (a && a->key_id != key_id)
        a = a->next;
    return a;
}

/* NULL: no room, everybody is at work. */
static struct account *make_locked(struct limits *l, int64_t key_id,
                                   struct limits_now now)
{
    struct account *a = find_locked(l, key_id), **at;

    if (a)
        return a;
    if (l->n >= LIMITS_ACCOUNTS && !sweep_locked(l, now))
        return NULL;
    at = &l->hash[(uint64_t)key_id % HASH];
    a = mem_new(struct account);
    a->key_id = key_id;
    a->next = *at;
    *at = a;
    l->n++;
    return a;
}

/* The day of a clock that was set back a little has begun all the same. */
static void day_update(struct account *a, int64_t epoch_ms)
{
    int64_t day = epoch_ms / DAY_MS;

    if (day <= a->day && day >= a->day - 1)
        return;
    a->day = day;
    a->day_used = a->day_running = 0;
}

static void update(struct account *a, const struct limit_set *limit,
                   struct limits_now now)
{
    bucket_update(&a->requests, limit->requests, now.us);
    bucket_update(&a->tokens, limit->tokens, now.us);
    day_update(a, now.epoch_ms);
    a->seen_us = now.us;
}

/* --- what is said -------------------------------------------------------- */

static int64_t one(int64_t own, int64_t otherwise)
{
    return own == LIMIT_DEFAULT ? otherwise : clamp(own, 0, LIMIT_MAX);
}

static void resolve(const struct limits *l, const struct limit_set *set,
                    struct limit_set *out)
{
    out->requests = one(set->requests, l->defaults.requests);
    out->tokens = one(set->tokens, l->defaults.tokens);
    out->tokens_day = one(set->tokens_day, l->defaults.tokens_day);
    out->concurrent = one(set->concurrent, l->defaults.concurrent);
}

static int64_t day_left(const struct account *a, int64_t limit)
{
    return clamp(limit - a->day_used - a->day_running, 0, LIMIT_MAX);
}

static void state_of(const struct account *a, struct limits_now now,
                     struct limits_state *s)
{
    const struct limit_set *limit = &s->limit;

    s->left.requests = bucket_left(&a->requests);
    s->left.tokens = bucket_left(&a->tokens);
    s->left.tokens_day = day_left(a, limit->tokens_day);
    s->left.concurrent = clamp(limit->concurrent - a->running, 0, LIMIT_MAX);
    s->requests_reset_ms = up(bucket_wait(&a->requests, limit->requests), 1000);
    s->tokens_reset_ms = up(bucket_wait(&a->tokens, limit->tokens), 1000);
    s->day_reset_ms = (a->day + 1) * DAY_MS - now.epoch_ms;
}

void limits_duration(int64_t ms, char out[32])
{
    long long s = ms / 1000, h = s / 3600, m = s / 60 % 60;
    char fraction[8] = "";
    size_t n = 0;

    if (ms < 1000) {
        snprintf(out, 32, ms > 0 ? "%lldms" : "0s", (long long)ms);
        return;
    }
    if (ms % 1000) {
        n = (size_t)snprintf(fraction, sizeof(fraction), ".%03d",
                             (int)(ms % 1000));
        while (fraction[n - 1] == '0')
            fraction[--n] = '\0';
    }
    if (h)
        snprintf(out, 32, "%lldh%lldm%lld%ss", h, m, s % 60, fraction);
    else if (m)
        snprintf(out, 32, "%lldm%lld%ss", m, s % 60, fraction);
    else
        snprintf(out, 32, "%lld%ss", s, fraction);
}

#define LOOK 0 /* tokens of a request that was only looked at */

enum which { REQUESTS, TOKENS, TOKENS_DAY, CONCURRENT, WHICH };

/* Seconds until each limit lets a request of so many tokens pass; 0: now.
 * LOOK is any request: what it takes of a minute is not known. */
static void waits_of(const struct account *a, const struct limits_state *s,
                     int64_t tokens, int64_t wait[WHICH])
{
    const struct limit_set *limit = &s->limit;
    int64_t day = limit->tokens_day;
    int64_t used = a->day_used + (tokens == LOOK ? 1 : tokens);

    wait[REQUESTS] = up(bucket_wait(&a->requests, 1), 1000000);
    wait[TOKENS] =
        tokens == LOOK ? 0 : up(bucket_wait(&a->tokens, tokens), 1000000);
    wait[TOKENS_DAY] = 0;
    if (day && used > day)
        wait[TOKENS_DAY] = up(s->day_reset_ms, 1000);
    else if (day && used + a->day_running > day)
        wait[TOKENS_DAY] = SOON_S;
    wait[CONCURRENT] =
        limit->concurrent && a->running >= limit->concurrent ? SOON_S : 0;
}

static enum st refuse(const struct account *a, struct limits_state *s,
                      enum which which, int64_t tokens, struct err *e)
{
    const char *who = a->key_id ? "this key" : "requests without a key";
    const struct limit_set *limit = &s->limit, *left = &s->left;
    char when[32], need[80] = "";

    limits_duration(s->wait_s * 1000, when);
    if (tokens != LOOK)
        snprintf(need, sizeof(need),
                 " and this request may take %lld (prompt and max_tokens)",
                 (long long)tokens);
    switch (which) {
    case REQUESTS:
        return err_set(e, ST_RATE, "",
                       "limit reached: %s may make %lld requests per minute; "
                       "try again in %s",
                       who, (long long)limit->requests, when);
    case TOKENS:
        return err_set(e, ST_RATE, "",
                       "limit reached: %s may use %lld tokens per minute, "
                       "%lld are left%s; try again in %s",
                       who, (long long)limit->tokens, (long long)left->tokens,
                       need, when);
    case TOKENS_DAY:
        return err_set(e, ST_RATE, "",
                       "limit reached: %s may use %lld tokens per day (UTC), "
                       "%lld are left%s; try again in %s",
                       who, (long long)limit->tokens_day,
                       (long long)left->tokens_day, need, when);
    case CONCURRENT:
    case WHICH:
        break;
    }
    return err_set(e, ST_RATE, "",
                   "limit reached: %s may have %lld requests at a time; try "
                   "again when one has ended, in %s perhaps",
                   who, (long long)limit->concurrent, when);
}

static enum st too_large(const struct account *a, struct limits_state *s,
                         int64_t tokens, int64_t limit, const char *span,
                         struct err *e)
{
    s->wait_s = 0;
    return err_set(e, ST_RATE, "",
                   "request too large: it may take %lld tokens (prompt and "
                   "max_tokens), but %s may use %lld per %s; there is no "
                   "point in trying again, ask for less",
                   (long long)tokens,
                   a->key_id ? "this key" : "requests without a key",
                   (long long)limit, span);
}

/* s: what is left at `now`. Of several limits the one with the longest wait
 * speaks. */
static enum st check(const struct account *a, struct limits_now now,
                     int64_t tokens, struct limits_state *s, struct err *e)
{
    const struct limit_set *limit = &s->limit;
    int64_t wait[WHICH];
    enum which worst = REQUESTS;

    state_of(a, now, s);
    if (limit->tokens && tokens > limit->tokens)
        return too_large(a, s, tokens, limit->tokens, "minute", e);
    if (limit->tokens_day && tokens > limit->tokens_day)
        return too_large(a, s, tokens, limit->tokens_day, "day", e);
    waits_of(a, s, tokens, wait);
    for (enum which i = REQUESTS; i < WHICH; i++)
        if (wait[i] > wait[worst])
            worst = i;
    s->wait_s = wait[worst];
    return s->wait_s ? refuse(a, s, worst, tokens, e) : ST_OK;
}

/* --- requests ------------------------------------------------------------ */

enum st limits_look(struct limits *l, int64_t key_id,
                    const struct limit_set *set, struct limits_now now,
                    struct limits_state *s, struct err *e)
{
    struct account fresh = {.key_id = key_id}, *a;
    enum st st;

    *s = (struct limits_state){0};
    resolve(l, set, &s->limit);
    pthread_mutex_lock(&l->mu);
    a = find_locked(l, key_id);
    if (!a)
        a = &fresh; /* looking makes no accounts */
    update(a, &s->limit, now);
    st = check(a, now, LOOK, s, e);
    pthread_mutex_unlock(&l->mu);
    return st;
}

static void charge(struct account *a, const struct limit_set *limit,
                   int64_t tokens, struct limits_ticket *t)
{
    *t = (struct limits_ticket){
        .open = true,
        .key_id = a->key_id,
        .day = a->day,
        .tokens = tokens,
        .requests_charged = limit->requests > 0,
        .tokens_charged = limit->tokens > 0,
    };
    bucket_add(&a->requests, -1);
    bucket_add(&a->tokens, -tokens);
    a->day_running += tokens;
    a->running++;
}

enum st limits_take(struct limits *l, int64_t key_id,
                    const struct limit_set *set, int64_t tokens,
                    struct limits_now now, struct limits_ticket *t,
                    struct limits_state *s, struct err *e)
{
    struct account *a;
    enum st st;

    *t = (struct limits_ticket){0};
    *s = (struct limits_state){0};
    tokens = clamp(tokens, LOOK + 1, LIMIT_MAX + 1);
    resolve(l, set, &s->limit);
    pthread_mutex_lock(&l->mu);
    a = make_locked(l, key_id, now);
    if (!a) {
        pthread_mutex_unlock(&l->mu);
        return err_set(e, ST_BUSY, "", "too many keys are at work");
    }
    update(a, &s->limit, now);
    st = check(a, now, tokens, s, e);
    if (!st) {
        charge(a, &s->limit, tokens, t);
        state_of(a, now, s);
    }
    pthread_mutex_unlock(&l->mu);
    return st;
}

/* `used` of its tokens stay paid; `requests` come back. */
static void end(struct limits *l, struct limits_ticket *t,
                const struct limit_set *set, int64_t used, int64_t requests,
                struct limits_now now, struct limits_state *s)
{
    struct account *a;

    if (!t->open)
        return;
    t->open = false;
    *s = (struct limits_state){0};
    resolve(l, set, &s->limit);
    used = clamp(used, 0, LIMIT_MAX);
    pthread_mutex_lock(&l->mu);
    a = find_locked(l, t->key_id);
    BUG_ON(!a || !a->running); /* what runs is not swept */
    update(a, &s->limit, now);
    if (t->requests_charged)
        bucket_add(&a->requests, requests);
    if (t->tokens_charged)
        bucket_add(&a->tokens, t->tokens - used);
    if (t->day == a->day) {
        a->day_running = clamp(a->day_running - t->tokens, 0, INT64_MAX);
        a->day_used += used;
    }
    a->running--;
    state_of(a, now, s);
    pthread_mutex_unlock(&l->mu);
}

void limits_settle(struct limits *l, struct limits_ticket *t,
                   const struct limit_set *set, int64_t used,
                   struct limits_now now, struct limits_state *s)
{
    end(l, t, set, used, 0, now, s);
}

void limits_undo(struct limits *l, struct limits_ticket *t,
                 const struct limit_set *set, struct limits_now now,
                 struct limits_state *s)
{
    end(l, t, set, 0, 1, now, s);
}

/* --- start and end ------------------------------------------------------- */

/* No other thread yet. */
static enum st restore(struct limits *l, const char *path, int64_t epoch_ms,
                       struct err *e)
{
    struct limits_now now = {.epoch_ms = epoch_ms};
    struct db_stmt *s;
    struct db *db;
    enum st st = db_open(&db, path, DB_READ, e);
    bool row = false;

    if (st)
        return st;
    st = db_stmt(&s, db, SQL_LEDGER_TODAY, e);
    if (!st)
        db_bind_int(s, 1, epoch_ms / DAY_MS * DAY_MS);
    while (!st && !(st = db_step(s, &row, e)) && row) {
        struct account *a = make_locked(l, db_col_int(s, 0), now);

        if (!a)
            continue;
        a->day = epoch_ms / DAY_MS;
        a->day_used = clamp(db_col_int(s, 1), 0, INT64_MAX / 4);
    }
    db_close(db);
    return st;
}

enum st limits_open(struct limits **out, const char *path,
                    const struct limit_set *defaults, int64_t epoch_ms,
                    struct err *e)
{
    struct limits *l = mem_new(struct limits);
    enum st st = ST_OK;

    *out = NULL;
    resolve(l, defaults, &l->defaults); /* over defaults of none */
    pthread_mutex_init(&l->mu, NULL);
    if (path)
        st = restore(l, path, epoch_ms, e);
    if (st) {
        limits_close(l);
        return st;
    }
    *out = l;
    return ST_OK;
}

void limits_close(struct limits *l)
{
    if (!l)
        return;
    for (int i = 0; i < HASH; i++) {
        while (l->hash[i]) {
            struct account *a = l->hash[i];

            l->hash[i] = a->next;
            free(a);
        }
    }
    pthread_mutex_destroy(&l->mu);
    free(l);
}
