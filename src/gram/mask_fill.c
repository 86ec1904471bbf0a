#include "gram/mask_fill.h"

#include "gram/heads.h"
#include "gram/plain.h"

#include <string.h>

#define PLAINS 1024 /* answers of plain_of that are kept */

struct known_plain {
    uint64_t grammar;
    uint32_t state;
    struct plain plain;
};

/* The same where one way can only stay in its rule: at that state, else as at
 * the level `base`. One word that is copied, not a level. */
struct quick {
    uint32_t state; /* UINT32_MAX: see the level */
    uint32_t base;
};

struct fill {
    const struct gram_vocab *v;
    struct heads heads;
    struct level *levels;       /* [v->longest + 1] owned */
    struct quick *quick;        /* the same */
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
    if (!f->levels || !f->quick || !heads_init(&f->heads) || !f->plains) {
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
    free(f->levels);
    free(f->quick);
    heads_release(&f->heads);
    free(f->plains);
    free(f);
}

/* Level d is what it is: quick when it can be. */
static void begin_level(struct fill *f, size_t d)
{
    const struct level *at = &f->levels[d];

    f->quick[d].state = UINT32_MAX;
    if (at->n_heads == 1 && at->one.depth <= ROW_SHALLOW &&
        heads_stay(row_of(&f->heads.rows, at->one.state), at))
        f->quick[d] = (struct quick){at->one.state, (uint32_t)d};
}

/* A quick step has led to `state` at level d. */
static void quick_level(struct fill *f, size_t d, uint32_t from, uint32_t state)
{
    struct level *at = &f->levels[d];

    if (heads_stay(row_of(&f->heads.rows, state), &f->levels[from])) {
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

static bool walk_trie(struct fill *f, const struct gram_trie *t,
                      uint32_t *bits)
{
    const struct gram_node *nodes = t->nodes;

    begin_level(f, 0);
    for (size_t i = 0; i < t->n;) {
        size_t d = nodes[i].depth;
        struct quick q = f->quick[d];
        uint32_t to = q.state == UINT32_MAX
                          ? ROW_CARE
                          : row_of(&f->heads.rows, q.state)->to[nodes[i].byte];

        if (to < ROW_CARE) {
            /* step_inside, with nothing to ask */
            if (nodes[i].end > i + 1)
                quick_level(f, d + 1, q.base, to);
        } else {
            struct level *at = full_level(f, d), *next = at + 1;
            next->n = 0;
            if (to != ROW_DEAD &&
                !heads_step(&f->heads, at, nodes[i].byte, next))
                return false;
            if (next->n == 0) {
                i = nodes[i].end;
                continue;
            }
            if (nodes[i].end > i + 1)
                begin_level(f, d + 1);
        }
        set_ids(f->v, &nodes[i], bits);
        i++;
    }
    return true;
}

static struct plain known_plain(struct fill *f, uint32_t state)
{
    const struct grammar *g = f->heads.walk.g;
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

/* How many characters of plain text may come at a head (UINT64_MAX: any),
 * if any may; alone: and no other way reads it. */
static bool plain_room(struct fill *f, const struct walk_way *head,
                       uint64_t *room, bool *alone)
{
    const struct gram_state *st = &f->heads.walk.g->states[head->state];
    const struct gram_rule *r = &f->heads.walk.g->rules[st->rule];
    struct plain plain = known_plain(f, head->state);

    *room = UINT64_MAX;
    *alone = plain.alone;
    if (plain.kind == PLAIN_COUNTED && r->max != GX_MANY)
        *room = (uint64_t)r->max - head->count - st->least;
    return plain.kind != PLAIN_NO &&
           st->height <= GRAM_DEPTH_MAX - head->depth;
}

/* What walk_may_enter would ask of a head's counter behind plain ids that just
 * fit, and behind those that just do not. */
static void ask_room(struct fill *f, const struct walk_way *head,
                     uint64_t fits, uint64_t over)
{
    struct walk *w = &f->heads.walk;
    const struct gram_state *st = &w->g->states[head->state];
    const struct gram_rule *r = &w->g->rules[st->rule];

    if (!r->counted || r->max == GX_MANY)
        return;
    (void)walk_at_most(w, head->count, head->from, st->least + fits, r->max);
    if (over != UINT64_MAX)
        (void)walk_at_most(w, head->count, head->from, st->least + over,
                           r->max);
}

/*
 * Where any plain text may go on: all plain ids, up to what counters have left.
 * False: it is not such a place. Where all may at the first head, the others do
 * not matter: its first way is never given up.
 */
static bool set_plain(struct fill *f, uint32_t *bits)
{
    const struct gram_vocab *v = f->v;
    const struct level *at = &f->levels[0];
    const struct walk_way *heads = heads_of(&f->heads, at);
    uint32_t n_asked = 1;
    uint64_t room, fits, over;
    bool alone;
    size_t n;

    if (!plain_room(f, &heads[0], &room, &alone))
        return false;
    long_that_fit(v, room, &n, &fits, &over);
    if (over != UINT64_MAX) {
        for (uint32_t h = 0; h < at->n_heads; h++) {
            uint64_t more;
            if (!plain_room(f, &heads[h], &more, &alone) || !alone)
                return false;
            if (more > room)
                room = more;
        }
        n_asked = at->n_heads;
        long_that_fit(v, room, &n, &fits, &over);
    }
    for (uint32_t h = 0; h < n_asked; h++)
        ask_room(f, &heads[h], fits, over);
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
    const struct grammar *g = f->heads.walk.g;
    const struct gram_frame *frame = p->frames;
    struct level next;
    int from = 0;

    facts->marks = 0;
    for (unsigned k = 0; k < GX_MARKS; k++) {
        if (!heads_step(&f->heads, &f->levels[0], 256 + k, &next))
            return false;
        facts->marks |= (uint32_t)(next.n > 0) << k;
    }
    facts->ends = false;
    for (size_t i = 0; i < p->n_ways; i++) {
        bool ends = true;
        for (size_t d = 0; d < p->depth[i]; d++, frame++, from++) {
            const struct gram_state *st = &g->states[frame->state];
            ends = ends && st->accept &&
                   walk_may_end(&f->heads.walk, &g->rules[st->rule],
                                frame->count, from);
        }
        facts->ends = facts->ends || ends;
    }
    return true;
}

bool fill_mask(struct fill *f, const struct grammar *g,
               const struct gram_place *p, uint32_t *bits,
               struct mask_facts *facts, struct walk_range *range)
{
    bool plain;

    if (!heads_begin(&f->heads, g, p, range, &f->levels[0]) ||
        !set_facts(f, p, facts))
        return false;
    plain = set_plain(f, bits);
    if (!plain)
        memset(bits, 0, f->v->words * sizeof(*bits));
    if (!walk_trie(f, plain ? &f->v->rough : &f->v->all, bits))
        return false;
    heads_end(&f->heads, range, p->n_frames);
    return true;
}
