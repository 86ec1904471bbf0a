#include "api/guides.h"

#include "api/guide_grammar.h"
#include "chat/format.h"
#include "gen/guide_trigger.h"
#include "text/tok.h"

#define RESERVE_MAX 2048 /* of answer-reserve auto */

/* What a reasoning says when the server ends it; the format adds its end. */
#define SENTENCE "\n\nThat is enough thought; the answer follows."

static enum st no_memory(struct err *e)
{
    return err_set(e, ST_NOMEM, "", "no memory for this request");
}

/* --- reasoning ----------------------------------------------------------- */

/* As a reader sees it: end tokens and control tokens say nothing. */
static struct span piece_of(const void *tok, int32_t id)
{
    enum tok_type type;

    if (id < 0 || (size_t)id >= tok_count(tok))
        return (struct span){0};
    type = tok_type_of(tok, id);
    return type == TOK_CONTROL || type == TOK_UNKNOWN ? (struct span){0}
                                                      : tok_piece(tok, id);
}

static struct think_mark mark_of(const struct format *f, bool close,
                                 struct ids *ids)
{
    format_think_ids(f, close, ids);
    return (struct think_mark){ids->p, ids->n, format_think_text(f, close)};
}

/* A format that is no part of this vocabulary's channel has no phrase. */
static enum st make_phrase(struct guides *g, const struct format *f,
                           struct err *e)
{
    const struct text said[] = {
        {SENTENCE, sizeof(SENTENCE) - 1},
        {"", 0}, /* where every byte is a token, that is too much */
    };
    enum st st = ST_OK;

    for (size_t i = 0; i < 2; i++) {
        g->phrase.n = 0;
        g->phrase.failed = false;
        st = format_think_cut(f, said[i], &g->phrase, e);
        if (!st)
            return ST_OK;
    }
    g->phrase.n = 0;
    return st == ST_UNSUPPORTED ? ST_OK : st;
}

static int32_t cap_of(const struct body *b, const struct format_caps *caps)
{
    int64_t cap = b->think.cap;

    if (cap < 0) /* a format with efforts of its own reads the word itself */
        cap = caps->efforts || caps->effort_max ? 0 : b->think.word_cap;
    return cap < INT32_MAX ? (int32_t)cap : INT32_MAX;
}

static enum st open_think(struct guides *g, const struct run *r,
                          const struct body *b, struct err *e)
{
    const struct format_caps *caps = r->format ? format_caps(r->format) : NULL;
    enum st st;

    if (!caps || !caps->think || b->chat.think != THINK_ON)
        return ST_OK;
    g->cap = cap_of(b, caps);
    /* an answer that must be whole must not be cut */
    g->asked = b->think.asked || shape_field(b);
    if (!g->cap && !g->asked && !g->config->think_stall && !b->no_repeat_ngram)
        return ST_OK;
    st = make_phrase(g, r->format, e);
    if (st || (!g->phrase.n && !b->no_repeat_ngram))
        return st;
    g->think = (struct think_config){
        .open = mark_of(r->format, false, &g->open),
        .close = mark_of(r->format, true, &g->close),
        .inside = r->think_open,
        .stall = g->config->think_stall,
        .ngram = b->no_repeat_ngram,
        .phrase = g->phrase.p,
        .n_phrase = g->phrase.n,
        .piece = piece_of,
        .piece_arg = r->model->tok,
    };
    g->thinks = true;
    return g->open.failed || g->close.failed ? no_memory(e) : ST_OK;
}

/* Tokens of reasoning after which the phrase comes: the client's number, and
 * what leaves the answer its reserve; 0: no end. */
static int32_t cap_within(const struct guides *g, int32_t max_tokens)
{
    int32_t reserve = g->config->answer_reserve;
    int64_t phrase = (int64_t)g->phrase.n, room;

    /* an answer that holds no more than the phrase is none */
    if (!g->asked || max_tokens <= phrase + 2)
        return g->cap;
    if (reserve < 0)
        reserve = max_tokens / 4 < RESERVE_MAX ? max_tokens / 4 : RESERVE_MAX;
    room = max_tokens - reserve - phrase - 1;
    if (room < 1)
        room = 1;
    return g->cap && g->cap < room ? g->cap : (int32_t)room;
}

static enum st make_think(const struct guides *g, struct guide **out,
                          const struct ids *prompt, int32_t max_tokens,
                          struct err *e)
{
    struct think_config c = g->think;

    *out = NULL;
    if (!g->thinks)
        return ST_OK;
    c.cap = cap_within(g, max_tokens);
    if (!c.cap && !c.stall && !c.ngram)
        return ST_OK;
    c.prompt = prompt->p;
    c.n_prompt = prompt->n;
    *out = guide_think_new(&c);
    return *out ? ST_OK : no_memory(e);
}

/* --- the answer ---------------------------------------------------------- */

/* What stands between a close and the answer, as far as it is structure. */
static enum st find_frame(struct guides *g, const struct format *f,
                          struct err *e)
{
    struct ids cut;
    enum st st;

    ids_init(&cut, THINK_PHRASE_MAX);
    st = format_think_cut(f, (struct text){"", 0}, &cut, e);
    if (!st && g->close.n && cut.n > g->close.n &&
        cut.n - g->close.n <= THINK_MARK_IDS &&
        !memcmp(cut.p, g->close.p, g->close.n * sizeof(*cut.p)))
        for (size_t i = g->close.n; i < cut.n; i++)
            ids_add(&g->frame, cut.p[i]);
    ids_release(&cut);
    return st == ST_UNSUPPORTED ? ST_OK : st;
}

/* The reader drops a space that comes before all text, so one that opens a
 * reasoning is another matter than the answer's: it is not opened there. */
static enum st open_after(struct guides *g, const struct run *r,
                          const struct body *b, struct err *e)
{
    const struct format_caps *caps = r->format ? format_caps(r->format) : NULL;
    const struct lexicon *l = g->lexicon;
    enum st st;

    g->waits = caps && caps->think &&
               (r->think_open ||
                (b->chat.think == THINK_ON &&
                 (!l->strips || g->shape.waits)));
    if (!g->waits)
        return ST_OK;
    g->after = (struct after_config){
        .open = mark_of(r->format, false, &g->open),
        .close = mark_of(r->format, true, &g->close),
        .inside = r->think_open,
        .may_open = !r->think_open,
        .piece = piece_of,
        .piece_arg = r->model->tok,
    };
    if (g->shape.waits) { /* what is no call is not bound */
        g->after.may_open = g->after.may_open && g->open.n == 1;
        return ST_OK;
    }
    g->after.ends = l->ends;
    g->after.n_ends = l->n_ends;
    st = find_frame(g, r->format, e);
    g->after.frame = g->frame.p;
    g->after.n_frame = g->frame.n;
    if (!l->channels) {
        g->after.begins = l->begins;
        g->after.n_begins = l->n_begins;
        g->after.n_breaks = l->n_breaks;
    }
    return st;
}

/* Behind a reasoning such a text could not be told from its frame. */
static enum st check_choices(const struct run *r, const struct body *b,
                             struct err *e)
{
    char where[48];

    for (size_t i = 0; i < b->n_choice && r->think_open; i++)
        if (b->choice[i].s[0] == '\n') {
            snprintf(where, sizeof(where), "structured_outputs.choice[%zu]",
                     i);
            return err_set(e, ST_INVALID, where,
                           "an answer behind a reasoning does not begin with "
                           "a newline; turn the reasoning off");
        }
    return ST_OK;
}

static enum st open_shape(struct guides *g, const struct run *r,
                          const struct guides_kept *kept,
                          const struct body *b, struct err *e)
{
    enum st st;

    if (!shape_field(b) && !shape_waits(b, r->format))
        return ST_OK;
    st = check_choices(r, b, e);
    if (!st)
        st = lexicons_get(kept->lexicons, r->model, &g->lexicon, e);
    if (!st)
        st = shape_open(&g->shape, kept->grammars, g->config->memory,
                        r->format, b,
                        r->format && g->lexicon->strips && !r->think_open, e);
    return st ? st : open_after(g, r, b, e);
}

static enum st make_shape(const struct guides *g, struct guide **out,
                          struct err *e)
{
    const struct trigger_config c = {
        .first = g->shape.trigger.first,
        .last = g->shape.trigger.last,
        .text = g->shape.trigger.text,
        .piece = piece_of,
        .piece_arg = g->model->tok,
    };

    *out = guide_grammar_new(g->shape.g, g->lexicon,
                             g->shape.calls ? g->shape.mark : NULL);
    if (*out && g->shape.waits)
        *out = guide_trigger_new(&c, *out);
    if (*out && g->waits)
        *out = guide_after_new(&g->after, *out);
    return *out ? ST_OK : no_memory(e);
}

/* --- all of them --------------------------------------------------------- */

enum st guides_open(struct guides *g, const struct run *r,
                    const struct api_config *c,
                    const struct guides_kept *kept, const struct body *b,
                    struct err *e)
{
    enum st st;

    *g = (struct guides){.config = c, .model = r->model};
    ids_init(&g->open, THINK_IDS_MAX);
    ids_init(&g->close, THINK_IDS_MAX);
    ids_init(&g->phrase, THINK_PHRASE_MAX);
    ids_init(&g->frame, THINK_MARK_IDS);
    st = open_think(g, r, b, e);
    return st ? st : open_shape(g, r, kept, b, e);
}

enum st guides_make(const struct guides *g, struct guide **out,
                    const struct ids *prompt, int32_t max_tokens,
                    struct err *e)
{
    const struct api_config *c = g->config;
    struct guide *think = NULL, *shape = NULL, *pattern = NULL;
    enum st st = make_think(g, &think, prompt, max_tokens, e);

    *out = NULL;
    if (!st && g->shape.g)
        st = make_shape(g, &shape, e);
    if (!st && c->pattern_max && (!g->shape.g || g->shape.waits))
        st = guide_pattern_new(&pattern, c->pattern_max, c->pattern_min,
                               c->pattern_count, e);
    *out = guide_both(think, guide_both(shape, pattern));
    if (st) {
        guide_free(*out);
        *out = NULL;
    }
    return st;
}

void guides_release(struct guides *g)
{
    ids_release(&g->open);
    ids_release(&g->close);
    ids_release(&g->phrase);
    ids_release(&g->frame);
    shape_release(&g->shape);
    lexicon_unref(g->lexicon);
}
