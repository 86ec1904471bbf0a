#include "text/special.h"

struct entry {
    struct span raw;
    int32_t id;
};

static int by_bytes(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    size_t n = a->raw.n < b->raw.n ? a->raw.n : b->raw.n;
    int c = memcmp(a->raw.s, b->raw.s, n);

    if (!c)
        c = (a->raw.n > b->raw.n) - (a->raw.n < b->raw.n);
    return c ? c : (a->id > b->id) - (a->id < b->id);
}

static bool belongs(const struct lex *x, size_t i, enum special_set set)
{
    if (!x->raw[i].n)
        return false;
    if (set == SPECIAL_CONTENT)
        return x->type[i] == TOK_USER && lex_is_blank(x->raw[i]);
    return x->type[i] == TOK_USER || x->type[i] == TOK_CONTROL;
}

void special_release(struct special *p)
{
    free(p->id);
    *p = (struct special){0};
}

enum st special_init(struct special *p, const struct lex *lex,
                     enum special_set set, struct err *e)
{
    struct entry *v;
    size_t n = 0;

    *p = (struct special){.lex = lex};
    for (size_t i = 0; i < lex->n; i++)
        n += belongs(lex, i, set);
    v = mem_try_array(n, sizeof(*v));
    p->id = mem_try_array(n, sizeof(*p->id));
    if (!v || !p->id) {
        free(v);
        special_release(p);
        return err_set(e, ST_NOMEM, "tokenizer.ggml.tokens",
                       "no memory for %zu special tokens", n);
    }
    for (size_t i = 0; i < lex->n; i++)
        if (belongs(lex, i, set))
            v[p->n++] = (struct entry){lex->raw[i], (int32_t)i};
    qsort(v, n, sizeof(*v), by_bytes);
    for (size_t i = 0; i < n; i++) {
        p->id[i] = v[i].id;
        p->first[(unsigned char)v[i].raw.s[0]] = true;
    }
    free(v);
    return ST_OK;
}

/* First index in [lo, hi) whose byte d is at least c; all there are longer
 * than d and share the bytes before it. */
static size_t bound(const struct special *p, size_t lo, size_t hi, size_t d,
                    unsigned c)
{
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if ((unsigned char)p->lex->raw[p->id[mid]].s[d] < c)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct special_hit longest_here(const struct special *p, const char *s,
                                       size_t n)
{
    struct special_hit hit = {.id = -1};
    size_t lo = 0, hi = p->n;

    for (size_t d = 0; lo < hi; d++) {
        /* Entries that end here sort first; the last of equals counts. */
        while (lo < hi && p->lex->raw[p->id[lo]].n == d) {
            hit.n = d;
            hit.id = p->id[lo++];
        }
        if (d == n)
            break;
        hi = bound(p, lo, hi, d, (unsigned char)s[d] + 1u);
        lo = bound(p, lo, hi, d, (unsigned char)s[d]);
    }
    return hit;
}

struct special_hit special_next(const struct special *p, const char *s,
                                size_t n)
{
    for (size_t i = 0; i < n && p->n; i++) {
        struct special_hit hit;

        if (!p->first[(unsigned char)s[i]])
            continue;
        hit = longest_here(p, s + i, n - i);
        if (hit.id >= 0) {
            hit.at = i;
            return hit;
        }
    }
    return (struct special_hit){.at = n, .id = -1};
}
