/*
 * chat/jsontext.h - JSON trees and strings to the exact bytes that chat
 * formats were trained on (separators, key order, escapes differ).
 *
 * Numbers keep their text when it has no exponent; -0 is 0; with an exponent
 * they are printed as Python's json does (1e3 -> 1000.0): shortest digits
 * that read back equal. Integers keep all their digits; what is out of the
 * range of a double (1e400) stays as written.
 */
#ifndef CHAT_JSONTEXT_H
#define CHAT_JSONTEXT_H

#include "base/buf.h"
#include "json/read.h"

enum json_style {
    JT_COMPACT = 0, /* {"a":1,"b":[2,3]} */
    JT_SPACED = 1,  /* {"a": 1, "b": [2, 3]} */
    JT_SORTED = 2,  /* keys of every object in code point order */
    JT_ASCII = 4,   /* \uXXXX for everything above U+007E */
};

/* Append `v`. Depth is bounded by JSON_DEPTH_MAX of the reader. */
void jsontext(struct buf *out, const struct json *v, unsigned style);
/* Append s[0..n) as the inside of a JSON string, without the quotes. Any cut
 * of s between characters gives the same bytes. */
void jsontext_escape(struct buf *out, const char *s, size_t n,
                     unsigned style);
/* The same with quotes. */
void jsontext_string(struct buf *out, const char *s, size_t n,
                     unsigned style);
/* A double as Python's repr and json write it: 1000.0, 1e+16, 0.1. */
void jsontext_double(struct buf *out, double v);

#endif
