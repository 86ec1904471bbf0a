#include "engine/packplace.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#define NAME_BYTES 160 /* of the model's name: 255 hold all of the file's */
#define SUFFIX ".pack"

static uint32_t hash(const char *s)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 0x100000001b3u;
    return (uint32_t)(h ^ h >> 32);
}

enum kind { BESIDE, TOGETHER /* with models of other folders */ };

static void add(struct packplace *p, enum kind kind, const char *folder,
                const char *model, const char *layout)
{
    const char *slash = strrchr(model, '/'), *name = slash ? slash + 1 : model;
    char real[PATH_MAX], which[16] = "";
    char *to = p->path[p->n];
    size_t room = sizeof(p->path[p->n]);
    int n;

    if (kind == TOGETHER)
        snprintf(which, sizeof(which), "-%08x",
                 hash(realpath(model, real) ? real : model));
    n = snprintf(to, room, "%s/%.*s%s.%s" SUFFIX, folder, NAME_BYTES, name,
                 which, layout);
    if (n > 0 && (size_t)n < room)
        p->n++;
}

static void add_beside(struct packplace *p, const char *model,
                       const char *layout)
{
    const char *slash = strrchr(model, '/');
    char *folder = slash ? mem_dup_n(model, (size_t)(slash - model))
                         : mem_dup(".");

    add(p, BESIDE, slash == model ? "/" : folder, model, layout);
    free(folder);
}

void packplace_find(struct packplace *p, const char *model, const char *layout,
                    const char *setting, bool large)
{
    if (setting && !strcmp(setting, "auto"))
        setting = NULL;
    p->n = 0;
    p->named = setting != NULL;
    if (setting && !strcmp(setting, "off"))
        return;
    if (setting && !strcmp(setting, "beside")) {
        add_beside(p, model, layout);
    } else if (setting) {
        add(p, TOGETHER, setting, model, layout);
    } else if (large) {
        add(p, TOGETHER, PACKPLACE_FOLDER, model, layout);
        add_beside(p, model, layout);
    }
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    BUG_ON(!slash);
    return slash == path ? mem_dup("/")
                         : mem_dup_n(path, (size_t)(slash - path));
}

bool packplace_writable(const char *path)
{
    char *folder = folder_of(path);
    bool can = !faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS);

    free(folder);
    return can;
}

static bool starts(const char *s, const char *with, size_t n)
{
    return strlen(s) > n && !memcmp(s, with, n);
}

void packplace_clean(const char *path, const char *layout)
{
    const char *dash = strrchr(layout, '-'), *own = strrchr(path, '/') + 1;
    size_t n = strlen(own) - strlen(SUFFIX);
    char *folder = folder_of(path);
    DIR *d = opendir(folder);
    struct dirent *f;

    /* up to the '-' that comes before the version, which is kept */
    n -= dash ? strlen(dash + 1) : 0;
    while (d && dash && (f = readdir(d))) {
        const char *version = f->d_name + n;

        if (!starts(f->d_name, own, n) ||
            !strncmp(f->d_name, own, strlen(own)))
            continue;
        version += strspn(version, "0123456789");
        if (!strcmp(version, SUFFIX) || !strcmp(version, SUFFIX ".tmp"))
            (void)unlinkat(dirfd(d), f->d_name, 0);
    }
    if (d)
        closedir(d);
    free(folder);
}
