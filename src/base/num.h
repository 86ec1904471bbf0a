/*
 * base/num.h - numbers from text: whole string, in range, no locale.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "base/err.h"

/* True and *out set when s[0..n) is exactly one number in [min, max]. */
bool num_parse_i64(const char *s, size_t n, int64_t min, int64_t max,
                   int64_t *out) MUST_CHECK;
bool num_parse_u64(const char *s, size_t n, uint64_t max, uint64_t *out)
    MUST_CHECK;
/* "0-3,8": numbers and ranges from 0 to max in the order written, at most
 * `room` of them, into out[*n]. */
bool num_parse_list(const char *s, int max, int *out, int room, int *n)
    MUST_CHECK;
/* Decimal with optional fraction and exponent; finite results only. */
bool num_parse_double(const char *s, size_t n, double *out) MUST_CHECK;

#endif
