#include "gen/guide_trigger.h"

struct trigger {
    struct guide guide; /* first: the two convert */
    struct guide *inner;
    int32_t id;
};

struct trigger_state {
    bool armed; /* the id has come; the inner guide is not complete */
};

#define INNER_AT ((sizeof(struct trigger_state) + 15) & ~(size_t)15)

static const struct trigger *trigger_of(const struct guide *g)
{
    return (const struct trigger *)(const void *)g;
}

static void *inner_of(void *state)
{
    return (char *)state + INNER_AT;
}

static const void *inner_look(const void *state)
{
    return (const char *)state + INNER_AT;
}

static bool is_armed(const void *state)
{
    return ((const struct trigger_state *)state)->armed;
}

static size_t state_bytes(const struct guide *g)
{
    return INNER_AT + guide_state_bytes(trigger_of(g)->inner);
}

static void init(const struct guide *g, void *state)
{
    *(struct trigger_state *)state = (struct trigger_state){0};
    guide_init(trigger_of(g)->inner, inner_of(state));
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    return is_armed(state) && guide_allowed(trigger_of(g)->inner,
                                            inner_look(state), mask, n_vocab);
}

static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    return is_armed(state) ? guide_forced(trigger_of(g)->inner,
                                          inner_look(state), ids, cap)
                           : 0;
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct trigger *t = trigger_of(g);
    struct trigger_state *s = state;

    if (!s->armed && id != t->id)
        return GUIDE_GO;
    if (!s->armed)
        guide_init(t->inner, inner_of(state));
    s->armed = guide_accept(t->inner, inner_of(state), id) == GUIDE_GO;
    return GUIDE_GO;
}

static void note(const struct guide *g, const void *state,
                 struct guide_note *out)
{
    guide_note(trigger_of(g)->inner, inner_look(state), out);
}

static void trigger_free(struct guide *g)
{
    struct trigger *t = (struct trigger *)(void *)g;

    guide_free(t->inner);
    free(t);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .allowed = allowed,
    .forced = forced,
    .accept = accept,
    .note = note,
    .free = trigger_free,
};

struct guide *guide_trigger_new(int32_t id, struct guide *inner)
{
    struct trigger *t = mem_try(sizeof(*t));

    if (!t) {
        guide_free(inner);
        return NULL;
    }
    t->guide.ops = &ops;
    t->inner = inner;
    t->id = id;
    return &t->guide;
}
