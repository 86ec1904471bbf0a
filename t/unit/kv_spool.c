/*
 * The disk tier: what was written is read back, also after a restart; what is
 * not exactly that is a miss. Expectations are spool.h's.
 */
#include "kv/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/thread.h"
#include "kv/spool_file.h"
#include "kv/spool_index.h"
#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

#define BLOB 1000 /* no multiple of 64 */
#define WAIT_MS 60000

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken;
static int wakes; /* guarded by mu */

static void wake(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&mu);
    wakes++;
    pthread_cond_signal(&woken);
    pthread_mutex_unlock(&mu);
}

static void nap(void)
{
    pthread_mutex_lock(&mu);
    (void)cond_wait_ms(&woken, &mu, 5);
    pthread_mutex_unlock(&mu);
}

static int32_t units[4096];

static struct spool_key key(const char *what, int32_t first, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        units[i] = first + i;
    return (struct spool_key){what, SPOOL_PAGE, units, n};
}

static uint8_t *blob_of(int32_t first, size_t n)
{
    uint8_t *b = malloc(n);

    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)((size_t)first * 31 + i * 7 + (i >> 8));
    return b;
}

static struct spool *open_at(const char *dir, uint64_t max, int64_t ttl)
{
    struct spool_config c = {dir, max, ttl, 1 << 20, wake, NULL};
    struct spool *s = NULL;
    struct spool_stats st = {0};
    struct err e = {0};

    if (spool_open(&s, &c, &e)) {
        printf("# %s: %s\n", e.where, e.text);
        exit(1);
    }
    for (int64_t end = mono_ms() + WAIT_MS; !st.ready && mono_ms() < end;) {
        nap();
        spool_stats(s, &st);
    }
    return s;
}

static struct spool_stats drain(struct spool *s)
{
    int64_t end = mono_ms() + WAIT_MS;
    struct spool_stats st;

    spool_stats(s, &st);
    while (st.queued_bytes && mono_ms() < end) {
        nap();
        spool_stats(s, &st);
    }
    return st;
}

static bool put(struct spool *s, const char *what, int32_t first, int32_t n)
{
    struct spool_key k = key(what, first, n);
    uint8_t *b = blob_of(first, BLOB);
    bool taken = spool_put(s, &k, b, BLOB);

    if (!taken)
        free(b);
    return taken;
}

/* 1 read and right, 0 missing, -1 read and wrong, -2 never ended */
static int get(struct spool *s, const char *what, int32_t first, int32_t n)
{
    struct spool_key k = key(what, first, n);
    struct spool_read *r = spool_get(s, &k, BLOB);
    int64_t end = mono_ms() + WAIT_MS;
    uint8_t *want;
    void *b = NULL;
    int is;

    if (!r)
        return 0;
    for (;;) {
        enum spool_state st = spool_poll(s, r, &b);

        if (st == SPOOL_MISSING)
            return 0;
        if (st == SPOOL_READY)
            break;
        if (mono_ms() > end)
            return -2;
        nap();
    }
    want = blob_of(first, BLOB);
    is = memcmp(b, want, BLOB) ? -1 : 1;
    free(want);
    free(b);
    return is;
}

static bool has(struct spool *s, const char *what, int32_t first, int32_t n)
{
    struct spool_key k = key(what, first, n);

    return spool_has(s, &k);
}

static const char *path_of(const char *dir, const char *what, int32_t first,
                           int32_t n)
{
    struct spool_key k = key(what, first, n);
    struct spool_digest d = spool_digest_of(&k);
    char name[SPOOL_NAME_BYTES];
    static char path[600];

    spool_name_write(&d, SPOOL_NAME_ENTRY, name);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static int files_in(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static void set_age(const char *path, int64_t seconds)
{
    struct timespec t[2] = {{time(NULL) - seconds, 0},
                            {time(NULL) - seconds, 0}};

    if (utimensat(AT_FDCWD, path, t, AT_SYMLINK_NOFOLLOW))
        perror(path);
}

/* --- what it is for ------------------------------------------------------- */

static void test_round_trip(void)
{
    const char *dir = tmpdir_path("round");
    struct spool *s = open_at(dir, 1 << 20, 0);
    struct spool_stats st;
    struct stat sb;
    struct spool_key k;

    ok(!has(s, "m", 1, 300) && get(s, "m", 1, 300) == 0, "empty: a miss");
    ok(put(s, "m", 1, 300), "taken");
    ok(!put(s, "m", 1, 300), "the same again is not taken");
    st = drain(s);
    is_int(st.writes, 1, "one write");
    ok(has(s, "m", 1, 300) && !put(s, "m", 1, 300), "it is there");
    is_int(get(s, "m", 1, 300), 1, "read back");
    is_int(get(s, "m", 1, 300), 1, "and again");
    ok(!has(s, "n", 1, 300) && !has(s, "m", 1, 299) && !has(s, "m", 2, 300),
       "another name, length or unit is another entry");
    k = key("m", 1, 300);
    k.kind = SPOOL_STATE;
    ok(!spool_has(s, &k), "and another kind");
    ok(stat(dir, &sb) == 0 && (sb.st_mode & 0777) == 0700, "folder 0700");
    ok(stat(path_of(dir, "m", 1, 300), &sb) == 0 &&
           (sb.st_mode & 0777) == 0600 && sb.st_size % 64 == 0,
       "file 0600");
    spool_close(s, 1000);

    s = open_at(dir, 1 << 20, 0);
    spool_stats(s, &st);
    is_int(st.entries, 1, "after a restart: one entry");
    is_int(st.bytes, 4096, "of one block");
    is_int(get(s, "m", 1, 300), 1, "with the same bytes");
    is_int(get(s, "other", 1, 300), 0, "never for another name");
    spool_stats(s, &st);
    ok(st.reads == 1 && st.misses == 0 && !st.failures, "counted");
    spool_close(s, 0);
    spool_close(NULL, 0);
}

static void test_keys(void)
{
    struct spool *s = open_at(tmpdir_path("keys"), 1 << 20, 0);
    char longest[SPOOL_WHAT];
    uint8_t *b = blob_of(1, BLOB);
    struct spool_key k;

    memset(longest, 'x', sizeof(longest));
    longest[SPOOL_WHAT - 1] = '\0';
    ok(put(s, longest, 1, 1), "95 bytes of name, one unit");
    drain(s);
    is_int(get(s, longest, 1, 1), 1, "read back");
    ok(!put(s, "\n", 1, 1) && !put(s, "m", 1, 0), "no line feed, no units");
    k = key("m", 1, 1);
    ok(!spool_put(s, &k, b, 0), "no bytes");
    ok(!spool_put(s, &k, b, SIZE_MAX - 10), "more bytes than there are");
    k.kind = 0;
    ok(!spool_put(s, &k, b, BLOB) && !spool_get(s, &k, BLOB), "no kind");
    free(b);
    spool_close(s, 0);
}

static void test_thousand(void)
{
    const char *dir = tmpdir_path("thousand");
    struct spool *s = open_at(dir, 16 << 20, 0);
    struct spool_stats st;
    int taken = 0, right = 0;

    for (int32_t i = 0; i < 1000; i++) {
        while (!put(s, "m", i * 3, 64))
            nap();
        taken++;
    }
    st = drain(s);
    is_int(st.writes, taken, "a thousand written");
    spool_close(s, 1000);
    s = open_at(dir, 16 << 20, 0);
    spool_stats(s, &st);
    is_int(st.entries, 1000, "a thousand after a restart");
    for (int32_t i = 0; i < 1000; i++)
        right += get(s, "m", i * 3, 64) == 1;
    is_int(right, 1000, "all of them right");
    spool_close(s, 0);
}

/* --- damage --------------------------------------------------------------- */

static int flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t b = 0;
    bool done = fd >= 0 && pread(fd, &b, 1, at) == 1;

    b ^= (uint8_t)(1 << at % 8);
    done = done && pwrite(fd, &b, 1, at) == 1;
    if (fd >= 0)
        close(fd);
    return done;
}

static void test_flipped(void)
{
    const char *dir = tmpdir_path("flip");
    struct spool *s = open_at(dir, 1 << 20, 0);
    struct spool_stats st;
    off_t size = 192 + 64 + 1024;
    int bad = 0, kept = 0;

    for (off_t at = 0; at < size; at++) {
        if (!put(s, "m", 5, 10))
            bad++;
        drain(s);
        if (!flip(path_of(dir, "m", 5, 10), at) || get(s, "m", 5, 10) != 0)
            bad++;
        if (!access(path_of(dir, "m", 5, 10), F_OK) || has(s, "m", 5, 10))
            kept++;
    }
    is_int(bad, 0, "any flipped byte of %d is a miss", (int)size);
    is_int(kept, 0, "and the file is removed");
    spool_stats(s, &st);
    ok(st.misses == (uint64_t)size && !st.entries && !st.failures, "counted");
    spool_close(s, 0);
}

static void test_lengths(void)
{
    const char *dir = tmpdir_path("lengths");
    struct spool *s = open_at(dir, 1 << 20, 0);
    off_t full = 192 + 64 + 1024;
    off_t sizes[] = {0, 1, 191, 256, full - 1, full + 1};
    struct spool_key k;
    struct spool_read *r;
    void *b = NULL;
    int bad = 0;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!put(s, "m", 5, 10))
            bad++;
        drain(s);
        if (truncate(path_of(dir, "m", 5, 10), sizes[i]) ||
            get(s, "m", 5, 10) != 0 ||
            !access(path_of(dir, "m", 5, 10), F_OK))
            bad++;
    }
    is_int(bad, 0, "a file of another length is a miss, and removed");
    ok(put(s, "m", 5, 10), "written again");
    drain(s);
    k = key("m", 5, 10);
    r = spool_get(s, &k, BLOB + 1);
    while (r && spool_poll(s, r, &b) == SPOOL_PENDING)
        nap();
    ok(r && !b, "who asks for another length misses");
    spool_close(s, 0);
}

/* An entry under the name of another: what two keys of one digest are. */
static void test_same_digest(void)
{
    const char *dir = tmpdir_path("digest");
    struct spool *s = open_at(dir, 1 << 20, 0);
    char from[600];

    ok(put(s, "m", 5, 10) && put(s, "m", 6, 10) && put(s, "n", 6, 10),
       "three entries");
    drain(s);
    snprintf(from, sizeof(from), "%s", path_of(dir, "m", 5, 10));
    ok(rename(from, path_of(dir, "m", 6, 10)) == 0, "one takes a name");
    is_int(get(s, "m", 6, 10), 0, "other units: a miss");
    ok(access(path_of(dir, "m", 6, 10), F_OK) != 0, "and removed");
    snprintf(from, sizeof(from), "%s", path_of(dir, "n", 6, 10));
    ok(put(s, "m", 6, 10), "written again");
    drain(s);
    ok(rename(from, path_of(dir, "m", 6, 10)) == 0, "another takes it");
    is_int(get(s, "m", 6, 10), 0, "same units, other name: a miss");
    is_int(get(s, "m", 5, 10), 0, "and what was taken away is one");
    spool_close(s, 0);
}

/* --- a folder that others put things into --------------------------------- */

static void plant(const char *dir)
{
    char path[600];
    int fd;

    snprintf(path, sizeof(path), "%s/notes", dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    snprintf(path, sizeof(path), "%s/%032d.kv.old", dir, 0);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    snprintf(path, sizeof(path), "%s/%032d.tmp", dir, 1);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0)
        close(fd);
    snprintf(path, sizeof(path), "%s/%032d.kv", dir, 2);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/%032d.kv", dir, 3);
    (void)mkfifo(path, 0600);
    snprintf(path, sizeof(path), "%s/%032d.kv", dir, 4);
    (void)symlink("/dev/zero", path);
    snprintf(path, sizeof(path), "%s/%032d.kv", dir, 5);
    (void)symlink("notes", path);
}

static void test_hostile(void)
{
    const char *dir = tmpdir_path("hostile");
    struct spool *s = open_at(dir, 1 << 20, 0);
    char away[600], path[600];
    struct spool_stats st;

    spool_close(s, 0);
    plant(dir);
    is_int(files_in(dir), 7, "seven things in the folder");
    s = open_at(dir, 1 << 20, 0);
    spool_stats(s, &st);
    ok(!st.entries && !st.failures, "none of them is an entry");
    is_int(files_in(dir), 6, "only the leftover of a write is gone");

    ok(put(s, "m", 5, 10) && put(s, "m", 6, 10), "two entries");
    drain(s);
    snprintf(path, sizeof(path), "%s", path_of(dir, "m", 5, 10));
    snprintf(away, sizeof(away), "%s", tmpdir_path("away"));
    ok(!rename(path, away) && !symlink(away, path), "a link in its place");
    is_int(get(s, "m", 5, 10), 0, "is not followed");
    ok(!access(away, F_OK) && access(path, F_OK), "the link alone is gone");
    snprintf(path, sizeof(path), "%s", path_of(dir, "m", 6, 10));
    ok(!unlink(path) && !mkfifo(path, 0600), "a fifo in its place");
    is_int(get(s, "m", 6, 10), 0, "does not hang");
    spool_close(s, 0);

    ok(!symlink("/dev/full", path_of(dir, "m", 7, 10)), "a link in the way");
    s = open_at(dir, 1 << 20, 0);
    ok(put(s, "m", 7, 10), "of a write");
    drain(s);
    is_int(get(s, "m", 7, 10), 1, "is replaced");
    spool_close(s, 0);
}

static void test_folder(void)
{
    const char *dir = tmpdir_path("folder");
    struct spool_config c = {dir, 1 << 20, 0, 1 << 20, NULL, NULL};
    struct spool *s = NULL;
    struct err e = {0};
    int fd;

    ok(mkdir(dir, 0755) == 0 && spool_open(&s, &c, &e) == ST_IO && !s,
       "a folder that others may enter");
    ok(strstr(e.text, "0700") != NULL, "the message says what it must be");
    c.dir = tmpdir_path("file");
    fd = open(c.dir, O_WRONLY | O_CREAT, 0600);
    close(fd);
    ok(spool_open(&s, &c, &e) == ST_IO && !s, "a file");
    c.dir = tmpdir_path("no/folder");
    ok(spool_open(&s, &c, &e) == ST_IO && !s, "no parent");
    c.dir = tmpdir_path("none");
    c.max_bytes = 0;
    ok(spool_open(&s, &c, &e) == ST_INVALID && !s, "no size");
}

/* --- limits --------------------------------------------------------------- */

static void test_cap(void)
{
    const char *dir = tmpdir_path("cap");
    struct spool *s = open_at(dir, 4 * 4096, 0);
    struct spool_stats st;

    for (int32_t i = 0; i < 4; i++) {
        ok(put(s, "m", i, 10), "entry %d", i);
        drain(s);
    }
    is_int(get(s, "m", 0, 10), 1, "the first is used");
    ok(put(s, "m", 4, 10), "a fifth");
    st = drain(s);
    ok(st.entries == 4 && st.bytes == 4 * 4096 && st.removed == 1, "one went");
    ok(!has(s, "m", 1, 10) && has(s, "m", 0, 10), "the one not used longest");
    is_int(files_in(dir), 4, "its file too");
    spool_close(s, 0);

    for (int32_t i = 0; i < 5; i++)
        if (i != 1)
            set_age(path_of(dir, "m", i, 10), 100 - 10 * i);
    set_age(path_of(dir, "m", 2, 10), 1000);
    s = open_at(dir, 2 * 4096, 0);
    spool_stats(s, &st);
    ok(st.entries == 2 && st.removed == 2 && has(s, "m", 3, 10) &&
           has(s, "m", 4, 10),
       "a smaller cap after a restart: the oldest by time go");
    spool_close(s, 0);

    s = open_at(dir, 4095, 0);
    spool_stats(s, &st);
    ok(!st.entries && !put(s, "m", 9, 10), "a cap below one entry");
    spool_close(s, 0);
}

/* A head that is used in memory outlives longer entries, and restarts. */
static void test_used(void)
{
    const char *dir = tmpdir_path("used");
    struct spool *s = open_at(dir, 8 * 4096, 0);
    struct spool_key k = key("m", 1, 32);

    for (int32_t n = 8; n <= 32; n += 8) {
        ok(put(s, "m", 1, n), "%d units are written", n);
        drain(s);
    }
    is_int(spool_use(s, &k, 8), 32, "all of it is there");
    k.n = 48;
    is_int(spool_use(s, &k, 8), 32, "of more, as much");
    spool_close(s, 1000);
    s = open_at(dir, 8 * 4096, 0);
    drain(s);
    for (int32_t i = 0; i < 6; i++) {
        ok(put(s, "m", 100 + i, 10), "others come");
        drain(s);
    }
    ok(has(s, "m", 1, 8) && has(s, "m", 1, 16), "the heads stay");
    ok(!has(s, "m", 1, 24) && !has(s, "m", 1, 32), "what needs them went");
    is_int(spool_use(s, &k, 8), 16, "so far there is no gap");
    for (int32_t i = 0; i < 6; i++) {
        ok(put(s, "m", 200 + i, 10), "others come");
        drain(s);
    }
    ok(has(s, "m", 1, 8) && has(s, "m", 1, 16), "used, they stay again");
    spool_close(s, 0);
}

static void test_ttl(void)
{
    const char *dir = tmpdir_path("ttl");
    struct spool *s = open_at(dir, 1 << 20, 3600);
    struct spool_stats st;
    struct stat sb;

    for (int32_t i = 0; i < 4; i++)
        ok(put(s, "m", i, 10), "entry %d", i);
    drain(s);
    for (int32_t i = 0; i < 3; i++)
        set_age(path_of(dir, "m", i, 10), 3000 + i);
    is_int(get(s, "m", 1, 10), 1, "one is read");
    ok(!stat(path_of(dir, "m", 1, 10), &sb) && time(NULL) - sb.st_mtime < 1000,
       "which makes it young");
    spool_close(s, 0);
    set_age(path_of(dir, "m", 0, 10), 3700);
    set_age(path_of(dir, "m", 3, 10), -86400);
    s = open_at(dir, 1 << 20, 3600);
    spool_stats(s, &st);
    ok(st.entries == 3 && st.removed == 1 && !has(s, "m", 0, 10),
       "what is too old goes");
    ok(access(path_of(dir, "m", 0, 10), F_OK) != 0, "its file too");
    ok(!stat(path_of(dir, "m", 3, 10), &sb) && sb.st_mtime <= time(NULL),
       "a time in the future is set to now");
    spool_close(s, 0);
    set_age(path_of(dir, "m", 2, 10), 400 * 86400);
    s = open_at(dir, 1 << 20, 0);
    ok(has(s, "m", 2, 10), "no limit, no age");
    spool_close(s, 0);
}

/* --- when the system says no ---------------------------------------------- */

static void test_full_disk(void)
{
    const char *dir = tmpdir_path("full");
    struct spool *s = open_at(dir, 1 << 20, 0);
    struct rlimit old, small;
    struct spool_stats st;

    ok(put(s, "m", 1, 10), "one is written");
    st = drain(s);
    is_int((int64_t)st.lost, 0, "nothing is lost");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 700; /* in the middle of the blob */
    setrlimit(RLIMIT_FSIZE, &small);
    ok(put(s, "m", 2, 10), "another is taken");
    st = drain(s);
    setrlimit(RLIMIT_FSIZE, &old);
    is_int(st.failures, 1, "but the disk has no room");
    is_int((int64_t)st.lost, 1, "and it says that something is lost");
    ok(!has(s, "m", 2, 10) && get(s, "m", 2, 10) == 0, "it is not there");
    is_int(files_in(dir), 1, "nothing of it is left");
    ok(!put(s, "m", 3, 10), "writing rests");
    is_int(get(s, "m", 1, 10), 1, "reading does not");
    spool_close(s, 0);
}

static void test_no_permission(void)
{
    const char *dir = tmpdir_path("closed");
    struct spool *s = open_at(dir, 1 << 20, 0);
    struct spool_stats st;

    ok(put(s, "m", 1, 10), "one is written");
    drain(s);
    if (geteuid() == 0) {
        ok(1, "a read-only folder # SKIP nothing is read-only for root");
    } else {
        chmod(dir, 0500);
        ok(put(s, "m", 2, 10), "another is taken");
        st = drain(s);
        ok(st.failures == 1 && get(s, "m", 1, 10) == 1 && !has(s, "m", 2, 10),
           "a read-only folder");
        chmod(path_of(dir, "m", 1, 10), 0);
        is_int(get(s, "m", 1, 10), 0, "a file that may not be read: a miss");
        ok(has(s, "m", 1, 10), "but it stays");
        chmod(dir, 0700);
    }
    spool_close(s, 0);
}

static void test_removed_folder(void)
{
    const char *dir = tmpdir_path("removed");
    struct spool *s = open_at(dir, 1 << 20, 0);
    struct spool_stats st;

    ok(put(s, "m", 1, 10), "one is written");
    drain(s);
    ok(!unlink(path_of(dir, "m", 1, 10)) && !rmdir(dir), "the folder goes");
    is_int(get(s, "m", 1, 10), 0, "a miss");
    ok(put(s, "m", 2, 10), "another is taken");
    st = drain(s);
    ok(st.failures == 1 && st.misses == 1 && !st.entries, "and not written");
    spool_close(s, 0);
}

/* --- queues --------------------------------------------------------------- */

static void test_queue(void)
{
    const char *dir = tmpdir_path("queue");
    struct spool_config c = {dir, 1 << 20, 0, 3000, wake, NULL};
    struct spool_stats st;
    struct spool *s = NULL;
    size_t form = 192 + 64 + 1024;
    int taken = 0;

    if (spool_open(&s, &c, NULL))
        exit(1);
    for (int32_t i = 0; i < 50; i++) {
        taken += put(s, "m", i, 10);
        spool_stats(s, &st);
        if (st.queued_bytes > 3000 || st.queued_bytes % form)
            ok(0, "queued %d", (int)st.queued_bytes);
    }
    st = drain(s);
    ok(taken >= 2 && st.writes == (uint64_t)taken,
       "two wait, who comes in between is refused");
    spool_close(s, 0);
    c.queue_bytes = 1000;
    if (spool_open(&s, &c, NULL))
        exit(1);
    ok(!put(s, "n", 1, 10), "larger than the queue");
    spool_close(s, 0);
}

static void test_close(void)
{
    const char *dir = tmpdir_path("close");
    struct spool *s = open_at(dir, 1 << 20, 0);
    int taken = 0, there = 0;
    struct spool_key k;

    for (int32_t i = 0; i < 40; i++)
        taken += put(s, "m", i, 10);
    spool_close(s, WAIT_MS);
    is_int(files_in(dir), taken, "what waited is written");
    s = open_at(dir, 1 << 20, 0);
    for (int32_t i = 40; i < 80; i++)
        taken += put(s, "m", i, 10);
    k = key("m", 1, 10);
    (void)spool_get(s, &k, BLOB); /* never polled */
    spool_close(s, 0);
    s = open_at(dir, 1 << 20, 0);
    for (int32_t i = 0; i < 80; i++)
        there += get(s, "m", i, 10) == 1;
    ok(taken == 80 && there >= 40, "no time: none is half there");
    is_int(files_in(dir), there, "and nothing else");
    spool_close(s, 0);
}

static void test_forget(void)
{
    struct spool *s = open_at(tmpdir_path("forget"), 1 << 20, 0);
    struct spool_read *r[20];
    struct spool_key k;

    ok(put(s, "m", 1, 10), "one is written");
    drain(s);
    k = key("m", 1, 10);
    for (int i = 0; i < 20; i++)
        r[i] = spool_get(s, &k, BLOB);
    for (int i = 0; i < 20; i += 2)
        spool_forget(s, r[i]);
    is_int(get(s, "m", 1, 10), 1, "reads that nobody waits for");
    for (int i = 1; i < 20; i += 2)
        spool_forget(s, r[i]);
    spool_forget(s, NULL);
    is_int(get(s, "m", 1, 10), 1, "done or not");
    spool_close(s, 0);
}

/* --- parts ---------------------------------------------------------------- */

static void test_names(void)
{
    struct spool_digest d = {{0x0123456789abcdefu, 0xfedcba9876543210u}}, got;
    char name[SPOOL_NAME_BYTES];

    spool_name_write(&d, SPOOL_NAME_ENTRY, name);
    is_str(name, "0123456789abcdeffedcba9876543210.kv", "a name");
    ok(spool_name_parse(name, &got) == SPOOL_NAME_ENTRY &&
           got.v[0] == d.v[0] && got.v[1] == d.v[1],
       "read back");
    ok(!spool_name_parse("", &got) && !spool_name_parse("0123", &got) &&
           !spool_name_parse("0123456789abcdeffedcba9876543210", &got) &&
           !spool_name_parse("0123456789abcdeffedcba9876543210.kvx", &got) &&
           !spool_name_parse("0123456789ABCDEFfedcba9876543210.kv", &got),
       "others are others");
}

static void test_all_digests(void)
{
    struct spool_digest d[6], one;
    struct spool_key k = key("words", 3, 50);
    int good = 0;

    spool_digests_of(&k, 8, d);
    for (int32_t i = 0; i < 6; i++) {
        k.n = 8 * (i + 1);
        one = spool_digest_of(&k);
        good += !memcmp(&one, &d[i], sizeof(one));
    }
    is_int(good, 6, "digests of all heads are those of each");
}

static void test_digests(void)
{
    struct spool_digest seen[600];
    int same = 0, n = 0;

    for (int32_t first = 0; first < 2; first++)
        for (int32_t len = 1; len <= 300; len++) {
            struct spool_key k = key("m", first, len);

            if (first) { /* one changed unit */
                key("m", 0, 300);
                units[len - 1] ^= 1 << len % 31;
                k.n = 300;
            }
            seen[n++] = spool_digest_of(&k);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            same += seen[i].v[0] == seen[j].v[0] ||
                    seen[i].v[1] == seen[j].v[1];
    is_int(same, 0, "half a digest already tells 600 keys apart");
}

static void test_index(void)
{
    struct spool_index x;
    int bad = 0;

    spool_index_init(&x);
    for (uint64_t i = 0; i < 1000; i++) {
        int32_t e = spool_index_add(&x, &(struct spool_digest){{i * 7, i}});

        spool_index_put(&x, e, 10, (int64_t)i);
    }
    for (uint64_t i = 0; i < 1000; i++)
        bad += spool_index_find(&x, &(struct spool_digest){{i * 7, i}}) < 0;
    is_int(bad, 0, "a thousand found");
    ok(spool_index_find(&x, &(struct spool_digest){{7, 2}}) < 0, "no other");
    for (uint64_t i = 0; i < 1000; i += 2) {
        int32_t e = spool_index_find(&x, &(struct spool_digest){{i * 7, i}});

        spool_index_lose(&x, e);
        spool_index_drop(&x, e);
    }
    ok(x.there == 500 && x.n == 500 && x.bytes == 5000, "half are gone");
    for (uint64_t i = 1; i < 1000; i += 2)
        bad += x.e[x.oldest].used_s != (int64_t)i ||
               (spool_index_lose(&x, x.oldest), 0);
    ok(!bad && x.oldest == -1 && x.newest == -1 && !x.bytes,
       "the others in order");
    spool_index_release(&x);
}

/* So many signals; false: they do not come. */
static bool woken_by(int n)
{
    int64_t end = mono_ms() + 5000;
    int64_t left;
    bool all;

    pthread_mutex_lock(&mu);
    while (wakes < n && (left = end - mono_ms()) > 0)
        (void)cond_wait_ms(&woken, &mu, left);
    all = wakes == n;
    wakes = 0;
    pthread_mutex_unlock(&mu);
    return all;
}

static void test_wake(void)
{
    struct spool *s = open_at(tmpdir_path("wake"), 1 << 20, 0);
    struct spool_key k = key("m", 1, 10);
    struct spool_read *r;

    wakes = 0; /* nobody else is here */
    ok(put(s, "m", 1, 10) && woken_by(1), "a write that ended signals");
    r = spool_get(s, &k, BLOB);
    ok(r && woken_by(1), "a read too");
    spool_forget(s, r);
    spool_close(s, 0);
}

int main(void)
{
    cond_init_monotonic(&woken);
    tmpdir_make();
    test_names();
    test_digests();
    test_all_digests();
    test_index();
    test_round_trip();
    test_keys();
    test_thousand();
    test_flipped();
    test_lengths();
    test_same_digest();
    test_hostile();
    test_folder();
    test_cap();
    test_used();
    test_ttl();
    test_full_disk();
    test_no_permission();
    test_removed_folder();
    test_queue();
    test_close();
    test_forget();
    test_wake();
    tmpdir_remove();
    return done();
}
