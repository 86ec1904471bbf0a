#include "engine/sched_int.h"

/*
 * Who may write to a page: one sequence that has not filled it. Full pages
 * are shared and never written again; a part of a page is copied before
 * somebody goes on behind it, and the tree gets it when its owner left.
 */

size_t cache_room(const struct sched *s)
{
    return kv_pages_left(s->pages) + kv_pages_idle(s->pages);
}

int32_t cache_page(struct sched *s)
{
    int32_t page = memory_page(s);

    if (page < 0 && kv_tree_evict(s->tree, 1))
        page = memory_page(s);
    return page;
}

bool cache_grow(struct sched *s, struct seq *q, int32_t rows)
{
    while (q->n_pages < seq_pages(rows)) {
        int32_t page = cache_page(s);

        if (page < 0)
            return false;
        q->pages[q->n_pages++] = page;
    }
    return true;
}

void cache_match(struct sched *s, struct seq *q)
{
    struct kv_match m;

    BUG_ON(q->n_pages || q->tail >= 0);
    /* the last row's logits are needed: it is computed always */
    kv_tree_match(s->tree, s->root, q->units, seq_rows(q) - 1, &m, q->pages);
    q->n_pages = q->kept = m.pages;
    q->done = m.pages * KV_PAGE;
    q->tail = m.tail;
    q->tail_rows = m.tail >= 0 ? m.rows : 0;
}

/* The first `rows` rows of a page of somebody else's. */
static void copy(struct sched *s, struct seq *q, int32_t page, int32_t rows)
{
    struct kern *k = s->kern;
    int32_t own = cache_page(s);

    if (own < 0)
        return; /* computed, then */
    k->ops->kv_copy(k, &s->forward->kv, own, page);
    q->pages[q->n_pages++] = own;
    q->done += rows;
}

void cache_take_tail(struct sched *s, struct seq *q)
{
    if (q->tail < 0)
        return;
    if (q->done < q->tail_rows)
        copy(s, q, q->tail, q->tail_rows - q->done);
    kv_pages_unref(s->pages, q->tail);
    q->tail = -1;
}

void cache_take(struct sched *s, struct seq *q, const struct seq *from,
                int32_t rows)
{
    int32_t full = rows / KV_PAGE;

    BUG_ON(q->n_pages || q->tail >= 0 || from->done < rows);
    for (int32_t i = 0; i < full; i++) {
        kv_pages_ref(s->pages, from->pages[i]);
        q->pages[i] = from->pages[i];
    }
    q->n_pages = q->kept = full;
    q->done = full * KV_PAGE;
    if (rows > q->done)
        copy(s, q, from->pages[full], rows - q->done);
}

/* Two may have computed the same rows side by side: one page is enough. */
static void use_page_of_tree(struct sched *s, struct seq *q, int32_t i)
{
    struct kv_node *n =
        kv_tree_find(s->tree, s->root, q->units, (i + 1) * KV_PAGE);
    int32_t page = n ? kv_node_page(n) : q->pages[i];

    if (page == q->pages[i])
        return;
    kv_pages_ref(s->pages, page);
    kv_pages_unref(s->pages, q->pages[i]);
    q->pages[i] = page;
}

void cache_keep(struct sched *s, struct seq *q)
{
    int32_t full = q->done / KV_PAGE;

    if (full <= q->kept)
        return;
    kv_tree_insert(s->tree, s->root, q->units, full * KV_PAGE, q->pages);
    for (; q->kept < full; q->kept++)
        use_page_of_tree(s, q, q->kept);
}

void cache_drop(struct sched *s, struct seq *q)
{
    for (int32_t i = 0; i < q->n_pages; i++)
        kv_pages_unref(s->pages, q->pages[i]);
    if (q->tail >= 0)
        kv_pages_unref(s->pages, q->tail);
    q->tail = -1;
    q->n_pages = q->kept = q->done = 0;
}

void cache_leave(struct sched *s, struct seq *q)
{
    if (q->done) {
        kv_tree_insert(s->tree, s->root, q->units, q->done, q->pages);
        spool_used(s, q);
    }
    cache_drop(s, q);
}
