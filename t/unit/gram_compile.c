/*
 * Compiled grammars against a matcher that knows nothing of automata: sets of
 * places in short texts, by the meaning of each expression. Expressions, rules
 * and texts are random, from a fixed seed. The machine reads the same texts,
 * and masks of the same grammars are compared with walking every id.
 */
#include "gram/machine.h"
#include "t/lib/gramwalk.h"
#include "t/lib/maskcheck.h"
#include "t/lib/tap.h"

#include <stdlib.h>

static uint64_t seed = 0x243f6a8885a308d3u;

static uint32_t any(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % n);
}

/* --- expressions, a second time ------------------------------------------- */

enum kind {
    SYMBOL,
    SPACE,
    EMPTY,
    SEQ,
    ALT,
    STAR,
    REPEAT,
    BEGIN,
    END,
    WHOLE,
    BOTH,
    MINUS,
    COUNTED,
    CALL,
};

struct ex {
    enum kind kind;
    uint16_t lo, hi; /* a symbol; or min, max; or rule, counts */
    const struct ex *a, *b;
};

static struct ex pool[4096];
static size_t n_pool;

static const struct ex *ex(enum kind kind, unsigned lo, unsigned hi,
                           const struct ex *a, const struct ex *b)
{
    if (n_pool == sizeof(pool) / sizeof(pool[0]))
        n_pool = 0; /* not before the next grammar: they are small */
    pool[n_pool] = (struct ex){kind, (uint16_t)lo, (uint16_t)hi, a, b};
    return &pool[n_pool++];
}

/* Whole characters: a, b, U+00E8, U+00E9; anchors only inside of a WHOLE. */
static const struct ex *some_chars(int depth, bool anchors)
{
    if (depth <= 0 || !any(5)) {
        if (anchors && !any(3))
            return ex(any(2) ? BEGIN : END, 0, 0, NULL, NULL);
        switch (any(4)) {
        case 0:
            return ex(SYMBOL, 'a', 'b', NULL, NULL);
        case 1:
            return ex(SEQ, 0, 0, ex(SYMBOL, 0xc3, 0xc3, NULL, NULL),
                      ex(SYMBOL, 0xa8, 0xa9 - any(2), NULL, NULL));
        case 2:
            return any(4) ? ex(SYMBOL, 'b', 'b', NULL, NULL)
                          : ex(EMPTY, 0, 0, NULL, NULL);
        default:
            return ex(SYMBOL, 'a', 'a', NULL, NULL);
        }
    }
    switch (any(9)) {
    case 0:
    case 1:
        return ex(ALT, 0, 0, some_chars(depth - 1, anchors),
                  some_chars(depth - 1, anchors));
    case 2:
    case 3:
        return ex(SEQ, 0, 0, some_chars(depth - 1, anchors),
                  some_chars(depth - 1, anchors));
    case 4:
        return ex(STAR, 0, 0, some_chars(depth - 1, anchors), NULL);
    case 5: {
        unsigned min = any(3);

        return ex(REPEAT, min, any(4) ? min + any(3) : UINT16_MAX,
                  some_chars(depth - 1, anchors), NULL);
    }
    case 6:
        return ex(WHOLE, 0, 0, some_chars(depth - 1, true), NULL);
    case 7:
        return ex(BOTH, 0, 0, some_chars(depth - 1, false),
                  some_chars(depth - 1, false));
    default:
        return ex(MINUS, 0, 0, some_chars(depth - 1, false),
                  some_chars(depth - 1, false));
    }
}

static const struct ex *some(int depth, unsigned rules)
{
    if (depth <= 0 || !any(6)) {
        switch (any(rules > 1 ? 7 : 4)) {
        case 0:
            return ex(SYMBOL, 'x', 'x' + any(2), NULL, NULL);
        case 1:
            return ex(SYMBOL, 256, 256 + any(2), NULL, NULL);
        case 2:
            return ex(SPACE, 0, 0, NULL, NULL);
        case 3:
            return ex(COUNTED, 0, 0, some_chars(3, false), NULL);
        default:
            return ex(CALL, any(rules), any(2), NULL, NULL);
        }
    }
    switch (any(6)) {
    case 0:
    case 1:
        return ex(ALT, 0, 0, some(depth - 1, rules), some(depth - 1, rules));
    case 2:
    case 3:
        return ex(SEQ, 0, 0, some(depth - 1, rules), some(depth - 1, rules));
    case 4:
        return ex(STAR, 0, 0, some(depth - 1, rules), NULL);
    default: {
        unsigned min = any(3);

        return ex(REPEAT, min, any(4) ? min + any(3) : UINT16_MAX,
                  some(depth - 1, rules), NULL);
    }
    }
}

static const struct gx *to_gx(struct gxs *w, const struct ex *x, int base)
{
    const struct gx *a = x->a ? to_gx(w, x->a, base) : NULL;
    const struct gx *b = x->b ? to_gx(w, x->b, base) : NULL;

    switch (x->kind) {
    case SYMBOL:
        if (x->lo > 255)
            return x->lo == x->hi ? gx_mark(w, x->lo - 256)
                                  : gx_alt(w, gx_mark(w, 0), gx_mark(w, 1));
        return x->lo == x->hi && any(2)
                   ? gx_bytes(w, (char[]){(char)x->lo}, 1)
                   : gx_range(w, (uint8_t)x->lo, (uint8_t)x->hi);
    case SPACE:
        return gx_space(w);
    case EMPTY:
        return gx_empty(w);
    case SEQ:
        return gx_seq(w, a, b);
    case ALT:
        return gx_alt(w, a, b);
    case STAR:
        return gx_star(w, a);
    case REPEAT:
        return gx_repeat(w, a, x->lo, x->hi == UINT16_MAX ? GX_MANY : x->hi);
    case BEGIN:
        return gx_begin(w);
    case END:
        return gx_end(w);
    case WHOLE:
        return gx_whole(w, a);
    case BOTH:
        return gx_both(w, a, b);
    case MINUS:
        return gx_minus(w, a, b);
    case COUNTED:
        return gx_counted(w, a, GX_RAW);
    default:
        return gx_call(w, base + x->lo, x->hi);
    }
}

/* --- what they mean ------------------------------------------------------- */

#define TEXT_MAX 12
#define COUNTS (TEXT_MAX + 1)
#define RULES 4

struct rule {
    const struct ex *x;
    uint32_t min, max;
};

static struct rule rules[RULES];
static unsigned n_rules;

static uint16_t text[TEXT_MAX];
static size_t n_text;
static struct {
    bool known;
    uint16_t ends;
} memo[RULES][TEXT_MAX + 1];

/* at[c]: the places that are reached with c raises, one bit each. */
struct places {
    uint16_t at[COUNTS];
};

struct whole {
    size_t begin, end; /* where anchors hold */
};

static struct places ends(const struct ex *x, struct whole in, size_t i);

static bool add_all(struct places *to, const struct places *from, size_t raise)
{
    bool more = false;

    for (size_t c = 0; c + raise < COUNTS; c++) {
        more |= (from->at[c] & ~to->at[c + raise]) != 0;
        to->at[c + raise] |= from->at[c];
    }
    return more;
}

/* x once more behind every place of `from`. */
static struct places behind(const struct places *from, const struct ex *x,
                            struct whole in)
{
    struct places to = {{0}};

    for (size_t c = 0; c < COUNTS; c++)
        for (size_t j = 0; j <= n_text; j++)
            if (from->at[c] >> j & 1) {
                struct places p = ends(x, in, j);

                add_all(&to, &p, c);
            }
    return to;
}

static uint16_t rule_ends(unsigned rule, size_t i)
{
    const struct rule *r = &rules[rule];
    struct places p;

    if (memo[rule][i].known)
        return memo[rule][i].ends;
    memo[rule][i].known = true; /* and nothing, while it asks for itself */
    memo[rule][i].ends = 0;
    p = ends(r->x, (struct whole){0, 0}, i);
    for (size_t c = 0; c < COUNTS; c++)
        if (c >= r->min && c <= r->max)
            memo[rule][i].ends |= p.at[c];
    return memo[rule][i].ends;
}

static size_t chars(size_t from, size_t to)
{
    size_t n = 0;

    for (; from < to; from++)
        n += (text[from] & 0xc0) != 0x80;
    return n;
}

static struct places star_ends(const struct places *from, const struct ex *x,
                               struct whole in)
{
    struct places all = *from, p;

    do
        p = behind(&all, x, in);
    while (add_all(&all, &p, 0));
    return all;
}

static struct places ends(const struct ex *x, struct whole in, size_t i)
{
    struct places p = {{0}}, q;

    switch (x->kind) {
    case SYMBOL:
        if (i < n_text && text[i] >= x->lo && text[i] <= x->hi)
            p.at[0] = (uint16_t)(1u << (i + 1));
        return p;
    case SPACE:
        for (p.at[0] = (uint16_t)(1u << i); i < n_text && text[i] == ' '; i++)
            p.at[0] |= (uint16_t)(1u << (i + 1));
        return p;
    case EMPTY:
        p.at[0] = (uint16_t)(1u << i);
        return p;
    case SEQ:
        q = ends(x->a, in, i);
        return behind(&q, x->b, in);
    case ALT:
        p = ends(x->a, in, i);
        q = ends(x->b, in, i);
        add_all(&p, &q, 0);
        return p;
    case STAR:
        p.at[0] = (uint16_t)(1u << i);
        return star_ends(&p, x->a, in);
    case REPEAT:
        p.at[0] = (uint16_t)(1u << i);
        for (unsigned k = 0; k < x->lo; k++)
            p = behind(&p, x->a, in);
        if (x->hi == UINT16_MAX)
            return star_ends(&p, x->a, in);
        for (unsigned k = x->lo; k < x->hi; k++) {
            q = behind(&p, x->a, in);
            add_all(&p, &q, 0);
        }
        return p;
    case BEGIN:
        p.at[0] = (uint16_t)(i == in.begin ? 1u << i : 0);
        return p;
    case END:
        p.at[0] = (uint16_t)(i == in.end ? 1u << i : 0);
        return p;
    case WHOLE:
        for (size_t j = i; j <= n_text; j++) {
            q = ends(x->a, (struct whole){i, j}, i);
            p.at[0] |= (uint16_t)(q.at[0] & 1u << j);
        }
        return p;
    case BOTH:
        p = ends(x->a, in, i);
        q = ends(x->b, in, i);
        p.at[0] &= q.at[0];
        return p;
    case MINUS:
        p = ends(x->a, in, i);
        q = ends(x->b, in, i);
        p.at[0] &= (uint16_t)~q.at[0];
        return p;
    case COUNTED:
        q = ends(x->a, in, i);
        for (size_t j = i; j <= n_text; j++)
            if (q.at[0] >> j & 1)
                p.at[chars(i, j)] |= (uint16_t)(1u << j);
        return p;
    default:
        p.at[x->hi ? 1 : 0] = rule_ends(x->lo, i);
        return p;
    }
}

static bool matches(void)
{
    memset(memo, 0, sizeof(memo));
    return rule_ends(0, 0) >> n_text & 1;
}

/* --- texts ---------------------------------------------------------------- */

static void put(uint16_t symbol)
{
    if (n_text < TEXT_MAX)
        text[n_text++] = symbol;
}

/* A text that may well match. */
static void write_some(const struct ex *x, int depth)
{
    size_t n;

    switch (x->kind) {
    case SYMBOL:
        put((uint16_t)(x->lo + any(x->hi - x->lo + 1u)));
        return;
    case SPACE:
        for (n = any(3); n > 0; n--)
            put(' ');
        return;
    case SEQ:
        write_some(x->a, depth);
        write_some(x->b, depth);
        return;
    case ALT:
    case BOTH:
        write_some(any(2) ? x->a : x->b, depth);
        return;
    case STAR:
    case REPEAT:
        n = x->kind == STAR ? any(4) : x->lo + any(3);
        while (n-- > 0)
            write_some(x->a, depth);
        return;
    case WHOLE:
    case MINUS:
    case COUNTED:
        write_some(x->a, depth);
        return;
    case CALL:
        if (depth < 5)
            write_some(rules[x->lo].x, depth + 1);
        return;
    default:
        return;
    }
}

static void change_some(void)
{
    static const uint16_t alphabet[] = {'a',  'b',  'x', 'y', 0xc3,
                                        0xa8, 0xa9, ' ', 256, 257};
    size_t at = any((uint32_t)n_text + 1);

    if (at == n_text || !any(3))
        put(alphabet[any(10)]);
    else if (any(2))
        text[at] = alphabet[any(10)];
    else
        memmove(text + at, text + at + 1, (--n_text - at) * sizeof(text[0]));
}

/* --- what a grammar says about itself ------------------------------------- */

#define NUMBERS 40

/* numbers[s]: how often the counter may be raised from s on, one bit each,
 * where calls to rules of at most that height are made. */
static void find_numbers(const struct grammar *g, uint32_t height,
                         uint64_t *numbers)
{
    const uint64_t all = ((uint64_t)1 << NUMBERS) - 1;
    bool more = true;

    for (size_t i = 0; i < g->n_states; i++)
        numbers[i] = g->states[i].accept;
    while (more) {
        more = false;
        for (size_t i = g->n_states; i-- > 0;) {
            const struct gram_state *s = &g->states[i];
            uint64_t n = numbers[i];

            for (size_t k = 0; k < s->n_edges; k++) {
                uint32_t to = g->edges[s->edges + k].to;

                n |= numbers[to & GRAM_STATE] << !!(to & GRAM_COUNTS);
            }
            for (size_t k = 0; k < s->n_calls; k++) {
                const struct gram_call *c = &g->calls[s->calls + k];

                if (g->rules[c->rule].height <= height)
                    n |= numbers[c->to & GRAM_STATE] << !!(c->to & GRAM_COUNTS);
            }
            n &= all;
            more |= n != numbers[i];
            numbers[i] = n;
        }
    }
}

static uint64_t span(uint32_t least, uint32_t most)
{
    uint64_t to = most >= NUMBERS - 1 ? NUMBERS - 1 : most;

    return (((uint64_t)2 << to) - 1) & ~(((uint64_t)1 << least) - 1);
}

/* One bound alone only needs the least, or the most, of them. */
static bool ends_agree(uint64_t numbers, uint32_t least, uint32_t most)
{
    uint64_t inside = span(least, most);

    if (!(numbers >> least & 1) || numbers & ~inside)
        return false;
    return most >= NUMBERS - 1 ? numbers >> (NUMBERS / 2) : numbers >> most & 1;
}

static bool numbers_agree(const struct grammar *g)
{
    uint64_t *numbers = calloc(g->n_states, sizeof(*numbers));
    bool good = true;

    find_numbers(g, GRAM_DEPTH_MAX, numbers);
    for (size_t i = 0; i < g->n_states; i++) {
        const struct gram_state *s = &g->states[i];
        const struct gram_rule *r = &g->rules[s->rule];

        if (!r->counted)
            good &= numbers[i] && !s->least && !s->most;
        else if (!r->min || r->max == GX_MANY)
            good &= ends_agree(numbers[i], s->least, s->most);
        else
            good &= numbers[i] == span(s->least, s->most);
    }
    free(numbers);
    return good;
}

/* May the rule be finished from its start? */
static bool can_finish(const struct gram_rule *r, const uint64_t *numbers)
{
    if (!r->counted)
        return numbers[r->start];
    return numbers[r->start] & span(r->min, r->max);
}

static bool heights_agree(const struct grammar *g)
{
    uint64_t *numbers = calloc(g->n_states, sizeof(*numbers));
    bool good = true;

    for (size_t i = 0; i < g->n_rules; i++) {
        const struct gram_rule *r = &g->rules[i];

        find_numbers(g, r->height - 1, numbers);
        good &= can_finish(r, numbers);
        if (r->height > 1) {
            find_numbers(g, r->height - 2, numbers);
            good &= !can_finish(r, numbers);
        }
    }
    free(numbers);
    return good;
}

/* Wherever a rule may be with that much room, it may go on or end. */
static bool never_stuck(const struct grammar *g, const struct gram_rule *r,
                        uint32_t room)
{
    uint8_t *seen = calloc(g->n_states, NUMBERS);
    uint32_t *todo = calloc(g->n_states * NUMBERS, sizeof(*todo));
    size_t n = 0, done = 0;
    bool good = gram_fits(g, r->start, 0, room);

    seen[r->start * NUMBERS] = 1;
    todo[n++] = r->start * NUMBERS;
    while (good && done < n) {
        uint32_t count = todo[done] % NUMBERS;
        const struct gram_state *s = &g->states[todo[done++] / NUMBERS];
        bool on =
            s->accept && (!r->counted || (count >= r->min && count <= r->max));

        for (size_t k = 0; k < (size_t)s->n_edges + s->n_calls; k++) {
            bool call = k >= s->n_edges;
            size_t at = call ? s->calls + (k - s->n_edges) : s->edges + k;
            uint32_t to = call ? g->calls[at].to : g->edges[at].to;
            uint32_t next = count + !!(to & GRAM_COUNTS);

            if (call && g->rules[g->calls[at].rule].height > room)
                continue;
            if (!gram_fits(g, to & GRAM_STATE, next, room))
                continue;
            on = true;
            if (next >= NUMBERS || seen[(to & GRAM_STATE) * NUMBERS + next])
                continue;
            seen[(to & GRAM_STATE) * NUMBERS + next] = 1;
            todo[n++] = (to & GRAM_STATE) * NUMBERS + next;
        }
        good = on;
    }
    free(seen);
    free(todo);
    return good;
}

static bool rules_never_stuck(const struct grammar *g)
{
    for (size_t i = 0; i < g->n_rules; i++) {
        const struct gram_rule *r = &g->rules[i];

        for (uint32_t more = 0; more < 4; more++)
            if (!never_stuck(g, r, r->height - 1 + more))
                return false;
        if (!never_stuck(g, r, GRAM_DEPTH_MAX))
            return false;
    }
    return true;
}

static bool tables_agree(const struct grammar *g)
{
    bool good = g->n_rules && g->rules[g->root].start < g->n_states;

    for (size_t i = 0; i < g->n_states; i++) {
        const struct gram_state *s = &g->states[i];
        int last = -1;

        good &= s->edges + s->n_edges <= g->n_edges;
        good &= s->calls + s->n_calls <= g->n_calls;
        good &= s->levels + s->n_levels <= g->n_levels;
        for (size_t k = 0; good && k < s->n_edges; k++) {
            const struct gram_edge *e = &g->edges[s->edges + k];

            good &= e->lo > last && e->hi >= e->lo && e->hi < GRAM_SYMBOLS &&
                    (e->to & GRAM_STATE) < g->n_states &&
                    g->states[e->to & GRAM_STATE].rule == s->rule;
            last = e->hi;
        }
        for (size_t k = 0; good && k < s->n_calls; k++)
            good &= g->calls[s->calls + k].rule < g->n_rules;
    }
    return good;
}

/* --- random grammars ------------------------------------------------------ */

static struct {
    int grammars, refused, nothing, recursive, texts, matched, counted, levels;
    int wrong, wrong_fits, wrong_tables, wrong_numbers, wrong_heights, stuck;
    int wrong_ends, wrong_next, wrong_must, wrong_done, full;
} sum;

static void some_rules(void)
{
    n_pool = 0;
    n_rules = 1 + any(RULES);
    for (unsigned i = 0; i < n_rules; i++) {
        uint32_t min = any(4);

        rules[i].x = some(3, n_rules);
        rules[i].min = any(2) ? 0 : min;
        rules[i].max = any(2) ? GX_MANY : min + any(4);
        /* what is called is not empty */
        if (i || n_rules > 1)
            rules[i].x = any(2)
                             ? ex(SEQ, 0, 0, ex(SYMBOL, 'x', 'x', NULL, NULL),
                                  rules[i].x)
                             : ex(SEQ, 0, 0, rules[i].x,
                                  ex(SYMBOL, 'y', 'y', NULL, NULL));
    }
}

/* --- the machine ---------------------------------------------------------- */

static bool step(const struct grammar *g, struct gram_place *p, uint16_t c)
{
    return c > 255 ? gram_mark(g, p, c - 256)
                   : gram_bytes(g, p, (char[]){(char)c}, 1);
}

/* What the machine says of one place, by trying every symbol. */
static void try_place(const struct grammar *g, const struct gram_place *p)
{
    uint64_t next[(GRAM_SYMBOLS + 63) / 64];
    bool ends = gram_ends(g, p), on = false;
    unsigned n = 0, only = 0, must;
    char s[2];

    gram_next(g, p, next);
    for (unsigned c = 0; c < GRAM_SYMBOLS; c++) {
        struct gram_place to = *p;
        bool may = step(g, &to, (uint16_t)c);

        sum.wrong_next += (next[c / 64] >> c % 64 & 1) != may;
        for (size_t i = 0; i < to.n_ways; i++)
            on |= !to.space[i];
        if (may && !n++)
            only = c;
    }
    sum.wrong_done += gram_done(g, p) != (ends && !on);
    must = !ends && n == 1 && only < 256;
    sum.wrong_must += gram_must(g, p, s, 1) != must ||
                      (must && (uint8_t)s[0] != only);
}

/* *full: ways were given up, or may have been. */
static bool machine_matches(const struct grammar *g, bool *full)
{
    struct gram_place p;

    gram_begin(g, &p);
    if (!any(4))
        try_place(g, &p);
    for (size_t i = 0; i < n_text; i++) {
        if (!step(g, &p, text[i]))
            return false;
        *full |= p.n_ways == GRAM_WAYS_MAX;
        if (!any(4))
            try_place(g, &p);
    }
    return gram_ends(g, &p);
}

/* --- masks ---------------------------------------------------------------- */

#define IDS 160

static struct {
    char bytes[IDS][8];
    struct span pieces[IDS];
    struct gram_vocab *vocab;
    struct maskcheck check;
    struct maskcheck_sum sum;
} masks;

/* The bytes that random expressions have, and mixtures of them. */
static bool masks_begin(void)
{
    static const char alphabet[] = "abxy \xc3\xa8\xa9";

    for (size_t i = 0; i < IDS; i++) {
        size_t n = i < 8 ? 1 : 2 + any(5);

        for (size_t k = 0; k < n; k++)
            masks.bytes[i][k] = alphabet[i < 8 ? i : any(8)];
        masks.pieces[i] = (struct span){masks.bytes[i], n};
    }
    if (gram_vocab_new(&masks.vocab, masks.pieces, IDS, NULL))
        return false;
    masks.check = (struct maskcheck){.vocab = masks.vocab,
                                     .pool = gram_pool_new(masks.vocab),
                                     .pieces = masks.pieces,
                                     .n = IDS,
                                     .random = 3};
    return masks.check.pool;
}

static void masks_end(void)
{
    gram_pool_free(masks.check.pool);
    gram_vocab_free(masks.vocab);
}

/* --- all of it ------------------------------------------------------------ */

static void try_text(const struct grammar *g)
{
    bool want = matches(), full = false, got = machine_matches(g, &full);

    sum.texts++;
    sum.matched += want;
    sum.wrong += walk_text(g, text, n_text, false) != want;
    sum.wrong_fits += walk_text(g, text, n_text, true) != want;
    sum.wrong_ends += full ? got && !want : got != want;
    sum.full += full;
}

static void try_grammar(void)
{
    struct grammar *g = NULL;
    struct gxs w;
    struct err e = {0};
    int base = 0;

    some_rules();
    gxs_init(&w);
    for (unsigned i = 0; i < n_rules; i++)
        base = gx_rule(&w);
    base -= (int)n_rules - 1;
    for (unsigned i = 0; i < n_rules; i++)
        gx_rule_set(&w, base + (int)i, to_gx(&w, rules[i].x, base),
                    rules[i].min, rules[i].max);
    sum.grammars++;
    if (gram_compile(&g, &w, base, &e)) {
        sum.nothing += strstr(e.text, "no text") != NULL;
        sum.recursive += strstr(e.text, "recursion") != NULL;
        sum.refused += e.st != ST_INVALID;
        if (e.st != ST_INVALID)
            printf("# %s: %s\n", st_name(e.st), e.text);
    }
    gxs_release(&w);
    for (int i = 0; i < 60; i++) {
        n_text = 0;
        if (i)
            write_some(rules[0].x, 0);
        for (uint32_t k = i % 2 ? any(3) : 0; k > 0; k--)
            change_some();
        if (g)
            try_text(g);
        else if (e.st == ST_INVALID && !strstr(e.text, "recursion"))
            sum.wrong += matches();
    }
    if (!g)
        return;
    sum.wrong_tables += !tables_agree(g);
    sum.wrong_numbers += !numbers_agree(g);
    sum.wrong_heights += !heights_agree(g);
    sum.stuck += !rules_never_stuck(g);
    maskcheck_walk(&masks.check, g, 12, &masks.sum);
    sum.levels += g->n_levels > 0;
    for (size_t i = 0; i < g->n_rules; i++)
        sum.counted += g->rules[i].counted;
    gram_unref(g);
}

int main(void)
{
    if (!ok(masks_begin(), "a vocabulary"))
        return done();
    for (int i = 0; i < 600; i++)
        try_grammar();
    printf("# %d grammars: %d match nothing, %d recursive, %d refused; %d "
           "texts, %d match; %d rules with counters, %d grammars with levels\n",
           sum.grammars, sum.nothing, sum.recursive, sum.refused, sum.texts,
           sum.matched, sum.counted, sum.levels);
    ok(sum.matched > 5000 && sum.counted > 60 && sum.levels > 10,
       "there was something to look at");
    is_int(sum.refused, 0, "nothing small is refused");
    is_int(sum.wrong, 0, "texts match as the expressions mean it");
    is_int(sum.wrong_fits, 0, "and gram_fits leaves none of them out");
    is_int(sum.wrong_tables, 0, "tables are in order");
    is_int(sum.wrong_numbers, 0, "states know what their counters can reach");
    is_int(sum.wrong_heights, 0, "rules know how deep they must nest");
    is_int(sum.stuck, 0, "what was begun can be finished");
    is_int(sum.wrong_ends, 0, "the machine accepts the same texts");
    ok(sum.full < sum.texts / 50, "seldom is a reading given up (%d)", sum.full);
    is_int(sum.wrong_next, 0, "knows what may come next");
    is_int(sum.wrong_must, 0, "what must come");
    is_int(sum.wrong_done, 0, "and when nothing but white space can");
    ok(masks.sum.wrong == 0 && masks.sum.places > 3000 && masks.sum.ids > 9000,
       "%zu masks are what walking every id says, %zu ids",
       masks.sum.places, masks.sum.ids);
    is_int(masks.sum.empty, 0, "none is empty");
    masks_end();
    return done();
}
