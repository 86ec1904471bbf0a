/*
 * One id after the other, a reasoning is
 *
 *   inside    open; its ids are counted and watched
 *   due       over the cap, or in circles: it has to be closed, but a close
 *             that the model has begun may have its end
 *   writing   the phrase is forced, from its first id to its last
 *
 * and closed by the phrase, or before by the model; both lead back to the
 * state in which an opening marker begins the next one.
 */
#include "gen/guide_think.h"

#include "gen/guide_mark.h"
#include "gen/guide_window.h"

struct think {
    struct guide guide;  /* first: the two convert */
    struct mark open, close;
    bool inside, stall;
    int32_t cap;
    uint32_t ngram;
    int32_t *history;    /* [n_history] owned; NULL without ngram */
    size_t n_history;
    int32_t *phrase;     /* [n_phrase] owned */
    uint32_t n_phrase;
    struct span (*piece)(const void *arg, int32_t id);
    const void *piece_arg;
};

struct think_state {
    bool inside;
    bool writing;            /* the phrase, from phrase[at] on */
    enum think_closed closed;
    enum think_closed due;   /* why it has to be closed; 0: it need not be */
    int32_t count;           /* ids of reasoning, of all openings */
    uint32_t at;
    uint32_t waited;         /* ids since it is due */
    uint32_t opening, closing; /* of the markers, what is there */
    struct window window;    /* not there unless windowed() */
};

static const struct think *think_of(const struct guide *g)
{
    return (const struct think *)(const void *)g;
}

static bool windowed(const struct think *t)
{
    return t->ngram || t->stall;
}

static size_t state_bytes(const struct guide *g)
{
    return windowed(think_of(g)) ? sizeof(struct think_state)
                                 : offsetof(struct think_state, window);
}

static void init(const struct guide *g, void *state)
{
    const struct think *t = think_of(g);
    struct think_state *s = state;

    memset(s, 0, state_bytes(g));
    s->inside = t->inside;
    if (windowed(t))
        window_init(&s->window, t->history, t->n_history);
}

/* The text of an id, for a marker that is spelled. */
static struct span text_of(const struct think *t, const struct mark *m,
                           int32_t id)
{
    return m->bytes && t->piece ? t->piece(t->piece_arg, id)
                                : (struct span){"", 0};
}

struct closing {
    const struct think *t;
    uint32_t at; /* of the close, what is there */
};

/* Is the id part of a close, or could it be? */
static bool closes(const void *arg, int32_t id)
{
    const struct closing *c = arg;
    const struct mark *m = &c->t->close;
    uint32_t at = c->at;

    return mark_has(m, id) ||
           (m->bytes && (mark_feed(m, &at, id, text_of(c->t, m, id)) || at));
}

static bool allowed(const struct guide *g, const void *state, uint32_t *mask,
                    size_t n_vocab)
{
    const struct think *t = think_of(g);
    const struct think_state *s = state;
    const struct closing c = {t, s->closing};

    return t->ngram && s->inside && !s->writing &&
           window_forbid(&s->window, t->ngram, closes, &c, mask, n_vocab);
}

static size_t forced(const struct guide *g, const void *state, int32_t *ids,
                     size_t cap)
{
    const struct think *t = think_of(g);
    const struct think_state *s = state;
    size_t n;

    if (!s->writing)
        return 0;
    n = t->n_phrase - s->at;
    if (n > cap)
        n = cap;
    memcpy(ids, t->phrase + s->at, n * sizeof(*ids));
    return n;
}

/* --- an id --------------------------------------------------------------- */

/* Markers: is the reasoning open behind this id? */
static bool follow(const struct think *t, struct think_state *s, int32_t id)
{
    const struct mark *m = s->inside ? &t->close : &t->open;
    uint32_t *at = s->inside ? &s->closing : &s->opening;

    return mark_feed(m, at, id, text_of(t, m, id)) != s->inside;
}

static void closed_by(struct think_state *s, enum think_closed who)
{
    s->inside = false;
    s->closed = who;
    s->closing = 0;
}

/* Whatever comes instead of the phrase begins it again; unless it closes. */
static void write_on(const struct think *t, struct think_state *s, int32_t id,
                     bool open)
{
    bool same = t->phrase[s->at] == id;

    s->at = same ? s->at + 1 : 0;
    if (s->inside && (!open || s->at == t->n_phrase))
        closed_by(s, same ? s->due : CLOSED_BY_MODEL);
    if (s->at < t->n_phrase && (same || s->inside))
        return;
    s->writing = false;
    s->due = THINK_NOT_CLOSED;
}

/* The close that the model has begun may have its end: it is waited for, no
 * longer than it can take. */
static void look(const struct think *t, struct think_state *s, bool circles)
{
    if (!t->n_phrase)
        return;
    if (s->due)
        s->waited++;
    else if (t->cap && s->count > t->cap)
        s->due = CLOSED_BY_BUDGET;
    else if (circles)
        s->due = CLOSED_BY_STALL;
    if (!s->due || (s->closing && s->waited < t->close.n))
        return;
    s->writing = true;
    s->at = 0;
}

static void reopened(const struct think *t, struct think_state *s)
{
    s->inside = true;
    s->closed = THINK_NOT_CLOSED;
    s->opening = 0; /* what is behind the marker in its id begins none */
    s->waited = 0;
    /* a marker of one id counts as one of the reasoning, as in a reply */
    s->count += !t->open.bytes && t->open.n == 1;
    if (windowed(t))
        window_watch(&s->window);
}

static enum guide_next accept(const struct guide *g, void *state, int32_t id)
{
    const struct think *t = think_of(g);
    struct think_state *s = state;
    bool open = follow(t, s, id), circles = false;

    s->count += s->inside;
    if (t->stall && s->inside && !s->writing)
        circles = window_circles(&s->window, id);
    else if (windowed(t))
        window_add(&s->window, id);
    if (s->writing) {
        write_on(t, s, id, open);
        return GUIDE_GO;
    }
    if (s->inside && !open) {
        closed_by(s, CLOSED_BY_MODEL);
        s->due = THINK_NOT_CLOSED;
    } else if (!s->inside && open) {
        reopened(t, s);
    }
    if (s->inside)
        look(t, s, circles);
    return GUIDE_GO;
}

static void note(const struct guide *g, const void *state,
                 struct guide_note *out)
{
    (void)g;
    out->closed = ((const struct think_state *)state)->closed;
}

/* --- life ---------------------------------------------------------------- */

static void think_free(struct guide *g)
{
    struct think *t = (struct think *)(void *)g;

    free(t->history);
    free(t->phrase);
    free(t);
}

static const struct guide_ops ops = {
    .state_bytes = state_bytes,
    .init = init,
    .allowed = allowed,
    .forced = forced,
    .accept = accept,
    .note = note,
    .free = think_free,
};

static bool copy_ids(int32_t **out, const int32_t *ids, size_t n)
{
    *out = mem_try_array(n ? n : 1, sizeof(**out));
    if (*out && n)
        memcpy(*out, ids, n * sizeof(**out));
    return *out != NULL;
}

struct guide *guide_think_new(const struct think_config *c)
{
    struct think *t = mem_try(sizeof(*t));
    size_t n = c->ngram ? c->n_prompt : 0;

    BUG_ON(c->ngram && (c->ngram < 2 || c->ngram > THINK_NGRAM_MAX));
    if (!t)
        return NULL;
    t->guide.ops = &ops;
    mark_init(&t->open, &c->open);
    mark_init(&t->close, &c->close);
    t->inside = c->inside;
    t->stall = c->stall && c->n_phrase;
    t->cap = c->cap;
    t->ngram = (uint32_t)c->ngram;
    t->n_history = n < THINK_WINDOW ? n : THINK_WINDOW;
    t->n_phrase = (uint32_t)c->n_phrase;
    t->piece = c->piece;
    t->piece_arg = c->piece_arg;
    if (!copy_ids(&t->history, n ? c->prompt + (n - t->n_history) : NULL,
                  t->n_history) ||
        !copy_ids(&t->phrase, c->phrase, c->n_phrase)) {
        think_free(&t->guide);
        return NULL;
    }
    return &t->guide;
}
