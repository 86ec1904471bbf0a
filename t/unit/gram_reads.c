/*
 * The machine and masks over random grammars: texts against a matcher that
 * knows nothing of automata, and deep inside of other calls against a plain
 * walk of the tables; each place against trying every symbol; masks against
 * walking every id.
 */
#include "t/lib/gramwalk.h"

#include "t/lib/gramrandom.h"
#include "t/lib/maskcheck.h"
#include "t/lib/tap.h"

static struct {
    int texts, matched, full, wrong_ends, wrong_next, wrong_must, wrong_done;
    int deep, deep_stuck, wrong_deep;
} sum;

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

/* --- the last calls that fit ---------------------------------------------- */

static bool crowded(const struct gram_place *p)
{
    return p->n_ways == GRAM_WAYS_MAX ||
           p->n_frames + GRAM_DEPTH_MAX > GRAM_FRAMES_MAX;
}

/* A text as the rule at that depth, then what closes the others. A rule whose
 * caller has nothing left takes its place, so more may fit than the plain way
 * says. */
static void try_deep_text(const struct grammar *g, uint32_t rule, uint32_t open,
                          struct gram_place p)
{
    struct walk w = {g, text, n_text, true};
    bool must = walk_rule(&w, rule, 0, open + 2) >> n_text & 1, may;
    bool full = false, got = true;

    w.fits = false;
    may = walk_rule(&w, rule, 0, 1) >> n_text & 1;
    for (size_t i = 0; got && i < n_text; i++) {
        got = step(g, &p, text[i]);
        full |= crowded(&p);
    }
    got = got && step(g, &p, ';');
    for (uint32_t i = 0; got && i < open; i++)
        got = step(g, &p, ')');
    got = got && gram_ends(g, &p);
    sum.deep += must;
    sum.wrong_deep += got ? !may : must && !full;
}

/* Symbols that may come, one after the other. */
static void try_deep_walk(const struct grammar *g, struct gram_place p)
{
    uint64_t next[(GRAM_SYMBOLS + 63) / 64];

    for (int i = 0; i < 20 && p.n_ways && !crowded(&p); i++) {
        unsigned c = any(GRAM_SYMBOLS), tries = 0;

        gram_next(g, &p, next);
        while (tries++ < GRAM_SYMBOLS && !(next[c / 64] >> c % 64 & 1))
            c = (c + 1) % GRAM_SYMBOLS;
        if (!step(g, &p, (uint16_t)c))
            sum.deep_stuck += !gram_ends(g, &p);
    }
}

/* The rules inside as many brackets as there can be, and some less. */
static void try_deep(const struct grammar *g)
{
    struct gram_place p;
    uint32_t rule, open;

    gram_begin(g, &p);
    if (!step(g, &p, '='))
        sum.wrong_deep++;
    rule = g->calls[g->states[p.frames[0].state].calls].rule;
    for (uint32_t less = 0; less < 3; less++) {
        open = GRAM_DEPTH_MAX - 1 - g->rules[rule].height - less;
        gram_begin(g, &p);
        for (uint32_t i = 0; i < open; i++)
            if (!step(g, &p, '('))
                sum.wrong_deep++;
        if (!less) {
            struct gram_place more = p;

            sum.wrong_deep += step(g, &more, '(');
        }
        if (!step(g, &p, '='))
            sum.wrong_deep++;
        for (int i = 0; i < 5; i++) {
            n_text = 0;
            write_some(rules[0].x, 0);
            try_deep_text(g, rule, open, p);
            try_deep_walk(g, p);
        }
    }
}

/* ( and more of the same and ), or = and the first rule and ;. */
static void compile_deep(void)
{
    const struct gx *in[3], *out[3];
    struct grammar *g = NULL;
    struct gxs w;
    int base, wrap;

    gxs_init(&w);
    base = write_rules(&w);
    wrap = gx_rule(&w);
    in[0] = gx_lit(&w, "(");
    in[1] = gx_call(&w, wrap, false);
    in[2] = gx_lit(&w, ")");
    out[0] = gx_lit(&w, "=");
    out[1] = gx_call(&w, base, false);
    out[2] = gx_lit(&w, ";");
    gx_rule_set(&w, wrap, gx_alt(&w, gx_seqn(&w, in, 3), gx_seqn(&w, out, 3)),
                0, GX_MANY);
    if (gram_compile(&g, &w, wrap, NULL))
        sum.wrong_deep++;
    else
        try_deep(g);
    gxs_release(&w);
    gram_unref(g);
}

/* --- all of it ------------------------------------------------------------ */

static void try_text(const struct grammar *g)
{
    bool want = matches(), full = false, got = machine_matches(g, &full);

    sum.texts++;
    sum.matched += want;
    sum.wrong_ends += full ? got && !want : got != want;
    sum.full += full;
}

static void try_grammar(void)
{
    struct grammar *g = NULL;
    struct gxs w;
    int base;

    some_rules();
    gxs_init(&w);
    base = write_rules(&w);
    if (gram_compile(&g, &w, base, NULL)) {
        gxs_release(&w);
        return;
    }
    gxs_release(&w);
    for (int i = 0; i < 60; i++) {
        n_text = 0;
        if (i)
            write_some(rules[0].x, 0);
        for (uint32_t k = i % 2 ? any(3) : 0; k > 0; k--)
            change_some();
        try_text(g);
    }
    maskcheck_walk(&masks.check, g, 12, &masks.sum);
    gram_unref(g);
    if (n_rules > 1)
        compile_deep();
}

int main(void)
{
    if (!ok(masks_begin(), "a vocabulary"))
        return done();
    for (int i = 0; i < 600; i++)
        try_grammar();
    ok(sum.texts > 15000 && sum.matched > 5000 && sum.deep > 500,
       "there was something to look at: %d of %d texts, %d deep", sum.matched,
       sum.texts, sum.deep);
    ok(sum.full < sum.texts / 20, "seldom is a reading given up (%d)",
       sum.full);
    is_int(sum.wrong_ends, 0, "texts match as the expressions mean it");
    is_int(sum.wrong_next, 0, "the machine knows what may come next");
    is_int(sum.wrong_must, 0, "what must come");
    is_int(sum.wrong_done, 0, "and when nothing but white space can");
    is_int(sum.wrong_deep, 0, "deep inside, where it just fits, too");
    is_int(sum.deep_stuck, 0, "where text can always go on");
    ok(masks.sum.wrong == 0 && masks.sum.places > 3000 && masks.sum.ids > 9000,
       "%zu masks are what walking every id says, %zu ids",
       masks.sum.places, masks.sum.ids);
    is_int(masks.sum.empty, 0, "none is empty");
    masks_end();
    return done();
}
