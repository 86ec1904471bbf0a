#include "chat/reply.h"

#include "chat/detok.h"
#include "chat/scan.h"
#include "chat/stop.h"
#include "chat/turn.h"

struct reply {
    const struct tok *tok;
    struct turn turn;
    int32_t mark_id[TURN_MARKS_MAX]; /* of turn.marks; -1: by text */
    bool strict_end;           /* a foreign control token ends the reply */
    int32_t *stop_ids;         /* [n_stop_ids] owned */
    size_t n_stop_ids;
    struct detok detok;
    struct scan scan;          /* for markers without an id */
    struct stops stops;
    struct buf chars;          /* whole characters of the current id */
    struct buf fresh;          /* content that no stop string has seen */
    struct buf *content;       /* where the content of this feed goes */
    bool strip_space;          /* SPM: before the first character */
    bool over;                 /* by a stop string or the form's own end */
    bool channels;             /* the dialect reads reasoning itself, */
    bool in_channel;           /* and is at it, as far as its output tells */
    int32_t tokens, reasoning_tokens;
    enum reply_part part;      /* of the id fed last */
    size_t told;               /* bytes given out */
    size_t lost;               /* of the character that the end cut */
};

/* --- opening ----------------------------------------------------------- */

static bool is_special(const struct tok *t, int32_t id)
{
    enum tok_type type = id < 0 ? TOK_NORMAL : tok_type_of(t, id);

    return type == TOK_CONTROL || type == TOK_USER;
}

/* Which markers are tokens of the vocabulary? (f NULL: there are none.) */
static void find_ids(struct reply *r, const struct format *f)
{
    for (int k = 0; k < r->turn.n_marks; k++) {
        const char *m = r->turn.marks[k];
        int32_t id = m ? tok_find(r->tok, m, strlen(m)) : -1;

        r->mark_id[k] = f && is_special(r->tok, id) ? id : -1;
        if (f && turn_is_think(&r->turn, k))
            r->mark_id[k] = k - r->turn.think == THINK_CLOSE
                                ? format_think_close_id(f)
                                : format_think_open_id(f);
    }
}

static enum st open_turn(struct reply *r, const struct reply_config *c)
{
    struct turn_config tc = {
        .dialect = c->format ? format_dialect(c->format) : NULL,
        .think_open = c->think_open,
        .tools = c->tools,
        .parallel_calls = c->parallel_calls,
        .id_seed = c->id_seed,
    };
    const char *by_text[TURN_MARKS_MAX];
    enum st st;

    for (int side = 0; side < THINK_MARKS && c->format; side++) {
        struct text t = format_think_text(c->format, side == THINK_CLOSE);

        tc.think[side] = t.n ? t.s : NULL;
    }
    r->channels = tc.dialect && tc.dialect->channels;
    r->in_channel = r->channels && c->think_open;
    st = turn_open(&r->turn, &tc);
    find_ids(r, c->format);
    for (int k = 0; k < r->turn.n_marks; k++)
        by_text[k] = r->mark_id[k] < 0 ? r->turn.marks[k] : NULL;
    scan_init(&r->scan, by_text, r->turn.n_marks);
    r->turn.to_content = &r->fresh;
    return st;
}

static enum st copy_stop_ids(struct reply *r, const struct reply_config *c)
{
    if (!c->n_stop_ids)
        return ST_OK;
    r->stop_ids = mem_try_array(c->n_stop_ids, sizeof(*r->stop_ids));
    if (!r->stop_ids)
        return ST_NOMEM;
    memcpy(r->stop_ids, c->stop_ids, c->n_stop_ids * sizeof(*r->stop_ids));
    r->n_stop_ids = c->n_stop_ids;
    return ST_OK;
}

struct reply *reply_new(const struct reply_config *c)
{
    struct reply *r = mem_try(sizeof(*r));

    if (!r)
        return NULL;
    r->tok = c->tok;
    r->strict_end = c->format && format_strict_end(c->format);
    /* A completion goes on from its prompt: its first space is text. */
    r->strip_space = c->format && tok_strips_first_space(c->tok);
    detok_init(&r->detok);
    buf_init(&r->chars, BUF_ANSWER);
    buf_init(&r->fresh, BUF_ANSWER);
    if (open_turn(r, c) || copy_stop_ids(r, c) ||
        stops_open(&r->stops, c->stops, c->n_stops)) {
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
    turn_close(&r->turn);
    scan_release(&r->scan);
    stops_close(&r->stops);
    buf_release(&r->chars);
    buf_release(&r->fresh);
    free(r);
}

/* --- events ------------------------------------------------------------ */

/* What the turn let through meets the stop strings. */
static void settle(struct reply *r)
{
    if (r->fresh.n &&
        stops_feed(&r->stops, r->fresh.p, r->fresh.n, r->content))
        r->over = true;
    if (r->fresh.failed)
        r->content->failed = true;
    buf_clear(&r->fresh);
    r->over = r->over || r->turn.done;
}

static void on_text(void *arg, const char *p, size_t n)
{
    struct reply *r = arg;

    if (r->over)
        return;
    turn_text(&r->turn, p, n);
    settle(r);
}

/* Marker k, by id or by spelling. */
static void on_marker(void *arg, int k)
{
    struct reply *r = arg;

    if (r->over)
        return;
    turn_marker(&r->turn, k);
    settle(r);
}

static int mark_of(const struct reply *r, int32_t id)
{
    for (int k = 0; k < r->turn.n_marks; k++)
        if (r->mark_id[k] == id)
            return k;
    return -1;
}

static bool is_stop(const struct reply *r, int32_t id)
{
    for (size_t i = 0; i < r->n_stop_ids; i++)
        if (r->stop_ids[i] == id)
            return true;
    return id < 0 || (size_t)id >= tok_count(r->tok);
}

static void feed_text(struct reply *r, int32_t id)
{
    const struct scan_sink sink = {on_text, on_marker, r};
    struct span piece = tok_piece(r->tok, id);
    const char *p;
    size_t n;

    buf_clear(&r->chars);
    detok_feed(&r->detok, piece.s, piece.n, &r->chars);
    p = r->chars.p;
    n = r->chars.n;
    if (!n)
        return;
    if (r->strip_space && *p == ' ') {
        p++;
        n--;
    }
    r->strip_space = false;
    scan_feed(&r->scan, p, n, &sink);
}

/* An id that is a marker: whatever text was held back was text. */
static void feed_marker(struct reply *r, int k)
{
    const struct scan_sink sink = {on_text, on_marker, r};

    detok_end(&r->detok);
    scan_flush(&r->scan, &sink);
    on_marker(r, k);
}

static bool is_reasoning(const struct reply *r, int k)
{
    return r->in_channel || r->turn.reasoning ||
           (k >= 0 && k == r->turn.think + THINK_OPEN);
}

/* Of one that is an id, before it is fed. */
static void part_of_marker(struct reply *r, int k)
{
    if (!turn_is_think(&r->turn, k))
        r->part = r->channels ? REPLY_SILENT : REPLY_ANSWER;
    else if (r->turn.reasoning == (k - r->turn.think == THINK_CLOSE))
        r->part = REPLY_REASONING; /* else it changes nothing */
}

/* Was the text of the id fed last nothing but newlines behind reasoning? */
static bool only_framed(const struct reply *r)
{
    return r->turn.skip_newlines && r->chars.n && !r->scan.held.n;
}

static bool feed_id(struct reply *r, int32_t id, struct buf *reasoning,
                    struct buf *content)
{
    int k;
    bool thinks;
    size_t said;
    enum tok_type type;

    r->part = REPLY_SILENT;
    if (r->over)
        return true;
    r->turn.to_reasoning = reasoning;
    r->content = content;
    k = id < 0 ? -1 : mark_of(r, id);
    r->tokens++;
    r->reasoning_tokens += is_reasoning(r, k);
    if (k >= 0 && (!r->turn.reasoning || turn_is_think(&r->turn, k))) {
        part_of_marker(r, k);
        feed_marker(r, k);
        return r->over;
    }
    /* Ids that end a turn, and the control tokens of the vocabulary, have no
     * text: a model that writes one has said nothing to a reader.
     * User-defined tokens are ordinary visible text. */
    if (is_stop(r, id))
        return false;
    type = tok_type_of(r->tok, id);
    if (type == TOK_CONTROL || type == TOK_UNKNOWN) {
        r->over = r->strict_end && type == TOK_CONTROL && k < 0;
        return r->over;
    }
    said = content->n;
    thinks = r->turn.reasoning || r->in_channel;
    feed_text(r, id);
    thinks = thinks || r->turn.reasoning || only_framed(r);
    r->part = thinks && content->n == said ? REPLY_REASONING : REPLY_ANSWER;
    return r->over;
}

/* How far the calls have grown: what a dialect reads shows in nothing else
 * while it is of a call. */
static size_t call_bytes(const struct reply *r)
{
    const struct calls *c = &r->turn.calls;

    return c->n ? c->n + c->p[c->n - 1]->args.n : 0;
}

/*
 * A dialect with channels says by its output alone where it is. What becomes
 * no output and does not wait is structure: headers and markers of elements.
 */
static void place_channel(struct reply *r, bool thought, bool said)
{
    if (thought || said)
        r->in_channel = thought;
    if (thought)
        r->part = REPLY_REASONING;
    else if (said)
        r->part = REPLY_ANSWER;
    else if (!reply_held(r))
        r->part = REPLY_SILENT;
}

bool reply_feed(struct reply *r, int32_t id, struct buf *reasoning,
                struct buf *content)
{
    size_t thought = reasoning->n, said = content->n;
    size_t calls = r->channels ? call_bytes(r) : 0;
    bool over = feed_id(r, id, reasoning, content);

    r->told += reasoning->n - thought + content->n - said;
    if (r->channels)
        place_channel(r, reasoning->n > thought,
                      content->n > said || call_bytes(r) != calls);
    return over;
}

void reply_end(struct reply *r, bool ended, struct buf *reasoning,
               struct buf *content)
{
    const struct scan_sink sink = {on_text, on_marker, r};
    size_t thought = reasoning->n, said = content->n;

    r->turn.to_reasoning = reasoning;
    r->content = content;
    r->lost = r->detok.n;
    detok_end(&r->detok);
    scan_flush(&r->scan, &sink);
    if (!r->stops.found) {
        turn_end(&r->turn, ended || r->over);
        settle(r);
    }
    stops_end(&r->stops, content);
    r->over = r->over || r->stops.found;
    r->told += reasoning->n - thought + content->n - said;
}

bool reply_stopped(const struct reply *r)
{
    return r->over;
}

int32_t reply_stop_string(const struct reply *r)
{
    return r->stops.found ? (int32_t)r->stops.which : -1;
}

int32_t reply_kept(const struct reply *r)
{
    return r->tokens;
}

int32_t reply_reasoning_tokens(const struct reply *r)
{
    return r->reasoning_tokens;
}

enum reply_part reply_part(const struct reply *r)
{
    return r->part;
}

bool reply_closed_reasoning(const struct reply *r)
{
    return r->reasoning_tokens > 0 && !r->turn.reasoning && !r->in_channel;
}

size_t reply_told(const struct reply *r)
{
    return r->told;
}

size_t reply_held(const struct reply *r)
{
    return r->detok.n + r->scan.held.n + r->stops.tail.n + r->lost +
           r->stops.found;
}

const struct calls *reply_calls(const struct reply *r)
{
    return &r->turn.calls;
}
