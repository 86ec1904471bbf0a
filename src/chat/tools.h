/*
 * chat/tools.h - what the schemas of a request's tools say about values.
 *
 * Models write argument values as text; a strict client wants them typed.
 * The rules are those of spec tandem.md 6.2: a parameter whose schema allows
 * a string, or about which it says nothing, stays text.
 * Threads: immutable after tools_new. It keeps copies: the request's JSON
 * may be freed.
 */
#ifndef CHAT_TOOLS_H
#define CHAT_TOOLS_H

#include "base/buf.h"
#include "chat/req.h"

enum tool_kind { /* a set of them; 0: untyped, the value stays text */
    KIND_INTEGER = 1, KIND_NUMBER = 2, KIND_BOOLEAN = 4, KIND_NULL = 8,
    KIND_OBJECT = 16, KIND_ARRAY = 32,
    /* alone, and only where calls were forced: whatever JSON says it is */
    KIND_JSON = 64,
    /* only of schema_kinds: a text is allowed */
    KIND_STRING = 128,
};

struct tools; /* opaque */

/* NULL when out of memory. n may be 0: no tool is known by any name. */
struct tools *tools_new(const struct chat_tool *list, size_t n) MUST_CHECK;
void tools_free(struct tools *t); /* NULL ok */
/*
 * The calls will be written under a constraint (api/callgram.h): a parameter
 * is a text as it is when tool_is_text says so, and JSON otherwise (spec
 * tandem.md 6.2, the last line). Arguments that are a JSON object are not
 * converted any more.
 */
void tools_forced(struct tools *t);
bool tools_are_forced(const struct tools *t); /* NULL-safe */

/* NULL-safe: no tools were offered. */
bool tools_has(const struct tools *t, const char *name, size_t n);
/* Kinds of one parameter: 0 for an unknown function or parameter too. */
unsigned tools_kinds(const struct tools *t, const char *name, size_t n,
                     const char *param, size_t param_n);

/* Kinds of values that a schema allows by type, enum, const, anyOf and oneOf;
 * KIND_NUMBER comes with KIND_INTEGER. */
unsigned schema_kinds(const struct json *schema);
/* Has it no part that is another schema for the same value? Then its strings
 * are those of its type, enum, const, pattern, format and lengths. */
bool schema_is_plain(const struct json *schema);
/* And nothing but strings? */
bool tool_is_text(const struct json *schema);

/*
 * Append the JSON value that the text s[0..n) stands for under `kinds`: the
 * converted value when it fits one of them (Python literals too, 150.0 is an
 * integer), else the text itself as a JSON string, unchanged. Numbers keep
 * all their digits. Linear in n.
 */
void tool_value(unsigned kinds, const char *s, size_t n, struct buf *out);
/*
 * Append a JSON object of arguments whose string members are typed by the
 * function's schema (tier-3 forms), spaced style; `args` is an object.
 */
void tool_args(const struct tools *t, const char *name, size_t n,
               const struct json *args, struct buf *out);

#endif
