/*
 * The accounts, and what the system allows.
 *
 * Forms of the system's files: proc(5) (meminfo, mountinfo, statm),
 * cgroups(7), and the kernel's Documentation/admin-guide/cgroup-v1/memory.rst
 * and cgroup-v2.rst.
 */
#include "gen/memory.h"

#include "t/lib/tap.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* --- a folder that looks like a system ----------------------------------- */
static char root[] = "/tmp/penstock-memory-XXXXXX";
static char made[64][512]; /* to be removed again */
static int n_made;

static void note(const char *path)
{
    if (n_made < 64)
        snprintf(made[n_made++], sizeof(made[0]), "%s", path);
}

static void put_n(const char *name, const char *text, size_t n)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof(path), "%s%s", root, name);
    for (char *p = path + strlen(root) + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            if (mkdir(path, 0700) == 0)
                note(path);
            *p = '/';
        }
    if (access(path, F_OK) != 0)
        note(path);
    f = fopen(path, "w");
    if (f) {
        fwrite(text, 1, n, f);
        fclose(f);
    }
}

static void put(const char *name, const char *text)
{
    put_n(name, text, strlen(text));
}

static void clear(void)
{
    while (n_made)
        (void)remove(made[--n_made]);
}

#define MEMINFO                                                                \
    "MemTotal:        8000000 kB\nMemFree:          100000 kB\n"               \
    "MemAvailable:     200000 kB\n"
#define MACHINE ((size_t)8000000 << 10)
#define V1_MOUNT                                                               \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"               \
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"     \
    "35 31 0:32 / /cg/memory rw,relatime shared:9 - cgroup cgroup "            \
    "rw,memory\n"
#define V2_MOUNT                                                               \
    "41 31 0:38 / /cg/two rw,nosuid shared:4 master:2 - cgroup2 cgroup2 rw\n"
#define V1_NONE "9223372036854771712\n"

static void no_cgroup(void)
{
    is_int(memory_limit_in(root), 0, "without files nothing is known");
    put("/proc/meminfo", MEMINFO);
    is_int(memory_limit_in(root), MACHINE, "the machine's memory");
    put("/proc/self/cgroup", "0::/\n");
    is_int(memory_limit_in(root), MACHINE, "no mounts: the machine's");
    put("/proc/meminfo", "MemTotal: 8000000\n");
    is_int(memory_limit_in(root), 0, "a number without its unit is none");
    put("/proc/meminfo", "MemTotal: 99999999999999999999999 kB\n");
    is_int(memory_limit_in(root), 0, "nor one that no word holds");
    put("/proc/meminfo", "");
    is_int(memory_limit_in(root), 0, "nor an empty file");
    clear();
}

static void version_1(void)
{
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/mountinfo", V1_MOUNT);
    put("/proc/self/cgroup", "5:cpu,cpuacct:/\n4:memory:/a/b\n0::/\n");
    put("/cg/memory/memory.limit_in_bytes", V1_NONE);
    put("/cg/memory/a/memory.limit_in_bytes", V1_NONE);
    put("/cg/memory/a/b/memory.limit_in_bytes", V1_NONE);
    is_int(memory_limit_in(root), MACHINE, "v1: the largest number is none");
    put("/cg/memory/a/b/memory.limit_in_bytes", "2147483648\n");
    is_int(memory_limit_in(root), 2048 * MIB, "v1: its own limit");
    put("/cg/memory/a/memory.limit_in_bytes", "1073741824\n");
    is_int(memory_limit_in(root), 1024 * MIB, "v1: one above that is less");
    put("/cg/memory/memory.limit_in_bytes", "536870912\n");
    is_int(memory_limit_in(root), 512 * MIB, "v1: the mounted folder's too");
    put("/cg/memory.limit_in_bytes", "1048576\n");
    is_int(memory_limit_in(root), 512 * MIB, "v1: and nothing above it");
    put("/proc/self/cgroup", "4:hugetlb,memory:/a/b\n");
    is_int(memory_limit_in(root), 512 * MIB, "v1: beside other controllers");
    put("/proc/self/cgroup", "4:memoryx:/a/b\n");
    is_int(memory_limit_in(root), MACHINE, "v1: by its whole name");
    put("/cg/memory/memory.limit_in_bytes", V1_NONE);
    put("/proc/self/mountinfo",
        "35 31 0:32 /a /cg/memory/a ro - cgroup cgroup rw,memory\n");
    put("/proc/self/cgroup", "4:memory:/a/b\n");
    is_int(memory_limit_in(root), 1024 * MIB,
           "v1: a container's mount begins at its own cgroup");
    put("/proc/self/cgroup", "4:memory:/elsewhere/b\n");
    is_int(memory_limit_in(root), 1024 * MIB,
           "v1: a cgroup that is not below it: the mounted one");
    put("/proc/self/cgroup", "4:memory:/aa\n");
    is_int(memory_limit_in(root), 1024 * MIB, "v1: names are compared whole");
    clear();
}

static void version_2(void)
{
    put("/proc/meminfo", MEMINFO);
    put("/proc/self/mountinfo", V1_MOUNT V2_MOUNT);
    put("/proc/self/cgroup", "0::/user.slice/x.scope\n");
    is_int(memory_limit_in(root), MACHINE, "v2: no files, no limit");
    put("/cg/two/user.slice/x.scope/memory.max", "max\n");
    is_int(memory_limit_in(root), MACHINE, "v2: max is none");
    put("/cg/two/user.slice/memory.max", "3221225472\n");
    is_int(memory_limit_in(root), 3072 * MIB, "v2: the one above");
    put("/cg/two/user.slice/x.scope/memory.high", "1073741824\n");
    is_int(memory_limit_in(root), 1024 * MIB, "v2: high slows down already");
    put("/cg/two/user.slice/x.scope/memory.max", "734003200\n");
    is_int(memory_limit_in(root), 700 * MIB, "v2: its own limit");
    put("/proc/meminfo", "MemTotal: 1024 kB\n");
    is_int(memory_limit_in(root), MIB, "a machine with less than that");
    put("/proc/meminfo", "");
    is_int(memory_limit_in(root), 700 * MIB, "or one that does not say");
    put("/proc/self/cgroup", "0::/../../x\n");
    is_int(memory_limit_in(root), 0, "v2: a way up leads nowhere");
    put("/cg/two/memory.max", "104857600\n");
    is_int(memory_limit_in(root), 100 * MIB, "v2: but to the mounted folder");
    put("/proc/self/cgroup", "4:memory:/none\n0::/user.slice/x.scope\n");
    is_int(memory_limit_in(root), 100 * MIB, "both versions at once");
    put("/c g/memory.max", "52428800\n");
    put("/proc/self/mountinfo",
        "41 31 0:38 / /c\\040g rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/");
    is_int(memory_limit_in(root), 50 * MIB, "a name with a space, no newline");
    clear();
}

static void hostile(void)
{
    static const char *const numbers[] = {
        "", "\n", "-1\n", "0\n", "0x10\n", "12 34\n", " 12\n", "max",
        "18446744073709551615\n", "99999999999999999999999999\n", "1e9\n",
    };
    static const char *const mounts[] = {
        "", "\n\n\n", "-", "- - - - - - - - -\n", "1 2 3 / /cg/two rw\n",
        "1 2 3 / /cg/two rw -\n", "1 2 3 / /cg/two rw - cgroup2\n\n1",
        "1 2 3 /\\777 /cg/two rw - cgroup2 x rw\n",
        "1 2 3 / /cg/\\zzz rw - cgroup2 x rw\n",
        "1 2 3 /  rw - cgroup2 x rw\n", "1 2 3 / \\ rw - cgroup2 x rw\n",
        "1 2 3 / \\000 rw - cgroup2 x rw\n",
    };
    static const char *const groups[] = {
        "", ":", "::", "0:", "0::", "0::\n", ":::::\n0", "0::x", "memory",
        "4:memory", "4:memory:", "0::/..", "0::////", "4:,,,memory,:/",
    };
    static char big[40000];
    int bad = 0, runs = 0;

    put("/proc/meminfo", MEMINFO);
    put("/proc/self/cgroup", "0::/\n");
    put("/proc/self/mountinfo", V2_MOUNT);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        put("/cg/two/memory.max", numbers[i]);
        bad += memory_limit_in(root) != MACHINE;
        runs++;
    }
    put_n("/cg/two/memory.max", "5\0\n", 3);
    bad += memory_limit_in(root) != MACHINE;
    put("/cg/two/memory.max", "max\n");
    for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
        put("/proc/self/mountinfo", mounts[i]);
        bad += memory_limit_in(root) != MACHINE;
        runs++;
    }
    put("/proc/self/mountinfo", V1_MOUNT V2_MOUNT);
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        put("/proc/self/cgroup", groups[i]);
        bad += memory_limit_in(root) != MACHINE;
        runs++;
    }
    memset(big, 'a', sizeof(big) - 1);
    memcpy(big, "0::/", 4);
    put("/proc/self/cgroup", big);
    bad += memory_limit_in(root) != MACHINE;
    memset(big + 4, '/', sizeof(big) - 5);
    put("/proc/self/cgroup", big);
    bad += memory_limit_in(root) != MACHINE;
    for (size_t i = 4; i + 1 < sizeof(big); i += 2)
        big[i] = 'b';
    big[4000] = 0;
    put("/proc/self/cgroup", big);
    bad += memory_limit_in(root) != MACHINE;
    put("/proc/self/mountinfo", big);
    bad += memory_limit_in(root) != MACHINE;
    is_int(bad, 0, "%d broken files say nothing", runs + 5);
    clear();
}

/* --- accounts ------------------------------------------------------------ */
static void limits(void)
{
    struct memory m;
    struct err e = {0};
    size_t here = memory_limit_here();

    ok(here > 0 && here < (size_t)1 << 60, "this system has a limit");
    is_int(memory_init(&m, 0, 0, 5, NULL), ST_OK, "all by themselves");
    is_int(m.peak, here - here / 10, "nine tenths are the peak");
    is_int(m.ceiling, m.peak - m.peak / 10, "nine tenths of it the ceiling");
    is_int(m.slack, 5, "the slack is what was said");
    is_int(memory_init(&m, 300 * MIB, 200 * MIB, 0, &e), ST_INVALID,
           "a ceiling over the peak is refused");
    is_str(e.where, "mem-ceiling", "by its name");
    is_str(e.text, "300 MiB is over mem-peak, which is 200 MiB", "in figures");
    is_int(memory_init(&m, 100 * MIB, 200 * MIB, 0, NULL), ST_OK, "both");
    is_int(m.ceiling, 100 * MIB, "as said");
    is_int(memory_held(&m), 0, "nothing is held");
}

static void counts(void)
{
    char words[200], few[12];
    struct memory m;

    is_int(memory_init(&m, 0, 512 * MIB, 0, NULL), ST_OK, "512 MiB");
    memory_words(&m, words, sizeof(words));
    is_str(words, "peak 512 MiB: nothing held", "empty accounts in words");
    memory_set(&m, MEM_WEIGHTS, 200 * MIB);
    memory_set(&m, MEM_KV, 250 * MIB - 1);
    is_int(memory_held(&m), 450 * MIB - 1, "the sum of all classes");
    memory_words(&m, words, sizeof(words));
    is_str(words, "peak 512 MiB: weights 200, kv 250", "in words");
    memory_words(&m, few, sizeof(few));
    is_str(few, "peak 512 Mi", "as many as fit");
    ok(memory_reserve(&m, 62 * MIB + 1), "up to the peak");
    is_int(memory_held(&m), 512 * MIB, "is held");
    is_int(memory_take_wanted(&m), 0, "nobody wants more");
    ok(!memory_reserve(&m, 7), "and not a byte more");
    ok(!memory_reserve(&m, 1), "nor one");
    is_int(memory_take_wanted(&m), 7, "the largest of them is wanted");
    is_int(memory_take_wanted(&m), 0, "once");
    ok(!memory_reserve(&m, SIZE_MAX), "nor all bytes there are");
    ok(memory_reserve(&m, 0), "nothing always fits");
    memory_unreserve(&m, 62 * MIB + 1);
    is_int(memory_held(&m), 450 * MIB - 1, "given back");
    memory_set(&m, MEM_KV, SIZE_MAX);
    is_int(memory_held(&m), SIZE_MAX, "a sum stays a number");
    ok(!memory_reserve(&m, 0), "over the peak nothing is");
    memory_set(&m, MEM_KV, 0);
    memory_set(&m, MEM_WEIGHTS, 0);
    memory_sample(&m);
    ok(memory_held(&m) > 100 << 10, "this program is resident");
    memory_set(&m, MEM_KV, (size_t)1 << 50);
    memory_sample(&m);
    is_int(memory_held(&m), ((size_t)1 << 50) + m.base + MEMORY_GROWTH,
           "others are not below what was there first");
    ok(m.base > 100 << 10, "which is this program");
    is_str(mem_class_name(MEM_SPOOL), "spool", "a class has a name");
    is_str(mem_class_name(MEM_OTHER), "other", "the last one too");
}

/* --- many at once -------------------------------------------------------- */
static struct memory shared;
static _Atomic int over;

static void *reserve(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        if (!memory_reserve(&shared, 30))
            continue;
        if (memory_held(&shared) > 100)
            over++;
        memory_unreserve(&shared, 30);
    }
    return arg;
}

static void together(void)
{
    pthread_t th[4];
    int n = 0;

    is_int(memory_init(&shared, 0, 100, 0, NULL), ST_OK, "a hundred bytes");
    for (; n < 4; n++)
        if (pthread_create(&th[n], NULL, reserve, NULL))
            break;
    while (n)
        pthread_join(th[--n], NULL);
    is_int(over, 0, "four threads never pass the peak");
    is_int(memory_held(&shared), 0, "and give everything back");
}

static void loaded(void)
{
    struct memory m;
    struct err e;
    bool given_up;

    is_int(memory_init(&m, 0, 4 * MIB, 0, NULL), ST_OK, "a peak of 4 MiB");
    memory_set(&m, MEM_WEIGHTS, 8 * MIB);
    is_int(memory_loaded(&m, &given_up, &e), ST_INVALID, "is too little");
    ok(strcmp(e.where, "mem-peak") == 0 && strstr(e.text, "4 MiB leave no"),
       "and the figures say so: %s", e.text);
    is_int(memory_init(&m, 0, 0, 0, NULL), ST_OK, "by itself");
    is_int(memory_loaded(&m, &given_up, &e), ST_OK, "there is room");
    ok(!given_up, "and a limit");
    memory_set(&m, MEM_WEIGHTS, m.peak);
    is_int(memory_loaded(&m, &given_up, &e), ST_OK, "a model over it is served");
    ok(given_up && memory_reserve(&m, MIB), "without a limit");
}

int main(void)
{
    if (!mkdtemp(root))
        skip_all("no folder in /tmp");
    no_cgroup();
    version_1();
    version_2();
    hostile();
    (void)remove(root);
    ok(access(root, F_OK) != 0, "the folder is gone");
    limits();
    counts();
    together();
    loaded();
    return done();
}
