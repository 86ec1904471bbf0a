/*
 * chat/dialect.h - how a model writes tool calls (and, in XTML, channels):
 * one parser interface over every form.
 *
 * A dialect is fed markers and text. Markers are the control tokens of the
 * form; whoever feeds it decides what is one: by token id where the
 * vocabulary has the token (then the same characters in ordinary tokens are
 * text), by spelling where it has not (chat/scan.h). Text comes in whole
 * characters, cut anywhere. Output is appended, never taken back. Malformed
 * input ends as text or as a dropped element, never as an error. Time is
 * linear in the input.
 *
 * Nothing here knows a model's name: a format says which dialect it uses.
 */
#ifndef CHAT_DIALECT_H
#define CHAT_DIALECT_H

#include "chat/callform.h"
#include "chat/calls.h"
#include "chat/tools.h"

#define DIALECT_MARKERS_MAX 24

struct dialect_out {
    struct buf *reasoning;
    struct buf *content;
    struct calls *calls;
    bool done;       /* the turn is over: nothing more is fed */
};

struct dialect_config {
    const struct tools *tools; /* NULL: none offered, or tool_choice none */
    bool think_open;           /* the prompt opened the reasoning channel
                                * (dialects with channels of their own) */
};

struct dialect {
    const char *name;           /* of penstock parse --format */
    const char *const *markers; /* spelled; ends with NULL */
    bool channels;              /* reads reasoning itself */
    bool native_ids;            /* calls carry ids that the model wrote */
    enum call_id_form id_form;
    const struct callform *forms; /* [n_forms] the usual one first */
    size_t n_forms;
    /* NULL when out of memory. */
    void *(*open)(const struct dialect_config *c);
    /* k indexes `markers`. */
    void (*marker)(void *state, int k, struct dialect_out *o);
    void (*text)(void *state, const char *p, size_t n, struct dialect_out *o);
    /* The reply is over. `ended`: by the end token, not by a limit, a stop
     * string or a cut. Releases what is held. */
    void (*end)(void *state, bool ended, struct dialect_out *o);
    void (*free)(void *state);
};

/* chat/xtml_reply.c    elements of reserved brackets, channels included */
extern const struct dialect dialect_xtml;
/* chat/kimi_reply.c    five section tokens, native ids */
extern const struct dialect dialect_kimi;
/* chat/glm_reply.c     <tool_call>NAME<arg_key>.. */
extern const struct dialect dialect_glm;
/* chat/dsml_reply.c    <|DSML| calls> */
extern const struct dialect dialect_dsml;
/* chat/tagcall.c       <tool_call>: <function=..> strict and lenient, JSON in
 *                      the tags, JSON as the whole answer */
extern const struct dialect dialect_qwen;
/* chat/jsoncall.c      JSON as the whole answer, after <|python_tag|> or bare
 *                      and <function=NAME>{..}</function> */
extern const struct dialect dialect_llama3;
/* chat/bracketcall.c   [TOOL_CALLS][{..}] and [TOOL_CALLS]NAME[ARGS]{..} */
extern const struct dialect dialect_mistral;
/* chat/sectioncall.c   five section tokens: kind, name and a fence with the
 *                      arguments, or name and arguments */
extern const struct dialect dialect_deepseek;

/* By name ("hermes" is another word for qwen: same parser); NULL. */
const struct dialect *dialect_find(const char *name);
/* The names that dialect_find accepts, in order; ends with NULL. */
const char *const *dialect_names(void);

#endif
