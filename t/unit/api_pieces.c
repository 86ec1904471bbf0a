/*
 * Pieces of an answer: their order, what grows, what waits, what never is
 * one, and no memory. Expectations: api/pieces.h, written out by hand.
 */
#include "api/pieces.h"
#include "t/lib/tap.h"

static bool no_memory;

void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

void *__wrap_realloc(void *p, size_t bytes)
{
    return no_memory ? NULL : __real_realloc(p, bytes);
}

struct answer {
    struct pieces pieces;
    struct buf reasoning, content;
    struct calls calls;
};

static void open_answer(struct answer *a, size_t limit)
{
    *a = (struct answer){0};
    buf_init(&a->reasoning, BUF_ANSWER);
    buf_init(&a->content, BUF_ANSWER);
    calls_init(&a->calls, limit, 1);
}

static void close_answer(struct answer *a)
{
    pieces_release(&a->pieces);
    buf_release(&a->reasoning);
    buf_release(&a->content);
    calls_release(&a->calls);
}

/* One id: reasoning, then content. */
static void feed(struct answer *a, const char *thought, const char *said)
{
    buf_puts(&a->reasoning, thought);
    buf_puts(&a->content, said);
    pieces_note(&a->pieces, &a->reasoning, &a->content, &a->calls,
                PIECES_MORE);
}

/* It is found, complete, behind `at` bytes of content and not noted yet. */
static struct tool_call *call(struct answer *a, const char *name, size_t at)
{
    struct tool_call *c = calls_add(&a->calls, NULL, 0, name, strlen(name));

    BUG_ON(!c);
    c->whole = true;
    calls_settle(&a->calls, a->calls.n - 1, at);
    return c;
}

static void over(struct answer *a)
{
    pieces_note(&a->pieces, &a->reasoning, &a->content, &a->calls,
                PIECES_OVER);
}

/* "(reasoning) [text] name": also checks what the list promises. */
static void is_list(const struct answer *a, const char *want, const char *what)
{
    size_t thought = 0, said = 0;
    bool apart = true;
    struct buf b;

    buf_init(&b, BUF_MESSAGE);
    buf_puts(&b, "");
    for (size_t i = 0; i < a->pieces.n; i++) {
        const struct piece *p = &a->pieces.p[i];
        bool text = p->kind == PIECE_TEXT;
        const struct buf *from = text ? &a->content : &a->reasoning;

        buf_puts(&b, i ? " " : "");
        if (p->kind == PIECE_CALL) {
            buf_puts(&b, a->calls.p[p->call]->name);
            continue;
        }
        buf_printf(&b, text ? "[%.*s]" : "(%.*s)", (int)(p->to - p->from),
                   from->p + p->from);
        apart = apart && p->to > p->from && (!i || p[-1].kind != p->kind) &&
                p->from >= (text ? said : thought);
        for (size_t k = text ? said : thought; k < p->from; k++)
            apart = apart && text && a->content.p[k] <= ' ';
        *(text ? &said : &thought) = p->to;
    }
    is_str(b.p, want, "%s", what);
    ok(apart, "%s: without holes, neighbours differ", what);
    buf_release(&b);
}

static void orders(void)
{
    struct answer a;

    open_answer(&a, CALLS_MAX);
    is_list(&a, "", "nothing yet");
    feed(&a, "", "");
    is_list(&a, "", "an id that gives nothing");
    feed(&a, "I", "");
    feed(&a, " think", "");
    is_list(&a, "(I think)", "reasoning grows");
    feed(&a, ".", "Hi");
    is_list(&a, "(I think.) [Hi]", "one id: reasoning stands before text");
    feed(&a, "", " you");
    call(&a, "f", 6);
    feed(&a, "", "");
    is_list(&a, "(I think.) [Hi you] f", "a call");
    call(&a, "g", 6);
    call(&a, "h", 6);
    feed(&a, "", "");
    is_list(&a, "(I think.) [Hi you] f g h", "calls are pieces of their own");
    feed(&a, "", "and");
    feed(&a, "Hm", "");
    feed(&a, "", "so");
    is_list(&a, "(I think.) [Hi you] f g h [and] (Hm) [so]",
            "text behind calls, a second thought, text");
    over(&a);
    over(&a);
    is_list(&a, "(I think.) [Hi you] f g h [and] (Hm) [so]",
            "the end brings nothing of its own");
    close_answer(&a);
}

/* All within one id: only the call's own place tells where it stands. */
static void one_id(void)
{
    struct answer a;

    open_answer(&a, CALLS_MAX);
    feed(&a, "", "ab");
    call(&a, "f", 3);
    feed(&a, "", "cde");
    is_list(&a, "[abc] f [de]", "an id ends a text, has a call and a text");
    call(&a, "g", 5);
    feed(&a, "", "xy");
    is_list(&a, "[abc] f [de] g [xy]", "a call that comes complete");
    close_answer(&a);

    open_answer(&a, CALLS_MAX);
    call(&a, "f", 0);
    call(&a, "g", 0);
    feed(&a, "t", "x");
    is_list(&a, "(t) f g [x]", "all in the first id");
    close_answer(&a);
}

/* A stop string may claim the text before a call: "\n\n" is held. */
static void waits(void)
{
    struct answer a;

    open_answer(&a, CALLS_MAX);
    feed(&a, "", "Well.");
    call(&a, "f", 7);
    feed(&a, "", "");
    is_list(&a, "[Well.]", "a call waits for the text before it");
    call(&a, "g", 7);
    feed(&a, "", "");
    is_list(&a, "[Well.]", "and the next one for both");
    feed(&a, "", "\n\nThen");
    is_list(&a, "[Well.\n\n] f g [Then]", "the text came: all in order");
    close_answer(&a);

    open_answer(&a, CALLS_MAX);
    feed(&a, "", "Well.");
    call(&a, "f", 7);
    feed(&a, "", "\n");
    is_list(&a, "[Well.\n]", "half of that text");
    over(&a);
    is_list(&a, "[Well.\n] f", "the end: what never came is not waited for");
    close_answer(&a);
}

/* White space of its own beside calls. */
static void layout(void)
{
    struct answer a;

    open_answer(&a, CALLS_MAX);
    feed(&a, "t", "\n");
    call(&a, "f", 1);
    feed(&a, "", "");
    is_list(&a, "(t) f", "before the first call");
    feed(&a, "", " \n");
    call(&a, "g", 3);
    feed(&a, "", "\n\t");
    is_list(&a, "(t) f g", "between calls");
    feed(&a, "", "\rx");
    is_list(&a, "(t) f g [\n\t\rx]", "in front of a text it is part of that");
    feed(&a, "", "\n");
    call(&a, "h", 8);
    feed(&a, "", "\n");
    is_list(&a, "(t) f g [\n\t\rx\n] h", "and behind it");
    over(&a);
    is_list(&a, "(t) f g [\n\t\rx\n] h", "behind the last call it is none");
    close_answer(&a);

    open_answer(&a, CALLS_MAX);
    feed(&a, "t", "\n");
    is_list(&a, "(t)", "without a call it waits");
    over(&a);
    is_list(&a, "(t) [\n]", "and is the answer");
    close_answer(&a);
}

/* Where a text stands in all that the reply gave. */
static void places(void)
{
    struct answer a;

    open_answer(&a, CALLS_MAX);
    feed(&a, "hm", "");
    feed(&a, "", "\n");
    feed(&a, "", "x");
    call(&a, "f", 2);
    feed(&a, "", "\n");
    call(&a, "g", 3);
    feed(&a, "", "");
    feed(&a, "", " ");
    feed(&a, "", "y");
    feed(&a, "so", "z");
    is_list(&a, "(hm) [\nx] f g [ y] (so) [z]", "texts between");
    is_int(a.pieces.p[1].at, 2, "the first is behind the reasoning");
    is_int(a.pieces.p[4].at, 5, "what is left out counts, too");
    is_int(a.pieces.p[6].at, 9, "and so does each reasoning");
    close_answer(&a);
}

/* The model thinks inside a call, and goes on with it. */
static void inside(void)
{
    struct answer a;
    struct tool_call *f, *g;

    open_answer(&a, CALLS_MAX);
    f = call(&a, "f", 0);
    f->whole = false;
    feed(&a, "", "");
    feed(&a, "Hm", "");
    is_list(&a, "f", "a thought waits for the end of the call");
    g = call(&a, "g", 0);
    g->whole = false;
    feed(&a, "m", "");
    is_list(&a, "f g", "the next call of its block does not");
    g->whole = true;
    feed(&a, "", "x");
    is_list(&a, "f g (Hmm) [x]", "then it comes");
    close_answer(&a);

    open_answer(&a, CALLS_MAX);
    f = call(&a, "f", 0);
    f->whole = false;
    feed(&a, "", "");
    feed(&a, "Hm", "");
    calls_withdraw(&a.calls, f);
    feed(&a, "", "text");
    is_list(&a, "f (Hm) [text]", "one that is withdrawn is over, too");
    close_answer(&a);

    open_answer(&a, CALLS_MAX);
    call(&a, "f", 0)->whole = false;
    feed(&a, "", "");
    feed(&a, "Hm", "");
    over(&a);
    is_list(&a, "f (Hm)", "so is everything at the end");
    close_answer(&a);

    open_answer(&a, CALLS_MAX);
    call(&a, "f", 0)->whole = false;
    feed(&a, "", "");
    feed(&a, "", "x");
    is_list(&a, "f", "a text waits for the end of the call, too");
    over(&a);
    is_list(&a, "f [x]", "or for that of the answer");
    close_answer(&a);
}

static void not_pieces(void)
{
    struct answer a;
    struct tool_call *f;

    open_answer(&a, 1);
    f = call(&a, "f", 0);
    call(&a, "dropped", 0);
    feed(&a, "", "x");
    is_list(&a, "f [x]", "a call over the limit is no piece");
    calls_withdraw(&a.calls, f);
    feed(&a, "", "y");
    is_list(&a, "f [xy]", "one that is withdrawn later stays in the list");
    ok(!piece_counts(&a.pieces.p[0], &a.calls), "and counts no more");
    ok(piece_counts(&a.pieces.p[1], &a.calls), "the text does");
    calls_withdraw(&a.calls, call(&a, "g", 2));
    call(&a, "h", 2);
    feed(&a, "", "");
    is_list(&a, "f [xy] h", "withdrawn by the id that brought it: no piece");
    ok(piece_counts(&a.pieces.p[2], &a.calls), "the one after it is");
    calls_withdraw(&a.calls, call(&a, "i", 3));
    feed(&a, "", "");
    calls_withdraw(&a.calls, a.calls.p[a.calls.n - 1]);
    feed(&a, "", "z!");
    is_list(&a, "f [xy] h [z!]", "withdrawn while it waited: no piece");
    close_answer(&a);

    open_answer(&a, 0);
    call(&a, "f", 0);
    pieces_note(&a.pieces, &a.reasoning, &a.content, NULL, PIECES_MORE);
    feed(&a, "", "x");
    is_list(&a, "[x]", "no calls at all");
    close_answer(&a);
}

static void many(void)
{
    struct answer a;
    bool right = true;

    open_answer(&a, CALLS_MAX);
    for (size_t i = 0; i < CALLS_MAX; i++) {
        call(&a, "f", i);
        feed(&a, "", "x");
    }
    is_int((intmax_t)a.pieces.n, 2 * CALLS_MAX, "calls and texts by turns");
    for (size_t i = 0; i < a.pieces.n; i++) {
        const struct piece *p = &a.pieces.p[i];

        right = right && (i % 2 ? p->kind == PIECE_TEXT && p->from == i / 2 &&
                                      p->to == i / 2 + 1
                                : p->kind == PIECE_CALL && p->call == i / 2);
    }
    ok(right, "each at its place");
    close_answer(&a);
}

static void memory(void)
{
    struct answer a;

    open_answer(&a, CALLS_MAX);
    for (size_t i = 0; i < 4; i++)
        call(&a, "f", 0);
    feed(&a, "", "");
    buf_puts(&a.content, "x");
    buf_puts(&a.reasoning, "t");
    no_memory = true;
    pieces_note(&a.pieces, &a.reasoning, &a.content, &a.calls, PIECES_MORE);
    no_memory = false;
    ok(a.pieces.failed, "no memory for one more: it says so");
    is_int((intmax_t)a.pieces.n, 4, "those that are there stay");
    over(&a);
    ok(a.pieces.failed, "for good");
    close_answer(&a);
    is_int((intmax_t)a.pieces.n, 0, "released: empty");
}

int main(void)
{
    orders();
    one_id();
    waits();
    layout();
    places();
    inside();
    not_pieces();
    many();
    memory();
    return done();
}
