/*
 * chat/argwrite.h - the arguments of a call as a JSON object that only grows:
 * {"key": "text so far", ... as the model writes them.
 *
 * Spaced separators, keys in the order written. The same key twice: the first
 * value stays, since what was sent cannot be taken back (a reader that waits
 * for the end would take the last).
 */
#ifndef CHAT_ARGWRITE_H
#define CHAT_ARGWRITE_H

#include "base/buf.h"

struct argwrite {
    struct buf *out;     /* borrowed; NULL: everything is dropped */
    size_t n;            /* members */
    bool in_string;      /* a text value is open */
    struct text *keys;   /* [cap] owned table of keys seen; n = 0, s = NULL:
                          * free */
    size_t cap, used;
};

/* Begin an object in `out`; nothing is written yet. */
void argwrite_begin(struct argwrite *w, struct buf *out);
void argwrite_release(struct argwrite *w);
/* `"key": `, after whatever is needed before it. False: the key was there (or
 * memory is out, then `out` failed), and its value must not be written. */
bool argwrite_key(struct argwrite *w, const char *key, size_t n) MUST_CHECK;
/* A text value, in pieces of whole characters. */
void argwrite_text_begin(struct argwrite *w);
void argwrite_text(struct argwrite *w, const char *p, size_t n);
/* Another value: JSON text. */
void argwrite_value(struct argwrite *w, const char *json, size_t n);
/* A value from its text: spaced JSON when the trimmed text is JSON, else the
 * text itself as a string. Linear in n. */
void argwrite_guess(struct argwrite *w, const char *p, size_t n);
/* Close an open text value. */
void argwrite_text_end(struct argwrite *w);
/* Close the object: {} when it has no members. Then `out` is NULL. */
void argwrite_end(struct argwrite *w);

#endif
