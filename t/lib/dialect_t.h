/*
 * t/lib/dialect_t.h - feed a reply to a dialect and look at what it read.
 *
 *   struct dialect_t t = {.d = &dialect_glm, .tools = tools};
 *   dialect_is(&t, "Hi <tool_call>f</tool_call>",
 *              "{\"content\":\"Hi \",\"calls\":[{\"name\":\"f\","
 *              "\"arguments\":\"{}\"}]}", "a call without arguments");
 *
 * The result is one JSON text, compact, members in this order:
 *   reasoning  left out when empty
 *   content    always
 *   calls      left out when none is shown; per call: id (only with .ids),
 *              name, arguments, and "open":true when it never became whole.
 *              Dropped and withdrawn calls are not there.
 *   done       true, only when the dialect ended the turn itself
 * Text is fed as a host without ids does: markers by spelling (chat/scan.h),
 * whole characters, cut anywhere between them. On the way it is checked that
 * output only grows: that aborts, being no test point.
 */
#ifndef T_DIALECT_T_H
#define T_DIALECT_T_H

#include "base/utf8.h"
#include "chat/dialect.h"
#include "chat/jsontext.h"
#include "chat/scan.h"
#include "t/lib/tap.h"

struct dialect_t {
    const struct dialect *d;
    const struct tools *tools;
    bool think_open;
    bool cut;        /* the reply ends by a limit, not by its end token */
    bool ids;        /* show the ids of calls */
    size_t limit;    /* of calls; 0: CALLS_MAX */
};

/* One step of a fed list: a marker by its spelling, or text. */
struct dialect_piece {
    const char *marker; /* NULL: text */
    const char *text;   /* both NULL: the end */
};

struct dialect_run {
    const struct dialect_t *t;
    void *state;
    struct scan scan;
    struct buf reasoning, content;
    struct calls calls;
    struct dialect_out out;
    size_t seen_reasoning, seen_content, seen_args[CALLS_MAX];
};

static inline void dialect_run_grown(struct dialect_run *r)
{
    BUG_ON(r->reasoning.n < r->seen_reasoning ||
           r->content.n < r->seen_content);
    r->seen_reasoning = r->reasoning.n;
    r->seen_content = r->content.n;
    for (size_t i = 0; i < r->calls.n; i++) {
        BUG_ON(r->calls.p[i]->args.n < r->seen_args[i]);
        r->seen_args[i] = r->calls.p[i]->args.n;
    }
}

static inline void dialect_run_text(void *arg, const char *p, size_t n)
{
    struct dialect_run *r = arg;

    if (!r->out.done)
        r->t->d->text(r->state, p, n, &r->out);
    dialect_run_grown(r);
}

static inline void dialect_run_marker(void *arg, int k)
{
    struct dialect_run *r = arg;

    if (!r->out.done)
        r->t->d->marker(r->state, k, &r->out);
    dialect_run_grown(r);
}

static inline void dialect_run_open(struct dialect_run *r,
                                    const struct dialect_t *t)
{
    const struct dialect_config c = {t->tools, t->think_open};
    int n = 0;

    memset(r, 0, sizeof(*r));
    r->t = t;
    while (t->d->markers[n])
        n++;
    scan_init(&r->scan, t->d->markers, n);
    buf_init(&r->reasoning, BUF_ANSWER);
    buf_init(&r->content, BUF_ANSWER);
    calls_init(&r->calls, t->limit ? t->limit : CALLS_MAX, 1);
    r->calls.form = t->d->id_form;
    r->out = (struct dialect_out){&r->reasoning, &r->content, &r->calls,
                                  false};
    r->state = t->d->open(&c);
    BUG_ON(!r->state);
}

static inline void dialect_run_feed(struct dialect_run *r, const char *s,
                                    size_t n)
{
    const struct scan_sink sink = {dialect_run_text, dialect_run_marker, r};

    scan_feed(&r->scan, s, n, &sink);
}

static inline void dialect_run_end(struct dialect_run *r)
{
    const struct scan_sink sink = {dialect_run_text, dialect_run_marker, r};

    scan_flush(&r->scan, &sink);
    r->t->d->end(r->state, !r->t->cut, &r->out);
    dialect_run_grown(r);
}

static inline void dialect_run_member(struct buf *b, const char *key,
                                      const char *s, size_t n)
{
    buf_printf(b, "%s\"%s\":", b->p && strchr("{[", b->p[b->n - 1]) ? "" : ",",
               key);
    jsontext_string(b, s, n, JT_COMPACT);
}

static inline char *dialect_run_shown(const struct dialect_run *r)
{
    struct buf b;
    size_t shown = 0;

    buf_init(&b, BUF_FILE);
    buf_putc(&b, '{');
    if (r->reasoning.n)
        dialect_run_member(&b, "reasoning", r->reasoning.p, r->reasoning.n);
    dialect_run_member(&b, "content", r->content.n ? r->content.p : "",
                       r->content.n);
    for (size_t i = 0; i < r->calls.n; i++) {
        const struct tool_call *c = r->calls.p[i];

        if (c->dropped || c->withdrawn)
            continue;
        buf_puts(&b, shown++ ? ",{" : ",\"calls\":[{");
        if (r->t->ids)
            dialect_run_member(&b, "id", c->id, strlen(c->id));
        dialect_run_member(&b, "name", c->name, strlen(c->name));
        dialect_run_member(&b, "arguments", c->args.n ? c->args.p : "",
                           c->args.n);
        buf_puts(&b, c->whole ? "}" : ",\"open\":true}");
    }
    buf_puts(&b, shown ? "]" : "");
    buf_puts(&b, r->out.done ? ",\"done\":true}" : "}");
    BUG_ON(b.failed);
    return b.p;
}

static inline void dialect_run_close(struct dialect_run *r)
{
    r->t->d->free(r->state);
    scan_release(&r->scan);
    buf_release(&r->reasoning);
    buf_release(&r->content);
    calls_release(&r->calls);
}

/* Feed s[0..cut), then the rest (or `step` characters at a time). Owned. */
static inline char *dialect_fed(const struct dialect_t *t, const char *s,
                                size_t n, size_t cut, size_t step)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    char *shown;

    dialect_run_open(r, t);
    dialect_run_feed(r, s, cut);
    for (size_t i = cut; i < n;) {
        size_t to = step ? i : n;

        for (size_t k = 0; k < step && to < n; k++) {
            uint32_t cp;
            size_t len = utf8_decode(s + to, n - to, &cp);

            to += len ? len : 1;
        }
        dialect_run_feed(r, s + i, to - i);
        i = to;
    }
    dialect_run_end(r);
    shown = dialect_run_shown(r);
    dialect_run_close(r);
    free(r);
    return shown;
}

/* The result of a whole text. Owned by the caller. */
static inline char *dialect_text(const struct dialect_t *t, const char *s)
{
    return dialect_fed(t, s, strlen(s), 0, 0);
}

/* The result of markers and pieces as a host with ids feeds them. Owned. */
static inline char *dialect_pieces(const struct dialect_t *t,
                                   const struct dialect_piece *list)
{
    struct dialect_run *r = mem_new(struct dialect_run);
    char *shown;

    dialect_run_open(r, t);
    for (; list->marker || list->text; list++) {
        int k = 0;

        if (!list->marker) {
            dialect_run_text(r, list->text, strlen(list->text));
            continue;
        }
        while (t->d->markers[k] && strcmp(t->d->markers[k], list->marker))
            k++;
        BUG_ON(!t->d->markers[k]);
        dialect_run_marker(r, k);
    }
    dialect_run_end(r);
    shown = dialect_run_shown(r);
    dialect_run_close(r);
    free(r);
    return shown;
}

/* One test point: `s` gives `want` whole, for every cut in two, and for
 * steps of 1, 2, 3, 5, 7, 11 and 64 characters. */
static inline bool dialect_is(const struct dialect_t *t, const char *s,
                              const char *want, const char *name)
{
    static const size_t steps[] = {1, 2, 3, 5, 7, 11, 64};
    size_t n = strlen(s), at = 0;
    const char *how = "whole";
    char *got = dialect_fed(t, s, n, 0, 0);
    bool same = !strcmp(got, want);

    while (same && at < n) {
        uint32_t cp;
        size_t len = utf8_decode(s + at, n - at, &cp);

        at += len ? len : 1;
        free(got);
        got = dialect_fed(t, s, n, at, 0);
        same = !strcmp(got, want);
        how = "cut at byte";
    }
    for (size_t i = 0; same && i < sizeof(steps) / sizeof(steps[0]); i++) {
        at = steps[i];
        free(got);
        got = dialect_fed(t, s, n, 0, at);
        same = !strcmp(got, want);
        how = "in steps of";
    }
    if (!ok(same, "%s", name))
        printf("#   %s %zu\n#   got  %s\n#   want %s\n", how, at, got, want);
    free(got);
    return same;
}

#endif
