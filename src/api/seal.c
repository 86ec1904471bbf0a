#include "api/seal.h"

#include "base/utf8.h"

#define HEAD "pen1."
#define HEAD_N (sizeof(HEAD) - 1)

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "abcdefghijklmnopqrstuvwxyz0123456789-_";

void seal_put(struct buf *out, const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;

    buf_puts(out, HEAD);
    for (size_t i = 0; i < n; i += 3) {
        size_t k = n - i < 3 ? n - i : 3; /* bytes of this group */
        uint32_t v = (uint32_t)p[i] << 16;
        char four[4];

        if (k > 1)
            v |= (uint32_t)p[i + 1] << 8;
        if (k > 2)
            v |= p[i + 2];
        for (size_t d = 0; d < 4; d++)
            four[d] = digits[v >> (18 - 6 * d) & 63];
        buf_add(out, four, k + 1);
    }
}

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

/* s[0..n) to out; false: a digit that is none, or bits that say nothing are
 * set. n % 4 is not 1. */
static bool decode(char *out, const char *s, size_t n)
{
    uint32_t v = 0;
    unsigned bits = 0;

    for (size_t i = 0; i < n; i++) {
        int d = value_of(s[i]);

        if (d < 0)
            return false;
        v = (v << 6 | (uint32_t)d) & 0xffff;
        bits += 6;
        if (bits < 8)
            continue;
        bits -= 8;
        *out++ = (char)(v >> bits & 0xff);
    }
    return !(v & ((1u << bits) - 1));
}

enum seal seal_open(struct text *out, struct arena *a, struct text seal)
{
    size_t n = seal.n < HEAD_N ? 0 : seal.n - HEAD_N;
    size_t bytes = n / 4 * 3 + (n % 4 ? n % 4 - 1 : 0);
    char *s;

    *out = (struct text){"", 0};
    if (seal.n < HEAD_N || memcmp(seal.s, HEAD, HEAD_N) || n % 4 == 1)
        return SEAL_FOREIGN;
    s = arena_alloc(a, bytes + 1);
    if (!s)
        return SEAL_FULL;
    if (!decode(s, seal.s + HEAD_N, n) || !utf8_valid(s, bytes, NULL))
        return SEAL_FOREIGN;
    *out = (struct text){s, bytes};
    return SEAL_OURS;
}
