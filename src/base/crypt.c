#include "base/crypt.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

void crypt_sha256(const void *s, size_t n, uint8_t out[32])
{
    BUG_ON(gnutls_hash_fast(GNUTLS_DIG_SHA256, s, n, out) != 0);
}

void crypt_random(void *out, size_t n)
{
    BUG_ON(gnutls_rnd(GNUTLS_RND_RANDOM, out, n) != 0);
}

bool crypt_equal(const void *a, const void *b, size_t n)
{
    return gnutls_memcmp(a, b, n) == 0;
}

void crypt_hex(const void *in, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *u = in;

    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[u[i] >> 4];
        out[2 * i + 1] = digits[u[i] & 15];
    }
    out[2 * n] = '\0';
}
