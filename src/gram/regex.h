/*
 * gram/regex.h - a regular expression as people write it.
 *
 * Characters are code points of Unicode, never bytes. Literals; . (any but
 * line feed); classes with ranges, negation and escapes; ( ), (?: ), (?i: ),
 * (?i) at the very beginning, |; * + ? {m} {m,} {m,n}; ^ and $, wherever they
 * stand (the ends of the text, never of a line); escapes \d \w \s \D \W \S
 * (\d \w ASCII, \s white space of ECMAScript), \n \t \r \f \v \0 \xHH \uXXXX
 * (pairs of surrogates are one character) \u{X..}, in classes \b (backspace),
 * \p{..} \P{..} (general categories, Any, ASCII, Assigned, White_Space), and
 * escaped punctuation.
 *
 * Where dialects differ: a } or ] that closes nothing is a literal, and so is
 * a hyphen at the end of a class or beside a set ([\w-.]), as browsers take
 * them; a { that begins no count is refused, because {,3} means different
 * things to different people. Without upper and lower case, sets are folded
 * (simple case folding) before they are negated; \P{..} after, as ECMAScript
 * does with the flags iu.
 *
 * Refused by name, with the offset in bytes: lazy and possessive quantifiers,
 * look around, named and atomic groups, other flags, back references, \b,
 * unknown escapes and classes, empty classes, [: :], quantifiers with nothing
 * before them or behind another one or an anchor, n < m, counts over
 * REGEX_COUNT_MAX, nesting over REGEX_DEPTH_MAX.
 * Source of the subset: spec tandem.md section 7; the rest ECMAScript.
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
 * than an operator of ours; ST_LIMIT naming the limit. What is too large only
 * when it is written out ((a{1000}){1000}) gram_compile refuses.
 */
enum st regex_parse(const struct gx **out, struct gxs *w, struct text pattern,
                    enum regex_mode mode, enum gx_form form, struct err *e)
    MUST_CHECK;

#endif
