/*
 * gram/regex.h - a regular expression as people write it.
 *
 * Literals; . (any but newline); classes with ranges, negation and escapes;
 * ( ), (?: ), (?i: ), (?i) at the very beginning, |; * + ? {m} {m,} {m,n};
 * ^ and $ (the ends of the text); escapes \d \w \s \D \W \S (\d \w ASCII, \s
 * white space of ECMAScript), \n \t \r \f \v \0 \xHH \uXXXX \u{X..}, \p{..}
 * \P{..} (general categories), and escaped punctuation.
 * Refused by name, with the offset: lazy and possessive quantifiers, look
 * around, named groups, back references, \b, unknown escapes and classes,
 * n < m, counts over REGEX_COUNT_MAX, nesting over REGEX_DEPTH_MAX.
 * Source of the subset: spec tandem.md section 7.
 */
#ifndef GRAM_REGEX_H
#define GRAM_REGEX_H

#include "gram/expr.h"

#define REGEX_COUNT_MAX 1000
#define REGEX_DEPTH_MAX 400

enum regex_mode {
    REGEX_WHOLE,  /* the whole text matches (anchors say nothing new) */
    REGEX_SEARCH, /* some part of it does: the pattern of JSON Schema */
};

/*
 * The texts that match, written in `form`. Regular: it may be used in
 * gx_both and the like.
 * Errors: ST_INVALID "" naming the part and its offset, without quoting more
 * than an operator of ours; ST_LIMIT naming the limit.
 */
enum st regex_parse(const struct gx **out, struct gxs *w, struct text pattern,
                    enum regex_mode mode, enum gx_form form, struct err *e)
    MUST_CHECK;

#endif
