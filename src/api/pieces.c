#include "api/pieces.h"

#include "base/ascii.h"

static struct piece *add(struct pieces *p, enum piece_kind kind)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 4, bytes;
        struct piece *more = NULL;

        if (mem_mul(&bytes, cap, sizeof(*more)))
            more = realloc(p->p, bytes);
        if (!more) {
            p->failed = true;
            return NULL;
        }
        p->p = more;
        p->cap = cap;
    }
    p->p[p->n] = (struct piece){.kind = kind};
    return &p->p[p->n++];
}

/* Bytes *seen to n of one of the two texts are new. */
static void grow(struct pieces *p, enum piece_kind kind, size_t *seen,
                 size_t n)
{
    struct piece *last = p->n ? &p->p[p->n - 1] : NULL;

    if (n <= *seen)
        return;
    if (!last || last->kind != kind) {
        last = add(p, kind);
        if (!last)
            return;
        last->from = *seen;
        last->at = *seen + p->reasoning; /* of a text */
    }
    last->to = n;
    *seen = n;
}

/* Content up to n is new. White space waits for what follows it. */
static void grow_text(struct pieces *p, const struct buf *content, size_t n)
{
    bool begun = p->n && p->p[p->n - 1].kind == PIECE_TEXT;
    size_t i = p->content;

    while (!begun && i < n && json_space(content->p[i]))
        i++;
    if (begun || i < n)
        grow(p, PIECE_TEXT, &p->content, n);
}

/* White space that came alone beside a call was layout. */
static void pass_over(struct pieces *p, size_t n)
{
    if (n > p->content)
        p->content = n;
}

/* Will the last piece grow, whatever comes? Reasoning may begin inside a call,
 * whose rest comes behind it. */
static bool is_open(const struct pieces *p, const struct calls *calls)
{
    const struct piece *last = p->n ? &p->p[p->n - 1] : NULL;
    const struct tool_call *call;

    if (!last || last->kind != PIECE_CALL)
        return false;
    call = calls->p[last->call];
    return !call->whole && !call->withdrawn;
}

void pieces_note(struct pieces *p, const struct buf *reasoning,
                 const struct buf *content, const struct calls *calls,
                 enum pieces_when when)
{
    bool over = when == PIECES_OVER;

    if (over || !is_open(p, calls))
        grow(p, PIECE_REASONING, &p->reasoning, reasoning->n);
    for (; calls && p->calls < calls->n && !p->failed; p->calls++) {
        const struct tool_call *call = calls->p[p->calls];
        size_t at = call->at < content->n ? call->at : content->n;
        struct piece *one;

        if (call->dropped || call->withdrawn)
            continue;
        if (at < call->at && !over)
            break;
        grow_text(p, content, at);
        pass_over(p, at);
        one = add(p, PIECE_CALL);
        if (one)
            one->call = p->calls;
    }
    if (over || !is_open(p, calls))
        grow_text(p, content, content->n);
    if (over && p->n && p->p[p->n - 1].kind == PIECE_CALL)
        pass_over(p, content->n);
    else if (over)
        grow(p, PIECE_TEXT, &p->content, content->n);
}

bool piece_counts(const struct piece *one, const struct calls *calls)
{
    return one->kind != PIECE_CALL || !calls->p[one->call]->withdrawn;
}

void pieces_release(struct pieces *p)
{
    free(p->p);
    *p = (struct pieces){0};
}
