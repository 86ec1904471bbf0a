/*
 * chat/format.h - how one model wants a conversation written.
 *
 * One interface over every prompt format: segment lists (XTML, DSML,
 * chat.json with its native tool forms) and Jinja templates. Nothing
 * compares a model's name: a format comes from an explicit flag or file, or
 * is recognised by the vocabulary's tokens and the model file's template.
 * Threads: immutable after load.
 */
#ifndef CHAT_FORMAT_H
#define CHAT_FORMAT_H

#include "base/vec.h"
#include "chat/dialect.h"
#include "chat/req.h"
#include "chat/segment.h"

struct gguf;

struct format; /* opaque */

enum late_system { LATE_SYSTEM_NO, LATE_SYSTEM_TOOLS, LATE_SYSTEM_YES };

/* What a format can say; read by validation, by replies, by people. */
struct format_caps {
    bool system;        /* has a system turn */
    enum late_system late_system; /* after the conversation began: never, only
                                   * one that brings tools, or any */
    bool think;         /* has a reasoning channel */
    bool think_forced;  /* always opens it: THINK_OFF is refused */
    bool tools;         /* declares tools, renders calls and results */
    bool images;        /* has a place for an image part */
    const char *const *efforts; /* words it renders, ends with NULL; NULL:
                                 * efforts are not its business */
    int32_t effort_max; /* numbers 1..effort_max are efforts too; 0: none */
    bool forms;         /* writes response_format into the prompt */
    bool tool_choice;   /* writes required into the prompt */
};

/* Where a format may come from; every member may be NULL. */
struct format_from {
    const char *name;       /* NULL or "auto"; else a name of format_names:
                             * only that one, or its reason why not */
    const char *path;       /* an explicit chat.json, or a Jinja template
                             * (with name "jinja", or ending in .jinja) */
    const char *model_path; /* chat.json lies beside it */
    const struct gguf *gguf;/* has tokenizer.chat_template */
    const struct tok *tok;  /* outlives the format. NULL: nothing is checked,
                             * all ids are -1, and a name or a path is
                             * needed */
};

/*
 * Find the format: explicit name or path; XTML when its markers are single
 * tokens; DSML; a chat.json beside the model; the template of the GGUF file;
 * last the built-in chat.json data, by special tokens.
 * Errors: ST_UNSUPPORTED with each reason, when there is none; ST_FORMAT for
 * a file that was asked for or found, and is broken.
 */
enum st format_find(struct format **out, const struct format_from *from,
                    struct err *e) MUST_CHECK;
/* The names that format_from.name accepts; ends with NULL. */
const char *const *format_names(void);
void format_free(struct format *f);

const struct format_caps *format_caps(const struct format *f);
const char *format_name(const struct format *f);   /* of format_names */
const char *format_source(const struct format *f); /* file or "built-in ..."*/
/* "reasoning channel, tools, no images, ...": for the start line. */
void format_describe(const struct format *f, struct buf *out);

/*
 * The prompt of a request, up to and including the opening of the
 * assistant's turn. Texts it makes live in out->arena.
 *   think_open  set when the prompt already opened the reasoning channel
 * Everything the format cannot express is ST_INVALID with the field
 * (messages[i].role, tools, reasoning_effort, ...). ST_LIMIT.
 */
enum st format_render(const struct format *f, const struct chat_req *r,
                      struct segments *out, bool *think_open, struct err *e)
    MUST_CHECK;

/* Ids that end the model's turn (the format's stop marker). [*n] */
const int32_t *format_stop_ids(const struct format *f, size_t *n);
/* What opens and closes reasoning: spelling ("" without a channel, or when
 * the dialect reads channels itself) and id (-1: not one token). */
struct text format_think_text(const struct format *f, bool close);
int32_t format_think_open_id(const struct format *f);
int32_t format_think_close_id(const struct format *f);
/*
 * The ids that open (close) the reasoning, in a row: one marker token, or an
 * element of the form. None when the vocabulary spells it only in ordinary
 * tokens (then see format_think_text), or without a channel. `out` is
 * emptied first; THINK_IDS_MAX at most.
 */
#define THINK_IDS_MAX 16
void format_think_ids(const struct format *f, bool close, struct ids *out);
/*
 * What must be written inside an open reasoning to end it at once: `sentence`
 * (of the server; as text, as it is), the close, and what stands before an
 * answer, blank lines included. Without a sentence: only what is structure,
 * so that a reply reads what follows as the answer from its first character.
 * Appended to `out`. ST_UNSUPPORTED without a channel (efforts alone are
 * none), ST_NOMEM, also when `out` is full.
 */
enum st format_think_cut(const struct format *f, struct text sentence,
                         struct ids *out, struct err *e) MUST_CHECK;
/* How the model writes calls; NULL: it cannot, replies are plain. */
const struct dialect *format_dialect(const struct format *f);
/* The same as data, in the model's own form; NULL when it cannot. */
const struct callform *format_callform(const struct format *f);
/* The token of the dialect's marker k; -1: it is spelled, or there is no such
 * marker. */
int32_t format_mark_id(const struct format *f, int k);
/* Does any control token that the dialect does not own end the turn? */
bool format_strict_end(const struct format *f);

#endif
