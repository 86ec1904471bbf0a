/*
 * engine/packplace.h - where the cache file of a model may lie, and what it
 * is called there. packs.h has the rules.
 */
#ifndef ENGINE_PACKPLACE_H
#define ENGINE_PACKPLACE_H

#include "base/mem.h"

#define PACKPLACE_FOLDER "/var/cache/penstock"
#define PACKPLACE_MAX 2

struct packplace {
    char path[PACKPLACE_MAX][4096]; /* best first */
    size_t n;
    bool named; /* the setting names the place: say why it is of no use */
};

/*
 *   setting  "off", "beside" or a folder; NULL or "auto": found out
 *   large    is a file worth it?
 */
void packplace_find(struct packplace *p, const char *model, const char *layout,
                    const char *setting, bool large);
/* Can a file be made at this path, as far as permissions say? */
bool packplace_writable(const char *path);
/* Remove files beside `path` that are of the same model and another version
 * of the layout ("rows16-1": what comes after the last '-'). */
void packplace_clean(const char *path, const char *layout);

#endif
