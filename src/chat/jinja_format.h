/*
 * chat/jinja_format.h - a format that is a Jinja template (internal to
 * chat/jinja_format.c, jinja_vars.c and jinja_probe.c).
 *
 * Source: the variables that transformers' apply_chat_template passes
 * (4.5x, utils/chat_template_utils.py); what a template can do beyond that is
 * found out at load by rendering tiny conversations, never by a name.
 */
#ifndef CHAT_JINJA_FORMAT_H
#define CHAT_JINJA_FORMAT_H

#include "chat/format_int.h"
#include "chat/jinja.h"

struct jinja_data {
    struct jinja *plain;
    struct jinja *tools;    /* used when the request has tools; may be NULL */
    const struct tok *tok;  /* borrowed; NULL: no vocabulary */
    struct text bos, eos;   /* n = 0: the vocabulary has none */
    const char *think_key;  /* member of a message that takes reasoning */
    bool parts;             /* a user's content may be a list of parts */
    bool parts_only;        /* content must be a list of parts */
    bool empty_text;        /* content beside calls: "" instead of none */
    bool args_text;         /* arguments: JSON text instead of a dict */
    bool history;           /* shows calls and results */
    const char *efforts[7]; /* of caps.efforts; ends with NULL */
};

/* One rendering. */
struct jinja_ask {
    const struct chat_req *r;
    const struct chat_msg *msgs; /* [n] instead of the request's */
    size_t n;
    struct arena *arena;         /* of the rendering */
    uint64_t max_steps;
    size_t max_out;
    /* --- results --- */
    struct jv out;
    bool raised;
};

/* chat/jinja_vars.c: fill the variables and render. Errors: jinja_render's,
 * ST_LIMIT. */
enum st jinja_write(const struct jinja_data *d, struct jinja_ask *a,
                    struct err *e) MUST_CHECK;

/* chat/jinja_probe.c: what the template can do, into f->caps, f->data, the
 * reasoning channel, the dialect and the stop ids. ST_UNSUPPORTED when it
 * cannot write a user's message. */
enum st jinja_probe(struct format *f, struct err *e) MUST_CHECK;

/* chat/jinja_calls.c: the form of the dialect's calls that the template
 * writes. `r` offers one tool. Never NULL. */
const struct callform *jinja_callform(struct format *f,
                                      const struct chat_req *r);

/* chat/jinja_format.c: does the prompt end in an open reasoning channel? */
bool jinja_think_open(const struct format *f, const struct jv *out);
/* The bytes of a request, about: what limits are made of. */
size_t jinja_req_bytes(const struct chat_req *r);

#endif
