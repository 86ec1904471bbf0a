/*
 * t/lib/gram_walk.h - a walk through a grammar that arbitrary bytes steer:
 * what must hold at every place, whatever the grammar.
 */
#ifndef T_GRAM_WALK_H
#define T_GRAM_WALK_H

#include "base/buf.h"
#include "gram/machine.h"
#include <string.h>

#define WALK_WORDS ((GRAM_SYMBOLS + 63) / 64)

static inline bool walk_bit(const uint64_t *set, unsigned k)
{
    return set[k / 64] >> (k % 64) & 1;
}

/* One symbol; false: p is dead. */
static inline bool walk_symbol(const struct grammar *g, struct gram_place *p,
                               unsigned k)
{
    char c = (char)k;

    return k < 256 ? gram_bytes(g, p, &c, 1) : gram_mark(g, p, (int)k - 256);
}

/* Those bytes and no others: nothing else comes, and no end before them. */
static inline void walk_must(const struct grammar *g,
                             const struct gram_place *at)
{
    uint64_t next[WALK_WORDS];
    struct gram_place p = *at;
    char must[24];
    size_t n = gram_must(g, at, must, sizeof(must));

    BUG_ON(n > sizeof(must));
    for (size_t i = 0; i < n; i++) {
        BUG_ON(gram_ends(g, &p));
        gram_next(g, &p, next);
        for (unsigned k = 0; k < GRAM_SYMBOLS; k++)
            BUG_ON(walk_bit(next, k) != (k == (uint8_t)must[i]));
        BUG_ON(!gram_bytes(g, &p, must + i, 1));
    }
}

/*
 * Up to `steps` symbols, chosen by data[0..n); `text` gets the bytes. A place
 * that lives ends or goes on; what gram_next names lives and what it does not
 * name is dead. Calls `ends` wherever the text may end.
 */
static inline void walk(const struct grammar *g, const uint8_t *data, size_t n,
                        size_t steps, struct buf *text,
                        void (*ends)(const struct buf *text))
{
    uint64_t next[WALK_WORDS];
    struct gram_place p, probe;

    gram_begin(g, &p);
    for (size_t i = 0; i < steps; i++) {
        unsigned choice = n ? data[(i * 7 + i / n) % n] + (unsigned)i : 0;
        unsigned of[GRAM_SYMBOLS], n_of = 0;
        bool end = gram_ends(g, &p);

        memset(next, 0, sizeof(next));
        gram_next(g, &p, next);
        for (unsigned k = 0; k < GRAM_SYMBOLS; k++) {
            if (walk_bit(next, k))
                of[n_of++] = k;
        }
        BUG_ON(!p.n_ways || (!n_of && !end));
        BUG_ON(gram_done(g, &p) && !end);
        BUG_ON(!n_of && !gram_done(g, &p));
        walk_must(g, &p);
        if (end && ends)
            ends(text);
        if (!n_of)
            return;
        probe = p;
        BUG_ON(walk_symbol(g, &probe, choice % GRAM_SYMBOLS) !=
               walk_bit(next, choice % GRAM_SYMBOLS));
        BUG_ON(!walk_symbol(g, &p, of[choice % n_of]));
        if (of[choice % n_of] < 256)
            buf_putc(text, (char)of[choice % n_of]);
    }
}

#endif
