#include "fcgi/listen.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SYSTEMD_FIRST_FD 3

/* --- inherited ----------------------------------------------------------- */

static bool is_listening(int fd)
{
    int on = 0;
    socklen_t n = sizeof(on);

    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 && on;
}

static int inherited_fd(void)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
    int64_t v;

    if (pid && fds && num_parse_i64(pid, strlen(pid), 1, INT32_MAX, &v) &&
        v == getpid() && num_parse_i64(fds, strlen(fds), 1, 1024, &v) &&
        is_listening(SYSTEMD_FIRST_FD))
        return SYSTEMD_FIRST_FD;
    return is_listening(0) ? 0 : -1;
}

static enum st set_flags(int fd, struct err *e)
{
    if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return err_set(e, ST_IO, "listen", "fcntl: %s", err_sys(errno));
    return ST_OK;
}

/* --- the lock ------------------------------------------------------------ */

static int64_t read_pid(int fd)
{
    char text[24];
    ssize_t n = pread(fd, text, sizeof(text), 0);
    int64_t pid = 0;

    while (n > 0 && text[n - 1] == '\n')
        n--;
    if (n <= 0 || !num_parse_i64(text, (size_t)n, 2, INT32_MAX, &pid))
        return 0;
    return pid;
}

static void write_pid(int fd)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) != n)
        return; /* the lock itself counts; the number is for people */
}

static enum st check_path(const char *path, struct err *e)
{
    size_t max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

    if (!path[0] || strlen(path) > max)
        return err_set(e, ST_USAGE, "socket",
                       "the path has %zu bytes; a Unix socket's may have at "
                       "most %zu: choose a shorter one",
                       strlen(path), max);
    return ST_OK;
}

/* The socket's group by name or number; -1 when none is set. */
static enum st group_id(const struct listen_config *c, gid_t *out,
                        struct err *e)
{
    char room[4096];
    struct group gr, *found = NULL;
    int64_t gid;

    *out = (gid_t)-1;
    if (!c->group || !c->group[0])
        return ST_OK;
    if (!num_parse_i64(c->group, strlen(c->group), 0, INT32_MAX, &gid)) {
        getgrnam_r(c->group, &gr, room, sizeof(room), &found);
        if (!found)
            return err_set(e, ST_USAGE, "socket-group",
                           "there is no group '%s'", c->group);
        gid = gr.gr_gid;
    }
    *out = (gid_t)gid;
    return ST_OK;
}

enum st listen_lock(struct listener *l, const struct listen_config *c,
                    struct err *e)
{
    char name[sizeof(l->path) + 8];
    gid_t gid;
    enum st st;

    *l = (struct listener){.fd = -1, .lock_fd = -1};
    if (inherited_fd() >= 0 || c->tcp)
        return ST_OK;
    st = check_path(c->path, e);
    if (!st)
        st = group_id(c, &gid, e); /* a typo is said before a model loads */
    if (st)
        return st;
    snprintf(name, sizeof(name), "%s.lock", c->path);
    l->lock_fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
                      0600);
    if (l->lock_fd < 0)
        return err_set(e, ST_IO, name, "cannot make the socket's lock%s: %s",
                       errno == ENOENT ? " (is there the folder?)" : "",
                       err_sys(errno));
    if (flock(l->lock_fd, LOCK_EX | LOCK_NB) == 0) {
        write_pid(l->lock_fd);
        return ST_OK;
    }
    l->before = (pid_t)read_pid(l->lock_fd);
    if (c->replace)
        return ST_OK;
    st = err_set(e, ST_BUSY, c->path,
                 "a running penstockd (pid %d) serves this socket; stop it, "
                 "choose another path, or take over with --replace on",
                 (int)l->before);
    close(l->lock_fd);
    l->lock_fd = -1;
    return st;
}

bool listen_relock(struct listener *l)
{
    if (!l->before || l->lock_fd < 0)
        return true;
    if (flock(l->lock_fd, LOCK_EX | LOCK_NB) < 0)
        return false;
    write_pid(l->lock_fd);
    l->before = 0;
    return true;
}

/* --- our own Unix socket ------------------------------------------------- */

static enum st set_owner(const char *name, const struct listen_config *c,
                         struct err *e)
{
    gid_t gid;
    enum st st;

    if (chmod(name, c->mode) < 0)
        return err_set(e, ST_IO, name, "chmod: %s", err_sys(errno));
    st = group_id(c, &gid, e);
    if (st || gid == (gid_t)-1)
        return st;
    if (chown(name, (uid_t)-1, gid) < 0)
        return err_set(e, ST_IO, "socket-group",
                       "chgrp to '%s': %s (this user must be a member)",
                       c->group, err_sys(errno));
    return ST_OK;
}

static enum st bind_unix(int fd, const char *name, struct err *e)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct stat sb;

    if (strlen(name) >= sizeof(sa.sun_path))
        return err_set(e, ST_USAGE, "socket",
                       "the path is too long by %zu bytes: choose a shorter "
                       "one",
                       strlen(name) - sizeof(sa.sun_path) + 1);
    memcpy(sa.sun_path, name, strlen(name) + 1);
    if (lstat(name, &sb) == 0 && S_ISSOCK(sb.st_mode))
        unlink(name); /* left by a process that had our number */
    if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
        return err_set(e, ST_IO, name, "bind: %s", err_sys(errno));
    return ST_OK;
}

static enum st open_unix(struct listener *l, const struct listen_config *c,
                         struct err *e)
{
    char name[sizeof(l->path) + 16];
    const char *slash;
    struct stat sb;
    enum st st;

    /* same folder, so that rename works, and rarely longer than the path */
    slash = strrchr(c->path, '/');
    snprintf(name, sizeof(name), "%.*s.%d",
             slash ? (int)(slash - c->path) + 1 : 0, c->path, (int)getpid());
    l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return err_set(e, ST_IO, "socket", "%s", err_sys(errno));
    st = bind_unix(l->fd, name, e);
    if (st)
        return st;
    st = set_owner(name, c, e);
    if (!st && (listen(l->fd, LISTEN_BACKLOG) < 0 || stat(name, &sb) < 0 ||
                rename(name, c->path) < 0))
        st = err_set(e, ST_IO, c->path, "%s", err_sys(errno));
    if (st) {
        unlink(name);
        return st;
    }
    l->own = true;
    l->dev = sb.st_dev;
    l->ino = sb.st_ino;
    snprintf(l->path, sizeof(l->path), "%s", c->path);
    snprintf(l->what, sizeof(l->what), "unix:%s", c->path);
    return ST_OK;
}

/* --- TCP ----------------------------------------------------------------- */

static bool is_loopback(const struct sockaddr *sa)
{
    if (sa->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)sa)->sin_addr.s_addr) >> 24 ==
               127;
    return sa->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

/* "[::1]:9000" or "127.0.0.1:9000" */
static enum st resolve(struct addrinfo **out, const char *tcp, struct err *e)
{
    const struct addrinfo want = {.ai_socktype = SOCK_STREAM,
                                  .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const char *colon = strrchr(tcp, ':');
    char host[256];
    size_t n = colon ? (size_t)(colon - tcp) : 0;
    int rc;

    if (!n || n >= sizeof(host))
        return err_set(e, ST_USAGE, "listen", "'%s' is not HOST:PORT", tcp);
    if (tcp[0] == '[' && tcp[n - 1] == ']') {
        tcp++;
        n -= 2;
    }
    memcpy(host, tcp, n);
    host[n] = '\0';
    rc = getaddrinfo(host, colon + 1, &want, out);
    return rc ? err_set(e, ST_USAGE, "listen", "%s: %s", host,
                        gai_strerror(rc))
              : ST_OK;
}

static enum st open_tcp(struct listener *l, const char *tcp, struct err *e)
{
    struct addrinfo *ai = NULL;
    enum st st = resolve(&ai, tcp, e);
    int on = 1;

    if (st)
        return st;
    l->fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->fd < 0 ||
        setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        bind(l->fd, ai->ai_addr, ai->ai_addrlen) < 0 ||
        listen(l->fd, LISTEN_BACKLOG) < 0)
        st = err_set(e, ST_IO, tcp, "listen: %s", err_sys(errno));
    l->is_public = !is_loopback(ai->ai_addr);
    snprintf(l->what, sizeof(l->what), "tcp:%s", tcp);
    freeaddrinfo(ai);
    return st;
}

/* --- both ---------------------------------------------------------------- */

enum st listen_open(struct listener *l, const struct listen_config *c,
                    struct err *e)
{
    int fd = inherited_fd();
    enum st st = ST_OK;

    if (fd >= 0) {
        l->fd = fd;
        snprintf(l->what, sizeof(l->what), "inherited descriptor %d", fd);
    } else {
        st = c->tcp ? open_tcp(l, c->tcp, e) : open_unix(l, c, e);
    }
    return st ? st : set_flags(l->fd, e);
}

void listen_unlink(struct listener *l)
{
    struct stat sb;

    if (l->own && stat(l->path, &sb) == 0 && sb.st_dev == l->dev &&
        sb.st_ino == l->ino)
        unlink(l->path);
    l->own = false;
}

void listen_close(struct listener *l)
{
    listen_unlink(l);
    if (l->fd >= 0)
        close(l->fd);
    if (l->lock_fd >= 0)
        close(l->lock_fd);
    l->fd = l->lock_fd = -1;
}
