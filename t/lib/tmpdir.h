/* t/lib/tmpdir.h - a folder of one test, removed with what it holds. */
#ifndef T_TMPDIR_H
#define T_TMPDIR_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tmpdir[] = "/tmp/penstock-t-XXXXXX";

static inline const char *tmpdir_make(void)
{
    if (!mkdtemp(tmpdir)) {
        perror("mkdtemp");
        exit(1);
    }
    return tmpdir;
}

/* `name` inside the folder; valid until the eighth call after this. */
static inline const char *tmpdir_path(const char *name)
{
    static char buf[8][512];
    static unsigned at;
    char *p = buf[at++ % 8];

    snprintf(p, sizeof(buf[0]), "%s/%s", tmpdir, name);
    return p;
}

static inline int tmpdir_unlink(const char *path, const struct stat *sb,
                                int type, struct FTW *at)
{
    (void)sb;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void tmpdir_remove(void)
{
    nftw(tmpdir, tmpdir_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
