#include "gen/guide_mark.h"

void mark_init(struct mark *m, const struct think_mark *from)
{
    size_t n = from->n_ids ? from->n_ids : from->text.n;
    size_t most = from->n_ids ? THINK_MARK_IDS : THINK_MARK_BYTES;
    uint32_t k = 0;

    *m = (struct mark){.bytes = !from->n_ids};
    if (n > most)
        return;
    m->n = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        m->of[i] = from->n_ids ? from->ids[i]
                               : (unsigned char)from->text.s[i];
    for (uint32_t i = 1; i < m->n; i++) {
        while (k && m->of[i] != m->of[k])
            k = m->back[k - 1];
        k += m->of[i] == m->of[k];
        m->back[i] = k;
    }
}

static bool feed_one(const struct mark *m, uint32_t *at, int32_t one)
{
    while (*at && m->of[*at] != one)
        *at = m->back[*at - 1];
    *at += m->of[*at] == one;
    if (*at < m->n)
        return false;
    *at = 0;
    return true;
}

bool mark_feed(const struct mark *m, uint32_t *at, int32_t id,
               struct span piece)
{
    bool whole = false;

    if (!m->n)
        return false;
    if (!m->bytes)
        return feed_one(m, at, id);
    for (size_t i = 0; i < piece.n; i++)
        whole = feed_one(m, at, (unsigned char)piece.s[i]) || whole;
    return whole;
}

bool mark_has(const struct mark *m, int32_t id)
{
    for (uint32_t i = 0; i < m->n && !m->bytes; i++)
        if (m->of[i] == id)
            return true;
    return false;
}
