#include "t/lib/maskcheck.h"

#include <string.h>

uint64_t maskcheck_random(struct maskcheck *c)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return c->random * 2685821657736338717u >> 16;
}

static bool has(const uint32_t *mask, size_t id)
{
    return mask[id / 32] >> id % 32 & 1;
}

/* The first mark that may come; *p goes there. */
static bool take_mark(const struct grammar *g, struct gram_place *p)
{
    for (int k = 0; k < GX_MARKS; k++) {
        struct gram_place at = *p;
        if (gram_mark(g, &at, k)) {
            *p = at;
            return true;
        }
    }
    return false;
}

/* An end and all marks, as ids behind the vocabulary: how many are wrong. */
static size_t wrong_others(struct maskcheck *c, const struct grammar *g,
                           const struct gram_place *p)
{
    size_t n = c->n + 1 + GX_MARKS, words = (n + 31) / 32, wrong;
    uint32_t *mask = mem_array(uint32_t, words);
    int32_t mark[GX_MARKS], end = (int32_t)c->n;
    const struct gram_ids ids = {mark, &end, 1};

    for (int k = 0; k < GX_MARKS; k++)
        mark[k] = end + 1 + k;
    memset(mask, 0xff, words * sizeof(*mask));
    wrong = !gram_mask_apply(c->pool, g, p, &ids, mask, n);
    wrong += has(mask, c->n) != gram_ends(g, p);
    for (int k = 0; k < GX_MARKS; k++) {
        struct gram_place at = *p;
        wrong += has(mask, (size_t)mark[k]) != gram_mark(g, &at, k);
    }
    free(mask);
    return wrong;
}

void maskcheck_place(struct maskcheck *c, const struct grammar *g,
                     const struct gram_place *p, uint32_t *mask,
                     struct maskcheck_sum *sum)
{
    struct gram_ids none = {NULL, NULL, 0};
    /* the rest of a place says nothing */
    size_t used = offsetof(struct gram_place, frames) +
                  p->n_frames * sizeof(p->frames[0]);
    struct gram_place at;
    size_t may = 0;

    memset(mask, 0xff, c->vocab->words * sizeof(*mask));
    if (!gram_mask_apply(c->pool, g, p, &none, mask, c->n))
        sum->wrong++;
    for (size_t i = 0; i < c->n; i++) {
        bool want;
        memcpy(&at, p, used);
        want = c->pieces[i].n &&
               gram_bytes(g, &at, c->pieces[i].s, c->pieces[i].n);
        sum->wrong += want != has(mask, i);
        may += want;
    }
    sum->places++;
    sum->wrong += wrong_others(c, g, p);
    for (size_t i = 0; i < p->n_ways; i++) {
        if (p->depth[i] > sum->deepest)
            sum->deepest = p->depth[i];
    }
    sum->ids += may;
    if (may == 0 && !gram_ends(g, p)) {
        at = *p;
        sum->empty += !take_mark(g, &at);
    }
}

/* The first id from a random one on that may come; -1: there is none. With
 * `text`, one that does not begin with white space. */
static int64_t any(struct maskcheck *c, const uint32_t *mask, bool text)
{
    size_t start = maskcheck_random(c) % c->n;

    for (size_t k = 0; k < c->n; k++) {
        size_t id = (start + k) % c->n;
        if (has(mask, id) &&
            !(text && strchr(" \t\n\r", c->pieces[id].s[0])))
            return (int64_t)id;
    }
    return -1;
}

/* One of the ids that may come, shorter ones more often, seldom white space.
 * -1: there is none. */
static int64_t pick(struct maskcheck *c, const uint32_t *mask)
{
    bool text = maskcheck_random(c) % 8 > 0;
    int64_t best = any(c, mask, text);

    if (best < 0)
        best = any(c, mask, text = false);
    for (size_t more = maskcheck_random(c) % 3; best >= 0 && more > 0; more--) {
        int64_t id = any(c, mask, text);
        if (c->pieces[id].n < c->pieces[best].n)
            best = id;
    }
    return best;
}

/* The id of one byte, if it may come; -1: it may not. */
static int64_t byte_id(struct maskcheck *c, const uint32_t *mask, char byte)
{
    for (size_t id = 0; id < c->n; id++) {
        if (has(mask, id) && c->pieces[id].n == 1 &&
            c->pieces[id].s[0] == byte)
            return (int64_t)id;
    }
    return -1;
}

/* What opens a call; else what ends a string, and brings the next value. */
static int64_t pick_deep(struct maskcheck *c, const struct grammar *g,
                         const struct gram_place *p, const uint32_t *mask)
{
    for (const char *open = "[{"; *open; open++) {
        int64_t id = byte_id(c, mask, *open);
        struct gram_place at = *p;
        if (id >= 0 && gram_bytes(g, &at, open, 1) &&
            at.depth[0] > p->depth[0])
            return id;
    }
    for (const char *next = "\":,"; *next; next++) {
        int64_t id = byte_id(c, mask, *next);
        if (id >= 0 && maskcheck_random(c) % 8 > 0)
            return id;
    }
    return pick(c, mask);
}

void maskcheck_walk(struct maskcheck *c, const struct grammar *g,
                    size_t places, struct maskcheck_sum *sum)
{
    uint32_t *mask = mem_array(uint32_t, c->vocab->words + 1);
    size_t end = sum->places + places, steps = 0;
    struct gram_place p;

    gram_begin(g, &p);
    while (sum->places < end) {
        maskcheck_place(c, g, &p, mask, sum);
        int64_t id =
            c->deep ? pick_deep(c, g, &p, mask) : pick(c, mask);
        bool on = id < 0 ? take_mark(g, &p)
                         : gram_bytes(g, &p, c->pieces[id].s, c->pieces[id].n);
        if (!on || ++steps > (c->deep ? 800 : 80)) {
            gram_begin(g, &p);
            steps = 0;
        }
    }
    free(mask);
}
