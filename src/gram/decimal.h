/*
 * gram/decimal.h - the exact value of a number as JSON writes it.
 *
 * No rounding anywhere: bounds and remainders are looked at digit by digit.
 */
#ifndef GRAM_DECIMAL_H
#define GRAM_DECIMAL_H

#include "base/buf.h"
#include "json/read.h"

#define DECIMAL_PLAIN_MAX 400 /* digits written out before an exponent is */

struct decimal {
    bool neg;                     /* never with zero */
    char digits[JSON_NUMBER_MAX]; /* [n] '0'-'9', the first and the last not
                                   * zero */
    size_t n;                     /* 0: the number is zero */
    int64_t point;                /* value = 0.DIGITS * 10^point */
};

/* `number` follows the grammar of JSON. Exponents beyond 10^12 are cut. */
void decimal_read(struct decimal *d, struct text number);
/* It has no fraction. */
bool decimal_whole(const struct decimal *d);
/* More digits than DECIMAL_PLAIN_MAX would be needed without an exponent. */
bool decimal_long(const struct decimal *d);
/* Digits of that text. Not of a long one. */
uint32_t decimal_digits(const struct decimal *d);
/* The one text of that value: without exponent unless it is long, no zeros
 * around it, no sign before 0. */
void decimal_write(const struct decimal *d, struct buf *out);

#endif
