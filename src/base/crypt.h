/*
 * base/crypt.h - the few primitives that keys and ids need (GnuTLS).
 * Not part of the engine build: engine, kv, gen, gguf and kernels never
 * include this header.
 */
#ifndef BASE_CRYPT_H
#define BASE_CRYPT_H

#include "base/err.h"

/* SHA-256 of s[0..n). */
void crypt_sha256(const void *s, size_t n, uint8_t out[32]);
/* Unpredictable bytes for keys. Aborts when the system has none. */
void crypt_random(void *out, size_t n);
/* Equal? In time that depends on n only. */
bool crypt_equal(const void *a, const void *b, size_t n);
/* Lower-case hex of in[0..n) into out[2n+1]. */
void crypt_hex(const void *in, size_t n, char *out);

#endif
