/*
 * api/compat.h - the request-field table: what each field of OpenAI's two
 * bodies means here.
 *
 * The table is data: body.c checks requests with it, `penstock compat` prints
 * it, and a test pins it, so what is documented is what happens.
 *
 *   honoured   does what OpenAI's reference says
 *   extension  not OpenAI's, and does what the row says
 *   neutral    accepted; by its own definition it does not change an answer
 *   refused    400 naming the field, unless its value asks for nothing
 *
 * A field that is not in the table passes. null always means absent.
 * Sources: settled.md, then spec tandem.md section 4.
 */
#ifndef API_COMPAT_H
#define API_COMPAT_H

#include "base/buf.h"
#include "json/read.h"

enum compat_wire { WIRE_CHAT, WIRE_COMPLETION, WIRE_COUNT };

enum compat_use {
    USE_NONE, /* not a field of this body: passes like an unknown one */
    USE_HONOURED,
    USE_EXTENSION,
    USE_NEUTRAL,
    USE_REFUSED,
};

enum compat_type {
    TYPE_OWN, /* a rule of its own in body.c; `accepts` says it */
    TYPE_BOOL,
    TYPE_INT,
    TYPE_NUM,
    TYPE_STR,
};

/* Values of a refused field that ask for nothing, and so are accepted. */
enum compat_harmless {
    OK_FALSE = 1,
    OK_ZERO = 2,
    OK_ONE = 4,
    OK_EMPTY = 8,      /* "", [] and {} */
    OK_AUTO = 16,      /* "none" and "auto" */
    OK_TEXT_LIST = 32, /* ["text"] */
};

struct compat_field {
    const char *name;
    enum compat_use use[WIRE_COUNT];
    enum compat_type type; /* honoured and extension */
    double min, max;       /* TYPE_INT, TYPE_NUM; max HUGE_VAL: none */
    bool above;            /* min itself is not accepted */
    unsigned harmless;     /* refused: enum compat_harmless */
    const char *accepts;   /* in words, TYPE_OWN and refused with a hint */
    const char *dflt;      /* what absence means; NULL: nothing */
};

/* The rows in order, the order in which a body is checked. */
const struct compat_field *compat_fields(size_t *n);
const struct compat_field *compat_find(const char *name);

/* "a number from 0 to 2": appended to `out`. */
void compat_accepts(const struct compat_field *f, struct buf *out);
const char *compat_use_name(enum compat_use u);

/*
 * Check every top-level field of a body that the table can decide by itself.
 * Errors: ST_INVALID, `where` = the field.
 */
enum st compat_check(enum compat_wire wire, const struct json *body,
                     struct err *e) MUST_CHECK;

#endif
