#include "db/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder part of a path; "." when it has none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_dup(".");
    if (slash == path)
        return mem_dup("/");
    return mem_dup_n(path, (size_t)(slash - path));
}

/* As root: hand `fd` to the owner of `folder`. */
static enum st give_to_owner(int fd, const char *path, const char *folder,
                             struct err *e)
{
    struct stat sb;

    if (geteuid() != 0)
        return ST_OK;
    if (stat(folder, &sb) < 0)
        return err_set(e, ST_IO, folder, "stat: %s", err_sys(errno));
    if (sb.st_uid == 0)
        return ST_OK;
    if (fchown(fd, sb.st_uid, sb.st_gid) < 0)
        return err_set(e, ST_IO, path, "cannot give it to the owner of %s: %s",
                       folder, err_sys(errno));
    return ST_OK;
}

static enum st create_folder(const char *folder, struct err *e)
{
    char *parent;
    enum st st;
    int fd;

    if (mkdir(folder, 0700) < 0) {
        if (errno == EEXIST)
            return ST_OK;
        return err_set(e, ST_IO, folder, "cannot create the folder: %s",
                       err_sys(errno));
    }
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, ST_IO, folder, "open: %s", err_sys(errno));
    parent = folder_of(folder);
    st = give_to_owner(fd, folder, parent, e);
    free(parent);
    close(fd);
    return st;
}

enum st db_file_check(const char *path, struct err *e)
{
    struct stat sb;

    if (stat(path, &sb) < 0) {
        if (lstat(path, &sb) == 0)
            return err_set(e, ST_IO, path,
                           "a symbolic link that leads to no file");
        return ST_OK; /* it is made, or what is wrong is said later */
    }
    if (S_ISREG(sb.st_mode))
        return ST_OK;
    return err_set(e, ST_IO, path, "%s, not a database file",
                   S_ISDIR(sb.st_mode) ? "a folder" : "a special file");
}

enum st db_file_create(const char *path, struct err *e)
{
    char *folder = folder_of(path);
    enum st st = create_folder(folder, e);
    int fd;

    if (!st) {
        /* O_EXCL: never a file that somebody else put (or linked) there. */
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0) {
            st = give_to_owner(fd, path, folder, e);
            close(fd);
        } else if (errno != EEXIST) {
            st = err_set(e, ST_IO, path, "cannot create the database: %s",
                         err_sys(errno));
        }
    }
    free(folder);
    return st;
}

int64_t db_file_wal_bytes(const char *path)
{
    char wal[PATH_MAX];
    struct stat sb;
    int n = snprintf(wal, sizeof(wal), "%s-wal", path);

    if (n < 0 || (size_t)n >= sizeof(wal) || stat(wal, &sb) < 0)
        return 0;
    return (int64_t)sb.st_size;
}
