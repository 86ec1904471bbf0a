/* t/lib/jobs.h - short ways to fill a job in C tests. */
#ifndef T_JOBS_H
#define T_JOBS_H

#include "gen/gen.h"
#include <string.h>

#define SAMPLING(t, k, p, m, s)                                              \
    {                                                                        \
        .temperature = (t), .top_k = (k), .top_p = (p), .min_p = (m),        \
        .seed = (s),                                                         \
    }

/*
 * A guide for tests: exactly one of n lists of ids, then the end. No list is
 * the beginning of another; an id that is on none changes nothing. n <= 32.
 */
struct id_list {
    const int32_t *ids;
    size_t n;
};

struct lists {
    struct guide guide; /* first: the two convert */
    struct id_list of[32]; /* their ids owned */
    size_t n;
};

struct lists_state {
    uint32_t left; /* one bit each */
    size_t at;
};

static inline const struct lists *lists_of(const struct guide *g)
{
    return (const struct lists *)(const void *)g;
}

static inline size_t lists_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(struct lists_state);
}

static inline void lists_init(const struct guide *g, void *state)
{
    *(struct lists_state *)state = (struct lists_state){
        .left = (uint32_t)((1ull << lists_of(g)->n) - 1),
    };
}

/* Is the list left, with one more id? */
static inline bool lists_more(const struct lists *l,
                              const struct lists_state *s, size_t i, size_t k)
{
    return s->left >> i & 1 && s->at + k < l->of[i].n;
}

static inline bool lists_allowed(const struct guide *g, const void *state,
                                 uint32_t *mask, size_t n_vocab)
{
    const struct lists *l = lists_of(g);
    const struct lists_state *s = state;
    bool any = false;

    for (size_t i = 0; i < l->n; i++)
        any = any || lists_more(l, s, i, 0);
    for (size_t w = 0; w < (n_vocab + 31) / 32 && any; w++) {
        uint32_t keep = 0;

        for (size_t i = 0; i < l->n; i++) {
            uint32_t id = lists_more(l, s, i, 0)
                              ? (uint32_t)l->of[i].ids[s->at]
                              : UINT32_MAX;

            if (id / 32 == w)
                keep |= 1u << id % 32;
        }
        mask[w] &= keep;
    }
    return any;
}

static inline size_t lists_forced(const struct guide *g, const void *state,
                                  int32_t *ids, size_t cap)
{
    const struct lists *l = lists_of(g);
    const struct lists_state *s = state;

    for (size_t k = 0; k < cap; k++) {
        int32_t id = -1;

        for (size_t i = 0; i < l->n; i++) {
            if (!(s->left >> i & 1))
                continue;
            if (!lists_more(l, s, i, k) ||
                (id >= 0 && l->of[i].ids[s->at + k] != id))
                return k;
            id = l->of[i].ids[s->at + k];
        }
        ids[k] = id;
    }
    return cap;
}

static inline enum guide_next lists_accept(const struct guide *g, void *state,
                                           int32_t id)
{
    const struct lists *l = lists_of(g);
    struct lists_state *s = state;
    struct lists_state next = {.at = s->at + 1};

    for (size_t i = 0; i < l->n; i++)
        if (lists_more(l, s, i, 0) && l->of[i].ids[s->at] == id)
            next.left |= 1u << i;
    if (next.left)
        *s = next;
    for (size_t i = 0; i < l->n; i++)
        if (s->left >> i & 1 && s->at == l->of[i].n)
            return GUIDE_STOP;
    return GUIDE_GO;
}

static inline void lists_free(struct guide *g)
{
    struct lists *l = (struct lists *)(void *)g;

    for (size_t i = 0; i < l->n; i++)
        free((void *)(uintptr_t)l->of[i].ids);
    free(l);
}

static inline struct guide *lists_guide(const struct id_list *of, size_t n)
{
    static const struct guide_ops ops = {
        .state_bytes = lists_bytes, .init = lists_init,
        .allowed = lists_allowed, .forced = lists_forced,
        .accept = lists_accept, .free = lists_free,
    };
    struct lists *l = mem_new(struct lists);

    BUG_ON(n > 32);
    l->guide.ops = &ops;
    l->n = n;
    for (size_t i = 0; i < n; i++) {
        int32_t *ids = mem_array(int32_t, of[i].n);

        memcpy(ids, of[i].ids, of[i].n * sizeof(*ids));
        l->of[i] = (struct id_list){ids, of[i].n};
    }
    return &l->guide;
}

/* A guide that forces exactly these ids. */
static inline struct guide *forced_guide(const int32_t *ids, size_t n)
{
    const struct id_list one = {ids, n};

    return lists_guide(&one, 1);
}

#endif
