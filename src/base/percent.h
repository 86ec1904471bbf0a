/*
 * base/percent.h - %XX of paths and queries (RFC 3986, section 2.1).
 */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include "base/mem.h"

/*
 * Undo %XX; bytes that are no escape stay.
 *   out  [cap]; what does not fit is left out
 *   n    bytes of it
 * False when something was left out.
 */
bool percent_decode(struct span s, char *out, size_t cap, size_t *n);

#endif
