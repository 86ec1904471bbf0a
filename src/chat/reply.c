#include "chat/reply.h"

#include "chat/detok.h"
#include "chat/stop.h"

enum part { PART_CONTENT, PART_REASONING };

struct reply {
    const struct tok *tok;
    int32_t open_id, close_id; /* -1 without a reasoning channel */
    int32_t *stop_ids;         /* [n_stop_ids] owned */
    size_t n_stop_ids;
    enum part part;
    struct detok detok;
    struct stops stops;
    struct buf chars;          /* whole characters of the current id */
    size_t newlines;           /* held at the end of reasoning */
    bool skip_newlines;        /* at the head of a part: framing */
    bool strip_space;          /* SPM: before the first character */
    int32_t tokens, reasoning_tokens;
};

struct reply *reply_new(const struct reply_config *c)
{
    struct reply *r = mem_try(sizeof(*r));

    if (!r)
        return NULL;
    r->tok = c->tok;
    r->open_id = c->format ? format_think_open_id(c->format) : -1;
    r->close_id = c->format ? format_think_close_id(c->format) : -1;
    r->part = c->think_open ? PART_REASONING : PART_CONTENT;
    r->skip_newlines = c->think_open;
    /* A completion goes on from its prompt: its first space is text. */
    r->strip_space = c->format && tok_strips_first_space(c->tok);
    detok_init(&r->detok);
    buf_init(&r->chars, BUF_ANSWER);
    if (c->n_stop_ids) {
        r->stop_ids = mem_try_array(c->n_stop_ids, sizeof(*r->stop_ids));
        if (!r->stop_ids) {
            reply_free(r);
            return NULL;
        }
        memcpy(r->stop_ids, c->stop_ids, c->n_stop_ids * sizeof(*r->stop_ids));
        r->n_stop_ids = c->n_stop_ids;
    }
    if (stops_open(&r->stops, c->stops, c->n_stops)) {
        reply_free(r);
        return NULL;
    }
    return r;
}

void reply_free(struct reply *r)
{
    if (!r)
        return;
    free(r->stop_ids);
    stops_close(&r->stops);
    buf_release(&r->chars);
    free(r);
}

/*
 * Has this id no text of its own? Ids that end a turn, and the control
 * tokens of the vocabulary: a model that writes one has said nothing to a
 * reader. User-defined tokens are ordinary visible text.
 */
static bool is_silent(const struct reply *r, int32_t id)
{
    enum tok_type type;

    for (size_t i = 0; i < r->n_stop_ids; i++)
        if (r->stop_ids[i] == id)
            return true;
    if (id < 0 || (size_t)id >= tok_count(r->tok))
        return true;
    type = tok_type_of(r->tok, id);
    return type == TOK_CONTROL || type == TOK_UNKNOWN;
}

static void add_reasoning(struct reply *r, const char *p, size_t n,
                          struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\n') {
            r->newlines += !r->skip_newlines;
            continue;
        }
        for (; r->newlines; r->newlines--)
            buf_putc(out, '\n');
        r->skip_newlines = false;
        buf_putc(out, p[i]);
    }
}

static bool add_content(struct reply *r, const char *p, size_t n,
                        struct buf *out)
{
    while (r->skip_newlines && n && *p == '\n') {
        p++;
        n--;
    }
    if (!n)
        return false;
    r->skip_newlines = false;
    return stops_feed(&r->stops, p, n, out);
}

/* The other part begins; framing newlines and a cut character are dropped. */
static void turn(struct reply *r, enum part part)
{
    detok_end(&r->detok);
    r->part = part;
    r->newlines = 0;
    r->skip_newlines = true;
}

bool reply_feed(struct reply *r, int32_t id, struct buf *reasoning,
                struct buf *content)
{
    struct span piece;
    const char *p;
    size_t n;

    if (r->stops.found)
        return true;
    r->tokens++;
    if (r->part == PART_REASONING || (r->open_id >= 0 && id == r->open_id))
        r->reasoning_tokens++;
    if (r->open_id >= 0 && id == r->open_id) {
        if (r->part == PART_CONTENT)
            turn(r, PART_REASONING);
        return false;
    }
    if (r->close_id >= 0 && id == r->close_id) {
        if (r->part == PART_REASONING)
            turn(r, PART_CONTENT);
        return false;
    }
    if (is_silent(r, id))
        return false;
    piece = tok_piece(r->tok, id);
    buf_clear(&r->chars);
    detok_feed(&r->detok, piece.s, piece.n, &r->chars);
    p = r->chars.p;
    n = r->chars.n;
    if (!n)
        return false;
    if (r->strip_space && *p == ' ') {
        p++;
        n--;
    }
    r->strip_space = false;
    if (r->part == PART_CONTENT)
        return add_content(r, p, n, content);
    add_reasoning(r, p, n, reasoning);
    return false;
}

void reply_end(struct reply *r, struct buf *reasoning, struct buf *content)
{
    detok_end(&r->detok);
    for (; r->newlines; r->newlines--)
        buf_putc(reasoning, '\n');
    stops_end(&r->stops, content);
}

bool reply_stopped(const struct reply *r)
{
    return r->stops.found;
}

int32_t reply_kept(const struct reply *r)
{
    return r->tokens;
}

int32_t reply_reasoning_tokens(const struct reply *r)
{
    return r->reasoning_tokens;
}
