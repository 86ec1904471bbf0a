#include "kv/spool_disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "kv/spool_index.h"

#define BLOCK 4096u
#define PIECE ((size_t)1 << 20)
#define NS 1000000000
#define READ_FLAGS (O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)

/* --- the folder ----------------------------------------------------------- */

enum st spool_disk_open(const char *dir, int *fd, struct err *e)
{
    struct stat sb;
    enum st st = ST_OK;

    *fd = -1;
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return err_set(e, ST_IO, dir, "the spool folder cannot be made: %s",
                       err_sys(errno));
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return err_set(e, ST_IO, dir, "open: %s", err_sys(errno));
    if (fstat(*fd, &sb) < 0)
        st = err_set(e, ST_IO, dir, "stat: %s", err_sys(errno));
    else if (sb.st_uid != geteuid())
        st = err_set(e, ST_IO, dir, "the spool folder is another user's");
    else if (sb.st_mode & 077)
        st = err_set(e, ST_IO, dir,
                     "others may enter the spool folder: its mode must be "
                     "0700");
    if (st) {
        close(*fd);
        *fd = -1;
    }
    return st;
}

bool spool_disk_lost(int dir)
{
    struct stat sb;

    return fstat(dir, &sb) < 0 || !sb.st_nlink;
}

uint64_t spool_disk_bytes(uint64_t n)
{
    return (n + BLOCK - 1) / BLOCK * BLOCK;
}

bool spool_disk_remove(int dir, const struct spool_digest *d)
{
    char name[SPOOL_NAME_BYTES];

    spool_name_write(d, SPOOL_NAME_ENTRY, name);
    return unlinkat(dir, name, 0) == 0 || errno == ENOENT;
}

void spool_disk_stamp(int dir, const struct spool_digest *d, int64_t used_s,
                      long order)
{
    const struct timespec t[2] = {
        {.tv_nsec = UTIME_OMIT},
        {.tv_sec = (time_t)used_s, .tv_nsec = order % NS},
    };
    char name[SPOOL_NAME_BYTES];

    spool_name_write(d, SPOOL_NAME_ENTRY, name);
    (void)utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW);
}

/* --- what is there -------------------------------------------------------- */

struct found {
    struct spool_found *f;
    size_t n, room;
    int64_t now_ns;
    bool ok;
};

static bool room_for_one(struct found *all)
{
    size_t room = all->room ? 2 * all->room : 256;
    struct spool_found *f;

    if (all->n < all->room)
        return true;
    f = mem_try_array(room, sizeof(*f));
    if (!f)
        return false;
    if (all->n)
        memcpy(f, all->f, all->n * sizeof(*f));
    free(all->f);
    all->f = f;
    all->room = room;
    return true;
}

static void look_at(int dir, const char *name, struct found *all)
{
    struct spool_digest d;
    enum spool_name kind = spool_name_parse(name, &d);
    struct stat sb;
    int64_t used;

    if (kind == SPOOL_NAME_OTHER)
        return;
    if (fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW) < 0) {
        all->ok &= errno == ENOENT;
        return;
    }
    if (!S_ISREG(sb.st_mode) || sb.st_uid != geteuid())
        return;
    if (kind == SPOOL_NAME_TMP) {
        all->ok &= unlinkat(dir, name, 0) == 0 || errno == ENOENT;
        return;
    }
    used = (int64_t)sb.st_mtim.tv_sec * NS + sb.st_mtim.tv_nsec;
    if (used > all->now_ns) {
        /* it would stay until that day: its age begins now */
        all->ok &= utimensat(dir, name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
        used = all->now_ns;
    }
    if (!room_for_one(all)) {
        all->ok = false;
        return;
    }
    all->f[all->n++] = (struct spool_found){
        d, spool_disk_bytes((uint64_t)sb.st_size), used};
}

static int by_use(const void *a, const void *b)
{
    const struct spool_found *x = a, *y = b;

    return (x->used_ns > y->used_ns) - (x->used_ns < y->used_ns);
}

bool spool_disk_scan(int dir, struct spool_found **out, size_t *n)
{
    struct found all = {.ok = true};
    /* of its own: a stream takes the descriptor over */
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    all.now_ns = (int64_t)now.tv_sec * NS + now.tv_nsec;
    if (!d) {
        if (fd >= 0)
            close(fd);
        all.ok = false;
    }
    for (;;) {
        errno = 0;
        entry = d ? readdir(d) : NULL;
        if (!entry)
            break;
        look_at(dir, entry->d_name, &all);
    }
    if (d) {
        all.ok &= !errno;
        closedir(d);
    }
    if (all.n)
        qsort(all.f, all.n, sizeof(*all.f), by_use);
    if (all.n > SPOOL_ENTRIES) {
        size_t more = all.n - SPOOL_ENTRIES;

        for (size_t i = 0; i < more; i++)
            all.ok &= spool_disk_remove(dir, &all.f[i].d);
        memmove(all.f, all.f + more, SPOOL_ENTRIES * sizeof(*all.f));
        all.n = SPOOL_ENTRIES;
    }
    *out = all.f;
    *n = all.n;
    return all.ok;
}

/* --- reading -------------------------------------------------------------- */

static enum spool_got get(int fd, uint8_t *s, size_t n, size_t at)
{
    while (n) {
        size_t piece = n < PIECE ? n : PIECE;
        ssize_t r = pread(fd, s, piece, (off_t)at);

        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return SPOOL_BROKEN;
        if (!r) /* shorter than it was just now */
            return SPOOL_BAD;
        s += r;
        at += (size_t)r;
        n -= (size_t)r;
    }
    return SPOOL_GOT;
}

static enum spool_got open_entry(int dir, const struct spool_form *f,
                                 const struct spool_digest *d, int *fd)
{
    char name[SPOOL_NAME_BYTES];
    struct stat sb;

    spool_name_write(d, SPOOL_NAME_ENTRY, name);
    *fd = openat(dir, name, READ_FLAGS);
    if (*fd < 0 && errno == ENOENT)
        return SPOOL_GONE;
    if (*fd < 0) /* a link, a socket; or the system */
        return errno == ELOOP || errno == ENXIO ? SPOOL_BAD : SPOOL_FAILED;
    if (fstat(*fd, &sb) < 0)
        return SPOOL_FAILED;
    if (!S_ISREG(sb.st_mode) || sb.st_uid != geteuid() ||
        (uint64_t)sb.st_size != f->file_n)
        return SPOOL_BAD;
    return SPOOL_GOT;
}

enum spool_got spool_disk_read(int dir, const struct spool_form *f,
                               const struct spool_digest *d, void **blob)
{
    uint8_t *head = mem_try(f->head_n), *bytes = mem_try(f->blob_padded);
    enum spool_got got = SPOOL_FAILED;
    int fd = -1;

    *blob = NULL;
    if (head && bytes)
        got = open_entry(dir, f, d, &fd);
    if (got == SPOOL_GOT)
        got = get(fd, head, f->head_n, 0);
    if (got == SPOOL_GOT)
        got = get(fd, bytes, f->blob_padded, f->head_n);
    if (got == SPOOL_GOT && !spool_form_is(f, head, bytes))
        got = SPOOL_BAD;
    if (got == SPOOL_GOT) {
        (void)futimens(fd, NULL); /* ages by its last write where it must */
        *blob = bytes;
        bytes = NULL;
    }
    if (fd >= 0)
        close(fd);
    free(head);
    free(bytes);
    return got;
}

/* --- writing -------------------------------------------------------------- */

static int open_tmp(int dir, const char *tmp)
{
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, tmp, flags, 0600);

    if (fd < 0 && errno == EEXIST && unlinkat(dir, tmp, 0) == 0)
        fd = openat(dir, tmp, flags, 0600);
    return fd;
}

static enum spool_put put(int fd, const uint8_t *s, size_t n,
                          bool (*stop)(void *), void *arg)
{
    while (n) {
        ssize_t r;

        if (stop(arg))
            return SPOOL_STOPPED;
        r = write(fd, s, n < PIECE ? n : PIECE);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            return SPOOL_NO_DISK;
        s += r;
        n -= (size_t)r;
    }
    return SPOOL_PUT;
}

enum spool_put spool_disk_write(int dir, const struct spool_form *f,
                                const struct spool_digest *d,
                                const uint8_t *blob, bool (*stop)(void *),
                                void *arg)
{
    static const uint8_t zeros[SPOOL_ALIGN];
    char tmp[SPOOL_NAME_BYTES], name[SPOOL_NAME_BYTES];
    enum spool_put st;
    int fd;

    spool_name_write(d, SPOOL_NAME_TMP, tmp);
    spool_name_write(d, SPOOL_NAME_ENTRY, name);
    fd = open_tmp(dir, tmp);
    if (fd < 0)
        return SPOOL_NO_DISK;
    st = put(fd, f->head, f->head_n, stop, arg);
    if (st == SPOOL_PUT)
        st = put(fd, blob, f->blob_n, stop, arg);
    if (st == SPOOL_PUT)
        st = put(fd, zeros, f->blob_padded - f->blob_n, stop, arg);
    /* some file systems say only here that they are full */
    if (close(fd) < 0 && st == SPOOL_PUT)
        st = SPOOL_NO_DISK;
    if (st == SPOOL_PUT && renameat(dir, tmp, dir, name) < 0)
        st = SPOOL_UNNAMED;
    if (st != SPOOL_PUT)
        (void)unlinkat(dir, tmp, 0);
    return st;
}
