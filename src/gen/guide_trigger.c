#include "gen/guide_trigger.h"

struct trigger {
    struct guide guide; /* first: the two convert */
    struct guide *inner;
    struct trigger_config c; /* but for its text */
    char text[TRIGGER_TEXT]; /* [c.text.n] */
};

struct trigger_state {
    bool armed;  /* the trigger has come; the inner guide is not complete */
    uint32_t at; /* not armed: bytes of it behind `first`, and 1; 0: none */
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

/* Is the trigger complete with this id? */
static bool pull(const struct trigger *t, struct trigger_state *s, int32_t id)
{
    const struct trigger_config *c = &t->c;
    size_t have = s->at ? s->at - 1 : 0;
    struct span piece;

    if (s->at && id == c->last && have == c->text.n)
        return true;
    if (id == c->first) {
        s->at = 1;
        return c->last < 0;
    }
    if (!s->at)
        return false;
    piece = c->piece(c->piece_arg, id);
    if (piece.n && piece.n <= c->text.n - have &&
        !memcmp(t->text + have, piece.s, piece.n))
        s->at += (uint32_t)piece.n;
    else
        s->at = 0;
    return false;
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct trigger *t = trigger_of(g);
    struct trigger_state *s = state;

    if (s->armed) {
        s->armed = guide_accept(t->inner, inner_of(state), id) == GUIDE_GO;
    } else if (pull(t, s, id)) {
        *s = (struct trigger_state){.armed = true};
        guide_init(t->inner, inner_of(state));
    }
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

struct guide *guide_trigger_new(const struct trigger_config *c,
                                struct guide *inner)
{
    struct trigger *t = mem_try(sizeof(*t));

    BUG_ON(c->text.n > TRIGGER_TEXT);
    if (!t) {
        guide_free(inner);
        return NULL;
    }
    t->guide.ops = &ops;
    t->inner = inner;
    t->c = *c;
    if (c->text.n)
        memcpy(t->text, c->text.s, c->text.n);
    return &t->guide;
}
