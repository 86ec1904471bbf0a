#include "engine/plan.h"

#include <stddef.h>

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t eighth(int32_t slice)
{
    return slice / 8 ? slice / 8 : 1;
}

int32_t plan_most(int32_t slice)
{
    return (slice > PLAN_SHORT ? slice : PLAN_SHORT) + eighth(slice);
}

enum kind { NEITHER, SHORT_PROMPT, LONG_PROMPT };

static enum kind kind_of(const struct plan_seq *s)
{
    if (s->decoding || s->follows)
        return NEITHER;
    return s->pending <= PLAN_SHORT ? SHORT_PROMPT : LONG_PROMPT;
}

/* Of this kind and without a row yet: the one that waited most. */
static struct plan_seq *next_of(struct plan_seq *s, int32_t n, enum kind kind)
{
    struct plan_seq *best = NULL;

    for (int32_t i = 0; i < n; i++)
        if (kind_of(&s[i]) == kind && !s[i].rows &&
            (!best || s[i].waited > best->waited))
            best = &s[i];
    return best;
}

static int32_t short_prompts(struct plan_seq *s, int32_t n, int32_t slice)
{
    int32_t room = slice > PLAN_SHORT ? slice : PLAN_SHORT, left = room;
    struct plan_seq *q;

    while (left && (q = next_of(s, n, SHORT_PROMPT)) != NULL) {
        q->rows = least(q->pending, left);
        left -= q->rows;
    }
    return room - left;
}

static int32_t long_prompts(struct plan_seq *s, int32_t n, int32_t slice)
{
    int32_t room = eighth(slice), left, longs = 0, each;
    struct plan_seq *q;

    for (int32_t i = 0; i < n; i++)
        longs += kind_of(&s[i]) == LONG_PROMPT;
    if (!longs)
        return 0;
    each = room / longs;
    left = room % longs; /* one more for each of the first */
    while ((each || left) && (q = next_of(s, n, LONG_PROMPT)) != NULL) {
        q->rows = least(q->pending, each + (left > 0));
        left -= left > 0;
        room -= q->rows;
    }
    return eighth(slice) - room;
}

/* The prompt with rows left that ends soonest. */
static struct plan_seq *soonest(struct plan_seq *s, int32_t n)
{
    struct plan_seq *best = NULL;

    for (int32_t i = 0; i < n; i++)
        if (kind_of(&s[i]) != NEITHER && s[i].rows < s[i].pending &&
            (!best || s[i].soonest < best->soonest))
            best = &s[i];
    return best;
}

int32_t plan_rows(struct plan_seq *s, int32_t n, int32_t slice)
{
    struct plan_seq *q;
    int32_t given, room = slice;

    for (int32_t i = 0; i < n; i++)
        s[i].rows = s[i].decoding;
    given = short_prompts(s, n, slice);
    if (given)
        room = least(slice, given + slice / 4);
    given += long_prompts(s, n, slice);
    while (given < room && (q = soonest(s, n)) != NULL) {
        int32_t more = least(q->pending - q->rows, room - given);

        q->rows += more;
        given += more;
    }
    for (int32_t i = 0; i < n; i++)
        s[i].waited = s[i].rows || s[i].follows ? 0 : s[i].waited + 1;
    return given;
}
