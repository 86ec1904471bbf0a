#include "engine/penalty.h"

#include <float.h>
#include <math.h>

struct seen {
    int32_t id, count;
};

/*
 * `seen` is dense and in the order of first appearance, so that apply reads
 * it straight through; `slots` finds an id in it by open addressing. Slots are
 * at least twice the ids that may come: a probe soon meets an empty one, and
 * nothing ever grows in the token loop.
 */
struct penalty {
    struct seen *seen; /* [most] */
    size_t n, most;
    int32_t *slots;    /* [1 << bits] place in seen + 1; 0: empty */
    int bits;
};

bool penalty_wanted(const struct sampling *p)
{
    return p->presence != 0 || p->frequency != 0 ||
           (p->repetition != 0 && p->repetition != 1);
}

struct penalty *penalty_new(const int32_t *ids, size_t n, size_t most)
{
    struct penalty *p = mem_try(sizeof(*p));

    BUG_ON(most > (size_t)1 << 29);
    if (!p)
        return NULL;
    p->most = most;
    p->bits = 4;
    while ((size_t)1 << p->bits < 2 * most)
        p->bits++;
    p->seen = mem_try_array(most, sizeof(*p->seen));
    p->slots = mem_try_array((size_t)1 << p->bits, sizeof(*p->slots));
    if (!p->seen || !p->slots) {
        penalty_free(p);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        penalty_add(p, ids[i]);
    return p;
}

void penalty_free(struct penalty *p)
{
    if (!p)
        return;
    free(p->seen);
    free(p->slots);
    free(p);
}

void penalty_add(struct penalty *p, int32_t id)
{
    /* Fibonacci hashing: ids that are neighbours land far apart */
    size_t at = (uint32_t)id * 2654435769u >> (32 - p->bits);
    size_t last = ((size_t)1 << p->bits) - 1;

    BUG_ON(id < 0);
    for (; p->slots[at]; at = at == last ? 0 : at + 1) {
        struct seen *s = &p->seen[p->slots[at] - 1];

        if (s->id == id) {
            s->count++;
            return;
        }
    }
    BUG_ON(p->n == p->most);
    p->seen[p->n++] = (struct seen){id, 1};
    p->slots[at] = (int32_t)p->n;
}

/* A finite logit moved to l, which may be past what a float holds. */
static void move_to(float *logit, double l)
{
    if (!isfinite(*logit))
        return;
    *logit = (float)(l > FLT_MAX ? FLT_MAX : l < -FLT_MAX ? -FLT_MAX : l);
}

void penalty_apply(const struct penalty *p, const struct sampling *how,
                   float *logits)
{
    double r = how->repetition != 0 ? (double)how->repetition : 1;
    double frequency = (double)how->frequency;
    double presence = (double)how->presence;

    for (size_t i = 0; i < p->n; i++) {
        float *logit = &logits[p->seen[i].id];
        double l = (double)*logit;

        l = l < 0 ? l * r : l / r;
        move_to(logit, l - p->seen[i].count * frequency - presence);
    }
}

void bias_apply(const struct bias *b, size_t n, float *logits)
{
    for (size_t i = 0; i < n; i++)
        move_to(&logits[b[i].id],
                (double)logits[b[i].id] + (double)b[i].value);
}
