/*
 * Pattern guard: a loop of the model ends the text. (Seed 000,
 * --pattern-stop MAX:MIN:COUNT.)
 *
 * The last size*count ids are one block repeated count times exactly when
 * each of the last size*(count-1) ids equals the one `size` before it. So it
 * is enough to count, per size, how many ids in a row did.
 */
#include "gen/guide.h"

#define SIZE_MAX_IDS 256
#define COUNT_MAX 64

struct pattern {
    struct guide guide; /* first: the two convert */
    uint32_t max, min, count;
};

struct pattern_state {
    uint32_t seen;      /* ids so far, stops counting at max */
    uint32_t at;        /* where the next one goes in `last` */
    uint32_t found;     /* the size of the block that ended it; 0: none did */
    int32_t last[SIZE_MAX_IDS];  /* ring of `max` */
    uint32_t run[SIZE_MAX_IDS];  /* [size - 1] ids in a row, saturates */
};

static const struct pattern *pattern_of(const struct guide *g)
{
    return (const struct pattern *)(const void *)g;
}

static size_t state_bytes(const struct guide *g)
{
    (void)g;
    return sizeof(struct pattern_state);
}

static void init(const struct guide *g, void *state)
{
    (void)g;
    memset(state, 0, sizeof(struct pattern_state));
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct pattern *p = pattern_of(g);
    struct pattern_state *s = state;

    s->found = 0;
    for (uint32_t size = p->min; size <= p->max; size++) {
        uint32_t *run = &s->run[size - 1];
        uint32_t want = size * (p->count - 1);

        if (s->seen < size || s->last[(s->at + p->max - size) % p->max] != id)
            *run = 0;
        else if (*run < want)
            ++*run;
        if (*run == want && !s->found)
            s->found = size;
    }
    s->last[s->at] = id;
    s->at = (s->at + 1) % p->max;
    if (s->seen < p->max)
        s->seen++;
    return s->found ? GUIDE_STOP : GUIDE_GO;
}

static void note(const struct guide *g, const void *state,
                 struct guide_note *out)
{
    const struct pattern *p = pattern_of(g);
    const struct pattern_state *s = state;

    if (!s->found)
        return;
    out->loop_size = (int32_t)s->found;
    out->loop_count = (int32_t)p->count;
    for (uint32_t i = 0; i < s->found && i < GUIDE_LOOP_IDS; i++)
        out->loop_ids[i] = s->last[(s->at + p->max - s->found + i) % p->max];
}

static void pattern_free(struct guide *g)
{
    free(g);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .accept = accept,
    .note = note,
    .free = pattern_free,
};

enum st guide_pattern_new(struct guide **out, int max, int min, int count,
                          struct err *e)
{
    struct pattern *p;

    *out = NULL;
    if (max < 1 || max > SIZE_MAX_IDS || min < 1 || min > max || count < 2 ||
        count > COUNT_MAX)
        return err_set(e, ST_INVALID, "pattern-stop",
                       "%d:%d:%d is not MAX:MIN:COUNT with MAX 1-%d, MIN "
                       "1-MAX and COUNT 2-%d",
                       max, min, count, SIZE_MAX_IDS, COUNT_MAX);
    p = mem_new(struct pattern);
    p->guide.ops = &ops;
    p->max = (uint32_t)max;
    p->min = (uint32_t)min;
    p->count = (uint32_t)count;
    *out = &p->guide;
    return ST_OK;
}
