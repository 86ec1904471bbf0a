/*
 * Compiled grammars against a matcher that knows nothing of automata: sets of
 * places in short texts, by the meaning of each expression. Expressions, rules
 * and texts are random, from a fixed seed.
 */
#include "t/lib/gramwalk.h"

#include "t/lib/gramrandom.h"
#include "t/lib/tap.h"

#include <stdlib.h>

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
    uint32_t *queue = calloc(g->n_states * NUMBERS, sizeof(*queue));
    size_t n = 0, done = 0;
    bool good = gram_fits(g, r->start, 0, room);

    seen[r->start * NUMBERS] = 1;
    queue[n++] = r->start * NUMBERS;
    while (good && done < n) {
        uint32_t count = queue[done] % NUMBERS;
        const struct gram_state *s = &g->states[queue[done++] / NUMBERS];
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
            queue[n++] = (to & GRAM_STATE) * NUMBERS + next;
        }
        good = on;
    }
    free(seen);
    free(queue);
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

    good &= g->empty == walk_text(g, text, 0, false);
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
} sum;

static void try_text(const struct grammar *g)
{
    bool want = matches();

    sum.texts++;
    sum.matched += want;
    sum.wrong += walk_text(g, text, n_text, false) != want;
    sum.wrong_fits += walk_text(g, text, n_text, true) != want;
}

static void try_grammar(void)
{
    struct grammar *g = NULL;
    struct gxs w;
    struct err e = {0};
    int base;

    some_rules();
    gxs_init(&w);
    base = write_rules(&w);
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
    sum.levels += g->n_levels > 0;
    for (size_t i = 0; i < g->n_rules; i++)
        sum.counted += g->rules[i].counted;
    gram_unref(g);
}

int main(void)
{
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
    return done();
}
