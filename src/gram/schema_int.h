/*
 * gram/schema_int.h - between the files that read JSON Schema.
 *
 * schema.c follows references and combinations until one place of a document
 * is a list of ways, each a `conj`: schema objects that all hold at once. What
 * a conj asks of one type of value is the business of one file each; keywords
 * of other types say nothing there.
 */
#ifndef GRAM_SCHEMA_INT_H
#define GRAM_SCHEMA_INT_H

#include "base/buf.h"
#include "gram/schema.h"

struct conj {
    const struct json *const *of; /* [n] schema objects, in document order; no
                                   * booleans, references resolved, without
                                   * anyOf, oneOf, allOf, $ref of their own */
    size_t n;
};

struct schema_read; /* schema.c: the workshop, the root, memo of rules */

struct gxs *schema_workshop(struct schema_read *s);
/* "KEYWORD at #/path/of/node: " before a message of its own; the path is
 * clipped. Returns st. */
enum st schema_refuse(struct schema_read *s, enum st st,
                      const struct json *node, const char *keyword,
                      struct err *e, const char *fmt, ...) PRINTF(6, 7);
/* The call of a rule for all values that conj allows, through the memo. An
 * empty conj: any value. */
enum st schema_value(struct schema_read *s, const struct conj *c, bool counts,
                     const struct gx **out, struct err *e) MUST_CHECK;

/*
 * What many places of the schemas of one workshop share, made when first
 * needed. schema.c keeps it.
 */
#define SCHEMA_FORMATS 24
struct schema_shared {
    int string;                 /* rule of any string; -1: not yet */
    int format[SCHEMA_FORMATS]; /* of strings of one format */
    const struct gx *text[SCHEMA_FORMATS]; /* texts of one format */
};
void schema_shared_init(struct schema_shared *h); /* schema_string.c */
struct schema_shared *schema_shared(struct schema_read *s);

/* --- one file per type; *out is an expression, perhaps a call ------------ */

/* schema_string.c: minLength, maxLength, pattern, format. */
enum st schema_string(struct schema_read *s, const struct conj *c,
                      const struct gx **out, struct err *e) MUST_CHECK;
/* Any string, with its quotes; any number. Free of a schema_read, for
 * schema_any. */
const struct gx *schema_free_string(struct gxs *w);
const struct gx *schema_free_number(struct gxs *w);
/* What a keyword of `node` counts (minLength, maxItems, ...): 2 and 2.0, cut
 * to GX_MANY; `absent` when it is not there. */
uint32_t schema_count(const struct json *node, const char *keyword,
                      uint32_t absent);
/* The text that a format allows, written in GX_JSON, without quotes.
 * schema_format.c. *out NULL: a word that is no format of JSON Schema and
 * restricts nothing. */
enum st schema_format(struct schema_read *s, const struct json *node,
                      const struct gx **out, struct err *e) MUST_CHECK;
/* Its number in the table, -1 when it is not one that schema_format reads;
 * *longest: characters that it allows at most, GX_MANY when any. */
int schema_format_find(struct text name, uint32_t *longest);
/* schema_number.c: minimum, maximum, exclusive*, multipleOf. `integers`: only
 * whole numbers. With bounds: without exponent, and 0 without a sign. */
enum st schema_number(struct schema_read *s, const struct conj *c,
                      bool integers, const struct gx **out, struct err *e)
    MUST_CHECK;
/* schema_literal.c: one JSON value as it is written: gx_space where JSON has
 * white space, strings in GX_JSON, whole numbers without fraction (1.0 and 1e2
 * as 1, 100), others with all their digits. */
enum st schema_literal(struct schema_read *s, const struct json *value,
                       const struct gx **out, struct err *e) MUST_CHECK;
/* The same without expression: the one text that tests and filters compare,
 * without white space; properties as they are. */
void schema_literal_text(const struct json *value, struct buf *out);
/* schema_object.c, schema_array.c */
enum st schema_object(struct schema_read *s, const struct conj *c,
                      const struct gx **out, struct err *e) MUST_CHECK;
enum st schema_array(struct schema_read *s, const struct conj *c,
                     const struct gx **out, struct err *e) MUST_CHECK;

/*
 * schema_words.c: every keyword of draft 2020-12 (and those of older drafts
 * that clients still send) by what it does. One table; the words that are not
 * in it restrict nothing.
 */
enum word_kind {
    WORD_UNKNOWN,
    WORD_SAYS,    /* says something, restricts nothing: title, default, ... */
    WORD_READ,    /* supported */
    WORD_REFUSED, /* restricts, and is not supported */
};
enum word_kind schema_word(struct text keyword);
/* Where a keyword holds schemas: as its value (some may be a list of them
 * instead), or in an object by name. */
enum schema_place { PLACE_NONE, PLACE_ONE, PLACE_MAP };
enum schema_place schema_place(struct text keyword);

#endif
