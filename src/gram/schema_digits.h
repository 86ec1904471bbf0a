/*
 * gram/schema_digits.h - arithmetic on the digits of a number, as automata.
 *
 * They read DIGITS or DIGITS.DIGITS without a sign. They say nothing of the
 * syntax (zeros in front, a point at the end): use them in gx_both with what
 * does.
 */
#ifndef GRAM_SCHEMA_DIGITS_H
#define GRAM_SCHEMA_DIGITS_H

#include "gram/decimal.h"
#include "gram/expr.h"

#define DIGITS_BOUND_MAX DECIMAL_PLAIN_MAX
#define DIGITS_FACTOR_MAX 5000u /* remainders that are told apart */

enum digits_order { DIGITS_LESS = 1, DIGITS_EQUAL = 2, DIGITS_MORE = 4 };

/* Numbers that are less, equal, more (a sum of these) than the size of d, its
 * sign left aside. d is not decimal_long. */
const struct gx *digits_compare(struct gxs *w, const struct decimal *d,
                                unsigned order);
/*
 * Multiples of factor * 10^zeros, without a point, when frac is 0; else of
 * factor / 10^frac with at most frac digits behind the point. 0 is one.
 *   factor  1..DIGITS_FACTOR_MAX
 */
const struct gx *digits_multiple(struct gxs *w, uint32_t factor,
                                 uint32_t zeros, uint32_t frac);

#endif
