#include "engine/packfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sum.h"
#include "base/thread.h"

#define FILE_VERSION 1u
#define NAME 64
#define LAYOUT 32
#define WAIT_STEP_US 50000
#define WAIT_STILL_MS 30000 /* a writer that does nothing for so long hangs */

struct head {
    char magic[8];
    uint32_t version, order; /* order: the number 1, as this machine has it */
    uint64_t items, data_bytes;
    struct packfile_source from;
    char layout[LAYOUT];
    uint64_t data_sum; /* of the data */
    uint64_t head_sum; /* of head and table, this field zero */
    uint64_t zero[2];
};
_Static_assert(sizeof(struct head) == 128, "the head is 128 bytes");

struct entry {
    char name[NAME];
    uint32_t type;
    int32_t rows, cols;
    uint32_t zero;
    uint64_t off, bytes;
};
_Static_assert(sizeof(struct entry) == 96, "an entry is 96 bytes");

/* --- the plan ------------------------------------------------------------- */

static bool round_up(size_t *v)
{
    if (!mem_add(v, *v, PACKFILE_ALIGN - 1))
        return false;
    *v &= ~(size_t)(PACKFILE_ALIGN - 1);
    return true;
}

static bool place(struct packfile *p, struct packfile_item *items, size_t n)
{
    if (!mem_mul(&p->head_bytes, n, sizeof(struct entry)) ||
        !mem_add(&p->head_bytes, p->head_bytes, sizeof(struct head)) ||
        !round_up(&p->head_bytes))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (items[i].name.n > NAME)
            return false;
        items[i].off = p->data_bytes;
        if (!mem_add(&p->data_bytes, p->data_bytes, items[i].bytes) ||
            !round_up(&p->data_bytes))
            return false;
    }
    return p->data_bytes <= (size_t)INT64_MAX - p->head_bytes;
}

enum st packfile_plan(struct packfile *p, const char *layout,
                      const struct packfile_source *from,
                      struct packfile_item *items, size_t n, struct err *e)
{
    struct head h = {"penspack", FILE_VERSION, 1, n, 0, *from, {0}, 0, 0, {0}};

    *p = (struct packfile){0};
    if (strlen(layout) >= LAYOUT || !place(p, items, n))
        return err_set(e, ST_LIMIT, "pack-cache",
                       "weights of this shape fit no cache file");
    p->head = mem_try(p->head_bytes);
    if (!p->head)
        return err_set(e, ST_NOMEM, "pack-cache", "no memory for its table");
    h.data_bytes = p->data_bytes;
    memcpy(h.layout, layout, strlen(layout));
    memcpy(p->head, &h, sizeof(h));
    for (size_t i = 0; i < n; i++) {
        struct entry t = {
            .type = items[i].type,
            .rows = items[i].rows,
            .cols = items[i].cols,
            .off = items[i].off,
            .bytes = items[i].bytes,
        };

        if (items[i].name.n)
            memcpy(t.name, items[i].name.s, items[i].name.n);
        memcpy(p->head + sizeof(h) + i * sizeof(t), &t, sizeof(t));
    }
    return ST_OK;
}

void packfile_release(struct packfile *p)
{
    free(p->head);
    *p = (struct packfile){0};
}

/* --- reading -------------------------------------------------------------- */

void packfile_unmap(struct packfile_map *m)
{
    if (m->map)
        munmap(m->map, m->bytes);
    *m = (struct packfile_map){0};
}

static enum st map_fd(const struct packfile *p, int fd, const char *path,
                      struct packfile_map *m, struct err *e)
{
    size_t bytes = p->head_bytes + p->data_bytes;
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        return err_set(e, ST_IO, path, "map %zu bytes: %s", bytes,
                       err_sys(errno));
    *m = (struct packfile_map){(uint8_t *)map + p->head_bytes, map, bytes};
    return ST_OK;
}

/* A file whose bytes may be looked at, as long as the planned one. */
static enum st check_file(const struct packfile *p, int fd, const char *path,
                          struct err *e)
{
    struct stat sb;

    if (fstat(fd, &sb) < 0)
        return err_set(e, ST_IO, path, "stat: %s", err_sys(errno));
    if (!S_ISREG(sb.st_mode))
        return err_set(e, ST_IO, path, "not a regular file");
    if ((sb.st_uid != geteuid() && sb.st_uid != 0) || (sb.st_mode & 022))
        return err_set(e, ST_IO, path, "others may write to it");
    if ((uint64_t)sb.st_size != p->head_bytes + p->data_bytes)
        return err_set(e, ST_FORMAT, path, "%lld bytes, expected %zu",
                       (long long)sb.st_size, p->head_bytes + p->data_bytes);
    return ST_OK;
}

/* `head` are head_bytes that anybody may have written. */
static enum st check_head(const struct packfile *p, const uint8_t *head,
                          const char *path, uint64_t *data_sum, struct err *e)
{
    uint8_t *copy = mem_try(p->head_bytes);
    struct head h, want;
    uint64_t head_sum;
    enum st st = ST_OK;

    if (!copy)
        return err_set(e, ST_NOMEM, path, "no memory for its table");
    memcpy(copy, head, p->head_bytes);
    memcpy(&h, copy, sizeof(h));
    memcpy(&want, p->head, sizeof(want));
    head_sum = h.head_sum;
    *data_sum = h.data_sum;
    h.head_sum = 0;
    memcpy(copy, &h, sizeof(h));
    if (memcmp(h.magic, want.magic, sizeof(h.magic)) ||
        h.version != want.version || h.order != want.order)
        st = err_set(e, ST_FORMAT, path, "not a file of this version");
    else if (sum64(copy, p->head_bytes) != head_sum)
        st = err_set(e, ST_FORMAT, path, "its head is damaged");
    else if (memcmp(h.layout, want.layout, sizeof(h.layout)))
        st = err_set(e, ST_FORMAT, path, "made for another layout");
    else if (memcmp(&h.from, &want.from, sizeof(h.from)))
        st = err_set(e, ST_FORMAT, path, "made of another file");
    h.data_sum = 0;
    memcpy(copy, &h, sizeof(h));
    if (!st && memcmp(copy, p->head, p->head_bytes))
        st = err_set(e, ST_FORMAT, path, "made of other weights");
    free(copy);
    return st;
}

static enum st check_data(const struct packfile *p,
                          const struct packfile_map *m, int threads,
                          uint64_t want, const char *path, struct err *e)
{
    uint64_t sum;

    if (!packfile_sum(m->data, p->data_bytes, threads, &sum))
        return err_set(e, ST_IO, path, "it cannot be read");
    if (sum != want)
        return err_set(e, ST_FORMAT, path, "its data is damaged");
    return ST_OK;
}

enum st packfile_open(const struct packfile *p, const char *path, int threads,
                      struct packfile_map *out, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint64_t sum = 0;
    enum st st;

    *out = (struct packfile_map){0};
    if (fd < 0)
        return err_set(e, ST_NOT_FOUND, path, "open: %s", err_sys(errno));
    st = check_file(p, fd, path, e);
    if (!st)
        st = map_fd(p, fd, path, out, e);
    close(fd);
    if (!st)
        st = check_head(p, out->map, path, &sum, e);
    if (!st)
        st = check_data(p, out, threads, sum, path, e);
    if (st)
        packfile_unmap(out);
    return st;
}

/* --- writing -------------------------------------------------------------- */

static enum st put(int fd, const char *path, const uint8_t *s, size_t n,
                   size_t at, struct err *e)
{
    while (n) {
        /* pieces: one call moves at most 2 GiB */
        size_t piece = n < (size_t)64 << 20 ? n : (size_t)64 << 20;
        ssize_t r = pwrite(fd, s, piece, (off_t)at);

        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return err_set(e, ST_IO, path, "write: %s",
                           err_sys(r ? errno : ENOSPC));
        s += r;
        at += (size_t)r;
        n -= (size_t)r;
    }
    return ST_OK;
}

static int64_t stamp_of(const struct stat *sb)
{
    return (int64_t)sb->st_mtim.tv_sec * 1000000000 + sb->st_mtim.tv_nsec;
}

enum lock { LOCK_MINE, LOCK_WAIT, LOCK_GONE, LOCK_NO };

/* One try. LOCK_GONE: the name means another file by now. */
static enum lock try_lock(const char *tmp, int *fd, struct stat *sb)
{
    struct stat there;

    *fd = open(tmp, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
               0600);
    if (*fd < 0)
        return LOCK_NO;
    if (fstat(*fd, sb) < 0)
        return LOCK_NO;
    if (!S_ISREG(sb->st_mode) || sb->st_uid != geteuid() ||
        sb->st_nlink > 1) {
        errno = EEXIST;
        return LOCK_NO;
    }
    if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? LOCK_WAIT : LOCK_NO;
    if (stat(tmp, &there) < 0 || there.st_ino != sb->st_ino ||
        there.st_dev != sb->st_dev)
        return LOCK_GONE;
    return LOCK_MINE;
}

/* *waited: another process was at it. */
static enum st lock_tmp(const char *tmp, int *fd, bool *waited, struct err *e)
{
    int64_t since = mono_ms(), last = 0;
    struct stat sb;

    *waited = false;
    for (;;) {
        enum lock got = try_lock(tmp, fd, &sb);
        int errnum = errno;

        if (got == LOCK_MINE)
            return ST_OK;
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        if (got == LOCK_NO)
            return err_set(e, ST_IO, tmp, "open: %s", err_sys(errnum));
        *waited = true;
        if (got == LOCK_WAIT && stamp_of(&sb) == last &&
            mono_ms() - since > WAIT_STILL_MS)
            return err_set(e, ST_BUSY, tmp, "another process holds it");
        if (stamp_of(&sb) != last)
            since = mono_ms();
        last = stamp_of(&sb);
        usleep(WAIT_STEP_US);
    }
}

static enum st put_data(const struct packfile *p,
                        const struct packfile_item *items, size_t n, int fd,
                        const char *tmp, packfile_fill *fill, void *arg,
                        struct err *e)
{
    size_t all = p->head_bytes + p->data_bytes;
    enum st st = ST_OK;

    if (ftruncate(fd, 0) < 0 || fchmod(fd, 0600) < 0 ||
        ftruncate(fd, (off_t)all) < 0)
        return err_set(e, ST_IO, tmp, "%zu bytes: %s", all, err_sys(errno));
    /* says at once what does not fit, where the file system can tell */
    if (fallocate(fd, 0, 0, (off_t)all) < 0 && errno != EOPNOTSUPP &&
        errno != EINTR && errno != ENOSYS)
        return err_set(e, ST_IO, tmp, "%zu bytes: %s", all, err_sys(errno));
    for (size_t i = 0; !st && i < n; i++) {
        const uint8_t *bytes;
        size_t at = p->head_bytes + items[i].off;

        st = fill(arg, i, &bytes, e);
        if (!st)
            st = put(fd, tmp, bytes, items[i].bytes, at, e);
        if (!st) /* let the disk begin: fsync has less to wait for */
            (void)sync_file_range(fd, (off_t)at, (off_t)items[i].bytes,
                                  SYNC_FILE_RANGE_WRITE);
    }
    return st;
}

/* Sums, then the head: a file without one is nothing. */
static enum st put_head(const struct packfile *p, int fd, const char *tmp,
                        int threads, const struct packfile_map *m,
                        struct err *e)
{
    uint8_t *head = mem_try(p->head_bytes);
    struct head h;
    enum st st = ST_OK;

    if (!head)
        return err_set(e, ST_NOMEM, tmp, "no memory for its table");
    memcpy(head, p->head, p->head_bytes);
    memcpy(&h, head, sizeof(h));
    if (!packfile_sum(m->data, p->data_bytes, threads, &h.data_sum))
        st = err_set(e, ST_IO, tmp, "it cannot be read");
    memcpy(head, &h, sizeof(h));
    h.head_sum = sum64(head, p->head_bytes);
    memcpy(head, &h, sizeof(h));
    if (!st)
        st = put(fd, tmp, head, p->head_bytes, 0, e);
    free(head);
    if (!st && fsync(fd) < 0)
        st = err_set(e, ST_IO, tmp, "fsync: %s", err_sys(errno));
    return st;
}

enum st packfile_make(const struct packfile *p,
                      const struct packfile_item *items, size_t n,
                      const char *path, int threads, packfile_fill *fill,
                      void *arg, struct packfile_map *out, struct err *e)
{
    char tmp[4096 + 8];
    bool waited;
    int fd = -1;
    enum st st;

    *out = (struct packfile_map){0};
    if ((size_t)snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= sizeof(tmp))
        return err_set(e, ST_IO, "pack-cache", "its path is too long");
    st = lock_tmp(tmp, &fd, &waited, e);
    if (st)
        return st;
    if (!waited || packfile_open(p, path, threads, out, NULL)) {
        st = put_data(p, items, n, fd, tmp, fill, arg, e);
        if (!st)
            st = map_fd(p, fd, tmp, out, e);
        if (!st)
            st = put_head(p, fd, tmp, threads, out, e);
        if (!st && rename(tmp, path) < 0)
            st = err_set(e, ST_IO, path, "rename: %s", err_sys(errno));
        if (st)
            packfile_unmap(out);
        if (st)
            unlink(tmp);
    } else {
        unlink(tmp);
    }
    close(fd);
    return st;
}
