#include "chat/segment.h"

void segments_init(struct segments *s, struct arena *a)
{
    *s = (struct segments){.arena = a};
}

static bool grow(struct segments *s)
{
    size_t cap = s->cap ? s->cap * 2 : 16;
    struct segment *p = arena_array(s->arena, cap, sizeof(*p));

    if (!p)
        return false;
    if (s->n)
        memcpy(p, s->p, s->n * sizeof(*p));
    s->p = p;
    s->cap = cap;
    return true;
}

void segments_add(struct segments *s, enum tok_mode mode, const char *p,
                  size_t n)
{
    if (!n || s->failed)
        return;
    if (s->n == s->cap && !grow(s)) {
        s->failed = true;
        return;
    }
    s->p[s->n++] = (struct segment){mode, {p, n}};
}

/* Does the prompt's first markup begin with the BOS token's own name? */
static bool spells_bos(const struct segments *s, const struct tok *t)
{
    struct span bos = tok_piece(t, tok_bos(t));

    return s->n && s->p[0].mode == TOK_MARKUP && bos.n &&
           s->p[0].text.n >= bos.n && !memcmp(s->p[0].text.s, bos.s, bos.n);
}

enum st segments_encode(const struct segments *s, const struct tok *t,
                        struct ids *out, struct err *e)
{
    if (s->failed)
        return err_set(e, ST_LIMIT, "messages",
                       "the prompt has too many parts for a request");
    if (tok_add_bos(t) && tok_bos(t) >= 0 && !spells_bos(s, t))
        ids_add(out, tok_bos(t));
    for (size_t i = 0; i < s->n; i++) {
        const struct segment *g = &s->p[i];
        enum st st = tok_encode(t, g->mode, g->text.s, g->text.n, out, e);

        if (st)
            return st;
    }
    if (out->failed)
        return err_set(e, ST_LIMIT, "messages",
                       "the prompt has more than %zu tokens", out->max);
    return ST_OK;
}
