#include "gen/guide.h"

size_t guide_state_bytes(const struct guide *g)
{
    return g ? g->ops->state_bytes(g) : 0;
}

void guide_init(const struct guide *g, void *state)
{
    if (g)
        g->ops->init(g, state);
}

bool guide_allowed(const struct guide *g, const void *state, uint32_t *mask,
                   size_t n_vocab)
{
    return g && g->ops->allowed && g->ops->allowed(g, state, mask, n_vocab);
}

size_t guide_forced(const struct guide *g, const void *state, int32_t *ids,
                    size_t cap)
{
    return g && g->ops->forced ? g->ops->forced(g, state, ids, cap) : 0;
}

enum guide_next guide_accept(const struct guide *g, void *state, int32_t id)
{
    return g ? g->ops->accept(g, state, id) : GUIDE_GO;
}

void guide_note(const struct guide *g, const void *state,
                struct guide_note *out)
{
    if (g && g->ops->note)
        g->ops->note(g, state, out);
}

void guide_fork(const struct guide *g, void *dst, const void *src)
{
    if (g)
        memcpy(dst, src, g->ops->state_bytes(g));
}

void guide_rollback(const struct guide *g, void *state, const void *saved)
{
    guide_fork(g, state, saved);
}

void guide_free(struct guide *g)
{
    if (g)
        g->ops->free(g);
}
