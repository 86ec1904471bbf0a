#include "gram/charset.h"
#include "text/uni_cat.h"
#include <string.h>

#define CP_MAX 0x10ffffu
#define SURROGATE_LO 0xd800u
#define SURROGATE_HI 0xdfffu

void charset_init(struct charset *c, struct arena *a)
{
    *c = (struct charset){.arena = a};
}

void charset_init_few(struct charset *c, struct arena *a,
                      struct char_range *few, size_t n)
{
    *c = (struct charset){.arena = a, .p = few, .cap = n};
}

void charset_clear(struct charset *c)
{
    c->n = 0;
}

/* Room for one more. */
static bool grow(struct charset *c)
{
    size_t cap = c->cap ? c->cap * 2 : 8;
    struct char_range *p;

    if (c->n < c->cap)
        return true;
    p = c->n < CHARSET_MAX ? arena_array(c->arena, cap, sizeof(*p)) : NULL;
    if (!p) {
        c->failed = true;
        return false;
    }
    if (c->n)
        memcpy(p, c->p, c->n * sizeof(*p));
    c->p = p;
    c->cap = cap;
    return true;
}

/* The first range that ends at or behind cp; n: none does. */
static size_t range_at(const struct charset *c, uint32_t cp)
{
    size_t lo = 0, hi = c->n;

    if (c->n && c->p[c->n - 1].hi < cp)
        return c->n; /* most sets are made in order */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (c->p[mid].hi < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* lo..hi, which holds neither surrogates nor anything beyond CP_MAX. */
static void add(struct charset *c, uint32_t lo, uint32_t hi)
{
    size_t i = range_at(c, lo ? lo - 1 : 0), j = i;

    /* i..j: those that overlap it or touch it */
    while (j < c->n && c->p[j].lo <= hi + 1) {
        lo = c->p[j].lo < lo ? c->p[j].lo : lo;
        hi = c->p[j].hi > hi ? c->p[j].hi : hi;
        j++;
    }
    if (i == j) {
        if (!grow(c))
            return;
        memmove(c->p + i + 1, c->p + i, (c->n - i) * sizeof(*c->p));
        c->n++;
    } else if (j > i + 1) {
        memmove(c->p + i + 1, c->p + j, (c->n - j) * sizeof(*c->p));
        c->n -= j - i - 1;
    }
    c->p[i] = (struct char_range){lo, hi};
}

void charset_add(struct charset *c, uint32_t lo, uint32_t hi)
{
    if (hi > CP_MAX)
        hi = CP_MAX;
    if (c->failed || lo > hi)
        return;
    if (hi < SURROGATE_LO || lo > SURROGATE_HI) {
        add(c, lo, hi);
        return;
    }
    if (lo < SURROGATE_LO)
        add(c, lo, SURROGATE_LO - 1);
    if (hi > SURROGATE_HI && !c->failed)
        add(c, SURROGATE_HI + 1, hi);
}

void charset_add_set(struct charset *c, const struct charset *other)
{
    if (other->failed)
        c->failed = true;
    for (size_t i = 0; i < other->n; i++)
        charset_add(c, other->p[i].lo, other->p[i].hi);
}

void charset_invert(struct charset *c)
{
    uint32_t next = 0;
    struct charset out;

    charset_init(&out, c->arena);
    out.failed = c->failed;
    for (size_t i = 0; i < c->n; i++) {
        if (c->p[i].lo)
            charset_add(&out, next, c->p[i].lo - 1);
        next = c->p[i].hi + 1;
    }
    charset_add(&out, next, CP_MAX);
    *c = out;
}

void charset_fold(struct charset *c)
{
    struct char_range few[CHARSET_FEW];
    struct charset more; /* those of a set that does not change meanwhile */

    charset_init_few(&more, c->arena, few, CHARSET_FEW);
    for (size_t i = 0; i < c->n; i++) {
        uint32_t cp = uni_fold_from(c->p[i].lo);

        while (cp <= c->p[i].hi) { /* UNI_NOTHING is beyond them all */
            for (uint32_t o = uni_fold_next(cp); o != cp; o = uni_fold_next(o))
                charset_add(&more, o, o);
            cp = uni_fold_from(cp + 1);
        }
    }
    charset_add_set(c, &more);
}

static void add_categories(struct charset *c, uint32_t mask)
{
    uint32_t lo, hi;

    for (uint32_t at = 0; uni_cat_run(mask, at, &lo, &hi); at = hi + 1)
        charset_add(c, lo, hi);
}

static void add_white_space(struct charset *c)
{
    charset_add(c, '\t', '\r');
    charset_add(c, 0x85, 0x85);
    add_categories(c, uni_cat_named((struct span){"Z", 1}));
}

/* Without `prefix`, when it begins with it. */
static struct span behind(struct span name, const char *prefix)
{
    size_t n = strlen(prefix);

    if (name.n > n && memcmp(name.s, prefix, n) == 0)
        return (struct span){name.s + n, name.n - n};
    return name;
}

bool charset_add_class(struct charset *c, struct span name)
{
    struct span cat = behind(name, "gc=");
    uint32_t mask;

    if (cat.n == name.n)
        cat = behind(name, "General_Category=");
    mask = uni_cat_named(cat);

    if (mask)
        add_categories(c, mask);
    else if (span_is(name, "Any"))
        charset_add(c, 0, CP_MAX);
    else if (span_is(name, "ASCII"))
        charset_add(c, 0, 0x7f);
    else if (span_is(name, "Assigned"))
        add_categories(c, ~(1u << UNI_CN));
    else if (span_is(name, "White_Space"))
        add_white_space(c);
    else
        return false;
    return true;
}

bool charset_has(const struct charset *c, uint32_t cp)
{
    size_t i = range_at(c, cp);

    return i < c->n && c->p[i].lo <= cp;
}
