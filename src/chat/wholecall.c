#include "chat/wholecall.h"

#include "base/ascii.h"

enum {
    W_START,  /* white space before anything */
    W_FENCE,  /* its first three characters */
    W_WORD,   /* the word behind it, to the value */
    W_VALUE,
    W_AFTER,  /* white space; in a fence its end */
    W_CLOSED, /* behind the fence: white space */
};

static const char fence[] = "```", fence_word[] = "json";

void whole_init(struct whole *w, const struct tools *t, bool many)
{
    *w = (struct whole){.tools = t, .many = many, .state = W_START};
    buf_init(&w->held, BUF_ANSWER);
    jsonargs_init(&w->args);
}

void whole_live(struct whole *w, struct sweep *s, struct calls *c)
{
    w->sweep = s;
    w->calls = c;
}

void whole_release(struct whole *w)
{
    buf_release(&w->held);
    jsonargs_release(&w->args);
    founds_release(&w->found);
}

bool whole_in_string(const struct whole *w)
{
    return w->state == W_VALUE &&
           (w->in_args ? w->args.js.in_string : w->reader.js.in_string);
}

static bool begin_value(struct whole *w, char c)
{
    if (c != '{' && c != '[')
        return false;
    w->value_at = --w->pos;
    w->state = W_VALUE;
    callread_init(&w->reader);
    return true;
}

/* The word of the fence: json or none, then white space or the value. */
static bool in_word(struct whole *w, char c)
{
    const size_t n = sizeof(fence_word) - 1;

    if (json_space(c) && (!w->fence || w->fence >= n)) {
        w->fence = n + 1; /* no word any more */
        return true;
    }
    if (w->fence < n && c == fence_word[w->fence]) {
        w->fence++;
        return true;
    }
    return (!w->fence || w->fence >= n) && begin_value(w, c);
}

static bool after_value(struct whole *w, char c)
{
    if (w->many && c == ';' && !w->fence) {
        w->state = W_START;
        return true;
    }
    if (!w->fenced || w->fence >= sizeof(fence) - 1 || c != fence[w->fence])
        return false;
    w->fence++;
    if (w->fence == sizeof(fence) - 1)
        w->state = W_CLOSED;
    return true;
}

/* One character outside the values. */
static bool outside(struct whole *w, char c)
{
    switch (w->state) {
    case W_FENCE:
        if (c != fence[w->fence++])
            return false;
        if (w->fence == sizeof(fence) - 1) {
            w->state = W_WORD;
            w->fenced = true;
            w->fence = 0;
        }
        return true;
    case W_WORD:
        return in_word(w, c);
    case W_AFTER:
        return (json_space(c) && !w->fence) || after_value(w, c);
    case W_START:
        if (c == fence[0] && !w->found.n) {
            w->state = W_FENCE;
            w->fence = 1;
            return true;
        }
        return json_space(c) || begin_value(w, c);
    }
    return json_space(c);
}

/* A value is complete: only calls may pass. */
static bool end_value(struct whole *w)
{
    w->state = W_AFTER;
    w->fence = 0;
    if (!founds_json(&w->found, w->tools, w->held.p + w->value_at,
                     w->pos - w->value_at, FOUND_STRICT))
        return false;
    w->item = w->found.n;
    return true;
}

static void begin_args(struct whole *w)
{
    const struct callread *r = &w->reader;
    struct tool_call *call = NULL;

    if (w->sweep && r->has_name)
        call = sweep_live(w->sweep, w->calls, (struct span){0},
                          (struct span){w->held.p + r->name_at, r->name_n},
                          w->item);
    if (!call)
        return;
    jsonargs_open(&w->args, w->tools, call);
    w->in_args = true;
    w->pos--;
}

/* The arguments that are streamed; their last brace is read twice. */
static bool in_args(struct whole *w)
{
    size_t used;
    enum jsonargs_step s = jsonargs_feed(&w->args, w->held.p + w->pos,
                                         w->held.n - w->pos, &used);

    w->in_args = s == ARGS_MORE;
    w->pos += used - (s == ARGS_DONE);
    return s != ARGS_BAD;
}

/* What is held of a value, up to its next event. */
static bool in_value(struct whole *w)
{
    const struct callread *r = &w->reader;

    if (w->in_args)
        return in_args(w);
    switch (callread_step(&w->reader, w->held.p, w->held.n, &w->pos)) {
    case CR_BAD:
    case CR_KEY:
        return false;
    case CR_NAME:
        return !r->has_name || tools_has(w->tools, w->held.p + r->name_at,
                                         r->name_n);
    case CR_END:
        return end_value(w);
    case CR_ARGS:
        begin_args(w);
        break;
    case CR_ITEM:
        w->item++;
        break;
    case CR_MORE:
    case CR_ID:
        break;
    }
    return true;
}

bool whole_feed(struct whole *w, const char *p, size_t n)
{
    buf_add(&w->held, p, n);
    if (w->held.failed)
        return false;
    while (w->pos < w->held.n) {
        bool can = w->state == W_VALUE ? in_value(w)
                                       : outside(w, w->held.p[w->pos++]);

        if (!can)
            return false;
    }
    return true;
}

bool whole_is_call(struct whole *w)
{
    if (w->state == W_START)
        return w->found.n; /* behind a ; */
    return w->state == (w->fenced ? W_CLOSED : W_AFTER) && w->found.n;
}
