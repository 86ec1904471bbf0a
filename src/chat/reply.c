#include "chat/reply.h"

#include "chat/detok.h"
#include "chat/dialect.h"
#include "chat/scan.h"
#include "chat/stop.h"

enum part { PART_CONTENT, PART_REASONING };

/* Markers beside the dialect's, numbered after them. */
enum { THINK_OPEN, THINK_CLOSE, THINK_MARKS };

struct reply {
    const struct tok *tok;
    const struct dialect *dialect; /* NULL: content is what it is */
    void *state;               /* the dialect's */
    const char *marks[DIALECT_MARKERS_MAX + THINK_MARKS]; /* spelled */
    int32_t mark_id[DIALECT_MARKERS_MAX + THINK_MARKS];   /* -1: by text */
    int n_marks, think;        /* marks[think + THINK_OPEN] */
    bool strict_end;           /* a foreign control token ends the reply */
    int32_t *stop_ids;         /* [n_stop_ids] owned */
    size_t n_stop_ids;
    enum part part;
    struct detok detok;
    struct scan scan;          /* for markers without an id */
    struct stops stops;
    struct calls calls;
    struct buf chars;          /* whole characters of the current id */
    struct buf fresh;          /* content that no stop string has seen */
    struct buf *reasoning, *content; /* where this feed goes */
    size_t newlines;           /* held at the end of reasoning */
    bool skip_newlines;        /* at the head of a part: framing */
    bool strip_space;          /* SPM: before the first character */
    bool over;                 /* by a stop string or the form's own end */
    int32_t tokens, reasoning_tokens;
};

/* --- opening ----------------------------------------------------------- */

static void add_mark(struct reply *r, const char *spelled, int32_t id)
{
    r->marks[r->n_marks] = spelled;
    r->mark_id[r->n_marks++] = id;
}

static bool is_special(const struct tok *t, int32_t id)
{
    enum tok_type type = id < 0 ? TOK_NORMAL : tok_type_of(t, id);

    return type == TOK_CONTROL || type == TOK_USER;
}

/* The dialect's markers, then the reasoning pair. */
static void take_marks(struct reply *r, const struct format *f)
{
    for (int k = 0; r->dialect && r->dialect->markers[k]; k++) {
        const char *m = r->dialect->markers[k];
        int32_t id = tok_find(r->tok, m, strlen(m));

        BUG_ON(k == DIALECT_MARKERS_MAX);
        add_mark(r, m, is_special(r->tok, id) ? id : -1);
    }
    r->think = r->n_marks;
    if (!f || (r->dialect && r->dialect->channels))
        return;
    for (int side = 0; side < THINK_MARKS; side++) {
        struct text t = format_think_text(f, side == THINK_CLOSE);

        add_mark(r, t.n ? t.s : NULL,
                 side == THINK_CLOSE ? format_think_close_id(f)
                                     : format_think_open_id(f));
    }
}

static enum st open_dialect(struct reply *r, const struct reply_config *c)
{
    const struct dialect_config dc = {c->tools, c->think_open};
    const char *by_text[DIALECT_MARKERS_MAX + THINK_MARKS];

    take_marks(r, c->format);
    for (int k = 0; k < r->n_marks; k++)
        by_text[k] = r->mark_id[k] < 0 ? r->marks[k] : NULL;
    scan_init(&r->scan, by_text, r->n_marks);
    calls_init(&r->calls, !c->tools ? 0 : c->parallel_calls ? CALLS_MAX : 1,
               c->id_seed);
    if (!r->dialect)
        return ST_OK;
    r->calls.form = r->dialect->id_form;
    r->state = r->dialect->open(&dc);
    return r->state ? ST_OK : ST_NOMEM;
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
    bool channels;

    if (!r)
        return NULL;
    r->tok = c->tok;
    r->dialect = c->format ? format_dialect(c->format) : NULL;
    r->strict_end = c->format && format_strict_end(c->format);
    channels = r->dialect && r->dialect->channels;
    r->part = c->think_open && !channels ? PART_REASONING : PART_CONTENT;
    r->skip_newlines = r->part == PART_REASONING;
    /* A completion goes on from its prompt: its first space is text. */
    r->strip_space = c->format && tok_strips_first_space(c->tok);
    detok_init(&r->detok);
    buf_init(&r->chars, BUF_ANSWER);
    buf_init(&r->fresh, BUF_ANSWER);
    if (copy_stop_ids(r, c) || open_dialect(r, c) ||
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
    if (r->state)
        r->dialect->free(r->state);
    scan_release(&r->scan);
    stops_close(&r->stops);
    calls_release(&r->calls);
    buf_release(&r->chars);
    buf_release(&r->fresh);
    free(r);
}

/* --- content: dialect, then stop strings ------------------------------- */

static struct dialect_out out_of(struct reply *r)
{
    return (struct dialect_out){r->reasoning, &r->fresh, &r->calls, false};
}

/* What the dialect let through meets the stop strings. */
static void settle(struct reply *r, bool done)
{
    if (r->fresh.n &&
        stops_feed(&r->stops, r->fresh.p, r->fresh.n, r->content))
        r->over = true;
    if (r->fresh.failed)
        r->content->failed = true;
    buf_clear(&r->fresh);
    r->over = r->over || done;
}

static void add_content(struct reply *r, const char *p, size_t n)
{
    struct dialect_out o = out_of(r);

    while (r->skip_newlines && n && *p == '\n') {
        p++;
        n--;
    }
    if (!n)
        return;
    r->skip_newlines = false;
    if (r->dialect)
        r->dialect->text(r->state, p, n, &o);
    else
        buf_add(&r->fresh, p, n);
    settle(r, o.done);
}

/* --- reasoning --------------------------------------------------------- */

static void add_reasoning(struct reply *r, const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\n') {
            r->newlines += !r->skip_newlines;
            continue;
        }
        for (; r->newlines; r->newlines--)
            buf_putc(r->reasoning, '\n');
        r->skip_newlines = false;
        buf_putc(r->reasoning, p[i]);
    }
}

/* The other part begins; framing newlines and a cut character are dropped. */
static void turn(struct reply *r, enum part part)
{
    if (r->part == part)
        return;
    r->part = part;
    r->newlines = 0;
    r->skip_newlines = true;
}

/* --- events ------------------------------------------------------------ */

static void on_text(void *arg, const char *p, size_t n)
{
    struct reply *r = arg;

    if (r->over)
        return;
    if (r->part == PART_CONTENT)
        add_content(r, p, n);
    else
        add_reasoning(r, p, n);
}

/* Marker k, by id or by spelling. Calls are never read in reasoning. */
static void on_marker(void *arg, int k)
{
    struct reply *r = arg;
    struct dialect_out o = out_of(r);

    if (r->over)
        return;
    if (k >= r->think) {
        turn(r, k - r->think == THINK_OPEN ? PART_REASONING : PART_CONTENT);
    } else if (r->part == PART_CONTENT) {
        r->dialect->marker(r->state, k, &o);
        r->skip_newlines = false;
        settle(r, o.done);
    } else {
        on_text(r, r->marks[k], strlen(r->marks[k]));
    }
}

static int mark_of(const struct reply *r, int32_t id)
{
    for (int k = 0; k < r->n_marks; k++)
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
    return r->part == PART_REASONING ||
           (k >= 0 && k == r->think + THINK_OPEN);
}

bool reply_feed(struct reply *r, int32_t id, struct buf *reasoning,
                struct buf *content)
{
    int k;
    enum tok_type type;

    if (r->over)
        return true;
    r->reasoning = reasoning;
    r->content = content;
    k = id < 0 ? -1 : mark_of(r, id);
    r->tokens++;
    r->reasoning_tokens += is_reasoning(r, k);
    if (k >= 0 && (r->part == PART_CONTENT || k >= r->think)) {
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
    feed_text(r, id);
    return r->over;
}

void reply_end(struct reply *r, bool ended, struct buf *reasoning,
               struct buf *content)
{
    const struct scan_sink sink = {on_text, on_marker, r};
    struct dialect_out o;

    r->reasoning = reasoning;
    r->content = content;
    detok_end(&r->detok);
    scan_flush(&r->scan, &sink);
    for (; r->newlines; r->newlines--)
        buf_putc(reasoning, '\n');
    o = out_of(r);
    if (r->dialect && !r->stops.found)
        r->dialect->end(r->state, ended || r->over, &o);
    if (!r->stops.found)
        settle(r, r->over);
    stops_end(&r->stops, content);
}

bool reply_stopped(const struct reply *r)
{
    return r->over;
}

int32_t reply_kept(const struct reply *r)
{
    return r->tokens;
}

int32_t reply_reasoning_tokens(const struct reply *r)
{
    return r->reasoning_tokens;
}

const struct calls *reply_calls(const struct reply *r)
{
    return &r->calls;
}
