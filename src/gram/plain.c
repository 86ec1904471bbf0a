#include "gram/plain.h"

#include "gram/walk.h"

#define PAIRS_MAX 1024
#define SLOTS (2 * PAIRS_MAX)

/* Inside a character of UTF-8 (RFC 3629): which bytes may come, and where
 * they lead. */
enum { U_BEGIN, U_1, U_2, U_3, U_E0, U_ED, U_F0, U_F4, U_STATES };

static const struct {
    uint8_t at, lo, hi, to;
} steps[] = {
    {U_BEGIN, 0x20, 0x21, U_BEGIN}, {U_BEGIN, 0x23, 0x5b, U_BEGIN},
    {U_BEGIN, 0x5d, 0x7e, U_BEGIN}, {U_BEGIN, 0xc2, 0xdf, U_1},
    {U_BEGIN, 0xe0, 0xe0, U_E0},    {U_BEGIN, 0xe1, 0xec, U_2},
    {U_BEGIN, 0xed, 0xed, U_ED},    {U_BEGIN, 0xee, 0xef, U_2},
    {U_BEGIN, 0xf0, 0xf0, U_F0},    {U_BEGIN, 0xf1, 0xf3, U_3},
    {U_BEGIN, 0xf4, 0xf4, U_F4},    {U_1, 0x80, 0xbf, U_BEGIN},
    {U_2, 0x80, 0xbf, U_1},         {U_3, 0x80, 0xbf, U_2},
    {U_E0, 0xa0, 0xbf, U_1},        {U_ED, 0x80, 0x9f, U_1},
    {U_F0, 0x90, 0xbf, U_2},        {U_F4, 0x80, 0x8f, U_2},
};

/* States of the grammar and of UTF-8 together, those that were reached. */
struct pairs {
    uint32_t of[PAIRS_MAX]; /* state * U_STATES + u */
    uint32_t slots[SLOTS];  /* 1 + index in `of`; 0: free */
    size_t n;
};

static bool add_pair(struct pairs *p, uint32_t state, unsigned u)
{
    uint32_t pair = state * U_STATES + u;
    size_t slot = pair * 2654435761u % SLOTS;

    while (p->slots[slot]) {
        if (p->of[p->slots[slot] - 1] == pair)
            return true;
        slot = (slot + 1) % SLOTS;
    }
    if (p->n == PAIRS_MAX)
        return false;
    p->of[p->n++] = pair;
    p->slots[slot] = (uint32_t)p->n;
    return true;
}

/* Follow one range of bytes, all of which must lead on; characters raise the
 * counter or they do not. */
static bool follow(struct pairs *p, const struct grammar *g,
                   const struct gram_state *st, size_t step, uint32_t raise)
{
    unsigned b = steps[step].lo;

    while (b <= steps[step].hi) {
        const struct gram_edge *e = walk_edge(g, st, b);
        uint32_t want = steps[step].to == U_BEGIN ? raise : 0;
        if (!e || e->to & GRAM_SPACE ||
            (g->rules[st->rule].counted && (e->to & GRAM_COUNTS) != want) ||
            !add_pair(p, e->to & GRAM_STATE, steps[step].to))
            return false;
        b = e->hi + 1u;
    }
    return true;
}

/* Are the raises that are possible at each state what they are at the first,
 * and one more inside a character that will raise? Then no counter that may be
 * at the first is wrong at another. */
static bool counts_alike(const struct gram_state *first,
                         const struct gram_state *st, unsigned u,
                         uint32_t raise)
{
    uint32_t more = raise && u != U_BEGIN;

    if (raise && first->most != GX_MANY)
        return false;
    return st->least == first->least + more && st->most == first->most;
}

struct plain plain_of(const struct grammar *g, uint32_t state)
{
    static const struct plain no = {PLAIN_NO, false};
    const struct gram_state *first = &g->states[state];
    const struct gram_edge *space = walk_edge(g, first, ' ');
    bool counted = g->rules[first->rule].counted;
    struct pairs p = {.n = 0};
    bool alone = true;
    uint32_t raise;

    if (!space || !add_pair(&p, state, U_BEGIN))
        return no;
    raise = counted ? space->to & GRAM_COUNTS : 0;
    for (size_t i = 0; i < p.n; i++) {
        const struct gram_state *st = &g->states[p.of[i] / U_STATES];
        unsigned u = p.of[i] % U_STATES;
        if (counted && !counts_alike(first, st, u, raise))
            return no;
        if (st->height > first->height)
            return no;
        alone = alone && !st->accept && !st->n_calls;
        for (size_t k = 0; k < sizeof(steps) / sizeof(*steps); k++) {
            if (steps[k].at == u && !follow(&p, g, st, k, raise))
                return no;
        }
    }
    return (struct plain){raise ? PLAIN_COUNTED : PLAIN_FREE, alone};
}
