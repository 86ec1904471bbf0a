/*
 * base/utf8.h - UTF-8 as in RFC 3629: no overlong forms, no surrogates,
 * nothing above U+10FFFF.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/err.h"

/*
 * Decode the character at s[0..n).
 * Returns its length in bytes (1-4) and writes *cp; 0 when n is 0 or the
 * bytes are invalid or cut off.
 */
size_t utf8_decode(const char *s, size_t n, uint32_t *cp);

/* Write cp (a valid scalar value) to out[4]; returns the length. */
size_t utf8_encode(uint32_t cp, char out[4]);

/* Is all of s[0..n) valid? *bad (may be NULL) = offset of the first fault. */
bool utf8_valid(const char *s, size_t n, size_t *bad);

/*
 * Length of the longest head of s[0..n) that does not end inside a
 * character: n, or less by 1 to 3 when the tail is the valid start of a
 * longer character. Invalid bytes do not count as a start.
 */
size_t utf8_complete_len(const char *s, size_t n);

#endif
