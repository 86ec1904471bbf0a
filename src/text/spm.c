#include "text/spm.h"

#include "base/utf8.h"

struct scored {
    float score;
    uint32_t id;
};

static int by_score(const void *pa, const void *pb)
{
    const struct scored *a = pa, *b = pb;

    return (a->score < b->score) - (a->score > b->score);
}

void spm_release(struct spm *p)
{
    free(p->rank);
    *p = (struct spm){0};
}

static unsigned pair_of(const char *s)
{
    return (unsigned)(unsigned char)s[0] << 8 | (unsigned char)s[1];
}

static void note_pairs(struct spm *p)
{
    for (size_t i = 0; i < p->lex->n; i++) {
        struct span t = p->lex->piece[i];

        if (p->lex->type[i] != TOK_NORMAL && p->lex->type[i] != TOK_USER)
            continue;
        for (size_t k = 0; k + 1 < t.n; k++) {
            unsigned v = pair_of(t.s + k);

            p->meets[v >> 3] |= (uint8_t)(1u << (v & 7));
        }
    }
}

/* Where the first part of s[0..n) ends that can be encoded on its own. */
static size_t part_len(const struct spm *p, const char *s, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        unsigned v = pair_of(s + i - 1);

        if (((unsigned char)s[i] & 0xc0) != 0x80 &&
            !(p->meets[v >> 3] >> (v & 7) & 1))
            return i;
    }
    return n;
}

enum st spm_init(struct spm *p, const struct lex *lex,
                 const struct tok_spec *spec, struct err *e)
{
    struct scored *v;
    uint32_t rank = 0;

    *p = (struct spm){.lex = lex, .space_first = spec->add_space_prefix};
    if (!spec->scores)
        return err_set(e, ST_FORMAT, "tokenizer.ggml.scores",
                       "missing; the llama tokenizer needs them");
    for (size_t i = 0; i < lex->n; i++)
        if (spec->scores[i] != spec->scores[i])
            return err_set(e, ST_FORMAT, "tokenizer.ggml.scores",
                           "entry %zu is not a number", i);
    p->rank = mem_try_array(lex->n, sizeof(*p->rank));
    v = mem_try_array(lex->n, sizeof(*v));
    if (!p->rank || !v) {
        free(v);
        spm_release(p);
        return err_set(e, ST_NOMEM, "tokenizer.ggml.scores",
                       "no memory for %zu scores", lex->n);
    }
    for (size_t i = 0; i < lex->n; i++)
        v[i] = (struct scored){spec->scores[i], (uint32_t)i};
    qsort(v, lex->n, sizeof(*v), by_score);
    for (size_t i = 0; i < lex->n; i++) {
        if (i && v[i].score < v[i - 1].score)
            rank++;
        p->rank[v[i].id] = rank;
    }
    free(v);
    note_pairs(p);
    return ST_OK;
}

struct job {
    const struct spm *p;
    const char *s; /* with spaces for U+2581 */
};

static bool rule(const void *arg, const struct merge_sym *l,
                 const struct merge_sym *r, uint32_t *rank, int32_t *id)
{
    const struct job *j = arg;
    size_t n = (size_t)l->len + r->len;

    if (n > j->p->lex->longest)
        return false;
    *id = lex_find_piece(j->p->lex, j->s + l->pos, n);
    if (*id < 0)
        return false;
    *rank = j->p->rank[*id];
    return true;
}

static void emit(const struct lex *x, const struct merge *m, const char *s,
                 struct ids *out)
{
    for (uint32_t i = 0; i != MERGE_END; i = m->sym[i].next) {
        const struct merge_sym *y = &m->sym[i];

        if (y->id >= 0) {
            ids_add(out, y->id);
            continue;
        }
        for (uint32_t k = 0; k < y->len; k++)
            ids_add(out, x->byte_id[(unsigned char)s[y->pos + k]]);
    }
}

static enum st one_part(const struct spm *p, struct merge *m, const char *s,
                        size_t n, struct ids *out, struct err *e)
{
    enum st st = merge_begin(m, n, e);

    for (size_t i = 0; i < n && !st;) {
        uint32_t cp;
        size_t len = utf8_decode(s + i, n - i, &cp);

        BUG_ON(!len);
        merge_add(m, i, len, lex_find_piece(p->lex, s + i, len));
        i += len;
    }
    if (!st)
        st = merge_run(m, rule, &(struct job){p, s}, e);
    if (!st)
        emit(p->lex, m, s, out);
    return st;
}

enum st spm_text(const struct spm *p, struct merge *m, enum spm_lead lead,
                 const char *s, size_t n, struct ids *out, struct err *e)
{
    enum st st = ST_OK;
    size_t k = 0, room;
    char *t;

    if (!n)
        return ST_OK;
    if (!mem_add(&room, n, 1))
        return err_set(e, ST_LIMIT, "", "a text of %zu bytes", n);
    t = mem_try(room);
    if (!t)
        return err_set(e, ST_NOMEM, "", "no memory for %zu bytes", room);
    if (lead == SPM_LEAD && p->space_first)
        t[k++] = ' ';
    /* U+2581 and the space are one thing to these vocabularies */
    k += lex_unmark(s, n, t + k);
    for (size_t at = 0; at < k && !st && !out->failed;) {
        size_t len = part_len(p, t + at, k - at);

        st = one_part(p, m, t + at, len, out, e);
        at += len;
    }
    free(t);
    return st;
}
