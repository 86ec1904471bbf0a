/*
 * api/compat.h - the request-field tables: what each field of a body means
 * here.
 *
 * They are data: the body parsers check requests with them, `penstock compat`
 * prints them, and a test pins them, so what is documented is what happens.
 *
 *   honoured   does what the reference of its API says
 *   extension  not of that API, and does what the row says
 *   neutral    accepted; by its own definition it does not change an answer
 *   refused    400 naming the field, unless its value asks for nothing
 *
 * A field that is not in the table passes, at the top and within a field.
 * null always means absent.
 * Sources: settled.md, then spec tandem.md section 4; for responses and
 * messages the types that the official npm packages declare.
 */
#ifndef API_COMPAT_H
#define API_COMPAT_H

#include "base/buf.h"
#include "json/read.h"

enum compat_wire {
    WIRE_CHAT, WIRE_COMPLETION, /* share a table */
    WIRE_RESPONSES,
    WIRE_MESSAGES, /* and count_tokens */
    WIRE_COUNT,
};

enum compat_use {
    USE_NONE, /* not a field of this body: passes like an unknown one */
    USE_HONOURED,
    USE_EXTENSION,
    USE_NEUTRAL,
    USE_REFUSED,
};

/* What a value may be; 0: a rule of its own in body*.c, `accepts` says it. */
enum compat_type {
    TYPE_BOOL = 1,
    TYPE_INT = 2,  /* a whole number; 5.0 and 1e2 are whole */
    TYPE_NUM = 4,
    TYPE_STR = 8,
    TYPE_WORD = 16, /* a string of `words`, in any case */
    TYPE_OBJ = 32,
};

/* Values of a refused field that ask for nothing, and so are accepted. */
enum compat_harmless {
    OK_FALSE = 1,
    OK_EMPTY = 2,      /* "", [] and {} */
    OK_AUTO = 4,     /* "none" and "auto" */
    OK_TEXT_LIST = 8, /* ["text"] */
};

struct compat_field {
    const char *name;          /* "a.b": member b of the object a; the row of
                                * a is before it */
    enum compat_use use[WIRE_COUNT];
    unsigned types;            /* honoured, extension: enum compat_type */
    double min, max;           /* TYPE_INT, TYPE_NUM; max HUGE_VAL: none */
    bool above;                /* min itself is not accepted */
    const char *const *words;  /* TYPE_WORD; ends with NULL */
    unsigned harmless;         /* refused: enum compat_harmless */
    const char *accepts;       /* in words, when types do not say all, and
                                * refused with a hint */
    const char *dflt;          /* what absence means; NULL: nothing */
};

/*
 * The rows of a body's table in order, the order in which it is checked. A
 * field whose rule differs between two bodies of one table has a row for each.
 */
const struct compat_field *compat_fields(enum compat_wire wire, size_t *n);
/* compat_fields.c, compat_responses.c, compat_messages.c */
extern const struct compat_table {
    const struct compat_field *f; /* [n] */
    size_t n;
} compat_openai, compat_responses, compat_messages;

/* Is it a top-level field with a row in this body's table? */
bool compat_known(enum compat_wire wire, struct text field);

/* The value at a row's name, dots followed; NULL: absent or null. */
const struct json *compat_get(const struct json *body, const char *name);
/* TYPE_INT: is it whole, and within int64? 5.0 is; 1.5 and 1e30 are not. */
bool compat_whole(const struct json *v, int64_t *out);
/* The entry of `words` that a string is, in any case; NULL: none. */
const char *compat_word(const char *const *words, const struct json *v);
extern const char *const compat_efforts[]; /* every word of reasoning_effort */

/* "a number from 0 to 2": appended to `out`. */
void compat_accepts(const struct compat_field *f, struct buf *out);
const char *compat_use_name(enum compat_use u);

/*
 * Check every field of a body that the table can decide by itself.
 * Errors: ST_INVALID, `where` = the row's name.
 */
enum st compat_check(enum compat_wire wire, const struct json *body,
                     struct err *e) MUST_CHECK;

#endif
