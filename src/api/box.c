#include "api/box.h"

#include "base/buf.h"
#include "base/num.h"

#include <unistd.h>

#define PROC_MAX 16384

/* The first number behind `key` in a file of /proc; -1: none. */
static int64_t number_in(const char *path, const char *key)
{
    struct buf b;
    const char *p;
    int64_t v = -1;

    buf_init(&b, PROC_MAX);
    if (!buf_read_file(&b, path, NULL) && b.p) {
        p = strstr(b.p, key);
        if (p) {
            p += strlen(key);
            p += strspn(p, " ");
            if (!num_parse_i64(p, strspn(p, "0123456789"), 0, INT64_MAX, &v))
                v = -1;
        }
    }
    buf_release(&b);
    return v;
}

void box_look(struct box *b)
{
    int64_t kib = number_in("/proc/meminfo", "MemAvailable:");
    int64_t pages = number_in("/proc/self/statm", " ");

    b->available = kib < 0 || kib > INT64_MAX / 1024 ? -1 : kib * 1024;
    b->resident = pages < 0 ? -1 : pages * (int64_t)sysconf(_SC_PAGESIZE);
}
