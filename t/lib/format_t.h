/*
 * t/lib/format_t.h - a request's JSON to segments, and ways to look at them.
 */
#ifndef T_FORMAT_T_H
#define T_FORMAT_T_H

#include "chat/format_int.h"
#include "t/lib/chatreq.h"
#include "t/lib/tap.h"
#include "t/lib/toy_tok.h"

/* One rendered request; release with format_t_close. */
struct format_t {
    struct arena arena;
    struct chat_req req;
    struct segments segments;
    bool think_open;
    enum st st;
    struct err err;
};

static inline const struct json *format_t_parse(struct arena *a,
                                                const char *json, size_t n)
{
    const struct json *v = NULL;
    struct err e = {0};

    if (json_parse(&v, a, json, n, &e)) {
        printf("# not JSON: %s: %.200s\n", e.text, json);
        abort();
    }
    return v;
}

/* `request` must outlive it. */
static inline void format_t_json(struct format_t *t, const struct format *f,
                                 const struct json *request)
{
    memset(t, 0, sizeof(*t));
    arena_init(&t->arena, 64u << 20);
    segments_init(&t->segments, &t->arena);
    chatreq_read(&t->req, &t->arena, request);
    t->st = format_render(f, &t->req, &t->segments, &t->think_open, &t->err);
}

static inline void format_t_text(struct format_t *t, const struct format *f,
                                 const char *request)
{
    memset(t, 0, sizeof(*t));
    arena_init(&t->arena, 64u << 20);
    segments_init(&t->segments, &t->arena);
    chatreq_read(&t->req, &t->arena,
                 format_t_parse(&t->arena, request, strlen(request)));
    t->st = format_render(f, &t->req, &t->segments, &t->think_open, &t->err);
}

static inline void format_t_close(struct format_t *t)
{
    arena_release(&t->arena);
}

/* The bytes of all segments; with `marked`, markup stands in square brackets
 * and segments end with a bar. Owned. */
static inline char *format_t_shown(const struct format_t *t, bool marked)
{
    struct buf b;

    buf_init(&b, BUF_FILE);
    buf_puts(&b, "");
    for (size_t i = 0; i < t->segments.n; i++) {
        const struct segment *s = &t->segments.p[i];

        buf_puts(&b, marked && s->mode == TOK_MARKUP ? "[" : "");
        buf_add(&b, s->text.s, s->text.n);
        buf_puts(&b, !marked ? "" : s->mode == TOK_MARKUP ? "]" : "|");
    }
    BUG_ON(b.failed);
    return b.p;
}

/* One test point: the request is refused with this field and word. */
static inline void format_t_refused(const struct format *f, const char *request,
                                    const char *where, const char *word,
                                    const char *name)
{
    struct format_t t;

    format_t_text(&t, f, request);
    if (!ok(t.st == ST_INVALID && !strcmp(t.err.where, where) &&
                strstr(t.err.text, word),
            "%s", name))
        printf("#   got %s '%s' '%s', expected '%s' '%s'\n", st_name(t.st),
               t.err.where, t.err.text, where, word);
    format_t_close(&t);
}

/* One test point: the request's bytes (or, marked, its segments). */
static inline void format_t_is(const struct format *f, const char *request,
                               bool marked, const char *want, const char *name)
{
    struct format_t t;
    char *got;

    format_t_text(&t, f, request);
    got = format_t_shown(&t, marked);
    if (!ok(!t.st && !strcmp(got, want), "%s", name))
        printf("#   %s %s %s\n#   got  %s\n#   want %s\n", st_name(t.st),
               t.err.where, t.err.text, got, want);
    free(got);
    format_t_close(&t);
}

/* How many ids of the prompt are control or user-defined tokens; -1 when the
 * request was refused. */
static inline int format_t_control(const struct format_t *t,
                                   const struct tok *tok)
{
    struct ids ids;
    struct err e;
    int n = 0;

    if (t->st)
        return -1;
    ids_init(&ids, 1u << 22);
    BUG_ON(segments_encode(&t->segments, tok, &ids, &e));
    for (size_t i = 0; i < ids.n; i++) {
        enum tok_type type = tok_type_of(tok, ids.p[i]);

        n += type == TOK_CONTROL || type == TOK_USER;
    }
    ids_release(&ids);
    return n;
}

/*
 * The prompt: markup as [..], text as (..); or "error FIELD: text". With
 * `ids` (may be NULL) its token ids too. Owned by the caller.
 */
static inline char *format_t_prompt(const struct format *f, const char *json,
                                  const struct tok *tok, struct ids *ids)
{
    struct chatreq t;
    struct segments s;
    struct err e = {0};
    struct buf b;
    bool think_open;

    chatreq_open(&t, json);
    segments_init(&s, &t.a);
    buf_init(&b, BUF_FILE);
    buf_puts(&b, "");
    if (format_render(f, &t.r, &s, &think_open, &e)) {
        buf_printf(&b, "error %s: %s", e.where, e.text);
    } else {
        for (size_t i = 0; i < s.n; i++) {
            bool markup = s.p[i].mode == TOK_MARKUP;

            buf_putc(&b, markup ? '[' : '(');
            buf_add(&b, s.p[i].text.s, s.p[i].text.n);
            buf_putc(&b, markup ? ']' : ')');
        }
        BUG_ON(ids && segments_encode(&s, tok, ids, &e));
    }
    chatreq_close(&t);
    BUG_ON(b.failed || !b.p);
    return b.p;
}

/*
 * Does the request with `evil` (JSON string characters) for every '@' have
 * exactly the special tokens of the one with "x", in the same order?
 */
static inline bool format_t_unforged(const struct format *f, const char *json,
                                    const char *evil, const struct tok *tok)
{
    const char *const with[] = {"x", evil};
    struct ids ids[2], special[2];
    bool same = true;

    for (int k = 0; k < 2; k++) {
        char *body = chatreq_with(json, '@', with[k]);
        char *shown;

        ids_init(&ids[k], 1u << 22);
        ids_init(&special[k], 1u << 22);
        shown = format_t_prompt(f, body, tok, &ids[k]);
        if (!strncmp(shown, "error", 5)) {
            printf("# %s\n", shown);
            same = false;
        }
        for (size_t i = 0; i < ids[k].n; i++) {
            enum tok_type type = tok_type_of(tok, ids[k].p[i]);

            if (type == TOK_CONTROL || type == TOK_USER)
                ids_add(&special[k], ids[k].p[i]);
        }
        free(shown);
        free(body);
    }
    same = same && special[0].n && special[0].n == special[1].n &&
           !memcmp(special[0].p, special[1].p,
                   special[0].n * sizeof(*special[0].p)) &&
           ids[1].n > ids[0].n;
    for (int k = 0; k < 2; k++) {
        ids_release(&ids[k]);
        ids_release(&special[k]);
    }
    return same;
}

#endif
