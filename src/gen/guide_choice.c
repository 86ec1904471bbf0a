/*
 * One of several texts: exactly the ids of one of the lists, then the end.
 *
 * The lists are sorted, so those that go on as the sequence did are a range
 * of them, and what may come next is in order in that range. A list that is
 * the beginning of another one is not over by itself: it becomes as many
 * lists as there are ids that end it.
 */
#include "gen/guide.h"

struct list {
    const int32_t *ids; /* into choice.ids */
    size_t n;
    int32_t tail;       /* comes behind them; -1: nothing does */
};

struct choice {
    struct guide guide; /* first: the two convert */
    struct list *lists; /* [n] owned, sorted, no two the same */
    size_t n;
    int32_t *ids;       /* of all lists, owned */
};

struct choice_state {
    size_t from, to; /* the lists that are left, never none */
    size_t at;       /* ids of them that were committed */
};

static const struct choice *choice_of(const struct guide *g)
{
    return (const struct choice *)(const void *)g;
}

static size_t length(const struct list *l)
{
    return l->n + (l->tail >= 0);
}

static int32_t id_at(const struct list *l, size_t at)
{
    return at < l->n ? l->ids[at] : l->tail;
}

/* --- the guide ----------------------------------------------------------- */

static size_t state_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(struct choice_state);
}

static void init(const struct guide *g, void *state)
{
    *(struct choice_state *)state = (struct choice_state){
        .to = choice_of(g)->n,
    };
}

/* A list is whole: nothing may come, and what comes is not looked at. The
 * shortest of the range stands first. */
static bool over(const struct choice *c, const struct choice_state *s)
{
    return s->at == length(&c->lists[s->from]);
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    const struct choice *c = choice_of(g);
    const struct choice_state *s = state;
    size_t words = (n_vocab + 31) / 32, i = s->from;

    if (over(c, s))
        return false;
    for (size_t w = 0; w < words; w++) {
        uint32_t keep = 0;

        for (; i < s->to; i++) {
            int32_t id = id_at(&c->lists[i], s->at);

            if ((size_t)id / 32 > w)
                break;
            if ((size_t)id < n_vocab)
                keep |= 1u << id % 32;
        }
        mask[w] &= keep;
    }
    return true;
}

/* As far as all lists that are left agree. Sorted: when the first and the
 * last one do. */
static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    const struct choice *c = choice_of(g);
    const struct choice_state *s = state;
    const struct list *first = &c->lists[s->from],
                      *last = &c->lists[s->to - 1];
    size_t n = 0;

    while (n < cap && s->at + n < length(first) &&
           id_at(first, s->at + n) == id_at(last, s->at + n)) {
        ids[n] = id_at(first, s->at + n);
        n++;
    }
    return n;
}

/* Ids that are on no list are others' business. */
static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct choice *c = choice_of(g);
    struct choice_state *s = state;
    size_t from = s->from, to;

    if (over(c, s))
        return GUIDE_STOP;
    while (from < s->to && id_at(&c->lists[from], s->at) != id)
        from++;
    to = from;
    while (to < s->to && id_at(&c->lists[to], s->at) == id)
        to++;
    if (from == to)
        return GUIDE_GO;
    *s = (struct choice_state){from, to, s->at + 1};
    return over(c, s) ? GUIDE_STOP : GUIDE_GO;
}

static void choice_free(struct guide *g)
{
    struct choice *c = (struct choice *)(void *)g;

    free(c->lists);
    free(c->ids);
    free(c);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .allowed = allowed,
    .forced = forced,
    .accept = accept,
    .free = choice_free,
};

/* --- lists --------------------------------------------------------------- */

static int by_ids(const void *va, const void *vb)
{
    const struct list *a = va, *b = vb;
    size_t n = length(a) < length(b) ? length(a) : length(b);

    for (size_t i = 0; i < n; i++) {
        int32_t x = id_at(a, i), y = id_at(b, i);

        if (x != y)
            return x < y ? -1 : 1;
    }
    return length(a) < length(b) ? -1 : length(a) > length(b);
}

/* Sorted, each one once. */
static size_t sort(struct list *l, size_t n)
{
    size_t kept = 1;

    qsort(l, n, sizeof(*l), by_ids);
    for (size_t i = 1; i < n; i++)
        if (by_ids(&l[kept - 1], &l[i]))
            l[kept++] = l[i];
    return kept;
}

static bool begins(const struct list *a, const struct list *b)
{
    return a->n <= b->n && !memcmp(a->ids, b->ids, a->n * sizeof(*a->ids));
}

/* Copies of all ids; the lists sorted, in `to` of n. */
static size_t take(struct choice *c, const struct guide_list *from, size_t n,
                   struct list *to)
{
    int32_t *at = c->ids;

    for (size_t i = 0; i < n; i++) {
        BUG_ON(!from[i].n);
        memcpy(at, from[i].ids, from[i].n * sizeof(*at));
        to[i] = (struct list){at, from[i].n, -1};
        at += from[i].n;
    }
    return sort(to, n);
}

/* Those that others begin with get their ends. */
static void end_lists(struct choice *c, const struct list *l, size_t n,
                      const int32_t *stop_ids, size_t n_stop)
{
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || !begins(&l[i], &l[i + 1])) {
            c->lists[c->n++] = l[i];
            continue;
        }
        for (size_t k = 0; k < n_stop; k++)
            c->lists[c->n++] = (struct list){l[i].ids, l[i].n, stop_ids[k]};
    }
    c->n = sort(c->lists, c->n);
}

struct guide *guide_choice_new(const struct guide_list *lists, size_t n,
                               const int32_t *stop_ids, size_t n_stop)
{
    struct choice *c = mem_try(sizeof(*c));
    struct list *plain = mem_try_array(n, sizeof(*plain));
    size_t ids = 0, most;
    bool fits = mem_mul(&most, n, n_stop ? n_stop : 1);

    BUG_ON(!n);
    for (size_t i = 0; i < n; i++)
        fits = fits && mem_add(&ids, ids, lists[i].n);
    if (c && fits) {
        c->guide.ops = &ops;
        c->ids = mem_try_array(ids, sizeof(*c->ids));
        c->lists = mem_try_array(most, sizeof(*c->lists));
    }
    if (!c || !plain || !c->ids || !c->lists) {
        free(plain);
        if (c)
            choice_free(&c->guide);
        return NULL;
    }
    end_lists(c, plain, take(c, lists, n, plain), stop_ids, n_stop);
    free(plain);
    return &c->guide;
}
