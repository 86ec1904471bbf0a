/*
 * json/read.h - JSON text to an immutable tree in an arena (yajl inside).
 *
 * Rules (docs/decisions, settled choices): bytes must be valid UTF-8; lone
 * \u surrogates are refused; NUL in strings is data; the last of duplicate
 * keys wins, at the place of the first; nesting deeper than JSON_DEPTH_MAX is
 * refused before recursion can hurt; numbers keep their text. Nothing here
 * recurses on input. A byte order mark is refused (RFC 8259 section 8.1).
 * Nothing after validation in src/api sees JSON (schemas excepted).
 */
#ifndef JSON_READ_H
#define JSON_READ_H

#include "base/mem.h"

#define JSON_DEPTH_MAX 96         /* 64 levels inside an unknown field fit */
#define JSON_NODES_MAX 2000000
#define JSON_NUMBER_MAX 399       /* characters of one number */

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUM, JSON_STR, JSON_ARR, JSON_OBJ };

struct json {
    enum json_type type;
    bool boolean;        /* JSON_BOOL */
    bool is_int;         /* JSON_NUM: written without . e E and fits int64 */
    int64_t i;           /* valid when is_int */
    double d;            /* JSON_NUM; +-HUGE_VAL when out of range (1e400) */
    struct text str;     /* JSON_STR: decoded bytes; JSON_NUM: as written */
    struct text key;     /* member name when the parent is an object */
    size_t n;            /* JSON_ARR, JSON_OBJ: number of children */
    struct json *child;  /* first child, in source order */
    struct json *next;   /* next sibling */
};

/*
 * Parse s[0..n), which must hold exactly one value.
 *   out  the tree; it and all its bytes live in `a` (s may be freed)
 * Errors: ST_INVALID (where = "" and a message with the byte offset),
 * ST_LIMIT for depth, nodes or arena. Messages never quote input. Beside the
 * arena it needs about the bytes of the longest escaped string, twice.
 */
enum st json_parse(const struct json **out, struct arena *a, const char *s,
                   size_t n, struct err *e) MUST_CHECK;

/* Member of an object; NULL when absent, or when `o` is not an object. */
const struct json *json_get(const struct json *o, const char *key);
/* Is it a string equal to `literal`? NULL-safe. */
bool json_is(const struct json *v, const char *literal);
/* "an object", "a string", ...: for messages. */
const char *json_type_name(const struct json *v);

#endif
