#include "gen/memory.h"

#include "base/buf.h"
#include "base/num.h"

#include <unistd.h>

/* Limits from here on mean that there is none: version 1 writes the largest
 * number of pages that a word holds. */
#define NO_LIMIT ((size_t)1 << 60)
#define SYSTEM_FILE ((size_t)4 << 20)
#define PATH_CAP 4096
#define DEPTH_MAX 256 /* folders between a cgroup and its root */
#define MIB ((size_t)1 << 20)

/* --- the system's files: text that may be anything ----------------------- */
static bool read_at(struct buf *b, const char *root, const char *path)
{
    char full[PATH_CAP];
    int n = snprintf(full, sizeof(full), "%s%s", root, path);

    buf_init(b, SYSTEM_FILE);
    return n > 0 && (size_t)n < sizeof(full) && !buf_read_file(b, full, NULL);
}

/* The next line of what is left, without its end. */
static bool line_of(struct span *left, struct span *line)
{
    const char *end;

    if (!left->n)
        return false;
    end = memchr(left->s, '\n', left->n);
    line->s = left->s;
    line->n = end ? (size_t)(end - left->s) : left->n;
    left->s += line->n + (end ? 1 : 0);
    left->n -= line->n + (end ? 1 : 0);
    return true;
}

/* The next word before `stop`, or all that is left. */
static struct span word_of(struct span *left, char stop)
{
    struct span w = {left->s, 0};
    const char *end = left->n ? memchr(left->s, stop, left->n) : NULL;

    w.n = end ? (size_t)(end - left->s) : left->n;
    left->s += w.n + (end ? 1 : 0);
    left->n -= w.n + (end ? 1 : 0);
    return w;
}

static bool in_list(struct span list, const char *name)
{
    while (list.n)
        if (span_is(word_of(&list, ','), name))
            return true;
    return false;
}

/* A path of mountinfo, where \ooo is a byte (proc(5)). False: too long, or
 * with a NUL. */
static bool unescape(struct span in, char out[PATH_CAP])
{
    size_t n = 0;

    for (size_t i = 0; i < in.n; i++) {
        unsigned c = (unsigned char)in.s[i];

        if (c == '\\' && in.n - i > 3) {
            c = 0;
            for (int k = 1; k <= 3; k++)
                c = c * 8 + ((unsigned)(unsigned char)in.s[i + k] - '0');
            i += 3;
        }
        if (!c || c > 255 || n == PATH_CAP - 1)
            return false;
        out[n++] = (char)c;
    }
    out[n] = 0;
    return n > 0;
}

static size_t least(size_t a, size_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

/* --- this machine -------------------------------------------------------- */
static size_t machine_bytes(const char *root)
{
    struct span left, line;
    struct buf b;
    size_t bytes = 0;

    if (read_at(&b, root, "/proc/meminfo"))
        for (left = (struct span){b.p, b.n}; line_of(&left, &line);) {
            struct span unit = line, key = word_of(&unit, ':'), number;
            uint64_t kib;

            if (!span_is(key, "MemTotal"))
                continue;
            while (unit.n && unit.s[0] == ' ')
                (void)word_of(&unit, ' ');
            number = word_of(&unit, ' ');
            if (span_is(unit, "kB") &&
                num_parse_u64(number.s, number.n, NO_LIMIT >> 10, &kib))
                bytes = (size_t)kib << 10;
            break;
        }
    buf_release(&b);
    return bytes;
}

/* --- this process's cgroup ----------------------------------------------- */
enum version { V1, V2 };

/* 0: none, or not readable */
static size_t limit_file(const char *root, const char *dir, const char *name)
{
    char path[PATH_CAP];
    struct span s;
    struct buf b;
    uint64_t v = 0;
    size_t limit = 0;
    int n = snprintf(path, sizeof(path), "%s/%s", dir, name);

    if (n < 0 || (size_t)n >= sizeof(path))
        return 0;
    if (read_at(&b, root, path)) {
        s = (struct span){b.p, b.n};
        s = word_of(&s, '\n');
        if (num_parse_u64(s.s, s.n, NO_LIMIT - 1, &v))
            limit = (size_t)v;
    }
    buf_release(&b);
    return limit;
}

/* The least limit from `dir` up to the folder with `top` bytes of it. */
static size_t limit_up(const char *root, char *dir, size_t top, enum version v)
{
    size_t limit = 0;

    for (int i = 0; i < DEPTH_MAX; i++) {
        char *slash;

        if (v == V1) {
            limit = least(limit,
                          limit_file(root, dir, "memory.limit_in_bytes"));
        } else {
            limit = least(limit, limit_file(root, dir, "memory.max"));
            /* over this one the system slows us down and takes back */
            limit = least(limit, limit_file(root, dir, "memory.high"));
        }
        slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < top)
            break;
        *slash = 0;
    }
    return limit;
}

/* Does a path go up? Such a cgroup lies outside of what we can see. */
static bool goes_up(struct span path)
{
    while (path.n)
        if (span_is(word_of(&path, '/'), ".."))
            return true;
    return false;
}

/* path: of the cgroup; base: which cgroup is mounted at `at`. */
static size_t limit_below(const char *root, const char *at, const char *base,
                          struct span path, enum version v)
{
    char dir[PATH_CAP];
    size_t n = strcmp(base, "/") == 0 ? 0 : strlen(base), top = strlen(at);
    int len;

    /* another namespace's view: the mounted folder is all we have */
    if (path.n < n || memcmp(path.s, base, n) != 0 ||
        (path.n > n && path.s[n] != '/') || goes_up(path))
        path.n = n = 0;
    path.s += n;
    path.n -= n;
    while (path.n && path.s[path.n - 1] == '/')
        path.n--;
    if (path.n > PATH_CAP || memchr(path.s, 0, path.n))
        return 0;
    len = snprintf(dir, sizeof(dir), "%s%.*s", at, (int)path.n, path.s);
    if (len < 0 || (size_t)len >= sizeof(dir))
        return 0;
    return limit_up(root, dir, top, v);
}

/* One line of mountinfo: a place of cgroups of this version? */
static bool cgroup_mount(struct span line, enum version v, char at[PATH_CAP],
                         char base[PATH_CAP])
{
    struct span w, from, to;

    for (int i = 0; i < 3; i++)
        (void)word_of(&line, ' ');
    from = word_of(&line, ' ');
    to = word_of(&line, ' ');
    do {
        if (!line.n)
            return false;
        w = word_of(&line, ' ');
    } while (!span_is(w, "-"));
    w = word_of(&line, ' ');
    if (!span_is(w, v == V1 ? "cgroup" : "cgroup2"))
        return false;
    (void)word_of(&line, ' ');
    if (v == V1 && !in_list(line, "memory"))
        return false;
    return unescape(from, base) && unescape(to, at);
}

static size_t limit_of(const char *root, struct span mounts, struct span path,
                       enum version v)
{
    char at[PATH_CAP], base[PATH_CAP];
    size_t limit = 0;
    struct span line;

    while (line_of(&mounts, &line))
        if (cgroup_mount(line, v, at, base))
            limit = least(limit, limit_below(root, at, base, path, v));
    return limit;
}

static size_t cgroup_bytes(const char *root)
{
    struct buf own, mounts;
    struct span left, line;
    size_t limit = 0;
    bool got = read_at(&own, root, "/proc/self/cgroup");

    got = read_at(&mounts, root, "/proc/self/mountinfo") && got;
    left = (struct span){own.p, got ? own.n : 0};
    while (line_of(&left, &line)) {
        struct span m = {mounts.p, mounts.n}, id = word_of(&line, ':');
        struct span list = word_of(&line, ':');

        if (span_is(id, "0") && !list.n)
            limit = least(limit, limit_of(root, m, line, V2));
        else if (in_list(list, "memory"))
            limit = least(limit, limit_of(root, m, line, V1));
    }
    buf_release(&own);
    buf_release(&mounts);
    return limit;
}

size_t memory_limit_in(const char *root)
{
    return least(machine_bytes(root), cgroup_bytes(root));
}

size_t memory_limit_here(void)
{
    return memory_limit_in("");
}

/* --- the accounts -------------------------------------------------------- */

/* Bytes of this process in memory; 0: not known. */
static size_t resident(void)
{
    long page = sysconf(_SC_PAGESIZE);
    struct span left, number;
    struct buf b;
    uint64_t pages;
    size_t bytes = 0;

    if (read_at(&b, "", "/proc/self/statm")) {
        left = (struct span){b.p, b.n};
        (void)word_of(&left, ' ');
        number = word_of(&left, ' ');
        if (page <= 0 ||
            !num_parse_u64(number.s, number.n, SIZE_MAX, &pages) ||
            !mem_mul(&bytes, (size_t)pages, (size_t)page))
            bytes = 0;
    }
    buf_release(&b);
    return bytes;
}

static size_t nine_tenths(size_t n)
{
    return n - n / 10;
}

enum st memory_init(struct memory *m, size_t ceiling, size_t peak,
                    size_t slack, struct err *e)
{
    bool chosen = peak != 0;

    memset(m, 0, sizeof(*m));
    if (!chosen) {
        size_t here = memory_limit_here();

        peak = here ? nine_tenths(here) : NO_LIMIT;
    }
    if (ceiling > peak)
        return err_set(e, ST_INVALID, "mem-ceiling",
                       "%zu MiB is over mem-peak, which is %zu MiB",
                       ceiling / MIB, peak / MIB);
    m->peak = peak;
    m->chosen = chosen;
    m->ceiling = ceiling ? ceiling : nine_tenths(peak);
    m->slack = slack;
    m->base = resident();
    return ST_OK;
}

enum st memory_loaded(struct memory *m, bool *given_up, struct err *e)
{
    size_t held;

    *given_up = false;
    memory_sample(m);
    held = memory_held(m);
    if (held < m->peak)
        return ST_OK;
    if (m->chosen)
        return err_set(e, ST_INVALID, "mem-peak",
                       "%zu MiB leave no room for requests; %zu MiB are held "
                       "once the model is loaded",
                       m->peak / MIB, held / MIB + 1);
    m->peak = m->ceiling = NO_LIMIT;
    *given_up = true;
    return ST_OK;
}

const char *mem_class_name(enum mem_class c)
{
    static const char *const names[MEM_CLASSES] = {
        [MEM_WEIGHTS] = "weights",     [MEM_KV] = "kv",
        [MEM_PREFIX] = "prefix",       [MEM_STATE] = "state",
        [MEM_FREE] = "free",           [MEM_WORKSPACE] = "workspace",
        [MEM_REQUESTS] = "requests",   [MEM_SPOOL] = "spool",
        [MEM_VISION] = "vision",       [MEM_EXPERTS] = "experts",
        [MEM_OTHER] = "other",
    };

    BUG_ON((unsigned)c >= MEM_CLASSES);
    return names[c];
}

static size_t load(const struct memory *m, int c)
{
    return atomic_load_explicit(&m->bytes[c], memory_order_relaxed);
}

static size_t held_but(const struct memory *m, int but)
{
    size_t sum = 0;

    for (int c = 0; c < MEM_CLASSES; c++)
        if (c != but && !mem_add(&sum, sum, load(m, c)))
            return SIZE_MAX;
    return sum;
}

void memory_set(struct memory *m, enum mem_class c, size_t bytes)
{
    atomic_store_explicit(&m->bytes[c], bytes, memory_order_relaxed);
}

size_t memory_held(const struct memory *m)
{
    return held_but(m, MEM_CLASSES);
}

static void want(struct memory *m, size_t bytes)
{
    size_t was = atomic_load_explicit(&m->wanted, memory_order_relaxed);

    while (was < bytes &&
           !atomic_compare_exchange_weak_explicit(&m->wanted, &was, bytes,
                                                  memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

size_t memory_take_wanted(struct memory *m)
{
    return atomic_exchange_explicit(&m->wanted, 0, memory_order_relaxed);
}

/* Two that reserve at once meet in the exchange, so that they never pass the
 * peak together. */
bool memory_reserve(struct memory *m, size_t bytes)
{
    size_t was = load(m, MEM_REQUESTS), sum;

    do {
        if (!mem_add(&sum, held_but(m, MEM_REQUESTS), was) ||
            !mem_add(&sum, sum, bytes) || sum > m->peak) {
            want(m, bytes);
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(
        &m->bytes[MEM_REQUESTS], &was, was + bytes, memory_order_relaxed,
        memory_order_relaxed));
    return true;
}

void memory_unreserve(struct memory *m, size_t bytes)
{
    size_t was = atomic_fetch_sub_explicit(&m->bytes[MEM_REQUESTS], bytes,
                                           memory_order_relaxed);

    BUG_ON(was < bytes);
}

void memory_sample(struct memory *m)
{
    size_t others = held_but(m, MEM_OTHER), here = resident();

    if (!here)
        return;
    here = here > others ? here - others : 0;
    here = here > m->base ? here : m->base;
    memory_set(m, MEM_OTHER, here + MEMORY_GROWTH);
}

static size_t mib(size_t bytes)
{
    return bytes / MIB + (bytes % MIB != 0);
}

void memory_words(const struct memory *m, char *out, size_t cap)
{
    const char *comma = "";
    struct buf b;

    buf_init(&b, BUF_MESSAGE);
    buf_printf(&b, "peak %zu MiB:", m->peak / MIB);
    for (int c = 0; c < MEM_CLASSES; c++)
        if (load(m, c)) {
            buf_printf(&b, "%s %s %zu", comma, mem_class_name(c),
                       mib(load(m, c)));
            comma = ",";
        }
    if (!*comma)
        buf_puts(&b, " nothing held");
    snprintf(out, cap, "%s", b.p ? b.p : "");
    buf_release(&b);
}
