#include "engine/eta.h"

#include <stdlib.h>
#include <string.h>

/* How fast the rates follow: rows and tokens until half of an old rate is
 * gone, about. A chunk counts by its rows: a short one says little. */
#define PREFILL_ROWS 512.0
#define DECODE_TOKENS 32.0

#define MEDIAN 0.5
#define QUARTILE 0.75

#define NEVER INT64_MAX /* nobody knows when */
#define LONGEST 1000000000000000 /* microseconds: adding a few cannot wrap */

/* --- what was ------------------------------------------------------------ */

void eta_finished(struct eta *e, int32_t kind, int32_t wrote, int64_t held_us)
{
    struct eta_done *d = &e->done[kind][e->n[kind] % ETA_KEPT];

    d->wrote = wrote;
    d->held_us = held_us;
    e->n[kind]++;
    if (e->n[kind] >= 2 * ETA_KEPT)
        e->n[kind] -= ETA_KEPT; /* the same place, and never round to 0 */
}

static void follow(double *rate, double now, double weight)
{
    if (*rate > 0)
        *rate += (now - *rate) * weight;
    else
        *rate = now;
}

void eta_prefill(struct eta *e, int32_t rows, int64_t took_us)
{
    if (rows > 0 && took_us > 0)
        follow(&e->prefill_us, (double)took_us / rows,
               rows / (rows + PREFILL_ROWS));
}

void eta_decode(struct eta *e, int64_t took_us)
{
    if (took_us > 0)
        follow(&e->decode_us, (double)took_us, 1 / DECODE_TOKENS);
}

/* --- what will be -------------------------------------------------------- */

static int up(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The nearest rank: the smallest of v[n] that a share of `part` of them does
 * not pass. Sorts v; -1 when they are too few. */
static int64_t rank(int64_t *v, int32_t n, double part)
{
    double at = part * n;
    int32_t i = (int32_t)at;

    if (n < ETA_FEW)
        return -1;
    qsort(v, (size_t)n, sizeof(*v), up);
    if (i < at)
        i++;
    return v[i > 0 ? i - 1 : 0];
}


static int32_t kept(const struct eta *e, int32_t kind)
{
    return e->n[kind] < ETA_KEPT ? (int32_t)e->n[kind] : ETA_KEPT;
}

/* Tokens that it still writes; -1: too few of its kind wrote as many. */
static int64_t tokens_left(const struct eta *e, const struct eta_run *r,
                           double part)
{
    int64_t v[ETA_KEPT], left, most = (int64_t)r->limit - r->wrote;
    int32_t n = 0;

    for (int32_t i = 0; i < kept(e, r->kind); i++)
        if (e->done[r->kind][i].wrote > r->wrote)
            v[n++] = e->done[r->kind][i].wrote - r->wrote;
    left = rank(v, n, part);
    if (left > most)
        left = most > 0 ? most : 0;
    return left;
}

/* What those that ran as long ran on. */
static int64_t hold_left(const struct eta *e, const struct eta_run *r,
                         double part)
{
    int64_t v[ETA_KEPT], left;
    int32_t n = 0;

    for (int32_t i = 0; i < kept(e, r->kind); i++)
        if (e->done[r->kind][i].held_us > r->held_us)
            v[n++] = e->done[r->kind][i].held_us - r->held_us;
    left = rank(v, n, part);
    return left < 0 ? NEVER : left;
}

/* Rows and tokens at their rates; NEVER where a rate is needed and unknown. */
static int64_t work(const struct eta *e, int32_t rows, int64_t tokens,
                    double token_us)
{
    double us;

    if ((rows > 0 && e->prefill_us <= 0) || (tokens > 0 && token_us <= 0))
        return NEVER;
    us = rows * e->prefill_us + (double)tokens * token_us;
    return us < (double)LONGEST ? (int64_t)us : LONGEST;
}

static int64_t run_left(const struct eta *e, const struct eta_run *r,
                        double part)
{
    int64_t tokens = tokens_left(e, r, part), us = NEVER;

    if (tokens >= 0)
        us = work(e, r->prompt_left, tokens,
                  r->token_us > 0 ? r->token_us : e->decode_us);
    return us == NEVER ? hold_left(e, r, part * MEDIAN / QUARTILE) : us;
}

/* What one of each kind typically writes; -1: not known. */
static void typical(const struct eta *e, int64_t *tokens)
{
    int64_t v[ETA_KEPT];

    for (int32_t kind = 0; kind < ETA_KINDS; kind++) {
        for (int32_t i = 0; i < kept(e, kind); i++)
            v[i] = e->done[kind][i].wrote;
        tokens[kind] = rank(v, kept(e, kind), MEDIAN);
    }
}

/* The waiter takes the slot at `from`: when is it free again? */
static int64_t free_again(const struct eta *e, const struct eta_wait *w,
                          int64_t typical_tokens, int64_t from)
{
    int64_t us;

    if (from == NEVER || typical_tokens < 0)
        return NEVER;
    if (typical_tokens > w->limit)
        typical_tokens = w->limit;
    us = work(e, w->prompt, typical_tokens, e->decode_us);
    if (us == NEVER)
        return NEVER;
    return from < LONGEST ? from + us : from;
}

/* Which place run[i] has among those that come free, from 1. */
static int32_t place(const int64_t *left, int32_t n, int32_t i)
{
    int32_t at = 1;

    for (int32_t k = 0; k < n; k++)
        at += left[k] < left[i] || (left[k] == left[i] && k < i);
    return at;
}

/*
 * When every slot comes free. Of n alike, the first comes free long before
 * the third quartile of one: the share that is free at a time tells which
 * quantile the j-th has, (j - 1/4) / n, which is the quartile for one slot.
 */
static void slots_free(const struct eta *e, const struct eta_run *run,
                       int32_t n_run, int32_t slots, int64_t *at)
{
    int64_t *left = at + slots;

    if (n_run > slots)
        n_run = slots;
    for (int32_t i = 0; i < n_run; i++)
        left[i] = run_left(e, &run[i], MEDIAN);
    for (int32_t i = 0; i < n_run; i++)
        at[i] = run_left(e, &run[i],
                         (place(left, n_run, i) - 1 + QUARTILE) / n_run);
    for (int32_t i = n_run; i < slots; i++)
        at[i] = 0;
}

/*
 * A slot of which nothing is known counts as coming free behind all others:
 * it outlived nearly everything that is remembered, or nothing is, and then
 * all of them are unknown.
 */
void eta_estimate(const struct eta *e, const struct eta_run *run, int32_t n_run,
                  struct eta_wait *wait, int32_t n_wait, int32_t slots,
                  int64_t *scratch)
{
    int64_t tokens[ETA_KINDS];
    int32_t first;

    slots_free(e, run, n_run, slots, scratch);
    typical(e, tokens);
    for (int32_t i = 0; i < n_wait; i++) {
        first = 0;
        for (int32_t k = 1; k < slots; k++)
            if (scratch[k] < scratch[first])
                first = k;
        wait[i].eta_us = scratch[first] == NEVER ? -1 : scratch[first];
        scratch[first] =
            free_again(e, &wait[i], tokens[wait[i].kind], scratch[first]);
    }
}
