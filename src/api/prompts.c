#include "api/prompts.h"

#include "chat/format.h"
#include "text/tok.h"

#define PROMPT_IDS_MAX ((size_t)1 << 24)

void prompts_release(struct prompt_ids *p)
{
    for (size_t i = 0; i < p->n; i++)
        ids_release(&p->of[i]);
    p->n = 0;
}

static struct ids *next(struct prompt_ids *p)
{
    struct ids *v = &p->of[p->n++];

    ids_init(v, PROMPT_IDS_MAX);
    return v;
}

enum think_mode prompts_think(const struct catalog_model *m,
                              const struct body *b, bool on_by_default)
{
    const struct format_caps *caps = m->format ? format_caps(m->format) : NULL;

    if (b->chat.think != THINK_DEFAULT || !caps || !caps->think)
        return b->chat.think;
    if (caps->think_forced)
        return THINK_ON;
    /* a forced answer leaves nothing to think about */
    return on_by_default && !b->forced.n ? THINK_ON : THINK_OFF;
}

enum st prompts_chat(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
{
    struct segments segments;
    enum st st;

    if (!m->format)
        return err_set(e, ST_UNSUPPORTED, "model",
                       "this model has no chat format: %.300s",
                       m->no_chat ? m->no_chat : "none was found");
    p->format = m->format;
    segments_init(&segments, a);
    st = format_render(m->format, &b->chat, &segments, &p->think_open, e);
    if (!st)
        st = segments_encode(&segments, m->tok, next(p), e);
    return st;
}

static enum st one_text(struct ids *out, const struct catalog_model *m,
                        const struct prompt *prompt, struct arena *a,
                        struct err *e)
{
    struct segments segments;

    if (prompt->ids) {
        int64_t vocab = (int64_t)tok_count(m->tok);

        for (size_t i = 0; i < prompt->n_ids; i++) {
            if (prompt->ids[i] < 0 || prompt->ids[i] >= vocab)
                return err_set(e, ST_INVALID, "prompt",
                               "token id %zu is not in the vocabulary "
                               "(0 to %lld)", i, (long long)vocab - 1);
            ids_add(out, prompt->ids[i]);
        }
        if (out->failed)
            return err_set(e, ST_LIMIT, "prompt", "too many tokens");
        return ST_OK;
    }
    segments_init(&segments, a);
    segments_add(&segments, TOK_CONTENT, prompt->text.s, prompt->text.n);
    return segments_encode(&segments, m->tok, out, e);
}

enum st prompts_text(struct prompt_ids *p, const struct catalog_model *m,
                     const struct body *b, struct arena *a, struct err *e)
{
    enum st st = ST_OK;

    for (size_t i = 0; i < b->n_prompts && !st; i++) {
        struct ids *out = next(p);

        st = one_text(out, m, &b->prompts[i], a, e);
        if (!st && !out->n)
            st = err_set(e, ST_INVALID, "prompt", "it has no tokens");
    }
    return st;
}
