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

/*
 * What is left behind so many bytes of the branch. Ways that are at one place
 * of a rule, with other calls open around it, go on alike while they stay in
 * it: one head goes for all of them. Its depth is the largest of theirs.
 */
struct level {
    struct walk_way one; /* the head when there is one; n == 1: the way */
    uint32_t n_heads, n;
    size_t first;        /* n > 1: in `ways`; each says which head it has, and
                          * what is open around that */
    size_t heads;        /* n_heads > 1: in `ways` too; DEAD ones are left */
    size_t top;          /* of `ways`, what is in use */
    size_t n_nodes;
};

#define DEAD UINT32_MAX

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
    uint32_t seen[SEEN], look;  /* step_heads: hashes of where they are */
    uint16_t twin[GRAM_FRAMES_MAX]; /* frames whose counters went as one */
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

/* Room for one more step, and for ways, heads and outcome behind
 * `ways[0..at)`. */
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
    need = at + 3 * GRAM_WAYS_MAX;
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
    if (at->n_heads == 1 && at->one.depth <= ROW_SHALLOW &&
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

/* The same of every way that has that head. */
static bool any_may_follow(struct fill *f, const struct level *at,
                           const struct walk_way *head, uint8_t byte)
{
    if (at->n == 1)
        return may_follow(f, head, byte);
    for (uint32_t i = 0; i < at->n; i++) {
        const struct walk_way *way = &f->ways[at->first + i];
        if (way->head == head->head && may_follow(f, way, byte))
            return true;
    }
    return false;
}

/* A head, when the byte can only keep it in its rule: what walk_step does with
 * each of its ways. */
static enum inside step_inside(struct fill *f, const struct level *at,
                               const struct walk_way *head, uint8_t byte,
                               struct walk_way *next)
{
    const struct grammar *g = f->walk.g;
    const struct row *row = row_of(&f->rows, head->state);
    uint32_t edge = row->to[byte];
    uint32_t to = edge & ~(ROW_CARE | GRAM_SPACE | GRAM_COUNTS);
    const struct gram_rule *r;

    if (may_begin_call(row, byte) ||
        (row->accept && any_may_follow(f, at, head, byte)))
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
        if (head->space >= GRAM_SPACE_MAX)
            return INSIDE_DEAD;
        next->space = (uint16_t)(head->space + 1);
    }
    r = &g->rules[g->states[to].rule];
    if (edge & GRAM_COUNTS)
        next->count = walk_raise(&f->walk, r, head->count, head->from);
    if (!walk_may_enter(&f->walk, to, next->count, head->from, head->depth))
        return INSIDE_DEAD;
    return INSIDE_YES;
}

static bool same_head(const struct walk_way *a, const struct walk_way *b)
{
    return a->state == b->state && a->count == b->count &&
           a->space == b->space &&
           (a->from == WALK_NONE) == (b->from == WALK_NONE);
}

/* Their counters are asked as one: make_alike. */
static void unite(struct fill *f, int a, int b)
{
    while (f->twin[a] != a)
        a = f->twin[a];
    while (f->twin[b] != b)
        b = f->twin[b];
    f->twin[b] = (uint16_t)a;
}

/* Heads for the n ways at `first`, which are what a step has left. */
static void find_heads(struct fill *f, struct level *at)
{
    struct walk_way *ways = &f->ways[at->first], *heads = ways + at->n;

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
            unite(f, heads[h].from, ways[i].from);
    }
    at->heads = at->first + at->n;
    at->top = at->heads + at->n_heads;
    if (at->n_heads == 1) {
        at->one = heads[0];
        at->top = at->n == 1 ? at->first : at->heads;
    }
}

/* The ways that are not dead, in their order, at `top`. Returns how many. */
static uint32_t spread(struct fill *f, const struct level *at)
{
    struct walk_way *to = &f->ways[at->top];
    uint32_t n = 0;

    if (at->n == 1) {
        to[0] = at->one;
        return 1;
    }
    for (uint32_t i = 0; i < at->n; i++) {
        const struct walk_way *way = &f->ways[at->first + i];
        const struct walk_way *head =
            at->n_heads == 1 ? &at->one : &f->ways[at->heads + way->head];
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
static enum inside step_heads(struct fill *f, const struct level *at,
                              uint8_t byte, struct level *next)
{
    struct walk_way *to = &f->ways[at->top];
    uint32_t live = 0;

    f->look++;
    for (uint32_t i = 0; i < at->n_heads; i++) {
        const struct walk_way *head = &f->ways[at->heads + i];
        enum inside in = INSIDE_DEAD;
        uint32_t *seen;
        if (head->state != DEAD)
            in = step_inside(f, at, head, byte, &to[i]);
        if (in == INSIDE_NO)
            return INSIDE_NO;
        if (in == INSIDE_DEAD) {
            to[i].state = DEAD;
            continue;
        }
        seen = &f->seen[(to[i].state + to[i].count) % SEEN];
        if (*seen == f->look && is_there(to, i, &to[i]))
            return INSIDE_NO;
        *seen = f->look;
        live++;
    }
    if (!live)
        return INSIDE_DEAD;
    *next = *at;
    next->heads = at->top;
    next->top = at->top + at->n_heads;
    if (2 * live < at->n_heads) { /* without the dead */
        next->n = spread(f, next);
        next->first = next->top;
        find_heads(f, next);
    }
    return INSIDE_YES;
}

/* Whatever there is. False: no memory. */
static bool step_any(struct fill *f, const struct level *at, unsigned symbol,
                     struct level *next)
{
    uint32_t n;

    f->walk.n_nodes = at->n_nodes;
    if (!make_room(f, at->top))
        return false;
    n = spread(f, at);
    walk_step(&f->walk, &f->ways[at->top], n, symbol);
    next->n = (uint32_t)f->walk.n_out;
    next->first = at->top;
    next->n_nodes = f->walk.n_nodes;
    memcpy(&f->ways[at->top], f->out, next->n * sizeof(*f->out));
    find_heads(f, next);
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
    struct walk_way one;
    enum inside in;

    if (at->n_heads == 1) {
        in = step_inside(f, at, &at->one, byte, &one);
        if (in == INSIDE_YES) {
            *next = *at;
            next->one = one;
        }
    } else {
        *failed = !make_room(f, at->top);
        in = *failed ? INSIDE_DEAD : step_heads(f, at, byte, next);
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

/* How many characters of plain text may come at a head (UINT64_MAX: any),
 * if any may; alone: and no other way reads it. */
static bool plain_room(struct fill *f, const struct walk_way *head,
                       uint64_t *room, bool *alone)
{
    const struct gram_state *st = &f->walk.g->states[head->state];
    const struct gram_rule *r = &f->walk.g->rules[st->rule];
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
    const struct gram_state *st = &f->walk.g->states[head->state];
    const struct gram_rule *r = &f->walk.g->rules[st->rule];

    if (!r->counted || r->max == GX_MANY)
        return;
    (void)walk_at_most(&f->walk, head->count, head->from, st->least + fits,
                       r->max);
    if (over != UINT64_MAX)
        (void)walk_at_most(&f->walk, head->count, head->from,
                           st->least + over, r->max);
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
    const struct walk_way *heads =
        at->n_heads == 1 ? &at->one : &f->ways[at->heads];
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

static void narrow(struct walk_range *r, const struct walk_range *by)
{
    /* from where it began itself */
    int64_t off = (int64_t)r->base - by->base;

    if (by->lo != INT64_MIN && by->lo + off > r->lo)
        r->lo = by->lo + off;
    if (by->hi != INT64_MAX && by->hi + off < r->hi)
        r->hi = by->hi + off;
}

/* What was asked of one counter goes for its twins too. */
static void make_alike(struct fill *f, struct walk_range *range, size_t n)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < n; i++) {
            size_t root = i;
            while (f->twin[root] != root)
                root = f->twin[root];
            if (root != i && pass == 0)
                narrow(&range[root], &range[i]);
            else if (root != i)
                narrow(&range[i], &range[root]);
        }
    }
}

bool fill_mask(struct fill *f, const struct grammar *g,
               const struct gram_place *p, uint32_t *bits,
               struct mask_facts *facts, struct walk_range *range)
{
    struct level *begin = &f->levels[0];
    bool plain;

    for (size_t i = 0; i < p->n_frames; i++) {
        range[i] = (struct walk_range){p->frames[i].count, INT64_MIN,
                                       INT64_MAX};
        f->twin[i] = (uint16_t)i;
    }
    f->walk = (struct walk){.g = g, .out = f->out, .range = range};
    rows_for(&f->rows, g);
    if (!make_room(f, 0))
        return false;
    begin->first = 0;
    begin->n = (uint32_t)walk_load(&f->walk, p, f->ways);
    begin->n_nodes = f->walk.n_nodes;
    find_heads(f, begin);
    if (!set_facts(f, p, facts))
        return false;
    plain = set_plain(f, bits);
    if (!plain)
        memset(bits, 0, f->v->words * sizeof(*bits));
    if (!walk_trie(f, plain ? &f->v->rough : &f->v->all, bits))
        return false;
    make_alike(f, range, p->n_frames);
    return true;
}
