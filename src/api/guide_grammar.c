#include "api/guide_grammar.h"

#define MUST_MAX 256 /* bytes that are looked ahead at once */

struct by_grammar {
    struct guide guide;     /* first: the two convert */
    struct grammar *g;      /* a reference each */
    struct lexicon *l;
    int32_t mark[GX_MARKS];
    bool marks;
};

struct state {
    bool over;
    struct gram_place place;
};

static const struct by_grammar *of(const struct guide *g)
{
    return (const struct by_grammar *)(const void *)g;
}

static size_t state_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(struct state);
}

static void init(const struct guide *g, void *state)
{
    struct state *s = state;

    s->over = false;
    gram_begin(of(g)->g, &s->place);
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    const struct by_grammar *t = of(g);
    const struct state *s = state;
    const struct gram_ids ids = {
        .mark = t->marks ? t->mark : NULL,
        .end = t->l->ends,
        .n_end = t->l->n_ends,
    };

    if (s->over)
        return false;
    /* without memory nothing may come: the engine says that there is nothing */
    (void)!gram_mask_apply(t->l->pool, t->g, &s->place, &ids, mask, n_vocab);
    return true;
}

static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    const struct by_grammar *t = of(g);
    const struct state *s = state;
    char must[MUST_MAX];
    size_t n;

    if (s->over)
        return 0;
    n = gram_must(t->g, &s->place, must, sizeof(must));
    return n ? gram_vocab_cut(t->l->vocab, must, n, ids, cap) : 0;
}

/* --- an id --------------------------------------------------------------- */

static bool ends_with(const struct by_grammar *t, int32_t id)
{
    for (size_t i = 0; i < t->l->n_ends; i++)
        if (t->l->ends[i] == id)
            return true;
    return false;
}

static int mark_of(const struct by_grammar *t, int32_t id)
{
    for (int k = 0; k < GX_MARKS && t->marks; k++)
        if (t->mark[k] == id)
            return k;
    return -1;
}

/* False: the text does not go on like that, and p is dead. */
static bool go(const struct by_grammar *t, struct gram_place *p, int32_t id)
{
    int k = mark_of(t, id);
    struct span piece;

    if (k >= 0)
        return gram_mark(t->g, p, k);
    piece = lexicon_piece(t->l, id);
    return piece.n && gram_bytes(t->g, p, piece.s, piece.n);
}

/* A mark may have the id of an end: of an element, or of the answer. */
static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct by_grammar *t = of(g);
    struct state *s = state;
    struct gram_place next;

    if (s->over)
        return GUIDE_STOP;
    next = s->place;
    if (go(t, &next, id)) {
        s->place = next;
        s->over = gram_done(t->g, &s->place);
    } else {
        s->over = ends_with(t, id) && gram_ends(t->g, &s->place);
    }
    return s->over ? GUIDE_STOP : GUIDE_GO;
}

/* --- life ---------------------------------------------------------------- */

static void grammar_free(struct guide *g)
{
    struct by_grammar *t = (struct by_grammar *)(void *)g;

    gram_unref(t->g);
    lexicon_unref(t->l);
    free(t);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .allowed = allowed,
    .forced = forced,
    .accept = accept,
    .free = grammar_free,
};

struct guide *guide_grammar_new(struct grammar *g, struct lexicon *l,
                                const int32_t *mark)
{
    struct by_grammar *t = mem_try(sizeof(*t));

    if (!t)
        return NULL;
    t->guide.ops = &ops;
    t->g = gram_ref(g);
    atomic_fetch_add(&l->refs, 1);
    t->l = l;
    t->marks = mark != NULL;
    if (mark)
        memcpy(t->mark, mark, sizeof(t->mark));
    return &t->guide;
}
