#include "engine/packs.h"

#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/thread.h"
#include "engine/packfile.h"
#include "engine/packplace.h"

#define STEP_MS 5000 /* between two notes of progress */
#define SAMPLES 64   /* matrices of which a few bytes count */
#define SAMPLE 64    /* bytes */
#define PAGE ((uintptr_t)4096)

struct packs {
    struct packfile_item *item; /* [n] */
    size_t n;
    struct packfile_map file;
    uint8_t *anon;      /* [anon_bytes], when there is no file */
    size_t anon_bytes;
};

struct making { /* one packs_open */
    struct packs *p;
    const struct packs_want *want;
    const struct gguf *g;
    struct kern *k;
    const struct packs_config *c;
    struct packfile plan;
    uint8_t *scratch;   /* one matrix, on its way into a file */
    size_t scratch_bytes, done;
    int64_t start, told; /* ms */
};

static void tell(struct making *m, enum packs_event event, const char *path,
                 const char *why)
{
    const struct packs_note n = {
        .event = event,
        .path = path,
        .why = why,
        .done = m->done,
        .total = m->plan.data_bytes,
        .ms = mono_ms() - m->start,
    };

    if (m->c->tell)
        m->c->tell(m->c->arg, &n);
}

/* --- memory --------------------------------------------------------------- */

static uint8_t *anon_new(size_t bytes)
{
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

static void anon_free(uint8_t *p, size_t bytes)
{
    if (p)
        munmap(p, bytes ? bytes : 1);
}

/* Its pages in the mapping of the model file are not needed any more. The
 * first and the last may hold other tensors, too, which are mapped again when
 * they are read. */
static void drop(const struct gguf_tensor *t)
{
    uintptr_t from = (uintptr_t)t->data, to = from + t->bytes;

    from &= ~(PAGE - 1);
    to = (to + PAGE - 1) & ~(PAGE - 1);
    (void)madvise((void *)from, to - from, MADV_DONTNEED);
}

static uint64_t sample_of(const struct packs_want *want, size_t n)
{
    size_t picks = n < SAMPLES ? n : SAMPLES;
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < picks; i++) {
        const struct gguf_tensor *t = want[i * n / picks].t;
        const uint8_t *s = t->data;

        for (size_t k = 0; k < SAMPLE && k < t->bytes; k++)
            h = (h ^ s[k]) * 0x100000001b3u;
    }
    return h;
}

/* --- packing -------------------------------------------------------------- */

static void pack_one(struct making *m, size_t i, uint8_t *dst)
{
    const struct packs_want *w = &m->want[i];
    int64_t now;

    m->k->ops->pack(m->k, dst, w->t->data, (enum kern_type)w->t->type, w->rows,
                    w->cols);
    drop(w->t);
    m->done += m->p->item[i].bytes;
    now = mono_ms();
    if (now - m->told >= STEP_MS) {
        m->told = now;
        tell(m, PACKS_STEP, NULL, NULL);
    }
}

static enum st fill(void *arg, size_t i, const uint8_t **bytes, struct err *e)
{
    struct making *m = arg;

    if (!m->scratch) {
        for (size_t k = 0; k < m->p->n; k++)
            if (m->p->item[k].bytes > m->scratch_bytes)
                m->scratch_bytes = m->p->item[k].bytes;
        m->scratch = anon_new(m->scratch_bytes);
    }
    if (!m->scratch)
        return err_set(e, ST_NOMEM, "pack-cache", "no memory for a matrix");
    pack_one(m, i, m->scratch);
    *bytes = m->scratch;
    return ST_OK;
}

static void begin(struct making *m, const char *path)
{
    m->start = m->told = mono_ms();
    m->done = 0;
    tell(m, PACKS_START, path, NULL);
}

static bool in_file(struct making *m, const char *path)
{
    struct err e;
    enum st st;

    begin(m, path);
    st = packfile_make(&m->plan, m->p->item, m->p->n, path, m->c->threads,
                       fill, m, &m->p->file, &e);
    anon_free(m->scratch, m->scratch_bytes);
    m->scratch = NULL;
    if (st) {
        tell(m, PACKS_NONE, path, e.text);
        return false;
    }
    packplace_clean(path, m->k->layout);
    tell(m, PACKS_MADE, path, NULL);
    return true;
}

static enum st in_memory(struct making *m, struct err *e)
{
    struct packs *p = m->p;

    p->anon_bytes = m->plan.data_bytes;
    p->anon = anon_new(p->anon_bytes);
    if (!p->anon)
        return err_set(e, ST_NOMEM, gguf_path(m->g),
                       "no memory for %zu bytes of packed weights",
                       p->anon_bytes);
    begin(m, NULL);
    for (size_t i = 0; i < p->n; i++)
        pack_one(m, i, p->anon + p->item[i].off);
    tell(m, PACKS_MADE, NULL, NULL);
    return ST_OK;
}

/* --- where ---------------------------------------------------------------- */

static bool found(struct making *m, const char *path)
{
    struct err e;
    enum st st;

    m->start = mono_ms();
    st = packfile_open(&m->plan, path, m->c->threads, &m->p->file, &e);
    if (!st)
        tell(m, PACKS_MAPPED, path, NULL);
    else if (st != ST_NOT_FOUND)
        tell(m, PACKS_BAD, path, e.text);
    return !st;
}

static enum st get(struct making *m, struct err *e)
{
    struct packplace at;

    packplace_find(&at, gguf_path(m->g), m->k->layout, m->c->cache,
                   m->plan.data_bytes >= PACKS_CACHE_FROM);
    for (size_t i = 0; i < at.n; i++)
        if (found(m, at.path[i]))
            return ST_OK;
    for (size_t i = 0; i < at.n; i++)
        if (at.named || packplace_writable(at.path[i]))
            if (in_file(m, at.path[i]))
                return ST_OK;
    return in_memory(m, e);
}

/* --- the whole ------------------------------------------------------------ */

static enum st list(struct making *m, struct err *e)
{
    const struct packfile_source from = {
        .bytes = gguf_file_bytes(m->g),
        .fingerprint = gguf_fingerprint(m->g),
        .stamp = gguf_stamp(m->g),
        .sample = sample_of(m->want, m->p->n),
    };

    for (size_t i = 0; i < m->p->n; i++) {
        const struct packs_want *w = &m->want[i];

        m->p->item[i] = (struct packfile_item){
            .name = w->t->name,
            .type = (uint32_t)w->t->type,
            .rows = w->rows,
            .cols = w->cols,
            .bytes = m->k->ops->pack_bytes(m->k, (enum kern_type)w->t->type,
                                           w->rows, w->cols),
        };
    }
    return packfile_plan(&m->plan, m->k->layout, &from, m->p->item, m->p->n,
                         e);
}

enum st packs_open(struct packs **out, const struct packs_want *want, size_t n,
                   const struct gguf *g, struct kern *k,
                   const struct packs_config *c, struct err *e)
{
    struct packs *p = mem_new(struct packs);
    struct making m = {.p = p, .want = want, .g = g, .k = k, .c = c};
    enum st st;

    *out = NULL;
    p->n = n;
    p->item = mem_try_array(n, sizeof(*p->item));
    if (p->item)
        st = list(&m, e);
    else
        st = err_set(e, ST_NOMEM, gguf_path(g), "no memory to load");
    /* what was only looked at until now: a byte maps up to 2 MB */
    for (size_t i = 0; i < n; i++)
        drop(want[i].t);
    if (!st)
        st = get(&m, e);
    packfile_release(&m.plan);
    if (st) {
        packs_close(p);
        return st;
    }
    *out = p;
    return ST_OK;
}

const void *packs_at(const struct packs *p, size_t i, size_t *bytes)
{
    BUG_ON(i >= p->n);
    *bytes = p->item[i].bytes;
    return (p->anon ? p->anon : p->file.data) + p->item[i].off;
}

void packs_close(struct packs *p)
{
    if (!p)
        return;
    packfile_unmap(&p->file);
    anon_free(p->anon, p->anon_bytes);
    free(p->item);
    free(p);
}
