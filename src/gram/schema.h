/*
 * gram/schema.h - JSON Schema (draft 2020-12) as rules.
 *
 * What is supported, how it is written and what is refused is in
 * docs/structured-outputs.md; tests follow that page. In short: properties come
 * in the order in which they are declared, other keys behind them; a keyword
 * that restricts values and is not supported is refused by name and path, never
 * ignored; keywords that restrict nothing, and words that are not of JSON
 * Schema, are passed over. Recursion is a rule that calls itself.
 */
#ifndef GRAM_SCHEMA_H
#define GRAM_SCHEMA_H

#include "gram/expr.h"
#include "json/read.h"

#define SCHEMA_WAYS_MAX 256   /* alternatives of one place, combined */
#define SCHEMA_DEPTH_MAX 90   /* references and levels followed at once */
#define SCHEMA_PATTERNS_MAX 6 /* patternProperties of one object */

/*
 * A rule for every value that `schema` (an object or a boolean) allows, with
 * no white space around it. References are looked up in `root`. Both are
 * borrowed until gram_compile is over.
 *   *rule  for gx_call
 * Errors: ST_INVALID or ST_UNSUPPORTED, where "", the text naming keyword and
 * path ("uniqueItems at #/properties/a: ..."); ST_LIMIT.
 */
enum st schema_rule(int *rule, struct gxs *w, const struct json *root,
                    const struct json *schema, struct err *e) MUST_CHECK;
/* Any JSON value; any JSON object. */
int schema_any(struct gxs *w);
int schema_any_object(struct gxs *w);

/*
 * The texts that a format allows, as they are (GX_RAW), and how many characters
 * they have at most. *out NULL: the word restricts nothing.
 * Errors: ST_UNSUPPORTED "" for one that cannot be checked.
 */
enum st schema_raw_format(const struct gx **out, uint32_t *longest,
                          struct gxs *w, struct text name, struct err *e)
    MUST_CHECK;

/*
 * OpenAI's structural rules for strict schemas: every object schema has
 * additionalProperties false and lists all its properties in required.
 *   what  "response_format 'NAME'" or "function 'NAME'"
 * ST_INVALID, where "", with OpenAI's message: "Invalid schema for WHAT: In
 * context=('properties', 'shade'), 'additionalProperties' is required to be
 * supplied and to be false."
 */
enum st schema_strict(const struct json *schema, const char *what,
                      struct err *e) MUST_CHECK;

#endif
