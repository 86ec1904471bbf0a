#include "api/lexicon.h"

#include "base/thread.h"
#include "chat/format.h"
#include "text/tok.h"

#define BEGINS_MAX 65536
#define SILENT_MAX 4096

struct one {
    const struct catalog_model *model;
    struct lexicon *l; /* one reference */
    struct one *next;
};

struct lexicons {
    pthread_mutex_t mu; /* guards all of it, also while one is made: who needs
                         * the same waits for it */
    struct one *first;
    int64_t built_us;
};

/* --- what an id says ----------------------------------------------------- */

static bool is_silent(const struct lexicon *l, int32_t id)
{
    size_t lo = 0, hi = l->n_silent;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (l->silent[mid] == id)
            return true;
        if (l->silent[mid] < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

static bool is_blank(struct span s)
{
    size_t i = 0;

    while (i < s.n && (s.s[i] == ' ' || s.s[i] == '\n' || s.s[i] == '\t' ||
                       s.s[i] == '\r'))
        i++;
    return i == s.n;
}

struct span lexicon_piece(const struct lexicon *l, int32_t id)
{
    static const struct span nothing = {"", 0};
    struct span s;

    if (id < 0 || (size_t)id >= tok_count(l->tok) || is_silent(l, id))
        return nothing;
    s = tok_piece(l->tok, id);
    switch (tok_type_of(l->tok, id)) {
    case TOK_NORMAL:
    case TOK_BYTE:
        return s;
    case TOK_USER: /* structure, but for runs of white space */
        return is_blank(s) ? s : nothing;
    case TOK_UNKNOWN:
    case TOK_CONTROL:
    case TOK_UNUSED:
        break;
    }
    return nothing;
}

/* --- lists --------------------------------------------------------------- */

static int by_id(const void *va, const void *vb)
{
    int32_t a = *(const int32_t *)va, b = *(const int32_t *)vb;

    return a < b ? -1 : a > b;
}

static bool keep(int32_t **out, size_t *n, struct ids *from)
{
    *out = mem_try_array(from->n ? from->n : 1, sizeof(**out));
    if (!*out || from->failed)
        return false;
    if (from->n)
        memcpy(*out, from->p, from->n * sizeof(**out));
    *n = from->n;
    return true;
}

/* The ids that end a turn, and, where the answer is an element of a form, the
 * one that closes elements. */
static bool find_ends(struct lexicon *l, const struct catalog_model *m)
{
    struct ids ends, close;
    bool fits;

    ids_init(&ends, SILENT_MAX);
    ids_init(&close, THINK_IDS_MAX);
    for (size_t i = 0; i < m->n_stop; i++)
        ids_add(&ends, m->stop_ids[i]);
    if (l->channels)
        format_think_ids(m->format, true, &close);
    if (close.n)
        ids_add(&ends, close.p[0]);
    fits = keep(&l->ends, &l->n_ends, &ends);
    ids_release(&ends);
    ids_release(&close);
    return fits;
}

/* What the reply reads as structure whatever its type is, and what ends it. */
static bool find_silent(struct lexicon *l, const struct catalog_model *m)
{
    struct ids silent;
    bool fits;

    ids_init(&silent, SILENT_MAX);
    for (size_t i = 0; i < l->n_ends; i++)
        ids_add(&silent, l->ends[i]);
    if (m->format) {
        ids_add(&silent, format_think_open_id(m->format));
        ids_add(&silent, format_think_close_id(m->format));
    }
    if (silent.n)
        qsort(silent.p, silent.n, sizeof(*silent.p), by_id);
    fits = keep(&l->silent, &l->n_silent, &silent);
    ids_release(&silent);
    return fits;
}

static bool only_breaks(struct span s)
{
    size_t i = 0;

    while (i < s.n && s.s[i] == '\n')
        i++;
    return i == s.n;
}

/* Twice through them: those of newlines alone come first. */
static bool find_begins(struct lexicon *l, const struct span *pieces, size_t n)
{
    struct ids begins;
    bool fits;

    ids_init(&begins, BEGINS_MAX);
    for (int more = 0; more < 2; more++) {
        for (size_t i = 0; i < n; i++)
            if (pieces[i].n && pieces[i].s[0] == '\n' &&
                only_breaks(pieces[i]) == !more)
                ids_add(&begins, (int32_t)i);
        if (!more)
            l->n_breaks = begins.n;
    }
    fits = keep(&l->begins, &l->n_begins, &begins);
    ids_release(&begins);
    return fits;
}

/* --- one ----------------------------------------------------------------- */

void lexicon_unref(struct lexicon *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) > 1)
        return;
    gram_pool_free(l->pool);
    gram_vocab_free(l->vocab);
    free(l->silent);
    free(l->begins);
    free(l->ends);
    free(l);
}

static enum st fill(struct lexicon *l, const struct catalog_model *m,
                    struct err *e)
{
    size_t n = tok_count(m->tok);
    struct span *pieces = mem_try_array(n ? n : 1, sizeof(*pieces));
    enum st st = ST_OK;

    l->tok = m->tok;
    l->channels = m->format && format_dialect(m->format) &&
                  format_dialect(m->format)->channels;
    l->strips = m->format && tok_strips_first_space(m->tok);
    if (!pieces || !find_ends(l, m) || !find_silent(l, m))
        st = err_set(e, ST_NOMEM, "", "no memory for this request");
    for (size_t i = 0; i < n && !st; i++)
        pieces[i] = lexicon_piece(l, (int32_t)i);
    if (!st && !find_begins(l, pieces, n))
        st = err_set(e, ST_NOMEM, "", "no memory for this request");
    if (!st)
        st = gram_vocab_new(&l->vocab, pieces, n, e);
    if (!st) {
        l->pool = gram_pool_new(l->vocab);
        if (!l->pool)
            st = err_set(e, ST_NOMEM, "", "no memory for this request");
    }
    free(pieces);
    return st;
}

static enum st make(struct lexicon **out, const struct catalog_model *m,
                    struct err *e)
{
    struct lexicon *l = mem_new(struct lexicon);
    enum st st;

    atomic_store(&l->refs, 1);
    st = fill(l, m, e);
    if (st) {
        lexicon_unref(l);
        l = NULL;
    }
    *out = l;
    return st;
}

/* --- all of them --------------------------------------------------------- */

struct lexicons *lexicons_new(void)
{
    struct lexicons *c = mem_new(struct lexicons);

    pthread_mutex_init(&c->mu, NULL);
    return c;
}

void lexicons_free(struct lexicons *c)
{
    if (!c)
        return;
    while (c->first) {
        struct one *o = c->first;

        c->first = o->next;
        lexicon_unref(o->l);
        free(o);
    }
    pthread_mutex_destroy(&c->mu);
    free(c);
}

static enum st get_locked(struct lexicons *c, const struct catalog_model *m,
                          struct lexicon **out, struct err *e)
{
    struct one *o = c->first;
    int64_t began = mono_us();
    struct lexicon *l;
    enum st st;

    while (o && o->model != m)
        o = o->next;
    if (!o) {
        st = make(&l, m, e);
        if (st)
            return st;
        o = mem_new(struct one);
        *o = (struct one){m, l, c->first};
        c->first = o;
        c->built_us += mono_us() - began;
    }
    atomic_fetch_add(&o->l->refs, 1);
    *out = o->l;
    return ST_OK;
}

enum st lexicons_get(struct lexicons *c, const struct catalog_model *m,
                     struct lexicon **out, struct err *e)
{
    enum st st;

    *out = NULL;
    pthread_mutex_lock(&c->mu);
    st = get_locked(c, m, out, e);
    pthread_mutex_unlock(&c->mu);
    return st;
}

void lexicons_figures(struct lexicons *c, struct lexicons_figures *out)
{
    *out = (struct lexicons_figures){0};
    pthread_mutex_lock(&c->mu);
    out->built_us = c->built_us;
    for (const struct one *o = c->first; o; o = o->next) {
        struct gram_figures f;

        gram_pool_figures(o->l->pool, &f);
        out->masks.hits += f.hits;
        out->masks.misses += f.misses;
        out->masks.masks += f.masks;
        out->masks.bytes += f.bytes;
        out->bytes += o->l->vocab->bytes;
    }
    pthread_mutex_unlock(&c->mu);
}
