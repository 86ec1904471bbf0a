#include "gram/heads.h"

#include <string.h>

#define DEAD UINT32_MAX

bool heads_init(struct heads *hs)
{
    memset(hs, 0, sizeof(*hs));
    return rows_init(&hs->rows);
}

void heads_release(struct heads *hs)
{
    free(hs->nodes);
    free(hs->ways);
    rows_release(&hs->rows);
}

/* Room for one more step, and for ways, heads and outcome behind
 * `ways[0..at)`. */
static bool make_room(struct heads *hs, size_t at)
{
    size_t need = hs->walk.n_nodes + GRAM_FRAMES_MAX + WALK_CALLS_MAX;

    if (need > hs->cap_nodes) {
        struct walk_node *p = realloc(hs->nodes, 2 * need * sizeof(*p));
        if (!p)
            return false;
        hs->nodes = p;
        hs->cap_nodes = 2 * need;
    }
    hs->walk.nodes = hs->nodes;
    need = at + 3 * GRAM_WAYS_MAX;
    if (need > hs->cap_ways) {
        struct walk_way *p = realloc(hs->ways, 2 * need * sizeof(*p));
        if (!p)
            return false;
        hs->ways = p;
        hs->cap_ways = 2 * need;
    }
    return true;
}

enum inside { INSIDE_YES, INSIDE_DEAD, INSIDE_NO };

static bool may_begin_call(const struct row *row, uint8_t byte)
{
    return row->calls && row->leaves[byte >> 6] >> (byte & 63) & 1;
}

/* Can the byte come behind the end of the rule? The callers' states say so as
 * far as they have to end themselves. */
static bool may_follow(struct heads *hs, const struct walk_way *way,
                       uint8_t byte)
{
    int32_t up = way->up;

    while (up != WALK_NONE) {
        const struct row *row = row_of(&hs->rows, hs->nodes[up].state);
        if (row->to[byte] != ROW_DEAD || may_begin_call(row, byte))
            return true;
        if (!row->accept)
            return false;
        up = hs->nodes[up].up;
    }
    return false;
}

/* The same of every way that has that head. */
static bool any_may_follow(struct heads *hs, const struct level *at,
                           const struct walk_way *head, uint8_t byte)
{
    if (at->n == 1)
        return may_follow(hs, head, byte);
    for (uint32_t i = 0; i < at->n; i++) {
        const struct walk_way *way = &hs->ways[at->first + i];
        if (way->head == head->head && may_follow(hs, way, byte))
            return true;
    }
    return false;
}

/* A head, when the byte can only keep it in its rule: what walk_step does with
 * each of its ways. */
static enum inside step_inside(struct heads *hs, const struct level *at,
                               const struct walk_way *head, uint8_t byte,
                               struct walk_way *next)
{
    const struct grammar *g = hs->walk.g;
    const struct row *row = row_of(&hs->rows, head->state);
    uint32_t edge = row->to[byte];
    uint32_t to = edge & ~(ROW_CARE | GRAM_SPACE | GRAM_COUNTS);
    const struct gram_rule *r;

    if (may_begin_call(row, byte) ||
        (row->accept && any_may_follow(hs, at, head, byte)))
        return INSIDE_NO;
    if (edge == ROW_DEAD)
        return INSIDE_DEAD;
    /* it may fit for some of them */
    if (at->n > 1 && g->states[to].height > GRAM_DEPTH_MAX - head->depth)
        return INSIDE_NO;
    *next = *head;
    next->state = to;
    next->space = 0;
    if (edge & GRAM_SPACE) {
        next->space = (uint16_t)(head->space + gram_columns(byte));
        if (next->space > GRAM_SPACE_MAX)
            return INSIDE_DEAD;
    }
    r = &g->rules[g->states[to].rule];
    if (edge & GRAM_COUNTS)
        next->count = walk_raise(&hs->walk, r, head->count, head->from);
    if (!walk_may_enter(&hs->walk, to, next->count, head->from, head->depth))
        return INSIDE_DEAD;
    return INSIDE_YES;
}

static bool same_head(const struct walk_way *a, const struct walk_way *b)
{
    return a->state == b->state && a->count == b->count &&
           a->space == b->space &&
           (a->from == WALK_NONE) == (b->from == WALK_NONE);
}

/* Their counters are asked as one: heads_end. */
static void unite(struct heads *hs, int a, int b)
{
    while (hs->twin[a] != a)
        a = hs->twin[a];
    while (hs->twin[b] != b)
        b = hs->twin[b];
    hs->twin[b] = (uint16_t)a;
}

/* Heads for the n ways at `first`, which are what a step has left. */
static void find_heads(struct heads *hs, struct level *at)
{
    struct walk_way *ways = &hs->ways[at->first], *heads = ways + at->n;

    at->n_heads = 0;
    for (uint32_t i = 0; i < at->n; i++) {
        uint32_t h = 0;
        while (h < at->n_heads && !same_head(&heads[h], &ways[i]))
            h++;
        ways[i].head = (uint16_t)h;
        if (h == at->n_heads) {
            heads[at->n_heads++] = ways[i];
            continue;
        }
        if (ways[i].depth > heads[h].depth)
            heads[h].depth = ways[i].depth;
        if (ways[i].from != heads[h].from)
            unite(hs, heads[h].from, ways[i].from);
    }
    at->heads = at->first + at->n;
    at->top = at->heads + at->n_heads;
    if (at->n_heads == 1) {
        at->one = heads[0];
        at->top = at->n == 1 ? at->first : at->heads;
    }
}

/* The ways that are not dead, in their order, at `top`. Returns how many. */
static uint32_t spread(struct heads *hs, const struct level *at)
{
    struct walk_way *to = &hs->ways[at->top];
    uint32_t n = 0;

    if (at->n == 1) {
        to[0] = at->one;
        return 1;
    }
    for (uint32_t i = 0; i < at->n; i++) {
        const struct walk_way *way = &hs->ways[at->first + i];
        const struct walk_way *head =
            at->n_heads == 1 ? &at->one : &hs->ways[at->heads + way->head];
        if (head->state == DEAD)
            continue;
        to[n] = *way;
        to[n].state = head->state;
        to[n].count = head->count;
        to[n++].space = head->space;
    }
    return n;
}

/* Is one of heads[0..n) at the same place? */
static bool is_there(const struct walk_way *heads, uint32_t n,
                     const struct walk_way *at)
{
    for (uint32_t i = 0; i < n; i++) {
        if (heads[i].state == at->state && heads[i].count == at->count &&
            heads[i].space == at->space)
            return true;
    }
    return false;
}

/*
 * Several heads, when each can only stay in its rule: no more come out than go
 * in, so none is given up. INSIDE_NO also where two come to one place and ways
 * of theirs may be the same. Needs room.
 */
static enum inside step_heads(struct heads *hs, const struct level *at,
                              uint8_t byte, struct level *next)
{
    struct walk_way *to = &hs->ways[at->top];
    uint32_t live = 0;

    hs->look++;
    for (uint32_t i = 0; i < at->n_heads; i++) {
        const struct walk_way *head = &hs->ways[at->heads + i];
        enum inside in = INSIDE_DEAD;
        uint32_t *seen;
        if (head->state != DEAD)
            in = step_inside(hs, at, head, byte, &to[i]);
        if (in == INSIDE_NO)
            return INSIDE_NO;
        if (in == INSIDE_DEAD) {
            to[i].state = DEAD;
            continue;
        }
        seen = &hs->seen[(to[i].state + to[i].count) % HEADS_SEEN];
        if (*seen == hs->look && is_there(to, i, &to[i]))
            return INSIDE_NO;
        *seen = hs->look;
        live++;
    }
    if (!live)
        return INSIDE_DEAD;
    *next = *at;
    next->heads = at->top;
    next->top = at->top + at->n_heads;
    if (2 * live < at->n_heads) { /* without the dead */
        next->n = spread(hs, next);
        next->first = next->top;
        find_heads(hs, next);
    }
    return INSIDE_YES;
}

/* Whatever there is. False: no memory. */
static bool step_any(struct heads *hs, const struct level *at, unsigned symbol,
                     struct level *next)
{
    uint32_t n;

    hs->walk.n_nodes = at->n_nodes;
    if (!make_room(hs, at->top))
        return false;
    n = spread(hs, at);
    walk_step(&hs->walk, &hs->ways[at->top], n, symbol);
    next->n = (uint32_t)hs->walk.n_out;
    next->first = at->top;
    next->n_nodes = hs->walk.n_nodes;
    memcpy(&hs->ways[at->top], hs->out, next->n * sizeof(*hs->out));
    find_heads(hs, next);
    return true;
}

bool heads_step(struct heads *hs, const struct level *at, unsigned symbol,
                struct level *next)
{
    struct walk_way one;
    enum inside in = INSIDE_NO;

    next->n = 0;
    if (symbol < 256 && at->n_heads == 1) {
        in = step_inside(hs, at, &at->one, (uint8_t)symbol, &one);
        if (in == INSIDE_YES) {
            *next = *at;
            next->one = one;
        }
    } else if (symbol < 256) {
        if (!make_room(hs, at->top))
            return false;
        in = step_heads(hs, at, (uint8_t)symbol, next);
    }
    return in != INSIDE_NO || step_any(hs, at, symbol, next);
}

bool heads_begin(struct heads *hs, const struct grammar *g,
                 const struct gram_place *p, struct walk_range *range,
                 struct level *begin)
{
    for (size_t i = 0; i < p->n_frames; i++) {
        range[i] = (struct walk_range){p->frames[i].count, INT64_MIN,
                                       INT64_MAX};
        hs->twin[i] = (uint16_t)i;
    }
    hs->walk = (struct walk){.g = g, .out = hs->out, .range = range};
    rows_for(&hs->rows, g);
    if (!make_room(hs, 0))
        return false;
    begin->first = 0;
    begin->n = (uint32_t)walk_load(&hs->walk, p, hs->ways);
    begin->n_nodes = hs->walk.n_nodes;
    find_heads(hs, begin);
    return true;
}

static void narrow(struct walk_range *r, const struct walk_range *by)
{
    /* from where it began itself */
    int64_t off = (int64_t)r->base - by->base;

    if (by->lo != INT64_MIN && by->lo + off > r->lo)
        r->lo = by->lo + off;
    if (by->hi != INT64_MAX && by->hi + off < r->hi)
        r->hi = by->hi + off;
}

void heads_end(struct heads *hs, struct walk_range *range, size_t n)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            size_t root = i;
            while (hs->twin[root] != root)
                root = hs->twin[root];
            if (root != i && pass == 0)
                narrow(&range[root], &range[i]);
            else if (root != i)
                narrow(&range[i], &range[root]);
        }
    }
}

