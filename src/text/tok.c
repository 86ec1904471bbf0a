#include "text/tok.h"

#include "base/utf8.h"
#include "text/bpe.h"
#include "text/lex.h"
#include "text/merge.h"
#include "text/pretok.h"
#include "text/special.h"
#include "text/spm.h"

struct tok {
    enum tok_model model;
    struct lex lex;
    struct special markup, content;
    struct pretok *pretok; /* BPE */
    struct bpe bpe;
    struct spm spm;
    int32_t bos, eos;
    bool add_bos;
};

void tok_free(struct tok *t)
{
    if (!t)
        return;
    special_release(&t->markup);
    special_release(&t->content);
    pretok_free(t->pretok);
    bpe_release(&t->bpe);
    spm_release(&t->spm);
    lex_release(&t->lex);
    free(t);
}

static enum st check_ids(const struct tok_spec *s, struct err *e)
{
    const struct {
        const char *key;
        int64_t id;
    } v[] = {
        {"tokenizer.ggml.bos_token_id", s->bos},
        {"tokenizer.ggml.eos_token_id", s->eos},
        {"tokenizer.ggml.unknown_token_id", s->unk},
        {"tokenizer.ggml.padding_token_id", s->pad},
    };

    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        if (v[i].id < -1 ||
            (v[i].id >= 0 && (uint64_t)v[i].id >= s->n_tokens))
            return err_set(e, ST_FORMAT, v[i].key,
                           "%lld, but there are %zu tokens",
                           (long long)v[i].id, s->n_tokens);
    if (s->add_bos && s->bos < 0)
        return err_set(e, ST_FORMAT, v[0].key,
                       "missing, but add_bos_token asks for it");
    return ST_OK;
}

enum st tok_new(struct tok **out, const struct tok_spec *spec, struct err *e)
{
    struct tok *t = mem_new(struct tok);
    enum st st = check_ids(spec, e);

    *out = NULL;
    t->model = spec->model;
    t->bos = (int32_t)spec->bos;
    t->eos = (int32_t)spec->eos;
    t->add_bos = spec->add_bos;
    if (!st)
        st = lex_init(&t->lex, spec, e);
    if (!st)
        st = special_init(&t->markup, &t->lex, SPECIAL_MARKUP, e);
    if (!st)
        st = special_init(&t->content, &t->lex, SPECIAL_CONTENT, e);
    if (!st && spec->model == TOK_BPE)
        st = pretok_new(&t->pretok, spec->pre ? spec->pre : "default", e);
    if (!st && spec->model == TOK_BPE)
        st = bpe_init(&t->bpe, &t->lex, spec, e);
    if (!st && spec->model == TOK_SPM)
        st = spm_init(&t->spm, &t->lex, spec, e);
    if (st) {
        tok_free(t);
        return st;
    }
    *out = t;
    return ST_OK;
}

size_t tok_count(const struct tok *t)
{
    return t->lex.n;
}

int32_t tok_bos(const struct tok *t)
{
    return t->bos;
}

int32_t tok_eos(const struct tok *t)
{
    return t->eos;
}

bool tok_add_bos(const struct tok *t)
{
    return t->add_bos;
}

enum tok_type tok_type_of(const struct tok *t, int32_t id)
{
    if (id < 0 || (size_t)id >= t->lex.n)
        return TOK_UNKNOWN;
    return (enum tok_type)t->lex.type[id];
}

int32_t tok_find(const struct tok *t, const char *s, size_t n)
{
    return lex_find_raw(&t->lex, s, n);
}

struct span tok_piece(const struct tok *t, int32_t id)
{
    if (id < 0 || (size_t)id >= t->lex.n)
        return (struct span){"", 0};
    return t->lex.piece[id];
}

bool tok_strips_first_space(const struct tok *t)
{
    return t->model == TOK_SPM && t->spm.space_first;
}

struct tok_marker tok_next_marker(const struct tok *t, const char *s,
                                  size_t n)
{
    size_t from = 0;

    for (;;) {
        struct special_hit hit = special_next(&t->markup, s + from, n - from);

        if (hit.id < 0)
            return (struct tok_marker){n, 0, -1};
        if (t->lex.type[hit.id] != TOK_USER ||
            !lex_is_blank(t->lex.raw[hit.id]))
            return (struct tok_marker){from + hit.at, hit.n, hit.id};
        from += hit.at + hit.n;
    }
}

/* One call of tok_encode. */
struct run {
    const struct tok *t;
    struct merge merge;
    struct ids *out;
    enum spm_lead lead; /* does a space belong before what comes next? */
};

static enum st full(const struct run *r, struct err *e)
{
    if (!r->out->failed)
        return ST_OK;
    if (r->out->n == r->out->max)
        return err_set(e, ST_LIMIT, "", "more than %zu tokens", r->out->max);
    return err_set(e, ST_NOMEM, "", "no memory for %zu tokens", r->out->n);
}

static enum st one_word(void *arg, const char *s, size_t n, struct err *e)
{
    struct run *r = arg;
    enum st st = bpe_word(&r->t->bpe, &r->merge, s, n, r->out, e);

    return st ? st : full(r, e);
}

/* Valid UTF-8 without recognised tokens. */
static enum st clean(struct run *r, const char *s, size_t n, struct err *e)
{
    enum st st;

    if (r->t->model == TOK_BPE)
        return pretok_split(r->t->pretok, s, n, one_word, r, e);
    st = spm_text(&r->t->spm, &r->merge, r->lead, s, n, r->out, e);
    r->lead = SPM_INSIDE;
    return st ? st : full(r, e);
}

/* Any bytes without recognised tokens. */
static enum st plain(struct run *r, const char *s, size_t n, struct err *e)
{
    enum st st = ST_OK;

    while (n && !st) {
        size_t good;

        if (utf8_valid(s, n, &good))
            good = n;
        if (good) {
            st = clean(r, s, good, e);
        } else {
            ids_add(r->out, r->t->lex.byte_id[(unsigned char)*s]);
            r->lead = SPM_INSIDE;
            st = full(r, e);
            good = 1;
        }
        s += good;
        n -= good;
    }
    return st;
}

enum st tok_encode(const struct tok *t, enum tok_mode mode, const char *s,
                   size_t n, struct ids *out, struct err *e)
{
    const struct special *sp = mode == TOK_MARKUP ? &t->markup : &t->content;
    struct run r = {.t = t, .out = out, .lead = SPM_LEAD};
    enum st st = full(&r, e);

    if (!st && n / t->lex.longest_raw > out->max - out->n)
        return err_set(e, ST_LIMIT, "", "more than %zu tokens", out->max);
    while (n && !st) {
        struct special_hit hit = special_next(sp, s, n);
        size_t end = hit.at + (hit.id >= 0 ? hit.n : 0);

        st = plain(&r, s, hit.at, e);
        if (!st && hit.id >= 0) {
            ids_add(out, hit.id);
            st = full(&r, e);
            if (!lex_is_blank(t->lex.raw[hit.id]))
                r.lead = SPM_LEAD;
            else
                r.lead = SPM_INSIDE;
        }
        s += end;
        n -= end;
    }
    merge_release(&r.merge);
    return st;
}
