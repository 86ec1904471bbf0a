#include "text/bpe.h"

/* Of a word that spells a token: its merges may lead elsewhere. */
enum { WHOLE_UNKNOWN, WHOLE_YES, WHOLE_NO };

static uint64_t pair_hash(int32_t left, int32_t right)
{
    uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) *
                 0x9e3779b97f4a7c15u;

    return h ^ h >> 32;
}

static struct bpe_pair *pair_at(const struct bpe *b, int32_t left,
                                int32_t right)
{
    size_t i = pair_hash(left, right) & b->mask;

    while (b->pair[i].left >= 0 &&
           (b->pair[i].left != left || b->pair[i].right != right))
        i = (i + 1) & b->mask;
    return &b->pair[i];
}

void bpe_release(struct bpe *b)
{
    free(b->pair);
    free(b->whole);
    *b = (struct bpe){0};
}

#define AHEAD 16 /* merges whose tokens are looked up together */

struct asked { /* one merge: what it names */
    struct lex_query left, right, both;
    bool known; /* spelled in bytes that there are */
};

/* `tmp` has room for the merge; the queries point there. */
static enum st ask(const struct lex *x, struct asked *a, struct span m,
                   size_t rank, char *tmp, struct err *e)
{
    const char *sp = m.n > 2 ? memchr(m.s + 1, ' ', m.n - 2) : NULL;
    size_t nl, nr, n = sp ? (size_t)(sp - m.s) : 0;

    if (!sp)
        return err_set(e, ST_FORMAT, "tokenizer.ggml.merges",
                       "entry %zu is not two tokens and a space", rank);
    a->known = lex_unmap(m.s, n, tmp, &nl) &&
               lex_unmap(sp + 1, m.n - n - 1, tmp + nl, &nr);
    if (!a->known)
        return ST_OK;
    lex_ask(x, &a->left, tmp, nl);
    lex_ask(x, &a->right, tmp + nl, nr);
    lex_ask(x, &a->both, tmp, nl + nr);
    return ST_OK;
}

/* Lists name a pair once; the first counts. */
static void add_merge(struct bpe *b, const struct asked *a, size_t rank)
{
    struct bpe_pair p = {
        .left = lex_answer(b->lex, &a->left),
        .right = lex_answer(b->lex, &a->right),
        .id = lex_answer(b->lex, &a->both),
        .rank = (uint32_t)rank,
    }, *slot;

    if (p.left < 0 || p.right < 0 || p.id < 0)
        return;
    slot = pair_at(b, p.left, p.right);
    if (slot->left < 0)
        *slot = p;
}

/* tmp: AHEAD times `longest` bytes. */
static enum st add_merges(struct bpe *b, const struct tok_spec *spec,
                          char *tmp, size_t longest, struct err *e)
{
    struct asked a[AHEAD];

    for (size_t from = 0; from < spec->n_merges; from += AHEAD) {
        size_t left = spec->n_merges - from, n = left < AHEAD ? left : AHEAD;

        for (size_t k = 0; k < n; k++) {
            enum st st = ask(b->lex, &a[k], spec->merges[from + k], from + k,
                             tmp + k * longest, e);

            if (st)
                return st;
        }
        for (size_t k = 0; k < n; k++)
            if (a[k].known)
                add_merge(b, &a[k], from + k);
    }
    return ST_OK;
}

enum st bpe_init(struct bpe *b, const struct lex *lex,
                 const struct tok_spec *spec, struct err *e)
{
    size_t slots = 16, longest = 1;
    enum st st = ST_OK;
    char *tmp;

    *b = (struct bpe){.lex = lex, .ignore_merges = spec->ignore_merges};
    if (spec->n_merges > INT32_MAX)
        return err_set(e, ST_FORMAT, "tokenizer.ggml.merges",
                       "%zu merges; at most 2^31 are accepted",
                       spec->n_merges);
    while (slots < spec->n_merges * 2)
        slots *= 2;
    for (size_t i = 0; i < spec->n_merges; i++)
        if (spec->merges[i].n > longest)
            longest = spec->merges[i].n;
    b->pair = mem_try_table(slots, sizeof(*b->pair));
    b->mask = slots - 1;
    b->whole = mem_try_array(lex->n, sizeof(*b->whole)); /* WHOLE_UNKNOWN */
    tmp = mem_try_array(longest, AHEAD);
    if (b->pair && b->whole && tmp) {
        for (size_t i = 0; i < slots; i++)
            b->pair[i].left = -1;
        st = add_merges(b, spec, tmp, longest, e);
    } else {
        st = err_set(e, ST_NOMEM, "tokenizer.ggml.merges",
                     "no memory for %zu merges", spec->n_merges);
    }
    free(tmp);
    if (st)
        bpe_release(b);
    return st;
}

static bool rule(const void *arg, const struct merge_sym *l,
                 const struct merge_sym *r, uint32_t *rank, int32_t *id)
{
    const struct bpe *b = arg;
    const struct bpe_pair *p;

    if (l->id < 0 || r->id < 0)
        return false;
    p = pair_at(b, l->id, r->id);
    if (p->left < 0)
        return false;
    *rank = p->rank;
    *id = p->id;
    return true;
}

/* The merges of one word. */
static enum st merged(const struct bpe *b, struct merge *m, const char *s,
                      size_t n, struct ids *out, struct err *e)
{
    const struct lex *x = b->lex;
    enum st st = merge_begin(m, n, e);

    if (st)
        return st;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];

        merge_add(m, i, 1, x->byte_own[c] ? x->byte_id[c] : -1);
    }
    st = merge_run(m, rule, b, e);
    for (uint32_t i = 0; i != MERGE_END && !st; i = m->sym[i].next) {
        int32_t id = m->sym[i].id;

        ids_add(out, id >= 0 ? id
                             : x->byte_id[(unsigned char)s[m->sym[i].pos]]);
    }
    return st;
}

enum st bpe_word(const struct bpe *b, struct merge *m, const char *s, size_t n,
                 struct ids *out, struct err *e)
{
    int32_t id = n <= b->lex->longest ? lex_find_piece(b->lex, s, n) : -1;
    unsigned char whole = WHOLE_NO;
    size_t before = out->n;
    enum st st;

    if (id >= 0)
        whole = b->ignore_merges ? WHOLE_YES
                                 : atomic_load_explicit(&b->whole[id],
                                                        memory_order_relaxed);
    if (whole == WHOLE_YES) {
        ids_add(out, id);
        return ST_OK;
    }
    st = merged(b, m, s, n, out, e);
    if (!st && !out->failed && whole == WHOLE_UNKNOWN)
        atomic_store_explicit(&b->whole[id],
                              out->n == before + 1 && out->p[before] == id
                                  ? WHOLE_YES : WHOLE_NO,
                              memory_order_relaxed);
    return st;
}
