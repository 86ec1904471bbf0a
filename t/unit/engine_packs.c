/*
 * Packed weights and their cache file: what is found, what is made, and what
 * damage, other files, full disks and killed processes do to it. The backend
 * here packs by turning bits; the right bytes are those of the model file.
 */
#include "engine/packs.h"
#include "t/lib/tap.h"
#include "t/lib/tmpdir.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MODEL "contrib/demo-model/tiny-random-llama.gguf"
#define TURN 0x5a

/* What a backend was asked for; shared with children. */
static struct seen {
    atomic_int packed;
    int kill_at, slow_us;
} *seen;

static size_t turned_bytes(struct kern *k, enum kern_type t, int32_t rows,
                           int32_t cols)
{
    int32_t elems, bytes;

    (void)k;
    if (!kern_type_block(t, &elems, &bytes))
        exit(1);
    return (size_t)rows * (size_t)(cols / elems) * (size_t)bytes;
}

static void turn(struct kern *k, void *dst, const void *src, enum kern_type t,
                 int32_t rows, int32_t cols)
{
    const uint8_t *s = src;
    uint8_t *d = dst;
    size_t n = turned_bytes(k, t, rows, cols);

    for (size_t i = 0; i < n; i++)
        d[i] = s[i] ^ TURN;
    if (atomic_fetch_add(&seen->packed, 1) + 1 == seen->kill_at)
        raise(SIGKILL);
    if (seen->slow_us)
        usleep((useconds_t)seen->slow_us);
}

static const struct kern_ops ops = {.pack_bytes = turned_bytes, .pack = turn};

static struct heard {
    int mapped, bad, start, made, none;
    char path[512], why[256];
} heard;

static void tell(void *arg, const struct packs_note *n)
{
    (void)arg;
    heard.mapped += n->event == PACKS_MAPPED;
    heard.bad += n->event == PACKS_BAD;
    heard.start += n->event == PACKS_START;
    heard.made += n->event == PACKS_MADE;
    heard.none += n->event == PACKS_NONE;
    if (n->path)
        snprintf(heard.path, sizeof(heard.path), "%s", n->path);
    if (n->why)
        snprintf(heard.why, sizeof(heard.why), "%s", n->why);
}

/* One start: -1 when a byte is wrong, else how many matrices were packed. */
static int start(const char *model, const char *cache, const char *layout)
{
    struct kern k = {.ops = &ops, .layout = layout};
    const struct packs_config c = {
        .repack = true, .cache = cache, .threads = 3, .tell = tell};
    struct packs_want want[64];
    int before = atomic_load(&seen->packed), good = 1;
    struct packs *p;
    struct gguf *g;
    struct err e;
    size_t n = 0;

    heard = (struct heard){0};
    if (gguf_open(&g, model, &e)) {
        printf("# %s: %s\n", e.where, e.text);
        return -1;
    }
    for (size_t i = 0; i < gguf_tensor_count(g); i++) {
        const struct gguf_tensor *t = gguf_tensor_at(g, i);

        if (t->n_dims == 2 && n < 64)
            want[n++] = (struct packs_want){t, (int32_t)t->dims[1],
                                            (int32_t)t->dims[0]};
    }
    if (packs_open(&p, want, n, g, &k, &c, &e)) {
        printf("# %s: %s\n", e.where, e.text);
        gguf_close(g);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        const uint8_t *at = packs_at(p, i, &bytes), *s = want[i].t->data;

        good &= bytes == want[i].t->bytes;
        for (size_t b = 0; b < bytes && good; b++)
            good &= at[b] == (s[b] ^ TURN);
    }
    packs_close(p);
    gguf_close(g);
    return good ? atomic_load(&seen->packed) - before : -1;
}

static char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *p = malloc(8 << 20);

    *n = f && p ? fread(p, 1, 8 << 20, f) : 0;
    if (f)
        fclose(f);
    return p;
}

static void spew(const char *path, const char *s, size_t n)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(s, 1, n, f) != n || fclose(f)) {
        printf("Bail out! %s\n", path);
        exit(1);
    }
}

static int files(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n - 2;
}

static const char *model, *cache; /* the model's copy, a folder */
static char file[512];            /* the cache file */

/* The file was changed: is that seen, and is the next one whole? */
static bool mended(const char *what, bool told)
{
    int first = start(model, cache, "rows16-1"), bad = heard.bad, second;

    second = start(model, cache, "rows16-1");
    if (first > 0 && bad == told && second == 0 && heard.mapped)
        return true;
    printf("# %s: packed %d, said %d, then packed %d\n", what, first, bad,
           second);
    return false;
}

static void first_and_second(void)
{
    struct stat sb;

    ok(start(model, cache, "rows16-1") > 0 && heard.made && !heard.bad,
       "the first start packs");
    snprintf(file, sizeof(file), "%s", heard.path);
    ok(!stat(file, &sb) && (sb.st_mode & 07777) == 0600,
       "into a file that is its user's alone");
    ok(files(cache) == 1, "and leaves nothing else");
    ok(start(model, cache, "rows16-1") == 0 && heard.mapped && !heard.start,
       "the second maps it");
}

static void damage(void)
{
    size_t n, bad = 0;
    char *s = slurp(file, &n);

    for (size_t i = 0; i < 128 + 2 * 96; i++) {
        s[i] ^= 1 << (i & 7);
        spew(file, s, n);
        chmod(file, 0600);
        bad += !mended("a head", true);
        s[i] ^= 1 << (i & 7);
    }
    ok(!bad, "any changed byte of the head is found and mended");
    free(s);
    s = slurp(file, &n);
    bad = 0;
    for (size_t i = 0; i < 16; i++) {
        size_t at = 4096 + (n - 4097) / 15 * i;

        s[at] ^= 0x80;
        spew(file, s, n);
        chmod(file, 0600);
        bad += !mended("data", true);
        s[at] ^= 0x80;
    }
    ok(!bad, "so is one of the data");
    free(s);
    s = slurp(file, &n);
    spew(file, s, n - 1);
    ok(mended("short", true), "a file that is a byte short");
    spew(file, s, 4096);
    ok(mended("cut", true), "one that is cut after its table");
    spew(file, s, 0);
    ok(mended("empty", true), "an empty one");
    s = realloc(s, n + 4096);
    memset(s + n, 0, 4096);
    spew(file, s, n + 4096);
    ok(mended("long", true), "one that is longer");
    chmod(file, 0666);
    ok(mended("mode", true), "one that others may write to");
    free(s);
}

static void other_models(void)
{
    struct timespec times[2];
    struct stat sb;
    size_t n;
    char *s = slurp(model, &n);

    stat(model, &sb);
    times[0] = sb.st_atim;
    times[1] = sb.st_mtim;
    s[n - 100] ^= 1;
    spew(tmpdir_path("new.gguf"), s, n);
    utimensat(AT_FDCWD, tmpdir_path("new.gguf"), times, 0);
    rename(tmpdir_path("new.gguf"), model);
    ok(mended("replaced", true), "a model that another one of its size and "
                                 "time has replaced");
    s[n - 200] ^= 1;
    usleep(20000); /* the kernel's clock of files has ticks */
    spew(model, s, n);
    utimensat(AT_FDCWD, model, times, 0);
    ok(mended("rewritten", true), "one that was written into, its time kept");
    free(s);
}

static void layouts(void)
{
    char kept[600];

    snprintf(kept, sizeof(kept), "%.*srows16-0.kept",
             (int)(strstr(file, "rows16-1") - file), file);
    spew(kept, "", 0);
    ok(start(model, cache, "rows16-2") > 0 && files(cache) == 2 &&
           access(file, F_OK),
       "another version of the layout replaces the file");
    ok(!unlink(kept), "and no other of such a name");
    ok(start(model, cache, "tiles-1") > 0 && files(cache) == 2,
       "another layout has its own");
    ok(start(model, cache, "rows16-2") == 0 && start(model, cache,
                                                     "tiles-1") == 0,
       "and both are found");
    ok(start(model, cache, "rows16-1") > 0 && files(cache) == 2,
       "back again");
}

static void other_folder(void)
{
    const char *folder = tmpdir_path("sub"), *twin = tmpdir_path("sub/m.gguf");
    char made[512];
    size_t n;
    char *s = slurp(model, &n);

    mkdir(folder, 0700);
    spew(twin, s, n);
    free(s);
    ok(start(twin, cache, "rows16-1") > 0 && heard.made,
       "a model of this name in another folder packs, too");
    snprintf(made, sizeof(made), "%s", heard.path);
    ok(files(cache) == 3 && start(model, cache, "rows16-1") == 0,
       "into a file of its own");
    unlink(made);
    unlink(twin);
    rmdir(folder);
}

/* Run fn in a process of its own; its exit status, or 128 + its signal. */
static int child(int (*fn)(void))
{
    int status = 0;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (!pid)
        _exit(fn());
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int no_room(void)
{
    const struct rlimit r = {20000, 20000};

    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &r);
    return start(model, cache, "full-1") > 0 && heard.none == 1 &&
                   strstr(heard.why, "large")
               ? 0
               : 1;
}

/* The model's folder, as somebody who may only read it. */
static int read_only(void)
{
    chmod(tmpdir, 0555);
    if (!geteuid() && (setgid(65534) || setuid(65534)))
        return 1;
    return start(model, "beside", "rows16-1") > 0 && heard.none == 1 ? 0 : 1;
}

static int killed(void)
{
    seen->kill_at = atomic_load(&seen->packed) + 3;
    return start(model, cache, "killed-1");
}

static void places(void)
{
    char at[600];

    ok(start(model, "off", "rows16-1") > 0 && !heard.bad && !heard.none,
       "off: into memory");
    ok(start(model, "auto", "rows16-1") > 0 && files(tmpdir) == 2,
       "a small model by itself, too");
    ok(start(model, "beside", "rows16-1") > 0 &&
           !access(tmpdir_path("m.gguf.rows16-1.pack"), F_OK),
       "beside the model, when asked for");
    ok(start(model, "beside", "rows16-1") == 0, "and found there");
    unlink(tmpdir_path("m.gguf.rows16-1.pack"));
    ok(start(model, tmpdir_path("nowhere"), "rows16-1") > 0 &&
           heard.none == 1 && !strncmp(heard.path, tmpdir, strlen(tmpdir)),
       "a folder that is not there is told; memory serves");
    chmod(tmpdir_path("m.gguf"), 0644);
    ok(!child(read_only), "so does it in a folder that is read-only");
    chmod(tmpdir, 0700);
    ok(!child(no_room) && files(cache) == 2, "a full disk leaves nothing");
    ok(child(killed) == 128 + SIGKILL, "a process is killed while it writes");
    snprintf(at, sizeof(at), "%.*skilled-1.pack",
             (int)(strstr(file, "rows16-1") - file), file);
    ok(access(at, F_OK) && files(cache) == 3, "the file has no name yet");
    seen->kill_at = 0;
    ok(start(model, cache, "killed-1") > 0 && files(cache) == 3 &&
           !access(at, F_OK),
       "the next start takes over what is left");
    ok(start(model, cache, "killed-1") == 0, "and the file is whole");
}

static int same_time(void)
{
    return start(model, cache, "twice-1") < 0;
}

static void together(void)
{
    int before, all, status = 0, bad = 0;

    all = start(model, "off", "twice-1");
    before = atomic_load(&seen->packed);
    seen->slow_us = 20000;
    fflush(NULL);
    for (int i = 0; i < 3; i++)
        if (!fork())
            _exit(same_time());
    for (int i = 0; i < 3; i++) {
        wait(&status);
        bad += status != 0;
    }
    seen->slow_us = 0;
    ok(!bad, "three processes start at once");
    ok(atomic_load(&seen->packed) - before == all, "one of them packs");
    ok(files(cache) == 4, "nothing is left over");
}

int main(void)
{
    char *s;
    size_t n;

    seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    tmpdir_make();
    model = strdup(tmpdir_path("m.gguf"));
    cache = strdup(tmpdir_path("cache"));
    mkdir(cache, 0700);
    s = slurp(MODEL, &n);
    spew(model, s, n);
    free(s);
    first_and_second();
    damage();
    other_models();
    layouts();
    other_folder();
    places();
    together();
    free((char *)(uintptr_t)model);
    free((char *)(uintptr_t)cache);
    tmpdir_remove();
    return done();
}
