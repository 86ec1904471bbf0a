/*
 * chat/format_int.h - a loaded format, for the files that find and render.
 *
 * One kind of format = one `struct format_kind`, one file (or a few) that
 * fills a `struct format` and renders with its own `data`.
 */
#ifndef CHAT_FORMAT_INT_H
#define CHAT_FORMAT_INT_H

#include "chat/format.h"

#define FORMAT_ARENA (8u << 20)
#define FORMAT_STOPS_MAX 8

struct format_kind {
    const char *name; /* jinja, xtml, dsml, chatjson, ... */
    enum st (*render)(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e);
    void (*free)(struct format *f); /* NULL: the arena holds everything */
    /* Where reasoning is an element: what opens (closes) it, and with
     * `answer` what opens the answer behind it. NULL: think[] says all. */
    void (*think)(struct segments *out, bool close, bool answer);
};

struct format {
    const struct format_kind *kind;
    const char *name;           /* of format_names */
    struct arena arena;         /* owns every text below, and `data` */
    char *source;               /* owned */
    struct format_caps caps;
    int32_t stop_ids[FORMAT_STOPS_MAX];
    size_t n_stop_ids;
    struct text think[2];       /* open, close; n = 0 without a channel */
    int32_t think_id[2];        /* -1: not one token */
    struct text cut;            /* what ends reasoning and comes before an
                                 * answer; markup. n = 0: see kind->think */
    const struct tok *tok;      /* borrowed; NULL: no vocabulary */
    const struct dialect *dialect;
    const struct callform *callform; /* NULL: the dialect's usual one */
    bool strict_end;
    void *data;                 /* the kind's own */
};

/* An empty format with its arena; `source` is copied. Free with format_free,
 * also half-filled. */
struct format *format_new(const struct format_kind *kind, const char *name,
                          const char *source);
/* Is `marker` one token of the vocabulary, in markup mode? Its id or -1. */
int32_t format_marker_id(const struct tok *t, const char *marker);

/* --- the kinds: each makes a format, or says why it is none --------------- */

/* chat/xtml.c. ST_UNSUPPORTED naming the missing markers. tok NULL: all. */
enum st format_xtml(struct format **out, const struct tok *t, struct err *e)
    MUST_CHECK;
/* chat/dsml.c */
enum st format_dsml(struct format **out, const struct tok *t, struct err *e)
    MUST_CHECK;
/*
 * chat/chatjson.c: a chat.json text. Every marker in it must be one token of
 * `t`; native tool forms are found by their tokens (tok NULL: by the markers
 * the text itself uses; or by `tools` naming one: "kimi", "glm").
 *   source  for messages and the start line
 * Errors: ST_FORMAT naming the key, and what is accepted.
 */
enum st format_chatjson(struct format **out, const char *json, size_t n,
                        const char *source, const struct tok *t,
                        struct err *e) MUST_CHECK;
/* chat/jinja_format.c: a template text, and (NULL or) the variant that is
 * used when the request has tools. Variables bos_token etc. come from `t`. */
struct jinja_source {
    struct span text;
    struct span tools; /* n = 0: none */
    const char *source;
};
enum st format_jinja(struct format **out, const struct jinja_source *s,
                     const struct tok *t, struct err *e) MUST_CHECK;

/* --- shared by the kinds -------------------------------------------------- */

static inline void add_markup(struct segments *out, struct text t)
{
    segments_add(out, TOK_MARKUP, t.s, t.n);
}

static inline void add_text(struct segments *out, struct text t)
{
    segments_add(out, TOK_CONTENT, t.s, t.n);
}

#define TEXT(literal) ((struct text){(literal), sizeof(literal) - 1})

/* The first message that belongs to the current turn: whatever follows the
 * last user message. */
size_t format_current_turn(const struct chat_req *r);
/* A buffer's bytes copied into the segments' arena; sets out->failed. */
struct text format_keep(struct segments *out, const struct buf *b);

/*
 * chat/results.c: tool results in the order of the calls they answer
 * (spec waste.md 1.7): every maximal run of tool messages whose ids all match
 * calls of the latest assistant message is sorted by call position, and `tool`
 * (and name, when there is one) becomes the called function's; any other run
 * stays as sent. Idempotent; the caller's list is not touched.
 *   out  [r->n_messages] in `a`: copies of the messages
 * Errors: ST_LIMIT.
 */
enum st format_sort_results(const struct chat_msg **out,
                            const struct chat_req *r, struct arena *a,
                            struct err *e) MUST_CHECK;

#endif
