/*
 * Where a sequence is:
 *
 *   waiting   nothing has come; the model may open a reasoning, or answer
 *   inside    a reasoning is open
 *   frame     it was closed; the ids of the frame come
 *   breaks    newlines may come, or the answer
 *   answer    the inner guide's
 */
#include "gen/guide_after.h"

#include "gen/guide_mark.h"

enum place { WAITING, INSIDE, FRAME, BREAKS, ANSWER };

struct after {
    struct guide guide;  /* first: the two convert */
    struct guide *inner;
    struct mark open, close;
    enum place begin;
    struct span (*piece)(const void *arg, int32_t id);
    const void *piece_arg;
    int32_t frame[THINK_MARK_IDS]; /* [n_frame] */
    uint32_t n_frame;
    const int32_t *begins;
    size_t n_begins, n_breaks;
    const int32_t *ends;
    size_t n_ends;
};

struct after_state {
    enum place place;
    uint32_t at; /* of the mark or the frame, what is there; of breaks, how
                  * many came */
};

#define INNER_AT ((sizeof(struct after_state) + 15) & ~(size_t)15)

static const struct after *after_of(const struct guide *g)
{
    return (const struct after *)(const void *)g;
}

static void *inner_of(void *state)
{
    return (char *)state + INNER_AT;
}

static const void *inner_look(const void *state)
{
    return (const char *)state + INNER_AT;
}

static size_t state_bytes(const struct guide *g)
{
    return INNER_AT + guide_state_bytes(after_of(g)->inner);
}

static void init(const struct guide *g, void *state)
{
    *(struct after_state *)state = (struct after_state){
        .place = after_of(g)->begin,
    };
    guide_init(after_of(g)->inner, inner_of(state));
}

/* --- masks --------------------------------------------------------------- */

static bool has(const uint32_t *mask, size_t n_vocab, int32_t id)
{
    return id >= 0 && (size_t)id < n_vocab && mask[id / 32] >> id % 32 & 1;
}

static void clear(uint32_t *mask, size_t n_vocab, int32_t id)
{
    if (id >= 0 && (size_t)id < n_vocab)
        mask[id / 32] &= ~(1u << id % 32);
}

static void only(uint32_t *mask, size_t n_vocab, int32_t id)
{
    bool was = has(mask, n_vocab, id);

    memset(mask, 0, (n_vocab + 31) / 32 * sizeof(*mask));
    if (was)
        mask[id / 32] |= 1u << id % 32;
}

/* Would the id complete a spelled close and go on with a text that is more
 * than newlines? Nobody could tell the inner guide of it. */
static bool overruns(const struct after *t, uint32_t at, int32_t id)
{
    struct span piece = t->piece(t->piece_arg, id);

    for (size_t i = 0; i < piece.n; i++)
        if (mark_feed(&t->close, &at, id, (struct span){piece.s + i, 1})) {
            while (++i < piece.n && piece.s[i] == '\n')
                ;
            return i < piece.n;
        }
    return false;
}

/* An answer follows: the reply does not end here. */
static bool narrow_inside(const struct after *t, uint32_t at, uint32_t *mask,
                          size_t n_vocab)
{
    for (size_t i = 0; i < t->n_ends; i++)
        if (!mark_has(&t->close, t->ends[i]))
            clear(mask, n_vocab, t->ends[i]);
    if (!t->close.bytes || !at)
        return t->n_ends > 0;
    for (size_t id = 0; id < n_vocab; id++)
        if (has(mask, n_vocab, (int32_t)id) &&
            overruns(t, at, (int32_t)id))
            clear(mask, n_vocab, (int32_t)id);
    return true;
}

static bool narrow_waiting(const struct after *t, const void *state,
                           uint32_t at, uint32_t *mask, size_t n_vocab)
{
    int32_t next = t->open.of[at];
    bool may = has(mask, n_vocab, next);

    if (at) {
        only(mask, n_vocab, next);
        return true;
    }
    if (!guide_allowed(t->inner, inner_look(state), mask, n_vocab))
        return false;
    if (may)
        mask[next / 32] |= 1u << next % 32;
    return true;
}

/* What the inner guide allows, unless it begins with a newline; and newlines,
 * while there are few. */
static bool narrow_breaks(const struct after *t, const void *state,
                          uint32_t count, uint32_t *mask, size_t n_vocab)
{
    uint64_t may[(AFTER_LIST_MAX + 63) / 64] = {0};

    for (size_t i = 0; i < t->n_breaks && count < AFTER_BREAKS_MAX; i++)
        if (has(mask, n_vocab, t->begins[i]))
            may[i / 64] |= (uint64_t)1 << i % 64;
    guide_allowed(t->inner, inner_look(state), mask, n_vocab);
    for (size_t i = 0; i < t->n_begins; i++)
        clear(mask, n_vocab, t->begins[i]);
    for (size_t i = 0; i < t->n_breaks; i++)
        if (may[i / 64] >> i % 64 & 1)
            mask[t->begins[i] / 32] |= 1u << t->begins[i] % 32;
    return true;
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    const struct after *t = after_of(g);
    const struct after_state *s = state;

    switch (s->place) {
    case WAITING:
        return narrow_waiting(t, state, s->at, mask, n_vocab);
    case INSIDE:
        return narrow_inside(t, s->at, mask, n_vocab);
    case FRAME:
        only(mask, n_vocab, t->frame[s->at]);
        return true;
    case BREAKS:
        return narrow_breaks(t, state, s->at, mask, n_vocab);
    case ANSWER:
        break;
    }
    return guide_allowed(t->inner, inner_look(state), mask, n_vocab);
}

/* --- what must come ------------------------------------------------------ */

static size_t rest(const int32_t *of, uint32_t at, uint32_t n, int32_t *ids,
                   size_t cap)
{
    size_t left = n - at < cap ? n - at : cap;

    memcpy(ids, of + at, left * sizeof(*ids));
    return left;
}

static bool begins(const struct after *t, int32_t id)
{
    for (size_t i = 0; i < t->n_begins; i++)
        if (t->begins[i] == id)
            return true;
    return false;
}

static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    const struct after *t = after_of(g);
    const struct after_state *s = state;
    size_t n;

    switch (s->place) {
    case WAITING:
        return s->at ? rest(t->open.of, s->at, t->open.n, ids, cap) : 0;
    case INSIDE:
        return 0;
    case FRAME:
        return rest(t->frame, s->at, t->n_frame, ids, cap);
    case BREAKS:
    case ANSWER:
        break;
    }
    n = guide_forced(t->inner, inner_look(state), ids, cap);
    return n && s->place == BREAKS && begins(t, ids[0]) ? 0 : n;
}

/* --- an id --------------------------------------------------------------- */

static struct after_state behind_frame(const struct after *t)
{
    return (struct after_state){.place = t->n_begins ? BREAKS : ANSWER};
}

static struct after_state behind_close(const struct after *t)
{
    return t->n_frame ? (struct after_state){.place = FRAME}
                      : behind_frame(t);
}

/* Newlines alone? Those that come first in the list. */
static bool is_break(const struct after *t, int32_t id)
{
    for (size_t i = 0; i < t->n_breaks; i++)
        if (t->begins[i] == id)
            return true;
    return false;
}

/* Is the id taken before the answer? */
static bool take(const struct after *t, struct after_state *s, int32_t id)
{
    switch (s->place) {
    case WAITING:
        if (id != t->open.of[s->at])
            return false;
        if (++s->at == t->open.n)
            *s = (struct after_state){.place = INSIDE};
        return true;
    case INSIDE:
        if (mark_feed(&t->close, &s->at, id,
                      t->close.bytes ? t->piece(t->piece_arg, id)
                                     : (struct span){"", 0}))
            *s = behind_close(t);
        return true;
    case FRAME:
        if (id != t->frame[s->at])
            return false;
        if (++s->at == t->n_frame)
            *s = behind_frame(t);
        return true;
    case BREAKS:
        if (!is_break(t, id))
            return false;
        s->at++;
        return true;
    case ANSWER:
        break;
    }
    return false;
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct after *t = after_of(g);
    struct after_state *s = state;

    if (take(t, s, id))
        return GUIDE_GO;
    s->place = ANSWER;
    return guide_accept(t->inner, inner_of(state), id);
}

static void note(const struct guide *g, const void *state,
                 struct guide_note *out)
{
    guide_note(after_of(g)->inner, inner_look(state), out);
}

/* --- life ---------------------------------------------------------------- */

static void after_free(struct guide *g)
{
    struct after *t = (struct after *)(void *)g;

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
    .free = after_free,
};

struct guide *guide_after_new(const struct after_config *c,
                              struct guide *inner)
{
    struct after *t = mem_try(sizeof(*t));

    BUG_ON(c->n_frame > THINK_MARK_IDS || c->n_breaks > c->n_begins ||
           c->n_breaks > AFTER_LIST_MAX);
    if (!t) {
        guide_free(inner);
        return NULL;
    }
    t->guide.ops = &ops;
    t->inner = inner;
    mark_init(&t->open, &c->open);
    mark_init(&t->close, &c->close);
    t->begin = c->inside                                    ? INSIDE
               : c->may_open && t->open.n && !t->open.bytes ? WAITING
                                                            : ANSWER;
    t->piece = c->piece;
    t->piece_arg = c->piece_arg;
    t->n_frame = (uint32_t)c->n_frame;
    if (c->n_frame)
        memcpy(t->frame, c->frame, c->n_frame * sizeof(*t->frame));
    t->begins = c->begins;
    t->n_begins = c->n_begins;
    t->n_breaks = c->n_breaks;
    t->ends = c->ends;
    t->n_ends = c->n_ends;
    return &t->guide;
}
