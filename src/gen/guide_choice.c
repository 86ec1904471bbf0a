/* Forced text: exactly these ids, then the end. */
#include "gen/guide.h"

struct forced {
    struct guide guide; /* first: the two convert */
    size_t n;
    int32_t *ids;       /* [n] */
};

struct forced_state {
    size_t at; /* the next one */
};

static const struct forced *forced_of(const struct guide *g)
{
    return (const struct forced *)(const void *)g;
}

static size_t state_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(struct forced_state);
}

static void init(const struct guide *g, void *state)
{
    struct forced_state *s = state;

    (void)g;
    s->at = 0;
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    const struct forced *f = forced_of(g);
    const struct forced_state *s = state;
    size_t id;

    if (s->at >= f->n)
        return false;
    id = (size_t)f->ids[s->at];
    for (size_t w = 0; w < (n_vocab + 31) / 32; w++)
        mask[w] &= w == id / 32 ? 1u << id % 32 : 0;
    return true;
}

static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    const struct forced *f = forced_of(g);
    const struct forced_state *s = state;
    size_t n = f->n - s->at;

    if (n > cap)
        n = cap;
    if (n)
        memcpy(ids, f->ids + s->at, n * sizeof(*ids));
    return n;
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct forced *f = forced_of(g);
    struct forced_state *s = state;

    (void)id;
    if (s->at < f->n)
        s->at++;
    return s->at == f->n ? GUIDE_STOP : GUIDE_GO;
}

static void forced_free(struct guide *g)
{
    struct forced *f = (struct forced *)(void *)g;

    free(f->ids);
    free(f);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .allowed = allowed,
    .forced = forced,
    .accept = accept,
    .free = forced_free,
};

struct guide *guide_choice_new(const struct guide_list *lists, size_t n_lists,
                               const int32_t *stop_ids, size_t n_stop)
{
    const int32_t *ids = lists[0].ids;
    size_t n = lists[0].n;
    struct forced *f;

    (void)stop_ids;
    (void)n_stop;
    BUG_ON(n_lists != 1 || n < 1);
    f = mem_new(struct forced);
    f->guide.ops = &ops;
    f->n = n;
    f->ids = mem_try_array(n, sizeof(*f->ids));
    if (!f->ids) {
        free(f);
        return NULL;
    }
    memcpy(f->ids, ids, n * sizeof(*f->ids));
    return &f->guide;
}
