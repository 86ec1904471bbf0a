#include "gram/expr_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COPIES_MIN 8

static const struct gx empty_gx = {.kind = GXK_EMPTY};
static const struct gx none_gx = {.kind = GXK_NONE};
static const struct gx space_gx = {.kind = GXK_SPACE, .has = GXH_SPACE};
static const struct gx begin_gx = {.kind = GXK_BEGIN, .has = GXH_ANCHOR};
static const struct gx end_gx = {.kind = GXK_END, .has = GXH_ANCHOR};

/* --- the workshop --------------------------------------------------------- */

void gxs_init(struct gxs *w)
{
    memset(w, 0, sizeof(*w));
    w->memory = GX_MEMORY;
    arena_init(&w->arena, GX_ARENA);
}

void gxs_release(struct gxs *w)
{
    arena_release(&w->arena);
    vec_drop(w, w->rules, w->cap_rules);
    w->n_rules = 0;
}

void gxs_fail(struct gxs *w, enum st st, const char *where, const char *fmt,
              ...)
{
    char text[sizeof(w->err.text)];
    va_list ap;

    if (w->err.st)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    err_set(&w->err, st, where, "%s", text);
}

bool gxs_work(struct gxs *w, uint64_t steps)
{
    if (w->err.st)
        return false;
    w->work += steps;
    if (w->work <= GX_WORK_MAX)
        return true;
    gxs_fail(w, ST_LIMIT, "",
             "the grammar is too large: it takes more than %u steps of "
             "construction",
             GX_WORK_MAX);
    return false;
}

/* --- expressions ---------------------------------------------------------- */

static struct gx *node(struct gxs *w, enum gx_kind kind, uint8_t has)
{
    struct gx *x = gxs_work(w, 1) ? gxs_alloc(w, 1, sizeof(*x)) : NULL;

    if (x) {
        x->kind = (uint8_t)kind;
        x->has = has;
    }
    return x;
}

const struct gx *gx_empty(struct gxs *w)
{
    (void)w;
    return &empty_gx;
}

const struct gx *gx_none(struct gxs *w)
{
    (void)w;
    return &none_gx;
}

const struct gx *gx_bytes(struct gxs *w, const char *s, size_t n)
{
    struct gx *x;
    char *copy;

    if (!n)
        return &empty_gx;
    x = node(w, GXK_BYTES, 0);
    copy = x && gxs_work(w, n / 8) ? gxs_alloc(w, n, 1) : NULL;
    if (!copy)
        return &none_gx;
    memcpy(copy, s, n);
    x->s = copy;
    x->n = (uint32_t)n; /* it fitted in the arena */
    return x;
}

const struct gx *gx_lit(struct gxs *w, const char *literal)
{
    return gx_bytes(w, literal, strlen(literal));
}

static const struct gx *symbols(struct gxs *w, uint16_t lo, uint16_t hi)
{
    struct gx *x;

    if (lo > hi)
        return &none_gx;
    x = node(w, GXK_SYMBOLS, hi > 255 ? GXH_MARK : 0);
    if (!x)
        return &none_gx;
    x->lo = lo;
    x->hi = hi;
    return x;
}

const struct gx *gx_range(struct gxs *w, uint8_t lo, uint8_t hi)
{
    return symbols(w, lo, hi);
}

const struct gx *gx_mark(struct gxs *w, int k)
{
    if (k < 0 || k >= GX_MARKS) {
        gxs_fail(w, ST_LIMIT, "",
                 "the grammar uses more than %d control tokens", GX_MARKS);
        return &none_gx;
    }
    return symbols(w, (uint16_t)(256 + k), (uint16_t)(256 + k));
}

const struct gx *gx_space(struct gxs *w)
{
    (void)w;
    return &space_gx;
}

/* A list without the elements that say nothing. `neutral`: the kind of those.
 * What is left of one or none is itself. */
static const struct gx *list(struct gxs *w, const struct gx *const *of,
                             size_t n, enum gx_kind kind,
                             const struct gx *neutral)
{
    const struct gx **copy;
    uint8_t has = 0;
    struct gx *x;
    size_t k = 0;

    if (!gxs_work(w, n))
        return &none_gx;
    for (size_t i = 0; i < n; i++) {
        if (kind == GXK_SEQ && of[i]->kind == GXK_NONE)
            return &none_gx;
        k += of[i]->kind != neutral->kind;
    }
    if (!k)
        return neutral;
    if (k == 1)
        for (size_t i = 0; i < n; i++)
            if (of[i]->kind != neutral->kind)
                return of[i];
    x = node(w, kind, 0);
    copy = x ? gxs_alloc(w, k, sizeof(*copy)) : NULL;
    if (!copy)
        return &none_gx;
    for (size_t i = k = 0; i < n; i++) {
        if (of[i]->kind == neutral->kind)
            continue;
        has |= of[i]->has;
        copy[k++] = of[i];
    }
    x->has = has;
    x->of = copy;
    x->n = (uint32_t)k;
    return x;
}

const struct gx *gx_seqn(struct gxs *w, const struct gx *const *of, size_t n)
{
    return list(w, of, n, GXK_SEQ, &empty_gx);
}

const struct gx *gx_seq(struct gxs *w, const struct gx *a, const struct gx *b)
{
    return gx_seqn(w, (const struct gx *const[]){a, b}, 2);
}

const struct gx *gx_altn(struct gxs *w, const struct gx *const *of, size_t n)
{
    return list(w, of, n, GXK_ALT, &none_gx);
}

const struct gx *gx_alt(struct gxs *w, const struct gx *a, const struct gx *b)
{
    return gx_altn(w, (const struct gx *const[]){a, b}, 2);
}

const struct gx *gx_opt(struct gxs *w, const struct gx *x)
{
    return gx_alt(w, &empty_gx, x);
}

const struct gx *gx_star(struct gxs *w, const struct gx *x)
{
    struct gx *star;

    if (x->kind == GXK_EMPTY || x->kind == GXK_NONE)
        return &empty_gx;
    if (x->kind == GXK_STAR || x->kind == GXK_SPACE)
        return x;
    star = node(w, GXK_STAR, x->has);
    if (!star)
        return &none_gx;
    star->one = x;
    return star;
}

/* --- parts ---------------------------------------------------------------- */

const struct gx *gx_begin(struct gxs *w)
{
    (void)w;
    return &begin_gx;
}

const struct gx *gx_end(struct gxs *w)
{
    (void)w;
    return &end_gx;
}

const struct gx *gx_part(struct gxs *w, const struct dfa *d)
{
    struct gx *x;

    if (!d || !d->n_states)
        return &none_gx;
    x = node(w, GXK_DFA, 0);
    if (!x)
        return &none_gx;
    x->dfa = d;
    return x;
}

/* The automaton of an operand. `anchors`: it may have some. */
static const struct dfa *operand(struct gxs *w, const struct gx *x,
                                 bool anchors)
{
    if (x->has & (GXH_CALL | GXH_MARK | GXH_SPACE)) {
        gxs_fail(w, ST_INTERNAL, "",
                 "a regular part has calls, marks or spaces");
        return NULL;
    }
    if (!anchors && x->has & GXH_ANCHOR) {
        gxs_fail(w, ST_INTERNAL, "", "an anchor is not inside of a whole text");
        return NULL;
    }
    return x->kind == GXK_DFA ? x->dfa : part_compile(w, x);
}

const struct gx *gx_whole(struct gxs *w, const struct gx *x)
{
    if (!(x->has & GXH_ANCHOR))
        return x;
    return gx_part(w, operand(w, x, true));
}

static const struct gx *product(struct gxs *w, const struct gx *a,
                                const struct gx *b, enum part_op op)
{
    const struct dfa *da = operand(w, a, false);
    const struct dfa *db = da ? operand(w, b, false) : NULL;

    return gx_part(w, db ? part_product(w, da, db, op) : NULL);
}

const struct gx *gx_both(struct gxs *w, const struct gx *a, const struct gx *b)
{
    return product(w, a, b, PART_BOTH);
}

const struct gx *gx_minus(struct gxs *w, const struct gx *a, const struct gx *b)
{
    return product(w, a, b, PART_MINUS);
}

const struct gx *gx_counted(struct gxs *w, const struct gx *x,
                            enum gx_form form)
{
    const struct dfa *d = operand(w, x, false);

    return gx_part(w, d ? part_counted(w, d, form) : NULL);
}

/* What is written out many times is compiled first: a class of characters is
 * thousands of ranges as it is written, and a few hundred states. */
static const struct gx *copied(struct gxs *w, const struct gx *x,
                               uint32_t times)
{
    if (times < COPIES_MIN || x->has || x->kind == GXK_DFA ||
        x->kind == GXK_BYTES || x->kind == GXK_SYMBOLS)
        return x;
    return gx_part(w, part_compile(w, x));
}

const struct gx *gx_repeat(struct gxs *w, const struct gx *x, uint32_t min,
                           uint32_t max)
{
    struct gx *r;

    if (min > max || (x->kind == GXK_NONE && min))
        return &none_gx;
    if (!max || x->kind == GXK_EMPTY || x->kind == GXK_NONE)
        return &empty_gx;
    if (max == 1)
        return min ? x : gx_opt(w, x);
    if (!min && max == GX_MANY)
        return gx_star(w, x);
    x = copied(w, x, max == GX_MANY ? min : max);
    r = node(w, GXK_REPEAT, x->has);
    if (!r)
        return &none_gx;
    r->one = x;
    r->n = min;
    r->max = max;
    return r;
}

/* --- rules ---------------------------------------------------------------- */

int gx_rule(struct gxs *w)
{
    if (!gxs_work(w, 1))
        return -1;
    if (w->n_rules >= GX_RULES_MAX) {
        gxs_fail(w, ST_LIMIT, "",
                 "the grammar is too large: it has more than %d rules",
                 GX_RULES_MAX);
        return -1;
    }
    if (!vec_room(w, w->rules, w->cap_rules, w->n_rules + 1))
        return -1;
    w->rules[w->n_rules] = (struct gx_rule_def){0};
    return (int)w->n_rules++;
}

void gx_rule_set(struct gxs *w, int rule, const struct gx *x, uint32_t min,
                 uint32_t max)
{
    if (rule < 0 || (size_t)rule >= w->n_rules)
        return;
    if (x->has & GXH_ANCHOR)
        gxs_fail(w, ST_INTERNAL, "", "an anchor is not inside of a whole text");
    w->rules[rule] = (struct gx_rule_def){x, min, max};
}

const struct gx *gx_call(struct gxs *w, int rule, bool counts)
{
    struct gx *x;

    if (rule < 0 || (size_t)rule >= w->n_rules)
        return &none_gx; /* gx_rule has noted why */
    x = node(w, GXK_CALL, GXH_CALL);
    if (!x)
        return &none_gx;
    x->n = (uint32_t)rule;
    x->counts = counts;
    return x;
}
