#include "gram/compile_int.h"

#include <stdlib.h>
#include <string.h>

/* --- the automaton of every rule ------------------------------------------ */

struct build {
    struct compile *c;
    struct subset *subset;
    struct nfa nfa;
    uint32_t *of_def; /* [gxs.n_rules] index of the rule, + 1 */
    size_t cap_of_def;
};

static bool find_rule(struct build *b, uint32_t def, uint32_t *rule)
{
    struct compile *c = b->c;

    if (!b->of_def[def]) {
        const struct gx_rule_def *x = &c->w->rules[def];

        /* one more: where the callers of the last one end */
        if (!vec_room(c->w, c->rules, c->cap_rules, c->n_rules + 2))
            return false;
        if (!x->x) {
            gxs_fail(c->w, ST_INTERNAL, "", "a rule has no expression");
            return false;
        }
        c->rules[c->n_rules++] =
            (struct crule){.def = def,
                           .min = x->min,
                           .max = x->max,
                           .counted = x->min > 0 || x->max != GX_MANY};
        b->of_def[def] = (uint32_t)c->n_rules;
    }
    *rule = b->of_def[def] - 1;
    return true;
}

static bool build_rule(struct build *b, uint32_t rule)
{
    struct compile *c = b->c;
    struct crule *r = &c->rules[rule];
    size_t calls = c->all.n_calls;

    if (!nfa_build(&b->nfa, c->w->rules[r->def].x, r->counted) ||
        !subset_build(b->subset, &b->nfa, &c->all))
        return false;
    r->first = c->all.start;
    if (!dfa_minimise(c->w, &c->all, r->first))
        return false;
    r->n = (uint32_t)c->all.n_states - r->first;
    for (size_t i = calls; i < c->all.n_calls; i++)
        if (!find_rule(b, c->all.calls[i].rule, &c->all.calls[i].rule))
            return false;
    return true;
}

static bool build_rules(struct compile *c, int root)
{
    struct build b = {.c = c, .subset = subset_new(c->w)};
    bool done = false;
    uint32_t first;

    nfa_init(&b.nfa, c->w);
    if (!b.subset || !vec_room(c->w, b.of_def, b.cap_of_def, c->w->n_rules + 1))
        goto out;
    memset(b.of_def, 0, c->w->n_rules * sizeof(*b.of_def));
    done = find_rule(&b, (uint32_t)root, &first);
    for (uint32_t i = 0; done && i < c->n_rules; i++)
        done = build_rule(&b, i);
out:
    vec_drop(c->w, b.of_def, b.cap_of_def);
    nfa_release(&b.nfa);
    subset_free(b.subset);
    return done;
}

/* --- who calls whom ------------------------------------------------------- */

/* callers[rule.callers .. next rule's): one entry for every call. */
static bool list_callers(struct compile *c)
{
    struct dfa *d = &c->all;

    if (!vec_room(c->w, c->callers, c->cap_callers, d->n_calls + 1) ||
        !gxs_work(c->w, d->n_calls + d->n_states))
        return false;
    c->rules[c->n_rules] = (struct crule){0};
    for (size_t i = 0; i < d->n_calls; i++)
        c->rules[d->calls[i].rule].callers++;
    for (size_t i = 1; i <= c->n_rules; i++)
        c->rules[i].callers += c->rules[i - 1].callers;
    for (size_t i = 0; i < c->n_rules; i++) {
        const struct crule *r = &c->rules[i];
        const struct gram_state *s = &d->states[r->first];
        const struct gram_state *last = s + r->n - 1;

        for (size_t k = s->calls; k < (size_t)last->calls + last->n_calls; k++)
            c->callers[--c->rules[d->calls[k].rule].callers] = (uint32_t)i;
    }
    return true;
}

/* Rules that are called match some symbol. */
static bool check_empty(struct compile *c)
{
    for (size_t i = 0; i < c->n_rules; i++) {
        const struct crule *r = &c->rules[i];

        if (c->all.states[r->first].accept && !r->min &&
            r->callers < r[1].callers) {
            gxs_fail(c->w, ST_INTERNAL, "",
                     "a rule that is called matches the empty text");
            return false;
        }
    }
    return true;
}

/*
 * A rule that begins with a call of itself, through whatever others, would be
 * called for ever. Rules that nobody who is left begins with are taken away;
 * what cannot be taken away goes round.
 */
static bool check_recursion(struct compile *c)
{
    struct dfa *d = &c->all;
    size_t n = 0, done = 0;

    if (!vec_room(c->w, c->queue, c->cap_queue, c->n_rules))
        return false;
    for (size_t i = 0; i < c->n_rules; i++) {
        const struct gram_state *s = &d->states[c->rules[i].first];

        for (size_t k = 0; k < s->n_calls; k++)
            c->rules[d->calls[s->calls + k].rule].due++;
    }
    for (size_t i = 0; i < c->n_rules; i++)
        if (!c->rules[i].due)
            c->queue[n++] = (uint32_t)i;
    while (done < n) {
        const struct gram_state *s =
            &d->states[c->rules[c->queue[done++]].first];

        for (size_t k = 0; k < s->n_calls; k++) {
            uint32_t rule = d->calls[s->calls + k].rule;

            if (!--c->rules[rule].due)
                c->queue[n++] = rule;
        }
    }
    if (n == c->n_rules)
        return true;
    gxs_fail(c->w, ST_INVALID, "",
             "recursion without anything in between: what it stands for may "
             "begin with itself");
    return false;
}

/* --- the grammar ---------------------------------------------------------- */

struct writer {
    struct compile *c;
    struct grammar *g;
    uint32_t *state; /* [all.n_states] index in the grammar, + 1 */
    uint32_t *queue;
    size_t n_queue, cap_state, cap_queue;
};

static void use_state(struct writer *x, uint32_t state)
{
    if (x->state[state])
        return;
    x->state[state] = 1;
    x->queue[x->n_queue++] = state;
}

static bool leads_on(const struct compile *c, uint32_t to)
{
    return c->all.states[to & GRAM_STATE].least != PATHS_NONE;
}

static bool call_leads_on(const struct compile *c, const struct gram_call *call)
{
    return c->rules[call->rule].height && leads_on(c, call->to);
}

/* Mark what can be reached from the root and leads to an end; count it. */
static void use_all(struct writer *x)
{
    struct compile *c = x->c;
    struct dfa *d = &c->all;
    struct grammar *g = x->g;

    c->rules[0].out = 1;
    use_state(x, c->rules[0].first);
    for (size_t done = 0; done < x->n_queue; done++) {
        const struct gram_state *s = &d->states[x->queue[done]];

        g->n_states++;
        g->n_levels += s->n_levels;
        for (size_t k = 0; k < s->n_edges; k++) {
            uint32_t to = d->edges[s->edges + k].to;

            if (!leads_on(c, to))
                continue;
            g->n_edges++;
            use_state(x, to & GRAM_STATE);
        }
        for (size_t k = 0; k < s->n_calls; k++) {
            const struct gram_call *call = &d->calls[s->calls + k];

            if (!call_leads_on(c, call))
                continue;
            g->n_calls++;
            use_state(x, call->to & GRAM_STATE);
            c->rules[call->rule].out = 1;
            use_state(x, c->rules[call->rule].first);
        }
    }
}

static void number_all(struct writer *x)
{
    struct compile *c = x->c;
    uint32_t n = 0;

    for (size_t i = 0; i < c->n_rules; i++) {
        struct crule *r = &c->rules[i];

        if (!r->out)
            continue;
        r->out = (uint32_t)++x->g->n_rules;
        for (uint32_t k = 0; k < r->n; k++)
            if (x->state[r->first + k])
                x->state[r->first + k] = ++n;
    }
}

static bool table(struct writer *x, size_t n, size_t size, void *pp)
{
    struct gxs *w = x->c->w;
    struct grammar *g = x->g;
    size_t bytes = (n ? n : 1) * size; /* both small: counted before */
    void *p;

    if (bytes > GRAM_BYTES_MAX || g->bytes + bytes > GRAM_BYTES_MAX) {
        gxs_fail(w, ST_LIMIT, "",
                 "the grammar is too large: it takes more than %u MiB",
                 GRAM_BYTES_MAX >> 20);
        return false;
    }
    if (w->arena.used + w->scratch + g->bytes + bytes > w->memory) {
        gxs_crowded(w);
        return false;
    }
    g->bytes += bytes;
    p = mem_try(bytes);
    memcpy(pp, &p, sizeof(p));
    if (!p)
        gxs_fail(w, ST_NOMEM, "", "out of memory");
    return p;
}

static void write_levels(struct writer *x, struct gram_state *t,
                         const struct gram_state *s)
{
    struct grammar *g = x->g;
    uint32_t l = s->levels;

    t->levels = (uint32_t)g->n_levels;
    for (size_t i = s->n_levels; i-- > 0;) {
        const struct clevel *from = &x->c->levels[l - 1];

        g->levels[t->levels + i] =
            (struct gram_level){from->height, from->least, from->most};
        l = from->older;
    }
    g->n_levels += s->n_levels;
}

static void write_state(struct writer *x, const struct gram_state *s,
                        uint32_t rule)
{
    struct compile *c = x->c;
    struct grammar *g = x->g;
    struct gram_state *t = &g->states[g->n_states++];

    *t = *s;
    t->rule = rule;
    t->edges = (uint32_t)g->n_edges;
    t->calls = (uint32_t)g->n_calls;
    write_levels(x, t, s);
    for (size_t k = 0; k < s->n_edges; k++) {
        struct gram_edge e = c->all.edges[s->edges + k];

        if (!leads_on(c, e.to))
            continue;
        e.to = (x->state[e.to & GRAM_STATE] - 1) | (e.to & ~GRAM_STATE);
        g->edges[g->n_edges++] = e;
    }
    for (size_t k = 0; k < s->n_calls; k++) {
        struct gram_call call = c->all.calls[s->calls + k];

        if (!call_leads_on(c, &call))
            continue;
        call.to =
            (x->state[call.to & GRAM_STATE] - 1) | (call.to & ~GRAM_STATE);
        call.rule = c->rules[call.rule].out - 1;
        g->calls[g->n_calls++] = call;
    }
    t->n_edges = (uint16_t)(g->n_edges - t->edges);
    t->n_calls = (uint16_t)(g->n_calls - t->calls);
}

static void write_rule(struct writer *x, const struct crule *r)
{
    struct grammar *g = x->g;
    struct gram_rule *t = &g->rules[g->n_rules++];

    *t = (struct gram_rule){.start = x->state[r->first] - 1,
                            .counted = r->counted,
                            .min = r->counted ? r->min : 0,
                            .max = r->counted ? r->max : GX_MANY,
                            .height = r->height};
    for (uint32_t k = 0; k < r->n; k++) {
        const struct gram_state *s = &x->c->all.states[r->first + k];

        if (!x->state[r->first + k])
            continue;
        if (s->least > t->least_max)
            t->least_max = s->least;
        if (s->most != GX_MANY && s->most > t->most_max)
            t->most_max = s->most;
        write_state(x, s, (uint32_t)g->n_rules - 1);
    }
}

/* Rules whose first symbols are known first, then those that begin with them.
 * Rules are few steps from one another: nothing begins with itself. */
static bool write_firsts(struct grammar *g, struct gxs *w)
{
    bool more = true;

    for (size_t i = 0; i < g->n_rules; i++) {
        const struct gram_state *s = &g->states[g->rules[i].start];

        for (size_t k = 0; k < s->n_edges; k++)
            for (uint32_t c = g->edges[s->edges + k].lo;
                 c <= g->edges[s->edges + k].hi; c++)
                g->rules[i].first[c / 64] |= (uint64_t)1 << c % 64;
    }
    while (more) {
        more = false;
        for (size_t i = g->n_rules; i-- > 0;) {
            struct gram_rule *r = &g->rules[i];
            const struct gram_state *s = &g->states[r->start];

            if (!gxs_work(w, 1 + s->n_calls))
                return false;
            for (size_t k = 0; k < s->n_calls; k++) {
                const struct gram_rule *f =
                    &g->rules[g->calls[s->calls + k].rule];

                for (size_t j = 0; j < sizeof(r->first) / 8; j++) {
                    more |= (f->first[j] & ~r->first[j]) != 0;
                    r->first[j] |= f->first[j];
                }
            }
        }
    }
    return true;
}

static bool write_tables(struct writer *x)
{
    struct compile *c = x->c;
    struct grammar *g = x->g;

    if (!vec_room(c->w, x->state, x->cap_state, c->all.n_states) ||
        !vec_room(c->w, x->queue, x->cap_queue, c->all.n_states) ||
        !gxs_work(c->w, c->all.n_states + c->all.n_edges + c->all.n_calls))
        return false;
    memset(x->state, 0, c->all.n_states * sizeof(*x->state));
    use_all(x);
    number_all(x);
    if (!table(x, g->n_states, sizeof(*g->states), &g->states) ||
        !table(x, g->n_edges, sizeof(*g->edges), &g->edges) ||
        !table(x, g->n_calls, sizeof(*g->calls), &g->calls) ||
        !table(x, g->n_rules, sizeof(*g->rules), &g->rules) ||
        !table(x, g->n_levels, sizeof(*g->levels), &g->levels))
        return false;
    g->n_states = g->n_edges = g->n_calls = g->n_rules = g->n_levels = 0;
    for (size_t i = 0; i < c->n_rules; i++)
        if (c->rules[i].out)
            write_rule(x, &c->rules[i]);
    return write_firsts(g, c->w);
}

static struct grammar *write_grammar(struct compile *c)
{
    static _Atomic uint64_t next_id = 1;
    struct writer x = {.c = c, .g = mem_try(sizeof(*x.g))};
    struct grammar *g = x.g;

    if (!g) {
        gxs_fail(c->w, ST_NOMEM, "", "out of memory");
        return NULL;
    }
    atomic_init(&g->refs, 1);
    g->bytes = sizeof(*g);
    if (write_tables(&x)) {
        const struct gram_rule *r = &g->rules[0];

        g->empty = g->states[r->start].accept && !r->min;
        g->id = atomic_fetch_add(&next_id, 1);
    } else {
        gram_unref(g);
        g = NULL;
    }
    vec_drop(c->w, x.state, x.cap_state);
    vec_drop(c->w, x.queue, x.cap_queue);
    return g;
}

/* --- all of it ------------------------------------------------------------ */

static struct grammar *compile(struct compile *c, int root)
{
    if (!build_rules(c, root) || !list_callers(c) || !check_empty(c) ||
        !check_recursion(c) || !compile_levels(c))
        return NULL;
    if (!c->rules[0].height && c->n_due)
        gxs_fail(c->w, ST_INVALID, "",
                 "no text matches that nests at most %d deep", GRAM_DEPTH_MAX);
    else if (!c->rules[0].height)
        gxs_fail(c->w, ST_INVALID, "", "no text at all matches");
    if (c->w->err.st)
        return NULL;
    return write_grammar(c);
}

enum st gram_compile(struct grammar **out, struct gxs *w, int root,
                     struct err *e)
{
    struct compile c = {.w = w, .paths = {.w = w}};

    *out = NULL;
    if (root < 0 || (size_t)root >= w->n_rules)
        gxs_fail(w, ST_INTERNAL, "", "the grammar has no root");
    if (!w->err.st)
        *out = compile(&c, root);
    dfa_drop(w, &c.all);
    vec_drop(w, c.rules, c.cap_rules);
    vec_drop(w, c.callers, c.cap_callers);
    vec_drop(w, c.queue, c.cap_queue);
    vec_drop(w, c.due, c.cap_due);
    vec_drop(w, c.levels, c.cap_levels);
    paths_release(&c.paths);
    if (*out)
        return ST_OK;
    return err_set(e, w->err.st, w->err.where, "%s", w->err.text);
}
