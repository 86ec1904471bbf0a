/*
 * The disk tier under the engine (engine/sched_spool.c): a second engine
 * finds what the first one computed, says the same bits, and believes
 * nothing that is not whole or not of its model.
 */
#include "t/lib/jobs.h"
#include "t/lib/said.h"

#include "base/thread.h"
#include "t/lib/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { CONTEXT = 512, PAGE = KV_PAGE, PROMPT = 300 };

static char dir[] = "/tmp/engine_spool_XXXXXX";
static const struct gguf *file;

static struct gen *open_engine(const char *spool, enum kern_type kv_type,
                               size_t kv_bytes)
{
    struct engine_config c;

    engine_config_default(&c);
    c.parallel = 4;
    c.context = CONTEXT;
    c.chunk = 32;
    c.kv_type = kv_type;
    c.kv_bytes = kv_bytes;
    c.threads = 1;
    c.spool_dir = spool;
    c.spool_bytes = (uint64_t)64 << 20;
    return demo_engine(file, &c);
}

static struct job *job_of(int kind, size_t n)
{
    int32_t ids[CONTEXT];
    struct job *j;

    for (size_t i = 0; i < n; i++)
        ids[i] = (int32_t)((i * i * 5 + i * 31 + (size_t)kind * 17 + 1) % 256);
    j = job_new(ids, n, NULL, 0, ANSWER, TOP);
    BUG_ON(!j);
    return j;
}

static struct gen_cache cache_of(struct gen *g)
{
    struct gen_state st;

    g->ops->state(g, &st);
    return st.cache;
}

static void pause_ms(long ms)
{
    const struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

/* Idle, the engine writes and says so at its next turn. */
static bool entries(struct gen *g, uint64_t n)
{
    for (int i = 0; i < 400; i++) {
        if (cache_of(g).disk_entries >= n)
            return true;
        g->ops->kick(g);
        pause_ms(10);
    }
    return false;
}

/* Every file, in the folder or one below. */
static int each_file(const char *path, void (*does)(const char *file))
{
    DIR *d = opendir(path);
    struct dirent *e;
    int n = 0;

    BUG_ON(!d);
    while ((e = readdir(d)) != NULL) {
        char name[600];

        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
        if (e->d_type == DT_DIR) {
            n += each_file(name, does);
        } else {
            does(name);
            n++;
        }
    }
    closedir(d);
    return n;
}

static void ruin(const char *name)
{
    int fd = open(name, O_RDWR | O_CLOEXEC);
    char c = 0;

    BUG_ON(fd < 0);
    BUG_ON(pread(fd, &c, 1, 2000) != 1);
    c ^= 1;
    BUG_ON(pwrite(fd, &c, 1, 2000) != 1);
    close(fd);
}

static void remove_file(const char *name)
{
    BUG_ON(unlink(name));
}

/* Ready to look things up: the folder has been read. */
static void ready(struct gen *g, uint64_t n)
{
    ok(entries(g, n), "a new engine sees what is on disk (%d entries)",
       (int)cache_of(g).disk_entries);
}

static void restart(struct said *want)
{
    struct gen *g = open_engine(dir, KERN_F16, 0);
    struct said got;
    uint64_t full = (PROMPT + ANSWER - 1) / PAGE;

    ask(g, job_of(1, PROMPT), want);
    is_int(want->end.cached_tokens, 0, "cold");
    ok(entries(g, full), "every full page goes to disk while nobody asks");
    gen_free(g);

    g = open_engine(dir, KERN_F16, 0);
    ready(g, full);
    ask(g, job_of(1, PROMPT), &got);
    ok(same(&got, want), "after a restart: same bits");
    is_int(got.end.disk_tokens, PROMPT / PAGE * PAGE, "its pages were read");
    is_int(got.end.cached_tokens, PROMPT / PAGE * PAGE,
           "and nothing else was found");
    ask(g, job_of(1, PROMPT), &got);
    ok(same(&got, want), "a second time: same bits");
    is_int(got.end.disk_tokens, 0, "from memory");
    is_int(got.end.cached_tokens, PROMPT - 1, "all of it");
    is_int((int64_t)cache_of(g).disk_entries, (int64_t)full,
           "nothing was written twice");
    gen_free(g);

    g = open_engine(dir, KERN_Q8_0, 0);
    ready(g, full);
    ask(g, job_of(1, PROMPT), &got);
    is_int(got.end.disk_tokens, 0, "another type of cache reads none of it");
    gen_free(g);
}

struct on_disk {
    struct gen *gen;
    uint64_t nodes; /* at its last news: it has not left then */
};

static void note_nodes(void *arg)
{
    struct on_disk *d = arg;

    d->nodes = cache_of(d->gen).nodes_on_disk;
}

/* Of a prompt that ends with a page the last page is computed: its last row's
 * logits are needed. */
static void whole_pages(void)
{
    enum { N = PROMPT / PAGE * PAGE };
    struct gen *g = open_engine(NULL, KERN_F16, 0);
    struct said want, got;
    struct on_disk d = {NULL, 0};
    struct job *j = job_of(1, N);

    ask(g, job_of(1, N), &want);
    gen_free(g);
    d.gen = g = open_engine(dir, KERN_F16, 0);
    ready(g, N / PAGE);
    ring_on_wake(j->ring, note_nodes, &d);
    ask(g, j, &got);
    is_int((int64_t)d.nodes, N / PAGE - 1,
           "what was read is known to be on disk");
    ok(same(&got, &want), "a prompt of whole pages: same bits");
    is_int(got.end.disk_tokens, N - PAGE, "all pages but the last were read");
    gen_free(g);
}

/* Four at once: one reads, the others take it from there. */
static void together(const struct said *want)
{
    struct gen *g = open_engine(dir, KERN_F16, 0);
    struct said got[4];
    struct job *j[4];
    bool good = true;

    ready(g, 1);
    for (int i = 0; i < 4; i++)
        j[i] = job_of(1, PROMPT);
    demo_submit_all(g, j, 4);
    for (int i = 0; i < 4; i++) {
        hear(j[i], &got[i]);
        good &= same(&got[i], want);
    }
    ok(good, "four that ask at once: same bits");
    is_int((int64_t)cache_of(g).disk_reads, PROMPT / PAGE,
           "and one read for each page");
    gen_free(g);
}

/* More conversations than memory has pages for. */
static void evicted(size_t page)
{
    struct gen *g = open_engine(dir, KERN_F16, 8 * page);
    struct said want[3], got;

    for (int i = 0; i < 3; i++)
        ask(g, job_of(20 + i, PROMPT), &want[i]);
    ok(entries(g, 10), "all of them are on disk");
    for (int i = 0; i < 3; i++) {
        ask(g, job_of(20 + i, PROMPT), &got);
        ok(same(&got, &want[i]), "number %d comes back: same bits", i);
        ok(got.end.cached_tokens >= PROMPT / PAGE * PAGE,
           "%d rows of it, %d from disk", got.end.cached_tokens,
           got.end.disk_tokens);
    }
    ok(cache_of(g).rows_read > 0, "disk was read");
    gen_free(g);
}

static void leaves(void)
{
    struct gen *g = open_engine(dir, KERN_F16, 0);
    struct end_info end;

    ready(g, 1);
    for (int i = 0; i < 30; i++) {
        struct job *j = job_of(20 + i % 3, PROMPT);

        demo_submit(g, j);
        if (i % 2)
            pause_ms(i % 4);
        gen_cancel(g, j);
        demo_wait(j, NULL, 0, &end);
        job_unref(j);
    }
    ok(1, "leaving while pages are read harms nobody");
    gen_free(g);
}

static void ruined(const struct said *want)
{
    struct gen *g;
    struct said got;
    int n = each_file(dir, ruin);

    g = open_engine(dir, KERN_F16, 0);
    ready(g, 1);
    ask(g, job_of(1, PROMPT), &got);
    ok(same(&got, want), "%d damaged files: same bits", n);
    is_int(got.end.disk_tokens, 0, "none is believed");
    ok(cache_of(g).disk_misses > 0, "and that is counted");
    gen_free(g);
}

int main(void)
{
    struct gguf *g = demo_open(TINY_LLAMA);
    struct gen_state st;
    struct said want;
    struct gen *gen;

    BUG_ON(!mkdtemp(dir));
    file = g;
    gen = open_engine(NULL, KERN_F16, 0);
    gen->ops->state(gen, &st);
    gen_free(gen);
    restart(&want);
    whole_pages();
    together(&want);
    evicted(st.bytes_kv / st.kv_pages);
    leaves();
    ruined(&want);
    (void)each_file(dir, remove_file);
    gguf_close(g);
    (void)rmdir(dir);
    return done();
}
