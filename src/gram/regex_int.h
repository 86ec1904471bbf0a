/*
 * gram/regex_int.h - between the files that read a regular expression.
 *
 * regex.c reads structure, regex_class.c what stands for one character.
 */
#ifndef GRAM_REGEX_INT_H
#define GRAM_REGEX_INT_H

#include "base/buf.h"
#include "gram/regex.h"

#define REGEX_SETS 7 /* . \d \D \w \W \s \S */

struct regex {
    struct gxs *w;
    const char *s; /* [n] the pattern, borrowed */
    size_t n, at;  /* at: the next byte */
    enum gx_form form;
    bool fold;     /* upper and lower case are the same here */
    unsigned depth;
    const struct gx **parts; /* [n_parts] owned: read, and not yet put together;
                              * those of an outer group first */
    size_t n_parts, cap_parts;
    struct buf run; /* literals in a row, UTF-8 */
    const struct gx *sets[2][REGEX_SETS]; /* made so far, by fold */
    struct err *e;
};

/* ST_INVALID with the words and " at offset OFFSET". */
enum st regex_refuse(struct regex *r, size_t offset, const char *fmt, ...)
    PRINTF(3, 4) MUST_CHECK;
/* Count steps of work; ST_LIMIT when the budget is gone. */
enum st regex_work(struct regex *r, uint64_t steps) MUST_CHECK;
static inline bool regex_at(const struct regex *r, char c)
{
    return r->at < r->n && r->s[r->at] == c;
}

/* The next character as it stands, which must be there. */
enum st regex_char(struct regex *r, uint32_t *cp) MUST_CHECK;
/*
 * An escape outside of a class; `at` is on its backslash.
 *   *x  what it stands for when that is a set, else NULL and *cp
 */
enum st regex_escape(struct regex *r, uint32_t *cp, const struct gx **x)
    MUST_CHECK;
/* A class; `at` is on its bracket. */
enum st regex_class(struct regex *r, const struct gx **x) MUST_CHECK;
/* Any character but a line feed. */
const struct gx *regex_dot(struct regex *r);
/* One character, in either case if so asked. */
const struct gx *regex_one(struct regex *r, uint32_t cp);

#endif
