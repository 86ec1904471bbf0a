/* Two guides at once: what both allow; the end when either ends. */
#include "gen/guide.h"

struct both {
    struct guide guide; /* first: the two convert */
    struct guide *a, *b;
    size_t b_at;        /* where b's state begins, aligned */
};

static const struct both *both_of(const struct guide *g)
{
    return (const struct both *)(const void *)g;
}

static size_t state_bytes(const struct guide *g)
{
    return both_of(g)->b_at + guide_state_bytes(both_of(g)->b);
}

static void init(const struct guide *g, void *state)
{
    const struct both *t = both_of(g);

    guide_init(t->a, state);
    guide_init(t->b, (char *)state + t->b_at);
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    const struct both *t = both_of(g);
    bool b = guide_allowed(t->b, (const char *)state + t->b_at, mask, n_vocab);
    bool a = guide_allowed(t->a, state, mask, n_vocab);

    return a || b;
}

static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    const struct both *t = both_of(g);
    size_t n = guide_forced(t->a, state, ids, cap);

    return n ? n
             : guide_forced(t->b, (const char *)state + t->b_at, ids, cap);
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct both *t = both_of(g);
    enum guide_next a = guide_accept(t->a, state, id);
    enum guide_next b = guide_accept(t->b, (char *)state + t->b_at, id);

    return a == GUIDE_STOP || b == GUIDE_STOP ? GUIDE_STOP : GUIDE_GO;
}

static void note(const struct guide *g, const void *state,
                 struct guide_note *out)
{
    const struct both *t = both_of(g);

    guide_note(t->a, state, out);
    guide_note(t->b, (const char *)state + t->b_at, out);
}

static void both_free(struct guide *g)
{
    struct both *t = (struct both *)(void *)g;

    guide_free(t->a);
    guide_free(t->b);
    free(t);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .allowed = allowed,
    .forced = forced,
    .accept = accept,
    .note = note,
    .free = both_free,
};

struct guide *guide_both(struct guide *a, struct guide *b)
{
    struct both *t;

    if (!a || !b)
        return a ? a : b;
    t = mem_new(struct both);
    t->guide.ops = &ops;
    t->a = a;
    t->b = b;
    t->b_at = (guide_state_bytes(a) + 15) & ~(size_t)15;
    return &t->guide;
}
