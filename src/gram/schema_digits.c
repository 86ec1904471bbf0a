#include "gram/schema_digits.h"

/* An automaton that grows; in the arena of the workshop. */
struct table {
    struct gxs *w;
    struct gx_edge *edges;
    size_t n, cap;
    bool *accept; /* [states] */
    size_t states;
};

static bool table_init(struct table *t, struct gxs *w, size_t states,
                       size_t edges)
{
    *t = (struct table){.w = w, .states = states, .cap = edges};
    t->accept = arena_array(&w->arena, states, sizeof *t->accept);
    t->edges = arena_array(&w->arena, edges, sizeof *t->edges);
    if (!t->accept || !t->edges) {
        gxs_fail(w, ST_LIMIT, "", "numbers with these bounds need more than "
                 "%u bytes of memory", GX_ARENA);
        return false;
    }
    return gxs_work(w, states + edges);
}

/* Digits lo..hi; nothing when lo > hi. */
static void digits(struct table *t, size_t from, int lo, int hi, size_t to)
{
    if (lo > hi)
        return;
    BUG_ON(t->n >= t->cap);
    t->edges[t->n++] = (struct gx_edge){(uint32_t)from, (uint32_t)to,
                                        (uint8_t)('0' + lo),
                                        (uint8_t)('0' + hi)};
}

static void point(struct table *t, size_t from, size_t to)
{
    BUG_ON(t->n >= t->cap);
    t->edges[t->n++] = (struct gx_edge){(uint32_t)from, (uint32_t)to, '.',
                                        '.'};
}

static const struct gx *table_take(struct table *t)
{
    return gx_table(t->w, (uint32_t)t->states, t->accept, t->edges, t->n);
}

/* Less than, equal to, more than digit v: to three states. */
static void three_ways(struct table *t, size_t from, int v, size_t less,
                       size_t equal, size_t more)
{
    digits(t, from, 0, v - 1, less);
    digits(t, from, v, v, equal);
    digits(t, from, v + 1, 9, more);
}

/* Where a comparison is: i digits before the point were read and are so far
 * equal (0), less (1) or more (2). */
static size_t at(size_t i, int how)
{
    return 3 * i + (size_t)how;
}

/* The part behind the point: states frac..frac + m are equal so far, then less
 * and more for good. f[0..m): the digits. */
static void compare_fraction(struct table *t, size_t frac, const char *f,
                             size_t zeros, size_t m, unsigned order)
{
    size_t less = frac + m + 1, more = less + 1, j;

    for (j = 0; j < m; j++) {
        three_ways(t, frac + j, j < zeros ? 0 : f[j - zeros] - '0', less,
                   frac + j + 1, more);
        t->accept[frac + j] = order & DIGITS_LESS;
    }
    three_ways(t, frac + m, 0, less, frac + m, more);
    t->accept[frac + m] = order & DIGITS_EQUAL;
    digits(t, less, 0, 9, less);
    digits(t, more, 0, 9, more);
    t->accept[less] = order & DIGITS_LESS;
    t->accept[more] = order & DIGITS_MORE;
}

const struct gx *digits_compare(struct gxs *w, const struct decimal *d,
                                unsigned order)
{
    size_t whole = d->point > 0 ? (size_t)d->point : 0, n = whole ? whole : 1;
    size_t zeros = d->point < 0 ? (size_t)-d->point : 0;
    size_t m = d->n > whole ? d->n - whole + zeros : 0;
    size_t longer = at(n + 1, 0), frac = longer + 1, i;
    struct table t;

    if (!table_init(&t, w, frac + m + 3, 11 * (n + m + 4)))
        return gx_none(w);
    for (i = 0; i <= n; i++) {
        int v = i < whole && i < d->n ? d->digits[i] - '0' : 0;

        if (i < n) {
            three_ways(&t, at(i, 0), v, at(i + 1, 1), at(i + 1, 0),
                       at(i + 1, 2));
            digits(&t, at(i, 1), 0, 9, at(i + 1, 1));
            digits(&t, at(i, 2), 0, 9, at(i + 1, 2));
        } else {
            digits(&t, at(i, 0), 0, 9, longer);
            digits(&t, at(i, 1), 0, 9, longer);
            digits(&t, at(i, 2), 0, 9, longer);
        }
        if (!i)
            continue;
        point(&t, at(i, 0), i < n ? frac + m + 1 : frac);
        point(&t, at(i, 1), frac + m + 1);
        point(&t, at(i, 2), i < n ? frac + m + 1 : frac + m + 2);
        t.accept[at(i, 0)] =
            order & (i == n && !m ? DIGITS_EQUAL : DIGITS_LESS);
        t.accept[at(i, 1)] = order & DIGITS_LESS;
        t.accept[at(i, 2)] = order & (i < n ? DIGITS_LESS : DIGITS_MORE);
    }
    digits(&t, longer, 0, 9, longer);
    point(&t, longer, frac + m + 2);
    t.accept[longer] = order & DIGITS_MORE;
    compare_fraction(&t, frac, d->digits + whole, zeros, m, order);
    return table_take(&t);
}

/*
 * Multiples of factor * 10^zeros. State 1 is the number 0. State 2 + t: t of
 * the zeros were read behind a multiple of the factor. The others, from `rest`
 * on: remainders but 0.
 */
static const struct gx *whole_multiple(struct gxs *w, uint32_t factor,
                                       uint32_t zeros)
{
    const uint32_t rest = 2 + zeros; /* and no state for remainder 0 */
    struct table t;
    uint32_t i, r;
    int v;

    if (!table_init(&t, w, rest + factor, (size_t)10 * (factor + zeros + 1)))
        return gx_none(w);
    digits(&t, 0, 0, 0, 1);
    for (v = 1; v < 10; v++) {
        r = (uint32_t)v % factor;
        digits(&t, 0, v, v, r ? rest + r : 2);
    }
    for (i = 0; i <= zeros; i++) {
        digits(&t, 2 + i, 0, 0, 2 + (i < zeros ? i + 1 : i));
        for (v = 1; v < 10; v++) {
            r = (uint32_t)v % factor;
            digits(&t, 2 + i, v, v, r ? rest + r : 2);
        }
    }
    for (i = 1; i < factor; i++)
        for (v = 0; v < 10; v++) {
            r = (i * 10 + (uint32_t)v) % factor;
            digits(&t, rest + i, v, v, r ? rest + r : 2);
        }
    t.accept[1] = true;
    t.accept[2 + zeros] = true;
    return table_take(&t);
}

const struct gx *digits_multiple(struct gxs *w, uint32_t factor,
                                 uint32_t zeros, uint32_t frac)
{
    struct table t;
    uint32_t j, r, power = 1 % factor;
    int v;

    if (!frac)
        return whole_multiple(w, factor, zeros);
    /* State 1 + j * factor + r: remainder r; j = 0 before the point, else
     * j - 1 digits behind it. */
    if (!table_init(&t, w, 1 + (size_t)factor * (frac + 2),
                    10 + (size_t)10 * factor * (frac + 1) + factor))
        return gx_none(w);
    for (v = 0; v < 10; v++)
        digits(&t, 0, v, v, 1 + (uint32_t)v % factor);
    for (r = 0; r < factor; r++)
        point(&t, 1 + r, 1 + factor + r);
    for (j = 0; j <= frac; j++)
        for (r = 0; r < factor; r++)
            for (v = 0; v < 10; v++)
                digits(&t, 1 + (size_t)factor * j + r, v, v,
                       1 + (size_t)factor * (j ? j + 1 : 0) +
                           (r * 10 + (uint32_t)v) % factor);
    /* From the last digit on backwards: the digits that are not written are
     * zeros. */
    for (j = frac + 1; j > 0; j--) {
        for (r = 0; r < factor; r++)
            t.accept[1 + (size_t)factor * j + r] =
                (uint64_t)r * power % factor == 0;
        if (j > 1)
            power = (uint32_t)((uint64_t)power * 10 % factor);
    }
    for (r = 0; r < factor; r++)
        t.accept[1 + r] = t.accept[1 + factor + r];
    return table_take(&t);
}
