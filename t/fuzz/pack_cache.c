/*
 * Cache files of packed weights: of the bytes given, the one that is whole
 * and the planned one is mapped, anything else is refused. The first byte says
 * which plan; the rest is the file. Seeds: t/fuzz/seeds/pack_cache, written
 * by packfile_make for plan 0, and damaged.
 */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/packfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static volatile unsigned seen; /* so that no read is optimised away */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct packfile_item item[] = {
        {.name = {"a", 1}, .type = 8, .rows = 16, .cols = 32, .bytes = 544},
        {.name = {"b", 1}, .type = 0, .rows = 16, .cols = 1, .bytes = 64},
    };
    const struct packfile_source from = {1, 2, 3, 4};
    struct packfile_map map;
    struct packfile plan;
    char path[32];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || !n)
        return 0;
    item[1].cols += data[0];
    item[1].bytes *= (size_t)item[1].cols;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (!fchmod(fd, 0600) && write(fd, data + 1, n - 1) == (ssize_t)n - 1 &&
        !packfile_plan(&plan, "rows16-1", &from, item, 2, NULL)) {
        if (!packfile_open(&plan, path, 1, &map, NULL)) {
            BUG_ON(n - 1 != plan.head_bytes + plan.data_bytes);
            for (size_t i = 0; i < 2; i++)
                seen += map.data[item[i].off] +
                        map.data[item[i].off + item[i].bytes - 1];
            packfile_unmap(&map);
        }
        packfile_release(&plan);
    }
    close(fd);
    return 0;
}
