/*
 * chat/callform.h - how a model writes calls, as data: for whoever has to make
 * it write some (api/callgram.h).
 *
 * An answer of calls is
 *     [lead] open NAME head ARGUMENTS (next NAME head ARGUMENTS)* close
 * and ARGUMENTS is one JSON object or, in forms that have `param`,
 *     (param KEY raw TEXT end | param KEY json JSON end)*
 * The texts are spelled. A marker of the dialect in them stands for its token
 * where the vocabulary has that (format_mark_id), and is text elsewhere.
 *
 * What a form allows is read back by its dialect as exactly these calls.
 * Forms of templates are found by rendering (chat/jinja_calls.c); the others,
 * and those of templates that do not show calls, are the dialect's.
 */
#ifndef CHAT_CALLFORM_H
#define CHAT_CALLFORM_H

#include "base/mem.h"

/* Bytes in the texts that stand for what differs from call to call. */
#define CALL_AT_ID "\1"    /* an id of 9 letters and digits */
#define CALL_AT_INDEX "\2" /* a number, 0 to 999 */
#define CALL_AT_TYPE "\3"  /* in `json`: string, number, boolean, null, object,
                         * array: the type of the value */

enum callname { /* how names (of functions and parameters) are written */
    CALLNAME_PLAIN, /* as they are, without blanks at their ends */
    CALLNAME_JSON,  /* as inside a JSON string */
    CALLNAME_ATTR,  /* & and " as &amp; and &quot; */
};

struct callform {
    const char *tell;  /* a template that mentions it means this form of its
                        * dialect; NULL: the usual one */
    const char *lead;  /* may be left out; "" */
    const char *open, *head, *close;
    const char *sure;  /* marker TEXT marker in `open`: what begins calls and
                        * nothing else; NULL: its first marker does, unless
                        * the dialect has channels */
    const char *next;  /* NULL: an answer has one call */
    enum callname name;
    const char *never; /* characters that no name can have */
    /* --- parameters one by one --- */
    const char *param; /* NULL: the arguments are a JSON object */
    const char *raw;   /* before a text that is written as it is */
    const char *json;  /* before a JSON value; the same as `raw` when the
                        * schema alone says which one it is (tool_is_text) */
    const char *end;
    const char *const *stops; /* what would end the text too early; ends with
                               * NULL. NULL: only markers do */
    bool trims;        /* blanks around the text are not part of it */
};

#endif
