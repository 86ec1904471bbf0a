#include "gram/mask_fill.h"

#include "gram/plain.h"
#include "gram/rows.h"

#include <string.h>

#define PLAINS 1024 /* answers of plain_of that are kept */
#define SEEN 512

struct known_plain {
    uint64_t grammar;
    uint32_t state;
    struct plain plain;
};

/* What is left behind so many bytes of the branch. */
struct level {
    struct walk_way one; /* n == 1 */
    uint32_t n;
    size_t first;        /* n > 1: in `ways` */
    size_t n_nodes;
};

/* The same where one way can only stay in its rule: at that state, else as at
 * the level `base`. One word that is copied, not a level. */
struct quick {
    uint32_t state; /* UINT32_MAX: see the level */
    uint32_t base;
};

struct fill {
    const struct gram_vocab *v;
    struct walk walk;
    struct walk_way out[GRAM_WAYS_MAX];
    struct walk_node *nodes;    /* [cap_nodes] owned */
    struct walk_way *ways;      /* [cap_ways] owned */
    size_t cap_nodes, cap_ways;
    struct level *levels;       /* [v->longest + 1] owned */
    struct quick *quick;        /* the same */
    struct rows rows;
    uint32_t seen[SEEN], look;  /* step_many: hashes of states of its outcome */
    struct known_plain *plains; /* [PLAINS] owned */
};

struct fill *fill_new(const struct gram_vocab *v)
{
    struct fill *f = mem_try(sizeof(*f));

    if (!f)
        return NULL;
    f->v = v;
    f->levels = mem_try_array(v->longest + 1, sizeof(*f->levels));
    f->plains = mem_try_array(PLAINS, sizeof(*f->plains));
    f->quick = mem_try_array(v->longest + 1, sizeof(*f->quick));
    if (!f->levels || !f->quick || !rows_init(&f->rows) || !f->plains) {
        fill_free(f);
        return NULL;
    }
    for (size_t i = 0; i < PLAINS; i++)
        f->plains[i].grammar = UINT64_MAX;
    return f;
}

void fill_free(struct fill *f)
{
    if (!f)
        return;
    free(f->nodes);
    free(f->ways);
    free(f->levels);
    free(f->quick);
    rows_release(&f->rows);
    free(f->plains);
    free(f);
}

/* Room for one more step, and for its ways behind `ways[0..at)`. */
static bool make_room(struct fill *f, size_t at)
{
    size_t need = f->walk.n_nodes + GRAM_FRAMES_MAX + WALK_CALLS_MAX;

    if (need > f->cap_nodes) {
        struct walk_node *p = realloc(f->nodes, 2 * need * sizeof(*p));
        if (!p)
            return false;
        f->nodes = p;
        f->cap_nodes = 2 * need;
    }
    f->walk.nodes = f->nodes;
    need = at + GRAM_WAYS_MAX;
    if (need > f->cap_ways) {
        struct walk_way *p = realloc(f->ways, 2 * need * sizeof(*p));
        if (!p)
            return false;
        f->ways = p;
        f->cap_ways = 2 * need;
    }
    return true;
}

/* Can a way that is at that row only stay in its rule? */
static bool stays(const struct row *row, const struct walk_way *way)
{
    return !row->calls && (!row->accept || way->up == WALK_NONE);
}

/* Level d is what it is: quick when it can be. */
static void begin_level(struct fill *f, size_t d)
{
    const struct level *at = &f->levels[d];

    f->quick[d].state = UINT32_MAX;
    if (at->n == 1 && at->one.depth <= ROW_SHALLOW &&
        stays(row_of(&f->rows, at->one.state), &at->one))
        f->quick[d] = (struct quick){at->one.state, (uint32_t)d};
}

/* A quick step has led to `state` at level d. */
static void quick_level(struct fill *f, size_t d, uint32_t from, uint32_t state)
{
    struct level *at = &f->levels[d];

    if (stays(row_of(&f->rows, state), &f->levels[from].one)) {
        f->quick[d] = (struct quick){state, from};
        return;
    }
    f->quick[d].state = UINT32_MAX;
    *at = f->levels[from];
    at->one.state = state;
    at->one.space = 0;
}

/* The level of a quick one, to be asked more. */
static struct level *full_level(struct fill *f, size_t d)
{
    struct quick *q = &f->quick[d];
    struct level *at = &f->levels[d];

    if (q->state != UINT32_MAX && q->base != d) {
        *at = f->levels[q->base];
        at->one.state = q->state;
        at->one.space = 0;
        q->base = (uint32_t)d;
    }
    return at;
}

enum inside { INSIDE_YES, INSIDE_DEAD, INSIDE_NO };

static bool may_begin_call(const struct row *row, uint8_t byte)
{
    return row->calls && row->leaves[byte >> 6] >> (byte & 63) & 1;
}

/* Can the byte come behind the end of the rule? The callers' states say so as
 * far as they have to end themselves. */
static bool may_follow(struct fill *f, const struct walk_way *way, uint8_t byte)
{
    int32_t up = way->up;

    while (up != WALK_NONE) {
        const struct row *row = row_of(&f->rows, f->nodes[up].state);
        if (row->to[byte] != ROW_DEAD || may_begin_call(row, byte))
            return true;
        if (!row->accept)
            return false;
        up = f->nodes[up].up;
    }
    return false;
}

/* A way, when the byte can only keep it in its rule: what walk_step does. */
static enum inside step_inside(struct fill *f, const struct walk_way *way,
                               uint8_t byte, struct walk_way *next)
{
    const struct grammar *g = f->walk.g;
    const struct row *row = row_of(&f->rows, way->state);
    uint32_t edge = row->to[byte];
    uint32_t to = edge & ~(ROW_CARE | GRAM_SPACE | GRAM_COUNTS);
    const struct gram_rule *r;

    if (may_begin_call(row, byte) ||
        (row->accept && may_follow(f, way, byte)))
        return INSIDE_NO;
    if (edge == ROW_DEAD)
        return INSIDE_DEAD;
    *next = *way;
    next->state = to;
    next->space = 0;
    if (edge & GRAM_SPACE) {
        if (way->space >= GRAM_SPACE_MAX)
            return INSIDE_DEAD;
        next->space = (uint16_t)(way->space + 1);
    }
    r = &g->rules[g->states[to].rule];
    if (edge & GRAM_COUNTS)
        next->count = walk_raise(&f->walk, r, way->count, way->from);
    if (!walk_may_enter(&f->walk, to, next->count, way->from, way->depth))
        return INSIDE_DEAD;
    return INSIDE_YES;
}

/* Is one of ways[0..n) at that state? */
static bool at_state(const struct walk_way *ways, uint32_t n, uint32_t state)
{
    for (uint32_t i = 0; i < n; i++) {
        if (ways[i].state == state)
            return true;
    }
    return false;
}

/*
 * Several ways, when each can only stay in its rule: no more come out than go
 * in, so none is given up. INSIDE_NO also where two come to one state and may
 * be the same.
 */
static enum inside step_many(struct fill *f, const struct level *at,
                             uint8_t byte, struct level *next)
{
    const struct walk_way *from = &f->ways[at->first];
    struct walk_way *to = &f->ways[at->first + at->n];
    uint32_t n = 0;

    f->look++;
    for (uint32_t i = 0; i < at->n; i++) {
        enum inside in = step_inside(f, &from[i], byte, &to[n]);
        uint32_t *seen;
        if (in == INSIDE_DEAD)
            continue;
        if (in == INSIDE_NO)
            return INSIDE_NO;
        seen = &f->seen[to[n].state % SEEN];
        if (*seen == f->look && at_state(to, n, to[n].state))
            return INSIDE_NO;
        *seen = f->look;
        n++;
    }
    next->n = n;
    next->first = at->first + at->n;
    next->n_nodes = at->n_nodes;
    if (n == 1)
        next->one = to[0];
    return n ? INSIDE_YES : INSIDE_DEAD;
}

/* Any number of ways. False: no memory. */
static bool step_any(struct fill *f, const struct level *at, unsigned symbol,
                     struct level *next)
{
    size_t behind = at->first + (at->n > 1 ? at->n : 0);

    f->walk.n_nodes = at->n_nodes;
    if (!make_room(f, behind))
        return false;
    walk_step(&f->walk, at->n == 1 ? &at->one : &f->ways[at->first], at->n,
              symbol);
    next->n = (uint32_t)f->walk.n_out;
    next->first = behind;
    next->n_nodes = f->walk.n_nodes;
    if (next->n == 1)
        next->one = f->out[0];
    else if (next->n > 1)
        memcpy(&f->ways[behind], f->out, next->n * sizeof(*f->out));
    return true;
}

static void set_ids(const struct gram_vocab *v, const struct gram_node *node,
                    uint32_t *bits)
{
    int32_t id = node->id;

    if (id < 0)
        return;
    bits[id / 32] |= 1u << id % 32;
    while (node->several && v->next_same[id] >= 0) {
        id = v->next_same[id];
        bits[id / 32] |= 1u << id % 32;
    }
}

/* One byte further, whatever there is. */
static enum inside step_level(struct fill *f, size_t d, uint8_t byte,
                              bool *failed)
{
    struct level *at = full_level(f, d), *next = at + 1;
    enum inside in;

    if (at->n == 1) {
        in = step_inside(f, &at->one, byte, &next->one);
        next->n = 1;
        next->first = at->first;
        next->n_nodes = at->n_nodes;
    } else {
        *failed = !make_room(f, at->first + at->n);
        in = *failed ? INSIDE_DEAD : step_many(f, at, byte, next);
    }
    if (in != INSIDE_NO)
        return in;
    *failed = !step_any(f, at, byte, next);
    return next->n && !*failed ? INSIDE_YES : INSIDE_DEAD;
}

static bool walk_trie(struct fill *f, const struct gram_trie *t,
                      uint32_t *bits)
{
    const struct gram_node *nodes = t->nodes;
    bool failed = false;

    begin_level(f, 0);
    for (size_t i = 0; i < t->n;) {
        size_t d = nodes[i].depth;
        struct quick q = f->quick[d];
        uint32_t to = q.state == UINT32_MAX
                          ? ROW_CARE
                          : row_of(&f->rows, q.state)->to[nodes[i].byte];

        if (to < ROW_CARE) {
            /* step_inside, with nothing to ask */
            if (nodes[i].end > i + 1)
                quick_level(f, d + 1, q.base, to);
        } else if (to != ROW_DEAD &&
                   step_level(f, d, nodes[i].byte, &failed) == INSIDE_YES) {
            if (nodes[i].end > i + 1)
                begin_level(f, d + 1);
        } else {
            if (failed)
                return false;
            i = nodes[i].end;
            continue;
        }
        set_ids(f->v, &nodes[i], bits);
        i++;
    }
    return true;
}

static struct plain known_plain(struct fill *f, uint32_t state)
{
    const struct grammar *g = f->walk.g;
    struct known_plain *k = &f->plains[(state + g->id * 61) % PLAINS];

    if (k->grammar != g->id || k->state != state) {
        k->grammar = g->id;
        k->state = state;
        k->plain = plain_of(g, state);
    }
    return k->plain;
}

/* The number of characters of the longest plain ids that fit `room`, and of
 * the shortest that do not (UINT64_MAX: all fit). *n: how many of the list. */
static void long_that_fit(const struct gram_vocab *v, uint64_t room, size_t *n,
                          uint64_t *fits, uint64_t *over)
{
    *fits = room < GRAM_PLAIN_MAX ? room : GRAM_PLAIN_MAX;
    *over = room < GRAM_PLAIN_MAX ? room + 1 : UINT64_MAX;
    for (*n = 0; *n < v->n_long; ++*n) {
        if (v->plain_long[*n].chars > room) {
            if (*over == UINT64_MAX)
                *over = v->plain_long[*n].chars;
            return;
        }
        *fits = v->plain_long[*n].chars;
    }
}

/*
 * Where any plain text may go on: all plain ids, up to what a counter has left.
 * False: it is not such a place. Of several ways only the first is looked at:
 * it is never given up.
 */
static bool set_plain(struct fill *f, const struct walk_way *way,
                      uint32_t *bits)
{
    const struct gram_vocab *v = f->v;
    const struct gram_state *st = &f->walk.g->states[way->state];
    const struct gram_rule *r = &f->walk.g->rules[st->rule];
    struct plain plain = known_plain(f, way->state);
    uint64_t room = UINT64_MAX, fits, over;
    size_t n;

    if (plain.kind == PLAIN_NO || st->height > GRAM_DEPTH_MAX - way->depth)
        return false;
    if (plain.kind == PLAIN_COUNTED && r->max != GX_MANY)
        room = (uint64_t)r->max - way->count - st->least;
    long_that_fit(v, room, &n, &fits, &over);
    if (over != UINT64_MAX && (!plain.alone || f->levels[0].n > 1))
        return false;
    if (room != UINT64_MAX) {
        /* what walk_may_enter would ask behind those that just fit, or not */
        (void)walk_at_most(&f->walk, way->count, way->from, st->least + fits,
                           r->max);
        if (over != UINT64_MAX)
            (void)walk_at_most(&f->walk, way->count, way->from,
                               st->least + over, r->max);
    }
    memcpy(bits,
           v->plain + (fits < GRAM_PLAIN_MAX ? fits : GRAM_PLAIN_MAX) *
                          v->words,
           v->words * sizeof(*bits));
    for (size_t i = 0; i < n; i++)
        bits[v->plain_long[i].id / 32] |= 1u << v->plain_long[i].id % 32;
    return true;
}

static bool set_facts(struct fill *f, const struct gram_place *p,
                      struct mask_facts *facts)
{
    const struct grammar *g = f->walk.g;
    const struct gram_frame *frame = p->frames;
    struct level next;
    int from = 0;

    facts->marks = 0;
    for (unsigned k = 0; k < GX_MARKS; k++) {
        if (!step_any(f, &f->levels[0], 256 + k, &next))
            return false;
        facts->marks |= (uint32_t)(next.n > 0) << k;
    }
    facts->ends = false;
    for (size_t i = 0; i < p->n_ways; i++) {
        bool ends = true;
        for (size_t d = 0; d < p->depth[i]; d++, frame++, from++) {
            const struct gram_state *st = &g->states[frame->state];
            ends = ends && st->accept &&
                   walk_may_end(&f->walk, &g->rules[st->rule], frame->count,
                                from);
        }
        facts->ends = facts->ends || ends;
    }
    return true;
}

bool fill_mask(struct fill *f, const struct grammar *g,
               const struct gram_place *p, uint32_t *bits,
               struct mask_facts *facts, struct walk_range *range)
{
    struct level *begin = &f->levels[0];
    bool plain;

    for (size_t i = 0; i < p->n_frames; i++)
        range[i] = (struct walk_range){p->frames[i].count, INT64_MIN,
                                       INT64_MAX};
    f->walk = (struct walk){.g = g, .out = f->out, .range = range};
    rows_for(&f->rows, g);
    if (!make_room(f, 0))
        return false;
    begin->first = 0;
    begin->n = (uint32_t)walk_load(&f->walk, p, f->ways);
    begin->n_nodes = f->walk.n_nodes;
    begin->one = f->ways[0];
    if (!set_facts(f, p, facts))
        return false;
    plain = set_plain(f, &f->ways[0], bits);
    if (!plain)
        memset(bits, 0, f->v->words * sizeof(*bits));
    return walk_trie(f, plain ? &f->v->rough : &f->v->all, bits);
}
