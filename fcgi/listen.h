/*
 * fcgi/listen.h - where requests come in: our own socket or an inherited one.
 *
 * Order: systemd's LISTEN_FDS (first descriptor), else descriptor 0 when it
 * is a listening socket (spawn-fcgi, mod_fcgid), else TCP `listen`, else the
 * Unix socket at `path`.
 *
 * Our own Unix socket is bound under a temporary name, given its mode and
 * group, put to listen, and only then renamed to its path: whoever finds the
 * path can connect. PATH.lock, held with flock as long as the process lives,
 * makes a second live copy refuse; a stale socket file is simply replaced.
 */
#ifndef FCGI_LISTEN_H
#define FCGI_LISTEN_H

#include "base/err.h"
#include <sys/types.h>

#define LISTEN_BACKLOG 4096 /* the kernel cuts it to net.core.somaxconn */

struct listen_config {
    const char *path;       /* Unix socket */
    const char *tcp;        /* HOST:PORT, NULL: none */
    unsigned mode;          /* of the socket file */
    const char *group;      /* its group, NULL: the process's */
    bool replace;           /* take over from a running copy */
};

struct listener {
    int fd;                 /* non-blocking; -1: none */
    int lock_fd;            /* -1: none */
    bool own;               /* a Unix socket of ours: unlink at the end */
    bool is_public;         /* TCP, and not a loopback address */
    dev_t dev;
    ino_t ino;
    char path[108];
    char what[160];         /* for the start line */
    pid_t before;           /* whom we replace: SIGTERM when we serve; 0 */
};

/* Take the lock (own Unix socket only): first thing of a start, so that a
 * second copy touches nothing. ST_BUSY names the running process. */
enum st listen_lock(struct listener *l, const struct listen_config *c,
                    struct err *e) MUST_CHECK;
/* Bind and listen: last thing of a start. */
enum st listen_open(struct listener *l, const struct listen_config *c,
                    struct err *e) MUST_CHECK;
/* With `replace`: take the lock once its holder has gone; false: not yet. */
bool listen_relock(struct listener *l);
/* Unlink the path if it is still ours. */
void listen_unlink(struct listener *l);
void listen_close(struct listener *l);

#endif
