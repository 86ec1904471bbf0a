/*
 * Markers by their spelling: every cut of a text finds the same ones. The
 * expected events are written by hand: T text, numbers for markers.
 */
#include "chat/scan.h"
#include "t/lib/tap.h"

static const char *const marks[] = {"<tool>", NULL, "</tool>", "<t", "[A]"};
#define N_MARKS 5

struct seen {
    struct buf b; /* (text) and #k, neighbouring texts joined */
    bool in_text;
};

static void on_text(void *arg, const char *p, size_t n)
{
    struct seen *s = arg;

    if (!s->in_text)
        buf_putc(&s->b, '(');
    s->in_text = true;
    buf_add(&s->b, p, n);
}

static void on_marker(void *arg, int k)
{
    struct seen *s = arg;

    if (s->in_text)
        buf_putc(&s->b, ')');
    s->in_text = false;
    buf_printf(&s->b, "#%d", k);
}

/* The events of text cut after a and after b bytes. */
static void events(const char *text, size_t a, size_t b, struct seen *s)
{
    const struct scan_sink sink = {on_text, on_marker, s};
    size_t n = strlen(text);
    struct scan scan;

    scan_init(&scan, marks, N_MARKS);
    buf_clear(&s->b);
    s->in_text = false;
    scan_feed(&scan, text, a, &sink);
    scan_feed(&scan, text + a, b - a, &sink);
    scan_feed(&scan, text + b, n - b, &sink);
    scan_flush(&scan, &sink);
    if (s->in_text)
        buf_putc(&s->b, ')');
    scan_release(&scan);
}

static void test_cuts(void)
{
    static const struct {
        const char *text, *expect;
    } t[] = {
        {"plain", "(plain)"},
        {"a<tool>b</tool>c", "(a)#0(b)#2(c)"},
        {"<tool><tool>", "#0#0"},
        {"<too", "#3(oo)"},             /* the shorter one after all */
        {"x<t", "(x)#3"},
        {"<<tool>", "(<)#0"},
        {"</too</tool>", "(</too)#2"},
        {"[A[A]", "([A)#4"},
        {"ends with [", "(ends with [)"},
        {"", NULL},
    };
    struct seen s = {0};

    buf_init(&s.b, BUF_MESSAGE);
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        size_t n = strlen(t[i].text), wrong = 0;

        for (size_t a = 0; a <= n; a++)
            for (size_t b = a; b <= n; b++) {
                events(t[i].text, a, b, &s);
                wrong += strcmp(s.b.n ? s.b.p : "",
                                t[i].expect ? t[i].expect : "") != 0;
            }
        is_int((long)wrong, 0, "every cut of \"%s\" gives %s", t[i].text,
               t[i].expect ? t[i].expect : "nothing");
    }
    buf_release(&s.b);
}

/* Only what may become a marker waits. */
static void test_held(void)
{
    struct seen s = {0};
    const struct scan_sink sink = {on_text, on_marker, &s};
    struct scan scan;

    buf_init(&s.b, BUF_MESSAGE);
    scan_init(&scan, marks, N_MARKS);
    scan_feed(&scan, "abc</to", 7, &sink);
    is_str(s.b.p, "(abc", "text before a possible marker is out");
    scan_feed(&scan, "p", 1, &sink);
    is_str(s.b.p, "(abc</top", "and the rest as soon as it is none");
    scan_release(&scan);
    buf_release(&s.b);
}

/* Of markers that begin alike the longest is found, in any order. */
static void test_longest(void)
{
    static const char *const lists[][3] = {
        {"<a", "<ab", "<"}, {"<ab", "<a", "<"},
    };
    static const char *const want[] = {"#1#0#2", "#0#1#2"};

    for (size_t i = 0; i < 2; i++) {
        struct seen s = {.in_text = false};
        const struct scan_sink sink = {on_text, on_marker, &s};
        struct scan scan;

        buf_init(&s.b, BUF_MESSAGE);
        scan_init(&scan, lists[i], 3);
        for (const char *p = "<ab<a<"; *p; p++)
            scan_feed(&scan, p, 1, &sink);
        scan_flush(&scan, &sink);
        is_str(s.b.p, want[i], "the longest marker, list %zu", i);
        scan_release(&scan);
        buf_release(&s.b);
    }
}

int main(void)
{
    test_cuts();
    test_held();
    test_longest();
    return done();
}
