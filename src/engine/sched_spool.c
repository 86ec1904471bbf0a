#include "engine/sched_int.h"

#include "base/thread.h"

#define HANGS_US 10000000 /* not one page in this time: it is computed */
#define REST_US 60000000  /* and nothing is asked for */

/*
 * Reads run a few pages ahead; one page after another enters the sequence and
 * the tree. The first one that is missing ends it: the rest is computed.
 */

static struct spool_key key_of(const struct sched *s, const int32_t *units,
                               int32_t n)
{
    return (struct spool_key){
        .what = s->what, .kind = SPOOL_PAGE, .units = units, .n = n};
}

/* Ask for the page behind those that were asked for; false: there is none. */
static bool ask(struct sched *s, struct seq *q)
{
    int32_t n = (q->done / KV_PAGE + q->n_reads + 1) * KV_PAGE;
    struct spool_key k = key_of(s, q->units, n);
    struct spool_read *r;

    /* the last row is computed always */
    if (q->n_reads == SEQ_READS || n > seq_rows(q) - 1)
        return false;
    r = spool_get(s->spool, &k, s->page_bytes);
    if (!r)
        return false;
    if (!q->n_reads)
        q->read_us = mono_us();
    q->read[q->n_reads++] = r;
    return true;
}

static bool put_page(struct sched *s, struct seq *q, const void *blob)
{
    struct kern *k = s->kern;
    struct kv_node *node;

    if (!cache_grow(s, q, q->done + KV_PAGE))
        return false;
    k->ops->kv_write(k, &s->forward->kv, q->pages[q->n_pages - 1], blob);
    q->done += KV_PAGE;
    q->from_disk += KV_PAGE;
    cache_keep(s, q);
    node = kv_tree_find(s->tree, s->root, q->units, q->done);
    if (node)
        kv_node_on_disk(node, true);
    return true;
}

/* The first read has come, or is missing: false. */
static bool take(struct sched *s, struct seq *q, enum spool_state st,
                 void *blob)
{
    bool good;

    q->n_reads--;
    memmove(q->read, q->read + 1, (size_t)q->n_reads * sizeof(q->read[0]));
    q->read_us = mono_us();
    if (st == SPOOL_MISSING)
        return false;
    good = put_page(s, q, blob);
    free(blob);
    return good;
}

/* A disk that hangs, as a network's may, holds nobody up for long. */
static bool hangs(struct sched *s, const struct seq *q)
{
    int64_t now = mono_us();

    if (now - q->read_us >= HANGS_US)
        s->spool_us = now + REST_US;
    return now < s->spool_us;
}

bool spool_fetch(struct sched *s, struct seq *q)
{
    bool more = true;

    /* behind a part of a page no whole one can follow */
    if (!s->spool || q->done % KV_PAGE)
        return true;
    while (more) {
        enum spool_state st;
        void *blob = NULL;

        while (mono_us() >= s->spool_us && ask(s, q))
            ;
        if (!q->n_reads)
            return true;
        st = spool_poll(s->spool, q->read[0], &blob);
        if (st == SPOOL_PENDING && !hangs(s, q))
            return false;
        if (st == SPOOL_PENDING)
            break;
        more = take(s, q, st, blob);
    }
    spool_fetch_ends(s, q);
    return true;
}

void spool_fetch_ends(struct sched *s, struct seq *q)
{
    while (q->n_reads)
        spool_forget(s->spool, q->read[--q->n_reads]);
}

size_t spool_holds(const struct sched *s)
{
    struct spool_stats st;
    size_t reads = 0;

    if (!s->spool)
        return 0;
    for (int32_t i = 0; i < s->n_running; i++)
        reads += (size_t)s->running[i]->n_reads;
    spool_stats(s->spool, &st);
    return reads * s->page_bytes + (size_t)st.queued_bytes;
}

/* A page is read behind all those before it only: they stay as long, and are
 * written again where they are missing. */
void spool_used(struct sched *s, const struct seq *q)
{
    int32_t n = q->done / KV_PAGE * KV_PAGE, have;
    struct spool_key k = key_of(s, q->units, n);

    if (!s->spool || !n)
        return;
    s->spill = true;
    have = spool_use(s->spool, &k, KV_PAGE);
    if (have < n)
        kv_tree_spill_behind(s->tree, s->root, q->units, n, have);
}

/* --- to the disk --------------------------------------------------------- */

static bool has_space(const struct sched *s, int32_t rows)
{
    size_t bytes = s->page_bytes + (size_t)rows * sizeof(int32_t);
    struct spool_stats st;

    spool_stats(s->spool, &st);
    return st.queued_bytes + bytes <= s->spool_queue;
}

/* Pages that were thought to be there are offered again: behind one that is
 * missing none could be used. */
static void look_for_lost(struct sched *s)
{
    struct spool_stats st;

    spool_stats(s->spool, &st);
    if (st.lost == s->spool_lost)
        return;
    s->spool_lost = st.lost;
    kv_tree_spill_again(s->tree);
}

/* Offer one page; false: none is left, or the disk takes no more. */
static bool offer(struct sched *s)
{
    struct kern *k = s->kern;
    struct kv_node *node;
    struct spool_key key;
    void *blob;

    if (!has_space(s, s->limits.context)) {
        s->spill_full = true; /* until a write has ended */
        return false;
    }
    node = kv_tree_next_spill(s->tree);
    if (!node) {
        s->spill = false;
        return false;
    }
    key = key_of(s, s->units, kv_node_rows(node));
    kv_node_units(node, s->units);
    if (spool_has(s->spool, &key)) {
        kv_node_on_disk(node, true);
        return true;
    }
    blob = mem_try(s->page_bytes);
    if (blob)
        k->ops->kv_read(k, &s->forward->kv, kv_node_page(node), blob);
    if (blob && spool_put(s->spool, &key, blob, s->page_bytes)) {
        kv_node_on_disk(node, true);
        return true;
    }
    free(blob);
    kv_node_spill_again(node);
    s->spill = false; /* the disk is full or worse: when somebody left again */
    return false;
}

void spool_spill(struct sched *s, int64_t for_us)
{
    int64_t end = mono_us() + for_us;

    if (!s->spool || !s->spill || s->spill_full)
        return;
    look_for_lost(s);
    while (offer(s) && mono_us() < end)
        ;
}
