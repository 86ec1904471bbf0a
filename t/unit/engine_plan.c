/*
 * Rows of a step (engine/plan.h): the rules one by one, then a simulation of
 * traffic that holds every step against both stated bounds.
 */
#include "engine/plan.h"

#include "t/lib/tap.h"

#include <string.h>

#define MANY 24

static struct plan_seq prompt(int32_t pending)
{
    return (struct plan_seq){.pending = pending, .soonest = pending};
}

static void rules(void)
{
    struct plan_seq s[5];
    int32_t n;

    s[0] = prompt(5000);
    is_int(plan_rows(s, 1, 256), 256, "alone: the whole slice");
    is_int(s[0].rows, 256, "for the one");

    s[0] = prompt(5000);
    s[1] = (struct plan_seq){.pending = 1, .decoding = true, .soonest = 1};
    s[2] = prompt(30);
    s[3] = prompt(40);
    s[3].follows = true;
    n = plan_rows(s, 4, 256);
    is_int(n, 94, "beside a short prompt a quarter of the slice");
    is_int(s[1].rows, 1, "who decodes gets its row");
    is_int(s[2].rows, 30, "a short prompt all of its own");
    is_int(s[3].rows, 0, "who follows none");
    is_int(s[0].rows, 64, "that is the long one's");

    s[0] = prompt(900);
    s[1] = prompt(300);
    (void)plan_rows(s, 2, 256);
    is_int(s[0].rows, 16, "long ones share an eighth");
    is_int(s[1].rows, 240, "the rest is for the one that ends soonest");
    s[0].soonest = 10;
    (void)plan_rows(s, 2, 256);
    is_int(s[0].rows, 240, "unless somebody waits for another one's rows");

    for (int i = 0; i < 5; i++)
        s[i] = prompt(64);
    n = plan_rows(s, 5, 8);
    is_int(n, 64, "a small slice has room for a short prompt");
    ok(s[0].rows == 64 && !s[1].rows && s[1].waited == 1, "the oldest");
    (void)plan_rows(s, 5, 96);
    ok(s[1].rows == 64 && s[2].rows == 32 && !s[0].rows,
       "then those that waited, the last one a part");
}

/* --- traffic ------------------------------------------------------------- */

static uint32_t seed = 12345;

static int32_t below(int32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (int32_t)((seed >> 8) % (uint32_t)n);
}

struct sim {
    struct plan_seq s[MANY];
    int32_t left[MANY];   /* tokens to be written, or until it leads no more */
    int32_t limit[MANY];  /* steps that it may still go without */
    int32_t n, slice;
    int32_t late, large;  /* bounds that were broken */
    int32_t longest;
};

static int32_t ceil_div(int32_t a, int32_t b)
{
    return (a + b - 1) / b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static bool waits(const struct plan_seq *s)
{
    return !s->decoding && !s->follows;
}

/* The bound that the header states for one that goes without from now on. */
static int32_t bound(const struct sim *m, const struct plan_seq *s)
{
    int32_t prompts = 0;

    for (int32_t i = 0; i < m->n; i++)
        prompts += waits(&m->s[i]);
    if (s->pending > PLAN_SHORT)
        return ceil_div(prompts, most(1, m->slice / 8)) - 1;
    return ceil_div(prompts * PLAN_SHORT, most(m->slice, PLAN_SHORT)) - 1;
}

static void arrive(struct sim *m)
{
    static const int32_t size[] = {1, 20, 64, 65, 300, 3000};
    int32_t kind = below(8), i = m->n++;

    m->s[i] = prompt(1 + below(size[below(6)]));
    if (kind == 0)
        m->s[i].pending = 20000;
    m->s[i].soonest = kind == 1 ? most(1, m->s[i].pending / 2)
                                : m->s[i].pending;
    m->s[i].follows = kind == 2;
    m->left[i] = 1 + below(60);
    m->limit[i] = -1;
}

static void remove_at(struct sim *m, int32_t i)
{
    size_t after = (size_t)(--m->n - i);

    memmove(m->s + i, m->s + i + 1, after * sizeof(m->s[0]));
    memmove(m->left + i, m->left + i + 1, after * sizeof(m->left[0]));
    memmove(m->limit + i, m->limit + i + 1, after * sizeof(m->limit[0]));
}

static void one_moves(struct sim *m, int32_t i)
{
    struct plan_seq *s = &m->s[i];

    if (s->follows) {
        s->follows = --m->left[i] > 0;
        return;
    }
    s->pending -= s->rows;
    s->soonest = s->pending;
    if (s->pending)
        return;
    s->decoding = true;
    /* sometimes a guide forces ids: a short prompt again */
    s->pending = 1;
    if (below(16) == 0) {
        s->pending = 1 + below(PLAN_SHORT);
        s->decoding = s->pending == 1;
    }
    s->soonest = s->pending;
    m->left[i]--;
}

static void turn(struct sim *m)
{
    int32_t decoding = 0, rows = 0, given;

    while (m->n < MANY && below(3) == 0)
        arrive(m);
    for (int32_t i = 0; i < m->n; i++)
        if (waits(&m->s[i]) && m->limit[i] < 0)
            m->limit[i] = bound(m, &m->s[i]);
    given = plan_rows(m->s, m->n, m->slice);
    for (int32_t i = 0; i < m->n; i++) {
        struct plan_seq *s = &m->s[i];

        decoding += s->decoding;
        rows += s->rows;
        if (s->waited > m->longest)
            m->longest = s->waited;
        m->late += (waits(s) && s->waited > m->limit[i]) ||
                   (s->decoding && s->rows != 1) || (s->follows && s->rows) ||
                   s->rows > s->pending;
        if (s->rows || s->follows)
            m->limit[i] = -1;
    }
    m->large += rows != decoding + given ||
                given > most(m->slice, PLAN_SHORT) + most(1, m->slice / 8) ||
                given > plan_most(m->slice);
    for (int32_t i = m->n - 1; i >= 0; i--) {
        one_moves(m, i);
        if (m->left[i] <= 0 && !m->s[i].follows)
            remove_at(m, i);
    }
}

int main(void)
{
    static const int32_t slices[] = {1, 8, 63, 64, 100, 256, 1000};

    rules();
    for (size_t i = 0; i < sizeof(slices) / sizeof(*slices); i++) {
        struct sim m = {.slice = slices[i]};

        for (int k = 0; k < 20000; k++)
            turn(&m);
        is_int(m.late, 0, "slices of %d: nobody waits longer than stated "
               "(longest: %d steps)", m.slice, m.longest);
        is_int(m.large, 0, "and no step is larger");
    }
    return done();
}
