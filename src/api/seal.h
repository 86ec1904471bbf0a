/*
 * api/seal.h - reasoning as an opaque word (internal to api).
 *
 * "pen1." and base64url (RFC 4648 section 5, no padding) of the text. For
 * clients that bring back only the field that they take for encrypted:
 * encrypted_content of /v1/responses, signature of /v1/messages. It is no
 * secret and no proof: whoever has it can read it, and anybody can make one;
 * what it holds is text of a caller like any other.
 */
#ifndef API_SEAL_H
#define API_SEAL_H

#include "base/buf.h"

/* Append the seal of s[0..n), which is UTF-8. */
void seal_put(struct buf *out, const char *s, size_t n);

enum seal {
    SEAL_FOREIGN, /* none of ours, or a broken one: to be ignored */
    SEAL_OURS,
    SEAL_FULL,    /* the arena is */
};

/* The text of a seal, in the arena; empty unless SEAL_OURS. Only what
 * seal_put could have written opens. */
enum seal seal_open(struct text *out, struct arena *a, struct text seal)
    MUST_CHECK;

#endif
